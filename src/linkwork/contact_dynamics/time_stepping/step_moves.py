"""The part of a step with contact in which nothing bounces: its program, and what that asks of Python."""

from math import inf
from typing import Any

import numpy as np

from linkwork.contact_dynamics.detection.pair_numbers import RESTITUTION
from linkwork.contact_dynamics.problem.contact_problem import Contacts, Nodes, slowed
from linkwork.contact_dynamics.problem.contact_rows import Points, room_for_points
from linkwork.contact_dynamics.solver.contact_solver import FEW, Answer, Solver
from linkwork.contact_dynamics.solver.impact import bounce_within
from linkwork.contact_dynamics.time_stepping.contact_state import ContactState, Found, Hit
from linkwork.contact_dynamics.time_stepping.contact_system import ContactSystem
from linkwork.contact_dynamics.time_stepping.divided_steps import STRIKES, when_halted
from linkwork.contact_dynamics.time_stepping.inertial_motion import InertialMotion
from linkwork.contact_dynamics.time_stepping.lanes import Lanes
from linkwork.contact_dynamics.time_stepping.sleeping import Asleep, Sleepers
from linkwork.contact_dynamics.time_stepping.step_program import SAVED, StepProgram
from linkwork.contact_dynamics.time_stepping.step_words import (
    ASLEEP,
    DIVIDES,
    HALF,
    ISLANDS,
    MIDDLE,
    POINTS,
    QUICK,
    ROWS,
    SPAN,
    START,
    STEP,
    WAITS,
    WORST,
    Asked,
)
from linkwork.contact_dynamics.time_stepping.time_of_impact import (
    Sweep,
    bounce_times,
    leave_out,
    restitutions,
)
from linkwork.contact_dynamics.time_stepping.warm_start import NOTHING, Memory
from linkwork.mechanism.contact import IMPACTS, impact_law
from linkwork.model.model import Model
from linkwork.native.stages import unowned

Array = np.ndarray

TOLERANCE = 1e-8  # of relative velocities at contacts [m/s]
_EXACTLY = 1e-13  # the same of Moreau and Jean's steps, which are compared with others
_SOFTLY = 1e-11  # of what has stiff springs, which the error of a velocity would leave pressed by h times it
_SURELY = 1.001  # a bounce that lasts as many steps is one, when it is looked at again
_AS_LONG = 1e-9  # of a step: what differs by less is a whole one
_BENDS = 12  # times that laws of compliant contacts are linearised anew in a step at most

NO_CONTACTS = Found(room_for_points(0), np.zeros((0, 3)), np.zeros((0, 3)), Answer(0.0, 0, 0))


class StepMoves:
    """Moves states of a model with contact; for one thread at a time."""

    sleeps = True  # whether islands at rest fall asleep

    def __init__(self, model: Model, moreau_jean: bool = False, threads: int = 1) -> None:
        """Take a model; islands of many contacts are solved by `threads` threads, which changes no bit."""
        self._moreau_jean, self.sleeps = moreau_jean, not moreau_jean and self.sleeps
        self.model, self.system = model, ContactSystem(model)
        self._law = impact_law(model.mechanism)
        if self._law != IMPACTS[0] and self.system.held:
            raise ValueError(f"impact {self._law!r} with closed loops goes with an accuracy; leave step= out")
        self.system.move_to(model.q_drawn, np.zeros(model.nv))
        self._inertial = InertialMotion(model, self.system.nodes, self.system.joints.lockable)
        self._solver = Solver(self.system.nodes.size, threads)
        soft = bool((self.system.springs.row >= 0).any())
        self._tolerance = _EXACTLY if moreau_jean else _SOFTLY if soft else TOLERANCE
        self._bounces = bool((self.system.table.numbers[:, :, RESTITUTION] > 0.0).any())
        self._strikes = False  # whether impacts without restitution have their times, too
        self._divides = 0  # what may still divide the step, in which
        self._halted_at = inf  # [s] a slip comes to a halt
        self._sweep = Sweep(self.system.detection)
        self._nothing, self._none = np.zeros(model.nv), np.zeros(0, np.int64)
        self._joints = self.system.joints
        shapes, rigid = self.system.detection.shapes, self._joints.lockable
        self.sleepers = Sleepers(model.link_tree, self.system.layout, shapes)
        self._restless = self.sleepers.nodes_of([model.slices[name][1] for name in rigid])
        self._solved = False  # whether the last rows are those of a step, and not of an impact
        self._still_of: Asleep | None = None  # whose shapes are known to the detection as still
        laws = (*model.stepped_tree.loads, *model.stepped_tree.loops)
        self._timed = any(one.timed or one.formula is None for one in laws)
        self.found, self.hits = NO_CONTACTS, list[Hit]()
        self._left = 0.0  # by how much laws of impacts do not hold in the last step [m/s]
        self._divided, self._kept = False, (-1, inf, None)
        self._part = 1.0  # of a step that is moved
        self._state = ContactState(model.q_drawn, self._nothing, 0.0)  # that is being moved,
        self._lanes: Lanes  # or lanes that are
        self._answer: Answer | None = None  # of its contacts, if sweeps were not enough
        given = model, self.system, self._inertial, self._solver, self._tolerance
        self._program = StepProgram(*given, self._asked())

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
            self._let_rest(state.asleep)
            if not len(state.asleep.label):
                v[:] = wanted
                return system.look(v, h)
            v[:] = np.where(sleepers.velocities(state.asleep), 0.0, wanted)
            points = system.look(v, h)
            woken = sleepers.touched(state.asleep, points)
            if not len(woken):
                return points

    def _let_rest(self, asleep: Asleep) -> None:
        """Let the detection know which shapes do not move."""
        if asleep is not self._still_of:
            self._still_of, self.system.detection.still[:] = asleep, self.sleepers.still(asleep)
            self.system.soft_stops.still[:] = self.sleepers.velocities(asleep) if len(asleep.label) else 0

    def _bounce(
        self, rows: Contacts, points: Points, v: Array, a: Array, ahead: float, h: float
    ) -> tuple[float, Array]:
        """Return when the first contact bounces, and when each does, for longer than h."""
        times = np.full(len(points.gap), inf)
        if not (self._bounces or self._strikes):
            return inf, times
        nodes, strikes = self.system.nodes, int(self._strikes)
        return bounce_times(nodes, rows, points, self.system.table, v, a, ahead, h, strikes, times), times

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

    def _let_save(self, state: ContactState) -> None:
        """Let all nodes have saved work, and be where they were put: at the start, or after an edit."""
        count, work = len(self.system.nodes.size), state.saved[: len(state.saved) // 2]
        if len(state.saved) != 2 * count:
            state.saved = np.repeat([work.mean() if len(work) else SAVED, 1.0], count)

    def _move(self, state: ContactState, s: float, h: float, inputs: Array, wait: bool) -> bool:
        """Move a state by a time s, of a step h; what bounces or is fast may `wait` for its impact.

        Return whether it was: where something divides the step it is not.
        """
        p = self._program
        p.q[:], p.v[:], p.saved[:], p.work[0] = state.q, state.v, state.saved, state.work
        middle = state.t + 0.5 * s
        p.numbers[START], p.numbers[MIDDLE], p.numbers[HALF] = state.t, middle, 0.5 * s
        p.numbers[SPAN], p.numbers[STEP] = s, h
        p.t[...], p.inputs[:] = middle, inputs[: len(p.inputs)]  # events may read more
        p.values[ASLEEP] = len(state.asleep.label)
        self._let_rest(state.asleep)
        waits = self._bounces or self._strikes or self._sweep.count > 0 or self._joints.stops > 0
        p.values[WAITS], p.values[DIVIDES] = wait and waits, self._divides
        self._part = s / h if abs(s - h) > _AS_LONG * h else 1.0
        self._remember(state.memory)
        self._state, self._answer = state, None
        self._divided, self._halted_at = False, inf
        p.run()
        if self._divided:
            return False
        state.q[:], state.v[:], state.saved[:], state.work = p.q, p.v, p.saved, float(p.work[0])
        state.t, state.quick = state.t + s, bool(p.values[QUICK])
        self._take(state)
        return True

    def _remember(self, memory: Memory) -> None:
        """Begin with impulses, which are remembered as those of a whole step."""
        self._program.remember(memory._replace(impulse=self._part * memory.impulse))

    def _take(self, state: ContactState) -> None:
        """Take what a step has found, and let a state remember it."""
        p, n = self._program, int(self._program.values[POINTS])
        if not n and not self.system.held and not self._joints.count:
            self.found, state.memory = NO_CONTACTS, NOTHING
            return
        rows = int(p.values[ROWS])
        points, held = p.points, p.impulses[rows - self.system.held : rows].copy()
        self._solved = True
        if self._answer is None:
            self._answer = Answer(float(p.numbers[WORST]), 0, 0)
        self._answer = self._answer._replace(residual=float(p.numbers[WORST]))
        self._solver.look_at(int(p.values[ISLANDS]))
        self.found = Found(points, p.impulses[:n], held, self._answer)
        place, impulse = points.place[:, :3].copy(), p.world[:n] / self._part
        before = state.memory
        state.memory = Memory(points.pair.copy(), place, impulse, held, before.joint, before.locked)

    def _asked(self) -> Asked:
        """Return what the stages of a step leave to Python."""
        joints, held = self._joints.count, self.system.held
        divides = not (joints or held or self._moreau_jean)
        return Asked(
            drift=unowned(self._drift_locked) if joints else None,
            give_back=unowned(self._give_back) if joints else None,
            look=unowned(self._look_round),
            add_rows=unowned(self._add_rows) if joints or held else None,
            leave_out=unowned(self._leave_out),
            bounce=unowned(self._bounce_within) if self._moreau_jean else None,
            recall=unowned(self._recall) if joints or held else None,
            relax=unowned(self._relax) if self._solver.threads > 1 else None,
            struck=unowned(self._struck) if divides else None,
            halted=unowned(self._halted) if divides else None,
            improve=unowned(self._improve),
            bend=unowned(self._bend) if self.system.bends else None,
            hold=unowned(self._hold) if joints else None,
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
        points = self._look(self._state, self.system.nodes.free, float(p.numbers[STEP]), p.pull)
        p.bind()
        p.values[POINTS] = len(points.gap)
        if self._state.memory is not memory:
            self._remember(self._state.memory)
        return "found"

    def _add_rows(self) -> None:
        """Add the rows of joints and loops."""
        p = self._program
        s, t = float(p.numbers[SPAN]), float(p.numbers[MIDDLE])
        p.values[ROWS] = self.system.with_others(int(p.values[ROWS]), p.q, t, s, push=s)

    def _leave_out(self) -> None:
        """Let contacts and stops do nothing that wait for their impact."""
        p, rows, points = self._program, self._program.rows, self._program.points
        if self._bounces or self._strikes or self._sweep.count:
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
        p.impulses[joint : p.values[ROWS]] = 0.0
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
        given = self._problem(), int(p.values[ISLANDS]), self._tolerance, p.spare
        p.numbers[WORST] = self._solver.relax(*given, FEW, self._solver.loose)
        return "relaxed"

    def _struck(self) -> str:
        """Leave a step in which contacts will be struck; that of a lane is left to `Stepper.step`."""
        if self._program.lane >= 0:
            return "next"
        self._divided, self._strikes, self._divides = True, True, self._divides & ~STRIKES
        return "over"

    def _halted(self) -> str | None:
        """Leave a step in which a slip comes to a halt, and the factor as it was before."""
        p, (lane, start, factor) = self._program, self._kept
        nodes, rows, impulses, v = self._problem()
        given = impulses, p.before, p.marks[: p.values[POINTS]], v
        halted_at = when_halted(nodes, rows, *given, float(p.numbers[SPAN]))
        if halted_at == inf:
            return None
        if p.lane == lane and start == p.numbers[START]:
            self._keep_factor(factor)
        if p.lane >= 0:
            return "next"
        self._divided, self._halted_at = True, halted_at
        return "over"

    def _keep_factor(self, factor: Any) -> None:
        """Let a state, or a lane, have this factor from now on."""
        if self._program.lane < 0:
            self._state.factor = factor
        else:
            self._lanes.factors[self._program.lane] = factor

    def _improve(self) -> None:
        """Solve what sweeps have not."""
        p, lane = self._program, self._program.lane
        before = self._state.factor if lane < 0 else self._lanes.factors[lane]
        self._kept = lane, float(p.numbers[START]), before
        rest = int(p.values[ISLANDS]), self._tolerance, before, p.spare
        self._answer, after = self._solver.finish(self._problem(), *rest)
        self._keep_factor(after)

    def _bend(self) -> None:
        """Linearise the laws of compliant contacts anew, and solve again, until that makes no difference."""
        p, state = self._program, self._state
        for _ in range(_BENDS):
            if not self.system.bent(p.rows, p.points, p.v, float(p.numbers[SPAN])):
                break
            rest = self._tolerance, state.factor, p.spare
            self._answer, state.factor = self._solver.solve(*self._problem(), *rest)
            p.numbers[WORST] = self._answer.residual

    def _hold(self) -> None:
        """Lock the coordinates that friction or stops hold, and remember the impulses of these."""
        p, rows, (joint, first) = self._program, self._program.rows, self._others()
        held = self._joints.hold(rows, joint, p.impulses, p.v, self._inertial.lockable)
        kept = self._joints.kept(p.impulses[joint:first])
        locked = np.column_stack([held, 0.0 * p.v])
        self._state.memory = self._state.memory._replace(joint=kept, locked=locked)

    def _by_forces(self, state: ContactState, t: float, inputs: Array) -> tuple[Array, float]:
        """Return the accelerations that forces give, without those of inertial motion, and their power."""
        self._program.inputs[:] = inputs[: len(self._program.inputs)]  # events may read more
        return self._program.accelerations(state.q, state.v, t)
