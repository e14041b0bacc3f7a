"""Any file that Linkwork knows, by its suffix."""

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from linkwork.errors import FormatError
from linkwork.formats.file_format import Base, FileFormat, Held, Reading, add_format, reader
from linkwork.formats.openings import advice
from linkwork.geometry.mesh import Mesh
from linkwork.geometry.skin import MeshFile, hulled
from linkwork.mechanism.mechanism import Mechanism
from linkwork.spelling import checked_keywords, require


@checked_keywords
def load(
    path: str | PathLike[str] | MeshFile,
    base: Base | None = None,
    *,
    repair: bool = False,
    unphysical: bool = False,
    scale: float = 1.0,
    largest: float | None = None,
    packages: Mapping[str, str | Path] | None = None,
    hulls: bool = False,
) -> Any:
    """Read a file: a mechanism from `.json .urdf .sdf .mjcf .xml` (see `formats.load`), a recording from
    `.lwr`, a scene from `.lws`, a mesh from `.stl .obj .ply .off .glb .dae`, or the mesh that a robot is
    drawn with, `load(visual.shape)`.

    `base` says whether the root of a robot is "fixed" to ground (if not given) or "free"; `repair=True`
    replaces inertia tensors that no real body has, and warns which, or repairs a mesh (see `repairs`);
    `unphysical=True` keeps tensors whose largest moment exceeds the sum of the others, as other programs do.
    `scale` turns the unit of a mesh into metres, as 1e-3 for millimetres; `packages` says where `package://`
    names of meshes are. With `hulls=True` bodies of a mechanism touch by the convex hulls of their meshes, as
    they do in MuJoCo and Bullet: much faster, but without hollows. `largest` are the bytes that a file may
    have, where that is more than usual: memory and time grow with it. What a file does not need is refused.
    """
    if isinstance(path, MeshFile):
        from linkwork.formats.mesh_path import load_mesh_file

        if base is not None or scale != 1.0 or hulls:
            raise ValueError(
                f"load: base {base!r}, scale {scale!r} and hulls {hulls!r} have no meaning for {path!r}"
            )
        return load_mesh_file(path, packages or {}, repair=repair)
    if not isinstance(path, str | PathLike):
        raise TypeError(f"load: {path!r} is of type {type(path).__name__}; give the name of a file")
    if "\0" in str(path):
        raise ValueError(f"load: {str(path)!r} has a zero in it; give the name of a file")
    if "://" in str(path):
        raise FormatError(
            f"{str(path)[:200]!r}: an address, not a file; give the path of a file on this machine"
        )
    file, known = Path(path), reader(Path(path))
    assert known.read is not None
    reading = Reading.checked(file, known, base, repair, scale, largest, unphysical)
    if known.holds != "mechanism" and (packages is not None or hulls):
        raise ValueError(
            f"load: packages {packages!r}, hulls {hulls!r} have no meaning for {file.name!r}; leave them out"
        )
    require("load: hulls", hulls, bool, "True or False")
    for name, folder in _named_folders(packages):
        require(f"load: packages: {name!r}", folder, str | PathLike, "the folder of that package")
    try:
        thing = known.read(file, reading)
    except FormatError as problem:
        if remedy := advice(file):
            raise FormatError(f"{problem}{remedy}") from None
        raise
    if packages or hulls:
        _place_meshes(thing, packages or {}, hulls)
    return thing


def _named_folders(packages: Any) -> Iterable[tuple[str, Any]]:
    require("load: packages", packages, Mapping | None, "a folder by name: {'arm': folder}")
    return (packages or {}).items()


def _place_meshes(mechanism: Mechanism, packages: Mapping[str, str | Path], hulls: bool) -> None:
    """Say where the meshes of a mechanism are, and whether bodies touch by their hulls."""
    from linkwork.formats.mesh_path import in_packages

    for body in (mechanism.ground, *mechanism.bodies.values()):
        if packages:
            body.visuals = [in_packages(skin, packages) for skin in body.visuals]
            body.collisions = [in_packages(skin, packages) for skin in body.collisions]
        if hulls and body.touched_by:
            body.collisions = hulled(body.touched_by)


def held(thing: Any) -> Held:
    """Return what a file with this would hold."""
    return "mechanism" if isinstance(thing, Mechanism) else "mesh" if isinstance(thing, Mesh) else "run"


def _load_recording(path: Path, reading: Reading) -> Any:
    from linkwork.recording.load_recording import load_recording

    return load_recording(path)


def _load_scene(path: Path, reading: Reading) -> Any:
    from linkwork.scene.scene_file import load as load_scene

    return load_scene(path)


def _save_recording(run: Any, path: Path) -> None:
    run.save(path)


add_format(FileFormat(suffix=".lwr", holds="run", read=_load_recording, write=_save_recording, takes=()))
add_format(FileFormat(suffix=".lws", holds="scene", read=_load_scene, write=_save_recording, takes=()))
add_format(FileFormat(suffix=".csv", holds="run", write=_save_recording))
