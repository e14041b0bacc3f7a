"""simulate: from a model and a state to a recording; the user says how accurate, not how small the step."""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.recording.batch import Recordings
from linkwork.recording.recording import Recording
from linkwork.recording.status import Status
from linkwork.simulation.batch_run import ManyRuns
from linkwork.simulation.checkpoint import Checkpoint
from linkwork.simulation.event import Event
from linkwork.simulation.failure import SimulationFailed
from linkwork.simulation.initial_state import checked, checked_state, closed
from linkwork.simulation.integrators.tableau import StepMethod
from linkwork.simulation.options import (
    MOST_STEPS,
    Options,
    RunOptions,
    check_room,
    positive,
    sample_times,
    seconds,
    worker_count,
)
from linkwork.simulation.restoring import PROJECTED, Restoring
from linkwork.simulation.run_settings import RunSettings, setting
from linkwork.simulation.single_run import OneRun

Array = np.ndarray

_BATCH_SAMPLES = 101  # of each run of a batch, unless times are given


def simulate(
    model: Model | Mechanism,
    duration: float,
    state: State | Recording | None = None,
    *,
    accuracy: float = 1e-8,
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
    threads: int | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_interval: float = 60.0,
    check: bool = True,
) -> Any:
    """Let a mechanism move for a duration [s], from a state (as drawn and at rest, if not given).

    Steps are as small as the accuracy needs: the error after some ten seconds of an ordinary motion is about
    `accuracy`, relative to 1 rad, 1 m (or the size of a smaller mechanism) and to the values themselves. With
    `step` the steps are fixed. Samples are recorded at `times`, or at intervals `every` [s], exactly; else
    after every step. They do not influence the steps.

    `method` is "auto" (Runge-Kutta-Fehlberg 4(5); order 8 where all laws are sums, products, sines and the
    like, without loops and events; an implicit method where the motion is stiff), or one of these: "rkf45",
    "dop853" (order 8), "rodas" (implicit), "rk4", "semi-implicit", "euler"; or an lw.Tableau of your own.
    For constraints that it does not take, and for a second opinion, there is `simulate_maximal`.

    Closed loops are "projected": closed after every step, positions and velocities, to rounding errors. With
    loops="restored", or lw.Restoring(stiffness, damping), springs and dampers on their gaps hold them.

    `inputs` are values of inputs (lw.Input) by name; those not given are as in the state, or as by default.

    With q (N, nq) and v (N, nv) it runs N mechanisms at once, in SIMD lanes on all cores (or `threads`), and
    returns Recordings; inputs may be (N,) then. With `checkpoint`, a file, the run so far is kept on disk
    every `checkpoint_interval` seconds; the same call goes on from there after a crash.

    A run that cannot go on raises SimulationError, which has what was computed as `.run`; with check=False it
    is returned. Of a batch, a warning names the failed ones. Ctrl-C returns what was computed, with status
    INTERRUPTED. From the `final` of a run another can go on, bit for bit as if it had not ended.
    """
    if isinstance(model, Mechanism):
        model = model.compile()
    batch = q is not None or v is not None
    try:
        _check_kinds(model, check, checkpoint)
        given = {} if inputs is None else inputs
        words = RunOptions(accuracy, step, method, max_step, max_steps, events, loops)
        shared = setting(model, words)
        span, workers = _span(duration, shared.chosen), worker_count(threads)
        interval = positive("checkpoint_interval", checkpoint_interval)
        if batch and (state is not None or checkpoint is not None):
            raise ValueError("q= and v= are for batches; give no state or checkpoint with them")
        if batch:
            runs = _batch(shared, model, q, v, given, span, times, every)
        else:
            runs = _single(
                shared,
                model,
                state,
                {} if inputs is None else inputs,
                span,
                times,
                every,
                checkpoint,
                interval,
            )
    except ValueError as error:
        raise ValueError(f"simulate: {error}") from None
    if isinstance(runs, ManyRuns):
        return _batch_result(runs.run(workers), check)
    return _single_result(runs.run(), check)


def _single(
    shared: RunSettings,
    model: Model,
    state: Any,
    inputs: Mapping[str, Any],
    span: float,
    times: Any,
    every: Any,
    checkpoint: str | Path | None,
    interval: float,
) -> OneRun:
    """Return the run of one mechanism, ready to go."""
    start = _start(model, state.final if isinstance(state, Recording) else state, span)
    start = replace(start, inputs=_inputs(shared, start.inputs, inputs, 1))
    wanted = sample_times(start.t, span, times, every)
    check_room(wanted.size * (model.nq + model.nv + 2))
    if checkpoint is None:
        return OneRun(shared, start, span, wanted, None)
    kept = Checkpoint(Path(checkpoint), interval, _identity(shared, start, span, wanted))
    return OneRun(shared, start, span, wanted, kept)


def _batch(
    shared: RunSettings,
    model: Model,
    q: Any,
    v: Any,
    inputs: Mapping[str, Any],
    span: float,
    times: Any,
    every: Any,
) -> ManyRuns:
    """Return the runs of a batch, ready to go."""
    if times is None and every is None:
        times = np.linspace(0.0, span, _BATCH_SAMPLES) if span else [0.0]
    start = State(*_states(model, q, v))
    start = replace(start, inputs=_inputs(shared, {}, inputs, len(start.q)))
    wanted = sample_times(start.t, span, times, every)
    check_room(wanted.size * len(start.q) * (model.nq + model.nv + 2))
    return ManyRuns(shared, start, span, wanted)


def _inputs(shared: RunSettings, before: Mapping[str, Any], inputs: Any, count: int) -> dict[str, Any]:
    """Return the inputs of one run, or of a batch; ValueError names what is wrong with them."""
    if not isinstance(inputs, Mapping):
        raise ValueError(f"inputs {inputs!r}; give values by name, {{'throttle': 2.0}}")
    values = input_values(shared.inputs, {**before, **inputs})
    if not np.isfinite(values).all():
        name = list(shared.inputs)[int(np.argwhere(~np.isfinite(values))[0][-1])]
        raise ValueError(f"input {name!r} is not finite; give a finite number")
    if values.ndim > 1 and len(values) != count:
        raise ValueError(f"inputs have {len(values)} values each, for {count} run{'s' if count > 1 else ''}")
    if values.ndim == 1:
        return dict(zip(shared.inputs, values.tolist(), strict=True))
    return dict(zip(shared.inputs, values.T, strict=True))


def _single_result(run: OneRun, check: bool) -> Recording:
    for note in run.notes:
        warnings.warn(note, stacklevel=3)
    if check and run.failure and run.failure.status != Status.INTERRUPTED:
        raise SimulationFailed(run.failure, run.recording) from run.failure.cause
    return run.recording


def _batch_result(runs: Recordings, check: bool) -> Recordings:
    if check and len(runs.failed):
        warnings.warn(_failures(runs), stacklevel=3)
    return runs


def _check_kinds(model: Any, check: Any, checkpoint: Any) -> None:
    if not isinstance(model, Model):
        raise ValueError(f"model is a {type(model).__name__}; give a Model or a Mechanism")
    if not isinstance(check, bool | np.bool_):
        raise ValueError(f"check {check!r}; give True or False")
    if checkpoint is not None and not isinstance(checkpoint, str | Path):
        raise ValueError(f"checkpoint {checkpoint!r}; give the name of a file")
    if checkpoint is not None and Path(checkpoint).is_dir():
        raise ValueError(f"checkpoint {str(checkpoint)!r} is a folder; give the name of a file")


def _span(duration: Any, chosen: Options) -> float:
    """Return the duration, if that many fixed steps are allowed."""
    span = seconds(duration)
    if chosen.step and span / chosen.step > chosen.max_steps:
        raise ValueError(
            f"{span:g} s are {span / chosen.step:.3g} of step {chosen.step:g} s, "
            f"more than max_steps {chosen.max_steps:g}; give a larger step, or raise max_steps"
        )
    return span


def _start(model: Model, state: Any, span: float) -> State:
    start = checked_state(model, model.state() if state is None else state)
    if start.memory is None and model.loop_names:
        q, v = closed(model, start.q, start.v, start.t)
        start = replace(start, q=q, v=v)
    if span and start.t + span == start.t:
        raise ValueError(f"duration {span:g} is less than time can resolve at state.t {start.t:g}")
    return start


def _states(model: Model, q: Any, v: Any) -> tuple[Array, Array]:
    """Return the positions (N, nq) and velocities (N, nv) of a batch; one for all is repeated."""
    states = [
        checked(model, word, drawn if given is None else given, 2)
        for word, given, drawn in (("q", q, model.q_drawn), ("v", v, np.zeros(model.nv)))
    ]
    counts = {len(array) for array in states if array.ndim == 2}
    if len(counts) > 1:
        raise ValueError(f"q has shape {states[0].shape} and v {states[1].shape}; give as many of both")
    count = counts.pop() if counts else 1
    q, v = (np.broadcast_to(array, (count, array.shape[-1])) for array in states)
    if not model.loop_names:
        return q, v
    pairs = [closed(model, *pair) for pair in zip(q, v, strict=True)]
    return np.array([q for q, _ in pairs]), np.array([v for _, v in pairs])


def _identity(shared: RunSettings, start: State, span: float, wanted: Array) -> str:
    """Return a digest of all that shapes a run and its samples."""
    arrays = {"key": shared.key, "times": wanted, "q": start.q, "v": start.v}
    arrays |= {f"memory/{name}": array for name, array in sorted((start.memory or {}).items())}
    about = [start.t, span, *((name, array.tobytes()) for name, array in arrays.items())]
    about += [sorted(start.inputs.items())] if start.inputs else []
    return hashlib.sha256(repr(about).encode()).hexdigest()


def _failures(runs: Recordings) -> str:
    first = int(runs.failed[0])
    return (
        f"{len(runs.failed)} of {len(runs)} runs failed, the first is run {first}: "
        f"{runs.reports[first].message}; see `runs.failed`"
    )
