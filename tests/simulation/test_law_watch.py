"""What laws read is read when a run begins; what changes while it goes on is noticed."""

import warnings
from itertools import count
from typing import Any

import numpy as np
import pytest

import linkwork as lw


def pendulum(law: Any) -> tuple[lw.Model, Any]:
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Sphere(0.1), mass=1.0, position=(0, 0, -1)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Motor("motor", "pin", law))
    model = m.compile()
    return model, model.state(pin=0.1)


def writing(u: list[float]) -> lw.Event:
    def act(t: Any, q: Any, v: Any) -> Any:
        u[0] += 1.0

    return lw.Event("switch", lambda t, q, v: t - 0.05, action=act)


@pytest.mark.parametrize("called", [False, True])
def test_an_action_that_writes_what_a_law_reads_ends_the_run(called):
    u = [1.0]
    law = (lambda t, q, v: u[0] if q > -9.0 else 0.0) if called else (lambda t, q, v: u[0])
    model, state = pendulum(law)
    with pytest.raises(
        lw.SimulationError, match=r"t = 0\.05 s: after the action of event 'switch'.*'motor'"
    ) as e:
        lw.simulate(model, 1.0, state, events=[writing(u)])
    error: Any = e.value
    assert (error.status, error.where) == ("LAW_CHANGED", "motor")
    assert "lw.Input" in str(error)
    assert error.run.time[-1] == pytest.approx(0.05)
    run = lw.simulate(model, 0.1, error.run.final)  # and can go on with what it is now
    assert set(run["motor"].force) == {2.0}


def test_an_action_that_writes_what_an_event_watches_ends_the_run():
    u = [0.05]
    model, state = pendulum(lambda t, q, v: 0.0)

    def act(t: Any, q: Any, v: Any) -> Any:
        u[0] = 0.07

    watched = lw.Event("alarm", lambda t, q, v: t - u[0], action=act)
    with pytest.raises(lw.SimulationError, match="what event 'alarm' reads from outside has changed"):
        lw.simulate(model, 1.0, state, events=[watched])


def test_a_simulation_notices_it_though_the_model_was_asked_meanwhile():
    u = [1.0]
    model, state = pendulum(lambda t, q, v: u[0])
    sim = lw.Simulation(model, state)
    sim.step(0.01)
    u[0] = 2.0
    model.motion(sim.q, sim.v)  # follows
    for _ in range(2):
        with pytest.raises(lw.SimulationError, match=r"'motor' reads.*'u' had 1.0 and has 2.0 now.*lw.Input"):
            sim.step(0.01)
    u[0] = 1.0
    sim.step(0.01)


def test_batches_notice_it_too():
    u = [1.0]
    model, _ = pendulum(lambda t, q, v: u[0])
    with pytest.warns(UserWarning, match="after the action of event 'switch'"):
        runs = lw.simulate(model, 1.0, q=np.zeros((5, 1)), events=[writing(u)])
    assert set(runs.status) == {"LAW_CHANGED"}


def test_an_action_may_write_what_no_law_reads():
    u = [1.0]
    model, state = pendulum(lambda t, q, v: -v)
    run = lw.simulate(model, 0.1, state, events=[writing(u)])
    assert run.status == "DONE"
    assert u == [2.0]


def test_a_formula_that_became_stale_by_another_law_is_warned_of():
    u = [1.0]

    def writer(t: Any, q: Any, v: Any) -> Any:
        if t > 0.01:
            u[0] = 2.0
        return 0.0

    m = lw.examples.cart_pole()
    m.add(lw.Motor("reader", "pin", lambda t, q, v: u[0]))
    m.add(lw.Motor("writer", "rail", writer))
    with pytest.warns(UserWarning, match="what load 'reader' reads from outside has changed.*'u' had 1.0"):
        run = lw.simulate(m, 0.1)
    assert any("'reader'" in note for note in run.report.warnings)
    assert set(run["reader"].force) == {1.0}


@pytest.mark.parametrize("batch", [False, True])
def test_a_relay_with_a_memory_is_noticed(batch):
    """It gives the same answer twice in a row, and another at the end."""
    state = [1.0]

    def relay(t: Any, q: Any, v: Any) -> Any:
        if q > 0.12:
            state[0] = -1.0
        if q < -0.12:
            state[0] = 1.0
        return 3.0 * state[0]

    model, start = pendulum(relay)
    if batch:
        with pytest.warns(UserWarning, match="'motor'.*not a function of its arguments"):
            runs = lw.simulate(model, 2.0, q=np.full((3, 1), 0.1))
        assert set(runs.status) == {"LAW_CHANGED"}
    else:
        with pytest.raises(lw.SimulationError, match=r"'motor'.*not a function of its arguments.*lw.Sampled"):
            lw.simulate(model, 2.0, start)


def test_noise_that_sets_in_later_ends_a_run_at_once():
    rng, calls = np.random.default_rng(1), count()

    def noise(t: Any, q: Any, v: Any) -> Any:
        return rng.normal() if next(calls) >= 0 and t > 0.5 else 0.0

    model, state = pendulum(noise)
    with pytest.raises(lw.SimulationError, match=r"'motor'.*not a function of its arguments"):
        lw.simulate(model, 10.0, state)
    assert next(calls) < 100_000  # steps that follow the noise would take millions


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_noise_that_sets_in_later_is_noticed_in_few_fixed_steps(method):
    """Of a law that is called one answer in 64 is asked for twice, so that little of a run goes unseen."""
    rng = np.random.default_rng(1)
    model, state = pendulum(lambda t, q, v: rng.normal() if t > 4.0 else 0.0)
    with pytest.raises(lw.SimulationError, match=r"'motor'.*not a function of its arguments"):
        lw.simulate(model, 5.0, state, method=method, step=0.01)


@pytest.mark.parametrize("noisy", range(5))
def test_noise_in_one_lane_of_a_batch_is_noticed(noisy):
    rng = np.random.default_rng(0)

    def law(t: Any, q: Any, v: Any) -> Any:
        return rng.normal() if t > 0.01 and q > 0.5 else 0.0

    model, _ = pendulum(law)
    q = np.zeros((5, 1))
    q[noisy] = 1.0
    with pytest.warns(UserWarning, match="not a function of its arguments"):
        runs = lw.simulate(model, 0.2, q=q, method="rk4", step=1e-3)
    assert runs.status[noisy] == "LAW_RAISED"


def test_a_relay_in_python_that_chatters_ends_after_some_thousand_steps():
    calls = count()

    def relay(t: Any, q: Any, v: Any) -> Any:
        return (-5.0 if v > 0 else 5.0) if next(calls) >= 0 else 0.0

    model, state = pendulum(relay)
    with pytest.raises(lw.SimulationError, match=r"makes next to no progress.*'motor'"):
        lw.simulate(model, 20.0, state)
    assert next(calls) < 50_000


NAMED = {  # laws that go wrong from 0.05 s on, and what is said of them
    "noise": (lambda t: np.random.default_rng().normal() if t > 0.05 else 0.0, "not a function.*lw.Sampled"),
    "raises": (lambda t: 1.0 / 0.0 if t > 0.05 else 0.0, "raised ZeroDivisionError"),
    "called NaN": (lambda t: float("nan") if t > 0.05 else 0.0, "gives nan"),
    "traced NaN": (lambda t: lw.sqrt(0.05 - t), "gives no finite number"),
    "huge": (lambda t: lw.exp(1e4 * t), "more than can be computed with"),
}


@pytest.mark.parametrize("name", NAMED)
def test_steps_with_contact_name_the_law_that_goes_wrong(name):
    law, said = NAMED[name]
    m = lw.Mechanism("ball")
    m.add(lw.Prismatic("rail", m.ground, m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0)), axis=(1, 0, 0)))
    m.ground.add(lw.Plane(offset=-1.0))
    m.add(lw.Contact("contact"))
    m.add(lw.Motor("motor", "rail", lambda t, q, v: law(t)))
    with pytest.raises(lw.SimulationError, match=f"'motor'.*{said}"):
        lw.simulate(m, 1.0, step=1 / 60)


def test_runs_of_laws_that_log_are_quiet():
    log: list[float] = []

    def law(t: Any, q: Any, v: Any) -> Any:
        log.append(float(t))
        return -q if q > 0 else 0.0

    model, state = pendulum(law)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            lw.simulate(model, 0.1, state)
