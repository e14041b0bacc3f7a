"""Where triangles of a mesh pass through each other, as native code; the boxes are those of `sheet_loops`.

Nearly all pairs of faces whose boxes meet are neighbours. Pairs are gathered, some hundreds at a time, and
sifted by what can be said without a decision: a branch that cannot be foretold costs more than the sums.
"""

from linkwork.geometry.sheet_loops import GROUP
from linkwork.native.numba_functions import boxes_met, entry, lowest_bit, memory, native


@native
def _normal(points, faces, f):
    """Return the normal of a face, twice as long as the face is large."""
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    ux, uy, uz = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    vx, vy, vz = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@native
def _height(points, origin, normal, vertex):
    """Return how far a vertex is above the plane of a face, times the length of its normal."""
    x, y, z = normal
    h = (points[vertex, 0] - points[origin, 0]) * x
    h += (points[vertex, 1] - points[origin, 1]) * y
    return h + (points[vertex, 2] - points[origin, 2]) * z


@native
def _is_corner(faces, f, vertex):
    return (faces[f, 0] == vertex) | (faces[f, 1] == vertex) | (faces[f, 2] == vertex)


@native
def _side(points, faces, f, normal, vertex):
    """Return how far a vertex is above face f, times the length of its normal; of its own corners, 0."""
    h = _height(points, faces[f, 0], normal, vertex)
    return 0.0 if _is_corner(faces, f, vertex) else h


@native
def _straddles(points, faces, f, normal, g):
    """Return whether corners of face g lie on both sides of face f; those it shares with it lie on none."""
    a = _side(points, faces, f, normal, faces[g, 0])
    b = _side(points, faces, f, normal, faces[g, 1])
    c = _side(points, faces, f, normal, faces[g, 2])
    return ((a > 0.0) | (b > 0.0) | (c > 0.0)) & ((a < 0.0) | (b < 0.0) | (c < 0.0))


@native
def _volume(points, p, q, x, y):
    """Return (q - p) . ((x - p) x (y - p)) of four vertices."""
    dx, dy, dz = points[q, 0] - points[p, 0], points[q, 1] - points[p, 1], points[q, 2] - points[p, 2]
    ux, uy, uz = points[x, 0] - points[p, 0], points[x, 1] - points[p, 1], points[x, 2] - points[p, 2]
    vx, vy, vz = points[y, 0] - points[p, 0], points[y, 1] - points[p, 1], points[y, 2] - points[p, 2]
    return dx * (uy * vz - uz * vy) + dy * (uz * vx - ux * vz) + dz * (ux * vy - uy * vx)


@native
def _pierce(points, faces, f, g, at):
    """Add to `at` the points in which edges of face f pass through face g, and return how many do."""
    hits, normal = 0, _normal(points, faces, g)
    for k in range(3):
        p, q = faces[f, k], faces[f, (k + 1) % 3]
        if _is_corner(faces, g, p) or _is_corner(faces, g, q):
            continue
        above = _height(points, faces[g, 0], normal, p)
        below = _height(points, faces[g, 0], normal, q)
        if not above * below < 0.0:
            continue
        a, b, c = faces[g, 0], faces[g, 1], faces[g, 2]
        u, v, w = _volume(points, p, q, a, b), _volume(points, p, q, b, c), _volume(points, p, q, c, a)
        if (u > 0.0 and v > 0.0 and w > 0.0) or (u < 0.0 and v < 0.0 and w < 0.0):
            t = above / (above - below)
            for axis in range(3):
                at[axis] += points[p, axis] + t * (points[q, axis] - points[p, axis])
            hits += 1
    return hits


@native
def _crosses(points, faces, f, g, at):
    """Return whether two faces pass through each other, `at` the middle of the points where edges do."""
    if not _straddles(points, faces, f, _normal(points, faces, f), g):
        return False
    if not _straddles(points, faces, g, _normal(points, faces, g), f):
        return False
    at[0] = at[1] = at[2] = 0.0
    hits = _pierce(points, faces, f, g, at) + _pierce(points, faces, g, f, at)
    for axis in range(3):
        at[axis] /= max(hits, 1)
    return hits > 0


@native
def _shared(faces, f, g):
    """Return which corners of face f are corners of face g, as bits."""
    a, b, c = faces[3 * f], faces[3 * f + 1], faces[3 * f + 2]
    x, y, z = faces[3 * g], faces[3 * g + 1], faces[3 * g + 2]
    first = int((a == x) | (a == y) | (a == z))
    second = int((b == x) | (b == y) | (b == z))
    return first | (second << 1) | (int((c == x) | (c == y) | (c == z)) << 2)


@native
def _from(points, v, o):
    """Return vertex v less vertex o."""
    x, y = points[3 * v] - points[3 * o], points[3 * v + 1] - points[3 * o + 1]
    return x, y, points[3 * v + 2] - points[3 * o + 2]


@native
def _heights(p, q, r, s):
    """Return how far r and s lie above the plane through the origin, p and q, times one length."""
    x, y, z = p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]
    return x * r[0] + y * r[1] + z * r[2], x * s[0] + y * s[1] + z * s[2]


@native
def _may_cross(points, faces, f, g, k):
    """Return whether two faces that have but corner k of f in common may cross.

    Both have their other corners, p and q, r and s, on both sides of the other's plane; and from the common
    corner the planes' common line meets the edges p q and r s in the same direction.
    """
    v = faces[3 * f + k]
    m = int(faces[3 * g + 1] == v) | (int(faces[3 * g + 2] == v) << 1)
    # The corners after 0, 1, 2 are 1, 2, 0 and 2, 0, 1: pairs of bits of 9 and of 18.
    p = _from(points, faces[3 * f + ((9 >> 2 * k) & 3)], v)
    q = _from(points, faces[3 * f + ((18 >> 2 * k) & 3)], v)
    r = _from(points, faces[3 * g + ((9 >> 2 * m) & 3)], v)
    s = _from(points, faces[3 * g + ((18 >> 2 * m) & 3)], v)
    hr, hs = _heights(p, q, r, s)
    hp, hq = _heights(r, s, p, q)
    a, b, c, d = abs(hq), abs(hp), abs(hs), abs(hr)
    along = (p[0] * a + q[0] * b) * (r[0] * c + s[0] * d)
    along += (p[1] * a + q[1] * b) * (r[1] * c + s[1] * d)
    along += (p[2] * a + q[2] * b) * (r[2] * c + s[2] * d)
    return (hr * hs < 0.0) & (hp * hq < 0.0) & (along >= 0.0)


@native
def _sifted(points, faces, batch, count):
    """Keep pairs of faces that may cross, and return how many they are.

    Those with an edge in common cannot; those with a corner in common hardly ever.
    """
    kept = 0
    for c in range(count):
        f, g = batch[c, 0], batch[c, 1]
        shared = _shared(faces, f, g)
        batch[kept, 0], batch[kept, 1], batch[kept, 2] = f, g, shared
        kept += int((shared & (shared - 1)) == 0)
    count, kept = kept, 0
    for c in range(count):
        f, g, shared = batch[c, 0], batch[c, 1], batch[c, 2]
        batch[kept, 0], batch[kept, 1] = f, g
        kept += int((shared == 0) | _may_cross(points, faces, f, g, shared >> 1))
    return kept


@native
def _gathered(start, boxes, stack, top, batch):
    """Descend pairs of groups until the batch is full; return what is on the stack, and how many pairs."""
    count, looked = 0, 0
    while top >= 0 and count + GROUP * GROUP <= batch.shape[0]:
        level, i, j = stack[top, 0], stack[top, 1], stack[top, 2]
        top -= 1
        looked += GROUP
        for k in range(GROUP):
            near = boxes_met(boxes, start[level] + i, k, start[level] + j)
            if i == j:
                near &= (-1 if level else -2) << k  # a pair once, and no face with itself
            while near:
                one, other = GROUP * i + k, GROUP * j + lowest_bit(near)
                near &= near - 1
                if level:
                    top += 1
                    stack[top, 0], stack[top, 1], stack[top, 2] = level - 1, one, other
                else:
                    batch[count, 0], batch[count, 1] = one, other
                    count += 1
    return top, count, looked


@native
def _keep(pairs, places, listed, stride):
    """Drop every second pair of a full list; return how many there are, and of how many one is listed."""
    kept = (listed + 1) // 2
    for k in range(kept):
        for axis in range(3):
            places[k, axis] = places[2 * k, axis]
        pairs[k, 0], pairs[k, 1] = pairs[2 * k, 0], pairs[2 * k, 1]
    return kept, 2 * stride


@entry(
    "int64",
    "float64[:, ::1]",
    "int32[:, ::1]",
    "int64[::1]",
    "float32[:, :, ::1]",
    "int64[:, ::1]",
    "int64[:, ::1]",
    "int64[:, ::1]",
    "float64[:, ::1]",
    "int64",
)
def find_crossings(points, faces, start, boxes, stack, batch, pairs, places, most):
    """List pairs of faces that cross, and where: up to the room that there is, evenly spread over all.

    Return how many are listed, or -1 if more than `most` pairs of faces and boxes would be looked at.
    """
    listed, found, stride, looked = 0, 0, 1, 0
    at = places[places.shape[0] - 1]  # the last place is for work
    room, top = pairs.shape[0] - 1, 0
    stack[0, 0], stack[0, 1], stack[0, 2] = start.shape[0] - 2, 0, 0
    while top >= 0:
        top, count, more = _gathered(start, memory(boxes), stack, top, batch)
        looked += more + count
        if looked > most:
            return -1
        for c in range(_sifted(memory(points), memory(faces), batch, count)):
            f, g = batch[c, 0], batch[c, 1]
            if not _crosses(points, faces, f, g, at):
                continue
            if found % stride == 0 and listed == room:
                listed, stride = _keep(pairs, places, listed, stride)
            if found % stride == 0:
                pairs[listed, 0], pairs[listed, 1] = f, g
                for axis in range(3):
                    places[listed, axis] = at[axis]
                listed += 1
            found += 1
    return listed
