"""Positions of many mechanisms alike, in lanes: the step, what counts turns, and the loop around them."""

import numpy as np

from linkwork.kinematics.equation_system import System
from linkwork.kinematics.newton_lanes import solve_lanes
from linkwork.kinematics.newton_step import newton_step
from linkwork.kinematics.step_ports import PORTS, SHARED
from linkwork.kinematics.turn_count import turn_count
from linkwork.native import store
from linkwork.native.built_in_functions import table

Array = np.ndarray


class LaneSolver:
    """The code for one mechanism in lanes; samples and ZeroDivisionError are those of `newton_step`."""

    def __init__(self, system: System, samples: Array) -> None:
        step = newton_step(system, samples, store.lanes())
        self._step, self._size = step.address, system.size
        self._count_turns = turn_count(system, store.lanes()) if system.references else 0
        self._known = np.zeros(len(system.drivers) + system.references + system.nq)
        shared = {
            "data": system.data,
            "columns": system.w.columns,
            "weights": step.weights,
            "here": self._known,
        }
        addresses = [shared[word].ctypes.data for word in SHARED]
        self._ports = table([*addresses, *[0] * (len(PORTS) - len(SHARED))], keep=tuple(shared.values()))

    def solve(
        self, u: Array, p: Array, ref: Array, q: Array, known: tuple[Array, Array, Array] | None = None
    ) -> Array:
        """q <- positions for values u of the drivers and sizes p, from q; return which were found: (N,).

        Turns of joints are counted from `ref`; that is found, from coordinates, if drivers' values, ref and q
        of one position are known.
        """
        good = np.zeros(len(q), np.bool_)
        count_turns = self._count_turns if known is not None else 0
        if known is not None:
            self._known[:] = np.concatenate(known)
        solve_lanes(self._step, count_turns, self._ports, store.lanes(), u, p, ref, q, self._size, good)
        return good
