"""Single runs of variants, made at once: each with the recording it has when it is made alone."""

import time
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import numpy as np

from linkwork.lazy import kept
from linkwork.lazy_mapping import Later
from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.native import store
from linkwork.recording.channels import Channels, VariantChannel
from linkwork.recording.recording import Recording
from linkwork.recording.report import Report
from linkwork.recording.status import Status
from linkwork.simulation import integration, resume
from linkwork.simulation.failure import diagnosis
from linkwork.simulation.integration import Work
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.polling import Pace, raise_interrupts
from linkwork.simulation.problem import Problem
from linkwork.simulation.rehearsed_calls import Ended
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

    def look(self) -> None:
        """Take the samples that the loop has written, and do what it waits for."""
        self._drain()
        if self.failure is None:
            self._can_go_on()

    def end(self, spent: tuple[float, float]) -> Ended:
        """Make the recording of a run that is at its end; `spent` is time of compiling and of running [s]."""
        self._drain()
        if self.failure is None and self._work.status(0) != Status.DONE:
            self.failure = diagnosis(self._variants.settings[self._k].system, self._work, 0)
        self._finish(spent)
        return Ended(self.recording, self.failure, self.notes)

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


class VariantRecording(Recording):
    """The recording of an ordinary one of many runs: its samples; all else is made when it is asked for.

    A sweep makes thousands of them, and mostly looks at a number of each.
    """

    _taken: Array  # samples: t, q, v, work
    _nq: int
    _make: Callable[[], Recording]

    def __init__(self, rows: Array, nq: int, whole: Callable[[], Recording]) -> None:
        """Take samples t, q, v, work, and how to make the recording as it is of any run."""
        vars(self).update(_taken=rows, _nq=nq, _make=whole, given={}, kept={})

    @kept
    def time(self) -> Array:  # type: ignore[override]
        return self._taken[:, 0].copy()

    @kept
    def q(self) -> Array:  # type: ignore[override]
        return self._taken[:, 1 : 1 + self._nq].copy()

    @kept
    def v(self) -> Array:  # type: ignore[override]
        return self._taken[:, 1 + self._nq : -1].copy()

    @kept
    def work(self) -> Array:  # type: ignore[override]
        return self._taken[:, -1].copy()

    @kept
    def recorded(self) -> Array:  # type: ignore[override]
        return np.ones(len(self._taken), bool)

    @kept
    def _whole(self) -> Recording:
        return self._make()

    @kept
    def _channels(self) -> Channels:  # type: ignore[override]
        return self._whole._channels

    @kept
    def _report(self) -> Report:  # type: ignore[override]
        return self._whole.report

    @kept
    def final(self) -> State:  # type: ignore[override]
        return self._whole.final

    def __reduce__(self) -> tuple[Any, ...]:
        same = self._channels, self.time, self.q, self.v, self.work, self.report, self.final, self.kept
        return Recording, same


class RunsSideBySide:
    """Runs of all variants, from their states through the time, made in this thread.

    Their recordings are made one after the other, as they are asked for, and dropped: so they are not looked
    through by the garbage collector again and again.
    """

    def __init__(self, variants: Variants, starts: list[State], duration: float, times: Array) -> None:
        self._left: dict[int, tuple[_Group, int]] = {}  # those not asked for yet: their group, and place
        for alike in variants.alike:
            group = _Group(variants, alike, starts, duration, times)
            self._left |= {k: (group, i) for i, k in enumerate(alike.members.tolist())}

    def take(self, k: int) -> Ended | None:
        """Return run k at its end, if it was not asked for before."""
        group, i = self._left.pop(k, (None, 0))
        return group.ended(i) if group else None


class _Group:
    """Runs of variants that share their programs."""

    def __init__(
        self, variants: Variants, alike: Alike, starts: list[State], duration: float, times: Array
    ) -> None:
        self._variants, self._alike, self._duration, self._times = variants, alike, duration, times
        self._members: list[int] = alike.members.tolist()
        self._starts = [starts[k] for k in self._members]
        self._watch = LawWatch(alike.setting.system.model, alike.setting.system)
        self._runs: dict[int, VariantRun] = {}  # those that were looked at
        begun = time.perf_counter()
        setting = alike.setting
        lanes = 1 if METHODS[setting.chosen.method].implicit else store.lanes()
        self._problem = setting.problem(lanes, own=True)
        integration.prepare()
        ready = time.perf_counter()
        self._work = self._placed()
        self._march(self._problem)
        status = self._work.memo["status"]
        if (status == Status.STIFF).any():
            status[status == Status.STIFF] = Status.RUNNING
            self._march(setting.problem(1, own=True))
        self._spent = ready - begun, (time.perf_counter() - ready) / len(self._members)
        self._ordinary = self._plainly_done()

    def _placed(self) -> Work:
        """Return all mechanisms at their starts."""
        setting, own, n = self._alike.setting, self._starts, self._problem.n
        y = np.array([[*start.q, *start.v, 0.0] for start in own])
        inputs = np.array([input_values(setting.inputs, start.inputs) for start in own])
        cap = len(self._times) or max(_LEAST, min(2048, _ROOM // (len(own) * (n + 1))))
        constants = () if self._alike.constants is None else self._alike.constants
        return Work(self._problem, y, own[0].t, self._times, cap, inputs, constants)

    def _march(self, problem: Problem) -> None:
        pace, status, t_end = Pace(), self._work.memo["status"], self._starts[0].t + self._duration
        while (status == Status.RUNNING).any():
            pace.start()
            pace.took(integration.march(problem, self._work, t_end, pace.budget))
            raise_interrupts()
            for i in np.flatnonzero((status == Status.EVENT) | (status == Status.BUFFER_FULL)).tolist():
                if not (run := self._run(i)).is_over:
                    run.look()

    def _run(self, i: int) -> VariantRun:
        """Return one of the runs, as it is now."""
        if i not in self._runs:
            run = VariantRun(
                self._variants, self._members[i], self._starts[i], self._duration, self._times, self._watch
            )
            run.attach(self._problem, self._work.alone(i))
            self._runs[i] = run
        return self._runs[i]

    def _plainly_done(self) -> list[bool]:
        """Return which runs came to their end without anything that is worth a look."""
        memo, setting = self._work.memo, self._alike.setting
        odd = np.isfinite(self._work.memory.bad_t) | is_laborious(memo["accepted"], memo["rejected"])
        odd |= (memo["status"] != Status.DONE) | bool(setting.system.tree.loops or setting.chosen.step)
        odd[list(self._runs)] = True
        return (~odd).tolist()

    def ended(self, i: int) -> Ended:
        if not self._ordinary[i]:
            return self._run(i).end(self._spent)
        rows, nq = self._work.samples(i), self._alike.setting.system.model.nq
        return Ended(VariantRecording(rows, nq, lambda: self._run(i).end(self._spent).recording))
