"""Dense impacts and heaps whose gaps contradict each other, in steps."""

import numpy as np
import pytest

import linkwork as lw

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
