"""Unknowns of a constraint's own, as where on a curve a point is, taken out of its equations.

They have no inertia, so that no force may act on them. Let phi(q, u) be m equations with k < m unknowns u,
A = phi_q, B = phi_u of full rank, w = du/dt, and h the second derivative of phi along v and w:

    A v + B w = 0,    A a + B dw/dt = -h,    B^T force = 0

With N an orthonormal basis of what is square to the columns of B, force = N f; from the left, N^T takes the
unknowns out of the equations, and B^+ = (B^T B)^-1 B^T finds them:

    N^T A v = 0,    N^T A a = -N^T h,    w = -B^+ A v,    dw/dt = -B^+ (A a + h)

So there are m - k rows like any others, and a unit of one is the force N^T A. The unknowns are numbers of the
position q, behind those of all joints: they have rates w, and no velocities of their own. Where a change dq
corrects positions, du = -B^+ (phi + A dq) goes with it: the rest of Newton's step. Where B loses rank (a cusp
of a curve, a roller in a hollow that is as round) the unknowns are not determined, and no motion follows.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from linkwork.algebra.complement import square_to
from linkwork.algebra.dense import inverse_positive
from linkwork.algebra.number import Number
from linkwork.algebra.vector import dot
from linkwork.mechanism.load_view import PoseSide

_ROUNDS = 30  # of Newton's method, from a guess
_STILL = 1e-14  # a change, relative, that is rounding


class OwnUnknowns:
    """What takes unknowns out of rows: from the columns of B, one per unknown, a number per equation."""

    def __init__(self, columns: Sequence[Sequence[Number]]) -> None:
        self._columns = columns
        self._inverse = inverse_positive([[dot(a, b) for b in columns] for a in columns])
        self.square = square_to(columns, len(columns[0]))  # N, one of its columns after the other

    def without(self, rows: Sequence[Any], per_end: bool = False) -> list[Any]:
        """Return N^T times rows: numbers, lists of numbers, or forces; `per_end`, times those of each."""
        if per_end:
            return [self.without(each) if each else each for each in rows]
        return [_combined(factors, rows) for factors in self.square]

    def fitting(self, rows: Sequence[Number]) -> list[Number]:
        """Return -B^+ times rows."""
        along = [dot(column, rows) for column in self._columns]
        return [-1.0 * dot(row, along) for row in self._inverse]


def _combined(factors: Sequence[Number], rows: Sequence[Any]) -> Any:
    first = rows[0]
    if hasattr(first, "scalars"):
        numbers = _combined(factors, [list(row.scalars()) for row in rows])
        return type(first).from_scalars(numbers)
    if isinstance(first, list | tuple):
        return [dot(factors, column) for column in zip(*rows, strict=True)]
    return dot(factors, rows)


def guessed(constraint: Any, poses: Sequence[Any]) -> list[float]:
    """Return the unknowns that a constraint guesses where its bodies are."""
    if not constraint.unknowns:
        return []
    sides = constraint.views([PoseSide.of(constraint.algebra, pose) for pose in poses])
    return [float(x) for x in constraint.guess(*sides)]


def fitted(shift: Callable[[Sequence[Any]], Sequence[Any]], guess: Sequence[float]) -> list[Any]:
    """Return the unknowns where Newton's changes `shift` of them end; the guess, if they do not."""
    u: list[Any] = list(guess)
    for _ in range(_ROUNDS):
        try:
            change = shift(u)
        except ArithmeticError:
            break
        u = [x + dx for x, dx in zip(u, change, strict=True)]
        if not all(isfinite(x) for x in u):
            break
        if all(abs(dx) <= _STILL * (1.0 + abs(x)) for x, dx in zip(u, change, strict=True)):
            return u
    return list(guess)
