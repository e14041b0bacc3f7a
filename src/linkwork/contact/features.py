"""The face, edge or corner with which a convex shape meets a direction: what contact points are cut from.

Polygons are written into one of the rings of `Work`, in the shape's own axes, with a label for each corner. A
round rim is eight points, one of them the farthest in the direction.
"""

from math import sqrt

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.shape_table import ALL_EDGES, BOX, CAPSULE, CONE, CONVEX, CYLINDER, MOST_CORNERS
from linkwork.contact.support import support
from linkwork.contact.vectors import (
    ZERO,
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

_RIM = ((1.0, 0.0), (0.5**0.5, 0.5**0.5), (0.0, 1.0), (-(0.5**0.5), 0.5**0.5))  # and the opposite ones
_MOST = 24  # corners of a face; more are left out evenly


@native_apart
def feature(table, form, d, work, ring):
    """Write what the shape meets the unit direction d with; return how many corners, and a face's normal."""
    kind = form.kind
    base = ring * MOST_CORNERS
    if kind == BOX:
        return _box_face(form, d, work, base)
    if kind == CYLINDER:
        across = sqrt(d[0] * d[0] + d[1] * d[1])
        if abs(d[2]) >= across:
            z = form.y if d[2] > 0.0 else -form.y
            return _rim(form.x, z, d, work, base), (0.0, 0.0, 1.0 if d[2] > 0.0 else -1.0)
        x, y = form.x * d[0] / across, form.x * d[1] / across
        return _segment(work, base, (x, y, -form.y), (x, y, form.y)), ZERO
    if kind == CAPSULE:
        end = scale(form.radius, d)
        return _segment(
            work, base, along(end, -form.y, (0.0, 0.0, 1.0)), along(end, form.y, (0.0, 0.0, 1.0))
        ), ZERO
    if kind == CONE:
        across = sqrt(d[0] * d[0] + d[1] * d[1])
        slant = sqrt(form.x * form.x + form.y * form.y)
        if -d[2] * slant >= across * form.y + d[2] * form.x:
            return _rim(form.x, 0.0, d, work, base), (0.0, 0.0, -1.0)
        s = form.x / max(across, 1e-300)
        return _segment(work, base, (s * d[0], s * d[1], 0.0), (0.0, 0.0, form.y)), ZERO
    if kind == CONVEX:
        return _convex_face(table, form, d, work, base)
    put(work.ring, base, along(support(form, d), form.radius, d))
    work.label[base] = 0
    return 1, ZERO


@native
def _segment(work, base, a, b):
    put(work.ring, base, a)
    put(work.ring, base + 1, b)
    work.label[base] = 0
    work.label[base + 1] = 1
    return 2


@native
def _box_face(form, d, work, base):
    x, y, z = form.x, form.y, form.z
    dx, dy, dz = abs(d[0]), abs(d[1]), abs(d[2])
    if dx >= dy and dx >= dz:
        s = x if d[0] > 0.0 else -x
        t = y if d[0] > 0.0 else -y
        put(work.ring, base, (s, -t, -z))
        put(work.ring, base + 1, (s, t, -z))
        put(work.ring, base + 2, (s, t, z))
        put(work.ring, base + 3, (s, -t, z))
        n, first = (1.0 if s > 0.0 else -1.0, 0.0, 0.0), (0 if s > 0.0 else 4)
    elif dy >= dz:
        s = y if d[1] > 0.0 else -y
        t = z if d[1] > 0.0 else -z
        put(work.ring, base, (-x, s, -t))
        put(work.ring, base + 1, (-x, s, t))
        put(work.ring, base + 2, (x, s, t))
        put(work.ring, base + 3, (x, s, -t))
        n, first = (0.0, 1.0 if s > 0.0 else -1.0, 0.0), (8 if s > 0.0 else 12)
    else:
        s = z if d[2] > 0.0 else -z
        t = x if d[2] > 0.0 else -x
        put(work.ring, base, (-t, -y, s))
        put(work.ring, base + 1, (t, -y, s))
        put(work.ring, base + 2, (t, y, s))
        put(work.ring, base + 3, (-t, y, s))
        n, first = (0.0, 0.0, 1.0 if s > 0.0 else -1.0), (16 if s > 0.0 else 20)
    for k in range(4):
        work.label[base + k] = first + k
    return 4, n


@native
def _rim(r, z, d, work, base):
    """Write eight points of a circle round the z axis, to the left as seen from where d comes from."""
    x, y, _ = unit((d[0], d[1], 0.0)) if d[0] * d[0] + d[1] * d[1] > 1e-24 else (1.0, 0.0, 0.0)
    turn = r if d[2] > 0.0 else -r
    for k in range(4):
        c, s = r * _RIM[k][0], turn * _RIM[k][1]
        put(work.ring, base + k, (c * x - s * y, c * y + s * x, z))
        put(work.ring, base + k + 4, (s * y - c * x, -c * y - s * x, z))
    for k in range(8):
        work.label[base + k] = k
    return 8


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
    best = farthest(table.planes, 4, form.first_face, form.faces, d)
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
        count = min(count + (abs(dot(n, x) - offset) <= slack), _MOST)
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
