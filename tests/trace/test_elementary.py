"""Sine, cosine and the others as native code: how exact they are, and the same in every lane."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from native_function import native_function

from linkwork.algebra import number as n
from linkwork.native import store

FORMULAS: dict[str, tuple[Callable[..., Any], int]] = {
    "sin": (n.sin, 1),
    "cos": (n.cos, 1),
    "exp": (n.exp, 1),
    "log": (n.log, 1),
    "sqrt": (n.sqrt, 1),
    "tan": (n.tan, 1),
    "asin": (n.asin, 1),
    "acos": (n.acos, 1),
    "atan": (n.atan, 1),
    "sinh": (n.sinh, 1),
    "cosh": (n.cosh, 1),
    "tanh": (n.tanh, 1),
    "floor": (n.floor, 1),
    "abs": (abs, 1),
    "sign": (n.sign, 1),
    "atan2": (n.atan2, 2),
    "pow": (lambda x, y: x**y, 2),
    "min": (n.min, 2),
    "max": (n.max, 2),
}


@cache
def function(name: str, lanes: int = 1) -> Callable[..., np.ndarray]:
    formula, inputs = FORMULAS[name]
    compiled = native_function(formula, inputs, lanes)
    return lambda *x: compiled(*x)[0]


def units(got: np.ndarray, exact: list[Any]) -> np.ndarray:
    """Return errors in units in the last place of the exact results."""
    sizes = np.spacing(np.abs([float(e) for e in exact]))
    return np.array(
        [float(abs(mp.mpf(g) - e) / mp.mpf(s)) for g, e, s in zip(got, exact, sizes, strict=True)]
    )


def worst(name: str, *arguments: np.ndarray) -> float:
    """Return the largest error of a function at these points; what is not finite must be right."""
    got = function(name)(*arguments)
    reference = {"pow": mp.power, "abs": abs}.get(name) or getattr(mp, name)
    with mp.workdps(60):
        exact = [
            reference(*map(mp.mpf, point)) for point in zip(*(a.tolist() for a in arguments), strict=True)
        ]
        rounded = np.array([float(e) for e in exact])
        overflown = np.isinf(rounded)
        np.testing.assert_array_equal(got[overflown], rounded[overflown])
        assert np.isfinite(got[~overflown]).all()
        keep = np.flatnonzero(~overflown)
        return units(got[keep], [exact[k] for k in keep]).max()


def same(got: Any, expected: Any) -> None:
    """Assert that numbers are equal to the last bit, the sign of zeros included; any NaN is NaN."""
    got, expected = np.asarray(got, float), np.asarray(expected, float)
    np.testing.assert_array_equal(got, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(expected)[numbers])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def random_bits(rng: np.random.Generator, count: int, low: float, high: float) -> np.ndarray:
    """Return doubles of random bits with sizes between these bounds, of both signs."""
    first, last = (np.float64(x).view(np.int64) for x in (low, high))
    return rng.integers(first, last, count).view(np.float64) * rng.choice([-1.0, 1.0], count)


def near_multiples(k: np.ndarray) -> np.ndarray:
    """Return the doubles next to k pi/2."""
    with mp.workdps(60):
        x = np.array([float(mp.pi / 2 * int(i)) for i in k])
    return np.concatenate([x, np.nextafter(x, 0.0), np.nextafter(x, np.inf), -x])


CIRCULAR = pytest.mark.parametrize("name", ["sin", "cos"])


@CIRCULAR
def test_sine_and_cosine_are_right_to_two_units_up_to_1e5(rng, name):
    assert worst(name, rng.uniform(-1e5, 1e5, 2000)) <= 2.0
    assert worst(name, rng.uniform(-4.0, 4.0, 2000)) <= 2.0
    assert worst(name, random_bits(rng, 2000, 5e-324, 1e5)) <= 2.0


@CIRCULAR
def test_sine_and_cosine_are_right_next_to_multiples_of_a_quarter_turn(rng, name):
    assert worst(name, near_multiples(np.arange(1, 400))) <= 2.0
    assert worst(name, near_multiples(rng.integers(1, int(1e5 / (math.pi / 2)), 500))) <= 2.0


@CIRCULAR
def test_sine_and_cosine_are_right_far_beyond(rng, name):
    assert worst(name, random_bits(rng, 1000, 1e5, 1e300)) <= 2.0
    assert worst(name, rng.uniform(1e5, 2.0**31, 1000)) <= 2.0
    assert worst(name, near_multiples(rng.integers(10**5, 2**30, 300))) <= 2.0
    limit = 2.0**30
    assert worst(name, np.array([limit, np.nextafter(limit, 0), np.nextafter(limit, 1e10), -limit])) <= 2.0
    assert worst(name, np.array([1e22, 1.7976931348623157e308])) <= 2.0
    closest = 6381956970095103.0 * 2.0**797  # the double closest to a multiple of pi/2 there is (Kahan)
    assert worst(name, np.array([closest, -closest])) <= 20.0  # C libraries lose a few bits here


def test_sine_and_cosine_at_the_ends(rng):
    same(function("sin")([0.0, -0.0, 5e-324, -5e-324, 1e-310]), [0.0, -0.0, 5e-324, -5e-324, 1e-310])
    same(function("cos")([0.0, -0.0, 5e-324, -5e-324, 1e-9]), [1.0] * 5)
    for name in ("sin", "cos"):
        same(function(name)([math.inf, -math.inf, math.nan]), [math.nan] * 3)


def test_the_exponential_is_right_to_two_units(rng):
    assert worst("exp", rng.uniform(-745.2, 709.9, 3000)) <= 2.0
    assert worst("exp", rng.uniform(-745.2, -708.0, 1000)) <= 2.0  # denormal results
    assert worst("exp", rng.uniform(-1.0, 1.0, 2000)) <= 2.0
    assert worst("exp", random_bits(rng, 1000, 5e-324, 700.0)) <= 2.0
    halves = (np.arange(-1400, 1400) + 0.5) * math.log(2.0) / 2
    assert worst("exp", halves) <= 2.0


def test_the_exponential_at_the_ends():
    exp = function("exp")
    same(exp([0.0, -0.0, 5e-324, -5e-324]), [1.0] * 4)
    same(exp([math.inf, -math.inf, math.nan, 1e308, -1e308]), [math.inf, 0.0, math.nan, math.inf, 0.0])
    largest, smallest = 709.782712893384, -745.1332191019411
    assert math.isfinite(exp(largest))
    assert exp(np.nextafter(largest, math.inf)) == math.inf
    assert exp(smallest) == 5e-324
    assert exp(-745.14) == 0.0


def test_the_logarithm_is_right_to_two_units(rng):
    assert worst("log", abs(random_bits(rng, 3000, 5e-324, 1.7e308))) <= 2.0
    assert worst("log", abs(random_bits(rng, 500, 5e-324, 2.3e-308))) <= 2.0  # denormal
    assert worst("log", rng.uniform(0.5, 2.0, 3000)) <= 2.0
    assert worst("log", 1.0 + np.arange(-300, 300) * 2.0**-52) <= 2.0
    root_half = math.sqrt(0.5) * 2.0 ** np.arange(-1000, 1000)
    assert worst("log", np.concatenate([root_half, np.nextafter(root_half, np.inf)])) <= 2.0


def test_the_logarithm_at_the_ends():
    given = [0.0, -0.0, 1.0, -1.0, -5e-324, math.inf, -math.inf, math.nan]
    same(
        function("log")(given), [-math.inf, -math.inf, 0.0, math.nan, math.nan, math.inf, math.nan, math.nan]
    )


def test_the_angle_of_a_point_is_right_to_two_units(rng):
    y, x = rng.normal(size=(2, 4000))
    assert worst("atan2", y, x) <= 2.0
    y, x = random_bits(rng, 2000, 1e-150, 1e150), random_bits(rng, 2000, 1e-150, 1e150)
    assert worst("atan2", y, x) <= 2.0


@pytest.mark.parametrize("slope", [0.25, 0.4142135623730951, 0.5, 0.75, 1.0, 4 / 3, 2.414213562373095, 4.0])
@pytest.mark.parametrize("size", [1.0, 1e-307, 1e307])
def test_the_angle_is_right_where_formulas_change(rng, slope, size):
    x = rng.uniform(0.5, 1.0, 200) * rng.choice([-1.0, 1.0], 200) * size
    y = slope * x * (1.0 + rng.normal(size=200) * rng.choice([1e-16, 1e-8, 1e-2], 200))
    assert worst("atan2", y * rng.choice([-1.0, 1.0], 200), x) <= 2.0


def test_the_angle_is_right_at_the_ends_of_the_range(rng):
    big = random_bits(rng, 400, 1e300, 1.7e308)
    assert worst("atan2", big, rng.permutation(big)) <= 2.0
    small = random_bits(rng, 400, 5e-324, 1e-300)
    assert worst("atan2", small, rng.permutation(small)) <= 2.0
    assert worst("atan2", small, big) <= 2.0
    assert worst("atan2", big, small) <= 2.0


def test_the_angle_at_zero_and_infinity_is_that_of_the_standard():
    sides = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1.7e308, -1.7e308]
    y, x = (a.ravel() for a in np.meshgrid(sides, sides))
    same(function("atan2")(y, x), [math.atan2(b, a) for b, a in zip(y, x, strict=True)])


@pytest.mark.parametrize("fixed", [0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, 1e308])
def test_the_angle_with_one_side_known_is_the_same(rng, fixed):
    free = np.concatenate([rng.normal(size=50), [0.0, -0.0, math.inf, -math.inf, math.nan, 1e308, 5e-324]])
    general = function("atan2")
    known_x = native_function(lambda y: n.atan2(y, fixed), 1)(free)[0]
    known_y = native_function(lambda x: n.atan2(fixed, x), 1)(free)[0]
    same(known_x, general(free, np.full_like(free, fixed)))
    same(known_y, general(np.full_like(free, fixed), free))


def test_powers_are_right_to_two_units(rng):
    x = abs(random_bits(rng, 2000, 1e-300, 1e300))
    y = rng.uniform(-700.0, 700.0, 2000) / np.log(x)
    assert worst("pow", x, y) <= 2.0
    assert worst("pow", rng.uniform(0.0, 3.0, 1000), rng.uniform(-20.0, 20.0, 1000)) <= 2.0
    assert worst("pow", rng.uniform(-3.0, 0.0, 500), rng.integers(-20, 20, 500).astype(float)) <= 2.0


def test_powers_at_the_ends_are_those_of_the_standard():
    sides = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -3.0, 2.5, math.inf, -math.inf, math.nan]
    x, y = (a.ravel() for a in np.meshgrid(sides, sides))
    with np.errstate(all="ignore"):
        expected = np.power(x, y)
    got = function("pow")(x, y)
    np.testing.assert_allclose(got, expected, rtol=4e-16)
    same(np.copysign(1.0, got[~np.isnan(expected)]), np.copysign(1.0, expected[~np.isnan(expected)]))


@pytest.mark.parametrize("exponent", [2, 3, 4, -1, -2, 0.5, 1.5, 2.5, -0.5, 5, 17, -30, 0.3])
def test_powers_to_a_known_exponent_are_right_to_three_units(rng, exponent):
    x = rng.uniform(0.1, 10.0, 500)
    got = native_function(lambda x: x**exponent, 1)(x)[0]
    with mp.workdps(50):
        exact = [mp.mpf(a) ** mp.mpf(exponent) for a in x]
        assert units(got, exact).max() <= 3.0


def test_square_roots_are_rounded_right(rng):
    x = np.concatenate(
        [abs(random_bits(rng, 5000, 5e-324, 1.7e308)), [0.0, -0.0, 5e-324, math.inf, math.nan, -1.0]]
    )
    with np.errstate(invalid="ignore"):
        same(function("sqrt")(x), np.sqrt(x))


COMPOSED = {
    "tan": (-1.5, 1.5),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
    "atan": (-5.0, 5.0),
    "sinh": (-5.0, 5.0),
    "cosh": (-5.0, 5.0),
    "tanh": (-5.0, 5.0),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_functions_made_of_others_are_right_to_six_units(rng, name):
    low, high = COMPOSED[name]
    x = rng.uniform(low, high, 1500)
    assert worst(name, x) <= 6.0
    if name not in ("acos", "cosh"):
        assert worst(name, x * 10.0 ** rng.uniform(-300, 0, 1500)) <= 6.0


def test_functions_made_of_others_at_the_ends():
    same(function("asin")([1.0, -1.0, 0.0, 1.5]), [math.pi / 2, -math.pi / 2, 0.0, math.nan])
    same(function("acos")([1.0, -1.0, 0.0, -1.5]), [0.0, math.pi, math.pi / 2, math.nan])
    same(function("atan")([math.inf, -math.inf, -0.0]), [math.pi / 2, -math.pi / 2, -0.0])
    same(function("tanh")([800.0, -800.0, math.inf, -math.inf, math.nan]), [1.0, -1.0, 1.0, -1.0, math.nan])
    same(function("cosh")([0.0, math.inf, -math.inf]), [1.0, math.inf, math.inf])
    same(function("sinh")([math.inf, -math.inf, 0.0]), [math.inf, -math.inf, 0.0])
    same(function("floor")([1.5, -1.5, -0.0, math.inf]), [1.0, -2.0, -0.0, math.inf])
    same(function("abs")([-0.0, -math.inf, -2.0]), [0.0, math.inf, 2.0])
    same(function("sign")([-2.0, 0.0, 3.0, math.nan]), [-1.0, 0.0, 1.0, math.nan])


SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    math.inf,
    -math.inf,
    math.nan,
    5e-324,
    -1e-310,
    1e308,
    2.0**30,
    -1e22,
    710.0,
    -745.2,
]


@pytest.mark.parametrize("name", FORMULAS)
def test_one_lane_and_all_lanes_give_the_same_bits(rng, name):
    inputs = FORMULAS[name][1]
    count = 2003  # no multiple of lanes
    x = [
        np.concatenate(
            [rng.normal(size=count), random_bits(rng, count, 5e-324, 1.7e308), rng.choice(SPECIAL, count)]
        )
        for _ in range(inputs)
    ]
    x = [rng.permutation(a) for a in x]  # the rare beside the usual
    same(function(name, store.lanes())(*x), function(name, 1)(*x))


FUSED: dict[str, Callable[..., Any]] = {
    "a b + c": lambda a, b, c: a * b + c,
    "c - a b": lambda a, b, c: c - a * b,
    "a b - c": lambda a, b, c: a * b - c,
    "-(a b) - c": lambda a, b, c: -(a * b) - c,
}


@pytest.mark.parametrize("name", FUSED)
def test_a_product_in_a_sum_is_not_rounded_by_itself(rng, name):
    points = rng.normal(size=(3, 501))
    got = native_function(FUSED[name], 3)(*points)[0]
    with mp.workdps(60):
        exact = [float(FUSED[name](*map(mp.mpf, point))) for point in points.T.tolist()]
    same(got, exact)


@pytest.mark.parametrize("lanes", sorted({2, 4, store.lanes()}))
def test_products_and_sums_are_fused_alike_in_every_lane(rng, lanes):
    def formula(x, y, z):
        shared = x * y
        return [
            shared + z,
            shared * z - y,
            x * y - y * z,
            (x + y) * (x - z) + x * x,
            z / y - x * z + y * y * y,
        ]

    points = rng.normal(size=(3, 501))
    same(native_function(formula, 3, lanes)(*points), native_function(formula, 3)(*points))
