"""A scene in real time: frames at a steady rate; where that cannot be kept up, time slows down."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.errors import warn
from linkwork.spelling import Answering

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

_SLOW = 1.05  # times as long as meant: worth a word


@dataclass(frozen=True)
class RealTime(Answering):
    """How a run in real time went; what moved is in `scene.recording`."""

    frames: int
    seconds: float  # of the scene
    wall_time: float  # that passed [s]
    late: int  # frames that took longer than their budget
    longest: float  # frame [s]

    @property
    def slowdown(self) -> float:
        """How much slower than real time it was; 1 if it kept up."""
        return max(self.wall_time / self.seconds, 1.0) if self.seconds else 1.0


def run(
    scene: "Scene",
    duration: float,
    *,
    fps: float = 60.0,
    budget: float | None = None,
    until: Callable[["Scene"], Any] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], Any] = time.sleep,
) -> RealTime:
    """Go on in real time for a duration of the scene [s], frame by frame; return how it went.

    Each frame is one step of 1 / fps seconds. A frame that takes longer than its `budget` (1 / fps if not
    given) [s] delays those that follow: no steps are left out, none are made up for later, time just passes
    more slowly. A warning says by how much, and so does `scene.slowdown`. With `until`, a function of the
    scene, it ends when that is true. Meanwhile Python looks for garbage only among what is made on the way.
    """
    for word, value in (("duration", duration), ("fps", fps), ("budget", 1.0 if budget is None else budget)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < 1e9:
            raise ValueError(f"run: {word} {value!r}; give a number above 0")
    if until is not None and not callable(until):
        raise TypeError(f"run: until {until!r:.80}; give a function of the scene, which says whether to end")
    dt = 1.0 / fps
    room = dt if budget is None else budget
    frames, late, longest = 0, 0, 0.0
    with _garbage_of_before_kept():
        begun = due = clock()
        for _ in range(max(round(duration * fps), 1)):
            start = clock()
            scene.step(dt)
            spent = clock() - start
            frames, late, longest = frames + 1, late + (spent > room), max(longest, spent)
            scene.slowdown = max(spent / dt, 1.0)
            due = max(due + dt, start + spent)  # never hurries after a frame that was late
            if until is not None and until(scene):
                break
            if (left := due - clock()) > 0.0:
                sleep(left)
        found = RealTime(frames, frames * dt, clock() - begun, late, longest)
    scene.slowdown = found.slowdown
    if found.slowdown > _SLOW:
        why = (
            f"the longest frame took {1e3 * longest:.1f} ms; cull what is far away, or let bodies sleep"
            if late
            else "no frame took longer than it may, but frames began late: others keep this machine busy"
        )
        warn(f"scene: it cannot keep up with real time: {found.slowdown:.2f} times slower; {why}")
    return found


@contextmanager
def _garbage_of_before_kept() -> Iterator[None]:
    """Let Python look for garbage only among what is made meanwhile: to look through all takes frames."""
    if gc.get_freeze_count():  # somebody else has decided
        yield
        return
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
