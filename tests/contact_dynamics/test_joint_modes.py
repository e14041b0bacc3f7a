"""Rigid stops and dry friction of joints to an accuracy: impacts and changes of modes at their times."""

import math

import numpy as np
import pytest

import linkwork as lw

G = 9.81


def slider(gravity=(0.0, 0.0, 0.0), mass=1.0, **options):
    m = lw.Mechanism("slider", gravity=gravity)
    block = m.add(lw.Body("block", lw.Box(0.1, 0.1, 0.1), mass=mass))
    m.add(lw.Prismatic("rail", m.ground, block, axis=(1, 0, 0), **options))
    return m.compile()


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_block_bounces_on_its_stop_at_the_right_times(e):
    model = slider(gravity=(-G, 0, 0), limits=(0, None), stop=lw.RigidStop(e))
    fall = math.sqrt(2.0 / G)
    run = lw.simulate(model, 2.0, model.state(rail=1.0), times=[0.0, fall * (1.0 + e), 2.0])
    hits = [t for t, what in run.report.events if what == "rail hits its lower stop"]
    bounces = [fall * (1.0 + 2.0 * sum(e**k for k in range(1, n + 1))) for n in range(2 if e else 1)]
    assert hits[: len(bounces)] == pytest.approx(bounces, abs=1e-9)
    assert run["rail"].position[1] == pytest.approx(e * e, abs=1e-8)
    assert run["rail"].position.min() > -1e-9
    if e == 0.0:
        assert run["rail"].position[-1] == run["rail"].velocity[-1] == 0.0


def test_a_spring_with_dry_friction_sticks_where_and_when_it_must():
    model = slider(stiffness=100.0, friction=3.0, friction_speed=0)
    run = lw.simulate(model, 6.0, model.state(rail=1.0))
    # each half swing of pi / 10 s takes 2 mu N / k = 0.06: after 17 it is at 0.02, within 0.03
    (time, what), *_ = [event for event in run.report.events if "sticks" in event[1]]
    assert (time, what) == (pytest.approx(1.7 * math.pi, abs=1e-8), "rail sticks")
    assert run["rail"].position[-1] == pytest.approx(0.02, abs=1e-8)
    assert run["rail"].velocity[-1] == 0.0


def test_friction_alone_brings_a_block_to_rest():
    model = slider(friction=1.5, friction_speed=0.0)
    run = lw.simulate(model, 1.0, model.state(velocities={"rail": 1.0}))
    assert run["rail"].position[-1] == pytest.approx(1.0 / 3.0, abs=1e-9)
    assert run.report.events[0] == (pytest.approx(2.0 / 3.0, abs=1e-9), "rail sticks")


def test_both_ways_through_time_agree():
    m = lw.Mechanism("double pendulum")
    upper = m.add(lw.Body("upper", lw.Box(0.05, 0.05, 1), mass=1.0, position=(0, 0, -0.5)))
    lower = m.add(lw.Body("lower", lw.Box(0.05, 0.05, 1), mass=1.0, position=(0, 0, -1.5)))
    m.add(lw.Revolute("shoulder", m.ground, upper, at=(0, 0, 0), axis=(0, 1, 0)))
    options = {"limits": (0.0, 2.5), "stop": "rigid"}
    m.add(lw.Revolute("elbow", upper, lower, at=(0, 0, -1), axis=(0, 1, 0), **options))
    model, times = m.compile(), np.linspace(0.0, 1.0, 11)
    start = model.state(shoulder=1.5, elbow=1.0)
    exact = lw.simulate(model, 1.0, start, times=times)
    steps = lw.simulate(model, 1.0, start, times=times, step=1 / 480)
    assert any("hits" in what for _, what in exact.report.events)
    assert exact["elbow"].position.min() > -1e-9
    assert steps.q == pytest.approx(exact.q, abs=1e-3)


def test_a_box_falls_on_a_shelf_that_rests_at_its_stop():
    m = lw.Mechanism("shelf")
    shelf = m.add(lw.Body("shelf", lw.Box(1.0, 0.4, 0.02), mass=2.0, position=(0.5, 0, 0)))
    m.add(lw.Revolute("hinge", m.ground, shelf, at=(0, 0, 0), axis=(0, 1, 0), limits=(-1, 0), stop="rigid"))
    m.add(lw.Body("box", lw.Box(0.2, 0.2, 0.2), mass=3.0, position=(0.6, 0, 0.2)))
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 1.0)
    (time, what), *_ = run.report.events
    assert (time, what) == (pytest.approx(math.sqrt(2 * 0.09 / G), abs=1e-9), "shelf hits box")
    assert run["hinge"].position[-1] == pytest.approx(0.0, abs=1e-15)
    assert run["box"].position[-1] == pytest.approx([0.6, 0, 0.11], abs=1e-9)


def brake(part):
    """An arm with a box on it, held by a hinge whose friction is a part of what it takes."""
    m = lw.Mechanism("brake")
    arm = m.add(lw.Body("arm", lw.Box(1.0, 0.4, 0.02), mass=2.0, position=(0.5, 0, 0)))
    friction = part * G * (2.0 * 0.5 + 3.0 * 0.6)
    m.add(lw.Revolute("hinge", m.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), friction=friction))
    m.add(lw.Body("box", lw.Box(0.2, 0.2, 0.2), mass=3.0, position=(0.6, 0, 0.11)))
    m.add(lw.Contact("contact"))
    return m.compile()


def test_friction_of_a_hinge_holds_what_lies_on_its_arm_up_to_its_bound():
    assert lw.simulate(brake(1.001), 2.0)["hinge"].position[-1] == pytest.approx(0.0, abs=1e-12)
    slides = lw.simulate(brake(0.999), 0.5)
    assert slides["hinge"].position[-1] == pytest.approx(
        lw.simulate(brake(0.999), 0.5, step=1 / 480)["hinge"].position[-1], rel=1e-4
    )


def falling_slider():
    """A slider that bounces on a stop, with friction that sticks."""
    return slider(
        gravity=(-G, 0, 0), limits=(0, None), stop=lw.RigidStop(0.5), friction=1.0, friction_speed=0
    )


def test_batches_variants_pieces_and_checkpoints_give_the_same_bits(tmp_path):
    model, times = falling_slider(), np.linspace(0.0, 1.5, 16)
    start = model.state(rail=1.0)
    one = lw.simulate(model, 1.5, start, times=times)
    batch = lw.simulate(model, 1.5, q=[[0.5], [1.0]], times=times)
    assert batch[1].q.tobytes() == one.q.tobytes()
    varied = lw.simulate(model, 1.5, start, vary={"rail.friction": [2.0, 1.0]}, times=times)
    assert varied[1].q.tobytes() == one.q.tobytes() != varied[0].q.tobytes()
    half = lw.simulate(model, 0.75, start)
    assert lw.simulate(model, 0.75, half.final).q[-1] == one.q[-1]
    kept = lw.simulate(model, 1.5, start, times=times, checkpoint=tmp_path / "kept")
    assert kept.q.tobytes() == one.q.tobytes()


def test_stops_of_a_ball_joint_and_contacts_agree_with_steps():
    m = lw.Mechanism("swing")
    rod = m.add(lw.Body("rod", lw.Capsule(0.05, 0.8), mass=1.0, position=(0, 0, -0.5)))
    limits = [(-0.5, 0.5), (-0.5, 0.5), (-0.2, 0.2)]
    m.add(lw.Spherical("ball", m.ground, rod, at=(0, 0, 0), limits=limits, stop="rigid"))
    m.ground.add(lw.Box(0.1, 2.0, 2.0, position=(-0.35, 0, -0.5)))
    m.add(lw.Contact("contact", between=(rod, m.ground)))
    model = m.compile()
    start, times = model.state(velocities={"ball": (0.3, 2.0, 1.0)}), np.linspace(0.0, 0.5, 6)
    exact = lw.simulate(model, 0.5, start, times=times)
    assert [what for _, what in exact.report.events[:2]] == ["ground hits rod", "ball hits its upper stop"]
    steps = lw.simulate(model, 0.5, start, times=times, step=1 / 960)
    assert steps.q == pytest.approx(exact.q, abs=1e-3)
