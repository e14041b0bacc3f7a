"""Elementary functions: one name for every kind of number."""

import math

import mpmath as mp
import numpy as np
import pytest
import sympy

from linkwork.algebra import number
from linkwork.trace.expression import Expr, Graph

UNARY = {
    "sin": (mp.sin, 0.7),
    "cos": (mp.cos, -2.3),
    "tan": (mp.tan, 1.1),
    "asin": (mp.asin, -0.4),
    "acos": (mp.acos, 0.6),
    "atan": (mp.atan, -3.5),
    "sinh": (mp.sinh, 1.3),
    "cosh": (mp.cosh, -1.2),
    "tanh": (mp.tanh, 0.8),
    "sqrt": (mp.sqrt, 2.5),
    "exp": (mp.exp, -1.7),
    "log": (mp.log, 0.3),
    "floor": (mp.floor, -2.5),
    "abs": (abs, -1.5),
    "sign": (mp.sign, -0.5),
}
BINARY = {
    "atan2": (mp.atan2, 0.4, -1.3),
    "pow": (mp.power, 1.7, 2.3),
    "hypot": (mp.hypot, 3.25, -4.5),
    "min": (min, 1.5, -2.5),
    "max": (max, 1.5, -2.5),
}


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_number_is_that_of_its_library(numbers, name):
    exact, x = UNARY[name]
    numbers.check(getattr(number, name), [mp.mpf(x)], exact(mp.mpf(x)))


@pytest.mark.parametrize("name", BINARY)
def test_a_function_of_two_numbers_is_that_of_their_library(numbers, name):
    exact, x, y = BINARY[name]
    numbers.check(getattr(number, name), [mp.mpf(x), mp.mpf(y)], exact(mp.mpf(x), mp.mpf(y)))
    numbers.check(lambda y: getattr(number, name)(x, y), [mp.mpf(y)], exact(mp.mpf(x), mp.mpf(y)))
    numbers.check(lambda x: getattr(number, name)(x, y), [mp.mpf(x)], exact(mp.mpf(x), mp.mpf(y)))


@pytest.mark.parametrize("x", [-1.0, 0.0, 2.0])
def test_where_chooses_by_a_condition(numbers, x):
    def formula(x):
        both = (x > -2.0) & (x < 1.0)
        either = (x <= -1.0) | (x >= 2.0)
        return [
            number.where(x < 0, x * 10.0, x + 0.5),
            number.where(both, 1.0, 2.0),
            number.where(either, 1.0, 2.0),
        ]

    expected = [x * 10.0 if x < 0 else x + 0.5, 1.0 if x < 1 else 2.0, 1.0 if abs(x) >= 1 else 2.0]
    numbers.check(formula, [mp.mpf(x)], expected)


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_numpy_arrays_are_numbers_too(name):
    exact, *x = {**UNARY, **BINARY}[name]
    arrays = [np.array([value, 0.5 * value]) for value in x]
    result = getattr(number, name)(*arrays)
    expected = [float(exact(*(mp.mpf(float(a[k])) for a in arrays))) for k in range(2)]
    np.testing.assert_allclose(result, expected, rtol=1e-15)


def test_where_chooses_among_arrays():
    x = np.array([-1.0, 2.0])
    np.testing.assert_array_equal(number.where(x > 0, x, 0.0), [0.0, 2.0])
    assert number.where(np.bool_(False), 1.0, 2.0) == 2.0


@pytest.mark.parametrize("pair", [(math.nan, 1.0), (1.0, math.nan)])
@pytest.mark.parametrize("extreme", [number.min, number.max])
def test_an_extreme_with_nan_is_nan(extreme, pair):
    assert math.isnan(extreme(*pair))
    assert np.isnan(extreme(np.array(pair[:1]), np.array(pair[1:]))).all()


def test_sign_of_nothing_is_zero(numbers):
    numbers.check(number.sign, [mp.mpf(0)], 0)


def test_a_plain_float_stays_a_plain_float():
    for name, (_, x) in UNARY.items():
        assert type(getattr(number, name)(x)) in (float, int), name


def test_only_plain_numbers_are_structurally_zero_or_one():
    x = Graph().symbol("x")
    assert number.is_zero(0.0)
    assert number.is_zero(0)
    assert number.is_one(1.0)
    assert number.is_one(1)
    for other in (x, sympy.Symbol("x"), mp.mpf(0), mp.mpf(1), np.zeros(2)):
        assert not number.is_zero(other)
        assert not number.is_one(other)
    assert not number.is_zero(1e-300)


def test_a_traced_value_on_either_side_makes_the_result_traced():
    x = Graph().symbol("x")
    for result in (number.atan2(1.0, x), number.atan2(x, 1.0), number.min(1.0, x), number.hypot(x, 3.0)):
        assert isinstance(result, Expr)
