"""Sweeps over contacts of free bodies in scaled velocities: the same laws as of the rows themselves."""

import numpy as np
import pytest

from linkwork.contact_dynamics.problem.contact_problem import Contacts, Nodes
from linkwork.contact_dynamics.solver.contact_solver import solve_contacts


def random_heap(size: int, seed: int) -> tuple[Nodes, Contacts]:
    """Return bodies of `size` velocities with any inertias, that touch each other and ground."""
    generator = np.random.default_rng(seed)
    bodies, count = 30, 45
    masses, inverses = [], []
    for _ in range(bodies):
        half = generator.normal(size=(size, size))
        masses.append(half @ half.T + np.eye(size))
        inverses.append(np.linalg.inv(masses[-1]))
    which, at = np.arange(bodies), size * size * np.arange(bodies)
    free = generator.normal(size=size * bodies)
    numbers = np.ravel(masses), np.ravel(inverses)
    nodes = Nodes(np.full(bodies, size), size * which, at, *numbers, free)
    a = generator.integers(-1, bodies, count)
    b = (a + 1 + generator.integers(0, bodies - 1, count)) % bodies
    rows = generator.normal(size=(count, 2, 3, size))
    of_a = 6 * size * np.arange(count)
    weight = np.zeros(count)
    for k in range(count):
        sides = [(i, rows[k, s]) for s, i in enumerate((a[k], b[k])) if i >= 0]
        weight[k] = 3.0 / sum(np.trace(J @ inverses[i] @ J.T) for i, J in sides)
    kind = np.zeros(count, np.int64)
    given = a, b, of_a, of_a + 3 * size, rows.ravel(), 0.1 * generator.normal(size=(count, 3))
    return nodes, Contacts(*given, np.full(count, 0.4), weight, kind, np.zeros(count), np.full(count, -1))


@pytest.mark.parametrize("size", [3, 6])
@pytest.mark.parametrize("seed", range(3))
def test_impulses_obey_signorini_and_coulomb(size: int, seed: int) -> None:
    nodes, contacts = random_heap(size, seed)
    impulses, v = np.zeros((len(contacts.a), 3)), np.zeros(len(nodes.free))
    answer = solve_contacts(nodes, contacts, impulses, v)
    assert answer.residual <= 1e-8
    given, u = np.zeros(len(v)), contacts.bias.copy()
    for k, (a, b) in enumerate(zip(contacts.a, contacts.b)):
        for node, at in ((a, contacts.of_a[k]), (b, contacts.of_b[k])):
            if node >= 0:
                own, J = (
                    slice(size * node, size * node + size),
                    contacts.rows[at : at + 3 * size].reshape(3, -1),
                )
                u[k] += J @ v[own]
                given[own] += J.T @ impulses[k]
    change = nodes.mass.reshape(-1, size, size) @ (v - nodes.free).reshape(-1, size, 1)
    assert np.allclose(change.ravel(), given, atol=1e-10)
    normal, slip = impulses[:, 0], np.linalg.norm(u[:, 1:], axis=1)
    assert normal.min() >= 0.0
    assert u[:, 0].min() >= -1e-7
    assert np.abs(normal * u[:, 0]).max() < 1e-7
    rubs = np.linalg.norm(impulses[:, 1:], axis=1)
    assert (rubs <= 0.4 * normal + 1e-9).all()
    slides = slip > 1e-6
    assert slides.any()
    assert np.allclose(np.sum(impulses[:, 1:] * u[:, 1:], axis=1)[slides], -(rubs * slip)[slides], atol=1e-7)
    assert np.allclose(rubs[slides], 0.4 * normal[slides], atol=1e-7)
