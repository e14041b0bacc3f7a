"""Laws of drivers that read inputs: constant between changes; where one jumps, the mechanism follows."""

from typing import Any

import numpy as np
import pytest

import linkwork as lw

GOAL: Any = lw.Input("goal", 0.3)
RATE: Any = lw.Input("rate", 2.0)


def called(t):
    return GOAL + 0.1 * lw.sin(RATE * t) if float(t) < 1e9 else 0.0


LAWS = {"traced": lambda t: GOAL + 0.1 * lw.sin(RATE * t), "called": called}


def cart(law: Any) -> lw.Mechanism:
    m = lw.examples.cart_pole()
    m.add(lw.Driver("drive", "rail", law))
    return m


def written_down(goal: float, rate: float) -> lw.Mechanism:
    return cart(lambda t: goal + 0.1 * lw.sin(rate * t))


@pytest.fixture(params=LAWS)
def model(request) -> lw.Model:
    return cart(LAWS[request.param]).compile()


def four_bar(law: Any) -> lw.Mechanism:
    """Return a four-bar linkage whose crank can turn by some way only."""
    m = lw.Mechanism("four-bar", space="plane")
    bars = [m.add(lw.Body(name, lw.Inertia(1.0, (0.1, 0), 0.01))) for name in ("crank", "rod", "rocker")]
    crank, rod, rocker = bars
    m.add(lw.Revolute("A", m.ground, crank, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", crank, rod, on_parent=(0.3, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", rod, rocker, on_parent=(0.25, 0), on_child=(0.2, 0)))
    m.add(lw.Revolute("D", m.ground, rocker, on_parent=(0.4, 0), on_child=(0, 0)))
    m.assemble()
    m.add(lw.Driver("motor", "A", law))
    return m


def test_a_run_with_an_input_is_that_with_the_number_written_down(model):
    assert dict(model.inputs) == {"goal": 0.3, "rate": 2.0}
    for goal, rate in ((0.3, 2.0), (-0.2, 3.0)):
        inputs = {"goal": goal, "rate": rate}
        run = lw.simulate(model, 0.5, every=0.1, inputs=inputs)
        other = lw.simulate(written_down(goal, rate), 0.5, every=0.1)
        np.testing.assert_allclose(run.q, other.q, rtol=0, atol=1e-7)
        np.testing.assert_allclose(run["drive"].force, other["drive"].force, rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(run["drive"].position, other["drive"].position, atol=1e-12)
        assert run.report.loop_gap < 1e-9


def test_a_law_may_be_an_input_itself():
    run = lw.simulate(cart(GOAL), 0.3, every=0.1, inputs={"goal": 0.25})
    np.testing.assert_allclose(run["rail"].position, 0.25, atol=1e-12)


def test_where_an_input_jumps_the_mechanism_follows_with_the_impulse_it_takes(model):
    sim = lw.Simulation(model, model.state(pin=0.2))
    sim.step(0.1, n=3)
    q, v = sim.q, sim.v
    sim.inputs["goal"] = 0.5
    there = model.assemble(q, t=sim.t, inputs=dict(sim.inputs))
    moving = model.closed_velocity(there, v, t=sim.t, inputs=dict(sim.inputs))
    sim.step(0.1, n=2)
    run = sim.recording
    np.testing.assert_allclose(run.q[3], there, atol=1e-12)
    np.testing.assert_allclose(run.v[3], moving, atol=1e-12)
    law = run.inputs["goal"] + 0.1 * np.sin(2.0 * run.time)
    np.testing.assert_allclose(run["rail"].position, law, atol=1e-10)
    assert run.report.loop_gap < 1e-9
    assert run.energy_error < 1e-7


def test_the_same_value_again_is_no_jump(model):
    sims = [lw.Simulation(model, model.state(pin=0.2)) for _ in range(2)]
    for _ in range(5):
        sims[0].inputs["goal"] = 0.3
        for sim in sims:
            sim.step(0.05)
    np.testing.assert_array_equal(sims[0].q, sims[1].q)


def test_controllers_write_inputs_of_drivers_alike_in_runs_batches_and_steps():
    m = cart(LAWS["traced"])
    m.add(lw.Sampled("plan", GOAL, every=0.1, law=lambda t, q, v: 0.1 * round(10 * t)))
    model = m.compile()
    times = np.linspace(0.0, 0.5, 11)
    one = lw.simulate(model, 0.5, model.state(pin=0.2), times=times)
    law = 0.1 * np.floor(10 * times[:-1] + 1e-9) + 0.1 * np.sin(2.0 * times[:-1])
    np.testing.assert_allclose(one["rail"].position[:-1], law, atol=1e-10)
    assert one.report.loop_gap < 1e-9
    assert one.energy_error < 1e-7
    starts = np.array([model.state(pin=0.2).q, model.state(pin=0.1).q])
    speeds = np.array([model.state(pin=0.2).v, model.state(pin=0.1).v])
    runs = lw.simulate(model, 0.5, q=starts, v=speeds, times=times)
    np.testing.assert_array_equal(runs.q[0], one.q)
    sim = lw.Simulation(model, model.state(pin=0.2))
    sim.step(0.05, n=10)
    np.testing.assert_allclose(sim.q, one.q[-1], atol=1e-10)
    assert one.at(0.37)["rail"].position == pytest.approx(0.3 + 0.1 * np.sin(0.74), abs=1e-9)


def test_mechanisms_of_a_batch_jump_each_by_itself():
    model = cart(LAWS["traced"]).compile()
    batch = lw.Simulation(model, q=np.tile(model.q_drawn, (3, 1)), inputs={"goal": [0.1, 0.2, 0.3]})
    batch.step(0.1)
    batch.inputs["goal"] = [0.1, 0.25, -0.3]
    batch.step(0.1)
    law = np.array([0.1, 0.25, -0.3]) + 0.1 * np.sin(0.4)
    np.testing.assert_allclose(batch.q[:, 0], law, atol=1e-10)
    alone = lw.Simulation(model, inputs={"goal": 0.2})
    alone.step(0.1)
    alone.inputs["goal"] = 0.25
    alone.step(0.1)
    np.testing.assert_allclose(batch.q[1], alone.q, atol=1e-12)


def test_a_run_goes_on_with_its_inputs_and_jumps_to_others():
    model = cart(LAWS["traced"]).compile()
    first = lw.simulate(model, 0.3, model.state(pin=0.2, inputs={"goal": 0.1}))
    assert first.final.inputs["goal"] == 0.1
    whole = lw.simulate(model, 0.6, model.state(pin=0.2, inputs={"goal": 0.1}))
    np.testing.assert_array_equal(lw.simulate(model, 0.3, first).final.q, whole.final.q)
    other = lw.simulate(model, 0.3, first, inputs={"goal": 0.4})
    assert other["rail"].position[0] == pytest.approx(0.4 + 0.1 * np.sin(0.6), abs=1e-9)


def test_the_phase_makes_up_for_another_speed():
    phase, rate = lw.Input("phase"), lw.Input("rate", 1.0)
    model = four_bar(lambda t: phase + rate * t).compile()
    sim = lw.Simulation(model)
    sim.step(0.1)
    before = sim["A"].position
    sim.inputs.update({"phase": (sim.inputs["rate"] - 3.0) * sim.t, "rate": 3.0})
    sim.step(1e-6)
    assert sim["A"].position == pytest.approx(before + 3e-6, abs=1e-9)
    assert sim["A"].velocity == pytest.approx(3.0, abs=1e-9)


def test_a_jump_that_cannot_be_assembled_is_refused_and_nothing_has_happened():
    model = four_bar(GOAL).compile()
    sim = lw.Simulation(model, inputs={"goal": float(model.q_drawn[0])})
    sim.step(0.1)
    q = sim.q
    sim.inputs["goal"] = 3.0
    with pytest.raises(
        lw.AssemblyError, match=r"input 'goal' from .* to 3.*'C' by.*inputs are what they were"
    ):
        sim.step(0.1)
    np.testing.assert_array_equal(sim.q, q)
    assert sim.inputs["goal"] == model.q_drawn[0]
    sim.step(0.1)


def test_a_controller_that_asks_for_what_cannot_be_ends_the_run():
    m = four_bar(GOAL)
    drawn = float(m.compile().q_drawn[0])
    m.add(lw.Sampled("plan", GOAL, every=0.1, law=lambda t, q, v: drawn if t < 0.25 else 3.0))
    model = m.compile()
    with pytest.raises(
        lw.SimulationError, match=r"at t = 0.3 s: drivers cannot follow input 'goal'"
    ) as caught:
        lw.simulate(model, 1.0, inputs={"goal": drawn})
    assert caught.value.run.time[-1] == pytest.approx(0.3)
    sim = lw.Simulation(model, inputs={"goal": drawn})
    with pytest.raises(lw.SimulationError, match="drivers cannot follow"):
        sim.step(1.0)
    runs = lw.simulate(model, 1.0, q=np.tile(model.q_drawn, (2, 1)), inputs={"goal": drawn}, check=False)
    assert [run.status for run in runs] == ["LOOPS_OPEN"] * 2


def test_files_keep_inputs_of_drivers(tmp_path):
    for law in (GOAL, LAWS["traced"]):
        m = cart(law)
        m.save(tmp_path / "cart.json")
        again = lw.load(tmp_path / "cart.json")
        assert dict(again.compile().inputs) == dict(m.compile().inputs)
        runs = [lw.simulate(one, 0.2, every=0.1, inputs={"goal": 0.1}) for one in (m, again)]
        np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-12)


def test_kinematics_reads_inputs():
    phase, rate = lw.Input("phase"), lw.Input("rate", 1.0)
    m = four_bar(lambda t: phase + rate * t)
    motion = lw.kinematics(m, [0.0, 0.1, 0.2], inputs={"phase": 0.8, "rate": 2.0})
    np.testing.assert_allclose(motion["A"].position, [0.8, 1.0, 1.2], atol=1e-10)
    np.testing.assert_allclose(motion["A"].velocity, 2.0, atol=1e-9)
    with pytest.raises(ValueError, match="unknown input 'phas'; did you mean 'phase'"):
        lw.kinematics(m, [0.0], inputs={"phas": 1.0})
    with pytest.raises(TypeError, match="kinematics: inputs is 3"):
        lw.kinematics(m, [0.0], inputs=3)  # type: ignore[arg-type]


def test_inputs_of_loads_and_joints_count_for_the_forces_of_kinematics():
    def crank(damping: Any, torque: Any) -> lw.Mechanism:
        m = four_bar(lambda t: 0.9 + 2 * t)
        m.joints["A"].damping = damping
        m.add(lw.Torque("brake", m.bodies["rocker"], torque))
        return m

    times, given = [0.0, 0.1], {"c": 0.3, "load": -0.5}
    read = lw.kinematics(crank(lw.Input("c", 0.1), lw.Input("load", 0.2)), times, inputs=given)
    plain, other = lw.kinematics(crank(0.3, -0.5), times), lw.kinematics(crank(0.1, 0.2), times)
    np.testing.assert_allclose(read["motor"].force, plain["motor"].force, rtol=1e-12)
    np.testing.assert_array_equal(read["A"].position, plain["A"].position)
    assert np.abs(other["motor"].force - plain["motor"].force).max() > 0.1
    with pytest.raises(ValueError, match="unknown input 'loadd'; did you mean 'load'"):
        lw.kinematics(crank(0.3, lw.Input("load")), times, inputs={"loadd": 1.0})


def test_a_constraint_that_reads_an_input_is_refused():
    class Held(lw.Constraint):
        def phi(self, body):
            return [body.position[0] - GOAL]

    m = lw.examples.cart_pole()
    m.add(Held("held", m["cart"]))
    with pytest.raises(lw.ModelError, match="'held' reads the input 'goal', and equations may not"):
        m.compile()


def test_an_edited_mechanism_keeps_its_inputs():
    m = cart(LAWS["traced"])
    model = m.compile()
    state = lw.simulate(model, 0.2, inputs={"goal": -0.1}).final
    m["pole"].inertia = m["pole"].inertia + m["pole"].inertia
    new, carried = lw.carry(model, state, m)
    assert carried.inputs["goal"] == -0.1
    np.testing.assert_array_equal(carried.q, state.q)
    assert new.loop_gap(carried.q[None], carried.t, inputs=carried.inputs) < 1e-9
