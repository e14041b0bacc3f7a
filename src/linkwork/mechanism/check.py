"""Find every mistake in a mechanism before anything is computed from it."""

import warnings
from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.mechanism.body import Body
from linkwork.mechanism.coupling import Coupling, rings
from linkwork.mechanism.inertia import GROSS, ROUNDING, rotational
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Planar, Revolute
from linkwork.mechanism.mechanism import Element, Mechanism
from linkwork.mechanism.placement import plain

ORTHONORMAL = 1e-6  # how far the axes of a joint frame may be from square and unit length
SQUARE = 1e-9  # the cosine between the axes of a Universal joint


def check(mechanism: Mechanism) -> None:
    """Raise one ModelError that lists every mistake, in the order of the description.

    An inertia that no real body has is a mistake if it matters to the mechanism; if not, it is a warning.
    """
    bodies = [element for element in mechanism.elements if isinstance(element, Body)]
    total = rotational(body.inertia for body in bodies)
    flaws = {body: flaw for body in bodies if (flaw := body.inertia.problems(ROUNDING * total))}
    gross = {body: flaw for body in flaws if (flaw := body.inertia.problems(GROSS * total))}
    mistakes = list(_mistakes(mechanism, bodies, gross))
    if mistakes:
        lines = [f"{number:3}. {mistake}" for number, mistake in enumerate(mistakes, start=1)]
        count = "1 mistake" if len(lines) == 1 else f"{len(lines)} mistakes"
        raise ModelError("\n".join([f"mechanism {mechanism.name!r} has {count}:", *lines]))
    if flaws:
        first, *others = flaws
        also = f" (the same with {', '.join(repr(body.name) for body in others)})" if others else ""
        warnings.warn(
            f"mechanism {mechanism.name!r} is used as given, but {first.name!r}{also}: {flaws[first][0]}",
            stacklevel=4,
        )


def _mistakes(mechanism: Mechanism, bodies: list[Body], flaws: dict[Body, list[str]]) -> Iterator[str]:
    """Yield what is wrong, element by element."""
    owners: dict[str, Element] = {mechanism.ground.name: mechanism.ground}
    members = {mechanism.ground, *bodies}
    apart = _apart_from_ground(mechanism, members)
    coupled: dict[str, str] = {}
    ringed = {ring[0]: ring for ring in rings({c.joint: c.of for c in mechanism.couplings.values()})}
    for element in mechanism.elements:
        mistakes = list(_name_mistakes(element, owners))
        if isinstance(element, Body):
            mistakes.extend(flaws.get(element, ()))
            if element.inertia.space != mechanism.space:
                mistakes.append("planar and spatial do not mix; give an inertia of the kind of the mechanism")
            if element in apart:
                mistakes.append(apart[element])
        elif isinstance(element, Joint):
            mistakes.extend(_joint_mistakes(element, mechanism, members))
        else:
            mistakes.extend(_coupling_mistakes(element, mechanism, coupled, ringed))
        yield from (f"{_kind(element)} {element.name!r}: {mistake}" for mistake in mistakes)


def _kind(element: Element) -> str:
    return "body" if isinstance(element, Body) else "joint" if isinstance(element, Joint) else "coupling"


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
    """Return, for the first body of every group that no joint connects to ground, what to say."""
    neighbours: dict[Body, list[Body]] = {body: [] for body in members}
    for joint in mechanism.elements:
        if isinstance(joint, Joint) and joint.parent in members and joint.child in members:
            neighbours[joint.parent].append(joint.child)
            neighbours[joint.child].append(joint.parent)
    found: dict[Body, str] = {}
    seen: set[Body] = set()
    for first in (
        mechanism.ground,
        *(element for element in mechanism.elements if isinstance(element, Body)),
    ):
        if first in seen:
            continue
        seen.add(first)
        group = [first]
        for body in group:  # grows while it is walked
            for other in neighbours[body]:
                if other not in seen:
                    seen.add(other)
                    group.append(other)
        if first is not mechanism.ground:
            others = ", ".join(repr(body.name) for body in group[1:5]) + (", ..." if len(group) > 5 else "")
            found[first] = (
                f"not connected to ground{', nor is what hangs on it: ' + others if others else ''}; "
                "add a joint, a Free one if it floats"
            )
    return found


def _joint_mistakes(joint: Joint, mechanism: Mechanism, members: set[Body]) -> Iterator[str]:
    for side, body in (("parent", joint.parent), ("child", joint.child)):
        if not isinstance(body, Body):
            yield f"{side} {body!r} is no body; give the Body itself"
        elif body not in members:
            remedy = "use this mechanism's .ground" if body.name == "ground" else "add(...) the body"
            yield f"{side} {body.name!r} is not in this mechanism; {remedy}"
    if joint.parent is joint.child:
        yield "joins a body to itself; give two bodies"
    if mechanism.space not in joint.spaces:
        (there,) = joint.spaces
        yield f'a {type(joint).__name__} exists in the {there} only; use Mechanism(space="{there}")'
        return
    for place in ("at", "on_parent", "on_child"):
        yield from _place_mistakes(joint, place, getattr(joint, place))
    mistakes = [mistake for word in ("axis", "axis2") for mistake in _axis_mistakes(joint, word)]
    yield from mistakes
    second = getattr(joint, "axis2", None)
    if second is not None and not mistakes:
        a, b = (np.asarray(axis, dtype=np.float64) for axis in (joint.axis, second))
        if abs(a @ b) > SQUARE * np.linalg.norm(a) * np.linalg.norm(b):
            yield f"axis {plain(a)} and axis2 {plain(b)} are not square to each other; turn one"
    yield from _number_mistakes(joint)
    yield from _limit_mistakes(joint)


def _place_mistakes(joint: Joint, word: str, place: Any) -> Iterator[str]:
    size = joint.algebra.dimension
    if place is None:
        return
    if isinstance(place, joint.algebra.Frame):
        numbers = [float(x) for x in place.scalars()]  # the rows of [R | p]
        if not all(map(isfinite, numbers)):
            yield f"{word} {place!r} is not finite"
        elif not _is_rotation([numbers[k : k + size] for k in range(0, len(numbers), size + 1)]):
            yield f"{word} {place!r} is not turned by a rotation; give square, right-handed unit axes"
        return
    try:
        point = [float(x) for x in place]
    except (TypeError, ValueError):
        point = []
    if len(point) != size:
        yield f"{word} {place!r} is no place in this mechanism; give {size} numbers, or a Frame of its space"
    elif not all(map(isfinite, point)):
        yield f"{word} {plain(point)} is not finite"


def _is_rotation(rows: list[list[float]]) -> bool:
    for i, a in enumerate(rows):
        for j, b in enumerate(rows[: i + 1]):
            if abs(sum(x * y for x, y in zip(a, b, strict=True)) - (i == j)) > ORTHONORMAL:
                return False
    return float(np.linalg.det(rows)) > 0.0


def _axis_mistakes(joint: Joint, word: str) -> Iterator[str]:
    axis = getattr(joint, word, None)
    if axis is None:
        return
    size = joint.algebra.dimension
    try:
        vector = np.array(axis, dtype=np.float64)
    except (TypeError, ValueError):
        yield f"{word} {axis!r} is no vector; give {size} numbers"
        return
    if not np.isfinite(vector).all():
        yield f"{word} {plain(vector)} is not finite"
    elif size == 2 and (isinstance(joint, Revolute | Planar) or vector.shape == (3,)):
        yield (
            f"{word} {plain(vector)} in a planar mechanism; axes are normal to the plane there: drop {word}= "
            '(a slider takes 2 numbers), or use Mechanism(space="space")'
        )
    elif vector.shape != (size,):
        yield f"{word} {plain(vector)}; give {size} numbers"
    elif not vector.any():
        yield f"{word} {plain(vector)} has no direction; give a vector that is not zero"


def _number_mistakes(joint: Joint) -> Iterator[str]:
    pitch = getattr(joint, "pitch", 0.0)
    if not isfinite(pitch):
        yield f"pitch {pitch!r} is not finite"
    for word in ("damping", "friction", "stiffness", "armature", "rest"):
        said = getattr(joint, word)
        if isinstance(said, float) and said == 0.0:
            continue
        try:
            values = joint.per_coordinate(word)
        except (TypeError, ValueError):
            yield f"{word} {said!r}; give a number, or {joint.nv}: one per coordinate"
            continue
        if not np.isfinite(values).all():
            yield f"{word} {said!r} is not finite"
        elif word != "rest" and (values < 0.0).any():
            yield f"{word} {said!r} is negative; allowed is 0 or more"


def _limit_mistakes(joint: Joint) -> Iterator[str]:
    try:
        pairs = joint.limit_pairs()
    except (TypeError, ValueError):
        yield f"limits {joint.limits!r}; give (lower, upper), or {joint.nv} such pairs: one per coordinate"
        return
    if np.isnan(pairs).any():
        yield f"limits {joint.limits!r}: a limit is not a number; use None or inf for none"
    elif (pairs[:, 0] > pairs[:, 1]).any():
        yield f"limits {joint.limits!r}: lower is above upper; exchange them"


def _coupling_mistakes(
    coupling: Coupling, mechanism: Mechanism, coupled: dict[str, str], ringed: dict[str, list[str]]
) -> Iterator[str]:
    for word, name in (("joint", coupling.joint), ("of", coupling.of)):
        joint = mechanism.joints.get(name)
        if joint is None:
            yield f"{word}: {unknown('joint', name, mechanism.joints)}"
        elif joint.nv != 1:
            yield f"{word}: joint {name!r} has {joint.nv} coordinates; couple joints that have one"
    if not (isfinite(coupling.ratio) and isfinite(coupling.offset)):
        yield f"ratio {coupling.ratio} and offset {coupling.offset} must be finite"
    other = coupled.setdefault(coupling.joint, coupling.name)
    if other != coupling.name:
        yield f"coupling {other!r} leads joint {coupling.joint!r} already; couple a joint once"
    elif ring := ringed.get(coupling.joint):
        yield f"joints {', '.join(map(repr, ring))} follow each other in a ring; let one of them lead"
