"""depth, normal <- a guess of them: Newton's method on the direction, for pairs with a curved surface.

h(n) = n.w(n) is how far A - B reaches in the direction n; w(n), the point that reaches so far, is its
gradient. Depth is a minimum of h over unit n, distance a maximum of -h. On a *branch* (one corner of a box,
one rim of a cylinder, the whole of an ellipsoid) w is smooth, and H = dw/dn is known. At the solution up to
three branches are level, each with a weight: with k of them

    sum l_i w_i(n) = h n,    n.w_i(n) = h  (i = 1..k),    |n| = 1,    sum l_i = 1

which Newton's method solves in a few steps. The result counts only if the weights are positive, no other
point reaches farther, and the depth does not fall to either side.
"""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.shape_kinds import TRACED, switch
from linkwork.contact.support import curved, difference_apart, support, traced_bend
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    cross,
    dot,
    neg,
    norm,
    row,
    scale,
    sub,
    tangents,
    turned,
    turned_back,
    unit,
)

_STEPS = 11
_MANY = 1 << 31  # more than a shape has branches
_ARRIVED = 1e-7  # turn of the last step [rad]: what is left is of the order of its square
_BEYOND = 1e-11  # of the size: no other point may reach farther than this


@native
def _other_branch(form, x):
    """Return the nearest corner of a hull; a traced solid is taken for smooth."""
    if form.kind == TRACED:
        return 0
    best, nearest = form.first, 1e300
    for k in range(form.first, form.first + form.many):
        gap = sub(row(form.points, k), x)
        far = dot(gap, gap)
        if far < nearest:
            best, nearest = k, far
    return best


@native
def _on_other_branch(form, branch, d):
    return support(form, d) if form.kind == TRACED else row(form.points, branch)


@native
def _other_bend(form, branch, d, s, t):
    return traced_bend(form, d, s, t) if curved(form) else ZERO


_branch = native(switch("branch", "x", _other_branch))  # on which a point of the surface lies
_on_branch = native(switch("on_branch", "branch, d", _on_other_branch))  # its farthest point in a direction
_bend = native(switch("bend", "branch, d, s, t", _other_bend))  # s.H s, s.H t, t.H t there, with H = dw/dn


@native
def _pair_branch(A, B, R, p, w, a):
    """Return on which branch of A - B a point of it lies, as one number."""
    return _branch(A, a) * _MANY + _branch(B, turned_back(R, sub(sub(a, w), p)))


@native
def _difference_bend(A, B, i, j, n, s, t, d, e, f):
    """Return the bend of A - B on a branch of each; d, e, f are -n, s, t in axes of B."""
    ss, st, tt = _bend(A, i, n, s, t)
    if curved(B):
        ss, st, tt = add((ss, st, tt), _bend(B, j, d, e, f))
    return ss, st, tt


@native_apart
def polish(A, B, R, p, W, P, i, j, k, l, normal, count):
    """Return how many branches are level (0: it did not work), h (depth, or minus the distance), the normal
    from a to b, the point of A, and how steeply h grows away from there, where branches meet.

    The guess: up to three points of A - B, rows i, j, k of W (those of A in P), their weights and the normal.
    """
    # Points of one branch are one point.
    c0 = _pair_branch(A, B, R, p, row(W, i), row(P, i))
    c1, c2 = -1, -1
    l0, l1, l2 = l[0], 0.0, 0.0
    branches = 1
    for m in range(1, count):
        r = j if m == 1 else k
        weight = l[1] if m == 1 else l[2]
        c = _pair_branch(A, B, R, p, row(W, r), row(P, r))
        if c == c0:
            l0 += weight
        elif c == c1:
            l1 += weight
        elif branches == 1:
            c1, l1, branches = c, weight, 2
        else:
            c2, l2, branches = c, weight, 3
    a0, b0, a1, b1, a2, b2 = c0 // _MANY, c0 % _MANY, c1 // _MANY, c1 % _MANY, c2 // _MANY, c2 % _MANY
    n = normal
    arrived, steady, last = False, True, 0.25
    h, size = 0.0, 0.0
    point, w0, w1, w2 = ZERO, ZERO, ZERO, ZERO
    for _step in range(_STEPS):
        d = neg(turned_back(R, n))
        x0 = _on_branch(A, a0, n)
        w0 = sub(x0, add(turned(R, _on_branch(B, b0, d)), p))
        point, w = x0, w0
        w1, w2 = w0, w0
        if branches > 1:
            x1 = _on_branch(A, a1, n)
            w1 = sub(x1, add(turned(R, _on_branch(B, b1, d)), p))
            point, w = along(scale(l0, x0), l1, x1), along(scale(l0, w0), l1, w1)
        if branches > 2:
            x2 = _on_branch(A, a2, n)
            w2 = sub(x2, add(turned(R, _on_branch(B, b2, d)), p))
            point, w = along(point, l2, x2), along(w, l2, w2)
        h = dot(n, w)
        size = norm(w0)
        if arrived:
            break
        s, t = tangents(n)
        if branches == 3:  # the plane through three points
            u = cross(sub(w1, w0), sub(w2, w0))
            side = unit(u) if dot(u, n) > 0.0 else unit(neg(u))
            e0, e1 = dot(s, side), dot(t, side)
            l0, l1, l2 = _weights(w0, w1, w2, u)
        else:
            # The matrix of the tangent plane: M = H - h, and the gradient.
            e, f = turned_back(R, s), turned_back(R, t)
            H = _difference_bend(A, B, a0, b0, n, s, t, d, e, f)
            if branches == 2:
                H = along(scale(l0, H), l1, _difference_bend(A, B, a1, b1, n, s, t, d, e, f))
            m00, m01, m11 = H[0] - h, H[1], H[2] - h
            g0, g1 = dot(s, w), dot(t, w)
            if branches == 1:
                bottom = m00 * m11 - m01 * m01
                steady = bottom > 0.0 and m00 + m11 > 0.0
                e0, e1 = (m01 * g1 - m11 * g0) / bottom, (m01 * g0 - m00 * g1) / bottom
            else:
                gap = sub(w1, w0)
                c0, c1, off = dot(s, gap), dot(t, gap), dot(n, gap)
                cc = c0 * c0 + c1 * c1
                q0, q1 = -c1, c0
                level0, level1 = -off * c0 / cc, -off * c1 / cc
                Mq0, Mq1 = m00 * q0 + m01 * q1, m01 * q0 + m11 * q1
                bottom = q0 * Mq0 + q1 * Mq1
                steady = bottom > 0.0
                tau = -(q0 * g0 + q1 * g1 + Mq0 * level0 + Mq1 * level1) / bottom
                e0, e1 = level0 + tau * q0, level1 + tau * q1
                change = -(c0 * (g0 + m00 * e0 + m01 * e1) + c1 * (g1 + m01 * e0 + m11 * e1)) / cc
                l0, l1 = l0 - change, l1 + change
        turn = e0 * e0 + e1 * e1
        if not (steady and turn < last):
            return 0, 0.0, n, ZERO, 0.0
        arrived = turn <= _ARRIVED * _ARRIVED
        last = 0.5 * turn
        n = unit(along(along(n, e0, s), e1, t))
    if not (arrived and l0 >= -1e-9 and l1 >= -1e-9 and l2 >= -1e-9):
        return 0, 0.0, n, ZERO, 0.0
    far, _a = difference_apart(A, B, R, p, n)
    if dot(far, n) > h + _BEYOND * size:
        return 0, 0.0, n, ZERO, 0.0
    return branches, h, n, point, (_slope(w0, w1, w2, h, n, branches) if h > 0.0 else 0.0)


@native
def _slope(w0, w1, w2, h, n, branches):
    """Return how steeply the depth grows at least, in whatever direction n turns; with two branches, towards
    either of them; 0 with one."""
    v0, v1, v2 = along(w0, -h, n), along(w1, -h, n), along(w2, -h, n)
    if branches == 1:
        return 0.0
    if branches == 2:
        return min(norm(v0), norm(v1))
    return min(_beside(v0, v1), min(_beside(v1, v2), _beside(v2, v0)))


@native
def _beside(a, b):
    """Return the distance of the origin from the line through two points."""
    return norm(cross(a, b)) / norm(sub(b, a))


@native
def _weights(a, b, c, u):
    """Return the weights of three points in the foot of the origin on their plane, whose normal is u."""
    uu = dot(u, u)
    inner = sub(scale(dot(u, a) / uu, u), a)
    v = dot(cross(inner, sub(c, a)), u) / uu
    w = dot(cross(sub(b, a), inner), u) / uu
    return 1.0 - v - w, v, w
