"""The native loop: the mesh and what must not change it, events, stiffness, limits."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from peak_memory import peak_memory
from simulation.right_hand_sides import (
    events,
    explosion,
    free_fall,
    kepler,
    motion,
    pendulum,
    pendulum_rates,
    pendulum_tangent,
    problem_of,
    prothero_robinson,
    rates,
    root_of_time,
    struck,
    tangent,
    tapped,
    tumbling,
    van_der_pol,
    waiting,
)

from linkwork.recording.status import MESSAGES, Status
from linkwork.simulation.integration import MEMO, Work, march
from linkwork.simulation.integrators import rosenbrock
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.problem import Problem

NO_SAMPLES = (math.inf,)
SWING = [1.0, 0.0, 0.0]


def swinging(**options: Any) -> Problem:
    """Return a pendulum as a problem."""
    lanes = options.get("lanes", 1)
    return problem_of(
        nq=1, nv=1, motion=motion(pendulum, lanes=lanes), rates=rates(pendulum_rates, lanes=lanes), **options
    )


def finished(problem: Problem, y: Any, t_end: float, times: Sequence[float] = (), cap: int = 5000) -> Work:
    """March all the way."""
    work = Work(problem, y, times=times, cap=cap)
    march(problem, work, t_end)
    return work


def status(work: Work, i: int = 0) -> Status:
    """Return the status of a mechanism."""
    return Status(int(work.memo["status"][i]))


def content(work: Work) -> list[bytes]:
    """Return all that a run has come to, bit for bit."""
    return [np.ascontiguousarray(array).tobytes() for array in work.memory]


METHOD_OPTIONS = [
    {"method": "rkf45", "accuracy": 1e-7},
    {"method": "dop853", "accuracy": 1e-9},
    {"method": "rodas", "accuracy": 1e-6},
    {"method": "rk4", "step": 0.01},
    {"method": "semi-implicit", "step": 0.01},
]
methods = pytest.mark.parametrize("options", METHOD_OPTIONS, ids=lambda options: options["method"])


@methods
@pytest.mark.parametrize("budget", [1, 2, 7])
def test_returning_at_any_point_changes_no_bit(options, budget):
    problem = swinging(**options)
    times = np.arange(0.0, 2.01, 0.013)
    whole = finished(problem, SWING, 2.0, times)
    parts = Work(problem, SWING, times=times, cap=5000)
    calls = 0
    while status(parts) == Status.RUNNING:
        march(problem, parts, 2.0, budget)
        calls += 1
    assert calls > 20 / budget
    assert content(parts) == content(whole)


@methods
def test_neither_samples_nor_the_end_change_the_mesh(options):
    problem = swinging(**options)
    whole = finished(problem, SWING, 2.0, NO_SAMPLES)
    for t_end, times in (
        (2.0, np.linspace(0.0, 2.0, 333)),
        (2.0, np.array([0.1, 1.7])),
        (2.0 + 1e-7, NO_SAMPLES),
    ):
        other = finished(problem, SWING, t_end, times)
        assert other.memory.y.tobytes() == whole.memory.y.tobytes()
        assert other.memo["t"] == whole.memo["t"]
        assert other.memo["h"] == whole.memo["h"]
        assert other.memo["accepted"] == whole.memo["accepted"]


@methods
def test_stopping_and_going_on_is_going_straight_on(options):
    problem = swinging(**options)
    straight = finished(problem, SWING, 3.0, NO_SAMPLES)
    stopped = Work(problem, SWING, times=NO_SAMPLES)
    for t_end in (0.5, 0.50001, 1.7, 3.0):
        stopped.memo["status"] = Status.RUNNING
        march(problem, stopped, t_end)
        assert status(stopped) == Status.DONE
        assert stopped.memo["t_final"] == t_end
    assert stopped.memory.y.tobytes() == straight.memory.y.tobytes()
    assert stopped.memory.y_final.tobytes() == straight.memory.y_final.tobytes()


def test_samples_are_where_they_were_asked_for():
    times = np.linspace(0.0, 2.0, 41)
    work = finished(swinging(accuracy=1e-10), SWING, 2.0, times)
    samples = work.samples(0)
    assert samples[:, 0].tolist() == times.tolist()
    energy = samples[:, 2] ** 2 / 2.0 - 9.81 * np.cos(samples[:, 1])
    assert energy == pytest.approx(-9.81 * math.cos(1.0), abs=1e-8)
    assert samples[0, 1:].tolist() == SWING
    assert samples[-1, 1:].tolist() == work.memory.y_final[0].tolist()


def test_sample_times_before_the_start_and_behind_the_end_are_left():
    problem = swinging()
    work = Work(problem, SWING, 1.0, times=[0.0, 0.5, 1.5, 9.0])
    march(problem, work, 2.0)
    assert work.samples(0)[:, 0].tolist() == [1.5]


def test_every_step_is_recorded_in_buffers_that_are_emptied():
    problem = swinging()
    whole = finished(problem, SWING, 2.0).samples(0)
    work = Work(problem, SWING, cap=7)
    taken = []
    while status(work) in (Status.RUNNING, Status.BUFFER_FULL):
        work.memo["status"] = Status.RUNNING
        march(problem, work, 2.0)
        taken.append(work.samples(0).copy())
        work.memory.filled[:] = 0
    assert np.concatenate(taken).tobytes() == whole.tobytes()
    assert len(whole) == work.memo["accepted"][0] + 2  # the start and the end
    assert whole[0].tolist() == [0.0, *SWING]
    assert whole[-1, 0] == 2.0


LANES = 4


def varied(count: int) -> np.ndarray:
    """Return orbits from round to very long ones, which need very different steps."""
    y = np.zeros((count, 5))
    y[:, 0] = 1.0
    y[:, 3] = np.linspace(1.0, 0.15, count)
    return y


@pytest.mark.parametrize("method", ["rkf45", "dop853"])
@pytest.mark.parametrize("count", [1, LANES + 3])
def test_a_lane_gives_what_the_mechanism_gives_alone(method, count):
    options: dict[str, Any] = {"nq": 2, "nv": 2, "method": method, "accuracy": 1e-7}
    single = problem_of(motion=motion(kepler, 2, 2), **options)
    block = problem_of(motion=motion(kepler, 2, 2, LANES), lanes=LANES, **options)
    times = np.linspace(0.0, 3.0, 17)
    together = finished(block, varied(count), 3.0, times, 17)
    alone = finished(single, varied(count), 3.0, times, 17)
    assert content(together) == content(alone)
    if count > 1:
        steps = together.memo["accepted"]
        assert steps.max() > 3 * steps.min()


def test_a_lane_that_fails_does_not_disturb_the_others():
    start, times = np.tile([0.0, 1.0, 0.0], (7, 1)), np.array([0.5, -3.0, 0.2, 0.0, -5.0, 2.0, 0.9])
    single, block = (
        problem_of(nq=1, nv=1, motion=motion(root_of_time, lanes=k), lanes=k) for k in (1, LANES)
    )
    alone, together = (Work(problem, start, times, times=NO_SAMPLES) for problem in (single, block))
    march(single, alone, 2.5)
    march(block, together, 2.5)
    assert content(together) == content(alone)
    assert set(alone.memo["status"]) == {Status.NOT_FINITE}
    ends = [finished_at for finished_at in alone.memo["t"] if finished_at > 0.99]
    assert len(ends) == 7


def test_lanes_that_return_often_change_no_bit():
    block = problem_of(nq=2, nv=2, motion=motion(kepler, 2, 2, LANES), lanes=LANES)
    times = np.linspace(0.0, 2.0, 17)
    whole = finished(block, varied(7), 2.0, times, 17)
    parts = Work(block, varied(7), times=times, cap=17)
    while (parts.memo["status"] == Status.RUNNING).any():
        march(block, parts, 2.0, 3)
    assert content(parts) == content(whole)


def test_a_block_can_be_finished_by_a_single_lane():
    block = problem_of(nq=2, nv=2, motion=motion(kepler, 2, 2, LANES), lanes=LANES)
    single = problem_of(nq=2, nv=2, motion=motion(kepler, 2, 2))
    work = Work(block, varied(6), times=NO_SAMPLES)
    march(block, work, 2.0, 20)
    assert (work.memo["status"] == Status.RUNNING).any()
    march(single, work, 2.0)
    assert content(work) == content(finished(single, varied(6), 2.0, NO_SAMPLES, 1024))


def test_a_fixed_mesh_is_exact():
    work = finished(swinging(method="rk4", step=0.1), SWING, 1.0)
    assert work.samples(0)[:, 0].tolist() == [k * 0.1 for k in range(10)] + [1.0]
    assert work.memo["accepted"] == 10
    off = finished(swinging(method="rk4", step=0.1), SWING, 0.95)
    assert off.samples(0)[-2:, 0].tolist() == [0.9, 0.95]
    assert off.memo["accepted"] == 9
    assert off.samples(0)[:10].tobytes() == work.samples(0)[:10].tobytes()


def test_samples_on_a_fixed_mesh_are_the_mesh():
    steps = finished(swinging(method="rk4", step=0.1), SWING, 1.0).samples(0)
    problem = swinging(method="rk4", step=0.1)
    work = finished(problem, SWING, 1.0, np.linspace(0.0, 1.0, 11))
    assert work.samples(0)[:, 1:].tobytes() == steps[:, 1:].tobytes()
    assert work.memo["evaluations"] == 10 * METHODS["rk4"].stages  # no side steps


def test_quaternions_keep_their_length():
    """At the base, at samples and at the end, with steps so long that they would lose it."""
    problem = problem_of(nq=4, nv=3, motion=motion(tumbling, 4, 3), quaternions=[0], method="rk4", step=0.5)
    work = finished(problem, [1.0, 0.0, 0.0, 0.0, 0.4, 1.0, 0.3, 0.0], 9.7, np.linspace(0.0, 9.7, 50))
    for states in (work.memory.y, work.memory.y_final, work.samples(0)[:, 1:]):
        assert np.linalg.norm(states[:, :4], axis=1) == pytest.approx(1.0, abs=4e-16)


def falling(x, g):
    """Hit the ground, and pass the height of 1."""
    g[0] = x[1]
    g[1] = x[1] - 1.0


def dropped(directions: Sequence[int], **options: Any) -> Problem:
    """Return a stone that looks at the ground and at a height of 1."""
    lanes = options.get("lanes", 1)
    ground = events(falling, 2, lanes=lanes)
    return problem_of(
        nq=1,
        nv=1,
        motion=motion(free_fall, lanes=lanes),
        event_functions=ground,
        directions=directions,
        **options,
    )


@pytest.mark.parametrize(
    "options",
    [{"method": "rkf45"}, {"method": "dop853"}, {"method": "rodas"}, {"method": "rk4", "step": 0.25}],
    ids=lambda options: options["method"],
)
def test_the_earliest_event_is_located_to_round_off(options):
    problem = dropped([-1, -1], **options)
    work = finished(problem, [2.0, 0.0, 0.0], 5.0, NO_SAMPLES)
    assert status(work) == Status.EVENT
    assert work.memo["event"] == 1
    assert work.memo["t_final"][0] == pytest.approx(math.sqrt(2.0 / 9.81), abs=1e-13)
    assert work.memory.y_final[0, 0] == pytest.approx(1.0, abs=1e-13)
    assert work.memory.y_final[0, 0] <= 1.0
    work.restart(0, work.memo["t_final"][0], work.memory.y_final[0])
    march(problem, work, 5.0)
    assert status(work) == Status.EVENT
    assert work.memo["event"] == 0
    assert work.memo["t_final"][0] == pytest.approx(math.sqrt(4.0 / 9.81), abs=2e-13)


def test_only_crossings_in_the_wanted_direction_are_events():
    up = [0.5, 6.0, 0.0]  # passes 1 upwards, then downwards, then the ground
    rising = finished(dropped([0, 1]), up, 5.0, NO_SAMPLES)
    assert rising.memo["event"] == 1
    assert rising.memo["t_final"][0] == pytest.approx((6.0 - math.sqrt(36.0 - 9.81)) / 9.81, abs=1e-13)
    down = finished(dropped([0, -1]), up, 5.0, NO_SAMPLES)
    assert down.memo["event"] == 1
    assert down.memo["t_final"][0] == pytest.approx((6.0 + math.sqrt(36.0 - 9.81)) / 9.81, abs=1e-13)


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_a_double_crossing_inside_one_step_is_found(direction):
    """A stone that rises above 1 and is back within one fixed step."""
    problem = dropped([0, direction], method="rk4", step=1.0)
    v = 9.81 * 0.5  # up and down takes 1 s
    work = finished(problem, [0.9, v, 0.0], 1.0, NO_SAMPLES)
    root = math.sqrt(v * v - 2.0 * 9.81 * 0.1)
    expected = (v + root) / 9.81 if direction == -1 else (v - root) / 9.81
    assert status(work) == Status.EVENT
    assert work.memo["event"] == 1
    assert work.memo["t_final"][0] == pytest.approx(expected, abs=1e-13)


def test_samples_end_at_an_event():
    work = finished(dropped([-1, 1]), [1.0, 0.0, 0.0], 5.0, np.arange(0.0, 5.0, 0.05))
    last = math.sqrt(2.0 / 9.81)
    times = work.samples(0)[:, 0]
    assert times.tolist() == [t for t in np.arange(0.0, 5.0, 0.05) if t <= last]
    assert work.samples(0)[:, 1] == pytest.approx(1.0 - 9.81 / 2.0 * times**2, abs=1e-12)


@pytest.mark.parametrize("direction", [-1, 0])
def test_a_bouncing_ball_is_not_caught_by_the_crossing_it_comes_from(direction):
    problem = dropped([direction, 1])
    work = Work(problem, [0.9, 0.0, 0.0], times=NO_SAMPLES)
    first, hits = math.sqrt(1.8 / 9.81), []
    for _ in range(12):
        march(problem, work, 100.0)
        assert status(work) == Status.EVENT
        assert work.memo["event"] == 0
        hits.append(work.memo["t_final"][0])
        y = work.memory.y_final[0]
        work.restart(0, hits[-1], [y[0], -0.8 * y[1], 0.0])
    flights = 2.0 * first * 0.8 ** np.arange(1, 12)
    assert np.diff(hits) == pytest.approx(flights, abs=1e-11)


def test_an_event_at_the_start_is_none_until_it_was_away():
    problem = dropped([0, 0])
    work = finished(problem, [0.0, 5.0, 0.0], 5.0, NO_SAMPLES)
    assert work.memo["event"] == 1
    work = finished(dropped([-1, -1]), [0.0, 3.0, 0.0], 5.0, NO_SAMPLES)
    assert work.memo["event"] == 0
    assert work.memo["t_final"][0] == pytest.approx(6.0 / 9.81, abs=1e-13)


def corner(x, g):
    """Hit two walls at the same time."""
    g[0] = 1.0 - x[1]
    g[1] = 2.0 - 2.0 * x[1]


def test_of_two_events_at_the_same_time_both_come():
    problem = problem_of(
        nq=1, nv=1, motion=motion(waiting), event_functions=events(corner, 2), directions=[-1, -1], h_max=0.3
    )
    work = finished(problem, [0.0, 1.0, 0.0], 3.0, NO_SAMPLES)
    seen = [(work.memo["event"][0], work.memo["t_final"][0])]
    work.restart(0, work.memo["t_final"][0], work.memory.y_final[0])
    march(problem, work, 3.0)
    seen.append((work.memo["event"][0], work.memo["t_final"][0]))
    work.restart(0, work.memo["t_final"][0], work.memory.y_final[0])
    march(problem, work, 3.0)
    assert sorted(event for event, _ in seen) == [0, 1]
    assert [t for _, t in seen] == pytest.approx([1.0, 1.0], abs=1e-13)
    assert status(work) == Status.DONE


def test_events_in_lanes_are_those_of_single_runs():
    heights = np.zeros((7, 3))
    heights[:, 0] = np.linspace(0.3, 40.0, 7)
    single, block = dropped([-1, 1]), dropped([-1, 1], lanes=LANES)
    alone, together = (Work(problem, heights, times=[0.1, 0.2, 0.7]) for problem in (single, block))
    for problem, work in ((single, alone), (block, together)):
        while (work.memo["status"] == Status.RUNNING).any():
            march(problem, work, 2.0)
    assert content(together) == content(alone)
    assert set(alone.memo["status"]) == {Status.EVENT, Status.DONE}


STIFF_START = [2.0, 0.0, 0.0]


@functools.cache
def relaxation_reference() -> np.ndarray:
    """Return the state of the stiff oscillator at the end, by SciPy's Radau method."""
    from scipy.integrate import solve_ivp

    def f(t, y):
        return [y[1], 1e4 * (1.0 - y[0] ** 2) * y[1] - y[0]]

    return solve_ivp(f, (0.0, 2000.0), STIFF_START[:2], "Radau", rtol=1e-10, atol=1e-12).y[:, -1]


@pytest.mark.parametrize("options", [{"method": "rodas"}, {"switch": True}], ids=["rodas", "auto"])
def test_a_stiff_motion_takes_few_steps(options):
    problem = problem_of(nq=1, nv=1, motion=motion(van_der_pol), accuracy=1e-5, max_steps=5000, **options)
    work = finished(problem, STIFF_START, 2000.0, NO_SAMPLES)
    assert status(work) == Status.DONE
    assert work.memo["accepted"] + work.memo["rejected"] < 700
    assert work.memory.y_final[0, :2] == pytest.approx(relaxation_reference(), abs=1e-5)
    assert work.memory.y_final[0, 2] == pytest.approx(work.memory.y_final[0, 0] - 2.0, abs=1e-5)


def test_stiffness_is_counted_but_ignored_unless_switching_is_wanted():
    problem = problem_of(nq=1, nv=1, motion=motion(prothero_robinson))
    work = finished(problem, [0.0, 1.0, 0.0], 0.01, NO_SAMPLES)
    assert status(work) == Status.DONE
    assert work.memo["stiff"] > 5
    assert work.memo["switches"] == 0


def test_a_motion_that_is_not_stiff_is_not_called_so():
    work = finished(swinging(accuracy=1e-4), SWING, 100.0, NO_SAMPLES)
    assert work.memo["stiff"] == 0


def relaxing(x, f):
    """Be stiff until about t = 1, and not afterwards."""
    rate = 0.5e5 * (1.0 - math.tanh(10.0 * (x[0] - 1.0)))
    f[0] = x[2]
    f[1] = -rate * (x[2] - math.cos(x[0])) - math.sin(x[0])
    f[2] = 0.0


def test_the_implicit_mode_is_left_when_stiffness_ends():
    problem = problem_of(nq=1, nv=1, motion=motion(relaxing), switch=True, h_max=0.05)
    work = finished(problem, [0.0, 1.0, 0.0], 10.0, NO_SAMPLES)
    assert status(work) == Status.DONE
    assert work.memo["switches"] == 2
    assert work.memo["implicit"] == 0
    assert work.memory.y_final[0, 0] == pytest.approx(math.sin(10.0), abs=1e-5)


def test_a_stiff_mechanism_leaves_the_lanes_and_goes_on_alone():
    options: dict[str, Any] = {"nq": 1, "nv": 1, "switch": True}
    block = problem_of(motion=motion(prothero_robinson, lanes=LANES), lanes=LANES, **options)
    single = problem_of(motion=motion(prothero_robinson), **options)
    start = [[0.0, 1.0, 0.0], [0.5, 1.0, 0.0], [1.0, 1.0, 0.0]]
    work = finished(block, start, 1.0, NO_SAMPLES)
    assert set(work.memo["status"]) == {Status.STIFF}
    work.memo["status"] = Status.RUNNING
    march(single, work, 1.0)
    alone = finished(single, start, 1.0, NO_SAMPLES)
    assert work.memory.y_final.tobytes() == alone.memory.y_final.tobytes()
    assert (work.memo["accepted"] < 200).all()


def test_exact_derivatives_save_evaluations():
    plain = finished(swinging(method="rodas"), SWING, 1.0, NO_SAMPLES)
    exact = finished(swinging(method="rodas", tangent=tangent(pendulum_tangent)), SWING, 1.0, NO_SAMPLES)
    assert exact.memo["jacobians"] == exact.memo["accepted"]
    assert exact.memo["evaluations"] < 0.8 * plain.memo["evaluations"]


def growing(x, f):
    """Grow as v' = 16 v."""
    f[0], f[1], f[2] = x[2], 16.0 * x[2], 0.0


def growing_tangent(x, f):
    """Differentiate growth."""
    f[0], f[1], f[2] = x[5], 16.0 * x[5], 0.0


def test_singular_equations_are_told_with_fixed_steps_and_avoided_with_others():
    options: dict[str, Any] = {
        "nq": 1,
        "nv": 1,
        "motion": motion(growing),
        "tangent": tangent(growing_tangent),
    }
    fixed = problem_of(method="rodas", step=0.25, **options)  # 1/(h gamma) = 16
    assert status(finished(fixed, [0.0, 1.0, 0.0], 1.0, NO_SAMPLES)) == Status.SINGULAR_JACOBIAN
    free = problem_of(method="rodas", accuracy=0.1, **options)
    work = Work(free, [0.0, 1e-9, 0.0], times=NO_SAMPLES)
    work.memo["h"] = 0.25
    march(free, work, 1.0)
    assert status(work) == Status.DONE
    assert work.memo["rejected"] > 0


def crossed(x, f):
    """Have a zero on the diagonal of the implicit method's equations at a step of 0.25."""
    f[0], f[1], f[2] = 16.0 * x[1] + x[2], x[1], 0.0


def crossed_tangent(x, f):
    """Differentiate that."""
    f[0], f[1], f[2] = 16.0 * x[4] + x[5], x[4], 0.0


def rodas_step(J: np.ndarray, y: np.ndarray, h: float) -> np.ndarray:
    """Return a step of the implicit method for y' = J y, as it is written in the book."""
    method = rosenbrock.METHOD
    A, u, state = np.eye(len(y)) / (h * method.gamma) - J, [], y
    for a, c in zip(method.a, method.c):
        state = y + sum(a_j * u_j for a_j, u_j in zip(a, u))
        u.append(np.linalg.solve(A, J @ state + sum(c_j / h * u_j for c_j, u_j in zip(c, u))))
    return state + u[-1]


@pytest.mark.parametrize("h", [0.1, 0.25])
def test_the_implicit_equations_are_solved_with_pivots(h):
    start = np.array([0.0, 1e-14])
    problem = problem_of(
        nq=1, nv=1, motion=motion(crossed), tangent=tangent(crossed_tangent), method="rodas", step=h
    )
    work = finished(problem, [*start, 0.0], h, NO_SAMPLES)
    assert status(work) == Status.DONE
    expected = rodas_step(np.array([[16.0, 1.0], [1.0, 0.0]]), start, h)
    assert work.memory.y_final[0, :2] == pytest.approx(expected, rel=1e-9, abs=0.0)


def infinite_slope(x, f):
    """Differentiate something that has no derivative at the start."""
    f[0], f[1], f[2] = x[5], x[5] / (x[2] - x[2]), 0.0


def test_a_jacobian_that_is_not_finite_is_told():
    problem = problem_of(nq=1, nv=1, motion=motion(waiting), tangent=tangent(infinite_slope), method="rodas")
    work = finished(problem, [0.0, 1.0, 0.0], 1.0, NO_SAMPLES)
    assert status(work) == Status.NOT_FINITE
    assert work.memory.bad_y[0].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("method", ["rkf45", "dop853", "rodas"])
def test_a_singularity_ends_in_underflow(method):
    problem = problem_of(nq=1, nv=1, motion=motion(explosion), method=method)
    work = finished(problem, [0.0, 1.0, 0.0], 2.0, NO_SAMPLES)
    assert status(work) == Status.STEP_UNDERFLOW
    assert work.memo["t"][0] == pytest.approx(1.0, abs=1e-4)
    assert np.isfinite(work.memory.y).all()
    assert work.memo["worst"] == 1


@pytest.mark.parametrize("method", ["rkf45", "dop853", "rodas"])
def test_where_a_law_ends_is_told(method):
    problem = problem_of(nq=1, nv=1, motion=motion(root_of_time), method=method)
    work = finished(problem, [0.0, 1.0, 0.0], 2.0, NO_SAMPLES)
    assert status(work) == Status.NOT_FINITE
    assert work.memo["t"][0] == pytest.approx(1.0, abs=1e-9)
    assert 1.0 < work.memory.bad_t[0] < 1.0 + 1e-6
    assert np.isfinite(work.memory.bad_y).all()


def test_a_law_that_is_not_finite_at_the_start_is_told_at_once():
    problem = problem_of(nq=1, nv=1, motion=motion(root_of_time))
    work = Work(problem, [[0.0, 1.0, 0.0]] * 2, [1.5, 0.0], times=NO_SAMPLES)
    march(problem, work, 0.9 + 1.0)
    assert status(work, 0) == Status.NOT_FINITE
    assert work.memory.bad_t[0] == 1.5
    assert work.memo["accepted"][0] == 0
    assert work.memo["accepted"][1] > 0


def test_with_fixed_steps_a_law_that_is_not_finite_ends_the_run_at_once():
    problem = problem_of(nq=1, nv=1, motion=motion(root_of_time), method="rk4", step=0.15)
    work = finished(problem, [0.0, 1.0, 0.0], 2.0, NO_SAMPLES)
    assert status(work) == Status.NOT_FINITE
    assert work.memo["index"] == 6
    assert work.memory.bad_t[0] == pytest.approx(1.05)


@pytest.mark.parametrize("method", ["euler", "semi-implicit", "rk4", "rkf45", "dop853"])
def test_a_fixed_step_that_makes_nonsense_is_refused(method):
    good = finished(swinging(method=method, step=0.01), SWING, 1.0, NO_SAMPLES)
    assert status(good) == Status.DONE
    bad = finished(swinging(method=method, step=2.0), SWING, 100.0, NO_SAMPLES)
    assert status(bad) == Status.STEP_TOO_LARGE
    assert np.isfinite(bad.memory.y).all()


def test_work_is_limited():
    work = finished(swinging(max_steps=50), SWING, 100.0, NO_SAMPLES)
    assert status(work) == Status.TOO_MUCH_WORK
    assert work.memo["accepted"] + work.memo["rejected"] == 50


def test_next_to_no_progress_is_too_much_work():
    problem = problem_of(nq=1, nv=1, motion=motion(waiting), h_max=1e-9)
    work = finished(problem, [0.0, 1.0, 0.0], 1e3, NO_SAMPLES)
    assert status(work) == Status.TOO_MUCH_WORK
    assert work.memo["accepted"] == 100_000


@pytest.mark.parametrize("method", ["rkf45", "dop853"])
def test_an_end_in_a_step_that_is_refused_does_not_change_the_mesh(method):
    problem = problem_of(nq=1, nv=1, motion=motion(struck), accuracy=3e-4, method=method)
    start, refused = [1.0, 0.0, 0.0], 0
    straight = finished(problem, start, 2.0, NO_SAMPLES)
    for t_end in np.linspace(0.9, 1.1, 41):
        work = Work(problem, start, times=NO_SAMPLES)
        while status(work) == Status.RUNNING:
            march(problem, work, float(t_end), 1)
            refused += work.memo["held"][0] and work.memo["t"][0] + 5 * work.memo["h"][0] > t_end
        work.memo["status"] = Status.RUNNING
        march(problem, work, 2.0)
        assert work.memory.y.tobytes() == straight.memory.y.tobytes()
        assert work.memory.y_final.tobytes() == straight.memory.y_final.tobytes()
    assert refused > 0  # otherwise nothing was tested


@pytest.mark.parametrize("method", ["rkf45", "dop853"])
def test_an_end_inside_a_good_step_is_what_a_sample_there_is(method):
    """A long step misses the blow, a shorter one that ends in it does not: the mesh is that of the long."""
    problem = problem_of(nq=1, nv=1, motion=motion(tapped), method=method)
    start, ends = [1.0, 0.0, 0.0], np.linspace(0.9, 1.1, 81)
    samples = finished(problem, start, 2.0, ends).samples(0)
    for t_end, sample in zip(ends, samples):
        work = finished(problem, start, float(t_end), NO_SAMPLES)
        assert status(work) == Status.DONE
        assert [t_end, *work.memory.y_final[0]] == sample.tolist()
        assert work.memo["t"] <= t_end


@pytest.mark.parametrize("formula", [struck, root_of_time])
@pytest.mark.parametrize("method", ["rkf45", "rodas"])
def test_returning_between_rejections_changes_no_bit(formula, method):
    problem = problem_of(nq=1, nv=1, motion=motion(formula), accuracy=1e-5, method=method)
    whole = finished(problem, [1.0, 0.0, 0.0], 2.0, NO_SAMPLES)
    assert whole.memo["rejected"] > 0
    parts = Work(problem, [1.0, 0.0, 0.0], times=NO_SAMPLES, cap=5000)
    while status(parts) == Status.RUNNING:
        march(problem, parts, 2.0, 1)
    assert content(parts) == content(whole)


def test_a_step_does_not_grow_right_after_a_rejection():
    problem = problem_of(nq=1, nv=1, motion=motion(root_of_time))
    work = Work(problem, [0.0, 1.0, 0.0], times=NO_SAMPLES)
    seen = 0
    while status(work) == Status.RUNNING:
        held, accepted = work.memo["held"][0], work.memo["accepted"][0]
        march(problem, work, 2.0, 1)
        if held and work.memo["accepted"][0] > accepted:
            assert work.memo["h"][0] <= work.memo["step_1"][0]
            seen += 1
    assert seen > 3


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize(("formula", "n", "start"), [(pendulum, 1, SWING), (kepler, 2, [1.0, 0, 0, 0.8, 0])])
def test_the_error_follows_the_accuracy(formula, n, start, accuracy):
    best = problem_of(nq=n, nv=n, motion=motion(formula, n, n), method="dop853", accuracy=1e-12)
    exact = finished(best, start, 10.0, NO_SAMPLES).memory.y_final[0]
    problem = problem_of(nq=n, nv=n, motion=motion(formula, n, n), accuracy=accuracy)
    error = np.abs(finished(problem, start, 10.0, NO_SAMPLES).memory.y_final[0] - exact)[:-1].max()
    assert 1e-2 < error / accuracy < 1e2


def test_a_long_run_needs_no_memory():
    problem = swinging(method="rk4", step=1e-3)
    work = Work(problem, SWING, times=NO_SAMPLES)
    march(problem, work, 10.0)
    work.memo["status"] = Status.RUNNING
    assert peak_memory(lambda: march(problem, work, 1000.0)) < 1_000_000  # a byte a step would be seen
    assert work.memo["accepted"] == 1_000_000


def test_what_cannot_be_done_is_said_before():
    with pytest.raises(ValueError, match="give a step"):
        swinging(method="rk4")
    with pytest.raises(ValueError, match="one lane"):
        swinging(method="rodas", lanes=LANES)
    with pytest.raises(ValueError, match="rates"):
        problem_of(nq=1, nv=1, motion=motion(pendulum), method="semi-implicit", step=0.1)
    with pytest.raises(ValueError, match="components"):
        Work(swinging(), [1.0, 0.0])
    for t_end in (0.5, math.nan):
        with pytest.raises(ValueError, match="before the time reached"):
            march(swinging(), Work(swinging(), SWING, 1.0), t_end)


def test_every_status_has_a_message():
    assert set(MESSAGES) == set(Status)


def test_a_memo_is_an_array_of_doubles():
    work = finished(swinging(), SWING, 1.0, NO_SAMPLES)
    table = work.memo.view(np.float64).reshape(1, -1)
    assert table[0, MEMO.names.index("t")] == work.memo["t"][0]


def test_importing_linkwork_does_not_import_numba():
    import subprocess
    import sys

    subprocess.run(
        [sys.executable, "-c", "import linkwork, sys; assert 'numba' not in sys.modules"], check=True
    )
