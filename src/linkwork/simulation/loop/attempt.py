"""An attempt: one step in every lane, of a mesh or beside it or along a polynomial, and where it failed."""

from linkwork.native.numba_functions import doubles, native, native_within
from linkwork.simulation.loop.dense_output import is_any_inside, take_from_polynomials
from linkwork.simulation.loop.explicit_step import explicit_step, spread_steps, stage_state_again
from linkwork.simulation.loop.implicit_step import implicit_step
from linkwork.simulation.loop.lane_records import is_finite, lane_of, memo_of, method_of, rate_of
from linkwork.simulation.loop.projection import close_loops
from linkwork.simulation.loop.records import Failure
from linkwork.simulation.loop.redundancy import begin_watch
from linkwork.simulation.loop.termination import keep_not_finite


@native
def _blame_attempt(run, l):
    """Find where the attempt of lane l was not finite first, and keep it; an implicit one stopped there."""
    time, lane = doubles(run.time), lane_of(run, l)
    if memo_of(run, lane).implicit:
        keep_not_finite(run, l, time[l], run.stage)
        return
    for j in range(1, run.stages):
        stage_state_again(run, j, run.stage)
        if not (is_finite(run, run.stage, run.n, l) and is_finite(run, rate_of(run, j), run.n, l)):
            keep_not_finite(run, l, time[l], run.stage)
            return
    keep_not_finite(run, l, doubles(run.t)[l] + lane.step, run.new)


@native_within
def _step(run):
    """Make a step in every lane."""
    implicit = run.lanes == 1 and memo_of(run, lane_of(run, run.lanes - 1)).implicit
    failure = 0
    spread_steps(run)
    if run.rows:
        begin_watch(run)
    if implicit:
        failure = implicit_step(run)
    else:
        explicit_step(run)
    sick = doubles(run.sick)
    for l in range(run.lanes):
        lane = lane_of(run, l)
        if lane.who >= 0:
            if not implicit:
                failure = 0 if sick[l] == 0.0 else Failure.NOT_FINITE.value
            lane.failure = failure
            lane.spent += method_of(run, memo_of(run, lane)).evaluations
            if failure == Failure.NOT_FINITE.value:
                _blame_attempt(run, l)


@native_within
def attempt(run):
    """Take what can be had from polynomials, else make a step in every lane; failure <- what went wrong."""
    if run.dense_stages and is_any_inside(run):
        take_from_polynomials(run)
    else:
        _step(run)
    close_loops(run)
