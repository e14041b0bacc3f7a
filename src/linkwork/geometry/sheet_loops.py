"""The triangles of a mesh in a tree of boxes, as native code: where they cross, how they wind round points.

Faces are sorted along a curve, four to a leaf; the boxes of a complete binary tree stand in a heap, that of
node k over those of 2 k + 1 and 2 k + 2: low x, y, z, high x, y, z.
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


@entry(None, "float64[:, ::1]", "int64[:, ::1]", "float64[::1]", "float64", "int64[::1]")
def curve_codes(points, faces, low, size, code):
    """Say where on Morton's curve the middles of faces are, in a cube of some size."""
    for f in range(faces.shape[0]):
        code[f] = 0
        for axis in range(3):
            middle = (points[faces[f, 0], axis] + points[faces[f, 1], axis] + points[faces[f, 2], axis]) / 3.0
            cell = min(max(int((middle - low[axis]) / size * 1048576.0), 0), 1048575)
            code[f] |= _spread(cell) << axis


@entry(None, "float64[:, ::1]", "int64[:, ::1]", "float64[:, ::1]")
def fill_boxes(points, faces, boxes):
    """Fill the heap of boxes, leaves first."""
    nodes = boxes.shape[0]
    leaves = (nodes + 1) // 2
    for node in range(nodes - 1, -1, -1):
        if node < leaves - 1:
            left, right = 2 * node + 1, 2 * node + 2
            for axis in range(3):
                boxes[node, axis] = min(boxes[left, axis], boxes[right, axis])
                boxes[node, 3 + axis] = max(boxes[left, 3 + axis], boxes[right, 3 + axis])
            continue
        first = LEAF * (node - leaves + 1)
        for axis in range(3):
            low, high = np.inf, -np.inf
            for f in range(first, min(first + LEAF, faces.shape[0])):
                a, b, c = points[faces[f, 0], axis], points[faces[f, 1], axis], points[faces[f, 2], axis]
                low, high = min(low, min(a, min(b, c))), max(high, max(a, max(b, c)))
            boxes[node, axis], boxes[node, 3 + axis] = low, high


@native
def _apart(boxes, i, j):
    for axis in range(3):
        if boxes[i, axis] > boxes[j, 3 + axis] or boxes[j, axis] > boxes[i, 3 + axis]:
            return True
    return False


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
    return faces[f, 0] == vertex or faces[f, 1] == vertex or faces[f, 2] == vertex


@native
def _straddles(points, faces, f, g):
    """Return whether corners of face g lie on both sides of face f; those it shares with it lie on none."""
    above = below = False
    normal = _normal(points, faces, f)
    for k in range(3):
        vertex = faces[g, k]
        if not _is_corner(faces, f, vertex):
            h = _height(points, faces[f, 0], normal, vertex)
            above, below = above or h > 0.0, below or h < 0.0
    return above and below


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
    if not (_straddles(points, faces, f, g) and _straddles(points, faces, g, f)):
        return False
    at[0] = at[1] = at[2] = 0.0
    hits = _pierce(points, faces, f, g, at) + _pierce(points, faces, g, f, at)
    for axis in range(3):
        at[axis] /= max(hits, 1)
    return hits > 0


@native
def _face_apart(points, faces, f, boxes, node):
    for axis in range(3):
        a, b, c = points[faces[f, 0], axis], points[faces[f, 1], axis], points[faces[f, 2], axis]
        if min(a, b, c) > boxes[node, 3 + axis] or max(a, b, c) < boxes[node, axis]:
            return True
    return False


@native
def _faces_apart(points, faces, f, g):
    for axis in range(3):
        a, b, c = points[faces[f, 0], axis], points[faces[f, 1], axis], points[faces[f, 2], axis]
        d, e, h = points[faces[g, 0], axis], points[faces[g, 1], axis], points[faces[g, 2], axis]
        if min(a, b, c) > max(d, e, h) or min(d, e, h) > max(a, b, c):
            return True
    return False


@native
def _shared(faces, f, g):
    count = 0
    for k in range(3):
        if _is_corner(faces, f, faces[g, k]):
            count += 1
    return count


@entry(
    "int64",
    "float64[:, ::1]",
    "int64[:, ::1]",
    "float64[:, ::1]",
    "int64[::1]",
    "int64[:, ::1]",
    "float64[:, ::1]",
    "int64",
)
def find_crossings(points, faces, boxes, stack, pairs, places, most):
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
        if i != j and _apart(boxes, i, j):
            continue
        if i < leaves - 1:  # both are of one level
            for k in range(4):
                left, right = 2 * i + 1 + k // 2, 2 * j + 1 + k % 2
                if left <= right:
                    top += 1
                    stack[2 * top], stack[2 * top + 1] = left, right
            continue
        mine, other = LEAF * (i - leaves + 1), LEAF * (j - leaves + 1)
        for f in range(mine, min(mine + LEAF, faces.shape[0])):
            if _face_apart(points, faces, f, boxes, j):
                continue
            for g in range(f + 1 if i == j else other, min(other + LEAF, faces.shape[0])):
                looked += 1
                if _shared(faces, f, g) > 1 or _faces_apart(points, faces, f, g):
                    continue
                if not _crosses(points, faces, f, g, at):
                    continue
                if found % stride == 0 and listed == room:
                    listed = (room + 1) // 2
                    for k in range(listed):
                        for axis in range(3):
                            places[k, axis] = places[2 * k, axis]
                        pairs[k, 0], pairs[k, 1] = pairs[2 * k, 0], pairs[2 * k, 1]
                    stride *= 2
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
def _missed(boxes, node, query, turn, slack):
    """Return whether a ray along the third of the turned axes misses a box by more than slack."""
    first, last = 0.0, np.inf
    for axis in range(3):
        along = turn[axis, 2]
        low, high = boxes[node, axis] - slack - query[axis], boxes[node, 3 + axis] + slack - query[axis]
        first, last = max(first, min(low / along, high / along)), min(last, max(low / along, high / along))
    return first > last


@entry(
    None,
    "float64[:, ::1]",
    "int64[:, ::1]",
    "float64[:, ::1]",
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
            if _missed(boxes, node, query, turn, slack):
                continue
            if node < leaves - 1:
                stack[top + 1], stack[top + 2] = 2 * node + 2, 2 * node + 1
                top += 2
                continue
            first = LEAF * (node - leaves + 1)
            for f in range(first, min(first + LEAF, faces.shape[0])):
                winding[i] += _passed(points, faces, f, turn, x, y, z)
