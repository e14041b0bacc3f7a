"""Where pieces are in the world, all of them at once."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from linkwork.view.quaternion import matrices, product, quaternions, turned

Array = np.ndarray

_STILL = np.array([[1.0, 0.0, 0.0, 0.0]])


class WorldPoses:
    """Where all bodies are at one time; the last row is ground, so that its number is -1."""

    def __init__(self, positions: Array, quaternions: Array) -> None:
        self.positions = np.concatenate([positions, np.zeros((1, 3))])
        self.quaternions = np.concatenate([quaternions, _STILL])

    @classmethod
    def of(cls, poses: Array) -> "WorldPoses":
        """Take poses (B, 3, 4)."""
        return cls(poses[:, :, 3], quaternions(poses[:, :, :3]) if len(poses) else np.zeros((0, 4)))

    @cached_property
    def rotations(self) -> Array:
        """The rotation matrices (B + 1, 3, 3)."""
        return matrices(self.quaternions)


class Places:
    """Poses (N, 3, 4) on bodies by number; ground is number -1."""

    def __init__(self, bodies: Sequence[int], poses: Array) -> None:
        self._bodies = np.array(bodies, dtype=int)
        self._offsets = poses[:, :, 3]
        self._turns = quaternions(poses[:, :, :3]) if len(poses) else np.zeros((0, 4))
        self._at_origins = not self._offsets.any()
        self._as_bodies = np.array_equal(self._turns, np.tile(_STILL, (len(poses), 1)))

    def __len__(self) -> int:
        return len(self._bodies)

    def positions(self, poses: WorldPoses) -> Array:
        """Return the places (N, 3)."""
        places = poses.positions[self._bodies]
        return places if self._at_origins else places + turned(poses.quaternions[self._bodies], self._offsets)

    def rotations(self, poses: WorldPoses) -> Array:
        """Return the quaternions (N, 4)."""
        q = poses.quaternions[self._bodies]
        return q if self._as_bodies else product(q, self._turns)
