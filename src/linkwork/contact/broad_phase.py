"""pairs <- boxes round all shapes: a tree of boxes, built anew for every step, asked by every shape in order.

Building it takes about as long as updating one and does not depend on what was before: the same poses give
the same pairs in the same order, sorted. Shapes without an end are tried with all.
"""

from linkwork.contact.table import GROUP, MASK, OWNER, PLANE, opened_table
from linkwork.contact.vectors import add, nine, three, times, turned
from linkwork.trace.compiled import entry, memory, native, native_apart


@entry
def placed(bodies, owner, local, poses):
    """Write the poses of shapes (n, 12) from those of their bodies (m, 12) and where they sit on them."""
    body, of, own, pose = memory(bodies), memory(owner), memory(local), memory(poses)
    for k in range(len(owner)):
        R, p = nine(body, 12 * of[k]), three(body, 12 * of[k] + 9)
        Q, q = times(R, nine(own, 12 * k)), add(turned(R, three(own, 12 * k + 9)), p)
        for c in range(9):
            pose[12 * k + c] = Q[c]
        for c in range(3):
            pose[12 * k + 9 + c] = q[c]


@native_apart
def write_bounds(table, poses, n, margin, bounds):
    """Write the boxes round shapes in the axes of the world: low and high corner."""
    for k in range(n):
        R, p = nine(poses, 12 * k), three(poses, 12 * k + 9)
        c, h = add(turned(R, three(table.reach, 7 * k)), p), three(table.reach, 7 * k + 3)
        r = table.reach[7 * k + 6] + margin
        for i in range(3):
            half = abs(R[3 * i]) * h[0] + abs(R[3 * i + 1]) * h[1] + abs(R[3 * i + 2]) * h[2] + margin
            half = min(half, r)
            bounds[6 * k + i] = c[i] - half
            bounds[6 * k + 3 + i] = c[i] + half


@native_apart
def build(bounds, order, n, boxes, child, stack):
    """Build a tree over n boxes: node boxes (2n - 1, 6), children or -1 - which, and the
    last of those below (2n - 1, 3); return how many nodes."""
    if n == 0:
        return 0
    stack[0], stack[1], stack[2] = 0, 0, n
    top, nodes = 1, 1
    while top > 0:
        top -= 1
        node, low, high = stack[3 * top], stack[3 * top + 1], stack[3 * top + 2]
        x0, y0, z0, x1, y1, z1 = 1e300, 1e300, 1e300, -1e300, -1e300, -1e300
        sx, sy, sz, xx, yy, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(low, high):
            b = 6 * order[k]
            x0, y0, z0 = min(x0, bounds[b]), min(y0, bounds[b + 1]), min(z0, bounds[b + 2])
            x1, y1, z1 = max(x1, bounds[b + 3]), max(y1, bounds[b + 4]), max(z1, bounds[b + 5])
            cx, cy, cz = (
                bounds[b] + bounds[b + 3],
                bounds[b + 1] + bounds[b + 4],
                bounds[b + 2] + bounds[b + 5],
            )
            sx, sy, sz = sx + cx, sy + cy, sz + cz
            xx, yy, zz = xx + cx * cx, yy + cy * cy, zz + cz * cz
        boxes[6 * node], boxes[6 * node + 1], boxes[6 * node + 2] = x0, y0, z0
        boxes[6 * node + 3], boxes[6 * node + 4], boxes[6 * node + 5] = x1, y1, z1
        if high - low == 1:
            child[3 * node], child[3 * node + 2] = -1 - order[low], order[low]
            continue
        count = high - low
        sx, sy, sz = sx / count, sy / count, sz / count
        xx, yy, zz = xx / count - sx * sx, yy / count - sy * sy, zz / count - sz * sz
        axis, mean = 0, sx
        if yy > xx and yy >= zz:
            axis, mean = 1, sy
        elif zz > xx:
            axis, mean = 2, sz
        i, j = low, high - 1
        while i <= j:
            b = 6 * order[i] + axis
            if bounds[b] + bounds[b + 3] <= mean:
                i += 1
            else:
                order[i], order[j] = order[j], order[i]
                j -= 1
        if i in (low, high):
            i = (low + high) // 2
        last = 0
        for k in range(low, high):
            last = max(last, order[k])
        child[3 * node], child[3 * node + 1], child[3 * node + 2] = nodes, nodes + 1, last
        stack[3 * top], stack[3 * top + 1], stack[3 * top + 2] = nodes + 1, i, high
        stack[3 * top + 3], stack[3 * top + 4], stack[3 * top + 5] = nodes, low, i
        nodes += 2
        top += 2
    return nodes


@native
def meet(table, i, j, excluded, count, owners):
    """Tell whether two shapes are to be tried: other bodies, groups and masks, and not excluded by name."""
    a, b = table.index[12 * i + OWNER], table.index[12 * j + OWNER]
    if a == b:
        return False
    if table.index[12 * i + GROUP] & table.index[12 * j + MASK] == 0:
        return False
    if table.index[12 * j + GROUP] & table.index[12 * i + MASK] == 0:
        return False
    key = min(a, b) * owners + max(a, b)
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if excluded[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low == count or excluded[low] != key


@native
def _write(t, i, j, excluded, many, owners, still, out, count, room):
    """Write a pair if it is to be tried; return how many there are."""
    moves = t.index[12 * i + OWNER] >= still or t.index[12 * j + OWNER] >= still
    if moves and meet(t, i, j, excluded, many, owners):
        if count < room:
            out[2 * count], out[2 * count + 1] = i, j
        count += 1
    return count


@entry
def pairs_of(table, poses, excluded, owners, still, margin, bounds, order, boxes, child, stack, pairs):
    """Write the pairs of shapes whose boxes overlap, sorted; return how many there are, with room or without.

    `excluded` are pairs of bodies as a * owners + b, sorted; bodies below `still` do not meet each other.
    """
    t, x, out = opened_table(table), memory(poses), memory(pairs)
    bound, o, box, ch, st = memory(bounds), memory(order), memory(boxes), memory(child), memory(stack)
    ex, room = memory(excluded), len(pairs)
    n = t.at
    write_bounds(t, x, n, 0.5 * margin, bound)
    bounded = endless = 0
    for k in range(n):
        if t.kind[k] != PLANE:
            o[bounded] = k
            bounded += 1
        else:
            endless += 1
            o[n - endless] = k
    build(bound, o, bounded, box, ch, st)
    count = 0
    for i in range(n):
        begin = count
        if t.kind[i] == PLANE:
            for j in range(i + 1, n):
                count = _write(t, i, j, ex, len(excluded), owners, still, out, count, room)
            continue
        for k in range(n - endless, n):
            if o[k] > i:
                count = _write(t, i, o[k], ex, len(excluded), owners, still, out, count, room)
        a0, a1, a2 = bound[6 * i], bound[6 * i + 1], bound[6 * i + 2]
        b0, b1, b2 = bound[6 * i + 3], bound[6 * i + 4], bound[6 * i + 5]
        st[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = st[top]
            k = 6 * node
            if (
                ch[3 * node + 2] <= i
                or box[k] > b0
                or box[k + 1] > b1
                or box[k + 2] > b2
                or box[k + 3] < a0
                or box[k + 4] < a1
                or box[k + 5] < a2
            ):
                continue
            if ch[3 * node] >= 0:
                st[top], st[top + 1] = ch[3 * node + 1], ch[3 * node]
                top += 2
                continue
            j = -1 - ch[3 * node]
            if j > i:
                count = _write(t, i, j, ex, len(excluded), owners, still, out, count, room)
        for k in range(begin + 1, min(count, room)):  # few: by insertion
            j = out[2 * k + 1]
            m = k
            while m > begin and out[2 * m - 1] > j:
                out[2 * m + 1] = out[2 * m - 1]
                m -= 1
            out[2 * m + 1] = j
    return count
