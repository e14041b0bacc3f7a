"""Where the bodies are at any time: what is asked of a recording or of a model.

Between samples a body moves along the cubic that has the recorded poses and velocities at both ends.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from linkwork.view.drawing import lifted, lifted_motions
from linkwork.view.quaternion import rotation_vectors, turned

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Moment:
    """The mechanism at one time."""

    t: float
    poses: Array  # (B, 3, 4)
    velocities: Array  # (B, 6) angular, then of the origin, in world axes
    q: Array | None = None  # of the nearest sample, if there is a model that can be asked
    v: Array | None = None
    sample: int = 0  # its number


class Motion(Protocol):
    """What can be played."""

    @property
    def times(self) -> Array: ...  # of the samples

    def at(self, t: float) -> Moment: ...

    def passed(self, count: int) -> Array: ...  # (S, B, 3, 4) poses at so many moments, first to last


class Still:
    """A mechanism that stands in one position."""

    def __init__(self, model: Any, q: Array, v: Array | None = None, t: float = 0.0) -> None:
        v = np.zeros(model.nv) if v is None else v
        self._moment = moment(model, q, v, t)
        self.times = np.array([t])

    def at(self, t: float) -> Moment:
        return self._moment

    def passed(self, count: int) -> Array:
        return self._moment.poses[None]


def moment(model: Any, q: Array, v: Array, t: float) -> Moment:
    """Return what a model says of one state."""
    poses, velocities = lifted(model.poses(q).array), lifted_motions(model.velocities(q, v).array)
    return Moment(t, poses, velocities, q, v)


class Recorded:
    """The motion of a recording."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self.times: Array = run.time
        self._poses = lifted(run.derived("poses"))
        self._velocities = lifted_motions(run.derived("velocities"))

    def at(self, t: float) -> Moment:
        times = self.times
        k = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 1))
        after = min(k + 1, len(times) - 1)
        span = float(times[after] - times[k])
        s = float(np.clip((t - times[k]) / span, 0.0, 1.0)) if span > 0.0 else 0.0
        nearest = after if s > 0.5 else k
        q, v = (self._run.q[nearest], self._run.v[nearest]) if self._run.model is not None else (None, None)
        if s in (0.0, 1.0):
            here = after if s else k
            return Moment(float(times[here]), self._poses[here], self._velocities[here], q, v, nearest)
        a, b = ((self._poses[n], self._velocities[n] * span) for n in (k, after))
        velocities = (1.0 - s) * self._velocities[k] + s * self._velocities[after]
        return Moment(t, between(a, b, s), velocities, q, v, nearest)

    def passed(self, count: int) -> Array:
        moments = np.linspace(self.times[0], self.times[-1], count if len(self.times) > 1 else 1)
        return np.array([self.at(t).poses for t in moments])


def between(a: tuple[Array, Array], b: tuple[Array, Array], s: float) -> Array:
    """Return the poses (B, 3, 4) at the part s of the way between poses with motions per whole way.

    Rotations: the turn since the first pose is cubic as a vector; whole turns are those that the angular
    velocities tell.
    """
    (X, m), (Y, n) = a, b
    made = np.empty_like(X)
    made[..., 3] = _cubic(X[..., 3], m[..., 3:], Y[..., 3], n[..., 3:], s)
    R = X[..., :3]
    turn = rotation_vectors(Y[..., :3] @ np.swapaxes(R, -1, -2))  # in world axes
    expected = (m[..., :3] + n[..., :3]) / 2.0
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    axis = np.divide(turn, angle, out=np.zeros_like(turn), where=angle > 1e-12)
    along = (expected * axis).sum(axis=-1, keepdims=True)
    turn = axis * (angle + 2.0 * np.pi * np.round((along - angle) / (2.0 * np.pi)))
    start, end = _rates(np.zeros_like(turn), m[..., :3], axis), _rates(turn, n[..., :3], axis)
    made[..., :3] = turned(_cubic(np.zeros_like(turn), start, turn, end, s)) @ R
    return made


def _rates(turn: Array, w: Array, axis: Array) -> Array:
    """Return how fast axis times angle changes at an angular velocity, in world axes.

    The inverse of the left Jacobian of rotations; it is singular at whole turns, near which, and beyond, only
    the part along the axis is taken.
    """
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    half = np.clip(angle / 2.0, 1e-4, 3.0)
    c = (1.0 - half / np.tan(half)) / (2.0 * half) ** 2
    across = np.cross(turn, w)
    exact = w - across / 2.0 + c * np.cross(turn, across)
    return np.where(angle < 5.0, exact, axis * (w * axis).sum(axis=-1, keepdims=True))


def _cubic(x: Array, dx: Array, y: Array, dy: Array, s: float) -> Array:
    """Return Hermite's cubic."""
    return (
        (1.0 + 2.0 * s) * (1.0 - s) ** 2 * x
        + s * (1.0 - s) ** 2 * dx
        + s**2 * (3.0 - 2.0 * s) * y
        - s**2 * (1.0 - s) * dy
    )
