"""Runs as tables: comma-separated curves over time, names and units in the first line."""

import csv
import io
from pathlib import Path
from typing import Any

from linkwork.atomic_files import write_atomically
from linkwork.errors import FormatError
from linkwork.recording.curve import in_degrees


def write_table(run: Any, path: str | Path, degrees: bool = False) -> None:
    """Write the curves of a run as a table, of a batch one below the other; angles in degrees if wanted."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    batch = run.recorded.ndim == 2
    for number, one in enumerate(run) if batch else [(0, run)]:
        traces = [in_degrees(trace) for trace in one.traces()] if degrees else one.traces()
        if not number:
            names = [f"{trace.label} [{trace.unit or '1'}]" for trace in traces]
            table.writerow([*(["run"] if batch else []), "time [s]", *names])
        columns = [one.time.tolist(), *(trace.values.tolist() for trace in traces)]
        for row in zip(*columns, strict=True):
            table.writerow([*([number] if batch else []), *map(repr, row)])
    write_atomically(path, [text.getvalue().encode()])


def check_suffix(path: str | Path, *suffixes: str) -> str:
    """Return the suffix of a file, or say which it may have: a name should not promise another format."""
    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        known = " or ".join(suffixes)
        raise FormatError(f"{path}: a run is written as {known}; give a name that ends in {known}")
    return suffix
