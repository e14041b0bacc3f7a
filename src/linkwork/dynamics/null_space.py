"""Free motions and idle forces <- the equations of the loops: their rank by singular values.

The equations J come without units: lengths are measured in that of their loop, so that what is near 1 is of
normal size, and a singular value below `RANK` (of the largest, or of one) is zero. What J does not see are
the free motions, J x = 0; what no motion feels are the idle forces, y J = 0, one per equation too many.
"""

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

RANK = 1e-6


@dataclass(frozen=True)
class Split:
    """The singular values of equations, and the spaces that belong to them; of one position or of many."""

    sizes: Array  # (..., min(rows, nv)) singular values, largest first
    rank: Array  # (...)
    left: Array  # (..., rows, rows) orthonormal; those from the rank on are idle forces
    right: Array  # (..., nv, nv) orthonormal columns; those from the rank on are free motions

    def motions(self, rank: int) -> Array:
        """Return an orthonormal basis of the free motions: (..., nv, nv - rank)."""
        return self.right[..., :, rank:]

    def idle(self, rank: int) -> Array:
        """Return an orthonormal basis of the idle forces: (..., rows, rows - rank)."""
        return self.left[..., :, rank:]

    def least(self, rank: int, right: Array) -> Array:
        """Return the least x with J x = right, as far as the first singular values go: (..., nv)."""
        along = np.swapaxes(self.left[..., :, :rank], -1, -2) @ right[..., None]
        return (self.right[..., :, :rank] @ (along / self.sizes[..., :rank, None]))[..., 0]


def split(J: Array) -> Split:
    """Return rank, free motions and idle forces of equations without units: (..., rows, nv)."""
    rows, nv = J.shape[-2:]
    if not rows or not nv:
        batch = J.shape[:-2]
        left, right = (np.broadcast_to(np.eye(n), (*batch, n, n)) for n in (rows, nv))
        return Split(np.zeros((*batch, 0)), np.zeros(batch, int), left, right)
    left, sizes, right = np.linalg.svd(J)
    least = RANK * np.maximum(1.0, sizes.max(axis=-1, keepdims=True))
    return Split(sizes, (sizes > least).sum(axis=-1), left, np.swapaxes(right, -1, -2))


def pivots(motions: Array, preference: Array) -> list[int]:
    """Return which coordinates determine all others best: (..., nv, freedoms) -> as many numbers.

    One after the other the coordinate is taken that moves most by itself, in the worst of the positions, when
    those taken before stand still (Gram and Schmidt, with pivoting); `preference` multiplies how much.
    """
    if motions.shape[-1] == motions.shape[-2]:  # all of them, as in a tree
        return list(range(motions.shape[-1]))
    left = np.array(motions, ndmin=3)
    taken: list[int] = []
    for _ in range(left.shape[-1]):
        lengths = np.linalg.norm(left, axis=-1).min(axis=0) * preference
        best = int(np.argmax(np.round(lengths, 9)))  # the first of those that are equal
        taken.append(best)
        direction = left[:, best, :]
        direction = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
        left = left - (left @ direction[..., None]) * direction[:, None, :]
    return taken
