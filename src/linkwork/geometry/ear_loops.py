"""The loops that cut faces into triangles, as native code: are they flat, convex, simple; and their ears.

An ear is a corner that turns out, whose triangle holds no other point, not even on its border. Of those the
one with the largest smallest angle goes first, which keeps the triangles stout. A corner that is no ear is so
because of some point, and is looked at again when that point is gone, or a neighbour.
"""

import numpy as np

from linkwork.native.numba_functions import entry, native

DONE, ODD, OUTSIDE, TOO_MUCH = 0, 1, 2, 3
STRICT, EXPORTED, BLIND = 0, 1, 2  # what is done with faces that are not simple polygons in a plane
_NONE, _REFLEX = -1, -2  # what is in the way of an ear, if it is no point


@native
def _left_of(p, a, b, c):
    """Return twice the area of a triangle: positive where it turns to the left."""
    return (p[b, 0] - p[a, 0]) * (p[c, 1] - p[a, 1]) - (p[b, 1] - p[a, 1]) * (p[c, 0] - p[a, 0])


@native
def _side(p, a, b):
    return np.sqrt((p[b, 0] - p[a, 0]) ** 2 + (p[b, 1] - p[a, 1]) ** 2)


@native
def _judge(p, left, size, k, stout, blocker):
    """Find the sine of the sharpest angle of corner k of those that are left, and what is in its way."""
    a, b, c = left[k - 1 if k else size - 1], left[k], left[k + 1 if k + 1 < size else 0]
    double = _left_of(p, a, b, c)
    stout[b], blocker[b] = -np.inf, _REFLEX
    if not double > 0.0:
        return
    one, two, three = _side(p, a, b), _side(p, b, c), _side(p, c, a)
    shortest = min(one, min(two, three))
    product = two * three if shortest == one else (one * three if shortest == two else one * two)
    stout[b], blocker[b] = double / product, _NONE
    for i in range(size):
        q = left[i]
        inside = (_left_of(p, a, b, q) >= 0.0) & (_left_of(p, b, c, q) >= 0.0) & (_left_of(p, c, a, q) >= 0.0)
        if inside and q != a and q != b and q != c:
            stout[b], blocker[b] = double / product - 2.0, q
            return


@native
def _ears(p, n, left, stout, blocker, corners, start, triangles, at, most):
    """Cut a simple polygon, counter-clockwise; return how many points were looked at, -1 if over `most`."""
    size, looked = n, n * n
    for k in range(n):
        left[k] = k
    for k in range(n):
        _judge(p, left, n, k, stout, blocker)
    while size > 3:
        best = 0
        for k in range(1, size):
            if stout[left[k]] > stout[left[best]]:
                best = k
        before, gone, after = left[best - 1 if best else size - 1], left[best], left[(best + 1) % size]
        triangles[at, 0] = corners[start + before]
        triangles[at, 1] = corners[start + gone]
        triangles[at, 2] = corners[start + after]
        at += 1
        size -= 1
        for k in range(best, size):
            left[k] = left[k + 1]
        looked += size
        for k in range(size):
            # What is an ear stays one; look at the two neighbours, and at those that it was in the way of.
            if left[k] == before or left[k] == after or blocker[left[k]] == gone:
                _judge(p, left, size, k, stout, blocker)
                looked += size
        if looked > most:
            return -1
    for k in range(3):
        triangles[at, k] = corners[start + left[k]]
    return looked


@entry(None, "float64[:, ::1]", "int32[::1]", "float64[::1]", "int64[:, ::1]", "int32[:, ::1]")
def cut_figure(p, corners, stout, order, triangles):
    """Cut one simple polygon, counter-clockwise, however many points are looked at."""
    _ears(p, p.shape[0], order[0], stout, order[1], corners, 0, triangles, 0, np.int64(1) << 62)


@native
def _simple(p, n):
    """Return whether the points go round without meeting themselves, or turning back."""
    for i in range(n):
        j, h = (i + 1) % n, (i + 2) % n
        ux, uy, vx, vy = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[h, 0] - p[j, 0], p[h, 1] - p[j, 1]
        if (ux == 0.0 and uy == 0.0) or (ux * vy - uy * vx == 0.0 and ux * vx + uy * vy < 0.0):
            return False
    for i in range(n - 2):
        j = i + 1
        low_x, high_x = min(p[i, 0], p[j, 0]), max(p[i, 0], p[j, 0])
        low_y, high_y = min(p[i, 1], p[j, 1]), max(p[i, 1], p[j, 1])
        for a in range(i + 2, n - 1 if i == 0 else n):
            b = a + 1 if a + 1 < n else 0
            if max(p[a, 0], p[b, 0]) < low_x or min(p[a, 0], p[b, 0]) > high_x:
                continue
            if max(p[a, 1], p[b, 1]) < low_y or min(p[a, 1], p[b, 1]) > high_y:
                continue
            # Boxes that overlap, and each edge not wholly on one side of the other: then they meet.
            across = _left_of(p, i, j, a) * _left_of(p, i, j, b) <= 0.0
            if across and _left_of(p, a, b, i) * _left_of(p, a, b, j) <= 0.0:
                return False
    return True


@native
def _flattened(vertices, corners, start, n, d, p, off_plane):
    """Put a face into its plane, p; return 1 if convex, 0 if not, -1 if none; and whether it is flat."""
    mx = my = mz = 0.0
    for k in range(n):
        i = corners[start + k]
        mx, my, mz = mx + vertices[i, 0], my + vertices[i, 1], mz + vertices[i, 2]
    mx, my, mz = mx / n, my / n, mz / n
    low, high = np.inf, -np.inf
    nx = ny = nz = size = 0.0
    for k in range(n):
        i = corners[start + k]
        d[k, 0], d[k, 1], d[k, 2] = vertices[i, 0] - mx, vertices[i, 1] - my, vertices[i, 2] - mz
    for k in range(n):  # Newell's normal
        j = k + 1 if k + 1 < n else 0
        nx += d[k, 1] * d[j, 2] - d[k, 2] * d[j, 1]
        ny += d[k, 2] * d[j, 0] - d[k, 0] * d[j, 2]
        nz += d[k, 0] * d[j, 1] - d[k, 1] * d[j, 0]
    for axis in range(3):
        low = high = d[0, axis]
        for k in range(1, n):
            low, high = min(low, d[k, axis]), max(high, d[k, axis])
        size = max(size, high - low)
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    if not length > 1e-9 * size * size:
        return -1, True  # as of a bow tie, whose halves cancel, or of points along a line
    nx, ny, nz = nx / length, ny / length, nz / length
    # Two axes in the plane: across the one that the normal has least of, and across that.
    x, y, z = abs(nx), abs(ny), abs(nz)
    ax, ay, az = (0.0, nz, -ny) if x <= y and x <= z else ((-nz, 0.0, nx) if y <= z else (ny, -nx, 0.0))
    per = 1.0 / np.sqrt(ax * ax + ay * ay + az * az)
    ax, ay, az = ax * per, ay * per, az * per
    bx, by, bz = ny * az - nz * ay, nz * ax - nx * az, nx * ay - ny * ax
    flat = True
    for k in range(n):
        flat = flat and abs(d[k, 0] * nx + d[k, 1] * ny + d[k, 2] * nz) <= off_plane * size
        p[k, 0] = d[k, 0] * ax + d[k, 1] * ay + d[k, 2] * az
        p[k, 1] = d[k, 0] * bx + d[k, 1] * by + d[k, 2] * bz
    turned = 0.0
    for k in range(n):
        h, j = k - 1 if k else n - 1, k + 1 if k + 1 < n else 0
        ux, uy, vx, vy = p[k, 0] - p[h, 0], p[k, 1] - p[h, 1], p[j, 0] - p[k, 0], p[j, 1] - p[k, 1]
        cross = ux * vy - uy * vx
        if not cross > 0.0:
            return 0, flat
        if n > 4:  # turning left everywhere is not enough: a star of five does, more than once round
            turned += np.arctan2(cross, ux * vx + uy * vy)
    return 1 if turned < 3.0 * np.pi else 0, flat


@native
def _different(vertices, corners, start, n):
    """Leave out corners at the place of the one before, in place; return how many of the face are left."""
    kept = 0
    for k in range(n):
        i, before = corners[start + k], corners[start + (kept - 1 if kept else n - 1)]
        same = True
        for axis in range(3):
            same = same and vertices[i, axis] == vertices[before, axis]
        if not same:
            corners[start + kept] = i
            kept += 1
    return kept


@entry(
    "int64",
    "float64[:, ::1]",
    "int32[::1]",
    "int32[::1]",
    "float64",
    "int64",
    "int64",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64[::1]",
    "int64[:, ::1]",
    "int32[:, ::1]",
    "int64[::1]",
)
def cut_polygons(vertices, corners, counts, off_plane, mode, most, d, p, stout, order, triangles, marks):
    """Cut faces from where `marks` says: face, corner, triangle, points looked at; then count what is odd.

    Convex ones become fans. If not STRICT, those that lie in no plane are cut in the one that fits best, and
    corners at the place of the one before are left out. If BLIND, those that meet themselves become fans.
    Counted are faces that were cut blindly, lie in no plane, have a corner twice. Return DONE, or why the
    face that is then marked, with its number of corners, was not cut.
    """
    face, start, at, looked = marks[0], marks[1], marks[2], marks[3]
    left, blocker = order[0], order[1]
    how = DONE
    while how == DONE and face < counts.shape[0]:
        n = counts[face]
        for k in range(n):
            if corners[start + k] < 0 or corners[start + k] >= vertices.shape[0]:
                how = OUTSIDE
        convex, flat = 1, True
        if how == DONE and n > 3 and mode != STRICT:
            left_of_it = _different(vertices, corners, start, n)
            marks[6] += left_of_it < n
            n = left_of_it
        if how == DONE and n > 3:
            convex, flat = _flattened(vertices, corners, start, n, d, p, off_plane)
            if not flat and mode == STRICT:
                convex = -1
            if convex == 0:
                looked += n * n
                if looked > most:
                    how = TOO_MUCH
                elif not _simple(p, n):
                    convex = -1
            if convex < 0 and mode != BLIND:
                how = ODD
        if how != DONE:
            marks[7] = n
            break
        marks[4] += convex < 0
        marks[5] += not flat
        if convex == 0:
            work = _ears(p, n, left, stout, blocker, corners, start, triangles, at, most - looked)
            if work < 0:
                how = TOO_MUCH
                break
            looked += work
        else:
            for k in range(1, n - 1):
                triangles[at + k - 1, 0] = corners[start]
                triangles[at + k - 1, 1] = corners[start + k]
                triangles[at + k - 1, 2] = corners[start + k + 1]
        face, start, at = face + 1, start + counts[face], at + max(n - 2, 0)
    marks[0], marks[1], marks[2], marks[3] = face, start, at, looked
    return how
