"""Where pieces are in the world, all of them at once."""

from collections.abc import Sequence

import numpy as np

from linkwork.view.quaternion import product, quaternions

Array = np.ndarray


class Places:
    """Poses on bodies, by number; ground is number -1."""

    def __init__(self, bodies: Sequence[int], poses: Array) -> None:
        self._bodies = np.array(bodies, dtype=int)
        self._positions = poses[:, :, 3]
        self._quaternions = quaternions(poses[:, :, :3]) if len(poses) else np.zeros((0, 4))

    def __len__(self) -> int:
        return len(self._bodies)

    def positions(self, poses: "WorldPoses") -> Array:
        """Return the places (N, 3)."""
        R, p = poses.rotations[self._bodies], poses.positions[self._bodies]
        return np.einsum("nij,nj->ni", R, self._positions) + p

    def rotations(self, poses: "WorldPoses") -> Array:
        """Return the quaternions (N, 4)."""
        return product(poses.quaternions[self._bodies], self._quaternions)


class WorldPoses:
    """The poses of all bodies at one time; the last row is ground, so that its number is -1."""

    def __init__(self, poses: Array) -> None:
        ground = np.eye(3, 4)[None]
        whole = np.concatenate([poses, ground])
        self.rotations, self.positions = whole[:, :, :3], whole[:, :, 3]
        self.quaternions = quaternions(self.rotations)
