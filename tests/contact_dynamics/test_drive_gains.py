"""Laws of motors in steps with contact: implicit, whatever their gains."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact_dynamics.problem.drive_gains import DriveGains
from linkwork.native.stages import Program, Value

H = 1 / 60


def arm(law: Callable[..., Any] | None = None, joint: type = lw.Revolute) -> lw.Mechanism:
    """Return an arm on a driven joint, above ground that it does not reach."""
    m = lw.Mechanism("arm")
    body = m.add(lw.Body("arm", lw.Box(1.0, 0.05, 0.05), density=1000, position=(0.5, 0, 2)))
    options = {"axis": (0, 1, 0)} if joint is lw.Revolute else {}
    m.add(joint("hinge", m.ground, body, at=(0, 0, 2), **options))
    if law is not None:
        m.add(lw.Motor("servo", "hinge", law))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    return m


def servo(stiffness: Any, damping: Any) -> Callable[..., Any]:
    return lambda t, q, v: stiffness * (0.5 * lw.sin(2 * t) - q) - damping * v


def gains(model: lw.Model, t: float, q: np.ndarray, v: np.ndarray, inputs: Any = ()) -> np.ndarray:
    """Return what a program with the gains of a model adds in a time H."""
    found, program = np.zeros(model.nv), Program(2)
    given = Value(0), q, v, np.array(inputs, float), Value(1)
    DriveGains(model).add_stages(program, *given, found)
    program.numbers[:] = t, H
    program.run()
    return found


def added(model: lw.Model, q: float = 0.0, v: float = 0.0, t: float = 0.0, inputs: Any = ()) -> np.ndarray:
    found = gains(model, t, np.array([q]), np.array([v]), inputs)
    return found


@pytest.mark.parametrize("stiffness", [50.0, 5e4, 1e7])
def test_a_stiff_servo_follows_its_order_in_steps_of_a_sixtieth_of_a_second(stiffness: float) -> None:
    run = lw.simulate(arm(servo(stiffness, 0.1 * stiffness)), 3.0, step=H)
    fine = lw.simulate(arm(servo(stiffness, 0.1 * stiffness)), 3.0, times=run.time)  # to an accuracy
    assert run["hinge"].position == pytest.approx(fine["hinge"].position, abs=2e-3)


def test_gains_are_those_of_the_law_where_it_is() -> None:
    model = arm(servo(300.0, 20.0)).compile()
    assert added(model) == pytest.approx([H / 2 * 20.0 + H**2 / 4 * 300.0])
    hardening = arm(lambda t, q, v: -(q**3) * 1000.0 - v * lw.abs(v)).compile()
    assert added(hardening, 0.5, -0.3) == pytest.approx([H / 2 * 0.6 + H**2 / 4 * 3000.0 * 0.25])
    weak = arm(lambda t, q, v: lw.max(lw.min(-1000.0 * q, 5.0), -5.0)).compile()
    assert added(weak, 0.001) == pytest.approx([H**2 / 4 * 1000.0])
    assert added(weak, 0.1) == [0.0]  # it is saturated


def test_gains_may_be_inputs() -> None:
    model = arm(servo(lw.Input("k", 10.0), 2.0)).compile()
    assert added(model, inputs=[400.0]) == pytest.approx([H / 2 * 2.0 + H**2 / 4 * 400.0])


def test_a_drive_that_pushes_on_and_a_law_that_is_called_stay_explicit() -> None:
    assert added(arm(lambda t, q, v: 3.0 * v).compile()) == [0.0]
    assert added(arm(lambda t, q, v: -3.0 * float(v)).compile()) == [0.0]
    assert added(arm().compile()) == [0.0]


def test_feedback_of_all_joints_and_springs_about_joints_count() -> None:
    m = arm()
    m.add(lw.Feedback("hold", "hinge", lambda t, q, v: -50.0 * q["hinge"] - 4.0 * v["hinge"]))
    m.add(lw.TorsionSpring("spring", "hinge", stiffness=700.0, damping=1.0))
    assert added(m.compile()) == pytest.approx([H / 2 * 5.0 + H**2 / 4 * 750.0])


def test_of_a_ball_joint_the_damping_counts() -> None:
    m = arm(lambda t, q, v: [-2.0 * x for x in v], lw.Spherical)
    model = m.compile()
    found = gains(model, 0.0, model.state().q, np.zeros(3))
    assert found == pytest.approx([H / 2 * 2.0] * 3)
