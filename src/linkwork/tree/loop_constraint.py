"""A constraint as something that closes a loop, like a joint without coordinates.

All that is known of it is phi, over the poses of bodies and the coordinates of joints. With J_b its
derivatives by the motion of body b, in that body's frame, and J_j by the coordinates of joint j, a unit of a
row's force is J_b on body b and J_j on joint j, and

    sum of J_b v_b + J_j v_j = -dphi/dt,    sum of J_b a_b + J_j a_j = -(dJ/dt) v - d2phi/dt2

where phi itself changes in time only for a driver, whose row does the work that its law takes.

Unknowns of its own are taken out of its equations, see `own_unknowns`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class LoopConstraint:
    """A constraint between bodies, joints of the tree and ground, in the words of a joint."""

    constraint: Constraint | Driver
    parent: Body  # from here to the child leads the loop that it closes
    child: Body
    bodies: tuple[Body, ...]  # that it is between, without ground
    joints: tuple[Joint, ...]
    quaternion: None = None

    @property
    def nq(self) -> int:
        """How many unknowns of its own it has: what stands for coordinates."""
        return self.constraint.unknowns

    nv = nq

    @property
    def name(self) -> str:
        return self.constraint.name

    @property
    def algebra(self) -> ModuleType:
        return self.constraint.algebra

    def frames(self) -> tuple[Any, Any]:
        return self.algebra.Frame(), self.algebra.Frame()

    def per_coordinate(self, word: str) -> np.ndarray:
        return np.zeros(0)


def ties(mechanism: Mechanism, cut: Collection[Joint]) -> tuple[LoopConstraint, ...]:
    """Return the constraints of a mechanism as ties; ModelError if one is none, or on a joint that is cut."""
    found, mistakes = [], []
    for constraint in (*mechanism.constraints.values(), *mechanism.drivers.values()):
        sides = _distinct(constraint.sides())
        bodies = tuple(side for side in sides if isinstance(side, Body) and side is not mechanism.ground)
        joints = tuple(side for side in sides if isinstance(side, Joint))
        bent = next((joint for joint in joints if joint.nq != joint.nv), None)
        closing = next((joint for joint in joints if joint in cut), None)
        if bent is not None:
            on = f"{constraint.word} {constraint.name!r} is on joint"
            mistakes.append(f"{on} {bent.name!r}, which turns by a quaternion")
        elif closing is not None:
            on = f"{constraint.word} {constraint.name!r} is on joint"
            mistakes.append(
                f"{on} {closing.name!r}, which closes a loop: m.compile(cut=[...]) may cut another"
            )
        else:
            found.append(LoopConstraint(constraint, *_ends(mechanism, sides), bodies, joints))
    if mistakes:
        said = f"mechanism {mechanism.name!r}: {'; '.join(mistakes)}"
        raise ModelError(f"{said}. Driven motions are for lw.kinematics")
    return tuple(found)


def _ends(mechanism: Mechanism, sides: Sequence[Body | Joint]) -> tuple[Body, Body]:
    """Return two bodies the way between which passes what is constrained."""
    if len(sides) == 1 and isinstance(sides[0], Joint):
        return sides[0].parent, sides[0].child
    ends = []
    for side in sides:
        if isinstance(side, Joint):
            ends.append(side.parent if side.child is mechanism.ground else side.child)
        elif side is not mechanism.ground:
            ends.append(side)
    ends = [mechanism.ground, *ends] if len(ends) < 2 else ends
    return ends[0], ends[-1]


def _distinct(things: Sequence[Any]) -> list[Any]:
    return list({id(thing): thing for thing in things}.values())
