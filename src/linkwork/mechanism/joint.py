"""A joint: where it sits on two bodies, and how the second may move relative to the first.

A subclass says only where the child is; velocity terms are derived by differentiation:

    class Knee(lw.Joint):
        coordinates = 1

        def motion(self, q):
            return lw.translation(0, 0, -0.02 * (1 - lw.cos(q[0]))) @ lw.rotation_y(q[0])
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar, TypedDict

import numpy as np

from linkwork.algebra import planar, spatial
from linkwork.algebra.number import Number
from linkwork.algebra.vector import Matrix
from linkwork.mechanism import joint_mistakes
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint_constraint import derived_gap, derived_jacobian
from linkwork.mechanism.joint_mark import Mark
from linkwork.mechanism.journaled import Recorded
from linkwork.mechanism.load_view import BodySide, JointSide, PoseSide, continued, plain_or_traced
from linkwork.mechanism.names import name_text
from linkwork.mechanism.placement import unit
from linkwork.mechanism.stop import RIGID, JointStop, RigidStop, Stop
from linkwork.real_numbers import real_array
from linkwork.varied import any_varied, real

FRICTION_SPEED = 1e-3  # at which smooth dry friction has reached three quarters of its value [rad/s, m/s]
FITS = 1e-3  # gap of a joint that a drawing typed with few digits leaves [m, rad]
SAME = 1e-9  # coordinates that differ by less differ by rounding
ALGEBRA = {"space": spatial, "plane": planar}


class JointOptions(TypedDict, total=False):
    """The options of every joint; a subclass with options of its own hands these on to Joint."""

    at: Any
    axis: Sequence[float] | None
    on_parent: Any
    on_child: Any
    limits: Any
    damping: Any
    friction: Any
    stiffness: Any
    rest: Any
    armature: Any
    friction_speed: Any
    stop: JointStop | str


class Joint(Recorded):
    """Connect `child` to `parent`; coordinates measure the child's frame of the joint in the parent's.

    Where: `at=` a point (or Frame) of the world as drawn, or `on_parent=`, `on_child=` points or Frames on
    the bodies; a side that is not given follows from the drawing. `axis=` is the joint's axis in that same
    frame. A point has 3 numbers, and 2 in the plane (or 3, if z is 0). Per coordinate, in SI units: `limits`
    (lower, upper) with None for no limit, `damping`, `friction`, `stiffness`, `rest`, `armature`; one number
    serves all coordinates. `stop` says what is met at the limits: a Stop, an ExponentialStop, a RigidStop or
    "rigid". Dry friction sticks where contacts or stops are rigid; in other runs it grows like a tanh with
    the velocity, in full from 0.001 rad/s or m/s on. With a `friction_speed` above 0 it does so everywhere,
    with one of 0 it sticks everywhere.
    """

    constants = frozenset(
        ("at", "axis", "axis2", "on_parent", "on_child", "limits", "damping", "friction", "stiffness", "rest")
    ) | {"armature", "friction_speed"}
    coordinates: ClassVar[int] = 1  # velocities, and positions unless said otherwise
    positions: ClassVar[int | None] = None  # coordinates of position, if their number differs
    spaces: ClassVar[frozenset[str]] = frozenset({"space", "plane"})
    directed: ClassVar[bool] = True  # has an axis
    axis_is_normal: ClassVar[bool] = False  # in the plane that axis is its normal, and is not given
    quaternion: ClassVar[int | None] = None  # first of four positions that are kept at length one
    marks: ClassVar[tuple[Mark, ...]] = (Mark("ball", 1.2),)  # what it is drawn as
    parameters: ClassVar[tuple[str, ...]] = ()  # attributes that the `motion` of a catalogue joint depends on

    also_set: ClassVar[frozenset[str]] = frozenset({"effort", "speed"})
    effort: float | None = None  # largest force of the drive, as a file says; kept, not enforced [N m, N]
    speed: float | None = None  # largest velocity, as a file says; kept, not enforced [rad/s, m/s]
    space: str = "space"  # or "plane", as the mechanism it was added to

    def __init__(
        self,
        name: str,
        parent: Body,
        child: Body,
        *,
        at: Any = None,
        axis: Sequence[float] | None = None,
        on_parent: Any = None,
        on_child: Any = None,
        limits: Any = None,
        damping: Any = 0.0,
        friction: Any = 0.0,
        stiffness: Any = 0.0,
        rest: Any = 0.0,
        armature: Any = 0.0,
        friction_speed: Any = None,
        stop: JointStop | str = Stop(),  # noqa: B008, it is a frozen value
    ) -> None:
        self._name = name_text(name, type(self).__name__)
        self.parent, self.child = parent, child
        self.at, self.axis, self.on_parent, self.on_child = at, axis, on_parent, on_child
        self.limits, self.damping, self.friction = limits, damping, friction
        self.stiffness, self.rest, self.armature = stiffness, rest, armature
        self.friction_speed, self.stop = friction_speed, _stop(stop)

    def __repr__(self) -> str:
        parent, child = self.ends
        return f"{type(self).__name__}({self.name!r}, {parent!r}, {child!r})"

    @property
    def shown_axes(self) -> tuple[str, ...]:
        """The axes of its frame that are drawn, the first of which its marks are along."""
        return ("z",) if self.directed else ()

    def _lasting(self, word: str, value: Any) -> Any:
        return super()._lasting(word, _stop(value) if word == "stop" else value)

    # what a subclass says

    def motion(self, q: Sequence[Number]) -> Any:
        """Return the pose of the child's joint frame in the parent's, a Frame, at coordinates q."""
        raise TypeError(
            f"joint class {type(self).__name__} does not say how it moves; define motion(self, q) -> Frame"
        )

    def rates(self, q: Sequence[Number], v: Sequence[Number]) -> Sequence[Number]:
        """Return dq/dt at velocities v; they are the same unless a subclass says otherwise."""
        return v

    def subspace(self, q: Sequence[Number]) -> list[Any] | None:
        """Return the child's motion, in its frame, per unit of each velocity; None: derived from `motion`."""
        return None

    def displacement(self, q: Sequence[Number]) -> Sequence[Number] | None:
        """Return, per velocity, how far the joint has moved: what springs and limits act on [rad, m].

        None: it cannot be said, and the joint can have neither.
        """
        return q if self.nq == self.nv else None

    def locate(self, X: Any) -> Sequence[Number]:
        """Return the coordinates at which the child's joint frame has the pose X in the parent's.

        The inverse of `motion`; where X is not a pose the joint allows, those of a near one. Joints that
        close loops need it; another joint of the loop is cut where there is none.
        """
        raise TypeError(
            f"joint {self.name!r} closes a loop, but {type(self).__name__} cannot compute its coordinates "
            "from a pose; define locate(self, X), the inverse of motion(self, q)"
        )

    @property
    def can_locate(self) -> bool:
        """Whether the class says how to find coordinates from a pose."""
        return type(self).locate is not Joint.locate

    def gap(self, X: Any) -> Sequence[Number]:
        """Return what is zero where X is a pose the joint allows: one number per freedom it takes away.

        Unless a subclass says it, the distance to the pose at the coordinates that `locate` finds, along
        the directions the joint constrains.
        """
        return derived_gap(self, X)

    def neutral(self) -> list[float]:
        """Return the coordinates at which both joint frames coincide."""
        return [0.0] * self.nq

    def mistakes(self) -> list[str]:
        """List what is wrong with the options of the joint; `Mechanism.compile` collects them.

        A subclass with options of its own returns [*super().mistakes(), ...].
        """
        found = joint_mistakes.place_mistakes(self)
        if type(self).motion is Joint.motion:
            found.append(f"{type(self).__name__} does not say how it moves; define motion(self, q) -> Frame")
        if self.axis is not None and not self.directed:
            found.append(f"a {type(self).__name__} joint has no axis; drop axis=")
        else:
            found += self.axis_mistakes("axis")
        miscounted = joint_mistakes.count_mistakes(self)
        numbers = joint_mistakes.number_mistakes, joint_mistakes.limit_mistakes, joint_mistakes.drive_mistakes
        return found + (miscounted or [mistake for look in numbers for mistake in look(self)])

    # what follows

    @property
    def name(self) -> str:
        """The name, by which states and results refer to the joint."""
        return self._name

    @property
    def ends(self) -> tuple[str, str]:
        """The names of parent and child."""
        parent, child = (
            body.name if isinstance(body, Body) else str(body) for body in (self.parent, self.child)
        )
        return parent, child

    @property
    def algebra(self) -> ModuleType:
        """The algebra of the joint's space: `linkwork.algebra.spatial` or `planar`."""
        return ALGEBRA[self.space]

    @property
    def nq(self) -> int:
        return self.coordinates if self.positions is None else self.positions

    @property
    def nv(self) -> int:
        return self.coordinates

    # as a constraint on the poses of its bodies

    @property
    def bodies(self) -> tuple[Body, Body]:
        """Parent and child."""
        return self.parent, self.child

    @property
    def num_constraints(self) -> int:
        """How many equations `phi` has: the freedoms that the joint takes away."""
        return self.algebra.freedoms - self.nv

    def phi(self, parent: Any = None, child: Any = None) -> Any:
        """Return what is zero where the joint allows these poses of its bodies (as drawn, if not given).

        A pose is a Frame, or numbers: (x, y, angle) in the plane, place and quaternion in space.
        """
        if (parent is None) != (child is None):
            raise ValueError(
                f"joint {self.name!r}: one pose; give both, of {self.ends[0]!r}, {self.ends[1]!r}"
            )
        poses = [self._drawn(body) for body in self.bodies] if parent is None else [parent, child]
        return plain_or_traced(self.gap(self.pose_between(*(PoseSide.of(self.algebra, p) for p in poses))))

    def phi_q(self, parent: Any = None, child: Any = None) -> np.ndarray:
        """Return the derivatives of `phi` by the numbers of both poses, parent first."""
        drawn = [np.asarray(self.algebra.pose_coordinates(self._drawn(b)), float) for b in self.bodies]
        return derived_jacobian(self, drawn if parent is None else [parent, child])

    def pose_between(self, parent: BodySide, child: BodySide) -> Any:
        """Return the pose of the child's joint frame in the parent's."""
        on_parent, on_child = self.frames()
        return (parent.frame @ on_parent).local(child.frame @ on_child)

    def side_between(
        self, parent: BodySide, child: BodySide, references: Sequence[Number] | None = None
    ) -> JointSide:
        """Return what constraints see of the joint; angles are those nearest to references, if given."""
        q = list(self.locate(self.pose_between(parent, child)))
        if references is not None:
            q = [
                continued(x, near) if turns else x
                for x, near, turns in zip(q, references, self.periodic, strict=True)
            ]
        return JointSide(q, ())

    @property
    def periodic(self) -> tuple[bool, ...]:
        """Per position: whether the joint is where it was after a whole turn of it."""
        at = [0.3 + 0.1 * k for k in range(self.nq)]
        here = np.array(self.motion(at).scalars(), float)
        found = []
        for k in range(self.nq):
            there = self.motion([x + 2 * np.pi * (i == k) for i, x in enumerate(at)]).scalars()
            found.append(bool(np.abs(np.array(there, float) - here).max() < 1e-9))
        return tuple(found)

    def per_coordinate(self, quantity: str) -> np.ndarray:
        """Return damping, friction, friction_speed, stiffness, rest or armature as an array (nv,)."""
        said = getattr(self, quantity)
        if said is None and quantity == "friction_speed":
            said = FRICTION_SPEED
        if isinstance(said, float):
            return np.full(self.nv, said)
        return np.broadcast_to(_floats(said), (self.nv,)).copy()

    def reads_inputs(self, quantity: str) -> bool:
        """Whether damping, friction or stiffness is an input; the stiffness also if the rest is one."""
        words = (quantity, "rest") if quantity == "stiffness" else (quantity,)
        return any(map(joint_mistakes.has_input, (getattr(self, word) for word in words)))

    def friction_sticks(self, rigid: bool) -> bool:
        """Whether its dry friction sticks: in runs that are `rigid`, or in others."""
        if self.reads_inputs("friction"):
            return False
        if self.friction_speed is None:
            return rigid
        speeds = self.per_coordinate("friction_speed")
        return not any_varied(*speeds) and not speeds.any()

    def limit_pairs(self) -> np.ndarray:
        """Return the limits as an array (nv, 2), infinite where there are none."""
        if self.limits is None:
            return np.array([(-np.inf, np.inf)] * self.nv).reshape(self.nv, 2)
        given = np.array(self.limits, dtype=object)
        if given.shape not in ((2,), (self.nv, 2)):
            raise ValueError("a limit has two sides")
        said = np.broadcast_to(given, (self.nv, 2))
        sides = [
            (-np.inf if lower is None else lower, np.inf if upper is None else upper) for lower, upper in said
        ]
        return _floats(sides).reshape(self.nv, 2)

    def frames(self) -> tuple[Any, Any]:
        """Return the joint's frames on the parent and on the child body."""
        X_WP, X_WC = self._drawn(self.parent), self._drawn(self.child)
        aligned = self.alignment()
        if self.on_parent is None and self.on_child is None:
            X_WJ = self._placed(self.child.position if self.at is None else self.at, aligned)
            return X_WP.local(X_WJ), X_WC.local(X_WJ)
        if self.on_parent is None:
            X_CJ = self._placed(self.on_child, aligned)
            return X_WP.local(X_WC @ X_CJ), X_CJ
        X_PJ = self._placed(self.on_parent, aligned)
        if self.on_child is None:
            return X_PJ, X_WC.local(X_WP @ X_PJ)
        return X_PJ, self._placed(self.on_child, aligned)

    def alignment(self) -> Any:
        """Return the frame that has the joint's own axis along `axis`."""
        if self.axis is None:
            return self.algebra.Frame()
        if self.algebra is planar:
            x, y = np.asarray(self.axis, float)
            return planar.Frame(rotation=float(np.arctan2(y, x)) + 0.0)  # zeros are positive, here and below
        turn = [[x + 0.0 for x in row] for row in _turn_z_to(np.asarray(self.axis, float))]
        return spatial.Frame.of(Matrix.of(turn), (0.0, 0.0, 0.0))

    def drawn(self) -> list[float]:
        """Return the coordinates as drawn.

        At a place in the world both joint frames coincide. Where frames are given on both bodies, the
        coordinates are those nearest to the poses of the bodies: of both if both are drawn, else only if
        what is drawn fits one that lies at the origin. Bodies that are not drawn count for nothing.
        """
        neutral = self.neutral()
        placed = [_is_drawn(body) for body in self.bodies]
        if self.on_parent is None or self.on_child is None or not any(placed) or not self.can_locate:
            return neutral
        X = self.pose_between(*(PoseSide.of(self.algebra, self._drawn(body)) for body in self.bodies))
        ends_known = all(
            known or body.name == "ground" for known, body in zip(placed, self.bodies, strict=True)
        )
        if not ends_known and any(abs(x) > FITS for x in self.gap(X)):
            return neutral
        found = [real(x) for x in self.locate(X)]
        return neutral if all(abs(x - y) < SAME for x, y in zip(found, neutral, strict=True)) else found

    def _frame(self, place: Any) -> Any:
        Frame = self.algebra.Frame
        if isinstance(place, Frame):
            return place
        return Frame().moved([real(x) for x in place][: self.algebra.dimension])

    def _placed(self, place: Any, aligned: Any) -> Any:
        """Return the frame at a place, turned as `aligned`."""
        frame = self._frame(place)
        return frame @ aligned if frame is place else aligned.moved(frame.p)

    def _drawn(self, body: Body) -> Any:
        rows = zip(body.rotation.tolist(), body.position.tolist(), strict=True)
        return self.algebra.Frame.from_scalars([x for row, p in rows for x in (*row, p)])

    def axis_mistakes(self, option: str) -> list[str]:
        """List what is wrong with the axis given by this option."""
        return joint_mistakes.axis_mistakes(self, option)


def _is_drawn(body: Body) -> bool:
    """Return whether a body has been put anywhere but where bodies are before."""
    return bool(body.position.any()) or bool((body.rotation != np.eye(len(body.rotation))).any())


def _stop(said: Any) -> Any:
    """Return a stop for the word that stands for one."""
    return RigidStop() if isinstance(said, str) and said == RIGID else said


def _floats(values: Any) -> np.ndarray:
    array = np.asarray(values)
    varied = array.dtype == object and any_varied(*array.flat)
    return array if varied else real_array("value", values)


def _turn_z_to(axis: np.ndarray) -> list[list[float]]:
    """Return the smallest turn that takes z to the axis (half a turn about x for -z)."""
    x, y, z = (float(a) for a in unit(axis))
    if x * x + y * y == 0.0:
        return [[1.0, 0.0, 0.0], [0.0, np.sign(z), 0.0], [0.0, 0.0, np.sign(z)]]
    k = 1.0 / (1.0 + z) if z > 0 else (1.0 - z) / (x * x + y * y)  # the same number, without cancellation
    return [[1.0 - k * x * x, -k * x * y, x], [-k * x * y, 1.0 - k * y * y, y], [-x, -y, z]]
