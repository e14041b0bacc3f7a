"""The directions of a joint: free and constrained motions, drives and constraint forces, dual bases."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.joints import CATALOGUE


def joint_alone(kind, space):
    m = lw.Mechanism("one", space=space, gravity=(0, 0, 0) if space == "space" else (0, 0))
    body = m.add(lw.Body("body", lw.Inertia(1.0, (0, 0, 0), np.eye(3))))
    options = {"pitch": 0.3} if kind is lw.Helical else {}
    m.add(kind("joint", m.ground, body, at=(0, 0, 0) if space == "space" else (0, 0), **options))
    return m.compile()


CASES = [(kind, space) for kind in CATALOGUE for space in sorted(kind.spaces)]


@pytest.mark.parametrize(("kind", "space"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_the_bases_of_a_joint_are_dual(kind, space):
    model = joint_alone(kind, space)
    q = model.state().q
    if model.nq and kind not in (lw.Spherical, lw.Free):
        q = q + 0.4 * np.sin(1.0 + np.arange(model.nq))
    bases = model.dual_bases("joint", q)
    n = model.link_tree.algebra.freedoms
    motions = np.column_stack([bases.motion, bases.constrained_motion])
    forces = np.column_stack([bases.drive, bases.constraint])
    assert motions.shape == forces.shape == (n, n)
    np.testing.assert_allclose(motions.T @ forces, np.eye(n), atol=1e-14)
    assert np.array_equal(bases.motion, model.motion_subspace("joint", q))
    assert np.array_equal(bases.constraint, model.constraint_subspace("joint", q))
    if kind not in (lw.Helical, lw.Planar, lw.Universal):  # unit vectors: then one basis serves both
        np.testing.assert_allclose(bases.drive, bases.motion, atol=1e-15)
        np.testing.assert_allclose(bases.constraint, bases.constrained_motion, atol=1e-15)


def test_a_joint_that_closes_a_loop_has_no_coordinates():
    model = lw.examples.four_bar().compile()
    with pytest.raises(ValueError, match=r"closes a loop.*cut="):
        model.dual_bases(model.loop_names[0], model.q_drawn)
