"""Rows of contacts: J, what their gaps allow, and the numbers of their materials.

A contact at rest is not pushed for nanometres: gaps of redundant contacts contradict each other, and asking
for them would shift impulses from one to the other for ever. Within `SLACK` of touching it counts as
touching. Farther apart, bodies may close the gap until the next look: in a part h of a step that may be in
the middle of a whole one. Deeper, they are pushed out gently, in the time of a whole step: what is moved only
to the next impact, in a time h that may be a small part of the step, would be thrown out.

    u_n + b >= 0,    b = 2 gap / (h + step),  0,  or  max(OUT (gap + SLACK) / step, -FASTEST)
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact.shape_table import DEPTH, NORMAL, POINT_A, POINT_B
from linkwork.contact_dynamics.detection.contact_axes import tangents
from linkwork.contact_dynamics.detection.contact_plan import REACH
from linkwork.contact_dynamics.detection.pair_numbers import (
    FRICTION,
    ROLLING,
    STATIC_FRICTION,
    TORSIONAL,
    PairTable,
)
from linkwork.contact_dynamics.problem.compliant_rows import SPRINGS, soften, soften_again
from linkwork.contact_dynamics.problem.contact_problem import CONTACTS, NODES, Contacts
from linkwork.contact_dynamics.problem.friction_cone import COULOMB, TURNING
from linkwork.contact_dynamics.problem.nodes import LAYOUT, fill_three, link_response, response
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry, native, native_apart, native_within

Array = np.ndarray

SLACK = 5e-7  # [m]
OUT = 0.2  # of a depth that is taken back in a step
FASTEST = 1.0  # speed of that at most [m/s]
_SLIDES = 1e-7  # a slip above is no sticking [m/s]


class Points(NamedTuple):
    """Points of contact."""

    place: Any  # (n, 6) where, and the normal, from the second shape to the first
    gap: Any  # (n,) [m]
    pair: Any  # (n, 2) shapes, sorted


PAIR_TABLE = Named(PairTable, {"kind": "int64[::1]", "numbers": "float64[:, :, ::1]", "law": "int64[:, ::1]"})
POINTS = Named(Points, {"place": "float64[:, ::1]", "gap": "float64[::1]", "pair": "int64[:, ::1]"})


def room_for_points(count: int) -> Points:
    """Make room for points."""
    return Points(np.zeros((count, 6)), np.zeros(count), np.zeros((count, 2), np.int64))


def room_for_rows(count: int, most: int) -> Contacts:
    """Make room for contacts of nodes that have this many velocities at most."""
    at = 6 * most * np.arange(count)
    where, numbers = (lambda: np.zeros(count, np.int64)), (lambda: np.zeros(count))
    return Contacts(
        *(where(), where(), at, at + 3 * most, np.zeros(6 * most * count), np.zeros((count, 3))),
        *(numbers(), numbers(), where(), numbers(), where()),
    )


def first_of(contacts: Contacts, count: int) -> Contacts:
    """Return the first of the contacts."""
    return Contacts(*(x if name == "rows" else x[:count] for name, x in zip(Contacts._fields, contacts)))


def some_of(contacts: Contacts, which: Array) -> Contacts:
    """Return some of the contacts, by number."""
    return Contacts(*(x if name == "rows" else x[which] for name, x in zip(Contacts._fields, contacts)))


@entry("int64", "float64[:, ::1]", "int64[:, ::1]", POINTS)
def take_points(number, label, points):
    """Write points of contact from those that were found; return how many."""
    taken(number, label, len(number), points)
    return len(number)


@native
def taken(number, label, count, points):
    """Write points of contact from those that were found."""
    for k in range(count):
        for i in range(3):
            points.place[k, i] = 0.5 * (number[k, POINT_A + i] + number[k, POINT_B + i])
            points.place[k, 3 + i] = -number[k, NORMAL + i]
        points.gap[k] = -number[k, DEPTH]
        points.pair[k, 0], points.pair[k, 1] = label[k, 0], label[k, 1]


@native
def allowed(gap, h, step):
    """Return b of a contact in a part h of a step; the next look may be in the middle of a whole one."""
    if gap > SLACK:
        return gap / (0.5 * (h + step))
    if gap < -SLACK:
        return max(OUT * (gap + SLACK) / step, -FASTEST)
    return 0.0


@native_within
def _fill_contact(tree, nodes, poses, J, links, points, k, turning, c, row, columns):
    """Write the rows of point k; return whether anything can move. There is room for `columns`."""
    point = (points.place[k, 0], points.place[k, 1], points.place[k, 2])
    normal = (points.place[k, 3], points.place[k, 4], points.place[k, 5])
    first, second = tangents(normal)
    axes, total = (normal, first, second), 0.0
    c.a[row] = c.b[row] = -1
    for side in range(2):
        link = links[points.pair[k, side]]
        if link < 0 or tree.last[link] < 0:
            continue
        node, at = tree.node[link], c.of_a[row] if side == 0 else c.of_b[row]
        if side == 0:
            c.a[row] = node
        else:
            c.b[row] = node
        fill_three(tree, poses, J, link, point, axes, turning, 1.0 - 2.0 * side, c.rows, at)
        total += link_response(tree, link, c.rows, at, nodes.inverse, columns)
    if c.a[row] >= 0 and c.a[row] == c.b[row]:
        total = _merge_sides(tree, nodes, c, row, columns)
    c.weight[row] = 3.0 / total if total > 0.0 else 1.0
    return total > 0.0


@native_apart
def _merge_sides(tree, nodes, c, row, columns):
    """Make one side of two links of the same node; return the trace of its response."""
    node = c.a[row]
    n = tree.size[node]
    for i in range(3 * n):
        c.rows[c.of_a[row] + i] += c.rows[c.of_b[row] + i]
    c.b[row] = -1
    return response(c.rows, c.of_a[row], n, nodes.inverse, tree.at[node], columns)


@native_within
def _may_part(nodes, c, row):
    """Return whether anything moves along the normal."""
    for side in range(2):
        node, at = (c.a[row], c.of_a[row]) if side == 0 else (c.b[row], c.of_b[row])
        if node >= 0:
            for i in range(nodes.size[node]):
                if c.rows[at + i] != 0.0:
                    return True
    return False


@native_within
def _slip(nodes, c, row, v):
    """Return the speed along the tangents."""
    a, b = 0.0, 0.0
    for side in range(2):
        node, at = (c.a[row], c.of_a[row]) if side == 0 else (c.b[row], c.of_b[row])
        if node >= 0:
            n, first = nodes.size[node], nodes.first[node]
            for i in range(n):
                a += c.rows[at + n + i] * v[first + i]
                b += c.rows[at + 2 * n + i] * v[first + i]
    return sqrt(a * a + b * b)


@entry(
    "int64",
    *(LAYOUT, NODES, "float64[:, :, ::1]", "float64[:, ::1]", "int64[::1]"),
    *(PAIR_TABLE, SPRINGS, POINTS, "int64", "float64[::1]", "float64", "float64", CONTACTS),
)
def fill_contacts(tree, nodes, poses, J, links, table, springs, points, count, v, h, step, c):
    """Write the contacts of points, then their resistance to turning; return how many there are.

    Bodies are moved by a time h, of a step. A contact that slips at velocities v has the friction of sliding,
    else that of sticking.
    """
    columns, turning = np.zeros(len(v), np.int64), 0
    for k in range(count):
        able = _fill_contact(tree, nodes, poses, J, links, points, k, False, c, k, columns)
        i, j = table.kind[points.pair[k, 0]], table.kind[points.pair[k, 1]]
        sliding, sticking = table.numbers[i, j, FRICTION], table.numbers[i, j, STATIC_FRICTION]
        turning += table.numbers[i, j, ROLLING] > 0.0 or table.numbers[i, j, TORSIONAL] > 0.0
        c.kind[k], c.of[k], c.spin[k] = COULOMB, -1, 0.0
        c.friction[k] = sliding if sliding == sticking or _slip(nodes, c, k, v) > _SLIDES else sticking
        parts = able and _may_part(nodes, c, k)
        c.bias[k, 0], c.bias[k, 1], c.bias[k, 2] = allowed(points.gap[k], h, step) if parts else 0.0, 0.0, 0.0
        if able and springs.row[i, j] >= 0:
            pair = points.pair[k, 0], points.pair[k, 1]
            soften(nodes, c, k, springs, springs.row[i, j], pair[0], pair[1], points.gap[k], v, h)
    rows = count
    for k in range(count if turning > 0 else 0):
        i, j = table.kind[points.pair[k, 0]], table.kind[points.pair[k, 1]]
        rolling, torsional = table.numbers[i, j, ROLLING], table.numbers[i, j, TORSIONAL]
        resists = rolling > 0.0 or torsional > 0.0
        if resists and _fill_contact(tree, nodes, poses, J, links, points, k, True, c, rows, columns):
            c.kind[rows], c.of[rows] = TURNING, k
            c.friction[rows], c.spin[rows] = rolling, torsional
            c.bias[rows, 0] = c.bias[rows, 1] = c.bias[rows, 2] = 0.0
            rows += 1
    return rows


@entry("int64", NODES, CONTACTS, PAIR_TABLE, SPRINGS, POINTS, "float64[::1]", "float64")
def bend_springs(nodes, c, table, springs, points, v, h):
    """Linearise the laws of compliant contacts where v takes them; return for how many it counts.

    Those that pull at what departs and let it go when it comes back have no solution in one step: they stay.
    """
    changed = 0
    for k in range(len(points.gap)):
        i, j = table.kind[points.pair[k, 0]], table.kind[points.pair[k, 1]]
        pulls = springs.row[i, j] >= 0 and springs.numbers[springs.row[i, j], REACH] > 0.0
        if springs.row[i, j] >= 0 and c.of[k] == k and not pulls:
            pair = points.pair[k, 0], points.pair[k, 1]
            changed += soften_again(
                nodes, c, k, springs, springs.row[i, j], pair[0], pair[1], points.gap[k], v, h
            )
    return changed
