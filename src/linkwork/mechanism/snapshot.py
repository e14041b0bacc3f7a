"""Copies of mechanisms; those of models share what has not changed since an earlier copy.

An element is *lasting* if nothing of it can change unseen: its class is one of this package, and so are its
values, or they are numbers and texts. What lasts and has the revision it had is taken over from an earlier
copy. What is made of the user's own code (functions, classes of his own), or holds lists, is taken over if
nothing that it reads has changed either (`outside_values`).
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from linkwork.lazy import kept
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Free
from linkwork.mechanism.journaled import LOCKED, Recorded, Revision
from linkwork.mechanism.mechanism import Element, Mechanism
from linkwork.mechanism.outside_values import Outside, outside_of
from linkwork.mechanism.same_ends import same_ends
from linkwork.varied import Varied

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A locked copy of a mechanism, and where its elements come from; with a name twice there is nothing."""

    mechanism: Mechanism
    copies: dict[str, "Copied"] = field(default_factory=dict)  # by name, ground among them
    current: dict[str, Element] = field(default_factory=dict)  # the copies themselves
    revisions: list[Revision] = field(default_factory=list)  # of the originals, ground first
    own: list[str] = field(default_factory=list)  # the names of elements that do not last
    fresh: list[Element] | None = None  # what was copied, and not taken over, in order, without ground

    @kept
    def outsides(self) -> dict[str, Outside]:
        """What elements read beside what they are given, by name, where that can change."""
        return {name: there for name in self.own if (there := self.copies[name].outside)}

    def freed(self, body: Body, like: "Snapshot | None" = None) -> Joint:
        """Give a body that no joint connects to ground a Free joint, named for it: 'bob free'."""
        mechanism, name = self.mechanism, f"{body.name} free"
        while name in self.current:
            name += "'"
        known = like.copies.get(name) if like else None
        uses = mechanism.ground, body
        joint = known.element if known and known.made_here and known.uses == uses else None
        if not isinstance(joint, Joint):
            joint = Free(name, mechanism.ground, body)
            joint.space = mechanism.space
            joint._journal = LOCKED
        self.copies[name] = Copied(joint._revision, joint, uses, made_here=True)
        self.revisions.append(joint._revision)
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
    things: list[Element] = [mechanism.ground, *mechanism._elements]
    revisions = list(map(_revision, things))
    kinds = ({"ground": mechanism.ground}, *mechanism._kinds)  # none uses one of a later kind
    before = like if like and like.revisions else Snapshot(locked_like(mechanism))
    head, tail = same_ends(before.revisions, revisions)
    copies, current, missing, gone = _taken_over(before, things, (head, tail), kinds)
    if len(current) + len(missing - current.keys()) < len(things):  # a name is there twice
        return Snapshot(mechanism.copy())  # `check` will refuse it
    made = locked_like(mechanism)
    for kind in kinds:
        for name in kind.keys() & missing:
            copies[name] = _copied(kind[name], things, kinds, current, made)
            current[name] = copies[name].element
    vars(made)["_ground"] = current["ground"]
    for target, kind, known in zip(made._kinds, kinds[1:], before.mechanism._kinds, strict=True):
        _list_copies(target, kind, known, gone, current)
    middle = [current[thing._name] for thing in things[head : len(things) - tail]]
    fresh = [there for there in middle if there._name in missing]
    if head and len(fresh) == len(missing):  # all before and behind is what it was
        known = before.mechanism._elements
        made._elements.extend((*known[: head - 1], *middle, *known[len(known) - tail :]))
    else:
        made._elements.extend(current[thing._name] for thing in things[1:])
        fresh = [there for there in (current["ground"], *made._elements) if there._name in missing]
    own = [name for name in before.own if name in copies and name not in missing]
    own += [there._name for there in fresh if copies[there._name].before is not None]
    return Snapshot(made, copies, current, revisions, own, [x for x in fresh if x is not made.ground])


def _list_copies(
    target: dict[str, Element],
    kind: Mapping[str, Element],
    known: Mapping[str, Element],
    gone: set[str],
    current: Mapping[str, Element],
) -> None:
    """List the copies of elements of a kind in their order; `known` are those of an earlier snapshot."""
    target.update(known)
    for name in gone & target.keys():
        del target[name]
    names = tuple(kind)
    if tuple(target) != names[: len(target)]:  # the order has changed
        target.clear()
    target.update((name, current[name]) for name in names[len(target) :])


def editable_copy(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism of its own, as `copy` does; what lasts in its elements is shared with them.

    So a model grows from one of the original as from one of its own.
    """
    made = snapshot(mechanism).mechanism
    for thing in (made.ground, *made.elements):
        thing._journal = None
    made._start_journal()
    return made


def locked_like(mechanism: Mechanism) -> Mechanism:
    """Return a locked mechanism with the attributes of another, and no elements yet."""
    made = Mechanism.__new__(Mechanism)  # its constructor would make a ground and a journal
    empty = {word: type(value)() for word, value in vars(mechanism).items() if isinstance(value, list | dict)}
    vars(made).update(vars(mechanism) | empty)
    made._complete, made._journal = True, LOCKED
    return made


def _taken_over(
    like: Snapshot,
    things: Sequence[Element],
    same: tuple[int, int],
    kinds: Sequence[Mapping[str, Element]],
) -> tuple[dict[str, "Copied"], dict[str, Element], set[str], set[str]]:
    """Return the copies that serve again, the names of elements without one, and of copies that do not serve.

    A copy serves if nothing of the element, or of what it refers to, has changed. The first and the last
    elements are the `same`: their numbers. None of the `kinds` uses one of a later kind.
    """
    copies, current, (head, tail) = dict(like.copies), dict(like.current), same
    known = [like.current["ground"], *like.mechanism._elements] if like.current else []
    were = {there._name: there._revision for there in known[head : len(known) - tail]}
    now = {thing._name: thing._revision for thing in things[head : len(things) - tail]}
    missing = {name for name, revision in now.items() if were.get(name) is not revision}
    gone = {name for name, revision in were.items() if now.get(name) is not revision}
    for name in like.own:
        there = next((kind[name] for kind in kinds if name in kind), None)
        if there is not None and not copies[name].serves(there):
            missing.add(name)
            gone.add(name)
    lost, all_gone = gone, set(gone)
    while lost:
        things_lost = {current.pop(name) for name in lost}
        for name in lost:
            del copies[name]
        users = kinds[2 if any(isinstance(thing, Body) for thing in things_lost) else 3 :]
        found = ((name, copies[name]) for kind in users for name in kind if name in copies)
        lost = {name for name, copied in found if not things_lost.isdisjoint(copied.uses)}
        missing.update(lost)
        all_gone |= lost
    return copies, current, missing, all_gone


def _copied(
    element: Element,
    things: Sequence[Element],
    kinds: Sequence[Mapping[str, Element]],
    current: Mapping[str, Element],
    made: Mechanism,
) -> Copied:
    lasting = is_lasting(element)

    def copied(value: Any) -> Any:
        """Return a value that lasts, with the copies of elements in it."""
        if type(value) in _PLAIN:
            return value
        if isinstance(value, tuple):
            return tuple(map(copied, value))
        name = value.name if isinstance(value, Element) else ""
        ours = bool(name) and any(kind.get(name) is value for kind in kinds)
        return current[name] if ours else value

    if lasting:
        new = type(element).__new__(type(element))
        vars(new).update((word, copied(value)) for word, value in vars(element).items())
        if "_joints" in vars(element):
            vars(new)["_joints"] = made._joints
    else:
        memo: dict[int, Any] = {id(thing): current[thing._name] for thing in things if thing._name in current}
        if isinstance(element, Constraint):
            memo[id(element._joints)] = made._joints
        new = copy.deepcopy(element, memo)
    new._revision, new._complete = element._revision, True
    new._journal = LOCKED
    names = (getattr(thing, "name", thing) for thing in referred(element))
    used = tuple(
        {name: current[name] for name in names if isinstance(name, str) and name in current}.values()
    )
    if lasting:
        return Copied(element._revision, new, used)
    reads = None if isinstance(element, Body) else outside_of(new)  # bodies have no laws
    return Copied(element._revision, new, used, element, outside_of(element), reads)


def referred(element: Element) -> Iterable[Any]:
    """Return what an element refers to: bodies, joints, names of joints."""
    if isinstance(element, Body):
        return ()
    return element.bodies if isinstance(element, Joint) else element.on


def is_lasting(element: Element) -> bool:
    """Whether nothing of an element can change without another revision."""
    revision = element._revision
    known = getattr(revision, "lasting", None)
    if known is None:
        values = (value for word, value in vars(element).items() if word != "_joints")
        known = revision.lasting = is_ours(type(element)) and all(map(lasts, values))
    return known


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
