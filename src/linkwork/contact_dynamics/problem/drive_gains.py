"""gains <- t, q, v, inputs: how the forces that loads give to joints yield to their motion.

A step takes forces implicitly by  M + h/2 D + h^2/4 K  in place of M (`stepper`). Of a load that drives
joints, a motor with a servo's law

    f(t, q, v) = k (w(t) - q) - c v

say, D and K are its gains, -df/dv and -df/dq. Laws are traced, so these are derivatives of formulas, compiled
once for all loads of one formula, and taken at every step: gains that change, or end where a drive is
saturated, do so here, too. Each velocity yields by itself, by the diagonals of D and K; what would be below
zero, a drive that pushes on, stays explicit, as does a law that cannot be traced. Of joints whose velocities
are not the rates of their positions (ball joints) the damping alone counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.native import emit, store
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import call, entry
from linkwork.native.stages import Program, Value
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Expr, Graph, Operand
from linkwork.trace.graph_walks import evaluate, reachable

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.tree.load_formula import LoadFormula, PlacedLoad

Array = np.ndarray


class Drives(NamedTuple):
    """Loads that drive joints, one after the other."""

    kernel: Any  # (n,) address
    numbers: Any  # (n,) address of the parameters
    first: Any  # (n + 1,) where its arguments begin in `source`
    source: Any  # where an argument is in (t, q, v, inputs)
    begin: Any  # (n + 1,) where its driven velocities begin in `target`
    target: Any  # velocities


_DRIVES = Named(Drives, dict.fromkeys(Drives._fields, "int64[::1]"))


@dataclass(frozen=True)
class _Drive:
    """A load, where its arguments are in (t, q, v, inputs), and the velocities that it drives."""

    kernel: int
    parameters: tuple[float, ...]
    source: list[int]
    target: list[int]


class DriveGains:
    """The gains of a model's loads; for one thread."""

    def __init__(self, model: "Model") -> None:
        inputs = list(model.inputs)
        placed = ((one, one.formula) for one in model.loaded_tree.loads if one.formula)
        found = [drive for one, formula in placed if (drive := _drive(model, one, formula, inputs))]
        self._parameters = np.array([x for drive in found for x in drive.parameters] or [0.0])
        sizes = [len(drive.parameters) for drive in found]
        self._drives = Drives(
            np.array([drive.kernel for drive in found], np.int64),
            self._parameters.ctypes.data + 8 * _starts(sizes)[:-1],
            _starts([len(drive.source) for drive in found]),
            np.array([x for drive in found for x in drive.source], np.int64),
            _starts([len(drive.target) for drive in found]),
            np.array([x for drive in found for x in drive.target], np.int64),
        )
        most = max((len(drive.source) + 2 * len(drive.target) for drive in found), default=0)
        self._room = np.zeros(most)

    def add_stages(
        self, program: Program, t: Value, q: Array, v: Array, inputs: Array, h: Value, to: Array
    ) -> None:
        """Add to a program what adds the gains."""
        if len(self._room):
            program.keep(self)
            state = np.zeros(1 + len(q) + len(v) + len(inputs))
            program.loop(put_together, t, q, v, inputs, state)
            program.loop(_add_gains, self._drives, state, h, self._room, self._room.ctypes.data, to)


def _starts(counts: Sequence[int]) -> Array:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def _drive(model: "Model", placed: "PlacedLoad", formula: "LoadFormula", inputs: list[str]) -> _Drive | None:
    """Return what a load drives, if its forces yield."""
    nq, nv = model.nq, model.nv
    rates = _rates(model)
    place: dict[str, int] = {"t": 0, "q": 1, "qd": 1 + nq}  # where symbols are in (t, q, v, inputs)
    for k, side in enumerate(placed.sides):
        place |= {f"q{k}": 1 + side.q.start, f"qd{k}": 1 + nq + side.v.start}
    for k, given in enumerate(placed.inputs):
        place[f"i{k}"] = 1 + nq + nv + inputs.index(given.name)
    results: list[tuple[Operand, Operand]] = []
    target: list[int] = []
    for (side, n), force in formula.outcome.forces.items():
        if not isinstance(force, Expr):
            continue
        first = 0 if side < 0 else placed.sides[side].v.start
        symbol, end = force.graph.symbol, "" if side < 0 else str(side)
        damping = derivative([force], {symbol((f"qd{end}", n)): 1.0})[0]
        at = rates.get(first + n)
        own = 0 if side < 0 else placed.sides[side].q.start
        stiffness: Operand = 0.0
        if at is not None:
            stiffness = derivative([force], {symbol((f"q{end}", at - own)): 1.0})[0]
        read = {x.args[0][0] for x in reachable([damping, stiffness]) if x.op == "symbol"}
        if (read or damping or stiffness) and read <= {*place, "parameter"}:
            results.append((damping, stiffness))
            target.append(first + n)
    if not target:
        return None
    kernel, source = _kernel([x for pair in results for x in pair], place)
    return _Drive(kernel, formula.parameters, source, target)


def _rates(model: "Model") -> dict[int, int]:
    """Return, by velocity, the position whose rate it is; those of joints where it is none are not there."""
    found: dict[int, int] = {}
    for q, v in model.slices.values():
        if q.stop - q.start == v.stop - v.start:
            found |= dict(zip(range(v.start, v.stop), range(q.start, q.stop)))
    return found


def _kernel(results: Sequence[Operand], place: dict[str, int]) -> tuple[int, list[int]]:
    """Return the address of a kernel of these numbers, and where its arguments are in (t, q, v, inputs).

    It is void gains(double* given, double* numbers): results follow the arguments in `given`.
    """
    used = sorted({x.args[0] for x in reachable(results) if x.op == "symbol"})
    given = [name for name in used if name[0] != "parameter"]
    graph = Graph()

    def moved(x: Expr) -> Expr:
        name = x.args[0]
        return graph.symbol(("numbers", name[1]) if name[0] == "parameter" else ("given", given.index(name)))

    body = emit.Body(1, (), "entry")
    body.write([("given", len(given) + k, x) for k, x in enumerate(evaluate(results, moved))])
    lines = "\n".join(body.lines)
    text = f"(ptr %given, ptr %numbers) {{\nentry:\n{lines}\n  ret void\n}}\n"
    name = store.digest("drive gains", text)
    store.load(name, lambda: (emit.module(1, [f"define void @gains_{name}{text}"]), {}))
    return store.address(f"gains_{name}"), [place[word] + k for word, k in given]


@entry(None, "float64", *["float64[::1]"] * 4)
def put_together(t, q, v, inputs, state):
    """Write (t, q, v, inputs)."""
    n, m = len(q), len(v)
    state[0] = t
    for i in range(n):
        state[1 + i] = q[i]
    for i in range(m):
        state[1 + n + i] = v[i]
    for i in range(len(inputs)):
        state[1 + n + m + i] = inputs[i]


@entry(None, _DRIVES, "float64[::1]", "float64", "float64[::1]", "int64", "float64[::1]")
def _add_gains(drives, state, h, given, address, to):
    """Add what velocities yield by; `address` is that of `given`."""
    for k in range(len(drives.kernel)):
        first, count = drives.first[k], drives.first[k + 1] - drives.first[k]
        for i in range(count):
            given[i] = state[drives.source[first + i]]
        call(drives.kernel[k], address, drives.numbers[k])
        begin = drives.begin[k]
        for i in range(drives.begin[k + 1] - begin):
            gain = 0.5 * h * given[count + 2 * i] + 0.25 * h * h * given[count + 2 * i + 1]
            to[drives.target[begin + i]] += max(-gain, 0.0)
