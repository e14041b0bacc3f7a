"""Rolled: the passes of an algorithm traced on one link of a kind, whose numbers lie somewhere in memory.

What a pass computes and a later pass of the same link asks for is kept in the link's block of the work array,
number by number; constants and what can be read again from data or inputs are not.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from linkwork.dynamics.algorithm import QD, Algorithm, Pass, Port, Q, Rows
from linkwork.dynamics.link_view import (
    LinkLayout,
    Read,
    View,
    constituents,
    flatten,
    like,
    port_value,
    type_size,
    typed,
)
from linkwork.native.emit import Store
from linkwork.trace.expression import Expr, Graph, Operand
from linkwork.tree.joint_formula import JointFormula
from linkwork.tree.tree import DataLayout


class RolledKind:
    """The passes of an algorithm traced on one link of a kind: stores per pass, size of the link's block."""

    def __init__(self, algorithm: Algorithm, kind: JointFormula, layout: LinkLayout):
        self.algorithm, self.kind, self.layout = algorithm, kind, layout
        self.graph = Graph()
        self.block = layout.size + kind.nv * layout.stride
        self.passes: list[list[Store]] = []
        self._kept: dict[str, tuple[Any, list[Operand]]] = {}  # the link's own fields so far
        self._slots: dict[int, int] = {}  # places of own numbers that later passes ask for, by expression
        self._made: dict[int, int] = {}  # the pass an expression of an own field was made in
        self._written: list[set[str]] = []  # per pass: shared fields set, on the link or on its partner
        self._handed: list[set[str]] = []  # per pass: shared fields set on the partner
        self._inputs = {port.name: port for port in algorithm.inputs}
        self._outputs = {port.name for port in algorithm.outputs}
        q = self._input(Q)
        v = self._input(QD) if QD.name in self._inputs else [0.0] * kind.nv
        n = DataLayout.of(kind.algebra, kind.nv).parameters + kind.n_parameters
        data = self.graph.symbols(("data", k) for k in range(n))
        self._made_of = constituents(kind, data, q, v)
        for step in algorithm.walks:
            if isinstance(step, Pass):
                self._trace(step)
            else:
                self._trace_rows(step)
        for index, slot in self._slots.items():
            if index in self._made:
                self.passes[self._made[index]].append(("self", slot, self.graph.nodes[index]))

    def _input(self, port: Port) -> list[Operand]:
        count = port.count(self.kind.nq, self.kind.nv, self.kind.algebra)
        if port.name in self.algorithm.zero:
            return [0.0] * count
        return list(self.graph.symbols((port.name, k) for k in range(count)))

    def _trace(self, step: Pass) -> None:
        stores: list[Store] = []
        own: dict[str, Any] = {}  # fields of the link alone, read or set in this pass
        written: dict[str, Any] = {}  # shared fields set in this pass
        assigned: set[str] = set()
        partner: dict[str, Any] = {}
        number = len(self.passes)
        self._written.append(set())
        self._handed.append(set())

        def read_own(name: str) -> Any:
            if name in written:
                return written[name]
            if name in self.layout.offsets or name in self._inputs:
                return self._read(name, read_own)
            if name not in own:
                own[name] = self._read(name, read_own)
            return own[name]

        def write_own(name: str, value: Any) -> None:
            if name in self._outputs:
                stores.extend((name, k, x) for k, x in enumerate(flatten(value)))
            elif name in self.layout.offsets:
                written[name] = value
                self._written[number].add(name)
                stores.extend(("self", k, x) for k, x in zip(self._places(name), flatten(value), strict=True))
            else:
                own[name] = value
                assigned.add(name)

        def read_partner(name: str) -> Any:
            if name not in partner:
                partner[name] = self._shared("partner", name)
            return partner[name]

        def write_partner(name: str, value: Any) -> None:
            partner[name] = value
            self._written[number].add(name)
            self._handed[number].add(name)
            stores.extend(("partner", k, x) for k, x in zip(self._places(name), flatten(value), strict=True))

        step.step(View(read_own, write_own), View(read_partner, write_partner))
        self.passes.append(_last(stores))
        self._keep(own, assigned, number)

    def _trace_rows(self, step: Rows) -> None:
        """Trace a row's way past a link; the stores to "beyond" are to be added to what is there, or not.

        On ground there is nothing beyond: what is stored there instead ends in "right at ground".
        """
        Force = self.kind.algebra.Force
        own: dict[str, Any] = {}  # what is made here is not kept: rows are not alone in a register
        stores: list[Store] = []
        row: dict[str, Any] = {
            "F": Force.from_scalars(self.graph.symbols(("row", k) for k in range(Force.size))),
            "direct": list(self.graph.symbols(("direct", k) for k in range(self.kind.nv))),
            "right": self.graph.symbol(("right", 0)),
        }
        self._written.append(set())
        self._handed.append(set())

        def read_own(name: str) -> Any:
            if name not in own:
                own[name] = self._read(name, read_own)
            return own[name]

        def write_row(name: str, value: Any) -> None:
            row[name] = value
            stores.extend((name, k, x) for k, x in enumerate(flatten(value)))

        def refuse(name: str, value: Any = None) -> None:
            raise AttributeError(f"algorithm {self.algorithm.name}: rows do not change links ({name!r})")

        def hand_on(name: str, value: Any) -> None:
            stores.extend(("beyond", k, x) for k, x in enumerate(flatten(value)))
            world = View(lambda field: self._shared("partner", field), refuse)
            ended: dict[str, Any] = {**row, "F": value}
            step.at_root(world, View(ended.__getitem__, ended.__setitem__))
            stores.append(("right at ground", 0, ended["right"]))

        step.step(View(read_own, refuse), View(row.__getitem__, write_row), View(refuse, hand_on))
        self.passes.append(_last(stores))

    def _keep(self, own: dict[str, Any], assigned: set[str], number: int) -> None:
        """Remember the link's own fields that a pass has read or set."""
        for name, value in own.items():
            if (name in assigned or name not in self._kept) and name not in ("algebra", "reverse"):
                scalars = flatten(value)
                self._kept[name] = value, scalars
                for x in scalars:
                    if isinstance(x, Expr):
                        self._made.setdefault(x.index, number)

    def _places(self, name: str) -> list[int]:
        return self.layout.places(self.algorithm, self.kind.algebra, name, self.kind.nv)

    def _shared(self, base: str, name: str) -> Any:
        symbols = self.graph.symbols((base, k) for k in self._places(name))
        return typed(self.kind.algebra, self.algorithm.shared[name], symbols)

    def _columns(self, name: str) -> list[Any]:
        algebra, kind = self.kind.algebra, self.algorithm.columns[name]
        symbols = self.graph.symbols(("self", k) for k in self._places(name))
        size = type_size(algebra, kind)
        return [typed(algebra, kind, symbols[k * size : (k + 1) * size]) for k in range(self.kind.nv)]

    def _read(self, name: str, read: Read) -> Any:
        port = self._inputs.get(name)
        if port is not None:
            return port_value(port, self.kind.algebra, self._input(port))
        if name in self.algorithm.shared:
            return self._shared("self", name)
        if name in self.algorithm.columns:
            return self._columns(name)
        if name in self._kept:
            value, scalars = self._kept[name]
            return like(value, [self._again(x) for x in scalars])
        if name in self._made_of:
            return self._made_of[name](read)
        raise AttributeError(f"algorithm {self.algorithm.name}: a link has no field {name!r} yet")

    def _again(self, x: Operand) -> Operand:
        """Return a number of an earlier pass: known, or read where it lies, or kept in a slot of its own."""
        if not isinstance(x, Expr):
            return x
        if x.op == "symbol" and (x.args[0][0] not in ("self", "partner") or self._stable(x)):
            return x
        if x.index not in self._slots:
            self._slots[x.index] = self.block
            self.block += 1
        return self.graph.symbol(("self", self._slots[x.index]))

    def _stable(self, x: Expr) -> bool:
        """Return whether a number read from the link's own block still is what it was."""
        base, place = x.args[0]
        if base != "self":
            return False
        if place >= self.layout.size:
            return True  # a slot, or a column: written once
        name = max(
            (n for n, o in self.layout.offsets.items() if o <= place), key=self.layout.offsets.__getitem__
        )
        made = self._made[x.index]
        by_children = name in self._handed[made] and self.algorithm.walks[made].order == "outward"
        return not by_children and not any(name in fields for fields in self._written[made + 1 :])


def _last(stores: Sequence[Store]) -> list[Store]:
    """Keep the last store to each place."""
    return list({(base, k): (base, k, value) for base, k, value in stores}.values())


def trace_world(algorithm: Algorithm, algebra: ModuleType, layout: LinkLayout, finish: bool) -> list[Store]:
    """Trace `start` or `finish` on the world."""
    graph = Graph()
    stores: list[Store] = []
    outputs = {port.name for port in algorithm.outputs}

    def read(name: str) -> Any:
        if name == "algebra":
            return algebra
        if name == "gravity":
            return graph.symbols(("data", k) for k in range(algebra.dimension))
        kind = algorithm.shared[name]
        first, size = layout.offsets[name], 1 if kind is None else getattr(algebra, kind).size
        return typed(algebra, kind, graph.symbols(("self", first + k) for k in range(size)))

    def write(name: str, value: Any) -> None:
        base, first = (name, 0) if name in outputs else ("self", layout.offsets[name])
        stores.extend((base, first + k, x) for k, x in enumerate(flatten(value)))

    step = algorithm.finish if finish else algorithm.start
    assert step is not None
    step(View(read, write))
    return stores


def world_fields(algorithm: Algorithm, algebra: ModuleType, layout: LinkLayout) -> set[str]:
    """Return the shared fields that ground keeps: those `start` sets; others handed to it are dropped."""
    if algorithm.start is None:
        return set()
    places = {k for base, k, _ in trace_world(algorithm, algebra, layout, finish=False) if base == "self"}
    return {name for name, first in layout.offsets.items() if first in places}
