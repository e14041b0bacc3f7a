"""What motions, forces and inertias have in common, in the plane and in space: they are numbers in a row."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from linkwork.algebra.number import Number, is_zero
from linkwork.algebra.vector import minus, plus, product, stacked


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
