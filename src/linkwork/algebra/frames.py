"""Frames of the space they are written in: two numbers make a place of the plane, three one of space."""

from collections.abc import Sequence
from typing import Any

from linkwork.algebra import planar, spatial
from linkwork.algebra import rotation as rotations
from linkwork.algebra.number import Number
from linkwork.angles import check_angle, warn_of_degrees
from linkwork.real_numbers import shown
from linkwork.spelling import checked_keywords


def translation(*place: Number) -> Any:
    """Return a frame moved to (x, y, z), or to (x, y) in the plane."""
    if len(place) not in (2, 3):
        how = "write the numbers one by one, translation(*place)" if len(place) == 1 else "give 2 or 3"
        raise TypeError(f"translation takes x, y, z, or x, y in the plane, not {shown(place)}; {how}")
    for x in place:
        if x is None or isinstance(x, str | bytes | bool | complex | list | tuple | dict):
            raise TypeError(f"translation: {shown(place)}; give numbers in metres")
    return (planar if len(place) == 2 else spatial).translation(*place)


@checked_keywords
def rotation(angle: Number) -> planar.Frame:
    """Return a frame of the plane turned by an angle; in space use rotation_x, rotation_about, ..."""
    check_angle("rotation: angle", angle)
    return planar.turn(angle)


@checked_keywords
def rotation_about(axis: Sequence[Number], angle: Number) -> spatial.Frame:
    """Return a frame turned about an axis of any length but zero."""
    warn_of_degrees("rotation_about: angle", angle)
    return _turned(rotations.about_given_axis(axis, angle, "rotation_about"))


@checked_keywords
def rotation_euler(sequence: str, angles: Sequence[Number]) -> spatial.Frame:
    """Return a frame turned by an Euler sequence: "ZYX" about moving axes, "xyz" about fixed ones."""
    R = rotations.from_euler(sequence, angles)
    warn_of_degrees("rotation_euler: angles", *angles)
    return _turned(R)


@checked_keywords
def rotation_quaternion(q: Sequence[Number]) -> spatial.Frame:
    """Return a frame turned by a quaternion (w, x, y, z) of any length but zero."""
    return _turned(rotations.from_given_quaternion(q, "rotation_quaternion: q"))


def _turned(R: rotations.Matrix) -> spatial.Frame:
    return spatial.Frame.of(R, (0.0, 0.0, 0.0))
