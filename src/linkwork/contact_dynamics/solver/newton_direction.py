"""dp <- p, u: the direction of Newton's method on the laws of contact, of a small dense problem.

With u = W p + b (`delassus`) the laws are zeros of the function of Alart and Curnier (1991),

    F_n = p_n - max(p_n - r u_n, 0),     F_t = p_t - D(p_t - r u_t),

D the nearest point of the disc of radius mu p_n. Other rows have another interval in place of p_n >= 0, or
another disc (`friction_cone`). Where F is differentiable, which is by its modes open, sticking and sliding,

    open      p = 0                            sticks    u = 0
    slides    u_n = 0,  dp_t - mu dp_n e - k (1 - e e^T) (dp_t - r du_t) = -F_t

with x = p_t - r u_t, e = x / |x| and k = mu p_n / |x|: the slip is among the unknowns, and there is no fixed
point around. A linear system of the contacts that are not open gives dp: rows by velocity, columns by unknown
impulse, solved by elimination with pivots. What is redundant makes it singular, so it has e W_ii added on its
diagonal where something sticks or does not open.
"""

from math import sqrt

from linkwork.contact_dynamics.problem.friction_cone import BOND, COULOMB, DRY, HELD, SPRING, STOPPED, TURNING
from linkwork.contact_dynamics.problem.local_law import NONE
from linkwork.native.numba_functions import add_scaled, add_two, native, native_apart, native_within

INFINITE = 1e300


@native_within
def bounds(d, k, p):
    """Return between which numbers the first impulse of a contact is."""
    kind = d.kind[k]
    if kind in (HELD, BOND):
        return -INFINITE, INFINITE
    if kind in (DRY, TURNING):
        share = max(p[3 * d.of[k]], 0.0) if d.of[k] >= 0 else 1.0
        most = share * (d.friction[k] if kind == DRY else d.spin[k])
        return -most, most
    return 0.0, INFINITE


@native_within
def _radius(d, k, p):
    """Return how large the other two impulses may be."""
    if d.kind[k] == HELD:
        return INFINITE
    if d.kind[k] in (STOPPED, DRY):
        return 0.0
    if d.kind[k] == TURNING and d.of[k] < 0:
        return d.friction[k]
    return d.friction[k] * max(p[3 * (d.of[k] if d.of[k] >= 0 else k)], 0.0)


@native_within
def softened(d, k, p, u):
    """Return the first velocity of a contact, with what a spring yields."""
    return u[3 * k] + (d.spin[k] * p[3 * k] if d.kind[k] in (SPRING, BOND) else 0.0)


@native_apart
def law_function(d, p, u, F):
    """Write F; return the sum of F^2 / r."""
    total = 0.0
    for k in range(d.count):
        i, low_high = 3 * k, bounds(d, k, p)
        F[i] = p[i] - min(max(p[i] - d.weight[k] * softened(d, k, p, u), low_high[0]), low_high[1])
        r, most = d.weight[k], _radius(d, k, p)
        x, y = p[i + 1] - r * u[i + 1], p[i + 2] - r * u[i + 2]
        size = sqrt(x * x + y * y)
        f = most / size if size > most else 1.0
        F[i + 1], F[i + 2] = p[i + 1] - f * x, p[i + 2] - f * y
        total += (F[i] * F[i] + F[i + 1] * F[i + 1] + F[i + 2] * F[i + 2]) / r
    return total


@native
def _unknowns(d, p, u, F, dp, which, place):
    """Write which impulses are unknown, and their places, and steps of the others; return how many."""
    n, size = 0, 3 * d.count
    for k in range(d.count):
        i, kind, (low, high) = 3 * k, d.kind[k], bounds(d, k, p)
        x = p[i] - d.weight[k] * softened(d, k, p, u)
        inside, W, at, across = low < x < high, d.W, i * (size + 1), size + 1
        least = NONE * (W[at] + W[at + across] + W[at + 2 * across])
        closed = kind not in (STOPPED, DRY) and (inside or kind != COULOMB)
        for j in range(3):
            dp[i + j], place[i + j] = -F[i + j], -1
            if W[at + j * across] <= least:
                dp[i + j] = 0.0
            elif (inside or kind == TURNING) if j == 0 else closed:
                place[i + j], which[n] = n, i + j
                n += 1
    return n


@native_within
def column_width(n):
    """Return how far columns of A are from each other: whole registers of eight numbers."""
    return (n + 7) // 8 * 8


@native_within
def _held_row(d, i, u, e, n, which, A, x, a):
    """Write the row of a velocity that is to be zero, which is u when known impulses have changed."""
    W, row, wide = d.W, 3 * d.count * i, column_width(n)
    for q in range(n):
        A[q * wide + a] = W[row + which[q]]
    A[a * wide + a] += e * W[row + i]
    x[a] = -u


@native_within
def _add_entry(j, f, n, place, dp, A, x, a):
    """Add f dp_j to a row."""
    if place[j] >= 0:
        A[place[j] * column_width(n) + a] += f
    else:
        x[a] -= f * dp[j]


@native_within
def _first_row(d, k, p, u, du, F, e, n, which, place, dp, A, x, a):
    i, (low, high) = 3 * k, bounds(d, k, p)
    v, own = softened(d, k, p, u), d.W[i * (3 * d.count + 1)]
    at = p[i] - d.weight[k] * v
    if low < at < high:
        _held_row(d, i, v + du[i], e, n, which, A, x, a)
        if d.kind[k] in (SPRING, BOND):
            A[a * column_width(n) + a] += d.spin[k]
        return
    wide = column_width(n)
    for q in range(n):
        A[q * wide + a] = 0.0
    A[a * wide + a], x[a] = own, -own * F[i]
    j = d.of[k]
    if j >= 0 and p[3 * j] > 0.0:
        _add_entry(3 * j, own * (-d.spin[k] if at >= high else d.spin[k]), n, place, dp, A, x, a)


@native_within
def _tangent_row(d, k, c, p, u, du, F, e, n, which, place, dp, A, x, a):
    i, r, most = 3 * k, d.weight[k], _radius(d, k, p)
    y, z = p[i + 1] - r * u[i + 1], p[i + 2] - r * u[i + 2]
    size = sqrt(y * y + z * z)
    if size <= most:
        _held_row(d, i + c, u[i + c] + du[i + c], e, n, which, A, x, a)
        return
    y, z, f = y / size, z / size, most / size
    own = y if c == 1 else z
    s, t = (f if c == 1 else 0.0) - f * own * y, (f if c == 2 else 0.0) - f * own * z
    W, first, second, wide = d.W, 3 * d.count * (i + 1), 3 * d.count * (i + 2), column_width(n)
    for q in range(n):
        A[q * wide + a] = s * W[first + which[q]] + t * W[second + which[q]]
    x[a] = -F[i + c] / r - (s * du[i + 1] + t * du[i + 2])
    A[a * wide + a] += 1.0 / r
    _add_entry(i + 1, -s / r, n, place, dp, A, x, a)
    _add_entry(i + 2, -t / r, n, place, dp, A, x, a)
    j = d.of[k] if d.of[k] >= 0 else k
    if (d.kind[k] != TURNING or d.of[k] >= 0) and p[3 * j] > 0.0:
        _add_entry(3 * j, -d.friction[k] * own / r, n, place, dp, A, x, a)


@native
def _pivot(A, x, j, n, factors, at):
    """Let the largest number of column j be in row j; write what rows below take of it; return if it is one.

    `factors` that begin before `at` are of a pivot that columns have not taken yet: they change places, too.
    """
    wide, pivot, column = column_width(n), j, j * column_width(n)
    largest = abs(A[column + j])
    for i in range(j + 1, n):
        if abs(A[column + i]) > largest:
            pivot, largest = i, abs(A[column + i])
    if not largest > 0.0:
        return False
    if pivot != j:
        for c in range(j, n):
            A[c * wide + j], A[c * wide + pivot] = A[c * wide + pivot], A[c * wide + j]
        x[j], x[pivot] = x[pivot], x[j]
        factors[j], factors[pivot] = factors[pivot], factors[j]
    inverse = -1.0 / A[column + j]
    for i in range(j // 8 * 8, j + 1):
        factors[at + i] = 0.0
    for i in range(j + 1, n):
        factors[at + i] = A[column + i] * inverse
    add_scaled(x, j + 1, n - j - 1, x[j], factors, at + j + 1)
    return True


@native_apart
def _eliminate(A, x, n, factors):
    """Solve A x = b, A by columns, by elimination with pivots; b becomes x. Return if there is a solution.

    Columns take two pivots at once; the second is chosen when its own column alone has taken the first. They
    do so by whole registers: factors of rows above are zero, and what is behind a column is never read.
    """
    wide = column_width(n)
    for j in range(0, n, 2):
        if not _pivot(A, x, j, n, factors, 0):
            return False
        k = j + 1
        if k == n:
            break
        add_scaled(A, k * wide + k, n - k, A[k * wide + j], factors, k)
        if not _pivot(A, x, k, n, factors, wide):
            return False
        at = k // 8 * 8
        for c in range(k + 1, n):
            first = A[c * wide + j]
            second = A[c * wide + k] + factors[k] * first
            add_two(A, c * wide + at, wide - at, first, factors, at, second, factors, wide + at)
    for j in range(n - 1, -1, -1):
        x[j] /= A[j * wide + j]
        add_scaled(x, 0, j, -x[j], A, j * wide)
    return True


@native_within
def times(d, x, y):
    """Write y = W x."""
    n = 3 * d.count
    for i in range(n):
        y[i] = 0.0
    for j in range(n):
        if x[j] != 0.0:
            add_scaled(y, 0, n, x[j], d.W, j * n)


@native_apart
def direction(d, p, u, F, e, dp, du, which, place, A, x, factors):
    """Write a step dp of Newton's method, and du = W dp; return whether there is one."""
    n = _unknowns(d, p, u, F, dp, which, place)
    for a in range(n):
        dp[which[a]] = 0.0
    times(d, dp, du)
    for a in range(n):
        k = which[a] // 3
        c = which[a] - 3 * k
        if c == 0:
            _first_row(d, k, p, u, du, F, e, n, which, place, dp, A, x, a)
        else:
            _tangent_row(d, k, c, p, u, du, F, e, n, which, place, dp, A, x, a)
    if not _eliminate(A, x, n, factors):
        return False
    for a in range(n):
        dp[which[a]] = x[a]
    times(d, dp, du)
    return True
