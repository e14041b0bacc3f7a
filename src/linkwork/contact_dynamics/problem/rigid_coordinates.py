"""What is rigid in joints: coordinates with rigid stops, and friction that sticks; their values and rows.

A *stop* is one side of a limit: its gap is x - lower or upper - x, x the joint's displacement along a
coordinate, and its row J, how fast the gap opens per unit of each velocity. *Friction* acts along a velocity
of the joint, which is its row. Where both are coordinates of the tree, as in most joints, a row is 1 or -1 in
one column. Others are *bent*: those of joints whose displacement is not their coordinate (balls), and of
joints that close loops, whose coordinates follow from those of the tree.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork.mechanism.joint import Joint
from linkwork.mechanism.stop import RigidStop
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Graph
from linkwork.trace.graph_walks import evaluate
from linkwork.tree.joint_forces import acts, has_limits, is_straight

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

NUDGE = 1e-5  # [rad, m]: how far the fastest coordinate moves for a difference


class Stop(NamedTuple):
    """One side of a limit."""

    joint: str
    k: int  # which of its coordinates
    sign: float  # 1: it is met from above, the lower limit; -1: from below
    limit: float  # [rad, m]
    restitution: float

    @property
    def said(self) -> str:
        """What the joint hits, in words."""
        return f"its {'lower' if self.sign > 0 else 'upper'} stop"


class Friction(NamedTuple):
    """Dry friction along one velocity of a joint."""

    joint: str
    k: int
    bound: float  # [N m, N]


class RigidCoordinates:
    """Stops and friction of a model: `stops` first, then `friction`, a row each; for one thread at a time."""

    def __init__(self, model: "Model") -> None:
        self._model = model
        joints = [joint for joint in model.joints.values() if joint.nv]
        self.stops = [stop for joint in joints for stop in _stops(joint)]
        self.friction = [friction for joint in joints for friction in _friction(joint)]
        self.sign = np.array([*(s.sign for s in self.stops), *(1.0 for _ in self.friction)])
        self.limit = np.array([stop.limit for stop in self.stops])
        self.restitution = np.array([stop.restitution for stop in self.stops])
        self.bound = np.array([friction.bound for friction in self.friction])
        places = [*map(self._place_of_stop, self.stops), *map(self._place_of_friction, self.friction)]
        self.column = np.array([v for _, v in places], np.int64)  # (rows,) of the tree's velocities; -1: bent
        self.position = np.array([q for q, _ in places[: len(self.stops)]], np.int64)  # (stops,) in q
        bent = {row.joint for row, v in zip((*self.stops, *self.friction), self.column) if v < 0}
        self._bent = {joint.name: _displacement(joint) for joint in joints if joint.name in bent}
        self._own: dict[int, Array] = {}  # of bent stops, how fast the gap opens per velocity of the joint
        self.gap = np.zeros(len(self.stops))
        self.rows = np.zeros((len(places), model.nv))
        plain = np.flatnonzero(self.column >= 0)
        self.rows[plain, self.column[plain]] = self.sign[plain]
        self.place(model.q_drawn)

    def __len__(self) -> int:
        return len(self.column)

    def _place_of_stop(self, stop: Stop) -> tuple[int, int]:
        joint = self._model.joints[stop.joint]
        if stop.joint not in self._model.slices or not is_straight(joint):
            return 0, -1
        q, v = self._model.slices[stop.joint]
        return q.start + stop.k, v.start + stop.k

    def _place_of_friction(self, friction: Friction) -> tuple[int, int]:
        if friction.joint not in self._model.slices:
            return 0, -1
        return 0, self._model.slices[friction.joint][1].start + friction.k

    def place(self, q: Array) -> None:
        """Be at q: write gaps, and rows that are bent."""
        self.gap[:] = self.sign[: len(self.gap)] * (q[self.position] - self.limit)
        if self._bent:
            self._bend(q)

    def limit_to(self, q: Array, stops: Array) -> None:
        """Put the coordinates of some stops (stops,) onto their limits, but for bent ones."""
        which = stops & (self.column[: len(self.stops)] >= 0)
        q[self.position[which]] = self.limit[which]

    def _bend(self, q: Array) -> None:
        model, stops = self._model, len(self.stops)
        # displacement, how fast it changes per velocity of the joint; rows of it, and of these velocities
        moved: dict[str, tuple[Array, Array, Array, Array]] = {}
        turns = None
        for name, displacement in self._bent.items():
            if name in model.slices:
                at, part = model.slices[name]
                V = np.eye(model.nv)[part]
                d, B = displacement(q[at])
            else:
                if turns is None:
                    turns = model.loop_motion(np.tile(q, (model.nv, 1)), np.eye(model.nv))
                at, part = model.loop_slices[name]
                V = turns[1][:, part].T
                d, B = displacement(turns[0][0, at])
            moved[name] = d, B, B @ V, V
        for r in np.flatnonzero(self.column < 0):
            row = (self.stops + self.friction)[r]  # type: ignore[operator]
            d, B, D, V = moved[row.joint]
            if r < stops:
                self.gap[r] = self.sign[r] * (d[row.k] - self.limit[r])
                self.rows[r] = self.sign[r] * D[row.k]
                self._own[int(r)] = self.sign[r] * B[row.k]
            else:
                self.rows[r] = V[row.k]

    def forces(self, along: Array) -> tuple[Array, Array]:
        """Return forces along the rows as those of joints: of the tree (nv,), and of loops."""
        model = self._model
        last = max((part.stop for _, part in model.loop_slices.values()), default=0)
        of_tree, of_loops = np.zeros(model.nv), np.zeros(last)
        for r in np.flatnonzero(along):
            row = (self.stops + self.friction)[r]  # type: ignore[operator]
            if row.joint in model.slices:
                of_tree += along[r] * self.rows[r]
                continue
            part = model.loop_slices[row.joint][1]
            own = self._own[int(r)] if r < len(self.stops) else np.eye(part.stop - part.start)[row.k]
            of_loops[part] += along[r] * own
        return of_tree, of_loops

    def drift(self, q: Array, v: Array) -> Array:
        """Return what rows change by along the motion, times v (rows,); it is placed at q afterwards."""
        found, fastest = np.zeros(len(self)), float(np.abs(v).max(initial=0.0))
        bent = self.column < 0
        if bent.any() and fastest > 0.0:
            h, rates = NUDGE / fastest, self._model.position_rates(q, v)
            for sign in (1.0, -1.0):
                self.place(q + sign * h * rates)
                found[bent] += sign * (self.rows[bent] @ v) / (2.0 * h)
            self.place(q)
        return found


def _stops(joint: Joint) -> list[Stop]:
    if not isinstance(joint.stop, RigidStop) or not has_limits(joint):
        return []
    e = float(joint.stop.restitution)
    sides = [(k, *side) for k, pair in enumerate(joint.limit_pairs()) for side in zip((1.0, -1.0), pair)]
    return [Stop(joint.name, k, sign, float(x), e) for k, sign, x in sides if np.isfinite(x)]


def _friction(joint: Joint) -> list[Friction]:
    if not acts(joint, "friction") or not joint.friction_sticks(rigid=True):
        return []
    bounds = joint.per_coordinate("friction").tolist()
    return [Friction(joint.name, k, bound) for k, bound in enumerate(bounds) if bound > 0.0]


def _displacement(joint: Joint) -> Callable[[Array], tuple[Array, Array]]:
    """Return the displacement (nv,) of a joint as a function of q, and how fast it changes per velocity."""
    graph, n = Graph(), joint.nv
    q = graph.symbols(("q", k) for k in range(joint.nq))
    d = list(joint.displacement(q) or [0.0] * n)
    roots = list(d)
    for j in range(n):
        along = joint.rates(q, [1.0 if i == j else 0.0 for i in range(n)])
        roots += derivative(d, dict(zip(q, along, strict=True)))

    def at(x: Array) -> tuple[Array, Array]:
        numbers = evaluate(roots, lambda symbol: float(x[symbol.args[0][1]]))
        found = np.array(numbers, float).reshape(n + 1, n)
        return found[0], found[1:].T

    return at
