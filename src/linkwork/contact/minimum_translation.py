"""the least move t with n.t >= depth for all contacts <- their normals and depths, or some more than these.

A problem of three unknowns: at most three of the contacts hold the move, and t is the shortest with n.t =
depth for these. From no contact at all the most violated is taken in, again and again; of the four at hand
the best three stay. The length of t grows with each, so that it ends.
"""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.shape_table import DEPTH, NORMAL
from linkwork.geometry.vectors import ZERO, add, cross, dot, scale, three

_STEPS = 64
_EXACT = 1e-10  # of the largest depth: so much may be missing
_INDEPENDENT = 1e-9  # squared sine, or volume: normals that are less apart say the same


@native_apart
def least_move(rows, count, more):
    """Return whether there is such a move, the move, and the contacts that hold it, -1 for none; each depth
    is so much larger."""
    deepest = 0.0
    for k in range(count):
        deepest = max(deepest, rows[10 * k + DEPTH] + more)
    slack = _EXACT * deepest
    t, held = ZERO, (-1, -1, -1)
    for _step in range(_STEPS):
        worst, taken = slack, -1
        for k in range(count):
            short = _short(rows, k, t, more)
            if short > worst:
                worst, taken = short, k
        if taken < 0:
            return True, t, held
        there, t, held = _best(rows, held, taken, more, 10.0 * slack)
        if not there:
            return False, t, held
    return False, t, held


@native
def _short(rows, k, t, more):
    """Return how much is missing along the normal of a contact."""
    return rows[10 * k + DEPTH] + more - dot(three(rows, 10 * k + NORMAL), t)


@native
def _best(rows, held, taken, more, slack):
    """Return the least move for one contact more, and the contacts that hold it."""
    best, move, chosen, there = 1e300, ZERO, held, False
    for which in range(7):  # none, one or two of those before
        i = -1 if which == 0 else (held[which - 1] if which <= 3 else held[which - 4])
        j = -1 if which <= 3 else held[which - 3 if which < 6 else 0]
        if (which > 0 and i < 0) or (which > 3 and j < 0):
            continue
        solved, t = _held_by(rows, taken, i, j, more)
        if not solved or dot(t, t) >= best:
            continue
        for k in range(3):
            if held[k] >= 0 and _short(rows, held[k], t, more) > slack:
                solved = False
        if solved:
            best, move, chosen, there = dot(t, t), t, (taken, i, j), True
    return there, move, chosen


@native
def _held_by(rows, a, b, c, more):
    """Return whether up to three contacts hold a move by pushing, and the move; -1 stands for none."""
    n, d = three(rows, 10 * a + NORMAL), rows[10 * a + DEPTH] + more
    if b < 0:
        return True, scale(d, n)
    m, e = three(rows, 10 * b + NORMAL), rows[10 * b + DEPTH] + more
    if c < 0:
        between = dot(n, m)
        bottom = 1.0 - between * between
        if bottom <= _INDEPENDENT:
            return False, ZERO
        x, y = (d - between * e) / bottom, (e - between * d) / bottom
        return x >= 0.0 and y >= 0.0, add(scale(x, n), scale(y, m))
    o, f = three(rows, 10 * c + NORMAL), rows[10 * c + DEPTH] + more
    mo, on, nm = cross(m, o), cross(o, n), cross(n, m)
    volume = dot(n, mo)
    if volume * volume <= _INDEPENDENT:
        return False, ZERO
    t = scale(1.0 / volume, add(add(scale(d, mo), scale(e, on)), scale(f, nm)))
    pushed = dot(t, mo) * volume >= 0.0 and dot(t, on) * volume >= 0.0 and dot(t, nm) * volume >= 0.0
    return pushed, t
