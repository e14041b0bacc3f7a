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


@native
def _row_hash(rows, i, seed):
    """Return the hash of a row of three words, or more."""
    h = _mixed(_mixed(seed, np.int64(rows[i, 0]) | (np.int64(rows[i, 1]) << 32)), np.int64(rows[i, 2]))
    for k in range(3, rows.shape[1]):
        h = _mixed(h, np.int64(rows[i, k]))
    return h * _OTHER >> 20


@native
def _same_row(kept, k, rows, i):
    same = (kept[k, 0] == rows[i, 0]) & (kept[k, 1] == rows[i, 1]) & (kept[k, 2] == rows[i, 2])
    for column in range(3, rows.shape[1]):
        same &= kept[k, column] == rows[i, column]
    return same


@entry(
    "int64", "uint32[:, ::1]", "int64", "int64", "int32[::1]", "int64[::1]", "uint32[:, ::1]", "int32[::1]"
)
def number_rows(rows, seed, count, table, ahead, kept, label):
    """Number equal rows alike, in the order in which they come first; return how many there are by now.

    `kept[:count]` are those numbered already; there is room for all. `table` has room for more than twice
    `kept`, a power of two, of which as much is used as there are numbers to keep: a small table stays in the
    cache. `ahead` is for the hashes of the next rows: their places in the table are all touched before the
    first is looked at, so that memory is waited for once, not once a row.
    """
    mask = _table_size(count, table) - 1
    if count == 0:
        table[: mask + 1] = -1
    block = ahead.shape[0] - 1  # a power of two
    for i in range(rows.shape[0]):
        if i & (block - 1) == 0:
            touched = 0
            for k in range(min(block, rows.shape[0] - i)):
                ahead[k] = _row_hash(rows, i + k, seed)
                touched += table[ahead[k] & mask]
            ahead[block] = touched
        slot = ahead[i & (block - 1)] & mask
        found = table[slot]
        while found >= 0 and not _same_row(kept, found, rows, i):
            slot = (slot + 1) & mask
            found = table[slot]
        if found >= 0:
            label[i] = found
            continue
        label[i] = table[slot] = count
        for k in range(rows.shape[1]):
            kept[count, k] = rows[i, k]
        count += 1
        if 2 * count > mask + 1 and mask + 1 < table.shape[0]:
            mask = _table_size(count, table) - 1
            table[: mask + 1] = -1
            for k in range(count):
                slot = _row_hash(kept, k, seed) & mask
                while table[slot] >= 0:
                    slot = (slot + 1) & mask
                table[slot] = k
    return count


@native
def _table_size(count, table):
    """Return how much of a table n numbers use: at least twice as many, in steps of four."""
    size = 1024
    while size < 2 * count:
        size *= 4
    return min(size, table.shape[0])


@native
def _bucket(seed, x, y, z, mask):
    """Return the place of a cell; those of eight neighbours lie together, in one line of memory."""
    block = _mixed(_mixed(_mixed(seed, x >> 1), y >> 1), z >> 1) * _OTHER >> 20
    return ((block << 3) | ((x & 1) << 2) | ((y & 1) << 1) | (z & 1)) & mask


@native
def _cell(x):
    return int(np.floor(x))


@entry(
    "int64",
    "float64[:, ::1]",
    "float64[::1]",
    "float64",
    "float64",
    "int64",
    "int64",
    "int64[::1]",
    "int32[::1]",
    "int32[::1]",
    "int32[::1]",
    "int32[::1]",
)
def near_rows(points, low, near, width, most, seed, ahead, table, following, label, first):
    """Number points alike that are no farther than `near` from the first of their number; return how many.

    The firsts lie in cells of some width, from the lowest corner on. A point looks into all cells that it is
    near: into few, if they are wide. Return -1 if more than `most` firsts share a place of the table. `ahead`
    is for places of the next points, as in `number_rows`.
    """
    count, mask, per = 0, table.shape[0] - 1, 1.0 / width
    table[:] = -1
    block = ahead.shape[0] - 1
    for i in range(points.shape[0]):
        if i & (block - 1) == 0:
            touched = 0
            for k in range(min(block, points.shape[0] - i)):
                ahead[k] = _place(points, i + k, low, per, seed, mask)
                touched += table[ahead[k]]
            ahead[block] = touched
        x, y, z = points[i, 0] - low[0], points[i, 1] - low[1], points[i, 2] - low[2]
        best = -1
        for cx in range(_cell((x - near) * per), _cell((x + near) * per) + 1):
            for cy in range(_cell((y - near) * per), _cell((y + near) * per) + 1):
                for cz in range(_cell((z - near) * per), _cell((z + near) * per) + 1):
                    other, met = table[_bucket(seed, cx, cy, cz, mask)], 0
                    while other >= 0:
                        j = first[other]
                        dx, dy = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
                        dz = points[j, 2] - points[i, 2]
                        if dx * dx + dy * dy + dz * dz <= near * near and (best < 0 or other < best):
                            best = other
                        other = following[other]
                        met += 1
                    if met > most:
                        return -1
        if best < 0:
            best = count
            first[count] = i
            slot = ahead[i & (block - 1)]
            following[count] = table[slot]
            table[slot] = count
            count += 1
        label[i] = best
    return count


@native
def _place(points, i, low, per, seed, mask):
    """Return the place of the cell that a point lies in."""
    x, y, z = points[i, 0] - low[0], points[i, 1] - low[1], points[i, 2] - low[2]
    return _bucket(seed, _cell(x * per), _cell(y * per), _cell(z * per), mask)


@entry("int64", "int32[:, ::1]", "bool[::1]")
def mark_corners(faces, used):
    """Mark the vertices that faces with three different corners have; return how many faces have not."""
    flat = 0
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        if (a == b) | (b == c) | (c == a):
            flat += 1
        else:
            used[a] = used[b] = used[c] = True
    return flat


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
        if k == 0 or not _same_edge(faces, order[k], order[k - 1]):
            count += 1
    return count


@native
def _same_edge(faces, side, other):
    return _low(faces, side) == _low(faces, other) and _high(faces, side) == _high(faces, other)


@entry("int64", "int64[:, ::1]", "int64")
def edge_sum(faces, seed):
    """Add up secret numbers, one of each edge, over sides: plus where a side goes up, minus where down."""
    total = 0
    for f in range(faces.shape[0]):
        for k in range(3):
            a, b = faces[f, k], faces[f, k + 1 if k < 2 else 0]
            number = _mixed(_mixed(_mixed(seed, min(a, b)), max(a, b)), seed)
            total += number if a < b else -number
    return total


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


@entry(None, "float64[:, ::1]", "float64[:, ::1]")
def extent(points, bounds):
    """Find the lowest and the highest coordinates of points that are finite."""
    for axis in range(3):
        bounds[0, axis] = bounds[1, axis] = points[0, axis]
    for i in range(points.shape[0]):
        for axis in range(3):
            x = points[i, axis]
            bounds[0, axis], bounds[1, axis] = min(bounds[0, axis], x), max(bounds[1, axis], x)


@native
def _add(sums, k, x):
    """Add a number to a sum and keep what is rounded off beside it (Neumaier's)."""
    s = sums[0, k]
    total = s + x
    sums[1, k] += (s - total) + x if abs(s) >= abs(x) else (x - total) + s
    sums[0, k] = total


@entry(None, "float64[:, ::1]", "int64[:, ::1]", "float64[::1]", "float64[:, ::1]")
def first_moments(vertices, faces, origin, sums):
    """Add up, over tetrahedra from an origin to the faces, six times volume, its product with a + b + c; then

    twice the area of the faces.
    """
    ox, oy, oz = origin[0], origin[1], origin[2]
    for f in range(faces.shape[0]):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = vertices[i, 0] - ox, vertices[i, 1] - oy, vertices[i, 2] - oz
        bx, by, bz = vertices[j, 0] - ox, vertices[j, 1] - oy, vertices[j, 2] - oz
        cx, cy, cz = vertices[k, 0] - ox, vertices[k, 1] - oy, vertices[k, 2] - oz
        six = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        _add(sums, 0, six)
        _add(sums, 1, six * (ax + bx + cx))
        _add(sums, 2, six * (ay + by + cy))
        _add(sums, 3, six * (az + bz + cz))
        ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        _add(sums, 4, np.sqrt(nx * nx + ny * ny + nz * nz))


@entry(None, "float64[:, ::1]", "int64[:, ::1]", "float64[::1]", "float64[:, ::1]")
def second_moments(vertices, faces, origin, sums):
    """Add up, over tetrahedra from an origin to the faces, six times volume times

    aa + bb + cc + (a + b + c)(a + b + c), by xx, yy, zz, xy, yz, zx.
    """
    ox, oy, oz = origin[0], origin[1], origin[2]
    for f in range(faces.shape[0]):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = vertices[i, 0] - ox, vertices[i, 1] - oy, vertices[i, 2] - oz
        bx, by, bz = vertices[j, 0] - ox, vertices[j, 1] - oy, vertices[j, 2] - oz
        cx, cy, cz = vertices[k, 0] - ox, vertices[k, 1] - oy, vertices[k, 2] - oz
        six = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        sx, sy, sz = ax + bx + cx, ay + by + cy, az + bz + cz
        _add(sums, 0, six * (ax * ax + bx * bx + cx * cx + sx * sx))
        _add(sums, 1, six * (ay * ay + by * by + cy * cy + sy * sy))
        _add(sums, 2, six * (az * az + bz * bz + cz * cz + sz * sz))
        _add(sums, 3, six * (ax * ay + bx * by + cx * cy + sx * sy))
        _add(sums, 4, six * (ay * az + by * bz + cy * cz + sy * sz))
        _add(sums, 5, six * (az * ax + bz * bx + cz * cx + sz * sx))
