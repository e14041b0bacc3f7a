"""A run kept on disk while it goes on, so that the same call can go on after a crash."""

import hashlib
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linkwork.errors import FormatError
from linkwork.model.state import State
from linkwork.recording import array_file
from linkwork.recording.report import event_of, plain_event
from linkwork.simulation.loop.records import MEMO
from linkwork.simulation.options import positive
from linkwork.simulation.run_settings import RunSettings
from linkwork.spelling import Spelled, fixed

Array = np.ndarray


@dataclass(frozen=True)
class Kept:
    """What a checkpoint holds."""

    memory: dict[str, Array]
    rows: Array  # samples so far: t, q, v, work
    events: list[tuple[float, str]]


@fixed("make another lw.Checkpoint")
@dataclass(frozen=True)
class Checkpoint(metaclass=Spelled):
    """A file in which `simulate` keeps a run while it goes on, and how often it is written.

    The same call with the same file goes on from there after a crash.

    >>> Checkpoint("night.lwc", every=10.0)
    Checkpoint(file='night.lwc', every=10.0)
    """

    file: str | Path
    every: float = 60.0  # [s] of the clock on the wall

    def __post_init__(self) -> None:
        if not isinstance(self.file, str | Path):
            raise ValueError(f"checkpoint {self.file!r}; give the name of a file")
        if Path(self.file).is_dir():
            raise ValueError(f"checkpoint {str(self.file)!r} is a folder; give the name of a file")
        positive("checkpoint: every", self.every)


class CheckpointFile:
    """A file that is replaced, all or nothing, every `interval` seconds; it belongs to one run alone."""

    def __init__(self, asked: Checkpoint, run: str):
        self._path, self._interval, self._run = Path(asked.file), float(asked.every), run
        self.put_off()

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() >= self._due

    def put_off(self) -> None:
        """Let an interval pass before it is time again."""
        self._due = time.monotonic() + self._interval

    def read(self) -> Kept | None:
        """Return what was kept of this run, None if there is no file; FormatError if it is another's."""
        if not self._path.exists():
            return None
        header, arrays = array_file.read(self._path)
        if header.get("kind") != "checkpoint" or header.get("run") != self._run:
            raise FormatError(
                f"{self._path}: belongs to another run (model, start, options or samples differ); "
                "delete it, or give another name"
            )
        memory = {
            name.partition("/")[2]: array for name, array in arrays.items() if name.startswith("memory/")
        }
        try:
            kept = Kept(memory, arrays["rows"], list(map(event_of, header["events"])))
        except (KeyError, TypeError, ValueError) as error:
            raise self.damaged(f"{type(error).__name__}: {error}") from None
        if problem := _disorder(kept):
            raise self.damaged(problem)
        return kept

    def damaged(self, problem: str) -> FormatError:
        """Return the error that says that what is in the file, whatever its checksum, is not of a run."""
        return FormatError(f"{self._path}: is no complete checkpoint: {problem}; delete it, and begin again")

    def check(self, kept: Kept, fresh: Mapping[str, Array], fixed: Collection[str] = ()) -> None:
        """Refuse a memory that has not the arrays of a run that begins; `fixed` ones do not grow."""
        for name in sorted({*fresh, *kept.memory}):
            found, wanted = kept.memory.get(name), fresh.get(name)
            if found is None or wanted is None:
                raise self.damaged(f"array {name!r} is {'missing' if found is None else 'unknown'}")
            alike = found.ndim == wanted.ndim or not wanted.size
            if found.dtype != wanted.dtype or not (found.shape == wanted.shape if name in fixed else alike):
                raise self.damaged(
                    f"array {name!r} is {found.dtype} of {found.shape}, not {wanted.dtype} of {wanted.shape}"
                )

    @contextmanager
    def recalling(self) -> Iterator[None]:
        """Say of whatever does not fit while a run is made of the file that this is damaged."""
        try:
            yield
        except FormatError:
            raise
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise self.damaged(f"{type(error).__name__}: {error}") from None

    def open(self, memory: Mapping[str, Array], rows: Array, events: Sequence[tuple[float, str]]) -> None:
        """Write for the first time; a run that could not be kept does not begin."""
        try:
            self.write(memory, rows, events)
        except OSError as error:
            words = f"the checkpoint cannot be written: {error.strerror}"
            raise OSError(error.errno, words, str(self._path)) from None

    def write(self, memory: Mapping[str, Array], rows: Array, events: Sequence[tuple[float, str]]) -> None:
        """Replace the file; OSError if that cannot be, with the old one as it was."""
        header = {"kind": "checkpoint", "run": self._run, "events": list(map(plain_event, events))}
        arrays = {f"memory/{name}": array for name, array in memory.items()}
        array_file.write(self._path, header, arrays | {"rows": rows})
        self.put_off()


def _disorder(kept: Kept) -> str:
    """Say what of samples and events cannot be: all times are numbers, and those of samples rise."""
    rows = kept.rows
    if rows.ndim != 2 or rows.shape[1] < 1 or rows.dtype != np.float64:
        return f"samples of shape {rows.shape}"
    if not np.isfinite(rows).all():
        return "a sample is not finite"
    if (np.diff(rows[:, 0]) < 0.0).any():
        return "the times of its samples do not rise"
    if not np.isfinite([time for time, _ in kept.events]).all():
        return "the time of an event is not finite"
    return _unlikely(kept.memory)


def _unlikely(memory: Mapping[str, Array]) -> str:
    """Say which number that stands for a place, in arrays of the run, is none, or beyond them."""
    memo = memory.get("memo")
    if memo is None or memo.dtype != np.float64 or memo.size != len(MEMO.names or ()):
        return ""  # `check` says what is wrong with its shape
    known = dict(zip(MEMO.names or (), memo.ravel().tolist(), strict=True))
    events, numbers = (memory[name].size if name in memory else 0 for name in ("side", "y"))
    bounds = {"event": (0, events), "acted": (-events, events), "worst": (-1, numbers - 1)}
    bounds |= dict.fromkeys(("index", "sample", "accepted", "rejected", "status"), (0, 2**53))
    for name, (low, high) in bounds.items():
        if not (low <= known[name] <= high and known[name] == int(known[name])):
            return f"{name} is {known[name]:g}; allowed are whole numbers from {low} to {high}"
    return ""


def run_identity(shared: RunSettings, start: State, span: float, wanted: Array) -> str:
    """Return a digest of all that shapes a run and its samples."""
    arrays = {"key": shared.key, "times": wanted, "q": start.q, "v": start.v}
    arrays |= {f"memory/{name}": array for name, array in sorted((start.memory or {}).items())}
    about = [start.t, span, *((name, array.tobytes()) for name, array in arrays.items())]
    about += [sorted(start.inputs.items())] if start.inputs else []
    return hashlib.sha256(repr(about).encode()).hexdigest()
