"""Parts from files and from pages: meshes become bodies; sizes that look like millimetres are scaled."""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import FormatError
from linkwork.files import load
from linkwork.geometry import Mesh
from linkwork.mechanism.mechanism import Mechanism

LARGEST = 64 << 20  # bytes of a part that a page may send
MESHES = (".stl", ".obj", ".ply", ".off", ".glb")
_WHOLE = (".json", ".urdf", ".xml")  # files of mechanisms that a page may send
_LARGE = 2.0  # a part of more metres than this was drawn in millimetres, if its file has no unit


def read_part(path: Path, scale: float | None = None) -> Mesh | Mechanism:
    """Read a mesh, or a mechanism; a mesh without `scale` is taken in metres, or in millimetres if large."""
    suffix = path.suffix.lower()
    if suffix not in MESHES:
        thing = load(path)
        if not isinstance(thing, Mechanism):
            raise FormatError(f"{path.name}: a part is a mesh ({', '.join(MESHES)}), or a mechanism")
        return thing
    mesh = load(path, scale=1.0 if scale is None else scale)
    if scale is None and suffix != ".glb" and extent(mesh) > _LARGE:
        mesh = mesh.scaled(1e-3)
    return mesh


def read_sent(name: str, content: bytes, scale: float | None = None) -> Mesh | Mechanism:
    """Read what a page has sent under a name: its last part alone is looked at, and nothing is kept."""
    if len(content) > LARGEST:
        raise FormatError(f"{len(content)} bytes; a part may have {LARGEST}")
    safe = stem_of(name) + Path(name.replace("\\", "/")).suffix.lower()[:8]
    if Path(safe).suffix not in (*MESHES, *_WHOLE):
        raise FormatError(f"{safe!r} is no part; send one of {', '.join((*MESHES, *_WHOLE))}")
    with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
        path = Path(folder, "sent", safe)  # a description may refer to what is beside its folder: nothing is
        path.parent.mkdir()
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        return read_part(path, scale)


def stem_of(name: str) -> str:
    """Return the name of a part: that of its file without folders and suffix, in letters that names have."""
    stem = Path(name.replace("\\", "/").replace("\0", "")).stem
    kept = "".join(sign if sign.isalnum() or sign in " _-." else " " for sign in stem).strip(" .")
    return " ".join(kept.split())[:60] or "part"


def extent(mesh: Any) -> float:
    """Return the largest extent of a mesh [m]."""
    return float(np.ptp(np.asarray(mesh.vertices), axis=0).max())
