"""contacts <- a convex shape and a surface of triangles: a mesh (by its tree) or a height field (by its
grid).

A surface bounds a solid, so a triangle pushes only outward. The normal of a contact at an edge may lie
between those of its two faces, but only where the edge stands out; at an edge that is flat or hollow it is
the face's own. Otherwise a box that slides over a floor of triangles would stumble over the seams.
"""

from math import floor

from linkwork.contact.convex_pairs import closest
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.four_boxes import meeting
from linkwork.contact.gjk import triangle_weights
from linkwork.contact.manifold import points_of_contact, put_contact, thinned_by_normal
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.shape_table import (
    COLUMNS,
    FIRST_FACE,
    FIRST_FOUR,
    FIRST_HEIGHT,
    FIRST_NODE,
    ROWS,
    STACK,
)
from linkwork.contact.support import lone_triangle, support
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    cross,
    dot,
    highest,
    lowest,
    neg,
    nine,
    norm,
    put,
    sub,
    three,
    transposed,
    turned,
    turned_back,
    unit,
)

_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_AT_EDGE = 1e-9  # weight of a corner below which a point is on the opposite edge


@native_apart
def convex_mesh(table, A, i, j, R, p, work, margin):
    """Write the contacts of convex shape i with mesh j, placed by R, p in its axes; return how many."""
    four, below = table.four_box, table.four_below
    first = table.index[12 * j + FIRST_FOUR]
    half = three(table.reach, 7 * i + 3)
    centre, axes = turned_back(R, sub(three(table.reach, 7 * i), p)), transposed(R)
    stack = work.stack
    top, count = 1, 0
    stack[STACK] = 0  # the lower half is for the polytope
    while top > 0:
        top -= 1
        k = stack[STACK + top]
        bits = meeting(four, first + k, axes, centre, half, margin)
        for lane in range(4):
            if bits >> lane & 1 == 0:
                continue
            under = below[4 * (first + k) + lane]
            if under >= 0:
                if top < STACK:
                    stack[STACK + top] = under
                    top += 1
                continue
            triangle = -1 - under
            p0, p1, p2 = corners(table, j, triangle)
            ridge = table.ridge[table.index[12 * j + FIRST_FACE] + triangle]
            p0, p1, p2 = add(turned(R, p0), p), add(turned(R, p1), p), add(turned(R, p2), p)
            count = _convex_triangle(table, A, p0, p1, p2, ridge, triangle, work, count, margin)
    return count


@native_apart
def _convex_triangle(table, A, p0, p1, p2, ridge, triangle, work, count, margin):
    """Write the contacts with one triangle, in axes of the shape; return how many there are now."""
    if count + 32 > work.raw_room:
        count = thinned_by_normal(work, count)
    put(work.triangle, 0, p0)
    put(work.triangle, 1, p1)
    put(work.triangle, 2, p2)
    T = lone_triangle(work.triangle, 0)
    depth, n, a, b = closest(A, T, _SAME, ZERO, work, margin)
    if depth < -margin:
        return count
    out = cross(sub(p1, p0), sub(p2, p0))
    if dot(out, out) > 0.0:
        out = unit(out)
        square = -dot(n, out)
        if square < 1.0 - 1e-9 and (square < 0.0 or not _stands_out(p0, p1, p2, b, ridge)):
            a = along(support(A, neg(out)), -A.radius, out)
            depth = dot(out, sub(p0, a))
            n = neg(out)
            b = along(a, depth, out)
    many = points_of_contact(
        table, A, T, _SAME, ZERO, depth, n, a, b, work, work.raw, work.raw_label, count, margin
    )
    for k in range(count, count + many):
        work.raw_label[3 * k + 1] = triangle
    return count + many


@native
def _stands_out(p0, p1, p2, x, ridge):
    """Return whether a point of a triangle is on an edge that stands out."""
    l0, l1, l2 = triangle_weights(sub(p0, x), sub(p1, x), sub(p2, x))
    on = 0
    if l2 <= _AT_EDGE:
        on |= 1
    if l0 <= _AT_EDGE:
        on |= 2
    if l1 <= _AT_EDGE:
        on |= 4
    return (on & ridge) != 0


@native
def cell(table, j, x, y):
    """Return the column, the row and the place within the cell of a point over a height field.

    Heights are (nx, ny) over a rectangle of size[0] by size[1] about the origin. Clipped to the field.
    """
    nx, ny = table.index[12 * j + ROWS], table.index[12 * j + COLUMNS]
    u = (x / table.size[4 * j] + 0.5) * (nx - 1)
    v = (y / table.size[4 * j + 1] + 0.5) * (ny - 1)
    cx, cy = int(min(max(floor(u), 0.0), nx - 2.0)), int(min(max(floor(v), 0.0), ny - 2.0))
    return cx, cy, u - cx, v - cy


@native
def grid_point(table, j, cx, cy):
    """Return a point of a height field."""
    nx, ny = table.index[12 * j + ROWS], table.index[12 * j + COLUMNS]
    x = table.size[4 * j] * (cx / (nx - 1.0) - 0.5)
    y = table.size[4 * j + 1] * (cy / (ny - 1.0) - 0.5)
    return x, y, table.heights[table.index[12 * j + FIRST_HEIGHT] + cx * ny + cy]


@native
def field_triangle(table, j, cx, cy, upper):
    """Return the corners of one of the two triangles of a cell, which its diagonal from low to high
    divides."""
    a, c = grid_point(table, j, cx, cy), grid_point(table, j, cx + 1, cy + 1)
    if upper == 0:
        return a, grid_point(table, j, cx + 1, cy), c
    return a, c, grid_point(table, j, cx, cy + 1)


@native_apart
def _field_ridges(table, j, cx, cy, upper, p0, p1, p2):
    """Return which edges of a triangle of a height field stand out: the corner across lies below its
    plane."""
    nx, ny = table.index[12 * j + ROWS], table.index[12 * j + COLUMNS]
    n = cross(sub(p1, p0), sub(p2, p0))
    ridge = 0
    for e in range(3):
        if upper == 0:
            ax, ay = (cx, cy - 1) if e == 0 else ((cx + 2, cy + 1) if e == 1 else (cx, cy + 1))
        else:
            ax, ay = (cx + 1, cy) if e == 0 else ((cx + 1, cy + 2) if e == 1 else (cx - 1, cy))
        if (
            ax < 0
            or ay < 0
            or ax >= nx
            or ay >= ny
            or dot(n, sub(grid_point(table, j, ax, ay), p0)) < -1e-9 * norm(n)
        ):
            ridge |= 1 << e
    return ridge


@native
def field_depth(table, j, x):
    """Return how far a point lies below a height field (negative: above) and the normal there, in its own
    axes;
    -inf where there is no field."""
    if abs(x[0]) > 0.5 * table.size[4 * j] or abs(x[1]) > 0.5 * table.size[4 * j + 1]:
        return -1e300, (0.0, 0.0, 1.0)
    cx, cy, u, v = cell(table, j, x[0], x[1])
    p0, p1, p2 = field_triangle(table, j, cx, cy, 0 if u >= v else 1)
    n = unit(cross(sub(p1, p0), sub(p2, p0)))
    return dot(n, sub(p0, x)) / n[2], n


@native
def convex_field(table, A, i, j, R, p, work, margin):
    """Write the contacts of convex shape i with height field j, placed by R, p in its axes; return how
    many."""
    # The box round the shape, in axes of the field.
    B = transposed(R)
    centre = turned_back(R, sub(three(table.reach, 7 * i), p))
    half = three(table.reach, 7 * i + 3)
    wide = (
        abs(B[0]) * half[0] + abs(B[1]) * half[1] + abs(B[2]) * half[2] + margin,
        abs(B[3]) * half[0] + abs(B[4]) * half[1] + abs(B[5]) * half[2] + margin,
        abs(B[6]) * half[0] + abs(B[7]) * half[1] + abs(B[8]) * half[2] + margin,
    )
    return _over_cells(table, A, j, R, p, centre, wide, work, margin)


@native_apart
def _over_cells(table, A, j, R, p, centre, wide, work, margin):
    size_x, size_y = table.size[4 * j], table.size[4 * j + 1]
    if abs(centre[0]) > 0.5 * size_x + wide[0] or abs(centre[1]) > 0.5 * size_y + wide[1]:
        return 0
    low_x, low_y, _u, _v = cell(table, j, centre[0] - wide[0], centre[1] - wide[1])
    high_x, high_y, _u, _v = cell(table, j, centre[0] + wide[0], centre[1] + wide[1])
    bottom = centre[2] - wide[2]
    top = centre[2] + wide[2]
    count = 0
    for cx in range(low_x, high_x + 1):
        for cy in range(low_y, high_y + 1):
            for upper in range(2):
                p0, p1, p2 = field_triangle(table, j, cx, cy, upper)
                if max(p0[2], max(p1[2], p2[2])) < bottom or min(p0[2], min(p1[2], p2[2])) > top:
                    continue
                ridge = _field_ridges(table, j, cx, cy, upper, p0, p1, p2)
                q0, q1, q2 = add(turned(R, p0), p), add(turned(R, p1), p), add(turned(R, p2), p)
                label = 2 * (cx * (table.index[12 * j + COLUMNS] - 1) + cy) + upper
                count = _convex_triangle(table, A, q0, q1, q2, ridge, label, work, count, margin)
    if count == 0:  # it may be under the surface altogether
        deep, n = field_depth(table, j, centre)
        if deep > 0.0:
            m = turned(R, n)
            a = along(support(A, neg(m)), -A.radius, m)
            foot = add(turned(R, (centre[0], centre[1], centre[2] + deep)), p)
            depth = dot(m, sub(foot, a))
            put_contact(work.raw, work.raw_label, 0, a, along(a, depth, m), neg(m), depth, 0, 0)
            count = 1
    return count


@native
def triangle_field(table, p0, p1, p2, j, R, p, triangle, work, count, margin):
    """Write the contacts of a triangle with height field j, placed by R, p in the triangle's axes."""
    put(work.triangle, 4, p0)
    put(work.triangle, 5, p1)
    put(work.triangle, 6, p2)
    A = lone_triangle(work.triangle, 4)
    q0, q1, q2 = turned_back(R, sub(p0, p)), turned_back(R, sub(p1, p)), turned_back(R, sub(p2, p))
    low, high = lowest(q0, q1, q2), highest(q0, q1, q2)
    low_x, low_y, _u, _v = cell(table, j, low[0] - margin, low[1] - margin)
    high_x, high_y, _u, _v = cell(table, j, high[0] + margin, high[1] + margin)
    for cx in range(low_x, high_x + 1):
        for cy in range(low_y, high_y + 1):
            for upper in range(2):
                x, y, z = field_triangle(table, j, cx, cy, upper)
                if (
                    max(x[2], max(y[2], z[2])) < low[2] - margin
                    or min(x[2], min(y[2], z[2])) > high[2] + margin
                ):
                    continue
                before = count
                x, y, z = add(turned(R, x), p), add(turned(R, y), p), add(turned(R, z), p)
                label = 2 * (cx * (table.index[12 * j + COLUMNS] - 1) + cy) + upper
                count = _convex_triangle(table, A, x, y, z, 0, label, work, count, margin)
                for k in range(before, count):
                    work.raw_label[3 * k] = triangle
    return count


@native_apart
def mesh_field(table, i, j, R, p, work, margin):
    """Write the contacts of mesh i with height field j, placed by R, p in the mesh's axes; return how
    many."""
    boxes, child = table.node_box, table.node_child
    first = table.index[12 * i + FIRST_NODE]
    stack = work.stack
    stack[STACK] = 0
    top, count = 1, 0
    highest = three(table.reach, 7 * j)[2] + three(table.reach, 7 * j + 3)[2]
    while top > 0:
        top -= 1
        node = first + stack[STACK + top]
        k = 15 * node
        c, half = turned_back(R, sub(three(boxes, k + 9), p)), three(boxes, k + 12)
        M = nine(boxes, k)
        z = (R[2], R[5], R[8])
        d = turned_back(M, z)
        if c[2] - abs(d[0]) * half[0] - abs(d[1]) * half[1] - abs(d[2]) * half[2] > highest + margin:
            continue
        if child[2 * node] >= 0:
            if top + 2 <= STACK:
                stack[STACK + top], stack[STACK + top + 1] = child[2 * node + 1], child[2 * node]
                top += 2
            continue
        triangle = -1 - child[2 * node]
        p0, p1, p2 = corners(table, i, triangle)
        count = triangle_field(table, p0, p1, p2, j, R, p, triangle, work, count, margin)
    return count
