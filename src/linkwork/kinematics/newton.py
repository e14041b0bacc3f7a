"""Newton-Raphson on the coordinates of bodies, as native code: steps, assembly, and the march through times.

All functions share the arrays of a `Workspace`: `w` below. The equations A x = b of a step are scaled:
columns by the size of the mechanism (lengths) or 1 (angles), rows to length one. A square and regular system
is factored once (LU, partial pivoting); any other, with redundant or too few equations, is solved by
orthogonal factors with the least x.
"""

from collections import namedtuple

import numpy as np

from linkwork.trace.compiled import call, entry, native

Workspace = namedtuple(
    "Workspace",
    "run positions rates ports bodies coordinates free q v a u ref located phi phi_q velocity acceleration "
    "entry_rows entry_columns columns rows A b x order hidden tangent memory kept",
)

# `memory` of the way: whether its start is firm, whether a firm position is known; then how far the drivers
# went along the tangent, the values of the drivers in the firm position, and its coordinates
NOW, KNOWN, MEMORY = 0, 1, 2

_SMALL = 1e-9  # a step after which there is none left: Newton's method squares it
_OPEN = 1e-7  # of an equation that is not satisfied, scaled
_ROUNDING = 1e-12  # of an equation that is satisfied, however long the next step
_ROUNDS = 25
_SLOW = 0.7  # ratio of steps: at a dead point each is half as long as the one before
_WEAK = 1e-10  # pivot, relative, below which equations do not determine the coordinates
_FINEST = 2.0**-30  # of the way between two values of the drivers
_FIRM = 1e-6  # pivot of equations that are not near a dead point
_NEAR = 1e-3  # a correction at the end of the way that cannot lead astray
_MOST = 50_000  # sub-steps: more are a slip of the pen
_STRIDE = 0.5  # largest change in one sub-step [rad, sizes of the mechanism]
_BEND = 0.25  # largest correction of a prediction, relative to what was predicted

FOUND, STUCK = 0, 1


@native
def evaluate(w):
    """phi, phi_q <- q, u"""
    call(w.run, w.positions.ctypes.data, w.ports.ctypes.data)


@native
def fill(w):
    """A, rows <- phi_q: the scaled matrix, rows of length one."""
    A, m, n = w.A, w.phi.size, w.x.size
    for i in range(m):
        for j in range(n):
            A[i, j] = 0.0
    for e in range(w.phi_q.size):
        A[w.entry_rows[e], w.entry_columns[e]] += w.phi_q[e] * w.columns[w.entry_columns[e]]
    for i in range(m):
        square = 0.0
        for j in range(n):
            square += A[i, j] * A[i, j]
        w.rows[i] = 1.0 / np.sqrt(square) if square > 0.0 else 1.0
        for j in range(n):
            A[i, j] *= w.rows[i]


@native
def factor(w):
    """A, order <- its LU factors; the sign of the determinant, 0 if not square or nearly singular."""
    A, n = w.A, w.x.size
    if w.phi.size != n:
        return 0
    sign = 1
    for k in range(n):
        best, top = k, abs(A[k, k])
        for i in range(k + 1, n):
            if abs(A[i, k]) > top:
                best, top = i, abs(A[i, k])
        if not top > _WEAK:
            return 0
        w.order[k] = best
        if best != k:
            sign = -sign
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        if A[k, k] < 0.0:
            sign = -sign
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                A[i, k] *= inverse
                for j in range(k + 1, n):
                    A[i, j] -= A[i, k] * A[k, j]
    return sign


@native
def substitute(w):
    """x <- the solution for b, from LU factors."""
    A, b, x, n = w.A, w.b, w.x, w.x.size
    for k in range(n):
        best = w.order[k]
        b[k], b[best] = b[best], b[k]
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= A[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= A[i, j] * x[j]
        x[i] /= A[i, i]


@native
def least(w):
    """x, rank <- least squares, least x, of A x = b; A and b are overwritten (Householder, pivots)."""
    A, b, x, order, v = w.A, w.b, w.x, w.order, w.hidden
    m, n = w.phi.size, w.x.size
    for j in range(n):
        order[j] = j
    rank, largest = 0, 0.0
    for k in range(min(m, n)):
        best, top = k, -1.0
        for j in range(k, n):
            square = 0.0
            for i in range(k, m):
                square += A[i, j] * A[i, j]
            if square > top:
                best, top = j, square
        if k == 0:
            largest = np.sqrt(top)
        if not np.sqrt(top) > _WEAK * largest:
            break
        if best != k:
            order[k], order[best] = order[best], order[k]
            for i in range(m):
                A[i, k], A[i, best] = A[i, best], A[i, k]
        length = np.sqrt(top)
        for i in range(k, m):
            v[i] = A[i, k]
        v[k] += length if v[k] >= 0.0 else -length
        square = 0.0
        for i in range(k, m):
            square += v[i] * v[i]
        for j in range(k, n):
            along = 0.0
            for i in range(k, m):
                along += v[i] * A[i, j]
            along *= 2.0 / square
            for i in range(k, m):
                A[i, j] -= along * v[i]
        along = 0.0
        for i in range(k, m):
            along += v[i] * b[i]
        along *= 2.0 / square
        for i in range(k, m):
            b[i] -= along * v[i]
        rank += 1
    # rows of the triangle are turned so that nothing is left beyond it; the turns stay in its place
    for i in range(rank - 1, -1, -1):
        beyond = 0.0
        for j in range(rank, n):
            beyond += A[i, j] * A[i, j]
        v[i] = 0.0
        if beyond == 0.0:
            continue
        length = np.sqrt(A[i, i] * A[i, i] + beyond)
        head = A[i, i] + (length if A[i, i] >= 0.0 else -length)
        square = head * head + beyond
        for k in range(i + 1):
            along = A[k, i] * head
            for j in range(rank, n):
                along += A[k, j] * A[i, j]
            along *= 2.0 / square
            if k < i:
                A[k, i] -= along * head
                for j in range(rank, n):
                    A[k, j] -= along * A[i, j]
            else:
                A[i, i] -= along * head
        v[i] = head
    for j in range(n):
        x[j] = 0.0
    y = w.kept
    for j in range(n):
        y[j] = 0.0
    for i in range(rank - 1, -1, -1):
        y[i] = b[i]
        for j in range(i + 1, rank):
            y[i] -= A[i, j] * y[j]
        y[i] /= A[i, i]
    for i in range(rank):
        if v[i] == 0.0:
            continue
        square, along = v[i] * v[i], v[i] * y[i]
        for j in range(rank, n):
            square += A[i, j] * A[i, j]
            along += A[i, j] * y[j]
        along *= 2.0 / square
        y[i] -= along * v[i]
        for j in range(rank, n):
            y[j] -= along * A[i, j]
    for j in range(n):
        x[order[j]] = y[j]
    return rank


@native
def solved(w, sign):
    """x, rank <- the solution of A x = b, scaled; `sign` of the factors tells whether there are any."""
    if sign != 0:
        substitute(w)
        return w.x.size
    fill(w)
    return least(w)


@native
def move(w, x, share):
    """q <- q moved by a share of x, which is scaled."""
    free, size = w.free, w.coordinates
    q = w.q
    for body in range(w.bodies):
        at, to = free * body, size * body
        if free == 3:
            for k in range(3):
                q[to + k] += share * x[at + k] * w.columns[at + k]
            continue
        for k in range(3):
            q[to + k] += share * x[at + k] * w.columns[at + k]
        a, b, c = (0.5 * share * x[at + 3], 0.5 * share * x[at + 4], 0.5 * share * x[at + 5])
        s, i, j, k = q[to + 3], q[to + 4], q[to + 5], q[to + 6]
        s1 = s - i * a - j * b - k * c
        i1 = i + s * a + j * c - k * b
        j1 = j + s * b + k * a - i * c
        k1 = k + s * c + i * b - j * a
        length = np.sqrt(s1 * s1 + i1 * i1 + j1 * j1 + k1 * k1)
        q[to + 3], q[to + 4], q[to + 5], q[to + 6] = s1 / length, i1 / length, j1 / length, k1 / length
    at, to = free * w.bodies, size * w.bodies
    for k in range(w.x.size - at):
        q[to + k] += share * x[at + k] * w.columns[at + k]


@native
def largest(x):
    top = 0.0
    for value in x:
        if not abs(value) <= top:
            top = abs(value)
    return top


@native
def correct(w):
    """q <- where all equations are satisfied, near q; how far it moved, or -1 if it does not get there."""
    before, way, open_by = np.inf, 0.0, np.inf
    for _ in range(_ROUNDS):
        evaluate(w)
        fill(w)
        open_by = 0.0
        for i in range(w.phi.size):
            w.b[i] = -w.phi[i] * w.rows[i]
            open_by = max(open_by, abs(w.b[i]))
        if not np.isfinite(open_by):
            return -1.0
        solved(w, factor(w))
        step = largest(w.x)
        if not np.isfinite(step):
            return -1.0
        if step > _SLOW * before and step > 1e-11:
            break
        move(w, w.x, 1.0)
        way += step
        if step < _SMALL:
            return way if open_by < _OPEN else -1.0
        before = step
    return way if open_by < _ROUNDING else -1.0  # at a dead point steps stay long


@native
def wanted(w, what):
    """b <- what phi_q v, or phi_q a, has to be, scaled."""
    for i in range(w.phi.size):
        w.b[i] = what[i] * w.rows[i]


@native
def look(w):
    """A, rows <- at q, factored; the sign of the determinant."""
    evaluate(w)
    fill(w)
    return factor(w)


@native
def remember(w):
    """ref <- the joint coordinates where they are, so that turns are counted from here."""
    call(w.run, w.rates.ctypes.data, w.ports.ctypes.data)
    for k in range(w.ref.size):
        w.ref[k] = w.located[k]


@native
def straight_on(w, start, goal):
    """x <- at a dead point: the solution nearest to how the coordinates went there."""
    along = square = 0.0
    for k in range(goal.size):
        along += w.memory[MEMORY + k] * (goal[k] - start[k])
        square += w.memory[MEMORY + k] * w.memory[MEMORY + k]
    share = along / square if square > 0.0 else 0.0
    fill(w)
    for i in range(w.phi.size):
        w.b[i] = w.velocity[i] * w.rows[i]
        for j in range(w.x.size):
            w.b[i] -= w.A[i, j] * share * w.tangent[j]
    least(w)
    for j in range(w.x.size):
        w.x[j] += share * w.tangent[j]


@native
def drive_to(w, start, goal, kept_q):
    """q <- where the drivers have the values `goal`, continuously from `start`, where q is now.

    Returns how many sub-steps it took, negative if it got stuck: q and u are then the last that were reached.
    A dead point that was only touched is left the way it was reached: from the position before it.
    """
    steps = follow(w, start, goal, kept_q)
    if steps >= 0 or w.memory[NOW] == 1.0 or w.memory[KNOWN] == 0.0:
        return steps
    here, values, first = w.q.copy(), w.u.copy(), MEMORY + goal.size
    w.q[:] = w.memory[first + goal.size :]
    again = follow(w, w.memory[first : first + goal.size].copy(), goal, kept_q)
    if again < 0:
        w.q[:], w.u[:] = here, values
        return steps
    return again


@native
def follow(w, start, goal, kept_q):
    """q <- as `drive_to`, in sub-steps so short that the prediction along the tangent is hardly corrected."""
    inputs = goal.size
    done, share, steps = 0.0, 1.0, 0
    sign = look(w)
    fresh, firm, pace = True, False, 0.0
    while done < 1.0:
        if fresh:  # where the coordinates go, for the whole way
            for k in range(inputs):
                w.u[3 * k], w.u[3 * k + 1] = start[k] + done * (goal[k] - start[k]), goal[k] - start[k]
            call(w.run, w.rates.ctypes.data, w.ports.ctypes.data)
            wanted(w, w.velocity)
            rank = solved(w, sign)
            if steps == 0:
                firm = rank == w.x.size
                for j in range(w.x.size):
                    firm = firm and abs(w.A[j, j]) > _FIRM
                w.memory[NOW] = 1.0 if firm else 0.0
            if rank < w.x.size:
                straight_on(w, start, goal)
            for j in range(w.x.size):
                w.tangent[j] = w.x[j]
            for k in range(inputs):
                w.memory[MEMORY + k] = goal[k] - start[k]
            if steps == 0 and firm:
                w.memory[KNOWN] = 1.0
                for k in range(inputs):
                    w.memory[MEMORY + inputs + k] = start[k]
                for k in range(w.q.size):
                    w.memory[MEMORY + 2 * inputs + k] = w.q[k]
            pace = largest(w.tangent)
            fresh = False
        share = min(share, 1.0 - done)
        if pace * share > _STRIDE:
            share = _STRIDE / pace
        for k in range(w.q.size):
            kept_q[k] = w.q[k]
        there = 1.0 if share >= 1.0 - done else done + share
        for k in range(inputs):
            w.u[3 * k] = start[k] + there * (goal[k] - start[k]) if there < 1.0 else goal[k]
        move(w, w.tangent, share)
        way = correct(w)
        if way >= 0.0 and way <= _BEND * pace * share + 1e-7:
            done = there
            steps += 1
            if steps > _MOST and done < 1.0:
                return -steps - 1
            remember(w)
            sign = look(w)
            share *= 2.0
            fresh = True
            continue
        for k in range(w.q.size):
            w.q[k] = kept_q[k]
        share *= 0.5
        if share < _FINEST:
            if 1.0 - done < 16.0 * _FINEST and arrived(w, goal):  # at a dead point no step is short enough
                return steps + 1
            for k in range(w.q.size):
                w.q[k] = kept_q[k]
            for k in range(inputs):
                w.u[3 * k] = start[k] + done * (goal[k] - start[k])
            return -steps - 1
    return steps


@native
def arrived(w, goal):
    """q <- where the drivers have the values `goal`, next to q; whether it is there."""
    for k in range(goal.size):
        w.u[3 * k] = goal[k]
    way = correct(w)
    if way < 0.0 or way > _NEAR:
        return False
    remember(w)
    return True


@entry
def advance(w, start, goal, kept_q):
    """q <- where the drivers have the values `goal`, continuously from where q is now."""
    return drive_to(w, start, goal, kept_q)


@entry
def polish(w):
    """q <- where all equations are satisfied, near q; how far it moved, -1 if it does not get there."""
    return correct(w)


@entry
def march(w, drives, qs, vs, accelerations, kept_q, start):
    """qs, vs, accelerations <- the motion at all times; how many times were reached.

    `drives` are values, first and second derivatives of the drivers: (times, drivers, 3).
    """
    inputs = start.size
    goal = np.empty(inputs)
    for t in range(len(drives)):
        for k in range(inputs):
            goal[k] = drives[t, k, 0]
        if drive_to(w, start, goal, kept_q) < 0:
            return t
        for k in range(inputs):
            start[k] = goal[k]
            w.u[3 * k], w.u[3 * k + 1], w.u[3 * k + 2] = drives[t, k, 0], drives[t, k, 1], drives[t, k, 2]
        sign = look(w)
        call(w.run, w.rates.ctypes.data, w.ports.ctypes.data)
        wanted(w, w.velocity)
        solved(w, sign)
        for j in range(w.x.size):
            w.v[j] = w.x[j] * w.columns[j]
        call(w.run, w.rates.ctypes.data, w.ports.ctypes.data)
        wanted(w, w.acceleration)
        solved(w, sign)
        for j in range(w.x.size):
            w.a[j] = w.x[j] * w.columns[j]
        qs[t], vs[t], accelerations[t] = w.q, w.v, w.a
    return len(drives)


@native
def solve_damped(N, g, damping, x, L):
    """x <- the solution of (N + damping) x = g, by Cholesky; N is there below its diagonal."""
    n = g.size
    for j in range(n):
        for k in range(j + 1):
            total = N[j, k]
            if j == k:
                total += damping
            for l in range(k):
                total -= L[j, l] * L[k, l]
            L[j, k] = np.sqrt(max(total, 1e-300)) if j == k else total / L[k, k]
    for j in range(n):
        x[j] = g[j]
        for l in range(j):
            x[j] -= L[j, l] * x[l]
        x[j] /= L[j, j]
    for j in range(n - 1, -1, -1):
        for l in range(j + 1, n):
            x[j] -= L[l, j] * x[l]
        x[j] /= L[j, j]


@entry
def close(w, weights, kept_q, N, L, g, most):
    """q <- where the weighted equations are least (Levenberg, Marquardt); the largest left, weighted.

    The equations need not be satisfiable; a caller looks at what is left.
    """
    m, n = w.phi.size, w.x.size
    damping, cost = 1e-3, np.inf
    for _ in range(most):
        evaluate(w)
        now = 0.0
        for i in range(m):
            now += (weights[i] * w.phi[i]) ** 2
        if not now < cost:  # worse, or not a number: go back and take a shorter step
            w.q[:] = kept_q
            damping *= 8.0
            if damping > 1e12:
                break
        else:
            damping = max(damping * 0.2, 1e-14)
            cost = now
            kept_q[:] = w.q
            if cost < 1e-24:
                break
            for i in range(n):
                g[i] = 0.0
            w.A[:] = 0.0
            for e in range(w.phi_q.size):
                i, j = w.entry_rows[e], w.entry_columns[e]
                w.A[i, j] += w.phi_q[e] * w.columns[j] * weights[i]
            top = 0.0
            for j in range(n):
                for i in range(m):
                    g[j] -= w.A[i, j] * weights[i] * w.phi[i]
                top = max(top, abs(g[j]))
                for k in range(j + 1):
                    total = 0.0
                    for i in range(m):
                        total += w.A[i, j] * w.A[i, k]
                    N[j, k] = total
            if top < 1e-15:
                break
        solve_damped(N, g, damping, w.x, L)
        longest = largest(w.x)
        move(w, w.x, min(1.0, _STRIDE / longest) if longest > 0.0 else 1.0)
    w.q[:] = kept_q
    evaluate(w)
    left = 0.0
    for i in range(m):
        left = max(left, abs(weights[i] * w.phi[i]))
    return left


@entry
def look_at(w):
    """phi, phi_q <- q, u"""
    evaluate(w)


@entry
def shift(w, x):
    """q <- q moved by x, which is scaled."""
    move(w, x, 1.0)


@entry
def look_at_rates(w):
    """velocity, acceleration, located <- q, v, u"""
    call(w.run, w.rates.ctypes.data, w.ports.ctypes.data)
