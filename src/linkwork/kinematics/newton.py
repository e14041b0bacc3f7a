"""Newton-Raphson on the coordinates of bodies, as native code: steps, assembly, and the march through times.

All functions share the arrays of a `Workspace`: `w` below. The equations of a step are solved in `linear`.
"""

from collections import namedtuple

import numpy as np

from linkwork.kinematics.least_squares import factor, fill, least, solve_damped, solved
from linkwork.kinematics.tolerances import (
    BEND,
    FIRM,
    NOISE,
    OPEN,
    ROUNDING,
    ROUNDS,
    SLACK,
    SLOW,
    SMALL,
    STRIDE,
)
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import call, entry, native

Workspace = namedtuple(
    "Workspace",
    "run positions rates ports bodies coordinates free q v a u ref located phi phi_q velocity acceleration "
    "entry_rows entry_columns columns rows A b x order hidden tangent memory kept",
)
_INTEGERS = ("positions", "rates", "ports", "entry_rows", "entry_columns", "order")
_WORKSPACE = Named(
    Workspace,
    dict.fromkeys(Workspace._fields, "float64[::1]")
    | dict.fromkeys(_INTEGERS, "int64[::1]")
    | dict.fromkeys(("run", "bodies", "coordinates", "free"), "int64")
    | {"A": "float64[:, ::1]"},
)

# `memory` of the way: whether its start is firm, whether a firm position is known; then how far the drivers
# went along the tangent, the values of the drivers in the firm position, and its coordinates
NOW, KNOWN, MEMORY = 0, 1, 2

_FINEST = 2.0**-30  # of the way between two values of the drivers
_NEAR = 1e-3  # a correction at the end of the way that cannot lead astray
_MOST = 50_000  # sub-steps: more are a slip of the pen


@native
def evaluate(w):
    """phi, phi_q <- q, u"""
    call(w.run, w.positions.ctypes.data, w.ports.ctypes.data)


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
def copy(x, to):
    """to <- x, of the same length"""
    for k in range(x.size):
        to[k] = x[k]


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
    for _ in range(ROUNDS):
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
        if step > SLOW * before and step > NOISE:
            break
        move(w, w.x, 1.0)
        way += step
        if step < SMALL:
            return way if open_by < OPEN else -1.0
        before = step
    return way if open_by < ROUNDING else -1.0  # at a dead point steps stay long


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
    copy(w.memory[first + goal.size :], w.q)
    again = follow(w, w.memory[first : first + goal.size].copy(), goal, kept_q)
    if again < 0:
        copy(here, w.q)
        copy(values, w.u)
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
                    firm = firm and abs(w.A[j, j]) > FIRM
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
        if pace * share > STRIDE:
            share = STRIDE / pace
        for k in range(w.q.size):
            kept_q[k] = w.q[k]
        there = 1.0 if share >= 1.0 - done else done + share
        for k in range(inputs):
            w.u[3 * k] = start[k] + there * (goal[k] - start[k]) if there < 1.0 else goal[k]
        move(w, w.tangent, share)
        way = correct(w)
        if way >= 0.0 and way <= BEND * pace * share + SLACK:
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


@entry("int64", _WORKSPACE, "float64[::1]", "float64[::1]", "float64[::1]")
def advance(w, start, goal, kept_q):
    """q <- where the drivers have the values `goal`, continuously from where q is now."""
    return drive_to(w, start, goal, kept_q)


@entry("float64", _WORKSPACE)
def polish(w):
    """q <- where all equations are satisfied, near q; how far it moved, -1 if it does not get there."""
    return correct(w)


@entry(
    "int64",
    _WORKSPACE,
    "float64[:, :, ::1]",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64[::1]",
    "float64[::1]",
)
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
        copy(w.q, qs[t])
        copy(w.v, vs[t])
        copy(w.a, accelerations[t])
    return len(drives)


@entry(
    "float64",
    _WORKSPACE,
    "float64[::1]",
    "float64[::1]",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64[::1]",
    "int64",
)
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
            copy(kept_q, w.q)
            damping *= 8.0
            if damping > 1e12:
                break
        else:
            damping = max(damping * 0.2, 1e-14)
            cost = now
            copy(w.q, kept_q)
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
        move(w, w.x, min(1.0, STRIDE / longest) if longest > 0.0 else 1.0)
    copy(kept_q, w.q)
    evaluate(w)
    left = 0.0
    for i in range(m):
        left = max(left, abs(weights[i] * w.phi[i]))
    return left


@entry(None, _WORKSPACE)
def look_at(w):
    """phi, phi_q <- q, u"""
    evaluate(w)


@entry(None, _WORKSPACE, "float64[::1]")
def shift(w, x):
    """q <- q moved by x, which is scaled."""
    move(w, x, 1.0)


@entry(None, _WORKSPACE)
def look_at_rates(w):
    """velocity, acceleration, located <- q, v, u"""
    call(w.run, w.rates.ctypes.data, w.ports.ctypes.data)
