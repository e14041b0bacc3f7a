"""A step with contact as a program: its stages run one after the other without Python between them.

It has positions, velocities and what contacts remember in arrays of its own. What only some models have, as
stops of joints and loops, or what seldom happens, as islands that wake, is asked of `Asked`.
"""

from functools import partial
from typing import Any

import numpy as np

from linkwork.contact_dynamics.detection.detection import detect
from linkwork.contact_dynamics.problem.contact_problem import Contacts, stand_still
from linkwork.contact_dynamics.problem.contact_rows import Points, fill_contacts, first_of
from linkwork.contact_dynamics.problem.drive_gains import DriveGains
from linkwork.contact_dynamics.problem.islands import find_islands
from linkwork.contact_dynamics.problem.motion_bounds import fill_reach
from linkwork.contact_dynamics.problem.nodes import fill_inertia
from linkwork.contact_dynamics.problem.soft_stops import fill_stops, near_stops
from linkwork.contact_dynamics.solver.contact_solver import Solver
from linkwork.contact_dynamics.solver.overlaps import find_overlaps, take_out
from linkwork.contact_dynamics.solver.unsolved_contacts import unless_shifted
from linkwork.contact_dynamics.time_stepping.accelerated_contacts import AcceleratedContacts, foresee_again
from linkwork.contact_dynamics.time_stepping.contact_system import ContactSystem
from linkwork.contact_dynamics.time_stepping.contact_work import bound_work, keep_placed
from linkwork.contact_dynamics.time_stepping.divided_steps import (
    FEW,
    HALTS,
    STRIKES,
    ask_if_halted,
    ask_if_struck,
    mark_contacts,
)
from linkwork.contact_dynamics.time_stepping.inertial_motion import InertialMotion
from linkwork.contact_dynamics.time_stepping.lanes import (
    Lanes,
    Workspace,
    leave_lane,
    next_lane,
    show_lane,
    take_lane,
)
from linkwork.contact_dynamics.time_stepping.push_out_energy import keep_pushes, push_less
from linkwork.contact_dynamics.time_stepping.step_loops import (
    ask_if,
    begin_impulses,
    centres_of,
    contact_work,
    earn,
    force_work,
    foreseen,
    free_velocities,
    is_quick,
    shift_work,
    take_found,
    unless_quick,
    unless_touched,
    yielding,
)
from linkwork.contact_dynamics.time_stepping.step_words import (
    AGAIN,
    ASLEEP,
    DIVIDES,
    FAST,
    HALF,
    ISLANDS,
    LANE,
    LANES,
    LEFT,
    MIDDLE,
    POINTS,
    QUICK,
    REMEMBERED,
    ROWS,
    SPAN,
    START,
    STEP,
    STOPS,
    TRIES,
    UNTIL,
    WAITS,
    WORDS,
    WORST,
    Asked,
)
from linkwork.contact_dynamics.time_stepping.time_of_impact import Sweep, leave_fast_out, unless_fast
from linkwork.contact_dynamics.time_stepping.warm_start import NOTHING, Memory, in_the_world, recall
from linkwork.dynamics import velocities
from linkwork.model.model import Model
from linkwork.model.own_forces import motion_algorithm, motion_kernel
from linkwork.native.stages import Program, Some, Value, unowned

Array = np.ndarray

SAME = 0.01  # a contact this near to one of the step before is the same [m]
STILL = 5e-8  # what touches and moves no faster than the solver knows stands still [m/s, rad/s]
SAVED = 1500.0  # work that can be saved up for a sudden change of contacts, and
EARNED = 10.0  # is earned in every step, in sweeps over all contacts


def _refuse() -> str:
    """Stand for what is asked of lanes alone, and is left to `Stepper.step`: the next lane goes on."""
    return "next"


class StepProgram:
    """The stages of a model's steps; for one thread."""

    def __init__(
        self,
        model: Model,
        system: ContactSystem,
        inertial: InertialMotion,
        solver: Solver,
        tolerance: float,
        asked: Asked,
    ) -> None:
        """Take what is moved, what moves and solves it, and to which tolerance [m/s]."""
        self._model, self._system, self._inertial, self._solver = model, system, inertial, solver
        self._asked, self._tolerance, self.program = asked, tolerance, Program(23)
        if not asked.bounce:
            solver.loose[:] = np.isin(system.nodes.first, inertial.free_velocities)
        self.values, self.numbers = self.program.values, self.program.numbers
        nq, nv = model.nq, model.nv
        self.q, self.v = np.zeros(nq), np.zeros(nv)
        self.saved, self.work = np.zeros(2 * len(system.nodes.size)), np.zeros(1)
        self.spare, self._placed_nodes = np.split(self.saved, 2)  # see `ContactState`
        self.added, self.pull, self.a, self._rates = (np.zeros(nv) for _ in range(4))
        self.before, self._after = np.zeros(nv), np.zeros(nv)  # velocities of a step
        self._gains = DriveGains(model)
        self._accelerated = None if asked.bounce else AcceleratedContacts(system, inertial)
        smooth = model.stepped_tree
        self._motion = motion_kernel(model, motion_algorithm(model, smooth), smooth)
        self._arrays = [np.zeros(shape) for shape in self._motion.shapes]
        self._power = self._arrays[self._motion.inputs + 2].reshape(1)
        self.t, self._arrays[1], self._arrays[2] = self._arrays[0], self.q, self.v
        self.inputs = self._arrays[3] if model.inputs else np.zeros(0)
        self._untraced = any(one.formula is None for one in (*smooth.loads, *smooth.loops))
        self._centres = np.zeros((len(system.detection.reach), 3))
        self.make_room(64)
        self._version: Any = None
        self._lanes: Lanes | None = None
        self._which = np.zeros(0, np.int64)
        self._sweep, self._before = Sweep(system.detection), np.zeros_like(system.detection.motion)

    @property
    def asks(self) -> bool:
        """Whether every step calls Python, for laws that were not traced or for curves of constraints."""
        return self._untraced or bool(self._model.link_tree.unknowns)

    @property
    def bodies(self) -> int:
        """How many bodies the model has."""
        return len(self._model.body_names)

    def make_room(self, remembered: int) -> None:
        """Have room for this many contacts that are remembered: so many, or more, will be found again."""
        self._system.expect(remembered)
        self.memory = Memory(
            *(np.zeros((remembered, 2), np.int64), np.zeros((remembered, 3)), np.zeros((remembered, 3))),
            *NOTHING[3:],
        )
        self._version = None

    def remember(self, memory: Memory) -> None:
        """Begin with these contacts."""
        count = len(memory.pair)
        if count > len(self.memory.pair):
            self.make_room(2 * count)
            self.bind()
        self.values[REMEMBERED] = count
        if count:
            for own, given in zip(self.memory[:3], memory[:3]):
                own[:count] = given

    def accelerations(self, q: Array, v: Array, t: float) -> tuple[Array, float]:
        """Return what forces give, without inertial motion (nv,), and their power."""
        given = self._motion.inputs
        self.t[...], self.q[:], self.v[:] = t, q, v
        self._motion.call(*self._arrays)
        return self._arrays[given + 1] - self._inertial.rates(q, v, t), float(self._arrays[given + 2])

    @property
    def points(self) -> Points:
        """The contacts of the last run."""
        return Points(*(x[: self.values[POINTS]] for x in self._system.points))

    @property
    def rows(self) -> Contacts:
        """The rows of the last run."""
        return first_of(self._system.all_rows, int(self.values[ROWS]))

    def run(self) -> None:
        """Move q and v by the time SPAN from START, of a step STEP; what is found is in arrays and values."""
        self.bind()
        self.values[LANES] = self.values[FAST] = 0
        self.program.run("step")

    @property
    def lane(self) -> int:
        """Which lane is moved; -1 if it is none."""
        return int(self._which[self.values[LANE]]) if self.values[LANES] else -1

    def run_lanes(self, lanes: Lanes, which: Array, h: float, until: float) -> int:
        """Move some lanes by steps of h to a time; return how many have stayed behind."""
        if lanes is not self._lanes or len(which) > len(self._which):
            self._lanes, self._which, self._version = lanes, np.zeros(len(lanes), np.int64), None
        if lanes.places.room > len(self.memory.pair):
            self.make_room(lanes.places.room)
        self.bind()
        self._which[: len(which)] = which
        self.values[LANE], self.values[LANES], self.values[LEFT] = 0, len(which), len(which)
        self.values[DIVIDES] = STRIKES | HALTS
        self.numbers[STEP], self.numbers[UNTIL] = h, until
        self.program.run("lane")
        return int(self.values[LEFT])

    def _workspace(self) -> Workspace:
        t, pair, place, impulse = self.t.reshape(1), *self.memory[:3]
        given = self.values, self.numbers, self.q, self.v, self.inputs, self.saved, self.work, t
        return Workspace(*given, pair, place, impulse)

    def _take_lane(self, lanes: Lanes) -> None:
        given = lanes.rows, lanes.places, self._which, WORDS, self._workspace()
        self.program.label("lane")
        self.program.loop(take_lane, *given, skip="next")
        self._foresee()

    def _foresee(self) -> None:
        """Find pairs so fast that they may pass each other, and ask where some meet; see `Stepper`."""
        p, system, d, t = self.program, self._system, self._system.detection, self.t.reshape(1)
        p.loop(unless_quick, Value(QUICK), Value(START), t, skip="step")
        system.add_placing(p, self.q)
        p.loop(foreseen, self._accelerate(), self._rates, self.v, Value(SPAN), t, Value(MIDDLE), self.a)
        shapes, span = d.shapes, Value(SPAN)
        p.loop(fill_reach, system.layout, shapes, system.poses, system.J, self.a, span, d.motion, d.reach)
        moving = system.poses, d.poses, d.motion, d.reach, span
        p.loop(unless_fast, shapes, d.table.at, *moving, skip="step")
        p.loop(fill_reach, system.layout, shapes, system.poses, system.J, self.v, 0.0, self._before, d.reach)
        p.loop(fill_reach, system.layout, shapes, system.poses, system.J, self.a, span, d.motion, d.reach)
        p.loop(detect, *d.arguments(system.poses, d.reach))
        self._sweep.add_stages(p, self._before, span, FAST, _refuse)

    def _leave_lane(self, lanes: Lanes) -> None:
        p, words, points = self.program, WORDS, self._some_points()
        if lanes.shows:
            placed = self._model.kernel_of(velocities.PLACED, form="rolled")
            X, V = (np.zeros(shape) for shape in placed.outputs)
            _, plan, ports = placed.bind(self.q, self.v, X, V)
            p.kernel(placed.single.run, plan, ports)
            p.loop(show_lane, lanes.rows, self._which, words, self.values, X.reshape(-1), V.reshape(-1))
        given = lanes.rows, lanes.places, self._which, words, self._workspace()
        found = self._system.nodes, points, Some(self.world, POINTS), self._tolerance
        p.loop(leave_lane, *given, *found, int(lanes.timed), int(lanes.sleeps), skip="end")
        p.label("next")
        p.loop(next_lane, words, self.values, skip="lane")
        p.label("end")

    def bind(self) -> None:
        """Follow the arrays of others, which may be larger ones by now."""
        system = self._system
        rows = system.all_rows
        self._solver.make_room(len(rows.a), len(rows.rows))
        lanes = self._lanes
        version = system.version, system.detection.version, self._solver.version, lanes and lanes.version
        if version == self._version:
            return
        self._kept, self._base = np.zeros((len(rows.a), 3)), np.zeros((len(rows.a), 3))
        self.impulses, self.world = np.zeros((len(rows.a), 3)), np.zeros((len(system.points.gap), 3))
        self.marks, self._overlaps = (np.zeros(len(system.points.gap), np.int64) for _ in range(2))
        self._version = version
        self.program.clear()
        if lanes:
            self._take_lane(lanes)
        self.program.label("step")
        self._drift(START)
        self._forces()
        self._look()
        self._rows()
        self._solve()
        self.program.label("drift")
        self._account()
        self._drift(MIDDLE)
        if lanes:
            self._leave_lane(lanes)
        self.program.label("over")

    def _drift(self, start: int) -> None:
        drift = self._asked.drift
        if drift is not None:
            self.program.python(partial(drift, start))
        else:
            self._inertial.add_stages(self.program, self.q, self.v, Value(start), Value(HALF))

    def _account(self) -> None:
        """Add to the work of forces and contacts: what they have done at the mean velocity of the step."""
        p, nodes, after = self.program, self._system.nodes, self._after
        p.loop(contact_work, nodes, self.before, self.v, self._power, after, self.work, skip="worked")
        p.loop(force_work, self._evaluate(), Value(SPAN), after, self.v, self.work)
        p.label("worked")

    def _forces(self) -> None:
        """Inertias and the velocities without contact."""
        p, system, model, nodes = self.program, self._system, self._model, self._system.nodes
        p.loop(yielding, model.damping, model.stiffness, Value(SPAN), self.added)
        self._gains.add_stages(p, Value(MIDDLE), self.q, self.v, self.inputs, Value(SPAN), self.added)
        system.add_placing(p, self.q)
        p.loop(fill_inertia, system.layout, system.J, system.F, self.added, nodes.mass, nodes.inverse)
        found = self.before, self.pull, self.a
        p.loop(
            free_velocities, nodes, self._accelerate(), self._rates, self.added, self.v, Value(SPAN), *found
        )
        if self._asked.give_back:
            p.python(self._asked.give_back)

    def _accelerate(self) -> Array:
        """Return what accelerations by forces will be; `_rates` are those by inertia."""
        self._evaluate()
        self._inertial.add_rates(self.program, self.t, self.q, self.v, self._rates)
        return self._arrays[self._motion.inputs + 1]

    def _evaluate(self) -> Array:
        """Find accelerations at t, q and v; return what the power of forces will be."""
        if self._untraced:
            motion, arrays = self._motion, self._arrays
            self.program.python(lambda: motion.call(*arrays) and None)
        else:
            _, plan, ports = self._motion.bind(*self._arrays)
            self.program.kernel(self._motion.single.run, plan, ports)
        return self._power

    def _look(self) -> None:
        p, system, d = self.program, self._system, self._system.detection
        p.loop(ask_if, Value(ASLEEP), ask=self._asked.look)
        p.label("look")
        p.loop(
            fill_reach,
            *(system.layout, d.shapes, system.poses, system.J, system.nodes.free, Value(STEP)),
            *(d.motion, d.reach),
        )
        p.loop(detect, *d.arguments(system.poses, d.reach))
        rooms = len(d.pairs), d.found.room
        found = d.found.number, d.found.label
        given = d.counts, *rooms, *found, system.points, POINTS, self.values
        p.loop(take_found, *given, ask=unowned(self._grow))
        p.label("found")
        p.loop(is_quick, d.reach, d.shapes.thin, Value(STEP), Value(STEP), result=QUICK)
        p.loop(near_stops, system.soft_stops, self.q, system.nodes.free, Value(SPAN), result=STOPS)
        if not self._asked.add_rows:
            given = system.nodes.free, self.v, self._placed_nodes
            p.loop(unless_touched, Value(POINTS), Value(STOPS), *given, skip="drift")

    def _grow(self) -> str:
        """Make room for more contacts, and look again."""
        self._system.grow()
        self.bind()
        return "look"

    def _rows(self) -> None:
        p, system, asked = self.program, self._system, self._asked
        p.loop(
            fill_contacts,
            *(
                system.layout,
                system.nodes,
                system.poses,
                system.J,
                system.detection.shapes.link,
                system.table,
            ),
            *(system.springs, system.points, Value(POINTS), self.v),
            *(Value(SPAN), Value(STEP), system.all_rows),
            result=ROWS,
        )
        p.loop(begin_impulses, Value(POINTS), Some(self.impulses, ROWS))
        stops = system.soft_stops, Value(STOPS), system.nodes, self.q, self.v
        p.loop(fill_stops, *stops, Value(SPAN), Value(ROWS), system.all_rows, self.impulses, result=ROWS)
        if asked.add_rows:
            p.python(asked.add_rows)
        p.loop(ask_if, Value(WAITS), ask=asked.leave_out)
        p.loop(leave_fast_out, self._some_points(), self._sweep.pairs, Value(FAST), self._some_rows())
        if asked.bounce:
            p.python(asked.bounce)

    def _solve(self) -> None:
        p, asked, nodes = self.program, self._asked, self._system.nodes
        points, rows, impulses = self._some_points(), self._some_rows(), Some(self.impulses, ROWS)
        memory = [Some(x, REMEMBERED) for x in self.memory[:3]]
        d = self._system.detection
        p.loop(centres_of, d.poses, d.table.reach, self._centres)
        motion = d.motion, self._centres, Value(STEP)
        p.loop(recall, (*memory, *self.memory[3:]), points.pair, points.place, *motion, SAME, impulses)
        if asked.recall:
            p.python(asked.recall)
        marks = Some(self.marks, POINTS)
        p.loop(mark_contacts, nodes, rows, impulses, self.before, marks)
        p.loop(keep_placed, nodes, rows, points, self.before, Value(HALF), self._placed_nodes)
        overlaps, loose = Some(self._overlaps, POINTS), self._solver.loose
        if not asked.bounce:
            p.loop(find_islands, nodes, rows, self._solver.islands, result=ISLANDS)
            given = self._solver.islands, marks, loose, self._placed_nodes, self.before, self.pull
            p.loop(find_overlaps, nodes, rows, points, *given, overlaps, FEW)
        if asked.struck:
            given = points, Some(self.impulses, POINTS), self.before, self.a
            times = Value(HALF), Value(STEP), Value(DIVIDES)
            p.loop(ask_if_struck, nodes, rows, *given, *times, ask=asked.struck)
        if self._accelerated is not None:
            p.loop(keep_pushes, rows, self._base, AGAIN, self.values)
            given = (
                rows,
                points,
                impulses,
                self.q,
                self.v,
                Value(MIDDLE),
                Value(HALF),
                Value(AGAIN),
                Value(SPAN),
                Value(STEP),
            )
            self._accelerated.add_stages(p, *given)
        problem = nodes, rows, impulses, self.v
        p.loop(keep_pushes, rows, self._kept, TRIES, self.values)
        p.label("solve")
        results = self.spare, self._tolerance, (ISLANDS, WORST)
        self._solver.add_stages(p, problem, *results, asked.relax, agree=not asked.bounce)
        p.label("relaxed")
        self._solver.add_asking(p, problem, *results, asked.improve, self.before)
        if not (asked.bounce or self._system.held):
            given = *problem[:2], Value(POINTS), self._kept, *problem[2:], TRIES, self.values
            p.loop(push_less, *given, skip="solve")
        if self._accelerated is not None and not (asked.add_rows or asked.bend):
            given = Value(POINTS), self._base, AGAIN, self.values
            p.loop(foresee_again, nodes, rows, *given, skip="foresee")
        if asked.bend:
            p.python(asked.bend)
        if asked.halted:
            given = Value(POINTS), impulses, self.before, self.marks, self.v, Value(DIVIDES)
            p.loop(ask_if_halted, nodes, rows, *given, ask=asked.halted)
        p.loop(earn, self.spare, EARNED, SAVED)
        if not asked.bounce:
            islands = self._solver.islands, Value(ISLANDS)
            given = *islands, self._solver.room, loose, overlaps, Value(SPAN)
            p.loop(take_out, nodes, rows, points, impulses, self.v, *given)
            given = impulses, marks, *islands, self._placed_nodes, self.before, self.v
            p.loop(bound_work, nodes, rows, *given, self._solver.shift)
            p.loop(stand_still, nodes, rows, impulses, STILL, self.v)
        p.loop(in_the_world, points.place, Some(self.impulses, POINTS), Some(self.world, POINTS))
        if asked.hold:
            p.python(asked.hold)
        p.loop(unless_shifted, self._solver.shift, skip="drift")
        p.loop(shift_work, nodes, self._solver.shift, self.before, self.work)
        self._inertial.add_shift(p, self.q, self.v, self._solver.shift, Value(SPAN))

    def _some_points(self) -> Points:
        return Points(*(Some(x, POINTS) for x in self._system.points))

    def _some_rows(self) -> Contacts:
        named = self._system.all_rows._asdict()
        return Contacts(**{name: x if name == "rows" else Some(x, ROWS) for name, x in named.items()})
