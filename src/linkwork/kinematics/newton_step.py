"""One step of Newton's method for one mechanism, unrolled: new q, report <- q, u, ref.

    phi_q x = -phi,    q <- q moved by x

The equations are eliminated on symbols, in an order of pivots that is chosen once by numbers: those that make
the least new entries (Markowitz) among those that are not small. Away from there a pivot may get small, the
step is then poor, and whoever iterates sees that it does not converge. Of redundant equations those are
taken from which the others follow; whether these hold is seen, too, from the largest.

Zeros and ones of the mechanism's numbers are folded, all others are loaded: mechanisms of one structure share
the code. There are two forms. For one mechanism x, the least pivot and the joint coordinates are stored too;
in lanes each mechanism may have values of its own, p, of the numbers that vary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import frexp
from typing import Any

import numpy as np
from scipy.linalg import qr

from linkwork.algebra import number, rotation
from linkwork.algebra.vector import minus, plus, product
from linkwork.kinematics.equation_program import sources
from linkwork.kinematics.equation_system import System
from linkwork.native import emit, store
from linkwork.native.emit import Store
from linkwork.trace.expression import Graph, Operand, evaluate
from linkwork.tree.joint_formula import structure

Array = np.ndarray
Pivots = list[tuple[int, int]]  # equation, unknown, in the order of elimination

# shared by all lanes: data of the equations, scales of the unknowns, weights of the pivots; then per lane
SHARED = ("data", "columns", "weights")
PORTS = (*SHARED, "q", "u", "p", "ref", "new", "x", "located", "report")
LENGTH, LARGEST, PIVOT = range(
    3
)  # report: of the step, scaled; of the equations; least, scaled as its weight is
_SMALL_PIVOT = 0.1  # relative to the largest of its row
_WEAK = 1e-6  # of pivots beside the first, of equations that follow from others
_STRUCTURAL = (0.0, 1.0, -1.0)


@dataclass(frozen=True)
class NewtonStep:
    """The code, and the numbers it was made for."""

    address: int  # of void step(plan, ports)
    weights: Array  # (n,) of pivots: 1 / the scale of the row, times the scale of the column


def newton_step(system: System, q: Array, lanes: int) -> NewtonStep:
    """Make the step for one mechanism, or for lanes of them; pivots are good near q.

    ZeroDivisionError if the equations do not determine the coordinates there.
    """
    there, rows = _pattern(system, q), _independent(system, q)
    A = system.matrix(q)[rows] * system.columns
    lengths = np.linalg.norm(A, axis=1)
    pivots = _pivots(there[rows], A / lengths[:, None])
    weights = np.array([system.columns[j] / lengths[i] for i, j in pivots])
    numbers = [x if x in _STRUCTURAL else None for x in system.data.tolist()]
    varied = list(system.places.values()) if lanes > 1 else []
    things = [(equations.signature, tuple(record)) for equations, record in system.records]
    structure = system.algebra.__name__, len(system.bodies), things, numbers, varied, rows, pivots
    name = store.digest("newton step", sources(), lanes, structure)

    def build() -> tuple[str, dict[str, Any]]:
        stores = _Symbols(system, lanes).stores(rows, pivots)
        return emit.module(lanes, [emit.straight(f"step_{name}", lanes, PORTS, SHARED, stores)]), {}

    store.load(name, build)
    return NewtonStep(store.address(f"step_{name}"), weights)


# by numbers


def _independent(system: System, q: Array) -> list[int]:
    """Return as many equations as there are unknowns, from which all others follow near q."""
    if system.m == system.n:
        return list(range(system.m))
    system.evaluate(q)
    factors: Any = qr(system.scaled_matrix().T, mode="r", pivoting=True)
    R, order = factors
    sizes = np.abs(np.diag(R))
    if system.m < system.n or sizes[system.n - 1] < _WEAK * sizes[0]:
        raise ZeroDivisionError("the equations do not determine the coordinates")
    return sorted(order[: system.n].tolist())


def _pattern(system: System, q: Array) -> Array:
    """Return where phi_q is not always zero: (equations, unknowns)."""
    generator, found = np.random.default_rng(1), np.zeros((system.m, system.n), np.bool_)
    for _ in range(2):
        found |= system.matrix(system.shaken(q, generator, 0.3)) != 0.0
    return found


def _pivots(there: Array, A: Array) -> Pivots:
    """Return the order of elimination of a square matrix that is A, its rows of length one, at one place.

    Sizes of pivots are compared by powers of two, so that the order hardly ever depends on the last digits.
    """
    n, A, there = len(A), A.copy(), there.copy()
    left, unused, order = set(range(n)), set(range(n)), []
    for _ in range(n):
        rows, columns = sorted(left), sorted(unused)
        counts = there[rows].sum(axis=0)
        best = None
        for i in rows:
            size = np.abs(A[i])
            top, width = size[columns].max(), int(there[i, columns].sum())
            for j in columns:
                if there[i, j] and size[j] > 0.0 and size[j] >= _SMALL_PIVOT * top:
                    fill = (width - 1) * (int(counts[j]) - 1)
                    rank = fill, -frexp(size[j])[1], i, j
                    best = rank if best is None else min(best, rank)
        if best is None:
            raise ZeroDivisionError("the equations do not determine the coordinates")
        _, _, i, j = best
        left.discard(i)
        unused.discard(j)
        order.append((i, j))
        for k in left:
            if there[k, j]:
                A[k] -= A[k, j] / A[i, j] * A[i]
                A[k, j] = 0.0
                there[k] |= there[i]
    return order


# on symbols


class _Symbols:
    """A mechanism whose coordinates, and those of its numbers that are neither 0 nor 1, are symbols."""

    def __init__(self, system: System, lanes: int) -> None:
        self.system, self.lanes, graph = system, lanes, Graph()
        self.q = graph.symbols(("q", k) for k in range(system.nq))
        self.u = graph.symbols(("u", k) for k in range(len(system.drivers)))
        self.ref = graph.symbols(("ref", k) for k in range(system.references))
        self.weights = graph.symbols(("weights", k) for k in range(system.n))
        self.columns = [
            x if x in _STRUCTURAL else graph.symbol(("columns", k))
            for k, x in enumerate(system.columns.tolist())
        ]
        self.data: list[Operand] = [
            x if x in _STRUCTURAL else graph.symbol(("data", k)) for k, x in enumerate(system.data.tolist())
        ]
        for k, places in enumerate(system.places.values() if lanes > 1 else ()):
            for place in places:
                self.data[place] = graph.symbol(("p", k))

    def stores(self, rows: Sequence[int], pivots: Pivots) -> list[Store]:
        """Return what the step computes."""
        phi, entries, located = self._equations()
        matrix: list[dict[int, Operand]] = [{} for _ in phi]
        for i, j, x in entries:
            matrix[i][j] = plus(matrix[i].get(j, 0.0), x)
        x, divisors = _eliminated([matrix[i] for i in rows], pivots, [-phi[i] for i in rows])
        steps = [value / scale for value, scale in zip(x, self.columns, strict=True)]
        length = largest = 0.0
        for value in steps:
            length = _larger(length, number.abs(value))
        for value in phi:
            largest = _larger(largest, number.abs(value))
        stores: list[Store] = [("new", k, value) for k, value in enumerate(self._moved(x))]
        stores += [("report", LENGTH, length), ("report", LARGEST, largest)]
        if self.lanes > 1:
            return stores
        least: Operand = np.inf
        for value, weight in zip(divisors, self.weights, strict=True):
            size = number.abs(value * weight)
            least = number.where(least <= size, least, size)
        stores += [("x", k, value) for k, value in enumerate(steps)]
        stores += [("located", k, value) for k, value in enumerate(located)]
        return [*stores, ("report", PIVOT, least)]

    def _equations(self) -> tuple[list[Operand], list[tuple[int, int, Operand]], list[Operand]]:
        """Return phi, the entries of phi_q, and the joint coordinates by which turns are counted."""
        system, size = self.system, self.system.coordinates
        count = len(system.bodies)
        frames = [system.algebra.pose(self.q[size * k : size * (k + 1)]).scalars() for k in range(count)]
        phi: list[Operand] = []
        located: list[Operand] = []
        entries: list[tuple[int, int, Operand]] = []
        for thing, (equations, record) in zip(system.things, system.records, strict=True):
            data = self.data[record[0] :]
            numbers = {"data": data, "parameter": data[equations.data :], "u": self.u[record[1] // 3 :]}
            numbers |= {"ref": self.ref[record[2] :], "s": self.q[size * count + system.own[thing.name] :]}
            for b, body in enumerate(thing.bodies):
                k = system.numbers.get(id(body), 0)
                numbers |= {f"X{b}": frames[k], f"q{b}": self.q[size * k :]}
            groups = equations.phi, equations.phi_q, equations.located
            values = iter(evaluate([x for group in groups for x in group], partial(_looked_up, numbers)))
            own_phi, own_phi_q, own_located = ([next(values) for _ in group] for group in groups)
            phi += own_phi
            located += own_located
            part = system.entries[thing.name]
            places = zip(system.entry_rows[part].tolist(), system.entry_columns[part].tolist(), strict=True)
            entries += [(i, j, x) for (i, j), x in zip(places, own_phi_q, strict=True)]
        return phi, entries, located

    def _moved(self, x: Sequence[Operand]) -> list[Operand]:
        """Return the coordinates after a step, as `newton.move` does."""
        moved: list[Operand] = []
        q, size, free, count = self.q, self.system.coordinates, self.system.free, len(self.system.bodies)
        for k in range(count):
            here, change = q[size * k : size * (k + 1)], x[free * k : free * (k + 1)]
            moved += [a + b for a, b in zip(here[:3], change[:3], strict=True)]
            if free == 6:
                turned = rotation.quaternion_product(here[3:], (1.0, *(0.5 * w for w in change[3:])))
                length = number.sqrt(sum(c * c for c in turned))
                moved += [c / length for c in turned]
        return [*moved, *(a + b for a, b in zip(q[size * count :], x[free * count :], strict=True))]


def _larger(a: Operand, b: Operand) -> Operand:
    """Return the larger of two numbers; what is not a number is larger than any."""
    return number.where(a >= b, a, b)


def _looked_up(numbers: dict[str, Any], symbol: Any) -> Any:
    base, k = symbol.args[0]
    return numbers[base][k]


def _eliminated(
    matrix: Sequence[dict[int, Operand]], pivots: Pivots, right: list[Operand]
) -> tuple[list[Operand], list[Operand]]:
    """Return the solution of a square system of expressions, and the pivots."""
    rows = [{j: x for j, x in row.items() if not isinstance(x, float) or x != 0.0} for row in matrix]
    left, inverses = set(range(len(rows))), []
    for i, j in pivots:
        left.discard(i)
        inverses.append(1.0 / rows[i][j])
        for k in sorted(left):
            if j not in rows[k]:
                continue
            factor = product(rows[k].pop(j), inverses[-1])
            for column, value in rows[i].items():
                if column != j:
                    rows[k][column] = minus(rows[k].get(column, 0.0), product(factor, value))
            right[k] = minus(right[k], product(factor, right[i]))
    x: list[Operand] = [0.0] * len(rows)
    for (i, j), inverse in zip(reversed(pivots), reversed(inverses), strict=True):
        total = right[i]
        for column, value in rows[i].items():
            if column != j:
                total = minus(total, product(value, x[column]))
        x[j] = product(total, inverse)
    return x, [rows[i][j] for i, j in pivots]
