"""impulses <- impulses: of all impulses that change velocities alike, those that share a load evenly.

A box that comes down flat is stopped by four corners, and Signorini's and Coulomb's laws leave it open how
these share the impulse, and how much they push against each other along the floor. Where all of them stick,
the least impulses that do the same to the bodies,

    p' = min |p'|    with    J^T p' = J^T p,

have no part that cancels. They are taken if they obey the laws, too: none pulls, and all stick.
"""

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import Contacts, Nodes
from linkwork.contact_dynamics.problem.friction_cone import COULOMB

Array = np.ndarray

_MOST = 32  # contacts that are looked at together
_STICKS = 0.999  # of the bound of friction: more slides


def shared_evenly(nodes: Nodes, contacts: Contacts, p: Array) -> Array:
    """Return impulses of the first contacts (n, 3), shared evenly where their laws leave that open."""
    n, even = len(p), p.copy()
    a, b, hit = contacts.a[:n], contacts.b[:n], p[:, 0] > 0.0
    group = np.arange(len(nodes.size))
    for k in np.flatnonzero(hit & (a >= 0) & (b >= 0)):
        group[group == group[b[k]]] = group[a[k]]
    of = group[np.maximum(a, b)]
    for one in np.unique(of[hit]):
        which = np.flatnonzero(hit & (of == one))
        if len(which) <= _MOST and (contacts.kind[which] == COULOMB).all():
            given, mu = p[which], contacts.friction[which]
            if _stick(given, mu):
                J = _rows(nodes, contacts, which)
                least = np.linalg.lstsq(J.T, J.T @ given.ravel(), rcond=1e-12)[0].reshape(given.shape)
                even[which] = least if _stick(least, mu) else given
    return even


def _stick(p: Array, mu: Array) -> bool:
    """Return whether impulses press, and are well inside of Coulomb's cones."""
    return bool((p[:, 0] > 0.0).all() and (np.hypot(p[:, 1], p[:, 2]) < _STICKS * mu * p[:, 0]).all())


def _rows(nodes: Nodes, contacts: Contacts, which: Array) -> Array:
    """Return the rows J of some contacts (3 n, velocities)."""
    J = np.zeros((len(which), 3, int(nodes.size.sum())))
    for node_of, at in ((contacts.a, contacts.of_a), (contacts.b, contacts.of_b)):
        for k, (node, start) in enumerate(zip(node_of[which].tolist(), at[which].tolist(), strict=True)):
            if node >= 0:
                size, first = int(nodes.size[node]), int(nodes.first[node])
                own = contacts.rows[start : start + 3 * size].reshape(3, size)
                J[k, :, first : first + size] += own
    return J.reshape(3 * len(which), -1)
