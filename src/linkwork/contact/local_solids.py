"""contacts <- a convex shape A and one face, edge or corner of a solid B: where the two are least deep.

B is what its triangles bound. Moved by depth along the normal the two just touch, so at a contact there is a
plane between the moved A and B *near there*: its normal u, out of B, is one that B has there, and along it A
reaches no deeper than the contact. With h(u) the depth of A below the plane across u that touches B there,

    h(u) = max over x in the feature of B of u.x  -  min over a in A of u.a,

a contact is a least h over the normals that B has near it. B has one normal on a face; on an edge that stands
out those between the normals of its two faces; on a corner that stands out those that make no acute angle
with any edge that leaves it. Between them h is continuous, so a least h is found by looking at each feature
alone: the face, or the *local solid* that has the edge or corner and no end, with EPA; it counts only if it
touches A on the very edge, in the very corner. A triangle without a thickness would not do: A may leave it to
either side, and sideways the sooner the smaller it is.

For most edges and corners a look at the support points of A is enough: from the normal of each face round it
h must fall towards that of another.

An edge that is hollow has no normals of its own. Where A is so deep in it that below either face its deepest
point is beyond the edge, there is no such contact (see `solid_pairs`).
"""

from linkwork.contact.contact_reduction import AS_DEEP, put_contact
from linkwork.contact.convex_pairs import closest
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.manifold import points_of_contact
from linkwork.contact.round_pairs import core_in, is_nearer, part_below, round_corner, round_edge
from linkwork.contact.shape_kinds import CAPSULE, CONVEX, SPHERE
from linkwork.contact.shape_table import DEPTH, STAR, STAR_NORMALS
from linkwork.contact.support import Form, lone_triangle, support
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    cross,
    dot,
    neg,
    norm,
    put,
    row,
    scale,
    sub,
    unit,
)

_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_ON = 1e-7  # of the size of a local solid: so near is on its edge, or in its corner
_STEPS = 12  # in which a normal of a corner is looked for
_LEVEL = 1e-9  # of the same: so much less deep is as deep
# What the third label of a contact says: a point that may go with a least depth; a least depth; one if the
# point of a, or that of b, is inside the other.
BESIDE, LEAST, IF_A_INSIDE, IF_B_INSIDE = range(4)


@native_apart
def face_contacts(table, A, size, p0, p1, p2, n, triangle, work, count, margin, loose):
    """Write the contacts of A with a face of B, in axes of A; return how many there are now, the depth of A
    below the plane of the face, and A's deepest point there.

    Points of A over the face are written if any is below it, LEAST if as deep as all of A. If `loose`,
    A's deepest point is, too, that is no farther beside it than below it, if it is inside B.
    """
    a = along(support(A, neg(n)), -A.radius, n)
    depth = dot(n, sub(p0, a))
    if depth < -margin:
        return count, depth, a
    over = _covers(p0, p1, p2, n, a, _LEVEL * size)
    nearly = not over and loose and _covers(p0, p1, p2, n, a, depth)
    if nearly or (over and A.kind == SPHERE):
        put_contact(work.raw, work.raw_label, count, a, along(a, depth, n), neg(n), depth, 0, triangle)
        work.raw_label[3 * count + 2] = LEAST if over else IF_A_INSIDE
        count += 1
    if A.kind == SPHERE:
        return count, depth, a
    put(work.triangle, 0, p0)  # its edges ask for it, too
    put(work.triangle, 1, p1)
    put(work.triangle, 2, p2)
    if A.kind == CAPSULE:
        count = _lowest_line(A, size, depth, over, p0, p1, p2, n, triangle, work, count, margin)
        return count, depth, a
    count = _spread_out(table, A, size, depth, neg(n), a, over, triangle, work, count, margin)
    return count, depth, a


@native_apart
def _lowest_line(A, size, depth, over, p0, p1, p2, n, triangle, work, count, margin):
    """Write the ends of what is over a face of the lowest line of a capsule; `over`: its lowest point is."""
    low, high = -1.0, 1.0
    for e in range(3):
        q0, q1 = (p0, p1) if e == 0 else ((p1, p2) if e == 1 else (p2, p0))
        out = cross(sub(q1, q0), n)
        low, high = part_below(A, out, dot(out, q0), low, high)
    if over:
        lowest = -1.0 if n[2] >= 0.0 else 1.0
        low, high = (min(low, lowest), max(high, lowest)) if low <= high else (lowest, lowest)
    for k in range((2 if low < high else 1) if low <= high else 0):
        x = along((0.0, 0.0, (low if k == 0 else high) * A.y), -A.radius, n)
        deep = dot(n, sub(p0, x))
        if deep >= -margin:
            put_contact(work.raw, work.raw_label, count, x, along(x, deep, n), neg(n), deep, k, triangle)
            least = deep >= depth - _LEVEL * size - AS_DEEP
            work.raw_label[3 * count + 2] = LEAST if least else BESIDE
            count += 1
    return count


@native_apart
def _spread_out(table, A, size, depth, normal, a, there, triangle, work, count, margin):
    """Write the points in which A meets the triangle at hand along a normal; `there`: a is one of them."""
    T = lone_triangle(work.triangle, 0)
    b = along(a, -depth, normal)
    known = depth if there else -1e300  # what is not over the triangle is not added to the points
    many = points_of_contact(
        table, A, T, _SAME, ZERO, known, normal, a, b, work, work.raw, work.raw_label, count, margin
    )
    for k in range(count, count + many):
        work.raw_label[3 * k + 1] = triangle
        least = work.raw[10 * k + DEPTH] >= depth - _LEVEL * size - AS_DEEP
        work.raw_label[3 * k + 2] = LEAST if least else BESIDE
    return count + many


@native
def _covers(p0, p1, p2, n, x, slack):
    """Return whether a point is over a triangle, or no farther beside it than `slack`."""
    e0, e1, e2 = sub(p1, p0), sub(p2, p1), sub(p0, p2)
    return (
        dot(cross(n, e0), sub(x, p0)) >= -slack * norm(e0)
        and dot(cross(n, e1), sub(x, p1)) >= -slack * norm(e1)
        and dot(cross(n, e2), sub(x, p2)) >= -slack * norm(e2)
    )


@native
def passes_edge(a, q0, q1, n):
    """Return whether A's deepest point below a face, of normal n, is beyond its edge from q0 to q1: else h is
    least on the face, of all normals of the edge."""
    return dot(cross(sub(q1, q0), n), sub(a, q0)) > 0.0


@native_apart
def edge_contacts(table, A, centre, size, a, q0, q1, n, m, triangle, work, count, margin):
    """Write the contacts of A with an edge of B that stands out, in axes of A; return how many there are now.

    The edge goes from q0 to q1 round the triangle at hand, of normal n; m is that of the face across. `a` is
    A's deepest point below the first face, `centre` any point of A and `size` twice its size or more.
    """
    other = along(support(A, neg(m)), -A.radius, m)
    if not passes_edge(a, q0, q1, n) or not passes_edge(other, q1, q0, m):
        return count
    e = unit(sub(q1, q0))
    known, depth, normal, x, b = False, 0.0, ZERO, ZERO, ZERO
    if A.kind <= CAPSULE:
        known, depth, normal, x, b = round_edge(A, q0, q1, n, m)
    if not known:
        depth, normal, x, b = _wedge(A, centre, size, q0, e, n, m, work, margin)
    gap = sub(b, q0)
    s = dot(gap, e)
    aside = along(gap, -s, e)
    if depth < -margin or dot(aside, aside) > _ON * _ON * size * size:
        return count
    slack = _LEVEL * size
    within = -slack <= s <= norm(sub(q1, q0)) + slack
    if A.kind != SPHERE:
        return _spread_out(table, A, size, depth, normal, x, within, triangle, work, count, margin)
    if within:
        put_contact(work.raw, work.raw_label, count, x, b, normal, depth, 0, triangle)
        work.raw_label[3 * count + 2] = LEAST
        count += 1
    return count


@native_apart
def _wedge(A, centre, size, q0, e, n, m, work, margin):
    """Return depth, normal and points of A and the solid that an edge along e and its faces bound.

    It ends far from A, and is thick however flat the edge is.
    """
    out, back = cross(e, n), cross(m, e)
    middle = along(q0, dot(e, sub(centre, q0)), e)
    down = scale(-size, unit(add(n, m)))
    for k in range(2):
        end = along(middle, size if k == 0 else -size, e)
        put(work.triangle, STAR + k, end)
        put(work.triangle, STAR + 2 + k, along(end, -size, out))
        put(work.triangle, STAR + 4 + k, along(end, -size, back))
        put(work.triangle, STAR + 6 + k, add(end, down))
    return closest(A, local_solid(work, 8), _SAME, ZERO, work, margin)


@native
def local_solid(work, many):
    """Return the convex hull of the points of the star as a shape."""
    return Form(CONVEX, 0.0, 0.0, 0.0, 0.0, work.triangle, STAR, many, 0, 0, 0)


@native_apart
def corner_contacts(A, size, v, many, triangle, work, count, margin):
    """Write the contact of A with a corner v of B that stands out, in axes of A; return how many there are
    now.

    The first rows of the star are the edges that leave the corner, leftwards seen from outside; they go all
    the way round.
    """
    mean = ZERO
    for k in range(many):
        e, f = row(work.triangle, STAR + k), row(work.triangle, STAR + (k + 1 if k + 1 < many else 0))
        face = cross(e, f)
        if not dot(face, face) > 0.0:
            return count  # a face without area: its neighbours are asked
        face = unit(face)
        put(work.triangle, STAR_NORMALS + k, face)
        mean = add(mean, face)
    if not dot(mean, mean) > 0.0:
        return count
    mean = unit(mean)
    stands, u = _normal_of_corner(work, many, mean)
    if not stands:
        return count  # a saddle or a hollow, or flat
    convex = dot(u, mean) >= 1.0 - _ON
    for k in range(many if convex else 0):  # with a the support point for a face, u.(v - a) is below h
        face = row(work.triangle, STAR_NORMALS + k)
        gap = sub(v, along(support(A, neg(face)), -A.radius, face))
        less = False
        for m in range(many):
            less = less or dot(gap, sub(row(work.triangle, STAR_NORMALS + m), face)) < 0.0
        if not less:
            return count  # h is least on this face, of all normals of the corner
    most = dot(u, sub(v, along(support(A, neg(u)), -A.radius, u)))  # no h is larger than that of u
    if most < -margin or (A.kind <= CAPSULE and _is_beyond(A, v, most, margin)):
        return count
    known, depth, normal, a, b = False, 0.0, ZERO, ZERO, ZERO
    if convex and A.kind <= CAPSULE:
        known, depth, normal, a, b = round_corner(A, v, work.triangle, STAR, STAR_NORMALS, many)
    if not known:
        depth, normal, a, b = _cone(A, size, v, u, many, work, margin)
    gap = sub(b, v)
    if depth < -margin or dot(gap, gap) > _ON * _ON * size * size:
        return count
    put_contact(work.raw, work.raw_label, count, a, b, normal, depth, 0, triangle)
    work.raw_label[3 * count + 2] = LEAST
    return count + 1


@native
def _is_beyond(A, v, most, margin):
    """Return whether a point that is at most so deep in a ball or capsule is too far from it to touch it.

    Where A reaches h into a corner along u, v = x + (h - r) u, x the point of A's core that is the farthest
    against u: so v is |h - r| from the core, which is r at most if h is between 0 and 2 r.
    """
    return most <= 2.0 * A.radius and not is_nearer(ZERO, core_in(A, _SAME), v, A.radius + margin)


@native_apart
def _cone(A, size, v, u, many, work, margin):
    """Return depth, normal and points of A and the solid that the star of a corner and its faces bound."""
    for k in range(many):
        e = row(work.triangle, STAR + k)
        put(work.triangle, STAR + k, along(v, size / norm(e), e))
    put(work.triangle, STAR + many, v)
    put(work.triangle, STAR + many + 1, along(v, -size, u))
    return closest(A, local_solid(work, many + 2), _SAME, ZERO, work, margin)


@native_apart
def _normal_of_corner(work, many, mean):
    """Return whether a corner has normals, that make no acute angle with any edge, and one of them: the mean
    normal of its faces or, if that is not one, what is left of it without its parts along edges."""
    u, stands = mean, False
    for _step in range(_STEPS):
        most, least, worst = -1.0, 1.0, mean
        for k in range(many):
            e = unit(row(work.triangle, STAR + k))
            rise = dot(u, e)
            least = min(least, rise)
            if rise > most:
                most, worst = rise, e
        stands = most <= _ON and least < -_ON
        if most <= _ON:
            break
        u = unit(along(u, -most, worst))
    return stands, u
