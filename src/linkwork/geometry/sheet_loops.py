"""The triangles of a mesh in a tree of boxes, as native code: where they cross, how they wind round points.

Faces are sorted along a curve, four to a leaf; the boxes of a complete binary tree stand in a heap, that of
node k over those of 2 k + 1 and 2 k + 2: low x, y, z, high x, y, z. Boxes are in single precision; rounding
keeps the order of numbers, so boxes that meet still do.
"""

import numpy as np

from linkwork.native.numba_functions import entry, native

LEAF = 4  # faces


@native
def _spread(x):
    """Put two zero bits between the bits of a number of 20 bits."""
    x = (x | (x << 32)) & 0x1F00000000FFFF
    x = (x | (x << 16)) & 0x1F0000FF0000FF
    x = (x | (x << 8)) & 0x100F00F00F00F00F
    x = (x | (x << 4)) & 0x10C30C30C30C30C3
    return (x | (x << 2)) & 0x1249249249249249


@entry(None, "float64[:, ::1]", "int64[:, ::1]", "float64[::1]", "float64", "int64", "int64", "int64[::1]")
def curve_keys(points, faces, low, size, bits, shift, key):
    """Say where on Morton's curve the middles of faces are, in a cube of some size, above their numbers.

    The curve has `bits` per axis, of at most 20; the number of a face is in the lowest `shift` bits.
    """
    cells = float(1 << bits)
    for f in range(faces.shape[0]):
        code = 0
        for axis in range(3):
            middle = (points[faces[f, 0], axis] + points[faces[f, 1], axis] + points[faces[f, 2], axis]) / 3.0
            cell = min(max(int((middle - low[axis]) / size * cells), 0), (1 << bits) - 1)
            code |= _spread(cell) << axis
        key[f] = (code << shift) | f


@entry(
    None,
    "float64[:, ::1]",
    "int64[:, ::1]",
    "float64[::1]",
    "int64[::1]",
    "int32[::1]",
    "float64[:, ::1]",
    "int32[:, ::1]",
)
def put_in_order(vertices, faces, origin, order, number, points, sorted_faces):
    """Put faces, and their vertices as they are met, in an order; `number`, of each vertex, begins as -1."""
    count = 0
    for f in range(order.shape[0]):
        for k in range(3):
            vertex = faces[order[f], k]
            if number[vertex] < 0:
                for axis in range(3):
                    points[count, axis] = vertices[vertex, axis] - origin[axis]
                number[vertex] = count
                count += 1
            sorted_faces[f, k] = number[vertex]


@entry(None, "float64[:, ::1]", "int32[:, ::1]", "float32[:, :, ::1]", "float32[:, ::1]")
def fill_boxes(points, faces, own, boxes):
    """Fill the boxes of faces, leaf by leaf, and the heap over them; where a face is missing, nothing is."""
    nodes = boxes.shape[0]
    leaves = (nodes + 1) // 2
    for leaf in range(leaves):
        node = leaf + leaves - 1
        for axis in range(3):
            lowest, highest = np.float32(np.inf), np.float32(-np.inf)
            for k in range(LEAF):
                f = LEAF * leaf + k
                low, high = np.float32(np.inf), np.float32(-np.inf)
                if f < faces.shape[0]:
                    a, b, c = points[faces[f, 0], axis], points[faces[f, 1], axis], points[faces[f, 2], axis]
                    low, high = np.float32(min(a, min(b, c))), np.float32(max(a, max(b, c)))
                own[leaf, axis, k], own[leaf, 3 + axis, k] = low, high
                lowest, highest = min(lowest, low), max(highest, high)
            boxes[node, axis], boxes[node, 3 + axis] = lowest, highest
    for node in range(leaves - 2, -1, -1):
        left, right = 2 * node + 1, 2 * node + 2
        for axis in range(3):
            boxes[node, axis] = min(boxes[left, axis], boxes[right, axis])
            boxes[node, 3 + axis] = max(boxes[left, 3 + axis], boxes[right, 3 + axis])


@native
def _meet(boxes, i, j):
    """Return whether two boxes have a point in common; without branches, which cannot be foretold."""
    x = (boxes[i, 0] <= boxes[j, 3]) & (boxes[j, 0] <= boxes[i, 3])
    y = (boxes[i, 1] <= boxes[j, 4]) & (boxes[j, 1] <= boxes[i, 4])
    return x & y & (boxes[i, 2] <= boxes[j, 5]) & (boxes[j, 2] <= boxes[i, 5])


@native
def _near_faces(own, i, k, j):
    """Return which faces of leaf j have a box that meets that of face k of leaf i, as bits."""
    found = 0
    for g in range(LEAF):
        x = (own[i, 0, k] <= own[j, 3, g]) & (own[j, 0, g] <= own[i, 3, k])
        y = (own[i, 1, k] <= own[j, 4, g]) & (own[j, 1, g] <= own[i, 4, k])
        z = (own[i, 2, k] <= own[j, 5, g]) & (own[j, 2, g] <= own[i, 5, k])
        found |= int(x & y & z) << g
    return found


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
def _crosses(points, faces, f, normal, g, at):
    """Return whether two faces pass through each other, `at` the middle of the points where edges do."""
    if not _straddles(points, faces, f, normal, g):
        return False
    if not _straddles(points, faces, g, _normal(points, faces, g), f):
        return False
    at[0] = at[1] = at[2] = 0.0
    hits = _pierce(points, faces, f, g, at) + _pierce(points, faces, g, f, at)
    for axis in range(3):
        at[axis] /= max(hits, 1)
    return hits > 0


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
    "float32[:, :, ::1]",
    "float32[:, ::1]",
    "int64[::1]",
    "int64[:, ::1]",
    "float64[:, ::1]",
    "int64",
)
def find_crossings(points, faces, own, boxes, stack, pairs, places, most):
    """List pairs of faces that cross, and where: as many as there is room for, evenly spread over all.

    Return how many are listed, or -1 if more than `most` pairs of faces and boxes would be looked at.
    """
    leaves, listed, found, stride, looked = (boxes.shape[0] + 1) // 2, 0, 0, 1, 0
    at = places[places.shape[0] - 1]  # the last place is for work
    room, top = pairs.shape[0] - 1, 0
    stack[0] = stack[1] = 0
    while top >= 0:
        i, j = stack[2 * top], stack[2 * top + 1]
        top -= 1
        looked += 1
        if looked > most:
            return -1
        if i < leaves - 1:  # both are of one level
            for k in range(4):
                left, right = 2 * i + 1 + k // 2, 2 * j + 1 + k % 2
                if left <= right and _meet(boxes, left, right):
                    top += 1
                    stack[2 * top], stack[2 * top + 1] = left, right
            continue
        mine, other = i - leaves + 1, j - leaves + 1
        for k in range(LEAF):
            near, f = _near_faces(own, mine, k, other), LEAF * mine + k
            if i == j:
                near &= -2 << k  # a pair once, and no face with itself
            if near == 0:
                continue
            normal = _normal(points, faces, f)
            for n in range(LEAF):
                g = LEAF * other + n
                if not (near >> n) & 1:
                    continue
                looked += 1
                if not _crosses(points, faces, f, normal, g, at):
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


@native
def _across(points, vertex, turn, axis):
    """Return a coordinate of a vertex in the turned axes: the same bits whichever face asks."""
    return (
        points[vertex, 0] * turn[0, axis]
        + points[vertex, 1] * turn[1, axis]
        + points[vertex, 2] * turn[2, axis]
    )


@native
def _passed(points, faces, f, turn, x, y, z):
    """Return 1 if a ray up from (x, y, z) leaves through a face, -1 if it enters, 0 if it misses.

    An edge is looked at from its lower vertex to its higher for both its faces.
    """
    total = height = 0.0
    turns = 0
    for k in range(3):
        a, b, c = faces[f, k], faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        u, v = min(a, b), max(a, b)
        ux, uy = _across(points, u, turn, 0) - x, _across(points, u, turn, 1) - y
        vx, vy = _across(points, v, turn, 0) - x, _across(points, v, turn, 1) - y
        cross = ux * vy - uy * vx
        area = cross if a < b else -cross
        turns += 1 if (cross >= 0.0) == (a < b) else -1
        total += area
        height += area * (_across(points, c, turn, 2) - z)
    if (turns == 3 or turns == -3) and total != 0.0 and height / total > 0.0:
        return 1 if turns > 0 else -1
    return 0


@native
def _missed(boxes, node, query, inverse, slack):
    """Return whether a ray, of which one over its direction is given, misses a box by more than slack."""
    first, last = 0.0, np.inf
    for axis in range(3):
        low = (boxes[node, axis] - slack - query[axis]) * inverse[axis]
        high = (boxes[node, 3 + axis] + slack - query[axis]) * inverse[axis]
        first, last = max(first, min(low, high)), min(last, max(low, high))
    return first > last


@entry(
    None,
    "float64[:, ::1]",
    "int32[:, ::1]",
    "float32[:, ::1]",
    "float64[:, ::1]",
    "float64",
    "int64[::1]",
    "float64[:, ::1]",
    "int64[::1]",
)
def count_windings(points, faces, boxes, turn, slack, stack, queries, winding):
    """Count how often the surface winds round points: faces passed by a ray, up less down.

    Rays go along the third of the turned axes, none of whose components is zero.
    """
    leaves = (boxes.shape[0] + 1) // 2
    inverse = (1.0 / turn[0, 2], 1.0 / turn[1, 2], 1.0 / turn[2, 2])
    for i in range(queries.shape[0]):
        query = queries[i]
        x, y, z = (
            _across(queries, i, turn, 0),
            _across(queries, i, turn, 1),
            _across(queries, i, turn, 2),
        )
        winding[i], top = 0, 0
        stack[0] = 0
        while top >= 0:
            node = stack[top]
            top -= 1
            if _missed(boxes, node, query, inverse, slack):
                continue
            if node < leaves - 1:
                stack[top + 1], stack[top + 2] = 2 * node + 2, 2 * node + 1
                top += 2
                continue
            first = LEAF * (node - leaves + 1)
            for f in range(first, min(first + LEAF, faces.shape[0])):
                winding[i] += _passed(points, faces, f, turn, x, y, z)
