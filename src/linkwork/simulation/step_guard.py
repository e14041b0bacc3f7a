"""One at a time: a simulation is stepped by one thread, and by no law that it calls."""

import threading

from linkwork.errors import SimulationError


def busy() -> SimulationError:
    return SimulationError(
        "the simulation is being stepped already, by another thread or by a law that it calls; "
        "one at a time: sim.copy() is one of its own"
    )


class Alone:
    """Hold a simulation for oneself, or say that another has it."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise busy()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
