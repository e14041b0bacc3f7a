"""Factors of a dense matrix by Gauss's elimination, for compiled loops."""

from linkwork.native.numba_functions import doubles, native


@native
def factor(address, pivots, m):
    """Matrix (m, m) <- its factors L and U, with partial pivoting; return whether it is regular."""
    a = doubles(address)
    for j in range(m):
        p = j
        for i in range(j + 1, m):
            if abs(a[i * m + j]) > abs(a[p * m + j]):
                p = i
        pivots[j] = p
        if not abs(a[p * m + j]) > 0.0:
            return False
        if p != j:
            for c in range(m):
                a[j * m + c], a[p * m + c] = a[p * m + c], a[j * m + c]
        rest = m - j - 1
        top = doubles(address + 8 * (j * m + j + 1))
        for i in range(j + 1, m):
            a[i * m + j] /= a[j * m + j]
            share, row = a[i * m + j], doubles(address + 8 * (i * m + j + 1))
            if share != 0.0:
                for c in range(rest):
                    row[c] -= share * top[c]
    return True


@native
def substitute(a, pivots, m, x):
    """x <- solution of the factored equations with right-hand side x."""
    for j in range(m):
        p = pivots[j]
        x[j], x[p] = x[p], x[j]
    for i in range(m):
        for j in range(i):
            x[i] -= a[i * m + j] * x[j]
    for i in range(m - 1, -1, -1):
        for j in range(i + 1, m):
            x[i] -= a[i * m + j] * x[j]
        x[i] /= a[i * m + i]
