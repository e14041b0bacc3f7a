"""contacts <- two solids of triangles, neither of them convex: two meshes, or a mesh and terrain.

A contact is a least depth as in `local_solids`, now with features of both: a corner of one in a face of the
other, or two edges. A corner v has normals only if it stands out: those that make no acute angle with the
edges that leave it; a contact with a face of normal u needs -u among them. On a fine mesh of a smooth body
these are next to one, the mean normal m of the corner: the way out of the other solid is along -m, and the
face where it ends is a contact if its normal is that way within the angles between neighbouring faces. So the
contact of two smooth bodies, exactly between two edges as often as not, is found within the error of their
facets. Where the way ends next to an edge that is sharp, the edge is the contact, if -m is between the
normals of its faces. A corner that is sharp itself has a wide range of normals, and the nearest face with one
of them is looked for. Where triangles cross, their features are asked.

The contacts are near the exact ones: `solid_pairs` starts from them.
"""

from linkwork.contact.contact_reduction import put_contact, thinned_by_normal
from linkwork.contact.containment import in_solid
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.local_solids import LEAST
from linkwork.contact.near_features import across, triangle_of
from linkwork.contact.necessary_contacts import SMOOTH, left_over
from linkwork.contact.point_depth import SHARP, nearest_face, smoothness, way_out
from linkwork.contact.shape_kinds import MESH
from linkwork.contact.shape_table import (
    COLUMNS,
    FIRST_FACE,
    FIRST_NODE,
    FIRST_POINT,
    NORMAL,
    POINT_A,
    POINT_B,
    STACK,
    STAR,
)
from linkwork.contact.terrain import cell, grid_point, half_widths
from linkwork.contact.tree_descent import descended
from linkwork.contact.triangle_pairs import CROSSING, triangle_pairs
from linkwork.contact.vertex_stars import field_star, mesh_star
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    cross,
    dot,
    neg,
    nine,
    norm,
    put_three,
    row,
    sub,
    three,
    times,
    transposed,
    turned,
    turned_back,
    unit,
)

_LOOSE = 1.2  # times the angles between neighbouring faces: so far may normals be from opposite


@native_apart
def candidates(table, i, j, R, p, work):
    """Write the contacts of mesh i with solid j, placed by R, p in its axes; return how many."""
    count, _pairs = triangle_pairs(table, i, j, R, p, work, CROSSING, 0.0)
    count = _both_ways(table, i, j, R, p, work, count)
    return left_over(table, i, j, R, p, work, count)


@native_apart
def _both_ways(table, i, j, R, p, work, count):
    """Ask the corners of each of two solids for the faces of the other; in axes of the first."""
    before = count
    count = _corners_in(table, j, i, transposed(R), neg(turned_back(R, p)), work, count)
    for k in range(before, count):  # from axes of the second, and its faces first
        a, b = three(work.raw, 10 * k + POINT_A), three(work.raw, 10 * k + POINT_B)
        put_three(work.raw, 10 * k + POINT_A, add(turned(R, b), p))
        put_three(work.raw, 10 * k + POINT_B, add(turned(R, a), p))
        put_three(work.raw, 10 * k + NORMAL, neg(turned(R, three(work.raw, 10 * k + NORMAL))))
        x, y = work.raw_label[3 * k], work.raw_label[3 * k + 1]
        work.raw_label[3 * k], work.raw_label[3 * k + 1] = y, x
    if table.kind[j] == MESH:
        return _corners_in(table, i, j, R, p, work, count)
    return _points_in(table, i, j, R, p, work, count)


@native_apart
def _corners_in(table, f, g, Q, q, work, count):
    """Write the contacts of corners of mesh g, placed by Q, q, with faces of solid f, in its axes: points of
    f, corners of g, normals out of f. Return how many there are now."""
    boxes, child = table.node_box, table.node_child
    first, faces = table.index[12 * g + FIRST_NODE], table.index[12 * g + FIRST_FACE]
    points = table.index[12 * g + FIRST_POINT]
    middle, wide = three(table.reach, 7 * f), three(table.reach, 7 * f + 3)
    stack = work.stack
    stack[STACK] = 0  # the lower half is for rays
    top = 1
    while top > 0:
        top -= 1
        node = first + stack[STACK + top]
        k = 15 * node
        M, half = times(Q, nine(boxes, k)), three(boxes, k + 12)
        c = sub(add(turned(Q, three(boxes, k + 9)), q), middle)
        apart = False
        for e in range(3):
            reach = abs(M[3 * e]) * half[0] + abs(M[3 * e + 1]) * half[1] + abs(M[3 * e + 2]) * half[2]
            apart = apart or abs(c[e]) > wide[e] + reach
        if apart:
            continue
        if child[2 * node] >= 0:
            top = descended(child, node, stack, STACK, top)
            continue
        triangle = -1 - child[2 * node]
        for e in range(3):
            side = 3 * triangle + e
            corner = points + table.faces[3 * faces + side]
            x = add(turned(Q, row(table.points, corner)), q)
            gap = sub(x, middle)
            inside = abs(gap[0]) <= wide[0] and abs(gap[1]) <= wide[1] and abs(gap[2]) <= wide[2]
            if inside and table.leaving[corner] == side:
                many = mesh_star(table, g, side, Q, work)
                if many > 2:
                    count = _corner_in(table, f, x, many, triangle, work, count)
    return count


@native_apart
def _points_in(table, f, g, Q, q, work, count):
    """Write the same for points of height field g, with faces of mesh f."""
    at, wide = turned_back(Q, sub(three(table.reach, 7 * f), q)), half_widths(table, f, Q, 0.0)
    low_x, low_y, _u, _v = cell(table, g, at[0] - wide[0], at[1] - wide[1])
    high_x, high_y, _u, _v = cell(table, g, at[0] + wide[0], at[1] + wide[1])
    ny = table.index[12 * g + COLUMNS]
    for cx in range(max(low_x, 1), high_x + 1):
        for cy in range(max(low_y, 1), high_y + 1):
            v = grid_point(table, g, cx, cy)
            many = field_star(table, g, cx, cy, Q, work)
            x = add(turned(Q, v), q)
            count = _corner_in(table, f, x, many, 2 * (cx * (ny - 1) + cy), work, count)
    return count


@native_apart
def _corner_in(table, f, x, many, label, work, count):
    """Write the contact of a corner x, whose edges are in the star, with solid f, in its axes; return how
    many there are now."""
    if count == work.raw_room:
        count = thinned_by_normal(work, 0, count)
    mean, spread, longest = _normal_of_star(work, many)
    if spread < -1.0:
        return count  # no normals: a saddle or a hollow
    if spread < SHARP:
        depth, n, face = nearest_face(table, f, x, many, work)
        if face >= 0:
            put_contact(work.raw, work.raw_label, count, along(x, depth, n), x, n, depth, face, label)
            work.raw_label[3 * count + 2] = LEAST
            count += 1
        return count
    u = neg(mean)
    far, n, face = way_out(table, f, x, u, work)
    if face < 0:
        return count
    point = along(x, far, u)
    loose = _LOOSE * (_angle(spread) + 0.5 * _angle(smoothness(table, f, face, n)))
    if _angle(dot(n, u)) <= loose:
        depth = far * dot(n, u)
        if _parts(table, f, x, many, n, depth, loose, work):
            put_contact(work.raw, work.raw_label, count, along(x, depth, n), x, n, depth, face, label)
            work.raw_label[3 * count + 2] = SMOOTH
            count += 1
        return count
    p0, p1, p2, _n = triangle_of(table, f, face)
    for e in range(3):
        q0, q1 = (p0, p1) if e == 0 else ((p1, p2) if e == 1 else (p2, p0))
        there, _asked, m = across(table, f, face, e)
        along_edge = unit(sub(q1, q0))
        if not there or dot(n, m) > SHARP or dot(cross(n, m), along_edge) <= 0.0:
            continue
        tilt = dot(u, along_edge)
        w = along(u, -tilt, along_edge)
        gap = sub(point, q0)
        aside = along(gap, -dot(gap, along_edge), along_edge)
        if (
            abs(tilt) <= loose
            and norm(aside) <= longest
            and dot(cross(n, w), along_edge) >= 0.0
            and dot(cross(w, m), along_edge) >= 0.0
        ):
            w = unit(w)
            depth = dot(w, sub(q0, x))
            put_contact(work.raw, work.raw_label, count, along(x, depth, w), x, w, depth, face, label)
            work.raw_label[3 * count + 2] = SMOOTH
            return count + 1
    return count


@native_apart
def _parts(table, f, x, many, n, depth, loose, work):
    """Return whether a move by depth along the normal takes the surroundings of a corner out of solid f, too;
    where f is hollow, and more so than the corner stands out, it does not."""
    for k in range(many):
        e = row(work.triangle, STAR + k)
        if in_solid(table, f, along(add(x, e), depth + 0.5 * loose * norm(e), n), work):
            return False
    return True


@native
def _angle(cosine):
    """Return about the angle of a cosine."""
    return max(2.0 - 2.0 * cosine, 0.0) ** 0.5


@native_apart
def _normal_of_star(work, many):
    """Return the mean normal of a corner, the least cosine of a face with it, and its longest edge; a cosine
    of -2 if the corner does not stand out."""
    mean, longest = ZERO, 0.0
    for k in range(many):
        e, f = row(work.triangle, STAR + k), row(work.triangle, STAR + (k + 1 if k + 1 < many else 0))
        face = cross(e, f)
        if dot(face, face) > 0.0:
            mean = add(mean, unit(face))
        longest = max(longest, norm(e))
    if not dot(mean, mean) > 0.0:
        return (0.0, 0.0, 1.0), -2.0, longest
    mean = unit(mean)
    spread = 1.0
    for k in range(many):
        e, f = row(work.triangle, STAR + k), row(work.triangle, STAR + (k + 1 if k + 1 < many else 0))
        if dot(mean, e) > 1e-9 * longest:
            return mean, -2.0, longest
        face = cross(e, f)
        if dot(face, face) > 0.0:
            spread = min(spread, dot(mean, unit(face)))
    return mean, spread, longest
