"""Frames of the space they are written in: two numbers make a place of the plane, three one of space."""

from typing import Any

from linkwork.algebra import planar, spatial
from linkwork.algebra.number import Number


def translation(*place: Number) -> Any:
    """Return a frame moved to (x, y, z), or to (x, y) in the plane."""
    if len(place) not in (2, 3):
        raise TypeError(f"translation takes x, y, z, or x, y in the plane; {len(place)} numbers were given")
    return (planar if len(place) == 2 else spatial).translation(*place)


def rotation(angle: Number) -> planar.Frame:
    """Return a frame of the plane turned by an angle; in space use rotation_x, rotation_y, rotation_z."""
    return planar.turn(angle)
