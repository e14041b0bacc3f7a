"""How far the laws at contacts are from holding: the natural map p = P(p - r (u + s)).

v follows from p exactly, M (v - v_f) = J^T p; what is left of the laws is the residual.
"""

from math import sqrt

from linkwork.contact_dynamics.contact_problem import is_soft
from linkwork.contact_dynamics.friction_cone import COULOMB, projected
from linkwork.contact_dynamics.packed_rows import push, velocity
from linkwork.native.numba_functions import native_apart, native_within


@native_within
def share(c, k, p):
    """Return what the numbers of a law are multiplied by."""
    return max(p[c.of[k], 0], 0.0) if c.of[k] >= 0 else 1.0


@native_apart
def times_island(nodes, numbers, islands, i, x, y):
    """Write y = M x, or M^-1 x, of the nodes of an island."""
    for j in islands.node[islands.first_node[i] : islands.first_node[i + 1]]:
        n, f, at = nodes.size[j], nodes.first[j], nodes.at[j]
        for r in range(n):
            y[f + r] = 0.0
        for q in range(n):  # rows are columns
            z = x[f + q]
            for r in range(n):
                y[f + r] += numbers[at + q * n + r] * z


@native_apart
def residual_of(nodes, c, room, p, v, g, islands, i):
    """Write J^T p and the velocities that follow; return the largest residual of an island [m/s]."""
    contacts = islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]
    members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            g[q] = 0.0
    for k in contacts:
        push(nodes, c, room, k, p[k, 0], p[k, 1], p[k, 2], g)
    times_island(nodes, nodes.inverse, islands, i, g, v)
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            v[q] += nodes.free[q]
    worst = 0.0
    for k in contacts:
        u0, u1, u2 = velocity(nodes, c, room, k, v)
        mu, r = share(c, k, p) * c.friction[k], c.weight[k]
        spin = share(c, k, p) * c.spin[k]
        if is_soft(c, k):
            u0, spin = u0 + c.spin[k] * p[k, 0], 1.0
        s = mu * sqrt(u1 * u1 + u2 * u2) if c.kind[k] == COULOMB else 0.0
        x0, x1, x2 = p[k, 0] - r * (u0 + s), p[k, 1] - r * u1, p[k, 2] - r * u2
        q0, q1, q2 = projected(c.kind[k], mu, spin, x0, x1, x2)
        off = max(abs(q0 - p[k, 0]), max(abs(q1 - p[k, 1]), abs(q2 - p[k, 2]))) / r
        worst = max(worst, off)
    return worst
