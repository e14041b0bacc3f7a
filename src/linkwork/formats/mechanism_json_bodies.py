"""Bodies in a mechanism's file: where they are drawn, what gives them mass, what they are drawn with."""

from typing import Any

from linkwork.formats.json_text import JsonValue
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
)
from linkwork.geometry import Collision, Visual
from linkwork.geometry.skin import skins
from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joint import ALGEBRA

_KEYS = ("position", "rotation", "shapes", "density", "mass", "inertia", "visuals", "collisions")


# writing


def body_data(body: Body) -> dict[str, Any]:
    """Return a body as plain values; Unsaved says why it cannot be."""
    data: dict[str, Any] = {"name": body.name}
    data |= position_data(body.position) | rotation_data(body.rotation)
    shapes = [part for part in body.parts if not isinstance(part, Inertia)]
    if shapes:
        data["shapes"] = [shape_data(shape) for shape in shapes]
    data |= _mass_data(body)
    if body.visuals:
        data["visuals"] = [_skin_data(visual, Visual) for visual in body.visuals]
    if body.collisions:
        data["collisions"] = [_skin_data(collision, Collision) for collision in body.collisions]
    return data


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
    if "visuals" in members:
        options["visuals"] = [
            _read_skin(item, Visual, ("name", "colour")) for item in members["visuals"].items()
        ]
    if "collisions" in members:
        items = members["collisions"].items()
        options["collisions"] = [_read_skin(item, Collision, ("name",)) for item in items]
    if inertia is not None and ("density" in members or "mass" in members):
        members["inertia"].refuse("an inertia stands alone, without density or mass; drop them")
    name = members["name"].text()
    if inertia is None or not shapes:
        parts = [*shapes, *([] if inertia is None else [inertia])]
        return built(entry, lambda: Body(name, *parts, **options)), None
    return built(entry, lambda: Body(name, *shapes, density=0.0, **options)), inertia


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
    return kind(**values)
