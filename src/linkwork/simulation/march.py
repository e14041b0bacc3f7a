"""The door to the native loop: a problem, the mechanisms of a run, and the call that goes on with them.

What the loop does is said in `loop/__init__.py`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numpy.typing import ArrayLike, NDArray

from linkwork.simulation import fehlberg, rosenbrock
from linkwork.simulation.loop.lockstep import advance
from linkwork.simulation.loop.records import (
    LANE,
    MEMO,
    PER_COMPONENT,
    PER_EVENT,
    PER_LANE,
    PROGRAMS,
    RUN,
)
from linkwork.simulation.methods import METHODS
from linkwork.simulation.status import Status
from linkwork.simulation.tableau import Rosenbrock

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class Program(NamedTuple):
    """Native code `void run(plan, ports)`, with the table of the addresses it reads and writes.

    `slots` says where in the table: (t, q, qd, qdot, qdd, power) for motion and rates, (t, q, qd, g) for
    events, (t, q, qd, qdot, qdd, power, dt, dq, dqd, dqdot, dqdd, dpower) for the tangent.
    """

    run: int  # 0: there is none
    plan: Integers
    ports: Integers  # written by the loop: not to be shared by threads
    slots: Sequence[int] | Integers


_LINE = 8  # numbers in a cache line
NONE = Program(0, np.zeros(1, np.int64), np.zeros(1, np.int64), ())


class Memory(NamedTuple):
    """All that the mechanisms of a run are and remember."""

    y: Array  # (N, n) state at the base
    memo: NDArray[np.void]  # (N,) records, see MEMO
    y_final: Array  # (N, n) state at the end, at an event, or the last good one
    record: Array  # (N, cap, 1 + n) samples: t, y
    filled: Integers  # (N,) how many
    times: Array  # (S,) rising sample times; empty: every accepted step
    bad_t: Array  # (N,) where the right-hand side was not finite
    bad_y: Array  # (N, n)
    side: Array  # (N, ne) the sign that each event function last had; 0: it started at zero
    span: Array  # (N, ne) the largest magnitude it had
    weakest: Array  # (N, n) state in which the equations of loops held least


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """Equations of motion as native code, for blocks of `lanes` mechanisms, and how to integrate them.

    `scale` says for positions and velocities what is a normal size: errors are relative to scale + |y|.
    Programs have tables of addresses that the loop writes into, so a problem is for one thread at a time.
    """

    nq: int
    nv: int
    motion: Program  # t, q, v -> q', v', power of applied forces
    rates: Program = NONE  # the same, q' only; for partitioned methods
    events: Program = NONE  # t, q, v -> g (ne,)
    tangent: Program = NONE  # derivatives of motion; without it the implicit method takes differences
    close_positions: Program = NONE  # t, q -> gaps of loops (rows,), change of velocities' coordinates
    close_velocities: Program = NONE  # t, q, v -> rates of the gaps, inverse pivots of the rows, change of v
    row_weights: ArrayLike = ()  # (rows,) of the gaps, one over their normal size
    weak: ArrayLike = ()  # (rows,) pivots of loops' equations below which these are dropped
    lanes: int = 1
    tangent_lanes: int = 1
    directions: Sequence[int] = ()  # (ne,) which crossings count: -1 falling, 1 rising, 0 both
    quaternions: Sequence[int] = ()  # rows of q where one begins
    scale: ArrayLike = 1.0  # (nq + nv,), or one number for all
    accuracy: float = 1e-6
    method: str = "rkf45"
    step: float = 0.0  # fixed step [s]; 0: as the accuracy needs
    h_max: float = math.inf  # [s]
    time_scale: float = 1e-3  # times below count as this when it is asked whether a step is too short [s]
    max_steps: float = math.inf
    switch: bool = False  # whether to go over to the implicit method where the motion is stiff

    def __post_init__(self) -> None:
        if self.lanes not in (1, 2, 4, 8):
            raise ValueError(f"there are 1, 2, 4 or 8 lanes, not {self.lanes}")
        method = METHODS[self.method]
        if isinstance(method, Rosenbrock):
            if self.lanes > 1:
                raise ValueError(f"method {self.method!r} is for one lane; there are {self.lanes}")
            return
        if not method.errors and not self.step:
            raise ValueError(f"method {self.method!r} has no error estimate: give a step")
        if method.rates and not self.rates.run:
            raise ValueError(f"method {self.method!r} needs the program `rates`")

    @property
    def n(self) -> int:
        """Return the number of components of a state."""
        return self.nq + self.nv + 1

    @property
    def implicit(self) -> bool:
        """Tell whether the method is implicit from the start."""
        return isinstance(METHODS[self.method], Rosenbrock)


def _zeros(sizes: Mapping[str, int]) -> dict[str, Array]:
    """Return arrays of zeros that each start at a cache line, as vector instructions want it."""
    *places, end = accumulate((-(-size // _LINE) * _LINE for size in sizes.values()), initial=0)
    room = np.zeros(end + _LINE)
    room = room[-(_address(room) // 8) % _LINE :]
    return {name: room[p : p + size] for (name, size), p in zip(sizes.items(), places, strict=True)}


def _address(array: NDArray[Any]) -> int:
    """Return where an array is: the quicker way for plain numbers is the slower one for records."""
    return array.ctypes.data if array.dtype.names else array.__array_interface__["data"][0]


def _lines(problem: Problem) -> int:
    """Return how many numbers the components of all lanes are, in whole cache lines."""
    return -(-problem.n * problem.lanes // _LINE) * _LINE


def _scratch(problem: Problem, stages: int) -> dict[str, Any]:
    """Allocate the memory of a problem's lanes."""
    lanes, n, ne, rows = problem.lanes, problem.n, len(problem.directions), np.size(problem.row_weights)
    implicit = problem.implicit or (problem.switch and lanes == 1)
    line = _lines(problem)
    sizes = dict.fromkeys(PER_LANE, _LINE) | dict.fromkeys(PER_COMPONENT, line)
    sizes |= dict.fromkeys(PER_EVENT, ne * lanes) | {
        "h": _LINE,
        "k": max(stages, 2) * line,
        "estimate": line,
        "jacobian": n * n if implicit else 0,
        "factors": (n - 1) ** 2 if implicit else 0,
        "u": rosenbrock.METHOD.stages * n,
        "direct": 5 * n * problem.tangent_lanes,
        "gap": rows * lanes,
        "inverse_pivots": rows * lanes,
    }
    arrays: dict[str, Any] = _zeros(sizes)
    scale = np.empty(n - 1)
    scale[:] = problem.scale
    arrays["scale"][:] = np.inf
    arrays["scale"][: (n - 1) * lanes] = np.repeat(scale, lanes)
    return arrays | {
        "lane": np.zeros(lanes, LANE),
        "pivots": np.zeros(n - 1, np.int64),
        "directions": np.array(problem.directions, np.int64),
        "row_weights": np.array(problem.row_weights, float, ndmin=1),
        "weak": np.array(problem.weak, float, ndmin=1),
        "quaternions": np.array(problem.quaternions, np.int64),
    }


def _counts(problem: Problem, memory: Memory) -> dict[str, int]:
    """Return the sizes of a problem and of its mechanisms."""
    return {
        "nq": problem.nq,
        "nv": problem.nv,
        "n": problem.n,
        "lanes": problem.lanes,
        "size": problem.n * problem.lanes,
        "stride": 8 * _lines(problem),
        "events": len(problem.directions),
        "rows": np.size(problem.row_weights),
        "quaternion_count": len(problem.quaternions),
        "tangent_lanes": problem.tangent_lanes,
        "many": len(memory.y),
        "cap": memory.record.shape[1],
        "sample_count": len(memory.times),
        "every": len(memory.times) == 0,
    }


def _controls(problem: Problem) -> dict[str, float]:
    """Return what is wanted of the steps."""
    return {
        "tolerance": problem.accuracy / METHODS[problem.method].caution,
        "fixed": problem.step,
        "h_max": problem.h_max,
        "time_scale": problem.time_scale,
        "max_steps": problem.max_steps,
        "switch": problem.switch and not problem.implicit,
    }


def _remember(problem: Problem, y: Array, t: ArrayLike, times: ArrayLike, cap: int) -> Memory:
    """Allocate what mechanisms with these states remember."""
    many, n, ne = len(y), problem.n, len(problem.directions)
    memo = np.zeros(many, MEMO)
    for name in ("t", "t0", "t_final", "check_t"):
        memo[name] = t
    memo["end_failed"] = np.nan
    memo["implicit"] = problem.implicit
    memo["worst"] = -1.0
    memo["dropped"] = memo["margin"] = np.inf
    return Memory(
        y=y,
        memo=memo,
        y_final=y.copy(),
        record=np.zeros((many, cap, 1 + n)),
        filled=np.zeros(many, np.int64),
        times=np.array(times, float, ndmin=1),
        bad_t=np.full(many, np.nan),
        bad_y=np.full((many, n), np.nan),
        side=np.zeros((many, ne)),
        span=np.zeros((many, ne)),
        weakest=np.zeros((many, n)),
    )


class Work:
    """The mechanisms of a run, and the scratch memory of the lanes they go through.

    The same mechanisms can be marched by several problems, as for eight lanes and for one.
    """

    def __init__(
        self, problem: Problem, y: ArrayLike, t: ArrayLike = 0.0, times: ArrayLike = (), cap: int = 1024
    ):
        """Begin with mechanisms in states y (N, n) at time t, one for all or (N,).

        Samples are wanted at `times`, or if there are none after every step; `cap` of them have room.
        """
        y = np.array(y, float, ndmin=2)
        if y.shape[1] != problem.n:
            raise ValueError(f"states have {y.shape[1]} components; nq + nv + 1 is {problem.n}")
        self.memory = _remember(problem, y, t, times, cap)
        self._runs: dict[Problem, tuple[int, NDArray[np.void], dict[str, Any]]] = {}

    @property
    def memo(self) -> NDArray[np.void]:
        """Return what the mechanisms remember, records by mechanism; a view."""
        return self.memory.memo

    def samples(self, i: int) -> Array:
        """Return the samples of a mechanism recorded so far, rows of t and y; a view."""
        return self.memory.record[i, : self.memory.filled[i]]

    def restart(self, i: int, t: float, y: ArrayLike) -> None:
        """Go on with a mechanism from another state, as after an event; the step is kept."""
        self.memory.y[i] = y
        memo = self.memo[i]
        memo["t"] = memo["t0"] = t
        memo["index"] = 0.0
        memo["end_failed"] = np.nan
        memo["status"] = Status.RUNNING

    def address(self, problem: Problem) -> int:
        """Return the address of the record that the native loop works with, made at first use."""
        if problem not in self._runs:
            values = _values(problem, self.memory)
            run = np.zeros(1, RUN)
            for name, value in values.items():
                run[name] = _address(value) if isinstance(value, np.ndarray) else value
            programs = (problem.motion, problem.rates, problem.events, problem.tangent)
            programs += (problem.close_positions, problem.close_velocities)
            for name, program in zip(PROGRAMS, programs):
                _connect(run[name][0], program)
            self._runs[problem] = _address(run), run, values  # arrays live as long as their addresses
        return self._runs[problem][0]


def _values(problem: Problem, memory: Memory) -> dict[str, Any]:
    """Return the numbers and arrays of a run, by the names in RUN."""
    method = METHODS[problem.method]
    explicit = fehlberg.METHOD if isinstance(method, Rosenbrock) else method
    tables = explicit.tables() | rosenbrock.METHOD.tables()
    counts = _counts(problem, memory) | _controls(problem)
    return tables | counts | _scratch(problem, explicit.stages) | memory._asdict()


def _connect(place: Any, program: Program) -> None:
    """Enter a program into the record of a run."""
    place["run"], place["plan"] = program.run, _address(program.plan)
    place["ports"] = _address(program.ports)
    place["slots"][: len(program.slots)] = program.slots


def prepare() -> None:
    """Make native code of the loop, or load it, before it is needed."""
    if not advance.signatures:
        advance.compile((types.int64, types.float64, types.int64))


def march(problem: Problem, work: Work, t_end: float, budget: int = 2**62) -> int:
    """Go on with all mechanisms that are RUNNING up to t_end; return the number of lockstep attempts made.

    Returns when all of them have another status, when `budget` attempts are used up, or when a mechanism
    waits for the caller (EVENT, BUFFER_FULL) and none for a lane. Calling again goes on, with the same bits.
    """
    attempts = advance(work.address(problem), float(t_end), int(budget))
    if attempts < 0:
        reached = work.memo["t"][work.memo["status"] == Status.RUNNING].max()
        raise ValueError(f"t_end = {t_end} s lies before the time reached, {reached} s")
    return attempts
