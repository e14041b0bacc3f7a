"""Lines: eight doubles at a time, each as it would be by itself."""

from fractions import Fraction

import numpy as np
import pytest

from linkwork.native.cache_lines import (
    LINE,
    all_equal,
    fused,
    larger,
    line_at,
    magnitude,
    number_at,
    put_line,
    swapped_by_1,
    swapped_by_2,
    swapped_by_4,
)
from linkwork.native.numba_functions import bits, entry, from_bits, native, native_within


def lines(count: int) -> np.ndarray:
    """Return so many lines of zeros, where lines begin in memory."""
    room = np.zeros((count + 1) * LINE)
    return room[-(room.ctypes.data // 8) % LINE :][: count * LINE].reshape(count, LINE)


@native_within
def _fused(x, y, z):
    return fused(line_at(x), line_at(y), line_at(z))


@entry(None, "int64", "int64", "int64", "int64")
def _combine(x, y, z, out):
    a, b, c = line_at(x), line_at(y), line_at(z)
    put_line(out, a + b)
    put_line(out + 64, a - b)
    put_line(out + 128, a * b)
    put_line(out + 192, a / b)
    put_line(out + 256, _fused(x, y, z))
    put_line(out + 320, magnitude(a))
    put_line(out + 384, larger(a, b))
    put_line(out + 448, larger(all_equal(number_at(z + 16)), c))


@entry(None, "int64", "int64")
def _swap(x, out):
    put_line(out, swapped_by_1(line_at(x)))
    put_line(out + 64, swapped_by_2(line_at(x)))
    put_line(out + 128, swapped_by_4(line_at(x)))


@native
def _one(x, y, z):
    return fused(x, y, z)


@entry(None, "float64", "float64", "float64", "float64[::1]")
def _numbers(x, y, z, out):
    out[0], out[1] = _one(x, y, z), from_bits(bits(x) + 1)


def exact(x: float, y: float, z: float) -> float:
    return float(Fraction(x) * Fraction(y) + Fraction(z))


def test_operations_are_those_of_numbers():
    rng = np.random.default_rng(1)
    given, out = lines(3), lines(8)
    given[:] = rng.normal(size=(3, LINE))
    x, y, z = given
    _combine(*(row.ctypes.data for row in given), out.ctypes.data)
    products = [exact(*numbers) for numbers in given.T]
    assert (x * y + z != products).any()  # else nothing would be seen of the single rounding
    expected = (x + y, x - y, x * y, x / y, products, abs(x), np.maximum(x, y), np.maximum(z[2], z))
    np.testing.assert_array_equal(out, expected)


def test_the_larger_of_what_is_not_a_number_is_the_second():
    given, out = lines(3), lines(8)
    given[0, 0] = given[1, 1] = np.nan
    given[1, 0] = 3.0
    given[1] += 1.0
    _combine(*(row.ctypes.data for row in given), out.ctypes.data)
    np.testing.assert_array_equal(out[6], given[1])


def test_neighbours_change_places():
    given, out = lines(1), lines(3)
    given[0] = np.arange(8.0)
    _swap(given.ctypes.data, out.ctypes.data)
    assert out.tolist() == [[1, 0, 3, 2, 5, 4, 7, 6], [2, 3, 0, 1, 6, 7, 4, 5], [4, 5, 6, 7, 0, 1, 2, 3]]


@pytest.mark.parametrize("x", [1.0, -0.3, 1e300])
def test_numbers_are_multiplied_and_added_with_one_rounding(x):
    out = np.zeros(2)
    _numbers(x, 1 / 3, -x / 3, out)
    product, following = out
    assert product == exact(x, 1 / 3, -x / 3)
    assert following == np.nextafter(x, 2 * x)
