"""Files in and out. Untrusted input ends here: checked when it is returned, explained when it is refused."""

from pathlib import Path
from typing import Literal

from linkwork.errors import FormatError
from linkwork.mechanism.mechanism import Mechanism

__all__ = ["load"]

MESHES = (".stl", ".obj", ".ply", ".off", ".glb")  # see `mesh.load_mesh`


def load(path: str | Path, base: Literal["fixed", "free"] = "fixed", *, repair: bool = False) -> Mechanism:
    """Read a mechanism from a file: our own `.json`, or a robot from `.urdf`.

    The root of a robot is held by a joint named `base`: welded to ground, or free. Bodies have the names of
    their links, except that a name is one thing in a mechanism: a link named like a joint, or `base` or
    `ground`, becomes `..._link`. `repair=True` replaces inertia tensors that no real body has by the nearest
    that one can have, and warns which.
    """
    path = Path(path)
    match path.suffix.lower():
        case ".json":
            from linkwork.formats.mechanism_json import load_mechanism

            return load_mechanism(path)
        case ".urdf":
            from linkwork.formats.urdf import load_urdf

            return load_urdf(path, base, repair=repair)
    what = repr(path.suffix) if path.suffix else "a file without suffix"
    raise FormatError(f"{path}: cannot read {what}; available are .json, .urdf, .lwr, {', '.join(MESHES)}")
