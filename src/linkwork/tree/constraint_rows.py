"""The rows of a constraint that closes a loop: phi run on symbols, differentiated, evaluated on any numbers.

`loop_constraint` says what the rows are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.called_equations import frame_sizes, given_slope, law_at, traced_or_called
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.input import Input, enter, reading
from linkwork.mechanism.load_view import BodySide, JointSide
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Expr, Graph
from linkwork.trace.graph_walks import evaluate
from linkwork.tree.loop_constraint import LoopConstraint
from linkwork.tree.own_unknowns import OwnUnknowns, guessed


@dataclass(frozen=True)
class ConstraintRows:
    """The rows of a constraint over poses and motions of its bodies, each in its frame, and its joints."""

    forces: Sequence[Sequence[Any]]  # per body: what a unit of each row does to it
    direct: Sequence[Sequence[Sequence[Any]]]  # per joint: the generalised forces of a unit of each row
    position: Sequence[Any]
    velocity: Sequence[Any]  # J v
    bend: Sequence[Any]  # (dJ/dt) v; with unknowns of its own, the second derivative along them, too
    pace: Sequence[Any]  # dphi/dt, with bodies and joints at rest
    gain: Sequence[Any]  # of the pace, in time
    own: OwnUnknowns | None  # what takes its own unknowns out of these rows
    inputs: tuple[Input, ...]  # that the law of a driver reads


def constraint_rows(
    closing: LoopConstraint,
    poses: Sequence[Any],
    motions: Sequence[Any],
    q: Sequence[Sequence[Any]],
    v: Sequence[Sequence[Any]],
    t: Any,
    u: Sequence[Any],
    given: Callable[[int], Any],
) -> ConstraintRows:
    """Return the rows of a constraint, run on symbols: of bodies, the coordinates of joints, time, and
    its own unknowns u, which are still in them; `given` are inputs by number, constant until they jump.
    """
    made, inputs = _Symbols.of(closing, len(u)), dict[str, Input]()
    phi = _equations(closing, made, inputs)
    derived = _derivatives(closing.algebra, made, phi)
    known = {
        "X": [p.scalars() for p in poses],
        "w": [m.scalars() for m in motions],
        "q": q,
        "v": v,
        "t": [[t]],
        "u": [u],
    }

    def put(symbol: Expr) -> Any:
        word, n, k = symbol.args[0]
        return given(n) if word == "input" else known[word][n][k]

    columns = [*derived.columns, *derived.of_own]
    entries = [y for column in columns for y in column]
    values = iter(evaluate([*entries, *phi, *derived.rate, *derived.pace, *derived.gain], put))

    def taken() -> list[Any]:
        return [next(values) for _ in phi]

    def rows(count: int) -> list[list[Any]]:
        return [list(row) for row in zip(*(taken() for _ in range(count)), strict=True)]

    Motion, Force = closing.algebra.Motion, closing.algebra.Force
    forces = [[Force.from_scalars(row) for row in rows(Motion.size)] for _ in made.X]
    direct = [rows(len(numbers)) for numbers in made.q]
    unknowns = OwnUnknowns([taken() for _ in made.own]) if made.own else None
    position, velocity, pace, gain = (taken() for _ in range(4))
    if unknowns:
        known["s"] = [unknowns.fitting(velocity)]
    bend = evaluate(derived.bend, put)
    return ConstraintRows(
        forces, direct, position, velocity, bend, pace, gain, unknowns, tuple(inputs.values())
    )


@dataclass(frozen=True, eq=False)
class _Symbols:
    """What stands for the numbers that a constraint is run on."""

    graph: Graph
    X: list[list[Expr]]  # poses of its bodies
    w: list[list[Expr]]  # and their motions
    q: list[list[Expr]]  # coordinates of its joints
    v: list[list[Expr]]  # and their rates
    own: list[Expr]  # its own unknowns
    drift: list[Expr]  # and their rates
    time: Expr

    @classmethod
    def of(cls, closing: LoopConstraint, unknowns: int) -> "_Symbols":
        graph, algebra = Graph(), closing.algebra

        def symbols(word: str, things: Sequence[Any], size: Any) -> list[list[Expr]]:
            return [list(graph.symbols((word, n, k) for k in range(size(x)))) for n, x in enumerate(things)]

        X = symbols("X", closing.bodies, lambda _: algebra.Frame.size)
        w = symbols("w", closing.bodies, lambda _: algebra.Motion.size)
        q, v = (
            symbols("q", closing.joints, lambda joint: joint.nq),
            symbols("v", closing.joints, lambda j: j.nv),
        )
        own, drift = (list(graph.symbols((word, 0, k) for k in range(unknowns))) for word in "us")
        return cls(graph, X, w, q, v, own, drift, graph.symbol(("t", 0, 0)))

    def along(self, algebra: ModuleType) -> dict[Expr, Any]:
        """Return the rates of poses and coordinates as bodies and joints move."""
        found: dict[Expr, Any] = {}
        for X, w in zip(self.X, self.w, strict=True):
            found |= _rates(X, w, algebra)
        for q, v in zip(self.q, self.v, strict=True):
            found |= dict(zip(q, v, strict=True))
        return found


def _equations(closing: LoopConstraint, made: _Symbols, inputs: dict[str, Input]) -> Sequence[Any]:
    """Return phi over symbols; what the law of a driver reads is entered into `inputs`."""
    algebra, constraint = closing.algebra, closing.constraint
    Frame, nothing = algebra.Frame, algebra.Motion.zero()
    sides: dict[int, Any] = {
        id(body): BodySide(algebra, Frame.from_scalars(X), nothing)
        for body, X in zip(closing.bodies, made.X, strict=True)
    }
    sides |= {
        id(joint): JointSide(q, [0.0] * joint.nv) for joint, q in zip(closing.joints, made.q, strict=True)
    }
    ground = BodySide(algebra, Frame(), nothing)

    def read(one: Input) -> Expr:
        return made.graph.symbol(("input", enter(inputs, one), 0))

    values = [law_at(constraint, made.time, read)] if isinstance(constraint, Driver) else []

    def equations(sides: Mapping[int, Any], own: Sequence[Any]) -> Any:
        seen = (sides.get(id(side), ground) for side in constraint.sides())
        return constraint.phi(*seen, *values, *own)

    with reading(partial(_refuse_input, constraint)):
        return traced_or_called(
            constraint,
            "phi",
            lambda: equations(sides, made.own),
            [y for group in (*made.X, *made.q, made.own) for y in group],
            lambda numbers: equations(_sides(closing, numbers), numbers[len(numbers) - len(made.own) :]),
            _drawn(closing),
            [*frame_sizes(constraint, len(made.X)), *(1.0 for group in (*made.q, made.own) for _ in group)],
            None if made.own else given_slope(constraint, Constraint, closing.bodies),
        )


class _Derivatives(NamedTuple):
    """Derivatives of phi, a list per row each."""

    columns: list[Any]  # of J, by motions of bodies and rates of joints
    of_own: list[Any]  # by its own unknowns
    rate: Sequence[Any]  # J v
    pace: Sequence[Any]
    gain: Sequence[Any]
    bend: Sequence[Any]


def _derivatives(algebra: ModuleType, made: _Symbols, phi: Sequence[Any]) -> _Derivatives:
    """Return the derivatives of phi that the rows of a constraint are made of; see `ConstraintRows`."""
    pace = derivative(phi, {made.time: 1.0})
    # the columns of J, each with the velocity that it belongs to
    columns = [
        (derivative(phi, _rates(X, unit, algebra)), w[k])
        for X, w in zip(made.X, made.w, strict=True)
        for k, unit in enumerate(np.eye(algebra.Motion.size).tolist())
    ]
    for q, v in zip(made.q, made.v, strict=True):
        columns += [(derivative(phi, {y: 1.0}), v[k]) for k, y in enumerate(q)]
    rate = [sum((column[r] * speed for column, speed in columns), 0.0) for r in range(len(phi))]
    along = made.along(algebra)
    if any(isinstance(y, Expr) and y.op == "called" for y in phi):
        rate = derivative(phi, along)  # the same, by one derivative instead of one per column
    of_own = [derivative(phi, {y: 1.0}) for y in made.own]
    bend = derivative(rate, along)
    if made.own:
        along_all = along | dict(zip(made.own, made.drift, strict=True))
        bend = derivative(derivative(phi, along_all), along_all)
    gain = derivative([x + y for x, y in zip(pace, rate, strict=True)], {made.time: 1.0})
    gain = [x + y for x, y in zip(gain, derivative(pace, along), strict=True)]
    return _Derivatives([column for column, _ in columns], of_own, rate, pace, gain, bend)


def _refuse_input(constraint: Constraint, given: Input) -> Any:
    """Refuse equations that read inputs: only laws of drivers may."""
    raise ModelError(
        f"{constraint.word} {constraint.name!r} reads the input {given.name!r}, and equations may not: give "
        "it a number, and others per run by simulate(vary=); the law of an lw.Driver may read inputs"
    )


def _sides(closing: LoopConstraint, numbers: Sequence[float]) -> dict[int, Any]:
    """Return what a constraint sees at numbers: of the frames of its bodies, and of its joints."""
    Frame, Motion, first = closing.algebra.Frame, closing.algebra.Motion, 0
    found: dict[int, Any] = {}
    for body in closing.bodies:
        frame = Frame.from_scalars(list(numbers[first : first + Frame.size]))
        found[id(body)] = BodySide(closing.algebra, frame, Motion.zero())
        first += Frame.size
    for joint in closing.joints:
        found[id(joint)] = JointSide(numbers[first : first + joint.nq], [0.0] * joint.nv)
        first += joint.nq
    return found


def _drawn(closing: LoopConstraint) -> list[float]:
    """Return the numbers of the frames of its bodies, of its joints, and of its own unknowns, as drawn."""
    frames = (closing.algebra.Frame(b.position.tolist(), b.rotation.tolist()) for b in closing.bodies)
    return [
        *(float(x) for frame in frames for x in frame.scalars()),
        *(float(x) for joint in closing.joints for x in joint.drawn()),
        *guessed(closing.constraint, closing.constraint.drawn_poses()),
    ]


def _rates(X: Sequence[Expr], motion: Sequence[Any], algebra: ModuleType) -> Mapping[Expr, Any]:
    """Return how the numbers of a pose change when it moves, in its own frame."""
    n, angular = algebra.dimension, algebra.angular
    w, p = motion[:angular], motion[angular:]
    turn = (
        [[0.0, -w[0]], [w[0], 0.0]]
        if n == 2
        else [[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]]
    )
    rates: dict[Expr, Any] = {}
    for i in range(n):
        row = X[i * (n + 1) : (i + 1) * (n + 1)]
        for j in range(n):
            rates[row[j]] = sum((row[k] * turn[k][j] for k in range(n)), 0.0)
        rates[row[n]] = sum((row[k] * p[k] for k in range(n)), 0.0)
    return rates
