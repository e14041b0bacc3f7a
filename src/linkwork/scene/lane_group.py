"""Encounters of one model, whose steps are one native call: twenty ragdolls as lanes of one program.

A member leaves its state in a lane (`contact_dynamics.lanes`), and takes it back when somebody asks for more
than where it is, when a step needs Python, or when it has come to rest. Lanes are shared out to threads; none
depends on the others, so it does not matter to whom.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

import numpy as np

from linkwork.contact_dynamics.lanes import STEPS
from linkwork.contact_dynamics.stepper import Stepper
from linkwork.model.model import Model

if TYPE_CHECKING:
    from linkwork.scene.body_arrays import BodyArrays
    from linkwork.scene.encounter import Encounter

Array = np.ndarray

_ROOM = 8  # lanes at first
_PARTS = 6  # into which the lanes of a thread are divided, so that all threads end at the same time
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
        one = self._members.pop(i)
        one.lane = None
        one.calm = int(self._calm[i])
        if one in self._fresh:
            self._fresh.remove(one)
        self._free.append(i)
        self._rows = None
        one.leave_lane(self.lanes, i, self.t, self.span)

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

    def advance(self, t: float, pool: Executor | None, threads: int) -> "list[Encounter]":
        """Bring all to a time of their clock; return those that are not there, which leave."""
        self._lay_out()
        for one in self._fresh:
            one.forget_step()
        self._fresh.clear()
        which, parts = self._which, self._parts(threads if pool else 1)
        if pool is None or len(parts) < 2:
            behind = self._steppers[0].advance(self.lanes, which, self._h, t)
        else:
            behind = _share_out(self._workers(parts, threads, t), pool)
        left = []
        if behind:
            for i in which[self.lanes.taken[which] == 0].tolist():
                left.append(self._members[i])
                left[-1].stay_out_of_lanes(float(self.lanes.number(STEPS)[i]))
                self.leave(i)
        self.span, self.t = t - self.t, t
        return left

    def _parts(self, threads: int) -> list[Array]:
        count = max(1, min(_PARTS * threads, len(self._which))) if threads > 1 else 1
        return np.array_split(self._which, count)

    def _workers(self, parts: list[Array], threads: int, t: float) -> Sequence[Callable[[], int]]:
        """Return what each thread does: it takes parts of the lanes until none is left."""
        while len(self._steppers) < threads:
            self._steppers.append(Stepper(self._model))
        waiting: Iterator[Array] = iter(parts)

        def work(stepper: Stepper) -> int:
            return sum(stepper.advance(self.lanes, part, self._h, t) for part in waiting)

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


def _share_out(work: Sequence[Callable[[], int]], pool: Executor) -> int:
    """Let threads work; return the sum of what they give."""
    others = [pool.submit(one) for one in work[1:]]
    try:
        total = work[0]()
    finally:
        faults = [other.exception() for other in others]
    for fault in faults:
        if fault:
            raise fault
    return total + sum(other.result() for other in others)
