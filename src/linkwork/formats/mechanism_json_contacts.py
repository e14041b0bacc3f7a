"""Contacts and materials in a mechanism's file: materials by name or by their numbers, laws as formulas."""

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from linkwork.errors import unknown
from linkwork.formats.formula_arguments import Scalar
from linkwork.formats.json_text import JsonValue
from linkwork.formats.mechanism_json_laws import check_name, read_function, saved_law
from linkwork.formats.mechanism_json_values import Unsaved, built
from linkwork.formats.traced import TracedContactLaw
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import IMPACTS, Contact, name_of
from linkwork.mechanism.material import NAMED, Material
from linkwork.real_numbers import is_finite

_NUMBERS = tuple(field.name for field in fields(Material))


# writing


def material_data(material: Material) -> Any:
    """Return a material by its name, or by its numbers that are not the usual ones."""
    for name, named in NAMED.items():
        if material == named:
            return name
    return {
        field.name: value
        for field in fields(material)
        if (value := getattr(material, field.name)) != field.default
    }


def contact_data(contact: Contact) -> dict[str, Any]:
    """Return a contact as plain values; Unsaved says why it cannot be."""
    if type(contact) is not Contact:
        raise Unsaved(f"it is a {type(contact).__name__}; files keep those of lw.Contact")
    data: dict[str, Any] = {"name": contact.name}
    if contact.between is not None:
        data["between"] = list(map(name_of, contact.between))
    if contact.without:
        data["without"] = [list(map(name_of, pair)) for pair in contact.without]
    if contact.material is not None:
        data["material"] = material_data(contact.material)
    if contact.law is not None:
        data["law"] = _law_data(contact.law)
    if contact.impact != IMPACTS[0]:
        data["impact"] = contact.impact
    return data


def _law_data(law: Any) -> dict[str, Any]:
    """Return a law by what it is given, the constants among that, and its formula."""
    names, constants = [], {}
    for name, parameter in inspect.signature(law).parameters.items():
        default: Any = parameter.default
        by_name = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if by_name and default is parameter.empty:
            names.append(name)
        elif by_name and is_finite(default):
            constants[name] = float(default)
        else:
            raise Unsaved(f"parameter {parameter} of its law; give it a name, and no default but a number")
    formula = saved_law(law, "law", [Scalar(name) for name in (*names, *constants)]).text
    return {"of": names} | ({"constants": constants} if constants else {}) | {"formula": formula}


# reading


def read_material(entry: JsonValue) -> Material:
    """Return a material from its name or its numbers."""
    if isinstance(entry.value, str):
        if entry.value not in NAMED:
            entry.refuse(unknown("material", entry.value, NAMED))
        return NAMED[entry.value]
    numbers = {word: member.number() for word, member in entry.fields((), _NUMBERS).items()}
    return built(entry, lambda: Material(**numbers))


def read_contact(entry: JsonValue, bodies: Mapping[str, Body]) -> Contact:
    """Return a contact of bodies that are there."""
    members = entry.fields(("name",), ("between", "without", "material", "law", "impact"))
    options: dict[str, Any] = {}
    if "between" in members:
        options["between"] = _read_pair(members["between"], bodies)
    if "without" in members:
        options["without"] = [_read_pair(pair, bodies) for pair in members["without"].items()]
    if "material" in members:
        options["material"] = read_material(members["material"])
    if "law" in members:
        options["law"] = _read_law(members["law"])
    if "impact" in members:
        options["impact"] = members["impact"].text()
    name = members["name"].text()
    return built(entry, lambda: Contact(name, **options))


def _read_pair(entry: JsonValue, bodies: Mapping[str, Body]) -> list[Body]:
    items = entry.items()
    if len(items) != 2:
        entry.wanted("the names of two bodies")
    for item in items:
        if item.text() not in bodies:
            item.refuse(unknown("body", item.text(), bodies))
    return [bodies[item.text()] for item in items]


def _read_law(entry: JsonValue) -> TracedContactLaw:
    members = entry.fields(("of", "formula"), ("constants",))
    names: list[str] = []
    for item in members["of"].items():
        check_name(item.text(), item, names)
        names.append(item.text())
    constants: dict[str, float] = {}
    for name, item in members["constants"].members().items() if "constants" in members else ():
        check_name(name, item, names)
        constants[name] = item.number()
    arguments = [Scalar(name) for name in (*names, *constants)]
    return TracedContactLaw(read_function(members["formula"], arguments), constants)
