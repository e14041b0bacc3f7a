"""Faces with any number of corners, cut into triangles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.errors import MeshError
from linkwork.geometry import plane_figures
from linkwork.geometry.solid import Faces
from linkwork.mechanism.placement import Array, plain

OFF_PLANE = 1e-2  # of its size a face may be off its plane: in published robots some are, by up to this
MOST_CORNERS = 10_000  # of a face
MOST_WORK = 1e7  # squares of corners of concave faces, about a second


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
        rows = [np.asarray(face, dtype=np.int64) for face in faces]
        counts = np.array([row.size for row in rows], np.int64)
        return cls(np.concatenate(rows) if rows else np.empty(0, np.int64), counts)


def cut_faces(
    vertices: Array, faces: Iterable[Sequence[int]] | Polygons, name: str, lenient: bool = False
) -> tuple[Faces, int]:
    """Return triangles in the order of the faces; and how many faces had to be cut blindly, if `lenient`.

    Convex faces become fans; concave ones are cut by ears, in their plane. A face that crosses itself or lies
    in no plane is refused, unless `lenient`: then it is a fan too.
    """
    faces = Polygons.of(faces)
    counts = np.asarray(faces.counts, np.int64)
    _check_counts(counts, name)
    starts = np.cumsum(counts) - counts
    by_size = np.argsort(counts, kind="stable")
    first = np.flatnonzero(np.diff(counts[by_size], prepend=0))
    groups = [
        (
            which,
            np.asarray(faces.corners, np.int64)[starts[which][:, None] + np.arange(int(counts[which[0]]))],
        )
        for which in np.split(by_size, first[1:])
    ]
    for which, group in groups:
        _check_range(group, which, len(vertices), name)
    looks = [_looked_at(vertices[group]) if group.shape[1] > 3 else None for _, group in groups]
    odd = [() if look is None else np.flatnonzero(~look[1] | (look[0] > OFF_PLANE)) for look in looks]
    work = sum(len(few) * group.shape[1] ** 2 for few, (_, group) in zip(odd, groups))
    if work > MOST_WORK:
        raise MeshError(f"mesh {name!r}: too many corners of concave faces; cut them into triangles")
    triangles, blind = np.empty((int((counts - 2).sum()), 3), np.int64), 0
    place = np.cumsum(counts - 2) - (counts - 2)
    for (which, group), look, few in zip(groups, looks, odd):
        fan = np.empty((len(group), group.shape[1] - 2, 3), np.int64)
        fan[:, :, 0], fan[:, :, 1], fan[:, :, 2] = group[:, :1], group[:, 1:-1], group[:, 2:]
        for k in few:
            assert look is not None
            try:
                fan[k] = group[k][_ears(vertices[group[k]], look[0][k])]
            except ValueError as problem:
                if not lenient:
                    raise MeshError(f"mesh {name!r}: face {which[k]}: {problem}") from None
                blind += 1
        triangles[place[which][:, None] + np.arange(fan.shape[1])] = fan
    return triangles, blind


def _check_counts(counts: Any, name: str) -> None:
    if not len(counts):
        raise MeshError(f"mesh {name!r} has no faces; give one or more")
    odd = np.flatnonzero((counts < 3) | (counts > MOST_CORNERS))
    if odd.size:
        k = int(odd[0])
        allowed = "3 or more" if counts[k] < 3 else f"up to {MOST_CORNERS}; cut it into triangles"
        raise MeshError(f"mesh {name!r}: face {k} has {counts[k]} corners; a face has {allowed}")


def _check_range(group: Faces, which: Any, count: int, name: str) -> None:
    bad = np.flatnonzero((group < 0).any(axis=1) | (group >= count).any(axis=1))
    if bad.size:
        k = int(bad[0])
        corners = tuple(group[k].tolist())
        raise MeshError(
            f"mesh {name!r}: face {which[k]} is {corners}; allowed are 0 to {count - 1}, "
            f"the indices of its {count} vertices"
        )


def _looked_at(corners: Array) -> tuple[Array, Any]:
    """Return how far faces (m, k, 3) are off their planes, relative to their sizes, and which are convex."""
    d = corners - corners.mean(axis=1, keepdims=True)
    step = np.roll(d, -1, axis=1) - d
    normal = np.cross(d, np.roll(d, -1, axis=1)).sum(axis=1)  # Newell's
    normal /= np.maximum(np.linalg.norm(normal, axis=1), np.finfo(float).tiny)[:, None]
    size = np.maximum(np.ptp(d, axis=1).max(axis=1), np.finfo(float).tiny)
    off = np.abs(np.einsum("mki,mi->mk", d, normal)).max(axis=1) / size
    corner = np.einsum("mki,mi->mk", np.cross(np.roll(step, 1, axis=1), step), normal)
    # Turning left at all corners is not enough: a star does, more than once round.
    once = (
        np.abs(np.arctan2(corner, np.einsum("mki,mki->mk", np.roll(step, 1, axis=1), step)).sum(axis=1))
        < 3 * np.pi
    )
    return off, (corner > 0.0).all(axis=1) & once


def _ears(corners: Array, off: float) -> Faces:
    """Cut one face, in its plane; raise ValueError with the reason if that cannot be."""
    d = corners - corners.mean(axis=0)
    normal = np.cross(d, np.roll(d, -1, axis=0)).sum(axis=0)
    length = float(np.linalg.norm(normal))
    size = float(np.ptp(corners, axis=0).max())
    if length <= 1e-9 * size**2:  # as of a bow tie, whose halves cancel: the plane that fits best
        normal, length = np.linalg.svd(d)[2][2], 1.0
    if off > OFF_PLANE:
        raise ValueError(
            f"corners {plain(corners[0])} and so on lie in no plane, by {off * size:.3g} m; "
            "cut it into triangles"
        )
    normal /= length
    across = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    across /= np.linalg.norm(across)
    points = np.stack([d @ across, d @ np.cross(normal, across)], axis=1)
    if found := plane_figures.fault(points):
        raise ValueError(f"{found} (in the plane of the face)")
    return plane_figures.ears(points)
