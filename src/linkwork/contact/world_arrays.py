"""The arrays of a world of colliders, for compiled loops: the table of its shapes, where they are, who is
near whom.

The table does not change. Where the shapes are is an array that is made anew after a body has moved, so a
query that has begun goes on with the old one. What the broad phase remembers is written by every query, under
a lock.
"""

import threading
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from linkwork.contact.broad_phase import near, pairs_of, placed, tree
from linkwork.contact.flatten import Piece, table_of
from linkwork.contact.narrow_phase import contacts_of_pairs, triangles_that_touch
from linkwork.contact.rays import cast_rays
from linkwork.contact.result import Hits
from linkwork.contact.shape_table import Buffer, Table, Work, buffer, work
from linkwork.mechanism.placement import Array


class Member:
    """A body: its pieces, each of which of its shapes; where it is, whom it meets."""

    def __init__(
        self, pieces: list[Piece], numbers: list[int], pose: Array, group: int, mask: int, fixed: bool
    ) -> None:
        self.pieces, self.numbers, self.pose = pieces, numbers, pose
        self.group, self.mask, self.fixed = group, mask, fixed

    def copy(self) -> "Member":
        """Return the same body, which can move on its own."""
        return Member(self.pieces, self.numbers, self.pose.copy(), self.group, self.mask, self.fixed)


_worlds: "WeakValueDictionary[Any, WorldArrays]" = WeakValueDictionary()  # by their shapes


class WorldArrays:
    """The arrays of a world, fixed bodies first."""

    def __init__(self, members: Mapping[str, Member], excluded: set[tuple[str, str]]) -> None:
        order = sorted(members, key=lambda name: not members[name].fixed)
        self.number = {name: k for k, name in enumerate(order)}
        self.still = sum(member.fixed for member in members.values())
        rows = [(self.number[name], piece, members[name]) for name in order for piece in members[name].pieces]
        self.owner = np.array([number for number, _, _ in rows], np.int64)
        self.owners = tuple(order[number] for number, _, _ in rows)
        self.numbers = tuple(number for name in order for number in members[name].numbers)
        pieces = [piece for _, piece, _ in rows]
        groups, masks = [m.group for _, _, m in rows], [m.mask for _, _, m in rows]
        self.table = self._table(pieces, self.owner.tolist(), groups, masks)
        self.local = np.array([piece.local for piece in pieces]).reshape(-1, 3, 4)
        self.bodies = np.array([members[name].pose for name in order]).reshape(-1, 3, 4)
        keys = [sorted((self.number[a], self.number[b])) for a, b in excluded]
        self.excluded = np.sort(np.array([a * len(order) + b for a, b in keys], np.int64))
        self.points = 4  # of a pair, to make room for: those of meshes have more
        self._make_room()

    def _table(self, pieces: list[Piece], owner: list[int], groups: list[int], masks: list[int]) -> Table:
        """Return the table of shapes; worlds of the same ones share it, as before and after an edit."""
        self._pieces = pieces  # whose identities are part of the key
        key = tuple(map(id, pieces)), tuple(owner), tuple(groups), tuple(masks)
        known = _worlds.get(key)
        table = table_of(pieces, owner, groups, masks) if known is None else known.table
        _worlds[key] = self
        return table

    def _make_room(self) -> None:
        n = len(self.owner)
        self._poses: Array | None = None
        self._tree, self._near = tree(n), near(n, max(8 * n, 64))
        self._room = np.zeros_like(self._near.pairs)
        self._lock = threading.Lock()  # of the tree, of what is near, and of the room

    def copy(self) -> "WorldArrays":
        """Return the same shapes, which can be moved on their own."""
        twin = object.__new__(WorldArrays)
        twin.__dict__.update(self.__dict__)
        twin.bodies = self.bodies.copy()
        twin._make_room()
        return twin

    def move(self, name: str, pose: Array) -> None:
        """Put a body somewhere else."""
        self.bodies[self.number[name]] = pose
        self._poses = None

    def shape_poses(self) -> Array:
        """Return where the shapes are now: an array that is not written to again."""
        if self._poses is None:
            poses = np.empty((len(self.owner), 3, 4))
            placed(self.bodies, self.owner, self.local, poses)
            self._poses = poses
        return self._poses

    def shapes_of(self, name: str) -> list[int]:
        """Return the shapes of a body."""
        return np.flatnonzero(self.owner == self.number[name]).tolist()

    def pairs_within(self, poses: Array, margin: float) -> Any:
        """Return the pairs of shapes whose boxes come closer than `margin`."""
        with self._lock:
            while True:
                count = pairs_of(
                    self.table.at,
                    poses,
                    self.excluded,
                    len(self.bodies),
                    self.still,
                    float(margin),
                    self._tree.at,
                    self._near.at,
                    self._room,
                )
                if count <= len(self._room):
                    return self._room[:count].copy()
                self._near = near(len(poses), 2 * count)
                self._room = np.zeros_like(self._near.pairs)

    def contacts(self, poses: Array, pairs: Array, margin: float, room: Work) -> tuple[Array, Array]:
        """Return numbers and labels of the contacts of pairs."""
        found: Buffer = buffer(max(self.points * len(pairs), 64))
        pairs = np.ascontiguousarray(pairs)
        while True:
            count = contacts_of_pairs(self.table, poses, pairs, room, found, float(margin))
            if count <= found.room:
                return found.number[:count], found.label[:count]
            self.points = max(self.points, -(-count // len(pairs)))
            found = buffer(count)

    def cast(
        self, poses: Array, origins: Array, directions: Array, longest: float, mask: int, room: Work
    ) -> Hits:
        """Return the first hits of rays."""
        out, hit = np.zeros((len(origins), 7)), np.zeros((len(origins), 2), np.int64)
        grown = tree(len(poses))
        cast_rays(self.table.at, poses, origins, directions, longest, mask, room.at, grown.at, out, hit)
        distance = np.where(hit[:, 0] >= 0, out[:, 6], np.inf)
        bodies = tuple(self.owners[k] if k >= 0 else None for k in hit[:, 0].tolist())
        return Hits(bodies, out[:, :3], out[:, 3:6], distance, hit[:, 1])

    def touching(self, poses: Array, i: int, j: int) -> Any:
        """Return the pairs of triangles of two meshes that touch."""
        room = work()
        while True:
            count, pairs = triangles_that_touch(self.table, poses, i, j, room)
            if 2 * pairs <= room.raw_room:
                return np.unique(room.raw_label[:count, :2], axis=0)
            room = work(2 * pairs)

    def top(self, poses: Array) -> float:
        """Return a height above all that has an end."""
        finite = self.table.reach[:, 6] < 1e100
        high = poses[:, 2, 3] + np.linalg.norm(self.table.reach[:, :3], axis=1) + self.table.reach[:, 6]
        return float(np.max(high[finite], initial=0.0))
