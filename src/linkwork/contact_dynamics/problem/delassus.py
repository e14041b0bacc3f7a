"""W, b <- an island: its problem in the impulses alone, u = W p + b with W = J M^-1 J^T (Delassus 1917).

For islands with trees: few contacts, each of which moves all links. Contacts that are open, and would be
without any impulses, are left out; who has been left out wrongly is seen from the velocities that follow.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.friction_cone import COULOMB
from linkwork.contact_dynamics.problem.packed_rows import is_free, velocity
from linkwork.native.numba_functions import memory, native, native_apart, native_within


class Delassus(NamedTuple):
    """Contacts that count, three rows each."""

    count: Any
    W: Any  # (3 n, 3 n)
    b: Any  # (3 n,) velocities without impulses
    kind: Any  # (n,) these as in `Contacts`
    friction: Any
    spin: Any
    of: Any  # the contact among these that shares are of
    weight: Any


@native_apart
def choose(nodes, c, room, p, v, contacts, chosen):
    """Choose contacts that touch, or approach at velocities v; return how many are new."""
    count = 0
    for n in range(len(contacts)):
        k = contacts[n]
        if not chosen[n] and (
            c.kind[k] != COULOMB or p[k, 0] != 0.0 or velocity(nodes, c, room, k, v)[0] < 0.0
        ):
            chosen[n] = True
            count += 1
    return count


@native
def _add_side(nodes, c, room, k, side, node, at, other_at, W, i, j):
    """Add J_k M^-1 J_l^T of a node that both have to the block at (i, j)."""
    n, moved = nodes.size[node], room.moved
    if is_free(n):
        for r in range(3):
            for q in range(3):
                s = 0.0
                for x in range(n):
                    s += c.rows[at + n * r + x] * moved[other_at + n * q + x]
                W[i + r, j + q] += s
        return
    J, m, columns = room.packed, room.width[2 * k + side], at // 3
    a = b = d = e = f = g = x = y = z = 0.0
    for t in range(m):
        to = other_at + room.column[columns + t]
        j0, j1, j2 = J[at + t], J[at + m + t], J[at + 2 * m + t]
        m0, m1, m2 = moved[to], moved[to + n], moved[to + 2 * n]
        a, b, d = a + j0 * m0, b + j0 * m1, d + j0 * m2
        e, f, g = e + j1 * m0, f + j1 * m1, g + j1 * m2
        x, y, z = x + j2 * m0, y + j2 * m1, z + j2 * m2
    W[i, j], W[i, j + 1], W[i, j + 2] = W[i, j] + a, W[i, j + 1] + b, W[i, j + 2] + d
    i += 1
    W[i, j], W[i, j + 1], W[i, j + 2] = W[i, j] + e, W[i, j + 1] + f, W[i, j + 2] + g
    i += 1
    W[i, j], W[i, j + 1], W[i, j + 2] = W[i, j] + x, W[i, j + 1] + y, W[i, j + 2] + z


@native_apart
def delassus(nodes, c, room, which):
    """Return the problem of some contacts, whose M^-1 J^T are known."""
    n = len(which)
    W, b = np.zeros((3 * n, 3 * n)), np.zeros(3 * n)
    kind, of = np.zeros(n, np.int64), np.zeros(n, np.int64)
    friction, spin, weight = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        k = which[i]
        b[3 * i], b[3 * i + 1], b[3 * i + 2] = velocity(nodes, c, room, k, nodes.free)
        kind[i], friction[i], spin[i], weight[i] = c.kind[k], c.friction[k], c.spin[k], c.weight[k]
        of[i] = -1
        for j in range(n):
            if which[j] == c.of[k]:
                of[i] = j
        if c.of[k] >= 0 and of[i] < 0:  # of a contact that is open
            friction[i] = spin[i] = 0.0
        for j in range(i + 1):
            l = which[j]
            for side in range(2):
                node, at = (c.a[k], c.of_a[k]) if side == 0 else (c.b[k], c.of_b[k])
                if node < 0:
                    continue
                if c.a[l] == node:
                    _add_side(nodes, c, room, k, side, node, at, c.of_a[l], W, 3 * i, 3 * j)
                elif c.b[l] == node:
                    _add_side(nodes, c, room, k, side, node, at, c.of_b[l], W, 3 * i, 3 * j)
    for i in range(3 * n):
        for j in range(i):
            W[j, i] = W[i, j]
    return Delassus(n, W, b, kind, friction, spin, of, weight)


@native_within
def opened_problem(d):
    """Return a problem as bare memory, which parts take."""
    law = memory(d.kind), memory(d.friction), memory(d.spin), memory(d.of), memory(d.weight)
    return Delassus(d.count, memory(d.W), memory(d.b), *law)
