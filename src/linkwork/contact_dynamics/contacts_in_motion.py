"""contacts <- t, q, v: what bodies that touch do to each other at moments of a motion.

Forces of rigid contact follow from where bodies are and how they move: they are the impulses of a step, per
its length, as that goes to 0. This takes a step of `_MOMENT`, in which a body at 1 m/s moves by 0.1 mm, and
forces come out with five digits. Impacts are no forces; what bounces in that time exerts none.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.memory import in_the_world
from linkwork.contact_dynamics.stepper import ContactState, Stepper
from linkwork.model.model import Model

Array = np.ndarray

_MOMENT = 1e-4  # [s]
_NOTHING = 1e-12  # of the largest force of a moment: less is none


class TouchingBodies(NamedTuple):
    """Contacts of a moment, which bear a force or touch; bodies by number, ground is -1."""

    bodies: Array  # (n, 2) a and b
    point: Array  # (n, 3) where, in the world [m]
    normal: Array  # (n, 3) from a to b
    depth: Array  # (n,) how far they overlap; negative: the gap [m]
    force: Array  # (n, 3) on b, in world axes [N]


class ContactsInMotion:
    """The contacts of a model at moments of its motion; for one thread at a time."""

    def __init__(self, model: Model) -> None:
        self._stepper = Stepper(model)
        numbers: Mapping[str, int] = {name: k for k, name in enumerate(model.body_names)}
        owners = self._stepper.system.detection.owners
        self._number = np.array([numbers.get(name, -1) for name in owners], np.int64)
        self._before: ContactState | None = None

    def at(self, t: float, q: Array, v: Array, inputs: Array) -> TouchingBodies:
        """Return the contacts at a moment; those of the moment that was asked before are a first guess."""
        state = ContactState(q.copy(), v.copy(), float(t), quick=False)
        if self._before is not None:
            state.memory, state.factor = self._before.memory, self._before.factor
        stepper = self._stepper
        stepper.step(state, _MOMENT, inputs)
        self._before = state
        since = stepper.hits[-1].time if stepper.hits else float(t)
        span = state.t - since
        points, impulses = stepper.found.points, stepper.found.impulses
        world = np.zeros((len(impulses), 3))
        if span > 1e-3 * _MOMENT:
            in_the_world(points.place, np.ascontiguousarray(impulses), world)
            world /= -span
        large = np.linalg.norm(world, axis=1)
        kept = large > _NOTHING * large.max(initial=0.0)
        place = points.place[: len(impulses)]
        return TouchingBodies(
            self._number[points.pair[: len(impulses)]][kept],
            place[kept, :3].copy(),
            -place[kept, 3:6],
            -points.gap[: len(impulses)][kept],
            world[kept],
        )
