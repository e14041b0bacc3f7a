"""Native code of what becomes of rows at the root of their loops: their matrix, its factors, their forces.

The matrix of the rows of a root's loops is put together block by block and factored within its profile
(`trace.profile`). Ground is known to accelerate against gravity: its rows' forces follow at once. Any other
root is given what its loops feel like as inertia and force, and its rows' forces follow once its acceleration
is known. Then each joint below it is given z times the forces.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.algebra.vector import plus
from linkwork.dynamics.algorithm import Rows, Solve
from linkwork.dynamics.link_view import View, flatten, typed
from linkwork.native import emit, skyline, store
from linkwork.native.emit import Pointer, Store
from linkwork.trace.expression import Graph
from linkwork.tree.loop_formula import padding
from linkwork.tree.loops import Loop

if TYPE_CHECKING:
    from linkwork.dynamics.loop_code import LinkRows, LoopCode

Segment = tuple[int, int, int, int]  # of a plan: kernel, records, count, step


class RootCode:
    """The loops of one root, in the order of their rows."""

    def __init__(self, code: "LoopCode", root: int, loops: list[Loop]):
        self.code, self.root, self.loops = code, root, loops
        self.algebra, self.lanes = code.tree.algebra, code.lanes
        self.entries: list[LinkRows] = []  # of these loops, tips first
        self.rights = {loop.name: code.room(code.width(loop)) for loop in loops}
        self.paces = {loop.name: code.room(code.width(loop)) if loop.timed else 0 for loop in loops}
        size = self.algebra.freedoms
        self.forces = {loop.name: code.room(size * code.width(loop)) for loop in loops} if root else {}
        self._number = {loop.name: k for k, loop in enumerate(loops)}
        # below are filled by `_lay_out`
        self._columns: list[int] = []  # per loop, its first column, and behind the last
        self._window: list[int] = []  # per loop, the first of its window
        self._last: list[int] = []  # per loop, the last in its profile
        self._places: list[int] = []  # per loop, its first row in the matrix
        self._length: list[int] = []  # of a row
        self._inverse = self._table = 0

    def feel(self, entry: "LinkRows") -> None:
        """Know of one more link that feels the loops."""
        self.entries.append(entry)

    # tips to root

    def inward(self, rows: Rows) -> list[Segment]:
        """Return the segments that make the rows' equations, and let the root feel them."""
        self._lay_out()
        segments = self._products()
        if self.root:
            segments += self._borders()
        border = self.algebra.freedoms if self.root else 0
        segments.append(self._solver("factor", border))
        if self.root:
            segments += self._at_root("absorb", rows.absorb)
        return segments

    def _lay_out(self) -> None:
        """Find windows and profiles, and room for the matrix."""
        loops, count = self.loops, len(self.loops)
        farthest = list(range(count))  # per loop, the last one it shares a link with
        for there in self._links().values():
            for entry in there:
                k = self._number[entry.loop.name]
                farthest[k] = max(farthest[k], self._number[there[-1].loop.name])
        farthest = np.maximum.accumulate(farthest).tolist()
        self._columns = np.cumsum([0, *(self.code.width(loop) for loop in loops)]).tolist()
        while len(self._window) < count:
            first = len(self._window)
            members = farthest[first] + 1 - first  # they all share links with the first
            self._window += [first] * members
            self._last += [farthest[first + members - 1]] * members
        # of a loop's rows: one after the other, each from the window's first column to the end of the profile
        border = 0 if not self.root else padding(self.algebra) if self.lanes == 1 else self.algebra.freedoms
        for k, loop in enumerate(loops):
            self._length.append(self._columns[self._last[k] + 1] - self._columns[self._window[k]] + border)
            self._places.append(self.code.room(loop.rows * self._length[k]))
        self._inverse, scale, order = (self.code.room(self._rows) for _ in range(3))
        scratch = self.code.room(border + self._columns[-1]) + border
        self._table = self.code.kept(self._table_of(scale, order, scratch))

    @property
    def _rows(self) -> int:
        return sum(loop.rows for loop in self.loops)

    def _table_of(self, scale: int, order: int, scratch: int) -> list[int]:
        """Return the table of `trace.profile`."""
        loops, columns, window, last = self.loops, self._columns, self._window, self._last
        first_row = loops[0].row
        ends = [loop.row + loop.rows - first_row for loop in loops]
        behind = {first: ends[k] for k, first in enumerate(window)}  # the row behind each window
        firsts = sorted(behind)
        places = self.rights[loops[0].name], self._places[0], self._inverse, scale, order, scratch
        table = [self._rows, len(firsts), *places]
        for k in firsts:
            profile_end = last[k]
            table += [loops[k].row - first_row, behind[k], columns[k], columns[profile_end + 1]]
            table += [ends[profile_end], behind[window[profile_end]]]
        for k, loop in enumerate(loops):
            for r, place in enumerate(self._blocks(k, k)):
                weak = self.code.weak_starts[loop.name] + r
                table += [columns[k] + r, place - columns[k] - self._places[0], weak, firsts.index(window[k])]
        return table

    def _links(self) -> dict[int, list["LinkRows"]]:
        """Return the entries of each link, in the order of rows."""
        links: dict[int, list[LinkRows]] = {}
        for entry in self.entries:
            links.setdefault(entry.link, []).append(entry)
        for there in links.values():
            there.sort(key=lambda entry: entry.loop.row)
        return links

    def _blocks(self, k: int, other: int) -> list[int]:
        """Return where the rows of loop k begin in the columns of another."""
        first = self._places[k] + self._columns[other] - self._columns[self._window[k]]
        return [first + r * self._length[k] for r in range(self.loops[k].rows)]

    def _products(self) -> list[Segment]:
        """Return the segments that put the matrix together: of y z^T, of all links that feel both rows."""
        begun: set[tuple[int, int]] = set()
        products: list[tuple[tuple[int, int, int, bool], list[int]]] = []
        for link, there in self._links().items():
            nv = self.code.tree.links[link - 1].kind.nv
            for one in there:
                for other in there:
                    pair = self._number[one.loop.name], self._number[other.loop.name]
                    if pair[1] < self._window[pair[0]]:
                        continue
                    shape = one.loop.rows, other.loop.rows, nv, pair in begun
                    products.append((shape, [one.y, other.z, *self._blocks(*pair)]))
                    begun.add(pair)
        for k, loop in enumerate(self.loops):
            for other in range(self._window[k], self._last[k] + 1):
                if (k, other) not in begun:
                    shape = loop.rows, self.loops[other].rows, 0, False
                    products.append((shape, [0, 0, *self._blocks(k, other)]))
        return self._grouped(self._product, products)

    def _borders(self) -> list[Segment]:
        """Return the segments that bring the rows' forces on the root behind their profiles."""
        return self._grouped(
            self._border,
            [
                ((loop.rows,), [self.forces[loop.name], *self._borders_of(k)])
                for k, loop in enumerate(self.loops)
            ],
        )

    def _borders_of(self, k: int) -> list[int]:
        """Return where the borders of a loop's rows are."""
        behind = self._columns[self._last[k] + 1] - self._columns[self._window[k]]
        return [self._places[k] + r * self._length[k] + behind for r in range(self.loops[k].rows)]

    # root to tips

    def outward(self, rows: Rows, step: Solve) -> list[Segment]:
        """Return the segments that find the rows' forces, and let the joints feel them."""
        segments = self._at_root("end", rows.at_root) if self.root else []
        segments.append(self._solver("back"))
        offset = self.code.layout.offsets[step.field]
        felt = []
        for link, there in self._links().items():
            place = int(self.code.starts[link]) + offset
            for entry in there:
                shape = entry.loop.rows, self.code.tree.links[link - 1].kind.nv
                felt.append((shape, [entry.z, place, self.rights[entry.loop.name]]))
        segments += self._grouped(self._feel, felt)
        if "P" in self.code.layout.offsets:
            records = [
                ((loop.rows,), [self.rights[loop.name], self.paces[loop.name]])
                for loop in self.loops
                if loop.timed
            ]
            segments += self._grouped(self._work, records)
        first = self.loops[0].row
        outputs = {
            "loop_force": lambda loop: self.rights[loop.name],
            "inverse_pivot": lambda loop: self._inverse + loop.row - first,
        }
        for port, place in outputs.items():
            if port in self.code.ports:
                records = [((port, loop.rows), [place(loop), loop.row]) for loop in self.loops]
                segments += self._grouped(self._output, records)
        return segments

    def _at_root(self, what: str, step: Callable[[Any, Any], None]) -> list[Segment]:
        """Return the segments of what rows do to the root, or the root to rows."""
        block, first = int(self.code.starts[self.root]), self.loops[0].row
        records = []
        for k, loop in enumerate(self.loops):
            places = self.rights[loop.name], self._inverse + loop.row - first
            records.append(((loop.rows,), [block, *places, *self._borders_of(k)]))
        return self._grouped(lambda rows: self._meeting(what, step, rows), records)

    # kernels

    def _grouped(
        self, kernel: Callable[..., int], items: Sequence[tuple[Sequence[Any], list[int]]]
    ) -> list[Segment]:
        """Return segments of neighbours with the same kernel: what comes before a record names it."""
        return [
            self.code.segment(kernel(*shape), [record for _, record in run])
            for shape, run in groupby(items, key=lambda item: item[0])
        ]

    def _place(self, k: int, r: int, count: int) -> int:
        """Return where in an entry the k-th of a row's numbers is."""
        return k * padding(self.algebra) + r if self.lanes == 1 else r * count + k

    def _compiled(
        self, what: str, key: Sequence[Any], make: Callable[[], tuple[list[Pointer], list[Store]]]
    ) -> int:
        """Return the address of a kernel; `make` says what it points to and stores."""
        ports, lanes, constant = self.code.ports, self.lanes, self.code.constant
        name = store.digest(f"loop {what}", list(ports), lanes, list(constant), padding(self.algebra), *key)

        def build() -> tuple[str, dict[str, Any]]:
            text = emit.walk(f"{what}_{name}", lanes, ports, constant, *make())
            return emit.module(lanes, [text]), {}

        store.load(name, build)
        return store.address(f"{what}_{name}")

    def _product(self, rows: int, columns: int, nv: int, added: bool) -> int:
        """Return the kernel that makes a block y z^T of the matrix, or adds it to what is there."""
        width, ports = padding(self.algebra), self.code.ports
        name = store.digest("loop product", list(ports), self.lanes, width, rows, columns, nv, added)

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
            scalars = (*ports, "y") if self.lanes == 1 else self.code.constant
            text = emit.walk(f"product_{name}", lanes, ports, scalars, pointers, stores)
            return emit.module(lanes, [text]), {}

        store.load(name, build)
        return store.address(f"product_{name}")

    def _border(self, rows: int) -> int:
        """Return the kernel that copies a row's force on the root behind its profile."""
        size, width = self.algebra.freedoms, padding(self.algebra) if self.lanes == 1 else 0

        def make() -> tuple[list[Pointer], list[Store]]:
            graph, stores = Graph(), []
            for r in range(rows):
                numbers = [graph.symbol(("F", self._place(k, r, size))) for k in range(size)]
                padded = [*numbers, *[0.0] * (width - size)]
                stores += [(f"border{r}", k, x) for k, x in enumerate(padded)]
            pointers = [Pointer(f"border{r}", "work", 1 + r) for r in range(rows)]
            return [Pointer("F", "work", 0), *pointers], stores

        return self._compiled("border", (rows,), make)

    def _solver(self, part: str, border: int = 0) -> Segment:
        width = padding(self.algebra)
        shared = bool(self.code.constant)
        name = store.digest(f"loop {part}", self.lanes, width, border, shared)

        def build() -> tuple[str, dict[str, Any]]:
            if part == "back":
                return skyline.back(f"{part}_{name}", self.lanes), {}
            return skyline.factor(f"{part}_{name}", self.lanes, width, border, shared), {}

        store.load(name, build, optimize=True)
        return store.address(f"{part}_{name}"), self._table, 1, 0

    def _meeting(self, what: str, step: Callable[[Any, Any], None], rows: int) -> int:
        """Return the kernel of `step(root, row)` for all rows of a loop; a row has F, right and inverse."""
        algorithm, algebra, layout = self.code.algorithm, self.algebra, self.code.layout

        def make() -> tuple[list[Pointer], list[Store]]:
            graph = Graph()
            stores: dict[tuple[str, int], Any] = {}

            def read(name: str) -> Any:
                places = layout.places(algorithm, algebra, name, 0)
                numbers = [stores.get(("root", k), graph.symbol(("root", k))) for k in places]
                return typed(algebra, algorithm.shared[name], numbers)

            def write(name: str, value: Any) -> None:
                places = layout.places(algorithm, algebra, name, 0)
                stores.update({("root", k): x for k, x in zip(places, flatten(value), strict=True)})

            root = View(read, write)
            for r in range(rows):
                numbers = [graph.symbol((f"border{r}", k)) for k in range(algebra.freedoms)]
                fields: dict[str, Any] = {
                    "F": algebra.Force.from_scalars(numbers),
                    "right": graph.symbol(("right", r)),
                    "inverse": graph.symbol(("inverse", r)),
                }
                before = fields["right"]
                step(root, View(fields.__getitem__, fields.__setitem__))
                if fields["right"] is not before:
                    stores["right", r] = fields["right"]
            pointers = [Pointer(base, "work", k) for k, base in enumerate(("root", "right", "inverse"))]
            pointers += [Pointer(f"border{r}", "work", 3 + r) for r in range(rows)]
            return pointers, [(base, k, x) for (base, k), x in stores.items()]

        return self._compiled(what, (rows, algebra.__name__, sorted(layout.offsets.items())), make)

    def _feel(self, rows: int, nv: int) -> int:
        """Return the kernel that adds z times the rows' forces to a field."""

        def make() -> tuple[list[Pointer], list[Store]]:
            graph, stores = Graph(), []
            for k in range(nv):
                total: Any = graph.symbol(("field", k))
                for r in range(rows):
                    total = total + graph.symbol(("z", self._place(k, r, nv))) * graph.symbol(("force", r))
                stores.append(("field", k, total))
            return [Pointer(base, "work", k) for k, base in enumerate(("z", "field", "force"))], stores

        return self._compiled("feel", (rows, nv), make)

    def _work(self, rows: int) -> int:
        """Return the kernel that adds the power of drivers, against the pace of their gaps."""
        place = self.code.layout.offsets["P"]

        def make() -> tuple[list[Pointer], list[Store]]:
            graph = Graph()
            total: Any = graph.symbol(("world", place))
            for r in range(rows):
                total = total - graph.symbol(("force", r)) * graph.symbol(("pace", r))
            pointers = [Pointer("force", "work", 0), Pointer("pace", "work", 1), Pointer("world", "work")]
            return pointers, [("world", place, total)]

        return self._compiled("work", (rows, place), make)

    def _output(self, port: str, rows: int) -> int:
        """Return the kernel that writes numbers of a loop's rows to a port."""

        def make() -> tuple[list[Pointer], list[Store]]:
            graph = Graph()
            stores: list[Store] = [(port, r, graph.symbol(("row", r))) for r in range(rows)]
            return [Pointer("row", "work", 0), Pointer(port, port, 1)], stores

        return self._compiled("output", (port, rows), make)
