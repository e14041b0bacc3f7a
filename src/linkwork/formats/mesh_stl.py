"""STL: triangles, binary or in words; it has no units and no neighbours."""

from pathlib import Path

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.markup import shorten
from linkwork.formats.mesh_file import Soup, mesh_format
from linkwork.formats.mesh_text_loops import STOPPED, read_facets
from linkwork.formats.mesh_words import SCALE, UTF8_MARK, Text, word_table

_HEADER, _RECORD = 84, 50  # bytes
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_NEXT = {"solid": "facet", "facet": "outer", "outer": "vertex", "endloop": "endfacet"}
_WORDS = word_table("facet", "outer", "vertex", "endloop", "endfacet")
_SHORTEST = 60  # bytes of a facet in words


def read(path: Path, data: bytes, most: int) -> Soup:
    """Return the triangles; a file that is as long as its count says is binary, whatever it begins with."""
    count = int.from_bytes(data[80:_HEADER], "little") if len(data) >= _HEADER else -1
    if count >= 0 and len(data) == _HEADER + _RECORD * count:
        if count > most:
            raise FormatError(f"{path}: {count} triangles; allowed are {most}, or more by largest=")
        records = np.frombuffer(data, _TRIANGLE, count, _HEADER)
        return Soup(records["corners"], None)
    if data[:512].removeprefix(UTF8_MARK).lstrip().lower().startswith(b"solid"):
        return _in_words(path, data.removeprefix(UTF8_MARK), most)
    if count < 0:
        raise FormatError(f"{path}: {len(data)} bytes are too few for STL, whose header alone has {_HEADER}")
    raise FormatError(
        f"{path}: {len(data)} bytes, and a header that says {count} triangles, "
        f"{_HEADER + _RECORD * count} bytes; the file is cut off or no STL"
    )


def _in_words(path: Path, data: bytes, most: int) -> Soup:
    text = Text(path, data)
    corners = np.empty((3 * min(most, len(data) // _SHORTEST + 1), 3))
    marks = np.zeros(2, np.int64)
    state = _by_hand(text, corners, marks, "solid")
    while read_facets(text.bytes, *SCALE, _WORDS, corners, marks) == STOPPED:
        state = _by_hand(text, corners, marks, state)
    if state not in ("facet", "solid"):
        raise text.error(len(data), f"the file ends, and expected is {state!r}; it is cut off")
    return Soup(corners[: marks[1]], None)


def _by_hand(text: Text, corners: np.ndarray, marks: np.ndarray, expected: str) -> str:
    """Read lines until facets are expected again; return what is expected."""
    n = int(marks[1])
    for at, following, words in text.lines(int(marks[0]), comment=b""):
        word = words[0].lower()
        if word == "end" and len(words) > 1:  # as some programs write it
            word, words = word + words[1].lower(), words[1:]
        if word == "vertex" and expected == "vertex":
            if len(words) != 4:
                raise text.error(at, f"a vertex with {len(words) - 1} numbers; give 3")
            if n == len(corners):
                raise text.error(
                    at, f"more than {n // 3} triangles; allowed are as many, or more by largest="
                )
            corners[n] = text.point(at, words[1:])
            n += 1
            expected = "vertex" if n % 3 else "endloop"
        elif word == expected or (word == "endsolid" and expected == "facet"):
            expected = _NEXT.get(word, "solid" if word == "endsolid" else "facet")
        else:
            raise text.error(at, f"{shorten(words[0])}; expected is {expected!r}")
        marks[0], marks[1] = following, n
        if expected == "facet" and word != "facet":
            return expected
    marks[0] = len(text.data)
    return expected


FORMAT = mesh_format(".stl", read)
