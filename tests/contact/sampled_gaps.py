"""Distances of smooth bodies, compiled: of points from a body, and of two bodies, one of them sampled.

A body is a kind, its sizes and, of a hull, the planes of its faces. Distances are negative inside.
"""

from math import cos, exp, sin, sqrt

import numpy as np
from numba import njit

BALL, BOX, CYLINDER, HULL, RING, DUMB_BELL, HILL = range(7)


@njit
def _length(x, y, z):
    return sqrt(x * x + y * y + z * z)


@njit
def _beyond(u, v):
    """Return the distance from the quarter-plane u, v <= 0."""
    return _length(max(u, 0.0), max(v, 0.0), 0.0) + min(max(u, v), 0.0)


@njit
def height(x, y):
    """Return the height of the hill."""
    return 0.4 * exp(-x * x - y * y) + 0.1 * sin(2.0 * x) * cos(1.5 * y)


@njit
def _above_hill(x, y, z):
    """Return about the distance: how far a point is above, over the length of the gradient."""
    bump = -0.8 * exp(-x * x - y * y)
    dx = bump * x + 0.2 * cos(2.0 * x) * cos(1.5 * y)
    dy = bump * y - 0.15 * sin(2.0 * x) * sin(1.5 * y)
    return (z - height(x, y)) / sqrt(1.0 + dx * dx + dy * dy)


@njit
def distance(kind, sizes, planes, x, y, z, least):
    """Return the distance of a point from a body, in the body's axes; if it is more than `least`, anything
    between the two."""
    if kind == BALL:
        return _length(x, y, z) - sizes[0]
    if kind == BOX:
        u, v, w = abs(x) - sizes[0], abs(y) - sizes[1], abs(z) - sizes[2]
        return _length(max(u, 0.0), max(v, 0.0), max(w, 0.0)) + min(max(u, max(v, w)), 0.0)
    across = _length(x, y, 0.0)
    if kind == CYLINDER:
        return _beyond(across - sizes[0], abs(z) - sizes[1])
    if kind == HULL:
        most = _length(x, y, z) - sizes[0]  # of the ball round it
        k = 0
        while k < len(planes) and most <= least:
            most = max(most, planes[k, 0] * x + planes[k, 1] * y + planes[k, 2] * z - planes[k, 3])
            k += 1
        return most
    if kind == RING:
        return _length(across - sizes[0], z, 0.0) - sizes[1]
    if kind == DUMB_BELL:  # balls on the axis, and a bar
        ball = _length(across, abs(z) - sizes[1], 0.0) - sizes[0]
        return min(ball, _length(across, max(abs(z) - sizes[1], 0.0), 0.0) - sizes[2])
    low = (z - 0.5) / 1.2  # it is lower than 0.5, and its gradient below 0.6
    return low if low > max(least, 0.0) else _above_hill(x, y, z)


@njit
def distances(kind, sizes, planes, points):
    """Return the distances of points (n, 3)."""
    found = np.empty(len(points))
    for k in range(len(points)):
        found[k] = distance(kind, sizes, planes, points[k, 0], points[k, 1], points[k, 2], 1e300)
    return found


@njit
def lowest(kind, sizes, planes, points, R, p, enough):
    """Return the least distance of points, placed by R, p, and which it is; the first below `enough` will
    do."""
    least, which = 1e300, 0
    for k in range(len(points)):
        a, b, c = points[k, 0], points[k, 1], points[k, 2]
        x = R[0, 0] * a + R[0, 1] * b + R[0, 2] * c + p[0]
        y = R[1, 0] * a + R[1, 1] * b + R[1, 2] * c + p[1]
        z = R[2, 0] * a + R[2, 1] * b + R[2, 2] * c + p[2]
        d = distance(kind, sizes, planes, x, y, z, least)
        if d < least:
            least, which = d, k
            if d < enough:
                break
    return least, which
