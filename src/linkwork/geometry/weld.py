"""Vertices that are one, in time and memory that grow as their number does, whatever they are.

Tables are hashed from a secret start: no file can be made whose vertices all fall into one place of them.
"""

import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.mesh_loops import mark_corners, near_rows, number_rows
from linkwork.geometry.polyhedron import bounds
from linkwork.mechanism.placement import Array

SECRET = int.from_bytes(os.urandom(7), "little")
_BLOCK = 30_000  # points
_AHEAD = 32  # rows whose places in a table are touched together
_WIDE, _NARROW = 64.0, 4.0  # cells, in distances that are near
_CROWD = 256  # points in a wide cell; those of a narrow one are near apart, and few


def distinct(points: NDArray[np.floating]) -> tuple[Array, NDArray[np.int32]]:
    """Return points (..., 3) none of which are equal, in their order, and for each old one the new.

    They are taken in blocks, so that no copy of all of them is made.
    """
    total, count = points.size // 3, 0
    kept = np.empty((total, 3), points.dtype)
    words = kept.view(np.uint32)
    label, table, ahead = np.empty(total, np.int32), _table(total), np.empty(_AHEAD + 1, np.int64)
    for at, block in blocks(points):
        rows = (block + 0).view(np.uint32)  # -0.0 becomes 0.0
        count = number_rows(rows, SECRET, count, table, ahead, words, label[at : at + len(block)])
    return kept[:count].astype(np.float64), label


def blocks(points: NDArray[np.floating]) -> Iterator[tuple[int, NDArray[np.floating]]]:
    """Yield points (..., 3) as rows, some ten thousand at a time, and the number of the first."""
    step = _BLOCK * len(points) * 3 // points.size or 1
    for k in range(0, len(points), step):
        rows = np.ascontiguousarray(points[k : k + step]).reshape(-1, 3)
        yield k * (points.size // 3 // len(points)), rows


def joined(vertices: Array, near: float) -> tuple[Array, NDArray[np.int32]]:
    """Return vertices farther apart than `near`, in their order, and for each old one the new.

    A vertex becomes the first one that is kept and no farther from it than `near`. Cells in which they are
    looked for are wide, so that a vertex looks into one of them as a rule; where vertices crowd, narrow.
    """
    vertices, count = np.ascontiguousarray(vertices), len(vertices)
    if not near > 0.0:
        return distinct(vertices)
    label, first, following = (np.empty(count, np.int32) for _ in range(3))
    low, table, found = bounds(vertices)[0], _table(count), -1
    ahead = np.empty(_AHEAD + 1, np.int64)
    for width, most in ((_WIDE, _CROWD), (_NARROW, count)):
        if found < 0:
            work = ahead, table, following, label, first
            found = near_rows(vertices, low, near, width * near, most, SECRET, *work)
    return (vertices if found == count else vertices[first[:found]]), label


def all_used(count: int, faces: NDArray[np.int32]) -> bool:
    """Tell whether faces have three different corners each, and every vertex is one of them."""
    used = np.zeros(count, np.bool_)
    return mark_corners(faces, used) == 0 and bool(used.all())


def _table(count: int) -> NDArray[np.int32]:
    return np.empty(2 << max(4, count.bit_length()), np.int32)
