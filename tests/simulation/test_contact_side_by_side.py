"""Steps with contact follow what other runs follow: drivers that read inputs, events, checkpoints."""

from typing import Any

import numpy as np
import pytest
from simulation.test_event_sides import DIRECTIONS, FLOOR, HEIGHT, HOLDING, PASSING, SPAN, floor

import linkwork as lw
from linkwork.simulation.checkpoint import CheckpointFile

STEP = 1 / 120
GOAL: Any = lw.Input("goal", 0.0)
SPEED: Any = lw.Input("speed", 0.2)


def pusher(law: Any) -> lw.Mechanism:
    """Return a box on a floor, and a slide that a driver moves towards it."""
    m = lw.Mechanism("pusher")
    m.ground.add(lw.Plane())
    box = m.add(lw.Body("box", lw.Box(0.2, 0.2, 0.2), density=500, position=(0.3, 0, 0.1)))
    slide = m.add(lw.Body("slide", lw.Box(0.1, 0.1, 0.1), density=500, position=(0, 0, 0.1)))
    m.add(lw.Free("air", m.ground, box))
    m.add(lw.Prismatic("rail", m.ground, slide, axis=(1, 0, 0)))
    m.add(lw.Driver("feed", "rail", law))
    m.add(lw.Contact("contact", material=lw.Material(friction=0.4), without=[("slide", "ground")]))
    return m


def test_a_driver_that_reads_an_input_pushes_as_one_with_the_number_written_down():
    read = lw.simulate(pusher(lambda t: GOAL + SPEED * t), 1.5, step=STEP, inputs={"speed": 0.3})
    plain = lw.simulate(pusher(lambda t: 0.3 * t), 1.5, step=STEP)
    np.testing.assert_allclose(read.q, plain.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(read["rail"].position, 0.3 * read.time, atol=1e-6)
    assert read["box"].position[-1, 0] == pytest.approx(0.45 + 0.15, abs=1e-3)  # it was pushed along


def test_where_an_input_jumps_the_mechanism_follows_with_the_impulse_it_takes():
    m = pusher(GOAL)
    pole = m.add(lw.Body("pole", lw.Inertia(0.5, (0, 0, 0), 0.01 * np.eye(3)), position=(0, 0, -0.4)))
    m.add(lw.Revolute("pin", m.bodies["slide"], pole, at=(0, 0, 0.1), axis=(0, 1, 0)))
    model = m.compile()
    sim = lw.Simulation(model, model.state(pin=0.3), step=STEP)
    sim.step(n=6)
    q, v = sim.q, sim.v
    sim.inputs["goal"] = 0.05
    there = model.assemble(q, t=sim.t, inputs={"goal": 0.05})
    moving = model.closed_velocity(there, v, t=sim.t, inputs={"goal": 0.05})
    sim.step(n=2)
    run = sim.recording
    np.testing.assert_allclose(run.q[6], there, atol=1e-12)
    np.testing.assert_allclose(run.v[6], moving, atol=1e-12)
    np.testing.assert_allclose(run["rail"].position[6:], 0.05, atol=1e-9)
    other = lw.Simulation(model, lw.State(there, moving, 6 * STEP, inputs={"goal": 0.05}), step=STEP)
    other.step(n=2)
    np.testing.assert_allclose(sim.q, other.q, atol=1e-12)


def test_controllers_write_what_drivers_read():
    m = pusher(GOAL)
    m.add(lw.Sampled("plan", "goal", every=5 * STEP, law=lambda t, q, v: 0.1 if t > 0.1 else 0.0))
    run = lw.simulate(m, 0.3, step=STEP)
    later = run.time > 0.1 + 5 * STEP
    np.testing.assert_allclose(run["rail"].position[later], 0.1, atol=1e-9)
    np.testing.assert_allclose(run["rail"].position[run.time < 0.1], 0.0, atol=1e-9)


def test_what_drivers_cannot_follow_is_refused_and_taken_back():
    m = lw.Mechanism("arm", space="plane")
    m.ground.add(lw.Plane((0, 1, 0)))
    one = m.add(lw.Body("one", lw.Box(0.3, 0.02, 0.1), density=100, position=(0, 1)))
    two = m.add(lw.Body("two", lw.Box(0.3, 0.02, 0.1), density=100, position=(0.3, 1)))
    m.add(lw.Revolute("A", m.ground, one, at=(-0.15, 1)))
    m.add(lw.Revolute("B", one, two, at=(0.15, 1)))
    m.add(lw.Driver("tip", (two, "x"), lw.Input("x", 0.25)))
    m.add(lw.Contact("contact"))
    sim = lw.Simulation(m, step=STEP)
    sim.step(n=3)
    sim.inputs["x"] = 2.0
    with pytest.raises(lw.AssemblyError, match=r"drivers cannot follow input 'x' from 0\.25 to 2"):
        sim.step()
    assert sim.inputs["x"] == 0.25
    sim.step(n=2)
    assert sim["two"].position[0] == pytest.approx(0.25, abs=1e-6)


def bouncing(restitution: float = 0.0) -> lw.Model:
    """Return a ball on a vertical rail, which hits a table at height 0, or falls beside it."""
    m = lw.Mechanism("ball")
    body = m.add(lw.Body("ball", lw.Sphere(0.1), density=500))
    table = m.add(lw.Body("table", lw.Box(1, 1, 1), density=1, position=(0, 0 if restitution else 9, -0.6)))
    m.add(lw.Fixed("screw", m.ground, table))
    m.add(lw.Prismatic("height", m.ground, body, axis=(0, 0, 1)))
    m.add(lw.Contact("contact", material=lw.Material(friction=0.0, restitution=restitution)))
    return m.compile()


@pytest.mark.parametrize("direction", ["falling", "both, upside down"])
def test_events_of_steps_with_contact_are_found_whatever_an_action_leaves(direction):
    model = bouncing()
    start = model.state(height=HEIGHT)
    for name, action in HOLDING.items():
        event = floor(action, *DIRECTIONS[direction])
        run = lw.simulate(model, SPAN, start, events=[event], step=STEP, check=False)
        assert run.q.min() > -FLOOR, name
        assert len(run.report.events) >= 2 or name == "leave just outside, at rest", name
        assert run.status in ("DONE", "EVENT_STORM"), name
    for name, action in PASSING.items():
        event = floor(action, *DIRECTIONS[direction])
        run = lw.simulate(model, SPAN, start, events=[event], step=STEP, check=False)
        assert (run.status, len(run.report.events)) == ("DONE", 1), name
        assert run.q[-1, 0] < -0.03, name
    other = floor(HOLDING["reflect"], 1.0, 1)
    assert lw.simulate(model, SPAN, start, events=[other], step=STEP).report.events == ()


def test_the_time_of_an_event_is_exact_and_noting_it_leaves_no_trace():
    model = bouncing()
    notes = [
        lw.Event("low", lambda t, q, v: q["height"] - 0.1, action="note"),
        lw.Event("lower", lambda t, q, v: q["height"] - 0.0995, action="note"),
        lw.Event("late", lambda t, q, v: t - 0.05, action="note"),
    ]
    start = model.state(height=0.2)
    plain = lw.simulate(model, 0.3, start, step=STEP)
    run = lw.simulate(model, 0.3, start, step=STEP, events=notes)
    np.testing.assert_array_equal(run.q, plain.q)
    times = {name: t for t, name in run.report.events}
    assert times == pytest.approx(
        {"late": 0.05, "low": np.sqrt(0.2 / 9.81), "lower": np.sqrt(0.201 / 9.81)}, abs=1e-12
    )
    often = lw.simulate(model, 0.3, start, step=STEP, events=notes, every=1e-3)
    assert often.report.events == run.report.events


def test_a_peak_between_two_points_of_the_mesh_is_seen():
    model = bouncing(restitution=0.5)
    start = model.state(height=0.1, velocities={"height": 0.11})
    top = 0.1 + 0.11**2 / (2 * 9.81)
    near = lw.Event("peak", lambda t, q, v: q["height"] - (top - 1e-6), action="note")
    touch = lw.Event("touch", lambda t, q, v: q["height"] - 1e-4, action="note", direction=-1)
    run = lw.simulate(model, 0.5, start, step=1 / 30, events=[near, touch])
    names = [name for _, name in run.report.events]
    assert names.count("peak") == 2
    assert names.count("touch") == names.count("table hits ball") + 1 >= 4  # the last one ends in rest


def test_a_run_that_an_event_stops_goes_on_from_there():
    model = bouncing()
    stop = lw.Event("low", lambda t, q, v: q["height"])
    run = lw.simulate(model, 1.0, model.state(height=0.1), step=STEP, events=[stop])
    assert run.status == "EVENT"
    assert run.time[-1] == pytest.approx(np.sqrt(0.2 / 9.81), abs=1e-12)
    assert run.q[-1, 0] == pytest.approx(0.0, abs=1e-12)
    sim = lw.Simulation(model, model.state(height=0.1), step=STEP, events=[stop])
    sim.step(0.2)
    assert (sim.status, sim.t) == ("EVENT", run.time[-1])
    sim.step(0.05)
    assert sim.status == "DONE"
    assert sim.events == [(run.time[-1], "low")]
    assert sim.t == pytest.approx(run.time[-1] + 0.05)


def test_batches_stop_one_by_one():
    model = bouncing()
    stop = lw.Event("low", lambda t, q, v: q["height"])
    heights = np.linspace(0.1, 0.5, 5)[:, None]
    runs = lw.simulate(model, 0.2, q=heights, v=0 * heights, step=STEP, events=[stop])
    for k, height in enumerate(heights):
        alone = lw.simulate(model, 0.2, model.state(height=height[0]), step=STEP, events=[stop])
        assert runs.reports[k].events == alone.report.events
        assert runs.status[k] == alone.status
        assert runs[k].final.q.tobytes() == alone.final.q.tobytes()


def test_events_are_saved_and_restored_between_points_of_the_mesh(tmp_path):
    def bounce(t, q, v):
        v["height"] = -0.8 * v["height"]

    events = [
        lw.Event("bounce", lambda t, q, v: q["height"], direction=-1, action=bounce),
        lw.Event("half", lambda t, q, v: q["height"] - 0.02, action="note"),
    ]
    model = bouncing()
    one = lw.Simulation(model, model.state(height=0.03), step=STEP, events=events)
    for k in range(40):
        one.step(0.3 * STEP)
        if k == 17:
            one.save(tmp_path / "now")
    other = lw.Simulation(model, step=STEP, events=events)
    other.restore(tmp_path / "now")
    for _ in range(22):
        other.step(0.3 * STEP)
    assert other.q.tobytes() == one.q.tobytes()
    assert other.events == one.events
    assert {name for _, name in one.events} == {"bounce", "half"}


def test_an_event_that_is_no_number_is_named():
    model = bouncing()
    event = lw.Event("odd", lambda t, q, v: lw.sqrt(q["height"] - 0.05))
    with pytest.raises(lw.SimulationError, match="event 'odd'"):
        lw.simulate(model, 1.0, model.state(height=0.1), step=STEP, events=[event])


class Crash(Exception):
    pass


def heap() -> lw.Model:
    """Return boxes and a ball that fall on each other."""
    m = lw.Mechanism("heap")
    m.ground.add(lw.Plane())
    for k in range(3):
        at = (0.03 * k, 0.02 * k, 0.12 + 0.25 * k)
        m.add(lw.Body(f"box{k}", lw.Box(0.2, 0.2, 0.2), density=500, position=at))
    m.add(lw.Body("ball", lw.Sphere(0.08), density=500, position=(0, 0, 1.2)))
    m.add(lw.Contact("contact", material=lw.Material(friction=0.5, restitution=0.3)))
    return m.compile(floating=True)


@pytest.mark.parametrize("samples", [{}, {"every": 0.22}])
def test_a_run_that_crashes_in_mid_contact_goes_on_bit_for_bit(samples, tmp_path, monkeypatch):
    model, file = heap(), tmp_path / "heap.lwc"
    note = lw.Event("low", lambda body, t: body.position[2] - 0.8, of=model.mechanism["ball"], action="note")
    options: Any = {"step": 1 / 60, "events": [note], **samples}
    plain = lw.simulate(model, 0.9, **options)
    write, count = CheckpointFile.write, []

    def crashing(self, *what):
        count.append(write(self, *what))
        if len(count) in (2, 3) and (samples or len(count) == 3):
            raise Crash

    monkeypatch.setattr(CheckpointFile, "write", crashing)
    kept = {"checkpoint": lw.Checkpoint(file, every=1e-9), **options}
    with pytest.raises(Crash):
        lw.simulate(model, 0.9, **kept)
    monkeypatch.setattr(CheckpointFile, "write", write)
    run = lw.simulate(model, 0.9, **kept)
    again = lw.simulate(model, 0.9, **kept)  # it is over, and read from the file
    for other in (run, again):
        for word in ("time", "q", "v", "work"):
            np.testing.assert_array_equal(getattr(other, word), getattr(plain, word))
        assert other.report.events == plain.report.events
        assert other.report.accepted == plain.report.accepted
    assert {name for _, name in plain.report.events} > {"low"}
    with pytest.raises(lw.FormatError, match="belongs to another run"):
        lw.simulate(model, 1.6, **kept)


def test_ctrl_c_returns_what_was_computed(monkeypatch):
    model = heap()
    calls = []

    def pressed(t, q, v):
        calls.append(t)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return 0.0

    m = model.mechanism.copy()
    m.add(lw.Force("nudge", m["ball"], (lw.Input("push"), 0, 0)))
    m.add(lw.Sampled("hand", "push", every=0.1, law=pressed))
    run = lw.simulate(m.compile(floating=True), 5.0, step=1 / 60, every=0.5)
    assert run.status == "INTERRUPTED"
    assert 1.0 <= run.time[-1] <= 1.2
    np.testing.assert_array_equal(run.final.q, run.q[-1])
