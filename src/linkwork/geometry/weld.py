"""Vertices that are one, in time and memory that grow as their number does, whatever they are.

Tables are hashed from a secret start: no file can be made whose vertices all fall into one place of them.
"""

import os

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.mesh_loops import equal_rows, near_rows
from linkwork.mechanism.placement import Array

_SEED = int.from_bytes(os.urandom(7), "little")


def distinct(points: NDArray[np.floating]) -> tuple[Array, NDArray[np.int32]]:
    """Return points (n, 3) none of which are equal, in their order, and for each old one the new."""
    count = len(points)
    words = np.ascontiguousarray(points).view(np.uint32).reshape(count, -1)
    label, first = np.empty(count, np.int32), np.empty(count, np.int32)
    found = equal_rows(words, _SEED, _table(count), label, first)
    return points[first[:found]].astype(np.float64), label


def joined(vertices: Array, near: float) -> tuple[Array, NDArray[np.int32]]:
    """Return vertices farther apart than `near`, in their order, and for each old one the new.

    A vertex becomes the first one that is kept and no farther from it than `near`.
    """
    count = len(vertices)
    if not near > 0.0:
        return distinct(vertices)
    label, first, following = (np.empty(count, np.int32) for _ in range(3))
    low = np.ascontiguousarray(vertices - vertices.min(axis=0))
    found = near_rows(low, near, _SEED, _table(count), following, label, first)
    return vertices[first[:found]], label


def _table(count: int) -> NDArray[np.int32]:
    return np.full(2 << max(4, count.bit_length()), -1, np.int32)
