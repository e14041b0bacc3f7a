"""The kind of a joint: its formulas with the numbers taken out, so that joints alike share their native code.

A joint's `motion` is traced once on symbols. Constants other than 0, 1 and -1 become parameters, which are
data of the link; what is left is a structure of operations, and two joints of the same structure are of one
kind, in whatever class. From the motion X(q) follow, by differentiation on the graph, the motion subspace S
= X^-1 dX/dq, and c = dS/dt v.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from types import ModuleType
from typing import Any
from weakref import WeakValueDictionary

from linkwork.algebra.number import Number
from linkwork.errors import ModelError, TraceError
from linkwork.lazy import LOCK, kept
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joint_constraint import motion_subspace, traced_motion
from linkwork.mechanism.joints import CATALOGUE
from linkwork.mechanism.stop import STOPS
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Expr, Graph, Operand
from linkwork.trace.graph_walks import evaluate, is_smooth, reachable, with_constants
from linkwork.tree import joint_forces
from linkwork.tree.joint_forces import Rows
from linkwork.tree.purity import traced_purely
from linkwork.varied import any_varied

_STRUCTURAL = (0.0, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class JointFormula:
    """Formulas of a joint over symbols ("q", k), ("v", k), ("parameter", k) and ("setting", k)."""

    algebra: ModuleType
    nq: int
    nv: int
    reverse: bool  # the joint is met the other way round
    armature: bool  # some drive has inertia; without, the code is shorter
    n_constants: int  # numbers in the formula of its motion
    n_parameters: int  # those, and then the settings of its own forces
    signature: str  # equal for joints of the same structure
    X: tuple[Operand, ...]  # pose of the outer joint frame in the inner one
    S: tuple[Operand, ...]  # motion per unit of each velocity, in the outer frame, one after the other
    c: tuple[Operand, ...]  # motion left when v does not change: dS/dt v
    rates: tuple[Operand, ...]  # dq/dt
    drive: tuple[Operand, ...]  # generalised forces of damping, friction, spring and stops; zeros if left out

    @kept
    def smooth(self) -> bool:
        """Whether nothing in how it moves and pushes bends or jumps."""
        return is_smooth((*self.X, *self.S, *self.c, *self.rates, *self.drive))

    def motion(self, q: Sequence[Number], parameters: Sequence[Number]) -> Any:
        return self.algebra.Frame.from_scalars(self._run(self.X, q, (), parameters))

    def subspace(self, q: Sequence[Number], parameters: Sequence[Number]) -> list[Any]:
        scalars = self._run(self.S, q, (), parameters)
        size = self.algebra.Motion.size
        return [self.algebra.Motion.from_scalars(scalars[k * size : (k + 1) * size]) for k in range(self.nv)]

    def bias(self, q: Sequence[Number], v: Sequence[Number], parameters: Sequence[Number]) -> Any:
        return self.algebra.Motion.from_scalars(self._run(self.c, q, v, parameters))

    def position_rates(
        self, q: Sequence[Number], v: Sequence[Number], parameters: Sequence[Number]
    ) -> list[Number]:
        return self._run(self.rates, q, v, parameters)

    def own_forces(
        self, q: Sequence[Number], v: Sequence[Number], parameters: Sequence[Number]
    ) -> list[Number]:
        return self._run(self.drive, q, v, parameters)

    def _run(
        self, roots: Sequence[Operand], q: Sequence[Number], v: Sequence[Number], parameters: Sequence[Number]
    ) -> list[Number]:
        numbers = {"q": q, "v": v, "parameter": parameters, "setting": parameters[self.n_constants :]}
        return evaluate(roots, lambda symbol: numbers[symbol.args[0][0]][symbol.args[0][1]])


class JointFormulas:
    """The formulas of joints; `driven` ones have the joints' own forces in them, without what is `rows`.

    Formulas of one structure are one object in the whole process, as long as any model uses it: tables of
    native code are kept by it.
    """

    def __init__(self, driven: bool = False, rows: Rows = Rows.NONE, armature: bool = False) -> None:
        """Joints with `armature` have drives, whatever the inertia of these."""
        self._driven, self._rows, self._armature = driven, rows, armature

    def of(self, joint: Joint, reverse: bool) -> tuple[JointFormula, list[float]]:
        """Return the kind of a joint, met the other way round if `reverse`, and the numbers of its motion.

        Joints of the catalogue move by their class and its `parameters` alone, so they are traced once; a
        user's class, of a joint or of its stop, may look at anything, so each of its joints is.
        """
        numbers = tuple(getattr(joint, name) for name in joint.parameters)
        armature = self._armature or bool(joint.per_coordinate("armature").any())
        how = self._driven, self._rows, armature
        ours = type(joint) in CATALOGUE and (type(joint.stop) in STOPS or not self._driven)
        if not ours:
            return traced_purely(
                f"joint {joint.name!r}",
                joint,
                lambda: _trace(joint, reverse, *how),
                lambda found: (found[0].signature, found[1]),
            )
        if any_varied(*numbers):
            return _trace(joint, reverse, *how)
        own = joint_forces.features(joint, self._rows) if self._driven else ()
        key = type(joint), joint.space, reverse, self._driven, numbers, armature, own
        with LOCK:
            if key not in _by_class:
                if len(_by_class) >= _MOST_CLASSES:
                    _by_class.pop(next(iter(_by_class)))
                _by_class[key] = _trace(joint, reverse, *how)
            kind, constants = _by_class[key]
        return kind, list(constants)


_MOST_CLASSES = 1000  # helical joints of ever new pitch must not fill the memory
_by_class: dict[Hashable, tuple[JointFormula, list[float]]] = {}  # of joints of the catalogue
_by_signature: WeakValueDictionary[str, JointFormula] = WeakValueDictionary()


def _trace(
    joint: Joint, reverse: bool, driven: bool, rows: Rows, armature: bool
) -> tuple[JointFormula, list[float]]:
    graph = Graph()
    q = graph.symbols(("q", k) for k in range(joint.nq))
    v = graph.symbols(("v", k) for k in range(joint.nv))
    X = traced_motion(joint, q)
    S = motion_subspace(joint, X, q)
    if reverse:  # X^-1 has the motion -X S seen from the other side
        S = [-(X @ s) for s in S]
        X = X.inverse
    rates = list(joint.rates(q, v))
    size = joint.algebra.Motion.size
    flat_S = [x for s in S for x in s.scalars()]
    dS = derivative(flat_S, dict(zip(q, rates, strict=True)))
    c = joint.algebra.Motion.zero()
    for k, speed in enumerate(v):
        c = c + joint.algebra.Motion.from_scalars(dS[k * size : (k + 1) * size]) * speed
    settings = graph.symbols(("setting", k) for k in range(joint_forces.count(joint, rows) if driven else 0))
    forces = _forces(joint, q, v, settings, rows) if driven else [0.0] * joint.nv
    groups = (X.scalars(), flat_S, c.scalars(), rates, forces)
    roots, constants = lift([x for group in groups for x in group])
    signature = f"{joint.algebra.__name__} {joint.nq} {joint.nv} {reverse} {armature} {structure(roots)}"
    with LOCK:
        kind = _by_signature.get(signature)
        if kind is None:
            ends = list(accumulate(map(len, groups)))
            pieces = [tuple(roots[end - len(group) : end]) for group, end in zip(groups, ends, strict=True)]
            sizes = joint.nq, joint.nv, reverse, armature, len(constants), len(constants) + len(settings)
            kind = _by_signature[signature] = JointFormula(joint.algebra, *sizes, signature, *pieces)
    return kind, constants


def _rate(joint: Joint, q: Sequence[Expr]) -> Callable[..., list[Operand]]:
    """Return how functions of q change at velocities v."""
    return lambda roots, v: derivative(roots, dict(zip(q, joint.rates(q, v), strict=True)))


def _forces(
    joint: Joint, q: Sequence[Expr], v: Sequence[Expr], settings: Sequence[Expr], rows: Rows
) -> list[Operand]:
    try:
        return joint_forces.forces(joint, q, v, settings, _rate(joint, q), rows)
    except (TraceError, ModelError) as error:
        raise type(error)(f"joint {joint.name!r}: {error}") from error


def lift(roots: Sequence[Operand]) -> tuple[list[Operand], list[float]]:
    """Replace constants by parameters, each different number by one."""
    graph = Graph()
    numbers: dict[float, int] = {}

    def constant(x: float) -> Operand:
        if x in _STRUCTURAL:
            return float(x)
        return graph.symbol(("parameter", _place(x, numbers)))

    lifted = with_constants(roots, lambda symbol: graph.symbol(symbol.args[0]), constant)
    return lifted, list(numbers)


def _place(x: float, known: dict[float, int]) -> int:
    """Return the place of a number among those known; it is added if none is equal."""
    if any_varied(x, *known):  # which have to be compared one by one
        same = next((other for other in known if other == x), x)
        return known.setdefault(same, len(known))
    return known.setdefault(x, len(known))


def structure(roots: Sequence[Operand]) -> str:
    """Return a text that is equal for equal structures."""
    local: dict[int, int] = {}
    lines = []
    for x in reachable(roots):
        local[x.index] = len(local)
        lines.append((x.op, *(f"#{local[a.index]}" if isinstance(a, Expr) else a for a in x.args)))
    return repr((lines, [f"#{local[r.index]}" if isinstance(r, Expr) else r for r in roots]))
