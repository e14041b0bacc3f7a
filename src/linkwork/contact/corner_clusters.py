"""The farthest and the nearest of many corners of a convex hull: corners in clusters, each in a box.

A linear search over the corners of a fine mesh takes most of the time of GJK and EPA. Corners that lie near
each other are neighbours in the table, `s` of them in a cluster, and a box round a cluster bounds how far it
reaches in a direction. Of n / s boxes some six reach farther than the farthest corner, on a ball of any
fineness, so n / s + 6 s corners and boxes are looked at, least where s = sqrt(n / 6). A walk from corner to
corner over the edges would need fewer, but where it ends on a surface that is nearly flat hangs on rounding.

The clusters of a shape are rows of `Table.points` behind its vertices: three rows each, the centre and the
half widths of the box, and the first corner (counted from that of the shape) and how many.
"""

from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact.decorators import native, native_apart
from linkwork.geometry.vectors import dot, farthest, row, sub, three
from linkwork.native.numba_functions import entry, memory

_FEW = 48  # corners that are looked at one by one
_HIT = 6.0  # clusters that are looked at


def clustered(points: Any) -> tuple[Any, Any]:
    """Return an order of corners in which those of a cluster follow each other, and the rows of clusters.

    Few corners have no clusters.
    """
    n = len(points)
    if n <= _FEW:
        return np.arange(n), np.zeros((0, 3))
    size = ceil(sqrt(n / _HIT))
    parts, whole = [np.arange(n)], []
    while parts:
        part = parts.pop()
        if len(part) <= size:
            whole.append(part)
            continue
        axis = int(np.argmax(np.ptp(points[part], axis=0)))
        part = part[np.argsort(points[part, axis], kind="stable")]
        parts += [part[: len(part) // 2], part[len(part) // 2 :]]
    rows, first = [], 0
    for part in whole:
        low, high = points[part].min(axis=0), points[part].max(axis=0)
        rows += [0.5 * (low + high), 0.5 * (high - low), (first, len(part), 0.0)]
        first += len(part)
    return np.concatenate(whole), np.array(rows)


@native_apart
def farthest_corner(form, d):
    """Return which corner of a hull in clusters reaches farthest in a direction."""
    points, clusters = form.points, form.first + int(form.y)
    many = int(form.x)
    best, start = -1e300, 0
    for c in range(many):
        middle = dot(row(points, clusters + 3 * c), d)
        start, best = (c if middle > best else start), max(best, middle)
    first = form.first + int(points[3 * (clusters + 3 * start + 2)])
    chosen = farthest(points, 3, first, int(points[3 * (clusters + 3 * start + 2) + 1]), d)
    best = dot(row(points, chosen), d)
    size = (abs(d[0]), abs(d[1]), abs(d[2]))
    for c in range(many):
        k = clusters + 3 * c
        if c != start and dot(row(points, k), d) + dot(row(points, k + 1), size) > best:
            first = form.first + int(points[3 * k + 6])
            other = farthest(points, 3, first, int(points[3 * k + 7]), d)
            reach = dot(row(points, other), d)
            if reach > best:
                best, chosen = reach, other
    return chosen


@native_apart
def nearest_corner(form, x):
    """Return which corner of a hull is nearest to a point; of several, the first."""
    best, nearest = form.first, 1e300
    if form.x == 0.0:
        for k in range(form.first, form.first + form.many):
            gap = sub(row(form.points, k), x)
            far = dot(gap, gap)
            if far < nearest:
                best, nearest = k, far
        return best
    clusters = form.first + int(form.y)
    for c in range(int(form.x)):
        k = clusters + 3 * c
        if _beyond(sub(row(form.points, k), x), row(form.points, k + 1)) < nearest:
            first = form.first + int(form.points[3 * k + 6])
            for m in range(first, first + int(form.points[3 * k + 7])):
                gap = sub(row(form.points, m), x)
                far = dot(gap, gap)
                if far < nearest:
                    best, nearest = m, far
    return best


@native
def _beyond(gap, half):
    """Return the squared distance of a point from a box."""
    x, y = max(abs(gap[0]) - half[0], 0.0), max(abs(gap[1]) - half[1], 0.0)
    z = max(abs(gap[2]) - half[2], 0.0)
    return x * x + y * y + z * z


class _Corners(NamedTuple):
    """As much of a Form as corners need."""

    points: Any
    first: int
    many: int
    x: float
    y: float


@entry("float64", "float64[:, ::1]", "int64", "int64", "int64", "float64[:, ::1]")
def highest_above(points, many, clusters, behind, planes):
    """Return how far corners lie above planes, at most; the clusters are behind the points."""
    plane = memory(planes)
    form = _Corners(memory(points), 0, many, float(clusters), float(behind))
    most = -1e300
    for k in range(len(planes)):
        n = three(plane, 4 * k)
        best = farthest_corner(form, n) if clusters > 0 else farthest(form.points, 3, 0, many, n)
        most = max(most, dot(row(form.points, best), n) - plane[4 * k + 3])
    return most
