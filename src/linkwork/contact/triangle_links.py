"""How the triangles of a surface hang together, for compiled code: sides, their twins, and what is convex.

Side `3 * f + e` goes from corner e of triangle f to the next. Its twin is the side of the neighbour that goes
the other way. All sides that leave a corner follow from one of them: the one before it in its triangle ends
at the corner, and the twin of that leaves it.
"""

from typing import Any

import numpy as np

from linkwork.mechanism.placement import Array


def twins(faces: Any) -> Any:
    """Return the twin of each side (3 m,), -1 at a border."""
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    if not len(start):
        return np.zeros(0, np.int64)
    room = int(faces.max()) + 1
    key, back = start * room + end, end * room + start
    order = np.argsort(key, kind="stable")
    at = np.minimum(np.searchsorted(key[order], back), len(key) - 1)
    other = order[at]
    return np.where(key[other] == back, other, -1)


def leaving(faces: Any, twin: Any, count: int) -> Any:
    """Return for each of `count` corners a side that leaves it, -1 for a corner without triangles.

    At a border it is the side after it, so that a walk over twins passes all triangles of the corner.
    """
    found = np.full(count, -1, np.int64)
    sides = np.arange(faces.size)
    found[faces.ravel()] = sides
    border = sides[twin < 0]
    found[faces.ravel()[border]] = border
    return found


def rises(points: Array, faces: Any, planes: Array, twin: Any) -> Array:
    """Return how far the corner across each side lies above the triangle (3 m,) [m]; 0 at a border."""
    across = faces.ravel()[3 * (twin // 3) + (twin + 2) % 3]
    gap = points[across] - points[faces.ravel()]
    height = np.einsum("ij,ij->i", np.repeat(planes[:, :3], 3, axis=0), gap)
    return np.where(twin < 0, 0.0, height)


def is_closed(twin: Any) -> bool:
    """Return whether every side has a twin, and is that of its twin."""
    return len(twin) > 9 and bool((twin >= 0).all() and (twin[twin] == np.arange(len(twin))).all())


def may_be_convex(points: Array, faces: Any, planes: Array, twin: Any, slack: float) -> bool:
    """Return whether a surface is closed, and no triangle's neighbour lies above it by more than `slack`."""
    return bool(
        is_closed(twin)
        and planes[:, :3].any(axis=1).all()
        and (rises(points, faces, planes, twin) <= slack).all()
    )


def extreme(points: Array, faces: Any) -> Any:
    """Return which corners of a convex surface stand out (n,): the angles round them are less than a turn."""
    turn = np.zeros(len(points))
    for k in range(3):
        a, b, c = (points[faces[:, (k + m) % 3]] for m in range(3))
        across = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        np.add.at(turn, faces[:, k], np.arctan2(across, np.einsum("ij,ij->i", b - a, c - a)))
    used = np.zeros(len(points), bool)
    used[faces] = True
    return used & (turn < 2 * np.pi - 1e-9)
