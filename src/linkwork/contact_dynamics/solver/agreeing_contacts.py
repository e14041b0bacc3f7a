"""b <- b: what contacts ask of a tree is one motion of it.

The links of a tree that lie on the ground touch it at more points than the tree has velocities. What is added
to the velocities J v at these, depths that are to be taken back and changes until the end of the step
(`accelerated_contacts`), is known for each point by itself, and only nearly. Where such b contradict each
other, be it by 1e-8 m/s, no v satisfies all of J v + b = 0: a solution has to let contacts open or slide, for
which impulses as large as the weight shift to others. Those solutions are far away, and differ from step to
step.

So b of contacts that touch is replaced by -J w, of the w that comes nearest to it,

    minimum of  sum r |J w + b|^2 + e |w|^2_M,

r the weights of contacts: larger ones of those that press in, smaller ones along tangents, or else friction
would keep the links of closed chains from being pushed out. Whatever w is, J v = J w has a solution then. A b
that contradicts nothing stays as it is, up to e. Nodes of an island are taken in turn, some times (Gauss and
Seidel). Contacts that are still apart keep their b: they may stay open. Islands with loops or drivers are
left as they are: what these ask for is exact, and contacts that contradict it, as in a Geneva drive, have to
open. So are those with links of less than six velocities, as a wheel and its pawl.
"""

from math import sqrt

import numpy as np

from linkwork.contact_dynamics.problem.compliant_rows import APART
from linkwork.contact_dynamics.problem.contact_problem import CONTACTS, NODES, TABLE
from linkwork.contact_dynamics.problem.friction_cone import COULOMB, HELD
from linkwork.contact_dynamics.problem.islands import ISLANDS
from linkwork.contact_dynamics.problem.packed_rows import add_packed, is_free, push_side, velocity
from linkwork.contact_dynamics.solver.augmented_lagrangian import ROOM
from linkwork.native.numba_functions import add_scaled, entry, memory, native, native_apart

_LEAST = 1e-8  # e
_NONE = 1e-9  # smaller b count for nothing [m/s]
_DEEP = 10.0  # times the weight of others: contacts that press in, and are to be pushed out
_ALONG = 0.01  # times the weight of normals: tangents
_FASTER = 2.0  # times the largest b: contacts that would be moved faster keep theirs
_TURNS = 3  # over the nodes of an island


@entry(None, NODES, CONTACTS, TABLE, ISLANDS, "int64", ROOM)
def let_agree(nodes, c, p, islands, count, room):
    """Change the bias of contacts of trees, in `count` islands, whose impulses p are expected."""
    for i in range(count):
        contacts = islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]
        members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
        largest = _largest(c, p, contacts)
        if not _is_tree(nodes, c, members, contacts) or largest <= _NONE:
            continue
        w = room.trial
        for j in members:
            for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
                w[q] = 0.0
        for _ in range(_TURNS if len(members) > 1 else 1):
            for j in members:
                _fit(nodes, c, p, contacts, j, room, w)
        if _fastest(nodes, c, p, contacts, room, w) > _FASTER * largest:
            continue
        for k in contacts:
            if _touches(c, p, k):
                u0, u1, u2 = velocity(nodes, c, room, k, w)
                c.bias[k, 0] -= u0
                c.bias[k, 1] -= u1
                c.bias[k, 2] -= u2


@native
def _is_tree(nodes, c, members, contacts):
    """Return whether there is a tree in an island, and nothing that loops, drivers or few joints hold."""
    tree = False
    for j in members:
        if nodes.size[j] < 6 and not is_free(nodes.size[j]):
            return False
        tree = tree or nodes.size[j] > 6
    for k in contacts:
        tree = tree and c.kind[k] != HELD
    return tree


@native
def _touches(c, p, k):
    """Return whether a contact is expected to hold; one that is left out of the step, by its bias, is not."""
    b = c.bias[k, 0]
    return c.kind[k] == COULOMB and b < 0.5 * APART and (p[k, 0] > 0.0 or b <= 0.0)


@native
def _largest(c, p, contacts):
    """Return the largest bias of contacts that touch."""
    largest = 0.0
    for k in contacts:
        if _touches(c, p, k):
            largest = max(largest, max(abs(c.bias[k, 0]), max(abs(c.bias[k, 1]), abs(c.bias[k, 2]))))
    return largest


@native
def _fastest(nodes, c, p, contacts, room, w):
    """Return how fast w moves contacts that touch: without end, where a lever is nearly dead."""
    fastest = 0.0
    for k in contacts:
        if _touches(c, p, k):
            u0, u1, u2 = velocity(nodes, c, room, k, w)
            u0, u1, u2 = u0 - c.bias[k, 0], u1 - c.bias[k, 1], u2 - c.bias[k, 2]
            fastest = max(fastest, max(abs(u0), max(abs(u1), abs(u2))))
    return fastest


@native
def _weight(c, k):
    return c.weight[k] * (_DEEP if c.bias[k, 0] < -_NONE else 1.0)


@native_apart
def _fit(nodes, c, p, contacts, j, room, w):
    """Change w of a node to where the sum is least."""
    n, first, at = nodes.size[j], nodes.first[j], nodes.at[j]
    A, g = np.zeros(n * n), room.gradient
    for i in range(n * n):
        A[i] = _LEAST * nodes.mass[at + i]
    for i in range(n):
        g[first + i] = 0.0
    for k in contacts:
        if (c.a[k] == j or c.b[k] == j) and _touches(c, p, k):
            side, of = (0, c.of_a[k]) if c.a[k] == j else (1, c.of_b[k])
            r, (u0, u1, u2) = _weight(c, k), velocity(nodes, c, room, k, w)
            push_side(nodes, c, room, k, side, j, of, -r * u0, -_ALONG * r * u1, -_ALONG * r * u2, g)
            if is_free(n):
                _add_square(c.rows, of, n, r, A)
            else:
                m, weights = room.width[2 * k + side], (1.0, 0.0, 0.0, _ALONG, 0.0, _ALONG)
                add_packed(A, 0, n, room, of, m, of, m, True, r, weights)
    _solve(A, n, g, first)
    for i in range(n):
        w[first + i] += g[first + i]


@native
def _add_square(J, at, n, r, A):
    """Add J^T r J of three rows to the lower half of A."""
    for i in range(n):
        a, b, d = r * J[at + i], _ALONG * r * J[at + n + i], _ALONG * r * J[at + 2 * n + i]
        for q in range(i + 1):
            A[i * n + q] += a * J[at + q] + b * J[at + n + q] + d * J[at + 2 * n + q]


@native_apart
def _solve(matrix, n, vector, at):
    """Solve A x = b, given the lower half of A by rows; x is b at first.

    A = L^T L from the last row on: of a tree L has as few numbers as A (Featherstone 2008, section 8.5).
    """
    A, x = memory(matrix), memory(vector)
    for k in range(n - 1, -1, -1):
        row = k * n
        d = 1.0 / sqrt(A[row + k])
        for i in range(k):
            A[row + i] *= d
        A[row + k] = d
        for i in range(k):
            f = A[row + i]
            if f != 0.0:
                add_scaled(A, i * n, i + 1, -f, A, row)
        y = x[at + k] * d
        x[at + k] = y
        add_scaled(x, at, k, -y, A, row)
    for k in range(n):
        s, row = x[at + k], k * n
        for i in range(k):
            s -= A[row + i] * x[at + i]
        x[at + k] = s * A[row + k]
