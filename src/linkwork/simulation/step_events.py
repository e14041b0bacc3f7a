"""Events of steps with contact: zeros of event functions between two points of the mesh.

Where a mechanism is inside a step is where a shorter step leads to (`contact_side_by_side`). So an event is
located where a shorter step leads to zero. Which side of zero a function is on, at a base, after an event and
after what an action has made of it, follows the rules of `loop.event_sides`.

A function crosses zero if it is on the other side at the end of the step, at an impact on the way, or where
a cubic through its ends, with its rates there, shows that it has been.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.time_stepping.contact_state import ContactState, Hit
from linkwork.contact_dynamics.time_stepping.stepper import Stepper
from linkwork.dynamics import applied_forces
from linkwork.simulation.run_settings import RunSettings

Array = np.ndarray

_MOST = 64  # events in a step that are looked for: this many are reported as a storm
_TRIALS = 80  # of locating an event; bisection alone needs some 55
_EPSILON = 2.0**-52
_WIDER = 16.0  # than the values at the ends of the interval that the event is in, is the band of zero,
_SMALL = 1e-9  # but at most this part of the largest value
_JUST = 1e-6  # of that: an action that leaves a function so little beyond zero has left it there
_STILL = 1e-4  # of its rate before: an action that leaves less has stopped it
_NEARER = 1 / 64  # of the last place, where to look next for the side that a function must have been on
_DELTA = 1e-3  # of a step, for rates with all forces, and
_COASTED = 1e-6  # for those of positions alone


@dataclass(eq=False)
class EventSides:
    """On which side of zero the event functions of a mechanism are, (events,) each."""

    side: Array  # -1, 0 (not known yet) or 1
    band: Array  # within which they are at zero; below 0: they crossed together with another event
    span: Array  # their largest values
    acted: int = -1  # the event whose action has left its function at zero

    @classmethod
    def of(cls, count: int) -> "EventSides":
        return cls(np.zeros(count), np.zeros(count), np.zeros(count))

    def copy(self) -> "EventSides":
        if not len(self.side):  # there is nothing to write to
            return self
        return EventSides(self.side.copy(), self.band.copy(), self.span.copy(), self.acted)

    def array(self) -> Array:
        """Return it as numbers (4, events)."""
        return np.array([self.side, self.band, self.span, np.full(len(self.side), float(self.acted))])

    @classmethod
    def from_array(cls, array: Array) -> "EventSides":
        side, band, span, acted = array.copy()
        return cls(side, band, span, int(acted[0]) if array.size else -1)

    def across(self, e: int, g: float) -> bool:
        """Whether a value of a function is beyond zero, seen from its side."""
        side, band = self.side[e], self.band[e]
        return bool(side) and bool(side * g < -band if band > 0.0 else side * g <= 0.0)

    def at_zero(self, e: int, g: float) -> bool:
        """Whether a function, with value g at the base, has yet to leave zero."""
        return bool(self.side[e] * g <= max(self.band[e], 0.0))


class Crossing(NamedTuple):
    """An event that was located."""

    x: float  # time after the base [s]
    event: int
    state: ContactState
    hits: Sequence[Hit]  # on the way there
    sides: EventSides  # after it, if nothing acts
    pace: float  # rate of its function in the step
    again: bool  # it is where its own action had left it


class _Place(NamedTuple):
    """A mechanism at a time x after the base, and its event functions."""

    x: float
    state: ContactState
    g: Array
    hits: Sequence[Hit] = ()
    residual: float = 0.0


class Ahead(NamedTuple):
    """The next step of the mesh."""

    state: ContactState  # at its end
    hits: Sequence[Hit]
    residual: float  # of its contacts [m/s]
    crossings: Sequence[Crossing]  # up to the first that stops or acts
    fault: str = ""  # the event whose function is no number


class StepEvents:
    """The events of mechanisms of one kind, and the stepper that takes these from one point to the next."""

    def __init__(self, setting: RunSettings, stepper: Stepper) -> None:
        self.events, self.stepper, self.step = setting.chosen.events, stepper, setting.chosen.step
        if self.events:
            tree = setting.system.event_tree
            self._kernel = setting.system.model.kernel_of(applied_forces.SHOWN_ONLY, tree, "rolled")

    def values(self, state: ContactState, inputs: Array) -> Array:
        """Return the event functions (events,)."""
        if not self.events:
            return np.zeros(0)
        found = np.full(len(self.events), np.nan)
        self._kernel.call(np.array(state.t), state.q, state.v, inputs, found)
        return found

    def ahead(self, sides: EventSides, base: ContactState, inputs: Array) -> Ahead:
        """Take the next step of the mesh from a base, which stays where it is.

        What is known of sides at the base is completed.
        """
        step = _Step(self, base, inputs)
        if not self.events:
            return Ahead(*step.reached(self.step), ())
        end = step.to(self.step)
        arrived = end.state, end.hits, end.residual
        here = _Place(0.0, base, self.values(base, inputs))
        wrong = np.flatnonzero(~np.isfinite(here.g) | ~np.isfinite(end.g))
        if len(wrong):
            return Ahead(*arrived, (), self.events[wrong[0]].name)
        self._begin(sides, base, inputs, here.g)
        found, now = list[Crossing](), sides.copy()
        between = self._between(sides, step, here, end)
        while len(found) < _MOST and (crossing := self._next(now, step, here, [*between, end])):
            found.append(crossing)
            if self.events[crossing.event].action != "note":
                break
            now = crossing.sides.copy()
            here = _Place(crossing.x, crossing.state, self.values(crossing.state, inputs))
            between = [place for place in between if place.x > here.x]
        return Ahead(*arrived, found)

    def _begin(self, sides: EventSides, base: ContactState, inputs: Array, g: Array) -> None:
        """See on which side of zero the functions are at the base."""
        for e, value in enumerate(g.tolist()):
            band = sides.band[e]
            if abs(value) > (band if band >= 0.0 else -2.0 * band):
                sides.side[e], sides.band[e] = copysign(1.0, value), 0.0
            elif sides.side[e] == 0.0:  # a start at zero
                sides.side[e] = np.sign(self.rates(base, inputs, g)[e])
            sides.span[e] = max(sides.span[e], abs(value))

    def rates(self, state: ContactState, inputs: Array, g: Array) -> Array:
        """Return the rates of the functions, with all forces: from two short steps, which see a parabola."""
        delta = _DELTA * self.step
        one, two = (_Step(self, state, inputs).to(part * delta).g for part in (0.5, 1.0))
        return (4.0 * one - two - 3.0 * g) / delta

    def judge(self, crossing: Crossing, after: ContactState, inputs: Array) -> EventSides:
        """Return on which sides the functions are after an action; see `loop.event_sides`."""
        sides, e = crossing.sides.copy(), crossing.event
        g, target = self.values(after, inputs), float(crossing.sides.side[e])
        beyond = target * float(g[e])
        if -sides.band[e] <= beyond <= max(sides.band[e], _JUST * sides.span[e]):
            least = _STILL * crossing.pace + 4.0 * sides.band[e] / (_DELTA * self.step)
            if not target * self.rates(after, inputs, g)[e] > least:
                sides.side[e], sides.acted = -target, e
                sides.band[e] = max(sides.band[e], 2.0 * beyond)
        return sides

    def _between(self, sides: EventSides, step: "_Step", here: _Place, end: _Place) -> list[_Place]:
        """Return places inside the step at which functions may have been beyond zero: impacts, and dips."""
        times = {hit.time - here.state.t for hit in end.hits}
        slopes = [step.coasting(place) for place in (here, end)]
        for e, side in enumerate(sides.side.tolist()):
            if side and not sides.across(e, end.g[e]):
                m0, m1 = (end.x * float(slope[e]) for slope in slopes)
                times.add(end.x * _dip(float(here.g[e]), m0, float(end.g[e]), m1, side))
        return [step.to(x) for x in sorted(times) if 0.0 < x < end.x]

    def _next(
        self, sides: EventSides, step: "_Step", here: _Place, places: Sequence[_Place]
    ) -> Crossing | None:
        """Return the first event after a place, which is the base or an event before."""
        at_once = [e for e in range(len(self.events)) if self._counts(sides, e, here.g[e])]
        if at_once := [e for e in at_once if not self._sets_out(sides, step, here, e)]:
            return self._crossing(sides, step, here, here, at_once)
        for place in places:
            crossed = [e for e in range(len(self.events)) if sides.across(e, place.g[e])]
            if found := [e for e in crossed if self._counts(sides, e, place.g[e])]:
                low = here
                for e in found:
                    if sides.at_zero(e, here.g[e]) and self._sets_out(sides, step, here, e):
                        low = max(low, self._on_its_side(sides, step, here, place, e), key=lambda x: x.x)
                return self._located(sides, step, low, place, found)
            for e in crossed:  # the other way
                sides.side[e], sides.band[e] = -sides.side[e], 0.0
            here = place
        return None

    def _counts(self, sides: EventSides, e: int, g: float) -> bool:
        """Whether a function has crossed zero in a direction that counts."""
        return sides.across(e, g) and self.events[e].direction != sides.side[e]

    def _sets_out(self, sides: EventSides, step: "_Step", here: _Place, e: int) -> bool:
        """Whether a function that is at zero leaves it for its side."""
        return sides.side[e] * self.rates(here.state, step.inputs, here.g)[e] > 0.0

    def _on_its_side(self, sides: EventSides, step: "_Step", here: _Place, place: _Place, e: int) -> _Place:
        """Return a place where a function was on its side, that left zero for it and has come back."""
        x = 0.5 * (place.x - here.x)
        while x > step.resolution:
            found = step.to(here.x + x)
            if sides.side[e] * found.g[e] > max(sides.band[e], 0.0):
                return found
            x *= _NEARER
        return here

    def _located(
        self, sides: EventSides, step: "_Step", low: _Place, high: _Place, crossed: list[int]
    ) -> Crossing:
        """Close in on the first crossing between two places, by the Illinois rule and bisection."""
        targets = {e: -float(sides.side[e]) for e in crossed}
        weights, slow, moved = [1.0, 1.0], 0, 0
        for _ in range(_TRIALS):
            width = high.x - low.x
            if width <= step.resolution:
                break
            x = high.x
            for e in crossed:
                below, above = weights[0] * low.g[e], weights[1] * high.g[e]
                x = min(x, low.x + width * below / (below - above) if below != above else low.x)
            if slow >= 3:
                x, slow = 0.5 * (low.x + high.x), 0
            half = 0.5 * step.resolution
            trial = step.to(min(max(x, low.x + half), high.x - half))
            beyond = [e for e in crossed if targets[e] * trial.g[e] >= 0.0]
            if beyond:
                high, crossed = trial, beyond
                weights, moved = [weights[0] * (0.5 if moved == 1 else 1.0), 1.0], 1
            else:
                low = trial
                weights, moved = [1.0, weights[1] * (0.5 if moved == -1 else 1.0)], -1
            slow = slow + 1 if high.x - low.x > 0.5 * width else 0
        return self._crossing(sides, step, low, high, crossed)

    def _crossing(
        self, sides: EventSides, step: "_Step", low: _Place, high: _Place, crossed: list[int]
    ) -> Crossing:
        """Note where the first of the events, and those at the same time, have left the functions."""
        e, after = crossed[0], sides.copy()
        at_once = high is low
        again = at_once and sides.acted == e
        after.side[e], after.acted = -sides.side[e], -1
        if not at_once:
            after.band[e] = min(_WIDER * (abs(low.g[e]) + abs(high.g[e])), _SMALL * sides.span[e])
        elif after.band[e] < 0.0:
            after.band[e] = min(-2.0 * after.band[e], _SMALL * sides.span[e])
        for other in () if at_once else crossed[1:]:
            after.band[other] = -abs(high.g[other])
        pace = abs(float(step.to(self.step).g[e] - step.g_base[e])) / self.step
        return Crossing(high.x, e, high.state, high.hits, after, pace, again)


class _Step:
    """Shorter steps from a base."""

    def __init__(self, events: StepEvents, base: ContactState, inputs: Array) -> None:
        self._events, self._base, self.inputs = events, base, inputs
        self._known: dict[float, _Place] = {}
        self.resolution = 4.0 * _EPSILON * max(abs(base.t), events.step)  # [s]

    @property
    def g_base(self) -> Array:
        return self._events.values(self._base, self.inputs)

    def to(self, x: float) -> _Place:
        """Go to a time x after the base."""
        if x not in self._known:
            state, hits, residual = self.reached(x)
            self._known[x] = _Place(x, state, self._events.values(state, self.inputs), hits, residual)
        return self._known[x]

    def reached(self, x: float) -> tuple[ContactState, Sequence[Hit], float]:
        """Return the state at a time x after the base, the impacts on the way, and the residual."""
        state, stepper = self._base.copy(), self._events.stepper
        stepper.step(state, x, self.inputs)
        state.t = self._base.t + x
        return state, tuple(stepper.hits), stepper.residual

    def coasting(self, place: _Place) -> Array:
        """Return the rates of the functions by the motion of bodies alone."""
        delta, state = _COASTED * self._events.step, place.state.copy()
        self._events.stepper.coast(state, delta)
        return (self._events.values(state, self.inputs) - place.g) / delta


def _dip(g0: float, m0: float, g1: float, m1: float, side: float) -> float:
    """Return where in (0, 1) the cubic with values g, slopes m at its ends is beyond zero; 0: nowhere."""
    b, c = 3.0 * (g1 - g0) - 2.0 * m0 - m1, 2.0 * (g0 - g1) + m0 + m1
    discriminant = b * b - 3.0 * c * m0
    if not (isfinite(discriminant) and discriminant > 0.0):
        return 0.0
    s = -(b + copysign(sqrt(discriminant), b))
    where, depth = 0.0, 0.0
    for x in ((s / (3.0 * c) if c else 0.0), (m0 / s if s else 0.0)):
        value = side * (g0 + x * (m0 + x * (b + x * c)))
        if 0.0 < x < 1.0 and value < depth:
            where, depth = x, value
    return where
