"""Where the bodies of a model touch: contacts <- q, their rows, and how fast they move.

A contact is a place, the two links that meet there, and three axes: the normal, which points from the second
link to the first, and two tangents. Its relative velocity u is that of the first link's point, seen from the
second's: u = J v, along these axes. In the plane the second tangent is normal to it, and nothing moves there.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.contact.colliders import Colliders
from linkwork.contact.narrow_phase import pair_contacts
from linkwork.contact.shape_table import (
    DEPTH,
    NORMAL,
    POINT_A,
    POINT_B,
    buffer,
    opened_buffer,
    opened_table,
    opened_work,
    work,
)
from linkwork.contact_dynamics.detection import SHAPES, Detection
from linkwork.contact_dynamics.nodes import LAYOUT, fill_three, layout
from linkwork.dynamics import node_columns
from linkwork.geometry.vectors import add, position, put_pose, rotation, times, turned
from linkwork.model.model import Model
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry, memory, native

Array = np.ndarray

NUDGE = 1e-5  # of the size of the mechanism: how far bodies move for a difference


class Touching(NamedTuple):
    """Contacts of a moment."""

    label: Any  # (n, 4) shapes a and b, and their features
    link: Any  # (n, 2) that these are on; -1 is ground
    place: Any  # (n, 3) [m]
    axes: Any  # (n, 3, 3) normal, from b to a, and two tangents, by rows
    gap: Any  # (n,) [m]

    def some(self, which: Array) -> "Touching":
        """Return some of them."""
        return Touching(*(array[which] for array in self))


_TABLE, _FLAT, _PAIRS, _BLOCKS = "float64[:, ::1]", "float64[::1]", "int64[:, ::1]", "float64[:, :, ::1]"
_TOUCHING = Named(
    Touching, dict(zip(Touching._fields, (_PAIRS, _PAIRS, _TABLE, _BLOCKS, _FLAT), strict=True))
)


def room_for(count: int) -> Touching:
    """Make room for contacts."""
    label, link = (np.zeros((count, k), np.int64) for k in (4, 2))
    return Touching(label, link, np.zeros((count, 3)), np.zeros((count, 3, 3)), np.zeros(count))


NONE = room_for(0)


class Surfaces:
    """The shapes on the links of a model: where they touch, and what that is to their motion."""

    def __init__(self, model: Model, world: Colliders) -> None:
        """Take the shapes of a world; pairs that meet by compliant contacts are left to these."""
        soft = model.compliant_contacts
        self._soft = None if soft is None else (soft.pairs.kind, soft.row >= 0)
        self.model, self.flat = model, model.space == "plane"
        self.layout = layout(model.link_tree)
        self._columns = model.kernel_of(node_columns.ALGORITHM, form="rolled")
        self._X, self.J, self._F = (np.zeros(shape) for shape in self._columns.outputs)
        self.poses = np.tile(np.eye(3, 4), (len(self._X), 1, 1)) if self.flat else self._X
        self.move_to(model.q_drawn)
        links = {name: model.link_tree.body_links[name] - 1 for name in model.body_names}
        self.detection = Detection(world, self.poses, links)
        self._shape_poses = np.zeros((len(self.detection.shapes.link), 3, 4))
        self._work, self._found = work(), buffer(256)
        self._three = np.zeros(3 * max(model.nv, 1))

    def move_to(self, q: Array) -> None:
        """Be at q: find the poses of links, and their motion per velocity."""
        if not isinstance(self._columns.call(q, self._X, self.J, self._F), np.ndarray):
            self._columns(q, out=(self._X, self.J, self._F))
        if self.flat:
            self.poses[:, :2, :2], self.poses[:, :2, 3] = self._X[:, :, :2], self._X[:, :, 2]

    def find(self, q: Array, margin: float) -> Touching:
        """Return the contacts that are not farther apart than `margin` [m]."""
        self.move_to(q)
        self.detection.reach[:] = 0.5 * margin
        number, label = self.detection(self.poses)
        near = -number[:, DEPTH] <= margin
        if self._soft is not None:
            kind, soft = self._soft
            near &= ~soft[kind[label[:, 0]], kind[label[:, 1]]]
        number, label = number[near], label[near].copy()
        found = Touching(
            label,
            self.detection.shapes.link[label[:, :2]],
            0.5 * (number[:, POINT_A : POINT_A + 3] + number[:, POINT_B : POINT_B + 3]),
            self._axes(-number[:, NORMAL : NORMAL + 3]),
            -number[:, DEPTH],
        )
        return found

    def _axes(self, normal: Array) -> Array:
        if not len(normal):
            return np.zeros((0, 3, 3))
        if self.flat:
            first = np.stack([-normal[:, 1], normal[:, 0], np.zeros(len(normal))], axis=1)
        else:
            least = np.argmin(np.abs(normal), axis=1)
            first = np.cross(np.eye(3)[least], normal)
            first /= np.linalg.norm(first, axis=1, keepdims=True)
        return np.stack([normal, first, np.cross(normal, first)], axis=1)

    def follow(self, q: Array, touching: Touching, margin: float) -> tuple[Touching, Array, bool]:
        """Return contacts at other positions, their J (n, 3, nv), and whether one is gone.

        They are found by their features, or by the nearest place. One that is gone, as when a corner passes
        an edge, stays where it was. A tangent is carried along with its normal, without turning about it.
        """
        self.move_to(q)
        count = len(touching.gap)
        new, rows = room_for(count), np.zeros((count, 3, self.model.nv))
        new.label[:], new.link[:] = touching.label, touching.link
        if not count:
            return new, rows, False
        shapes, table = self.detection.shapes, self.detection.table
        while True:
            lost = _follow(
                *(shapes, table.at, self.poses, self._shape_poses, touching, margin),
                *(self._work.at, self._found.at, new),
            )
            if lost >= 0:
                break
            self._found = buffer(2 * self._found.room)
        _fill_rows(self.layout, self.poses, self.J, new, self._three, rows)
        return new, rows, lost > 0

    def rows(self, q: Array, touching: Touching) -> Array:
        """Return J (n, 3, nv) of contacts where they are, at q."""
        self.move_to(q)
        rows = np.zeros((len(touching.gap), 3, self.model.nv))
        touching = Touching(*map(np.ascontiguousarray, touching))
        _fill_rows(self.layout, self.poses, self.J, touching, self._three, rows)
        return rows

    def drift(self, q: Array, v: Array, touching: Touching, size: float) -> Array:
        """Return what J changes by along the motion, times v: (n, 3) [m/s^2].

        That is the rate of u when velocity coordinates are held: of points that wander over curved surfaces,
        and of normals that turn with them. Collision detection knows both exactly; so u is exact at q + h q'
        and q - h q', and a central difference in which bodies move by 1e-5 of the mechanism's size errs by
        1e-10 of the rate. (Formulas with the curvature of both surfaces, Montana 1988, would need it of every
        kind of shape, and say nothing at edges.)
        """
        fastest = float(np.abs(v).max(initial=0.0))
        if not len(touching.gap) or fastest == 0.0:
            return np.zeros((len(touching.gap), 3))
        rates = self.model.position_rates(q, v)
        h = NUDGE * min(size, 1.0) / fastest
        margin = float(touching.gap.max()) + 100.0 * NUDGE * (1.0 + size)
        touching = Touching(*map(np.ascontiguousarray, touching))
        ahead = self.follow(q + h * rates, touching, margin)[1] @ v
        behind = self.follow(q - h * rates, touching, margin)[1] @ v
        return (ahead - behind) / (2.0 * h)


@native
def _place_shape(shapes, k, links, own, x):
    l = shapes.link[k]
    if l >= 0:
        R, p = rotation(links, l), position(links, l)
        put_pose(x, k, times(R, rotation(own, k)), add(turned(R, position(own, k)), p))
    else:
        put_pose(x, k, rotation(own, k), position(own, k))


@native
def _match(old, k, c, end, taken, columns):
    """Return which of the contacts found is contact k: the nearest that is not taken, by its bit; or -1."""
    best, chosen = 1e300, -1
    for m in range(end):
        if (taken >> m) & 1 or (
            columns == 4 and (c.label[4 * m + 2] != old.label[k, 2] or c.label[4 * m + 3] != old.label[k, 3])
        ):
            continue
        far = 0.0
        for i in range(3):
            mid = 0.5 * (c.number[10 * m + POINT_A + i] + c.number[10 * m + POINT_B + i])
            far += (mid - old.place[k, i]) ** 2
        if far < best:
            best, chosen = far, m
    return chosen


@native
def _take(old, k, c, m, new):
    """Write contact k from the one that was found."""
    n0, n1, n2 = -c.number[10 * m + NORMAL], -c.number[10 * m + NORMAL + 1], -c.number[10 * m + NORMAL + 2]
    s = n0 * old.axes[k, 1, 0] + n1 * old.axes[k, 1, 1] + n2 * old.axes[k, 1, 2]
    a0, a1, a2 = old.axes[k, 1, 0] - s * n0, old.axes[k, 1, 1] - s * n1, old.axes[k, 1, 2] - s * n2
    f = 1.0 / (a0 * a0 + a1 * a1 + a2 * a2) ** 0.5
    a0, a1, a2 = f * a0, f * a1, f * a2
    new.axes[k, 0, 0], new.axes[k, 0, 1], new.axes[k, 0, 2] = n0, n1, n2
    new.axes[k, 1, 0], new.axes[k, 1, 1], new.axes[k, 1, 2] = a0, a1, a2
    new.axes[k, 2, 0], new.axes[k, 2, 1], new.axes[k, 2, 2] = (
        n1 * a2 - n2 * a1,
        n2 * a0 - n0 * a2,
        n0 * a1 - n1 * a0,
    )
    for i in range(3):
        new.place[k, i] = 0.5 * (c.number[10 * m + POINT_A + i] + c.number[10 * m + POINT_B + i])
    new.gap[k] = -c.number[10 * m + DEPTH]


_MOST_POINTS = 62  # of a pair, a bit each


@native
def _keep(old, k, new):
    for i in range(3):
        new.place[k, i] = old.place[k, i]
        for j in range(3):
            new.axes[k, i, j] = old.axes[k, i, j]
    new.gap[k] = old.gap[k]


@entry(
    "int64",
    SHAPES,
    "int64[::1]",
    _BLOCKS,
    _BLOCKS,
    _TOUCHING,
    "float64",
    "int64[::1]",
    "int64[::1]",
    _TOUCHING,
)
def _follow(shapes, table, links, poses, old, margin, room, found, new):
    """Write where contacts are; return how many are gone, -1: there is not enough room.

    Contacts of a pair of shapes are neighbours.
    """
    t, w, c, x = opened_table(table), opened_work(room), opened_buffer(found), memory(poses)
    link, own = memory(links), memory(shapes.local)
    lost, k, n = 0, 0, len(old.gap)
    while k < n:
        i, j = old.label[k, 0], old.label[k, 1]
        last = k
        while last < n and old.label[last, 0] == i and old.label[last, 1] == j:
            last += 1
        _place_shape(shapes, i, link, own, x)
        _place_shape(shapes, j, link, own, x)
        c.count[0] = c.count[1] = 0
        pair_contacts(t, x, i, j, w, c, margin)
        if c.count[1] > c.room:
            return -1
        end, taken, done = min(c.count[0], _MOST_POINTS), 0, 0
        for turn in range(2):
            for m in range(k, min(last, k + _MOST_POINTS)):
                if (done >> (m - k)) & 1:
                    continue
                chosen = _match(old, m, c, end, taken, 4 - 2 * turn)
                if chosen >= 0:
                    taken |= 1 << chosen
                    done |= 1 << (m - k)
                    _take(old, m, c, chosen, new)
        for m in range(k, last):
            if m - k >= _MOST_POINTS or not (done >> (m - k)) & 1:
                _keep(old, m, new)
                lost += 1
        k = last
    return lost


@entry(None, LAYOUT, _BLOCKS, _TABLE, _TOUCHING, _FLAT, _BLOCKS)
def _fill_rows(tree, poses, J, c, three, rows):
    """Write the rows of contacts for all velocities."""
    for k in range(len(c.gap)):
        point = (c.place[k, 0], c.place[k, 1], c.place[k, 2])
        axes = (
            (c.axes[k, 0, 0], c.axes[k, 0, 1], c.axes[k, 0, 2]),
            (c.axes[k, 1, 0], c.axes[k, 1, 1], c.axes[k, 1, 2]),
            (c.axes[k, 2, 0], c.axes[k, 2, 1], c.axes[k, 2, 2]),
        )
        for side in range(2):
            link = c.link[k, side]
            if link < 0 or tree.last[link] < 0:
                continue
            node = tree.node[link]
            first, size = tree.first[node], tree.size[node]
            fill_three(tree, poses, J, link, point, axes, False, 1.0 - 2.0 * side, three, 0)
            for r in range(3):
                for i in range(size):
                    rows[k, r, first + i] += three[r * size + i]


def matched(old: Touching, new: Touching) -> Array:
    """Return which of the new contacts each of the old ones is, or -1: the same pair, the same features.

    Of those with the same features, or where no features are the same, the nearest; each is taken once.
    """
    found, free = np.full(len(old.gap), -1), np.ones(len(new.gap), bool)
    if not len(new.gap):
        return found
    for columns in (4, 2):
        for k in np.flatnonzero(found < 0):
            same = free & (new.label[:, :columns] == old.label[k, :columns]).all(axis=1)
            if same.any():
                far = np.sum((new.place - old.place[k]) ** 2, axis=1)
                found[k] = np.argmin(np.where(same, far, np.inf))
                free[found[k]] = False
    return found
