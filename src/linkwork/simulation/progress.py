"""A progress bar for what takes longer than half a second, on a terminal only."""

import multiprocessing
import sys
import threading
import time
from typing import Any

_PATIENCE = 0.5  # [s] what is shorter needs no bar


def _is_main() -> bool:
    """Return whether this is the main process, not a worker of one that shows a bar itself."""
    return threading.current_thread() is threading.main_thread() and multiprocessing.parent_process() is None


class Progress:
    """Show how much is done; without a terminal, or in a worker, it shows nothing.

    >>> with Progress("cart-pole") as progress:
    ...     progress.update(0.5)
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._due = time.monotonic() + _PATIENCE
        self._wanted = sys.stderr is not None and sys.stderr.isatty() and _is_main()
        self._bar: Any = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, fraction: float) -> None:
        """Say what part of the whole is done, from 0 to 1."""
        if not self._wanted or (self._bar is None and time.monotonic() < self._due):
            return
        if self._bar is None:
            self._bar = self._open()
        self._bar.update(max(0.0, min(1.0, fraction) - self._bar.n))

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _open(self) -> Any:
        from tqdm import tqdm

        layout = "{desc} {percentage:3.0f}% |{bar}| {elapsed}<{remaining}"
        return tqdm(total=1.0, desc=self._title, bar_format=layout, leave=False, file=sys.stderr)
