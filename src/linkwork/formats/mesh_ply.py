"""PLY, the Stanford polygon format: in words, or binary of either order."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.markup import shorten
from linkwork.formats.mesh_file import Soup, mesh_format
from linkwork.formats.mesh_words import number, whole

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
_INDICES = ("vertex_indices", "vertex_index")
_MOST_CORNERS = 10_000


@dataclass(frozen=True)
class Property:
    """A number of each element, or a list of them with a count in front."""

    name: str
    kind: str  # "f4"
    count_kind: str = ""  # of a list


@dataclass
class PlyElement:
    """So many things of one kind."""

    name: str
    count: int
    properties: list[Property] = field(default_factory=list)


def read(path: Path, data: bytes) -> Soup:
    """Return vertices and faces; all else is passed over."""
    order, elements, start = _header(path, data)
    contents = data[start:]
    least = sum(e.count * sum(_least(p, order) for p in e.properties) for e in elements)
    if least > len(contents) + 1:  # the last line in words may lack its end
        counts = ", ".join(f"{e.count} of {shorten(e.name)}" for e in elements)
        raise FormatError(
            f"{path}: the header says {counts}, at least {least} bytes, and {len(contents)} follow; "
            "the file is cut off or the counts are wrong"
        )
    reader: Any = _Words(path, contents) if order == "" else _Binary(path, contents, order)
    found = {element.name: reader.element(element) for element in elements}
    for name, needed in (("vertex", ("x", "y", "z")), ("face", ())):
        if name not in found or any(axis not in found[name] for axis in needed):
            raise FormatError(f"{path}: no element 'vertex' with x, y, z, or no element 'face'; give both")
    faces = next((found["face"][name] for name in _INDICES if name in found["face"]), None)
    if faces is None:
        raise FormatError(f"{path}: element 'face' has no list vertex_indices; give one")
    vertices = np.stack([np.asarray(found["vertex"][axis], dtype=np.float64) for axis in "xyz"], axis=-1)
    return Soup(vertices, faces)


def _header(path: Path, data: bytes) -> tuple[str, list[PlyElement], int]:
    end = data.find(b"end_header")
    stop = data.find(b"\n", end)
    if not data.startswith(b"ply") or end < 0 or stop < 0 or end > 100_000:
        raise FormatError(
            f"{path}:1: no PLY header, from 'ply' to 'end_header'; the file is cut off or no PLY"
        )
    order, elements = None, []
    for line, text in enumerate(data[:end].decode("latin-1").splitlines(), start=1):
        words = text.split()
        try:
            match words:
                case [] | ["ply"] | ["comment" | "obj_info", *_]:
                    pass
                case ["format", kind, "1.0"]:
                    order = _FORMATS[kind]
                case ["element", name, count]:
                    elements.append(
                        PlyElement(name, whole(path, line, count, 0, 2**32, f"element {shorten(name)},"))
                    )
                case ["property", "list", count, kind, name] if _TYPES[count][0] != "f":
                    elements[-1].properties.append(Property(name, _TYPES[kind], _TYPES[count]))
                case ["property", kind, name]:
                    elements[-1].properties.append(Property(name, _TYPES[kind]))
                case _:
                    raise KeyError
        except (KeyError, IndexError):
            raise FormatError(f"{path}:{line}: {shorten(text)} is not understood in a PLY header") from None
    if order is None:
        raise FormatError(f"{path}:1: the header has no format; give 'format ascii 1.0' or a binary one")
    return order, elements, stop + 1


def _least(part: Property, order: str) -> int:
    """Return the fewest bytes that a property takes: in words a digit and a space."""
    return 2 if order == "" else np.dtype(part.count_kind or part.kind).itemsize


class _Binary:
    """Elements one after another, in bytes."""

    def __init__(self, path: Path, data: bytes, order: str) -> None:
        self.path, self.data, self.order, self.at = path, data, order, 0

    def element(self, element: PlyElement) -> dict[str, Any]:
        """Return the values of an element by property: arrays, or rows of lists."""
        found = self._table(element)
        return self._one_by_one(element) if found is None else found

    def _table(self, element: PlyElement) -> dict[str, Any] | None:
        """Return an element whose lists are all of one length, that of the first; None if they are not."""
        fields: list[Any] = []
        at = self.at
        for k, part in enumerate(element.properties):
            if not part.count_kind:
                fields.append((f"{k}", self.order + part.kind))
                at += np.dtype(part.kind).itemsize
                continue
            if not element.count:
                return None
            size = int(self._take(self.order + part.count_kind, 1, at)[0])
            if not 0 <= size <= _MOST_CORNERS:
                raise self._error(element, 0, f"a list of {size}; allowed are 0 to {_MOST_CORNERS}")
            fields += [
                (f"{k} count", self.order + part.count_kind),
                (f"{k}", self.order + part.kind, (size,)),
            ]
            at += np.dtype(part.count_kind).itemsize + size * np.dtype(part.kind).itemsize
        dtype = np.dtype(fields)
        if self.at + dtype.itemsize * element.count > len(self.data):
            return None
        table = np.frombuffer(self.data, dtype, element.count, self.at)
        for k, part in enumerate(element.properties):
            if part.count_kind and (table[f"{k} count"] != dtype[f"{k}"].shape[0]).any():
                return None
        self.at += dtype.itemsize * element.count
        return {part.name: table[f"{k}"] for k, part in enumerate(element.properties)}

    def _one_by_one(self, element: PlyElement) -> dict[str, Any]:
        rows: dict[str, list[Any]] = {part.name: [] for part in element.properties}
        for row in range(element.count):
            for part in element.properties:
                size = 1
                if part.count_kind:
                    count = self._take(self.order + part.count_kind, 1, self.at)
                    self.at += count.itemsize
                    size = int(count[0])
                    if not 0 <= size <= _MOST_CORNERS:
                        raise self._error(element, row, f"a list of {size}; allowed are 0 to {_MOST_CORNERS}")
                values = self._take(self.order + part.kind, size, self.at)
                self.at += values.nbytes
                rows[part.name].append(values if part.count_kind else values[0])
        return rows

    def _take(self, kind: str, count: int, at: int) -> np.ndarray:
        if at + np.dtype(kind).itemsize * count > len(self.data):
            raise FormatError(
                f"{self.path}: the file ends at byte {len(self.data)} of its contents; it is cut off"
            )
        return np.frombuffer(self.data, kind, count, at)

    def _error(self, element: PlyElement, row: int, words: str) -> FormatError:
        return FormatError(f"{self.path}: element {shorten(element.name)} {row}: {words}")


class _Words:
    """Elements one to a line, in words."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.lines = [line.split() for line in data.decode("latin-1").splitlines() if line.split()]
        self.at = 0

    def element(self, element: PlyElement) -> dict[str, Any]:
        """Return the values of an element by property: lists of numbers, or of lists."""
        if self.at + element.count > len(self.lines):
            left = len(self.lines) - self.at
            raise FormatError(
                f"{self.path}: {element.count} of {shorten(element.name)}, and {left} lines are left"
            )
        rows: dict[str, list[Any]] = {part.name: [] for part in element.properties}
        for words in self.lines[self.at : self.at + element.count]:
            self._row(element, words, rows)
            self.at += 1
        return rows

    def _row(self, element: PlyElement, words: list[str], rows: dict[str, list[Any]]) -> None:
        at, line = 0, self.at + 1  # counted after the header
        for part in element.properties:
            size = 1
            if part.count_kind:
                if at >= len(words):
                    raise self._short(element)
                size = whole(self.path, line, words[at], 0, _MOST_CORNERS, "a list of")
                at += 1
            if at + size > len(words):
                raise self._short(element)
            if part.count_kind:
                rows[part.name].append(
                    [whole(self.path, line, w, 0, 2**32, "vertex") for w in words[at : at + size]]
                )
            else:
                rows[part.name].append(number(self.path, line, words[at]))
            at += size

    def _short(self, element: PlyElement) -> FormatError:
        where = f"line {self.at + 1} after the header"
        return FormatError(f"{self.path}: {where}: too few numbers for a {shorten(element.name)}")


FORMAT = mesh_format(".ply", read)
