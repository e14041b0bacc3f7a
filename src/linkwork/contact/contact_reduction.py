"""Contacts as rows, and a few of many: corners of a polygon that span it, points that are well spread."""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.shape_table import DEPTH, NORMAL, POINT_A, POINT_B
from linkwork.geometry.vectors import ZERO, add, cross, dot, put_three, sub, three

_IDLE = 1e-3  # share of a polygon's area that a corner adds to it, if it is hardly needed
EXACTLY = 1e-9  # the same, where the surface is curved [m]
AS_DEEP = 1e-7  # difference of depths that does not count when contacts are chosen [m]
_ASIDE = (0.83, 0.44, 0.34)  # a direction that no shape prefers
_AS_LARGE = 1.1  # ratio of squares of areas that does not count
_AS_FAR = 1.0 + 1e-6  # ratio of distances that does not count
_MOST_GROUPS = 8  # directions in which two surfaces can press at once
_SAME_GROUP = 0.95  # cosine of normals that are thinned out together


@native
def put_contact(rows, labels, k, a, b, normal, depth, feature_a, feature_b):
    put_three(rows, 10 * k + POINT_A, a)
    put_three(rows, 10 * k + POINT_B, b)
    put_three(rows, 10 * k + NORMAL, normal)
    rows[10 * k + DEPTH] = depth
    labels[3 * k] = feature_a
    labels[3 * k + 1] = feature_b


@native
def _least_corner(rows, first, count):
    """Return which corner of a polygon, whose contacts are in order, adds least to it, and the ratio of the
    square of its triangle with its neighbours to that of the whole. Of those that are as small it is the one
    farthest to one side."""
    total, o = ZERO, three(rows, 10 * first + POINT_A)
    for k in range(1, count - 1):
        x, y = three(rows, 10 * (first + k) + POINT_A), three(rows, 10 * (first + k + 1) + POINT_A)
        total = add(total, cross(sub(x, o), sub(y, o)))
    least, chosen, side = 1e300, 0, 0.0
    for k in range(count):
        x = three(rows, 10 * (first + k) + POINT_A)
        y = three(rows, 10 * (first + (k + 1) % count) + POINT_A)
        z = three(rows, 10 * (first + (k + count - 1) % count) + POINT_A)
        corner = cross(sub(y, x), sub(z, x))
        size, here = dot(corner, corner), dot(_ASIDE, x)
        if size * _AS_LARGE < least or (size < least * _AS_LARGE and here < side):
            least, chosen, side = size, k, here
    return chosen, least / max(dot(total, total), 1e-300)


@native
def _to_the_end(rows, labels, first, chosen, count):
    """Put a contact behind the others of a group."""
    for k in range(chosen, count - 1):
        swap_contacts(rows, labels, 3, first + k, first + k + 1)


@native_apart
def without_idle_corners(rows, labels, first, count):
    """Take corners away that a polygon, whose contacts are in order, hardly needs; return how many stay.

    Again and again the corner goes whose triangle with its two neighbours is the smallest, while that is
    small beside the polygon. So corners that nearly coincide, or lie nearly on a side, go: where edges of
    both faces coincide, motions of a nanometre bring such corners and take them away, and the patch that is
    left does not change.
    """
    while count > 4:
        chosen, share = _least_corner(rows, first, count)
        if share > _IDLE * _IDLE:
            break
        _to_the_end(rows, labels, first, chosen, count)
        count -= 1
    return count


@native_apart
def well_spread(rows, labels, first, count, most):
    """Keep `most` corners of a polygon, whose contacts are in order, in its first rows: those left when the
    least goes again and again, whatever their depths, so that they stay the same ones. If that leaves the
    deepest out, it is one more; or, of four, they are chosen by depth. Return how many."""
    if count <= most:
        return count
    for left in range(count, most, -1):
        _to_the_end(rows, labels, first, _least_corner(rows, first, left)[0], left)
    kept, others, deepest = -1e300, -1e300, first
    for k in range(first, first + count):
        if k < first + most:
            kept = max(kept, rows[10 * k + DEPTH])
        elif rows[10 * k + DEPTH] > others:
            others, deepest = rows[10 * k + DEPTH], k
    if others <= kept + EXACTLY:
        return most
    if most == 4:
        return thinned(rows, labels, 3, first, count)
    swap_contacts(rows, labels, 3, first + most, deepest)
    return most + 1


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
