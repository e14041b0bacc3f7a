"""The programs of a run with rigid contact: those of the model, and what contacts in fixed modes add to them.

All four of the loop that contacts have to do with are one native function, a task each
(`contact_dynamics/event_driven/contact_tasks.py`), which runs those of the model on memory of its own.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from linkwork.contact_dynamics.event_driven.contact_tasks import (
    EVENTS,
    MARGINS,
    MOTION,
    PORTS,
    POSITIONS,
    VELOCITIES,
    run_task,
)
from linkwork.contact_dynamics.event_driven.smooth_motion import Free, SmoothMotion
from linkwork.model.own_forces import free_motion
from linkwork.native import store
from linkwork.simulation.loop.programs import Program

Array = np.ndarray

_TASKS = {
    "motion": MOTION,
    "close_positions": POSITIONS,
    "close_velocities": VELOCITIES,
    "event_functions": EVENTS,
}
_RECORDS = {  # what a record of active contacts calls them
    "motion": "motion",
    "close_positions": "positions",
    "close_velocities": "velocities",
    "event_functions": "shown",
}
# void f(plan, table): the plan is the address of an entry and its words, the first of which is the table
_CALL = """
define void @with_table_{name}(ptr %plan, ptr %table) {{
  %entry = load ptr, ptr %plan
  %words = getelementptr i64, ptr %plan, i64 1
  %first = getelementptr i64, ptr %plan, i64 2
  store ptr %table, ptr %first
  %status = call i32 %entry(ptr %words)
  ret void
}}
"""


class ContactPrograms:
    """Programs by name, made of those of a model."""

    def __init__(self, motion: SmoothMotion, programs: Mapping[str, Program], user_events: int, inputs: int):
        self.motion, active = motion, motion.active
        active.set(events=user_events, inputs=inputs)
        active.values, self.given = (
            active.array("values", user_events + len(MARGINS)),
            active.array("given", inputs),
        )
        self._keep: list[object] = []
        for name in _TASKS:
            if name in programs:
                self._own(name, programs[name])
        self.programs = {"rates": programs["rates"], "changes": programs.get("changes", programs["rates"])}
        self.programs |= {name: self._program(task) for name, task in _TASKS.items()}

    def _own(self, name: str, program: Program) -> None:
        """Give a program of the model memory of its own, and let native code know it."""
        active = self.motion.active
        arrays = {"t": active.t, "q": active.q, "qd": active.v, "qdot": active.qdot, "power": active.power}
        arrays |= {"qdd": active.free if name == "motion" else active.change, "inputs": self.given}
        arrays |= {"gap_position": active.gaps, "gap_velocity": active.gaps, "inverse_pivot": active.pivots}
        arrays |= {"shown": active.values}
        table, rooms = program.table.copy(), [np.zeros(size) for size in program.room.values()]
        for place, room in zip(program.room, rooms, strict=True):
            table[place] = room.ctypes.data
        for port, place in program.ports.items():
            table[place] = arrays[port].ctypes.data
        self._keep += [program, table, rooms]
        word = _RECORDS[name]
        plan, at = program.plan.ctypes.data, table.ctypes.data
        active.set(**{word: program.run, f"{word}_plan": plan, f"{word}_table": at})

    def _program(self, task: int) -> Program:
        """Return the program that does a task."""
        active = self.motion.active
        plan = np.concatenate([[run_task.address], run_task.words(*active.arguments(task))])
        made = Program.of_ports(_calling(), PORTS[task])
        return replace(made, plan=plan, keep=(active, self))

    def free(self, inputs: Array) -> Free:
        """Return accelerations without what is rigid as a function, at some values of inputs."""
        model = self.motion.model
        self.given[:] = inputs
        given = {"inputs": inputs[: len(model.inputs)]} if len(model.inputs) else {}
        return lambda t, q, v: free_motion(model, q, v, t, **given)


def _calling() -> int:
    """Return the address of the function that hands its table to an entry."""
    name = store.digest("with table", _CALL)
    store.load(name, lambda: (_CALL.format(name=name), {}))
    return store.address(f"with_table_{name}")
