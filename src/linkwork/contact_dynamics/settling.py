"""modes, velocities <- a state at which something happens: impacts, contacts that come, go, slide and stick.

At an event all that touches is looked at. Contacts that approach undergo an impact (`impact`), then those that
neither approach nor part are put into the modes that forces and accelerations allow (`contact_forces`).

*Zeno.* A ball whose bounces shrink by e comes to rest after infinitely many. A contact that would rise by less than
the accuracy asked for, (e u_n)^2 / (2 a_n) with a_n the acceleration that presses it down, has e = 0. So has one
that others push up, as when a block rocks from corner to corner: it stays, and its velocity is taken away.

*Painleve.* Where a sliding contact pushes itself into the other body, no finite forces exist. Then there is an impact
without a collision: the smallest impulses with which the motion can go on, those of the same problem in velocities
when forces have acted for a moment.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from linkwork.contact_dynamics.contact_forces import solve_modes
from linkwork.contact_dynamics.contact_modes import SLIDING, STICKING, Modes, held
from linkwork.contact_dynamics.contact_problem import Solver
from linkwork.contact_dynamics.impact import impact
from linkwork.contact_dynamics.response import Response, response
from linkwork.contact_dynamics.smooth_motion import SLACK_SLIP, Free, SmoothMotion
from linkwork.contact_dynamics.touching import Touching

Array = np.ndarray

_TOUCHING = 1e-9  # of the size: gaps below are closed
_STILL = 1e-9  # of the speeds of the mechanism, or of 1 m/s: slower ones are none
_MOMENT = 1e-7  # [s] for which forces act before an impact without collision
_TURNS = 20


class PairLaw(Protocol):
    """What materials say of contacts."""

    def __call__(self, touching: Touching) -> tuple[Array, Array, Array]:
        """Return friction, static friction and restitution (n,) of contacts."""
        ...


@dataclass(frozen=True)
class Blow:
    """The impulse at a contact in an impact."""

    t: float  # [s]
    bodies: tuple[str, str]
    place: Array  # (3,) [m]
    impulse: Array  # (3,) on the first body, in the world [N s]


@dataclass
class Settled:
    """The state after an event."""

    q: Array
    v: Array
    blows: list[Blow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Settling:
    """What happens at events."""

    def __init__(self, motion: SmoothMotion, law: PairLaw, accuracy: float, rule: str = "newton") -> None:
        self.motion, self.law, self.accuracy, self.rule = motion, law, accuracy, rule
        self.surfaces, self.model = motion.surfaces, motion.model

    def settle(self, t: float, q: Array, v: Array, free: Free) -> Settled:
        """Return the state after an event, and put contacts into modes; `free(t, q, v)` are accelerations."""
        found = Settled(q.copy(), v.copy())
        self._lift(found)
        for _ in range(_TURNS):
            touching = self._touching(found.q)
            if not len(touching.gap):
                self._let_go(touching)
                return found
            rows = self.surfaces.rows(found.q, touching)
            given = response(self.model, found.q, rows)
            still = _STILL * max(1.0, float(np.abs(found.v).max(initial=0.0)))
            u = rows @ found.v
            bias = rows @ free(t, found.q, found.v) + self.surfaces.drift(
                found.q, found.v, touching, self.motion.size
            )
            mu, static, e = self.law(touching)
            if (u[:, 0] < -still).any():
                self._hit(t, found, touching, given, u, mu, self._restitution(e, u, bias))
            elif not self._enter_modes(t, found, touching, given, u, bias, mu, static, still, free):
                continue
            else:
                return found
        found.notes.append(f"contacts did not come to an end at t = {t:.9g} s after {_TURNS} impacts")
        return found

    def _touching(self, q: Array) -> Touching:
        """Return what touches."""
        return self.surfaces.find(q, _TOUCHING * self.motion.size)

    def _lift(self, found: Settled) -> None:
        """Take away overlaps, which are as small as the slack with which an approach is noticed."""
        touching = self._touching(found.q)
        deep = touching.some(touching.gap < 0.0)
        if len(deep.gap):
            rows = self.surfaces.rows(found.q, deep)[:, 0]
            loops = np.zeros(len(self.model.weak_pivots))
            self._move(found, self.motion.correction(found.q, rows, np.concatenate([deep.gap, loops])))

    def _move(self, found: Settled, change: Array) -> None:
        found.q = found.q + self.model.position_rates(found.q, change)
        for k in self.model.quaternions.tolist():
            found.q[k : k + 4] /= np.linalg.norm(found.q[k : k + 4])

    def _restitution(self, e: Array, u: Array, bias: Array) -> Array:
        """Return e of contacts; none where they approach, and would rise by less than the accuracy."""
        return np.where((u[:, 0] < 0.0) & self._stays(e * u[:, 0], bias), 0.0, e)

    def _stays(self, speed: Array, bias: Array) -> Array:
        """Return whether contacts that part with a speed are back before they have risen worth mentioning."""
        rise = speed**2 / np.maximum(-2.0 * bias[:, 0], 1e-300)
        return (bias[:, 0] < 0.0) & (rise < self.accuracy * self.motion.size)

    def _hit(
        self, t: float, found: Settled, touching: Touching, given: Response, u: Array, mu: Array, e: Array
    ) -> None:
        done = impact(given.nodes(), given.contacts(u, mu), e, self.rule, tolerance=1e-12)
        found.v = found.v + given.spread(done.velocities)
        self._log(t, found, touching, done.impulses)
        if done.lowered < 1.0:
            found.notes.append(f"restitution was lowered to {done.lowered:.3g} of itself at t = {t:.9g} s: no energy is gained")

    def _log(self, t: float, found: Settled, touching: Touching, p: Array) -> None:
        names = self.surfaces.detection.owners
        world = np.einsum("ni,nij->nj", p, touching.axes)
        for k in np.flatnonzero(p.any(axis=1)):
            a, b = touching.label[k, :2]
            found.blows.append(Blow(t, (names[a], names[b]), touching.place[k], world[k]))

    def _let_go(self, touching: Touching) -> None:
        none = np.zeros(0)
        self.motion.hold(touching, self.motion.modes.some(np.zeros(0, int)), np.zeros((0, 3)), none, none)

    def _enter_modes(
        self,
        t: float,
        found: Settled,
        touching: Touching,
        given: Response,
        u: Array,
        bias: Array,
        mu: Array,
        static: Array,
        still: float,
        free: Free,
    ) -> bool:
        """Find modes of what rests or slides; return whether there are any that can be."""
        rests = (u[:, 0] <= still) | self._stays(u[:, 0], bias)
        touching, u, bias, mu, static = touching.some(rests), u[rests], bias[rests], mu[rests], static[rests]
        given = given._replace(rows=given.rows[rests])
        slow = np.linalg.norm(u[:, 1:], axis=1) <= 2.0 * SLACK_SLIP
        friction = np.where(slow, static, mu)
        modes, answer, _, _, jammed = solve_modes(given, bias, u, friction, at_rest=2.0 * SLACK_SLIP)
        if (friction != mu)[modes.mode == SLIDING].any():
            friction = np.where(modes.mode == SLIDING, mu, friction)
            modes, answer, _, _, jammed = solve_modes(given, bias, u, friction, at_rest=2.0 * SLACK_SLIP)
        if jammed:
            self._jam(t, found, touching, given, u, bias, mu)
            return False
        self.motion.hold(touching, modes, answer.forces, friction, friction)
        self._close(t, found, free)
        return True

    def _jam(
        self, t: float, found: Settled, touching: Touching, given: Response, u: Array, bias: Array, mu: Array
    ) -> None:
        """Let contacts that no finite forces hold stop: impulses that end all slip, where friction allows them."""
        ahead = u + _MOMENT * bias
        ahead[:, 0] = np.minimum(_MOMENT * bias[:, 0], 0.0)
        stuck = Modes(np.full(len(u), STICKING), np.zeros((len(u), 3)))
        p, y = held(given, stuck, mu, ahead).forces, np.zeros(len(given.mass))
        nodes = given.nodes()
        Solver(nodes.size).solve(nodes, given.contacts(ahead, mu), p, y, 1e-3 * _MOMENT)
        found.v = found.v + given.spread(y)
        self._log(t, found, touching, p)
        owners = self.surfaces.detection.owners
        names = sorted({owners[shape] for shape in touching.label[p.any(axis=1), :2].ravel()})
        found.notes.append(
            f"no finite forces hold the contact of {' and '.join(names)} at t = {t:.9g} s (Painleve): it jams, "
            "by an impact"
        )

    def _close(self, t: float, found: Settled, free: Free) -> None:
        """Bring positions and velocities onto the constraints, and see that no margin is used up already."""
        motion = self.motion
        if motion.count:
            _, _, change = motion.close_positions(found.q, t)
            self._move(found, change)
            found.v = found.v + motion.close_velocities(found.q, found.v, t)[2]
        base = found.q, found.v
        motion.start_from(*base)
        approach, hold, _ = motion.margins(base, t, found.q, found.v, 0.0, free)
        if approach <= 0.5 * motion.slack_gap:
            motion.slack_gap += 2.0 * (motion.slack_gap - approach)
        if hold <= 0.5 * motion.slack_force and hold > -1.0:
            motion.slack_force += 2.0 * (motion.slack_force - hold)
