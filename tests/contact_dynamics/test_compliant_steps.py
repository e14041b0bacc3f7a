"""Compliant contact in steps of 1/60 s."""

import math

import numpy as np
import pytest

import linkwork as lw

STEP = 1 / 60
G = 9.81


def on_floor(*bodies, material=None, gravity=(0.0, 0.0, -G), law=None):
    m = lw.Mechanism("scene", gravity=gravity)
    for body in bodies:
        m.add(body)
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact", material=material, law=law))
    return m.compile()


def ball(height=0.1, density=1000.0):
    return lw.Body("ball", lw.Sphere(0.1), density=density, position=(0, 0, height))


def crate(k=0, **options):
    return lw.Body(
        f"crate {k}", lw.Box(0.1, 0.1, 0.1), density=1000.0, position=(0, 0, 0.05 + 0.1 * k), **options
    )


@pytest.mark.parametrize("body", [ball, crate])
@pytest.mark.parametrize("stiffness", [1e4, 1e7, 1e9])
def test_what_rests_sinks_in_by_its_weight_over_the_stiffness(body, stiffness):
    model = on_floor(body(), material=lw.Material(stiffness=stiffness, damping=0.7 * math.sqrt(stiffness)))
    run = lw.simulate(model, 5.0, step=STEP)
    sunk = model.q_drawn[2] - run.q[-1, 2]
    assert sunk == pytest.approx(float(model.masses[0]) * G / stiffness, rel=1e-6, abs=1e-12)


def test_a_stack_sinks_in_as_springs_in_series():
    pad = lw.Material(stiffness=2e5, damping=500)
    model = on_floor(*(crate(k, material=pad) for k in range(4)))
    run = lw.simulate(model, 10.0, step=STEP)
    sunk = 0.0
    for k in range(4):
        sunk += (4 - k) * G / (2e5 if k == 0 else 1e5)
        height = model.poses(run.q[-1])[f"crate {k}"].position[2]
        assert 0.05 + 0.1 * k - height == pytest.approx(sunk, rel=1e-6)


def test_an_elastic_ball_rests_as_deep_as_hertz_says():
    model = on_floor(ball(0.3), material=lw.Material(young=1e7, poisson=0.3, dissipation=0.5))
    run = lw.simulate(model, 5.0, step=STEP)
    k = 4 / 3 * 1e7 / (1 - 0.3**2) * math.sqrt(0.1)
    assert 0.1 - run.q[-1, 2] == pytest.approx((float(model.masses[0]) * G / k) ** (2 / 3), rel=1e-6)


def test_the_variable_spring_takes_the_felt_mass():
    for density in (10.0, 1e5):
        model = on_floor(ball(density=density), material=lw.Material(), law=lw.contact_laws.recovering)
        run = lw.simulate(model, 2.0, step=STEP)
        assert 0.1 - run.q[-1, 2] == pytest.approx(0.5 * G * 0.01**2, rel=1e-6)


def test_the_sticky_law_pulls():
    model = on_floor(ball(0.1), material=lw.Material(stiffness=1e5, damping=2e4), law=lw.contact_laws.sticky)
    start = model.state(velocities={model.joint_names[0]: (0, 0, 0, 0, 0, 0.5)})
    run = lw.simulate(model, 4.0, start, step=1e-3)
    assert run.q[-1, 2] == pytest.approx(0.1 - float(model.masses[0]) * G / 1e5, abs=1e-6)
    assert run.q[:, 2].max() < 0.101


@pytest.mark.parametrize("stiffness", [1e4, 1e6, 1e9])
def test_no_bounce_gains_energy(stiffness):
    model = on_floor(ball(0.6), material=lw.Material(stiffness=stiffness))
    run = lw.simulate(model, 5.0, step=STEP)
    depth = np.maximum(0.1 - run.q[:, 2], 0.0)
    energy = run.energy + 0.5 * stiffness * depth**2
    assert run.q[30:, 2].max() < 0.6
    assert energy[-1] <= energy[0]


def slope(angle, direction):
    x, y = math.sin(angle) * math.cos(direction), math.sin(angle) * math.sin(direction)
    return G * x, G * y, -G * math.cos(angle)


def test_a_compliant_box_on_a_slope_sticks_or_slides_as_coulomb_says():
    angle = math.radians(30)
    mu = math.tan(angle)
    for share in (1.001, 0.999):
        pad = lw.Material(friction=share * mu, stiffness=1e5, damping=600)
        model = on_floor(crate(), material=pad, gravity=slope(angle, 0.7))
        settled = lw.simulate(model, 3.0, step=STEP)
        run = lw.simulate(model, 10.0, settled, step=STEP)
        moved = np.linalg.norm(run.q[-1, :2] - settled.q[-1, :2])
        if share > 1:
            assert moved < 1e-6
        else:
            a = G * (math.sin(angle) - share * mu * math.cos(angle))
            assert moved == pytest.approx(np.linalg.norm(settled.v[-1, 3:]) * 10 + 0.5 * a * 100, rel=1e-4)
