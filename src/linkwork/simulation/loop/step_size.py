"""The length of natural steps: the first, the next after a good one, a shorter one after a bad one."""

import numpy as np

from linkwork.native.numba_functions import bits, doubles, from_bits, native, native_within
from linkwork.simulation.loop.lane_records import method_of, rate_of
from linkwork.simulation.loop.records import SHORTEST, Failure, Task

_SHRINK, _GROW = 0.2, 5.0  # the controller's factors of h
_SAFETY = 0.9  # factor of a step after one that failed
_ASIDE = 0.8  # factor of a step after one that met positions where loops lose an equation
_LEAST = -13.0  # logarithm of the smallest error that is remembered
_ROOT = 0x3FE6A09E667F3BCD  # 1/sqrt(2), as it is stored
_ONE = 0x3FF0000000000000
_SHIFT = 1.5 * 2.0**52  # a number that this was added to has its whole part in the last bits
_FIRST = 1e-2  # the first step is not longer than this [s]; the controller corrects it


@native
def _log2(x):
    """Return the logarithm of x > 0 to five digits, in few operations; the same bits on every machine."""
    exponent = (bits(x) - _ROOT) >> 52
    z = from_bits(bits(x) - (exponent << 52)) - 1.0  # from 1/sqrt(2) - 1 to sqrt(2) - 1
    w = z * z
    low, middle, high = 1.442713 - 0.721039 * z, 0.479392 - 0.368821 * z, 0.321648 - 0.200985 * z
    return exponent + z * ((low + w * middle) + (w * w) * high)


@native
def _exp2(x):
    """Return the power of two to some five digits; x is not beyond some hundreds."""
    shifted = x + _SHIFT
    f = x - (shifted - _SHIFT)
    power = from_bits((bits(shifted) << 52) + _ONE)
    return power * ((1.0 + 0.693121 * f) + (f * f) * (0.240221 + f * (0.055922 + 0.009676 * f)))


@native
def first_step(run, l, order):
    """Return a step in which the state moves by about the tolerance's root; the duration has no say."""
    f, base, scale = doubles(rate_of(run, 0)), doubles(run.base), doubles(run.scale)
    speed = 0.0
    for i in range(l, run.size, run.lanes):
        speed = max(speed, abs(f[i]) / (scale[i] + abs(base[i])))
    h = min(_FIRST, run.h_max)
    reach = 0.5 * _exp2(_log2(run.tolerance) / order)
    shortest = 1e3 * SHORTEST * max(abs(doubles(run.t)[l]), run.time_scale)
    return max(reach / speed, shortest) if speed * h > reach else h


@native_within
def next_step(run, memo, error, h):
    """Return the next natural step after one of length h with this error, against the tolerance (PI)."""
    now = _log2(max(error, 1e-10))
    method = method_of(run, memo)
    factor = method.safety * _exp2(method.trend * memo.trend - method.gain * now)
    memo.trend = max(now, _LEAST)
    held = memo.held and memo.failure != Failure.DISTURBED.value
    return min(h * min(1.0 if held else _GROW, max(_SHRINK, factor)), run.h_max)


@native
def reject(run, lane, memo, failure):
    """Shorten the natural step after an attempt that failed.

    Where it led beyond the end time and was not finite, as with a law that ends there, the next attempt aims
    at the end time; if that fails too, no longer.
    """
    memo.evaluations += lane.spent
    lane.spent = 0.0
    lane.task = Task.READY.value
    memo.blocked = np.nan
    if lane.goal == Task.END.value:
        return
    factor = _SHRINK
    if failure == Failure.DISTURBED.value:
        factor = _ASIDE
    elif failure == Failure.ERROR.value:
        error = min(lane.excess, 1e10)
        factor = max(_SHRINK, _SAFETY * _exp2(-_log2(error) / method_of(run, memo).error_order))
    elif memo.t + memo.h > run.t_end:
        memo.blocked = run.t_end
    memo.h *= factor
    memo.held = 1.0
    memo.rejected += 1.0
    memo.failure = failure
