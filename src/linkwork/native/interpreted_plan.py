"""A walk over records in Python, for formulas with functions in them that must be called.

It reads and writes what the native walk of the same formulas would (`emit.walk`), for every record and lane.
"""

import ctypes
import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from linkwork.native.emit import Pointer, Store
from linkwork.trace.graph_walks import reachable
from linkwork.trace.schedule import Schedule

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def must_be_called(stores: Sequence[Store]) -> bool:
    """Whether there is anything in formulas that cannot be native."""
    return any(x.op == "called" for x in reachable(x for _, _, x in stores))


class InterpretedWalk:
    """A kernel in Python; `address` is that of its function. Keep it as long as that is used."""

    def __init__(
        self,
        lanes: int,
        ports: Sequence[str],
        scalars: Collection[str],
        pointers: Sequence[Pointer],
        stores: Sequence[Store],
        failed: Callable[[BaseException, float], None],
    ) -> None:
        numbers = {name: k for k, name in enumerate(ports)}
        self._places = {p.base: (numbers[p.port], p, 1 if p.port in scalars else lanes) for p in pointers}
        self._lanes, self._failed = lanes, failed
        self._targets = [(base, k) for base, k, _ in stores]
        self._formulas = Schedule([x for _, _, x in stores])
        self._callback = _KERNEL(self._run)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _run(self, ports: int, records: int, count: int, step: int) -> None:
        for n in range(count):
            record = (ctypes.c_int64 * step).from_address(records + 8 * step * n)
            for lane in range(self._lanes):
                self._one(ports, record, lane)

    def _one(self, ports: int, record: Any, lane: int) -> None:
        def number(base: str, k: int) -> ctypes.c_double:
            port, pointer, width = self._places[base]
            start = ctypes.c_int64.from_address(ports + 8 * port).value
            element = pointer.place(record) + k
            return ctypes.c_double.from_address(start + 8 * (element * width + (lane if width > 1 else 0)))

        try:
            values = [float(x) for x in self._formulas.run(lambda s: number(*s.args[0]).value)]
        except BaseException as error:  # the run stops at what is not finite, and then reports this
            self._failed(error, number("t", 0).value if "t" in self._places else math.nan)
            values = [math.nan] * len(self._targets)
        for (base, k), value in zip(self._targets, values, strict=True):
            number(base, k).value = value
