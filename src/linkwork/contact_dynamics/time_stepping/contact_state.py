"""What steps with contact move, and what they find."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.contact_rows import Points
from linkwork.contact_dynamics.solver.contact_solver import NO_FACTOR, Answer, Factor
from linkwork.contact_dynamics.time_stepping.sleeping import ALL_AWAKE, Asleep
from linkwork.contact_dynamics.time_stepping.warm_start import NOTHING, Memory

Array = np.ndarray


@dataclass(eq=False)
class ContactState:
    """Where a mechanism with contact is, and what its contacts remember."""

    q: Array
    v: Array
    t: float
    work: float = 0.0  # of all forces but gravity [J]
    memory: Memory = NOTHING
    factor: Factor = NO_FACTOR  # of the last problem that needed one
    # (2 nodes,): work that a step may take, then 1 of those that are still in what they were put into
    saved: Array = field(default_factory=lambda: np.zeros(0))
    rests: tuple[float, bytes] | None = None  # step and inputs with which it stays where it is
    quick: bool = True  # whether shapes may move farther in a step than they are thick
    asleep: Asleep = ALL_AWAKE

    def copy(self) -> "ContactState":
        """Return the same state, which can be moved on its own; memories are never written to."""
        return ContactState(
            *(self.q.copy(), self.v.copy(), self.t, self.work, self.memory, self.factor, self.saved.copy()),
            *(self.rests, self.quick, self.asleep),
        )


@dataclass(frozen=True, eq=False)
class Found:
    """The contacts of a step."""

    points: Points
    impulses: Array  # (n, 3) along normal and tangents [N s]
    held: Array  # (groups of rows, 3) impulses of loops
    answer: Answer


class Hit(NamedTuple):
    """The impulse at a point at which two bodies have hit each other, or of a joint at its stop.

    The latter has no point, and its impulse is that of the coordinate.
    """

    time: float  # [s]
    bodies: tuple[str, str]  # a and b
    point: tuple[float, ...]  # (d,) [m]
    impulse: tuple[float, ...]  # (d,) on b, in the world [N s]
