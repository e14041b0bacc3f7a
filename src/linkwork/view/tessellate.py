"""Triangles of shapes. What differs only in size shares its triangles, and is drawn as one batch."""

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from linkwork.geometry import Box, Cylinder, Mesh, Solid, Sphere
from linkwork.geometry.mesh_topology import connected
from linkwork.geometry.solid import COMMON

Array = np.ndarray

_AROUND = 40  # pieces of a circle
_TUBE = 8  # corners of the ring of a tube
_SHARP = np.cos(np.radians(30.0))  # between a face and the mean of those at its corner: there is an edge


@dataclass(frozen=True, eq=False)
class Shell:
    """Triangles about the origin of a shape, to be stretched along its axes."""

    key: Hashable  # equal for shells of the same vertices and faces
    vertices: Array  # (V, 3) before stretching
    faces: Array  # (F, 3) numbers of vertices, anticlockwise as seen from outside
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    convex: bool = True
    endless: bool = False  # a plane or a terrain: no view tries to show all of it

    @property
    def corners(self) -> Array:
        """The vertices after stretching (V, 3) [m]."""
        return self.vertices * self.scale


def shell(shape: Any) -> Shell | None:
    """Return the triangles of a shape in its own frame; None for what cannot be drawn, as a file unread."""
    return solid_shell(shape) if isinstance(shape, Solid) else None


def solid_shell(solid: Solid) -> Shell:
    """Return the triangles of a solid in its own frame, as those of what it is stretched from."""
    base, scale = solid.stretched_from()
    if base is solid:
        endless = not isinstance(solid, Mesh) and not np.isfinite(solid.volume)  # an open mesh has none
        return mesh(*solid.surface(), endless=endless)
    return replace(_unstretched(base), scale=scale)


@lru_cache(maxsize=1024)
def _unstretched(base: Solid) -> Shell:
    sizes = [getattr(base, field.name) for field in fields(base) if field.name not in COMMON]
    made = mesh(*base.surface(_AROUND))
    return replace(made, key=(type(base).__name__.lower(), *sizes), convex=base.is_convex)


def mesh(vertices: Array, faces: Array, endless: bool = False) -> Shell:
    """Return triangles as they are given; equal ones share their key, and edges are sharp."""
    vertices = np.ascontiguousarray(vertices, dtype=float).reshape(-1, 3)
    faces = np.ascontiguousarray(faces, dtype=np.int64).reshape(-1, 3)
    key = vertices.tobytes(), faces.tobytes()
    return Shell(key, *_creased(vertices, faces), convex=False, endless=endless)


def _creased(vertices: Array, faces: Array) -> tuple[Array, Array]:
    """Return the triangles with corners of their own where the surface has an edge.

    A browser lights a corner by the mean normal of its faces, which would round every edge. Corners of two
    faces at one vertex are one corner if the faces share an edge there that is not sharp.
    """
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    count = len(faces)
    start, end = faces[:, [0, 1, 2]].T.ravel(), faces[:, [1, 2, 0]].T.ravel()  # edges by side, then face
    low, high = np.minimum(start, end), np.maximum(start, end)
    order = np.lexsort((high, low))
    same = (low[order][1:] == low[order][:-1]) & (high[order][1:] == high[order][:-1])
    one, two = order[:-1][same], order[1:][same]
    smooth = np.einsum("fi,fi->f", normals[one % count], normals[two % count]) > _SHARP
    one, two = one[smooth], two[smooth]

    def corners(edges: Array) -> tuple[Array, Array]:
        """Return the corners (3 face + side) at the lower and the higher vertex of edges."""
        side, face = edges // count, edges % count
        first, second = 3 * face + side, 3 * face + (side + 1) % 3
        turned = start[edges] != low[edges]
        return np.where(turned, second, first), np.where(turned, first, second)

    pairs = np.concatenate([np.stack(both) for both in zip(corners(one), corners(two), strict=True)], axis=1)
    _, numbers = connected(3 * count, *pairs)
    _, kept = np.unique(numbers, return_index=True)
    return vertices[faces.ravel()[kept]], numbers.reshape(-1, 3)


def ball(radius: float) -> Shell:
    return replace(_unstretched(Sphere(1.0)), scale=(radius, radius, radius))


def box(x: float, y: float, z: float) -> Shell:
    return replace(_unstretched(Box(1.0, 1.0, 1.0)), scale=(x, y, z))


def cylinder(radius: float, length: float) -> Shell:
    return replace(_unstretched(Cylinder(1.0, 1.0)), scale=(radius, radius, length))


def tube(points: Array, radius: float, closed: bool = False) -> Shell:
    """Return a tube along a line of points (N, 3)."""
    points = np.concatenate([points, points[:1]]) if closed else points
    return Shell(("tube", points.tobytes(), radius), *tube_surface(points, radius), convex=False)


def tube_surface(points: Array, radius: float) -> tuple[Array, Array]:
    """Return the surface of a tube along points (N, 3), its ends open; rings turn as little as they can."""
    ways = np.gradient(np.asarray(points, float), axis=0)
    if np.array_equal(points[0], points[-1]):
        ways[0] = ways[-1] = points[1] - points[-2]
    ways /= np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-300)
    across = np.eye(3)[np.abs(ways[0]).argmin()]
    angles = np.linspace(0.0, 2.0 * np.pi, _TUBE, endpoint=False)
    rings = []
    for point, way in zip(points, ways, strict=True):
        across = across - (across @ way) * way
        across /= np.linalg.norm(across)
        other = np.cross(way, across)
        rings.append(point + radius * (np.outer(np.cos(angles), across) + np.outer(np.sin(angles), other)))
    k = np.arange(_TUBE)
    a, b = k, (k + 1) % _TUBE
    strip = np.concatenate([np.stack([a, b, b + _TUBE], 1), np.stack([a, b + _TUBE, a + _TUBE], 1)])
    return np.concatenate(rings), np.concatenate([strip + ring * _TUBE for ring in range(len(points) - 1)])


def joined(*parts: tuple[Array, Array]) -> tuple[Array, Array]:
    """Put surfaces together that share no vertices: the edges between them are sharp."""
    firsts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    faces = [faces + first for (_, faces), first in zip(parts, firsts, strict=False)]
    return np.concatenate([vertices for vertices, _ in parts]), np.concatenate(faces)
