"""Where the bodies of a model touch: contacts <- q.

A contact is a place, the two links that meet there, and three axes: the normal, which points from the second
link to the first, and two tangents. In the plane the second tangent is normal to it, and nothing moves there.
`active_contacts` follows contacts, and has their rows.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.contact.colliders import Colliders
from linkwork.contact.shape_table import DEPTH, NORMAL, POINT_A, POINT_B
from linkwork.contact_dynamics.detection.detection import Detection
from linkwork.contact_dynamics.detection.pair_numbers import PairTable, resisting
from linkwork.contact_dynamics.problem.nodes import layout
from linkwork.dynamics import node_columns
from linkwork.model.model import Model

Array = np.ndarray


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


NONE = Touching(*(np.zeros((0, k), np.int64) for k in (4, 2)), *(np.zeros(s) for s in ((0, 3), (0, 3, 3), 0)))


class Surfaces:
    """The shapes on the links of a model, and where they touch; for one thread at a time."""

    def __init__(self, model: Model, world: Colliders) -> None:
        """Take the shapes of a world; pairs that meet by compliant contacts are left to these."""
        soft = model.compliant_contacts
        self.soft = None if soft is None else (soft.pairs.kind, soft.row >= 0)
        self.model, self.flat = model, model.space == "plane"
        self.layout = layout(model.link_tree)
        self.columns = model.kernel_of(node_columns.ALGORITHM, form="rolled")
        self.where = np.zeros(model.nq)  # where links are placed
        self.X, self.J, self.F = (np.zeros(shape) for shape in self.columns.outputs)
        self.poses = np.tile(np.eye(3, 4), (len(self.X), 1, 1)) if self.flat else self.X
        self._move_to(model.q_drawn)
        self.detection = Detection(world, model.link_tree)
        squares = int((self.layout.size**2).sum())
        self.added, self.mass, self.inverse = model.armature, np.zeros(squares), np.zeros(squares)
        reach = self.detection.table.reach
        finite = reach[reach[:, 6] < 1e100, 3:6]
        self.thin = float(np.min(finite, initial=1e3, where=finite > 0.0))  # smallest half width [m]

    def rows(self, table: PairTable) -> int:
        """Return how many rows contacts have: 3, or 6 where something resists turning."""
        return 6 if resisting(table, None if self.soft is None else self.soft[1]) else 3

    def _move_to(self, q: Array) -> None:
        """Be at q: find the poses of links, and their motion per velocity."""
        self.columns(q, out=(self.X, self.J, self.F))
        if self.flat:
            self.poses[:, :2, :2], self.poses[:, :2, 3] = self.X[:, :, :2], self.X[:, :, 2]

    def find(self, q: Array, margin: float) -> Touching:
        """Return the contacts that are not farther apart than `margin` [m]."""
        self._move_to(q)
        self.detection.reach[:] = 0.5 * margin
        number, label = self.detection(self.poses)
        near = -number[:, DEPTH] <= margin
        if self.soft is not None:
            kind, soft = self.soft
            near &= ~soft[kind[label[:, 0]], kind[label[:, 1]]]
        number, label = number[near], label[near].copy()
        return Touching(
            label,
            self.detection.shapes.link[label[:, :2]],
            0.5 * (number[:, POINT_A : POINT_A + 3] + number[:, POINT_B : POINT_B + 3]),
            self._axes(-number[:, NORMAL : NORMAL + 3]),
            -number[:, DEPTH],
        )

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
