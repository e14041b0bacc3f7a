"""Loads in a mechanism's file: their laws as numbers or formulas; those of other classes as what they do."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linkwork.errors import LinkworkError, unknown
from linkwork.formats.formula import flat
from linkwork.formats.formula_arguments import (
    Argument,
    BodyArgument,
    JointArgument,
    Scalar,
    SystemArgument,
    Whole,
    coordinates_of,
)
from linkwork.formats.json_text import JsonValue
from linkwork.formats.mechanism_json_kinds import constructor, own_kinds
from linkwork.formats.mechanism_json_laws import (
    is_formula,
    read_end,
    read_law,
    read_sides,
    saved_law,
    side_names,
)
from linkwork.formats.mechanism_json_values import Unsaved, built, plain, read_value
from linkwork.formats.traced import TracedLoad
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.names import kind_name

_TAKEN = ("t", "system")  # names of arguments that every load has, or may have


def _arguments(
    kind: type[Load], word: str, things: Sequence[Any], space: str, whole: Callable[[], tuple[Whole, Whole]]
) -> list[Argument] | None:
    """Return what a law is given; None where a function is not a law."""
    if word not in kind.laws:
        return None
    coordinates: dict[str, Argument] = {}
    if kind.whole:
        coordinates = dict(zip("qv", whole(), strict=True))
    elif kind.takes is Joint:
        (joint,) = things
        coordinates = {"q": coordinates_of("q", joint.nq), "v": coordinates_of("v", joint.nv)}
    return [
        BodyArgument(name, space) if name == "body" else coordinates.get(name) or Scalar(name)
        for name in kind.laws[word]
    ]


# writing


def load_data(load: Load, mechanism: Mechanism) -> dict[str, Any]:
    """Return a load as plain values; Unsaved says why it cannot be."""
    for thing in load.on:
        name = getattr(thing, "name", thing)
        if name not in mechanism:
            raise Unsaved(f"it acts on {name!r}, which is not in this mechanism; add it")
    kind = type(load)
    if kind not in own_kinds(Load, "act").values():
        return _traced_data(load, mechanism)
    on = [str(getattr(thing, "name", thing)) for thing in load.on]
    data: dict[str, Any] = {"name": load.name, "type": kind.__name__, "on": on}
    things = load.sides(mechanism.joints)
    for word, parameter in constructor(kind).options.items():
        value = getattr(load, word)
        if callable(value):
            arguments = _arguments(kind, word, things, mechanism.space, lambda: _slices(mechanism))
            if arguments is None:
                raise Unsaved(f"{word} {value!r} is a function; add it after loading")
            data[word] = saved_law(value, word, arguments).text
        elif value is not None and (parameter.default is parameter.empty or value is not parameter.default):
            data[word] = plain(value)
            if data[word] == parameter.default:
                del data[word]
    return data


def _slices(mechanism: Mechanism) -> tuple[Whole, Whole]:
    """Return where the coordinates of all joints are, which the model decides."""
    try:
        slices = mechanism.compile().slices
    except LinkworkError as error:
        raise Unsaved(
            f"it looks at all coordinates, and the mechanism cannot be compiled: {error}"
        ) from error
    q, v = ({joint: pair[k] for joint, pair in slices.items()} for k in (0, 1))
    return Whole("q", q), Whole("v", v)


def _traced_data(load: Load, mechanism: Mechanism) -> dict[str, Any]:
    """Return a load of another class by what its `act` does."""
    things = load.sides(mechanism.joints)
    first = 2 if load.whole else 1  # of the arguments that are sides
    if isinstance(load, TracedLoad):
        names = list(load.law.names[first:])
    else:
        names = side_names(load.act, len(things), skipped=first, taken=_TAKEN)
    arguments = _act_arguments(
        dict(zip(names, things, strict=True)), mechanism.space, load.whole, lambda: _slices(mechanism)
    )
    drawn = load if isinstance(load, TracedLoad) else load.drawn(_frames(things))
    function = load.law if isinstance(load, TracedLoad) else drawn.act
    law = saved_law(function, "act", arguments)
    on = {name: thing.name for name, thing in zip(names, things, strict=True)}
    data: dict[str, Any] = {"name": load.name, "type": kind_name(load), "on": on}
    if load.whole:
        data["whole"] = True
    data["act"] = law.lines
    units = _units(load, len(flat(law.formula.result)), mechanism)
    return data | ({} if units is None else {"units": units})


def _units(load: Load, shown: int, mechanism: Mechanism) -> list[str] | None:
    if isinstance(load, TracedLoad):
        return None if load.units_said is None else list(load.units_said)
    if type(load).units is Load.units:
        return None
    if all(isinstance(thing, Body) for thing in load.on):
        return list(load.units(shown, ()))
    try:
        return list(mechanism.compile().load_units[load.name])
    except LinkworkError as error:
        raise Unsaved(f"its units follow from the joints, and those cannot be compiled: {error}") from error


def _frames(things: Sequence[Any]) -> list[Any]:
    """Return the poses of bodies as drawn."""
    return [
        ALGEBRA[body.space].Frame(position=body.position.tolist(), rotation=body.rotation.tolist())
        for body in things
        if isinstance(body, Body)
    ]


def _act_arguments(
    sides: Mapping[str, Any], space: str, whole: bool, slices: Callable[[], tuple[Whole, Whole]]
) -> list[Argument]:
    arguments: list[Argument] = [Scalar("t")]
    if whole:
        arguments.append(SystemArgument(*slices()))
    for name, thing in sides.items():
        if isinstance(thing, Joint):
            arguments.append(JointArgument(name, thing.nq, thing.nv))
        else:
            arguments.append(BodyArgument(name, space))
    return arguments


# reading


def read_load(entry: JsonValue, space: str, bodies: Mapping[str, Body], joints: Mapping[str, Joint]) -> Load:
    """Return a load on bodies and joints that are there."""

    def whole() -> tuple[Whole, Whole]:
        sizes = [
            {name: slice(0, joint.nv if k else joint.nq) for name, joint in joints.items()} for k in (0, 1)
        ]
        return Whole("q", sizes[0]), Whole("v", sizes[1])

    members = entry.members()
    if "act" in members:
        return _read_traced(entry, space, {**bodies, **joints}, whole)
    name, known = members["type"].text() if "type" in members else "", own_kinds(Load, "act")
    if name not in known:
        entry.fields(("name", "type", "on"), tuple(members))
        members["type"].refuse(f"{unknown('load', name, known)} (a load of your own has 'act')")
    kind, takes = known[name], constructor(known[name])
    members = entry.fields(("name", "type", "on", *takes.needed), tuple(takes.options))
    things = [read_end(item, {**bodies, **joints}) for item in members["on"].items()]
    if not (takes.fewest <= len(things) <= len(takes.ends)) and not (takes.several and things):
        members["on"].refuse(f"a {name} acts on {takes.fewest}; {len(things)} are given")
    for item, thing in zip(members["on"].items(), things, strict=True):
        if kind.takes is not None and not isinstance(thing, kind.takes):
            item.wanted(f"the name of a {kind.takes.__name__.lower()}")
    values: dict[str, Any] = {}
    for word, parameter in takes.options.items():
        if word in members:
            arguments = _arguments(kind, word, things, space, whole)
            values[word] = _read_option(members[word], arguments, space, parameter.annotation)
    text = members["name"].text()
    return built(entry, lambda: kind(text, *([things] if takes.several else things), **values))


def _read_option(entry: JsonValue, arguments: list[Argument] | None, space: str, kind: Any) -> Any:
    if arguments is None or not is_formula(entry):
        return read_value(entry, space, kind)
    law = read_law(entry, arguments)
    if law.formula.actions or law.formula.result is None:
        entry.refuse("a law returns its numbers, and pushes nothing itself; end with 'return ...'")
    return law


def _read_traced(
    entry: JsonValue, space: str, things: Mapping[str, Any], whole: Callable[[], tuple[Whole, Whole]]
) -> Load:
    members = entry.fields(("name", "type", "on", "act"), ("units", "whole"))
    named = read_sides(members["on"], things, _TAKEN)
    everything = "whole" in members
    if everything and members["whole"].value is not True:
        members["whole"].wanted("true, or nothing")
    law = read_law(members["act"], _act_arguments(named, space, everything, whole))
    units = [unit.text() for unit in members["units"].items()] if "units" in members else None
    if units is not None and len(units) != len(flat(law.formula.result)):
        members["units"].refuse(f"{len(units)} units of {len(flat(law.formula.result))} numbers")
    name, kind = members["name"].text(), members["type"].text()
    return built(
        entry,
        lambda: TracedLoad(name, *named.values(), class_name=kind, law=law, units=units, whole=everything),
    )
