"""Every method converges with the order it claims: errors over step sizes, on a doubly logarithmic line."""

import math

import numpy as np
import pytest
from simulation.right_hand_sides import (
    driven,
    motion,
    pendulum,
    pendulum_rates,
    pendulum_tangent,
    problem_of,
    prothero_robinson,
    rates,
    tangent,
    tumbling,
)

from linkwork.recording.status import Status
from linkwork.simulation.integration import Work, march
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.problem import Problem

STEPS = {  # such that the smallest error is far from round-off and the largest is small
    "euler": (800, 1600, 3200),
    "semi-implicit": (800, 1600, 3200),
    "rk4": (40, 80, 160),
    "rkf45": (60, 120, 240),
    "dop853": (16, 24, 32),
    "rodas": (40, 80, 160),
}


def final(problem: Problem, y: list[float], t_end: float) -> np.ndarray:
    """Return the state at the end of a run."""
    work = Work(problem, y, times=[math.inf])
    march(problem, work, t_end)
    assert work.memo["status"][0] == Status.DONE
    return work.memory.y_final[0]


def slope(errors: list[float], steps: tuple[int, ...]) -> float:
    """Return the order that errors show."""
    return -float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def test_the_list_of_steps_covers_every_method():
    assert set(STEPS) == set(METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_order_on_a_problem_that_depends_on_time(method):
    s, c, e = math.sin(6.0), math.cos(6.0), math.exp(2.0 / 3.0)
    exact = np.array([s * e, (3.0 * c + s / 3.0) * e, s * e])  # work is the integral of the exact velocity
    errors = []
    for count in STEPS[method]:
        problem = problem_of(
            nq=1, nv=1, motion=motion(driven), rates=rates(pendulum_rates), method=method, step=2.0 / count
        )
        errors.append(float(np.abs(final(problem, [0.0, 3.0, 0.0], 2.0) - exact).max()))
    assert slope(errors, STEPS[method]) == pytest.approx(METHODS[method].order, abs=0.2)


def test_a_step_of_the_semi_implicit_method_keeps_areas():
    """It is symplectic: the derivative of a step by the state before it has the determinant 1."""
    program = motion(pendulum)
    problem = problem_of(
        nq=1, nv=1, motion=program, rates=rates(pendulum_rates), method="semi-implicit", step=0.25
    )
    start, small = np.array([0.4, 0.3]), 1e-5
    ends = [final(problem, [*(start + s), 0.0], 0.25)[:2] for s in np.vstack([np.eye(2), -np.eye(2)]) * small]
    along = np.array([ends[0] - ends[2], ends[1] - ends[3]]) / (2.0 * small)
    assert np.linalg.det(along) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "semi-implicit"])
def test_order_with_a_quaternion(method):
    start = [1.0, 0.0, 0.0, 0.0, 0.4, 1.0, 0.3, 0.0]
    program = motion(tumbling, 4, 3)

    def turned(name: str, count: int) -> np.ndarray:
        problem = problem_of(nq=4, nv=3, motion=program, quaternions=[0], method=name, step=3.0 / count)
        return final(problem, start, 3.0)

    best = turned("dop853", 600)
    assert np.linalg.norm(best[:4]) == pytest.approx(1.0, abs=1e-15)
    steps = (6, 8, 12) if method == "dop853" else STEPS[method]  # it is at round-off with more
    errors = [float(np.abs(turned(method, count) - best).max()) for count in steps]
    assert slope(errors, steps) == pytest.approx(METHODS[method].order, abs=0.2)


def test_order_of_the_implicit_method_on_a_stiff_problem():
    """RODAS loses one order at worst on the problem of Prothero and Robinson."""
    errors = []
    steps = (20, 40, 80)
    for count in steps:
        problem = problem_of(nq=1, nv=1, motion=motion(prothero_robinson), method="rodas", step=2.0 / count)
        errors.append(abs(final(problem, [0.0, 1.0, 0.0], 2.0)[0] - math.sin(2.0)))
    assert errors[-1] < 1e-7
    assert slope(errors, steps) > 2.8


@pytest.mark.parametrize("lanes", [1, 4])
def test_exact_derivatives_give_what_differences_give(lanes):
    plain = problem_of(nq=1, nv=1, motion=motion(pendulum), method="rodas", accuracy=1e-8)
    exact = problem_of(
        nq=1,
        nv=1,
        motion=motion(pendulum),
        tangent=tangent(pendulum_tangent, lanes=lanes),
        tangent_lanes=lanes,
        method="rodas",
        accuracy=1e-8,
    )
    start = [1.0, 0.0, 0.0]
    assert final(exact, start, 3.0) == pytest.approx(final(plain, start, 3.0), abs=1e-8)
