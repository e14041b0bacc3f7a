"""Vectors as arrows, torques as arrows that turn: reactions, applied forces, velocities."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from linkwork.view import palette
from linkwork.view.arrow_shapes import turning_arrow
from linkwork.view.body_pieces import turned_to
from linkwork.view.drawing import Drawing
from linkwork.view.moving_batch import add_batch, move_batch, scene_colours
from linkwork.view.overlay import Overlay
from linkwork.view.palette import Rgb
from linkwork.view.piece_poses import Places, WorldPoses
from linkwork.view.quaternion import quaternions
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment

Array = np.ndarray
Vectors: TypeAlias = Callable[[Moment, WorldPoses], tuple[Array, Array]]  # points (N, 3), vectors (N, 3)

LONGEST = 0.22  # of an arrow, per size of the mechanism
_WIDEST = 0.075  # radius of an arrow that turns
_SEEN = 1e-3  # of the largest: what is less is not drawn
_NONE = 1e-9  # size of what is not seen


class Arrows(Overlay):
    """Vectors at points; the longest that was met is drawn as long as all that are longest."""

    def __init__(
        self, server: Any, subject: Subject, word: str, unit: str, colour: Rgb, vectors: Vectors
    ) -> None:
        super().__init__(server, subject.drawing)
        self.word, self.colour, self._unit, self._vectors = word, colour, unit, vectors
        self._node = f"/overlays/{word.replace(' ', '-')}"
        self._largest = 0.0
        self._above = np.array([0.0, 0.0, _top(subject.drawing)])

    def nodes(self) -> list[Any]:
        node = self._server.scene.add_arrows(
            self._node,
            np.zeros((1, 2, 3)),
            scene_colours(self._server.scene, self.colour),
            shaft_radius=0.004 * self._size,
            head_radius=0.010 * self._size,
            head_length=0.025 * self._size,
        )
        return [node]

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        points, vectors, lengths = self._measured(moment, poses)
        seen = lengths > _SEEN * self._largest
        self.draw(points[seen] + self._above, vectors[seen] / (self._largest or 1.0))

    def measure(self, moment: Moment, poses: WorldPoses) -> None:
        """Take a moment that is still to come into account: what is longest then is drawn as the longest."""
        self._measured(moment, poses)

    def _measured(self, moment: Moment, poses: WorldPoses) -> tuple[Array, Array, Array]:
        """Return points, vectors and their lengths."""
        points, vectors = self._vectors(moment, poses)
        lengths = np.linalg.norm(vectors, axis=1)
        self._largest = max(self._largest, float(lengths.max(initial=0.0)))
        return points, vectors, lengths

    @property
    def scale(self) -> str:
        return f"{self._largest:.3g} {self._unit}" if self._largest else ""

    def draw(self, points: Array, vectors: Array) -> None:
        """Draw vectors (N, 3), of which the longest ever has length 1."""
        (node,) = self._nodes
        if not len(points):
            points, vectors = np.zeros((1, 3)), np.zeros((1, 3))
        ends = points + vectors * (LONGEST * self._size)
        node.points = np.stack([points, ends], axis=1).astype(np.float32)


class Turns(Arrows):
    """Vectors as arrows that turn about them, as a right hand does."""

    def nodes(self) -> list[Any]:
        size = np.full((1, 3), _NONE)
        node = add_batch(self._server.scene, self._node, turning_arrow(), self.colour, size, side="double")
        return [node]

    def draw(self, points: Array, vectors: Array) -> None:
        (node,) = self._nodes
        sizes = np.linalg.norm(vectors, axis=1) * (_WIDEST * self._size)
        if not len(points):
            points, vectors, sizes = np.zeros((1, 3)), np.zeros((1, 3)), np.array([_NONE])
        turns = quaternions(np.array([turned_to(v) for v in vectors]))
        move_batch(node, points, turns, np.repeat(sizes[:, None], 3, axis=1))


def arrows(server: Any, subject: Subject) -> list[Overlay]:
    """Return the switches of all that is drawn as arrows."""
    drawing = subject.drawing
    numbers = {name: k for k, name in enumerate(drawing.bodies)} | {"ground": -1}

    def reactions(moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        """What joints exert on their children, at the joints."""
        known = subject.reactions(moment)
        marks = [mark for mark in drawing.joints if mark.name in known]
        frames = np.array([mark.on_child for mark in marks]).reshape(-1, 3, 4)
        places = Places([numbers[mark.child] for mark in marks], frames)
        return places.positions(poses), np.array([known[mark.name] for mark in marks]).reshape(-1, 6)

    def velocities(moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        """Of the centres of mass."""
        points = centers(drawing, poses)
        w, v = moment.velocities[:, :3], moment.velocities[:, 3:]
        return points, v + np.cross(w, points - poses.positions[:-1])

    def part(of: Vectors, first: int) -> Vectors:
        def vectors(moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
            points, rows = of(moment, poses)
            return points, rows[:, first : first + 3]

        return vectors

    return [
        Arrows(server, subject, "reactions", "N", palette.REACTION, part(reactions, 3)),
        Turns(server, subject, "reaction torques", "N m", palette.REACTION, part(reactions, 0)),
        Arrows(server, subject, "applied forces", "N", palette.APPLIED, part(subject.applied, 3)),
        Turns(server, subject, "applied torques", "N m", palette.APPLIED, part(subject.applied, 0)),
        Arrows(server, subject, "velocities", "m/s", palette.VELOCITY, velocities),
    ]


def _top(drawing: Drawing) -> float:
    """Return how high arrows of the plane lie so that no body hides them; in space they are as they act."""
    if drawing.space == "space":
        return 0.0
    heights = [piece.pose[2, 3] + 0.5 * float(np.ptp(piece.shell.corners[:, 2])) for piece in drawing.pieces]
    return max(heights, default=0.0)


def centers(drawing: Drawing, poses: WorldPoses) -> Array:
    """Return the centres of mass (B, 3) in the world."""
    return np.einsum("bij,bj->bi", poses.rotations[:-1], drawing.centers) + poses.positions[:-1]
