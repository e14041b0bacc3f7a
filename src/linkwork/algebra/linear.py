"""What motions, forces and inertias have in common, in the plane and in space: they are numbers in a row."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from linkwork.algebra.number import Number, is_zero
from linkwork.algebra.vector import minus, plus, product, stacked
from linkwork.real_numbers import is_real
from linkwork.spelling import checked_keywords


class Linear(ABC):
    """A value made of numbers, to be added, subtracted and scaled; a subclass says how it is made of them."""

    __slots__ = ()
    size: int  # how many numbers

    @classmethod
    @abstractmethod
    def from_scalars(cls, x: Sequence[Number]) -> Self: ...

    @abstractmethod
    def scalars(self) -> tuple[Number, ...]: ...

    @classmethod
    def zero(cls) -> Self:
        return cls.from_scalars([0.0] * cls.size)

    def __add__(self, other: Self) -> Self:
        return self.from_scalars([plus(a, b) for a, b in zip(self.scalars(), other.scalars(), strict=True)])

    def __sub__(self, other: Self) -> Self:
        return self.from_scalars([minus(a, b) for a, b in zip(self.scalars(), other.scalars(), strict=True)])

    def __neg__(self) -> Self:
        return self.from_scalars([0.0 if is_zero(a) else -a for a in self.scalars()])

    def __mul__(self, factor: Number) -> Self:
        return self.from_scalars([product(a, factor) for a in self.scalars()])

    __rmul__ = __mul__

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(stacked(self.scalars()), dtype=dtype)


def columns(things: Sequence[Linear]) -> np.ndarray:
    """Return the numbers of things as the columns of a matrix (..., numbers, things)."""
    rows = [[np.asarray(x, float) for x in thing.scalars()] for thing in things]
    shape = np.broadcast_shapes(*(x.shape for row in rows for x in row))
    full = [[np.broadcast_to(x, shape) for x in row] for row in rows]
    return np.moveaxis(np.array(full), (0, 1), (-1, -2))


@checked_keywords
def cross_matrix(v: Any) -> np.ndarray:
    """Return the matrix that makes the cross product with v: `cross_matrix(v) @ u` is v x u.

    Of three numbers it is (3, 3); of a Motion it is (6, 6), in the plane (3, 3): how motions change that are
    carried along by it. The transpose, with the other sign, does so for forces.

    >>> cross_matrix((1.0, 2.0, 3.0)) @ np.array([0.0, 0.0, 1.0])
    array([ 2., -1.,  0.])
    """
    if hasattr(v, "cross") and hasattr(v, "scalars"):
        units = np.eye(v.size).tolist()
        return columns([v.cross(type(v).from_scalars(unit)) for unit in units])
    if np.shape(v) != (3,) or not all(map(is_real, v)):
        raise ValueError(f"cross_matrix: v {v!r:.80}; give three numbers, or a Motion")
    x, y, z = (float(c) for c in v)
    return np.array([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)])
