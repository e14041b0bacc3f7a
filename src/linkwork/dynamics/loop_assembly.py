"""A closed position near a given one: Newton's method on the gaps of all loops, weighted by inertia, damped.

Each step is the least change, in the sense of kinetic energy, that would close the gaps were they linear: the
rows of forward dynamics find it at a cost linear in the number of loops. Where it does not bring the loops
nearer to closed, half of it is tried, and then the dense and slow way of Levenberg and Marquardt. A position
in which no small change helps (links that stretch away from each other) is left by a push.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

_STEPS, _HALVINGS, _PUSHES = 100, 8, 8
_LARGEST = 0.5  # step of a coordinate, in units of `scale`


@dataclass(frozen=True)
class Closing:
    """What assembling needs to know of a mechanism."""

    correction: Callable[[Array], tuple[Array, Array]]  # q -> gaps (rows,), change that closes them (nv,)
    size: Callable[[Array, Array], float]  # q, gaps -> how far it is from closed, in units of 1 / weights
    moved: Callable[[Array, Array, float], Array]  # q, change -> q after a part of it, quaternions normal
    equations: Callable[[Array], tuple[Array, Array]]  # q -> weighted rows (rows, nv), mass matrix
    weights: Array  # (rows,) one over the normal size of each gap
    scale: Array  # (nv,) normal size of each coordinate


def assemble(closing: Closing, q: Array, tolerance: float) -> tuple[Array, Array]:
    """Return a position near q and its gaps, below the tolerance (in units of 1 / weights) if it can be."""
    chance = np.random.default_rng(0)
    found, gap = _descend(closing, q, tolerance)
    for _ in range(_PUSHES):
        if closing.size(found, gap) <= tolerance:
            break
        push = 0.3 * closing.scale * chance.normal(size=closing.scale.size)
        there, gap_there = _descend(closing, closing.moved(found, push, 1.0), tolerance)
        if closing.size(there, gap_there) < closing.size(found, gap):
            found, gap = there, gap_there
    return found, gap


def _descend(closing: Closing, q: Array, tolerance: float) -> tuple[Array, Array]:
    """Return where Newton's steps end, and the gaps there."""
    gap, step = closing.correction(q)
    best = closing.size(q, gap)
    damping = 0.0
    for _ in range(_STEPS):
        if best <= tolerance:
            break
        if damping:
            step = least_step(*closing.equations(q), gap * closing.weights, damping)
        longest = float(np.max(np.abs(step) / closing.scale, initial=0.0))
        part = min(1.0, _LARGEST / longest) if longest > 0.0 else 1.0
        for _ in range(_HALVINGS):
            there = closing.moved(q, step, part)
            gap_there, step_there = closing.correction(there)
            size = closing.size(there, gap_there)
            if size < best * (1.0 - 1e-3 * part):
                q, gap, step, best = there, gap_there, step_there, size
                damping = damping / 100.0 if damping > 1e-8 else 0.0
                break
            part *= 0.5
        else:
            if damping > 1e4:
                break
            damping = max(1e-8, 100.0 * damping)
    for _ in range(2):  # Newton's last steps cost little, and take what rounding leaves
        there = closing.moved(q, step, 1.0)
        gap_there, step_there = closing.correction(there)
        size = closing.size(there, gap_there)
        if best > tolerance or not size < 0.5 * best:
            break
        q, gap, step, best = there, gap_there, step_there, size
    return q, gap


def least_step(J: Array, M: Array, gap: Array, damping: float = 0.0) -> Array:
    """Return the change x, the least in x.Mx, with J x = -gap; damped, it is Levenberg and Marquardt's."""
    MJ = np.linalg.solve(M, J.T)
    G = J @ MJ
    if not G.any():
        return np.zeros(len(M))  # no row moves anything
    G[np.diag_indices_from(G)] += damping * np.max(np.diag(G), initial=1e-300)
    return -MJ @ np.linalg.lstsq(G, gap, rcond=None if damping else 1e-12)[0]
