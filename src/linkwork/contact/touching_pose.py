"""a move that parts two solids <- where they overlap: straight on, until they nearly touch."""

from linkwork.contact.containment import in_solid
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.shape_kinds import MESH, PLANE
from linkwork.contact.shape_table import SUM
from linkwork.contact.support import convex_kind
from linkwork.contact.surface_pairs import ANY, TOUCHED, touched_triangles
from linkwork.contact.triangle_pairs import COUNT, FIRST, triangle_pairs
from linkwork.geometry.vectors import (
    add,
    along,
    dot,
    neg,
    norm,
    row,
    scale,
    sub,
    three,
    turned,
    turned_back,
    unit,
)

TOO_LONG = 1e150  # its square is still a number
_STEEP = 0.25  # sine of the angle to the horizon at which terrain is left, at least


@native
def is_closed(table, f):
    """Return whether a mesh bounds a solid; terrain does."""
    return table.kind[f] != MESH or table.size[4 * f + 2] != 0.0


@native_apart
def overlap(table, A, i, j, R, p, work):
    """Return whether the two overlap."""
    if convex_kind(table, i) < PLANE:
        x = turned_back(R, sub(three(table.reach, 7 * i), p))
        if touched_triangles(table, A, i, j, R, p, work, ANY) > 0:
            return True
        return is_closed(table, j) and in_solid(table, j, x, work)
    if triangle_pairs(table, i, j, R, p, work, FIRST, 0.0)[1] > 0:
        return True
    first = table.kind[j] == MESH and is_closed(table, i)
    if first and in_solid(table, i, add(turned(R, corners(table, j, 0)[0]), p), work):
        return True
    return is_closed(table, j) and in_solid(table, j, turned_back(R, sub(corners(table, i, 0)[0], p)), work)


@native_apart
def _mean_normal(table, A, i, j, R, p, work):
    """Return the mean normal of what is inside, along which the second may go out; zero if nothing
    crosses."""
    if convex_kind(table, i) < PLANE:
        touched_triangles(table, A, i, j, R, p, work, TOUCHED)
        return neg(row(work.ring, SUM))
    triangle_pairs(table, i, j, R, p, work, COUNT, 0.0)
    return row(work.ring, SUM)


@native_apart
def touching(table, A, i, j, R, p, work, t, near):
    """Return a move after which the two are apart, and nearly touch: the shortest of some along t, along the
    mean normal, and along the axes and diagonals of space."""
    u = _mean_normal(table, A, i, j, R, p, work)
    longest = 2.0 * (table.reach[7 * i + 6] + table.reach[7 * j + 6])
    move = straight(table, A, i, j, R, p, work, t, longest, near)
    if table.kind[j] != MESH:
        down = neg(turned(R, (0.0, 0.0, 1.0)))
        move = _shorter(move, straight(table, A, i, j, R, p, work, down, min(norm(move), longest), near))
    move = _shorter(move, straight(table, A, i, j, R, p, work, u, min(norm(move), longest), near))
    for x in range(-1, 2):
        for y in range(-1, 2):
            for z in range(-1, 2):
                u = (float(x), float(y), float(z))
                move = _shorter(move, straight(table, A, i, j, R, p, work, u, min(norm(move), longest), near))
    return move


@native
def _shorter(t, u):
    return u if norm(u) < norm(t) else t


@native_apart
def straight(table, A, i, j, R, p, work, u, longest, near):
    """Return a move along u after which the two are apart, and nearly touch; one that is too long, if there
    is none up to `longest`."""
    if not dot(u, u) > 0.0:
        return (TOO_LONG, 0.0, 0.0)
    u = unit(u)
    if table.kind[j] != MESH and turned_back(R, u)[2] > -_STEEP:
        return (TOO_LONG, 0.0, 0.0)  # terrain is left upwards
    low, high = 0.0, near
    while overlap(table, A, i, j, R, along(p, high, u), work):
        low, high = high, 2.0 * high
        if high > longest:
            return (TOO_LONG, 0.0, 0.0)
    while high - low > 0.25 * near:
        middle = 0.5 * (low + high)
        if overlap(table, A, i, j, R, along(p, middle, u), work):
            low = middle
        else:
            high = middle
    return scale(high, u)
