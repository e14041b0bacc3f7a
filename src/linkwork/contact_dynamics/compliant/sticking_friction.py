"""Motion with friction that holds: accelerations, and the forces of what may stick, found together.

The accelerations are linear in the forces: so the motion is run without the unknown ones, and once with each,
which gives how the slips accelerate: a = a0 + W f. What holds least brings slips to rest, by the principle of
Gauss: f is the least of  1/2 f.W f + f.(a0 + drift)  with the parts of f in their discs, of radius mu N. Then
either a part holds, and its slip decays in `SETTLING`; or it is at its bound, against what is left of that.
Since this is how the whole mechanism moves, loops included, nothing creeps that is held.

In the same way it is found what mass a contact feels, for laws that ask for it: the motion is run with a push
along the normal.

Forces are measured in roots of their bounds, f = sqrt(r) y, so that redundant contacts share a load as they
are pressed.
"""

from math import sqrt

from linkwork.contact_dynamics.compliant.contact_links import acceleration_at
from linkwork.contact_dynamics.compliant.contact_workspace import ROW_NUMBERS
from linkwork.contact_dynamics.compliant.disc_problem import least_in_discs
from linkwork.contact_dynamics.detection.contact_plan import (
    ALL,
    ASKS,
    COUNTS,
    DIRECTION,
    DRIFT,
    FEEL,
    FIND,
    FORCES,
    LANES,
    MASSES,
    ONE,
    PARTS,
    PHASE,
    PLACE,
    RADII,
    ROOM,
    ROOM_SIZE,
    ROW_SHAPES,
    ROWS,
    SOLVER,
    TOTAL,
    TURNS,
    WORK,
)
from linkwork.geometry.vectors import dot, sub, three
from linkwork.native.numba_functions import call, doubles, entry, integers, native, native_apart

_FIRM = 1e-6  # what a push by the weight of all at 1 m/s^2 moves less than this cannot be moved [m/s^2]
WALKER, CONTACTS, HEAD = range(1, 4)  # words of the plan before that of the motion; the first is ours


@native
def _room(plan, port, lane):
    return port[plan[WORK]] + 8 * (plan[ROOM] * plan[LANES] + lane * plan[ROOM_SIZE])


@native
def _go(plan, port, inner, walker, ports, phase, chosen):
    """Run the motion in a phase; return the most rows of a lane."""
    most = 0
    for lane in range(plan[LANES]):
        room = _room(plan, port, lane)
        words = integers(room + 8 * plan[PHASE])
        words[0], words[1] = phase, chosen
    call(walker, inner, ports)
    for lane in range(plan[LANES]):
        most = max(most, integers(_room(plan, port, lane) + 8 * plan[COUNTS])[0])
    return most


@native
def _slip_rate(plan, work, room, k):
    """Return the acceleration along a row."""
    row = doubles(room + 8 * (plan[ROWS] + ROW_NUMBERS * k))
    shapes = integers(room + 8 * plan[ROW_SHAPES])
    turning_a, a = acceleration_at(plan, work, shapes[2 * k], three(row, PLACE))
    turning_b, b = acceleration_at(plan, work, shapes[2 * k + 1], three(row, PLACE))
    gap = sub(turning_a, turning_b) if row[TURNS] != 0.0 else sub(a, b)
    return dot(gap, three(row, DIRECTION))


@native_apart
def _note(plan, port, chosen):
    """Keep accelerations: those without unknowns if chosen is -1, else a column of W."""
    for lane in range(plan[LANES]):
        room, work = _room(plan, port, lane), port[plan[WORK]] + 8 * lane
        n = integers(room + 8 * plan[COUNTS])[0]
        b, H = doubles(room + 8 * plan[SOLVER]), doubles(room + 8 * (plan[SOLVER] + 2 * n))
        if chosen >= n:
            continue
        for i in range(n):
            a = _slip_rate(plan, work, room, i)
            if chosen < 0:
                b[i] = a
            else:
                H[i * n + chosen] = a - b[i]


@native_apart
def _solve(plan, room):
    """Find the unknowns of a lane."""
    counts, parts = integers(room + 8 * plan[COUNTS]), integers(room + 8 * plan[PARTS])
    n, radius = counts[0], doubles(room + 8 * plan[RADII])
    if n == 0:
        return
    at = room + 8 * plan[SOLVER]
    b, root, H = doubles(at), doubles(at + 8 * n), doubles(at + 16 * n)
    force = doubles(room + 8 * plan[FORCES])
    for part in range(counts[1]):
        for i in range(parts[2 * part], parts[2 * part] + parts[2 * part + 1]):
            root[i] = sqrt(radius[part])
        radius[part] = sqrt(radius[part])
    for i in range(n):
        b[i] = root[i] * (b[i] + doubles(room + 8 * (plan[ROWS] + ROW_NUMBERS * i))[DRIFT])
        force[i] = 0.0
        for j in range(n):
            H[i * n + j] *= root[i] / root[j]
    least_in_discs(
        *(n, at + 16 * n, at, room + 8 * plan[FORCES], counts[1], room + 8 * plan[PARTS]),
        *(room + 8 * plan[RADII], at + 16 * n + 8 * n * n),
    )
    for i in range(n):
        force[i] *= root[i]


@native
def _feel(plan, port, inner, walker, ports):
    """Find the masses that contacts feel along their normals, by pushing there."""
    rows = _go(plan, port, inner, walker, ports, FEEL, 0)
    if rows > 0:
        _note(plan, port, -1)
    for k in range(rows):
        _go(plan, port, inner, walker, ports, ONE, k)
        for lane in range(plan[LANES]):
            room, work = _room(plan, port, lane), port[plan[WORK]] + 8 * lane
            if k < integers(room + 8 * plan[COUNTS])[0]:
                change = _slip_rate(plan, work, room, k) - doubles(room + 8 * plan[SOLVER])[k]
                doubles(room + 8 * plan[MASSES])[k] = doubles(plan[TOTAL])[0] / max(change, _FIRM)


@entry(None, "int64", "int64")
def move_with_friction(plan, ports):
    """Run the motion of links in contact, in all lanes."""
    words, port = integers(plan), integers(ports)
    walker, contacts, inner = words[WALKER], integers(words[CONTACTS]), plan + 8 * HEAD
    if contacts[ASKS]:
        _feel(contacts, port, inner, walker, ports)
    rows = _go(contacts, port, inner, walker, ports, FIND, 0)
    if rows == 0:
        return
    _note(contacts, port, -1)
    for k in range(rows):
        _go(contacts, port, inner, walker, ports, ONE, k)
        _note(contacts, port, k)
    for lane in range(contacts[LANES]):
        _solve(contacts, _room(contacts, port, lane))
    _go(contacts, port, inner, walker, ports, ALL, 0)
    for lane in range(contacts[LANES]):
        integers(_room(contacts, port, lane) + 8 * contacts[PHASE])[0] = FIND
