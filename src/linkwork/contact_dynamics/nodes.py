"""Nodes of a model, trees that stand on their own, and rows of contacts between them."""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.contact_problem import Contacts, Nodes
from linkwork.dynamics.velocity_pairs import velocities_above
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry, native
from linkwork.tree.tree import Tree

Array = np.ndarray


class Layout(NamedTuple):
    """Who belongs to whom; links are numbered from 0, and -1 is ground."""

    size: Any  # (nodes,) velocities of each node
    first: Any  # (nodes,) the first of them
    at: Any  # (nodes,) where its inertia begins
    root: Any  # (nodes,) its first link
    above: Any  # (nv,) the next velocity towards ground, or -1
    last: Any  # (links,) the velocity nearest to a link, or -1
    node: Any  # (links,) which node a link is in


_WHERE = "int64[::1]"
_LAYOUT = Named(Layout, dict.fromkeys(Layout._fields, _WHERE))


def layout(tree: Tree) -> Layout:
    """Return the nodes of a tree of links: what hangs on ground by one joint each."""
    node: list[int] = []
    root: list[int] = []
    for link, parent in enumerate(tree.parents.tolist()):
        if parent:
            node.append(node[parent - 1])
        else:
            node.append(len(root))
            root.append(link)
    starts = tree.starts[:, 2]
    ends = [*(starts[link] for link in root[1:]), starts[-1]]
    first = np.array([starts[link] for link in root], np.int64)
    size = np.array(ends, np.int64) - first
    above = np.array(velocities_above(tree), np.int64)
    last = []
    for link, parent in enumerate(tree.parents.tolist()):
        own = starts[link + 1] - 1 if starts[link + 1] > starts[link] else -1
        last.append(own if own >= 0 else last[parent - 1] if parent else -1)
    squares = size * size
    return Layout(
        size,
        first,
        np.cumsum(squares) - squares,
        np.array(root, np.int64),
        above,
        np.array(last, np.int64),
        np.array(node, np.int64),
    )


@entry(None, _LAYOUT, "float64[:, ::1]", "float64[:, ::1]", "float64[::1]", "float64[::1]")
def fill_inertia(tree, J, F, mass, inverse):
    """Write the joint-space inertias of all nodes, and their inverses."""
    for j in range(len(tree.size)):
        n, first, at = tree.size[j], tree.first[j], tree.at[j]
        for i in range(n * n):
            mass[at + i] = 0.0
        for i in range(n):
            k = first + i
            while k >= 0:
                s = 0.0
                for c in range(J.shape[1]):
                    s += F[first + i, c] * J[k, c]
                mass[at + i * n + k - first] = mass[at + (k - first) * n + i] = s
                k = tree.above[k]
        _invert(mass, inverse, at, n)


@native
def _invert(A, B, at, n):
    """Write the inverse of a symmetric positive definite matrix, by its factors A = L L^T."""
    for i in range(n * n):
        B[at + i] = A[at + i]
    for j in range(n):  # L, with inverses on its diagonal
        s = B[at + j * n + j]
        for k in range(j):
            s -= B[at + j * n + k] * B[at + j * n + k]
        d = 1.0 / sqrt(s)
        B[at + j * n + j] = d
        for i in range(j + 1, n):
            s = B[at + i * n + j]
            for k in range(j):
                s -= B[at + i * n + k] * B[at + j * n + k]
            B[at + i * n + j] = s * d
    for j in range(n):  # L^-1 in place
        for i in range(j + 1, n):
            s = 0.0
            for k in range(j, i):
                s -= B[at + i * n + k] * B[at + k * n + j]
            B[at + i * n + j] = s * B[at + i * n + i]
    for i in range(n):  # L^-T L^-1, the upper triangle first
        for j in range(i, n):
            s = 0.0
            for k in range(j, n):
                s += B[at + k * n + i] * B[at + k * n + j]
            if i == j:
                B[at + i * n + i] = s
            else:
                B[at + i * n + j] = s
    for i in range(n):
        for j in range(i):
            B[at + i * n + j] = B[at + j * n + i]


_TABLE = "float64[:, ::1]"
_CONTACTS = Named(
    Contacts,
    dict(zip(Contacts._fields, (*[_WHERE] * 4, "float64[::1]", _TABLE, *["float64[::1]"] * 2), strict=True)),
)
_NODES = Named(Nodes, dict(zip(Nodes._fields, (*[_WHERE] * 3, *["float64[::1]"] * 3), strict=True)))


def room_for(count: int, most: int) -> Contacts:
    """Make room for contacts of nodes that have at most so many velocities."""
    at = 6 * most * np.arange(count)
    empty = np.zeros(count, np.int64)
    return Contacts(
        empty,
        empty.copy(),
        at,
        at + 3 * most,
        np.zeros(6 * most * count),
        np.zeros((count, 3)),
        np.zeros(count),
        np.zeros(count),
    )


@native
def tangents(n):
    """Return two unit vectors square to a unit vector and to each other."""
    x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
    if x <= y and x <= z:
        a = (0.0, -n[2], n[1])
    elif y <= z:
        a = (n[2], 0.0, -n[0])
    else:
        a = (-n[1], n[0], 0.0)
    f = 1.0 / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    a = (f * a[0], f * a[1], f * a[2])
    return a, (n[1] * a[2] - n[2] * a[1], n[2] * a[0] - n[0] * a[2], n[0] * a[1] - n[1] * a[0])


@native
def _turned_back(poses, link, v):
    x, y, z = v
    return (
        poses[link, 0, 0] * x + poses[link, 1, 0] * y + poses[link, 2, 0] * z,
        poses[link, 0, 1] * x + poses[link, 1, 1] * y + poses[link, 2, 1] * z,
        poses[link, 0, 2] * x + poses[link, 1, 2] * y + poses[link, 2, 2] * z,
    )


@native
def _fill_row(tree, poses, J, link, node, point, d, sign, rows, at):
    """Write the row of a direction at a point, both in the world, for the velocities of a node."""
    root, first = tree.root[node], tree.first[node]
    for i in range(tree.size[node]):
        rows[at + i] = 0.0
    p = (point[0] - poses[root, 0, 3], point[1] - poses[root, 1, 3], point[2] - poses[root, 2, 3])
    x, y, z = _turned_back(poses, root, p)
    a, b, c = _turned_back(poses, root, d)
    n0, n1, n2 = y * c - z * b, z * a - x * c, x * b - y * a
    k = tree.last[link]
    while k >= 0:
        turning = J[k, 0] * n0 + J[k, 1] * n1 + J[k, 2] * n2
        rows[at + k - first] = sign * (turning + J[k, 3] * a + J[k, 4] * b + J[k, 5] * c)
        k = tree.above[k]


@native
def _trace(rows, at, n, inverse, begin):
    """Return the trace of J M^-1 J^T over three rows."""
    total = 0.0
    for r in range(3):
        for i in range(n):
            y = rows[at + r * n + i]
            if y != 0.0:
                s = 0.0
                for k in range(n):
                    s += inverse[begin + i * n + k] * rows[at + r * n + k]
                total += y * s
    return total


@entry(None, _LAYOUT, _NODES, "float64[:, :, ::1]", _TABLE, _TABLE, "int64[:, ::1]", _CONTACTS)
def fill_rows(tree, nodes, poses, J, points, links, c):
    """Write the rows of contacts: `points` (n, 6) are places and normals, from the second link to the first."""
    for k in range(len(points)):
        point, normal = (points[k, 0], points[k, 1], points[k, 2]), (points[k, 3], points[k, 4], points[k, 5])
        first, second = tangents(normal)
        total = 0.0
        for side in range(2):
            link = links[k, side]
            node = -1 if link < 0 or tree.last[link] < 0 else tree.node[link]
            if side == 0:
                c.a[k], at, sign = node, c.of_a[k], 1.0
            else:
                c.b[k], at, sign = node, c.of_b[k], -1.0
            if node < 0:
                continue
            n = tree.size[node]
            _fill_row(tree, poses, J, link, node, point, normal, sign, c.rows, at)
            _fill_row(tree, poses, J, link, node, point, first, sign, c.rows, at + n)
            _fill_row(tree, poses, J, link, node, point, second, sign, c.rows, at + 2 * n)
            if n == 6:
                total += _trace(c.rows, at, 6, nodes.inverse, tree.at[node])
            else:
                total += _trace(c.rows, at, n, nodes.inverse, tree.at[node])
        c.weight[k] = 3.0 / total
