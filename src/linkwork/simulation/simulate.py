"""simulate: from a model and a state to a recording; the user says how accurate, not how small the step."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.contact_dynamics.detection.colliding_bodies import meeting, warn_of_overlaps
from linkwork.errors import warn
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.following import fixed
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording.batch import Recordings
from linkwork.recording.recording import Recording
from linkwork.recording.status import Status
from linkwork.simulation.batch_run import ManyRuns
from linkwork.simulation.contact_run import run_with_contact
from linkwork.simulation.event import Event
from linkwork.simulation.failure import SimulationFailed
from linkwork.simulation.integrators.tableau import StepMethod
from linkwork.simulation.options import (
    MOST_STEPS,
    Options,
    RunOptions,
    no_model,
    positive,
    seconds,
    worker_count,
)
from linkwork.simulation.rehearsed_calls import Call, Ended, foreseen
from linkwork.simulation.restoring import PROJECTED, Restoring
from linkwork.simulation.run_request import RunRequest
from linkwork.simulation.run_settings import setting
from linkwork.simulation.time_advance import goes_by_contact_steps
from linkwork.spelling import checked_keywords

Array = np.ndarray

CHECKPOINT_INTERVAL = 60.0  # unless said [s]


@checked_keywords
def simulate(
    model: Model | Mechanism,
    duration: float,
    state: State | Recording | None = None,
    *,
    accuracy: float | None = None,
    step: float | None = None,
    method: str | StepMethod = "auto",
    times: Any = None,
    every: float | None = None,
    events: Sequence[Event] = (),
    max_step: float | None = None,
    max_steps: float = MOST_STEPS,
    loops: str | Restoring = PROJECTED,
    inputs: Mapping[str, Any] | None = None,
    q: Any = None,
    v: Any = None,
    vary: Mapping[str, Any] | None = None,
    threads: int | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_interval: float | None = None,
    check: bool = True,
) -> Any:
    """Let a mechanism move for a duration [s], from a state (as drawn and at rest, if not given).

    Steps are as small as the accuracy needs, 1e-8 unless said: the error after some ten seconds of an
    ordinary motion is about `accuracy`, relative to 1 rad, 1 m (or the size of a smaller mechanism) and to
    the values themselves. With `step` in place of it the steps are fixed. Samples are recorded at `times`, or
    at intervals `every` [s], exactly; else after every step. They do not influence the steps.

    `method` is "auto" (Runge-Kutta-Fehlberg 4(5); order 8 where all laws are sums, products, sines and the
    like, without events; an implicit method where the motion is stiff), or one of these: "rkf45",
    "dop853" (order 8), "rodas" (implicit), "rk4", "semi-implicit", "euler"; or an lw.Tableau of your own.
    Steps with contact have a method of their own, and "moreau-jean" to compare with other programs.

    Closed loops are "projected": closed after every step, positions and velocities, to rounding errors. With
    loops="restored", or lw.Restoring(stiffness, damping), springs and dampers on their gaps hold them.

    `inputs` are values of inputs (lw.Input) by name; those not given are as in the state, or as by default.

    With q (N, nq) and v (N, nv) it runs N mechanisms at once, in SIMD lanes on all cores (or `threads`), and
    returns Recordings; inputs may be (N,) then. `vary` are numbers of the mechanism by name that are others
    in every run, {"bob.mass": masses, "pin.damping": dampings}: N mechanisms of one structure run at once,
    each to the bits that it gives when it is described so and run alone.

    With `checkpoint`, a file, the run so far is kept on disk every `checkpoint_interval` seconds (60 unless
    said); the same call goes on from there after a crash.

    A run that cannot go on raises SimulationError, which has what was computed as `.run`; with check=False it
    is returned. Of a batch, a warning names the failed ones. Ctrl-C returns what was computed, with status
    INTERRUPTED. From the `final` of a run another can go on, bit for bit as if it had not ended.
    """
    words = RunOptions(accuracy, step, method, max_step, max_steps, events, loops)
    others = q, v, vary, checkpoint
    if run := foreseen(model, lambda: Call(duration, state, words, times, every, inputs, others)):
        return _single_result(run, check)
    batch = q is not None or v is not None or vary is not None
    asked = _compiled(model)
    try:
        model = fixed(asked)
        _check_kinds(check, checkpoint)
        if model.contact_names and not batch:
            _look_for_overlaps(model, state)
        shared = setting(model, words)
        span, workers = _span(duration, shared.chosen), worker_count(threads)
        interval = _interval(checkpoint, checkpoint_interval)
        if batch and checkpoint is not None:
            raise ValueError("q=, v= and vary= are for batches; give no checkpoint with them")
        if goes_by_contact_steps(shared) or (shared.with_contact and batch):
            start = {"state": state, "q": q, "v": v, "vary": vary, "inputs": inputs}
            kept = checkpoint, interval
            return run_with_contact(asked, words, span, start, (times, every), workers, check, kept)
        request = RunRequest(model, shared, span, times, every, inputs, asked)
        if not batch:
            runs = request.single(state, checkpoint, interval)
        elif vary is not None:
            runs = request.variants(words, vary, _start(state, q, v), q, v)
        elif state is None:
            runs = request.batch(q, v)
        else:
            raise ValueError("q= and v= are for batches; give no state with them")
    except ValueError as error:
        raise ValueError(f"simulate: {error}") from None
    if isinstance(runs, ManyRuns):
        return _batch_result(runs, runs.run(workers), check)
    run = runs.run()
    return _single_result(Ended(run.recording, run.failure, run.notes), check)


def _look_for_overlaps(model: Model, state: Any) -> None:
    """Warn of bodies that overlap deep at the start; what is wrong with the state is reported later."""
    start = state.final if isinstance(state, Recording) else state
    q = model.q_drawn if start is None else getattr(start, "q", None)
    if isinstance(q, np.ndarray) and q.shape == (model.nq,) and np.isfinite(q).all():
        world = meeting(model.mechanism).copy()
        world.place(model.poses(q))
        warn_of_overlaps(model.mechanism, world)


def _single_result(run: Ended, check: bool) -> Recording:
    for note in run.notes:
        warn(note)
    if check and run.failure and run.failure.status != Status.INTERRUPTED:
        raise SimulationFailed(run.failure, run.recording) from run.failure.cause
    return run.recording


def _batch_result(runs: ManyRuns, found: Recordings, check: bool) -> Recordings:
    for note in runs.notes:
        warn(note)
    if check and len(found.failed):
        warn(_failures(found))
    return found


def _compiled(model: Any) -> Model:
    """Return the model of what is to move."""
    if isinstance(model, Mechanism):
        model = model.compile()
    if not isinstance(model, Model):
        raise ValueError(f"simulate: {no_model(model)}")
    if not model.body_names:
        raise ValueError(f"simulate: mechanism {model.name!r} is empty: nothing can move; add bodies, joints")
    return model


def _check_kinds(check: Any, checkpoint: Any) -> None:
    if not isinstance(check, bool | np.bool_):
        raise ValueError(f"check {check!r}; give True or False")
    if checkpoint is not None and not isinstance(checkpoint, str | Path):
        raise ValueError(f"checkpoint {checkpoint!r}; give the name of a file")
    if checkpoint is not None and Path(checkpoint).is_dir():
        raise ValueError(f"checkpoint {str(checkpoint)!r} is a folder; give the name of a file")


def _interval(checkpoint: Any, interval: Any) -> float:
    """Return how often a checkpoint is written [s]."""
    if interval is None:
        return CHECKPOINT_INTERVAL
    if checkpoint is None:
        raise ValueError(f"checkpoint_interval {interval!r} without checkpoint=; give it a file, or drop it")
    return positive("checkpoint_interval", interval)


def _start(state: Any, q: Any, v: Any) -> State | None:
    """Return the state that all variants start from, if they have none of their own."""
    if state is not None and (q is not None or v is not None):
        raise ValueError("state and q= or v=; give where to start once")
    return state.final if isinstance(state, Recording) else state


def _span(duration: Any, chosen: Options) -> float:
    """Return the duration, if that many fixed steps are allowed."""
    span = seconds(duration)
    if chosen.step and span / chosen.step > chosen.max_steps:
        raise ValueError(
            f"{span:g} s are {span / chosen.step:.3g} of step {chosen.step:g} s, "
            f"more than max_steps {chosen.max_steps:g}; give a larger step, or raise max_steps"
        )
    return span


def _failures(runs: Recordings) -> str:
    first = int(runs.failed[0])
    return (
        f"{len(runs.failed)} of {len(runs)} runs failed, the first is run {first}: "
        f"{runs.reports[first].message}; see `runs.failed`"
    )
