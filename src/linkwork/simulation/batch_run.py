"""Many runs of one mechanism at once: SIMD lanes, and a part of the runs for each thread."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from linkwork.dynamics.load_code import raised
from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.native import store
from linkwork.recording.batch import Recordings
from linkwork.recording.lazy_sequence import Each
from linkwork.recording.report import Report
from linkwork.recording.status import Status
from linkwork.simulation import integration
from linkwork.simulation.event_log import Occurrences
from linkwork.simulation.failure import Failure, diagnosis, interruption
from linkwork.simulation.integration import MEMO, Work
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.polling import Keyboard, Pace, raise_interrupts, results
from linkwork.simulation.problem import Problem
from linkwork.simulation.progress import Progress
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.single_run import StepsBetween
from linkwork.simulation.statistics import Statistics

Array = np.ndarray

_NAMES = np.array([status.name for status in Status])


class ManyRuns:
    """Runs from states q (N, nq), v (N, nv); `run` returns their Recordings."""

    def __init__(self, setting: RunSettings, start: State, duration: float, times: Array):
        self.setting, self.system, self.chosen = setting, setting.system, setting.chosen
        self.t, self.t_end, self.times = start.t, start.t + duration, times
        self._y = np.hstack([start.q, start.v, np.zeros((len(start.q), 1))])
        self._start_inputs = start.inputs
        values = input_values(setting.inputs, start.inputs)
        self._inputs = np.broadcast_to(values, (len(start.q), len(setting.inputs)))
        self.keyboard = Keyboard()

    def run(self, threads: int) -> Recordings:
        begun = time.perf_counter()
        count = len(self._y)
        workers = max(1, min(threads, -(-count // store.lanes())))
        edges = np.linspace(0, count, workers + 1).astype(int)
        parts = [_Part(self, self._y[a:b], self._inputs[a:b]) for a, b in pairwise(edges)]
        integration.prepare()
        ready = time.perf_counter()
        with self.keyboard, Progress(self.system.model.name) as progress:
            if workers == 1:
                parts[0].run(progress.update)
            else:
                self._in_threads(parts, progress)
        return self._record(parts, (ready - begun, time.perf_counter() - ready))

    def _in_threads(self, parts: list["_Part"], progress: Progress) -> None:
        with ThreadPoolExecutor(len(parts)) as pool:
            futures = [pool.submit(part.run) for part in parts]
            results(
                futures,
                self.interrupt,
                lambda: progress.update(sum(part.done for part in parts) / len(parts)),
            )

    def interrupt(self) -> None:
        """End all runs at their next look, or before they begin."""
        self.keyboard.pressed = True

    def _record(self, parts: list["_Part"], spent: tuple[float, float]) -> Recordings:
        nq, account = self.system.model.nq, self.setting.account
        rows, filled, ends, weakest = (
            np.concatenate([getattr(part.work.memory, name) for part in parts])
            for name in ("record", "filled", "y_final", "weakest")
        )
        remembered = np.concatenate([part.work.remembered(slice(None)) for part in parts])
        memos = remembered.view(MEMO)[:, 0]
        ended, codes = memos["t_final"].copy(), memos["status"].astype(int)
        filled = np.minimum(filled, np.searchsorted(self.times, ended, side="right"))
        doubts = self._doubts(account, rows, filled)
        failures = [failure for part in parts for failure in part.failures]
        happened = [occurrences.happened for part in parts for occurrences in part.occurrences]
        for k, failure in enumerate(failures):
            if failure:
                codes[k] = failure.status
        held = [
            account.held(numbers, self.times[:count], row[:count, 1 : 1 + nq], near)
            for numbers, row, count, near in zip(remembered, rows, filled, weakest, strict=True)
        ]

        def report(k: int) -> Report:
            events = [event for event in happened[k] if event[0] <= ended[k]]
            notes = [doubts[k]] if doubts[k] and not failures[k] else []
            return account.report(remembered[k], held[k], failures[k], spent, events, notes)

        def final(k: int) -> State:
            where = ends[k, :nq], ends[k, nq:-1], float(ended[k])
            return State(*where, None, self._inputs_of(k), self.system.model.slices)

        q, v, work = rows[:, :, 1 : 1 + nq], rows[:, :, 1 + nq : -1], rows[:, :, -1]
        count = len(rows)
        return Recordings(
            self.setting.channels(self._start_inputs, StepsBetween(self.setting.words)),
            self.times,
            q,
            v,
            work,
            ended.copy(),
            filled,
            _NAMES[codes],
            Each(count, report),
            Each(count, final),
        )

    def _inputs_of(self, k: int) -> dict[str, float]:
        return dict(zip(self.setting.inputs, self._inputs[k].tolist(), strict=True))

    def _doubts(self, account: Statistics, rows: Array, filled: Array) -> list[str]:
        """Return what is odd about each run, nothing if nothing is."""
        doubts = [""] * len(rows)
        for count in np.unique(filled) if self.chosen.step else ():
            some = np.flatnonzero(filled == count)
            for k, doubt in zip(some, account.nonsense(rows[some, :count]), strict=True):
                doubts[k] = doubt
        return doubts


class _Part:
    """The runs of one thread."""

    def __init__(self, runs: ManyRuns, y: Array, inputs: Array):
        self._runs, self._y, self._inputs = runs, y, inputs
        self.occurrences = [Occurrences(runs.system.model, runs.chosen, runs.t_end) for _ in y]
        self.failures: list[Failure | None] = [None] * len(y)
        self.done = 0.0  # part of the way

    def run(self, report: Callable[[float], None] = lambda part: None) -> None:
        setting, times = self._runs.setting, self._runs.times
        problem = setting.problem(1 if METHODS[setting.chosen.method].implicit else store.lanes())
        self.work = Work(problem, self._y, self._runs.t, times, len(times), self._inputs)
        raised.__dict__.pop("error", None)
        self._march(problem, report)
        stiff = np.flatnonzero(self.work.memo["status"] == Status.STIFF)
        if len(stiff):
            self.work.memo["status"][stiff] = Status.RUNNING
            self._march(setting.problem(1), report)
        for i in np.flatnonzero(self.work.memo["status"] != Status.DONE):
            self.failures[i] = self._failure(int(i))

    def _march(self, problem: Problem, report: Callable[[float], None]) -> None:
        runs, pace, status = self._runs, Pace(), self.work.memo["status"]
        try:
            while not runs.keyboard.pressed and (status == Status.RUNNING).any():
                pace.start()
                pace.took(integration.march(problem, self.work, runs.t_end, pace.budget))
                raise_interrupts()
                for i in np.flatnonzero(status == Status.EVENT):
                    if not self.occurrences[i].over:
                        self.occurrences[i].handle(self.work, int(i))
                ended = ~np.isin(status, (Status.RUNNING, Status.STIFF))
                self.done = float(np.where(ended, 1.0, self.work.memo["t"] / (runs.t_end or 1.0)).mean())
                report(self.done)
        except KeyboardInterrupt:
            runs.keyboard.pressed = True

    def _failure(self, i: int) -> Failure | None:
        memory, occurrences = self.work.memory, self.occurrences[i]
        status = memory.memo["status"][i]
        if status in (Status.RUNNING, Status.STIFF) or (status == Status.EVENT and not occurrences.over):
            memory.memo["status"][i], memory.memo["t_final"][i] = Status.INTERRUPTED, memory.memo["t"][i]
            memory.y_final[i] = memory.y[i]
            return interruption(float(memory.memo["t"][i]))
        system = self._runs.system
        return occurrences.failure or diagnosis(system, self.work, i)
