"""modes, velocities <- a state at which something happens to rigid stops or dry friction of joints.

Stops that are approached are hit, by Newton's law, all at once: 0 <= p complementary to u+ + e u >= 0. Then
what is at rest is put into the modes that forces and accelerations allow: with accelerations u' along rows

    stops       0 <= N  complementary to  u' >= 0
    friction    |T| <= f;  where u' is not zero, T = -f u' / |u'|

which is the problem of contacts (`contact_problem`) with accelerations in place of velocities.

A stop that would be left by less than the accuracy asked for, (e u)^2 / (2 a) with a the acceleration that
presses it, has e = 0.
"""

import numpy as np

from linkwork.contact_dynamics.contact_problem import Contacts, Nodes
from linkwork.contact_dynamics.contact_solver import Solver
from linkwork.contact_dynamics.friction_cone import DRY, STOPPED
from linkwork.contact_dynamics.impact import impact
from linkwork.contact_dynamics.joint_motion import Free, JointMotion
from linkwork.contact_dynamics.settling import Settled

Array = np.ndarray

_TOUCHING = 1e-9  # gaps below are closed [rad, m]
_STILL = 1e-9  # of the speeds of the mechanism, or of 1 rad/s or m/s: slower ones are none
_EXACT = 1e-13  # of the accelerations: what is asked of the solver
_NOTHING = 1e-9  # of them, and of forces: less is none
_TURNS = 20
_FIRM = 1e-9  # singular values of G below this part of the largest are those of redundant rows


class JointSettling:
    """What happens at events."""

    def __init__(self, motion: JointMotion, accuracy: float) -> None:
        self.motion, self.accuracy = motion, accuracy

    def settle(self, t: float, q: Array, v: Array, free: Free) -> Settled:
        """Return the state after an event, and put stops and friction into modes."""
        found, motion = Settled(q.copy(), v.copy()), self.motion
        held, slides = motion.held.copy(), motion.slides.copy()
        self._put_back(t, found)
        for _ in range(_TURNS):
            if not self._hit(t, found, free):
                break
        else:
            found.notes.append(f"stops did not come to rest at t = {t:.9g} s after {_TURNS} impacts")
        self._enter_modes(t, found, free)
        self._begin(t, found, free)
        self._report(found, held, slides)
        return found

    def _report(self, found: Settled, held: Array, slides: Array) -> None:
        """Say which modes have changed."""
        motion, x = self.motion, self.motion.coordinates
        for r in np.flatnonzero(held != motion.held):
            if r < motion.stops:
                word = "rests at" if motion.held[r] else "leaves"
                found.changes.append(f"{x.stops[r].joint} {word} {x.stops[r].said}")
            elif motion.held[r]:
                found.changes.append(f"{x.friction[r - motion.stops].joint} sticks")
        for k in np.flatnonzero((slides == 0.0) & (motion.slides != 0.0)):
            if held[motion.stops + k]:
                found.changes.append(f"{x.friction[k].joint} slides")

    def _put_back(self, t: float, found: Settled) -> None:
        """Bring stops that are beyond their limits by the slack, and loops, back."""
        x = self.motion.coordinates
        x.place(found.q)
        deep = (x.gap < 0.0) & (x.gap > -1e-6)
        if deep.any():
            loops = np.zeros(len(self.motion.model.weak_pivots))
            rows = x.rows[: self.motion.stops][deep]
            self._move(found, self.motion.correction(found.q, rows, x.gap[deep], loops))

    def _move(self, found: Settled, change: Array) -> None:
        model = self.motion.model
        found.q = found.q + model.position_rates(found.q, change)
        for k in model.quaternions.tolist():
            found.q[k : k + 4] /= np.linalg.norm(found.q[k : k + 4])

    def _hit(self, t: float, found: Settled, free: Free) -> bool:
        """Let stops that are approached be hit; return whether one was."""
        motion, x = self.motion, self.motion.coordinates
        x.place(found.q)
        u = x.rows[: motion.stops] @ found.v
        near = np.flatnonzero(x.gap <= _TOUCHING)
        still = _STILL * max(1.0, float(np.abs(found.v).max(initial=0.0)))
        if not (u[near] < -still).any():
            return False
        rows = x.rows[near].copy()
        pressed = -(rows @ free(t, found.q, found.v) + x.drift(found.q, found.v)[near])
        e, u = x.restitution[near], u[near]
        rise = (e * u) ** 2 / np.maximum(2.0 * pressed, 1e-300)
        e = np.where((pressed > 0.0) & (rise < self.accuracy), 0.0, e)
        nodes, contacts, basis = self._problem(
            found.q, rows, u, np.full(len(near), STOPPED), np.zeros(len(near))
        )
        done = impact(nodes, contacts, e, tolerance=1e-13)
        found.v = found.v + basis @ done.velocities
        for r, p in zip(near, done.impulses[:, 0], strict=True):
            if p > 0.0:
                found.changes.append(f"{x.stops[r].joint} hits {x.stops[r].said}")
        return True

    def _problem(
        self, q: Array, rows: Array, bias: Array, kind: Array, bound: Array
    ) -> tuple[Nodes, Contacts, Array]:
        """Return the problem of rows whose velocities are `bias` when nothing acts, and the basis of all.

        The velocities that keep loops closed are those of one node.
        """
        model, n = self.motion.model, len(rows)
        M, Z = model.mass_matrix(q), np.eye(model.nv)
        if model.loop_names:
            _, sizes, right = np.linalg.svd(model.constraint_jacobian(q))
            Z = right[np.count_nonzero(sizes > _FIRM * sizes.max(initial=0.0)) :].T
        M, J, r = Z.T @ M @ Z, rows @ Z, Z.shape[1]
        inverse = np.linalg.inv(M)
        three, biases = np.zeros((n, 3, r)), np.zeros((n, 3))
        three[:, 0], biases[:, 0] = J, bias
        alone = np.maximum(np.einsum("ni,ij,nj->n", J, inverse, J), 1e-300)
        one = np.zeros(1, np.int64)
        nodes = Nodes(np.array([r]), one, one, M.ravel(), inverse.ravel(), np.zeros(r))
        none = np.full(n, -1, np.int64)
        contacts = Contacts(
            *(
                np.zeros(n, np.int64),
                none,
                3 * r * np.arange(n),
                np.zeros(n, np.int64),
                three.ravel(),
                biases,
            ),
            *(bound.astype(float), 1.0 / alone, kind.astype(np.int64), np.zeros(n), none),
        )
        return nodes, contacts, Z

    def _enter_modes(self, t: float, found: Settled, free: Free) -> None:
        """Find what is held, and where friction slides to."""
        motion, x, model = self.motion, self.motion.coordinates, self.motion.model
        x.place(found.q)
        u, stops = x.rows @ found.v, motion.stops
        still = _STILL * max(1.0, float(np.abs(found.v).max(initial=0.0)))
        slides = np.where(np.abs(u[stops:]) > still, np.sign(u[stops:]), 0.0)
        near = np.concatenate([(x.gap <= _TOUCHING) & (np.abs(u[:stops]) <= still), slides == 0.0])
        which = np.flatnonzero(near)
        rows = x.rows[which].copy()
        drift = x.drift(found.q, found.v)[which]
        kind = np.where(which < stops, STOPPED, DRY)
        bound = np.concatenate([np.zeros(stops), x.bound])[which]
        nodes, contacts, Z = self._problem(found.q, rows, np.zeros(len(which)), kind, bound)
        push = x.rows[stops:].T @ (-slides * x.bound)
        r = len(nodes.free)
        rubbed = Z @ (nodes.inverse.reshape(r, r) @ (Z.T @ push))
        bias = rows @ (free(t, found.q, found.v) + rubbed) + drift
        contacts.bias[:, 0] = bias
        scale = float(np.abs(bias).max(initial=0.0)) + 1e-30
        p, y = np.zeros((len(which), 3)), np.zeros(r)
        if len(which):
            Solver(nodes.size).solve(nodes, contacts, p, y, _EXACT * scale)
        after = bias + rows @ (Z @ y)
        held, force = np.zeros(len(x), bool), np.abs(p[:, 0])
        closed = np.where(kind == STOPPED, after <= _NOTHING * scale, force < bound * (1.0 - _NOTHING))
        held[which] = closed
        begins = which[(kind == DRY) & ~closed] - stops
        slides[begins] = -np.sign(p[(kind == DRY) & ~closed, 0])
        largest = max(float(force.max(initial=0.0)), float(x.bound.max(initial=0.0)))
        if not largest > 0.0:
            largest = float(np.abs(model.mass_matrix(found.q)).max()) * max(scale, 1.0)
        motion.hold(held, slides, largest)

    def _begin(self, t: float, found: Settled, free: Free) -> None:
        """Bring positions and velocities onto what is held, and see that no margin is used up already."""
        motion = self.motion
        if motion.held.any():
            self._move(found, motion.close_positions(found.q, t)[2])
            found.v = found.v + motion.close_velocities(found.q, found.v, t)[2]
        approach, hold, _ = motion.margins((found.q, found.v), t, found.q, found.v, 0.0, free)
        if approach <= 0.5 * motion.slack_gap:
            motion.slack_gap += 2.0 * (motion.slack_gap - approach)
        if hold <= 0.5 * motion.slack_force:
            motion.slack_force += 2.0 * (motion.slack_force - hold)
