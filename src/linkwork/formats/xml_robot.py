"""A file that is only said to be XML: what its root says it is."""

from pathlib import Path

from linkwork.errors import FormatError
from linkwork.formats import mjcf, sdf, urdf
from linkwork.formats.file_format import FileFormat, Reading
from linkwork.formats.markup import MAX_NESTED, SHOWN, parse
from linkwork.mechanism.mechanism import Mechanism

_BY_ROOT = {"mujoco": mjcf.FORMAT, "robot": urdf.FORMAT, "sdf": sdf.FORMAT}


def _read(path: Path, reading: Reading) -> Mechanism:
    root = parse(path, deepest=MAX_NESTED)
    known = _BY_ROOT.get(root.tag)
    if known is None:
        raise FormatError(
            f"{path}:{root.line}: the root is <{root.tag[:SHOWN]}>; available are "
            + ", ".join(f"<{tag}>" for tag in _BY_ROOT)
        )
    checked = Reading.checked(
        path,
        known,
        None if reading.base == "fixed" else reading.base,
        reading.repair,
        reading.scale,
        reading.largest,
        reading.unphysical,
    )
    assert known.read is not None
    return known.read(path, checked)


FORMAT = FileFormat(
    suffix=".xml",
    holds="mechanism",
    read=_read,
    write=mjcf.FORMAT.write,
    takes=("base", "repair", "largest", "unphysical"),
)
