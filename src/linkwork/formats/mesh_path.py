"""Where the meshes of a robot are: one resolver, which never leaves the robot's own folders."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from linkwork.errors import FormatError
from linkwork.formats.markup import shorten
from linkwork.formats.mesh_file import load_mesh
from linkwork.geometry.hull import ConvexHull
from linkwork.geometry.mesh import Mesh
from linkwork.geometry.skin import MeshFile

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


def load_mesh_file(
    file: MeshFile, packages: Mapping[str, str | Path], *, repair: bool = False
) -> Mesh | ConvexHull:
    """Read the mesh that a description names, scaled and placed as it says, or its convex hull."""
    mesh = load_mesh(mesh_path(file, packages), repair=repair).scaled(file.scale)
    placed = replace(mesh, position=file.position, rotation=file.rotation)
    return placed.hull() if file.hull else placed


def in_packages(skin: Any, packages: Mapping[str, str | Path]) -> Any:
    """Return what a body is drawn with or touched by; a mesh of one of these packages is in its folder."""
    file = getattr(skin, "shape", skin)
    named = _SCHEME.fullmatch(file.filename) if isinstance(file, MeshFile) else None
    if not named or named[1] != "package":
        return skin
    package, _, rest = named[2].lstrip("/").partition("/")
    if package not in packages:
        return skin
    root = Path(packages[package]).resolve()
    path = _inside(f"mesh {shorten(file.filename)}", root, rest)
    there = replace(file, filename=path.relative_to(root).as_posix(), folder=str(root))
    return there if file is skin else replace(skin, shape=there)


def mesh_path(file: MeshFile, packages: Mapping[str, str | Path]) -> Path:
    """Return the path of a mesh, which is inside the folder that it may come from.

    A description's own folders are those up to the root of its package (where package.xml is), or to the one
    above it if there is none. `package://name/...` lies in the folder given for that package, or in one of
    its own folders that is called so or has one that is, or where ROS looks: ROS_PACKAGE_PATH,
    AMENT_PREFIX_PATH. Any other name is meant from the folder of the description, and stays in its own ones.
    """
    where = f"mesh {shorten(file.filename)}"
    if "\0" in file.filename or "\\" in file.filename:
        raise FormatError(f"{where}: backslashes and zeros are not allowed in a path; write it with /")
    named = _SCHEME.fullmatch(file.filename)
    if named and named[1] != "package":
        raise FormatError(f"{where}: {named[1]}:// is not allowed; give a path from the description's folder")
    if named:
        package, _, rest = named[2].lstrip("/").partition("/")  # as package:///arm/part.stl, too
        return _inside(where, _package(where, package, file.folder, packages), rest)
    if PurePosixPath(file.filename).is_absolute() or Path(file.filename).is_absolute():
        raise FormatError(f"{where}: an absolute path; give one from the description's folder")
    if file.folder is None:
        raise FormatError(f"{where}: of a description without folder; give MeshFile(folder=...)")
    folder = Path(file.folder).resolve()
    return _inside(where, _root(folder), os.path.relpath(folder, _root(folder)) + "/" + file.filename)


def _root(folder: Path) -> Path:
    for candidate in (folder, *folder.parents):
        if (candidate / "package.xml").is_file():
            return candidate
    return folder.parent


def _package(where: str, name: str, folder: str | None, packages: Mapping[str, str | Path]) -> Path:
    if name in packages:
        return Path(packages[name]).resolve()
    if not name or name in (".", ".."):
        raise FormatError(f"{where}: {name!r} is not a name of a package; write package://name/path")
    for candidate in _candidates(name, folder):
        if candidate.is_dir():
            return candidate.resolve()
    raise FormatError(
        f"{where}: package {name!r} is not among the folders of the description, nor where ROS looks; "
        f"give packages={{{name!r}: folder}}"
    )


def _candidates(name: str, folder: str | None) -> Iterator[Path]:
    if folder is not None:
        here = Path(folder).resolve()
        root = _root(here)
        for own in (here, *(above for above in here.parents if above.is_relative_to(root))):
            if own.name == name:
                yield own
            if (own / name).resolve().is_relative_to(root):
                yield own / name
    for entry in _entries("ROS_PACKAGE_PATH"):
        yield entry if entry.name == name else entry / name
    for entry in _entries("AMENT_PREFIX_PATH"):
        yield entry / "share" / name


def _entries(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def _inside(where: str, root: Path, rest: str) -> Path:
    """Return a path below a root, links followed."""
    path = Path(os.path.realpath(root / rest))
    if not path.is_relative_to(os.path.realpath(root)):
        raise FormatError(f"{where}: leads out of {root}; keep meshes inside the robot's folder")
    return path
