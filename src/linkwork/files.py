"""Any file that Linkwork knows, by its suffix."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from linkwork.errors import FormatError
from linkwork.formats.file_format import Base, FileFormat, Held, Reading, add_format, reader
from linkwork.formats.openings import advice
from linkwork.geometry.mesh import Mesh
from linkwork.geometry.skin import MeshFile
from linkwork.mechanism.mechanism import Mechanism
from linkwork.spelling import checked_keywords


@checked_keywords
def load(
    path: str | PathLike[str] | MeshFile,
    base: Base | None = None,
    *,
    repair: bool = False,
    scale: float = 1.0,
    largest: float | None = None,
    packages: Mapping[str, str | Path] | None = None,
) -> Any:
    """Read a file: a mechanism from `.json .urdf .sdf .mjcf .xml` (see `formats.load`), a recording from
    `.lwr`, a scene from `.lws`, a mesh from `.stl .obj .ply .off .glb .dae`, or the mesh that a robot is
    drawn with, `load(visual.shape)`.

    `base` says whether the root of a robot is "fixed" to ground (if not given) or "free"; `repair=True`
    replaces inertia tensors that no real body has, and warns which, or repairs a mesh (see `repairs`).
    `scale` turns the unit of a mesh into metres, as 1e-3 for millimetres; `packages` says where `package://`
    names are. `largest` are the bytes that a file may have, where that is more than usual: memory and time
    grow with it. What a file does not need is refused.
    """
    if isinstance(path, MeshFile):
        from linkwork.formats.mesh_path import load_mesh_file

        if base is not None or scale != 1.0:
            raise ValueError(f"load: base {base!r} and scale {scale!r} have no meaning for {path!r}")
        return load_mesh_file(path, packages or {}, repair=repair)
    if not isinstance(path, str | PathLike):
        raise TypeError(f"load: {path!r} is a {type(path).__name__}; give the name of a file")
    if "\0" in str(path):
        raise ValueError(f"load: {str(path)!r} has a zero in it; give the name of a file")
    file, known = Path(path), reader(Path(path))
    assert known.read is not None
    reading = Reading.checked(file, known, base, repair, scale, largest)
    if packages is not None:
        raise ValueError(f"load: packages {packages!r} are for load(visual.shape); leave them out")
    try:
        return known.read(file, reading)
    except FormatError as problem:
        if remedy := advice(file):
            raise FormatError(f"{problem}{remedy}") from None
        raise


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
