"""Copies of a member's elements in a whole that follow it: what has not changed stays the same object.

`merge` copies members once. Here a member is copied again after each of its edits, and only what an edit has
changed, or what refers to that, is another object then. The copies are locked: they belong to models.
"""

from collections.abc import Mapping
from itertools import chain
from typing import Any, NamedTuple

from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.contact import name_of
from linkwork.mechanism.journaled import LOCKED, Revision
from linkwork.mechanism.mechanism import Element, Mechanism
from linkwork.mechanism.merge import SEPARATOR, base_of, copy_for
from linkwork.mechanism.outside_values import outside_of
from linkwork.mechanism.snapshot import Copied, is_lasting, referred


class _Known(NamedTuple):
    revision: Revision  # of the original
    element: Any  # its copy
    lasting: bool


class MemberCopies:
    """Copies of the elements of one member, renamed and placed."""

    def __init__(self, member: str, place: Any) -> None:
        self.member, self._place = member, place
        self._known: dict[str, _Known] = {}  # by the names of the originals
        self._base: tuple[Any, ...] | None = None  # revision of the ground, body, weld, place
        self.elements: list[Element] = []  # the copies, in the order of the originals, the base first
        self.kinds: tuple[dict[str, Any], ...] = ()  # the same by name, as a mechanism has them
        self.outside: dict[str, Copied] = {}  # of those that do not last, what they read
        self.without: list[tuple[str, str]] = []  # pairs that pass through each other

    def follow(self, mechanism: Mechanism, whole: Mechanism, scenery: str) -> list[Element]:
        """Be copies of what a mechanism has now, in a whole that is being made; return those that are new.

        Elements whose names begin with `scenery` are not the member's own, but for the contact of all.
        """
        kinds = [
            {name: thing for name, thing in kind.items() if not name.startswith(scenery)}
            for kind in mechanism.kinds
        ]
        fresh = self._take_base(mechanism, whole)
        changed = {"ground"} if fresh else set[str]()
        if fresh:
            self._known.clear()
        assert self._base
        memo: dict[int, Any] = {id(mechanism.ground): self._base[1]}
        known: dict[str, _Known] = {}
        for name, thing in chain.from_iterable(kind.items() for kind in kinds):  # none uses a later kind
            there = self._known.get(name)
            if there is None or not self._serves(there, thing, changed):
                there = _Known(thing._revision, self._copied(thing, memo, whole), is_lasting(thing))
                changed.add(name)
                fresh.append(there.element)
            known[name] = there
            memo[id(thing)] = there.element
        self._known = known
        self._list(mechanism, kinds)
        return fresh

    def _serves(self, known: _Known, thing: Element, changed: set[str]) -> bool:
        same = known.lasting and known.revision is thing._revision
        return same and not (changed and changed.intersection(map(name_of, referred(thing))))

    def _take_base(self, mechanism: Mechanism, whole: Mechanism) -> list[Element]:
        """Have the body that the ground of the member is, and its weld; return them if they are new."""
        revision = mechanism.ground._revision
        if self._base and self._base[0] is revision:
            return []
        base, weld, placed = base_of(self.member, mechanism, whole.ground, self._place)
        weld.space = whole.space
        self._base = revision, base, weld, placed
        return [_locked(base), _locked(weld)]

    def _copied(self, thing: Element, memo: dict[int, Any], whole: Mechanism) -> Any:
        assert self._base
        if isinstance(thing, Constraint):
            memo[id(thing._joints)] = whole._joints
        return _locked(copy_for(self.member, thing, self._base[3], memo))

    def _list(self, mechanism: Mechanism, kinds: list[dict[str, Any]]) -> None:
        assert self._base
        _, base, weld, _ = self._base
        known, own = self._known, {id(thing): name for kind in kinds for name, thing in kind.items()}
        order = [own[key] for key in map(id, mechanism.elements) if key in own]
        self.elements = [base, weld, *(known[name].element for name in order)]
        by_name = [{known[name].element.name: known[name].element for name in kind} for kind in kinds]
        self.kinds = ({base.name: base, **by_name[0]}, {weld.name: weld, **by_name[1]}, *by_name[2:])
        loose = [one.element for one in known.values() if not one.lasting]
        self.outside = {
            each.name: Copied(each._revision, each, (), outside=outside_of(each)) for each in loose
        }
        names: Mapping[str, str] = {"ground": self.member}
        prefix = self.member + SEPARATOR
        self.without = [
            (names.get(a, prefix + a), names.get(b, prefix + b))
            for contact in mechanism.contacts.values()
            if contact.between is None
            for a, b in (map(name_of, pair) for pair in contact.without)
        ]


def _locked(element: Any) -> Any:
    element._journal = LOCKED
    return element
