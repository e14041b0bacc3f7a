"""Unrolled: an algorithm run on the symbols of a whole mechanism; some of its constants are known, or all."""

from collections.abc import Sequence
from typing import Any

from linkwork.algebra.vector import plus
from linkwork.dynamics.algorithm import INPUTS, QD, Algorithm, Loads, Pairs, Pass, Port, Q, Sizes, T
from linkwork.dynamics.link_view import Make, View, constituents, flatten, port_value, typed
from linkwork.dynamics.velocity_pairs import pairs
from linkwork.native.emit import Store
from linkwork.trace.expression import Graph, Operand
from linkwork.trace.graph_walks import evaluate
from linkwork.tree.tree import DataLayout, Tree


def unroll(
    algorithm: Algorithm, tree: Tree, path: Sequence[int], known: Sequence[float | None], packed: bool
) -> list[Store]:
    """Return what an algorithm stores in its outputs, as expressions of its inputs.

    `path` lists the numbers of the links to walk over, parents first; `known` are the constants of the tree
    and then the parameters of its loads, None for those to be read; `packed` stores pairs one after
    the other.
    """
    run = _Run(algorithm, tree, path, known)
    if algorithm.start:
        algorithm.start(run.views[0])
    run.ground_keeps = set(run.fields[0])
    for step in algorithm.passes:
        if isinstance(step, Pairs):
            run.pairs(step, packed)
            continue
        if isinstance(step, Loads):
            run.loads()
            continue
        assert isinstance(step, Pass)  # loops are rolled
        numbers = path if step.order == "outward" else list(reversed(path))
        for number in numbers[-1:] if step.tip_only else numbers:
            step.step(run.views[number], run.partner(number) if step.partner == "parent" else run.views[0])
    if algorithm.finish:
        algorithm.finish(run.views[0])
    return run.all_stores()


class _Run:
    """The fields of all links while an algorithm is unrolled."""

    def __init__(self, algorithm: Algorithm, tree: Tree, path: Sequence[int], known: Sequence[float | None]):
        self.algorithm, self.tree, self.path, self.algebra = algorithm, tree, path, tree.algebra
        self.graph = Graph()
        self.data = [self.graph.symbol(("data", k)) if x is None else x for k, x in enumerate(known)]
        self.outputs = {port.name: port for port in algorithm.outputs}
        self.stores: dict[tuple[str, int], Operand] = {}
        self.ground_keeps: set[str] = set()
        self.packed: set[str] = set()  # outputs stored as lists of pairs
        self.fields: dict[int, dict[str, Any]] = {number: {} for number in (0, *path)}
        self.views = {number: self.view(number) for number in self.fields}

    def view(self, number: int) -> View:
        own = self.fields[number]
        made_of = self.constituents(number) if number else self.world()

        def read(name: str) -> Any:
            if name not in own:
                own[name] = made_of[name](read)
            return own[name]

        def write(name: str, value: Any) -> None:
            own[name] = value
            if name in self.outputs:
                first = self.first(self.outputs[name], number)
                self.stores.update({(name, first + k): x for k, x in enumerate(flatten(value))})

        return View(read, write)

    def first(self, port: Port, number: int) -> int:
        """Return the place of a link's first number in a port."""
        if port.per == "world":
            return 0
        link = self.tree.links[number - 1]
        return {"q": link.q, "v": link.v, "link": number - 1}[port.per] * port.width(self.algebra)

    def input(self, port: Port, number: int) -> list[Operand]:
        kind = self.tree.links[number - 1].kind
        count = port.count(kind.nq, kind.nv, self.algebra)
        if port.name in self.algorithm.zero:
            return [0.0] * count
        first = self.first(port, number)
        return list(self.graph.symbols((port.name, first + k) for k in range(count)))

    def constituents(self, number: int) -> dict[str, Make]:
        link = self.tree.links[number - 1]
        n = DataLayout.of(self.algebra, link.kind.nv).parameters + link.kind.n_parameters
        data = self.data[link.data : link.data + n]
        v = self.input(QD, number) if QD in self.algorithm.inputs else [0.0] * link.kind.nv
        made_of = constituents(link.kind, data, self.input(Q, number), v)
        for port in self.algorithm.inputs:
            if port.name in self.algorithm.clear:  # what loads add to
                kind = port_value(
                    port, self.algebra, [0.0] * port.count(link.kind.nq, link.kind.nv, self.algebra)
                )
                made_of[port.name] = lambda _, zero=kind: zero
                continue
            made_of[port.name] = lambda _, p=port: port_value(p, self.algebra, self.input(p, number))
        return made_of

    def world(self) -> dict[str, Make]:
        return {
            "algebra": lambda _: self.algebra,
            "gravity": lambda _: self.data[: self.algebra.dimension],
        }

    def partner(self, number: int) -> View:
        """Return the parent of a link; for fields ground does not keep it gives zeros, and forgets."""
        parent = self.tree.links[number - 1].parent
        if parent:
            return self.views[parent]
        world, keeps = self.views[0], self.ground_keeps

        def read(name: str) -> Any:
            if name in keeps:
                return getattr(world, name)
            kind = self.algorithm.shared[name]
            return typed(
                self.algebra, kind, [0.0] * (1 if kind is None else getattr(self.algebra, kind).size)
            )

        return View(read, lambda name, value: setattr(world, name, value) if name in keeps else None)

    def loads(self) -> None:
        """Let all loads add to `external` and `tau` of the links."""
        first = len(self.tree.data)
        for placed in self.tree.loads:
            assert placed.formula is not None
            sides, parameters = placed.sides, self.data[first : first + len(placed.formula.parameters)]
            first += len(parameters)

            inputs = [self.tree.inputs.index(given.name) for given in placed.inputs]

            def value(
                symbol: Any, sides: Any = sides, parameters: Any = parameters, inputs: Any = inputs
            ) -> Operand:
                name, k = symbol.args[0]
                if name == "parameter":
                    return parameters[k]
                if name[0] == "i":
                    return self.graph.symbol((INPUTS.name, inputs[int(name[1:])]))
                if name in (T.name, Q.name, QD.name):
                    return self.graph.symbol((name, k))
                side = sides[int(name.lstrip("Xvqd"))]
                if name[0] == "q":
                    first = side.v.start if name.startswith("qd") else side.q.start
                    return self.graph.symbol((name.rstrip("0123456789"), first + k))
                return flatten(getattr(self.views[side.link], "X_W" if name[0] == "X" else "v"))[k]

            outcome = placed.formula.outcome
            outcome = outcome.like(evaluate(outcome.scalars(), value))
            for k, wrench in outcome.wrenches.items():
                link = self.fields[sides[k].link]
                link["external"] = link.get("external", self.algebra.Force.zero()) + wrench
            for (k, n), force in outcome.forces.items():
                self.drive(n if k < 0 else sides[k].v.start + n, force)

    def drive(self, v: int, force: Operand) -> None:
        """Add to the generalised force of a velocity."""
        number = next(
            n for n in self.path if 0 <= v - self.tree.links[n - 1].v < self.tree.links[n - 1].kind.nv
        )
        link = self.tree.links[number - 1]
        tau = self.fields[number].setdefault("tau", [0.0] * link.kind.nv)
        tau[v - link.v] = plus(tau[v - link.v], force)

    def pairs(self, step: Pairs, packed: bool) -> None:
        owners = [(number, k) for number in self.path for k in range(self.tree.links[number - 1].kind.nv)]

        def column(v: int) -> View:
            number, k = owners[v]
            return View(lambda name: self.fields[number][name][k], lambda name, value: None)

        nv = self.tree.nv
        for place, (i, j) in enumerate(pairs(self.tree)):
            value = step.step(column(i), column(j))
            if i == j:
                number, k = owners[i]
                value = value + self.views[number].armature[k]
            for where in [place] if packed else [i * nv + j, j * nv + i]:
                self.stores[step.output, where] = value
        if packed:
            self.packed.add(step.output)

    def all_stores(self) -> list[Store]:
        sizes = Sizes(self.tree.nq, self.tree.nv, len(self.tree.links), self.algebra)
        for name in self.algorithm.clear - self.packed - {port.name for port in self.algorithm.inputs}:
            for k in range(self.outputs[name].total(sizes)):
                self.stores.setdefault((name, k), 0.0)
        return [(name, k, value) for (name, k), value in self.stores.items()]
