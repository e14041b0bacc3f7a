"""One step of Newton's method for one mechanism, unrolled: new q, report <- q, u, ref.

    phi_q x = -phi,    q <- q moved by x

The equations are eliminated on symbols, in an order of pivots that is chosen once by numbers: those that make
the least new entries (Markowitz) among those that are not small. Away from there a pivot may get small, the
step is then poor, and the iteration does not converge. Of redundant equations those are
taken from which the others follow; whether these hold is seen, too, from the largest.

For one mechanism x, the least pivot and the joint coordinates are stored too; in lanes they are not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import frexp
from typing import Any

import numpy as np

from linkwork.algebra import number, rotation
from linkwork.algebra.vector import minus, plus, product
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.step_ports import LARGEST, LENGTH, PIVOT, PORTS, SHARED
from linkwork.kinematics.unrolled_equations import UnrolledEquations, structure
from linkwork.native import emit, store
from linkwork.native.emit import Store
from linkwork.trace.expression import Operand

Array = np.ndarray
Pivots = list[tuple[int, int]]  # equation, unknown, in the order of elimination

_SMALL_PIVOT = 0.1  # relative to the largest of its row
_WEAK = 1e-6  # of pivots beside the first, of equations that follow from others


@dataclass(frozen=True)
class NewtonStep:
    """The code, and the numbers it was made for."""

    address: int  # of void step(plan, ports)
    weights: Array  # (n,) of pivots: 1 / the scale of the row, times the scale of the column


def newton_step(system: System, samples: Array, lanes: int) -> NewtonStep:
    """Make the step for one mechanism, or for lanes of them; pivots are good near samples of q: (S, nq).

    The system is at the first. ZeroDivisionError if the equations do not determine the coordinates there.
    """
    q = samples[0]
    there, rows = _pattern(system, q), _independent(system, q)
    stack = np.array([system.matrix(each)[rows] * system.columns for each in samples[::-1]])[::-1]
    lengths = np.linalg.norm(stack[0], axis=1)
    pivots = _pivots(there[rows], stack / lengths[:, None])
    weights = np.array([system.columns[j] / lengths[i] for i, j in pivots])
    name = store.digest("newton step", lanes, structure(system, lanes), rows, pivots)

    def build() -> tuple[str, dict[str, Any]]:
        stores = _stores(UnrolledEquations(system, lanes), lanes, rows, pivots)
        return emit.module(lanes, [emit.straight(f"step_{name}", lanes, PORTS, SHARED, stores)]), {}

    store.load(name, build)
    return NewtonStep(store.address(f"step_{name}"), weights)


# by numbers


def _independent(system: System, q: Array) -> list[int]:
    """Return as many equations as there are unknowns, from which all others follow near q."""
    if system.m == system.n:
        return list(range(system.m))
    from scipy.linalg import qr  # at first use: importing it takes long

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


def _pivots(there: Array, stack: Array) -> Pivots:
    """Return the order of elimination of a square matrix, where it is not zero, and its samples: (S, n, n).

    The first sample is regular; others that are not do not count. Sizes of pivots, beside the largest of
    their row, are compared by powers of two, so that the order hardly ever depends on the last digits.
    """
    n, there = stack.shape[1], there.copy()
    regular = np.linalg.cond(stack) < 1.0 / _WEAK
    A = stack[regular | (np.arange(len(stack)) == 0)]
    left, unused, order = set(range(n)), set(range(n)), []
    for _ in range(n):
        rows, columns = sorted(left), sorted(unused)
        counts = there[rows].sum(axis=0)
        best = None
        for i in rows:
            size = np.abs(A[:, i])
            top, width = size[:, columns].max(axis=1), int(there[i, columns].sum())
            share = (size / np.where(top > 0.0, top, 1.0)[:, None]).min(axis=0).tolist()
            for j in columns:
                if there[i, j] and share[j] > 0.0:
                    fill = (width - 1) * (int(counts[j]) - 1)
                    small = 0 if share[j] >= _SMALL_PIVOT else -frexp(share[j])[1]
                    rank = small, fill, -frexp(share[j])[1], i, j
                    best = rank if best is None else min(best, rank)
        if best is None:
            raise ZeroDivisionError("the equations do not determine the coordinates")
        i, j = best[3:]
        left.discard(i)
        unused.discard(j)
        order.append((i, j))
        for k in left:
            if there[k, j]:
                A[:, k] -= (A[:, k, j] / A[:, i, j])[:, None] * A[:, i]
                A[:, k, j] = 0.0
                there[k] |= there[i]
    return order


# on symbols


def _stores(equations: UnrolledEquations, lanes: int, rows: Sequence[int], pivots: Pivots) -> list[Store]:
    """Return what the step computes."""
    system = equations.system
    phi: list[Operand] = []
    located: list[Operand] = []
    matrix: list[dict[int, Operand]] = [{} for _ in range(system.m)]
    for thing, (_, record) in zip(system.things, system.records, strict=True):
        values = equations.of(thing, equations.ref[record[2] :])
        phi += values.phi
        located += values.located
        part = system.entries[thing.name]
        places = zip(system.entry_rows[part].tolist(), system.entry_columns[part].tolist(), strict=True)
        for (i, j), x in zip(places, values.phi_q, strict=True):
            matrix[i][j] = plus(matrix[i].get(j, 0.0), x)
    x, divisors = _eliminated([matrix[i] for i in rows], pivots, [-phi[i] for i in rows])
    steps = [value / scale for value, scale in zip(x, equations.columns, strict=True)]
    stores: list[Store] = [("new", k, value) for k, value in enumerate(_moved(equations, x))]
    stores += [("report", LENGTH, _largest(steps)), ("report", LARGEST, _largest(phi))]
    if lanes > 1:
        return stores
    stores += [("x", k, value) for k, value in enumerate(steps)]
    stores += [("located", k, value) for k, value in enumerate(located)]
    least: Operand = np.inf
    for k, value in enumerate(divisors):
        size = number.abs(value * equations.graph.symbol(("weights", k)))
        least = number.where(least <= size, least, size)
    return [*stores, ("report", PIVOT, least)]


def _largest(values: Sequence[Operand]) -> Operand:
    """Return the largest size of numbers; what is not a number is larger than any."""
    largest: Operand = 0.0
    for value in values:
        size = number.abs(value)
        largest = number.where(largest >= size, largest, size)
    return largest


def _moved(equations: UnrolledEquations, x: Sequence[Operand]) -> list[Operand]:
    """Return the coordinates after a step, as `newton.move` does."""
    moved: list[Operand] = []
    q, system = equations.q, equations.system
    size, free, count = system.coordinates, system.free, len(system.bodies)
    for k in range(count):
        here, change = q[size * k : size * (k + 1)], x[free * k : free * (k + 1)]
        moved += [a + b for a, b in zip(here[:3], change[:3], strict=True)]
        if free == 6:
            turned = rotation.quaternion_product(here[3:], (1.0, *(0.5 * w for w in change[3:])))
            length = number.sqrt(sum(c * c for c in turned))
            moved += [c / length for c in turned]
    return [*moved, *(a + b for a, b in zip(q[size * count :], x[free * count :], strict=True))]


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
