"""where two triangles cross <- their corners: the intervals in which they meet the common line (Moeller
1997)."""

from linkwork.contact.decorators import native, native_apart
from linkwork.geometry.vectors import ZERO, along, cross, dot, neg, norm, scale, sub, unit


@native
def crossing(p0, p1, p2, q0, q1, q2):
    """Return whether triangles p and q touch, the ends of the segment they share, and their normals' sizes.

    Of triangles in one plane it is a point of the first that the other covers, twice.
    """
    n2 = cross(sub(q1, q0), sub(q2, q0))
    d0, d1, d2 = dot(n2, sub(p0, q0)), dot(n2, sub(p1, q0)), dot(n2, sub(p2, q0))
    if (d0 > 0.0 and d1 > 0.0 and d2 > 0.0) or (d0 < 0.0 and d1 < 0.0 and d2 < 0.0):
        return False, ZERO, ZERO
    n1 = cross(sub(p1, p0), sub(p2, p0))
    e0, e1, e2 = dot(n1, sub(q0, p0)), dot(n1, sub(q1, p0)), dot(n1, sub(q2, p0))
    if (e0 > 0.0 and e1 > 0.0 and e2 > 0.0) or (e0 < 0.0 and e1 < 0.0 and e2 < 0.0):
        return False, ZERO, ZERO
    line = cross(n1, n2)
    l1, l2 = dot(n1, n1), dot(n2, n2)
    if dot(line, line) <= 1e-24 * l1 * l2 or l1 == 0.0 or l2 == 0.0:
        return _flat(p0, p1, p2, q0, q1, q2, n1, n2)
    a, b = _cut(p0, p1, p2, d0, d1, d2)
    c, d = _cut(q0, q1, q2, e0, e1, e2)
    s, t, u, v = dot(line, a), dot(line, b), dot(line, c), dot(line, d)
    if s > t:
        a, b, s, t = b, a, t, s
    if u > v:
        c, d, u, v = d, c, v, u
    if s > v or u > t:
        return False, ZERO, ZERO
    return True, (a if s > u else c), (b if t < v else d)


@native
def _cut(p0, p1, p2, d0, d1, d2):
    """Return where a triangle crosses a plane, from the signed distances of its corners."""
    # The corner alone on its side, first.
    if (d0 >= 0.0 and d1 < 0.0 and d2 < 0.0) or (d0 <= 0.0 and d1 > 0.0 and d2 > 0.0):
        return _between(p0, p1, d0, d1), _between(p0, p2, d0, d2)
    if (d1 >= 0.0 and d0 < 0.0 and d2 < 0.0) or (d1 <= 0.0 and d0 > 0.0 and d2 > 0.0):
        return _between(p1, p0, d1, d0), _between(p1, p2, d1, d2)
    if (d2 >= 0.0 and d0 < 0.0 and d1 < 0.0) or (d2 <= 0.0 and d0 > 0.0 and d1 > 0.0):
        return _between(p2, p0, d2, d0), _between(p2, p1, d2, d1)
    # A corner in the plane, the others on both sides or in it.
    if d0 == 0.0:
        if d1 == 0.0:
            return p0, p1
        if d2 == 0.0:
            return p0, p2
        return p0, _between(p1, p2, d1, d2)
    if d1 == 0.0:
        if d2 == 0.0:
            return p1, p2
        return p1, _between(p0, p2, d0, d2)
    return p2, _between(p0, p1, d0, d1)


@native
def _between(x, y, dx, dy):
    return along(x, dx / (dx - dy), sub(y, x))


@native_apart
def _flat(p0, p1, p2, q0, q1, q2, n1, n2):
    """Triangles in one plane, or without area: separated by an edge of either, or not."""
    n = n1 if dot(n1, n1) >= dot(n2, n2) else n2
    if dot(n, n) == 0.0:
        return _thin(p0, p1, p2, q0, q1, q2)
    n = unit(n)
    # With a flat one among them, the plane of the other may be crossed: then they are apart along its normal.
    low, high = _range(n, p0, p1, p2)
    lower, higher = _range(n, q0, q1, q2)
    size = norm(sub(p1, p0)) + norm(sub(p2, p0)) + norm(sub(q1, q0)) + norm(sub(q2, q0))
    if low > higher + 1e-14 * size or lower > high + 1e-14 * size:
        return False, ZERO, ZERO
    for k in range(6):
        if k == 0:
            e = sub(p1, p0)
        elif k == 1:
            e = sub(p2, p1)
        elif k == 2:
            e = sub(p0, p2)
        elif k == 3:
            e = sub(q1, q0)
        elif k == 4:
            e = sub(q2, q1)
        else:
            e = sub(q0, q2)
        out = cross(e, n)
        low, high = _range(out, p0, p1, p2)
        lower, higher = _range(out, q0, q1, q2)
        if low > higher or lower > high:
            return False, ZERO, ZERO
    x = _common(p0, p1, p2, q0, q1, q2, n)
    return True, x, x


@native
def _range(d, p0, p1, p2):
    a, b, c = dot(d, p0), dot(d, p1), dot(d, p2)
    return min(a, min(b, c)), max(a, max(b, c))


@native
def _common(p0, p1, p2, q0, q1, q2, n):
    """Return a point common to two triangles of one plane that overlap: a corner of one, or where sides
    cross."""
    for k in range(3):
        x = p0 if k == 0 else (p1 if k == 1 else p2)
        if _covers(q0, q1, q2, x, n):
            return x
        y = q0 if k == 0 else (q1 if k == 1 else q2)
        if _covers(p0, p1, p2, y, n):
            return y
    for k in range(3):
        a, b = (p0, p1) if k == 0 else ((p1, p2) if k == 1 else (p2, p0))
        for m in range(3):
            c, d = (q0, q1) if m == 0 else ((q1, q2) if m == 1 else (q2, q0))
            out = cross(sub(d, c), n)
            s, t = dot(out, sub(a, c)), dot(out, sub(b, c))
            if s * t < 0.0:
                x = _between(a, b, s, t)
                along_cd = dot(sub(x, c), sub(d, c))
                if 0.0 <= along_cd <= dot(sub(d, c), sub(d, c)):
                    return x
    return scale(1.0 / 3.0, along(along(p0, 1.0, p1), 1.0, p2))


@native
def _covers(q0, q1, q2, x, n):
    a = dot(cross(sub(q1, q0), sub(x, q0)), n)
    b = dot(cross(sub(q2, q1), sub(x, q1)), n)
    c = dot(cross(sub(q0, q2), sub(x, q2)), n)
    return (a >= 0.0 and b >= 0.0 and c >= 0.0) or (a <= 0.0 and b <= 0.0 and c <= 0.0)


@native
def _thin(p0, p1, p2, q0, q1, q2):
    """Two triangles without area are segments: do they meet?"""
    a, b = _longest(p0, p1, p2)
    c, d = _longest(q0, q1, q2)
    x, y = closest_of_segments(a, b, c, d)
    gap = sub(x, y)
    size = norm(sub(b, a)) + norm(sub(d, c))
    return norm(gap) <= 1e-14 * size, x, x


@native
def _longest(p0, p1, p2):
    a, b, c = sub(p1, p0), sub(p2, p1), sub(p0, p2)
    aa, bb, cc = dot(a, a), dot(b, b), dot(c, c)
    if aa >= bb and aa >= cc:
        return p0, p1
    if bb >= cc:
        return p1, p2
    return p2, p0


@native
def closest_of_segments(a, b, c, d):
    """Return the closest points of two segments (Ericson 2005, 5.1.9)."""
    u, v, r = sub(b, a), sub(d, c), sub(a, c)
    uu, vv, vr = dot(u, u), dot(v, v), dot(v, r)
    s, t = 0.0, 0.0
    if uu <= 0.0:
        if vv > 0.0:
            t = min(max(vr / vv, 0.0), 1.0)
        return a, along(c, t, v)
    ur = dot(u, r)
    if vv <= 0.0:
        s = min(max(-ur / uu, 0.0), 1.0)
        return along(a, s, u), c
    uv = dot(u, v)
    bottom = uu * vv - uv * uv
    if bottom > 1e-14 * uu * vv:
        s = min(max((uv * vr - ur * vv) / bottom, 0.0), 1.0)
    t = (uv * s + vr) / vv
    if t < 0.0:
        t = 0.0
        s = min(max(-ur / uu, 0.0), 1.0)
    elif t > 1.0:
        t = 1.0
        s = min(max((uv - ur) / uu, 0.0), 1.0)
    return along(a, s, u), along(c, t, v)


@native
def contact_of(p0, p1, p2, q0, q1, q2):
    """Return depth and normal (from the first to the second) of two triangles that cross, seen as surfaces of
    solids: the face that the other enters less is the reference. And which, 0 or 1, and how deep two corners
    go.
    """
    n1 = unit(cross(sub(p1, p0), sub(p2, p0)))
    n2 = unit(cross(sub(q1, q0), sub(q2, q0)))
    low_q, _ = _range(n1, q0, q1, q2)
    low_p, _ = _range(n2, p0, p1, p2)
    under_p = dot(n1, p0) - low_q  # how far q goes below the face p
    under_q = dot(n2, q0) - low_p
    if under_p <= under_q:
        return max(under_p, 0.0), n1, 0
    return max(under_q, 0.0), neg(n2), 1
