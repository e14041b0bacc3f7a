"""Bodies that pass through each other for now: they overlapped when what held them together was taken away.

Bodies that a joint joins may overlap, and do not meet. When it goes they would be thrown apart; so they pass
through each other as long as their boxes overlap, looked at whenever models are made.
"""

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from linkwork.mechanism.contact import Pair, name_of
from linkwork.scene.scene_mechanism import CONTACT

if TYPE_CHECKING:
    from linkwork.mechanism.mechanism import Mechanism
    from linkwork.scene.body_arrays import BodyArrays
    from linkwork.scene.unit import Unit

Array = np.ndarray


def overlapping(arrays: "BodyArrays", unit: "Unit", pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs of bodies of a unit, by name, whose boxes overlap where they are."""
    found = []
    for a, b in pairs:
        if a in unit.numbers and b in unit.numbers:
            low, high = arrays.reached([unit.first + unit.numbers[name] for name in (a, b)], 0.0, 0.0)
            if (low[0] <= high[1]).all() and (high[0] >= low[1]).all():
                found.append((a, b))
    return found


def joined_pairs(mechanism: "Mechanism") -> set[Pair]:
    """Return the pairs of bodies that a joint joins, ground not among them."""
    pairs = (tuple(sorted(joint.ends)) for joint in mechanism.joints.values())
    return {(a, b) for a, b in pairs if "ground" not in (a, b)}


class Passing:
    """What a scene lets pass: pairs in each unit, beside those that its own contact names for good."""

    def __init__(self) -> None:
        self._for_now: dict[Unit, set[Pair]] = {}

    def of(self, unit: "Unit") -> set[Pair]:
        """Return the pairs of a unit that pass for now."""
        return self._for_now.get(unit, set())

    def let(self, unit: "Unit", arrays: "BodyArrays", parted: Iterable[Pair]) -> None:
        """Let pairs pass that were joined, and those that still overlap; do so in the unit's mechanism.

        The unit may still have bodies that the mechanism has no longer.
        """
        known, bodies = self.of(unit), unit.mechanism.bodies
        there = {(a, b) for a, b in {*known, *parted} if a in bodies and b in bodies}
        now = set(overlapping(arrays, unit, there))
        if now == known:
            return
        contact = unit.mechanism.contacts.get(CONTACT)
        if contact is not None:
            plain = [tuple(name_of(end) for end in pair) for pair in contact.without]
            contact.without = [*(pair for pair in plain if pair not in known), *sorted(now)]
        self._for_now[unit] = now

    def have(self, unit: "Unit", pairs: set[Pair]) -> None:
        """Know that pairs of a unit pass for now, as its contact says already."""
        self._for_now[unit] = set(pairs)

    def move(self, unit: "Unit", other: "Unit", names: Mapping[str, str], bodies: Container[str]) -> None:
        """Know that some bodies of a unit are those of another now, there perhaps under other names."""
        known = self.of(unit)
        moved = {pair for pair in known if pair[0] in bodies and pair[1] in bodies}
        renamed = {tuple(sorted(names.get(name, name) for name in pair)) for pair in moved}
        self._for_now[unit] = known - moved
        self._for_now[other] = self.of(other) | {(a, b) for a, b in renamed}

    def forget(self, unit: "Unit") -> None:
        """Forget a unit that is gone."""
        self._for_now.pop(unit, None)
