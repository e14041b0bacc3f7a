"""What is known of a good attempt once its end was evaluated, and whether it stays good."""

from linkwork.native.cache_lines import BYTES, all_equal, fused, larger, line_at, magnitude
from linkwork.native.numba_functions import doubles, native, native_within
from linkwork.recording.status import Status
from linkwork.simulation.loop.error_test import refuse
from linkwork.simulation.loop.evaluate import evaluate
from linkwork.simulation.loop.event_sides import evaluate_rates
from linkwork.simulation.loop.lane_records import (
    are_all,
    copy_all,
    copy_lane,
    fold_top,
    fold_total,
    is_finite,
    lane_of,
    memo_of,
    rate_of,
)
from linkwork.simulation.loop.records import Failure, Task
from linkwork.simulation.loop.redundancy import is_disturbed, watch_rows
from linkwork.simulation.loop.step_size import reject
from linkwork.simulation.loop.termination import keep_not_finite, stop

_NONSENSE, _ODD = 1.0, 0.1  # defects of the trapezoidal rule that end a fixed step, that refuse another


@native_within
def _keep(run):
    """kept <- the results of good attempts."""
    if are_all(run, Task.PASSED.value):
        copy_all(run, run.kept, run.new)
        return
    for l in range(run.lanes):
        if lane_of(run, l).task == Task.PASSED.value:
            copy_lane(run, run.kept, run.new, run.size, l)


@native_within
def _look(run):
    """dead <- NaN in lanes where the right-hand side after a good attempt is not finite, else 0.

    defect <- the largest difference from the trapezoidal rule, relative to scale + |y|.
    """
    f, half, zero = rate_of(run, 0), all_equal(0.5) * line_at(run.h), all_equal(0.0)
    dead = defect = zero
    i = 0
    while i < run.stride:
        rate = line_at(run.rate + i)
        dead = fused(zero, rate, dead)
        moved = line_at(run.kept + i) - line_at(run.base + i)
        difference = magnitude(moved - half * (line_at(f + i) + rate))
        defect = larger(difference * line_at(run.relative + i), defect)
        i += BYTES
    fold_total(run, dead, run.dead)
    fold_top(run, defect, run.defect)


@native_within
def _measure_stiffness(run):
    """change, distance <- between the marked stage and the result, which lie at the same time; relative."""
    f = rate_of(run, run.mark)
    change = distance = all_equal(0.0)
    i = 0
    while i < run.stride:
        relative = line_at(run.relative + i)
        change = larger(magnitude(line_at(run.rate + i) - line_at(f + i)) * relative, change)
        distance = larger(magnitude(line_at(run.kept + i) - line_at(run.marked + i)) * relative, distance)
        i += BYTES
    fold_top(run, change, run.change)
    fold_top(run, distance, run.distance)


@native
def _defect(run, l, i):
    """Return the difference of a component from the trapezoidal rule, relative to scale + |y|."""
    base, kept, relative = doubles(run.base), doubles(run.kept), doubles(run.relative)
    f, rate, h = doubles(rate_of(run, 0)), doubles(run.rate), lane_of(run, l).passed
    return abs(kept[i] - base[i] - 0.5 * h * (f[i] + rate[i])) * relative[i]


@native_within
def look_ahead(run):
    """Find out about the ends of good attempts.

    Other lanes get rate, g_kept and slopes as they have them; the rest is looked at for good attempts only.
    """
    _keep(run)
    evaluate(run, run.motion, run.reach, run.kept, run.rate)
    if run.rows:
        watch_rows(run, run.reach, run.kept)
    _look(run)
    if run.mark >= 0 and not run.fixed:
        _measure_stiffness(run)
    if run.events:
        evaluate_rates(run, run.reach, run.kept, run.rate, run.g_kept, run.slope_kept)


@native_within
def _is_stiff(run, l):
    """Return whether h |lambda| is at the border of stability (Hairer, Wanner, Solving ODEs II, IV.2).

    |lambda| is the change of the right-hand side over the change of the state, between the marked stage and
    the result.
    """
    h, change, distance = (lane_of(run, l).passed, doubles(run.change), doubles(run.distance))
    return h * change[l] > run.bound * distance[l]


@native
def _turn_down(run, l):
    """Refuse a step whose end has nothing to do with its stages.

    The stages may all have missed what the end met: a stop that is one-sided, a pulse. Then the error
    estimate knows nothing of it.
    """
    lane = lane_of(run, l)
    memo, largest = memo_of(run, lane), -1.0
    for i in range(l, run.size, run.lanes):
        defect = _defect(run, l, i)
        if defect > largest:
            memo.worst, largest = i // run.lanes, defect
    if run.fixed:
        stop(run, l, Status.STEP_TOO_LARGE.value)
        return
    lane.error, lane.excess = 1.0, run.inverse_tolerance
    reject(run, lane, memo, Failure.ERROR.value)


@native_within
def inspect(run, l):
    """Look at a good attempt with what is known of its end; return whether it stays good."""
    lane = lane_of(run, l)
    memo = memo_of(run, lane)
    lane.spent += 1.0
    if doubles(run.dead)[l] != 0.0:
        keep_not_finite(run, l, doubles(run.reach)[l], run.kept)
        refuse(run, l, Failure.NOT_FINITE.value)
        return False
    if run.events and not is_finite(run, run.g_kept, run.events, l):
        keep_not_finite(run, l, doubles(run.reach)[l], run.kept)
        stop(run, l, Status.NOT_FINITE.value)
        return False
    judged = lane.goal != Task.LAST.value
    if judged and not doubles(run.defect)[l] <= (_NONSENSE if run.fixed else _ODD):
        _turn_down(run, l)
        return False
    if is_disturbed(run, lane, memo, l):
        reject(run, lane, memo, Failure.DISTURBED.value)
        return False
    tested = run.mark >= 0 and not run.fixed and not memo.implicit
    lane.stiff = 1 if tested and _is_stiff(run, l) else 0
    lane.found, lane.hi = -1, lane.passed
    if run.events:
        copy_lane(run, run.located, run.kept, run.size, l)
        copy_lane(run, run.high, run.g_kept, run.events * run.lanes, l)
    return True
