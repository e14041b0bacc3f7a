"""The clock of a playback: play, pause, scrub, speed, loop, single steps. It knows nothing of pages."""

import threading
from collections.abc import Callable

import numpy as np

Array = np.ndarray


class Player:
    """A time that runs from the first to the last sample; thread-safe."""

    def __init__(self, times: Array) -> None:
        self._times = times
        self._lock = threading.Lock()
        self._t = float(times[0])
        self.playing = False
        self.speed = 1.0
        self.loop = True
        self.changed: Callable[[], None] = lambda: (
            None
        )  # called, outside the lock, when playing starts or stops

    @property
    def start(self) -> float:
        return float(self._times[0])

    @property
    def end(self) -> float:
        return float(self._times[-1])

    @property
    def t(self) -> float:
        return self._t

    def play(self) -> None:
        with self._lock:
            self.playing = self.end > self.start
            if self._t >= self.end:
                self._t = self.start
        self.changed()

    def pause(self) -> None:
        with self._lock:
            self.playing = False
        self.changed()

    def seek(self, t: float) -> None:
        with self._lock:
            self._t = float(np.clip(t, self.start, self.end))

    def step(self, count: int) -> None:
        """Pause, and go to a neighbouring sample."""
        with self._lock:
            self.playing = False
            side = "right" if count > 0 else "left"
            here = int(np.searchsorted(self._times, self._t, side=side))
            k = here - 1 + count if count > 0 else here + count
            self._t = float(self._times[np.clip(k, 0, len(self._times) - 1)])
        self.changed()

    def advance(self, seconds: float) -> None:
        """Let real time pass [s]."""
        with self._lock:
            if not self.playing:
                return
            t = self._t + seconds * self.speed
            if t > self.end:
                if self.loop:
                    t = self.start + (t - self.start) % (self.end - self.start)
                else:
                    t, self.playing = self.end, False
            self._t = t
            stopped = not self.playing
        if stopped:
            self.changed()
