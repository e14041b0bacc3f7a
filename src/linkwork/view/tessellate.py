"""Triangles of shapes. What differs only in size shares its triangles, and is drawn as one batch."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from linkwork.geometry.solids import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere

Array = np.ndarray

_AROUND, _ALONG = 32, 12  # corners of a circle, and rings of half a ball
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
    match shape:
        case Box():
            return Shell("box", *_box(), (shape.x, shape.y, shape.z))
        case Sphere():
            return Shell("ball", *_ball(), _cube(shape.radius))
        case Ellipsoid():
            return Shell("ball", *_ball(), (shape.x, shape.y, shape.z))
        case Cylinder():
            return Shell("cylinder", *_cylinder(), (shape.radius, shape.radius, shape.length))
        case Cone():
            return Shell("cone", *cone_surface(), (shape.radius, shape.radius, shape.length))
        case Capsule():
            ratio = shape.length / shape.radius
            return Shell(("capsule", ratio), *_capsule(ratio), _cube(shape.radius))
    if not hasattr(shape, "surface"):
        return None
    return mesh(*shape.surface(), endless=not np.isfinite(shape.volume))


def mesh(vertices: Array, faces: Array, endless: bool = False) -> Shell:
    """Return triangles as they are given; equal ones share their key, and edges are sharp."""
    vertices = np.ascontiguousarray(vertices, dtype=float).reshape(-1, 3)
    faces = np.ascontiguousarray(faces, dtype=np.int64).reshape(-1, 3)
    key = vertices.tobytes(), faces.tobytes()
    return Shell(key, *_creased(vertices, faces), convex=False, endless=endless)


def _creased(vertices: Array, faces: Array) -> tuple[Array, Array]:
    """Return the triangles with corners of their own where the surface has an edge.

    A browser lights a corner by the mean normal of its faces, which would round every edge.
    """
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    mean = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(mean, faces[:, k], normals)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    size = np.linalg.norm(mean, axis=1, keepdims=True)
    mean = np.divide(mean, size, out=np.zeros_like(mean), where=size > 0.0)
    sharp = np.einsum("fki,fi->fk", mean[faces], normals) < _SHARP
    apart = np.where(sharp[..., None], np.round(4.0 * normals)[:, None, :], 9.0)  # 9 is no normal's number
    rows = np.concatenate([faces[..., None], apart], axis=2).reshape(-1, 4)
    kept, numbers = np.unique(rows, axis=0, return_inverse=True)
    return vertices[kept[:, 0].astype(int)], numbers.reshape(-1, 3)


def ball(radius: float) -> Shell:
    return Shell("ball", *_ball(), _cube(radius))


def box(x: float, y: float, z: float) -> Shell:
    return Shell("box", *_box(), (x, y, z))


def cylinder(radius: float, length: float) -> Shell:
    return Shell("cylinder", *_cylinder(), (radius, radius, length))


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


def _cube(x: float) -> tuple[float, float, float]:
    return x, x, x


# shapes of size one


@cache
def _box() -> tuple[Array, Array]:
    """Return a cube of side 1; a corner is there once per face, so that edges are sharp."""
    vertices, faces = [], []
    for axis in range(3):
        for side in (-0.5, 0.5):
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            first = len(vertices)
            for a, b in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
                vertices.append(side * np.eye(3)[axis] + a * u + b * v)
            quad = [(0, 1, 2), (0, 2, 3)] if side > 0 else [(0, 2, 1), (0, 3, 2)]
            faces += [tuple(first + k for k in triangle) for triangle in quad]
    return np.array(vertices), np.array(faces)


def _turned(profile: Array) -> tuple[Array, Array]:
    """Return the surface that a profile (n, 2) of radius and height, from bottom to top, makes about z."""
    angles = np.linspace(0.0, 2.0 * np.pi, _AROUND, endpoint=False)
    rings = [
        np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(_AROUND, z)]) for r, z in profile
    ]
    faces = []
    for ring in range(len(profile) - 1):
        for k in range(_AROUND):
            a, b = ring * _AROUND + k, ring * _AROUND + (k + 1) % _AROUND
            c, d = a + _AROUND, b + _AROUND
            if profile[ring][0] > 0.0:
                faces.append((a, b, d))
            if profile[ring + 1][0] > 0.0:
                faces.append((a, d, c))
    return np.concatenate(rings), np.array(faces)


def joined(*parts: tuple[Array, Array]) -> tuple[Array, Array]:
    """Put surfaces together that share no vertices: the edges between them are sharp."""
    firsts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    faces = [faces + first for (_, faces), first in zip(parts, firsts, strict=False)]
    return np.concatenate([vertices for vertices, _ in parts]), np.concatenate(faces)


def _disc(z: float, up: bool) -> tuple[Array, Array]:
    return _turned(np.array([(1.0, z), (0.0, z)] if up else [(0.0, z), (1.0, z)]))


@cache
def _cylinder() -> tuple[Array, Array]:
    side = _turned(np.array([(1.0, -0.5), (1.0, 0.5)]))
    return joined(_disc(-0.5, up=False), side, _disc(0.5, up=True))


@cache
def cone_surface() -> tuple[Array, Array]:
    return joined(_disc(0.0, up=False), _turned(np.array([(1.0, 0.0), (0.0, 1.0)])))


@cache
def _ball() -> tuple[Array, Array]:
    angles = np.linspace(-np.pi / 2, np.pi / 2, 2 * _ALONG + 1)
    return _turned(_rounded(np.column_stack([np.cos(angles), np.sin(angles)])))


@cache
def _capsule(ratio: float) -> tuple[Array, Array]:
    angles = np.linspace(0.0, np.pi / 2, _ALONG + 1)
    top = np.column_stack([np.cos(angles), np.sin(angles) + ratio / 2.0])
    bottom = top[::-1] * (1.0, -1.0)
    return _turned(_rounded(np.concatenate([bottom, top])))


def _rounded(profile: Array) -> Array:
    """Close a profile at its poles exactly."""
    profile[[0, -1], 0] = 0.0
    return profile
