"""p <- p: the augmented Lagrangian of a contact problem, and Newton's method on it.

For given s = mu |u_t| the laws at contacts (`contact_problem`) are the condition of a convex problem, the
minimum of

    |v - v_f|^2_M / 2   where  J v + b + (s, 0) lies in K*.

With impulses p of before and weights r, one per contact,

    f(v) = |v - v_f|^2_M / 2 + sum (|x|^2 - |x - P(x)|^2) / (2 r),    x = p - r (J v + b + (s, 0))

is convex and smooth, its gradient M (v - v_f) - J^T P(x), and a generalised second derivative M + J^T r P' J:
Newton's method with a line search finds its minimum. Then P(x) are the next p, mu |u_t| the next s, until
p = P(p - r (u + s)) to the tolerance, where v follows from p: momentum is exact whatever is left of the rest.
Larger weights need fewer rounds; they are raised where a round does not bring a third. (Rockafellar 1976; for
cones in contact see Alart and Curnier 1991. Fixed points on s: Cadoux 2009, Acary et al. 2011.)

In the instant of a dense impact hundreds of contacts change at once, and this takes hundreds of steps of
Newton's method. So sweeps over contacts come first (`gauss_seidel`), and the factorisations are bounded. What
is done about islands that are not solved then is in `unsolved_contacts`. Each island is solved by itself.

What was rejected, measured on walls, stacks and piles: an alternating-direction method with one factorisation
(ten times the rounds from a cold start), Newton's method with s among the unknowns (it does not converge
from afar), sweeps over contacts alone (masses 1 : 1000 fail, a stack of ten sinks).
"""

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import (
    CONTACTS,
    FLAT,
    NODES,
    TABLE,
    WHERE,
    is_soft,
)
from linkwork.contact_dynamics.problem.friction_cone import COULOMB, derivative, projected
from linkwork.contact_dynamics.problem.islands import ISLANDS
from linkwork.contact_dynamics.problem.natural_map import residual_of, share, times_island
from linkwork.contact_dynamics.problem.packed_rows import add_packed, is_free, push, velocity
from linkwork.contact_dynamics.solver.block_cholesky import Blocks, factor, solve
from linkwork.contact_dynamics.solver.dense_newton import solve_island
from linkwork.contact_dynamics.solver.elimination import Elimination
from linkwork.contact_dynamics.solver.gauss_seidel import sweep_island
from linkwork.contact_dynamics.solver.scaled_sweeps import NORMAL_NUMBERS, TANGENT_NUMBERS
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry, native, native_apart, native_within

_ROUNDS = 40
_NEWTON = 20  # steps in a round
_HALVINGS = 12
_WEIGHT = 10.0  # of contacts at first, times 3 / trace(J M^-1 J^T): of what a contact alone would need
_HEAVIEST = 1e4  # times the largest inertia: more, and digits of the matrix are lost
_HEAVIER = 3.0
_PROGRESS = 0.3
_VAIN = 45  # factorisations that may be made without bringing half of what is left
_FAR = 1e3  # times the tolerance: from there, sweeps come first,
_TURNS = 20  # turns of them at most
_NEARER = 0.2  # a factor of before has to bring the gradient down to this part of it
_SMALL = 80  # contacts, of islands with trees that are solved by `dense_newton`
_EASILY = 1e-3  # of the tolerance, to which it is solved where that is easy: so errors do not add up
_DEEPER = 0.3  # of the tolerance, to which it is solved: so the next problem may need no solution


class Room(NamedTuple):
    """Where the solver works."""

    gradient: Any  # (velocities,)
    trial: Any  # (velocities,)
    direction: Any  # (velocities,) in the order of elimination
    shift: Any  # (velocities,) by which places are moved, see `unsolved_contacts` [m/s]
    x: Any  # (n, 3)
    other_x: Any  # (n, 3)
    best: Any  # (n, 3) impulses with the least residual so far
    slip: Any  # (n,) s
    wanted: Any  # (n,) b of contacts whose gaps are closed by shifts [m/s]
    weight: Any  # (n,) r
    friction: Any  # (n,) of this round
    spin: Any  # (n,)
    block: Any  # (n,) of L that couples the nodes of a contact; -1 if there is one only
    moved: Any  # M^-1 J^T, as the rows
    response: Any  # (n, 9) blocks of J M^-1 J^T on its diagonal
    packed: Any  # rows without zeros: see `packed_rows`
    column: Any  # velocities that their numbers are of
    width: Any  # (2 n,) how many numbers a row of each side has
    normal: Any  # numbers of contacts of free bodies, in the order of islands: see `scaled_sweeps`
    tangent: Any
    inverse: Any  # (nodes, 36) L^-1, with M = L L^T of each
    y: Any  # (nodes, 6) L^T v,
    y_free: Any  # without contact,
    y_before: Any  # before a sweep,
    y_change: Any  # and along the direction of conjugate sweeps


_BLOCKS = Named(Blocks, dict(zip(Blocks._fields, (*[FLAT] * 2, *[WHERE] * 4))))
_PLAN = Named(Elimination, dict(zip(Elimination._fields, (*[WHERE] * 5, "int64[:, ::1]"))))
ROOM = Named(
    Room,
    dict(
        zip(
            Room._fields,
            (*[FLAT] * 4, *[TABLE] * 3, *[FLAT] * 5, WHERE, FLAT, TABLE, FLAT, WHERE, WHERE, *[FLAT] * 7),
        )
    ),
)


def room_for(nodes: int, nv: int, count: int, numbers: int) -> Room:
    """Make room for contacts of nodes with nv velocities in all; `numbers` are those of their rows."""
    flat, table = (lambda: np.zeros(count)), (lambda: np.zeros((count, 3)))
    velocities = np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv)
    places = np.zeros(count, np.int64)
    return Room(
        *velocities,
        table(),
        table(),
        table(),
        flat(),
        flat(),
        flat(),
        flat(),
        flat(),
        places,
        np.zeros(numbers),
        np.zeros((count, 9)),
        np.zeros(numbers),
        np.zeros(numbers // 3 + 1, np.int64),
        np.zeros(2 * count, np.int64),
        np.zeros(NORMAL_NUMBERS * count),
        np.zeros(TANGENT_NUMBERS * count),
        np.zeros(36 * nodes),
        *(np.zeros(6 * nodes) for _ in range(4)),
    )


@native_apart
def _value(nodes, c, p, v, room, x, g, islands, i):
    """Return f at v; write x and the gradient."""
    trial, f = room.trial, 0.0
    members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            trial[q] = v[q] - nodes.free[q]
    times_island(nodes, nodes.mass, islands, i, trial, g)
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            f += 0.5 * g[q] * trial[q]
    for k in islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]:
        u0, u1, u2 = velocity(nodes, c, room, k, v)
        r = room.weight[k]
        x[k, 0], x[k, 1], x[k, 2] = p[k, 0] - r * (u0 + room.slip[k]), p[k, 1] - r * u1, p[k, 2] - r * u2
        x0, x1, x2 = x[k, 0], x[k, 1], x[k, 2]
        q0, q1, q2 = projected(c.kind[k], room.friction[k], room.spin[k], x0, x1, x2)
        own = q0 / room.spin[k] if is_soft(c, k) else q0
        f += 0.5 / r * (q0 * (2.0 * x0 - own) + q1 * (2.0 * x1 - q1) + q2 * (2.0 * x2 - q2))
        push(nodes, c, room, k, -q0, -q1, -q2, g)
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
def _add_block(T, t, J, room, k, i, of_i, rows, j, of_c, columns, r, d):
    """Add J_i^T r D J_c of sides i and j of contact k."""
    if rows == 6 and columns == 6:
        _add_product(T, t, J, of_i, 6, of_c, 6, r, d)
    elif rows == 3 and columns == 3:
        _add_product(T, t, J, of_i, 3, of_c, 3, r, d)
    else:
        width = room.width
        add_packed(T, t, rows, room, of_i, width[2 * k + i], of_c, width[2 * k + j], i == j, r, d)


@native_apart
def _assemble(nodes, c, plan, m, room, x, islands, i):
    """Write M + J^T r P' J."""
    for j in islands.node[islands.first_node[i] : islands.first_node[i + 1]]:
        column = plan.place[j]
        t, at, n = m.at_diagonal[column], nodes.at[j], nodes.size[j]
        for q in range(n * n):
            m.diagonal[t + q] = nodes.mass[at + q]
        for e in range(plan.start[column], plan.start[column + 1]):
            for q in range(m.at_below[e], m.at_below[e] + n * m.size[plan.row[e]]):
                m.below[q] = 0.0
    for k in islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]:
        d = derivative(c.kind[k], room.friction[k], room.spin[k], x[k, 0], x[k, 1], x[k, 2])
        if d[0] + d[3] + d[5] == 0.0:
            continue
        a, b, r = c.a[k], c.b[k], room.weight[k]
        if a >= 0:
            n, of = nodes.size[a], c.of_a[k]
            _add_block(m.diagonal, m.at_diagonal[plan.place[a]], c.rows, room, k, 0, of, n, 0, of, n, r, d)
        if b >= 0:
            n, of = nodes.size[b], c.of_b[k]
            _add_block(m.diagonal, m.at_diagonal[plan.place[b]], c.rows, room, k, 1, of, n, 1, of, n, r, d)
        if room.block[k] >= 0:
            t, na, nb = m.at_below[room.block[k]], nodes.size[a], nodes.size[b]
            if plan.place[a] < plan.place[b]:
                _add_block(m.below, t, c.rows, room, k, 1, c.of_b[k], nb, 0, c.of_a[k], na, r, d)
            else:
                _add_block(m.below, t, c.rows, room, k, 0, c.of_a[k], na, 1, c.of_b[k], nb, r, d)


@native_apart
def _find_blocks(c, plan, block, contacts):
    """Write where the nodes of each contact meet."""
    for k in contacts:
        block[k] = -1
        if c.a[k] >= 0 and c.b[k] >= 0:
            p, q = plan.place[c.a[k]], plan.place[c.b[k]]
            e = plan.start[min(p, q)]
            while plan.row[e] != max(p, q):
                e += 1
            block[k] = e


@native_apart
def _newton_direction(nodes, plan, m, members, g, d):
    """Write d = -H^-1 g, in the order of elimination; return g . d."""
    for j in members:
        at, to = nodes.first[j], m.first[plan.place[j]]
        for q in range(nodes.size[j]):
            d[to + q] = -g[at + q]
    solve(m, plan.start, plan.row, plan.place, members, d)
    slope = 0.0
    for j in members:
        at, to = nodes.first[j], m.first[plan.place[j]]
        for q in range(nodes.size[j]):
            slope += g[at + q] * d[to + q]
    return slope


@native_apart
def _minimize(nodes, c, p, v, plan, m, room, enough, islands, i, answer):
    """Bring v to the minimum of f; x of it is in `room.x`. Return how many factorisations it took.

    A factor of before, if `answer[3]` says that there is one, serves as long as it brings the minimum nearer.
    """
    count, last, before = 0, inf, inf
    g, x, d = room.gradient, room.x, room.direction
    members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
    f = _value(nodes, c, p, v, room, x, g, islands, i)
    for _ in range(_NEWTON):
        times_island(nodes, nodes.inverse, islands, i, g, room.trial)
        worst = 0.0
        for j in members:
            for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
                worst = max(worst, abs(room.trial[q]))
        if worst <= enough or (worst <= 20.0 * enough and worst > 0.5 * before):
            break
        before = worst
        if answer[3] == 0.0 or worst > _NEARER * last:
            if answer[2] + count >= answer[4]:
                break
            _assemble(nodes, c, plan, m, room, x, islands, i)
            factor(m, plan.start, plan.row, plan.first_update, plan.update, plan.place, members)
            answer[3] = 1.0
            count += 1
            last = inf
        else:
            last = worst
        slope = _newton_direction(nodes, plan, m, members, g, d)
        step, moved, new = 1.0, 0.0, f
        for _ in range(_HALVINGS):
            for j in members:
                at, to = nodes.first[j], m.first[plan.place[j]]
                for q in range(nodes.size[j]):
                    v[at + q] += (step - moved) * d[to + q]
            moved = step
            new = _value(nodes, c, p, v, room, room.other_x, g, islands, i)
            if new <= f + 1e-4 * step * slope + 1e-13 * abs(f):
                break
            step *= 0.5
        f = new
        _copy(islands, i, room.other_x, x)
    return count


@native_apart
def _copy(islands, i, p, to):
    for k in islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]:
        to[k, 0], to[k, 1], to[k, 2] = p[k, 0], p[k, 1], p[k, 2]


@entry(
    "float64",
    *(NODES, CONTACTS, TABLE, FLAT, ISLANDS, "int64", "int64", ROOM, WHERE, FLAT),
    *("float64", "int64", "float64", TABLE),
)
def relax(nodes, c, p, v, islands, first, end, room, loose, saved, enough, few, tolerance, answer):
    """Write the velocities that follow from p, and sweep where these are far off; return the worst residual.

    `answer` (islands, 6) gets the residuals, and else zeros. Islands that have saved less than `enough` work
    for Newton's method are swept anyway, if they are not `loose`: see `unsolved_contacts`. Those with `few`
    contacts that sweeps do not solve are solved as dense problems. Islands from the first to the `end` are
    looked at, and only what is theirs is written: others may be looked at at the same time. Rows are packed.
    """
    worst = 0.0
    for i in range(first, end):
        off = residual_of(nodes, c, room, p, v, room.gradient, islands, i)
        for j in range(1, 6):
            answer[i, j] = 0.0
        patient = saved[islands.node[islands.first_node[i]]] == inf  # work is not bounded
        if off > tolerance and has_trees(nodes, islands, i):
            off = solve_island(nodes, c, p, v, room, islands, i, off, tolerance, answer[i], patient)
            answer[i, 5] = 1.0
        elif off > tolerance:
            members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
            work, small = 0.0, islands.first_contact[i + 1] - islands.first_contact[i] <= few
            for j in members:
                work += saved[j]
            poor = work < enough * len(members)
            if (off > _FAR * tolerance or poor) and not (poor and are_loose(loose, members) and not small):
                off, _ = sweep_island(
                    nodes, c, p, v, room, islands, i, off, _EASILY * tolerance, _TURNS, 0, not patient
                )
            if off > tolerance and small:
                off = solve_island(
                    nodes, c, p, v, room, islands, i, off, _EASILY * tolerance, answer[i], patient
                )
        answer[i, 0] = off
        worst = max(worst, off)
    return worst


@native
def are_loose(loose, members):
    """Return whether gaps between nodes may be closed by shifts."""
    firm = 0
    for j in members:
        firm += 1 - loose[j]
    return firm == 0


@native
def has_trees(nodes, islands, i):
    """Return whether an island has few contacts, and not free bodies alone."""
    if islands.first_contact[i + 1] - islands.first_contact[i] > _SMALL:
        return False
    for j in islands.node[islands.first_node[i] : islands.first_node[i + 1]]:
        if not is_free(nodes.size[j]):
            return True
    return False


@native_apart
def _set_weights(nodes, c, room, weight, heaviest, islands, i):
    for k in islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]:
        room.weight[k] = min(weight * c.weight[k], heaviest)


@native_apart
def _improve(nodes, c, p, v, plan, m, room, tolerance, islands, i, answer):
    """Improve p of an island until the residual is below the tolerance, or as long as there is work."""
    contacts = islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]
    members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
    _find_blocks(c, plan, room.block, contacts)
    _copy(islands, i, p, room.best)
    best = last = off = mark = answer[0]
    weight, heaviest, since = _WEIGHT, 0.0, 0.0
    for j in members:
        for q in range(nodes.size[j]):
            heaviest = max(heaviest, _HEAVIEST * nodes.mass[nodes.at[j] + q * (nodes.size[j] + 1)])
    _set_weights(nodes, c, room, weight, heaviest, islands, i)
    for turn in range(_ROUNDS):
        for k in contacts:
            _, u1, u2 = velocity(nodes, c, room, k, v)
            room.friction[k], room.spin[k] = share(c, k, p) * c.friction[k], share(c, k, p) * c.spin[k]
            if is_soft(c, k):
                room.spin[k] = 1.0 / (1.0 + room.weight[k] * c.spin[k])
            room.slip[k] = c.friction[k] * sqrt(u1 * u1 + u2 * u2) if c.kind[k] == COULOMB else 0.0
        answer[2] += _minimize(nodes, c, p, v, plan, m, room, 0.2 * tolerance, islands, i, answer)
        for k in contacts:
            x0, x1, x2 = room.x[k, 0], room.x[k, 1], room.x[k, 2]
            p[k, 0], p[k, 1], p[k, 2] = projected(c.kind[k], room.friction[k], room.spin[k], x0, x1, x2)
        off = residual_of(nodes, c, room, p, room.trial, room.gradient, islands, i)
        answer[1] = turn + 1.0
        if off < best:
            best = off
            _copy(islands, i, p, room.best)
        if best <= 0.5 * mark:
            mark, since = best, answer[2]
        if off <= _DEEPER * tolerance or answer[2] >= answer[4] or answer[2] - since >= _VAIN:
            break
        if off > _PROGRESS * last:
            weight *= _HEAVIER
            answer[3] = 0.0
            _set_weights(nodes, c, room, weight, heaviest, islands, i)
        last = off
    _copy(islands, i, room.best, p)
    answer[0] = residual_of(nodes, c, room, p, v, room.gradient, islands, i)


@entry(
    None,
    *(NODES, CONTACTS, TABLE, FLAT, ISLANDS, "int64", "int64", _PLAN, _BLOCKS, ROOM, "float64", TABLE),
)
def improve(nodes, c, p, v, islands, first, end, plan, m, room, tolerance, answer):
    """Improve p of islands, from the first to the `end`, that are not solved and may be factored.

    `answer` (islands, 6) has residual, rounds and factorisations, whether there is a factor, and how many
    factorisations may be made; where these are none, `plan` need not be one of the island. The last is 1 if
    it was solved as a dense problem before.
    """
    for i in range(first, end):
        if answer[i, 0] <= tolerance or answer[i, 4] == 0.0:
            continue
        _improve(nodes, c, p, v, plan, m, room, tolerance, islands, i, answer[i])
