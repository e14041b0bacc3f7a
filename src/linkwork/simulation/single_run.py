"""One run: the native loop is driven, its samples taken, checkpoints written, and its end reported."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite
from typing import Any

import numpy as np

from linkwork.dynamics.load_code import answers, raised
from linkwork.errors import SimulationError
from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.recording.channels import Channels
from linkwork.recording.recording import Recording
from linkwork.recording.report import Report
from linkwork.recording.status import Status
from linkwork.simulation import integration, resume
from linkwork.simulation.checkpoint import CheckpointFile, Kept
from linkwork.simulation.controllers import Controllers, Replay, inputs_at, inputs_of
from linkwork.simulation.driver_jumps import follow_jumps
from linkwork.simulation.event_log import Occurrences
from linkwork.simulation.failure import GOOD, Failure, diagnosis, failed, interruption
from linkwork.simulation.law_watch import LawWatch, no_function, other_answer
from linkwork.simulation.loop.pieces import open_piece
from linkwork.simulation.options import GivenOptions, most_numbers
from linkwork.simulation.polling import Keyboard, Pace, raise_interrupts
from linkwork.simulation.progress import Progress
from linkwork.simulation.run_settings import RunSettings, setting
from linkwork.simulation.statistics import NO_LOOPS, Statistics, is_laborious

Array = np.ndarray

_IN_BETWEEN = (Status.RUNNING, Status.BUFFER_FULL, Status.EVENT)  # the loop will be called again
_GOES_ON = (Status.DONE, Status.INTERRUPTED, Status.TOO_MUCH_WORK)  # from there another run can


class OneRun:
    """A run of one mechanism; `run` makes `recording`, `failure` and `notes`."""

    def __init__(
        self,
        setting: RunSettings,
        start: State,
        duration: float,
        times: Array,
        checkpoint: CheckpointFile | None,
        watch: LawWatch | None = None,
        replay: Replay | None = None,
    ):
        self._setting, self._model = setting, (model := setting.system.model)
        self._start, self._duration, self._t_end = start, duration, start.t + duration
        self._times, self._checkpoint = times, checkpoint
        self._watch = watch or LawWatch(self._model, setting.system)
        self._occurrences = Occurrences(lambda: model, setting.chosen, self._t_end, self._watch)
        self._controllers: Controllers | Replay = replay or Controllers.none()
        if setting.controlled and replay is None:
            self._controllers = Controllers(self._model, list(setting.inputs), 1, start.t)
            self._controllers.check_calls(start.t, self._t_end)
            self._controllers.recall(start.controllers)
        self._before_call: tuple[Any, ...] = -inf, (), (), {}  # of controllers: t, y, inputs, memories
        self._rows: list[Array] = []  # samples: t, q, v, work
        self._since = -inf  # the time after which the loop's samples are new
        self._size = 0  # numbers in them
        self.failure: Failure | None = None
        self.notes: list[str] = []  # what the user should know

    def run(self) -> "OneRun":
        begun = time.perf_counter()
        self._problem = self._setting.problem(1)
        integration.prepare()
        ready = time.perf_counter()
        self._begin()
        try:
            self._march()
        except KeyboardInterrupt:  # at once, or of a law or an action, or Ctrl-C twice
            self._interrupt()
        self._finish((ready - begun, time.perf_counter() - ready))
        self._setting.give_back(self._work)
        return self

    # where it begins

    def _begin(self) -> None:
        start, nq = self._start, self._model.nq
        kept = self._checkpoint.read() if self._checkpoint else None
        inputs = input_values(self._setting.inputs, start.inputs)
        before = None if kept else resume.work_until(self._problem, self._setting.key, start, inputs)
        self._y = np.empty(self._problem.n)
        self._y[:nq], self._y[nq:-1], self._y[-1] = start.q, start.v, before or 0.0
        self._work = self._setting.work(self._y, start.t, self._times, inputs)
        self._held, self._ends = inputs[None].copy(), np.empty((1, 1 + self._problem.n))
        if kept and self._checkpoint:
            with self._checkpoint.recalling():
                self._recall(kept, self._checkpoint)
        elif before is not None and start.memory is not None:
            self._follow(start.memory)
        if self._checkpoint:
            self._checkpoint.open(*self._so_far())

    def _recall(self, kept: Kept, checkpoint: CheckpointFile) -> None:
        """Go on where this run was interrupted."""
        checkpoint.check(kept, self._so_far()[0], {*OneRun._memory(self), "inputs"})
        if problem := resume.disorder(kept.memory, kept.rows, self._start.t, self._work.memory.y.shape[1]):
            raise checkpoint.damaged(problem)
        resume.recall(self._work, kept.memory)
        if self._controllers:
            self._work.memory.inputs[:] = self._held[:] = kept.memory["inputs"]
            self._controllers.restore(kept.memory)
        reached, end = float(self._work.memo["t"][0]), min(self._controllers.next_time, self._t_end)
        if self._work.status(0) == Status.RUNNING and reached > end:
            raise checkpoint.damaged(f"it goes on from {reached:g} s, beyond {end:g} s")
        self._rows.append(kept.rows[kept.rows[:, 0] <= max(self._start.t, self._work.memo["t"][0])])
        self._occurrences.happened += kept.events
        self._pass_samples()

    def _follow(self, memory: Mapping[str, Array]) -> None:
        """Go on where another run has ended."""
        resume.recall(self._work, memory)
        resume.count_anew(self._work)
        if not self._times.size or self._times[0] == self._start.t:
            self._rows.append(np.array([[self._start.t, *self._y]]))
        self._work.memo["begun"] = 1.0  # the start is here already
        self._pass_samples()

    def _pass_samples(self) -> None:
        """Leave out the samples that there are already; the mesh may begin before the start of this run."""
        memo = self._work.memo
        if memo["begun"][0]:
            self._since = self._start.t
            memo["sample"] = np.searchsorted(self._times, max(self._since, memo["t"][0]), side="right")

    # on the way

    def _march(self) -> None:
        """Go on to the end; most runs are there before it is time to look at the keyboard and the clock."""
        raised.__dict__.pop("error", None)
        answers.kept = []
        if self._controllers.next_time <= max(self._start.t, self._work.memo["t"][0]):
            memo, self._work.memory.y_final[0] = self._work.memo, self._y
            memo["status"], memo["t_final"] = Status.DONE, self._start.t
            if not self._call_controllers():
                return
        at_once = self._setting.at_once
        if at_once and not self._advance(Pace(at_once)):
            return
        pace = Pace()
        with Keyboard() as keyboard, Progress(self._model.name) as progress:
            while True:
                if keyboard.pressed:
                    self._interrupt()
                    return
                if self._duration:
                    progress.update((float(self._work.memo["t"][0]) - self._start.t) / self._duration)
                if self._checkpoint and self._checkpoint.due:
                    self._keep()
                if not self._advance(pace):
                    return

    def _advance(self, pace: Pace) -> bool:
        """Let the loop run until it looks up; return whether there is more to do."""
        pace.start()
        t_end = min(self._controllers.next_time, self._t_end)
        pace.took(integration.march(self._problem, self._work, t_end, pace.budget))
        self._drain()
        raise_interrupts()
        if self.failure is None and (failure := no_function()):
            self._end_at_base(failure.status)
            self.failure = failure
        if self.failure is None and t_end < self._t_end and self._work.status(0) == Status.DONE:
            return self._call_controllers()
        return self.failure is None and self._can_go_on()

    def _call_controllers(self) -> bool:
        """Let those write inputs whose time has come; return whether the run goes on."""
        work, nq, going = self._work, self._model.nq, np.ones(1, bool)
        y, inputs = work.memory.y_final, work.memory.inputs
        called, remembered = self._controllers.next_time, self._controllers.memories(0)
        self._before_call = called, y[0].copy(), inputs[0].copy(), remembered
        failures = self._controllers.call(y[:, :nq], y[:, nq:-1], inputs, going)
        if not failures and self._model.link_tree.inputs:
            failures = follow_jumps(lambda _: self._model, work, self._held, going)
            if self._rows and len(self._rows[-1]) and self._rows[-1][-1, 0] == called:
                self._rows[-1][-1, 1:] = y[0]
        if failures:
            self.failure = failures[0]
            work.memo["status"] = self.failure.status
            return False
        open_piece(work.address(self._problem), self._held, self._ends)
        work.memo["earlier"] = 0.0  # max_steps is that of the whole run
        return True

    def _drain(self) -> None:
        """Take the samples that the loop has written."""
        rows = self._work.samples(0)
        if self._controllers or self._work.status(0) in _IN_BETWEEN:
            rows = rows.copy()
        if len(rows) and rows[0, 0] <= self._since:
            rows = rows[rows[:, 0] > self._since]
        self._work.memory.filled[0] = 0
        self._rows.append(rows)
        self._size += rows.size
        if self._size > most_numbers():
            t = self._end_at_base(Status.TOO_MUCH_WORK)
            words = f"the samples of {self._size // rows.shape[1]} steps take {8e-9 * self._size:.3g} GB"
            hint = "give every= or times=, and go on from the final state"
            self.failure = failed(Status.TOO_MUCH_WORK, t, self._model.name, words, hint=hint)

    def _can_go_on(self) -> bool:
        """Do what the loop waits for; return whether it has come to an end."""
        work = self._work
        status = work.status(0)
        if status == Status.BUFFER_FULL:
            work.memo["status"] = Status.RUNNING
        elif status == Status.EVENT:
            t, before = work.memo["t_final"][0], work.memory.y_final[0].copy()
            after = self._occurrences.handle(work, 0)
            self.failure = self._occurrences.failure
            if after is None:
                return False
            if not self._times.size and (after != before).any():
                self._rows.append(np.array([[t, *after]]))
        return status in _IN_BETWEEN

    def _changed(self) -> Failure | None:
        """Say if laws became others while the run went on; formulas are still what they were."""
        name, words = other_answer(self._watch)
        if name:
            self._work.memo["status"], t = Status.LAW_CHANGED, float(self._work.memo["t_final"][0])
            return failed(Status.LAW_CHANGED, t, name, f"{words} (asked again at the end)")
        name, words = self._watch.change()
        if name:
            self.notes.append(f"{words}; the run goes by what it was when it began")
        return None

    def _keep(self) -> None:
        """Write the run so far to disk; if that fails the run goes on, with what was kept before."""
        assert self._checkpoint
        try:
            self._checkpoint.write(*self._so_far())
        except OSError as error:
            self._checkpoint.put_off()
            if not any(note.startswith("checkpoint") for note in self.notes):
                self.notes.append(f"checkpoint: an older one was kept: {error}")

    def _so_far(self) -> tuple[Mapping[str, Array], Array, list[tuple[float, str]]]:
        kept = dict(self._memory())
        if self._controllers:
            kept |= {"inputs": self._work.memory.inputs.copy(), **self._controllers.arrays()}
        return kept, self._all_rows(), self._occurrences.happened

    def _memory(self) -> Mapping[str, Array]:
        return resume.memory(self._work, self._setting.key)

    # where it ends

    def _interrupt(self) -> None:
        self._drain()
        self.failure = interruption(self._end_at_base(Status.INTERRUPTED))

    def _end_at_base(self, status: Status) -> float:
        """End the run at the last point of the mesh; return the time."""
        memory = self._work.memory
        memory.memo["status"], memory.memo["t_final"] = status, memory.memo["t"]
        memory.y_final[0] = memory.y[0]
        return max(float(memory.memo["t"][0]), self._start.t)

    def _all_rows(self) -> Array:
        if len(self._rows) != 1:
            self._rows = [np.concatenate(self._rows or [np.empty((0, self._problem.n + 1))])]
        return self._rows[0]

    def _finish(self, spent: tuple[float, float]) -> None:
        """Say why it failed, if it did, and make the recording; `spent` is time of compiling and running."""
        if self.failure is None:
            self.failure = diagnosis(self._setting.system, self._work, 0) or self._changed()
        self.recording = self._record(spent)

    def _record(self, spent: tuple[float, float]) -> Recording:
        nq, memory, status = self._model.nq, self._work.memory, self._work.status(0)
        t, y = float(memory.memo["t_final"][0]), memory.y_final[0].copy()
        if t < self._start.t:  # the base of a run that goes on lies before its start
            t, y = self._start.t, self._y
        inputs, controllers = self._start.inputs, self._controllers.memories(0)
        if self._controllers:
            values = memory.inputs[0]
            if status in _GOES_ON and status != Status.DONE and t <= self._before_call[0]:
                t, y, values, controllers = self._before_call  # they will be called again
            inputs = dict(zip(self._setting.inputs, values.tolist(), strict=True))
        rows = self._all_rows()
        if len(rows) and rows[-1, 0] > t:
            rows = rows[rows[:, 0] <= t]
        if status != Status.DONE and (not len(rows) or rows[-1, 0] < t):
            rows = np.vstack([rows, [t, *y]])
        if self._checkpoint and status in _GOES_ON:
            self._keep()
        account = self._account()
        if status in GOOD:
            self._note_doubts(account, rows)
        events = [event for event in self._occurrences.happened if event[0] <= t]
        times, work = rows[:, 0].copy(), rows[:, -1].copy()
        q, v = rows[:, 1 : 1 + nq].copy(), rows[:, 1 + nq : -1].copy()
        remembered = self._work.remembered(0)
        held = NO_LOOPS
        if self._setting.system.tree.loops:
            held = account.held(remembered, times, q, self._inputs_at(times)[:, 0], memory.weakest[0])
        report = partial(account.report, remembered, held, self.failure, spent, events, self.notes)
        kept = self._memory() if status in _GOES_ON else None
        final = State(y[:nq], y[nq:-1], t, kept, inputs, self._model.slices, controllers)
        return Recording(self._channels(times), times, q, v, work, self._reporting(report), final)

    def _account(self) -> Statistics:
        return self._setting.account

    def _reporting(self, report: Callable[[], Report]) -> Callable[[], Report]:
        return report

    def _channels(self, times: Array) -> Channels:
        """Return where derived quantities come from; inputs are those of each sample, if they changed."""
        inputs, changes = self._start.inputs, self._controllers.changes
        if changes:
            inputs = inputs_of(list(self._setting.inputs), self._inputs_at(times), False)
        return self._setting.channels(inputs, StepsBetween(self._setting.words, tuple(changes)))

    def _inputs_at(self, times: Array) -> Array:
        """Return the inputs that hold from some times on, (T, 1, nu)."""
        first = input_values(self._setting.inputs, self._start.inputs)[None]
        return inputs_at(self._controllers.changes, times, first)

    def _note_doubts(self, account: Statistics, rows: Array) -> None:
        """Note what is odd about a run that seems to be good."""
        self._note_imbalance(account, rows)
        if hasattr(raised, "error") and raised.error[1] <= self._t_end:  # a law may end with the run
            name, at, error = raised.error
            words = f"{name!r} raised {type(error).__name__}: {error}"
            self.notes.append(f"{words} (at t = {at:.9g} s), in a step that was then shortened")

    def _note_imbalance(self, account: Statistics, rows: Array) -> None:
        memory, memo = self._work.memory, self._work.memo[0]
        laborious = is_laborious(float(memo["accepted"]), float(memo["rejected"]))
        if self._setting.chosen.step or laborious or isfinite(memory.bad_t[0]):
            inputs = dict(zip(self._setting.inputs, memory.inputs[0].tolist(), strict=True))
            bad, remembered = (memory.bad_t, memory.bad_y), self._work.remembered(slice(1))
            self.notes += filter(None, account.doubts(rows[None], remembered, bad, lambda _: inputs))


@dataclass(frozen=True, eq=False)
class StepsBetween:
    """A run between its samples: by steps of the same method, to the same accuracy, from the sample before.

    What a method does inside a step (the polynomial of `dop853`, a shorter step of others; loops closed by
    projection) it does here: the loop goes on from a sample, and is sampled where the run was not.
    """

    words: GivenOptions
    changes: Sequence[tuple[float, Array]] = ()  # of inputs, by controllers: when, and all of them (N, nu)

    def of_run(self, k: int) -> "StepsBetween":
        """Return what knows run k of a batch."""
        return replace(self, changes=tuple((t, u[k : k + 1]) for t, u in self.changes))

    def rows(self, run: Any, k: int, times: Array) -> Array:
        """Return q, v and the work (T, nq + nv + 1) at rising times between samples k and k + 1 of a run."""
        if self.words.step and (run.model.contact_names or run.model.is_rigid):
            from linkwork.simulation.contact_run import rows_between

            return rows_between(run, k, times, self.words)
        t = float(run.time[k])
        happened = any(t < time <= times[-1] for time, _ in run.report.events)
        words = self.words if happened else replace(self.words, events=())
        start = State(run.q[k], run.v[k], t, None, run._channels.part(k).inputs)
        span, changes = float(times[-1]) - t, [change for change in self.changes if change[0] > t]
        if run.model.is_rigid:
            from linkwork.simulation.rigid_contact_run import kind_of_run

            shared = setting(run.model, words)
            one = kind_of_run(shared)(shared, start, span, times, None, None, Replay(changes))
        else:
            one = OneRun(setting(run.model, words), start, span, times, None, None, Replay(changes))
        again = one.run().recording
        if len(again) < len(times):
            raise SimulationError(
                f"at: t {times[len(again)]:.9g} s cannot be reached from the sample at {t:.9g} s: "
                f"{again.report.message}; ask at samples, or run it again with times="
            )
        return np.column_stack([again.q, again.v, run.work[k] + again.work])
