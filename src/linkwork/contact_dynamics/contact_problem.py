"""v, p <- velocities without contact, masses, contacts: Signorini's and Coulomb's laws at all contacts.

Bodies in nodes, trees that stand on their own, would move with velocities v_f. Impulses p at contacts, whose
relative velocities are u = J v + b, make of them

    M (v - v_f) = J^T p,    and at each contact   K* contains u + (mu |u_t|, 0), normal to p in K

(`friction_cone`). For given s = mu |u_t| that is the condition of a convex problem, the minimum of

    |v - v_f|^2_M / 2   where  J v + b + (s, 0) lies in K*.

*Augmented Lagrangian.* With impulses p of before and weights r, one per contact,

    f(v) = |v - v_f|^2_M / 2 + sum (|x|^2 - |x - P(x)|^2) / (2 r),    x = p - r (J v + b + (s, 0))

is convex and smooth, its gradient M (v - v_f) - J^T P(x), and a generalised second derivative M + J^T r P' J:
Newton's method with a line search finds its minimum. Then P(x) are the next p, mu |u_t| the next s, until
p = P(p - r (u + s)) to the tolerance, where v follows from p: momentum is exact whatever is left of the rest.
Larger weights need fewer rounds; they are raised where a round does not bring a third. (Rockafellar 1976; for
cones in contact see Alart and Curnier 1991. Fixed points on s: Cadoux 2009, Acary et al. 2011.)

In the instant of a dense impact hundreds of contacts change at once, and this takes hundreds of steps of
Newton's method. So sweeps over contacts come first (`gauss_seidel`), and the factorisations are bounded: a
problem may take as many as are saved up. What is not solved then is exact in momentum, gains no energy, and
its residual is reported; as the motion calms down, the laws hold to the tolerance again.

What was rejected, measured on walls, stacks and piles: an alternating-direction method with one factorisation
(ten times the rounds from a cold start), Newton's method with s among the unknowns (it does not converge
from afar), sweeps over contacts alone (masses 1 : 1000 fail, a stack of ten sinks).
"""

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.block_cholesky import Blocks, blocks, factor, solve
from linkwork.contact_dynamics.elimination import Elimination, elimination
from linkwork.contact_dynamics.friction_cone import BOND, COULOMB, SPRING, derivative, projected
from linkwork.contact_dynamics.gauss_seidel import prepare_sweeps, sweep
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry, native, native_apart, native_within

Array = np.ndarray

MOST = 400  # factorisations
_ENOUGH = 20  # factorisations, at least
_SWEEPS = 25
_ROUNDS = 40
_NEWTON = 20  # steps in a round
_HALVINGS = 12
_WEIGHT = 10.0  # of contacts at first, times 3 / trace(J M^-1 J^T): of what a contact alone would need
_HEAVIEST = 1e4  # times the largest inertia: more, and digits of the matrix are lost
_HEAVIER = 3.0
_PROGRESS = 0.3
_FAR = 1e3  # times the tolerance: from there, sweeps come first
_NEARER = 0.2  # a factor of before has to bring the gradient down to this part of it
_DEEPER = 0.3  # of the tolerance, to which it is solved: so the next problem may need no solution


class Contacts(NamedTuple):
    """Contacts of nodes, and what else constrains them, three rows of J each.

    Those of a contact are normal, first and second tangent.
    """

    a: Any  # (n,) the node on whose side the normal points, -1 is ground
    b: Any  # (n,) the other
    of_a: Any  # (n,) where the rows of J for node a, (3, its size), begin in `rows`
    of_b: Any  # (n,)
    rows: Any
    bias: Any  # (n, 3) what is added to J v [m/s]
    friction: Any  # (n,) mu, or what stands for it in other laws
    weight: Any  # (n,) 3 / trace(J M^-1 J^T) [kg]
    kind: Any  # (n,) which law: see `friction_cone`
    spin: Any  # (n,) the other number of a law; of springs their compliance [m/s per N s]
    of: Any  # (n,) the contact whose normal impulse both of these are multiplied by; -1: none


class Nodes(NamedTuple):
    """Trees that stand on their own: their inertia and how they would move without contact."""

    size: Any  # (nodes,) how many velocities each has
    first: Any  # (nodes,) the first of them
    at: Any  # (nodes,) where its inertia begins
    mass: Any  # numbers of the inertias M, by rows
    inverse: Any  # of M^-1
    free: Any  # (velocities,) v_f


class Answer(NamedTuple):
    """How far it was solved, and with how much work."""

    residual: float  # the largest difference p - P(p - r (u + s)) divided by r [m/s]
    rounds: int
    factorizations: int
    work: float = 0.0  # that these were, in sweeps over all contacts


class _Room(NamedTuple):
    """Where the solver works."""

    gradient: Any  # (velocities,)
    trial: Any  # (velocities,)
    direction: Any  # (velocities,) in the order of elimination
    x: Any  # (n, 3)
    other_x: Any  # (n, 3)
    best: Any  # (n, 3) impulses with the least residual so far
    slip: Any  # (n,) s
    weight: Any  # (n,) r
    friction: Any  # (n,) of this round
    spin: Any  # (n,)
    block: Any  # (n,) of L that couples the nodes of a contact; -1 if there is one only
    moved: Any  # M^-1 J^T, as the rows
    response: Any  # (n, 3) diagonal of J M^-1 J^T


_FLAT, _TABLE, _WHERE = "float64[::1]", "float64[:, ::1]", "int64[::1]"
_CONTACT_TYPES = (*[_WHERE] * 4, _FLAT, _TABLE, _FLAT, _FLAT, _WHERE, _FLAT, _WHERE)
CONTACTS = Named(Contacts, dict(zip(Contacts._fields, _CONTACT_TYPES, strict=True)))
NODES = Named(Nodes, dict(zip(Nodes._fields, (*[_WHERE] * 3, *[_FLAT] * 3))))
_BLOCKS = Named(Blocks, dict(zip(Blocks._fields, (*[_FLAT] * 2, *[_WHERE] * 4))))
_PLAN = Named(Elimination, dict(zip(Elimination._fields, (*[_WHERE] * 5, "int64[:, ::1]"))))
_ROOM = Named(
    _Room, dict(zip(_Room._fields, (*[_FLAT] * 3, *[_TABLE] * 3, *[_FLAT] * 4, _WHERE, _FLAT, _TABLE)))
)


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
        self._room: _Room | None = None
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
        off = _residual_of(nodes, contacts, impulses, velocities, self._push)
        if off <= tolerance:
            return Answer(off, 0, 0), before
        edges = self._plan_for(contacts)
        room = self._room
        if room is None or len(room.slip) < count or len(room.moved) < len(contacts.rows):
            self._room = _room(nv, 2 * count, len(contacts.rows))
        usable = len(before.diagonal) > 0 and np.array_equal(before.edges, edges)
        if usable and before is not self._loaded:
            self._matrix.diagonal[:], self._matrix.below[:] = before.diagonal, before.below
            self._loaded = before
        cost = self._cost(count)
        allowed = min(most / cost, MOST)
        answer = np.array([0.0, 0.0, 0.0, float(usable), allowed if allowed >= _ENOUGH else 0.0])
        _solve(nodes, contacts, impulses, velocities, self._plan, self._matrix, self._room, tolerance, answer)
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


def _room(nv: int, count: int, numbers: int) -> _Room:
    flat, table = (lambda: np.zeros(count)), (lambda: np.zeros((count, 3)))
    velocities = np.zeros(nv), np.zeros(nv), np.zeros(nv)
    places = np.zeros(count, np.int64)
    return _Room(
        *velocities,
        table(),
        table(),
        table(),
        flat(),
        flat(),
        flat(),
        flat(),
        places,
        np.zeros(numbers),
        table(),
    )


@native_within
def _add_rows(J, at, n, x, first, u0, u1, u2):
    for i in range(n):
        y = x[first + i]
        u0 += J[at + i] * y
        u1 += J[at + n + i] * y
        u2 += J[at + 2 * n + i] * y
    return u0, u1, u2


@native_within
def _add_side(J, at, n, x, first, u0, u1, u2):
    """Add J x of one node; the compiler knows how long the loops of a free body are."""
    if n == 6:
        return _add_rows(J, at, 6, x, first, u0, u1, u2)
    return _add_rows(J, at, n, x, first, u0, u1, u2)


@native_within
def _velocity(nodes, c, k, v):
    """Return the relative velocity at a contact."""
    u0, u1, u2 = c.bias[k, 0], c.bias[k, 1], c.bias[k, 2]
    if c.a[k] >= 0:
        a = c.a[k]
        u0, u1, u2 = _add_side(c.rows, c.of_a[k], nodes.size[a], v, nodes.first[a], u0, u1, u2)
    if c.b[k] >= 0:
        b = c.b[k]
        u0, u1, u2 = _add_side(c.rows, c.of_b[k], nodes.size[b], v, nodes.first[b], u0, u1, u2)
    return u0, u1, u2


@native_within
def velocity_at(nodes, c, k, v):
    """Return the velocity along the normal of a contact, without what is added to it."""
    return _velocity(nodes, c, k, v)[0] - c.bias[k, 0]


@native_within
def _push_rows(J, at, n, x, first, p0, p1, p2):
    for i in range(n):
        x[first + i] += J[at + i] * p0 + J[at + n + i] * p1 + J[at + 2 * n + i] * p2


@native_within
def _push_side(J, at, n, x, first, p0, p1, p2):
    if n == 6:
        _push_rows(J, at, 6, x, first, p0, p1, p2)
    else:
        _push_rows(J, at, n, x, first, p0, p1, p2)


@native_within
def _push(nodes, c, k, p0, p1, p2, g):
    """Add J^T p of a contact."""
    if c.a[k] >= 0:
        a = c.a[k]
        _push_side(c.rows, c.of_a[k], nodes.size[a], g, nodes.first[a], p0, p1, p2)
    if c.b[k] >= 0:
        b = c.b[k]
        _push_side(c.rows, c.of_b[k], nodes.size[b], g, nodes.first[b], p0, p1, p2)


@native_apart
def _times_blocks(nodes, numbers, x, y):
    """Write y = M x, or M^-1 x."""
    for j in range(len(nodes.size)):
        n, f, at = nodes.size[j], nodes.first[j], nodes.at[j]
        for r in range(n):
            s = 0.0
            for i in range(n):
                s += numbers[at + r * n + i] * x[f + i]
            y[f + r] = s


@native_within
def _share(c, k, p):
    """Return what the numbers of a law are multiplied by."""
    return max(p[c.of[k], 0], 0.0) if c.of[k] >= 0 else 1.0


@native_within
def _is_soft(c, k):
    return c.kind[k] == SPRING or c.kind[k] == BOND


@entry("float64", NODES, _FLAT)
def kinetic_energy(nodes, v):
    """Return the energy of nodes that move at v [J]."""
    total = 0.0
    for j in range(len(nodes.size)):
        n, f, at = nodes.size[j], nodes.first[j], nodes.at[j]
        for r in range(n):
            for i in range(n):
                total += 0.5 * v[f + r] * nodes.mass[at + r * n + i] * v[f + i]
    return total


@entry(None, NODES, CONTACTS, _TABLE, "float64", _FLAT)
def stand_still(nodes, c, p, slow, v):
    """Let nodes that are held by contacts and move slower than this stand still.

    What a solution leaves of their velocities is noise, which the next step would have to take away.
    """
    for k in range(len(c.a)):
        if p[k, 0] == 0.0 or _is_soft(c, k):  # what is soft settles slowly
            continue
        for side in range(2):
            node = c.a[k] if side == 0 else c.b[k]
            if node < 0:
                continue
            first, last = nodes.first[node], nodes.first[node] + nodes.size[node]
            fastest = 0.0
            for i in range(first, last):
                fastest = max(fastest, abs(v[i]))
            if 0.0 < fastest <= slow:
                for i in range(first, last):
                    v[i] = 0.0


@native_apart
def _residual(nodes, c, p, v, g):
    """Write the velocities that follow from p; return the largest residual of the natural map."""
    for i in range(len(g)):
        g[i] = 0.0
    for k in range(len(c.a)):
        _push(nodes, c, k, p[k, 0], p[k, 1], p[k, 2], g)
    _times_blocks(nodes, nodes.inverse, g, v)
    for i in range(len(v)):
        v[i] += nodes.free[i]
    worst = 0.0
    for k in range(len(c.a)):
        u0, u1, u2 = _velocity(nodes, c, k, v)
        mu, r = _share(c, k, p) * c.friction[k], c.weight[k]
        spin = _share(c, k, p) * c.spin[k]
        if _is_soft(c, k):
            u0, spin = u0 + c.spin[k] * p[k, 0], 1.0
        s = mu * sqrt(u1 * u1 + u2 * u2) if c.kind[k] == COULOMB else 0.0
        x0, x1, x2 = p[k, 0] - r * (u0 + s), p[k, 1] - r * u1, p[k, 2] - r * u2
        q0, q1, q2 = projected(c.kind[k], mu, spin, x0, x1, x2)
        off = max(abs(q0 - p[k, 0]), max(abs(q1 - p[k, 1]), abs(q2 - p[k, 2]))) / r
        worst = max(worst, off)
    return worst


@native_apart
def _value(nodes, c, p, v, room, x, g):
    """Return f at v; write x and the gradient."""
    nv = len(v)
    trial = room.trial
    for i in range(nv):
        trial[i] = v[i] - nodes.free[i]
    _times_blocks(nodes, nodes.mass, trial, g)
    f = 0.0
    for i in range(nv):
        f += 0.5 * g[i] * trial[i]
    for k in range(len(c.a)):
        u0, u1, u2 = _velocity(nodes, c, k, v)
        r = room.weight[k]
        x[k, 0], x[k, 1], x[k, 2] = p[k, 0] - r * (u0 + room.slip[k]), p[k, 1] - r * u1, p[k, 2] - r * u2
        x0, x1, x2 = x[k, 0], x[k, 1], x[k, 2]
        q0, q1, q2 = projected(c.kind[k], room.friction[k], room.spin[k], x0, x1, x2)
        own = q0 / room.spin[k] if _is_soft(c, k) else q0
        f += 0.5 / r * (q0 * (2.0 * x0 - own) + q1 * (2.0 * x1 - q1) + q2 * (2.0 * x2 - q2))
        _push(nodes, c, k, -q0, -q1, -q2, g)
    return f


@native_within
def _add_product(T, t, J, of_i, rows, of_c, columns, r, d):
    """Add J_i^T r D J_c to the block at t, kept by columns."""
    for c in range(columns):
        a0, a1, a2 = r * J[of_c + c], r * J[of_c + columns + c], r * J[of_c + 2 * columns + c]
        b0 = d[0] * a0 + d[1] * a1 + d[2] * a2
        b1 = d[1] * a0 + d[3] * a1 + d[4] * a2
        b2 = d[2] * a0 + d[4] * a1 + d[5] * a2
        for i in range(rows):
            T[t + c * rows + i] += J[of_i + i] * b0 + J[of_i + rows + i] * b1 + J[of_i + 2 * rows + i] * b2


@native_within
def _add_block(T, t, J, of_i, rows, of_c, columns, r, d):
    if rows == 6 and columns == 6:
        _add_product(T, t, J, of_i, 6, of_c, 6, r, d)
    else:
        _add_product(T, t, J, of_i, rows, of_c, columns, r, d)


@native_apart
def _assemble(nodes, c, plan, m, room, x):
    """Write M + J^T r P' J."""
    for i in range(len(m.below)):
        m.below[i] = 0.0
    for j in range(len(nodes.size)):
        t, at = m.at_diagonal[plan.place[j]], nodes.at[j]
        for i in range(nodes.size[j] * nodes.size[j]):
            m.diagonal[t + i] = nodes.mass[at + i]
    for k in range(len(c.a)):
        d = derivative(c.kind[k], room.friction[k], room.spin[k], x[k, 0], x[k, 1], x[k, 2])
        if d[0] + d[3] + d[5] == 0.0:
            continue
        a, b, r = c.a[k], c.b[k], room.weight[k]
        if a >= 0:
            n, of = nodes.size[a], c.of_a[k]
            _add_block(m.diagonal, m.at_diagonal[plan.place[a]], c.rows, of, n, of, n, r, d)
        if b >= 0:
            n, of = nodes.size[b], c.of_b[k]
            _add_block(m.diagonal, m.at_diagonal[plan.place[b]], c.rows, of, n, of, n, r, d)
        if room.block[k] >= 0:
            t, na, nb = m.at_below[room.block[k]], nodes.size[a], nodes.size[b]
            if plan.place[a] < plan.place[b]:
                _add_block(m.below, t, c.rows, c.of_b[k], nb, c.of_a[k], na, r, d)
            else:
                _add_block(m.below, t, c.rows, c.of_a[k], na, c.of_b[k], nb, r, d)


@native
def _find_blocks(c, plan, block):
    """Write where the nodes of each contact meet."""
    for k in range(len(c.a)):
        block[k] = -1
        if c.a[k] >= 0 and c.b[k] >= 0:
            p, q = plan.place[c.a[k]], plan.place[c.b[k]]
            e = plan.start[min(p, q)]
            while plan.row[e] != max(p, q):
                e += 1
            block[k] = e


@native_apart
def _minimize(nodes, c, p, v, plan, m, room, enough, answer):
    """Bring v to the minimum of f; x of it is in `room.x`. Return how many factorisations it took.

    A factor of before, if `answer[3]` says that there is one, serves as long as it brings the minimum nearer.
    """
    nv, count, last, before = len(v), 0, inf, inf
    g, x, d = room.gradient, room.x, room.direction
    f = _value(nodes, c, p, v, room, x, g)
    for _ in range(_NEWTON):
        _times_blocks(nodes, nodes.inverse, g, d)
        worst = 0.0
        for i in range(nv):
            worst = max(worst, abs(d[i]))
        if worst <= enough or (worst <= 20.0 * enough and worst > 0.5 * before):
            break
        before = worst
        if answer[3] == 0.0 or worst > _NEARER * last:
            if answer[2] + count >= answer[4]:
                break
            _assemble(nodes, c, plan, m, room, x)
            factor(m, plan.start, plan.row, plan.first_update, plan.update)
            answer[3] = 1.0
            count += 1
            last = inf
        else:
            last = worst
        slope = 0.0
        for j in range(len(nodes.size)):
            at, to = nodes.first[j], m.first[plan.place[j]]
            for i in range(nodes.size[j]):
                d[to + i] = -g[at + i]
        solve(m, plan.start, plan.row, d)
        for j in range(len(nodes.size)):
            at, to = nodes.first[j], m.first[plan.place[j]]
            for i in range(nodes.size[j]):
                slope += g[at + i] * d[to + i]
        step, moved, new = 1.0, 0.0, f
        for _ in range(_HALVINGS):
            for j in range(len(nodes.size)):
                at, to = nodes.first[j], m.first[plan.place[j]]
                for i in range(nodes.size[j]):
                    v[at + i] += (step - moved) * d[to + i]
            moved = step
            new = _value(nodes, c, p, v, room, room.other_x, g)
            if new <= f + 1e-4 * step * slope + 1e-13 * abs(f):
                break
            step *= 0.5
        f = new
        for k in range(len(c.a)):
            x[k, 0], x[k, 1], x[k, 2] = room.other_x[k, 0], room.other_x[k, 1], room.other_x[k, 2]
    return count


@entry("float64", NODES, CONTACTS, _TABLE, _FLAT, _FLAT)
def _residual_of(nodes, c, p, v, push):
    """Write the velocities that follow from p; return the residual."""
    return _residual(nodes, c, p, v, push)


@native
def _bound_energy(nodes, c, p, v, g):
    """Scale impulses that would make energy: by g = J^T p it grows by g . (v_f + v) / 2."""
    gained, paid = 0.0, 0.0
    for j in range(len(nodes.size)):
        for i in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            gained += 0.5 * g[i] * (nodes.free[i] + v[i])
            paid -= g[i] * nodes.free[i]
    for k in range(len(c.a)):  # what gaps that are pushed apart may bring
        gained += min(c.bias[k, 0], 0.0) * p[k, 0]
    if gained <= 0.0:
        return
    moved = 0.0
    for i in range(len(v)):
        moved += g[i] * (v[i] - nodes.free[i])
    scale = min(max(2.0 * paid / moved, 0.0), 1.0) if moved > 0.0 else 0.0
    for i in range(len(v)):
        v[i] = nodes.free[i] + scale * (v[i] - nodes.free[i])
    for k in range(len(c.a)):
        p[k, 0], p[k, 1], p[k, 2] = scale * p[k, 0], scale * p[k, 1], scale * p[k, 2]


@native
def _copy(count, p, to):
    for k in range(count):
        to[k, 0], to[k, 1], to[k, 2] = p[k, 0], p[k, 1], p[k, 2]


@entry(None, NODES, CONTACTS, _TABLE, _FLAT, _PLAN, _BLOCKS, _ROOM, "float64", _FLAT)
def _solve(nodes, c, p, v, plan, m, room, tolerance, answer):
    """Improve p until the residual is below the tolerance, or for as many rounds as there are."""
    off = _residual(nodes, c, p, v, room.gradient)
    _copy(len(c.a), p, room.best)
    best = off
    if off > _FAR * tolerance:
        prepare_sweeps(nodes, c, room.moved, room.response)
        for _ in range(_SWEEPS):
            sweep(nodes, c, room.moved, room.response, v, p)
        off = _residual(nodes, c, p, v, room.gradient)
        if off < best:
            best = off
            _copy(len(c.a), p, room.best)
        else:
            _copy(len(c.a), room.best, p)
            off = _residual(nodes, c, p, v, room.gradient)
    _find_blocks(c, plan, room.block)
    last, weight, heaviest = off, _WEIGHT, 0.0
    for j in range(len(nodes.size)):
        for i in range(nodes.size[j]):
            heaviest = max(heaviest, _HEAVIEST * nodes.mass[nodes.at[j] + i * (nodes.size[j] + 1)])
    for k in range(len(c.a)):
        room.weight[k] = min(weight * c.weight[k], heaviest)
    for turn in range(_ROUNDS):
        for k in range(len(c.a)):
            _, u1, u2 = _velocity(nodes, c, k, v)
            room.friction[k], room.spin[k] = _share(c, k, p) * c.friction[k], _share(c, k, p) * c.spin[k]
            if _is_soft(c, k):
                room.spin[k] = 1.0 / (1.0 + room.weight[k] * c.spin[k])
            room.slip[k] = c.friction[k] * sqrt(u1 * u1 + u2 * u2) if c.kind[k] == COULOMB else 0.0
        answer[2] += _minimize(nodes, c, p, v, plan, m, room, 0.2 * tolerance, answer)
        for k in range(len(c.a)):
            x0, x1, x2 = room.x[k, 0], room.x[k, 1], room.x[k, 2]
            p[k, 0], p[k, 1], p[k, 2] = projected(c.kind[k], room.friction[k], room.spin[k], x0, x1, x2)
        off = _residual(nodes, c, p, room.trial, room.gradient)
        answer[1] = turn + 1.0
        if off < best:
            best = off
            _copy(len(c.a), p, room.best)
        if off <= _DEEPER * tolerance or answer[2] >= answer[4]:
            break
        if off > _PROGRESS * last:
            weight *= _HEAVIER
            answer[3] = 0.0
            for k in range(len(c.a)):
                room.weight[k] = min(weight * c.weight[k], heaviest)
        last = off
    if off == best:
        for i in range(len(v)):
            v[i] = room.trial[i]
    else:
        _copy(len(c.a), room.best, p)
        best = _residual(nodes, c, p, v, room.gradient)
    answer[0] = best
    if best > tolerance:
        _bound_energy(nodes, c, p, v, room.gradient)
