"""The decorators of this package's parts: one part for any constant.

Numba compiles a function anew for each constant that it is called with, `row(W, 0)` and `row(W, 1)`, which
took a quarter of the time of the first query. What gains by it takes `native` of `numba_functions`.
"""

from collections.abc import Callable
from typing import Any

from linkwork.native import numba_functions


def native(function: Callable[..., Any]) -> Any:
    """Compile a function that native code calls; it becomes a part of the entry that calls it."""
    return numba_functions.for_any_constant(numba_functions.native(function))


def native_apart(function: Callable[..., Any]) -> Any:
    """Compile a large function that is called from several places: it stays one, and compiles once."""
    return numba_functions.for_any_constant(numba_functions.native_apart(function))


def native_within(function: Callable[..., Any]) -> Any:
    """Compile a function with many arguments for fast loops: it is copied into what calls it, however large.

    Handing over two shapes and where they are takes as long as the support function itself.
    """
    return numba_functions.for_any_constant(numba_functions.native_within(function))
