"""Nodes of a model: what moves together, its inertia, and rows of J at points of its links.

A tree of links that hangs on ground is a node; trees that a loop or a constraint connects are one node.
"""

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.dynamics.velocity_pairs import velocities_above
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import add_scaled, entry, memory, native, native_apart, native_within

if TYPE_CHECKING:
    from linkwork.tree.tree import Tree

Array = np.ndarray

_ROUNDING = 1e-12  # of what could be along an axis; less of it is none


class Layout(NamedTuple):
    """What belongs to what; links are numbered from 0, and -1 is ground."""

    size: Any  # (nodes,) velocities of each node
    first: Any  # (nodes,) the first of them
    at: Any  # (nodes,) where its inertia begins
    above: Any  # (nv,) the next velocity towards ground, or -1
    last: Any  # (links,) the velocity nearest to a link, or -1
    node: Any  # (links,) which node a link is in
    root: Any  # (links,) the first link of its tree, whose axes J and F are in
    base: (
        Any  # (links,) the first velocity of that link, if a Free joint holds it, in whose rows J is 1; or -1
    )


LAYOUT = Named(Layout, dict.fromkeys(Layout._fields, "int64[::1]"))


def layout(tree: "Tree") -> Layout:
    """Return the nodes of a tree of links. The velocities of a node are neighbours."""
    parents, starts = tree.parents.tolist(), tree.starts[:, 2].tolist()
    root: list[int] = []
    for link, parent in enumerate(parents):
        root.append(root[parent - 1] if parent else link)
    joined = _joined(sorted(set(root)), [sorted(root[end - 1] for end in loop.ends) for loop in tree.loops])
    node = [joined[of] for of in root]
    begins = sorted({k: link for link, k in reversed([*enumerate(node)])}.values())
    first = np.array([starts[link] for link in begins], np.int64)
    size = np.diff([*first, starts[-1]]).astype(np.int64)
    last: list[int] = []
    for link, parent in enumerate(parents):
        own = starts[link + 1] - 1 if starts[link + 1] > starts[link] else -1
        last.append(own if own >= 0 else last[parent - 1] if parent else -1)
    base = [starts[of] if tree.blocks[of].is_free else -1 for of in root]
    squares = size * size
    above = np.array(velocities_above(tree), np.int64)
    where = (np.array(each, np.int64) for each in (last, node, root, base))
    return Layout(size, first, np.cumsum(squares) - squares, above, *where)


def _joined(roots: list[int], loops: list[list[int]]) -> dict[int, int]:
    """Return the node of each tree: those that loops connect, and all between them, are one."""
    spans = [(ends[0], ends[-1]) for ends in loops if ends]
    found: dict[int, int] = {}
    count = -1
    for before, one in zip([None, *roots], roots):
        if before is None or not any(low <= before and one <= high for low, high in spans):
            count += 1
        found[one] = count
    return found


@native
def inertia(tree, J, F, added, known, mass, inverse):
    """Write the inertias of all nodes, with what is `added` on the diagonal, and their inverses.

    If those of before are `known`, an inertia that is the same, as that of a body alone in its own axes,
    keeps its inverse.
    """
    for j in range(len(tree.size)):
        n, first, at = tree.size[j], tree.first[j], tree.at[j]
        same = known
        if not known:
            for i in range(n * n):
                mass[at + i] = 0.0
        for i in range(n):
            k = first + i
            while k >= 0:
                s = added[first + i] if k == first + i else 0.0
                for c in range(J.shape[1]):
                    s += F[first + i, c] * J[k, c]
                same = same and s == mass[at + i * n + k - first]
                mass[at + i * n + k - first] = mass[at + (k - first) * n + i] = s
                k = tree.above[k]
        if not same and n <= 6:
            _invert(mass, inverse, at, n)
        elif not same:
            _invert_tree(tree.above, first, mass, inverse, at, n)


@entry(None, LAYOUT, "float64[:, ::1]", "float64[:, ::1]", "float64[::1]", "float64[::1]", "float64[::1]")
def fill_inertia(tree, J, F, added, mass, inverse):
    """Write the inertias of all nodes, and their inverses, where those of before are."""
    inertia(tree, J, F, added, True, mass, inverse)


@native
def _invert(A, B, at, n):
    """Write the inverse of a symmetric positive definite matrix.

    A = U^T U by rows of U; the rows of X = U^-T follow one from the other, and A^-1 = X^T X is the sum of
    what each of them makes. All inner loops run along memory.
    """
    for i in range(n * n):
        B[at + i] = A[at + i]
    for j in range(n):  # U in the upper half, with inverses on its diagonal
        d = 1.0 / sqrt(B[at + j * n + j])
        B[at + j * n + j] = d
        for k in range(j + 1, n):
            B[at + j * n + k] *= d
        for i in range(j + 1, n):
            f = B[at + j * n + i]
            for k in range(i, n):
                B[at + i * n + k] -= f * B[at + j * n + k]
    X = np.zeros(n * n)
    for i in range(n):
        for k in range(i):
            f = B[at + k * n + i]
            for j in range(k + 1):
                X[i * n + j] -= f * X[k * n + j]
        X[i * n + i] = 1.0
        d = B[at + i * n + i]
        for j in range(i + 1):
            X[i * n + j] *= d
    for i in range(n * n):
        B[at + i] = 0.0
    for k in range(n):
        for i in range(k + 1):
            f = X[k * n + i]
            for j in range(i + 1):
                B[at + i * n + j] += f * X[k * n + j]
    for i in range(n):
        for j in range(i):
            B[at + j * n + i] = B[at + i * n + j]


@native
def _invert_tree(above, first, A, B, at, n):
    """The same of a tree: A_ij is not zero only where one of i and j is above the other.

    A = L^T L, from the leaves on, has no more numbers than A (Featherstone 2008, section 8.5), and neither
    has X = L^-1; A^-1 = X X^T. Rows of Y are columns of X.
    """
    _invert_lower(above, first, A, np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), B, at, n)


@native_apart
def _invert_lower(above, first, A, L, X, Y, B, at, n):
    """Do that in room for L, X and Y."""
    lower, whole, columns = memory(L), memory(X), memory(Y)
    for i in range(n):
        for j in range(i + 1):
            L[i, j] = A[at + i * n + j]
    for k in range(n - 1, -1, -1):
        d = 1.0 / sqrt(L[k, k])
        L[k, k] = d
        i = above[first + k]
        while i >= 0:
            L[k, i - first] *= d
            i = above[i]
        i = above[first + k]
        while i >= 0:
            j = i - first  # of what is not above k nothing is added
            add_scaled(lower, j * n, j + 1, -L[k, j], lower, k * n)
            i = above[i]
    for i in range(n):
        d, k = L[i, i], above[first + i]
        while k >= 0:
            add_scaled(whole, i * n, k - first + 1, -L[i, k - first] * d, whole, (k - first) * n)
            k = above[k]
        X[i, i] = d
        for j in range(i + 1):
            Y[j, i] = X[i, j]
    inverse = memory(B)
    for i in range(n):
        k = first + i
        for j in range(n):
            B[at + i * n + j] = 0.0
        while k >= 0:
            add_scaled(inverse, at + i * n, i + 1, X[i, k - first], columns, (k - first) * n)
            k = above[k]
    for i in range(n):
        for j in range(i):
            B[at + j * n + i] = B[at + i * n + j]


@native_within
def _turned_back(poses, link, v):
    x, y, z = v
    return (
        poses[link, 0, 0] * x + poses[link, 1, 0] * y + poses[link, 2, 0] * z,
        poses[link, 0, 1] * x + poses[link, 1, 1] * y + poses[link, 2, 1] * z,
        poses[link, 0, 2] * x + poses[link, 1, 2] * y + poses[link, 2, 2] * z,
    )


@native_within
def _pulled(poses, root, point, d, moment):
    """Return moment and force of a unit force along d, or of a unit moment, in the axes of a link."""
    p = (point[0] - poses[root, 0, 3], point[1] - poses[root, 1, 3], point[2] - poses[root, 2, 3])
    x, y, z = _turned_back(poses, root, p)
    a, b, c = _turned_back(poses, root, d)
    if moment:
        return a, b, c, 0.0, 0.0, 0.0
    return y * c - z * b, z * a - x * c, x * b - y * a, a, b, c


@native_within
def _along(J, k, f, arm):
    """Return what a wrench does to a velocity, at a point so far away: nothing, if only rounding is left.

    A point of a wheel does not move along its axle. Where a wall beside it would have to push it that way, a
    row of 1e-17 would ask for all the impulses there are.
    """
    if J.shape[1] == 3:
        total = J[k, 0] * f[2] + J[k, 1] * f[3] + J[k, 2] * f[4]
        size = abs(J[k, 0]) * arm + abs(J[k, 1]) + abs(J[k, 2])
    else:
        total = J[k, 0] * f[0] + J[k, 1] * f[1] + J[k, 2] * f[2]
        total += J[k, 3] * f[3] + J[k, 4] * f[4] + J[k, 5] * f[5]
        size = (abs(J[k, 0]) + abs(J[k, 1]) + abs(J[k, 2])) * arm
        size += abs(J[k, 3]) + abs(J[k, 4]) + abs(J[k, 5])
    return total if abs(total) > _ROUNDING * size else 0.0


@native_within
def fill_three(tree, poses, J, link, point, axes, moment, sign, rows, at):
    """Write how fast the velocities of a link's node move a point of it along three axes, or turn it about.

    Points and axes are in the world. A row has as many numbers as the node has velocities.
    """
    node, root = tree.node[link], tree.root[link]
    first, n = tree.first[node], tree.size[node]
    e = _pulled(poses, root, point, axes[0], moment)
    f = _pulled(poses, root, point, axes[1], moment)
    g = _pulled(poses, root, point, axes[2], moment)
    base, width, arm = tree.base[link], J.shape[1], 1.0 if moment else 0.0
    if not moment:
        for i in range(3):
            arm += abs(point[i] - poses[root, i, 3])
    if n > width or base < 0:
        for i in range(3 * n):
            rows[at + i] = 0.0
    k, joints = tree.last[link], base + width if base >= 0 else 0
    while k >= joints:
        i = at + k - first
        rows[i], rows[i + n] = sign * _along(J, k, e, arm), sign * _along(J, k, f, arm)
        rows[i + 2 * n] = sign * _along(J, k, g, arm)
        k = tree.above[k]
    if base >= 0:
        i = at + base - first
        _write(e, sign, width, rows, i)
        _write(f, sign, width, rows, i + n)
        _write(g, sign, width, rows, i + 2 * n)


@native_within
def _write(f, sign, width, rows, at):
    """Write a wrench; in the plane the part of it that there is."""
    if width == 3:
        rows[at], rows[at + 1], rows[at + 2] = sign * f[2], sign * f[3], sign * f[4]
    else:
        rows[at], rows[at + 1], rows[at + 2] = sign * f[0], sign * f[1], sign * f[2]
        rows[at + 3], rows[at + 4], rows[at + 5] = sign * f[3], sign * f[4], sign * f[5]


@native_within
def _of_diagonal(rows, at, n, inverse, begin):
    total = 0.0
    for i in range(n):
        a, b, c = rows[at + i], rows[at + n + i], rows[at + 2 * n + i]
        total += inverse[begin + i * n + i] * (a * a + b * b + c * c)
    return total


@native_within
def response(rows, at, n, inverse, begin, columns):
    """Return the trace of J M^-1 J^T over three rows; of a free body about that, by the diagonal of M^-1.

    There is room for `columns`, of velocities that the rows move.
    """
    if n <= 6:
        return _of_diagonal(rows, at, n, inverse, begin)
    m = 0
    for i in range(n):
        if rows[at + i] != 0.0 or rows[at + n + i] != 0.0 or rows[at + 2 * n + i] != 0.0:
            columns[m] = i
            m += 1
    return _of_columns(rows, at, n, inverse, begin, columns, m)


@native_apart
def _of_columns(rows, at, n, inverse, begin, columns, m):
    """Return the same of rows that are zero but for m columns."""
    rows, inverse, columns, total = memory(rows), memory(inverse), memory(columns), 0.0
    for k in range(m):
        i = columns[k]
        a, b, c, row = rows[at + i], rows[at + n + i], rows[at + 2 * n + i], begin + i * n
        own, others = a * a + b * b + c * c, 0.0
        for l in range(k):
            j = columns[l]
            others += inverse[row + j] * (a * rows[at + j] + b * rows[at + n + j] + c * rows[at + 2 * n + j])
        total += inverse[row + i] * own + 2.0 * others
    return total


@native_within
def link_response(tree, link, rows, at, inverse, columns):
    """Return the same of rows at a point of a link, which are zero but for the velocities above it."""
    node = tree.node[link]
    n, first, begin = tree.size[node], tree.first[node], tree.at[node]
    if n == 6:
        return _of_diagonal(rows, at, 6, inverse, begin)
    if n == 3:
        return _of_diagonal(rows, at, 3, inverse, begin)
    if n < 6:
        return _of_diagonal(rows, at, n, inverse, begin)
    m, k = 0, tree.last[link]
    while k >= 0:
        columns[m] = k - first
        m, k = m + 1, tree.above[k]
    return _of_columns(rows, at, n, inverse, begin, columns, m)
