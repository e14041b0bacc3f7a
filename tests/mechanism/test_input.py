"""Inputs stand for numbers wherever a law has one."""

import math
import operator

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.input import reading
from linkwork.trace.expression import Expr, Graph


def test_outside_of_a_law_an_input_is_its_default_value():
    u = lw.Input("u", 2.0)
    assert (3 * u, u / 4, 1 - u, u**2, -u, abs(lw.Input("w", -3)), u % 1.5) == (
        6.0,
        0.5,
        -1.0,
        4.0,
        -2.0,
        3.0,
        0.5,
    )
    assert lw.sin(u) == np.sin(u) == math.sin(2.0)
    assert lw.atan2(1.0, u) == math.atan2(1.0, 2.0)
    assert u > 1
    assert lw.where(u < 1, 5.0, 7.0) == 7.0
    assert np.array([1.0, 2.0]) @ np.array([1.0, 1.0]) * u == 6.0


@pytest.mark.parametrize("word", ["add", "sub", "mul", "truediv", "pow"])
def test_in_a_law_that_is_traced_no_operation_freezes_it(word):
    graph, u, w = Graph(), lw.Input("u", 2.0), lw.Input("w", 3.0)
    operation = getattr(operator, word)
    x = graph.symbol(("x", 0))
    with reading(lambda given: graph.symbol((given.name, 0))):
        for a, b in ((u, 2.5), (2.5, u), (u, x), (x, u), (u, w)):
            assert isinstance(operation(a, b), Expr)
            names = {node.args[0][0] for node in graph.nodes if node.op == "symbol"}
            assert "u" in names
        assert isinstance(lw.cos(u), Expr)
        assert isinstance(np.cos(u), Expr)
        assert all(isinstance(x, Expr) for x in (*(np.array([1.5, 2.5]) * u), np.float64(2.5) * u))
        assert isinstance(lw.where(x > 0, u, 1.0), Expr)
        assert isinstance(lw.where(u > 0, 2.0, 1.0), Expr)
        with pytest.raises(lw.TraceError):
            float(u)


@pytest.mark.parametrize("value", [math.nan, math.inf, "2", True, None])
def test_a_default_that_is_no_finite_number_is_refused(value):
    with pytest.raises(ValueError, match="input 'u': value"):
        lw.Input("u", value)


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="the first argument is the name"):
        lw.Input(2.0)


def test_the_larger_of_an_input_and_a_number_is_traced():
    graph, u = Graph(), lw.Input("u", 2.0)
    with reading(lambda given: graph.node("input", given.name)):
        assert lw.max(u, 1.0).op == "where"
        assert lw.min(0.5, u).op == "where"
        assert (u != 1.0).op == "ne"
    assert float(lw.max(u, 1.0)) == 2.0
    assert u != lw.Input("v", 2.0)
    assert u == lw.Input("u", 2.0)


def cart(**words) -> lw.Mechanism:
    m = lw.examples.cart_pole()
    for word, value in words.items():
        setattr(m.joints["pin"], word, value)
    return m


@pytest.mark.parametrize(
    "frozen",
    [
        lambda u: lw.Motor("motor", "rail", 2 * u),
        lambda u: lw.Motor("motor", "rail", -u),
        lambda u: lw.Motor("motor", "rail", 1 + lw.sin(u) / 2),
        lambda u: lw.Motor("motor", "rail", lw.cos(2 * u)),
        lambda u: lw.TorsionSpring("coil", "pin", stiffness=1.0, rest=u - 1),
        lambda u: cart(damping=3 * u),
    ],
)
def test_what_is_computed_from_an_input_outside_of_a_law_is_no_law(frozen):
    """It is a number, which no run can change: a user who writes 2 * u means the input."""
    given = frozen(lw.Input("u", 2.0))
    m = given if isinstance(given, lw.Mechanism) else cart()
    if m is not given:
        m.add(given)
    with pytest.raises(lw.ModelError, match="computed from the default value of an input"):
        m.compile()


def test_in_a_function_the_same_reads_the_input():
    u, m = lw.Input("u", 2.0), cart()
    m.add(lw.Motor("motor", "rail", lambda t, q, v: 1 + lw.sin(u) / 2))
    for value in (2.0, 0.5):
        run = lw.simulate(m, 0.1, inputs={"u": value})
        np.testing.assert_allclose(run["motor"].force, 1 + math.sin(value) / 2, rtol=1e-15)


def test_numbers_of_bodies_and_motions_of_joints_do_not_read_inputs():
    u, m = lw.Input("u", 0.1), cart()

    class Slide(lw.Joint):
        def motion(self, q):
            return lw.translation(0, 0, u * q[0])

    with pytest.raises(ValueError, match=r"gravity .* has an input, which only laws read"):
        lw.Mechanism("m", gravity=(0, 0, u))
    with pytest.raises(ValueError, match=r"position .* has an input, which only laws read"):
        lw.Body("b", lw.Sphere(0.1), mass=1.0, position=(u, 0, 0))
    m.add(Slide("slide", m["pole"], m.add(lw.Body("tip", lw.Sphere(0.1), mass=1.0))))
    with pytest.raises(lw.ModelError, match="joint 'slide': motion\\(q\\) reads the input 'u'"):
        m.compile().forward_dynamics([0.0] * 3, [0.0] * 3, [0.0] * 3)
