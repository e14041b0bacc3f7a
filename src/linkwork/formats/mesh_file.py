"""Meshes from files: looked at before anything is allocated, put together, and explained when refused.

The readers are our own, one file each, and small: what a file says of its counts is compared with its size
before memory is asked for, no file names another, and nothing is repaired unless requested.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import FormatError, MeshError
from linkwork.formats.file_format import FileFormat, Reading, reader
from linkwork.formats.markup import LARGEST
from linkwork.formats.regular_file import read_bytes
from linkwork.geometry.mesh import Mesh, counted
from linkwork.geometry.weld import distinct, joined
from linkwork.geometry.tessellation import compact
from linkwork.geometry.triangulation import cut_faces
from linkwork.mechanism.placement import Array

MAX_BYTES = 200_000_000  # four million triangles of STL
MAX_FACES = 4_000_000
SINGLE = 2.0**-23  # rounding of single precision


@dataclass(frozen=True, eq=False)
class Soup:
    """What a file says: points, and faces with any number of corners."""

    vertices: Array  # (n, 3)
    faces: Any  # (m, k) indices, or rows of them of different lengths


def load_mesh(path: Path, *, scale: float = 1.0, repair: bool = False) -> Mesh:
    """Read a mesh; `scale` turns its unit into metres, `repair` repairs it as Mesh.repaired does.

    Vertices that are equal in single precision are made one, since STL has no neighbours and is in
    single precision; faces that then have a corner twice are dropped.
    """
    read = reader(path, "mesh").read
    assert read is not None
    return read(path, Reading(scale=scale, repair=repair))


def mesh_format(suffix: str, read: Callable[[Path, bytes], Soup]) -> FileFormat:
    """Return the format of meshes that one function reads the points and faces of."""
    return FileFormat(
        suffix=suffix,
        holds="mesh",
        read=lambda path, reading: _mesh(path, read(path, read_bytes(path, MAX_BYTES)), reading),
        takes=("repair", "scale"),
    )


def _mesh(path: Path, soup: Soup, reading: Reading) -> Mesh:
    scale, repair = reading.scale, reading.repair
    try:
        mesh = _put_together(path, soup, repair).scaled(scale)
        return mesh.repaired() if repair else mesh
    except MeshError as problem:
        raise FormatError(f"{path}: {problem}") from None


def _put_together(path: Path, soup: Soup, lenient: bool) -> Mesh:
    name = path.name
    vertices = np.asarray(soup.vertices, dtype=np.float64) + 0.0  # -0.0 is 0.0
    if not len(soup.faces):
        raise FormatError(f"{path}: there are no faces; a mesh has at least one")
    bad = np.flatnonzero(~(np.abs(vertices) <= LARGEST).all(axis=1))
    if bad.size:
        k = int(bad[0])
        raise FormatError(
            f"{path}: vertex {k} is {tuple(vertices[k].tolist())}; allowed is -{LARGEST:g} to {LARGEST:g}"
        )
    if isinstance(soup.faces, np.ndarray) and soup.faces.shape[1] == 3:
        faces, blind = soup.faces.astype(np.int64), 0
    else:
        faces, blind = cut_faces(vertices, soup.faces, name, lenient)
    check_indices(path, faces, len(vertices))
    points, label = _without_twins(vertices)
    notes = [f"cut {counted(blind, 'face')} of no plane, or crossing itself"] if blind else []
    points, kept = compact(points, label[faces])
    if len(kept) < len(faces):
        notes.append(f"dropped {counted(len(faces) - len(kept), 'face')} with two corners at one place")
    if not len(kept):
        raise FormatError(
            f"{path}: all {len(faces)} faces have two corners at one place; give faces with an area"
        )
    return Mesh(points, kept, name=name, repairs=tuple(notes))


def _without_twins(vertices: Array) -> tuple[Array, Any]:
    """Return vertices none of which are the same but for rounding, and for each old one the new."""
    as_bytes = np.ascontiguousarray(vertices).view(np.dtype((np.void, 24))).ravel()
    _, first, same = np.unique(as_bytes, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # vertices stay in the order of the file
    points, label = joined(vertices[np.sort(first)], SINGLE * float(np.abs(vertices).max()))
    return points, label[order[same.ravel()]]


def check_indices(path: Path, faces: Any, count: int) -> None:
    """Refuse faces of vertices that are not there."""
    bad = np.flatnonzero((faces < 0).any(axis=1) | (faces >= count).any(axis=1))
    if bad.size:
        k = int(bad[0])
        raise FormatError(
            f"{path}: face {k} has vertices {tuple(faces[k].tolist())}; allowed are 0 to {count - 1}"
        )
