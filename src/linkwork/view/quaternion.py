"""Rotations of many bodies at once."""

import numpy as np
from scipy.spatial.transform import Rotation

Array = np.ndarray


def quaternions(R: Array) -> Array:
    """Return quaternions (..., 4), w first, of rotation matrices (..., 3, 3)."""
    flat = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_quat(scalar_first=True)
    return flat.reshape(*R.shape[:-2], 4)


def matrix(quaternion: Array) -> Array:
    """Return the rotation matrix (3, 3) of a quaternion, w first."""
    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()


def product(a: Array, b: Array) -> Array:
    """Return Hamilton's product of quaternions (..., 4): first b, then a."""
    w, x, y, z = np.moveaxis(a, -1, 0)
    W, X, Y, Z = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            w * W - x * X - y * Y - z * Z,
            w * X + x * W + y * Z - z * Y,
            w * Y - x * Z + y * W + z * X,
            w * Z + x * Y - y * X + z * W,
        ],
        axis=-1,
    )


def rotation_vectors(R: Array) -> Array:
    """Return axis times angle (..., 3), up to half a turn, of rotation matrices."""
    return Rotation.from_matrix(R.reshape(-1, 3, 3)).as_rotvec().reshape(*R.shape[:-2], 3)


def turned(vectors: Array) -> Array:
    """Return the rotation matrices (..., 3, 3) of axis times angle."""
    return Rotation.from_rotvec(vectors.reshape(-1, 3)).as_matrix().reshape(*vectors.shape[:-1], 3, 3)
