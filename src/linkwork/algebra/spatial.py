"""Spatial algebra over any number: motions, forces, frames and inertias in space, angular part first.

The same names with the same meaning are in `planar`; an algorithm takes one of the two and never asks which.

A frame `X_AB` is the pose of B in A. `X_AB @ thing_B` gives the thing as seen from A, `X_AB.local(thing_A)`
as seen from B; all products are done as 3x3 work. (Featherstone, Rigid Body Dynamics Algorithms, 2008,
chapter 2 and table A.1.)
"""

from collections.abc import Sequence

from linkwork.algebra import rotation as rotations
from linkwork.algebra.number import Number, atan2, cos, sin, sqrt, where
from linkwork.algebra.spatial_frames import Force, Frame, Motion, Point, units
from linkwork.algebra.spatial_inertia import ArticulatedInertia, RigidInertia
from linkwork.algebra.vector import Matrix, Vector
from linkwork.angles import check_angle

__all__ = [
    "ArticulatedInertia",
    "Force",
    "Frame",
    "Motion",
    "Point",
    "RigidInertia",
    "angular",
    "coordinates",
    "dimension",
    "frame_rate",
    "freedoms",
    "pose",
    "pose_coordinates",
    "rotation_x",
    "rotation_y",
    "rotation_z",
    "skewness",
    "slide",
    "tilt",
    "translation",
    "turn",
    "turn_angle",
    "turning",
    "turning_torque",
    "uniform_acceleration",
    "units",
]

dimension = 3  # components of a point
angular = 3  # components of a motion that turn
freedoms = 6  # components of a motion
coordinates = 7  # of a pose: place and quaternion


def uniform_acceleration(g: Sequence[Number]) -> Motion:
    """Return the motion of a frame that accelerates straight with g."""
    return Motion((0.0,) * 3, g)


def turn(angle: Number) -> Frame:
    """Turn about the joint axis, z."""
    return Frame.of(rotations.about_z(angle), (0.0, 0.0, 0.0))


def slide(distance: Number) -> Frame:
    """Slide along the joint axis, z."""
    return translation(0.0, 0.0, distance)


def translation(x: Number, y: Number, z: Number) -> Frame:
    return Frame.of(Matrix.identity(3), (x, y, z))


def rotation_x(angle: Number) -> Frame:
    """Return a frame turned about x by an angle [rad]."""
    check_angle("rotation_x: angle", angle)
    return Frame.of(rotations.about_x(angle), (0.0, 0.0, 0.0))


def rotation_y(angle: Number) -> Frame:
    """Return a frame turned about y by an angle [rad]."""
    check_angle("rotation_y: angle", angle)
    return Frame.of(rotations.about_y(angle), (0.0, 0.0, 0.0))


def rotation_z(angle: Number) -> Frame:
    """Return a frame turned about z by an angle [rad]."""
    check_angle("rotation_z: angle", angle)
    return Frame.of(rotations.about_z(angle), (0.0, 0.0, 0.0))


def pose(q: Sequence[Number]) -> Frame:
    """Return the frame of a pose: place, then quaternion (w, x, y, z) of any length but zero."""
    return Frame.of(rotations.from_quaternion(q[3:]), q[:3])


def pose_coordinates(X: Frame) -> Vector:
    """Return place and quaternion of a frame."""
    return Vector((*X.p, *rotations.to_quaternion(X.R)))


def frame_rate(X: Frame, change: Sequence[Number]) -> Frame:
    """Return the rates of a frame: of its place along outer axes, of its turn about its own."""
    w = Vector(change[3:])
    return Frame.of(Matrix(-w.cross(row) for row in X.R), change[:3])


def turn_angle(X: Frame) -> Number:
    """Return the angle of a turn about the joint axis, z; of another rotation, that of the nearest."""
    (a, b, _), (c, d, _), _ = X.R
    return atan2(c - b, a + d)


def tilt(X: Frame) -> Vector:
    """Return how far the axis z of a frame leans: its components along the outer x and y."""
    return Vector((X.R[0][2], X.R[1][2]))


def skewness(X: Frame) -> Vector:
    """Return what is zero where a frame is not turned (or half a turn): axis times sine of the angle."""
    (_, b, c), (d, _, f), (g, h, _) = X.R
    return Vector((0.5 * (h - f), 0.5 * (c - g), 0.5 * (d - b)))


def turning(X: Frame) -> Vector:
    """Return how far a frame is turned: axis times angle."""
    return rotations.to_rotation_vector(rotations.to_quaternion(X.R))


def turning_torque(turned: Sequence[Number], gradient: Sequence[Number]) -> Vector:
    """Return the torque, in the outer axes, whose power is the gradient times the rate of `turning`.

    With t = turned, dt/dt = (1 - [t]x / 2 + c [t]x^2) w, c = (1 - (a/2) cot(a/2)) / a^2, a = |t|; transposed.
    """
    t, g = Vector(turned), Vector(gradient)
    square = t.dot(t)
    small = square < 1e-4
    a = sqrt(where(small, 1.0, square))
    c = where(small, 1.0 / 12.0 + square / 720.0, (1.0 - 0.5 * a * cos(0.5 * a) / sin(0.5 * a)) / (a * a))
    across = t.cross(g)
    return g + across * 0.5 + t.cross(across) * c
