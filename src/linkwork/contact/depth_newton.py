"""depth, normal <- a guess of them: Newton's method on the direction, for pairs with a curved surface.

h(n) = n.w(n) is how far A - B reaches in the direction n; w(n), the point that reaches so far, is its
gradient. Depth is a minimum of h over unit n, distance a maximum of -h. On a *branch* (one corner of a box,
one rim of a cylinder, the whole of an ellipsoid) w is smooth, and H = dw/dn is known; H is symmetric and
H n = 0, since w does not depend on the length of n. At the solution up to three branches are level, each with
a weight: with k of them

    sum l_i w_i(n) = h n,    n.w_i(n) = h  (i = 1..k),    |n| = 1,    sum l_i = 1.              (1)

Let s, t be unit vectors across n, and turn n by e = (e_s, e_t): n' = n + e_s s + e_t t, made of length one.
With w = sum l_i w_i and H = sum l_i H_i the part of (1) across n' is, to first order in e,

    g + M e = 0,    g = (s.w, t.w),    M = (s.H s - h   s.H t    )                              (2)
                                           (s.H t       t.H t - h)

*One branch*: (2) is the step. M is positive definite at a minimum of h, and is asked to be on the way.
*Two branches*: with d = w_1 - w_0 and c = (s.d, t.d) they stay level if n.d + c.e = 0, and a change x of
their weights, l_1 + x and l_0 - x, adds x c to g. So  e = -(n.d) c / |c|^2 + y q  with q = (-c_t, c_s) across
c; y follows from q.(g + M e) = 0, and x from c.(g + M e) + x |c|^2 = 0.
*Three branches*: n' is the normal of the plane through the three points, and the weights are those of the
foot of the origin on it. Three points in a row, as those of two cylinders side by side, whose rims may meet
in four ways, have no such plane: the two ends of the row say all that the three do.

The result counts only if the weights are positive, no other point reaches farther, and the depth does not
fall to either side.
"""

from typing import Any, NamedTuple

from linkwork.contact.corner_clusters import nearest_corner
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
_ARRIVED = 1e-7  # turn of the last step [rad]: what is left is of the order of its square
_BEYOND = 1e-11  # of the sizes: no other point may reach farther than this
_IN_A_ROW = 1e-7  # of the length of a row: so little a point of three is beside it
_NONE = (-1, -1)  # no branch


class Level(NamedTuple):
    """Branches of A - B that are to be level: a branch of A and one of B for each, and their weights."""

    many: int  # 1, 2 or 3
    first: Any  # (branch of A, branch of B)
    second: Any
    third: Any
    weights: Any  # three numbers


@native
def _other_branch(form, x):
    """Return the nearest corner of a hull; a traced solid is taken for smooth."""
    if form.kind == TRACED:
        return 0
    return nearest_corner(form, x)


@native
def _on_other_branch(form, branch, d):
    return support(form, d) if form.kind == TRACED else row(form.points, branch)


@native
def _other_bend(form, branch, d, s, t):
    return traced_bend(form, d, s, t) if curved(form) else ZERO


# the branch of a point of the surface; the farthest point of a branch; s.H s, s.H t, t.H t there
_branch = native(switch("branch", ("x",), _other_branch))
_on_branch = native(switch("on_branch", ("branch", "d"), _on_other_branch))
_bend = native(switch("bend", ("branch", "d", "s", "t"), _other_bend))


@native
def _branches(A, B, R, p, w, a):
    """Return on which branch of A and on which of B a point of A - B lies; `a` is the point of A."""
    return _branch(A, a), _branch(B, turned_back(R, sub(sub(a, w), p)))


@native
def _point(A, B, R, p, branches, n, d):
    """Return the point of A - B on a pair of branches, and that of A; d is -n in axes of B."""
    a = _on_branch(A, branches[0], n)
    return sub(a, add(turned(R, _on_branch(B, branches[1], d)), p)), a


@native
def _pair_bend(A, B, branches, n, s, t, d, e, f):
    """Return s.H s, s.H t, t.H t of A - B on a pair of branches; d, e, f are -n, s, t in axes of B."""
    ss, st, tt = _bend(A, branches[0], n, s, t)
    if curved(B):
        ss, st, tt = add((ss, st, tt), _bend(B, branches[1], d, e, f))
    return ss, st, tt


@native
def _level(A, B, R, p, W, P, corners, weights, count):
    """Return the branches on which up to three points of A - B lie: those on one branch count as one."""
    first = _branches(A, B, R, p, row(W, corners[0]), row(P, corners[0]))
    second, third = _NONE, _NONE
    l0, l1, l2 = weights[0], 0.0, 0.0
    many = 1
    for m in range(1, count):
        weight = weights[1] if m == 1 else weights[2]
        k = corners[1] if m == 1 else corners[2]
        branches = _branches(A, B, R, p, row(W, k), row(P, k))
        if branches == first:
            l0 += weight
        elif branches == second:
            l1 += weight
        elif many == 1:
            second, l1, many = branches, weight, 2
        else:
            third, l2, many = branches, weight, 3
    return Level(many, first, second, third, (l0, l1, l2))


@native_apart
def _ends_of_row(A, B, R, p, level, n):
    """Return the two ends of a row, if the points of three branches are in one; else all three."""
    d = neg(turned_back(R, n))
    w0, _a = _point(A, B, R, p, level.first, n, d)
    w1, _b = _point(A, B, R, p, level.second, n, d)
    w2, _c = _point(A, B, R, p, level.third, n, d)
    x, y, z = sub(w1, w0), sub(w2, w0), sub(w2, w1)
    xx, yy, zz = dot(x, x), dot(y, y), dot(z, z)
    u, longest = cross(x, y), max(xx, max(yy, zz))
    if dot(u, u) > (_IN_A_ROW * longest) ** 2:
        return level
    if xx == longest:
        first, second, o, e = level.first, level.second, w0, x
    elif yy == longest:
        first, second, o, e = level.first, level.third, w0, y
    else:
        first, second, o, e = level.second, level.third, w1, z
    l = min(max(-dot(o, e) / longest, 0.0), 1.0) if longest > 0.0 else 0.5
    return Level(2, first, second, _NONE, (1.0 - l, l, 0.0))


@native
def _step_one(M, g):
    """Return the step (2) of one branch, and whether M is positive definite; M is (ss, st, tt)."""
    bottom = M[0] * M[2] - M[1] * M[1]
    e = ((M[1] * g[1] - M[2] * g[0]) / bottom, (M[1] * g[0] - M[0] * g[1]) / bottom)
    return e, bottom > 0.0 and M[0] + M[2] > 0.0


@native
def _step_two(M, g, c, off):
    """Return the step of two branches, the change of their weights, and whether M bends up across c."""
    cc = c[0] * c[0] + c[1] * c[1]
    q = (-c[1], c[0])
    level0, level1 = -off * c[0] / cc, -off * c[1] / cc
    Mq0, Mq1 = M[0] * q[0] + M[1] * q[1], M[1] * q[0] + M[2] * q[1]
    bottom = q[0] * Mq0 + q[1] * Mq1
    y = -(q[0] * g[0] + q[1] * g[1] + Mq0 * level0 + Mq1 * level1) / bottom
    e0, e1 = level0 + y * q[0], level1 + y * q[1]
    change = -(c[0] * (g[0] + M[0] * e0 + M[1] * e1) + c[1] * (g[1] + M[1] * e0 + M[2] * e1)) / cc
    return (e0, e1), change, bottom > 0.0


@native_apart
def polish(A, B, R, p, W, P, corners, weights, normal, count):
    """Return how many branches are level (0: it did not work), h (depth, or minus the distance), the normal
    from a to b, the point of A, and how steeply h grows away from there, where branches meet.

    The guess: `count` points of A - B, the rows `corners` of W (those of A in P), their weights, the normal.
    """
    level = _level(A, B, R, p, W, P, corners, weights, count)
    if level.many == 3:
        level = _ends_of_row(A, B, R, p, level, normal)
    many, (l0, l1, l2) = level.many, level.weights
    n = normal
    arrived, steady, last = False, True, 0.25
    h, size = 0.0, 0.0
    point, w0, w1, w2 = ZERO, ZERO, ZERO, ZERO
    for _step in range(_STEPS):
        d = neg(turned_back(R, n))
        w0, a0 = _point(A, B, R, p, level.first, n, d)
        point, w = a0, w0
        w1, w2 = w0, w0
        if many > 1:
            w1, a1 = _point(A, B, R, p, level.second, n, d)
            point, w = along(scale(l0, a0), l1, a1), along(scale(l0, w0), l1, w1)
        if many > 2:
            w2, a2 = _point(A, B, R, p, level.third, n, d)
            point, w = along(point, l2, a2), along(w, l2, w2)
        h = dot(n, w)
        size = norm(a0) + norm(sub(a0, w0))
        if arrived:
            break
        s, t = tangents(n)
        if many == 3:
            u = cross(sub(w1, w0), sub(w2, w0))
            side = unit(u) if dot(u, n) > 0.0 else unit(neg(u))
            step = (dot(s, side), dot(t, side))
            l0, l1, l2 = _weights(w0, w1, w2, u)
        else:
            e, f = turned_back(R, s), turned_back(R, t)
            H = _pair_bend(A, B, level.first, n, s, t, d, e, f)
            if many == 2:
                H = along(scale(l0, H), l1, _pair_bend(A, B, level.second, n, s, t, d, e, f))
            M, g = (H[0] - h, H[1], H[2] - h), (dot(s, w), dot(t, w))
            if many == 1:
                step, steady = _step_one(M, g)
            else:
                gap = sub(w1, w0)
                step, change, steady = _step_two(M, g, (dot(s, gap), dot(t, gap)), dot(n, gap))
                l0, l1 = l0 - change, l1 + change
        turn = step[0] * step[0] + step[1] * step[1]
        if not (steady and turn < last):
            return 0, 0.0, n, ZERO, 0.0
        arrived = turn <= _ARRIVED * _ARRIVED
        last = 0.5 * turn
        n = unit(along(along(n, step[0], s), step[1], t))
    if not (arrived and l0 >= -1e-9 and l1 >= -1e-9 and l2 >= -1e-9):
        return 0, 0.0, n, ZERO, 0.0
    far, _a = difference_apart(A, B, R, p, n)
    if dot(far, n) > h + _BEYOND * size:
        return 0, 0.0, n, ZERO, 0.0
    return many, h, n, point, (_slope(w0, w1, w2, h, n, many) if h > 0.0 else 0.0)


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
