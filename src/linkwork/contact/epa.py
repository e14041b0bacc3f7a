"""depth, normal <- two convex cores that overlap: the expanding polytope (van den Bergen 2001), then
polished.

The depth is the distance of the origin from the surface of A - B. A polytope inside A - B grows where its
surface is closest to the origin; for polytopes it ends at a face of A - B, exactly. A curved surface is never
reached by flat faces, so from a face that is nearly there Newton's method takes over (`polish`), and
directions round its result need no finer faces.
"""

from linkwork.contact.gjk import triangle_weights
from linkwork.contact.polish import polish
from linkwork.contact.support import curved, difference
from linkwork.contact.table import MOST_FACES, MOST_VERTICES
from linkwork.contact.vectors import (
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
from linkwork.trace.compiled import native, native_apart

_EXACT = 1e-13  # of the size of A - B: a face of it is reached
_ROUGH = 0.02  # of the depth and the size: near enough to polish
_CONE = 0.998  # cosine of the angle round a polished direction in which no other is looked for
_NARROW = 0.9995  # the same where the direction is that of a flat face
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
        w, a = difference(A, B, R, p, normal)
        return max(dot(w, normal), 0.0), normal, a
    size = 0.0
    for k in range(4):
        size = max(size, norm(row(work.w, k)))
    bends = curved(A) or curved(B)
    vertices, faces = 4, 4
    best, normal, point = 1e300, (0.0, 0.0, 1.0), ZERO
    polished = 0
    rough = _ROUGH
    while True:
        lowest, low = -1, best - _EXACT * size
        for f in range(faces):
            if work.face[7 * f + 6] == 1 and work.plane[4 * f + 3] < low:
                claimed = False
                if polished > 0:
                    d = three(work.plane, 4 * f)
                    claimed = _claimed(work, d, polished)
                if not claimed:
                    lowest, low = f, work.plane[4 * f + 3]
        if lowest < 0:
            break
        d = three(work.plane, 4 * lowest)
        w, a = difference(A, B, R, p, d)
        far = dot(w, d)
        gap = far - low
        if gap <= _EXACT * size:
            if far < best:
                best, normal, point = far, d, _on_face(work, lowest)
            break
        if bends and polished < _POLISHED and far < best and gap <= rough * (far + 0.2 * size):
            i, j, k = work.face[7 * lowest + 0], work.face[7 * lowest + 1], work.face[7 * lowest + 2]
            l = triangle_weights(row(work.w, i), row(work.w, j), row(work.w, k))
            level, h, n, foot = polish(A, B, R, p, work.w, work.a, i, j, k, l, d, 3)
            if level > 0:
                if h < best:
                    best, normal, point = h, n, foot
                _claim(work, polished, n, level)
                polished += 1
                if _claimed(work, d, polished):
                    continue
            else:
                rough *= 0.2  # too early: the faces here do not tell yet which corners and rims meet
        if vertices == MOST_VERTICES - 8:
            if far < best:
                best, normal, point = far, d, _on_face(work, lowest)
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
def _claim(work, k, n, level):
    """Note the direction of a polished minimum; round a flat face of A - B another may begin
    soon, on a smooth surface hardly."""
    put(work.claim, 2 * k, n)
    work.claim[6 * k + 3] = _NARROW if level == 3 else _CONE


@native
def _claimed(work, d, polished):
    """Tell whether a face belongs to a minimum already found: its direction is close by."""
    claimed = False
    for k in range(polished):
        claimed = claimed or dot(d, row(work.claim, 2 * k)) > work.claim[6 * k + 3]
    return claimed


@native
def _on_face(work, f):
    """Return the point of A in the foot of the origin on a face."""
    i, j, k = work.face[7 * f + 0], work.face[7 * f + 1], work.face[7 * f + 2]
    l0, l1, l2 = triangle_weights(row(work.w, i), row(work.w, j), row(work.w, k))
    return along(along(scale(l0, row(work.a, i)), l1, row(work.a, j)), l2, row(work.a, k))


@native_apart
def _tetrahedron(A, B, R, p, work, n):
    """Complete the simplex to a tetrahedron and link its faces; return how many corners were found."""
    if n < 2:
        n = 1
        for axis in range(6):
            s = 1.0 if axis < 3 else -1.0
            d = (s * (axis % 3 == 0), s * (axis % 3 == 1), s * (axis % 3 == 2))
            w, a = difference(A, B, R, p, d)
            gap = sub(w, row(work.w, 0))
            if dot(gap, gap) > 1e-24 * (1.0 + dot(w, w)) * dot(w, w):
                put(work.w, 1, w)
                put(work.a, 1, a)
                n = 2
                break
        if n < 2:
            put(work.w, 1, add(row(work.w, 0), (1.0, 0.0, 0.0)))
            return 1
    if n < 3:
        ab = sub(row(work.w, 1), row(work.w, 0))
        e = normal_to(ab)
        f = unit(cross(ab, e))
        for axis in range(4):
            d = e if axis == 0 else (neg(e) if axis == 1 else (f if axis == 2 else neg(f)))
            w, a = difference(A, B, R, p, d)
            area = cross(ab, sub(w, row(work.w, 0)))
            if dot(area, area) > 1e-20 * dot(ab, ab) * dot(ab, ab):
                put(work.w, 2, w)
                put(work.a, 2, a)
                n = 3
                break
        if n < 3:
            return 2
    if n < 4:
        normal = unit(cross(sub(row(work.w, 1), row(work.w, 0)), sub(row(work.w, 2), row(work.w, 0))))
        size = norm(sub(row(work.w, 1), row(work.w, 0))) + norm(sub(row(work.w, 2), row(work.w, 0)))
        for side in range(2):
            d = normal if side == 0 else neg(normal)
            w, a = difference(A, B, R, p, d)
            if abs(dot(normal, sub(w, row(work.w, 0)))) > 1e-12 * size:
                put(work.w, 3, w)
                put(work.a, 3, a)
                n = 4
                break
        if n < 4:
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
    _link(work, 0, 0, 1, 2, 1, 2, 3)
    _link(work, 1, 1, 0, 3, 0, 3, 2)
    _link(work, 2, 2, 1, 3, 0, 1, 3)
    _link(work, 3, 0, 2, 3, 0, 2, 1)
    return 4


@native
def _link(work, f, i, j, k, across_ij, across_jk, across_ki):
    """Write a face: corners, neighbours, plane. A sliver without area is never the lowest."""
    face = work.face
    face[7 * f + 0], face[7 * f + 1], face[7 * f + 2] = i, j, k
    face[7 * f + 3], face[7 * f + 4], face[7 * f + 5] = across_ij, across_jk, across_ki
    face[7 * f + 6] = 1
    x, y = sub(row(work.w, j), row(work.w, i)), sub(row(work.w, k), row(work.w, i))
    n = cross(x, y)
    if dot(n, n) > 1e-26 * dot(x, x) * dot(y, y):
        n = unit(n)
        put_three(work.plane, 4 * f, n)
        work.plane[4 * f + 3] = (
            dot(n, row(work.w, i)) + dot(n, row(work.w, j)) + dot(n, row(work.w, k))
        ) / 3.0
    else:
        put_three(work.plane, 4 * f, ZERO)
        work.plane[4 * f + 3] = 1e300


@native_apart
def _expand(work, first, vertex, faces, size):
    """Replace the faces that the new corner sees by a fan from their rim to it; return how many faces there
    are.

    A negative number if rounding has torn the surface.
    """
    face, stack, edges = work.face, work.stack, work.edges
    w = row(work.w, vertex)
    seen, rim, waiting = 0, 0, 1
    stack[2 * 0] = first
    face[7 * first + 6] = 2
    while seen < waiting:
        f = stack[2 * seen]
        seen += 1
        for e in range(3):
            g = face[7 * f + 3 + e]
            if face[7 * g + 6] == 2:
                continue
            if (
                work.plane[4 * g + 3] > 1e299
                or dot(three(work.plane, 4 * g), w) - work.plane[4 * g + 3] > 1e-14 * size
            ):
                face[7 * g + 6] = 2
                stack[2 * waiting] = g
                waiting += 1
            else:
                edges[3 * rim + 0] = face[7 * f + e]
                edges[3 * rim + 1] = face[7 * f + (e + 1) % 3]
                edges[3 * rim + 2] = g
                rim += 1
    if rim < 3 or faces + rim - seen > MOST_FACES:
        return -1
    for k in range(rim):
        work.fan[edges[3 * k + 0]] = k
    for k in range(rim):
        after = work.fan[edges[3 * k + 1]]
        if not (0 <= after < rim) or edges[3 * after + 0] != edges[3 * k + 1]:
            return -1
    # New faces take the places of the old ones, then new places.
    for k in range(seen):
        face[7 * stack[2 * k] + 6] = 0
    for k in range(rim):
        stack[2 * k + 1] = stack[2 * k] if k < seen else faces + k - seen
    for k in range(rim):
        i, j, g = edges[3 * k + 0], edges[3 * k + 1], edges[3 * k + 2]
        f = stack[2 * k + 1]
        before = -1
        for m in range(rim):
            if edges[3 * m + 1] == i:
                before = m
        if before < 0:
            return -1
        _link(work, f, i, j, vertex, g, stack[2 * work.fan[j] + 1], stack[2 * before + 1])
        for e in range(3):
            if face[7 * g + e] == j and face[7 * g + (e + 1) % 3] == i:
                face[7 * g + 3 + e] = f
    return max(faces, faces + rim - seen)
