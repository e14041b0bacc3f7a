"""Rows of contacts on trees without their zeros: a point moves by the velocities between it and ground only.

A row of J has as many numbers as its node has velocities; on a tree most of them are zero, those of other
branches. Sides of contacts on such nodes are packed: their numbers, which velocities these are of, and how
many. Free bodies, 6 velocities in space and 3 in the plane, have rows without zeros, and loops of their own
whose length the compiler knows.

Where side a of a contact has its rows in `rows` from `of_a` on, three of `width` numbers, its columns begin
at a third of that.
"""

from linkwork.contact_dynamics.problem.contact_problem import push_rows, side_approach, side_velocity
from linkwork.native.numba_functions import add_scaled, memory, native_apart, native_within


@native_within
def is_free(n):
    """Return whether a node of n velocities has loops of its own."""
    return n == 6 or n == 3


@native_apart
def pack(nodes, c, room, contacts):
    """Pack the sides of contacts, but those between free bodies of one kind."""
    for k in contacts:
        a, b = c.a[k], c.b[k]
        na, nb = nodes.size[a] if a >= 0 else 0, nodes.size[b] if b >= 0 else 0
        if (na == nb or na == 0 or nb == 0) and is_free(max(na, nb)):
            continue
        for side in range(2):
            n, at = (na, c.of_a[k]) if side == 0 else (nb, c.of_b[k])
            if n == 0:
                continue
            columns, m = at // 3, 0
            for i in range(n):
                if c.rows[at + i] != 0.0 or c.rows[at + n + i] != 0.0 or c.rows[at + 2 * n + i] != 0.0:
                    room.column[columns + m] = i
                    m += 1
            room.width[2 * k + side] = m
            for i in range(m):
                j = at + room.column[columns + i]
                room.packed[at + i], room.packed[at + m + i] = c.rows[j], c.rows[j + n]
                room.packed[at + 2 * m + i] = c.rows[j + 2 * n]


@native_within
def _add_side(nodes, c, room, k, side, node, at, v, u0, u1, u2):
    n, first = nodes.size[node], nodes.first[node]
    if is_free(n):
        return side_velocity(c.rows, at, n, v, first, u0, u1, u2)
    J, m, columns = room.packed, room.width[2 * k + side], at // 3
    for i in range(m):
        x = v[first + room.column[columns + i]]
        u0 += J[at + i] * x
        u1 += J[at + m + i] * x
        u2 += J[at + 2 * m + i] * x
    return u0, u1, u2


@native_within
def velocity(nodes, c, room, k, v):
    """Return the relative velocity at a contact."""
    u0, u1, u2 = c.bias[k, 0], c.bias[k, 1], c.bias[k, 2]
    if c.a[k] >= 0:
        u0, u1, u2 = _add_side(nodes, c, room, k, 0, c.a[k], c.of_a[k], v, u0, u1, u2)
    if c.b[k] >= 0:
        u0, u1, u2 = _add_side(nodes, c, room, k, 1, c.b[k], c.of_b[k], v, u0, u1, u2)
    return u0, u1, u2


@native_within
def _add_approach(nodes, c, room, k, side, node, at, v, u):
    n, first = nodes.size[node], nodes.first[node]
    if is_free(n):
        return side_approach(c.rows, at, n, v, first, u)
    J, m, columns = room.packed, room.width[2 * k + side], at // 3
    for i in range(m):
        u += J[at + i] * v[first + room.column[columns + i]]
    return u


@native_within
def approach(nodes, c, room, k, v):
    """Return the relative velocity along the normal of a contact, to the bits of `velocity`."""
    u = c.bias[k, 0]
    if c.a[k] >= 0:
        u = _add_approach(nodes, c, room, k, 0, c.a[k], c.of_a[k], v, u)
    if c.b[k] >= 0:
        u = _add_approach(nodes, c, room, k, 1, c.b[k], c.of_b[k], v, u)
    return u


@native_within
def push_side(nodes, c, room, k, side, node, at, p0, p1, p2, g):
    """Add J^T p of one side of a contact, whose rows begin `at`."""
    n, first = nodes.size[node], nodes.first[node]
    if n == 6:
        push_rows(c.rows, at, 6, g, first, p0, p1, p2)
    elif n == 3:
        push_rows(c.rows, at, 3, g, first, p0, p1, p2)
    else:
        J, m, columns = room.packed, room.width[2 * k + side], at // 3
        for i in range(m):
            g[first + room.column[columns + i]] += (
                J[at + i] * p0 + J[at + m + i] * p1 + J[at + 2 * m + i] * p2
            )


@native_within
def push(nodes, c, room, k, p0, p1, p2, g):
    """Add J^T p of a contact."""
    if c.a[k] >= 0:
        push_side(nodes, c, room, k, 0, c.a[k], c.of_a[k], p0, p1, p2, g)
    if c.b[k] >= 0:
        push_side(nodes, c, room, k, 1, c.b[k], c.of_b[k], p0, p1, p2, g)


@native_within
def respond(nodes, room, k, side, node, at, W):
    """Write M^-1 J^T of a packed side, as rows of the node's size, and add to J M^-1 J^T of the contact."""
    n, begin, m, columns = nodes.size[node], nodes.at[node], room.width[2 * k + side], at // 3
    J, moved, inverse = room.packed, memory(room.moved), memory(nodes.inverse)
    for i in range(3 * n):
        moved[at + i] = 0.0
    for j in range(m):
        row = begin + room.column[columns + j] * n
        for r in range(3):
            add_scaled(moved, at + r * n, n, J[at + r * m + j], inverse, row)
    for r in range(3):
        for q in range(3):
            s = 0.0
            for j in range(m):
                s += J[at + m * r + j] * moved[at + n * q + room.column[columns + j]]
            W[k, 3 * r + q] += s


@native_within
def add_packed(T, t, rows, room, at_i, wide_i, at_c, wide_c, lower, r, d):
    """Add J_i^T r D J_c to the block at t, kept by columns of `rows` rows; of a diagonal one its half."""
    J, column = room.packed, room.column
    for c in range(wide_c):
        a0, a1, a2 = r * J[at_c + c], r * J[at_c + wide_c + c], r * J[at_c + 2 * wide_c + c]
        b0 = d[0] * a0 + d[1] * a1 + d[2] * a2
        b1 = d[1] * a0 + d[3] * a1 + d[4] * a2
        b2 = d[2] * a0 + d[4] * a1 + d[5] * a2
        to = t + column[at_c // 3 + c] * rows
        for i in range(c + 1 if lower else wide_i):
            T[to + column[at_i // 3 + i]] += (
                J[at_i + i] * b0 + J[at_i + wide_i + i] * b1 + J[at_i + 2 * wide_i + i] * b2
            )
