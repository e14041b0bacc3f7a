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
    cross,
    dot,
    neg,
    norm,
    row,
    sub,
    three,
    times,
    turned,
    turned_back,
    unit,
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
def crossing_triangles(table, i, j, R, p, work, edges, thin):
    """Write the contacts of all triangles of two meshes that cross, in axes of the first: with `edges` those
    of their edges, else where they cross, up to two each.

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
                pairs += 1
                if thin and count + 9 > work.raw_room:
                    count = thinned_by_normal(work, count)
                if edges:
                    count = edge_pairs(table, i, j, ta, tb, R, p0, p1, p2, q0, q1, q2, work, count)
                elif count + 2 <= work.raw_room:
                    count = _put_crossing(work, count, ta, tb, p0, p1, p2, q0, q1, q2, x, y)
    return count, pairs


@native_apart
def edge_pairs(table, i, j, ta, tb, R, p0, p1, p2, q0, q1, q2, work, count):
    """Write the contacts of edges of two triangles that cross, in axes of the first; return how many there
    are now."""
    for e in range(3):
        x0, x1 = (p0, p1) if e == 0 else ((p1, p2) if e == 1 else (p2, p0))
        stands_a, na, ma = faces_of(table, i, 3 * ta + e)
        if not stands_a:
            continue
        for f in range(3):
            y0, y1 = (q0, q1) if f == 0 else ((q1, q2) if f == 1 else (q2, q0))
            stands_b, nb, mb = faces_of(table, j, 3 * tb + f)
            if stands_b:
                nb, mb = turned(R, nb), turned(R, mb)
                count = _edge_edge(x0, x1, na, ma, y0, y1, nb, mb, ta, tb, work, count)
    return count


@native
def faces_of(table, shape, side):
    """Return whether an edge of a mesh stands out, is no border, and is to be asked by this side; and the
    normals of its two faces."""
    first = table.index[12 * shape + FIRST_FACE]
    twin = table.twin[3 * first + side]
    n = three(table.planes, 4 * (first + side // 3))
    m = three(table.planes, 4 * (first + max(twin, 0) // 3))
    return 0 <= twin < side and table.ridge[first + side // 3] >> (side % 3) & 1 != 0, n, m


@native
def _edge_edge(x0, x1, na, ma, y0, y1, nb, mb, ta, tb, work, count):
    """Write the contact of two edges, if the normal across both is one of either and they pass each other;
    return how many there are now.

    An edge from x0 to x1 has the normals between those of its faces, n and m.
    """
    e, f = sub(x1, x0), sub(y1, y0)
    u = cross(e, f)
    uu = dot(u, u)
    if uu <= 1e-16 * dot(e, e) * dot(f, f):
        return count
    u = unit(u)
    if dot(u, add(na, ma)) < 0.0:
        u = neg(u)
    if _beside(na, u, e) or _beside(u, ma, e) or _beside(nb, neg(u), f) or _beside(neg(u), mb, f):
        return count
    gap = sub(y0, x0)
    depth = -dot(u, gap)
    # x0 + s e + depth' u = y0 + t f
    s, t = dot(cross(gap, f), cross(e, f)) / uu, dot(cross(gap, e), cross(e, f)) / uu
    if depth < 0.0 or s < 0.0 or s > 1.0 or t < 0.0 or t > 1.0:
        return count
    put_contact(work.raw, work.raw_label, count, along(x0, s, e), along(y0, t, f), u, depth, ta, tb)
    work.raw_label[3 * count + 2] = 1
    return count + 1


@native
def _beside(n, m, e):
    """Return whether a normal m is not on the way from n round the edge e."""
    return dot(cross(n, m), e) < -1e-9 * norm(e)


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
