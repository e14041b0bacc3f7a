"""p, v <- p, v: sweeps over contacts, each of which sets its impulse so that its own laws hold.

The method of Gauss and Seidel on rows: with W = J M^-1 J^T, a row that is solved for alone changes its
impulse by -u / W_ii, then the cone holds it back, normal first, tangents with what friction allows then. Its
fixed points are the solutions (Jean and Moreau, 1992). It comes near them in a few sweeps where contacts are
many and impacts spread, and hardly at all where a heavy body stands on a light one: `contact_problem` goes
on from there.
"""

from math import sqrt

from linkwork.contact_dynamics.friction_cone import BOND, COULOMB, DRY, HELD, SPRING, STOPPED
from linkwork.native.numba_functions import native, native_apart, native_within

_NONE = 1e-9  # of the response of its neighbours: a row of a loop that cannot move


@native_apart
def prepare_sweeps(nodes, c, moved, response):
    """Write M^-1 J^T, where J has its rows, and the diagonal of J M^-1 J^T."""
    for k in range(len(c.a)):
        response[k, 0] = response[k, 1] = response[k, 2] = 0.0
        for side in range(2):
            node, at = (c.a[k], c.of_a[k]) if side == 0 else (c.b[k], c.of_b[k])
            if node < 0:
                continue
            n, begin = nodes.size[node], nodes.at[node]
            for r in range(3):
                if n == 6:
                    response[k, r] += _respond(nodes.inverse, begin, c.rows, at + 6 * r, 6, moved)
                else:
                    response[k, r] += _respond(nodes.inverse, begin, c.rows, at + n * r, n, moved)


@native_within
def _respond(inverse, begin, rows, at, n, moved):
    total = 0.0
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += inverse[begin + i * n + j] * rows[at + j]
        moved[at + i] = s
        total += s * rows[at + i]
    return total


@native_within
def _times(rows, at, n, v, first):
    s = 0.0
    for i in range(n):
        s += rows[at + i] * v[first + i]
    return s


@native_within
def _row(nodes, c, k, r, v):
    """Return the velocity along a row."""
    u = c.bias[k, r]
    if c.a[k] >= 0:
        n = nodes.size[c.a[k]]
        if n == 6:
            u += _times(c.rows, c.of_a[k] + 6 * r, 6, v, nodes.first[c.a[k]])
        else:
            u += _times(c.rows, c.of_a[k] + n * r, n, v, nodes.first[c.a[k]])
    if c.b[k] >= 0:
        n = nodes.size[c.b[k]]
        if n == 6:
            u += _times(c.rows, c.of_b[k] + 6 * r, 6, v, nodes.first[c.b[k]])
        else:
            u += _times(c.rows, c.of_b[k] + n * r, n, v, nodes.first[c.b[k]])
    return u


@native_within
def _add(moved, at, n, v, first, p):
    for i in range(n):
        v[first + i] += moved[at + i] * p


@native_within
def _give(nodes, c, k, r, moved, v, p):
    """Add what an impulse along a row does to the velocities."""
    if c.a[k] >= 0:
        n = nodes.size[c.a[k]]
        if n == 6:
            _add(moved, c.of_a[k] + 6 * r, 6, v, nodes.first[c.a[k]], p)
        else:
            _add(moved, c.of_a[k] + n * r, n, v, nodes.first[c.a[k]], p)
    if c.b[k] >= 0:
        n = nodes.size[c.b[k]]
        if n == 6:
            _add(moved, c.of_b[k] + 6 * r, 6, v, nodes.first[c.b[k]], p)
        else:
            _add(moved, c.of_b[k] + n * r, n, v, nodes.first[c.b[k]], p)


@native
def _set(nodes, c, k, r, moved, v, p, new):
    """Set an impulse."""
    if new != p[k, r]:
        _give(nodes, c, k, r, moved, v, new - p[k, r])
        p[k, r] = new


@native
def _set_tangents(nodes, c, k, moved, response, v, p, bound):
    """Let the tangents stick, as far as their bound allows."""
    w = max(response[k, 1], response[k, 2])
    if w <= 0.0:
        return
    a = p[k, 1] - _row(nodes, c, k, 1, v) / w
    b = p[k, 2] - _row(nodes, c, k, 2, v) / w
    t = sqrt(a * a + b * b)
    if t > bound:
        a, b = a * bound / t, b * bound / t
    _set(nodes, c, k, 1, moved, v, p, a)
    _set(nodes, c, k, 2, moved, v, p, b)


@native_apart
def sweep(nodes, c, moved, response, v, p):
    """Go over all contacts once; v are the velocities that follow from p."""
    for k in range(len(c.a)):
        kind, w = c.kind[k], response[k, 0]
        share = max(p[c.of[k], 0], 0.0) if c.of[k] >= 0 else 1.0
        if kind == HELD:
            least = _NONE * (response[k, 0] + response[k, 1] + response[k, 2])
            for r in range(3):
                if response[k, r] > least:
                    new = p[k, r] - _row(nodes, c, k, r, v) / response[k, r]
                    _set(nodes, c, k, r, moved, v, p, new)
            continue
        if w > 0.0:
            new = p[k, 0] - _row(nodes, c, k, 0, v) / w
            if kind in (SPRING, BOND):
                new = (w * new) / (w + c.spin[k])
                new = max(new, 0.0) if kind == SPRING else new
            elif kind in (COULOMB, STOPPED):
                new = max(new, 0.0)
            else:
                bound = share * (c.friction[k] if kind == DRY else c.spin[k])
                new = min(max(new, -bound), bound)
            _set(nodes, c, k, 0, moved, v, p, new)
        if kind == COULOMB:
            _set_tangents(nodes, c, k, moved, response, v, p, c.friction[k] * p[k, 0])
        elif kind in (SPRING, BOND):
            _set_tangents(nodes, c, k, moved, response, v, p, max(p[k, 0], 0.0) * c.friction[k])
        elif kind not in (STOPPED, DRY):
            _set_tangents(nodes, c, k, moved, response, v, p, share * c.friction[k])
