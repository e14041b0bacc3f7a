"""Whether an attempt was good, by its error estimate."""

import math

from linkwork.native.numba_functions import doubles, native, native_within
from linkwork.simulation.loop.dense_output import holds_something
from linkwork.simulation.loop.lane_records import lane_of, memo_of, method_of, normalise
from linkwork.simulation.loop.records import Failure, Task
from linkwork.simulation.loop.redundancy import is_disturbed, noise
from linkwork.simulation.loop.step_size import reject
from linkwork.simulation.loop.termination import give_up, stop

_SLIGHT = 1e-3  # part of the tolerance that makes no difference


@native
def refuse(run, l, failure):
    """Reject the attempt of lane l, or end the run where no other step can be tried."""
    lane = lane_of(run, l)
    if run.fixed or lane.goal == Task.LAST.value:
        stop(run, l, give_up(failure))
    else:
        reject(run, lane, memo_of(run, lane), failure)


@native_within
def _worst(run, l):
    """Return the component of lane l with the largest error."""
    estimate, worst = doubles(run.estimate), l
    for i in range(l, run.size, run.lanes):
        if estimate[i] > estimate[worst]:
            worst = i
    return worst // run.lanes


@native_within
def _error(run, memo, l):
    """Return the error of the attempt of lane l, relative to scale + |y|; 0 where there is no estimate."""
    estimates = method_of(run, memo).estimates
    if estimates == 0:
        return 0.0
    error, lower = doubles(run.error)[l], doubles(run.lower)[l]
    if estimates == 2 and error > 0.0:
        error = error * error / math.sqrt(error * error + 0.01 * lower * lower)
    return error


@native_within
def _excess(run, lane, l):
    """Return the error of an attempt relative to the tolerance, and to rounding where that is larger."""
    rounding = noise(run, lane, l)
    if rounding <= _SLIGHT * run.tolerance:
        return lane.error * run.inverse_tolerance
    return lane.error / (run.tolerance + rounding)


@native_within
def _pass(run, l):
    """Prepare the result of a good attempt to be kept."""
    lane, t, reach = lane_of(run, l), doubles(run.t), doubles(run.reach)
    memo = memo_of(run, lane)
    lane.passed = lane.step
    lane.task = Task.PASSED.value
    if lane.goal != Task.NATURAL.value:
        reach[l] = run.t_end
    elif run.fixed:
        reach[l] = memo.t0 + (memo.index + 1.0) * memo.h
    else:
        reach[l] = t[l] + lane.step
        lane.dense = 1 if holds_something(run, l) else 0
    normalise(run, run.new, l)


@native_within
def judge(run, l):
    """Decide whether the attempt of lane l was good."""
    lane = lane_of(run, l)
    lane.goal = lane.task
    failure, judged = lane.failure, lane.goal != Task.LAST.value
    if not failure and judged:
        lane.error = _error(run, memo_of(run, lane), l)
        lane.excess = _excess(run, lane, l)
        if not run.fixed and not lane.excess <= 1.0:
            failure = Failure.ERROR.value
        if lane.excess > 0.5:
            memo_of(run, lane).worst = _worst(run, l)
    if failure == Failure.ERROR.value and is_disturbed(run, lane, memo_of(run, lane), l):
        failure = Failure.DISTURBED.value
    if failure:
        refuse(run, l, failure)
    else:
        _pass(run, l)
