"""distance, closest points <- a surface of triangles and another, or a convex shape: by descent of their
trees, the nearer boxes first.

A box that lies farther than the best found so far is left out.
"""

from math import sqrt

from linkwork.contact.convex_pairs import closest
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.shape_table import COLUMNS, FIRST_NODE, ROWS, STACK
from linkwork.contact.support import lone_triangle
from linkwork.contact.terrain import cell, field_triangle, half_widths
from linkwork.geometry.vectors import (
    ZERO,
    add,
    back_times,
    dot,
    highest,
    lowest,
    neg,
    nine,
    put,
    sub,
    three,
    times,
    turned,
    turned_back,
)

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
def convex_mesh(table, A, centre, half, j, R, p, work, longest):
    """Return distance, normal and points of a convex shape, in a box, and a mesh, in axes of the shape;
    `longest` if that is less."""
    boxes, child = table.node_box, table.node_child
    first = table.index[12 * j + FIRST_NODE]
    stack = work.stack
    stack[STACK] = 0
    top = 1
    best, n, a, b = longest, (0.0, 0.0, 1.0), ZERO, ZERO
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
def mesh_mesh(table, i, j, R, p, work, longest):
    """Return distance, normal and points of two meshes, in axes of the first; `longest` if that is less."""
    boxes, child = table.node_box, table.node_child
    first, second = table.index[12 * i + FIRST_NODE], table.index[12 * j + FIRST_NODE]
    stack = work.stack
    stack[STACK], stack[STACK + 1] = 0, 0
    top = 1
    best, n, a, b = longest, (0.0, 0.0, 1.0), ZERO, ZERO
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
def convex_field(table, A, centre, half, j, R, p, work):
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
def mesh_field(table, i, j, R, p, work, longest):
    """Return distance, normal and points of a mesh and a height field, `longest` if that is less: the
    triangles of cells under it one by one."""
    best, n, a, b = longest, (0.0, 0.0, 1.0), ZERO, ZERO
    at, wide = turned_back(R, sub(three(table.reach, 7 * i), p)), half_widths(table, i, R, longest)
    low_x, low_y, _u, _v = cell(table, j, at[0] - wide[0], at[1] - wide[1])
    high_x, high_y, _u, _v = cell(table, j, at[0] + wide[0], at[1] + wide[1])
    for cx in range(low_x, high_x + 1):
        for cy in range(low_y, high_y + 1):
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
                d, m, u, v = convex_mesh(table, T, centre, half, i, _SAME, ZERO, work, best)
                if d < best:
                    best, n, a, b = d, neg(m), v, u
    return best, n, a, b
