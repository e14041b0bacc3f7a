"""Poses of bodies as arrays (..., 3, 4), the rows of [R | p]; velocities (..., 6), angular first."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.algebra import rotation as rotations
from linkwork.algebra.spatial import Frame
from linkwork.mechanism.placement import RotationLike, position_vector, rotation_matrix

Array = np.ndarray

HERE = np.eye(3, 4)
HERE.setflags(write=False)


def placed(position: ArrayLike | None, rotation: RotationLike, where: str) -> Array:
    """Return the pose (3, 4) of a position and a rotation as users give them."""
    return np.column_stack([rotation_matrix(rotation, where), position_vector(position, where)])


def composed(a: Array, b: Array) -> Array:
    """Return poses b, seen from where a is seen: the product of a and b."""
    R = a[..., :3]
    return np.concatenate([R @ b[..., :3], R @ b[..., 3:] + a[..., 3:]], axis=-1)


def inverted(a: Array) -> Array:
    """Return the inverse of poses."""
    back = np.swapaxes(a[..., :3], -1, -2)
    return np.concatenate([back, -back @ a[..., 3:]], axis=-1)


def turned(a: Array, velocities: Array) -> Array:
    """Return velocities (..., 6) along the axes that a pose has turned to."""
    R = a[..., :3]
    parts = [np.einsum("...ij,...j->...i", R, velocities[..., k : k + 3]) for k in (0, 3)]
    return np.concatenate(parts, axis=-1)


def seen_from(a: Array, direction: Array) -> Array:
    """Return a direction of the world, as gravity is, along the axes of a pose."""
    return a[:, :3].T @ direction


def frame_of(a: Array) -> Any:
    """Return a pose as a Frame."""
    return Frame.from_scalars(a.ravel().tolist())


def free_positions(a: Array) -> Array:
    """Return the coordinates (7,) of a Free joint at a pose."""
    return np.array([*a[:, 3], *rotations.to_quaternion(frame_of(a).R)], float)


def free_velocities(a: Array, velocity: Array) -> Array:
    """Return the velocities (6,) of a Free joint, in the frame of its child, from those of the world."""
    back = a[:, :3].T
    return np.concatenate([back @ velocity[:3], back @ velocity[3:]])
