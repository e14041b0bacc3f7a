"""Many runs at once, of one mechanism or of variants of it: SIMD lanes, and a part of the runs per thread.

Variants whose formulas are the same share their programs, and each lane has the numbers of its own.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from linkwork.dynamics.load_code import answers, raised
from linkwork.model.model import Model
from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.native import store
from linkwork.recording.batch import Recordings
from linkwork.recording.channels import Channels, VariantChannels
from linkwork.recording.lazy_sequence import Each
from linkwork.recording.report import Report
from linkwork.recording.status import Status
from linkwork.simulation import integration
from linkwork.simulation.event_log import Occurrences
from linkwork.simulation.failure import Failure, diagnosis, failed, interruption
from linkwork.simulation.integration import MEMO, Work
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.law_watch import LawWatch, no_function, other_answer
from linkwork.simulation.polling import Keyboard, Pace, raise_interrupts, results
from linkwork.simulation.problem import Problem
from linkwork.simulation.progress import Progress
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.single_run import StepsBetween
from linkwork.simulation.statistics import NO_LOOPS, Held

Array = np.ndarray

_NAMES = np.array([status.name for status in Status])


@dataclass(frozen=True, eq=False)
class Alike:
    """Mechanisms of a batch that share their programs."""

    setting: RunSettings  # of one of them
    members: Array  # their numbers in the batch
    constants: Array | None = None  # (members, ...) numbers of their own; None: all have those of the model


@dataclass(frozen=True, eq=False)
class Variants:
    """The mechanisms of a batch, if they are not all the same."""

    alike: Sequence[Alike]
    settings: Sequence[RunSettings]  # (N,) of each, as if it ran alone
    models: Sequence[Model]  # (N,)
    q_drawn: Array  # (N, nq)


class ManyRuns:
    """Runs from states q (N, nq), v (N, nv); `run` returns their Recordings."""

    def __init__(
        self,
        setting: RunSettings,
        start: State,
        duration: float,
        times: Array,
        variants: Variants | None = None,
        watch: LawWatch | None = None,
    ):
        self.setting, self.system, self.chosen = setting, setting.system, setting.chosen
        self.watch = watch or LawWatch(setting.system.model, setting.system)
        self.t, self.t_end, self.times = start.t, start.t + duration, times
        self._y = np.hstack([start.q, start.v, np.zeros((len(start.q), 1))])
        self._variants = variants
        self._start_inputs = start.inputs
        values = input_values(setting.inputs, start.inputs)
        self._inputs = np.broadcast_to(values, (len(start.q), len(setting.inputs)))
        self.keyboard = Keyboard()

    def run(self, threads: int) -> Recordings:
        begun = time.perf_counter()
        count = len(self._y)
        workers = max(1, min(threads, -(-count // store.lanes())))
        groups = self._variants.alike if self._variants else [Alike(self.setting, np.arange(count))]
        parts = [part for group in groups for part in self._parts(group, workers)]
        integration.prepare()
        ready = time.perf_counter()
        with self.keyboard, Progress(self.system.model.name) as progress:
            if len(parts) == 1:
                parts[0].run(progress.update)
            else:
                self._in_threads(parts, workers, progress)
        return self._record(parts, (ready - begun, time.perf_counter() - ready))

    def _parts(self, group: Alike, workers: int) -> list["_Part"]:
        """Divide mechanisms that share programs among threads."""
        count = len(group.members)
        pieces = max(1, min(workers, -(-count // store.lanes())))
        edges = np.linspace(0, count, pieces + 1).astype(int)
        return [_Part(self, group, slice(a, b)) for a, b in pairwise(edges)]

    def setting_of(self, k: int) -> RunSettings:
        """Return the setting of run k, as if it ran alone."""
        return self._variants.settings[k] if self._variants else self.setting

    def _in_threads(self, parts: list["_Part"], workers: int, progress: Progress) -> None:
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(part.run) for part in parts]
            results(
                futures,
                self.interrupt,
                lambda: progress.update(sum(part.done for part in parts) / len(parts)),
            )

    def starts(self, members: Array) -> tuple[Array, Array]:
        """Return the states and inputs that runs begin with."""
        return self._y[members], self._inputs[members]

    def interrupt(self) -> None:
        """End all runs at their next look, or before they begin."""
        self.keyboard.pressed = True

    def _record(self, parts: list["_Part"], spent: tuple[float, float]) -> Recordings:
        nq = self.system.model.nq
        order = np.argsort(np.concatenate([part.members for part in parts]))
        rows, filled, ends, weakest = (
            _sorted([getattr(part.work.memory, name) for part in parts], order)
            for name in ("record", "filled", "y_final", "weakest")
        )
        remembered = _sorted([part.work.remembered(slice(None)) for part in parts], order)
        memos = remembered.view(MEMO)[:, 0]
        ended, codes = memos["t_final"].copy(), memos["status"].astype(int)
        filled = np.minimum(filled, np.searchsorted(self.times, ended, side="right"))
        doubts = self._doubts(rows, filled)
        failures = [parts_failure for part in parts for parts_failure in part.failures]
        failures = [failures[k] for k in order]
        happened = [occurrences.happened for part in parts for occurrences in part.occurrences]
        happened = [happened[k] for k in order]
        for k, failure in enumerate(failures):
            if failure:
                codes[k] = failure.status
        held: Sequence[Held] = [NO_LOOPS] * len(rows)
        if self.system.tree.loops:
            held = [
                self.setting_of(k).account.held(numbers, self.times[:count], row[:count, 1 : 1 + nq], near)
                for k, (numbers, row, count, near) in enumerate(
                    zip(remembered, rows, filled, weakest, strict=True)
                )
            ]

        def report(k: int) -> Report:
            events = [event for event in happened[k] if event[0] <= ended[k]]
            notes = [doubts[k]] if doubts[k] and not failures[k] else []
            account = self.setting_of(k).account
            return account.report(remembered[k], held[k], failures[k], spent, events, notes)

        def final(k: int) -> State:
            where = ends[k, :nq], ends[k, nq:-1], float(ended[k])
            return State(*where, None, self._inputs_of(k), self.system.model.slices)

        q, v, work = rows[:, :, 1 : 1 + nq], rows[:, :, 1 + nq : -1], rows[:, :, -1]
        count = len(rows)
        return Recordings(
            self._channels(),
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

    def _channels(self) -> Channels:
        alone = self.setting.channels(self._start_inputs, StepsBetween(self.setting.words))
        return VariantChannels(self._variants.models, alone) if self._variants else alone

    def _inputs_of(self, k: int) -> dict[str, float]:
        return dict(zip(self.setting.inputs, self._inputs[k].tolist(), strict=True))

    def _doubts(self, rows: Array, filled: Array) -> list[str]:
        """Return what is odd about each run, nothing if nothing is."""
        doubts = [""] * len(rows)
        if not self.chosen.step:
            return doubts
        if self._variants:
            return [
                self.setting_of(k).account.nonsense(row[None, :count])[0]
                for k, (row, count) in enumerate(zip(rows, filled, strict=True))
            ]
        for count in np.unique(filled):
            some = np.flatnonzero(filled == count)
            for k, doubt in zip(some, self.setting.account.nonsense(rows[some, :count]), strict=True):
                doubts[k] = doubt
        return doubts


def _sorted(arrays: Sequence[Array], order: Array) -> Array:
    """Return the arrays of all parts as one, in the order of the batch."""
    whole = np.concatenate(arrays)
    return whole if (order[1:] > order[:-1]).all() else whole[order]


class _Part:
    """The runs of one thread."""

    def __init__(self, runs: ManyRuns, group: Alike, which: slice):
        self._runs, self._setting, self.members = runs, group.setting, group.members[which]
        self._y, self._inputs = runs.starts(self.members)
        self._constants = None if group.constants is None else group.constants[which]
        self.occurrences = [
            Occurrences(partial(_model, runs, k), runs.chosen, runs.t_end, runs.watch)
            for k in self.members.tolist()
        ]
        self.failures: list[Failure | None] = [None] * len(self._y)
        self.done = 0.0  # part of the way

    def run(self, report: Callable[[float], None] = lambda part: None) -> None:
        setting, times, own = self._setting, self._runs.times, self._constants is not None
        problem = setting.problem(1 if METHODS[setting.chosen.method].implicit else store.lanes(), own)
        constants = () if self._constants is None else self._constants
        self.work = Work(problem, self._y, self._runs.t, times, len(times), self._inputs, constants)
        raised.__dict__.pop("error", None)
        answers.kept = []
        self._march(problem, report)
        stiff = np.flatnonzero(self.work.memo["status"] == Status.STIFF)
        if len(stiff):
            self.work.memo["status"][stiff] = Status.RUNNING
            self._march(setting.problem(1, own), report)
        for i in np.flatnonzero(self.work.memo["status"] != Status.DONE):
            self.failures[i] = self._failure(int(i))
        name, words = other_answer()
        for i in np.flatnonzero([bool(name) and failure is None for failure in self.failures]):
            t = float(self.work.memo["t_final"][i])
            self.failures[i] = failed(Status.LAW_CHANGED, t, name, f"{words} (asked again at the end)")

    def _march(self, problem: Problem, report: Callable[[float], None]) -> None:
        runs, pace, status = self._runs, Pace(), self.work.memo["status"]
        try:
            while not runs.keyboard.pressed and (status == Status.RUNNING).any():
                pace.start()
                pace.took(integration.march(problem, self.work, runs.t_end, pace.budget))
                raise_interrupts()
                if no_function():
                    break
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
            if failure := no_function():
                memory.memo["status"][i] = failure.status
                return failure
            return interruption(float(memory.memo["t"][i]))
        system = self._runs.setting_of(int(self.members[i])).system
        return occurrences.failure or diagnosis(system, self.work, i)


def _model(runs: ManyRuns, k: int) -> Model:
    return runs.setting_of(k).system.model
