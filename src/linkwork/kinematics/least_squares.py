"""The linear equations A x = b of a step of Newton's method, as native code; `newton` has the arrays `w`.

They are scaled: columns by the size of the mechanism (lengths) or 1 (angles), rows to length one. A square
and regular system is factored once (LU, partial pivoting); any other, with redundant or too few equations, is
solved by orthogonal factors with the least x.
"""

import numpy as np

from linkwork.native import orthogonal_factors
from linkwork.native.numba_functions import doubles, native

_WEAK = 1e-10  # pivot, relative, below which equations do not determine the coordinates


@native
def fill(w):
    """A, rows <- phi_q: the scaled matrix, rows of length one."""
    A, m, n = w.A, w.phi.size, w.x.size
    for i in range(m):
        for j in range(n):
            A[i, j] = 0.0
    for e in range(w.phi_q.size):
        A[w.entry_rows[e], w.entry_columns[e]] += w.phi_q[e] * w.columns[w.entry_columns[e]]
    for i in range(m):
        square = 0.0
        for j in range(n):
            square += A[i, j] * A[i, j]
        w.rows[i] = 1.0 / np.sqrt(square) if square > 0.0 else 1.0
        for j in range(n):
            A[i, j] *= w.rows[i]


@native
def factor(w):
    """A, order <- its LU factors; the sign of the determinant, 0 if not square or nearly singular."""
    A, n = w.A, w.x.size
    if w.phi.size != n:
        return 0
    sign = 1
    for k in range(n):
        best, top = k, abs(A[k, k])
        for i in range(k + 1, n):
            if abs(A[i, k]) > top:
                best, top = i, abs(A[i, k])
        if not top > _WEAK:
            return 0
        w.order[k] = best
        if best != k:
            sign = -sign
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        if A[k, k] < 0.0:
            sign = -sign
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                A[i, k] *= inverse
                for j in range(k + 1, n):
                    A[i, j] -= A[i, k] * A[k, j]
    return sign


@native
def substitute(w):
    """x <- the solution for b, from LU factors."""
    A, b, x, n = w.A, w.b, w.x, w.x.size
    for k in range(n):
        best = w.order[k]
        b[k], b[best] = b[best], b[k]
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= A[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= A[i, j] * x[j]
        x[i] /= A[i, i]


@native
def shortest(w, weak):
    """x, rank <- least squares, shortest x, of A x = b; A and b are overwritten.

    Columns that are not longer than `weak`, beside the longest, count as nothing.
    """
    m, n, y = w.phi.size, w.x.size, w.kept
    rank = orthogonal_factors.shortest(doubles(w.A.ctypes.data), m, n, w.b, y, w.order, w.hidden, weak)
    for k in range(n):
        w.x[w.order[k]] = y[k]
    return rank


@native
def least(w):
    """x, rank <- least squares, shortest x, of A x = b; A and b are overwritten."""
    return shortest(w, _WEAK)


@native
def solved(w, sign):
    """x, rank <- the solution of A x = b, scaled; `sign` of the factors says whether there are any."""
    if sign != 0:
        substitute(w)
        return w.x.size
    fill(w)
    return least(w)


@native
def solve_damped(N, g, damping, x, L):
    """x <- the solution of (N + damping) x = g, by Cholesky; N is there below its diagonal."""
    n = g.size
    for j in range(n):
        for k in range(j + 1):
            total = N[j, k]
            if j == k:
                total += damping
            for l in range(k):
                total -= L[j, l] * L[k, l]
            L[j, k] = np.sqrt(max(total, 1e-300)) if j == k else total / L[k, k]
    for j in range(n):
        x[j] = g[j]
        for l in range(j):
            x[j] -= L[j, l] * x[l]
        x[j] /= L[j, j]
    for j in range(n - 1, -1, -1):
        for l in range(j + 1, n):
            x[j] -= L[l, j] * x[l]
        x[j] /= L[j, j]
