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
        for axis in range(3):
            boxes[node, axis], boxes[node, 3 + axis] = np.inf, -np.inf
        if node >= leaves - 1:
            first = LEAF * (node - leaves + 1)
            for f in range(first, min(first + LEAF, faces.shape[0])):
                for corner in range(3):
                    for axis in range(3):
                        x = points[faces[f, corner], axis]
                        boxes[node, axis] = min(boxes[node, axis], x)
                        boxes[node, 3 + axis] = max(boxes[node, 3 + axis], x)
        else:
            for child in range(2 * node + 1, 2 * node + 3):
                for axis in range(3):
                    boxes[node, axis] = min(boxes[node, axis], boxes[child, axis])
                    boxes[node, 3 + axis] = max(boxes[node, 3 + axis], boxes[child, 3 + axis])


@native
def _apart(boxes, i, j):
    for axis in range(3):
        if boxes[i, axis] > boxes[j, 3 + axis] or boxes[j, axis] > boxes[i, 3 + axis]:
            return True
    return False


@native
def _height(points, faces, normals, f, vertex):
    """Return how far a vertex is above the plane of a face, times the length of its normal."""
    origin = faces[f, 0]
    h = 0.0
    for axis in range(3):
        h += (points[vertex, axis] - points[origin, axis]) * normals[f, axis]
    return h


@native
def _is_corner(faces, f, vertex):
    return faces[f, 0] == vertex or faces[f, 1] == vertex or faces[f, 2] == vertex


@native
def _straddles(points, faces, normals, f, g):
    """Return whether corners of face g lie on both sides of face f; those it shares with it lie on none."""
    above = below = False
    for k in range(3):
        vertex = faces[g, k]
        if not _is_corner(faces, f, vertex):
            h = _height(points, faces, normals, f, vertex)
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
def _pierce(points, faces, normals, f, g, at):
    """Add to `at` the points in which edges of face f pass through face g, and return how many do."""
    hits = 0
    for k in range(3):
        p, q = faces[f, k], faces[f, (k + 1) % 3]
        if _is_corner(faces, g, p) or _is_corner(faces, g, q):
            continue
        above, below = _height(points, faces, normals, g, p), _height(points, faces, normals, g, q)
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
def _crosses(points, faces, normals, f, g, at):
    """Return whether two faces pass through each other, `at` the middle of the points where edges do."""
    if not (_straddles(points, faces, normals, f, g) and _straddles(points, faces, normals, g, f)):
        return False
    at[0] = at[1] = at[2] = 0.0
    hits = _pierce(points, faces, normals, f, g, at) + _pierce(points, faces, normals, g, f, at)
    for axis in range(3):
        at[axis] /= max(hits, 1)
    return hits > 0


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
    "float64[:, ::1]",
    "int64[::1]",
    "int64[:, ::1]",
    "float64[:, ::1]",
    "int64",
)
def find_crossings(points, faces, normals, boxes, stack, pairs, places, most):
    """List pairs of faces that cross, and where: as many as there is room for, evenly spread over all.

    Return how many are listed, or -1 if more than `most` pairs of faces and boxes would be looked at.
    """
    leaves, listed, found, stride, looked = (boxes.shape[0] + 1) // 2, 0, 0, 1, 0
    at = places[places.shape[0] - 1]  # the last place is for work
    room = pairs.shape[0] - 1
    for leaf in range((faces.shape[0] + LEAF - 1) // LEAF):
        mine, top = leaves - 1 + leaf, 0
        stack[0] = 0
        while top >= 0:
            node = stack[top]
            top -= 1
            looked += 1
            last = node  # no leaf before this one: that pair has been seen from there
            while last < leaves - 1:
                last = 2 * last + 2
            if last < mine or _apart(boxes, mine, node):
                continue
            if node < leaves - 1:
                stack[top + 1], stack[top + 2] = 2 * node + 2, 2 * node + 1
                top += 2
                continue
            other = node - leaves + 1
            for f in range(LEAF * leaf, min(LEAF * leaf + LEAF, faces.shape[0])):
                first = f + 1 if other == leaf else LEAF * other
                for g in range(first, min(LEAF * other + LEAF, faces.shape[0])):
                    looked += 1
                    if _faces_apart(points, faces, f, g) or _shared(faces, f, g) > 1:
                        continue
                    if not _crosses(points, faces, normals, f, g, at):
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
        if looked > most:
            return -1
    return listed


@native
def _passed(points, faces, f, x, y, z):
    """Return 1 if a ray up from (x, y, z) leaves through a face, -1 if it enters, 0 if it misses.

    An edge is looked at from its lower vertex to its higher for both its faces.
    """
    total = height = 0.0
    turns = 0
    for k in range(3):
        a, b, c = faces[f, k], faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        u, v = min(a, b), max(a, b)
        cross = (points[u, 0] - x) * (points[v, 1] - y) - (points[u, 1] - y) * (points[v, 0] - x)
        area = cross if a < b else -cross
        turns += 1 if (cross >= 0.0) == (a < b) else -1
        total += area
        height += area * (points[c, 2] - z)
    if (turns == 3 or turns == -3) and total != 0.0 and height / total > 0.0:
        return 1 if turns > 0 else -1
    return 0


@entry(
    None, "float64[:, ::1]", "int64[:, ::1]", "float64[:, ::1]", "int64[::1]", "float64[:, ::1]", "int64[::1]"
)
def count_windings(points, faces, boxes, stack, queries, winding):
    """Count how often the surface winds round points: faces passed by a ray along z, up less down."""
    leaves = (boxes.shape[0] + 1) // 2
    for i in range(queries.shape[0]):
        x, y, z = queries[i, 0], queries[i, 1], queries[i, 2]
        winding[i], top = 0, 0
        stack[0] = 0
        while top >= 0:
            node = stack[top]
            top -= 1
            if boxes[node, 0] > x or boxes[node, 3] < x or boxes[node, 1] > y or boxes[node, 4] < y:
                continue
            if boxes[node, 5] < z:
                continue
            if node < leaves - 1:
                stack[top + 1], stack[top + 2] = 2 * node + 2, 2 * node + 1
                top += 2
                continue
            first = LEAF * (node - leaves + 1)
            for f in range(first, min(first + LEAF, faces.shape[0])):
                winding[i] += _passed(points, faces, f, x, y, z)
