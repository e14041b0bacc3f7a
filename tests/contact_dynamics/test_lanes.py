"""Steps by lanes: states in rows that native code moves give the bits of steps that Python takes."""

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact_dynamics.time_stepping.lanes import TIME
from linkwork.contact_dynamics.time_stepping.stepper import Stepper

STEP = 1 / 60


def tumbler() -> lw.Mechanism:
    """Return two capsules and a box in a row, on hills, with a motor, and one whose law reads the time."""
    m = lw.Mechanism("tumbler")
    x = np.linspace(-1, 1, 30)
    hills = 0.1 * np.sin(9 * x)[:, None] * np.cos(7 * x)[None, :]
    m.ground.add(lw.HeightField(hills, (6, 6)), material=lw.Material(friction=0.6))
    before: Any = None
    for k in range(3):
        shape = lw.Capsule(0.06, 0.25) if k < 2 else lw.Box(0.1, 0.12, 0.3)
        body = m.add(lw.Body(f"part{k}", shape, density=800, position=(0, 0, 0.5 + 0.3 * k)))
        if before is not None:
            m.add(lw.Revolute(f"hinge{k}", before, body, at=(0, 0, 0.35 + 0.3 * k), axis=(0, 1, 0)))
        before = body
    m.add(lw.Motor("motor", "hinge1"))
    m.add(lw.Motor("swing", "hinge2", lambda t, q, v: 3.0 * lw.sin(9.0 * t) - 0.5 * v))
    m.add(lw.Contact("contact"))
    return m


def starts(model: lw.Model, count: int) -> np.ndarray:
    """Return states in which it stands at other places, turned otherwise."""
    q, rng = np.tile(model.q_drawn, (count, 1)), np.random.default_rng(3)
    q[:, :2] += rng.uniform(-1, 1, (count, 2))
    turn = rng.normal(size=(count, 4))
    q[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return q


def moved(sim: lw.Simulation, steps: int) -> np.ndarray:
    """Return positions and velocities after some steps, while the motor swings."""
    for k in range(steps):
        sim.inputs["motor"] = 2.0 * np.sin(0.3 * k)
        sim.step()
    return np.concatenate([sim.q, sim.v], axis=-1)


@pytest.mark.parametrize("threads", [1, 2])
def test_each_of_a_batch_moves_as_it_does_alone(threads):
    model = tumbler().compile()
    q = starts(model, 9)
    batch = lw.Simulation(model, q=q, step=STEP, threads=threads)
    found = moved(batch, 90)
    for k in range(9):
        alone = lw.Simulation(model, lw.State(q[k], np.zeros(model.nv)), step=STEP, record=False)
        assert moved(alone, 90).tobytes() == found[k].tobytes()


def test_lanes_give_the_bits_of_steps_that_python_takes():
    model = tumbler().compile()
    start = lw.State(starts(model, 1)[0], np.zeros(model.nv))
    noted = lw.Event("never", lambda t, q, v: t + 1.0, action="note")
    by_python = lw.Simulation(model, start, step=STEP, events=[noted])
    by_lanes = lw.Simulation(model, start, step=STEP)
    assert moved(by_lanes, 90).tobytes() == moved(by_python, 90).tobytes()
    assert by_lanes.recording.report.warnings == by_python.recording.report.warnings


def test_a_lane_that_rests_stays_until_its_input_changes():
    m = lw.Mechanism("seesaw")
    m.ground.add(lw.Plane())
    base = m.add(lw.Body("base", lw.Box(0.4, 0.4, 0.1), density=500, position=(0, 0, 0.05)))
    arm = m.add(lw.Body("arm", lw.Box(0.1, 0.1, 0.3), density=500, position=(0, 0, 0.27)))
    m.add(lw.Revolute("hinge", base, arm, at=(0, 0, 0.12), axis=(0, 1, 0), damping=0.2))
    m.add(lw.Motor("motor", "hinge"))
    m.add(lw.Contact("contact"))
    sim = lw.Simulation(m, step=STEP, record=False)
    sim.step(n=30)
    rests = sim.q.copy()
    sim.step(n=30)
    assert sim.q.tobytes() == rests.tobytes()
    assert not sim.v.any()
    assert sim.t == pytest.approx(1.0)
    sim.inputs["motor"] = 1.0
    sim.step(n=5)
    assert sim["hinge"].position > 0.01


def test_a_lane_whose_step_needs_python_stays_where_it_is():
    model = tumbler().compile()
    stepper = Stepper(model)
    sim = lw.Simulation(model, step=STEP, record=False)
    sim.step(n=3)
    lanes, inputs = stepper.lanes(2), np.zeros(1)
    state = sim._run.sides._ones[0].base
    for k in range(2):
        assert stepper.enter_lane(lanes, k, state, 0.0, 3.0, inputs)
    lanes.rows.numbers[1, lanes.places.v] = np.nan
    before = lanes.rows.numbers.copy()
    assert stepper.advance(lanes, np.arange(2), STEP, 4 * STEP) == 1
    assert lanes.taken.tolist() == [1, 0]
    assert lanes.number(TIME)[0] == pytest.approx(4 * STEP)
    assert lanes.rows.numbers[1].tobytes() == before[1].tobytes()
