"""Branches of motion <- the equations of the loops at one position: what can really move.

With N the free motions and W the idle forces of the equations J, a free motion x = N u goes on to second
order only if some acceleration keeps the loops closed, J a = right(x): no idle force may feel the right side,

    W^T right(N u) = 0,

quadratic forms in u. Their real zeros are the tangents of the branches (the second-order cone: Connelly and
Whiteley, SIAM J. Discrete Math. 9, 1996). Where the forms vanish all free motions go on: the equations are
redundant everywhere, as those of a planar linkage of spatial hinges. Where they have no zero, nothing moves:
a shaky structure. Where they have several, the position is a bifurcation. Each tangent is followed for a
small way and the loops closed there; what cannot follow is not a branch. All numbers are without units.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwork.dynamics.null_space import Split, split

Array = np.ndarray

WAYS = (0.04, 0.01, 0.0025, 5e-4)  # how far a tangent is followed, the longest that can be closed
_CLOSED = 1e-11  # a gap; far from the world's origin rounding may leave more, up to
_NEARLY = 1e-8  # this, when Newton's step would be no longer either
_FLAT = 1e-7  # a quadratic form smaller than this is zero
_NEWTON, _DESCENT = 40, 60


@dataclass(frozen=True)
class Surroundings:
    """What is known of a mechanism near a position; all without units."""

    equations: Callable[[Array], Array]  # q -> (rows, nv)
    gaps: Callable[[Array], Array]  # q -> (rows,)
    right: Callable[[Array, Array], Array]  # q, motions (n, nv) -> (n, rows), what J a must be
    moved: Callable[[Array, Array], Array]  # q, change (nv,) -> q there


@dataclass(frozen=True)
class Branch:
    """A way on which the loops stay closed."""

    tangents: Array  # (nv, freedoms) orthonormal
    there: Array  # (nq,) a closed position on it
    rank: int  # of the equations there


def branches(near: Surroundings, q: Array, parts: Split) -> list[Branch]:
    """Return the branches that meet at q, found by chance where they are many; none if nothing moves."""
    rank = int(parts.rank)
    N, W = parts.motions(rank), parts.idle(rank)
    if not N.shape[1]:
        return []
    chance = np.random.default_rng(0)
    if not W.shape[1]:  # all equations count: every free motion goes on
        there = _follow(near, q, N @ _unit(chance.normal(size=N.shape[1])), parts)
        return [Branch(N, q if there is None else there, rank)]
    forms = _quadratic_forms(near, q, N, W)
    candidates = _zeros(forms, chance) if len(forms) else chance.normal(size=(3, N.shape[1]))
    found: list[Branch] = []
    for u in candidates:
        u = _unit(u)
        if any(_belongs(N @ u, branch) for branch in found):
            continue
        there = _follow(near, q, N @ u, parts)
        if there is not None:
            found.append(_branch(near, q, there, u, forms, parts))
    return found


def _quadratic_forms(near: Surroundings, q: Array, N: Array, W: Array) -> Array:
    """Return the independent quadratic forms that idle forces put on free motions: (forms, d, d)."""
    d = N.shape[1]
    first, second = np.triu_indices(d)
    both = N[:, first] + np.where(first == second, 0.0, N[:, second])
    values = near.right(q, both.T) @ W  # (pairs, idle)
    diagonal = values[first == second]
    mixed = np.where((first == second)[:, None], values, 0.5 * (values - diagonal[first] - diagonal[second]))
    _, sizes, rows = np.linalg.svd(mixed.T, full_matrices=False)
    rows = (sizes[:, None] * rows)[sizes > _FLAT * max(1.0, float(sizes.max(initial=0.0)))]
    forms = np.zeros((len(rows), d, d))
    forms[:, first, second] = rows
    forms[:, second, first] = rows
    return forms


def _zeros(forms: Array, chance: np.random.Generator) -> list[Array]:
    """Return unit vectors on which all forms vanish, from chance starts by Newton's method."""
    forms = forms / np.linalg.norm(forms, axis=(1, 2), keepdims=True)
    d = forms.shape[1]
    found = []
    for u in (*np.eye(d), *chance.normal(size=(24 + 8 * min(d, 10), d))):
        u = _unit(u)
        for _ in range(_DESCENT):
            slope = forms @ u  # (forms, d)
            value = slope @ u
            if np.abs(value).max() < 1e-14:
                found.append(u)
                break
            u = u - np.linalg.pinv(2.0 * slope, rcond=1e-9) @ value
            length = float(np.linalg.norm(u))
            if not 1e-3 < length < 1e3:
                break
            u = u / length
    return found


def _follow(near: Surroundings, q: Array, tangent: Array, parts: Split) -> Array | None:
    """Return a closed position a small way along a tangent, on either side; None if there is none."""
    rank = int(parts.rank)
    bend = parts.least(rank, near.right(q, tangent[None])[0])
    for way in WAYS:
        for side in (way, -way):
            there = close(near, near.moved(q, side * tangent + 0.5 * way**2 * bend), 0.5 * way)
            if there is not None:
                return there
    return None


def close(near: Surroundings, q: Array, reach: float) -> Array | None:
    """Return the nearest closed position, if Newton's steps find it within reach."""
    gone = 0.0
    for _ in range(_NEWTON):
        gap = near.gaps(q)
        if np.linalg.norm(gap) <= _CLOSED:
            return q
        change = -np.linalg.pinv(near.equations(q), rcond=1e-9) @ gap
        length = float(np.linalg.norm(change))
        gone += length
        if gone > reach:
            return None
        if max(length, float(np.linalg.norm(gap))) <= _NEARLY:
            return q
        q = near.moved(q, change)
    return None


def _branch(near: Surroundings, q: Array, there: Array, u: Array, forms: Array, parts: Split) -> Branch:
    """Return the branch with the tangent u: the directions on which, with u, all forms vanish.

    They may be fewer than the free motions there: a branch may be singular all along.
    """
    N = parts.motions(int(parts.rank))
    beyond = split(near.equations(there))
    rank = int(beyond.rank)
    flat = _kernel(forms @ u)
    flat = flat @ _kernel((flat.T @ forms @ flat).reshape(-1, flat.shape[1]))
    if flat.shape[1] > N.shape[0] - rank:  # what stops the rest is of higher order
        left, sizes, _ = np.linalg.svd(N.T @ beyond.motions(rank), full_matrices=False)
        flat = left[:, sizes > 0.5]
    if flat.shape[1] > 1:
        some = N @ (flat @ np.random.default_rng(1).normal(size=flat.shape[1]))
        if _follow(near, q, _unit(some), parts) is None:
            flat = u[:, None]
    return Branch(N @ flat, there, rank)


def _kernel(rows: Array) -> Array:
    """Return an orthonormal basis of what all rows vanish on."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, sizes, right = np.linalg.svd(rows)
    return right[int((sizes > 1e-5).sum()) :].T


def _unit(x: Array) -> Array:
    return x / np.linalg.norm(x)


def _belongs(tangent: Array, branch: Branch) -> bool:
    T = branch.tangents
    return bool(np.linalg.norm(tangent - T @ (T.T @ tangent)) < 1e-3)


def trend(near: Surroundings, q: Array, N: Array, number: int, margin: float) -> Array:
    """Return how a singular value, now `margin`, changes per unit of each free motion: (freedoms,)."""
    h = min(1e-4, max(0.1 * margin, 1e-7))  # not beyond where it is zero

    def size(change: Array) -> float:
        return float(np.linalg.svd(near.equations(near.moved(q, change)), compute_uv=False)[number])

    return np.array([(size(h * x) - size(-h * x)) / (2.0 * h) for x in N.T])
