"""Meshes repaired: joined, cleaned, turned and closed, with a record of all that was done."""

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import MeshError
from linkwork.geometry import plane_figures
from linkwork.geometry.mesh import Mesh, counted
from linkwork.geometry.mesh_topology import edges_of, loops, oriented, pieces
from linkwork.geometry.polyhedron import signed_volumes
from linkwork.geometry.self_intersection import Sheets
from linkwork.geometry.solid import Faces
from linkwork.geometry.tessellation import compact
from linkwork.geometry.weld import joined
from linkwork.mechanism.placement import Array

_MOST_PIECES = 2000
NEAR = 1e-6  # of the size of the mesh; vertices closer than this are one


def repaired(mesh: Mesh) -> Mesh:
    """Return a mesh with what can be repaired repaired; see Mesh.repaired."""
    vertices, faces, notes = mesh.vertices, mesh.faces, list(mesh.repairs)
    if mesh._problems:
        vertices, faces = _joined(vertices, faces, notes)
        faces = _without_doubles(faces, notes)
        if not len(faces):
            raise MeshError(f"mesh {mesh.name!r}: nothing is left of it: {', '.join(notes)}; give another")
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
            notes.append(f"joined {less} of {len(vertices)} vertices, nearer to others than {near:.3g} m")
            vertices, faces = points, label[faces].astype(np.int64)
    before = len(faces)
    vertices, faces = compact(vertices, faces)
    if before > len(faces):
        notes.append(f"dropped {counted(before - len(faces), 'face')} without area")
    return vertices, faces


def _without_doubles(faces: Faces, notes: list[str]) -> Faces:
    """Keep one of faces with the same corners; none if as many go either way round, which enclose nothing."""
    _, first, label, count = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    if (count == 1).all():
        return faces
    way = np.where(_is_even(faces), 1, -1)
    balance = np.bincount(label.ravel(), way, len(count)).astype(np.int64)
    kept = faces[np.sort(first[(count == 1) | (balance != 0)])]
    notes.append(f"dropped {counted(len(faces) - len(kept), 'double face')}")
    return kept


def _is_even(faces: Faces) -> NDArray[np.bool_]:
    """Return whether the corners go round in rising order."""
    start = np.argmin(faces, axis=1)
    rows = np.arange(len(faces))
    return faces[rows, (start + 1) % 3] < faces[rows, (start + 2) % 3]


def _filled(vertices: Array, faces: Faces, notes: list[str]) -> tuple[Array, Faces]:
    """Close holes: by ears where the border, seen along its normal, is simple, else from its middle."""
    rings = loops(faces, edges_of(faces))
    added = []
    for ring in rings:
        if len(ring) == 3:
            added.append(np.array([ring]))
            continue
        if len(ring) < 3:
            continue
        corners = vertices[ring]
        points = _seen_along_normal(corners)
        if not plane_figures.fault(points) and plane_figures.area(points) > 0.0:
            added.append(np.array(ring)[plane_figures.ears(points)])
        else:
            middle, n = len(vertices), len(ring)
            vertices = np.vstack([vertices, corners.mean(axis=0)])
            added.append(np.array([(ring[k], ring[(k + 1) % n], middle) for k in range(n)]))
    if added:
        count = sum(map(len, added))
        notes.append(f"filled {counted(len(added), 'hole')} with {counted(count, 'face')}")
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
    depth = _depths(vertices, faces, piece, volumes)
    wrong = (volumes > 0.0) == (depth % 2 == 1)
    wrong &= volumes != 0.0
    if not wrong.any():
        return faces
    turned = faces.copy()
    flip = wrong[piece]
    turned[flip] = turned[flip, ::-1]
    notes.append(f"turned {int(wrong.sum())} of {count} pieces that were inside out")
    return turned


def _depths(vertices: Array, faces: Faces, piece: NDArray[np.int64], volumes: Array) -> NDArray[np.int64]:
    """Return inside how many others each piece lies; of a crowd of pieces it is not asked."""
    solid = np.flatnonzero(volumes)
    depth = np.zeros(len(volumes), np.int64)
    if not 1 < len(solid) <= _MOST_PIECES:
        return depth
    order = np.argsort(piece, kind="stable")
    first = np.searchsorted(piece[order], np.arange(len(volumes) + 1))
    probes = vertices[faces[order[first[:-1]]]].mean(axis=1)  # a point on a face of each
    for k in solid:
        own = faces[order[first[k] : first[k + 1]]]
        low, high = vertices[own].min(axis=(0, 1)), vertices[own].max(axis=(0, 1))
        near = np.flatnonzero(((low < probes) & (probes < high)).all(axis=1))
        near = near[near != k]
        if near.size:
            depth[near] += Sheets(vertices, own).encloses(probes[near])
    return depth
