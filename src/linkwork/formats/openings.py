"""What a file is, by how it begins: for a remedy where its suffix says another; nothing is read by it."""

import os
import stat
from pathlib import Path

_LOOKED_AT = 1000  # bytes
_FIRST = {b"ply": ".ply", b"glTF": ".glb", b"OFF": ".off", b"solid": ".stl", b"{": ".json", b"v ": ".obj"}
_ROOTS = {b"<robot": ".urdf", b"<sdf": ".sdf", b"<mujoco": ".xml", b"<COLLADA": ".dae"}
_SEVERAL = {".xml": (".urdf", ".sdf", ".xml"), ".mjcf": (".xml",)}  # suffixes that stand for others
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")

# What people have that is not read -> what to do with it.
_ELSEWHERE = {
    **dict.fromkeys((".gz", ".zip", ".bz2", ".xz"), "unpack it first"),
    **dict.fromkeys((".step", ".stp", ".iges", ".igs"), "save it as .stl from the program that drew it"),
    **dict.fromkeys(
        (".usd", ".usda", ".usdc", ".usdz", ".fbx", ".3ds", ".3mf", ".blend"), "save it as .glb or .obj"
    ),
    ".xacro": "turn it into .urdf first, by the program xacro",
    ".gltf": "save it as .glb, which has everything in one file",
}


def advice(path: Path) -> str:
    """Return what to do with a file that is not what its suffix says, or of a kind that is not read."""
    suffix = path.suffix.lower()
    if suffix in _ELSEWHERE:
        return f"; {_ELSEWHERE[suffix]}"
    start = _start(path)
    if start.startswith(_PACKED):
        return "; it is packed: unpack it first"
    at = {start.find(root): name for root, name in _ROOTS.items()} if start.startswith(b"<") else {}
    roots = [at[k] for k in sorted(at) if k >= 0]
    begins = [name for word, name in _FIRST.items() if start.startswith(word)]
    likely = next(iter([*roots, *begins]), suffix)
    return (
        ""
        if likely in (suffix, *_SEVERAL.get(suffix, ()))
        else f"; it begins like a {likely} file: name it so"
    )


def _start(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would block
            return b""
        with open(path, "rb") as file:
            start = file.read(_LOOKED_AT).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return b""
    while start.startswith(b"#"):  # comments
        start = start.partition(b"\n")[2].lstrip()
    return start
