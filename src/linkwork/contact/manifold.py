"""contact points <- depth and normal of two convex shapes: face against face, clipped, a few corners.

The shape whose face is square to the normal is the reference; what the other meets it with is cut to the
sides of that face, and what lies below the face touches. Two edges side by side give two points. All else is
one point.
"""

from math import sqrt

from linkwork.contact.contact_reduction import (
    AS_DEEP,
    EXACTLY,
    put_contact,
    thinned,
    well_spread,
    without_idle_corners,
)
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.features import feature
from linkwork.contact.shape_kinds import CYLINDER
from linkwork.contact.shape_table import DEPTH, MOST_CORNERS, POINT_A, POINT_B
from linkwork.contact.support import curved
from linkwork.geometry.vectors import (
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
    three,
    turned,
    turned_back,
    unit,
)

_ACROSS = 0.95  # cosine of face normal and contact normal
_AS_SQUARE = 1e-12  # difference of these that does not count
_PARALLEL = 0.2  # sine of the angle of two edges
_ON_EDGE = 1e-10  # of the length of an edge: what is so near to it lies on it
_AS_NEAR = 1e-12  # of the square of that length: what differs by less in its square is as near
_SAME_CORNER = 0.03**2  # of the size of a face: what is nearer is the same corner
_EDGES = 1000  # names of edges begin here


@native_apart
def points_of_contact(table, A, B, R, p, depth, normal, a, b, work, rows, labels, first, margin):
    """Write the contact points of a pair as rows from `first` on, in axes of A; return how many.

    Points that are apart by less than `margin` count as well; the deepest is always there.
    """
    count = 0
    flat = not curved(A) and not curved(B) and A.radius + B.radius == 0.0
    na, face_a = feature(table, A, normal, work, 0)
    if na > 1:
        nb, face_b = feature(table, B, neg(turned_back(R, normal)), work, 1)
        if nb > 1:
            for k in range(nb):
                put(work.ring, MOST_CORNERS + k, add(turned(R, row(work.ring, MOST_CORNERS + k)), p))
            face_b = turned(R, face_b)
            square_a = dot(face_a, normal) if na > 2 else 0.0
            square_b = -dot(face_b, normal) if nb > 2 else 0.0
            if max(square_a, square_b) > _ACROSS:
                if square_a >= square_b - _AS_SQUARE:
                    m, ring = _clipped(work, 0, na, 1, nb, normal)
                    on = row(work.ring, 0)
                    count = _below(work, ring, m, normal, face_a, on, 1.0, margin, rows, labels, first)
                else:
                    back = neg(normal)
                    m, ring = _clipped(work, 1, nb, 0, na, back)
                    on = row(work.ring, MOST_CORNERS)
                    count = _below(work, ring, m, back, face_b, on, -1.0, margin, rows, labels, first)
            if count == 0:
                count = _side_by_side(work, na, nb, A, B, normal, a, b, margin, rows, labels, first)
            count = without_idle_corners(rows, labels, first, count)
            _name(work, na, nb, rows, labels, first, count)
            count = well_spread(rows, labels, first, count, work.corners)
    deepest = -1e300
    for k in range(first, first + count):
        deepest = max(deepest, rows[10 * k + DEPTH])
    if deepest < depth - (AS_DEEP if flat else EXACTLY):
        put_contact(rows, labels, first + count, a, b, normal, depth, -1, -1)
        count += 1
    return thinned(rows, labels, 3, first, count) if count > 4 and work.corners == 4 else count


@native_apart
def _clipped(work, face, n, other, m, normal):
    """Cut a polygon or segment to the sides of a face; return how many corners are left, and where they
    are."""
    source, target = other, 2
    for e in range(n):
        x, y = row(work.ring, face * MOST_CORNERS + e), row(work.ring, face * MOST_CORNERS + (e + 1) % n)
        out = cross(sub(y, x), normal)  # of any length: only signs and ratios count
        if _inside(work, source * MOST_CORNERS, m, out, dot(out, x)):
            continue
        m = _cut(work, source * MOST_CORNERS, m, target * MOST_CORNERS, out, dot(out, x))
        source, target = target, 5 - target
        if m == 0:
            break
    return m, source


@native
def _inside(work, source, m, out, offset):
    """Return whether all corners lie on the inner side of a plane, or in it."""
    inside, slack = True, _ON_EDGE * dot(out, out)
    for k in range(m):
        inside = inside and dot(out, row(work.ring, source + k)) <= offset + slack
    return inside


@native
def _cut(work, source, m, target, out, offset):
    """Keep what lies on the inner side of a plane, or in it.

    Where the edge of one shape lies along that of the other, rounding does not decide which corners are left.
    """
    count, slack = 0, _ON_EDGE * dot(out, out)
    v = row(work.ring, source + (m - 1 if m > 2 else 0))  # a segment has no way back
    before = dot(out, v) - offset
    for k in range(m):
        x = row(work.ring, source + k)
        here = dot(out, x) - offset
        if (before < 0.0 and here > slack) or (here < 0.0 and before > slack):
            put(work.ring, target + count, along(v, before / (before - here), sub(x, v)))
            count += 1
        if here <= slack and count < MOST_CORNERS - 1:
            put(work.ring, target + count, x)
            count += 1
        v, before = x, here
    return count


@native
def _below(work, ring, m, normal, face, on, side, margin, rows, labels, first):
    """Write those corners that lie below the reference face, along a normal that is nearly its own: the plane
    across `face` through `on`. `side` is 1 if that is of a, -1 if of b."""
    count = 0
    steep = 1.0 / dot(face, normal)
    for k in range(m):
        x = row(work.ring, ring * MOST_CORNERS + k)
        depth = steep * dot(face, sub(on, x))
        if depth >= -margin:
            foot = along(x, depth, normal)
            if side > 0.0:
                put_contact(rows, labels, first + count, foot, x, normal, depth, -1, -1)
            else:
                put_contact(rows, labels, first + count, x, foot, neg(normal), depth, -1, -1)
            count += 1
    return count


@native
def _nearest_edge(work, base, n, x, beside):
    """Return the edge of a ring that comes nearest to a point: the row of its first corner, and its other
    one. At a corner, where two are as near, it is the one that goes more along `beside`."""
    best, straight, chosen = 1e300, 0.0, 0
    for k in range(n if n > 2 else 1):
        y, z = row(work.ring, base + k), row(work.ring, base + (k + 1) % n)
        e = sub(z, y)
        square = dot(e, e)
        s = min(max(dot(sub(x, y), e) / square, 0.0), 1.0)
        gap, along_it = sub(x, along(y, s, e)), dot(e, beside) ** 2 / square
        far = dot(gap, gap)
        if far < best - _AS_NEAR * square or (far <= best + _AS_NEAR * square and along_it > straight):
            best, straight, chosen = min(far, best), along_it, k
    return base + chosen, base + (chosen + 1) % n


@native
def _way(work, ends):
    """Return the direction of an edge."""
    return unit(sub(row(work.ring, ends[1]), row(work.ring, ends[0])))


@native
def _roundness(form):
    """Return the radius of a shape about its edges: those of a capsule, the sides of a cylinder."""
    if form.kind == CYLINDER:
        return form.x
    return form.radius


@native_apart
def _side_by_side(work, na, nb, A, B, normal, a, b, margin, rows, labels, first):
    """Write the ends of what two nearly parallel edges share, those nearest to the deepest points; return how
    many. Lines that cross, l apart across the normal, are of round sides: their gap is larger by
    sqrt(r^2 + l^2) - r, with r the sum of the radii."""
    any_way = (0.0, 0.0, 0.0)
    of_a = _nearest_edge(work, 0, na, a, any_way)
    of_b = _nearest_edge(work, MOST_CORNERS, nb, b, any_way if nb == 2 or na > 2 else _way(work, of_a))
    if na > 2:
        of_a = _nearest_edge(work, 0, na, a, _way(work, of_b))
        of_b = _nearest_edge(work, MOST_CORNERS, nb, b, _way(work, of_a))
    x, y = row(work.ring, of_a[0]), row(work.ring, of_a[1])
    v, w = row(work.ring, of_b[0]), row(work.ring, of_b[1])
    u, t = _way(work, of_a), _way(work, of_b)
    r = _roundness(A) + _roundness(B)
    if norm(cross(u, t)) > _PARALLEL or abs(dot(u, normal)) > _PARALLEL or abs(dot(t, normal)) > _PARALLEL:
        return 0
    v0, w0 = dot(u, sub(v, x)), dot(u, sub(w, x))
    low, high = max(0.0, min(v0, w0)), min(norm(sub(y, x)), max(v0, w0))
    if not high > low:
        return 0
    across, count = cross(normal, u), 0
    for k in range(2):
        s = low if k == 0 else high
        on_a = along(x, s, u)
        on_b = along(v, (s - v0) / dot(u, t), t)
        gap = sub(on_a, on_b)
        l = dot(across, gap)
        deep = dot(normal, gap) - (sqrt(r * r + l * l) - r)
        if deep >= -margin:
            put_contact(rows, labels, first + count, on_a, along(on_a, -deep, normal), normal, deep, -1, -1)
            count += 1
    return count


@native_apart
def _name(work, na, nb, rows, labels, first, count):
    """Name contacts by place: a corner of a that is near, else one of b, else the edges that cross there.

    Where edges of both coincide, motions of a nanometre decide which corner lies inside the other face and
    which edges cross; what is near to a corner is called by it whoever it comes from.
    """
    no_way = (0.0, 0.0, 0.0)
    near = _SAME_CORNER * min(_width(work, 0, na), _width(work, MOST_CORNERS, nb))
    for k in range(first, first + count):
        x = scale(0.5, add(three(rows, 10 * k + POINT_A), three(rows, 10 * k + POINT_B)))
        corner_a, far_a = _nearest_corner(work, 0, na, x)
        corner_b, far_b = _nearest_corner(work, MOST_CORNERS, nb, x)
        name_a, name_b = work.label[corner_a], work.label[corner_b]
        if far_a <= near:
            name_b = -1
        elif far_b <= near:
            name_a = -1
        else:
            name_a = _EDGES + work.label[_nearest_edge(work, 0, na, x, no_way)[0]]
            name_b = _EDGES + work.label[_nearest_edge(work, MOST_CORNERS, nb, x, no_way)[0]]
        labels[3 * k], labels[3 * k + 1] = name_a, name_b
        for other in range(first, k):  # two at one corner: the later one has a name of its own
            if labels[3 * other] == name_a and labels[3 * other + 1] == name_b:
                labels[3 * k + (0 if name_b == -1 else 1)] += _EDGES


@native
def _width(work, base, n):
    """Return the square of the size of a ring."""
    most = 0.0
    for k in range(1, n):
        e = sub(row(work.ring, base + k), row(work.ring, base))
        most = max(most, dot(e, e))
    return most


@native
def _nearest_corner(work, base, n, x):
    """Return the nearest corner of a ring and the square of its distance."""
    best, chosen = 1e300, base
    for k in range(base, base + n):
        gap = sub(x, row(work.ring, k))
        if dot(gap, gap) < best:
            best, chosen = dot(gap, gap), k
    return chosen, best
