"""The setting of a run to an accuracy with rigid contact, rigid stops or dry friction of joints.

Its problem, and contacts that are its own.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from linkwork.contact_dynamics.detection.colliding_bodies import meeting
from linkwork.contact_dynamics.detection.pair_table import pair_table
from linkwork.contact_dynamics.event_driven.contact_tasks import MARGINS
from linkwork.contact_dynamics.event_driven.mode_transitions import Settling
from linkwork.contact_dynamics.event_driven.smooth_motion import SmoothMotion
from linkwork.contact_dynamics.event_driven.state_at_event import MaterialLaw
from linkwork.contact_dynamics.event_driven.touching import Surfaces
from linkwork.mechanism.contact import impact_law
from linkwork.model.model import Model
from linkwork.simulation.contact_programs import ContactPrograms
from linkwork.simulation.options import GivenOptions
from linkwork.simulation.problem import Problem
from linkwork.simulation.restoring import PROJECTED
from linkwork.simulation.run_settings import RunSettings
from linkwork.tree.tree import Tree

Array = np.ndarray

_FALLING = -1


class ContactSettings(RunSettings):
    """What such a run needs; it belongs to one run."""

    with_contact = True

    def __init__(self, model: Model, words: GivenOptions) -> None:
        super().__init__(model, words)
        self._check()
        mechanism = model.mechanism
        world = meeting(mechanism)
        table = pair_table(mechanism, world)
        surfaces = Surfaces(model, world)
        self.motion = SmoothMotion(surfaces, surfaces.rows(table))
        law, shapes = impact_law(mechanism), surfaces.detection.table
        numbers = (
            table.kind,
            table.numbers,
            shapes.kind,
            shapes.size,
            shapes.points,
            surfaces.detection.shapes.local,
        )
        self._about = law, *(array.tobytes() for array in numbers)
        self.settling = Settling(self.motion, MaterialLaw(table), self.chosen.accuracy, law)

    def _check(self) -> None:
        """Refuse what this way through time does not follow."""
        if self.words.loops != PROJECTED:
            raise ValueError(
                f"loops {self.words.loops!r} with rigid contact or stops; leave it out: loops are kept closed"
            )

    def _tree(self, model: Model) -> Tree:
        return model.smooth_touching_tree

    def _problem(self, lanes: int, own: bool) -> Problem:
        plain = super()._problem(lanes, own)
        self.programs = ContactPrograms(self.motion, plain.programs, len(plain.directions), plain.inputs)
        return replace(
            plain,
            programs=self.programs.programs,
            row_weights=[*np.atleast_1d(plain.row_weights), 1.0 / self.motion.size],
            weak=[*np.atleast_1d(plain.weak), 1e-12],
            directions=[*plain.directions, *(_FALLING for _ in MARGINS)],
            central=True,
        )

    @property
    def at_once(self) -> int:  # type: ignore[override]
        return 0

    def memory(self) -> dict[str, Array]:
        """Return what contacts remember."""
        return {f"contact/{name}": array for name, array in self.motion.active.memory().items()}

    def recall(self, memory: Mapping[str, Array] | None) -> bool:
        """Let contacts be what a memory says; return whether it is one of such a run."""
        if memory is None or not np.array_equal(memory.get("key", ()), self.key):
            return False
        own = {name.removeprefix("contact/"): x for name, x in memory.items() if name.startswith("contact/")}
        self.motion.active.recall(own)
        return True
