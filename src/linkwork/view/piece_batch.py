"""Pieces of equal triangles on a page: two messages move all of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.view.body_appearance import Looks
from linkwork.view.drawn_pieces import Piece
from linkwork.view.moving_batch import add_batch, move_batch, paint_batch
from linkwork.view.piece_poses import Places, WorldPoses

Array = np.ndarray


def _looks(piece: Piece) -> tuple[Any, ...]:
    """Return what a page shows of a piece beside its triangles and its place."""
    return piece.name, piece.shell.scale, piece.colour, piece.opacity


def places_of(pieces: Sequence[Piece], numbers: Mapping[str, int]) -> Places:
    """Return where pieces are on the bodies of these numbers."""
    return Places(
        [numbers[piece.body] for piece in pieces], np.array([p.pose for p in pieces]).reshape(-1, 3, 4)
    )


class Batch:
    """Pieces of equal triangles."""

    def __init__(
        self,
        server: Any,
        name: str,
        pieces: Sequence[Piece],
        numbers: Mapping[str, int],
        shadows: bool = True,
    ) -> None:
        self.folder = name.rpartition("/")[0]
        self.pieces = pieces
        self._stretched = self._cleared = False  # whether looks differ from the pieces' own
        self._places = places_of(pieces, numbers)
        self._colours = np.array([piece.colour for piece in pieces], np.uint8)
        shape = pieces[0].shell
        self._opacities = np.array([piece.opacity for piece in pieces], np.float32)
        clear = bool((self._opacities < 1.0).any())
        self.handle = add_batch(
            server.scene,
            name,
            (shape.vertices, shape.faces),
            self._colours,
            np.array([piece.shell.scale for piece in pieces]),
            opacities=self._opacities if clear else None,
            side="front" if shape.convex else "double",
            cast_shadow=shadows and not shape.endless,
            receive_shadow=shape.endless,  # on what casts them they would be striped
        )

    def place(self, poses: WorldPoses) -> None:
        move_batch(self.handle, self._places.positions(poses), self._places.rotations(poses))

    def is_of(self, pieces: Sequence[Piece]) -> bool:
        """Whether these pieces look as those that are shown; where they are may differ."""
        return [_looks(piece) for piece in self.pieces] == [_looks(piece) for piece in pieces]

    def dress(self, looks: Looks) -> None:
        """Show the pieces as they are to be seen."""
        names, bodies = [piece.name for piece in self.pieces], [piece.body for piece in self.pieces]
        paint_batch(self.handle, looks.colouring(names, self._colours))
        scales = np.array([piece.shell.scale for piece in self.pieces], np.float32)
        if looks.hidden or self._stretched:
            self.handle.batched_scales = looks.scales(bodies, scales)
            self._stretched = bool(looks.hidden)
        if looks.opacities or self._cleared:
            clear = looks.clearness(names, self._opacities)
            self.handle.batched_opacities = np.ones(len(names), np.float32) if clear is None else clear
            self._cleared = bool(looks.opacities)
