"""The face, edge or corner with which a convex shape meets a direction: what contact points are cut from.

Polygons are written into one of the rings of `Work`, in the shape's own axes, with a label for each corner.
Those of solids are in their own files; a solid that has none meets with its farthest point.
"""

from math import cos, pi, sin

from linkwork.contact.corner_clusters import farthest_corner
from linkwork.contact.decorators import native, native_apart, native_within
from linkwork.contact.shape_kinds import CONVEX, switch
from linkwork.contact.shape_table import ALL_EDGES, MOST_CORNERS
from linkwork.contact.support import support
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    cross,
    dot,
    farthest,
    neg,
    put,
    row,
    scale,
    sub,
    tangents,
    three,
    unit,
)

_MOST = 24  # corners of a face; more are left out evenly


@native_apart
def feature(table, form, d, work, ring):
    """Write what the shape meets the unit direction d with; return how many corners, and a face's normal."""
    base = ring * MOST_CORNERS
    if form.kind == CONVEX:
        return _convex_face(table, form, d, work, base)
    return _solid_feature(form, d, work.ring, work.label, base)


@native
def _point(form, d, ring, label, base):
    """Write the one point that is farthest."""
    put(ring, base, along(support(form, d), form.radius, d))
    label[base] = 0
    return 1, ZERO


_solid_feature = native_within(switch("feature", ("d", "ring", "label", "base"), _point))


@native_apart
def _convex_face(table, form, d, work, base):
    """Write the corners of a hull that lie in its face most aligned with d, in order round it."""
    if form.faces == 0:
        a, b, c = (
            row(form.points, form.first),
            row(form.points, form.first + 1),
            row(form.points, form.first + 2),
        )
        n = cross(sub(b, a), sub(c, a))
        if not dot(n, n) > 0.0:
            put(work.ring, base, support(form, d))
            work.label[base] = 0
            return 1, ZERO
        n = unit(n)
        flipped = dot(n, d) < 0.0
        put(work.ring, base, a)
        put(work.ring, base + 1, c if flipped else b)
        put(work.ring, base + 2, b if flipped else c)
        for k in range(3):
            work.label[base + k] = k
        return 3, (neg(n) if flipped else n)
    best = _aligned(table, form, d)
    n, offset = three(table.planes, 4 * best), table.planes[4 * best + 3]
    if table.ridge[best] == ALL_EDGES:  # a triangle by itself, not a part of a larger face
        for k in range(3):
            corner = table.faces[3 * best + k]
            put(work.ring, base + k, row(form.points, form.first + corner))
            work.label[base + k] = corner
        return 3, n
    count = 0
    slack = 1e-9 * (1.0 + abs(offset))
    for k in range(form.first, form.first + form.many):  # no branch: who is not in it is overwritten
        x = row(form.points, k)
        put(work.ring, base + count, x)
        work.label[base + count] = k - form.first
        count = min(count + (abs(dot(n, x) - offset) <= slack), _MOST + 1)
    if count > _MOST:
        count = _spread(form, n, offset, slack, work, base)
    middle = ZERO
    for k in range(count):
        middle = along(middle, 1.0 / count, row(work.ring, base + k))
    s, t = tangents(n)
    for k in range(1, count):  # few corners: sort by insertion, by the angle round the middle
        x, label = row(work.ring, base + k), work.label[base + k]
        own = _angle(sub(x, middle), s, t)
        m = k
        while m > 0 and _angle(sub(row(work.ring, base + m - 1), middle), s, t) > own:
            put(work.ring, base + m, row(work.ring, base + m - 1))
            work.label[base + m] = work.label[base + m - 1]
            m -= 1
        put(work.ring, base + m, x)
        work.label[base + m] = label
    return count, n


@native_apart
def _aligned(table, form, d):
    """Return the face of a hull most aligned with d; of many, one of those round the farthest corner."""
    if form.x == 0.0:
        return farthest(table.planes, 4, form.first_face, form.faces, d)
    begin = table.leaving[farthest_corner(form, d)]
    side, best, most = begin, begin // 3, -2.0
    for _step in range(form.faces):
        here = dot(three(table.planes, 4 * (form.first_face + side // 3)), d)
        if here > most:
            most, best = here, side // 3
        before = side - 1 if side % 3 > 0 else side + 2
        side = table.twin[3 * form.first_face + before]
        if side in (begin, -1):
            break
    return form.first_face + best


@native_apart
def _spread(form, n, offset, slack, work, base):
    """Write the corners of a face of many: the farthest to each of some sides, round the face."""
    s, t = tangents(n)
    count, last = 0, -1
    for side in range(_MOST):
        d = add(scale(cos(2.0 * pi * side / _MOST), s), scale(sin(2.0 * pi * side / _MOST), t))
        best, most = -1, -1e300
        for k in range(form.first, form.first + form.many):
            x = row(form.points, k)
            if abs(dot(n, x) - offset) <= slack and dot(d, x) > most:
                best, most = k, dot(d, x)
        if best != last and (count == 0 or best - form.first != work.label[base]):
            put(work.ring, base + count, row(form.points, best))
            work.label[base + count] = best - form.first
            count, last = count + 1, best
    return count


@native
def _angle(x, s, t):
    """Return a number that grows with the angle from s towards t, from -2 to 2."""
    u, v = dot(x, s), dot(x, t)
    size = abs(u) + abs(v)
    if not size > 0.0:
        return 0.0
    if u >= 0.0:
        return v / size
    return 2.0 - v / size if v >= 0.0 else -2.0 - v / size
