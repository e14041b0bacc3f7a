"""Runs that go on: from a final state, from a file, after a kill; bit for bit as if they had not ended.

PYTHONPATH=tests python tests/simulation/test_resume.py 200      kills a run so many times
"""

import functools
import os
import re
import signal
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulation.scenes import METHODS, Scene, bent, digest, driven, how, pendulum, scenes

import linkwork as lw
from linkwork.errors import FormatError
from linkwork.recording import array_file
from linkwork.simulation.polling import Pace

Array = np.ndarray

SCENES = scenes()
SCENES |= {method: Scene(pendulum(), 2.0, how(method)) for method in METHODS}
PARTS = (0.37, 1.0)  # of the duration


def joined(first: lw.Recording, second: lw.Recording) -> dict[str, Array]:
    """Return the samples of two runs in turn; where they meet, those of the second go."""
    words = ("time", "q", "v", "work")
    return {w: np.concatenate([getattr(first, w), getattr(second, w)[1:]]) for w in words}


def in_two(scene: Scene, where: float, **options: Any) -> tuple[lw.Recording, lw.Recording]:
    first = scene.run(duration=where, **options)
    rest = scene.duration - where
    return first, lw.simulate(scene.model, rest, first, **scene.options, **options)


@pytest.mark.parametrize("name", SCENES)
def test_two_runs_in_turn_are_one(name):
    scene = SCENES[name]
    whole, where = scene.run(), 0.5 * scene.duration
    first, second = in_two(scene, where)
    both = joined(first, second)
    kept = np.isin(both["time"], whole.time)
    for word, array in both.items():
        np.testing.assert_array_equal(array[kept], getattr(whole, word))
    assert (np.diff(both["time"]) >= 0.0).all()
    assert both["time"][~kept].tolist() in ([], [where])
    assert digest_of(second.final) == digest_of(whole.final)
    assert first.report.events + second.report.events == whole.report.events
    assert first.report.accepted + second.report.accepted == whole.report.accepted
    assert second.report.evaluations < whole.report.evaluations


@pytest.mark.parametrize("name", SCENES)
def test_samples_in_turn_are_those_of_one_run(name):
    scene = SCENES[name]
    whole = scene.run(every=0.05)
    first, second = in_two(scene, 0.05 * round(7.4 * scene.duration), every=0.05)
    for word, array in joined(first, second).items():
        np.testing.assert_array_equal(array, getattr(whole, word))
    assert digest_of(scene.run().final) == digest_of(second.final)  # samples leave no trace


def digest_of(state: lw.State) -> bytes:
    return state.q.tobytes() + state.v.tobytes() + np.float64(state.t).tobytes()


def test_the_stiff_scene_is_cut_while_it_is_implicit():
    scene = SCENES["stiff in places"]
    first, second = in_two(scene, 0.5 * scene.duration)
    changes = [int(re.findall(r"\((\d+) changes\)|$", run.report.method)[0] or 0) for run in (first, second)]
    assert changes[0] % 2 == 1  # explicit at first
    assert changes[1] > 0


def test_many_cuts_leave_no_trace():
    scene, rng = SCENES["stop"], np.random.default_rng(0)
    state = scene.state()
    for span in np.diff([0.0, *np.sort(rng.uniform(0.0, 3.0, 30)), 3.0]):
        state = lw.simulate(scene.model, float(span), state).final
    whole = scene.run()
    assert state.t == pytest.approx(3.0, abs=1e-14)
    assert (
        digest_of(lw.simulate(scene.model, 4.0 - state.t, state).final)[:-8]
        == digest_of(lw.simulate(scene.model, 1.0, whole).final)[:-8]
    )


def test_a_saved_run_goes_on(tmp_path):
    for name in ("stop", "events", "stiff in places"):
        scene = SCENES[name]
        first = scene.run(duration=1.0)
        first.save(tmp_path / "first.lwr")
        loaded = lw.load(tmp_path / "first.lwr")
        rest = scene.duration - 1.0
        assert digest(lw.simulate(scene.model, rest, loaded, **scene.options)) == digest(
            lw.simulate(scene.model, rest, first, **scene.options)
        )
        assert digest_of(lw.simulate(scene.model, rest, loaded.final, **scene.options).final) == digest_of(
            scene.run().final
        )


# a fresh start


def fresh(state: lw.State) -> lw.State:
    return replace(state, memory=None)


def test_an_edited_state_is_a_fresh_start():
    model = pendulum()
    for word in "qv":
        final = lw.simulate(model, 1.0, bent(model)).final
        getattr(final, word)[1] += 0.25
        run = lw.simulate(model, 1.0, final)
        assert getattr(run, word)[0, 1] == getattr(final, word)[1]
        assert digest(run) == digest(lw.simulate(model, 1.0, fresh(final)))
    moved = replace(lw.simulate(model, 1.0, bent(model)).final, t=5.0)
    assert digest(lw.simulate(model, 1.0, moved)) == digest(lw.simulate(model, 1.0, fresh(moved)))


def test_other_options_or_another_model_are_a_fresh_start():
    model = pendulum()
    final = lw.simulate(model, 1.0, bent(model)).final
    note = lw.Event("straight", lambda t, q, v: q["elbow"], action="note")
    for other, options in (
        (model, {"accuracy": 1e-6}),
        (model, how("dop853")),
        (model, how("rk4")),
        (model, {"max_step": 0.01}),
        (model, {"events": [note]}),
        (pendulum(damping=0.1), {}),
        (pendulum(masses=(1.0, 2.0)), {}),
        (driven(lambda t, q, v: -q), {}),
    ):
        run = lw.simulate(other, 1.0, final, **options)
        assert run.status == "DONE"
        assert digest(run) == digest(lw.simulate(other, 1.0, fresh(final), **options))


def test_the_longest_step_may_be_said_or_not():
    model = pendulum()
    whole = lw.simulate(model, 2.0, bent(model))
    half = lw.simulate(model, 1.0, bent(model))
    assert digest_of(lw.simulate(model, 1.0, half, max_step=np.inf).final) == digest_of(whole.final)


def test_a_law_that_only_differs_in_what_it_holds_is_a_fresh_start():
    def model(gain: float) -> lw.Model:
        def law(t: Any, q: Any, v: Any) -> float:
            return -gain * float(q)

        return driven(law)

    soft, hard = model(1.0), model(50.0)
    final = lw.simulate(soft, 1.0, bent(soft)).final
    assert digest(lw.simulate(hard, 1.0, final)) == digest(lw.simulate(hard, 1.0, fresh(final)))
    whole = lw.simulate(soft, 2.0, bent(soft)).final
    assert digest_of(lw.simulate(soft, 1.0, final).final) == digest_of(whole)


def test_an_event_of_the_same_name_but_another_quantity_is_a_fresh_start():
    model = pendulum()
    at = lambda x: [lw.Event("there", lambda t, q, v: q["elbow"] - x, action="note")]  # noqa: E731
    final = lw.simulate(model, 1.0, bent(model), events=at(0.4)).final
    run = lw.simulate(model, 1.0, final, events=at(0.1))
    assert digest(run) == digest(lw.simulate(model, 1.0, fresh(final), events=at(0.1)))


def test_a_memory_that_makes_no_sense_is_a_fresh_start():
    model = pendulum()
    final = lw.simulate(model, 1.0, bent(model)).final
    expected = digest(lw.simulate(model, 1.0, fresh(final)))
    memory = dict(final.memory)
    for broken in (
        {},
        {"key": memory["key"]},
        memory | {"memo": memory["memo"][:-1]},
        memory | {"y": memory["y"] + 1.0},
        memory | {"key": memory["key"][::-1]},
    ):
        assert digest(lw.simulate(model, 1.0, replace(final, memory=broken))) == expected


def test_a_run_out_of_steps_goes_on_with_more():
    model = pendulum()
    run = lw.simulate(model, 3.0, bent(model), max_steps=20, check=False)
    assert run.status == "TOO_MUCH_WORK"
    for _ in range(20):
        if run.final.t == 3.0:
            break
        run = lw.simulate(model, 3.0 - run.final.t, run, max_steps=20, check=False)
    assert digest_of(run.final) == digest_of(lw.simulate(model, 3.0, bent(model)).final)


# on disk


def look_up_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs be looked at after few steps."""
    monkeypatch.setattr("linkwork.simulation.polling.LOOK", 1e-3)
    monkeypatch.setattr("linkwork.simulation.single_run.Pace", lambda *_: Pace(5))


A_KILL = 6_000.0  # simulated time for each [s], a tenth of a second of work or more
EVERY = 1.0  # [s]


def long_run(kills: int, path: Path | None = None) -> lw.Recording:
    """Run for as long as it takes to be killed so often."""
    model = pendulum()
    span = kills * A_KILL
    kept = {} if path is None else {"checkpoint": lw.Checkpoint(path, every=0.02)}
    return lw.simulate(model, span, bent(model), every=EVERY, **kept)


def reached(path: Path) -> float:
    """Return the time that a checkpoint has come to; FormatError if it is damaged."""
    header, arrays = array_file.read(path)
    assert header["kind"] == "checkpoint"
    assert np.isfinite(arrays["rows"]).all()
    return float(arrays["rows"][-1, 0]) if len(arrays["rows"]) else 0.0


def kill(kills: int, path: Path, delay: float) -> None:
    """Run in a process, and kill it a while after it has written its file."""
    before = path.stat().st_ino if path.exists() else 0
    number = os.fork()
    if number == 0:
        try:
            long_run(kills, path)
        finally:
            os._exit(0)
    while (path.stat().st_ino if path.exists() else 0) == before:
        time.sleep(1e-3)
    time.sleep(delay)
    if os.waitpid(number, os.WNOHANG)[0] != number:
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)


def kill_again_and_again(folder: Path, kills: int) -> int:
    """Kill a run many times, and more often where it hardly gets on; return how often it came further."""
    lw.simulate(pendulum(), 0.01)  # compiled before the processes part
    rng, path = np.random.default_rng(kills), folder / "run.lwc"
    come, progress = 0.0, 0
    for number in range(20 * kills):
        if number >= kills and progress > 3:
            break
        kill(kills, path, rng.uniform(0.0, 0.1))
        now = reached(path)
        assert now >= come - EVERY  # a sample inside a step that was under way is taken again
        progress, come = progress + (now > come), now
    return progress


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.soak)])
def test_a_killed_run_goes_on_and_nothing_is_lost(tmp_path, kills):
    expected = long_run(kills)
    assert kill_again_and_again(tmp_path, kills) > 3
    run = long_run(kills, tmp_path / "run.lwc")
    assert digest(run) == digest(expected)
    assert run.report.accepted == expected.report.accepted
    assert digest(long_run(kills, tmp_path / "run.lwc")) == digest(expected)  # it is all there


def test_a_checkpoint_is_written_when_its_interval_has_passed(tmp_path, monkeypatch):
    write, written = array_file.write, []
    monkeypatch.setattr(array_file, "write", lambda *arguments: (written.append(0), write(*arguments)))
    look_up_often(monkeypatch)
    counts = []
    for number, interval in enumerate((1e-9, 1e9)):
        written.clear()
        model = pendulum()
        path = tmp_path / f"{number}.lwc"
        lw.simulate(model, 300.0, bent(model), every=EVERY, checkpoint=lw.Checkpoint(path, every=interval))
        counts.append(len(written))
    assert counts[0] > 5
    assert counts[1] == 2  # at the start and at the end


@pytest.mark.parametrize("name", ["free", "events", "stiff in places", "kites", "law in Python"])
def test_a_checkpoint_of_any_scene_goes_on(name, tmp_path, monkeypatch):
    """Kept at every look; the run is broken off at some of them, by an error of the disk's making."""
    scene, path = SCENES[name], tmp_path / "run.lwc"
    expected, write, rng = scene.run(), array_file.write, np.random.default_rng(2)

    def fragile(*arguments: Any) -> None:
        write(*arguments)
        if rng.random() < 0.4:
            raise KeyboardInterrupt

    look_up_often(monkeypatch)
    monkeypatch.setattr(array_file, "write", fragile)
    interrupted = 0
    for _ in range(200):
        try:
            run = scene.run(checkpoint=lw.Checkpoint(path, every=1e-9))
        except KeyboardInterrupt:
            interrupted += 1
            continue
        interrupted += run.status == "INTERRUPTED"
        if run.status != "INTERRUPTED":
            break
    assert interrupted
    assert digest(run) == digest(expected)
    assert run.report.events == expected.report.events


def test_the_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "run.lwc"
    model = pendulum()

    def run(model: lw.Model = model, duration: float = 1.0, **others: Any) -> lw.Recording:
        return lw.simulate(model, duration, **{"state": bent(model), "checkpoint": path, **others})

    first = run()
    content = path.read_bytes()
    for other in (
        {"duration": 2.0},
        {"accuracy": 1e-9},
        {"every": 0.1},
        {"times": np.linspace(0.0, 1.0, 5000)},
        {"state": bent(model, elbow=0.1)},
        {"state": model.state(t=1.0)},
        {"model": pendulum(damping=0.1)},
        {"method": "dop853"},
    ):
        with pytest.raises(FormatError, match=r"run\.lwc: belongs to another run .* delete it"):
            run(**other)
    many = np.linspace(0.0, 1.0, 5000)
    path.unlink()
    run(times=many)
    many[2500] += 1e-6
    with pytest.raises(FormatError, match="another run"):
        run(times=many)
    path.write_bytes(content)
    assert digest(run()) == digest(first)
    lw.simulate(model, 1.0).save(tmp_path / "run.lwr")
    (tmp_path / "run.lwr").replace(path)
    with pytest.raises(FormatError, match="another run"):
        run()
    for damaged in (b"", content[:-1], content[:100] + b"\0" + content[101:], b"hello"):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"run\.lwc"):
            run()


def test_a_checkpoint_that_cannot_be_written_is_told_before_the_run(tmp_path):
    model = pendulum()
    for path in (tmp_path / "nowhere" / "run.lwc", Path("/proc/run.lwc")):
        with pytest.raises(OSError, match=r"the checkpoint cannot be written.*run\.lwc"):
            lw.simulate(model, 1e9, bent(model), checkpoint=path, max_steps=1e18)


def test_a_disk_that_fills_up_does_not_end_the_run(tmp_path, monkeypatch):
    model, path, write, calls = pendulum(), tmp_path / "run.lwc", array_file.write, []

    def full(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) > 2:
            raise OSError(28, "No space left on device", str(path))
        write(*arguments)

    look_up_often(monkeypatch)
    monkeypatch.setattr(array_file, "write", full)
    with pytest.warns(UserWarning, match="checkpoint: an older one was kept.*No space"):
        run = lw.simulate(model, 30.0, bent(model), checkpoint=lw.Checkpoint(path, every=1e-9))
    assert len(calls) > 3
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = lw.simulate(model, 30.0, bent(model), checkpoint=path)
    assert digest(again) == digest(run) == digest(lw.simulate(model, 30.0, bent(model)))
    assert len(run.report.warnings) == 1


DISORDER = {
    "a memo of zeros": ("memory/memo", lambda x: 0.0 * x, "samples before its start"),
    "a state that is none": ("memory/y", lambda x: np.nan * x, "state is not finite"),
    "a missing array": ("memory/band", None, "'band' is missing"),
    "a wrong shape": ("memory/y", lambda x: np.zeros(len(x) + 1), "'y' is float64 of"),
    "times that run backwards": ("rows", lambda x: x[::-1], "the times of its samples do not rise"),
    "samples that are none": ("rows", lambda x: np.inf * x, "a sample is not finite"),
    "samples of another mechanism": ("rows", lambda x: x[:, :-1], "samples of"),
    "no samples": ("rows", None, "KeyError: 'rows'"),
}


@pytest.mark.parametrize("name", DISORDER)
def test_a_checkpoint_signed_again_is_checked_for_what_is_in_it(name, tmp_path):
    path, model = tmp_path / "run.lwc", pendulum()
    run = functools.partial(lw.simulate, model, 1.0, bent(model), every=EVERY, checkpoint=path)
    run()
    header, arrays = array_file.read(path)
    array, change, words = DISORDER[name]
    changed = {key: value for key, value in arrays.items() if key != array}
    if change is not None:
        with np.errstate(invalid="ignore"):
            changed[array] = np.ascontiguousarray(change(arrays[array]))
    array_file.write(path, header, changed)
    with pytest.raises(FormatError, match=rf"run\.lwc: is no complete checkpoint: .*{words}.*; delete it"):
        run()


@pytest.mark.parametrize(("array", "change"), [("time", lambda x: x[::-1]), ("final/q", lambda x: x[:0])])
def test_a_recording_signed_again_is_checked_for_what_is_in_it(array, change, tmp_path):
    path = tmp_path / "run.lwr"
    lw.simulate(pendulum(), 1.0, every=EVERY).save(path)
    header, arrays = array_file.read(path)
    array_file.write(path, header, arrays | {array: np.ascontiguousarray(change(arrays[array]))})
    with pytest.raises(FormatError, match="is no complete recording"):
        lw.load(path)
