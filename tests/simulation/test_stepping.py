"""Simulations that are stepped: the numbers of `simulate`, whatever the pieces; inputs; batches; faults."""

import copy
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulation.scenes import METHODS, Scene, ball, bent, bouncing, driven, how, pendulum, scenes

import linkwork as lw
from linkwork.errors import FormatError
from linkwork.simulation.failure import SimulationFailed

SCENES = scenes()
SCENES |= {method: Scene(pendulum(), 1.0, how(method)) for method in METHODS}
SCENES |= {"closed loops": Scene(lw.examples.steam_engine().compile(), 0.2)}


def cart_pole(**words) -> lw.Model:
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail", **words))
    return m.compile()


CART_POLE = cart_pole()
FIXED = {"method": "rk4", "step": 0.002}


def started(**options) -> lw.Simulation:
    return lw.Simulation(CART_POLE, CART_POLE.state(pin=0.3), **options)


def same(a: lw.Simulation, b: lw.Simulation) -> None:
    for word in ("q", "v", "t"):
        np.testing.assert_array_equal(getattr(a, word), getattr(b, word))


# the numbers of `simulate`


@pytest.mark.parametrize("name", SCENES)
def test_steps_give_the_bits_of_one_run(name):
    scene, count = SCENES[name], 16
    state = scene.model.state() if name == "closed loops" else scene.state()
    dt = scene.duration / count
    sim = lw.Simulation(scene.model, state, **scene.options)
    sim.step(dt, n=count)
    whole = lw.simulate(scene.model, scene.duration, state, every=dt, **scene.options)
    run = sim.recording
    for word in ("time", "q", "v", "work"):
        np.testing.assert_array_equal(getattr(run, word), getattr(whole, word))
    assert run.report.events == whole.report.events == tuple(sim.events)
    assert run.status == "DONE" == sim.status
    assert run.report.accepted == whole.report.accepted


def test_uneven_steps_give_the_bits_of_one_run():
    rng = np.random.default_rng(0)
    sim = started()
    for dt in rng.uniform(0.0005, 0.2, 30):
        sim.step(dt)
    times = sim.recording.time
    whole = lw.simulate(CART_POLE, sim.t, CART_POLE.state(pin=0.3), times=times)
    np.testing.assert_array_equal(sim.recording.q, whole.q)


@pytest.mark.parametrize("options", [{}, FIXED], ids=["adaptive", "fixed"])
def test_it_goes_on_from_a_run_and_a_run_from_it(options):
    state = CART_POLE.state(pin=0.3)
    whole = lw.simulate(CART_POLE, 1.0, state, **options).final
    first = lw.simulate(CART_POLE, 0.437, state, **options)
    for start in (first, first.final):
        sim = lw.Simulation(CART_POLE, start, **options)
        sim.step(1.0 - 0.437)
        np.testing.assert_array_equal(sim.q, whole.q)
    sim = lw.Simulation(CART_POLE, state, **options)
    sim.step(0.437)
    np.testing.assert_array_equal(lw.simulate(CART_POLE, 1.0 - 0.437, sim.state, **options).final.q, whole.q)


def test_times_are_multiples_and_do_not_drift():
    sim = started(record=False, **FIXED)
    sim.step(0.1, n=10_000)
    assert sim.t == 10_000 * 0.1
    sim.step(0.003)
    assert sim.t == 1000.0 + 0.003
    later = lw.Simulation(CART_POLE, lw.State(np.zeros(2), np.zeros(2), 0.3), **FIXED)
    later.step(0.1)
    assert later.t == 4 * 0.1
    late = lw.Simulation(CART_POLE, lw.State(np.zeros(2), np.zeros(2), 1e17))
    with pytest.raises(ValueError, match="time can resolve at 1e"):
        late.step(0.1)


# inputs


def test_an_input_holds_from_the_step_after_it_was_written():
    sim, forces = started(**FIXED), [0.0, 0.0, 2.0, 2.0, -1.0]
    for force in forces:
        sim.inputs["motor"] = force
        sim.step()
    run = sim.recording
    np.testing.assert_array_equal(run["motor"].force, [*forces, -1.0])
    np.testing.assert_array_equal(run.inputs["motor"], [*forces, -1.0])
    state = CART_POLE.state(pin=0.3)
    for force in forces:
        state = lw.simulate(CART_POLE, 0.002, state, inputs={"motor": force}, **FIXED).final
    np.testing.assert_array_equal(sim.q, state.q)
    sim.inputs["motor"] = 7.0
    assert sim.recording["motor"].force[-1] == sim["motor"].force == 7.0
    sim.step()
    assert sim.recording.energy_error < 1e-9
    between = run.at(0.005)
    assert between["motor"].force == 2.0


def test_the_same_value_again_leaves_no_trace():
    plain, written = started(), started()
    for _ in range(50):
        plain.step(0.01)
        written.inputs["motor"] = 0.0
        written.step(0.01)
    same(plain, written)


@pytest.mark.parametrize("method", ["auto", "rkf45", "rodas"])
def test_inputs_that_change_all_the_time_cost_no_accuracy(method):
    def end(**options):
        sim = started(record=False, **options)
        for k in range(1000):
            sim.inputs["motor"] = 5.0 * np.sin(0.02 * k)
            sim.step(0.002)
        return np.concatenate([sim.q, sim.v])

    exact = end(method="dop853", accuracy=1e-13)
    assert abs(end(method=method) - exact).max() < 1e-7
    assert abs(end(method=method, accuracy=1e-5) - exact).max() < 1e-4


def test_the_jacobian_of_the_implicit_method_knows_the_inputs():
    state, inputs = CART_POLE.state(pin=0.3), {"motor": 500.0}
    exact = lw.simulate(CART_POLE, 1.0, state, accuracy=1e-12, inputs=inputs)
    run = lw.simulate(CART_POLE, 1.0, state, method="rodas", inputs=inputs)
    assert run.report.accepted < 2000  # 170,000 with the derivatives of another force
    np.testing.assert_allclose(run.final.q, exact.final.q, atol=1e-7)


def test_all_inputs_at_once_and_by_name():
    u, w = lw.Input("u", 1.0), lw.Input("w", 2.0)
    model = driven(lambda t, q, v: u - w * v)
    sim = lw.Simulation(model, inputs={"w": 3.0})
    assert dict(sim.inputs) == {"u": 1.0, "w": 3.0}
    assert list(sim.inputs) == ["w", "u"]
    np.testing.assert_array_equal(sim.inputs[:], [3.0, 1.0])
    sim.inputs[:] = [5.0, 4.0]
    np.testing.assert_array_equal(np.asarray(sim.inputs), [5.0, 4.0])
    sim.inputs.update({"u": 6.0})
    assert sim.state.inputs == {"u": 6.0, "w": 5.0}
    sim.inputs["u"] = np.array([7])
    assert sim.inputs["u"] == 7.0
    assert repr(sim.inputs) == "<inputs w=5, u=7>"


def test_wrong_inputs_are_refused_and_change_nothing():
    sim = started()
    for name, words in {"motr": "did you mean 'motor'", "pin": "unknown input"}.items():
        with pytest.raises(KeyError, match=words):
            sim.inputs[name] = 1.0
    for key in (0, slice(1), None):
        with pytest.raises(KeyError, match="give the name"):
            sim.inputs[key] = 1.0
    for value in (np.nan, np.inf, "one", None, [1.0, 2.0], 1j):
        with pytest.raises(ValueError, match="motor"):
            sim.inputs["motor"] = value
        with pytest.raises(ValueError, match="inputs"):
            sim.inputs[:] = value
    with pytest.raises(ValueError):
        sim.inputs.update({"motor": np.nan})
    assert sim.inputs["motor"] == 0.0
    lawful = lw.Simulation(cart_pole(law=lambda t, q, v: -v))
    with pytest.raises(KeyError, match=r"'motor' has a law of its own; give it law=lw.Input\('motor'\)"):
        lawful.inputs["motor"] = 1.0
    with pytest.raises(KeyError, match="no inputs"):
        lw.Simulation(pendulum()).inputs["motor"] = 1.0


# what is there


def test_bodies_and_joints_by_name():
    sim = started()
    sim.step(0.1, n=3)
    run = sim.recording
    last = run.sample(-1)
    for name, word in (("pole", "pose"), ("pole", "velocity"), ("pin", "position"), ("pin", "reaction")):
        ours, theirs = (
            np.asarray(
                getattr(one[name], word).scalars()
                if hasattr(getattr(one[name], word), "scalars")
                else getattr(one[name], word)
            )
            for one in (sim, last)
        )
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(ValueError, match="read-only"):
        sim.q[:] = 99.0
    np.testing.assert_array_equal(sim.q, run.q[-1])
    with pytest.raises(KeyError, match="pole"):
        sim["pol"]
    with pytest.raises(AttributeError):
        setattr(sim, "q", np.zeros(2))  # noqa: B010


def test_a_recording_can_be_saved_and_says_how_it_went(tmp_path):
    sim = started()
    sim.step(0.01, n=20)
    sim.recording.save(tmp_path / "run.lwr")
    again = lw.load(tmp_path / "run.lwr")
    np.testing.assert_array_equal(again.q, sim.recording.q)
    assert "20 accepted" not in again.summary()
    assert again.status == "DONE"
    assert sim.recording.energy_error < 1e-8


@pytest.mark.parametrize("kept", [1, 3, 100, 300])
def test_the_last_samples_are_kept(kept):
    sim, all_of_them = started(record=kept, **FIXED), started(**FIXED)
    for one in (sim, all_of_them):
        one.step(n=701)
    run = sim.recording
    np.testing.assert_array_equal(run.q, all_of_them.recording.q[-kept:])
    assert run.report.warnings == (f"{702 - kept} samples before the first were not kept; give record=",)
    nothing = started(record=False, **FIXED)
    nothing.step(n=5)
    assert nothing.recording.time.tolist() == [0.01]


# from the beginning again, copies, files


def test_reset():
    sim, fresh = started(), started()
    sim.inputs["motor"] = 3.0
    sim.step(0.1, n=5)
    sim.reset()
    assert sim.t == 0.0
    assert sim.inputs["motor"] == 0.0
    assert len(sim.recording) == 1
    for one in (sim, fresh):
        one.step(0.1, n=5)
    same(sim, fresh)
    sim.reset(CART_POLE.state(pin=-0.2, t=3.0), inputs={"motor": 1.0})
    assert (sim.t, sim.q[1], sim.inputs["motor"]) == (3.0, -0.2, 1.0)
    sim.reset()
    assert (sim.t, sim.q[1], sim.inputs["motor"]) == (3.0, -0.2, 1.0)
    with pytest.raises(ValueError, match=r"reset: .* batch"):
        sim.reset(q=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="reset: where= is for batches"):
        sim.reset(where=[0])


@pytest.mark.parametrize("options", [{}, FIXED, {"events": [bouncing(action="note")]}][:2])
def test_copies_and_files_go_on_bit_for_bit(options, tmp_path):
    sim = started(**options)
    for k in range(7):
        sim.inputs["motor"] = float(k)
        sim.step(0.0137)
    sim.inputs["motor"] = -2.0
    sim.save(tmp_path / "sim.lwc")
    twin, restored = sim.copy(), lw.Simulation(CART_POLE, **options)
    restored.restore(tmp_path / "sim.lwc")
    for one in (sim, twin, restored):
        one.step(0.0137, n=5)
    for other in (twin, restored):
        same(sim, other)
        np.testing.assert_array_equal(sim.recording.q, other.recording.q)
        np.testing.assert_array_equal(sim.recording.inputs["motor"], other.recording.inputs["motor"])
    twin.step(0.1)
    assert twin.t != sim.t
    with pytest.raises(FormatError, match="other options"):
        lw.Simulation(CART_POLE, accuracy=1e-3).restore(tmp_path / "sim.lwc")


def test_a_file_goes_on_in_another_process(tmp_path):
    sim = started()
    sim.inputs["motor"] = 1.0
    sim.step(0.03, n=4)
    sim.save(tmp_path / "sim.lwc")
    sim.step(0.03, n=4)
    program = (
        "import linkwork as lw\n"
        "m = lw.examples.cart_pole(); m.add(lw.Motor('motor', 'rail'))\n"
        f"sim = lw.Simulation(m); sim.restore({str(tmp_path / 'sim.lwc')!r})\n"
        "sim.step(0.03, n=4); print(*(x.hex() for x in [*sim.q, *sim.v]))"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert told.split() == [float(x).hex() for x in [*sim.q, *sim.v]]


# batches


STARTS = np.random.default_rng(1).normal(scale=0.4, size=(21, 2))


@pytest.mark.parametrize("options", [{}, FIXED, {"method": "rodas", "accuracy": 1e-5}])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_mechanism_of_a_batch_moves_as_it_would_alone(options, threads, monkeypatch):
    monkeypatch.setattr("linkwork.simulation.side_by_side._THREADED", 8)
    forces = np.random.default_rng(2).normal(size=(10, 21))
    forces[::2, ::3] = forces[1::2, ::3]  # some do not change in some steps
    batch = lw.Simulation(CART_POLE, q=STARTS, record=True, threads=threads, **options)
    for force in forces:
        batch.inputs["motor"] = force
        batch.step(0.01)
    runs = batch.recording
    for k in (0, 3, 7, 20):
        alone = lw.Simulation(CART_POLE, lw.State(STARTS[k], np.zeros(2)), **options)
        for force in forces[:, k]:
            alone.inputs["motor"] = force
            alone.step(0.01)
        np.testing.assert_array_equal(batch.q[k], alone.q)
        np.testing.assert_array_equal(runs[k].q, alone.recording.q)
        np.testing.assert_array_equal(runs[k]["motor"].force, alone.recording["motor"].force)
        np.testing.assert_array_equal(batch["pole"].pose.position[k], alone["pole"].pose.position)
    assert runs["motor"].force.shape == (21, 11)
    assert batch.q.shape == (21, 2)
    assert (batch.status == "DONE").all()
    assert not batch.failed.size


def test_inputs_of_a_batch():
    batch = lw.Simulation(CART_POLE, q=STARTS, inputs={"motor": 2.0})
    assert batch.inputs["motor"].tolist() == [2.0] * 21
    batch.inputs[:] = np.arange(21.0)[:, None]
    np.testing.assert_array_equal(batch.state.inputs["motor"], np.arange(21.0))
    batch.inputs["motor"] = 1.0
    assert batch.inputs[:].shape == (21, 1)
    for value in (np.zeros(20), np.full(21, np.nan), np.zeros((21, 1))):
        with pytest.raises(ValueError, match="motor"):
            batch.inputs["motor"] = value
    other = lw.Simulation(CART_POLE, batch.state)
    for one in (batch, other):
        one.step(0.01)
    same(batch, other)


def test_some_of_a_batch_begin_anew():
    batch, twin = (lw.Simulation(CART_POLE, q=STARTS, **FIXED) for _ in range(2))
    for one in (batch, twin):
        one.inputs["motor"] = 1.0
        one.step(n=10)
    where = np.zeros(21, bool)
    where[[2, 5]] = True
    batch.reset(where=where, q=[0.0, 0.1], inputs={"motor": 4.0})
    np.testing.assert_array_equal(batch.q[where], [[0.0, 0.1]] * 2)
    assert batch.inputs["motor"][where].tolist() == [4.0, 4.0]
    assert batch.t == 0.02
    batch.inputs["motor"] = np.where(where, 4.0, 1.0)
    for one in (batch, twin):
        one.step(n=10)
    np.testing.assert_array_equal(batch.q[~where], twin.q[~where])
    alone = lw.Simulation(CART_POLE, lw.State(np.array([0.0, 0.1]), np.zeros(2)), **FIXED)
    alone.inputs["motor"] = 4.0
    alone.step(n=10)
    np.testing.assert_array_equal(batch.q[2], alone.q)
    batch.reset(where=[2])
    np.testing.assert_array_equal(batch.q[2], STARTS[2])
    mistakes: list[dict[str, Any]] = [
        {"where": np.zeros(5, bool)},
        {"where": [99]},
        {"where": [1, 2], "q": np.zeros((3, 2))},
    ]
    for wrong in mistakes:
        with pytest.raises(ValueError, match="reset: "):
            batch.reset(**wrong)
    batch.reset()
    np.testing.assert_array_equal(batch.q, STARTS)
    batch.reset(q=STARTS[:4])
    assert batch.q.shape == (4, 2)


def test_copies_and_files_of_batches(tmp_path):
    batch = lw.Simulation(CART_POLE, q=STARTS, record=True)
    batch.inputs["motor"] = STARTS[:, 0]
    batch.step(0.05, n=3)
    batch.save(tmp_path / "batch.lwc")
    twin, restored = batch.copy(), lw.Simulation(CART_POLE, q=STARTS[:2], record=True)
    restored.restore(tmp_path / "batch.lwc")
    for one in (batch, twin, restored):
        one.step(0.05, n=3)
    for other in (twin, restored):
        same(batch, other)
        np.testing.assert_array_equal(batch.recording.q, other.recording.q)


# what happens, and what goes wrong


def test_an_event_that_stops_ends_a_step_and_the_next_goes_on():
    model = ball()
    sim = lw.Simulation(model, model.state(height=1.0), events=[bouncing(action="stop")])
    sim.step(1.0)
    impact = lw.simulate(model, 1.0, model.state(height=1.0), events=[bouncing(action="stop")])
    assert (sim.t, sim.status, sim.events) == (impact.final.t, "EVENT", list(impact.report.events))
    np.testing.assert_array_equal(sim.v, impact.final.v)
    sim.step(0.1)
    assert sim.status == "DONE"
    assert sim.t == pytest.approx(impact.final.t + 0.1)
    assert sim.q[0] < -0.4
    sim.reset()
    sim.step(1.0)
    assert sim.events == list(impact.report.events)


def test_in_a_batch_those_that_an_event_stops_wait_to_be_reset():
    model = ball()
    heights = np.linspace(0.1, 2.0, 12)[:, None]
    batch = lw.Simulation(model, q=heights, events=[bouncing(action="stop")])
    batch.step(0.1, n=5)
    stopped = heights[:, 0] < 0.5 * 9.81 * 0.25
    np.testing.assert_array_equal(batch.status == "EVENT", stopped)
    np.testing.assert_allclose(batch.q[stopped], 0.0, atol=1e-9)
    np.testing.assert_allclose(batch.q[~stopped, 0], heights[~stopped, 0] - 0.5 * 9.81 * 0.25, rtol=1e-9)
    batch.reset(where=stopped)
    assert (batch.status == "DONE").all()
    batch.step(0.05)
    assert batch.v[stopped] == pytest.approx(-9.81 * 0.05)
    assert not batch.failed.size


def raising(t, q, v):
    if float(t) > 0.05:
        raise RuntimeError("the cable broke")
    return 0.0


@pytest.mark.parametrize(
    ("law", "status"), [(raising, "LAW_RAISED"), (lambda t, q, v: lw.sqrt(0.05 - t), "NOT_FINITE")]
)
def test_a_law_that_fails_is_named_and_the_last_good_state_is_there(law, status):
    sim = lw.Simulation(cart_pole(law=law))
    with pytest.raises(SimulationFailed, match="'motor'") as told:
        sim.step(0.01, n=10)
    assert sim.status == told.value.status == status
    assert 0.03 < sim.t <= 0.06
    assert told.value.run.final.t == sim.t == sim.recording.time[-1]
    with pytest.raises(lw.SimulationError, match="'motor'"):
        sim.step(0.01)
    with pytest.raises(lw.SimulationError, match="cannot go on"):
        sim.save("nowhere.lwc")
    with pytest.raises(lw.SimulationError, match="'motor'"):
        sim.copy().step(0.01)
    sim.reset()
    sim.step(0.01)
    assert sim.status == "DONE"


def test_of_a_batch_the_failed_ones_are_warned_of_once_and_the_others_go_on():
    until = lw.Input("until", 1.0)
    model = cart_pole(law=lambda t, q, v: lw.sqrt(until - t))
    batch = lw.Simulation(model, q=np.zeros((3, 2)), inputs={"until": [1.0, 0.004, 1.0]})
    with pytest.warns(UserWarning, match="1 of 3 mechanisms failed, the first is 1: .*'motor'"):
        batch.step(0.01)
    assert batch.status.tolist() == ["DONE", "NOT_FINITE", "DONE"]
    assert batch.failed.tolist() == [1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch.step(0.01)
    np.testing.assert_array_equal(batch.q[0], batch.q[2])
    assert batch.q[0, 0] != 0.0
    assert batch.recording.status.tolist() == batch.status.tolist()
    batch.reset(where=batch.failed, inputs={"until": 1.0})
    batch.step(0.01)
    assert not batch.failed.size


@pytest.mark.parametrize("called", [False, True], ids=["traced", "called"])
def test_what_a_law_reads_from_outside_does_not_change_unseen(called):
    u = [0.5]
    model = cart_pole(law=lambda t, q, v: u[0] if not called or float(v) < 9.0 else 0.0)
    sim = lw.Simulation(model)
    sim.step(0.01, n=3)
    u[0] = -5.0
    with pytest.raises(lw.SimulationError, match=r"'motor'.*lw.Input"):
        sim.step(0.01)
    assert sim.t == pytest.approx(0.03)
    sim = lw.Simulation(model)
    sim.step(0.01)
    assert sim.v[0] < 0.0


def test_ctrl_c_leaves_it_where_it_was():
    press = [False]

    def law(t, q, v):
        if press[0]:
            raise KeyboardInterrupt
        return 0.3 if float(q) < 9.0 else 0.0

    sim, twin = (lw.Simulation(cart_pole(law=law)) for _ in range(2))
    sim.step(0.01)
    before = sim.q
    press[0] = True
    with pytest.raises(KeyboardInterrupt):
        sim.step(0.01)
    press[0] = False
    assert sim.t == 0.01
    assert sim.status == "DONE"
    np.testing.assert_array_equal(sim.q, before)
    sim.step(0.01)
    twin.step(0.01, n=2)
    np.testing.assert_allclose(sim.q, twin.q, atol=1e-12)


def test_work_is_bounded_in_each_step_and_not_in_all_of_them():
    sim = started(max_steps=50, record=False, **FIXED)
    sim.step(n=500)
    with pytest.raises(lw.SimulationError, match="more steps than allowed"):
        sim.step(1.0)


def test_wrong_words():
    for words in ({"record": 0}, {"record": "all"}, {"threads": 0}, {"method": "rk5"}, {"accuracy": -1}):
        with pytest.raises(ValueError, match="Simulation: "):
            started(**words)
    with pytest.raises(ValueError, match=r"Simulation: .*batches"):
        started(q=np.zeros((2, 2)))
    no_model: Any = "cart-pole"
    with pytest.raises(ValueError, match="Simulation: model is 'cart-pole'; give a Model"):
        lw.Simulation(no_model)
    with pytest.raises(ValueError, match=r"Simulation: .*did you mean 'motor'"):
        started(inputs={"moter": 1.0})
    sim = started()
    wrong: list[Any] = [0.0, -1.0, np.nan, np.inf, "a", True, [0.1]]
    for dt in wrong:
        with pytest.raises(ValueError, match="step: dt"):
            sim.step(dt)
    with pytest.raises(ValueError, match="there is no fixed step"):
        sim.step()
    others: list[Any] = [-1, 1.5]
    for n in others:
        with pytest.raises(ValueError, match="step: n"):
            sim.step(0.1, n)
    assert sim.t == 0.0


def test_simulations_in_threads_and_one_in_two():
    ends, told = [None] * 4, []

    def run(k):
        sim = started()
        sim.inputs["motor"] = 1.0
        sim.step(0.01, n=100)
        ends[k] = sim.q

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    shared = started(record=False, **FIXED)

    def push():
        for _ in range(2000):
            try:
                shared.step()
            except lw.SimulationError as error:
                told.append(str(error))

    threads += [threading.Thread(target=push) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for end in ends[1:]:
        np.testing.assert_array_equal(end, ends[0])
    assert all("one at a time" in words for words in told)
    assert shared.t == pytest.approx((4000 - len(told)) * 0.002)


def test_a_law_cannot_step_its_own_simulation():
    made: list[lw.Simulation] = []

    def law(t, q, v):
        for one in made:
            one.step(0.1)
        return 0.1 if float(q) < 9.0 else 0.0

    sim = lw.Simulation(cart_pole(law=law))
    made.append(sim)
    with pytest.raises(lw.LinkworkError, match="one at a time"):
        sim.step(0.1)


def test_nothing_of_a_model_is_kept_alive():
    import gc
    import weakref

    model = cart_pole()
    sim = lw.Simulation(model)
    sim.step(0.1)
    alive = weakref.ref(model)
    del sim, model
    gc.collect()
    assert alive() is None


def test_writing_an_input_compiles_nothing(monkeypatch):
    sim = started()
    monkeypatch.setattr("linkwork.native.store.load", lambda *a, **k: pytest.fail("compiled"))
    for k in range(5):
        sim.inputs["motor"] = float(k)
        sim.step(0.01)


def test_the_file_of_another_kind_is_refused(tmp_path: Path):
    run = lw.simulate(CART_POLE, 0.1)
    run.save(tmp_path / "run.lwr")
    with pytest.raises(FormatError, match="'recording'"):
        started().restore(tmp_path / "run.lwr")


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("timestep", "use step= of lw.Simulation, or sim.step"),
        ("stepp", "did you mean 'step'"),
        ("qpos", "use sim.q"),
        ("input", "did you mean 'inputs'"),
        ("q", "cannot be set"),
        ("model", "cannot be set"),
        ("inputs", "cannot be set"),
        ("step", "is a method"),
    ],
)
def test_attributes_without_effect_are_refused(word, remedy):
    sim = lw.Simulation(lw.examples.cart_pole())
    with pytest.raises(AttributeError, match=remedy):
        setattr(sim, word, 1)
    with pytest.raises(AttributeError, match=remedy):
        setattr(sim.copy(), word, 1)


def test_inputs_are_no_attributes():
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail"))
    sim = lw.Simulation(m)
    with pytest.raises(AttributeError, match=r"write sim\.inputs\['motor'\] ="):
        sim.inputs.motor = 3.0
    with pytest.raises(AttributeError, match="unknown input 'moter'; did you mean 'motor'"):
        sim.inputs.moter = 3.0


@pytest.mark.parametrize(("record", "asked"), [(None, "status"), (False, "recording")])
def test_steps_that_make_energy_are_doubted_once(record, asked):
    """The joint's motion ends at q = 0.1, with an infinite slope: steps creep past, and energy is lost."""

    class Ending(lw.Joint):
        coordinates = 1

        def motion(self, q: Any) -> Any:
            return lw.translation(0, 0, lw.sqrt(0.1 - q[0]))

    m = lw.Mechanism("ending")
    m.add(Ending("joint", m.ground, m.add(lw.Body("body", lw.Sphere(0.1), mass=1.0))))
    sim = lw.Simulation(m, record=record)
    sim.step(0.1, n=20)
    with pytest.warns(UserWarning, match="the energy does not balance.*motion of joint 'joint'"):
        getattr(sim, asked)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "does not balance" in sim.recording.report.warnings[0]


def test_fixed_steps_that_are_too_long_are_doubted_and_good_ones_not():
    model = pendulum()
    for step, doubted in ((0.02, True), (0.001, False)):
        sim = lw.Simulation(model, bent(model), method="euler" if doubted else "rk4", step=step)
        sim.step(n=200)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            notes = sim.recording.report.warnings
        assert bool(notes) is bool(caught) is doubted


def test_warnings_are_of_the_line_that_the_user_wrote():
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Sphere(0.1), mass=1.0, position=(0, 0, -1)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), limits=(-1, 1)))
    with pytest.warns(UserWarning, match="the start is outside of limits") as found:
        lw.Simulation(m, m.compile().state(pin=2.0))
    assert found[0].filename == __file__


def test_a_copy_by_pythons_own_means_is_another_simulation():
    sim = lw.Simulation(CART_POLE)
    sim.step(0.01)
    for twin in (copy.copy(sim), copy.deepcopy(sim)):
        twin.step(0.01)
        assert (sim.t, twin.t) == (0.01, 0.02)
    with pytest.raises(TypeError, match=r"sim\.save\('now\.lwc'\)"):
        pickle.dumps(sim)


def test_steps_that_nobody_watches_give_the_same_bits_as_single_ones() -> None:
    m = lw.Mechanism("heap")
    for k in range(6):
        m.add(
            lw.Body(
                f"ball {k}", lw.Sphere(0.1), density=1000.0, position=(0.05 * (k % 2), 0.0, 0.15 + 0.22 * k)
            )
        )
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    model = m.compile()
    together, single = (lw.Simulation(model, step=1 / 60, record=False) for _ in range(2))
    together.step(n=45)
    for _ in range(45):
        single.step()
    assert together.t == single.t == 0.75
    np.testing.assert_array_equal(together.q, single.q)
    np.testing.assert_array_equal(together.v, single.v)
    together.step(0.01, n=3)  # no steps of the mesh
    for _ in range(3):
        single.step(0.01)
    np.testing.assert_array_equal(together.q, single.q)
