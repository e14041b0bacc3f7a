"""The problem of contacts: v, p of nodes <- velocities without contact, masses, rows of contacts.

Bodies in nodes, trees that stand on their own, would move with velocities v_f. Impulses p at contacts, whose
relative velocities are u = J v + b, make of them

    M (v - v_f) = J^T p,    and at each contact   K* contains u + (mu |u_t|, 0), normal to p in K

(`friction_cone`). Here are its arrays, and what they say: velocities at contacts, J^T p, M x, energies.
`contact_solver` solves it.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.friction_cone import BOND, SPRING
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry, native, native_apart, native_within

FLAT, TABLE, WHERE = "float64[::1]", "float64[:, ::1]", "int64[::1]"


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


_CONTACT_TYPES = (*[WHERE] * 4, FLAT, TABLE, FLAT, FLAT, WHERE, FLAT, WHERE)
CONTACTS = Named(Contacts, dict(zip(Contacts._fields, _CONTACT_TYPES, strict=True)))
NODES = Named(Nodes, dict(zip(Nodes._fields, (*[WHERE] * 3, *[FLAT] * 3))))


@native_within
def _dot(J, at, x, first):
    """Return the product of six numbers, summed by pairs: the processor need not wait for each sum."""
    a = J[at] * x[first] + J[at + 1] * x[first + 1]
    b = J[at + 2] * x[first + 2] + J[at + 3] * x[first + 3]
    return (a + b) + (J[at + 4] * x[first + 4] + J[at + 5] * x[first + 5])


@native_within
def side_velocity(J, at, n, x, first, u0, u1, u2):
    """Add J x of one node; that of a free body, in space and in the plane, has no loop."""
    if n == 6:
        return u0 + _dot(J, at, x, first), u1 + _dot(J, at + 6, x, first), u2 + _dot(J, at + 12, x, first)
    if n == 3:
        x0, x1, x2 = x[first], x[first + 1], x[first + 2]
        return (
            u0 + (J[at] * x0 + J[at + 1] * x1 + J[at + 2] * x2),
            u1 + (J[at + 3] * x0 + J[at + 4] * x1 + J[at + 5] * x2),
            u2 + (J[at + 6] * x0 + J[at + 7] * x1 + J[at + 8] * x2),
        )
    for i in range(n):
        y = x[first + i]
        u0 += J[at + i] * y
        u1 += J[at + n + i] * y
        u2 += J[at + 2 * n + i] * y
    return u0, u1, u2


@native_within
def side_approach(J, at, n, x, first, u):
    """Add the first row of J x of one node, as `side_velocity` does."""
    if n == 6:
        return u + _dot(J, at, x, first)
    if n == 3:
        return u + (J[at] * x[first] + J[at + 1] * x[first + 1] + J[at + 2] * x[first + 2])
    for i in range(n):
        u += J[at + i] * x[first + i]
    return u


@native_within
def velocity(nodes, c, k, v):
    """Return the relative velocity at a contact."""
    u0, u1, u2 = c.bias[k, 0], c.bias[k, 1], c.bias[k, 2]
    if c.a[k] >= 0:
        a = c.a[k]
        u0, u1, u2 = side_velocity(c.rows, c.of_a[k], nodes.size[a], v, nodes.first[a], u0, u1, u2)
    if c.b[k] >= 0:
        b = c.b[k]
        u0, u1, u2 = side_velocity(c.rows, c.of_b[k], nodes.size[b], v, nodes.first[b], u0, u1, u2)
    return u0, u1, u2


@native_within
def velocity_at(nodes, c, k, v):
    """Return the velocity along the normal of a contact, without what is added to it."""
    return velocity(nodes, c, k, v)[0] - c.bias[k, 0]


@native_within
def push_rows(J, at, n, x, first, p0, p1, p2):
    """Add J^T p of one node."""
    for i in range(n):
        x[first + i] += J[at + i] * p0 + J[at + n + i] * p1 + J[at + 2 * n + i] * p2


@native_within
def _push_side(J, at, n, x, first, p0, p1, p2):
    if n == 6:
        push_rows(J, at, 6, x, first, p0, p1, p2)
    elif n == 3:
        push_rows(J, at, 3, x, first, p0, p1, p2)
    else:
        push_rows(J, at, n, x, first, p0, p1, p2)


@native_within
def push(nodes, c, k, p0, p1, p2, g):
    """Add J^T p of a contact."""
    if c.a[k] >= 0:
        a = c.a[k]
        _push_side(c.rows, c.of_a[k], nodes.size[a], g, nodes.first[a], p0, p1, p2)
    if c.b[k] >= 0:
        b = c.b[k]
        _push_side(c.rows, c.of_b[k], nodes.size[b], g, nodes.first[b], p0, p1, p2)


@native_apart
def times_blocks(nodes, numbers, x, y):
    """Write y = M x, or M^-1 x."""
    for j in range(len(nodes.size)):
        n, f, at = nodes.size[j], nodes.first[j], nodes.at[j]
        for r in range(n):
            s = 0.0
            for i in range(n):
                s += numbers[at + r * n + i] * x[f + i]
            y[f + r] = s


@native_within
def is_soft(c, k):
    """Return whether a row yields."""
    return c.kind[k] == SPRING or c.kind[k] == BOND


def slowed(nodes: Nodes, added: Any, a: Any) -> Any:
    """Return accelerations where inertias are larger by D; `added` are D a.

    With N = M + D the forces M a accelerate by N^-1 M a = a - N^-1 D a.
    """
    found = a.copy()
    _respond(nodes, added, found)
    return found


@entry(None, NODES, FLAT, FLAT)
def _respond(nodes, x, y):
    """Take N^-1 x from y."""
    for j in range(len(nodes.size)):
        n, f, at = nodes.size[j], nodes.first[j], nodes.at[j]
        for r in range(n):
            for i in range(n):
                y[f + r] -= nodes.inverse[at + r * n + i] * x[f + i]


@native_within
def _add_energy(mass, at, n, v, f, total):
    for r in range(n):
        s = 0.0
        for i in range(n):
            s += mass[at + r * n + i] * v[f + i]
        total += 0.5 * v[f + r] * s
    return total


@entry("float64", NODES, FLAT)
def kinetic_energy(nodes, v):
    """Return the energy of nodes that move at v [J]."""
    total = 0.0
    for j in range(len(nodes.size)):
        n, f, at = nodes.size[j], nodes.first[j], nodes.at[j]
        if n == 6:
            total = _add_energy(nodes.mass, at, 6, v, f, total)
        elif n == 3:
            total = _add_energy(nodes.mass, at, 3, v, f, total)
        else:
            total = _add_energy(nodes.mass, at, n, v, f, total)
    return total


@entry("float64", NODES, FLAT, FLAT)
def inertia_product(nodes, x, y):
    """Return x . M y."""
    total = 0.0
    for j in range(len(nodes.size)):
        total += node_product(nodes, j, x, y)
    return total


@native
def node_product(nodes, j, x, y):
    """Return x . M y of a node."""
    n, f, at, total = nodes.size[j], nodes.first[j], nodes.at[j], 0.0
    for r in range(n):
        s = 0.0
        for i in range(n):
            s += nodes.mass[at + r * n + i] * y[f + i]
        total += x[f + r] * s
    return total


@entry(None, NODES, CONTACTS, TABLE, "float64", FLAT)
def stand_still(nodes, c, p, slow, v):
    """Let nodes that are held by contacts and move slower than this stand still.

    What a solution leaves of their velocities is noise, which the next step would have to take away.
    """
    held = np.zeros(len(nodes.size), np.int64)
    for k in range(len(c.a)):
        if p[k, 0] != 0.0 and not is_soft(c, k):  # what is soft settles slowly
            if c.a[k] >= 0:
                held[c.a[k]] = 1
            if c.b[k] >= 0:
                held[c.b[k]] = 1
    for j in range(len(held)):
        first, last, fastest = nodes.first[j], nodes.first[j] + nodes.size[j], 0.0
        for i in range(first, last):
            fastest = max(fastest, abs(v[i]))
        if held[j] != 0 and 0.0 < fastest <= slow:
            for i in range(first, last):
                v[i] = 0.0
