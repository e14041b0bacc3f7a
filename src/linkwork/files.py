"""Any file that Linkwork knows, by its suffix."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from linkwork import formats
from linkwork.geometry.skin import MeshFile


def load(
    path: str | Path | MeshFile,
    base: Literal["fixed", "free"] = "fixed",
    *,
    repair: bool = False,
    scale: float = 1.0,
    packages: Mapping[str, str | Path] | None = None,
) -> Any:
    """Read a file: a mechanism from `.json` or `.urdf` (see `formats.load`), a recording from `.lwr`, a mesh
    from `.stl .obj .ply .off .glb`, or the mesh that a robot is drawn with, `load(visual.shape)`.

    `base` says whether the root of a robot is welded to ground or free; `repair=True` replaces inertia
    tensors that no real body has, and warns which, or repairs a mesh (see `repairs`). `scale` turns
    the unit of a mesh into metres, as 1e-3 for millimetres; `packages` says where `package://` names are.
    """
    if isinstance(path, MeshFile):
        from linkwork.formats.mesh_path import load_mesh_file

        return load_mesh_file(path, packages or {}, repair=repair)
    if Path(path).suffix.lower() == ".lwr":
        from linkwork.recording.load_recording import load_recording

        return load_recording(path)
    if Path(path).suffix.lower() in formats.MESHES:
        from linkwork.formats.mesh_file import load_mesh

        return load_mesh(Path(path), scale=scale, repair=repair)
    return formats.load(path, base, repair=repair)
