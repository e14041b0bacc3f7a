"""Where a closed surface passes through itself.

A closed surface winds round every point some number of times: once round those inside, never round those
outside. Where two sheets cross there is always some other number nearby. So crossings of triangles are looked
for, and counted as such if the winding number is wrong at a depth that matters; and it is looked at on both
sides of faces, which finds pieces inside others, and sheets that lie upon each other.

A winding number is the sum of the faces, up or down, that a ray meets. All rays go along z, in axes turned so
that nothing of a usual part lies along them. A ray past an edge is on the same side of it for both its faces,
to the last bit, so no ray slips through between two faces.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.polyhedron import corners, normals
from linkwork.geometry.solid import Faces
from linkwork.mechanism.placement import Array, plain

DEPTH = 1e-6  # of the size of the mesh; shallower crossings are rounding of the file
_TURN = np.linalg.qr(np.array([[0.62, 0.31, -0.72], [0.17, 0.83, 0.53], [0.77, -0.46, 0.44]]))[0]
_MOST_FACES = 5_000  # whose sides are looked at; of larger meshes, as many evenly spread
_MOST_CROSSINGS = 500  # that are looked at closely
_MOST_PAIRS = 2e8  # of boxes that overlap; no mesh of a part comes near
_ROOM = 2**20  # pairs that are handled together

Integers = NDArray[np.int64]


class Tangled(Exception):
    """So many faces lie upon each other that their crossings cannot be looked for."""


class Sheets:
    """The triangles of a closed mesh in a tree of boxes, each level half as many as the next."""

    def __init__(self, vertices: Array, faces: Faces, turn: Array = _TURN) -> None:
        self.middle, self.turn = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)), turn
        points = self.own(vertices)
        order = _along_curve(points[faces].mean(axis=1))
        self.points, self.faces, self.order = points, faces[order], order
        self.corners = points[self.faces]  # (m, 3, 3) [face, corner, axis]
        self.normals = normals(points, self.faces)
        self.size = float(np.linalg.norm(np.ptp(points, axis=0)))
        room = 1 << max(0, len(faces) - 1).bit_length()
        low, high = np.full((3, room), np.inf), np.full((3, room), -np.inf)  # by axis
        low[:, : len(faces)], high[:, : len(faces)] = self.corners.min(axis=1).T, self.corners.max(axis=1).T
        self.levels = [(low, high)]
        while low.shape[1] > 1:
            low, high = np.minimum(low[:, ::2], low[:, 1::2]), np.maximum(high[:, ::2], high[:, 1::2])
            self.levels.insert(0, (low, high))

    def pairs(self) -> Iterator[tuple[Integers, Integers]]:
        """Yield, in portions, pairs of faces whose boxes overlap."""
        start = np.zeros(1, np.int64)
        stack, count = [(0, start, start)], 0
        while stack:
            depth, i, j = stack.pop()
            count += len(i)
            if count > _MOST_PAIRS:
                raise Tangled
            if depth == len(self.levels) - 1:
                yield i[i < j], j[i < j]
                continue
            i, j = (
                np.concatenate(halves)
                for halves in zip(*((2 * i + a, 2 * j + b) for a in (0, 1) for b in (0, 1)))
            )
            i, j = i[i <= j], j[i <= j]
            for low, high in zip(*self.levels[depth + 1]):
                overlap = (low[i] <= high[j]) & (low[j] <= high[i])
                i, j = i[overlap], j[overlap]
            for k in range(0, len(i), _ROOM):
                stack.append((depth + 1, i[k : k + _ROOM], j[k : k + _ROOM]))

    def crossings(self) -> tuple[Integers, Integers, Array]:
        """Return pairs of faces that pass through each other, and the middle of the line where they do."""
        found: list[tuple[Integers, Integers, Array]] = []
        for i, j in self.pairs():
            for one, other in ((0, 1), (1, 0)):
                across = self._straddles((i, j)[one], (i, j)[other])
                i, j = i[across], j[across]
            for one, other in ((i, j), (j, i)):
                for k in range(3):
                    hit, at = self._pierced(one, k, other)
                    found.append((i[hit], j[hit], at))
        i, j, at = (np.concatenate(parts) for parts in zip(*found))
        codes, group = np.unique(i * len(self.faces) + j, return_inverse=True)
        count = np.bincount(group)
        middle = np.stack([np.bincount(group, at[:, k]) / count for k in range(3)], axis=1)
        return codes // len(self.faces), codes % len(self.faces), middle

    def _straddles(self, one: Integers, other: Integers) -> NDArray[np.bool_]:
        """Return whether corners of the other faces lie on both sides of the one; shared ones lie on none.

        So over a common edge two faces never cross.
        """
        above = below = np.zeros(len(one), dtype=bool)
        normal, origin = self.normals[one], self.corners[one, 0]
        for k in range(3):
            name = self.faces[other, k]
            apart = (name != self.faces[one, 0]) & (name != self.faces[one, 1]) & (name != self.faces[one, 2])
            height = np.einsum("ni,ni->n", self.corners[other, k] - origin, normal)
            above, below = above | (apart & (height > 0.0)), below | (apart & (height < 0.0))
        return above & below

    def _pierced(self, one: Integers, k: int, other: Integers) -> tuple[Integers, Array]:
        """Return which edges k of the one faces pass through the other faces, and where."""
        ends = self.faces[one][:, [k, (k + 1) % 3]]
        p, q = self.corners[one, k], self.corners[one, (k + 1) % 3]
        a, b, c = (self.corners[other, corner] for corner in range(3))
        above, below = (np.einsum("ij,ij->i", x - a, self.normals[other]) for x in (p, q))
        along = q - p
        sides = [np.einsum("ij,ij->i", along, np.cross(x - p, y - p)) for x, y in ((a, b), (b, c), (c, a))]
        inside = ((sides[0] > 0) == (sides[1] > 0)) & ((sides[1] > 0) == (sides[2] > 0))
        inside &= (sides[0] != 0) & (sides[1] != 0) & (sides[2] != 0)
        inside &= (ends[:, :, None] != self.faces[other][:, None, :]).all(axis=(1, 2))
        hit = np.flatnonzero(inside & (above * below < 0.0))
        t = above[hit] / (above[hit] - below[hit])
        return hit, p[hit] + t[:, None] * along[hit]

    def winding(self, points: Array) -> Integers:
        """Return how often the surface winds round points (n, 3), in the axes of the mesh."""
        points = self.own(points)
        total = np.zeros(len(points), np.int64)
        stack = [
            (0, np.arange(k, min(len(points), k + _ROOM)), np.zeros(1, np.int64))
            for k in range(0, len(points), _ROOM)
        ]
        while stack:
            depth, ray, node = stack.pop()
            node = np.broadcast_to(node, ray.shape)
            (x, y, _), (X, Y, Z) = self.levels[depth]
            p, q, r = points[ray].T
            keep = (x[node] <= p) & (p <= X[node]) & (y[node] <= q) & (q <= Y[node]) & (r <= Z[node])
            ray, node = ray[keep], node[keep]
            if depth == len(self.levels) - 1:
                total += np.bincount(ray, self._passed(points[ray], node), len(points)).astype(np.int64)
                continue
            for k in range(0, len(ray), _ROOM):
                r, n = ray[k : k + _ROOM], node[k : k + _ROOM]
                stack.append((depth + 1, np.r_[r, r], np.r_[2 * n, 2 * n + 1]))
        return total

    def _passed(self, p: Array, face: Integers) -> Integers:
        """Return 1 where a ray up from p leaves through the face, -1 where it enters, 0 where it misses."""
        names, x = self.faces[face], self.corners[face] - p[:, None]
        area, sign = [], []
        for k in range(3):
            a, b = k, (k + 1) % 3
            upward = names[:, a] < names[:, b]
            u, v = np.where(upward[:, None], x[:, a], x[:, b]), np.where(upward[:, None], x[:, b], x[:, a])
            cross = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
            area.append(np.where(upward, cross, -cross))
            sign.append(np.where((cross >= 0.0) == upward, 1, -1))
        total = sum(area)
        with np.errstate(invalid="ignore", divide="ignore"):
            height = sum(area[k] * x[:, (k + 2) % 3, 2] for k in range(3)) / total
        hit = (sign[0] == sign[1]) & (sign[1] == sign[2]) & (height > 0.0)
        return np.where(hit, sign[0], 0)

    def encloses(self, points: Array) -> NDArray[np.bool_]:
        """Tell which points, in the axes of the mesh, lie inside, whichever way round the faces are."""
        return self.winding(points) != 0

    def own(self, points: Array) -> Array:
        """Return points of the mesh in the axes of the tree."""
        return (points - self.middle) @ self.turn


def crossing(vertices: Array, faces: Faces) -> str:
    """Say where a closed mesh passes through itself, or has a piece inside out; nothing if all is well."""
    sheets = Sheets(vertices, faces)
    try:
        return _deep_crossing(vertices, faces, sheets) or _wrong_side(vertices, faces, sheets)
    except Tangled:
        return "it has too many faces at one place to look for crossings; simplify it"


def _deep_crossing(vertices: Array, faces: Faces, sheets: Sheets) -> str:
    straight = Sheets(
        vertices, faces, np.eye(3)
    )  # the faces of parts lie along the axes: then boxes are small
    i, j, at = straight.crossings()
    if not len(i):
        return ""
    few = np.unique(np.linspace(0, len(i) - 1, min(len(i), _MOST_CROSSINGS)).astype(np.int64))
    i, j, at = straight.order[i[few]], straight.order[j[few]], at[few] + straight.middle
    out = normals(vertices, faces)
    unit = out / np.maximum(np.linalg.norm(out, axis=1), np.finfo(float).tiny)[:, None]
    deep = np.zeros(len(few), dtype=bool)
    for s in (1.0, -1.0):
        for t in (1.0, -1.0):
            way = s * unit[i] + t * unit[j]
            length = np.linalg.norm(way, axis=1)
            way /= np.maximum(length, 1e-3)[:, None]
            winding = sheets.winding(at + DEPTH * sheets.size * way)
            deep |= (length > 1e-3) & ((winding < 0) | (winding > 1))
    if not deep.any():
        return ""
    k = int(np.argmax(deep))
    one, other = sorted((int(i[k]), int(j[k])))
    return (
        f"it passes through itself: faces {one} and {other} cross at {plain(at[k])}; "
        "unite the parts where the mesh was made"
    )


def _wrong_side(vertices: Array, faces: Faces, sheets: Sheets) -> str:
    """Look at points just inside and just outside of faces that are not too small for it."""
    step = DEPTH * sheets.size
    a, b, c = corners(vertices - sheets.middle, faces)
    out = np.cross(b - a, c - a)
    doubled = np.linalg.norm(out, axis=1)
    around = sum(np.linalg.norm(x - y, axis=1) for x, y in ((a, b), (b, c), (c, a)))
    large = np.flatnonzero(doubled > 10.0 * step * around)  # the inscribed circle has radius doubled / around
    if len(large) > _MOST_FACES:
        large = large[np.linspace(0, len(large) - 1, _MOST_FACES).astype(np.int64)]
    middle = sheets.middle + ((a + b + c) / 3.0)[large]
    out = out[large] / doubled[large, None]
    inside, outside = (sheets.winding(middle + s * step * out) for s in (-1.0, 1.0))
    # Just outside may be inside another piece, one upon which this face lies.
    wrong = np.flatnonzero((inside < 0) | (inside > 1) | (outside < 0) | (outside > 1))
    if not len(wrong):
        return ""
    k = int(wrong[0])
    where = f"face {int(large[k])} at {plain(middle[k])}"
    if inside[k] == 0 and outside[k] == -1:
        return f"a piece of it is inside out: {where} faces the solid; turn the faces of that piece round"
    return (
        f"pieces of it overlap: {where} lies where the mesh encloses {int(inside[k])} times; "
        "unite the pieces, or turn the inner one round if it is a cavity"
    )


def _along_curve(points: Array) -> Integers:
    """Return an order in which neighbours are close: along Morton's curve."""
    low = points.min(axis=0)
    scale = max(float(np.ptp(points, axis=0).max()), np.finfo(float).tiny)
    cells = np.minimum((points - low) / scale * 2**20, 2**20 - 1).astype(np.uint64)
    code = np.zeros(len(points), np.uint64)
    for axis in range(3):
        code |= _spread(cells[:, axis]) << np.uint64(axis)
    return np.argsort(code, kind="stable")


def _spread(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Put two zero bits between the bits of numbers of 21 bits."""
    masks = ((32, 0x1F00000000FFFF), (16, 0x1F0000FF0000FF), (8, 0x100F00F00F00F00F))
    for shift, mask in (*masks, (4, 0x10C30C30C30C30C3), (2, 0x1249249249249249)):
        x = (x | (x << np.uint64(shift))) & np.uint64(mask)
    return x
