"""Values of a mechanism's file that several elements share: places, numbers per coordinate, shapes."""

import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import MISSING, fields, is_dataclass
from inspect import isabstract
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from linkwork import geometry
from linkwork.algebra import planar, spatial
from linkwork.errors import FormatError, unknown
from linkwork.formats.json_text import JsonValue
from linkwork.geometry import MeshFile, Solid
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import ALGEBRA
from linkwork.mechanism.placement import Array

# what bodies are made of, drawn with and touched by: whatever `linkwork.geometry` has; see `known_shapes`
SHAPES: dict[str, type[Any]] = {
    name: kind
    for name in geometry.__all__
    if isinstance(kind := getattr(geometry, name), type)
    and (kind is MeshFile or (issubclass(kind, Solid) and not isabstract(kind)))
}


def known_shapes() -> dict[str, type[Any]]:
    """Return the classes of shapes by name: Linkwork's, and those of the user's own that are defined by now.

    A file names a class and its sizes, never a module: reading it imports nothing. Of several classes of one
    name the last that was defined counts.
    """
    own: dict[str, type[Any]] = {}
    waiting: list[type[Any]] = [Solid]
    while waiting:
        kinds = waiting.pop().__subclasses__()
        waiting += kinds
        own |= {kind.__name__: kind for kind in kinds if is_dataclass(kind) and not isabstract(kind)}
    return own | SHAPES


def _shapes_with(name: str) -> dict[str, type[Any]]:
    """Return shapes that have this one among them, if there is one; looking for users' own takes long."""
    return SHAPES if name in SHAPES else known_shapes()


class Unsaved(ValueError):
    """What cannot be saved, in words; the caller adds the name of the element."""


# writing


def plain(value: Any) -> Any:
    """Return a value of an option as JSON: numbers, texts, lists, a frame."""
    if isinstance(value, spatial.Frame | planar.Frame):
        return frame_data(value)
    if isinstance(value, Solid):
        return shape_data(value)
    if isinstance(value, Input):
        return {"input": value.name} | ({"value": value.value} if value.value else {})
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return [plain(item) for item in value]
    if callable(value) or not hasattr(value, "__float__"):
        raise Unsaved(f"{value!r} cannot be written to a file; give numbers")
    return finite(value)


def finite(value: Any) -> float:
    number = float(value)
    if not np.isfinite(number):
        raise Unsaved(f"{number} cannot be written to a file; give a finite number")
    return number


def numbers(values: Any) -> list[Any]:
    return [numbers(x) if np.ndim(x) else finite(x) for x in values]


def frame_data(frame: Any) -> dict[str, Any]:
    dimension = len(frame.p)
    scalars = [finite(x) for x in frame.scalars()]
    rows = [scalars[k * (dimension + 1) : (k + 1) * (dimension + 1)] for k in range(dimension)]
    data: dict[str, Any] = {"position": [row[-1] for row in rows]}
    return data | rotation_data([row[:-1] for row in rows])


def place_data(place: Any, algebra: ModuleType) -> Any:
    """Return a point, or a frame, of a joint."""
    if isinstance(place, algebra.Frame):
        return frame_data(place)
    return numbers(place)[: algebra.dimension]


def position_data(position: Any) -> dict[str, Any]:
    """Return a position, or nothing if it is the origin."""
    values = numbers(position)
    return {"position": values} if any(values) else {}


def rotation_data(rotation: Any) -> dict[str, Any]:
    """Return a rotation by its matrix, or nothing if it is none."""
    rows = numbers(rotation)
    none = all(x == (i == j) for i, row in enumerate(rows) for j, x in enumerate(row))
    return {} if none else {"rotation": rows}


def per_coordinate(values: Array, standard: float | None) -> Any:
    """Return one number for all coordinates if it serves, else one for each; None for the usual one."""
    listed = [finite(x) for x in values]
    if all(x == standard for x in listed):
        return None
    return listed[0] if all(x == listed[0] for x in listed) else listed


beside: ContextVar[Path | None] = ContextVar("folder of the file that is written or read", default=None)


def _from_here(mesh: MeshFile) -> str:
    """Return the name of a mesh as seen from the folder of the file that is written."""
    here = beside.get()
    if here is None or mesh.folder is None or "://" in mesh.filename:
        return mesh.filename
    there, name = Path(mesh.folder) / mesh.filename, mesh.filename
    return name if Path(mesh.folder) == here else Path(os.path.relpath(there, here)).as_posix()


def shape_data(shape: Any) -> dict[str, Any]:
    """Return a shape by the name of its class and its sizes."""
    name = type(shape).__name__
    known = _shapes_with(name)
    if name in SHAPES and SHAPES[name] is not type(shape):
        raise Unsaved(f"shape {shape!r} is of a class named as one of Linkwork; rename the class")
    if name not in known:
        raise Unsaved(f"shape {shape!r} is not supported in files; available are {', '.join(known)}")
    data: dict[str, Any] = {"type": name}
    for field in fields(shape):
        value = getattr(shape, field.name)
        if field.name == "filename":
            value = _from_here(shape)
        if field.compare and field.name not in ("position", "rotation"):  # others are of this machine
            written = plain(value)
            if field.default is MISSING or written != plain(field.default):
                data[field.name] = written
    return data | position_data(shape.position) | rotation_data(shape.rotation)


# reading


def read_shape(entry: JsonValue) -> Any:
    members = entry.members()
    if "type" not in members:
        entry.refuse("'type' is missing; give it")
    name = members.pop("type").text()
    known = _shapes_with(name)
    if name not in known:
        entry.refuse(f"{unknown('shape', name, known)} (import the class of your own solid first)")
    sizes = {field.name: field for field in fields(known[name]) if field.init and field.compare}
    for key, member in members.items():
        if key not in sizes:
            member.refuse(unknown("key", key, ("type", *sizes)))
    values: dict[str, Any] = {}
    for key, member in members.items():
        if key == "rotation":
            values[key] = read_rotation(member, "space")
        elif key == "position":
            values[key] = member.numbers(3)
        elif key == "faces":
            rows = table(member.value)
            if rows is not None and rows and isinstance(rows[0], tuple) and _all_whole(rows):
                values[key] = [list(map(int, row)) for row in rows]
            else:
                values[key] = [[whole(x) for x in face.items()] for face in member.items()]
        else:
            values[key] = _read_size(member, sizes[key].type)
    for key, field in sizes.items():
        if key not in values and field.default is MISSING:
            entry.refuse(f"{key!r} is missing; give it")
    if known[name] is MeshFile and (here := beside.get()) is not None:
        values["folder"] = str(here)
    return built(entry, lambda: known[name](**values))


def _read_size(entry: JsonValue, kind: Any) -> Any:
    """Return a number or an array of them, a shape or several: what a shape is made of."""
    if isinstance(entry.value, list):
        if (rows := table(entry.value)) is not None:
            return rows
        return tuple(_read_size(item, "float" if _is_plain(item) else kind) for item in entry.items())
    return read_value(entry, "space", kind) if _is_plain(entry) else read_shape(entry)


def table(value: Any) -> tuple[Any, ...] | None:
    """Return a list of numbers, or of lists of them, at once; None for one with anything else in it.

    What is wrong needs its place in the file, what is right does not: a million places take a second.
    """
    if isinstance(value, list):
        kinds = set(map(type, value))
        if kinds == {float}:
            return tuple(value)
        if kinds == {list}:
            rows = [table(row) for row in value]
            return None if None in rows else tuple(rows)
    return None


def _all_whole(rows: Any) -> bool:
    return all(x.is_integer() if isinstance(x, float) else False for row in rows for x in row)


def whole(entry: JsonValue) -> int:
    """Return a whole number."""
    number = entry.number()
    return int(number) if number.is_integer() else entry.wanted("a whole number")


def _is_plain(entry: JsonValue) -> bool:
    """Return whether a value is neither an object nor a list."""
    return entry.value is None or isinstance(entry.value, float | int | str | bool)


def read_rotation(entry: JsonValue, space: str) -> Any:
    """Return a rotation: a matrix, a quaternion (w, x, y, z), or in the plane an angle."""
    size = ALGEBRA[space].dimension
    if isinstance(entry.value, list) and entry.value and isinstance(entry.value[0], list):
        return entry.matrix(size, size)
    if isinstance(entry.value, list) and space == "space":
        return entry.numbers(4)
    if space == "plane" and not isinstance(entry.value, list):
        return entry.number()
    entry.wanted(
        "a matrix of 3 rows, or a quaternion (w, x, y, z)" if size == 3 else "a matrix of 2 rows, or an angle"
    )


def read_place(entry: JsonValue, space: str) -> Any:
    """Return a point or a Frame."""
    algebra = ALGEBRA[space]
    if isinstance(entry.value, list):
        return entry.numbers(algebra.dimension)
    members = entry.fields(("position",), ("rotation",))
    position = members["position"].numbers(algebra.dimension)
    if "rotation" not in members:
        return algebra.Frame(position=position)
    rotation = read_rotation(members["rotation"], space)
    return built(entry, lambda: algebra.Frame(position=position, rotation=rotation))


def read_value(entry: JsonValue, space: str, kind: Any) -> Any:
    """Return the value of an option that the element itself checks; `kind` is its annotation."""
    if entry.holds("input"):
        return read_numbers(entry)
    if kind in (str, "str"):
        return entry.text()
    if kind in (bool, "bool"):
        return entry.one_of(True, False)
    if kind in (float, "float"):
        return entry.number()
    if isinstance(entry.value, list | float | str | bool) or entry.value is None:
        return entry.number_or_numbers()
    return read_place(entry, space)


def read_numbers(entry: JsonValue) -> Any:
    """Return a number, or a list of them; each may be an input."""
    if isinstance(entry.value, list):
        return [read_number(item) for item in entry.items()]
    return read_number(entry)


def read_number(entry: JsonValue) -> float | Input:
    """Return a number, or an input."""
    if not entry.holds("input"):
        return entry.number()
    members = entry.fields(("input",), ("value",))
    value = members["value"].number() if "value" in members else 0.0
    return built(entry, lambda: Input(members["input"].text(), value))


def built(entry: JsonValue, make: Callable[[], Any]) -> Any:
    """Make something of values of a file; what its class refuses is reported with its place in the file."""
    try:
        return make()
    except FormatError:
        raise
    except (TypeError, ValueError) as error:
        entry.refuse(" ".join(str(error).split()))
    except ArithmeticError as error:
        entry.refuse(f"it cannot be calculated with ({error}); give numbers of metres and kilograms")


def no_mistakes(entry: JsonValue, mistakes: Callable[[], list[str]]) -> None:
    """Refuse an element that finds mistakes in itself."""
    found = built(entry, mistakes)
    if found:
        entry.refuse("; ".join(found))
