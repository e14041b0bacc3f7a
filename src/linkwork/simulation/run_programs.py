"""The equations of motion of a model as native programs."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from linkwork.compile import Model
from linkwork.dynamics import applied_forces, equations_of_motion, loop_closure
from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.native_program import Program as Compiled
from linkwork.dynamics.native_program import program
from linkwork.errors import ModelError
from linkwork.model.tree import Tree
from linkwork.native.tangent import tangent_name, tangent_ports
from linkwork.simulation.event import Event, settle
from linkwork.simulation.integration import Program
from linkwork.simulation.restoring import Restoring

LARGEST_IMPLICIT = 1000  # states; beyond, a Jacobian takes too much memory and time
STEP_UNDER_TIME = 0.1  # longest step where a law knows the time, so that no pulse is stepped over [s]

_MOTION = ("t", "q", "qd", "qdot", "qdd", "power")
_EVENTS = ("t", "q", "qd", "shown")
_POSITION = ("t", "q", "gap_position", "qdd")
_VELOCITY = ("t", "q", "qd", "gap_velocity", "inverse_pivot", "qdd")


class RunPrograms:
    """What `march` needs of a model; `events` are looked at."""

    def __init__(self, model: Model, events: Sequence[Event] = (), restoring: Restoring | None = None):
        self.model = model
        self.tree = model.driven()
        self.restoring = restoring if self.tree.loops else None
        self.events = tuple(events)
        self.event_tree = self._event_tree()
        self.algorithm = equations_of_motion.RESTORED if self.restoring else model.motion_algorithm
        if self.restoring:
            self.tree = self.restoring.applied(self.tree)

    def _event_tree(self) -> Tree:
        if mistakes := settle(self.events, self.model.space, self.model.joints):
            raise ModelError("; ".join(mistakes))
        placed = self.model.place(self.events, self.tree) if self.events else ()
        for one in placed:
            if one.shown != 1:
                raise ModelError(f"event {one.name!r}: its quantity is {one.shown} numbers; give one")
        return replace(self.tree, loads=placed)

    @property
    def python_laws(self) -> tuple[str, ...]:
        """The names of laws that have to be called."""
        placed = (*self.tree.loads, *self.event_tree.loads)
        return tuple(one.name for one in placed if one.formula is None)

    @property
    def timed(self) -> bool:
        """Whether the time may be in a law."""
        return any(one.timed for one in (*self.tree.loads, *self.event_tree.loads, *self.tree.loops))

    @property
    def smooth(self) -> bool:
        """Whether long steps are safe: no law bends or jumps, no loop can go two ways, no event is lost."""
        laws = (*(link.kind for link in self.tree.links), *(one.formula for one in self.tree.loads))
        calm = not self.tree.loops and not self.events
        return calm and all(law is not None and law.smooth for law in laws)

    def programs(self, lanes: int, implicit: bool) -> dict[str, Any]:
        """Return the equations of motion, for `march.Problem`; with derivatives if `implicit`."""
        moving, rates = self.algorithm, self.model.rates_algorithm
        found = {
            "motion": _program(self._compiled(moving, lanes), moving, _MOTION),
            "rates": _program(self._compiled(rates, lanes), rates, _MOTION),
        }
        if self.events:
            watched = program(applied_forces.SHOWN_ONLY, self.event_tree, lanes, "rolled")
            found["events"] = _program(watched, applied_forces.SHOWN_ONLY, _EVENTS)
        if self.tree.loops and not self.restoring:
            position, velocity = loop_closure.POSITION_CORRECTION, loop_closure.VELOCITY_CORRECTION
            found["close_positions"] = _program(self._compiled(position, lanes), position, _POSITION)
            found["close_velocities"] = _program(self._compiled(velocity, lanes), velocity, _VELOCITY)
        elif implicit and not self.tree.loops and all(one.formula for one in self.tree.loads):
            compiled = self.model.motion_kernel(moving).tangent
            slots = (*_MOTION, *map(tangent_name, _MOTION))
            found["tangent"] = _program(compiled, moving, slots, tangent=True)
        return found

    def _compiled(self, algorithm: Algorithm, lanes: int) -> Compiled:
        if algorithm is equations_of_motion.RESTORED:
            return program(algorithm, self.tree, lanes, "rolled")
        kernel = self.model.motion_kernel(algorithm)
        return kernel.single if lanes == 1 else kernel.lanes

    def scale(self) -> np.ndarray:
        """Return what is a normal size of each position and velocity: 1 rad, 1 m or the mechanism's size."""
        units = {"rad": 1.0, "m": min(1.0, self.model.size), "": 1.0}
        return np.array([units[unit] for unit in (*self.model.position_units, *self.model.coordinate_units)])


def _program(
    compiled: Compiled, algorithm: Algorithm, slots: Sequence[str], tangent: bool = False
) -> Program:
    """Return a program with room for all arrays but those of the loop, in `slots`."""
    names = ["data", "work", *(port.name for port in algorithm.ports)]
    sizes = [0, compiled.work_size, *(prod(shape) for shape in compiled.shapes)]
    if tangent:
        names, sizes = tangent_ports(names, ("data",)), sizes + sizes[1:]
    # Lines that the code fetches for its results, which here stay in lanes.
    fetched = [prod(shape) for shape in compiled.shapes[compiled.inputs :]][: compiled.results]
    names, sizes = [*names, *("" for _ in fetched)], [*sizes, *fetched]
    ports = [compiled.data.ctypes.data if name == "data" else 0 for name in names]
    own = {
        k: size * compiled.lanes
        for k, (name, size) in enumerate(zip(names, sizes, strict=True))
        if name != "data" and name not in slots
    }
    slots_at = [names.index(name) for name in slots]
    return Program(compiled.run, compiled.plan, np.array(ports, np.int64), slots_at, own, compiled)
