"""smallest gap <- two states: what comes closest on the way from one to the other, so that nothing is passed.

On the way, a cubic through both states, the gap of two bodies changes by no more than their speeds allow. So
an interval is clear of a pair if the sum of its gaps at both ends exceeds that times the length (conservative
advancement, Mirtich 1996). One that is not is halved, until bodies move in it by less than a part of the
thinnest of them: then what has passed is seen inside.
"""

import numpy as np

from linkwork.contact_dynamics.reach import fill_reach
from linkwork.contact_dynamics.touching import Surfaces, Touching, matched

Array = np.ndarray
State = tuple[Array, Array]

_THIN = 0.2  # of the smallest half width
_FASTER = 1.25  # than at both ends bodies may be in between


class Sweep:
    """The shapes of a model on their way."""

    def __init__(self, surfaces: Surfaces) -> None:
        self._surfaces, self._model = surfaces, surfaces.model
        reach = surfaces.detection.table.reach
        finite = reach[reach[:, 6] < 1e100, 3:6]
        self.thin = float(np.min(finite, initial=1e3, where=finite > 0.0))

    def gap(self, base: State, state: State, span: float, active: Touching, slack: float) -> float:
        """Return the gap of contacts that are not active, as far as bodies move in the span.

        It is that at the end, or, where it was below -slack on the way, what it was there.
        """
        if span <= 0.0:
            return self._gap(state[0], 1e-3 * self.thin, active)[0]
        return self._last(base, state, span, active, slack)

    def _last(self, a: State, b: State, span: float, active: Touching, slack: float) -> float:
        speed = _FASTER * np.maximum(self._speeds(*a), self._speeds(*b))  # of each shape
        fastest = float(np.sort(speed)[-2:].sum())
        margin = max(0.5 * fastest * span, 1e-3 * self.thin)
        begin, pace = self._gap(a[0], margin, active, speed)
        end, other = self._gap(b[0], margin, active, speed)
        pace = max(pace, other)
        if begin < -slack:
            return begin
        clear = begin + end > pace * span or fastest * span < _THIN * self.thin
        if end < -slack or clear:
            return end
        middle = self._between(a, b, span)
        first = self._last(a, middle, 0.5 * span, active, slack)
        return first if first < -slack else self._last(middle, b, 0.5 * span, active, slack)

    def _gap(
        self, q: Array, margin: float, active: Touching, speed: Array | None = None
    ) -> tuple[float, float]:
        """Return the smallest gap within a margin, and how fast the gap of any of these may change."""
        found = self._surfaces.find(q, margin)
        others = np.ones(len(found.gap), bool)
        if len(active.gap):
            same = matched(active, found)
            others[same[same >= 0]] = False
        gap = float(np.min(found.gap[others], initial=margin))
        if speed is None or not others.any():
            return gap, 0.0
        return gap, float(speed[found.label[others, :2]].sum(axis=1).max())

    def _speeds(self, q: Array, v: Array) -> Array:
        """Return how fast any point of each shape moves at most [m/s]."""
        surfaces = self._surfaces
        surfaces.move_to(q)
        shapes = surfaces.detection.shapes
        speeds, motion = np.zeros(len(shapes.link)), surfaces.detection.motion
        fill_reach(surfaces.layout, shapes, surfaces.poses, surfaces.J, v, 1.0, motion, speeds)
        return speeds

    def _between(self, a: State, b: State, span: float) -> State:
        """Return the state half-way, on a cubic."""
        f, g = (self._model.position_rates(*x) for x in (a, b))
        q = 0.5 * (a[0] + b[0]) + 0.125 * span * (f - g)
        for k in self._model.quaternions.tolist():
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q, 0.5 * (a[1] + b[1])
