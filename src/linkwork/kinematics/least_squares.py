"""The linear equations A x = b of a step of Newton's method, as native code; `newton` has the arrays `w`.

They are scaled: columns by the size of the mechanism (lengths) or 1 (angles), rows to length one. A square
and regular system is factored once (LU, partial pivoting); any other, with redundant or too few equations, is
solved by orthogonal factors with the least x.
"""

import numpy as np

from linkwork.native.numba_functions import native

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


# Least squares, by orthogonal factors (Golub, Van Loan, Matrix Computations, sections 5.4 and 5.5). Two kinds
# of reflections, H = 1 - 2 v v^T / (v^T v), bring A, of rank r, to a triangle U of r rows:
#
#     Q^T A P = [ R  S ]        [ R  S ] Z = [ U  0 ]        A x = b:   U y = c,   x = P Z [ y ]
#               [ 0  0 ]                                                                   [ 0 ]
#
# From the left: let a be what is left of column k, from row k on. With v = a + sign(a_k) |a| e_k all of it
# goes into its first number, a_k <- -sign(a_k) |a|. P puts the longest column that is left first, so that
# lengths decrease; when one is nothing beside the first of all, so are those after it, and the rank is known.
# c are the first r numbers of Q^T b; the others are what no x can satisfy.
#
# From the right, from the last row of [R S] to the first: let s be row i of S. With v = (head, s) at (i, S),
# head = r_ii + sign(r_ii) |(r_ii, s)|, s goes into the diagonal. Rows below have nothing left there and stay.
# Since Z and P keep lengths, x is as long as y, the shortest of all that leave the same residual.


@native
def _longest_column(A, k, m, n):
    """Return the column from k on that is longest from row k on, and the square of its length."""
    best, top = k, -1.0
    for j in range(k, n):
        square = 0.0
        for i in range(k, m):
            square += A[i, j] * A[i, j]
        if square > top:
            best, top = j, square
    return best, top


@native
def _triangle(w, weak):
    """A, b, order <- R and S, Q^T b, P; the rank, by columns not below `weak`. `hidden` is room for v."""
    A, b, order, v = w.A, w.b, w.order, w.hidden
    m, n = w.phi.size, w.x.size
    for j in range(n):
        order[j] = j
    rank, largest = 0, 0.0
    for k in range(min(m, n)):
        best, top = _longest_column(A, k, m, n)
        length = np.sqrt(top)
        if k == 0:
            largest = length
        if not length > weak * largest:
            break
        if best != k:
            order[k], order[best] = order[best], order[k]
            for i in range(m):
                A[i, k], A[i, best] = A[i, best], A[i, k]
        for i in range(k, m):
            v[i] = A[i, k]
        v[k] += length if v[k] >= 0.0 else -length
        square = 0.0
        for i in range(k, m):
            square += v[i] * v[i]
        for j in range(k, n):
            along = 0.0
            for i in range(k, m):
                along += v[i] * A[i, j]
            along *= 2.0 / square
            for i in range(k, m):
                A[i, j] -= along * v[i]
        along = 0.0
        for i in range(k, m):
            along += v[i] * b[i]
        along *= 2.0 / square
        for i in range(k, m):
            b[i] -= along * v[i]
        rank += 1
    return rank


@native
def _smaller_triangle(w, rank):
    """A <- U, and the rest of each v in the place of S; `hidden` <- the heads of v, 0 for no reflection."""
    A, heads, n = w.A, w.hidden, w.x.size
    for i in range(rank - 1, -1, -1):
        beyond = 0.0
        for j in range(rank, n):
            beyond += A[i, j] * A[i, j]
        heads[i] = 0.0
        if beyond == 0.0:
            continue
        length = np.sqrt(A[i, i] * A[i, i] + beyond)
        head = A[i, i] + (length if A[i, i] >= 0.0 else -length)
        square = head * head + beyond
        for k in range(i + 1):
            along = A[k, i] * head
            for j in range(rank, n):
                along += A[k, j] * A[i, j]
            along *= 2.0 / square
            if k < i:
                A[k, i] -= along * head
                for j in range(rank, n):
                    A[k, j] -= along * A[i, j]
            else:
                A[i, i] -= along * head
        heads[i] = head


@native
def _solution(w, rank):
    """x <- P Z [y 0], where U y = c; y is in `kept`."""
    A, b, y, heads, n = w.A, w.b, w.kept, w.hidden, w.x.size
    for j in range(n):
        y[j] = 0.0
    for i in range(rank - 1, -1, -1):
        y[i] = b[i]
        for j in range(i + 1, rank):
            y[i] -= A[i, j] * y[j]
        y[i] /= A[i, i]
    for i in range(rank):
        head = heads[i]
        if head == 0.0:
            continue
        square, along = head * head, head * y[i]
        for j in range(rank, n):
            square += A[i, j] * A[i, j]
            along += A[i, j] * y[j]
        along *= 2.0 / square
        y[i] -= along * head
        for j in range(rank, n):
            y[j] -= along * A[i, j]
    for j in range(n):
        w.x[w.order[j]] = y[j]


@native
def shortest(w, weak):
    """x, rank <- least squares, shortest x, of A x = b; A and b are overwritten.

    Columns that are not longer than `weak`, beside the longest, count as nothing.
    """
    rank = _triangle(w, weak)
    _smaller_triangle(w, rank)
    _solution(w, rank)
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
