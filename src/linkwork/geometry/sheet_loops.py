"""The triangles of a mesh in a tree of boxes, as native code, and how they wind round points.

Faces are sorted along a curve and taken eight at a time: a group of the lowest level. Eight groups in turn
are a group of the next level, up to a single one. The groups stand level after level, those of level l from
`start[l]` on; what group k of a level holds are the groups, or the faces, 8 k to 8 k + 7 of the level below.
`boxes[g]` are the boxes of what group g holds: eight low x, low y, low z, high x, high y, high z. Boxes are
in single precision; rounding keeps the order of numbers, so boxes that meet still do.
"""

import numpy as np

from linkwork.native.numba_functions import entry, native

GROUP = 8  # boxes_met compares as many at once


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


@entry(None, "float64[:, ::1]", "int32[:, ::1]", "int64[::1]", "float32[:, :, ::1]")
def fill_boxes(points, faces, start, boxes):
    """Fill the boxes of faces, and of groups level by level; where something is missing, nothing is."""
    for f in range(GROUP * start[1]):
        group, k = f >> 3, f & 7
        if f < faces.shape[0]:
            a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
            for axis in range(3):
                x, y, z = points[a, axis], points[b, axis], points[c, axis]
                boxes[group, axis, k] = min(x, min(y, z))
                boxes[group, 3 + axis, k] = max(x, max(y, z))
        else:
            _no_box(boxes, group, k)
    for level in range(1, start.shape[0] - 1):
        below = start[level] - start[level - 1]
        for child in range(GROUP * (start[level + 1] - start[level])):
            group, k = start[level] + (child >> 3), child & 7
            _no_box(boxes, group, k)
            if child < below:
                _box_of_group(boxes, start[level - 1] + child, group, k)


@native
def _no_box(boxes, group, k):
    for axis in range(3):
        boxes[group, axis, k], boxes[group, 3 + axis, k] = np.float32(np.inf), np.float32(-np.inf)


@native
def _box_of_group(boxes, child, group, k):
    for axis in range(3):
        low, high = boxes[child, axis, 0], boxes[child, 3 + axis, 0]
        for n in range(1, GROUP):
            low, high = min(low, boxes[child, axis, n]), max(high, boxes[child, 3 + axis, n])
        boxes[group, axis, k], boxes[group, 3 + axis, k] = low, high


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
def _missed(boxes, group, k, query, inverse, slack):
    """Return whether a ray, of which one over its direction is given, misses a box by more than slack."""
    if boxes[group, 0, k] > boxes[group, 3, k]:
        return True  # nothing is there
    first, last = 0.0, np.inf
    for axis in range(3):
        low = (boxes[group, axis, k] - slack - query[axis]) * inverse[axis]
        high = (boxes[group, 3 + axis, k] + slack - query[axis]) * inverse[axis]
        first, last = max(first, min(low, high)), min(last, max(low, high))
    return first > last


@entry(
    None,
    "float64[:, ::1]",
    "int32[:, ::1]",
    "int64[::1]",
    "float32[:, :, ::1]",
    "float64[:, ::1]",
    "float64",
    "int64[:, ::1]",
    "float64[:, ::1]",
    "int64[::1]",
)
def count_windings(points, faces, start, boxes, turn, slack, stack, queries, winding):
    """Count how often the surface winds round points: faces passed by a ray, up less down.

    Rays go along the third of the turned axes, none of whose components is zero.
    """
    inverse = (1.0 / turn[0, 2], 1.0 / turn[1, 2], 1.0 / turn[2, 2])
    for i in range(queries.shape[0]):
        query = (queries[i, 0], queries[i, 1], queries[i, 2])
        x, y, z = (
            _across(queries, i, turn, 0),
            _across(queries, i, turn, 1),
            _across(queries, i, turn, 2),
        )
        total = top = 0
        stack[0, 0], stack[0, 1] = start.shape[0] - 2, 0
        while top >= 0:
            level, group = stack[top, 0], stack[top, 1]
            top -= 1
            for k in range(GROUP):
                if _missed(boxes, start[level] + group, k, query, inverse, slack):
                    continue
                if level > 0:
                    top += 1
                    stack[top, 0], stack[top, 1] = level - 1, GROUP * group + k
                else:
                    total += _passed(points, faces, GROUP * group + k, turn, x, y, z)
        winding[i] = total
