"""Time stepping with contact: an exact solution of Signorini's and Coulomb's laws in every step.

A step of h moves bodies by their inertia for h / 2, gives them the impulses of all forces and contacts at
once, and moves them by inertia for another h / 2 (Strang's splitting: of second order, and exact for what
flies or slides under a constant force). The impulses of the middle decide how bodies move until the middle
of the next step, a time h: a contact that is still open is allowed to close in that time (`contact_rows`),
so nothing that was seen coming is passed through.

Forces that depend on velocity and position by damping and stiffness of joints, and by the laws of motors
(`drive_gains`), are taken implicitly, as by the trapezoidal rule and Newmark's method with beta = 1/4:
M + h/2 D + h^2/4 K in place of M.

*Rest.* What contacts hold and is slower than the solver can tell stands still. Islands of it fall asleep
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

from math import inf

import numpy as np

from linkwork.contact_dynamics.compliant_rows import APART
from linkwork.contact_dynamics.contact_problem import Contacts, Nodes, kinetic_energy, slowed
from linkwork.contact_dynamics.contact_rows import SLACK, Points, room_for_points, some_of
from linkwork.contact_dynamics.contact_solver import Answer, Solver
from linkwork.contact_dynamics.contact_state import ContactState, Found, Hit
from linkwork.contact_dynamics.contact_system import ContactSystem
from linkwork.contact_dynamics.friction_cone import BOND, COULOMB, SPRING
from linkwork.contact_dynamics.impact import bounce_within, impact
from linkwork.contact_dynamics.inertial_motion import InertialMotion
from linkwork.contact_dynamics.memory import NOTHING, in_the_world
from linkwork.contact_dynamics.pair_table import RESTITUTION
from linkwork.contact_dynamics.sleeping import Asleep, Sleepers
from linkwork.contact_dynamics.step_program import (
    AFTER,
    ASLEEP,
    BEFORE,
    HALF,
    ISLANDS,
    MIDDLE,
    POINTS,
    QUICK,
    ROWS,
    SAVED,
    SPAN,
    START,
    STEP,
    WAITS,
    WORST,
    Asked,
    StepProgram,
)
from linkwork.contact_dynamics.time_of_impact import Sweep, bounce_times, leave_out, restitutions, struck
from linkwork.mechanism.contact import IMPACTS, impact_law
from linkwork.model.model import Model

Array = np.ndarray

TOLERANCE = 1e-8  # of relative velocities at contacts [m/s]
_EXACTLY = 1e-13  # the same of Moreau and Jean's steps, which are compared with others
_SURELY = 1.001  # a bounce that lasts as many steps is one, when it is looked at again
_BENDS = 12  # times that laws of compliant contacts are linearised anew in a step at most
_IMPACTS = 32  # in a step at most; others are treated as without restitution
_REFINED = 8  # times that the time of an impact at a stop is found anew


_NONE = Found(room_for_points(0), np.zeros((0, 3)), np.zeros((0, 3)), Answer(0.0, 0, 0))


class Stepper:
    """Steps of a model with contact; for one thread at a time."""

    sleeps = True  # whether islands at rest fall asleep

    def __init__(self, model: Model, moreau_jean: bool = False, threads: int = 1) -> None:
        """Take a model; islands of many contacts are solved by so many threads, which changes no bit."""
        self._moreau_jean, self.sleeps = moreau_jean, not moreau_jean and self.sleeps
        self.model, self.system = model, ContactSystem(model)
        self._law = impact_law(model.mechanism)
        if self._law != IMPACTS[0] and self.system.held:
            raise ValueError(f"impact {self._law!r} with closed loops goes with an accuracy; leave step= out")
        self.system.move_to(model.q_drawn, np.zeros(model.nv))
        self._inertial = InertialMotion(model, self.system.nodes, self.system.joints.lockable)
        self._solver = Solver(self.system.nodes.size, threads)
        self._tolerance = _EXACTLY if moreau_jean else TOLERANCE
        self._bounces = bool((self.system.table.numbers[:, :, RESTITUTION] > 0.0).any())
        self._sweep = Sweep(self.system.detection)
        self._nothing, self._none = np.zeros(model.nv), np.zeros(0, np.int64)
        self._joints = self.system.joints
        shapes, rigid = self.system.detection.shapes, self._joints.lockable
        self.sleepers = Sleepers(model.link_tree, self.system.layout, shapes)
        self._restless = self.sleepers.nodes_of([model.slices[name][1] for name in rigid])
        self._last: Contacts | None = None  # rows of the last solution; None after an impact
        self._still_of: Asleep | None = None  # whose shapes are known to the detection as still
        laws = (*model.smooth_tree.loads, *model.smooth_tree.loops)
        self._timed = any(one.timed or one.formula is None for one in laws)
        self.found, self.hits = _NONE, list[Hit]()
        self._state = ContactState(model.q_drawn, self._nothing, 0.0)  # that is being moved
        self._answer: Answer | None = None  # of its contacts, if sweeps were not enough
        given = model, self.system, self._inertial, self._solver, self._tolerance
        self._program = StepProgram(*given, self._asked())

    @property
    def residual(self) -> float:
        """By how much the laws of contact do not hold in the last step [m/s]."""
        return self.found.answer.residual

    @property
    def failed(self) -> bool:
        """Whether the last step was not solved to the tolerance."""
        return self.residual > TOLERANCE

    def step(self, state: ContactState, h: float, inputs: Array) -> None:
        """Move a state, in place, by a time h [s]; the impacts on the way are in `hits`."""
        self.hits.clear()
        self.system.driven[:] = inputs[: len(self.system.driven)]
        self._inertial.hold(self.system.driven)
        end, q, v = state.t + h, state.q.copy(), state.v.copy()
        if state.rests == (h, inputs.tobytes()):
            state.t = end
            return
        for _ in range(0 if self._moreau_jean else _IMPACTS):
            s = end - state.t
            first = self._first_impact(state, s, h, inputs)
            if not self._approach(state, first, s, h, inputs):
                break
            self._meet(state, end - state.t)
        else:
            before = state.q.copy()
            self._move(state, end - state.t, h, inputs, wait=False)
            if not self._moreau_jean:
                self._hold_back(state, before)
        state.t, state.rests = end, None
        if not self._timed and not state.v.any() and np.array_equal(q, state.q):
            state.rests = h, inputs.tobytes()
        elif self.sleeps and self.found is not _NONE:
            self._fall_asleep(state, q, v)

    def _fall_asleep(self, state: ContactState, q: Array, v: Array) -> None:
        """Let islands sleep that were at q, v before a step and did not move."""
        moved, rows = self.sleepers.moved(q, v, state.q, state.v), self._last
        if rows is not None and ((moved == 0) & (self._solver.island >= 0)).any():
            calm = self._calm_islands(rows, len(self.found.points.gap))
            given = state.asleep, self._solver.island, calm, moved, self._program.pull.copy(), state.memory
            state.asleep, state.memory = self.sleepers.fallen(*given)

    def _look(self, state: ContactState, v: Array, h: float, a: Array | None = None) -> Points:
        """Return the contacts of what is awake at velocities v, in which what sleeps is set to rest.

        Islands wake that are touched, or on which forces give other accelerations a.
        """
        system, sleepers, wanted = self.system, self.sleepers, v.copy()
        woken = self._none
        if len(state.asleep.label) and a is not None:
            woken = sleepers.pushed(state.asleep, a)
        while True:
            if len(woken):
                state.asleep, state.memory = sleepers.awakened(state.asleep, woken, state.memory)
            if state.asleep is not self._still_of:
                self._still_of, system.detection.still = state.asleep, sleepers.still(state.asleep)
            if not len(state.asleep.label):
                v[:] = wanted
                return system.look(v, h)
            v[:] = np.where(sleepers.velocities(state.asleep), 0.0, wanted)
            points = system.look(v, h)
            woken = sleepers.touched(state.asleep, points)
            if not len(woken):
                return points

    def coast(self, state: ContactState, h: float) -> None:
        """Move a state, in place, by its inertia alone."""
        self._drift(state, state.q, state.v, state.t, h)

    def _approach(self, state: ContactState, first: float, most: float, h: float, inputs: Array) -> bool:
        """Move a state by a time `first`, by the `most` at most; return whether something is met then.

        If that is a stop of a joint, foreseen or not, it is moved to the exact time at which that is met.
        """
        s, before = min(first, most), state.copy() if self._joints.stops else state
        for k in range(_REFINED + 1):
            if s > 0.0:
                self._move(state, s, h, inputs, wait=True)
            late = self._joints.late(state.q, state.v) if self._joints.stops else 0.0
            sooner = min(max(s - late, 0.0), most)
            if sooner in (0.0, s) or k == _REFINED:
                break
            s = sooner
            vars(state).update(vars(before.copy()))
        if self._joints.stops:
            self._joints.put_back(state.q)
        return first <= most or self._joints.meets

    def _hold_back(self, state: ContactState, before: Array) -> None:
        """Leave bodies of fast pairs where they were, unless loops hold them: their time has stood still."""
        pairs, shapes = self._sweep.pairs[: self._sweep.count], self.system.detection.shapes
        nodes = {int(self.system.layout.node[link]) for link in shapes.link[pairs.ravel()] if link >= 0}
        starts = self.model.link_tree.starts
        nodes -= {
            int(self.system.layout.node[e - 1]) for loop in self.model.link_tree.loops for e in loop.ends
        }
        for link, node in enumerate(self.system.layout.node.tolist()):
            if node in nodes:
                own = slice(starts[link, 1], starts[link + 1, 1])
                state.q[own] = before[own]

    def _first_impact(self, state: ContactState, s: float, h: float, inputs: Array) -> float:
        """Return when the first bodies bounce, or fast ones meet, if that is within s; else more."""
        self._sweep.count = 0
        meets = self._joints.may_meet(state.q, state.v, s)
        if not self._bounces and not state.quick and not meets:
            return inf
        system = self.system
        system.move_to(state.q, self._nothing)
        a = self._by_forces(state, state.t, inputs)[0]
        points = self._look(state, state.v + 0.5 * s * a, s, a)
        first = self._sweep.first(s, system.motions(state.v))
        if self._bounces and len(points.gap):
            rows = system.rows(points, state.q, state.v, state.t, h)
            bounce, times = self._bounce(rows, points, state.v, a, 0.0, h)
            if bounce < inf and points.gap[int(np.argmin(times))] <= 2.0 * SLACK:
                bounce = 0.0  # on the way there it would count as touching, and not bounce
            first = min(first, bounce)
        if meets:
            a = a + self._inertial.rates(state.q, state.v, state.t)
            first = min(first, self._joints.first(state.v, a, min(first, s), h))
        return first

    def _bounce(
        self, rows: Contacts, points: Points, v: Array, a: Array, ahead: float, h: float
    ) -> tuple[float, Array]:
        """Return when the first contact bounces, and when each does, for longer than h."""
        times = np.full(len(points.gap), inf)
        if not self._bounces:
            return inf, times
        nodes = self.system.nodes
        return bounce_times(nodes, rows, points, self.system.table, v, a, ahead, h, times), times

    def _drift(self, state: ContactState, q: Array, v: Array, t: float, h: float) -> None:
        """Move q and v of a state by inertia alone; what friction or a stop holds is locked meanwhile."""
        if not self._joints.count:
            self._inertial.move(q, v, t, h)
            return
        if not len(state.memory.locked):
            held = self._joints.at_rest(q, v, self._inertial.lockable)
            state.memory = state.memory._replace(locked=held)
        locked, borne = state.memory.locked[:, 0] != 0.0, state.memory.locked[:, 1].copy()
        self._inertial.move(q, v, t, h, locked, borne)
        state.memory = state.memory._replace(locked=np.column_stack([locked, borne]))

    def _move(self, state: ContactState, s: float, h: float, inputs: Array, wait: bool) -> None:
        """Move a state by a time s, of a step h; what bounces or is fast may `wait` for its impact."""
        p, count = self._program, len(self.system.nodes.size)
        if len(state.saved) != count:  # at the start, or after an edit
            state.saved = np.full(count, state.saved.mean() if len(state.saved) else SAVED)
        p.q[:], p.v[:], p.saved[:], p.work[0] = state.q, state.v, state.saved, state.work
        middle = state.t + 0.5 * s
        p.numbers[START : STEP + 1] = state.t, middle, 0.5 * s, s, h
        p.t[...], p.inputs[:] = middle, inputs[: len(p.inputs)]  # events may read more
        p.values[ASLEEP] = len(state.asleep.label)
        p.values[WAITS] = wait and (self._bounces or self._sweep.count > 0 or self._joints.stops > 0)
        p.remember(state.memory)
        self._state, self._answer = state, None
        p.run()
        state.q[:], state.v[:], state.saved[:], state.work = p.q, p.v, p.saved, float(p.work[0])
        state.t, state.quick = state.t + s, bool(p.values[QUICK])
        self._take(state)

    def _take(self, state: ContactState) -> None:
        """Take what a step has found, and let a state remember it."""
        p, n = self._program, int(self._program.values[POINTS])
        if not n and not self.system.held and not self._joints.count:
            self.found, state.memory = _NONE, NOTHING
            return
        state.work += float(p.numbers[AFTER] - p.numbers[BEFORE])
        rows = int(p.values[ROWS])
        self._last, points, held = p.rows, p.points, p.impulses[rows - self.system.held : rows].copy()
        if self._answer is None:
            self._answer = Answer(float(p.numbers[WORST]), 0, 0)
            self._solver.look_at(int(p.values[ISLANDS]))
        self.found = Found(points, p.impulses[:n], held, self._answer)
        place, impulse = points.place[:, :3].copy(), p.world[:n].copy()
        kept = state.memory._replace(pair=points.pair.copy(), place=place, impulse=impulse, held=held)
        state.memory = kept

    # what the stages of a step ask for

    def _asked(self) -> Asked:
        """Return what the stages of a step leave to Python."""
        joints, held = self._joints.count, self.system.held
        return Asked(
            drift=self._drift_locked if joints else None,
            give_back=self._give_back if joints else None,
            look=self._look_round,
            add_rows=self._add_rows if joints or held else None,
            leave_out=self._leave_out,
            bounce=self._bounce_within if self._moreau_jean else None,
            recall=self._recall if joints or held else None,
            relax=self._relax if self._solver.threads > 1 else None,
            improve=self._improve,
            bend=self._bend if self.system.bends else None,
            hold=self._hold if joints else None,
        )

    def _drift_locked(self, start: int) -> None:
        """Move by inertia for half of the time, from START or MIDDLE."""
        p = self._program
        self._drift(self._state, p.q, p.v, float(p.numbers[start]), float(p.numbers[HALF]))

    def _give_back(self) -> None:
        """Give the impulses that locks have borne back to the mechanism."""
        nodes = self.system.nodes
        nodes.free[:] = slowed(nodes, -self._state.memory.locked[:, 1], nodes.free)

    def _look_round(self) -> str:
        """Look for contacts where something sleeps, and may wake."""
        p, memory = self._program, self._state.memory
        points = self._look(self._state, self.system.nodes.free, float(p.numbers[SPAN]), p.pull)
        p.bind()
        p.values[POINTS] = len(points.gap)
        if self._state.memory is not memory:
            p.remember(self._state.memory)
        return "found"

    def _add_rows(self) -> None:
        """Add the rows of joints and loops."""
        p = self._program
        s, t = float(p.numbers[SPAN]), float(p.numbers[MIDDLE])
        p.values[ROWS] = self.system.with_others(int(p.values[ROWS]), p.q, t, s, push=s)

    def _leave_out(self) -> None:
        """Let contacts and stops do nothing that wait for their impact."""
        p, rows, points = self._program, self._program.rows, self._program.points
        if self._bounces or self._sweep.count:
            half, h = 0.5 * float(p.numbers[SPAN]), float(p.numbers[STEP])
            times = self._bounce(rows, points, self.system.nodes.free, p.a, half, _SURELY * h)[1]
            leave_out(points, times, self._sweep.pairs, self._sweep.count, rows)
        self._joints.wait(rows, self._joints.first_row(rows, self.system.held))

    def _bounce_within(self) -> None:
        """Let contacts bounce within the step, as Moreau and Jean do."""
        p, nodes = self._program, self.system.nodes
        bounce_within(nodes, p.rows, p.points.gap, restitutions(p.points, self.system.table), p.v)

    def _others(self) -> tuple[int, int]:
        """Return where rows of joints, and of loops, begin."""
        rows = self._program.rows
        return self._joints.first_row(rows, self.system.held), len(rows.a) - self.system.held

    def _recall(self) -> None:
        """Begin with the impulses that joints and loops had in the step before."""
        p, memory, (joint, first) = self._program, self._state.memory, self._others()
        if len(memory.held):
            p.impulses[first : first + len(memory.held)] = memory.held
        if len(memory.joint):
            p.impulses[joint:first] = memory.joint[self._joints.chosen]

    def _problem(self) -> tuple[Nodes, Contacts, Array, Array]:
        p = self._program
        return self.system.nodes, p.rows, p.impulses[: p.values[ROWS]], p.v

    def _relax(self) -> str:
        """Sweep over many contacts, by threads."""
        p = self._program
        given = self._problem(), int(p.values[ISLANDS]), self._tolerance, p.saved
        p.numbers[WORST] = self._solver.relax(*given)
        return "relaxed"

    def _improve(self) -> None:
        """Solve what sweeps have not."""
        p, state = self._program, self._state
        rest = int(p.values[ISLANDS]), self._tolerance, state.factor, p.saved
        self._answer, state.factor = self._solver.finish(self._problem(), *rest)

    def _bend(self) -> None:
        """Linearise the laws of compliant contacts anew, and solve again, until that makes no difference."""
        p, state = self._program, self._state
        for _ in range(_BENDS):
            if not self.system.bent(p.rows, p.points, p.v, float(p.numbers[SPAN])):
                break
            rest = self._tolerance, state.factor, p.saved
            self._answer, state.factor = self._solver.solve(*self._problem(), *rest)

    def _hold(self) -> None:
        """Lock the coordinates that friction or stops hold, and remember the impulses of these."""
        p, rows, (joint, first) = self._program, self._program.rows, self._others()
        held = self._joints.hold(rows, joint, p.impulses, p.v, self._inertial.lockable)
        kept = self._joints.kept(p.impulses[joint:first])
        locked = np.column_stack([held, 0.0 * p.v])
        self._state.memory = self._state.memory._replace(joint=kept, locked=locked)

    def _calm_islands(self, rows: Contacts, count: int) -> Array:
        """Return which islands may sleep: those that are solved, and held by these contacts alone."""
        calm = np.append(self._solver.residuals <= TOLERANCE, False)
        other = count + np.flatnonzero(rows.of[count:] < 0)
        for node in (rows.a[other], rows.b[other], self._restless):
            calm[self._solver.island[node[node >= 0]]] = False
        return calm[:-1]

    def _by_forces(self, state: ContactState, t: float, inputs: Array) -> tuple[Array, float]:
        """Return the accelerations that forces give, without those of inertial motion, and their power."""
        self._program.inputs[:] = inputs[: len(self._program.inputs)]  # events may read more
        return self._program.accelerations(state.q, state.v, t)

    def _meet(self, state: ContactState, left: float) -> None:
        """Let bodies that touch hit each other: velocities jump. There is some time `left` of the step."""
        system, nodes, v, self._last = self.system, self.system.nodes, state.v, None
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
        done = impact(nodes, rows, e, self._law, solver=self._solver)
        change = done.velocities - nodes.free
        before, after = kinetic_energy(nodes, nodes.free), kinetic_energy(nodes, done.velocities)
        if after > before:  # by what the solver has left: E + b s + c s^2 is no more than E up to s = -b / c
            c = kinetic_energy(nodes, change)
            change *= max(1.0 - (after - before) / c, 0.0)
        v[:] = nodes.free + change
        state.work += kinetic_energy(nodes, v) - before
        self._log(state.t, points, done.impulses[:n])
        for pair, impulse in self._joints.hits(done.impulses, joint):
            self.hits.append(Hit(state.t, pair, (), (impulse,)))
        if self._joints.count:
            held = self._joints.at_rest(state.q, v, self._inertial.lockable)
            held[:, 1] = state.memory.locked[:, 1] if len(state.memory.locked) else 0.0
            state.memory = state.memory._replace(locked=held)

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
