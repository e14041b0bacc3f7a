"""Pulling a mechanism that stands: a point of a body follows, joints stay together, no branch is changed.

With J the motion of the point by the velocities and N the motions that are free, the step is the
least-squares y of J N y = way, damped (Levenberg's method), so that nothing runs away near dead points; it is
taken in small pieces, the loops closed after each.

Limits are an active set: a coordinate that is at its limit, and that a step would push through, is held, its
rate one more row of what is not free; and a step ends where it meets the first limit. As each step begins
with an empty set, what is pulled back comes free again.
"""

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from linkwork.errors import AssemblyError
from linkwork.model.loop_closing import moved_by

Array = np.ndarray

STEPS = 24  # of one call
_PIECE = 0.02  # of the mechanism's size, in one step
_DAMPING = 1e-6  # of the scale of J N, squared
_TURN = 0.15  # of a coordinate in one step [rad, sizes]
_THERE = 1e-9  # from a target, of the mechanism's size; from a limit [rad, m]
_HALVINGS = 12  # of a step that leads through a limit, or away from the target
_SMALL = 1e-6  # motion by which rates of displacements are found


def pulled(model: Any, q: Array, body: str, point: Array, target: Array, steps: int = STEPS) -> Array:
    """Return a position near q in which a point of a body is as near to a target as it can easily be."""
    pull = _Pull(model, body, point, target)
    limits = _Limits(model)
    for _ in range(steps):
        if (nearer := pull.step(q, limits)) is None:
            break
        q = nearer
    return q


class _Pull:
    """A point of a body, and where it is to come."""

    def __init__(self, model: Any, body: str, point: Array, target: Array) -> None:
        self._model, self._body, self._number = model, body, model.body_names.index(body)
        self._dimension = size = 3 if model.space == "space" else 2
        self._point, self._target = (np.asarray(x, float).ravel()[:size] for x in (point, target))
        self._size = model.size or 1.0

    def way(self, q: Array) -> Array:
        """Return how the point is to go."""
        pose, size = self._model.poses(q).array[self._number], self._dimension
        return self._target - (pose[:, :size] @ self._point + pose[:, size])

    def step(self, q: Array, limits: "_Limits") -> Array | None:
        """Return a position in which the point is nearer; None if there is none that is easy to find."""
        way = self.way(q)
        length = float(np.linalg.norm(way))
        if length < _THERE * self._size:
            return None
        way *= min(1.0, _PIECE * self._size / length)
        room, held = limits.room(q), set[int]()
        while True:
            change = self._change(q, way, [limits.rate(q, k) for k in sorted(held)])
            near = np.flatnonzero(room < limits.reach).tolist()
            rates = {k: float(limits.rate(q, k) @ change) for k in near}
            through = {k for k, rate in rates.items() if room[k] <= _THERE and rate < -_THERE * _THERE}
            if through <= held:
                break
            held |= through
        if np.abs(change).max(initial=0.0) < 1e-12:
            return None
        meeting = {k: room[k] / -rate for k, rate in rates.items() if k not in held and rate < 0.0}
        part = min(1.0, *meeting.values(), 1.0)
        for _ in range(_HALVINGS):
            met = {k for k, least in meeting.items() if least <= part}
            tried = limits.closed(moved_by(self._model, q, change, part), held | met)
            if (
                tried is not None
                and (limits.room(tried) >= np.minimum(room, 0.0) - _THERE).all()
                and float(np.linalg.norm(self.way(tried))) < length
            ):
                return tried
            part /= 2.0
        return None

    def _change(self, q: Array, way: Array, held: Collection[Array]) -> Array:
        """Return the small motion, in velocities, that brings the point on its way."""
        model = self._model
        J = np.asarray(model.jacobian(q, self._body, self._point))[-self._dimension :]
        C = model.constraint_jacobian(q) if model.loop_names else np.zeros((0, model.nv))
        C = np.vstack([C, *held])
        N = np.eye(model.nv)
        if len(C):
            _, values, rows = np.linalg.svd(C, full_matrices=True)
            N = rows[int((values > 1e-8 * max(1.0, values.max(initial=0.0))).sum()) :].T
        A = J @ N
        scale = float(np.linalg.norm(A)) or 1.0
        change = N @ np.linalg.solve(A.T @ A + _DAMPING * scale**2 * np.eye(A.shape[1]), A.T @ way)
        largest = float(np.abs(change).max(initial=0.0))
        return change * min(1.0, _TURN / largest) if largest > 0.0 else change


class _Limits:
    """Both sides of every limit of a model, tree joints and joints that close loops alike."""

    reach = 4.0 * _TURN  # nearer than this a step may meet it

    def __init__(self, model: Any) -> None:
        self._model = model
        self._sides = list(_sides(model))  # (joint, which of its displacements, sign, value)
        self._of_loops = any(name in model.loop_slices for name, *_ in self._sides)

    def room(self, q: Array) -> Array:
        """Return how far each side is away, below 0 outside."""
        loops = self._model.loop_motion(q, np.zeros(self._model.nv))[0] if self._of_loops else None
        return np.array(
            [sign * (self._displacement(q, loops, name)[k] - bound) for name, k, sign, bound in self._sides]
        )

    def _displacement(self, q: Array, loops: Array | None, name: str) -> Any:
        model = self._model
        if name in model.loop_slices:
            assert loops is not None
            return model.mechanism.joints[name].displacement(loops[model.loop_slices[name][0]].tolist())
        return model.joints[name].displacement(q[model.slices[name][0]].tolist())

    def rate(self, q: Array, side: int) -> Array:
        """Return how fast one side comes away per unit of each velocity, (nv,)."""
        model, (name, k, sign, _) = self._model, self._sides[side]
        row, own = np.zeros(model.nv), name in model.slices
        loops = [None, None]
        for number in range(model.nv)[model.slices[name][1]] if own else range(model.nv):
            unit = np.zeros(model.nv)
            unit[number] = _SMALL
            ends = [moved_by(model, q, unit, part) for part in (-1.0, 1.0)]
            if not own:
                loops = [model.loop_motion(end, np.zeros(model.nv))[0] for end in ends]
            low, high = (
                self._displacement(end, loop, name)[k] for end, loop in zip(ends, loops, strict=True)
            )
            row[number] = sign * (high - low) / (2.0 * _SMALL)
        return row

    def closed(self, q: Array, held: Collection[int]) -> Array | None:
        """Return the position near q in which loops are closed, with what is at its limit held there.

        Where that cannot be the loops alone are closed.
        """
        model, stay = self._model, []
        for name, k, _, bound in (self._sides[side] for side in held):
            if name in model.slices and len(q[model.slices[name][0]]) == 1:
                q[model.slices[name][0].start + k] = bound
                stay.append(name)
        for hold in (stay, []) if stay else ([],):
            try:
                return model.assemble(q, hold=hold)
            except AssemblyError:
                continue
        return None


def _sides(model: Any) -> Iterator[tuple[str, int, float, float]]:
    for name in (*model.joint_names, *model.loop_slices):
        joint = model.joints.get(name) or model.mechanism.joints.get(name)
        if joint is None:
            continue
        for k, (low, high) in enumerate(joint.limit_pairs().tolist()):
            if np.isfinite(low):
                yield name, k, 1.0, low
            if np.isfinite(high):
                yield name, k, -1.0, high
