"""Several mechanisms as one: copies of their elements under qualified names, "left/knee".

The ground of a member becomes a body of the name of that member, fixed to the ground of the whole where the
member is placed. So whatever was on ground (joints, springs, curves, shapes) needs no change; the weld costs
nothing, since bodies fixed to each other are one link.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import is_
from typing import Any

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.contact import Contact, contact_of_all
from linkwork.mechanism.input import Input, renaming
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.joints import Fixed, Free
from linkwork.mechanism.journaled import Recorded
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import Coordinates, coordinates
from linkwork.mechanism.loads import Feedback
from linkwork.mechanism.mechanism import Element, Mechanism
from linkwork.mechanism.outside_values import Outside
from linkwork.mechanism.sampled_controller import Sampled
from linkwork.mechanism.snapshot import is_lasting
from linkwork.spelling import checked_keywords, require

SEPARATOR = "/"


@checked_keywords
def merge(
    members: Mapping[str, Mechanism], *, name: str = "merged", at: Mapping[str, Any] | None = None
) -> Mechanism:
    """Return one mechanism with copies of several, whose names get those of the members in front.

    `at` says where the ground of a member is placed: a point or a Frame; at the origin, if not given. A law
    of feedback sees the coordinates of its own member, under their old names. Inputs get the names of the
    members in front, too. To connect members, add joints, springs or constraints between them. A contact of
    all bodies of a member becomes one of all bodies of the whole: members meet, too.

    >>> from linkwork.examples import cart_pole
    >>> pair = merge({"left": cart_pole(), "right": cart_pole()}, at={"right": (2, 0, 0)})
    >>> "left/pin" in pair, "right/cart" in pair
    (True, True)
    """
    require("merge: members", members, Mapping, "{name: mechanism, ...}")
    require("merge: at", {} if at is None else at, Mapping, "{name: place, ...}")
    if not members:
        raise ModelError("merge: no mechanisms; give {name: mechanism, ...}")
    places = dict(at or {})
    for given in places:
        if given not in members:
            raise ModelError(f"merge: at= has {unknown('member', given, members)}")
    first = next(iter(members.values()))
    for member, mechanism in members.items():
        _check(member, mechanism, first)
    whole = Mechanism(name, gravity=first.gravity, space=first.space)
    for member, mechanism in members.items():
        add_member(whole, member, mechanism, places.get(member))
    return whole


def add_member(
    whole: Mechanism,
    member: str,
    mechanism: Mechanism,
    place: Any = None,
    elements: Iterable[Element] | None = None,
) -> None:
    """Add copies of elements of a member, all if not given, to a merged mechanism, as one change."""
    _check(member, mechanism, whole)
    with whole.edit(f"add {member}"):
        _add(whole, member, mechanism, place, mechanism.elements if elements is None else elements)


def remove_member(whole: Mechanism, member: str) -> None:
    """Remove all elements of a member from a merged mechanism, as one change."""
    prefix = member + SEPARATOR

    def own(thing: Any) -> bool:
        return thing.name == member or thing.name.startswith(prefix)

    with whole.edit(f"remove {member}"):
        if (known := contact_of_all(whole)) is not None:
            kept = [pair for pair in known.without if not any(map(own, map(_named, pair)))]
            if len(kept) < len(known.without):
                known.without = kept
        for element in reversed([element for element in whole.elements if own(element)]):
            whole.remove(element)


def _check(member: str, mechanism: Any, first: Mechanism) -> None:
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"merge: {member!r} is a {type(mechanism).__name__}; give a Mechanism")
    if not isinstance(member, str) or not member or SEPARATOR in member or member == "ground":
        raise ModelError(f"merge: member name {member!r}; give a word without {SEPARATOR!r}, not 'ground'")
    if mechanism.space != first.space:
        raise ModelError(f"merge: {member!r} is in the {mechanism.space}, others in the {first.space}")
    if not np.array_equal(mechanism.gravity, first.gravity):
        raise ModelError(
            f"merge: {member!r} has gravity {mechanism.gravity.tolist()}, others have "
            f"{first.gravity.tolist()}; there is one gravity: set it in all"
        )
    for load in mechanism.loads.values():
        if load.whole and type(load) is not Feedback:
            raise ModelError(
                f"merge: {type(load).__name__} {load.name!r} of {member!r} sees all coordinates by name; "
                "make it a Feedback, or give the joints it needs"
            )


def _add(
    whole: Mechanism, member: str, mechanism: Mechanism, place: Any, elements: Iterable[Element]
) -> None:
    """Add copies of elements of a member, renamed and placed."""
    base, weld, placed = base_of(member, mechanism, whole.ground, place)
    whole.add(base)
    whole.add(weld)
    memo: dict[int, Any] = {id(mechanism.ground): base}
    for element in elements:
        made = copy_for(member, element, placed, memo)
        if isinstance(made, Contact) and made.between is None:
            _let_all_meet(whole, member, made)
        else:
            whole.add(made)


def copy_for(member: str, element: Element, placed: Any, memo: dict[int, Any]) -> Any:
    """Return a copy of an element of a member, renamed and placed; `memo` has the copies of others by id."""
    prefix = member + SEPARATOR
    made = _copied(element, memo)
    made._name = prefix + element.name
    _requalify_inputs(made, prefix)
    if isinstance(made, Body):
        _move(made, placed)
    elif isinstance(made, Joint):
        _move_joint(made, element, placed)
    elif isinstance(made, Contact):
        _requalify_contact(made, member, prefix)
    else:
        _requalify(made, prefix)
    return made


def _copied(element: Element, memo: dict[int, Any]) -> Any:
    """Return a copy of an element, with the copies of others that it refers to; what lasts is shared."""
    if not is_lasting(element) or isinstance(element, Constraint):
        return copy.deepcopy(element, memo)

    def copied(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(copied, value))
        return memo.get(id(value), value) if isinstance(value, Element) else value

    made = type(element).__new__(type(element))
    vars(made).update((word, copied(value)) for word, value in vars(element).items())
    made._complete = True
    memo[id(element)] = made
    return made


def base_of(member: str, mechanism: Mechanism, ground: Body, place: Any) -> tuple[Body, Joint, Any]:
    """Return the body that a member's ground becomes, what fixes it to the ground of all, and where it is."""
    Frame = ALGEBRA[mechanism.space].Frame
    placed = place if isinstance(place, Frame) else Frame() if place is None else Frame(position=list(place))
    base = copy.deepcopy(mechanism.ground)
    base._name = member
    _move(base, placed)
    return base, Fixed(member + SEPARATOR + "ground", ground, base, on_parent=placed), placed


def draw_elsewhere(elements: Iterable[Element], ground: Body, placed: Any) -> None:
    """Draw bodies and joints, in place, where they are on a ground that is placed: it is `ground` here."""
    elements = list(elements)
    for joint in elements:
        if isinstance(joint, Joint):
            _move_joint(joint, joint, placed)
            for word, end in (("on_parent", joint.parent), ("on_child", joint.child)):
                if end is ground and (frame := getattr(joint, word)) is not None:
                    setattr(joint, word, placed @ joint._frame(frame))
    for body in elements:
        if isinstance(body, Body):
            _move(body, placed)


def _move(body: Body, placed: Any) -> None:
    """Draw a body elsewhere: where it is on a ground that is placed."""
    if placed.scalars() == type(placed)().scalars():
        return
    drawn = type(placed)(position=body.position.tolist(), rotation=body.rotation.tolist())
    moved = placed @ drawn
    body.position, body.rotation = np.array(moved.position, float), np.array(moved.rotation, float)


def _move_joint(made: Joint, joint: Any, placed: Any) -> None:
    """Place a joint that is drawn in the world; one that is given on its bodies, or free, moves with them."""
    free = isinstance(made, Free) and made.at is None  # its coordinates are the pose of the child
    if made.on_parent is None and made.on_child is None and not free:
        drawn = joint.child.position if joint.at is None else joint.at
        made.at = placed @ made._frame(drawn)


def _requalify(made: Constraint | Load, prefix: str) -> None:
    """Let an element refer to joints by their new names."""
    made.on = tuple(prefix + thing if isinstance(thing, str) else thing for thing in made.on)
    if isinstance(made, Feedback | Sampled):
        made.law = _Within(made.law, prefix)


def _requalify_inputs(made: Any, prefix: str) -> None:
    """Let an element read inputs by their new names, as options and in functions."""
    if isinstance(made, Joint | Constraint | Load):
        for word, value in vars(made).items():
            if (new := _reading(value, prefix)) is not value:
                vars(made)[word] = new


def _reading(value: Any, prefix: str) -> Any:
    """Return an option that reads inputs by their new names; the same, if it reads none."""
    if isinstance(value, Input):
        return Input(prefix + value.name, value.value)
    if isinstance(value, list | tuple):
        items = [_reading(item, prefix) for item in value]
        return value if all(map(is_, items, value)) else type(value)(items)
    if callable(value) and not isinstance(value, type | Recorded):
        return _Renaming(value, prefix) if Outside([("law", value)]).reads_inputs else value
    return value


@dataclass(frozen=True)
class _Renaming:
    """A law that reads inputs by their names in a whole."""

    law: Callable[..., Any]
    prefix: str

    def __call__(self, *args: Any) -> Any:
        with renaming(self.prefix):
            return self.law(*args)


def _requalify_contact(made: Contact, member: str, prefix: str) -> None:
    """Let a contact refer to bodies by their new names."""

    def renamed(pair: Iterable[Body | str]) -> list[Body | str]:
        return [
            thing if isinstance(thing, Body) else member if thing == "ground" else prefix + thing
            for thing in pair
        ]

    made.between = None if made.between is None else renamed(made.between)
    made.without = [renamed(pair) for pair in made.without]


def _let_all_meet(whole: Mechanism, member: str, made: Contact) -> None:
    """Let what a member says of contact between all its bodies hold for all bodies of the whole."""
    known = contact_of_all(whole)
    if known is None:
        made._name = made.name.removeprefix(member + SEPARATOR)
        whole.add(made)
    elif (known.material, known.law) != (made.material, made.law):
        raise ModelError(
            f"merge: contact {made.name!r} has another material or law for all bodies than {known.name!r}; "
            "give all members the same, or let these be of pairs, between=(a, b)"
        )
    elif made.without:
        known.without = [*known.without, *made.without]


def _named(thing: Body | str) -> Body:
    """Return a body; a name stands for one."""
    return Body(thing) if isinstance(thing, str) else thing


@dataclass(frozen=True)
class _Within:
    """A law of feedback that sees the coordinates of one member only, under the names it knows."""

    law: Callable[..., Any]
    prefix: str

    def __call__(self, t: Any, q: Coordinates, v: Coordinates, *memory: Any) -> Any:
        return self.law(t, self._own(q), self._own(v), *memory)

    def _own(self, whole: Coordinates) -> Coordinates:
        def ours(names: Iterable[str]) -> list[str]:
            return [name for name in names if name.startswith(self.prefix)]

        values: list[Any] = []
        slices: dict[str, slice] = {}
        for name in ours(whole.slices):
            part = np.asarray(whole)[whole.slices[name]].tolist()
            slices[name.removeprefix(self.prefix)] = slice(len(values), len(values) + len(part))
            values += part
        others = {name.removeprefix(self.prefix): whole.others[name] for name in ours(whole.others)}
        return coordinates(values, slices, others)
