"""A constraint between two bodies as something that closes a loop, like a joint without coordinates.

All that is known of it is phi over the poses of its bodies. With J_b its derivatives by the motion of body b,
in that body's frame, a unit of a row's force is J_b on body b, and

    sum over b of J_b v_b = 0,    sum over b of J_b a_b = -(dJ/dt) v
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.side import BodySide
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Expr, Graph, evaluate


@dataclass(frozen=True, eq=False)
class Tie:
    """A constraint between two bodies, or a body and ground, in the words of a joint."""

    constraint: Constraint
    parent: Body
    child: Body
    nq: int = 0
    nv: int = 0
    quaternion: None = None

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


def ties(mechanism: Mechanism) -> tuple[Tie, ...]:
    """Return the constraints of a mechanism as ties; ModelError if one is none."""
    found, mistakes = [], []
    for constraint in mechanism.constraints.values():
        if constraint.name in mechanism.couplings:
            continue
        bodies = [side for side in constraint.sides() if isinstance(side, Body)]
        moving = list({id(body): body for body in bodies if body is not mechanism.ground}.values())
        if constraint.unknowns or len(bodies) < len(constraint.on) or not 1 <= len(moving) <= 2:
            mistakes.append(f"{constraint.name!r} is not one between two bodies")
        else:
            parent, child = [mechanism.ground, *moving][-2:]
            found.append(Tie(constraint, parent, child))
    if mistakes:
        said = f"mechanism {mechanism.name!r}: constraint {', '.join(mistakes)}, and cannot be compiled"
        raise ModelError(f"{said} into a tree with loops; use lw.kinematics(mechanism, times), or remove it")
    jointed = {id(body) for joint in mechanism.joints.values() for body in joint.bodies}
    for tie in found:
        for body in (tie.parent, tie.child):
            if body is not mechanism.ground and id(body) not in jointed:
                raise ModelError(
                    f"mechanism {mechanism.name!r}: body {body.name!r} hangs on constraints alone, and has "
                    "no place in a tree; add a Free joint to it"
                )
    return tuple(found)


@dataclass(frozen=True)
class Tied:
    """The rows of a tie over the poses, motions and accelerations of its bodies, each in its frame."""

    forces: tuple[Sequence[Any], Sequence[Any]]  # of a unit of each row, on the parent and on the child
    position: Sequence[Any]
    velocity: Sequence[Any]
    drift: Sequence[Any]  # (dJ/dt) v


def tied(tie: Tie, poses: Sequence[Any], motions: Sequence[Any]) -> Tied:
    """Return the rows of a tie, run on symbols."""
    algebra, graph = tie.algebra, Graph()
    Frame, Motion = algebra.Frame, algebra.Motion
    X = [[graph.symbol(("X", b, k)) for k in range(Frame.size)] for b in (0, 1)]
    v = [[graph.symbol(("v", b, k)) for k in range(Motion.size)] for b in (0, 1)]
    at = {id(tie.parent): 0, id(tie.child): 1}
    sides = [Frame.from_scalars(X[at[id(body)]]) for body in tie.constraint.sides()]
    phi = list(tie.constraint.phi(*(BodySide(algebra, pose, Motion.zero()) for pose in sides)))
    units = np.eye(Motion.size).tolist()
    J = [[derivative(phi, _rates(X[b], unit, algebra)) for unit in units] for b in (0, 1)]
    rate = [
        sum((J[b][k][r] * v[b][k] for b in (0, 1) for k in range(Motion.size)), 0.0) for r in range(len(phi))
    ]
    both: dict[Expr, Any] = {}
    for b in (0, 1):
        both |= _rates(X[b], v[b], algebra)
    drift = derivative(rate, both)
    known = {"X": [pose.scalars() for pose in poses], "v": [motion.scalars() for motion in motions]}

    def put(symbol: Expr) -> Any:
        name, b, k = symbol.args[0]
        return known[name][b][k]

    columns = [x for b in (0, 1) for column in J[b] for x in column]
    values = iter(evaluate([*columns, *phi, *rate, *drift], put))
    forces = []
    for _ in (0, 1):
        rows = list(zip(*([next(values) for _ in phi] for _ in range(Motion.size)), strict=True))
        forces.append([algebra.Force.from_scalars(list(row)) for row in rows])
    position, velocity, drift = ([next(values) for _ in phi] for _ in range(3))
    return Tied((forces[0], forces[1]), position, velocity, drift)


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


def on_parent(tie: Tie, poses: Mapping[str, Any], force: Any) -> np.ndarray:
    """Return what a tie does to its parent, in its frame, given what it does to its child, in world axes.

    It need not be the opposite: a rope over pulleys pulls at the ground, too.
    """
    algebra = tie.algebra
    ends = [poses[body.name] for body in (tie.parent, tie.child)]
    shape = np.broadcast_shapes(*(np.shape(x) for thing in (*ends, force) for x in thing.scalars()))
    still, found = algebra.Motion.zero(), np.zeros((*shape, algebra.freedoms))
    for k in np.ndindex(shape):
        one = [
            type(thing).from_scalars([float(np.broadcast_to(x, shape)[k]) for x in thing.scalars()])
            for thing in (*ends, force)
        ]
        rows = tied(tie, one[:2], [still, still])
        pushes = [np.array([f.scalars() for f in rows.forces[b]], float) for b in (0, 1)]
        on_child = np.array(one[1].axes.local(one[2]).scalars(), float)
        found[k] = np.linalg.lstsq(pushes[1].T, on_child, rcond=None)[0] @ pushes[0]
    return found
