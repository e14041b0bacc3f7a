"""Rotations of many bodies at once, as quaternions (..., 4), w first."""

import numpy as np

Array = np.ndarray


def quaternions(R: Array) -> Array:
    """Return the quaternions of rotation matrices (..., 3, 3).

    The longest row of 4 q q^T, whose entries are linear in R (Markley, Unit quaternion from rotation matrix,
    2008). SciPy has this too, and takes half a second to import.
    """
    a, b, c = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    d, e, f = R[..., 1, 0] + R[..., 0, 1], R[..., 0, 2] + R[..., 2, 0], R[..., 2, 1] + R[..., 1, 2]
    x, y, z = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    rows = np.empty((*R.shape[:-2], 4, 4))
    rows[..., 0, 0], rows[..., 0, 1], rows[..., 0, 2], rows[..., 0, 3] = 1 + x + y + z, a, b, c
    rows[..., 1, 0], rows[..., 1, 1], rows[..., 1, 2], rows[..., 1, 3] = a, 1 + x - y - z, d, e
    rows[..., 2, 0], rows[..., 2, 1], rows[..., 2, 2], rows[..., 2, 3] = b, d, 1 - x + y - z, f
    rows[..., 3, 0], rows[..., 3, 1], rows[..., 3, 2], rows[..., 3, 3] = c, e, f, 1 - x - y + z
    longest = np.diagonal(rows, axis1=-2, axis2=-1).argmax(axis=-1)
    q = np.take_along_axis(rows, longest[..., None, None], axis=-2)[..., 0, :]
    return q / np.sqrt(dot(q, q))


def matrices(q: Array) -> Array:
    """Return the rotation matrices (..., 3, 3) of unit quaternions."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    made = np.empty((*q.shape[:-1], 3, 3))
    made[..., 0, 0], made[..., 0, 1], made[..., 0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
    )
    made[..., 1, 0], made[..., 1, 1], made[..., 1, 2] = (
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
    )
    made[..., 2, 0], made[..., 2, 1], made[..., 2, 2] = (
        2 * (x * z - w * y),
        2 * (y * z + w * x),
        1 - 2 * (x * x + y * y),
    )
    return made


def product(a: Array, b: Array) -> Array:
    """Return Hamilton's product: first b, then a."""
    w, x, y, z = _columns(a)
    W, X, Y, Z = _columns(b)
    made = np.empty(np.broadcast_shapes(a.shape, b.shape))
    made[..., 0] = w * W - x * X - y * Y - z * Z
    made[..., 1] = w * X + x * W + y * Z - z * Y
    made[..., 2] = w * Y - x * Z + y * W + z * X
    made[..., 3] = w * Z + x * Y - y * X + z * W
    return made


def quaternion_rates(q: Array, w: Array) -> Array:
    """Return how fast quaternions change at angular velocities (..., 3), in world axes."""
    return 0.5 * product(np.concatenate([np.zeros_like(w[..., :1]), w], axis=-1), q)


def conjugate(q: Array) -> Array:
    """Return the turn back."""
    return q * (1.0, -1.0, -1.0, -1.0)


def turned(q: Array, vectors: Array) -> Array:
    """Return vectors (..., 3) as they are after a turn."""
    w, v = q[..., :1], q[..., 1:]
    t = 2.0 * cross(v, vectors)
    return vectors + w * t + cross(v, t)


def cross(a: Array, b: Array) -> Array:
    """Return the vector product (..., 3)."""
    x, y, z = _columns(a)
    X, Y, Z = _columns(b)
    made = np.empty(np.broadcast_shapes(a.shape, b.shape))
    made[..., 0] = y * Z - z * Y
    made[..., 1] = z * X - x * Z
    made[..., 2] = x * Y - y * X
    return made


def _columns(a: Array) -> Array:
    """Return the last axis first, side by side in memory: arithmetic is twice as fast there."""
    return np.ascontiguousarray(np.moveaxis(a, -1, 0))


def dot(a: Array, b: Array) -> Array:
    """Return the scalar product (..., 1)."""
    return np.einsum("...i,...i->...", a, b)[..., None]


def axis_and_angle(q: Array) -> tuple[Array, Array]:
    """Return the axes (..., 3) and angles (..., 1), from 0 to half a turn; no axis for no turn."""
    w, v = q[..., :1], q[..., 1:]
    length = np.sqrt(dot(v, v))
    sign = np.where(w < 0.0, -1.0, 1.0)
    axis = v * (sign / np.where(length > 1e-150, length, 1.0))
    return axis, 2.0 * np.arctan2(length, np.abs(w))


def from_vector(vectors: Array) -> Array:
    """Return the quaternions of axis times angle (..., 3)."""
    half = 0.5 * np.sqrt(dot(vectors, vectors))
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors], axis=-1)
