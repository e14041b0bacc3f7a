"""Copies of mechanisms; those of models share what has not changed since an earlier copy.

An element is *lasting* if nothing of it can change unseen: its class is one of this package, and so are its
values, or they are numbers and texts. What lasts and has the revision it had is taken over from an earlier
copy. What is made of the user's own code (functions, classes of his own), or holds lists, is taken over if
nothing that it reads has changed either (`outside`).
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from itertools import compress
from operator import attrgetter, is_not
from typing import Any

import numpy as np

from linkwork.lazy import kept
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Free
from linkwork.mechanism.mechanism import Element, Mechanism
from linkwork.mechanism.outside import Outside, outside_of
from linkwork.mechanism.recorded import LOCKED, Recorded, Revision
from linkwork.varied import Varied

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A locked copy of a mechanism, and where its elements come from; with a name twice there is nothing."""

    mechanism: Mechanism
    copies: dict[str, "Copied"]  # by name, ground among them
    current: dict[str, Element]  # the copies themselves
    revisions: dict[str, Revision]  # of the originals
    own: list[str]  # the names of elements that do not last

    @kept
    def outsides(self) -> dict[str, Outside]:
        """What elements read beside what they are given, by name, where that can change."""
        return {name: there for name in self.own if (there := self.copies[name].outside)}

    @kept
    def elements(self) -> frozenset[Element]:
        return frozenset(self.mechanism.elements)

    def freed(self, body: Body, like: "Snapshot | None" = None) -> Joint:
        """Give a body that no joint connects to ground a Free joint, named for it: 'bob free'."""
        mechanism, name = self.mechanism, f"{body.name} free"
        while name in self.current:
            name += "'"
        known = like.copies.get(name) if like else None
        joint = known.element if known and known.made_here and known.uses == (body,) else None
        if not isinstance(joint, Joint):
            joint = Free(name, mechanism.ground, body)
            joint.space = mechanism.space
            joint._journal = LOCKED
        self.copies[name] = Copied(joint._revision, joint, (body,), made_here=True)
        self.revisions[name] = joint._revision
        self.current[name] = mechanism._joints[name] = joint
        mechanism._elements.append(joint)
        return joint


@dataclass(frozen=True, eq=False)
class Copied:
    """A copy of an element."""

    revision: Revision  # of the original
    element: Element
    uses: tuple[Element, ...]  # copies of other elements that it refers to
    source: Element | None = None  # the original
    before: Outside | None = None  # what the original reads, if it does not last
    outside: Outside | None = None  # what the copy reads
    made_here: bool = False  # it is no copy: see `freed`

    def serves(self, original: Element) -> bool:
        """Whether it is a copy of an element of the same revision still."""
        if self.before is None:
            return True
        if original is self.element:  # of a model that is made anew
            return self.outside is None or self.outside.same
        return original is self.source and self.before.same


_name, _revision = attrgetter("_name"), attrgetter("_revision")


def snapshot(mechanism: Mechanism, like: Snapshot | None = None) -> Snapshot:
    """Copy a mechanism so that it cannot be changed; what is unchanged is taken over from `like`."""
    things: list[Element] = [mechanism.ground, *mechanism.elements]
    names = list(map(_name, things))
    originals = dict(zip(names, things, strict=True))
    if len(originals) < len(names):
        return Snapshot(mechanism.copy(), {}, {}, {}, [])  # `check` will refuse it
    revisions = dict(zip(names, map(_revision, things), strict=True))
    kinds = ({"ground": mechanism.ground}, *mechanism.kinds)  # none uses one of a later kind
    copies, current, missing = ({}, {}, set(names))
    if like:
        copies, current, missing = _taken_over(like, revisions, originals, kinds)
    made = _locked_like(mechanism)
    for kind in kinds:
        for name in kind.keys() & missing:
            copies[name] = _copied(originals[name], originals, current, made)
            current[name] = copies[name].element
    vars(made)["_ground"] = current["ground"]
    for target, kind in zip(made._kinds, kinds[1:], strict=True):
        target.update(zip(kind, map(current.__getitem__, kind), strict=True))
    made._elements.extend(map(current.__getitem__, names[1:]))
    own = [name for name in like.own if name in copies and name not in missing] if like else []
    own += [name for name in names if name in missing and copies[name].before is not None] if missing else []
    return Snapshot(made, copies, current, revisions, own)


def editable_copy(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism of its own, as `copy` does; what lasts in its elements is shared with them.

    So a model grows from one of the original as from one of its own.
    """
    made = snapshot(mechanism).mechanism
    for thing in (made.ground, *made.elements):
        thing._journal = None
    made._start_journal()
    return made


def _locked_like(mechanism: Mechanism) -> Mechanism:
    """Return a locked mechanism with the attributes of another, and no elements yet."""
    made = Mechanism.__new__(Mechanism)  # its constructor would make a ground and a journal
    empty = {word: type(value)() for word, value in vars(mechanism).items() if isinstance(value, list | dict)}
    vars(made).update(vars(mechanism) | empty)
    made._complete, made._journal = True, LOCKED
    return made


def _taken_over(
    like: Snapshot,
    revisions: Mapping[str, Revision],
    originals: Mapping[str, Element],
    kinds: Sequence[Mapping[str, Element]],
) -> tuple[dict[str, "Copied"], dict[str, Element], set[str]]:
    """Return the copies that serve again, and the names of all others.

    A copy serves if nothing of the element, or of what it refers to, has changed. None of the `kinds` uses
    one of a later kind.
    """
    copies, current, known = dict(like.copies), dict(like.current), like.revisions.get
    changed = map(is_not, map(known, revisions), revisions.values())
    missing = set(compress(revisions, changed))
    missing |= {name for name in like.own if name in originals and not copies[name].serves(originals[name])}
    gone = (copies.keys() - revisions.keys()) | (missing & copies.keys())
    while gone:
        lost = {current.pop(name) for name in gone}
        for name in gone:
            del copies[name]
        users = kinds[2 if any(isinstance(thing, Body) for thing in lost) else 3 :]
        found = ((name, copies[name]) for kind in users for name in kind if name in copies)
        gone = {name for name, copied in found if not lost.isdisjoint(copied.uses)}
        missing.update(gone)
    return copies, current, missing


def _copied(
    element: Element, originals: Mapping[str, Element], current: Mapping[str, Element], made: Mechanism
) -> Copied:
    lasting = is_lasting(element)

    def copied(value: Any) -> Any:
        """Return a value that lasts, with the copies of elements in it."""
        if type(value) in _PLAIN:
            return value
        if isinstance(value, tuple):
            return tuple(map(copied, value))
        name = value.name if isinstance(value, Element) else ""
        return current[name] if name and originals.get(name) is value else value

    if lasting:
        new = type(element).__new__(type(element))
        vars(new).update((word, copied(value)) for word, value in vars(element).items())
        if "_joints" in vars(element):
            vars(new)["_joints"] = made._joints
    else:
        memo: dict[int, Any] = {
            id(originals[name]): there for name, there in current.items() if name in originals
        }
        if isinstance(element, Constraint):
            memo[id(element._joints)] = made._joints
        new = copy.deepcopy(element, memo)
    new._revision, new._complete = element._revision, True
    new._journal = LOCKED
    names = (getattr(thing, "name", thing) for thing in _referred(element))
    used = tuple(
        {name: current[name] for name in names if isinstance(name, str) and name in current}.values()
    )
    if lasting:
        return Copied(element._revision, new, used)
    reads = None if isinstance(element, Body) else outside_of(new)  # bodies have no laws
    return Copied(element._revision, new, used, element, outside_of(element), reads)


def _referred(element: Element) -> Iterable[Any]:
    """Return what an element refers to: bodies, joints, names of joints."""
    if isinstance(element, Body):
        return ()
    return element.bodies if isinstance(element, Joint) else element.on


def is_lasting(element: Element) -> bool:
    """Whether nothing of an element can change without another revision."""
    if not is_ours(type(element)):
        return False
    return all(word == "_joints" or lasts(value) for word, value in vars(element).items())


def lasts(value: Any) -> bool:
    """Whether a value cannot change."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, Recorded | np.generic | Varied):
        return True
    if kind is tuple:
        return all(map(lasts, value))
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    if not is_ours(kind) or callable(value):
        return False
    if is_dataclass(value):
        return kind.__dataclass_params__.frozen and all(map(lasts, vars(value).values()))
    return kind.__module__.startswith("linkwork.algebra.")


def is_ours(kind: type) -> bool:
    """Whether a class is one of this package."""
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]
