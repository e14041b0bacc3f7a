"""The equations of motion of a model as native programs."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, prod
from weakref import ref

import numpy as np

from linkwork.dynamics import applied_forces, equations_of_motion, loop_closure
from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.native_program import Program as Compiled
from linkwork.dynamics.native_program import constants, program
from linkwork.errors import ModelError
from linkwork.model import trees
from linkwork.model.joint_space import accelerating_kernel
from linkwork.model.model import Model
from linkwork.model.own_forces import (
    changes_algorithm,
    motion_algorithm,
    motion_kernel,
    rates_algorithm,
)
from linkwork.native.tangent import tangent_ports
from linkwork.simulation.event import Event, settle
from linkwork.simulation.loop.programs import BOUND, PROGRAMS, Program
from linkwork.simulation.restoring import Restoring
from linkwork.tree.loops import inputs_of
from linkwork.tree.tree import Tree
from linkwork.varied import of_all_variants, real_table

LARGEST_IMPLICIT = 1000  # states; beyond, a Jacobian takes too much memory and time
_DATA = 0  # place of the constants in the table of a program
_TABLES = {"close_positions": "closing", "close_velocities": "closing"}  # which a program reads; others:
_TABLES |= {"event_functions": "events", "event_rates": "events"}  # that of the motion; of these, too,
_TABLES |= {"rates": "rates", "changes": "rates"}  # if no constraint has unknowns of its own
STEP_UNDER_TIME = 0.1  # longest step where a law knows the time, so that no pulse is stepped over [s]
STEP_TO_CONTACT = 0.01  # longest step where bodies may touch, so that none is passed unseen [s]


class RunPrograms:
    """What the loop needs of a model; `events` are looked at.

    The model is not kept alive: programs are kept by it (`run_settings`), and needed only while it runs.
    """

    def __init__(
        self,
        model: Model,
        events: Sequence[Event] = (),
        restoring: Restoring | None = None,
        tree: Tree | None = None,
    ):
        """Take a model; its forces are those of the touching tree, unless another is given."""
        self._model = ref(model)
        self.tree = self._touching = model.touching_tree if tree is None else tree
        self.restoring = restoring if self.tree.loops else None
        self.events = tuple(events)
        self.event_tree = self._event_tree()
        self.algorithm = motion_algorithm(model, self.tree)
        if self.restoring:
            self.algorithm, self.tree = equations_of_motion.RESTORED, self.restoring.applied(self.tree)
        elif self.tree.loops:
            self.algorithm = equations_of_motion.WATCHED

    @property
    def model(self) -> Model:
        model = self._model()
        if model is None:
            raise ReferenceError("the model of these programs is gone; keep it while they run")
        return model

    def _event_tree(self) -> Tree:
        if mistakes := settle(self.events, self.model.mechanism):
            raise ModelError("; ".join(mistakes))
        placed = trees.place(self.model, self.events, self.tree) if self.events else ()
        for one in placed:
            if one.shown != 1:
                raise ModelError(f"event {one.name!r}: its quantity is {one.shown} numbers; give one")
        inputs = inputs_of((*self.tree.loops, *self.tree.loads, *placed))
        return self.tree.having(loads=placed, inputs=tuple(inputs))

    @property
    def inputs(self) -> dict[str, float]:
        """The inputs of laws and events, with their default values, in the order of their array."""
        return inputs_of((*self.tree.loops, *self.tree.loads, *self.event_tree.loads))

    @property
    def python_laws(self) -> tuple[str, ...]:
        """The names of laws that have to be called."""
        placed = (*self.tree.loads, *self.event_tree.loads)
        return (*(one.name for one in placed if one.formula is None), *self.called_constraints)

    @property
    def called_constraints(self) -> tuple[str, ...]:
        """The names of constraints and drivers that have to be called."""
        return tuple(loop.name for loop in self.tree.loops if loop.formula.called)

    @property
    def timed(self) -> bool:
        """Whether the time may be in a law."""
        return any(one.timed for one in (*self.tree.loads, *self.event_tree.loads, *self.tree.loops))

    @property
    def longest_step(self) -> float:
        """The longest step that sees all that laws may do [s]."""
        if self.tree.contacts is not None:
            return STEP_TO_CONTACT
        return STEP_UNDER_TIME if self.timed else inf

    @property
    def smooth(self) -> bool:
        """Whether long steps are safe: no law, joint or constraint bends or jumps, no event is lost."""
        held = (*self.tree.kinds, *(loop.formula for loop in self.tree.loops))
        laws = (one.formula for one in self.tree.loads)
        still = not self.events and self.tree.contacts is None
        return still and all(law is not None and law.smooth for law in (*held, *laws))

    def programs(self, lanes: int, implicit: bool, own: bool = False) -> dict[str, Program]:
        """Return the programs of a run, by the names of PROGRAMS; with derivatives if `implicit`.

        Mechanisms have their `own` constants, or share those of the model.
        """
        algorithms = {"motion": self.algorithm, "rates": rates_algorithm(self.model, self._touching)}
        if self._projected:
            algorithms["changes"] = changes_algorithm(self.model, self._touching)
            algorithms["close_positions"] = loop_closure.POSITION_CORRECTION
            algorithms["close_velocities"] = loop_closure.VELOCITY_CORRECTION
        found = {
            name: _program(name, self._compiled(one, lanes, own), one) for name, one in algorithms.items()
        }
        if self.events:
            shown, tree = applied_forces.SHOWN_ONLY, self.event_tree
            compiled = program(shown, tree, lanes, "rolled", shared=not own)
            found["event_functions"] = _program("event_functions", compiled, shown)
            if all(one.formula for one in tree.loads):
                rates = program(shown, tree, lanes, "rolled", tangent=True, shared=not own)
                found["event_rates"] = _program("event_rates", rates, shown, tangent=True)
        known = self.tree.contacts is None and all(one.formula for one in self.tree.loads)
        if implicit and not self.tree.loops and known:
            tangent = motion_kernel(self.model, self.algorithm, self._touching).tangent
            found["tangent"] = _program("tangent", tangent, self.algorithm, tangent=True)
        return {name: self._with_own(name, one) for name, one in found.items()} if own else found

    @property
    def _projected(self) -> bool:
        return bool(self.tree.loops) and not self.restoring

    def _with_own(self, name: str, made: Program) -> Program:
        """Return a program that reads the constants of each mechanism in place of the model's."""
        first, tables = 0, self.tables()
        wanted = _TABLES.get(name, "motion")
        for table, numbers in tables.items():
            if table == (wanted if wanted in tables else "motion"):
                return replace(made, own=(_DATA, first))
            first += len(numbers)
        raise KeyError(name)

    def tables(self) -> dict[str, np.ndarray]:
        """Return the constants that programs read; `_TABLES` says which of them reads which.

        Rates read those of the motion, of which links come first.
        """
        found = {"motion": constants(self.algorithm, self.tree)}
        if self.tree.unknowns:
            found["rates"] = constants(rates_algorithm(self.model), self.tree)
        if self._projected:
            found["closing"] = constants(loop_closure.POSITION_CORRECTION, self.model.link_tree)
        if self.events:
            found["events"] = constants(applied_forces.SHOWN_ONLY, self.event_tree)
        return found

    def row_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return, of the equations that are closed after every step, weights of gaps and least pivots."""
        if not self._projected:
            return np.empty(0), np.empty(0)
        return self.model.row_weights, self.model.weak_pivots

    def own_constants(self) -> np.ndarray:
        """Return all numbers of the mechanism that a run reads, in the order of `Memory.constants`."""
        return np.concatenate([*self.tables().values(), self.scale(), *self.row_sizes()])

    def _compiled(self, algorithm: Algorithm, lanes: int, own: bool) -> Compiled:
        if algorithm is equations_of_motion.RESTORED:
            return program(algorithm, self.tree, lanes, "rolled", shared=not own)
        if algorithm in (loop_closure.POSITION_CORRECTION, loop_closure.VELOCITY_CORRECTION):
            kernel = accelerating_kernel(self.model, algorithm)  # the equations do not depend on loads
        else:
            kernel = motion_kernel(self.model, algorithm, self._touching)
        return kernel.single if lanes == 1 else kernel.variants if own else kernel.lanes

    def scale(self) -> np.ndarray:
        """Return what is a normal size of each position and velocity: 1 rad, 1 m or the mechanism's size."""
        units = {"rad": 1.0, "m": of_all_variants(_at_most_one, self.model.size), "": 1.0}
        return real_table(units[unit] for unit in (*self.model.position_units, *self.model.coordinate_units))


def _at_most_one(size: np.ndarray) -> np.ndarray:
    return np.minimum(1.0, size)


def _program(name: str, compiled: Compiled, algorithm: Algorithm, tangent: bool = False) -> Program:
    """Return a program with room for all arrays but its ports."""
    names = ["data", "work", *(port.name for port in algorithm.ports)]
    sizes = [0, compiled.work_size, *(prod(shape) for shape in compiled.shapes)]
    if tangent:
        names, sizes = tangent_ports(names, ("data",)), sizes + sizes[1:]
    # Lines that the code fetches for its results, which here stay in lanes.
    fetched = [prod(shape) for shape in compiled.shapes[compiled.inputs :]][: compiled.results]
    names, sizes = [*names, *("" for _ in fetched)], [*sizes, *fetched]
    ports = [*PROGRAMS[name], *(port for port in BOUND if port in names)]
    return Program(
        run=compiled.run,
        plan=compiled.plan,
        table=np.array([compiled.data.ctypes.data if name == "data" else 0 for name in names], np.int64),
        ports={port: names.index(port) for port in ports},
        room={
            k: size * compiled.lanes
            for k, (name, size) in enumerate(zip(names, sizes, strict=True))
            if name != "data" and name not in ports
        },
        keep=compiled,
    )
