"""Smooth bodies, their meshes, and a judge of contacts: what is the least move that parts them, and does it?

A body is known by its distance function (negative inside) and, if it is convex, by its support function. A
contact is judged by the move t that it asks for; several contacts ask for the least t with n.t >= depth for
all of them.
"""

# pyright: reportCallIssue=false
# the stubs of SciPy do not know all it takes

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import sampled_gaps
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

import linkwork as lw

_FLOOR = 1e-6  # the facet error of what has none [m]
_SAMPLED = 5e-4  # what lies between sample points of a surface [m]
_SPACING = 0.03  # of these [m]
_NO_PLANES = np.zeros((0, 4))
Array = np.ndarray


@dataclass(frozen=True)
class Body:
    """A body: its mesh, its size (the smallest width), what `sampled_gaps` knows it as, in its own axes."""

    shape: Any
    size: float
    kind: int
    sizes: Array
    planes: Array = field(default_factory=lambda: _NO_PLANES)
    reach: Callable[[Array], Array] | None = None  # in directions (n, 3); None: not convex

    def distance(self, x: Array) -> Array:
        """Return the distances of points (n, 3)."""
        return sampled_gaps.distances(self.kind, self.sizes, self.planes, np.ascontiguousarray(x))

    @cached_property
    def facets(self) -> float:
        """How far the mesh is from the body, at most."""
        points, faces = self.shape.surface()
        corners = points[faces]
        between = [corners.mean(axis=1), *(0.5 * (corners[:, k] + corners[:, k - 1]) for k in range(3))]
        return max(_FLOOR, float(np.abs(self.distance(np.concatenate(between))).max()))

    @cached_property
    def samples(self) -> Array:
        """Points of the mesh, close to each other: corners, and in random order a grid on every triangle that
        is large."""
        points, faces = self.shape.surface()
        found = [points]
        for corners in points[faces]:
            longest = max(np.linalg.norm(corners[k] - corners[k - 1]) for k in range(3))
            n = int(np.ceil(longest / _SPACING))
            if n > 5:
                i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1))
                weights = np.stack([i, j, n - i - j], axis=-1)[i + j <= n] / n
                found.append(weights @ corners)
        inner = np.concatenate(found[1:]) if len(found) > 1 else points[:0]
        _, first = np.unique((inner / (0.4 * _SPACING)).round(), axis=0, return_index=True)
        shuffled = np.random.default_rng(0).permutation
        return np.concatenate([shuffled(points), shuffled(inner[first])])


def _ball(radius: float) -> Body:
    return Body(
        lw.Sphere(radius).mesh(48),
        2 * radius,
        sampled_gaps.BALL,
        np.array([radius]),
        reach=lambda n: np.full(len(n), radius),
    )


def _box(half: Array) -> Body:
    return Body(
        lw.Box(*(2 * half)).mesh(),
        float(2 * half.min()),
        sampled_gaps.BOX,
        half,
        reach=lambda n: np.abs(n) @ half,
    )


def _cylinder(radius: float, half: float) -> Body:
    return Body(
        lw.Cylinder(radius, 2 * half).mesh(48),
        2 * min(radius, half),
        sampled_gaps.CYLINDER,
        np.array([radius, half]),
        reach=lambda n: radius * np.hypot(n[:, 0], n[:, 1]) + half * np.abs(n[:, 2]),
    )


def _hull(count: int) -> Body:
    rng = np.random.default_rng(5)
    directions = rng.normal(size=(count, 3))
    hull = lw.ConvexHull(0.5 * directions / np.linalg.norm(directions, axis=1)[:, None])
    points, faces = hull.surface()
    normals = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    offsets = (normals * points[faces[:, 0]]).sum(axis=1)
    return Body(
        hull.mesh(),
        float(2 * offsets.min()),
        sampled_gaps.HULL,
        np.array([0.5]),
        np.column_stack([normals, offsets]),
        lambda n: (points @ n.T).max(axis=0),
    )


def _ring(radius: float, tube: float) -> Body:
    turn = np.linspace(0.0, 2 * np.pi, 33)[:-1]
    profile = lw.Polygon(np.column_stack([radius + tube * np.cos(turn), tube * np.sin(turn)]))
    return Body(profile.revolved().mesh(64), 2 * tube, sampled_gaps.RING, np.array([radius, tube]))


def _dumb_bell(radius: float, apart: float, neck: float) -> Body:
    """Two balls on the axis z, and a bar between them."""
    start = np.arcsin(neck / radius)
    turn = np.linspace(start, np.pi, 25)  # from the bar outwards, round the ball
    x, z = radius * np.sin(turn), apart - radius * np.cos(turn)
    bar = np.linspace(-z[0], z[0], 11)[1:-1]
    outline = np.concatenate(
        [
            np.column_stack([x[::-1], -z[::-1]]),
            np.column_stack([np.full_like(bar, neck), bar]),
            np.column_stack([x, z]),
        ]
    )
    outline[np.abs(outline) < 1e-12] = 0.0
    shape = lw.Polygon(outline).revolved().mesh(48)
    return Body(shape, 2 * neck, sampled_gaps.DUMB_BELL, np.array([radius, apart, neck]))


def _hill() -> Body:
    n, wide = 61, 6.0  # cells of 10 cm
    grid = np.linspace(-wide / 2, wide / 2, n)
    heights = np.array([[sampled_gaps.height(x, y) for y in grid] for x in grid])
    return Body(lw.HeightField(heights, (wide, wide)), np.inf, sampled_gaps.HILL, np.zeros(1))


BODIES = {
    "ball": _ball(0.5),
    "box": _box(np.array([0.3, 0.4, 0.5])),
    "cylinder": _cylinder(0.4, 0.4),
    "hull": _hull(60),
    "ring": _ring(0.7, 0.25),
    "dumb-bell": _dumb_bell(0.4, 0.5, 0.2),
    "terrain": _hill(),
}
SOLIDS = [name for name in BODIES if name != "terrain"]
PAIRS = [*combinations_with_replacement(SOLIDS, 2), *((name, "terrain") for name in SOLIDS)]


@dataclass(frozen=True)
class Place:
    """Where a body is."""

    position: Array
    rotation: Array

    def inward(self, x: Array) -> Array:
        """Return points of the world in the body's axes."""
        return (x - self.position) @ self.rotation

    def outward(self, x: Array) -> Array:
        return x @ self.rotation.T + self.position


def gap(a: Body, b: Body, pose: Any, move: Array, enough: float = -np.inf, many: int = 1 << 30) -> float:
    """Return the distance of two bodies after a has been moved; minus how deep they are, where they
    overlap. Any distance below `enough` will do; so many samples are looked at."""
    Ra, Rb = pose[0].rotation, pose[1].rotation
    p = pose[0].position + move - pose[1].position
    found = sampled_gaps.lowest(b.kind, b.sizes, b.planes, a.samples[:many], Rb.T @ Ra, Rb.T @ p, enough)[0]
    if np.isfinite(b.size) and not found < enough:
        other = sampled_gaps.lowest(
            a.kind, a.sizes, a.planes, b.samples[:many], Ra.T @ Rb, -Ra.T @ p, enough
        )[0]
        found = min(found, other)
    return float(found)


def posed(a: Body, b: Body, number: int, overlaps: Any = (0.01, 0.5)) -> tuple[Place, Place]:
    """Return the number-th random pose: brought together until they touch, then on by an overlap, of the
    smaller size."""
    rng = np.random.default_rng(number)
    turns = Rotation.random(2, random_state=number).as_matrix()
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    at = np.zeros(3)
    if not np.isfinite(b.size):
        turns[1] = np.eye(3)
        at = np.append(rng.uniform(-1.5, 1.5, 2), 0.0)
        way = np.array((0.0, 0.0, 1.0))
    there = Place(np.zeros(3), turns[1])
    low, high = 0.0, 4.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        if gap(a, b, (Place(at, turns[0]), there), middle * way, 0.0, 2000) > 0.0:
            high = middle
        else:
            low = middle
    overlap = rng.uniform(*overlaps) * min(a.size, b.size)
    return Place(at + (high - overlap) * way, turns[0]), there


@dataclass(frozen=True)
class Judged:
    """Errors of a contact, each over what is allowed."""

    depth: float
    points: float
    parted: float
    elsewhere: float = 0.0  # 2: a shorter move parts them, in another direction


def least_move(normals: Array, depths: Array) -> Array:
    """Return the least t with n.t >= depth for all (Lawson and Hanson 1974, chapter 23)."""
    E = np.vstack([normals.T, depths])
    u, _ = nnls(E, np.array([0.0, 0.0, 0.0, 1.0]))
    r = E @ u - (0.0, 0.0, 0.0, 1.0)
    return -r[:3] / r[3] if abs(r[3]) > 1e-12 else normals[np.argmax(depths)] * depths.max()


def judged(a: Body, b: Body, pose: Any, contacts: tuple[Array, Array, Array, Array] | None) -> Judged | None:
    """Judge contacts: depths, normals from a to b, and points of both; None if there should be some and are
    not. (The way on from the first touch may lead through the hole of a ring: then there are none.)"""
    if contacts is None or not np.isfinite(contacts[0]).all() or not (contacts[0] > 0.0).any():
        apart = (contacts is None or not len(contacts[0])) and gap(a, b, pose, np.zeros(3)) > -_SAMPLED
        return Judged(0.0, 0.0, 0.0) if apart else None
    depths, normals, on_a, on_b = contacts
    facets = a.facets + b.facets
    k = int(np.argmax(depths))
    off_a = abs(float(a.distance(pose[0].inward(on_a[k : k + 1]))[0])) / (2 * a.facets + _FLOOR)
    off_b = abs(float(b.distance(pose[1].inward(on_b[k : k + 1]))[0])) / (2 * b.facets + _FLOOR)
    move = -least_move(normals, depths)  # of a
    far = float(np.linalg.norm(move))
    if a.reach is not None and b.reach is not None:
        allowed = facets + _FLOOR
        least, here = _least_depth(a, b, pose, -move / max(far, 1e-300))
        return Judged(abs(far - least) / allowed, max(off_a, off_b), abs(here - far) / allowed)
    allowed = facets + _SAMPLED
    parted = abs(gap(a, b, pose, move)) / allowed
    less = far - 2 * allowed
    shorter = less > 0.0 and _free(a, b, pose, less * _round_about(move / far))
    elsewhere = shorter or (less > 0.0 and _free(a, b, pose, less * _ALL_ROUND))
    return Judged(max(2.0 * shorter, parted), max(off_a, off_b), parted, 2.0 * elsewhere)


def _free(a: Body, b: Body, pose: Any, moves: Array) -> bool:
    """Return whether any of the moves parts the bodies."""
    return any(gap(a, b, pose, move, 0.0) >= 0.0 for move in moves)


def _least_depth(a: Body, b: Body, pose: Any, start: Array) -> tuple[float, float]:
    """Return the least overlap of convex bodies over all directions, and that along `start`."""

    def overlap(n: Array) -> Array:
        assert a.reach is not None
        assert b.reach is not None
        ahead, behind = a.reach(n @ pose[0].rotation), b.reach(-n @ pose[1].rotation)
        return ahead + behind + n @ (pose[0].position - pose[1].position)

    rng = np.random.default_rng(0)
    n = np.vstack([start, _units(rng.normal(size=(400, 3)))])
    depths = overlap(n)
    here = float(depths[0])
    best = {float(depths[0]): n[0], float(depths.min()): n[np.argmin(depths)]}
    for least, direction in list(best.items()):
        wide = 0.3
        for _ in range(14):
            tried = _units(direction + wide * rng.normal(size=(60, 3)))
            found = overlap(tried)
            if found.min() < least:
                least, direction = float(found.min()), tried[np.argmin(found)]
            else:
                wide *= 0.5
        best[least] = direction
    return min(best), here


def _units(x: Array) -> Array:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def _round_about(u: Array) -> Array:
    """Return directions round one, at 8 and 25 degrees."""
    s = _units(np.cross(u, np.eye(3)[np.argmin(np.abs(u))]))
    t = np.cross(u, s)
    turn = np.arange(6) * np.pi / 3
    ring = np.cos(turn)[:, None] * s + np.sin(turn)[:, None] * t
    return np.vstack([np.cos(c) * u + np.sin(c) * ring for c in (np.radians(8), np.radians(25))])


def _spread(count: int) -> Array:
    """Return directions all round, about as far from each other: a spiral."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    across = np.sqrt(1.0 - z * z)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), z])


_ALL_ROUND = _spread(200)
