"""qdd <- the dense equations of a closed mechanism, by singular values: slow, and a reference.

    M qdd + h = tau + J^T force,  J qdd = right

In coordinates in which M is the identity, rows are scaled to length one; what is smaller than the tolerance
among the singular values follows from the rest.
"""

import numpy as np

Array = np.ndarray

TOLERANCE = 1e-6


def dense_forward_dynamics(M: Array, drive: Array, J: Array, right: Array, weak: Array) -> Array:
    """Return accelerations; drive is tau - h."""
    L = np.linalg.cholesky(M)
    free = np.linalg.solve(L, drive)
    A = np.linalg.solve(L, J.T).T
    lengths = np.linalg.norm(A, axis=1)
    there = lengths > np.sqrt(weak)
    scale = there / np.where(there, lengths, 1.0)
    U, sizes, Vt = np.linalg.svd(A * scale[:, None], full_matrices=False)
    inverse = np.where(sizes > TOLERANCE, 1.0 / np.where(sizes > TOLERANCE, sizes, 1.0), 0.0)
    along = inverse * (U.T @ (scale * (right - A @ free)))  # of the singular directions
    return np.linalg.solve(L.T, free + Vt.T @ along)
