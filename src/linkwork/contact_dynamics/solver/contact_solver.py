"""Solves problems of contacts, one after the other."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import CONTACTS, FLAT, NODES, Contacts, Nodes
from linkwork.contact_dynamics.problem.islands import ISLANDS, Islands, find_islands, room_for_islands
from linkwork.contact_dynamics.problem.packed_rows import pack
from linkwork.contact_dynamics.solver.agreeing_contacts import let_agree
from linkwork.contact_dynamics.solver.augmented_lagrangian import ROOM, Room, improve, relax, room_for
from linkwork.contact_dynamics.solver.block_cholesky import blocks
from linkwork.contact_dynamics.solver.elimination import elimination_within
from linkwork.contact_dynamics.solver.unsolved_contacts import ask_for_factors, settle_unsolved
from linkwork.native.numba_functions import entry
from linkwork.native.stages import ASK, GO, Program, Some, Value

Array = np.ndarray

MOST = 200  # factorisations
MANY = 300  # contacts, for which it pays to call several threads
FEW = 24  # contacts of free bodies in a step, for which a dense problem costs less than to ask for factors
ENOUGH = 60  # factorisations, at least: from a cold start a wall or a pyramid takes as many
_FEW = 200  # contacts: a sweep over fewer counts as over these, since what is small may take its time
_DEBT = 200.0  # of work, at most: after an impact there may soon be factors again
_IN_VAIN = 2.0  # times as much is paid again for work that led nowhere


class Answer(NamedTuple):
    """How far it was solved, and with how much work."""

    residual: float  # the largest difference p - P(p - r (u + s)) divided by r [m/s]
    rounds: int
    factorizations: int


class Factor(NamedTuple):
    """The factor of a matrix of an earlier problem, and the graph that it is for."""

    edges: Any  # pairs of nodes, low * nodes + high, sorted
    diagonal: Any  # see `Blocks`
    below: Any
    good: Any  # (nodes,) 1 where there is a factor


NO_FACTOR = Factor(np.zeros(0, np.int64), *(np.zeros(0) for _ in range(3)))


class Solver:
    """Solves one problem after the other; the order of elimination is kept while the graph is the same.

    Of the last problem there are `island` (nodes,), in which island each node is, or -1, and the `residuals`
    of these.
    """

    def __init__(self, sizes: Array, threads: int = 1) -> None:
        """Take the sizes of nodes, and how many islands may be solved at the same time."""
        self._sizes, self._answer = sizes, np.zeros((len(sizes), 6))
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._loaded = NO_FACTOR
        self._plan_edges(np.zeros(0, np.int64), 0)
        self.residuals = np.zeros(0)
        self.loose = np.zeros(len(sizes), np.int64)  # nodes that may be shifted, see `unsolved_contacts`
        self._firm = np.zeros(len(sizes), np.int64)
        self.version = 0  # changes when arrays are replaced by larger ones
        self._room: Room = room_for(0, 0, 0, 0)
        self.make_room(16, 16 * int(sizes.max(initial=1)) * 6)

    def make_room(self, count: int, numbers: int) -> None:
        """Have room for `count` contacts, whose rows have `numbers` numbers in all."""
        if count > len(self._room.slip) or numbers > len(self._room.moved):
            count, numbers = max(count, len(self._room.slip)), max(numbers, len(self._room.moved))
            self._room = room_for(len(self._sizes), int(self._sizes.sum()), count, numbers)
            self._islands: Islands = room_for_islands(len(self._sizes), count)
            self.island, self.version = self._islands.of, self.version + 1

    def add_stages(
        self,
        program: Program,
        problem: tuple[Nodes, Contacts, Some, Array],
        saved: Array,
        tolerance: float,
        results: tuple[int, int],
        many: Callable[[], Any] | None = None,
        *,
        agree: bool = True,
    ) -> None:
        """Add to a program what finds islands and sweeps over them: `solve` up to where factors are needed.

        The problem is that of `solve`; what contacts of trees ask for is made to `agree` before. The number
        of islands and the worst residual become values. `many` contacts are left to Python.
        """
        nodes, contacts, *_ = problem
        program.loop(find_islands, nodes, contacts, self._islands, result=results[0])
        program.loop(pack_islands, nodes, contacts, self._islands, Value(results[0]), self._room)
        if agree:
            program.loop(let_agree, *problem[:3], self._islands, Value(results[0]), self._room)
        program.loop(take_free, nodes, problem[3], self._room.shift)
        if many is not None:
            program.loop(ask_many, self._islands, Value(results[0]), MANY, ask=many)
        islands = self._islands, 0, Value(results[0])
        room = self._room, self.loose, saved, float(ENOUGH), FEW, tolerance, self._answer
        program.loop(relax, *problem, *islands, *room, result=results[1])

    def add_asking(
        self,
        program: Program,
        problem: tuple[Nodes, Contacts, Some, Array],
        saved: Array,
        tolerance: float,
        results: tuple[int, int],
        ask: Callable[[], Any],
        start: Array,
    ) -> None:
        """Add to a program that it asks where islands need factors, and what is done without.

        The step starts with velocities `start`, against which it is measured whether contacts make energy.
        The number of islands, and the worst residual, are values, whose places are given as `results`.
        """
        count = Value(results[0])
        program.loop(
            ask_for_factors, self._islands, count, saved, float(ENOUGH), tolerance, self._answer, ask=ask
        )
        given = self._islands, count, self._room, self.loose, saved, tolerance, self._answer, start
        program.loop(settle_unsolved, *problem, *given, result=results[1])

    def solve(
        self,
        nodes: Nodes,
        contacts: Contacts,
        impulses: Array,
        velocities: Array,
        tolerance: float = 1e-8,
        before: Factor = NO_FACTOR,
        saved: Array | None = None,
    ) -> tuple[Answer, Factor]:
        """Find impulses (n, 3), from those given, and the velocities that follow; both in place.

        Islands with trees are solved at once (`dense_newton`); where work is bounded that is all.
        Factorisations of an island are not begun if its nodes have not `saved` (nodes,), on the average, the
        work of some, in sweeps over its contacts. What they took is taken from it.

        What it returns depends on the arguments alone, `before` among them: the factor that an earlier
        problem returned, which may save this one its own.
        """
        self.make_room(len(contacts.a), len(contacts.rows))
        saved = np.full(len(nodes.size), np.inf) if saved is None else saved
        count = find_islands(nodes, contacts, self._islands)
        given = nodes, contacts, impulses, velocities
        velocities[:] = nodes.free
        pack_islands(nodes, contacts, self._islands, count, self._room)
        worst = self.relax(given, count, tolerance, saved)
        if worst <= tolerance:
            return Answer(worst, 0, 0), before
        answer, before = self.finish(given, count, tolerance, before, saved)
        rest = self._islands, count, self._room, self._firm, saved, tolerance, self._answer, nodes.free
        return answer._replace(residual=settle_unsolved(*given, *rest)), before

    @property
    def islands(self) -> Islands:
        """The islands of the last problem."""
        return self._islands

    @property
    def room(self) -> Room:
        """Where it works."""
        return self._room

    @property
    def shift(self) -> Array:
        """By which places are moved [m/s] (velocities,)."""
        return self._room.shift

    def relax(
        self,
        given: tuple[Nodes, Contacts, Array, Array],
        count: int,
        tolerance: float,
        saved: Array,
        few: int = 0,
        loose: Array | None = None,
    ) -> float:
        """Sweep over `count` islands of a problem, whose rows are packed; return the worst residual.

        Islands of `few` contacts that sweeps do not solve are solved as dense problems; of those that are
        `loose` (nodes,) some are left to `unsolved_contacts`.
        """
        loose = self._firm if loose is None else loose
        self.look_at(count)
        rest = self._room, loose, saved, float(ENOUGH), few, tolerance, self._answer
        return max(self._spread(lambda *part: relax(*given, self._islands, *part, *rest), count))

    def _spread(self, run: Callable[[int, int], Any], count: int) -> list[Any]:
        """Run what looks at islands, from one to another, on all threads; return what it gives."""
        ends = self._islands.first_contact[: count + 1]
        if self._pool is None or ask_many(self._islands, count, MANY) == GO:
            return [run(0, count)]
        edges = np.searchsorted(ends, np.linspace(0, ends[-1], 4 * self.threads + 1)).tolist()
        parts = [(a, b) for a, b in pairwise([0, *edges[1:-1], count]) if a < b]
        return list(self._pool.map(lambda part: run(*part), parts))

    def look_at(self, count: int) -> None:
        """Take the residuals of `count` islands, which stages have swept over."""
        self.residuals = self._answer[:count, 0]

    def finish(
        self,
        given: tuple[Nodes, Contacts, Array, Array],
        count: int,
        tolerance: float,
        before: Factor,
        saved: Array,
    ) -> tuple[Answer, Factor]:
        """Improve what sweeps over `count` islands have left of a problem."""
        answer, contacts = self._answer[:count], given[1]
        self.residuals = answer[:, 0]
        islands, before, cost = self._prepare(contacts, tolerance, before, saved, answer)
        rest = self._plan, self._matrix, self._room, tolerance, answer
        self._spread(lambda *part: improve(*given, islands, *part, *rest), count)
        if cost is not None:
            before = self._pay(tolerance, before, saved, cost, answer)
        return Answer(float(answer[:, 0].max()), int(answer[:, 1].max()), int(answer[:, 2].sum())), before

    def _prepare(
        self, contacts: Contacts, tolerance: float, before: Factor, saved: Array, answer: Array
    ) -> tuple[Islands, Factor, Array | None]:
        """Plan the elimination of islands that may be factored, and write how often.

        Return islands, whose nodes are in the order of elimination; the factor of before, if it is one of
        this graph; and what a factorisation costs each island, in sweeps.
        """
        found, count = self._islands, len(answer)
        members = np.diff(found.first_node[: count + 1])
        of = np.repeat(np.arange(count), members)
        node = found.node[: len(of)]
        touching = np.maximum(np.diff(found.first_contact[: count + 1]), _FEW)
        budget = np.bincount(of, saved[node], count) / members
        able = (answer[:, 0] > tolerance) & (budget >= np.where(answer[:, 5] > 0.0, np.inf, ENOUGH))
        unit = 1.3 * float(np.mean(self._sizes)) ** 3 / 216.0  # sweeps over as many contacts for an update
        while able.any():
            edges = self._edges_of(contacts, found.of, able)
            most = (budget / ENOUGH * touching)[able].sum() / unit
            if np.array_equal(edges, self._edges) or self._plan_edges(edges, int(min(most, 1e15))):
                break
            largest = int(np.argmax(np.where(able, touching, 0)))  # it would never pay
            able[largest] = False
            saved[node[of == largest]] = 0.0
        if not able.any():
            return found, before, None
        plan, room = self._plan, found.node.copy()
        room[: len(of)] = node[np.lexsort((plan.place[node], of))]
        work = np.diff(plan.first_update)[plan.place[node]] + 1.0
        cost = unit * np.bincount(of, work, count) / touching + 1.0
        allowed = np.minimum(budget / cost, MOST)
        answer[:, 4] = np.where(able & (allowed >= ENOUGH), allowed, 0.0)
        if len(before.good) and np.array_equal(before.edges, self._edges):
            if before is not self._loaded:
                self._matrix.diagonal[:], self._matrix.below[:] = before.diagonal, before.below
                self._loaded = before
            answer[:, 3] = np.bincount(of, before.good[node], count) == members
        else:
            before = NO_FACTOR
        return found._replace(node=room), before, cost

    def _pay(self, tolerance: float, before: Factor, saved: Array, cost: Array, answer: Array) -> Factor:
        """Take the work from what nodes have saved; return the factor that there is now."""
        work = cost * answer[:, 2]
        work = np.where(answer[:, 0] > tolerance, (1.0 + _IN_VAIN) * work, work)
        of = self._islands.of
        inside = of >= 0
        saved[inside] = np.maximum(saved[inside] - work[of[inside]], -_DEBT)
        if answer[:, 2].any():
            good = before.good.copy() if len(before.good) else np.zeros(len(of))
            tried = np.append(answer[:, 4] > 0.0, False)[of]
            good[tried] = answer[of[tried], 3]
            before = Factor(self._edges, self._matrix.diagonal.copy(), self._matrix.below.copy(), good)
            self._loaded = before
        return before

    def _edges_of(self, contacts: Contacts, of: Array, able: Array) -> Array:
        """Return the edges of the graph of the islands that are able to be factored."""
        low, high = np.minimum(contacts.a, contacts.b), np.maximum(contacts.a, contacts.b)
        joins = low >= 0
        low, high = low[joins], high[joins]
        return np.unique((low * len(self._sizes) + high)[able[of[high]]])

    def _plan_edges(self, edges: Array, most: int) -> bool:
        """Plan the elimination of a graph; return whether it takes no more than `most` updates."""
        nodes = len(self._sizes)
        plan = elimination_within(nodes, np.column_stack(np.divmod(edges, max(nodes, 1))), most)
        if plan is not None:
            self._edges, self._loaded, self._plan = edges, NO_FACTOR, plan
            self._matrix = blocks(plan, self._sizes)
        return plan is not None


@entry(None, NODES, CONTACTS, ISLANDS, "int64", ROOM)
def pack_islands(nodes, c, islands, count, room):
    """Pack the rows of contacts of `count` islands."""
    pack(nodes, c, room, islands.contact[: islands.first_contact[count]])


@entry(None, NODES, FLAT, FLAT)
def take_free(nodes, v, shift):
    """Let velocities be those without contact; nothing is shifted."""
    for i in range(len(v)):
        v[i], shift[i] = nodes.free[i], 0.0


@entry("int64", ISLANDS, "int64", "int64")
def ask_many(islands, count, many):
    """Ask if islands have `many` contacts or more, and none has more than half of them."""
    first = islands.first_contact
    total = first[count]
    if total < many:
        return GO
    for i in range(count):
        if 2 * (first[i + 1] - first[i]) > total:
            return GO
    return ASK


def solve_contacts(
    nodes: Nodes, contacts: Contacts, impulses: Array, velocities: Array, tolerance: float = 1e-8
) -> Answer:
    """Solve one problem; see `Solver.solve`."""
    return Solver(nodes.size).solve(nodes, contacts, impulses, velocities, tolerance)[0]
