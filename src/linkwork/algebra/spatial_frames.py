"""Points, motions, forces and frames in space, angular part first; see `spatial`."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from linkwork.algebra import rotation as rotations
from linkwork.algebra.linear import Linear, columns
from linkwork.algebra.number import Number
from linkwork.algebra.vector import Matrix, Vector, components, plus, printed, product, stacked
from linkwork.angles import warn_of_degrees
from linkwork.real_numbers import shown
from linkwork.spelling import Answering, Spelled, checked_keywords

Numbers = Sequence[Number] | np.ndarray


class Point(Vector):
    """A place, or a displacement."""

    __slots__ = ()
    size = 3


class Motion(Linear):
    """A spatial velocity or acceleration: angular, and linear of the body's point at the frame's origin."""

    __slots__ = ("v", "w")
    size = 6

    def __init__(self, angular: Iterable[Number], linear: Iterable[Number]):
        self.w, self.v = Vector(angular), Vector(linear)

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "Motion":
        return cls(x[:3], x[3:])

    def scalars(self) -> tuple[Number, ...]:
        return (*self.w, *self.v)

    @property
    def angular(self) -> np.ndarray:
        return stacked(self.w)

    @property
    def linear(self) -> np.ndarray:
        return stacked(self.v)

    def __repr__(self) -> str:
        return f"Motion(angular={printed(self.w)}, linear={printed(self.v)})"

    def dot(self, f: "Force") -> Number:
        """Return the power of a force along this motion."""
        return plus(self.w.dot(f.n), self.v.dot(f.f))

    def cross(self, m: "Motion") -> "Motion":
        """Return the rate of a motion that is carried along by this one."""
        return Motion(self.w.cross(m.w), self.w.cross(m.v) + self.v.cross(m.w))

    def cross_force(self, f: "Force") -> "Force":
        """Return the rate of a force that is carried along by this motion."""
        return Force(self.w.cross(f.n) + self.v.cross(f.f), self.w.cross(f.f))

    def at(self, point: Iterable[Number]) -> Vector:
        """Return the velocity of the body-fixed point at this place."""
        return self.v + self.w.cross(Vector(point))

    def classical(self, v: "Motion") -> "Motion":
        """Return a point's acceleration, w' and x'', from this spatial one and the velocity there."""
        return Motion(self.w, self.v + v.w.cross(v.v))

    def carried(self, X: "Frame") -> "Motion":
        w = X.R.times(self.w)
        return Motion(w, X.R.times(self.v) + X.p.cross(w))

    def localized(self, X: "Frame") -> "Motion":
        return Motion(X.R.transpose_times(self.w), X.R.transpose_times(self.v - X.p.cross(self.w)))


class Force(Linear):
    """A spatial force or momentum: torque about the frame's origin, and force."""

    __slots__ = ("f", "n")
    size = 6

    def __init__(self, torque: Iterable[Number], force: Iterable[Number]):
        self.n, self.f = Vector(torque), Vector(force)

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "Force":
        return cls(x[:3], x[3:])

    @classmethod
    def at_point(cls, force: Iterable[Number], point: Iterable[Number]) -> "Force":
        """Return the spatial force of a force acting at a point: (point x force, force)."""
        f = Vector(force)
        return cls(Vector(point).cross(f), f)

    def scalars(self) -> tuple[Number, ...]:
        return (*self.n, *self.f)

    @property
    def torque(self) -> np.ndarray:
        return stacked(self.n)

    @property
    def force(self) -> np.ndarray:
        return stacked(self.f)

    def __repr__(self) -> str:
        return f"Force(torque={printed(self.n)}, force={printed(self.f)})"

    def dot(self, m: Motion) -> Number:
        return m.dot(self)

    def about(self, point: Iterable[Number]) -> "Force":
        """Return the same force with its torque taken about another point."""
        return Force(self.n - Vector(point).cross(self.f), self.f)

    def carried(self, X: "Frame") -> "Force":
        f = X.R.times(self.f)
        return Force(X.R.times(self.n) + X.p.cross(f), f)

    def localized(self, X: "Frame") -> "Force":
        return Force(X.R.transpose_times(self.n - X.p.cross(self.f)), X.R.transpose_times(self.f))


def _turn_of(rotation: Any) -> Matrix:
    """Return the rotation matrix of what people write for one."""
    turn: Any = rotation.as_matrix() if hasattr(rotation, "as_matrix") else rotation
    odd = not hasattr(turn, "__len__") or (isinstance(turn, np.ndarray) and turn.shape in ((), (4, 4)))
    if odd or (len(turn) != 4 and not all(hasattr(row, "__len__") for row in turn)):
        raise ValueError(
            f"Frame: rotation {shown(rotation)}; give a quaternion (w, x, y, z) or a 3x3 matrix, or use "
            "lw.rotation_x, lw.rotation_euler and the like (in the plane lw.planar.Frame takes an angle)"
        )
    if len(turn) == 4:
        return rotations.from_given_quaternion(list(turn), "Frame: rotation")
    return rotations.checked(turn, "Frame: rotation")


_ORIGIN = Vector((0.0, 0.0, 0.0))


class Frame(Answering, metaclass=Spelled):
    """The pose of one frame in another: `.position` of its origin and `.rotation` matrix.

    >>> from linkwork import rotation_x, translation
    >>> (translation(0, 0, 1.5) @ rotation_x(0.1)).position
    array([0. , 0. , 1.5])
    """

    __slots__ = ("R", "p")
    size = 12

    def __init__(self, position: Iterable[Number] = _ORIGIN, rotation: Any = None):
        self.R = Matrix.identity(3) if rotation is None else _turn_of(rotation)
        self.p = _ORIGIN
        if position is not _ORIGIN:
            self.p = components(
                "Frame: position",
                position,
                3,
                "; a matrix is for rotation=; in the plane use lw.planar.Frame",
            )

    @classmethod
    def of(cls, R: Matrix, p: Iterable[Number]) -> "Frame":
        frame = cls.__new__(cls)
        frame.R, frame.p = R, Vector(p)
        return frame

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "Frame":
        """Take the rows of [R | p]."""
        return cls.of(Matrix.of((x[0:3], x[4:7], x[8:11])), (x[3], x[7], x[11]))

    def scalars(self) -> tuple[Number, ...]:
        return tuple([x for row, p in zip(self.R, self.p, strict=True) for x in (*row, p)])

    @property
    def rotation(self) -> np.ndarray:
        return np.stack([stacked(row) for row in self.R], axis=-2)

    @rotation.setter
    def rotation(self, value: Any) -> None:
        raise AttributeError(
            f"a Frame stays what it is: make another, lw.Frame(frame.position, {value!r:.80})"
        )

    @property
    def position(self) -> np.ndarray:
        return stacked(self.p)

    @position.setter
    def position(self, value: Any) -> None:
        raise AttributeError(
            f"a Frame stays what it is: make another, lw.Frame({value!r:.80}, frame.rotation)"
        )

    @property
    def quaternion(self) -> np.ndarray:
        """The rotation as a unit quaternion (w, x, y, z), w >= 0."""
        return stacked(rotations.to_quaternion(self.R))

    @property
    def axis_angle(self) -> tuple[np.ndarray, Number]:
        """The rotation as a unit axis and the angle about it, 0 to pi; z where there is no turn."""
        axis, angle = rotations.to_axis_angle(self.R)
        return stacked(axis), angle

    @property
    def rotation_vector(self) -> np.ndarray:
        """The rotation as its axis times the angle about it, at most pi long."""
        return stacked(rotations.to_rotation_vector(rotations.to_quaternion(self.R)))

    @checked_keywords
    def euler(self, sequence: str) -> np.ndarray:
        """Return the angles of an Euler sequence: about moving axes in upper case, fixed ones in lower.

        All 12 are available, as "ZYX" (yaw, pitch, roll) or "zxz".

        >>> Frame.from_euler("ZYX", (0.1, 0.2, 0.3)).euler("ZYX").round(12)
        array([0.1, 0.2, 0.3])
        """
        return stacked(rotations.to_euler(sequence, self.R))

    @classmethod
    @checked_keywords
    def from_euler(cls, sequence: str, angles: Numbers, position: Iterable[Number] = _ORIGIN) -> "Frame":
        """Return a frame turned by an Euler sequence: moving axes in upper case, fixed ones in lower."""
        made = cls(position)._turned(rotations.from_euler(sequence, angles))
        warn_of_degrees("from_euler: angles", *angles)
        return made

    @classmethod
    @checked_keywords
    def from_axis_angle(cls, axis: Numbers, angle: Number, position: Iterable[Number] = _ORIGIN) -> "Frame":
        """Return a frame turned by an angle about an axis of any length but zero."""
        warn_of_degrees("from_axis_angle: angle", angle)
        return cls(position)._turned(rotations.about_given_axis(axis, angle, "from_axis_angle"))

    @classmethod
    @checked_keywords
    def from_rotation_vector(cls, vector: Numbers, position: Iterable[Number] = _ORIGIN) -> "Frame":
        """Return a frame turned about the direction of a vector by its length."""
        given = components("from_rotation_vector: vector", vector, 3, " [rad]")
        warn_of_degrees("from_rotation_vector: vector", *given)
        return cls(position)._turned(rotations.from_quaternion(rotations.from_rotation_vector(given)))

    def _turned(self, R: Matrix) -> "Frame":
        """Give a new frame its rotation."""
        self.R = R
        return self

    @property
    def motion_matrix(self) -> np.ndarray:
        """The matrix (6, 6) that takes motions of the inner frame to the outer: `X @ m`, angular first."""
        return columns([self @ unit for unit in units()])

    @property
    def force_matrix(self) -> np.ndarray:
        """The matrix (6, 6) that takes forces of the inner frame to the outer: `X @ f`, torque first."""
        return columns([self @ Force.from_scalars(unit.scalars()) for unit in units()])

    def __repr__(self) -> str:
        return f"Frame(position={printed(self.p)}, rotation={printed(tuple(self.R))})"

    @property
    def axes(self) -> "Frame":
        """The rotation alone."""
        return Frame.of(self.R, (0.0, 0.0, 0.0))

    @property
    def offset(self) -> "Frame":
        """The translation alone."""
        return Frame.of(Matrix.identity(3), self.p)

    def moved(self, step: Sequence[Number]) -> "Frame":
        """Return the frame moved by a step of the outer frame."""
        return Frame.of(self.R, self.p + step)

    def switched(self, part: Number) -> "Frame":
        """Return this frame for part = 1 and the identity for part = 0; between them it is not a frame."""
        rest = 1.0 - part
        R = [[product(x, part) for x in row] for row in self.R]
        for k in range(3):
            R[k][k] = plus(R[k][k], rest)
        return Frame.of(Matrix.of(R), self.p * part)

    @property
    def inverse(self) -> "Frame":
        return Frame.of(self.R.T, -self.R.transpose_times(self.p))

    def __matmul__(self, thing: Any) -> Any:
        """See a frame, motion, force, inertia or point of the inner frame from the outer one."""
        if isinstance(thing, Frame):
            return Frame.of(self.R.product(thing.R), self.R.times(thing.p) + self.p)
        if hasattr(thing, "carried"):
            return thing.carried(self)
        return self.R.times(thing) + self.p

    def local(self, thing: Any) -> Any:
        """See a frame, motion, force or point of the outer frame from the inner one."""
        if isinstance(thing, Frame):
            return Frame.of(self.R.T.product(thing.R), self.R.transpose_times(thing.p - self.p))
        if hasattr(thing, "localized"):
            return thing.localized(self)
        return self.R.transpose_times(Vector(thing) - self.p)

    def twist(self, rate: "Frame") -> Motion:
        """Return X^-1 dX/dt: the motion, seen from inside, of a frame that changes at these rates."""
        A = self.R.T.product(rate.R)  # skew
        return Motion((A[2][1], A[0][2], A[1][0]), self.R.transpose_times(rate.p))


def units() -> list[Motion]:
    """Return the six unit motions: turns about x, y, z, then slides."""
    return [Motion.from_scalars([1.0 if i == k else 0.0 for i in range(6)]) for k in range(6)]
