"""Samples at the base and inside a good step; when all are recorded, the step is concluded.

Inside a step they are values of its polynomial, if the method has one, else the results of side steps.
"""

import math

from linkwork.native.numba_functions import doubles, integers, native, native_apart, native_within
from linkwork.recording.status import Status
from linkwork.simulation.loop.commit import commit
from linkwork.simulation.loop.dense_output import interpolate
from linkwork.simulation.loop.event_sides import end_sides
from linkwork.simulation.loop.lane_records import lane_of, memo_of, method_of, normalise, release
from linkwork.simulation.loop.records import ON_MESH, Task
from linkwork.simulation.loop.termination import finish, stop


@native
def _write(run, l, t, state):
    """Record a sample of lane l; return whether there was room."""
    i, x = lane_of(run, l).who, doubles(state)
    filled = integers(run.filled)
    at = filled[i]
    if at == run.cap:
        return False
    row = doubles(run.record + 8 * (i * run.cap + at) * (1 + run.n))
    row[0] = t
    for c in range(run.n):
        row[1 + c] = x[c * run.lanes + l]
    filled[i] = at + 1
    return True


@native_apart
def _turn_to(run, lane, memo, sample):
    """Make a sample time, by number, the next of a lane."""
    memo.sample = sample
    lane.due = doubles(run.times)[int(sample)] if sample < run.sample_count else math.inf


@native
def begin_samples(run, l):
    """Record the start state if it is wanted; return whether there was room."""
    lane, t = lane_of(run, l), doubles(run.t)[l]
    memo = memo_of(run, lane)
    _turn_to(run, lane, memo, memo.sample)
    if memo.begun:
        return True
    while lane.due < t:
        _turn_to(run, lane, memo, memo.sample + 1.0)
    listed = lane.due == t
    if (run.every or listed) and not _write(run, l, t, run.base):
        return False
    memo.begun = 1.0
    if listed:
        _turn_to(run, lane, memo, memo.sample + 1.0)
    return True


@native_within
def _settle(run, l, t, state):
    """Conclude the good step of lane l, whose samples are all recorded, at time t."""
    lane = lane_of(run, l)
    memo = memo_of(run, lane)
    if run.every and not _write(run, l, t, state):
        stop(run, l, Status.BUFFER_FULL.value)
    elif lane.found >= 0:
        memo.evaluations += lane.spent
        memo.event = lane.found
        end_sides(run, l)
        finish(run, l, Status.EVENT.value, t, state)
    elif lane.goal == Task.NATURAL.value:
        commit(run, l)
    else:
        memo.evaluations += lane.spent
        finish(run, l, Status.DONE.value, t, state)


@native_apart
def _book_polynomial(run, lane, memo, t):
    """Enter the evaluations for a polynomial, with the last sample before t that is taken from it.

    A step that is repeated after that, since the buffer was full, does not need them again. One that leads
    beyond the end does.
    """
    if lane.due >= t and lane.goal == Task.NATURAL.value:
        memo.evaluations += run.dense_stages
        lane.spent -= run.dense_stages


@native_within
def serve(run, l):
    """Record the samples inside the good step of lane l, then conclude it.

    Those that take a side step, or loops to be closed, are attempts of their own.
    """
    lane = lane_of(run, l)
    memo, begin = memo_of(run, lane), doubles(run.t)[l]
    event = lane.found >= 0
    state = run.located if event else run.kept
    t = begin + lane.hi if event else doubles(run.reach)[l]
    if not run.fixed and lane.goal == Task.NATURAL.value and t > run.t_end:
        # An event that cannot be distinguished from the end is looked for again, on the way there.
        lane.clear = 1 if not event or begin + lane.lo >= run.t_end else 0
        lane.task, lane.step = Task.LAST.value, run.t_end - begin
        return
    near = ON_MESH * memo.h if run.fixed and lane.goal == Task.NATURAL.value and not event else 0.0
    while lane.due <= t + near:
        wanted = lane.due
        inside = wanted < t - near
        if inside and (run.rows or not lane.dense):
            lane.task, lane.step = Task.SAMPLE.value, wanted - begin
            return
        if inside:
            interpolate(run, l, wanted - begin, run.new)
            normalise(run, run.new, l)
        if not _write(run, l, wanted, run.new if inside else state):
            stop(run, l, Status.BUFFER_FULL.value)
            return
        _turn_to(run, lane, memo, memo.sample + 1.0)
        if inside:
            _book_polynomial(run, lane, memo, t)
    _settle(run, l, run.t_end if abs(t - run.t_end) <= near else t, state)


@native
def sample(run, l, draining):
    """Record the result of an attempt; return whether the lane goes on with its step."""
    lane = lane_of(run, l)
    memo = memo_of(run, lane)
    normalise(run, run.new, l)
    if not _write(run, l, lane.due, run.new):
        stop(run, l, Status.BUFFER_FULL.value)
        return False
    _turn_to(run, lane, memo, memo.sample + 1.0)
    if lane.dense:
        event = lane.found >= 0
        _book_polynomial(run, lane, memo, doubles(run.t)[l] + lane.hi if event else doubles(run.reach)[l])
    else:
        cost = method_of(run, memo).evaluations
        memo.evaluations += cost
        lane.spent -= cost
    if draining:
        release(run, l)
    return not draining
