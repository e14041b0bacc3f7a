"""Simulation: a mechanism, or many of them, stepped by the caller, who sets its inputs in between."""

import threading
import time
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, Never, Unpack

import numpy as np

from linkwork.contact_dynamics.time_stepping.lanes import Lanes
from linkwork.contact_dynamics.time_stepping.stepper import Stepper
from linkwork.errors import FormatError, SimulationError, warn
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.following import fixed
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording import array_file
from linkwork.recording.recording import Recording
from linkwork.recording.status import Status
from linkwork.simulation.checkpoint import CheckpointFile
from linkwork.simulation.event import Event
from linkwork.simulation.failure import SimulationFailed
from linkwork.simulation.held_inputs import HeldInputs
from linkwork.simulation.initial_state import outside_limits
from linkwork.simulation.options import GivenOptions, StepOptions, no_model, worker_count
from linkwork.simulation.run_settings import setting
from linkwork.simulation.run_to_times import go_through
from linkwork.simulation.step_clock import StepClock
from linkwork.simulation.step_guard import Alone, busy
from linkwork.simulation.step_record import recording_of, recordings_of
from linkwork.simulation.stepped_run import SteppedRun, SteppingSetup
from linkwork.simulation.stepped_starts import starting, starting_some
from linkwork.simulation.variants import variants_of, varied
from linkwork.spelling import Closed, checked_keywords, refuse, spelled_methods

Array = np.ndarray

_NAMES = np.array([status.name for status in Status])
_AT_ONCE = 8  # steps that nobody watches: Ctrl-C need not wait for more
_AS_MANY = 1.0  # steps more than before, part of these: then the energy is looked at again
_OF_OTHERS = (".lwr", ".csv", ".json", ".html", ".npz")  # what names that end so promise


@spelled_methods
class Simulation(Closed):
    """A mechanism that goes on step by step: `sim.inputs["motor"] = 3.0`, `sim.step(0.002)`, `sim.q`.

    The methods, options, checks and failures are those of `simulate`, and so are the numbers: as long as no
    input changes, steps give bit for bit what one run gives at the same times. An input that was changed
    holds from then on; the motion begins a new step there.

    With q (N, nq) and v (N, nv), or a State of such arrays, it is a batch: every array has a leading axis N.
    With `vary`, numbers by name as in `simulate`, it is a batch of mechanisms that differ in these.
    Simulations may run in several threads, each of them in one at a time.

    >>> from linkwork.examples import cart_pole
    >>> from linkwork.mechanism.loads import Motor
    >>> m = cart_pole()
    >>> motor = m.add(Motor("motor", "rail"))
    >>> sim = Simulation(m, method="rk4", step=0.002)
    >>> for k in range(100):
    ...     sim.inputs["motor"] = 1.0 if k < 50 else -1.0
    ...     sim.step()
    >>> sim.t, sim["rail"].velocity.shape, len(sim.recording)
    (0.2, (), 101)
    """

    to_set: ClassVar[Mapping[str, str]] = {
        "t": "call sim.reset(model.state(...)), or give another State",
        "q": "call sim.reset(model.state(...)), of a batch sim.reset(q=..., v=...)",
        "v": "call sim.reset(model.state(...)), of a batch sim.reset(q=..., v=...)",
        "state": "call sim.reset(state)",
        "inputs": "write sim.inputs['motor'] = ..., sim.inputs[:] = ... or sim.inputs.update({...})",
    }

    def __init__(
        self,
        model: Model | Mechanism,
        state: State | Recording | None = None,
        *,
        q: Any = None,
        v: Any = None,
        vary: Mapping[str, Any] | None = None,
        threads: int | None = None,
        inputs: Mapping[str, Any] | None = None,
        events: Sequence[Event] = (),
        record: bool | int | None = None,
        **steps: Unpack[StepOptions],
    ) -> None:
        """Begin at a state, or with a batch; the options are those of `simulate`.

        `max_steps` is that of one call of `step`. `record` says how many samples to keep, the last ones, of
        those after each step: True, the default for one mechanism, for those that a tenth of the machine's
        memory holds; False, that of a batch, for none.
        """
        begun = time.perf_counter()
        asked = model.compile() if isinstance(model, Mechanism) else model
        try:
            if not isinstance(asked, Model):
                raise no_model(model)
            if not asked.body_names:
                raise ValueError(f"mechanism {asked.name!r} is empty: nothing can move; add bodies, joints")
            own = fixed(asked)
            words = GivenOptions(**steps, events=events)
            shared = setting(own, words)
            variants = None if vary is None else variants_of(varied(own, vary), words)
            state = state.final if isinstance(state, Recording) else state
            several = q is not None or v is not None or vary is not None
            batch = several or (isinstance(state, State) and np.ndim(state.q) > 1)
            self._setup = SteppingSetup(asked, own, shared, variants, batch, worker_count(threads), record)
            self._start = starting(*self._setup.words, state, q, v, inputs)
            self._run = SteppedRun(self._setup, self._start)
        except ValueError as error:
            raise ValueError(f"Simulation: {error}") from None
        self._doubt_start()
        self._doubted = False
        self._busy = threading.Lock()
        self._wall = time.perf_counter() - begun, time.perf_counter()

    @checked_keywords
    def reset(
        self,
        state: State | Recording | None = None,
        *,
        q: Any = None,
        v: Any = None,
        inputs: Mapping[str, Any] | None = None,
        where: Any = None,
    ) -> None:
        """Begin anew, the recording too: at a state, at q and v of a batch, or where it began.

        Inputs are those of the state, or as by default, unless given. With `where`, a mask (N,) or numbers,
        only these mechanisms of a batch begin anew; the clock goes on then.
        """
        with Alone(self._busy):
            try:
                if where is not None:
                    self._reset_some(where, state, q, v, inputs)
                    return
                state = state.final if isinstance(state, Recording) else state
                if state is None and q is None and v is None:
                    state = self._start
                self._start = starting(*self._setup.words, state, q, v, inputs)
            except ValueError as error:
                raise ValueError(f"reset: {error}") from None
            if len(np.atleast_2d(self._start.q)) == self._run.count:
                self._run.begin(self._start)
            else:
                self._run = SteppedRun(self._setup, self._start)
            self._doubted = False
        self._doubt_start()

    def _doubt_start(self) -> None:
        """Warn of a start that is probably not meant, unless it is where something else was left."""
        begins = self._start.memory is None and self._start.t == 0.0
        if begins and (text := outside_limits(self._setup.model, self._start.q)):
            warn(text)

    def _reset_some(self, where: Any, state: Any, q: Any, v: Any, inputs: Any) -> None:
        if not self._setup.batch or state is not None:
            raise ValueError("where= is for batches, with q= and v=")
        count = self._run.count
        try:
            chosen = np.arange(count)[np.asarray(where)].reshape(-1)
        except IndexError:
            raise ValueError(f"where {where!r:.80}; give a mask of shape ({count},), or numbers") from None
        if chosen.size:
            words = self._setup.setting, self._setup.variants, self._start, chosen, self._run.clock.t
            self._run.begin_some(chosen, starting_some(*words, q, v, inputs))

    # on the way

    def step(self, dt: float | None = None, n: int = 1, **unknown: Never) -> None:
        """Go on by dt seconds, n times; dt is the fixed step if it is not given.

        Steps of equal length end at multiples of it, counted from where they began, so that no rounding adds
        up. Raises SimulationError if the motion cannot go on; of a batch a warning names the failed ones,
        which stay where they are, as do those that an event has stopped, until they are reset. For a single
        mechanism such an event ends the step; the next goes on from there.
        """
        if unknown:
            refuse(Simulation.step, unknown)
        run = self._run
        clock = run.clock
        if dt != clock.dt:
            clock.turn_to(dt, self._setup.setting.chosen.step)
        if n == 1:
            self._go_on(1)
            return
        left, most = step_count(n), 1
        if run.unwatched and clock.dt == self._setup.setting.chosen.step:
            most = _AT_ONCE
        while left > 0:
            self._go_on(min(left, most))
            left -= most

    def _go_on(self, steps: int) -> None:
        """Go on by some steps."""
        if not self._busy.acquire(blocking=False):
            raise busy()
        run = self._run
        clock = run.clock
        try:
            if run.stopped:
                self._complain()
            calm = run.go_to(clock.origin + (clock.steps + steps) * clock.dt)
            clock.steps += steps
        finally:
            self._busy.release()
        if not calm:
            self._complain()

    def go_to(self, t: float) -> None:
        """Go on to a time [s]: what `step` does, for who keeps the clock of several simulations."""
        if not isfinite(t) or t < self.t:
            raise ValueError(f"go_to: t {t!r}; give a time from {self.t:g} s on")
        with Alone(self._busy):
            if self._run.stopped:
                self._complain()
            calm = t == self._run.clock.t or self._run.go_to(float(t))
            self._run.clock = StepClock(self._run.clock.t)
        if not calm:
            self._complain()

    def enter_lane(self, lanes: Lanes, i: int, stepper: Stepper) -> bool:
        """Leave its state in a lane, if nothing but time passes for it; return whether it does.

        Until it comes back, by `leave_lane`, it is not to be used.
        """
        with Alone(self._busy):
            return self._run.enter_lane(lanes, i, stepper)

    def leave_lane(self, lanes: Lanes, i: int, t: float) -> None:
        """Go on from where a lane is, at a time."""
        with Alone(self._busy):
            self._run.leave_lane(lanes, i, t)

    @property
    def laws_changed(self) -> bool:
        """Whether what laws read from outside has changed since it began: the next step says so."""
        return self._run.laws_changed

    def take_events(self) -> list[Any]:
        """Return the events so far as `events` does, and forget them: for runs without an end."""
        found = self.events
        for one in self._run.sides.happened:
            one.clear()
        return found

    def go_through(self, times: Sequence[float], checkpoint: CheckpointFile | None = None) -> None:
        """Go on to rising times, one after the other; they are the samples of the recording.

        Ctrl-C ends it there, as INTERRUPTED. With a checkpoint it goes on where that was written.
        """
        with Alone(self._busy):
            ended = go_through(self._run, times, checkpoint)
        if ended:
            self._complain()

    def _complain(self) -> None:
        """Raise why the mechanism cannot go on; of a batch, warn of those that cannot since the last step."""
        if not self._setup.batch:
            (failure,) = self._run.sides.failures
            if failure:
                raise SimulationFailed(failure, self.recording) from failure.cause
            return
        if found := self._run.new_failures():
            what = f"{len(found)} of {self._run.count} mechanisms failed, the first is {found[0][0]}"
            warn(f"{what}: {found[0][1].message}; see `sim.failed`")

    # what is there

    @property
    def model(self) -> Model:
        """The model that goes on; of variants, the one that they vary."""
        return self._setup.model

    @property
    def inputs(self) -> HeldInputs:
        """The inputs, by name or all at once; what is written holds from the next step on."""
        return self._run.inputs

    @property
    def t(self) -> float:
        """The time [s]."""
        return self._run.clock.t

    @property
    def q(self) -> Array:
        """The positions (nq,), of a batch (N, nq), to be read: `reset` changes them."""
        return self._read(slice(self.model.nq))

    @property
    def v(self) -> Array:
        """The velocities (nv,), of a batch (N, nv), to be read: `reset` changes them."""
        return self._read(slice(self.model.nq, -1))

    def _read(self, columns: slice) -> Array:
        """Return a copy that cannot be written to: nothing would follow from it."""
        part = self._run.part(columns)
        part.setflags(write=False)
        return part

    @property
    def state(self) -> State:
        """Where it is: `simulate`, or another Simulation, goes on from there; a single one bit for bit."""
        return self._run.state

    @property
    def state_to_edit(self) -> State:
        """The same for an edited model, which does not go on bit for bit: what contacts remember is kept."""
        return self._run.state_to_edit

    @property
    def status(self) -> Any:
        """How it stands: "DONE", "EVENT", or why it cannot go on; of a batch (N,) of these."""
        self._warn(self._run.doubts(_AS_MANY))
        names = _NAMES[self._run.sides.status]
        return names if self._setup.batch else str(names[0])

    @property
    def failed(self) -> Array:
        """The numbers of the mechanisms that cannot go on."""
        return np.flatnonzero([failure is not None for failure in self._run.sides.failures])

    @property
    def events(self) -> list[Any]:
        """The events so far, (time, name); of a batch a list for each mechanism."""
        happened = [list(one) for one in self._run.sides.happened]
        return happened if self._setup.batch else happened[0]

    def __getitem__(self, name: str) -> Any:
        """Return a joint, body or load as it is now, in the words of a recording: sim["pole"].pose."""
        return self._run.instant()[name]

    def __contains__(self, name: object) -> bool:
        """Return whether there is a joint, body or load of this name."""
        return name in self._run.instant()

    @property
    def recording(self) -> Any:
        """The way so far: a Recording with a sample after every step, of a batch Recordings.

        The number of samples is what `record` says, or the last alone is kept.
        """
        run, wall = self._run, (self._wall[0], time.perf_counter() - self._wall[1])
        lost = run.record.lost if run.record else 0
        notes = [f"{lost} samples before the first were not kept; give record="] if lost else []
        self._warn(run.doubts())
        return (recordings_of if self._setup.batch else recording_of)(run, wall, notes)

    def _warn(self, doubts: list[str]) -> None:
        """Warn that the motion is not what it should be: once, until it begins anew."""
        if doubts and not self._doubted:
            self._doubted = True
            warn(doubts[0])

    def __repr__(self) -> str:
        count = f"{self._run.count} mechanisms, " if self._setup.batch else ""
        return f"<Simulation {self.model.name!r}: {count}t = {self.t:g} s>"

    # copies and files

    def copy(self) -> "Simulation":
        """Return another simulation that is where this one is, and goes on bit for bit alike."""
        made = Simulation.__new__(Simulation)
        with Alone(self._busy):
            vars(made).update(vars(self))
            made._busy, made._complete = threading.Lock(), True
            made._run = SteppedRun(self._setup, self._run.state)
            made._run.become(*self._run.contents())
            made._run.sides.take_failures(self._run.sides)
            made._run.known = list(self._run.known)
        return made

    def __copy__(self) -> "Simulation":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "Simulation":
        return self.copy()

    def __reduce__(self) -> Never:
        raise TypeError(
            "a Simulation is not pickled; it goes to another process as a file, sim.save('now.lwc') and "
            "sim.restore('now.lwc') there, or by sim.model and sim.state"
        )

    def save(self, path: str | Path) -> None:
        """Write all that it is to a file, for `restore` of a Simulation of the same model and options."""
        if Path(path).suffix.lower() in _OF_OTHERS:
            raise FormatError(
                f"{path}: a simulation is not written so; end the name in .lwc, or save sim.recording"
            )
        with Alone(self._busy):
            if self.failed.size:
                raise SimulationError("save: it cannot go on; reset what has failed, or save sim.recording")
            array_file.write(path, *self._run.contents())

    def restore(self, path: str | Path) -> None:
        """Become what `save` wrote, and go on from there bit for bit."""
        header, arrays = array_file.read(path)
        with Alone(self._busy):
            found = header.get("kind"), header.get("key"), header.get("batch")
            if found != ("simulation", self._setup.key, self._setup.batch):
                raise FormatError(
                    f"{path}: holds {header.get('kind')!r} of another model, or with other options; "
                    "restore it into a Simulation that was made like the one that was saved"
                )
            if len(arrays["memo"]) != self._run.count:
                y, values = arrays["y"], arrays["inputs"]
                nq, names = self.model.nq, self._setup.setting.inputs
                inputs = dict(zip(names, values.T, strict=True))
                self._start = State(y[:, :nq], y[:, nq:-1], header["clock"][0], None, inputs)
                self._run = SteppedRun(self._setup, self._start)
            self._run.become(header, arrays)


def step_count(n: Any) -> int:
    """Return how many steps were asked for, a whole number."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise ValueError(f"step: n {n!r}; give a whole number, 0 or more")
    return int(n)
