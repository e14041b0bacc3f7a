"""Dense impacts and heaps whose gaps contradict each other, in steps."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact_dynamics.problem.islands import find_islands
from linkwork.contact_dynamics.solver.contact_solver import Solver, pack_islands
from linkwork.contact_dynamics.solver.unsolved_contacts import settle_unsolved
from linkwork.contact_dynamics.time_stepping.contact_system import ContactSystem

STEP = 1 / 60


def worst_left(run: lw.Recording) -> float:
    """Return the largest residual that a run reports [m/s]."""
    said = [words for words in run.report.warnings if "not solved" in words]
    return max((float(words.split("; ")[1].split(" m/s")[0]) for words in said), default=0.0)


@pytest.mark.parametrize("speed", [8.0, 20.0])
def test_a_tower_that_is_hit_is_solved_nearly_and_gains_no_energy(speed: float) -> None:
    model = lw.examples.tower().compile()
    state = model.state()
    v = state.v.copy()
    v[model.slices["flight"][1]] = 0.0, 0.0, 0.0, speed, 0.0, 0.0
    times = np.arange(61) * STEP
    run = lw.simulate(model, 1.0, lw.State(state.q, v), step=STEP, times=times)
    assert worst_left(run) < 0.05
    assert np.diff(run.energy).max() < 1e-6 * run.energy[0]


def test_a_heap_that_jams_comes_to_rest_and_is_solved() -> None:
    """64 balls fall into a box that is narrow for them: they wedge each other."""
    generator = np.random.default_rng(1)
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3)
    places = 0.11 * (grid - (1.5, 1.5, 0.0)) + (0.0, 0.0, 0.2)
    m, made = lw.Mechanism("heap"), lw.Material(friction=0.5)
    for k, place in enumerate(places + generator.uniform(-0.004, 0.004, places.shape)):
        m.add(lw.Body(f"ball {k}", lw.Sphere(0.05), density=1000, position=tuple(place), material=made))
    m.ground.add(lw.Plane(), material=made)
    for normal in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        m.ground.add(lw.Plane(normal=normal, offset=-0.24), material=made)
    m.add(lw.Contact("contact"))
    model = m.compile()
    fallen = lw.simulate(model, 4.0, step=STEP, times=[0.0, 4.0])
    later = lw.simulate(model, 0.5, fallen.final, step=STEP)
    assert not any("not solved" in words for words in later.report.warnings)
    centres = np.array([later[name].position[-1] for name in model.body_names])
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(64, 1)]
    assert apart.min() > 0.1 - 1e-5


def test_balls_that_come_down_in_the_same_step_all_bounce() -> None:
    m, made, times = lw.Mechanism("balls"), lw.Material(restitution=0.9), (0.452, 0.456, 0.46, 0.464)
    for k, t in enumerate(times):
        place = (0.5 * k, 0.0, 0.1 + 0.5 * 9.81 * t * t)
        m.add(lw.Body(f"ball {k}", lw.Sphere(0.1), mass=1.0, position=place, material=made))
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 0.6, step=STEP, times=[0.0, 0.6])
    assert len(run.report.events) == len(times)
    for k, t in enumerate(times):
        ball = run[f"ball {k}"]
        left = 9.81 * (ball.position[-1, 2] - 0.1) + 0.5 * ball.velocity[-1, 2] ** 2
        assert left == pytest.approx(0.81 * 0.5 * (9.81 * t) ** 2, rel=1e-9)


@pytest.mark.parametrize("falls", [0.0, 0.5])
def test_contacts_that_are_given_up_do_no_work(falls: float) -> None:
    """A box on the floor, lying or arriving, and impulses of a poor solution that throw it up."""
    m = lw.Mechanism("box")
    m.add(lw.Body("box", lw.Box(0.4, 0.4, 0.2), mass=3.0, position=(0, 0, 0.1)))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    model = m.compile(floating=True)
    system, start = ContactSystem(model), np.zeros(6)
    start[5] = -falls
    system.move_to(model.q_drawn, np.zeros(6))
    system.nodes.free[:] = start
    system.nodes.free[5] -= 9.81 * STEP
    rows = system.rows(system.look(system.nodes.free, STEP), model.q_drawn, start, 0.0, STEP)
    thrown = 0.99 * (falls + 9.81 * STEP)  # as fast as it would come down: no more energy than that
    p, v = np.zeros((len(rows.a), 3)), np.array([0, 0, 0, 0, 0, thrown])
    p[:, 0] = 3.0 * (v[5] - system.nodes.free[5]) / len(p)
    solver = Solver(system.nodes.size)
    solver.make_room(len(rows.a), len(rows.rows))
    count = find_islands(system.nodes, rows, solver._islands)
    pack_islands(system.nodes, rows, solver._islands, count, solver._room)
    answer = np.array([[1.0, 0, 0, 0, 0, 1.0]])  # it is not solved, and was given up
    given = solver._islands, count, solver._room, solver.loose, np.zeros(1), 1e-8, answer, start
    settle_unsolved(system.nodes, rows, p, v, *given)
    work = float(p[:, 0].sum() * 0.5 * (start[5] + v[5]))
    assert abs(work) < 1e-12
    assert v[5] == pytest.approx(falls, abs=1e-12)
