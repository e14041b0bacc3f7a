"""The memory that one piece of work takes at its peak: not that of all that this process did before."""

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _status(name: str) -> int:
    (line,) = [line for line in _STATUS.read_text().splitlines() if line.startswith(f"{name}:")]
    return int(line.split()[1]) * 1024


def resident() -> int:
    """Return the memory in use, free memory handed back to the system [bytes]; Linux only."""
    if not _STATUS.exists():
        pytest.skip("only Linux says how much memory a process has")
    ctypes.CDLL(None).malloc_trim(0)
    return _status("VmRSS")


def peak_memory(work: Callable[[], object]) -> int:
    """Run something, and return by how much memory in use grew at most meanwhile [bytes]; Linux only.

    Free memory is handed back to the system before, so that work which takes it again is seen, and the
    system's peak is reset.
    """
    if not _RESET.exists():
        pytest.skip("only Linux can reset the peak of a process")
    ctypes.CDLL(None).malloc_trim(0)
    _RESET.write_text("5")  # proc(5): resets VmHWM
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before
