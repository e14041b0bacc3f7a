"""A step of an explicit Runge-Kutta method, for all lanes at once; errors relative to scale + |y|.

Sums over stages run over lines of eight numbers, whose padding does no harm: scale is inf there, all else 0.
"""

from linkwork.native.cache_lines import (
    BYTES,
    all_equal,
    fused,
    larger,
    line_at,
    magnitude,
    number_at,
    put_line,
    put_whole_line,
)
from linkwork.native.numba_functions import doubles, integers, native, native_apart, native_within
from linkwork.simulation.loop.evaluate import evaluate
from linkwork.simulation.loop.lane_records import copy, fold_top, fold_total, lane_of, rate_of
from linkwork.simulation.loop.redundancy import take_rates_beside, watch_rows


@native_within
def _add_latest(run, out, weight, k):
    """out <- base + h (out + weight k), k being the stage that was just evaluated.

    In a single mechanism number by number: then what follows from velocities need not wait for accelerations.
    """
    if run.lanes > 1:
        h, w, i = line_at(run.h), all_equal(weight), 0
        while i < run.stride:
            total = fused(w, line_at(k + i), line_at(out + i))
            put_whole_line(out + i, fused(h, total, line_at(run.base + i)))
            i += BYTES
        return
    h, y, base = doubles(run.h)[0], doubles(out), doubles(run.base)
    i = 0
    while i < run.n:
        y[i] = fused(h, fused(weight, number_at(k + 8 * i), y[i]), base[i])
        i += 1


@native_within
def _sum(run, out, row, part):
    """out <- base + h times a weighted sum of stages: the first, those from `since` on, the latest."""
    since, i = integers(run.since)[row], 0
    weight = doubles(run.weights + 8 * (part * (run.width + 1) + row) * run.width)
    while i < run.stride:
        total = all_equal(0.0)
        if row > 1:
            total = all_equal(weight[0]) * line_at(run.k + i)
            k, j = rate_of(run, since) + i, since
            while j < row - 1:
                total = fused(all_equal(weight[j]), line_at(k), total)
                k += run.stride
                j += 1
        put_line(out + i, total)
        i += BYTES
    _add_latest(run, out, weight[row - 1], rate_of(run, row - 1))


@native
def _weigh_apart(run, out, row):
    """out <- what this row of the tables says, where positions have weights of their own."""
    _sum(run, out, row, 1)
    _sum(run, run.scratch, row, 0)
    copy(out, run.scratch, run.nq * run.lanes)


@native_within
def _weigh(run, out, row):
    """out <- what this row of the tables says."""
    if run.split:
        _weigh_apart(run, out, row)
    else:
        _sum(run, out, row, 0)


@native_within
def stage_state(run, j, out):
    """out, time <- where stage j evaluates the right-hand side."""
    _weigh(run, out, j)
    t, time, c = doubles(run.t), doubles(run.time), doubles(run.c)[j]
    l = 0
    while l < run.lanes:
        time[l] = t[l] + c * lane_of(run, l).step
        l += 1


@native_apart
def stage_state_again(run, j, out):
    """Do the same outside of the steps themselves, where a call does not count."""
    stage_state(run, j, out)


@native_within
def weigh_errors(run):
    """relative <- one over scale + |y|, y at the base or new, whichever is larger."""
    one, i = all_equal(1.0), 0
    while i < run.stride:
        y = larger(magnitude(line_at(run.base + i)), magnitude(line_at(run.new + i)))
        put_line(run.relative + i, one / (line_at(run.scale + i) + y))
        i += BYTES


@native
def relative_errors(run):
    """estimate, error <- relative to scale + |y|."""
    top = all_equal(0.0)
    for i in range(0, run.stride, BYTES):
        estimate = magnitude(line_at(run.estimate + i)) * line_at(run.relative + i)
        put_line(run.estimate + i, estimate)
        top = larger(estimate, top)
    fold_top(run, top, run.error)


@native_within
def _estimate(run):
    """estimate, error, lower <- of the step, relative; sick <- NaN where a stage or the result is not finite.

    A product with 0 is 0 unless a number is not finite.
    """
    weights, h, zero = doubles(run.error_weights), line_at(run.h), all_equal(0.0)
    top = top_lower = sick = zero
    i = 0
    while i < run.stride:
        estimate = lower = zero
        at, j = run.k + i, 0
        while j < run.stages:
            k = line_at(at)
            estimate = fused(all_equal(weights[2 * j]), k, estimate)
            lower = fused(all_equal(weights[2 * j + 1]), k, lower)
            sick = fused(zero, k, sick)
            at += run.stride
            j += 1
        h_relative = h * line_at(run.relative + i)
        estimate, lower = magnitude(h_relative * estimate), magnitude(h_relative * lower)
        put_line(run.estimate + i, estimate)
        top, top_lower = larger(estimate, top), larger(lower, top_lower)
        sick = fused(zero, line_at(run.new + i) + (estimate + lower), sick)
        i += BYTES
    fold_top(run, top, run.error)
    fold_top(run, top_lower, run.lower)
    fold_total(run, sick, run.sick)


@native_within
def spread_steps(run):
    """h <- the steps of the lanes, again and again along a line."""
    if run.lanes == 1:
        put_line(run.h, all_equal(lane_of(run, 0).step))
        return
    h = doubles(run.h)
    for l in range(8):
        h[l] = lane_of(run, l & (run.lanes - 1)).step


@native_within
def explicit_step(run):
    """new, estimate, sick <- a step of every lane."""
    rates_only = integers(run.rates_only)
    for j in range(1, run.stages):
        out = run.marked if j == run.mark else run.stage
        stage_state(run, j, out)
        program = run.rates if rates_only[j] else run.motion
        evaluate(run, program, run.time, out, rate_of(run, j))
        if run.rows and not rates_only[j]:
            watch_rows(run, run.time, out)
            take_rates_beside(run, j, out)
    _weigh(run, run.new, run.stages)
    weigh_errors(run)
    _estimate(run)
