"""What passes see: a link, its parent, the world; attributes stand for numbers or places in memory."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from linkwork.dynamics.algorithm import Algorithm, Port
from linkwork.trace.expression import Operand
from linkwork.tree.joint_formula import JointFormula
from linkwork.tree.tree import DataLayout

Read = Callable[[str], Any]
Write = Callable[[str, Any], None]


class View:
    """A link (or the world) as a pass sees it."""

    __slots__ = ("_read", "_write")

    def __init__(self, read: Read, write: Write):
        object.__setattr__(self, "_read", read)
        object.__setattr__(self, "_write", write)

    def __getattr__(self, name: str) -> Any:
        return self._read(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._write(name, value)


def flatten(value: Any) -> list[Operand]:
    """Return the numbers a value is made of."""
    if hasattr(value, "scalars"):
        return list(value.scalars())
    return [x for item in value for x in flatten(item)] if isinstance(value, list) else [value]


def like(template: Any, scalars: Sequence[Operand]) -> Any:
    """Make a value of the shape of the template from other numbers."""
    numbers = iter(scalars)

    def build(item: Any) -> Any:
        if hasattr(item, "scalars"):
            return type(item).from_scalars([next(numbers) for _ in item.scalars()])
        return [build(x) for x in item] if isinstance(item, list) else next(numbers)

    return build(template)


def typed(algebra: ModuleType, kind: str | None, scalars: Sequence[Operand]) -> Any:
    """Make a number, or a value of the named class of the algebra."""
    return scalars[0] if kind is None else getattr(algebra, kind).from_scalars(scalars)


def port_value(port: Port, algebra: ModuleType, scalars: Sequence[Operand]) -> Any:
    """Return what a link reads from a port: a force on it, say, or a list of numbers."""
    return typed(algebra, port.kind, scalars) if port.kind else list(scalars)


def type_size(algebra: ModuleType, kind: str | None) -> int:
    """Return of how many numbers a number, or a value of the named class, is made."""
    return 1 if kind is None else getattr(algebra, kind).size


class LinkLayout:
    """Where shared fields lie in each link's block, the same for all kinds: fields, then columns."""

    def __init__(self, algorithm: Algorithm, algebra: ModuleType):
        def size(kind: str | None) -> int:
            return type_size(algebra, kind)

        self.offsets: dict[str, int] = {}
        self.size = 0
        for name, kind in algorithm.shared.items():
            self.offsets[name] = self.size
            self.size += size(kind)
        self.stride = 0  # of the columns of one velocity
        for name, kind in algorithm.columns.items():
            self.offsets[name] = self.size + self.stride
            self.stride += size(kind)

    def places(self, algorithm: Algorithm, algebra: ModuleType, name: str, nv: int) -> list[int]:
        """Return the places of a shared field in the block; of a column field, for all velocities."""
        first = self.offsets[name]
        if name in algorithm.columns:
            size = type_size(algebra, algorithm.columns[name])
            return [first + k * self.stride + i for k in range(nv) for i in range(size)]
        return list(range(first, first + type_size(algebra, algorithm.shared[name])))


Make = Callable[[Read], Any]  # makes a field of a link, reading others


def constituents(
    kind: JointFormula, data: Sequence[Operand], q: Sequence[Operand], v: Sequence[Operand]
) -> dict[str, Make]:
    """Return how to make what a link is made of from its constants and coordinates, when asked for."""
    algebra = kind.algebra
    at = DataLayout.of(algebra, kind.nv)
    frame = algebra.Frame
    parameters = data[at.parameters : at.parameters + kind.n_parameters]

    def joint_velocity(S: Sequence[Any]) -> Any:
        total = algebra.Motion.zero()
        for s, speed in zip(S, v, strict=True):
            total = total + s * speed
        return total

    return {
        "algebra": lambda _: algebra,
        "reverse": lambda _: kind.reverse,
        "placement": lambda _: frame.from_scalars(data[: frame.size]),
        "XJ": lambda _: kind.motion(q, parameters),
        "X": lambda read: read("placement") @ read("XJ"),
        "S": lambda _: kind.subspace(q, parameters),
        "vJ": lambda read: joint_velocity(read("S")),
        "cJ": lambda _: kind.bias(q, v, parameters),
        "rates": lambda _: list(kind.position_rates(q, v, parameters)),
        "drive": lambda _: kind.own_forces(q, v, parameters),
        "inertia": lambda _: algebra.RigidInertia.from_scalars(data[at.inertia : at.body]),
        "body": lambda _: frame.from_scalars(data[at.body : at.armature]),
        "armature": lambda _: list(data[at.armature : at.parameters]) if kind.armature else [0.0] * kind.nv,
    }
