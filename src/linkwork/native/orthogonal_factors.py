"""x <- A, b: the shortest of all x that come nearest to A x = b, by orthogonal factors, for compiled loops.

The complete orthogonal decomposition (Golub, Van Loan, *Matrix Computations*, sections 5.4 and 5.5). Two
kinds of Householder's reflections, H = 1 - 2 v v^T / (v^T v), bring A, of rank r, to a triangle U of r rows:

    Q^T A P = [ R  S ]        [ R  S ] Z = [ U  0 ]        A x = b:   U y = c,   x = P Z [ y ]
              [ 0  0 ]                                                                   [ 0 ]

*From the left.* Let a be what is left of column k, from row k on. With d its first number and
new = -sign(d) |a|, v = a - new e_k puts all of it there: d <- new. Since v^T v = 2 (|a|^2 - new d) is
-2 new v_k, the factor 2 / (v^T v) is -1 / (new v_k). P puts the longest column that is left first (Businger,
Golub 1965), so that lengths decrease; when one is nothing beside the first of all, so are those after it, and
the rank is known. c are the first r numbers of Q^T b; the others are what no x can satisfy.

*From the right*, from the last row of [R S] to the first: let s be row i of S. With d = r_ii and
new = -sign(d) |(d, s)|, v = (d - new, s) at (i, S) puts all of it into the diagonal. Rows below have nothing
left there and stay. Since Z and P keep lengths, x is as long as y, the shortest of all that leave the same
residual.

Matrices lie in memory row by row, n numbers each.
"""

from math import sqrt

from linkwork.native.numba_functions import native


@native
def _longest(A, m, n, k):
    """Return the column from k on that is longest from row k on, and its square."""
    best, where = -1.0, k
    for j in range(k, n):
        s = 0.0
        for i in range(k, m):
            s += A[i * n + j] * A[i * n + j]
        if s > best:
            best, where = s, j
    return best, where


@native
def _reflect(A, m, n, k, v, f, x, column, stride):
    """Reflect a column of x, whose numbers are `stride` apart; the rest of v is column k of A below row k."""
    s = v * x[k * stride + column]
    for i in range(k + 1, m):
        s += A[i * n + k] * x[i * stride + column]
    s *= f
    x[k * stride + column] -= s * v
    for i in range(k + 1, m):
        x[i * stride + column] -= s * A[i * n + k]


@native
def _triangle(A, m, n, b, order, weak):
    """A, b, order <- R and S, Q^T b, P; return the rank, by columns not below `weak` beside the longest."""
    first = 0.0
    for j in range(n):
        order[j] = j
    for k in range(min(m, n)):
        square, where = _longest(A, m, n, k)
        if k == 0:
            first = square
        if not square > weak * weak * first:
            return k
        order[k], order[where] = order[where], order[k]
        if where != k:
            for i in range(m):
                A[i * n + k], A[i * n + where] = A[i * n + where], A[i * n + k]
        d = A[k * n + k]
        new = -sqrt(square) if d > 0.0 else sqrt(square)
        v = d - new
        f = -1.0 / (new * v)
        for j in range(k + 1, n):
            _reflect(A, m, n, k, v, f, A, j, n)
        _reflect(A, m, n, k, v, f, b, 0, 1)
        A[k * n + k] = new
    return min(m, n)


@native
def _smaller_triangle(A, n, r, head):
    """A <- U, and the rest of each v in the place of S; `head` <- the heads of v, 0 for no reflection."""
    for i in range(r - 1, -1, -1):
        s = 0.0
        for j in range(r, n):
            s += A[i * n + j] * A[i * n + j]
        head[i] = 0.0
        if s == 0.0:
            continue
        d = A[i * n + i]
        new = -sqrt(d * d + s) if d > 0.0 else sqrt(d * d + s)
        head[i] = d - new
        f = -1.0 / (new * head[i])
        for k in range(i):
            s = head[i] * A[k * n + i]
            for j in range(r, n):
                s += A[i * n + j] * A[k * n + j]
            s *= f
            A[k * n + i] -= s * head[i]
            for j in range(r, n):
                A[k * n + j] -= s * A[i * n + j]
        A[i * n + i] = new


@native
def shortest(A, m, n, b, y, order, head, weak):
    """y, order, rank <- A (m, n), b (m,): y[k] is the number order[k] of x. A and b are overwritten.

    Columns not longer than `weak`, beside the longest, count as nothing. y may be b, where m = n.
    """
    r = _triangle(A, m, n, b, order, weak)
    _smaller_triangle(A, n, r, head)
    for i in range(r - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, r):
            s -= A[i * n + j] * y[j]
        y[i] = s / A[i * n + i]
    for j in range(r, n):
        y[j] = 0.0
    for i in range(r):
        if head[i] == 0.0:
            continue
        s = head[i] * y[i]
        for j in range(r, n):
            s += A[i * n + j] * y[j]
        s *= -1.0 / (A[i * n + i] * head[i])
        y[i] -= s * head[i]
        for j in range(r, n):
            y[j] -= s * A[i * n + j]
    return r
