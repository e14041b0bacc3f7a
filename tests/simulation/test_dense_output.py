"""Samples from the polynomial of a step: as good as the steps, and of no influence on them."""

import dataclasses
import math
import warnings
from typing import Any

import numpy as np
import pytest
from simulation.right_hand_sides import (
    events,
    free_fall,
    kepler,
    motion,
    pendulum,
    pendulum_rates,
    problem_of,
    prothero_robinson,
    rates,
    root_of_time,
    tumbling,
)
from simulation.scenes import driven

import linkwork as lw
from linkwork.recording.status import Status
from linkwork.simulation.integration import Work, march
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.integrators.tableau import Tableau
from linkwork.simulation.problem import Problem

SWING = [1.0, 0.7, 0.0]
TURN = [1.0, 0.0, 0.0, 0.0, 0.4, 1.0, 0.3, 0.0]
LANES = 4
NO_SAMPLES = (math.inf,)
ADAPTIVE = ["rkf45", "dop853", "rodas"]
OF_ORDER_8: Tableau = METHODS["dop853"]


def swinging(**options: Any) -> Problem:
    return problem_of(nq=1, nv=1, motion=motion(pendulum), rates=rates(pendulum_rates), **options)


def turning(**options: Any) -> Problem:
    return problem_of(nq=4, nv=3, motion=motion(tumbling, 4, 3), quaternions=[0], **options)


PROBLEMS = {"pendulum": (swinging, SWING, 2.0), "quaternion": (turning, TURN, 3.0)}
problems = pytest.mark.parametrize("name", PROBLEMS)


def finished(problem: Problem, y: Any, t_end: float, times: Any, cap: int = 5000, t: Any = 0.0) -> Work:
    work = Work(problem, y, t, times=times, cap=cap)
    march(problem, work, t_end)
    return work


def content(work: Work) -> list[bytes]:
    return [np.ascontiguousarray(array).tobytes() for array in work.memory]


def slope(errors: list[float], steps: tuple[int, ...]) -> float:
    return -float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


# the polynomial


def test_the_weights_are_consistent():
    """A stage is where its weights say, and the polynomial is exact for y = t, t^2 ... t^7."""
    dense = OF_ORDER_8.dense
    assert dense is not None
    for row, c in zip(dense.A, dense.c):
        assert sum(row) == pytest.approx(c, abs=1e-15)
    c = np.array((*OF_ORDER_8.c, 1.0, *dense.c))
    theta = np.linspace(0.0, 1.0, 11)
    for power in range(1, 8):
        k = power * c ** (power - 1)
        r = [1.0, k[0] - 1.0, 2.0 - k[0] - k[12], *(np.array(d) @ k for d in dense.d)]
        y = np.zeros_like(theta)
        for j, coefficient in reversed(list(enumerate(r))):
            y = (theta if j % 2 == 0 else 1.0 - theta) * (y + coefficient)
        assert y == pytest.approx(theta**power, abs=1e-13)


@problems
def test_order_inside_a_step(name):
    """One step with a given length: the difference from the solution goes with its power 8 at least."""
    make, start, _ = PROBLEMS[name]
    errors, counts = [], (4, 5, 6, 8)
    for count in counts:
        h = 1.0 / count
        times = h * np.array([0.1, 0.35, 0.5, 0.62, 0.9])
        exact = finished(make(method="dop853", step=h / 40), start, h, times).samples(0)
        problem = make(method="dop853", accuracy=1.0)
        work = Work(problem, start, times=times)
        work.memo["h"] = h
        march(problem, work, h)
        assert work.memo["accepted"] == 1
        assert work.memo["evaluations"] == 12 + 3
        errors.append(float(np.abs(work.samples(0) - exact).max()))
    assert slope(errors, counts) > 7.6


@problems
def test_order_of_samples_over_a_run(name):
    make, start, t_end = PROBLEMS[name]
    errors, counts = [], (10, 14, 20)
    times = np.linspace(0.0, t_end, 1000)
    exact = finished(make(method="dop853", step=t_end / 400), start, t_end, times).samples(0)
    for count in counts:
        problem = make(method="dop853", accuracy=1.0, h_max=t_end / count)
        work = Work(problem, start, times=times)
        work.memo["h"] = t_end / count
        march(problem, work, t_end)
        assert work.memo["accepted"] in (count - 1, count)
        errors.append(float(np.abs(work.samples(0) - exact).max()))
    assert slope(errors, counts) > 6.8


@problems
def test_samples_are_as_good_as_side_steps(name, monkeypatch):
    make, start, t_end = PROBLEMS[name]
    accuracy, times = 1e-8, np.linspace(0.0, t_end, 1000)
    inside = finished(make(method="dop853", accuracy=accuracy), start, t_end, times)
    monkeypatch.setitem(METHODS, "dop853", dataclasses.replace(OF_ORDER_8, dense=None))
    aside = finished(make(method="dop853", accuracy=accuracy), start, t_end, times)
    assert inside.memory.y.tobytes() == aside.memory.y.tobytes()
    assert inside.memo["h"] == aside.memo["h"]
    difference = np.abs(inside.samples(0) - aside.samples(0)).max()
    assert 0.0 < difference < accuracy
    assert inside.memo["evaluations"] < 0.05 * aside.memo["evaluations"]


def test_quaternions_of_samples_have_their_length():
    work = finished(turning(method="dop853", accuracy=1e-4), TURN, 9.7, np.linspace(0.0, 9.7, 700))
    assert np.linalg.norm(work.samples(0)[:, 1:5], axis=1) == pytest.approx(1.0, abs=4e-16)
    assert np.linalg.norm(work.memory.y_final[0, :4]) == pytest.approx(1.0, abs=4e-16)


def test_a_step_with_samples_takes_three_evaluations_more():
    problem = swinging(method="dop853", accuracy=1e-8)
    mesh = finished(problem, SWING, 3.0, ()).samples(0)[:, 0]
    bare = finished(problem, SWING, 3.0, NO_SAMPLES).memo["evaluations"][0]
    for count in (5, 40, 3000):
        times = np.linspace(0.0, 3.0, count)
        steps = np.unique(np.searchsorted(mesh, times[~np.isin(times, mesh)]))
        others = steps[steps < len(mesh) - 1]  # the last has its polynomial for the end already
        work = finished(problem, SWING, 3.0, times)
        assert work.memo["evaluations"] == bare + 3 * len(others)


def hole(x, f):
    """Move on evenly, but have no answer at t = 0.02."""
    f[0], f[1] = x[2], math.cos(5.0 * x[0]) if abs(x[0] - 0.02) > 5e-4 else math.nan
    f[2] = 0.0


def test_where_the_polynomial_is_not_finite_side_steps_are():
    """A stage of the polynomial meets the hole at a fifth of the step; none of the step does."""
    options: dict[str, Any] = {"nq": 1, "nv": 1, "motion": motion(hole), "method": "dop853"}
    problem, times = problem_of(**options, accuracy=1e-2), [0.005, 0.05, 0.09, 0.1, 0.15]
    work = Work(problem, SWING, times=times)
    work.memo["h"] = 0.1
    march(problem, work, 0.3)
    aside = finished(problem_of(**options, step=0.1), SWING, 0.1, times)
    assert Status(int(work.memo["status"][0])) == Status.DONE
    assert work.memo["rejected"] == 0
    assert work.samples(0)[:4].tobytes() == aside.samples(0)[:4].tobytes()
    assert len(work.samples(0)) == 5


# what must not change a bit


@pytest.mark.parametrize("method", ADAPTIVE)
def test_neither_other_samples_nor_the_end_change_a_sample(method):
    problem = swinging(method=method, accuracy=1e-7)
    times = np.linspace(0.0, 2.0, 801)
    whole = finished(problem, SWING, 3.0, times).samples(0)
    for rows in (slice(None, None, 7), slice(5, 6), slice(-1, None)):
        assert finished(problem, SWING, 2.5, times[rows]).samples(0).tobytes() == whole[rows].tobytes()
    for k in (1, 3, 100, 411, 412, 800):
        work = finished(problem, SWING, times[k], times)
        assert work.samples(0).tobytes() == whole[: k + 1].tobytes()
        assert work.memory.y_final[0].tobytes() == whole[k, 1:].tobytes()
        bare = finished(problem, SWING, times[k], NO_SAMPLES)
        assert bare.memory.y_final.tobytes() == work.memory.y_final.tobytes()


@pytest.mark.parametrize("method", ADAPTIVE)
def test_an_end_on_the_mesh_takes_no_step_of_its_own(method):
    problem = swinging(method=method, accuracy=1e-7)
    mesh = finished(problem, SWING, 2.0, ()).samples(0)
    work = finished(problem, SWING, mesh[5, 0], ())
    assert work.samples(0).tobytes() == mesh[:6].tobytes()
    assert work.memory.y_final.tobytes() == work.memory.y.tobytes()
    assert work.memo["accepted"] == 5


@pytest.mark.parametrize("cap", [1, 2, 7, 50])
def test_a_full_buffer_in_the_midst_of_a_step_changes_no_bit(cap):
    problem = swinging(method="dop853", accuracy=1e-7)
    times = np.unique([*np.linspace(0.0, 2.0, 301), *finished(problem, SWING, 2.0, ()).samples(0)[:, 0]])
    whole = finished(problem, SWING, 2.0, times)
    work, taken = Work(problem, SWING, times=times, cap=cap), []
    while work.memo["status"][0] in (Status.RUNNING, Status.BUFFER_FULL):
        work.memo["status"] = Status.RUNNING
        march(problem, work, 2.0)
        taken.append(work.samples(0).copy())
        work.memory.filled[:] = 0
    assert np.concatenate(taken).tobytes() == whole.samples(0).tobytes()
    assert work.memo.tobytes() == whole.memo.tobytes()
    assert work.memory.y_final.tobytes() == whole.memory.y_final.tobytes()


@pytest.mark.parametrize("budget", [None, 1, 5])
def test_a_lane_gives_what_the_mechanism_gives_alone(budget):
    """Orbits from round to very long ones: their steps, and the samples in them, are very different."""
    start = np.zeros((LANES + 3, 5))
    start[:, 0], start[:, 3] = 1.0, np.linspace(1.0, 0.15, LANES + 3)
    options: dict[str, Any] = {"nq": 2, "nv": 2, "method": "dop853", "accuracy": 1e-8}
    single = problem_of(motion=motion(kepler, 2, 2), **options)
    block = problem_of(motion=motion(kepler, 2, 2, LANES), lanes=LANES, **options)
    times = np.linspace(0.0, 3.0, 500)
    alone, together = finished(single, start, 3.0, times), Work(block, start, times=times, cap=5000)
    while (together.memo["status"] == Status.RUNNING).any():
        march(block, together, 3.0, *([budget] if budget else []))
    assert content(together) == content(alone)
    few = finished(block, start, 3.0, times[::50])
    assert few.memory.record[:, :10].tobytes() == together.memory.record[:, :500:50].tobytes()


def ground(x, g):
    """Hit the ground."""
    g[0] = x[1]


def test_samples_end_at_an_event():
    def falling(lanes: int) -> Problem:
        program, floor = motion(free_fall, lanes=lanes), events(ground, 1, lanes=lanes)
        return problem_of(
            nq=1, nv=1, motion=program, event_functions=floor, directions=[-1], method="dop853", lanes=lanes
        )

    heights, times = np.array([[0.2, 0.0, 0.0], [1.0, 0.0, 0.0], [9.0, 0.0, 0.0]]), np.arange(0.0, 1.0, 0.003)
    alone, together = (Work(falling(lanes), heights, times=times) for lanes in (1, LANES))
    for lanes, work in ((1, alone), (LANES, together)):
        while (work.memo["status"] == Status.RUNNING).any():
            march(falling(lanes), work, 1.0)
    assert content(together) == content(alone)
    assert alone.memo["status"].tolist() == [Status.EVENT, Status.EVENT, Status.DONE]
    for k, height in enumerate(heights[:, 0]):
        samples = alone.samples(k)
        last = min(math.sqrt(2.0 * height / 9.81), 1.0)
        assert samples[:, 0].tolist() == [t for t in times if t <= last]
        assert samples[:, 1] == pytest.approx(height - 9.81 / 2.0 * samples[:, 0] ** 2, abs=1e-12)


def test_samples_of_a_stiff_motion_come_from_both_modes():
    """After explicit steps, whose polynomials serve, an implicit mode, which has none."""
    problem = problem_of(nq=1, nv=1, motion=motion(prothero_robinson), method="dop853", switch=True)
    times = np.linspace(0.0, 1.0, 400)
    work = finished(problem, [0.0, 1.0, 0.0], 1.0, times)
    assert work.memo["switches"] == 1
    assert work.samples(0)[:, 1] == pytest.approx(np.sin(times), abs=1e-5)
    half = finished(problem, [0.0, 1.0, 0.0], times[200], times)
    assert half.samples(0).tobytes() == work.samples(0)[:201].tobytes()


# laws that end with the run


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_law_may_end_with_the_run(method):
    problem = problem_of(nq=1, nv=1, motion=motion(root_of_time), method=method)
    times = np.linspace(0.0, 1.0, 300)
    work = finished(problem, [0.0, 1.0, 0.0], 1.0, times)
    assert Status(int(work.memo["status"][0])) == Status.DONE
    samples = work.samples(0)
    assert samples[:, 0].tolist() == times.tolist()
    assert samples[:, 2] == pytest.approx(1.0 + 2.0 / 3.0 * (1.0 - (1.0 - times) ** 1.5), abs=1e-5)
    assert samples[-1, 1:].tobytes() == work.memory.y_final[0].tobytes()
    parts = Work(problem, [0.0, 1.0, 0.0], times=times, cap=5000)
    while parts.memo["status"][0] == Status.RUNNING:
        march(problem, parts, 1.0, 1)
    assert content(parts) == content(work)


@pytest.mark.parametrize("method", ["auto", *ADAPTIVE])
def test_a_law_that_raises_after_the_end_lets_the_run_finish(method):
    def law(t: Any, q: Any, v: Any) -> float:
        if float(t) > 0.5:
            raise IndexError("the table ends here")
        return 0.0

    model, whole = driven(law), driven(lambda t, q, v: 0.0 * q)
    start = model.state(shoulder=0.3, elbow=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = lw.simulate(model, 0.5, start, method=method, every=0.01, max_step=0.4)
    expected = lw.simulate(whole, 0.5, start, method=method, every=0.01)
    assert run.status == "DONE"
    assert run.final.t == 0.5
    np.testing.assert_allclose(run.q, expected.q, rtol=0, atol=1e-7)


# closed loops


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bricard"])
def test_loops_are_closed_in_samples(name):
    model = getattr(lw.examples, name)().compile()
    q = model.assemble()
    v = model.closed_velocity(q, np.random.default_rng(0).normal(size=model.nv))
    options: dict[str, Any] = {"method": "dop853", "accuracy": 1e-7}
    run = lw.simulate(model, 1.0, lw.State(q, v), times=np.linspace(0.0, 1.0, 700), **options)
    assert run.report.accepted < 350
    assert np.abs(model.constraint_residual(run.q)).max() < 1e-13
    assert np.abs(model.constraint_velocity(run.q, run.v)).max() < 1e-11
    bare = lw.simulate(model, 1.0, lw.State(q, v), times=[1.0], **options)
    assert run.final.q.tobytes() == bare.final.q.tobytes()
    assert run.report.evaluations <= bare.report.evaluations + 3 * run.report.accepted
    exact = lw.simulate(model, 1.0, lw.State(q, v), times=run.time, method="dop853", accuracy=1e-11)
    assert np.abs(run.q - exact.q).max() < 1e-5
    short = lw.simulate(model, run.time[400], lw.State(q, v), times=run.time[:401], **options)
    assert short.q.tobytes() == run.q[:401].tobytes()
    assert short.v.tobytes() == run.v[:401].tobytes()


def test_closed_loops_in_lanes_have_the_samples_of_single_runs():
    model = lw.examples.four_bar().compile()
    times = np.linspace(0.0, 0.5, 200)
    starts = [model.state(velocities={"A": speed}) for speed in np.linspace(0.5, 12.0, 11)]
    q, v = np.array([start.q for start in starts]), np.array([start.v for start in starts])
    options: dict[str, Any] = {"method": "dop853", "times": times}
    batch = lw.simulate(model, 0.5, q=q, v=v, threads=2, **options)
    for k in (0, 5, 10):
        one = lw.simulate(model, 0.5, starts[k], **options)
        assert batch.q[k].tobytes() == one.q.tobytes()
        assert batch.v[k].tobytes() == one.v.tobytes()
        assert batch.reports[k].evaluations == one.report.evaluations
