"""Plane figures as arrays of points (n, 2): are they simple, what are their moments, how are they cut."""

import numpy as np

from linkwork.geometry.ear_loops import cut_figure
from linkwork.geometry.solid import Faces
from linkwork.mechanism.placement import Array, plain

_CHUNK = 2**22  # pairs of edges looked at together
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)  # exact to degree 5
_T, _W = (_NODES + 1) / 2, _WEIGHTS / 2


def turn(a: Array, b: Array, c: Array) -> Array:
    """Return twice the area of the triangles a, b, c: positive where they turn to the left."""
    return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        c[..., 0] - a[..., 0]
    )


def area(points: Array) -> float:
    """Return the area, positive if the points go round counter-clockwise."""
    p = points - points.mean(axis=0)
    q = np.roll(p, -1, axis=0)
    return 0.5 * float((p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]).sum())


def moments(points: Array) -> tuple[float, Array, Array]:
    """Return area, centroid, and the moments mu[a, b] = integral of x^a y^b about the centroid, a + b <= 3.

    Green's theorem: the integral of x^a y^b is that of x^(a + 1) y^b / (a + 1) dy round the border, a
    polynomial on each edge. The reference is first some point inside, then the centroid, so that nothing is
    lost far away.
    """
    middle = points.mean(axis=0)
    A, Mx, My = (_border(points - middle, *powers) for powers in ((0, 0), (1, 0), (0, 1)))
    centroid = middle + np.array([Mx, My]) / A
    mu = np.zeros((4, 4))
    for a in range(4):
        for b in range(4 - a):
            mu[a, b] = _border(points - centroid, a, b)
    mu[1, 0] = mu[0, 1] = 0.0
    return A, centroid, mu


def _border(points: Array, a: int, b: int) -> float:
    step = np.roll(points, -1, axis=0) - points
    x, y = (points[:, k, None] + step[:, k, None] * _T for k in (0, 1))
    return float(((x ** (a + 1) * y**b) @ _W * step[:, 1]).sum()) / (a + 1)


def fault(points: Array) -> str:
    """Say why the points are no simple polygon; nothing if they are one."""
    n = len(points)
    if n < 3:
        return f"{n} points; a polygon has 3 or more"
    p = points - points.mean(axis=0)
    following = np.roll(p, -1, axis=0)
    step = following - p
    short = np.flatnonzero((step == 0.0).all(axis=1))
    if short.size:
        i = int(short[0])
        return f"point {i} is point {(i + 1) % n} again, {plain(points[i])}; drop one of them"
    before = np.roll(step, 1, axis=0)
    cross = before[:, 0] * step[:, 1] - before[:, 1] * step[:, 0]
    back = np.flatnonzero((cross == 0.0) & ((before * step).sum(axis=1) < 0.0))
    if back.size:
        i = int(back[0])
        return f"it turns back on itself at point {i}, {plain(points[i])}; drop that point"
    met = _meeting(p, following)
    if met is not None:
        i, j = met
        at = _crossing(p[i], following[i], p[j], following[j]) + points.mean(axis=0)
        return (
            f"it crosses or touches itself: edge {i} to {(i + 1) % n} meets edge {j} to {(j + 1) % n} "
            f"near {plain(at)}; cut it there into two"
        )
    return ""


def _meeting(p: Array, q: Array) -> tuple[int, int] | None:
    """Return the first two edges, from p to q, that meet and are not neighbours."""
    n = len(p)
    low, high = np.minimum(p, q), np.maximum(p, q)
    rows = max(1, _CHUNK // n)
    for first in range(0, n, rows):
        i = np.arange(first, min(n, first + rows))
        near = (low[i, None] <= high[None]).all(axis=2) & (low[None] <= high[i, None]).all(axis=2)
        a, b = np.nonzero(near)
        a = a + first
        apart = (b > a + 1) & ~((a == 0) & (b == n - 1))
        a, b = a[apart], b[apart]
        # Boxes that overlap, and each edge not wholly on one side of the other: then they meet.
        meets = np.sign(turn(p[a], q[a], p[b])) * np.sign(turn(p[a], q[a], q[b])) <= 0
        meets &= np.sign(turn(p[b], q[b], p[a])) * np.sign(turn(p[b], q[b], q[a])) <= 0
        if meets.any():
            k = int(np.argmax(meets))
            return int(a[k]), int(b[k])
    return None


def _crossing(a: Array, b: Array, c: Array, d: Array) -> Array:
    across = float(np.linalg.det(np.array([b - a, d - c])))
    t = float(np.linalg.det(np.array([c - a, d - c]))) / across if across else 0.5
    return a + np.clip(t, 0.0, 1.0) * (b - a)


def is_convex(points: Array) -> bool:
    """Return whether no corner of a simple polygon, counter-clockwise, turns in; it may go straight on."""
    cross = turn(np.roll(points, 1, axis=0), points, np.roll(points, -1, axis=0))
    return bool((cross >= -1e-12 * np.ptp(points, axis=0).max() ** 2).all())


def ears(points: Array) -> Faces:
    """Return triangles (n - 2, 3) that make up a simple polygon, counter-clockwise, by cutting off ears."""
    n = len(points)
    p, triangles = np.ascontiguousarray(points - points.mean(axis=0)), np.empty((n - 2, 3), np.int32)
    cut_figure(p, np.arange(n, dtype=np.int32), np.empty(n), np.empty((2, n), np.int64), triangles)
    return triangles.astype(np.int64)


def convex_cuts(points: Array) -> list[list[int]]:
    """Return the corners of convex polygons that make up a simple one, counter-clockwise.

    Triangles, put together as long as they stay convex (S. Hertel, K. Mehlhorn, Fast triangulation of simple
    polygons, 1983): at most four times as many parts as there must be.
    """
    if is_convex(points):
        return [list(range(len(points)))]
    parts: dict[int, list[int]] = {k: list(triangle) for k, triangle in enumerate(ears(points).tolist())}
    owner = {(part[i - 1], part[i]): k for k, part in parts.items() for i in range(3)}
    for i, j in list(owner):
        k, other = owner.get((i, j)), owner.get((j, i))
        if k is None or other is None:
            continue
        joined = _joined(parts[k], parts[other], i, j)
        if is_convex(points[joined]):
            parts[k] = joined
            del parts[other]
            del owner[i, j], owner[j, i]
            owner.update({(joined[e - 1], joined[e]): k for e in range(len(joined))})
    return list(parts.values())


def _joined(one: list[int], other: list[int], i: int, j: int) -> list[int]:
    """Return two polygons as one, without the edge i to j of the one, which the other goes from j to i."""
    k = one.index(j)
    m = other.index(i)
    around = one[k:] + one[:k]  # j ... i
    return around + (other[m:] + other[:m])[1:-1]
