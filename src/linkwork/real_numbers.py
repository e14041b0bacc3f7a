"""Real numbers as people hand them over, made doubles; what only converts to them is refused.

NumPy turns texts, truth values and dates into doubles without a word: `["1", "2"]`, `[True]`, a column of
`datetime64`. None of them is a number that somebody meant.
"""

from decimal import Decimal
from math import isfinite
from numbers import Real
from typing import Any, TypeGuard

import numpy as np

from linkwork.varied import Varied, any_varied, finite, real_table

_FLOAT = np.dtype(np.float64)
_SMALL = 16  # numbers that are looked at one by one
_KINDS = {
    "b": "truth values",
    "c": "complex numbers",
    "m": "durations of datetime",
    "M": "dates",
    "S": "bytes",
    "T": "texts",
    "U": "texts",
    "V": "records",
}


def real_array(what: str, x: Any) -> np.ndarray:
    """Return a new array of doubles (objects, where N numbers are in place of one), or say what is wrong."""
    if type(x) is np.ndarray and x.dtype is _FLOAT:
        return x.copy()
    try:
        if type(x) in (tuple, list) and (array := np.array(x)).dtype is _FLOAT:
            return array
        array = _real(x)
        if array.dtype == object and any_varied(*array.flat):
            return real_table(array.flat).reshape(array.shape)
        return np.array(array, np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        ragged = "inhomogeneous" in str(error)
        why = "its rows have different lengths" if ragged else error
        raise ValueError(f"{what} {shown(x)} is not made of numbers: {why}") from None


def finite_array(what: str, x: Any) -> np.ndarray:
    """Return a new array of finite doubles, or say what is wrong with it."""
    if type(x) in (tuple, list) and any(hasattr(each, "as_number") for each in x):
        raise ValueError(f"{what} {shown(x)} has an input, which only laws read; give numbers")
    array = real_array(what, x)
    check = isfinite if array.dtype is _FLOAT else is_finite
    if not (np.isfinite(array).all() if array.size > _SMALL else all(map(check, array.ravel().tolist()))):
        raise ValueError(f"{what} {shown(x)} is not finite")
    return array


def is_real(x: Any) -> TypeGuard[float]:
    """Return whether it is one real number: no text, truth value, complex number, date or sequence."""
    if isinstance(x, float | int):
        return not isinstance(x, bool)
    if isinstance(x, np.ndarray | np.generic):
        return x.ndim == 0 and x.dtype.kind in "fiu"
    return isinstance(x, Varied | Real | Decimal)


def is_finite(x: Any) -> TypeGuard[float]:
    """Return whether it is one finite real number."""
    if isinstance(x, Varied):
        return finite(x)
    try:
        return is_real(x) and isfinite(x)
    except OverflowError:  # a whole number of more than 308 digits
        return False


def shown(x: Any) -> str:
    """Print what was given as short as it takes to recognise it."""
    text = " ".join(repr(x).split())
    return text if len(text) <= 120 else f"{text[:100]}... ({type(x).__name__})"


def _real(x: Any) -> Any:
    """Return something that NumPy makes doubles of; TypeError says what it is instead."""
    if x is None:
        raise TypeError("it is missing; give numbers")
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("it is masked; give x.filled(...)")
    if hasattr(x, "__next__"):
        raise TypeError("it can be read only once; give a list of it")
    array = np.asarray(x)
    kind = array.dtype.kind
    if kind == "O":
        for each in array.flat:
            if each is None or isinstance(each, str | bytes | bool | complex):
                raise TypeError(f"{each!r} is among them")
    elif kind in _KINDS:
        raise TypeError(f"these are {_KINDS[kind]}")
    return array
