"""Where the bodies are at any time: what is asked of a recording or of a model.

Between samples a body moves along the cubic that has the recorded poses and velocities at both ends.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from linkwork.mechanism.placement import lifted
from linkwork.recording.interpolation import cubic
from linkwork.view.drawing import lifted_motions
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.quaternion import (
    axis_and_angle,
    conjugate,
    cross,
    dot,
    from_vector,
    matrices,
    product,
    quaternion_rates,
    quaternions,
)

Array = np.ndarray

_SMALL = 0.7  # angle between samples up to which a turn is made the quick way [rad]


@dataclass(frozen=True, eq=False)
class Moment:
    """The mechanism at one time."""

    t: float
    positions: Array  # (B, 3) of the bodies' origins
    quaternions: Array  # (B, 4)
    velocities: Array  # (B, 6) angular, then of the origin, in world axes
    q: Array | None = None  # if there is a model that can be asked
    v: Array | None = None
    sample: int | None = None  # its number; None if it is none of a recording
    recorded: Array | None = None  # (B, 3, 4) the poses, if they are those of a sample

    @classmethod
    def standing(cls, poses: Array, t: float = 0.0) -> "Moment":
        """Return bodies that stand at poses (B, 3, 4)."""
        return cls(t, poses[:, :, 3], quaternions(poses[:, :, :3]), np.zeros((len(poses), 6)), recorded=poses)

    @cached_property
    def poses(self) -> Array:
        """The poses (B, 3, 4)."""
        if self.recorded is not None:
            return self.recorded
        return np.concatenate([matrices(self.quaternions), self.positions[:, :, None]], axis=2)

    @cached_property
    def world(self) -> WorldPoses:
        return WorldPoses(self.positions, self.quaternions)


class Trajectory(Protocol):
    """What can be played."""

    @property
    def times(self) -> Array: ...  # of the samples

    def at(self, t: float) -> Moment: ...

    def passed(self, count: int) -> Array: ...  # (S, B, 3, 4) poses at `count` moments, first to last


class Still:
    """A mechanism that stands in one position."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment
        self.times = np.array([moment.t])

    def at(self, t: float) -> Moment:
        return self._moment

    def passed(self, count: int) -> Array:
        return self._moment.poses[None]


def moment(model: Any, q: Array, v: Array | None = None, t: float = 0.0) -> Moment:
    """Return what a model says of one state; it is at rest if no velocities are given."""
    v = np.zeros(model.nv) if v is None else v
    poses, velocities = lifted(model.poses(q).array), lifted_motions(model.velocities(q, v).array)
    return Moment(t, poses[:, :, 3], quaternions(poses[:, :, :3]), velocities, q, v, recorded=poses)


def recorded(run: Any) -> "Sampled":
    """Return the trajectory of a recording, in the order of time."""
    poses, velocities = lifted(run.derived("poses")), lifted_motions(run.derived("velocities"))
    if (np.diff(run.time) >= 0.0).all():
        return Sampled(run.time, poses, velocities, np.arange(len(run.time)))
    times, order = np.unique(run.time, return_index=True)
    return Sampled(times, poses[order], velocities[order], order)


class Sampled:
    """A motion known at times (S,): poses (S, B, 3, 4), velocities (S, B, 6); samples (S,) of a recording."""

    def __init__(
        self,
        times: Array,
        poses: Array,
        velocities: Array,
        samples: Array,
    ) -> None:
        self.times, self._poses, self._velocities = times, poses, velocities
        self._samples = samples
        self._quaternions = quaternions(self._poses[..., :3])
        self._rates = quaternion_rates(self._quaternions, self._velocities[..., :3])

    def at(self, t: float) -> Moment:
        times = self.times
        k = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 1))
        after = min(k + 1, len(times) - 1)
        span = float(times[after] - times[k])
        s = float(np.clip((t - times[k]) / span, 0.0, 1.0)) if span > 0.0 else 0.0
        nearest = after if s > 0.5 else k
        sample = int(self._samples[nearest])
        if s in (0.0, 1.0):
            n = after if s else k
            poses, turns = self._poses[n], self._quaternions[n]
            return Moment(
                float(times[n]), poses[..., 3], turns, self._velocities[n], None, None, sample, poses
            )
        motions = self._velocities[k], self._velocities[after]
        m, n = (motion * span for motion in motions)
        places = self._poses[k, :, :, 3], self._poses[after, :, :, 3]
        positions = cubic(places[0], m[:, 3:], places[1], n[:, 3:], s)
        if max(np.abs(m[:, :3]).max(initial=0.0), np.abs(n[:, :3]).max(initial=0.0)) < _SMALL:
            a, b = ((self._quaternions[i], self._rates[i] * span) for i in (k, after))
            turns = small_turn_between(*a, *b, s)
        else:
            turns = turn_between(self._quaternions[k], m[:, :3], self._quaternions[after], n[:, :3], s)
        return Moment(t, positions, turns, (1.0 - s) * motions[0] + s * motions[1], sample=sample)

    def passed(self, count: int) -> Array:
        moments = np.linspace(self.times[0], self.times[-1], count if len(self.times) > 1 else 1)
        return np.array([self.at(t).poses for t in moments])


def small_turn_between(a: Array, da: Array, b: Array, db: Array, s: float) -> Array:
    """Return the quaternions between two that are near, with rates per whole way: a cubic, normalised."""
    same = np.sign(dot(a, b))  # of the two quaternions of a rotation the nearer one
    made = cubic(a, da, same * b, same * db, s)
    return made / np.sqrt(dot(made, made))


def turn_between(a: Array, m: Array, b: Array, n: Array, s: float) -> Array:
    """Return the quaternions (B, 4) at the part s of the way between two, with turns m and n per whole way.

    The turn since the first is cubic, as axis times angle in world axes; whole turns are those that the
    angular velocities determine.
    """
    axis, angle = axis_and_angle(product(b, conjugate(a)))
    expected = dot(m + n, axis) / 2.0
    turn = axis * (angle + 2.0 * np.pi * np.round((expected - angle) / (2.0 * np.pi)))
    end = _rates(turn, n, axis)
    made = (s * (1.0 - s) ** 2) * m + (s**2 * (3.0 - 2.0 * s)) * turn - (s**2 * (1.0 - s)) * end
    return product(from_vector(made), a)


def _rates(turn: Array, w: Array, axis: Array) -> Array:
    """Return how fast axis times angle changes at an angular velocity, in world axes.

    The inverse of the left Jacobian of rotations; it is singular at whole turns, near which, and beyond, only
    the part along the axis is taken.
    """
    angle = np.sqrt(dot(turn, turn))
    half = np.clip(angle / 2.0, 1e-4, 3.0)
    c = (1.0 - half / np.tan(half)) / (2.0 * half) ** 2
    across = cross(turn, w)
    exact = w - across / 2.0 + c * cross(turn, across)
    return exact if (angle < 5.0).all() else np.where(angle < 5.0, exact, axis * dot(w, axis))
