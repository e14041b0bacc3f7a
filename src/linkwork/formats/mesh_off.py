"""OFF, the object file format of Geomview: counts, points, faces."""

from pathlib import Path

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.markup import shorten
from linkwork.formats.mesh_file import Soup, mesh_format
from linkwork.formats.mesh_text_loops import LIST, REST, STOPPED, read_rows
from linkwork.formats.mesh_words import SCALE, UTF8_MARK, Text
from linkwork.geometry.triangulation import MOST_CORNERS, Polygons

_KEYWORDS = ("OFF", "COFF", "NOFF", "CNOFF")  # with colours or normals after each point
_COMMENT = ord("#")


def read(path: Path, data: bytes, most: int) -> Soup:
    """Return vertices and faces; colours and normals are passed over."""
    text = Text(path, data.removeprefix(UTF8_MARK))
    rows = text.lines(0)
    at, begin, words = next(rows, (0, 0, []))
    if not words or words[0] not in _KEYWORDS or "BINARY" in words:
        what = shorten(" ".join(words)) if words else "nothing"
        raise FormatError(f"{path}:1: it begins with {what}; expected is OFF, in words")
    words = words[1:]
    if not words:
        at, begin, words = next(rows, (at, begin, []))
        if not words:
            raise text.error(at, "the counts of vertices, faces and edges are missing; give them")
    if len(words) not in (2, 3):
        raise text.error(at, f"{len(words)} counts; give those of vertices, faces and edges")
    n, m = (text.whole(at, word, 0, min(most, len(data)), "a count of") for word in words[:2])
    if n + m > len(data):
        raise text.error(at, f"{n} vertices and {m} faces, and {len(data)} bytes; it is cut off")
    vertices, counts = np.empty((n, 3)), np.empty(m, np.int32)
    marks = np.array([begin, 0, n, 0])
    columns, none = np.array([0, 1, 2, REST]), np.empty(0, np.int32)
    while read_rows(text.bytes, *SCALE, columns, _COMMENT, 0, 0, vertices, none, none, marks) == STOPPED:
        at, marks[0], words = _line(text, marks, "vertices")
        vertices[marks[1]] = text.point(at, words)
        marks[1] += 1
    columns, marks[1:3] = np.array([LIST, REST]), (0, m)
    corners = np.empty(min((len(data) - int(marks[0])) // 2 + 1, 4 * most), np.int32)
    empty = np.empty((0, 3))
    bounds = (_COMMENT, MOST_CORNERS, n - 1)
    while read_rows(text.bytes, *SCALE, columns, *bounds, empty, corners, counts, marks) == STOPPED:
        at, marks[0], words = _line(text, marks, "faces")
        face = _face(text, at, words, n)
        marks[3] = (end := marks[3] + len(face))
        if end > len(corners):
            raise text.error(
                at, f"more than {len(corners)} corners; allowed are as many, or more by largest="
            )
        corners[end - len(face) : end], counts[marks[1]] = face, len(face)
        marks[1] += 1
    return Soup(vertices, Polygons(corners[: marks[3]], counts))


def _line(text: Text, marks: np.ndarray, what: str) -> tuple[int, int, list[str]]:
    found = next(text.lines(int(marks[0])), None)
    if found is None:
        raise FormatError(
            f"{text.path}: {marks[2]} {what}, and the file ends after {marks[1]}; it is cut off"
        )
    return found


def _face(text: Text, at: int, words: list[str], count: int) -> list[int]:
    size = text.whole(at, words[0], 3, MOST_CORNERS, "a face whose number of corners is")
    if len(words) <= size:
        raise text.error(at, f"a face of {size} corners, and {len(words) - 1} are there")
    return [text.whole(at, word, 0, count - 1, "vertex") for word in words[1 : size + 1]]


FORMAT = mesh_format(".off", read)
