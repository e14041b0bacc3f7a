"""Which equations of closed loops are redundant where the motion is evaluated, and how firm the others are.

The motion drops rows whose pivots are rounding errors (`tree/loops.py`): those that follow from others, and,
next to a position where links are in line, those that hold nothing there. In that narrow region the
accelerations are those of a mechanism with more freedoms: they jump at its border. A step none of whose
stages falls into it is not disturbed, so one that has such a stage is tried again, a little shorter. Far from
closed loops, as early stages of long steps are, a redundant row may seem to hold something: that is the same.

A side step, to a sample inside a good step, has no choice of its length. Where one of its stages falls into
the region, the mean of the accelerations before and behind it stands for those there. But for the region they
are smooth: of those at distances d from the stage the mean is wrong by d^2 / 2 times their second derivative.
"""

import math

from linkwork.native.numba_functions import doubles, native, native_apart, native_within
from linkwork.simulation.loop.evaluate import evaluate
from linkwork.simulation.loop.lane_records import copy_all, copy_lane, lane_of, memo_of, rate_of
from linkwork.simulation.loop.records import Task

_NOISE = 1e-6
_AWAY = 10.0  # firmness from which on a base is away from where rows are redundant
_BESIDE, _DOUBLINGS = 2.0**-9, 6  # how far beside the region rates are looked for, in natural steps


@native
def dropped_rows(run, l):
    """Return how many rows of lane l were redundant in the last evaluation of the motion."""
    inverse, dropped = doubles(run.inverse_pivots), 0.0
    for i in range(run.rows):
        if not inverse[i * run.lanes + l] > 0.0:
            dropped += 1.0
    return dropped


@native
def _firmness(run, l):
    """Return the smallest of the other pivots of lane l, relative to the largest of a redundant row."""
    inverse, weak, largest = doubles(run.inverse_pivots), doubles(run.weak), 0.0
    for i in range(run.rows):
        largest = max(largest, inverse[i * run.lanes + l] * weak[i * run.lanes + l])
    return 1.0 / largest


@native
def _is_natural(lane):
    """Whether the last evaluation of the motion was for a natural step of a lane."""
    return lane.who >= 0 and (
        lane.task == Task.NATURAL.value
        or (lane.task == Task.PASSED.value and lane.goal == Task.NATURAL.value)
    )


@native_apart
def watch_rows(run, t, state):
    """Look at the rows in the evaluation of the motion just made, of a state at times t; by address."""
    changed, dropped = doubles(run.changed), doubles(run.dropped)
    for l in range(run.lanes):
        lane = lane_of(run, l)
        if not _is_natural(lane):
            continue
        memo = memo_of(run, lane)
        lane.dropped = dropped_rows(run, l)
        if lane.dropped != dropped[l]:
            changed[l] = 1.0
        lane.firmness = _firmness(run, l)
        if lane.dropped < dropped[l]:
            continue
        margin = 0.0 if lane.dropped > memo.dropped else lane.firmness
        if margin < lane.margin:
            lane.margin = margin
            if margin < memo.margin:
                lane.margin_t = doubles(t)[l]
                copy_lane(run, run.frail, state, run.size, l)


@native_within
def _meets_region(run, lane, l):
    """Whether, in a side step, other rows are redundant than at the base; of the last evaluation."""
    return lane.who >= 0 and not _is_natural(lane) and dropped_rows(run, l) != doubles(run.dropped)[l]


@native
def _evaluate_beside(run, j, state, distance, out):
    """out <- rates of stage j a distance away, in natural steps, in lanes that are changed, along the motion.

    Positions move by their rates, velocities by those at the base. A lane that is in the region still is
    marked by a 2.
    """
    changed, new, time, size = doubles(run.changed), doubles(run.new), doubles(run.time), run.nq * run.lanes
    copy_all(run, run.new, state)
    for l in range(run.lanes):
        if changed[l] == 0.0 or _is_natural(lane_of(run, l)):
            continue
        lane = lane_of(run, l)
        way = distance * max(lane.passed, lane.step)
        time[l] = doubles(run.t)[l] + doubles(run.c)[j] * lane.step + way
        for i in range(l, run.size, run.lanes):
            new[i] += way * (doubles(rate_of(run, j)) if i < size else doubles(rate_of(run, 0)))[i]
    evaluate(run, run.motion, run.time, run.new, out)
    for l in range(run.lanes):
        if _meets_region(run, lane_of(run, l), l) and changed[l] != 0.0:
            changed[l] = 2.0


@native_apart
def take_rates_beside(run, j, state):
    """Rates of stage j <- in side steps that meet the region there, the mean of those on its two sides."""
    changed, k, left = doubles(run.changed), doubles(rate_of(run, j)), 0
    for l in range(run.lanes):
        if _meets_region(run, lane_of(run, l), l):
            changed[l] = 1.0
            left += 1
        elif not _is_natural(lane_of(run, l)):
            changed[l] = 0.0
    distance = _BESIDE
    for _ in range(_DOUBLINGS):
        if left == 0:
            return
        _evaluate_beside(run, j, state, -distance, run.estimate)
        _evaluate_beside(run, j, state, distance, run.relative)
        before, behind = doubles(run.estimate), doubles(run.relative)
        for l in range(run.lanes):
            lane = lane_of(run, l)
            if lane.who < 0 or _is_natural(lane) or changed[l] == 0.0:
                continue
            memo_of(run, lane).evaluations += 2.0
            if changed[l] == 1.0:
                for i in range(l + run.nq * run.lanes, run.size, run.lanes):
                    k[i] = 0.5 * (before[i] + behind[i])
                left -= 1
                changed[l] = 0.0
            else:
                changed[l] = 1.0
        distance *= 2.0


@native
def is_disturbed(run, lane, memo, l):
    """Whether rows came or went inside the natural attempt of lane l, and a shorter step may avoid that.

    Not from next to a place where they do, and not twice from a base: a mechanism can come to rest there.
    """
    natural = lane.goal == Task.NATURAL.value and not run.fixed and not memo.held
    return natural and run.rows > 0 and doubles(run.changed)[l] != 0.0 and doubles(run.firmness)[l] > _AWAY


@native_within
def noise(run, lane, l):
    """Return what rounding does to the velocities of a natural attempt, relative: more cannot be asked of it.

    A row at the limit of being redundant turns them by 1e-7, one with a larger pivot by that much less; the
    accelerations, over a step that is short near such a position, by some times that.
    """
    if run.rows == 0 or lane.goal != Task.NATURAL.value:
        return 0.0
    return _NOISE / max(1.0, min(lane.margin, doubles(run.firmness)[l]))


@native
def begin_watch(run):
    """Forget what was seen of natural attempts before."""
    for l in range(run.lanes):
        lane = lane_of(run, l)
        if _is_natural(lane):
            doubles(run.changed)[l] = 0.0
            lane.margin = math.inf


@native
def spoil_disturbed(run, k):
    """k <- not finite in lanes where other rows are redundant than at the base; of the last evaluation."""
    dropped, rates = doubles(run.dropped), doubles(k)
    for l in range(run.lanes):
        if dropped_rows(run, l) != dropped[l]:
            rates[l] = math.nan


@native
def look_at_base(run, l):
    """Look at the rows of lane l, whose base was just evaluated."""
    doubles(run.dropped)[l], doubles(run.firmness)[l] = dropped_rows(run, l), _firmness(run, l)
