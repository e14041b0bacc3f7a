"""depth, normal <- two boxes: separating axes (Gottschalk, Lin, Manocha 1996), the fifteen of them."""

from math import sqrt

from linkwork.contact.decorators import native_apart
from linkwork.geometry.vectors import ZERO, along, dot, neg, sub, turned
from linkwork.native.numba_functions import native

_PREFERRED = 1e-8  # of the size: a face is preferred to edges that are no better than this


@native
def _edges(a, b, R, Q, p, i, j, least, crossed):
    """Return the least depth so far and its edges, with the axis e_i x R e_j tried too."""
    k, l, m, n = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
    ss = 1.0 - R[3 * i + j] * R[3 * i + j]  # the squared length of the axis
    reach = a[k] * Q[3 * l + j] + a[l] * Q[3 * k + j] + b[m] * Q[3 * i + n] + b[n] * Q[3 * i + m]
    depth = reach - abs(p[l] * R[3 * k + j] - p[k] * R[3 * l + j])
    if ss < 1e-10 or depth >= max(least, 0.0):
        return least, crossed
    depth /= sqrt(ss)
    if depth < least:
        return depth, 3 * i + j
    return least, crossed


@native_apart
def box_box(A, B, R, p, limit):
    """Return depth (negative: apart along an axis), normal from a to b, a point on each where edges cross,
    and whether the normal is that of a face. Axes of A; B is placed by R, p there.

    Apart by more than `limit` along an axis is -inf. Where a face decides, the points are not found here.
    """
    a = (A.x, A.y, A.z)
    b = (B.x, B.y, B.z)
    Q = (abs(R[0]), abs(R[1]), abs(R[2]), abs(R[3]), abs(R[4]), abs(R[5]), abs(R[6]), abs(R[7]), abs(R[8]))
    best, axis = 1e300, -1
    for i in range(3):
        depth = a[i] + b[0] * Q[3 * i] + b[1] * Q[3 * i + 1] + b[2] * Q[3 * i + 2] - abs(p[i])
        if depth < -limit:
            return -1e300, ZERO, ZERO, ZERO, True
        if depth < best:
            best, axis = depth, i
    for j in range(3):
        t = p[0] * R[j] + p[1] * R[3 + j] + p[2] * R[6 + j]
        depth = a[0] * Q[j] + a[1] * Q[3 + j] + a[2] * Q[6 + j] + b[j] - abs(t)
        if depth < -limit:
            return -1e300, ZERO, ZERO, ZERO, True
        if depth < best:
            best, axis = depth, 3 + j
    slack = _PREFERRED * (a[0] + a[1] + a[2] + b[0] + b[1] + b[2])
    edge, crossed = best - slack, -1
    # Nine calls with numbers known at compile time are twice as fast as two loops.
    edge, crossed = _edges(a, b, R, Q, p, 0, 0, edge, crossed)
    edge, crossed = _edges(a, b, R, Q, p, 0, 1, edge, crossed)
    edge, crossed = _edges(a, b, R, Q, p, 0, 2, edge, crossed)
    edge, crossed = _edges(a, b, R, Q, p, 1, 0, edge, crossed)
    edge, crossed = _edges(a, b, R, Q, p, 1, 1, edge, crossed)
    edge, crossed = _edges(a, b, R, Q, p, 1, 2, edge, crossed)
    edge, crossed = _edges(a, b, R, Q, p, 2, 0, edge, crossed)
    edge, crossed = _edges(a, b, R, Q, p, 2, 1, edge, crossed)
    edge, crossed = _edges(a, b, R, Q, p, 2, 2, edge, crossed)
    if crossed >= 0:
        best, axis = edge, 6 + crossed
    if best < -limit:
        return -1e300, ZERO, ZERO, ZERO, True
    if axis < 3:
        s = 1.0 if p[axis] > 0.0 else -1.0
        return best, (s * (axis == 0), s * (axis == 1), s * (axis == 2)), ZERO, ZERO, True
    if axis < 6:
        j = axis - 3
        normal = (R[j], R[3 + j], R[6 + j])
        return best, (normal if dot(normal, p) > 0.0 else neg(normal)), ZERO, ZERO, True
    i, j = (axis - 6) // 3, (axis - 6) % 3
    k, l = (i + 1) % 3, (i + 2) % 3
    c = 1.0 / sqrt(1.0 - R[3 * i + j] * R[3 * i + j])
    nk, nl = -c * R[3 * l + j], c * R[3 * k + j]
    normal = (
        nk * (k == 0) + nl * (l == 0),
        nk * (k == 1) + nl * (l == 1),
        nk * (k == 2) + nl * (l == 2),
    )
    if dot(normal, p) < 0.0:
        normal = neg(normal)
    # The edges: the middles of those that reach farthest along the normal, then their closest points.
    on_a = (
        0.0 if i == 0 else (a[0] if normal[0] > 0.0 else -a[0]),
        0.0 if i == 1 else (a[1] if normal[1] > 0.0 else -a[1]),
        0.0 if i == 2 else (a[2] if normal[2] > 0.0 else -a[2]),
    )
    u = (1.0 * (i == 0), 1.0 * (i == 1), 1.0 * (i == 2))
    d0 = normal[0] * R[0] + normal[1] * R[3] + normal[2] * R[6]
    d1 = normal[0] * R[1] + normal[1] * R[4] + normal[2] * R[7]
    d2 = normal[0] * R[2] + normal[1] * R[5] + normal[2] * R[8]
    corner = (
        0.0 if j == 0 else (-b[0] if d0 > 0.0 else b[0]),
        0.0 if j == 1 else (-b[1] if d1 > 0.0 else b[1]),
        0.0 if j == 2 else (-b[2] if d2 > 0.0 else b[2]),
    )
    on_b = along(turned(R, corner), 1.0, p)
    v = (R[j], R[3 + j], R[6 + j])
    gap = sub(on_b, on_a)
    uv, ug, vg = dot(u, v), dot(u, gap), dot(v, gap)
    bottom = 1.0 - uv * uv
    s, t = (ug - uv * vg) / bottom, (uv * ug - vg) / bottom
    s = min(max(s, -a[i]), a[i])
    t = min(max(t, -b[j]), b[j])
    return best, normal, along(on_a, s, u), along(on_b, t, v), False
