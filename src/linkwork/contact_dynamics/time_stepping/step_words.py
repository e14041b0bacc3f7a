"""The words in which a step's program and Python speak: places of its values, and what it asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from linkwork.contact_dynamics.time_stepping.lanes import Words

# Values of the program: how many points, rows, remembered contacts, islands and stops there are; flags; times
# [s], of which SPAN is moved, of a step STEP; the worst residual [m/s].
POINTS, ROWS, REMEMBERED, ISLANDS, STOPS, QUICK, ASLEEP, WAITS = range(8)
START, MIDDLE, HALF, SPAN, STEP, WORST = range(8, 14)
# Of lanes, which are moved one after the other: which, and how many; until when [s]; whether that one has
# just been moved; how many are not there; how many pairs of its shapes are fast; what may divide its step.
LANE, LANES, UNTIL, STEPPED, LEFT, FAST, DIVIDES = range(14, 21)
TRIES = 21  # how often the step was solved anew, with contacts that push less
AGAIN = 22  # and with what was found in place of what was foreseen
WORDS = Words(
    *(POINTS, REMEMBERED, QUICK, ASLEEP, WAITS, START, MIDDLE, HALF, SPAN, STEP, WORST),
    *(LANE, LANES, UNTIL, STEPPED, LEFT, FAST),
)


@dataclass(frozen=True, eq=False)
class Asked:
    """What a program leaves to Python; each may return the stage to go on at."""

    drift: Callable[[int], Any] | None  # from a time, one of the values; None: nothing is ever locked
    give_back: Callable[[], Any] | None  # the impulses that locks have borne
    look: Callable[[], Any]  # where something sleeps
    add_rows: Callable[[], Any] | None  # of joints and loops
    leave_out: Callable[[], Any]  # what waits for its impact
    bounce: Callable[[], Any] | None  # Moreau and Jean's restitution
    recall: Callable[[], Any] | None  # impulses of joints and loops
    relax: Callable[[], Any] | None  # many contacts, by threads
    struck: Callable[[], Any] | None  # what divides a step: contacts that will be struck,
    halted: Callable[[], Any] | None  # and slips that have come to a halt
    improve: Callable[[], Any]  # what sweeps have not solved
    bend: Callable[[], Any] | None  # laws of compliant contacts
    hold: Callable[[], Any] | None  # coordinates that friction or stops hold
