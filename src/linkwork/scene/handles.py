"""Bodies and joints of a mechanism in a scene, as they are now: robot["knee"].position."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.scene.scene_node import OfScene

if TYPE_CHECKING:
    from linkwork.scene.actor import Actor
    from linkwork.scene.scene import Scene

Array = np.ndarray


class Handle(OfScene):
    """A name in a mechanism of a scene; it follows what it names from one mechanism to another."""

    def __init__(self, actor: "Actor | None", name: str) -> None:
        self._actor, self._name = actor, name

    @property
    def exists(self) -> bool:
        """Whether what it names is in the scene."""
        return self._actor is not None and self._actor.parent is not None and self._name in self._actor

    @property
    def actor(self) -> "Actor":
        """The mechanism that it is in now."""
        if self._actor is None or self._actor.parent is None:
            raise ModelError(f"{self._name!r} was removed from the scene")
        return self._actor

    @property
    def name(self) -> str:
        """The name in its mechanism."""
        return self._name

    @property
    def path(self) -> str:
        """The path in the scene: "robots/left/knee"."""
        return f"{self.actor.path}/{self.name}"

    def _gone(self) -> ModelError:
        """Return the error that what it names was taken out."""
        where = f" of {self.actor.path!r}" if self._actor and self._actor.parent else ""
        return ModelError(f"{self._name!r} was taken out{where}; `.exists` says whether a name is there")

    def move_to(self, actor: "Actor", name: str) -> None:
        """Be a name in another mechanism."""
        self._actor, self._name = actor, name

    def walk(self) -> Any:
        """Iterate over it alone: it has no children."""
        yield self

    def visit(self, visitor: Any) -> None:
        """Call a function with it."""
        visitor(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path if self.exists else self.name + ', gone'!r}>"


class BodyHandle(Handle):
    """A body: where it is, and how it moves. Arrays are those of the scene, to be read, not kept."""

    @property
    def body(self) -> Body:
        """The body as described."""
        return self.actor.mechanism.bodies[self.name]

    @property
    def mass(self) -> float:
        """The mass [kg]."""
        return self.body.mass

    @property
    def row(self) -> int:
        """Its row in the arrays of the scene."""
        try:
            return self.actor.row_of(self.name)
        except KeyError:
            raise self._gone() from None

    @property
    def pose(self) -> Array:
        """Where it is: (3, 4), the rows of [R | p]."""
        return _read(self.actor.scene.arrays.poses[self.row])

    @property
    def position(self) -> Array:
        """Where its origin is: (3,) [m]."""
        return _read(self.actor.scene.arrays.poses[self.row, :, 3])

    @property
    def rotation(self) -> Array:
        """How it is turned: (3, 3)."""
        return _read(self.actor.scene.arrays.poses[self.row, :, :3])

    @property
    def velocity(self) -> Array:
        """The velocity of its origin: (3,), in world axes [m/s]."""
        return _read(self.actor.scene.arrays.velocities[self.row, 3:])

    @property
    def angular_velocity(self) -> Array:
        """The angular velocity: (3,), in world axes [rad/s]."""
        return _read(self.actor.scene.arrays.velocities[self.row, :3])

    @property
    def bounds(self) -> Array:
        """The box around its shapes: (2, 3), lowest and highest corner [m]; NaN if it has none."""
        if not self.body.touched_by:
            return np.full((2, 3), np.nan)
        arrays, row = self.actor.scene.arrays, self.row
        R, p = arrays.poses[row, :, :3], arrays.poses[row, :, 3]
        centre, half = R @ arrays.boxes[row, 0] + p, np.abs(R) @ arrays.boxes[row, 1]
        return np.array([centre - half, centre + half])

    @property
    def contacts(self) -> "list[Any]":
        """The contacts that it has now; see `Scene.contacts`."""
        return self.actor.scene.contacts_of(self)


class JointHandle(Handle):
    """A joint: its coordinates, and what it bears."""

    @property
    def joint(self) -> Joint:
        """The joint as described."""
        if not self.exists:
            raise self._gone()
        return self.actor.mechanism.joints[self.name]

    @property
    def position(self) -> Any:
        """Its coordinate, or coordinates (nq,), 0 where the joint is as drawn [rad, m]."""
        return self._part(0)

    @property
    def velocity(self) -> Any:
        """The velocity of its coordinate, or (nv,) [rad/s, m/s]."""
        return self._part(1)

    def _part(self, side: int) -> Any:
        if not self.exists:
            raise self._gone()
        unit = self.actor.unit
        if self.name in unit.model.loop_slices:
            both = unit.model.loop_motion(unit.q, unit.v)
            part = both[side][unit.model.loop_slices[self.name][side]]
        else:
            part = (unit.q, unit.v)[side][unit.model.slices[self.name][side]]
        return float(part[0]) if part.size == 1 else part

    @property
    def reaction(self) -> Array:
        """What the joint bore in the last step: (6,) torque about it and force [N m, N], on its child."""
        return self.actor.scene.joint_load(self)

    @property
    def bounds(self) -> Array:
        """NaN: a joint takes no room."""
        return np.full((2, 3), np.nan)


def body_in(scene: "Scene", thing: Any, what: str) -> BodyHandle:
    """Return a body of a scene, given itself or by its path, for a change that has a name."""
    return _in(scene, thing, what, BodyHandle, "body of a mechanism, robot['hand']")


def joint_in(scene: "Scene", thing: Any, what: str) -> JointHandle:
    """Return a joint of a scene, given itself or by its path, for a change that has a name."""
    return _in(scene, thing, what, JointHandle, "joint of a mechanism, robot['elbow']")


def _in(scene: "Scene", thing: Any, what: str, kind: type[Any], example: str) -> Any:
    handle: Any = scene[thing] if isinstance(thing, str) and "/" in thing else thing
    if not isinstance(handle, kind):
        raise TypeError(f"{what}: {handle!r:.80}; give a {example}")
    if not handle.exists:
        raise handle._gone()
    if handle.actor.scene is not scene:
        raise ModelError(f"{what}: {handle.path!r} is in another scene")
    return handle


def _read(part: Array) -> Array:
    part.setflags(write=False)
    return part
