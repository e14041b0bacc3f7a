"""A formula as native code on arrays: what tests use to look at single numbers that compiled code gives."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.native import emit, store
from linkwork.native.emit import Pointer
from linkwork.trace.expression import Graph

Formula = Callable[..., Any]  # of numbers, to one number or a sequence of them


def traced(formula: Formula, inputs: int) -> list[Any]:
    """Run a formula on symbols ("x", k) and return its results."""
    results = formula(*Graph().symbols(("x", k) for k in range(inputs)))
    return list(results) if isinstance(results, Sequence) else [results]


def native_function(formula: Formula, inputs: int, lanes: int = 1) -> Callable[..., np.ndarray]:
    """Compile formula(x0, x1, ...) and return it as a function of `inputs` arrays (or numbers) of one shape.

    The result has one axis more than the arguments, the first, with the formula's results.
    `lanes` of the points are computed at once; a last block that is not full repeats the last point.
    """
    roots = traced(formula, inputs)
    pointers = [Pointer("x", "in", 0), Pointer("y", "out", 1)]
    stores = [("y", k, root) for k, root in enumerate(roots)]
    text = emit.module(lanes, [emit.walk("NAME", lanes, ("in", "out"), (), pointers, stores)])
    name = store.digest("test", text)
    store.load(name, lambda: (text.replace("NAME", f"f_{name}"), {}))
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    run = ctypes.CFUNCTYPE(None, pointer, pointer, integer, integer)(store.address(f"f_{name}"))

    def call(*arguments: ArrayLike) -> np.ndarray:
        points = np.array(np.broadcast_arrays(*(np.asarray(a, float) for a in arguments)))
        shape = points.shape[1:]
        points = points.reshape(inputs, -1)
        total = points.shape[1]
        blocks = -(-total // lanes)
        full = points[:, np.minimum(np.arange(blocks * lanes), total - 1)]
        x = np.ascontiguousarray(full.reshape(inputs, blocks, lanes).transpose(1, 0, 2))
        y = np.empty((blocks, len(roots), lanes))
        records = np.arange(blocks)[:, None] * np.array([inputs, len(roots)])
        ports = np.array([x.ctypes.data, y.ctypes.data], np.int64)
        run(ports.ctypes.data, np.ascontiguousarray(records, np.int64).ctypes.data, blocks, 2)
        return y.transpose(1, 0, 2).reshape(len(roots), -1)[:, :total].reshape(-1, *shape)

    return call
