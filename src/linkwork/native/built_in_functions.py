"""Built-in functions for Python to call, made of native code: METH_FASTCALL, of a table of integers."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.native import store

_METH_FASTCALL = 0x0080


class _Table(np.ndarray):
    """A table of addresses that keeps alive what it points to."""

    keep: tuple[Any, ...]


def table(addresses: Sequence[int], keep: tuple[Any, ...]) -> np.ndarray:
    """Return addresses and other integers as an array that keeps some objects alive."""
    made = np.array(addresses, np.int64).view(_Table)
    made.keep = keep
    return made


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = (ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p)


class BuiltIn:
    """Native code  `PyObject *(self, args, nargs)`  at an address, whose self is a table of integers."""

    def __init__(self, name: str, address: int, doc: str):
        self._method = _MethodDef(name.encode(), address, _METH_FASTCALL, doc.encode())

    def of(self, spec: Sequence[int], keep: tuple[Any, ...]) -> Any:
        """Return the built-in function of a table, which keeps some objects alive."""
        return _new_function(ctypes.byref(self._method), table(spec, (self, *keep)), None)


def provide(functions: Sequence[str]) -> None:
    """Make functions of the interpreter known to native code loaded from now on."""
    store.provide({name: _address(getattr(ctypes.pythonapi, name)) for name in functions})


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
