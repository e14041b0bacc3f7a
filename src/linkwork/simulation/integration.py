"""The door to the native loop: a problem, the mechanisms of a run, and the call that goes on with them.

What the loop does is said in `loop/__init__.py`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numpy.typing import ArrayLike, NDArray

from linkwork.native.cache_lines import LINE
from linkwork.recording.status import Status
from linkwork.simulation.integrators import fehlberg, rosenbrock
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.integrators.tableau import Rosenbrock
from linkwork.simulation.loop.dense_output import COEFFICIENTS
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
from linkwork.simulation.workspace import Part, Workspace, WorkspaceLayout, address

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class Program(NamedTuple):
    """Native code `void run(plan, ports)`, with the table of the addresses it reads and writes.

    `slots` says where in the table: (t, q, qd, qdot, qdd, power) for motion and rates, (t, q, qd, g) for
    events, (t, q, qd, qdot, qdd, power, dt, dq, dqd, dqdot, dqdd, dpower) for the tangent. Every run has a
    table of its own.
    """

    run: int  # 0: there is none
    plan: Integers
    ports: Integers  # addresses of constants, 0 for all else
    slots: Sequence[int] | Integers
    room: Mapping[int, int] = MappingProxyType({})  # place in the table -> doubles of memory of its own
    keep: object = None  # what the addresses point to


NONE = Program(0, np.zeros(1, np.int64), np.zeros(1, np.int64), ())


class Memory(NamedTuple):
    """All that the mechanisms of a run are and remember."""

    y: Array  # (N, n) state at the base
    memo: NDArray[np.void]  # (N,) records, see MEMO
    y_final: Array  # (N, n) state at the end, at an event, or the last good one
    record: Array  # (N, cap, 1 + n) samples: t, y
    filled: Integers  # (N,) how many
    bad_t: Array  # (N,) where the right-hand side was not finite
    bad_y: Array  # (N, n)
    side: Array  # (N, ne) the sign that each event function last had; 0: it started at zero
    span: Array  # (N, ne) the largest magnitude it had
    weakest: Array  # (N, n) state in which the equations of loops held least


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """Equations of motion as native code, for blocks of `lanes` mechanisms, and how to integrate them.

    `scale` says for positions and velocities what is a normal size: errors are relative to scale + |y|.
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

    @cached_property
    def image(self) -> WorkspaceLayout:
        """The memory of a run."""
        return _image(self)

    @property
    def n(self) -> int:
        """Return the number of components of a state."""
        return self.nq + self.nv + 1

    @property
    def implicit(self) -> bool:
        """Tell whether the method is implicit from the start."""
        return isinstance(METHODS[self.method], Rosenbrock)

    @property
    def dense_stages(self) -> int:
        """Return how many evaluations the polynomial of a step takes; 0: samples are side steps."""
        method = METHODS[self.method]
        return 0 if isinstance(method, Rosenbrock) or self.step else method.dense_stages


def _lines(problem: Problem) -> int:
    """Return how many numbers the components of all lanes are, in whole cache lines."""
    return -(-problem.n * problem.lanes // LINE) * LINE


def _scratch(problem: Problem, stages: int) -> dict[str, Part]:
    """Return the memory of a problem's lanes, and the constants beside it."""
    lanes, n, ne, rows = problem.lanes, problem.n, len(problem.directions), np.size(problem.row_weights)
    implicit = problem.implicit or (problem.switch and lanes == 1)
    line = _lines(problem)
    coefficients = COEFFICIENTS * line if problem.dense_stages else 0
    scale, known = np.full(line, np.inf), np.empty(n - 1)
    known[:] = problem.scale
    scale[: (n - 1) * lanes] = np.repeat(known, lanes)
    return {
        **dict.fromkeys(PER_LANE, LINE),
        **dict.fromkeys(PER_COMPONENT, line),
        **dict.fromkeys(PER_EVENT, ne * lanes),
        "lane": lanes * LANE.itemsize // 8,
        "h": LINE,
        "k": max(stages, 2) * line,
        "polynomial": coefficients,
        "fresh": coefficients if lanes > 1 else 0,
        "estimate": line,
        "jacobian": n * n if implicit else 0,
        "factors": (n - 1) ** 2 if implicit else 0,
        "pivots": n - 1,
        "u": rosenbrock.METHOD.stages * n,
        "direct": 5 * n * problem.tangent_lanes,
        "gap": rows * lanes,
        "inverse_pivots": rows * lanes,
        "scale": scale,
        "directions": np.array(problem.directions, np.int64),
        "row_weights": np.array(problem.row_weights, float, ndmin=1),
        "weak": np.array(problem.weak, float, ndmin=1),
        "quaternions": np.array(problem.quaternions, np.int64),
    }


def _counts(problem: Problem) -> dict[str, int]:
    """Return the sizes of a problem."""
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
    }


def _controls(problem: Problem) -> dict[str, float]:
    """Return what is wanted of the steps."""
    return {
        "tolerance": problem.accuracy / METHODS[problem.method].caution,
        "inverse_tolerance": METHODS[problem.method].caution / problem.accuracy,
        "fixed": problem.step,
        "h_max": problem.h_max,
        "time_scale": problem.time_scale,
        "max_steps": problem.max_steps,
        "switch": problem.switch and not problem.implicit,
        "dense_stages": problem.dense_stages,
    }


def _image(problem: Problem) -> WorkspaceLayout:
    """Lay out the memory of a run: the record that native functions hand each other, and all behind it."""
    method = METHODS[problem.method]
    explicit = fehlberg.METHOD if isinstance(method, Rosenbrock) else method
    values = explicit.tables() | rosenbrock.METHOD.tables() | _counts(problem) | _controls(problem)
    run = np.zeros(1, RUN)
    parts: dict[str, Part] = {"run": run, **_scratch(problem, explicit.stages + 1 + explicit.dense_stages)}
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            parts[name] = value
        else:
            run[name] = value
    pointers = [("run", _WORD[name], name) for name in parts if name != "run"]
    programs = (problem.motion, problem.rates, problem.events, problem.tangent)
    for name, program in zip(PROGRAMS, (*programs, problem.close_positions, problem.close_velocities)):
        place = run[name][0]
        place["run"], place["plan"] = program.run, address(program.plan)
        place["slots"][: len(program.slots)] = program.slots
        table = f"{name}.ports"
        parts[table] = program.ports
        pointers.append(("run", _WORD[name] + _PORTS, table))
        for port, size in program.room.items():
            parts[f"{table}.{port}"] = size
            pointers.append((table, port, f"{table}.{port}"))
    return WorkspaceLayout(parts, pointers)


_PORTS = 2  # word of a program's record that has the address of its table
_fields: Any = RUN.fields
_WORD: dict[str, int] = {name: offset // 8 for name, (_, offset) in _fields.items()}  # where a field is
_OF_MEMORY = [_WORD[name] for name in ("many", "cap", "every", *Memory._fields)]
_OF_SAMPLES = [_WORD[name] for name in ("sample_count", "every", "times")]
_COLUMNS = MEMO.names or ()
_TIMES = _COLUMNS.index("check_t") + 1
_STATUS = _COLUMNS.index("status")
_AT_FIRST = {"blocked": math.nan, "worst": -1.0, "dropped": math.inf, "margin": math.inf}  # others: 0
_FRESH = np.array([_AT_FIRST.get(name, 0.0) for name in _COLUMNS])


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
        many, n, ne = len(np.atleast_2d(y)), problem.n, len(problem.directions)
        self.memory = Memory(
            y=np.empty((many, n)),
            memo=np.empty(many, MEMO),
            y_final=np.empty((many, n)),
            record=np.zeros((many, cap, 1 + n)),
            filled=np.empty(many, np.int64),
            bad_t=np.empty(many),
            bad_y=np.empty((many, n)),
            side=np.empty((many, ne)),
            span=np.empty((many, ne)),
            weakest=np.empty((many, n)),
        )
        self._rows = self.memory.memo.view(float).reshape(many, len(_COLUMNS))
        self._implicit = problem.implicit
        self._rooms: dict[Problem, Workspace] = {}
        self.begin(y, t, times)

    def begin(self, y: ArrayLike, t: ArrayLike = 0.0, times: ArrayLike = ()) -> None:
        """Begin, or begin anew with as many other mechanisms; what was there is gone."""
        kept, y = self.memory, np.asarray(y, float)
        if y.shape[-1] != kept.y.shape[1]:
            raise ValueError(f"states have {y.shape[-1]} components; nq + nv + 1 is {kept.y.shape[1]}")
        kept.y[:] = kept.y_final[:] = y
        self._rows[:] = _FRESH
        self._rows[:, :_TIMES] = np.asarray(t, float)[..., None]
        if self._implicit:
            kept.memo["implicit"] = 1.0
        kept.filled[:] = 0
        kept.bad_t[:] = kept.bad_y[:] = math.nan
        kept.weakest[:] = 0.0
        if kept.side.size:
            kept.side[:] = kept.span[:] = 0.0
        self.times = np.array(times, float, ndmin=1)
        for room in self._rooms.values():
            room.clear()
            self._point_to_samples(room)

    def end(self) -> None:
        """Let go of the sample times, which are not its own; it can only begin anew."""
        self.times = np.empty(0)

    @property
    def memo(self) -> NDArray[np.void]:
        """Return what the mechanisms remember, records by mechanism; a view."""
        return self.memory.memo

    def remembered(self, i: int | slice) -> Array:
        """Return a copy of what mechanisms remember, as numbers; MEMO has their names."""
        return self._rows[i].copy()

    def status(self, i: int) -> int:
        """Return how a mechanism stands, a `Status`."""
        return int(self._rows[i, _STATUS])

    def samples(self, i: int) -> Array:
        """Return the samples of a mechanism recorded so far, rows of t and y; a view."""
        return self.memory.record[i, : self.memory.filled[i]]

    def restart(self, i: int, t: float, y: ArrayLike) -> None:
        """Go on with a mechanism from another state, as after an event; the step is kept."""
        self.memory.y[i] = y
        memo = self.memo[i]
        memo["t"] = memo["t0"] = t
        memo["index"] = 0.0
        memo["blocked"] = np.nan
        memo["status"] = Status.RUNNING

    def address(self, problem: Problem) -> int:
        """Return the address of the record that the native loop works with, made at first use."""
        room = self._rooms.get(problem)
        if room is None:
            room = self._rooms[problem] = problem.image.room()
            many, cap = self.memory.record.shape[:2]
            room.fill(_OF_MEMORY, (many, cap, 1, *map(address, self.memory)))
            self._point_to_samples(room)
        return room.address

    def _point_to_samples(self, room: Workspace) -> None:
        if self.times.size:
            room.words[_OF_SAMPLES] = self.times.size, 0, address(self.times)


@cache
def prepare() -> None:
    """Make native code of the loop, or load it, before it is needed."""
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
