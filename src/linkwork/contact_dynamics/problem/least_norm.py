"""x <- A, b: the smallest x of all with A x = b, where equations may follow from others.

Rows and columns are scaled by the roots of the diagonal, so that forces and moments count alike. Then
A P = Q R by Householder's reflections, the longest column first (Businger, Golub 1965), gives the rank; what
is right of the triangle is reflected away too, and the smallest x follows by substitution (complete
orthogonal decomposition; Golub, Van Loan, *Matrix Computations*, section 5.4). Rows that nothing couples, as
those of bodies far apart, are solved by themselves.
"""

from math import sqrt

import numpy as np

from linkwork.native.numba_functions import doubles, entry, integers, native, native_apart

Array = np.ndarray

_RANK = 1e-11  # columns shorter than this part of the longest are rounding errors


def room_for(n: int) -> tuple[int, int]:
    """Return how many doubles and integers `smallest` needs beside n equations."""
    return n * n + 4 * n, 3 * n


@native
def _longest(S, m, k):
    """Return the column from k on that is longest below row k, and its square."""
    best, where = -1.0, k
    for j in range(k, m):
        s = 0.0
        for i in range(k, m):
            s += S[i * m + j] * S[i * m + j]
        if s > best:
            best, where = s, j
    return best, where


@native
def _triangle(S, m, b, order):
    """Make S a triangle by reflections, which b undergoes too; return the rank."""
    first = 0.0
    for k in range(m):
        square, where = _longest(S, m, k)
        if k == 0:
            first = square
        if not square > _RANK * _RANK * first:
            return k
        order[k], order[where] = order[where], order[k]
        if where != k:
            for i in range(m):
                S[i * m + k], S[i * m + where] = S[i * m + where], S[i * m + k]
        d = S[k * m + k]
        new = -sqrt(square) if d > 0.0 else sqrt(square)
        v = d - new
        f = -1.0 / (new * v)
        for j in range(k + 1, m):
            s = v * S[k * m + j]
            for i in range(k + 1, m):
                s += S[i * m + k] * S[i * m + j]
            s *= f
            S[k * m + j] -= s * v
            for i in range(k + 1, m):
                S[i * m + j] -= s * S[i * m + k]
        s = v * b[k]
        for i in range(k + 1, m):
            s += S[i * m + k] * b[i]
        s *= f
        b[k] -= s * v
        for i in range(k + 1, m):
            b[i] -= s * S[i * m + k]
        S[k * m + k] = new
    return m


@native
def _reflect_away(S, m, r, head, factor):
    """Make what is right of the triangle zero; reflections stay there, in `head` and `factor`."""
    for i in range(r - 1, -1, -1):
        s = 0.0
        for j in range(r, m):
            s += S[i * m + j] * S[i * m + j]
        factor[i] = 0.0
        if s == 0.0:
            continue
        d = S[i * m + i]
        new = -sqrt(d * d + s) if d > 0.0 else sqrt(d * d + s)
        head[i] = d - new
        factor[i] = -1.0 / (new * head[i])
        for k in range(i):
            s = head[i] * S[k * m + i]
            for j in range(r, m):
                s += S[i * m + j] * S[k * m + j]
            s *= factor[i]
            S[k * m + i] -= s * head[i]
            for j in range(r, m):
                S[k * m + j] -= s * S[i * m + j]
        S[i * m + i] = new


@native
def _smallest(S, m, b, head, factor, order):
    """Make the smallest x with S x = b of b, its numbers in the order of the columns."""
    r = _triangle(S, m, b, order)
    _reflect_away(S, m, r, head, factor)
    for i in range(r - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, r):
            s -= S[i * m + j] * b[j]
        b[i] = s / S[i * m + i]
    for j in range(r, m):
        b[j] = 0.0
    for i in range(r):
        s = head[i] * b[i]
        for j in range(r, m):
            s += S[i * m + j] * b[j]
        s *= factor[i]
        b[i] -= s * head[i]
        for j in range(r, m):
            b[j] -= s * S[i * m + j]


@native
def _group(A, n, seed, group, member):
    """Write the rows that are coupled with a seed, which get its number; return how many."""
    group[seed], member[0], count, done = seed, seed, 1, 0
    while done < count:
        i = member[done]
        done += 1
        for j in range(n):
            if group[j] < 0 and (A[i * n + j] != 0.0 or A[j * n + i] != 0.0):
                group[j] = seed
                member[count] = j
                count += 1
    return count


@native_apart
def smallest(n, matrix, right, answer, room, more):
    """Write the smallest x with A x = b; all by address, `room_for` says how much room it takes."""
    A, b, x = doubles(matrix), doubles(right), doubles(answer)
    S, c, head = doubles(room), doubles(room + 8 * n * n), doubles(room + 8 * (n * n + n))
    factor, size = doubles(room + 8 * (n * n + 2 * n)), doubles(room + 8 * (n * n + 3 * n))
    group, member, order = integers(more), integers(more + 8 * n), integers(more + 16 * n)
    for i in range(n):
        d = abs(A[i * n + i])
        size[i] = 1.0 / sqrt(d) if d > 0.0 else 0.0
        group[i] = -1
        x[i] = 0.0
    for seed in range(n):
        if group[seed] >= 0:
            continue
        m = _group(A, n, seed, group, member)
        for i in range(m):
            order[i] = i
            c[i] = size[member[i]] * b[member[i]]
            for j in range(m):
                S[i * m + j] = size[member[i]] * A[member[i] * n + member[j]] * size[member[j]]
        _smallest(S, m, c, head, factor, order)
        for k in range(m):
            j = member[order[k]]
            x[j] = size[j] * c[k]


@entry(None, "int64", "int64", "int64", "int64", "int64", "int64")
def _smallest_of(n, matrix, right, answer, room, more):
    smallest(n, matrix, right, answer, room, more)


def least_norm(A: Array, right: Array) -> Array:
    """Return the smallest x with A x = right."""
    n = len(right)
    doubles_, integers_ = room_for(n)
    A, b, x = np.array(A, float, order="C"), np.array(right, float), np.zeros(n)
    room, more = np.zeros(doubles_), np.zeros(integers_, np.int64)
    _smallest_of(n, *(array.ctypes.data for array in (A, b, x, room, more)))
    return x
