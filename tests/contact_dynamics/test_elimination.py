"""Orders of elimination: what is filled in is all that is, and no order is much worse than it has to be."""

import numpy as np
import pytest

from linkwork.contact_dynamics.solver.elimination import elimination


def filled_in(nodes: int, edges: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return which blocks of L there are, by eliminating a matrix of truths."""
    there = np.eye(nodes, dtype=bool)
    there[edges[:, 0], edges[:, 1]] = there[edges[:, 1], edges[:, 0]] = True
    there = there[np.ix_(order, order)]
    for j in range(nodes):
        below = np.flatnonzero(there[j + 1 :, j]) + j + 1
        there[np.ix_(below, below)] = True
    return np.tril(there, -1)


@pytest.mark.parametrize(("nodes", "count"), [(1, 0), (2, 1), (7, 9), (40, 90), (300, 500)])
def test_columns_and_updates_are_those_of_a_matrix_that_is_eliminated(nodes, count):
    edges = np.random.default_rng(nodes).integers(0, nodes, (count, 2))
    plan = elimination(nodes, edges)
    assert sorted(plan.order) == list(range(nodes))
    there = filled_in(nodes, edges, plan.order)
    column = np.repeat(np.arange(nodes), np.diff(plan.start))
    made = np.zeros_like(there)
    made[plan.row, column] = True
    assert np.array_equal(made, there)
    for j in range(nodes):
        for a, b, target in plan.update[plan.first_update[j] : plan.first_update[j + 1]]:
            row, into = plan.row[a], plan.row[b]
            assert column[a] == column[b] == j
            if target < 0:
                assert row == into == -1 - target
            else:
                assert (plan.row[target], column[target]) == (row, into)


def test_a_chain_fills_nothing_in():
    edges = np.stack([np.arange(99), np.arange(1, 100)], axis=1)
    edges = np.random.default_rng(0).permutation(100)[edges]
    assert len(elimination(100, edges).row) == 99
