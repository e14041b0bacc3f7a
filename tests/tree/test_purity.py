"""Laws that are not functions of their arguments are refused by name."""

import itertools
import random
import time
from typing import Any

import numpy as np
import pytest

import linkwork as lw

integral = 0.0
rng = np.random.default_rng(0)
calls: list[float] = []


def pid(t: Any, q: Any, v: Any) -> Any:
    global integral
    integral += 0.001 * q
    return -integral


def branching_pid(t: Any, q: Any, v: Any) -> Any:
    global integral
    integral += 0.001 * (1.0 + q)
    return -integral if q > -9.0 else 0.0


class Pid:
    def __init__(self) -> None:
        self.integral, self.last = 0.0, [0.0]

    def law(self, t: Any, q: Any, v: Any) -> Any:
        self.integral += 0.001 * q
        self.last[0] = q
        return -self.integral


def counting(t: Any, q: Any, v: Any) -> Any:
    calls.append(0.0)
    return 0.5 * len(calls) * q


numbers = itertools.count()

LAWS = {
    "pid": (pid, "keeps what it computes, in 'integral'"),
    "branching pid": (branching_pid, "called twice"),
    "pid object": (Pid().law, "keeps what it computes, in 'law.integral'"),
    "counting": (counting, "two formulas"),
    "an iterator": (lambda t, q, v: next(numbers) * q, "two formulas"),
    "noise": (lambda t, q, v: rng.normal() * q, "draws random numbers, from 'rng'"),
    "seldom": (lambda t, q, v: 1.0 if rng.random() < 0.001 else 0.0, "draws random numbers, from 'rng'"),
    "random": (lambda t, q, v: 1.0 if random.random() < 0.001 else 0.0, "draws random numbers"),
    "numpy": (lambda t, q, v: 1.0 if np.random.rand() < 0.001 else 0.0, "draws random numbers"),  # noqa: NPY002
    "called noise": (lambda t, q, v: rng.normal() if q > -9.0 else 0.0, "twice|random"),
    "clock": (lambda t, q, v: time.perf_counter(), "two formulas"),
    "called clock": (lambda t, q, v: time.perf_counter() if q > -9.0 else 0.0, "called twice"),
}


def pair() -> lw.Mechanism:
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Sphere(0.1), mass=1.0, position=(0, 0, -1)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    return m


@pytest.mark.parametrize("name", LAWS)
def test_a_law_that_is_no_function_of_its_arguments_is_refused(name):
    global integral
    integral = 0.0
    law, why = LAWS[name]
    m = pair()
    m.add(lw.Motor("controller", "pin", law))
    with pytest.raises(lw.ModelError, match=f"load 'controller'.*({why}).*lw.Sampled.*lw.Input"):
        lw.simulate(m, 1.0)
    assert isinstance(integral, float)


@pytest.mark.parametrize("name", ["clock", "noise", "counting"])
def test_so_are_events_joints_constraints_and_drivers(name):
    law, _ = LAWS[name]

    class Knee(lw.Joint):
        coordinates = 1

        def motion(self, q: Any) -> Any:
            return lw.translation(0, 0, law(0.0, q[0], 0.0)) @ lw.rotation_y(q[0])

    class Own(lw.Constraint):
        def phi(self, a: Any) -> Any:
            return [a.position[0] - law(0.0, a.position[2], 0.0)]

    with pytest.raises(lw.ModelError, match="event 'e'"):
        lw.simulate(pair(), 1.0, events=[lw.Event("e", lambda t, q, v: law(t, q[0], v[0]) + 1.0)])
    m = pair()
    m.add(Knee("knee", m["bob"], m.add(lw.Body("foot", lw.Sphere(0.1), mass=1.0))))
    with pytest.raises(lw.ModelError, match="joint 'knee'"):
        lw.simulate(m, 1.0)
    m = pair()
    m.add(Own("own", m["bob"]))
    with pytest.raises(lw.ModelError, match="constraint 'own'"):
        lw.simulate(m, 1.0)
    m = pair()
    m.add(lw.Driver("drive", "pin", lambda t: law(t, t, 0.0)))
    with pytest.raises(lw.ModelError, match="driver 'drive'"):
        lw.simulate(m, 1.0)


def test_a_law_may_count_and_remember_what_does_not_matter():
    seen: dict[str, int] = {"calls": 0}
    memory: dict[Any, float] = {}
    log: list[Any] = []

    def law(t: Any, q: Any, v: Any) -> Any:
        seen["calls"] += 1
        log.append(t)
        if q not in memory:
            memory[q] = -2.0 * q if q > 0 else 0.0
        return memory[q]

    m = pair()
    m.add(lw.Motor("motor", "pin", law))
    run = lw.simulate(m, 0.5, m.compile().state(pin=0.2))
    assert run.status == "DONE"
    assert seen["calls"] > 10
    assert len(log) > 10
    assert all(isinstance(t, float) for t in log)


def test_a_law_that_writes_down_what_it_is_given_is_traced():
    log: list[Any] = []

    def law(t: Any, q: Any, v: Any) -> Any:
        log.append(q)
        return -2.0 * q

    m = pair()
    m.add(lw.Motor("motor", "pin", law))
    assert lw.simulate(m, 0.1).report.python_laws == ()
    assert log == []
