"""closest points <- two convex cores: Gilbert, Johnson and Keerthi's distance algorithm (1988).

The distance of A and B is that of the origin from A - B, the set of differences of their points. The set is
known through its support function alone; a simplex of up to four of its points approaches the origin. The
closest point of a simplex is found by regions (Ericson, Real-Time Collision Detection, 5.1).
"""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.support import difference
from linkwork.geometry.vectors import ZERO, along, cross, dot, neg, put, row, scale, sub

APART, NEAR, INSIDE = range(3)  # farther than the limit; closest points found; the cores overlap
_STEPS = 128
_TOUCHING = 1e-26  # of the squared size of the simplex: then the cores touch


@native_apart
def gjk(A, B, R, p, W, P, start, limit, tolerance):
    """Find the closest points of two cores; B is placed by R, p in the axes of A.

    Return how it ended, the point v of A - B closest to the origin, how many corners of the simplex it lies
    on (the first rows of W, those of A in P), its weights there, and of all directions that were asked the
    one, of any length, along which A and B are farthest apart. Farther apart than `limit` is APART. The
    bounds of the squared distance agree to `tolerance` of it.

    Where curved cores are next to touching, chords are deeper than their distance is long, and v points
    anywhere. The best direction does not: what it shows is true of A and B.
    """
    v = start
    vv = dot(v, v)
    best, clear = neg(v), -1e300
    n = 0
    l = (1.0, 0.0, 0.0, 0.0)
    if not vv > 0.0:
        v, vv = (1.0, 0.0, 0.0), 1.0
    bound = limit * limit
    size = 0.0
    for step in range(_STEPS):
        w, a = difference(A, B, R, p, (-v[0], -v[1], -v[2]))
        vw = dot(v, w)
        far = vw * abs(vw) / vv
        if far > bound:
            return APART, v, n, l, best
        if far >= clear:
            best, clear = neg(v), far
        if n > 0:
            if vv - vw <= tolerance * vv:
                break
            known = False
            for k in range(n):
                known = known or row(W, k) == w
            if known:
                break
        put(W, n, w)
        put(P, n, a)
        n += 1
        size = max(size, dot(w, w))
        before = vv
        v, n, l = _closest(W, P, n)
        vv = dot(v, v)
        if n == 4 or vv <= _TOUCHING * size:
            return INSIDE, v, n, l, best
        if step > 0 and vv >= before:
            break
    return NEAR, v, n, l, best


@native
def witness(P, n, l):
    """Return the point of A that belongs to the closest point of A - B."""
    a = ZERO
    for k in range(n):
        a = along(a, l[k], row(P, k))
    return a


@native
def _closest(W, P, n):
    """Return the point of a simplex closest to the origin; keep only the corners it lies on."""
    if n == 1:
        return row(W, 0), 1, (1.0, 0.0, 0.0, 0.0)
    if n == 2:
        return _on_segment(W, P)
    if n == 3:
        l0, l1, l2 = triangle_weights(row(W, 0), row(W, 1), row(W, 2))
        return _kept(W, P, 0, 1, 2, l0, l1, l2)
    return _on_tetrahedron(W, P)


@native
def _on_segment(W, P):
    a, b = row(W, 0), row(W, 1)
    ab = sub(b, a)
    t = -dot(a, ab)
    length = dot(ab, ab)
    if t <= 0.0:
        return a, 1, (1.0, 0.0, 0.0, 0.0)
    if t >= length:
        put(W, 0, b)
        put(P, 0, row(P, 1))
        return b, 1, (1.0, 0.0, 0.0, 0.0)
    t /= length
    return along(a, t, ab), 2, (1.0 - t, t, 0.0, 0.0)


@native
def triangle_weights(a, b, c):
    """Return the weights of the corners in the point of a triangle closest to the origin."""
    ab, ac = sub(b, a), sub(c, a)
    d1, d2 = -dot(ab, a), -dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    d3, d4 = -dot(ab, b), -dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        return 1.0 - t, t, 0.0
    d5, d6 = -dot(ab, c), -dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return 1.0 - t, 0.0, t
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    total = va + vb + vc
    if not total > 0.0:
        return 1.0, 0.0, 0.0
    v, w = vb / total, vc / total
    return 1.0 - v - w, v, w


@native
def _kept(W, P, i, j, k, l0, l1, l2):
    """Keep those of three corners that have weight; return the point, how many, and the weights."""
    wi, wj, wk = row(W, i), row(W, j), row(W, k)
    ai, aj, ak = row(P, i), row(P, j), row(P, k)
    if l0 > 0.0 and l1 > 0.0 and l2 > 0.0:
        put(W, 0, wi)
        put(W, 1, wj)
        put(W, 2, wk)
        put(P, 0, ai)
        put(P, 1, aj)
        put(P, 2, ak)
        n = cross(sub(wj, wi), sub(wk, wi))
        # The foot on the plane: its direction does not suffer from the origin being near.
        return scale(dot(n, wi) / dot(n, n), n), 3, (l0, l1, l2, 0.0)
    v = along(along(scale(l0, wi), l1, wj), l2, wk)
    n = 0
    m0, m1 = 0.0, 0.0
    if l0 > 0.0:
        put(W, 0, wi)
        put(P, 0, ai)
        m0, n = l0, 1
    if l1 > 0.0:
        put(W, n, wj)
        put(P, n, aj)
        if n == 0:
            m0 = l1
        else:
            m1 = l1
        n += 1
    if l2 > 0.0:
        put(W, n, wk)
        put(P, n, ak)
        if n == 0:
            m0 = l2
        else:
            m1 = l2
        n += 1
    return v, n, (m0, m1, 0.0, 0.0)


@native
def _on_tetrahedron(W, P):
    """The origin lies inside, or beyond a face: then the closest point is that of such a face."""
    a, b, c, d = row(W, 0), row(W, 1), row(W, 2), row(W, 3)
    best = -1.0
    m0, m1, m2 = 0.0, 0.0, 0.0
    i, j, k = 0, 0, 0
    for face in range(4):
        if face == 0:
            x, y, z, other = a, b, c, d
        elif face == 1:
            x, y, z, other = a, c, d, b
        elif face == 2:
            x, y, z, other = a, d, b, c
        else:
            x, y, z, other = b, d, c, a
        n = cross(sub(y, x), sub(z, x))
        side, inner = -dot(n, x), dot(n, sub(other, x))
        flat = inner * inner <= 1e-28 * dot(n, n) * dot(sub(other, x), sub(other, x))
        if flat or side * inner < 0.0:
            l0, l1, l2 = triangle_weights(x, y, z)
            v = along(along(scale(l0, x), l1, y), l2, z)
            vv = dot(v, v)
            if best < 0.0 or vv < best:
                best, m0, m1, m2 = vv, l0, l1, l2
                if face == 0:
                    i, j, k = 0, 1, 2
                elif face == 1:
                    i, j, k = 0, 2, 3
                elif face == 2:
                    i, j, k = 0, 3, 1
                else:
                    i, j, k = 1, 3, 2
    if best < 0.0:
        return ZERO, 4, (0.25, 0.25, 0.25, 0.25)
    return _kept(W, P, i, j, k, m0, m1, m2)
