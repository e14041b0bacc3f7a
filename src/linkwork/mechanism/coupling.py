"""A coupling: one joint's coordinate follows another's."""

from collections.abc import Mapping
from typing import Any, Protocol

from linkwork.algebra.number import Number
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.joint import Joint
from linkwork.real_numbers import is_real


class HasName(Protocol):
    """Anything that goes by a name, such as a joint."""

    @property
    def name(self) -> str: ...


class Coupling(Constraint):
    """Say that the coordinate of `joint` is `ratio` times that of `of`, plus `offset`.

    Both joints have one coordinate and are given themselves or by name.
    """

    word = "coupling"
    takes = Joint

    def __init__(
        self, name: str, joint: HasName | str, of: HasName | str, ratio: float = 1.0, offset: float = 0.0
    ) -> None:
        for word, end in (("joint", joint), ("of", of)):
            if not isinstance(getattr(end, "name", end), str):
                raise TypeError(f"coupling {name!r}: {word} {end!r} is not a joint; give a joint or its name")
        names = [str(getattr(end, "name", end)) for end in (joint, of)]
        super().__init__(name, *names)
        for word, value in (("ratio", ratio), ("offset", offset)):
            if not is_real(value):
                raise TypeError(f"coupling {name!r}: {word} {value!r}; give a number")
        self.ratio, self.offset = float(ratio), float(offset)  # offset in [rad] or [m]

    @property
    def joint(self) -> str:
        """The name of the joint that follows."""
        return str(self.on[0])

    @property
    def of(self) -> str:
        """The name of the joint that leads."""
        return str(self.on[1])

    def phi(self, joint: Any, of: Any) -> list[Number]:
        return [joint.position - self.ratio * of.position - self.offset]

    def _key(self) -> tuple[Any, ...]:
        return type(self), self.name, self.joint, self.of, self.ratio, self.offset

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coupling) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}, {self.joint!r}, {self.of!r}, {self.ratio}, {self.offset})"
        )


def rings(leaders: Mapping[str, str]) -> list[list[str]]:
    """Return the rings among joints that follow each other, given the leader of each follower."""
    found = []
    done: set[str] = set()
    for start in leaders:
        trail: dict[str, None] = {}
        name = start
        while name in leaders and name not in done and name not in trail:
            trail[name] = None
            name = leaders[name]
        if name in trail:
            order = list(trail)
            found.append(order[order.index(name) :])
        done.update(trail)
    return found
