"""What a page hears of the journal of a mechanism, so that it shows the mechanism as it is edited.

Data flows one way: the page reads the mechanism, and never changes it. Whoever edits does so in a thread of
his own, and is not notified; the page reads in its own thread, when no change has come for a moment, and what
it has made of a mechanism that changed meanwhile is thrown away, errors included, and made again.
"""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from linkwork.mechanism.journal import Change
from linkwork.mechanism.mechanism import Mechanism

Made = TypeVar("Made")

_QUIET = 0.05  # without a change, before the page looks again [s]


class Edits:
    """Changes of a mechanism that a page has not shown yet."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism, self._count, self._shown, self._last = mechanism, 0, 0, 0.0
        self._lock = threading.Lock()  # several threads may edit
        self.stop = mechanism.observe(self._heard)

    def _heard(self, change: Change) -> None:
        with self._lock:
            self._count += 1
            self._last = time.perf_counter()

    @property
    def due(self) -> bool:
        """Whether there is something to show, and no edit is in progress."""
        return self._count != self._shown and time.perf_counter() - self._last > _QUIET

    def look(self, make: Callable[[Mechanism], Made]) -> Made | None:
        """Return what can be made of the mechanism as it is now; None if it has changed meanwhile."""
        count = self._count
        try:
            made = make(self._mechanism)
        except Exception:  # of a mechanism that is half changed, anything
            if self._count != count:
                return None
            self._shown = count
            raise
        if self._count != count:
            return None
        self._shown = count
        return made
