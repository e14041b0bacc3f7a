"""How far the laws at contacts are from holding: the natural map p = P(p - r (u + s)).

v follows from p exactly, M (v - v_f) = J^T p; what is left of the laws is the residual.
"""

from math import sqrt

from linkwork.contact_dynamics.problem.friction_cone import BOND, COULOMB, SPRING, projected
from linkwork.contact_dynamics.problem.packed_rows import approach, push, velocity
from linkwork.native.numba_functions import add_scaled, memory, native_apart, native_within


@native_within
def share(c, k, p):
    """Return what the numbers of a law are multiplied by."""
    return max(p[c.of[k], 0], 0.0) if c.of[k] >= 0 else 1.0


@native_apart
def times_island(nodes, numbers, islands, i, x, y):
    """Write y = M x, or M^-1 x, of the nodes of an island."""
    rows, of, to = memory(numbers), memory(x), memory(y)
    for k in range(islands.first_node[i], islands.first_node[i + 1]):
        j = islands.node[k]
        n, f, at = nodes.size[j], nodes.first[j], nodes.at[j]
        if n == 6:
            _times_free(rows, at, 6, of, to, f)
        elif n == 3:
            _times_free(rows, at, 3, of, to, f)
        else:
            for r in range(n):
                to[f + r] = 0.0
            for q in range(n):  # rows are columns
                add_scaled(to, f, n, of[f + q], rows, at + q * n)


@native_within
def _times_free(rows, at, n, x, y, f):
    """Write the product of one free body: the compiler knows how long its rows are."""
    for r in range(n):
        s = 0.0
        for q in range(n):
            s += rows[at + r * n + q] * x[f + q]
        y[f + r] = s


@native_within
def off_by(kind, mu, spin, share, r, p0, p1, p2, u0, u1, u2):
    """Return how far the laws of a contact are from holding [m/s]; `share` multiplies `spin`."""
    if kind in (SPRING, BOND):
        u0, spin, share = u0 + spin * p0, 1.0, 1.0
    s = mu * sqrt(u1 * u1 + u2 * u2) if kind == COULOMB else 0.0
    x0, x1, x2 = p0 - r * (u0 + s), p1 - r * u1, p2 - r * u2
    q0, q1, q2 = projected(kind, mu, share * spin, x0, x1, x2)
    return max(abs(q0 - p0), max(abs(q1 - p1), abs(q2 - p2))) / r


@native_within
def is_open(c, k, p):
    """Return whether a contact with friction has no impulse: unless it approaches, its laws hold."""
    return c.kind[k] == COULOMB and p[k, 0] == 0.0 and p[k, 1] == 0.0 and p[k, 2] == 0.0


@native_apart
def residual_of(nodes, c, room, p, v, g, islands, i):
    """Write J^T p and the velocities that follow; return the largest residual of an island [m/s]."""
    contacts = islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]
    members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            g[q] = 0.0
    for k in contacts:
        if is_open(c, k, p):
            continue
        push(nodes, c, room, k, p[k, 0], p[k, 1], p[k, 2], g)
    times_island(nodes, nodes.inverse, islands, i, g, v)
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            v[q] += nodes.free[q]
    worst = 0.0
    for k in contacts:
        if is_open(c, k, p) and approach(nodes, c, room, k, v) >= 0.0:
            continue
        u0, u1, u2 = velocity(nodes, c, room, k, v)
        own = share(c, k, p)
        given = c.kind[k], own * c.friction[k], c.spin[k], own, c.weight[k]
        worst = max(worst, off_by(*given, p[k, 0], p[k, 1], p[k, 2], u0, u1, u2))
    return worst
