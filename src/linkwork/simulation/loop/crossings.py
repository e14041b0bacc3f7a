"""Events: zeros of the event functions inside a good step, found by side steps."""

import math

from linkwork.simulation.compiled import doubles, integers, native
from linkwork.simulation.loop.evaluate import evaluate_events
from linkwork.simulation.loop.lanes import copy_lane, lane_of
from linkwork.simulation.loop.records import EPSILON, Task

_TRIALS = 80  # of locating an event; bisection alone needs some 55
_AT_ZERO = 1e-9  # an event function this small, against the largest it was, starts at zero
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
    i, g = lane_of(run, l).who, doubles(run.g_base, run.events * run.lanes)
    side, span = doubles(run.side, run.many * run.events), doubles(run.span, run.many * run.events)
    for e in range(run.events):
        value, at = g[e * run.lanes + l], i * run.events + e
        if abs(value) > _AT_ZERO * span[at]:
            side[at] = sign_of(value)
        span[at] = max(span[at], abs(value))


@native
def nudge(run, t, y, rate, g, slope):
    """slope <- the change of event functions, at (t, y) with values g, in a step at this rate; by address."""
    time, begin, stage = doubles(run.time, run.lanes), doubles(t, run.lanes), doubles(run.stage, run.size)
    x, f = doubles(y, run.size), doubles(rate, run.size)
    for l in range(run.lanes):
        delta = _NUDGE * lane_of(run, l).passed
        time[l] = begin[l] + delta
        for i in range(l, run.size, run.lanes):
            stage[i] = x[i] + delta * f[i]
    evaluate_events(run, run.time, run.stage, slope)
    changed, before = doubles(slope, run.events * run.lanes), doubles(g, run.events * run.lanes)
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
def seek(run, l, first):
    """Find which event functions cross zero in the good step of lane l, from the first on; tell when done.

    A function that ends on the side it came from may have been through zero and back: where its cubic says
    so, a side step there is wanted, and the search goes on afterwards.
    """
    lane, total = lane_of(run, l), run.events * run.lanes
    sides, directions = doubles(run.side, run.many * run.events), integers(run.directions, run.events)
    target, start, low = doubles(run.target, total), doubles(run.start, total), doubles(run.low, total)
    g_base, g_kept = doubles(run.g_base, total), doubles(run.g_kept, total)
    slope_base, slope_kept = doubles(run.slope_base, total), doubles(run.slope_kept, total)
    for e in range(first, run.events):
        at, side = e * run.lanes + l, sides[lane.who * run.events + e]
        g = g_kept[at]
        target[at], start[at], low[at] = 0.0, 0.0, g_base[at]
        if side != 0.0 and side * g <= 0.0:
            target[at] = -side if directions[e] != side else 0.0
            continue
        sign = side if side != 0.0 else sign_of(g)
        x = lane.passed * _dip(g_base[at], slope_base[at], g, slope_kept[at], sign)
        if 0.0 < x < lane.hi:
            lane.probing, lane.task, lane.step = e, Task.PROBE.value, x
            return False
    return True


@native
def probe(run, l):
    """See whether an event function has really dipped through zero, and which of its two crossings counts."""
    lane, total = lane_of(run, l), run.events * run.lanes
    e = lane.probing
    at, side = e * run.lanes + l, doubles(run.side, run.many * run.events)[lane.who * run.events + e]
    target, start, low = doubles(run.target, total), doubles(run.start, total), doubles(run.low, total)
    g, direction = doubles(run.g_trial, total)[at], integers(run.directions, run.events)[e]
    after = sign_of(doubles(run.g_kept, total)[at])
    if not g * after < 0.0:
        return
    if side != 0.0 and direction != side:
        target[at] = -side
        lane.hi = lane.step
        copy_lane(run, run.located, run.new, run.size, l)
        copy_lane(run, run.high, run.g_trial, total, l)
    elif direction != -after:
        target[at], start[at], low[at] = after, lane.step, g


@native
def _has_crossed(run, at, x, g):
    """Tell whether an event function with value g at x is beyond the crossing looked for."""
    target, start = doubles(run.target, at + 1)[at], doubles(run.start, at + 1)[at]
    return target != 0.0 and x > start and g * target >= 0.0


@native
def _drop_later(run, l):
    """Forget the crossings that lie behind the bracket; return the first event that is left, or -1."""
    total, hi, first = run.events * run.lanes, lane_of(run, l).hi, -1
    target, high = doubles(run.target, total), doubles(run.high, total)
    for e in range(run.events - 1, -1, -1):
        at = e * run.lanes + l
        if _has_crossed(run, at, hi, high[at]):
            first = e
        else:
            target[at] = 0.0
    return first


@native
def aim(run, l):
    """Set up the search for the earliest crossing in lane l; tell whether there is anything to search."""
    lane, total = lane_of(run, l), run.events * run.lanes
    target, start, g = doubles(run.target, total), doubles(run.start, total), doubles(run.g_base, total)
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
    """Choose where to look next in the bracket of lane l; tell whether there is anywhere left.

    The Illinois rule (regula falsi; the value at an end that stays is halved), on that of the crossed
    functions whose zero comes first; bisection when it is slow. Near an end the trial keeps half a tolerance
    away from it, so that the bracket closes from both sides.
    """
    lane, total = lane_of(run, l), run.events * run.lanes
    target, start = doubles(run.target, total), doubles(run.start, total)
    low, high = doubles(run.low, total), doubles(run.high, total)
    lo, hi = lane.lo, lane.hi
    tolerance = 4.0 * EPSILON * max(abs(doubles(run.t, run.lanes)[l] + hi), lane.passed)
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
    start, g = doubles(run.start, total), doubles(run.g_trial, total)
    low, high = doubles(run.low, total), doubles(run.high, total)
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
