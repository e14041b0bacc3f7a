"""Colliders: bodies with shapes that may touch, where they are, and all that can be asked of them."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from linkwork.contact.containment import points_inside
from linkwork.contact.distances import distances_of_pairs
from linkwork.contact.flatten import pieces_of
from linkwork.contact.rays import MISSED
from linkwork.contact.result import Contacts
from linkwork.contact.shape_kinds import MESH
from linkwork.contact.shape_table import Table, Work, work
from linkwork.contact.world_arrays import Member, WorldArrays
from linkwork.errors import unknown
from linkwork.geometry import HeightField, Plane
from linkwork.mechanism.body import Body
from linkwork.mechanism.body_skin import EVERYTHING, bits
from linkwork.mechanism.contact import excluded_pairs, welded_groups
from linkwork.mechanism.journaled import LOCKED
from linkwork.mechanism.placement import (
    Array,
    RotationLike,
    Space,
    lifted,
    numbers,
    position_vector,
    rotation_matrix,
)
from linkwork.real_numbers import is_finite, is_real, shown
from linkwork.spelling import Closed, require, spelled_methods

_PARTS = 4  # of the work, for each thread


@spelled_methods
class Colliders(Closed):
    """Bodies with shapes that may touch, and where they are.

    >>> from linkwork.geometry import Box, Plane
    >>> world = Colliders()
    >>> world.add("floor", Plane())
    >>> world.add("crate", Box(1, 1, 1), position=(0, 0, 0.49))
    >>> contacts = world.contacts()
    >>> len(contacts), float(contacts.depth.max())
    (4, 0.01)

    A body meets another if the `group` of each is in the `mask` of the other (bits of a number), and no joint
    or `exclude` says otherwise. Bodies that are `fixed` do not meet each other; what has no end is fixed.

    Several threads may ask at once, and one may move bodies meanwhile: a query sees all bodies where they
    were when it began. A thread that moves bodies for itself alone takes a `copy`.
    """

    set_once: ClassVar[frozenset[str]] = frozenset({"space"})

    def __init__(self, space: Space = "space") -> None:
        if not isinstance(space, str) or space not in ("space", "plane"):
            raise ValueError(f'colliders: space {space!r}; give "space" or "plane"')
        self.space: Space = space
        self._members: dict[str, Member] = {}
        self._excluded: set[tuple[str, str]] = set()
        self._built: WorldArrays | None = None
        self._local = threading.local()
        self._lock = threading.RLock()

    @classmethod
    def of(cls, mechanism: Any) -> "Colliders":
        """Take the bodies of a mechanism as drawn: what they are touched by, or else their solids.

        Bodies that a joint joins do not meet, nor do those that its contacts leave out.
        """
        return cls.standing(mechanism).copy()

    @classmethod
    def standing(cls, mechanism: Any) -> "Colliders":
        """Take the bodies of a mechanism as `of` does, to stay where they are: worlds share what they say."""
        world = cls(mechanism.space)
        groups = welded_groups(mechanism)
        fixed = set(groups[0])
        members = world._members
        for name, body in {"ground": mechanism.ground, **mechanism.bodies}.items():
            if shapes := body.touched_by:
                member = _of_locked.get(body)
                if member is None or member.fixed != (body in fixed):
                    member = _member_of(body, shapes, body in fixed, world.space)
                members[name] = member
        excluded = excluded_pairs(mechanism, groups)
        world._excluded = {(a, b) for a, b in excluded if a in members and b in members}
        return world

    # who there is

    def add(
        self,
        name: str,
        *shapes: Any,
        position: ArrayLike | None = None,
        rotation: RotationLike = None,
        group: int = 1,
        mask: int = EVERYTHING,
        fixed: bool | None = None,
    ) -> None:
        """Add a body of shapes, placed in the world."""
        require("collider: name", name, str, "a text")
        groups = bits(f"collider {name!r}: group", group), bits(f"collider {name!r}: mask", mask)
        require(f"collider {name!r}: fixed", fixed, bool | None, "True, False or None")
        if name in self._members:
            raise ValueError(f"collider {name!r} exists already; give another name, or remove it first")
        if not shapes:
            raise ValueError(f"collider {name!r} has no shapes; give at least one")
        self._put(name, shapes, _pose(position, rotation, f"collider {name!r}", self.space), groups, fixed)

    def _put(
        self, name: str, shapes: Sequence[Any], pose: Array, groups: tuple[int, int], fixed: bool | None
    ) -> None:
        endless = fixed is None and any(
            isinstance(getattr(shape, "shape", shape), Plane | HeightField) for shape in shapes
        )
        member = _member(shapes, self.space, pose, groups, endless if fixed is None else fixed)
        with self._lock:
            self._members[name] = member
            self._built = None

    def remove(self, name: str) -> None:
        """Take a body out."""
        with self._lock:
            self._member(name)
            del self._members[name]
            self._excluded = {pair for pair in self._excluded if name not in pair}
            self._built = None

    def exclude(self, a: str, b: str) -> None:
        """Let two bodies pass through each other."""
        with self._lock:
            for name in (a, b):
                self._member(name)
            self._excluded.add((min(a, b), max(a, b)))
            self._built = None

    def move(self, name: str, position: ArrayLike | None = None, rotation: RotationLike = None) -> None:
        """Put a body somewhere else; a position or rotation that is not given stays."""
        place = _pose(position, rotation, f"collider {name!r}", self.space)
        with self._lock:
            member = self._member(name)
            if rotation is not None:
                member.pose[:, :3] = place[:, :3]
            if position is not None:
                member.pose[:, 3] = place[:, 3]
            if self._built is not None:
                self._built.move(name, member.pose)

    def place(self, poses: Mapping[str, Any]) -> None:
        """Put bodies where `model.poses(q)` says, or any mapping of names to frames."""
        with self._lock:
            for name in self._members:
                if name in poses:
                    frame = poses[name]
                    self.move(name, frame.position, frame.rotation)

    def copy(self) -> "Colliders":
        """Return a world of the same bodies in the same places, which move on their own from now on.

        The shapes, and the trees over their triangles, are shared: they do not change.
        """
        twin = Colliders(self.space)
        with self._lock:
            twin._members = {name: member.copy() for name, member in self._members.items()}
            twin._excluded = set(self._excluded)
            twin._built = None if self._built is None else self._built.copy()
        return twin

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bodies, in the order in which they were added."""
        return tuple(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    # the arrays, for compiled loops

    @property
    def arrays(self) -> WorldArrays:
        """All arrays of the world."""
        return self._ready()[0]

    @property
    def table(self) -> Table:
        """The shapes as flat arrays."""
        return self._ready()[0].table

    @property
    def poses(self) -> Array:
        """Where the shapes are: the rows of [R | p] (n, 3, 4)."""
        return self._ready()[1]

    @property
    def shape_bodies(self) -> tuple[str, ...]:
        """The body of each shape, by name."""
        return self._ready()[0].owners

    @property
    def shape_numbers(self) -> tuple[int, ...]:
        """Which of the shapes of its body each is a piece of."""
        return self._ready()[0].numbers

    # what can be asked

    def pairs(self, margin: float = 0.0) -> Any:
        """Return the pairs of shapes whose boxes come closer than `margin`, sorted (n, 2)."""
        _check_margin(margin)
        built, poses = self._ready()
        return built.pairs_within(poses, margin)

    def contacts(self, *, margin: float = 0.0, threads: int = 1) -> Contacts:
        """Return the points where bodies touch, or come closer than `margin` [m].

        The result does not depend on the number of threads.
        """
        _check_margin(margin)
        built, poses = self._ready()
        pairs = built.pairs_within(poses, margin)
        if threads == 1:
            found = [built.contacts(poses, pairs, margin, self._work)]
        else:
            found = self._shared_out(built, poses, np.array_split(pairs, _PARTS * threads), margin, threads)
        number = np.concatenate([each[0] for each in found])
        label = np.concatenate([each[1] for each in found])
        return Contacts.of(number, label, built.owners)

    def distance(self, a: str, b: str) -> float:
        """Return the distance of two bodies [m]; negative where they overlap: minus the depth."""
        return float(self._nearest(a, b)[9])

    def closest_points(self, a: str, b: str) -> tuple[Array, Array]:
        """Return the points of two bodies that are closest to each other [m]."""
        row = self._nearest(a, b)
        return row[:3], row[3:6]

    def ray_cast(
        self, origin: ArrayLike, direction: ArrayLike, *, longest: float = np.inf, mask: int = EVERYTHING
    ) -> Any:
        """Return where a ray, or each of many (n, 3), first meets a body: a Hit, or Hits.

        Directions need not be of unit length. Only bodies with a group in `mask` are met.
        """
        if not is_real(longest) or not longest >= 0.0:
            raise ValueError(f"ray_cast: longest {longest!r}; give a length in metres, 0 or more")
        origins, directions = (
            _points(x, word, self.space) for x, word in ((origin, "origin"), (direction, "direction"))
        )
        one = origins.ndim == 1 and directions.ndim == 1
        origins, directions = (
            np.ascontiguousarray(x) for x in np.broadcast_arrays(*np.atleast_2d(origins, directions))
        )
        length = np.linalg.norm(directions, axis=1, keepdims=True)
        if not (length > 0.0).all():
            raise ValueError("ray_cast: a direction is zero; give one that points somewhere")
        built, poses = self._ready()
        hits = built.cast(poses, origins, directions / length, min(longest, MISSED), mask, self._work)
        return hits[0] if one else hits

    def height(self, x: ArrayLike, y: ArrayLike, *, mask: int = EVERYTHING) -> Any:
        """Return the height of what is under points of the plane, seen from above [m]; -inf where nothing
        is."""
        built, poses = self._ready()
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        top = built.top(poses) + 1.0
        origins = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, top)])
        directions = np.broadcast_to((0.0, 0.0, -1.0), origins.shape).copy()
        hits = built.cast(poses, origins, directions, MISSED, mask, self._work)
        height = np.where(hits.hit, hits.point[:, 2], -np.inf).reshape(x.shape)
        return float(height) if height.ndim == 0 else height

    def contains(self, name: str, points: ArrayLike) -> Any:
        """Return whether points (3,) or (n, 3) are inside a body, surface included."""
        self._member(name)
        built, poses = self._ready()
        given = _points(points, "points", self.space)
        flat = np.ascontiguousarray(np.atleast_2d(given))
        found = np.zeros(len(flat), np.int64)
        for k in built.shapes_of(name):
            points_inside(built.table.at, poses, k, flat, found, self._work.at)
        inside = found.astype(bool)
        return bool(inside[0]) if given.ndim == 1 else inside

    def touching_triangles(self, a: str, b: str) -> Any:
        """Return the pairs of triangles of two meshes that touch, sorted (n, 2)."""
        for name in (a, b):
            self._member(name)
        built, poses = self._ready()
        found = [np.zeros((0, 2), np.int64)]
        for i in built.shapes_of(a):
            for j in built.shapes_of(b):
                if built.table.kind[i] == MESH and built.table.kind[j] == MESH:
                    found.append(built.touching(poses, i, j))
        return np.unique(np.concatenate(found), axis=0)

    def _shared_out(
        self, built: WorldArrays, poses: Array, parts: list[Array], margin: float, threads: int
    ) -> list[Any]:
        """Return the contacts of each part. Parts differ: a thread that is done takes the next one.

        This thread works too, and keeps the rooms of the others.
        """
        rooms = self._rooms
        found: list[Any] = [None] * len(parts)
        rooms += [work() for _ in range(threads - len(rooms))]
        waiting = iter(list(enumerate(parts)))

        def share(room: Work) -> None:
            for k, part in waiting:
                found[k] = built.contacts(poses, part, margin, room)

        with ThreadPoolExecutor(threads - 1) as pool:
            others = [pool.submit(share, room) for room in rooms[1:threads]]
            share(rooms[0])
        for other in others:
            other.result()
        return found

    def _nearest(self, a: str, b: str) -> Array:
        for name in (a, b):
            self._member(name)
        built, poses = self._ready()
        pairs = np.array([(i, j) for i in built.shapes_of(a) for j in built.shapes_of(b)], np.int64)
        out = np.zeros((len(pairs), 10))
        distances_of_pairs(built.table.at, poses, pairs, self._work.at, out)
        best = out[int(np.argmin(out[:, 9]))]
        if best[9] >= MISSED:
            raise ValueError(f"colliders {a!r} and {b!r} have no distance: neither of them has an end")
        return best

    @property
    def _work(self) -> Work:
        """The room of this thread."""
        return self._rooms[0]

    @property
    def _rooms(self) -> list[Work]:
        """The room of this thread, and those that it lends to others."""
        if not hasattr(self._local, "rooms"):
            self._local.rooms = [work()]
        return self._local.rooms

    def _member(self, name: str) -> Member:
        if name not in self._members:
            raise ValueError(unknown("collider", name, self._members))
        return self._members[name]

    def _ready(self) -> tuple[WorldArrays, Array]:
        """Return the arrays, and where the shapes are now: an array that is not written to any more."""
        with self._lock:
            if self._built is None:
                self._built = WorldArrays(self._members, self._excluded)
            return self._built, self._built.shape_poses()


_of_locked: WeakKeyDictionary[Body, Member] = WeakKeyDictionary()  # of bodies of models, which do not change


def _member_of(body: Body, shapes: Sequence[Any], fixed: bool, space: Space) -> Member:
    """Return a body of a mechanism as drawn; that of a model is made once."""
    pose = lifted(np.column_stack([body.rotation, body.position]))
    made = _member(shapes, space, pose, (body.group, body.mask), fixed)
    if body._journal is LOCKED:
        _of_locked[body] = made
    return made


def _member(shapes: Sequence[Any], space: Space, pose: Array, groups: tuple[int, int], fixed: bool) -> Member:
    each = [pieces_of(shape, space) for shape in shapes]
    pieces = [piece for some in each for piece in some]
    numbers = [k for k, some in enumerate(each) for _ in some]
    return Member(pieces, numbers, pose, *groups, fixed)


def _check_margin(margin: object) -> None:
    if not is_finite(margin) or margin < 0.0:
        raise ValueError(f"margin {margin!r}; give a length in metres, 0 or more")


def _points(value: ArrayLike, word: str, space: Space) -> Array:
    """Return points (3,) or (n, 3); in the plane two numbers are enough."""
    array = numbers(value, word)
    if space == "plane" and array.ndim and array.shape[-1] == 2:
        array = np.concatenate([array, np.zeros((*array.shape[:-1], 1))], axis=-1)
    if array.ndim not in (1, 2) or array.shape[-1] != 3:
        raise ValueError(f"{word} has shape {array.shape}; give (3,) or (n, 3) [m]")
    return array


def _pose(position: ArrayLike | None, rotation: RotationLike, where: str, space: Space) -> Array:
    """Return the rows of [R | p], in space."""
    if space == "space" and position is not None and np.size(position) == 2:
        raise ValueError(f"{where}: position {shown(position)} in space; give 3 numbers in metres")
    p, R = position_vector(position, where, space), rotation_matrix(rotation, where, space)
    return lifted(np.column_stack([R, p]))


def listed(things: Any) -> Sequence[Any]:
    """Return one thing or several as a list."""
    return list(things) if isinstance(things, list | tuple) else [things]
