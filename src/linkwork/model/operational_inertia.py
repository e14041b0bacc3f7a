"""What is felt at a point of a body: the inertia that a force there has to move, the mechanism behind it.

A force f on a point, J its Jacobian, changes the accelerations of the joints by

    M a + G^T l = J^T f,   G a = 0,

G the rows of loops, constraints, couplings and drivers, l their forces. With M = L L^T, A = L^-1 J^T and Q an
orthonormal basis of the columns of L^-1 G^T, the point accelerates by

    J a = A^T (1 - Q Q^T) A f,

which holds where rows are redundant, too. Its inverse is the inertia that is felt: the operational-space
inertia matrix (Khatib, IEEE J. Robotics and Automation 3, 1987); for the base of a tree that floats it is the
articulated-body inertia (Featherstone, Rigid Body Dynamics Algorithms, 2008, section 7.1).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import LinkworkError, ModelError
from linkwork.model.arguments import delivered

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

_DEPENDENT = 1e-9  # singular values of rows, beside the largest, that count as zero
_STUCK = 1e-10  # of the largest: what moves less cannot move


def inverse_felt_inertia(
    model: "Model", q: Array, body: str, point: Any = None, *, out: Array | None = None
) -> Array:
    """Return how a point of a body (its origin, if not given) accelerates per unit of torque and force there.

    (6, 6) in space, (3, 3) in the plane, angular first, in world axes; (N, 6, 6) at positions (N, nq). Loops,
    constraints and couplings hold, and drivers do: it is what `motion` would add for a small force. The
    point has coordinates of the body's frame.
    """
    if model.inertia_fault:
        raise ModelError(f"felt_inertia: {model.inertia_fault}")
    J = model.jacobian(q, body, point)
    M, G = model.mass_matrix(q), model.constraint_jacobian(q) if model.loop_names else None
    found = np.empty((*J.shape[:-2], J.shape[-2], J.shape[-2]))
    for k in np.ndindex(J.shape[:-2]):
        L = np.linalg.cholesky(M[k])
        A = np.linalg.solve(L, J[k].T)
        if G is not None:
            A = A - _along(np.linalg.solve(L, G[k].T), A)
        found[k] = A.T @ A
    return delivered("inverse_felt_inertia", found, out)


def _along(B: Array, A: Array) -> Array:
    """Return the part of A that lies in the columns of B, of which some may depend on others."""
    lengths = np.linalg.norm(B, axis=0)
    U, sizes, _ = np.linalg.svd(B / np.where(lengths > 0.0, lengths, 1.0), full_matrices=False)
    Q = U[:, sizes > _DEPENDENT * sizes.max(initial=0.0)]
    return Q @ (Q.T @ A)


def felt_inertia(
    model: "Model",
    q: Array,
    body: str,
    point: Any = None,
    *,
    direction: Sequence[float] | None = None,
    out: Array | None = None,
) -> Any:
    """Return the inertia that is felt at a point of a body (its origin, if not given).

    With `direction`, in world axes, the mass [kg] that a force along it moves, the point being free to give
    way across: 1 / (n . W n), W the inverse; infinite if the point cannot move that way. Without, the matrix
    (6, 6), or (3, 3) in the plane, that takes the acceleration of the point, angular first, to torque and
    force; LinkworkError if the body cannot move in all directions, so that there is none. The inverse,
    `inverse_felt_inertia`, is always there.
    """
    W = inverse_felt_inertia(model, q, body, point)
    algebra = model.link_tree.algebra
    if direction is not None:
        n = np.asarray(direction, float)
        if n.shape != (algebra.dimension,) or not np.isfinite(n).all() or not n.any():
            raise ValueError(
                f"felt_inertia: direction {direction!r:.80}; give {algebra.dimension} numbers, not all 0"
            )
        n = n / np.linalg.norm(n)
        slides = W[..., algebra.angular :, algebra.angular :]
        gives = np.einsum("i,...ij,j->...", n, slides, n)
        stuck = gives <= _STUCK * np.trace(slides, axis1=-2, axis2=-1)
        return delivered("felt_inertia", np.where(stuck, np.inf, 1.0 / np.where(stuck, 1.0, gives)), out)
    size = np.sqrt(np.einsum("...ii->...i", W))
    scaled = W / np.where(size > 0.0, size, 1.0)[..., :, None] / np.where(size > 0.0, size, 1.0)[..., None, :]
    ranks = np.linalg.matrix_rank(scaled, tol=_STUCK * len(size.T), hermitian=True)
    if np.any(ranks < algebra.freedoms):
        raise LinkworkError(
            f"felt_inertia: body {body!r} can move in {int(np.min(ranks))} of {algebra.freedoms} directions, "
            "and is felt as infinite in the others; give direction=, or take inverse_felt_inertia"
        )
    return delivered("felt_inertia", np.linalg.inv(W), out)
