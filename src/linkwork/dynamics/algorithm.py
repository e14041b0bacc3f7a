"""How an algorithm over a tree is written down: passes over links, fields they share, arrays in and out.

A pass is a function of a link and its partner (the parent, or the world). It reads and sets attributes:

* arrays of the algorithm by their port's name: `link.q`, `link.tau`, `link.qdd = ...`;
* fields that the partner may see, declared as `shared`: `parent.v`, `parent.IA += ...`;
* what the link is made of, see `LinkView`, and `world.gravity`;
* anything else is the link's own and is there again in later passes.

Passes never know whether their numbers are floats, symbols of one link (rolled) or of the whole mechanism
(unrolled, specialised).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from types import ModuleType
from typing import Any, Literal, NamedTuple, Protocol

from linkwork.algebra.number import Number


class Fields(Protocol):
    """Fields by name: the ports of an algorithm, what it declares as shared, and what is a link's own."""

    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...


class WorldView(Fields, Protocol):
    """Ground, and what there is one of, as a pass sees it."""

    algebra: ModuleType  # `algebra.planar` or `algebra.spatial`, which have the same names
    gravity: Sequence[Number]


class LinkView(Fields, Protocol):
    """A link as a pass sees it: fields, and what it is made of, all in its own frame."""

    algebra: ModuleType
    reverse: bool  # whether its joint is met from the child to the parent
    placement: Any  # Frame: the joint's inner frame in the parent
    XJ: Any  # Frame: the link in the joint's inner frame, at its coordinates
    X: Any  # Frame: the link in its parent, placement @ XJ
    S: Sequence[Any]  # Motions: per unit of each velocity of its joint
    vJ: Any  # Motion: relative to the parent, S qd
    cJ: Any  # Motion: how vJ changes while the velocities do not, dS/dt qd
    rates: Sequence[Number]  # of its positions
    drive: Sequence[Number]  # forces of its joint itself: damping, friction, springs, stops
    inertia: Any  # RigidInertia: about the origin of its frame
    body: Any  # Frame: its body in the link
    armature: Sequence[Number]  # inertia of its drives, per velocity


class RowView(Fields, Protocol):
    """An equation of a loop on its way to the root, see `Rows`."""

    F: Any  # Force: of the row, on the link
    direct: Sequence[Number]  # its force on the link's joint itself, per velocity
    right: Number  # the right side
    y: Sequence[Number]  # what the joint feels of it, per velocity
    z: Sequence[Number]  # how the joint gives way to it, per velocity
    inverse: Number  # one over its pivot


class Sizes(NamedTuple):
    """The numbers that array shapes are made of."""

    nq: int
    nv: int
    links: int  # without ground
    algebra: ModuleType
    shown: int = 0  # numbers that loads show
    rows: int = 0  # equations of loop joints
    equations: int = 0  # the same, with those that constraints' own unknowns take
    loop_nq: int = 0  # coordinates of loop joints
    loop_nv: int = 0
    inputs: int = 0  # that loads read


@dataclass(frozen=True)
class Port:
    """An array of an algorithm: per position, per velocity, per link, or one for the whole world."""

    name: str
    per: Literal["q", "v", "link", "world"]
    shape: Callable[[Sizes], tuple[int, ...]]  # of the whole array, for one mechanism
    users_word: str = ""  # what users call it, if not by its symbol
    kind: str | None = None  # name of the type in the algebra that a link reads; numbers if none

    @property
    def word(self) -> str:
        return self.users_word or self.name

    def total(self, sizes: Sizes) -> int:
        """Return how many numbers the array has for one mechanism."""
        return prod(self.shape(sizes))

    def width(self, algebra: ModuleType) -> int:
        """Return how many numbers there are per position, velocity or link, or for the world."""
        return self.total(Sizes(1, 1, 1, algebra))

    def count(self, nq: int, nv: int, algebra: ModuleType) -> int:
        """Return how many numbers a link with n coordinates has in it."""
        return {"q": nq, "v": nv}.get(self.per, 1) * self.width(algebra)


Q = Port("q", "q", lambda n: (n.nq,))
QD = Port("qd", "v", lambda n: (n.nv,), "v")
QDD = Port("qdd", "v", lambda n: (n.nv,), "a")
T = Port("t", "world", lambda n: ())
INPUTS = Port("inputs", "world", lambda n: (n.inputs,))
TAU = Port("tau", "v", lambda n: (n.nv,))
# force on each link, in its frame
EXTERNAL = Port("external", "link", lambda n: (n.links, n.algebra.freedoms), "forces", kind="Force")


@dataclass(frozen=True)
class Pass:
    """One walk over the tree."""

    step: Callable[[Any, Any], None]  # of a LinkView and of its partner's, LinkView or WorldView
    order: Literal["outward", "inward"]
    partner: Literal["parent", "world"] = "parent"
    tip_only: bool = False  # only the last link of the walk


@dataclass(frozen=True)
class Pairs:
    """A walk over all pairs of a velocity and one that carries it; `step` takes the columns of both."""

    step: Callable[[Any, Any], Any]  # returns the number of the pair
    output: str  # a port (nv, nv), filled symmetrically, the armature added on the diagonal


@dataclass(frozen=True)
class Loads:
    """All loads, after the links know `X_W` and `v`: they add to `tau` and `external`, and set `shown`.

    An algorithm does those of the three that it has as ports.
    """


@dataclass(frozen=True)
class Loops:
    """All loop joints, after the links know `X_W` (and `v`): each row's force on two links, its right side.

    `right` says which equations the rows are to fulfil: of accelerations, or those by which a change of
    velocity, or of position, takes away what is left of the gap. Without it there are no rows: only what the
    algorithm has as ports is set, of `gap_position`, `gap_velocity`, `row_velocity`, `loop_bias`,
    `direction`, `loop_q`, `loop_v`, `loop_a`, `loop_own`, `equation_gap`, and `equation_force` by forces
    `row_force`.
    With `driven` the joints' own forces are added to `external`, with `pushed` what the rows do by forces
    `row_force`; with `restoring` gains times the gaps and their rates are taken from the accelerations.
    The rates of constraints' own unknowns are set if there is a port `qdot`; with `fitting`, for a change of
    position in place of velocities, Newton's change of them is added.
    """

    right: Literal["acceleration", "velocity", "position"] | None = None
    driven: bool = False
    pushed: bool = False
    restoring: bool = False
    fitting: bool = False


@dataclass(frozen=True)
class Rows:
    """A walk from tips to base over all rows and the links that feel them.

    `step(link, row, beyond)` takes the row's force on the link, `row.F`, and on its joint, `row.direct`, past
    the joint: it sets `row.y` and `row.z`, one number per velocity each, takes what the link knows from the
    right side, `row.right`, and sets `beyond.F`, to be added to that of the parent. The rows of a loop end at
    its root. Ground is known there: `at_root(world, row)` takes what it does from the right side, row.F being
    what is left. Any other root is given `absorb(root, row)` in its turn of the pass before this step, when
    the rows are eliminated with pivots 1 / `row.inverse`; and `at_root(root, row)` comes in its turn of the
    pass after `Solve`.
    """

    step: Callable[[Any, Any, Any], None]
    at_root: Callable[[Any, Any], None]
    absorb: Callable[[Any, Any], None]
    order: Literal["inward"] = "inward"


@dataclass(frozen=True)
class Solve:
    """Find the forces of all rows, (sum of y z) force = right, and add z times them to a field of columns.

    Where a loop's root is not ground, this happens in the pass that follows, after the root's turn.
    """

    field: str


@dataclass(frozen=True, eq=False)
class Algorithm:
    """Outputs from inputs by passes."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    passes: tuple[Pass | Pairs | Loads | Loops | Rows | Solve, ...]
    shared: Mapping[str, str | None]  # field -> name of its type in the algebra, None for a number
    # fields with one entry per velocity, seen by pairs and loops
    columns: Mapping[str, str | None] = field(default_factory=dict)
    start: Callable[[Any], None] | None = None  # sets the world's fields
    finish: Callable[[Any], None] | None = None  # reads the world's fields, sets world outputs
    zero: frozenset[str] = frozenset()  # inputs that are known to be zero, and not given
    clear: frozenset[str] = frozenset()  # arrays that start as zero
    tree: Literal["links", "bodies"] = "links"

    @cached_property
    def given(self) -> tuple[Port, ...]:
        return tuple(port for port in self.inputs if port.name not in self.zero)

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        return self.given + self.outputs

    @cached_property
    def walks(self) -> "tuple[Pass | Rows, ...]":
        """The steps that are code of a kind of joint."""
        return tuple(step for step in self.passes if isinstance(step, Pass | Rows))

    @cached_property
    def loaded(self) -> bool:
        """Whether loads act in it."""
        return any(isinstance(step, Loads) for step in self.passes)

    @cached_property
    def looped(self) -> bool:
        """Whether loop joints take part in it."""
        return any(isinstance(step, Loops) for step in self.passes)

    @cached_property
    def packed(self) -> frozenset[str]:
        """Outputs of walks over pairs, of which lanes keep each pair once."""
        return frozenset(step.output for step in self.passes if isinstance(step, Pairs))
