"""Mechanisms that go on together in pieces: to a time, looked at there, and on; in parts for the threads."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from linkwork.model.state import State
from linkwork.native import store
from linkwork.recording.report import event_of
from linkwork.recording.status import Status
from linkwork.simulation import resume
from linkwork.simulation.controllers import Controllers
from linkwork.simulation.driver_jumps import follow_jumps
from linkwork.simulation.failure import Failure
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.loop.lockstep import advance
from linkwork.simulation.loop.pieces import count_unfinished, open_piece
from linkwork.simulation.marching import NEVER, Marching
from linkwork.simulation.polling import Keyboard
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.variant_groups import Alike, Variants, in_order, in_parts

Array = np.ndarray

_AT_ONCE = 1000  # attempts before anybody looks at the keyboard
_THREADED = 2**14  # numbers of states for a thread: fewer are done before another thread has woken up
_REMEMBERED = ("y", "y_final", "side", "band", "span", "weakest")  # beside `memo` and inputs


class SideBySide:
    """N mechanisms from states y (N, n) at time t, with inputs (N, nu); one that is `alone` needs no lanes.

    They are the same, or `variants`. They are at their ends (`y_final`) when a piece is over. One that an
    event has stopped, or that failed, stays there until it begins anew.
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
        variants: Variants | None = None,
    ) -> None:
        self._setting, self._keyboard, self.watch = setting, Keyboard(), watch
        count = len(y)
        workers = max(1, min(threads, y.size // _THREADED, -(-count // store.lanes())))
        groups = self._groups(count, variants)
        begin = y, t, inputs
        self.parts = [self._part(group, begin, alone, times, variants) for group in in_parts(groups, workers)]
        self._members = [part.members for part in self.parts]
        self._order = np.argsort(np.concatenate(self._members))  # of the mechanisms among those of all parts
        self._part_of, self._place = np.empty(count, int), np.empty(count, int)
        for k, members in enumerate(self._members):
            self._part_of[members], self._place[members] = k, np.arange(len(members))
        # (N, nu), to be written to; where there are several parts, theirs follow when they are handed over
        self.inputs = self.parts[0].work.memory.inputs if len(self.parts) == 1 else inputs.copy()
        self._held = [inputs[members].copy() for members in self._members]  # by the pieces so far
        # of the piece before: t, y
        self._ends = [np.empty((len(members), 1 + y.shape[1])) for members in self._members]
        self._addresses = [part.work.address(part.problem) for part in self.parts]
        self._quick = not any(group.setting.system.python_laws for group in groups)
        self._jumps = bool(setting.system.model.link_tree.inputs)  # whether drivers read inputs
        self._pool: ThreadPoolExecutor | None = None
        # those that stay where they are, and how many these are
        self._fallen = [np.zeros(len(members), bool) for members in self._members]
        self._ended = [0] * len(self.parts)
        self.begin(np.arange(count), y, t, inputs)

    def _groups(self, count: int, variants: Variants | None) -> Sequence[Alike]:
        """Return which mechanisms share their programs."""
        return variants.alike if variants else [Alike(self._setting, np.arange(count))]

    def _part(
        self,
        group: Alike,
        begin: tuple[Array, float, Array],
        alone: bool,
        times: Array,
        variants: Variants | None,
    ) -> Marching:
        """Return some of the mechanisms, which begin in states y at time t with inputs."""
        y, t, inputs = begin
        return Marching(
            group.setting,
            y[group.members],
            t,
            inputs[group.members],
            self._keyboard,
            self.watch,
            alone=alone,
            times=times,
            members=group.members,
            constants=group.constants,
            setting_of=variants.settings.__getitem__ if variants else None,
        )

    def begin(self, which: Array, y: Array, t: float, inputs: Array) -> None:
        """Begin anew with some mechanisms, by number."""
        for k, (part, held) in enumerate(zip(self.parts, self._held, strict=True)):
            own = self._part_of[which] == k
            if own.any():
                places = self._place[which[own]]
                part.begin(places, y[own], t)
                part.work.memory.inputs[places] = held[places] = inputs[own]
        self.inputs[which] = inputs
        self._count()

    def _count(self) -> None:
        self._fallen = [part.work.memo["status"] != Status.DONE for part in self.parts]
        self._ended = [int(fell.sum()) for fell in self._fallen]

    def hand_over(self) -> dict[int, Failure]:
        """Let inputs that were written hold in the pieces that follow.

        Where drivers read them, mechanisms go to where these are; returns those that cannot, by number.
        """
        failures: dict[int, Failure] = {}
        if len(self.parts) == 1 and not self._jumps:
            return failures
        for members, part, held, fell in zip(
            self._members, self.parts, self._held, self._fallen, strict=True
        ):
            if len(self.parts) > 1:
                part.work.memory.inputs[:] = self.inputs[members]
            found = follow_jumps(part.model, part.work, held, ~fell)
            failures |= {int(members[k]): failure for k, failure in found.items()}
        return failures

    def take_back(self) -> None:
        """Let those inputs hold that did so far, in place of what was written."""
        for members, part, held in zip(self._members, self.parts, self._held, strict=True):
            part.work.memory.inputs[:] = held
            self.inputs[members] = held

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
        self.fail(self.hand_over() | failures)

    def fail(self, failures: Mapping[int, Failure]) -> None:
        """Let mechanisms stay where they are, by number."""
        for k, failure in failures.items():
            part, place = self.parts[self._part_of[k]], self._place[k]
            part.failures[place] = failure
            part.work.memo["status"][place] = failure.status
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
        return in_order([getattr(part.work.memory, name) for part in self.parts], self._order)

    def memo(self, name: str) -> Array:
        """Return a number that all mechanisms remember, (N,)."""
        return in_order([part.work.memo[name] for part in self.parts], self._order)

    @property
    def remembered(self) -> Array:
        """All numbers that the mechanisms remember, (N, columns of MEMO)."""
        return in_order([part.work.remembered(slice(None)) for part in self.parts], self._order)

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
        found = [failure for part in self.parts for failure in part.failures]
        return [found[k] for k in self._order]

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
        found = [one.happened for part in self.parts for one in part.occurrences]
        return [found[k] for k in self._order]

    # in a state, a file, or a copy

    def memory(self, k: int) -> dict[str, Array]:
        """Return what the only mechanism remembers, to go on bit for bit."""
        return resume.memory(self.parts[k].work, self._setting.key)

    def arrays(self) -> dict[str, Array]:
        """Return all that is needed to go on bit for bit."""
        found = {name: self.gathered(name) for name in _REMEMBERED} | {"inputs": self.inputs.copy()}
        return found | {"memo": self.remembered, "held": in_order(self._held, self._order)}

    def recall(self, arrays: Mapping[str, Array], events: Sequence[Sequence[Any]]) -> None:
        """Become what `arrays` gave; `events` are those that have happened so far."""
        for members, part, held in zip(self._members, self.parts, self._held, strict=True):
            for name in _REMEMBERED:
                getattr(part.work.memory, name)[:] = arrays[name][members]
            part.work.memo.view(float).reshape(len(members), -1)[:] = arrays["memo"][members]
            held[:] = arrays["held"][members]
            for k, occurrences in zip(members.tolist(), part.occurrences, strict=True):
                occurrences.happened[:] = list(map(event_of, events[k]))
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
