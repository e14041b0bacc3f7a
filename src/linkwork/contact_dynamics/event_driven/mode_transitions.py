"""modes, velocities <- a state at which something happens: impacts, contacts that come, go, slide and stick.

At an event all that touches is looked at. Contacts that approach undergo an impact (`impact`), then those
that neither approach nor part are put into the modes that forces and accelerations allow (`contact_forces`).

*Zeno.* A ball whose bounces shrink by e comes to rest after infinitely many. A contact that would rise by
less than the accuracy asked for, (e u_n)^2 / (2 a_n) with a_n the acceleration that presses it down, has e =
0. So has one that others push up, as when a block rocks from corner to corner: it stays, and its velocity is
taken away.

*Painleve.* Where a sliding contact pushes itself into the other body, no finite forces exist. Then there is
an impact without a collision: the smallest impulses with which the motion can go on, those of the same
problem in velocities when forces have acted for a moment. If what slips jams again at once, all of its slip
ends: contacts stick, which takes energy away, whatever the bound of friction.

*What begins to slip* slips where forces push it. A wheel that does not roll any more, and is pushed sideways,
has some nm/s along its rim that friction would end within a moment and turn back, for ever. Slip that is
slower than any direction can be told from, and that its friction ends in no time, counts as none.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.event_driven.active_contacts import ActiveContacts
from linkwork.contact_dynamics.event_driven.active_record import OPEN, SLIDING, STICKING
from linkwork.contact_dynamics.event_driven.contact_forces import SolvedModes, solve_modes, what_cancels
from linkwork.contact_dynamics.event_driven.contact_modes import Modes, held, parts
from linkwork.contact_dynamics.event_driven.contact_response import Response, response
from linkwork.contact_dynamics.event_driven.inner_forces import inner_forces
from linkwork.contact_dynamics.event_driven.mode_margins import SLACK_SLIP
from linkwork.contact_dynamics.event_driven.smooth_motion import Free, SmoothMotion
from linkwork.contact_dynamics.event_driven.state_at_event import Look, MaterialLaw
from linkwork.contact_dynamics.event_driven.touching import Touching
from linkwork.contact_dynamics.problem.rigid_joints import look_at_joints
from linkwork.contact_dynamics.solver.contact_solver import Solver
from linkwork.contact_dynamics.solver.even_impulses import shared_evenly
from linkwork.contact_dynamics.solver.impact import impact
from linkwork.mechanism.contact import IMPACTS

Array = np.ndarray

_TOUCHING = 1e-9  # of the size: gaps below are closed
_STILL = 1e-9  # of the speeds of the mechanism, or of 1 m/s: slower ones are none
_BEYOND = 1e-6  # farther beyond its limit a joint is not put back before modes are found [rad, m]
_MOMENT = 1e-7  # [s] for which forces act before an impact without collision
_FADING = 1e-8  # [s] in which a slip is over that is no slip
_TURNS = 20
_SLOWEST = 1e-6  # slip that is certainly one [m/s]
_LIFTS = 10
_WORDS = {OPEN: "part", SLIDING: "slide", STICKING: "stick"}


class Blow(NamedTuple):
    """The impulse at a contact in an impact."""

    t: float  # [s]
    bodies: tuple[str, str]  # a and b
    place: tuple[float, ...]  # (d,) [m]
    impulse: tuple[float, ...]  # (d,) on b, in the world [N s]


@dataclass
class Settled:
    """The state after an event."""

    q: Array
    v: Array
    blows: list[Blow] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)  # of pairs of bodies: "floor and ball stick"
    notes: list[str] = field(default_factory=list)


class Settling:
    """What happens at events."""

    def __init__(self, motion: SmoothMotion, law: MaterialLaw, accuracy: float, rule: str = "newton") -> None:
        self.motion, self.law, self.accuracy, self.rule = motion, law, accuracy, rule
        self.surfaces, self.model = motion.surfaces, motion.model
        self._looks = ActiveContacts(motion.surfaces, motion.wide)
        self._at_rest = 2.0 * SLACK_SLIP  # slower slip is none [m/s]
        self._jams = 0  # at an event

    def settle(self, t: float, q: Array, v: Array, free: Free) -> Settled:
        """Return the state after an event, and put contacts into modes; `free(t, q, v)` are accelerations."""
        found, joints = Settled(q.copy(), v.copy()), self.motion.active.joints
        before, modes = self._pair_modes(), joints.mode.copy()
        self._settle(t, found, free)
        after = self._pair_modes()
        self._report_joints(found, modes, joints.mode)
        for pair in {**before, **after}:
            if (mode := after.get(pair, OPEN)) != before.get(pair, OPEN):
                found.changes.append(f"{pair[0]} and {pair[1]} {_WORDS[mode]}")
        return found

    def _report_joints(self, found: Settled, before: Array, after: Array) -> None:
        """Say which stops and joints with friction are in other modes."""
        x, stops = self._looks.joints.coordinates, self._looks.joints.stops
        for r in np.flatnonzero(before != after):
            if r < stops:
                word = "rests at" if after[r] == STICKING else "leaves"
                found.changes.append(f"{x.stops[r].joint} {word} {x.stops[r].said}")
            elif STICKING in (before[r], after[r]):
                word = "sticks" if after[r] == STICKING else "slides"
                found.changes.append(f"{x.friction[r - stops].joint} {word}")

    def _pair_modes(self) -> dict[tuple[str, str], int]:
        """Return what pairs of bodies do that touch: they stick if one of their contacts does."""
        found: dict[tuple[str, str], int] = {}
        owners, motion = self.surfaces.detection.owners, self.motion
        for (a, b), mode in zip(
            motion.active.label[: motion.count, :2].tolist(), motion.modes.tolist(), strict=True
        ):
            pair = owners[a], owners[b]
            found[pair] = max(mode, found.get(pair, OPEN))
        return found

    def _settle(self, t: float, found: Settled, free: Free) -> None:
        self._lift(found)
        self._at_rest, self._jams = 2.0 * SLACK_SLIP, 0
        for _ in range(_TURNS):
            look = self._look(t, found, free)
            still = _STILL * max(1.0, float(np.abs(found.v).max(initial=0.0)))
            if (look.u[:, 0] < -still).any() or (look.joints.u[look.stops] < -still).any():
                self._hit(t, found, look)
            elif self._enter_modes(t, found, look, still, free):
                if self.motion.slides_on or self._at_rest > _SLOWEST:
                    return
                self._at_rest *= 10.0  # a slip that is over was taken for one
        found.notes.append(f"contacts did not come to an end at t = {t:.9g} s after {_TURNS} impacts")

    def _look(self, t: float, found: Settled, free: Free) -> Look:
        touching = self._touching(found.q)
        rows, u, drift = self._looks.look(found.q, found.v, touching)
        given, x = response(self.model, found.q, rows), self._looks.joints.coordinates
        joints = look_at_joints(x, found.q, found.v, _TOUCHING, self._at_rest)
        accelerations = free(t, found.q, found.v)
        if joints.push.any():
            accelerations = accelerations + given.answer(joints.push)
        pushed = rows @ accelerations
        bias, cancels = pushed + drift, what_cancels(pushed, drift)
        return Look(touching, given, u, bias, cancels, *self.law(touching), joints, accelerations)

    def _touching(self, q: Array) -> Touching:
        """Return what touches."""
        return self.surfaces.find(q, _TOUCHING * self.motion.size)

    def _lift(self, found: Settled) -> None:
        """Take away overlaps, which are as small as the slack with which an approach is noticed."""
        x = self._looks.joints.coordinates
        for _ in range(_LIFTS):
            touching = self._touching(found.q)
            deep = touching.some(touching.gap < 0.0)
            x.place(found.q)
            beyond = (x.gap < 0.0) & (x.gap > -_BEYOND)
            if not len(deep.gap) and not beyond.any():
                return
            rows = self._looks.look(found.q, found.v, deep).rows[:, 0]
            rows, gaps = np.vstack([rows, x.rows[: len(beyond)][beyond]]), np.append(deep.gap, x.gap[beyond])
            loops = np.zeros(len(self.model.weak_pivots))
            self._move(found, self.motion.correction(found.q, rows, np.concatenate([gaps, loops])))
            if gaps.min() > -_TOUCHING * self.motion.size:
                return

    def _move(self, found: Settled, change: Array) -> None:
        found.q = found.q + self.model.position_rates(found.q, change)
        for k in self.model.quaternions.tolist():
            found.q[k : k + 4] /= np.linalg.norm(found.q[k : k + 4])

    def _stays(self, speed: Array, bias: Array) -> Array:
        """Return whether contacts that part with a speed are back before they have risen at all."""
        rise = speed**2 / np.maximum(-2.0 * bias[:, 0], 1e-300)
        return (bias[:, 0] < 0.0) & (rise < self.accuracy * self.motion.size)

    def _hit(self, t: float, found: Settled, look: Look) -> None:
        """Let contacts that approach collide."""
        normal, e = look.u[:, 0], look.restitution
        e = np.where((normal < 0.0) & self._stays(e * normal, look.bias), 0.0, e)
        given = look.given if self.rule == IMPACTS[0] else look.given._replace(rows=look.given.rows[:, :3])
        stops = look.joints.some(look.stops)
        pressed = stops.rows @ look.free + stops.drift
        still = (stops.u < 0.0) & self._stays(stops.restitution * stops.u, pressed[:, None])
        own = stops.problem(given.reduced, look.free)._replace(bias=stops.u)
        contacts = given.contacts(look.u, look.bound, own)
        last = np.where(still, 0.0, stops.restitution)
        e = np.concatenate([e, np.zeros(len(contacts.a) - len(e) - len(last)), last])
        done = impact(given.nodes(), contacts, e, self.rule, tolerance=1e-12)
        found.v = found.v + given.spread(done.velocities)
        even = shared_evenly(given.nodes(), contacts, done.impulses[: len(look.u)])
        self._log(t, found, look.touching, even)
        x = self._looks.joints.coordinates
        for r, p in zip(stops.number, done.impulses[len(done.impulses) - len(last) :, 0], strict=True):
            if p > 0.0:
                found.changes.append(f"{x.stops[r].joint} hits {x.stops[r].said}")
        if done.lowered < 1.0:
            words = f"restitution was lowered to {done.lowered:.3g} of itself at t = {t:.9g} s"
            found.notes.append(f"{words}: Newton's law would have gained energy")

    def _log(self, t: float, found: Settled, touching: Touching, p: Array) -> None:
        names, size = self.surfaces.detection.owners, 2 if self.surfaces.flat else 3
        world = np.einsum("ni,nij->nj", p, touching.axes)
        for k in np.flatnonzero(p.any(axis=1)):
            a, b = touching.label[k, :2]
            where, impulse = touching.place[k, :size].tolist(), (-world[k, :size]).tolist()
            found.blows.append(Blow(t, (names[a], names[b]), tuple(where), tuple(impulse)))

    def _enter_modes(self, t: float, found: Settled, look: Look, still: float, free: Free) -> bool:
        """Find modes of what rests or slides; return whether there are any that can be."""
        joints, pressed = look.joints, look.joints.rows @ look.free + look.joints.drift
        rests = ~look.stops | (joints.u <= still) | self._stays(joints.u, pressed[:, None])
        look = look.some((look.u[:, 0] <= still) | self._stays(look.u[:, 0], look.bias), rests)
        slow, bound = np.linalg.norm(look.u[:, 1:3], axis=1) <= self._at_rest, look.bound.copy()
        bound[slow, 0] = look.static_friction[slow]
        solved = self._solved(look, bound)
        while (bound != look.bound)[slides := solved.modes.mode == SLIDING].any():  # others may follow
            bound[slides] = look.bound[slides]
            solved = self._solved(look, bound)
        if solved.jammed:
            if self._at_rest <= _SLOWEST:  # a slip that is over may be taken for one
                self._at_rest *= 10.0
            else:
                self._jam(t, found, look)
            return False
        if (fading := self._fading(look, solved)) > self._at_rest:
            self._at_rest = fading
            return False
        forces = inner_forces(look.given, solved.modes, bound, solved.held.forces)
        number, slide, own = look.joints.number, look.joints.slide.copy(), solved.joints
        held, pushes = np.zeros(len(slide), bool), np.zeros(len(slide))
        held[number], pushes[number] = own.held, own.force
        slide[number] = own.slide
        self.motion.hold(look.touching, solved.modes, forces, bound, (held, slide, pushes))
        self._close(t, found)
        return True

    def _solved(self, look: Look, bound: Array) -> SolvedModes:
        given = look.given, look.bias, look.u, bound, look.cancels, self._at_rest, self.motion.size
        return solve_modes(*given, look.problem())

    def _fading(self, look: Look, solved: SolvedModes) -> float:
        """Return the fastest of those slow slips that friction ends at once [m/s]."""
        fastest, modes = 0.0, solved.modes
        after = look.bias + look.given.rows @ solved.held.change
        for k, rows in parts(look.u.shape[1]):
            lever = self.motion.size if k else 1.0
            speed = lever * np.linalg.norm(look.u[:, rows], axis=1)
            slows = -lever * np.sum(after[:, rows] * modes.direction[:, rows], axis=1)
            over = (modes.part[:, k] == SLIDING) & (speed <= _SLOWEST) & (speed < _FADING * slows)
            fastest = max(fastest, float(speed[over].max(initial=0.0)))
        return fastest

    def _jam(self, t: float, found: Settled, look: Look) -> None:
        """Stop contacts that no finite forces hold: by impulses that end all slip, if friction allows it.

        If that was in vain, friction is not asked.
        """
        self._jams += 1
        given = look.given._replace(rows=look.given.rows[:, :3])  # nothing resists turning at once
        moment = _MOMENT if self._jams == 1 else 0.0
        ahead = (look.u + moment * look.bias)[:, :3]
        ahead[:, 0] = np.minimum(moment * look.bias[:, 0], 0.0)
        stuck = Modes(np.full((len(ahead), 3), STICKING), np.zeros((len(ahead), 3)))
        firmly = held(given, stuck, look.bound, ahead)
        p, y = firmly.forces, firmly.change
        if self._jams == 1:
            p, y = self._impulses(given, look, ahead, p)
        found.v = found.v + given.spread(y)
        self._log(t, found, look.touching, p)
        owners = self.surfaces.detection.owners
        pushed = p.any(axis=1) if p.any() else np.ones(len(p), bool)
        names = sorted({owners[shape] for shape in look.touching.label[pushed, :2].ravel()})
        words = f"no finite forces hold the contact of {' and '.join(names)} at t = {t:.9g} s (Painleve)"
        if self._jams == 1:
            found.notes.append(f"{words}: it jams, by an impact")

    def _impulses(self, given: Response, look: Look, ahead: Array, p: Array) -> tuple[Array, Array]:
        """Return impulses, sought from p, and velocities along the basis, after which none approaches."""
        stops = look.joints.some(look.stops).problem(given.reduced, look.free)
        stops = stops._replace(bias=np.minimum(_MOMENT * stops.bias, 0.0))
        nodes, contacts = given.nodes(), given.contacts(ahead, look.bound, stops)
        every, y = np.concatenate([p, np.zeros((len(stops.bias), 3))]), np.zeros(len(given.mass))
        Solver(nodes.size).solve(nodes, contacts, every, y, 1e-3 * _MOMENT)
        return every[: len(p)], y

    def _close(self, t: float, found: Settled) -> None:
        """Bring positions and velocities onto the constraints, and see that no margin is used up already."""
        motion = self.motion
        if motion.count or motion.active.joints.mode.any():
            self._move(found, motion.close_positions(found.q, t))
            found.v = found.v + motion.close_velocities(found.q, found.v, t)
        motion.begin(t, found.q, found.v)
