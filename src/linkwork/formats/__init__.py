"""Files in and out. Untrusted input ends here: checked when it is returned, explained when it is refused."""

from pathlib import Path

from linkwork.formats.file_format import Base, Reading, reader, writer
from linkwork.mechanism.mechanism import Mechanism

__all__ = ["load", "save"]


def load(path: str | Path, base: Base | None = None, *, repair: bool = False) -> Mechanism:
    """Read a mechanism from a file: our own `.json`, a robot from `.urdf`, or an added format.

    The root of a robot is held by a joint named `base`: welded to ground, or free. Bodies have the names of
    their links, except that a name is one thing in a mechanism: a link named like a joint, or `base` or
    `ground`, becomes `..._link`. `repair=True` replaces inertia tensors that no real body has by the nearest
    that one can have, and warns which.
    """
    path = Path(path)
    known = reader(path, "mechanism")
    assert known.read is not None
    return known.read(path, Reading.checked(path, known, base, repair, 1.0))


def save(mechanism: Mechanism, path: str | Path) -> None:
    """Write a mechanism to a file, by the format of its suffix."""
    path = Path(path)
    write = writer(path, "mechanism").write
    assert write is not None
    write(mechanism, path)
