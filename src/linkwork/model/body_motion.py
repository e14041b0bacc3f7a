"""How bodies move when the joints do: poses, velocities, accelerations, Jacobians, freedoms of joints."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.algebra.linear import columns
from linkwork.dynamics import jacobian as of_path
from linkwork.dynamics import poses as outward
from linkwork.dynamics import velocities as rates
from linkwork.errors import unknown
from linkwork.model.arguments import delivered
from linkwork.model.named_rows import NamedRows
from linkwork.real_numbers import real_array
from linkwork.tree import subspace
from linkwork.tree.tree import Link

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray


def poses(model: "Model", q: Array, *, out: Array | None = None) -> NamedRows:
    """Return the poses of the bodies by name; `.array` has the rows of [R | p]."""
    (array,) = model.kernel_of(outward.ALGORITHM)(q, out=(out,))
    frame = model.link_tree.algebra.Frame
    return NamedRows("body", model.body_rows, array, 3, frame.from_scalars, {"ground": frame()})


def velocities(model: "Model", q: Array, v: Array, *, out: Array | None = None) -> NamedRows:
    """Return the velocities of the bodies' origins by name, in world axes, angular first."""
    (array,) = model.kernel_of(rates.ALGORITHM)(q, v, out=(out,))
    return _motions(model, array)


def accelerations(
    model: "Model", q: Array, v: Array, tau: Array, *, forces: Any = None, out: Array | None = None
) -> NamedRows:
    """Return how bodies accelerate under joint forces tau: angular, and of the origins, in world axes."""
    return body_accelerations(model, q, v, model.forward_dynamics(q, v, tau, forces=forces), out=out)


def body_accelerations(
    model: "Model", q: Array, v: Array, a: Array, *, out: Array | None = None
) -> NamedRows:
    """Return the accelerations of bodies when the joints accelerate by a: as `accelerations` does."""
    (array,) = model.kernel_of(rates.ACCELERATION_ALGORITHM)(q, v, a, out=(out,))
    return _motions(model, array)


def _motions(model: "Model", array: Array) -> NamedRows:
    motion = model.link_tree.algebra.Motion
    return NamedRows("body", model.body_rows, array, 2, motion.from_scalars, {"ground": motion.zero()})


def body_rows(model: "Model") -> dict[str, int]:
    """The row of each body in arrays by body."""
    return dict(zip(model.body_names, range(len(model.body_names)), strict=True))


def jacobian(model: "Model", q: Array, body: str, point: Any = None, *, out: Array | None = None) -> Array:
    """Return how a point of a body (its origin, if not given) moves per unit of each velocity.

    (6, nv) in space, (3, nv) in the plane: angular velocity, then velocity of the point, in world axes.
    """
    tree = model.link_tree
    if not isinstance(body, str) or body not in tree.body_links:
        raise ValueError(f"jacobian: {unknown('body', body, model.body_names)}")
    dimension = tree.algebra.dimension
    place = real_array("jacobian: point", [0.0] * dimension if point is None else point)
    if place.shape != (dimension,) or not np.isfinite(place).all():
        raise ValueError(
            f"jacobian: point {point!r}; give {dimension} finite numbers in the frame of {body!r}"
        )
    path = _path(model, tree.body_links[body])
    in_link = np.array(tree.body_frames[body] @ place.tolist())
    if path:
        (rows,) = model.kernel_of(of_path.ALGORITHM, path=path)(q, in_link)
    else:
        batch = poses(model, q).array.shape[:-3]  # checks q
        rows = np.zeros((*batch, model.nv, tree.algebra.freedoms))
    return delivered("jacobian", np.swapaxes(rows, -1, -2), out)


def _path(model: "Model", number: int) -> tuple[int, ...]:
    """Return the numbers of the links from the base to a link; none for ground."""
    path: list[int] = []
    while number:
        path.append(number)
        number = model.link_tree.links[number - 1].parent
    return tuple(reversed(path))


def motion_subspace(model: "Model", joint: str, q: Array) -> Array:
    """Return the child's motion per unit of each velocity, in its joint frame: (freedoms, nv)."""
    return subspace.motion_subspace(*_link_at(model, joint, q))


def constraint_subspace(model: "Model", joint: str, q: Array) -> Array:
    """Return a basis of the forces a joint can exert without doing work, in its frame on the child."""
    return subspace.constraint_subspace(*_link_at(model, joint, q))


class DualBases(NamedTuple):
    """The directions of a joint, (freedoms, n) each, in its frame on the child; see `dual_bases`."""

    motion: Array  # Phi: motions that the joint leaves free, per unit of each velocity
    constrained_motion: Array  # Phi_c: those that it prevents
    drive: Array  # Psi: forces that a drive exerts, per unit of each generalised force
    constraint: Array  # Psi_c: forces that it exerts without doing work


def dual_bases(model: "Model", joint: str, q: Array) -> DualBases:
    """Return the free and the constrained directions of a joint, of motions and of forces.

    They are dual, [Phi Phi_c]^T [Psi Psi_c] = 1: a force Psi tau + Psi_c lambda has the power tau . v on a
    motion Phi v (Roberson and Schwertassek, 1988). Where Phi are unit vectors, Psi is Phi and Psi_c is Phi_c.
    """
    where = _link_at(model, joint, q)
    algebra = model.link_tree.algebra
    motion, constraint = subspace.motion_subspace(*where), subspace.constraint_subspace(*where)
    free = [algebra.Motion.from_scalars(s) for s in motion.T.tolist()]
    drive = columns(subspace.drive_directions(free, algebra)) if free else np.empty_like(motion)
    dual = np.linalg.inv(np.column_stack([drive, constraint])).T
    return DualBases(motion, dual[:, len(free) :], drive, constraint)


def _link_at(model: "Model", joint: str, q: Array) -> tuple[Link, Array]:
    if joint in model.row_slices:
        raise ValueError(
            f"joint {joint!r} closes a loop, and has no coordinates in q; let another one close it: "
            "m.compile(cut=[...])"
        )
    if joint not in model.slices:
        raise ValueError(unknown("joint", joint, model.slices))
    array = real_array("q", q)
    if array.shape != (model.nq,):
        raise ValueError(f"q has shape {array.shape}; give {model.nq} numbers")
    if not np.isfinite(array).all():
        raise ValueError("q is not finite")
    return model.body_tree.links[model.joint_names.index(joint)], array[model.slices[joint][0]]
