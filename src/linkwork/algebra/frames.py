"""Frames of the space they are written in: two numbers make a place of the plane, three one of space."""

from collections.abc import Sequence
from math import inf
from typing import Any

from linkwork.algebra import planar, spatial
from linkwork.algebra import rotation as rotations
from linkwork.algebra.number import Number
from linkwork.algebra.vector import components, norm
from linkwork.real_numbers import shown

_ROUNDING = 1e-12  # an axis of this length is one, to the last bit


def translation(*place: Number) -> Any:
    """Return a frame moved to (x, y, z), or to (x, y) in the plane."""
    if len(place) not in (2, 3):
        how = "write the numbers one by one, translation(*place)" if len(place) == 1 else "give 2 or 3"
        raise TypeError(f"translation takes x, y, z, or x, y in the plane, not {shown(place)}; {how}")
    for x in place:
        if x is None or isinstance(x, str | bytes | bool | complex | list | tuple | dict):
            raise TypeError(f"translation: {shown(place)}; give numbers in metres")
    return (planar if len(place) == 2 else spatial).translation(*place)


def rotation(angle: Number) -> planar.Frame:
    """Return a frame of the plane turned by an angle; in space use rotation_x, rotation_about, ..."""
    return planar.turn(angle)


def rotation_about(axis: Sequence[Number], angle: Number) -> spatial.Frame:
    """Return a frame turned about an axis of any length but zero."""
    x, y, z = components("rotation_about: axis", axis, 3)
    length = norm((x, y, z))
    if isinstance(length, float) and not 0.0 < length < inf:
        raise ValueError(f"rotation_about: axis {shown(axis)} has no direction; give one that is not zero")
    if not (isinstance(length, float) and abs(length - 1.0) <= _ROUNDING):
        x, y, z = x / length, y / length, z / length
    return _turned(rotations.about_axis((x, y, z), angle))


def rotation_euler(sequence: str, angles: Sequence[Number]) -> spatial.Frame:
    """Return a frame turned by an Euler sequence: "ZYX" about moving axes, "xyz" about fixed ones."""
    return _turned(rotations.from_euler(sequence, angles))


def rotation_quaternion(q: Sequence[Number]) -> spatial.Frame:
    """Return a frame turned by a quaternion (w, x, y, z) of any length but zero."""
    return _turned(rotations.from_given_quaternion(q, "rotation_quaternion: q"))


def _turned(R: rotations.Matrix) -> spatial.Frame:
    return spatial.Frame.of(R, (0.0, 0.0, 0.0))
