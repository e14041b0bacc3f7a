"""The cone of Coulomb friction: projection onto it, and how the projection changes.

The impulse p = (n, t) of a contact, normal and tangential, lies in K = {|t| <= mu n}. The law of Signorini
and Coulomb with maximal dissipation reads, with the relative velocity u = (u_n, u_t) (De Saxce, Feng 1998),

    K* contains u + (mu |u_t|, 0), which is normal to p in K.

For any r > 0 that is p = P(p - r (u + (mu |u_t|, 0))), P the nearest point of K: the natural map. By the
sector that x = (n, t) is in,

    |t| <= mu n     x itself                                    (it sticks)
    mu |t| <= -n    0                                           (it is apart)
    else            c (1, mu t / |t|), c = (n + mu |t|) / (1 + mu^2)    (it slides)

In the last sector the derivative is 1 / (1 + mu^2) times

    [1        mu e^T                                        ]
    [mu e     mu^2 e e^T + mu (n + mu |t|) / |t| (1 - e e^T)],    e = t / |t|

symmetric and >= 0, as the derivative of any projection onto a convex set.

Other rows are laws of the same form, p = P(p - r u) with another set in place of the cone:

    HELD      any impulse: what is joined stays joined, u = 0. The derivative is 1.
    STOPPED   the first number is not below 0, the others are 0: a stop without friction.
    DRY       the first number is within -mu and mu, the others are 0: dry friction of a joint.
    TURNING   the first is within -spin and spin, |others| <= mu: resistance to spinning and to rolling.
    SPRING    the first is not below 0, |others| <= mu, and u is softened: its first number counts as u + y p,
              y the compliance (`compliant_rows`). Then  p = P(p - r (u + y p))  is  p = f P(p - r u)  with
              f = 1 / (1 + r y), which here is `spin`.
    BOND      the same, but the first number may be below 0: a law that pulls.
"""

from math import sqrt

from linkwork.native.numba_functions import native_within

COULOMB, HELD, STOPPED, DRY, TURNING, SPRING, BOND = range(7)


@native_within
def projected(kind, mu, spin, n, a, b):
    """Return the point of the set nearest to (n, a, b)."""
    if kind == COULOMB:
        return _on_cone(mu, n, a, b)
    if kind == HELD:
        return n, a, b
    if kind == STOPPED:
        return max(n, 0.0), 0.0, 0.0
    if kind == DRY:
        return min(max(n, -mu), mu), 0.0, 0.0
    t = sqrt(a * a + b * b)
    f = 1.0 if t <= mu else mu / t
    if kind == TURNING:
        return min(max(n, -spin), spin), f * a, f * b
    return spin * (max(n, 0.0) if kind == SPRING else n), f * a, f * b


@native_within
def _on_cone(mu, n, a, b):
    t = sqrt(a * a + b * b)
    if mu * t <= -n:
        return 0.0, 0.0, 0.0
    if t <= mu * n:
        return n, a, b
    c = (n + mu * t) / (1.0 + mu * mu)
    f = mu * c / t
    return c, f * a, f * b


@native_within
def derivative(kind, mu, spin, n, a, b):
    """Return the upper triangle of the derivative of the projection at (n, a, b): nn, na, nb, aa, ab, bb."""
    if kind == COULOMB:
        return _of_cone(mu, n, a, b)
    if kind == HELD:
        return 1.0, 0.0, 0.0, 1.0, 0.0, 1.0
    if kind == STOPPED:
        return (1.0 if n > 0.0 else 0.0), 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == DRY:
        return (1.0 if abs(n) < mu else 0.0), 0.0, 0.0, 0.0, 0.0, 0.0
    t = sqrt(a * a + b * b)
    if kind == TURNING:
        first = 1.0 if abs(n) < spin else 0.0
    else:
        first = spin if n > 0.0 or kind == BOND else 0.0
    if t <= mu:
        return first, 0.0, 0.0, 1.0, 0.0, 1.0
    e, f, c = a / t, b / t, mu / t
    return first, 0.0, 0.0, c * f * f, -c * e * f, c * e * e


@native_within
def _of_cone(mu, n, a, b):
    t = sqrt(a * a + b * b)
    if mu * t <= -n:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if t <= mu * n:
        return 1.0, 0.0, 0.0, 1.0, 0.0, 1.0
    s = 1.0 / (1.0 + mu * mu)
    e, f = a / t, b / t
    c, d = s * mu * (n + mu * t) / t, s * mu * mu
    return s, s * mu * e, s * mu * f, d * e * e + c * f * f, (d - c) * e * f, d * f * f + c * e * e
