"""A coupling: one joint's coordinate follows another's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from linkwork.mechanism.name import name_text


class Named(Protocol):
    """Anything that goes by a name, such as a joint."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, init=False)
class Coupling:
    """Say that the coordinate of `joint` is `ratio` times that of `of`, plus `offset`.

    Both joints have one coordinate and are given themselves or by name.
    """

    name: str
    joint: str
    of: str
    ratio: float
    offset: float  # [rad] or [m]

    def __init__(
        self, name: str, joint: Named | str, of: Named | str, ratio: float = 1.0, offset: float = 0.0
    ) -> None:
        object.__setattr__(self, "name", name_text(name, "Coupling"))
        for word, end in (("joint", joint), ("of", of)):
            end_name = getattr(end, "name", end)
            if not isinstance(end_name, str):
                raise TypeError(f"coupling {name!r}: {word} {end!r} is no joint; give a joint or its name")
            object.__setattr__(self, word, end_name)
        for word, value in (("ratio", ratio), ("offset", offset)):
            if isinstance(value, str):
                raise TypeError(f"coupling {name!r}: {word} {value!r}; give a number")
            object.__setattr__(self, word, float(value))


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
