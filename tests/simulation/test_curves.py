"""Constraints with unknowns of their own in motion: points on curves, cams and their followers."""

import numpy as np
import pytest
from kinematics.maximal_reference import simulate_maximal
from scipy.special import ellipe, ellipk
from simulation.curve_makers import (
    KINDS,
    SPACES,
    G,
    about_z,
    at,
    circle,
    cycloid,
    on_wire,
    point,
    wheel_and_follower,
)

import linkwork as lw


@pytest.mark.parametrize("space", SPACES)
def test_a_bead_on_a_circle_is_a_pendulum(space):
    model = on_wire(circle(space), 0.0, space, interval=(0, 6)).compile()
    run = lw.simulate(model, 3.0, every=0.1, accuracy=1e-11)
    m = lw.Mechanism("pendulum", space=space, gravity=at(space, 0, -G))
    bob = m.add(lw.Body("bob", point(1.3, space), position=at(space, 0.7, 0)))
    m.add(lw.Revolute("pin", m.ground, bob, at=at(space, 0, 0), **about_z(space)))
    other = lw.simulate(m, 3.0, every=0.1, accuracy=1e-11)
    np.testing.assert_allclose(run["bead"].position, other["bob"].position, atol=1e-9)
    for word in ("position", "velocity", "acceleration"):
        ours, theirs = (getattr(record, word) for record in (run["wire"], other["pin"]))
        np.testing.assert_allclose(ours, theirs, atol=1e-8, err_msg=word)
    np.testing.assert_allclose(run["wire"].reaction.force, other["pin"].reaction.force, atol=1e-7)
    np.testing.assert_allclose(run["wire"].force, run["wire"].reaction.force, atol=1e-12)  # phi is the gap
    assert np.ptp(run.energy) < 1e-10
    assert run.report.loop_gap < 1e-14


def swung(m: lw.Mechanism) -> lw.Recording:
    bottom = lw.Event("bottom", lambda bead, t: bead.position[0], of=m["bead"], action="note")
    return lw.simulate(m, 15.0, events=[bottom], accuracy=1e-11)


def period(run: lw.Recording) -> float:
    """Return the time between the first and the third crossing of the lowest point."""
    first, _, third = (t for t, _ in run.report.events[:3])
    return third - first


@pytest.mark.parametrize("amplitude", [0.01, 0.5, 1.5, 2.8])
def test_a_cycloid_is_isochronous(amplitude):
    run = swung(on_wire(cycloid, amplitude, interval=(-3, 3)))
    assert period(run) == pytest.approx(4 * np.pi / np.sqrt(G), rel=1e-8)
    assert np.abs(np.asarray(run["wire"].position)).max() == pytest.approx(amplitude, rel=1e-8)


def test_a_bead_on_a_parabola_has_the_period_of_an_integral():
    """y = x^2 / 2: T = 4 sqrt((1 + a^2) / g) E(k), k^2 = a^2 / (1 + a^2); beyond the interval it goes on."""
    a = 3.0
    run = swung(on_wire(lambda s: (s, 0.5 * s * s), a, interval=(0, 4)))
    assert period(run) == pytest.approx(4 * np.sqrt((1 + a * a) / G) * ellipe(a * a / (1 + a * a)), rel=1e-9)
    assert np.asarray(run["wire"].position).min() < -2.9


def test_turns_on_a_closed_curve_are_counted():
    m = on_wire(circle("plane", 1.0), 0.0, interval=(0, 6))
    model = m.compile()
    run = lw.simulate(model, 5.0, lw.State(model.q_drawn, np.array([0.0, 0.0, 10.0])[model_order(model)]))
    swept = np.unwrap(np.arctan2(*np.asarray(run["bead"].position).T[::-1]))
    np.testing.assert_allclose(run["wire"].position, swept, atol=1e-9)
    assert np.abs(run["wire"].position).max() > 2 * np.pi


def model_order(model: lw.Model) -> list[int]:
    """Return where a velocity along y is: the Free joint of the bead turns first, then it moves."""
    return [0, 1, 2] if model.coordinate_units[2] == "m" else [1, 2, 0]


def test_a_figure_of_eight_is_gone_through_where_it_crosses_itself():
    """Where two branches meet, the bead stays on its own: x is that of the parameter, and changes sign."""
    m = on_wire(lambda s: (lw.sin(s), lw.sin(s) * lw.cos(s)), 1.2, interval=(0, 6))
    m.gravity = (0, 0)
    model = m.compile()
    v = model.closed_velocity(model.q_drawn, np.array([1.0, 1.0, 1.0]))
    run = lw.simulate(model, 20.0, lw.State(model.q_drawn, v), every=0.01)
    s = np.asarray(run["wire"].position)
    assert np.ptp(s) > 2 * np.pi
    np.testing.assert_allclose(run["bead"].position[:, 0], np.sin(s), atol=1e-9)
    assert (np.diff(s) > 0).all() or (np.diff(s) < 0).all()


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_follower_moves_as_by_multipliers(kind, space):
    m = wheel_and_follower(kind, space)
    model = m.compile()
    assert (model.nq, model.nv, model.diagnose().freedoms) == (3, 2, 1)
    start = model.state(velocities={"A": 10.0})
    run = lw.simulate(model, 1.0, start, every=0.1, accuracy=1e-10)
    other = simulate_maximal(m, run.time, start)
    for name in ("A", "guide"):
        np.testing.assert_allclose(run[name].position, other[name].position, atol=2e-8, err_msg=name)
        ours, theirs = (found[name].reaction.force for found in (run, other))
        np.testing.assert_allclose(ours, theirs, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(run["cam"].force, other["cam"].force, atol=1e-6)
    np.testing.assert_allclose(run["cam"].reaction.force, other["cam"].reaction.force, atol=1e-6)
    assert np.ptp(run.energy - run.work) < 1e-9 * run.kinetic_energy.max()
    assert run.report.loop_gap < 1e-13


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_driven_cam_agrees_with_kinematics(kind, space):
    m = wheel_and_follower(kind, space)
    m.add(lw.Driver("motor", "A", lambda t: 3.0 * t))
    run = lw.simulate(m, 2.5, every=0.1, accuracy=1e-11)
    motion = lw.kinematics(m, run.time)
    for word in ("position", "velocity", "acceleration"):
        for name in ("guide", "cam"):
            ours, theirs = (getattr(found[name], word) for found in (run, motion))
            np.testing.assert_allclose(ours, theirs, atol=1e-7, err_msg=f"{name} {word}")
    for name in ("motor", "cam"):
        np.testing.assert_allclose(run[name].force, motion[name].force, atol=1e-6, err_msg=name)


def slotted(space: str) -> lw.Mechanism:
    """Return a crank whose pin slides in a bent slot of a lever: a curve on a body that moves."""
    flat = space == "plane"
    m = lw.Mechanism("slot", space=space, gravity=at(space, 0, -G))
    for name, place, length in (("crank", (0, 0), 0.1), ("lever", (0, -0.3), 0.4)):
        inertia = lw.Inertia(1.0, at(space, 0.5 * length, 0), 0.02 if flat else 0.02 * np.eye(3))
        turn = np.pi / 2 if flat else lw.rotation_z(np.pi / 2).rotation
        body = m.add(lw.Body(name, inertia, position=at(space, *place), rotation=turn))
        m.add(lw.Revolute(name[0], m.ground, body, at=at(space, *place), **about_z(space)))
    bent = lambda s: at(space, s, 0.2 * (s - 0.4) * (s - 0.4))  # noqa: E731
    m.add(
        lw.PointOnCurve("slot", m["lever"], m["crank"], bent, interval=(0.1, 0.6), on_child=at(space, 0.1, 0))
    )
    return m


@pytest.mark.parametrize("space", SPACES)
def test_a_pin_slides_in_a_slot_of_a_body_that_moves(space):
    m = slotted(space)
    model = m.compile()
    start = model.state(velocities={"c": 8.0})
    run = lw.simulate(model, 2.0, start, every=0.1, accuracy=1e-10)
    other = simulate_maximal(m, run.time, start)
    for name in "cl":
        np.testing.assert_allclose(run[name].position, other[name].position, atol=1e-8, err_msg=name)
    np.testing.assert_allclose(run["slot"].force, other["slot"].force, atol=1e-6)
    assert np.ptp(run.energy) < 1e-9 * run.kinetic_energy.max()
    np.testing.assert_allclose(run.q[:, -1], run["slot"].position, atol=0)


class Sphere(lw.Constraint):
    """A point on a ball, told by two angles: two unknowns, three equations."""

    unknowns = 2

    def phi(self, body, a, b):
        x, y, z = body.position
        return [x - lw.cos(a) * lw.cos(b), y - lw.sin(a) * lw.cos(b), z - lw.sin(b)]

    def guess(self, body):
        x, y, z = (float(c) for c in body.position)
        return [np.arctan2(y, x), np.arcsin(z)]


class CalledSphere(Sphere):
    def phi(self, body, a, b):
        x, y, z = (float(c) for c in body.position)
        a, b = float(a), float(b)
        return [x - np.cos(a) * np.cos(b), y - np.sin(a) * np.cos(b), z - np.sin(b)]


@pytest.mark.parametrize(("kind", "span"), [(Sphere, 2.0), (CalledSphere, 0.5)])
def test_two_unknowns_are_a_spherical_pendulum(kind, span):
    m = lw.Mechanism("ball", gravity=(0, 0, -G))
    bob = m.add(lw.Body("bob", lw.Inertia(1.0, (0, 0, 0), 1e-3 * np.eye(3)), position=(0.8, 0, -0.6)))
    m.add(kind("ball", bob))
    runs = []
    for one in (m, rod()):
        model = one.compile()
        v = np.zeros(model.nv)
        v[[k for k, unit in enumerate(model.coordinate_units) if unit == "m"][1]] = 2.0
        runs.append(lw.simulate(model, span, lw.State(model.q_drawn, v), every=span / 20, accuracy=1e-9))
    np.testing.assert_allclose(runs[0]["bob"].position, runs[1]["bob"].position, atol=1e-6)
    assert np.asarray(runs[0]["ball"].position).shape == (21, 2)


def rod() -> lw.Mechanism:
    m = lw.Mechanism("rod", gravity=(0, 0, -G))
    bob = m.add(lw.Body("bob", lw.Inertia(1.0, (0, 0, 0), 1e-3 * np.eye(3)), position=(0.8, 0, -0.6)))
    m.add(lw.Distance("rod", m.ground, bob, 1.0))
    return m


def test_a_pendulum_of_large_swing_has_the_elliptic_period():
    run = swung(on_wire(lambda s: (lw.sin(s), -lw.cos(s)), 2.0, interval=(-3, 3)))
    assert period(run) == pytest.approx(4 / np.sqrt(G) * ellipk(np.sin(1.0) ** 2), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_an_outline_may_be_a_smooth_table(kind):
    s = np.linspace(0, 2 * np.pi, 201)
    x, y = 0.1 * np.cos(s), 0.13 * np.sin(s)
    table = wheel_and_follower(kind)
    table["cam"].profile = lambda u: (lw.interp(u, s, x, kind="cubic"), lw.interp(u, s, y, kind="cubic"))
    ends = []
    for m in (wheel_and_follower(kind), table):
        model = m.compile()
        ends.append(lw.simulate(model, 0.15, model.state(velocities={"A": 5.0})).final.q)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5)
