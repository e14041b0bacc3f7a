"""simulate: from a model and a state to a recording; the user says how accurate, not how small the step."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

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
from linkwork.simulation.checkpoint import Checkpoint
from linkwork.simulation.contact_run import run_with_contact
from linkwork.simulation.event import Event
from linkwork.simulation.failure import SimulationFailed
from linkwork.simulation.forest_recording import ForestRecording
from linkwork.simulation.options import GivenOptions, Options, StepOptions, no_model, seconds, worker_count
from linkwork.simulation.rehearsed_calls import Call, Ended, foreseen
from linkwork.simulation.run_request import RunRequest
from linkwork.simulation.run_settings import setting
from linkwork.simulation.time_advance import goes_by_contact_steps
from linkwork.spelling import checked_keywords

if TYPE_CHECKING:
    from linkwork.simulation.forest import Forest

Array = np.ndarray


@runtime_checkable
class OfMembers(Protocol):
    """What simulates its members by itself: a Forest."""

    def simulate(self, duration: float, state: Any = None, **options: Any) -> ForestRecording: ...


class RunOptions(StepOptions, total=False):
    """What every call of `simulate` takes, beside where it begins."""

    inputs: Mapping[str, Any] | None
    times: ArrayLike | None
    every: float | None
    events: Sequence[Event]
    check: bool


# What is given says what is returned: a state begins one run; `q`, `v` and `vary` begin many; a forest has
# one of each member.
@overload
def simulate(
    model: Model | Mechanism,
    duration: float,
    state: State | Recording | None = None,
    *,
    checkpoint: str | Path | Checkpoint | None = None,
    **options: Unpack[RunOptions],
) -> Recording: ...
@overload
def simulate(
    model: Model | Mechanism,
    duration: float,
    *,
    q: ArrayLike,
    v: ArrayLike | None = None,
    vary: Mapping[str, Any] | None = None,
    threads: int | None = None,
    **options: Unpack[RunOptions],
) -> Recordings: ...
@overload
def simulate(
    model: Model | Mechanism,
    duration: float,
    *,
    v: ArrayLike,
    vary: Mapping[str, Any] | None = None,
    threads: int | None = None,
    **options: Unpack[RunOptions],
) -> Recordings: ...
@overload
def simulate(
    model: Model | Mechanism,
    duration: float,
    state: State | Recording | None = None,
    *,
    vary: Mapping[str, Any],
    threads: int | None = None,
    **options: Unpack[RunOptions],
) -> Recordings: ...
@overload
def simulate(
    model: "Forest",
    duration: float,
    state: State | ForestRecording | None = None,
    *,
    threads: int | None = None,
    **options: Unpack[RunOptions],
) -> ForestRecording: ...


@checked_keywords
def simulate(
    model: "Model | Mechanism | Forest",
    duration: float,
    state: Any = None,
    *,
    q: Any = None,
    v: Any = None,
    vary: Mapping[str, Any] | None = None,
    threads: int | None = None,
    inputs: Mapping[str, Any] | None = None,
    times: Any = None,
    every: float | None = None,
    events: Sequence[Event] = (),
    checkpoint: str | Path | Checkpoint | None = None,
    check: bool = True,
    **steps: Unpack[StepOptions],
) -> Recording | Recordings | ForestRecording:
    """Let a mechanism move for a duration [s], from a state (as drawn and at rest, if not given).

    *One run*, a Recording: `state` is where it begins, perhaps the end of another run, which it goes on from
    bit for bit. With a `checkpoint`, a file, what was computed is kept on disk, once a minute or as
    lw.Checkpoint says; the same call goes on from there after a crash.

    *Many runs*, Recordings, in SIMD lanes on all cores (or `threads`): with `q` (N, nq) and `v` (N, nv) from
    N states; with `vary`, numbers of the mechanism by name, {"bob.mass": masses, "pin.damping": dampings},
    of N mechanisms of one structure. Each run gives the bits that it gives alone. A Forest has a
    ForestRecording of its members.

    *Steps* (StepOptions) are as small as the `accuracy` needs, 1e-8 if not given: the error after some ten
    seconds of an ordinary motion, relative to 1 rad, 1 m (or the size of a smaller mechanism) and to the
    values themselves. With `step` in its place they are fixed. `method` is "auto" (Runge-Kutta-Fehlberg
    4(5); order 8 where all laws are smooth, without events; implicit where the motion is stiff), "rkf45",
    "dop853", "rodas" (implicit), "rk4", "semi-implicit", "euler", or an lw.Tableau; of steps with contact,
    "moreau-jean" compares with other programs. Closed loops are "projected", closed after every step to
    rounding errors; `loops`="restored", or lw.Restoring(...), holds them by springs and dampers.
    `max_step` bounds the length of a step [s], `max_steps` their number.

    *Inputs* by name hold throughout; those not given are as in the state, or as by default. They may be (N,).

    *Samples* are taken at `times`, at intervals `every` [s], or after each step (many runs: 101 in all).
    They do not influence the steps. `events` do: lw.Event is located, and acts.

    *A run that cannot go on* raises SimulationError, with what was computed as `.run`; with check=False that
    is returned. Of many, a warning names the failed ones. Ctrl-C returns what was computed, as INTERRUPTED.
    """
    words = GivenOptions(**steps, events=events)
    others = q, v, vary, checkpoint
    if run := foreseen(model, lambda: Call(duration, state, words, times, every, inputs, others)):
        return _single_result(run, check)  # before anything of the model is looked at, which may build it
    if isinstance(model, OfMembers):
        _check_forest({"q": q, "v": v, "vary": vary, "events": events or None, "checkpoint": checkpoint})
        options = {"times": times, "every": every, "threads": threads, "check": check, **steps}
        return model.simulate(duration, state, inputs=inputs, **options)
    asked = _compiled(model)
    start = {"state": state, "q": q, "v": v, "vary": vary, "inputs": inputs}
    try:
        run_it = _prepared(asked, words, duration, start, (times, every), threads, checkpoint, check)
    except ValueError as error:
        raise ValueError(f"simulate: {error}") from None
    return run_it()


def _prepared(
    asked: Model,
    words: GivenOptions,
    duration: float,
    start: Mapping[str, Any],
    samples: tuple[Any, Any],
    threads: int | None,
    checkpoint: Any,
    check: bool,
) -> Callable[[], Recording | Recordings]:
    """Return what runs a model from its start and says how that ended; ValueError if it cannot be run."""
    state, q, v, vary, inputs = start.values()
    batch = q is not None or v is not None or vary is not None
    model = fixed(asked)
    if not isinstance(check, bool | np.bool_):
        raise ValueError(f"check {check!r}; give True or False")
    kept = _checkpoint(checkpoint)
    if model.contact_names and not batch:
        _look_for_overlaps(model, state)
    shared = setting(model, words)
    span, workers = _span(duration, shared.chosen), worker_count(threads)
    _check_kind(batch, kept, threads)
    if goes_by_contact_steps(shared) or (shared.with_contact and batch):
        done = run_with_contact(asked, words, span, start, samples, workers, check, kept)
        return lambda: done
    request = RunRequest(model, shared, span, *samples, inputs, asked)
    if not batch:
        one = request.single(state, kept)
        return lambda: _ended(one.run(), check)
    if vary is not None:
        many = request.variants(words, vary, _start(state, q, v), q, v)
    elif state is None:
        many = request.batch(q, v)
    else:
        raise ValueError("q= and v= are for batches; give no state with them")
    return lambda: _batch_result(many, many.run(workers), check)


def _ended(run: Any, check: bool) -> Recording:
    return _single_result(Ended(run.recording, run.failure, run.notes), check)


def _check_forest(given: Mapping[str, Any]) -> None:
    for word, value in given.items():
        if value is not None:
            raise ValueError(
                f"simulate: {word}= is of one mechanism, and a forest is several; leave it out, or "
                "simulate lw.merge(...) of the members"
            )


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


def _checkpoint(given: Any) -> Checkpoint | None:
    """Return where a run is kept; a name of a file is enough."""
    if given is None or isinstance(given, Checkpoint):
        return given
    return Checkpoint(given)


def _check_kind(batch: bool, checkpoint: Checkpoint | None, threads: int | None) -> None:
    """Refuse of one run what is for many, and of many what is for one."""
    if batch and checkpoint is not None:
        raise ValueError("q=, v= and vary= are for batches; give no checkpoint with them")
    if threads is not None and not batch:
        raise ValueError(
            f"threads {threads} for one run, which takes one; leave it out, or give q=, v= or vary="
        )


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
