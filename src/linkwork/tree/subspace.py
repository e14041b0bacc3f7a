"""The directions a joint leaves free and those it constrains, after Roberson and Schwertassek (1988)."""

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.algebra.dense import inverse_positive
from linkwork.algebra.vector import product

if TYPE_CHECKING:
    from linkwork.tree.tree import Link

_LESS = 2.0**-60  # weight of sliding against turning where one freedom does both


def motion_subspace(link: "Link", q: np.ndarray) -> np.ndarray:
    """Return Phi (freedoms, nv): the child's motion per unit of each velocity, in its joint frame."""
    numbers, kind = [float(x) for x in q], link.kind
    S = kind.subspace(numbers, link.parameters)
    if kind.reverse:  # the link is the joint's parent: seen from the child, with the other sign
        X = kind.motion(numbers, link.parameters)
        S = [-(X @ s) for s in S]
    return np.array([s.scalars() for s in S], float).reshape(kind.nv, kind.algebra.freedoms).T


def constraint_subspace(link: "Link", q: np.ndarray) -> np.ndarray:
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


def drive_directions(S: Sequence[Any], algebra: ModuleType) -> list[Any]:
    """Return Psi = W S (S^T W S)^-1, dual to the motions S; W puts torque before force for one freedom."""
    less = _LESS if len(S) == 1 else 1.0
    weights = [1.0] * algebra.angular + [less] * (algebra.freedoms - algebra.angular)
    WS = [
        algebra.Force.from_scalars([product(x, w) for x, w in zip(s.scalars(), weights, strict=True)])
        for s in S
    ]
    found = []
    for row in inverse_positive([[s.dot(ws) for ws in WS] for s in S]):
        direction = algebra.Force.zero()
        for factor, ws in zip(row, WS, strict=True):
            direction = direction + ws * factor
        found.append(direction)
    return found
