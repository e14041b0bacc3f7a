"""A model as MuJoCo compiles it, in a process of its own: what goes wrong in there stays there.

MuJoCo's reader is a large program in C++, and small files can ask much of it: nested copies, attached models,
sizes of what is allocated. Their processor time and memory are bounded by the bytes of the model's files, or
by those that the user allows; a process that exceeds them, or dies, is a file that is refused.
"""

import json
import math
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from importlib.util import find_spec
from mmap import PAGESIZE
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import IO, Any

import numpy as np

from linkwork.errors import FormatError

_COMPILER = Path(__file__).with_name("mjcf_compiler.py")
_LOOK = 0.01  # seconds between looks at the memory of the process
_MEMORY = Path("/proc")  # where Linux says of processes what they use


@dataclass(frozen=True)
class Limits:
    """What compiling a model may use; measured: models of MuJoCo's users need at most half of it."""

    size: float  # bytes of the model: of its XML four times, of all that is named as often as it is named

    @property
    def seconds(self) -> float:
        """Processor time, not that of the start."""
        return 0.75 + 0.5e-6 * self.size

    @property
    def memory(self) -> float:
        """Memory of the process in all [bytes], 60 MB of which are Python, NumPy and MuJoCo."""
        return 200e6 + 20.0 * self.size


def compiled(path: Path, size: float) -> Any:
    """Return counts, arrays and words of a model by MuJoCo's names; `size` bounds what that may take."""
    if find_spec("mujoco") is None:
        raise FormatError(
            f"{path}: MuJoCo's own files are read with MuJoCo, which is not installed; pip install "
            f"'linkwork[mjcf]'"
        )
    if not sys.executable:
        raise FormatError(f"{path}: MuJoCo's files are read in a process of its own; start it from a Python")
    limits = Limits(size)
    asked = {
        "path": str(path.absolute()),
        "folder": str(path.absolute().parent),
        "sys_path": sys.path,
        "seconds": limits.seconds,
    }
    with TemporaryDirectory() as folder:  # MuJoCo writes a log where it runs
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_COMPILER), json.dumps(asked)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        try:
            data = _answer(path, process, limits)
        finally:
            process.kill()
            process.wait()
            assert process.stdout
            process.stdout.close()
    return _read(path, data)


def _answer(path: Path, process: subprocess.Popen[bytes], limits: Limits) -> bytes:
    """Return what the process writes before it ends within its limits."""
    parts: list[bytes] = []
    most, out = int(limits.memory), process.stdout
    assert out
    thread = threading.Thread(target=_listen, args=(out, most, parts), daemon=True)
    thread.start()
    end = time.monotonic() + 60.0 + 20.0 * limits.seconds  # by the clock: the machine may be busy
    while thread.is_alive():
        thread.join(_LOOK)
        if _resident(process.pid) > limits.memory:
            raise _refused(path, f"takes over {limits.memory / 1e6:.0f} MB of memory for it", limits)
        if time.monotonic() > end:
            raise _refused(path, f"has not read it after {end - time.monotonic():.0f} s", limits)
    status = process.wait()
    if hasattr(signal, "SIGPROF") and status == -signal.SIGPROF:
        raise _refused(path, f"takes over {limits.seconds:.2g} s of processor time for it", limits)
    if status != 0 or not parts:
        how = signal.Signals(-status).name if -status in set(signal.Signals) else f"exit code {status}"
        raise _crashed(path, how)
    if len(parts[0]) >= most:
        raise _refused(path, f"makes over {most / 1e6:.0f} MB of it", limits)
    return parts[0]


def _listen(out: IO[bytes], most: int, parts: list[bytes]) -> None:
    parts.append(out.read(most))


def _resident(pid: int) -> int:
    """Return the memory that a process has in use [bytes]; 0 where the system does not tell."""
    try:
        return int((_MEMORY / str(pid) / "statm").read_text().split()[1]) * PAGESIZE
    except (OSError, IndexError):
        return 0


def _refused(path: Path, problem: str, limits: Limits) -> FormatError:
    more = 10.0 ** math.ceil(math.log10(10.0 * limits.size + 1e6))
    return FormatError(
        f"{path}: MuJoCo {problem}, which is much for a model of {limits.size / 1e3:.3g} kB; make it smaller "
        f"(counts, copies, sizes), or allow as much as for a larger one by largest={more:.0e}"
    )


def _crashed(path: Path, how: str) -> FormatError:
    return FormatError(f"{path}: MuJoCo's reader crashed on it ({how}); give a file that MuJoCo can open")


def _read(path: Path, data: bytes) -> Any:
    head, _, rest = data.partition(b"\n")
    try:
        said = json.loads(head)
        model, at = SimpleNamespace(**said["words"]), 0
        for name, (kind, shape) in said["arrays"].items():
            count = math.prod(shape)
            array = np.frombuffer(rest, np.dtype(kind), count, at).reshape(shape)
            setattr(model, name, array)
            at += array.nbytes
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _crashed(path, "its answer is broken") from None
    if problem := getattr(model, "problem", ""):
        raise FormatError(f"{path}: MuJoCo cannot read it: {problem}; correct it there")
    return model
