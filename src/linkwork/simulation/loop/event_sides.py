"""On which side of zero event functions are: at a base, after an event, after what an action has made of it.

A function g has a *side*, the sign it has at the base. Where an event was located, or where a run starts at
zero, g is zero as far as it can be known, and its sign is rounding. Then the side follows from what is known:

- an event has taken g from side -T to T, and nothing has acted since: its side is T;
- an action has moved g away from zero: its side is the sign of g;
- an action has left g at zero, or just beyond, and it goes on to T, as it did before, at a rate that is worth
  mentioning against its rates in the step of the event: nothing was done about the crossing, its side is T;
- an action has left g there, and it returns, or rests, or was turned round to T: its side is -T. If it comes
  back, or if nothing holds it where it rests, it crosses again: an event is not lost because an action leaves
  it where it was found. (Steps of first order may find zero with a rate back, which a bounce turns to T.)

At zero means within a *band*: sixteen times the values at the ends of the interval in which the event was
located, which is as short as time can resolve. A function that jumps has large ones; so a band is not wider
than a small part of the largest value that g had. A band is left, and forgotten, with the first base outside.

Of two events at the same time the second is still to come when the first acts: where g has gone through zero
together with another event, its side is that from before, and the band says so by its sign.

Rates of g along the motion, dg/dt + dg/dq q' + dg/dv v', are exact where the function was traced, else
differences.
"""

from linkwork.native.numba_functions import call, doubles, integers, native
from linkwork.simulation.loop.evaluate import evaluate_events
from linkwork.simulation.loop.lane_records import lane_of, memo_of

_WIDER = 16.0  # than the values at the ends of the interval that the event is in
_SMALL = 1e-9  # of the largest value of an event function: a band is not wider
_JUST = 1e-6  # of the same: an action that leaves a function so little beyond zero has left it there
_STILL = 1e-6  # of the rates in the step of an event: an action that leaves less has stopped it
_NUDGE = 2.0**-26  # of the time, or of 1 s: how far to go for the difference


@native
def sign_of(x):
    """Return -1, 0 or 1."""
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0


@native
def is_at_zero(side, band, g):
    """Return whether a function on this side, with value g at the base, has yet to leave zero."""
    return side * g <= max(band, 0.0)


@native
def is_across(side, band, g):
    """Return whether g is on the other side of zero than `side`."""
    return side * g < -band if band > 0.0 else side * g <= 0.0


@native
def evaluate_rates(run, t, y, k, g, slope):
    """g, slope <- event functions of (t, y), and their rates along the motion y' = k; all by address."""
    program = run.event_rates
    if not program.run:
        evaluate_events(run, t, y, g)
        _differences(run, t, y, k, g, slope)
        return
    table, q = integers(program.table), 8 * run.nq * run.lanes
    table[program.t], table[program.q], table[program.qd] = t, y, y + q
    table[program.dt], table[program.dq], table[program.dqd] = run.ones, k, k + q
    table[program.shown], table[program.dshown] = g, slope
    call(program.run, program.plan, program.table)


@native
def _differences(run, t, y, k, g, slope):
    """slope <- rates of event functions, whose values are g, by differences."""
    time, begin, stage = doubles(run.time), doubles(t), doubles(run.stage)
    x, f = doubles(y), doubles(k)
    for l in range(run.lanes):
        delta = _NUDGE * max(abs(begin[l]), 1.0)
        time[l] = begin[l] + delta
        delta = time[l] - begin[l]
        for i in range(l, run.size, run.lanes):
            stage[i] = x[i] + delta * f[i]
    evaluate_events(run, run.time, run.stage, slope)
    changed, before = doubles(slope), doubles(g)
    for l in range(run.lanes):
        delta = time[l] - begin[l]
        for at in range(l, run.events * run.lanes, run.lanes):
            changed[at] = (changed[at] - before[at]) / delta


@native
def begin_sides(run, l):
    """See on which side of zero the event functions are at the base of lane l."""
    lane = lane_of(run, l)
    g, slope = doubles(run.g_base), doubles(run.slope_base)
    side, band, span = doubles(run.side), doubles(run.band), doubles(run.span)
    for e in range(run.events):
        at, who = e * run.lanes + l, lane.who * run.events + e
        value = g[at]
        width = band[who] if band[who] >= 0.0 else -2.0 * band[who]
        if abs(value) > width:
            side[who], band[who] = sign_of(value), 0.0
        elif side[who] == 0.0:
            side[who] = sign_of(slope[at])  # a start at zero
        span[who] = max(span[who], abs(value))


@native
def _least_rate(run, memo, l, band):
    """Return the rate beyond which an action has not stopped a function; differences must be clear of errors.

    Those are the rounding of two values, of which the band knows, and half the second derivative.
    """
    if run.event_rates.run or memo.pace == 0.0:
        return _STILL * memo.pace
    delta = _NUDGE * max(abs(doubles(run.t)[l]), 1.0)
    return _STILL * memo.pace + 2.0 * band / delta + memo.bend * delta


@native
def judge_action(run, l):
    """See on which side of zero the function of an event is whose action made the base of lane l."""
    lane = lane_of(run, l)
    memo = memo_of(run, lane)
    if not memo.acted > 0.0:
        return
    e = int(memo.acted) - 1
    at, who = e * run.lanes + l, lane.who * run.events + e
    side, band, target = doubles(run.side), doubles(run.band), doubles(run.side)[who]
    beyond = target * doubles(run.g_base)[at]
    at_zero = -band[who] <= beyond <= max(band[who], _JUST * doubles(run.span)[who])
    goes_on = target * doubles(run.slope_base)[at] > _least_rate(run, memo, l, band[who])
    if at_zero and not (goes_on and target * memo.passing > 0.0):
        side[who] = -target
        band[who] = max(band[who], 2.0 * beyond)
        memo.acted = -memo.acted
    else:
        memo.acted = 0.0


@native
def end_sides(run, l):
    """Note where the event that was found in lane l, and those at the same time, have left the functions."""
    lane = lane_of(run, l)
    memo = memo_of(run, lane)
    side, band, span = doubles(run.side), doubles(run.band), doubles(run.span)
    target, low, high = doubles(run.target), doubles(run.low), doubles(run.high)
    slope_base, slope_kept = doubles(run.slope_base), doubles(run.slope_kept)
    located = lane.hi > 0.0  # if not, it crossed at the base, and bands are those from before
    memo.again = 1.0 if not located and memo.acted == -1.0 - lane.found else 0.0
    for e in range(run.events):
        at, who = e * run.lanes + l, lane.who * run.events + e
        if e == lane.found:
            side[who] = target[at]
            if located:
                band[who] = min(_WIDER * (abs(low[at]) + abs(high[at])), _SMALL * span[who])
            elif band[who] < 0.0:
                band[who] = min(-2.0 * band[who], _SMALL * span[who])
            change = abs(doubles(run.g_kept)[at] - doubles(run.g_base)[at]) / lane.passed
            memo.pace = max(change, max(abs(slope_base[at]), abs(slope_kept[at])))
            memo.bend = abs(slope_kept[at] - slope_base[at]) / lane.passed
            part = lane.hi / lane.passed if located else 0.0
            memo.passing = slope_base[at] + part * (slope_kept[at] - slope_base[at])
        elif located and target[at] != 0.0:
            band[who] = -abs(high[at])
