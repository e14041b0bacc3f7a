"""The loop itself: all lanes in lockstep, attempt after attempt."""

from linkwork.native.numba_functions import doubles, entry, native, native_within, record
from linkwork.recording.status import Status
from linkwork.simulation.loop.attempt import attempt
from linkwork.simulation.loop.commit import move_bases
from linkwork.simulation.loop.dense_output import find_polynomials, is_new
from linkwork.simulation.loop.error_test import judge
from linkwork.simulation.loop.evaluate import evaluate_events
from linkwork.simulation.loop.event_location import aim, choose_trial, locate, probe, seek
from linkwork.simulation.loop.lane_records import busy_lanes, lane_of, memo_at, normalise, spread
from linkwork.simulation.loop.lane_start import start_attempts
from linkwork.simulation.loop.records import ON_MESH, RUN, Task
from linkwork.simulation.loop.sampling import sample, serve
from linkwork.simulation.loop.step_acceptance import inspect, look_ahead
from linkwork.simulation.loop.termination import give_up, stop

_run = record(RUN)


@native_within
def _conclude_attempts(run):
    """Judge the attempts of all lanes, and evaluate what must be known to go on."""
    passed = inside = searching = False
    for l in range(run.lanes):
        lane = lane_of(run, l)
        if lane.who < 0 or lane.waits:
            continue
        if lane.task < Task.PROBE.value:
            judge(run, l)
            passed = passed or lane.task == Task.PASSED.value
            inside = inside or is_new(lane)
        elif lane.failure:
            stop(run, l, give_up(lane.failure))
        elif lane.task != Task.SAMPLE.value:
            normalise(run, run.new, l)
            searching = True
    if passed:
        look_ahead(run)
    if inside:
        find_polynomials(run)
    if searching:
        t, time = doubles(run.t), doubles(run.time)
        for l in range(run.lanes):
            time[l] = t[l] + lane_of(run, l).step
        evaluate_events(run, run.time, run.new, run.g_trial)


@native_within
def _go_on(run, l, draining):
    """Bring lane l, in a good step, to its next attempt inside it, or to the next base."""
    lane = lane_of(run, l)
    if lane.task < Task.PASSED.value:
        return
    if lane.task == Task.SAMPLE.value:
        if not sample(run, l, draining):
            return
    elif lane.task == Task.LOCATE.value:
        locate(run, l)
        if choose_trial(run, l):
            return
    else:
        first = 0
        if lane.task == Task.PROBE.value:
            if probe(run, l):
                return
            first = lane.probing + 1
        elif not inspect(run, l):
            return
        clear = lane.goal == Task.LAST.value and lane.clear  # events do not depend on the end of the run
        if not clear and (not seek(run, l, first) or (aim(run, l) and choose_trial(run, l))):
            return
    serve(run, l)


@native
def _is_behind(run):
    """Return whether the end time lies before the time that a mechanism under way has reached."""
    for i in range(run.many):
        memo = memo_at(run, i)
        if memo.status == Status.RUNNING.value and not memo.t <= run.t_end + ON_MESH * run.fixed:
            return True
    return False


@entry("int64", "int64", "float64", "int64")
def advance(address, t_end, budget):
    """Go on with all mechanisms that are RUNNING up to t_end; return the number of lockstep attempts made.

    -1: one of them is beyond t_end already.
    """
    run = _run(address)
    run.t_end, run.attention, run.queue = t_end, 0, 0
    if _is_behind(run):
        return -1
    for l in range(run.lanes):
        lane = lane_of(run, l)
        lane.who, lane.task, lane.step, lane.waits = -1, Task.IDLE.value, 0.0, 0
    attempts, draining = 0, False
    while True:
        # When no mechanism waits for a lane, a mechanism that needs the caller does not wait for the others.
        draining = draining or (run.attention == 1 and run.queue == run.many)
        start_attempts(run, draining)
        busy = busy_lanes(run)
        if busy == 0:
            return attempts
        if attempts == 0 and busy < run.lanes:
            spread(run)
        attempt(run)
        _conclude_attempts(run)
        attempts += 1
        draining = draining or attempts >= budget
        for l in range(run.lanes):
            lane = lane_of(run, l)
            if lane.waits:
                lane.waits = 0
            elif lane.who >= 0:
                _go_on(run, l, draining)
        move_bases(run)
