"""Time stepping with contact: an exact solution of Signorini's and Coulomb's laws in every step.

A step of h moves bodies by their inertia for h / 2, gives them the impulses of all forces and contacts at
once, and moves them by inertia for another h / 2 (Strang's splitting: of second order, and exact for what
flies or slides under a constant force). The impulses of the middle decide how bodies move until the middle
of the next step, a time h: a contact that is still open is allowed to close in that time (`contact_rows`),
so nothing that was seen coming is passed through.

Forces that depend on velocity and position by damping and stiffness of joints, and by the laws of motors
(`drive_gains`), are taken implicitly, as by the trapezoidal rule and Newmark's method with beta = 1/4:
M + h/2 D + h^2/4 K in place of M.

*Rest.* What contacts hold and is slower than the solver can resolve stands still. Islands of it fall asleep
(`sleeping`). Where everything stands, the next step would be the same to the bit, and is not computed, until
an input changes.

*Impacts* of bodies that bounce, and of those so fast that they could miss each other, end a step at their
time, and what is left of it follows. From the gap g0 at its start, a relative velocity u and an acceleration
a by forces along the normal,

    g0 + u s + a s^2 / 2 = 0,    approached with  D = sqrt(u^2 - 2 a g0)

gives the time s of a bounce. One that would last less than a step, 2 e D < |a| h, ends in rest.

*Moreau and Jean's* time stepping (Moreau 1988; Jean and Moreau 1992; theta = 1/2) has no such times: all
contacts that touch in the middle of a step obey u+ + e u- >= 0, of the velocities at its ends, and no others.
"""

from math import inf, sqrt

import numpy as np

from linkwork.contact_dynamics.problem.compliant_rows import APART
from linkwork.contact_dynamics.problem.contact_problem import Contacts, inertia_product, kinetic_energy
from linkwork.contact_dynamics.problem.contact_rows import SLACK, Points, some_of
from linkwork.contact_dynamics.problem.friction_cone import BOND, COULOMB, SPRING
from linkwork.contact_dynamics.solver.even_impulses import shared_evenly
from linkwork.contact_dynamics.solver.impact import impact
from linkwork.contact_dynamics.solver.overlaps import take_out
from linkwork.contact_dynamics.time_stepping.contact_state import ContactState, Hit
from linkwork.contact_dynamics.time_stepping.divided_steps import HALTS, STRIKES
from linkwork.contact_dynamics.time_stepping.lanes import Lanes
from linkwork.contact_dynamics.time_stepping.sleeping import ALL_AWAKE
from linkwork.contact_dynamics.time_stepping.step_moves import NO_CONTACTS, TOLERANCE, StepMoves
from linkwork.contact_dynamics.time_stepping.time_of_impact import restitutions, struck
from linkwork.contact_dynamics.time_stepping.warm_start import in_the_world
from linkwork.mechanism.contact import IMPACTS

Array = np.ndarray

_IMPACTS = 32  # in a step at most; others are treated as without restitution
_HALTS = 4  # times that slips divide a step
_REFINED = 8  # times that the time of an impact at a stop is found anew


class Stepper(StepMoves):
    """Steps of a model with contact, from one impact to the next; for one thread at a time."""

    @property
    def residual(self) -> float:
        """By how much the laws of contact do not hold in the last step, or in its impacts [m/s]."""
        return max(self.found.answer.residual, self._left)

    @property
    def failed(self) -> bool:
        """Whether the last step was not solved to the tolerance."""
        return self.residual > TOLERANCE

    def step(self, state: ContactState, h: float, inputs: Array) -> None:
        """Move a state, in place, by a time h [s]; the impacts on the way are in `hits`."""
        self.hits.clear()
        self._left = 0.0
        self.system.driven[:] = inputs[: len(self.system.driven)]
        self._inertial.hold(self.system.driven)
        end, q, v = state.t + h, state.q.copy(), state.v.copy()
        if state.rests == (h, inputs.tobytes()):
            state.t = end
            return
        self._let_save(state)
        self._strikes, self._divides, halts = False, STRIKES | HALTS, 0
        for _ in range(0 if self._moreau_jean else _IMPACTS):
            s = end - state.t
            first = self._first_impact(state, s, h, inputs)
            met = self._approach(state, first, s, h, inputs)
            if self._divided:
                halts += self._halted_at < inf
                self._divides &= STRIKES if halts >= _HALTS else STRIKES | HALTS
            elif not met:
                break
            else:
                self._meet(state, end - state.t, inputs)
        else:
            before, self._divides = (state.q.copy(), state.v.copy()), 0
            self._move(state, end - state.t, h, inputs, wait=False)
            if not self._moreau_jean:
                self._hold_back(state, *before)
        state.t, state.rests = end, None
        if not self._timed and not state.v.any() and np.array_equal(q, state.q):
            state.rests = h, inputs.tobytes()
        elif self.sleeps and self.found is not NO_CONTACTS:
            self._fall_asleep(state, q, v)

    @property
    def in_lanes(self) -> bool:
        """Whether steps of the model can go by lanes: nothing in them is left to Python as a rule."""
        python = self._joints.count or self.system.held or self.system.bends or self._program.asks
        return not (self._moreau_jean or self._bounces or python)

    @property
    def inputs(self) -> Array:
        """The inputs that loads of the model read."""
        return self._program.inputs

    def lanes(self, count: int, shows: bool = False) -> Lanes:
        """Return lanes for states of the model; poses of bodies may be wanted."""
        model = self.model
        sizes = model.nq, model.nv, len(self.inputs), 2 * len(self.system.nodes.size)
        return Lanes(*sizes, count, self._timed, self.sleeps, self._program.bodies if shows else 0)

    def enter_lane(
        self, lanes: Lanes, k: int, state: ContactState, origin: float, index: float, u: Array
    ) -> bool:
        """Put a state into lane k, if its steps need no Python; see `Lanes.put`."""
        if len(state.asleep.label):
            return False
        self._let_save(state)
        lanes.put(k, state, origin, index, u)
        return True

    def advance(self, lanes: Lanes, which: Array, h: float, until: float) -> int:
        """Move some lanes to a time, to the same bits as `step`; return how many need Python on the way."""
        self._let_rest(ALL_AWAKE)
        self._lanes = lanes
        return self._program.run_lanes(lanes, which, h, until)

    def _fall_asleep(self, state: ContactState, q: Array, v: Array) -> None:
        """Let islands sleep that were at q, v before a step and did not move."""
        moved = self.sleepers.moved(q, v, state.q, state.v)
        if self._solved and not moved.all() and ((moved == 0) & (self._solver.island >= 0)).any():
            calm = self._calm_islands(self._program.rows, len(self.found.points.gap))
            given = state.asleep, self._solver.island, calm, moved, self._program.pull.copy(), state.memory
            state.asleep, state.memory = self.sleepers.fallen(*given)

    def coast(self, state: ContactState, h: float) -> None:
        """Move a state, in place, by its inertia alone."""
        self._drift(state, state.q, state.v, state.t, h)

    def _approach(self, state: ContactState, first: float, most: float, h: float, inputs: Array) -> bool:
        """Move a state by a time `first`, by the `most` at most; return whether something is met then.

        If that is a stop of a joint, foreseen or not, it is moved to the exact time at which that is met.
        """
        s, before = min(first, most), state.copy() if self._joints.stops else state
        for k in range(_REFINED + 1):
            if s > 0.0 and not self._move(state, s, h, inputs, wait=True):
                self._move_to_rest(state, h, inputs)
                return False
            late = self._joints.late(state.q, state.v) if self._joints.stops else 0.0
            sooner = min(max(s - late, 0.0), most)
            if sooner in (0.0, s) or k == _REFINED:
                break
            s = sooner
            vars(state).update(vars(before.copy()))
        if self._joints.stops:
            self._joints.put_back(state.q)
        return first <= most or self._joints.meets

    def _move_to_rest(self, state: ContactState, h: float, inputs: Array) -> None:
        """Move a state to where a slip comes to a halt, if that divides its step."""
        s, divides = self._halted_at, self._divides
        if s < inf:
            self._divides = 0
            self._move(state, s, h, inputs, wait=True)
            self._divided, self._halted_at, self._divides = True, s, divides

    def _hold_back(self, state: ContactState, q: Array, v: Array) -> None:
        """Leave bodies of fast pairs where they were, unless loops hold them: their time has stood still.

        What they would have fallen does not make them faster then.
        """
        pairs, shapes = self._sweep.pairs[: self._sweep.count], self.system.detection.shapes
        nodes = {int(self.system.layout.node[link]) for link in shapes.link[pairs.ravel()] if link >= 0}
        starts = self.model.link_tree.starts
        nodes -= {
            int(self.system.layout.node[e - 1]) for loop in self.model.link_tree.loops for e in loop.ends
        }
        for link, node in enumerate(self.system.layout.node.tolist()):
            if node in nodes:
                own = slice(starts[link, 1], starts[link + 1, 1])
                state.q[own] = q[own]
        for node in nodes:
            of = self.system.nodes
            n, first, at = int(of.size[node]), int(of.first[node]), int(of.at[node])
            own, mass = slice(first, first + n), of.mass[at : at + n * n].reshape(n, n)
            now, most = (float(x[own] @ mass @ x[own]) for x in (state.v, v))
            if now > most:
                state.v[own] *= sqrt(most / now)

    def _first_impact(self, state: ContactState, s: float, h: float, inputs: Array) -> float:
        """Return when the first bodies bounce, or fast ones meet, if that is within s; else more."""
        self._sweep.count = 0
        meets = self._joints.may_meet(state.q, state.v, s)
        if not (self._bounces or self._strikes) and not state.quick and not meets:
            return inf
        system = self.system
        system.move_to(state.q, self._nothing)
        a = self._by_forces(state, state.t, inputs)[0]
        points = self._look(state, state.v + 0.5 * s * a, s, a)
        first = self._sweep.first(s, system.motions(state.v))
        if (self._bounces or self._strikes) and len(points.gap):
            rows = system.rows(points, state.q, state.v, state.t, h)
            first = min(first, self._bounce(rows, points, state.v, a, 0.0, h)[0])
        if meets:
            a = a + self._inertial.rates(state.q, state.v, state.t)
            first = min(first, self._joints.first(state.v, a, min(first, s), h))
        return first

    def _calm_islands(self, rows: Contacts, count: int) -> Array:
        """Return which islands may sleep: those that are solved, and held by these contacts alone."""
        calm = np.append(self._solver.residuals <= TOLERANCE, False)
        other = count + np.flatnonzero(rows.of[count:] < 0)
        for node in (rows.a[other], rows.b[other], self._restless):
            calm[self._solver.island[node[node >= 0]]] = False
        return calm[:-1]

    def _meet(self, state: ContactState, left: float, inputs: Array) -> None:
        """Let bodies that touch hit each other: velocities jump. There is some time `left` of the step."""
        system, nodes, v, self._solved = self.system, self.system.nodes, state.v, False
        system.move_to(state.q, self._nothing)
        points = self._look(state, v, left if self._sweep.count else 0.0)
        rows = system.rows(points, state.q, v, state.t, 1.0)
        n, joint = len(points.gap), self._joints.first_row(rows, system.held)
        rows.bias[:n] = 0.0
        rows.bias[:n, 0][~struck(points, self._sweep)] = APART
        self._hit_springs(rows, points)
        e = self._joints.part(rows, joint, len(rows.a))
        e[:n] = restitutions(points, self.system.table)
        nodes.free[:] = v
        if self._law != IMPACTS[0]:
            which = np.r_[:n, joint : len(rows.a)]
            rows, e, joint = some_of(rows, which), e[which], n
        done = impact(nodes, rows, e, self._law, solver=self._solver, saved=np.split(state.saved, 2)[0])
        self._left = max(self._left, done.residual)
        change = done.velocities - nodes.free
        before, after = kinetic_energy(nodes, nodes.free), kinetic_energy(nodes, done.velocities)
        drives = slice(len(rows.a) - system.held, None)  # where J v = -bias, before and after
        gained = after - before + float(np.sum(done.impulses[drives] * rows.bias[drives]))
        if gained > 0.0:  # by what the solver has left: E + b s + c s^2 is no more than E up to s = -b / c
            change *= max(1.0 - gained / kinetic_energy(nodes, change), 0.0)
        v[:] = nodes.free + change
        lost = before - kinetic_energy(nodes, v)
        state.work -= lost
        if self._law == IMPACTS[0] and (points.gap < -SLACK).any():
            self._move_out(state, rows, points, done.impulses[:n], lost, inputs)
        self._log(state.t, points, shared_evenly(nodes, rows, done.impulses[:n]))
        for pair, impulse in self._joints.hits(done.impulses, joint):
            self.hits.append(Hit(state.t, pair, (), (impulse,)))
        if self._joints.count:
            held = self._joints.at_rest(state.q, v, self._inertial.lockable)
            held[:, 1] = state.memory.locked[:, 1] if len(state.memory.locked) else 0.0
            state.memory = state.memory._replace(locked=held)

    def _move_out(
        self, state: ContactState, rows: Contacts, points: Points, p: Array, lost: float, inputs: Array
    ) -> None:
        """Move free bodies out of what they have hit, as far as the impact has lost the energy for it.

        They were moved to the time at which they meet if forces alone accelerate them, and not contacts, too.
        """
        solver, nodes = self._solver, self.system.nodes
        overlaps = ((points.gap < -SLACK) & (p[:, 0] > 0.0)).astype(np.int64)
        islands, count = solver.islands, len(solver.residuals)
        solver.shift[:] = 0.0
        given = points, p, state.v, islands, count, solver.room, solver.loose, overlaps
        take_out(nodes, rows, *given, 1.0)
        shift = solver.shift.copy()
        lift = -inertia_product(nodes, shift, self._by_forces(state, state.t, inputs)[0])
        self._inertial.shift(state.q, state.v, shift * min(1.0, lost / lift if lift > 0.0 else 1.0))

    def _log(self, t: float, points: Points, impulses: Array) -> None:
        """Note the impulses of all points that were hit."""
        world, owners = np.zeros_like(impulses), self.system.detection.owners
        in_the_world(points.place, impulses, world)
        size = 2 if self.model.space == "plane" else 3
        for k in np.flatnonzero(impulses[:, 0] > 0.0):
            a, b = points.pair[k].tolist()
            place, impulse = points.place[k, :size].tolist(), (-world[k, :size]).tolist()
            self.hits.append(Hit(t, (owners[a], owners[b]), tuple(place), tuple(impulse)))

    def _hit_springs(self, rows: Contacts, points: Points) -> None:
        """Leave springs out of an impact, but for those of fast pairs: they are hit as if they were rigid."""
        soft = np.flatnonzero(np.isin(rows.kind[: len(points.gap)], (SPRING, BOND)))
        fast = set(map(tuple, self._sweep.pairs[: self._sweep.count].tolist()))
        for k in soft.tolist():
            if tuple(points.pair[k].tolist()) in fast:
                rows.kind[k], rows.of[k], rows.spin[k] = COULOMB, -1, 0.0
            else:
                rows.bias[k, 0] = APART
