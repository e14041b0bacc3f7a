"""b <- contacts on bodies that turn, or that joints and drivers move: the laws of contact at the step's end.

The velocities that a step finds in its middle hold until the middle of the next one, so they are to obey the
laws of contact as the end of the step has them: u = 0 where, and along the normal at which, bodies touch
then,

    J(q + h/2 v) v = 0   in place of   J(q) v = 0.

Both ends of a step then obey the laws, the step is the same forwards and backwards in time, and so it is of
second order. With J(q) a wheel, a rocking block or a box on a turntable goes on along the tangent, which is
of first order. What is added to J(q) v,

    b = J(q + h/2 v*) v* - J(q) v*,

is taken at velocities v* that are known before: those that were, and for the centres of free bodies also what
forces and the impulses of the step before give them. How these turn bodies is left out: if several contacts
hold one, each b has to belong to the same motion of it, or they contradict each other. Bodies are moved by
their inertia for h / 2, and contacts of the same pairs are looked for there: that gives places and normals
whatever the shapes. A contact is the one of the same features, or else the nearest one. Where normals differ
much there is none, and b is 0; so it is where bodies are about to hit each other, or where b would push apart
what does not touch yet: how they move on is not known before.

Where few bodies touch, the step is solved once more with b at the velocities that were found: then the step
is the same backwards in time but for a little, and what is of second order in it does not add up.

The gap, too, is to be closed at the ends of a step. A body that comes down on an arc is a little in the other
one in the middle: from the end of one step to the middle of the next the gap closes at a rate that grows from
0 to b, by h b / 4. That much of a gap is as it should be.
"""

import numpy as np

from linkwork.contact.narrow_phase import pair_contacts
from linkwork.contact.shape_table import (
    NORMAL,
    POINT_A,
    POINT_B,
    buffer,
    opened_buffer,
    opened_table,
    opened_work,
)
from linkwork.contact_dynamics.detection.contact_axes import tangents
from linkwork.contact_dynamics.detection.detection import MARGIN, SHAPES, place_shape
from linkwork.contact_dynamics.problem.contact_problem import CONTACTS, FLAT, NODES, TABLE, Contacts
from linkwork.contact_dynamics.problem.contact_rows import POINTS, Points, allowed
from linkwork.contact_dynamics.problem.motion_bounds import fill_reach
from linkwork.contact_dynamics.time_stepping.contact_system import ContactSystem
from linkwork.contact_dynamics.time_stepping.inertial_motion import InertialMotion
from linkwork.contact_dynamics.time_stepping.step_loops import copy_two
from linkwork.geometry.vectors import add, cross, dot, position, rotation, scale, sub, three, turned
from linkwork.native.numba_functions import entry, memory, native, native_within
from linkwork.native.stages import GO, SKIP, Program, Some, Value

Array = np.ndarray

_ROOM = 256  # contacts of one pair
_STILL = 1e-7  # slower changes count for nothing: of spins [rad/s], and of velocities per spin or step [m/s]
# Such an approach is an impact, whose velocities are not foreseen: of what has not pressed before,
_HITS = 2.5  # times as fast as it changes,
_SLOW = 1e-2  # and faster than this [m/s]
_AGAIN = 1  # times that the end of a step is foreseen anew,
_FEW = 32  # of so many contacts at most,
_ALONE = 6  # and of bodies, no trees: velocities of a node
_ALIKE = 0.9  # cosine of the angle between normals of one contact, at least


class AcceleratedContacts:
    """Finds how velocities at contacts change; for one thread."""

    def __init__(self, system: ContactSystem, inertial: InertialMotion) -> None:
        self._system, self._inertial = system, inertial
        n, nv = len(system.detection.reach), system.model.nv
        self._there = system.elsewhere()
        self._poses, self._now, self._later = np.zeros((n, 3, 4)), np.zeros((n, 6)), np.zeros((n, 6))
        self._reach, self._found = np.zeros(n), buffer(_ROOM)
        self._q, self._v, self._guess = np.zeros(system.model.nq), np.zeros(nv), np.zeros(nv)
        self._free = np.isin(system.nodes.first, inertial.free_velocities).astype(np.int64)
        self._held = np.zeros_like(self._free)

    def add_stages(
        self,
        program: Program,
        rows: Contacts,
        points: Points,
        impulses: Some,
        q: Array,
        v: Array,
        t: Value,
        ahead: Value,
        again: Value,
        span: Value,
        step: Value,
    ) -> None:
        """Add to a program what adds to the rows how relative velocities change in a time `ahead`.

        The system is at q, and stays there. `impulses` are those to be expected. If it is done `again`, after
        a solution, v are the velocities that were found.
        """
        system, d = self._system, self._system.detection
        given = system.layout, d.shapes, system.poses, system.J
        program.label("foresee")
        program.loop(_expected, system.nodes, self._free, rows, impulses, v, again, self._held, self._guess)
        program.loop(fill_reach, *given, self._guess, 0.0, self._now, self._reach)
        if self._inertial.all_free:
            program.loop(_unless_turning, points, self._now, skip="accelerated")
        program.loop(copy_two, q, self._guess, self._q, self._v)
        self._inertial.add_stages(program, self._q, self._v, t, ahead)
        system.add_placing(program, self._q, self._there)
        there = system.layout, d.shapes, self._there.poses, self._there.J
        program.loop(fill_reach, *there, self._v, 0.0, self._later, self._reach)
        program.loop(
            _add,
            *(d.shapes, d.table.at, self._there.poses, d.reach, MARGIN, d.poses, self._poses),
            *(points, Some(d.found.label, points.gap.rows), self._now, self._later),
            *(d.work.at, self._found.at, self._found.number, self._found.label, impulses, span, step, rows),
        )
        program.label("accelerated")


@native_within
def _push_centre(nodes, c, at, node, p0, p1, p2, v):
    """Add what impulses at a contact give to the velocity of a free body as a whole."""
    if nodes.size[node] == 6:
        _push_behind(nodes, c, at, node, 6, 3, p0, p1, p2, v)
    else:
        _push_behind(nodes, c, at, node, 3, 1, p0, p1, p2, v)


@native_within
def _push_behind(nodes, c, at, node, n, turns, p0, p1, p2, v):
    """Do that to the n velocities behind those that are turns."""
    first, mass = nodes.first[node], nodes.mass[nodes.at[node] + (n + 1) * turns]
    for i in range(turns, n):
        v[first + i] += (c.rows[at + i] * p0 + c.rows[at + n + i] * p1 + c.rows[at + 2 * n + i] * p2) / mass


@entry(None, NODES, "int64[::1]", CONTACTS, TABLE, FLAT, "int64", "int64[::1]", FLAT)
def _expected(nodes, free, c, p, before, again, held, v):
    """Write the velocities to be expected: those before, and what forces and impulses p give to centres.

    Centres of free bodies, that is, which contacts have `held` (nodes,) before.
    """
    if again != 0:
        for i in range(len(v)):
            v[i] = before[i]
        return
    for node in range(len(held)):
        held[node] = 0
    for k in range(len(c.a)):
        for node in (c.a[k], c.b[k]):
            if node >= 0 and p[k, 0] > 0.0:
                held[node] = free[node]
    for node in range(len(held)):
        n, first = nodes.size[node], nodes.first[node]
        turns = n if held[node] == 0 else 3 if n == 6 else 1
        for i in range(n):
            v[first + i] = before[first + i] if i < turns else nodes.free[first + i]
    for k in range(len(c.a)):
        for side in range(2):
            node, at = (c.a[k], c.of_a[k]) if side == 0 else (c.b[k], c.of_b[k])
            if node >= 0 and held[node] != 0:
                _push_centre(nodes, c, at, node, p[k, 0], p[k, 1], p[k, 2], v)


@native
def _spins(motion, i, j):
    """Return whether one of two shapes turns."""
    total = 0.0
    for k in range(3, 6):
        total += abs(motion[6 * i + k]) + abs(motion[6 * j + k])
    return total > _STILL


@entry("int64", POINTS, TABLE)
def _unless_turning(points, motions):
    """Skip what follows if nothing turns."""
    now = memory(motions)
    for k in range(len(points.gap)):
        if _spins(now, points.pair[k, 0], points.pair[k, 1]):
            return GO
    return SKIP


@native
def _changes(now, later, i, j):
    """Return whether velocities at a contact of two shapes may change."""
    total = 0.0
    for k in range(6):
        total += abs(later[6 * i + k] - now[6 * i + k]) + abs(later[6 * j + k] - now[6 * j + k])
    return total > _STILL or _spins(now, i, j)


@native
def _velocity(motion, poses, reach, k, p):
    """Return the velocity of a shape at a point; its motion is that of the centre of the box round it."""
    centre = add(position(poses, k), turned(rotation(poses, k), three(reach, 7 * k)))
    return add(three(motion, 6 * k), cross(three(motion, 6 * k + 3), sub(p, centre)))


@native
def _slip(motion, poses, reach, i, j, p):
    """Return the velocity of the first of two shapes, seen from the second, at a point."""
    return sub(_velocity(motion, poses, reach, i, p), _velocity(motion, poses, reach, j, p))


@native
def _same(p, first, second, number, label, count):
    """Return which of the contacts has these features, or else is the nearest to a point; -1 if none is."""
    chosen, best = -1, 1e300
    for e in range(count):
        if label[e, 2] == first and label[e, 3] == second:
            return e
        x = sub(p, _place(number, e))
        if dot(x, x) < best:
            chosen, best = e, dot(x, x)
    return chosen


@native
def _place(number, e):
    """Return where a contact is."""
    a = (number[e, POINT_A], number[e, POINT_A + 1], number[e, POINT_A + 2])
    b = (number[e, POINT_B], number[e, POINT_B + 1], number[e, POINT_B + 2])
    return scale(0.5, add(a, b))


@native
def _turned_along(n, m, x):
    """Return a vector that turns as a unit vector does that turns from n to m, the shortest way."""
    axis = cross(n, m)
    y = cross(axis, x)
    return add(add(x, y), scale(1.0 / (1.0 + dot(n, m)), cross(axis, y)))


@native
def _pushes(open_by, change):
    """Return whether a change would push bodies apart that are still so far from touching [m/s]."""
    return open_by > _SLOW and open_by + change < 0.0


@entry(
    None,
    *(SHAPES, "int64[::1]", "float64[:, :, ::1]", FLAT, "float64", *["float64[:, :, ::1]"] * 2),
    *(POINTS, "int64[:, ::1]", TABLE, TABLE),
    *(*["int64[::1]"] * 2, TABLE, "int64[:, ::1]", TABLE, "float64", "float64", CONTACTS),
)
def _add(
    shapes, table, links, reach, margin, poses, poses_later,
    points, features, motions, motions_later, work, found, number, label, p_before, h, step, c,
):  # fmt: skip
    t, w, contacts = opened_table(table), opened_work(work), opened_buffer(found)
    now, later, x, y = memory(motions), memory(motions_later), memory(poses), memory(poses_later)
    link, own, placed = memory(links), memory(shapes.local), np.zeros(len(shapes.link), np.int64)
    known_i = known_j = -1
    for k in range(len(points.gap)):
        i, j = points.pair[k, 0], points.pair[k, 1]
        if not _changes(now, later, i, j):
            continue
        if i != known_i or j != known_j:
            known_i, known_j = i, j
            for l in (i, j):
                if placed[l] == 0:
                    place_shape(shapes.link[l], link, own, y, l)
                    placed[l] = 1
            contacts.count[0] = contacts.count[1] = 0
            pair_contacts(t, y, i, j, w, contacts, margin + reach[i] + reach[j])
        p = (points.place[k, 0], points.place[k, 1], points.place[k, 2])
        n = (points.place[k, 3], points.place[k, 4], points.place[k, 5])
        e = _same(p, features[k, 2], features[k, 3], number, label, contacts.count[0])
        if e < 0:
            continue
        m = (-number[e, NORMAL], -number[e, NORMAL + 1], -number[e, NORMAL + 2])
        if dot(n, m) < _ALIKE:
            continue
        u, v = _slip(now, x, t.reach, i, j, p), _slip(later, y, t.reach, i, j, _place(number, e))
        change = dot(m, v) - dot(n, u)
        hits = p_before[k, 0] == 0.0 and dot(m, v) < -(_HITS * abs(change) + _SLOW)
        if hits or _pushes(c.bias[k, 0], change):
            continue
        first, second = tangents(n)
        gap = 0.0 if c.bias[k, 0] == 0.0 else points.gap[k]  # what is shifted out touches
        c.bias[k, 0] += change + allowed(gap - 0.25 * h * change, h, step) - allowed(gap, h, step)
        c.bias[k, 1] += dot(_turned_along(n, m, first), v) - dot(first, u)
        c.bias[k, 2] += dot(_turned_along(n, m, second), v) - dot(second, u)


@entry("int64", NODES, CONTACTS, "int64", TABLE, "int64", "int64[::1]")
def foresee_again(nodes, c, points, base, again, values):
    """Skip back to foresee the end of the step anew, with the velocities that were found.

    That is for few contacts of bodies that are alone. `base` are the rows' b without what was foreseen.
    """
    if values[again] >= _AGAIN or points > _FEW:
        return GO
    for k in range(points):
        for node in (c.a[k], c.b[k]):
            if node >= 0 and nodes.size[node] > _ALONE:
                return GO
    values[again] += 1
    for k in range(len(c.a)):
        for i in range(3):
            c.bias[k, i] = base[k, i]
    return SKIP
