"""Joints in a mechanism's file: those of the catalogue by their options, others by their formulas too."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from linkwork.errors import FormatError, unknown
from linkwork.formats.formula_arguments import Argument, FrameArgument, Numbers
from linkwork.formats.formula_law import Law, law_of_function
from linkwork.formats.json_text import JsonValue
from linkwork.formats.mechanism_json_laws import of_shape, read_law
from linkwork.formats.mechanism_json_stops import read_stop, stop_data
from linkwork.formats.mechanism_json_values import (
    Unsaved,
    built,
    finite,
    frame_data,
    numbers,
    per_coordinate,
    place_data,
    plain,
    read_numbers,
    read_place,
    read_value,
)
from linkwork.formats.traced import TracedJoint
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint, JointOptions
from linkwork.mechanism.joints import CATALOGUE
from linkwork.mechanism.names import kind_name
from linkwork.mechanism.stop import Stop

JOINTS = {kind.__name__: kind for kind in CATALOGUE}
_PLACES = ("at", "on_parent", "on_child")
_NUMBERS = {
    "damping": 0.0,
    "friction": 0.0,
    "friction_speed": None,
    "stiffness": 0.0,
    "rest": 0.0,
    "armature": 0.0,
}
_KEPT = ("effort", "speed")  # what a file of a robot said, kept
_COMMON = (*_PLACES, "axis", "limits", "stop", *_NUMBERS, *_KEPT)
_HEAD = ("name", "type", "parent", "child")


@cache
def own_options(kind: type[Joint]) -> dict[str, inspect.Parameter]:
    """Return the options of a catalogue joint beyond those of all joints."""
    parameters = inspect.signature(kind.__init__).parameters.values()
    return {
        p.name: p
        for p in parameters
        if p.kind is p.KEYWORD_ONLY and p.name not in JointOptions.__annotations__
    }


# writing


def joint_data(joint: Joint) -> dict[str, Any]:
    """Return a joint as plain values; Unsaved says why it cannot be."""
    parent, child = joint.ends
    data: dict[str, Any] = {"name": joint.name, "type": kind_name(joint), "parent": parent, "child": child}
    if type(joint) in CATALOGUE:
        data |= _placed(joint)
        options = {word: getattr(joint, word) for word in own_options(type(joint))}
        data |= {word: plain(value) for word, value in options.items() if value is not None}
    else:
        data |= _formulas(joint)
    return data | _forces(joint)


def _placed(joint: Joint) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for word in _PLACES:
        if (place := getattr(joint, word)) is not None:
            data[word] = place_data(place, joint.algebra)
    if joint.axis is not None:
        data["axis"] = numbers(joint.axis)
    return data


def _forces(joint: Joint) -> dict[str, Any]:
    data: dict[str, Any] = {}
    limits = [[_limit(x) for x in pair] for pair in joint.limit_pairs().tolist()]
    if any(x is not None for pair in limits for x in pair):
        data["limits"] = limits[0] if all(pair == limits[0] for pair in limits) else limits
    if joint.stop != Stop():
        data["stop"] = stop_data(joint.stop)
    for word, standard in _NUMBERS.items():
        if joint.reads_inputs(word):
            data[word] = plain(getattr(joint, word))
        elif getattr(joint, word) is not None:
            data[word] = per_coordinate(joint.per_coordinate(word), standard)
    data = {word: value for word, value in data.items() if value is not None}
    for word in _KEPT:
        if (value := getattr(joint, word)) is not None:
            data[word] = finite(value)
    return data


def _limit(x: float) -> float | None:
    return x if abs(x) < float("inf") else None


# formulas of other joints: word -> the arguments of the method


def _methods(joint: Joint) -> dict[str, list[Argument]]:
    q, v = Numbers("q", joint.nq), Numbers("v", joint.nv)
    return {
        "motion": [q],
        "rates": [q, v],
        "subspace": [q],
        "displacement": [q],
        "locate": [FrameArgument("X", joint.space)],
    }


def _formulas(joint: Joint) -> dict[str, Any]:
    kind = type(joint)
    if kind.frames is Joint.frames and kind.alignment is Joint.alignment:
        data: dict[str, Any] = _placed(joint)
    else:  # the class itself says where: keep what it says
        on_parent, on_child = joint.frames()
        data = {"on_parent": frame_data(on_parent), "on_child": frame_data(on_child)}
    data["coordinates"] = joint.nv
    if joint.nq != joint.nv:
        data["positions"] = joint.nq
    if joint.quaternion is not None:
        data["quaternion"] = joint.quaternion
    if any(joint.neutral()):
        data["neutral"] = numbers(joint.neutral())
    if kind.drawn is not Joint.drawn and list(joint.drawn()) != list(joint.neutral()):
        data["drawn"] = numbers(joint.drawn())
    for word, arguments in _methods(joint).items():
        law = _law(joint, word, arguments)
        if law is not None:
            data[word] = law.text
    return data


def _law(joint: Joint, word: str, arguments: list[Argument]) -> Law | None:
    if isinstance(joint, TracedJoint):
        return joint.laws.get(word)
    if getattr(type(joint), word) is getattr(Joint, word):
        return None
    method = getattr(joint, word)
    try:
        if word == "motion":
            return law_of_function(lambda q: _rows(method(q)), arguments)
        if word == "subspace":
            if method([0.5] * joint.nq) is None:
                return None
            return law_of_function(lambda q: [list(s.scalars()) for s in method(q)], arguments)
        return law_of_function(method, arguments)
    except FormatError as error:
        raise Unsaved(
            f"its {word} cannot be saved: {error}; write {word} in plain arithmetic and lw.where, lw.sin, ..."
        ) from error


def _rows(frame: Any) -> list[list[Any]]:
    size, scalars = len(frame.p), list(frame.scalars())
    return [scalars[k * (size + 1) : (k + 1) * (size + 1)] for k in range(size)]


# reading


def read_joint(entry: JsonValue, space: str, bodies: Mapping[str, Body]) -> Joint:
    """Return a joint between bodies that are there."""
    members = entry.members()
    return _read_traced(entry, space, bodies) if "motion" in members else _read_known(entry, space, bodies)


def _read_known(entry: JsonValue, space: str, bodies: Mapping[str, Body]) -> Joint:
    members = entry.members()
    kind = JOINTS.get(members["type"].text()) if "type" in members else None
    if kind is None:
        entry.fields(_HEAD, tuple(members))
        known = unknown("joint", members["type"].text(), JOINTS)
        members["type"].refuse(f"{known} (a joint of your own has 'motion')")
    own = own_options(kind)
    needed = tuple(word for word, p in own.items() if p.default is p.empty)
    members = entry.fields((*_HEAD, *needed), (*own, *_COMMON))
    options = {
        word: read_value(members[word], space, p.annotation) for word, p in own.items() if word in members
    }
    return _built(entry, members, space, bodies, kind, options)


def _read_traced(entry: JsonValue, space: str, bodies: Mapping[str, Body]) -> Joint:
    counts, values = ("positions", "quaternion"), ("neutral", "drawn")
    laws = ("rates", "subspace", "displacement", "locate")
    members = entry.fields((*_HEAD, "coordinates", "motion"), (*counts, *values, *laws, *_COMMON))
    options: dict[str, Any] = {"class_name": members["type"].text(), "laws": {}}
    for word in ("coordinates", *counts):
        if word in members:
            options[word] = _count(members[word])
    for word in values:
        if word in members:
            options[word] = members[word].numbers(options.get("positions", options["coordinates"]))
    joint = _built(entry, members, space, bodies, TracedJoint, options)
    joint.space = space
    if joint.quaternion is not None and joint.quaternion + 4 > joint.nq:
        members["quaternion"].refuse(f"{joint.quaternion} of {joint.nq} positions is not the first of four")
    shapes: dict[str, Callable[[Any], bool]] = {
        "motion": of_shape(joint.algebra.dimension, joint.algebra.dimension + 1),
        "rates": of_shape(joint.nq),
        "subspace": of_shape(joint.nv, joint.algebra.freedoms),
        "displacement": of_shape(joint.nv),
        "locate": of_shape(joint.nq),
    }
    for word, arguments in _methods(joint).items():
        if word in members:
            joint.laws[word] = read_law(members[word], arguments)
            if not shapes[word](joint.laws[word].formula.result):
                members[word].refuse(f"the {word} of this joint has other numbers; see the documentation")
            if joint.laws[word].formula.actions:
                members[word].refuse("a joint pushes nothing; loads do")
    return joint


def _count(entry: JsonValue) -> int:
    value = entry.number()
    if not (value == int(value) and 0 <= value <= 100):
        entry.wanted("a whole number, 0 or more")
    return int(value)


def _built(
    entry: JsonValue,
    members: Mapping[str, JsonValue],
    space: str,
    bodies: Mapping[str, Body],
    kind: type[Any],
    options: dict[str, Any],
) -> Any:
    ends = [read_body(members[side], bodies) for side in ("parent", "child")]
    for word in _PLACES:
        if word in members:
            options[word] = read_place(members[word], space)
    if "axis" in members:
        options["axis"] = members["axis"].numbers()
    if "limits" in members:
        options["limits"] = _read_limits(members["limits"])
    if "stop" in members:
        options["stop"] = read_stop(members["stop"])
    for word in _NUMBERS:
        if word in members:
            options[word] = read_numbers(members[word])
    joint = built(entry, lambda: kind(members["name"].text(), *ends, **options))
    for word in _KEPT:
        if word in members:
            setattr(joint, word, members[word].number())
    return joint


def read_body(entry: JsonValue, bodies: Mapping[str, Body]) -> Body:
    name = entry.text()
    if name not in bodies:
        entry.refuse(unknown("body", name, bodies))
    return bodies[name]


def _read_limits(entry: JsonValue) -> Any:
    items = entry.items()
    if items and isinstance(items[0].value, list):
        return [_pair(item) for item in items]
    return _pair(entry)


def _pair(entry: JsonValue) -> tuple[Any, Any]:
    items = entry.items()
    if len(items) != 2:
        entry.wanted("two limits, lower and upper; null for none")
    lower, upper = (None if item.value is None else item.number() for item in items)
    return lower, upper
