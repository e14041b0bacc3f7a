"""p <- p, u: the impulses with which the laws of one contact hold, one after the other.

With W = J M^-1 J^T, a row that is solved for alone changes its impulse by -u / W_ii, then the cone holds it
back, normal first, tangents with what friction allows then.
"""

from math import sqrt

from linkwork.contact_dynamics.problem.friction_cone import BOND, COULOMB, DRY, HELD, SPRING, STOPPED
from linkwork.contact_dynamics.problem.local_law import NONE
from linkwork.native.numba_functions import native, native_within


@native
def _held(c, k, W, p, u0, u1, u2):
    """Return the impulses of what is joined."""
    least = NONE * (W[k, 0] + W[k, 4] + W[k, 8])
    d0 = -u0 / W[k, 0] if W[k, 0] > least else 0.0
    u1, u2 = u1 + W[k, 3] * d0, u2 + W[k, 6] * d0
    d1 = -u1 / W[k, 4] if W[k, 4] > least else 0.0
    u2 += W[k, 7] * d1
    d2 = -u2 / W[k, 8] if W[k, 8] > least else 0.0
    return p[k, 0] + d0, p[k, 1] + d1, p[k, 2] + d2


@native_within
def relaxed(c, k, W, p, u0, u1, u2):
    """Return the impulses with which the laws of a contact hold, one after the other."""
    kind, w, new = c.kind[k], W[k, 0], p[k, 0]
    if kind == HELD:
        return _held(c, k, W, p, u0, u1, u2)
    share = max(p[c.of[k], 0], 0.0) if c.of[k] >= 0 else 1.0
    if w > NONE * (W[k, 4] + W[k, 8]):
        new -= u0 / w
        if kind in (COULOMB, STOPPED):
            new = max(new, 0.0)
        elif kind in (SPRING, BOND):
            new = (w * new) / (w + c.spin[k])
            new = max(new, 0.0) if kind == SPRING else new
        else:
            bound = share * (c.friction[k] if kind == DRY else c.spin[k])
            new = min(max(new, -bound), bound)
    t = max(W[k, 4], W[k, 8])
    if t <= 0.0 or kind in (STOPPED, DRY):
        return new, p[k, 1], p[k, 2]
    if kind == COULOMB:
        bound = c.friction[k] * new
    elif kind in (SPRING, BOND):
        bound = max(new, 0.0) * c.friction[k]
    else:
        bound = share * c.friction[k]
    d = new - p[k, 0]
    a = p[k, 1] - (u1 + W[k, 3] * d) / t
    b = p[k, 2] - (u2 + W[k, 6] * d) / t
    length = sqrt(a * a + b * b)
    if length > bound:
        a, b = a * bound / length, b * bound / length
    return new, a, b
