"""Where a closed surface passes through itself.

A closed surface winds round every point some number of times: once round those inside, never round those
outside. Where two sheets cross there is always some other number nearby. So crossings of triangles are looked
for, and counted as such if the winding number is wrong at a depth that matters; and it is looked at on both
sides of faces, which finds pieces inside others, and sheets that lie upon each other.

A winding number is the sum of the faces, up or down, that a ray meets. All rays go along the third of axes
that are turned so that nothing of a usual part lies along them. A ray past an edge is on the same side of it
for both its faces, to the last bit, so no ray slips through between two faces.
"""

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.crossing_loops import find_crossings
from linkwork.geometry.polyhedron import bounds, corners, normals
from linkwork.geometry.sheet_loops import GROUP, count_windings, curve_keys, fill_boxes, put_in_order
from linkwork.geometry.solid import Faces
from linkwork.mechanism.placement import Array, plain

DEPTH = 1e-6  # of the size of the mesh; shallower crossings are rounding of the file
_TURN = np.ascontiguousarray(
    np.linalg.qr(np.array([[0.62, 0.31, -0.72], [0.17, 0.83, 0.53], [0.77, -0.46, 0.44]]))[0]
)
_MOST_FACES = 5_000  # whose sides are looked at; of larger meshes, as many evenly spread
_MOST_CROSSINGS = 500  # that are looked at closely
_MOST_PAIRS = 200_000_000  # of faces and boxes that are looked at; no mesh of a part comes near
_LISTED = 1 << 13  # crossings
_BATCH = 1024  # pairs of faces; they stay in the nearest cache
_SINGLE = 2.0**-23  # boxes are in single precision

Integers = NDArray[np.int64]


class Tangled(Exception):
    """Too many faces overlap for their crossings to be found."""


class Sheets:
    """The triangles of a closed mesh in a tree of boxes; see `sheet_loops`, `crossing_loops`."""

    def __init__(self, vertices: Array, faces: Faces) -> None:
        low, high = bounds(vertices)
        self.middle = 0.5 * (low + high)
        self.size = float(np.linalg.norm(high - low))
        faces = np.ascontiguousarray(faces)
        self.order = _along_curve(vertices, faces, low, float((high - low).max()))
        self.points, self.faces = np.empty_like(vertices), np.empty(faces.shape, np.int32)
        number = np.full(len(vertices), -1, np.int32)
        put_in_order(vertices, faces, self.middle, self.order, number, self.points, self.faces)
        groups = [-(-len(faces) // GROUP)]
        while groups[-1] > 1:
            groups.append(-(-groups[-1] // GROUP))
        self.start = np.cumsum([0, *groups])  # (levels + 1,)
        self.boxes = np.empty((self.start[-1], 6, GROUP), np.float32)
        fill_boxes(self.points, self.faces, self.start, self.boxes)
        self.stack = np.empty((len(groups) * GROUP * GROUP, 3), np.int64)  # the most that a group leaves

    def crossings(self) -> tuple[Integers, Integers, Array]:
        """Return pairs of faces that pass through each other, and the middle of the line where they do."""
        pairs, places = np.zeros((_LISTED + 1, 2), np.int64), np.zeros((_LISTED + 1, 3))
        tree, work = (self.start, self.boxes), (self.stack, np.empty((_BATCH, 3), np.int64))
        count = find_crossings(self.points, self.faces, *tree, *work, pairs, places, _MOST_PAIRS)
        if count < 0:
            raise Tangled
        return pairs[:count, 0], pairs[:count, 1], places[:count]

    def winding(self, points: Array) -> Integers:
        """Return how often the surface winds round points (n, 3), in the axes of the mesh."""
        total, slack = np.empty(len(points), np.int64), _SINGLE * self.size
        queries, tree = np.ascontiguousarray(points - self.middle), (self.start, self.boxes)
        count_windings(self.points, self.faces, *tree, _TURN, slack, self.stack, queries, total)
        return total

    def encloses(self, points: Array) -> NDArray[np.bool_]:
        """Return which points, in the axes of the mesh, lie inside, whichever way round the faces are."""
        return self.winding(points) != 0


def crossing(vertices: Array, faces: Faces) -> str:
    """Say where a closed mesh passes through itself, or has a piece inside out; nothing if all is well."""
    sheets = Sheets(vertices, faces)
    try:
        return _deep_crossing(vertices, faces, sheets) or _wrong_side(vertices, faces, sheets)
    except Tangled:
        return "it has too many faces at one place to look for crossings; simplify it"


def _deep_crossing(vertices: Array, faces: Faces, sheets: Sheets) -> str:
    i, j, at = sheets.crossings()
    if not len(i):
        return ""
    few = np.unique(np.linspace(0, len(i) - 1, min(len(i), _MOST_CROSSINGS)).astype(np.int64))
    i, j, at = sheets.order[i[few]], sheets.order[j[few]], at[few] + sheets.middle
    first, second = (_units(normals(vertices, faces[k])) for k in (i, j))
    deep = np.zeros(len(few), dtype=bool)
    for s in (1.0, -1.0):
        for t in (1.0, -1.0):
            way = s * first + t * second
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


def _units(vectors: Array) -> Array:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1), np.finfo(float).tiny)[:, None]


def _wrong_side(vertices: Array, faces: Faces, sheets: Sheets) -> str:
    """Look at points just inside and just outside of faces that are not too small for it."""
    step = DEPTH * sheets.size
    few = np.linspace(0, len(faces) - 1, min(len(faces), 4 * _MOST_FACES)).astype(np.int64)
    a, b, c = corners(vertices, faces[few])
    out = np.cross(b - a, c - a)
    doubled = np.linalg.norm(out, axis=1)
    around = sum(np.linalg.norm(x - y, axis=1) for x, y in ((a, b), (b, c), (c, a)))
    large = np.flatnonzero(doubled > 10.0 * step * around)  # the inscribed circle has radius doubled / around
    if len(large) > _MOST_FACES:
        large = large[np.linspace(0, len(large) - 1, _MOST_FACES).astype(np.int64)]
    middle = sheets.middle + ((a - sheets.middle + b - sheets.middle + c - sheets.middle) / 3.0)[large]
    out, large = out[large] / doubled[large, None], few[large]
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


def _along_curve(points: Array, faces: Faces, low: Array, size: float) -> Integers:
    """Return an order of faces in which neighbours are close: along Morton's curve."""
    key, shift = np.empty(len(faces), np.int64), len(faces).bit_length()
    bits = min(20, (63 - shift) // 3)
    size = max(size, float(np.finfo(float).tiny))
    curve_keys(points, faces, low, size, bits, shift, key)
    key.sort()
    key &= (1 << shift) - 1
    return key
