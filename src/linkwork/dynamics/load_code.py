"""Native code of loads: kernels over records like those of links; a law that is kept as Python is called.

A record says where a load's parameters are, where it shows its numbers, for each side where the link's
block, the link's row and the joint's coordinates are, and which inputs it reads.
"""

import ctypes
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.link_view import LinkLayout
from linkwork.mechanism.input import Input
from linkwork.native import emit, store
from linkwork.native.emit import Pointer, Store
from linkwork.native.tangent import tangent_pointers, with_tangents
from linkwork.trace.expression import Graph
from linkwork.trace.graph_walks import evaluate
from linkwork.tree.load_action import LoadNumbers, Outcome, act
from linkwork.tree.load_formula import LoadFormula, PlacedLoad
from linkwork.tree.purity import differ, two_answers
from linkwork.tree.tree import Tree

_HEAD = 2  # columns before those of the sides: parameters, shown
_SIDE = 4  # columns of a side: block, row, q, v
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

raised = threading.local()  # .error: (name of the load, time, exception) of a law called in this thread

_AGAIN = 61  # calls after which a law that is called is asked twice; a prime, so that each lane has its turn
_MOST_KEPT = 64  # answers


@dataclass(frozen=True, eq=False)
class Answer:
    """What a law that is called said to some arguments."""

    placed: PlacedLoad
    numbers: LoadNumbers  # the arguments
    scalars: list[float]

    def check(self) -> None:
        """Ask again; NotAFunction if the answer is another now."""
        placed = self.placed
        outcome = act(placed.load, placed.algebra, placed.sides, placed.slices, self.numbers, placed.seen)
        if differ(self.scalars, scalars := outcome.scalars()):
            who = f"{placed.load.word} {placed.name!r}"
            raise two_answers(who, float(self.numbers.t), self.scalars, scalars)


class Answers(threading.local):
    """Some answers of laws that were called in this thread, if anybody wants them."""

    def __init__(self) -> None:
        self.kept: list[Answer] | None = None


answers = Answers()


@dataclass
class LoadCode:
    """Segments of a plan (kernel, records, count, step), and what they point to."""

    segments: list[tuple[int, int, int, int]] = field(default_factory=list)
    data: list[float] = field(default_factory=list)  # parameters, to follow the tree's constants
    keep: list[Any] = field(default_factory=list)


def load_code(
    algorithm: Algorithm,
    tree: Tree,
    layout: LinkLayout,
    starts: np.ndarray,
    lanes: int,
    ports: Sequence[str],
    constant: Sequence[str],
    tangent: bool,
) -> LoadCode:
    """Compile the loads of a tree for an algorithm; loads of one formula share a kernel and a segment."""
    code = LoadCode()
    groups: dict[str, list[tuple[PlacedLoad, list[int]]]] = {}
    shown = 0
    for number, placed in enumerate(tree.loads):
        row = [len(tree.data) + len(code.data), shown]
        for side in placed.sides:
            row += [int(starts[side.link]), side.link - 1, side.q.start, side.v.start]
        row += [tree.inputs.index(given.name) for given in placed.inputs]
        code.data += placed.formula.parameters if placed.formula else ()
        shown += placed.outputs
        key = placed.formula.signature if placed.formula else f"called {number}"
        groups.setdefault(key, []).append((placed, row))
    for members in groups.values():
        placed = members[0][0]
        records = np.array([row for _, row in members], np.int64)
        if placed.formula:
            shape = layout, lanes, ports, constant, tangent
            found = _native(algorithm, placed, placed.formula, tree, *shape)
            code.keep.append(found)
            kernel = found.address(found.meta["kernel"]) if found.meta["kernel"] else 0
        else:
            callback = _KERNEL(_Called(algorithm, placed, tree, layout, lanes, ports))
            code.keep.append(callback)
            kernel = ctypes.cast(callback, ctypes.c_void_p).value or 0
        if kernel:
            code.segments.append((kernel, records.ctypes.data, len(members), records.shape[1]))
            code.keep.append(records)
    return code


def _native(
    algorithm: Algorithm,
    placed: PlacedLoad,
    formula: LoadFormula,
    tree: Tree,
    layout: LinkLayout,
    lanes: int,
    ports: Sequence[str],
    constant: Sequence[str],
    tangent: bool,
) -> store.Apart:
    """Return the kernel of a formula, without a name if there is nothing to do."""
    offsets = {name: layout.offsets[name] for name in ("X_W", "v")}
    shape = list(ports), list(constant), sorted(offsets.items())
    name = store.digest("load", formula.signature, *shape, lanes, tangent)

    def build() -> tuple[str, dict[str, Any]]:
        stores = _stores(algorithm, formula, offsets)
        pointers = _pointers(algorithm, placed, tree.algebra.freedoms)
        if tangent:  # constants have no rates, whether lanes share them or not
            stores, pointers = with_tangents(stores, ("data",)), tangent_pointers(pointers, ("data",))
        text = emit.walk(f"load_{name}", lanes, ports, constant, pointers, stores) if stores else ""
        return emit.module(lanes, [text] if text else []), {"kernel": f"load_{name}" if stores else ""}

    return store.load_apart(name, build)


def _stores(algorithm: Algorithm, formula: LoadFormula, offsets: dict[str, int]) -> list[Store]:
    graph = Graph()
    there = {port.name for port in algorithm.ports}

    def place(symbol: Any) -> Any:
        name, k = symbol.args[0]
        if name == "parameter":
            return graph.symbol(("data", k))
        if name[0] == "X":
            return graph.symbol((f"b{name[1:]}", offsets["X_W"] + k))
        if name[0] == "v":
            return graph.symbol((f"b{name[1:]}", offsets["v"] + k))
        return graph.symbol((name, k))

    outcome = formula.outcome.like(evaluate(formula.outcome.scalars(), place))
    stores: list[Store] = []

    def add(base: str, k: int, value: Any) -> None:
        if not (isinstance(value, float) and value == 0.0):
            stores.append((base, k, graph.symbol((base, k)) + value))

    if "external" in there:
        for side, wrench in outcome.wrenches.items():
            for k, x in enumerate(wrench.scalars()):
                add(f"e{side}", k, x)
        for (side, k), force in outcome.forces.items():
            add("tau" if side < 0 else f"u{side}", k, force)
    if "shown" in there:
        stores += [("shown", k, x) for k, x in enumerate(outcome.outputs())]
    return stores


def _pointers(algorithm: Algorithm, placed: PlacedLoad, freedoms: int) -> list[Pointer]:
    """Return where all bases may point to, as far as the algorithm has such arrays."""
    found = [Pointer("data", "data", 0), Pointer("shown", "shown", 1)]
    found += [Pointer(name, name) for name in ("t", "q", "qd", "tau")]
    sides = len(placed.sides)
    found += [Pointer(f"i{k}", "inputs", _HEAD + _SIDE * sides + k) for k in range(len(placed.inputs))]
    for k in range(sides):
        block, row, q, v = range(_HEAD + _SIDE * k, _HEAD + _SIDE * (k + 1))
        found += [
            Pointer(f"b{k}", "work", block),
            Pointer(f"e{k}", "external", row, freedoms),
            Pointer(f"q{k}", "q", q),
            Pointer(f"qd{k}", "qd", v),
            Pointer(f"u{k}", "tau", v),
        ]
    names = {"data", "work", *(port.name for port in algorithm.ports)}
    return [pointer for pointer in found if pointer.port in names]


class _Called:
    """A kernel in Python: for every lane, take the numbers out of memory, call the law, add what it gives."""

    def __init__(
        self,
        algorithm: Algorithm,
        placed: PlacedLoad,
        tree: Tree,
        layout: LinkLayout,
        lanes: int,
        ports: Sequence[str],
    ):
        self._placed, self._lanes, self._ports = placed, lanes, {name: k for k, name in enumerate(ports)}
        self._offsets = layout.offsets
        self._nq, self._nv, self._freedoms = tree.nq - tree.unknowns, tree.nv, tree.algebra.freedoms
        self._there = {port.name for port in algorithm.ports}
        self._calls, self._next_check = 0, 1

    def __call__(self, ports: int, records: int, count: int, step: int) -> None:
        pointers = (ctypes.c_int64 * len(self._ports)).from_address(ports)
        try:
            row = (ctypes.c_int64 * step).from_address(records)
            for lane in range(self._lanes):
                self._lane(pointers, row, lane)
        except BaseException as error:  # Ctrl-C may come anywhere, and must not pass here unseen
            if not hasattr(raised, "error"):
                raised.error = self._placed.name, math.nan, error
            for port in ("tau", "shown"):
                if port in self._there and self._placed.slices:
                    ctypes.c_double.from_address(pointers[self._ports[port]]).value = math.nan

    def _lane(self, pointers: Any, row: Any, lane: int) -> None:
        lanes = self._lanes

        def numbers(port: str, first: int, count: int) -> Any:
            base = pointers[self._ports[port]] + 8 * (first * lanes + lane)
            return (ctypes.c_double * ((count - 1) * lanes + 1)).from_address(base) if count else []

        def read(port: str, first: int, count: int) -> list[float]:
            return list(numbers(port, first, count)[:: self._lanes])

        def add(port: str, k: int, value: float) -> None:
            numbers(port, k, 1)[0] += value

        outcome = self._outcome(row, read)
        if "external" in self._there:
            for side, wrench in outcome.wrenches.items():
                first = row[_HEAD + _SIDE * side + 1] * self._freedoms
                for k, x in enumerate(wrench.scalars()):
                    add("external", first + k, x)
            for (side, k), force in outcome.forces.items():
                add("tau", k if side < 0 else row[_HEAD + _SIDE * side + 3] + k, force)
        if "shown" in self._there:
            for k, x in enumerate(outcome.outputs()):
                numbers("shown", row[1] + k, 1)[0] = x

    def _outcome(self, row: Any, read: Callable[[str, int, int], list[float]]) -> Outcome:
        placed = self._placed
        algebra = placed.algebra

        def shared(kind: Any, name: str, side: int) -> Any:
            first = row[_HEAD + _SIDE * side] + self._offsets[name]
            return kind.from_scalars(read("work", first, kind.size))

        def frame(k: int) -> Any:
            return shared(algebra.Frame, "X_W", k) if placed.sides[k].link else algebra.Frame()

        def motion(k: int) -> Any:
            return shared(algebra.Motion, "v", k) if placed.sides[k].link else algebra.Motion.zero()

        def joint(k: int) -> tuple[list[float], list[float]]:
            q, v = placed.sides[k].q, placed.sides[k].v
            return read("q", q.start, q.stop - q.start), read("qd", v.start, v.stop - v.start)

        (t,) = read("t", 0, 1)
        first = _HEAD + _SIDE * len(placed.sides)
        place = {given.name: row[first + k] for k, given in enumerate(placed.inputs)}

        def value(given: Input) -> float:
            if given.name not in place:
                raise ValueError(
                    f"reads the input {given.name!r}, which it did not read when it was compiled"
                )
            return read("inputs", place[given.name], 1)[0]

        whole = lambda: (read("q", 0, self._nq), read("qd", 0, self._nv))  # noqa: E731
        numbers = LoadNumbers(t, frame, motion, joint, whole, value)
        try:
            outcome = act(placed.load, algebra, placed.sides, placed.slices, numbers, placed.seen)
            if len(outcome.shown) != placed.shown:
                raise ValueError(f"{len(outcome.shown)} numbers, where there were {placed.shown} before")
            scalars = outcome.scalars()
            self._calls += 1
            if self._calls == self._next_check:
                self._next_check += min(1 + self._calls // 2, _AGAIN)  # at first more often
                self._ask_again(numbers, scalars)
            return outcome.like(scalars)
        except BaseException as error:  # the run stops at what is not finite, and then reports this
            if not hasattr(raised, "error"):
                raised.error = placed.name, t, error
            return self._nothing()

    def _ask_again(self, numbers: LoadNumbers, scalars: list[float]) -> None:
        """See that a law gives the same answer twice, and keep it, to be asked for at the end of a run."""
        sides, load = self._placed.sides, self._placed.load
        bodies = [k for k, side in enumerate(sides) if side.frame is not None]
        frames, motions = ({k: what(k) for k in bodies} for what in (numbers.frame, numbers.motion))
        joints = {k: numbers.joint(k) for k, side in enumerate(sides) if side.frame is None}
        whole = numbers.whole() if load.whole else ([], [])
        inputs = {given.name: numbers.input(given) for given in self._placed.inputs}
        given = LoadNumbers(
            numbers.t,
            frames.__getitem__,
            motions.__getitem__,
            joints.__getitem__,
            lambda: whole,
            lambda one: inputs[one.name],
        )
        answer = Answer(self._placed, given, scalars)
        answer.check()
        if answers.kept is not None:
            answers.kept.append(answer)
            del answers.kept[_MOST_KEPT // 2 : -_MOST_KEPT // 2]

    def _nothing(self) -> Outcome:
        """Return an outcome of which nothing is a number."""
        placed = self._placed
        force = placed.algebra.Force
        unknown = force.from_scalars([math.nan] * force.size)
        wrenches: dict[int, Any] = {}
        forces: dict[tuple[int, int], float] = {}
        if placed.load.whole:
            forces = {(-1, n): math.nan for n in range(self._nv)}
        for k, side in enumerate(placed.sides):
            if side.frame is None and not placed.load.whole:
                forces[(k, 0)] = math.nan
            elif side.frame is not None and side.link:
                wrenches[k] = unknown
        return Outcome(wrenches, forces, dict.fromkeys(placed.across, math.nan), [math.nan] * placed.shown)
