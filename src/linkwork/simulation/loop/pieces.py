"""Runs in pieces: between two of them the caller looks at the mechanisms, and may change their inputs."""

import math

from linkwork.native.numba_functions import doubles, entry, memory, native, record
from linkwork.recording.status import Status
from linkwork.simulation.loop.lane_records import memo_at
from linkwork.simulation.loop.records import RUN

_run = record(RUN)

# After a change of inputs the next step is at most this many times as long as the time since the last change.
# So inputs that are written at equal intervals cost one step for each; and the end of an interval, where the
# next begins, lies near the end of that step: far inside of a long one the polynomial is less exact.
_BEYOND = 1.25


@native
def _restart(run, i):
    """Let mechanism i begin anew where it is; the end of its piece becomes a point of the mesh."""
    memo = memo_at(run, i)
    y, final = doubles(run.y + 8 * i * run.n), doubles(run.y_final + 8 * i * run.n)
    for c in range(run.n):
        y[c] = final[c]
    since = memo.t_final - memo.t0
    if since > 0.0:
        memo.h = min(memo.h, _BEYOND * since)
    memo.t = memo.t0 = memo.t_final
    if not run.fixed:
        memo.accepted += 1.0
    memo.index = 0.0
    memo.blocked = math.nan


@entry(None, "int64", "float64[:, ::1]", "float64[:, ::1]")
def open_piece(address, held, ends):
    """Let mechanisms that are DONE run on: those whose inputs are no longer the `held` ones from a new step.

    Nothing else leaves a trace in the mesh. What is held is brought up to date; ends (N, 1 + n) <- t and y
    from where they run on.
    """
    run, known, before = _run(address), memory(held), memory(ends)
    inputs, final = doubles(run.inputs), doubles(run.y_final)
    for i in range(run.many):
        memo = memo_at(run, i)
        if memo.status != Status.DONE.value:
            continue
        memo.status = Status.RUNNING.value
        row = i * (1 + run.n)
        before[row] = memo.t_final
        for c in range(run.n):
            before[row + 1 + c] = final[i * run.n + c]
        memo.earlier = memo.accepted + memo.rejected
        memo.check_attempts, memo.check_t = 0.0, memo.t
        other = False
        for c in range(i * run.input_count, (i + 1) * run.input_count):
            other = other or inputs[c] != known[c]
            known[c] = inputs[c]
        if other:
            _restart(run, i)


@entry("int64", "int64")
def count_unfinished(address):
    """Return how many mechanisms are not DONE."""
    run, count = _run(address), 0
    for i in range(run.many):
        count += memo_at(run, i).status != Status.DONE.value
    return count
