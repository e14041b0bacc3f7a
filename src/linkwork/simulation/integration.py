"""The door to the native loop: the mechanisms of a run, and the call that goes on with them.

What the loop does is said in `loop/__init__.py`.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.recording.status import Status
from linkwork.simulation.loop.lockstep import advance
from linkwork.simulation.loop.records import MEMO, Array, Memory
from linkwork.simulation.problem import WORD, Problem
from linkwork.simulation.workspace import Workspace, address

_OF_MEMORY = [WORD[name] for name in ("many", "cap", "every", *Memory._fields)]
_OF_SAMPLES = [WORD[name] for name in ("sample_count", "every", "times")]
_COLUMNS = MEMO.names or ()
_TIMES = _COLUMNS.index("check_t") + 1
_STATUS = _COLUMNS.index("status")
_AT_FIRST = {"blocked": math.nan, "worst": -1.0, "dropped": math.inf, "margin": math.inf}  # others: 0
_FRESH = np.array([_AT_FIRST.get(name, 0.0) for name in _COLUMNS])


class Work:
    """The mechanisms of a run, and the scratch memory of the lanes they go through.

    The same mechanisms can be marched by several problems, as for eight lanes and for one.
    """

    def __init__(
        self,
        problem: Problem,
        y: ArrayLike,
        t: ArrayLike = 0.0,
        times: ArrayLike = (),
        cap: int = 1024,
        inputs: ArrayLike = (),
        constants: ArrayLike = (),
    ):
        """Begin with mechanisms in states y (N, n) at time t, one for all or (N,), and with values of inputs.

        Samples are wanted at `times`, or if there are none after every step; `cap` of them have room. If
        mechanisms have constants of their own they are (N, constants).
        """
        many, n, ne = len(np.atleast_2d(y)), problem.n, len(problem.directions)
        self.memory = Memory(
            y=np.empty((many, n)),
            memo=np.empty(many, MEMO),
            y_final=np.empty((many, n)),
            record=np.zeros((many, cap, 1 + n)),
            filled=np.empty(many, np.int64),
            bad_t=np.empty(many),
            bad_y=np.empty((many, n)),
            side=np.empty((many, ne)),
            band=np.empty((many, ne)),
            span=np.empty((many, ne)),
            weakest=np.empty((many, n)),
            inputs=np.empty((many, problem.inputs)),
            constants=np.empty((many, problem.constants)),
        )
        if problem.constants:
            self.memory.constants[:] = constants
        self._rows = self.memory.memo.view(float).reshape(many, len(_COLUMNS))
        self._implicit = problem.chosen.implicit
        self._rooms: dict[Problem, Workspace] = {}
        self.begin(y, t, times, inputs)

    def alone(self, i: int) -> "Work":
        """Return mechanism i as if it were the only one: the same memory; it is marched with all others."""
        made = object.__new__(Work)
        made.memory = Memory._make(array[i : i + 1] for array in self.memory)
        made._rows, made._implicit, made.times = self._rows[i : i + 1], self._implicit, self.times
        made._rooms = {}
        return made

    def begin(self, y: ArrayLike, t: ArrayLike = 0.0, times: ArrayLike = (), inputs: ArrayLike = ()) -> None:
        """Begin, or begin anew with as many other mechanisms; what was there is gone."""
        self.place(slice(None), y, t)
        self.memory.filled[:] = 0
        if self.memory.inputs.size:
            self.memory.inputs[:] = inputs
        self.times = np.array(times, float, ndmin=1)
        for room in self._rooms.values():
            room.clear()
            self._point_to_samples(room)

    def place(self, which: Any, y: ArrayLike, t: ArrayLike) -> None:
        """Begin anew with some mechanisms, in states y (..., n) at time t; their inputs stay."""
        kept, y = self.memory, np.asarray(y, float)
        if y.shape[-1] != kept.y.shape[1]:
            raise ValueError(f"states have {y.shape[-1]} components; nq + nv + 1 is {kept.y.shape[1]}")
        kept.y[which] = kept.y_final[which] = y
        self._rows[which] = _FRESH
        self._rows[which, :_TIMES] = np.asarray(t, float)[..., None]
        if self._implicit:
            kept.memo["implicit"][which] = 1.0
        kept.bad_t[which] = kept.bad_y[which] = math.nan
        kept.weakest[which] = 0.0
        if kept.side.size:
            kept.side[which] = kept.band[which] = kept.span[which] = 0.0

    def end(self) -> None:
        """Let go of the sample times, which are not its own; it can only begin anew."""
        self.times = np.empty(0)

    @property
    def memo(self) -> NDArray[np.void]:
        """Return what the mechanisms remember, records by mechanism; a view."""
        return self.memory.memo

    def remembered(self, i: int | slice) -> Array:
        """Return a copy of what mechanisms remember, as numbers; MEMO has their names."""
        return self._rows[i].copy()

    def status(self, i: int) -> int:
        """Return how a mechanism stands, a `Status`."""
        return int(self._rows[i, _STATUS])

    def samples(self, i: int) -> Array:
        """Return the samples of a mechanism recorded so far, rows of t and y; a view."""
        return self.memory.record[i, : self.memory.filled[i]]

    def restart(self, i: int, t: float, y: ArrayLike, acted: bool = True) -> None:
        """Go on with a mechanism after an event, from the state that its action has made, if there was one.

        The step is kept. An action that has changed nothing has stopped nothing, however slow it was.
        """
        self.memory.y[i] = y
        memo = self.memo[i]
        if np.array_equal(self.memory.y[i], self.memory.y_final[i]):
            memo["pace"] = 0.0
        memo["t"] = memo["t0"] = t
        memo["index"] = 0.0
        memo["acted"] = memo["event"] + 1.0 if acted else 0.0
        memo["blocked"] = np.nan
        memo["status"] = Status.RUNNING

    def address(self, problem: Problem) -> int:
        """Return the address of the record that the native loop works with, made at first use."""
        room = self._rooms.get(problem)
        if room is None:
            room = self._rooms[problem] = problem.layout.room()
            many, cap = self.memory.record.shape[:2]
            room.fill(_OF_MEMORY, (many, cap, 1, *map(address, self.memory)))
            self._point_to_samples(room)
        return room.address

    def _point_to_samples(self, room: Workspace) -> None:
        if self.times.size:
            room.words[_OF_SAMPLES] = self.times.size, 0, address(self.times)


@cache
def prepare() -> None:
    """Make native code of the loop, or load it, before it is needed."""
    advance.prepare()


def march(problem: Problem, work: Work, t_end: float, budget: int = 2**62) -> int:
    """Go on with all mechanisms that are RUNNING up to t_end; return the number of lockstep attempts made.

    Returns when all of them have another status, when `budget` attempts are used up, or when a mechanism
    waits for the caller (EVENT, BUFFER_FULL) and none for a lane. Calling again goes on, with the same bits.
    """
    attempts = advance(work.address(problem), float(t_end), int(budget))
    if attempts < 0:
        reached = work.memo["t"][work.memo["status"] == Status.RUNNING].max()
        raise ValueError(f"t_end = {t_end} s lies before the time reached, {reached} s")
    return attempts
