"""What a diagnosis finds, as data; printed, it is a report."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from linkwork.errors import unknown
from linkwork.model.diagnosis_text import html, text
from linkwork.spelling import fixed

Array = np.ndarray


@fixed("it says what was found")
@dataclass(frozen=True, eq=False)
class FreeMotion:
    """Motions that keep the loops closed: of each, one independent velocity is 1 and the others are 0."""

    independent: tuple[str, ...]  # the velocities that are 1, one after the other
    coordinates: tuple[str, ...]  # velocities of all joints
    rates: Array  # (freedoms, coordinates) [rad/s, m/s per unit]

    @property
    def freedoms(self) -> int:
        return len(self.independent)

    def __getitem__(self, coordinate: str) -> Array:
        """Return the velocity of a coordinate in each of the motions: (freedoms,)."""
        if coordinate not in self.coordinates:
            raise KeyError(unknown("coordinate", coordinate, self.coordinates))
        return self.rates[:, self.coordinates.index(coordinate)]


@fixed("it says what was found")
@dataclass(frozen=True, eq=False)
class DeadJoint:
    """A joint that cannot drive the mechanism at this position, or at one near it."""

    coordinate: str
    here: bool
    independent: str  # a joint that does move
    ahead: float  # how far that joint is from there [rad, m]


@fixed("it says what was found")
@dataclass(frozen=True, eq=False)
class Drives:
    """What driving some joints would do."""

    driven: tuple[str, ...]
    undriven: int  # freedoms they do not move
    quality: float  # smallest singular value of how the free motions move them, 0 at a dead point
    left: FreeMotion  # what still moves when they are held


@fixed("it says what was found")
@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """What `model.diagnose` found; printed, it is a report."""

    name: str
    q: Array  # (nq,) the position looked at, closed
    open_by: float  # worst gap of the position given, without units; above 1e-9 it was closed first
    bodies: int
    joints: tuple[str, ...]  # those of the tree, then those that close loops, and constraints and drivers
    constraints: tuple[str, ...]  # the constraints and drivers among them
    loops: tuple[str, ...]
    coordinates: tuple[str, ...]  # velocities of all joints, those that close loops last
    units: tuple[str, ...]  # "rad" or "m", of each
    freedoms: int  # that last: dimension of the largest branch of motion at q
    freedoms_now: int  # at q: velocities less the rank
    velocities: int  # of the spanning tree
    equations: int  # of the loops
    rank: int  # of the equations at q
    rank_near: int  # at positions near q, where it is largest
    singular_values: Array  # of the equations without units
    motion: FreeMotion  # all free motions at q
    branches: tuple[FreeMotion, ...]  # what lasts: one of them, unless q is singular
    infinitesimal: FreeMotion  # free motions that are in no branch: they do not last
    locked: tuple[str, ...]  # coordinates that move neither at q nor near it
    redundant: Mapping[str, int]  # by joint: how many of its equations follow from those of all others
    not_unique: Mapping[str, tuple[str, ...]]  # by joint: components of its reaction, as in model.reactions
    idle_forces: Array  # (redundant equations, joints, 6 or 3) reactions that balance each other [N m, N]
    margin: float  # smallest singular value that does not belong to a redundant equation; 0: q is singular
    weakest: str  # the loop that loses an equation there
    slope: float  # how fast the margin falls at most, per unit of a motion without units
    singular_ahead: float  # way to the singular position, extrapolated; infinite if the margin does not fall
    time_ahead: float  # the same as time [s] at the velocity given
    opening: float  # how fast the velocity given opens the loops, without units [1/s]
    dead_points: tuple[DeadJoint, ...]
    drives: Drives | None
    notes: tuple[str, ...] = ()  # what was filled in, and what was used though it is odd

    @property
    def counted(self) -> int:
        """Gruebler's count: velocities of the tree less equations."""
        return self.velocities - self.equations

    @property
    def redundant_now(self) -> int:
        """How many equations follow from the others at q."""
        return self.equations - self.rank

    @property
    def redundant_near(self) -> int:
        """How many do so at positions near q."""
        return self.equations - self.rank_near

    @property
    def singular(self) -> bool:
        """Whether the rank is smaller at q than near it, or free motions do not last."""
        return self.freedoms != self.freedoms_now or self.rank < self.rank_near or len(self.branches) > 1

    @property
    def bifurcation(self) -> bool:
        """Whether several branches of motion meet at q."""
        return len(self.branches) > 1

    def __str__(self) -> str:
        return text(self)

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.name!r}: {self.freedoms} freedoms, {self.freedoms_now} at q>"

    def _repr_html_(self) -> str:
        return html(self)
