"""Faces with any number of corners, cut into triangles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.errors import MeshError
from linkwork.geometry import plane_figures
from linkwork.geometry.ear_loops import DONE, EXPORTED, ODD, OUTSIDE, STRICT, cut_polygons
from linkwork.geometry.mesh import counted
from linkwork.geometry.solid import Faces
from linkwork.mechanism.placement import Array, plain

OFF_PLANE = 1e-2  # of its size a face may be off its plane and is flat
MOST_CORNERS = 10_000  # of a face
MOST_WORK = 500_000_000  # points that are looked at to cut concave faces, about a second


@dataclass(frozen=True, eq=False)
class Polygons:
    """Faces with any numbers of corners, one after the other."""

    corners: Any  # (sum of counts,) indices of vertices
    counts: Any  # (m,) corners of each face

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def of(cls, faces: "Iterable[Sequence[int]] | Polygons") -> "Polygons":
        """Return faces in this form."""
        if isinstance(faces, Polygons):
            return faces
        if isinstance(faces, np.ndarray) and faces.ndim == 2:
            return cls(faces.ravel(), np.full(len(faces), faces.shape[1]))
        rows = [np.asarray(face, dtype=np.int64) for face in faces]
        counts = np.array([row.size for row in rows], np.int64)
        return cls(np.concatenate(rows) if rows else np.empty(0, np.int64), counts)


def cut_faces(
    vertices: Array, faces: Iterable[Sequence[int]] | Polygons, name: str, mode: int = STRICT
) -> tuple[Any, tuple[str, ...]]:
    """Return triangles in the order of the faces, and what was done to faces that are odd.

    Convex faces become fans; concave ones are cut by ears, in their plane. A face that crosses itself, lies
    in no plane or has a corner twice is refused. Many programs write the last two: as EXPORTED, such a face
    is cut in the plane that fits it best, or without that corner; and BLIND makes a fan of the first, too.
    """
    faces = Polygons.of(faces)
    _check_counts(faces.counts, name)
    vertices = np.ascontiguousarray(vertices, np.float64)
    corners, counts = _whole(faces.corners), _whole(faces.counts)
    triangles = np.empty((len(corners) - 2 * len(counts), 3), np.int32)
    most = int(counts.max())
    flat, plane, stout = np.empty((most, 3)), np.empty((most, 2)), np.empty(most)
    order, marks = np.empty((2, most), np.int64), np.zeros(8, np.int64)
    work = flat, plane, stout, order, triangles, marks
    while (how := cut_polygons(vertices, corners, counts, OFF_PLANE, mode, MOST_WORK, *work)) != DONE:
        face, start, at = marks[:3].tolist()
        own = corners[start : start + int(marks[7])]
        if how == OUTSIDE:
            raise MeshError(
                f"mesh {name!r}: face {face} is {tuple(own.tolist())}; allowed are 0 to {len(vertices) - 1}, "
                f"the indices of its {len(vertices)} vertices"
            )
        if how != ODD:
            raise MeshError(f"mesh {name!r}: too many corners of concave faces; cut them into triangles")
        try:
            cut = _cut_by_hand(vertices[own], mode)
        except ValueError as problem:
            remedy = ", or give repair=True" if mode == EXPORTED else ""
            raise MeshError(f"mesh {name!r}: face {face}: {problem}{remedy}") from None
        triangles[at : at + len(cut)] = own[cut]
        marks[:4] += (1, counts[face], len(cut), len(own) ** 2 + 100_000)
    blind, bent, doubled = marks[4:7].tolist()
    notes = {"cut {} blindly": blind, "cut {} of no plane": bent}
    notes["left out double corners of {}"] = doubled
    return triangles[: marks[2]], tuple(what.format(counted(n, "face")) for what, n in notes.items() if n)


def _whole(numbers: Any) -> Any:
    """Return numbers of 32 bits; what is beyond them is made a vertex that no mesh has."""
    numbers = np.asarray(numbers)
    if numbers.dtype == np.int32:
        return np.ascontiguousarray(numbers)
    return np.where((numbers >= 0) & (numbers < 2**31 - 1), numbers, 2**31 - 1).astype(np.int32)


def _check_counts(counts: Any, name: str) -> None:
    if not len(counts):
        raise MeshError(f"mesh {name!r} has no faces; give one or more")
    odd = np.flatnonzero((counts < 3) | (counts > MOST_CORNERS))
    if odd.size:
        k = int(odd[0])
        allowed = "3 or more" if counts[k] < 3 else f"up to {MOST_CORNERS}; cut it into triangles"
        raise MeshError(f"mesh {name!r}: face {k} has {counts[k]} corners; a face has {allowed}")


def _cut_by_hand(corners: Array, mode: int) -> Faces:
    """Cut one face that native code finds fault with; raise ValueError with the reason, if there is one."""
    d = corners - corners.mean(axis=0)
    normal = np.cross(d, np.roll(d, -1, axis=0)).sum(axis=0)  # Newell's
    length, size = float(np.linalg.norm(normal)), float(np.ptp(corners, axis=0).max())
    if length <= 1e-9 * size**2:  # as of a bow tie, whose halves cancel: the plane that fits best
        normal, length = np.linalg.svd(d)[2][2], 1.0
    normal = normal / length
    off = float(np.abs(d @ normal).max())
    if off > OFF_PLANE * size and mode == STRICT:
        raise ValueError(
            f"corners {plain(corners[0])} and so on lie in no plane, by {off:.3g} m; cut it into triangles"
        )
    across = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    across /= np.linalg.norm(across)
    points = np.stack([d @ across, d @ np.cross(normal, across)], axis=1)
    if found := plane_figures.fault(points):
        raise ValueError(f"{found} (in the plane of the face)")
    return plane_figures.ears(points)
