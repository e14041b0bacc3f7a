"""Dense output: the polynomial of a good natural step, for samples and for the end time inside of it.

`tableau.Dense` says the equations. Its stages are evaluated for all lanes at once, and only if there is
something inside the step of one of them. The coefficients of a lane stay when others go on to other attempts.
"""

from linkwork.native.cache_lines import BYTES, all_equal, fused, line_at, put_line
from linkwork.native.numba_functions import doubles, native, native_apart, native_within
from linkwork.simulation.loop.evaluate import evaluate
from linkwork.simulation.loop.explicit_step import stage_state_again
from linkwork.simulation.loop.lane_records import (
    copy_all,
    copy_lane,
    fold_total,
    lane_of,
    memo_of,
    method_of,
    rate_of,
)
from linkwork.simulation.loop.records import Task
from linkwork.simulation.loop.redundancy import spoil_disturbed

COEFFICIENTS = 7  # beside the base itself


@native_within
def _is_inside(lane):
    """Return whether the result of the attempt of a lane comes from its polynomial."""
    return lane.dense and (lane.task == Task.SAMPLE.value or lane.task == Task.LAST.value)


@native_apart
def interpolate(run, l, step, out):
    """out <- lane l of the polynomial, a step from the base; by address."""
    theta = step / lane_of(run, l).whole
    rest, size = 1.0 - theta, run.stride // 8
    r, y, base = doubles(run.polynomial), doubles(out), doubles(run.base)
    for i in range(l, run.size, run.lanes):
        total = fused(theta, r[6 * size + i], r[5 * size + i])
        total = fused(theta, fused(rest, total, r[4 * size + i]), r[3 * size + i])
        total = fused(theta, fused(rest, total, r[2 * size + i]), r[size + i])
        y[i] = fused(theta, fused(rest, total, r[i]), base[i])


@native_within
def is_any_inside(run):
    """Return whether that is so in any lane."""
    for l in range(run.lanes):
        lane = lane_of(run, l)
        if lane.who >= 0 and _is_inside(lane):
            return True
    return False


@native_apart
def take_from_polynomials(run):
    """new <- where attempts have their results from polynomials; the other lanes wait.

    So stages are evaluated only when all lanes need them.
    """
    for l in range(run.lanes):
        lane = lane_of(run, l)
        if lane.who >= 0 and _is_inside(lane):
            lane.failure = 0
            interpolate(run, l, lane.step, run.new)
        elif lane.who >= 0:
            lane.waits = 1


@native_within
def is_new(lane):
    """Return whether a lane is in a good natural step that wants a polynomial."""
    return lane.dense and lane.task == Task.PASSED.value and lane.goal == Task.NATURAL.value


@native_within
def holds_something(run, l):
    """Return whether a sample or the end time lies inside the natural step of lane l, for a polynomial.

    When a step is repeated, samples of it that were recorded count no longer.
    """
    lane = lane_of(run, l)
    inside = doubles(run.reach)[l] > min(lane.due, run.t_end)
    return inside and method_of(run, memo_of(run, lane)).dense_stages > 0


@native
def _combine(run, out):
    """out <- coefficients of the polynomials of all lanes; sick <- NaN where they are not finite."""
    weights, h, zero = doubles(run.dense_weights), line_at(run.h), all_equal(0.0)
    stages, sick, i = run.stages + 1 + run.dense_stages, zero, 0
    while i < run.stride:
        r4 = r5 = r6 = r7 = zero
        at, j = run.k + i, 0
        while j < stages:
            k = line_at(at)
            r4 = fused(all_equal(weights[4 * j]), k, r4)
            r5 = fused(all_equal(weights[4 * j + 1]), k, r5)
            r6 = fused(all_equal(weights[4 * j + 2]), k, r6)
            r7 = fused(all_equal(weights[4 * j + 3]), k, r7)
            at += run.stride
            j += 1
        r1 = line_at(run.kept + i) - line_at(run.base + i)
        r2 = h * line_at(run.k + i) - r1
        r3 = r1 - h * line_at(run.rate + i) - r2
        to = out + i
        for r in (r1, r2, r3, h * r4, h * r5, h * r6, h * r7):
            put_line(to, r)
            sick = fused(zero, r, sick)
            to += run.stride
        i += BYTES
    fold_total(run, sick, run.sick)


@native_apart
def find_polynomials(run):
    """polynomial <- of the good natural steps with something inside.

    One that is not finite, or has a stage in which loops lose an equation, is none: then side steps do its
    work.
    """
    copy_all(run, rate_of(run, run.stages), run.rate)
    for j in range(run.stages + 1, run.stages + 1 + run.dense_stages):
        stage_state_again(run, j, run.stage)
        evaluate(run, run.motion, run.time, run.stage, rate_of(run, j))
        if run.rows:
            spoil_disturbed(run, rate_of(run, j))
    _combine(run, run.fresh if run.lanes > 1 else run.polynomial)
    sick = doubles(run.sick)
    for l in range(run.lanes):
        lane = lane_of(run, l)
        if lane.who >= 0 and is_new(lane):
            if run.lanes > 1:
                copy_lane(run, run.polynomial, run.fresh, COEFFICIENTS * run.stride // 8, l)
            lane.spent += run.dense_stages
            lane.whole = lane.passed
            lane.dense = 1 if sick[l] == 0.0 else 0
