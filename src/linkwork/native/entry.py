"""The way into native code: built-in functions for Python to call, made with LLVM, and the loops behind them.

The built-in functions check their NumPy arguments themselves (see `arguments`); on any doubt they do nothing
and return None, and the caller takes the slow way, which converts or explains. One call costs some 0.1 us
this way; taking `.ctypes.data` of four arrays alone costs 4.7.
"""

import ctypes
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from linkwork.lazy import computed_once
from linkwork.native import batch_text, entry_text, plan_text, store

_METH_FASTCALL = 0x0080


class _Table(np.ndarray):
    """A table of addresses that keeps alive what it points to."""

    keep: tuple[Any, ...]


def table(addresses: Sequence[int], keep: tuple[Any, ...]) -> np.ndarray:
    """Return addresses and other integers as an array that keeps some objects alive."""
    made = np.array(addresses, np.int64).view(_Table)
    made.keep = keep
    return made


@computed_once
def _functions() -> dict[str, int]:
    """Compile (or load) the loops and the entries, and return their addresses."""
    called = ("Py_IncRef", "PyEval_SaveThread", "PyEval_RestoreThread")
    store.provide({name: _address(getattr(ctypes.pythonapi, name)) for name in called})
    lanes = store.lanes()
    name = store.digest("entry", lanes, entry_text.LAYOUT)

    def build() -> tuple[str, dict[str, Any]]:
        loops = [
            plan_text.text(f"run1_{name}", 1),
            plan_text.text(f"run_{name}", lanes),
            batch_text.text(f"batch_{name}", lanes),
        ]
        return "\n".join([entry_text.text(name), *loops]), {}

    store.load(name, build, optimize=True)
    return {part: store.address(f"{part}_{name}") for part in ("run1", "run", "call", "many")}


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def walker(lanes: int) -> int:
    """Return the address of `run` for one mechanism or for lanes of them."""
    return _functions()["run1" if lanes == 1 else "run"]


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@computed_once
def _methods() -> dict[str, _MethodDef]:
    doc = b"Run on arrays; None if they need a closer look, False if the result is not finite."
    return {
        part: _MethodDef(part.encode(), _functions()[part], _METH_FASTCALL, doc) for part in ("call", "many")
    }


def single_call(
    run: int,
    steps: np.ndarray,
    data: np.ndarray,
    shapes: Sequence[tuple[int, ...]],
    inputs: int,
    work_size: int,
    keep: object,
) -> Any:
    """Return a built-in function of arrays of these shapes, inputs first, for a kernel `run(plan, ports)`.

    It keeps `keep` alive, which owns what steps (the plan) and data point to. One call at a time uses its
    scratch memory, since the interpreter's lock is held.
    """
    work = np.empty(work_size)
    return _built_in("call", run, (steps, data, work), shapes, inputs, keep)


def batch_call(
    run: int,
    steps: np.ndarray,
    places: Sequence[np.ndarray],
    shapes: Sequence[tuple[int, ...]],
    inputs: int,
    keep: object,
) -> Any:
    """Return a built-in function of a thread's room and of arrays with one more leading axis.

    The room is a table of pointers: to constants, scratch memory, room in lanes for each array; and one more
    for each result, set to where a block's rows of it will go.
    """
    widths = np.array([prod(shape) for shape in shapes], np.int64)
    where = table([p.ctypes.data for p in places], keep=tuple(places))
    return _built_in("many", run, (steps, widths, where), shapes, inputs, keep)


def _built_in(
    part: str,
    run: int,
    tables: Sequence[np.ndarray],
    shapes: Sequence[tuple[int, ...]],
    inputs: int,
    keep: object,
) -> Any:
    if len(shapes) > entry_text.MOST_ARRAYS or any(len(shape) > 3 for shape in shapes):
        raise ValueError(f"too many arrays or dimensions: {shapes}")
    spec = [id(np.ndarray), id(np.dtype(np.float64)), id(None), id(False), len(shapes), inputs, run]
    spec += [array.ctypes.data for array in tables]
    spec += [0] * (entry_text.HEAD - len(spec))
    for k, shape in enumerate(shapes):
        dims = [*shape, *[0] * (3 - len(shape))]
        spec += [len(shape), *dims, prod(shape), entry_text.READABLE if k < inputs else entry_text.WRITABLE]
    fixed = table(spec, keep=(*tables, keep))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p)
    return make(ctypes.byref(_methods()[part]), fixed, None)
