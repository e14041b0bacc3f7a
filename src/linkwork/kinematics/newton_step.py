"""One step of Newton's method for one mechanism, unrolled, in lanes: new q, length of the step <- q, u, p.

p are the numbers of the mechanism that vary; all others are constants of the code.

The equations are eliminated on symbols, in an order of pivots that is chosen once by numbers: those that make
the least new entries (Markowitz) among those that are not small. Away from there a pivot may get small, the
step is then poor, and whoever iterates sees that it does not converge. Of redundant equations those are
taken from which the others follow; whether these hold is seen, too, from the largest.
"""

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import qr

from linkwork.algebra import number, rotation
from linkwork.algebra.vector import minus, product
from linkwork.kinematics.equation_program import sources
from linkwork.kinematics.equation_system import System
from linkwork.native import emit, store
from linkwork.trace.expression import Graph, Operand, evaluate
from linkwork.tree.joint_formula import structure

Array = np.ndarray

PORTS = ("q", "u", "p", "new", "step")  # step: its length, and the largest equation
_SMALL_PIVOT = 0.1  # relative to the largest of its row
_WEAK = 1e-6  # of pivots beside the first, of equations that follow from others


def newton_step(system: System, q: Array, lanes: int) -> int:
    """Return the address of void step(plan, ports), for lanes; pivots are good near q."""
    graph = Graph()
    symbols = graph.symbols(("q", k) for k in range(system.nq))
    inputs = graph.symbols(("u", k) for k in range(len(system.drivers)))
    phi, entries = _equations(system, symbols, inputs, graph)
    kept = {row: k for k, row in enumerate(_independent(system, q))}
    matrix = {(kept[i], j): x for i, j, x in entries if i in kept}
    x = _eliminated(matrix, system.matrix(q)[list(kept)], [-phi[row] for row in kept])
    stores = [("new", k, value) for k, value in enumerate(_moved(system, symbols, x))]
    length: Operand = 0.0
    for value, scale in zip(x, system.columns.tolist(), strict=True):
        length = _larger(length, number.abs(value / scale))
    largest: Operand = 0.0
    for value in phi:
        largest = _larger(largest, number.abs(value))
    stores += [("step", 0, length), ("step", 1, largest)]
    name = store.digest("newton step", sources(), lanes, structure([value for _, _, value in stores]))

    def build() -> tuple[str, dict[str, Any]]:
        return emit.module(lanes, [emit.straight(f"step_{name}", lanes, PORTS, (), stores)]), {}

    store.load(name, build)
    return store.address(f"step_{name}")


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


def _larger(a: Operand, b: Operand) -> Operand:
    """Return the larger of two numbers; what is not a number is larger than any."""
    return number.where(a >= b, a, b)


def _equations(
    system: System, q: list[Any], u: list[Any], graph: Graph
) -> tuple[list[Operand], list[tuple[int, int, Operand]]]:
    """Return phi and the entries of phi_q as expressions."""
    algebra, size = system.algebra, system.coordinates
    frames = [algebra.pose(q[size * k : size * (k + 1)]).scalars() for k in range(len(system.bodies))]
    first_own = size * len(system.bodies)
    everything: list[Any] = system.data.tolist()
    for k, places in enumerate(system.places.values()):
        for place in places:
            everything[place] = graph.symbol(("p", k))
    phi: list[Operand] = []
    entries: list[tuple[int, int, Operand]] = []
    for thing, (equations, record) in zip(system.things, system.records, strict=True):
        at = [system.numbers.get(id(body), 0) for body in thing.bodies]
        data = everything[record[0] :]
        numbers = {"data": data, "parameter": data[equations.data :], "u": u[record[1] // 3 :]}
        numbers["s"] = q[first_own + system.own[thing.name] :]
        for b, k in enumerate(at):
            numbers |= {f"X{b}": frames[k], f"q{b}": q[size * k :]}
        values = evaluate([*equations.phi, *equations.phi_q], partial(_looked_up, numbers))
        phi += values[: len(equations.phi)]
        part = system.entries[thing.name]
        places = zip(system.entry_rows[part].tolist(), system.entry_columns[part].tolist(), strict=True)
        entries += [(i, j, x) for (i, j), x in zip(places, values[len(equations.phi) :], strict=True)]
    return phi, entries


def _looked_up(numbers: dict[str, Any], symbol: Any) -> Any:
    base, k = symbol.args[0]
    return numbers[base][k]


def _eliminated(
    matrix: dict[tuple[int, int], Operand], numbers: Array, right: list[Operand]
) -> list[Operand]:
    """Return the solution of a square system of expressions; numbers are those of its matrix somewhere."""
    n = len(right)
    A = numbers / np.abs(numbers).max(axis=1, keepdims=True)
    rows: list[dict[int, Operand]] = [{} for _ in range(n)]
    for (i, j), x in matrix.items():
        rows[i][j] = x
    left, order = set(range(n)), []
    unused = set(range(n))
    for _ in range(n):
        counts = {j: sum(j in rows[i] for i in left) for j in unused}
        best = None
        for i in sorted(left):
            top = max((abs(A[i, j]) for j in rows[i] if j in unused), default=0.0)
            for j in sorted(rows[i]):
                if j in unused and abs(A[i, j]) >= _SMALL_PIVOT * top and abs(A[i, j]) > 0.0:
                    fill = (sum(k in unused for k in rows[i]) - 1) * (counts[j] - 1)
                    if best is None or fill < best[0] or (fill == best[0] and abs(A[i, j]) > best[3]):
                        best = fill, i, j, abs(A[i, j])
        if best is None:
            raise ZeroDivisionError("the equations do not determine the coordinates")
        _, i, j, _ = best
        left.discard(i)
        unused.discard(j)
        order.append((i, j))
        inverse = 1.0 / rows[i][j]
        for k in left:
            if j not in rows[k]:
                continue
            factor = product(rows[k].pop(j), inverse)
            ratio = A[k, j] / A[i, j]
            A[k] -= ratio * A[i]
            for column, x in rows[i].items():
                if column != j:
                    rows[k][column] = minus(rows[k].get(column, 0.0), product(factor, x))
            right[k] = minus(right[k], product(factor, right[i]))
    x: list[Operand] = [0.0] * n
    for i, j in reversed(order):
        total = right[i]
        for column, value in rows[i].items():
            if column != j:
                total = minus(total, product(value, x[column]))
        x[j] = total / rows[i][j]
    return x


def _moved(system: System, q: list[Any], x: list[Operand]) -> list[Operand]:
    """Return the coordinates after a step, as `newton.move` does."""
    moved: list[Operand] = []
    size, free = system.coordinates, system.free
    for k in range(len(system.bodies)):
        here, change = q[size * k : size * (k + 1)], x[free * k : free * (k + 1)]
        moved += [a + b for a, b in zip(here[:3], change[:3], strict=True)]
        if free == 6:
            turned = rotation.quaternion_product(here[3:], (1.0, *(0.5 * w for w in change[3:])))
            length = number.sqrt(sum(c * c for c in turned))
            moved += [c / length for c in turned]
    first, own = size * len(system.bodies), free * len(system.bodies)
    return [*moved, *(q[first + k] + x[own + k] for k in range(system.n - own))]
