"""GLB, the binary form of glTF 2.0: triangles of all nodes of the scene, in its own axes, of which y is up.

Khronos Group, glTF 2.0 Specification, sections 3 and 4; KHR_mesh_quantization. Everything lies in the file
itself: buffers elsewhere, and extensions that change what the bytes mean, are refused.
"""

import base64
import binascii
import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.algebra.rotation import from_quaternion
from linkwork.errors import FormatError
from linkwork.formats.json_text import too_much
from linkwork.formats.mesh_file import Soup, mesh_format

_INDEX_TYPES = {5121: "<u1", 5123: "<u2", 5125: "<u4"}
_POSITION_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5126: "<f4"}
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_MOST_DEPTH = 100
_MOST_PARTS = 10_000  # nodes and primitives, as drawn: a second's work
_MOST_INSIDE = 10_000_000  # characters of a buffer within the JSON
_SPARSE = ("indices", "values")
_HARMLESS = (
    "KHR_mesh_quantization",
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_",
    "EXT_texture_",
    "KHR_xmp",
)


class _Unreal(Exception):
    """Something in the JSON is not what the format allows."""


def read(path: Path, data: bytes, most: int) -> Soup:
    """Return all triangles, moved to where their nodes are."""
    try:
        return _Scene(*_chunks(data), most, len(data)).soup()
    except _Unreal as problem:
        raise FormatError(f"{path}: {problem}") from None


def _chunks(data: bytes) -> tuple[Any, memoryview]:
    if len(data) < 20 or data[:4] != b"glTF":
        raise _Unreal("it does not begin with 'glTF'; the file is cut off or no GLB")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise _Unreal(f"glTF version {version}; supported is 2")
    if length != len(data):
        raise _Unreal(f"{len(data)} bytes, and a header that says {length}; the file is cut off")
    found: dict[bytes, memoryview] = {}
    view = memoryview(data)
    at = 12
    while at + 8 <= len(data):
        size, kind = struct.unpack_from("<I4s", data, at)
        if at + 8 + size > len(data):
            raise _Unreal(f"a chunk of {size} bytes at byte {at}, and {len(data) - at - 8} are left")
        found.setdefault(kind, view[at + 8 : at + 8 + size])
        at += 8 + size
    if b"JSON" not in found:
        raise _Unreal("there is no JSON chunk")
    if problem := too_much(found[b"JSON"]):
        raise _Unreal(f"its JSON has {problem}")
    try:
        scene = json.loads(bytes(found[b"JSON"]).decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        raise _Unreal(f"its JSON cannot be read: {problem}") from None
    if not isinstance(scene, dict):
        raise _Unreal("its JSON is not an object")
    return scene, found.get(b"BIN\0", memoryview(b""))


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number")


class _Scene:
    """The JSON of a file with its buffer; every part is asked for by number and checked."""

    def __init__(self, scene: dict[str, Any], buffer: memoryview, most: int, size: int) -> None:
        self.scene, self.most, self.size = scene, most, size
        first = self._part("buffers", 0) if scene.get("buffers") else {}
        self.buffers = {0: buffer} if "uri" not in first else {}  # by number, as far as they are known
        self.vertices: list[np.ndarray] = []
        self.faces: list[np.ndarray] = []
        self.count = self.visited = self.face_count = 0
        for name in _list(scene.get("extensionsRequired", [])):
            if not str(name).startswith(_HARMLESS):
                raise _Unreal(f"extension {str(name)[:60]!r} is not understood; export without compression")

    def soup(self) -> Soup:
        """Walk the nodes of the scene."""
        for root in self._roots():
            self._node(root, np.eye(4), 0)
        if not self.faces:
            raise _Unreal("there are no triangles in the scene")
        return Soup(np.concatenate(self.vertices), np.concatenate(self.faces))

    def _roots(self) -> list[Any]:
        if self.scene.get("scenes"):
            scene = self._part("scenes", self.scene.get("scene", 0))
            return _list(scene.get("nodes", []))
        nodes = _list(self.scene.get("nodes", []))
        lists = [_list(node.get("children", [])) for node in nodes if isinstance(node, dict)]
        children = {child for part in lists for child in part if isinstance(child, int)}
        return [k for k in range(len(nodes)) if k not in children]

    def _node(self, index: Any, outer: np.ndarray, depth: int) -> None:
        self._visit()
        if depth > _MOST_DEPTH:
            raise _Unreal(f"nodes go round in a ring, or are nested over {_MOST_DEPTH} deep; flatten them")
        node = self._part("nodes", index)
        place = outer @ _placement(node)
        if "EXT_mesh_gpu_instancing" in str(node.get("extensions", ""))[:1000]:
            raise _Unreal("EXT_mesh_gpu_instancing draws a node many times; export plain nodes")
        if "mesh" in node:
            for primitive in _list(self._part("meshes", node["mesh"]).get("primitives", [])):
                self._primitive(primitive, place)
        for child in _list(node.get("children", [])):
            self._node(child, place, depth + 1)

    def _visit(self) -> None:
        self.visited += 1
        if self.visited > _MOST_PARTS:
            raise _Unreal(
                f"nodes go round in a ring, or over {_MOST_PARTS} nodes and primitives are drawn; join them"
            )

    def _primitive(self, primitive: Any, place: np.ndarray) -> None:
        self._visit()
        if not isinstance(primitive, dict) or not isinstance(primitive.get("attributes"), dict):
            raise _Unreal("a primitive without attributes")
        mode = primitive.get("mode", _TRIANGLES)
        if mode not in (_TRIANGLES, _STRIP, _FAN) or "POSITION" not in primitive["attributes"]:
            return  # points and lines
        points = self._positions(primitive["attributes"]["POSITION"])
        if "indices" in primitive:
            order = self._accessor(primitive["indices"], "SCALAR", _INDEX_TYPES)[:, 0]
            self._room(len(points), len(order) // (3 if mode == _TRIANGLES else 1))
            order = order.astype(np.int64)
        else:
            order = np.arange(len(points))
        faces = _triangles(order, mode)
        if faces.size and (faces.max() >= len(points)):
            raise _Unreal(
                f"an index {int(faces.max())} of {len(points)} positions; allowed are 0 to {len(points) - 1}"
            )
        self._room(len(points), len(faces))
        self.face_count += len(faces)
        faces += self.count
        self.faces.append(faces[:, ::-1] if np.linalg.det(place[:3, :3]) < 0.0 else faces)
        self.count += len(points)
        points = points @ place[:3, :3].T
        points += place[:3, 3]
        self.vertices.append(points)

    def _room(self, points: int, faces: int) -> None:
        if max(self.count + points, self.face_count + faces) > self.most:
            raise _Unreal(f"more than {self.most} vertices or triangles; allowed are as many, or by largest=")

    def _positions(self, index: Any) -> np.ndarray:
        """Return points (n, 3); whole numbers that are `normalized` stand for -1 to 1, or 0 to 1."""
        found = self._accessor(index, "VEC3", _POSITION_TYPES)
        self._room(len(found), 0)
        points = found.astype(np.float64)
        if found.dtype.kind != "f" and self._part("accessors", index).get("normalized", False) is True:
            points = np.maximum(points / np.iinfo(found.dtype).max, -1.0)
        return points

    def _accessor(self, index: Any, shape: str, kinds: dict[int, str]) -> np.ndarray:
        """Return numbers (n, k) of the buffer, some of them replaced where they are sparse."""
        accessor = self._part("accessors", index)
        kind, width = kinds.get(_whole(accessor, "componentType", 0, 0)), 3 if shape == "VEC3" else 1
        sparse = accessor.get("sparse")
        if kind is None or accessor.get("type") != shape or ("bufferView" not in accessor and sparse is None):
            raise _Unreal(f"accessor {index}: of a kind that is not understood; export plain float positions")
        count = _whole(accessor, "count", 1)
        if sparse is None:
            return self._items(f"accessor {index}", accessor, count, kind, width)
        if not isinstance(sparse, dict) or not all(isinstance(sparse.get(k), dict) for k in _SPARSE):
            raise _Unreal(f"accessor {index}: sparse without indices or values; give both")
        self._room(count, 0)
        if count > self.size:
            raise _Unreal(f"accessor {index}: {count} items, nearly all of them 0, in {self.size} bytes")
        few = _whole(sparse, "count", 1)
        of = _INDEX_TYPES.get(_whole(sparse["indices"], "componentType", 0, 0), "<u4")
        where = self._items(f"accessor {index}: sparse indices", sparse["indices"], few, of, 1)[:, 0]
        if few > count or where.max() >= count:
            raise _Unreal(
                f"accessor {index}: sparse item {where.max()} of {count}; allowed are those there are"
            )
        items = np.zeros((count, width), kind)
        if "bufferView" in accessor:
            items[:] = self._items(f"accessor {index}", accessor, count, kind, width)
        items[where] = self._items(f"accessor {index}: sparse values", sparse["values"], few, kind, width)
        return items

    def _items(self, what: str, part: dict[str, Any], count: int, kind: str, width: int) -> np.ndarray:
        """Return what lies in the view of an accessor, or of a part of it."""
        view = self._part("bufferViews", part.get("bufferView"))
        number = view.get("buffer", 0)
        buffer = self._part("buffers", number)
        data = self._data(number, buffer)
        size = np.dtype(kind).itemsize * width
        stride = _whole(view, "byteStride", 0, 0) or size
        first, room = _whole(view, "byteOffset", 0, 0), _whole(view, "byteLength", 1)
        offset, held = _whole(part, "byteOffset", 0, 0), _whole(buffer, "byteLength", 1)
        if held > len(data) or first + room > held:
            raise _Unreal(
                f"a view of bytes {first} to {first + room}, a buffer of {held}; {len(data)} are there"
            )
        if stride < size or offset + stride * (count - 1) + size > room:
            raise _Unreal(f"{what}: {count} items from byte {offset} on of a view of {room} bytes")
        return np.ndarray((count, width), kind, data, first + offset, (stride, np.dtype(kind).itemsize))

    def _data(self, number: int, buffer: dict[str, Any]) -> memoryview:
        """Return the bytes of a buffer: the file's own, or those that stand in the JSON."""
        if number not in self.buffers:
            uri = str(buffer.get("uri", ""))
            at = uri.find(",", 0, 1000)
            if not (uri.startswith("data:") and uri[:at].endswith(";base64")) or len(uri) > _MOST_INSIDE:
                raise _Unreal("a buffer outside of its binary chunk; export one self-contained .glb")
            try:
                self.buffers[number] = memoryview(base64.b64decode(uri[at + 1 :], validate=True))
            except (binascii.Error, ValueError) as problem:
                raise _Unreal(f"buffer {number}: {problem}; export one self-contained .glb") from None
        return self.buffers[number]

    def _part(self, word: str, index: Any) -> dict[str, Any]:
        parts = self.scene.get(word)
        known = len(parts) if isinstance(parts, list) else 0
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < known:
            raise _Unreal(f"{word}: number {str(index)[:20]}, and there are {known}")
        assert isinstance(parts, list)
        if not isinstance(parts[index], dict):
            raise _Unreal(f"{word}: number {index} is not an object")
        return parts[index]


def _triangles(order: np.ndarray, mode: int) -> np.ndarray:
    """Return the triangles of a list of corners."""
    if mode == _TRIANGLES:
        if len(order) % 3:
            raise _Unreal(f"{len(order)} corners of triangles; give three for each")
        return order.reshape(-1, 3)
    k = np.arange(max(0, len(order) - 2))
    if mode == _FAN:
        return np.stack([order[k + 1], order[k + 2], np.broadcast_to(order[:1], k.shape)], axis=1)
    odd = k % 2  # every other triangle of a strip goes the other way
    return np.stack([order[k], order[k + 1 + odd], order[k + 2 - odd]], axis=1)


def _placement(node: dict[str, Any]) -> np.ndarray:
    """Return the matrix (4, 4) of a node in its parent."""
    place = np.eye(4)
    if "matrix" in node:
        matrix = _floats(node["matrix"], 16).reshape(4, 4).T
        if (matrix[3] != (0.0, 0.0, 0.0, 1.0)).any():
            raise _Unreal("a matrix whose last row is not 0 0 0 1, which is no placement")
        return matrix
    if "rotation" in node:
        x, y, z, w = _floats(node["rotation"], 4).tolist()
        length = math.hypot(x, y, z, w)
        if abs(length - 1.0) > 1e-2:
            raise _Unreal(f"a rotation of length {length:g}; give a quaternion of length 1")
        place[:3, :3] = from_quaternion((w / length, x / length, y / length, z / length))
    if "scale" in node:
        place[:3, :3] *= _floats(node["scale"], 3)
    if "translation" in node:
        place[:3, 3] = _floats(node["translation"], 3)
    return place


def _floats(values: Any, count: int) -> np.ndarray:
    numbers = isinstance(values, list) and all(type(x) in (int, float) for x in values)
    try:
        array = np.array(values if numbers else [], dtype=np.float64)
    except OverflowError:
        array = np.empty(0)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise _Unreal(f"a node is placed by {str(values)[:60]}; give {count} finite numbers")
    return array


def _whole(part: dict[str, Any], word: str, least: int, default: int | None = None) -> int:
    value = part.get(word, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 2**40:
        raise _Unreal(f"{word} {str(value)[:20]}; give a whole number of {least} or more")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _Unreal(f"{str(value)[:60]} where a list is expected")
    return value


FORMAT = mesh_format(".glb", read)
