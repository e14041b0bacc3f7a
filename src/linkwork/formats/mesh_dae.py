"""COLLADA (.dae): triangles and polygons of all nodes of the scene, in metres, in the axes of the file.

Khronos Group, COLLADA 1.4.1 Specification, chapters 4 and 5. Textures, materials and controllers are passed
over; other files are never opened. `up_axis` is not followed, as RViz, Gazebo, MoveIt and Pinocchio do not
follow it: robots are described in the axes that their meshes have, whatever an exporter wrote there.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from linkwork.errors import FormatError, warn
from linkwork.formats.markup import Element, parse_text, shorten
from linkwork.formats.mesh_file import Soup, mesh_format
from linkwork.formats.mesh_text_loops import DONE, read_numbers
from linkwork.formats.mesh_words import SCALE
from linkwork.geometry.triangulation import MOST_CORNERS, Polygons

_UP = ("X_UP", "Y_UP", "Z_UP")
_FACES = ("triangles", "polylist", "polygons", "tristrips", "trifans")
MAX_BYTES = 32_000_000  # XML takes several times its size
_MOST_PARTS = 20_000  # nodes and geometries, as drawn
_MOST_DEPTH = 50


def read(path: Path, data: bytes, most: int) -> Soup:
    """Return all faces, moved to where their nodes are."""
    root = parse_text(path, data, texts=True)
    if root.tag.rpartition(":")[2] != "COLLADA":
        raise root.error(f"the root is <{root.tag[:60]}>; a .dae file has <COLLADA>")
    return _Scene(root, most).soup()


def numbers_in(element: Element) -> np.ndarray:
    """Return the numbers in the text of an element."""
    data = element.content.encode()
    found, marks = np.empty(len(data) // 2 + 1), np.zeros(2, np.int64)
    while read_numbers(np.frombuffer(data, np.uint8), *SCALE, found, marks) != DONE:
        word = data[int(marks[0]) :].split(maxsplit=1)[0].decode("utf-8", "replace")
        try:
            value = float(word)
        except ValueError:
            value = np.nan
        if not np.isfinite(value) or abs(value) > SCALE[0] or not word.isascii() or "_" in word:
            raise element.error(
                f"{shorten(word)} is not a number that a mesh can have; write it like 0.5 or -1e-3"
            )
        found[marks[1]] = value
        marks += (len(word), 1)
    return found[: marks[1]]


def whole_of(element: Element, attribute: str, default: int, least: int = 0, most: int = 100) -> int:
    """Return an attribute that is a whole number within bounds."""
    value = element.number(attribute, default)
    if value != int(value) or not least <= value <= most:
        raise element.error(f"{attribute}={value:g}; give a whole number from {least} to {most}")
    return int(value)


def whole_in(element: Element) -> np.ndarray:
    """Return the whole numbers, none negative, in the text of an element."""
    found = numbers_in(element)
    whole = found.astype(np.int64) if found.max(initial=0.0) < 2**31 else np.full(1, -1)
    if len(whole) != len(found) or (whole != found).any() or (whole < 0).any():
        raise element.error("a number that is not whole, or negative, among indices; give those of vertices")
    return whole


class _Scene:
    """The elements of a file by their ids, and the faces that were found."""

    def __init__(self, root: Element, most: int) -> None:
        self.root, self.most = root, most
        self.by_id: dict[str, Element] = {}
        stack = [root]
        while stack:
            element = stack.pop()
            if "id" in element.attributes:
                self.by_id.setdefault(element.attributes["id"], element)
            stack.extend(element.children)
        self.points: list[np.ndarray] = []
        self.corners: list[np.ndarray] = []
        self.counts: list[np.ndarray] = []
        self.total = self.visited = 0
        self.controllers: list[Element] = []
        self.known: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def soup(self) -> Soup:
        self._check_up()
        metres = self._unit()
        place = np.diag([metres, metres, metres, 1.0])
        for node in self._nodes():
            self._node(node, place, 0)
        if not self.corners:
            skinned = ", but <instance_controller>, which is not read" if self.controllers else ""
            raise self.root.error(f"there are no faces in the scene{skinned}; a mesh has at least one")
        if self.controllers:
            first = self.controllers[0]
            warn(f"{first.file}:{first.line}: left out: {len(self.controllers)} of <instance_controller>")
        polygons = Polygons(np.concatenate(self.corners), np.concatenate(self.counts))
        return Soup(np.concatenate(self.points), polygons)

    def _unit(self) -> float:
        asset = self.root.one("asset")
        unit = asset.one("unit") if asset is not None else None
        metres = 1.0 if unit is None else unit.number("meter", 1.0)
        if unit is not None and not 1e-9 <= metres <= 1e9:
            raise unit.error(f"meter={metres:g}; allowed is 1e-9 to 1e9, the metres of a unit")
        return metres

    def _check_up(self) -> None:
        asset = self.root.one("asset")
        up = asset.one("up_axis") if asset is not None else None
        if up is not None and up.content.strip() not in _UP:
            raise up.error(f"up_axis {shorten(up.content.strip())}; available are {', '.join(_UP)}")

    def _nodes(self) -> Iterator[Element]:
        """Yield the nodes of the scene; all of them if the file does not say which scene."""
        scene = self.root.one("scene")
        shown = scene.one("instance_visual_scene") if scene is not None else None
        if shown is not None:
            yield from self._target(shown, "url").each("node")
            return
        for library in self.root.each("library_visual_scenes"):
            for visual in library.each("visual_scene"):
                yield from visual.each("node")

    def _target(self, element: Element, word: str) -> Element:
        name = element.text(word)
        if not name.startswith("#") or name[1:] not in self.by_id:
            raise element.error(f"{word}={shorten(name)} is not in this file; give #id of what is")
        return self.by_id[name[1:]]

    def _visit(self, element: Element, depth: int) -> None:
        self.visited += 1
        if self.visited > _MOST_PARTS or depth > _MOST_DEPTH:
            raise element.error(
                f"nodes go round in a ring, or more than {_MOST_PARTS} are drawn, or {_MOST_DEPTH} deep"
            )

    def _node(self, node: Element, outer: np.ndarray, depth: int) -> None:
        self._visit(node, depth)
        place = outer
        for step in node.children:
            if step.tag in _STEPS:
                place = place @ _STEPS[step.tag](step)
        if not np.isfinite(place).all():
            raise node.error("is placed beyond the range of numbers; give smaller ones")
        for child in node.children:
            if child.tag == "instance_geometry":
                self._geometry(self._target(child, "url"), place, depth)
            elif child.tag == "instance_node":
                self._node(self._target(child, "url"), place, depth + 1)
            elif child.tag == "node":
                self._node(child, place, depth + 1)
            elif child.tag == "instance_controller":
                self.controllers.append(child)

    def _geometry(self, geometry: Element, place: np.ndarray, depth: int) -> None:
        self._visit(geometry, depth)
        mesh = geometry.one("mesh")
        if mesh is None:
            return  # splines
        for faces in mesh.children:
            if faces.tag not in _FACES:
                continue
            for holed in faces.each("ph"):
                raise holed.error("a polygon with holes is not read; cut it into triangles")
            if id(faces) not in self.known:
                self.known[id(faces)] = self._faces(faces)
            points, corners, counts = self.known[id(faces)]
            if max(self.total + len(points), sum(map(len, self.counts)) + len(counts)) > self.most:
                raise faces.error(
                    f"more than {self.most} vertices or faces; allowed are as many, or more by largest="
                )
            if not len(counts):
                continue
            mirrored = np.linalg.det(place[:3, :3]) < 0.0
            self.points.append(points @ place[:3, :3].T + place[:3, 3])
            self.corners.append((_turned_round(corners, counts) if mirrored else corners) + self.total)
            self.counts.append(counts)
            self.total += len(points)

    def _faces(self, faces: Element) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the points of a list of faces, their corners and how many each has."""
        inputs = list(faces.each("input"))
        stride = 1 + max((whole_of(each, "offset", 0) for each in inputs), default=0)
        vertex = next((each for each in inputs if each.attributes.get("semantic") == "VERTEX"), None)
        if vertex is None:
            raise faces.error('there is no <input semantic="VERTEX">; add one')
        points = self._positions(self._target(vertex, "source"))
        offset = whole_of(vertex, "offset", 0)
        rows = [whole_in(p)[offset::stride] for p in faces.each("p")]
        if faces.tag == "polylist":
            corners = np.concatenate(rows) if rows else np.empty(0, np.int64)
            counts = whole_in(faces.need("vcount"))
        elif faces.tag == "triangles":
            corners = np.concatenate(rows) if rows else np.empty(0, np.int64)
            counts = np.full(len(corners) // 3, 3)
        elif faces.tag == "polygons":
            corners = np.concatenate(rows) if rows else np.empty(0, np.int64)
            counts = np.array([len(row) for row in rows], np.int64)
        else:
            corners, counts = _strips(rows, faces.tag == "tristrips")
        if counts.sum() != len(corners):
            raise faces.error(
                f"{len(corners)} corners, and counts that say {int(counts.sum())}; it is damaged"
            )
        if counts.max(initial=0) > MOST_CORNERS:
            raise faces.error(f"a face of {int(counts.max())} corners; allowed are {MOST_CORNERS}")
        if len(corners) and corners.max() >= len(points):
            raise faces.error(
                f"vertex {int(corners.max())} of {len(points)}; allowed are 0 to {len(points) - 1}"
            )
        keep = counts >= 3  # some exporters write edges as polygons of two
        return points, corners[np.repeat(keep, counts)], counts[keep]

    def _positions(self, vertices: Element) -> np.ndarray:
        source = next(
            (each for each in vertices.each("input") if each.attributes.get("semantic") == "POSITION"), None
        )
        if vertices.tag != "vertices" or source is None:
            raise vertices.error('there is no <input semantic="POSITION">; add one')
        data = self._target(source, "source")
        accessor = data.need("technique_common").need("accessor") if data.one("technique_common") else None
        values = numbers_in(data.need("float_array"))
        stride = 3 if accessor is None else whole_of(accessor, "stride", 3, 3)
        first = 0 if accessor is None else whole_of(accessor, "offset", 0, most=2**31)
        count = len(values) // 3
        if accessor is not None:
            accessor.text("count")
            count = whole_of(accessor, "count", 0, most=2**31)
        if first + stride * count > len(values):
            raise data.error(
                f"{count} points of {stride} numbers from {first} on, and {len(values)} are there"
            )
        return values[first : first + stride * count].reshape(count, stride)[:, :3]


def _turned_round(corners: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the corners of each face in the other order."""
    starts = np.cumsum(counts) - counts
    within = np.arange(len(corners)) - np.repeat(starts, counts)
    return corners[np.repeat(starts + counts - 1, counts) - within]


def _strips(rows: list[np.ndarray], alternate: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangles of strips, which go round in turns, or of fans."""
    found = [np.empty((0, 3), np.int64)]
    for row in rows:
        k = np.arange(max(0, len(row) - 2))
        odd = k % 2 if alternate else 0 * k
        first = row[k] if alternate else np.broadcast_to(row[:1], k.shape)
        found.append(np.stack([first, row[k + 1 + odd], row[k + 2 - odd]], axis=1))
    corners = np.concatenate(found)
    return corners.ravel(), np.full(len(corners), 3)


# how nodes are placed


def _values(step: Element, count: int) -> np.ndarray:
    values = numbers_in(step)
    if len(values) != count:
        raise step.error(f"{len(values)} numbers; give {count}")
    return values


def _translate(step: Element) -> np.ndarray:
    place = np.eye(4)
    place[:3, 3] = _values(step, 3)
    return place


def _scale(step: Element) -> np.ndarray:
    return np.diag([*_values(step, 3), 1.0])


def _rotate(step: Element) -> np.ndarray:
    x, y, z, angle = _values(step, 4)
    length = float(np.sqrt(x * x + y * y + z * z))
    if length == 0.0:
        raise step.error("an axis of zero length; give a direction")
    x, y, z = x / length, y / length, z / length
    cross = np.array([(0, -z, y), (z, 0, -x), (-y, x, 0)])
    place, turn = np.eye(4), np.radians(angle)
    place[:3, :3] += np.sin(turn) * cross + (1.0 - np.cos(turn)) * (cross @ cross)
    return place


def _matrix(step: Element) -> np.ndarray:
    place = _values(step, 16).reshape(4, 4)
    if (place[3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise step.error("its last row is not 0 0 0 1, so it is no placement; export plain matrices")
    return place


def _unplaced(step: Element) -> np.ndarray:
    raise FormatError(str(step.error(f"<{step.tag}> is not understood; export plain matrices")))


_STEPS = {
    "matrix": _matrix,
    "translate": _translate,
    "rotate": _rotate,
    "scale": _scale,
    "lookat": _unplaced,
    "skew": _unplaced,
}

FORMAT = mesh_format(".dae", read, MAX_BYTES)
