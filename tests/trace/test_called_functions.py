"""Functions that are called as nodes of formulas: derivatives by differences."""

import math

import pytest

from linkwork.algebra.number import sin
from linkwork.errors import TraceError
from linkwork.trace.called_functions import Called, CalledFunction
from linkwork.trace.differentiate import derivative, gradient, jacobian
from linkwork.trace.expression import Graph, called
from linkwork.trace.graph_walks import evaluate

AT = {"x": 0.3, "y": 1.2}


def plain(x, y):
    return sin(x) * y * y + x


def nodes(slope=None):
    function = CalledFunction("f", lambda x: [plain(*x), x[0] * x[1]], [1.0, 1.0], slope)
    x, y = Graph().symbols("xy")
    return [called(Called(function, k), x, y) for k in (0, 1)], x, y


def value(*roots):
    return evaluate(roots, lambda symbol: AT[symbol.args[0]])


def test_values_and_first_and_second_derivatives_are_those_of_the_traced_function():
    (f, g), x, y = nodes()
    traced = plain(x, y)
    along = {x: y, y: 2.0 * x}
    for mine, theirs in ((f, traced), (f * g, traced * (x * y))):
        assert value(mine) == pytest.approx(value(theirs), rel=1e-14)
        assert value(*gradient(mine, [x, y])) == pytest.approx(value(*gradient(theirs, [x, y])), rel=1e-10)
        first = [derivative([one], along) for one in (mine, theirs)]
        assert value(*first[0]) == pytest.approx(value(*first[1]), rel=1e-10)
        second = [derivative(one, along) for one in first]
        assert value(*second[0]) == pytest.approx(value(*second[1]), rel=1e-8)
        mixed = [derivative(one, {x: 1.0}) for one in first]
        assert value(*mixed[0]) == pytest.approx(value(*mixed[1]), rel=1e-8)


def test_both_modes_agree():
    rows, x, y = nodes()
    forward = [derivative(rows, {s: 1.0}) for s in (x, y)]
    found = jacobian(rows, [x, y])
    for k in range(2):
        assert value(*found[k]) == pytest.approx([value(column[k])[0] for column in forward], rel=1e-12)


def test_a_slope_that_is_known_is_used():
    asked = []

    def slope(x, u):
        asked.append(x)
        return [(math.cos(x[0]) * x[1] ** 2 + 1.0) * u[0] + 2.0 * math.sin(x[0]) * x[1] * u[1], 0.0]

    (f, _), x, _ = nodes(slope)
    (rate,) = derivative([f], {x: 1.0})
    assert value(rate) == [math.cos(0.3) * 1.44 + 1.0]
    (again,) = derivative([rate], {x: 1.0})
    assert value(again) == pytest.approx([-math.sin(0.3) * 1.44], rel=1e-9)
    assert asked


def test_directions_of_any_size_lose_no_digits():
    (f, _), x, _ = nodes()
    for size in (1e-12, 1.0, 1e12):
        rate = derivative(derivative([f], {x: size}), {x: size})
        assert value(*rate) == pytest.approx([-math.sin(0.3) * 1.44 * size**2], rel=1e-8)


def test_a_third_derivative_is_refused():
    (f, _), x, _ = nodes()
    with pytest.raises(TraceError, match="f: a third derivative"):
        derivative(derivative(derivative([f], {x: 1.0}), {x: 1.0}), {x: 1.0})


def test_what_stands_still_has_no_rate():
    (f, _), _, _ = nodes()
    assert derivative([f], {}) == [0.0]
