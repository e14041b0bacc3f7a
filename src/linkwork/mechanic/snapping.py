"""Places on parts that joints belong to: faces, centres of circles, edges, corners; a grid, angles.

Faces that lie in one plane and hang together are one flat face. The rim of a flat face is a circle if its
corners are equally far from their middle; its axis is the normal of the face. So holes, pins and ends of
cylinders are found in meshes and in shapes alike. Flat faces that go over into each other at small angles are
a mantle, of which no face and no edge is a place: a cylinder has its axis there, a ball its centre.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.geometry.mesh_topology import connected, edges_of
from linkwork.view.inspector import turns

Array = np.ndarray

_FLAT = np.cos(np.radians(1.0))  # between faces of one flat face
_BENT = np.cos(np.radians(31.0))  # between flat faces of one mantle
_ROUND = 0.02  # how far corners of a circle may be from its radius
_CORNERS = 8  # that a circle has at least
_MOST = 60_000  # triangles that are looked at
ANGLE = np.radians(15.0)


@dataclass(frozen=True, eq=False)
class Feature:
    """A place on a body: what it is, where, and the direction that goes with it; in the frame of the body."""

    kind: str  # "circle", "axis", "centre", "face", "edge" or "corner"
    point: Array  # (3,) [m]
    axis: Array  # (3,) unit vector
    radius: float = 0.0  # of what is round [m]


def features(vertices: Array, faces: Array) -> list[Feature]:
    """Return the places of a surface, circles first."""
    if len(faces) > _MOST:
        return []
    vertices, faces = welded(vertices, faces)
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    normals = np.cross(b - a, c - a)
    areas = np.linalg.norm(normals, axis=1)
    kept = areas > 1e-12 * areas.max(initial=1e-300)
    faces, normals, areas = faces[kept], normals[kept] / areas[kept][:, None], areas[kept]
    if not len(faces):
        return []
    edges = edges_of(faces)
    by_edge = np.argsort(edges.of_face, kind="stable")
    same = edges.of_face[by_edge[1:]] == edges.of_face[by_edge[:-1]]
    one, two = by_edge[1:][same] // 3, by_edge[:-1][same] // 3
    bend = np.einsum("fi,fi->f", normals[one], normals[two])
    count, group = connected(len(faces), one[bend > _FLAT], two[bend > _FLAT])
    middles = vertices[faces].mean(axis=1)
    mantles = list(_mantles(len(faces), group, one[bend > _BENT], two[bend > _BENT]))
    curved = {k for mantle in mantles for k in set(group[mantle].tolist())}
    found = [
        place
        for mantle in mantles
        if (place := _round(vertices[np.unique(faces[mantle])], normals[mantle], areas[mantle])) is not None
    ]
    for k in range(count):
        if k in curved:
            continue
        mine = group == k
        axis = (areas[mine, None] * normals[mine]).sum(axis=0)
        length = np.linalg.norm(axis)
        if length < 0.99 * areas[mine].sum():  # it bends: a mantle, no face
            continue
        axis /= length
        rims = list(_rims(faces[mine]))
        circles = [circle for rim in rims if (circle := _circle(vertices[rim], axis)) is not None]
        found += circles
        if len(circles) < len(rims) or len(rims) > 1:
            place = (areas[mine, None] * middles[mine]).sum(axis=0) / areas[mine].sum()
            found.append(Feature("face", place, axis))
        if len(circles) < len(rims) and len(found) < 4000:
            for rim in rims:
                if len(rim) <= 2 * _CORNERS:
                    found += _sides(vertices[rim])
    order = {"circle": 0, "axis": 1, "centre": 1, "face": 2, "edge": 3, "corner": 4}
    return sorted(found, key=lambda feature: order[feature.kind])


def _mantles(count: int, group: Array, one: Array, two: Array) -> Iterable[Array]:
    """Return the triangles of each surface that bends: neighbours `one` and `two` go over into each other."""
    pieces, number = connected(count, one, two)
    for k in range(pieces):
        mine = np.flatnonzero(number == k)
        if len(np.unique(group[mine])) >= 3:
            yield mine


def _round(corners: Array, normals: Array, areas: Array) -> Feature | None:
    """Return the axis of a mantle that is a cylinder, the centre of one that is a ball."""
    _, values, ways = np.linalg.svd(np.sqrt(areas)[:, None] * normals, full_matrices=False)
    axis = ways[-1]
    if values[-1] > _ROUND * values[0]:  # its normals are not across an axis
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        away = np.linalg.norm(corners - middle, axis=1)
        ball = np.ptp(away) < _ROUND * away.mean()
        return Feature("centre", middle, np.array([0.0, 0.0, 1.0]), float(away.mean())) if ball else None
    across = corners - np.outer(corners @ axis, axis)
    rim = across - across.mean(axis=0)
    # the centre c and the radius of a circle: |p|^2 = 2 c . p + const, in the plane across the axis
    fitted, *_ = np.linalg.lstsq(
        np.column_stack([2.0 * rim, np.ones(len(rim))]), (rim**2).sum(axis=1), rcond=None
    )
    away = np.linalg.norm(rim - fitted[:3], axis=1)
    if np.ptp(away) > _ROUND * away.mean():
        return None
    along = corners @ axis
    centre = across.mean(axis=0) + fitted[:3] + 0.5 * (along.min() + along.max()) * axis
    return Feature("axis", centre, axis, float(away.mean()))


def welded(vertices: Array, faces: Array) -> tuple[Array, Array]:
    """Return a surface whose corners are one where they are at one place."""
    size = float(np.ptp(vertices, axis=0).max(initial=0.0)) or 1.0
    _, first, numbers = np.unique(
        np.round(vertices / (1e-7 * size)), axis=0, return_index=True, return_inverse=True
    )
    return vertices[first], numbers.ravel()[faces]


def _rims(faces: Array) -> Iterable[list[int]]:
    """Return the rims of faces that hang together, corner by corner."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there = {tuple(side) for side in sides.tolist()}
    follows = {a: b for a, b in there if (b, a) not in there}
    while follows:
        start, here = next(iter(follows.items()))
        del follows[start]
        rim = [start]
        while here != start and here in follows:
            rim.append(here)
            here = follows.pop(here)
        yield rim


def _circle(corners: Array, axis: Array) -> Feature | None:
    if len(corners) < _CORNERS:
        return None
    middle = corners.mean(axis=0)
    distances = np.linalg.norm(corners - middle, axis=1)
    radius = float(distances.mean())
    steps = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    even = steps.max() < 3.0 * steps.mean()
    return Feature("circle", middle, axis, radius) if even and np.ptp(distances) < _ROUND * radius else None


def _sides(corners: Array) -> Iterable[Feature]:
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        way = b - a
        length = float(np.linalg.norm(way))
        if length > 0.0:
            yield Feature("edge", 0.5 * (a + b), way / length)
            yield Feature("corner", a, way / length)


def body_features(body: Any) -> list[Feature]:
    """Return the places of all shapes of a body, in its frame."""
    found: list[Feature] = []
    shapes = [getattr(skin, "shape", skin) for skin in (*body.parts, *body.visuals)]
    for shape in shapes:
        if not hasattr(shape, "surface") or not hasattr(shape, "rotation"):
            continue
        R, p = np.array(shape.rotation), np.array(shape.position)
        for each in features(*shape.surface()):
            found.append(Feature(each.kind, R @ each.point + p, R @ each.axis, each.radius))
    return found


def nearest(places: Sequence[Feature], point: Array, reach: float) -> Feature | None:
    """Return the place nearest to a point, within reach; of those as near, circles come first."""
    near = [(float(np.linalg.norm(each.point - point)), k) for k, each in enumerate(places)]
    favoured = [(away * (0.6 if places[k].kind == "circle" else 1.0), k) for away, k in near if away < reach]
    return places[min(favoured)[1]] if favoured else None


def frame_along(axis: Array, near: Array | None = None) -> Array:
    """Return axes (3, 3) whose z is along a direction, x as near as can be to that of others."""
    z = np.asarray(axis, float) / np.linalg.norm(axis)
    guess = np.eye(3)[:, 0] if near is None else near[:, 0]
    x = guess - (guess @ z) * z
    if np.linalg.norm(x) < 0.1:
        x = np.eye(3)[np.abs(z).argmin()]
        x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def on_grid(point: Array, step: float) -> Array:
    """Return the nearest point of a grid."""
    return step * np.round(np.asarray(point, float) / step)


def on_angles(rotation: Array, step: float = ANGLE) -> Array:
    """Return the rotation whose angles about the fixed axes x, y, z are the nearest multiples of a step."""
    return turned(*(step * np.round(turns(rotation) / step)))


def turned(x: float, y: float, z: float) -> Array:
    """Return the rotation by angles about the fixed axes x, then y, then z [rad]."""
    cx, sx, cy, sy, cz, sz = np.cos(x), np.sin(x), np.cos(y), np.sin(y), np.cos(z), np.sin(z)
    about_x = np.array([(1.0, 0.0, 0.0), (0.0, cx, -sx), (0.0, sx, cx)])
    about_y = np.array([(cy, 0.0, sy), (0.0, 1.0, 0.0), (-sy, 0.0, cy)])
    about_z = np.array([(cz, -sz, 0.0), (sz, cz, 0.0), (0.0, 0.0, 1.0)])
    return about_z @ about_y @ about_x
