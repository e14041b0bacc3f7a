"""The factorisation by blocks against NumPy's of the whole matrix."""

import numpy as np
import pytest

from linkwork.contact_dynamics.solver.block_cholesky import Blocks, blocks, factor, solve
from linkwork.contact_dynamics.solver.elimination import Elimination, elimination
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry

_FLAT, _WHERE = "float64[::1]", "int64[::1]"
_BLOCKS = Named(Blocks, dict(zip(Blocks._fields, (*[_FLAT] * 2, *[_WHERE] * 4), strict=True)))
_PLAN = Named(Elimination, dict(zip(Elimination._fields, (*[_WHERE] * 5, "int64[:, ::1]"), strict=True)))


@entry(None, _BLOCKS, _PLAN, _FLAT)
def factored_and_solved(m, plan, x):
    factor(m, plan.start, plan.row, plan.first_update, plan.update, plan.place, plan.order)
    solve(m, plan.start, plan.row, plan.place, plan.order, x)


@pytest.mark.parametrize("sizes", [[6], [6] * 12, [3] * 9, [6, 3, 27, 1, 6, 6, 3, 12]])
def test_solutions_are_those_of_the_whole_matrix(sizes):
    generator = np.random.default_rng(len(sizes))
    n, sizes = len(sizes), np.array(sizes, np.int64)
    edges = generator.integers(0, n, (2 * n, 2))
    first = np.cumsum(sizes) - sizes
    whole = np.zeros((sizes.sum(), sizes.sum()))
    for i in range(n):
        part = slice(first[i], first[i] + sizes[i])
        whole[part, part] += np.eye(sizes[i])
    for a, b in edges:
        row = np.zeros((4, len(whole)))
        for node in (a, b):
            row[:, first[node] : first[node] + sizes[node]] = generator.normal(size=(4, sizes[node]))
        whole += row.T @ row
    plan = elimination(n, edges)
    m = blocks(plan, sizes)

    def part(j):
        node = plan.order[j]
        return slice(first[node], first[node] + sizes[node])

    for j in range(n):
        at = m.at_diagonal[j]
        m.diagonal[at : at + m.size[j] ** 2] = whole[part(j), part(j)].ravel()
        for e in range(plan.start[j], plan.start[j + 1]):
            block = whole[part(plan.row[e]), part(j)]
            m.below[m.at_below[e] : m.at_below[e] + block.size] = block.T.ravel()
    b = generator.normal(size=len(whole))
    order = np.concatenate([np.arange(len(whole))[part(j)] for j in range(n)])
    x = b[order].copy()
    factored_and_solved(m, plan, x)
    np.testing.assert_allclose(x, np.linalg.solve(whole, b)[order], rtol=1e-9, atol=1e-12)
