"""From one position to another, or through many times, continuously: a predictor and a corrector.

    predict     along the tangent phi_q x = -phi_u (goal - start), by a share of the way
    correct     Newton's method; a long correction means that the share was too large

At a dead point the tangent is not determined, and coordinates go on as they went there. `newton` has the
arrays `w`.
"""

import numpy as np

from linkwork.kinematics.least_squares import fill, least, solved
from linkwork.kinematics.newton import WORKSPACE, copy, correct, largest, look, move, wanted
from linkwork.kinematics.tolerances import BEND, FIRM, SLACK, STRIDE
from linkwork.native.numba_functions import call, entry, native

# `memory` of the way: whether its start is firm, whether a firm position is known; then how far the drivers
# went along the tangent, the values of the drivers in the firm position, and its coordinates
NOW, KNOWN, MEMORY = 0, 1, 2

_FINEST = 2.0**-30  # of the way between two values of the drivers
_NEAR = 1e-3  # a correction at the end of the way that cannot lead astray
_MOST = 50_000  # sub-steps: more are a slip of the pen


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
def set_drivers(w, start, goal, done):
    """u <- values of the drivers when a part of the way from start to goal is done, all of it exactly."""
    for k in range(goal.size):
        w.u[3 * k] = start[k] + done * (goal[k] - start[k]) if done < 1.0 else goal[k]


@native
def solve_tangent(w, start, goal, sign):
    """x <- how coordinates change along the whole way from start to goal, as they do at q; the rank.

    The matrix is factored there, with this sign of its determinant.
    """
    for k in range(goal.size):
        w.u[3 * k + 1] = goal[k] - start[k]
    call(w.run, w.rates.ctypes.data, w.ports.ctypes.data)
    wanted(w, w.velocity)
    return solved(w, sign)


@native
def is_firm(w, rank):
    """Whether q, whose factors are in A, is not near a dead point."""
    firm = rank == w.x.size
    for j in range(w.x.size):
        firm = firm and abs(w.A[j, j]) > FIRM
    return firm


@native
def remember_start(w, start, firm):
    """memory <- whether the way begins firmly, and if so, where."""
    w.memory[NOW] = 1.0 if firm else 0.0
    if firm:
        inputs = start.size
        w.memory[KNOWN] = 1.0
        for k in range(inputs):
            w.memory[MEMORY + inputs + k] = start[k]
        for k in range(w.q.size):
            w.memory[MEMORY + 2 * inputs + k] = w.q[k]


@native
def predict(w, start, goal, done, sign, first):
    """tangent <- where coordinates go from q, for the whole way; its largest number."""
    set_drivers(w, start, goal, done)
    rank = solve_tangent(w, start, goal, sign)
    if first:
        remember_start(w, start, is_firm(w, rank))
    if rank < w.x.size:
        straight_on(w, start, goal)
    copy(w.x, w.tangent)
    for k in range(goal.size):
        w.memory[MEMORY + k] = goal[k] - start[k]
    return largest(w.tangent)


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


@native
def follow(w, start, goal, kept_q):
    """q <- as `drive_to`, in sub-steps so short that the prediction along the tangent is hardly corrected."""
    done, share, steps = 0.0, 1.0, 0  # of the way: done, next
    pace = predict(w, start, goal, done, look(w), True)
    while done < 1.0:
        share = min(share, 1.0 - done)
        if pace * share > STRIDE:
            share = STRIDE / pace
        there = 1.0 if share >= 1.0 - done else done + share
        copy(w.q, kept_q)
        set_drivers(w, start, goal, there)
        move(w, w.tangent, share)
        way = correct(w)
        if way >= 0.0 and way <= BEND * pace * share + SLACK:
            done = there
            steps += 1
            remember(w)
            if done < 1.0:
                if steps > _MOST:
                    return -steps - 1
                pace = predict(w, start, goal, done, look(w), False)
            share *= 2.0
            continue
        copy(kept_q, w.q)
        share *= 0.5
        if share < _FINEST:
            if 1.0 - done < 16.0 * _FINEST and arrived(w, goal):  # at a dead point no step is short enough
                return steps + 1
            copy(kept_q, w.q)
            set_drivers(w, start, goal, done)
            return -steps - 1
    return steps


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


@entry("int64", WORKSPACE, "float64[::1]", "float64[::1]", "float64[::1]")
def advance(w, start, goal, kept_q):
    """q <- where the drivers have the values `goal`, continuously from where q is now."""
    return drive_to(w, start, goal, kept_q)


@entry(
    "int64",
    WORKSPACE,
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
