"""The programs of a run, by name: native code that the loop calls, and the arrays that each reads and writes.

A program is `void run(plan, table)`. Its table holds addresses of arrays: constants, memory of its own, and
its *ports*, the arrays that it shares with the loop. `PROGRAMS` is the one place that says which ports a
program has; where in its table they are, each program says itself. To add one, add its line here, call it
from the loop as `run.<name>` (`evaluate.py` shows how), and supply it in `run_programs.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# Ports are (..., lanes): t (1,) [s]; q (nq,); qd (nv,), velocities; qdot (nq,), rates of q; qdd (nv,),
# accelerations, or changes of velocity coordinates that close loops; power (1,) of applied forces [W];
# shown (events,), event functions; gap_position, gap_velocity, inverse_pivot (rows,) of closed loops.
# Those of the tangent that begin with d are rates along a direction; they have `tangent_lanes`.
_MOTION = ("t", "q", "qd", "qdot", "qdd", "power")
PROGRAMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "motion": _MOTION,  # t, q, qd -> all others
        "rates": _MOTION,  # the same, qdot only; for partitioned methods
        "changes": _MOTION,  # the same, of positions by a change in place of qd
        "event_functions": ("t", "q", "qd", "shown"),
        "event_rates": ("t", "q", "qd", "shown", "dt", "dq", "dqd", "dshown"),  # the same, and their rates
        "tangent": (*_MOTION, *(f"d{port}" for port in _MOTION)),  # derivatives of motion
        "close_positions": ("t", "q", "gap_position", "qdd"),  # t, q -> gaps, changes that close them
        "close_velocities": ("t", "q", "qd", "gap_velocity", "qdd"),
    }
)
# Ports that stay with one array of the run, in programs that have them: what laws are given, see `inputs`;
# pivots of closed loops; the state at the base of the step, and its time [s].
BOUND: Mapping[str, str] = MappingProxyType(
    {"inputs": "given", "inverse_pivot": "inverse_pivots", "base": "base", "base_time": "t"}
)
ALONG: Mapping[str, str] = MappingProxyType({**BOUND, "inputs": "given_along"})  # those of the tangent


@dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """Native code `void run(plan, table)`, and where in its table the addresses of its ports go.

    Every run has a copy of the table.
    """

    run: int  # address of the code
    ports: Mapping[
        str, int
    ]  # name of an array of the loop -> place in the table; also "inputs", if it has any
    own: tuple[int, int] | None = None  # place in the table, first of a mechanism's own constants
    table: Integers  # addresses of constants, 0 for all else
    plan: Integers
    room: Mapping[int, int] = field(default_factory=dict)  # place in the table -> doubles of its own
    keep: object = None  # what the addresses point to

    @classmethod
    def of_ports(cls, run: int, ports: Sequence[str]) -> "Program":
        """Return a program whose table has these ports, in this order, and nothing else."""
        places = {name: k for k, name in enumerate(ports)}
        return cls(run=run, ports=places, table=np.zeros(len(ports), np.int64), plan=np.zeros(1, np.int64))


def check_programs(programs: Mapping[str, Program]) -> None:
    """Refuse programs that the loop does not call, or that lack a port it fills."""
    if unknown := [name for name in programs if name not in PROGRAMS]:
        raise ValueError(f"program {unknown[0]!r} is not one of a run; available are {', '.join(PROGRAMS)}")
    if "motion" not in programs:
        raise ValueError("a run needs the program 'motion'; give it")
    for name, program in programs.items():
        if missing := [port for port in PROGRAMS[name] if port not in program.ports]:
            raise ValueError(f"program {name!r} has no port {missing[0]!r}; give its place in the table")


def program_record(name: str) -> np.dtype[np.void]:
    """Return what native code sees of a program: its code, plan and table, and its ports' places there."""
    words = ("run", "plan", "table", *PROGRAMS[name])
    return np.dtype([(word, np.int64) for word in words])
