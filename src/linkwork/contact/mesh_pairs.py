"""contacts <- two meshes: the descent of two trees of oriented boxes, and triangles that cross."""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.four_boxes import lane_box, meeting
from linkwork.contact.manifold import put_contact, thinned_by_normal
from linkwork.contact.shape_table import FIRST_FACE, FIRST_FOUR, FIRST_POINT, STACK
from linkwork.contact.triangles import contact_of, crossing
from linkwork.geometry.vectors import (
    add,
    along,
    back_times,
    dot,
    row,
    sub,
    times,
    turned,
    turned_back,
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
    contacts are thinned out, or, without `thin`, only counted. Of two boxes that meet, the larger is replaced
    by the four below it.
    """
    four, below = table.four_box, table.four_below
    first, second = table.index[12 * i + FIRST_FOUR], table.index[12 * j + FIRST_FOUR]
    stack = work.stack
    stack[0], stack[1] = -1, 0  # pairs of lanes that meet; above the root of the first there is none
    top, count, pairs = 1, 0, 0
    while top > 0:
        top -= 1
        a, b = stack[2 * top], stack[2 * top + 1]
        under_a, under_b = 0 if a < 0 else below[4 * first + a], below[4 * second + b]
        Ra, ca, half_a = lane_box(four, 4 * first + max(a, 0))
        Rb, cb, half_b = lane_box(four, 4 * second + b)
        split_a = a < 0 or under_b < 0 or (under_a >= 0 and dot(half_a, half_a) > dot(half_b, half_b))
        if split_a:
            bits = meeting(four, first + under_a, times(R, Rb), add(turned(R, cb), p), half_b, 0.0)
        else:
            bits = meeting(four, second + under_b, back_times(R, Ra), turned_back(R, sub(ca, p)), half_a, 0.0)
        for lane in range(4):
            if bits >> lane & 1 == 0:
                continue
            if split_a:
                a = 4 * under_a + lane
            else:
                b = 4 * under_b + lane
            ta, tb = -1 - below[4 * first + a], -1 - below[4 * second + b]
            if ta < 0 or tb < 0:
                if top < STACK:
                    stack[2 * top], stack[2 * top + 1] = a, b
                    top += 1
                continue
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
