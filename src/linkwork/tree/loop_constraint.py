"""A constraint as something that closes a loop, like a joint without coordinates.

All that is known of it is phi, over the poses of bodies and the coordinates of joints. With J_b its
derivatives by the motion of body b, in that body's frame, and J_j by the coordinates of joint j, a unit of a
row's force is J_b on body b and J_j on joint j, and

    sum of J_b v_b + J_j v_j = -dphi/dt,    sum of J_b a_b + J_j a_j = -(dJ/dt) v - d2phi/dt2

where phi itself changes in time only for a driver, whose row does the work that its law takes.

Unknowns of its own are taken out of its equations, see `own_unknowns`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.body import Body
from linkwork.mechanism.called_equations import frame_sizes, given_slope, law_at, traced_or_called
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.input import Input, enter, reading
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load_view import BodySide, JointSide
from linkwork.mechanism.mechanism import Mechanism
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Expr, Graph, evaluate
from linkwork.tree.own_unknowns import OwnUnknowns, guessed


@dataclass(frozen=True, eq=False)
class LoopConstraint:
    """A constraint between bodies, joints of the tree and ground, in the words of a joint."""

    constraint: Constraint | Driver
    parent: Body  # from here to the child leads the loop that it closes
    child: Body
    bodies: tuple[Body, ...]  # that it is between, without ground
    joints: tuple[Joint, ...]
    quaternion: None = None

    @property
    def nq(self) -> int:
        """How many unknowns of its own it has: what stands for coordinates."""
        return self.constraint.unknowns

    nv = nq

    @property
    def name(self) -> str:
        return self.constraint.name

    @property
    def algebra(self) -> ModuleType:
        return self.constraint.algebra

    def frames(self) -> tuple[Any, Any]:
        return self.algebra.Frame(), self.algebra.Frame()

    def per_coordinate(self, word: str) -> np.ndarray:
        return np.zeros(0)


def ties(mechanism: Mechanism, cut: Collection[Joint]) -> tuple[LoopConstraint, ...]:
    """Return the constraints of a mechanism as ties; ModelError if one is none, or on a joint that is cut."""
    found, mistakes = [], []
    for constraint in (*mechanism.constraints.values(), *mechanism.drivers.values()):
        sides = _distinct(constraint.sides())
        bodies = tuple(side for side in sides if isinstance(side, Body) and side is not mechanism.ground)
        joints = tuple(side for side in sides if isinstance(side, Joint))
        bent = next((joint for joint in joints if joint.nq != joint.nv), None)
        closing = next((joint for joint in joints if joint in cut), None)
        if bent is not None:
            on = f"{constraint.word} {constraint.name!r} is on joint"
            mistakes.append(f"{on} {bent.name!r}, which turns by a quaternion")
        elif closing is not None:
            on = f"{constraint.word} {constraint.name!r} is on joint"
            mistakes.append(
                f"{on} {closing.name!r}, which closes a loop: m.compile(cut=[...]) may cut another"
            )
        else:
            found.append(LoopConstraint(constraint, *_ends(mechanism, sides), bodies, joints))
    if mistakes:
        said = f"mechanism {mechanism.name!r}: {'; '.join(mistakes)}"
        raise ModelError(f"{said}. Driven motions are for lw.kinematics")
    return tuple(found)


def _ends(mechanism: Mechanism, sides: Sequence[Body | Joint]) -> tuple[Body, Body]:
    """Return two bodies the way between which passes what is constrained."""
    if len(sides) == 1 and isinstance(sides[0], Joint):
        return sides[0].parent, sides[0].child
    ends = []
    for side in sides:
        if isinstance(side, Joint):
            ends.append(side.parent if side.child is mechanism.ground else side.child)
        elif side is not mechanism.ground:
            ends.append(side)
    ends = [mechanism.ground, *ends] if len(ends) < 2 else ends
    return ends[0], ends[-1]


def _distinct(things: Sequence[Any]) -> list[Any]:
    return list({id(thing): thing for thing in things}.values())


@dataclass(frozen=True)
class Tied:
    """The rows of a tie over poses and motions of its bodies, each in its frame, and its joints."""

    forces: Sequence[Sequence[Any]]  # per body: what a unit of each row does to it
    direct: Sequence[Sequence[Sequence[Any]]]  # per joint: the generalised forces of a unit of each row
    position: Sequence[Any]
    velocity: Sequence[Any]  # J v
    bend: Sequence[Any]  # (dJ/dt) v; with unknowns of its own, the second derivative along them, too
    pace: Sequence[Any]  # dphi/dt, with bodies and joints at rest
    gain: Sequence[Any]  # of the pace, in time
    own: OwnUnknowns | None  # what takes its own unknowns out of these rows
    inputs: tuple[Input, ...]  # that the law of a driver reads


def tied(
    tie: LoopConstraint,
    poses: Sequence[Any],
    motions: Sequence[Any],
    q: Sequence[Sequence[Any]],
    v: Sequence[Sequence[Any]],
    t: Any,
    u: Sequence[Any],
    given: Callable[[int], Any],
) -> Tied:
    """Return the rows of a tie, run on symbols: of its bodies, of the coordinates of its joints, of time, and
    of its own unknowns u, which are still in them; `given` are inputs by number, constant until they jump.
    """
    algebra, graph = tie.algebra, Graph()
    Frame, Motion = algebra.Frame, algebra.Motion

    def symbols(word: str, things: Sequence[Any], size: Any) -> list[list[Expr]]:
        return [list(graph.symbols((word, n, k) for k in range(size(x)))) for n, x in enumerate(things)]

    X, w = symbols("X", tie.bodies, lambda _: Frame.size), symbols("w", tie.bodies, lambda _: Motion.size)
    x, rates = symbols("q", tie.joints, lambda joint: joint.nq), symbols("v", tie.joints, lambda j: j.nv)
    (own, drift) = (list(graph.symbols((word, 0, k) for k in range(len(u)))) for word in "us")
    sides: dict[int, Any] = {
        id(body): BodySide(algebra, Frame.from_scalars(X[n]), Motion.zero())
        for n, body in enumerate(tie.bodies)
    }
    sides |= {id(joint): JointSide(x[n], [0.0] * joint.nv) for n, joint in enumerate(tie.joints)}
    ground = BodySide(algebra, Frame(), Motion.zero())
    time, inputs = graph.symbol(("t", 0, 0)), dict[str, Input]()

    def read(one: Input) -> Expr:
        return graph.symbol(("input", enter(inputs, one), 0))

    values = [law_at(tie.constraint, time, read)] if isinstance(tie.constraint, Driver) else []
    with reading(partial(_refuse_input, tie.constraint)):

        def equations(sides: Mapping[int, Any], own: Sequence[Any]) -> Any:
            seen = (sides.get(id(side), ground) for side in tie.constraint.sides())
            return tie.constraint.phi(*seen, *values, *own)

        phi = traced_or_called(
            tie.constraint,
            "phi",
            lambda: equations(sides, own),
            [y for group in (*X, *x, own) for y in group],
            lambda numbers: equations(_sides(tie, numbers), numbers[len(numbers) - len(own) :]),
            _drawn(tie),
            [*frame_sizes(tie.constraint, len(X)), *(1.0 for group in (*x, own) for _ in group)],
            None if own else given_slope(tie.constraint, Constraint, tie.bodies),
        )
    must_call = any(isinstance(y, Expr) and y.op == "called" for y in phi)
    pace = derivative(phi, {time: 1.0})
    # the columns of J, each with the velocity that it belongs to
    columns = [
        (derivative(phi, _rates(X[n], unit, algebra)), w[n][k])
        for n in range(len(X))
        for k, unit in enumerate(np.eye(Motion.size).tolist())
    ]
    columns += [(derivative(phi, {y: 1.0}), rates[n][k]) for n in range(len(x)) for k, y in enumerate(x[n])]
    rate = [sum((column[r] * speed for column, speed in columns), 0.0) for r in range(len(phi))]
    along: dict[Expr, Any] = {}
    for n in range(len(X)):
        along |= _rates(X[n], w[n], algebra)
    for n in range(len(x)):
        along |= dict(zip(x[n], rates[n], strict=True))
    if must_call:  # the same, by one derivative instead of one per column
        rate = derivative(phi, along)
    of_own = [derivative(phi, {y: 1.0}) for y in own]
    bend = derivative(rate, along)
    if own:
        along_all = along | dict(zip(own, drift, strict=True))
        bend = derivative(derivative(phi, along_all), along_all)
    gain = derivative([x + y for x, y in zip(pace, rate, strict=True)], {time: 1.0})
    gain = [x + y for x, y in zip(gain, derivative(pace, along), strict=True)]
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

    entries = [y for column, _ in (*columns, *((column, 0.0) for column in of_own)) for y in column]
    values = iter(evaluate([*entries, *phi, *rate, *pace, *gain], put))

    def taken() -> list[Any]:
        return [next(values) for _ in phi]

    def rows(count: int) -> list[list[Any]]:
        return [list(row) for row in zip(*(taken() for _ in range(count)), strict=True)]

    forces = [[algebra.Force.from_scalars(row) for row in rows(Motion.size)] for _ in X]
    direct = [rows(len(numbers)) for numbers in x]
    unknowns = OwnUnknowns([taken() for _ in own]) if own else None
    position, velocity, pace, gain = (taken() for _ in range(4))
    if unknowns:
        known["s"] = [unknowns.fitting(velocity)]
    return Tied(
        forces, direct, position, velocity, evaluate(bend, put), pace, gain, unknowns, tuple(inputs.values())
    )


def _refuse_input(constraint: Constraint, given: Input) -> Any:
    """Refuse equations that read inputs: only laws of drivers may."""
    raise ModelError(
        f"{constraint.word} {constraint.name!r} reads the input {given.name!r}, and equations may not: give "
        "it a number, and others per run by simulate(vary=); the law of an lw.Driver may read inputs"
    )


def _sides(tie: LoopConstraint, numbers: Sequence[float]) -> dict[int, Any]:
    """Return what a constraint sees at numbers: of the frames of its bodies, and of its joints."""
    Frame, Motion, first = tie.algebra.Frame, tie.algebra.Motion, 0
    found: dict[int, Any] = {}
    for body in tie.bodies:
        frame = Frame.from_scalars(list(numbers[first : first + Frame.size]))
        found[id(body)] = BodySide(tie.algebra, frame, Motion.zero())
        first += Frame.size
    for joint in tie.joints:
        found[id(joint)] = JointSide(numbers[first : first + joint.nq], [0.0] * joint.nv)
        first += joint.nq
    return found


def _drawn(tie: LoopConstraint) -> list[float]:
    """Return the numbers of the frames of its bodies, of its joints, and of its own unknowns, as drawn."""
    frames = (tie.algebra.Frame(b.position.tolist(), b.rotation.tolist()) for b in tie.bodies)
    return [
        *(float(x) for frame in frames for x in frame.scalars()),
        *(float(x) for joint in tie.joints for x in joint.drawn()),
        *guessed(tie.constraint, tie.constraint.drawn_poses()),
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
