"""Any file that Linkwork knows, by its suffix."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linkwork.formats.file_format import Base, FileFormat, Held, Reading, add_format, reader
from linkwork.geometry.mesh import Mesh
from linkwork.geometry.skin import MeshFile
from linkwork.mechanism.mechanism import Mechanism


def load(
    path: str | Path | MeshFile,
    base: Base = "fixed",
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
    read = reader(Path(path)).read
    assert read is not None
    return read(Path(path), Reading(base, repair, scale))


def held(thing: Any) -> Held:
    """Return what a file with this would hold."""
    return "mechanism" if isinstance(thing, Mechanism) else "mesh" if isinstance(thing, Mesh) else "run"


def _load_recording(path: Path, reading: Reading) -> Any:
    from linkwork.recording.load_recording import load_recording

    return load_recording(path)


def _save_recording(run: Any, path: Path) -> None:
    run.save(path)


def write_table(run: Any, path: Path) -> None:
    """Write the curves of a run as a table, names and units in its first line."""
    import csv
    import io

    from linkwork.atomic import write_atomically
    from linkwork.errors import LinkworkError
    from linkwork.recording.batch import Recordings

    if isinstance(run, Recordings):
        raise LinkworkError("a batch of runs is not a table; take one of them in Python: lw.load(...)[0]")
    traces = run.traces()
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["time [s]", *(f"{trace.label} [{trace.unit or '1'}]" for trace in traces)])
    for k, t in enumerate(run.time):
        table.writerow([repr(float(t)), *(repr(float(trace.values[k])) for trace in traces)])
    write_atomically(path, [text.getvalue().encode()])


add_format(FileFormat(suffix=".lwr", holds="run", read=_load_recording, write=_save_recording))
add_format(FileFormat(suffix=".csv", holds="run", write=write_table))
