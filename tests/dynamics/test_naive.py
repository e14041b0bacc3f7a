"""The oracle itself: what it says by hand is what follows from `motion` alone."""

import numpy as np
import pytest
from mechanisms import SPACES, Knee, kinds, random_joint
from naive import Tree
from naive_joints import joint_motion, joint_motion_by_differences

import linkwork as lw

CATALOGUE = [(kind, space) for space in SPACES for kind in kinds(space)]


def joint(kind: type[lw.Joint], space: str, rng: np.random.Generator) -> lw.Joint:
    return random_joint(kind, "joint", lw.Body("parent"), lw.Body("child"), rng, space)


@pytest.mark.parametrize(("kind", "space"), CATALOGUE)
def test_joint_motions_written_by_hand_are_those_of_the_description(kind, space):
    rng = np.random.default_rng(3)
    one = joint(kind, space, rng)
    q, v = rng.normal(size=one.nq), rng.normal(size=one.nv)  # a quaternion need not have unit length
    by_hand, by_differences = joint_motion(one, q, v), joint_motion_by_differences(one, q, v)
    for field in ("R", "p", "W", "V", "dW", "dV"):
        expected = getattr(by_differences, field)
        np.testing.assert_allclose(getattr(by_hand, field), expected, rtol=0, atol=1e-14, err_msg=field)


def test_the_knee_rolls_down_while_it_bends():
    one = Knee("knee", lw.Body("thigh"), lw.Body("shin"))
    vars(one)["space"] = "space"
    X = joint_motion(one, np.array([0.4]), np.array([3.0]))
    np.testing.assert_allclose(X.V[:, 0], (0, 0, -0.02 * np.sin(0.4)), rtol=0, atol=1e-16)
    np.testing.assert_allclose(X.dV, (0, 0, -0.02 * np.cos(0.4) * 9), rtol=0, atol=1e-15)
    np.testing.assert_allclose(X.W[:, 0], (0, 1, 0), rtol=0, atol=1e-16)


def test_the_oracle_knows_a_pendulum():
    """A point mass on a rod: m l^2 a = tau - m g l cos(angle from the horizontal)."""
    m = lw.Mechanism("pendulum", gravity=(0, -9.81, 0))
    bob = m.add(lw.Body.from_points("bob", [2.0], [(0.5, 0, 0)]))
    m.add(lw.Revolute("pin", m.ground, bob))
    oracle = Tree(m, {"pin": (slice(0, 1), slice(0, 1))})
    q, v, tau = np.array([0.3]), np.array([0.7]), np.array([0.1])
    expected = (0.1 - 2 * 9.81 * 0.5 * np.cos(0.3)) / (2 * 0.25)
    np.testing.assert_allclose(oracle.forward_dynamics(q, v, tau), expected, rtol=1e-14)
    np.testing.assert_allclose(oracle.kinetic_energy(q, v), 0.5 * 2 * (0.5 * 0.7) ** 2, rtol=1e-14)
    np.testing.assert_allclose(oracle.potential_energy(q), 2 * 9.81 * 0.5 * np.sin(0.3), rtol=1e-14)


def test_the_oracle_knows_eulers_equations():
    """A body alone in space: I dw/dt + w x I w = 0, and its centre does not accelerate."""
    m = lw.Mechanism("brick", gravity=(0, 0, 0))
    I = np.diag([1.0, 2.0, 2.5])
    brick = m.add(lw.Body("brick", lw.Inertia(3.0, (0, 0, 0), I)))
    m.add(lw.Free("free", m.ground, brick))
    oracle = Tree(m, {"free": (slice(0, 7), slice(0, 6))})
    q = np.array([1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5])
    v = np.array([0.3, -0.5, 0.7, 0.0, 0.0, 0.0])
    a = oracle.forward_dynamics(q, v, np.zeros(6))
    np.testing.assert_allclose(a[:3], np.linalg.solve(I, np.cross(I @ v[:3], v[:3])), rtol=1e-14)
    np.testing.assert_allclose(a[3:], 0, rtol=0, atol=1e-16)
