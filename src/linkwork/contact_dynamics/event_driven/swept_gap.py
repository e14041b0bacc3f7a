"""smallest gap <- two states: what comes closest on the way from one to the other, so that nothing is passed.

On the way, a cubic through both states, the gap of two bodies changes by no more than their speeds allow. So
an interval is clear of a pair if the sum of its gaps at both ends exceeds that times the length (conservative
advancement, Mirtich 1996). One that is not is halved, until bodies move in it by less than a part of the
thinnest of them: then what has passed is seen inside.
"""

from math import sqrt

from linkwork.contact.shape_table import DEPTH, NORMAL, POINT_A, POINT_B
from linkwork.contact_dynamics.event_driven.active_record import NUMBERS, PLACE
from linkwork.contact_dynamics.event_driven.active_rows import place_links
from linkwork.contact_dynamics.problem.motion_bounds import reaches
from linkwork.native.numba_functions import call, doubles, integers, native, native_apart

_THIN = 0.2  # of the smallest half width
_ACTIVE = 2  # of what is left out: it is an active contact
_SAME_PLACE, _SAME_NORMAL = (
    1e-6,
    1e-6,
)  # nearer to each other [of the size], and less turned, contacts are one
_FASTER = 1.25  # than at both ends bodies may be in between


@native
def _detect(r, margin):
    """Find all contacts within a margin, links being placed; return how many."""
    reach, found = doubles(r.reach), integers(r.detect_found)
    for k in range(r.shapes):
        reach[k] = 0.5 * margin
    while True:
        call(r.detect, r.detect_words, 0)
        counts = integers(found[2])
        if counts[0] <= found[3] and counts[1] <= found[4]:
            return counts[1]
        call(r.grow, r.grow_plan, 0)


@native
def _is_soft(r, a, b):
    kind = integers(r.kind)
    return r.classes > 0 and integers(r.soft)[kind[a] * r.classes + kind[b]] != 0


@native
def _leave_out_active(r, number, label, count, taken):
    """Mark the contacts found that are active: the same pair and features, or the nearest of the pair.

    A place that is found twice, as where facets in one plane meet, is one contact.
    """
    mine, base, done = integers(r.label), doubles(r.base), integers(r.port)
    for k in range(r.count):
        done[k] = 0
    for turn in range(2):
        for k in range(r.count):
            best, chosen = 1e300, -1
            for m in range(count):
                if done[k] or taken[m]:
                    continue
                pair = mine[4 * k] == label[4 * m] and mine[4 * k + 1] == label[4 * m + 1]
                same = mine[4 * k + 2] == label[4 * m + 2] and mine[4 * k + 3] == label[4 * m + 3]
                if not pair or (turn == 0 and not same):
                    continue
                far = 0.0
                for i in range(3):
                    middle = 0.5 * (number[10 * m + POINT_A + i] + number[10 * m + POINT_B + i])
                    far += (middle - base[NUMBERS * k + PLACE + i]) ** 2
                if far < best:
                    best, chosen = far, m
            if chosen >= 0:
                taken[chosen], done[k] = _ACTIVE, 1
    near = (_SAME_PLACE * r.size) ** 2
    for m in range(count):
        for other in range(count if not taken[m] else 0):
            same = label[4 * m] == label[4 * other] and label[4 * m + 1] == label[4 * other + 1]
            if taken[other] == _ACTIVE and same and _are_one(number, m, other, near):
                taken[m] = 1


@native
def _are_one(number, m, other, near):
    """Return whether contacts of a pair have one place and one normal."""
    far = turned = 0.0
    for i in range(3):
        far += (number[10 * m + POINT_A + i] - number[10 * other + POINT_A + i]) ** 2
        turned += (number[10 * m + NORMAL + i] - number[10 * other + NORMAL + i]) ** 2
    return far <= near and turned <= _SAME_NORMAL**2


@native
def _gap(r, margin, speed):
    """Return the smallest gap within a margin, and how fast the gap of any of these may change."""
    count, found, taken = _detect(r, margin), integers(r.detect_found), integers(r.taken)
    number, label = doubles(found[0]), integers(found[1])
    for m in range(count):
        far = -number[10 * m + DEPTH] > margin or _is_soft(r, label[4 * m], label[4 * m + 1])
        taken[m] = 1 if far else 0
    _leave_out_active(r, number, label, count, taken)
    gap, pace = margin, 0.0
    for m in range(count):
        if not taken[m]:
            gap = min(gap, -number[10 * m + DEPTH])
            pace = max(pace, speed[label[4 * m]] + speed[label[4 * m + 1]])
    return gap, pace


@native
def _rates(r, q, v, to, rates):
    """Write positions, and their rates at velocities v; by address."""
    a, b, x, w, out = doubles(q), doubles(v), doubles(r.rate_q), doubles(r.rate_v), doubles(rates)
    for i in range(r.nq):
        x[i] = doubles(to)[i] = a[i]
    for i in range(r.nv):
        w[i] = b[i]
    call(r.rates, r.rates_plan, r.rates_table)
    for i in range(r.nq):
        out[i] = doubles(r.rate)[i]


@native
def _go(r, poses, s, span):
    """Place links on the cubic between both states, at a part s of the way."""
    a, b, f, g, where = doubles(r.q_0), doubles(r.q_1), doubles(r.f_0), doubles(r.f_1), doubles(r.where)
    for i in range(r.nq):
        d = b[i] - a[i]
        bend = (1.0 - s) * (span * f[i] - d) - s * (span * g[i] - d)
        where[i] = a[i] + s * d + s * (1.0 - s) * bend
    numbers, count = integers(r.quaternions), r.quaternion_count
    for k in range(count):
        at, size = numbers[k], 0.0
        for i in range(4):
            size += where[at + i] ** 2
        for i in range(4):
            where[at + i] /= sqrt(size)
    place_links(r, poses)


@native
def _speeds(r, tree, shapes, poses, J, v, motion, speed, base_v, s):
    """Write how fast any point of each shape moves at most, links being placed [m/s]."""
    a, b = doubles(base_v), doubles(r.v)
    for i in range(r.nv):
        v[i] = a[i] + s * (b[i] - a[i])
    reaches(tree, shapes, poses, J, v, 1.0, motion, speed)


@native_apart
def swept_gap(r, tree, shapes, poses, J, v, motion, speed, base, span):
    """Return the gap of contacts that are not active, as far as bodies move in the span from the base to q.

    It is that at the end, or, where it was below -slack on the way, what it was there. What is farther apart
    than the thinnest shape is half wide counts as so far.
    """
    fast, slow = doubles(r.speed), doubles(r.speed_0)
    if span <= 0.0:
        for i in range(r.nq):
            doubles(r.where)[i] = doubles(r.q)[i]
        place_links(r, poses)
        gap, _ = _gap(r, r.thin, fast)
        return gap
    base_v = base + 8 * r.nq
    _rates(r, base, base_v, r.q_0, r.f_0)
    _rates(r, r.q, r.v, r.q_1, r.f_1)
    s, wide = 0.0, 1.0
    while True:
        _go(r, poses, s + wide, span)
        _speeds(r, tree, shapes, poses, J, v, motion, speed, base_v, s + wide)
        for k in range(r.shapes):
            slow[k] = speed[k]
        _go(r, poses, s, span)
        _speeds(r, tree, shapes, poses, J, v, motion, speed, base_v, s)
        first, second = 0.0, 0.0
        for k in range(r.shapes):
            speed[k] = _FASTER * max(speed[k], slow[k])
            second = max(second, min(first, speed[k]))
            first = max(first, speed[k])
        length = wide * span
        margin = max(0.5 * (first + second) * length, r.thin)
        begin, pace = _gap(r, margin, fast)
        if begin < -r.slack_gap:
            return begin
        _go(r, poses, s + wide, span)
        end, other = _gap(r, margin, fast)
        if end < -r.slack_gap:
            return end
        short = (first + second) * length < _THIN * r.thin
        if not (begin + end > max(pace, other) * length or short):
            wide *= 0.5
            continue
        s += wide
        if s >= 1.0:
            return min(end, r.thin)
        while s / wide == 2.0 * int(0.5 * s / wide):
            wide *= 2.0
