"""The table of shapes: what compiled code knows of them, as flat arrays; and the room it works in.

Entries take these tuples with arrays in them; parts take the same tuples with bare memory, `opened(...)`.

A shape is a row: its kind, four sizes, where its points and faces and tree begin, how large it is. All poses
are the rows of [R | p], (3, 4), as those of `model.poses`.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.contact.decorators import native
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import doubles, integers, memory

# Columns of `Table.index`.
FIRST_POINT, POINTS, FIRST_FACE, FACES, FIRST_NODE, FIRST_FOUR, FIRST_HEIGHT, ROWS, COLUMNS = range(9)
OWNER, GROUP, MASK = range(9, 12)

# Columns of `Buffer.number`.
POINT_A, POINT_B, NORMAL, DEPTH = 0, 3, 6, 9

ALL_EDGES = 7  # of a triangle stand out: see `Table.ridge`
MOST_VERTICES = 1000  # of the expanding polytope; twice as many faces must fit into half of `Work.stack`
MOST_FACES = 2 * MOST_VERTICES
MOST_CORNERS = 64  # of a polygon that is being clipped
SUM = 4 * MOST_CORNERS - 1  # the row of `Work.ring` where normals are summed up
STACK = 4096  # pairs of nodes that wait in a descent of two trees
STAR, STAR_ROOM = 8, 128  # where the corners of a local solid begin, and how many fit
STAR_NORMALS = STAR + STAR_ROOM  # where normals of faces round a corner begin
CORNERS = STAR + 2 * STAR_ROOM  # of triangles at hand, and of local solids
HELD = 32  # contacts of one pair that are left when they are thinned out
SCRATCH, OWN = 16, 12  # words for a traced shape: direction, point, derivatives, and its addresses


class Table(NamedTuple):
    """The shapes of a world, immutable."""

    kind: Any  # (n,) which shape
    size: Any  # (n, 4) sizes of a solid, and the radius round its core [m]; of hulls how many clusters, how
    # many points are before them, and 1; of closed meshes that are no hulls -1 there; else see flatten.py
    reach: (
        Any  # (n, 7) box round it in its own axes: centre, half widths, and its radius about that centre [m]
    )
    index: Any  # (n, 12) where its data begin and how many there are; owner, group and mask
    points: (
        Any  # (npoint, 3) of convex hulls, meshes and polygons, in the shape's own axes; then clusters [m]
    )
    faces: Any  # (nface, 3) corners of triangles, counted from the first of the shape; see `traced_support`
    planes: Any  # (nface, 4) outward unit normal of a triangle and its offset [m]
    ridge: Any  # (nface,) bits 0, 1, 2: the edge after that corner stands out (or is a border)
    node_box: Any  # (nnode, 15) oriented boxes: rotation by rows, centre, half widths [m]
    node_child: Any  # (nnode, 2) the two children, counted from the shape's first; or -1 - triangle, and -1
    four_box: Any  # (nfour, 15, 4) the same trees in fours, each number of four boxes side by side
    four_below: Any  # (nfour, 4) what is below each: a four, counted from the shape's first, or -1 - triangle
    heights: Any  # (nheight,) of height fields, and sizes of traced solids [m]
    twin: Any  # (nface, 3) the side across, 3 * triangle + edge, counted from the shape's first; -1: none
    leaving: Any  # (npoint,) a side that leaves the point; behind the vertices, of clusters, -1
    at: Any  # addresses of these; for parts, how many shapes there are


class Work(NamedTuple):
    """Room for one query; every thread has its own."""

    w: Any  # (MOST_VERTICES, 3) points of the Minkowski difference A - B [m]
    a: Any  # (MOST_VERTICES, 3) the points of A they come from [m]
    plane: Any  # (MOST_FACES, 4) normals and offsets of the polytope's faces
    low: Any  # (MOST_FACES,) the offsets, while they count
    face: Any  # (MOST_FACES, 6) corners, and what is across the edges 01, 12, 20: 4 * face + edge
    stack: Any  # (STACK, 2)
    edges: Any  # (MOST_FACES, 3) the horizon: from corner to corner, and the edge across
    claim: Any  # (8, 5) minima of the depth: normal, and cosines of the angles round it that are theirs
    ring: Any  # (4, MOST_CORNERS, 3) polygons before, during and after clipping [m]
    label: Any  # (4, MOST_CORNERS) what the corners of these are
    triangle: Any  # (CORNERS, 3) of the triangles at hand [m]; behind them the words of traced shapes
    raw: Any  # (n, 10) contacts before they are thinned out, as rows of `Buffer.number`
    raw_label: Any  # (n, 3) their features, or triangles; the third is free
    raw_room: Any  # how many fit; behind them is room for 2 HELD more
    corners: Any  # contact points that two faces have at most, 4 or 8
    at: Any  # addresses of these; for parts, that of the words of traced shapes, SCRATCH for each side


class Buffer(NamedTuple):
    """Where contact points are written to."""

    number: Any  # (n, 10) points on a and b, normal from a to b, depth: all in the world [m]
    label: Any  # (n, 4) shape a, shape b, feature of a, feature of b
    count: Any  # (2,) how many there are; how many there would be with more room
    room: Any  # how many fit
    at: Any  # addresses of these


def _opened(kind: Any, integer: set[str], plain: set[str]) -> Named:
    """Return the type of an opened tuple: pointers to doubles, but for fields of integers and plain ones."""
    named = {name: "int64*" if name in integer else "float64*" for name in kind._fields}
    return Named(kind, named | dict.fromkeys(plain, "int64"))


TABLE = _opened(
    Table, {"kind", "index", "faces", "ridge", "node_child", "four_below", "twin", "leaving"}, {"at"}
)
WORK = _opened(Work, {"face", "stack", "edges", "label", "raw_label"}, {"raw_room", "corners", "at"})


def work(raw: int = 4096, corners: int = 8) -> Work:
    """Make the room for one thread; `raw` contacts of triangles fit in. Faces touch at up to `corners`."""
    parts = (
        np.zeros((MOST_VERTICES, 3)),
        np.zeros((MOST_VERTICES, 3)),
        np.zeros((MOST_FACES, 4)),
        np.zeros(MOST_FACES),
        np.zeros((MOST_FACES, 6), np.int64),
        np.zeros((STACK, 2), np.int64),
        np.zeros((MOST_FACES, 3), np.int64),
        np.zeros((8, 5)),
        np.zeros((4, MOST_CORNERS, 3)),
        np.zeros((4, MOST_CORNERS), np.int64),
        np.zeros((CORNERS + 2 * SCRATCH // 3 + 1, 3)),
        np.zeros((raw + 2 * HELD, 10)),
        np.zeros((raw + 2 * HELD, 3), np.int64),
        raw,
        corners,
    )
    return Work(*parts, addresses(*parts))


def buffer(room: int) -> Buffer:
    """Make room for contact points."""
    count = np.zeros(32, np.int64)[16:18]  # not beside that of another thread, in one line of the cache
    parts = np.zeros((room, 10)), np.zeros((room, 4), np.int64), count, room
    return Buffer(*parts, addresses(*parts))


def addresses(*things: Any) -> Any:
    """Return where arrays lie, and plain numbers, as one array: entries take it in place of many arrays.

    It takes a tenth of a microsecond to hand over, each array. Whoever keeps it keeps the arrays.
    """
    return np.array([x.ctypes.data if isinstance(x, np.ndarray) else x for x in things], np.int64)


@native
def opened_table(at):
    """Return the table for parts."""
    a = memory(at)
    return Table(
        integers(a[0]),
        doubles(a[1]),
        doubles(a[2]),
        integers(a[3]),
        doubles(a[4]),
        integers(a[5]),
        doubles(a[6]),
        integers(a[7]),
        doubles(a[8]),
        integers(a[9]),
        doubles(a[10]),
        integers(a[11]),
        doubles(a[12]),
        integers(a[13]),
        integers(a[14]),
        a[15],
    )


@native
def opened_work(at):
    """Return the room for parts."""
    a = memory(at)
    return Work(
        doubles(a[0]),
        doubles(a[1]),
        doubles(a[2]),
        doubles(a[3]),
        integers(a[4]),
        integers(a[5]),
        integers(a[6]),
        doubles(a[7]),
        doubles(a[8]),
        integers(a[9]),
        doubles(a[10]),
        doubles(a[11]),
        integers(a[12]),
        a[13],
        a[14],
        a[10] + 24 * CORNERS,
    )


@native
def opened_buffer(at):
    """Return the place for contacts, for parts."""
    a = memory(at)
    return Buffer(doubles(a[0]), integers(a[1]), integers(a[2]), a[3], 0)
