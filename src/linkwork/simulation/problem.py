"""The problem that the native loop solves: programs, sizes, a method, and the memory that a run needs.

`loop/records.py` says what lies where in that memory, `loop/programs.py` which programs there are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.lazy import kept
from linkwork.native.cache_lines import LINE
from linkwork.simulation.integrators.methods import METHODS, methods_of_run
from linkwork.simulation.integrators.tableau import StepMethod
from linkwork.simulation.loop.dense_output import COEFFICIENTS
from linkwork.simulation.loop.programs import ALONG, BOUND, PROGRAMS, Program, check_programs
from linkwork.simulation.loop.records import ARRAYS, LANE, METHOD, RUN
from linkwork.simulation.workspace import Part, Pointer, WorkspaceLayout, address

_fields: Any = RUN.fields
WORD: dict[str, int] = {name: offset // 8 for name, (_, offset) in _fields.items()}  # where a field of RUN is


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """Equations of motion as native code, for blocks of `lanes` mechanisms, and how to integrate them.

    `scale` says for positions and velocities what is a normal size: errors are relative to scale + |y|.
    """

    nq: int
    nv: int
    programs: Mapping[str, Program]  # by the names of PROGRAMS; all but "motion" may be missing
    row_weights: ArrayLike = ()  # (rows,) of the gaps, one over their normal size
    weak: ArrayLike = ()  # (rows,) pivots of loops' equations below which these are dropped
    lanes: int = 1
    tangent_lanes: int = 1
    directions: Sequence[int] = ()  # (events,) which crossings count: -1 falling, 1 rising, 0 both
    quaternions: Sequence[int] = ()  # rows of q where one begins
    inputs: int = 0  # values that laws read beside the state
    constants: int = 0  # that each mechanism has of its own; see `Memory.constants`
    scale: ArrayLike = 1.0  # (nq + nv,), or one number for all
    accuracy: float = 1e-6
    method: str = "rkf45"
    step: float = 0.0  # fixed step [s]; 0: as the accuracy needs
    h_max: float = math.inf  # [s]
    time_scale: float = 1e-3  # times below count as this when it is asked whether a step is too short [s]
    max_steps: float = math.inf
    patience: float = 100_000  # attempts after which it is asked whether there is progress
    switch: bool = False  # whether to go over to the implicit method where the motion is stiff
    central: bool = False  # differences of the Jacobian: central where the right-hand side bends strongly

    def __post_init__(self) -> None:
        if self.lanes not in (1, 2, 4, 8):
            raise ValueError(f"there are 1, 2, 4 or 8 lanes, not {self.lanes}")
        check_programs(self.programs)
        method = self.chosen
        if method.implicit and self.lanes > 1:
            raise ValueError(f"method {self.method!r} is for one lane; there are {self.lanes}")
        if not method.estimates and not self.step:
            raise ValueError(f"method {self.method!r} has no error estimate: give a step")
        if method.needs_rates and "rates" not in self.programs:
            raise ValueError(f"method {self.method!r} needs the program 'rates'")

    @property
    def chosen(self) -> StepMethod:
        """The method to begin with."""
        return METHODS[self.method]

    @property
    def n(self) -> int:
        """The number of components of a state."""
        return self.nq + self.nv + 1

    @kept
    def layout(self) -> WorkspaceLayout:
        """The memory of a run: the record RUN, and all that it has addresses of."""
        explicit, implicit = methods = methods_of_run(self.chosen)
        values = explicit.tables | implicit.tables | self._counts() | self._settings() | self._constants()
        if self.step:
            values["dense_stages"] = 0
        values["methods"] = _method_records(methods, polynomials=not self.step)
        sizes = self._sizes(explicit.stages + 1 + explicit.dense_stages) | values
        run = np.zeros(1, RUN)
        parts: dict[str, Part] = {"run": run}
        for name, shape in ARRAYS.items():
            parts[name] = prod(size if isinstance(size, int) else sizes[size] for size in shape)
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                parts[name] = value
            else:
                run[name] = value
        pointers: list[Pointer] = [("run", WORD[name], name) for name in parts if name != "run"]
        for name, program in self.programs.items():
            _add_program(name, program, run, parts, pointers, self.lanes)
        return WorkspaceLayout(parts, pointers)

    @property
    def _padded(self) -> int:
        """How many numbers the components of all lanes are, in whole cache lines."""
        return -(-self.n * self.lanes // LINE) * LINE

    def _counts(self) -> dict[str, Any]:
        return {
            "nq": self.nq,
            "nv": self.nv,
            "n": self.n,
            "lanes": self.lanes,
            "size": self.n * self.lanes,
            "stride": 8 * self._padded,
            "events": len(self.directions),
            "rows": np.size(self.row_weights),
            "quaternion_count": len(self.quaternions),
            "input_count": self.inputs,
            "constant_count": self.constants,
            "tangent_lanes": self.tangent_lanes,
            "central": self.central,
        }

    def _settings(self) -> dict[str, Any]:
        """Return what is wanted of the steps."""
        return {
            "tolerance": self.accuracy / self.chosen.caution,
            "inverse_tolerance": self.chosen.caution / self.accuracy,
            "fixed": self.step,
            "h_max": self.h_max,
            "time_scale": self.time_scale,
            "max_steps": self.max_steps,
            "patience": self.patience,
            "switch": self.switch and not self.chosen.implicit,
        }

    def _constants(self) -> dict[str, Any]:
        scale, known = np.full(self._padded, np.inf), np.empty(self.n - 1)
        known[:] = self.scale
        scale[: (self.n - 1) * self.lanes] = np.repeat(known, self.lanes)
        return {
            "scale": scale,
            "directions": np.array(self.directions, np.int64),
            "ones": np.ones(LINE),
            "row_weights": np.repeat(np.array(self.row_weights, float, ndmin=1), self.lanes),
            "weak": np.repeat(np.array(self.weak, float, ndmin=1), self.lanes),
            "quaternions": np.array(self.quaternions, np.int64),
        }

    def _sizes(self, all_stages: int) -> dict[str, int]:
        """Return the sizes in shapes of ARRAYS that are no counts of RUN."""
        jacobian = self.chosen.implicit or (self.switch and self.lanes == 1)
        coefficients = COEFFICIENTS if self.chosen.dense_stages and not self.step else 0
        return {
            "line": LINE,
            "padded": self._padded,
            "lane_words": LANE.itemsize // 8,
            "all_stages": max(all_stages, 2),
            "coefficients": coefficients,
            "fresh_coefficients": coefficients if self.lanes > 1 else 0,
            "square": self.n if jacobian else 0,
            "m": self.n - 1 if jacobian else 0,
        }


def _method_records(methods: Sequence[StepMethod], polynomials: bool) -> np.ndarray:
    """Return what step control sees of methods."""
    records = np.zeros(len(methods), METHOD)
    for record, method in zip(records, methods, strict=True):
        order = max(method.error_order, 1)
        record["evaluations"] = method.stages - 1
        record["dense_stages"] = method.dense_stages if polynomials else 0
        record["estimates"] = method.estimates
        record["error_order"] = method.error_order
        record["gain"], record["trend"] = method.gain / order, method.trend / order
        record["safety"] = method.safety
    return records


def _add_program(
    name: str,
    program: Program,
    run: np.ndarray,
    parts: dict[str, Part],
    pointers: list[Pointer],
    lanes: int,
) -> None:
    """Enter a program into the record of a run, and its table and memory into the parts."""
    place = run[name][0]
    place["run"], place["plan"] = program.run, address(program.plan)
    for port in PROGRAMS[name]:
        place[port] = program.ports[port]
    table = f"{name}.table"
    parts[table] = program.table
    _, offset = place.dtype.fields["table"]
    pointers.append(("run", WORD[name] + offset // 8, table))
    for port, array in (ALONG if name == "tangent" else BOUND).items():
        if port in program.ports:
            pointers.append((table, program.ports[port], array))
    for k, size in program.room.items():
        parts[f"{table}.{k}"] = size
        pointers.append((table, k, f"{table}.{k}"))
    if program.own:
        place, first = program.own
        pointers.append((table, place, "own", first * lanes))
