"""Native code of loop joints: kernels over records, and the scratch memory of their rows.

Behind the blocks of the links, the work array has room for rows. A link that feels a loop has an *entry*:
the forces F of the loop's rows on the link, and their projections y, z on its joint. In one mechanism the
rows of a loop are numbers of one SIMD register, padded to its width, so that they are carried past a link all
at once; in lanes of mechanisms they come one after the other. The arithmetic of a row is the same.

Then the matrix of the rows is put together block by block, factored within its profile (`trace.profile`), and
each joint is given z times the forces. None of this is code for one mechanism.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from linkwork.algebra.vector import plus
from linkwork.dynamics.algorithm import Algorithm, Loops, Solve
from linkwork.dynamics.views import Layout
from linkwork.model.loops import Formula, Loop, felt_by
from linkwork.model.tree import Tree
from linkwork.trace import emit, native, profile
from linkwork.trace.emit import Pointer, Store
from linkwork.trace.expression import Graph, evaluate

Segment = tuple[int, int, int, int]  # of a plan: kernel, records, count, step

# columns of a loop's record
_DATA, _BLOCK_A, _BLOCK_B, _FORCES_A, _FORCES_B, _RIGHT, _ROW, _Q, _V, _LINK_A, _LINK_B = range(11)
# columns of a row's record, behind those of the link
ROW_COLUMNS = ("row", "y", "z", "right", "beyond")
STORED, ADDED, AT_GROUND = range(3)  # what becomes of a row's force beyond a link: variants of its kernel


def padding(algebra: Any) -> int:
    """Return how many rows of one loop are carried at once in one mechanism."""
    return 8 if algebra.freedoms > 4 else 4


@dataclass
class Entry:
    """A link and a loop that it feels: where the numbers of its rows begin in the work array."""

    link: int
    loop: Loop
    F: int
    y: int
    z: int
    variant: int  # of the kernel that takes the rows past the link


@dataclass
class LoopCode:
    """The loops of a tree in a program: room for rows, segments of the plan, and what they point to."""

    algorithm: Algorithm
    tree: Tree
    layout: Layout
    starts: np.ndarray
    lanes: int
    ports: Sequence[str]
    constant: Sequence[str]
    first_data: int  # where the loops' numbers begin behind the constants of the mechanism
    entries: dict[tuple[int, str], Entry] = field(default_factory=dict)  # by link and loop, tips first
    rights: dict[str, int] = field(default_factory=dict)  # per loop, its right sides
    data: list[float] = field(default_factory=list)
    keep: list[Any] = field(default_factory=list)
    end: int = 0  # of the work array

    def __post_init__(self) -> None:
        self.end = int(self.starts[-1])
        self._data_starts: dict[str, int] = {}
        for loop in self.tree.loops:
            self._data_starts[loop.name] = self.first_data + len(self.data)
            self.data += loop.data
        if any(isinstance(step, Solve) for step in self.algorithm.passes):
            self._make_room()

    def _room(self, size: int) -> int:
        place, self.end = self.end, self.end + size
        return place

    def _make_room(self) -> None:
        freedoms, links = self.tree.algebra.freedoms, self.tree.links
        felt: list[tuple[int, Loop]] = []
        for loop in self.tree.loops:
            self.rights[loop.name] = self._room(self._width(loop) if loop.rows else 0)
            if loop.a != loop.b:
                links_of = {link for end in (loop.a, loop.b) for link in felt_by(self.tree, end)}
                felt += [(link, loop) for link in links_of] if loop.rows else []
        there = {(link, loop.name) for _, loop in felt for link in (loop.a, loop.b)}
        for link, loop in sorted(felt, key=lambda pair: -pair[0]):
            width, nv = self._width(loop), links[link - 1].kind.nv
            parent = links[link - 1].parent
            above = parent, loop.name
            variant = AT_GROUND if not parent else ADDED if above in there else STORED
            there.add(above)
            F, y, z = (self._room(width * size) for size in (freedoms, nv, nv))
            self.entries[link, loop.name] = Entry(link, loop, F, y, z, variant)

    def _width(self, loop: Loop) -> int:
        return padding(self.tree.algebra) if self.lanes == 1 else loop.rows

    # loop joints

    def joints(self, step: Loops) -> list[Segment]:
        """Return the segments that run all loop joints; those of one formula share a kernel."""
        groups: dict[tuple[str, bool], list[Loop]] = {}
        for loop in self.tree.loops:
            groups.setdefault((loop.formula.signature, loop.a == loop.b), []).append(loop)
        segments = []
        for (_, same), members in groups.items():
            kernel = self._kernel(step, members[0].formula, same)
            if kernel:
                records = np.array([self._record(loop) for loop in members], np.int64)
                self.keep.append(records)
                segments.append((kernel, records.ctypes.data, len(members), records.shape[1]))
        return segments

    def _record(self, loop: Loop) -> list[int]:
        forces = [
            entry.F if (entry := self.entries.get((link, loop.name))) else 0 for link in (loop.a, loop.b)
        ]
        blocks = [int(self.starts[link]) for link in (loop.a, loop.b)]
        right = self.rights.get(loop.name, 0)
        numbers = loop.row, loop.q, loop.v, loop.a - 1, loop.b - 1
        return [self._data_starts[loop.name], *blocks, *forces, right, *numbers]

    def _kernel(self, step: Loops, formula: Formula, same: bool) -> int:
        """Return the address of a formula's kernel, 0 if there is nothing to do."""
        offsets = {n: self.layout.offsets[n] for n in ("X_W", "v", "a") if n in self.layout.offsets}
        key = step.right, step.driven, step.restoring, same, sorted(offsets.items()), self.lanes
        name = native.digest("loop", formula.signature, list(self.ports), *key)

        def build() -> tuple[str, dict[str, Any]]:
            stores = self._stores(step, formula, same, offsets)
            pointers = self._pointers(formula.algebra.freedoms)
            text = emit.walk(f"loop_{name}", self.lanes, self.ports, self.constant, pointers, stores)
            return emit.module(self.lanes, [text] if stores else []), {"any": bool(stores)}

        return native.address(f"loop_{name}") if native.load(name, build)["any"] else 0

    def _stores(self, step: Loops, formula: Formula, same: bool, offsets: dict[str, int]) -> list[Store]:
        graph = Graph()
        there = {port.name for port in self.algorithm.ports}
        wanted: list[tuple[str, int, Any]] = []
        added: list[tuple[str, int, Any]] = []

        if step.right and formula.position:
            sign = 1.0 if step.right == "acceleration" else -1.0
            right = [sign * x for x in getattr(formula, step.right)]
            if step.restoring:
                right = self._restored(formula, right)
            wanted += [("right", r, x) for r, x in enumerate(right)]
            width = padding(formula.algebra) if self.lanes == 1 else 0
            wanted += [("right", r, 0.0) for r in range(len(formula.position), width)]
            for base, forces in (("forces_a", formula.forces_a), ("forces_b", formula.forces_b)):
                if not same and base not in self._absent(formula):
                    wanted += self._force_stores(base, forces, width)
        if step.driven and not same:
            for base, wrench in zip(("external_a", "external_b"), formula.drive, strict=True):
                if base.replace("external", "forces") not in self._absent(formula):
                    added += [(base, k, x) for k, x in enumerate(wrench.scalars())]
        rows: dict[str, Sequence[Any]] = {
            "gap_position": formula.position,
            "gap_velocity": formula.velocity,
            "loop_bias": formula.bias,
            "direction": [x for t in formula.directions for x in t.scalars()],
            "loop_q": formula.q,
            "loop_v": formula.v,
            "loop_a": formula.a,
            "loop_own": formula.own,
        }
        for port, values in rows.items():
            if port in there:
                wanted += [(port, k, x) for k, x in enumerate(values)]

        def place(symbol: Any) -> Any:
            name, k = symbol.args[0]
            if name == "data":
                return graph.symbol(("data", k))
            if name == "parameter":
                return graph.symbol(("data", formula.n_data + k))
            if name == "ground":
                return graph.symbol(("ground", offsets["a"] + k))
            side = "ab"[int(name[1:])]
            return graph.symbol((f"block_{side}", offsets["X_W" if name[0] == "X" else name[0]] + k))

        values = evaluate([x for _, _, x in (*wanted, *added)], place)
        stores: list[Store] = [
            (base, k, x) for (base, k, _), x in zip(wanted, values[: len(wanted)], strict=True)
        ]
        for (base, k, _), x in zip(added, values[len(wanted) :], strict=True):
            if not (isinstance(x, float) and x == 0.0):
                stores.append((base, k, graph.symbol((base, k)) + x))
        return stores

    def _restored(self, formula: Formula, right: list[Any]) -> list[Any]:
        """Return right sides less gains times the gaps and their rates."""
        rows, found = len(formula.position), []
        first = formula.n_data - 2 * rows
        for r, (x, gap, rate) in enumerate(zip(right, formula.position, formula.velocity, strict=True)):
            for k, error in ((first + r, gap), (first + rows + r, rate)):
                if hasattr(error, "graph"):
                    x = x - error.graph.symbol(("data", k)) * error
            found.append(x)
        return found

    def _absent(self, formula: Formula) -> set[str]:
        """Return the sides of a loop that are ground."""
        return {f"forces_{side}" for side, ground in zip("ab", formula.on_ground, strict=True) if ground}

    def _force_stores(self, base: str, forces: Sequence[Any], width: int) -> list[tuple[str, int, Any]]:
        """Return where a row's force lies in an entry: rows side by side if padded, else one by one."""
        size = len(forces[0].scalars()) if forces else 0
        if not width:
            return [(base, r * size + k, x) for r, F in enumerate(forces) for k, x in enumerate(F.scalars())]
        columns = zip(*(F.scalars() for F in forces), strict=True)
        padded = ([*column, *[0.0] * (width - len(column))] for column in columns)
        return [(base, k * width + r, x) for k, column in enumerate(padded) for r, x in enumerate(column)]

    def _pointers(self, freedoms: int) -> list[Pointer]:
        found = [
            Pointer("data", "data", _DATA),
            Pointer("ground", "work"),
            Pointer("block_a", "work", _BLOCK_A),
            Pointer("block_b", "work", _BLOCK_B),
            Pointer("forces_a", "work", _FORCES_A),
            Pointer("forces_b", "work", _FORCES_B),
            Pointer("right", "work", _RIGHT),
            Pointer("gap_position", "gap_position", _ROW),
            Pointer("gap_velocity", "gap_velocity", _ROW),
            Pointer("loop_bias", "loop_bias", _ROW),
            Pointer("direction", "direction", _ROW, freedoms),
            Pointer("loop_q", "loop_q", _Q),
            Pointer("loop_v", "loop_v", _V),
            Pointer("loop_a", "loop_a", _V),
            Pointer("loop_own", "loop_own", _V),
            Pointer("external_a", "external", _LINK_A, freedoms),
            Pointer("external_b", "external", _LINK_B, freedoms),
        ]
        return [pointer for pointer in found if pointer.port in self.ports]

    # rows

    def rows(self, kernels: Any, link_records: np.ndarray) -> list[Segment]:
        """Return the segments that carry all rows towards ground; `kernels(kind)` are the three variants."""
        rows: list[tuple[int, list[int]]] = []
        for entry in self.entries.values():
            kernel = kernels(self.tree.links[entry.link - 1].kind)[entry.variant]
            beyond = self.entries.get((self.tree.links[entry.link - 1].parent, entry.loop.name))
            nv, size = self.tree.links[entry.link - 1].kind.nv, self.tree.algebra.freedoms
            own = link_records[entry.link - 1].tolist()
            right = self.rights[entry.loop.name]
            for r in range(1 if self.lanes == 1 else entry.loop.rows):
                places = entry.F + r * size, entry.y + r * nv, entry.z + r * nv, right + r
                rows.append((kernel, [*own, *places, beyond.F + r * size if beyond else 0]))
        columns = link_records.shape[1] + len(ROW_COLUMNS)
        records = np.array([row for _, row in rows], np.int64).reshape(len(rows), columns)
        self.keep.append(records)
        segments, first = [], 0
        for kernel, run in groupby(kernel for kernel, _ in rows):
            count = len(list(run))
            segments.append((kernel, records[first:].ctypes.data, count, records.shape[1]))
            first += count
        return segments

    def solve(self, step: Solve) -> list[Segment]:
        """Return the segments that find the rows' forces, and let the joints feel them."""
        loops = [loop for loop in self.tree.loops if loop.rows]
        if not loops:
            return []
        number = {loop.name: k for k, loop in enumerate(loops)}
        links: dict[int, list[Entry]] = {}
        for entry in self.entries.values():
            links.setdefault(entry.link, []).append(entry)
        farthest = list(range(len(loops)))  # per loop, the last one it shares a link with
        for there in links.values():
            there.sort(key=lambda entry: entry.loop.row)
            for entry in there:
                k = number[entry.loop.name]
                farthest[k] = max(farthest[k], number[there[-1].loop.name])
        farthest = np.maximum.accumulate(farthest).tolist()

        n = sum(loop.rows for loop in loops)
        columns = np.concatenate([[0], np.cumsum([self._width(loop) for loop in loops])]).tolist()
        window, last = [], []  # per loop, the first of its window, and the last in its profile
        while len(window) < len(loops):
            first = len(window)
            members = farthest[first] + 1 - first  # they all share links with the first
            window += [first] * members
            last += [farthest[first + members - 1]] * members
        # of a loop's rows: one after the other, each from the window's first column to the end of the profile
        length = [columns[last[k] + 1] - columns[window[k]] for k in range(len(loops))]
        places = [self._room(loop.rows * length[k]) for k, loop in enumerate(loops)]

        def blocks(k: int, other: int) -> list[int]:
            """Return where the rows of loop k begin in the columns of another."""
            first = places[k] + columns[other] - columns[window[k]]
            return [first + r * length[k] for r in range(loops[k].rows)]

        segments, begun = [], set()
        products: list[tuple[tuple[int, int, int, bool], list[int]]] = []
        for link, there in links.items():
            nv = self.tree.links[link - 1].kind.nv
            for one in there:
                for other in there:
                    pair = number[one.loop.name], number[other.loop.name]
                    if pair[1] < window[pair[0]]:
                        continue
                    shape = one.loop.rows, other.loop.rows, nv, pair in begun
                    products.append((shape, [one.y, other.z, *blocks(*pair)]))
                    begun.add(pair)
        for k, loop in enumerate(loops):
            for other in range(window[k], last[k] + 1):
                if (k, other) not in begun:
                    products.append(((loop.rows, loops[other].rows, 0, False), [0, 0, *blocks(k, other)]))
        for shape, run in groupby(products, key=lambda product: product[0]):
            segments.append(self._segment(self._product(*shape), [record for _, record in run]))

        inverse, scale, order = (self._room(n) for _ in range(3))
        row = self._room(columns[-1])
        firsts = sorted(set(window))
        table = [n, len(firsts), self.rights[loops[0].name], places[0], inverse, scale, order, row]
        ends = {first: loop.row + loop.rows for first, loop in zip(window, loops, strict=True)}
        for k in firsts:
            behind = loops[last[k]].row + loops[last[k]].rows
            table += [loops[k].row, ends[k], columns[k], columns[last[k] + 1], behind, ends[window[last[k]]]]
        for k, loop in enumerate(loops):
            for r in range(loop.rows):
                weak = int(np.float64(loop.weak[r]).view(np.int64))
                origin = blocks(k, k)[r] - columns[k] - places[0]
                table += [columns[k] + r, origin, weak, firsts.index(window[k])]
        segments.append(self._segment(self._factor(), [table]))

        offset = self.layout.offsets[step.field]
        felt = [
            (
                (entry.loop.rows, self.tree.links[link - 1].kind.nv),
                [entry.z, int(self.starts[link]) + offset, self.rights[entry.loop.name]],
            )
            for link, there in links.items()
            for entry in there
        ]
        for shape, run in groupby(felt, key=lambda item: item[0]):
            segments.append(self._segment(self._feel(*shape), [record for _, record in run]))
        told = (
            {loop.name: self.rights[loop.name] for loop in loops},
            {loop.name: inverse + loop.row for loop in loops},
        )
        for port, places in zip(("loop_force", "inverse_pivot"), told, strict=True):
            if port in self.ports:
                for loop in loops:
                    kernel = self._tell(port, loop.rows)
                    segments.append(self._segment(kernel, [[places[loop.name], loop.row]]))
        return segments

    def _segment(self, kernel: int, records: list[list[int]]) -> Segment:
        array = np.array(records, np.int64)
        self.keep.append(array)
        return kernel, array.ctypes.data, len(array), array.shape[1]

    def _place(self, k: int, r: int, nv: int) -> int:
        """Return where in an entry y or z of a velocity and a row is."""
        return k * padding(self.tree.algebra) + r if self.lanes == 1 else r * nv + k

    def _product(self, rows: int, columns: int, nv: int, added: bool) -> int:
        """Return the kernel that makes a block y z^T of the matrix, or adds it to what is there."""
        width = padding(self.tree.algebra)
        name = native.digest("loop product", list(self.ports), self.lanes, width, rows, columns, nv, added)

        def build() -> tuple[str, dict[str, Any]]:
            graph, stores = Graph(), []
            for r in range(rows):
                for s in range(1 if self.lanes == 1 else columns):  # a block of columns, or one by one
                    total: Any = graph.symbol((f"a{r}", s)) if added else 0.0
                    for k in range(nv):
                        y = graph.symbol(("y", self._place(k, r, nv)))
                        z = graph.symbol(("z", k if self.lanes == 1 else self._place(k, s, nv)))
                        total = plus(total, y * z)
                    stores.append((f"a{r}", s, total))
            pointers = [Pointer("y", "work", 0), Pointer("z", "work", 1)]
            pointers += [Pointer(f"a{r}", "work", 2 + r) for r in range(rows)]
            lanes = width if self.lanes == 1 else self.lanes
            scalars = (*self.ports, "y") if self.lanes == 1 else self.constant
            text = emit.walk(f"product_{name}", lanes, self.ports, scalars, pointers, stores)
            return emit.module(lanes, [text]), {}

        native.load(name, build)
        return native.address(f"product_{name}")

    def _factor(self) -> int:
        width = padding(self.tree.algebra)
        name = native.digest("loop factor", self.lanes, width)
        native.load(name, lambda: (profile.text(f"factor_{name}", self.lanes, width), {}), optimize=True)
        return native.address(f"factor_{name}")

    def _feel(self, rows: int, nv: int) -> int:
        """Return the kernel that adds z times the rows' forces to a field."""
        width = padding(self.tree.algebra)
        name = native.digest("loop feel", list(self.ports), self.lanes, width, rows, nv)

        def build() -> tuple[str, dict[str, Any]]:
            graph, stores = Graph(), []
            for k in range(nv):
                total: Any = graph.symbol(("field", k))
                for r in range(rows):
                    total = total + graph.symbol(("z", self._place(k, r, nv))) * graph.symbol(("force", r))
                stores.append(("field", k, total))
            pointers = [Pointer(base, "work", k) for k, base in enumerate(("z", "field", "force"))]
            text = emit.walk(f"feel_{name}", self.lanes, self.ports, self.constant, pointers, stores)
            return emit.module(self.lanes, [text]), {}

        native.load(name, build)
        return native.address(f"feel_{name}")

    def _tell(self, port: str, rows: int) -> int:
        """Return the kernel that writes numbers of a loop's rows to a port."""
        name = native.digest("loop tell", port, list(self.ports), self.lanes, rows)

        def build() -> tuple[str, dict[str, Any]]:
            graph = Graph()
            stores: list[Store] = [(port, r, graph.symbol(("row", r))) for r in range(rows)]
            pointers = [Pointer("row", "work", 0), Pointer(port, port, 1)]
            text = emit.walk(f"tell_{name}", self.lanes, self.ports, self.constant, pointers, stores)
            return emit.module(self.lanes, [text]), {}

        native.load(name, build)
        return native.address(f"tell_{name}")


def row_pointers(link_pointers: Sequence[Pointer], columns: int) -> list[Pointer]:
    """Return where a row's kernel finds its numbers; ground's block is that of the partner."""
    found = [Pointer("partner", "work") if p.base == "partner" else p for p in link_pointers]
    return found + [Pointer(base, "work", columns + k) for k, base in enumerate(ROW_COLUMNS)]


def row_variants(stores: Sequence[Store]) -> list[list[Store]]:
    """Return the stores of a row's step where its force beyond is stored, added, and ends at ground."""
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
