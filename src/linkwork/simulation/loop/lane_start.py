"""From the queue to a lane, and from a base to the next attempt."""

from linkwork.native.numba_functions import doubles, native, native_within
from linkwork.recording.status import Status
from linkwork.simulation.loop.evaluate import evaluate
from linkwork.simulation.loop.event_sides import begin_sides, evaluate_rates, judge_action
from linkwork.simulation.loop.lane_records import (
    busy_lanes,
    gather,
    is_finite,
    lane_of,
    memo_at,
    memo_of,
    method_of,
    rate_of,
    release,
)
from linkwork.simulation.loop.records import ON_MESH, SHORTEST, Task
from linkwork.simulation.loop.redundancy import look_at_base
from linkwork.simulation.loop.sampling import begin_samples
from linkwork.simulation.loop.step_size import first_step
from linkwork.simulation.loop.termination import finish, give_up, keep_not_finite, stop

_LEAST_PROGRESS = 1e-5  # of the time that is left, in `patience` attempts


@native
def _begin(run, l):
    """Make lane l ready, whose mechanism was just put there."""
    lane, t = lane_of(run, l), doubles(run.t)
    memo = memo_of(run, lane)
    if memo.implicit and run.lanes > 1:
        stop(run, l, Status.STIFF.value)
    elif not is_finite(run, rate_of(run, 0), run.n, l) or not is_finite(run, run.g_base, run.events, l):
        keep_not_finite(run, l, t[l], run.base)
        stop(run, l, Status.NOT_FINITE.value)
    elif not begin_samples(run, l):
        stop(run, l, Status.BUFFER_FULL.value)
    else:
        if run.fixed:
            memo.h = run.fixed
        elif memo.h == 0.0:
            memo.h = first_step(run, l, method_of(run, memo).error_order)
        judge_action(run, l)
        begin_sides(run, l)
        if run.rows:
            look_at_base(run, l)
        lane.task = Task.READY.value


@native
def _fill(run):
    """Put waiting mechanisms into idle lanes."""
    first = run.queue
    for l in range(run.lanes):
        if lane_of(run, l).who < 0:
            while run.queue < run.many and memo_at(run, run.queue).status:
                run.queue += 1
            if run.queue < run.many:
                gather(run, run.queue, l)
                run.queue += 1
    if run.queue > first:
        # Lanes that are under way are evaluated again, with the same result.
        evaluate(run, run.motion, run.t, run.base, rate_of(run, 0))
        if run.events:
            evaluate_rates(run, run.t, run.base, rate_of(run, 0), run.g_base, run.slope_base)
        for l in range(run.lanes):
            lane = lane_of(run, l)
            if lane.who >= 0 and lane.task == Task.IDLE.value:
                _begin(run, l)


@native_within
def _works_too_much(run, memo, t):
    """Return whether the attempts are used up, or will be at this pace, or bring next to no progress."""
    attempts = memo.accepted + memo.rejected - memo.earlier
    if attempts >= run.max_steps:
        return True
    if attempts - memo.check_attempts < run.patience:
        return False
    advance = t - memo.check_t
    memo.check_attempts, memo.check_t = attempts, t
    needed = run.patience * (run.t_end - t)
    return advance < _LEAST_PROGRESS * (run.t_end - t) or advance * (run.max_steps - attempts) < needed


@native_within
def _aims_at_end(run, memo, t, near):
    """Return whether the next attempt goes to the end time."""
    if run.fixed:
        return run.t_end - t < memo.h - near
    return memo.blocked == run.t_end


@native_within
def _depart(run, l):
    """Choose the next attempt from the base of lane l, or end the run there."""
    lane, t = lane_of(run, l), doubles(run.t)[l]
    memo = memo_of(run, lane)
    near = ON_MESH * memo.h if run.fixed else 0.0
    if t + near >= run.t_end:
        finish(run, l, Status.DONE.value, run.t_end, run.base)
    elif _works_too_much(run, memo, t):
        stop(run, l, Status.TOO_MUCH_WORK.value)
    elif _aims_at_end(run, memo, t, near):
        lane.task, lane.step, lane.dense = Task.END.value, run.t_end - t, 0
    elif t + memo.h == t or (not run.fixed and memo.h < SHORTEST * max(abs(t), run.time_scale)):
        stop(run, l, give_up(int(memo.failure)))
    else:
        lane.task, lane.step = Task.NATURAL.value, memo.h


@native_within
def start_attempts(run, draining):
    """Bring every lane to an attempt: fill what is idle, depart from bases.

    When the loop is to return, lanes at their base are released instead.
    """
    while True:
        if not draining:
            _fill(run)
        for l in range(run.lanes):
            if lane_of(run, l).task == Task.READY.value:
                if draining:
                    release(run, l)
                else:
                    _depart(run, l)
        if draining or run.queue == run.many or busy_lanes(run) == run.lanes:
            return
