"""Mechanisms as JSON files: readable, complete, always the same bytes for the same mechanism; read strictly.

    {"linkwork": "mechanism", "version": 1, "name": ..., "space": ..., "gravity": ...,
     "bodies": [...], "joints": [...], "couplings": [...], "constraints": [...], "drivers": [...],
     "loads": [...], "contacts": [...], "ground": {...}, "states": {...}}

The mechanism and every element may have a "note", which is kept. Version 2 has notes and states; a file says
the lowest version that can hold what is in it, and older ones are brought up to date when they are read
(`MIGRATIONS`). `mechanism.schema.json`, beside this module, says all of this for other programs.

Elements are in the order in which they were added, kind by kind; if kinds were mixed, "order" has all names.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from linkwork.atomic_files import write_atomically
from linkwork.errors import FormatError, unknown
from linkwork.formats.file_format import FileFormat, Reading
from linkwork.formats.json_text import LARGEST, JsonValue, json_text, read_json
from linkwork.formats.mechanism_json_bodies import body_data, read_body, read_ground, skin_data
from linkwork.formats.mechanism_json_constraints import constraint_data, known_kind, read_constraint
from linkwork.formats.mechanism_json_contacts import contact_data, read_contact
from linkwork.formats.mechanism_json_drivers import driver_data, read_driver
from linkwork.formats.mechanism_json_joints import joint_data, read_joint
from linkwork.formats.mechanism_json_loads import load_data, read_load
from linkwork.formats.mechanism_json_values import (
    Unsaved,
    beside,
    built,
    finite,
    no_mistakes,
    numbers,
    plain,
)
from linkwork.formats.regular_file import read_bytes
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.contact import Contact, name_of
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.input import Input, reading
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.mechanism import Element, Mechanism

VERSION = 2
MIGRATIONS: dict[int, Callable[[JsonValue], JsonValue]] = {1: lambda root: root}  # to the next version
_WORDS = {"bodies": "body", "joints": "joint", "loads": "load"}
_LISTS = ("bodies", "joints", "couplings", "constraints", "drivers", "loads", "contacts")


# writing


def save_mechanism(mechanism: Mechanism, path: Path) -> None:
    """Write a mechanism to a .json file, all or nothing; meshes in files are named as seen from there."""
    token = beside.set(path.absolute().parent)
    try:
        text = mechanism_text(mechanism)
    finally:
        beside.reset(token)
    write_atomically(path, [text.encode("utf-8")])


def mechanism_text(mechanism: Mechanism) -> str:
    """Return the JSON of a mechanism; FormatError names what cannot be saved."""
    _check_names(mechanism)
    data: dict[str, Any] = {
        "linkwork": "mechanism",
        "version": VERSION if mechanism.states or mechanism.notes else 1,
        "name": mechanism.name,
        **_note_data(mechanism, ""),
        "space": mechanism.space,
        "gravity": numbers(mechanism.gravity),
    }
    writers: dict[str, Callable[[Any], dict[str, Any]]] = {
        "bodies": body_data,
        "joints": joint_data,
        "couplings": _coupling_data,
        "constraints": constraint_data,
        "drivers": driver_data,
        "loads": lambda load: load_data(load, mechanism),
        "contacts": contact_data,
    }
    members = {mechanism.ground, *mechanism.elements}
    in_order: list[str] = []
    for key in _LISTS:
        elements = [element for element in mechanism.elements if _list_of(element) == key]
        in_order += [element.name for element in elements]
        if elements or key in ("bodies", "joints"):
            data[key] = [_written(mechanism, element, members, writers[key]) for element in elements]
    if ground := _written(mechanism, mechanism.ground, members, skin_data):
        data["ground"] = ground
    if in_order != list(mechanism):
        data["order"] = list(mechanism)
    if mechanism.states:
        data["states"] = {name: _state_data(mechanism, name) for name in mechanism.states}
    text = json_text(data)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError(f"mechanism {mechanism.name!r}: a name has half a character; rename it") from None
    return text


def _written(
    mechanism: Mechanism, element: Any, members: set[Element], write: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    try:
        mistakes = list(_mistakes(element, mechanism, members))
        if mistakes:
            raise Unsaved("; ".join(mistakes))
        with reading(_refuse_input):
            return write(element) | _note_data(mechanism, element.name)
    except (ValueError, FormatError) as error:
        _refuse(mechanism, element, str(error), error)


def _note_data(mechanism: Mechanism, name: str) -> dict[str, str]:
    return {"note": mechanism.notes[name]} if name in mechanism.notes else {}


def _state_data(mechanism: Mechanism, name: str) -> dict[str, Any]:
    state = dict(mechanism.states[name])
    speeds = state.pop("velocities", {})
    for joint in (*state, *speeds):
        if joint not in mechanism.joints:
            raise FormatError(
                f"mechanism {mechanism.name!r} cannot be saved: state {name!r}: "
                + unknown("joint", joint, mechanism.joints)
            )
    data: dict[str, Any] = {"positions": {joint: plain(value) for joint, value in state.items()}}
    return data | ({"velocities": {joint: plain(x) for joint, x in speeds.items()}} if speeds else {})


def _refuse_input(given: Input) -> NoReturn:
    """Refuse an input where a file has a number only."""
    raise Unsaved(f"input {given.name!r} in place of a number; give {given.value:g} instead")


def _refuse(mechanism: Mechanism, element: Element, problem: str, cause: Exception | None = None) -> NoReturn:
    word = element.word if isinstance(element, Constraint | Contact) else _WORDS[_list_of(element)]
    raise FormatError(
        f"mechanism {mechanism.name!r} cannot be saved: {word} {element.name!r}: {problem}"
    ) from cause


def _list_of(element: Element) -> str:
    """Return the list of a file that an element stands in."""
    if isinstance(element, Driver):
        return "drivers"
    if isinstance(element, Constraint):
        return "couplings" if known_kind(element) is Coupling else "constraints"
    kinds = {Body: "bodies", Joint: "joints", Load: "loads", Contact: "contacts"}
    return next(key for kind, key in kinds.items() if isinstance(element, kind))


def _check_names(mechanism: Mechanism) -> None:
    if not isinstance(mechanism.name, str):
        raise FormatError(f"mechanism {mechanism.name!r} cannot be saved: its name is not a text; give one")
    seen = {mechanism.ground.name}
    for element in mechanism.elements:
        if element.name in seen or not element.name:
            _refuse(mechanism, element, "the name is empty or used twice; elements are distinguished by it")
        seen.add(element.name)


def _mistakes(element: Any, mechanism: Mechanism, members: set[Element]) -> Iterator[str]:
    """Yield what is wrong with an element by itself; what is wrong with the whole is found when compiled."""
    if isinstance(element, Joint):
        for side, body in (("parent", element.parent), ("child", element.child)):
            if not isinstance(body, Body) or body not in members:
                yield f"{side} {getattr(body, 'name', body)!r} is not in this mechanism; add(...) the body"
        if element.parent is element.child:
            yield "joins a body to itself; give two bodies"
        if mechanism.space not in element.spaces:
            yield f"a {type(element).__name__} does not exist in the {mechanism.space}"
            return
    if isinstance(element, Coupling):
        for name in (element.joint, element.of):
            if name not in mechanism.joints:
                yield unknown("joint", name, mechanism.joints)
        return
    if isinstance(element, Constraint):
        strangers = [thing.name for thing in element.sides() if thing not in members]
        if strangers:
            yield f"{strangers[0]!r} is not in this mechanism; add(...) it"
            return
        if mechanism.space not in element.spaces:
            yield f"a {type(element).__name__} does not exist in the {mechanism.space}"
            return
    if isinstance(element, Contact):
        here = {member.name: member for member in members if isinstance(member, Body)}
        for body in element.on:
            if name_of(body) not in here or (isinstance(body, Body) and body not in members):
                yield f"body {name_of(body)!r} is not in this mechanism; add(...) it"
    yield from element.mistakes()
    if isinstance(element, Load):
        try:
            element.sides(mechanism.joints)
        except ValueError as error:
            yield str(error)


def _coupling_data(coupling: Coupling) -> dict[str, Any]:
    data: dict[str, Any] = {"name": coupling.name, "joint": coupling.joint, "of": coupling.of}
    return data | {"ratio": finite(coupling.ratio), "offset": finite(coupling.offset)}


# reading


def load_mechanism(path: Path, largest: int | None = None) -> Mechanism:
    """Read a mechanism from a .json file; FormatError says what is wrong, and where."""
    token = beside.set(path.absolute().parent)
    try:
        return mechanism_of_text(read_bytes(path, largest or LARGEST), str(path), largest)
    finally:
        beside.reset(token)


def mechanism_of_text(text: bytes, file: str = "text", largest: int | None = None) -> Mechanism:
    """Return the mechanism that a JSON text describes."""
    root = read_json(text, file, largest)
    head = root.members()
    if "linkwork" not in head or head["linkwork"].value != "mechanism":
        root.refuse('is not a mechanism of Linkwork; such a file begins with {"linkwork": "mechanism"')
    if "version" not in head:
        root.refuse("'version' is missing; give it")
    version = head["version"].number()
    if version not in (*MIGRATIONS, VERSION):
        head["version"].refuse(
            f"version {version:g}, and this Linkwork reads up to {VERSION}; update Linkwork"
        )
    while version < VERSION:
        root, version = MIGRATIONS[int(version)](root), version + 1
    members = root.fields(
        ("linkwork", "version", "name", "space", "gravity", "bodies", "joints"),
        (*_LISTS[2:], "ground", "order", "states", "note"),
    )
    space = members["space"].one_of("space", "plane")
    gravity = members["gravity"].numbers(ALGEBRA[space].dimension)
    mechanism = Mechanism(members["name"].text(), gravity, space)  # type: ignore[arg-type]
    with np.errstate(all="ignore"):  # what is not finite in the end is refused
        _Reading(mechanism).read(members)
    if "note" in members:
        mechanism.notes[""] = members["note"].text()
    for name, entry in (members["states"].members() if "states" in members else {}).items():
        mechanism.states[name] = _read_state(entry, mechanism)
    return mechanism


def _read_state(entry: JsonValue, mechanism: Mechanism) -> dict[str, Any]:
    members = entry.fields(("positions",), ("velocities",))
    found: dict[str, dict[str, Any]] = {}
    for word, member in members.items():
        found[word] = {}
        for joint, value in member.members().items():
            if joint not in mechanism.joints:
                value.refuse(unknown("joint", joint, mechanism.joints))
            given = value.number_or_numbers()
            size = mechanism.joints[joint].nq if word == "positions" else mechanism.joints[joint].nv
            if (1 if isinstance(given, float) else len(given)) != size:
                value.wanted(f"{size} numbers, as joint {joint!r} has")
            found[word][joint] = given if isinstance(given, float) else list(given)
    return found["positions"] | ({"velocities": found["velocities"]} if found.get("velocities") else {})


class _Reading:
    """Elements of a file as they become those of a mechanism."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._entries: dict[str, JsonValue] = {}
        self._elements: dict[str, Any] = {}

    def read(self, members: dict[str, JsonValue]) -> None:
        space = self._mechanism.space
        inertias = {}
        for item in self._items(members, "bodies"):
            body, inertia = read_body(item, space)
            self._take(item, body)
            if inertia is not None:
                inertias[body.name] = inertia
        bodies = {"ground": self._mechanism.ground, **self._elements}
        for item in self._items(members, "joints"):
            self._take(item, read_joint(item, space, bodies))
        joints = {name: joint for name, joint in self._elements.items() if isinstance(joint, Joint)}
        for joint in joints.values():
            joint.space = space  # a load asks how many coordinates a joint has
        for item in self._items(members, "couplings"):
            self._take(item, _read_coupling(item))
        for item in self._items(members, "constraints"):
            self._take(item, read_constraint(item, space, bodies, joints))
        for item in self._items(members, "drivers"):
            self._take(item, read_driver(item, bodies, joints))
        for item in self._items(members, "loads"):
            self._take(item, read_load(item, space, bodies, joints))
        for item in self._items(members, "contacts"):
            self._take(item, read_contact(item, bodies))
        if "ground" in members:
            read_ground(self._without_note(members["ground"], "ground"), self._mechanism.ground)
        for name in self._order(members.get("order")):
            entry, element = self._entries[name], self._elements[name]
            built(entry, lambda element=element: self._mechanism.add(element))
            if name in inertias:
                element.inertia = inertias[name]
        present = {self._mechanism.ground, *self._elements.values()}
        for name, element in self._elements.items():
            entry = self._entries[name]
            no_mistakes(entry, lambda element=element: list(_mistakes(element, self._mechanism, present)))
            if isinstance(element, Body):
                self._check_inertia(entry, element)

    def _items(self, members: dict[str, JsonValue], key: str) -> list[JsonValue]:
        """Return the elements of a list, without their notes, which are kept by name."""
        return [self._without_note(item, None) for item in members[key].items()] if key in members else []

    def _without_note(self, item: JsonValue, name: str | None) -> JsonValue:
        note, rest = item.without("note")
        if note is not None:
            named = item.members().get("name")
            name = name if named is None else named.text()
            self._mechanism.notes[name or ""] = note.text()
        return rest

    def _check_inertia(self, entry: JsonValue, body: Body) -> None:
        inertia = body.inertia
        if inertia.space != self._mechanism.space:
            entry.refuse("planar and spatial do not mix; give an inertia of this space")
        if not all(np.isfinite(x).all() for x in (inertia.mass, inertia.com, inertia.tensor)):
            entry.refuse("its inertia is beyond the range of numbers; give smaller sizes")

    def _take(self, entry: JsonValue, element: Any) -> None:
        name = element.name
        if not name or name == "ground" or name in self._elements:
            entry.members()["name"].wanted("a name that nothing else has; 'ground' is the world")
        self._entries[name], self._elements[name] = entry, element

    def _order(self, entry: JsonValue | None) -> Sequence[str]:
        if entry is None:
            return list(self._elements)
        names = [item.text() for item in entry.items()]
        if sorted(names) != sorted(self._elements):
            entry.refuse("the order does not name every element once; correct it, or drop it")
        return names


def _read_coupling(entry: JsonValue) -> Coupling:
    members = entry.fields(("name", "joint", "of"), ("ratio", "offset"))
    name, joint, of = (members[word].text() for word in ("name", "joint", "of"))
    values = {word: members[word].number() for word in ("ratio", "offset") if word in members}
    return built(entry, lambda: Coupling(name, joint, of, **values))


def _read(path: Path, reading: Reading) -> Mechanism:
    return load_mechanism(path, reading.largest)


FORMAT = FileFormat(suffix=".json", holds="mechanism", read=_read, write=save_mechanism, takes=("largest",))
