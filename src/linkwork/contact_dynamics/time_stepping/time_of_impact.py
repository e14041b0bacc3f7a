"""When bodies meet: bounces to come, and the sweep of shapes that are so fast that they could be missed.

*Conservative advancement* (Mirtich 1996). Two shapes are a distance g apart, along n. Whatever their surfaces
are like, the gap along n closes no faster than

    r = n . (u_a - u_b) + |w_a| R_a + |w_b| R_b,

u velocities of their centres, w spins, R radii: so they do not meet before g / r. They are moved there, and
it is asked again, until they touch, or the time is over. Spins are taken as constant; where that would turn
a shape by more than a little, the bodies themselves have to be moved before it is asked again.
"""

from collections.abc import Callable
from math import cos, inf, sin, sqrt
from typing import Any

import numpy as np

from linkwork.contact.narrow_phase import pair_contacts
from linkwork.contact.shape_kinds import CAPSULE, PLANE, TURNED
from linkwork.contact.shape_table import buffer, opened_buffer, opened_table, opened_work
from linkwork.contact_dynamics.detection.detection import SHAPES, Detection, place_shapes
from linkwork.contact_dynamics.detection.pair_numbers import RESTITUTION
from linkwork.contact_dynamics.problem.compliant_rows import APART
from linkwork.contact_dynamics.problem.contact_problem import CONTACTS, NODES, velocity_at
from linkwork.contact_dynamics.problem.contact_rows import PAIR_TABLE, POINTS, SLACK
from linkwork.contact_dynamics.time_stepping.divided_steps import is_strike
from linkwork.geometry.vectors import add, position, put_pose, rotation, sub, times, turned
from linkwork.native.numba_functions import entry, memory, native
from linkwork.native.stages import ASK, GO, SKIP, Program, Value

Array = np.ndarray

_TOUCHES = 1e-6  # [m]
CLOSED = 1e-5  # a gap that has closed at the time of an impact [m]
_ROUNDS = 200
_APART = 1e-9  # of the fastest: what touches and approaches no faster does not meet again
_RESTS = 1e-6  # what touches and approaches no faster rests [m/s]
_TURN = 0.03  # for which a spin counts as constant [rad]
_POINTS = 512  # of a pair
_ROUNDED = 1.0 + 1e-9  # more than rounding takes from a sum


@entry(
    "float64",
    *(NODES, CONTACTS, POINTS, PAIR_TABLE, "float64[::1]", "float64[::1]", *["float64"] * 2),
    *("int64", "float64[::1]"),
)
def bounce_times(nodes, c, points, table, v, a, ahead, h, strikes, times):
    """Write when contacts will bounce, moving at v with accelerations a; return the first.

    It is infinite for those that do not, and for bounces that would last less than h. They are asked for a
    time `ahead`, until which they go on without acceleration. Those without restitution count if `strikes`
    is not 0 (`divided_steps`).
    """
    first = inf
    for k in range(len(points.gap)):
        times[k] = inf
        e = table.numbers[table.kind[points.pair[k, 0]], table.kind[points.pair[k, 1]], RESTITUTION]
        if e == 0.0 and strikes == 0:
            continue
        u, f = velocity_at(nodes, c, k, v), velocity_at(nodes, c, k, a)
        g = points.gap[k] + ahead * u
        square = u * u - 2.0 * f * g
        if square <= 0.0:
            continue
        D = sqrt(square)
        if 2.0 * e * D <= abs(f) * h if e > 0.0 else not is_strike(nodes, c, k, D, f, h):
            continue
        if u < 0.0:  # nearer than twice the slack it would count as touching on the way there, and not bounce
            times[k] = 2.0 * g / (D - u) if g > 2.0 * SLACK else 0.0
        elif f < 0.0:
            times[k] = -(u + D) / f
        first = min(first, times[k])
    return first


@entry(None, POINTS, "float64[::1]", "int64[:, ::1]", "int64", CONTACTS)
def leave_out(points, times, fast, count, c):
    """Let contacts do nothing that will bounce later, or that are of fast pairs and still apart."""
    for k in range(len(points.gap)):
        if points.gap[k] <= SLACK:
            continue
        out = times[k] < inf
        for i in range(count):
            out = out or (fast[i, 0] == points.pair[k, 0] and fast[i, 1] == points.pair[k, 1])
        if out:
            c.bias[k, 0] = APART


@entry(None, POINTS, "int64[:, ::1]", "int64", CONTACTS)
def leave_fast_out(points, fast, count, c):
    """Let contacts of fast pairs do nothing that are still apart, where nothing bounces."""
    for k in range(len(points.gap) if count > 0 else 0):
        out = False
        for i in range(count):
            out = out or (fast[i, 0] == points.pair[k, 0] and fast[i, 1] == points.pair[k, 1])
        if out and points.gap[k] > SLACK:
            c.bias[k, 0] = APART


class Sweep:
    """Shapes that move farther in a step than they are thick, and when the first of them meet."""

    def __init__(self, detection: Detection) -> None:
        self._detection = detection
        self._found = buffer(_POINTS)
        self._moved = np.zeros_like(detection.poses)
        self.count = 0  # fast pairs, which are
        self.pairs = np.zeros((16, 2), np.int64)
        self._when = np.zeros(1)

    def first(self, h: float, before: Array) -> float:
        """Return when the first fast pair meets, within h; infinite for none. Look before (`Detection`).

        `before` (n, 6) are the motions of shapes without what forces add in the step.
        """
        d, self.count = self._detection, 0
        thin = d.shapes.thin
        if not len(thin) or d.reach.max() <= thin.min():
            return inf
        count = int(d.counts[0])
        if len(self.pairs) < count:
            self.pairs = np.zeros((2 * count, 2), np.int64)
        self.count = _sweep(
            *(d.shapes, d.table.at, d.poses, d.motion, before, d.pairs, count, h),
            *(self._moved, d.work.at, self._found.at, self.pairs, self._when),
        )
        return float(self._when[0])

    def add_stages(
        self, program: Program, before: Array, h: Value, count: int, ask: Callable[[], Any]
    ) -> None:
        """Add to a program what finds the fast pairs, whose number becomes a value, and asks if some meet.

        Look before, with room for all pairs.
        """
        d = self._detection
        if len(self.pairs) < len(d.pairs):
            self.pairs = np.zeros_like(d.pairs)
        program.loop(
            _ask_if_met,
            *(d.shapes, d.table.at, d.poses, d.motion, before, d.pairs, d.counts, h),
            *(self._moved, d.work.at, self._found.at, self.pairs, self._when, program.values, count),
            ask=ask,
        )


@native
def _turn(w, s):
    """Return the rotation by a spin in a time, by rows (Rodrigues)."""
    speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    if speed == 0.0:
        return 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    x, y, z = w[0] / speed, w[1] / speed, w[2] / speed
    a, b = sin(speed * s), 1.0 - cos(speed * s)
    return (
        1.0 - b * (y * y + z * z),
        b * x * y - a * z,
        b * x * z + a * y,
        b * x * y + a * z,
        1.0 - b * (x * x + z * z),
        b * y * z - a * x,
        b * x * z - a * y,
        b * y * z + a * x,
        1.0 - b * (x * x + y * y),
    )


@native
def _put_moved(t, poses, motion, k, s, moved):
    """Write where shape k is after a time."""
    R, p = rotation(poses, k), position(poses, k)
    local = (t.reach[7 * k], t.reach[7 * k + 1], t.reach[7 * k + 2])
    turn = _turn((motion[k, 3], motion[k, 4], motion[k, 5]), s)
    arm = turned(R, local)
    new = times(turn, R)
    centre = add(add(p, arm), (s * motion[k, 0], s * motion[k, 1], s * motion[k, 2]))
    put_pose(moved, k, new, sub(centre, turned(turn, arm)))


@native
def _swung(t, moved, motion, k, point):
    """Return how fast a point of a shape moves by its spin."""
    local = (t.reach[7 * k], t.reach[7 * k + 1], t.reach[7 * k + 2])
    arm = sub(point, add(turned(rotation(moved, k), local), position(moved, k)))
    w = (motion[k, 3], motion[k, 4], motion[k, 5])
    return w[1] * arm[2] - w[2] * arm[1], w[2] * arm[0] - w[0] * arm[2], w[0] * arm[1] - w[1] * arm[0]


@native
def _tumbling(t, poses, motion, k):
    """Return how fast a shape turns so that its surface moves: not what turns about its own axis."""
    w = (motion[k, 3], motion[k, 4], motion[k, 5])
    if w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0:
        return 0.0
    if t.kind[k] == CAPSULE or (t.kind[k] < PLANE and (TURNED >> t.kind[k]) & 1 != 0):
        axis = turned(rotation(poses, k), (0.0, 0.0, 1.0))
        about = w[0] * axis[0] + w[1] * axis[1] + w[2] * axis[2]
        w = sub(w, (about * axis[0], about * axis[1], about * axis[2]))
    return sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])


@native
def _time_of_impact(t, shapes, poses, motion, before, i, j, h, moved, w, c):
    """Return when two shapes meet, or a time before that; infinite if not within h.

    What touches meets if it approaches with the velocities of `before`, without those that forces give in the
    step: these are up to the step.
    """
    s = spin = turning = 0.0
    for k in (i, j):
        speed = _tumbling(t, poses, motion, k)
        spin += speed * shapes.swing[k]
        turning += speed if shapes.swing[k] > 0.0 else 0.0
    x, y, z = motion[i, 0] - motion[j, 0], motion[i, 1] - motion[j, 1], motion[i, 2] - motion[j, 2]
    fastest = spin + sqrt(x * x + y * y + z * z)
    for _ in range(_ROUNDS):
        _put_moved(t, poses, motion, i, s, moved)
        _put_moved(t, poses, motion, j, s, moved)
        c.count[0] = c.count[1] = 0
        pair_contacts(t, moved, i, j, w, c, (h - s) * fastest + _TOUCHES)
        if c.count[1] == 0:
            return inf
        ahead = inf
        for k in range(min(c.count[0], c.count[1])):
            gap = -c.number[10 * k + 9]
            # The normal points from the first shape of the contact to the second.
            sign = 1.0 if c.label[4 * k] == i else -1.0
            n0, n1, n2 = c.number[10 * k + 6], c.number[10 * k + 7], c.number[10 * k + 8]
            rate = sign * (n0 * x + n1 * y + n2 * z)
            if gap <= _TOUCHES:
                point = (c.number[10 * k], c.number[10 * k + 1], c.number[10 * k + 2])
                a, b = _swung(t, moved, before, i, point), _swung(t, moved, before, j, point)
                d0 = before[i, 0] - before[j, 0] + a[0] - b[0]
                d1 = before[i, 1] - before[j, 1] + a[1] - b[1]
                d2 = before[i, 2] - before[j, 2] + a[2] - b[2]
                if sign * (n0 * d0 + n1 * d1 + n2 * d2) > max(_APART * fastest, _RESTS):
                    return s
                continue
            rate += spin
            if rate > 0.0:
                ahead = min(ahead, gap / rate)
        s += ahead
        if s > h:
            return inf
        if s * turning > _TURN:
            return s
    return s


@native
def _passes(t, shapes, poses, motion, i, j, h):
    """Return whether two shapes may pass each other within h: what moves together does not."""
    x, y, z = motion[i, 0] - motion[j, 0], motion[i, 1] - motion[j, 1], motion[i, 2] - motion[j, 2]
    way = sqrt(x * x + y * y + z * z)
    for k in (i, j):
        way += shapes.swing[k] * _tumbling(t, poses, motion, k)
    return h * way > shapes.thin[i] + shapes.thin[j]


@entry(
    "int64",
    *(SHAPES, "int64[::1]", *["float64[:, :, ::1]"] * 2, "float64[:, ::1]", "float64[::1]", "float64"),
)
def unless_fast(shapes, table, links, poses, motion, reach, h):
    """Skip what follows unless some two shapes, wherever they are, are so fast that they may pass each other.

    Poses of shapes are written.
    """
    fastest, thinnest = 0.0, inf
    for k in range(len(reach)):
        fastest, thinnest = max(fastest, reach[k]), min(thinnest, shapes.thin[k])
    if fastest <= thinnest:
        return SKIP
    place_shapes(shapes, links, poses)
    t, x, which = opened_table(table), memory(poses), np.zeros(len(reach), np.int64)
    for k in range(_alone_fast(t, shapes, x, motion, h, which)):
        for l in range(k):
            i, j = which[k], which[l]
            fast = shapes.link[i] != shapes.link[j] and reach[i] + reach[j] > shapes.thin[i] + shapes.thin[j]
            if fast and _passes(t, shapes, x, motion, i, j, h):
                return GO
    return SKIP


@native
def _alone_fast(t, shapes, poses, motion, h, which):
    """Write which shapes may be one of a pair that passes each other; return how many they are.

    With the mean velocity c of all, |v_i - v_j| is at most |v_i - c| + |v_j - c|: by what each has of that
    beyond its own width, a shape needs another that has enough. What falls together has not.
    """
    count, x, y, z, most = 0, 0.0, 0.0, 0.0, -inf
    for k in range(len(which)):
        if shapes.link[k] >= 0:
            count, x, y, z = count + 1, x + motion[k, 0], y + motion[k, 1], z + motion[k, 2]
    count = max(count, 1)
    x, y, z, excess = x / count, y / count, z / count, np.zeros(len(which))
    for k in range(len(which)):
        a, b, c = motion[k, 0] - x, motion[k, 1] - y, motion[k, 2] - z
        way = sqrt(a * a + b * b + c * c)
        if shapes.swing[k] > 0.0:
            way += shapes.swing[k] * _tumbling(t, poses, motion, k)
        excess[k] = h * way * _ROUNDED - shapes.thin[k]
        most = max(most, excess[k])
    count = 0
    for k in range(len(which)):
        if excess[k] + most > 0.0:
            which[count] = k
            count += 1
    return count


@native
def _swept(shapes, table, poses, motion, before, pairs, count, h, moved, work, found, fast, when):
    """Write the fast pairs, and when the first of them meets; return how many they are."""
    t, w, c = opened_table(table), opened_work(work), opened_buffer(found)
    x, y = memory(poses), memory(moved)
    when[0], number = inf, 0
    for k in range(count):
        i, j = pairs[k, 0], pairs[k, 1]
        if shapes.link[i] != shapes.link[j] and _passes(t, shapes, x, motion, i, j, h):
            fast[number, 0], fast[number, 1] = i, j
            number += 1
            s = _time_of_impact(t, shapes, x, motion, before, i, j, min(h, when[0]), y, w, c)
            when[0] = min(when[0], s)
    return number


_WHERE = SHAPES, "int64[::1]", "float64[:, :, ::1]", "float64[:, ::1]", "float64[:, ::1]", "int64[:, ::1]"
_ROOM = "float64[:, :, ::1]", "int64[::1]", "int64[::1]", "int64[:, ::1]", "float64[::1]"


@entry("int64", *_WHERE, "int64", "float64", *_ROOM)
def _sweep(shapes, table, poses, motion, before, pairs, count, h, moved, work, found, fast, when):
    """Write the fast pairs, and when the first of them meets; return how many they are."""
    return _swept(shapes, table, poses, motion, before, pairs, count, h, moved, work, found, fast, when)


@entry("int64", *_WHERE, "int64[::1]", "float64", *_ROOM, "int64[::1]", "int64")
def _ask_if_met(
    shapes, table, poses, motion, before, pairs, counts, h, moved, work, found, fast, when, values, place
):
    """Write the fast pairs, and how many they are; ask if some of them meet within h."""
    count = counts[0]
    if count > len(pairs):
        return ASK
    values[place] = _swept(
        shapes, table, poses, motion, before, pairs, count, h, moved, work, found, fast, when
    )
    return ASK if when[0] < inf else GO


def struck(points: Any, sweep: Sweep) -> Array:
    """Return which contacts take part in an impact (n,).

    Those that touch; and of fast pairs that touch all that they may have: what hits so fast has turned on to
    its other corners before anybody could see it.
    """
    touches = points.gap <= CLOSED
    for pair in sweep.pairs[: sweep.count]:
        own = (points.pair == pair).all(axis=1)
        touches |= own & (touches & own).any()
    return touches


def restitutions(points: Any, table: Any) -> Array:
    """Return the restitution of each contact."""
    kinds = table.kind[points.pair]
    return table.numbers[kinds[:, 0], kinds[:, 1], RESTITUTION]
