"""Equations of a whole mechanism as native code: `run(plan, ports)`, one walk per structure.

Ports, in this order: data, u, ref, q, v, X, phi, phi_q, velocity, acceleration, located. A record says where
the numbers of one thing are in each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.kinematics.equations import Equations
from linkwork.native import emit, entry, store
from linkwork.native.emit import Pointer, Store
from linkwork.native.interpreted_plan import InterpretedWalk, must_be_called
from linkwork.trace.expression import Graph

PORTS = ("data", "u", "ref", "q", "v", "X", "phi", "phi_q", "velocity", "acceleration", "located")
_SCALARS = ("data", "parameter")
# columns of a record, before those of its bodies: frame, coordinates, velocities
_DATA, _U, _REF, _OWN, _OWN_RATE, _ROW, _ENTRY = range(7)
HEAD = 7


@dataclass(frozen=True, eq=False)
class Walks:
    """Tables for the loop over plans: one for positions (X, phi, phi_q), one for rates."""

    run: int  # address of void run(int64* plan, double** ports)
    positions: np.ndarray
    rates: np.ndarray  # X, velocity, acceleration, located
    keep: tuple[Any, ...]


def walks(
    algebra: ModuleType, bodies: int, things: Sequence[tuple[Equations, Sequence[int]]], lanes: int = 1
) -> Walks:
    """Compile what evaluates all equations, given per thing the record of its places."""
    names = [_body_kernel(algebra, lanes)]
    frames = np.array(
        [(algebra.Frame.size * k, algebra.coordinates * k) for k in range(bodies)], np.int64
    ).reshape(-1, 2)
    groups: dict[Equations, list[Sequence[int]]] = {}
    for equations, record in things:
        groups.setdefault(equations, []).append(record)
    first = (store.address(names[0]), frames.ctypes.data, bodies, 2)
    plans: list[list[int]] = [list(first) if bodies else [], list(first) if bodies else []]
    keep: list[Any] = [frames]
    for equations, rows in groups.items():
        records = np.array(rows, np.int64)
        keep.append(records)
        if must_be_called([store for stores in _stores(equations) for store in stores]):
            addresses = [_interpreted(equations, lanes, stores, keep) for stores in _stores(equations)]
        else:
            addresses = [store.address(kernel) if kernel else 0 for kernel in _kernels(equations, lanes)]
        for plan, address in zip(plans, addresses, strict=True):
            if address:
                plan += [address, records.ctypes.data, len(records), records.shape[1]]
    tables = [np.array([len(plan) // 4, 0, *plan], np.int64) for plan in plans]
    return Walks(entry.walker(lanes), tables[0], tables[1], tuple(keep))


def _body_kernel(algebra: ModuleType, lanes: int) -> str:
    """Make what turns coordinates of a body into its frame."""
    name = "frames_" + store.digest("kinematics frames", algebra.__name__, lanes)

    def build() -> tuple[str, dict[str, Any]]:
        graph = Graph()
        X = algebra.pose(graph.symbols(("q", k) for k in range(algebra.coordinates)))
        stores = [("X", k, x) for k, x in enumerate(X.scalars())]
        pointers = [Pointer("X", "X", 0), Pointer("q", "q", 1)]
        return emit.module(lanes, [emit.walk(name, lanes, PORTS, _SCALARS, pointers, stores)]), {}

    store.load(name.removeprefix("frames_"), build)
    return name


def _kernels(equations: Equations, lanes: int) -> list[str]:
    """Make the kernels of one structure, for positions and for rates; "" where there is nothing to do."""
    name = store.digest("kinematics", equations.signature, lanes)
    names = [f"position_{name}", f"rates_{name}"]

    def build() -> tuple[str, dict[str, Any]]:
        functions = []
        for kernel, stores in zip(names, _stores(equations), strict=True):
            if stores:
                functions.append(emit.walk(kernel, lanes, PORTS, _SCALARS, _pointers(equations), stores))
        return emit.module(lanes, functions), {}

    if not equations.phi:
        return ["", ""]
    store.load(name, build)
    return names


def _interpreted(equations: Equations, lanes: int, stores: list[Store], keep: list[Any]) -> int:
    """Return the address of a kernel in Python, 0 if there is nothing to do."""
    if not stores:
        return 0
    keep.append(InterpretedWalk(lanes, PORTS, _SCALARS, _pointers(equations), stores, lambda error, t: None))
    return keep[-1].address


def _stores(equations: Equations) -> tuple[list[Store], list[Store]]:
    def stored(base: str, values: Sequence[Any]) -> list[Store]:
        return [(base, k, x) for k, x in enumerate(values)]

    return [*stored("phi", equations.phi), *stored("phi_q", equations.phi_q)], [
        *stored("velocity", equations.velocity),
        *stored("acceleration", equations.acceleration),
        *stored("located", equations.located),
    ]


def _pointers(equations: Equations) -> list[Pointer]:
    found = [
        Pointer("data", "data", _DATA),
        _Parameters("parameter", "data", _DATA, equations.data),
        Pointer("u", "u", _U),
        Pointer("ref", "ref", _REF),
        Pointer("located", "located", _REF),
        Pointer("s", "q", _OWN),
        Pointer("w", "v", _OWN_RATE),
        Pointer("phi", "phi", _ROW),
        Pointer("velocity", "velocity", _ROW),
        Pointer("acceleration", "acceleration", _ROW),
        Pointer("phi_q", "phi_q", _ENTRY),
    ]
    for b in range(equations.bodies):
        column = HEAD + 3 * b
        found += [Pointer(f"{word}{b}", word, column + k) for k, word in enumerate(("X", "q", "v"))]
    return found


@dataclass(frozen=True)
class _Parameters(Pointer):
    """Where the parameters are: behind the data of a thing, by a number of elements."""

    def place(self, record: Sequence[int]) -> int:
        return record[self.column or 0] + self.scale

    def code(self, body: Any, record: str) -> None:
        at = body.value(f"getelementptr i64, ptr {record}, i64 {self.column}")
        offset = body.value(f"load i64, ptr {at}")
        moved = body.value(f"add i64 {offset}, {self.scale}")
        body.lines.append(f"  %{self.base} = getelementptr double, ptr %port_{self.port}, i64 {moved}")
