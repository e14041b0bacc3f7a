"""Rigid contact to an accuracy: the same bits again, runs in pieces, batches, and what is recorded."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.polling import Pace

G = 9.81


def on_a_plane(shape, height, e=0.0, mu=0.5, mass=1.0):
    mechanism = lw.Mechanism("on a plane")
    material = lw.Material(friction=mu, restitution=e)
    body = mechanism.add(lw.Body("body", shape, mass=mass, position=(0, 0, height), material=material))
    mechanism.add(lw.Free("free", mechanism.ground, body))
    mechanism.ground.add(lw.Plane(), material=material)
    mechanism.add(lw.Contact("contact"))
    return mechanism.compile()


def tumbling():
    """A box that falls on a corner, bounces, slides and comes to rest."""
    model = on_a_plane(lw.Box(0.1, 0.2, 0.3), 0.5, 0.3)
    return model, lw.State(model.q_drawn, np.array([1.0, 2.0, 3.0, 0.5, 0.2, 0.0]))


def sliding():
    model = on_a_plane(lw.Box(0.1, 0.1, 0.1), 0.05, mu=0.1)
    return model, lw.State(model.q_drawn, np.array([0.0, 0.0, 1.0, 0.3, 0.1, 0.0]))


def rolling():
    model = on_a_plane(lw.Sphere(0.1), 0.1, mu=0.3)
    return model, lw.State(model.q_drawn, np.array([0.0, 0.0, 0.0, 2.0, 0.0, 0.0]))


SCENES = {"tumbling": tumbling, "sliding": sliding, "rolling": rolling}


def digest():
    found = hashlib.sha256()
    for scene in SCENES.values():
        run = lw.simulate(scene()[0], 1.0, scene()[1])
        for array in (run.time, run.q, run.v):
            found.update(array.tobytes())
    return found.hexdigest()


def test_the_same_bits_come_again_also_in_a_new_process():
    here = digest()
    assert digest() == here
    command = f"import sys; sys.path.insert(0, {__file__.rpartition('/')[0]!r}); import {__name__} as t"
    asked = subprocess.run(
        [sys.executable, "-c", f"{command}; print(t.digest())"], capture_output=True, text=True, check=True
    )
    assert asked.stdout.strip() == here


@pytest.mark.parametrize("scene", SCENES)
def test_a_run_goes_on_bit_for_bit(scene):
    model, start = SCENES[scene]()
    whole = lw.simulate(model, 1.0, start, times=[0.3, 1.0])
    first = lw.simulate(model, 0.3, start, times=[0.3])
    second = lw.simulate(model, 0.7, first, times=[1.0])
    assert first.q[-1].tobytes() == whole.q[0].tobytes()
    assert second.q[-1].tobytes() == whole.q[1].tobytes()
    assert second.v[-1].tobytes() == whole.v[1].tobytes()


@pytest.mark.parametrize("attempts", [7, 50])
def test_where_the_loop_looks_up_leaves_no_trace(attempts, monkeypatch):
    here = digest()

    class Short(Pace):
        def __init__(self, budget=attempts):
            super().__init__(min(budget, attempts))

        def took(self, attempts):
            pass

    monkeypatch.setattr("linkwork.simulation.single_run.Pace", Short)
    assert digest() == here


def test_a_run_goes_on_where_its_checkpoint_was_written(tmp_path):
    model, start = tumbling()
    pressed = []

    def interrupt(t, q, v):
        if not pressed:
            pressed.append(t)
            raise KeyboardInterrupt

    half = lw.Event("half", lambda t, q, v: t - 0.6, action=interrupt)
    call = {"times": [0.5, 1.0], "events": [half]}
    kept = lw.simulate(model, 1.0, start, checkpoint=tmp_path / "run", **call)
    assert kept.report.status == "INTERRUPTED"
    again = lw.simulate(model, 1.0, start, checkpoint=tmp_path / "run", **call)
    whole = lw.simulate(model, 1.0, start, **call)
    assert again.q.tobytes() == whole.q.tobytes()
    assert again.report.impacts == whole.report.impacts


def test_a_batch_gives_what_each_gives_alone():
    model, _ = tumbling()
    v = np.array([[1.0, 2.0, 3.0, 0.5, 0.2, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    runs = lw.simulate(model, 0.8, v=v, times=[0.4, 0.8])
    for k in range(2):
        alone = lw.simulate(model, 0.8, lw.State(model.q_drawn, v[k]), times=[0.4, 0.8])
        assert runs.q[k].tobytes() == alone.q.tobytes()
        assert runs.reports[k].impacts == alone.report.impacts


def test_variants_run_one_by_one():
    model, start = on_a_plane(lw.Sphere(0.1), 0.6), None
    runs = lw.simulate(model, 1.0, start, vary={"body.mass": [1.0, 3.0]}, times=[1.0])
    assert runs.q[:, 0, 2] == pytest.approx([0.1, 0.1], abs=1e-11)
    fall = np.sqrt(2 * G * 0.5)
    impulses = [report.impacts[0].impulse[2] for report in runs.reports]
    assert np.abs(impulses) == pytest.approx([fall, 3.0 * fall], rel=1e-9)


def test_a_simulation_without_a_step_goes_on_to_the_accuracy(tmp_path):
    model, start = tumbling()
    whole = lw.simulate(model, 1.0, start, every=0.1)
    sim = lw.Simulation(model, start)
    sim.step(0.1, 5)
    sim.save(tmp_path / "half")
    other = sim.copy()
    sim.step(0.1, 5)
    other.step(0.1, 5)
    assert sim.recording.q.tobytes() == whole.q.tobytes()
    assert other.q.tobytes() == sim.q.tobytes()
    third = lw.Simulation(model, start)
    third.restore(tmp_path / "half")
    third.step(0.1, 5)
    assert third.q.tobytes() == sim.q.tobytes()
    assert third.recording.report.impacts == whole.report.impacts


def test_inputs_that_are_written_change_what_contacts_do():
    """A push that is switched on makes a box slide; switched off, friction stops it."""
    mechanism = lw.Mechanism("pushed")
    box = mechanism.add(lw.Body("box", lw.Box(0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0.05)))
    mechanism.add(lw.Free("free", mechanism.ground, box))
    mechanism.ground.add(lw.Plane())
    mechanism.add(lw.Contact("contact", material=lw.Material(friction=0.2)))
    push = lw.Input("push")
    mechanism.add(lw.Force("hand", box, lambda body, t: (push, 0, 0)))
    sim = lw.Simulation(mechanism.compile())
    sim.step(0.5)
    assert np.abs(sim.v).max() < 1e-12
    sim.inputs["push"] = 3.0
    sim.step(0.5)
    speed = (3.0 - 0.2 * G) * 0.5
    assert sim.v[3] == pytest.approx(speed, abs=1e-8)
    sim.inputs["push"] = 0.0
    sim.step(0.5)
    assert np.abs(sim.v).max() < 1e-12
    way = 0.5 * 0.5 * speed + 0.5 * speed**2 / (0.2 * G)
    assert sim.q[0] == pytest.approx(way, abs=1e-8)


@pytest.mark.parametrize("options", [{}, {"step": 1 / 60}])
def test_impulses_of_impacts_are_recorded(options):
    model = on_a_plane(lw.Sphere(0.1), 1.1, 0.5, mass=2.0)
    run = lw.simulate(model, 1.0, **options)
    first, second = run.contacts.impacts
    speed = np.sqrt(2 * G)
    assert first.time == pytest.approx(np.sqrt(2 / G), abs=1e-9)
    assert first.bodies == ("ground", "body")
    assert first.point == pytest.approx((0, 0, 0), abs=1e-9)
    assert first.impulse == pytest.approx((0, 0, 2.0 * 1.5 * speed), rel=1e-6, abs=1e-9)
    assert second.impulse[2] == pytest.approx(1.5 * speed, rel=1e-6)
    assert run.contacts.of("body").impacts == run.report.impacts
    assert [t for t, name in run.report.events if name == "ground hits body"] == [first.time, second.time]


def test_impulses_of_impacts_are_kept_in_files(tmp_path):
    run = lw.simulate(on_a_plane(lw.Sphere(0.1), 1.1, 0.5), 1.2, times=[1.2])
    run.save(tmp_path / "run.lwr")
    assert lw.load(tmp_path / "run.lwr").report.impacts == run.report.impacts


def test_a_wheel_on_terrain_that_cannot_go_on_says_that_steps_can():
    """Where facets meet in one plane it touched at three contacts that were one, and none could be added."""
    x, y = np.meshgrid(np.linspace(-10, 10, 41), np.linspace(-10, 10, 41), indexing="ij")
    m = lw.Mechanism("wheel")
    m.ground.add(lw.HeightField(0.3 * np.sin(x) * np.cos(y), size=(20, 20)))
    wheel = lw.Cylinder(radius=0.3, length=0.2, rotation=lw.rotation_x(np.pi / 2))
    rubber = lw.Material(friction=0.6)
    m.add(lw.Body("wheel", wheel, mass=1, position=(0.3, 0.2, 1.0), material=rubber))
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 3.0, check=False)
    assert run.status != "EVENT_STORM"
    assert run.status == "DONE" or "give step=1/240" in run.report.hint
    by_steps = lw.simulate(m, 3.0, step=1 / 240)
    assert by_steps.energy_error < 1e-7
    assert not by_steps.report.warnings
