"""Springs at limits of joints in steps with contact: met in time, stable at any stiffness, exact at rest."""

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact_dynamics.time_stepping.contact_state import ContactState
from linkwork.contact_dynamics.time_stepping.stepper import Stepper

STEP = 1 / 60


def door(stop: lw.Stop, speed: float) -> tuple[lw.Model, ContactState]:
    """Return a door of 1 kg m^2 with limits that turns without weight, and something that may touch."""
    m = lw.Mechanism("door", gravity=(0, 0, 0))
    wing = m.add(lw.Body("wing", lw.Inertia(1.0, (0, 0, 0), np.eye(3))))
    m.add(lw.Revolute("hinge", m.ground, wing, at=(0, 0, 0), axis=(0, 0, 1), limits=(-1.0, 1.0), stop=stop))
    m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0, position=(9, 0, 5)))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    model = m.compile()
    state = model.state(velocities={"hinge": speed})
    return model, ContactState(state.q.copy(), state.v.copy(), 0.0)


@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e6, 1e10])
def test_a_limit_takes_energy_whatever_its_stiffness(stiffness):
    model, state = door(lw.Stop(stiffness, 0.0), speed=7.3)
    stepper, at = Stepper(model), model.slices["hinge"]
    energy = [0.5 * 7.3**2]
    for _ in range(200):
        stepper.step(state, STEP, np.zeros(0))
        depth = max(abs(state.q[at[0]][0]) - 1.0, 0.0)
        energy.append(0.5 * state.v[at[1]][0] ** 2)
        assert depth <= 7.3 / stiffness**0.5 + 0.5 * 7.3 * STEP  # of a spring, and half a step beside it
    assert max(energy) <= energy[0] * (1.0 + 1e-12)


def test_a_soft_stop_converges_to_its_bounce():
    """A spring without damper gives back the speed; after half a period pi / w, for steps that see it."""
    model, state = door(lw.Stop(100.0, 0.0), speed=1.0)
    left = []
    for steps in (500, 1000, 2000):
        here, stepper = state.copy(), Stepper(model)
        for _ in range(2 * steps):
            stepper.step(here, 1.0 / steps, np.zeros(0))
        left.append(abs(here.v[model.slices["hinge"][1]][0] + 1.0))
    assert left[2] < 0.02
    assert left[2] < 0.55 * left[1] < 0.55 * 0.55 * 1.1 * left[0]


def test_a_flap_rests_as_deep_in_its_stop_as_its_weight_presses_it():
    m = lw.Mechanism("flap")
    flap = m.add(lw.Body("flap", lw.Box(0.4, 0.2, 0.02), mass=2.0, position=(0.2, 0, 1)))
    stop = lw.Stop(stiffness=50.0, damping=2.0)
    m.add(lw.Revolute("pin", m.ground, flap, at=(0, 0, 1), axis=(0, 1, 0), limits=(-0.5, 0.3), stop=stop))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    run = lw.simulate(m.compile(), 5.0, step=STEP)
    depth = run["pin"].position[-1] - 0.3
    assert depth == pytest.approx(2.0 * 9.81 * 0.2 * np.cos(0.3 + depth) / 50.0, rel=1e-9)
    assert abs(run["pin"].velocity[-1]) < 1e-12
    assert run["pin"].force[-1] == pytest.approx(-50.0 * depth, rel=1e-9)


def test_a_limp_humanoid_with_limits_falls_and_comes_to_rest():
    m = lw.load(Path(lw.examples.__file__).with_name("humanoid.urdf"), base="free")
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact", material=lw.Material(friction=0.6)))
    model = m.compile()
    start = model.state(waist_pitch=1e-2, base=(0, 0, 0.86, 1, 0, 0, 0))
    run = lw.simulate(model, 4.0, start, step=STEP)
    energy = np.asarray(run.energy).reshape(len(run.time), -1).sum(axis=1)
    assert energy.max() <= energy[0]
    assert np.diff(energy).max() < 0.01 * energy[0]  # what springs at limits give back
    assert np.abs(run.v[-1]).max() < 1e-3
    for name, joint in model.joints.items():  # a stop yields by what presses it per its stiffness
        if joint.limits is not None:
            low, high = joint.limits
            assert run[name].position.min() > low - 0.3
            assert run[name].position.max() < high + 0.3
