"""the edges that leave a corner <- a mesh, or terrain: its *star*, leftwards seen from outside."""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.shape_table import COLUMNS, FIRST_FACE, FIRST_POINT, ROWS, STAR, STAR_ROOM
from linkwork.contact.terrain import grid_point
from linkwork.geometry.vectors import norm, put, row, sub, turned


@native_apart
def mesh_star(table, j, side, R, work):
    """Write the edges that leave the corner where a side of a mesh begins, turned by R; return how many.

    0 at a border.
    """
    first, points = table.index[12 * j + FIRST_FACE], table.index[12 * j + FIRST_POINT]
    v = row(table.points, points + table.faces[3 * first + side])
    here, many = side, 0
    while many + 3 <= STAR_ROOM:
        ahead = here + 1 if here % 3 < 2 else here - 2
        put(
            work.triangle,
            STAR + many,
            turned(R, sub(row(table.points, points + table.faces[3 * first + ahead]), v)),
        )
        many += 1
        here = table.twin[3 * first + (here - 1 if here % 3 > 0 else here + 2)]
        if here < 0:
            return 0
        if here == side:
            return many
    return 0


@native_apart
def field_star(table, j, cx, cy, R, work):
    """Write the edges that leave a point of terrain, leftwards, turned by R; return how many. At a border one
    goes straight down."""
    v = grid_point(table, j, cx, cy)
    begin, missing, longest = 0, False, 0.0
    for k in range(6):
        if not _has_spoke(table, j, cx, cy, k):
            begin, missing = k + 1, True
    many = 0
    for k in range(begin, begin + 6):
        if _has_spoke(table, j, cx, cy, k % 6):
            x, y = _spoke(k % 6)
            e = sub(grid_point(table, j, cx + x, cy + y), v)
            longest = max(longest, norm(e))
            put(work.triangle, STAR + many, turned(R, e))
            many += 1
    if missing:
        put(work.triangle, STAR + many, turned(R, (0.0, 0.0, -longest)))
        many += 1
    return many


@native
def _spoke(k):
    """Return the steps over the grid along the k-th edge of a point, leftwards."""
    return (
        1 if k < 2 else (0 if k == 2 or k == 5 else -1),
        1 if k == 1 or k == 2 else (0 if k == 0 or k == 3 else -1),
    )


@native
def _has_spoke(table, j, cx, cy, k):
    x, y = _spoke(k)
    nx, ny = table.index[12 * j + ROWS], table.index[12 * j + COLUMNS]
    return 0 <= cx + x < nx and 0 <= cy + y < ny
