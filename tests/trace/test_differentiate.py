"""Derivatives of expressions, forward and reverse, against those mpmath finds with fifty digits."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from native_function import native_function

from linkwork.algebra import number as n
from linkwork.errors import TraceError
from linkwork.trace.differentiate import derivative, gradient, jacobian
from linkwork.trace.expression import Expr, Graph
from linkwork.trace.graph_walks import evaluate, reachable

Formula = Callable[..., Any]


FUNCTIONS: dict[str, tuple[Formula, Sequence[float]]] = {
    "sum": (lambda x, y: x + y, (0.3, -1.2)),
    "sum with a constant": (lambda x: x + 2.5, (0.3,)),
    "difference": (lambda x, y: x - y, (0.3, -1.2)),
    "difference from a constant": (lambda x: 2.5 - x, (0.3,)),
    "product": (lambda x, y: x * y, (0.3, -1.2)),
    "square": (lambda x: x * x, (0.7,)),
    "quotient": (lambda x, y: x / y, (0.3, -1.2)),
    "quotient of a constant": (lambda x: 2.5 / x, (0.7,)),
    "quotient by a constant": (lambda x: x / 3.0, (0.7,)),
    "negative": (lambda x: -n.sin(x), (0.7,)),
    "sqrt": (n.sqrt, (0.7,)),
    "sin": (n.sin, (0.7,)),
    "cos": (n.cos, (0.7,)),
    "tan": (n.tan, (0.7,)),
    "asin": (n.asin, (-0.6,)),
    "acos": (n.acos, (-0.6,)),
    "atan": (n.atan, (1.7,)),
    "atan2": (n.atan2, (0.4, -1.3)),
    "atan2 of a constant": (lambda x: n.atan2(2.0, x), (-1.3,)),
    "exp": (n.exp, (-0.8,)),
    "log": (n.log, (0.3,)),
    "sinh near zero": (n.sinh, (0.1,)),
    "sinh": (n.sinh, (1.3,)),
    "cosh": (n.cosh, (-1.3,)),
    "tanh near zero": (n.tanh, (-0.1,)),
    "tanh": (n.tanh, (0.8,)),
    "hypot": (n.hypot, (0.8, -2.0)),
    "abs of a positive number": (abs, (0.8,)),
    "abs of a negative number": (abs, (-0.8,)),
    "floor": (lambda x: x * n.floor(x), (2.3,)),
    "sign": (lambda x: x * n.sign(x), (-2.3,)),
    "pow": (lambda x, y: x**y, (1.7, -2.3)),
    "pow to a constant": (lambda x: x**0.3, (1.7,)),
    "pow of a constant": (lambda x: 1.7**x, (0.3,)),
    "small powers": (lambda x: x**3 + x**-2 + x**1.5, (1.7,)),
    "large power": (lambda x: x**11, (1.1,)),
    "min": (n.min, (0.8, -2.0)),
    "max": (n.max, (0.8, -2.0)),
    "where, chosen": (lambda x, y: n.where(x < y, n.sin(x), y * y), (0.3, 1.2)),
    "where, not chosen": (lambda x, y: n.where(x < y, n.sin(x), y * y), (1.3, 0.2)),
    "nested where": (lambda x, y: n.where(x < y, n.where(x > 0, x * y, y), n.exp(x)), (0.3, 1.2)),
    "composition": (lambda x, y: n.exp(n.sin(x * y)) / (1.0 + n.sqrt(x * x + y * y)), (0.7, -1.1)),
    "shared parts": (lambda x, y: (x * y) * n.sin(x * y) + n.cos(x * y) ** 2 - x * y / (x - y), (0.7, -1.1)),
    "a long chain": (lambda x: n.sin(n.cos(n.tanh(n.exp(n.sin(n.sqrt(x)))))), (0.7,)),
}


def partial(formula: Formula, at: Sequence[float], *orders: int) -> float:
    """Return a partial derivative by mpmath."""
    with mp.workdps(50):
        point = tuple(mp.mpf(x) for x in at)
        if len(point) == 1:
            return float(mp.diff(formula, point[0], orders[0]))
        return float(mp.diff(formula, point, orders))


def symbols(formula: Formula, count: int) -> tuple[list[Expr], Any]:
    x = Graph().symbols(range(count))
    return x, formula(*x)


def value(roots: Sequence[Any], at: Sequence[float]) -> list[float]:
    return evaluate(roots, lambda symbol: at[symbol.args[0]])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_reverse_and_jacobian_are_the_derivatives(name):
    formula, at = FUNCTIONS[name]
    x, root = symbols(formula, len(at))
    expected = [partial(formula, at, *row) for row in np.eye(len(at), dtype=int).tolist()]
    forward = [derivative([root], {s: 1.0})[0] for s in x]
    np.testing.assert_allclose(value(forward, at), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(value(gradient(root, x), at), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(value(jacobian([root], x)[0], at), expected, rtol=1e-13, atol=1e-14)
    tall = jacobian([root, root, root], x)
    for row in tall:
        np.testing.assert_allclose(value(row, at), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_are_derivatives_of_derivatives(name):
    formula, at = FUNCTIONS[name]
    count = len(at)
    x, root = symbols(formula, count)
    first = gradient(root, x)
    forward_of_reverse = [derivative(first, {s: 1.0}) for s in x]
    reverse_of_reverse = jacobian(first, x)
    for i in range(count):
        for j in range(count):
            orders = [0] * count
            orders[i] += 1
            orders[j] += 1
            expected = partial(formula, at, *(orders if count > 1 else [2]))
            for second in (forward_of_reverse[i][j], reverse_of_reverse[i][j]):
                assert value([second], at)[0] == pytest.approx(expected, rel=1e-11, abs=1e-12)


@given(st.floats(0.1, 3.0), st.floats(-3.0, -0.1))
def test_at_random_points_too(a, b):
    def formula(x, y):
        return n.atan2(y, x) * n.exp(x / y) + n.log(x) * n.sqrt(x * x - y) - x**y

    x, root = symbols(formula, 2)
    expected = [partial(formula, (a, b), 1, 0), partial(formula, (a, b), 0, 1)]
    np.testing.assert_allclose(value(gradient(root, x), (a, b)), expected, rtol=1e-10)
    forward = [derivative([root], {s: 1.0})[0] for s in x]
    np.testing.assert_allclose(value(forward, (a, b)), expected, rtol=1e-10)


# where: the side that is not chosen has no say

GUARDED: dict[str, tuple[Formula, Sequence[float], Sequence[float]]] = {
    "sqrt of a negative number": (
        lambda x: n.where(x > 0, n.sqrt(x), 0.0),
        (-1.0, 0.0, 4.0),
        (0.0, 0.0, 0.25),
    ),
    "the other side": (lambda x: n.where(x <= 0, 0.0, n.sqrt(x)), (-1.0, 0.0, 4.0), (0.0, 0.0, 0.25)),
    "an infinite slope": (lambda x: n.where(x > 0, x * n.log(x), 0.0), (-1.0, 0.0, 1.0), (0.0, 0.0, 1.0)),
    "a pole": (lambda x: n.where(x != 0, n.sin(x) / x, 1.0) * 3.0, (0.0,), (0.0,)),
    "one in the other": (
        lambda x: n.sqrt(n.where(x > 0, x, 1.0)) + n.where(x > 0, n.where(x > 1, 1.0 / x, n.log(x)), x),
        (-1.0, 0.5, 2.0),
        (1.0, 0.5 / math.sqrt(0.5) + 2.0, 0.5 / math.sqrt(2.0) - 0.25),
    ),
    "a contact law": (
        lambda x: n.where(x > 0, 100.0 * x**1.5 * (1.0 + 2.0 * x), 0.0),
        (-0.1, 0.0, 0.25),
        (0.0, 0.0, 100.0 * (1.5 * 0.5 + 5.0 * 0.125)),
    ),
}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", GUARDED)
def test_what_is_not_chosen_leaves_no_nan(name, mode):
    formula, points, expected = GUARDED[name]

    def slope(x):
        root = formula(x)
        return derivative([root], {x: 1.0}) if mode == "forward" else gradient(root, [x])

    np.testing.assert_allclose(native_function(slope, 1)(points)[0], expected, rtol=1e-14)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_smooth_friction_has_a_slope_at_any_speed(mode):
    def slope(x):
        root = n.tanh(x / 1e-3)
        return derivative([root], {x: 1.0}) if mode == "forward" else gradient(root, [x])

    speeds = np.array([-10.0, -0.4, -0.001, -1e-9, 0.0, 1e-9, 2e-4, 0.001, 0.4, 10.0])
    expected = [float(1000 * mp.sech(mp.mpf(v) * 1000) ** 2) for v in speeds]
    np.testing.assert_allclose(native_function(slope, 1)(speeds)[0], expected, rtol=1e-9, atol=1e-12)


# the shapes of things


def test_rates_may_be_expressions_and_any_node_may_move():
    x, y, rate = Graph().symbols("xyr")
    inner = n.sin(x)
    (along,) = derivative([inner * y], {x: rate, y: 2.0})
    (of_node,) = derivative([inner * y], {inner: 1.0})
    at = {"x": 0.3, "y": 1.5, "r": -0.7}
    got = evaluate([along, of_node], lambda symbol: at[symbol.args[0]])
    assert got == pytest.approx([math.cos(0.3) * -0.7 * 1.5 + math.sin(0.3) * 2.0, 1.5])
    assert evaluate(gradient(inner * y, [inner]), lambda symbol: at[symbol.args[0]]) == [1.5]


def test_what_does_not_move_has_structurally_no_rate():
    x, y = Graph().symbols("xy")
    assert derivative([n.sin(y), 3.0, x], {x: 1.0}) == [0.0, 0.0, 1.0]
    assert gradient(n.sin(y), [x])[0] == 0.0
    assert gradient(2.5, [x, y]) == [0.0, 0.0]
    assert gradient(x, [x, y]) == [1.0, 0.0]
    assert derivative([n.where(x > 0, 2.0, 3.0)], {x: 1.0}) == [0.0]


@pytest.mark.parametrize(("roots", "inputs"), [(1, 4), (4, 1), (3, 3), (0, 2), (2, 0)])
def test_a_jacobian_has_a_row_per_root_and_a_column_per_symbol(roots, inputs):
    x = Graph().symbols(range(inputs))
    made = [
        n.sin(sum((k + 1.0) * s for k, s in enumerate(x)) * (r + 1.0)) if x else 1.0 for r in range(roots)
    ]
    rows = jacobian(made, x)
    at = [0.1 * (k + 1) for k in range(inputs)]
    assert [len(row) for row in rows] == [inputs] * roots
    phase = sum((k + 1.0) * a for k, a in enumerate(at))
    for r, row in enumerate(rows):
        expected = [(r + 1.0) * (k + 1.0) * math.cos(phase * (r + 1.0)) for k in range(inputs)]
        assert value(row, at) == pytest.approx(expected)


def test_reverse_costs_a_few_times_the_formula_however_many_symbols():
    x = Graph().symbols(range(200))
    root = x[0]
    for s in x[1:]:
        root = n.sin(root) * s + root
    work = len(reachable([root]))
    assert len(reachable(gradient(root, x))) < 8 * work


def test_a_jacobian_takes_the_cheaper_way():
    x, y = Graph().symbols("xy")
    tall = [y]
    for _ in range(100):
        tall.append(n.sin(tall[-1]) * x + tall[-1])
    work = len(reachable(tall))
    assert len(reachable([d for row in jacobian(tall, [x]) for d in row])) < 8 * work
    many = Graph().symbols(range(100))
    wide = many[0]
    for s in many[1:]:
        wide = n.sin(wide) * s + wide
    assert len(reachable(jacobian([wide], many)[0])) < 8 * len(reachable([wide]))


def test_what_has_no_derivative_says_so():
    x = Graph().symbol("x")
    odd = x.graph.node("mantissa", x)
    with pytest.raises(TraceError, match="mantissa has no derivative"):
        derivative([odd], {x: 1.0})
    with pytest.raises(TraceError, match="mantissa has no derivative"):
        gradient(odd, [x])


@pytest.mark.parametrize("base", [0.0, -2.0])
def test_a_power_of_no_positive_number_can_still_be_traced(base):
    x = Graph().symbol("x")
    assert isinstance(derivative([base**x], {x: 1.0})[0], Expr | float)


def test_the_cost_of_reverse_mode_grows_with_the_formula_and_not_with_its_branches():
    graph = Graph()
    x = graph.symbol("x")
    y = x
    for k in range(40):
        y = n.where(y > k, y * 1.5, y + 0.5)
    gradient(y, [x])
    assert len(graph.nodes) < 2000
