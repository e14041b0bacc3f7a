"""Mechanisms that go on together in pieces: to a time, looked at there, and on; in parts for the threads."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from linkwork.model.state import State
from linkwork.native import store
from linkwork.recording.status import Status
from linkwork.simulation import resume
from linkwork.simulation.controllers import Controllers
from linkwork.simulation.failure import Failure
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.loop.lockstep import advance
from linkwork.simulation.loop.pieces import count_unfinished, open_piece
from linkwork.simulation.marching import NEVER, Marching
from linkwork.simulation.polling import Keyboard
from linkwork.simulation.run_settings import RunSettings

Array = np.ndarray

_AT_ONCE = 1000  # attempts before anybody looks at the keyboard
_THREADED = 2**14  # numbers of states for a thread: fewer are done before another thread has woken up
_REMEMBERED = ("y", "y_final", "side", "band", "span", "weakest")  # beside `memo` and inputs


class SideBySide:
    """N mechanisms from states y (N, n) at time t, with inputs (N, nu); one that is `alone` needs no lanes.

    They are at their ends (`y_final`) when a piece is over. One that an event has stopped, or that failed,
    stays there until it begins anew.
    """

    def __init__(
        self,
        setting: RunSettings,
        y: Array,
        t: float,
        inputs: Array,
        watch: LawWatch,
        threads: int,
        alone: bool,
        times: Array = NEVER,
    ) -> None:
        self._setting, self._keyboard, self.watch = setting, Keyboard(), watch
        count = len(y)
        workers = max(1, min(threads, y.size // _THREADED, -(-count // store.lanes())))
        self._edges = list(pairwise(np.linspace(0, count, workers + 1).astype(int).tolist()))
        self.parts = [
            Marching(setting, y[a:b], t, inputs[a:b], self._keyboard, watch, alone=alone, times=times)
            for a, b in self._edges
        ]
        # (N, nu), to be written to; where there are several parts, theirs follow when they are handed over
        self.inputs = self.parts[0].work.memory.inputs if workers == 1 else inputs.copy()
        self._held = [inputs[a:b].copy() for a, b in self._edges]  # by the pieces so far
        self._ends = [np.empty((b - a, 1 + y.shape[1])) for a, b in self._edges]  # of the piece before: t, y
        self._addresses = [part.work.address(part.problem) for part in self.parts]
        self._quick = not setting.system.python_laws
        self._pool: ThreadPoolExecutor | None = None
        self._fallen = [np.zeros(b - a, bool) for a, b in self._edges]  # mechanisms that stay where they are,
        self._ended = [0] * workers  # and how many these are
        self.begin(np.arange(count), y, t, inputs)

    def begin(self, which: Array, y: Array, t: float, inputs: Array) -> None:
        """Begin anew with some mechanisms, by number."""
        for (a, b), part, held in zip(self._edges, self.parts, self._held, strict=True):
            own = (which >= a) & (which < b)
            if own.any():
                part.begin(which[own] - a, y[own], t)
                part.work.memory.inputs[which[own] - a] = held[which[own] - a] = inputs[own]
        self.inputs[which] = inputs
        self._count()

    def _count(self) -> None:
        self._fallen = [part.work.memo["status"] != Status.DONE for part in self.parts]
        self._ended = [int(fell.sum()) for fell in self._fallen]

    def hand_over(self) -> None:
        """Let inputs that were written hold in the pieces that follow."""
        if len(self.parts) > 1:
            for (a, b), part in zip(self._edges, self.parts, strict=True):
                part.work.memory.inputs[:] = self.inputs[a:b]

    def march(self, t_end: float) -> bool:
        """Go on to a time; return whether nothing has happened to any mechanism on the way.

        Ctrl-C leaves them where they were.
        """
        if len(self.parts) == 1:
            there = self._open(0, t_end)
        else:
            there = all(self._together(self._open, t_end))
        if not there:
            self._march_on(t_end)
        return there

    def _open(self, k: int, t_end: float) -> bool:
        """Begin a piece of a part; return whether it is over at once, and nothing has happened."""
        address = self._addresses[k]
        open_piece(address, self._held[k], self._ends[k])
        if self._quick:
            advance(address, t_end, _AT_ONCE)
        return count_unfinished(address) == self._ended[k]

    def _march_on(self, t_end: float) -> None:
        try:
            with self._keyboard:
                if len(self.parts) == 1:
                    self.parts[0].march(t_end)
                else:
                    self._together(lambda k, t: self.parts[k].march(t), t_end)
        except KeyboardInterrupt:
            self._keyboard.pressed = True
        pressed, self._keyboard.pressed = self._keyboard.pressed, False
        for part, ends, fell in zip(self.parts, self._ends, self._fallen, strict=True):
            _put_back(part, ends, fell, pressed)
        self._count()
        if pressed:
            raise KeyboardInterrupt

    def control(self, controllers: Controllers) -> None:
        """Let controllers write inputs of the mechanisms that go on."""
        y, nq = self.y, self._setting.system.model.nq
        going = self.memo("status") == Status.DONE
        failures = controllers.call(y[:, :nq], y[:, nq:-1], self.inputs, going)
        self.hand_over()
        self.fail(failures)

    def fail(self, failures: Mapping[int, Failure]) -> None:
        """Let mechanisms stay where they are, by number."""
        for k, failure in failures.items():
            part, (a, _) = next((p, e) for p, e in zip(self.parts, self._edges, strict=True) if k < e[1])
            part.failures[k - a] = failure
            part.work.memo["status"][k - a] = failure.status
        if failures:
            self._count()

    def _together(self, run: Callable[[int, float], Any], t_end: float) -> list[Any]:
        """Run all parts at once, the first in this thread."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(len(self.parts) - 1, "linkwork step")
        others = [self._pool.submit(run, k, t_end) for k in range(1, len(self.parts))]
        return [run(0, t_end), *(other.result() for other in others)]

    def follow(self, start: State) -> None:
        """Let the only mechanism, which is at a start, go on bit for bit as the run that led there."""
        (part,) = self.parts
        if resume.follow(part.problem, part.work, self._setting.key, start, self.inputs[0]):
            part.work.memo["status"] = Status.DONE

    def go_on(self) -> None:
        """Let a mechanism that an event has stopped go on from there."""
        for part in self.parts:
            for i in np.flatnonzero(part.work.memo["status"] == Status.EVENT):
                t, y = float(part.work.memo["t_final"][i]), part.work.memory.y_final[i].copy()
                part.work.restart(int(i), t, y)
                part.work.memo["status"][i] = Status.DONE
                part.occurrences[i].over = False
        self._count()

    # what they are

    @property
    def y(self) -> Array:
        """The states (N, n); not to be kept."""
        return self.parts[0].work.memory.y_final if len(self.parts) == 1 else self.gathered("y_final")

    def gathered(self, name: str) -> Array:
        """Return what all mechanisms have in an array of the loop's memory, (N, ...)."""
        return np.concatenate([getattr(part.work.memory, name) for part in self.parts])

    def memo(self, name: str) -> Array:
        """Return a number that all mechanisms remember, (N,)."""
        return np.concatenate([part.work.memo[name] for part in self.parts])

    @property
    def remembered(self) -> Array:
        """All numbers that the mechanisms remember, (N, columns of MEMO)."""
        return np.concatenate([part.work.remembered(slice(None)) for part in self.parts])

    @property
    def status(self) -> Array:
        """How they stand, (N,): a `Status` each."""
        codes = self.memo("status").astype(int)
        for k, failure in enumerate(self.failures):
            if failure:
                codes[k] = failure.status
        return codes

    @property
    def failures(self) -> list[Failure | None]:
        return [failure for part in self.parts for failure in part.failures]

    def notes(self, k: int) -> list[str]:
        """Say in words what is odd: nothing."""
        del k
        return []

    def take_failures(self, other: "SideBySide") -> None:
        """Have failed as others did."""
        for part, theirs in zip(self.parts, other.parts, strict=True):
            part.failures[:] = theirs.failures

    @property
    def happened(self) -> list[list[tuple[float, str]]]:
        """The events of each mechanism: time and name."""
        return [one.happened for part in self.parts for one in part.occurrences]

    # in a state, a file, or a copy

    def memory(self, k: int) -> dict[str, Array]:
        """Return what the only mechanism remembers, to go on bit for bit."""
        return resume.memory(self.parts[k].work, self._setting.key)

    def arrays(self) -> dict[str, Array]:
        """Return all that is needed to go on bit for bit."""
        found = {name: self.gathered(name) for name in _REMEMBERED} | {"inputs": self.inputs.copy()}
        return found | {"memo": self.remembered, "held": np.concatenate(self._held)}

    def recall(self, arrays: Mapping[str, Array], events: Sequence[Sequence[Any]]) -> None:
        """Become what `arrays` gave; `events` are those that have happened so far."""
        for (a, b), part, held in zip(self._edges, self.parts, self._held, strict=True):
            for name in _REMEMBERED:
                getattr(part.work.memory, name)[:] = arrays[name][a:b]
            part.work.memo.view(float).reshape(b - a, -1)[:] = arrays["memo"][a:b]
            held[:] = arrays["held"][a:b]
            for occurrences, happened in zip(part.occurrences, events[a:b], strict=True):
                occurrences.happened[:] = [(float(t), str(name)) for t, name in happened]
        self.inputs[:] = arrays["inputs"]
        self._count()


def _put_back(part: Marching, ends: Array, fell: Array, pressed: bool) -> None:
    """Leave mechanisms where they were before a piece that was interrupted, or that did not begin for them.

    A step that cannot be made begins at the last point of the mesh, which may lie before. `fell` are those
    that had come to their end before.
    """
    memo = part.work.memo
    stuck = ~fell & (memo["status"] != Status.DONE)
    back = stuck if pressed else stuck & (memo["t_final"] < ends[:, 0])
    part.work.memory.y_final[back] = ends[back, 1:]
    memo["t_final"][back] = ends[back, 0]
    if pressed:
        memo["status"][stuck] = Status.DONE
        for i in np.flatnonzero(stuck):
            part.failures[i] = None
