"""Runs as tables: comma-separated curves over time, names and units in the first line."""

import csv
import io
from pathlib import Path
from typing import Any

from linkwork.atomic import write_atomically
from linkwork.errors import FormatError
from linkwork.recording.trace import in_degrees


def write_table(run: Any, path: str | Path, degrees: bool = False) -> None:
    """Write the curves of a run as a table; angles in degrees if wanted."""
    traces = [in_degrees(trace) for trace in run.traces()] if degrees else run.traces()
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["time [s]", *(f"{trace.label} [{trace.unit or '1'}]" for trace in traces)])
    for k, t in enumerate(run.time):
        table.writerow([repr(float(t)), *(repr(float(trace.values[k])) for trace in traces)])
    write_atomically(path, [text.getvalue().encode()])


def check_suffix(path: str | Path, *suffixes: str) -> str:
    """Return the suffix of a file, or say which it may have: a name should not promise another format."""
    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        known = " or ".join(suffixes)
        raise FormatError(f"{path}: a run is written as {known}; give a name that ends in {known}")
    return suffix
