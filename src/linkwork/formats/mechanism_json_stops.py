"""Stops of joints in a mechanism's file: ours by their options, those of other classes by their formulas."""

from dataclasses import fields
from typing import Any

from linkwork.formats.formula_arguments import Argument, Numbers, Scalar
from linkwork.formats.json_text import JsonValue
from linkwork.formats.mechanism_json_laws import read_function, saved_law
from linkwork.formats.mechanism_json_values import Unsaved, finite, numbers
from linkwork.formats.traced import TracedStop
from linkwork.mechanism import stop as stops
from linkwork.mechanism.names import kind_name

STOPS: dict[str, type[Any]] = {kind.__name__: kind for kind in stops.STOPS}
_MOST = 100  # numbers of a stop


def _arguments(count: int) -> list[Argument]:
    """Return what the force of a stop is a function of."""
    return [*map(Scalar, ("x", "rate", "lower", "upper")), Numbers("numbers", count)]


def _words(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def stop_data(stop: Any) -> dict[str, Any]:
    """Return a stop as plain values; Unsaved says why it cannot be."""
    name = kind_name(stop)
    if type(stop) in STOPS.values():
        values = {word: getattr(stop, word) for word in _words(type(stop))}
        return {"type": name} | {word: finite(x) for word, x in values.items() if x is not None}
    absent = numbers(stop.absent)
    try:
        if isinstance(stop, TracedStop):
            said, force = stop.numbers_law, stop.force_law
        else:
            said = saved_law(lambda inertia: list(stop.numbers(inertia)), "numbers", [Scalar("inertia")])
            force = saved_law(stop.force, "force", _arguments(len(absent)))
    except Unsaved as error:
        raise Unsaved(f"stop {name}: {error}") from error
    if name in STOPS:
        raise Unsaved(f"stop {stop!r} is of a class named as one of Linkwork; rename the class")
    if not isinstance(said.formula.result, list) or len(said.formula.result) != len(absent):
        raise Unsaved(f"stop {name}: numbers gives other than {len(absent)} numbers, the length of absent")
    return {"type": name, "absent": absent, "numbers": said.text, "force": force.text}


def read_stop(entry: JsonValue) -> Any:
    """Return a stop."""
    members = entry.members()
    if "force" in members:
        return _read_traced(entry)
    if "type" in members and members["type"].text() not in STOPS:
        members["type"].wanted(" or ".join(f'"{name}"' for name in STOPS) + ", or the 'force' of your own")
    members = entry.fields(("type",), tuple(members))
    name = members["type"].text()
    words = _words(STOPS[name])
    members = entry.fields(("type",), words)
    return STOPS[name](**{word: members[word].number() for word in words if word in members})


def _read_traced(entry: JsonValue) -> TracedStop:
    members = entry.fields(("type", "absent", "numbers", "force"))
    name = members["type"].text()
    if name in STOPS:
        members["type"].refuse(f"a {name} has no force of its own; drop 'force', or give another type")
    absent = members["absent"].numbers()
    if len(absent) > _MOST:
        members["absent"].refuse(f"{len(absent)} numbers; allowed are {_MOST}")
    said = read_function(members["numbers"], [Scalar("inertia")], len(absent))
    return TracedStop(name, tuple(absent), said, read_function(members["force"], _arguments(len(absent))))
