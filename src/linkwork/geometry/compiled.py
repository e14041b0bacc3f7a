"""Functions of plain numbers and tuples that compiled code calls; from Python they are what they are.

What a solid knows of touching is written beside all else that it is, in its own file, and becomes a part of
the loops in `contact`. Until those are compiled no compiler is needed: a function here is a marker, which
the compiler asks for its type when it meets it.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any


class Compiled:
    """A function that compiled code calls; `how` is its decorator there, of `native.numba_functions`."""

    def __init__(self, function: Callable[..., Any], how: str) -> None:
        self._function, self._how, self._part = function, how, None
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    @property
    def _numba_type_(self) -> Any:
        if self._part is None:
            from linkwork.native import numba_functions

            decorated = getattr(numba_functions, self._how)(self._function)
            self._part = numba_functions.for_any_constant(decorated)
        return self._part._numba_type_


def compiled(function: Callable[..., Any]) -> Any:
    """Mark a function that compiled code calls."""
    return Compiled(function, "native")


def compiled_apart(function: Callable[..., Any]) -> Any:
    """Mark a large one that is called from several places: it stays one function."""
    return Compiled(function, "native_apart")


def compiled_within(function: Callable[..., Any]) -> Any:
    """Mark one that is called so often that the call itself would count: it is copied there."""
    return Compiled(function, "native_within")
