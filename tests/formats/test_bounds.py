"""Files that would take a machine down, at an eighth of the size of the attacks: refused within bounds.

Bounds of memory are 256 MB for the largest files that are read, so 32 MB here, and little more than the file.
"""

import json
import struct
import time

import numpy as np
import pytest
from peak_memory import peak_memory

import linkwork as lw
from linkwork.errors import FormatError

MEGABYTE = 1_000_000


def glb_of_primitives(count: int) -> bytes:
    scene = {
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}] * count}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36}],
    }
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", 36, b"BIN\0") + bytes(36)
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def glb_of_zeros() -> bytes:
    """Primitives of millions of points that are not in the file, but all zero."""
    where = {"count": 1, "indices": {"bufferView": 0, "componentType": 5125}, "values": {"bufferView": 0}}
    zeros = (
        b'"componentType": 5126, "count": 3900000, "type": "VEC3", "sparse": ' + json.dumps(where).encode()
    )
    data = glb_of_primitives(1000)
    changed = data[20:-44].replace(
        b'"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"', zeros
    )
    changed += b" " * (-len(changed) % 4)
    size = len(changed) + 20 + 44
    return (
        struct.pack("<4sII", b"glTF", 2, size)
        + struct.pack("<I4s", len(changed), b"JSON")
        + changed
        + data[-44:]
    )


def ragged_ply(faces: int) -> bytes:
    """Lists of one and two corners in turns: no table, and no face."""
    header = (
        "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
        f"property float z\nelement face {faces}\nproperty list uchar uchar vertex_indices\nend_header\n"
    )
    return header.encode() + bytes(12) + b"\1\0\2\0\0" * (faces // 2)


def bent_obj(faces: int) -> bytes:
    """Concave faces, each of which has to be cut, and one at the end that crosses itself."""
    return b"v 0 0 0\nv 1 0 0\nv .2 .2 0\nv 0 1 0\nv 1 1 0\n" + b"f 1 2 3 4\n" * faces + b"f 1 2 4 5\n"


def mixed_ply(faces: int) -> bytes:
    """Triangles and concave squares in turns, and one of a vertex that is not there."""
    header = ragged_ply(0).replace(b"vertex 1", b"vertex 4").replace(b"face 0", b"face %d" % faces)[:-12]
    points = struct.pack("<12f", 0, 0, 0, 1, 0, 0, 0.2, 0.2, 0, 0, 1, 0)
    return header + points + b"\3\0\1\2\4\0\1\2\3" * (faces // 2 - 1) + b"\3\0\1\2\4\0\1\2\4"


ATTACKS = {
    "obj of concave faces": ("obj", lambda: bent_obj(300_000), "face 300000: it crosses or touches itself"),
    "ply of mixed faces": ("ply", lambda: mixed_ply(480_000), r"face 479999 is \(0, 1, 2, 4\)"),
    "obj of vertices": ("obj", lambda: b"v 0 0 0\n" * 2_500_000, "there are no faces"),
    "obj of one face": ("obj", lambda: b"v 0 0 0\nf" + b" 1" * 300_000, "a face of 300000 corners"),
    "json of ones": ("json", lambda: b"[" + b"1," * 5_500_000 + b"1]", "would take over"),
    "json of objects": ("json", lambda: b"[" + b"{}," * 1_000_000 + b"{}]", "would take over"),
    "ply of rags": ("ply", lambda: ragged_ply(1_200_000), "face 0 has 1 corners"),
    "stl of zeros": (
        "stl",
        lambda: bytes(80) + struct.pack("<I", 250_000) + bytes(50 * 250_000),
        "all 250000 faces have two corners at one place",
    ),
    "stl of one bad number": (
        "stl",
        lambda: bytes(80) + struct.pack("<I", 250_000) + bytes(50 * 250_000 - 6) + b"\0\0\xc0\x7f\0\0",
        "vertex 749999 is",
    ),
    "glb of primitives": ("glb", lambda: glb_of_primitives(25_000), "over 10000 nodes and primitives"),
    "stl of words": ("stl", lambda: b"solid a\nendsolid\n" * 700_000, "more than 50000 lines"),
    "glb of zeros": ("glb", glb_of_zeros, "3900000 items, nearly all of them 0"),
    "obj of one line": ("obj", lambda: b"v " + b"1" * 16_000_000, ":1: a line of over 1000000 bytes"),
    "dae of one text": ("dae", lambda: b"<COLLADA>" + b"x" * 4_000_000 + b"</COLLADA>", "there are no faces"),
    "off of lines": ("off", lambda: b"OFF\n2000000 1 0\n" + b"0 0 0\n" * 1_999_999 + b"x", "'x'|1 numbers"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_within_bounds(name, tmp_path):
    suffix, content, words = ATTACKS[name]
    path = tmp_path / f"attack.{suffix}"
    path.write_bytes(content())

    def read() -> None:
        with pytest.raises(FormatError, match=words):
            lw.load(path)

    path_of_nothing = tmp_path / f"nothing.{suffix}"
    path_of_nothing.write_bytes(b"")
    with pytest.raises(FormatError):
        lw.load(path_of_nothing)  # loops are compiled, modules imported
    read()
    began = time.process_time()
    used = peak_memory(read)
    assert time.process_time() - began < 2.0
    assert used < 32 * MEGABYTE + 3.5 * path.stat().st_size


def test_a_large_file_may_be_allowed(tmp_path, monkeypatch):
    path = tmp_path / "part.stl"
    lines = [*("0 0 0", "0 1 0", "1 0 0"), *("0 0 0", "1 0 0", "0 0 1"), *("0 0 0", "0 0 1", "0 1 0")]
    lines += ["1 0 0", "0 1 0", "0 0 1"]
    text = "solid a\n"
    for k in range(0, 12, 3):
        corners = "".join(f"vertex {line}\n" for line in lines[k : k + 3])
        text += f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n"
    path.write_text(text + "endsolid a\n")
    monkeypatch.setattr("linkwork.formats.mesh_file.MAX_BYTES", 300)
    with pytest.raises(FormatError, match=r"bytes; allowed are 300, or more by largest="):
        lw.load(path)
    assert lw.load(path, largest=1e6).volume == pytest.approx(1 / 6)
    for wrong in (0, -1, float("nan"), "many"):
        with pytest.raises(ValueError, match="load: largest"):
            lw.load(path, largest=wrong)


def test_numbers_are_rounded_as_python_rounds_them(tmp_path):
    rng = np.random.default_rng(5)
    values = rng.normal(size=3000) * 10.0 ** rng.integers(-40, 14, 3000)
    texts = [repr(x) for x in values[:2000].tolist()] + [f"{x:.30e}" for x in values[2000:].tolist()]
    texts += [
        "0",
        "-0.0",
        "+1.",
        ".5",
        "1e-300",
        "900719925474099.3",
        "0.1000000000000000055511151231257827",
        "1E5",
    ]
    texts += ["5e-324", "123456789012345678901234567890e-25", "1"]
    texts += ["0"] * (-len(texts) % 3)
    lines = [f"v {' '.join(texts[k : k + 3])}" for k in range(0, len(texts), 3)]
    path = tmp_path / "numbers.obj"
    path.write_text("\n".join([*lines, "f 1 2 3"]))
    from linkwork.formats.mesh_obj import read

    found = read(path, path.read_bytes(), 10_000).vertices.ravel()
    np.testing.assert_array_equal(found, [float(text) for text in texts])
