"""Compliant contacts in the problem of a time step: springs that are taken implicitly.

The law gives the normal force N of depth d and rate r, and its derivatives K and C. In a step of h the
impulse is h N at the end of the step, where the depth is that of now plus h r; linearised about some r,

    p = h (N + s (r_new - r)),    s = h K + C,    r_new = -u.

With y = 1 / (h s) this is  u + y p + r - N / s = 0:  a contact that gives way. It is at least 0, unless the
law pulls. A stiff one, y = 0 and N / s = d / h + r, is the rigid one of `contact_rows`; at rest p = h N.

It is linearised where the bodies will be if they go on as now, or, if they would not touch there, as all
other forces take them; then, if the law bends, again where the solution takes them (Newton's method, which
for laws that bend upwards comes nearer from one side). This is the backward Euler method, which damps:
bounces that last less than some ten steps are lost. Then leave step= out.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.detection.contact_plan import CURVATURE, FEELS, REACH, SHARE, SIZE
from linkwork.contact_dynamics.law_kernel import CONTACT_WORDS, FORCE
from linkwork.contact_dynamics.problem.friction_cone import BOND, SPRING
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import call, doubles, native, native_apart

if TYPE_CHECKING:
    from linkwork.contact_dynamics.compliant.compliant_contacts import CompliantContacts

APART = 1e9  # added to a velocity, it keeps a contact from doing anything [m/s]
_FINITE = 1e300  # a law gives no number from here on
_SAME = 1e-7  # of an impulse: a difference that does not count
_LEAST = 1e-3  # slope of a law, per force [s/m]: one that is constant is taken for nearly so


class Springs(NamedTuple):
    """Laws of compliant contacts, for the rows of a step."""

    row: Any  # (classes, classes) which law; -1: rigid
    laws: Any  # (laws, 2) addresses of kernel and numbers
    numbers: Any  # (laws, LAW_NUMBERS), see `contact_plan`
    of_shape: Any  # (shapes, SHAPE_NUMBERS)
    contact: Any  # (CONTACT_WORDS,) what a law is given, and gives
    at: Any  # (1,) the address of that


_TABLE, _WHERE = "float64[:, ::1]", "int64[:, ::1]"
SPRINGS = Named(
    Springs,
    dict(zip(Springs._fields, (_WHERE, _WHERE, _TABLE, _TABLE, "float64[::1]", "int64[::1]"), strict=True)),
)


def springs(contacts: "CompliantContacts | None", classes: int) -> Springs:
    """Return the laws of compliant contacts, if there are any."""
    given = np.zeros(CONTACT_WORDS)
    at = np.array([given.ctypes.data])
    if contacts is None:
        none = np.full((classes, classes), -1, np.int64)
        return Springs(none, np.zeros((0, 2), np.int64), np.zeros((0, 1)), np.zeros((0, 1)), given, at)
    return Springs(contacts.row, contacts.laws, contacts.numbers, contacts.of_shape, given, at)


@native
def _felt(nodes, c, k):
    """Return the mass that is felt along the normal."""
    total = 0.0
    for side in range(2):
        node, at = (c.a[k], c.of_a[k]) if side == 0 else (c.b[k], c.of_b[k])
        if node >= 0:
            n, begin = nodes.size[node], nodes.at[node]
            for i in range(n):
                for j in range(n):
                    total += c.rows[at + i] * nodes.inverse[begin + i * n + j] * c.rows[at + j]
    return 1.0 / total if total > 0.0 else 0.0


@native
def _closing(nodes, c, k, v):
    """Return how fast a contact closes at velocities v."""
    total = 0.0
    for side in range(2):
        node, at = (c.a[k], c.of_a[k]) if side == 0 else (c.b[k], c.of_b[k])
        if node >= 0:
            for i in range(nodes.size[node]):
                total -= c.rows[at + i] * v[nodes.first[node] + i]
    return total


@native_apart
def _linearise(nodes, c, k, springs, law, pair_a, pair_b, gap, rate, h):
    """Linearise the law of contact k about a rate; return whether its impulse there is not that of before."""
    numbers, x = springs.numbers, doubles(springs.at[0])
    before = 0.0 if c.bias[k, 0] == APART or c.spin[k] == 0.0 else (rate - c.bias[k, 0]) / c.spin[k]
    before = max(before, 0.0) if c.kind[k] == SPRING else before
    c.bias[k, 0], c.spin[k], c.kind[k], N = APART, 1.0, SPRING, 0.0
    if h * rate - gap > -numbers[law, REACH]:
        a, b = springs.of_shape[pair_a], springs.of_shape[pair_b]
        curvature = a[CURVATURE] + b[CURVATURE]
        x[0], x[1] = h * rate - gap, rate
        x[2], x[3] = 1.0 / curvature if curvature > 0.0 else 1e300, min(a[SIZE], b[SIZE])
        x[4] = _felt(nodes, c, k) if numbers[law, FEELS] != 0.0 else 0.0
        call(springs.laws[law, 0], springs.at[0], springs.laws[law, 1])
        share = max(a[SHARE], b[SHARE])
        N, slope = share * x[FORCE], share * (h * x[FORCE + 1] + x[FORCE + 2])
        if not (abs(N) < _FINITE and abs(slope) < _FINITE):
            nodes.free[nodes.first[max(c.a[k], c.b[k])]] = float("nan")  # which ends the run
            return False
        slope = max(slope, _LEAST * abs(N))
        if slope > 0.0:
            c.bias[k, 0], c.spin[k] = rate - N / slope, 1.0 / (h * slope)
            c.kind[k] = BOND if numbers[law, REACH] > 0.0 else SPRING
    return abs(h * N - before) > _SAME * (abs(h * N) + abs(before))


@native
def soften(nodes, c, k, springs, law, pair_a, pair_b, gap, v, h):
    """Make a spring of contact k, whose rows are known."""
    reach, rate = springs.numbers[law, REACH], _closing(nodes, c, k, v)
    c.of[k] = k
    if h * rate - gap <= -reach:
        rate = _closing(nodes, c, k, nodes.free)
    _linearise(nodes, c, k, springs, law, pair_a, pair_b, gap, rate, h)


@native
def soften_again(nodes, c, k, springs, law, pair_a, pair_b, gap, v, h):
    """Linearise the law of contact k where v takes it; return whether that makes a difference."""
    return _linearise(nodes, c, k, springs, law, pair_a, pair_b, gap, _closing(nodes, c, k, v), h)
