"""STL: triangles, binary or in words; it has no units and no neighbours."""

from pathlib import Path

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.markup import shorten
from linkwork.formats.mesh_file import MAX_FACES, Soup, mesh_format
from linkwork.formats.mesh_words import lines, numbers

_HEADER, _RECORD = 84, 50  # bytes
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_NEXT = {"solid": "facet", "facet": "outer", "outer": "vertex", "endloop": "endfacet"}


def read(path: Path, data: bytes) -> Soup:
    """Return the triangles; a file that is as long as its count says is binary, whatever it begins with."""
    count = int.from_bytes(data[80:_HEADER], "little") if len(data) >= _HEADER else -1
    if len(data) == _HEADER + _RECORD * count:
        records = np.frombuffer(data, _TRIANGLE, count, _HEADER)
        return _soup(records["corners"].reshape(-1, 3))
    if data[:512].lstrip().lower().startswith(b"solid"):
        return _in_words(path, data)
    if count < 0:
        raise FormatError(f"{path}: {len(data)} bytes are too few for STL, whose header alone has {_HEADER}")
    raise FormatError(
        f"{path}: {len(data)} bytes, and a header that says {count} triangles, "
        f"{_HEADER + _RECORD * count} bytes; the file is cut off or no STL"
    )


def _in_words(path: Path, data: bytes) -> Soup:
    corners: list[tuple[float, float, float]] = []
    expected, found, line = "solid", 0, 0
    for line, words in lines(path, data, comment=""):
        word = words[0].lower()
        if word == "vertex" and expected == "vertex":
            if len(words) != 4:
                raise FormatError(f"{path}:{line}: a vertex with {len(words) - 1} numbers; give 3")
            corners.append(numbers(path, line, words[1:]))
            found += 1
            expected = "endloop" if found == 3 else "vertex"
        elif word == expected or (word == "endsolid" and expected == "facet"):
            found = 0
            expected = _NEXT.get(word, "solid" if word == "endsolid" else "facet")
        else:
            raise FormatError(f"{path}:{line}: {shorten(words[0])}; expected is {expected!r}")
        if len(corners) > 3 * MAX_FACES:
            raise FormatError(f"{path}:{line}: more than {MAX_FACES} triangles; allowed are as many")
    if expected not in ("facet", "solid"):
        raise FormatError(f"{path}:{line}: the file ends, and expected is {expected!r}; it is cut off")
    return _soup(np.array(corners).reshape(-1, 3))


def _soup(corners: np.ndarray) -> Soup:
    return Soup(corners, np.arange(len(corners)).reshape(-1, 3))


FORMAT = mesh_format(".stl", read)
