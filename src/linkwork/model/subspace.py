"""The directions a joint leaves free and those it constrains, as in figure 2 of the first seed."""

from collections.abc import Sequence

import numpy as np

from linkwork.mechanism.joint import Joint
from linkwork.model.kind import Kinds


def motion_subspace(joint: Joint, q: Sequence[float]) -> np.ndarray:
    """Return Phi (freedoms, nv): the child's motion per unit of each velocity, in its joint frame."""
    kind, parameters = Kinds().of(joint, reverse=False)
    columns = [s.scalars() for s in kind.subspace([float(x) for x in q], parameters)]
    return np.array(columns, float).reshape(joint.nv, joint.algebra.freedoms).T


def constraint_subspace(joint: Joint, q: Sequence[float]) -> np.ndarray:
    """Return Psi_c (freedoms, freedoms - nv): forces on the child, in its joint frame, that do no work.

    They are unit vectors where possible: one by one, what the unit vector farthest from Phi has beyond it.
    """
    basis, _ = np.linalg.qr(motion_subspace(joint, q))
    n = len(basis)
    while basis.shape[1] < n:
        rest = np.eye(n) - basis @ basis.T
        column = rest[:, np.argmax(np.round(np.linalg.norm(rest, axis=0), 12))]
        column = column - basis @ (basis.T @ column)  # once more, for the last digits
        column[np.abs(column) < 1e-15] = 0.0
        basis = np.column_stack([basis, column / np.linalg.norm(column)])
    return basis[:, joint.nv :]
