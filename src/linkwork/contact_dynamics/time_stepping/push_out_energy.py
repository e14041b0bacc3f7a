"""b <- b / 8: what contacts are pushed out by, and what is foreseen of them, makes little energy.

Bodies that were put into each other are pushed out by b < 0 (`contact_rows`), and contacts on what turns are
to obey the end of the step (`accelerated_contacts`). A contact k that is moved by itself needs

    E_k = w |b|^2 / 2,    w the mass that it feels.

Where contacts contradict each other, as those of a box in the midst of a tree, or where a lever is nearly
dead, an exact solution that has all of them moved is one of enormous velocities. So the work that contacts
have done,

    p . (J v + J v0) / 2,    from velocities v0 to v,

is compared with the E_k of those that press (of what is foreseen, no more than the energy that there is: it
is wrong where impulses were). Where it is `_AS_MUCH` times as large, the step is solved anew with smaller b,
some times if need be: energies go with the square of b, and what overlaps is pushed out all the same, if more
slowly. At rest this is seldom: v0 is that of bodies that fall, and to stop them takes more.
"""

from linkwork.contact_dynamics.problem.compliant_rows import APART
from linkwork.contact_dynamics.problem.contact_problem import CONTACTS, NODES, TABLE, velocity
from linkwork.contact_dynamics.problem.contact_rows import FASTEST
from linkwork.contact_dynamics.problem.friction_cone import COULOMB
from linkwork.native.numba_functions import entry, native
from linkwork.native.stages import GO, SKIP

_AS_MUCH = 2.0
_TRIES = 3
_LESS = 0.125
_NOTHING = 1e-9  # a tenth of what solutions leave [m/s]


@entry(None, CONTACTS, TABLE, "int64", "int64[::1]")
def keep_pushes(c, kept, tries, values):
    """Keep what is added to velocities at contacts."""
    values[tries] = 0
    for k in range(len(c.a)):
        for i in range(3):
            kept[k, i] = c.bias[k, i]


@native
def _energy(nodes):
    """Return the kinetic energy without contact."""
    total, v = 0.0, nodes.free
    for j in range(len(nodes.size)):
        n, first, at = nodes.size[j], nodes.first[j], nodes.at[j]
        for i in range(n):
            for k in range(n):
                total += 0.5 * v[first + i] * nodes.mass[at + n * i + k] * v[first + k]
    return total


@native
def _pushes(b, points):
    """Return whether any b does more than allow a gap to close."""
    for k in range(points):
        if b[k, 0] < -_NOTHING or abs(b[k, 1]) > _NOTHING or abs(b[k, 2]) > _NOTHING:
            return True
    return False


@entry("int64", NODES, CONTACTS, "int64", TABLE, TABLE, "float64[::1]", "int64", "int64[::1]")
def push_less(nodes, c, points, kept, p, v, tries, values):
    """Skip back to solve anew with smaller b, where the first contacts, of `points`, made much energy."""
    if not _pushes(kept, points):
        return GO
    made = pushed = turned = 0.0
    mean = 0.5 * (v + nodes.free)
    for k in range(points):
        if c.kind[k] != COULOMB or p[k, 0] <= 0.0:
            continue
        u = velocity(nodes, c, k, mean)
        for i in range(3):
            made += p[k, i] * (u[i] - c.bias[k, i])
            turned += 0.5 * c.weight[k] * kept[k, i] ** 2 if i > 0 or kept[k, i] < 0.0 else 0.0
        pushed += 0.5 * c.weight[k] * min(max(-kept[k, 0], 0.0), FASTEST) ** 2
    if not made > _AS_MUCH * pushed + 1e-9 or values[tries] == _TRIES:
        return GO
    if not made > _AS_MUCH * (pushed + min(turned, _energy(nodes))):
        return GO
    values[tries] += 1
    less = _LESS ** values[tries]
    for k in range(len(c.a)):
        p[k, 0] = p[k, 1] = p[k, 2] = 0.0
        for i in range(3):
            b = kept[k, i]
            small = k < points and b < 0.5 * APART and (i > 0 or b < 0.0)
            c.bias[k, i] = less * max(min(b, FASTEST), -FASTEST) if small else b
    return SKIP
