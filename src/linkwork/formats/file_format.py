"""What a file format is, and the formats that are known by their suffixes.

A format of one's own is one object:

    lw.add_format(lw.FileFormat(suffix=".txt", holds="mechanism", read=read_text, write=write_text))

`lw.load`, `Mechanism.save` and `linkwork convert` know it from then on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from linkwork.errors import FormatError
from linkwork.formats.openings import advice
from linkwork.real_numbers import is_finite
from linkwork.spelling import Spelled, checked_keywords, require

Base = Literal["fixed", "free"]
Held = Literal["mechanism", "run", "scene", "mesh"]

# The formats of this package, by the modules that have them as FORMAT; imported when one is asked for.
_HERE = {
    ".json": "mechanism_json",
    ".urdf": "urdf",
    ".mjcf": "mjcf",
    ".sdf": "sdf",
    ".xml": "xml_robot",
    ".stl": "mesh_stl",
    ".obj": "mesh_obj",
    ".ply": "mesh_ply",
    ".off": "mesh_off",
    ".glb": "mesh_glb",
    ".dae": "mesh_dae",
}
_ORDER = ("mechanism", "run", "scene", "mesh")


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; see `linkwork.load`."""

    base: Base = "fixed"
    repair: bool = False
    scale: float = 1.0
    largest: int | None = None  # bytes; None: the limit of the format
    unphysical: bool = False

    @classmethod
    def checked(
        cls,
        path: Path,
        format: "FileFormat",
        base: Any,
        repair: Any,
        scale: Any,
        largest: Any = None,
        unphysical: Any = False,
    ) -> "Reading":
        """Return how to read a file; what its format does not follow is refused, not ignored."""
        if not isinstance(base, str | None) or base not in (None, "fixed", "free"):
            raise ValueError(f'load: base {base!r}; give "fixed" or "free"')
        for word, value in (("repair", repair), ("unphysical", unphysical)):
            if not isinstance(value, bool):
                raise ValueError(f"load: {word} {value!r}; give True or False")
        if repair and unphysical:
            raise ValueError("load: repair=True changes what unphysical=True keeps; give one of them")
        if not (is_finite(scale) and scale != 0.0):
            raise ValueError(f"load: scale {scale!r}; give a finite number, not 0 (negative ones mirror)")
        if largest is not None and not (is_finite(largest) and largest >= 1):
            raise ValueError(f"load: largest {largest!r}; give the bytes that a file may have, as 1e9")
        given = {
            "base": (base, base is not None),
            "repair": (repair, repair),
            "scale": (scale, scale != 1.0),
            "largest": (largest, largest is not None),
            "unphysical": (unphysical, unphysical),
        }
        for word, (value, is_given) in given.items():
            if is_given and word not in format.takes:
                raise ValueError(f"load: {word} {value!r} has no meaning for {path.name!r}; leave it out")
        most = None if largest is None else int(largest)
        return cls(base or "fixed", repair, float(scale), most, unphysical)


@dataclass(frozen=True, kw_only=True)
class FileFormat(metaclass=Spelled):
    """A file format: its suffix, what it holds, how it is read and written; either may be missing."""

    suffix: str
    holds: Held
    read: Callable[[Path, Reading], Any] | None = None
    takes: tuple[str, ...] = ("base", "repair", "scale", "largest", "unphysical")  # that `read` follows
    write: Callable[[Any, Path], None] | None = None

    def __post_init__(self) -> None:
        known = isinstance(self.suffix, str) and self.suffix.startswith(".")
        if not known or self.suffix != self.suffix.lower():
            raise ValueError(f"suffix {self.suffix!r}; give one in lower case that begins with a dot")
        for word in ("read", "write"):
            if (function := getattr(self, word)) is not None and not callable(function):
                raise TypeError(f"format {self.suffix}: {word} {function!r} is not a function; give one")
        if self.holds not in _ORDER:
            raise ValueError(f"holds {self.holds!r}; give one of {', '.join(map(repr, _ORDER))}")
        if self.read is None and self.write is None:
            raise ValueError(f"format {self.suffix}: give read=, write=, or both")


_added: dict[str, FileFormat] = {}


@checked_keywords
def add_format(added: FileFormat) -> None:
    """Let files of a format be read and written by their suffix; each suffix has one format."""
    require("add_format: added", added, FileFormat, "an lw.FileFormat(...)")
    if added.suffix in _HERE or _added.get(added.suffix, added) != added:
        raise ValueError(f"format {added.suffix}: there is one of this suffix already; give another")
    _added[added.suffix] = added


def known_formats() -> dict[str, FileFormat]:
    """Return all formats by their suffixes: those of mechanisms first."""
    found = [_format(suffix) for suffix in _HERE] + list(_added.values())
    return {each.suffix: each for each in sorted(found, key=lambda each: _ORDER.index(each.holds))}


def reader(path: Path, holds: Held | None = None) -> FileFormat:
    """Return the format by which a file can be read; FormatError lists what can be."""
    suffix = path.suffix.lower()
    if suffix in _HERE or suffix in _added:
        known = _format(suffix)
        if known.read is not None and holds in (None, known.holds):
            return known
    readable = [s for s, f in known_formats().items() if f.read is not None and holds in (None, f.holds)]
    what = repr(path.suffix) if path.suffix else "a file without suffix"
    raise FormatError(f"{path}: cannot read {what}; available are {', '.join(readable)}{advice(path)}")


def writer(path: Path, holds: Held) -> FileFormat:
    """Return the format by which something can be written to a file; FormatError lists what can be."""
    writable = {s: f for s, f in known_formats().items() if f.write is not None and f.holds == holds}
    if path.suffix.lower() not in writable:
        given = " or ".join(writable) or "nothing"
        raise FormatError(f"{path}: a {holds} is written as {given}; give a name that ends in {given}")
    return writable[path.suffix.lower()]


def _format(suffix: str) -> FileFormat:
    if suffix in _added:
        return _added[suffix]
    return import_module(f"linkwork.formats.{_HERE[suffix]}").FORMAT
