"""contact points <- depth and normal of two convex shapes: face against face, clipped, thinned out to four.

The shape whose face is square to the normal is the reference; what the other meets it with is cut to the
sides of that face, and what lies below the face touches. Two edges side by side give two points. All else is
one point.
"""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.features import feature
from linkwork.contact.shape_table import DEPTH, MOST_CORNERS, NORMAL, POINT_A, POINT_B
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    cross,
    dot,
    neg,
    norm,
    put,
    put_three,
    row,
    sub,
    three,
    turned,
    turned_back,
    unit,
)

_SQUARE = 1.0 - 1e-6  # cosine of face normal and contact normal
_PARALLEL = 1e-3  # sine of the angle of two edges
_SEGMENTS_OF_ONE = 100  # labels of corners that clipping has made begin here
_IDLE = 1e-3  # share of a polygon's area that a corner adds to it, if it is hardly needed
AS_DEEP = 1e-7  # difference of depths that does not count when contacts are chosen [m]
_AS_FAR = 1.0 + 1e-6  # ratio of distances that does not count
_MOST_GROUPS = 8  # directions in which two surfaces can press at once
_SAME_GROUP = 0.95  # cosine of normals that are thinned out together


@native_apart
def points_of_contact(table, A, B, R, p, depth, normal, a, b, work, rows, labels, first, margin):
    """Write the contact points of a pair as rows from `first` on, in axes of A; return how many, 1 to 4.

    Points that are apart by less than `margin` count as well; the deepest is always there.
    """
    count = 0
    na, face_a = feature(table, A, normal, work, 0)
    if na > 1:
        nb, face_b = feature(table, B, neg(turned_back(R, normal)), work, 1)
        if nb > 1:
            for k in range(nb):
                put(work.ring, MOST_CORNERS + k, add(turned(R, row(work.ring, MOST_CORNERS + k)), p))
            square_a = dot(face_a, normal) if na > 2 else 0.0
            square_b = -dot(turned(R, face_b), normal) if nb > 2 else 0.0
            if square_a > _SQUARE and square_a >= square_b - 1e-12:
                m, ring = _clipped(work, 0, na, 1, nb, normal)
                count = _below(work, ring, m, normal, face_a, a, 1.0, margin, rows, labels, first)
            elif square_b > _SQUARE:
                m, ring = _clipped(work, 1, nb, 0, na, neg(normal))
                face = turned(R, face_b)
                count = _below(work, ring, m, neg(normal), face, b, -1.0, margin, rows, labels, first)
            elif na == 2 and nb == 2:
                count = _side_by_side(work, normal, depth, a, rows, labels, first)
    count = without_idle_corners(rows, labels, first, count)
    deepest = -1e300
    for k in range(first, first + count):
        deepest = max(deepest, rows[10 * k + DEPTH])
    if deepest < depth - AS_DEEP:
        put_contact(rows, labels, first + count, a, b, normal, depth, 0, 0)
        count += 1
    return thinned(rows, labels, 3, first, count) if count > 4 else count


@native
def put_contact(rows, labels, k, a, b, normal, depth, feature_a, feature_b):
    put_three(rows, 10 * k + POINT_A, a)
    put_three(rows, 10 * k + POINT_B, b)
    put_three(rows, 10 * k + NORMAL, normal)
    rows[10 * k + DEPTH] = depth
    labels[3 * k] = feature_a
    labels[3 * k + 1] = feature_b


@native_apart
def _clipped(work, face, n, other, m, normal):
    """Cut a polygon or segment to the sides of a face; return how many corners are left, and where they
    are."""
    source, target = other, 2
    for e in range(n):
        x, y = row(work.ring, face * MOST_CORNERS + e), row(work.ring, face * MOST_CORNERS + (e + 1) % n)
        out = cross(sub(y, x), normal)  # of any length: only signs and ratios count
        if _inside(work, source * MOST_CORNERS, m, out, dot(out, x)):
            continue
        m = _cut(work, source * MOST_CORNERS, m, target * MOST_CORNERS, out, dot(out, x), e)
        source, target = target, 5 - target
        if m == 0:
            break
    return m, source


@native
def _inside(work, source, m, out, offset):
    """Return whether all corners lie on the inner side of a plane."""
    inside = True
    for k in range(m):
        inside = inside and dot(out, row(work.ring, source + k)) <= offset
    return inside


@native
def _cut(work, source, m, target, out, offset, edge):
    """Keep what lies on the inner side of a plane."""
    count = 0
    last = m - 1
    if m == 2:
        last = 0  # a segment has no way back
    v = row(work.ring, source + last)
    before = dot(out, v) - offset
    label = work.label[source + last]
    for k in range(m):
        x = row(work.ring, source + k)
        here = dot(out, x) - offset
        if (before < 0.0 < here) or (here < 0.0 < before):
            put(work.ring, target + count, along(v, before / (before - here), sub(x, v)))
            work.label[target + count] = _SEGMENTS_OF_ONE * (edge + 1) + label % _SEGMENTS_OF_ONE
            count += 1
        if here <= 0.0 and count < MOST_CORNERS - 1:
            put(work.ring, target + count, x)
            work.label[target + count] = work.label[source + k]
            count += 1
        v, before, label = x, here, work.label[source + k]
    return count


@native
def _below(work, ring, m, normal, face, on, side, margin, rows, labels, first):
    """Write those corners that lie below the reference face, along a normal that is nearly its own: the plane
    across `face` through `on`. `side` is 1 if that is of a, -1 if of b."""
    count = 0
    steep = 1.0 / dot(face, normal)
    for k in range(m):
        x = row(work.ring, ring * MOST_CORNERS + k)
        depth = steep * dot(face, sub(on, x))
        if depth >= -margin:
            foot = along(x, depth, normal)
            label = work.label[ring * MOST_CORNERS + k]
            if side > 0.0:
                put_contact(rows, labels, first + count, foot, x, normal, depth, -1, label)
            else:
                put_contact(rows, labels, first + count, x, foot, neg(normal), depth, label, -1)
            count += 1
    return count


@native_apart
def _side_by_side(work, normal, depth, a, rows, labels, first):
    """Two edges: if they are parallel, the ends of what they share; else nothing."""
    x, y = row(work.ring, 0), row(work.ring, 1)
    v, w = row(work.ring, MOST_CORNERS), row(work.ring, MOST_CORNERS + 1)
    u, t = unit(sub(y, x)), unit(sub(w, v))
    if norm(cross(u, t)) > _PARALLEL:
        return 0
    v0, w0 = dot(u, sub(v, x)), dot(u, sub(w, x))
    low, high = max(0.0, min(v0, w0)), min(norm(sub(y, x)), max(v0, w0))
    if not high > low:
        return 0
    count = 0
    for k in range(2):
        s = low if k == 0 else high
        on_a = along(x, s, u)
        on_b = along(v, (s - v0) * dot(u, t), t)
        deep = dot(normal, sub(on_a, on_b))
        if deep >= 0.0:
            put_contact(rows, labels, first + count, on_a, along(on_a, -deep, normal), normal, deep, k, k)
            count += 1
    return count


@native_apart
def without_idle_corners(rows, labels, first, count):
    """Take corners away that a polygon, whose contacts are in order, hardly needs; return how many stay.

    Again and again the corner goes whose triangle with its two neighbours is the smallest, while that is
    small beside the polygon. So corners that nearly coincide, or lie nearly on a side, go: where edges of
    both faces coincide, motions of a nanometre bring such corners and take them away, and the patch that is
    left does not change.
    """
    while count > 4:
        least, chosen, total = 1e300, 0, ZERO
        o = three(rows, 10 * first + POINT_A)
        for k in range(count):
            x = three(rows, 10 * (first + k) + POINT_A)
            y = three(rows, 10 * (first + (k + 1) % count) + POINT_A)
            z = three(rows, 10 * (first + (k + count - 1) % count) + POINT_A)
            corner = cross(sub(y, x), sub(z, x))
            total = add(total, cross(sub(x, o), sub(y, o)))
            if dot(corner, corner) < least:
                least, chosen = dot(corner, corner), k
        if least > _IDLE * _IDLE * dot(total, total):
            break
        for k in range(chosen, count - 1):
            swap_contacts(rows, labels, 3, first + k, first + k + 1)
        count -= 1
    return count


@native_apart
def thinned(rows, labels, width, first, count):
    """Keep four well-spread contacts of a group in its first rows: the deepest, the farthest from it, the one
    farthest from their line, and the one farthest from there on the other side. Return how many."""
    best, chosen = -1e300, first
    for k in range(first, first + count):
        if rows[10 * k + DEPTH] > best + AS_DEEP:
            best, chosen = rows[10 * k + DEPTH], k
    swap_contacts(rows, labels, width, first, chosen)
    o, n = three(rows, 10 * first + POINT_A), three(rows, 10 * first + NORMAL)
    best, chosen = 0.0, -1
    for k in range(first + 1, first + count):
        gap = sub(three(rows, 10 * k + POINT_A), o)
        far = dot(gap, gap)
        if far > _AS_FAR * best:
            best, chosen = far, k
    if chosen < 0:
        return 1
    swap_contacts(rows, labels, width, first + 1, chosen)
    span = sub(three(rows, 10 * first + 10 + POINT_A), o)
    best, chosen, side = 1e-6 * dot(span, span), -1, 0.0
    for k in range(first + 2, first + count):
        area = dot(cross(span, sub(three(rows, 10 * k + POINT_A), o)), n)
        if abs(area) > _AS_FAR * best:
            best, chosen, side = abs(area), k, area
    if chosen < 0:
        return 2
    swap_contacts(rows, labels, width, first + 2, chosen)
    # The fourth: the most area beyond any side of the triangle of the three.
    x, y = three(rows, 10 * first + 10 + POINT_A), three(rows, 10 * first + 20 + POINT_A)
    s = 1.0 if side > 0.0 else -1.0
    best, chosen = 1e-6 * dot(span, span), -1
    for k in range(first + 3, first + count):
        q = three(rows, 10 * k + POINT_A)
        out = max(
            -s * dot(cross(sub(x, o), sub(q, o)), n),
            max(-s * dot(cross(sub(y, x), sub(q, x)), n), -s * dot(cross(sub(o, y), sub(q, y)), n)),
        )
        if out > _AS_FAR * best:
            best, chosen = out, k
    if chosen < 0:
        return 3
    swap_contacts(rows, labels, width, first + 3, chosen)
    return 4


@native
def swap_contacts(rows, labels, width, i, j):
    """Exchange two contacts."""
    if i == j:
        return
    for c in range(10):
        rows[10 * i + c], rows[10 * j + c] = rows[10 * j + c], rows[10 * i + c]
    for c in range(width):
        labels[width * i + c], labels[width * j + c] = labels[width * j + c], labels[width * i + c]


@native
def copy_contact(rows, labels, i, j):
    """Write contact i over contact j."""
    for c in range(10):
        rows[10 * j + c] = rows[10 * i + c]
    for c in range(3):
        labels[3 * j + c] = labels[3 * i + c]


@native_apart
def thinned_by_normal(work, first, count):
    """Keep up to four well-spread contacts for each direction of the normals, of those from `first` on;
    return how many are left in all."""
    rows, labels = work.raw, work.raw_label
    kept, start = first, first
    for group in range(_MOST_GROUPS):
        if start == count:
            break
        deepest = start
        for k in range(start, count):
            if rows[10 * k + DEPTH] > rows[10 * deepest + DEPTH]:
                deepest = k
        swap_contacts(rows, labels, 3, start, deepest)
        n = three(rows, 10 * start + NORMAL)
        end = start + 1
        for k in range(start + 1, count):
            if group == _MOST_GROUPS - 1 or dot(n, three(rows, 10 * k + NORMAL)) > _SAME_GROUP:
                swap_contacts(rows, labels, 3, end, k)
                end += 1
        left = thinned(rows, labels, 3, start, end - start)
        for k in range(left):
            swap_contacts(rows, labels, 3, kept + k, start + k)
        kept += left
        start = end
    return kept
