"""Which code is taken as it is, and which objects hold what Python cannot see."""

import sys
import types
from typing import Any

import numpy as np

_LIBRARIES = frozenset(
    {"numpy", "scipy", "linkwork", "numba", "llvmlite", "mpmath", "matplotlib", "pandas", "sympy", "xarray"}
)
_TRUSTED = (_LIBRARIES | frozenset(sys.stdlib_module_names)) - {"__main__", "test"}  # names of users, too
_FIELD = object.__basicsize__ // 2  # bytes of a pointer


def trusted(thing: Any) -> bool:
    module = getattr(thing, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in _TRUSTED


def is_trusted_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] in _TRUSTED


def is_frozen(array: np.ndarray) -> bool:
    """Whether nothing can write to an array: it is read-only, and so is what it is a view of."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, bytes)


def slots(kind: type) -> tuple[types.MemberDescriptorType, ...]:
    """Return the slots that a class adds; by what reads them, since `__name` is kept under another word."""
    if "__slots__" not in vars(kind):
        return ()
    return tuple(each for each in vars(kind).values() if isinstance(each, types.MemberDescriptorType))


def is_opaque(kind: type) -> bool:
    """Whether objects of a class hold more than Python can see: C code has added fields to a base of it.

    A class of Python adds to the size of its objects what its slots take, and up to two more fields.
    """
    if not kind.__dictoffset__ and not any(map(slots, kind.__mro__)):
        return kind is not object
    grown = (
        (each, each.__basicsize__ - each.__base__.__basicsize__) for each in kind.__mro__ if each.__base__
    )
    return any(more > _FIELD * (len(slots(each)) + 2) for each, more in grown)
