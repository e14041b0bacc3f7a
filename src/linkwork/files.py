"""Any file that Linkwork knows, by its suffix."""

from pathlib import Path
from typing import Any, Literal

from linkwork import formats


def load(path: str | Path, base: Literal["fixed", "free"] = "fixed", *, repair: bool = False) -> Any:
    """Read a file: a mechanism from `.json` or `.urdf` (see `formats.load`), a recording from `.lwr`.

    `base` says whether the root of a robot is welded to ground or free; `repair=True` replaces inertia
    tensors that no real body has, and warns which.
    """
    if Path(path).suffix.lower() == ".lwr":
        from linkwork.simulation.recording import load_recording

        return load_recording(path)
    return formats.load(path, base, repair=repair)
