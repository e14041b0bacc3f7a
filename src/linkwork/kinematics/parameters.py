"""Numbers of a mechanism by name: ("C", "on_parent", 0), ("rod", "length"), ("slot", "pin", 1).

A name is that of a joint, constraint or driver, a word, and an index if the word says several numbers. A
joint has its points "on_parent" and "on_child", in axes of these bodies, however given, and what its
class depends on, such as "pitch"; a constraint has all its options that are numbers.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.errors import unknown
from linkwork.kinematics.equations import Thing
from linkwork.mechanism.joint import Joint

Place = tuple[str, str] | tuple[str, str, int]


@dataclass(frozen=True)
class Number:
    """A number of one thing."""

    thing: Thing
    word: str
    index: int | None

    @property
    def side(self) -> int | None:
        """Which point of a joint it is on: 0 that on the parent, 1 that on the child; None: it is on none."""
        words = ("on_parent", "on_child")
        return words.index(self.word) if isinstance(self.thing, Joint) and self.word in words else None

    @property
    def in_frames(self) -> int:
        """Where it is among the numbers of both frames of a joint."""
        assert self.side is not None
        size, n = self.thing.algebra.Frame.size, self.thing.algebra.dimension
        return size * self.side + (self.index or 0) * (n + 1) + n

    @property
    def value(self) -> float:
        """Its value as it was given."""
        if self.side is not None:
            assert isinstance(self.thing, Joint)
            return float(self.thing.frames()[self.side].p[self.index or 0])
        said = _said(self.thing, self.word)
        return float(said if self.index is None else said[self.index])

    def put(self, value: Any) -> Thing:
        """Return a copy of its thing with another value, a traced one maybe."""
        made = copy.copy(self.thing)
        said = _said(self.thing, self.word)
        if self.index is not None:
            value = [*said[: self.index], value, *said[self.index + 1 :]]
        setattr(made, self.word, value)
        return made


def number(things: Sequence[Thing], place: Any, who: str) -> Number:
    """Find a number by its name; ValueError, as `who`, if there is none."""
    if not isinstance(place, tuple | list) or len(place) not in (2, 3):
        raise ValueError(f"{who}: {place!r} names no number; give (thing, word) or (thing, word, index)")
    name, word, *rest = place
    thing = next((each for each in things if each.name == name), None)
    if thing is None:
        raise ValueError(f"{who}: {unknown('name', name, (each.name for each in things))}")
    found = Number(thing, word, rest[0] if rest else None)
    count = thing.algebra.dimension if found.side is not None else _count(thing, word, who)
    if (count is None) != (found.index is None):
        remedy = f"give one of {count} by its index" if count else "drop the index"
        raise ValueError(f"{who}: {tuple(place)!r}; {remedy}")
    if count is not None and found.index not in range(count):
        raise ValueError(f"{who}: {tuple(place)!r}; there are {count} numbers, from 0 on")
    return found


def _count(thing: Thing, word: str, who: str) -> int | None:
    """Return how many numbers a word says; None for one that is not a list."""
    said = _said(thing, word)
    try:
        numbers = np.asarray(said, float)
        plain = said is not None and not isinstance(said, bool | str) and numbers.ndim < 2
    except (TypeError, ValueError):
        plain, numbers = False, np.zeros(0)
    if not plain:
        raise ValueError(f"{who}: {thing.name!r} has no number {word!r}")
    return len(numbers) if numbers.ndim else None


def _said(thing: Thing, word: str) -> Any:
    """Return the options of a thing; points that were not given are origins."""
    said = vars(thing).get(word)
    if said is None and word in ("on_parent", "on_child") and word in vars(thing):
        return [0.0] * thing.algebra.dimension
    return said.tolist() if isinstance(said, np.ndarray) else said
