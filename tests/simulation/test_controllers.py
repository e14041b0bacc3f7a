"""Sampled controllers: exact times, values held, the same bits in runs, in pieces, in steps, in batches."""

import warnings
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FormatError
from linkwork.simulation.failure import SimulationFailed

EVERY = 0.002
FIXED: dict[str, Any] = {"method": "rk4", "step": 0.001}
HOW: dict[str, dict[str, Any]] = {"adaptive": {}, "fixed": FIXED, "order 5": {"method": "rkf45"}}


def balance(t, q, v):
    return 150.0 * q["pin"] + 30.0 * v["pin"] if q["pin"] > -1.0 else 0.0


def integrating(t, q, v, memory):
    """A PID with a filter that remembers: an integral and the last output."""
    integral, last = memory
    integral = integral + EVERY * q["pin"]
    u = 150.0 * q["pin"] + 30.0 * v["pin"] + 20.0 * integral
    return 0.5 * (u + last), (integral, u)


def plain() -> lw.Model:
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail"))
    return m.compile()


def controlled(law=balance, *more: lw.Load, **words: Any) -> lw.Model:
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail"))
    m.add(lw.Sampled("balance", "motor", **{"every": EVERY, "law": law, **words}))
    for one in more:
        m.add(one)
    return m.compile()


def with_memory(**words: Any) -> lw.Model:
    return controlled(integrating, memory=(0.0, 0.0), **words)


@pytest.mark.parametrize("how", HOW)
def test_it_is_the_loop_of_runs_with_held_inputs(how):
    options, model = HOW[how], plain()
    state = model.state(pin=0.1)
    run = lw.simulate(controlled(), 0.1, state, every=EVERY, **options)
    q, forces = [state.q], []
    for k in range(50):
        forces.append(150.0 * state.q[1] + 30.0 * state.v[1])
        state = lw.State(state.q, state.v, k * EVERY)
        state = lw.simulate(model, EVERY, state, inputs={"motor": forces[-1]}, **options).final
        q.append(state.q)
    np.testing.assert_allclose(run.q, q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.inputs["motor"][:-1], forces, rtol=1e-10)
    np.testing.assert_array_equal(run["balance"].force, run["motor"].force)
    assert run.energy_error < 1e-8


def test_it_is_called_at_exact_times_whatever_is_sampled():
    times = []

    def law(t, q, v):
        times.append(t)
        return float(q["rail"])

    model = controlled(law, every=0.03, offset=0.01)
    wanted: list[dict[str, Any]] = [{}, {"every": 0.0137}, {"times": [0.01, 0.02, 0.5]}, FIXED]
    for options in wanted:
        times.clear()
        lw.simulate(model, 1.0, **options)
        assert times == [0.01 + k * 0.03 for k in range(33)]
    times.clear()
    lw.simulate(model, 0.1, lw.State(np.zeros(2), np.zeros(2), 0.01 + 2 * 0.03))
    assert times == [0.01 + k * 0.03 for k in (2, 3, 4, 5)]
    times.clear()
    lw.simulate(controlled(law, every=0.1), 1.0)
    assert times == [k * 0.1 for k in range(10)]  # not at the end: that is for the run after


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("model", [controlled(), with_memory(), with_memory(offset=0.0007)])
def test_runs_in_turn_steps_and_batches_give_the_bits_of_one_run(how, model):
    options, state = HOW[how], model.state(pin=0.1)
    whole = lw.simulate(model, 0.2, state, every=0.01, **options)
    for where in (0.05, 0.0611, 0.1):
        first = lw.simulate(model, where, state, **options)
        second = lw.simulate(model, 0.2 - where, first, **options)
        np.testing.assert_array_equal(second.final.q, whole.final.q)
        np.testing.assert_array_equal(second.final.inputs["motor"], whole.final.inputs["motor"])
    sim = lw.Simulation(model, state, **options)
    sim.step(0.01, n=20)
    np.testing.assert_array_equal(sim.recording.q, whole.q)
    np.testing.assert_array_equal(sim.recording.inputs["motor"][:-1], whole.inputs["motor"][:-1])
    np.testing.assert_array_equal(sim.recording.at(0.1234).q, whole.at(0.1234).q)
    fine = lw.Simulation(model, state, **options)
    fine.step(0.0005, n=400)
    np.testing.assert_array_equal(fine.q, whole.final.q)
    angles = np.array([0.3, 0.1, -0.2])
    runs = lw.simulate(model, 0.2, q=np.column_stack([0 * angles, angles]), every=0.01, **options)
    np.testing.assert_array_equal(runs.q[1], whole.q)
    np.testing.assert_array_equal(runs[1].inputs["motor"][:-1], whole.inputs["motor"][:-1])
    np.testing.assert_array_equal(runs[1].at(0.1234).q, whole.at(0.1234).q)
    batch = lw.Simulation(model, q=np.column_stack([0 * angles, angles]), **options)
    batch.step(0.01, n=20)
    np.testing.assert_array_equal(batch.q, runs.q[:, -1])


def test_between_samples_inputs_are_those_of_the_run():
    model = with_memory()
    coarse = lw.simulate(model, 0.2, model.state(pin=0.1), every=0.1)
    fine = lw.simulate(model, 0.2, model.state(pin=0.1), times=[0.1234])
    np.testing.assert_allclose(coarse.at(0.1234).q, fine.q[0], rtol=0, atol=1e-12)


def test_vectorized_laws_see_all_mechanisms_at_once():
    shapes = []

    def law(t, q, v, memory):
        shapes.append((q.shape, q["pin"].shape, memory.shape))
        return np.clip(150.0 * q["pin"] + 30.0 * v[1] + memory[0], -20.0, 20.0), memory + EVERY * q["pin"]

    q = np.random.default_rng(0).normal(scale=0.1, size=(11, 2))
    at_once, each = (controlled(law, memory=[0.0], vectorized=flag) for flag in (True, False))
    runs = lw.simulate(at_once, 0.05, q=q, every=0.01)
    assert set(shapes) == {((2, 11), (11,), (1, 11))}
    assert len(shapes) == 25
    np.testing.assert_array_equal(runs.q, lw.simulate(each, 0.05, q=q, every=0.01).q)
    np.testing.assert_array_equal(runs.finals[3].controllers["balance"].shape, (1,))
    alone = lw.simulate(at_once, 0.05, lw.State(q[3], np.zeros(2)), every=0.01)
    np.testing.assert_array_equal(alone.q, runs.q[3])


def test_several_controllers_at_rates_of_their_own():
    m = lw.examples.cart_pole()
    u, w = lw.Input("u"), lw.Input("w", 0.5)
    m.add(lw.Motor("motor", "rail", lambda t, q, v: u - w * v))
    called = []
    m.add(lw.Sampled("slow", u, every=0.03, law=lambda t, q, v: called.append(("slow", t)) or 1.0))
    m.add(lw.Sampled("quick", w, every=0.02, law=lambda t, q, v: called.append(("quick", t)) or t))
    run = lw.simulate(m, 0.1, every=0.01)
    slow, quick = ([("slow", 0.03 * k) for k in range(4)], [("quick", 0.02 * k) for k in range(5)])
    assert called == sorted([*slow, *quick], key=lambda pair: (pair[1], pair[0] == "quick"))
    np.testing.assert_array_equal(
        run.inputs["w"], [0, 0, 0.02, 0.02, 0.04, 0.04, 0.06, 0.06, 0.08, 0.08, 0.08]
    )
    assert run.inputs["u"] == 1.0


def test_limits_hold():
    run = lw.simulate(controlled(limits=(-3.0, 2.0)), 0.2, plain().state(pin=0.3), every=EVERY)
    assert run["motor"].force.max() == 2.0
    assert run["motor"].force.min() >= -3.0


def test_random_numbers_and_counters_are_fine_here():
    rng, count = np.random.default_rng(0), [0]

    def noisy(t, q, v):
        count[0] += 1
        return balance(t, q, v) + rng.normal()

    run = lw.simulate(controlled(noisy), 0.1, plain().state(pin=0.1))
    assert run.status == "DONE"
    assert count[0] == 50


# what goes wrong


@pytest.mark.parametrize(
    ("law", "status", "words"),
    [
        (lambda t, q, v: 1 / 0 if t > 0.01 else 0.0, "LAW_RAISED", "raised ZeroDivisionError"),
        (lambda t, q, v: np.nan if t > 0.01 else 0.0, "NOT_FINITE", "not finite"),
        (lambda t, q, v: [1.0, 2.0] if t > 0.01 else 0.0, "LAW_RAISED", r"give numbers of shape \(1,\)"),
        (lambda t, q, v: "much" if t > 0.01 else 0.0, "LAW_RAISED", "'much'"),
        (lambda t, q, v: None if t > 0.01 else 0.0, "LAW_RAISED", "None"),
        (lambda t, q, v: q["pim"] if t > 0.01 else 0.0, "LAW_RAISED", "did you mean 'pin'"),
    ],
)
def test_what_a_controller_does_wrong_ends_the_run_and_names_it(law, status, words):
    model = controlled(law)
    with pytest.raises(SimulationFailed, match=f"controller 'balance'.*{words}") as told:
        lw.simulate(model, 1.0)
    assert (told.value.status, told.value.where) == (status, "balance")
    assert told.value.time == told.value.run.final.t == 6 * EVERY
    sim = lw.Simulation(model)
    with pytest.raises(SimulationFailed, match=words):
        sim.step(0.01, n=10)
    assert (sim.status, sim.t) == (status, 6 * EVERY)
    with pytest.warns(UserWarning, match="2 of 2 runs failed"):
        runs = lw.simulate(model, 1.0, q=np.zeros((2, 2)))
    assert runs.status.tolist() == [status] * 2


def test_of_a_batch_only_those_fail_whose_controller_does():
    model = controlled(lambda t, q, v: np.inf if q["rail"] > 0.5 else 0.0)
    q = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    with pytest.warns(UserWarning, match="1 of 3 runs failed, the first is run 1"):
        runs = lw.simulate(model, 0.1, q=q)
    assert runs.status.tolist() == ["DONE", "NOT_FINITE", "DONE"]
    batch = lw.Simulation(model, q=q)
    with pytest.warns(UserWarning, match="1 of 3 mechanisms failed, the first is 1"):
        batch.step(0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch.step(0.01)
        batch.reset(where=[1], q=[0.0, 0.0])
        batch.step(0.01)
    assert (batch.status == "DONE").all()


def test_an_input_that_a_controller_writes_is_not_written_by_others():
    sim = lw.Simulation(controlled())
    with pytest.raises(ValueError, match="input 'motor' is written by controller 'balance'"):
        sim.inputs["motor"] = 1.0
    with pytest.raises(ValueError, match="written by controller"):
        sim.inputs[:] = [1.0]
    sim.inputs[:] = [0.0]


def test_controllers_that_cannot_work_are_refused():
    again = lw.Sampled("again", "motor", every=0.1, law=balance)
    with pytest.raises(lw.ModelError, match="'balance' and 'again' write input 'motor'"):
        lw.simulate(controlled(balance, again), 0.1)
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail"))
    m.add(lw.Sampled("balance", "moter", every=0.1, law=balance))
    with pytest.raises(lw.ModelError, match=r"controller 'balance': no law reads .*did you mean 'motor'"):
        lw.simulate(m, 0.1)
    with pytest.raises(lw.LinkworkError, match="cannot be saved"):
        controlled().mechanism.save("nowhere.json")


# what is remembered


def test_a_checkpoint_goes_on_bit_for_bit(tmp_path):
    model, stop = with_memory(), [0.1]

    def law(t, q, v, memory):
        if t > stop[0]:
            raise KeyboardInterrupt
        return integrating(t, q, v, memory)

    model = controlled(law, memory=(0.0, 0.0))
    state, file = model.state(pin=0.1), tmp_path / "run.lwc"
    first = lw.simulate(model, 0.2, state, every=0.01, checkpoint=file)
    assert first.status == "INTERRUPTED"
    stop[0] = 1.0
    second = lw.simulate(model, 0.2, state, every=0.01, checkpoint=file)
    whole = lw.simulate(model, 0.2, state, every=0.01)
    np.testing.assert_array_equal(second.q, whole.q)
    np.testing.assert_array_equal(second.inputs["motor"], whole.inputs["motor"])
    rest = lw.simulate(model, 0.2 - first.final.t, first)
    np.testing.assert_array_equal(rest.final.q, whole.final.q)


def test_saved_runs_and_simulations_remember(tmp_path):
    model = with_memory()
    state = model.state(pin=0.1)
    first = lw.simulate(model, 0.05, state)
    first.save(tmp_path / "run.lwr")
    again = lw.load(tmp_path / "run.lwr")
    np.testing.assert_array_equal(again.final.controllers["balance"], first.final.controllers["balance"])
    np.testing.assert_array_equal(again.inputs["motor"], first.inputs["motor"])
    assert again.sample(3).inputs["motor"] == first.inputs["motor"][3]
    runs = lw.simulate(model, 0.02, q=np.full((2, 2), 0.1), every=0.01)
    runs.save(tmp_path / "runs.lwr")
    np.testing.assert_array_equal(lw.load(tmp_path / "runs.lwr")[1].inputs["motor"], runs[1].inputs["motor"])
    whole = lw.simulate(model, 0.1, state).final
    np.testing.assert_array_equal(lw.simulate(model, 0.05, again.final).final.q, whole.q)
    sim = lw.Simulation(model, state)
    sim.step(0.01, n=5)
    sim.save(tmp_path / "sim.lwc")
    twin, restored = sim.copy(), lw.Simulation(model)
    restored.restore(tmp_path / "sim.lwc")
    for one in (sim, twin, restored):
        one.step(0.01, n=5)
        np.testing.assert_array_equal(one.q, whole.q)
    sim.reset()
    sim.step(0.01, n=10)
    np.testing.assert_array_equal(sim.q, whole.q)
    with pytest.raises(FormatError):
        lw.Simulation(with_memory(every=0.01)).restore(tmp_path / "sim.lwc")
    with pytest.raises(ValueError, match="memory of shape"):
        lw.simulate(model, 0.1, lw.State(state.q, state.v, controllers={"balance": np.zeros(3)}))


def test_in_a_merged_mechanism_a_controller_sees_its_own_member():
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail"))
    m.add(lw.Sampled("balance", "motor", every=EVERY, law=balance))
    pair = lw.merge({"left": m, "right": lw.examples.cart_pole()}, at={"right": (1, 0, 0)})
    model = pair.compile()
    run = lw.simulate(model, 0.1, model.state({"left/pin": 0.1}), every=0.01)
    alone = lw.simulate(m, 0.1, m.compile().state(pin=0.1), every=0.01)
    np.testing.assert_allclose(run["left/pin"].position, alone["pin"].position, atol=1e-9)


def test_a_controller_that_is_called_without_end_is_refused_and_a_fast_one_is_not():
    """At 1 ns it took an hour a second; at 1e-300 s, which time cannot resolve, it did not end."""
    for every, words in ((1e-9, "1e\\+09 calls"), (1e-300, "less than time can resolve")):
        model = controlled(every=every)
        with pytest.raises(ValueError, match=f"controller 'balance'.*{words}"):
            lw.simulate(model, 1.0)
        with pytest.raises(ValueError, match="controller 'balance'"):
            lw.simulate(model, 1.0, q=np.zeros((2, 2)))
        with pytest.raises(ValueError, match="controller 'balance'"):
            lw.Simulation(model).step(1.0)
    assert lw.simulate(controlled(every=1e-6), 1e-4).status == "DONE"
