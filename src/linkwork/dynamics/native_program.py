"""An algorithm on a tree as native code: kernels and records, or one function.

Rolled code is for links of a kind, in whatever tree, unrolled code for all mechanisms of one build: the same
kinds of joints on the same parents, and the same zeros and ones among their constants. Specialised code has
the constants of one mechanism in it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

from linkwork.dynamics.algorithm import Algorithm, Loads, Loops, Pairs, Pass, Rows, Sizes, Solve
from linkwork.dynamics.link_view import LinkLayout
from linkwork.dynamics.load_code import LoadCode, load_code
from linkwork.dynamics.loop_code import LoopCode
from linkwork.dynamics.loop_solve import Segment
from linkwork.dynamics.rolled_functions import (
    LINK,
    PARENT,
    RECORD,
    SCALARS,
    WORK,
    V,
    identity,
    layout_of,
    port_names,
    unit_of,
    world_of,
)
from linkwork.dynamics.unrolled import unroll
from linkwork.dynamics.velocity_pairs import count_pairs, packed_places, velocities_above, velocity_links
from linkwork.errors import LinkworkError
from linkwork.native import emit, entry, store
from linkwork.native.tangent import tangent_name
from linkwork.tree.joint_formula import JointFormula
from linkwork.tree.tree import DataLayout, Tree
from linkwork.varied import real_table

Form = Literal["rolled", "unrolled", "specialized"]

_SIMPLE = (0.0, 1.0, -1.0)  # constants that make code shorter
_LONGEST = 1000  # pairs to unroll; longer code falls out of the caches: 5,050 pairs are 1.4 times slower


Path = slice | np.ndarray  # rows of links: all, or some
Run = tuple[int, int, int]  # places of the first and the last of neighbouring links, and what they share


@dataclass(frozen=True, eq=False)
class Program:
    """Code and tables to run an algorithm on a mechanism: `run(plan, ports)`, ports = data, work, arrays.

    There are `results` ports more: any memory, best that which the results will be copied to, for its lines
    are fetched.
    """

    run: int  # address of void run(int64* plan, double** ports)
    plan: np.ndarray  # int64 table that `run` walks
    data: np.ndarray  # constants of the mechanism
    work_size: int  # doubles of scratch memory, per lane
    shapes: tuple[tuple[int, ...], ...]  # of the arrays, inputs first, for one mechanism
    inputs: int
    lanes: int
    places: tuple[np.ndarray, ...]  # per array: where its numbers are in the room of one block in lanes
    keep: tuple[Any, ...] = ()  # what the plan points to
    results: int = 0


def sizes_of(tree: Tree) -> Sizes:
    each = [(loop.rows, loop.equations, loop.joint.nq, loop.joint.nv) for loop in tree.loops]
    of_loops = (sum(counts) for counts in zip(*each, strict=True))
    return Sizes(
        tree.nq, tree.nv, len(tree.blocks), tree.algebra, tree.shown, *of_loops, inputs=len(tree.inputs)
    )


def shapes_of(algorithm: Algorithm, tree: Tree) -> tuple[tuple[int, ...], ...]:
    sizes = sizes_of(tree)
    return tuple(port.shape(sizes) for port in algorithm.ports)


def program(
    algorithm: Algorithm,
    tree: Tree,
    lanes: int,
    form: Form,
    path: Sequence[int] | None = None,
    tangent: bool = False,
    shared: bool = True,
) -> Program:
    """Compile an algorithm for a tree, for one mechanism or for lanes; `path` restricts it to these links.

    With `tangent` the arrays are followed by those of their rates, the scratch memory's first. Constants are
    `shared` by all lanes, or each lane has its own: then `data` is that of one lane.
    """
    scalars = SCALARS if shared or lanes == 1 else ()
    rows = slice(None) if path is None else np.array(path, np.int64) - 1
    too_long = bool(algorithm.packed) and count_pairs(tree) > _LONGEST
    called = algorithm.loaded and (
        tree.contacts is not None or any(placed.formula is None for placed in tree.loads)
    )
    if algorithm.looped and tangent:
        raise LinkworkError(f"{algorithm.name}: derivatives with closed loops are not supported")
    if not (form == "rolled" or too_long or called or algorithm.looped or tangent):
        with suppress(ArithmeticError, ValueError):  # of constants that a law would divide by, unless it asks
            numbers = range(1, len(tree.blocks) + 1) if path is None else path
            return _unrolled(algorithm, tree, lanes, list(numbers), form, scalars)
    return _rolled(algorithm, tree, lanes, rows, tangent, scalars)


def constants(algorithm: Algorithm, tree: Tree) -> np.ndarray:
    """Return the numbers of a mechanism that programs of an algorithm read: links, loads, then loops."""
    more: list[float] = []
    if algorithm.loaded:
        more += [x for placed in tree.loads if placed.formula for x in placed.formula.parameters]
    if algorithm.looped:
        more += [x for loop in tree.loops for x in loop.constants]
    return np.concatenate([tree.data, real_table(more)]) if more else tree.data


def is_simple(x: float) -> bool:
    """Whether unrolled code has a constant in it, so that it is shorter."""
    return x in _SIMPLE


def pattern(data: np.ndarray) -> np.ndarray:
    """Return the constants that unrolled code has in it, others as NaN: (..., constants)."""
    return np.where(np.isin(data, _SIMPLE), data, np.nan)


def _unrolled(
    algorithm: Algorithm, tree: Tree, lanes: int, path: list[int], form: Form, scalars: Sequence[str]
) -> Program:
    kinds = [(link.kind.signature, link.parent, link.q, link.v) for link in tree.links]
    placed = tree.loads if algorithm.loaded else ()
    loads = [
        (one.formula, one.sides, [tree.inputs.index(given.name) for given in one.inputs])
        for one in placed
        if one.formula
    ]
    laws = [
        (law.signature, [(s.link, s.q.start, s.v.start) for s in sides], inputs)
        for law, sides, inputs in loads
    ]
    data = constants(algorithm, tree)
    known = [x if form == "specialized" or is_simple(x) else None for x in data.tolist()]
    shape = path, lanes, list(scalars)
    name = store.digest("unrolled", identity(algorithm), kinds, repr(known), *shape, laws)

    shapes = shapes_of(algorithm, tree)
    results = [8 * lanes * prod(shape) for shape in shapes[len(algorithm.given) :]] if lanes > 1 else []

    def build() -> tuple[str, dict[str, Any]]:
        stores = unroll(algorithm, tree, path, known, packed=lanes > 1)
        names = port_names(algorithm, False)
        function = emit.straight(f"f_{name}", lanes, names, scalars, stores, results)
        return emit.module(lanes, [function]), {}

    code = store.load_apart(name, build)
    return Program(
        code.address(f"f_{name}"),
        np.zeros(1, np.int64),
        data,
        1,
        shapes,
        len(algorithm.given),
        lanes,
        _places(algorithm, tree, lanes),
        keep=(code,),
        results=len(results),
    )


def _rolled(
    algorithm: Algorithm, tree: Tree, lanes: int, path: Path, tangent: bool, scalars: tuple[str, ...]
) -> Program:
    parts = _RolledParts(algorithm, tree, lanes, path, tangent, scalars)
    for place in range(len(algorithm.passes)):
        parts.add(place)
    shapes = shapes_of(algorithm, tree)
    run, plan, end = parts.planned(shapes)
    return Program(
        run,
        plan,
        constants(algorithm, tree),
        end,
        shapes,
        len(algorithm.given),
        lanes,
        _places(algorithm, tree, lanes),
        (parts.records, parts.columns, parts.loads, parts.loops, parts.contacts),
    )


class _RolledParts:
    """What a rolled program runs, gathered pass by pass, and the records that it walks over."""

    def __init__(
        self,
        algorithm: Algorithm,
        tree: Tree,
        lanes: int,
        path: Path,
        tangent: bool,
        scalars: tuple[str, ...],
    ):
        self._algorithm, self._tree, self._lanes = algorithm, tree, lanes
        self._tangent, self._scalars = tangent, scalars
        self._layout = layout_of(algorithm, tree.algebra)
        self._kinds = [unit_of(algorithm, kind, lanes, tangent, scalars) for kind in tree.kinds]
        self._units = dict(zip(tree.kinds, self._kinds, strict=True))
        self._world = world_of(algorithm, tree.algebra, lanes, tangent, scalars)
        self._ports = port_names(algorithm, tangent)
        self._rows = next((step for step in algorithm.walks if isinstance(step, Rows)), None)
        self._numbers = {id(step): number for number, step in enumerate(algorithm.walks)}
        self._runs = _runs(tree, path)
        blocks = np.array([0, self._layout.size, *(unit.block for unit in self._kinds)], np.int64)
        numbers = np.empty(len(tree.blocks) + 2, np.int64)
        numbers[0], numbers[1], numbers[2:] = 0, 1, tree.kind_numbers + 2
        self._starts = blocks[numbers].cumsum()  # of the links' blocks in the work array; ground is the first
        self.records = _link_records(tree, self._starts, path)
        self._first = self.records.ctypes.data  # the address of the first record
        self.columns = np.empty((0, 3), np.int64)
        if algorithm.packed:
            self.columns = _column_records(tree, self._layout, self._starts)
        self.loads, self.loops, self.contacts = LoadCode(), None, None
        self._segments: list[Segment] = []  # kernel, its first record, count, step
        self._add_world(self._world.start)

    def _add_world(self, kernel: int) -> None:
        if kernel:
            self._segments.append((kernel, self._first + 8 * RECORD * (len(self.records) - 1), 1, 0))

    def add(self, place: int) -> None:
        """Add a pass of the algorithm."""
        step = self._algorithm.passes[place]
        if isinstance(step, Pairs):
            self._segments.append((self._world.pairs, self.columns.ctypes.data, len(self.columns), 0))
        elif isinstance(step, Loads):
            self._add_loads()
        elif isinstance(step, Loops):
            self._add_loops(step)
        elif isinstance(step, Rows):
            self._segments += self._inward(0, step)
        elif isinstance(step, Solve):
            self._segments += self._outward(0, step)
        else:
            number = self._numbers[id(step)]
            kernels = [kernel for unit in self._kinds for kernel in unit.kernels(number)]
            between = self._between(place)
            self._segments += _walks(step, self._runs, kernels, self._first, between)

    def _add_loads(self) -> None:
        tree, layout, starts, lanes, ports = self._tree, self._layout, self._starts, self._lanes, self._ports
        scalars, tangent = self._scalars, self._tangent
        self.loads = load_code(self._algorithm, tree, layout, starts, lanes, ports, scalars, tangent)
        self._segments += self.loads.segments
        if tree.contacts is not None and "external" in ports:
            self.contacts = tree.contacts.code(tree, layout, starts, lanes, ports)
            self._segments.append(self.contacts.segment)

    def _add_loops(self, step: Loops) -> None:
        tree, layout, starts, lanes, ports = self._tree, self._layout, self._starts, self._lanes, self._ports
        behind = len(tree.data) + len(self.loads.data)
        self.loops = LoopCode(self._algorithm, tree, layout, starts, lanes, ports, self._scalars, behind)
        self._segments += self.loops.joints(step)

    def _row_kernels(self, kind: JointFormula, direct: bool) -> list[int]:
        return self._units[kind].row_kernels(self._numbers[id(self._rows)], direct)

    def _inward(self, root: int, rows: Rows) -> list[Segment]:
        assert self.loops is not None
        return self.loops.inward(root, rows, self._row_kernels, self.records)

    def _outward(self, root: int, solve: Solve) -> list[Segment]:
        assert self.loops is not None
        assert self._rows is not None
        return self.loops.outward(root, self._rows, solve)

    def _between(self, place: int) -> dict[int, list[Segment]]:
        """Return what comes before a link's turn, or after it: rows of loops that have their root there.

        They are gathered on the walk before the rows of ground, and solved on the one behind.
        """
        if self.loops is None or self._rows is None:
            return {}
        roots = [root for root in self.loops.roots if root]
        passes = self._algorithm.passes
        if self._rows in passes[place + 1 : place + 2]:
            return {root: self._inward(root, self._rows) for root in roots}
        before = passes[place - 1]
        return {root: self._outward(root, before) for root in roots} if isinstance(before, Solve) else {}

    def planned(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, np.ndarray, int]:
        """Return the code that walks, its plan, and the size of the work array."""
        self._add_world(self._world.finish)
        end = self.loops.end if self.loops else int(self._starts[-1])
        if self.contacts is not None:
            self.contacts.put(end)
            end += self.contacts.size
        clears = _clears(self._algorithm, shapes, self._lanes, self._tangent)
        whole = [s for s in self._segments if s[0] and s[2]]
        plan = np.array([len(whole), len(clears) // 2, *clears, *(x for s in whole for x in s)], np.int64)
        run = entry.walker(self._lanes)
        if self.contacts is not None and "a" in self._algorithm.shared:
            run, plan = self.contacts.around(run, plan)
        return run, plan, end


def _runs(tree: Tree, path: Path) -> list[Run]:
    """Return the neighbouring links of a path that are of one kind, and all on ground or none of them."""
    variants = (2 * tree.kind_numbers + (tree.parents == 0))[path]
    if not len(variants):
        return []
    ends = [*(variants[1:] != variants[:-1]).nonzero()[0].tolist(), len(variants) - 1]
    begins = [0, *(end + 1 for end in ends[:-1])]
    return list(zip(begins, ends, variants[ends].tolist(), strict=True))


def _walks(
    step: Pass, runs: list[Run], kernels: list[int], first: int, between: Mapping[int, list[Segment]]
) -> list[Segment]:
    """Return the segments of one pass: runs of neighbouring links with the same kernel.

    `kernels` are those of each kind, off and on ground. `first` is the address of the first record. `between`
    has what comes before a link's turn if the walk is inward, and after it if outward.
    """
    if not runs:
        return []
    if step.tip_only:
        _, end, variant = runs[-1]
        return [(kernels[variant], first + 8 * RECORD * end, 1, RECORD)]
    if between:
        runs = [(k, k, variant) for begin, end, variant in runs for k in range(begin, end + 1)]
    joined: list[Run] = []  # those with the same kernel; what comes between two links keeps them apart
    for begin, end, variant in runs:
        kernel = kernels[variant]
        if joined and joined[-1][2] == kernel and begin not in between:
            joined[-1] = joined[-1][0], end, kernel
        else:
            joined.append((begin, end, kernel))
    segments: list[Segment] = []
    if step.order == "outward":
        for begin, end, kernel in joined:
            segments.append((kernel, first + 8 * RECORD * begin, end - begin + 1, RECORD))
            segments += between.get(end + 1, ())
        return segments
    for begin, end, kernel in reversed(joined):
        segments += between.get(end + 1, ())
        segments.append((kernel, first + 8 * RECORD * end, end - begin + 1, -RECORD))
    return segments


def _clears(algorithm: Algorithm, shapes: Sequence[tuple[int, ...]], lanes: int, tangent: bool) -> list[int]:
    """Return port and size of each array that must start as zero."""
    if not algorithm.clear:
        return []
    names = port_names(algorithm, tangent)
    cleared = algorithm.clear - (algorithm.packed if lanes > 1 else set())
    found = []
    for port, shape in zip(algorithm.ports, shapes, strict=True):
        if port.name in cleared:
            found += [names.index(port.name), prod(shape)]
            found += [names.index(tangent_name(port.name)), prod(shape)] if tangent else []
    return found


def _link_records(tree: Tree, starts: np.ndarray, path: Path) -> np.ndarray:
    """Return per link of the path where its constants, blocks and coordinates are; the last is the world."""
    of_links = tree.starts[:-1][path]
    records = np.zeros((len(of_links) + 1, RECORD), np.int64)
    rows = records[:-1]
    rows[:, : V + 1] = of_links
    rows[:, WORK], rows[:, PARENT] = starts[1:-1][path], starts[tree.parents[path]]
    rows[:, LINK] = np.arange(len(tree.blocks))[path]
    return records


def _places(algorithm: Algorithm, tree: Tree, lanes: int) -> tuple[np.ndarray, ...]:
    """Return where the numbers of each array lie in a block: in order, but pairs are packed."""
    if lanes == 1:
        return ()
    sizes = sizes_of(tree)
    packed = algorithm.packed
    return tuple(
        packed_places(tree) if port.name in packed else np.arange(port.total(sizes))
        for port in algorithm.ports
    )


def _column_records(tree: Tree, layout: LinkLayout, starts: np.ndarray) -> np.ndarray:
    """Return per velocity: where its columns lie, where its armature is, the velocity above it or -1."""
    links, k = velocity_links(tree)
    columns = starts[links] + layout.size + k * layout.stride
    armature = tree.starts[links - 1, 0] + DataLayout.of(tree.algebra, 0).armature + k
    return np.column_stack([columns, armature, velocities_above(tree)]).astype(np.int64)
