"""The marks of a joint (`mechanism/joint_mark.py`) as triangles, in its own frame."""

from collections.abc import Iterable, Sequence

import numpy as np

from linkwork.mechanism.joint_mark import Mark
from linkwork.view import tessellate
from linkwork.view.tessellate import Shell

Array = np.ndarray
# shape, pose (3, 4) in the joint's frame, and the mark that it draws
Glyph = tuple[Shell, Array, Mark]

_AXES = dict(zip("xyz", np.eye(3), strict=True))
_TURNS = {  # take z along an axis
    "x": np.array([(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)]),
    "y": np.array([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)]),
    "z": np.eye(3),
}


def axis_vectors(axes: Sequence[str]) -> Array:
    """Return axes by name as unit vectors (k, 3)."""
    return np.array([_AXES[axis] for axis in axes]).reshape(-1, 3)


def glyphs(
    marks: Sequence[Mark], axes: Sequence[str], radius: float, rail: float, deep: float
) -> Iterable[Glyph]:
    """Return marks as they are drawn; `rail` is how long a rail is, `deep` how thick planar layers are."""
    for mark in marks:
        across, along = mark.across * radius, rail if mark.rail else mark.along * radius
        along += deep if mark.through else 0.0
        if mark.shape == "ball":
            shape = tessellate.ball(across)
        elif mark.shape == "cylinder":
            shape = tessellate.cylinder(across, along)
        else:
            shape = tessellate.box(across, across, along)
        axis = mark.axis or next(iter(axes), "z")
        yield shape, np.column_stack([_TURNS[axis], np.zeros(3)]), mark
