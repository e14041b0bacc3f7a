"""p <- p: Newton's method on the laws of contact themselves, for islands with trees.

A tree has few contacts, but each of them moves all of its links, and more of them may hold it than it has
velocities: the problem is small, dense and singular. A step goes along the direction of Newton's method on
the function F of Alart and Curnier (`newton_direction`), whose zeros are the laws.

*Singular.* The system of that direction has e W_ii added on its diagonal, e = 1e-3 at first. What is
redundant and consistent keeps its impulses then. Where the rows contradict each other, impulses have to
shift until a contact opens or slides: e is lowered where a step leaves more than a third.

*Steps.* A whole step is taken if the sum of F^2 / r falls, or a quarter of it. Else modes change on the way,
and it ends behind the first change, and behind more of them as long as the sum falls: up to there F falls
along the step in any case.

Sweeps (`local_law`) come first: they find most of the modes. The best p is kept.
"""

from math import sqrt

import numpy as np

from linkwork.contact_dynamics.problem.delassus import choose, delassus, opened_problem
from linkwork.contact_dynamics.problem.friction_cone import DRY, HELD, STOPPED
from linkwork.contact_dynamics.problem.local_law import sweep
from linkwork.contact_dynamics.problem.natural_map import off_by, residual_of
from linkwork.contact_dynamics.solver.gauss_seidel import prepare
from linkwork.contact_dynamics.solver.newton_direction import (
    INFINITE,
    bounds,
    column_width,
    direction,
    law_function,
    softened,
    times,
)
from linkwork.native.numba_functions import memory, native, native_apart, native_within

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
_DEEPER = 0.3  # of the tolerance, to which it is solved: so the next problem may need no solution


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
        i, kind, (low, high) = 3 * k, d.kind[k], bounds(d, k, p)
        at, by = p[i] - d.weight[k] * softened(d, k, p, u), dp[i] - d.weight[k] * softened(d, k, dp, du)
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
    if law_function(d, p, u, F) <= _FALLS * total:
        return
    _go(size, p, u, dp, du, -0.75)
    if law_function(d, p, u, F) <= _FALLS * total:
        return
    _go(size, p, u, dp, du, -0.25)
    count = _changes(d, p, u, dp, du, found)
    moved, last = 0.0, INFINITE
    for n in range(min(count, _CHANGES)):
        after = found[n + 1] if n + 1 < count else 1.0
        t = max(min(_BEHIND * found[n], 0.5 * (found[n] + after)), (1.0 + 1e-9) * found[n])
        _go(size, p, u, dp, du, t - moved)
        new = law_function(d, p, u, F)
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
    e, last, idle, count = _SINGULAR, INFINITE, 0, 0
    least = low
    while count < _NEWTON and idle < _PATIENCE and least > tolerance:
        total = law_function(d, p, u, F)
        if not direction(d, p, u, F, e, dp, du, which, place, A, x, found):
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
    times(d, p, u)
    for i in range(3 * d.count):
        u[i] += d.b[i]


@native_apart
def solve_dense(problem, p, tolerance, patient=False):
    """Improve impulses p (3 n,) of a problem; return the steps of Newton's method that it took.

    Who is `patient` has all cycles. The weights of the problem are changed.
    """
    n = len(p)
    room = np.zeros(n * column_width(n) + 8 * n + 24), np.zeros(2 * n, np.int64)
    return _solve(problem, p, room[0], room[1], tolerance, INFINITE if patient else _NEARER)


@native_apart
def _solve(problem, impulses, numbers, words, tolerance, nearer):
    d, p, size = opened_problem(problem), memory(impulses), 3 * problem.count
    A, found, u, best, F, dp, du, x = _parted(numbers, size)
    rooms = F, dp, du, x, memory(words), memory(words[size:]), A, found
    _copy(size, p, best)
    least, count = INFINITE, 0
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
    behind = at + n * column_width(n)
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
