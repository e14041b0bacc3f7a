"""When the loop looks up: for the clock, the keyboard and the progress bar."""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from types import FrameType
from typing import Any, TypeVar

from linkwork.dynamics.load_code import raised

LOOK = 0.1  # between two looks [s]

Result = TypeVar("Result")


class Pace:
    """How many attempts the loop may make before it looks up: those of a tenth of a second."""

    def __init__(self, budget: int = 200) -> None:
        self.budget = budget
        self._begun = time.perf_counter()

    def start(self) -> None:
        self._begun = time.perf_counter()

    def took(self, attempts: int) -> None:
        now = time.perf_counter()
        spent = max(now - self._begun, 1e-4)
        if attempts >= self.budget or spent > 2 * LOOK:
            self.budget = int(min(max(attempts * LOOK / spent, 1), 10 * self.budget, 10**8))
        self._begun = now


class Keyboard:
    """Ctrl-C, put off: it ends a run between two steps; a law in the midst of one would be cut short.

    Pressed a second time it is not put off. Handlers of the user's own are left alone.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._before: Any = None

    def __enter__(self) -> "Keyboard":
        here = threading.current_thread() is threading.main_thread()
        if here and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            signal.default_int_handler(number, frame)
        self.pressed = True


def results(
    futures: Sequence["Future[Result]"],
    interrupt: Callable[[], None],
    look: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Return what threads have computed; meanwhile `look` now and then, and on Ctrl-C `interrupt` them."""
    try:
        while not all(future.done() for future in futures):
            wait(futures, timeout=LOOK)
            look()
    except KeyboardInterrupt:
        interrupt()
    return [future.result() for future in futures]


def raise_interrupts() -> None:
    """Raise what came up in a law called in this thread, if it is no error: Ctrl-C, or an exit."""
    error = getattr(raised, "error", (None,))[-1]
    if error is not None and not isinstance(error, Exception):
        raise error
