"""The work of forces and contacts in steps: what they do at the mean velocity of a step."""

import numpy as np
import pytest

import linkwork as lw


def pushed_against_its_stop(step):
    m = lw.Mechanism("flap", space="plane", gravity=(0, -2))
    flap = m.add(lw.Body("flap", lw.Box(0.2, 0.03, 0.1), density=50, position=(0.1, 0)))
    m.add(lw.Revolute("pivot", m.ground, flap, at=(0, 0), limits=(-0.5, 0.5), stop="rigid"))
    m.add(lw.Motor("motor", "pivot", lambda t, q, v: 0.05 * lw.sin(6 * t)))
    return lw.simulate(m, 2.0, step=step)


def test_energy_balances_to_second_order_where_a_motor_presses_against_a_stop():
    """A motor does nothing where its joint rests, whatever the velocity would be without the stop."""
    coarse, fine = (pushed_against_its_stop(step) for step in (1 / 240, 1 / 960))
    assert coarse.energy_error < 1e-4
    assert fine.energy_error < coarse.energy_error / 10.0
    assert fine.work[-1] == pytest.approx(pushed_against_its_stop(1 / 1920).work[-1], rel=1e-5)


def test_energy_balances_exactly_where_a_motor_turns_a_wheel():
    """In steps of 1/60 s: damping is that of the mean velocity, as in the trapezoidal rule."""
    m = lw.Mechanism("wheel", gravity=(0, 0, 0))
    wheel = m.add(lw.Body("wheel", lw.Cylinder(radius=0.2, length=0.1), mass=1.0, position=(0, 0, 1)))
    m.ground.add(lw.Plane())
    m.add(lw.Free("fall", m.ground, m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0, position=(2, 0, 0.5)))))
    m.add(lw.Revolute("axle", m.ground, wheel, axis=(0, 0, 1), damping=0.01))
    m.add(lw.Motor("motor", "axle", lambda t, q, v: lw.sin(20 * t)))
    m.add(lw.Contact("contact"))
    assert lw.simulate(m, 1.0, step=1 / 60).energy_error < 1e-13


@pytest.mark.parametrize("step", [1 / 60, 1 / 240])
def test_work_of_what_is_dragged_is_that_of_the_force_less_that_of_friction(step):
    m = lw.Mechanism("sledge")
    rough = lw.Material(friction=0.4)
    m.ground.add(lw.Plane(), material=rough)
    sledge = m.add(lw.Body("sledge", lw.Box(0.4, 0.4, 0.2), mass=10.0, position=(0, 0, 0.1), material=rough))
    m.add(lw.Force("rope", sledge, lambda body, t: (60.0, 0.0, 0.0)))
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 1.0, step=step)
    way = run["sledge"].position[-1][0]
    assert way == pytest.approx(0.5 * (6.0 - 0.4 * 9.81), rel=1e-6)
    assert run.work[-1] == pytest.approx((60.0 - 0.4 * 98.1) * way, rel=1e-6)
    assert run.energy_error < 1e-6


def test_what_rests_takes_no_energy():
    """Gravity pulls and the floor pushes in every step, and neither does anything."""
    m = lw.Mechanism("box")
    m.ground.add(lw.Plane())
    box = m.add(lw.Body("box", lw.Box(0.4, 0.4, 0.2), mass=10.0, position=(0, 0, 0.1)))
    m.add(lw.Torque("hum", box, lambda body, t: (0.0, 0.0, 1e-6 * lw.sin(t))))  # keeps it awake
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 1.0, step=1 / 60)
    assert np.abs(run.work).max() < 1e-9
