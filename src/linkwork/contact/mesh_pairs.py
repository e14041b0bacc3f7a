"""contacts <- two meshes: the descent of two trees of oriented boxes, and triangles that cross."""

from linkwork.contact.manifold import put_contact, thinned_by_normal
from linkwork.contact.table import FIRST_FACE, FIRST_NODE, FIRST_POINT, STACK
from linkwork.contact.triangles import contact_of, crossing
from linkwork.contact.vectors import (
    add,
    along,
    back_times,
    dot,
    nine,
    row,
    sub,
    three,
    times,
    turned,
    turned_back,
)
from linkwork.trace.compiled import native, native_apart

_EPSILON = 1e-12  # on the cosines: axes of edges that are nearly parallel say nothing


@native
def boxes_apart(R, t, a, b, reach):
    """Tell whether boxes of half widths a and b, the second placed by R, t, are farther apart than `reach`
    along one of the fifteen axes (Gottschalk, Lin, Manocha 1996, section 5)."""
    if abs(t[0]) > a[0] + b[0] * abs(R[0]) + b[1] * abs(R[1]) + b[2] * abs(R[2]) + reach:
        return True
    if abs(t[1]) > a[1] + b[0] * abs(R[3]) + b[1] * abs(R[4]) + b[2] * abs(R[5]) + reach:
        return True
    if abs(t[2]) > a[2] + b[0] * abs(R[6]) + b[1] * abs(R[7]) + b[2] * abs(R[8]) + reach:
        return True
    if abs(t[0] * R[0] + t[1] * R[3] + t[2] * R[6]) > (
        b[0] + a[0] * abs(R[0]) + a[1] * abs(R[3]) + a[2] * abs(R[6]) + reach
    ):
        return True
    if abs(t[0] * R[1] + t[1] * R[4] + t[2] * R[7]) > (
        b[1] + a[0] * abs(R[1]) + a[1] * abs(R[4]) + a[2] * abs(R[7]) + reach
    ):
        return True
    if abs(t[0] * R[2] + t[1] * R[5] + t[2] * R[8]) > (
        b[2] + a[0] * abs(R[2]) + a[1] * abs(R[5]) + a[2] * abs(R[8]) + reach
    ):
        return True
    Q0, Q1, Q2 = abs(R[0]) + _EPSILON, abs(R[1]) + _EPSILON, abs(R[2]) + _EPSILON
    Q3, Q4, Q5 = abs(R[3]) + _EPSILON, abs(R[4]) + _EPSILON, abs(R[5]) + _EPSILON
    Q6, Q7, Q8 = abs(R[6]) + _EPSILON, abs(R[7]) + _EPSILON, abs(R[8]) + _EPSILON
    return (
        abs(t[2] * R[3] - t[1] * R[6]) > a[1] * Q6 + a[2] * Q3 + b[1] * Q2 + b[2] * Q1 + reach
        or abs(t[2] * R[4] - t[1] * R[7]) > a[1] * Q7 + a[2] * Q4 + b[0] * Q2 + b[2] * Q0 + reach
        or abs(t[2] * R[5] - t[1] * R[8]) > a[1] * Q8 + a[2] * Q5 + b[0] * Q1 + b[1] * Q0 + reach
        or abs(t[0] * R[6] - t[2] * R[0]) > a[0] * Q6 + a[2] * Q0 + b[1] * Q5 + b[2] * Q4 + reach
        or abs(t[0] * R[7] - t[2] * R[1]) > a[0] * Q7 + a[2] * Q1 + b[0] * Q5 + b[2] * Q3 + reach
        or abs(t[0] * R[8] - t[2] * R[2]) > a[0] * Q8 + a[2] * Q2 + b[0] * Q4 + b[1] * Q3 + reach
        or abs(t[1] * R[0] - t[0] * R[3]) > a[0] * Q3 + a[1] * Q0 + b[1] * Q8 + b[2] * Q7 + reach
        or abs(t[1] * R[1] - t[0] * R[4]) > a[0] * Q4 + a[1] * Q1 + b[0] * Q8 + b[2] * Q6 + reach
        or abs(t[1] * R[2] - t[0] * R[5]) > a[0] * Q5 + a[1] * Q2 + b[0] * Q7 + b[1] * Q6 + reach
    )


@native
def corners(table, shape, triangle):
    """Return the three corners of a triangle of a mesh."""
    k = 12 * shape
    f = 3 * (table.index[k + FIRST_FACE] + triangle)
    first = table.index[k + FIRST_POINT]
    return (
        row(table.points, first + table.faces[f]),
        row(table.points, first + table.faces[f + 1]),
        row(table.points, first + table.faces[f + 2]),
    )


@native_apart
def mesh_mesh(table, i, j, R, p, work, thin):
    """Write the contacts of all triangles of two meshes that touch, up to two each, in axes of the first.

    Return how many contacts, and how many pairs of triangles there are. Where there is no more room the
    contacts are thinned out, or, without `thin`, only counted.
    """
    boxes, child = table.node_box, table.node_child
    first, second = table.index[12 * i + FIRST_NODE], table.index[12 * j + FIRST_NODE]
    stack = work.stack
    stack[0], stack[1] = 0, 0
    top, count, pairs = 1, 0, 0
    while top > 0:
        top -= 1
        a, b = stack[2 * top], stack[2 * top + 1]
        ka, kb = 15 * (first + a), 15 * (second + b)
        half_a, half_b = three(boxes, ka + 12), three(boxes, kb + 12)
        Ra = nine(boxes, ka)
        t = turned_back(Ra, sub(add(turned(R, three(boxes, kb + 9)), p), three(boxes, ka + 9)))
        Q = back_times(Ra, times(R, nine(boxes, kb)))
        if boxes_apart(Q, t, half_a, half_b, 0.0):
            continue
        ca, cb = 2 * (first + a), 2 * (second + b)
        leaf_a, leaf_b = child[ca] < 0, child[cb] < 0
        if leaf_a and leaf_b:
            ta, tb = -1 - child[ca], -1 - child[cb]
            p0, p1, p2 = corners(table, i, ta)
            q0, q1, q2 = corners(table, j, tb)
            q0, q1, q2 = add(turned(R, q0), p), add(turned(R, q1), p), add(turned(R, q2), p)
            touch, x, y = crossing(p0, p1, p2, q0, q1, q2)
            if touch:
                if thin and count + 2 > work.raw_room:
                    count = thinned_by_normal(work, count)
                if count + 2 <= work.raw_room:
                    count = _put_crossing(work, count, ta, tb, p0, p1, p2, q0, q1, q2, x, y)
                pairs += 1
        elif top + 2 <= STACK:
            if leaf_b or (not leaf_a and dot(half_a, half_a) > dot(half_b, half_b)):
                stack[2 * top], stack[2 * top + 1] = child[ca + 1], b
                stack[2 * top + 2], stack[2 * top + 3] = child[ca], b
            else:
                stack[2 * top], stack[2 * top + 1] = a, child[cb + 1]
                stack[2 * top + 2], stack[2 * top + 3] = a, child[cb]
            top += 2
    return count, pairs


@native
def _put_crossing(work, count, ta, tb, p0, p1, p2, q0, q1, q2, x, y):
    """Write the ends of the segment in which two triangles cross as contacts; return how many there are
    now."""
    depth, n, of_b = contact_of(p0, p1, p2, q0, q1, q2)
    gap = sub(y, x)
    ends = 2 if dot(gap, gap) > 1e-24 else 1
    for e in range(ends):
        z = x if e == 0 else y
        a = along(z, depth, n) if of_b == 1 else z
        b = along(z, -depth, n) if of_b == 0 else z
        put_contact(work.raw, work.raw_label, count, a, b, n, depth, ta, tb)
        count += 1
    return count
