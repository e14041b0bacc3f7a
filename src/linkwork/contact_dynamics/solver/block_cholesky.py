"""A = L L^T of a symmetric positive definite matrix of blocks, one per pair of nodes; solves A x = b.

Column by column, as `elimination` has laid it out: the block on the diagonal is factored, those below it are
divided by it, and what every pair of them amounts to is taken from the blocks they meet in (right-looking;
George and Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981).

    A_jj = L_jj L_jj^T,   L_ij = A_ij L_jj^-T,   A_ik -= L_ij L_kj^T

Blocks below the diagonal are kept by columns: number c * rows + r. So the innermost loops run along memory.
Those of free bodies, 6 by 6 in space and 3 by 3 in the plane, have loops of their own whose length the
compiler knows. The diagonal of L holds inverses.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.packed_rows import is_free
from linkwork.contact_dynamics.solver.elimination import Elimination
from linkwork.native.numba_functions import native_apart, native_within


class Blocks(NamedTuple):
    """A matrix of blocks, later its factor, and where they are."""

    diagonal: Any  # numbers of the blocks on the diagonal, by rows
    below: Any  # of those below it, by columns
    size: Any  # (nodes,) of each node, in the order of elimination
    at_diagonal: Any  # (nodes,) where a block begins
    at_below: Any  # (blocks,)
    first: Any  # (nodes,) where a node's numbers begin in b and x


def blocks(plan: Elimination, sizes: np.ndarray) -> Blocks:
    """Make room for a matrix; `sizes` are those of the nodes as they are numbered."""
    size = sizes[plan.order]
    column = np.repeat(np.arange(len(size)), np.diff(plan.start))
    squares, products = size * size, size[plan.row] * size[column]
    at_diagonal, at_below = _starts(squares), _starts(products)
    return Blocks(
        np.zeros(squares.sum()), np.zeros(products.sum()), size, at_diagonal, at_below, _starts(size)
    )


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.cumsum(counts) - counts


@native_within
def _factor_diagonal(A, at, n):
    for j in range(n):
        s = A[at + j * n + j]
        for k in range(j):
            s -= A[at + j * n + k] * A[at + j * n + k]
        d = 1.0 / sqrt(s)
        A[at + j * n + j] = d
        for i in range(j + 1, n):
            s = A[at + i * n + j]
            for k in range(j):
                s -= A[at + i * n + k] * A[at + j * n + k]
            A[at + i * n + j] = s * d


@native_within
def _factor_large(A, at, n):
    """The same of larger blocks: its transpose is made in the upper half, so that loops run along memory."""
    for j in range(n):
        for i in range(j):
            A[at + i * n + j] = A[at + j * n + i]
    for j in range(n):
        d = 1.0 / sqrt(A[at + j * n + j])
        A[at + j * n + j] = d
        for i in range(j + 1, n):
            A[at + j * n + i] *= d
        for i in range(j + 1, n):
            f = A[at + j * n + i]
            for k in range(i, n):
                A[at + i * n + k] -= f * A[at + j * n + k]
    for j in range(n):
        for i in range(j):
            A[at + j * n + i] = A[at + i * n + j]


@native_within
def _divide(A, at, X, x, n, rows):
    """Make L_ij of A_ij, at x."""
    for c in range(n):
        for k in range(c):
            f = A[at + c * n + k]
            for i in range(rows):
                X[x + c * rows + i] -= f * X[x + k * rows + i]
        d = A[at + c * n + c]
        for i in range(rows):
            X[x + c * rows + i] *= d


@native_within
def _subtract(T, t, X, p, q, n, rows, columns):
    """Take L_ij L_kj^T, at p and q, from the block at t, which has these rows and columns."""
    for k in range(n):
        for c in range(columns):
            f = X[q + k * columns + c]
            for i in range(rows):
                T[t + c * rows + i] -= f * X[p + k * rows + i]


@native_apart
def factor(m, start, row, first_update, update, place, members):
    """Make the factor of a matrix, in its place; `members` are its nodes in the order of elimination."""
    for node in members:
        j = place[node]
        n, at = m.size[j], m.at_diagonal[j]
        if n == 6:
            _factor_diagonal(m.diagonal, at, 6)
        elif n == 3:
            _factor_diagonal(m.diagonal, at, 3)
        else:
            _factor_large(m.diagonal, at, n)
        alike = True
        for e in range(start[j], start[j + 1]):
            rows, x = m.size[row[e]], m.at_below[e]
            alike = alike and rows == n
            if n == 6 and rows == 6:
                _divide(m.diagonal, at, m.below, x, 6, 6)
            elif n == 3 and rows == 3:
                _divide(m.diagonal, at, m.below, x, 3, 3)
            else:
                _divide(m.diagonal, at, m.below, x, n, rows)
        for u in range(first_update[j], first_update[j + 1]):
            a, b, target = update[u, 0], update[u, 1], update[u, 2]
            p, q = m.at_below[a], m.at_below[b]
            T, t = m.below, 0
            if target < 0:
                T, t = m.diagonal, m.at_diagonal[-1 - target]
            else:
                t = m.at_below[target]
            if alike and n == 6:
                _subtract(T, t, m.below, p, q, 6, 6, 6)
            elif alike and n == 3:
                _subtract(T, t, m.below, p, q, 3, 3, 3)
            else:
                _subtract(T, t, m.below, p, q, n, m.size[row[a]], m.size[row[b]])


@native_within
def _forward(A, at, x, n):
    for c in range(n):
        s = x[c]
        for k in range(c):
            s -= A[at + c * n + k] * x[k]
        x[c] = s * A[at + c * n + c]


@native_within
def _backward(A, at, x, n):
    for c in range(n - 1, -1, -1):
        s = x[c]
        for k in range(c + 1, n):
            s -= A[at + k * n + c] * x[k]
        x[c] = s * A[at + c * n + c]


@native_within
def _forward_large(A, at, x, n):
    """The same, where both halves of A have the factor."""
    for c in range(n):
        x[c] *= A[at + c * n + c]
        for k in range(c + 1, n):
            x[k] -= x[c] * A[at + c * n + k]


@native_within
def _backward_large(A, at, x, n):
    for c in range(n - 1, -1, -1):
        x[c] *= A[at + c * n + c]
        for k in range(c):
            x[k] -= x[c] * A[at + c * n + k]


@native_apart
def solve(m, start, row, place, members, x):
    """Solve A x = b by the factor of A; b becomes x."""
    for node in members:
        j = place[node]
        n, f = m.size[j], m.first[j]
        y = x[f : f + n]
        if is_free(n):
            _forward(m.diagonal, m.at_diagonal[j], y, n)
        else:
            _forward_large(m.diagonal, m.at_diagonal[j], y, n)
        for e in range(start[j], start[j + 1]):
            rows, at, to = m.size[row[e]], m.at_below[e], m.first[row[e]]
            for c in range(n):
                for i in range(rows):
                    x[to + i] -= y[c] * m.below[at + c * rows + i]
    for i in range(len(members) - 1, -1, -1):
        j = place[members[i]]
        n, f = m.size[j], m.first[j]
        y = x[f : f + n]
        for e in range(start[j], start[j + 1]):
            rows, at, to = m.size[row[e]], m.at_below[e], m.first[row[e]]
            for c in range(n):
                s = 0.0
                for i in range(rows):
                    s += m.below[at + c * rows + i] * x[to + i]
                y[c] -= s
        if is_free(n):
            _backward(m.diagonal, m.at_diagonal[j], y, n)
        else:
            _backward_large(m.diagonal, m.at_diagonal[j], y, n)
