"""Meshes as other programs write them: names, suffixes, bytes, and the volume and box that they have."""

import base64
import json
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from formats.corpus import CORNERS, DAE, FACES, OBJ, OFF, PLY, stl, stl_words

WHOLE = (0, 0, 0), (1, 1, 1)
ROOFED = (0, 0, 0), (1, 1, 1.3)
CUBE = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
SQUARES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


class OddMesh(NamedTuple):
    """A tetrahedron, unless it says another volume or another box."""

    name: str
    suffix: str
    data: bytes
    volume: float = 1 / 6
    box: tuple[tuple[float, ...], tuple[float, ...]] = WHOLE


def odd_meshes() -> Iterator[OddMesh]:
    """Yield all of them."""
    yield from _stl()
    yield from _obj()
    yield from _off()
    yield from _ply()
    yield from _glb()
    yield from _dae()


def _stl() -> Iterator[OddMesh]:
    text, half = stl_words(), len(stl_words()) // 2
    facet = text.index(b"\nfacet", half) + 1
    for name, data in {
        "two solids": text[:facet] + b"endsolid part\n\nsolid other\n" + text[facet:],
        "large letters": text.upper(),
        "exponents": text.replace(b"1.0", b"+1.000000E+00").replace(b"0.0", b"-0.0e-3"),
        "whole numbers": text.replace(b".0", b""),
        "numbers without a digit in front": text.replace(b"0.0", b".0").replace(b"1.0", b"1."),
        "nameless": text.replace(b" part", b""),
        "ends in two words": text.replace(b"endsolid", b"end solid").replace(b"endloop", b"end loop"),
        "byte order mark": b"\xef\xbb\xbf" + text,
        "blank lines": b"\n \n" + text + b"\n\n",
        "solid, but binary": b"solid x".ljust(80) + stl()[80:],
    }.items():
        yield OddMesh(name, "stl", data)


def _obj() -> Iterator[OddMesh]:
    early = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -1 -2\nv 0 0 1\nf -4 -3 -1\nf -3 -2 -1\nf -4 -1 -2\n"
    for name, data in {
        "faces before vertices": early,
        "lines that go on": OBJ.replace(b"v 1 0 0", b"v 1 \\\n 0 0").replace(b"f 1 3", b"f 1\\\r\n 3"),
        "windows lines": OBJ.replace(b"\n", b"\r\n"),
        "old mac lines": OBJ.replace(b"\n", b"\r"),
        "no last line": OBJ.rstrip(),
        "groups, lines, points": b"mtllib C:\\a\\b.mtl\no x\ng a b\ns off\nusemtl red\n"
        + OBJ
        + b"l 1 2\np 1\n",
        "exponents": OBJ.replace(b"v 1 0 0", b"v 1.0E+00 0e0 -0.0"),
        "comments behind": OBJ.replace(b"v 1 0 0", b"v 1 0 0 # x").replace(b"f 1 3 2", b"f 1 3 2 # y"),
        "indented": b"\n".join(b"\t " + line for line in OBJ.split(b"\n")),
    }.items():
        yield OddMesh(name, "obj", data)
    points = "".join(f"v {x} {y} {z}\n" for x, y, z in CUBE)
    for form in ("{}", "{}/1", "{}//1", "{}/1/1", "{}/"):
        faces = "".join("f " + " ".join(form.format(k + 1) for k in face) + "\n" for face in SQUARES)
        yield OddMesh(f"squares {form}", "obj", f"{points}vt 0 0\nvn 0 0 1\n{faces}".encode(), 1.0)
    faces = "".join("f " + " ".join(str(k + 1) for k in face) + "\n" for face in SQUARES)
    yield OddMesh(
        "roof in no plane", "obj", f"{points.replace('v 1 1 1', 'v 1 1 1.3')}{faces}".encode(), 1.1, ROOFED
    )
    twice = f"{points}v 1 1 1\n{faces.replace('f 2 6 8 4', 'f 2 2 6 9 8 4')}f 1 3 3 1\n"
    yield OddMesh("corners twice", "obj", twice.encode(), 1.0)


def _off() -> Iterator[OddMesh]:
    yield OddMesh("windows lines", "off", OFF.replace(b"\n", b"\r\n"))
    yield OddMesh("byte order mark", "off", b"\xef\xbb\xbf" + OFF)
    points = OFF[: OFF.index(b"3 0 2")].replace(b"OFF", b"COFF").replace(b" 1\n", b" 1 1 0 0 1\n")
    points = points.replace(b" 0\n", b" 0 1 0 0 1\n").replace(b"4 4 0 1 0 0 1", b"4 4 0")
    yield OddMesh("colours of points", "off", points + OFF[OFF.index(b"3 0 2") :])
    cube = "\n".join(" ".join(map(str, point)) for point in CUBE)
    squares = "\n".join(f"4 {' '.join(map(str, face))} 255 0 0" for face in SQUARES)
    yield OddMesh("squares", "off", f"OFF\n8 6 12\n{cube}\n{squares}".encode(), 1.0)


def _ply() -> Iterator[OddMesh]:
    for name, data in {
        "big ends": _ply_bytes(">"),
        "big ends, doubles": _ply_bytes(">", number="double d"),
        "normals and colours": _ply_bytes(
            "<", more=("property float nx\nproperty uchar red\n", b"\0\0\0\0\7")
        ),
        "short indices": _ply_bytes("<", index="ushort H"),
        "long counts": _ply_bytes(">", count="uint I"),
        "faces first": _ply_bytes("<", backwards=True),
        "z y x": _ply_bytes("<", axes="zyx"),
        "flags of faces": _ply_bytes(">", flag=True),
        "windows lines": PLY.replace(b"\n", b"\r\n"),
        "whole coordinates": PLY.replace(b"property float", b"property int"),
        "blanks": PLY.replace(b"1 0 0", b"  1\t0 0  "),
        "camera": PLY.replace(b"element face", b"element camera 1\nproperty float a\nelement face").replace(
            b"\n3 0 2 1", b"\n9\n3 0 2 1"
        ),
    }.items():
        yield OddMesh(name, "ply", data)


def _ply_bytes(
    order: str,
    number: str = "float f",
    index: str = "int i",
    count: str = "uchar B",
    more: tuple[str, bytes] = ("", b""),
    axes: str = "xyz",
    backwards: bool = False,
    flag: bool = False,
) -> bytes:
    """Return the tetrahedron in bytes; words are names of types and what `struct` calls them."""
    (real, real_code), (whole, code), (counted, counted_code) = (
        word.split() for word in (number, index, count)
    )
    points = "".join(f"property {real} {axis}\n" for axis in axes) + more[0]
    faces = "property uchar flag\n" * flag + f"property list {counted} {whole} vertex_indices\n"
    parts = [
        (
            f"element vertex 4\n{points}",
            [
                struct.pack(order + 3 * real_code, *(p["xyz".index(a)] for a in axes)) + more[1]
                for p in CORNERS
            ],
        ),
        (
            f"element face 4\n{faces}",
            [b"\1" * flag + struct.pack(f"{order}{counted_code}3{code}", 3, *f) for f in FACES.tolist()],
        ),
    ]
    parts = parts[::-1] if backwards else parts
    ends = {"<": "little", ">": "big"}[order]
    header = f"ply\nformat binary_{ends}_endian 1.0\nobj_info x\n{parts[0][0]}{parts[1][0]}end_header\n"
    return header.encode() + b"".join(b"".join(rows) for _, rows in parts)


POINTS, INDICES = CORNERS.tobytes(), FACES.astype("<u2").tobytes()


def _glb_of(buffer: bytes, views: list[tuple[int, int]], points: dict[str, Any], **changes: Any) -> bytes:
    """Return a file of points (view 0, or what `points` says) and indices (view 1), with other changes."""
    scene: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"} | points,
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteOffset": at, "byteLength": size} for at, size in views],
        "buffers": [{"byteLength": len(buffer)}],
    } | changes
    if "stride" in scene:
        scene["bufferViews"][0]["byteStride"] = scene.pop("stride")
    scene["accessors"][0] = {k: v for k, v in scene["accessors"][0].items() if v is not None}
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if "uri" not in scene["buffers"][0]:
        buffer += bytes(-len(buffer) % 4)
        chunks += struct.pack("<I4s", len(buffer), b"BIN\0") + buffer
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _glb() -> Iterator[OddMesh]:
    quantized = {"extensionsRequired": ["KHR_mesh_quantization"], "extensionsUsed": ["KHR_mesh_quantization"]}
    padded = b"".join(point.tobytes() + bytes(12) for point in CORNERS)
    shorts = np.c_[CORNERS * 32767, np.zeros(4)].astype("<i2").tobytes()
    bytes_of = np.c_[CORNERS * 2, np.zeros(4)].astype("u1").tobytes()
    lacking = CORNERS * [[1], [1], [1], [0]]
    last = {"count": 1, "indices": {"bufferView": 2, "componentType": 5121}, "values": {"bufferView": 3}}
    three = {"count": 3, "indices": {"bufferView": 0, "componentType": 5123}, "values": {"bufferView": 2}}
    plain = [(0, 48), (48, 24)]
    inside = "data:application/octet-stream;base64," + base64.b64encode(POINTS + INDICES).decode()
    turned = {"mesh": 0, "rotation": [0, 0, 0.5**0.5, 0.5**0.5]}
    for name, data in {
        "points among others": _glb_of(padded + INDICES, [(0, 96), (96, 24)], {}, stride=24),
        "sparse": _glb_of(
            lacking.astype("<f4").tobytes() + INDICES + b"\3\0\0\0" + CORNERS[3].tobytes(),
            [*plain, (72, 4), (76, 12)],
            {"sparse": last},
        ),
        "sparse over zeros": _glb_of(
            struct.pack("<4H", 1, 2, 3, 0) + INDICES + CORNERS[1:].tobytes(),
            [(0, 8), (8, 24), (32, 36)],
            {"sparse": three, "bufferView": None},
        ),
        "normalized shorts": _glb_of(
            shorts + INDICES,
            [(0, 32), (32, 24)],
            {"componentType": 5122, "normalized": True},
            stride=8,
            **quantized,
        ),
        "bytes, scaled by the node": _glb_of(
            bytes_of + INDICES,
            [(0, 16), (16, 24)],
            {"componentType": 5121},
            stride=4,
            nodes=[{"mesh": 0, "scale": [0.5, 0.5, 0.5]}],
            **quantized,
        ),
        "data in the JSON": _glb_of(POINTS + INDICES, plain, {}, buffers=[{"byteLength": 72, "uri": inside}]),
        "pictures elsewhere": _glb_of(POINTS + INDICES, plain, {}, images=[{"uri": "../../a.png"}]),
    }.items():
        yield OddMesh(name, "glb", data)
    outer = {"children": [1], "translation": [1, 0, 0], "scale": [2, 2, 2]}
    nested = _glb_of(POINTS + INDICES, plain, {}, nodes=[outer, turned])
    yield OddMesh("nodes in nodes", "glb", nested, 8 / 6, ((-1, 0, 0), (1, 2, 2)))
    twice = {"nodes": [{"mesh": 0}, {"mesh": 0, "translation": [5, 0, 0]}], "scenes": [{"nodes": [0, 1]}]}
    yield OddMesh(
        "drawn twice", "glb", _glb_of(POINTS + INDICES, plain, {}, **twice), 2 / 6, ((0, 0, 0), (6, 1, 1))
    )


def _dae() -> Iterator[OddMesh]:
    triangles = '<triangles count="4">', "</triangles>", "0 2 1 0 1 3 1 2 3 0 3 2"
    normals = (
        '<polylist count="4"><vcount>3 3 3 3</vcount><input semantic="NORMAL" source="#n" offset="1"/>',
        "</polylist>",
        " ".join(f"{k} 0" for k in FACES.ravel()),
    )
    nested = "<node><translate>1 0 0</translate><scale>2 2 2</scale><node>", "</node></node>"
    second = '<input semantic="VERTEX" source="#v" offset="0"/>'
    box: Callable[..., Any] = lambda *numbers: (numbers[:3], numbers[3:])  # noqa: E731
    truth: Any
    for name, text, *truth in (
        ("y up", DAE.replace("Z_UP", "Y_UP")),  # as robots are described, and RViz and Gazebo read them
        ("x up", DAE.replace("Z_UP", "X_UP")),
        ("millimetres", DAE.replace('meter="1"', 'meter="0.001"'), 1e-9 / 6, box(0, 0, 0, 1e-3, 1e-3, 1e-3)),
        ("nodes in nodes", _replaced(DAE, ("<node>", "</node>"), nested), 8 / 6, box(1, 0, 0, 3, 2, 2)),
        ("normals among corners", _replaced(DAE, triangles, normals)),
        ("version 1.5", DAE.replace('<COLLADA version="1.4.1"', '<COLLADA xmlns="http://x" version="1.5.0"')),
        ("exponents", DAE.replace("0 0 0 1 0 0 0 1", "0 0 0 1.0E0 0 0 0 1.e+0")),
        (
            "two lists",
            DAE.replace(" 1 2 3 0 3 2</p>", f"</p></triangles><triangles>{second}<p>1 2 3 0 3 2</p>"),
        ),
        ("lines, too", DAE.replace("</mesh>", f"<lines>{second}<p>0 1</p></lines></mesh>")),
    ):
        yield OddMesh(name, "dae", text.encode(), *truth)
    latin = b'<?xml version="1.0" encoding="ISO-8859-1"?>\n' + DAE.encode()
    yield OddMesh("latin-1", "dae", latin.replace(b"<asset>", b"<asset><title>caf\xe9</title>"))


def _replaced(text: str, old: tuple[str, ...], new: tuple[str, ...]) -> str:
    for before, after in zip(old, new, strict=True):
        assert before in text
        text = text.replace(before, after, 1)
    return text
