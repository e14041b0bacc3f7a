"""Surfaces of triangles: boxes, prisms, and what turns about an axis."""

from math import ceil, cos, pi, sin
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.geometry.solid import Faces, Surface, pieces_per_turn
from linkwork.mechanism.placement import Array


def arc(radius: float, height: float, first: float, last: float, pieces: int) -> list[tuple[float, float]]:
    """Return points (r, z) on a circle about (0, height), from one angle to another."""
    angles = np.linspace(first, last, pieces + 1)
    return [
        (0.0 if abs(abs(a) - pi / 2) < 1e-12 else radius * cos(a), height + radius * sin(a)) for a in angles
    ]


def prism(points: Array, cap: Faces, low: float, high: float) -> Surface:
    """Return a polygon (n, 2), counter-clockwise and cut into triangles, drawn out along z."""
    n = len(points)
    vertices = np.vstack([np.c_[points, np.full(n, z)] for z in (low, high)])
    a = np.arange(n)
    b = np.roll(a, -1)
    sides = np.vstack([np.c_[a, b, b + n], np.c_[a, b + n, a + n]])
    return vertices, np.vstack([cap[:, ::-1], cap + n, sides])


def revolved(profile: ArrayLike, resolution: int, angle: float = 2 * pi, cap: Faces | None = None) -> Surface:
    """Return what a profile (n, 2) of (r, z), counter-clockwise, sweeps when it turns about z.

    A `cap`, the profile cut into triangles, closes the ends of less than a full turn.
    """
    profile = np.asarray(profile, dtype=np.float64)
    full = cap is None
    pieces = max(1, ceil(pieces_per_turn(resolution) * angle / (2 * pi) - 1e-9))
    turns = np.arange(pieces) if full else np.arange(pieces + 1)
    theta = angle * turns / pieces
    r, z = profile[:, 0], profile[:, 1]
    ring = np.stack(
        [np.outer(r, np.cos(theta)), np.outer(r, np.sin(theta)), np.outer(z, np.ones_like(theta))]
    )
    index = np.arange(ring[0].size).reshape(ring[0].shape)
    index[r == 0.0] = index[r == 0.0, :1]  # a point on the axis stays where it is
    j = np.arange(pieces)
    k = (j + 1) % len(turns)
    quads = []
    for a, b in zip(index, np.roll(index, -1, axis=0)):
        quads += [np.c_[a[j], a[k], b[k]], np.c_[a[j], b[k], b[j]]]
    if cap is not None:
        quads += [index[:, 0][cap], index[:, -1][cap[:, ::-1]]]
    return compact(ring.reshape(3, -1).T, np.vstack(quads))


def compact(vertices: Array, faces: NDArray[Any]) -> tuple[Array, NDArray[Any]]:
    """Drop faces that have a vertex twice, and vertices that no face has."""
    a, b, c = faces.T
    flat = (a == b) | (b == c) | (c == a)
    faces = faces[~flat] if flat.any() else faces
    used = np.zeros(len(vertices), np.bool_)
    used[faces] = True
    if used.all():
        return vertices, faces
    return vertices[used], (np.cumsum(used) - 1)[faces]


def box(low: Array, high: Array) -> Surface:
    """Return the box between two corners."""
    (x, y, z), (X, Y, Z) = low.tolist(), high.tolist()
    square = np.array([(x, y), (X, y), (X, Y), (x, Y)], dtype=np.float64)
    return prism(square, np.array([(0, 1, 2), (0, 2, 3)]), z, Z)
