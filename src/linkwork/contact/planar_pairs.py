"""contacts <- two rounded convex polygons in the plane: separating axes and clipping (as in box against box).

One kind covers the plane: a disc is a corner with a radius, a capsule two corners with a radius, a box four
corners, a polygon its convex pieces. z is zero throughout. `size[0]` is the radius. The corners are followed
by the outward normals of the edges that begin at them.
"""

from linkwork.contact.contact_reduction import AS_DEEP, put_contact
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.shape_table import FIRST_POINT, POINTS
from linkwork.contact.triangles import closest_of_segments
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    cross,
    dot,
    neg,
    norm,
    row,
    scale,
    sub,
    turned,
    turned_back,
)

_UP = (0.0, 0.0, 1.0)
_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_ROUNDING = 1e-15  # of coordinates
_ACROSS = 0.95  # cosine of an edge's normal and the contact normal: edges side by side
_BETTER = 1e-9  # of the size: the face of b decides only if it is better than that of a by this


@native_apart
def polygon_distance(table, i, j, R, p):
    """Return depth, normal from a to b, a point on each, and edges of a and b in contact (-1: a corner)."""
    ra, rb = table.size[4 * i], table.size[4 * j]
    na, nb = table.index[12 * i + POINTS], table.index[12 * j + POINTS]
    gap_a, edge_a = _most_apart(table, i, j, R, p, True)
    gap_b, edge_b = _most_apart(table, j, i, R, p, False)
    apart = max(gap_a, gap_b)
    if max(na, nb) > 1 and (apart < 0.0 or (apart == 0.0 and max(na, nb) > 2)):
        if gap_a >= gap_b - _BETTER * (abs(gap_a) + abs(gap_b)):
            n = _edge_normal(table, i, edge_a)
            b = _lowest(table, j, R, p, n)
            return ra + rb - gap_a, n, along(b, -gap_a + ra, n), along(b, -rb, n), edge_a, -1
        m = turned(R, _edge_normal(table, j, edge_b))
        n = neg(m)
        a = _lowest(table, i, _SAME, ZERO, m)
        return ra + rb - gap_b, n, along(a, ra, n), along(a, gap_b - rb, n), -1, edge_b
    # Apart (or without area): the closest points of their edges.
    best, x, y = 1e300, ZERO, ZERO
    ea, eb = 0, 0
    for k in range(na if na > 2 else 1):
        a0 = row(table.points, table.index[12 * i + FIRST_POINT] + k)
        a1 = row(table.points, table.index[12 * i + FIRST_POINT] + (k + 1) % na)
        for m in range(nb if nb > 2 else 1):
            b0 = add(turned(R, row(table.points, table.index[12 * j + FIRST_POINT] + m)), p)
            b1 = add(turned(R, row(table.points, table.index[12 * j + FIRST_POINT] + (m + 1) % nb)), p)
            s, t = closest_of_segments(a0, a1, b0, b1)
            gap = sub(t, s)
            if dot(gap, gap) < best:
                best, x, y, ea, eb = dot(gap, gap), s, t, k, m
    gap = sub(y, x)
    distance = norm(gap)
    if distance - apart <= _ROUNDING * (norm(x) + norm(y)):
        # A corner, or an edge, against an edge: its normal is exact where the two points coincide.
        if gap_a >= gap_b:
            n = _edge_normal(table, i, edge_a)
        else:
            n = neg(turned(R, _edge_normal(table, j, edge_b)))
    elif distance > 1e-14 * (ra + rb):
        n = scale(1.0 / distance, gap)
    else:
        n = _out_of(table, i, j, R, ea, eb)
    return ra + rb - distance, n, along(x, ra, n), along(y, -rb, n), ea, eb


@native
def _out_of(table, i, j, R, ea, eb):
    """Return a direction out of cores that cross: square to an edge of either, or any."""
    if table.index[12 * i + POINTS] > 1:
        return _edge_normal(table, i, ea)
    if table.index[12 * j + POINTS] > 1:
        return neg(turned(R, _edge_normal(table, j, eb)))
    return 1.0, 0.0, 0.0


@native
def _edge_normal(table, i, edge):
    """Return the outward normal of an edge."""
    return row(table.points, table.index[12 * i + FIRST_POINT] + table.index[12 * i + POINTS] + edge)


@native
def _lowest(table, j, R, p, n):
    """Return the corner that is farthest against n."""
    first = table.index[12 * j + FIRST_POINT]
    best, low = ZERO, 1e300
    for k in range(table.index[12 * j + POINTS]):
        x = add(turned(R, row(table.points, first + k)), p)
        if dot(n, x) < low:
            best, low = x, dot(n, x)
    return best


@native_apart
def _most_apart(table, i, j, R, p, forward):
    """Return the largest gap along a normal of i between i and j, and its edge; R, p place j in i, or i in
    j. Normals are turned, not corners: n . (R x + p) = (R^T n) . x + n . p."""
    x, n = table.points, table.index[12 * i + POINTS]
    first, other, m = (
        table.index[12 * i + FIRST_POINT],
        table.index[12 * j + FIRST_POINT],
        table.index[12 * j + POINTS],
    )
    best, edge = -1e300, -1
    if n < 2:
        return best, edge
    for k in range(n):
        at, along_k = 3 * (first + k), 3 * (first + n + k)
        a, b = x[along_k], x[along_k + 1]
        offset = a * x[at] + b * x[at + 1]
        if forward:
            offset -= a * p[0] + b * p[1]
            a, b = R[0] * a + R[3] * b, R[1] * a + R[4] * b
        else:
            a, b = R[0] * a + R[1] * b, R[3] * a + R[4] * b
            offset += a * p[0] + b * p[1]
        low = 1e300
        for c in range(other, other + m):
            low = min(low, a * x[3 * c] + b * x[3 * c + 1])
        if low - offset > best:
            best, edge = low - offset, k
    return best, edge


@native
def _facing(table, i, n):
    """Return the edge of polygon i, in its own axes, that looks most along n."""
    best, much = 0, -2.0
    for k in range(table.index[12 * i + POINTS]):
        d = dot(_edge_normal(table, i, k), n)
        if d > much:
            best, much = k, d
    return best


@native_apart
def polygon_polygon(table, i, j, R, p, work, margin):
    """Write the contacts of two polygons in axes of the first, one or two; return how many."""
    depth, n, a, b, _ea, _eb = polygon_distance(table, i, j, R, p)
    if depth < -margin:
        return 0
    na, nb = table.index[12 * i + POINTS], table.index[12 * j + POINTS]
    if na > 1 and nb > 1:
        fa, fb = table.index[12 * i + FIRST_POINT], table.index[12 * j + FIRST_POINT]
        ra, rb = table.size[4 * i], table.size[4 * j]
        ka, kb = _facing(table, i, n), _facing(table, j, neg(turned_back(R, n)))
        a0, a1 = row(table.points, fa + ka), row(table.points, fa + (ka + 1) % na)
        b0 = add(turned(R, row(table.points, fb + kb)), p)
        b1 = add(turned(R, row(table.points, fb + (kb + 1) % nb)), p)
        square_a = dot(_edge_normal(table, i, ka), n)
        square_b = -dot(turned(R, _edge_normal(table, j, kb)), n)
        if max(square_a, square_b) > _ACROSS:
            t = cross(_UP, n)
            low = max(min(dot(t, a0), dot(t, a1)), min(dot(t, b0), dot(t, b1)))
            high = min(max(dot(t, a0), dot(t, a1)), max(dot(t, b0), dot(t, b1)))
            if high > low:
                count, deepest = 0, -1e300
                for k in range(2):
                    s = low if k == 0 else high
                    x, y = _at(a0, a1, t, s), _at(b0, b1, t, s)
                    deep = dot(n, sub(x, y)) + ra + rb
                    if deep >= -margin:
                        x, y = along(x, ra, n), along(y, -rb, n)
                        put_contact(work.raw, work.raw_label, count, x, y, n, deep, 2 * ka + k, 2 * kb + k)
                        deepest = max(deepest, deep)
                        count += 1
                if deepest >= depth - AS_DEEP:
                    return count
    put_contact(work.raw, work.raw_label, 0, a, b, n, depth, -1, -1)
    return 1


@native_apart
def polygon_plane(table, i, m, offset, work, margin):
    """Write the contacts of a polygon and a half-plane in axes of the polygon, one or two; return how
    many."""
    first, r = table.index[12 * i + FIRST_POINT], table.size[4 * i]
    # The two lowest corners; of a polygon they are neighbours.
    deep_a, deep_b, a, b = -1e300, -1e300, 0, -1
    for k in range(table.index[12 * i + POINTS]):
        deep = offset - dot(m, row(table.points, first + k)) + r
        if deep > deep_a:
            deep_a, deep_b, a, b = deep, deep_a, k, (a if deep_a > -1e300 else -1)
        elif deep > deep_b:
            deep_b, b = deep, k
    count = 0
    for which in range(2):
        deep = deep_a if which == 0 else deep_b
        k = a if which == 0 else b
        if deep >= -margin and k >= 0:
            x = along(row(table.points, first + k), -r, m)
            put_contact(work.raw, work.raw_label, count, x, along(x, deep, m), neg(m), deep, k, 0)
            count += 1
    return count


@native
def _at(x, y, t, s):
    """Return the point of a segment whose coordinate along t is s."""
    a, b = dot(t, x), dot(t, y)
    return along(x, (s - a) / (b - a), sub(y, x))
