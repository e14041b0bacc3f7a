"""The tree of a scene: nodes with names and paths, "robots/left"; groups place what is in them."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import ModelError, unknown
from linkwork.geometry.solid import Solid
from linkwork.mechanism.placement import RotationLike
from linkwork.scene.rigid_frames import HERE, composed, placed
from linkwork.spelling import Closed, checked_keywords, spelled_methods

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray

SEPARATOR = "/"


def shape_of(skin: Any) -> Any:
    """Return the shape of a Collision or Visual; a shape is its own."""
    return skin if isinstance(skin, Solid) else getattr(skin, "shape", skin)


_MOVED = (
    "bodies move by forces: inputs, loads, contact; to place a mechanism, remove it and add it again, "
    "world.add(mechanism, position=, rotation=, velocity=)"
)
_NAMED = "names are given when something is added, world.add(mechanism, name=)"


class OfScene(Closed):
    """What belongs to one scene: it is not copied, nor pickled."""

    to_set: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("q", "v", "pose", "position", "rotation", "velocity", "angular_velocity", "state"), _MOVED
        ),
        **dict.fromkeys(("name", "path", "parent"), _NAMED),
        "mass": "a body's mass is that of its mechanism: change it there, before it is added",
        "inputs": "write robot.inputs['motor'] = ...",
        "paused": "call robot.pause() and robot.resume()",
        "resting": "call robot.wake(); what stands still goes to sleep by itself",
    }

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            f"{self!r} is not copied or pickled: a scene is saved, world.save('now.lws') and "
            "lw.load('now.lws'), or taken back, world.snapshot() and world.restore(...); copy mechanisms "
            "before they are added"
        )


@spelled_methods
class Node(OfScene):
    """Something in a scene that has a name and a place in its tree."""

    def __init__(self, name: str, parent: "Group | None") -> None:
        self._name, self._parent = name, parent

    @property
    def name(self) -> str:
        """The name, which no other child of its group has."""
        return self._name

    @property
    def parent(self) -> "Group | None":
        """The group that it is in; None for the scene, and for what was removed."""
        return self._parent

    @property
    def exists(self) -> bool:
        """Whether it is in a scene, and was not removed."""
        return self._parent is not None

    @property
    def path(self) -> str:
        """The names from the scene down to it: "robots/left"."""
        above = "" if self._parent is None else self._parent.path
        return f"{above}{SEPARATOR}{self.name}" if above else self.name

    @property
    def children(self) -> "tuple[Any, ...]":
        """What is in it."""
        return ()

    def walk(self) -> "Iterator[Any]":
        """Iterate over it and all that is below it, from the top."""
        yield self
        for child in self.children:
            yield from child.walk()

    def visit(self, visitor: Callable[[Any], Any]) -> None:
        """Call a function with it and all that is below it; where that returns False it goes no deeper."""
        if visitor(self) is not False:
            for child in self.children:
                child.visit(visitor)

    @property
    def bounds(self) -> Array:
        """The box around all that is in it: (2, 3), lowest and highest corner [m]; NaN if that is nothing."""
        boxes = np.array([child.bounds for child in self.children]).reshape(-1, 2, 3)
        boxes = boxes[~np.isnan(boxes).any(axis=(1, 2))]
        if not len(boxes):
            return np.full((2, 3), np.nan)
        return np.array([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])


@spelled_methods
class Group(Node):
    """Nodes by name, placed together: what is added to it stands where the group says."""

    def __init__(self, name: str, parent: "Group | None", pose: Array = HERE) -> None:
        super().__init__(name, parent)
        self._pose, self._children = pose, dict[str, Node]()

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes in it, in order."""
        return tuple(self._children.values())

    @property
    def scene(self) -> "Scene":
        """The scene at the top."""
        if self._parent is None:
            raise ModelError(f"group {self.name!r} is in no scene any more; add to one that is")
        return self._parent.scene

    @property
    def pose(self) -> Array:
        """Where it is in the world: (3, 4), the rows of [R | p]."""
        return np.array(self._pose) if self._parent is None else composed(self._parent.pose, self._pose)

    def group(
        self, name: str, *, position: ArrayLike | None = None, rotation: RotationLike = None
    ) -> "Group":
        """Add a group, placed in this one."""
        made = Group(self.free_name(name, exact=True), self, placed(position, rotation, f"group {name!r}"))
        self._children[name] = made
        return made

    @checked_keywords
    def add(
        self,
        thing: Any,
        *,
        name: str | None = None,
        position: ArrayLike | None = None,
        rotation: RotationLike = None,
        velocity: ArrayLike | None = None,
        state: Any = None,
        material: Any = None,
        accuracy: float | None = None,
        max_step: float | None = None,
    ) -> Any:
        """Add a mechanism, a body, shapes that stand still, or a behaviour; return its node.

        A mechanism, or a model of one, is copied; `position` and `rotation` say where its ground is in this
        group, `velocity` [m/s] (3,) how fast all that floats in it moves. It begins as drawn and at rest, or
        at a `state`, such as `model.state(knee=0.3, velocities={"hip": 2.0})`, seen from its ground. With an
        `accuracy` it is simulated to that where nothing is near it, in steps of `max_step` at most.
        `material` is that of shapes.
        """
        given = {"name": name, "position": position, "rotation": rotation, "velocity": velocity}
        given |= {"state": state, "material": material, "accuracy": accuracy, "max_step": max_step}
        return self.scene.take_in(self, thing, given)

    def __getitem__(self, path: str) -> Any:
        """Return what has a path, seen from here: world["robots/left"], or world["robots/left/knee"]."""
        if not isinstance(path, str):
            raise KeyError(f"{path!r} is of type {type(path).__name__}; give a path such as 'robots/left'")
        if path in self._children:
            return self._children[path]
        first, _, rest = path.partition(SEPARATOR)
        if first not in self._children:
            raise KeyError(unknown("node", first, self._children))
        child = self._children[first]
        if not isinstance(child, Group) and not hasattr(child, "__getitem__"):
            raise KeyError(f"{child.path!r} has nothing in it; {rest!r} was asked for")
        return child[rest]  # type: ignore[index]

    def __contains__(self, path: object) -> bool:
        try:
            return isinstance(path, str) and self[path] is not None
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self._children)

    def __len__(self) -> int:
        return len(self._children)

    def free_name(self, name: str, *, exact: bool = False) -> str:
        """Return a name that no child has: "crate", "crate 2", ...; ModelError if it must be this one."""
        if not isinstance(name, str) or not name or SEPARATOR in name:
            raise ModelError(f"scene: name {name!r}; give a text without {SEPARATOR!r}")
        if name not in self._children:
            return name
        if exact:
            raise ModelError(f"scene: {self._children[name].path!r} is there already; give another name=")
        number = 2
        while f"{name} {number}" in self._children:
            number += 1
        return f"{name} {number}"

    def put(self, node: Node) -> None:
        """Take a node that was made for it."""
        self._children[node.name] = node

    def have(self, children: "tuple[Node, ...]") -> None:
        """Have these children, and no others."""
        for child in self._children.values():
            child._parent = None
        self._children = {child.name: child for child in children}
        for child in children:
            child._parent = self

    def drop(self, node: Node) -> None:
        """Leave a node out."""
        del self._children[node.name]
        node._parent = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path!r}: {len(self)} children>"


_ADD_ANEW = "remove it, world.remove(it), and add another, world.add(shape, position=, material=)"


class Static(Node):
    """Shapes that stand still: ground, walls, hills."""

    to_set: ClassVar[Mapping[str, str]] = dict.fromkeys(("solids", "pose", "material", "position"), _ADD_ANEW)

    def __init__(self, name: str, parent: Group, solids: tuple[Any, ...], pose: Array, material: Any) -> None:
        super().__init__(name, parent)
        self._solids, self._pose, self._material = solids, pose, material

    @property
    def solids(self) -> tuple[Any, ...]:
        """The shapes."""
        return self._solids

    @property
    def pose(self) -> Array:
        """Where it is in the world: (3, 4), the rows of [R | p]."""
        return self._pose

    @property
    def material(self) -> Any:
        """What it is touched by; None for the material of each shape."""
        return self._material

    @property
    def body(self) -> str:
        """The name of its body in the mechanisms that meet it."""
        return SEPARATOR + self.path

    @property
    def bounds(self) -> Array:
        boxes = []
        for solid in self.solids:
            low, high = shape_of(solid).bounds
            corners = np.array([[(low, high)[k >> i & 1][i] for i in range(3)] for k in range(8)])
            with np.errstate(invalid="ignore"):
                seen = corners @ self.pose[:, :3].T + self.pose[:, 3]
            boxes.append(np.where(np.isfinite(seen), seen, corners))
        points = np.concatenate(boxes)
        return np.array([points.min(axis=0), points.max(axis=0)])

    def __repr__(self) -> str:
        return f"<Static {self.path!r}: {len(self.solids)} shapes>"
