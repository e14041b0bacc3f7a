"""Rigid stops and dry friction of joints against what is known, by steps of 1/60 s."""

import math

import numpy as np
import pytest

import linkwork as lw

STEP = 1 / 60
G = 9.81


def slider(gravity=(0.0, 0.0, 0.0), mass=2.0, **options):
    m = lw.Mechanism("slider", gravity=gravity)
    block = m.add(lw.Body("block", lw.Box(0.1, 0.1, 0.1), mass=mass))
    m.add(lw.Prismatic("rail", m.ground, block, axis=(1, 0, 0), **options))
    return m


def pendulum(**options):
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Inertia(1.0, (0, 0, 0), np.zeros((3, 3))), position=(0, 0, -1)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), **options))
    return m


def arm(**options):
    """A bead on an arm that turns in empty space: 1 kg at 0.5 m, and 10 kg."""
    m = lw.Mechanism("arm", gravity=(0, 0, 0))
    beam = m.add(lw.Body("beam", lw.Box(1, 0.1, 0.1), mass=10.0))
    bead = m.add(lw.Body("bead", lw.Sphere(0.05), mass=1.0, position=(0.5, 0, 0)))
    m.add(lw.Revolute("hub", m.ground, beam, axis=(0, 0, 1)))
    m.add(lw.Prismatic("slot", beam, bead, axis=(1, 0, 0), **options))
    return m.compile()


def test_a_slider_between_two_stops_keeps_its_speed_over_a_hundred_bounces():
    model = slider(limits=(-0.1, 0.1), stop=lw.RigidStop(restitution=1.0)).compile()
    run = lw.simulate(model, 20.0, model.state(velocities={"rail": 1.0}), step=STEP)
    times = [t for t, _ in run.report.events]
    assert times == pytest.approx(np.arange(0.1, 20.0, 0.2), abs=1e-9)
    assert run.report.events[1][1] == "rail hits its lower stop"
    assert np.abs(run["rail"].position).max() <= 0.1 + 1e-10
    assert np.abs(np.abs(run["rail"].velocity) - 1.0).max() < 1e-12


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_block_that_falls_onto_a_stop_bounces_as_it_is_said(e):
    model = slider(gravity=(-G, 0, 0), limits=(0, None), stop=lw.RigidStop(e)).compile()
    run = lw.simulate(model, 3.0, model.state(rail=1.0), step=STEP)
    assert run["rail"].position.min() > -1e-9
    fall = math.sqrt(2.0 / G)
    bounces = [fall * (1.0 + 2.0 * sum(e**k for k in range(1, n + 1))) for n in range(3 if e else 1)]
    assert [t for t, _ in run.report.events][: len(bounces)] == pytest.approx(bounces, abs=1e-9)
    assert run.at(fall * (1.0 + e))["rail"].position == pytest.approx(e * e, abs=1e-9)
    if e == 0.0:
        assert not run["rail"].velocity[-60:].any()
        assert np.abs(run["rail"].position[-60:]).max() < 1e-9


def test_a_pendulum_meets_its_stop_in_time_and_leaves_it_again():
    run = lw.simulate(
        pendulum(limits=(-3, 0.3), stop="rigid"), 5.0, pendulum().compile().state(pin=-1.0), step=STEP
    )
    smooth = lw.simulate(
        pendulum(), 1.0, pendulum().compile().state(pin=-1.0), times=np.linspace(0, 1, 100001)
    )
    k = int(np.flatnonzero(smooth["pin"].position > 0.3)[0])
    assert len(run.report.events) >= 1
    assert run.report.events[0][0] == pytest.approx(smooth.time[k], abs=2e-4)
    assert run["pin"].position.max() < 0.3 + 1e-9
    # it falls from rest at the stop, and comes back to it
    assert run["pin"].position[run.time > 1.0].min() == pytest.approx(-0.3, abs=1e-3)


def test_a_stop_that_others_press_is_not_passed():
    m = lw.Mechanism("double pendulum")
    upper = m.add(lw.Body("upper", lw.Box(0.05, 0.05, 1), mass=1.0, position=(0, 0, -0.5)))
    lower = m.add(lw.Body("lower", lw.Box(0.05, 0.05, 1), mass=1.0, position=(0, 0, -1.5)))
    m.add(lw.Revolute("shoulder", m.ground, upper, at=(0, 0, 0), axis=(0, 1, 0)))
    options = {"limits": (0.0, 2.5), "stop": "rigid"}
    m.add(lw.Revolute("elbow", upper, lower, at=(0, 0, -1), axis=(0, 1, 0), **options))
    model = m.compile()
    run = lw.simulate(model, 10.0, model.state(shoulder=1.5, elbow=1.0), step=STEP)
    assert run["elbow"].position.min() > -1e-9
    assert run["elbow"].position.max() < 2.5 + 1e-9
    assert len(run.report.events) > 3
    assert np.count_nonzero(run["elbow"].position == run["elbow"].position.min()) > 10  # it is held there


@pytest.mark.parametrize(("share", "sticks"), [(0.999, True), (1.001, False)])
def test_friction_holds_what_centrifugal_forces_pull_as_far_as_it_goes(share, sticks):
    model = arm(friction=1.0, friction_speed=0)
    spin = share * math.sqrt(1.0 / 0.5)
    run = lw.simulate(model, 3.0, model.state(velocities={"hub": spin}), step=STEP)
    if sticks:
        assert not run["slot"].position.any()
        assert np.abs(run["hub"].velocity - spin).max() < 1e-12
    else:
        assert run["slot"].position[-1] > 0.01


@pytest.mark.parametrize(("share", "stays"), [(0.999, True), (1.001, False)])
def test_a_stop_is_left_when_forces_pull_away(share, stays):
    model = arm(limits=(0, None), stop="rigid", stiffness=1.0, rest=-1.0)
    spin = share * math.sqrt(1.0 / 0.5)
    run = lw.simulate(model, 3.0, model.state(velocities={"hub": spin}), step=STEP)
    assert run["slot"].position.min() == 0.0
    assert (not run["slot"].position.any()) == stays


def test_a_spring_with_dry_friction_stops_where_the_dead_band_holds_it():
    model = slider(mass=1.0, stiffness=100.0, friction=3.0, friction_speed=0).compile()
    run = lw.simulate(model, 6.0, model.state(rail=1.0), step=1 / 480)
    x = run["rail"].position  # each half swing takes 2 mu N / k = 0.06; within 0.03 it sticks
    turns = [x[0], *x[1:-1][(x[1:-1] - x[:-2]) * (x[2:] - x[1:-1]) < 0], x[-1]]
    assert np.abs(turns[:18]) == pytest.approx(np.abs(1.0 - 0.06 * np.arange(18)), abs=2e-3)
    assert x[-1] == pytest.approx(0.02, abs=2e-4)
    assert not np.ptp(x[-100:])
    assert not run["rail"].velocity[-100:].any()


def test_friction_slows_down_by_exactly_its_force():
    model = slider(friction=3.0, friction_speed=0.0).compile()
    run = lw.simulate(model, 1.0, model.state(velocities={"rail": 1.0}), step=STEP)
    moving = run.time < 2.0 / 3.0 - STEP
    assert run["rail"].velocity[moving] == pytest.approx(1.0 - 1.5 * run.time[moving], abs=1e-9)
    assert run["rail"].position[-1] == pytest.approx(1.0 / 3.0, abs=2e-4)


def four_bar(joint, limits, e=0.0):
    m = lw.Mechanism("four-bar", space="plane", gravity=(0, -G))
    bars = {
        name: m.add(lw.Body(name, lw.Box(size, 0.02, 0.02), density=1000))
        for name, size in (("crank", 0.1), ("rod", 0.3), ("rocker", 0.22))
    }
    ends = {
        "A": (m.ground, bars["crank"], (0, 0), (-0.05, 0)),
        "B": (bars["crank"], bars["rod"], (0.05, 0), (-0.15, 0)),
        "C": (bars["rod"], bars["rocker"], (0.15, 0), (0.11, 0)),
        "D": (m.ground, bars["rocker"], (0.25, 0), (-0.11, 0)),
    }
    for name, (parent, child, a, b) in ends.items():
        more = {"limits": limits, "stop": lw.RigidStop(e)} if name == joint else {}
        m.add(lw.Revolute(name, parent, child, on_parent=a, on_child=b, **more))
    m.assemble()
    return m.compile()


@pytest.mark.parametrize("joint", ["A", "D"])
@pytest.mark.parametrize("e", [0.0, 0.8])
def test_a_four_bar_stops_wherever_its_stop_is(joint, e):
    free = four_bar("", None)
    smooth = lw.simulate(free, 1.0, free.state(velocities={"A": 3.0}), every=0.001)
    x = smooth[joint].position
    limits = (None, 0.5 * (x[0] + x.max())) if joint == "D" else (0.5 * (x[0] + x.min()), None)
    met = smooth.time[np.flatnonzero((x > limits[1]) if joint == "D" else (x < limits[0]))[0]]
    model = four_bar(joint, limits, e)
    run = lw.simulate(model, 2.0, model.state(velocities={"A": 3.0}), step=1 / 240)
    at = run[joint].position
    assert (at.max() - limits[1] if joint == "D" else limits[0] - at.min()) < 1e-9
    assert run.report.events[0][0] == pytest.approx(met, abs=2e-3)
    assert np.abs(model.constraint_residual(run.q)).max() < 1e-6


def test_a_stop_and_a_contact_press_together():
    """A beam lies on its stop on one side and carries a box on the other."""
    m = lw.Mechanism("shelf")
    shelf = m.add(lw.Body("shelf", lw.Box(1.0, 0.4, 0.02), mass=2.0, position=(0.5, 0, 0)))
    m.add(lw.Revolute("hinge", m.ground, shelf, at=(0, 0, 0), axis=(0, 1, 0), limits=(-1, 0), stop="rigid"))
    m.add(lw.Body("box", lw.Box(0.2, 0.2, 0.2), mass=3.0, position=(0.6, 0, 0.11)))
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 3.0, step=STEP)
    assert np.abs(run["hinge"].position).max() < 1e-9
    assert np.abs(run["box"].position[-1] - (0.6, 0, 0.11)).max() < 1e-6


@pytest.mark.parametrize(
    "kind", [lw.Revolute, lw.Prismatic, lw.Helical, lw.Cylindrical, lw.Spherical, lw.Planar]
)
def test_every_joint_with_limits_keeps_them(kind):
    m = lw.Mechanism("any", gravity=(1.0, 2.0, -G))
    body = m.add(lw.Body("body", lw.Box(0.3, 0.2, 0.1), density=1000, position=(0.2, 0.1, 0.1)))
    options = {"pitch": 0.1} if kind is lw.Helical else {}
    place = {} if kind is lw.Spherical else {"axis": (1, 1, 1)}
    m.add(kind("joint", m.ground, body, at=(0, 0, 0), limits=(-0.2, 0.3), stop="rigid", **place, **options))
    run = lw.simulate(m, 0.5, step=1 / 120)
    joint = m.joints["joint"]
    d = np.array([np.ravel(joint.displacement(list(q))) for q in run.q], float)
    slack = 1e-9 if kind is not lw.Spherical else 1e-4
    assert d.min() > -0.2 - slack
    assert d.max() < 0.3 + slack
    assert min(0.3 - d.max(), d.min() + 0.2) < 1e-3  # one was reached


def test_a_simulation_goes_on_bit_for_bit_in_mid_stop(tmp_path):
    model = arm(limits=(0, 0.4), stop=lw.RigidStop(0.5), friction=0.2, friction_speed=0)
    state = model.state(velocities={"hub": 3.0})
    one, other = lw.Simulation(model, state, step=STEP), lw.Simulation(model, state, step=STEP)
    for _ in range(30):
        one.step(STEP)
        other.step(STEP)
    other.save(tmp_path / "now.lwc")
    other = lw.Simulation(model, step=STEP)
    other.restore(tmp_path / "now.lwc")
    for _ in range(60):
        one.step(STEP)
        other.step(STEP)
    assert one.q.tobytes() == other.q.tobytes()
    assert one.v.tobytes() == other.v.tobytes()


def test_friction_that_fades_out_does_not_go_with_steps_and_contact():
    m = slider(limits=(-1, 1), stop="rigid", friction=1.0, friction_speed=0.01)
    with pytest.raises(ValueError, match=r"joint 'rail': friction_speed 0.01 .* give 0: friction sticks"):
        lw.simulate(m, 1.0, step=STEP)
