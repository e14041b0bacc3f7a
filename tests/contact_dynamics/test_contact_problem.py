"""Impulses of contacts against what is known of them."""

from dataclasses import dataclass

import numpy as np
import pytest

from linkwork.contact_dynamics.problem.contact_problem import Contacts, Nodes
from linkwork.contact_dynamics.solver.contact_solver import solve_contacts


@dataclass
class Scene:
    """Bodies of six velocities (linear, angular, about their centres), in the axes of the world."""

    masses: list[float]
    inertia: float  # per mass [m^2]
    velocities: np.ndarray

    def __post_init__(self):
        self.contacts = []

    def touch(self, a, b, arm_a, arm_b, normal=(0, 0, 1), mu=0.5, bias=0.0):
        """Let body a, where the normal points, touch b (-1: ground), arms from their centres."""
        self.contacts.append((a, b, np.array(arm_a, float), np.array(arm_b, float), normal, mu, bias))

    def solved(self, tolerance=1e-10):
        n, m = len(self.masses), len(self.contacts)
        blocks = [np.diag([x] * 3 + [x * self.inertia] * 3) for x in self.masses]
        mass, inverse = (np.concatenate([f(b).ravel() for b in blocks]) for f in (np.array, np.linalg.inv))
        size = np.full(n, 6)
        nodes = Nodes(
            size, 6 * np.arange(n), 36 * np.arange(n), mass, inverse, self.velocities.ravel().copy()
        )
        rows, weight = np.zeros((m, 2, 3, 6)), np.zeros(m)
        for k, (a, b, arm_a, arm_b, normal, *_) in enumerate(self.contacts):
            axes = _axes(np.array(normal, float))
            for side, (node, arm, sign) in enumerate(((a, arm_a, 1.0), (b, arm_b, -1.0))):
                if node >= 0:
                    rows[k, side] = sign * np.hstack([axes, np.cross(arm, axes)])
                    weight[k] += np.trace(rows[k, side] @ np.linalg.inv(blocks[node]) @ rows[k, side].T)
        a, b = (np.array([c[i] for c in self.contacts]) for i in (0, 1))
        bias = np.array([(c[6], 0.0, 0.0) for c in self.contacts])
        friction = np.array([c[5] for c in self.contacts])
        at = 36 * np.arange(m)
        given = Contacts(
            *(a, b, at, at + 18, rows.ravel(), bias, friction, 3.0 / weight),
            *(np.zeros(m, np.int64), np.zeros(m), np.full(m, -1)),
        )
        p, v = np.zeros((m, 3)), nodes.free.copy()
        answer = solve_contacts(nodes, given, p, v, tolerance)
        momentum = mass.reshape(n, 6, 6) @ (v - nodes.free).reshape(n, 6, 1)
        impulse = np.zeros((n, 6))
        for k in range(m):
            for side, node in enumerate((a[k], b[k])):
                if node >= 0:
                    impulse[node] += rows[k, side].T @ p[k]
        np.testing.assert_allclose(momentum[..., 0], impulse, atol=1e-12 * (1 + np.abs(impulse).max()))
        return p, v.reshape(n, 6), answer


def _axes(normal):
    other = np.eye(3)[np.argmin(np.abs(normal))]
    first = np.cross(normal, other)
    first /= np.linalg.norm(first)
    return np.array([normal, first, np.cross(normal, first)])


def box(speed, mu):
    """Return a box of 2 x 2 x 1 m on ground, 1 kg, that falls at 1 m/s and slides."""
    scene = Scene([1.0], 0.5, np.array([[*speed, -1.0, 0.0, 0.0, 0.0]]))
    for x in (-1, 1):
        for y in (-1, 1):
            scene.touch(0, -1, (x, y, -0.5), (0, 0, 0), mu=mu)
    return scene


@pytest.mark.parametrize("angle", np.linspace(0.0, np.pi, 9))
def test_friction_is_the_same_in_all_directions(angle):
    speed = 2.0 * np.array([np.cos(angle), np.sin(angle)])
    p, v, answer = box(speed, 0.3).solved()
    assert answer.residual < 1e-10
    np.testing.assert_allclose(v[0, :3], [*(speed * (1 - 0.3 / 2.0)), 0.0], atol=1e-9)
    np.testing.assert_allclose(v[0, 3:], 0.0, atol=1e-9)
    assert p[:, 0].sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("speed", "sticks"), [(0.2999, True), (0.3001, False)])
def test_what_friction_can_stop_sticks(speed, sticks):
    _, v, _ = box((speed, 0.0), 0.3).solved()
    assert v[0, 0] == pytest.approx(0.0 if sticks else speed - 0.3, abs=1e-9)


def test_contacts_that_open_do_nothing():
    scene = box((0.3, 0.1), 0.5)
    scene.velocities[0, 2] = 1.0
    p, v, _ = scene.solved()
    assert not p.any()
    np.testing.assert_array_equal(v, scene.velocities)


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
def test_a_heavy_body_on_a_light_one_is_carried(ratio):
    scene = Scene([1.0, ratio], 0.2, np.array([[0, 0, -0.1, 0, 0, 0], [0, 0, -0.1, 0, 0, 0.0]]))
    for x in (-0.5, 0.5):
        for y in (-0.5, 0.5):
            scene.touch(0, -1, (x, y, -0.5), (0, 0, 0))
            scene.touch(1, 0, (x, y, -0.5), (x, y, 0.5))
    p, v, answer = scene.solved()
    assert answer.residual < 1e-10
    np.testing.assert_allclose(v, 0.0, atol=1e-9)
    assert p[::2, 0].sum() == pytest.approx(0.1 * (1.0 + ratio), rel=1e-8)
    assert p[1::2, 0].sum() == pytest.approx(0.1 * ratio, rel=1e-8)


def test_energy_does_not_grow_whatever_is_left():
    """Random tangles, solved as far as they are."""
    generator = np.random.default_rng(5)
    for _ in range(50):
        scene = Scene(list(generator.uniform(0.1, 10.0, 6)), 0.1, generator.normal(size=(6, 6)))
        for _ in range(12):
            a, b = generator.permutation(7)[:2] - 1
            normal = generator.normal(size=3)
            arms = generator.normal(size=(2, 3))
            scene.touch(
                max(a, b), min(a, b), *arms, normal / np.linalg.norm(normal), mu=generator.uniform(0, 1)
            )
        _, v, answer = scene.solved(1e-8)

        def energy(v, masses=scene.masses):
            return sum(
                0.5 * m * (x[:3] @ x[:3] + 0.1 * x[3:] @ x[3:]) for m, x in zip(masses, v, strict=True)
            )

        assert energy(v) <= energy(scene.velocities) * (1 + 10.0 * answer.residual) + 1e-9
