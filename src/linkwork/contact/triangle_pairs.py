"""pairs of triangles that are near <- two solids of triangles: the descent of two trees of oriented boxes, or
of one over the cells of terrain."""

from linkwork.contact.box_overlap_lanes import lane_box, meeting
from linkwork.contact.contact_reduction import copy_contact, thinned_by_normal
from linkwork.contact.containment import in_solid
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.local_solids import IF_A_INSIDE, IF_B_INSIDE
from linkwork.contact.mesh_pairs import put_crossing
from linkwork.contact.near_features import feature_pair, triangle_of
from linkwork.contact.shape_kinds import MESH
from linkwork.contact.shape_table import COLUMNS, FIRST_FOUR, POINT_A, POINT_B, STACK, SUM
from linkwork.contact.terrain import cell
from linkwork.contact.triangles import crossing
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    back_times,
    cross,
    dot,
    neg,
    put,
    row,
    sub,
    three,
    times,
    turned,
    turned_back,
)

_MOST = 15  # contacts of a pair of triangles
# What is written of a pair: the features of triangles that cross; those of all that are near; where triangles
# cross, as surfaces; nothing; nothing, and the first pair that crosses is enough.
CROSSING, NEAR, SURFACES, COUNT, FIRST = range(5)


@native_apart
def triangle_pairs(table, i, j, R, p, work, what, margin):
    """Write the contacts of triangles of mesh i and solid j, placed by R, p in its axes, that come closer
    than `margin`, in axes of the first; return how many contacts, and how many pairs that cross.

    Where there is no more room contacts are thinned out, or, as surfaces, only counted. The row SUM of the
    ring becomes the mean normal of the part of the first that is inside the second: half the sum of x cross
    dx round the line in which they cross (Stokes).
    """
    put(work.ring, SUM, ZERO)
    if table.kind[j] != MESH:
        return _over_cells(table, i, j, R, p, work, what, margin)
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
        # Of two boxes that meet, the larger is replaced by the four below it.
        split_a = a < 0 or under_b < 0 or (under_a >= 0 and dot(half_a, half_a) > dot(half_b, half_b))
        if split_a:
            bits = meeting(four, first + under_a, times(R, Rb), add(turned(R, cb), p), half_b, margin)
        else:
            at = turned_back(R, sub(ca, p))
            bits = meeting(four, second + under_b, back_times(R, Ra), at, half_a, margin)
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
            count, touch = _pair(table, i, ta, j, tb, R, p, work, count, what, margin)
            pairs += touch
            if what == FIRST and touch > 0:
                return count, pairs
    return count, pairs


@native_apart
def _over_cells(table, i, j, R, p, work, what, margin):
    """Do the same with terrain j: every triangle of the mesh that is not above all of it."""
    four, below = table.four_box, table.four_below
    first = table.index[12 * i + FIRST_FOUR]
    ny = table.index[12 * j + COLUMNS]
    middle, half = three(table.reach, 7 * j), three(table.reach, 7 * j + 3)
    stack = work.stack
    stack[0] = 0
    top, count, pairs = 1, 0, 0
    while top > 0:
        top -= 1
        k = stack[top]
        bits = meeting(four, first + k, R, add(turned(R, middle), p), half, margin)
        for lane in range(4):
            if bits >> lane & 1 == 0:
                continue
            under = below[4 * (first + k) + lane]
            if under >= 0:
                if top < STACK:
                    stack[top] = under
                    top += 1
                continue
            low, high = _box_of(table, i, -1 - under, R, p, margin)
            ax, ay, _u, _v = cell(table, j, low[0], low[1])
            bx, by, _u, _v = cell(table, j, high[0], high[1])
            for cx in range(ax, bx + 1):
                for cy in range(ay, by + 1):
                    for upper in range(2):
                        tb = 2 * (cx * (ny - 1) + cy) + upper
                        q0, q1, q2, _m = triangle_of(table, j, tb)
                        if (
                            max(q0[2], max(q1[2], q2[2])) >= low[2]
                            and min(q0[2], min(q1[2], q2[2])) <= high[2]
                        ):
                            count, touch = _pair(table, i, -1 - under, j, tb, R, p, work, count, what, margin)
                            pairs += touch
                            if what == FIRST and touch > 0:
                                return count, pairs
    return count, pairs


@native
def _box_of(table, i, face, R, p, margin):
    """Return the corners of the box round a triangle of a mesh, in the axes of what is placed by R, p."""
    p0, p1, p2, _n = triangle_of(table, i, face)
    x, y, z = turned_back(R, sub(p0, p)), turned_back(R, sub(p1, p)), turned_back(R, sub(p2, p))
    return (
        (
            min(x[0], min(y[0], z[0])) - margin,
            min(x[1], min(y[1], z[1])) - margin,
            min(x[2], min(y[2], z[2])) - margin,
        ),
        (
            max(x[0], max(y[0], z[0])) + margin,
            max(x[1], max(y[1], z[1])) + margin,
            max(x[2], max(y[2], z[2])) + margin,
        ),
    )


@native_apart
def _pair(table, i, ta, j, tb, R, p, work, count, what, margin):
    """Write what is asked of two triangles; return how many contacts there are now, and 1 if they cross."""
    if what == NEAR:
        if count + _MOST > work.raw_room:
            count = thinned_by_normal(work, 0, count)
        return feature_pair(table, i, ta, j, tb, R, p, work, count, -margin, margin, True), 0
    p0, p1, p2, n = triangle_of(table, i, ta)
    q0, q1, q2, m = triangle_of(table, j, tb)
    q0, q1, q2 = add(turned(R, q0), p), add(turned(R, q1), p), add(turned(R, q2), p)
    touch, x, y = crossing(p0, p1, p2, q0, q1, q2)
    if not touch:
        return count, 0
    if what == SURFACES:
        if count + 2 <= work.raw_room:
            count = put_crossing(work, count, ta, tb, p0, p1, p2, q0, q1, q2, x, y)
        return count, 1
    if what == CROSSING:
        if count + _MOST > work.raw_room:
            count = thinned_by_normal(work, 0, count)
        count = feature_pair(table, i, ta, j, tb, R, p, work, count, 0.0, 1e300, False)
    sign = dot(cross(n, turned(R, m)), sub(y, x))
    area = cross(x, y)
    put(work.ring, SUM, along(row(work.ring, SUM), 0.5, area if sign > 0.0 else neg(area)))
    return count, 1


@native_apart
def near_triangles(table, i, j, R, p, work, margin):
    """Write the contacts of the two where they are apart, or overlap, by less than `margin`; return how
    many."""
    count, _pairs = triangle_pairs(table, i, j, R, p, work, NEAR, margin)
    left = 0
    for k in range(count):
        label, real = work.raw_label[3 * k + 2], True
        if label == IF_A_INSIDE:
            real = in_solid(table, j, turned_back(R, sub(three(work.raw, 10 * k + POINT_A), p)), work)
        elif label == IF_B_INSIDE:
            real = in_solid(table, i, three(work.raw, 10 * k + POINT_B), work)
        if real:
            copy_contact(work.raw, work.raw_label, k, left)
            left += 1
    return left
