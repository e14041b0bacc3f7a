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
    moved: Callable[[Array, Array], Array]  # q, change -> q there, quaternions at length one
    equations: Callable[[Array], tuple[Array, Array]]  # q -> weighted rows (rows, nv), mass matrix
    weights: Array  # (rows,) one over the normal size of each gap
    scale: Array  # (nv,) normal size of each coordinate


def assemble(closing: Closing, q: Array, tolerance: float) -> tuple[Array, Array]:
    """Return a position near q and its gaps, below the tolerance (in units of 1 / weights) if it can be."""
    chance = np.random.default_rng(0)
    found, gap = _descend(closing, q, tolerance)
    for _ in range(_PUSHES):
        if _size(gap, closing) <= tolerance:
            break
        push = 0.3 * closing.scale * chance.normal(size=closing.scale.size)
        there, gap_there = _descend(closing, closing.moved(found, push), tolerance)
        if _size(gap_there, closing) < _size(gap, closing):
            found, gap = there, gap_there
    return found, gap


def _descend(closing: Closing, q: Array, tolerance: float) -> tuple[Array, Array]:
    """Return where Newton's steps end, and the gaps there."""
    gap, step = closing.correction(q)
    best = _size(gap, closing)
    damping = 0.0
    for _ in range(_STEPS):
        if best <= tolerance:
            break
        if damping:
            step = least_step(*closing.equations(q), gap * closing.weights, damping)
        longest = float(np.max(np.abs(step) / closing.scale, initial=0.0))
        part = min(1.0, _LARGEST / longest) if longest > 0.0 else 1.0
        for _ in range(_HALVINGS):
            there = closing.moved(q, part * step)
            gap_there, step_there = closing.correction(there)
            if _size(gap_there, closing) < best * (1.0 - 1e-3 * part):
                q, gap, step, best = there, gap_there, step_there, _size(gap_there, closing)
                damping = damping / 100.0 if damping > 1e-8 else 0.0
                break
            part *= 0.5
        else:
            if damping > 1e4:
                break
            damping = max(1e-8, 100.0 * damping)
    for _ in range(2):  # Newton's last steps cost little, and take what rounding leaves
        there = closing.moved(q, step)
        gap_there, step_there = closing.correction(there)
        if best > tolerance or not _size(gap_there, closing) < 0.5 * best:
            break
        q, gap, step, best = there, gap_there, step_there, _size(gap_there, closing)
    return q, gap


def _size(gap: Array, closing: Closing) -> float:
    return float(np.linalg.norm(gap * closing.weights))  # a largest one would not fall steadily: axes turn


def least_step(J: Array, M: Array, gap: Array, damping: float = 0.0) -> Array:
    """Return the change x, the least in x.Mx, with J x = -gap; damped, it is Levenberg and Marquardt's."""
    MJ = np.linalg.solve(M, J.T)
    G = J @ MJ
    if not G.any():
        return np.zeros(len(M))  # no row moves anything
    G[np.diag_indices_from(G)] += damping * np.max(np.diag(G), initial=1e-300)
    return -MJ @ np.linalg.lstsq(G, gap, rcond=None if damping else 1e-12)[0]
