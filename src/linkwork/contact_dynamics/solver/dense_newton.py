"""p <- p: Newton's method on the laws of contact themselves, for islands with trees.

A tree has few contacts, but each of them moves all of its links, and more of them may hold it than it has
velocities: the problem is small, dense and singular. With u = W p + b (`delassus`) the laws are zeros of the
function of Alart and Curnier (1991),

    F_n = p_n - max(p_n - r u_n, 0),     F_t = p_t - D(p_t - r u_t),

D the nearest point of the disc of radius mu p_n. Other rows have another interval in place of p_n >= 0, or
another disc (`friction_cone`). Where F is differentiable, which is by its modes open, sticking and sliding,

    open      p = 0                            sticks    u = 0
    slides    u_n = 0,  dp_t - mu dp_n e - k (1 - e e^T) (dp_t - r du_t) = -F_t

with x = p_t - r u_t, e = x / |x| and k = mu p_n / |x|: the slip is among the unknowns, and there is no fixed
point around. A linear system of the contacts that are not open gives dp.

*Singular.* The system has e W_ii added on its diagonal where something sticks or does not open, e = 1e-3 at
first. What is redundant and consistent keeps its impulses then. Where the rows contradict each other,
impulses have to shift until a contact opens or slides: e is lowered where a step leaves more than a third.

*Steps.* A whole step is taken if the sum of F^2 / r falls, or a quarter of it. Else modes change on the way,
and it ends behind the first change, and behind more of them as long as the sum falls: up to there F falls
along the step in any case.

Sweeps (`local_law`) come first: they find most of the modes. The best p is kept.
"""

from math import sqrt

import numpy as np

from linkwork.contact_dynamics.problem.delassus import choose, delassus, opened_problem
from linkwork.contact_dynamics.problem.friction_cone import BOND, COULOMB, DRY, HELD, SPRING, STOPPED, TURNING
from linkwork.contact_dynamics.problem.local_law import NONE, sweep
from linkwork.contact_dynamics.problem.natural_map import off_by, residual_of
from linkwork.contact_dynamics.solver.gauss_seidel import prepare
from linkwork.native.numba_functions import add_scaled, add_two, memory, native, native_apart, native_within

_SWEEPS = 5  # before Newton's method begins, and
_MORE = 20  # before it begins again
_NEWTON = 8  # steps of it, and
_PATIENCE = 4  # of these without much progress, at most
_CYCLES = 8  # of sweeps and steps, as long as each
_NEARER = 0.9  # leaves no more than this part of the residual: the next would begin where it has begun
_WEIGHT = 3.0  # times the weight r of a contact alone: modes follow from velocities more than from impulses
_AGAIN = 4  # times that contacts are found which were left out
_SINGULAR = 1e-3  # what is added to rows, of their response, at first,
_LEAST = 1e-6  # and at last
_SLOW = 0.3  # of the residual: a step that leaves more is slow
_PROGRESS = 0.7
_FALLS = 0.9  # of the sum: a step that leaves less is taken
_LOWER = 0.03  # times what is added to rows, after a slow step
_CHANGES = 6  # of modes in a step, at most
_BEHIND = 1.001  # a change of mode, so far a step goes
_INFINITE = 1e300
_DEEPER = 0.3  # of the tolerance, to which it is solved: so the next problem may need no solution


@native_within
def _bounds(d, k, p):
    """Return between which numbers the first impulse of a contact is."""
    kind = d.kind[k]
    if kind in (HELD, BOND):
        return -_INFINITE, _INFINITE
    if kind in (DRY, TURNING):
        share = max(p[3 * d.of[k]], 0.0) if d.of[k] >= 0 else 1.0
        most = share * (d.friction[k] if kind == DRY else d.spin[k])
        return -most, most
    return 0.0, _INFINITE


@native_within
def _radius(d, k, p):
    """Return how large the other two impulses may be."""
    if d.kind[k] == HELD:
        return _INFINITE
    if d.kind[k] in (STOPPED, DRY):
        return 0.0
    if d.kind[k] == TURNING and d.of[k] < 0:
        return d.friction[k]
    return d.friction[k] * max(p[3 * (d.of[k] if d.of[k] >= 0 else k)], 0.0)


@native_within
def _softened(d, k, p, u):
    """Return the first velocity of a contact, with what a spring yields."""
    return u[3 * k] + (d.spin[k] * p[3 * k] if d.kind[k] in (SPRING, BOND) else 0.0)


@native_apart
def _function(d, p, u, F):
    """Write F; return the sum of F^2 / r."""
    total = 0.0
    for k in range(d.count):
        i, low_high = 3 * k, _bounds(d, k, p)
        F[i] = p[i] - min(max(p[i] - d.weight[k] * _softened(d, k, p, u), low_high[0]), low_high[1])
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
        i, kind, (low, high) = 3 * k, d.kind[k], _bounds(d, k, p)
        x = p[i] - d.weight[k] * _softened(d, k, p, u)
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
def _wide(n):
    """Return how far columns of A are from each other: whole registers of eight numbers."""
    return (n + 7) // 8 * 8


@native_within
def _held_row(d, i, u, e, n, which, A, x, a):
    """Write the row of a velocity that is to be zero, which is u when known impulses have changed."""
    W, row, wide = d.W, 3 * d.count * i, _wide(n)
    for q in range(n):
        A[q * wide + a] = W[row + which[q]]
    A[a * wide + a] += e * W[row + i]
    x[a] = -u


@native_within
def _add_entry(j, f, n, place, dp, A, x, a):
    """Add f dp_j to a row."""
    if place[j] >= 0:
        A[place[j] * _wide(n) + a] += f
    else:
        x[a] -= f * dp[j]


@native_within
def _first_row(d, k, p, u, du, F, e, n, which, place, dp, A, x, a):
    i, (low, high) = 3 * k, _bounds(d, k, p)
    v, own = _softened(d, k, p, u), d.W[i * (3 * d.count + 1)]
    at = p[i] - d.weight[k] * v
    if low < at < high:
        _held_row(d, i, v + du[i], e, n, which, A, x, a)
        if d.kind[k] in (SPRING, BOND):
            A[a * _wide(n) + a] += d.spin[k]
        return
    wide = _wide(n)
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
    W, first, second, wide = d.W, 3 * d.count * (i + 1), 3 * d.count * (i + 2), _wide(n)
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
    wide, pivot, column = _wide(n), j, j * _wide(n)
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
    wide = _wide(n)
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
def _times(d, x, y):
    """Write y = W x."""
    n = 3 * d.count
    for i in range(n):
        y[i] = 0.0
    for j in range(n):
        if x[j] != 0.0:
            add_scaled(y, 0, n, x[j], d.W, j * n)


@native_apart
def _direction(d, p, u, F, e, dp, du, which, place, A, x, factors):
    """Write a step dp of Newton's method, and du = W dp; return whether there is one."""
    n = _unknowns(d, p, u, F, dp, which, place)
    for a in range(n):
        dp[which[a]] = 0.0
    _times(d, dp, du)
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
    _times(d, dp, du)
    return True


@native_within
def _copy(n, x, to):
    for i in range(n):
        to[i] = x[i]


@native
def _put(found, count, t):
    """Keep a part of a step, if it is one, in order; return how many there are."""
    if not 1e-9 < t < 1.0:
        return count
    at = count
    while at > 0 and found[at - 1] > t:
        found[at] = found[at - 1]
        at -= 1
    found[at] = t
    return count + 1


@native_apart
def _changes(d, p, u, dp, du, found):
    """Write at which parts of a step modes change; return how many."""
    count = 0
    for k in range(d.count):
        i, kind, (low, high) = 3 * k, d.kind[k], _bounds(d, k, p)
        at, by = p[i] - d.weight[k] * _softened(d, k, p, u), dp[i] - d.weight[k] * _softened(d, k, dp, du)
        if by != 0.0:
            count = _put(found, count, (low - at) / by)
            count = _put(found, count, (high - at) / by)
        if kind in (HELD, STOPPED, DRY):
            continue
        j = 3 * (d.of[k] if d.of[k] >= 0 else k)
        m, dm = d.friction[k] * p[j], d.friction[k] * dp[j]
        r = d.weight[k]
        x, y = p[i + 1] - r * u[i + 1], p[i + 2] - r * u[i + 2]
        dx, dy = dp[i + 1] - r * du[i + 1], dp[i + 2] - r * du[i + 2]
        a, b, c = dx * dx + dy * dy - dm * dm, x * dx + y * dy - m * dm, x * x + y * y - m * m
        square = b * b - a * c
        if square > 0.0 and a != 0.0:
            root = -(b + sqrt(square)) if b >= 0.0 else sqrt(square) - b
            count = _put(found, count, root / a)
            if root != 0.0:
                count = _put(found, count, c / root)
    return count


@native_within
def _go(n, p, u, dp, du, t):
    for i in range(n):
        p[i] += t * dp[i]
        u[i] += t * du[i]


@native_apart
def _step(d, p, u, dp, du, F, total, found):
    """Move p and u along a step as far as is good."""
    size = 3 * d.count
    _go(size, p, u, dp, du, 1.0)
    if _function(d, p, u, F) <= _FALLS * total:
        return
    _go(size, p, u, dp, du, -0.75)
    if _function(d, p, u, F) <= _FALLS * total:
        return
    _go(size, p, u, dp, du, -0.25)
    count = _changes(d, p, u, dp, du, found)
    moved, last = 0.0, _INFINITE
    for n in range(min(count, _CHANGES)):
        after = found[n + 1] if n + 1 < count else 1.0
        t = max(min(_BEHIND * found[n], 0.5 * (found[n] + after)), (1.0 + 1e-9) * found[n])
        _go(size, p, u, dp, du, t - moved)
        new = _function(d, p, u, F)
        if new > last:
            _go(size, p, u, dp, du, moved - t)
            return
        moved, last = t, new
    if moved == 0.0:
        _go(size, p, u, dp, du, 0.1)


@native
def _residual(d, p, u):
    """Return by how much the laws of the contacts do not hold [m/s]."""
    worst = 0.0
    for k in range(d.count):
        i, share = 3 * k, max(p[3 * d.of[k]], 0.0) if d.of[k] >= 0 else 1.0
        given = d.kind[k], share * d.friction[k], d.spin[k], share, d.weight[k]
        worst = max(worst, off_by(*given, p[i], p[i + 1], p[i + 2], u[i], u[i + 1], u[i + 2]))
    return worst


@native
def _newton(d, p, u, tolerance, low, best, rooms):
    """Take steps of Newton's method from a residual; write the best p, return its residual and how many."""
    F, dp, du, x, which, place, A, found = rooms
    e, last, idle, count = _SINGULAR, _INFINITE, 0, 0
    least = low
    while count < _NEWTON and idle < _PATIENCE and least > tolerance:
        total = _function(d, p, u, F)
        if not _direction(d, p, u, F, e, dp, du, which, place, A, x, found):
            break
        count += 1
        _step(d, p, u, dp, du, F, total, found)
        off = _residual(d, p, u)
        if off > _SLOW * last:
            e = max(_LOWER * e, _LEAST)
        last = off
        idle += 1
        if off < _PROGRESS * low:
            low, idle = off, 0
        if off < least:
            least = off
            _copy(3 * d.count, p, best)
    return least, count


@native
def _velocities(d, p, u):
    """Write u = W p + b."""
    _times(d, p, u)
    for i in range(3 * d.count):
        u[i] += d.b[i]


@native_apart
def solve_dense(problem, p, tolerance, patient=False):
    """Improve impulses p (3 n,) of a problem; return the steps of Newton's method that it took.

    Who is `patient` has all cycles. The weights of the problem are changed.
    """
    n = len(p)
    room = np.zeros(n * _wide(n) + 8 * n + 24), np.zeros(2 * n, np.int64)
    return _solve(problem, p, room[0], room[1], tolerance, _INFINITE if patient else _NEARER)


@native_apart
def _solve(problem, impulses, numbers, words, tolerance, nearer):
    d, p, size = opened_problem(problem), memory(impulses), 3 * problem.count
    A, found, u, best, F, dp, du, x = _parted(numbers, size)
    rooms = F, dp, du, x, memory(words), memory(words[size:]), A, found
    _copy(size, p, best)
    least, count = _INFINITE, 0
    for k in range(d.count):
        d.weight[k] *= _WEIGHT
    for cycle in range(_CYCLES):
        before = least
        _copy(size, best, p)
        _velocities(d, p, u)
        for _ in range(_MORE if cycle else _SWEEPS):
            sweep(d, p, u)
        off = _residual(d, p, u)
        if off < least:
            least = off
            _copy(size, p, best)
        if least > tolerance:
            new, steps = _newton(d, p, u, tolerance, off, best, rooms)
            least, count = min(least, new), count + steps
        if least <= tolerance or least > nearer * before:
            break
    _copy(size, best, p)
    if least > tolerance:  # no impulse is left outside of its cone
        _velocities(d, p, u)
        sweep(d, p, u)
    return count


@native
def _parted(x, n):
    """Return memory of a matrix (n, n), of room for two registers more than 2 n, and of six times n numbers.

    The matrix begins where a line of the cache does: registers that lie across two lines cost twice as much.
    """
    at = -(x.ctypes.data // 8) % 8
    behind = at + n * _wide(n)
    flat = behind + 2 * n + 16
    first = memory(x[flat:]), memory(x[flat + n :]), memory(x[flat + 2 * n :])
    rest = memory(x[flat + 3 * n :]), memory(x[flat + 4 * n :]), memory(x[flat + 5 * n :])
    return memory(x[at:]), memory(x[behind:]), *first, *rest


@native_apart
def solve_island(nodes, c, p, v, room, islands, i, off, tolerance, answer, patient):
    """Solve an island with trees as far as it goes, from a residual `off`; return what is left.

    p and the velocities that follow are written; `answer` counts the steps of Newton's method.
    Who is `patient` has all cycles of it.
    """
    contacts = islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]
    chosen, before = np.zeros(len(contacts), np.bool_), np.zeros((len(contacts), 3))
    for n in range(len(contacts)):
        for r in range(3):
            before[n, r] = p[contacts[n], r]
    new = choose(nodes, c, room, p, v, contacts, chosen)
    left = off
    for _ in range(_AGAIN):
        if new == 0:
            break
        which, count = np.zeros(len(contacts), np.int64), 0
        for n in range(len(contacts)):
            if chosen[n]:
                which[count] = contacts[n]
                count += 1
        which = which[:count]
        prepare(nodes, c, room, room.moved, room.response, which)
        d = delassus(nodes, c, room, which)
        x = np.zeros(3 * len(which))
        for n in range(len(which)):
            x[3 * n], x[3 * n + 1], x[3 * n + 2] = p[which[n], 0], p[which[n], 1], p[which[n], 2]
        answer[2] += solve_dense(d, x, _DEEPER * tolerance, patient)
        for n in range(len(which)):
            p[which[n], 0], p[which[n], 1], p[which[n], 2] = x[3 * n], x[3 * n + 1], x[3 * n + 2]
        left = residual_of(nodes, c, room, p, v, room.gradient, islands, i)
        new = choose(nodes, c, room, p, v, contacts, chosen)
    if left > off:
        for n in range(len(contacts)):
            for r in range(3):
                p[contacts[n], r] = before[n, r]
        left = residual_of(nodes, c, room, p, v, room.gradient, islands, i)
    return left
