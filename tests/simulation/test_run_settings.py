"""What runs have in common is made once; each has memory of its own."""

import ctypes
import gc
import pickle
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from simulation.scenes import bent, branching, digest, driven, pendulum

import linkwork as lw
from linkwork.native.cache_lines import LINE
from linkwork.recording.lazy_sequence import Each
from linkwork.simulation import run_settings
from linkwork.simulation.options import GivenOptions
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.workspace import WorkspaceLayout


def setting(model: lw.Model, **words: Any) -> RunSettings:
    return run_settings.setting(model, GivenOptions(**words))


def test_a_setting_is_kept_for_runs_with_the_same_options():
    model = lw.examples.cart_pole().compile()
    assert setting(model) is setting(model)
    assert setting(model, accuracy=1e-6) is not setting(model)
    assert setting(model.specialize()) is not setting(model)


def test_gains_of_loops_by_name_are_a_setting_too():
    model = lw.examples.four_bar().compile()
    gains = dict.fromkeys(model.loop_names, 10000.0)
    first = setting(model, loops=lw.Restoring(gains, 200.0))
    assert setting(model, loops=lw.Restoring(dict(gains), 200.0)) is first
    gains[model.loop_names[0]] = 2e4
    assert setting(model, loops=lw.Restoring(gains, 200.0)) is not first


@pytest.mark.parametrize("word", ["step", "max_step", "max_steps"])
def test_what_is_no_number_is_refused_though_an_equal_number_is_known(word):
    model = pendulum()
    lw.simulate(model, 0.5, **{word: 1.0}, check=False)
    with pytest.raises(ValueError, match=f"simulate: {word} True; give a"):
        lw.simulate(model, 0.5, **{word: True})


def test_old_settings_are_forgotten():
    model = lw.examples.cart_pole().compile()
    first = setting(model)
    for k in range(100):
        setting(model, accuracy=1e-3 / (k + 1))
    assert len(run_settings._kept[model]) < 50
    assert setting(model) is not first


def test_settings_do_not_keep_a_model_alive():
    model = lw.examples.four_bar().compile()
    alive, kept = weakref.ref(model), len(run_settings._kept)
    run = lw.simulate(model, 0.1)
    assert len(run_settings._kept) == kept + 1
    del model
    gc.collect()
    assert alive() is not None, "the recording asks it"
    del run
    gc.collect()
    assert alive() is None
    assert len(run_settings._kept) <= kept


def test_an_event_that_was_changed_is_seen_by_the_next_run():
    model = lw.examples.cart_pole().compile()
    state = model.state(pin=0.3)
    event = lw.Event("there", lambda t, q, v: q["pin"] - 1.0)
    before = lw.simulate(model, 5.0, state, events=[event]).final.t
    event.quantity = lambda t, q, v: q["pin"] - 2.0
    assert lw.simulate(model, 5.0, state, events=[event]).final.t > before


def test_runs_at_once_do_not_disturb_each_other():
    model = lw.examples.cart_pole().compile()
    starts = [model.state(pin=0.3 + 0.01 * k) for k in range(20)]
    alone = [lw.simulate(model, 3.0, start).q.tobytes() for start in starts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda start: lw.simulate(model, 3.0, start).q.tobytes(), starts))
    assert together == alone


def numbers(address, count):
    return np.array((ctypes.c_double * count).from_address(address))


def test_every_copy_of_an_image_points_to_its_own_parts():
    values = np.arange(3.0)
    head = np.array([7, 0, 0])
    image = WorkspaceLayout(
        {"empty": 5, "head": head, "values": values}, [("head", 1, "values"), ("head", 2, "empty")]
    )
    kept = []
    for _ in range(20):
        room = image.room()
        kept.append(room)
        seven, at_values, at_empty = room.words[image.starts["head"] :][:3].tolist()
        assert seven == 7
        for address in (room.address, at_values, at_empty):
            assert address % (8 * LINE) == 0
        assert numbers(at_values, 3).tolist() == values.tolist()
        assert not numbers(at_empty, 5).any()
        for address in (at_values, at_empty):
            ctypes.c_double.from_address(address).value = 9.0
    for room in kept:
        at_values, at_empty = room.words[image.starts["head"] :][1:3].tolist()
        room.clear()
        assert numbers(at_values, 3).tolist() == values.tolist()
        assert not numbers(at_empty, 5).any()
    assert head.tolist() == [7, 0, 0]
    assert values.tolist() == [0.0, 1.0, 2.0]


# which method is "auto"


def sprung() -> lw.Model:
    m = lw.Mechanism("sprung")
    body = m.add(lw.Body("body", lw.Box(0.1, 0.2, 0.3), mass=1.0))
    m.add(lw.Free("air", m.ground, body))
    m.add(lw.Spring("cord", m.ground, body, on_child=(0.1, 0, 0), stiffness=20.0, damping=0.1, rest=0.2))
    return m.compile()


def bushed() -> lw.Model:
    m = lw.Mechanism("bushed", space="plane")
    body = m.add(lw.Body("body", lw.Inertia(1.0, (0, 0), 0.01)))
    m.add(lw.Bushing("mount", m.ground, body, stiffness=20.0, torsion_stiffness=0.1))
    return m.compile()


class Bent(lw.Revolute):
    """A hinge whose child jumps aside."""

    def motion(self, q):
        return lw.translation(0, 0, lw.max(q[0], 0.0)) @ lw.rotation_z(q[0])


def on_own_joint() -> lw.Model:
    m = lw.Mechanism("bent")
    body = m.add(lw.Body("body", lw.Box(0.1, 0.2, 0.3), mass=1.0))
    m.add(Bent("pin", m.ground, body))
    return m.compile()


@pytest.mark.parametrize(
    ("model", "options", "method"),
    [
        (pendulum(damping=0.1, stiffness=2.0), {}, "dop853"),
        (driven(lambda t, q, v: lw.sin(t) - q**3), {}, "dop853"),
        (lw.examples.acrobat().compile(), {}, "dop853"),
        (pendulum(), {"accuracy": 1e-3}, "rkf45"),
        (pendulum(), {"step": 0.01}, "rkf45"),
        (pendulum(), {"events": [lw.Event("level", lambda t, q, v: q["elbow"], action="note")]}, "rkf45"),
        (pendulum(limits=(-1.0, 1.0)), {}, "rkf45"),
        (pendulum(limits=(-1.0, 1.0), stop=lw.ExponentialStop()), {}, "rkf45"),
        (sprung(), {}, "dop853"),
        (bushed(), {}, "dop853"),
        (pendulum(friction=0.1), {}, "rkf45"),
        (driven(lambda t, q, v: lw.where(t < 1.0, 1.0, 0.0)), {}, "rkf45"),
        (driven(lambda t, q, v: -abs(v)), {}, "rkf45"),
        (driven(branching), {}, "rkf45"),
        (on_own_joint(), {}, "rkf45"),
        (driven(lambda t, q, v: -lw.tanh(v / 0.1)), {}, "dop853"),
        (lw.examples.four_bar().compile(), {}, "dop853"),
        (lw.examples.steam_engine().compile(), {}, "dop853"),
        (lw.examples.four_bar().compile(), {"accuracy": 1e-3}, "rkf45"),
        (lw.examples.four_bar().compile(), {"method": "rkf45"}, "rkf45"),
    ],
)
def test_auto_is_order_8_where_everything_is_smooth(model, options, method):
    assert setting(model, **options).chosen.method == method
    again = options | {"method": method}
    assert digest(lw.simulate(model, 0.3, **options)) == digest(lw.simulate(model, 0.3, **again))


# memory that is used again


def results(model: lw.Model) -> list[Any]:
    """Return what becomes of runs of different kinds, one after the other."""
    start, wild = bent(model), bent(model, elbow=1e200)
    runs = [
        lw.simulate(model, 2.0, start),
        lw.simulate(model, 2.0, wild, check=False),
        lw.simulate(model, 2.0, start, times=[0.5, 1.5]),
        lw.simulate(model, 0.0, start),
        lw.simulate(model, 2.0, start, max_steps=5, check=False),
        lw.simulate(model, 2.0, start, every=0.01),
    ]
    runs.append(lw.simulate(model, 1.0, runs[0]))
    return [(digest(run), run.report.accepted, run.report.status) for run in runs]


def test_runs_leave_nothing_behind_in_the_memory_of_the_next():
    model = pendulum()
    first = results(model)
    assert results(model) == first
    assert results(pendulum()) == first


def test_where_loops_held_least_is_that_of_the_run_itself(tmp_path):
    model = lw.examples.four_bars(2, space="plane").compile()
    start, path = model.state(velocities={"ground pin 0": -1.0}), tmp_path / "run.lwc"
    told = [lw.simulate(model, 3.0, start, checkpoint=path).report.warnings for _ in range(2)]
    lw.simulate(model, 0.05, start)
    told.append(lw.simulate(model, 3.0, start, checkpoint=path).report.warnings)
    assert "near a singular position" in told[0][0]
    assert told[0] == told[1] == told[2]


def test_a_model_does_not_keep_the_sample_times_of_its_runs():
    model = pendulum()
    lw.simulate(model, 10.0, bent(model), every=1e-4)
    tracemalloc.start()
    lw.simulate(model, 10.0, bent(model), every=1e-4)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 300_000 < peak


def test_a_run_keeps_its_report_when_others_follow():
    model = pendulum()
    runs = [lw.simulate(model, span, bent(model)) for span in (1.0, 2.0, 3.0)]
    own = [lw.simulate(pendulum(), span, bent(model)) for span in (1.0, 2.0, 3.0)]
    for run, other in zip(runs, own, strict=True):
        assert (run.report.accepted, run.report.evaluations) == (
            other.report.accepted,
            other.report.evaluations,
        )
        assert run.q.tobytes() == other.q.tobytes()


def test_a_report_is_of_the_samples_which_stay_what_they_are():
    model = lw.examples.four_bar().compile()
    run = lw.simulate(model, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        run.q[:] += 1.0
    assert run.report.loop_gap < 1e-12


# what is made when it is asked for


def test_each_is_made_once_and_when_it_is_asked_for():
    made = []
    each = Each(4, lambda k: made.append(k) or 10 * k)
    assert (len(each), made) == (4, [])
    assert (each[1], each[-3], each[2:]) == (10, 10, (20, 30))
    assert made == [1, 2, 3]
    assert each == (0, 10, 20, 30)
    assert each != (0, 10, 20)
    assert repr(each) == "(0, 10, 20, 30)"
    assert list(each) == [0, 10, 20, 30]
    with pytest.raises(IndexError):
        each[4]
    with pytest.raises(TypeError):
        each["0"]


def test_recordings_can_be_sent_to_other_processes():
    model = sprung()
    run = lw.simulate(model, 0.2)
    runs = lw.simulate(model, 0.2, q=np.tile(model.q_drawn, (3, 1)))
    twin, twins = pickle.loads(pickle.dumps((run, runs)))
    assert digest(twin) == digest(run)
    assert twin.report == run.report
    assert list(twins.reports) == list(runs.reports)
    assert [final.q.tobytes() for final in twins.finals] == [final.q.tobytes() for final in runs.finals]
    assert twins.status.tolist() == ["DONE"] * 3
    assert twins[1]["cord"].force.tobytes() == runs[1]["cord"].force.tobytes()
