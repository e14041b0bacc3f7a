"""The setting of a run to an accuracy with rigid stops and dry friction of joints, and no rigid contact."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from linkwork.contact_dynamics.joint_motion import JointMotion
from linkwork.contact_dynamics.joint_settling import JointSettling
from linkwork.model.model import Model
from linkwork.simulation.joint_programs import EVENTS, JointPrograms
from linkwork.simulation.options import RunOptions
from linkwork.simulation.problem import Problem
from linkwork.simulation.restoring import PROJECTED
from linkwork.simulation.run_settings import RunSettings
from linkwork.tree.tree import Tree

Array = np.ndarray

_FALLING = -1


class JointSettings(RunSettings):
    """What such a run needs; it belongs to one run."""

    alone = True

    def __init__(self, model: Model, words: RunOptions) -> None:
        super().__init__(model, words)
        if words.loops != PROJECTED:
            raise ValueError(f"loops {words.loops!r} with rigid stops; leave it out: loops are kept closed")
        self.motion = JointMotion(model)
        self.settling = JointSettling(self.motion, self.chosen.accuracy)

    def _tree(self, model: Model) -> Tree:
        return model.smooth_touching_tree

    def _problem(self, lanes: int, own: bool) -> Problem:
        plain = super()._problem(lanes, own)
        self.programs = JointPrograms(self.motion, plain.programs, len(plain.directions), plain.inputs)
        return replace(
            plain,
            programs=self.programs.programs,
            row_weights=[*np.atleast_1d(plain.row_weights), 1.0],
            weak=[*np.atleast_1d(plain.weak), 1e-12],
            directions=[*plain.directions, *(_FALLING for _ in EVENTS)],
            central=True,
        )

    @property
    def at_once(self) -> int:  # type: ignore[override]
        return 0

    def memory(self) -> dict[str, Array]:
        """Return nothing: modes are found anew from the state where another run goes on."""
        return {}

    def recall(self, memory: Mapping[str, Array] | None) -> bool:
        """Return that it does not go on from a memory."""
        return False
