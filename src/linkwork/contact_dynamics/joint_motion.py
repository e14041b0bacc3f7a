"""The motion between two events, rigid stops and dry friction of joints in fixed modes, and what ends it.

A stop is open, or *closed*: its row is held, by a force N. Friction *slides* with f against the velocity, or
*sticks*: its velocity stays zero, by a force |T| <= f. With the rows R of what is held, and G those of closed
loops, the accelerations a_f of the model without all this, and F the forces of what slides,

    a = a_f + M^-1 (F + R^T x + G^T y),    R a + R' v = 0,    G (a - a_f) = 0.

Three functions are positive as long as the modes are right, each with a slack:

    approach  the smallest gap of open stops, on the whole way from the base of the step
    hold      the smallest margin of forces: of N >= 0, and of f >= |T|
    stop      the speed of what slides, along the direction that it began with

Beyond its zero each goes on smoothly, so that the zero can be located.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.rigid_coordinates import RigidCoordinates
from linkwork.model.model import Model

Array = np.ndarray
Free = Callable[[float, Array, Array], Array]  # accelerations without stops and friction

SLACK_GAP = 1e-11  # [rad, m]
SLACK_FORCE = 1e-8  # of the largest force
SLACK_SPEED = 1e-10  # [rad/s, m/s]
_RANK = 1e-11  # singular values below this part of the largest are rounding errors


class Moment(NamedTuple):
    """What stops and friction do at some positions and velocities."""

    forces: Array  # (rows,) along the rows [N m, N]
    change: Array  # (nv,) of the accelerations
    power: float  # [W]


class JointMotion:
    """Stops and friction in fixed modes; `JointSettling` puts them there."""

    def __init__(self, model: Model) -> None:
        self.model, self.coordinates = model, RigidCoordinates(model)
        self.stops = len(self.coordinates.stops)
        count = len(self.coordinates)
        self.hold(np.zeros(count, bool), np.zeros(count - self.stops), 0.0)

    def hold(self, held: Array, slides: Array, largest: float) -> None:
        """Let rows (rows,) be held from now on, and friction (n,) slide: 1 forwards, -1 backwards, 0 not."""
        self.held, self.slides, self.largest = held, slides, largest
        self.slack_gap, self.slack_force = SLACK_GAP, SLACK_FORCE
        self._last: tuple[bytes, Moment] | None = None

    @property
    def count(self) -> int:
        """How many rows are held, or slide."""
        return int(np.count_nonzero(self.held)) + int(np.count_nonzero(self.slides))

    def start_from(self, q: Array, v: Array) -> None:
        """Note the base of a step: directions stay what they are."""

    def moment(self, t: float, q: Array, v: Array, free: Free) -> Moment:
        """Return what stops and friction do, where the model without them accelerates by `free(t, q, v)`."""
        key = q.tobytes() + v.tobytes() + np.float64(t).tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._moment(q, v, free(t, q, v))
        return self._last[1]

    def _moment(self, q: Array, v: Array, free: Array) -> Moment:
        x = self.coordinates
        x.place(q)
        forces = np.zeros(len(x))
        forces[self.stops :] = -self.slides * x.bound
        R, drift = x.rows[self.held], x.drift(q, v)[self.held]
        push = x.rows.T @ forces
        rows, answer = self._answer(q, R)
        alone = np.linalg.solve(self.model.mass_matrix(q), push)
        right = -rows @ alone
        right[: len(R)] -= R @ free + drift
        y = least(rows @ answer, right)
        forces[self.held] = y[: len(R)]
        return Moment(forces, alone + answer @ y, float(forces @ (x.rows @ v)))

    def _answer(self, q: Array, R: Array) -> tuple[Array, Array]:
        """Return rows R and those of loops, and M^-1 of them, by columns."""
        rows = np.vstack([R, self.model.constraint_jacobian(q)]) if self.model.loop_names else R
        return rows, np.linalg.solve(self.model.mass_matrix(q), rows.T)

    def change(self, t: float, q: Array, v: Array, free: Free) -> tuple[Array, float]:
        """Return by how much the accelerations change (nv,), and the power of that [W]."""
        if not self.count:
            return np.zeros_like(v), 0.0
        at = self.moment(t, q, v, free)
        return at.change, at.power

    # drift

    def close_positions(self, q: Array, t: float) -> tuple[float, Array, Array]:
        """Return the worst gap of closed stops, those of loops, and changes (nv,) that close all."""
        x = self.coordinates
        x.place(q)
        closed = self.held[: self.stops]
        gaps = x.gap[closed]
        loops = self.model.constraint_residual(q, t) if self.model.loop_names else np.zeros(0)
        return _worst(gaps), loops, self.correction(q, x.rows[: self.stops][closed], gaps, loops)

    def close_velocities(self, q: Array, v: Array, t: float) -> tuple[float, Array, Array]:
        """Return the same of velocities: of all that is held."""
        x = self.coordinates
        x.place(q)
        u = x.rows[self.held] @ v
        loops = self.model.constraint_velocity(q, v, t) if self.model.loop_names else np.zeros(0)
        return _worst(u), loops, self.correction(q, x.rows[self.held], u, loops)

    def correction(self, q: Array, R: Array, errors: Array, loops: Array) -> Array:
        """Return the smallest change, by kinetic energy, that takes errors from rows R and from loops."""
        if not len(errors) and not len(loops):
            return np.zeros(self.model.nv)
        rows, answer = self._answer(q, R)
        return answer @ least(rows @ answer, -np.concatenate([errors, loops]))

    # what ends it

    def margins(
        self, base: tuple[Array, Array], t: float, q: Array, v: Array, span: float, free: Free
    ) -> Array:
        """Return approach, hold and stop at a state, `span` seconds after the base (q, v) of the step."""
        x, found = self.coordinates, np.ones(3)
        x.place(base[0])
        start, rate = x.gap.copy(), x.rows[: self.stops] @ base[1]
        x.place(q)
        u = x.rows @ v
        opened = ~self.held[: self.stops]
        ways = start[opened], rate[opened], x.gap[opened], u[: self.stops][opened]
        found[0] = float(np.min(lowest(*ways, span), initial=1.0)) + self.slack_gap
        if self.held.any():
            forces = self.moment(t, q, v, free).forces
            x.place(q)
            closed, sticks = self.held[: self.stops], self.held[self.stops :]
            ahead = x.bound[sticks] - np.abs(forces[self.stops :][sticks])
            least_force = min(forces[: self.stops][closed].min(initial=np.inf), ahead.min(initial=np.inf))
            found[1] = least_force / max(self.largest, 1e-30) + self.slack_force
        moves = self.slides != 0.0
        found[2] = float(np.min((self.slides * u[self.stops :])[moves], initial=1.0)) + SLACK_SPEED
        return found


def lowest(g0: Array, u0: Array, g1: Array, u1: Array, span: float) -> Array:
    """Return the least value of cubics from g0 with slope u0 to g1 with slope u1, in a time `span`.

    That is g1, or a minimum on the way; g0 itself, from which a stop may have been left, does not count.
    """
    best = g1.copy()
    if span <= 0.0:
        return best
    a, b = span * u0, span * u1  # g = g0 + a s + (3 d - 2 a - b) s^2 + (a + b - 2 d) s^3,  d = g1 - g0
    d = g1 - g0
    c2, c3 = 3.0 * d - 2.0 * a - b, a + b - 2.0 * d
    root = c2 * c2 - 3.0 * c3 * a  # the slope a + 2 c2 s + 3 c3 s^2 rises through zero at the larger root
    with np.errstate(divide="ignore", invalid="ignore"):
        s = -a / (c2 + np.sqrt(root))
    on_way = (a < 0.0) & (root >= 0.0) & (s > 0.0) & (s < 1.0)
    s = np.where(on_way, s, 0.0)
    return np.where(on_way, np.minimum(best, g0 + s * (a + s * (c2 + s * c3))), best)


def _worst(errors: Array) -> float:
    return float(np.abs(errors).max(initial=0.0))


def least(A: Array, right: Array) -> Array:
    """Return the smallest x with A x = right, scaled so that rows of any unit count alike."""
    if not len(right):
        return np.zeros(0)
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(A)), 1e-300))
    y, *_ = np.linalg.lstsq(scale[:, None] * A * scale, scale * right, rcond=_RANK)
    return scale * y
