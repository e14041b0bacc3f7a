"""Control flow as native code: the decorators of functions that Numba's front end compiles, and their verbs.

Formulas are traced; loops with decisions are functions of these kinds:

    native          a part, which native code calls; it is optimised together with the entry that calls it
    native_apart    a large part that is called from several places: it stays one function
    native_within   a part that is copied into whatever calls it
    native_linked   a part so large that it is an object by itself, compiled once for all entries that call it
    entry           what Python calls

Numba is a compiler here, not a companion at run time: an entry is an object in the store like any kernel, and
a process that finds it there never imports Numba. So the names below are markers, which Numba's front end
asks for their meaning (`_numba_type_`) when it meets them; what they mean is in `numba_intrinsics`.

Arithmetic is strict, nothing runs in parallel by itself, the interpreter's lock is not held, and an index out
of range is our own mistake: code that fills an array asks for its length first.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.lazy import LOCK
from linkwork.native.loop_entry import Entry, Linked, Named


class Part:
    """A function that native code calls; `how` is "part", "apart" or "within"."""

    def __init__(self, function: Callable[..., Any], how: str, *, any_constant: bool = False):
        self.function, self.how, self.any_constant = function, how, any_constant
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._dispatcher: Any = None

    @property
    def _numba_type_(self) -> Any:
        with LOCK:
            if self._dispatcher is None:
                from linkwork.native import numba_front_end

                self._dispatcher = numba_front_end.part(self.function, self.how, self.any_constant)
            return self._dispatcher._numba_type_


class Intrinsic:
    """A function that is written as LLVM code: `name`, of `module`, given some parameters."""

    def __init__(self, module: str, name: str, *parameters: Any):
        self._where, self._type = (module, name, parameters), None

    @property
    def _numba_type_(self) -> Any:
        with LOCK:
            if self._type is None:
                from linkwork.native import numba_front_end

                self._type = numba_front_end.intrinsic_type(*self._where)
            return self._type


def native(function: Callable[..., Any]) -> Any:
    """Compile a function that native code calls; it becomes a part of the entry that calls it."""
    return Part(function, "part")


def native_apart(function: Callable[..., Any]) -> Any:
    """Compile a large function that is called from several places: it stays one, and compiles once."""
    return Part(function, "apart")


def native_within(function: Callable[..., Any]) -> Any:
    """Compile a function that is called so often that the call itself would count: it is copied there."""
    return Part(function, "within")


def for_any_constant(part: Part) -> Any:
    """Return a part that is compiled once for all constants of a type; by itself Numba does it for each."""
    return Part(part.function, part.how, any_constant=True)


def entry(result: str | None, *arguments: str | Named) -> Callable[[Callable[..., Any]], Entry]:
    """Compile a function that Python calls: at its first call, unless its object exists already.

    `result` is "int64", "float64" or None; an argument is "int64", "float64", an array such as
    "float64[:, ::1]" (contiguous, of any numbers), or `Named`, a named tuple of these.
    """

    def decorate(function: Callable[..., Any]) -> Entry:
        return Entry(function, result, arguments)

    return decorate


def native_linked(result: str | None, *arguments: str | Named) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that native code calls, as an object by itself, to which its callers are linked.

    Types are those of `entry`, with pointers, "int64*" and "float64*", in place of arrays. It must not raise.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        return Linked(function, result, arguments)

    return decorate


def _verb(name: str) -> Any:
    return Intrinsic("linkwork.native.numba_intrinsics", name)


def record(layout: np.dtype[np.void]) -> Any:
    """Return a function that native code calls for the record of this layout at an address."""
    return Intrinsic("linkwork.native.numba_intrinsics", "record", layout)


add_scaled = _verb("add_scaled")  # (x, i, n, f, y, j): x[i + k] <- x[i + k] + f y[j + k], k < n, rounded once
add_two = _verb("add_two")  # (x, i, n, f, y, j, g, z, k): the same of two rows, one after the other
bits = _verb("bits")  # (x): the 64 bits of a double as an integer
boxes_met = _verb("boxes_met")  # (numbers, i, k, j): which of eight boxes meet box k of group i, as bits
call = _verb("call")  # (address, plan, ports): call `void (*)(int64, int64)` at an address
doubles = _verb("doubles")  # (address, size): the doubles at an address, x[i]; `size` is for the reader
from_bits = _verb("from_bits")  # (word): the double that has these 64 bits
integers = _verb("integers")  # (address, size): the 64-bit integers at an address
lowest_bit = _verb("lowest_bit")  # (word): the number of its lowest bit, if it is not zero
memory = _verb("memory")  # (array): its numbers, x[i], counted through all rows
