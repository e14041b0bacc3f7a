"""Events: zeros of the event functions inside a good step, found by side steps."""

import math

from linkwork.native.numba_functions import doubles, integers, native
from linkwork.simulation.loop.evaluate import evaluate_events
from linkwork.simulation.loop.lane_records import copy_lane, lane_of
from linkwork.simulation.loop.records import EPSILON, Task

_TRIALS = 80  # of locating an event; bisection alone needs some 55
_AT_ZERO = 1e-9  # an event function this small, against the largest it was, starts at zero
_NEARER = 1 / 64  # of the last place, where to look next for the side a function must have been on
_NUDGE = 1e-6  # of a step: how far to go for the slope of an event function


@native
def sign_of(x):
    """Return -1, 0 or 1."""
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0


@native
def begin_sides(run, l):
    """See on which side of zero the event functions are.

    One that starts at zero has no side: after an event has acted, the same crossing must not be found again.
    But a side from before is kept there: of two events at the same time the second is still to come.
    """
    i, g = lane_of(run, l).who, doubles(run.g_base)
    side, span = doubles(run.side), doubles(run.span)
    for e in range(run.events):
        value, at = g[e * run.lanes + l], i * run.events + e
        if abs(value) > _AT_ZERO * span[at]:
            side[at] = sign_of(value)
        span[at] = max(span[at], abs(value))


@native
def pass_sides(run, l):
    """See on which side of zero those were in the good step that set out from zero.

    One that is back at zero just where the step ends has been there, and is about to cross.
    """
    i, slope = lane_of(run, l).who, doubles(run.slope_base)
    side, span = doubles(run.side), doubles(run.span)
    for e in range(run.events):
        rise, at = slope[e * run.lanes + l], i * run.events + e
        if side[at] == 0.0 and abs(rise) > _AT_ZERO * span[at]:
            side[at] = sign_of(rise)


@native
def nudge(run, t, y, rate, g, slope):
    """slope <- the change of event functions, at (t, y) with values g, in a step at this rate; by address."""
    time, begin, stage = doubles(run.time), doubles(t), doubles(run.stage)
    x, f = doubles(y), doubles(rate)
    for l in range(run.lanes):
        delta = _NUDGE * lane_of(run, l).passed
        time[l] = begin[l] + delta
        for i in range(l, run.size, run.lanes):
            stage[i] = x[i] + delta * f[i]
    evaluate_events(run, run.time, run.stage, slope)
    changed, before = doubles(slope), doubles(g)
    for i in range(run.events * run.lanes):
        changed[i] = (changed[i] - before[i]) / _NUDGE


@native
def _dip(g0, m0, g1, m1, sign):
    """Return where in (0, 1) the cubic with values g, slopes m at its ends has the other sign; 0: nowhere."""
    b = 3.0 * (g1 - g0) - 2.0 * m0 - m1
    c = 2.0 * (g0 - g1) + m0 + m1
    discriminant = b * b - 3.0 * c * m0
    if not discriminant > 0.0:
        return 0.0
    s = -(b + math.copysign(math.sqrt(discriminant), b))
    where, depth = 0.0, 0.0
    for x in (s / (3.0 * c), m0 / s):
        value = sign * (g0 + x * (m0 + x * (b + x * c)))
        if 0.0 < x < 1.0 and value < depth:
            where, depth = x, value
    return where


@native
def _turning(m0, g1):
    """Return where in (0, 1) the parabola from zero with slope m0 to g1 turns back."""
    return 0.5 * m0 / (m0 - g1)


@native
def seek(run, l, first):
    """Find which event functions cross zero in the good step of lane l, from the first on; return when done.

    A function that ends on the side it came from may have been through zero and back: where its cubic says
    so, a side step there is wanted, and the search goes on afterwards. One that starts at zero, where an
    event has left it, and sets out for the other side than it ends on, has certainly been there and back;
    one that does not set out at all has crossed at once.
    """
    lane = lane_of(run, l)
    sides, spans, directions = doubles(run.side), doubles(run.span), integers(run.directions)
    target, start, low = doubles(run.target), doubles(run.start), doubles(run.low)
    g_base, g_kept = doubles(run.g_base), doubles(run.g_kept)
    slope_base, slope_kept = doubles(run.slope_base), doubles(run.slope_kept)
    for e in range(first, run.events):
        at, side = e * run.lanes + l, sides[lane.who * run.events + e]
        g = g_kept[at]
        target[at], start[at], low[at] = 0.0, 0.0, g_base[at]
        if side != 0.0 and side * g <= 0.0:
            target[at] = -side if directions[e] != side else 0.0
            continue
        sign = side if side != 0.0 else sign_of(g)
        x = lane.passed * _dip(g_base[at], slope_base[at], g, slope_kept[at], sign)
        if side == 0.0 and spans[lane.who * run.events + e] > 0.0 and directions[e] != -sign:
            if slope_base[at] * g < 0.0:
                x = min(x if x > 0.0 else lane.passed, lane.passed * _turning(slope_base[at], g))
            elif slope_base[at] == 0.0 and directions[e] == sign:
                target[at] = sign
        if 0.0 < x < lane.hi:
            lane.probing, lane.task, lane.step = e, Task.PROBE.value, x
            return False
    return True


@native
def _least_span(run, lane, l):
    """Return the length of time below which an event is located."""
    return 4.0 * EPSILON * max(abs(doubles(run.t)[l] + lane.hi), lane.passed)


@native
def probe(run, l):
    """See whether an event function has really dipped through zero, and which of its two crossings counts.

    Return whether to look again, nearer to the base: where it must have been on the other side after all.
    """
    lane, total = lane_of(run, l), run.events * run.lanes
    e = lane.probing
    at, side = e * run.lanes + l, doubles(run.side)[lane.who * run.events + e]
    target, start, low = doubles(run.target), doubles(run.start), doubles(run.low)
    g, direction = doubles(run.g_trial)[at], integers(run.directions)[e]
    after = sign_of(doubles(run.g_kept)[at])
    if not g * after < 0.0:
        if side != 0.0 or not doubles(run.slope_base)[at] * after < 0.0 or direction == -after:
            return False
        lane.step *= _NEARER
        if lane.step > _least_span(run, lane, l):
            return True
        target[at] = after  # at the base, within rounding
        return False
    if side != 0.0 and direction != side:
        target[at] = -side
        lane.hi = lane.step
        copy_lane(run, run.located, run.new, run.size, l)
        copy_lane(run, run.high, run.g_trial, total, l)
    elif direction != -after:
        target[at], start[at], low[at] = after, lane.step, g
    return False


@native
def _has_crossed(run, at, x, g):
    """Return whether an event function with value g at x is beyond the crossing looked for."""
    target, start = doubles(run.target)[at], doubles(run.start)[at]
    return target != 0.0 and x > start and g * target >= 0.0


@native
def _drop_later(run, l):
    """Forget the crossings that lie behind the bracket; return the first event that is left, or -1."""
    hi, first = lane_of(run, l).hi, -1
    target, high = doubles(run.target), doubles(run.high)
    for e in range(run.events - 1, -1, -1):
        at = e * run.lanes + l
        if _has_crossed(run, at, hi, high[at]):
            first = e
        else:
            target[at] = 0.0
    return first


@native
def aim(run, l):
    """Set up the search for the earliest crossing in lane l; return whether there is anything to search."""
    lane = lane_of(run, l)
    target, start, g = doubles(run.target), doubles(run.start), doubles(run.g_base)
    if _drop_later(run, l) < 0:
        return False
    lane.lo = lane.hi
    for e in range(run.events):
        at = e * run.lanes + l
        if target[at] != 0.0:
            lane.lo = min(lane.lo, start[at])
            if start[at] == 0.0 and g[at] * target[at] >= 0.0:
                # It crossed at the base already, together with the event after which the run went on.
                lane.hi, lane.found = 0.0, e
                copy_lane(run, run.located, run.base, run.size, l)
                return False
    lane.trials = lane.slow = lane.moved = 0
    return True


@native
def choose_trial(run, l):
    """Choose where to look next in the bracket of lane l; return whether there is anywhere left.

    The Illinois rule (regula falsi; the value at an end that stays is halved), on that of the crossed
    functions whose zero comes first; bisection when it is slow. Near an end the trial keeps half a tolerance
    away from it, so that the bracket closes from both sides.
    """
    lane, total = lane_of(run, l), run.events * run.lanes
    target, start = doubles(run.target), doubles(run.start)
    low, high = doubles(run.low), doubles(run.high)
    lo, hi = lane.lo, lane.hi
    tolerance = _least_span(run, lane, l)
    if hi - lo <= tolerance or lane.trials >= _TRIALS:
        lane.found = _drop_later(run, l)
        return False
    x = hi
    for at in range(l, total, run.lanes):
        if target[at] != 0.0:
            a = max(lo, start[at])
            x = min(x, a + (hi - a) * (low[at] / (low[at] - high[at])))
    if lane.slow >= 3:
        x, lane.slow = 0.5 * (lo + hi), 0
    lane.step = min(max(x, lo + 0.5 * tolerance), hi - 0.5 * tolerance)
    lane.task = Task.LOCATE.value
    return True


@native
def locate(run, l):
    """Close the bracket of lane l with the result of a trial."""
    lane, total = lane_of(run, l), run.events * run.lanes
    start, g = doubles(run.start), doubles(run.g_trial)
    low, high = doubles(run.low), doubles(run.high)
    x, width, crossed = lane.step, lane.hi - lane.lo, False
    for at in range(l, total, run.lanes):
        crossed = crossed or _has_crossed(run, at, x, g[at])
    half = 0.5 if lane.moved == (1 if crossed else -1) else 1.0
    for at in range(l, total, run.lanes):
        if crossed:
            high[at], low[at] = g[at], half * low[at]
        else:
            low[at], high[at] = g[at] if x > start[at] else low[at], half * high[at]
    if crossed:
        lane.hi, lane.moved = x, 1
        copy_lane(run, run.located, run.new, run.size, l)
        _drop_later(run, l)
    else:
        lane.lo, lane.moved = x, -1
    lane.slow = lane.slow + 1 if lane.hi - lane.lo > 0.5 * width else 0
    lane.trials += 1
