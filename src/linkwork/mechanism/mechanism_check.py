"""Find every mistake in a mechanism before anything is computed from it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter

import numpy as np

from linkwork.errors import ModelError, unknown, warn
from linkwork.mechanism.body import Body
from linkwork.mechanism.cautions import cautions
from linkwork.mechanism.constraint import Constraint, check_equations
from linkwork.mechanism.contact import Contact, contact_cautions, contact_mistakes, touched_bodies
from linkwork.mechanism.coupling import Coupling, rings
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.inertia import GROSS, ROUNDING, rotational
from linkwork.mechanism.input import default_among
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.mechanism import Element, Mechanism
from linkwork.real_numbers import is_finite

_AXES = {"space": np.eye(3), "plane": np.eye(2)}
_name, _is_sound = attrgetter("_name"), attrgetter("_inertia.sound")


def check(mechanism: Mechanism, fresh: Sequence[Element] | None = None, *, connected: bool = False) -> None:
    """Raise one ModelError that lists every mistake, in the order of the description.

    An inertia that no real body has is a mistake if it matters to the mechanism; if not, it is a warning.
    If some elements are `fresh` all others were checked in another mechanism, and no name is there twice;
    the others are looked at only for how they fit into this one. Whether all bodies are connected to ground
    is found only if that is not known.
    """
    once = fresh is not None or _is_named_once(mechanism)
    bodies = (
        list(mechanism.bodies.values())
        if once
        else [element for element in mechanism.elements if isinstance(element, Body)]
    )
    unsound = [] if all(map(_is_sound, bodies)) else [body for body in bodies if not body.inertia.sound]
    total = rotational(body.inertia for body in bodies) if unsound else 0.0
    flaws = {body: flaw for body in unsound if (flaw := body.inertia.problems(ROUNDING * total))}
    gross = {body: flaw for body in flaws if (flaw := body.inertia.problems(GROSS * total))}
    apart = {} if connected else _apart_from_ground(mechanism, {mechanism.ground, *bodies})
    suspects: Sequence[Element] = mechanism.elements
    if fresh is not None and not gross and not apart:
        depending = {*mechanism.couplings.values(), *mechanism.contacts.values()}  # on others
        all_fresh = depending.union(fresh)
        suspects = [element for element in mechanism.elements if element in all_fresh] if depending else fresh
    mistakes = list(_mistakes(mechanism, suspects, bodies, gross, apart)) if suspects else []
    if mechanism.ground.position.any() or (mechanism.ground.rotation != _AXES[mechanism.space]).any():
        mistakes.insert(0, "body 'ground': it is the world, which is not placed; place what is on it")
    if mistakes:
        lines = [f"{number:3}. {mistake}" for number, mistake in enumerate(mistakes, start=1)]
        count = "1 mistake" if len(lines) == 1 else f"{len(lines)} mistakes"
        raise ModelError("\n".join([f"mechanism {mechanism.name!r} has {count}:", *lines]))
    for element in suspects:
        for caution in (
            contact_cautions(element, mechanism) if isinstance(element, Contact) else cautions(element)
        ):
            warn(f"{_kind(element)} {element.name!r} of mechanism {mechanism.name!r}: {caution}")
    if flaws:
        first, *others = flaws
        also = f" (the same with {', '.join(repr(body.name) for body in others)})" if others else ""
        warn(f"mechanism {mechanism.name!r} is used as given, but {first.name!r}{also}: {flaws[first][0]}")


def _is_named_once(mechanism: Mechanism) -> bool:
    """Whether no name is there twice."""
    names = set(map(_name, mechanism.elements))
    return len(names) == len(mechanism.elements) and "ground" not in names


def _mistakes(
    mechanism: Mechanism,
    suspects: Sequence[Element],
    bodies: list[Body],
    flaws: dict[Body, list[str]],
    apart: dict[Body, str],
) -> Iterator[str]:
    """Yield what is wrong, element by element."""
    owners: dict[str, Element] = {mechanism.ground.name: mechanism.ground}
    members = {mechanism.ground, *bodies}
    coupled: dict[str, str] = {}
    ringed = {ring[0]: ring for ring in rings({c.joint: c.of for c in mechanism.couplings.values()})}
    for element in suspects:
        mistakes = list(_name_mistakes(element, owners))
        if isinstance(element, Body):
            mistakes.extend(flaws.get(element, ()))
            if element.inertia.space != mechanism.space:
                mistakes.append("planar and spatial do not mix; give an inertia of the kind of the mechanism")
            mistakes.extend(element.mistakes())
            if element in apart:
                mistakes.append(apart[element])
        elif isinstance(element, Joint):
            mistakes.extend(_joint_mistakes(element, mechanism, members))
        elif isinstance(element, Load):
            mistakes.extend(_load_mistakes(element, mechanism, members))
        elif isinstance(element, Contact):
            mistakes.extend(contact_mistakes(element, mechanism))
        elif isinstance(element, Coupling):
            mistakes.extend(_coupling_mistakes(element, mechanism, coupled, ringed))
        else:
            mistakes.extend(_constraint_mistakes(element, mechanism, members))
        mistakes.extend(_default_mistakes(element))
        yield from (f"{_kind(element)} {element.name!r}: {mistake}" for mistake in mistakes)


def _default_mistakes(element: Element) -> Iterator[str]:
    """Yield which options were computed from inputs when they were given, and would never change."""
    for word, value in vars(element).items():
        if default_among(value):
            yield (
                f"{word} {value!r} was computed from the default value of an input, and stays what it is; "
                "give the input itself, or a function that computes with it"
            )


def _kind(element: Element) -> str:
    if isinstance(element, Constraint | Contact):
        return element.word
    kinds = {Body: "body", Joint: "joint", Load: "load"}
    return next(word for kind, word in kinds.items() if isinstance(element, kind))


def _name_mistakes(element: Element, owners: dict[str, Element]) -> Iterator[str]:
    if not element.name:
        yield "the name is empty; give one"
    elif element.name not in owners:
        owners[element.name] = element
    elif owners[element.name] is element:
        yield "added twice; add it once"
    elif element.name == "ground":
        yield "the name is reserved for the world; rename it"
    else:
        yield f"a {_kind(owners[element.name])} has this name already; rename one of them"


def _apart_from_ground(mechanism: Mechanism, members: set[Body]) -> dict[Body, str]:
    """Return, for the first body of every group that nothing connects to ground, what to say."""
    edges: list[tuple[Body, Body]] = []
    for element in mechanism.elements:
        ends = _joined(element, mechanism)
        if all(isinstance(body, Body) and body in members for body in ends):
            edges.extend(pairwise(ends))
    found: dict[Body, str] = {}
    for group in loose_groups(mechanism, edges):
        others = ", ".join(repr(body.name) for body in group[1:5]) + (", ..." if len(group) > 5 else "")
        found[group[0]] = (
            f"not connected to ground{', nor are the bodies joined to it: ' + others if others else ''}; "
            "add a joint, a Free one if it floats"
        )
    return found


def loose_groups(mechanism: Mechanism, edges: Iterable[tuple[Body, Body]]) -> list[list[Body]]:
    """Return the bodies that edges connect to each other but not to ground, in the order described."""
    neighbours: dict[Body, list[Body]] = {}
    for one, other in edges:
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    groups: list[list[Body]] = []
    seen: set[Body] = set()
    for first in (mechanism.ground, *mechanism.elements):
        if first in seen or not isinstance(first, Body):
            continue
        seen.add(first)
        group = [first]
        for body in group:  # grows while it is walked
            for other in neighbours.get(body, ()):
                if other not in seen:
                    seen.add(other)
                    group.append(other)
        groups.append(group)
    return groups[1:]


def _joined(element: Element, mechanism: Mechanism) -> tuple[Body, ...]:
    """Return the bodies that an element connects; a constraint on one body connects it to ground.

    A load between bodies, such as a spring, holds them too; one on a single body, such as a weight, does not.
    What may touch others needs nothing that holds it.
    """
    ground = mechanism.ground
    if isinstance(element, Contact):
        return (ground, *touched_bodies(element, mechanism))
    if isinstance(element, Joint):
        return element.bodies
    if isinstance(element, Load):
        return tuple(thing for thing in element.on if isinstance(thing, Body))
    if not isinstance(element, Constraint) or isinstance(element, Coupling):
        return ()
    try:
        bodies = element.bodies
    except ValueError:
        return ()
    return bodies if len(bodies) > 1 else (ground, *bodies)


def _joint_mistakes(joint: Joint, mechanism: Mechanism, members: set[Body]) -> Iterator[str]:
    for side, body in (("parent", joint.parent), ("child", joint.child)):
        if not isinstance(body, Body):
            yield f"{side} {body!r} is not a body; give the Body itself"
        elif body not in members:
            remedy = "use this mechanism's .ground" if body.name == "ground" else "add(...) the body"
            yield f"{side} {body.name!r} is not in this mechanism; {remedy}"
    if joint.parent is joint.child and isinstance(joint.parent, Body):
        yield "joins a body to itself; give two bodies"
    if mechanism.space not in joint.spaces:
        (there,) = joint.spaces
        yield f'a {type(joint).__name__} exists in the {there} only; use Mechanism(space="{there}")'
        return
    yield from joint.mistakes()


def _load_mistakes(load: Load, mechanism: Mechanism, members: set[Body]) -> Iterator[str]:
    strangers = [thing for thing in load.on if not isinstance(thing, Body | Joint | str)]
    if strangers:
        yield f"{strangers[0]!r} is neither a body nor a joint; give one"
        return
    for thing in load.on:
        if isinstance(thing, Body) and thing not in members:
            yield f"body {thing.name!r} is not in this mechanism; add(...) the body"
        elif isinstance(thing, Joint) and thing is not mechanism.joints.get(thing.name):
            yield f"joint {thing.name!r} is not in this mechanism; add(...) the joint"
    try:
        yield from _with_itself(load.sides(mechanism.joints))
    except ValueError as error:
        yield str(error)
    if type(load).act is Load.act:
        yield f"{type(load).__name__} does not say how it acts; define act(self, t, ...)"
    yield from load.mistakes()


def _with_itself(sides: Sequence[Body | Joint]) -> list[str]:
    """List what is on both sides of something: nothing would follow from it, or all would stand still."""
    if len(sides) == 2 and sides[0] is sides[1]:
        return [f"it is between {sides[0].name!r} and itself; give two"]
    return []


def _constraint_mistakes(constraint: Constraint, mechanism: Mechanism, members: set[Body]) -> Iterator[str]:
    try:
        sides = constraint.sides()
    except ValueError as error:
        yield str(error)
        return
    if not sides:
        yield "it is between nothing; give bodies or joints"
        return
    for thing in sides:
        if isinstance(thing, Body) and thing not in members:
            yield f"body {thing.name!r} is not in this mechanism; add(...) the body"
        elif isinstance(thing, Joint) and thing is not mechanism.joints.get(thing.name):
            yield f"joint {thing.name!r} is not in this mechanism; add(...) the joint"
    if mechanism.space not in constraint.spaces:
        (there,) = constraint.spaces
        yield f'a {type(constraint).__name__} exists in the {there} only; use Mechanism(space="{there}")'
        return
    mistakes = _with_itself(sides) or constraint.mistakes()
    if isinstance(constraint, Driver) and not mistakes:
        mistakes = _driven_twice(constraint, mechanism)
    yield from mistakes or check_equations(constraint)


def _driven_twice(driver: Driver, mechanism: Mechanism) -> list[str]:
    """List the driver that was added before and drives the same coordinate."""
    for other in mechanism.drivers.values():
        if other is driver:
            break
        if other.drives == driver.drives:
            return [f"driver {other.name!r} drives {other.drives!r} already; remove one of them"]
    return []


def _coupling_mistakes(
    coupling: Coupling, mechanism: Mechanism, coupled: dict[str, str], ringed: dict[str, list[str]]
) -> Iterator[str]:
    for word, name in (("joint", coupling.joint), ("of", coupling.of)):
        joint = mechanism.joints.get(name)
        if joint is None:
            yield f"{word}: {unknown('joint', name, mechanism.joints)}"
        elif joint.nv != 1:
            yield f"{word}: joint {name!r} has {joint.nv} coordinates; couple joints that have one"
    for word, value in (("ratio", coupling.ratio), ("offset", coupling.offset)):
        if not is_finite(value):
            yield f"{word} {value!r}; give a finite number"
    other = coupled.setdefault(coupling.joint, coupling.name)
    if other != coupling.name:
        yield f"coupling {other!r} leads joint {coupling.joint!r} already; couple a joint once"
    elif ring := ringed.get(coupling.joint):
        yield f"joints {', '.join(map(repr, ring))} follow each other in a ring; let one of them lead"
