"""Modes of contacts: where they slip to, and by how much they are what they are. Native parts.

A contact is open, slides, or sticks; so do its spin about the normal and its roll, if something resists them.
"""

from math import sqrt

from linkwork.contact_dynamics.event_driven.active_record import AXES, NUMBERS, SLIDING, STICKING
from linkwork.contact_dynamics.event_driven.active_rows import (
    along_rows,
    fill_rows,
    follow,
    go_to,
    note_normals,
)
from linkwork.contact_dynamics.event_driven.joint_modes import (
    NO_FORCE,
    joint_force_margin,
    look_at_joints,
    slide_margin,
)
from linkwork.native.numba_functions import doubles, integers, native, native_apart

SLOW = 1e-6  # slip below has no direction of its own yet [m/s]
_CLEAR = 1000.0  # times as fast a slip depends on nothing else
SLACK_SLIP = 1e-9  # [m/s]
# of the motions that friction is against: slip, spin and roll. Their first row, how many they are.
FIRST, COUNT = (1, 3, 4), (2, 1, 2)


@native
def _lever(r, part):
    """Return what a speed is divided by that is that of a slip: 1, or the size, of angular ones [m]."""
    return 1.0 if part == 0 else r.size


@native
def fill_directions(r):
    """Write the directions of slip, spin and roll, along the rows of contacts.

    Near a slip of zero u / |u| turns faster than anything can be integrated. There, below SLOW, it is that of
    u plus a little along the reference, which vanishes as slip grows, and is nothing from CLEAR on. Backwards
    slip counts as forwards.
    """
    mode, u, now = integers(r.mode), doubles(r.u), doubles(r.now)
    reference, direction = doubles(r.reference), doubles(r.direction)
    for k in range(r.count):
        for i in range(6):
            direction[6 * k + i] = 0.0
        for part in range(r.wide // 3 * 2 - 1):
            if mode[3 * k + part] != SLIDING:
                continue
            first, count, slow = FIRST[part], COUNT[part], SLOW / _lever(r, part)
            forward, speed = 0.0, 0.0
            for i in range(count):
                axis, before = NUMBERS * k + AXES + 3 * ((first + i) % 3), 0.0
                for j in range(3):
                    before += now[axis + j] * reference[9 * k + 3 * part + j]
                direction[6 * k + first + i] = before
                forward += before * u[r.wide * k + first + i]
            for i in range(count):
                at = 6 * k + first + i
                x = u[r.wide * k + first + i] - 2.0 * min(forward, 0.0) * direction[at]
                speed += x * x
            rest = max(1.0 - speed / (_CLEAR * slow) ** 2, 0.0)
            little = slow * rest * rest * rest / (1.0 + 0.01 * speed / (slow * slow))
            total = 0.0
            for i in range(count):
                at = 6 * k + first + i
                x = u[r.wide * k + first + i] - 2.0 * min(forward, 0.0) * direction[at]
                direction[at] = x + little * direction[at]
                total += direction[at] * direction[at]
            for i in range(count):
                direction[6 * k + first + i] /= sqrt(total)


@native_apart
def start_from(r, tree, poses, J, state):
    """Note the base (q, v) of a step: contacts are those there, and directions of slip that are clear.

    So the motion at the base is the same to the bit whether it is known from the step before or found anew.
    """
    given, known, same = doubles(state), doubles(r.base_state), True
    for i in range(r.nq + r.nv):
        same = same and given[i] == known[i]
        known[i] = given[i]
    if not same and r.joints:
        look_at_joints(r, state, state + 8 * r.nq, r.joint_gap_0, r.joint_u_0)
    if same or r.count == 0:
        return
    go_to(r, poses, state, 0.0, state)
    follow(r, poses, r.base, r.now)
    fill_rows(r, tree, poses, J, r.now, r.rows)
    along_rows(r, r.rows, state + 8 * r.nq, r.u)
    base, now, u, mode = doubles(r.base), doubles(r.now), doubles(r.u), integers(r.mode)
    reference = doubles(r.reference)
    for i in range(NUMBERS * r.count):
        base[i] = now[i]
    note_normals(r)
    for k in range(r.count):
        for part in range(r.wide // 3 * 2 - 1):
            speed, forward, first, at = 0.0, 0.0, FIRST[part], 9 * k + 3 * part
            for i in range(COUNT[part]):
                slip, axis = u[r.wide * k + first + i], NUMBERS * k + AXES + 3 * ((first + i) % 3)
                speed += slip * slip
                for j in range(3):
                    forward += base[axis + j] * reference[at + j] * slip
            speed = sqrt(speed)
            if mode[3 * k + part] != SLIDING or forward < 0.0 or speed * _lever(r, part) <= _CLEAR * SLOW:
                continue  # what has turned back is an event
            for j in range(3):
                reference[at + j] = 0.0
                for i in range(COUNT[part]):
                    axis = NUMBERS * k + AXES + 3 * ((first + i) % 3)
                    reference[at + j] += u[r.wide * k + first + i] / speed * base[axis + j]


@native
def force_margin(r):
    """Return by how much forces are inside of their bounds, relative to the largest, with the slack."""
    force, bound, mode = doubles(r.force), doubles(r.bound), integers(r.mode)
    least = joint_force_margin(r)
    for k in range(r.count):
        N = force[6 * k]
        least = min(least, N)
        for part in range(r.wide // 3 * 2 - 1):
            if mode[3 * k + part] == STICKING:
                size = 0.0
                for i in range(COUNT[part]):
                    size += force[6 * k + FIRST[part] + i] ** 2
                least = min(least, (bound[3 * k + part] * N - sqrt(size)) / _lever(r, part))
    if least >= NO_FORCE:
        return 1.0
    return least / max(r.largest, 1e-30) + r.slack_force


@native
def slip_margin(r):
    """Return the smallest speed of what slides, with a slack; of what has turned back it is negative [m/s].

    Forwards is where it slides to at the base of the step.
    """
    mode, u, now, reference = integers(r.mode), doubles(r.u), doubles(r.now), doubles(r.reference)
    least = slide_margin(r)
    for k in range(r.count):
        for part in range(r.wide // 3 * 2 - 1):
            if mode[3 * k + part] != SLIDING:
                continue
            forward, speed = 0.0, 0.0
            for i in range(COUNT[part]):
                row = FIRST[part] + i
                axis, slip = NUMBERS * k + AXES + 3 * (row % 3), u[r.wide * k + row]
                speed += slip * slip
                for j in range(3):
                    forward += now[axis + j] * reference[9 * k + 3 * part + j] * slip
            least = min(least, (sqrt(speed) if forward > 0.0 else forward) * _lever(r, part))
    return least + SLACK_SLIP
