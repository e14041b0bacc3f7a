"""PLY, the Stanford polygon format: in words, or binary of either order."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.markup import shorten
from linkwork.formats.mesh_file import Soup, mesh_format
from linkwork.formats.mesh_text_loops import (
    DONE,
    LIST,
    SKIP,
    SKIPPED_LIST,
    STOPPED,
    TOO_MANY,
    read_rows,
    walk_rows,
)
from linkwork.formats.mesh_words import SCALE, Text
from linkwork.geometry.triangulation import MOST_CORNERS, Polygons

_TYPES = {
    name: kind
    for names, kind in (
        (("char", "int8"), "i1"),
        (("uchar", "uint8"), "u1"),
        (("short", "int16"), "i2"),
        (("ushort", "uint16"), "u2"),
        (("int", "int32"), "i4"),
        (("uint", "uint32"), "u4"),
        (("float", "float32"), "f4"),
        (("double", "float64"), "f8"),
    )
    for name in names
}
_FORMATS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_END = re.compile(rb"\n(end_header[ \t\r]*\n)")
_INDICES = ("vertex_indices", "vertex_index")


@dataclass(frozen=True)
class Property:
    """A number of each element, or a list of them with a count in front."""

    name: str
    kind: str  # "f4"
    count_kind: str = ""  # of a list


@dataclass
class PlyElement:
    """The elements of one kind, n of them."""

    name: str
    count: int
    properties: list[Property] = field(default_factory=list)

    @property
    def places(self) -> dict[str, int]:
        """The numbers among the properties, by name, and which property they are."""
        return {part.name: k for k, part in enumerate(self.properties) if not part.count_kind}

    @property
    def kept(self) -> int | None:
        """The property that has the corners of faces."""
        lists = {part.name: k for k, part in enumerate(self.properties) if part.count_kind}
        return next((lists[name] for name in _INDICES if name in lists and self.name == "face"), None)


def read(path: Path, data: bytes, most: int) -> Soup:
    """Return vertices and faces; all else is passed over."""
    order, elements, start = _header(path, data, most)
    least = sum(e.count * sum(_least(p, order) for p in e.properties) for e in elements)
    if least > len(data) - start + 1:  # the last line in words may lack its end
        counts = ", ".join(f"{e.count} of {shorten(e.name)}" for e in elements)
        raise FormatError(
            f"{path}: the header says {counts}, at least {least} bytes, and {len(data) - start} follow; "
            "the file is cut off or the counts are wrong"
        )
    read_element = _in_words if order == "" else _in_bytes
    vertices = faces = None
    for element in elements:
        numbers, polygons, start = read_element(path, data, element, order, start, most)
        if element.name == "vertex" and all(axis in element.places for axis in "xyz"):
            vertices = numbers
        elif element.name == "face":
            if element.kept is None:
                raise FormatError(f"{path}: element 'face' has no list vertex_indices; give one")
            faces = polygons
    if vertices is None or faces is None:
        raise FormatError(f"{path}: no element 'vertex' with x, y, z, or no element 'face'; give both")
    return Soup(vertices, faces)


def _header(path: Path, data: bytes, most: int) -> tuple[str, list[PlyElement], int]:
    found = _END.search(data, 0, 100_000) if data.startswith(b"ply") else None
    end, stop = found.span(1) if found else (-1, -1)
    if found is None:
        raise FormatError(
            f"{path}:1: no PLY header, from 'ply' to 'end_header'; the file is cut off or no PLY"
        )
    order, elements, text = None, [], Text(path, data[:stop])
    for line, said in enumerate(data[:end].decode("latin-1").split("\n"), start=1):
        words = said.split()
        try:
            match words:
                case [] | ["ply"] | ["comment" | "obj_info", *_]:
                    pass
                case ["format", kind, "1.0"]:
                    order = _FORMATS[kind]
                case ["element", name, count]:
                    what = f"element {shorten(name)},"
                    elements.append(PlyElement(name, text.whole(_place(text, line), count, 0, 2**32, what)))
                case ["property", "list", count, kind, name] if _TYPES[count][0] != "f":
                    elements[-1].properties.append(Property(name, _TYPES[kind], _TYPES[count]))
                case ["property", kind, name]:
                    elements[-1].properties.append(Property(name, _TYPES[kind]))
                case _:
                    raise KeyError
        except (KeyError, IndexError):
            raise FormatError(f"{path}:{line}: {shorten(said)} is not understood in a PLY header") from None
    if len({element.name for element in elements}) < len(elements):
        raise FormatError(f"{path}:1: two elements of one name; rename one")
    for element in elements:
        if element.name in ("vertex", "face") and element.count > most and element.count <= len(data):
            raise FormatError(
                f"{path}: {element.count} of {shorten(element.name)}; allowed are {most}, or more by largest="
            )
    if order is None:
        raise FormatError(f"{path}:1: the header has no format; give 'format ascii 1.0' or a binary one")
    return order, elements, stop


def _least(part: Property, order: str) -> int:
    """Return the fewest bytes that a property takes: in words a digit and a space."""
    return 2 if order == "" else np.dtype(part.count_kind or part.kind).itemsize


def _place(text: Text, line: int) -> int:
    """Return a byte of a line of the header."""
    return len(b"\n".join(text.data.split(b"\n")[: line - 1])) + 1


Found = tuple[np.ndarray, Any, int]  # (n, 3) of x, y, z; faces; where the next element begins


def _in_bytes(path: Path, data: bytes, element: PlyElement, order: str, at: int, most: int) -> Found:
    """Return an element that is one row of bytes after another."""
    if element.kept is not None and np.dtype(element.properties[element.kept].kind).kind == "f":
        raise FormatError(f"{path}: corners of faces that are no whole numbers; give a list of int")
    found = _as_table(data, element, order, at)
    if found is not None:
        table, end = found
        return _points(element, lambda k: table[f"{k}"]), _rows_of(element, table), end
    raw = np.frombuffer(data, np.uint8)
    columns = np.array([_column(part, k == element.kept) for k, part in enumerate(element.properties)])
    columns = columns.reshape(-1, 5).astype(np.int64)
    keep = element.kept is not None
    corners = np.empty(min(len(data) - at, 4 * most) if keep else 0, np.int32)
    counts = np.empty(element.count if keep else 0, np.int32)
    starts, marks = np.empty(element.count, np.int64), np.array([at, 0, element.count, 0])
    how = walk_rows(raw, columns, int(order == ">"), MOST_CORNERS, starts, corners, counts, marks)
    if how != DONE:
        row = f"{path}: element {shorten(element.name)} {marks[1]}"
        raise FormatError(
            f"{row}: too many corners; allowed are {len(corners)}, or more by largest="
            if how == TOO_MANY
            else f"{row}: the file ends at byte {len(data)}, a list is longer than {MOST_CORNERS}, or "
            f"a vertex "
            "is no whole number from 0 on; it is cut off or damaged"
        )
    numbers = _points(element, lambda k: _gathered(path, raw, element, order, starts, k))
    return numbers, Polygons(corners[: marks[3]], counts) if keep else None, int(marks[0])


def _points(element: PlyElement, column: Callable[[int], np.ndarray]) -> np.ndarray:
    places = element.places
    if element.name != "vertex" or any(axis not in places for axis in "xyz"):
        return np.empty((0, 3))
    points = np.empty((element.count, 3))
    for axis, name in enumerate("xyz"):
        points[:, axis] = column(places[name])
    return points


def _rows_of(element: PlyElement, table: np.ndarray) -> Any:
    if element.kept is None:
        return None
    rows = table[f"{element.kept}"]
    if rows.dtype.kind == "f":
        return rows.astype(np.int64) if (np.abs(rows) < 2**31).all() else np.full(rows.shape, -1)
    return rows.astype(np.int64)


def _column(part: Property, kept: bool) -> tuple[int, ...]:
    count, item = np.dtype(part.count_kind or "u1"), np.dtype(part.kind)
    size = count.itemsize if part.count_kind else 0
    return size, count.kind == "i", item.itemsize, item.kind != "u", kept and item.kind != "f"


def _gathered(
    path: Path, raw: np.ndarray, element: PlyElement, order: str, starts: np.ndarray, k: int
) -> np.ndarray:
    """Return numbers of rows whose lists, after them, are of different lengths."""
    before = element.properties[:k]
    if any(part.count_kind for part in before):
        raise FormatError(f"{path}: a list before x, y, z of a vertex; give the coordinates first")
    kind = np.dtype(order + element.properties[k].kind)
    offset = sum(np.dtype(part.kind).itemsize for part in before)
    return raw[starts[:, None] + offset + np.arange(kind.itemsize)].view(kind)[:, 0]


def _as_table(data: bytes, element: PlyElement, order: str, at: int) -> tuple[np.ndarray, int] | None:
    """Return an element whose lists are all of one length, that of the first; None if they are not."""
    fields: list[Any] = []
    place = at
    for k, part in enumerate(element.properties):
        item = np.dtype(order + part.kind)
        if not part.count_kind:
            fields.append((f"{k}", item))
            place += item.itemsize
            continue
        count = np.dtype(order + part.count_kind)
        if not element.count or place + count.itemsize > len(data):
            return None
        size = int(np.frombuffer(data, count, 1, place)[0])
        if not 0 <= size <= MOST_CORNERS:
            return None
        fields += [(f"{k} count", count), (f"{k}", item, (size,))]
        place += count.itemsize + size * item.itemsize
    dtype = np.dtype(fields)
    end = at + dtype.itemsize * element.count
    if end > len(data) or not element.count or not dtype.itemsize:
        return None
    table = np.frombuffer(data, dtype, element.count, at)
    for k, part in enumerate(element.properties):
        if part.count_kind and (table[f"{k} count"] != dtype[f"{k}"].shape[0]).any():
            return None
    return table, end


def _in_words(path: Path, data: bytes, element: PlyElement, order: str, at: int, most: int) -> Found:
    """Return an element of one line after another."""
    text = Text(path, data)
    wanted = {element.places[axis]: k for k, axis in enumerate("xyz") if axis in element.places}
    if element.name != "vertex":
        wanted = {}
    columns = np.array(
        [
            (LIST if k == element.kept else SKIPPED_LIST) if part.count_kind else wanted.get(k, SKIP)
            for k, part in enumerate(element.properties)
        ],
        np.int64,
    )
    keep = element.kept is not None
    numbers = np.zeros((element.count if wanted else 0, 3))
    corners = np.empty(min((len(data) - at) // 2 + 1, 4 * most) if keep else 0, np.int32)
    counts = np.empty(element.count if keep else 0, np.int32)
    marks = np.array([at, 0, element.count, 0])
    bounds = (-1, MOST_CORNERS, 2**31 - 1)
    while read_rows(text.bytes, *SCALE, columns, *bounds, numbers, corners, counts, marks) == STOPPED:
        _by_hand(text, element, columns, numbers, marks)
    return numbers, Polygons(corners[: marks[3]], counts) if keep else None, int(marks[0])


def _by_hand(text: Text, element: PlyElement, columns: np.ndarray, numbers: np.ndarray, marks: Any) -> None:
    """Read a row of numbers that loops leave to us, or say what is wrong with one."""
    found = next(text.lines(int(marks[0]), comment=b""), None)
    if found is None:
        raise FormatError(
            f"{text.path}: {element.count} of {shorten(element.name)}, and the file ends after {marks[1]}; "
            "it is cut off"
        )
    at, marks[0], words = found
    k = 0
    for part, column in zip(element.properties, columns.tolist(), strict=True):
        size = 1
        if part.count_kind and k < len(words):
            size = text.whole(at, words[k], 0, MOST_CORNERS, "a list of")
            k += 1
        if k + size > len(words):
            raise text.error(at, f"too few numbers for a {shorten(element.name)}; give one for each property")
        for word in words[k : k + size]:
            if part.count_kind:
                text.whole(at, word, 0, 2**31 - 1, "vertex")
            elif column >= 0:
                numbers[marks[1], column] = text.value(at, word)
            else:
                text.value(at, word)
        k += size
    if any(part.count_kind for part in element.properties):
        raise text.error(at, f"a {shorten(element.name)} that is not understood; write it in plain numbers")
    marks[1] += 1


FORMAT = mesh_format(".ply", read)
