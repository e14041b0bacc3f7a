"""p, v <- p, v: sweeps over contacts, each of which sets its impulse so that its own laws hold.

The method of Gauss and Seidel on rows: with W = J M^-1 J^T, a row that is solved for alone changes its
impulse by -u / W_ii, then the cone holds it back, normal first, tangents with what friction allows then. Its
fixed points are the solutions (Jean and Moreau, 1992).

Sweeps are taken for the gradient g = p - swept(p) of a method of conjugate gradients, that of Fletcher and
Reeves, begun anew where the gradient grows (Silcowitz, Niebe, Erleben 2010):

    b = |g|^2 / |g of before|^2,    p <- swept(p) + b d,    d <- b d - g

measured in energies, |g|^2 = sum W_ii g_i^2. As v is linear in p, the same combinations of v follow. In a
pile of balls that falls a hundred of them reach 1e-10 m/s where sweeps alone reach 1e-4. Where a heavy body
stands on a light one both come near the solution hardly at all: `augmented_lagrangian` goes on from there.
"""

from linkwork.contact_dynamics.problem.natural_map import is_open, residual_of
from linkwork.contact_dynamics.problem.packed_rows import approach, respond, velocity
from linkwork.contact_dynamics.solver.relaxed_contact import relaxed
from linkwork.contact_dynamics.solver.scaled_sweeps import (
    are_free,
    scale_island,
    scaled_residual,
    turn_scaled,
)
from linkwork.native.numba_functions import native_apart, native_within

TURN = 10  # sweeps, after which it is looked how far they have come
_PROGRESS = 0.5  # of the residual: a turn that leaves more is in vain


@native_apart
def prepare(nodes, c, room, moved, W, contacts):
    """Write M^-1 J^T, where J has its rows, and the blocks of J M^-1 J^T on the diagonal."""
    for k in contacts:
        for i in range(9):
            W[k, i] = 0.0
        for side in range(2):
            node, at = (c.a[k], c.of_a[k]) if side == 0 else (c.b[k], c.of_b[k])
            if node >= 0:
                n, begin = nodes.size[node], nodes.at[node]
                if n == 6:
                    _respond(nodes.inverse, begin, c.rows, at, 6, moved, W, k)
                elif n == 3:
                    _respond(nodes.inverse, begin, c.rows, at, 3, moved, W, k)
                else:
                    respond(nodes, room, k, side, node, at, W)


@native_within
def _respond(inverse, begin, rows, at, n, moved, W, k):
    for r in range(3):
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += inverse[begin + i * n + j] * rows[at + n * r + j]
            moved[at + n * r + i] = s
    for r in range(3):
        for q in range(3):
            s = 0.0
            for i in range(n):
                s += rows[at + n * r + i] * moved[at + n * q + i]
            W[k, 3 * r + q] += s


@native_within
def _add(moved, at, n, v, first, d0, d1, d2):
    for i in range(n):
        v[first + i] += (moved[at + i] * d0 + moved[at + n + i] * d1) + moved[at + 2 * n + i] * d2


@native_within
def _give(nodes, node, moved, at, v, d0, d1, d2):
    """Add what impulses along the rows of a side do to the velocities."""
    if node >= 0:
        n, first = nodes.size[node], nodes.first[node]
        if n == 6:
            _add(moved, at, 6, v, first, d0, d1, d2)
        elif n == 3:
            _add(moved, at, 3, v, first, d0, d1, d2)
        else:
            _add(moved, at, n, v, first, d0, d1, d2)


@native_apart
def _sweep(nodes, c, room, moved, W, v, p, before, contacts):
    """Go over contacts once, v are the velocities that follow from p; return the square of the gradient."""
    square = 0.0
    for k in contacts:
        if is_open(c, k, p) and approach(nodes, c, room, k, v) >= 0.0:
            before[k, 0] = before[k, 1] = before[k, 2] = 0.0
            continue
        u0, u1, u2 = velocity(nodes, c, room, k, v)
        x0, x1, x2 = relaxed(c, k, W, p, u0, u1, u2)
        d0, d1, d2 = x0 - p[k, 0], x1 - p[k, 1], x2 - p[k, 2]
        before[k, 0], before[k, 1], before[k, 2] = p[k, 0], p[k, 1], p[k, 2]
        if d0 != 0.0 or d1 != 0.0 or d2 != 0.0:
            p[k, 0], p[k, 1], p[k, 2] = x0, x1, x2
            _give(nodes, c.a[k], moved, c.of_a[k], v, d0, d1, d2)
            _give(nodes, c.b[k], moved, c.of_b[k], v, d0, d1, d2)
            square += W[k, 0] * d0 * d0 + W[k, 4] * d1 * d1 + W[k, 8] * d2 * d2
    return square


@native_apart
def _turn(nodes, c, p, v, room, contacts, members, square):
    """Do a turn of sweeps, the last of which goes no farther; return the square of the last gradient.

    `square` is that of before, 0 at first.
    """
    before, d, v_before, v_d = room.x, room.other_x, room.trial, room.gradient
    for n in range(TURN):
        for j in members:
            for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
                v_before[q] = v[q]
        new = _sweep(nodes, c, room, room.moved, room.response, v, p, before, contacts)
        b = new / square if new <= square and square > 0.0 else 0.0
        go = b if n < TURN - 1 else 0.0
        square = new
        for k in contacts:
            for r in range(3):
                g, old = before[k, r] - p[k, r], d[k, r] if b > 0.0 else 0.0
                p[k, r] += go * old
                d[k, r] = b * old - g
        for j in members:
            for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
                g, old = v_before[q] - v[q], v_d[q] if b > 0.0 else 0.0
                v[q] += go * old
                v_d[q] = b * old - g
    return square


@native_apart
def sweep_island(nodes, c, p, v, room, islands, i, off, enough, turns, patience, scaled):
    """Sweep as long as it leads somewhere, from a residual `off`, and keep the best.

    It ends with a residual that is `enough`, after some `turns`, or when more of them than its `patience`
    were in vain. Return the residual, and how many turns of sweeps were made. Free bodies go `scaled`, which
    is faster, or not: to an accuracy modes of contacts follow from last digits, which scales change.
    """
    contacts = islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]
    members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
    free = scaled and are_free(nodes, members)
    if free:
        scale_island(nodes, c, room, islands, i)
        scaled_residual(c, room, p, islands, i)
    else:
        prepare(nodes, c, room, room.moved, room.response, contacts)
    for k in contacts:
        room.best[k, 0], room.best[k, 1], room.best[k, 2] = p[k, 0], p[k, 1], p[k, 2]
    best = mark = new = off
    square, vain, done = 0.0, 0, 0
    for _ in range(turns):
        done += 1
        if free:
            square = turn_scaled(c, room, p, islands, i, square, TURN)
            new = scaled_residual(c, room, p, islands, i)
        else:
            square = _turn(nodes, c, p, v, room, contacts, members, square)
            new = residual_of(nodes, c, room, p, v, room.direction, islands, i)
        if new < best:
            best = new
            for k in contacts:
                room.best[k, 0], room.best[k, 1], room.best[k, 2] = p[k, 0], p[k, 1], p[k, 2]
        if best <= _PROGRESS * mark:
            mark, vain = best, 0
        else:
            vain += 1
        if new <= enough or vain > patience:
            break
    if new > best:
        for k in contacts:
            p[k, 0], p[k, 1], p[k, 2] = room.best[k, 0], room.best[k, 1], room.best[k, 2]
    if new > best or free:
        best = residual_of(nodes, c, room, p, v, room.direction, islands, i)
    return best, done
