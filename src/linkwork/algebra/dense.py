"""Small dense linear algebra of any number, written out: what a joint of up to six coordinates needs."""

from collections.abc import Sequence

from linkwork.algebra.number import Number
from linkwork.algebra.vector import Vector, dot, minus, product


def inverse_positive(A: Sequence[Sequence[Number]]) -> list[Vector]:
    """Return the inverse of a symmetric positive definite matrix, as rows, by its factors A = L D L^T."""
    n = len(A)
    L: list[list[Number]] = [[0.0] * n for _ in range(n)]  # below the diagonal
    LD: list[list[Number]] = [[0.0] * n for _ in range(n)]  # L times D
    d: list[Number] = []  # inverse of the diagonal of D
    for i in range(n):
        for j in range(i):
            LD[i][j] = minus(A[i][j], dot(LD[i][:j], L[j][:j]))
            L[i][j] = product(LD[i][j], d[j])
        d.append(1.0 / minus(A[i][i], dot(LD[i][:i], L[i][:i])))
    K: list[list[Number]] = [[0.0] * n for _ in range(n)]  # inverse of L, without its unit diagonal
    for i in range(n):
        for j in range(i):
            K[i][j] = -dot([L[i][j], *L[i][j + 1 : i]], [1.0, *(K[m][j] for m in range(j + 1, i))])
    inverse: list[list[Number]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            left = [1.0 if i == j else K[j][i], *(K[m][i] for m in range(j + 1, n))]
            right = [d[j], *(product(d[m], K[m][j]) for m in range(j + 1, n))]
            inverse[i][j] = inverse[j][i] = dot(left, right)
    return [Vector(row) for row in inverse]
