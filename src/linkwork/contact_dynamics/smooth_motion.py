"""accelerations <- q, v, t: the motion between two events, with contacts in fixed modes.

Active contacts hold the rows of their modes (`contact_modes`), beside the closed loops. Three functions are
positive as long as the modes are right, each with a slack, so that what just touches does not count as
crossing:

    approach  the smallest gap of all other contacts, on the whole way from the base of the step (`swept_gap`)
    hold      the smallest margin of forces: of N >= 0, and of mu N >= |T| where a contact sticks
    stop      the slip speed of those that slide, signed by the direction at the base of the step

Beyond its zero each goes on smoothly: a normal force pulls, friction exceeds its bound, and a contact that
slides backwards is pushed on as before. So the zero can be located, and nothing is said that depends on the
step.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.contact_modes import (
    OPEN,
    SLIDING,
    STICKING,
    Held,
    Modes,
    held,
    held_rows,
    least_change,
)
from linkwork.contact_dynamics.response import Response, response
from linkwork.contact_dynamics.swept_gap import Sweep
from linkwork.contact_dynamics.touching import NONE, Surfaces, Touching

Array = np.ndarray
Free = Callable[[float, Array, Array], Array]  # accelerations without contact

SLACK_GAP = 1e-11  # of the size of the mechanism, or of 1 m
SLACK_FORCE = 1e-8  # of the largest force
SLACK_SLIP = 1e-9  # [m/s]
SLOW = 1e-6  # slip below has no direction of its own yet [m/s]
_JUMP = 1e-3  # of the speeds at a contact: more is no drift
_NEAR = 0.05  # of the size: how far from a contact the stages of a step may lead


class Moment(NamedTuple):
    """What contacts do at some positions and velocities."""

    touching: Touching
    given: Response
    held: Held
    u: Array  # (n, 3) relative velocities [m/s]
    modes: Modes
    lost: bool  # a contact is not there any more: a corner has passed an edge


class SmoothMotion:
    """Contacts in fixed modes; `settle` of `settling.py` puts them there."""

    def __init__(self, surfaces: Surfaces) -> None:
        self.surfaces, self.model = surfaces, surfaces.model
        self.size = min(float(self.model.size), 1.0)
        self.sweep = Sweep(surfaces)
        self.hold(NONE, Modes(np.zeros(0, int), np.zeros((0, 3))), np.zeros((0, 3)), np.zeros(0))

    def hold(self, touching: Touching, modes: Modes, forces: Array, friction: Array) -> None:
        """Let contacts be in some modes from now on; open ones are let go.

        `forces` (n, 3) are those to stay near; `friction` is that of sliding where contacts slide, else the
        static one.
        """
        active = modes.mode != OPEN
        self.touching, self.modes, self.forces = touching.some(active), modes.some(active), forces[active]
        self.friction = friction[active]
        self.reference = np.einsum(
            "ni,nij->nj", self.modes.direction, self.touching.axes
        )  # of slip, in the world
        self.largest = float(np.abs(self.forces).max(initial=0.0))
        self.slack_gap, self.slack_force = SLACK_GAP * self.size, SLACK_FORCE
        self._base = self._jumped = b""
        self._last: tuple[bytes, Moment] | None = None

    @property
    def count(self) -> int:
        """How many contacts are active."""
        return len(self.modes.mode)

    # the motion

    def moment(self, t: float, q: Array, v: Array, free: Free) -> Moment:
        """Return what contacts do, where the model without them accelerates by `free(t, q, v)`."""
        key = q.tobytes() + v.tobytes() + np.float64(t).tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._moment(q, v, free(t, q, v))
        return self._last[1]

    def _moment(self, q: Array, v: Array, free: Array) -> Moment:
        touching, rows, lost = self._followed(q)
        u = rows @ v
        bias = rows @ free + self.surfaces.drift(q, v, touching, self.size)
        modes = Modes(self.modes.mode, self._directions(touching, u))
        given = response(self.model, q, rows)
        answer = held(given, modes, self.friction, bias, self.forces)
        return Moment(touching, given, answer, u, modes, lost)

    def _followed(self, q: Array) -> tuple[Touching, Array, bool]:
        return self.surfaces.follow(q, self.touching, _NEAR * self.size)

    def _directions(self, touching: Touching, u: Array) -> Array:
        """Return the directions of slip (n, 3), along the axes.

        Near a slip of zero u / |u| turns faster than anything can be integrated. There, below SLOW,
        it is that of u plus a little along the reference, which vanishes as slip grows. Backwards
        slip counts as forwards.
        """
        found = np.zeros((self.count, 3))
        slides = np.flatnonzero(self.modes.mode == SLIDING)
        if len(slides):
            before = np.einsum("nij,nj->ni", touching.axes[slides], self.reference[slides])
            before[:, 0] = 0.0
            w = u[slides].copy()
            w[:, 0] = 0.0
            w -= 2.0 * np.minimum(np.sum(w * before, axis=1, keepdims=True), 0.0) * before
            speed = np.linalg.norm(w, axis=1, keepdims=True)
            w += SLOW / (1.0 + (0.1 * speed / SLOW) ** 2) * before
            found[slides] = w / np.linalg.norm(w, axis=1, keepdims=True)
        return found

    def start_from(self, q: Array, v: Array) -> None:
        """Note the base of a step: slip directions are those there."""
        key = q.tobytes() + v.tobytes()
        if key == self._base:
            return
        self._base = key
        slides = self.modes.mode == SLIDING
        if slides.any():
            touching, rows, _ = self._followed(q)
            u = rows @ v
            u[:, 0] = 0.0
            speed = np.linalg.norm(u, axis=1)
            moves = slides & (speed > SLOW)
            world = np.einsum("ni,nij->nj", u, touching.axes)
            self.reference[moves] = world[moves] / speed[moves, None]
            self._last = None

    def change(self, t: float, q: Array, v: Array, free: Free) -> tuple[Array, float]:
        """Return by how much contacts change the accelerations (nv,), and their power [W]."""
        if not self.count:
            return np.zeros_like(v), 0.0
        at = self.moment(t, q, v, free)
        return at.given.spread(at.held.change), float(np.sum(at.held.forces * at.u))

    # drift

    def close_positions(self, q: Array, t: float) -> tuple[float, Array, Array]:
        """Return the worst gap of active contacts, those of loops, and changes (nv,) that close all."""
        touching, rows, _ = self._followed(q)
        rows, gaps = rows[:, 0], touching.gap
        loops = self.model.constraint_residual(q, t) if self.model.loop_names else np.zeros(0)
        change = self.correction(q, rows, np.concatenate([gaps, loops]))
        return float(np.abs(gaps).max(initial=0.0)), loops, change

    def close_velocities(self, q: Array, v: Array, t: float) -> tuple[float, Array, Array]:
        """Return the same of velocities: what active contacts hold.

        Where a contact has gone over an edge its normal jumps, and velocities would have to. They are left as
        they are then: the end of the mode is found there, and an impact does it.
        """
        _, rows, _ = self._followed(q)
        rows = rows.reshape(3 * self.count, -1)[held_rows(self.modes)]
        u = rows @ v
        fastest = float(np.max(np.abs(rows) @ np.abs(v), initial=0.0))
        if np.abs(u).max(initial=0.0) > _JUMP * fastest + SLOW:
            self._jumped = q.tobytes()
            return 0.0, np.zeros(len(self.model.weak_pivots)), np.zeros(self.model.nv)
        loops = self.model.constraint_velocity(q, v, t) if self.model.loop_names else np.zeros(0)
        change = self.correction(q, rows, np.concatenate([u, loops]))
        return float(np.abs(u).max(initial=0.0)), loops, change

    def correction(self, q: Array, rows: Array, errors: Array) -> Array:
        """Return the smallest change, by kinetic energy, that takes errors from rows and loops."""
        if not len(errors):
            return np.zeros(self.model.nv)
        if self.model.loop_names:
            rows = np.vstack([rows, self.model.constraint_jacobian(q)])
        answer = np.linalg.solve(self.model.mass_matrix(q), rows.T)
        return answer @ least_change(rows @ answer, -errors)

    # what ends it

    def margins(
        self, base: tuple[Array, Array], t: float, q: Array, v: Array, span: float, free: Free
    ) -> Array:
        """Return approach, hold and stop at a state, `span` seconds after the base (q, v) of the step."""
        gap = self.sweep.gap(base, (q, v), span, self.touching, self.slack_gap)
        found = np.array([gap + self.slack_gap, 1.0, 1.0])
        if self.count:
            at = self.moment(t, q, v, free)
            found[1] = -1.0 if at.lost or q.tobytes() == self._jumped else self.force_margin(at)
            slides = self.modes.mode == SLIDING
            forward = np.sum(np.einsum("nij,nj->ni", at.touching.axes, self.reference) * at.u, axis=1)
            found[2] = float(np.min(forward[slides], initial=1.0)) + SLACK_SLIP
        return found

    def force_margin(self, at: Moment) -> float:
        """Return by how much forces are inside of their bounds, relative to the largest, with the slack."""
        p = at.held.forces
        largest = max(self.largest, 1e-30)
        sticks = self.modes.mode == STICKING
        tangent = np.linalg.norm(p[:, 1:], axis=1)
        least = min(
            float(np.min(p[:, 0], initial=np.inf)),
            float(np.min((self.friction * p[:, 0] - tangent)[sticks], initial=np.inf)),
        )
        return least / largest + self.slack_force
