"""How the run of a lane ends, for the time being or for good."""

from linkwork.native.numba_functions import doubles, native
from linkwork.recording.status import Status
from linkwork.simulation.loop.lane_records import lane_of, memo_of, release, scatter
from linkwork.simulation.loop.records import Failure


@native
def finish(run, l, status, t, state):
    """End the run of lane l with a status and a final state."""
    memo = memo_of(run, lane_of(run, l))
    memo.status, memo.t_final = status, t
    scatter(run, run.y_final, state, l)
    if status == Status.EVENT.value or status == Status.BUFFER_FULL.value:
        run.attention = 1
    release(run, l)


@native
def stop(run, l, status):
    """End the run of lane l, for the time being or for good, at its base."""
    finish(run, l, status, doubles(run.t)[l], run.base)


@native
def keep_not_finite(run, l, t, state):
    """Keep where lane l met a right-hand side that is not finite."""
    doubles(run.bad_t)[lane_of(run, l).who] = t
    scatter(run, run.bad_y, state, l)


@native
def give_up(failure):
    """Return the status of a step that failed until it became too short."""
    if failure == Failure.NOT_FINITE.value:
        return Status.NOT_FINITE.value
    if failure == Failure.SINGULAR.value:
        return Status.SINGULAR_JACOBIAN.value
    if failure == Failure.OPEN.value:
        return Status.LOOPS_OPEN.value
    return Status.STEP_UNDERFLOW.value
