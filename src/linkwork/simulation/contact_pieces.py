"""Mechanisms with rigid contact that go on to an accuracy in pieces: what `SideBySide` is for others.

Each has a setting of its own, since contacts in their modes are part of it, and they go on one after the
other. Where one begins, and where inputs change, forces do: modes are found anew.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from linkwork.model.state import State
from linkwork.recording.report import Hit
from linkwork.recording.status import Status
from linkwork.simulation import resume
from linkwork.simulation.contact_settings import ContactSettings
from linkwork.simulation.marching import Marching
from linkwork.simulation.rigid_contact_run import ContactOccurrences
from linkwork.simulation.side_by_side import SideBySide
from linkwork.simulation.variant_groups import Alike, Variants

Array = np.ndarray


class ContactMarching(Marching):
    """One mechanism with rigid contact."""

    _setting: ContactSettings

    def __init__(self, *given: Any, **options: Any) -> None:
        self.notes: list[str] = []
        self.settled = False  # whether modes are those of the state and the inputs
        super().__init__(*given, **options)

    def _occurrences(self, i: int) -> ContactOccurrences:
        return ContactOccurrences(self._setting, inf, self._watch, self.notes)

    @property
    def setting(self) -> ContactSettings:
        """What it runs with; contacts are part of it."""
        return self._setting

    def begin(self, which: Any, y: Array, t: float) -> None:
        super().begin(which, y, t)
        self.settled = False

    def settle(self, held: Array) -> None:
        """Find modes anew, if inputs are no longer those that were held, or if it begins."""
        work, occurrences = self.work, self.occurrences[0]
        if work.status(0) != Status.DONE or (self.settled and np.array_equal(held, work.memory.inputs)):
            return
        assert isinstance(occurrences, ContactOccurrences)
        before, t = len(occurrences.happened), float(work.memo["t_final"][0])
        y = occurrences.settle(t, work.memory.y_final[0].copy(), work.memory.inputs[0])
        work.memory.y_final[0] = y
        occurrences.look_anew(work, 0)
        if not self.settled:
            work.memory.y[0] = y
            happened = occurrences.happened
            happened[before:] = [event for event in happened[before:] if isinstance(event, Hit)]
        self.settled = True


class ContactPieces(SideBySide):
    """N mechanisms with rigid contact, to an accuracy."""

    parts: list[ContactMarching]  # type: ignore[assignment]

    def _groups(self, count: int, variants: Variants | None) -> Sequence[Alike]:
        models = variants.models if variants else [self._setting.system.model] * count
        words = self._setting.words
        return [Alike(ContactSettings(model, words), np.array([k])) for k, model in enumerate(models)]

    def _part(
        self,
        group: Alike,
        begin: tuple[Array, float, Array],
        alone: bool,
        times: Array,
        variants: Variants | None,
    ) -> Marching:
        y, t, inputs = (x[group.members] if isinstance(x, np.ndarray) else x for x in begin)
        given = group.setting, y, t, inputs, self._keyboard, self.watch
        return ContactMarching(
            *given, alone=True, times=times, members=group.members, setting_of=lambda k: group.setting
        )

    def _open(self, k: int, t_end: float) -> bool:
        self.parts[k].settle(self._held[k])
        return super()._open(k, t_end)

    def _together(self, run: Callable[[int, float], Any], t_end: float) -> list[Any]:
        return [run(k, t_end) for k in range(len(self.parts))]

    def notes(self, k: int) -> list[str]:
        """Say in words what is odd about mechanism k."""
        return self.parts[k].notes

    def memory(self, k: int) -> dict[str, Array]:
        """Return what mechanism k remembers, to go on bit for bit."""
        part = self.parts[k]
        return resume.memory(part.work, part.setting.key) | part.setting.memory()

    def follow(self, start: State) -> None:
        """Let the only mechanism, which is at a start, go on bit for bit as the run that led there."""
        (part,) = self.parts
        if part.setting.recall(start.memory):
            super().follow(start)
            part.settled = bool(part.work.memo["accepted"][0]) or part.work.memo["t"][0] < start.t

    def arrays(self) -> dict[str, Array]:
        """Return all that is needed to go on bit for bit."""
        found = super().arrays() | {"settled": np.array([part.settled for part in self.parts], float)}
        for k, part in enumerate(self.parts):
            found |= {f"{k}/{name}": array for name, array in part.setting.memory().items()}
        return found

    def recall(self, arrays: Mapping[str, Array], events: Sequence[Sequence[Any]]) -> None:
        """Become what `arrays` gave; `events` are those that have happened so far."""
        super().recall(arrays, events)
        for k, (part, settled) in enumerate(zip(self.parts, arrays["settled"].tolist(), strict=True)):
            own = {name.removeprefix(f"{k}/"): x for name, x in arrays.items() if name.startswith(f"{k}/")}
            part.setting.recall({**own, "key": part.setting.key})
            part.settled = bool(settled)
