"""Native code of loop joints: kernels over records, and the scratch memory of their rows.

Behind the blocks of the links, the work array has room for rows. A link that feels a loop has an *entry*:
the forces F of the loop's rows on the link, and their projections y, z on its joint. In one mechanism the
rows of a loop are numbers of one SIMD register, padded to its width, so that they are carried past a link all
at once; in lanes of mechanisms they come one after the other. The arithmetic of a row is the same.

What becomes of the rows at the root of their loops is in `loop_solve`. None of this is code for one
mechanism.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from linkwork.algebra.number import is_zero
from linkwork.dynamics.algorithm import Algorithm, Loops, Rows, Solve
from linkwork.dynamics.link_view import LinkLayout
from linkwork.dynamics.load_code import raised
from linkwork.dynamics.loop_solve import RootCode, Segment
from linkwork.dynamics.loop_stores import asked, places, pushes
from linkwork.native import emit, store
from linkwork.native.emit import Pointer, Store
from linkwork.native.interpreted_plan import InterpretedWalk
from linkwork.trace.expression import Graph
from linkwork.trace.graph_walks import evaluate
from linkwork.tree.loop_formula import LoopFormula, padding
from linkwork.tree.loop_roots import felt_by
from linkwork.tree.loops import Loop
from linkwork.tree.tree import Tree

# columns of a loop's record: of the loop, then of each of its ends
_DATA, _RIGHT, _PACE, _ROW, _EQUATION, _Q, _V, _U = range(8)
_BLOCK, _FORCES, _DIRECT, _LINK, _END_Q, _END_V = range(6)
_LOOP, _END = 8, 6
# columns of a row's record, behind those of the link
ROW_COLUMNS = ("row", "direct", "y", "z", "right", "beyond")
STORED, ADDED, AT_GROUND = range(3)  # what becomes of a row's force beyond a link: variants of its kernel


@dataclass
class LinkRows:
    """A link and a loop that it feels: where the numbers of its rows begin in the work array."""

    link: int
    loop: Loop
    F: int
    y: int
    z: int
    direct: int  # forces on the link's joint itself, 0 if there are none
    variant: int  # of the kernel that takes the rows past the link


@dataclass
class LoopCode:
    """The loops of a tree in a program: room for rows, segments of the plan, and what they point to."""

    algorithm: Algorithm
    tree: Tree
    layout: LinkLayout
    starts: np.ndarray
    lanes: int
    ports: Sequence[str]
    constant: Sequence[str]
    first_data: int  # where the loops' numbers begin behind the constants of the mechanism
    entries: dict[tuple[int, str], LinkRows] = field(default_factory=dict)  # by link and loop, tips first
    data: list[float] = field(default_factory=list)
    keep: list[Any] = field(default_factory=list)
    end: int = 0  # of the work array

    def __post_init__(self) -> None:
        self.end = int(self.starts[-1])
        self._data_starts: dict[str, int] = {}
        self.weak_starts: dict[str, int] = {}
        for loop in self.tree.loops:
            self._data_starts[loop.name] = self.first_data + len(self.data)
            self.weak_starts[loop.name] = self._data_starts[loop.name] + len(loop.data)
            self.data += loop.constants
        self.roots: dict[int, RootCode] = {}
        if any(isinstance(step, Rows) for step in self.algorithm.passes):
            self._make_room()

    def room(self, size: int) -> int:
        """Return where n more numbers have room in the work array."""
        place, self.end = self.end, self.end + size
        return place

    def _make_room(self) -> None:
        freedoms, links = self.tree.algebra.freedoms, self.tree.links
        loops = [loop for loop in self.tree.loops if loop.rows]
        for root, members in groupby(loops, key=lambda loop: loop.root):
            self.roots[root] = RootCode(self, root, list(members))
        felt = [(link, loop) for loop in loops for link in felt_by(self.tree, loop)]
        there = {(link, loop.name) for loop in loops for link in loop.ends}
        for link, loop in sorted(felt, key=lambda pair: -pair[0]):
            width, nv = self.width(loop), links[link - 1].kind.nv
            parent = links[link - 1].parent
            above = parent, loop.name
            variant = AT_GROUND if not parent else ADDED if above in there else STORED
            there.add(above)
            F, y, z = (self.room(width * size) for size in (freedoms, nv, nv))
            direct = self.room(width * nv) if link in loop.ends and self._direct(loop, link) else 0
            self.entries[link, loop.name] = LinkRows(link, loop, F, y, z, direct, variant)
            self.roots[loop.root].feel(self.entries[link, loop.name])

    def _direct(self, loop: Loop, link: int) -> Sequence[Any]:
        return loop.formula.direct[loop.ends.index(link)]

    def width(self, loop: Loop) -> int:
        """Return the room that one number of each row of a loop takes."""
        return padding(self.tree.algebra) if self.lanes == 1 else loop.rows

    def force_on(self, link: int, loop: Loop) -> int:
        """Return where the forces of a loop's rows on a link are: in its entry, or at the root."""
        if link == loop.root:
            return self.roots[link].forces.get(loop.name, 0) if link in self.roots else 0
        entry = self.entries.get((link, loop.name))
        return entry.F if entry else 0

    # loop joints

    def joints(self, step: Loops) -> list[Segment]:
        """Return the segments that run all loop joints; those of one formula share a kernel."""
        groups: dict[str, list[Loop]] = {}
        for loop in self.tree.loops:
            groups.setdefault(loop.formula.signature, []).append(loop)
        segments = []
        for members in groups.values():
            kernel = self._kernel(step, members[0].formula)
            if kernel:
                segments.append(self.segment(kernel, [self._record(loop) for loop in members]))
        return segments

    def kept(self, table: Sequence[Any]) -> int:
        """Return where a table of integers is kept."""
        self.keep.append(np.array(table, np.int64))
        return self.keep[-1].ctypes.data

    def segment(self, kernel: int, records: Sequence[Sequence[int]]) -> Segment:
        """Return what runs a kernel over records."""
        return kernel, self.kept(records), len(records), len(records[0])

    def _record(self, loop: Loop) -> list[int]:
        root = self.roots.get(loop.root)
        right, pace = (root.rights[loop.name], root.paces[loop.name]) if root and loop.rows else (0, 0)
        record = [self._data_starts[loop.name], right, pace, loop.row]
        record += [loop.equation, loop.q, loop.v, loop.u]
        for end in loop.ends:
            link, entry = self.tree.links[end - 1], self.entries.get((end, loop.name))
            places = int(self.starts[end]), self.force_on(end, loop), entry.direct if entry else 0
            record += [*places, end - 1, link.q, link.v]
        return [*record, *(self.tree.inputs.index(given.name) for given in loop.inputs)]

    def _kernel(self, step: Loops, formula: LoopFormula) -> int:
        """Return the address of a formula's kernel, 0 if there is nothing to do."""
        offsets = {n: self.layout.offsets[n] for n in ("X_W", "v", "a") if n in self.layout.offsets}
        if formula.called:
            return self._interpreted(step, formula, offsets)
        key = step.right, step.driven, step.pushed, step.restoring, step.fitting
        key = *key, sorted(offsets.items()), self.lanes, list(self.constant)
        name = store.digest("loop", formula.signature, list(self.ports), *key)

        def build() -> tuple[str, dict[str, Any]]:
            stores = self._stores(step, formula, offsets)
            pointers = self._pointers(formula)
            text = emit.walk(f"loop_{name}", self.lanes, self.ports, self.constant, pointers, stores)
            return emit.module(self.lanes, [text] if stores else []), {"any": bool(stores)}

        code = store.load_apart(name, build)
        self.keep.append(code)
        return code.address(f"loop_{name}") if code.meta["any"] else 0

    def _interpreted(self, step: Loops, formula: LoopFormula, offsets: dict[str, int]) -> int:
        """Return the address of a kernel in Python, for a constraint that must be called."""
        stores = self._stores(step, formula, offsets)
        if not stores:
            return 0

        def failed(error: BaseException, t: float) -> None:
            if not hasattr(raised, "error"):
                raised.error = formula.called, t, error

        walk = InterpretedWalk(self.lanes, self.ports, self.constant, self._pointers(formula), stores, failed)
        self.keep.append(walk)
        return walk.address

    def _stores(self, step: Loops, formula: LoopFormula, offsets: dict[str, int]) -> list[Store]:
        graph = Graph()
        there = {port.name for port in self.algorithm.ports}
        wanted = [*self._row_parts(step, formula), *asked(step, formula, there)]
        added = pushes(step, formula, there, graph)
        place = places(formula, offsets, there, graph)
        values = evaluate([x for _, _, x, *_ in (*wanted, *added)], place)
        stores: list[Store] = [
            (base, k, x) for (base, k, _), x in zip(wanted, values[: len(wanted)], strict=True)
        ]
        sums: dict[tuple[str, int], Any] = {}
        for (base, k, _, factor), x in zip(added, values[len(wanted) :], strict=True):
            if not is_zero(x):
                sums[base, k] = sums.get((base, k), graph.symbol((base, k))) + factor * x
        return [*stores, *((base, k, x) for (base, k), x in sums.items())]

    def _row_parts(self, step: Loops, formula: LoopFormula) -> list[Store]:
        """Return what a step that has right-hand sides writes of the rows: these, forces, and paces."""
        wanted: list[Store] = []
        if step.right and formula.position:
            sign = 1.0 if step.right == "acceleration" else -1.0
            right = [sign * x for x in getattr(formula, step.right)]
            if step.right == "velocity":
                right = [x - pace for x, pace in zip(right, formula.pace, strict=True)]
            if step.restoring:
                right = self._restored(formula, right)
            wanted += [("right", r, x) for r, x in enumerate(right)]
            width = padding(formula.algebra) if self.lanes == 1 else 0
            wanted += [("right", r, 0.0) for r in range(len(formula.position), width)]
            for n in range(formula.ends):
                wanted += _row_stores(f"forces{n}", [f.scalars() for f in formula.forces[n]], width)
                wanted += _row_stores(f"direct{n}", formula.direct[n], width)
            if "P" in self.layout.offsets and not all(is_zero(x) for x in formula.pace):
                wanted += [("pace", r, x) for r, x in enumerate(formula.pace)]
        return wanted

    def _restored(self, formula: LoopFormula, right: list[Any]) -> list[Any]:
        """Return right sides less gains times the gaps and their rates."""
        rows, found = len(formula.position), []
        first = formula.n_data - 2 * rows
        opening = [x + pace for x, pace in zip(formula.velocity, formula.pace, strict=True)]
        for r, (x, gap, rate) in enumerate(zip(right, formula.position, opening, strict=True)):
            for k, error in ((first + r, gap), (first + rows + r, rate)):
                if hasattr(error, "graph"):
                    x = x - error.graph.symbol(("data", k)) * error
            found.append(x)
        return found

    def _pointers(self, formula: LoopFormula) -> list[Pointer]:
        freedoms = formula.algebra.freedoms
        found = [
            Pointer("data", "data", _DATA),
            Pointer("ground", "work"),
            Pointer("right", "work", _RIGHT),
            Pointer("pace", "work", _PACE),
            Pointer("t", "t"),
            Pointer("row_force", "row_force", _ROW),
            Pointer("equation_force", "equation_force", _EQUATION),
            Pointer("equation_gap", "equation_gap", _EQUATION),
            Pointer("gap_position", "gap_position", _ROW),
            Pointer("gap_velocity", "gap_velocity", _ROW),
            Pointer("row_velocity", "row_velocity", _ROW),
            Pointer("loop_bias", "loop_bias", _ROW),
            Pointer("direction", "direction", _ROW, freedoms),
            Pointer("u", "q", _U),
            Pointer("u_rate", "qdot", _U),
            Pointer("loop_q", "loop_q", _Q),
            Pointer("loop_v", "loop_v", _V),
            Pointer("loop_a", "loop_a", _V),
            Pointer("loop_own", "loop_own", _V),
        ]
        for n in range(formula.ends):
            first = _LOOP + n * _END
            found += [
                Pointer(f"block{n}", "work", first + _BLOCK),
                Pointer(f"forces{n}", "work", first + _FORCES),
                Pointer(f"direct{n}", "work", first + _DIRECT),
                Pointer(f"external{n}", "external", first + _LINK, freedoms),
                Pointer(f"q{n}", "q", first + _END_Q),
                Pointer(f"qd{n}", "qd", first + _END_V),
                Pointer(f"qdd{n}", "qdd", first + _END_V),
            ]
        first = _LOOP + formula.ends * _END
        found += [Pointer(f"input{n}", "inputs", first + n) for n in range(formula.inputs)]
        return [pointer for pointer in found if pointer.port in self.ports]

    # rows

    def inward(
        self, root: int, step: Rows, kernels: Callable[[Any, bool], list[int]], link_records: np.ndarray
    ) -> list[Segment]:
        """Return the segments that carry the rows of a root's loops to it, and eliminate them there.

        `kernels(kind, direct)` are the three variants of what takes rows past a link.
        """
        if root not in self.roots:
            return []
        return [*self._carried(root, kernels, link_records), *self.roots[root].inward(step)]

    def outward(self, root: int, rows: Rows, step: Solve) -> list[Segment]:
        """Return the segments that find the forces of the rows of a root's loops."""
        return self.roots[root].outward(rows, step) if root in self.roots else []

    def _carried(
        self, root: int, kernels: Callable[[Any, bool], list[int]], link_records: np.ndarray
    ) -> list[Segment]:
        rows: list[tuple[int, list[int]]] = []
        for entry in self.roots[root].entries:
            link, loop = self.tree.links[entry.link - 1], entry.loop
            kernel = kernels(link.kind, bool(entry.direct))[entry.variant]
            beyond = self.force_on(link.parent, loop)
            nv, size = link.kind.nv, self.tree.algebra.freedoms
            own = link_records[entry.link - 1].tolist()
            right = self.roots[root].rights[loop.name]
            for r in range(1 if self.lanes == 1 else loop.rows):
                places = entry.F + r * size, entry.direct + r * nv, entry.y + r * nv, entry.z + r * nv
                rows.append((kernel, [*own, *places, right + r, beyond + r * size]))
        columns = link_records.shape[1] + len(ROW_COLUMNS)
        records = np.array([row for _, row in rows], np.int64).reshape(len(rows), columns)
        self.keep.append(records)
        segments, first = [], 0
        for kernel, run in groupby(kernel for kernel, _ in rows):
            count = len(list(run))
            segments.append((kernel, records[first:].ctypes.data, count, records.shape[1]))
            first += count
        return segments


def _row_stores(base: str, rows: Sequence[Sequence[Any]], width: int) -> list[tuple[str, int, Any]]:
    """Return where numbers of rows lie in an entry: rows side by side if padded, else one by one."""
    if not width:
        return [(base, r * len(row) + k, x) for r, row in enumerate(rows) for k, x in enumerate(row)]
    padded = ([*column, *[0.0] * (width - len(column))] for column in zip(*rows, strict=True))
    return [(base, k * width + r, x) for k, column in enumerate(padded) for r, x in enumerate(column)]


def row_pointers(link_pointers: Sequence[Pointer], columns: int) -> list[Pointer]:
    """Return where a row's kernel finds its numbers; ground's block is that of the partner."""
    found = [Pointer("partner", "work") if p.base == "partner" else p for p in link_pointers]
    return found + [Pointer(base, "work", columns + k) for k, base in enumerate(ROW_COLUMNS)]


def row_variants(stores: Sequence[Store], direct: bool) -> list[list[Store]]:
    """Return the stores of a row's step where its force beyond is stored, added, and ends at ground."""
    if not direct:
        stores = _without_direct(stores)
    plain = [store for store in stores if store[0] != "right at ground"]
    added = [
        (base, k, x.graph.symbol((base, k)) + x if base == "beyond" and hasattr(x, "graph") else x)
        for base, k, x in plain
    ]
    ended = [
        ("right", k, x) if base == "right at ground" else (base, k, x)
        for base, k, x in stores
        if base not in ("beyond", "right")
    ]
    return [plain, [s for s in added if s[0] != "beyond" or hasattr(s[2], "graph")], ended]


def _without_direct(stores: Sequence[Store]) -> list[Store]:
    """Return stores in which no force acts on the joint itself."""
    values = evaluate([x for _, _, x in stores], lambda s: 0.0 if s.args[0][0] == "direct" else s)
    return [(base, k, x) for (base, k, _), x in zip(stores, values, strict=True)]
