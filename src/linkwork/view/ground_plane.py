"""The plane that bodies may rest on: it is shown as the floor, not as a slab."""

from dataclasses import dataclass

import numpy as np

from linkwork.view.drawing import Drawing
from linkwork.view.drawn_pieces import Piece

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class GroundPlane:
    """A plane of ground: the piece of the drawing, the direction out of it, and how high it is along that."""

    piece: Piece
    normal: Array  # (3,) unit vector
    height: float  # [m]


def ground_plane(drawing: Drawing) -> GroundPlane | None:
    """Return the first plane that ground has in space, if there is one."""
    if drawing.space == "plane":
        return None
    for piece in drawing.pieces:
        if piece.body == "ground" and piece.shell.endless and len(piece.shell.faces) == 2:
            a, b, c = (piece.shell.corners @ piece.pose[:, :3].T + piece.pose[:, 3])[piece.shell.faces[0]]
            normal = np.cross(b - a, c - a)
            normal /= np.linalg.norm(normal)
            return GroundPlane(piece, normal, float(normal @ a))
    return None


def level_ground(drawing: Drawing) -> GroundPlane | None:
    """Return that plane if it lies level."""
    laid = ground_plane(drawing)
    return laid if laid is not None and laid.normal @ drawing.up > 1.0 - 1e-9 else None
