"""depth, normal <- two convex cores that overlap: the expanding polytope (van den Bergen 2001), then
polished.

A and B overlap if the origin is inside A - B, the set of differences of their points. The depth is its
distance from the surface of A - B, the normal the direction to the nearest point there: along it B has to be
moved so far. A polytope whose corners are points of A - B lies inside A - B. So of its faces the one nearest
to the origin, at `low`, bounds the depth from below, and the support point of A - B along that face's normal,
at `far`, bounds it from above: the plane across the normal at `far` has all of A - B on one side.

    low <= depth <= far

While they differ the support point becomes a corner: the faces that it sees are taken away, and what is left
open, a ring of edges, is closed by a fan of new faces. For polytopes this ends at a face of A - B, exactly. A
curved surface is never reached by flat faces: from a face that is nearly there Newton's method takes over
(`polish`), and directions round its result, the part of the sphere that it *claims*, need no finer faces.

Faces are linked by edges: `4 * face + edge` names the edge of a face, after its corner 0, 1 or 2, in one
number; `number >> 2` is the face again and `number & 3` the edge.
"""

from math import sqrt

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.depth_newton import polish
from linkwork.contact.gjk import triangle_weights
from linkwork.contact.shape_table import MOST_FACES, MOST_VERTICES
from linkwork.contact.support import curved, difference, difference_apart
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    cross,
    dot,
    neg,
    norm,
    normal_to,
    put,
    put_three,
    row,
    scale,
    sub,
    three,
    unit,
)

_EXACT = 1e-13  # of the size of A - B: a face of it is reached
_ROUGH = 0.02  # of the depth and the size: near enough to polish
_NEVER, _GONE = 1e300, 2e300  # offsets of faces: without area, no longer there
_SMOOTH, _CORNER = 0.998, 0.9999995  # cosines of the angle round a minimum in which no other is looked for
_EDGE = 0.25  # and where two branches meet: such a part of slope / h
_POLISHED = 8  # local searches at most


@native_apart
def penetration(A, B, R, p, work, n):
    """Return depth, normal from a to b in axes of A, and the deepest point of A.

    The first n rows of `work.w` and `work.a` are the simplex with which gjk found the cores to overlap.
    """
    count = _tetrahedron(A, B, R, p, work, n)
    if count < 4:  # A - B is flat: it lies in a plane through the origin
        normal = unit(cross(sub(row(work.w, 1), row(work.w, 0)), sub(row(work.w, 2), row(work.w, 0))))
        if count < 3:
            normal = normal_to(sub(row(work.w, 1), row(work.w, 0)))
        w, a = difference_apart(A, B, R, p, normal)
        return max(dot(w, normal), 0.0), normal, a
    size = 0.0
    for k in range(4):
        size = max(size, norm(row(work.w, k)))
    bends = curved(A) or curved(B)
    vertices, faces = 4, 4
    best, normal, point = 1e300, (0.0, 0.0, 1.0), ZERO
    least, along_least, reached = 1e300, (0.0, 0.0, 1.0), ZERO
    polished = 0
    rough = _ROUGH
    while True:
        lowest = _lowest(work.low, faces)
        low = work.low[lowest]
        if not low < best - _EXACT * size:
            break
        d = three(work.plane, 4 * lowest)
        if _claimed(work, d, low, best, polished):
            work.low[lowest] = _NEVER
            continue
        w, a = difference(A, B, R, p, d)
        far = dot(w, d)
        gap = far - low
        if bends and polished < _POLISHED and far < best and gap <= rough * (far + 0.2 * size):
            i, j, k = corners = _corners(work, lowest)
            l = triangle_weights(row(work.w, i), row(work.w, j), row(work.w, k))
            level, h, n, foot, slope = polish(A, B, R, p, work.w, work.a, corners, l, d, 3)
            if level > 0:
                if h < best:
                    best, normal, point = h, n, foot
                _claim(work, polished, n, level, h, slope)
                polished += 1
                if _claimed(work, d, low, best, polished):
                    continue
            else:
                rough *= 0.2  # too early: which corners and rims meet does not follow from the faces here yet
        if gap <= _EXACT * size:
            if far < best:
                best, normal, point = far, d, _on_face(work, lowest, faces, size)
            break
        if far < least:
            least, along_least, reached = far, d, a
        if vertices == MOST_VERTICES - 8:  # the least upper bound there was
            if least < best:
                best, normal, point = least, along_least, reached
            break
        put(work.w, vertices, w)
        put(work.a, vertices, a)
        size = max(size, norm(w))
        grown = _expand(work, lowest, vertices, faces, size)
        vertices += 1
        if grown < 0:
            if far < best:
                best, normal, point = far, d, a
            break
        faces = grown
    return best, normal, point


@native
def _lowest(low, many):
    """Return where the lowest of at least two numbers is, in two runs side by side as in `farthest`."""
    i, j = 0, 1
    f, g = low[0], low[1]
    for k in range(2, many - 1, 2):
        x, y = low[k], low[k + 1]
        i, f = (k if x < f else i), min(f, x)
        j, g = (k + 1 if y < g else j), min(g, y)
    if many & 1:
        x = low[many - 1]
        i, f = (many - 1 if x < f else i), min(f, x)
    return j if g < f or (g == f and j < i) else i


@native
def _claim(work, k, n, level, h, slope):
    """Note a polished minimum: its direction, and cosines of two angles round it.

    Inside the first no other is looked for: on a smooth surface a few degrees, where branches meet a little.
    Inside the second there is none. A branch is convex, so it reaches at least n.w_i cos t + e.w_i sin t in
    the direction n cos t + e sin t. With three branches every e has an e.w_i >= slope, so the depth is not
    less than h up to tan(t / 2) = slope / h.
    """
    put_three(work.claim, 5 * k, n)
    narrow, sure = _SMOOTH, 1.0
    if level == 2:
        narrow = max(_SMOOTH, 1.0 - 0.5 * (_EDGE * slope / max(h, 1e-300)) ** 2)
    elif level == 3:
        narrow = _CORNER
        sure = (h * h - slope * slope) / (h * h + slope * slope)
    work.claim[5 * k + 3], work.claim[5 * k + 4] = narrow, sure


@native
def _claimed(work, d, low, best, polished):
    """Return whether all of a face that is closer to the origin than `best` belongs to a minimum found."""
    claimed = False
    for k in range(polished):
        cosine = dot(d, three(work.claim, 5 * k))
        if cosine > work.claim[5 * k + 3]:
            claimed = True
        elif cosine > work.claim[5 * k + 4] and low > 0.0:
            # What is closer is a disc, seen from the origin under an angle with this cosine.
            c = low / best
            claimed = claimed or (
                cosine * c - sqrt(max((1.0 - cosine * cosine) * (1.0 - c * c), 0.0)) > work.claim[5 * k + 4]
            )
    return claimed


@native
def _corners(work, f):
    """Return the numbers of the three corners of a face."""
    return work.face[6 * f + 0], work.face[6 * f + 1], work.face[6 * f + 2]


@native_apart
def _on_face(work, lowest, faces, size):
    """Return the point of A in the foot of the origin on a face.

    A face of A - B may be several triangles of the polytope: the foot is in one of them, or nearest to it.
    """
    d, low = three(work.plane, 4 * lowest), work.plane[4 * lowest + 3]
    foot, point, nearest = scale(low, d), ZERO, 1e300
    for f in range(faces):
        if abs(work.low[f] - low) > 1e-9 * size or dot(three(work.plane, 4 * f), d) < 1.0 - 1e-9:
            continue
        i, j, k = _corners(work, f)
        l0, l1, l2 = triangle_weights(row(work.w, i), row(work.w, j), row(work.w, k))
        x = along(along(scale(l0, row(work.w, i)), l1, row(work.w, j)), l2, row(work.w, k))
        gap = sub(x, foot)
        if dot(gap, gap) < nearest:
            nearest = dot(gap, gap)
            point = along(along(scale(l0, row(work.a, i)), l1, row(work.a, j)), l2, row(work.a, k))
    return point


@native_apart
def _second(A, B, R, p, work):
    """Return whether a point of A - B away from corner 0 is found, along one of the axes; it is corner 1."""
    for axis in range(6):
        s = 1.0 if axis < 3 else -1.0
        d = (s * (axis % 3 == 0), s * (axis % 3 == 1), s * (axis % 3 == 2))
        w, a = difference_apart(A, B, R, p, d)
        gap = sub(w, row(work.w, 0))
        if dot(gap, gap) > 1e-24 * (1.0 + dot(w, w)) * dot(w, w):
            put(work.w, 1, w)
            put(work.a, 1, a)
            return True
    put(work.w, 1, add(row(work.w, 0), (1.0, 0.0, 0.0)))
    return False


@native_apart
def _third(A, B, R, p, work):
    """Return whether a point off the line of corners 0 and 1 is found, to four sides of it: corner 2."""
    ab = sub(row(work.w, 1), row(work.w, 0))
    e = normal_to(ab)
    f = unit(cross(ab, e))
    for axis in range(4):
        d = e if axis == 0 else (neg(e) if axis == 1 else (f if axis == 2 else neg(f)))
        w, a = difference_apart(A, B, R, p, d)
        area = cross(ab, sub(w, row(work.w, 0)))
        if dot(area, area) > 1e-20 * dot(ab, ab) * dot(ab, ab):
            put(work.w, 2, w)
            put(work.a, 2, a)
            return True
    return False


@native_apart
def _fourth(A, B, R, p, work):
    """Return whether a point off the plane of corners 0, 1 and 2 is found, to either side: corner 3."""
    x, y = sub(row(work.w, 1), row(work.w, 0)), sub(row(work.w, 2), row(work.w, 0))
    normal = unit(cross(x, y))
    size = norm(x) + norm(y)
    for side in range(2):
        d = normal if side == 0 else neg(normal)
        w, a = difference_apart(A, B, R, p, d)
        if abs(dot(normal, sub(w, row(work.w, 0)))) > 1e-12 * size:
            put(work.w, 3, w)
            put(work.a, 3, a)
            return True
    return False


@native_apart
def _tetrahedron(A, B, R, p, work, n):
    """Complete the simplex to a tetrahedron and link its faces; return how many corners were found."""
    if n < 2 and not _second(A, B, R, p, work):
        return 1
    if n < 3 and not _third(A, B, R, p, work):
        return 2
    if n < 4 and not _fourth(A, B, R, p, work):
        return 3
    x = sub(row(work.w, 1), row(work.w, 0))
    y = sub(row(work.w, 2), row(work.w, 0))
    z = sub(row(work.w, 3), row(work.w, 0))
    if dot(cross(x, y), z) > 0.0:  # the face 012 looks away from 3
        w, a = row(work.w, 1), row(work.a, 1)
        put(work.w, 1, row(work.w, 2))
        put(work.a, 1, row(work.a, 2))
        put(work.w, 2, w)
        put(work.a, 2, a)
    _link(work, 0, 0, 1, 2, 4 * 1, 4 * 2, 4 * 3)
    _link(work, 1, 1, 0, 3, 4 * 0, 4 * 3 + 2, 4 * 2 + 1)
    _link(work, 2, 2, 1, 3, 4 * 0 + 1, 4 * 1 + 2, 4 * 3 + 1)
    _link(work, 3, 0, 2, 3, 4 * 0 + 2, 4 * 2 + 2, 4 * 1 + 1)
    return 4


@native
def _link(work, f, i, j, k, across_ij, across_jk, across_ki):
    """Write a face: corners, the edges across (4 * face + edge), plane. A sliver without area is never the
    lowest."""
    face, plane = work.face, work.plane
    face[6 * f + 0], face[6 * f + 1], face[6 * f + 2] = i, j, k
    face[6 * f + 3], face[6 * f + 4], face[6 * f + 5] = across_ij, across_jk, across_ki
    o = row(work.w, i)
    x, y = sub(row(work.w, j), o), sub(row(work.w, k), o)
    n = cross(x, y)
    nn = dot(n, n)
    if nn > 1e-26 * dot(x, x) * dot(y, y):
        n = scale(1.0 / sqrt(nn), n)
        put_three(plane, 4 * f, n)
        plane[4 * f + 3] = dot(n, o)
    else:
        put_three(plane, 4 * f, ZERO)
        plane[4 * f + 3] = _NEVER
    work.low[f] = plane[4 * f + 3]


@native_apart
def _expand(work, first, vertex, faces, size):
    """Replace the faces that the new corner sees by a fan from their rim to it; return how many faces there
    are.

    The rim is walked leftwards, so that its edges follow each other (van den Bergen 2001, section 4). A
    negative number if rounding has torn it.
    """
    face, plane, edges = work.face, work.plane, work.edges
    seen, todo = work.stack, work.stack  # faces from 0 on, edges to cross from MOST_FACES on
    w = row(work.w, vertex)
    plane[4 * first + 3] = work.low[first] = _GONE
    seen[0] = first
    count, rim, top = 1, 0, MOST_FACES + 3
    for e in range(3):
        todo[MOST_FACES + e] = face[6 * first + 5 - e]
    while top > MOST_FACES:
        top -= 1
        h = todo[top]
        f, e = h >> 2, h & 3
        after = e + 1 if e < 2 else 0
        offset = plane[4 * f + 3]
        if offset == _GONE:
            continue
        if offset == _NEVER or dot(three(plane, 4 * f), w) - offset > 1e-14 * size:
            plane[4 * f + 3] = work.low[f] = _GONE
            seen[count] = f
            count += 1
            todo[top], todo[top + 1] = (
                face[6 * f + 3 + (after + 1 if after < 2 else 0)],
                face[6 * f + 3 + after],
            )
            top += 2
        else:
            edges[3 * rim], edges[3 * rim + 1], edges[3 * rim + 2] = face[6 * f + after], face[6 * f + e], h
            rim += 1
    if rim < 3 or faces + rim - count > MOST_FACES:
        return -1
    for k in range(rim):
        if edges[3 * k + 1] != edges[3 * (k + 1 if k + 1 < rim else 0)]:
            return -1
    # New faces take the places of the old ones, then new places.
    for k in range(count, rim):
        seen[k] = faces + k - count
    for k in range(rim):
        i, j, h = edges[3 * k], edges[3 * k + 1], edges[3 * k + 2]
        f, before, after = seen[k], seen[k - 1 if k > 0 else rim - 1], seen[k + 1 if k + 1 < rim else 0]
        _link(work, f, i, j, vertex, h, 4 * after + 2, 4 * before + 1)
        face[6 * (h >> 2) + 3 + (h & 3)] = 4 * f
    return max(faces, faces + rim - count)
