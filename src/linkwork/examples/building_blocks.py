"""What the examples are built from: bars and rods between points, and where links meet."""

from collections.abc import Sequence
from math import atan2, hypot, sqrt
from typing import TypeAlias

import numpy as np

from linkwork.geometry import Box, Cylinder
from linkwork.mechanism.body import Body
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import Array, Space

Point: TypeAlias = tuple[float, float]  # of the plane x, y [m]

STEEL, BRASS, ALUMINIUM = 7850.0, 8500.0, 2700.0  # kg/m^3


def upright(name: str, space: Space) -> Mechanism:
    """Return an empty mechanism in the plane x, y, or in space about it, with gravity along -y."""
    return Mechanism(name, gravity=(0.0, -9.81, 0.0)[: 3 if space == "space" else 2], space=space)


def meeting(a: Point, from_a: float, b: Point, from_b: float) -> Point:
    """Return the point at these distances from a and b, on the left of the way from a to b.

    >>> meeting((0, 0), 5.0, (8, 0), 5.0)
    (4.0, 3.0)
    """
    dx, dy = b[0] - a[0], b[1] - a[1]
    span = hypot(dx, dy)
    if not abs(from_a - from_b) <= span <= from_a + from_b or span == 0.0:
        raise ValueError(
            f"links of {from_a:.6g} m and {from_b:.6g} m cannot meet across {span:.6g} m; "
            "give other lengths, or draw the crank at another angle"
        )
    along = (from_a**2 - from_b**2 + span**2) / (2.0 * span)
    aside = sqrt(max(from_a**2 - along**2, 0.0))
    return a[0] + (along * dx - aside * dy) / span, a[1] + (along * dy + aside * dx) / span


def bar(a: Point, b: Point, width: float) -> Box:
    """Return a bar of square section between two points of the plane, in the frame they are given in."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    middle = ((a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0, 0.0)
    return Box(hypot(dx, dy), width, width, position=middle, rotation=atan2(dy, dx))


def link(name: str, a: Point, b: Point, width: float, mass: float | None = None) -> Body:
    """Return a bar drawn from a to b, of aluminium unless its mass is given: origin at a, x towards b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    shape = bar((0.0, 0.0), (hypot(dx, dy), 0.0), width)
    density = ALUMINIUM if mass is None else None
    return Body(name, shape, density=density, mass=mass, position=(*a, 0.0), rotation=atan2(dy, dx))


def strut(a: Sequence[float] | Array, b: Sequence[float] | Array, radius: float) -> Cylinder:
    """Return a round bar between two points of space, in the frame they are given in."""
    way = np.subtract(b, a)
    return Cylinder(radius, float(np.linalg.norm(way)), position=np.add(a, b) / 2.0, rotation=pointing(way))


def rod(
    name: str, a: Sequence[float] | Array, b: Sequence[float] | Array, radius: float, density: float
) -> Body:
    """Return a round bar drawn from a to b: origin at a, z towards b."""
    way = np.subtract(b, a)
    shape = strut((0, 0, 0), (0, 0, float(np.linalg.norm(way))), radius)
    return Body(name, shape, density=density, position=a, rotation=pointing(way))


def pointing(way: Sequence[float] | Array) -> Array:
    """Return a rotation (3, 3) that takes z along `way`; y stays near y, or comes near x if y is the way."""
    z = np.asarray(way, float) / np.linalg.norm(way)
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
