"""What a joint leaves free and what it constrains fill the space together, and do no work on each other."""

import numpy as np
import pytest
from mechanisms import random_joint, random_tree

import linkwork as lw
from linkwork.mechanism.joints import CATALOGUE


@pytest.mark.parametrize("kind", CATALOGUE, ids=lambda kind: kind.__name__)
def test_motion_and_constraints_fill_the_space_and_do_no_work_on_each_other(kind):
    rng = np.random.default_rng(1)
    m = lw.Mechanism()
    body = m.add(lw.Body("body", lw.Box(1, 2, 3), mass=1))
    m.add(random_joint(kind, "joint", m.ground, body, rng, "space"))
    model = m.compile()
    q = model.q_drawn + rng.uniform(-1, 1, model.nq)
    free, held = model.motion_subspace("joint", q), model.constraint_subspace("joint", q)
    assert free.shape == (6, model.nv)
    assert held.shape == (6, 6 - model.nv)
    np.testing.assert_allclose(free.T @ held, 0, atol=1e-15)
    np.testing.assert_allclose(held.T @ held, np.eye(6 - model.nv), atol=1e-14)
    assert np.linalg.matrix_rank(np.hstack([free, held])) == 6


def test_a_hinge_constrains_the_unit_directions_beside_its_axis():
    m = lw.Mechanism()
    body = m.add(lw.Body("body", lw.Box(1, 2, 3), mass=1))
    m.add(lw.Revolute("hinge", m.ground, body, axis=(0, 1, 0)))
    held = m.compile().constraint_subspace("hinge", [0.7])
    np.testing.assert_array_equal(held, np.eye(6)[:, [0, 1, 3, 4, 5]])


def test_a_joint_met_the_other_way_round_has_the_same_subspaces():
    model = random_tree(3, n=6).compile()
    q = model.q_drawn + 0.2
    for name in model.joint_names:
        free = model.motion_subspace(name, q)
        assert free.shape == (6, model.slices[name][1].stop - model.slices[name][1].start)


def test_an_unknown_joint_is_told():
    model = random_tree(3, n=2).compile()
    with pytest.raises(ValueError, match="unknown joint 'knee'"):
        model.motion_subspace("knee", model.q_drawn)
