"""Where a ray meets a body."""

from collections.abc import Iterable

import numpy as np

from linkwork.view.drawn_pieces import Piece

Array = np.ndarray


def hit(pieces: Iterable[Piece], pose: Array, origin: Array, direction: Array) -> Array | None:
    """Return where a ray of the world first meets pieces of a body at a pose, in the body's frame.

    By Möller and Trumbore, Fast, minimum storage ray/triangle intersection, 1997, for all triangles at once.
    """
    R, p = pose[:, :3], pose[:, 3]
    o, d = R.T @ (np.asarray(origin) - p), R.T @ np.asarray(direction)
    nearest = np.inf
    for piece in pieces:
        corners = piece.shell.corners @ piece.pose[:, :3].T + piece.pose[:, 3]
        a, b, c = np.moveaxis(corners[piece.shell.faces], 1, 0)
        e, f = b - a, c - a
        h = np.cross(d, f)
        det = (e * h).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            s = o - a
            u = (s * h).sum(axis=1) / det
            w = np.cross(s, e)
            v = (w @ d) / det
            t = (f * w).sum(axis=1) / det
        met = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > 0.0)
        nearest = min(nearest, float(t[met].min(initial=np.inf)))
    return None if np.isinf(nearest) else o + nearest * d
