"""A run with rigid contact to an accuracy: smooth pieces by the native loop, events in between.

The loop integrates with contacts in fixed modes (`contact_programs`) and locates where one of the functions
`approach`, `hold` and `stop` is used up. Then `Settling` finds the impact, and the modes to go on with.
"""

from collections import deque
from dataclasses import replace

import numpy as np

from linkwork.contact_dynamics.meeting import meeting
from linkwork.contact_dynamics.pair_table import ROLLING, TORSIONAL, PairTable, pair_table
from linkwork.contact_dynamics.settling import MaterialLaw, Settling
from linkwork.contact_dynamics.smooth_motion import SmoothMotion
from linkwork.contact_dynamics.touching import Surfaces
from linkwork.mechanism.contact import impact_law
from linkwork.model.model import Model
from linkwork.model.own_forces import input_values
from linkwork.model.trees import is_rigid_joint
from linkwork.recording.status import Status
from linkwork.simulation.contact_programs import EVENTS, ContactPrograms
from linkwork.simulation.event_log import Occurrences
from linkwork.simulation.failure import failed
from linkwork.simulation.integration import Work
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.options import RunOptions
from linkwork.simulation.problem import Problem
from linkwork.simulation.restoring import PROJECTED
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.single_run import OneRun

Array = np.ndarray

_FALLING = -1
_STORM, _STORM_TIME = 1000, 1e-9  # that many events within this time [s] are too many


class ContactSettings(RunSettings):
    """What a run with contact needs; it belongs to one run."""

    with_contact = True

    def __init__(self, model: Model, words: RunOptions) -> None:
        super().__init__(model, words)
        mechanism = model.mechanism
        world = meeting(mechanism)
        table = pair_table(mechanism, world)
        self._check(table)
        self.motion = SmoothMotion(Surfaces(model, world))
        law = impact_law(mechanism)
        self.settling = Settling(self.motion, MaterialLaw(table), self.chosen.accuracy, law)

    def _check(self, table: PairTable) -> None:
        """Refuse what this way through time does not follow."""
        if any(map(is_rigid_joint, self.system.model.joints.values())):
            raise ValueError("rigid stops and friction_speed=0 go by steps yet: give step=1/60")
        soft = self.system.model.compliant_contacts
        rigid = True if soft is None else soft.row < 0
        if (table.numbers[:, :, [ROLLING, TORSIONAL]].any(axis=2) & rigid).any():
            raise ValueError(
                "rolling= or torsional= of a rigid material goes by steps: give step=1/60, or a stiffness="
            )
        if self.words.loops != PROJECTED:
            raise ValueError(
                f"loops {self.words.loops!r} with rigid contact; leave it out: loops are kept closed"
            )

    def _problem(self, lanes: int, own: bool) -> Problem:
        plain = super()._problem(lanes, own)
        self.programs = ContactPrograms(self.motion, plain.programs, len(plain.directions), plain.inputs)
        return replace(
            plain,
            programs=self.programs.programs,
            row_weights=[*np.atleast_1d(plain.row_weights), 1.0 / self.motion.size],
            weak=[*np.atleast_1d(plain.weak), 1e-12],
            directions=[*plain.directions, *(_FALLING for _ in EVENTS)],
            central=True,
        )

    @property
    def at_once(self) -> int:  # type: ignore[override]
        return 0


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
                self._look_anew(work, i)
            return after
        self._times.append(t)
        if len(self._times) == _STORM and t - self._times[0] < _STORM_TIME:
            words = f"contacts change {_STORM} times within {t - self._times[0]:.3g} s ({EVENTS[number]})"
            self.failure = failed(Status.EVENT_STORM, t, "contact", words)
            work.memo["status"][i] = self.failure.status
            self.over = True
            return None
        after = self.settle(t, y, work.memory.inputs[i])
        work.restart(i, t, after, acted=False)
        self._look_anew(work, i)
        return after

    def _look_anew(self, work: Work, i: int) -> None:
        """Forget on which side of zero functions are that are others after contacts have changed."""
        first, memory = len(self._chosen.events), work.memory
        memory.side[i, first:] = memory.band[i, first:] = memory.span[i, first:] = 0.0

    def settle(self, t: float, y: Array, inputs: Array) -> Array:
        """Return the state after an event; what contacts take from the energy counts as work."""
        model = self.model()
        q, v = y[: model.nq], y[model.nq : -1]
        found = self._settings.settling.settle(t, q, v, self._settings.programs.free(inputs))
        work = float(model.energy(found.q, found.v) - model.energy(q, v))
        hits = dict.fromkeys(" hits ".join(blow.bodies) for blow in found.blows)
        self.happened += [(t, what) for what in (*hits, *found.changes)]
        self._notes += found.notes
        return np.array([*found.q, *found.v, y[-1] + work])


class ContactRun(OneRun):
    """A run of one mechanism with rigid contact."""

    _setting: ContactSettings

    def _memory(self) -> None:  # type: ignore[override]
        """Return nothing: modes are found anew from the state where another run goes on."""

    def _begin(self) -> None:
        model, setting = self._model, self._setting
        self._occurrences = occurrences = ContactOccurrences(setting, self._t_end, self._watch, self.notes)
        inputs = input_values(setting.inputs, self._start.inputs)
        y = occurrences.settle(self._start.t, np.array([*self._start.q, *self._start.v, 0.0]), inputs)
        occurrences.happened = [event for event in occurrences.happened if " hits " in event[1]]
        self._start = replace(self._start, q=y[: model.nq], v=y[model.nq : -1], memory=None)
        super()._begin()

    def _advance(self, pace: object) -> bool:
        going = super()._advance(pace)  # type: ignore[arg-type]
        if (error := self._setting.programs.error) is not None:
            raise error
        return going
