"""The programs of a run with rigid stops and friction of joints: what these add to a model's.

Each is called by the native loop with the table of the program that it goes with: first that runs, then stops
and friction correct what it has written. `contact_dynamics.joint_motion` has the physics.
"""

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.contact_dynamics.joint_motion import Free, JointMotion
from linkwork.model.own_forces import motion_algorithm, motion_kernel
from linkwork.simulation.loop.programs import PROGRAMS, Program

Array = np.ndarray

EVENTS = ("approach", "hold", "stop")
_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class JointPrograms:
    """Programs by name, made of those of a model; `failure` is what one of them raised."""

    def __init__(self, motion: JointMotion, programs: Mapping[str, Program], user_events: int, inputs: int):
        self.motion, self._given, self._events, self._inputs = motion, programs, user_events, inputs
        self._keep: list[object] = []
        self.error: Exception | None = None
        model = motion.model
        tree = model.smooth_touching_tree
        self._kernel = motion_kernel(model, motion_algorithm(model, tree), tree)
        self._nq, self._nv, self._rows = model.nq, model.nv, len(model.weak_pivots)
        self.programs = {"rates": programs["rates"], "changes": programs.get("changes", programs["rates"])}
        self.programs["motion"] = self._wrapped("motion", self._motion, ("inverse_pivot",))
        self.programs["close_positions"] = self._wrapped("close_positions", self._close_positions)
        self.programs["close_velocities"] = self._wrapped("close_velocities", self._close_velocities)
        bound = ("inputs", "base", "base_time")
        self.programs["event_functions"] = self._wrapped("event_functions", self._event_functions, bound)

    @property
    def rows(self) -> int:
        """How many equations are closed after every step: those of loops, and one for all that is held."""
        return self._rows + 1

    def _wrapped(
        self, name: str, act: Callable[[Callable[[str, int], Array]], None], bound: tuple[str, ...] = ()
    ) -> Program:
        """Return a program that runs what there is by this name, then `act`, which asks for ports."""
        inner = self._given.get(name)
        made = inner or Program.of_ports(0, PROGRAMS[name])
        ports = dict(made.ports)
        table = list(made.table)
        for port in bound:
            if port not in ports:
                ports[port] = len(table)
                table.append(0)
        first = _RUN(inner.run) if inner is not None else None

        def run(plan: int, address: int) -> None:
            if first is not None:
                first(plan, address)
            words = (ctypes.c_int64 * len(table)).from_address(address)

            def port(name: str, size: int) -> Array:
                memory: Any = (ctypes.c_double * size).from_address(words[ports[name]])
                return np.frombuffer(memory)

            try:
                act(port)
            except Exception as error:
                self.error = self.error or error
                for name, size in (("qdd", self._nv), ("shown", 1)):
                    if name in ports:
                        port(name, size)[:] = np.nan

        callback = _RUN(run)
        self._keep.append(callback)
        code = ctypes.cast(callback, ctypes.c_void_p).value or 0
        return replace(
            made, run=code, ports=ports, table=np.array(table, np.int64), keep=(made.keep, callback)
        )

    def _motion(self, port: Callable[[str, int], Array]) -> None:
        q, v, free = port("q", self._nq), port("qd", self._nv), port("qdd", self._nv)
        pivots = port("inverse_pivot", self.rows)
        pivots[-1] = 1.0
        change, power = self.motion.change(port("t", 1)[0], q.copy(), v.copy(), lambda *_: free)
        free += change
        port("power", 1)[0] += power

    def _close_positions(self, port: Callable[[str, int], Array]) -> None:
        gaps, change = port("gap_position", self.rows), port("qdd", self._nv)
        if not self.motion.count:
            gaps[-1] = 0.0
            if not self._rows:
                change[:] = 0.0
            return
        gaps[-1], gaps[:-1], change[:] = self.motion.close_positions(
            port("q", self._nq).copy(), port("t", 1)[0]
        )

    def _close_velocities(self, port: Callable[[str, int], Array]) -> None:
        gaps, change = port("gap_velocity", self.rows), port("qdd", self._nv)
        if not self.motion.count:
            gaps[-1] = 0.0
            if not self._rows:
                change[:] = 0.0
            return
        q, v = port("q", self._nq).copy(), port("qd", self._nv).copy()
        gaps[-1], gaps[:-1], change[:] = self.motion.close_velocities(q, v, port("t", 1)[0])

    def _event_functions(self, port: Callable[[str, int], Array]) -> None:
        t, q, v = port("t", 1)[0], port("q", self._nq).copy(), port("qd", self._nv).copy()
        base = port("base", self._nq + self._nv)
        start = base[: self._nq].copy(), base[self._nq :].copy()
        self.motion.start_from(*start)
        inputs = port("inputs", self._inputs).copy() if self._inputs else np.zeros(0)
        span = t - port("base_time", 1)[0]
        shown = port("shown", self._events + len(EVENTS))
        shown[self._events :] = self.motion.margins(start, t, q, v, span, self.free(inputs))

    def free(self, inputs: Array) -> Free:
        """Return accelerations without stops and friction as a function, at some values of inputs."""
        model, kernel = self.motion.model, self._kernel
        given = [inputs[: len(model.inputs)]] if len(model.inputs) else []
        rest = [np.zeros(shape) for shape in kernel.shapes[3 + len(given) : kernel.inputs]]

        def accelerations(t: float, q: Array, v: Array) -> Array:
            return kernel(np.float64(t), q, v, *given, *rest)[1]

        return accelerations
