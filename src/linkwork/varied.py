"""N numbers in place of one: formulas run once for N variants of a mechanism, as long as all go the same way.

Arithmetic is element by element, and gives the bits that plain floats give. Where Python asks a question of a
number (is it zero? is it less?) all N must answer alike; if they do not, `Diverged` says which do, so that
these can be tried apart from the others. So what comes out is what N separate calculations give.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray


class Diverged(BaseException):  # so that what catches errors of a user's function lets it pass
    """The numbers of some variants would go another way than those of others; `groups` go the same."""

    def __init__(self, keys: Array):
        super().__init__("variants go different ways")
        self._keys = keys

    @property
    def groups(self) -> list[Array]:
        """The numbers of those that go the same way."""
        _, counts = np.unique(self._keys, return_counts=True)
        return np.split(np.argsort(self._keys, kind="stable"), np.cumsum(counts)[:-1])


class Varied:
    """N floats that stand for one, `values` (N,)."""

    __slots__ = ("values",)
    __array_ufunc__ = None  # NumPy leaves arithmetic to this class

    def __init__(self, values: Any):
        self.values: Array = np.array(values, float)

    @staticmethod
    def apply_function(name: str, *args: Any) -> Any:
        """Call an elementary function for each variant, as it is called for one."""
        traced = next((x for x in args if not isinstance(x, Varied) and hasattr(x, "apply_function")), None)
        if traced is not None:
            return traced.apply_function(name, *args)
        return each(getattr(math, name), *args)

    def __float__(self) -> float:
        _decide(self.values.view(np.int64))
        return float(self.values[0])

    def __int__(self) -> int:
        return int(float(self))

    def __bool__(self) -> bool:
        return _decide(self.values != 0.0)

    def __hash__(self) -> int:
        return hash(float(self))

    def __format__(self, how: str) -> str:
        return format(float(self), how)

    def __str__(self) -> str:
        return str(float(self))

    def __neg__(self) -> "Varied":
        return Varied(-self.values)

    def __pos__(self) -> "Varied":
        return self

    def __abs__(self) -> "Varied":
        return Varied(abs(self.values))

    def __pow__(self, exponent: Any) -> Any:
        return each(pow, self, exponent) if _is_plain(exponent) else NotImplemented

    def __rpow__(self, base: Any) -> Any:
        return each(pow, base, self) if _is_plain(base) else NotImplemented

    def __repr__(self) -> str:
        return f"Varied({self.values!r})"


def each(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of floats for each variant; all must answer alike if it answers a question."""
    varied = [x.values.tolist() if isinstance(x, Varied) else x for x in args]
    count = next(len(x.values) for x in args if isinstance(x, Varied))
    found = [function(*(x[k] if isinstance(x, list) else x for x in varied)) for k in range(count)]
    return _decide(np.array(found)) if isinstance(found[0], bool) else Varied(found)


def of_variants(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of arrays for each variant, if some of their numbers are N in place of one.

    Returns a truth value on which all agree, or a number, or an array of numbers, as `function` does.
    """
    try:
        return function(*(np.asarray(x, float) for x in args))
    except Diverged:
        tables = [np.array(x, object) for x in args]
    count = next(len(x.values) for table in tables for x in table.flat if isinstance(x, Varied))
    lanes = [rows(table.ravel(), count).reshape(count, *table.shape) for table in tables]
    found = np.array([function(*(lane[k] for lane in lanes)) for k in range(count)])
    return _decide(found) if found.dtype == bool else varied_array(found)


def of_all_variants(function: Callable[..., Array], *args: Any) -> Any:
    """Call a function of arrays once, for all variants if some of their numbers are N in place of one.

    It treats leading axes, (..., n), one by one, and gives the same bits with them and without.
    """
    try:
        return function(*(np.asarray(x, float) for x in args))
    except Diverged:
        tables = [np.array(x, object) for x in args]
    count = next(len(x.values) for table in tables for x in table.flat if isinstance(x, Varied))
    return varied_array(function(*(rows(x.ravel(), count).reshape(count, *x.shape) for x in tables)))


def varied_array(values: Array) -> Any:
    """Return an array (N, ...) as one of N numbers in place of one; without more axes, as a number."""
    if values.ndim == 1:
        return Varied(values)
    table = np.empty(values.shape[1:], object)
    for index in np.ndindex(table.shape):
        table[index] = Varied(values[(slice(None), *index)])
    return table


def finite(x: Varied) -> bool:
    """Return whether all of N numbers are finite."""
    return _decide(np.isfinite(x.values))


def any_varied(*args: Any) -> bool:
    return Varied in set(map(type, args))


def real(x: Any) -> Any:
    """Return a number as a float; N of them as they are."""
    return x if isinstance(x, Varied) else float(x)


def real_table(numbers: Any) -> Array:
    """Return numbers as an array of floats; of objects, if there are N numbers in place of one."""
    items = list(numbers)
    if not any_varied(*items):
        return np.array(items, float)
    table = np.empty(len(items), object)
    table[:] = [real(x) for x in items]
    return table


def rows(table: Array, count: int) -> Array:
    """Return the table of each variant, (count, numbers)."""
    if table.dtype != object:
        return np.tile(table, (count, 1))
    found = np.empty((count, len(table)))
    for k, x in enumerate(table):
        found[:, k] = x.values if isinstance(x, Varied) else x
    return found


def _decide(keys: Array) -> bool:
    """Return what all say; Diverged if they differ."""
    if (keys != keys[0]).any():
        raise Diverged(keys)
    return bool(keys[0])


def _is_plain(x: Any) -> bool:
    return isinstance(x, Varied | int | float | np.number)


def _forward(operation: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a binary operation on all variants, and the one with them at the right."""

    def left(self: Varied, other: Any) -> Any:
        return Varied(operation(self.values, _plain(other))) if _is_plain(other) else NotImplemented

    def right(self: Varied, other: Any) -> Any:
        return Varied(operation(_plain(other), self.values)) if _is_plain(other) else NotImplemented

    return left, right


def _plain(x: Any) -> Any:
    return x.values if isinstance(x, Varied) else float(x)


def _divided(a: Any, b: Any) -> Array:
    zero = np.broadcast_to(np.asarray(b) == 0.0, np.broadcast_shapes(np.shape(a), np.shape(b)))
    if _decide(zero):
        raise ZeroDivisionError("division by zero")
    return a / b


for _word, _operation in (
    ("add", operator.add),
    ("sub", operator.sub),
    ("mul", operator.mul),
    ("truediv", _divided),
):
    _left, _right = _forward(_operation)
    setattr(Varied, f"__{_word}__", _left)
    setattr(Varied, f"__r{_word}__", _right)


def _question(operation: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def asked(self: Varied, other: Any) -> Any:
        return _decide(operation(self.values, _plain(other))) if _is_plain(other) else NotImplemented

    return asked


for _word in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Varied, f"__{_word}__", _question(getattr(operator, _word)))
