"""distance, closest points <- two shapes. Distances are negative where shapes overlap: then it is minus the
depth of their deepest contact."""

from linkwork.contact.containment import winds
from linkwork.contact.convex_pairs import closest
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.narrow_phase import in_order, raw_contacts, relative_pose
from linkwork.contact.planar_pairs import polygon_distance
from linkwork.contact.plane_pairs import above_plane, mesh_depth, plane_in
from linkwork.contact.shape_kinds import HEIGHT_FIELD, MESH, PLANE, POLYGON
from linkwork.contact.shape_table import (
    DEPTH,
    FIRST_POINT,
    NORMAL,
    POINT_A,
    POINT_B,
    POINTS,
    opened_table,
    opened_work,
)
from linkwork.contact.support import convex_kind, form_of
from linkwork.contact.surface_distances import convex_field, convex_mesh, mesh_field, mesh_mesh
from linkwork.contact.terrain import field_depth
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    dot,
    neg,
    put_three,
    row,
    sub,
    three,
    turned,
    turned_back,
)
from linkwork.native.numba_functions import entry, memory

_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@native_apart
def pair_distance(table, poses, i, j, work):
    """Return distance, normal from a to b, and the closest points of shapes i and j, in the world.

    Infinite (1e300) for pairs that have none: half-spaces and terrain among themselves.
    """
    i, j, swapped = in_order(table, i, j)
    Ra, pa, R, p = relative_pose(poses, i, j)
    kind_a, kind_b = convex_kind(table, i), convex_kind(table, j)
    d, n, a, b = 1e300, (0.0, 0.0, 1.0), ZERO, ZERO
    overlap = False  # of solids that are not convex
    if kind_b == PLANE and kind_a != PLANE and kind_a != HEIGHT_FIELD:
        m, offset = plane_in(table, j, R, p)
        if kind_a == MESH:
            depth, a = mesh_depth(table, i, m, offset, work)
        elif kind_a == POLYGON:
            depth, a = _polygon_depth(table, i, m, offset)
        else:
            depth, a = above_plane(form_of(table, i, work, 0), m, offset)
        d, n, b = -depth, neg(m), along(a, depth, m)
    elif kind_a < PLANE and kind_b < PLANE:
        A, B = form_of(table, i, work, 0), form_of(table, j, work, 1)
        depth, n, a, b = closest(A, B, R, p, work, 1e300)
        d = -depth
    elif kind_a < PLANE and (kind_b in (MESH, HEIGHT_FIELD)):
        A = form_of(table, i, work, 0)
        centre, half = three(table.reach, 7 * i), three(table.reach, 7 * i + 3)
        seen = turned_back(R, sub(centre, p))
        if kind_b == MESH:
            d, n, a, b = convex_mesh(table, A, centre, half, j, R, p, work, 1e300)
            overlap = d <= 0.0 or (table.size[4 * j + 2] != 0.0 and winds(table, j, seen, work))
        else:
            d, n, a, b = convex_field(table, A, centre, half, j, R, p, work)
            overlap = d <= 0.0 or field_depth(table, j, seen)[0] > 0.0
    elif kind_a == MESH and kind_b == MESH:
        d, n, a, b = mesh_mesh(table, i, j, R, p, work, 1e300)
        overlap = d <= 0.0 or _one_in_other(table, i, j, R, p, work)
    elif kind_a == MESH and kind_b == HEIGHT_FIELD:
        d, n, a, b = mesh_field(table, i, j, R, p, work, 1e300)
        corner = turned_back(R, sub(corners(table, i, 0)[0], p))
        overlap = d <= 0.0 or field_depth(table, j, corner)[0] > 0.0
    elif kind_a == POLYGON and kind_b == POLYGON:
        depth, n, a, b, _ea, _eb = polygon_distance(table, i, j, R, p)
        d = -depth
    if overlap:
        d, n, a, b = _deepest(work, raw_contacts(table, poses, i, j, work, 0.0), d, n, a, b)
    a, b, n = add(turned(Ra, a), pa), add(turned(Ra, b), pa), turned(Ra, n)
    if swapped:
        return d, neg(n), b, a
    return d, n, a, b


@native
def _deepest(work, count, d, n, a, b):
    """Return minus the depth, normal and points of the deepest of contacts; what is given, without any."""
    most = 0.0
    for k in range(count):
        if work.raw[10 * k + DEPTH] > most:
            most = work.raw[10 * k + DEPTH]
            d, n = -most, three(work.raw, 10 * k + NORMAL)
            a, b = three(work.raw, 10 * k + POINT_A), three(work.raw, 10 * k + POINT_B)
    return d, n, a, b


@native
def _one_in_other(table, i, j, R, p, work):
    """Return whether a corner of one of two closed meshes is inside the other."""
    x, y = corners(table, i, 0)[0], corners(table, j, 0)[0]
    return (table.size[4 * j + 2] != 0.0 and winds(table, j, turned_back(R, sub(x, p)), work)) or (
        table.size[4 * i + 2] != 0.0 and winds(table, i, add(turned(R, y), p), work)
    )


@native
def _polygon_depth(table, i, m, offset):
    first = table.index[12 * i + FIRST_POINT]
    best, point = -1e300, ZERO
    for k in range(table.index[12 * i + POINTS]):
        x = along(row(table.points, first + k), -table.size[4 * i], m)
        if offset - dot(m, x) > best:
            best, point = offset - dot(m, x), x
    return best, point


@entry(None, "int64[::1]", "float64[:, :, ::1]", "int64[:, ::1]", "int64[::1]", "float64[:, ::1]")
def distances_of_pairs(table, poses, pairs, work, out):
    """Write distance, normal and points of pairs as rows of (points on a and b, normal, distance)."""
    t, w, x, pair, o = opened_table(table), opened_work(work), memory(poses), memory(pairs), memory(out)
    for k in range(len(pairs)):
        d, n, a, b = pair_distance(t, x, pair[2 * k], pair[2 * k + 1], w)
        put_three(o, 10 * k, a)
        put_three(o, 10 * k + 3, b)
        put_three(o, 10 * k + 6, n)
        o[10 * k + 9] = d
