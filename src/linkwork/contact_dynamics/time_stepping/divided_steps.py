"""What divides a step with few contacts: impacts without restitution, and slips that come to a halt.

A step is of second order as long as contacts stay what they are. Two things make an error that goes with the
step itself, since each is taken to happen all through the step:

*Strikes.* What comes to a contact without restitution is stopped by two impacts, one that lets it close just
the gap and one that ends it, and both lose energy. A body that is alone, and strikes something faster than
forces change its speed within half of a step, is moved to the time of that, and hits there (`Stepper`).

*Halts.* Friction turns round with the slip, or holds what has come to rest: its impulse is that of one
direction before and another one after. With the slip w0 at the start of a step h, w1 at its end along the
direction of w0, f what friction has changed it by, and F what it takes from it as long as it slides, forces
alone change it by w1 - w0 - f; so it comes to rest at

    s = w0 h / (w0 - w1 + f + F).

Each division is one more solution of the step, so there are some only where few contacts are; in piles what
happens at a time is of no importance.
"""

from math import inf, sqrt

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import (
    CONTACTS,
    FLAT,
    NODES,
    TABLE,
    WHERE,
    Contacts,
    Nodes,
    velocity,
)
from linkwork.contact_dynamics.problem.contact_rows import POINTS, SLACK
from linkwork.contact_dynamics.problem.friction_cone import COULOMB
from linkwork.contact_dynamics.solver.impact import moved, relative_velocities
from linkwork.native.numba_functions import entry, native
from linkwork.native.stages import ASK, GO

Array = np.ndarray

OPENED, SLID, STUCK = range(3)
STRIKES, HALTS = 1, 2  # bits of what may divide a step
FEW = 32  # contacts, and
_PAIRS = 4  # pairs that strike at most
_ALONE = 6  # velocities of a node at most: a body, no tree of many
_FAST = 0.5  # of the speed that forces give in a step,
_FASTER = 1e-3  # and [m/s]: slower strikes are none
_GRAZED = 0.03  # of the impulse of a strike: what has borne more is closed
_SLOWED = 0.5  # the same, for what is seen when it has struck
_AHEAD = 1.5  # steps: until its next middle a step sees what it may meet
_SLIPS = 1e-3  # slower slip does not count [m/s]
_RUBS = 0.999  # of the bound of friction: what slides has it
_EARLY, _LATE = 0.02, 0.999  # of a step: what happens before or after happens at its start or its end


@native
def _alone(nodes, c, k):
    """Return whether contact k is of bodies that are alone, and rigid."""
    small = c.kind[k] == COULOMB
    for node in (c.a[k], c.b[k]):
        small = small and (node < 0 or nodes.size[node] <= _ALONE)
    return small


@native
def is_strike(nodes, c, k, D, f, h):
    """Return whether contact k, met at a speed D with acceleration f, is struck."""
    return max(_FAST * abs(f) * h, _FASTER) < D and _alone(nodes, c, k)


@native
def _along(nodes, c, k, v):
    return velocity(nodes, c, k, v)[0] - c.bias[k, 0]


@entry(None, NODES, CONTACTS, TABLE, FLAT, WHERE)
def mark_contacts(nodes, c, remembered, before, marks):
    """Write which contacts had the friction of sliding, and which stuck, as far as that is remembered.

    What comes so fast that it has only been slowed down before, in order to close its gap, is open.
    """
    for k in range(len(marks)):
        strikes = remembered[k, 0] < -_SLOWED * c.weight[k] * _along(nodes, c, k, before)
        marks[k] = OPENED if strikes else kind_of(c, remembered, k)


@native
def kind_of(c, p, k):
    """Return whether impulses at contact k are those of what is `OPENED`, `SLID` or `STUCK`."""
    if p[k, 0] <= 0.0:
        return OPENED
    slips = sqrt(p[k, 1] * p[k, 1] + p[k, 2] * p[k, 2]) >= _RUBS * c.friction[k] * p[k, 0]
    return SLID if slips else STUCK


@entry("int64", NODES, CONTACTS, POINTS, TABLE, *[FLAT] * 2, *["float64"] * 2, "int64")
def ask_if_struck(nodes, c, points, remembered, v, a, half, h, may):
    """Ask if contacts that are few will be struck."""
    if may & STRIKES == 0 or len(points.gap) > FEW:
        return GO
    pairs, i, j = 0, -1, -1
    for k in range(len(points.gap)):
        u, f = _along(nodes, c, k, v), _along(nodes, c, k, a)
        g = points.gap[k] - half * u
        square = u * u - 2.0 * f * g
        if g <= SLACK or square <= 0.0 or not is_strike(nodes, c, k, sqrt(square), f, h):
            continue
        D = sqrt(square)
        if remembered[k, 0] > _GRAZED * D * c.weight[k]:
            continue
        if D - u > 0.0 and 2.0 * g / (D - u) <= 2.0 * _AHEAD * half and (u < 0.0 or f < 0.0):
            same = points.pair[k, 0] == i and points.pair[k, 1] == j
            i, j = points.pair[k, 0], points.pair[k, 1]
            pairs += 0 if same else 1
    return ASK if 0 < pairs <= _PAIRS else GO


@native
def _halts(nodes, c, k, p, before, slid, v):
    """Return whether the slip of contact k comes to a halt, or has turned round."""
    if slid[k] == STUCK or not (p[k, 0] > 0.0 and c.friction[k] > 0.0 and _alone(nodes, c, k)):
        return False
    _, x, y = velocity(nodes, c, k, before)
    x, y = x - 2.0 * c.bias[k, 1], y - 2.0 * c.bias[k, 2]  # where the step begins, and not where it ends
    _, a, b = velocity(nodes, c, k, v)
    slip = sqrt(x * x + y * y)
    return slip > _SLIPS and x * a + y * b < 1e-3 * _SLIPS * slip


@entry("int64", NODES, CONTACTS, "int64", TABLE, FLAT, "int64[::1]", FLAT, "int64")
def ask_if_halted(nodes, c, count, p, before, slid, v, may):
    """Ask if the slip of contacts that are few comes to a halt."""
    if may & HALTS == 0 or count > FEW:
        return GO
    for k in range(count):
        if _halts(nodes, c, k, p, before, slid, v):
            return ASK
    return GO


@entry(None, NODES, CONTACTS, TABLE, FLAT, "int64[::1]", FLAT, "int64[::1]")
def _which_halt(nodes, c, p, before, slid, v, found):
    for k in range(len(found)):
        found[k] = 1 if _halts(nodes, c, k, p, before, slid, v) else 0


def when_halted(nodes: Nodes, c: Contacts, p: Array, before: Array, slid: Array, v: Array, h: float) -> float:
    """Return the time within a step h at which the first slip comes to a halt; infinite if at its end."""
    found = np.zeros(len(slid), np.int64)
    _which_halt(nodes, c, p, before, slid, v, found)
    which = np.flatnonzero(found)
    w0, w1 = (relative_velocities(nodes, c, x)[which, 1:] for x in (before, v))
    w0 -= 2.0 * c.bias[which, 1:]
    d = w0 / np.linalg.norm(w0, axis=1)[:, None]
    full, rubs = np.zeros_like(p), np.zeros_like(p)
    rubs[which, 1:], full[which, 1:] = p[which, 1:], (c.friction[which] * p[which, 0])[:, None] * d
    f, F = (relative_velocities(nodes, c, moved(nodes, c, x, v))[which, 1:] - w1 for x in (rubs, full))
    slip, after, by_friction, most = ((x * d).sum(axis=1) for x in (w0, w1, f, F))
    lost = slip - after + by_friction + most
    times = np.where(lost > slip, h * slip / np.where(lost > slip, lost, 1.0), inf)
    first = float(times.min(initial=inf))
    return first if _EARLY * h < first < _LATE * h else inf
