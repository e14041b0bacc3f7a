"""Forces and modes at contacts that stay, against what is known by hand."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact_dynamics.event_driven.active_contacts import ActiveContacts
from linkwork.contact_dynamics.event_driven.active_record import OPEN, SLIDING, STICKING
from linkwork.contact_dynamics.event_driven.contact_forces import contact_forces
from linkwork.contact_dynamics.event_driven.touching import Surfaces

G = 9.81


def on_a_plane(shape, height, mu, gravity=(0, 0, -G), mass=1.0):
    mechanism = lw.Mechanism("on a plane")
    body = mechanism.add(lw.Body("body", shape, mass=mass, position=(0, 0, height)))
    mechanism.add(lw.Free("free", mechanism.ground, body))
    mechanism.gravity = gravity
    return meeting(mechanism, mu, lw.Plane())


def meeting(mechanism, mu, *shapes):
    if shapes:
        mechanism.ground.add(*shapes)
    world = lw.Colliders.of(mechanism)
    model = mechanism.compile()
    looks = ActiveContacts(Surfaces(model, world), 3)
    return model, looks, lambda touching, slips: np.full((len(touching.gap), 3), mu)


@pytest.mark.parametrize("heading", np.arange(8) * np.pi / 4 + 0.1)
@pytest.mark.parametrize("part", [1.001, 0.999])
def test_a_box_on_a_slope_sticks_or_slides_by_a_thousandth(part, heading):
    slope, mu = np.pi / 6, part * np.tan(np.pi / 6)
    down = np.array([np.cos(heading), np.sin(heading), 0.0])
    gravity = G * np.sin(slope) * down - (0, 0, G * np.cos(slope))
    model, looks, friction = on_a_plane(lw.Box(0.1, 0.1, 0.1), 0.05, mu, gravity)
    found = contact_forces(looks, friction, model.q_drawn, np.zeros(6))
    expected = max(0.0, 1.0 - part) * G * np.sin(slope) * down
    assert (found.modes.mode == (STICKING if part > 1.0 else SLIDING)).all()
    assert found.accelerations[3:] == pytest.approx(expected, abs=1e-10)
    assert found.accelerations[:3] == pytest.approx(np.zeros(3), abs=1e-10)


def test_a_ball_that_slides_is_braked_and_spun_up():
    model, looks, friction = on_a_plane(lw.Sphere(0.1), 0.1, 0.3, mass=2.0)
    found = contact_forces(looks, friction, model.q_drawn, np.array([0, 5.0, 0, 2.0, 0, 0]))
    assert found.modes.mode.tolist() == [SLIDING]
    assert found.world_forces[0] * (1 if found.touching.link[0, 0] == 0 else -1) == pytest.approx(
        [-0.3 * 2.0 * G, 0, 2.0 * G], rel=1e-10
    )
    assert np.linalg.norm(found.slip) == pytest.approx(1.5)
    assert found.accelerations[1] == pytest.approx(0.3 * G * 0.1 / (0.4 * 0.1**2))


def test_a_ball_that_rolls_over_a_ball_is_pressed_less():
    """N = m (g cos(angle) - v^2 / (R + r)), and it speeds up by 5/7 g sin(angle)."""
    R, r, angle, speed = 0.5, 0.1, 0.4, 1.2
    n, along = np.array([np.sin(angle), 0, np.cos(angle)]), np.array([np.cos(angle), 0, -np.sin(angle)])
    mechanism = lw.Mechanism("over a ball")
    body = mechanism.add(lw.Body("body", lw.Sphere(r), mass=1.0, position=tuple((R + r) * n)))
    mechanism.add(lw.Free("free", mechanism.ground, body))
    model, looks, friction = meeting(mechanism, 0.9, lw.Sphere(R))
    v = np.concatenate([np.cross(n, speed * along / r), speed * along])
    found = contact_forces(looks, friction, model.q_drawn, v)
    assert found.modes.mode.tolist() == [STICKING]
    pressed = G * np.cos(angle) - speed**2 / (R + r)
    assert found.forces[0, 0] == pytest.approx(pressed, rel=1e-9)
    world = found.accelerations[3:] + np.cross(v[:3], v[3:])
    expected = 5 / 7 * G * np.sin(angle) * along - speed**2 / (R + r) * n
    assert world == pytest.approx(expected, abs=1e-8)


def test_what_is_pulled_off_is_open():
    model, looks, friction = on_a_plane(lw.Box(0.1, 0.1, 0.1), 0.05, 0.5, (0, 0, 1.0))
    found = contact_forces(looks, friction, model.q_drawn, np.zeros(6))
    assert (found.modes.mode == OPEN).all()
    assert found.accelerations[5] == pytest.approx(1.0)
    assert not found.forces.any()


def test_a_four_bar_is_held_by_a_stop_that_it_lies_on():
    """The loop and the contact are one problem: forces do no work, and nothing moves."""
    mechanism = lw.Mechanism("four-bar")
    crank = mechanism.add(lw.Body("crank", lw.Box(0.2, 0.02, 0.02), mass=1.0, position=(0.1, 0, 0)))
    rod = mechanism.add(lw.Body("rod", lw.Sphere(0.05), mass=1.0, position=(0.4, 0, 0)))
    rocker = mechanism.add(lw.Body("rocker", lw.Box(0.02, 0.02, 0.2), mass=1.0, position=(0.6, 0, 0.1)))
    for name, a, b, p in (
        ("A", mechanism.ground, crank, (0, 0, 0)),
        ("B", crank, rod, (0.2, 0, 0)),
        ("C", rod, rocker, (0.6, 0, 0)),
        ("D", rocker, mechanism.ground, (0.6, 0, 0.2)),
    ):
        mechanism.add(lw.Revolute(name, a, b, at=p, axis=(0, 1, 0)))
    model, looks, friction = meeting(mechanism, 0.4, lw.Plane((0, 0, 1), position=(0, 0, -0.05)))
    found = contact_forces(looks, friction, model.q_drawn, np.zeros(model.nv))
    assert found.accelerations == pytest.approx(np.zeros(model.nv), abs=1e-9)
    assert found.forces[0, 0] > 0.0
    assert np.isin(found.modes.mode, (STICKING, SLIDING)).all()


def test_planar_bodies_touch_as_spatial_ones_do():
    mechanism = lw.Mechanism("plane", space="plane")
    body = mechanism.add(lw.Body("body", lw.Box(0.2, 0.1, 0.1), mass=1.0, position=(0, 0.05)))
    mechanism.add(lw.Free("free", mechanism.ground, body))
    mechanism.gravity = (G * np.sin(0.3), -G * np.cos(0.3))
    for mu, mode in ((0.25, SLIDING), (0.35, STICKING)):
        model, looks, friction = meeting(mechanism, mu, lw.Plane((0, 1, 0)))
        found = contact_forces(looks, friction, model.q_drawn, np.zeros(3))
        assert (found.modes.mode == mode).all()
        expected = max(0.0, G * np.sin(0.3) - mu * G * np.cos(0.3))
        assert found.accelerations == pytest.approx([0, expected, 0], abs=1e-10)
