"""Wavefront OBJ: vertices and faces; textures, materials and groups are passed over, and never opened."""

from pathlib import Path

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.markup import shorten
from linkwork.formats.mesh_file import MAX_FACES, Soup, mesh_format
from linkwork.formats.mesh_words import lines, numbers, whole

_PASSED_OVER = frozenset(
    ("vt", "vn", "vp", "g", "o", "s", "mg", "usemtl", "mtllib", "usemap", "maplib", "l", "p", "bevel", "lod")
    + ("c_interp", "d_interp", "shadow_obj", "trace_obj")
)


def read(path: Path, data: bytes) -> Soup:
    """Return vertices and faces; free-form surfaces are refused."""
    vertices: list[tuple[float, float, float]] = []
    faces: list[list[int]] = []
    for line, words in lines(path, data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")):
        match words[0]:
            case "v":
                vertices.append(numbers(path, line, words[1:]))
            case "f":
                if len(words) < 4:
                    raise FormatError(
                        f"{path}:{line}: a face with {len(words) - 1} corners; it has 3 or more"
                    )
                if len(faces) == MAX_FACES:
                    raise FormatError(f"{path}:{line}: more than {MAX_FACES} faces; allowed are as many")
                faces.append([_index(path, line, word, len(vertices)) for word in words[1:]])
            case word if word not in _PASSED_OVER:
                raise FormatError(
                    f"{path}:{line}: {shorten(word)} is not understood; give vertices (v) and faces (f)"
                )
    return Soup(np.array(vertices).reshape(-1, 3), faces)


def _index(path: Path, line: int, word: str, count: int) -> int:
    """Return the vertex of a corner, written a, a/b, a//c or a/b/c; 1 is the first, -1 the last so far."""
    first = word.partition("/")[0]
    value = whole(path, line, first, -count, count, "vertex")
    if value == 0:
        raise FormatError(f"{path}:{line}: vertex 0; they count from 1, or from -1 backwards")
    return value - 1 if value > 0 else count + value


FORMAT = mesh_format(".obj", read)
