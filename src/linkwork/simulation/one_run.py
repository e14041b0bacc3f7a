"""One run: the loop is looked after, emptied, kept on disk, and its end told."""

import time

import numpy as np

from linkwork.dynamics.load_code import raised
from linkwork.model.state import State
from linkwork.simulation import march, resume
from linkwork.simulation.account import Account
from linkwork.simulation.checkpoint import Checkpoint
from linkwork.simulation.failure import GOOD, Failure, diagnosis, failed, interruption
from linkwork.simulation.march import Work
from linkwork.simulation.occurrences import Occurrences
from linkwork.simulation.options import most_numbers
from linkwork.simulation.pace import Keyboard, Pace, raise_interrupts
from linkwork.simulation.progress import Progress
from linkwork.simulation.recording import Recording
from linkwork.simulation.setting import Setting
from linkwork.simulation.status import Status

Array = np.ndarray

_ROOM = 2**14  # numbers that the loop can write as samples before it must be emptied
_GOES_ON = (Status.DONE, Status.INTERRUPTED, Status.TOO_MUCH_WORK)  # from there another run can


class OneRun:
    """A run of one mechanism; `run` makes `recording`, `failure` and `notes`."""

    def __init__(
        self,
        setting: Setting,
        start: State,
        duration: float,
        times: Array,
        checkpoint: Checkpoint | None,
    ):
        self._setting, self._model = setting, setting.system.model
        self._start, self._duration, self._t_end = start, duration, start.t + duration
        self._times, self._checkpoint = times, checkpoint
        self._occurrences = Occurrences(self._model, setting.chosen, self._t_end)
        self._rows: list[Array] = []  # samples: t, q, v, work
        self._size = 0  # numbers in them
        self.failure: Failure | None = None
        self.notes: list[str] = []  # what the user should know

    def run(self) -> "OneRun":
        begun = time.perf_counter()
        self._problem = self._setting.problem(1)
        march.prepare()
        ready = time.perf_counter()
        self._key = self._setting.key
        self._begin()
        with Keyboard() as keyboard, Progress(self._model.name) as progress:
            try:
                self._march(keyboard, progress)
            except KeyboardInterrupt:  # of a law or an action, or Ctrl-C twice
                self._interrupt()
        if self.failure is None:
            self.failure = diagnosis(self._model, self._work, 0, self._setting.system.event_tree.loads)
        self.recording = self._record(ready - begun, ready)
        return self

    # where it begins

    def _begin(self) -> None:
        start, times = self._start, self._times
        kept = self._checkpoint.read() if self._checkpoint else None
        before = None if kept else resume.work_until(self._problem, self._key, start)
        self._first = np.array([start.t, *start.q, *start.v, before or 0.0])
        self._work = Work(self._problem, self._first[None, 1:], start.t, times, 1 + _ROOM // self._problem.n)
        memo = self._work.memo
        if before is not None and start.memory is not None:
            resume.recall(self._work, start.memory)
            resume.count_anew(self._work)
        if kept:
            resume.recall(self._work, kept.memory)
            self._rows.append(kept.rows[kept.rows[:, 0] <= max(start.t, memo["t"][0])])
            self._occurrences.happened += kept.events
        elif not times.size or times[0] == start.t:
            self._rows.append(self._first[None])
        memo["begun"] = 1.0
        memo["sample"] = np.searchsorted(times, max(start.t, memo["t"][0]), side="right")
        if self._checkpoint:
            self._checkpoint.open(*self._so_far())

    # on the way

    def _march(self, keyboard: Keyboard, progress: Progress) -> None:
        work, pace = self._work, Pace()
        raised.__dict__.pop("error", None)
        while True:
            pace.start()
            pace.took(march.march(self._problem, work, self._t_end, pace.budget))
            self._drain()
            raise_interrupts()
            if self.failure is not None or not self._can_go_on():
                return
            if keyboard.pressed:
                self._interrupt()
                return
            if self._duration:
                progress.update((float(work.memo["t"][0]) - self._start.t) / self._duration)
            if self._checkpoint and self._checkpoint.due:
                self._keep()

    def _drain(self) -> None:
        """Take the samples that the loop has written."""
        rows = self._work.samples(0)
        rows = rows[rows[:, 0] > self._start.t]  # the mesh of a run that goes on begins before it
        self._rows.append(rows)
        self._size += rows.size
        self._work.memory.filled[0] = 0
        if self._size > most_numbers():
            t = self._end_at_base(Status.TOO_MUCH_WORK)
            words = f"the samples of {self._size // rows.shape[1]} steps take {8e-9 * self._size:.3g} GB"
            hint = "give every= or times=, and go on from the final state"
            self.failure = failed(Status.TOO_MUCH_WORK, t, self._model.name, words, hint=hint)

    def _can_go_on(self) -> bool:
        """Do what the loop waits for; tell whether it has come to an end."""
        work = self._work
        status = Status(int(work.memo["status"][0]))
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
        return status in (Status.RUNNING, Status.BUFFER_FULL, Status.EVENT)

    def _keep(self) -> None:
        """Write the run so far to disk; if that fails the run goes on, with what was kept before."""
        assert self._checkpoint
        try:
            self._checkpoint.write(*self._so_far())
        except OSError as error:
            self._checkpoint.put_off()
            if not any(note.startswith("checkpoint") for note in self.notes):
                self.notes.append(f"checkpoint: an older one was kept: {error}")

    def _so_far(self) -> tuple[dict[str, Array], Array, list[tuple[float, str]]]:
        return resume.memory(self._work, self._key), self._all_rows(), self._occurrences.happened

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
        self._rows = [np.concatenate([np.empty((0, self._problem.n + 1)), *self._rows])]
        return self._rows[0]

    def _record(self, compile_time: float, ready: float) -> Recording:
        model, memo = self._model, self._work.memory.memo[0]
        last = np.array([memo["t_final"], *self._work.memory.y_final[0]])
        if last[0] < self._start.t:  # the base of a run that goes on lies before its start
            last = self._first
        t, status = float(last[0]), Status(int(memo["status"]))
        rows = self._all_rows()
        rows = rows[rows[:, 0] <= t]
        if status != Status.DONE and (not len(rows) or rows[-1, 0] < t):
            rows = np.vstack([rows, last])
        if self._checkpoint and status in _GOES_ON:
            self._keep()
        account = self._setting.account
        self._note_doubts(account, rows, status)
        events = [event for event in self._occurrences.happened if event[0] <= t]
        q, v = rows[:, 1 : 1 + model.nq].copy(), rows[:, 1 + model.nq : -1].copy()
        near, times = self._work.memory.weakest[0], (compile_time, time.perf_counter() - ready)
        report = account.report(memo, rows[:, 0], q, near, self.failure, times, events, self.notes)
        memory = resume.memory(self._work, self._key) if status in _GOES_ON else None
        final = State(last[1 : 1 + model.nq], last[1 + model.nq : -1], t, memory)
        return Recording(self._setting.channels, rows[:, 0].copy(), q, v, rows[:, -1].copy(), report, final)

    def _note_doubts(self, account: Account, rows: Array, status: Status) -> None:
        """Note what is odd about a run that seems to be good."""
        if status not in GOOD:
            return
        self.notes += filter(None, account.nonsense(rows[None]))
        if hasattr(raised, "error") and raised.error[1] <= self._t_end:  # a law may end with the run
            name, at, error = raised.error
            words = f"{name!r} raised {type(error).__name__}: {error}"
            self.notes.append(f"{words} (at t = {at:.9g} s), in a step that was then shortened")
