"""The lanes: what is in them, mechanisms into them and back, totals and copies lane by lane."""

import math

from linkwork.native.cache_lines import (
    BYTES,
    larger,
    line_at,
    number_at,
    put_line,
    put_whole_line,
    swapped_by_1,
    swapped_by_2,
    swapped_by_4,
)
from linkwork.native.numba_functions import doubles, integers, native, native_within, record
from linkwork.simulation.loop.records import LANE, MEMO, METHOD, Task

_LANE_SIZE, _MEMO_SIZE, _METHOD_SIZE = LANE.itemsize, MEMO.itemsize, METHOD.itemsize
_lane, _memo, _method = record(LANE), record(MEMO), record(METHOD)


@native
def lane_of(run, l):
    """Return the record of a lane."""
    return _lane(run.lane + l * _LANE_SIZE)


@native
def memo_of(run, lane):
    """Return what the mechanism in a lane remembers."""
    return _memo(run.memo + lane.who * _MEMO_SIZE)


@native
def memo_at(run, i):
    """Return what mechanism i remembers."""
    return _memo(run.memo + i * _MEMO_SIZE)


@native
def method_of(run, memo):
    """Return the method that a mechanism's steps are made by, as step control sees it."""
    return _method(run.methods + int(memo.implicit) * _METHOD_SIZE)


@native
def rate_of(run, j):
    """Return the address of the right-hand side in stage j; stage 0 is at the base."""
    return run.k + j * run.stride


@native_within
def copy_all(run, to, source):
    """Copy all components of all lanes to another array; both by address.

    In a single mechanism number by number, as they were stored: see `number_at`.
    """
    i = 0
    if run.lanes > 1:
        while i < run.stride:
            put_whole_line(to + i, line_at(source + i))
            i += BYTES
        return
    x = doubles(to)
    while i < run.n:
        x[i] = number_at(source + 8 * i)
        i += 1


@native
def is_finite(run, address, count, l):
    """Return whether lane l of an array of `count` components is finite."""
    x, total = doubles(address), 0.0
    for i in range(count):
        total += 0.0 * x[i * run.lanes + l]
    return total == 0.0


@native
def copy_lane(run, to, source, size, l):
    """Copy lane l of an array to another; both by address."""
    x, y = doubles(source), doubles(to)
    for i in range(l, size, run.lanes):
        y[i] = x[i]


@native
def copy(to, source, size):
    """Copy all lanes of an array to another; both by address."""
    x, y = doubles(source), doubles(to)
    for i in range(size):
        y[i] = x[i]


@native_within
def are_all(run, task):
    """Return whether all lanes that have a mechanism are at the same task."""
    for l in range(run.lanes):
        lane = lane_of(run, l)
        if lane.who >= 0 and lane.task != task:
            return False
    return True


@native_within
def busy_lanes(run):
    """Return how many lanes have a mechanism."""
    busy = 0
    for l in range(run.lanes):
        busy += lane_of(run, l).who >= 0
    return busy


@native_within
def fold_total(run, x, out):
    """out <- the totals of a line, lane by lane; by address."""
    if run.lanes < 8:
        x = x + swapped_by_4(x)
    if run.lanes < 4:
        x = x + swapped_by_2(x)
    if run.lanes < 2:
        x = x + swapped_by_1(x)
    put_line(out, x)


@native_within
def fold_top(run, x, out):
    """out <- the largest of a line, lane by lane; by address."""
    if run.lanes < 8:
        x = larger(x, swapped_by_4(x))
    if run.lanes < 4:
        x = larger(x, swapped_by_2(x))
    if run.lanes < 2:
        x = larger(x, swapped_by_1(x))
    put_line(out, x)


@native
def normalise(run, state, l):
    """Bring the quaternions of a lane back to length one."""
    first, y = integers(run.quaternions), doubles(state)
    for r in range(run.quaternion_count):
        at = first[r] * run.lanes + l
        total = 0.0
        for c in range(4):
            total += y[at + c * run.lanes] * y[at + c * run.lanes]
        length = math.sqrt(total)
        for c in range(4):
            y[at + c * run.lanes] /= length


@native
def gather(run, i, l):
    """Put mechanism i into lane l."""
    lane = lane_of(run, l)
    lane.who = i
    lane.step = lane.passed = lane.spent = 0.0
    lane.dense = 0
    t, reach, y = doubles(run.t), doubles(run.reach), doubles(run.y)
    t[l] = reach[l] = memo_of(run, lane).t
    base, kept = doubles(run.base), doubles(run.kept)
    for c in range(run.n):
        base[c * run.lanes + l] = kept[c * run.lanes + l] = y[i * run.n + c]
    given, inputs = doubles(run.given), doubles(run.inputs)
    for c in range(run.input_count):
        given[c * run.lanes + l] = inputs[i * run.input_count + c]
    if run.constant_count:
        _gather_constants(run, i, l)
    run.differentiated = 0


@native
def _gather_constants(run, i, l):
    """Put the constants of mechanism i into lane l."""
    own, constants = doubles(run.own), doubles(run.constants)
    first, count = i * run.constant_count, run.constant_count
    for c in range(count):
        own[c * run.lanes + l] = constants[first + c]
    scale, weights, weak = doubles(run.scale), doubles(run.row_weights), doubles(run.weak)
    states = run.n - 1
    last = first + count - states - 2 * run.rows
    for c in range(states):
        scale[c * run.lanes + l] = constants[last + c]
    for c in range(run.rows):
        weights[c * run.lanes + l] = constants[last + states + c]
        weak[c * run.lanes + l] = constants[last + states + run.rows + c]


@native
def scatter(run, to, state, l):
    """Put lane l of a state into its mechanism's row of an array (N, n); both by address."""
    y, x = doubles(to + 8 * lane_of(run, l).who * run.n), doubles(state)
    for c in range(run.n):
        y[c] = x[c * run.lanes + l]


@native
def release(run, l):
    """Put the mechanism of lane l back; the lane goes on with steps of no length, which do no harm."""
    scatter(run, run.y, run.base, l)
    lane = lane_of(run, l)
    lane.who, lane.task, lane.step = -1, Task.IDLE.value, 0.0


@native
def spread(run):
    """Give lanes without a mechanism the state of one that has, so that they compute something harmless."""
    source = 0
    for l in range(run.lanes):
        if lane_of(run, l).who >= 0:
            source = l
    t, reach, base = doubles(run.t), doubles(run.reach), doubles(run.base)
    kept, f = doubles(run.kept), doubles(rate_of(run, 0))
    for l in range(run.lanes):
        if lane_of(run, l).who < 0:
            t[l] = reach[l] = t[source]
            for i in range(0, run.size, run.lanes):
                base[i + l] = kept[i + l] = base[i + source]
                f[i + l] = f[i + source]
            own = doubles(run.own)
            for i in range(0, run.constant_count * run.lanes, run.lanes):
                own[i + l] = own[i + source]
