"""distance, closest points <- two shapes; for surfaces by descent of their trees, the nearer boxes first.

A box that lies farther than the best found so far is left out. Distances are negative where shapes overlap:
then it is minus the depth of their deepest contact.
"""

from math import sqrt

from linkwork.contact.containment import winds
from linkwork.contact.convex_pairs import closest
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.narrow_phase import in_order, raw_contacts, relative_pose
from linkwork.contact.planar_pairs import polygon_distance
from linkwork.contact.plane_pairs import above_plane, mesh_depth, plane_in
from linkwork.contact.shape_kinds import HEIGHT_FIELD, MESH, PLANE, POLYGON
from linkwork.contact.shape_table import (
    COLUMNS,
    DEPTH,
    FIRST_NODE,
    FIRST_POINT,
    NORMAL,
    POINT_A,
    POINT_B,
    POINTS,
    ROWS,
    STACK,
    opened_table,
    opened_work,
)
from linkwork.contact.support import convex_kind, form_of, lone_triangle
from linkwork.contact.terrain import cell, field_depth, field_triangle
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    back_times,
    dot,
    highest,
    lowest,
    neg,
    nine,
    put,
    put_three,
    row,
    sub,
    three,
    times,
    turned,
    turned_back,
)
from linkwork.native.numba_functions import entry, memory

_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@native
def _gap(R, t, a, b):
    """Return a lower bound of the distance of two boxes: the second seen as a box in the axes of the
    first."""
    x = max(abs(t[0]) - a[0] - b[0] * abs(R[0]) - b[1] * abs(R[1]) - b[2] * abs(R[2]), 0.0)
    y = max(abs(t[1]) - a[1] - b[0] * abs(R[3]) - b[1] * abs(R[4]) - b[2] * abs(R[5]), 0.0)
    z = max(abs(t[2]) - a[2] - b[0] * abs(R[6]) - b[1] * abs(R[7]) - b[2] * abs(R[8]), 0.0)
    return sqrt(x * x + y * y + z * z)


@native_apart
def _to_triangle(table, A, p0, p1, p2, work, best):
    """Return distance, normal, points of a convex shape and a triangle in its axes, if it is less than
    best."""
    put(work.triangle, 0, p0)
    put(work.triangle, 1, p1)
    put(work.triangle, 2, p2)
    depth, n, a, b = closest(A, lone_triangle(work.triangle, 0), _SAME, ZERO, work, max(best, 0.0) + 1e-12)
    return -depth, n, a, b


@native_apart
def _convex_mesh(table, A, centre, half, j, R, p, work):
    """Return distance, normal and points of a convex shape, in a box, and a mesh, in axes of the shape."""
    boxes, child = table.node_box, table.node_child
    first = table.index[12 * j + FIRST_NODE]
    stack = work.stack
    stack[STACK] = 0
    top = 1
    best, n, a, b = 1e300, (0.0, 0.0, 1.0), ZERO, ZERO
    while top > 0:
        top -= 1
        node = first + stack[STACK + top]
        k = 15 * node
        t = sub(add(turned(R, three(boxes, k + 9)), p), centre)
        if _gap(times(R, nine(boxes, k)), t, half, three(boxes, k + 12)) > max(best, 0.0):
            continue
        if child[2 * node] >= 0:
            if top + 2 <= STACK:
                l, r = child[2 * node], child[2 * node + 1]
                dl = sub(add(turned(R, three(boxes, 15 * (first + l) + 9)), p), centre)
                dr = sub(add(turned(R, three(boxes, 15 * (first + r) + 9)), p), centre)
                if dot(dl, dl) > dot(dr, dr):
                    l, r = r, l
                stack[STACK + top], stack[STACK + top + 1] = r, l
                top += 2
            continue
        p0, p1, p2 = corners(table, j, -1 - child[2 * node])
        q0, q1, q2 = add(turned(R, p0), p), add(turned(R, p1), p), add(turned(R, p2), p)
        d, m, x, y = _to_triangle(table, A, q0, q1, q2, work, best)
        if d < best:
            best, n, a, b = d, m, x, y
    return best, n, a, b


@native_apart
def _mesh_mesh(table, i, j, R, p, work):
    """Return distance, normal and points of two meshes, in axes of the first."""
    boxes, child = table.node_box, table.node_child
    first, second = table.index[12 * i + FIRST_NODE], table.index[12 * j + FIRST_NODE]
    stack = work.stack
    stack[STACK], stack[STACK + 1] = 0, 0
    top = 1
    best, n, a, b = 1e300, (0.0, 0.0, 1.0), ZERO, ZERO
    while top > 0:
        top -= 1
        x, y = stack[STACK + 2 * top], stack[STACK + 2 * top + 1]
        kx, ky = 15 * (first + x), 15 * (second + y)
        half_x, half_y = three(boxes, kx + 12), three(boxes, ky + 12)
        Rx = nine(boxes, kx)
        t = turned_back(Rx, sub(add(turned(R, three(boxes, ky + 9)), p), three(boxes, kx + 9)))
        Q = back_times(Rx, times(R, nine(boxes, ky)))
        if _gap(Q, t, half_x, half_y) > max(best, 0.0):
            continue
        cx, cy = 2 * (first + x), 2 * (second + y)
        leaf_x, leaf_y = child[cx] < 0, child[cy] < 0
        if leaf_x and leaf_y:
            p0, p1, p2 = corners(table, i, -1 - child[cx])
            q0, q1, q2 = corners(table, j, -1 - child[cy])
            q0, q1, q2 = add(turned(R, q0), p), add(turned(R, q1), p), add(turned(R, q2), p)
            put(work.triangle, 4, p0)
            put(work.triangle, 5, p1)
            put(work.triangle, 6, p2)
            d, m, u, v = _to_triangle(table, lone_triangle(work.triangle, 4), q0, q1, q2, work, best)
            if d < best:
                best, n, a, b = d, m, u, v
        elif 2 * top + 4 <= STACK:
            if leaf_y or (not leaf_x and dot(half_x, half_x) > dot(half_y, half_y)):
                l, r = child[cx], child[cx + 1]
                centre = add(turned(R, three(boxes, ky + 9)), p)
                dl, dr = (
                    sub(three(boxes, 15 * (first + l) + 9), centre),
                    sub(three(boxes, 15 * (first + r) + 9), centre),
                )
                if dot(dl, dl) > dot(dr, dr):
                    l, r = r, l
                stack[STACK + 2 * top], stack[STACK + 2 * top + 1] = r, y
                stack[STACK + 2 * top + 2], stack[STACK + 2 * top + 3] = l, y
            else:
                l, r = child[cy], child[cy + 1]
                centre = three(boxes, kx + 9)
                dl = sub(add(turned(R, three(boxes, 15 * (second + l) + 9)), p), centre)
                dr = sub(add(turned(R, three(boxes, 15 * (second + r) + 9)), p), centre)
                if dot(dl, dl) > dot(dr, dr):
                    l, r = r, l
                stack[STACK + 2 * top], stack[STACK + 2 * top + 1] = x, r
                stack[STACK + 2 * top + 2], stack[STACK + 2 * top + 3] = x, l
            top += 2
    return best, n, a, b


@native_apart
def _convex_field(table, A, centre, half, j, R, p, work):
    """Return distance, normal and points of a convex shape and a height field, cell by cell from below it."""
    nx, ny = table.index[12 * j + ROWS], table.index[12 * j + COLUMNS]
    at = turned_back(R, sub(centre, p))
    x, y, _u, _v = cell(table, j, at[0], at[1])
    step = min(table.size[4 * j] / (nx - 1), table.size[4 * j + 1] / (ny - 1))
    reach = sqrt(dot(half, half))
    best, n, a, b = 1e300, (0.0, 0.0, 1.0), ZERO, ZERO
    for ring in range(max(nx, ny)):
        # Cells of this ring are at least so far away, sideways.
        if (ring - 1) * step - reach > max(best, 0.0):
            break
        for cx in range(max(x - ring, 0), min(x + ring, nx - 2) + 1):
            jump = 1 if abs(cx - x) == ring else max(2 * ring, 1)
            for k in range(0, 2 * ring + 1, jump):
                cy = y - ring + k
                if cy < 0 or cy > ny - 2:
                    continue
                for upper in range(2):
                    p0, p1, p2 = field_triangle(table, j, cx, cy, upper)
                    q0, q1, q2 = add(turned(R, p0), p), add(turned(R, p1), p), add(turned(R, p2), p)
                    d, m, u, v = _to_triangle(table, A, q0, q1, q2, work, best)
                    if d < best:
                        best, n, a, b = d, m, u, v
    return best, n, a, b


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
            d, n, a, b = _convex_mesh(table, A, centre, half, j, R, p, work)
            overlap = d <= 0.0 or (table.size[4 * j + 2] != 0.0 and winds(table, j, seen, work))
        else:
            d, n, a, b = _convex_field(table, A, centre, half, j, R, p, work)
            overlap = d <= 0.0 or field_depth(table, j, seen)[0] > 0.0
    elif kind_a == MESH and kind_b == MESH:
        d, n, a, b = _mesh_mesh(table, i, j, R, p, work)
        overlap = d <= 0.0 or _one_in_other(table, i, j, R, p, work)
    elif kind_a == MESH and kind_b == HEIGHT_FIELD:
        d, n, a, b = _mesh_field(table, i, j, R, p, work)
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


@native_apart
def _mesh_field(table, i, j, R, p, work):
    """Return distance, normal and points of a mesh and a height field: its triangles one by one."""
    best, n, a, b = 1e300, (0.0, 0.0, 1.0), ZERO, ZERO
    nx, ny = table.index[12 * j + ROWS], table.index[12 * j + COLUMNS]
    for cx in range(nx - 1):
        for cy in range(ny - 1):
            for upper in range(2):
                p0, p1, p2 = field_triangle(table, j, cx, cy, upper)
                q0, q1, q2 = add(turned(R, p0), p), add(turned(R, p1), p), add(turned(R, p2), p)
                put(work.triangle, 4, q0)
                put(work.triangle, 5, q1)
                put(work.triangle, 6, q2)
                T = lone_triangle(work.triangle, 4)
                low, high = lowest(q0, q1, q2), highest(q0, q1, q2)
                centre = (0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2]))
                half = (0.5 * (high[0] - low[0]), 0.5 * (high[1] - low[1]), 0.5 * (high[2] - low[2]))
                d, m, u, v = _convex_mesh(table, T, centre, half, i, _SAME, ZERO, work)
                if d < best:
                    best, n, a, b = d, neg(m), v, u
    return best, n, a, b


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
