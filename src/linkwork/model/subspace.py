"""The directions a joint leaves free and those it constrains, as in figure 2 of the first seed."""

import numpy as np

from linkwork.model.tree import Link


def motion_subspace(link: Link, q: np.ndarray) -> np.ndarray:
    """Return Phi (freedoms, nv): the child's motion per unit of each velocity, in its joint frame."""
    numbers, kind = [float(x) for x in q], link.kind
    S = kind.subspace(numbers, link.parameters)
    if kind.reverse:  # the link is the joint's parent: seen from the child, with the other sign
        X = kind.motion(numbers, link.parameters)
        S = [-(X @ s) for s in S]
    return np.array([s.scalars() for s in S], float).reshape(kind.nv, kind.algebra.freedoms).T


def constraint_subspace(link: Link, q: np.ndarray) -> np.ndarray:
    """Return Psi_c (freedoms, freedoms - nv): forces on the child, in its joint frame, that do no work.

    They are unit vectors where possible: one by one, what the unit vector farthest from Phi has beyond it.
    """
    basis, _ = np.linalg.qr(motion_subspace(link, q))
    n = len(basis)
    while basis.shape[1] < n:
        rest = np.eye(n) - basis @ basis.T
        column = rest[:, np.argmax(np.round(np.linalg.norm(rest, axis=0), 12))]
        column = column - basis @ (basis.T @ column)  # once more, for the last digits
        column[np.abs(column) < 1e-15] = 0.0
        basis = np.column_stack([basis, column / np.linalg.norm(column)])
    return basis[:, link.kind.nv :]
