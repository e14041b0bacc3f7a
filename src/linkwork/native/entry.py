"""The way into native code: built-in functions for Python to call, made with LLVM, and the loops behind them.

The built-in functions check their NumPy arguments themselves (see `arguments`); on any doubt they do nothing
and return None, and the caller takes the slow way, which converts or explains. One call costs some 0.1 us
this way; taking `.ctypes.data` of four arrays alone costs 4.7.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from linkwork.lazy import computed_once
from linkwork.native import batch_text, entry_text, plan_text, store
from linkwork.native.built_in_functions import BuiltIn, provide, table


@computed_once
def _functions() -> dict[str, int]:
    """Compile (or load) the loops and the entries, and return their addresses."""
    provide(("Py_IncRef", "PyEval_SaveThread", "PyEval_RestoreThread"))
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


def walker(lanes: int) -> int:
    """Return the address of `run` for one mechanism or for lanes of them."""
    return _functions()["run1" if lanes == 1 else "run"]


@computed_once
def _built_ins() -> dict[str, BuiltIn]:
    doc = "Run on arrays; None if they need a closer look, False if the result is not finite."
    return {part: BuiltIn(part, _functions()[part], doc) for part in ("call", "many")}


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
    work = np.zeros(work_size)  # what remembers something begins with nothing
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
    return _built_ins()[part].of(spec, keep=(*tables, keep))
