"""What a function is given when it is run to become a formula: symbols in the place of numbers.

Every kind of argument says which words a formula may use for it, and makes the symbols.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from linkwork.algebra.vector import Vector
from linkwork.formats.formula import Path, Sheet
from linkwork.formats.formula_parser import FormulaWords
from linkwork.mechanism.joint import ALGEBRA
from linkwork.mechanism.load_view import BodySide, Coordinates, JointSide, coordinates


class Argument(Protocol):
    """Something that a function is given."""

    @property
    def name(self) -> str: ...

    def words(self) -> FormulaWords: ...

    def recorded(self, sheet: Sheet) -> Any: ...


@dataclass(frozen=True)
class Scalar:
    """One number."""

    name: str

    def words(self) -> FormulaWords:
        return FormulaWords({(self.name,): "symbol"})

    def recorded(self, sheet: Sheet) -> Any:
        return sheet.node("symbol", (self.name,))


@dataclass(frozen=True)
class Numbers:
    """Several numbers, by index."""

    name: str
    count: int
    array: bool = False  # given as an array, else as a list

    def words(self) -> FormulaWords:
        return FormulaWords({(self.name, k): "symbol" for k in range(self.count)})

    def recorded(self, sheet: Sheet) -> Any:
        symbols = [sheet.node("symbol", (self.name, k)) for k in range(self.count)]
        return np.array(symbols) if self.array else symbols


def coordinates_of(name: str, count: int) -> Argument:
    """Return the coordinates of a joint as laws are given them: one number, or an array."""
    return Scalar(name) if count == 1 else Numbers(name, count, array=True)


@dataclass(frozen=True)
class Whole:
    """The positions, or velocities, of all joints."""

    name: str
    slices: Mapping[str, slice]  # in the order of the model; where it is not known they serve to count

    def paths(self, *before: str) -> list[Path]:
        found: list[Path] = []
        for joint, part in self.slices.items():
            size = part.stop - part.start
            found += [(*before, joint) if size == 1 else (*before, joint, k) for k in range(size)]
        return found

    def words(self) -> FormulaWords:
        return FormulaWords(dict.fromkeys(self.paths(self.name), "symbol"))

    def recorded(self, sheet: Sheet, *before: str) -> Coordinates:
        return coordinates(
            [sheet.node("symbol", path) for path in self.paths(*(before or (self.name,)))], self.slices
        )


@dataclass(frozen=True)
class BodyArgument:
    """A body that a load acts on, or a constraint is on, which is `still`: it sees no velocities."""

    name: str
    space: str
    still: bool = False

    @property
    def algebra(self) -> ModuleType:
        return ALGEBRA[self.space]

    def words(self) -> FormulaWords:
        n, turning, name = self.algebra.dimension, self.algebra.angular, self.name
        symbols: dict[Path, str] = {(name, ".position", k): "symbol" for k in range(n)}
        symbols |= {(name, ".rotation", i, j): "symbol" for i in range(n) for j in range(n)}
        if self.still:
            symbols |= {(name, ".angle"): "quantity"} if turning == 1 else {}
            return FormulaWords(symbols, {(name, method): n for method in ("to_world", "to_local")})
        symbols |= {(name, ".motion", k): "symbol" for k in range(self.algebra.freedoms)}
        symbols |= {(name, ".velocity", k): "quantity" for k in range(n)}
        if turning == 1:
            symbols |= {(name, word): "quantity" for word in (".angle", ".angular_velocity")}
        else:
            symbols |= {(name, ".angular_velocity", k): "quantity" for k in range(turning)}
        methods = {(name, method): n for method in ("to_world", "to_local", "velocity_at")}
        return FormulaWords(symbols, methods, {(name, "push"): n, (name, "twist"): turning})

    def recorded(self, sheet: Sheet) -> "RecordedBody":
        return RecordedBody(self.algebra, self.name, sheet)


class RecordedBody(BodySide):
    """A body whose place and motion are symbols, and that records what is read from it and pushed on it."""

    def __init__(self, algebra: ModuleType, name: str, sheet: Sheet) -> None:
        self._name, self._sheet = name, sheet
        n = algebra.dimension
        rows = [[*(self._symbol(".rotation", i, j) for j in range(n)), self._symbol(".position", i)]
                for i in range(n)]  # fmt: skip
        motion = algebra.Motion.from_scalars([self._symbol(".motion", k) for k in range(algebra.freedoms)])
        super().__init__(algebra, algebra.Frame.from_scalars([x for row in rows for x in row]), motion)

    def _symbol(self, *path: Any) -> Any:
        return self._sheet.node("symbol", (self._name, *path))

    def _quantity(self, word: str, count: int | None = None) -> Any:
        if count is None:
            return self._sheet.node("quantity", (self._name, word))
        return Vector(self._sheet.node("quantity", (self._name, word, k)) for k in range(count))

    @property
    def angle(self) -> Any:
        return self._quantity(".angle")

    @property
    def velocity(self) -> Vector:
        return self._quantity(".velocity", self.algebra.dimension)

    @property
    def angular_velocity(self) -> Any:
        turning = self.algebra.angular
        return self._quantity(".angular_velocity", None if turning == 1 else turning)

    def _asked(self, method: str, point: Any) -> Vector:
        n = self.algebra.dimension
        numbers = Vector(point)
        if len(numbers) != n:
            raise ValueError(f"{len(numbers)} numbers where the point has {n}")
        call = self._sheet.node("call", self._name, method, *map(_plain, numbers))
        return Vector(self._sheet.node("item", call, k) for k in range(n))

    def to_world(self, point: Any) -> Vector:
        return self._asked("to_world", point)

    def to_local(self, point: Any) -> Vector:
        return self._asked("to_local", point)

    def velocity_at(self, point: Any) -> Vector:
        return self._asked("velocity_at", point)

    def push(self, force: Any, at: Any = None, frame: str = "world") -> None:
        n = self.algebra.dimension
        point = None if at is None else _several(at, n, "point")
        self._sheet.act(self._name, "push", _several(force, n, "force"), at=point, frame=frame)

    def twist(self, torque: Any, frame: str = "world") -> None:
        self._sheet.act(self._name, "twist", _several(torque, self.algebra.angular, "torque"), frame=frame)


@dataclass(frozen=True)
class JointArgument:
    """A joint that a load acts on, or a constraint is on, which is `still`: it sees no velocities."""

    name: str
    nq: int
    nv: int
    still: bool = False

    def words(self) -> FormulaWords:
        symbols: dict[Path, str] = {(self.name, ".q", k): "symbol" for k in range(self.nq)}
        if self.still:
            return FormulaWords(symbols)
        symbols |= {(self.name, ".v", k): "symbol" for k in range(self.nv)}
        return FormulaWords(symbols, verbs={(self.name, "push"): self.nv})

    def recorded(self, sheet: Sheet) -> "RecordedJoint":
        return RecordedJoint(self, sheet)


class RecordedJoint(JointSide):
    """A joint whose coordinates are symbols, and that notes how it is pushed."""

    def __init__(self, joint: JointArgument, sheet: Sheet) -> None:
        self._joint, self._sheet = joint, sheet
        super().__init__(
            [sheet.node("symbol", (joint.name, ".q", k)) for k in range(joint.nq)],
            [sheet.node("symbol", (joint.name, ".v", k)) for k in range(joint.nv)],
        )

    def push(self, force: Any) -> None:
        self._sheet.act(self._joint.name, "push", _several(force, self._joint.nv, "force"))


@dataclass(frozen=True)
class SystemArgument:
    """All coordinates, for loads that look at the whole mechanism."""

    q: Whole
    v: Whole
    name: str = "system"

    def words(self) -> FormulaWords:
        symbols: dict[Path, str] = dict.fromkeys(self.q.paths(self.name, ".q"), "symbol")
        symbols |= dict.fromkeys(self.v.paths(self.name, ".v"), "symbol")
        joints = {joint: part.stop - part.start for joint, part in self.v.slices.items()}
        return FormulaWords(symbols, verbs={(self.name, "push"): 0}, joints=joints)

    def recorded(self, sheet: Sheet) -> "RecordedSystem":
        return RecordedSystem(self, sheet)


class RecordedSystem:
    """The whole mechanism, its coordinates symbols."""

    def __init__(self, system: SystemArgument, sheet: Sheet) -> None:
        self._sheet, self._sizes = sheet, system.words().joints
        self.q = system.q.recorded(sheet, system.name, ".q")
        self.v = system.v.recorded(sheet, system.name, ".v")

    def push(self, joint: str, force: Any) -> None:
        numbers = _several(force, self._sizes[joint], "force")
        self._sheet.act("system", "push", numbers, joint=joint)


@dataclass(frozen=True)
class FrameArgument:
    """A pose."""

    name: str
    space: str

    @property
    def algebra(self) -> ModuleType:
        return ALGEBRA[self.space]

    def words(self) -> FormulaWords:
        n = self.algebra.dimension
        symbols: dict[Path, str] = {
            (self.name, ".rotation", i, j): "symbol" for i in range(n) for j in range(n)
        }
        return FormulaWords(symbols | {(self.name, ".position", k): "symbol" for k in range(n)})

    def recorded(self, sheet: Sheet) -> Any:
        n = self.algebra.dimension
        scalars = []
        for i in range(n):
            scalars += [sheet.node("symbol", (self.name, ".rotation", i, j)) for j in range(n)]
            scalars.append(sheet.node("symbol", (self.name, ".position", i)))
        return self.algebra.Frame.from_scalars(scalars)


class Pose:
    """A frame by the words of a FrameArgument, over any number."""

    def __init__(self, frame: Any, dimension: int) -> None:
        scalars = frame.scalars()
        rows = [scalars[k * (dimension + 1) : (k + 1) * (dimension + 1)] for k in range(dimension)]
        self.rotation, self.position = [row[:-1] for row in rows], [row[-1] for row in rows]


def _several(value: Any, count: int, what: str) -> list[Any]:
    items = list(value) if isinstance(value, list | tuple) or np.ndim(value) else [value]
    if len(items) != count:
        raise ValueError(f"{len(items)} numbers where the {what} has {count}")
    return [x.item() if isinstance(x, np.ndarray) else x for x in items]


def _plain(x: Any) -> Any:
    return x if hasattr(x, "graph") else float(x)
