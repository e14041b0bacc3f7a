"""Arrows as triangles: one that turns, one that is straight."""

from functools import cache

import numpy as np

from linkwork.geometry import Cone
from linkwork.view import tessellate
from linkwork.view.body_pieces import turned_to
from linkwork.view.tessellate import Shell

Array = np.ndarray

_ROUND = 1.5 * np.pi  # how far an arrow turns


@cache
def turning_arrow() -> tuple[Array, Array]:
    """Return the triangles of an arrow that turns about z, of radius 1."""
    angles = np.linspace(0.0, _ROUND, 33)
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))])
    tube = tessellate.tube_surface(circle, 0.07)
    tip = np.array([np.cos(_ROUND), np.sin(_ROUND), 0.0])
    along = np.array([-np.sin(_ROUND), np.cos(_ROUND), 0.0])
    cone = tessellate.solid_shell(Cone(0.2, 0.5))
    return tessellate.joined(tube, (cone.corners @ turned_to(along).T + tip, cone.faces))


@cache
def straight_arrow() -> tuple[Array, Array]:
    """Return the triangles of an arrow along z that is beside the axis by 1, and 3 long."""
    shaft, cone = tessellate.cylinder(0.07, 2.5), tessellate.solid_shell(Cone(0.2, 0.5))
    beside = np.array([1.0, 0.0, 0.0])
    return tessellate.joined(
        (shaft.corners + beside, shaft.faces), (cone.corners + beside + (0.0, 0.0, 1.4), cone.faces)
    )


def drive_shell(turns: bool, size: float) -> Shell:
    """Return the arrow of what drives a hinge or a slide."""
    shape = turning_arrow() if turns else straight_arrow()
    return Shell(("drive", turns), *shape, scale=(size, size, size), convex=False)
