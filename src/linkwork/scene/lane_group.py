"""Encounters of one model, whose steps are one native call: twenty ragdolls as lanes of one program.

A member leaves its state in a lane (`lanes`), and takes it back when somebody asks for more
than where it is, when a step needs Python, or when it has come to rest. Lanes are shared out to threads; none
depends on the others, so it does not matter to whom.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

import numpy as np

from linkwork.contact_dynamics.time_stepping.lanes import STEPS
from linkwork.contact_dynamics.time_stepping.stepper import Stepper
from linkwork.model.model import Model

if TYPE_CHECKING:
    from linkwork.scene.body_arrays import BodyArrays
    from linkwork.scene.encounter import Encounter

Array = np.ndarray

_ROOM = 8  # lanes at first
_SHARE = 2  # of what is left, a thread takes one part in so many for each thread
CALM = 2  # steps without any motion after which an encounter sleeps


class LaneGroup:
    """Encounters of a model, with the same clock, in lanes."""

    def __init__(self, model: Model, h: float, t: float) -> None:
        """Take the model, the step, and the time that all have [s]."""
        self._model, self._h = model, h
        self.t, self.span = t, 0.0  # of its clock, and how long the last step was
        self._steppers = [Stepper(model)]
        self.able = self._steppers[0].in_lanes
        self.lanes = self._steppers[0].lanes(_ROOM, shows=True)
        self._members: dict[int, Encounter] = {}  # by lane
        self._free = list(range(_ROOM))[::-1]
        self._calm = np.zeros(_ROOM, np.int64)
        self._fresh: list[Encounter] = []  # members since the last step
        self._rows: tuple[Array, ...] | None = None  # see `_lay_out`
        self._which = np.zeros(0, np.int64)  # the lanes of members

    def __len__(self) -> int:
        return len(self._members)

    def take(self, one: "Encounter", arrays: "BodyArrays") -> bool:
        """Give a lane to an encounter whose clock is that of all; return whether it goes by it."""
        if not self._free:
            n = len(self.lanes)
            self.lanes.grow(2 * n, 0)
            self._free, self._calm = list(range(n, 2 * n))[::-1], np.resize(self._calm, 2 * n)
        i = self._free[-1]
        if not one.simulation.enter_lane(self.lanes, i, self._steppers[0]):
            return False
        (unit,), shown = one.units, self.lanes.rows  # it may rest, and be shown as it is
        shown.poses[i].reshape(-1, 3, 4)[unit.model_rows] = arrays.poses[unit.rows]
        shown.motions[i].reshape(-1, 6)[unit.model_rows] = arrays.velocities[unit.rows]
        self._members[self._free.pop()] = one
        self._calm[i] = one.calm
        self._fresh.append(one)
        self._rows = None
        one.lane = self, i
        return True

    def leave(self, i: int) -> None:
        """Let the encounter in a lane go on by itself."""
        self._let_out(i)
        one = self._give_back(i)
        if one in self._fresh:
            self._fresh.remove(one)

    def _let_out(self, i: int) -> "Encounter":
        """Let the encounter in a lane take what the lane has; return it."""
        one = self._members[i]
        one.lane = None
        one.calm = int(self._calm[i])
        one.leave_lane(self.lanes, i, self.t, self.span)
        return one

    def _give_back(self, i: int) -> "Encounter":
        """Let others have a lane; return whose it was."""
        self._free.append(i)
        self._rows = None
        return self._members.pop(i)

    def _lay_out(self) -> tuple[Array, ...]:
        """Return which lanes have which bodies, and which rows of the scene those are."""
        if self._rows is not None:
            return self._rows
        self._which = np.array(sorted(self._members), np.int64)
        lanes, bodies, rows = [], [], []
        for i in self._which.tolist():
            (unit,) = self._members[i].units
            lanes.append(np.full(unit.count, i, np.int64))
            bodies.append(unit.model_rows)
            rows.append(np.arange(unit.first, unit.first + unit.count))
        none = [np.zeros(0, np.int64)]
        self._rows = tuple(np.concatenate(none + x) for x in (lanes, bodies, rows))
        return self._rows

    def advance(
        self, t: float, go_on: "Callable[[Encounter], None]", pool: Executor | None, threads: int
    ) -> "list[Encounter]":
        """Bring all to a time of their clock; return those that had to leave, which `go_on` by themselves.

        Whichever thread finds that one has to leave lets it go on at once, while others are in native code.
        """
        self._lay_out()
        for one in self._fresh:
            one.forget_step()
        self._fresh.clear()
        which, parts = self._which, self._parts(threads if pool else 1)
        try:
            if pool is None or len(parts) < 2:
                self._advance(self._steppers[0], which, t, go_on)
            else:
                _share_out(self._workers(parts, threads, t, go_on), pool)
        finally:
            self.span, self.t = t - self.t, t
            gone = [i for i in which.tolist() if self._members[i].lane is None]
            left = [self._give_back(i) for i in gone]
        return left

    def _advance(
        self, stepper: Stepper, which: Array, t: float, go_on: "Callable[[Encounter], None]"
    ) -> None:
        """Bring some lanes to a time; those that cannot are let out, and go on by themselves."""
        if not stepper.advance(self.lanes, which, self._h, t):
            return
        behind = which[self.lanes.taken[which] == 0].tolist()
        left = [self._let_out(i) for i in behind]
        for i, one in zip(behind, left):
            one.stay_out_of_lanes(float(self.lanes.number(STEPS)[i]))
        for one in left:
            go_on(one)

    def _parts(self, threads: int) -> list[Array]:
        """Return lanes in parts, large ones first and single ones last, so that all threads end together."""
        if threads < 2:
            return [self._which]
        parts, left = [], self._which
        while len(left):
            count = -(-len(left) // (_SHARE * threads))
            parts.append(left[:count])
            left = left[count:]
        return parts

    def _workers(
        self, parts: list[Array], threads: int, t: float, go_on: "Callable[[Encounter], None]"
    ) -> Sequence[Callable[[], None]]:
        """Return what each thread does: it takes parts of the lanes until none is left."""
        while len(self._steppers) < threads:
            self._steppers.append(Stepper(self._model))
        waiting: Iterator[Array] = iter(parts)

        def work(stepper: Stepper) -> None:
            for part in waiting:
                self._advance(stepper, part, t, go_on)

        return [lambda stepper=stepper: work(stepper) for stepper in self._steppers[:threads]]

    def publish(self, arrays: "BodyArrays") -> None:
        """Write where bodies are to the arrays of the scene."""
        lanes, bodies, rows = self._lay_out()
        found, n = self.lanes.rows, len(self.lanes)
        arrays.poses[rows] = found.poses.reshape(n, -1, 3, 4)[lanes, bodies]
        arrays.velocities[rows] = found.motions.reshape(n, -1, 6)[lanes, bodies]

    def calmed(self) -> "list[Encounter]":
        """Return those that have not moved for a while, which leave."""
        which = self._which
        rest = self.lanes.rests[which] == 1
        if not rest.any():
            self._calm[which] = 0
            return []
        still = rest & ~self.lanes.before[which].any(axis=1)
        self._calm[which] = np.where(still, self._calm[which] + 1, 0)
        found = []
        for i in which[self._calm[which] >= CALM].tolist():
            found.append(self._members[i])
            self.leave(i)
        return found


def _share_out(work: Sequence[Callable[[], None]], pool: Executor) -> None:
    """Let threads work."""
    others = [pool.submit(one) for one in work[1:]]
    try:
        work[0]()
    finally:
        faults = [other.exception() for other in others]
    for fault in faults:
        if fault:
            raise fault
