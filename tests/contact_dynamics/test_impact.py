"""Impacts, against laws of two bodies, of rows of balls, and of energy."""

import numpy as np
import pytest

from linkwork.contact_dynamics.problem.contact_problem import Contacts, Nodes
from linkwork.contact_dynamics.problem.friction_cone import COULOMB
from linkwork.contact_dynamics.solver.impact import LAWS, impact, relative_velocities


def row_of_balls(masses, velocities):
    """Balls in a row, which touch their neighbours; each is a node with one velocity."""
    n = len(masses)
    one, at = np.ones(n, np.int64), np.arange(n)
    mass = np.array(masses, float)
    nodes = Nodes(one, at, at.copy(), mass, 1.0 / mass, np.array(velocities, float))
    count = n - 1
    rows = np.zeros((count, 2, 3))
    rows[:, 0, 0], rows[:, 1, 0] = 1.0, -1.0
    weight = 3.0 / (1.0 / mass[1:] + 1.0 / mass[:-1])
    of_a = 6 * np.arange(count)
    return nodes, Contacts(
        np.arange(1, n),
        np.arange(count),
        of_a,
        of_a + 3,
        rows.ravel(),
        np.zeros((count, 3)),
        np.zeros(count),
        weight,
        *of_coulomb(count),
    )


def of_coulomb(count):
    """The other numbers of contacts with friction alone."""
    return np.full(count, COULOMB, np.int64), np.zeros(count), np.full(count, -1, np.int64)


def random_problem(rng, bodies, count):
    """Free bodies in space with random contacts between them, and with ground."""
    size = np.full(bodies, 6)
    mass = np.zeros((bodies, 6, 6))
    for k in range(bodies):
        A = rng.normal(size=(6, 6))
        mass[k] = A @ A.T + 0.5 * np.eye(6)
    inverse = np.linalg.inv(mass)
    at = 36 * np.arange(bodies)
    nodes = Nodes(size, 6 * np.arange(bodies), at, mass.ravel(), inverse.ravel(), rng.normal(size=6 * bodies))
    a = rng.integers(0, bodies, count)
    b = np.array([rng.choice([k for k in range(-1, bodies) if k != i]) for i in a])
    rows = rng.normal(size=(count, 2, 3, 6))
    W = np.einsum("nri,nij,nrj->n", rows[:, 0], inverse[a], rows[:, 0])
    W += np.where(b >= 0, np.einsum("nri,nij,nrj->n", rows[:, 1], inverse[b], rows[:, 1]), 0.0)
    of_a = 36 * np.arange(count)
    mu = rng.uniform(0, 1.5, count)
    return nodes, Contacts(
        a, b, of_a, of_a + 18, rows.ravel(), np.zeros((count, 3)), mu, 3.0 / W, *of_coulomb(count)
    )


def kinetic(nodes, v):
    blocks = [nodes.mass[a : a + n * n].reshape(n, n) for a, n in zip(nodes.at, nodes.size, strict=True)]
    parts = [v[f : f + n] for f, n in zip(nodes.first, nodes.size, strict=True)]
    return 0.5 * sum(x @ M @ x for M, x in zip(blocks, parts, strict=True))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_two_balls_part_with_e_times_the_speed_of_approach(law, e):
    nodes, contacts = row_of_balls([2.0, 3.0], [1.0, -2.0])
    found = impact(nodes, contacts, np.array([e]), law)
    assert found.velocities[1] - found.velocities[0] == pytest.approx(3.0 * e, abs=1e-9)
    assert 2.0 * found.velocities[0] + 3.0 * found.velocities[1] == pytest.approx(-4.0)
    assert found.lowered == 1.0


@pytest.mark.parametrize(
    ("before", "after"), [([1, 0, 0, 0, 0], [0, 0, 0, 0, 1]), ([1, 1, 0, 0, 0], [0, 0, 0, 1, 1])]
)
def test_one_after_the_other_is_newtons_cradle(before, after):
    found = impact(*row_of_balls(np.ones(5), before), np.ones(4), "sequential")
    assert found.velocities == pytest.approx(after, abs=1e-9)


def test_all_at_once_spreads_the_momentum():
    """What Newton's law says where balls touch: each gap opens as fast as it closed."""
    found = impact(*row_of_balls(np.ones(3), [1, 0, 0]), np.ones(2), "newton")
    assert np.diff(found.velocities) == pytest.approx([1.0, 0.0], abs=1e-9)
    assert found.velocities.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("law", LAWS)
def test_no_impact_gains_energy(law):
    rng = np.random.default_rng(5)
    for _ in range(30):
        nodes, contacts = random_problem(rng, 3, 4)
        e = rng.uniform(0, 1, 4)
        before, u = kinetic(nodes, nodes.free), relative_velocities(nodes, contacts, nodes.free)
        found = impact(nodes, contacts, e, law)
        assert kinetic(nodes, found.velocities) <= before * (1 + 1e-8)
        after = relative_velocities(nodes, contacts, found.velocities)
        assert after[:, 0].min() >= -1e-6 - 10.0 * found.residual
        p = found.impulses
        assert (np.hypot(p[:, 1], p[:, 2]) <= contacts.friction * p[:, 0] + 1e-8).all()
        if law == "newton" and found.lowered == 1.0:
            assert (after[:, 0] >= -e * np.minimum(u[:, 0], 0) - 1e-6 - 10.0 * found.residual).all()


def test_restitution_is_lowered_where_newtons_law_would_gain_energy():
    """Kane's paradox: a body with friction that hits ground at a slant."""
    rng, lowered = np.random.default_rng(1), 0
    for _ in range(100):
        nodes, contacts = random_problem(rng, 1, 1)
        found = impact(nodes, contacts, np.array([0.95]))
        before, after = kinetic(nodes, nodes.free), kinetic(nodes, found.velocities)
        assert after <= before * (1 + 1e-8)
        if found.lowered < 1.0:
            assert after == pytest.approx(before, rel=1e-6)
            lowered += 1
    assert 0 < lowered < 50


def test_what_does_not_approach_is_left_alone():
    nodes, contacts = row_of_balls([1.0, 1.0], [0.0, 1.0])
    assert impact(nodes, contacts, np.ones(1)).velocities.tolist() == [0.0, 1.0]
