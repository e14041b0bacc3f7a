"""The equations of a whole mechanism, for one piece of straight code: coordinates and numbers are symbols.

Numbers that are 0 or +-1 are folded, all others are loaded: mechanisms of one structure share the code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from linkwork.kinematics.equation_system import System
from linkwork.kinematics.equations import Thing
from linkwork.trace.expression import Graph, Operand
from linkwork.trace.graph_walks import evaluate

_STRUCTURAL = (0.0, 1.0, -1.0)


def structure(system: System, lanes: int) -> tuple[Any, ...]:
    """Return what the symbols depend on, and so the code that is made of them."""
    numbers = [x if x in _STRUCTURAL else None for x in system.data.tolist()]
    varied = list(system.places.values()) if lanes > 1 else []
    things = [(equations.signature, tuple(record)) for equations, record in system.records]
    return system.algebra.__name__, len(system.bodies), things, numbers, varied


@dataclass(frozen=True)
class Values:
    """The equations of one thing, as expressions."""

    phi: list[Operand]
    phi_q: list[Operand]
    located: list[Operand]  # joint coordinates by which turns are counted


class UnrolledEquations:
    """A mechanism in symbols; in lanes each mechanism has values p of its own of the numbers that vary."""

    def __init__(self, system: System, lanes: int) -> None:
        self.system, self.graph = system, Graph()
        self.q = self.graph.symbols(("q", k) for k in range(system.nq))
        self.u = self.graph.symbols(("u", k) for k in range(len(system.drivers)))
        self.ref = self.graph.symbols(("ref", k) for k in range(system.references))
        self.columns = self._folded("columns", system.columns.tolist())
        self._data = self._folded("data", system.data.tolist())
        for k, places in enumerate(system.places.values() if lanes > 1 else ()):
            for place in places:
                self._data[place] = self.graph.symbol(("p", k))
        size = system.coordinates
        self._frames = [
            system.algebra.pose(self.q[size * k : size * (k + 1)]).scalars()
            for k in range(len(system.bodies))
        ]

    def _folded(self, base: str, numbers: Sequence[float]) -> list[Operand]:
        return [x if x in _STRUCTURAL else self.graph.symbol((base, k)) for k, x in enumerate(numbers)]

    def of(self, thing: Thing, ref: Sequence[Operand]) -> Values:
        """Return the equations of a thing, the turns of its joints counted from `ref`."""
        system, size = self.system, self.system.coordinates
        equations, record = system.records[system.things.index(thing)]
        data, own = self._data[record[0] :], size * len(system.bodies) + system.own[thing.name]
        numbers = {"data": data, "parameter": data[equations.data :], "u": self.u[record[1] // 3 :]}
        numbers |= {"ref": list(ref), "s": self.q[own:]}
        for b, body in enumerate(thing.bodies):
            k = system.numbers.get(id(body), 0)
            numbers |= {f"X{b}": self._frames[k], f"q{b}": self.q[size * k :]}
        groups = equations.phi, equations.phi_q, equations.located
        values = evaluate([x for group in groups for x in group], partial(_looked_up, numbers))
        first, second = len(equations.phi), len(equations.phi) + len(equations.phi_q)
        return Values(values[:first], values[first:second], values[second:])


def _looked_up(numbers: dict[str, Any], symbol: Any) -> Any:
    base, k = symbol.args[0]
    return numbers[base][k]
