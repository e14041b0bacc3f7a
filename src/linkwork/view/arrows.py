"""Vectors as arrows: reactions, applied forces, velocities."""

from abc import abstractmethod
from typing import Any

import numpy as np

from linkwork.view import palette
from linkwork.view.drawing import Drawing
from linkwork.view.forces import Forces
from linkwork.view.motion import Moment
from linkwork.view.overlay import Overlay
from linkwork.view.placing import Places, WorldPoses

Array = np.ndarray

_LONGEST = 0.22  # of an arrow, per size of the mechanism


class Arrows(Overlay):
    """Vectors at points; the longest that was met is as long as all that are longest."""

    colour = palette.REACTION

    def __init__(self, server: Any, drawing: Drawing, forces: Forces) -> None:
        super().__init__(server, drawing)
        self._forces, self._largest = forces, 0.0

    @abstractmethod
    def vectors(self, moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        """Return points (N, 3), and vectors (N, 3)."""

    def nodes(self) -> list[Any]:
        node = self._server.scene.add_arrows(
            f"/overlays/{type(self).__name__.lower()}",
            np.zeros((1, 2, 3)),
            self.colour,
            shaft_radius=0.004 * self._size,
            head_radius=0.010 * self._size,
            head_length=0.025 * self._size,
        )
        return [node]

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        (node,) = self._nodes
        points, vectors = self.vectors(moment, poses)
        lengths = np.linalg.norm(vectors, axis=1)
        self._largest = max(self._largest, float(lengths.max(initial=0.0)))
        seen = lengths > 1e-3 * self._largest if self._largest > 0.0 else np.zeros(len(lengths), bool)
        if not seen.any():
            points, vectors, seen = np.zeros((1, 3)), np.zeros((1, 3)), np.ones(1, bool)
        ends = points[seen] + vectors[seen] * (_LONGEST * self._size / (self._largest or 1.0))
        node.points = np.stack([points[seen], ends], axis=1).astype(np.float32)


class Reactions(Arrows):
    """Forces that joints exert on their children, at the joints."""

    word = "reactions"

    def vectors(self, moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        marks = {mark.name: mark for mark in self._drawing.joints}
        named = [marks[name] for name in self._forces.joint_names]
        numbers = {name: k for k, name in enumerate(self._drawing.bodies)} | {"ground": -1}
        places = Places([numbers[mark.child] for mark in named], np.array([mark.on_child for mark in named]))
        return places.positions(poses), self._forces.reactions(moment)


class Applied(Arrows):
    """The net forces of springs and loads on bodies, at their centres of mass."""

    word = "applied forces"
    colour = palette.APPLIED

    def vectors(self, moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        return centers(self._drawing, poses), self._forces.applied(moment, poses)


class Velocities(Arrows):
    """The velocities of the centres of mass."""

    word = "velocities"
    colour = palette.VELOCITY

    def vectors(self, moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        points = centers(self._drawing, poses)
        w, v = moment.velocities[:, :3], moment.velocities[:, 3:]
        return points, v + np.cross(w, points - poses.positions[:-1])


def centers(drawing: Drawing, poses: WorldPoses) -> Array:
    """Return the centres of mass (B, 3) in the world."""
    return np.einsum("bij,bj->bi", poses.rotations[:-1], drawing.centers) + poses.positions[:-1]
