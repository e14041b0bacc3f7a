"""What a load sees of what it acts on, over any number: a body, a joint, or all coordinates; and its push.

The same words as in a recording: `body.position`, `body.velocity`, `joint.position`.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.algebra.number import Number, floor
from linkwork.algebra.vector import Vector, plus
from linkwork.errors import unknown
from linkwork.mechanism.input import as_number
from linkwork.real_numbers import shown
from linkwork.spelling import Answering


class BodySide(Answering):
    """A body: where it is, how it moves, and what pushes it. Vectors are in world axes unless said."""

    def __init__(self, algebra: ModuleType, frame: Any, motion: Any):
        self.algebra = algebra
        self.frame = frame  # pose in the world
        self.motion = motion  # in the body's frame
        self.wrench = algebra.Force.zero()  # of the pushes so far, in the body's frame

    @property
    def position(self) -> Vector:
        """The place of the body's origin [m]."""
        return self.frame.p

    @property
    def rotation(self) -> Any:
        """The rotation matrix of the body, by rows."""
        return [list(row) for row in _square(self.frame, self.algebra)]

    @property
    def angle(self) -> Number:
        """In the plane: the angle of the body [rad]."""
        return self.frame.angle

    @property
    def velocity(self) -> Vector:
        """The velocity of the body's origin [m/s]."""
        return self.frame.axes @ self.motion.v

    @property
    def angular_velocity(self) -> Any:
        """The angular velocity [rad/s], a number in the plane."""
        return (self.frame.axes @ self.motion).w

    def to_world(self, point: Sequence[Number]) -> Vector:
        """Return where a point of the body is."""
        return self.frame @ _vector(point, self.algebra.dimension, "point")

    def to_local(self, point: Sequence[Number]) -> Vector:
        """Return a place of the world in the body's frame."""
        return self.frame.local(_vector(point, self.algebra.dimension, "point"))

    def velocity_at(self, point: Sequence[Number]) -> Vector:
        """Return the velocity of a point of the body."""
        return self.frame.axes @ self.motion.at(_vector(point, self.algebra.dimension, "point"))

    def push(self, force: Any, at: Sequence[Number] | None = None, frame: str = "world") -> None:
        """Apply a force [N], given in axes of the world or of the body, at a point of the body."""
        size = self.algebra.dimension
        f = _vector(force, size, "force")
        if frame == "world":
            f = self.frame.axes.local(f)
        place = [0.0] * size if at is None else at
        self.wrench = self.wrench + self.algebra.Force.at_point(f, place)

    def twist(self, torque: Any, frame: str = "world") -> None:
        """Apply a torque [N m], given in axes of the world or of the body."""
        n = answer_numbers(torque, self.algebra.angular, "torque")
        zero = [0.0] * self.algebra.dimension
        moment = self.algebra.Force.from_scalars([*n, *zero])
        self.wrench = self.wrench + (self.frame.axes.local(moment) if frame == "world" else moment)


class PoseSide(BodySide):
    """A body in a constraint: where it is, at rest; in the plane its angle counts whole turns."""

    def __init__(self, algebra: ModuleType, frame: Any, angle: Number | None = None):
        super().__init__(algebra, frame, algebra.Motion.zero())
        self._angle = angle

    @classmethod
    def of(cls, algebra: ModuleType, pose: Any) -> "PoseSide":
        """Take a Frame, or coordinates: (x, y, angle), in space place and quaternion."""
        if isinstance(pose, BodySide):
            return cls(algebra, pose.frame)
        if isinstance(pose, algebra.Frame):
            return cls(algebra, pose)
        q = answer_numbers(pose, algebra.coordinates, "pose of a body")
        return cls(algebra, algebra.pose(q), q[2] if algebra.dimension == 2 else None)

    @property
    def angle(self) -> Number:
        """In the plane: the angle of the body [rad]."""
        if self.algebra.dimension != 2:
            raise ValueError("a body in space has no angle; use rotation, or a joint and its position")
        return self.frame.angle if self._angle is None else self._angle


class JointSide(Answering):
    """A joint: its coordinates and velocities, single numbers if it has one, and what drives it."""

    def __init__(self, q: Sequence[Number], v: Sequence[Number]):
        self.q, self.v = list(q), list(v)
        self.forces: list[Number] = [0.0] * len(self.v)  # of the pushes so far

    @property
    def position(self) -> Any:
        return self.q[0] if len(self.q) == 1 else np.array(self.q)

    @property
    def velocity(self) -> Any:
        return self.v[0] if len(self.v) == 1 else np.array(self.v)

    def push(self, force: Any) -> None:
        """Apply a generalised force [N m, N]: one number per velocity of the joint."""
        added = answer_numbers(force, len(self.v), "force")
        self.forces = [plus(a, b) for a, b in zip(self.forces, added, strict=True)]


class Coordinates(np.ndarray):
    """The positions, or velocities, of the joints of the spanning tree: by number; of all, by name."""

    slices: Mapping[str, slice]
    others: Mapping[str, Any]  # of joints that close loops

    def __array_finalize__(self, made_of: Any) -> None:
        self.slices, self.others = getattr(made_of, "slices", {}), getattr(made_of, "others", {})

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return np.asarray(self)[key]
        if key in self.others:
            return self.others[key]
        if key not in self.slices:
            raise KeyError(unknown("joint", key, [*self.slices, *self.others]))
        part = np.asarray(self)[self.slices[key]]
        return part[0] if len(part) == 1 else part

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            if key not in self.slices:
                raise KeyError(unknown("joint", key, self.slices))
            key = self.slices[key]
        super().__setitem__(key, value)


def coordinates(
    values: Sequence[Number], slices: Mapping[str, slice], others: Mapping[str, Any] | None = None
) -> Coordinates:
    """Make numbers indexable by the names of joints."""
    made = np.array(values).view(Coordinates)
    made.slices, made.others = slices, others or {}
    return made


class SystemSide(Answering):
    """All coordinates of the mechanism, for feedback laws."""

    def __init__(self, q: Coordinates, v: Coordinates, others: Mapping[str, JointSide]):
        self.q, self.v = q, v
        self._others = others  # joints that close loops
        self.forces: list[Number] = [0.0] * len(v)

    def push(self, joint: str, force: Any) -> None:
        """Apply a generalised force to a joint [N m, N]."""
        if joint in self._others:
            self._others[joint].push(force)
            return
        part = self.v.slices[joint]
        for k, x in zip(
            range(part.start, part.stop), answer_numbers(force, part.stop - part.start, "force"), strict=True
        ):
            self.forces[k] = plus(self.forces[k], x)


def plain_or_traced(numbers: Sequence[Number]) -> Any:
    """Return floats as an array, any other numbers as a list."""
    made = list(numbers)
    return np.array(made, float) if all(isinstance(x, float | int) for x in made) else made


def continued(angle: Number, reference: Number) -> Number:
    """Return the angle, with the whole turns that bring it nearest to a reference."""
    return angle - 2 * np.pi * floor((angle - reference) / (2 * np.pi) + 0.5)


def _square(frame: Any, algebra: ModuleType) -> Any:
    n, scalars = algebra.dimension, frame.scalars()
    return [scalars[k * (n + 1) : k * (n + 1) + n] for k in range(n)]


class WrongAnswer(ValueError):
    """What a law gives is not what is asked for."""


def answer_numbers(value: Any, count: int, what: str) -> list[Number]:
    """Return a law's result as `count` numbers, or say what is wrong with it."""
    items = list(value) if isinstance(value, list | tuple) or np.ndim(value) else [value]
    if len(items) != count:
        raise WrongAnswer(f"{len(items)} numbers where the {what} has {count}")
    if any(x is None or isinstance(x, str | bytes) for x in items):
        raise WrongAnswer(f"{shown(value)} where the {what} has {count}; let it return numbers")
    return [x.item() if isinstance(x, np.ndarray) else as_number(x) for x in items]


def _vector(value: Any, size: int, what: str) -> Vector:
    return Vector(answer_numbers(value, size, what))
