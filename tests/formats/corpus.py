"""Files that must be refused, and files that must be read: made, not kept; names, suffixes and bytes."""

import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

File = tuple[str, str, bytes]

NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1.0abc",
    "1,5",
    "0x10",
    "1_0",
    "\u0661\u0662",
    "",
    "1 2",
    "--1",
    "9" * 10_000,
)

URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base_link"><inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="2.0"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><box size="0.1 0.1 0.2"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material></visual>
    <collision><geometry><cylinder radius="0.1" length="0.2"/></geometry></collision></link>
  <link name="tip"><inertial><mass value="1.0"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="revolute"><parent link="base_link"/><child link="tip"/>
    <origin xyz="0 0 0.2" rpy="0 0.1 0"/>
    <axis xyz="0 1 0"/><limit lower="-1.5" upper="1.5" effort="10" velocity="2"/>
    <dynamics damping="0.1" friction="0.0"/></joint>
</robot>
"""

SDF = """<sdf version="1.9"><model name="arm"><link name="a"><pose>0 0 1 0 0 0</pose><inertial><mass>2</mass>
<inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>
<visual name="v"><geometry><box><size>0.1 0.1 0.4</size></box></geometry></visual></link>
<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz>
<limit><lower>-1</lower><upper>1</upper></limit></axis></joint></model></sdf>"""

DAE = """<COLLADA version="1.4.1"><asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset><library_geometries>
<geometry id="g"><mesh><source id="s"><float_array id="f" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#f" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles>
</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="w"><node>
<matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#w"/></scene></COLLADA>"""

MECHANISM = {
    "linkwork": "mechanism",
    "version": 1,
    "name": "swing",
    "space": "space",
    "gravity": [0, 0, -9.81],
    "bodies": [
        {
            "name": "seat",
            "position": [0, 0, -2],
            "shapes": [{"type": "Box", "x": 0.4, "y": 0.2, "z": 0.1}],
            "density": 600,
        }
    ],
    "joints": [
        {
            "name": "pin",
            "type": "Revolute",
            "parent": "ground",
            "child": "seat",
            "at": [0, 0, 0],
            "axis": [0, 1, 0],
        }
    ],
    "loads": [{"name": "push", "type": "Motor", "on": ["pin"], "law": "4 * sin(3 * t) - 0.1 * v"}],
}

OBJ = b"# part\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nf 1 3 2\nf 1//1 2//1 4//1\nf 2 3 4\nf 1 4 3\n"
OFF = b"OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n"
PLY = (
    b"ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    b"element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    b"0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n"
)
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "<f4")
FACES = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])


def stl() -> bytes:
    records = np.zeros(4, np.dtype([("n", "<f4", 3), ("p", "<f4", (3, 3)), ("a", "<u2")]))
    records["p"] = CORNERS[FACES]
    return bytes(80) + struct.pack("<I", 4) + records.tobytes()


def stl_words() -> bytes:
    lines = ["solid part"]
    for face in CORNERS[FACES].tolist():
        lines += [
            "facet normal 0 0 0",
            "outer loop",
            *(f"vertex {x} {y} {z}" for x, y, z in face),
            "endloop",
            "endfacet",
        ]
    return "\n".join([*lines, "endsolid part", ""]).encode()


def ply_bytes() -> bytes:
    header = PLY[: PLY.index(b"end_header\n") + 11].replace(b"ascii", b"binary_little_endian")
    return header + CORNERS.tobytes() + b"".join(struct.pack("<B3i", 3, *face) for face in FACES.tolist())


def glb(change=None) -> bytes:
    points, indices = CORNERS.tobytes(), FACES.astype("<u2").tobytes()
    scene = {
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "translation": [1, 0, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "buffers": [{"byteLength": 72}],
    }
    if change:
        change(scene)
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    chunks = (
        struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", 72, b"BIN\0") + points + indices
    )
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def samples() -> dict[str, tuple[str, bytes]]:
    """Return one good file of every kind."""
    return {
        "urdf": ("urdf", URDF.encode()),
        "sdf": ("sdf", SDF.encode()),
        "json": ("json", json.dumps(MECHANISM).encode()),
        "stl": ("stl", stl()),
        "stl in words": ("stl", stl_words()),
        "obj": ("obj", OBJ),
        "off": ("off", OFF),
        "ply": ("ply", ply_bytes()),
        "ply in words": ("ply", PLY),
        "glb": ("glb", glb()),
        "dae": ("dae", DAE.encode()),
    }


def oddities() -> Any:
    """Return the module of more files, which are made of these."""
    from formats import oddities

    return oddities


def must_refuse() -> Iterator[File]:
    """Yield files that no program should take for what they say to be."""
    yield from _numbers()
    yield from _xml()
    yield from _physics()
    yield from _meshes()
    yield from _json()
    yield from oddities().must_refuse()
    for name, (suffix, data) in samples().items():
        yield f"{name}: empty", suffix, b""
        yield f"{name}: half", suffix, data[: len(data) // 2]
        yield f"{name}: zeros", suffix, bytes(1000)
        yield f"{name}: noise", suffix, np.random.default_rng(1).bytes(3000)


def _numbers() -> Iterator[File]:
    places = {
        "mass": ('value="2.0"', 'value="{}"'),
        "moment": ('ixx="0.02"', 'ixx="{}"'),
        "place": ('xyz="0 0 0.2"', 'xyz="0 0 {}"'),
        "axis": ('xyz="0 1 0"', 'xyz="0 {} 0"'),
        "limit": ('lower="-1.5"', 'lower="{}"'),
        "size": ('radius="0.1"', 'radius="{}"'),
    }
    for where, (old, new) in places.items():
        for k, number in enumerate(NUMBERS):
            yield f"urdf {where} {number[:8]} {k}", "urdf", URDF.replace(old, new.format(number), 1).encode()
    for k, number in enumerate(NUMBERS):
        if number not in ("", "1 2"):
            yield f"sdf mass {k}", "sdf", SDF.replace("<mass>2<", f"<mass>{number}<").encode()
            yield f"dae number {k}", "dae", DAE.replace(">0 0 0 1 0", f">0 {number} 0 1 0").encode()
            yield f"obj number {k}", "obj", OBJ.replace(b"v 1 0 0", f"v {number} 0 0".encode())
            yield f"off number {k}", "off", OFF.replace(b"\n1 0 0", f"\n{number} 0 0".encode())
            yield (
                f"stl number {k}",
                "stl",
                stl_words().replace(b"vertex 1.0 ", f"vertex {number} ".encode(), 1),
            )


def _xml() -> Iterator[File]:
    entity = '<!DOCTYPE r [<!ENTITY a "{}">]>'
    for suffix, text in (("urdf", URDF), ("sdf", SDF), ("dae", DAE)):
        head, _, rest = text.partition("?>") if "?>" in text else ("", "", text)
        head = head + "?>" if head else ""
        for word, declaration in (
            ("doctype", "<!DOCTYPE robot>"),
            ("bomb", entity.format("x" * 1000)),
            ("file", '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
            ("net", '<!DOCTYPE r [<!ENTITY x SYSTEM "http://127.0.0.1:1/">]>'),
            ("parameter", '<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>'),
        ):
            yield f"{suffix} {word}", suffix, (head + declaration + rest).encode()
        yield f"{suffix} byte order mark only", suffix, b"\xef\xbb\xbf"
        yield f"{suffix} utf-16", suffix, text.encode("utf-16")
        yield f"{suffix} not utf-8", suffix, text.encode().replace(b"arm", b"a\xff") + b"\xff"
        yield f"{suffix} zero", suffix, text.encode().replace(b"name=", b"na\0me=").replace(b"id=", b"i\0d=")
        yield f"{suffix} nested", suffix, b"<a>" * 100_000
        yield f"{suffix} two roots", suffix, (text + "<robot/>").encode()
        yield f"{suffix} other root", suffix, b"<html/>"
    yield "urdf attributes", "urdf", b"<robot " + b" ".join(b'a%d="1"' % k for k in range(100_000)) + b"/>"
    yield "urdf text", "urdf", b"<robot>" + b"x" * 15_000_000 + b"</robot>"
    yield "urdf tags", "urdf", b"<robot>" + b"<a/>" * 400_000 + b"</robot>"
    yield (
        "urdf include",
        "urdf",
        URDF.replace("<link", '<xi:include href="/etc/passwd"/><link', 1).replace("xi:", "x").encode(),
    )
    for k in range(1, 16):
        data = URDF.encode()
        yield f"urdf cut {k}", "urdf", data[: len(data) * k // 16]


def _physics() -> Iterator[File]:
    changes = {
        "negative mass": ('value="2.0"', 'value="-2.0"'),
        "huge mass": ('value="2.0"', 'value="1e308"'),
        "triangle": ('izz="0.01"', 'izz="10"'),
        "negative moment": ('ixx="0.02"', 'ixx="-0.02"'),
        "moment out of scale": ('ixx="0.02" iyy="0.02" izz="0.01"', 'ixx="1e12" iyy="1e12" izz="1e12"'),
        "no axis": ('xyz="0 1 0"', 'xyz="0 0 0"'),
        "limits": ('lower="-1.5"', 'lower="2"'),
        "damping": ('damping="0.1"', 'damping="-0.1"'),
        "link twice": ('<link name="tip">', '<link name="base_link">'),
        "nameless": ('<link name="tip">', '<link name="">'),
        "long name": ('<link name="tip">', f'<link name="{"x" * 10_000}">'),
        "no link": ('child link="tip"', 'child link="tap"'),
        "to itself": ('child link="tip"', 'child link="base_link"'),
        "type": ('type="revolute"', 'type="hinge"'),
        "word": ("damping=", "dampping="),
        "element": ("<limit", "<limits"),
        "two roots": ("</robot>", '<link name="c"/></robot>'),
        "mimic": ("</joint>", '<mimic joint="elbow"/></joint>'),
        "no size": ('<box size="0.1 0.1 0.2"/>', "<box/>"),
        "flat": ('size="0.1 0.1 0.2"', 'size="0.1 0 0.2"'),
        "shape": ("<box size", "<torus size"),
        "two shapes": ("<box size", "<sphere radius='1'/><box size"),
    }
    for name, (old, new) in changes.items():
        yield f"robot {name}", "urdf", URDF.replace(old, new, 1).encode()
    ring = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l{k}"/><child link="l{(k + 1) % 3}"/></joint>'
        for k in range(3)
    )
    yield (
        "urdf ring",
        "urdf",
        ("<robot>" + "".join(f'<link name="l{k}"/>' for k in range(3)) + ring + "</robot>").encode(),
    )


def _meshes() -> Iterator[File]:
    yield "stl count", "stl", bytes(80) + b"\xff" * 4 + bytes(50)
    yield "stl of no faces", "stl", bytes(84)
    yield "stl longer", "stl", stl() + b"\0"
    yield "stl nan", "stl", stl().replace(struct.pack("<f", 1.0), struct.pack("<f", np.nan), 1)
    for k, index in enumerate((b"0", b"99999999", b"-2147483648", b"x", b"1.5", b"9" * 100, b"")):
        yield f"obj index {k}", "obj", OBJ.replace(b"f 1 3 2", b"f 1 3 " + index)
    yield "obj surface", "obj", b"cstype bspline\n" + OBJ
    yield "obj corners", "obj", OBJ + b"f" + b" 1" * 20_000 + b"\n"
    yield "ply count", "ply", PLY.replace(b"vertex 4", b"vertex 4294967295")
    yield "ply list", "ply", ply_bytes()[:-13] + b"\xff\0\0\0\0"
    yield "ply type", "ply", PLY.replace(b"float x", b"quad x")
    yield "ply format", "ply", PLY.replace(b"ascii", b"middle_endian")
    yield "ply index", "ply", PLY.replace(b"3 0 2 1", b"3 0 2 7")
    yield "ply twice", "ply", PLY.replace(b"element face 4", b"element vertex 4")
    yield "off count", "off", OFF.replace(b"4 4 0", b"4294967295 4 0")
    yield "off index", "off", OFF.replace(b"3 0 2 1", b"3 0 2 4")
    for name, change in {
        "uri": lambda s: s["buffers"][0].update(uri="file:///etc/passwd"),
        "far uri": lambda s: s["buffers"][0].update(uri="http://127.0.0.1/"),
        "count": lambda s: s["accessors"][0].update(count=2**39),
        "offset": lambda s: s["bufferViews"][1].update(byteOffset=-1),
        "type": lambda s: s["accessors"][0].update(componentType=[]),
        "index": lambda s: s["accessors"][0].update(count=2),
        "ring": lambda s: s["nodes"][0].update(children=[0]),
        "rings": lambda s: s["nodes"].__setitem__(0, {"children": [0, 0]}),
        "draco": lambda s: s.update(extensionsRequired=["KHR_draco_mesh_compression"]),
        "matrix": lambda s: s["nodes"][0].update(matrix=[1e308] * 16),
        "no node": lambda s: s["scenes"][0].update(nodes=[9]),
    }.items():
        yield f"glb {name}", "glb", glb(change)
    yield "dae index", "dae", DAE.replace("<p>0 2 1", "<p>0 2 9").encode()
    yield "dae count", "dae", DAE.replace('count="4" stride', 'count="4000000000" stride').encode()
    yield "dae other file", "dae", DAE.replace('url="#g"', 'url="file:///etc/passwd"').encode()


def _json() -> Iterator[File]:
    text = json.dumps(MECHANISM)
    for name, (old, new) in {
        "nan": ("600", "NaN"),
        "infinity": ("600", "Infinity"),
        "overflow": ("600", "1e999"),
        "digits": ("600", "9" * 10_000),
        "twice": ('"density": 600', '"density": 600, "density": -5'),
        "unknown": ('"density"', '"densty"'),
        "type": ("600", '"600"'),
        "truth": ("600", "true"),
        "surrogate": ('"seat", "pos', '"\\ud800", "pos'),
        "version": ('"version": 1', '"version": 999'),
        "no version": ('"version": 1, ', ""),
        "kind": ('"mechanism"', '"scene"'),
        "joint": ("Revolute", "Hinge"),
        "shape": ('"Box"', '"Torus"'),
        "parent": ('"ground"', '"grund"'),
        "law": ("sin(3", "__import__('os').system('id') + sin(3"),
        "deep law": ("sin(3", "(" * 500 + "sin(3"),
        "name": ('"name": "pin"', '"name": "seat"'),
        "ground": ('"name": "seat"', '"name": "ground"'),
        "negative": ("0.4", "-0.4"),
        "axis": ("[0, 1, 0]", "[0, 0, 0]"),
        "axis of two": ("[0, 1, 0]", "[0, 1]"),
        "order": ('"loads"', '"order": ["seat"], "loads"'),
        "trailing": ("}]}", "}]} {}"),
    }.items():
        yield f"json {name}", "json", text.replace(old, new, 1).encode()
    yield "json nested", "json", b"[" * 1_000_000
    yield "json objects", "json", b'{"a":' * 100_000
    yield "json list", "json", b"[]"
    yield "json utf-16", "json", text.encode("utf-16")


def must_accept() -> Iterator[File]:
    """Yield files that are unusual, and right."""
    yield from oddities().must_accept()
    for name, (suffix, data) in samples().items():
        yield name, suffix, data
    links = "".join(f'<link name="l{k}"/>' for k in range(5001))
    ends = '<parent link="l{1}"/><child link="l{2}"/>'
    joint = f'<joint name="j{{0}}" type="continuous">{ends}<axis xyz="0 0 2"/></joint>'
    chain = "".join(joint.format(k, k, k + 1) for k in range(5000))
    star = "".join(joint.format(k, 0, k + 1) for k in range(5000))
    yield "chain of 5,000 links", "urdf", f"<robot>{links}{chain}</robot>".encode()
    yield "star of 5,000 links", "urdf", f"<robot>{links}{star}</robot>".encode()
    for k, name in enumerate(
        ("..", "con", "%n%s", "&lt;img src=x onerror=alert(1)&gt;", "\u00e9\u0301", "\U0001f916", " ")
    ):
        yield f"odd name {k}", "urdf", URDF.replace('"tip"', f'"{name}"').encode()
    yield "byte order mark", "urdf", b"\xef\xbb\xbf" + URDF.encode()
    yield "long axis", "urdf", URDF.replace('xyz="0 1 0"', 'xyz="0 5 0"').encode()
    yield "windows lines", "obj", OBJ.replace(b"\n", b"\r\n")
    yield "old mac lines", "obj", OBJ.replace(b"\n", b"\r")
    yield "solid, but binary", "stl", b"solid" + stl()[5:]
    yield "denormals", "obj", OBJ.replace(b"v 0 0 0", b"v 1e-320 -0.0 0")
