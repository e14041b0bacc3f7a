"""Events: zeros of the event functions inside a good step, found by side steps.

`event_sides.py` says on which side of zero a function is at the base. It crosses zero if it is on the other
side at the end of the step, or has been there in between, as far as a cubic through its ends shows.
"""

import math

from linkwork.native.numba_functions import doubles, integers, native
from linkwork.simulation.loop.event_sides import is_across, is_at_zero
from linkwork.simulation.loop.lane_records import copy_lane, lane_of
from linkwork.simulation.loop.records import EPSILON, Task

_TRIALS = 80  # of locating an event; bisection alone needs some 55
_NEARER = 1 / 64  # of the last place, where to look next for the side a function must have been on


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
def _sets_out(run, l, e):
    """Return whether an event function is at zero at the base of lane l, and leaves it to its side."""
    at, who = e * run.lanes + l, lane_of(run, l).who * run.events + e
    side, slope = doubles(run.side)[who], doubles(run.slope_base)[at]
    return is_at_zero(side, doubles(run.band)[who], doubles(run.g_base)[at]) and side * slope > 0.0


@native
def seek(run, l, first):
    """Find which event functions cross zero in the good step of lane l, from the first on; return when done.

    A function that ends on the side it came from may have been through zero and back: where its cubic says
    so, a side step there is wanted, and the search goes on afterwards. One that an action left at zero, that
    sets out for the side it came from and ends on the other, has been there and back: a side step finds out
    where it was. One that does not set out for that side crosses at once.
    """
    lane = lane_of(run, l)
    sides, bands, directions = doubles(run.side), doubles(run.band), integers(run.directions)
    target, start, low = doubles(run.target), doubles(run.start), doubles(run.low)
    g_base, g_kept, high = doubles(run.g_base), doubles(run.g_kept), doubles(run.high)
    slope_base, slope_kept = doubles(run.slope_base), doubles(run.slope_kept)
    h = lane.passed
    for e in range(first, run.events):
        at, who = e * run.lanes + l, lane.who * run.events + e
        g, side, band = high[at], sides[who], bands[who]
        target[at], start[at], low[at] = 0.0, 0.0, g_base[at]
        if side == 0.0:
            continue
        x = 0.0
        if side * g <= 0.0 and _sets_out(run, l, e):
            x = lane.hi * _turning(lane.hi * slope_base[at], g) if directions[e] != side else 0.0
        elif is_across(side, band, g):
            target[at] = -side if directions[e] != side else 0.0
        else:
            x = h * _dip(g_base[at], h * slope_base[at], g_kept[at], h * slope_kept[at], side)
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
    """See on which side of zero an event function has been in between; return whether to look again.

    If it ends across, a place is looked for, nearer and nearer to the base, where it was still on its side:
    there the crossing begins. If it does not, it has dipped through zero or not.
    """
    lane = lane_of(run, l)
    e = lane.probing
    at, who = e * run.lanes + l, lane.who * run.events + e
    side, band, g = doubles(run.side)[who], doubles(run.band)[who], doubles(run.g_trial)[at]
    target, start, low = doubles(run.target), doubles(run.start), doubles(run.low)
    if side * doubles(run.high)[at] <= 0.0:
        if side * g > max(band, 0.0):
            target[at], start[at], low[at] = -side, lane.step, g
            return False
        lane.step *= _NEARER
        if lane.step > _least_span(run, lane, l):
            return True
        if is_across(side, band, doubles(run.high)[at]):
            target[at] = -side  # at the base, within rounding
        return False
    return is_across(side, band, g) and _enter_dip(run, l, side, g)


@native
def _enter_dip(run, l, side, g):
    """Aim at the crossing into a dip or out of it, whichever counts; return whether to look again."""
    lane = lane_of(run, l)
    at = lane.probing * run.lanes + l
    if integers(run.directions)[lane.probing] == side:
        doubles(run.target)[at], doubles(run.start)[at], doubles(run.low)[at] = side, lane.step, g
        return False
    lane.hi = lane.step
    copy_lane(run, run.located, run.new, run.size, l)
    copy_lane(run, run.high, run.g_trial, run.events * run.lanes, l)
    if not _sets_out(run, l, lane.probing):
        doubles(run.target)[at] = -side
        return False
    lane.step *= _turning(lane.step * doubles(run.slope_base)[at], g)
    return True


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
    lane.low_weight = lane.high_weight = 1.0
    return True


@native
def choose_trial(run, l):
    """Choose where to look next in the bracket of lane l; return whether there is anywhere left.

    The Illinois rule (regula falsi; the value at an end that stays counts half), on that of the crossed
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
            below, above = lane.low_weight * low[at], lane.high_weight * high[at]
            x = min(x, a + (hi - a) * (below / (below - above)))
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
            high[at] = g[at]
        elif x > start[at]:
            low[at] = g[at]
    if crossed:
        lane.hi, lane.moved = x, 1
        lane.high_weight, lane.low_weight = 1.0, half * lane.low_weight
        copy_lane(run, run.located, run.new, run.size, l)
        _drop_later(run, l)
    else:
        lane.lo, lane.moved = x, -1
        lane.low_weight, lane.high_weight = 1.0, half * lane.high_weight
    lane.slow = lane.slow + 1 if lane.hi - lane.lo > 0.5 * width else 0
    lane.trials += 1
