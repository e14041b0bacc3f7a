"""Constraints in a mechanism's file: those of the catalogue by their options, others by their phi."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from linkwork.errors import unknown
from linkwork.formats.formula_arguments import Argument, BodyArgument, JointArgument, Scalar
from linkwork.formats.json_text import JsonValue
from linkwork.formats.mechanism_json_kinds import constructor, own_kinds
from linkwork.formats.mechanism_json_laws import (
    check_name,
    is_formula,
    of_shape,
    read_end,
    read_function,
    read_law,
    read_sides,
    saved_law,
    side_names,
)
from linkwork.formats.mechanism_json_values import Unsaved, built, plain, read_value
from linkwork.formats.traced import TracedConstraint
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.names import kind_name

_ELSEWHERE = (Coupling, Driver)  # that have lists of their own in a file
_MOST = 100  # unknowns, or equations, of one constraint
_REMEDY = "write it in plain arithmetic with lw.where, lw.sin, ...; or add the constraint after loading"


def known_kind(constraint: Constraint) -> type[Any] | None:
    """Return the class by which a constraint is saved: its own, or one that it adds no equations to."""
    known = own_kinds(Constraint, "phi").values()
    for kind in type(constraint).__mro__:
        if kind in known:
            return kind
        if any(not word.startswith("__") and word not in ("mistakes", "sketch") for word in vars(kind)):
            return None
    return None


# writing


def constraint_data(constraint: Constraint) -> dict[str, Any]:
    """Return a constraint as plain values; Unsaved says why it cannot be."""
    kind = known_kind(constraint)
    if kind is None:
        return _traced_data(constraint)
    on = [str(getattr(thing, "name", thing)) for thing in constraint.on]
    data: dict[str, Any] = {"name": constraint.name, "type": kind.__name__, "on": on}
    for word, parameter in constructor(kind).options.items():
        value = getattr(constraint, word)
        if word in kind.laws:
            data[word] = saved_law(value, word, [Scalar(name) for name in kind.laws[word]], _REMEDY).text
        elif value is not None:
            written = plain(value)
            if parameter.default is parameter.empty or written != plain(parameter.default):
                data[word] = written
    return data


def _traced_data(constraint: Constraint) -> dict[str, Any]:
    things = constraint.sides()
    if isinstance(constraint, TracedConstraint):
        names = constraint.phi_law.names
    else:
        names = side_names(constraint.phi, len(things) + constraint.unknowns)
    own = names[len(things) :]
    sides = _side_arguments(dict(zip(names, things, strict=False)), constraint.space)
    if isinstance(constraint, TracedConstraint):
        phi, guess = constraint.phi_law, constraint.guess_law
    else:
        phi = saved_law(constraint.phi, "phi", [*sides, *map(Scalar, own)], _REMEDY)
        guess = None
        if type(constraint).guess is not Constraint.guess:
            guess = saved_law(constraint.guess, "guess", sides, _REMEDY)
    _check(phi.formula.result)
    on = {name: thing.name for name, thing in zip(names, things, strict=False)}
    data: dict[str, Any] = {"name": constraint.name, "type": kind_name(constraint), "on": on}
    if own:
        data["unknowns"] = list(own)
    data["phi"] = phi.text
    return data if guess is None else data | {"guess": guess.text}


def _check(result: Any) -> None:
    if not isinstance(result, list) or not of_shape(len(result))(result) or not result:
        raise Unsaved("its phi gives no list of numbers; return one number per equation, [..., ...]")


def _side_arguments(sides: Mapping[str, Any], space: str) -> list[Argument]:
    return [
        JointArgument(name, thing.nq, thing.nv, still=True)
        if isinstance(thing, Joint)
        else BodyArgument(name, space, still=True)
        for name, thing in sides.items()
    ]


# reading


def read_constraint(
    entry: JsonValue, space: str, bodies: Mapping[str, Body], joints: Mapping[str, Joint]
) -> Constraint:
    """Return a constraint between bodies and joints that are there."""
    members = entry.members()
    things = {**bodies, **joints}
    if "phi" in members:
        return _read_traced(entry, space, things)
    name = members["type"].text() if "type" in members else ""
    known = {word: kind for word, kind in own_kinds(Constraint, "phi").items() if kind not in _ELSEWHERE}
    if name not in known:
        entry.fields(("name", "type", "on"), tuple(members))
        problem = unknown("constraint", name, known)
        members["type"].refuse(f"{problem} (a constraint of your own has 'phi')")
    kind, takes = known[name], constructor(known[name])
    members = entry.fields(("name", "type", "on", *takes.needed), tuple(takes.options))
    on = read_on(members["on"], things, kind.takes, len(takes.ends), name)
    values = {
        word: _read_option(members[word], kind, word, space, p.annotation)
        for word, p in takes.options.items()
        if word in members
    }
    return built(entry, lambda: kind(members["name"].text(), *on, **values))


def read_on(entry: JsonValue, things: Mapping[str, Any], takes: Any, count: int, kind: str) -> list[Any]:
    """Return the bodies or joints that something of a kind is between."""
    items = entry.items()
    if len(items) != count:
        entry.refuse(f"a {kind} is on {count}; {len(items)} are given")
    found = [read_end(item, things) for item in items]
    for item, thing in zip(items, found, strict=True):
        if takes is not None and not isinstance(thing, takes):
            item.wanted(f"the name of a {takes.__name__.lower()}")
    return found


def _read_option(entry: JsonValue, kind: type[Constraint], word: str, space: str, annotation: Any) -> Any:
    if word in kind.laws:
        count = kind.law_sizes.get(word, ALGEBRA[space].dimension)
        return read_function(entry, [Scalar(name) for name in kind.laws[word]], count)
    if get_origin(annotation) is Literal:
        return entry.one_of(*get_args(annotation))
    if is_formula(entry):
        entry.wanted("numbers")
    return read_value(entry, space, annotation)


def _read_traced(entry: JsonValue, space: str, things: Mapping[str, Any]) -> TracedConstraint:
    members = entry.fields(("name", "type", "on", "phi"), ("unknowns", "guess"))
    sides = read_sides(members["on"], things)
    own = _read_unknowns(members["unknowns"], tuple(sides)) if "unknowns" in members else []
    arguments = _side_arguments(sides, space)
    phi = read_law(members["phi"], [*arguments, *map(Scalar, own)])
    result = phi.formula.result
    if not isinstance(result, list) or not of_shape(len(result))(result) or not 0 < len(result) <= _MOST:
        members["phi"].refuse("phi has a list of numbers, one per equation; give [..., ...]")
    guess = read_function(members["guess"], arguments, len(own)) if "guess" in members else None
    return built(
        entry,
        lambda: TracedConstraint(
            members["name"].text(),
            *sides.values(),
            class_name=members["type"].text(),
            phi=phi,
            unknowns=len(own),
            guess=guess,
        ),
    )


def _read_unknowns(entry: JsonValue, sides: Sequence[str]) -> list[str]:
    items = entry.items()
    if len(items) > _MOST:
        entry.refuse(f"{len(items)} unknowns; allowed are {_MOST}")
    names: list[str] = []
    for item in items:
        name = item.text()
        check_name(name, item, (*sides, *names))
        names.append(name)
    return names
