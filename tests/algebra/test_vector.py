"""Vectors and matrices of any number, against NumPy arrays of the same numbers."""

import mpmath as mp
import numpy as np
import pytest
import sympy

from linkwork.algebra.vector import Matrix, Symmetric, Vector, minus, plus, product, stacked
from linkwork.trace.expression import Graph

RNG = np.random.default_rng(3)


def draw(n: int) -> list:
    """Return n random numbers of 50 digits."""
    with mp.workdps(50):
        return [mp.mpf(a) + mp.mpf(b) * mp.mpf("1e-17") for a, b in RNG.normal(size=(n, 2))]


def array(numbers) -> np.ndarray:
    return np.array(list(numbers), dtype=object)


def square(numbers, n: int) -> np.ndarray:
    return array(numbers).reshape(n, n)


def symmetric(numbers) -> np.ndarray:
    """Return the matrix whose upper triangle this is."""
    n = {3: 2, 6: 3}[len(numbers)]
    full = np.zeros((n, n), dtype=object)
    full[np.triu_indices(n)] = numbers
    return full + np.triu(full, 1).T


PAIRS = {
    "sum": (lambda a, b: a + b, lambda a, b: a + b),
    "difference": (lambda a, b: a - b, lambda a, b: a - b),
    "negative": (lambda a, b: -a, lambda a, b: -a),
    "multiple": (lambda a, b: a * b[0], lambda a, b: a * b[0]),
    "multiple, number first": (lambda a, b: 3.0 * a, lambda a, b: 3 * a),
    "scalar product": (lambda a, b: a.dot(b), lambda a, b: a @ b),
    "vector product": (lambda a, b: a.cross(b), np.cross),
}


@pytest.mark.parametrize("name", PAIRS)
def test_vectors(numbers, name):
    verb, reference = PAIRS[name]
    x = draw(6)
    numbers.check(
        lambda *x: verb(Vector(x[:3]), Vector(x[3:])), x, np.array(reference(array(x[:3]), array(x[3:])))
    )


MATRICES = {
    "sum": (lambda A, B, x: A + B, lambda A, B, x: A + B),
    "difference": (lambda A, B, x: A - B, lambda A, B, x: A - B),
    "product": (lambda A, B, x: A.product(B), lambda A, B, x: A @ B),
    "transpose": (lambda A, B, x: A.T, lambda A, B, x: A.T),
    "times": (lambda A, B, x: A.times(x), lambda A, B, x: A @ x),
    "transpose times": (lambda A, B, x: A.transpose_times(x), lambda A, B, x: A.T @ x),
    "rotated": (lambda A, B, x: A.rotated(B), lambda A, B, x: B @ A @ B.T),
    "scalars": (lambda A, B, x: A.scalars(), lambda A, B, x: A),
}


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("name", MATRICES)
def test_matrices(numbers, name, n):
    verb, reference = MATRICES[name]
    x = draw(2 * n * n + n)

    def formula(*x):
        A, B = (Matrix.of(x[k + i * n : k + i * n + n] for i in range(n)) for k in (0, n * n))
        return verb(A, B, Vector(x[-n:]))

    numbers.check(formula, x, reference(square(x[: n * n], n), square(x[n * n : -n], n), array(x[-n:])))


SYMMETRIC = {
    "sum": (lambda A, B, R, x: (A + B).full(), lambda A, B, R, x: A + B),
    "difference": (lambda A, B, R, x: (A - B).full(), lambda A, B, R, x: A - B),
    "times": (lambda A, B, R, x: A.times(x), lambda A, B, R, x: A @ x),
    "rotated": (lambda A, B, R, x: A.rotated(R).full(), lambda A, B, R, x: R @ A @ R.T),
    "from rows": (lambda A, B, R, x: Symmetric.of(A.full()), lambda A, B, R, x: A[np.triu_indices(len(A))]),
}


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_matrices(numbers, name, n):
    verb, reference = SYMMETRIC[name]
    half = n * (n + 1) // 2
    x = draw(2 * half + n * n + n)

    def formula(*x):
        A, B = Symmetric(x[:half]), Symmetric(x[half : 2 * half])
        R = Matrix.of(x[2 * half + i * n : 2 * half + i * n + n] for i in range(n))
        return verb(A, B, R, Vector(x[-n:]))

    A, B = symmetric(x[:half]), symmetric(x[half : 2 * half])
    numbers.check(formula, x, reference(A, B, square(x[2 * half : -n], n), array(x[-n:])))


@pytest.mark.parametrize(
    "x", [Graph().symbol("x"), sympy.Symbol("x"), mp.mpf(3)], ids=["traced", "sympy", "mp"]
)
def test_structural_zeros_and_ones_leave_no_trace(x):
    assert product(0.0, x) == 0.0
    assert type(product(x, 0.0)) is float
    assert product(1.0, x) is x
    assert product(x, 1.0) is x
    assert plus(0.0, x) is x
    assert plus(x, 0.0) is x
    assert minus(x, 0.0) is x
    assert Vector((0.0, x)).dot((x, 0.0)) == 0.0
    assert type((-Vector((0.0, x)))[0]) is float
    assert Matrix.identity(3).times((x, 0.0, x)) == (x, 0.0, x)


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError):
        Vector((1.0, 2.0)) + (1.0,)
    with pytest.raises(ValueError):
        Vector((1.0, 2.0)).dot((1.0, 2.0, 3.0))


def test_stacked_puts_components_last():
    assert stacked((1.0, 2.0)).shape == (2,)
    assert stacked((np.zeros((4, 5)), np.ones((4, 5)))).shape == (4, 5, 2)
