"""p <- p: the impulse of one contact with which its own laws hold, all others held; sweeps over contacts.

Of one contact alone, u = W p + q with a symmetric W of 3 by 3, and three cases are possible (Jean and Moreau
1992). It is open, p = 0, if q_n >= 0. It sticks, p = -W^-1 q, if that lies in the cone. Else it slides, with
the slip against the friction: u_n = 0 and u_t = -a p_t for some a > 0. Without p_n, that

    p_n = -(q_n + w . p_t) / W_nn

gives, w = W_tn, what is left is a system of two rows with S = W_tt - w w^T / W_nn and c = q_t - w q_n / W_nn,

    (S + a) p_t = -c,     |p_t| = mu p_n,

which along the axes of S is one equation in a. |p_t| - mu p_n is above 0 at a = 0, where it does not stick,
and below 0 as a grows, so there is a root; Newton's method on 1 - mu p_n / |p_t|, which is nearly linear in
a, finds it in some five steps, and bisection where that fails.
"""

from math import sqrt

from linkwork.contact_dynamics.problem.friction_cone import BOND, COULOMB, DRY, HELD, SPRING, STOPPED
from linkwork.native.numba_functions import add_scaled, add_two, native, native_apart

NONE = 1e-9  # of the response of its neighbours: a row that cannot move
_STEPS = 40  # at most, to find how fast a contact slides
_EXACT = 1e-10  # of the friction


@native
def _sliding(w, mu, q, v1, v2, l1, l2, d1, d2):
    """Return p_n and p_t along the axes of S, of eigenvalues l; v and d are w and c along these."""
    a, low, high = 0.0, 0.0, 1e300
    n = t1 = t2 = 0.0
    f = 1.0 / w
    for step in range(_STEPS):
        g1, g2 = 1.0 / (l1 + a), 1.0 / (l2 + a)
        t1, t2 = -d1 * g1, -d2 * g2
        n = -(q + v1 * t1 + v2 * t2) * f
        t = sqrt(t1 * t1 + t2 * t2)
        if (step == 0 and t <= mu * n) or abs(t - mu * n) <= _EXACT * t:
            break
        if t > mu * n:
            low = a
        else:
            high = a
        r1, r2, square = -t1 * g1, -t2 * g2, t * t
        slope = mu * ((v1 * r1 + v2 * r2) * f * square + n * (t1 * r1 + t2 * r2))  # times t^3
        new = a - (square * (t - mu * n)) / slope if slope < 0.0 else -1.0
        if not low < new < high:
            new = 0.5 * (low + high) if high < 1e300 else 2.0 * low + 0.1 * l1
        if new == a:
            break
        a = new
    n, t = max(n, 0.0), sqrt(t1 * t1 + t2 * t2)
    f = mu * n / t if t > mu * n else 1.0
    return n, f * t1, f * t2


@native_apart
def coulomb(w00, w01, w02, w11, w12, w22, q0, q1, q2, mu):
    """Return the impulse of a contact with friction."""
    least = NONE * (w11 + w22)
    if q0 >= 0.0 or w00 <= least:
        return 0.0, 0.0, 0.0
    s11, s12, s22 = w11 - w01 * w01 / w00, w12 - w01 * w02 / w00, w22 - w02 * w02 / w00
    half, middle = 0.5 * (s11 - s22), 0.5 * (s11 + s22)
    apart = sqrt(half * half + s12 * s12)
    if mu == 0.0 or middle + apart <= least:
        return -q0 / w00, 0.0, 0.0
    e, f = (half + apart, s12) if half >= 0.0 else (s12, apart - half)
    length = sqrt(e * e + f * f)
    if length > 0.0:
        e, f = e / length, f / length
    else:
        e, f = 1.0, 0.0
    c1, c2 = q1 - w01 * q0 / w00, q2 - w02 * q0 / w00
    l2, d2 = middle - apart, e * c2 - f * c1
    if l2 <= least:  # as in the plane, where there is one tangent
        l2, d2 = 1.0, 0.0
    v1, v2 = e * w01 + f * w02, e * w02 - f * w01
    n, t1, t2 = _sliding(w00, mu, q0, v1, v2, middle + apart, l2, e * c1 + f * c2, d2)
    return n, e * t1 - f * t2, f * t1 + e * t2


@native
def _held(d, i, p, u):
    """Return the impulses of what is joined."""
    W, n = d.W, 3 * d.count
    x = i * n + i
    a, b, c = W[x], W[x + n + 1], W[x + 2 * n + 2]
    least = NONE * (a + b + c)
    d0 = -u[i] / a if a > least else 0.0
    d1 = -(u[i + 1] + W[x + n] * d0) / b if b > least else 0.0
    d2 = -(u[i + 2] + W[x + 2 * n] * d0 + W[x + 2 * n + 1] * d1) / c if c > least else 0.0
    return p[i] + d0, p[i + 1] + d1, p[i + 2] + d2


@native
def _other(d, k, p, u):
    """Return the impulses of stops, of what resists by itself, and of springs: the first, then the others."""
    i, n, kind = 3 * k, 3 * d.count, d.kind[k]
    W, x = d.W, i * n + i
    w, new = W[x], p[i]
    share = max(p[3 * d.of[k]], 0.0) if d.of[k] >= 0 else 1.0
    if w > NONE * (W[x + n + 1] + W[x + 2 * n + 2]):
        new -= u[i] / w
        if kind == STOPPED:
            new = max(new, 0.0)
        elif kind in (SPRING, BOND):
            new = (w * new) / (w + d.spin[k])
            new = max(new, 0.0) if kind == SPRING else new
        else:
            bound = share * (d.friction[k] if kind == DRY else d.spin[k])
            new = min(max(new, -bound), bound)
    t = max(W[x + n + 1], W[x + 2 * n + 2])
    if t <= 0.0 or kind in (STOPPED, DRY):
        return new, p[i + 1], p[i + 2]
    bound = d.friction[k] * (max(new, 0.0) if kind in (SPRING, BOND) else share)
    change = new - p[i]
    a = p[i + 1] - (u[i + 1] + W[x + n] * change) / t
    b = p[i + 2] - (u[i + 2] + W[x + 2 * n] * change) / t
    length = sqrt(a * a + b * b)
    f = bound / length if length > bound else 1.0
    return new, f * a, f * b


@native_apart
def sweep(d, p, u):
    """Let the laws of each contact hold in turn; u = W p + b follows. All are bare memory."""
    W, size = d.W, 3 * d.count
    for k in range(d.count):
        i, row = 3 * k, 3 * k * size
        if d.kind[k] == COULOMB:
            x, y, z, at = p[i], p[i + 1], p[i + 2], row + i
            a, b, c = W[at], W[at + 1], W[at + 2]
            e, f, g = W[at + size + 1], W[at + size + 2], W[at + 2 * size + 2]
            q0, q1, q2 = a * x + b * y + c * z, b * x + e * y + f * z, c * x + f * y + g * z
            new = coulomb(a, b, c, e, f, g, u[i] - q0, u[i + 1] - q1, u[i + 2] - q2, d.friction[k])
        elif d.kind[k] == HELD:
            new = _held(d, i, p, u)
        else:
            new = _other(d, k, p, u)
        x, y, z = new[0] - p[i], new[1] - p[i + 1], new[2] - p[i + 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            p[i], p[i + 1], p[i + 2] = new
            add_two(u, 0, size, x, W, row, y, W, row + size)
            add_scaled(u, 0, size, z, W, row + 2 * size)
