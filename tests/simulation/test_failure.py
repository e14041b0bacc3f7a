"""How faults are reported, of laws, joints, drivers, constraints, stops, events: the culprit has its name."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw

NAN = math.nan


def arm(*adding: Callable[..., Any], **shoulder: Any) -> lw.Mechanism:
    """Return two bars with hinges A and B, and what is added to them."""
    m = lw.Mechanism("arm")
    upper = m.add(lw.Body("upper", lw.Box(1, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0)))
    lower = m.add(lw.Body("lower", lw.Box(1, 0.1, 0.1), mass=1.0, position=(1.5, 0, 0)))
    m.add(lw.Revolute("A", m.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), **shoulder))
    m.add(lw.Revolute("B", upper, lower, at=(1, 0, 0), axis=(0, 1, 0)))
    for make in adding:
        m.add(make(m))
    return m


def moved(*adding: Callable[..., Any], **options: Any) -> Callable[[], Any]:
    return lambda: lw.simulate(arm(*adding), 1.0, **options)


def motor(law: Any) -> Callable[..., Any]:
    return lambda m: lw.Motor("M", "A", law)


def force(law: Any) -> Callable[..., Any]:
    return lambda m: lw.Force("F", m["lower"], law)


def driver(law: Any, joint: str = "A") -> Callable[..., Any]:
    return lambda m: lw.Driver("D" if joint == "A" else "E", joint, law)


def event(quantity: Any, **words: Any) -> dict[str, Any]:
    return {"events": [lw.Event("watch", quantity, **words)]}


def own_joint(motion: Callable[..., Any], **options: Any) -> Callable[[], Any]:
    """Return a run of a body on a joint of one's own, that begins at 0."""
    kind = type("Own", (lw.Joint,), {"coordinates": 1, "motion": lambda self, q: motion(q[0])})
    m = lw.Mechanism("own")
    m.add(kind("J", m.ground, m.add(lw.Body("body", lw.Sphere(0.1), mass=1.0))))
    return lambda: lw.simulate(m, 1.0, **options)


def own_constraint(phi: Callable[..., Any]) -> Callable[..., Any]:
    kind = type("Own", (lw.Constraint,), {"phi": lambda self, a, b: phi(a, b)})
    return lambda m: kind("C", m["upper"], m["lower"])


def driven(*adding: Callable[..., Any]) -> Callable[[], Any]:
    """Return a driven motion, and the forces that it takes."""

    def run() -> Any:
        motion = lw.kinematics(arm(driver(lambda t: t), driver(lambda t: t, "B"), *adding), [0.0, 0.5, 1.0])
        return motion["D"].force

    return run


def raising(*given: Any) -> Any:
    raise RuntimeError("boom")


def late(t: Any, *given: Any) -> float:
    if float(t) > 0.5:
        raise RuntimeError("late boom")
    return 0.0


def stopped(start: float) -> Callable[[], Any]:
    """Return a run of a hinge that begins beyond an exponential stop."""
    m = arm(limits=(-1, 1), stop=lw.ExponentialStop(1.0, 100.0))
    return lambda: lw.simulate(m, 1.0, m.compile().state(A=start))


FAULTS: dict[str, tuple[Callable[[], Any], str]] = {
    # laws
    "NaN": (moved(force(lambda body, t: (NAN, 0, 0))), "load 'F' gives nan in component 0"),
    "NaN for ever": (moved(motor(lambda t, q, v: NAN)), "load 'M' gives nan"),
    "a root, later": (
        moved(motor(lambda t, q, v: lw.sqrt(0.5 - t))),
        "at t = 0.5 s: load 'M' gives no finite number",
    ),
    "a logarithm, at once": (moved(motor(lambda t, q, v: lw.log(q))), "at t = 0 s: load 'M' gives no finite"),
    "one over zero": (moved(motor(lambda t, q, v: 1 / v)), "load 'M' .* division by zero"),
    "a pole": (moved(motor(lambda t, q, v: lw.tan(4 * t))), "at t = 0.39.*largest force .* load 'M'"),
    "too large a number": (moved(motor(lambda t, q, v: 1e308)), r"load 'M' gives 1e\+308, more than can be"),
    "too large, later": (
        moved(motor(lambda t, q, v: lw.where(t > 0.5, -1e308, 0.0))),
        r"at t = 0.5 s: load 'M' gives 1e\+308",
    ),
    "too large, fixed steps": (
        moved(motor(lambda t, q, v: 1e308), method="rk4", step=1e-3),
        r"load 'M' gives 1e\+308",
    ),
    "raises": (moved(force(raising)), "load 'F': its law raised RuntimeError: boom"),
    "raises later": (moved(motor(late)), "load 'M' raised RuntimeError: late boom"),
    "too few numbers": (moved(force(lambda body, t: (1, 0))), "load 'F': .*2 numbers where the force has 3"),
    "nothing": (moved(force(lambda body, t: None)), "load 'F': .*where the force has 3"),
    "a text": (moved(motor(lambda t, q, v: "x")), "load 'M': its law gives 'x' where the force has 1"),
    "a complex number": (moved(motor(lambda t, q, v: 1j)), "load 'M': its law raised TypeError"),
    "wrong arguments": (moved(motor(lambda t: 1.0)), "load 'M': its law raised TypeError"),
    "feedback to infinity": (moved(motor(lambda t, q, v: lw.exp(50 * q) + 1e3 * v * v)), "load 'M'"),
    # joints
    "motion of NaN": (
        own_joint(lambda q: lw.translation(0, 0, NAN * q)),
        r"joint 'J': motion\(q\) gives nan",
    ),
    "motion of a constant NaN": (own_joint(lambda q: lw.translation(0, NAN, q)), "joint 'J': .* gives nan"),
    "motion that stands still": (
        own_joint(lambda q: lw.translation(0, 0, 1)),
        r"joint 'J': motion\(q\) does not move with coordinate 0",
    ),
    "motion that is no frame": (own_joint(lambda q: 3.0), r"joint 'J': motion\(q\) returned"),
    "motion that raises": (own_joint(raising), r"joint 'J': motion\(q\) raised RuntimeError: boom"),
    "no pose at zero": (own_joint(lambda q: lw.translation(0, 0, lw.log(q))), "joint 'J' has no pose at"),
    "out of its domain, fixed steps": (
        own_joint(lambda q: lw.translation(0, 0, lw.sqrt(0.1 - q)), method="rk4", step=1e-3),
        r"the motion of joint 'J' has no value, or no derivatives, at q = 0\.1",
    ),
    "far beyond a stop": (
        stopped(20.0),
        r"stop of joint 'A' gives nan at q = 20, beyond its limits \(-1, 1\)",
    ),
    "far below a stop": (stopped(-20.0), r"stop of joint 'A' gives nan at q = -20, beyond its limits"),
    "too stiff a spring": (
        lambda: lw.simulate(arm(stiffness=1e308, rest=1.0), 1.0),
        r"joint 'A' itself gives 1e\+308",
    ),
    # constraints and drivers
    "phi of nothing": (moved(own_constraint(lambda a, b: [])), "constraint 'C': phi gives no equation"),
    "phi of None": (moved(own_constraint(lambda a, b: None)), "constraint 'C': phi gives"),
    "phi of NaN": (moved(own_constraint(lambda a, b: [NAN])), r"constraint 'C': phi gives \[nan\] as drawn"),
    "phi that raises": (moved(own_constraint(raising)), "constraint 'C': phi raised RuntimeError: boom"),
    "a driver of NaN": (moved(driver(lambda t: NAN * t)), "driver 'D': its law gives nan"),
    "a driver of nothing": (moved(driver(lambda t: None)), "driver 'D': .*gave None; return one number"),
    "a driver that jumps": (moved(driver(lambda t: lw.where(t > 0.5, 1.0, 0.0))), "joint 'A'.*driven by 'D'"),
    "a driver that ends": (moved(driver(lambda t: lw.sqrt(0.5 - t))), "at t = 0.5 s.*'A'.*driven by 'D'"),
    # kinematics
    "kinematics, phi of NaN": (driven(own_constraint(lambda a, b: [NAN])), "constraint 'C': phi gives"),
    "kinematics, a load raises": (driven(force(raising)), "load 'F' raised RuntimeError: boom"),
    "kinematics, a load of NaN": (
        driven(force(lambda body, t: (NAN, 0, 0))),
        "at t = 0 s: load 'F' gives what is not finite",
    ),
    "kinematics, a driver ends": (
        lambda: lw.kinematics(arm(driver(lambda t: lw.sqrt(0.5 - t)), driver(lambda t: t, "B")), [0.0, 1.0]),
        "driver 'D': its law is not finite at t = 1 s",
    ),
    # events
    "an event of NaN": (moved(**event(lambda t, q, v: NAN)), "event 'watch' gives nan"),
    "an event of two": (
        moved(**event(lambda t, q, v: [1.0, 2.0])),
        "event 'watch': its quantity is 2 numbers",
    ),
    "an event that raises": (moved(**event(late)), "event 'watch' raised RuntimeError: late boom"),
    "an action out of range": (
        moved(**event(lambda t, q, v: t - 0.5, action=lambda t, q, v: (q, [1e200, 0.0]))),
        r"the action of event 'watch' gave q = .* of which the energy cannot be computed",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported_by_name(name):
    run, words = FAULTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((lw.LinkworkError, ValueError), match=f"(?s){words}"):
            run()


@pytest.mark.parametrize("name", ["motion of NaN", "motion that is no frame", "motion that raises"])
def test_kinematics_names_a_joint_of_ones_own_once(name):
    make, words = FAULTS[name]
    with pytest.raises(lw.LinkworkError, match=words):
        make()
    kinds = {
        "motion of NaN": lambda q: lw.translation(0, 0, NAN * q),
        "motion that is no frame": lambda q: 3.0,
    }
    kind = type(
        "Own", (lw.Joint,), {"coordinates": 1, "motion": lambda self, q: kinds.get(name, raising)(q[0])}
    )
    m = lw.Mechanism("own")
    m.add(kind("J", m.ground, m.add(lw.Body("body", lw.Sphere(0.1), mass=1.0))))
    m.add(lw.Driver("D", "J", lambda t: t))
    with pytest.raises(lw.LinkworkError, match=words) as caught:
        lw.kinematics(m, [0.0, 0.1])
    assert str(caught.value).count("joint 'J'") == 1


def rooted() -> lw.Mechanism:
    """Return a body that falls to where its joint's formula ends: its height is the root of 0.1 - q."""
    motion = lambda self, q: lw.translation(0, 0, lw.sqrt(0.1 - q[0]))  # noqa: E731
    kind = type("Root", (lw.Joint,), {"coordinates": 1, "motion": motion})
    m = lw.Mechanism("root")
    m.add(kind("J", m.ground, m.add(lw.Body("body", lw.Sphere(0.1), mass=1.0))))
    return m


SUSPECT = (
    r"the energy does not balance: .* J; the motion of joint 'J' has no value, or no derivatives, at q = 0\.1"
)


@pytest.mark.parametrize("method", ["auto", "rkf45", "dop853", "rodas"])
def test_energy_that_does_not_balance_is_a_warning_with_the_suspect(method):
    with pytest.warns(UserWarning, match=SUSPECT):
        run = lw.simulate(rooted(), 0.5, method=method)
    assert run.energy_error > 0.1
    assert any("joint 'J'" in words for words in run.report.warnings)


def test_of_a_batch_the_doubtful_runs_are_counted():
    model = rooted().compile()
    with pytest.warns(UserWarning, match=r"2 of 3 runs are doubtful, the first is run 0: the energy"):
        runs = lw.simulate(model, 0.5, q=[[0.0], [0.01], [-5.0]], v=[[0.0], [0.0], [0.0]])
    assert [bool(report.warnings) for report in runs.reports] == [True, True, False]


@pytest.mark.parametrize("accuracy", [1e-3, 1e-6, 1e-10])
def test_ordinary_motions_are_not_doubted(accuracy):
    """Stops, dry friction, a square wave, drivers: all that takes many rejected steps."""
    square = lambda t, q, v: lw.where(lw.sin(20 * t) > 0, 3.0, -3.0)  # noqa: E731
    for m in (
        arm(motor(square)),
        arm(limits=(-0.2, 0.2), friction=0.5),
        arm(driver(lambda t: lw.sin(3 * t))),
        lw.examples.four_bar(),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run = lw.simulate(m, 3.0, accuracy=accuracy)
        assert run.energy_error < 100 * accuracy


def test_a_law_of_nan_is_a_function_all_the_same():
    """Two formulas with NaN in them are the same formula; the run says who gives it."""
    with pytest.raises(lw.SimulationError, match="load 'M' gives nan") as caught:
        lw.simulate(arm(motor(lambda t, q, v: np.nan)), 1.0)
    error: Any = caught.value
    assert error.where == "M"
