"""x <- A, b: the smallest x of all with A x = b, where equations may follow from others.

Rows and columns are scaled by the roots of the diagonal, so that forces and moments count alike. Rows that
nothing couples, as those of bodies far apart, are solved by themselves (`native.orthogonal_factors`).
"""

from math import sqrt

import numpy as np

from linkwork.native.numba_functions import doubles, entry, integers, native, native_apart
from linkwork.native.orthogonal_factors import shortest

Array = np.ndarray

_RANK = 1e-11  # columns shorter than this part of the longest are rounding errors


def room_for(n: int) -> tuple[int, int]:
    """Return how many doubles and integers `smallest` needs beside n equations."""
    return n * n + 3 * n, 3 * n


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
    size = doubles(room + 8 * (n * n + 2 * n))
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
            c[i] = size[member[i]] * b[member[i]]
            for j in range(m):
                S[i * m + j] = size[member[i]] * A[member[i] * n + member[j]] * size[member[j]]
        shortest(S, m, m, c, c, order, head, _RANK)
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
