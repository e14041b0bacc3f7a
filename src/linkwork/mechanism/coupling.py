"""A coupling: one joint's coordinate follows another's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class Named(Protocol):
    """Anything that goes by a name, such as a joint."""

    name: str


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
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "joint", joint if isinstance(joint, str) else joint.name)
        object.__setattr__(self, "of", of if isinstance(of, str) else of.name)
        object.__setattr__(self, "ratio", float(ratio))
        object.__setattr__(self, "offset", float(offset))


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
