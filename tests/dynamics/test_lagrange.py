"""Lagrange's equations, from energies alone: tau = d/dt dT/dv - dT/dq + dU/dq, by differences."""

import naive
import numpy as np
import pytest
from mechanisms import SPACES, random_state, random_tree, rate
from naive import relative_error

import linkwork as lw

# joints whose velocities are the rates of their coordinates
HOLONOMIC = {
    "space": [lw.Fixed, lw.Revolute, lw.Prismatic, lw.Helical, lw.Cylindrical, lw.Universal, lw.Planar],
    "plane": [lw.Fixed, lw.Revolute, lw.Prismatic, lw.Planar],
}


@pytest.mark.parametrize("seed", range(6000, 6008))
@pytest.mark.parametrize("space", SPACES)
def test_inverse_dynamics_is_what_lagrange_says_of_the_energies(seed, space):
    m = random_tree(seed, space, joints=HOLONOMIC[space], n=5)
    model = m.compile()
    oracle = naive.Tree(m, model.slices)  # of it only the energies are used, that is poses and velocities
    q, v, a = random_state(model, np.random.default_rng(seed))
    units = np.eye(model.nv)

    def T(q, v):
        return oracle.kinetic_energy(q, v) + 0.5 * v @ (model.armature * v)

    def momentum(q, v):  # T is quadratic in v: differences over any step are exact
        return np.array([(T(q, v + unit) - T(q, v - unit)) / 2 for unit in units])

    changing = rate(lambda t: momentum(q + t * v, v + t * a))
    along = np.array([rate(lambda t, unit=unit: T(q + t * unit, v)) for unit in units])
    weight = np.array([rate(lambda t, unit=unit: oracle.potential_energy(q + t * unit)) for unit in units])
    assert relative_error(model.inverse_dynamics(q, v, a), changing - along + weight) < 1e-8
