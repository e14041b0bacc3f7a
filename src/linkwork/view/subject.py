"""What is looked at: a drawing, how it moves, and what is known of its curves and forces.

A recording, a model at rest or running, and a motion of kinematics are subjects alike: pages, films and
pictures know nothing else of them.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.recording.plot import Trace
from linkwork.view.drawing import Drawing
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.trajectory import Moment, Motion

Array = np.ndarray


class Subject:
    """Something that can be shown; what it does not know, it says."""

    def __init__(self, drawing: Drawing, motion: Motion) -> None:
        self.drawing, self.motion = drawing, motion
        self._marks = {mark.name: mark for mark in drawing.joints}

    @property
    def channels(self) -> list[str]:
        """The names of what can be plotted."""
        return []

    def curves(self, names: Sequence[str]) -> tuple[Array, list[Trace]]:
        """Return times, and the curves of channels."""
        return self.motion.times, []

    def reactions(self, moment: Moment) -> Mapping[str, Array]:
        """Return the torque and force (6,) of joints on their children, at the joints, in world axes."""
        raise LinkworkError("reactions are not known here")

    def applied(self, moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        """Return points (N, 3), and torques and forces (N, 6) that act there, in world axes, without gravity.

        Of loads on bodies the net, at the centre of mass; of drives at their joints, on the child.
        """
        raise LinkworkError("applied forces are not known here")

    def gaps(self, moment: Moment) -> Mapping[str, float]:
        """Return by how much joints and constraints are open [m, rad]."""
        raise LinkworkError("loop gaps are not known here")
