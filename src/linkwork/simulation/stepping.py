"""Simulation: a mechanism, or many of them, stepped by the caller, who sets its inputs in between."""

import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import FormatError, SimulationError
from linkwork.foreign_words import no_attribute
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.following import fixed
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording import container
from linkwork.recording.interpolation import Instant
from linkwork.recording.recording import Recording
from linkwork.recording.status import Status
from linkwork.simulation import integration
from linkwork.simulation.controllers import Controllers, inputs_of, writers
from linkwork.simulation.event import Event
from linkwork.simulation.failure import Failure, SimulationFailed, interruption
from linkwork.simulation.held_inputs import HeldInputs
from linkwork.simulation.integrators.tableau import StepMethod
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.options import MOST_STEPS, RunOptions, most_numbers, worker_count
from linkwork.simulation.restoring import PROJECTED, Restoring
from linkwork.simulation.run_settings import setting
from linkwork.simulation.sides import sides_of
from linkwork.simulation.single_run import StepsBetween
from linkwork.simulation.starts import rows_of, starting, starting_some
from linkwork.simulation.step_clock import StepClock
from linkwork.simulation.step_record import StepRecord, recording_of, recordings_of
from linkwork.spelling import Spelled

Array = np.ndarray

_NAMES = np.array([status.name for status in Status])


class Simulation(metaclass=Spelled):
    """A mechanism that goes on step by step: `sim.inputs["motor"] = 3.0`, `sim.step(0.002)`, `sim.q`.

    The methods, options, checks and failures are those of `simulate`, and so are the numbers: as long as no
    input changes, steps give bit for bit what one run gives at the same times. An input that was changed
    holds from then on; the motion begins a new step there.

    With q (N, nq) and v (N, nv), or a State of such arrays, it is a batch: every array has a leading axis N.
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

    def __init__(
        self,
        model: Model | Mechanism,
        state: State | Recording | None = None,
        *,
        q: Any = None,
        v: Any = None,
        inputs: Mapping[str, Any] | None = None,
        accuracy: float = 1e-8,
        step: float | None = None,
        method: str | StepMethod = "auto",
        events: Sequence[Event] = (),
        max_step: float | None = None,
        max_steps: float = MOST_STEPS,
        loops: str | Restoring = PROJECTED,
        threads: int | None = None,
        record: bool | int | None = None,
    ) -> None:
        """Begin at a state, or with a batch; the options are those of `simulate`.

        `max_steps` is that of one call of `step`. `record` says how many samples to keep, the last ones, of
        those after each step: True, the default for one mechanism, for as many as a tenth of the machine's
        memory holds; False, that of a batch, for none.
        """
        begun = time.perf_counter()
        self._asked = model.compile() if isinstance(model, Mechanism) else model
        try:
            if not isinstance(self._asked, Model):
                raise ValueError(f"model is a {type(model).__name__}; give a Model or a Mechanism")
            self.model: Model = fixed(self._asked)
            words = RunOptions(accuracy, step, method, max_step, max_steps, events, loops)
            self._setting = setting(self.model, words)
            self._threads, self._record_as = worker_count(threads), record
            state = state.final if isinstance(state, Recording) else state
            several = q is not None or v is not None
            self._batch = several or (isinstance(state, State) and np.ndim(state.q) > 1)
            self._start = starting(self._setting, self._batch, state, q, v, inputs)
            self._make()
        except ValueError as error:
            raise ValueError(f"Simulation: {error}") from None
        self._busy = threading.Lock()
        self._wall = time.perf_counter() - begun, time.perf_counter()

    if not TYPE_CHECKING:

        def __getattr__(self, word: str) -> Any:
            raise no_attribute(self, word)

    # where it begins

    def _make(self) -> None:
        """Make the memory of as many mechanisms as the start has, and begin."""
        integration.prepare()
        y, values = rows_of(self._start)
        self._sides = sides_of(
            self._setting,
            y,
            self._start.t,
            values,
            LawWatch(self._asked, self._setting.system),
            self._threads,
            alone=not self._batch,
        )
        self._inputs = HeldInputs(
            list(self._setting.inputs),
            self._sides.inputs,
            self._batch,
            self.model.load_names,
            writers(self.model),
        )
        most = _kept(self._record_as, self._batch, y.size + values.size)
        self._record = StepRecord(most, y.shape, values.shape) if most else None
        self._controllers: Controllers | None = None
        if self._setting.controlled:
            self._controllers = Controllers(self.model, list(self._setting.inputs), len(y), self._start.t)
        self._begin(y, values)

    def _begin(self, y: Array, values: Array) -> None:
        start = self._start
        self._sides.begin(np.arange(len(y)), y, start.t, values)
        self._inputs.written = False
        if start.memory is not None and not self._batch:
            self._sides.follow(start)
        self._clock = StepClock(start.t)
        if self._controllers:
            self._controllers.turn_to(start.t)
            self._controllers.recall(start.controllers)
            self._controllers.changes.clear()
        self._stopped = False  # the only mechanism by an event, or since it failed
        self._known: list[Failure | None] = [None] * len(y)  # failures that were reported
        self._now: Instant | None = None
        if self._record:
            self._record.begin()
            self._record.add(start.t, self._sides.y, values)

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
        with _Alone(self._busy):
            try:
                if where is not None:
                    self._reset_some(where, state, q, v, inputs)
                    return
                state = state.final if isinstance(state, Recording) else state
                if state is None and q is None and v is None:
                    state = self._start
                self._start = starting(self._setting, self._batch, state, q, v, inputs)
            except ValueError as error:
                raise ValueError(f"reset: {error}") from None
            y, values = rows_of(self._start)
            if len(y) == len(self._inputs.array):
                self._begin(y, values)
            else:
                self._make()

    def _reset_some(self, where: Any, state: Any, q: Any, v: Any, inputs: Any) -> None:
        if not self._batch or state is not None:
            raise ValueError("where= is for batches, with q= and v=")
        count, start, t = len(self._inputs.array), self._start, self._clock.t
        try:
            chosen = np.arange(count)[np.asarray(where)].reshape(-1)
        except IndexError:
            raise ValueError(f"where {where!r:.80}; give a mask of shape ({count},), or numbers") from None
        if not chosen.size:
            return
        y, values = rows_of(starting_some(self._setting, start, chosen, t, q, v, inputs))
        self._sides.begin(chosen, y, t, values)
        if self._controllers:
            self._controllers.recall({}, chosen)
        self._now = None
        if self._record:
            self._record.amend(self._sides.y)
            self._record.hold(self._inputs.array)

    # on the way

    def step(self, dt: float | None = None, n: int = 1) -> None:
        """Go on by dt seconds, n times; dt is the fixed step if it is not given.

        Steps of equal length end at multiples of it, counted from where they began, so that no rounding adds
        up. Raises SimulationError if the motion cannot go on; of a batch a warning names the failed ones,
        which stay where they are, as do those that an event has stopped, until they are reset. For a single
        mechanism such an event ends the step; the next goes on from there.
        """
        clock = self._clock
        if dt != clock.dt:
            clock.turn_to(dt, self._setting.chosen.step)
        if n != 1:
            seconds = clock.dt
            for _ in range(_count(n)):
                self.step(seconds)
            return
        if not self._busy.acquire(blocking=False):
            raise _busy()
        try:
            calm = self._go_to(clock.origin + (clock.steps + 1) * clock.dt)
            clock.steps += 1
        finally:
            self._busy.release()
        if not calm:
            self._complain()

    def go_through(self, times: Sequence[float]) -> None:
        """Go on to rising times, one after the other; they are the samples of the recording.

        Ctrl-C ends it there, as INTERRUPTED.
        """
        with _Alone(self._busy):
            if self._record and len(times) and times[0] > self._clock.t:
                self._record.begin()
            try:
                for t in times:
                    if t > self._clock.t and not self._go_to(float(t)):
                        self._complain()
                        if self._stopped:
                            break
            except KeyboardInterrupt:
                ends = self._sides.memo("t_final").tolist()
                self._sides.fail({k: interruption(t) for k, t in enumerate(ends) if not self._known[k]})
            self._clock = StepClock(self._clock.t)

    def _go_to(self, t_end: float) -> bool:
        """Go on to a time; return whether nothing has happened on the way."""
        if self._stopped:
            self._go_on()
        if self._asked is not self.model:
            self._check_laws()
        if self._inputs.written:
            self._hand_over()
        self._now = None
        calm = self._sides.march(t_end) if self._controllers is None else self._march_controlled(t_end)
        if calm or self._arrived():
            self._clock.t = t_end
        if self._record:
            self._record.add(self._clock.t, self._sides.y, self._inputs.array)
        return calm

    def _march_controlled(self, t_end: float) -> bool:
        """Go on to a time, from one call of controllers to the next; return whether nothing has happened."""
        controllers, t, calm = self._controllers, self._clock.t, True
        assert controllers
        while t < t_end:
            if controllers.next_time <= t:
                self._sides.control(controllers)
                if self._record and t == self._clock.t:
                    self._record.hold(self._inputs.array)
            t = min(controllers.next_time, t_end)
            calm = self._sides.march(t) and calm
            if not self._batch and self._sides.memo("status")[0] != Status.DONE:
                return False
        if not self._record or self._record.dropped:
            controllers.forget_before(self._record.t[0] if self._record else t_end)
        return calm and all(failure is None for failure in self._sides.failures)

    def _check_laws(self) -> None:
        """Refuse to go on with laws that have become others: what they read from outside is no input."""
        name, words = self._sides.watch.change()
        if name:
            raise SimulationError(
                f"at t = {self._clock.t:.9g} s: {words}; what changes on the way is an input: let the law "
                "read lw.Input(...), and write it to sim.inputs; or begin anew with another Simulation"
            )

    def _arrived(self) -> bool:
        """Return whether a piece on which something has happened has led to its end."""
        if self._batch or self._sides.memo("status")[0] == Status.DONE:
            return True
        self._clock = StepClock(float(self._sides.memo("t_final")[0]))
        self._stopped = True
        return False

    def _go_on(self) -> None:
        """Go on where an event has stopped the mechanism; where it failed, that cannot be."""
        self._complain()
        self._sides.go_on()
        self._stopped = False

    def _complain(self) -> None:
        """Raise why the mechanism cannot go on; of a batch, warn of those that cannot since the last step."""
        failures = self._sides.failures
        if not self._batch:
            if failures[0]:
                raise SimulationFailed(failures[0], self.recording) from failures[0].cause
            return
        found = [(k, one) for k, one in enumerate(failures) if one and one is not self._known[k]]
        self._known = failures
        if found:
            what = f"{len(found)} of {len(failures)} mechanisms failed, the first is {found[0][0]}"
            warnings.warn(f"{what}: {found[0][1].message}; see `sim.failed`", stacklevel=3)

    def _hand_over(self) -> None:
        """Let inputs that were written hold from now on."""
        self._sides.hand_over()
        if self._record:
            self._record.hold(self._inputs.array)
        self._inputs.written = False

    # what is there

    @property
    def inputs(self) -> HeldInputs:
        """The inputs, by name or all at once; what is written holds from the next step on."""
        return self._inputs

    @property
    def t(self) -> float:
        """The time [s]."""
        return self._clock.t

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
        part = self._part(columns)
        part.setflags(write=False)
        return part

    def _part(self, columns: slice) -> Array:
        y = self._sides.y
        return y[:, columns].copy() if self._batch else y[0, columns].copy()

    @property
    def state(self) -> State:
        """Where it is: `simulate`, or another Simulation, goes on from there; a single one bit for bit."""
        names, values = self._setting.inputs, self._inputs.array
        nq, slices = self.model.nq, self.model.slices
        where = self._part(slice(nq)), self._part(slice(nq, -1)), self._clock.t
        if self._batch:
            inputs = dict(zip(names, values.T.copy(), strict=True))
            return State(*where, None, inputs, slices, self._memories(slice(None)))
        kept = None if self._stopped else self._sides.memory(0)
        inputs = dict(zip(names, values[0].tolist(), strict=True))
        return State(*where, kept, inputs, slices, self._memories(0))

    def _memories(self, one: int | slice) -> dict[str, Array]:
        return self._controllers.memories(one) if self._controllers else {}

    @property
    def status(self) -> Any:
        """How it stands: "DONE", "EVENT", or why it cannot go on; of a batch (N,) of these."""
        names = _NAMES[self._sides.status]
        return names if self._batch else str(names[0])

    @property
    def failed(self) -> Array:
        """The numbers of the mechanisms that cannot go on."""
        return np.flatnonzero([failure is not None for failure in self._sides.failures])

    @property
    def events(self) -> list[Any]:
        """The events so far, (time, name); of a batch a list for each mechanism."""
        happened = [list(one) for one in self._sides.happened]
        return happened if self._batch else happened[0]

    def __getitem__(self, name: str) -> Any:
        """Return a joint, body or load as it is now, in the words of a recording: sim["pole"].pose."""
        if self._now is None:
            y, u = self._sides.y.copy(), self._inputs.array[None]
            channels = self._setting.channels(
                inputs_of(list(self._setting.inputs), u, self._batch), StepsBetween(self._setting.words)
            )
            there = np.ones(len(y) if self._batch else (), bool)
            work = y[:, -1] if self._batch else y[0, -1]
            self._now = Instant(channels, np.array(self._clock.t), self.q, self.v, work, there)
        return self._now[name]

    @property
    def recording(self) -> Any:
        """The way so far: a Recording with a sample after every step, of a batch Recordings.

        The samples are as many as `record` says, or the last alone.
        """
        values, wall = self._inputs.array, (self._wall[0], time.perf_counter() - self._wall[1])
        if self._record:
            self._record.hold(values)
            samples, lost = self._record.samples, self._record.lost
        else:
            samples, lost = (np.array([self._clock.t]), self._sides.y[None].copy(), values[None].copy()), 0
        notes = [f"{lost} samples before the first were not kept; give record="] if lost else []
        if self._batch:
            return recordings_of(self._setting, self._sides, samples, wall, notes, self._changes)
        return recording_of(self._setting, self._sides, samples, self.state, wall, notes, self._changes)

    @property
    def _changes(self) -> Sequence[tuple[float, Array]]:
        """The changes of inputs by controllers, some of them between samples."""
        return tuple(self._controllers.changes) if self._controllers else ()

    def __repr__(self) -> str:
        count = f"{len(self._inputs.array)} mechanisms, " if self._batch else ""
        return f"<Simulation {self.model.name!r}: {count}t = {self._clock.t:g} s>"

    # copies and files

    def copy(self) -> "Simulation":
        """Return another simulation that is where this one is, and goes on bit for bit alike."""
        made = object.__new__(Simulation)
        with _Alone(self._busy):
            vars(made).update(vars(self))
            made._busy = threading.Lock()
            made._make()
            made._become(*self._contents())
            made._sides.take_failures(self._sides)
            made._known = list(self._known)
        return made

    def save(self, path: str | Path) -> None:
        """Write all that it is to a file, for `restore` of a Simulation of the same model and options."""
        with _Alone(self._busy):
            if self.failed.size:
                raise SimulationError("save: it cannot go on; reset what has failed, or save sim.recording")
            container.write(path, *self._contents())

    def restore(self, path: str | Path) -> None:
        """Become what `save` wrote, and go on from there bit for bit."""
        header, arrays = container.read(path)
        with _Alone(self._busy):
            found = header.get("kind"), header.get("key"), header.get("batch")
            if found != ("simulation", self._setting.key.tolist(), self._batch):
                raise FormatError(
                    f"{path}: holds {header.get('kind')!r} of another model, or with other options; "
                    "restore it into a Simulation that was made like the one that was saved"
                )
            if len(arrays["memo"]) != len(self._inputs.array):
                y, values = arrays["y"], arrays["inputs"]
                nq, names = self.model.nq, self._setting.inputs
                inputs = dict(zip(names, values.T, strict=True))
                self._start = State(y[:, :nq], y[:, nq:-1], header["clock"][0], None, inputs)
                self._make()
            self._become(header, arrays)

    def _contents(self) -> tuple[dict[str, Any], dict[str, Array]]:
        header = {
            "kind": "simulation",
            "key": self._setting.key.tolist(),
            "batch": self._batch,
            "clock": self._clock.numbers(),
            "stopped": self._stopped,
            "events": [[list(event) for event in events] for events in self._sides.happened],
        }
        arrays = self._sides.arrays()
        if self._controllers:
            arrays |= self._controllers.arrays()
        if self._record:
            self._record.hold(self._inputs.array)
            arrays |= {f"record/{name}": array for name, array in self._record.arrays().items()}
        return header, arrays

    def _become(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        self._sides.recall(arrays, header["events"])
        self._inputs.written = True
        if self._controllers:
            self._controllers.restore(arrays)
        self._clock = StepClock(*header["clock"])
        self._stopped, self._now = header["stopped"], None
        if self._record and "record/t" in arrays:
            self._record.recall({name: arrays[f"record/{name}"] for name in ("t", "y", "u", "dropped")})


def _kept(record: Any, batch: bool, size: int) -> int:
    """Return how many samples of this size to keep."""
    if record is None:
        record = not batch
    if isinstance(record, bool | np.bool_):
        return max(most_numbers() // (2 * (size + 1)), 1) if record else 0
    if not isinstance(record, int | np.integer) or record < 1:
        raise ValueError(f"record {record!r}; give True, False, or how many samples to keep")
    return int(record)


def _count(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise ValueError(f"step: n {n!r}; give a whole number, 0 or more")
    return int(n)


def _busy() -> SimulationError:
    return SimulationError(
        "the simulation is being stepped already, by another thread or by a law that it calls; "
        "one at a time: sim.copy() is one of its own"
    )


class _Alone:
    """Hold a simulation for oneself, or say that another has it."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise _busy()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
