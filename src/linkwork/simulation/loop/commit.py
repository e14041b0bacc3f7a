"""Good steps enter what mechanisms remember, and become the bases of the next."""

import numpy as np

from linkwork.native.numba_functions import doubles, native, native_within
from linkwork.recording.status import Status
from linkwork.simulation.loop.event_sides import begin_sides
from linkwork.simulation.loop.lane_records import (
    are_all,
    copy_all,
    copy_lane,
    lane_of,
    memo_of,
    rate_of,
    scatter,
)
from linkwork.simulation.loop.records import Task
from linkwork.simulation.loop.step_size import next_step
from linkwork.simulation.loop.termination import stop

_STIFF_STEPS, _RESET_STEPS, _CALM_STEPS = 15, 6, 25


@native_within
def _watch_stiffness(run, lane, memo):
    """Count stiff steps, or calm ones in implicit mode; return whether the mode has to change."""
    if memo.implicit:
        memo.calm = memo.calm + 1.0 if lane.passed * run.norm < 0.5 * run.bound else 0.0
        return memo.calm >= _CALM_STEPS
    if lane.stiff:
        memo.hits += 1.0
        memo.misses = 0.0
        if memo.hits >= _STIFF_STEPS:
            memo.hits = 0.0
            memo.stiff += 1.0
            return True
        return False
    memo.misses += 1.0
    if memo.misses >= _RESET_STEPS:
        memo.hits = 0.0
    return False


@native
def _change_mode(memo):
    """Go on implicitly after explicit steps, or the other way round; the step is kept."""
    memo.implicit = 1.0 - memo.implicit
    memo.switches += 1.0
    memo.hits = memo.misses = memo.calm = memo.trend = 0.0


@native_within
def _book(run, lane, memo):
    """Enter the good step of a lane into the accounts."""
    memo.accepted += 1.0
    memo.evaluations += lane.spent
    lane.spent = 0.0
    if memo.implicit:
        memo.jacobians += 1.0
        memo.evaluations += 0 if run.tangent.run else run.n
    memo.largest = max(memo.largest, lane.error)
    memo.sum += lane.error
    memo.step_5, memo.step_4, memo.step_3 = memo.step_4, memo.step_3, memo.step_2
    memo.step_2, memo.step_1 = memo.step_1, lane.passed


@native
def _watch_loops(run, l):
    """Remember where the loops were least firm: that is near a singular position, if there was one."""
    lane = lane_of(run, l)
    memo = memo_of(run, lane)
    doubles(run.dropped)[l], doubles(run.firmness)[l] = lane.dropped, lane.firmness
    memo.dropped = min(memo.dropped, lane.dropped)
    if lane.margin < memo.margin:
        memo.margin, memo.margin_t = lane.margin, lane.margin_t
        scatter(run, run.weakest, run.frail, l)


@native_within
def commit(run, l):
    """Enter the good natural step of lane l into what its mechanism remembers."""
    lane = lane_of(run, l)
    memo = memo_of(run, lane)
    _book(run, lane, memo)
    memo.index += 1.0
    if run.rows:
        _watch_loops(run, l)
    memo.t = doubles(run.t)[l] = doubles(run.reach)[l]
    if not run.fixed:
        memo.h = next_step(run, memo, lane.excess, lane.passed)
        if _watch_stiffness(run, lane, memo) and run.switch:
            _change_mode(memo)
    memo.held = memo.failure = 0.0
    memo.blocked = np.nan
    lane.task = Task.MOVED.value


@native_within
def move_bases(run):
    """Make the ends of committed steps the bases of the next."""
    together = are_all(run, Task.MOVED.value)
    if together:
        copy_all(run, run.base, run.kept)
        copy_all(run, rate_of(run, 0), run.rate)
    for l in range(run.lanes):
        lane = lane_of(run, l)
        if lane.who < 0 or lane.task != Task.MOVED.value:
            continue
        if not together:
            copy_lane(run, run.base, run.kept, run.size, l)
            copy_lane(run, rate_of(run, 0), run.rate, run.size, l)
        if run.events:
            copy_lane(run, run.g_base, run.g_kept, run.events * run.lanes, l)
            copy_lane(run, run.slope_base, run.slope_kept, run.events * run.lanes, l)
            begin_sides(run, l)
            memo_of(run, lane).acted = 0.0
        run.differentiated = 0
        lane.task = Task.READY.value
        if memo_of(run, lane).implicit and run.lanes > 1:
            stop(run, l, Status.STIFF.value)
