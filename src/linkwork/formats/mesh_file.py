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
from linkwork.geometry.ear_loops import BLIND, EXPORTED
from linkwork.geometry.mesh import Mesh, counted
from linkwork.geometry.tessellation import compact
from linkwork.geometry.triangulation import Polygons, cut_faces
from linkwork.geometry.weld import all_used, blocks, distinct, joined
from linkwork.mechanism.placement import Array

MAX_BYTES = 128_000_000  # two and a half million triangles of STL; lw.load(..., largest=) allows more
PER_FACE = 32  # bytes; a file has at most as many vertices, and faces, as its largest size over this
SINGLE = 2.0**-23  # rounding of single precision


@dataclass(frozen=True, eq=False)
class Soup:
    """What a file says: points, and faces with any number of corners."""

    vertices: Array  # (n, 3), or (m, 3, 3) of triangles
    faces: Any  # (m, k) indices, or Polygons; None: triangles, three vertices each


def load_mesh(path: Path, *, scale: float = 1.0, repair: bool = False) -> Mesh:
    """Read a mesh; `scale` turns its unit into metres, `repair` repairs it as Mesh.repaired does.

    Vertices that are equal in single precision are made one, since STL has no neighbours and is in
    single precision; faces that then have a corner twice are dropped.
    """
    read = reader(path, "mesh").read
    assert read is not None
    return read(path, Reading(scale=scale, repair=repair))


def mesh_format(
    suffix: str, read: Callable[[Path, bytes, int], Soup], largest: int | None = None
) -> FileFormat:
    """Return the format of meshes whose points and faces, at most n, one function reads."""

    def read_mesh(path: Path, reading: Reading) -> Mesh:
        most = reading.largest or largest or MAX_BYTES
        return _mesh(path, read(path, read_bytes(path, most), most // PER_FACE), reading)

    return FileFormat(suffix=suffix, holds="mesh", read=read_mesh, takes=("repair", "scale", "largest"))


def _mesh(path: Path, soup: Soup, reading: Reading) -> Mesh:
    scale, repair = reading.scale, reading.repair
    try:
        mesh = _put_together(path, soup, repair)
        mesh = mesh if scale == 1.0 else mesh.scaled(scale)
        return mesh.repaired() if repair else mesh
    except MeshError as problem:
        raise FormatError(f"{path}: {problem}") from None


def _put_together(path: Path, soup: Soup, lenient: bool) -> Mesh:
    name, vertices = path.name, soup.vertices
    if not len(vertices) or (soup.faces is not None and not len(soup.faces)):
        raise FormatError(f"{path}: there are no faces; a mesh has at least one")
    points, label = distinct(vertices)
    largest = _largest(path, points, vertices)
    faces, notes = soup.faces, ()
    if isinstance(faces, Polygons) and (faces.counts == 3).all():
        faces = faces.corners.reshape(-1, 3)
    if faces is not None and not (isinstance(faces, np.ndarray) and faces.shape[1] == 3):
        faces, notes = cut_faces(vertices, faces, name, BLIND if lenient else EXPORTED)
        if not len(faces):
            raise FormatError(
                f"{path}: no face has three corners at different places; give faces with an area"
            )
    if faces is not None:
        check_indices(path, faces, len(vertices))
    faces = label.reshape(-1, 3) if faces is None else label[faces]
    fewer, second = joined(points, SINGLE * largest)
    if len(fewer) < len(points):
        points = fewer
        np.take(second, faces, out=faces, mode="clip")
    points, kept = (points, faces) if all_used(len(points), faces) else compact(points, faces)
    if len(kept) < len(faces):
        notes += (f"dropped {counted(len(faces) - len(kept), 'face')} with two corners at one place",)
    if not len(kept):
        raise FormatError(
            f"{path}: all {len(faces)} faces have two corners at one place; give faces with an area"
        )
    return Mesh(points, kept, name=name, repairs=notes)


def _largest(path: Path, points: Array, vertices: Array) -> float:
    """Return the largest coordinate of the different vertices, which must be one that a mesh can have."""
    largest = float(max(-points.min(), points.max()))
    if largest <= LARGEST:
        return largest
    for at, block in blocks(vertices):
        for k in np.flatnonzero(~(np.abs(block) <= LARGEST).all(axis=1))[:1].tolist():
            raise FormatError(
                f"{path}: vertex {at + k} is {tuple(block[k].tolist())}; "
                f"allowed is -{LARGEST:g} to {LARGEST:g}"
            )
    raise AssertionError("a vertex is beyond all bounds, and is not found")


def check_indices(path: Path, faces: Any, count: int) -> None:
    """Refuse faces of vertices that are not there."""
    if faces.min() >= 0 and faces.max() < count:
        return
    k = int(np.flatnonzero((faces < 0).any(axis=1) | (faces >= count).any(axis=1))[0])
    raise FormatError(
        f"{path}: face {k} is {tuple(faces[k].tolist())}; allowed are 0 to {count - 1}, its vertices"
    )
