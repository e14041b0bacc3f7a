"""What a joint is drawn as, by its kind, in its own frame. Kinds that are not here are a small ball."""

from collections.abc import Iterable

import numpy as np

from linkwork.view import tessellate
from linkwork.view.tessellate import Shell

Array = np.ndarray
Mark = tuple[
    Shell, Array, bool
]  # shape, pose (3, 4) in the joint's frame, and whether it moves with the child

_X, _Y, _Z = np.eye(3)
_ALONG_X = np.array([(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)])  # takes z along x
_ALONG_Y = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)])  # takes z along y


def axes(kind: str, space: str) -> Array:
    """Return the axes (k, 3) of a joint in its frame."""
    if kind == "Universal":
        return np.array([_X, _Y])
    if kind == "Prismatic" and space == "plane":
        return np.array([_X])
    if kind in ("Fixed", "Free", "Spherical"):
        return np.zeros((0, 3))
    return np.array([_Z])


def glyph(kind: str, space: str, radius: float, rail: float, deep: float) -> Iterable[Mark]:
    """Return what a joint is drawn as; `rail` is how long a rail is, `deep` how thick planar layers are."""
    here = np.column_stack([np.eye(3), np.zeros(3)])
    long = 3.2 * radius + deep
    match kind:
        case "Free":
            return
        case "Fixed":
            yield tessellate.box(1.6 * radius, 1.6 * radius, 1.6 * radius + deep), here, True
        case "Revolute":
            yield tessellate.cylinder(radius, long), here, True
        case "Prismatic":
            turn = _ALONG_X if space == "plane" else np.eye(3)
            yield (
                tessellate.box(0.7 * radius, 0.7 * radius, rail),
                np.column_stack([turn, np.zeros(3)]),
                False,
            )
        case "Cylindrical" | "Helical":
            yield tessellate.cylinder(0.5 * radius, rail), here, False
            yield tessellate.cylinder(1.1 * radius, 3.0 * radius), here, True
        case "Universal":
            yield tessellate.cylinder(0.5 * radius, long), np.column_stack([_ALONG_X, np.zeros(3)]), True
            yield tessellate.cylinder(0.5 * radius, long), np.column_stack([_ALONG_Y, np.zeros(3)]), True
        case "Spherical":
            yield tessellate.ball(1.5 * radius), here, True
        case "Planar":
            yield tessellate.box(5.0 * radius, 5.0 * radius, 0.3 * radius), here, True
        case _:
            yield tessellate.ball(1.2 * radius), here, True
