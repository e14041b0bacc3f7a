"""Closed loops stay closed: the result of a step is brought back to where they are, positions and velocities.

A correction is mass-weighted: the smallest in the sense of kinetic energy. Newton's method doubles the digits
each time, so a gap that was small is closed without looking again; rounding errors too: near positions where
links are in line they would grow. A lane is corrected by its own gap alone.
"""

from linkwork.native.numba_functions import call, doubles, integers, native
from linkwork.simulation.loop.evaluate import evaluate
from linkwork.simulation.loop.lane_records import lane_of
from linkwork.simulation.loop.records import Failure

_SMALL = 1e-7  # gap whose square is none, in radians, and in units of the mechanism's size
_ROUNDS = 8


@native
def _largest_gap(run, l):
    """Return the largest gap of lane l."""
    gap, weights, largest = doubles(run.gap), doubles(run.row_weights), 0.0
    for i in range(run.rows):
        largest = max(largest, weights[i * run.lanes + l] * abs(gap[i * run.lanes + l]))
    return largest


@native
def _correct_positions(run):
    """Close the gaps once; return whether to look again."""
    program, q, again = run.close_positions, run.nq * run.lanes, False
    table = integers(program.table)
    table[program.t], table[program.q] = run.time, run.new
    table[program.gap_position], table[program.qdd] = run.gap, run.other + 8 * q
    call(program.run, program.plan, program.table)
    new, there, change = doubles(run.new), doubles(run.other), doubles(run.scratch)
    for i in range(q):
        there[i] = new[i]
    evaluate(run, run.changes, run.time, run.other, run.scratch)
    open_by = doubles(run.open)
    for l in range(run.lanes):
        if not open_by[l] > _SMALL:
            continue  # closed, or not a number
        open_by[l] = _largest_gap(run, l)
        for i in range(l, q, run.lanes):
            new[i] += change[i]
        again = again or open_by[l] > _SMALL
    return again


@native
def _correct_velocities(run):
    """Take from the velocities what would open the loops."""
    program, q = run.close_velocities, run.nq * run.lanes
    table = integers(program.table)
    table[program.t], table[program.q], table[program.qd] = run.time, run.new, run.new + 8 * q
    table[program.gap_velocity], table[program.qdd] = run.gap, run.other
    call(program.run, program.plan, program.table)
    new, change = doubles(run.new), doubles(run.other)
    for i in range(run.nv * run.lanes):
        new[q + i] += change[i]


@native
def close_loops(run):
    """new <- the nearest states with closed loops; failure of lanes where they stay open."""
    if run.rows == 0:
        return
    open_by, t, time = doubles(run.open), doubles(run.t), doubles(run.time)
    for l in range(run.lanes):
        open_by[l], time[l] = 1.0, t[l] + lane_of(run, l).step
    for _ in range(_ROUNDS):
        if not _correct_positions(run):
            break
    _correct_velocities(run)
    for l in range(run.lanes):
        lane = lane_of(run, l)
        if lane.who >= 0 and not lane.failure and not open_by[l] <= _SMALL:
            lane.failure = Failure.OPEN.value
