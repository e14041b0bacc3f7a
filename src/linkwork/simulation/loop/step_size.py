"""The length of natural steps: the first, the next after a good one, a shorter one after a bad one."""

import math

from linkwork.simulation.loop.lanes import rate_of
from linkwork.simulation.loop.records import SHORTEST, Failure, Task
from linkwork.trace.compiled import doubles, native

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0  # the controller's factors of h
_FIRST = 1e-2  # the first step is not longer than this [s]; the controller corrects it


@native
def _power(x, p):
    """Return x**p for x > 0 to some nine digits, from the four operations: the same bits on every machine."""
    m, e = math.frexp(x)
    if m < 0.7071067811865476:
        m, e = 2.0 * m, e - 1
    z = (m - 1.0) / (m + 1.0)
    w = z * z
    log2 = e + 2.885390081777927 * z * (1.0 + w * (1 / 3 + w * (1 / 5 + w * (1 / 7 + w * (1 / 9)))))
    n = math.floor(p * log2 + 0.5)
    f = (p * log2 - n) * 0.6931471805599453
    series = 1 / 24 + f * (1 / 120 + f * (1 / 720 + f * (1 / 5040)))
    return math.ldexp(1.0 + f * (1.0 + f * (1 / 2 + f * (1 / 6 + f * series))), int(n))


@native
def error_order(run, memo):
    """Return with which power of h the error estimate shrinks."""
    return run.ros_error_order if memo.implicit else run.error_order


@native
def first_step(run, l, order):
    """Return a step in which the state moves by about the tolerance's root; the duration has no say."""
    f, base, scale = doubles(rate_of(run, 0)), doubles(run.base), doubles(run.scale)
    speed = 0.0
    for i in range(l, run.size, run.lanes):
        speed = max(speed, abs(f[i]) / (scale[i] + abs(base[i])))
    h = min(_FIRST, run.h_max)
    reach = 0.5 * _power(run.tolerance, 1.0 / order)
    shortest = 1e3 * SHORTEST * max(abs(doubles(run.t)[l]), run.time_scale)
    return max(reach / speed, shortest) if speed * h > reach else h


@native
def next_step(run, memo, error, order, h):
    """Return the next natural step after one of length h with this error, against the tolerance (PI)."""
    error = max(error, 1e-10)
    beta = 0.2 / order
    factor = _SAFETY * _power(error, 0.75 * beta - 1.0 / order)
    if memo.previous > 0.0:
        factor *= _power(memo.previous, beta)
    factor = min(1.0 if memo.held else _GROW, max(_SHRINK, factor))
    memo.previous = max(error, 1e-4)
    return min(h * factor, run.h_max)


@native
def reject(run, lane, memo, failure):
    """Shorten the natural step after an attempt that failed; or no longer aim at the end time."""
    memo.evaluations += lane.spent
    lane.spent = 0.0
    lane.task = Task.READY.value
    if lane.goal == Task.END.value:
        memo.end_failed = run.t_end
        return
    factor = _SHRINK
    if failure == Failure.ERROR.value:
        error = min(lane.error / run.tolerance, 1e10)
        factor = max(_SHRINK, _SAFETY * _power(error, -1.0 / error_order(run, memo)))
    memo.h *= factor
    memo.held = 1.0
    memo.rejected += 1.0
    memo.failure = failure
