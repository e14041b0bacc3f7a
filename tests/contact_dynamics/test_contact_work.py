"""Contacts of free bodies do no work that rigid contacts cannot do."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

STEP = 1 / 60


def room(seed: int) -> tuple[lw.Model, np.ndarray]:
    """Return a closed room with four bodies in it, and how they move."""
    generator = np.random.default_rng(seed)
    made = lw.Material(friction=generator.uniform(0.1, 1.0), restitution=[0.0, 0.6, 1.0][seed % 3])
    m = lw.Mechanism("room")
    corners = generator.normal(size=(8, 3))
    shapes = (
        lw.Box(0.1, 0.08, 0.12),
        lw.Cylinder(0.06, 0.1),
        lw.Capsule(0.04, 0.1),
        lw.ConvexHull(0.07 * corners / np.linalg.norm(corners, axis=1, keepdims=True)),
    )
    for k, shape in enumerate(shapes):
        place = (0.2 * (k % 2) - 0.1, 0.2 * (k // 2) - 0.1, -0.1)
        turn = Rotation.random(random_state=generator)
        m.add(lw.Body(f"{k}", shape, density=1000, position=place, rotation=turn, material=made))
    for axis in np.eye(3):
        for normal in (axis, -axis):
            m.ground.add(lw.Plane(normal=tuple(normal), offset=-0.25), material=made)
    m.add(lw.Contact("contact"))
    return m.compile(), generator.normal(size=(4, 6)) * (8, 8, 8, 1, 1, 1)


@pytest.mark.parametrize("seed", range(12))
def test_energy_does_not_grow_in_a_closed_room(seed):
    model, v = room(seed)
    times = np.arange(61) * STEP
    run = lw.simulate(model, 1.0, lw.State(model.q_drawn, v.ravel()), step=STEP, times=times)
    energy = run.kinetic_energy + run.potential_energy
    weight = 9.81 * sum(body.mass for body in model.mechanism.bodies.values())
    assert np.diff(energy).max() <= 1e-9 * (run.kinetic_energy[0] + 0.5 * weight)
    assert energy[-1] < energy[0]


@pytest.mark.parametrize("space", ["plane", "space"])
def test_what_lands_within_a_step_lies_on_the_floor_and_no_deeper(space):
    m = lw.Mechanism("drop", space=space)
    flat = space == "plane"
    place = (0.0, 0.1013) if flat else (0.0, 0.0, 0.1013)
    corners = [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]
    shape = lw.Polygon(corners) if flat else lw.Box(0.2, 0.2, 0.2)
    m.add(lw.Body("box", shape, mass=2.0, position=place))
    m.ground.add(lw.Plane(normal=(0, 1)) if flat else lw.Plane())
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 0.5, step=STEP, every=STEP)
    assert run["box"].position[-1][-1] == pytest.approx(0.1, abs=1e-6)
    assert np.diff(run.kinetic_energy + run.potential_energy).max() < 1e-12


def test_what_is_put_into_the_floor_is_pushed_out_of_it():
    m = lw.Mechanism("put")
    m.add(lw.Body("box", lw.Box(0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.09)))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    with pytest.warns(UserWarning, match="overlap"):
        run = lw.simulate(m, 1.0, step=STEP)
    assert run["box"].position[-1][-1] == pytest.approx(0.1, abs=1e-6)
