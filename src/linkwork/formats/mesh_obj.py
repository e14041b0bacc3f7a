"""Wavefront OBJ: vertices and faces; textures, materials and groups are passed over, and never opened."""

from pathlib import Path

import numpy as np

from linkwork.atomic_files import write_atomically
from linkwork.errors import FormatError
from linkwork.formats.markup import shorten
from linkwork.formats.mesh_file import Soup, mesh_format
from linkwork.formats.mesh_text_loops import STOPPED, count_obj, read_obj
from linkwork.formats.mesh_words import SCALE, UTF8_MARK, Text, word_table
from linkwork.formats.spanning_tree import words
from linkwork.geometry.triangulation import MOST_CORNERS, Polygons

_PASSED_OVER = word_table(
    *("vn", "vt", "g", "o", "s", "usemtl", "mtllib", "vp", "mg", "usemap", "maplib", "l", "p", "bevel"),
    *("lod", "c_interp", "d_interp", "shadow_obj", "trace_obj"),
)


def read(path: Path, data: bytes, most: int) -> Soup:
    """Return vertices and faces, at most n of each; free-form surfaces are refused."""
    data = data.removeprefix(UTF8_MARK)
    if b"\\" in data:
        data = data.replace(b"\\\r\n", b"   ").replace(b"\\\n", b"  ")
    text, marks = Text(path, data), np.zeros(5, np.int64)
    count_obj(text.bytes, marks)
    _, n, m, corners, longest = marks.tolist()
    if max(n, m, corners // 4) > most:
        raise FormatError(f"{path}: {n} vertices and {m} faces; allowed are {most}, or more by largest=")
    if longest > MOST_CORNERS:
        raise FormatError(
            f"{path}: a face of {longest} corners; allowed are {MOST_CORNERS}: cut it into triangles"
        )
    if not m and not corners and n > 1000:
        raise FormatError(f"{path}: there are no faces, but {n} vertices; a mesh has at least one")
    found = _Found(np.empty((n, 3)), np.empty(corners, np.int32), np.empty(m, np.int32))
    marks[:] = 0
    while read_obj(text.bytes, *SCALE, _PASSED_OVER, *found.arrays, marks) == STOPPED:
        found.by_hand(text, marks)
    _, n, m, corners, _ = marks.tolist()
    return Soup(found.vertices[:n], Polygons(found.corners[:corners], found.counts[:m]))


def save_obj(path: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    """Write a mesh, all or nothing, with as many digits as it takes to get the same numbers back."""
    lines = [f"v {words(p)}" for p in vertices] + [f"f {a} {b} {c}" for a, b, c in (faces + 1).tolist()]
    write_atomically(path, ["\n".join([*lines, ""]).encode()])


class _Found:
    """Vertices and faces so far; `marks` say where to go on, and how many of each there are."""

    def __init__(self, vertices: np.ndarray, corners: np.ndarray, counts: np.ndarray) -> None:
        self.vertices, self.corners, self.counts = self.arrays = vertices, corners, counts

    def by_hand(self, text: Text, marks: np.ndarray) -> None:
        """Read the next line that has words; it is probably wrong."""
        _, n, m, c, _ = marks.tolist()
        at, marks[0], words = next(text.lines(int(marks[0])), (0, len(text.data), [""]))
        if words[0] == "v":
            self.vertices[n] = text.point(at, words[1:])
            marks[1] += 1
        elif words[0] == "f":
            if len(words) < 4:
                raise text.error(at, f"a face with {len(words) - 1} corners; it has 3 or more")
            self.corners[c : c + len(words) - 1] = [_index(text, at, word, n) for word in words[1:]]
            self.counts[m] = len(words) - 1
            marks[2], marks[3] = m + 1, c + len(words) - 1
        elif words[0]:
            raise text.error(at, f"{shorten(words[0])} is not understood; give vertices (v) and faces (f)")


def _index(text: Text, at: int, word: str, count: int) -> int:
    """Return the vertex of a corner, written a, a/b, a//c or a/b/c; 1 is the first, -1 the last so far."""
    value = text.whole(at, word.partition("/")[0], -count, count, "vertex")
    if value == 0:
        raise text.error(at, "vertex 0; they count from 1, or from -1 backwards")
    return value - 1 if value > 0 else count + value


FORMAT = mesh_format(".obj", read)
