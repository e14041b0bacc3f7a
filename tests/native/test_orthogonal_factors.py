"""The shortest least-squares solution is that of the singular values, whatever the shape and the rank."""

import numpy as np
import pytest

from linkwork.native.numba_functions import doubles, entry
from linkwork.native.orthogonal_factors import shortest


@entry("int64", "float64[:, ::1]", "float64[::1]", "float64[::1]", "int64[::1]", "float64[::1]", "float64")
def solve(A, b, y, order, head, weak):
    return shortest(doubles(A.ctypes.data), A.shape[0], A.shape[1], b, y, order, head, weak)


@pytest.mark.parametrize(
    ("m", "n", "r"), [(1, 1, 1), (5, 5, 5), (5, 5, 2), (3, 7, 3), (7, 3, 2), (6, 8, 4), (4, 4, 0)]
)
def test_it_is_the_one_of_singular_values(m, n, r):
    generator = np.random.default_rng(m + 10 * n + 100 * r)
    A = generator.normal(size=(m, r)) @ generator.normal(size=(r, n))
    b = generator.normal(size=m)
    y, order, x = np.zeros(n), np.zeros(n, np.int64), np.zeros(n)
    assert solve(A.copy(), b.copy(), y, order, np.zeros(n), 1e-10) == r
    x[order] = y
    assert x == pytest.approx(np.linalg.lstsq(A, b, rcond=1e-10)[0], abs=1e-11)
