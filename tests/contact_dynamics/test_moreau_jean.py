"""Time stepping after Moreau and Jean against results of others."""

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw

E, STEP, G = 0.9, 0.005, 9.81


def ball():
    m = lw.Mechanism("ball", gravity=(0, 0, -G))
    made = lw.Material(friction=0.0, restitution=E)
    m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0, position=(0, 0, 1.1), material=made))
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    return m


def swing():
    m = lw.Mechanism("swing")
    bob = m.add(lw.Body("bob", lw.Sphere(0.1), mass=1.0, position=(1, 0, 0)))
    m.add(lw.Revolute("pin", m.ground, bob, axis=(0, 1, 0)))
    return m


def textbook(count):
    """Return heights and velocities of a ball from 1 m, by Moreau and Jean's scheme with theta = 1/2."""
    q, v, found = 1.0, 0.0, [(1.0, 0.0)]
    for _ in range(count):
        new = v - STEP * G
        if q + 0.5 * STEP * v <= 0.0:
            new = max(new, -E * v)
        q, v = q + 0.5 * STEP * (v + new), new
        found.append((q, v))
    return np.array(found)


def test_a_ball_moves_as_by_the_scheme():
    run = lw.simulate(ball(), 10.0, step=STEP, method="moreau-jean")
    found = np.column_stack([run["ball"].position[:, 2] - 0.1, run["ball"].velocity[:, 2]])
    np.testing.assert_allclose(found, textbook(2000), atol=1e-12)
    assert "Moreau" in run.report.method


@pytest.mark.reference
def test_a_ball_moves_as_in_siconos(validation: Path):
    data = np.loadtxt(validation / "contact" / "siconos_BouncingBallTS_every10.txt")
    run = lw.simulate(ball(), 10.0, step=STEP, method="moreau-jean")
    np.testing.assert_allclose(run["ball"].position[::10, 2] - 0.1, data[:, 1], atol=1e-12)
    np.testing.assert_allclose(run["ball"].velocity[::10, 2], data[:, 2], atol=1e-12)


def test_a_box_on_a_slope_sticks_and_a_loop_stays_closed():
    """The scheme is one of all mechanisms: friction, joints and loops take part."""
    made = lw.Material(friction=0.6)
    m = lw.Mechanism("mixed", gravity=(G * 0.5, 0, -G * 0.75**0.5))
    m.add(lw.Body("box", lw.Box(0.4, 0.4, 0.2), mass=1.0, position=(0, 0, 0.1 - 1e-9), material=made))
    bars = {"top": (0.5, 1.0), "low": (0.5, 0.6), "left": (0.0, 0.8), "right": (1.0, 0.8)}
    made_of = {k: (1.0, 0.02, 0.02) if k in ("top", "low") else (0.02, 0.02, 0.4) for k in bars}
    b = {
        k: m.add(lw.Body(k, lw.Box(*made_of[k]), mass=0.2, position=(x, 2, z))) for k, (x, z) in bars.items()
    }
    for one, other, x, z in (
        ("top", "left", 0.0, 1.0),
        ("top", "right", 1.0, 1.0),
        ("low", "left", 0.0, 0.6),
        ("low", "right", 1.0, 0.6),
    ):
        m.add(lw.Revolute(f"{one} {other}", b[one], b[other], at=(x, 2, z), axis=(0, 1, 0)))
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 1.0, step=1 / 60, method="moreau-jean")
    assert np.abs(run["box"].position[-1, :2]).max() < 1e-9
    assert run.report.loop_gap < 1e-4


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (ball, {}, "has no error estimate"),
        (swing, {"step": 0.01}, "is for contact"),
    ],
)
def test_what_the_scheme_does_not_do_is_refused(model, options, words):
    with pytest.raises(ValueError, match=words):
        lw.simulate(model(), 1.0, method="moreau-jean", **options)
