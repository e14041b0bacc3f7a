"""contacts <- a convex shape and a solid that triangles bound: a mesh (by its tree) or a height field (by its
grid).

Every face, edge and corner of the solid near the shape is asked for a least depth (`local_solids`); those are
kept that the others leave (`necessary_contacts`). Edges that are flat or hollow are not asked: a box that
slides over a floor of triangles does not stumble over the seams.
"""

from linkwork.contact.box_overlap_lanes import meeting
from linkwork.contact.contact_reduction import swap_contacts, thinned_by_normal
from linkwork.contact.containment import holds, in_solid, winds
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.gjk import APART, NEAR, gjk
from linkwork.contact.local_solids import (
    BESIDE,
    IF_A_INSIDE,
    LEAST,
    corner_contacts,
    edge_contacts,
    face_contacts,
    passes_edge,
)
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.necessary_contacts import necessary, with_least_depths
from linkwork.contact.round_pairs import core_in, is_nearer
from linkwork.contact.shape_kinds import CAPSULE, MESH
from linkwork.contact.shape_table import (
    COLUMNS,
    DEPTH,
    FIRST_FACE,
    FIRST_FOUR,
    FIRST_HEIGHT,
    FIRST_POINT,
    POINT_A,
    POINT_B,
    ROWS,
    STACK,
    SUM,
)
from linkwork.contact.support import lone_triangle
from linkwork.contact.terrain import cell, field_across, field_triangle, grid_point, half_widths
from linkwork.contact.tree_descent import in_root
from linkwork.contact.vertex_stars import field_star, mesh_star
from linkwork.geometry.vectors import (
    ZERO,
    add,
    cross,
    dot,
    norm,
    put,
    row,
    sub,
    three,
    transposed,
    turned,
    turned_back,
    unit,
)

_FAR = 8.0  # radii of the shape: where local solids end
_MOST = 32  # contacts of one triangle, at most
_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
# What is asked of triangles: least depths, those of solids that nearly touch, which are touched, or if any.
LEAST_DEPTHS, NEARLY, TOUCHED, ANY = range(4)
_EXACT = 1e-14  # between the bounds of the squared distance from a triangle
_STANDS_OUT = 1e-6  # sine of the angle from which on an edge of terrain is no longer flat


@native_apart
def convex_contacts(table, A, i, j, R, p, work, margin):
    """Write the contacts of convex shape i with mesh or height field j, placed by R, p in its axes; return
    how many."""
    count = _asked(table, A, i, j, R, p, work, margin, LEAST_DEPTHS)
    if count == 0 and table.kind[j] == MESH and table.size[4 * j + 2] != 0.0:  # it may be inside altogether
        x = turned_back(R, sub(three(table.reach, 7 * i), p))
        if in_root(table, j, x) and winds(table, j, x, work):
            count = _near_triangles(table, A, i, j, R, p, work, margin, 1e100, LEAST_DEPTHS)
    count = _real(table, i, j, R, p, work, count)
    return necessary(work, count, table.reach[7 * i + 6], 1)


@native_apart
def near_contacts(table, A, i, j, R, p, work, margin):
    """Write the contacts of the two where they are apart, or overlap, by less than `margin`; return how many.

    In a hollow A's deepest point below a face may be beside the face, and below all of its neighbours, too:
    then it is a contact with each. A point that goes with no least depth is none, even if it is apart: what
    is over it is no obstacle, and a move that it held would be longer than it need be.
    """
    count = _asked(table, A, i, j, R, p, work, margin, NEARLY)
    left = 0
    for k in range(count):
        real = work.raw_label[3 * k + 2] != IF_A_INSIDE
        if not real:
            a = three(work.raw, 10 * k + POINT_A)
            real = in_solid(table, j, turned_back(R, sub(a, p)), work)
            work.raw_label[3 * k + 2] = LEAST
        if real and work.raw[10 * k + DEPTH] <= margin:
            swap_contacts(work.raw, work.raw_label, 3, left, k)
            left += 1
    return with_least_depths(work, left, table.reach[7 * i + 6], -1e300)


@native_apart
def touched_triangles(table, A, i, j, R, p, work, what):
    """Return how many triangles of j are TOUCHED; the row SUM of the ring becomes the sum of their normals.
    For ANY the first will do."""
    put(work.ring, SUM, ZERO)
    return _asked(table, A, i, j, R, p, work, 0.0, what)


@native_apart
def _asked(table, A, i, j, R, p, work, margin, what):
    """Ask what is near of mesh or height field j; return how many contacts, or triangles, there are."""
    if table.kind[j] == MESH:
        return _near_triangles(table, A, i, j, R, p, work, margin, margin, what)
    centre = turned_back(R, sub(three(table.reach, 7 * i), p))
    size = _FAR * table.reach[7 * i + 6]
    return _over_cells(
        table, A, size, j, R, p, centre, half_widths(table, i, R, margin), work, 0, margin, what
    )


@native_apart
def _real(table, i, j, R, p, work, count):
    """Keep the contacts in which the two overlap: the point of one is inside the other. Return how many.

    A shape that is near the one side of a plate, and does not touch it, is far below the other.
    """
    slack = 1e-9 * table.reach[7 * i + 6]
    left = 0
    for k in range(count):
        real = work.raw[10 * k + DEPTH] <= slack or work.raw_label[3 * k + 2] == BESIDE
        if not real:
            a, b = three(work.raw, 10 * k + POINT_A), three(work.raw, 10 * k + POINT_B)
            real = holds(table, i, b, work, 0) or holds(table, j, turned_back(R, sub(a, p)), work, 1)
        if real:
            swap_contacts(work.raw, work.raw_label, 3, left, k)
            left += 1
    return left


@native_apart
def _touches(A, p0, p1, p2, work):
    """Return 1 if A touches a triangle, and add its normal, by its area, to the sum; else 0."""
    put(work.triangle, 0, p0)
    put(work.triangle, 1, p1)
    put(work.triangle, 2, p2)
    T = lone_triangle(work.triangle, 0)
    ended, v, _n, _l, _m = gjk(A, T, _SAME, ZERO, work.w, work.a, ZERO, A.radius, _EXACT)
    if ended == APART or (ended == NEAR and norm(v) >= A.radius):
        return 0
    put(work.ring, SUM, add(row(work.ring, SUM), cross(sub(p1, p0), sub(p2, p0))))
    return 1


@native_apart
def _near_triangles(table, A, i, j, R, p, work, margin, reach, what):
    """Ask the features of all triangles whose boxes come closer to the shape than `reach`; or count those
    that are touched."""
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
        bits = meeting(four, first + k, axes, centre, half, reach)
        for lane in range(4):
            if bits >> lane & 1 == 0:
                continue
            under = below[4 * (first + k) + lane]
            if under >= 0:
                if top < STACK:
                    stack[STACK + top] = under
                    top += 1
                continue
            if what >= TOUCHED:
                p0, p1, p2 = corners(table, j, -1 - under)
                p0, p1, p2 = add(turned(R, p0), p), add(turned(R, p1), p), add(turned(R, p2), p)
                count += _touches(A, p0, p1, p2, work)
                if what == ANY and count > 0:
                    return count
                continue
            if count + _MOST > work.raw_room:
                count = thinned_by_normal(work, 0, count)
            count = _mesh_triangle(table, A, i, j, -1 - under, R, p, work, count, margin, what)
    return count


@native_apart
def _mesh_triangle(table, A, i, j, triangle, R, p, work, count, margin, what):
    """Ask a triangle of a mesh, and the edges and corners that it asks for others."""
    p0, p1, p2 = corners(table, j, triangle)
    p0, p1, p2 = add(turned(R, p0), p), add(turned(R, p1), p), add(turned(R, p2), p)
    first = table.index[12 * j + FIRST_FACE]
    n = turned(R, three(table.planes, 4 * (first + triangle)))
    if not dot(n, n) > 0.5:
        return count  # without area
    centre, size = three(table.reach, 7 * i), _FAR * table.reach[7 * i + 6]
    loose = what == NEARLY
    count, depth, a = face_contacts(table, A, size, p0, p1, p2, n, triangle, work, count, margin, loose)
    if depth < -margin:
        return count
    for e in range(3):
        side = 3 * triangle + e
        q0, q1 = (p0, p1) if e == 0 else ((p1, p2) if e == 1 else (p2, p0))
        twin = table.twin[3 * first + side]
        if twin < side:
            if twin < 0:  # a border: the surface ends, and stands upright there
                m = unit(cross(sub(q1, q0), n))
            else:
                m = turned(R, three(table.planes, 4 * (first + twin // 3)))
            count = _edge(table, A, centre, size, a, q0, q1, n, m, triangle, work, count, margin)
        corner = table.index[12 * j + FIRST_POINT] + table.faces[3 * first + side]
        if table.leaving[corner] == side:
            many = mesh_star(table, j, side, R, work)
            if many > 2:
                count = corner_contacts(A, size, q0, many, triangle, work, count, margin)
    return count


@native_apart
def _over_cells(table, A, size, j, R, p, centre, wide, work, count, margin, what):
    """Ask the features of all cells under a box, in the field's axes; return how many contacts there are
    now."""
    size_x, size_y = table.size[4 * j], table.size[4 * j + 1]
    if abs(centre[0]) > 0.5 * size_x + wide[0] or abs(centre[1]) > 0.5 * size_y + wide[1]:
        return count
    low_x, low_y, _u, _v = cell(table, j, centre[0] - wide[0], centre[1] - wide[1])
    high_x, high_y, _u, _v = cell(table, j, centre[0] + wide[0], centre[1] + wide[1])
    bottom = centre[2] - wide[2]
    ny = table.index[12 * j + COLUMNS]
    middle, radius = add(turned(R, centre), p), size / _FAR
    rounded = A.kind <= CAPSULE
    core, thick = (core_in(A, R), A.radius + margin) if rounded else (ZERO, radius + margin)
    for cx in range(low_x, high_x + 1):
        for cy in range(low_y, high_y + 1):
            if count + 3 * _MOST > work.raw_room:
                count = thinned_by_normal(work, 0, count)
            for upper in range(2):
                p0, p1, p2 = field_triangle(table, j, cx, cy, upper)
                if max(p0[2], max(p1[2], p2[2])) < bottom or _is_above(centre, core, thick, p0, p1, p2):
                    continue
                p0, p1, p2 = add(turned(R, p0), p), add(turned(R, p1), p), add(turned(R, p2), p)
                if what >= TOUCHED:
                    count += _touches(A, p0, p1, p2, work)
                    if what == ANY and count > 0:
                        return count
                    continue
                count = _field_triangle(
                    table, A, middle, size, j, cx, cy, upper, p0, p1, p2, R, work, count, margin, what
                )
    for cx in range(low_x, high_x + 2 if what < TOUCHED else low_x):
        for cy in range(low_y, high_y + 2):
            v = grid_point(table, j, cx, cy)
            if rounded and _is_aside(centre, core, thick, v):
                continue
            if v[2] >= bottom and _may_be_at(table, j, cx, cy, sub(centre, v), radius):
                if count + _MOST > work.raw_room:
                    count = thinned_by_normal(work, 0, count)
                many = field_star(table, j, cx, cy, R, work)
                label = 2 * (cx * (ny - 1) + cy)
                v = add(turned(R, v), p)
                count = corner_contacts(A, size, v, many, label, work, count, margin)
    return count


@native
def _is_above(centre, core, reach, p0, p1, p2):
    """Return whether a ball, or a capsule of half a `core`, is above the plane of a triangle of terrain."""
    n = cross(sub(p1, p0), sub(p2, p0))
    rise = dot(n, sub(centre, p0)) - abs(dot(n, core))
    return rise > 0.0 and rise * rise > reach * reach * dot(n, n)


@native
def _is_aside(centre, core, reach, v):
    """Return whether a point of terrain is lower than all of the core of a ball or capsule, and out of reach.

    Normals of terrain do not point down: what is so deep that the point is behind the core (`local_solids`)
    has the point above some of its core.
    """
    return v[2] < centre[2] - abs(core[2]) and not is_nearer(centre, core, v, reach)


@native
def _may_be_at(table, j, cx, cy, gap, radius):
    """Return whether a point of a ball may be moved into a point of terrain along one of its normals, as in
    every contact with it; `gap` is from there to the middle of the ball.

    Normals make no acute angle with an edge. Along x, say, edges leave the point forwards and backwards, with
    slopes of s at most: a gap along a normal, or against it, has |x| <= s |z|.
    """
    nx, ny = table.index[12 * j + ROWS], table.index[12 * j + COLUMNS]
    if cx == 0 or cy == 0 or cx == nx - 1 or cy == ny - 1:
        return True
    at = table.index[12 * j + FIRST_HEIGHT] + cx * ny + cy
    h, z = table.heights, abs(gap[2]) + radius
    rise_x = max(abs(h[at + ny] - h[at]), abs(h[at - ny] - h[at])) * (nx - 1)
    rise_y = max(abs(h[at + 1] - h[at]), abs(h[at - 1] - h[at])) * (ny - 1)
    far_x, far_y = max(abs(gap[0]) - radius, 0.0), max(abs(gap[1]) - radius, 0.0)
    return far_x * table.size[4 * j] <= z * rise_x and far_y * table.size[4 * j + 1] <= z * rise_y


@native_apart
def _field_triangle(
    table, A, centre, size, j, cx, cy, upper, p0, p1, p2, R, work, count, margin, what
):  # fmt: skip
    """Ask a triangle of terrain, and the edges that it asks for others."""
    n = unit(cross(sub(p1, p0), sub(p2, p0)))
    label = 2 * (cx * (table.index[12 * j + COLUMNS] - 1) + cy) + upper
    loose = what == NEARLY
    count, depth, a = face_contacts(table, A, size, p0, p1, p2, n, label, work, count, margin, loose)
    if depth < -margin:
        return count
    for e in range(3):
        q0, q1 = (p0, p1) if e == 0 else ((p1, p2) if e == 1 else (p2, p0))
        if upper == 0 and not passes_edge(a, q0, q1, n):
            continue
        there, m = field_across(table, j, cx, cy, upper, e)
        if not there:
            m = unit(cross(sub(q1, q0), n))
        elif upper == 1:
            continue  # that of the other triangle
        else:
            m = turned(R, m)
        count = _edge(table, A, centre, size, a, q0, q1, n, m, label, work, count, margin)
    return count


@native
def _edge(table, A, centre, size, a, q0, q1, n, m, label, work, count, margin):
    """Ask an edge between faces of normals n and m, if it stands out."""
    e = sub(q1, q0)
    if dot(cross(n, m), e) <= _STANDS_OUT * norm(e):
        return count
    return edge_contacts(table, A, centre, size, a, q0, q1, n, m, label, work, count, margin)
