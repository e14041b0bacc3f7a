"""OFF, the object file format of Geomview: counts, points, faces."""

from pathlib import Path

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.markup import shorten
from linkwork.formats.mesh_file import Soup, mesh_format
from linkwork.formats.mesh_words import lines, numbers, whole

_KEYWORDS = ("OFF", "COFF", "NOFF", "CNOFF")  # with colours or normals after each point


def read(path: Path, data: bytes) -> Soup:
    """Return vertices and faces; colours and normals are passed over."""
    rows = list(lines(path, data))
    if not rows or rows[0][1][0] not in _KEYWORDS or "BINARY" in rows[0][1]:
        what = shorten(" ".join(rows[0][1])) if rows else "nothing"
        raise FormatError(f"{path}:1: it begins with {what}; expected is OFF, in words")
    line, words = rows.pop(0)
    words = words[1:]
    if not words:
        if not rows:
            raise FormatError(f"{path}:{line}: the counts of vertices, faces and edges are missing")
        line, words = rows.pop(0)
    if len(words) not in (2, 3):
        raise FormatError(f"{path}:{line}: {len(words)} counts; give those of vertices, faces and edges")
    count, many = (whole(path, line, word, 0, len(rows), "a count of") for word in words[:2])
    if count + many > len(rows):
        raise FormatError(
            f"{path}:{line}: {count} vertices and {many} faces, and {len(rows)} lines; it is cut off"
        )
    vertices = [numbers(path, line, words) for line, words in rows[:count]]
    return Soup(
        np.array(vertices).reshape(-1, 3),
        [_face(path, line, words, count) for line, words in rows[count : count + many]],
    )


def _face(path: Path, line: int, words: list[str], count: int) -> list[int]:
    size = whole(path, line, words[0], 3, 10_000, "a face whose number of corners is")
    if len(words) <= size:
        raise FormatError(f"{path}:{line}: a face of {size} corners, and {len(words) - 1} are there")
    return [whole(path, line, word, 0, count - 1, "vertex") for word in words[1 : size + 1]]


FORMAT = mesh_format(".off", read)
