"""Positions of a mechanism for given values of its drivers: one by one, or many at once."""

from typing import Any

import numpy as np

from linkwork.errors import AssemblyError
from linkwork.kinematics.assembly import reached
from linkwork.kinematics.count import check_drivers
from linkwork.kinematics.lanes import solve_lanes
from linkwork.kinematics.step import newton_step
from linkwork.kinematics.system import system_of
from linkwork.mechanism.mechanism import Mechanism
from linkwork.trace import native
from linkwork.trace.once import once

Array = np.ndarray


class Positions:
    """Solve for positions in a loop of your own: `positions(values)`, or `positions.many(values, q)`.

    >>> import linkwork as lw
    >>> m = lw.examples.four_bar()
    >>> motor = m.add(lw.Driver("motor", "A"))
    >>> positions = Positions(m)
    >>> q = positions([0.3])  # coordinates of all bodies: x, y, angle of the crank, ...
    >>> positions.body("rocker").round(6)
    array([0.2     , 0.      , 1.063959])
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.system = system_of(mechanism.copy())
        q = self.system.assemble()
        check_drivers(self.system, q)
        values = np.array([law.at(0.0)[0, 0] for law in self.system.laws])
        self.q = reached(self.system, q, values)  # (nq,) where the mechanism is [m, rad, quaternions]
        self.values = values  # of the drivers there
        self.system.place(self.q)
        self.system.w.u[::3] = values

    def __call__(self, values: Any) -> Array:
        """Return the coordinates of all bodies, continuously from where the mechanism was last."""
        goal = np.ascontiguousarray(values, float)
        if goal.shape != self.values.shape:
            raise ValueError(f"{goal.shape} values; there are {len(self.values)} drivers")
        w = self.system.w
        if self.system.advance(self.values, goal) < 0:
            raise self._stuck(goal)
        self.values = goal.copy()
        self.q = w.q.copy()
        return self.q

    def body(self, name: str, q: Array | None = None) -> Array:
        """Return the coordinates of a body: x, y, angle, or place and quaternion; q may be of many."""
        system = self.system
        k = next((k for k, body in enumerate(system.bodies) if body.name == name), None)
        if k is None:
            raise KeyError(name)
        return (self.q if q is None else q)[..., system.coordinates * k : system.coordinates * (k + 1)]

    def many(self, values: Array, q: Array | None = None) -> Array:
        """Return coordinates (N, nq) for values (N, drivers), each from a start near it: q (N, nq).

        Without q all start where the mechanism is. Lanes of SIMD registers hold one each; what does not
        converge there is reached in small steps.
        """
        goals = np.ascontiguousarray(values, float).reshape(-1, len(self.values))
        found = np.ascontiguousarray(
            np.broadcast_to(self.q if q is None else q, (len(goals), self.system.nq))
        )
        found = found.copy()
        good = np.zeros(len(goals), np.bool_)
        if self._step:
            step, ports = self._step
            solve_lanes(step, ports, native.lanes(), goals, found, self.system.size, good)
        for k in np.flatnonzero(~good):
            start = found[k] if q is not None else self.q
            self.system.place(start)
            begin = self.system.turned_near(self.system.driven_values(start), goals[k])
            if self.system.advance(begin, goals[k]) < 0:
                raise self._stuck(goals[k])
            found[k] = self.system.w.q
        self.system.place(self.q)
        return found

    @once
    def _step(self) -> tuple[int, Array] | None:
        """The unrolled step and room for its ports; none if equations are redundant or count turns."""
        if self.system.m != self.system.n or self.system.references or self.system.large:
            return None
        try:
            return newton_step(self.system, self.q, native.lanes()), np.zeros(4, np.int64)
        except ZeroDivisionError:
            return None

    def _stuck(self, goal: Array) -> AssemblyError:
        self.system.w.u[::3] = goal
        self.system.close(self.system.w.q.copy(), np.ones(self.system.m))
        error = AssemblyError(
            self.system.open_text(self.system.w.q.copy(), where=self.system.driven_text(goal))
        )
        error.final = self.q
        self.system.place(self.q)
        return error
