"""Laws of loads: those in arrays, those that cannot be traced and are called, and those that fail."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from mechanisms import SPACES, random_state
from naive import relative_error
from naive_loads import T, assert_driven, case, crowd, pair

import linkwork as lw

Array = np.ndarray


# laws in arrays, and laws that must be called


ARRAYS: dict[str, Callable[..., Any]] = {
    "a matrix": lambda t, q, v: np.array([[1.0, 2.0], [3.0, 4.0]]) @ q - 0.5 * v,
    "a function": lambda t, q, v: np.sin(q) - np.tanh(v),
    "array times number": lambda t, q, v: v * lw.sin(t),
    "number times array": lambda t, q, v: lw.sin(t) * v,
    "number less array": lambda t, q, v: t - v,
    "number over array": lambda t, q, v: t / (2.0 + q * q),
    "drag": lambda t, q, v: -lw.norm(v) * v,
    "a sum": lambda t, q, v: [np.sum(q), np.dot(q, v)],
    "elements": lambda t, q, v: np.array([q[0], -v[1]]),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("whole", [False, True], ids=["motor", "feedback"])
def test_laws_in_arrays_are_native(name, whole):
    m = lw.Mechanism("tube")
    body = m.add(lw.Body("body", lw.Inertia(1.0, (0, 0, 0), np.eye(3))))
    m.add(lw.Cylindrical("tube", m.ground, body))
    law = ARRAYS[name]
    m.add((lw.Feedback if whole else lw.Motor)("law", "tube", law))
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(1))
    np.testing.assert_allclose(model.load_values("law", q, v, T), law(T, q, v), rtol=1e-14)
    assert model.loaded_tree.loads[0].formula is not None


TABLE = {0: 2.0, 1: -1.0, 2: 0.5}


def branching(t, q, v):
    return -3.0 * q if q > 0 else 5.0 * q


def from_math(t, q, v):
    return math.sin(q) + math.exp(-t)


def looked_up(t, q, v):
    return TABLE[int(t) % 3] * v


def through_arrays(t, q, v):
    return float(np.interp(q, [-1.0, 0.0, 1.0], [0.0, 2.0, 3.0]))


def looping(t, q, v):
    total, n = 0.0, 0
    while n < abs(q) * 10:
        total, n = total + v, n + 1
    return total


def enclosed(scale):
    def law(t, q, v):
        return scale * max(q, v)

    return law


CALLED = [branching, from_math, looked_up, through_arrays, looping, enclosed(4.0)]


@pytest.mark.parametrize("law", CALLED, ids=lambda law: law.__name__)
def test_a_law_that_cannot_be_traced_is_called(law):
    m = pair()
    m.add(lw.Motor("motor", "wrist", law))
    m.add(lw.Motor("native", "shoulder", lambda t, q, v: -2.0 * v))
    model = m.compile()
    rng = np.random.default_rng(0)
    q, v, _ = random_state(model, rng, 11)
    t = rng.uniform(0, 3, 11)
    tau = np.array([[-2.0 * b[0], law(c, a[1], b[1])] for a, b, c in zip(q, v, t, strict=True)])
    expected = np.array([model.forward_dynamics(*one) for one in zip(q, v, tau, strict=True)])
    single = np.array([model.motion(*one) for one in zip(q, v, t, strict=True)])
    assert relative_error(single, expected) < 1e-13
    np.testing.assert_array_equal(model.motion(q, v, t), single)
    np.testing.assert_array_equal(model.load_values("motor", q, v, t)[:, 0], tau[:, 1])
    np.testing.assert_array_equal(model.specialize().motion(q, v, t), single)


def test_what_is_called_adds_to_what_is_native_and_called_before():
    def called(body, t):
        return (1.0, 2.0, 3.0) if t > -1.0 else (0.0, 0.0, 0.0)

    m = pair()
    for k in range(2):
        m.add(lw.Force(f"native force {k}", m["hand"], (4.0, 5.0, 6.0)))
        m.add(lw.Force(f"called force {k}", m["hand"], called))
        m.add(lw.Motor(f"native motor {k}", "wrist", lambda t, q, v: 3.0 * q))
        m.add(lw.Motor(f"called motor {k}", "wrist", branching))
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(2), 9)
    tau, rows = model.loads(q, v)
    expected = 6.0 * q[:, 1] + 2 * np.where(q[:, 1] > 0, -3.0, 5.0) * q[:, 1]
    np.testing.assert_allclose(tau, np.column_stack([0 * expected, expected]), rtol=1e-13)
    push = 2 * np.array([5.0, 7.0, 9.0])
    for k in range(9):
        total = tau[k] + model.jacobian(q[k], "hand")[3:].T @ push
        assert relative_error(model.motion(q, v)[k], model.forward_dynamics(q[k], v[k], total)) < 1e-12
    assert rows[0].any()


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", ["spring", "force", "three bodies", "bushing"])
def test_a_load_on_bodies_that_is_called_gives_what_its_formula_does(name, space):
    """The same load with an `if` in it."""
    c = case(name, space, "welded")
    load = c.mechanism.loads["load"]

    class Branching(type(load)):
        def act(self, t, *sides):
            return super().act(t, *sides) if t > -1.0 else None

    load.__class__ = Branching
    called = c.mechanism.compile()
    assert relative_error(called.motion(c.q, c.v, T), c.model.motion(c.q, c.v, T)) < 1e-12
    rng = np.random.default_rng(1)
    q, v, _ = random_state(called, rng, 5)
    np.testing.assert_array_equal(called.motion(q, v, T), [called.motion(*s, T) for s in zip(q, v)])


def test_feedback_may_be_called():
    m = pair()
    m.add(lw.Feedback("law", ["wrist", "shoulder"], lambda t, q, v: [q["shoulder"], -1.0] if q[0] > 0 else v))
    model = m.compile()
    for x in (0.3, -0.3):
        q, v = np.array([x, 0.2]), np.array([0.5, 0.7])
        tau = np.array([-1.0, x]) if x > 0 else v[::-1]
        assert_driven(model, q, v, tau)


def test_a_law_that_draws_random_numbers_is_not_frozen():
    """It is refused: tests/tree/test_purity.py."""
    rng = np.random.default_rng(0)
    m = pair()
    m.add(lw.Motor("noise", "wrist", lambda t, q, v: rng.normal()))
    with pytest.raises(lw.ModelError, match=r"load 'noise'.*draws random numbers"):
        m.compile().motion(np.zeros(2), np.zeros(2))


def test_called_laws_work_in_threads():
    m = pair()
    m.add(lw.Motor("motor", "wrist", branching))
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(0), 40)
    expected = model.motion(q, v)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: model.motion(q, v), range(20)):
            np.testing.assert_array_equal(found, expected)


# laws that fail


def raising(t, q, v):
    if t > 0.5:
        raise RuntimeError("the cable broke")
    return 0.0


METHODS: dict[str, Callable[..., Any]] = {
    "motion": lambda model, *state: model.motion(*state),
    "loads": lambda model, *state: model.loads(*state),
    "load_values": lambda model, *state: model.load_values("winch", *state),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("batch", [(), (9,)], ids=["single", "batch"])
def test_a_law_that_raises_is_named_with_its_reason(method, batch):
    m = pair()
    m.add(lw.Motor("winch", "wrist", raising))
    model = m.compile()
    q = np.zeros((*batch, 2))
    METHODS[method](model, q, q, 0.0)
    with pytest.raises(lw.LinkworkError, match=r"load 'winch'.*(RuntimeError|the cable broke)"):
        METHODS[method](model, q, q, T)
    METHODS[method](model, q, q, 0.0)


def test_the_reason_told_is_that_of_this_call():
    m = pair()
    m.add(lw.Motor("winch", "wrist", raising))
    m.add(lw.Motor("brake", "shoulder", lambda t, q, v: 1.0 / (q + 2.0) if q < -1 else 0.0))
    model = m.compile()
    with pytest.raises(lw.LinkworkError, match="winch"):
        model.motion(np.zeros(2), np.zeros(2), T)
    with pytest.raises(lw.LinkworkError, match=r"brake.*(ZeroDivisionError|division)"):
        model.motion(np.array([-2.0, 0.0]), np.zeros(2), 0.0)


def test_who_interrupts_a_law_interrupts_the_call():
    def law(t, q, v):
        if t > 0.5:
            raise KeyboardInterrupt
        return 0.0

    m = pair()
    m.add(lw.Motor("winch", "wrist", law))
    model = m.compile()
    with pytest.raises(KeyboardInterrupt):
        model.motion(np.zeros(2), np.zeros(2), T)


def test_a_law_of_the_whole_mechanism_that_raises_is_not_passed_over():
    class Balance(lw.Load):
        whole = True

        def act(self, t, system):
            system.push("wrist", raising(t, 0.0, 0.0))

    m = pair()
    m.add(Balance("balance"))
    model = m.compile()
    with pytest.raises(lw.LinkworkError, match="balance"):
        model.motion(np.zeros(2), np.zeros(2), T)


@pytest.mark.parametrize(
    "law", [lambda t, q, v: math.nan * q, lambda t, q, v: lw.sqrt(q - 5.0), lambda t, q, v: math.inf]
)
def test_a_law_that_is_not_finite_is_named(law):
    m = pair()
    m.add(lw.Motor("winch", "wrist", law))
    model = m.compile()
    with pytest.raises(lw.LinkworkError, match="winch"):
        model.motion(np.ones(2), np.zeros(2))


WRONG = {
    "force": (lambda m: lw.Force("bad", m["arm"], lambda body, t: (1, 2)), "2 numbers where the force has 3"),
    "torque": (lambda m: lw.Torque("bad", m["arm"], lambda body, t: 1.0), "1 numbers where the torque has 3"),
    "wrench": (lambda m: lw.Wrench("bad", m["arm"], lambda body, t: [1.0] * 7), "7 numbers where the torque"),
    "motor": (lambda m: lw.Motor("bad", "wrist", lambda t, q, v: [q, v]), "2 numbers where the force has 1"),
    "feedback": (lambda m: lw.Feedback("bad", "wrist", lambda t, q, v: q), "2 numbers where the driven .* 1"),
    "name": (lambda m: lw.Feedback("bad", "wrist", lambda t, q, v: q["rist"]), "unknown joint 'rist'"),
    "arguments": (lambda m: lw.Motor("bad", "wrist", lambda t: 0.0), "TypeError"),
    "error": (lambda m: lw.Motor("bad", "wrist", lambda t, q, v: 1 / 0), "ZeroDivisionError"),
    "text": (
        lambda m: lw.Motor("bad", "wrist", lambda t, q, v: "much"),
        "gives 'much' where .* return numbers",
    ),
    "nothing": (lambda m: lw.Motor("bad", "wrist", lambda t, q, v: None), "gives None where the force has 1"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_law_that_cannot_work_is_told_at_once_and_by_name(wrong):
    make, words = WRONG[wrong]
    m = pair()
    m.add(make(m))
    with pytest.raises(lw.ModelError, match=f"load 'bad'.*({words})"):
        m.compile().motion(np.zeros(2), np.zeros(2))


def test_a_called_law_that_changes_how_many_numbers_it_gives_is_named():
    m = pair()
    m.add(lw.Motor("winch", "wrist", lambda t, q, v: [0.0] if t < 0.5 else [0.0, 1.0]))
    model = m.compile()
    with pytest.raises(lw.LinkworkError, match=r"winch.*2 numbers"):
        model.motion(np.zeros(2), np.zeros(2), T)


def test_states_of_other_shapes_are_refused():
    model = crowd("plane", 2).compile()
    q, v, _ = random_state(model, np.random.default_rng(0), 4)
    for wrong, words in (
        ((q[:, :-1], v, 0.0), r"q has shape \(4, 3\)"),
        ((q[0], v[0, :-1], 0.0), r"v has shape \(3,\)"),
        ((q, v[:3], 0.0), "batches of different sizes"),
        ((q, v, np.zeros((4, 2))), r"t has shape \(4, 2\)"),
        ((q, v, "now"), "t .now. is not made of numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            model.motion(*wrong)
    with pytest.raises(ValueError, match=r"t.* is nan"):
        model.motion(q[0], v[0], np.nan)
    with pytest.raises(ValueError, match="load_values: unknown load 'motr'; did you mean 'motor'"):
        model.load_values("motr", q, v)
