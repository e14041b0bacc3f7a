"""Single runs of variants, made at once: each with the recording it has when it is made alone."""

import time
from collections.abc import Callable, Mapping
from math import isfinite

import numpy as np

from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.native import store
from linkwork.recording.channels import Channels, VariantChannel
from linkwork.recording.lazy_sequence import Later
from linkwork.recording.report import Report
from linkwork.recording.status import Status
from linkwork.simulation import integration, resume
from linkwork.simulation.failure import diagnosis
from linkwork.simulation.integration import Work
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.polling import Pace, raise_interrupts
from linkwork.simulation.problem import Problem
from linkwork.simulation.single_run import OneRun, StepsBetween
from linkwork.simulation.statistics import Statistics, is_laborious
from linkwork.simulation.variant_groups import Alike, Variants

Array = np.ndarray

_ROOM = 2**22  # numbers that the loop can write as samples of all before it must be emptied
_LEAST = 16  # samples of each that have room


class VariantRun(OneRun):
    """A run of variant k; it shares programs with others, and its model is compiled when it is needed."""

    def __init__(
        self, variants: Variants, k: int, start: State, duration: float, times: Array, watch: LawWatch
    ):
        super().__init__(variants.shared(k), start, duration, times, None, watch)
        self._variants, self._k = variants, k
        self._occurrences.model = lambda: variants.models[k]

    def attach(self, problem: Problem, work: Work) -> None:
        """Take the part of a run of many that is this one's."""
        self._problem, self._work, self._y = problem, work, work.memory.y[0].copy()
        self.spent = 0.0, 0.0  # time of compiling and of running [s]

    def look(self) -> None:
        """Take the samples that the loop has written, and do what it waits for."""
        self._drain()
        if self.failure is None:
            self._can_go_on()

    def end(self) -> OneRun:
        """Make the recording of a run that has been through its time."""
        self._drain()
        if self.failure is None and self._work.status(0) != Status.DONE:
            self.failure = diagnosis(self._variants.settings[self._k].system, self._work, 0)
        self._finish(self.spent)
        return self

    @property
    def is_over(self) -> bool:
        """Whether an event, or a failure, has ended it."""
        return self._occurrences.over or self.failure is not None

    def _account(self) -> Statistics:
        """Return what judges the run: its own model, where a model is asked."""
        memory, memo = self._work.memory, self._work.memo[0]
        odd = isfinite(memory.bad_t[0]) or is_laborious(float(memo["accepted"]), float(memo["rejected"]))
        asked = odd or self._setting.system.tree.loops or self._setting.chosen.step
        return self._variants.settings[self._k].account if asked else self._setting.account

    def _memory(self) -> Mapping[str, Array]:
        kept, settings, k = resume.memory(self._work, np.empty(0)), self._variants.settings, self._k
        return Later(lambda: {**kept, "key": settings[k].key})

    def _channels(self, times: Array) -> Channels:
        between = StepsBetween(self._setting.words)
        return VariantChannel(
            self._variants.models, self._k, self._setting.layout, self._start.inputs, between
        )

    def _reporting(self, report: Callable[[], Report]) -> Callable[[], Report]:
        return lambda: self._variants.report(self._k, report())


def run_side_by_side(
    variants: Variants, starts: list[State], duration: float, times: Array
) -> dict[int, VariantRun]:
    """Take all variants from their states through the time, in this thread; `end` makes their recordings.

    Recordings of thousands that are made one after the other, as they are asked for, and dropped, are not
    looked through by the garbage collector again and again.
    """
    found: dict[int, VariantRun] = {}
    for group in variants.alike:
        watch = LawWatch(group.setting.system.model, group.setting.system)
        runs = {k: VariantRun(variants, k, starts[k], duration, times, watch) for k in group.members.tolist()}
        _run(group, [*runs.values()], starts, duration, times)
        found |= runs
    return found


def _run(group: Alike, runs: list[VariantRun], starts: list[State], duration: float, times: Array) -> None:
    begun = time.perf_counter()
    setting, own = group.setting, [starts[k] for k in group.members.tolist()]
    problem = setting.problem(1 if METHODS[setting.chosen.method].implicit else store.lanes(), own=True)
    y = np.array([[*start.q, *start.v, 0.0] for start in own])
    inputs = np.array([input_values(setting.inputs, start.inputs) for start in own])
    cap = len(times) or max(_LEAST, min(2048, _ROOM // (len(own) * (problem.n + 1))))
    t_end = own[0].t + duration
    integration.prepare()
    ready = time.perf_counter()
    work = Work(problem, y, own[0].t, times, cap, inputs, () if group.constants is None else group.constants)
    for i, run in enumerate(runs):
        run.attach(problem, work.alone(i))
    _march(problem, work, runs, t_end)
    stiff = np.flatnonzero(work.memo["status"] == Status.STIFF)
    if len(stiff):
        work.memo["status"][stiff] = Status.RUNNING
        _march(setting.problem(1, own=True), work, runs, t_end)
    spent = ready - begun, (time.perf_counter() - ready) / len(runs)
    for run in runs:
        run.spent = spent


def _march(problem: Problem, work: Work, runs: list[VariantRun], t_end: float) -> None:
    pace, status = Pace(), work.memo["status"]
    while (status == Status.RUNNING).any():
        pace.start()
        pace.took(integration.march(problem, work, t_end, pace.budget))
        raise_interrupts()
        for i in np.flatnonzero((status == Status.EVENT) | (status == Status.BUFFER_FULL)):
            if not runs[i].is_over:
                runs[i].look()
