"""Lines along bodies that are so thin beside the whole that a picture of all of it would lose them.

A line is as wide on every page, however far away: it is seen where its body is thinner than that, and lies
inside the body where it is not.
"""

from typing import Any

import numpy as np

from linkwork.view import palette
from linkwork.view.body_appearance import Looks
from linkwork.view.drawing import Drawing
from linkwork.view.drawn_pieces import Piece
from linkwork.view.overlay import Overlay
from linkwork.view.piece_poses import Places, WorldPoses
from linkwork.view.trajectory import Moment

Array = np.ndarray

_THIN = 0.004  # width of a body that may be lost, per size of the mechanism
_LONG = 3.0  # length of what is a line, per width
_WIDTH = 2.0  # of lines [pixels]


class Slender(Overlay):
    """Thin bodies; not on a switch."""

    def __init__(self, server: Any, drawing: Drawing) -> None:
        super().__init__(server, drawing)
        self._cores = [
            (piece, core)
            for piece in drawing.pieces
            if piece.body != "ground" and (core := _core(piece, _THIN * drawing.size)) is not None
        ]
        self._looks = Looks()
        if self._cores:
            self.switch(True)

    def nodes(self) -> list[Any]:
        looks, numbers = self._looks, {name: k for k, name in enumerate(self._drawing.bodies)}
        shown = [each for each in self._cores if each[0].name not in looks.hidden]
        if not shown:
            return []
        bodies = [numbers[piece.body] for piece, _ in shown]
        self._ends = [
            Places(bodies, np.array([np.column_stack([np.eye(3), core[side]]) for _, core in shown]))
            for side in (0, 1)
        ]
        colours = [
            palette.SELECTED if piece.name == looks.selected else looks.colours.get(piece.name, piece.colour)
            for piece, _ in shown
        ]
        return [
            self._server.scene.add_line_segments(
                "/slender",
                np.zeros((len(shown), 2, 3), np.float32),
                np.repeat(np.array(colours, np.uint8)[:, None], 2, axis=1),
                thickness=_WIDTH,
                thickness_units="screen",
            )
        ]

    def dress(self, looks: Looks) -> None:
        """Show thin bodies as they are to be seen: selected, hidden, coloured."""
        if self._cores:
            self._looks = looks
            self.remove()
            self.switch(True)

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        for node in self._nodes:
            ends = [places.positions(poses) for places in self._ends]
            node.points = np.stack(ends, axis=1).astype(np.float32)


def _core(piece: Piece, thin: float) -> Array | None:
    """Return the ends (2, 3) on its body of the line through a piece, if it is that thin and long."""
    if piece.shell.endless:
        return None
    corners = piece.shell.vertices * piece.shell.scale
    low, high = corners.min(axis=0), corners.max(axis=0)
    order = np.argsort(high - low)
    across, along = (high - low)[order[1]], (high - low)[order[2]]
    if across > thin or along < _LONG * across:
        return None
    ends = np.tile(0.5 * (low + high), (2, 1))
    ends[:, order[2]] = low[order[2]], high[order[2]]
    return ends @ piece.pose[:, :3].T + piece.pose[:, 3]
