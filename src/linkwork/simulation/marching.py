"""Mechanisms that one thread marches: in SIMD lanes, with what happens to them, and why some cannot go on."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from linkwork.dynamics.load_code import Answer, answers, raised
from linkwork.model.model import Model
from linkwork.native import store
from linkwork.recording.status import Status
from linkwork.simulation import integration
from linkwork.simulation.event_log import Occurrences
from linkwork.simulation.failure import Failure, diagnosis, failed, interruption
from linkwork.simulation.integration import Work
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.law_watch import LawWatch, no_function, other_answer
from linkwork.simulation.polling import Keyboard, Pace, raise_interrupts
from linkwork.simulation.problem import Problem
from linkwork.simulation.run_settings import RunSettings

Array = np.ndarray

NEVER = np.array([inf])
_REMEDY = "what changes on the way is an input: let it read lw.Input(...), and write that"


class Marching:
    """Some of the mechanisms of runs, from states y (N, n) at time t."""

    def __init__(
        self,
        setting: RunSettings,
        y: Array,
        t: float,
        inputs: Array,
        keyboard: Keyboard,
        watch: LawWatch,
        *,
        times: Array = NEVER,
        alone: bool = False,
        members: Array | None = None,
        constants: Array | None = None,
        setting_of: Callable[[int], RunSettings] | None = None,
    ):
        """Begin; samples are wanted at `times`. A mechanism that is `alone` needs no lanes.

        In a batch of variants these are its `members`, with numbers of their own (N, ...), and each has a
        setting as if it ran alone.
        """
        self._setting, self._keyboard, self._watch = setting, keyboard, watch
        self.members = np.arange(len(y)) if members is None else members
        self._setting_of = setting_of or (lambda k: setting)
        self._own = constants is not None
        one = alone or METHODS[setting.chosen.method].implicit
        self.problem = setting.problem(1 if one else store.lanes(), self._own)
        self.work = Work(
            self.problem, y, t, times, len(times), inputs, () if constants is None else constants
        )
        self.occurrences = [self._occurrences(i) for i in range(len(y))]
        self.failures: list[Failure | None] = [None] * len(y)
        self.done = 0.0  # part of the way
        self._answers: list[Answer] = []  # of laws that are called

    def _occurrences(self, i: int) -> Occurrences:
        return Occurrences(lambda: self.model(i), self._setting.chosen, inf, self._watch)

    def model(self, i: int) -> Model:
        """Return the model of a mechanism, by its number here."""
        return self._setting_of(int(self.members[i])).system.model

    def begin(self, which: Any, y: Array, t: float) -> None:
        """Begin anew with some mechanisms, in states y (..., n); they wait for a piece to be opened."""
        self.work.place(which, y, t)
        self.work.memo["status"][which] = Status.DONE
        for i in np.arange(len(self.failures))[which].tolist():
            self.failures[i] = None
            self.occurrences[i] = self._occurrences(i)

    def march(self, t_end: float, report: Callable[[float], None] = lambda part: None) -> None:
        """Go on with all mechanisms that are RUNNING until they are DONE, at t_end, or cannot go on."""
        raised.__dict__.pop("error", None)
        answers.kept = self._answers
        if self._has_other_laws(f"since it was asked last; {_REMEDY}"):
            return
        for occurrences in self.occurrences:
            occurrences.t_end = t_end
        self._march(self.problem, t_end, report)
        stiff = np.flatnonzero(self.work.memo["status"] == Status.STIFF)
        if len(stiff):
            self.work.memo["status"][stiff] = Status.RUNNING
            self._march(self._setting.problem(1, self._own), t_end, report)
        for i in np.flatnonzero(self.work.memo["status"] != Status.DONE):
            self.failures[i] = self.failures[i] or self._failure(int(i))
        self._has_other_laws("asked again at the end")

    def _has_other_laws(self, when: str) -> bool:
        """Let all mechanisms fail, if a law that was called answers otherwise now; return whether it does."""
        name, words = other_answer(self._watch)
        for i in np.flatnonzero([bool(name) and failure is None for failure in self.failures]):
            t = float(self.work.memo["t_final"][i])
            self.failures[i] = failed(Status.LAW_CHANGED, t, name, f"{words} ({when})")
            if self.work.status(int(i)) == Status.RUNNING:
                self.work.memo["status"][i] = Status.LAW_CHANGED
        return bool(name)

    def _march(self, problem: Problem, t_end: float, report: Callable[[float], None]) -> None:
        keyboard, pace, status = self._keyboard, Pace(), self.work.memo["status"]
        try:
            self._handle_events()
            while not keyboard.pressed and (status == Status.RUNNING).any():
                pace.start()
                pace.took(integration.march(problem, self.work, t_end, pace.budget))
                raise_interrupts()
                if no_function():
                    break
                self._handle_events()
                ended = ~np.isin(status, (Status.RUNNING, Status.STIFF))
                self.done = float(np.where(ended, 1.0, self.work.memo["t"] / (t_end or 1.0)).mean())
                report(self.done)
        except KeyboardInterrupt:
            keyboard.pressed = True

    def _handle_events(self) -> None:
        for i in np.flatnonzero(self.work.memo["status"] == Status.EVENT):
            if not self.occurrences[i].over:
                self.occurrences[i].handle(self.work, int(i))

    def _failure(self, i: int) -> Failure | None:
        memory, occurrences = self.work.memory, self.occurrences[i]
        status, error = memory.memo["status"][i], getattr(raised, "error", (None,))[-1]
        if isinstance(error, KeyboardInterrupt) and status == Status.NOT_FINITE:
            status = Status.RUNNING  # of a law, which was interrupted
        if status in (Status.RUNNING, Status.STIFF) or (status == Status.EVENT and not occurrences.over):
            memory.memo["status"][i], memory.memo["t_final"][i] = Status.INTERRUPTED, memory.memo["t"][i]
            memory.y_final[i] = memory.y[i]
            if failure := no_function():
                memory.memo["status"][i] = failure.status
                return failure
            return interruption(float(memory.memo["t"][i]))
        return occurrences.failure or diagnosis(self._setting_of(int(self.members[i])).system, self.work, i)
