"""More of the corpus: files that use odd corners of their formats, wrongly and rightly."""

import copy
import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from formats.corpus import (
    CORNERS,
    DAE,
    FACES,
    MECHANISM,
    OBJ,
    OFF,
    PLY,
    SDF,
    URDF,
    File,
    glb,
    ply_bytes,
    samples,
    stl,
    stl_words,
)
from formats.odd_meshes import odd_meshes

Change = Callable[[dict[str, Any]], Any]
Words = dict[str, tuple[tuple[str, str], ...]]  # by name: old and new, in turns


def must_refuse() -> Iterator[File]:
    """Yield files that no program should take for what they say to be."""
    yield from _changed("urdf", URDF, WRONG_URDF)
    yield from _changed("sdf", SDF, WRONG_SDF)
    yield from _changed("dae", DAE, WRONG_DAE)
    for name, change in WRONG_GLB.items():
        yield f"odd glb {name}", "glb", glb(change)
    for name, (old, new) in WRONG_OBJ.items():
        yield f"odd obj {name}", "obj", _replaced(OBJ, old, new)
    for name, (old, new) in WRONG_OFF.items():
        yield f"odd off {name}", "off", _replaced(OFF, old, new)
    for name, (old, new) in WRONG_PLY.items():
        yield f"odd ply {name}", "ply", _replaced(PLY, old, new)
    for name, law in WRONG_LAWS.items():
        yield f"odd law {name}", "json", _mechanism(lambda m, law=law: m["loads"][0].update(law=law))
    for name, (old, new) in WRONG_JSON.items():
        yield f"odd json {name}", "json", _replaced(_mechanism(), old.encode(), new.encode())
    for name, change in WRONG_MECHANISMS.items():
        yield f"odd mechanism {name}", "json", _mechanism(change)
    yield "odd stl of squares", "stl", stl_words().replace(b"endloop", b"vertex 0 0 0\nendloop", 1)
    yield "odd stl in words, of bytes", "stl", b"solid x".ljust(80) + b"\xff" * 4 + bytes(50)
    yield "odd stl of huge numbers", "stl", stl().replace(struct.pack("<f", 1.0), struct.pack("<f", 3e38))
    yield "odd stl of fewer than there are", "stl", stl()[:80] + struct.pack("<I", 3) + stl()[84:]
    yield "odd glb of version 1", "glb", glb()[:4] + struct.pack("<I", 1) + glb()[8:]
    yield "odd glb in words", "glb", b'{"asset": {"version": "2.0"}}'
    yield "odd ply of lists before places", "ply", _ply_of_lists("property list uchar float w\n", "")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.stl", bytes(20_000_000))
    yield "odd ply of broken corners", "ply", ply_bytes().replace(b"list uchar int", b"list uchar float")
    pointer = b"version https://git-lfs.example/spec/v1\noid sha256:00\nsize 1\n"
    for suffix in dict.fromkeys(suffix for suffix, _ in samples().values()):
        yield f"pointer to a large {suffix}", suffix, pointer
        yield f"zip as {suffix}", suffix, packed.getvalue()
        yield f"gzip as {suffix}", suffix, gzip.compress(bytes(1000))


def must_accept() -> Iterator[File]:
    """Yield files that are unusual, and right."""
    yield from _changed("urdf", URDF, RIGHT_URDF)
    yield from _changed("sdf", SDF, RIGHT_SDF)
    yield from _changed("dae", DAE, RIGHT_DAE)
    for name, change in RIGHT_GLB.items():
        yield f"odd glb {name}", "glb", glb(change)
    for name, (old, new) in RIGHT_OBJ.items():
        yield f"odd obj {name}", "obj", _replaced(OBJ, old, new)
    for name, (old, new) in RIGHT_OFF.items():
        yield f"odd off {name}", "off", _replaced(OFF, old, new)
    for name, (old, new) in RIGHT_PLY.items():
        yield f"odd ply {name}", "ply", _replaced(PLY, old, new)
    for name, (old, new) in RIGHT_STL.items():
        yield f"odd stl {name}", "stl", _replaced(stl_words(), old, new)
    for name, change in RIGHT_MECHANISMS.items():
        yield f"odd mechanism {name}", "json", _mechanism(change)
    for odd in odd_meshes():
        yield f"as others write it, {odd.suffix}: {odd.name}", odd.suffix, odd.data
    yield "odd json with a byte order mark", "json", b"\xef\xbb\xbf" + _mechanism()
    yield "odd stl of two solids", "stl", stl_words() * 2
    yield "odd stl with attributes", "stl", stl()[:-2] + b"\xff\xff"
    yield "odd obj with a byte order mark", "obj", b"\xef\xbb\xbf" + OBJ
    yield "odd ply of lists after places", "ply", _ply_of_lists("", "property list uchar float w\n")
    head = ply_bytes()[: -(CORNERS.nbytes + 4 * 13)].replace(b"little", b"big")
    faces = b"".join(struct.pack(">B3i", 3, *face) for face in FACES.tolist())
    yield "odd ply of the other order", "ply", head + CORNERS.astype(">f4").tobytes() + faces
    ell = b"v 0 0 0\nv 1 0 0\nv .2 .2 0\nv 0 1 0\n"
    yield "odd obj of concave faces", "obj", ell + b"f 1 2 3 4\n" * 100_000


def _replaced(text: bytes, old: bytes, new: bytes) -> bytes:
    assert old in text, old
    return text.replace(old, new)


def _changed(suffix: str, text: str, changes: Words) -> Iterator[File]:
    for name, pairs in changes.items():
        changed = text
        for old, new in pairs:
            assert old in changed, (name, old)
            changed = changed.replace(old, new, 1)
        yield f"odd {suffix} {name}", suffix, changed.encode()


def _mechanism(change: Change | None = None) -> bytes:
    mechanism = copy.deepcopy(MECHANISM)
    if change:
        change(mechanism)
    return json.dumps(mechanism).encode()


def _ply_of_lists(before: str, after: str) -> bytes:
    """Return a binary PLY whose vertices have lists of different lengths."""
    places = "property float x\nproperty float y\nproperty float z\n"
    header = f"ply\nformat binary_little_endian 1.0\nelement vertex 4\n{before}{places}{after}"
    header += "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    rows = []
    for k, point in enumerate(CORNERS):
        extra = bytes([k]) + bytes(4 * k)
        rows.append(extra + point.tobytes() if before else point.tobytes() + extra)
    faces = b"".join(struct.pack("<B3i", 3, *face) for face in FACES.tolist())
    return header.encode() + b"".join(rows) + faces


_LOOP = '<loop_joint name="l" type="revolute"><link1 link="tip" xyz="0 0 0" rpy="0 0 0"/>'
_SHAPE, _TIP = '<box size="0.1 0.1 0.2"/>', ('name="tip"', 'child link="tip"')
WRONG_URDF: Words = {
    "xacro property": (("<link", '<xacro:property name="a" value="1"/><link'),),
    "xacro expression": (('value="2.0"', 'value="${m}"'),),
    "xacro within": (('<mass value="1.0"', '<xacro:if value="1"/><mass value="1.0"'),),
    "number 1e": (('value="2.0"', 'value="1e"'),),
    "number .": (('value="2.0"', 'value="."'),),
    "number 2f": (('value="2.0"', 'value="2f"'),),
    "no ixy": ((' ixy="0"', ""),),
    "mimic of no number": (("<dynamics", '<mimic joint="elbow" multiplier="nan"/><dynamics'),),
    "mesh without name": ((_SHAPE, "<mesh/>"),),
    "mesh of no size": ((_SHAPE, '<mesh filename="a.stl" scale="0 1 1"/>'),),
    "three colours": (('rgba="1 0 0 1"', 'rgba="1 0 0"'),),
    "zero in a name": ((_TIP[0], 'name="ti&#0;p"'),),
    "escape in a name": ((_TIP[0], 'name="&#27;[2Jtip"'), (_TIP[1], 'child link="&#27;[2Jtip"')),
    "line before the declaration": (("<?xml", "\n<?xml"),),
    "entity that is not declared": (('name="arm"', 'name="&lol;"'),),
    "loop to nothing": (("</robot>", _LOOP + '<link2 link="no"/></loop_joint></robot>'),),
    "loop to itself": (("</robot>", _LOOP + '<link2 link="tip"/></loop_joint></robot>'),),
    "mass twice": (('<mass value="2.0"/>', '<mass value="2.0"/><mass value="3"/>'),),
    "attribute twice": (('value="2.0"', 'value="2.0" value="3.0"'),),
    "parent twice": (('<parent link="base_link"/>', '<parent link="base_link"/><parent link="tip"/>'),),
    "axis twice": (("<axis", '<axis xyz="1 0 0"/><axis'),),
    "limit twice": (("<limit", '<limit lower="0" upper="1" effort="1" velocity="1"/><limit'),),
    "joint in a joint": (("<axis", '<joint name="x" type="fixed"/><axis'),),
    "link in a link": ((_TIP[0] + ">", _TIP[0] + '><link name="z"/>'),),
    "size of nothing": ((_SHAPE, '<sphere radius=""/>'),),
    "negative radius": ((_SHAPE, '<sphere radius="-1"/>'),),
    "scale of no number": ((_SHAPE, '<mesh filename="a.stl" scale="nan 1 1"/>'),),
    "infinite limit": (('lower="-1.5"', 'lower="-inf"'),),
    "joint without name": (('<joint name="elbow"', "<joint"),),
    "joint without type": ((' type="revolute"', ""),),
    "joint without child": (('<child link="tip"/>', ""),),
    "joint without parent": (('<parent link="base_link"/>', ""),),
    "mimic without leader": (("<dynamics", '<mimic multiplier="2"/><dynamics'),),
    "angles of four": (('rpy="0 0.1 0"', 'rpy="0 0.1 0 1"'),),
    "commas": (('xyz="0 0 0.2"', 'xyz="0,0,0.2"'),),
    "kilograms": (('value="2.0"', 'value="2.0kg"'),),
    "inertia without mass": (('<mass value="2.0"/>', ""),),
    "product of inertia": (('ixy="0"', 'ixy="1"'),),
    "attribute without quotes": (('name="arm"', "name=arm"),),
    "text behind": (("</robot>", "</robot>text"),),
    "encoding of seven bits": (('"1.0"?>', '"1.0" encoding="utf-7"?>'),),
    "encoding that it has not": (('"1.0"?>', '"1.0" encoding="utf-16"?>'),),
    "number of full width": (('value="2.0"', 'value="\uff12"'),),
    "minus of mathematics": (('lower="-1.5"', 'lower="\u22121.5"'),),
    "blank that is not seen": (('value="2.0"', 'value="2.0\u200b"'),),
    "half a pair": (('name="arm"', 'name="&#xD800;"'),),
    "beyond Unicode": (('name="arm"', 'name="&#x110000;"'),),
    "entity of HTML": (('name="arm"', 'name="&nbsp;"'),),
}
RIGHT_URDF: Words = {
    "letters that look alike": ((_TIP[0], 'name="b\u0430se_link"'), (_TIP[1], 'child link="b\u0430se_link"')),
    "encoding of seven bits, in capitals": (('"1.0"?>', '"1.0" encoding="US-ASCII"?>'),),
    "number next to nothing": (('xyz="0 0 0.1"', 'xyz="0 0 1e-400"'),),
    "words of Gazebo": (("</robot>", '<gazebo reference="tip"><mu1>0.2</mu1></gazebo></robot>'),),
    "transmission": (("</robot>", '<transmission name="t"><type>x</type></transmission></robot>'),),
    "ros2_control": (("</robot>", '<ros2_control name="a" type="system"/></robot>'),),
    "words of Drake": (
        ("<robot", '<robot xmlns:drake="http://drake.mit.edu"'),
        ("</robot>", "<drake:joint/></robot>"),
    ),
    "words of MuJoCo": (("</robot>", '<mujoco><compiler meshdir="/etc"/></mujoco></robot>'),),
    "comments": (("<robot", "<!-- a --><robot"), ("</robot>", "</robot>\n<!-- b -->\n")),
    "instruction": (("<robot", '<?xml-stylesheet href="file:///etc/passwd"?><robot'),),
    "another encoding said": (('"1.0"?>', '"1.0" encoding="ISO-8859-1"?>'),),
    "calibration": (("<dynamics", '<calibration rising="0"/><safety_controller k_velocity="1"/><dynamics'),),
    "spaces and a plus": (('value="2.0"', 'value=" +2.0 "'),),
    "fixed, with limits": (('type="revolute"', 'type="fixed"'),),
    "floating": (('type="revolute"', 'type="floating"'),),
    "file url": ((_SHAPE, '<mesh filename="file:///etc/passwd"/>'),),  # a name: it is not opened
    "mirrored mesh": ((_SHAPE, '<mesh filename="a.stl" scale="-1 1 1"/>'),),
    "markup in a name": (('name="arm"', 'name="&lt;script&gt;"'),),
    "no name": ((' name="arm"', ""),),
    "link called ground": ((_TIP[0], 'name="ground"'), (_TIP[1], 'child link="ground"')),
    "link called like a joint": ((_TIP[0], 'name="elbow"'), (_TIP[1], 'child link="elbow"')),
    "names that differ by case": ((_TIP[0], 'name="BASE_LINK"'), (_TIP[1], 'child link="BASE_LINK"')),
    "name of two lines": ((_TIP[0], 'name="ti&#10;p"'), (_TIP[1], 'child link="ti&#10;p"')),
    "name from right to left": ((_TIP[0], 'name="\u202etip"'), (_TIP[1], 'child link="\u202etip"')),
    "namespace of an attribute": (("<robot", '<robot xmlns:d="d" d:x="1"'), (_TIP[0], _TIP[0] + ' d:x="1"')),
    "single quotes": (('"', "'"),) * URDF.count('"'),
    "numbers on lines": (('xyz="0 1 0"', 'xyz="0\n\t1   0"'),),
    "numbers with dots": (('value="2.0"', 'value="2.E+0"'), ('value="1.0"', 'value=".1e1"')),
    "no declaration": (('<?xml version="1.0"?>', ""),),
    "character data": (("</robot>", "<gazebo><![CDATA[<x>]]></gazebo></robot>"),),
    "two visuals": (("<visual>", '<visual><geometry><sphere radius="0.1"/></geometry></visual><visual>'),),
    "no effort": ((' effort="10" velocity="2"', ""),),
    "names of other alphabets": ((_TIP[0], 'name="\u624b"'), (_TIP[1], 'child link="\u624b"')),
    "mass next to nothing": (('ixx="0.01" iyy="0.01" izz="0.01"', 'ixx="1e-30" iyy="1e-30" izz="1e-30"'),),
}
_AXIS = "<xyz>0 1 0</xyz>"
WRONG_SDF: Words = {
    "include": (("<link", "<include><uri>file:///etc/passwd</uri></include><link"),),
    "pose of itself": (("<pose>", '<pose relative_to="a">'),),
    "poses in a ring": (
        (
            "<link",
            '<frame name="f"><pose relative_to="g"/></frame><frame name="g"><pose relative_to="f"/>'
            "</frame><link",
        ),
        ("<pose>0", '<pose relative_to="f">0'),
    ),
    "frames in a ring": (
        ("<link", '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/><link'),
        ("<child>a", "<child>f"),
    ),
    "pose of seven": (("0 0 1 0 0 0", "0 0 1 0 0 0 1"),),
    "format of rotations": (("<pose>", '<pose rotation_format="wxyz">'),),
    "inertia to be computed": (("<inertial>", '<inertial auto="true">'),),
    "misspelt dynamics": (("<limit>", "<dynamic><damping>1</damping></dynamic><limit>"),),
    "misspelt damping": (("<limit>", "<dynamics><dampping>1</dampping></dynamics><limit>"),),
    "misspelt moment": (("<ixx>0.1</ixx>", "<lxx>0.1</lxx>"),),
    "gear box": (('type="revolute"', 'type="gearbox"'),),
    "version 9.9": (('"1.9"', '"9.9"'),),
    "version of words": (('"1.9"', '"new"'),),
    "two worlds": (
        ("<model", '<world name="b"/><world name="w"><model'),
        ("</model>", "</model></world>"),
    ),
    "placed by nothing": (('name="arm"', 'name="arm" placement_frame="b"'),),
    "child world": (("<child>a", "<child>world"),),
    "joined to itself": (("<parent>world", "<parent>a"),),
    "limits reversed": (("<lower>-1</lower>", "<lower>2</lower>"),),
    "negative damping": (("<limit>", "<dynamics><damping>-1</damping></dynamics><limit>"),),
    "height map": (("<box><size>0.1 0.1 0.4</size></box>", "<heightmap><uri>/etc/x</uri></heightmap>"),),
    "screw without pitch": (('type="revolute"', 'type="screw"'),),
    "follows itself": ((_AXIS, _AXIS + '<mimic joint="j"><multiplier>2</multiplier></mimic>'),),
    "follows nothing": ((_AXIS, _AXIS + '<mimic joint="k"><multiplier>2</multiplier></mimic>'),),
    "truth": (("<link", "<static>perhaps</static><link"),),
    "misspelt size": (("<size>", "<sizes>"), ("</size>", "</sizes>")),
    "shape drawn from nowhere": (('<visual name="v">', '<visual name="v"><pose relative_to="f"/>'),),
    "inertia placed elsewhere": (("<mass>", '<pose relative_to="j">0 0 0 0 0 0</pose><mass>'),),
    "frame on nothing": (("<link", '<frame name="f" attached_to="g"/><link'),),
    "joint to a frame of nothing": (("<child>a", "<child>h::palm"),),
    "model from nowhere": (('name="arm">', 'name="arm"><pose relative_to="f"/>'),),
    "axis in no frame": (("<xyz>", '<xyz expressed_in="f">'),),
    "angles of text": (("0 0 1 0 0 0", "0 0 1 0 0 up"),),
    "mass twice": (("<mass>2</mass>", "<mass>2</mass><mass>3</mass>"),),
    "no child": (("<child>a</child>", ""),),
}
RIGHT_SDF: Words = {
    "quaternion": (("<pose>0 0 1 0 0 0", '<pose rotation_format="quat_xyzw">0 0 1 0 0 0 1'),),
    "degrees": (("<pose>0 0 1 0 0 0", '<pose degrees="true">0 0 1 0 0 90'),),
    "axis in the model": ((_AXIS, _AXIS + "<use_parent_model_frame>true</use_parent_model_frame>"),),
    "version 1.4": (('"1.9"', '"1.4"'),),
    "no version": ((' version="1.9"', ""),),
    "placed by a link": (('name="arm"', 'name="arm" placement_frame="a" canonical_link="a"'),),
    "world": (
        ("<model", '<world name="w"><gravity>0 0 -1</gravity><physics type="ode"/><model'),
        ("</model>", "</model></world>"),
    ),
    "no limit by a word": (("<lower>-1</lower><upper>1</upper>", "<lower>-inf</lower><upper>inf</upper>"),),
    "no limit by a number": (("<lower>-1</lower><upper>1</upper>", "<lower>-1e16</lower>"),),
    "static": (("<link", "<static>1</static><link"),),
    "placed by its joint": (
        ("<pose>", '<pose relative_to="j">'),
        ("<axis>", '<pose relative_to="__model__"/><axis>'),
    ),
    "comment before a number": (("<mass>2", "<mass><!-- kg -->2"),),
    "plugin": (("<link", '<plugin name="p" filename="/tmp/x.so"/><link'),),
    "weightless": (("<inertial>", "<gravity>false</gravity><inertial>"),),
    "joint to a frame": (
        ("<link", '<frame name="f" attached_to="a"><pose>0 0 1 0 0 0</pose></frame><link'),
        ("<child>a", "<child>f"),
    ),
    "shape drawn in the model": (('<visual name="v">', '<visual name="v"><pose relative_to="__model__"/>'),),
    "nested": (
        ("<link", '<model name="h"><link name="palm"/></model><link'),
        ("<pose>", '<pose relative_to="h::palm">'),
    ),
    "joint of the world": (
        ("<model", '<world name="w"><frame name="f"/><model'),
        (
            "</model>",
            '</model><joint name="k" type="fixed"><parent>world</parent><child>arm</child></joint></world>',
        ),
        ("<parent>world</parent><child>a", "<parent>b</parent><child>a"),
        ("<joint", '<link name="b"/><joint'),
    ),
    "universal": (
        ('type="revolute"', 'type="universal"'),
        ("</axis>", "</axis><axis2><xyz>1 0 0</xyz><dynamics><damping>1</damping></dynamics></axis2>"),
    ),
    "file uri": (("<box><size>0.1 0.1 0.4</size></box>", "<mesh><uri>file:///etc/passwd</uri></mesh>"),),
}
_DRAWN, _NODES = '</matrix><instance_geometry url="#g"/>', "<library_visual_scenes>"
_LIST = ('<triangles count="4">', "</triangles>", "<p>0 2 1 0 1 3 1 2 3 0 3 2</p>")
_DOUBLING = "".join(
    f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>'
    for k in range(40)
)
WRONG_DAE: Words = {
    "node in itself": (("<node>", '<node id="n"><instance_node url="#n"/>'),),
    "nodes that double": (
        (_NODES, f"<library_nodes>{_DOUBLING}</library_nodes>{_NODES}"),
        (_DRAWN, '</matrix><instance_node url="#n0"/>'),
    ),
    "deep nodes": (("<node>", "<node>" * 60), ("</node>", "</node>" * 60)),
    "skin only": ((_DRAWN, '</matrix><instance_controller url="#g"/>'),),
    "up to nowhere": (("Z_UP", "Q_UP"),),
    "unit of zero": (('meter="1"', 'meter="0"'),),
    "unit of no number": (('meter="1"', 'meter="nan"'),),
    "counts that disagree": (
        (_LIST[0], "<polylist>"),
        (_LIST[1], "</polylist>"),
        ("<p>", "<vcount>3 3 3 4</vcount><p>"),
    ),
    "counts beyond all": (
        (_LIST[0], "<polylist>"),
        (_LIST[1], "</polylist>"),
        ("<p>", "<vcount>2147483647 2147483647 3 3</vcount><p>"),
    ),
    "hole": (
        (_LIST[0], "<polygons>"),
        (_LIST[1], "</polygons>"),
        (_LIST[2], "<ph><p>0 1 2</p><h>0 1 3</h></ph>"),
    ),
    "stride of two": (('stride="3"', 'stride="2"'),),
    "stride of no whole": (('stride="3"', 'stride="3.7"'),),
    "offset below zero": (('offset="0"', 'offset="-1"'),),
    "offset of no whole": (('offset="0"', 'offset="0.5"'),),
    "count below zero": (('count="4" stride', 'count="-4" stride'),),
    "skewed": (("<matrix>", "<skew>1 2 3 4 5 6 7</skew><matrix>"),),
    "matrix of 15": (("<matrix>1 ", "<matrix>"),),
    "matrix that projects": (("0 0 0 1</matrix>", "0 0 1 1</matrix>"),),
    "turned about nothing": (("<matrix>", "<rotate>0 0 0 90</rotate><matrix>"),),
    "source that is none": (('source="#s"', 'source="#g"'),),
}
RIGHT_DAE: Words = {
    "namespace": (("<COLLADA", '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"'),),
    "node elsewhere": (
        (_NODES, f'<library_nodes><node id="n"><instance_geometry url="#g"/></node></library_nodes>{_NODES}'),
        (_DRAWN, '</matrix><instance_node url="#n"/>'),
    ),
    "skin too": ((_DRAWN, _DRAWN + '<instance_controller url="#c"/>'),),
    "inches": (('meter="1"', 'meter="0.0254" name="inch"'),),
    "polygons": (
        (_LIST[0], "<polylist>"),
        (_LIST[1], "</polylist>"),
        ("<p>", "<vcount>3 3 3 3</vcount><p>"),
    ),
    "strip": ((_LIST[0], "<tristrips>"), (_LIST[1], "</tristrips>"), (_LIST[2], "<p>0 1 2 3 0 1</p>")),
    "fan": ((_LIST[0], "<trifans>"), (_LIST[1], "</trifans>"), (_LIST[2], "<p>0 1 2 3</p>")),
    "steps": (("<matrix>", '<rotate sid="x">1 0 0 90</rotate><translate>1 2 3</translate><matrix>'),),
    "no scene": (('<scene><instance_visual_scene url="#w"/></scene>', ""),),
    "character data": ((">0 0 0 1 0 0 0 1 0 0 0 1<", "><![CDATA[0 0 0 1 0 0 0 1 0 0 0 1]]><"),),
    "comment among numbers": ((">0 0 0 1 0 0 0 1", ">0 0 0 1 0 0<!-- x --> 0 1"),),
}


def _instances(scene: dict[str, Any]) -> None:
    scene["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {}}


_SPARSE: dict[str, Any] = {  # vertex 16256, half of a number, is to be the first one
    "count": 1,
    "indices": {"bufferView": 0, "byteOffset": 14, "componentType": 5123},
    "values": {"bufferView": 0},
}


def _doubling(scene: dict[str, Any]) -> None:
    scene["nodes"] = [{"children": [k + 1, k + 1]} for k in range(40)] + [{"mesh": 0}]


WRONG_GLB: dict[str, Change] = {
    "sparse": lambda s: s["accessors"][0].update(sparse={"count": 1}),
    "no view": lambda s: s["accessors"][0].pop("bufferView"),
    "sparse beyond all": lambda s: s["accessors"][0].update(sparse=_SPARSE),
    "sparse below zero": lambda s: s["accessors"][0].update(sparse=_SPARSE | {"count": -1}),
    "sparse by words": lambda s: s["accessors"][0].update(sparse=_SPARSE | {"indices": "0"}),
    "sparse of nothing, beyond all": lambda s: (
        s["accessors"][0].pop("bufferView"),
        s["accessors"][0].update(sparse=_SPARSE, count=2**39),
    ),
    "data that is no base64": lambda s: s["buffers"][0].update(uri="data:x/y;base64,####"),
    "data that ends": lambda s: s["buffers"][0].update(uri="data:x/y;base64,AAAA"),
    "data in percents": lambda s: s["buffers"][0].update(uri="data:x/y,%00%00"),
    "meshopt": lambda s: s.update(extensionsRequired=["EXT_meshopt_compression"]),
    "extensions that are no list": lambda s: s.update(extensionsRequired="KHR_draco_mesh_compression"),
    "instances": _instances,
    "nodes that double": _doubling,
    "scene below zero": lambda s: s.update(scene=-1),
    "scene true": lambda s: s.update(scene=True),
    "rotation of zero": lambda s: s["nodes"][0].update(rotation=[0, 0, 0, 0]),
    "rotation of five": lambda s: s["nodes"][0].update(rotation=[0, 0, 0, 5]),
    "place of words": lambda s: s["nodes"][0].update(translation=["1", 0, 0]),
    "place of nothing": lambda s: s["nodes"][0].update(translation=[None, 0, 0]),
    "place of truth": lambda s: s["nodes"][0].update(translation=[True, 0, 0]),
    "scale of zero": lambda s: s["nodes"][0].update(scale=[0, 0, 0]),
    "matrix that projects": lambda s: s["nodes"][0].update(
        matrix=[1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    ),
    "stride beyond all": lambda s: s["bufferViews"][0].update(byteStride=2**40),
    "stride of one": lambda s: s["bufferViews"][0].update(byteStride=1),
    "view beyond its buffer": lambda s: s["bufferViews"][0].update(byteLength=10**9),
    "accessor beyond its view": lambda s: s["bufferViews"][0].update(byteLength=12),
    "buffer beyond the file": lambda s: s["buffers"][0].update(byteLength=10**12),
    "another buffer": lambda s: s["bufferViews"][0].update(buffer=1),
    "mesh by a word": lambda s: s["nodes"][0].update(mesh="0"),
    "attributes that are a list": lambda s: s["meshes"][0].update(primitives=[{"attributes": [0]}]),
    "mode 99": lambda s: s["meshes"][0]["primitives"][0].update(mode=99),
    "indices of signed bytes": lambda s: s["accessors"][1].update(componentType=5120),
    "itself as a buffer": lambda s: s["buffers"][0].update(uri="part.glb"),
    "offset 2^63": lambda s: s["bufferViews"][1].update(byteOffset=2**63),
    "offset 1e308": lambda s: s["bufferViews"][1].update(byteOffset=1e308),
    "100,000 nodes": lambda s: s.update(nodes=[{"children": [k + 1]} for k in range(99_999)] + [{"mesh": 0}]),
    "eleven corners": lambda s: s["accessors"][1].update(count=11),
}
RIGHT_GLB: dict[str, Change] = {
    "no scenes": lambda s: (s.pop("scenes"), s.pop("scene")),
    "nested and mirrored": lambda s: (
        s["nodes"].append({"children": [0], "scale": [-1, 1, 1]}),
        s["scenes"][0].update(nodes=[1]),
    ),
    "lines, too": lambda s: s["meshes"][0]["primitives"].append({"attributes": {"POSITION": 0}, "mode": 1}),
    "skins": lambda s: s.update(skins=[{"joints": [0]}]),
    "camera": lambda s: (s["nodes"].append({"camera": 0}), s["scenes"][0]["nodes"].append(1)),
    "unlit": lambda s: s.update(extensionsRequired=["KHR_materials_unlit"]),
    "morph targets": lambda s: s["meshes"][0]["primitives"][0].update(targets=[{"POSITION": 0}]),
    "long name": lambda s: s["nodes"][0].update(name="x" * 100_000),
    "drawn 100 times": lambda s: s.update(
        nodes=[{"mesh": 0, "translation": [2 * k, 0, 0]} for k in range(100)],
        scenes=[{"nodes": list(range(100))}],
    ),
}
WRONG_OBJ = {
    "face before vertices": (b"# part", b"f 1 3 2"),
    "number 1D0": (b"v 1 0 0", b"v 1D0 0 0"),
    "number 0x1p3": (b"v 1 0 0", b"v 0x1p3 0 0"),
    "point of two": (b"v 1 0 0", b"v 1 0"),
    "vertex 2^63": (b"f 1 3 2", b"f 9223372036854775809 3 2"),
    "zero byte": (b"v 1 0 0", b"v 1\0 0 0"),
    "call": (b"# part", b"call /etc/passwd"),
    "shell": (b"# part", b"csh rm"),
    "slashes": (b"f 1 3 2", b"f " + b"/" * 100_000),
}
RIGHT_OBJ = {
    "negative indices": (b"f 1 3 2", b"f -4 -2 -3"),
    "fourth coordinate": (b"v 1 0 0", b"v 1 0 0 1.0"),
    "colours": (b"v 1 0 0", b"v 1 0 0 0.5 0.5 0.5"),
    "tabs": (b" ", b"\t"),
    "spaces at ends": (b"\n", b"  \n"),
    "line that goes on": (b"f 1 3 2", b"f 1 \\\n3 2"),
    "comment not in UTF-8": (b"# part", b"# caf\xe9"),
    "group not in UTF-8": (b"# part", b"g caf\xe9"),
    "library elsewhere": (b"# part", b"mtllib ../../../../etc/passwd"),
    "long comment": (b"# part", b"#" + b"x" * 1_000_000),
    "many lines": (b"# part", b"\n" * 500_000),
}
WRONG_OFF = {
    "bytes": (b"OFF", b"OFF BINARY"),
    "four dimensions": (b"OFF", b"4OFF"),
    "textures": (b"OFF", b"STOFF"),
    "count below zero": (b"4 4 0", b"-4 4 0"),
    "no word": (b"OFF\n", b""),
}
RIGHT_OFF = {
    "counts beside": (b"OFF\n4 4 0", b"OFF 4 4 0"),
    "comments": (b"OFF\n", b"OFF # a\n# b\n\n"),
    "two counts": (b"4 4 0", b"4 4"),
    "colours of faces": (b"3 0 2 1", b"3 0 2 1 0.5 0.5 0.5"),
}
WRONG_PLY = {
    "strips": (b"element face 4", b"element tristrips 4"),
    "corners of another name": (b"vertex_indices", b"others"),
    "edges beyond all": (b"end_header", b"element edge 4294967295\nproperty int a\nend_header"),
    "property of nothing": (b"element vertex 4\n", b""),
    "version 2": (b"ascii 1.0", b"ascii 2.0"),
    "x twice": (b"float y", b"float x"),
    "counts in doubles": (b"uchar int", b"double int"),
    "elements without bytes": (b"element vertex", b"element e 4000000000\nelement vertex"),
    "faces below zero": (b"face 4", b"face -1"),
}
RIGHT_PLY = {
    "counts of 32 bits": (b"uchar int", b"uint uint"),
    "windows lines": (b"\n", b"\r\n"),
    "comment not in UTF-8": (b"element vertex", b"comment caf\xe9\nelement vertex"),
    "comment of the end": (b"element vertex", b"comment the end_header is below\nelement vertex"),
    "names of sizes": (b"list uchar int", b"list uint8 int32"),
    "vertex_index": (b"vertex_indices", b"vertex_index"),
}
RIGHT_STL = {
    "windows lines": (b"\n", b"\r\n"),
    "old mac lines": (b"\n", b"\r"),
    "tabs": (b"vertex ", b"\tvertex\t"),
    "no name": (b"solid part", b"solid"),
    "name not in UTF-8": (b"solid part", b"solid caf\xe9"),
    "normals of no number": (b"normal 0 0 0", b"normal nan nan nan"),
}
WRONG_LAWS: dict[str, Any] = {
    "long": "1+" * 500_000 + "1",
    "tower": "9**9**9**9",
    "attribute": "t.__class__",
    "classes": "().__class__.__bases__[0]",
    "lambda": "(lambda: 1)()",
    "text": "'a'*10**9",
    "walrus": "(x:=3)",
    "comprehension": "[x for x in q]",
    "no number": "nan",
    "beyond all": "1e999",
    "another alphabet": "\u0455in(t)",
    "nothing": "",
    "no return": ["a = 1"],
    "table out of order": "interp(t, [0, 2, 1], [0, 1, 2])",
    "and of numbers": "4 * sin(3 * t) & 0.1 * v",
    "not of a number": "~t",
    "where of a number": "where(t, 1, 2)",
    "number of 100,000 digits": "9" * 100_000,
    "number of 300 zeros": "1" + "0" * 320,
    "name of 100,000 letters": "x" * 100_000,
    "division by zero": "1/0",
    "root of less than zero": "sqrt(-1)",
    "power beyond all": "2**100000000",
    "signs": "-" * 10_000 + "t",
    "calls": "sin(" * 300 + "t" + ")" * 300,
}
WRONG_JSON = {
    "comment": ("{", "// c\n{"),
    "trailing comma": ("}]}", "}],}"),
    "single quotes": ('"', "'"),
    "line within a text": ("swing", "sw\ning"),
    "true version": ('"version": 1', '"version": true'),
    "leading zero": ("600", "0600"),
    "plus": ("600", "+600"),
    "hexadecimal": ("600", "0x600"),
    "gravity of 1e400": ("9.81", "1e400"),
}
WRONG_MECHANISMS: dict[str, Change] = {
    "note of no text": lambda m: m.update(note=3),
    "order of one twice": lambda m: m.update(order=["seat", "seat"]),
    "bodies that are no list": lambda m: m.update(bodies={}),
    "state of nothing": lambda m: m.update(states={"a": {"nope": 1}}),
    "gravity of two": lambda m: m.update(gravity=[0, 0]),
    "another space": lambda m: m.update(space="hyper"),
    "mesh of no vertex": lambda m: m["bodies"][0].update(
        shapes=[{"type": "Mesh", "vertices": CORNERS.tolist(), "faces": [[0, 1, 9]]}]
    ),
    "mesh of vertex 10^30": lambda m: m["bodies"][0].update(
        shapes=[{"type": "Mesh", "vertices": CORNERS.tolist(), "faces": [[0, 1, 10**30]]}]
    ),
    "mesh of words": lambda m: m["bodies"][0].update(
        shapes=[{"type": "Mesh", "vertices": [["a", 0, 0]] * 4, "faces": FACES.tolist()}]
    ),
    "box of 1e300 m": lambda m: m["bodies"][0]["shapes"][0].update(x=1e300),
    "name of a megabyte": lambda m: m["bodies"][0].update(name="x" * 1_000_000),
    "name that clears the screen": lambda m: m["bodies"][0].update(name="\x1b[2J\x07"),
    "body without name": lambda m: m["bodies"][0].update(name=""),
    "terrain that falls": lambda m: m["bodies"][0].update(
        shapes=[{"type": "HeightField", "heights": [[0] * 300] * 300, "size": [1, 1]}]
    ),
    "terrain of words": lambda m: m["bodies"][0].update(
        shapes=[{"type": "HeightField", "heights": [[0, 1], [0, "1"]], "size": [1, 1]}]
    ),
    "mesh of half a vertex": lambda m: m["bodies"][0].update(
        shapes=[{"type": "Mesh", "vertices": CORNERS.tolist(), "faces": [[0, 1, 2.5]]}]
    ),
    "mesh of a password": lambda m: m["bodies"][0].update(
        shapes=[{"type": "MeshFile", "filename": "/etc/passwd"}]
    ),
}
RIGHT_MECHANISMS: dict[str, Change] = {
    "note": lambda m: m.update(note="hello"),
    "mesh": lambda m: m["bodies"][0].update(
        shapes=[{"type": "Mesh", "vertices": CORNERS.tolist(), "faces": FACES.tolist()}]
    ),
    "slash in a name": lambda m: (m["bodies"][0].update(name="a/b"), m["joints"][0].update(child="a/b")),
    "long table": lambda m: m["loads"][0].update(
        law=f"interp(t, {list(range(2000))}, {np.linspace(0, 1, 2000).tolist()})"
    ),
}
