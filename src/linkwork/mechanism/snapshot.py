"""Copies of mechanisms; those of models share what has not changed since an earlier copy.

An element is *lasting* if nothing of it can change unseen: its class is one of this package, and so are its
values, or they are numbers and texts. What lasts and has the revision it had is taken over from an earlier
copy. What is made of the user's own code (functions, classes of his own) or holds lists is copied anew.
"""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.mechanism.body import Body
from linkwork.mechanism.check import loose_groups
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Free
from linkwork.mechanism.mechanism import Element, Mechanism
from linkwork.mechanism.recorded import LOCKED, Recorded, Revision

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A locked copy of a mechanism, and where its elements come from."""

    mechanism: Mechanism
    copies: Mapping[str, "Copied"]  # by name; of mechanisms with a name twice there are none

    @cached_property
    def elements(self) -> frozenset[Element]:
        return frozenset(self.mechanism.elements)


@dataclass(frozen=True, eq=False)
class Copied:
    """A copy of an element."""

    revision: Revision  # of the original
    element: Element
    uses: tuple[Element, ...]  # copies of other elements that it refers to
    lasting: bool


def snapshot(mechanism: Mechanism, like: Snapshot | None = None) -> Snapshot:
    """Copy a mechanism so that it cannot be changed; what is unchanged is taken over from `like`."""
    elements = mechanism.elements
    if len({element.name for element in elements}) < len(elements) or "ground" in mechanism.bodies:
        return Snapshot(mechanism.copy(), {})  # `check` will refuse it
    copies: dict[str, Copied] = {}
    made = Mechanism(mechanism.name, mechanism.gravity, mechanism.space)
    known = like.copies if like else {}
    current: dict[str, Element] = {}
    ordered = [mechanism.ground, *(element for names in mechanism.kinds for element in names.values())]
    memo: dict[int, Any] = {id(mechanism.joints): made.joints}
    for element in ordered:
        name = element.name
        found = known.get(name)
        if found is None or not _same(found, element, current):
            found = _copied(element, memo, current)
        copies[name] = found
        current[name] = memo[id(element)] = found.element
    vars(made)["ground"] = current.pop(mechanism.ground.name)
    for target, names in zip(made.kinds, mechanism.kinds, strict=True):
        target.update((name, current[name]) for name in names)
    made.elements.extend(current[element.name] for element in elements)
    made._journal = LOCKED
    return Snapshot(made, copies)


def with_free_joints(taken: Snapshot, like: Snapshot | None = None) -> Snapshot:
    """Give every group of bodies that no joint connects to ground a Free joint, at the first of them.

    It is named for the body: 'bob free'.
    """
    mechanism = taken.mechanism
    groups = loose_groups(mechanism, (joint.bodies for joint in mechanism.joints.values()))
    copies = dict(taken.copies)
    for first, *_ in groups:
        name = f"{first.name} free"
        while name in mechanism:
            name += "'"
        known = like.copies.get(name) if like else None
        joint = known.element if known and known.uses == (first,) else None
        if not isinstance(joint, Free):
            joint = Free(name, mechanism.ground, first)
            joint.space = mechanism.space
            joint._journal = LOCKED
        copies[name] = Copied(joint._revision, joint, (first,), lasting=True)
        mechanism.elements.append(joint)
        mechanism.joints[name] = joint
    return Snapshot(mechanism, copies)


def _same(found: Copied, element: Element, current: Mapping[str, Element]) -> bool:
    """Whether an earlier copy serves: nothing of the element or of what it refers to has changed."""
    if found.revision is not element._revision or not found.lasting:
        return False
    return all(current.get(used.name) is used for used in found.uses)


def _copied(element: Element, memo: dict[int, Any], current: Mapping[str, Element]) -> Copied:
    lasting = is_lasting(element)
    if lasting:
        made = type(element).__new__(type(element))
        vars(made).update((word, _shared(value, memo)) for word, value in vars(element).items())
    else:
        made = copy.deepcopy(element, memo)
    made._journal = LOCKED
    names = (thing if isinstance(thing, str) else thing.name for thing in _referred(element))
    used = {name: current[name] for name in names if name in current}
    return Copied(element._revision, made, tuple(used.values()), lasting)


def _referred(element: Element) -> Iterable[Any]:
    """Return what an element refers to: bodies, joints, names of joints."""
    if isinstance(element, Body):
        return ()
    return element.bodies if isinstance(element, Joint) else element.on


def _shared(value: Any, memo: Mapping[int, Any]) -> Any:
    """Return a value that lasts, with the copies of elements in it."""
    if isinstance(value, tuple):
        return tuple(_shared(x, memo) for x in value)
    return memo.get(id(value), value) if isinstance(value, Recorded | dict) else value


def is_lasting(element: Element) -> bool:
    """Whether nothing of an element can change without another revision."""
    if not _ours(type(element)):
        return False
    return all(word == "_joints" or _lasts(value) for word, value in vars(element).items())


def _lasts(value: Any) -> bool:
    kind = type(value)
    if kind in _PLAIN or isinstance(value, Recorded | np.generic):
        return True
    if kind is tuple:
        return all(map(_lasts, value))
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    if not _ours(kind) or callable(value):
        return False
    if is_dataclass(value):
        return kind.__dataclass_params__.frozen and all(map(_lasts, vars(value).values()))
    return kind.__module__.startswith("linkwork.algebra.")


def _ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]
