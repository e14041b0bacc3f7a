"""Meshes mended: joined, cleaned, turned and closed, with a record of all that was done."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry import flat
from linkwork.geometry.crossings import Sheets
from linkwork.geometry.polyhedron import signed_volumes
from linkwork.geometry.solid import Faces
from linkwork.geometry.tessellation import compact
from linkwork.geometry.topology import connected, edges_of, loops, oriented, pieces
from linkwork.mechanism.placement import Array

if TYPE_CHECKING:
    from linkwork.geometry.mesh import Mesh

NEAR = 1e-6  # of the size of the mesh; vertices closer than this are one


def repaired(mesh: "Mesh") -> "Mesh":
    """Return a mesh with what can be mended mended; see Mesh.repaired."""
    vertices, faces, notes = mesh.vertices, mesh.faces, list(mesh.repairs)
    if mesh._problems:
        vertices, faces = _joined(vertices, faces, notes)
        faces = _without_doubles(faces, notes)
        faces, turned = oriented(faces, edges_of(faces))
        if turned:
            notes.append(f"turned {turned} of {len(faces)} faces to agree with their neighbours")
        vertices, faces = _filled(vertices, faces, notes)
        vertices, faces = compact(vertices, faces)
        faces = _outward(vertices, faces, notes)
    return mesh.like(vertices, faces, tuple(notes))


def _joined(vertices: Array, faces: Faces, notes: list[str]) -> tuple[Array, Faces]:
    """Join vertices that nearly meet, if the mesh is open, and drop faces that then have a vertex twice."""
    if edges_of(faces).free.size:
        near = NEAR * float(np.linalg.norm(np.ptp(vertices, axis=0)))
        points, label = joined(vertices, near)
        if len(points) < len(vertices):
            less = len(vertices) - len(points)
            notes.append(f"joined {less} vertices that others were nearer to than {near:.3g} m")
            vertices, faces = points, label[faces]
    before = len(faces)
    vertices, faces = compact(vertices, faces)
    if before > len(faces):
        notes.append(f"dropped {before - len(faces)} faces without area")
    return vertices, faces


def joined(vertices: Array, near: float) -> tuple[Array, NDArray[np.int64]]:
    """Return vertices none of which are so near to each other, and for each old one the new."""
    from scipy.spatial import KDTree

    pairs = KDTree(vertices).query_pairs(near, output_type="ndarray")
    _, label = connected(len(vertices), pairs[:, 0], pairs[:, 1])
    _, first = np.unique(label, return_index=True)
    order = np.argsort(np.argsort(first))
    return vertices[np.sort(first)], order[label]


def _without_doubles(faces: Faces, notes: list[str]) -> Faces:
    """Keep of faces with the same corners, whichever way round, one if their number is odd and none if even.

    Two equal faces, one upon the other, enclose nothing.
    """
    _, first, label, count = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    if (count == 1).all():
        return faces
    way = np.where(_is_even(faces), 1, -1)
    balance = np.bincount(label.ravel(), way, len(count)).astype(np.int64)
    keep = np.where((count > 1) & (balance == 0), False, True)
    kept = faces[np.sort(first[keep])]
    notes.append(f"dropped {len(faces) - len(kept)} double faces")
    return kept


def _is_even(faces: Faces) -> NDArray[np.bool_]:
    """Tell whether the corners go round in rising order."""
    start = np.argmin(faces, axis=1)
    rows = np.arange(len(faces))
    return faces[rows, (start + 1) % 3] < faces[rows, (start + 2) % 3]


def _filled(vertices: Array, faces: Faces, notes: list[str]) -> tuple[Array, Faces]:
    """Close holes: by ears where the border, seen along its normal, is simple, else from its middle."""
    rings = loops(faces, edges_of(faces))
    added = []
    for ring in rings:
        if len(ring) < 3:
            continue
        corners = vertices[ring]
        points = _seen_along_normal(corners)
        if not flat.fault(points) and flat.area(points) > 0.0:
            added.append(np.array(ring)[flat.ears(points)])
        else:
            middle, n = len(vertices), len(ring)
            vertices = np.vstack([vertices, corners.mean(axis=0)])
            added.append(np.array([(ring[k], ring[(k + 1) % n], middle) for k in range(n)]))
    if added:
        count = sum(map(len, added))
        notes.append(f"filled {len(added)} holes with {count} faces")
        faces = np.vstack([faces, *added])
    return vertices, faces


def _seen_along_normal(corners: Array) -> Array:
    d = corners - corners.mean(axis=0)
    normal = np.cross(d, np.roll(d, -1, axis=0)).sum(axis=0)
    normal /= max(float(np.linalg.norm(normal)), np.finfo(float).tiny)
    across = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    across /= np.linalg.norm(across) or 1.0
    return np.stack([d @ across, d @ np.cross(normal, across)], axis=1)


def _outward(vertices: Array, faces: Faces, notes: list[str]) -> Faces:
    """Turn pieces that are inside out; inside an odd number of others are cavities, which face inwards."""
    edges = edges_of(faces)
    if edges.free.size or edges.turned.size:
        return faces
    count, piece = pieces(faces, edges)
    volumes = signed_volumes(vertices, faces, piece, count)
    _, first = np.unique(piece, return_index=True)
    depth = np.zeros(count, np.int64)
    for k in range(count if count > 1 else 0):
        inside = Sheets(vertices, faces[piece == k]).encloses(vertices[faces[first]].mean(axis=1))
        inside[k] = False
        depth += inside
    wrong = (volumes > 0.0) == (depth % 2 == 1)
    wrong &= volumes != 0.0
    if not wrong.any():
        return faces
    turned = faces.copy()
    flip = wrong[piece]
    turned[flip] = turned[flip, ::-1]
    notes.append(f"turned {int(wrong.sum())} of {count} pieces that were inside out")
    return turned
