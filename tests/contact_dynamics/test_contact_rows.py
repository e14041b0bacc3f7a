"""Rows of contacts that cannot part: joints keep what touches from moving along the normal."""

import numpy as np
import pytest

import linkwork as lw


def wagon(lifts):
    """Return a wagon whose wheel touches its side: the axle keeps the wheel there, whatever happens."""
    m = lw.Mechanism("wagon")
    if not lifts:
        m.ground.add(lw.Plane())
    wood = lw.Material(friction=0.6)
    frame = m.add(lw.Body("frame", lw.Box(2, 1, 0.3), mass=500, position=(0, 0, 1.2), material=wood))
    hub = m.add(lw.Body("hub", lw.Sphere(0.05), mass=10, position=(0.7, 0.6, 0.9)))
    wheel = lw.Cylinder(radius=0.35, length=0.2, rotation=lw.rotation_x(np.pi / 2))
    wheel = m.add(lw.Body("wheel", wheel, mass=15, position=(0.7, 0.6, 0.9), material=wood))
    if lifts:
        m.add(lw.Prismatic("lift", m.ground, frame, axis=(0, 0, 1)))
    m.add(lw.Prismatic("spring", frame, hub, axis=(0, 0, 1), stiffness=20000, damping=1500))
    m.add(lw.Revolute("axle", hub, wheel, axis=(0, 1, 0)))
    m.add(lw.Motor("motor", "axle", 100.0))
    m.add(lw.Contact("contact"))
    return m


@pytest.mark.parametrize("way", [{"step": 1 / 120}, {}], ids=["by steps", "to an accuracy"])
def test_a_wheel_that_slides_along_a_side_is_not_pressed_against_it(way):
    run = lw.simulate(wagon(lifts=True), 1.0, **way)
    assert not run.report.warnings
    moment = 0.5 * 15 * 0.35**2
    assert run["axle"].velocity[-1] == pytest.approx(100.0 / moment, rel=1e-9)
    assert not run["wheel"].contact_force.any()


def test_a_wagon_that_falls_on_the_floor_is_solved_to_the_tolerance():
    """Rows of 1e-17 took impulses of 1e29, and a car flew off at 5 km/s."""
    run = lw.simulate(wagon(lifts=False), 1.0, step=1 / 120)
    assert not [words for words in run.report.warnings if "not solved" in words]
    assert np.abs(run["axle"].velocity).max() < 100.0
    beside = [contact for contact in run.contacts if contact.bodies == ("frame", "wheel")]
    assert len(beside) > 100
    assert not any(contact.force.any() for contact in beside)


@pytest.mark.parametrize("turns", [-1, 1])
def test_a_wheel_that_is_pushed_sideways_slides_sideways_at_once(turns):
    """Some nm/s along its rim, which friction ends at once, are no slip to turn back and forth."""
    g, angle, mu = 9.81, np.radians(30.0), 0.3
    m = lw.Mechanism("side", gravity=(0, g * np.sin(angle), -g * np.cos(angle)))
    m.ground.add(lw.Plane(), material=lw.Material(friction=mu))
    point = lw.Inertia(1.0, (0, 0, 0), (0.01, 0.01, 0.01))
    carriage, hub = (m.add(lw.Body(name, point, position=(0, 0, 0.2))) for name in ("carriage", "hub"))
    rubber = lw.Material(friction=mu)
    wheel = m.add(lw.Body("wheel", lw.Sphere(0.2), mass=1.0, position=(0, 0, 0.2), material=rubber))
    m.add(lw.Prismatic("side", m.ground, carriage, axis=(0, 1, 0)))
    m.add(lw.Prismatic("up", carriage, hub, axis=(0, 0, 1)))
    m.add(lw.Revolute("axle", hub, wheel, at=(0, 0, 0.2), axis=(0, 1, 0)))
    m.add(lw.Contact("contact"))
    model = m.compile()
    start = model.state(velocities={"side": 3.6e-9, "axle": turns * 2.2e-8})
    run = lw.simulate(model, 0.5, start)
    a = g * (np.sin(angle) - mu * np.cos(angle) * 2.0 / 3.0)  # the carriage is not held up by the wheel
    assert run["side"].velocity[-1] == pytest.approx(0.5 * a, abs=1e-8)
    assert run.report.evaluations < 1000
