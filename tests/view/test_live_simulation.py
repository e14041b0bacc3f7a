"""A simulation that goes on while it is looked at: its pace, its hand, its failures."""

import threading
import time

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.model.state import State
from linkwork.view.live_simulation import PIECE, Engine, pulled_masses


def made(mechanism, **named):
    model = mechanism.compile()
    state = model.state(**named)
    return Engine(model, State(state.q, state.v))


@pytest.fixture
def pendulum():
    engine = made(examples.cart_pole(), pin=0.5)
    yield engine
    engine.close()


def test_it_moves_as_simulate_says(pendulum):
    start = pendulum.state
    for _ in range(30):
        pendulum.step()
    run = lw.simulate(pendulum.model, 30 * PIECE, start)
    assert pendulum.state.t == pytest.approx(0.5)
    np.testing.assert_allclose(pendulum.state.q, run.final.q, atol=1e-5)


@pytest.mark.parametrize("speed", [0.25, 1.0])
def test_it_keeps_pace_with_real_time(pendulum, speed):
    pendulum.step()  # what is compiled at first use
    pendulum.speed = speed
    paces = []
    for _ in range(5):  # a busy machine may put a piece off, into an interval or out of it
        begun, t = time.perf_counter(), pendulum.state.t
        pendulum.start()
        time.sleep(0.4)
        pendulum.stop()
        paces.append((pendulum.state.t - t) / (time.perf_counter() - begun))
    assert np.median(paces) == pytest.approx(speed, rel=0.25)


def test_reset_goes_back_to_the_start(pendulum):
    q = pendulum.state.q.copy()
    pendulum.step(0.3)
    assert not np.array_equal(pendulum.state.q, q)
    pendulum.reset()
    np.testing.assert_array_equal(pendulum.state.q, q)
    assert pendulum.state.t == 0.0
    assert len(pendulum.history) == 1


def test_a_hand_pulls_a_body_to_where_it_is_dragged():
    m = lw.Mechanism("puck", space="plane", gravity=(0, 0))
    puck = m.add(lw.Body("puck", lw.Sphere(0.1), mass=1.0))
    m.add(lw.Free("free", m.ground, puck))
    engine = made(m)
    try:
        engine.grab("puck", np.array([0.05, 0.0, 0.0]))
        engine.drag(np.array([1.0, 0.5, 0.0]))
        for _ in range(30):
            engine.step(0.1)
        pose = engine.now.poses[0]
        np.testing.assert_allclose((pose[:, :3] @ (0.05, 0, 0) + pose[:, 3])[:2], (1.0, 0.5), atol=1e-3)
        engine.release()
        assert engine.hand.idle
    finally:
        engine.close()


def test_a_hand_in_space_turns_a_closed_mechanism():
    engine = made(examples.steam_engine())
    try:
        before = engine.now.poses[engine.model.body_names.index("flywheel")].copy()
        engine.grab("flywheel", np.array([0.1, 0.0, 0.0]))
        engine.drag(np.array([0.0, 0.0, 0.1]))
        for _ in range(10):
            engine.step(0.1)
        after = engine.now.poses[engine.model.body_names.index("flywheel")]
        held = after[:, :3] @ before[:, :3].T @ (0.1, 0.0, 0.0)
        assert held @ (0.0, 0.0, 1.0) > 0.05
        assert engine.model.loop_gap(engine.state.q[None]) < 1e-9
    finally:
        engine.close()


def test_one_model_serves_the_hand_on_every_body(monkeypatch):
    compiled = []
    compile_ = lw.Mechanism.compile
    monkeypatch.setattr(
        lw.Mechanism, "compile", lambda self, **words: compiled.append(1) or compile_(self, **words)
    )
    engine = made(examples.acrobat())
    try:
        for name in engine.model.body_names:
            place = engine.now.poses[engine.model.body_names.index(name)][:, 3]
            engine.grab(name, place)
            engine.drag(place + 0.01)
            engine.step(0.01)
            engine.release()
        engine.hand.drives[engine.adjustables[0].name] = 1.0
        engine.step(0.01)
        assert engine.state.t == pytest.approx(0.01 * (len(engine.model.body_names) + 1))
        assert len(compiled) == 2
    finally:
        engine.close()


def test_a_hand_that_lets_go_leaves_no_force(pendulum):
    pendulum.grab("pole", np.array([0.0, 0.0, 0.5]))
    pendulum.step(0.05)
    pendulum.release()
    state = pendulum.state
    pendulum.step(0.2)
    alone = lw.simulate(pendulum.model, 0.2, state)
    np.testing.assert_allclose(pendulum.state.q, alone.final.q, atol=1e-5)


def test_what_laws_read_from_outside_is_followed():
    push = [0.0]
    m = examples.cart_pole()
    m.add(lw.Motor("motor", "rail", lambda t, q, v: push[0]))
    engine = made(m)
    told = []
    engine.stopped = told.append
    try:
        engine.step(0.1)
        push[0] = 50.0
        engine.step(0.1)
        assert engine.state.v[0] > 0.5
        assert not told
    finally:
        engine.close()


def test_an_input_drives_its_joint(pendulum):
    pendulum.hand.drives["rail"] = 5.0
    pendulum.step(0.01)
    state = pendulum.state
    at_rest = pendulum.model.forward_dynamics(*(pendulum.history[0][k] for k in (1, 2)), np.array([5.0, 0.0]))
    assert state.v[0] / 0.01 == pytest.approx(at_rest[0], rel=0.02)


def adjust(engine, label, value):
    engine.hand.adjust(next(one for one in engine.adjustables if one.label == label), value)


def test_inputs_and_motors_have_sliders_in_place_of_their_numbers():
    m = examples.cart_pole()
    gain = lw.Input("gain", 2.0)
    m.add(lw.Motor("constant", "rail", 3.0))
    m.add(lw.Motor("held", "pin", lambda t, q, v: -gain * q))
    engine = made(m, pin=0.1)
    try:
        assert [(one.label, one.value) for one in engine.adjustables] == [
            ("gain", 2.0),
            ("constant [N]", 3.0),
            ("held [N m]", 0.0),
        ]
        adjust(engine, "gain", 0.0)
        adjust(engine, "constant [N]", 0.0)
        for _ in range(6):
            engine.step()
        bare = examples.cart_pole().compile()
        alone = lw.simulate(bare, engine.state.t, bare.state(pin=0.1))
        np.testing.assert_allclose(engine.state.q, alone.final.q, atol=1e-6)
    finally:
        engine.close()


@pytest.mark.parametrize("law", [0.3, lambda t: 0.3 + 0.5 * lw.sin(2 * t), lw.Input("angle", 0.3)])
def test_drivers_glide_to_where_their_sliders_are(law):
    m = lw.Mechanism("driven", space="plane")
    arm = m.add(lw.Body("arm", lw.Box(1.0, 0.1, 0.1, position=(0.5, 0, 0)), mass=1.0))
    bob = m.add(lw.Body("bob", lw.Sphere(0.1), mass=1.0, position=(1, 0)))
    m.add(lw.Revolute("pin", m.ground, arm))
    m.add(lw.Revolute("end", arm, bob, at=(1, 0)))
    m.add(lw.Driver("crank", "pin", law))
    engine = made(m, pin=0.3)
    try:
        (one,) = engine.adjustables
        first = one.value
        engine.hand.adjust(one, first + 0.5)
        angles, before = [engine.state.q[0]], engine.state.v[0]
        for _ in range(60):
            engine.step()
            angles.append(engine.state.q[0])
        assert abs(np.diff(angles)).max() < 0.06  # it does not jump
        own = law(engine.state.t) if callable(law) else 0.3
        assert engine.state.q[0] == pytest.approx(own + 0.5, abs=2e-3)
        rate = float(np.cos(2 * engine.state.t)) if callable(law) else before
        assert engine.state.v[0] == pytest.approx(rate, abs=0.03)
        engine.reset()
        assert engine.state.q[0] == pytest.approx(0.3)
        engine.step()
        assert engine.state.q[0] < 0.4
    finally:
        engine.close()


def test_what_cannot_go_on_is_told_and_stops():
    m = examples.cart_pole()
    m.add(lw.Motor("bad", "rail", lambda t, q, v: float("nan") if float(t) > 0.05 else 0.0))
    engine = made(m)
    told, event = [], threading.Event()

    def stopped(why: str) -> None:
        told.append(why)
        event.set()

    engine.stopped = stopped
    engine.start()
    try:
        assert event.wait(10.0)
        assert not engine.running
        assert "bad" in told[0]
        assert np.isfinite(engine.state.q).all()
    finally:
        engine.close()


def test_a_wall_of_bricks_goes_by_steps_and_stands():
    model = lw.examples.brick_wall().compile()
    engine = Engine(model, model.state())
    try:
        before = engine.now.positions
        for _ in range(12):
            engine.step()
        assert engine.state.t == pytest.approx(0.2)
        bricks = [k for k, name in enumerate(model.body_names) if name != "ball"]
        assert np.abs(engine.now.positions - before)[bricks].max() < 1e-4
        engine.grab("brick 5.1", before[model.body_names.index("brick 5.1")])
        engine.drag(before[model.body_names.index("brick 5.1")] + (0.0, 0.0, 0.3))
        for _ in range(30):
            engine.step()
        assert engine.now.positions[model.body_names.index("brick 5.1"), 2] > before[bricks[-1], 2]
    finally:
        engine.close()


def test_a_hand_pulls_the_mass_of_what_hangs_together():
    m = lw.Mechanism("two pendulums and a ball")
    bodies = [m.add(lw.Body(f"link {k}", lw.Box(0.1, 0.1, 0.1), mass=1.0 + k)) for k in range(4)]
    m.add(lw.Revolute("A", m.ground, bodies[0], axis=(0, 1, 0)))
    m.add(lw.Revolute("B", bodies[0], bodies[1], axis=(0, 1, 0)))
    m.add(lw.Revolute("C", m.ground, bodies[2], axis=(0, 1, 0)))
    m.add(lw.Free("flight", m.ground, bodies[3]))
    assert pulled_masses(m.compile()) == [3.0, 3.0, 3.0, 4.0]
