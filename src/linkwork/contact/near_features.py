"""contacts <- two triangles of solids that nearly touch: a corner of one on the face of the other, two edges.

Where two solids of triangles just touch, or overlap by less than their features are large, these are all the
contacts there are. A corner touches a face if none of its edges goes deeper; two edges touch if the normal
across both is one of either.
"""

from linkwork.contact.contact_reduction import put_contact
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.local_solids import IF_A_INSIDE, IF_B_INSIDE, LEAST
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.shape_kinds import MESH
from linkwork.contact.shape_table import COLUMNS, FIRST_FACE, FIRST_POINT, ROWS, STAR
from linkwork.contact.terrain import field_across, field_triangle
from linkwork.contact.vertex_stars import field_star, mesh_star
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    cross,
    dot,
    neg,
    norm,
    row,
    sub,
    three,
    turned,
    unit,
)

_STANDS_OUT = 1e-6  # sine of the angle from which on an edge of terrain is no longer flat
_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@native
def cell_of(table, f, face):
    """Return column, row and half of a triangle of terrain, which are counted through all cells."""
    ny = table.index[12 * f + COLUMNS]
    return face // 2 // (ny - 1), face // 2 % (ny - 1), face % 2


@native
def triangle_of(table, f, face):
    """Return the corners of a triangle of a mesh or of terrain, and its normal, in the solid's axes."""
    if table.kind[f] == MESH:
        p0, p1, p2 = corners(table, f, face)
        return p0, p1, p2, three(table.planes, 4 * (table.index[12 * f + FIRST_FACE] + face))
    cx, cy, upper = cell_of(table, f, face)
    p0, p1, p2 = field_triangle(table, f, cx, cy, upper)
    return p0, p1, p2, unit(cross(sub(p1, p0), sub(p2, p0)))


@native
def across(table, f, face, e):
    """Return whether an edge of a triangle is no border, whether it is to be asked by this side of it, and
    the normal of the triangle across."""
    if table.kind[f] == MESH:
        first = table.index[12 * f + FIRST_FACE]
        twin = table.twin[3 * (first + face) + e]
        return twin >= 0, twin < 3 * face + e, three(table.planes, 4 * (first + max(twin, 0) // 3))
    cx, cy, upper = cell_of(table, f, face)
    there, m = field_across(table, f, cx, cy, upper, e)
    return there, upper == 0, m


@native
def _star_of(table, f, face, e, R, work):
    """Write the edges that leave corner e of a triangle, if it is the one by which the corner is asked;
    return how many, 0 otherwise."""
    if table.kind[f] == MESH:
        first, points = table.index[12 * f + FIRST_FACE], table.index[12 * f + FIRST_POINT]
        side = 3 * face + e
        if table.leaving[points + table.faces[3 * first + side]] != side:
            return 0
        return mesh_star(table, f, side, R, work)
    cx, cy, upper = cell_of(table, f, face)
    right = cx == table.index[12 * f + ROWS] - 2
    top = cy == table.index[12 * f + COLUMNS] - 2
    if e == 0 and upper == 0:
        return field_star(table, f, cx, cy, R, work)
    if e == 1 and upper == 0 and right:
        return field_star(table, f, cx + 1, cy, R, work)
    if e == 2 and upper == 0 and right and top:
        return field_star(table, f, cx + 1, cy + 1, R, work)
    if e == 2 and upper == 1 and top:
        return field_star(table, f, cx, cy + 1, R, work)
    return 0


@native
def fits(p0, p1, p2, n, x, many, work, beside):
    """Return whether a corner is over a triangle, or so far beside it, and may touch it: its edges do not go
    deeper."""
    slack = -1e-9 * (norm(sub(p1, p0)) + norm(sub(p2, p0))) - beside
    e0, e1, e2 = cross(n, sub(p1, p0)), cross(n, sub(p2, p1)), cross(n, sub(p0, p2))
    if (
        dot(e0, sub(x, p0)) < slack * norm(e0)
        or dot(e1, sub(x, p1)) < slack * norm(e1)
        or dot(e2, sub(x, p2)) < slack * norm(e2)
    ):
        return False
    for k in range(many):
        e = row(work.triangle, STAR + k)
        if dot(n, e) < -1e-6 * norm(e):
            return False
    return True


@native_apart
def feature_pair(table, i, ta, j, tb, R, p, work, count, lowest, highest, loose):
    """Write the contacts of two triangles, of depths between two bounds, in axes of the first solid; return
    how many there are now: no more than 15 are added.

    If `loose`, a corner is on a face, too, that is no farther beside it than below it, if it is inside the
    other solid: in a hollow it may be beside all faces, and below them.
    """
    p0, p1, p2, n = triangle_of(table, i, ta)
    q0, q1, q2, m = triangle_of(table, j, tb)
    q0, q1, q2, m = add(turned(R, q0), p), add(turned(R, q1), p), add(turned(R, q2), p), turned(R, m)
    if not dot(n, n) > 0.5 or not dot(m, m) > 0.5:
        return count  # without area
    for e in range(3):
        x = q0 if e == 0 else (q1 if e == 1 else q2)
        depth = dot(n, sub(p0, x))
        beside = max(depth, 0.0) if loose else 0.0
        if lowest <= depth <= highest and fits(p0, p1, p2, n, x, 0, work, beside):
            many = _star_of(table, j, tb, e, R, work)
            if many > 2 and fits(p0, p1, p2, n, x, many, work, beside):
                label = LEAST if fits(p0, p1, p2, n, x, 0, work, 0.0) else IF_B_INSIDE
                count = _put(work, count, along(x, depth, n), x, n, depth, ta, tb, label)
        x = p0 if e == 0 else (p1 if e == 1 else p2)
        depth = dot(m, sub(q0, x))
        beside = max(depth, 0.0) if loose else 0.0
        if lowest <= depth <= highest and fits(q0, q1, q2, m, x, 0, work, beside):
            many = _star_of(table, i, ta, e, _SAME, work)
            if many > 2 and fits(q0, q1, q2, m, x, many, work, beside):
                label = LEAST if fits(q0, q1, q2, m, x, 0, work, 0.0) else IF_A_INSIDE
                count = _put(work, count, x, along(x, depth, m), neg(m), depth, ta, tb, label)
    for e in range(3):
        x0, x1 = (p0, p1) if e == 0 else ((p1, p2) if e == 1 else (p2, p0))
        stands, other = _ridge(table, i, ta, e, n, sub(x1, x0), _SAME)
        if not stands:
            continue
        for f in range(3):
            y0, y1 = (q0, q1) if f == 0 else ((q1, q2) if f == 1 else (q2, q0))
            stands, beyond = _ridge(table, j, tb, f, m, sub(y1, y0), R)
            if stands:
                count = _edge_edge(x0, x1, n, other, y0, y1, m, beyond, ta, tb, work, count, lowest, highest)
    return count


@native
def _ridge(table, f, face, e, n, edge, R):
    """Return whether an edge stands out, and is to be asked by this side; and the normal across, turned by
    R."""
    there, asked, m = across(table, f, face, e)
    if not there or not asked:
        return False, ZERO
    m = turned(R, m)
    return dot(cross(n, m), edge) > _STANDS_OUT * norm(edge), m


@native
def _edge_edge(x0, x1, na, ma, y0, y1, nb, mb, ta, tb, work, count, lowest, highest):
    """Write the contact of two edges, if the normal across both is one of either and they pass each other;
    return how many there are now.

    An edge from x0 to x1 has the normals between those of its faces, n and m.
    """
    e, f = sub(x1, x0), sub(y1, y0)
    u = cross(e, f)
    uu = dot(u, u)
    if uu <= 1e-16 * dot(e, e) * dot(f, f):
        return count
    gap = sub(y0, x0)
    # x0 + s e + depth' u = y0 + t f
    s, t = dot(cross(gap, f), u) / uu, dot(cross(gap, e), u) / uu
    u = unit(u)
    if dot(u, add(na, ma)) < 0.0:
        u = neg(u)
    depth = -dot(u, gap)
    if s < 0.0 or s > 1.0 or t < 0.0 or t > 1.0:
        return count
    if depth < lowest or depth > highest or _beside(na, u, e) or _beside(u, ma, e):
        return count
    if _beside(nb, neg(u), f) or _beside(neg(u), mb, f):
        return count
    return _put(work, count, along(x0, s, e), along(y0, t, f), u, depth, ta, tb, LEAST)


@native
def _put(work, count, a, b, n, depth, ta, tb, label):
    put_contact(work.raw, work.raw_label, count, a, b, n, depth, ta, tb)
    work.raw_label[3 * count + 2] = label
    return count + 1


@native
def _beside(n, m, e):
    """Return whether a normal m is not on the way from n round the edge e."""
    return dot(cross(n, m), e) < -1e-9 * norm(e)
