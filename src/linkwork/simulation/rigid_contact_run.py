"""A run with rigid contact to an accuracy: smooth pieces by the native loop, events in between.

The loop integrates with contacts in fixed modes (`contact_programs`) and locates where one of the functions
`approach`, `hold` and `stop` is used up. Then `Settling` finds the impact, and the modes to go on with.
"""

from collections import deque
from dataclasses import replace

import numpy as np

from linkwork.contact_dynamics.event_driven.contact_tasks import MARGINS
from linkwork.model.own_forces import input_values
from linkwork.recording.report import Hit, Impact, hits_of
from linkwork.recording.status import Status
from linkwork.simulation import resume
from linkwork.simulation.checkpoint import CheckpointFile, Kept
from linkwork.simulation.contact_settings import ContactSettings
from linkwork.simulation.event_log import Occurrences
from linkwork.simulation.failure import CONTACT_HINT, failed
from linkwork.simulation.integration import Work
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.single_run import OneRun

Array = np.ndarray

_STORM, _STORM_TIME = 1000, 1e-9  # that many events within this time [s] are too many


class ContactOccurrences(Occurrences):
    """The events of a run with contact: those of the user, and those at which contacts change."""

    def __init__(self, settings: ContactSettings, t_end: float, watch: LawWatch, notes: list[str]) -> None:
        model = settings.system.model
        super().__init__(lambda: model, settings.chosen, t_end, watch)
        self._settings, self._notes = settings, notes
        self._times: deque[float] = deque(maxlen=_STORM)  # of the last changes of contacts

    def handle(self, work: Work, i: int) -> Array | None:
        number = int(work.memo["event"][i]) - len(self._chosen.events)
        t, y = float(work.memo["t_final"][i]), work.memory.y_final[i].copy()
        if number < 0:
            after = super().handle(work, i)
            if after is not None and not np.array_equal(after, y):
                after = work.memory.y[i] = self.settle(t, after, work.memory.inputs[i])
                self.look_anew(work, i)
            return after
        self._times.append(t)
        if len(self._times) == _STORM and t - self._times[0] < _STORM_TIME:
            words = f"contacts change {_STORM} times within {t - self._times[0]:.3g} s ({MARGINS[number]})"
            self.failure = failed(Status.EVENT_STORM, t, "contact", words, hint=CONTACT_HINT)
            work.memo["status"][i] = self.failure.status
            self.over = True
            return None
        after = self.settle(t, y, work.memory.inputs[i])
        work.restart(i, t, after, acted=False)
        self.look_anew(work, i)
        return after

    def look_anew(self, work: Work, i: int) -> None:
        """Forget on which side of zero functions are that are others after contacts have changed."""
        first, memory = len(self._chosen.events), work.memory
        memory.side[i, first:] = memory.band[i, first:] = memory.span[i, first:] = 0.0

    def begin_anew(self, work: Work, i: int) -> None:
        """Find modes anew where mechanism i is, at a point of the mesh: forces have changed."""
        t = float(work.memo["t"][i])
        work.restart(i, t, self.settle(t, work.memory.y[i].copy(), work.memory.inputs[i]), acted=False)
        self.look_anew(work, i)

    def settle(self, t: float, y: Array, inputs: Array) -> Array:
        """Return the state after an event; what contacts take from the energy counts as work."""
        model = self.model()
        q, v = y[: model.nq], y[model.nq : -1]
        found = self._settings.settling.settle(t, q, v, self._settings.programs.free(inputs))
        work = float(model.energy(found.q, found.v) - model.energy(q, v))
        self.happened += hits_of([Impact(*blow) for blow in found.blows])
        self.happened += [(t, what) for what in found.changes]
        self._notes += [note for note in dict.fromkeys(found.notes) if note not in self._notes]
        return np.array([*found.q, *found.v, y[-1] + work])


def kind_of_run(setting: RunSettings) -> type[OneRun]:
    """Return the class of runs with a setting."""
    return ContactRun if isinstance(setting, ContactSettings) else OneRun


class ContactRun(OneRun):
    """A run of one mechanism with rigid contact."""

    _setting: ContactSettings
    _occurrences: ContactOccurrences

    def _memory(self) -> dict[str, Array]:
        return resume.memory(self._work, self._setting.key) | self._setting.memory()

    def _begin(self) -> None:
        model, setting, start = self._model, self._setting, self._start
        self._occurrences = occurrences = ContactOccurrences(setting, self._t_end, self._watch, self.notes)
        inputs = input_values(setting.inputs, start.inputs)
        if not setting.recall(start.memory) or not self._goes_on(inputs):
            y = occurrences.settle(start.t, np.array([*start.q, *start.v, 0.0]), inputs)
            occurrences.happened = [event for event in occurrences.happened if isinstance(event, Hit)]
            self._start = replace(start, q=y[: model.nq], v=y[model.nq : -1], memory=None)
        super()._begin()

    def _goes_on(self, inputs: Array) -> bool:
        """Return whether the memory of the start leads there."""
        return resume.work_until(self._problem, self._setting.key, self._start, inputs) is not None

    def _recall(self, kept: Kept, checkpoint: CheckpointFile) -> None:
        super()._recall(kept, checkpoint)
        self._setting.recall(kept.memory)

    def _call_controllers(self) -> bool:
        before = self._work.memory.inputs.copy()
        if not super()._call_controllers():
            return False
        if not np.array_equal(before, self._work.memory.inputs):
            self._occurrences.begin_anew(self._work, 0)
        return True
