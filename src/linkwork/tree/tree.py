"""The tree as arrays: what the algorithms walk over.

A link is a body, or several welded ones, with a frame of its own: the outer frame of the joint it hangs on.
Link 0 is ground, its frame the world's. Two trees are made of one mechanism: `links`, where welded bodies are
one link (for dynamics), and `bodies`, where each body is a link of its own (for poses and reactions).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.lazy import kept
from linkwork.mechanism.joints import CATALOGUE, Free
from linkwork.tree import joint_forces
from linkwork.tree.branch_tables import Piece, same_pieces
from linkwork.tree.joint_forces import Rows
from linkwork.tree.joint_formula import JointFormula
from linkwork.tree.joint_units import joint_units
from linkwork.tree.load_formula import PlacedLoad
from linkwork.tree.topology import TreeBody
from linkwork.varied import of_variants, real_table

Array = np.ndarray

GROUND = "ground"  # the name of the world among bodies

_FORMULA = {Rows.NONE: "driven_formula", Rows.FRICTION: "rigid_formula", Rows.STOPS: "stepped_formula"}

_kind, _driven, _has_stops = map(attrgetter, ("kind", "driven", "has_stops"))  # of a block
_body_name, _frame = map(attrgetter, ("branch.body_name", "frame"))  # of a seat


@dataclass(frozen=True, eq=False)
class Link:
    """One moving link: where its constants and coordinates are."""

    name: str  # of the joint it hangs on
    kind: JointFormula
    parent: int  # number of the parent link, 0 for ground
    data: int  # where its constants begin in Tree.data
    q: int  # its first position coordinate
    v: int  # its first velocity
    parameters: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Seat:
    """A body in its link; it does not depend on how links are numbered."""

    branch: TreeBody
    base: Any  # pose of the parent body in its own link
    welded: bool

    @kept
    def placement(self) -> Any:
        """The pose of the joint's inner frame in the parent's link."""
        return self.base @ self.branch.inner

    @kept
    def frame(self) -> Any:
        """The pose of the body in its link."""
        return self.placement @ self.branch.on_joint if self.welded else self.branch.on_joint

    @kept
    def inertia(self) -> Any:
        """The inertia of the body, in the frame of its link."""
        if not self.welded:
            return self.branch.inertia
        return self.frame @ self.branch.body.inertia.rigid

    @kept
    def alone(self) -> "Block":
        """The link of this body, if no other is welded to it."""
        return block_of((self,))


@dataclass(frozen=True, eq=False)
class Block:
    """The constants of a link as they are in Tree.data; they do not depend on how links are numbered."""

    seats: tuple[Seat, ...]  # the body on the joint, and those that are welded to it
    kind: JointFormula
    parameters: tuple[float, ...]
    data: Array  # what DataLayout says

    @property
    def name(self) -> str:
        return self.seats[0].branch.name

    @property
    def is_free(self) -> bool:
        """Whether the velocities of the joint are those of the link in its own axes."""
        branch = self.seats[0].branch
        return type(branch.joint) is Free and not branch.reverse

    @kept
    def has_stops(self) -> bool:
        return self.seats[0].branch.has_stops

    @kept
    def driven(self) -> "Block":
        """The block with the joint's own forces, if it has no stops."""
        return self._with(self.seats[0].branch.settings)

    def with_stops(self, moved: Sequence[float], rows: Rows = Rows.NONE) -> "Block":
        """Return the block with the joint's own forces, without what is `rows`.

        `moved` is the inertia that each coordinate moves.
        """
        branch = self.seats[0].branch
        return self._with(joint_forces.settings(branch.joint, moved, rows), rows)

    def _with(self, settings: Sequence[float], rows: Rows = Rows.NONE) -> "Block":
        branch = self.seats[0].branch
        if type(branch.joint) not in CATALOGUE:
            self._check_drawn(branch.drawn.tolist())
        kind, parameters = getattr(branch, _FORMULA[rows])
        return Block(
            self.seats,
            kind,
            (*parameters, *settings),
            np.concatenate([self._constants, real_table(parameters), real_table(settings)]),
        )

    @kept
    def offset(self) -> float:
        """How far the joint is from the origin of the parent link [m]."""
        return of_variants(_length, self.seats[0].placement.p)

    @kept
    def units(self) -> tuple[list[str], list[str]]:
        """The units of the joint's positions, and of what its velocities change."""
        branch = self.seats[0].branch
        return joint_units(self.kind, self.parameters, branch.drawn.tolist(), branch.joint)

    def _check_drawn(self, q: list[float]) -> None:
        """Refuse a joint that has no pose, or no freedoms, as drawn."""
        for formula in (self.kind.motion, self.kind.subspace):
            asked(self.name, formula, q, self.parameters)

    @property
    def _constants(self) -> Array:
        return self.data[: len(self.data) - len(self.parameters)]


@dataclass(frozen=True, eq=False)
class Tree:
    """Links in an order in which parents come first, and their constants."""

    algebra: ModuleType
    blocks: tuple[Block, ...]  # of the links, without ground: link number i is blocks[i - 1]
    parents: Array  # (links,) number of the parent link, 0 for ground
    gravity: Array
    seats: tuple[Seat, ...]  # of the bodies, in the order of the branches
    seat_links: Array  # (bodies,) the link each of them belongs to
    ground_frame: Any  # pose of ground in its link
    loads: tuple[PlacedLoad, ...] = ()  # what acts on the links beyond their joints
    inputs: tuple[str, ...] = ()  # that loads read, in the order of their array
    loops: tuple[Any, ...] = ()  # joints that close loops, see `loops`
    unknowns: int = 0  # of constraints: positions behind those of the links
    contacts: Any = None  # compliant ones, `compliant_contacts`; None: there are none
    kinds: tuple[JointFormula, ...] = field(init=False)  # those that there are
    kind_numbers: Array = field(init=False)  # (links,) which of them a link has
    data: Array = field(init=False)  # gravity, then per link what DataLayout says [SI]
    starts: Array = field(init=False)  # (links + 1, 3) first of a link's constants, positions, velocities
    grown: InitVar["Grown | None"] = None  # what its tables are taken from

    def __post_init__(self, grown: "Grown | None") -> None:
        of_links = list(map(_kind, self.blocks))
        kinds = tuple(dict.fromkeys(of_links))
        numbers = {kind: number for number, kind in enumerate(kinds)}
        like, pieces = grown or (self, ())
        if not pieces or self.welded or like.welded:  # where a branch is no link
            same = [(0, len(self.blocks), -1)]
        else:
            same = same_pieces(pieces, self.blocks, like.blocks)
        data, starts = [self.gravity], []
        place = np.array([len(self.gravity), 0, 0], np.int64)  # of the next constants, positions, velocities
        for begin, end, first in same:
            if first >= 0:
                theirs = like.starts[first : first + end - begin + 1]
                data.append(like.data[theirs[0, 0] : theirs[-1, 0]])
                ours = theirs + (place - theirs[0])
            else:
                new = self.blocks[begin:end]
                data += [block.data for block in new]
                counts = [(len(block.data), block.kind.nq, block.kind.nv) for block in new]
                ours = np.array([place, *counts], np.int64).cumsum(axis=0)
            starts.append(ours[:-1])
            place = ours[-1]
        made = {
            "kinds": kinds,
            "kind_numbers": np.array(list(map(numbers.__getitem__, of_links)), np.int64),
            "data": np.concatenate(data),
            "starts": np.concatenate([*starts, place[None]]),
        }
        for name, value in made.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def nq(self) -> int:
        return int(self.starts[-1, 1]) + self.unknowns

    @property
    def nv(self) -> int:
        return int(self.starts[-1, 2])

    @kept
    def body_links(self) -> dict[str, int]:
        """The link each body belongs to, by name."""
        names = map(_body_name, self.seats)
        return {GROUND: 0} | dict(zip(names, self.seat_links.tolist(), strict=True))

    @kept
    def body_frames(self) -> dict[str, Any]:
        """The pose of each body in its link, by name."""
        names, frames = map(_body_name, self.seats), map(_frame, self.seats)
        return {GROUND: self.ground_frame} | dict(zip(names, frames, strict=True))

    @kept
    def links(self) -> tuple[Link, ...]:
        """The links without ground, one by one: link number i is links[i - 1]."""
        return tuple(
            Link(block.name, block.kind, parent, data, q, v, block.parameters)
            for block, parent, (data, q, v) in zip(
                self.blocks, self.parents.tolist(), self.starts[:-1].tolist(), strict=True
            )
        )

    @property
    def welded(self) -> bool:
        """Whether some bodies are one link."""
        return len(self.seats) > len(self.blocks)

    def with_blocks(self, blocks: tuple[Block, ...], grown: "Grown | None" = None) -> "Tree":
        """Return a tree of the same links with other constants or kinds; nothing closes its loops."""
        made = self.having(blocks=blocks, loops=())
        vars(made).pop("links", None)
        made.__post_init__(grown)
        return made

    def having(self, **parts: Any) -> "Tree":
        """Return the tree with other `loads`, `loops`, `contacts` ...; what the links say is shared."""
        made = object.__new__(Tree)
        vars(made).update(vars(self) | parts)
        return made

    @property
    def shown(self) -> int:
        """How many numbers the loads put out."""
        return sum(placed.outputs for placed in self.loads)


@dataclass(frozen=True)
class DataLayout:
    """Where the constants of a link are, counted from its first."""

    placement: int  # pose of the joint's inner frame in the parent link
    inertia: int  # of the link, in its frame, about its origin
    body: int  # pose of the link's own body in the link
    armature: int  # inertia of the drive, per velocity
    parameters: int

    @classmethod
    def of(cls, algebra: ModuleType, nv: int) -> "DataLayout":
        frame, inertia = algebra.Frame.size, algebra.RigidInertia.size
        return cls(0, frame, frame + inertia, 2 * frame + inertia, 2 * frame + inertia + nv)


# The tree that a tree is grown from, whose tables are taken over, and where its branches were in that one.
Grown = tuple[Tree, Sequence[Piece]]


def block_of(seats: tuple[Seat, ...]) -> Block:
    branch = seats[0].branch
    kind, parameters = branch.formula
    inertia = seats[0].inertia
    for seat in seats[1:]:
        inertia = inertia + seat.inertia
    numbers = [*seats[0].placement.scalars(), *inertia.scalars(), *seats[0].frame.scalars()]
    data = real_table([*numbers, *branch.armature, *parameters])
    return Block(seats, kind, tuple(parameters), data)


def _length(x: Array) -> float:
    return float(np.linalg.norm(x))


def with_own_forces(
    tree: Tree,
    moved: Callable[[], Mapping[str, Sequence[float]]],
    grown: Grown | None = None,
    rows: Rows = Rows.NONE,
) -> Tree:
    """Return a tree without loops, with the joints' own forces in their kinds, without what is `rows`.

    `moved` is asked for the inertia that each coordinate of a joint moves if any joint has stops.
    """
    if not rows and not any(map(_has_stops, tree.blocks)):
        return tree.with_blocks(tuple(map(_driven, tree.blocks)), grown)
    inertias = moved() if any(map(_has_stops, tree.blocks)) else {}
    blocks = [
        block.with_stops(inertias.get(block.name, ()), rows) if rows or block.has_stops else block.driven
        for block in tree.blocks
    ]
    return tree.with_blocks(tuple(blocks), grown)


def asked(joint: str, formula: Callable[..., Any], q: list[float], parameters: Sequence[float]) -> Any:
    """Return what a formula of a joint gives at its positions q."""
    try:
        return formula(q, parameters)
    except (ArithmeticError, ValueError) as error:
        raise ModelError(f"joint {joint!r} has no pose at {q}: {error}; let neutral() give others") from None
