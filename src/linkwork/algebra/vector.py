"""Small vectors and matrices of any number, as tuples: products written out, structural zeros skipped.

A symmetric matrix keeps its upper triangle only. Nothing here knows the dimension: the plane uses length 2,
space 3.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from math import isfinite
from typing import Any

import numpy as np

from linkwork.algebra.number import Number, is_one, is_zero, sqrt
from linkwork.real_numbers import shown

_SIX_FLOATS = (float,) * 6


def product(a: Number, b: Number) -> Number:
    """Multiply, keeping structural zeros and ones (also for SymPy, where 0.0 * x is not 0)."""
    if a.__class__ is float and b.__class__ is float:  # the same, five times faster
        return a * b if a and b else 0.0
    if is_zero(a) or is_zero(b):
        return 0.0
    if is_one(a):
        return b
    return a if is_one(b) else a * b


def plus(a: Number, b: Number) -> Number:
    """Add, keeping structural zeros."""
    if a.__class__ is float and b.__class__ is float:
        return (a + b if b else a) if a else b
    if is_zero(a):
        return b
    return a if is_zero(b) else a + b


def minus(a: Number, b: Number) -> Number:
    """Subtract, keeping structural zeros."""
    if a.__class__ is float and b.__class__ is float:
        return (a - b if a else -b) if b else a
    if is_zero(b):
        return a
    return -b if is_zero(a) else a - b


def dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    """Return the sum of the products, first to last."""
    if len(a) == 3:
        x, y, z = a
        u, v, w = b
        kinds = x.__class__, y.__class__, z.__class__, u.__class__, v.__class__, w.__class__
        if kinds == _SIX_FLOATS:  # the same, three times faster; + 0.0 makes a zero positive
            return x * u + y * v + z * w + 0.0
    total: Number = 0.0
    for x, y in zip(a, b, strict=True):
        if x.__class__ is float and y.__class__ is float and total.__class__ is float:
            term = x * y if x and y else 0.0
            total = (total + term if term else total) if total else term
        else:
            total = plus(total, product(x, y))
    return total


def norm(x: Iterable[Number]) -> Number:
    """Return the length of a vector."""
    components = list(x)
    return sqrt(dot(components, components))


def stacked(components: Iterable[Number]) -> np.ndarray:
    """Return numbers, or equally shaped arrays of numbers, as one array along its last axis."""
    return np.stack([np.asarray(x) for x in components], axis=-1)


def printed(value: Any) -> str:
    """Print a number, or rows of numbers: as plain floats; of arrays, over time say, the shape alone."""
    over = np.broadcast_shapes(*(getattr(x, "shape", ()) for x in _leaves(value)))
    return repr(_plain(value)) if not over else f"<array {(*over, *_counts(value))}>"


def _leaves(value: Any) -> list[Any]:
    return [x for part in value for x in _leaves(part)] if isinstance(value, tuple | list) else [value]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return float(value) if isinstance(value, np.floating) else value


def _counts(value: Any) -> tuple[int, ...]:
    return (len(value), *_counts(value[0])) if isinstance(value, tuple | list) else ()


class Vector(tuple[Number, ...]):
    """A short vector of any numbers."""

    __slots__ = ()

    def __add__(self, other: Sequence[Number]) -> "Vector":  # type: ignore[override]
        return Vector([plus(a, b) for a, b in zip(self, other, strict=True)])

    def __sub__(self, other: Sequence[Number]) -> "Vector":
        return Vector([minus(a, b) for a, b in zip(self, other, strict=True)])

    def __neg__(self) -> "Vector":
        return Vector([0.0 if is_zero(a) else -a for a in self])

    def __mul__(self, factor: Number) -> "Vector":  # type: ignore[override]
        return Vector([product(a, factor) for a in self])

    __rmul__ = __mul__  # type: ignore[assignment]

    def __truediv__(self, divisor: Number) -> "Vector":
        return Vector([0.0 if is_zero(a) else a / divisor for a in self])

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "Vector":
        return cls(x)

    def scalars(self) -> tuple[Number, ...]:
        return self

    def dot(self, other: Sequence[Number]) -> Number:
        return dot(self, other)

    def cross(self, other: Sequence[Number]) -> "Vector":
        """Return the vector product (length 3)."""
        a, b, c = self
        x, y, z = other
        return Vector(
            (
                minus(product(b, z), product(c, y)),
                minus(product(c, x), product(a, z)),
                minus(product(a, y), product(b, x)),
            )
        )


def components(what: str, numbers: Any, size: int, remedy: str = "") -> Vector:
    """Return what somebody gave for a vector; ValueError if it cannot be one. Traced numbers may be."""
    if isinstance(numbers, str | bytes | Mapping | Set) or not isinstance(numbers, Iterable):
        raise ValueError(f"{what} {shown(numbers)}; give {size} numbers{remedy}")
    if isinstance(numbers, np.ndarray) and numbers.ndim > 1:
        raise ValueError(f"{what} has shape {numbers.shape}; give {size} numbers{remedy}")
    found = Vector(numbers)
    if len(found) != size:
        raise ValueError(f"{what} {shown(found)} has {len(found)} numbers; give {size}{remedy}")
    for x in found:
        if x.__class__ is float and isfinite(x):
            continue
        odd = x is None or isinstance(x, str | bytes | bool | complex | list | tuple)
        odd = odd or (isinstance(x, np.generic | np.ndarray) and x.dtype.kind not in "fiuO")
        if odd or (isinstance(x, float | int) and not isfinite(x)):
            raise ValueError(f"{what} {shown(tuple(found))}; give {size} finite numbers{remedy}")
    return found


class Matrix(tuple[Vector, ...]):
    """A small square matrix, as a tuple of rows."""

    __slots__ = ()

    @classmethod
    def of(cls, rows: Iterable[Iterable[Number]]) -> "Matrix":
        return cls([Vector(row) for row in rows])

    @classmethod
    @cache
    def identity(cls, n: int) -> "Matrix":
        return cls.of([1.0 if i == j else 0.0 for j in range(n)] for i in range(n))

    @property
    def T(self) -> "Matrix":
        return Matrix.of(zip(*self, strict=True))

    def __add__(self, other: "Matrix") -> "Matrix":  # type: ignore[override]
        return Matrix([a + b for a, b in zip(self, other, strict=True)])

    def __sub__(self, other: "Matrix") -> "Matrix":
        return Matrix([a - b for a, b in zip(self, other, strict=True)])

    def times(self, x: Sequence[Number]) -> Vector:
        """Return A x."""
        return Vector([dot(row, x) for row in self])

    def transpose_times(self, x: Sequence[Number]) -> Vector:
        """Return A^T x."""
        return Vector([dot(column, x) for column in zip(*self, strict=True)])

    def product(self, other: "Matrix") -> "Matrix":
        """Return A B."""
        columns = list(zip(*other, strict=True))
        return Matrix([Vector([dot(row, column) for column in columns]) for row in self])

    def rotated(self, R: "Matrix") -> "Matrix":
        """Return R A R^T."""
        return Matrix([Vector([dot(row, r) for r in R]) for row in R.product(self)])

    def scalars(self) -> tuple[Number, ...]:
        return tuple(x for row in self for x in row)


class Symmetric(tuple[Number, ...]):
    """A symmetric matrix by its upper triangle: (xx, xy, xz, yy, yz, zz), or (xx, xy, yy) in the plane."""

    __slots__ = ()

    @classmethod
    def of(cls, rows: Sequence[Sequence[Number]]) -> "Symmetric":
        return cls([rows[i][j] for i in range(len(rows)) for j in range(i, len(rows))])

    @property
    def order(self) -> int:
        return 2 if len(self) == 3 else 3

    def full(self) -> Matrix:
        if len(self) == 3:
            a, b, c = self
            return Matrix.of(((a, b), (b, c)))
        a, b, c, d, e, f = self
        return Matrix.of(((a, b, c), (b, d, e), (c, e, f)))

    def __add__(self, other: "Symmetric") -> "Symmetric":  # type: ignore[override]
        return Symmetric([plus(a, b) for a, b in zip(self, other, strict=True)])

    def __sub__(self, other: "Symmetric") -> "Symmetric":
        return Symmetric([minus(a, b) for a, b in zip(self, other, strict=True)])

    def times(self, x: Sequence[Number]) -> Vector:
        """Return A x."""
        return self.full().times(x)

    def rotated(self, R: Matrix) -> "Symmetric":
        """Return R A R^T, computing each of its different entries once."""
        RA = R.product(self.full())
        n = self.order
        return Symmetric([dot(RA[i], R[j]) for i in range(n) for j in range(i, n)])
