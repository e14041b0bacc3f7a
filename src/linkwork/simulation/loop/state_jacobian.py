"""The Jacobian of the equations of motion at the base: exact, or by differences."""

from linkwork.native.numba_functions import call, doubles, integers, native
from linkwork.simulation.loop.evaluate import evaluate
from linkwork.simulation.loop.lane_records import is_finite, rate_of


@native
def _displace(run, j, sign):
    """stage, time <- the base, moved a little in component j, or in time for the last; return how far."""
    y, base, scale = doubles(run.stage), doubles(run.base), doubles(run.scale)
    t, time = doubles(run.t), doubles(run.time)
    for i in range(run.n):
        y[i] = base[i]
    time[0] = t[0]
    if j < run.n - 1:
        y[j] += sign * 2.0**-26 * (abs(y[j]) + scale[j])
        return y[j] - base[j]
    time[0] += sign * 2.0**-26 * max(abs(t[0]), 1.0)
    return time[0] - t[0]


@native
def _differences(run):
    """jacobian <- finite differences of the right-hand side about the base; the last column is that of t.

    Where the right-hand side ends just ahead, they are taken backwards; if they are to be `central`, both
    ways.
    """
    n, f, k, jacobian = (run.n, doubles(rate_of(run, 0)), doubles(run.scratch), doubles(run.jacobian))
    for j in range(n):
        for sign in (1.0, -1.0):
            delta = _displace(run, j, sign)
            evaluate(run, run.motion, run.time, run.stage, run.scratch)
            if is_finite(run, run.scratch, n, run.lanes - 1):
                break
        if run.central and sign > 0.0:
            for i in range(n):
                jacobian[i * n + j] = k[i]
            other = _displace(run, j, -1.0)
            evaluate(run, run.motion, run.time, run.stage, run.scratch)
            if is_finite(run, run.scratch, n, run.lanes - 1):
                for i in range(n):
                    jacobian[i * n + j] = (jacobian[i * n + j] - k[i]) / (delta - other)
                continue
            for i in range(n):
                jacobian[i * n + j] = (jacobian[i * n + j] - f[i]) / delta
            continue
        for i in range(n):
            jacobian[i * n + j] = (k[i] - f[i]) / delta


@native
def _connect_tangent(run):
    """Hand the tangent's program the addresses in `direct`."""
    program, lanes, row = run.tangent, run.tangent_lanes, 8 * run.n * run.tangent_lanes
    table = integers(program.table)
    q, v = 8 * run.nq * lanes, 8 * run.nv * lanes
    y = run.direct
    value, direction, derivative, t = y + row, y + 2 * row, y + 3 * row, y + 4 * row
    table[program.t], table[program.q], table[program.qd] = t, y, y + q
    table[program.qdot], table[program.qdd], table[program.power] = value, value + q, value + q + v
    table[program.dt], table[program.dq], table[program.dqd] = t + 8 * lanes, direction, direction + q
    table[program.dqdot], table[program.dqdd] = derivative, derivative + q
    table[program.dpower] = derivative + q + v


@native
def _tangents(run):
    """jacobian <- exact derivatives of the right-hand side at the base, some columns at a time."""
    n, lanes, program = run.n, run.tangent_lanes, run.tangent
    row = n * lanes
    jacobian, base = doubles(run.jacobian), doubles(run.base)
    y, direction = doubles(run.direct), doubles(run.direct + 16 * row)
    derivative, times = doubles(run.direct + 24 * row), doubles(run.direct + 32 * row)
    _connect_tangent(run)
    for i in range(row):
        y[i] = base[i // lanes]
    given, along = doubles(run.given), doubles(run.given_along)
    for c in range(run.input_count * lanes):
        along[c] = given[c // lanes]
    for first in range(0, n, lanes):
        for l in range(lanes):
            for i in range(n - 1):
                direction[i * lanes + l] = 1.0 if i == first + l else 0.0
            times[l] = doubles(run.t)[0]
            times[lanes + l] = 1.0 if first + l == n - 1 else 0.0
        call(program.run, program.plan, program.table)
        for l in range(min(lanes, n - first)):
            for i in range(n):
                jacobian[i * n + first + l] = derivative[i * lanes + l]


@native
def differentiate(run):
    """Make the Jacobian of the base, and its norm: the largest sum of a row, without work and time."""
    if run.tangent.run:
        _tangents(run)
    else:
        _differences(run)
    jacobian = doubles(run.jacobian)
    run.norm = 0.0
    sick = 0.0
    for i in range(run.n):
        total = 0.0
        for j in range(run.n - 1):
            total += abs(jacobian[i * run.n + j])
        sick += 0.0 * (total + jacobian[i * run.n + run.n - 1])
        run.norm = max(run.norm, total if i < run.n - 1 else 0.0)
    run.norm += sick
    run.differentiated, run.factored = 1, 0.0
