"""Mechanisms with contact in lanes: what steps move without Python (`contact_dynamics.time_stepping.lanes`).

A mechanism goes by a lane as long as nothing has to be decided in Python, and comes back to be looked at.
Either way leads to the same bits. A step that a lane could not take is taken again by Python: so lanes that
fail again soon are not tried for some steps, and for longer each time (`next_pause`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.contact_dynamics.time_stepping.lanes import (
    INDEX,
    LARGEST,
    STEPS,
    UNSOLVED,
    WHEN,
    Lanes,
)
from linkwork.contact_dynamics.time_stepping.stepper import Stepper
from linkwork.simulation.stepped_mechanism import SteppedMechanism

Array = np.ndarray


_LONGEST = 127  # pause [steps]


def next_pause(last: int, went: float) -> int:
    """Return for how many steps a lane is not tried that failed after it `went` some after a `last` pause."""
    return min(2 * last + 1, _LONGEST) if went <= last else 0


def enter_lane(lanes: Lanes, i: int, stepper: Stepper, one: SteppedMechanism, inputs: Array) -> bool:
    """Let a mechanism that is at a point of its mesh go on in lane i; return whether it can."""
    if one.end is not one.base or one.ahead is not None or one.held.tobytes() != inputs.tobytes():
        return False
    return stepper.enter_lane(lanes, i, one.base, one.origin, one.index, inputs)


def leave_lane(
    lanes: Lanes, i: int, one: SteppedMechanism, memo: Any, t_end: float, h: float
) -> SteppedMechanism:
    """Return the mechanism that lane i is, where `one` was put; what was counted goes to its memo."""
    state, x = lanes.state(i, h), lanes.rows.numbers[i]
    memo["accepted"] += x[STEPS]
    memo["evaluations"] += x[STEPS]
    memo["rejected"] += x[UNSOLVED]
    if x[LARGEST] > memo["largest"]:
        memo["largest"], memo["check_t"] = x[LARGEST], x[WHEN]
    memo["t"], memo["t_final"] = state.t, t_end
    held = lanes.held[i].copy()
    return SteppedMechanism(state, state, one.origin, held, one.sides.copy(), float(x[INDEX]))


class LaneSteps:
    """Mechanisms of one model, numbered from 0, some of them in lanes; for one thread."""

    def __init__(self, stepper: Stepper, count: int, h: float, able: bool) -> None:
        """Take what moves them by steps of h, and whether they may go by lanes at all."""
        self._stepper, self._h, self._count = stepper, h, count
        self.able = able and stepper.in_lanes
        self.lanes: Lanes | None = None  # as soon as one is in them
        self.inside = np.zeros(count, bool)
        self._which = np.zeros(0, np.int64)
        self._pause = np.zeros(count, np.int64)  # steps until lanes are tried again, and
        self._last = np.zeros(count, np.int64)  # how many these were at first

    def copy(self) -> Any:
        """Return what they are, for `become`."""
        return self.inside.copy(), self.lanes.copy() if self.lanes and len(self._which) else None

    def become(self, copied: Any) -> None:
        """Be what was copied."""
        self.inside, rows = copied
        self._which = np.flatnonzero(self.inside)
        if self.lanes and rows:
            self.lanes.become(rows)

    def enter_lane(self, k: int, one: SteppedMechanism, inputs: Array) -> None:
        """Let a mechanism go on in its lane, if it can, after a step by Python."""
        if not self.able:
            return
        if self._pause[k] > 0:
            self._pause[k] -= 1
            return
        if self.lanes is None:
            self.lanes = self._stepper.lanes(self._count)
        self._set(k, enter_lane(self.lanes, k, self._stepper, one, inputs))

    def leave_lane(self, k: int, one: SteppedMechanism, memo: Any, t_end: float) -> SteppedMechanism:
        """Return a mechanism that is inside, and is not from now on."""
        assert self.lanes
        self._set(k, False)
        return leave_lane(self.lanes, k, one, memo, t_end, self._h)

    def _set(self, k: int, inside: bool) -> None:
        self.inside[k] = inside
        self._which = np.flatnonzero(self.inside)

    def advance(self, inputs: Array, t_end: float) -> Sequence[int]:
        """Bring those inside to a time, or as far as they come; return those that are not there."""
        lanes, which = self.lanes, self._which
        if lanes is None or not len(which):
            return range(self._count)
        if inputs.shape[1]:
            lanes.inputs[which] = inputs[which]
        left = self._stepper.advance(lanes, which, self._h, t_end)
        if not left and len(which) == self._count:
            return ()
        behind = ~self.inside
        for k in which[lanes.taken[which] == 0].tolist():
            behind[k] = True
            self._pause[k] = self._last[k] = next_pause(int(self._last[k]), float(lanes.number(STEPS)[k]))
        return np.flatnonzero(behind).tolist()

    def y(self, ones: Sequence[SteppedMechanism]) -> Array:
        """Return the states of all (N, n), of those outside as given."""
        if self.lanes and len(self._which) == self._count:
            return self.lanes.y
        found = np.array([np.concatenate([one.end.q, one.end.v, [one.end.work]]) for one in ones])
        if self.lanes and len(self._which):
            found[self.inside] = self.lanes.y[self.inside]
        return found
