"""The loops over the triangles of a mesh, as native code: twins joined, edges found, solids integrated."""

import numpy as np

from linkwork.native.numba_functions import entry, native

_ODD = np.int64(-7046029254386353131)  # of the golden ratio: multiplied by it, bits go far
_OTHER = np.int64(-4417276706812531889)


@native
def _mixed(h, x):
    """Mix a word into a hash; whoever does not know where it began cannot make things collide."""
    h = (h ^ x) * _ODD
    return h ^ ((h >> 29) & 0x7FFFFFFFF)


@entry("int64", "uint32[:, ::1]", "int64", "int32[::1]", "int32[::1]", "int32[::1]")
def equal_rows(rows, seed, table, label, first):
    """Number equal rows alike, in the order in which they come first, and return how many there are.

    `table`, of a power of two, more than rows, holds -1; `first[k]` becomes the first row with number k.
    """
    count, mask = 0, table.shape[0] - 1
    for i in range(rows.shape[0]):
        h = seed
        for k in range(rows.shape[1]):
            h = _mixed(h, np.int64(rows[i, k]))
        slot = (h * _OTHER >> 20) & mask
        while True:
            found = table[slot]
            if found < 0:
                table[slot] = count
                first[count] = i
                label[i] = count
                count += 1
                break
            other, same = first[found], True
            for k in range(rows.shape[1]):
                if rows[other, k] != rows[i, k]:
                    same = False
                    break
            if same:
                label[i] = found
                break
            slot = (slot + 1) & mask
    return count


@native
def _bucket(seed, x, y, z, mask):
    return (_mixed(_mixed(_mixed(seed, x), y), z) * _OTHER >> 20) & mask


@entry("int64", "float64[:, ::1]", "float64", "int64", "int32[::1]", "int32[::1]", "int32[::1]", "int32[::1]")
def near_rows(points, near, seed, table, following, label, first):
    """Number points alike that are no farther than `near` from the first of their number; return how many.

    The firsts lie in cells four times as wide, so that a point looks into three or four of them on average;
    they are `near` apart, so a cell has few, whatever the points are.
    """
    count, mask, width = 0, table.shape[0] - 1, 4.0 * near
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        best = -1
        for cx in range(int(np.floor((x - near) / width)), int(np.floor((x + near) / width)) + 1):
            for cy in range(int(np.floor((y - near) / width)), int(np.floor((y + near) / width)) + 1):
                for cz in range(int(np.floor((z - near) / width)), int(np.floor((z + near) / width)) + 1):
                    other = table[_bucket(seed, cx, cy, cz, mask)]
                    while other >= 0:
                        j = first[other]
                        dx, dy, dz = points[j, 0] - x, points[j, 1] - y, points[j, 2] - z
                        if dx * dx + dy * dy + dz * dz <= near * near and (best < 0 or other < best):
                            best = other
                        other = following[other]
        if best < 0:
            best = count
            first[count] = i
            slot = _bucket(
                seed, int(np.floor(x / width)), int(np.floor(y / width)), int(np.floor(z / width)), mask
            )
            following[count] = table[slot]
            table[slot] = count
            count += 1
        label[i] = best
    return count


@native
def _low(faces, side):
    a, b = faces[side // 3, side % 3], faces[side // 3, (side + 1) % 3]
    return min(a, b)


@native
def _high(faces, side):
    a, b = faces[side // 3, side % 3], faces[side // 3, (side + 1) % 3]
    return max(a, b)


@entry("int64", "int64[:, ::1]", "int64[::1]", "int32[::1]", "int32[::1]")
def sorted_sides(faces, start, half, order):
    """Sort the sides of faces by the lower of their ends, then by the higher; return how many edges they are.

    Twice by counting: first `half`, by the higher; then, in the order of that, by the lower.
    """
    sides, room = 3 * faces.shape[0], start.shape[0]
    for turn in range(2):
        for k in range(room):
            start[k] = 0
        for s in range(sides):
            start[_low(faces, s) if turn else _high(faces, s)] += 1
        total = 0
        for k in range(room):
            here = start[k]
            start[k] = total
            total += here
        for k in range(sides):
            s = half[k] if turn else k
            end = _low(faces, s) if turn else _high(faces, s)
            if turn:
                order[start[end]] = s
            else:
                half[start[end]] = s
            start[end] += 1
    count = 0
    for k in range(sides):
        s, before = order[k], order[k - 1]
        if k == 0 or _low(faces, s) != _low(faces, before) or _high(faces, s) != _high(faces, before):
            count += 1
    return count


@entry(
    None,
    "int64[:, ::1]",
    "int32[::1]",
    "int64[:, ::1]",
    "int64[::1]",
    "bool[::1]",
    "int64[::1]",
    "int64[::1]",
)
def numbered_edges(faces, order, ends, of_face, forward, count, balance):
    """Number the edges of sorted sides, and count their sides by direction."""
    edge = -1
    for k in range(order.shape[0]):
        s = order[k]
        low, high = _low(faces, s), _high(faces, s)
        if edge < 0 or ends[edge, 0] != low or ends[edge, 1] != high:
            edge += 1
            ends[edge, 0], ends[edge, 1] = low, high
            count[edge] = balance[edge] = 0
        of_face[s] = edge
        forward[s] = faces[s // 3, s % 3] < faces[s // 3, (s + 1) % 3]
        count[edge] += 1
        balance[edge] += 1 if forward[s] else -1


@native
def _add(sums, k, x):
    """Add a number to a sum and keep what is rounded off beside it (Neumaier's)."""
    s = sums[0, k]
    total = s + x
    sums[1, k] += (s - total) + x if abs(s) >= abs(x) else (x - total) + s
    sums[0, k] = total


@entry(None, "float64[:, ::1]", "int64[:, ::1]", "float64[::1]", "float64[:, ::1]")
def solid_sums(vertices, faces, origin, sums):
    """Add up, over tetrahedra from an origin to the faces, six times volume, its product with a + b + c, and

    with aa + bb + cc + (a + b + c)(a + b + c), by xx, yy, zz, xy, yz, zx; then twice the area of the faces.
    """
    ox, oy, oz = origin[0], origin[1], origin[2]
    for f in range(faces.shape[0]):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = vertices[i, 0] - ox, vertices[i, 1] - oy, vertices[i, 2] - oz
        bx, by, bz = vertices[j, 0] - ox, vertices[j, 1] - oy, vertices[j, 2] - oz
        cx, cy, cz = vertices[k, 0] - ox, vertices[k, 1] - oy, vertices[k, 2] - oz
        six = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        sx, sy, sz = ax + bx + cx, ay + by + cy, az + bz + cz
        _add(sums, 0, six)
        _add(sums, 1, six * sx)
        _add(sums, 2, six * sy)
        _add(sums, 3, six * sz)
        _add(sums, 4, six * (ax * ax + bx * bx + cx * cx + sx * sx))
        _add(sums, 5, six * (ay * ay + by * by + cy * cy + sy * sy))
        _add(sums, 6, six * (az * az + bz * bz + cz * cz + sz * sz))
        _add(sums, 7, six * (ax * ay + bx * by + cx * cy + sx * sy))
        _add(sums, 8, six * (ay * az + by * bz + cy * cz + sy * sz))
        _add(sums, 9, six * (az * ax + bz * bx + cz * cx + sz * sx))
        ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        _add(sums, 10, np.sqrt(nx * nx + ny * ny + nz * nz))
