"""p, y <- p, y: sweeps over contacts of free bodies, in velocities in which their inertia is 1.

With M = L L^T of a body, y = L^T v and K = J L^-T,

    u = K y + b,    J M^-1 J^T = K K^T,    impulses p change y by K^T p:

the same rows say how fast a contact moves and what its impulse does. What a sweep needs of a contact is a
record of numbers, in the order in which contacts are swept over. In a pile of balls, whose rows do not fit
into the first cache, a sweep takes half of the time that it takes with J and M^-1 J^T of all contacts.

Bodies of the plane have three velocities; the other three of a record are zero.
"""

from math import sqrt

import numpy as np

from linkwork.contact_dynamics.problem.friction_cone import COULOMB
from linkwork.contact_dynamics.problem.natural_map import is_open, off_by, share
from linkwork.contact_dynamics.problem.packed_rows import is_free
from linkwork.contact_dynamics.solver.relaxed_contact import relaxed
from linkwork.native.numba_functions import memory, native, native_apart, native_within

# What a record has. Of the normal: its rows of both sides, six numbers each; b, 1 / W_nn, W_nn of
# W = J M^-1 J^T, mu. It is all that is read of contacts that are apart, and where gaps are closed.
_ROW, _BIAS, _BY_NORMAL, _NORMAL, _FRICTION, NORMAL_NUMBERS = 6, 12, 13, 14, 15, 16
# Of the tangents: rows of the one and the other on side a, then on side b; both b; 1 / W_tt, W_tt (the larger
# of both), and what couples each tangent with the normal.
_OTHER, _BIASES, _BY_TANGENT, _TANGENT, _FIRST, _SECOND, TANGENT_NUMBERS = 12, 24, 26, 27, 28, 29, 32


@native
def are_free(nodes, members):
    """Return whether all nodes are free bodies."""
    others = 0
    for j in members:
        others += not is_free(nodes.size[j])
    return others == 0


@native_apart
def _factor(nodes, j, room, L):
    """Write L^-1 of a node, rows of six, and y of the velocities without contact."""
    n, at, first, X = nodes.size[j], nodes.at[j], nodes.first[j], 36 * j
    for i in range(n):
        for k in range(i + 1):
            s = nodes.mass[at + i * n + k]
            for q in range(k):
                s -= L[i, q] * L[k, q]
            L[i, k] = sqrt(s) if i == k else s / L[k, k]
    for i in range(6):
        s = 0.0
        for q in range(i, n):
            s += L[q, i] * nodes.free[first + q]
        room.y_free[6 * j + i] = s
    for i in range(n):
        room.inverse[X + 6 * i + i] = 1.0 / L[i, i]
        for k in range(i):
            s = 0.0
            for q in range(k, i):
                s -= L[i, q] * room.inverse[X + 6 * q + k]
            room.inverse[X + 6 * i + k] = s / L[i, i]


@native_within
def _scale_row(rows, at, n, inverse, X, to, place):
    """Write a row of K = J L^-T."""
    for i in range(n):
        s = 0.0
        for q in range(i + 1):
            s += inverse[X + 6 * i + q] * rows[at + q]
        to[place + i] = s


@native_within
def _scale_side(rows, at, n, inverse, X, N, first, T, second):
    _scale_row(rows, at, n, inverse, X, N, first)
    _scale_row(rows, at + n, n, inverse, X, T, second)
    _scale_row(rows, at + 2 * n, n, inverse, X, T, second + 6)


@native_within
def _product(x, i, far, y, j, beyond):
    """Return the product of two rows, of both sides."""
    s = 0.0
    for q in range(6):
        s += x[i + q] * y[j + q] + x[i + far + q] * y[j + beyond + q]
    return s


@native_apart
def _scale(nodes, c, inverse, W, k, N, n, T, t):
    """Write the record of a contact, at n and t, and its block of J M^-1 J^T."""
    for i in range(NORMAL_NUMBERS):
        N[n + i] = 0.0
    for i in range(TANGENT_NUMBERS):
        T[t + i] = 0.0
    for side in range(2):
        node, at = (c.a[k], c.of_a[k]) if side == 0 else (c.b[k], c.of_b[k])
        first, second = n + _ROW * side, t + _OTHER * side
        if node >= 0 and nodes.size[node] == 6:
            _scale_side(c.rows, at, 6, inverse, 36 * node, N, first, T, second)
        elif node >= 0:
            _scale_side(c.rows, at, 3, inverse, 36 * node, N, first, T, second)
    W[k, 0] = _product(N, n, _ROW, N, n, _ROW)
    W[k, 1] = W[k, 3] = _product(N, n, _ROW, T, t, _OTHER)
    W[k, 2] = W[k, 6] = _product(N, n, _ROW, T, t + 6, _OTHER)
    W[k, 4], W[k, 8] = _product(T, t, _OTHER, T, t, _OTHER), _product(T, t + 6, _OTHER, T, t + 6, _OTHER)
    W[k, 5] = W[k, 7] = _product(T, t, _OTHER, T, t + 6, _OTHER)
    w, both = W[k, 0], max(W[k, 4], W[k, 8])
    N[n + _BIAS], N[n + _NORMAL], N[n + _FRICTION] = c.bias[k, 0], w, c.friction[k]
    N[n + _BY_NORMAL] = 1.0 / w if w > 0.0 else 0.0
    T[t + _BIASES], T[t + _BIASES + 1], T[t + _TANGENT] = c.bias[k, 1], c.bias[k, 2], both
    T[t + _FIRST], T[t + _SECOND] = W[k, 3], W[k, 6]
    T[t + _BY_TANGENT] = 1.0 / both if both > 0.0 else 0.0


@native_apart
def scale_island(nodes, c, room, islands, i):
    """Write the records of an island of free bodies, and y of their velocities without contact."""
    inverse, N, T, L = memory(room.inverse), memory(room.normal), memory(room.tangent), np.zeros((6, 6))
    for j in islands.node[islands.first_node[i] : islands.first_node[i + 1]]:
        _factor(nodes, j, room, L)
    for e in range(islands.first_contact[i], islands.first_contact[i + 1]):
        k = islands.contact[e]
        _scale(nodes, c, inverse, room.response, k, N, NORMAL_NUMBERS * e, T, TANGENT_NUMBERS * e)


@native_within
def _dot(K, at, y, f):
    """Return the product of six numbers, summed by pairs: the processor need not wait for each sum."""
    a, b = K[at] * y[f] + K[at + 1] * y[f + 1], K[at + 2] * y[f + 2] + K[at + 3] * y[f + 3]
    return (a + b) + (K[at + 4] * y[f + 4] + K[at + 5] * y[f + 5])


@native_within
def _approach(N, n, a, b, y):
    """Return the relative velocity along the normal of a contact of nodes a and b."""
    u = N[n + _BIAS]
    if a >= 0:
        u += _dot(N, n, y, 6 * a)
    if b >= 0:
        u += _dot(N, n + _ROW, y, 6 * b)
    return u


@native_within
def _slip(T, t, a, b, y):
    """Return the relative velocity along both tangents."""
    u, v = T[t + _BIASES], T[t + _BIASES + 1]
    if a >= 0:
        u, v = u + _dot(T, t, y, 6 * a), v + _dot(T, t + 6, y, 6 * a)
    if b >= 0:
        t += _OTHER
        u, v = u + _dot(T, t, y, 6 * b), v + _dot(T, t + 6, y, 6 * b)
    return u, v


@native_within
def _push_side(N, n, T, t, node, y, p0, p1, p2):
    if node >= 0:
        f = 6 * node
        for q in range(6):
            y[f + q] += (N[n + q] * p0 + T[t + q] * p1) + T[t + 6 + q] * p2


@native_within
def _push(N, n, T, t, a, b, y, p0, p1, p2):
    """Add what impulses at a contact do."""
    _push_side(N, n, T, t, a, y, p0, p1, p2)
    _push_side(N, n + _ROW, T, t + _OTHER, b, y, p0, p1, p2)


@native_within
def _rubbed(N, n, T, t, p0, p1, p2, u0, u1, u2):
    """Return the impulse with which the laws of a contact with friction hold, one after the other."""
    new = max(p0 - u0 * N[n + _BY_NORMAL], 0.0)
    d, bound = new - p0, N[n + _FRICTION] * new
    a = p1 - (u1 + T[t + _FIRST] * d) * T[t + _BY_TANGENT]
    b = p2 - (u2 + T[t + _SECOND] * d) * T[t + _BY_TANGENT]
    square = a * a + b * b
    if square > bound * bound:
        f = bound / sqrt(square)
        a, b = a * f, b * f
    return new, a, b


@native_apart
def _sweep(c, room, p, islands, i):
    """Go over contacts once, y is what follows from p; return the square of the gradient."""
    N, T, y, g, P = memory(room.normal), memory(room.tangent), memory(room.y), memory(room.x), memory(p)
    square = 0.0
    for e in range(islands.first_contact[i], islands.first_contact[i + 1]):
        k, n, t = islands.contact[e], NORMAL_NUMBERS * e, TANGENT_NUMBERS * e
        a, b, q = c.a[k], c.b[k], 3 * k
        rubs, p0, p1, p2 = c.kind[k] == COULOMB, P[q], P[q + 1], P[q + 2]
        u0 = _approach(N, n, a, b, y)
        if rubs and p0 == 0.0 and p1 == 0.0 and p2 == 0.0 and u0 >= 0.0:
            g[q] = g[q + 1] = g[q + 2] = 0.0
            continue
        u1, u2 = _slip(T, t, a, b, y)
        if rubs:
            x0, x1, x2 = _rubbed(N, n, T, t, p0, p1, p2, u0, u1, u2)
        else:
            x0, x1, x2 = relaxed(c, k, room.response, p, u0, u1, u2)
        d0, d1, d2 = x0 - p0, x1 - p1, x2 - p2
        g[q], g[q + 1], g[q + 2] = -d0, -d1, -d2
        if d0 != 0.0 or d1 != 0.0 or d2 != 0.0:
            P[q], P[q + 1], P[q + 2] = x0, x1, x2
            _push(N, n, T, t, a, b, y, d0, d1, d2)
            square += N[n + _NORMAL] * d0 * d0 + T[t + _TANGENT] * (d1 * d1 + d2 * d2)
    return square


@native_apart
def turn_scaled(c, room, p, islands, i, square, sweeps):
    """Do a turn of conjugate sweeps, the last of which goes no farther; return the square of its gradient.

    `square` is that of before, 0 at first. As `gauss_seidel` does, whose formulas these are.
    """
    y, y_before, y_change = memory(room.y), memory(room.y_before), memory(room.y_change)
    P, g, d = memory(p), memory(room.x), memory(room.other_x)
    members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
    contacts = islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]
    for n in range(sweeps):
        for j in members:
            for q in range(6 * j, 6 * j + 6):
                y_before[q] = y[q]
        new = _sweep(c, room, p, islands, i)
        b = new / square if new <= square and square > 0.0 else 0.0
        go = b if n < sweeps - 1 else 0.0
        square = new
        for k in contacts:
            for q in range(3 * k, 3 * k + 3):
                old = d[q] if b > 0.0 else 0.0
                P[q] += go * old
                d[q] = b * old - g[q]
        for j in members:
            for q in range(6 * j, 6 * j + 6):
                h, old = y_before[q] - y[q], y_change[q] if b > 0.0 else 0.0
                y[q] += go * old
                y_change[q] = b * old - h
    return square


@native_apart
def scaled_residual(c, room, p, islands, i):
    """Write y that follows from p; return the largest residual of an island [m/s], see `natural_map`."""
    N, T, y, P, worst = memory(room.normal), memory(room.tangent), memory(room.y), memory(p), 0.0
    for j in islands.node[islands.first_node[i] : islands.first_node[i + 1]]:
        for q in range(6 * j, 6 * j + 6):
            y[q] = room.y_free[q]
    for e in range(islands.first_contact[i], islands.first_contact[i + 1]):
        k, n, t = islands.contact[e], NORMAL_NUMBERS * e, TANGENT_NUMBERS * e
        if P[3 * k] != 0.0 or P[3 * k + 1] != 0.0 or P[3 * k + 2] != 0.0:
            _push(N, n, T, t, c.a[k], c.b[k], y, P[3 * k], P[3 * k + 1], P[3 * k + 2])
    for e in range(islands.first_contact[i], islands.first_contact[i + 1]):
        k, n, t = islands.contact[e], NORMAL_NUMBERS * e, TANGENT_NUMBERS * e
        a, b = c.a[k], c.b[k]
        u0 = _approach(N, n, a, b, y)
        if is_open(c, k, p) and u0 >= 0.0:
            continue
        u1, u2 = _slip(T, t, a, b, y)
        own = share(c, k, p)
        given = c.kind[k], own * c.friction[k], c.spin[k], own, c.weight[k]
        worst = max(worst, off_by(*given, P[3 * k], P[3 * k + 1], P[3 * k + 2], u0, u1, u2))
    return worst


@native_apart
def close_gaps(nodes, c, p, room, islands, i, wanted, apart, sweeps):
    """Write the least shift s with which J_n s + wanted is 0 where p_n > 0, and >= 0 elsewhere [m/s].

    It is found by sweeps over normals; those of contacts that are `apart` are left out. Records are written.
    """
    N, y, pushed = memory(room.normal), memory(room.y), room.x
    members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
    first, end = islands.first_contact[i], islands.first_contact[i + 1]
    for j in members:
        for q in range(6 * j, 6 * j + 6):
            y[q] = 0.0
    for e in range(first, end):
        pushed[islands.contact[e], 0] = 0.0
    for _ in range(sweeps):
        for e in range(first, end):
            k, n = islands.contact[e], NORMAL_NUMBERS * e
            if wanted[k] == apart:
                continue
            u = wanted[k] + (_approach(N, n, c.a[k], c.b[k], y) - N[n + _BIAS])
            new = pushed[k, 0] - u * N[n + _BY_NORMAL]
            if p[k, 0] == 0.0:
                new = max(new, 0.0)
            d = new - pushed[k, 0]
            if d != 0.0:
                pushed[k, 0] = new
                _push_normal(N, n, c.a[k], y, d)
                _push_normal(N, n + _ROW, c.b[k], y, d)
    for j in members:
        for i in range(nodes.size[j]):
            s = 0.0
            for q in range(i, nodes.size[j]):
                s += room.inverse[36 * j + 6 * q + i] * y[6 * j + q]
            room.shift[nodes.first[j] + i] = s


@native_within
def _push_normal(N, n, node, y, d):
    if node >= 0:
        for q in range(6):
            y[6 * node + q] += N[n + q] * d
