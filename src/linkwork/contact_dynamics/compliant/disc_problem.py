"""Forces of friction <- what holds: the least of  1/2 y.H y + b.y  with the parts of y each within a disc.

H is symmetric and not negative, and singular where contacts are redundant: then y is not unique, but H y is.
So the problem is solved with H + d I, d small, about the y of before, twice (the proximal point method).

One such problem is solved by Newton's method on  y = P(y - s (H y + b)),  P the projection on the discs. It
has no derivative everywhere but a generalised one: convergence is quadratic near the solution (Qi and Sun,
Math. Programming 58 (1993) 353). Where a step does not help, sweeps that move one part after the other down
its gradient do.
"""

from math import sqrt

from linkwork.native.dense_factors import factor, substitute
from linkwork.native.numba_functions import doubles, integers, native, native_apart

_ROUNDS = 60
_PROXIMAL = 1e-7  # of the mean of H's diagonal
_SMALL = 1e-13  # of the largest radius


@native
def _gradient(H, b, y, prior, prox, n, i):
    total = b[i] + prox * (y[i] - prior[i])
    for j in range(n):
        total += H[i * n + j] * y[j]
    return total


@native
def _shrink(radius, first, count, z):
    """z <- its projection on the disc of a part; return by how much it had to be shortened."""
    length = abs(z[first]) if count == 1 else sqrt(z[first] * z[first] + z[first + 1] * z[first + 1])
    share = radius / length if length > radius else 1.0
    for i in range(first, first + count):
        z[i] *= share
    return share


@native
def _sweep(H, b, y, prior, prox, n, parts, part, radius):
    """Move one part of y after the other."""
    for k in range(parts):
        first, count = part[2 * k], part[2 * k + 1]
        steep = prox
        for i in range(first, first + count):
            steep += H[i * n + i]
        g0 = _gradient(H, b, y, prior, prox, n, first)
        g1 = _gradient(H, b, y, prior, prox, n, first + 1) if count == 2 else 0.0
        y[first] -= g0 / steep
        if count == 2:
            y[first + 1] -= g1 / steep
        _shrink(radius[k], first, count, y)


@native
def _residual(H, b, y, prior, prox, n, parts, part, radius, step, z):
    """z <- P(y - step gradient) - y; return the largest of it."""
    for i in range(n):
        z[i] = y[i] - step * _gradient(H, b, y, prior, prox, n, i)
    largest = 0.0
    for k in range(parts):
        first, count = part[2 * k], part[2 * k + 1]
        _shrink(radius[k], first, count, z)
        for i in range(first, first + count):
            z[i] -= y[i]
            largest = max(largest, abs(z[i]))
    return largest


@native
def _newton_matrix(H, b, y, prior, prox, n, parts, part, radius, step, z, G):
    """G <- I - P' (I - step H), and leave z as it is."""
    for k in range(parts):
        first, count = part[2 * k], part[2 * k + 1]
        x0 = y[first] - step * _gradient(H, b, y, prior, prox, n, first)
        x1 = y[first + 1] - step * _gradient(H, b, y, prior, prox, n, first + 1) if count == 2 else 0.0
        length = sqrt(x0 * x0 + x1 * x1)
        held = length <= radius[k]
        share = 1.0 if held else radius[k] / length
        if count == 1 and not held:
            share = 0.0
        u0, u1 = (0.0, 0.0) if held or count == 1 else (x0 / length, x1 / length)
        for i in range(first, first + count):
            for j in range(n):
                m0 = (1.0 if j == first else 0.0) - step * (H[first * n + j] + (prox if j == first else 0.0))
                m1 = 0.0
                if count == 2:
                    m1 = (1.0 if j == first + 1 else 0.0) - step * (
                        H[(first + 1) * n + j] + (prox if j == first + 1 else 0.0)
                    )
                along = u0 * m0 + u1 * m1
                own, u = (m0, u0) if i == first else (m1, u1)
                G[i * n + j] = (1.0 if i == j else 0.0) - share * (own - u * along)


@native_apart
def least_in_discs(n, at_H, at_b, at_y, parts, at_part, at_radius, at_room):
    """y <- the least, from where it is; `part` has first and number, 1 or 2, of each part's components.

    `room` is for n^2 + 4 n numbers. All are addresses.
    """
    H, b, y, part, radius = doubles(at_H), doubles(at_b), doubles(at_y), integers(at_part), doubles(at_radius)
    at_G = at_room + 32 * n
    G, z, prior, kept = doubles(at_G), doubles(at_room), doubles(at_room + 8 * n), doubles(at_room + 16 * n)
    pivots = integers(at_room + 24 * n)
    trace = largest = 0.0
    for i in range(n):
        trace += H[i * n + i]
    for k in range(parts):
        largest = max(largest, radius[k])
    if not trace > 0.0:  # nothing can move along any of them
        return
    prox, step = _PROXIMAL * trace / n, 1.0 / (trace / n)
    for _ in range(2):
        for i in range(n):
            prior[i] = y[i]
        error = _residual(H, b, y, prior, prox, n, parts, part, radius, step, z)
        for _round in range(_ROUNDS):
            if error <= _SMALL * largest:
                break
            _newton_matrix(H, b, y, prior, prox, n, parts, part, radius, step, z, G)
            for i in range(n):
                kept[i] = y[i]
            better = False
            if factor(at_G, pivots, n):
                substitute(G, pivots, n, z)
                for i in range(n):
                    y[i] += z[i]
                after = _residual(H, b, y, prior, prox, n, parts, part, radius, step, z)
                better = after < 0.5 * error
                if better:
                    error = after
            if not better:
                for i in range(n):
                    y[i] = kept[i]
                for _sweep_again in range(4):
                    _sweep(H, b, y, prior, prox, n, parts, part, radius)
                error = _residual(H, b, y, prior, prox, n, parts, part, radius, step, z)
