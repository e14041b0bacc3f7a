"""Whole runs against closed forms and published figures, and the balance of work and energy."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk, ellipkinc

import linkwork as lw

Array = np.ndarray
G = 9.81
ADAPTIVE = ("auto", "dop853", "rodas")


# a pendulum for half an hour


@pytest.fixture(scope="module")
def pendulum() -> lw.Model:
    """IFToMM A01: a point mass of 1 kg on a massless rod of 1 m, drawn level, to the left."""
    m = lw.Mechanism("pendulum", space="plane", gravity=(0, -G))
    bob = m.add(lw.Body.from_points("bob", [1.0], [(0, 0)], position=(-1, 0)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0)))
    return m.compile()


@pytest.mark.parametrize(("method", "accuracy"), [("auto", 1e-12), ("dop853", 1e-11)])
def test_a_pendulum_is_on_time_after_2000_s(pendulum, method, accuracy):
    run = lw.simulate(pendulum, 2000.0, accuracy=accuracy, method=method, every=0.5)
    theta = 2 * np.arcsin(ellipj(ellipk(0.5) - np.sqrt(G) * run.time, 0.5)[0] * np.sqrt(0.5))
    exact = np.stack([-np.sin(theta), -np.cos(theta)], axis=-1)
    assert len(run) == 4001
    assert np.abs(run["bob"].position - exact).max() < 1e-6
    assert run.energy_error < 1e-9


@pytest.mark.reference
def test_a_pendulum_is_where_the_official_solution_is(validation, pendulum):
    t, x, y = np.loadtxt(validation / "iftomm" / "A01_simple_pendulum_official_sub.csv", delimiter=",").T
    run = lw.simulate(pendulum, 2000.0, accuracy=1e-11, method="dop853", times=t)
    np.testing.assert_allclose(run["bob"].position, np.stack([x, y], axis=-1), rtol=0, atol=1e-6)


# bodies that tumble freely


def free_body(moments: Array, mass: float) -> lw.Model:
    m = lw.Mechanism("free body", gravity=(0, 0, 0))
    body = m.add(lw.Body("body", lw.Inertia(mass, (0, 0, 0), np.diag(moments))))
    m.add(lw.Free("air", m.ground, body))
    return m.compile()


# NASA/TM-2015-218675, case 2; in slug ft^2, in which the figures are exact
BRICK = 1.3558179483314004 * np.array([0.001894220, 0.006211019, 0.007194665])
FLIPPING = 10 / 12 * np.array([0.97, 0.82, 0.17])


@pytest.mark.parametrize(("method", "accuracy"), [("auto", 1e-11), ("dop853", 1e-10), ("rodas", 1e-10)])
def test_a_tumbling_brick_turns_as_jacobi_says(method, accuracy):
    model = free_body(BRICK, 2.27)
    start = model.state(velocities={"air": [*np.radians([10, 20, 30]), 0, 0, 0]})
    run = lw.simulate(model, 30.0, start, accuracy=accuracy, method=method, every=0.5)
    A, B, C = 0.32342748980592, 0.41461734012338, 0.59985269732636
    rate, m = 0.39932229607291, 0.335898037161169
    begin = ellipkinc(np.arctan2(np.radians(20) / B, np.radians(10) / A), m)
    sn, cn, dn, _ = ellipj(rate * run.time + begin, m)
    found = np.degrees(run["air"].velocity[:, :3])
    assert np.abs(found - np.degrees(np.stack([A * cn, B * sn, C * dn], axis=-1))).max() < 1e-9
    published = (12.61839077566776, -17.3974747618308, 31.11958888682995)
    np.testing.assert_allclose(found[-1], published, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_flipping_box_is_where_it_should_be_after_10_s(method):
    model = free_body(FLIPPING, 10.0)
    start = model.state(velocities={"air": [0.1, 5, 0.1, 0, 0, 0]})
    flips = lw.Event("flip", lambda t, q, v: v["air"][1], action="note")
    run = lw.simulate(model, 10.0, start, accuracy=1e-9, method=method, events=[flips])
    w = (2.75584040, -3.73596352, -3.16180900)
    np.testing.assert_allclose(run.final.q[3:], (0.22516456, -0.61992756, -0.27702915, 0.69874572), atol=1e-7)
    np.testing.assert_allclose(run.final.v[:3], w, atol=1e-7)
    np.testing.assert_allclose(np.diff([t for t, _ in run.report.events]), 3.028422079, atol=1e-7)
    assert len(run.report.events) == 3


@pytest.mark.parametrize(("method", "accuracy"), [("auto", 1e-12), ("dop853", 1e-11)])
def test_a_flipping_box_keeps_energy_and_momentum_for_1000_s(method, accuracy):
    model = free_body(FLIPPING, 10.0)
    start = model.state(velocities={"air": [0.1, 5, 0.1, 0, 0, 0]})
    run = lw.simulate(model, 1000.0, start, accuracy=accuracy, method=method, every=1.0)
    L = model.momentum(run.q, run.v)[:, :3]
    assert np.abs(run.kinetic_energy / run.kinetic_energy[0] - 1).max() < 1e-9
    assert np.linalg.norm(L - L[0], axis=-1).max() < 1e-10 * np.linalg.norm(L[0])
    assert np.abs(np.linalg.norm(run.q[:, 3:], axis=-1) - 1).max() < 1e-15


# dry friction


def block(**options) -> lw.Mechanism:
    """Return a block of 1 kg on a level slide."""
    m = lw.Mechanism("block", gravity=(0, 0, -G))
    body = m.add(lw.Body("block", lw.Box(0.1, 0.1, 0.1), mass=1.0))
    m.add(lw.Prismatic("slide", m.ground, body, axis=(1, 0, 0), **options))
    return m


@pytest.mark.parametrize("speed", [1e-2, 1e-3, 1e-6])
def test_a_sliding_block_stops_and_stays(speed):
    """It stops after v^2 / (2 mu g), and a little later as friction fades below the friction speed."""
    friction = 0.5 * G
    model = block(friction=friction, friction_speed=speed).compile()
    run = lw.simulate(model, 5.0, model.state(velocities={"slide": 5.0}), times=[2.0, 5.0])
    path = (5.0**2 / 2 + np.pi**2 / 12 * speed**2) / friction
    np.testing.assert_allclose(run["slide"].position, path, rtol=0, atol=1e-8)
    assert path == pytest.approx(2.548420, abs=2e-5)
    assert np.abs(run["slide"].velocity).max() < 1e-12
    assert run.work[-1] == pytest.approx(-(5.0**2) / 2, abs=1e-8)


@pytest.mark.parametrize("speed", [1e-3, 1e-5])
def test_a_sticking_joint_creeps_slower_than_its_friction_speed(speed):
    m = block(friction=4.0, friction_speed=speed)
    m.add(lw.Force("pull", m["block"], (2.0, 0, 0)))
    run = lw.simulate(m, 10.0)
    creep = np.arctanh(0.5) * speed
    assert run["slide"].velocity.max() < speed
    assert run["slide"].velocity[-1] == pytest.approx(creep, rel=1e-9)
    assert run["slide"].position[-1] == pytest.approx(10 * creep, rel=1e-2)
    assert "RODAS" in run.summary()
    assert run.report.accepted < 200


def test_an_explicit_method_says_that_the_motion_is_stiff():
    m = block(friction=4.0)
    m.add(lw.Force("pull", m["block"], (2.0, 0, 0)))
    run = lw.simulate(m, 2.0, method="rkf45")
    assert "RODAS" not in run.report.method
    assert "stiff" in run.summary()
    assert run.report.accepted > 1000


# stops


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("speed", [0.1, 1.0, 7.0])
def test_a_block_bounces_off_a_stop(method, speed):
    """A spring and damper that only push let go when the force is zero, with the speed of the book.

    v' / v = exp(-2 z / sqrt(1 - z^2) atan(sqrt(1 - z^2) / z)), with the damping ratio z = 1/2;
    and some millimetres per second more, as the damper comes in gently.
    """
    model = block(limits=(None, 0.5)).compile()
    state = model.state(velocities={"slide": speed})
    run = lw.simulate(model, 2.0 / speed, state, method=method, every=1e-4)
    half = np.exp(-np.pi / 3 / np.sqrt(3))
    assert run["slide"].velocity[-1] == pytest.approx(-speed * half**2, abs=4e-3)
    assert run["slide"].position.max() - 0.5 == pytest.approx(speed / 200 * half, abs=1e-4)
    assert run.energy_error < 1e-7


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("height", [0.3, 1.0, 4.0])
def test_a_falling_body_does_not_pass_a_stop(method, height):
    m = lw.Mechanism("lift", gravity=(0, 0, -G))
    body = m.add(lw.Body("cage", lw.Box(1, 1, 1), mass=1.0))
    m.add(lw.Prismatic("shaft", m.ground, body, axis=(0, 0, 1), limits=(0, None)))
    model = m.compile()
    run = lw.simulate(model, 5.0, model.state(shaft=height), method=method)
    assert run["shaft"].position.min() > -np.sqrt(2 * G * height) / 200
    assert run.final.q[0] == pytest.approx(-G / 200**2, rel=1e-6)
    assert run.work[-1] == pytest.approx(-G * (height + G / 200**2), rel=1e-7)


def test_an_elastic_stop_gives_everything_back():
    model = block(limits=(-0.3, 0.3), stop=lw.Stop(stiffness=1e5, damping=0.0)).compile()
    run = lw.simulate(model, 10.0, model.state(velocities={"slide": 2.0}))
    speed = np.abs(run["slide"].velocity[np.abs(run["slide"].position) < 0.3])
    assert len(speed) > 20
    assert np.abs(speed - 2).max() < 1e-6
    assert run.energy_error < 1e-6
    crossings = np.count_nonzero(np.diff(np.sign(run["slide"].velocity)))
    assert crossings == int(10 / (0.6 / 2 + np.pi * np.sqrt(1 / 1e5)) + 0.5)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_an_exponential_stop_holds_a_pendulum(method):
    """It rests where the stop's torque is that of gravity."""
    m = lw.Mechanism("pendulum", gravity=(0, 0, -G))
    rod = m.add(lw.Body("rod", lw.Cylinder(radius=0.02, length=1.0), mass=2.0, position=(0, 0, -0.5)))
    stop = lw.ExponentialStop(force_at_limit=1.0, sharpness=40.0, damping=3.0)
    m.add(lw.Revolute("pin", m.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), limits=(0.4, 2.0), stop=stop))
    model = m.compile()
    run = lw.simulate(model, 20.0, model.state(pin=1.5), method=method)
    angle = run.final.q[0]
    assert np.exp(40 * (0.4 - angle)) == pytest.approx(2 * G * 0.5 * np.sin(angle), rel=1e-6)
    assert abs(run.final.v[0]) < 1e-6
    assert run.energy_error < 1e-7


# an event that acts


def test_a_bouncing_ball_bounces_on_time():
    """From 1 m, with the speed times 0.8 at each impact: t1 = sqrt(2 h / g), then 2 e^n t1 each."""
    m = lw.Mechanism("ball", gravity=(0, 0, -G))
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0))
    m.add(lw.Prismatic("height", m.ground, ball, axis=(0, 0, 1)))
    model = m.compile()
    floor = lw.Event("floor", lambda t, q, v: q[0], direction=-1, action=lambda t, q, v: (q, -0.8 * v))
    run = lw.simulate(model, 3.5, model.state(height=1.0), events=[floor])
    first = np.sqrt(2 / G)
    impacts = first + np.cumsum([0, *(2 * 0.8**n * first for n in range(1, 9))])
    np.testing.assert_allclose([t for t, _ in run.report.events], impacts, rtol=0, atol=1e-11)
    assert run.energy_error < 1e-10  # what an impact takes is work
    assert run["height"].position.min() > -1e-11


# work and energy


def machine(space: str) -> lw.Model:
    """Return a mechanism on which everything acts that can: an arm of two links, with a slide at its end."""
    deep = space == "space"

    def at(x: float, z: float) -> tuple[float, ...]:
        return (x, 0, z) if deep else (x, z)

    def link(name: str, mass: float, moment: float, z: float) -> lw.Body:
        tensor = np.diag([moment, moment, 0.3 * moment]) if deep else moment
        return m.add(lw.Body(name, lw.Inertia(mass, at(0, 0), tensor), position=at(0, z)))

    m = lw.Mechanism("machine", space=space, gravity=at(0, -G))
    arm, fore = link("arm", 2.0, 0.1, -0.4), link("fore", 1.0, 0.06, -1.0)
    slide = link("slide", 0.5, 0.01, -1.3)
    hinge = {"axis": (0, 1, 0)} if deep else {}
    shoulder = {"damping": 0.2, "friction": 0.3, "limits": (-0.7, 0.7)}
    m.add(lw.Revolute("shoulder", m.ground, arm, at=at(0, 0), **shoulder, **hinge))
    elbow = {"stiffness": 3.0, "rest": 0.2, "damping": 0.05, "armature": 0.02}
    soft = lw.ExponentialStop(damping=0.01)
    m.add(lw.Revolute("elbow", arm, fore, at=at(0, -0.8), **elbow, limits=(-0.5, 0.5), stop=soft, **hinge))
    rail = {"stiffness": 200.0, "damping": 0.5, "friction": 0.5}
    m.add(lw.Prismatic("rail", fore, slide, axis=at(0, -1), **rail))
    m.add(lw.Motor("drive", "shoulder", lambda t, q, v: 12 * lw.sin(2 * t)))
    m.add(lw.Force("drag", fore, lambda body, t: -0.4 * body.velocity))
    m.add(lw.Spring("cord", m.ground, slide, on_parent=at(0.5, -1.5), stiffness=30, damping=1, rest=0.3))
    m.add(lw.TorsionSpring("coil", "elbow", stiffness=lambda x: 2 * x**3, damping=0.1))
    m.add(lw.Torque("twist", arm, (0, 0.5, 0) if deep else 0.5))
    m.add(lw.Feedback("control", ["elbow"], lambda t, q, v: [-q["shoulder"] - 0.1 * v["elbow"]]))
    springs = {"stiffness": 5.0, "damping": 0.1, "torsion_stiffness": 1.0, "torsion_damping": 0.1}
    m.add(lw.Bushing("mount", arm, slide, **springs))
    return m.compile()


@pytest.mark.parametrize("space", ["space", "plane"])
def test_energy_is_the_work_of_everything_that_acts(space):
    model = machine(space)
    start = model.state(shoulder=0.8, elbow=0.3)
    for method in ADAPTIVE:
        for accuracy in (1e-6, 1e-8):
            with pytest.warns(UserWarning, match="the start is outside of limits: joint 'shoulder'"):
                run = lw.simulate(model, 6.0, start, accuracy=accuracy, method=method)
            assert run.energy_error < accuracy
            assert np.ptp(run.work) > 10
    assert np.abs(run["shoulder"].position).max() > 0.7  # so that it met its stop


def test_energy_tells_of_steps_that_are_too_long():
    model = machine("plane")
    errors = [
        lw.simulate(model, 2.0, model.state(shoulder=0.6), step=step, method="rk4").energy_error
        for step in (2e-3, 1e-3)
    ]
    assert 1e-8 < errors[1] < errors[0] / 4


def test_work_is_what_each_force_does():
    """Work by the closed form, one force at a time."""
    pushed = block()
    pushed.add(lw.Motor("pull", "slide", lambda t, q, v: 3 * lw.sin(2 * t)))
    run = lw.simulate(pushed, 4.0)
    np.testing.assert_allclose(run.work, 0.5 * (1.5 * (1 - np.cos(2 * run.time))) ** 2, rtol=0, atol=1e-8)

    damped = block(damping=0.7)
    run = lw.simulate(damped, 4.0, damped.compile().state(velocities={"slide": 2.0}))
    np.testing.assert_allclose(run.work, 2 * (np.exp(-1.4 * run.time) - 1), rtol=0, atol=1e-8)

    sprung = block(stiffness=5.0, rest=0.3)
    run = lw.simulate(sprung, 4.0)
    stretch = run["slide"].position - 0.3
    np.testing.assert_allclose(run.work, 2.5 * (0.3**2 - stretch**2), rtol=0, atol=1e-8)


def test_one_sample_says_nothing_about_energy():
    run = lw.simulate(block(damping=0.7), 1.0, times=[1.0])
    assert np.isnan(run.energy_error)
    assert "energy error unknown" in run.summary()
