"""Solves problems of contacts, one after the other."""

from math import inf
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.augmented_lagrangian import Room, improve, residual, room_for
from linkwork.contact_dynamics.block_cholesky import blocks
from linkwork.contact_dynamics.contact_problem import Contacts, Nodes
from linkwork.contact_dynamics.elimination import elimination

Array = np.ndarray

MOST = 400  # factorisations
_ENOUGH = 20  # factorisations, at least


class Answer(NamedTuple):
    """How far it was solved, and with how much work."""

    residual: float  # the largest difference p - P(p - r (u + s)) divided by r [m/s]
    rounds: int
    factorizations: int
    work: float = 0.0  # that these were, in sweeps over all contacts


class Factor(NamedTuple):
    """The factor of a matrix of an earlier problem, and the graph that it is for."""

    edges: Any  # pairs of nodes, low * nodes + high, sorted
    diagonal: Any  # see `Blocks`
    below: Any


NO_FACTOR = Factor(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


class Solver:
    """Solves one problem after the other; the order of elimination is kept while the graph is the same."""

    def __init__(self, sizes: Array) -> None:
        self._sizes = sizes
        self._edges: Array | None = None
        self._room: Room | None = None
        self._loaded = NO_FACTOR
        self._push = np.zeros(int(sizes.sum()))

    def solve(
        self,
        nodes: Nodes,
        contacts: Contacts,
        impulses: Array,
        velocities: Array,
        tolerance: float = 1e-8,
        before: Factor = NO_FACTOR,
        most: float = inf,
    ) -> tuple[Answer, Factor]:
        """Find impulses (n, 3), from those given, and the velocities that follow; both in place.

        Factorisations are not begun if fewer than some can be made with the `most` work, in sweeps.

        What it returns depends on the arguments alone, `before` among them: the factor that an earlier
        problem returned, which may save this one its own.
        """
        count, nv = len(contacts.a), len(nodes.free)
        off = residual(nodes, contacts, impulses, velocities, self._push)
        if off <= tolerance:
            return Answer(off, 0, 0), before
        edges = self._plan_for(contacts)
        room = self._room
        if room is None or len(room.slip) < count or len(room.moved) < len(contacts.rows):
            self._room = room_for(nv, 2 * count, len(contacts.rows))
        usable = len(before.diagonal) > 0 and np.array_equal(before.edges, edges)
        if usable and before is not self._loaded:
            self._matrix.diagonal[:], self._matrix.below[:] = before.diagonal, before.below
            self._loaded = before
        cost = self._cost(count)
        allowed = min(most / cost, MOST)
        answer = np.array([0.0, 0.0, 0.0, float(usable), allowed if allowed >= _ENOUGH else 0.0])
        improve(
            nodes, contacts, impulses, velocities, self._plan, self._matrix, self._room, tolerance, answer
        )
        if answer[2]:
            kept = self._matrix.diagonal.copy(), self._matrix.below.copy()
            self._loaded = Factor(edges, *kept) if answer[3] else NO_FACTOR
            before = self._loaded
        return Answer(float(answer[0]), int(answer[1]), int(answer[2]), float(cost * answer[2])), before

    def _cost(self, count: int) -> float:
        """Return how many sweeps over contacts take as long as a factorisation, about."""
        blocks = len(self._plan.update) + len(self._sizes)
        return 1.3 * blocks * float(np.mean(self._sizes)) ** 3 / 216.0 / max(count, 1) + 1.0

    def _plan_for(self, contacts: Contacts) -> Array:
        """Plan the elimination of a graph, if it is not that of before; return its edges."""
        nodes = len(self._sizes)
        low, high = np.minimum(contacts.a, contacts.b), np.maximum(contacts.a, contacts.b)
        edges = np.unique((low * nodes + high)[low >= 0])
        if self._edges is None or not np.array_equal(edges, self._edges):
            self._edges, self._loaded = edges, NO_FACTOR
            self._plan = elimination(nodes, np.column_stack(np.divmod(edges, nodes)))
            self._matrix = blocks(self._plan, self._sizes)
        return edges


def solve_contacts(
    nodes: Nodes, contacts: Contacts, impulses: Array, velocities: Array, tolerance: float = 1e-8
) -> Answer:
    """Solve one problem; see `Solver.solve`."""
    return Solver(nodes.size).solve(nodes, contacts, impulses, velocities, tolerance)[0]
