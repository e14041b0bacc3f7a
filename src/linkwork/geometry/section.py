"""The section of a solid with the plane z = 0, which is what it is in the plane: corners with a radius."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.mechanism.placement import Array

SAME_WAY = 1e-9  # cosines: an axis that is square to the plane, or in it


@dataclass(frozen=True, eq=False)
class Section:
    """A convex polygon with a radius round it: one corner is a disc, two are a capsule."""

    corners: Any  # (k, 2), counter-clockwise [m]
    radius: float = 0.0  # [m]
    turned: bool = False  # the corners are in the axes of the body, not in those of the solid


def axis_section(
    rotation: Any, radius: float, lying: Callable[[Array, Array], Section]
) -> tuple[Section, ...]:
    """Return the section of a solid of revolution about z: a disc, or that of one which lies in the plane.

    `lying` gets the directions along and across the axis; where the axis is oblique there is no section.
    """
    turn = np.array(rotation)
    if abs(abs(turn[2, 2]) - 1.0) <= SAME_WAY:
        return (Section([(0.0, 0.0)], radius),)
    if abs(turn[2, 2]) > SAME_WAY:
        return ()
    along = turn[:2, 2]
    return (lying(along, np.array([-along[1], along[0]])),)


def leftwards(corners: Any) -> Array:
    """Return corners in the order that goes round counter-clockwise."""
    points = np.array(corners)
    (x, y), (u, v) = points[1] - points[0], points[2] - points[1]
    return points if x * v - y * u > 0.0 else points[::-1]
