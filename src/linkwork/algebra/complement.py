"""T <- S: an orthonormal basis of the forces that do no work on given motions.

Let S (n x k) have full column rank. Householder's mirrors H_j = 1 - 2 w w^T / w.w, w = x + sign(x_1) |x| e_1,
take column by column of S to the first unit vectors: H_k ... H_1 S = (R, 0)^T. So S = Q (R, 0)^T with the
orthogonal Q = H_1 ... H_k, and the last n - k columns of Q are square to S (Golub and Van Loan, Matrix
Computations, 5.2). Rows of S that are zero by structure are left out: there unit vectors are square to S.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from linkwork.algebra.number import Number, is_zero, sqrt, where
from linkwork.algebra.vector import dot, minus, product


def complement(S: Sequence[Any], algebra: ModuleType) -> list[Any]:
    """Return the forces that do no work on the motions S, an orthonormal basis.

    They are unit vectors as far as S has structural zeros. The basis may jump with S, the space it spans does
    not.
    """
    columns = [list(s.scalars()) for s in S]
    return [algebra.Force.from_scalars(t) for t in square_to(columns, algebra.freedoms)]


def square_to(columns: Sequence[Sequence[Number]], n: int) -> list[list[Number]]:
    """Return an orthonormal basis of what is square to columns of n numbers each."""
    used = [i for i in range(n) if not all(is_zero(s[i]) for s in columns)]
    basis: list[list[Number]] = [
        [1.0 if i == k else 0.0 for i in range(n)] for k in range(n) if k not in used
    ]
    m = len(used)
    if m > len(columns):
        rest = [[s[i] for i in used] for s in columns]
        mirrors: list[tuple[list[Number], Number]] = []
        for k in range(len(rest)):
            x = rest[k][k:]
            length = sqrt(dot(x, x))
            x0 = x[0]
            first = length if is_zero(x0) else x0 + where(x0 < 0.0, -length, length)
            w = [*[0.0] * k, first, *x[1:]]
            mirrors.append((w, 2.0 / dot(w, w)))
            rest = [_mirrored(*mirrors[k], column) for column in rest]
        for j in range(len(columns), m):
            t: list[Number] = [1.0 if i == j else 0.0 for i in range(m)]
            for mirror in reversed(mirrors):
                t = _mirrored(*mirror, t)
            whole: list[Number] = [0.0] * n
            for i, x in zip(used, t, strict=True):
                whole[i] = x
            basis.append(whole)
    return basis


def _mirrored(w: Sequence[Number], factor: Number, x: Sequence[Number]) -> list[Number]:
    """Return x - factor (w.x) w."""
    along = product(factor, dot(w, x))
    return [minus(a, product(along, b)) for a, b in zip(x, w, strict=True)]
