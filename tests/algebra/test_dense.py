"""The inverse of small symmetric positive matrices."""

import mpmath as mp
import numpy as np
import pytest

from linkwork.algebra.dense import inverse_positive
from linkwork.algebra.number import is_zero
from linkwork.trace.expression import Graph


def positive(n: int, seed: int) -> np.ndarray:
    """Return a random symmetric positive definite matrix of 50 digits."""
    rng = np.random.default_rng(seed)
    A = np.array([[mp.mpf(x) for x in row] for row in rng.normal(size=(n, n))], dtype=object)
    return A @ A.T + np.diag([mp.mpf(1)] * n)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_the_inverse_times_the_matrix_is_one(numbers, n):
    A = positive(n, n)
    upper = list(zip(*np.triu_indices(n), strict=True))
    if numbers.kind == "sympy":
        upper = upper[-4:]  # the other entries are known numbers: expressions of all 21 grow too fast

    def formula(*x):
        full = A.tolist()
        for (i, j), value in zip(upper, x, strict=True):
            full[i][j] = full[j][i] = value
        return inverse_positive(full)

    exact = mp.inverse(mp.matrix(A.tolist()))
    numbers.check(formula, [A[i, j] for i, j in upper], [[exact[i, j] for j in range(n)] for i in range(n)])


def test_of_nothing_is_nothing():
    assert inverse_positive([]) == []


def test_the_inverse_of_a_diagonal_matrix_is_diagonal():
    a, b, c = Graph().symbols("abc")
    inverse = inverse_positive([[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]])
    for i, row in enumerate(inverse):
        for j, x in enumerate(row):
            assert is_zero(x) == (i != j)


def test_an_ill_conditioned_matrix_is_inverted_as_well_as_its_condition_allows():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    A = (Q * np.logspace(0, 8, 6)) @ Q.T
    A = 0.5 * (A + A.T)
    exact = mp.inverse(mp.matrix(A.tolist()))
    got = np.array(inverse_positive(A.tolist()))
    error = max(abs(float(mp.mpf(got[i, j]) - exact[i, j])) for i in range(6) for j in range(6))
    assert error < 1e-7
