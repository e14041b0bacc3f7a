"""A thousand random trees, planar and spatial, of every joint: against the textbook and each other.

`make soak` takes ten thousand: no alarm is false.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import naive
import numpy as np
import pytest
from mechanisms import SPACES, floating, random_forces, random_state, random_tree, rate, rates
from naive import relative_error

import linkwork as lw

CHUNKS, SEEDS = 20, 25  # of two trees each, one per space
MANY = 200  # chunks of `make soak`: ten thousand trees, and no false alarm


@dataclass
class Case:
    mechanism: lw.Mechanism
    model: lw.Model
    oracle: naive.Tree
    q: np.ndarray
    v: np.ndarray
    x: np.ndarray  # joint forces, or accelerations
    forces: dict[str, np.ndarray]
    H: np.ndarray  # the oracle's mass matrix
    bias: np.ndarray  # the oracle's

    @property
    def ill(self) -> float:
        """What the mass matrix costs an acceleration: nothing while its condition is below 1e6."""
        return max(1.0, float(np.linalg.cond(self.H)) / 1e6)


def case(seed: int, space: str) -> Case:
    mechanism = random_tree(seed, space)
    model = mechanism.compile()
    rng = np.random.default_rng(seed)
    q, v, x = random_state(model, rng)
    oracle = naive.Tree(mechanism, model.slices)
    forces = random_forces(mechanism, rng)
    return Case(mechanism, model, oracle, q, v, x, forces, oracle.mass_matrix(q), oracle.bias_forces(q, v))


@pytest.fixture(
    scope="module",
    params=[*range(CHUNKS), *(pytest.param(k, marks=pytest.mark.soak) for k in range(CHUNKS, MANY))],
)
def trees(request: pytest.FixtureRequest) -> list[Case]:
    first = request.param * SEEDS
    return [case(seed, space) for seed in range(first, first + SEEDS) for space in SPACES]


def assert_all(trees: list[Case], tolerance: float, error: Callable[[Case], float]) -> None:
    """Assert that the error of every tree is within the tolerance; say which are not."""

    def failures() -> Iterator[str]:
        for tree in trees:
            found = error(tree)
            if not found <= tolerance:
                joints = ", ".join(type(joint).__name__ for joint in tree.mechanism.joints.values())
                yield f"{tree.mechanism.name} in {tree.mechanism.space} ({joints}): {found:.3g}"

    said = "\n".join(failures())
    assert not said, f"above {tolerance}:\n{said}"


# against the textbook


def test_mass_matrix(trees):
    def error(c: Case) -> float:
        size = np.sqrt(np.diag(c.H))
        return float(np.max(np.abs(c.model.mass_matrix(c.q) - c.H) / np.outer(size, size)))

    assert_all(trees, 1e-10, error)


def test_mass_matrix_is_symmetric_to_the_last_bit(trees):
    assert_all(trees, 0.0, lambda c: relative_error((H := c.model.mass_matrix(c.q)), H.T))


def test_inverse_dynamics(trees):
    def error(c: Case) -> float:
        return relative_error(c.model.inverse_dynamics(c.q, c.v, c.x), c.H @ c.x + c.bias)

    assert_all(trees, 1e-10, error)


def test_forward_dynamics(trees):
    def error(c: Case) -> float:
        expected = np.linalg.solve(c.H, c.x - c.bias)
        return relative_error(c.model.forward_dynamics(c.q, c.v, c.x), expected) / c.ill

    assert_all(trees, 1e-10, error)


def test_bias_and_gravity_forces(trees):
    def error(c: Case) -> float:
        rest = c.oracle.bias_forces(c.q, np.zeros(c.model.nv))
        return max(
            relative_error(c.model.bias_forces(c.q, c.v), c.bias),
            relative_error(c.model.gravity_forces(c.q), rest),
        )

    assert_all(trees, 1e-10, error)


def test_forces_on_bodies(trees):
    def error(c: Case) -> float:
        bias = c.oracle.bias_forces(c.q, c.v, c.forces)
        tau = c.model.inverse_dynamics(c.q, c.v, c.x, forces=c.forces)
        a = c.model.forward_dynamics(c.q, c.v, c.x, forces=c.forces)
        return max(
            relative_error(tau, c.H @ c.x + bias), relative_error(a, np.linalg.solve(c.H, c.x - bias)) / c.ill
        )

    assert_all(trees, 1e-10, error)


# against each other


def test_inverse_dynamics_undoes_forward_dynamics(trees):
    def error(c: Case) -> float:
        a = c.model.forward_dynamics(c.q, c.v, c.x, forces=c.forces)
        tau = c.model.inverse_dynamics(c.q, c.v, a, forces=c.forces)
        terms = np.abs(c.H) @ np.abs(a) + np.abs(c.bias) + np.abs(c.x)  # what tau is the small difference of
        return float(np.max(np.abs(tau - c.x) / np.max(terms)))

    assert_all(trees, 1e-12, error)


def test_mass_matrix_times_acceleration_and_bias_make_the_joint_forces(trees):
    def error(c: Case) -> float:
        tau = c.model.mass_matrix(c.q) @ c.x + c.model.bias_forces(c.q, c.v)
        return relative_error(c.model.inverse_dynamics(c.q, c.v, c.x), tau)

    assert_all(trees, 1e-12, error)


def test_kinetic_energy_is_half_the_mass_matrix_between_velocities(trees):
    def error(c: Case) -> float:
        return relative_error(c.model.kinetic_energy(c.q, c.v), 0.5 * c.v @ c.model.mass_matrix(c.q) @ c.v)

    assert_all(trees, 1e-12, error)


def test_energy_changes_by_the_power_of_the_drives(trees):
    def error(c: Case) -> float:
        a = c.model.forward_dynamics(c.q, c.v, c.x)
        dq = rates(c.mechanism, c.model, c.q, c.v)

        def energy(t: float) -> float:
            v = c.v + t * a
            return c.model.energy(c.q + t * dq, v)

        terms = np.abs(c.x) @ np.abs(c.v) + np.abs(c.bias) @ np.abs(c.v) + abs(energy(0.0))
        return abs(rate(energy) - c.x @ c.v) / terms

    assert_all(trees, 1e-9, error)


def test_momentum_of_a_floating_copy_stays(trees):
    def error(c: Case) -> float:
        m = floating(c.mechanism)
        model = m.compile()
        q, v, tau = random_state(model, np.random.default_rng(1))
        tau[model.slices["hold"][1]] = 0.0
        a = model.forward_dynamics(q, v, tau)
        dq = rates(m, model, q, v)
        forces = np.abs(model.mass_matrix(q)) @ np.abs(a) + np.abs(model.bias_forces(q, v))
        change = rate(lambda t: model.momentum(q + t * dq, v + t * a))
        return float(np.max(np.abs(change)) / np.max(forces))

    assert_all(trees, 1e-9, error)


def test_a_floating_copy_falls_with_its_weight(trees):
    def error(c: Case) -> float:
        m = floating(c.mechanism, gravity=c.mechanism.gravity)
        model = m.compile()
        q, v, tau = random_state(model, np.random.default_rng(2))
        tau[model.slices["hold"][1]] = 0.0
        a = model.forward_dynamics(q, v, tau)
        dq = rates(m, model, q, v)
        weight = np.zeros(6 if m.space == "space" else 3)
        weight[-m.gravity.size :] = sum(body.inertia.mass for body in m.bodies.values()) * m.gravity
        forces = np.abs(model.mass_matrix(q)) @ np.abs(a) + np.abs(model.bias_forces(q, v))
        change = rate(lambda t: model.momentum(q + t * dq, v + t * a))
        return float(np.max(np.abs(change - weight)) / np.max(forces))

    assert_all(trees[:10], 1e-9, error)
