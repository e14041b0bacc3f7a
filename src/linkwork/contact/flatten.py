"""Shapes -> rows of the table: what each shape is for compiled code, one small function per class.

A shape may become several pieces: a compound its parts, a polygon its convex parts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from linkwork.contact import shape_kinds as kinds
from linkwork.contact.corner_clusters import clustered, highest_above
from linkwork.contact.obb_tree import fours_of, tree_of
from linkwork.contact.shape_table import FIRST_FACE, FIRST_HEIGHT, Table, addresses
from linkwork.contact.traced_support import traced_support
from linkwork.contact.triangle_links import extreme, is_closed, leaving, may_be_convex, rises, twins
from linkwork.formats.mesh_path import load_mesh_file
from linkwork.geometry import Compound, ConvexHull, Extrusion, HeightField, Mesh, MeshFile, Plane, Solid
from linkwork.geometry.section import SAME_WAY, Section
from linkwork.lazy import kept
from linkwork.mechanism.placement import Array, Space

ENDLESS = 1e150  # half width of what has no end; its square is still a number
_STANDS_OUT = 1e-6  # sine of the angle from which on an edge is no longer flat
_KEPT = 256  # solids whose rows are kept for the next table
_CONVEX = 1e-6  # of its size: what is convex up to this is taken for convex


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
    corners: int = -1  # how many of the points, from the first on, are corners of the solid; -1: all
    twin: Any = None  # (nface, 3)
    leaving: Any = None  # (npoint,)

    @kept
    def local(self) -> Array:
        """Its pose in the frame of the body (3, 4)."""
        return np.column_stack([self.rotation, self.position])

    @kept
    def sizes(self) -> Array:
        """Its size, as a row of the table (4,)."""
        return np.array([*self.size, 0.0, 0.0, 0.0, 0.0][:4])

    @kept
    def reach(self) -> Array:
        """Centre and half widths of its box, and the radius of the ball round that (7,)."""
        half = 0.5 * (self.high - self.low)
        radius = np.linalg.norm(half) if self.kind != kinds.SPHERE else self.size[0]
        return np.array([*(0.5 * (self.high + self.low)), *half, radius])

    @kept
    def counts(self) -> tuple[int, ...]:
        """How many points, corners, faces, boxes, fours, heights it has, and how these are laid out."""
        corners = len(self.points) if self.corners < 0 else self.corners
        return (
            *(len(self.points), corners, len(self.faces), len(self.boxes), len(self.fours)),
            *(self.heights.size, *self.heights.shape),
        )


def pieces_of(shape: Any, space: Space = "space") -> list[Piece]:
    """Return the rows of a shape, placed in the frame of its body."""
    if isinstance(shape, Compound):
        return [piece for part in shape.pieces for piece in pieces_of(part, space)]
    if isinstance(shape, Solid):
        return list(_of_solid(shape, space))
    if isinstance(shape, MeshFile):
        return pieces_of(load_mesh_file(shape, {}), space)
    if hasattr(shape, "shape") and hasattr(shape.shape, "position"):  # a Collision or Visual
        return pieces_of(shape.shape, space)
    raise ValueError(f"{shape!r:.60} cannot be touched; give a solid: Sphere, Box, Mesh, Plane ...")


@lru_cache(maxsize=_KEPT)
def _of_solid(shape: Solid, space: Space) -> Sequence[Piece]:
    """Return the rows of a solid; those of an equal one are the same, and are not made again at an edit."""
    if space == "plane":
        return _in_plane(shape)
    for kind, flat in _FLAT.items():
        if isinstance(shape, kind):
            return flat(shape)
    return [_convex(shape)] if shape.is_convex else _mesh(shape.mesh())


def table_of(
    pieces: Sequence[Piece], owner: Sequence[int], group: Sequence[int], mask: Sequence[int]
) -> Table:
    """Return the table of shapes; `owner` is the body of each, `group` and `mask` say who meets whom."""
    n = len(pieces)
    size = np.array([piece.sizes for piece in pieces]).reshape(n, 4)
    reach = np.array([piece.reach for piece in pieces]).reshape(n, 7)
    counts = np.array([piece.counts for piece in pieces], np.int64).reshape(n, 8)
    _, corners, faces, _, _, _, rows, columns = counts.T
    first = np.cumsum(counts, axis=0) - counts
    index = np.column_stack([
        *(first[:, 0], corners, first[:, 2], faces, *first[:, 3:6].T, rows, columns),
        *(np.array(each, np.int64).reshape(n) for each in (owner, group, mask)),
    ])  # fmt: skip
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
        _joined([_known(piece.twin, piece.faces.shape) for piece in pieces], (0, 3), np.int64),
        _joined([_known(piece.leaving, (len(piece.points),)) for piece in pieces], (0,), np.int64),
    )
    for k, piece in enumerate(pieces):
        if piece.kind == kinds.TRACED:  # its third address, that of its sizes, is known only now
            parts[5][index[k, FIRST_FACE], 2] = parts[12].ctypes.data + 8 * index[k, FIRST_HEIGHT]
    return Table(*parts, addresses(*parts, n))


def _known(array: Any, shape: tuple[int, ...]) -> Any:
    return np.full(shape, -1, np.int64) if array is None else array


def _joined(arrays: Sequence[Any], empty: tuple[int, ...], kind: Any = np.float64) -> Any:
    return np.ascontiguousarray(np.concatenate([np.zeros(empty, kind), *arrays]), dtype=kind)


def _place(shape: Any) -> dict[str, Any]:
    return {"position": np.array(shape.position), "rotation": np.array(shape.rotation)}


def _convex(shape: Solid) -> Piece:
    """Return a solid with a support function: one that compiled loops know, or one that is traced."""
    axes = np.eye(3)
    low = np.array([-shape.reach(-axis) for axis in axes])
    high = np.array([shape.reach(axis) for axis in axes])
    if type(shape).support is Solid.support:
        kind = next(k for k, native in enumerate(kinds.NATIVE) if isinstance(shape, native))
        x, y, z = (*shape.sizes, 0.0, 0.0)[:3]
        return Piece(kind, (x, y, z, shape.core_radius), low, high, **_place(shape))
    traced = traced_support(shape)
    kernels, sizes = np.array([[*traced.kernels, 0]]), np.array([traced.numbers], float)
    return Piece(kinds.TRACED, (), low, high, **_place(shape), faces=kernels, heights=sizes)


def _plane(s: Plane) -> list[Piece]:
    far = np.full(3, ENDLESS)
    return [Piece(kinds.PLANE, (*s.normal, s.offset), -far, far, **_place(s))]


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
    return [Piece(kinds.CONVEX, **_triangles(*s.surface()), **_place(s))]


def _triangles(points: Array, faces: Any) -> dict[str, Any]:
    """Return what compiled code knows of triangles.

    If they are the whole surface of a convex solid, its corners come first, in clusters.
    """
    points, faces = np.ascontiguousarray(points, float), np.ascontiguousarray(faces, np.int64)
    planes, twin = _planes(points, faces), twins(faces)
    low, high = points[faces].min(axis=(0, 1)), points[faces].max(axis=(0, 1))
    slack = _CONVEX * float((high - low).max())
    clusters, corners, vertices = np.zeros((0, 3)), -1, len(points)
    if may_be_convex(points, faces, planes, twin, slack):
        stands = extreme(points, faces)
        inner, clusters = clustered(points[stands])
        order = np.concatenate([np.flatnonzero(stands)[inner], np.flatnonzero(~stands)])
        number = np.empty_like(order)
        number[order] = np.arange(vertices)
        points, faces, corners = points[order], number[faces], int(stands.sum())
    rows = np.concatenate([points, clusters])
    if corners > 0 and highest_above(rows, corners, len(clusters) // 3, vertices, planes) > slack:
        clusters, corners, rows = np.zeros((0, 3)), -1, points
    length = np.linalg.norm(points[faces] - points[np.roll(faces, -1, axis=1)], axis=2).ravel()
    out = (twin < 0) | (rises(points, faces, planes, twin) < -_STANDS_OUT * length)
    return {
        "size": (len(clusters) // 3, vertices, 1.0 if corners > 0 else -1.0 if is_closed(twin) else 0.0),
        "low": low,
        "high": high,
        "points": rows,
        "corners": corners,
        "faces": faces,
        "planes": planes,
        "ridge": np.bitwise_or.reduce(out.reshape(-1, 3).astype(np.int64) << np.arange(3), axis=1),
        "twin": twin.reshape(-1, 3),
        "leaving": np.concatenate([leaving(faces, twin, vertices), np.full(len(clusters), -1)]),
    }


def _extrusion(s: Extrusion) -> list[Piece]:
    place: dict[str, Any] = _place(s)
    parts = s.polygon.convex_parts()
    solids = [s] if len(parts) == 1 else [Extrusion(part, s.length) for part in parts]
    return [piece for solid in solids for piece in _hull(ConvexHull(solid.surface()[0], **place))]


def _mesh(s: Mesh) -> list[Piece]:
    """Return a mesh; one that bounds a convex solid is known as a hull, too."""
    known = _triangles(s.vertices, s.faces)
    boxes, children = tree_of(known["points"], known["faces"])
    fours, below = fours_of(boxes, children)
    place = _place(s)
    return [Piece(kinds.MESH, **known, **place, boxes=boxes, children=children, fours=fours, below=below)]


def _planes(points: Array, faces: Any) -> Array:
    """Return outward unit normals and offsets; zero for a triangle without area."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0.0)
    return np.column_stack([normal, np.einsum("ij,ij->i", normal, (a + b + c) / 3.0)])


# surfaces, and what is made of points: those of the subclasses come with their bases
_FLAT: dict[type, Callable[[Any], list[Piece]]] = {
    Plane: _plane,
    HeightField: _height_field,
    ConvexHull: _hull,
    Extrusion: _extrusion,
    Mesh: _mesh,
}


# In the plane a solid is its section with z = 0: corners with a radius round them.


def _in_plane(shape: Solid) -> list[Piece]:
    if isinstance(shape, Plane):
        normal = np.array(shape.rotation) @ shape.normal
        if abs(normal[2]) > SAME_WAY:
            raise ValueError(f"Plane: normal {shape.normal} in a planar world; it has no part along z there")
        return _plane(shape)
    sections = shape.sections()
    if not sections:
        raise ValueError(
            f"a {type(shape).__name__} turned like this has no simple section with the plane z = 0; "
            "give a Polygon, Sphere, Capsule, Cylinder or Box with its axes in the plane or along z"
        )
    return [_rounded(shape, section) for section in sections]


def _rounded(shape: Solid, section: Section) -> Piece:
    """Return a rounded polygon."""
    flat, radius = np.array(section.corners, float), section.radius
    points = np.column_stack([flat, np.zeros(len(flat))])
    normals = _edge_normals(points) if len(flat) > 1 else np.zeros((0, 3))
    place = _place(shape)
    rotation = place["rotation"]
    if section.turned:
        rotation = np.eye(3)
    elif len(flat) > 1 and abs(rotation[2, 2] - 1.0) > SAME_WAY:
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
        points=np.concatenate([points, normals]),
        corners=len(points),
    )


def _edge_normals(corners: Array) -> Array:
    """Return the outward normals of the edges of a polygon, whose corners run to the left."""
    x, y, _ = (np.roll(corners, -1, axis=0) - corners).T
    return np.column_stack([y, -x, 0.0 * x]) * (1.0 / np.sqrt(x * x + y * y))[:, None]
