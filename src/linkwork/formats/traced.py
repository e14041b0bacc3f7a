"""Elements of users' own classes as they come back from a file: their formulas, without the class."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from linkwork.algebra.number import Number
from linkwork.formats.formula_arguments import Pose
from linkwork.formats.formula_law import Law
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.joint import Joint, JointOptions
from linkwork.mechanism.load import Load


class TracedJoint(Joint):
    """A joint by formulas; `class_name` is that of the class it was an object of."""

    def __init__(
        self,
        name: str,
        parent: Body,
        child: Body,
        *,
        class_name: str,
        laws: Mapping[str, Law],
        coordinates: int,
        positions: int | None = None,
        quaternion: int | None = None,
        neutral: Sequence[float] | None = None,
        drawn: Sequence[float] | None = None,
        **options: Unpack[JointOptions],
    ) -> None:
        super().__init__(name, parent, child, **options)
        self.class_name, self.laws = class_name, dict(laws)
        self.coordinates, self.positions, self.quaternion = coordinates, positions, quaternion  # type: ignore[misc]
        self.neutral_said, self.drawn_said = neutral, drawn

    def __repr__(self) -> str:
        parent, child = self.ends
        return f"{self.class_name}({self.name!r}, {parent!r}, {child!r})"

    def motion(self, q: Sequence[Number]) -> Any:
        rows = self.laws["motion"](q)
        return self.algebra.Frame.from_scalars([x for row in rows for x in row])

    def rates(self, q: Sequence[Number], v: Sequence[Number]) -> Sequence[Number]:
        return self.laws["rates"](q, v) if "rates" in self.laws else super().rates(q, v)

    def subspace(self, q: Sequence[Number]) -> list[Any] | None:
        if "subspace" not in self.laws:
            return None
        return [self.algebra.Motion.from_scalars(row) for row in self.laws["subspace"](q)]

    def displacement(self, q: Sequence[Number]) -> Sequence[Number] | None:
        return self.laws["displacement"](q) if "displacement" in self.laws else super().displacement(q)

    def locate(self, X: Any) -> Sequence[Number]:
        if "locate" not in self.laws:
            return super().locate(X)
        return self.laws["locate"](Pose(X, self.algebra.dimension))

    @property
    def can_locate(self) -> bool:
        return "locate" in self.laws

    def neutral(self) -> list[float]:
        return super().neutral() if self.neutral_said is None else list(self.neutral_said)

    def drawn(self) -> list[float]:
        return super().drawn() if self.drawn_said is None else list(self.drawn_said)


class TracedLoad(Load):
    """A load by its formula; `class_name` is that of the class it was an object of."""

    def __init__(
        self, name: str, *on: Any, class_name: str, law: Law, units: Sequence[str] | None, whole: bool = False
    ) -> None:
        super().__init__(name, *on)
        self.class_name, self.law, self.whole = class_name, law, whole
        self.units_said = None if units is None else tuple(units)

    def __repr__(self) -> str:
        ends = "".join(f", {getattr(thing, 'name', thing)!r}" for thing in self.on)
        return f"{self.class_name}({self.name!r}{ends})"

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return super().units(shown, coordinates) if self.units_said is None else self.units_said

    def act(self, t: Number, *sides: Any) -> Any:
        return self.law(t, *sides)


class TracedConstraint(Constraint):
    """A constraint by the formula of its phi; `class_name` is that of the class it was an object of."""

    def __init__(
        self, name: str, *on: Any, class_name: str, phi: Law, unknowns: int = 0, guess: Law | None = None
    ) -> None:
        super().__init__(name, *on)
        self.class_name, self.phi_law, self.guess_law = class_name, phi, guess
        self.unknowns = unknowns  # type: ignore[misc]

    def __repr__(self) -> str:
        ends = "".join(f", {getattr(thing, 'name', thing)!r}" for thing in self.on)
        return f"{self.class_name}({self.name!r}{ends})"

    def phi(self, *sides: Any) -> Any:
        return self.phi_law(*sides)

    def guess(self, *sides: Any) -> Sequence[float]:
        return super().guess(*sides) if self.guess_law is None else self.guess_law(*sides)


@dataclass(frozen=True)
class TracedStop:
    """A stop by its formulas; `class_name` is that of the class it was an object of."""

    class_name: str
    absent: tuple[float, ...]
    numbers_law: Law  # of the inertia
    force_law: Law

    def numbers(self, inertia: float) -> tuple[float, ...]:
        return tuple(float(x) for x in self.numbers_law(inertia))

    def mistakes(self) -> list[str]:
        return []

    def force(self, x: Number, rate: Number, lower: Number, upper: Number, numbers: Sequence[Number]) -> Any:
        return self.force_law(x, rate, lower, upper, numbers)

    @property
    def formula(self) -> str:
        """What distinguishes it from other stops."""
        return str(self.force_law.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TracedStop) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class TracedContactLaw:
    """A law of contact by a formula; its parameters are known by name, and some of them have values."""

    def __init__(self, law: Law, constants: Mapping[str, float]) -> None:
        self.law = law
        kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(name, kind, default=constants.get(name, empty)) for name in law.names]
        )

    def __call__(self, *values: Number, **named: Number) -> Any:
        given = self.__signature__.bind(*values, **named)
        given.apply_defaults()
        return self.law(*given.args)
