"""Batches, threads, processes, reruns: the same bits always; one bad run of many harms no other."""

import math
import subprocess
import sys
import threading
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulation import scenes as scenes_module
from simulation.scenes import METHODS, Scene, bouncing, digest, driven, how, pendulum, scenes

import linkwork as lw
from linkwork.model.own_forces import motion_algorithm, motion_kernel
from linkwork.native import store
from linkwork.simulation.run_programs import RunPrograms

Array = np.ndarray

SCENES = scenes()
MANY = 19


def starts(scene: Scene, count: int = MANY) -> dict[str, Array]:
    states = [scene.state(seed) for seed in range(count)]
    return {"q": np.array([state.q for state in states]), "v": np.array([state.v for state in states])}


def together(scene: Scene, start: dict[str, Array], **others: Any) -> Any:
    return lw.simulate(scene.model, scene.duration, **start, every=0.1, **scene.options, **others)


def assert_same(batch: Any, k: int, one: lw.Recording) -> None:
    """Compare run k of a batch with a run alone, which also has a sample where it ended early."""
    own = batch[k]
    count = int(batch.filled[k])
    assert count in (len(one), len(one) - 1)
    for word in ("time", "q", "v", "work"):
        assert getattr(own, word).tobytes() == getattr(one, word)[:count].tobytes()
    assert own.final.q.tobytes() == one.final.q.tobytes()
    assert own.final.v.tobytes() == one.final.v.tobytes()
    assert own.final.t == one.final.t == batch.ends[k]
    for word in ("status", "message", "hint", "events", "accepted", "rejected", "warnings"):
        assert getattr(own.report, word) == getattr(one.report, word)


# the same bits


@pytest.mark.parametrize("name", SCENES)
def test_a_batch_gives_what_its_runs_give_alone(name):
    scene = SCENES[name]
    batch = together(scene, starts(scene), threads=2)
    for k in (0, 7, 8, MANY - 1):
        assert_same(batch, k, scene.run(k, every=0.1))


@pytest.mark.parametrize("law", ["none", "events", "law in Python", "quaternions"])
def test_a_batch_has_the_samples_of_single_runs_inside_their_steps(law):
    models = {"quaternions": scenes_module.kites, "law in Python": lambda: driven(scenes_module.branching)}
    notes = [lw.Event("straight", lambda t, q, v: q["elbow"], action="note")] if law == "events" else []
    options = how("dop853", accuracy=1e-7, events=notes)
    scene = Scene(models.get(law, pendulum)(), 0.2, options)
    start = starts(scene)
    batch = lw.simulate(scene.model, scene.duration, **start, every=1e-3, threads=2, **options)
    other = lw.simulate(scene.model, scene.duration, **start, every=1e-2, threads=1, **options)
    assert np.array_equal(batch.q[:, ::10], other.q)
    for k in (0, 7, 8, MANY - 1):
        one = scene.run(k, every=1e-3)
        assert law == "law in Python" or one.report.accepted < 100
        assert_same(batch, k, one)
        assert batch.reports[k].evaluations == one.report.evaluations


def test_a_specialised_batch_gives_what_its_runs_give_alone():
    model = lw.examples.chain(5).compile().specialize()
    programs = RunPrograms(model).programs(store.lanes(), implicit=False)
    for program in programs.values():
        own = set(range(len(program.table))) - set(program.ports.values()) - set(program.room)
        assert all(program.table[k] for k in own)  # also those whose lines are only fetched
    lanes = motion_kernel(model, motion_algorithm(model)).lanes
    assert len(programs["motion"].table) > 2 + len(lanes.shapes)
    v = np.random.default_rng(0).normal(size=(MANY, model.nv))
    q = np.tile(model.q_drawn, (MANY, 1))
    batch = lw.simulate(model, 0.5, q=q, v=v, every=0.1, threads=2)
    for k in (0, 7, 8, MANY - 1):
        assert_same(batch, k, lw.simulate(model, 0.5, lw.State(q[k], v[k]), every=0.1))


@pytest.mark.parametrize("name", SCENES)
def test_neither_threads_nor_company_change_a_bit(name):
    scene = SCENES[name]
    start = starts(scene)
    whole = together(scene, start, threads=1)
    order = np.random.default_rng(0).permutation(MANY)
    shuffled = together(scene, {word: array[order] for word, array in start.items()}, threads=2)
    assert shuffled.q.tobytes() == whole.q[order].tobytes()
    assert shuffled.v.tobytes() == whole.v[order].tobytes()
    for count in (1, 2, 9):
        few = together(scene, {word: array[:count] for word, array in start.items()})
        assert few.q.tobytes() == whole.q[:count].tobytes()


@pytest.mark.parametrize("name", SCENES)
def test_a_rerun_gives_the_same_bits(name):
    scene = SCENES[name]
    assert digest(scene.run()) == digest(scene.run()) == digest(scenes()[name].run())


def test_another_process_gives_the_same_bits():
    found = subprocess.run(
        [sys.executable, scenes_module.__file__], capture_output=True, text=True, check=True, timeout=300
    ).stdout
    expected = [f"{digest(scene.run())} {name}" for name, scene in SCENES.items()]
    assert found.splitlines() == expected


def test_runs_in_threads_of_the_user_give_the_same_bits():
    names = ["free", "events", "stiff in places", "law in Python"]
    expected = {name: digest(SCENES[name].run()) for name in names}
    found: dict[str, str] = {}
    threads = [
        threading.Thread(target=lambda name=name: found.update({name: digest(SCENES[name].run())}))
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_its_batches(method):
    scene = Scene(pendulum(limits=(-0.4, 0.5)), 1.0, how(method))
    batch = together(scene, starts(scene, 9))
    for k in (0, 8):
        assert_same(batch, k, scene.run(k, every=0.1))


@pytest.mark.parametrize("case", ["storm", "stop", "note"])
def test_events_are_the_same_in_a_batch(case):
    model, q = scenes_module.ball(), np.linspace(0.5, 1.5, 11)[:, None]
    events = {
        "storm": [bouncing()],
        "stop": [bouncing(), lw.Event("late", lambda t, q, v: t - 1.0)],
        "note": [bouncing(action="note")],
    }[case]
    options = {"duration": 6.0, "events": events, "every": 0.25, "check": False}
    batch = lw.simulate(model, q=q, **options)
    for k in (0, 4, 10):
        assert_same(batch, k, lw.simulate(model, state=model.state(height=q[k, 0]), **options))
    assert {*batch.status} == {{"storm": "EVENT_STORM", "stop": "EVENT", "note": "DONE"}[case]}


# one bad of many


def nan_beyond(t: Any, q: Any, v: Any) -> Any:
    return 0.1 * lw.sqrt(1.0 - q)


def raise_beyond(t: Any, q: Any, v: Any) -> float:
    if float(q) > 1.0:
        raise RuntimeError("too far")
    return 0.1 * float(q)


def singular(t: Any, q: Any, v: Any) -> Any:
    return -0.02 / (q - 1.0)


BAD = {
    "NaN": (nan_beyond, "NOT_FINITE"),
    "raises": (raise_beyond, "LAW_RAISED"),
    "singular": (singular, "STEP_UNDERFLOW"),
}


BAD_CASES = [(fault, method) for fault in BAD for method in ("auto", "dop853", "rodas", "rk4")]
BAD_CASES.remove(("singular", "rk4"))  # fixed steps may jump over it


@pytest.mark.parametrize(("fault", "method"), BAD_CASES)
def test_one_bad_run_harms_no_other(fault, method):
    law, status = BAD[fault]
    model, bad = driven(law), 5
    q = np.tile([0.1, 0.2], (12, 1)) + 0.01 * np.arange(12)[:, None]
    v = np.zeros((12, 2))
    v[bad, 1] = 30.0
    options, duration = {**how(method), "every": 0.05}, 0.3
    with pytest.warns(UserWarning, match=r"1 of 12 runs failed, the first is run 5: at t = .*'motor'"):
        batch = lw.simulate(model, duration, q=q, v=v, threads=2, **options)
    assert batch.failed.tolist() == [bad]
    assert batch.status[bad] == status
    report = batch.reports[bad]
    assert "'motor'" in report.message
    assert report.hint
    assert np.isfinite(batch[bad].q).all()
    assert np.isnan(batch.q[bad, batch.filled[bad] :]).all()
    assert batch.finals[bad].t == batch.ends[bad] < duration
    good = [k for k in range(12) if k != bad]
    v[bad, 1] = 0.0
    healthy = lw.simulate(model, duration, q=q, v=v, threads=2, **options)
    assert healthy.q[good].tobytes() == batch.q[good].tobytes()
    assert healthy.v[good].tobytes() == batch.v[good].tobytes()
    one = lw.simulate(model, duration, lw.State(q[bad], np.array([0.0, 30.0])), **options, check=False)
    assert one.status == status
    assert (one.message, one.final.t) == (report.message, batch.ends[bad])


def test_failures_of_a_batch_are_only_told_if_they_are_wanted():
    model = driven(nan_beyond)
    v = np.array([[0.0, 0.0], [0.0, 30.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runs = lw.simulate(model, 1.0, v=v, check=False)
    assert runs.status.tolist() == ["DONE", "NOT_FINITE"]
    rest = lw.simulate(pendulum(), 0.1, runs[1].final)
    assert rest.status == "DONE"


def test_an_action_that_gives_garbage_ends_its_run_alone():
    model = pendulum()

    def kick(t: float, q: Any, v: Any) -> Any:
        return (q, v) if abs(v["elbow"]) < 5.0 else (q, math.nan * v)

    event = lw.Event("straight", lambda t, q, v: q["elbow"], action=kick)
    v = np.zeros((9, 2))
    v[4, 1] = -20.0
    runs = lw.simulate(model, 1.0, q=np.tile([0.1, 0.2], (9, 1)), v=v, events=[event], check=False)
    assert runs.failed.tolist() == [4]
    assert runs.status[4] == "LAW_RAISED"
    assert "action of event 'straight'" in runs.reports[4].message
    v[4, 1] = 0.0
    others = [0, 1, 2, 3, 5, 6, 7, 8]
    good = lw.simulate(model, 1.0, q=np.tile([0.1, 0.2], (9, 1)), v=v, events=[event])
    assert good.q[others].tobytes() == runs.q[others].tobytes()


def test_a_quantity_that_raises_ends_its_run_alone():
    model = pendulum()

    def depth(t: Any, q: Any, v: Any) -> float:
        return math.sqrt(1.0 - float(q["elbow"]))

    v = np.zeros((9, 2))
    v[4, 1] = 20.0
    options = {"q": np.tile([0.1, 0.2], (9, 1)), "events": [lw.Event("depth", depth)], "check": False}
    runs = lw.simulate(model, 0.5, v=v, **options)
    assert runs.failed.tolist() == [4]
    assert runs.status[4] == "LAW_RAISED"
    assert "event 'depth' raised ValueError" in runs.reports[4].message
    others = [0, 1, 2, 3, 5, 6, 7, 8]
    assert lw.simulate(model, 0.5, v=0 * v, **options).q[others].tobytes() == runs.q[others].tobytes()


def test_fixed_steps_that_make_energy_are_told_of_run_by_run():
    model, v = pendulum(), np.array([[0.0, 1.0], [3.0, 9.0]])
    for step, expected in ((1e-4, [False, False]), (0.02, [True, True])):
        with pytest.warns(UserWarning, match="2 of 2 runs are doubtful") if any(expected) else nullcontext():
            runs = lw.simulate(model, 2.0, v=v, method="euler", step=step)
        told = [any("energy does not balance" in text for text in report.warnings) for report in runs.reports]
        assert told == expected


def test_positions_or_velocities_alone_are_repeated():
    model = pendulum()
    v = np.random.default_rng(0).normal(size=(5, 2))
    by_v = lw.simulate(model, 0.5, v=v)
    both = lw.simulate(model, 0.5, q=np.tile(model.q_drawn, (5, 1)), v=v)
    assert by_v.q.tobytes() == both.q.tobytes()
    one = lw.simulate(model, 0.5, q=[0.1, 0.2])
    assert one.q.shape == (1, 101, 2)
    assert lw.simulate(model, 0.5, q=[0.1, 0.2], v=v).q[:, 0].tolist() == [[0.1, 0.2]] * 5


def test_a_batch_is_saved_and_its_runs_go_on(tmp_path: Path):
    scene = SCENES["stop"]
    runs = together(scene, starts(scene, 9))
    runs.save(tmp_path / "runs.lwr")
    again = lw.load(tmp_path / "runs.lwr")
    for k in range(9):
        assert digest(again[k]) == digest(runs[k])
        assert lw.simulate(scene.model, 0.1, again[k]).time[0] == scene.duration
