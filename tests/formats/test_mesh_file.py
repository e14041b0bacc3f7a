"""Mesh files: read back what was written, by others too; refuse what they must not be, within bounds."""

import json
import os
import struct
import tracemalloc

import numpy as np
import pytest
from geometry_catalogue import ELL, star_shaped
from peak_memory import peak_memory

import linkwork as lw
from linkwork.errors import FormatError
from linkwork.geometry import Extrusion, Mesh

MESH = star_shaped(8)
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
TETRAHEDRON = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])


def stl(vertices, faces) -> bytes:
    triangles = np.zeros(len(faces), np.dtype([("n", "<f4", 3), ("p", "<f4", (3, 3)), ("a", "<u2")]))
    triangles["p"] = vertices[faces]
    return b"solid, but binary".ljust(80) + struct.pack("<I", len(faces)) + triangles.tobytes()


def stl_words(vertices, faces) -> bytes:
    lines = ["solid part one"]
    for face in faces:
        lines += ["facet normal 0 0 0", "  outer loop"]
        lines += ["    vertex " + " ".join(map(repr, p.tolist())) for p in vertices[face]]
        lines += ["  endloop", "endfacet"]
    return "\n".join([*lines, "endsolid part one", ""]).encode()


def obj(vertices, faces) -> bytes:
    lines = ["# a comment", "mtllib ../../../etc/passwd", "o part"]
    lines += ["v " + " ".join(map(repr, p.tolist())) for p in vertices]
    lines += ["vn 0 0 1", "usemtl red", "s off"]
    lines += ["f " + " ".join(f"{k + 1}//1" for k in face) for face in faces]
    return "\r\n".join(lines).encode()


def off(vertices, faces) -> bytes:
    lines = ["OFF # by hand", f"{len(vertices)} {len(faces)} 0"]
    lines += [" ".join(map(repr, p.tolist())) for p in vertices]
    lines += [f"{len(face)} " + " ".join(map(str, face)) + " 255 0 0" for face in faces]
    return "\n".join(lines).encode()


def ply(vertices, faces, order="<", extra=False) -> bytes:
    kind = {"<": "binary_little_endian", ">": "binary_big_endian"}[order]
    more = "property uchar red\n" if extra else ""
    header = (
        f"ply\nformat {kind} 1.0\ncomment by hand\nelement vertex {len(vertices)}\nproperty double x\n"
        f"property double y\nproperty double z\n{more}element face {len(faces)}\n"
        "property list uchar int vertex_indices\nend_header\n"
    )
    body = b""
    for p in vertices:
        body += struct.pack(order + "3d", *p) + (b"\7" if extra else b"")
    for face in faces:
        body += struct.pack(f"{order}B{len(face)}i", len(face), *face)
    return header.encode() + body


def ply_words(vertices, faces) -> bytes:
    header = (
        f"ply\nformat ascii 1.0\nelement vertex {len(vertices)}\nproperty float x\nproperty float y\n"
        f"property float z\nelement face {len(faces)}\nproperty list uchar int vertex_index\nend_header\n"
    )
    lines = [" ".join(map(repr, p.tolist())) for p in vertices]
    lines += [f"{len(face)} " + " ".join(map(str, face)) for face in faces]
    return (header + "\n".join(lines)).encode()


def glb(vertices, faces, change=None, nodes=None) -> bytes:
    points, indices = np.asarray(vertices, "<f4").tobytes(), np.asarray(faces, "<u2").tobytes()
    scene = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": nodes or [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(vertices), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 3 * len(faces), "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": len(points)},
            {"buffer": 0, "byteOffset": len(points), "byteLength": len(indices)},
        ],
        "buffers": [{"byteLength": len(points) + len(indices)}],
    }
    if change:
        change(scene)
    return glb_of(json.dumps(scene).encode(), points + indices)


def glb_of(text: bytes, buffer: bytes) -> bytes:
    text, buffer = text + b" " * (-len(text) % 4), buffer + b"\0" * (-len(buffer) % 4)
    chunks = (
        struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(buffer), b"BIN\0") + buffer
    )
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


WRITERS = {
    "stl": (stl, "stl"),
    "stl in words": (stl_words, "stl"),
    "obj": (obj, "obj"),
    "off": (off, "off"),
    "ply": (ply, "ply"),
    "ply of big ends": (lambda v, f: ply(v, f, ">"), "ply"),
    "ply with colours": (lambda v, f: ply(v, f, "<", True), "ply"),
    "ply in words": (ply_words, "ply"),
    "glb": (glb, "glb"),
}


@pytest.fixture
def load(tmp_path):
    """Load a mesh from the bytes of a file."""

    def load_bytes(data: bytes, suffix: str, **options) -> Mesh:
        path = tmp_path / f"part.{suffix}"
        path.write_bytes(data)
        return lw.load(path, **options)

    return load_bytes


@pytest.mark.parametrize("kind", WRITERS)
def test_a_mesh_is_read_as_it_was_written(load, kind):
    write, suffix = WRITERS[kind]
    single = Mesh(MESH.vertices.astype(np.float32).astype(float), MESH.faces)
    mesh = load(write(single.vertices, single.faces), suffix)
    assert mesh.problems() == ()
    assert mesh.name == f"part.{suffix}"
    assert mesh.repairs == ()
    assert len(mesh.vertices) == len(single.vertices)
    assert mesh.volume == pytest.approx(single.volume, rel=1e-14)
    np.testing.assert_allclose(mesh.inertia(1.0).tensor, single.inertia(1.0).tensor, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "off", "glb"])
def test_what_another_library_writes_is_read_to_the_same_solid(tmp_path, suffix):
    trimesh = pytest.importorskip("trimesh", reason="not installed: trimesh")
    path = tmp_path / f"part.{suffix}"
    trimesh.Trimesh(MESH.vertices, MESH.faces, process=False).export(path)
    mesh, peer = lw.load(path), trimesh.load(path, force="mesh")
    assert mesh.volume == pytest.approx(MESH.volume, rel=1e-6)
    assert mesh.volume == pytest.approx(float(peer.volume), rel=1e-12)
    np.testing.assert_allclose(mesh.inertia(1.0).tensor, peer.moment_inertia, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("write", [obj, off, ply, ply_words])
def test_faces_with_many_corners_are_cut(load, write):
    n = len(ELL)
    vertices = np.vstack([np.c_[np.array(ELL), np.full(n, z)] for z in (0.0, 0.5)])
    sides = [[k, (k + 1) % n, (k + 1) % n + n, k + n] for k in range(n)]
    mesh = load(write(vertices, [list(range(n))[::-1], list(range(n, 2 * n)), *sides]), write.__name__[:3])
    assert mesh.volume == pytest.approx(Extrusion(ELL, 0.5).volume, rel=1e-7)


def test_units_become_metres(load):
    mesh = load(stl(1000.0 * CORNERS, TETRAHEDRON), "stl", scale=1e-3)
    assert mesh.volume == pytest.approx(1 / 6, rel=1e-12)
    assert load(stl(CORNERS, TETRAHEDRON), "stl", scale=-1.0).volume == pytest.approx(1 / 6)


def test_vertices_that_single_precision_does_not_tell_apart_are_one(load):
    corners = CORNERS[TETRAHEDRON].reshape(-1, 3) + 1e-9 * np.random.default_rng(0).uniform(-1, 1, (12, 3))
    mesh = load(stl_words(corners, np.arange(12).reshape(4, 3)), "stl")
    assert (len(mesh.vertices), mesh.problems()) == (4, ())


def test_a_broken_file_is_repaired_only_when_asked(load):
    data = stl(CORNERS, TETRAHEDRON[1:])
    assert "open" in load(data, "stl").problems()[0]
    mended = load(data, "stl", repair=True)
    assert mended.volume == pytest.approx(1 / 6)
    assert mended.repairs == ("filled 1 hole with 1 face",)


def test_faces_without_area_are_dropped_and_told(load):
    faces = np.vstack([TETRAHEDRON, [(1, 1, 2)]])
    mesh = load(obj(CORNERS, faces), "obj")
    assert mesh.volume == pytest.approx(1 / 6)
    assert mesh.repairs == ("dropped 1 face with two corners at one place",)


def test_obj_counts_backwards_too(load):
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf -4 -2 -3\nf 1/1/1 2/2/2 4\nf 2 \\\n 3 4\nf 1 4 3\n"
    assert load(text.encode(), "obj").volume == pytest.approx(1 / 6)


def test_nodes_of_a_glb_are_placed(load):
    nodes = [
        {"children": [1, 2], "translation": [10, 0, 0]},
        {"mesh": 0, "rotation": [0, 0, np.sin(np.pi / 4), np.cos(np.pi / 4)], "scale": [2, 1, 1]},
        {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, -5, 1]},
    ]
    mesh = load(glb(CORNERS, TETRAHEDRON, nodes=nodes), "glb")
    assert mesh.volume == pytest.approx(2 / 6 + 1 / 6)
    np.testing.assert_allclose(mesh.bounds, [(9, 0, -6), (11, 2, 1)], atol=1e-6)


@pytest.mark.parametrize("mode", [5, 6])
def test_strips_and_fans_of_a_glb_are_triangles(load, mode):
    corners = {5: [0, 2, 1, 3, 0, 2], 6: [3, 0, 1, 2, 0]}[mode]
    faces = {5: 4, 6: 3}[mode]

    def change(scene):
        scene["meshes"][0]["primitives"][0]["mode"] = mode
        scene["accessors"][1]["count"] = len(corners)

    padded = np.resize(corners, (4, 3))
    mesh = load(glb(CORNERS, padded, change), "glb")
    assert len(mesh.faces) == faces
    assert not mesh.edges.turned.size  # all the same way round
    assert mesh.is_closed == (mode == 5)


def broken_glb(**changes):
    def change(scene):
        for where, value in changes.items():
            *path, last = where.split("__")
            part = scene
            for step in path:
                part = part[int(step) if step.isdigit() else step]
            part[last] = value

    return glb(CORNERS, TETRAHEDRON, change)


PLY_HEADER = (
    b"ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
)
FACE_LIST = b"element face 1\nproperty list uchar int vertex_indices\nend_header\n"

REFUSED = {
    "stl empty": ("stl", b"", "the file is empty"),
    "stl too short": ("stl", b"x", "1 bytes are too few for STL"),
    "stl count": ("stl", b"\0" * 80 + b"\xff" * 4 + b"\0" * 50, "says 4294967295 triangles"),
    "stl no triangles": ("stl", b"\0" * 84, "there are no faces"),
    "stl cut off": ("stl", stl(CORNERS, TETRAHEDRON)[:-1], "is no|cut off|expected"),
    "stl nan": ("stl", stl(CORNERS * np.nan, TETRAHEDRON), "vertex 0 is .nan"),
    "stl words cut off": ("stl", stl_words(CORNERS, TETRAHEDRON)[:150], "expected is|not a number|3"),
    "stl words": (
        "stl",
        b"solid x\nfacet normal 0 0 0\nouter loop\nvertex 0 0 nan\n",
        ":4: 'nan' is not a number",
    ),
    "stl digits": (
        "stl",
        "solid x\nfacet normal 0 0 0\nouter loop\nvertex 0 0 \u0661\n".encode(),
        ":4: .* is not a number",
    ),
    "stl underscore": (
        "stl",
        b"solid x\nfacet normal 0 0 0\nouter loop\nvertex 0 0 1_0\n",
        ":4: '1_0' is not a number",
    ),
    "stl order": ("stl", b"solid x\nouter loop\n", ":2: 'outer'; expected is 'facet'"),
    "stl four": (
        "stl",
        b"solid x\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0 0\n",
        ":4: a vertex with 4 numbers",
    ),
    "obj zero": ("obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", ":4: vertex 0; they count from 1"),
    "obj large": ("obj", b"v 0 0 0\nf 1 1 99999999\n", ":2: vertex 99999999; allowed is -1 to 1"),
    "obj negative": ("obj", b"v 0 0 0\nf 1 1 -2147483648\n", ":2: vertex -2147483648"),
    "obj huge": ("obj", b"v 0 0 0\nf 1 1 " + b"9" * 10000 + b"\n", ":2: vertex '999.*give a whole number"),
    "obj number": ("obj", b"v 0 0 1e999\n", ":1: '1e999' is not a number"),
    "obj comma": ("obj", b"v 0 0 1,5\n", ":1: '1,5' is not a number"),
    "obj two": ("obj", b"v 0 0\n", ":1: 2 numbers; a point has 3"),
    "obj edge": ("obj", b"v 0 0 0\nf 1 1\n", ":2: a face with 2 corners"),
    "obj surface": ("obj", b"cstype bspline\n", ":1: 'cstype' is not understood"),
    "obj empty": ("obj", b"", "the file is empty"),
    "obj of nothing": ("obj", b"# nothing", "there are no faces"),
    "obj flat": ("obj", b"v 0 0 0\nf 1 1 1\n", "all 1 faces have two corners at one place"),
    "ply count": (
        "ply",
        PLY_HEADER.replace(b" 4", b" 4294967295") + FACE_LIST,
        "cut off or the counts are wrong",
    ),
    "ply list": (
        "ply",
        ply(CORNERS, TETRAHEDRON)[:-13] + b"\xff\0\0\0\0",
        "ends at byte",
    ),
    "ply header": ("ply", b"ply\nformat ascii 1.0\n", "no PLY header"),
    "ply format": (
        "ply",
        b"ply\nformat middle_endian 1.0\nend_header\n",
        ":2: 'format middle_endian 1.0' is not",
    ),
    "ply no format": ("ply", b"ply\nend_header\n", "the header has no format"),
    "ply property": (
        "ply",
        b"ply\nformat ascii 1.0\nproperty float x\nend_header\n",
        ":3: 'property float x' is not",
    ),
    "ply index": (
        "ply",
        PLY_HEADER + FACE_LIST + b"0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 7\n",
        r"face 0 is \(0, 1, 7\); allowed are 0 to 3",
    ),
    "ply short": (
        "ply",
        PLY_HEADER + FACE_LIST + b"0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1   \n",
        "too few numbers",
    ),
    "ply no faces": ("ply", PLY_HEADER + b"end_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n", "no element 'face'"),
    "off word": ("off", b"FOO\n1 1 0\n", ":1: it begins with 'FOO'"),
    "off count": ("off", b"OFF\n4294967295 1 0\n0 0 0\n", ":2: a count of 4294967295"),
    "off cut off": ("off", off(CORNERS, TETRAHEDRON)[:-60], "cut off|allowed is|corners"),
    "off index": ("off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", ":6: vertex 3; allowed is 0 to 2"),
    "glb word": ("glb", b"glTX" + b"\0" * 40, "does not begin with 'glTF'"),
    "glb length": ("glb", glb(CORNERS, TETRAHEDRON)[:-4], "header that says"),
    "glb version": ("glb", b"glTF" + struct.pack("<II", 1, 20) + b"\0" * 8, "glTF version 1"),
    "glb json": ("glb", glb_of(b"{" * 100_000, b""), "its JSON cannot be read"),
    "glb nan": ("glb", glb_of(b'{"nodes": NaN}', b""), "NaN is not a number"),
    "glb outside": (
        "glb",
        broken_glb(buffers__0__uri="file:///etc/passwd"),
        "a buffer outside of its binary chunk",
    ),
    "glb accessor": ("glb", broken_glb(accessors__0__count=2**39), "accessor 0: 549755813888 items"),
    "glb offset": ("glb", broken_glb(bufferViews__1__byteOffset=-5), "byteOffset -5"),
    "glb type": ("glb", broken_glb(accessors__0__componentType=[]), r"componentType \[\]; give a whole"),
    "glb types": ("glb", broken_glb(accessors__0__type=[]), "accessor 0: of a kind that is not understood"),
    "glb child": ("glb", broken_glb(scenes=[], nodes__0__children=[[]]), r"nodes: number \[\]"),
    "glb mode": ("glb", broken_glb(meshes__0__primitives__0__mode=[]), "no triangles"),
    "glb index": ("glb", broken_glb(accessors__0__count=2), "an index 3 of 2 positions"),
    "glb ring": ("glb", broken_glb(nodes=[{"children": [0, 0]}]), "nodes go round in a ring"),
    "glb no node": ("glb", broken_glb(nodes=[{"children": [7]}]), "nodes: number 7, and there are 1"),
    "glb draco": (
        "glb",
        broken_glb(extensionsRequired=["KHR_draco_mesh_compression"]),
        "'KHR_draco_mesh_compression'",
    ),
    "glb matrix": ("glb", broken_glb(nodes=[{"mesh": 0, "matrix": [1, 2]}]), "give 16 finite numbers"),
    "glb points": (
        "glb",
        broken_glb(meshes__0__primitives=[{"attributes": {"POSITION": 0}, "mode": 0}]),
        "no triangles",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_mesh_is_refused_at_once_with_the_reason(load, case):
    suffix, data, words = REFUSED[case]
    with pytest.raises(FormatError, match=words) as error:
        load(data, suffix)
    assert f"part.{suffix}" in str(error.value)
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_cut_off_anywhere_gives_our_error_or_a_mesh(load, writer):
    write, suffix = WRITERS[writer]
    data = write(CORNERS, TETRAHEDRON)
    assert _is_read(load, data, suffix)
    parts = [_is_read(load, data[:size], suffix) for size in range(0, len(data), max(1, len(data) // 40))]
    assert not all(parts)


@pytest.mark.parametrize("writer", WRITERS)
def test_damaged_files_give_our_error_or_a_mesh(load, writer):
    rng = np.random.default_rng(3)
    write, suffix = WRITERS[writer]
    data = np.frombuffer(write(CORNERS, TETRAHEDRON), np.uint8)
    read = []
    for k in range(150):
        copy = data.copy()
        values = (0, 256) if k % 2 else (ord("0"), ord("9") + 1)  # a digit for a digit is no damage
        copy[rng.integers(0, len(copy), rng.integers(1, 4))] = rng.integers(*values)
        read.append(_is_read(load, copy.tobytes(), suffix))
    assert any(read)
    assert not all(read)


def _is_read(load, data: bytes, suffix: str) -> bool:
    """Return whether a file is read, as a mesh of finite numbers, or refused with our error."""
    try:
        mesh = load(data, suffix)
    except FormatError:
        return False
    assert np.isfinite(mesh.vertices).all()
    return True


@pytest.mark.parametrize("case", ["stl count", "ply count", "off count", "glb accessor"])
def test_a_count_of_thousands_of_millions_allocates_nothing(load, case):
    suffix, data, _ = REFUSED[case]
    tracemalloc.start()  # sees what is asked for, even if it is never touched
    try:
        assert not _is_read(load, data, suffix)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_crowd_of_vertices_costs_no_more_than_its_size(load):
    """One vertex far away makes all others look like one; they are many: pairs of them would take 300 MB."""
    crowd = np.random.default_rng(0).uniform(0, 1, (6_000, 3))
    crowd[0] = 1e12
    data = stl(crowd, np.arange(6_000).reshape(-1, 3))
    assert peak_memory(lambda: _is_read(load, data, "stl")) < 30_000_000


def test_only_regular_files_of_bounded_size_are_read(tmp_path, monkeypatch):
    fifo = tmp_path / "pipe.stl"
    os.mkfifo(fifo)
    with pytest.raises(FormatError, match="not a regular file"):
        lw.load(fifo)
    (tmp_path / "folder.stl").mkdir()
    with pytest.raises(FormatError, match="not a regular file"):
        lw.load(tmp_path / "folder.stl")
    monkeypatch.setattr("linkwork.formats.mesh_file.MAX_BYTES", 100)
    (tmp_path / "large.stl").write_bytes(b"\0" * 101)
    with pytest.raises(FormatError, match="101 bytes; allowed are 100"):
        lw.load(tmp_path / "large.stl")
    with pytest.raises(
        FormatError, match=r"available are .json, .urdf, .mjcf, .sdf, .xml, (.*, )?.lwr, .lws, .stl"
    ):
        lw.load(tmp_path / "part.3ds")
