"""Forces of compliant contacts on links <- how links are placed and move.

This is a step in the plan of a native program (`dynamics/native_program.py`), after links know `X_W` and `v`
and where loads act: it adds to `external`. Shapes are placed on their links, pairs and contacts found, and
the law of its pair gives the normal force of each contact.

What slides is rubbed by mu N against its slip. What slips slower than `SLOW` may stick: there friction is
unknown, up to two rows of unknowns in a disc of radius mu N, which `sticking_friction` finds, since it takes
the whole mechanism to know what holds it. Resistance to rolling, and to turning about the normal, is the same
with the relative angular velocity: a torque up to a lever times N.
"""

from math import sqrt

from linkwork.contact_dynamics.compliant.contact_links import (
    connect,
    find_contacts,
    find_pairs,
    place_shapes,
    push,
    velocity_at,
)
from linkwork.contact_dynamics.compliant.contact_workspace import CHUNK, ROW_NUMBERS
from linkwork.contact_dynamics.detection.contact_axes import tangents
from linkwork.contact_dynamics.detection.contact_plan import (
    BASE,
    CONTACT,
    COUNTS,
    CURVATURE,
    DIRECTION,
    DRIFT,
    EXTERNAL,
    FEEL,
    FEELS,
    FORCES,
    FREEDOMS,
    FRICTION,
    GROUP,
    GROUPS,
    LABEL,
    LANES,
    LAW_NUMBERS,
    LAWS,
    LINKS,
    MASSES,
    MOST,
    NUMBER,
    NUMBERS,
    OF_SHAPE,
    ONE,
    PAIR_ROOM,
    PARTS,
    PHASE,
    PLACE,
    POSES,
    RADII,
    REACH,
    ROLLING,
    ROOM,
    ROOM_SIZE,
    ROW,
    ROW_SHAPES,
    ROWS,
    SHAPE_NUMBERS,
    SHARE,
    SIZE,
    STATIC,
    TORSIONAL,
    TOTAL,
    TURNS,
    WORK,
)
from linkwork.contact_dynamics.law_kernel import FORCE
from linkwork.geometry.vectors import add, along, cross, dot, scale, sub, three
from linkwork.native.numba_functions import call, doubles, entry, integers, native, native_apart

# How slips come to rest: see `_settling`.
SLOW = 1e-2  # slips below it may stick [m/s]
CREEP = 1e-5  # slips above it stop at once, in
STOP = 1e-5  # this time [s];
SETTLE = 3e-3  # those below, which are but errors of integration, in this [s]


@native
def _add_row(plan, room, a, b, point, d, turns, drift):
    """Add a row: a force, or torque, along a unit vector; `drift` is what the acceleration is to cancel."""
    counts = integers(room + 8 * plan[COUNTS])
    k = counts[0]
    row, shapes = doubles(room + 8 * (plan[ROWS] + ROW_NUMBERS * k)), integers(room + 8 * plan[ROW_SHAPES])
    for i in range(3):
        row[PLACE + i], row[DIRECTION + i] = point[i], d[i]
    row[TURNS], row[DRIFT] = turns, drift
    shapes[2 * k], shapes[2 * k + 1] = a, b
    counts[0] += 1


@native
def _add_part(plan, room, rows, radius):
    """Make one part of the last rows."""
    counts, parts = integers(room + 8 * plan[COUNTS]), integers(room + 8 * plan[PARTS])
    parts[2 * counts[1]], parts[2 * counts[1] + 1] = counts[0] - rows, rows
    doubles(room + 8 * plan[RADII])[counts[1]] = radius
    counts[1] += 1


@native
def _settling(speed, lever):
    """Return the rate at which a slip, or angular velocity times lever, is to decay where friction holds.

    Friction brings what slides to rest with all its force, nearly until a speed CREEP is left; that decays
    slowly, over 3e-8 m, so that held contacts are not stiff. Towards SLOW the rate grows beyond all bounds:
    there friction is exactly against the slip.
    """
    speed = speed * lever
    x = (speed / CREEP) ** 2
    return (1.0 / SETTLE + x / (1.0 + x) / STOP) / max(1.0 - (speed / SLOW) ** 2, 1e-9)


@native
def _rub(plan, room, a, b, point, n, N, numbers, slip, drift):
    """Return the friction of what slides; or add the rows of what may stick.

    `drift` is how the slip changes where the bodies do not accelerate.
    """
    speed = sqrt(dot(slip, slip))
    if speed >= SLOW:
        return scale(-numbers[FRICTION] * N / speed, slip)
    x = 1.0 - (speed / SLOW) ** 2
    mu = numbers[FRICTION] + (numbers[STATIC] - numbers[FRICTION]) * x * x
    drift = along(drift, _settling(speed, 1.0), slip)
    first, second = tangents(n)
    if plan[FREEDOMS] == 3:
        first = (-n[1], n[0], 0.0)
    _add_row(plan, room, a, b, point, first, 0.0, dot(drift, first))
    if plan[FREEDOMS] == 6:
        _add_row(plan, room, a, b, point, second, 0.0, dot(drift, second))
    _add_part(plan, room, 2 if plan[FREEDOMS] == 6 else 1, mu * N)
    return 0.0, 0.0, 0.0


@native
def _brake(plan, room, a, b, point, n, N, numbers, size, w):
    """Return the torque that resists rolling and turning; or add the rows of what may stand still."""
    torque, slow = (0.0, 0.0, 0.0), SLOW / size
    spin = dot(w, n)
    roll = along(w, -spin, n)
    speed = sqrt(dot(roll, roll))
    if numbers[ROLLING] > 0.0:
        if speed >= slow:
            torque = scale(-numbers[ROLLING] * N / speed, roll)
        else:
            gain = _settling(speed, size)
            first, second = tangents(n)
            if plan[FREEDOMS] == 3:
                first = (0.0, 0.0, 1.0)
            _add_row(plan, room, a, b, point, first, 1.0, gain * dot(w, first))
            if plan[FREEDOMS] == 6:
                _add_row(plan, room, a, b, point, second, 1.0, gain * dot(w, second))
            _add_part(plan, room, 2 if plan[FREEDOMS] == 6 else 1, numbers[ROLLING] * N)
    if numbers[TORSIONAL] > 0.0 and plan[FREEDOMS] == 6:
        if abs(spin) >= slow:
            torque = along(torque, -numbers[TORSIONAL] * N * (1.0 if spin > 0.0 else -1.0), n)
        else:
            gain = _settling(abs(spin), size)
            _add_row(plan, room, a, b, point, n, 1.0, gain * spin)
            _add_part(plan, room, 1, numbers[TORSIONAL] * N)
    return torque


@native
def _drift(plan, n, u_a, u_b, w_a, w_b, curvature_a, curvature_b):
    """Return how the slip changes where bodies do not accelerate: the contact moves along, and turns.

    The point c moves, and the normal, so that both surfaces have the same there:
    dn/dt = w_a x n + k_a (dc/dt - u_a) = w_b x n - k_b (dc/dt - u_b). A slip u_a - u_b at a point that moves
    changes by (w_a - w_b) x dc/dt. The point is taken to stay on the body where both are flat.
    """
    w, u = sub(w_a, w_b), sub(u_a, u_b)
    c, turning = u_a, cross(w_b, n)
    total = curvature_a + curvature_b
    if total > 0.0:
        c = add(scale(curvature_a / total, u_a), scale(curvature_b / total, u_b))
        c = along(c, -1.0 / total, cross(w, n))
        turning = along(cross(w_a, n), curvature_a, sub(c, u_a))
    return along(cross(w, c), -dot(u, n), turning)


@native
def _felt_mass(plan, room):
    """Return what the next contact feels."""
    counts = integers(room + 8 * plan[COUNTS])
    counts[2] += 1
    return doubles(room + 8 * plan[MASSES])[counts[2] - 1]


@native_apart
def _contact(plan, work, forces, room, k, feels):
    """Add the forces of one contact, as far as they are known; or the row along which it feels a mass."""
    number, label = doubles(room + 8 * (plan[NUMBER] + 10 * k)), integers(room + 8 * (plan[LABEL] + 4 * k))
    a, b = label[0], label[1]
    group = integers(plan[GROUP])
    row = integers(plan[ROW])[group[a] * plan[GROUPS] + group[b]]
    depth = number[9]
    if row < 0:
        return
    numbers = doubles(plan[NUMBERS] + 8 * LAW_NUMBERS * row)
    if depth <= -numbers[REACH]:
        return
    n = three(number, 6)
    point = scale(0.5, add(three(number, 0), three(number, 3)))
    if feels:
        if numbers[FEELS] != 0.0:
            _add_row(plan, room, a, b, point, n, 0.0, 0.0)
            _add_part(plan, room, 1, doubles(plan[TOTAL])[0])
        return
    w_a, u_a = velocity_at(plan, work, a, point)
    w_b, u_b = velocity_at(plan, work, b, point)
    u, w = sub(u_a, u_b), sub(w_a, w_b)
    rate = dot(u, n)
    of_a = doubles(plan[OF_SHAPE] + 8 * SHAPE_NUMBERS * a)
    of_b = doubles(plan[OF_SHAPE] + 8 * SHAPE_NUMBERS * b)
    curvature = of_a[CURVATURE] + of_b[CURVATURE]
    x = doubles(room + 8 * plan[CONTACT])
    x[0], x[1] = depth, rate
    x[2], x[3] = 1.0 / curvature if curvature > 0.0 else 1e300, min(of_a[SIZE], of_b[SIZE])
    x[4] = _felt_mass(plan, room) if numbers[FEELS] != 0.0 else 0.0
    law = integers(plan[LAWS] + 16 * row)
    call(law[0], room + 8 * plan[CONTACT], law[1])
    N = x[FORCE] * max(of_a[SHARE], of_b[SHARE])
    force, torque = scale(-N, n), (0.0, 0.0, 0.0)
    if N > 0.0:
        drift = _drift(plan, n, u_a, u_b, w_a, w_b, of_a[CURVATURE], of_b[CURVATURE])
        if numbers[STATIC] > 0.0:
            force = add(force, _rub(plan, room, a, b, point, n, N, numbers, along(u, -rate, n), drift))
        if numbers[ROLLING] > 0.0 or numbers[TORSIONAL] > 0.0:
            torque = _brake(plan, room, a, b, point, n, N, numbers, x[3], w)
    push(plan, work, forces, 1, a, point, force, torque, 1.0)
    push(plan, work, forces, 1, b, point, force, torque, -1.0)


@native_apart
def _find(plan, work, room, feels):
    """Find contacts, known forces and rows of one mechanism; return whether there was room."""
    connect(plan, room)
    place_shapes(plan, work, doubles(room + 8 * plan[POSES]))
    forces, counts = doubles(room + 8 * plan[BASE]), integers(room + 8 * plan[COUNTS])
    for i in range(plan[FREEDOMS] * plan[LINKS]):
        forces[i] = 0.0
    counts[0] = counts[1] = counts[2] = 0
    pairs = find_pairs(plan, room)
    if pairs > plan[PAIR_ROOM]:
        return False
    for first in range(0, pairs, CHUNK):
        for k in range(find_contacts(plan, room, first, min(CHUNK, pairs - first))):
            if counts[0] + 5 > plan[MOST]:
                counts[0] = counts[1] = 0
                return False
            _contact(plan, work, forces, room, k, feels)
    return True


@native
def _add_unknowns(plan, work, external, room, phase, chosen):
    """Add the forces of rows: of one, of its largest force, or of all."""
    counts, parts = integers(room + 8 * plan[COUNTS]), integers(room + 8 * plan[PARTS])
    shapes = integers(room + 8 * plan[ROW_SHAPES])
    radius, size = doubles(room + 8 * plan[RADII]), doubles(room + 8 * plan[FORCES])
    for part in range(counts[1]):
        for k in range(parts[2 * part], parts[2 * part] + parts[2 * part + 1]):
            if phase == ONE and k != chosen:
                continue
            row = doubles(room + 8 * (plan[ROWS] + ROW_NUMBERS * k))
            vector = scale(radius[part] if phase == ONE else size[k], three(row, DIRECTION))
            force, torque = vector, (0.0, 0.0, 0.0)
            if row[TURNS] != 0.0:
                force, torque = torque, force
            for side in range(2):
                sign = 1.0 if side == 0 else -1.0
                push(
                    *(plan, work, doubles(external), plan[LANES], shapes[2 * k + side]),
                    *(three(row, PLACE), force, torque, sign),
                )


@entry(None, "int64", "int64")
def add_contact_forces(ports, records):
    """Add the forces of contacts to those on links, in all lanes; all by address."""
    plan, port = integers(records), integers(ports)
    lanes = plan[LANES]
    for lane in range(lanes):
        room = port[plan[WORK]] + 8 * (plan[ROOM] * lanes + lane * plan[ROOM_SIZE])
        work, external = port[plan[WORK]] + 8 * lane, port[plan[EXTERNAL]] + 8 * lane
        phase = integers(room + 8 * plan[PHASE])
        known = True
        if phase[0] <= FEEL:
            known = _find(plan, work, room, phase[0] == FEEL)
        base, e = doubles(room + 8 * plan[BASE]), doubles(external)
        for i in range(plan[FREEDOMS] * plan[LINKS]):
            e[i * lanes] += base[i] if known else float("nan")
        if phase[0] > FEEL:
            _add_unknowns(plan, work, external, room, phase[0], phase[1])
