"""The native functions that rolled programs walk with: of kinds of joints, and of no link.

They are compiled once per algorithm and kind, for whatever tree, and find their numbers by records of links.
"""

from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

from linkwork.dynamics.algorithm import Algorithm, Pairs, Rows
from linkwork.dynamics.link_view import LinkLayout, View, type_size, typed
from linkwork.dynamics.loop_code import row_pointers, row_variants
from linkwork.dynamics.rolled import RolledKind, trace_world, world_fields
from linkwork.native import emit, store
from linkwork.native.emit import Pointer, Store
from linkwork.native.tangent import tangent_pointers, tangent_ports, with_tangents
from linkwork.trace.expression import Graph
from linkwork.tree.joint_formula import JointFormula
from linkwork.tree.loop_formula import padding

# columns of a link's record
DATA, Q, V, WORK, PARENT, LINK = range(6)  # the first three as in Tree.starts
RECORD = 6
SCALARS = ("data",)


def port_names(algorithm: Algorithm, tangent: bool) -> list[str]:
    names = ["data", "work", *(port.name for port in algorithm.ports)]
    return tangent_ports(names, SCALARS) if tangent else names


def identity(algorithm: Algorithm) -> tuple[object, ...]:
    """Return what distinguishes algorithms; their text is in the digest of the sources."""
    ports = [port.name for port in algorithm.ports]
    return algorithm.name, sorted(algorithm.zero), ports, list(algorithm.shared)


@lru_cache(maxsize=1024)
def layout_of(algorithm: Algorithm, algebra: ModuleType) -> LinkLayout:
    return LinkLayout(algorithm, algebra)


@lru_cache(maxsize=4096)
def unit_of(
    algorithm: Algorithm, kind: JointFormula, lanes: int, tangent: bool, scalars: tuple[str, ...]
) -> "Unit":
    return Unit(algorithm, kind, layout_of(algorithm, kind.algebra), lanes, tangent, scalars)


@lru_cache(maxsize=1024)
def world_of(
    algorithm: Algorithm, algebra: ModuleType, lanes: int, tangent: bool, scalars: tuple[str, ...]
) -> "World":
    return World(algorithm, algebra, layout_of(algorithm, algebra), lanes, tangent, scalars)


class Unit:
    """The native functions of a kind of joint: one per pass, and another where ground drops what it gets."""

    def __init__(
        self,
        algorithm: Algorithm,
        kind: JointFormula,
        layout: LinkLayout,
        lanes: int,
        tangent: bool,
        scalars: tuple[str, ...],
    ):
        name = store.digest("rolled", identity(algorithm), kind.signature, lanes, tangent, list(scalars))

        def build() -> tuple[str, dict[str, Any]]:
            traced = RolledKind(algorithm, kind, layout)
            keeps = world_fields(algorithm, kind.algebra, layout)
            kept = {k for field in keeps for k in layout.places(algorithm, kind.algebra, field, kind.nv)}
            functions, kernels = [], []  # kernels: per pass, their names off and on ground
            for number, (step, stores) in enumerate(zip(algorithm.walks, traced.passes, strict=True)):
                if isinstance(step, Rows):
                    kernels.append([])
                    continue
                on_ground = [s for s in stores if s[0] != "partner" or s[1] in kept]
                one = step.partner == "world" or len(on_ground) == len(stores)
                names = [f"f{number}_{name}", f"f{number}_{name}" if one else f"g{number}_{name}"]
                variants = {names[0]: stores} if one else dict(zip(names, (stores, on_ground), strict=True))
                for kernel, chosen in variants.items():
                    if chosen:
                        pointers = _link_pointers(algorithm, kind.algebra, step.partner)
                        functions.append(
                            _emit_walk(algorithm, kernel, lanes, pointers, chosen, tangent, scalars)
                        )
                kernels.append([kernel if variants[kernel] else "" for kernel in names])
            return emit.module(lanes, functions), {"block": traced.block, "kernels": kernels}

        meta = store.load(name, build)
        self.block: int = meta["block"]
        self._kernels = [[store.address(f) if f else 0 for f in pair] for pair in meta["kernels"]]
        self._row_kernels: dict[bool, list[int]] = {}
        self._made_of = algorithm, kind, layout, lanes, scalars

    def row_kernels(self, number: int, direct: bool) -> list[int]:
        """Return the addresses of the kernels that carry rows past a link: see `row_variants`."""
        if direct in self._row_kernels:
            return self._row_kernels[direct]
        algorithm, kind, layout, lanes, scalars = self._made_of
        name = store.digest("rows", identity(algorithm), kind.signature, lanes, direct, list(scalars))
        names = [f"r{k}_{name}" for k in range(3)]

        def build() -> tuple[str, dict[str, Any]]:
            stores = RolledKind(algorithm, kind, layout).passes[number]
            of_link = _link_pointers(algorithm, kind.algebra, "parent")
            pointers = row_pointers(of_link, RECORD)
            ports, width, shared = port_names(algorithm, tangent=False), lanes, scalars
            if lanes == 1:  # rows lie side by side, and share all numbers of the link
                width, shared = padding(kind.algebra), (*ports, *(p.base for p in of_link))
            functions = [
                emit.walk(kernel, width, ports, shared, pointers, chosen)
                for kernel, chosen in zip(names, row_variants(stores, direct), strict=True)
            ]
            return emit.module(width, functions), {}

        store.load(name, build)
        self._row_kernels[direct] = [store.address(kernel) for kernel in names]
        return self._row_kernels[direct]

    def kernels(self, number: int) -> list[int]:
        """Return the addresses of a pass's kernels, off and on ground, 0 if there is nothing to do."""
        return self._kernels[number]


def _link_pointers(algorithm: Algorithm, algebra: ModuleType, partner: str) -> list[Pointer]:
    pointers = [
        Pointer("data", "data", DATA),
        Pointer("self", "work", WORK),
        Pointer("partner", "work", PARENT if partner == "parent" else None),
    ]
    column = {"q": Q, "v": V, "link": LINK, "world": None}
    for port in algorithm.ports:
        pointers.append(Pointer(port.name, port.name, column[port.per], port.width(algebra)))
    return pointers


def _emit_walk(
    algorithm: Algorithm,
    name: str,
    lanes: int,
    pointers: Sequence[Pointer],
    stores: Sequence[Store],
    tangent: bool,
    scalars: Sequence[str],
) -> str:
    if tangent:
        stores, pointers = with_tangents(stores, SCALARS), tangent_pointers(pointers, SCALARS)
    return emit.walk(name, lanes, port_names(algorithm, tangent), scalars, pointers, stores)


class World:
    """The native functions of an algorithm that belong to no link: start, finish and pairs."""

    def __init__(
        self,
        algorithm: Algorithm,
        algebra: ModuleType,
        layout: LinkLayout,
        lanes: int,
        tangent: bool,
        scalars: tuple[str, ...],
    ):
        name = store.digest("world", identity(algorithm), algebra.__name__, lanes, tangent, list(scalars))
        pairs = next((step for step in algorithm.passes if isinstance(step, Pairs)), None)

        def build() -> tuple[str, dict[str, Any]]:
            ports = port_names(algorithm, tangent=False)
            pointers = [Pointer("data", "data", DATA), Pointer("self", "work", WORK)]
            pointers += [Pointer(port.name, port.name) for port in algorithm.outputs]
            functions = []
            for part, there in (("start", algorithm.start), ("finish", algorithm.finish)):
                if there:
                    stores = trace_world(algorithm, algebra, layout, finish=part == "finish")
                    functions.append(
                        _emit_walk(algorithm, f"{part}_{name}", lanes, pointers, stores, tangent, scalars)
                    )
            if pairs:
                value = _pair_value(algorithm, pairs, algebra, layout)
                functions.append(
                    emit.climb(f"pairs_{name}", lanes, ports, "data", "work", pairs.output, value, lanes > 1)
                )
            return emit.module(lanes, functions), {}

        self.start = self.finish = self.pairs = 0
        if algorithm.start or algorithm.finish or pairs:
            store.load(name, build)
            self.start = store.address(f"start_{name}") if algorithm.start else 0
            self.finish = store.address(f"finish_{name}") if algorithm.finish else 0
            self.pairs = store.address(f"pairs_{name}") if pairs else 0


def _pair_value(algorithm: Algorithm, pairs: Pairs, algebra: ModuleType, layout: LinkLayout) -> Any:
    graph = Graph()

    def side(base: str) -> View:
        def read(name: str) -> Any:
            kind = algorithm.columns[name]
            first = layout.offsets[name] - layout.size
            size = type_size(algebra, kind)
            return typed(algebra, kind, graph.symbols((base, first + k) for k in range(size)))

        return View(read, lambda name, value: None)

    return pairs.step(side("self"), side("other"))
