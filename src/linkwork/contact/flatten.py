"""Shapes -> rows of the table: what each shape is for compiled code, one small function per class.

A shape may become several pieces: a compound its parts, a polygon its convex parts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.contact import shape_table as kinds
from linkwork.contact.obb_tree import fours_of, tree_of
from linkwork.contact.shape_table import Table, addresses
from linkwork.geometry import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Extrusion,
    HeightField,
    Mesh,
    Plane,
    Polygon,
    Sphere,
)
from linkwork.mechanism.placement import Array, Space

ENDLESS = 1e150  # half width of what has no end; its square is still a number
_STANDS_OUT = 1e-6  # sine of the angle from which on an edge is no longer flat
_SAME_WAY = 1e-9  # cosines: an axis that is square to the plane, or in it


@dataclass(frozen=True)
class Piece:
    """One row of the table, with what it points at."""

    kind: int
    size: tuple[float, ...]
    low: Array  # (3,) corner of the box round it, in its own axes [m]
    high: Array  # (3,)
    position: Array  # (3,) of its own origin in the frame of the body [m]
    rotation: Array  # (3, 3)
    points: Array = field(default_factory=lambda: np.zeros((0, 3)))
    faces: Any = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    planes: Array = field(default_factory=lambda: np.zeros((0, 4)))
    ridge: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    boxes: Array = field(default_factory=lambda: np.zeros((0, 15)))
    children: Any = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    fours: Array = field(default_factory=lambda: np.zeros((0, 15, 4)))
    below: Any = field(default_factory=lambda: np.zeros((0, 4), np.int64))
    heights: Array = field(default_factory=lambda: np.zeros((0, 0)))


def pieces_of(shape: Any, space: Space = "space") -> list[Piece]:
    """Return the rows of a shape, placed in the frame of its body."""
    if hasattr(shape, "shape") and hasattr(shape.shape, "position"):  # a Collision or Visual
        return pieces_of(shape.shape, space)
    if isinstance(shape, Compound):
        return [piece for part in shape.pieces for piece in pieces_of(part, space)]
    if space == "plane":
        return _in_plane(shape)
    for kind, flat in _FLAT.items():
        if isinstance(shape, kind):
            return flat(shape)
    if hasattr(shape, "surface"):
        return _mesh(shape.mesh())
    raise ValueError(
        f"a {type(shape).__name__} cannot be touched: {shape!r}; give a solid: Sphere, Box, Mesh, Plane ..."
    )


def table_of(
    pieces: Sequence[Piece], owner: Sequence[int], group: Sequence[int], mask: Sequence[int]
) -> Table:
    """Return the table of shapes; `owner` is the body of each, `group` and `mask` say who meets whom."""
    n = len(pieces)
    index, size, reach = np.zeros((n, 12), np.int64), np.zeros((n, 4)), np.zeros((n, 7))
    points = faces = nodes = fours = heights = 0
    for k, piece in enumerate(pieces):
        size[k, : len(piece.size)] = piece.size
        half = 0.5 * (piece.high - piece.low)
        reach[k, :3], reach[k, 3:6] = 0.5 * (piece.high + piece.low), half
        reach[k, 6] = np.linalg.norm(half) if piece.kind != kinds.SPHERE else piece.size[0]
        index[k] = (
            *(points, len(piece.points), faces, len(piece.faces), nodes, fours),
            *(heights, *piece.heights.shape, owner[k], group[k], mask[k]),
        )
        points += len(piece.points)
        faces += len(piece.faces)
        nodes += len(piece.boxes)
        fours += len(piece.fours)
        heights += piece.heights.size
    parts = (
        np.array([piece.kind for piece in pieces], np.int64).reshape(n),
        size,
        reach,
        index,
        _joined([piece.points for piece in pieces], (0, 3)),
        _joined([piece.faces for piece in pieces], (0, 3), np.int64),
        _joined([piece.planes for piece in pieces], (0, 4)),
        _joined([piece.ridge for piece in pieces], (0,), np.int64),
        _joined([piece.boxes for piece in pieces], (0, 15)),
        _joined([piece.children for piece in pieces], (0, 2), np.int64),
        _joined([piece.fours for piece in pieces], (0, 15, 4)),
        _joined([piece.below for piece in pieces], (0, 4), np.int64),
        _joined([piece.heights.ravel() for piece in pieces], (0,)),
    )
    return Table(*parts, addresses(*parts, n))


def _joined(arrays: Sequence[Any], empty: tuple[int, ...], kind: Any = np.float64) -> Any:
    return np.ascontiguousarray(np.concatenate([np.zeros(empty, kind), *arrays]), dtype=kind)


def _place(shape: Any) -> dict[str, Array]:
    return {"position": np.array(shape.position), "rotation": np.array(shape.rotation)}


def _simple(shape: Any, kind: int, size: tuple[float, ...], low: Any, high: Any) -> list[Piece]:
    return [Piece(kind, size, np.array(low, float), np.array(high, float), **_place(shape))]


def _sphere(s: Sphere) -> list[Piece]:
    r = s.radius
    return _simple(s, kinds.SPHERE, (r,), (-r, -r, -r), (r, r, r))


def _capsule(s: Capsule) -> list[Piece]:
    r, h = s.radius, s.length / 2
    return _simple(s, kinds.CAPSULE, (r, h), (-r, -r, -h - r), (r, r, h + r))


def _box(s: Box) -> list[Piece]:
    half = (s.x / 2, s.y / 2, s.z / 2)
    return _simple(s, kinds.BOX, half, [-x for x in half], half)


def _cylinder(s: Cylinder) -> list[Piece]:
    r, h = s.radius, s.length / 2
    return _simple(s, kinds.CYLINDER, (r, h), (-r, -r, -h), (r, r, h))


def _cone(s: Cone) -> list[Piece]:
    r = s.radius
    return _simple(s, kinds.CONE, (r, s.length), (-r, -r, 0), (r, r, s.length))


def _ellipsoid(s: Ellipsoid) -> list[Piece]:
    return _simple(s, kinds.ELLIPSOID, (s.x, s.y, s.z), (-s.x, -s.y, -s.z), (s.x, s.y, s.z))


def _plane(s: Plane) -> list[Piece]:
    far = [ENDLESS] * 3
    return _simple(s, kinds.PLANE, (*s.normal, s.offset), [-x for x in far], far)


def _height_field(s: HeightField) -> list[Piece]:
    x, y = s.size
    low, high = float(s.heights.min()), float(s.heights.max())
    depth = max(x, y, high - low)  # solid below: what is under it meets it
    return [
        Piece(
            kinds.HEIGHT_FIELD,
            (x, y, low, high),
            np.array([-x / 2, -y / 2, low - depth]),
            np.array([x / 2, y / 2, high]),
            **_place(s),
            heights=np.ascontiguousarray(s.heights),
        )
    ]


def _hull(s: ConvexHull) -> list[Piece]:
    points, faces = s.surface()
    planes = _planes(points, faces)
    return [
        Piece(
            kinds.CONVEX,
            (),
            points.min(axis=0),
            points.max(axis=0),
            **_place(s),
            points=points,
            faces=faces,
            planes=planes,
            ridge=_ridges(points, faces, planes),
        )
    ]


def _extrusion(s: Extrusion) -> list[Piece]:
    place: dict[str, Any] = _place(s)
    parts = s.polygon.convex_parts()
    solids = [s] if len(parts) == 1 else [Extrusion(part, s.length) for part in parts]
    return [piece for solid in solids for piece in _hull(ConvexHull(solid.surface()[0], **place))]


def _mesh(s: Mesh) -> list[Piece]:
    points, faces = np.ascontiguousarray(s.vertices, float), np.ascontiguousarray(s.faces, np.int64)
    planes = _planes(points, faces)
    boxes, children = tree_of(points, faces)
    fours, below = fours_of(boxes, children)
    return [
        Piece(
            kinds.MESH,
            (),
            points[faces].min(axis=(0, 1)),
            points[faces].max(axis=(0, 1)),
            **_place(s),
            points=points,
            faces=faces,
            planes=planes,
            ridge=_ridges(points, faces, planes),
            boxes=boxes,
            children=children,
            fours=fours,
            below=below,
        )
    ]


def _planes(points: Array, faces: Any) -> Array:
    """Return outward unit normals and offsets; zero for a triangle without area."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0.0)
    return np.column_stack([normal, np.einsum("ij,ij->i", normal, (a + b + c) / 3.0)])


def _ridges(points: Array, faces: Any, planes: Array) -> Any:
    """Return for each triangle which of its edges stand out, or are a border: bits 0, 1, 2."""
    n = len(faces)
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    face, edge = np.repeat(np.arange(n), 3), np.tile(np.arange(3), n)
    key, back = start * len(points) + end, end * len(points) + start
    order = np.argsort(key, kind="stable")
    at = np.minimum(np.searchsorted(key[order], back), 3 * n - 1)
    other = order[at]
    paired = key[other] == back
    across = faces[face[other], (edge[other] + 2) % 3]  # the corner of the neighbour that is not on the edge
    gap = points[across] - points[start]
    height = np.einsum("ij,ij->i", planes[face, :3], gap)
    size = np.linalg.norm(gap, axis=1)
    out = ~paired | (height < -_STANDS_OUT * size)
    return np.bitwise_or.reduce((out.astype(np.int64) << edge).reshape(n, 3), axis=1)


_FLAT: dict[type, Callable[[Any], list[Piece]]] = {
    Sphere: _sphere,
    Capsule: _capsule,
    Box: _box,
    Cylinder: _cylinder,
    Cone: _cone,
    Ellipsoid: _ellipsoid,
    Plane: _plane,
    HeightField: _height_field,
    ConvexHull: _hull,
    Extrusion: _extrusion,
    Mesh: _mesh,
}


# In the plane a solid is its section with z = 0: corners with a radius round them.


def _in_plane(shape: Any) -> list[Piece]:
    if isinstance(shape, Plane):
        normal = np.array(shape.rotation) @ shape.normal
        if abs(normal[2]) > _SAME_WAY:
            raise ValueError(f"Plane: normal {shape.normal} in a planar world; it has no part along z there")
        return _plane(shape)
    if isinstance(shape, Polygon):
        return [_rounded(shape, part.points, 0.0) for part in shape.convex_parts()]
    if isinstance(shape, Extrusion):
        return [_rounded(shape, part.points, 0.0) for part in shape.polygon.convex_parts()]
    z = np.array(shape.rotation)[2]  # the world's z in the shape's own axes
    if isinstance(shape, Sphere):
        return [_rounded(shape, [(0.0, 0.0)], shape.radius)]
    if isinstance(shape, Cylinder | Capsule):
        r, h = shape.radius, shape.length / 2
        if abs(abs(z[2]) - 1.0) <= _SAME_WAY:
            return [_rounded(shape, [(0.0, 0.0)], r)]
        if abs(z[2]) <= _SAME_WAY:
            axis = np.array(shape.rotation)[:2, 2]
            across = np.array([-axis[1], axis[0]])
            if isinstance(shape, Capsule):
                return [_rounded(shape, [-h * axis, h * axis], r, turned=True)]
            corners = [
                -h * axis - r * across,
                h * axis - r * across,
                h * axis + r * across,
                r * across - h * axis,
            ]
            return [_rounded(shape, _leftwards(corners), 0.0, turned=True)]
    if isinstance(shape, Box) and np.max(np.abs(z)) >= 1.0 - _SAME_WAY:
        half = np.array([shape.x, shape.y, shape.z]) / 2
        k = int(np.argmax(np.abs(z)))
        u, v = (half[m] * np.array(shape.rotation)[:2, m] for m in range(3) if m != k)
        return [_rounded(shape, _leftwards([-u - v, u - v, u + v, v - u]), 0.0, turned=True)]
    raise ValueError(
        f"a {type(shape).__name__} turned like this has no simple section with the plane z = 0; "
        "give a Polygon, Sphere, Capsule, Cylinder or Box with its axes in the plane or along z"
    )


def _leftwards(corners: Any) -> Array:
    points = np.array(corners)
    (x, y), (u, v) = points[1] - points[0], points[2] - points[1]
    return points if x * v - y * u > 0.0 else points[::-1]


def _rounded(shape: Any, corners: Any, radius: float, turned: bool = False) -> Piece:
    """Return a rounded polygon; `turned` if its corners are in axes of the body already."""
    flat = np.array(corners, float)
    points = np.column_stack([flat, np.zeros(len(flat))])
    place = _place(shape)
    rotation = place["rotation"]
    if turned:
        rotation = np.eye(3)
    elif len(flat) > 1 and abs(rotation[2, 2] - 1.0) > _SAME_WAY:
        raise ValueError(f"{type(shape).__name__}: turned out of the plane z = 0; turn it about z only")
    else:
        c, s = rotation[0, 0], rotation[1, 0]
        if len(flat) == 1:
            c, s = 1.0, 0.0
        rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    position = place["position"] * (1.0, 1.0, 0.0)
    wide = np.array([radius, radius, 0.0])
    return Piece(
        kinds.POLYGON,
        (radius,),
        points.min(axis=0) - wide,
        points.max(axis=0) + wide,
        position,
        rotation,
        points=points,
    )
