"""pairs <- boxes round all shapes: those that overlap, sorted.

A tree of boxes a little larger than need be gives the pairs that are near each other. They stay so until a
shape leaves its larger box; then the tree is built anew. In between only the near pairs are looked at: the
result is the same, whatever was before. Shapes without an end are near all others.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.shape_kinds import PLANE
from linkwork.contact.shape_table import GROUP, MASK, OWNER, addresses, opened_table
from linkwork.geometry.vectors import add, position, put_pose, rotation, three, times, turned
from linkwork.native.numba_functions import doubles, entry, integers, memory

_LEAF = 2  # shapes below a leaf
_LARGER = 0.1  # of the radius: so far may a shape move before the tree is built anew


class Tree(NamedTuple):
    """A tree of boxes round shapes, with room for it to be built."""

    bounds: Any  # (n, 6) boxes round shapes: low and high corner, in the axes of the world [m]
    order: Any  # (n,) the shapes in the order of the leaves; those without an end last
    boxes: Any  # (2n + 1, 6) boxes of nodes
    child: Any  # (2n + 1, 3) two children, or -1 - first place in the order and how many; the last below
    stack: Any  # (4n + 4, 3)
    at: Any  # addresses of these


def tree(n: int) -> Tree:
    """Make room for a tree over n shapes."""
    parts = (
        np.zeros((n, 6)),
        np.zeros(n, np.int64),
        np.zeros((2 * n + 1, 6)),
        np.zeros((2 * n + 1, 3), np.int64),
        np.zeros((4 * n + 4, 3), np.int64),
    )
    return Tree(*parts, addresses(*parts))


@native
def opened_tree(at):
    """Return the tree for parts."""
    a = memory(at)
    return Tree(doubles(a[0]), integers(a[1]), doubles(a[2]), integers(a[3]), integers(a[4]), 0)


class Near(NamedTuple):
    """What is near what, remembered from query to query."""

    bounds: Any  # (n, 6) boxes round shapes now [m]
    pairs: Any  # (room, 2) whose larger boxes overlap and who are to meet, sorted
    known: Any  # (2,) 1 if they are known, and how many
    margin: Any  # (1,) for which they are known [m]
    room: Any  # for pairs
    at: Any  # addresses of these


def near(n: int, room: int) -> Near:
    """Make room for what is near, of n shapes."""
    parts = np.zeros((n, 6)), np.zeros((room, 2), np.int64), np.zeros(2, np.int64), np.zeros(1), room
    return Near(*parts, addresses(*parts))


@native
def opened_near(at):
    a = memory(at)
    return Near(doubles(a[0]), integers(a[1]), integers(a[2]), doubles(a[3]), a[4], 0)


@entry(None, "float64[:, :, ::1]", "int64[::1]", "float64[:, :, ::1]", "float64[:, :, ::1]")
def placed(bodies, owner, local, poses):
    """Write the poses of shapes (n, 3, 4) from those of their bodies and where they sit on them."""
    body, of, own, pose = memory(bodies), memory(owner), memory(local), memory(poses)
    for k in range(len(owner)):
        R, p = rotation(body, of[k]), position(body, of[k])
        Q, q = times(R, rotation(own, k)), add(turned(R, position(own, k)), p)
        put_pose(pose, k, Q, q)


@native_apart
def write_bounds(table, poses, margin, bounds):
    """Write the boxes round shapes, larger by `margin`."""
    for k in range(table.at):
        R, p = rotation(poses, k), position(poses, k)
        c, h = add(turned(R, three(table.reach, 7 * k)), p), three(table.reach, 7 * k + 3)
        r = table.reach[7 * k + 6]
        for i in range(3):
            half = abs(R[3 * i]) * h[0] + abs(R[3 * i + 1]) * h[1] + abs(R[3 * i + 2]) * h[2]
            half = min(half, r) + margin
            bounds[6 * k + i] = c[i] - half
            bounds[6 * k + 3 + i] = c[i] + half


@native_apart
def build(tree, n, leaf):
    """Build a tree over the first n shapes of the order; up to `leaf` of them are below a leaf."""
    bounds, order, boxes, child, stack = tree.bounds, tree.order, tree.boxes, tree.child, tree.stack
    stack[0], stack[1], stack[2] = 0, 0, n
    top, nodes = 1, 1
    while top > 0:
        top -= 1
        node, low, high = stack[3 * top], stack[3 * top + 1], stack[3 * top + 2]
        x0, y0, z0, x1, y1, z1 = 1e300, 1e300, 1e300, -1e300, -1e300, -1e300
        sx, sy, sz, xx, yy, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        last = -1
        for k in range(low, high):
            last = max(last, order[k])
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
        child[3 * node], child[3 * node + 1], child[3 * node + 2] = -1 - low, high - low, last
        if high - low <= leaf:
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
        child[3 * node], child[3 * node + 1] = nodes, nodes + 1
        stack[3 * top], stack[3 * top + 1], stack[3 * top + 2] = nodes + 1, i, high
        stack[3 * top + 3], stack[3 * top + 4], stack[3 * top + 5] = nodes, low, i
        nodes += 2
        top += 2


@native
def meet(table, i, j, excluded, count, owners):
    """Return whether two shapes are to be tried: other bodies, groups and masks, and not excluded by name."""
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
def _overlap(a, i, b, j):
    """Return whether two boxes overlap, without a branch."""
    return (
        (a[6 * i] <= b[6 * j + 3])
        & (a[6 * i + 1] <= b[6 * j + 4])
        & (a[6 * i + 2] <= b[6 * j + 5])
        & (b[6 * j] <= a[6 * i + 3])
        & (b[6 * j + 1] <= a[6 * i + 4])
        & (b[6 * j + 2] <= a[6 * i + 5])
    )


@native
def _keep(table, i, j, rules, out, room, count):
    """Write a pair if it is to meet; return how many there are."""
    excluded, many, owners, still = rules
    moves = table.index[12 * i + OWNER] >= still or table.index[12 * j + OWNER] >= still
    if moves and meet(table, i, j, excluded, many, owners):
        if count < room:
            out[2 * count], out[2 * count + 1] = min(i, j), max(i, j)
        count += 1
    return count


@native_apart
def _look_round(table, now, tree, rules, out, room):
    """Build the tree over larger boxes than those of now; write who is near whom, and return how many
    pairs."""
    n = table.at
    bound, order, box, child, stack = tree.bounds, tree.order, tree.boxes, tree.child, tree.stack
    ended = endless = 0
    for k in range(n):
        larger = 0.0
        if table.index[12 * k + OWNER] >= rules[3]:
            larger = _LARGER * table.reach[7 * k + 6]
        for c in range(3):
            bound[6 * k + c] = now[6 * k + c] - larger
            bound[6 * k + 3 + c] = now[6 * k + 3 + c] + larger
        if table.kind[k] != PLANE:
            order[ended] = k
            ended += 1
        else:
            endless += 1
            order[n - endless] = k
    build(tree, ended, _LEAF)
    count = 0
    for k in range(ended, n):
        for m in range(k):
            count = _keep(table, order[k], order[m], rules, out, room, count)
    # Pairs of nodes: the root with itself, then halves with themselves and each other.
    stack[0], stack[1] = 0, 0
    top = 1
    while top > 0:
        top -= 1
        x, y = stack[2 * top], stack[2 * top + 1]
        l, r = child[3 * x], child[3 * x + 1]
        u, v = child[3 * y], child[3 * y + 1]
        if x == y:
            if l < 0:
                for k in range(-1 - l, -1 - l + r):
                    for m in range(-1 - l, k):
                        if _overlap(bound, order[k], bound, order[m]):
                            count = _keep(table, order[k], order[m], rules, out, room, count)
                continue
            stack[2 * top], stack[2 * top + 1] = r, r
            stack[2 * top + 2], stack[2 * top + 3] = l, l
            stack[2 * top + 4], stack[2 * top + 5] = l, r
            top += 3
        elif not _overlap(box, x, box, y):
            continue
        elif l < 0 and u < 0:
            for k in range(-1 - l, -1 - l + r):
                for m in range(-1 - u, -1 - u + v):
                    if _overlap(bound, order[k], bound, order[m]):
                        count = _keep(table, order[k], order[m], rules, out, room, count)
        elif u < 0 or (l >= 0 and _width(box, x) > _width(box, y)):
            stack[2 * top], stack[2 * top + 1] = l, y
            stack[2 * top + 2], stack[2 * top + 3] = r, y
            top += 2
        else:
            stack[2 * top], stack[2 * top + 1] = x, u
            stack[2 * top + 2], stack[2 * top + 3] = x, v
            top += 2
    return count


@native
def _width(box, k):
    return box[6 * k + 3] - box[6 * k] + box[6 * k + 4] - box[6 * k + 1] + box[6 * k + 5] - box[6 * k + 2]


@native_apart
def _sort(given, column, count, n, begin, pairs):
    """Write pairs in the order of one of their numbers, which are below n; those with the same stay in
    order."""
    for k in range(n + 1):
        begin[k] = 0
    for k in range(count):
        begin[given[2 * k + column] + 1] += 1
    for k in range(n):
        begin[k + 1] += begin[k]
    for k in range(count):
        to = begin[given[2 * k + column]]
        begin[given[2 * k + column]] += 1
        pairs[2 * to], pairs[2 * to + 1] = given[2 * k], given[2 * k + 1]


@native
def _within(a, b, n):
    """Return whether n boxes are within others."""
    within = True
    for k in range(n):
        for c in range(3):
            within &= (a[6 * k + c] >= b[6 * k + c]) & (a[6 * k + 3 + c] <= b[6 * k + 3 + c])
    return within


@native_apart
def pairs_of_bounds(t, rules, margin, tr, nr, out, room):
    """Write the pairs of shapes whose boxes overlap, which are in `nr.bounds`; see `pairs_of`."""
    if nr.known[0] == 0 or nr.margin[0] != margin or not _within(nr.bounds, tr.bounds, t.at):
        room = min(nr.room, room)
        found = _look_round(t, nr.bounds, tr, rules, out, room)
        nr.known[0], nr.known[1], nr.margin[0] = found <= room, found, margin
        if found > room:
            return found
        _sort(out, 1, found, t.at, tr.stack, nr.pairs)
        _sort(nr.pairs, 0, found, t.at, tr.stack, out)
        for k in range(2 * found):
            nr.pairs[k] = out[k]
    count = 0
    for k in range(nr.known[1]):
        i, j = nr.pairs[2 * k], nr.pairs[2 * k + 1]
        out[2 * count], out[2 * count + 1] = i, j
        count += _overlap(nr.bounds, i, nr.bounds, j)
    return count


@entry(
    "int64",
    "int64[::1]",
    "float64[:, :, ::1]",
    "int64[::1]",
    "int64",
    "int64",
    "float64",
    "int64[::1]",
    "int64[::1]",
    "int64[:, ::1]",
)
def pairs_of(table, poses, excluded, owners, still, margin, tree, near, pairs):
    """Write the pairs of shapes whose boxes come closer than `margin`, sorted; return how many there are.

    Where that is more than there is room for, in `pairs` or `near`, nothing counts but the number. `excluded`
    are pairs of bodies as a * owners + b, sorted; bodies below `still` do not meet each other. Who is near
    whom is remembered in `tree` and `near`, for one table and one set of exclusions.
    """
    t, x, out = opened_table(table), memory(poses), memory(pairs)
    tr, nr = opened_tree(tree), opened_near(near)
    write_bounds(t, x, 0.5 * margin, nr.bounds)
    rules = memory(excluded), len(excluded), owners, still
    return pairs_of_bounds(t, rules, margin, tr, nr, out, len(pairs))
