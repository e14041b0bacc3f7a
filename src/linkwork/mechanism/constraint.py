"""Constraints: equations between the poses of bodies, or the coordinates of joints, zero where satisfied.

A constraint of one's own says only `phi`; its derivatives are derived:

    class PinInSlot(lw.Constraint):
        def phi(self, a, b):
            return [b.to_local(a.to_world(self.pin))[1]]

    m.add(PinInSlot("slot", crank, lever, pin=(0.1, 0)))
"""

import copy
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.algebra.number import Number
from linkwork.errors import ModelError
from linkwork.mechanism.attachments import ends, unknown_end
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.joint_constraint import derived_jacobian
from linkwork.mechanism.journaled import Recorded
from linkwork.mechanism.load import Laws
from linkwork.mechanism.load_view import BodySide, JointSide, PoseSide, plain_or_traced
from linkwork.mechanism.names import name_text

if TYPE_CHECKING:
    from linkwork.mechanism.sketch import Line

_AGREE = 1e-8  # how near, relatively, a given phi_q must be to the derived one


class Constraint(Recorded):
    """Equations between bodies, or joints; `on` are those, in the order in which `phi` gets them.

    Joints may be given by name. Keyword numbers become attributes.
    """

    spaces: ClassVar[frozenset[str]] = frozenset({"space", "plane"})
    takes: ClassVar[type[Body] | type[Joint] | None] = None  # what it is between, None for both
    laws: ClassVar[Laws] = {}  # options that are functions, and names of the numbers they are given
    law_sizes: ClassVar[Mapping[str, int]] = {}  # how many numbers these return, if not one per dimension
    word: ClassVar[str] = "constraint"  # what it is called in messages
    sees_unknowns: ClassVar[bool] = False  # may be on joints whose coordinates do not follow from a pose
    unknowns: ClassVar[int] = 0  # numbers of its own, that `phi` gets after the sides and that are solved for
    space: str = "space"  # or "plane", as the mechanism it was added to

    def __init__(self, name: str, *on: Body | Joint | str, **numbers: Any) -> None:
        self._name = name_text(name, type(self).__name__)
        self.on: tuple[Body | Joint | str, ...] = ends(on)
        self._joints: Mapping[str, Joint] = {}
        for word, value in numbers.items():
            if hasattr(type(self), word):
                raise ValueError(
                    f"constraint {name!r}: {word}= is a word of {type(self).__name__}; rename it"
                )
            setattr(self, word, value)

    def __init_subclass__(cls) -> None:
        """Let `phi` and `phi_q` be called with plain poses as well."""
        for word in ("phi", "phi_q"):
            if word in vars(cls):
                setattr(cls, word, _on_poses(vars(cls)[word], word))

    # what a subclass says

    def phi(self, *sides: Any, **values: Any) -> Any:
        """Return what is zero where the constraint is satisfied: one number per equation.

        `sides` are the bodies (`BodySide`) and joints (`JointSide`) the constraint is between; they may also
        be given as plain poses of `bodies`: Frames, or (x, y, angle), or place and quaternion.
        """
        raise TypeError(
            f"constraint class {type(self).__name__} does not say what is zero; define phi(self, ...)"
        )

    def phi_q(self, *poses: Any, **values: Any) -> Any:
        """Return the derivatives of `phi` by the numbers of all poses (as drawn, if not given).

        A subclass may give it; it is then compared with the derived one.
        """
        return self.derived_phi_q(*poses)

    def guess(self, *sides: Any, **values: Any) -> Sequence[float]:
        """Return where to begin looking for its unknowns."""
        return [0.0] * self.unknowns

    def mistakes(self) -> list[str]:
        """List what is wrong with the options of the constraint, in words."""
        return []

    def sketch(self, size: float) -> "Iterable[Line]":
        """Return what it looks like, as lines on bodies (`lw.Line`); `size` [m] is that of all."""
        return []

    def attached(self) -> Sequence[tuple[Body, Sequence[float]]]:
        """Return the points by which it holds bodies."""
        return []

    # what follows

    @property
    def name(self) -> str:
        """The name, by which results refer to the constraint."""
        return self._name

    @property
    def algebra(self) -> ModuleType:
        return ALGEBRA[self.space]

    def settle(self, space: str, joints: Mapping[str, Joint]) -> None:
        """Know the mechanism it was added to: its space, and its joints by name."""
        self.space, self._joints = space, joints

    def sides(self) -> list[Body | Joint]:
        """Return the bodies and joints it is between, names looked up; ValueError if it cannot be."""
        found: list[Body | Joint] = []
        for thing in self.on:
            if isinstance(thing, str) and thing not in self._joints:
                raise ValueError(unknown_end(thing, self.takes, self._joints))
            side = self._joints[thing] if isinstance(thing, str) else thing
            if not isinstance(side, self.takes or Body | Joint):
                what = self.takes.__name__.lower() if self.takes else "body and no joint"
                raise ValueError(f"{getattr(side, 'name', side)!r} is not a {what}; give one")
            if isinstance(side, Joint) and not side.can_locate and not self.sees_unknowns:
                raise ValueError(
                    f"joint {side.name!r} cannot compute its coordinates from a pose; define locate(self, X)"
                )
            found.append(side)
        return found

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies whose poses the equations depend on."""
        each = [side.bodies if isinstance(side, Joint) else (side,) for side in self.sides()]
        return tuple({id(body): body for group in each for body in group}.values())

    @property
    def num_constraints(self) -> int:
        """How many freedoms it takes away: the number of its equations, less that of its own unknowns."""
        return len(self.derived_phi_q()) - self.unknowns

    def drawn_poses(self) -> list[np.ndarray]:
        """Return the poses of the bodies as drawn, as numbers."""
        Frame = self.algebra.Frame
        frames = [Frame(b.position.tolist(), b.rotation.tolist()) for b in self.bodies]
        return [np.array([float(x) for x in self.algebra.pose_coordinates(X)]) for X in frames]

    def views(
        self, poses: Sequence[BodySide], references: Sequence[Sequence[Number]] | None = None
    ) -> list[BodySide | JointSide]:
        """Return what `phi` gets, from views of `bodies`; `references` of joints, in turn, count turns."""
        at = {id(body): pose for body, pose in zip(self.bodies, poses, strict=True)}
        near = iter(references) if references is not None else None
        return [
            side.side_between(at[id(side.parent)], at[id(side.child)], next(near) if near else None)
            if isinstance(side, Joint)
            else at[id(side)]
            for side in self.sides()
        ]

    def derived_phi_q(self, *poses: Any) -> np.ndarray:
        """Return the derivatives of `phi` by the numbers of all poses, then by its own unknowns."""
        at: list[Any] = list(poses or self.drawn_poses())
        count = len(self.bodies)
        if self.unknowns and len(at) == count:
            at += self.guess(*self.views([PoseSide.of(self.algebra, pose) for pose in at]))
        return derived_jacobian(self, at[:count], at[count : count + self.unknowns])

    def jacobian_mistakes(self) -> list[str]:
        """Compare a given `phi_q` with the derived one, at a few poses near the drawing."""
        if type(self).phi_q is Constraint.phi_q:
            return []
        generator = np.random.default_rng(1)
        for _ in range(3):
            poses = [pose + generator.normal(scale=0.3, size=pose.size) for pose in self.drawn_poses()]
            wanted, given = self.derived_phi_q(*poses), np.asarray(self.phi_q(*poses), float)
            if given.shape != wanted.shape:
                return [
                    f"phi_q has shape {given.shape}; give {wanted.shape}: equations, numbers of the poses"
                ]
            error = np.abs(given - wanted)
            if error.max(initial=0.0) > _AGREE * (1.0 + np.abs(wanted).max()):
                i, j = np.unravel_index(error.argmax(), error.shape)
                return [
                    f"phi_q[{i}, {j}] is {given[i, j]:.6g} where phi changes by {wanted[i, j]:.6g}; "
                    "correct it, or leave phi_q out: it is derived"
                ]
        return []

    def __repr__(self) -> str:
        ends = "".join(f", {getattr(thing, 'name', thing)!r}" for thing in self.on)
        return f"{type(self).__name__}({self.name!r}{ends})"

    def __deepcopy__(self, memo: dict[int, Any]) -> "Constraint":
        """Copy the constraint; its functions stay what they are."""
        made = copy.copy(self)
        memo[id(self)] = made
        for word, value in vars(self).items():
            if not callable(value):
                vars(made)[word] = copy.deepcopy(value, memo)
        return made


def _on_poses(function: Callable[..., Any], word: str) -> Callable[..., Any]:
    """Let `phi`, or another function of sides, take plain poses instead; without any, as drawn."""

    @functools.wraps(function)
    def either(self: Constraint, *given: Any) -> Any:
        if given and all(isinstance(x, BodySide | JointSide) for x in given[: len(self.on)]):
            return function(self, *given)
        poses, count = given or self.drawn_poses(), len(self.bodies)
        if len(poses) < count:
            names = ", ".join(repr(body.name) for body in self.bodies)
            raise ValueError(f"constraint {self.name!r}: {len(poses)} poses; give {count}, of {names}")
        sides = self.views([PoseSide.of(self.algebra, pose) for pose in poses[:count]])
        values = poses[count:] if len(poses) > count else self.guess(*sides)
        found = function(self, *sides, *values)
        if word != "phi":
            return np.asarray(found)
        if mistakes := _list_mistakes(found):
            raise ModelError(f"{self.word} {self.name!r}: {mistakes}")
        return plain_or_traced(found)

    return either


def check_equations(constraint: Constraint) -> list[str]:
    """List what is wrong with the equations of a constraint that is in a mechanism."""
    if type(constraint).phi is Constraint.phi:
        return [f"{type(constraint).__name__} does not say what is zero; define phi(self, ...)"]
    if len(constraint.on) > 1 and len(constraint.bodies) == 1:
        return [f"it is between {constraint.bodies[0].name!r} and itself; give another body"]
    if not all(side.can_locate for side in constraint.sides() if isinstance(side, Joint)):
        return []  # over coordinates that do not follow from poses
    try:
        with np.errstate(all="ignore"):
            said = _value_mistakes(constraint.phi())
        if said:
            return said
        constraint.derived_phi_q()
        return constraint.jacobian_mistakes()
    except ModelError as error:
        return [str(error).removeprefix(f"{constraint.word} {constraint.name!r}: ")]
    except Exception as error:  # of the user's own phi
        return [f"phi raised {type(error).__name__}: {error}"]


def _list_mistakes(phi: Any) -> str:
    """Say what is wrong with what phi gives if it is no list of numbers."""
    if isinstance(phi, str | bytes) or not isinstance(phi, Iterable):
        return f"phi gives {phi!r:.80}; return a list of numbers that are zero where it is satisfied"
    if any(isinstance(x, complex | np.complexfloating) for x in phi):
        return f"phi gives {phi!r:.80}; return real numbers"
    return ""


def _value_mistakes(phi: Any) -> list[str]:
    """List what is wrong with what phi gives as drawn."""
    try:
        values = np.atleast_1d(np.asarray(phi, float))
    except (TypeError, ValueError):
        return [f"phi gives {phi!r:.80}; return a list of numbers that are zero where it is satisfied"]
    if not values.size:
        return ["phi gives no equation; return a list of numbers that are zero where it is satisfied"]
    if not np.isfinite(values).all():
        return [f"phi gives {values.tolist()} as drawn; let it give finite numbers there"]
    return []
