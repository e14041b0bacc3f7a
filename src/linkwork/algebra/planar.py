"""Planar algebra over any number: the names of `spatial`, for bodies that move in the x-y plane.

A motion is (angular, vx, vy), a force (torque, fx, fy), a rotation one angle by its cosine and sine.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from linkwork.algebra import rotation as rotations
from linkwork.algebra.linear import Linear, columns
from linkwork.algebra.number import Number, atan2, cos, is_zero, regular, sin
from linkwork.algebra.vector import (
    Matrix,
    Symmetric,
    Vector,
    components,
    minus,
    plus,
    printed,
    product,
    stacked,
)
from linkwork.angles import warn_of_degrees
from linkwork.spelling import Answering, Spelled

dimension = 2
angular = 1
freedoms = 3
coordinates = 3  # of a pose: x, y, angle


def quarter(x: Sequence[Number]) -> Vector:
    """Return a vector turned by a quarter: the cross product of the unit normal with it."""
    return Vector((0.0 if is_zero(x[1]) else -x[1], x[0]))


def area(a: Sequence[Number], b: Sequence[Number]) -> Number:
    """Return the cross product of two vectors, along the normal."""
    return minus(product(a[0], b[1]), product(a[1], b[0]))


class Point(Vector):
    """A place, or a displacement."""

    __slots__ = ()
    size = 2


class Motion(Linear):
    """A planar velocity or acceleration: angular, and linear of the body's point at the frame's origin."""

    __slots__ = ("v", "w")
    size = 3

    def __init__(self, angular: Number, linear: Iterable[Number]):
        self.w, self.v = angular, Vector(linear)

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "Motion":
        return cls(x[0], x[1:])

    def scalars(self) -> tuple[Number, ...]:
        return (self.w, *self.v)

    @property
    def angular(self) -> Number:
        return self.w

    @property
    def linear(self) -> np.ndarray:
        return stacked(self.v)

    def __repr__(self) -> str:
        return f"Motion(angular={printed(self.w)}, linear={printed(self.v)})"

    def dot(self, f: "Force") -> Number:
        """Return the power of a force along this motion."""
        return plus(product(self.w, f.n), self.v.dot(f.f))

    def cross(self, m: "Motion") -> "Motion":
        """Return the rate of a motion that is carried along by this one."""
        return Motion(0.0, quarter(m.v) * self.w - quarter(self.v) * m.w)

    def cross_force(self, f: "Force") -> "Force":
        """Return the rate of a force that is carried along by this motion."""
        return Force(area(self.v, f.f), quarter(f.f) * self.w)

    def at(self, point: Sequence[Number]) -> Vector:
        """Return the velocity of the body-fixed point at this place."""
        return self.v + quarter(point) * self.w

    def classical(self, v: "Motion") -> "Motion":
        """Return a point's acceleration, w' and x'', from this spatial one and the velocity there."""
        return Motion(self.w, self.v + quarter(v.v) * v.w)

    def carried(self, X: "Frame") -> "Motion":
        return Motion(self.w, X.turned(self.v) - quarter(X.p) * self.w)

    def localized(self, X: "Frame") -> "Motion":
        return Motion(self.w, X.turned_back(self.v + quarter(X.p) * self.w))


class Force(Linear):
    """A planar force or momentum: torque about the frame's origin, and force."""

    __slots__ = ("f", "n")
    size = 3

    def __init__(self, torque: Number, force: Iterable[Number]):
        self.n, self.f = torque, Vector(force)

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "Force":
        return cls(x[0], x[1:])

    @classmethod
    def at_point(cls, force: Iterable[Number], point: Sequence[Number]) -> "Force":
        """Return the planar force of a force acting at a point."""
        f = Vector(force)
        return cls(area(point, f), f)

    def scalars(self) -> tuple[Number, ...]:
        return (self.n, *self.f)

    @property
    def torque(self) -> Number:
        return self.n

    @property
    def force(self) -> np.ndarray:
        return stacked(self.f)

    def __repr__(self) -> str:
        return f"Force(torque={printed(self.n)}, force={printed(self.f)})"

    def dot(self, m: Motion) -> Number:
        return m.dot(self)

    def about(self, point: Sequence[Number]) -> "Force":
        """Return the same force with its torque taken about another point."""
        return Force(minus(self.n, area(point, self.f)), self.f)

    def carried(self, X: "Frame") -> "Force":
        f = X.turned(self.f)
        return Force(plus(self.n, area(X.p, f)), f)

    def localized(self, X: "Frame") -> "Force":
        return Force(minus(self.n, area(X.p, self.f)), X.turned_back(self.f))


def _checked(rotation: Any) -> Any:
    """Return a matrix of the plane, if it is a rotation."""
    if np.shape(rotation)[:2] != (2, 2):
        raise ValueError(f"Frame: rotation of shape {np.shape(rotation)}; give an angle or a 2x2 matrix")
    (a, b), (c, d) = rotation
    R = rotations.checked(((a, b, 0.0), (c, d, 0.0), (0.0, 0.0, 1.0)), "Frame: rotation")
    return R[0][:2], R[1][:2]


class Frame(Answering, metaclass=Spelled):
    """The pose of one frame in another, in the plane: `.position` of its origin and `.angle`."""

    __slots__ = ("c", "p", "s")
    size = 6

    def __init__(self, position: Iterable[Number] = (0.0, 0.0), rotation: Any = None):
        if rotation is None:
            self.c, self.s = 1.0, 0.0
        elif isinstance(rotation, list | tuple | np.ndarray) and np.ndim(rotation) == 2:
            a, b = _checked(rotation)
            self.c, self.s = a[0], b[0]
        elif isinstance(rotation, str | bool | complex | list | tuple):
            raise ValueError(f"Frame: rotation {rotation!r}; give an angle in radians or a 2x2 matrix")
        else:
            warn_of_degrees("Frame: rotation", rotation)
            self.c, self.s = cos(rotation), sin(rotation)
        self.p = components("Frame: position", position, 2, "; in space use lw.Frame")

    @classmethod
    def of(cls, c: Number, s: Number, p: Iterable[Number]) -> "Frame":
        frame = cls.__new__(cls)
        frame.c, frame.s, frame.p = c, s, Vector(p)
        return frame

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "Frame":
        """Take the rows of [R | p]."""
        return cls.of(x[0], x[3], (x[2], x[5]))

    def scalars(self) -> tuple[Number, ...]:
        return (self.c, minus(0.0, self.s), self.p[0], self.s, self.c, self.p[1])

    @property
    def rotation(self) -> np.ndarray:
        return np.stack([stacked((self.c, minus(0.0, self.s))), stacked((self.s, self.c))], axis=-2)

    @rotation.setter
    def rotation(self, value: Any) -> None:
        raise AttributeError(
            f"a Frame stays what it is: make another, lw.planar.Frame(frame.position, {value!r:.80})"
        )

    @property
    def angle(self) -> Number:
        return atan2(self.s, self.c)

    @property
    def position(self) -> np.ndarray:
        return stacked(self.p)

    @position.setter
    def position(self, value: Any) -> None:
        raise AttributeError(
            f"a Frame stays what it is: make another, lw.planar.Frame({value!r:.80}, frame.rotation)"
        )

    @property
    def motion_matrix(self) -> np.ndarray:
        """The matrix (3, 3) that takes motions of the inner frame to the outer: `X @ m`, angular first."""
        return columns([self @ unit for unit in units()])

    @property
    def force_matrix(self) -> np.ndarray:
        """The matrix (3, 3) that takes forces of the inner frame to the outer: `X @ f`, torque first."""
        return columns([self @ Force.from_scalars(unit.scalars()) for unit in units()])

    def __repr__(self) -> str:
        return f"Frame(position={printed(self.p)}, rotation={printed(self.angle)})"

    def turned(self, v: Sequence[Number]) -> Vector:
        c, s = self.c, self.s
        return Vector((minus(product(c, v[0]), product(s, v[1])), plus(product(s, v[0]), product(c, v[1]))))

    def turned_back(self, v: Sequence[Number]) -> Vector:
        c, s = self.c, self.s
        return Vector((plus(product(c, v[0]), product(s, v[1])), minus(product(c, v[1]), product(s, v[0]))))

    @property
    def axes(self) -> "Frame":
        """The rotation alone."""
        return Frame.of(self.c, self.s, (0.0, 0.0))

    @property
    def offset(self) -> "Frame":
        """The translation alone."""
        return Frame.of(1.0, 0.0, self.p)

    def moved(self, step: Sequence[Number]) -> "Frame":
        """Return the frame moved by a step of the outer frame."""
        return Frame.of(self.c, self.s, self.p + step)

    def switched(self, part: Number) -> "Frame":
        """Return this frame for part = 1 and the identity for part = 0; between them it is not a frame."""
        return Frame.of(plus(product(self.c, part), 1.0 - part), product(self.s, part), self.p * part)

    @property
    def inverse(self) -> "Frame":
        return Frame.of(self.c, minus(0.0, self.s), -self.turned_back(self.p))

    def __matmul__(self, thing: Any) -> Any:
        """See a frame, motion, force, inertia or point of the inner frame from the outer one."""
        if isinstance(thing, Frame):
            c, s = self.turned((thing.c, thing.s))
            return Frame.of(c, s, self.turned(thing.p) + self.p)
        if hasattr(thing, "carried"):
            return thing.carried(self)
        return self.turned(thing) + self.p

    def local(self, thing: Any) -> Any:
        """See a frame, motion, force or point of the outer frame from the inner one."""
        if isinstance(thing, Frame):
            c, s = self.turned_back((thing.c, thing.s))
            return Frame.of(c, s, self.turned_back(thing.p - self.p))
        if hasattr(thing, "localized"):
            return thing.localized(self)
        return self.turned_back(Vector(thing) - self.p)

    def twist(self, rate: "Frame") -> Motion:
        """Return X^-1 dX/dt: the motion, seen from inside, of a frame that changes at these rates."""
        return Motion(minus(product(self.c, rate.s), product(self.s, rate.c)), self.turned_back(rate.p))


class RigidInertia(Linear):
    """The inertia of a rigid body about the frame's origin: mass, mass times centre, moment of inertia."""

    __slots__ = ("I", "h", "m")
    size = 4

    def __init__(self, mass: Number, moment: Iterable[Number], tensor: Number):
        self.m, self.h, self.I = mass, Vector(moment), tensor

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "RigidInertia":
        return cls(x[0], x[1:3], x[3])

    @classmethod
    def about_center(cls, mass: Number, com: Sequence[Number], tensor: Number) -> "RigidInertia":
        """Take the moment of inertia about the centre of mass (parallel axes: I = tensor + m c.c)."""
        c = Vector(com)
        return cls(mass, c * mass, plus(tensor, product(mass, c.dot(c))))

    def scalars(self) -> tuple[Number, ...]:
        return (self.m, *self.h, self.I)

    def __matmul__(self, motion: Motion) -> Force:
        return Force(
            plus(product(self.I, motion.w), area(self.h, motion.v)),
            motion.v * self.m + quarter(self.h) * motion.w,
        )

    @property
    def matrix(self) -> np.ndarray:
        """The inertia as a matrix (3, 3), angular first."""
        return columns([self @ unit for unit in units()])

    def articulated(self) -> "ArticulatedInertia":
        return ArticulatedInertia(self.I, quarter(self.h), Symmetric((self.m, 0.0, self.m)))

    def carried(self, X: Frame) -> "RigidInertia":
        h0 = X.turned(self.h)
        h1 = h0 + X.p * self.m
        return RigidInertia(self.m, h1, plus(self.I, plus(X.p.dot(h0), X.p.dot(h1))))


class ArticulatedInertia(Linear):
    """A symmetric 3x3 inertia [[I, H], [H^T, M]] as felt at a handle of an articulated body (6 numbers)."""

    __slots__ = ("H", "I", "M")
    size = 6

    def __init__(self, I: Number, H: Vector, M: Symmetric):
        self.I, self.H, self.M = I, H, M

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "ArticulatedInertia":
        return cls(x[0], Vector(x[1:3]), Symmetric(x[3:]))

    def scalars(self) -> tuple[Number, ...]:
        return (self.I, *self.H, *self.M)

    def __matmul__(self, motion: Motion) -> Force:
        return Force(
            plus(product(self.I, motion.w), self.H.dot(motion.v)),
            self.H * motion.w + self.M.times(motion.v),
        )

    def without(
        self, S: Sequence[Motion], U: Sequence[Force], UD: Sequence[Force], armature: Sequence[Number]
    ) -> "ArticulatedInertia":
        """Return what is still felt when motion along S is free: IA - U D^-1 U^T, with UD = U D^-1."""
        return self.less(U, UD)

    def less(self, U: Sequence[Force], V: Sequence[Force]) -> "ArticulatedInertia":
        """Return IA - U V^T, where that is symmetric."""
        I, H, M = self.I, self.H, self.M
        for a, b in zip(U, V, strict=True):
            I = minus(I, product(a.n, b.n))
            H = H - b.f * a.n
            M = M - Symmetric(product(a.f[i], b.f[j]) for i in range(2) for j in range(i, 2))
        return ArticulatedInertia(I, H, M)

    def carried(self, X: Frame) -> "ArticulatedInertia":
        R = ((X.c, minus(0.0, X.s)), (X.s, X.c))
        H, M = X.turned(self.H), self.M.rotated(Matrix.of(R))
        q = quarter(X.p)
        moved = H + M.times(q)
        return ArticulatedInertia(plus(self.I, q.dot(H + moved)), moved, M)


def uniform_acceleration(g: Sequence[Number]) -> Motion:
    """Return the motion of a frame that accelerates straight with g."""
    return Motion(0.0, g)


def units() -> list[Motion]:
    """Return the three unit motions: a turn, then slides along x and y."""
    return [Motion.from_scalars([1.0 if i == k else 0.0 for i in range(3)]) for k in range(3)]


def turn(angle: Number) -> Frame:
    """Turn about the normal of the plane."""
    return Frame.of(cos(angle), sin(angle), (0.0, 0.0))


def slide(distance: Number) -> Frame:
    """Slide along the joint axis, x."""
    return translation(distance, 0.0)


def translation(x: Number, y: Number) -> Frame:
    return Frame.of(1.0, 0.0, (x, y))


def pose(q: Sequence[Number]) -> Frame:
    """Return the frame of a pose (x, y, angle)."""
    return Frame.of(cos(q[2]), sin(q[2]), q[:2])


def pose_coordinates(X: Frame) -> Vector:
    """Return x, y and angle of a frame."""
    return Vector((*X.p, X.angle))


def frame_rate(X: Frame, change: Sequence[Number]) -> Frame:
    """Return the rates of a frame whose x, y and angle change at these rates."""
    w = change[2]
    return Frame.of(-product(X.s, w), product(X.c, w), change[:2])


def turn_angle(X: Frame) -> Number:
    """Return the angle of a turn."""
    return X.angle


def tilt(X: Frame) -> Vector:
    """Return how far the normal of a frame leans: not at all, in the plane."""
    return Vector(())


def skewness(X: Frame) -> Vector:
    """Return what is zero where a frame is not turned (or half a turn): the sine of its angle."""
    return Vector((X.s,))


def turning(X: Frame) -> Vector:
    """Return how far a frame is turned: the angle, alone in a vector."""
    return Vector((regular(X.angle, X.s, X.c),))  # it jumps at half a turn


def turning_torque(turned: Sequence[Number], gradient: Sequence[Number]) -> Number:
    """Return the torque whose power is the gradient times the rate of `turning`."""
    return gradient[0]
