"""What was edited is kept on disk at once, so that it is there again after a crash."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from linkwork.atomic_files import write_atomically
from linkwork.errors import LinkworkError

_PAUSE = 0.15  # between two savings [s]


def folder() -> Path:
    """Return where drafts are kept: a folder of this user alone."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base, "linkwork", "mechanic")


class Autosave:
    """A file that follows the edits, in a thread of its own; it is removed when all is saved elsewhere."""

    def __init__(self, path: Path, text: Callable[[], str]) -> None:
        self.path, self._text = path, text
        self.problem = ""  # why the last edit could not be kept
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._due, self._ended = threading.Event(), threading.Event()
        self._writing = threading.Lock()
        self._asked = self._kept = 0  # edits that are to be kept, and that are
        self._thread = threading.Thread(target=self._loop, name="linkwork autosave", daemon=True)
        self._thread.start()

    def changed(self) -> None:
        """Keep the mechanism as it is now, soon."""
        self._asked += 1
        self._due.set()

    def settle(self) -> None:
        """Keep now what is still to be kept: whoever edits next can lose his own edit, but no other."""
        if self._kept < self._asked:
            self.flush()

    def flush(self) -> None:
        """Keep the mechanism as it is now, at once."""
        self._due.clear()
        asked = self._asked
        try:
            text = self._text().encode("utf-8")
            with self._writing:
                if asked >= self._kept:  # unless somebody was quicker, with a later edit
                    write_atomically(self.path, [text])
            self.problem = ""
        except (LinkworkError, OSError, ValueError) as error:
            self.problem = str(error)
        self._kept = max(self._kept, asked)

    def close(self, *, keep: bool = False) -> None:
        """End; the file goes, unless it is to be kept."""
        self._ended.set()
        self._due.set()
        self._thread.join(timeout=5.0)
        if keep:
            self.flush()
        else:
            self.path.unlink(missing_ok=True)

    def _loop(self) -> None:
        while self._due.wait() and not self._ended.is_set():
            self.flush()
            time.sleep(_PAUSE)


def drafts(where: Path | None = None) -> list[Path]:
    """Return the drafts that were left by sessions that ended without saving, the newest first."""
    found = [path for path in (where or folder()).glob("*.json") if not _alive(path)]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def draft_path(where: Path | None = None) -> Path:
    """Return the file of this session: its process is in the name."""
    return (where or folder()) / f"draft-{os.getpid()}-{time.time_ns()}.json"


def _alive(path: Path) -> bool:
    """Return whether the session that a draft is of still runs."""
    number = path.stem.split("-")[1] if path.stem.count("-") == 2 else ""
    if not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
