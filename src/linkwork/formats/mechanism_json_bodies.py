"""Bodies in a mechanism's file: where they are drawn, what gives them mass, what they are drawn with."""

from collections.abc import Mapping
from typing import Any

from linkwork.formats.json_text import JsonValue
from linkwork.formats.mechanism_json_contacts import material_data, read_material
from linkwork.formats.mechanism_json_values import (
    Unsaved,
    built,
    numbers,
    plain,
    position_data,
    read_rotation,
    read_shape,
    rotation_data,
    shape_data,
    whole,
)
from linkwork.geometry import Collision, Visual
from linkwork.geometry.skin import skins
from linkwork.mechanism.body import Body
from linkwork.mechanism.body_skin import EVERYTHING
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joint import ALGEBRA
from linkwork.mechanism.material import Material

_SKIN = ("visuals", "collisions", "material", "group", "mask", "color")
_KEYS = ("position", "rotation", "shapes", "density", "mass", "inertia", *_SKIN)


# writing


def body_data(body: Body) -> dict[str, Any]:
    """Return a body as plain values; Unsaved says why it cannot be."""
    data: dict[str, Any] = {"name": body.name}
    data |= position_data(body.position) | rotation_data(body.rotation)
    shapes = [part for part in body.parts if not isinstance(part, Inertia)]
    if shapes:
        data["shapes"] = [shape_data(shape) for shape in shapes]
    return data | _mass_data(body) | skin_data(body)


def skin_data(body: Body) -> dict[str, Any]:
    """Return what a body, or ground, is drawn with and touched by, as plain values."""
    data: dict[str, Any] = {}
    if body.visuals:
        data["visuals"] = [_skin_data(visual, Visual) for visual in body.visuals]
    if body.collisions:
        data["collisions"] = [_skin_data(collision, Collision) for collision in body.collisions]
    if body.material != Material():
        data["material"] = material_data(body.material)
    if body.color is not None:
        data["color"] = numbers(body.color)
    return data | {
        word: value
        for word, value, usual in (("group", body.group, 1), ("mask", body.mask, EVERYTHING))
        if value != usual
    }


def _mass_data(body: Body) -> dict[str, Any]:
    """Return density or mass if the inertia follows from the shapes, else the inertia itself."""
    said = Body(body.name, *body.parts, **body.given).inertia  # type: ignore[arg-type]
    fits = body.inertia in (said, said.planar() if body.space == "plane" else said)
    inertia = said if fits else body.inertia
    if fits and not any(isinstance(part, Inertia) for part in body.parts):
        return {word: plain(value) for word, value in body.given.items()}
    tensor = numbers(inertia.tensor) if inertia.tensor.ndim else plain(inertia.tensor)
    odd = {"unphysical": True} if inertia.unphysical else {}
    return {"inertia": {"mass": plain(inertia.mass), "com": numbers(inertia.com), "tensor": tensor} | odd}


def _skin_data(skin: Any, kind: type[Any]) -> dict[str, Any]:
    dressed = skins([skin], kind)
    if not dressed:
        raise Unsaved(f"{skin!r} is not a {kind.__name__}; give lw.geometry.{kind.__name__}(shape=...)")
    (skin,) = dressed
    data = {"shape": shape_data(skin.shape)}
    for word in ("name", "colour"):
        if (value := getattr(skin, word, None)) is not None:
            data[word] = plain(value)
    if (material := getattr(skin, "material", None)) is not None:
        data["material"] = material_data(material)
    return data


# reading


def read_body(entry: JsonValue, space: str) -> tuple[Body, Inertia | None]:
    """Return a body, and the inertia it has whatever its shapes are."""
    members = entry.fields(("name",), _KEYS)
    size = ALGEBRA[space].dimension
    options: dict[str, Any] = {}
    if "position" in members:
        options["position"] = members["position"].numbers(size)
    if "rotation" in members:
        options["rotation"] = read_rotation(members["rotation"], space)
    options |= {word: members[word].number() for word in ("density", "mass") if word in members}
    shapes = [read_shape(item) for item in members["shapes"].items()] if "shapes" in members else []
    inertia = _read_inertia(members["inertia"]) if "inertia" in members else None
    options |= _read_skins(members)
    if inertia is not None and ("density" in members or "mass" in members):
        members["inertia"].refuse("an inertia stands alone, without density or mass; drop them")
    name = members["name"].text()
    if inertia is None or not shapes:
        parts = [*shapes, *([] if inertia is None else [inertia])]
        return built(entry, lambda: Body(name, *parts, **options)), None
    return built(entry, lambda: Body(name, *shapes, density=0.0, **options)), inertia


def read_ground(entry: JsonValue, ground: Body) -> None:
    """Give ground what it is drawn with and touched by."""
    for word, value in _read_skins(entry.fields((), _SKIN)).items():
        built(entry, lambda word=word, value=value: setattr(ground, word, value))


def _read_skins(members: Mapping[str, JsonValue]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if "visuals" in members:
        items = members["visuals"].items()
        options["visuals"] = [_read_skin(item, Visual, ("name", "colour")) for item in items]
    if "collisions" in members:
        items = members["collisions"].items()
        options["collisions"] = [_read_skin(item, Collision, ("name", "material")) for item in items]
    if "material" in members:
        options["material"] = read_material(members["material"])
    if "color" in members:
        options["color"] = members["color"].numbers(4)
    return options | {word: whole(members[word]) for word in ("group", "mask") if word in members}


def _read_inertia(entry: JsonValue) -> Inertia:
    members = entry.fields(("mass", "com", "tensor"), ("unphysical",))
    odd = "unphysical" in members and members["unphysical"].one_of(True, False)
    mass, com, tensor = (members[word].number_or_numbers() for word in ("mass", "com", "tensor"))
    if not isinstance(mass, float):
        members["mass"].wanted("a number")
    inertia = built(entry, lambda: Inertia(mass, com, tensor, unphysical=odd))
    return inertia


def _read_skin(entry: JsonValue, kind: type[Any], optional: tuple[str, ...]) -> Any:
    members = entry.fields(("shape",), optional)
    values: dict[str, Any] = {"shape": read_shape(members["shape"])}
    if "name" in members:
        values["name"] = members["name"].text()
    if "colour" in members:
        values["colour"] = tuple(members["colour"].numbers(4))
    if "material" in members:
        values["material"] = read_material(members["material"])
    return kind(**values)
