"""Contacts of a mechanism where its links are: shapes placed on links, broad phase, narrow phase.

Every shape looks as far ahead as it can move before the next look (`motion_bounds`): what comes closer than
that is found while it is still apart, by its gap.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.contact.broad_phase import near, opened_near, opened_tree, pairs_of_bounds, tree, write_bounds
from linkwork.contact.colliders import Colliders
from linkwork.contact.narrow_phase import pair_contacts
from linkwork.contact.shape_kinds import SPHERE
from linkwork.contact.shape_table import (
    Table,
    buffer,
    opened_buffer,
    opened_table,
    opened_work,
    work,
)
from linkwork.contact_dynamics.detection.shapes_in_links import shapes_in_links
from linkwork.geometry.vectors import add, position, put_pose, rotation, times, turned
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry, memory, native, native_within

if TYPE_CHECKING:
    from linkwork.tree.tree import Tree

Array = np.ndarray

MARGIN = 0.001  # margin of boxes beside what shapes can move [m]


class Shapes(NamedTuple):
    """The shapes of a mechanism on its links."""

    link: Any  # (n,) of each shape; -1 is ground
    local: Any  # (n, 3, 4) its pose in the frame of the link
    centre: Any  # (n, 3) of a ball round it, in the frame of the link [m]
    radius: Any  # (n,) of that ball [m]
    swing: Any  # (n,) how far from that centre its surface can turn; 0: it is a ball [m]
    thin: Any  # (n,) half the smallest width of its body [m]
    excluded: Any  # pairs of bodies that do not meet, a * bodies + b, sorted
    counts: Any  # (2,) bodies, and how many of them are fixed


_TYPES = ("int64[::1]", "float64[:, :, ::1]", "float64[:, ::1]", *["float64[::1]"] * 3, *["int64[::1]"] * 2)
SHAPES = Named(Shapes, dict(zip(Shapes._fields, _TYPES, strict=True)))


class Detection:
    """What finds contacts, for one thread: the table of shapes, and room."""

    def __init__(self, colliders: Colliders, links: "Tree", corners: int = 8) -> None:
        """Take shapes from colliders, by the names of their bodies, onto the links of a tree.

        Faces touch at up to `corners` points.
        """
        world = colliders.arrays
        self.table: Table = world.table
        self.owners = world.owners  # (n) bodies of the shapes, by name
        link = np.array([links.body_links[name] - 1 for name in world.owners], np.int64)
        local = shapes_in_links(links, world)
        centre = local[:, :, 3] + np.einsum("nij,nj->ni", local[:, :, :3], self.table.reach[:, :3])
        radius = np.minimum(self.table.reach[:, 6], 1e100)
        thin = _thickness(local, self.table.reach, world.owner, 2 if colliders.space == "plane" else 3)
        counts = np.array([len(world.bodies), world.still], np.int64)
        swing = np.where(self.table.kind == SPHERE, 0.0, radius)
        self.shapes = Shapes(link, local, centre, radius, swing, thin, world.excluded, counts)
        n = len(link)
        self.motion = np.zeros((n, 6))  # of each shape: velocity of its centre [m/s], and spin [rad/s]
        self.reach = np.zeros(n)  # how far each can move before the next look [m]
        self.still = (link < 0).astype(np.int64)  # 1 of shapes that cannot move: pairs of these do not meet
        self.poses = np.zeros((n, 3, 4))
        self._tree, self.work = tree(n), work(corners=corners)
        self.version = 0  # changes when arrays are replaced by larger ones
        self._make_room(max(8 * n, 64), 256)

    def _make_room(self, pairs: int, points: int) -> None:
        self._near = near(len(self.reach), pairs)
        self.pairs = np.zeros_like(self._near.pairs)
        self.found, self.counts = buffer(points), np.zeros(2, np.int64)
        self.version += 1

    def __call__(self, links: Array) -> tuple[Array, Array]:
        """Return numbers (n, 10) and labels (n, 4) of the contacts; see `contact.shape_table.Buffer`.

        `links` are the poses of links. The arrays are those of the next call, too.
        """
        while True:
            detect(*self.arguments(links, self.reach))
            if not self.grow():
                points = int(self.counts[1])
                return self.found.number[:points], self.found.label[:points]

    def arguments(self, links: Array, reach: Array) -> tuple[Any, ...]:
        """Return what `detect` takes, for links in these poses and shapes that look so far ahead."""
        return (
            *(self.shapes, self.table.at, links, reach, self.still, MARGIN, self.poses),
            *(self._tree.at, self._near.at, self.pairs, self.work.at, self.found.at, self.counts),
        )

    def expect(self, points: int) -> None:
        """Have room for this many contacts."""
        if points > self.found.room:
            self._make_room(len(self.pairs), points)

    def grow(self) -> bool:
        """Make more room if what was found last did not fit in; return whether that was so."""
        pairs, points = self.counts.tolist()
        if pairs <= len(self.pairs) and points <= self.found.room:
            return False
        self._make_room(max(2 * pairs, len(self.pairs)), max(2 * points, self.found.room))
        return True


def _thickness(local: Array, reach: Array, owner: Array, axes: int) -> Array:
    """Return half the smallest width of each shape's body, along axes of the link (n,)."""
    centre = local[:, :, 3] + np.einsum("nij,nj->ni", local[:, :, :3], reach[:, :3])
    half = np.minimum(
        np.einsum("nij,nj->ni", np.abs(local[:, :, :3]), np.minimum(reach[:, 3:6], 1e100)), 1e100
    )
    _, body = np.unique(owner, return_inverse=True)
    low, high = np.full((len(owner), 3), np.inf), np.full((len(owner), 3), -np.inf)
    np.minimum.at(low, body, centre - half)
    np.maximum.at(high, body, centre + half)
    return 0.5 * (high - low)[body, :axes].min(axis=1)


@native
def place_shapes(shapes, links, poses):
    """Write where shapes are."""
    link, own, x = memory(links), memory(shapes.local), memory(poses)
    for k in range(len(shapes.link)):
        place_shape(shapes.link[k], link, own, x, k)


@native_within
def place_shape(l, link, own, x, k):
    """Write where shape k is, which is on link l; all are bare memory."""
    if l >= 0:
        R, p = rotation(link, l), position(link, l)
        put_pose(x, k, times(R, rotation(own, k)), add(turned(R, position(own, k)), p))
    else:
        put_pose(x, k, rotation(own, k), position(own, k))


@entry(
    None,
    SHAPES,
    "int64[::1]",
    "float64[:, :, ::1]",
    "float64[::1]",
    "int64[::1]",
    "float64",
    "float64[:, :, ::1]",
    *["int64[::1]"] * 2,
    "int64[:, ::1]",
    *["int64[::1]"] * 3,
)
def detect(shapes, table, links, reach, still, margin, poses, tree, near, pairs, work, found, counts):
    """Write the contacts; count pairs and contacts, also those that find no room."""
    t, w, c = opened_table(table), opened_work(work), opened_buffer(found)
    tr, nr, pair, x = opened_tree(tree), opened_near(near), memory(pairs), memory(poses)
    place_shapes(shapes, links, poses)
    write_bounds(t, x, 0.5 * margin, nr.bounds)
    for k in range(len(reach)):
        for i in range(3):
            nr.bounds[6 * k + i] -= reach[k]
            nr.bounds[6 * k + 3 + i] += reach[k]
    rules = memory(shapes.excluded), len(shapes.excluded), shapes.counts[0], shapes.counts[1]
    counts[0] = pairs_of_bounds(t, rules, margin, tr, nr, pair, len(pairs))
    counts[1] = c.count[0] = c.count[1] = 0
    if counts[0] > len(pairs):
        return
    for k in range(counts[0]):
        i, j = pair[2 * k], pair[2 * k + 1]
        if shapes.link[i] != shapes.link[j] and still[i] + still[j] < 2:
            pair_contacts(t, x, i, j, w, c, margin + reach[i] + reach[j])
    counts[1] = c.count[1]
