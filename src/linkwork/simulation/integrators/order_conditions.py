"""order <- A, b, c: the conditions of order of Runge-Kutta methods, up to order 4.

Butcher, *Coefficients for the study of Runge-Kutta integration processes* (1963): the numerical and the exact
solution agree up to h^p if the elementary weight of every rooted tree with p or fewer nodes is 1 / density.
With c_i = sum a_ij (rows) they are, tree by tree,

    1   b.1 = 1
    2   b.c = 1/2
    3   b.c^2 = 1/3,   b.A c = 1/6
    4   b.c^3 = 1/4,   b.(c A c) = 1/8,   b.A c^2 = 1/12,   b.A A c = 1/24
"""

from collections.abc import Sequence

import numpy as np

Array = np.ndarray

HIGHEST = 4  # order up to which conditions are checked
_ROUNDED = 1e-10  # of weights that are given with all their digits


def trees(A: Array, c: Array) -> list[tuple[int, Array, float]]:
    """Return (order, what b is multiplied with, what that must be) of every tree."""
    Ac = A @ c
    return [
        (1, np.ones(len(c)), 1.0),
        (2, c, 1 / 2),
        *((3, c**2, 1 / 3), (3, Ac, 1 / 6)),
        *((4, c**3, 1 / 4), (4, c * Ac, 1 / 8), (4, A @ c**2, 1 / 12), (4, A @ Ac, 1 / 24)),
    ]


def order_of(rows: Sequence[Sequence[float]], b: Sequence[float], c: Sequence[float]) -> int:
    """Return the order up to which the conditions hold, HIGHEST at most."""
    A = _square(rows)
    return _first_missed(A, np.asarray(c), np.asarray(b), exact=1.0)


def order_of_estimate(rows: Sequence[Sequence[float]], errors: Sequence[float], c: Sequence[float]) -> int:
    """Return the power of h with which an estimate h sum e_i k_i shrinks, HIGHEST + 1 at most."""
    return 1 + _first_missed(_square(rows), np.asarray(c), np.asarray(errors), exact=0.0)


def _first_missed(A: Array, c: Array, weights: Array, exact: float) -> int:
    missed = [
        order
        for order, tree, value in trees(A, c)
        if abs(weights @ tree - exact * value) > _ROUNDED * max(1.0, float(np.abs(weights) @ np.abs(tree)))
    ]
    return min(missed, default=HIGHEST + 1) - 1


def _square(rows: Sequence[Sequence[float]]) -> Array:
    return np.array([(*row, *(0.0,) * (len(rows) - len(row))) for row in rows], float)
