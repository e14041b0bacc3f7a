"""Closed mechanisms in independent coordinates.

With N the free motions (J N = 0) and E the velocities of the chosen joints, y = E v,

    v = B y,  B = N (E N)^-1,     a = B dy/dt + c,  J c = right, E c + dE/dt v = 0
    B^T tau = (B^T M B) dy/dt + B^T (M c + h)
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import loop_closure
from linkwork.dynamics.null_space import RANK, pivots
from linkwork.errors import LinkworkError
from linkwork.model.arguments import delivered, together
from linkwork.model.dimensionless import every_velocity, split_equations

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray


def independent_joints(model: "Model", q: Array | None = None) -> tuple[str, ...]:
    """Return joints whose velocities determine all others, one per freedom at q (as drawn).

    Chosen so that all others follow from them as gently as possible; of positions (N, nq), in the worst
    of them. Joints on ground, and those with motors, are preferred to others up to twice as good. Of a
    joint with several freedoms there may be a part: "ball[2]" is its third velocity.
    """
    where = model.assemble() if q is None else position(model, "independent_joints", q)
    chosen = pivots(free_motions(model, where), model.loop_scales.preference)
    return tuple(model.coordinate_names[k] for k in sorted(chosen))


def velocity_map(
    model: "Model", q: Array, independent: Iterable[str] | None = None, *, out: Array | None = None
) -> Array:
    """Return B (nv, freedoms): all velocities v = B y keep the loops closed and give `independent` y.

    Joints are named as in `independent_joints`, which chooses them unless they are given; they may be
    such that close loops. The order of y is that of the names.
    """
    where = position(model, "velocity_map", q)
    names = independent_joints(model, where) if independent is None else independent
    return delivered("velocity_map", _map(model, where, names)[0], out)


def velocity_map_rate(
    model: "Model", q: Array, v: Array, independent: Iterable[str] | None = None, *, out: Array | None = None
) -> Array:
    """Return c (nv,) = dB/dt y: how all joints accelerate while the velocities y of some are constant.

    The loops stay closed under a = B dy/dt + c; v is that of the whole mechanism, v = B y.
    """
    (where, speed), _ = together(("q", q, (model.nq,)), ("v", v, (model.nv,)))
    where = position(model, "velocity_map_rate", where)
    names = independent_joints(model, where) if independent is None else independent
    return delivered("velocity_map_rate", _map_and_rate(model, where, speed, names)[1], out)


# the equations of motion in independent coordinates


def mass_matrix(model: "Model", q: Array, independent: Iterable[str], out: Array | None) -> Array:
    """Return the mass matrix of the closed mechanism in independent joints: B^T M B."""
    B = velocity_map(model, q, independent)
    M = np.swapaxes(B, -1, -2) @ model.mass_matrix(q) @ B
    return delivered("mass_matrix", 0.5 * (M + np.swapaxes(M, -1, -2)), out)


def bias_forces(model: "Model", q: Array, v: Array, independent: Iterable[str], out: Array | None) -> Array:
    """Return the forces in independent joints that keep their velocities constant: B^T (M c + h)."""
    (where, speed), _ = together(("q", q, (model.nq,)), ("v", v, (model.nv,)))
    B, c = _map_and_rate(model, position(model, "bias_forces", where), speed, independent)
    tau = model.inverse_dynamics(where, speed, c)
    return delivered("bias_forces", (np.swapaxes(B, -1, -2) @ tau[..., None])[..., 0], out)


def gravity_forces(model: "Model", q: Array, independent: Iterable[str], out: Array | None) -> Array:
    """Return the forces in independent joints that hold the mechanism at rest."""
    B = velocity_map(model, q, independent)
    tau = model.gravity_forces(q)
    return delivered("gravity_forces", (np.swapaxes(B, -1, -2) @ tau[..., None])[..., 0], out)


# what they are made of


def position(model: "Model", what: str, q: Any) -> Array:
    """Return a position, or positions (N, nq), checked."""
    model.constraint_residual(q)  # checks q, and names the joint that is not finite
    array = np.asarray(q, float)
    if array.ndim > 2:
        raise ValueError(f"{what}: q has shape {array.shape}; give ({model.nq},) or (N, {model.nq})")
    return array


def free_motions(model: "Model", q: Array) -> Array:
    """Return the free motions without units, (..., nv, freedoms); of many positions they are as many."""
    parts = split_equations(model, q)
    ranks = np.unique(parts.rank)
    if len(ranks) > 1:
        few, many = model.nv - int(ranks[-1]), model.nv - int(ranks[0])
        k = int(np.argmin(parts.rank))
        raise LinkworkError(
            f"mechanism {model.name!r} has {few} freedoms in some of these positions and {many} in others "
            f"(number {k}, for one); leave out the singular ones: model.diagnose(q) finds them"
        )
    return parts.motions(int(ranks[0]) if len(ranks) else 0)


def _map(model: "Model", q: Array, names: Iterable[str]) -> tuple[Array, Array, list[int]]:
    """Return B, the free motions without units, and the numbers of the independent coordinates."""
    names, scales = [names] if isinstance(names, str) else list(names), model.loop_scales
    chosen = scales.chosen("independent", names)
    N = free_motions(model, q)
    said = ", ".join(map(repr, names)) or "no joint"
    if len(chosen) != N.shape[-1]:
        raise LinkworkError(
            f"independent: {said}: {_count(len(chosen), 'velocity', 'velocities')}, and mechanism "
            f"{model.name!r} has {_count(N.shape[-1], 'freedom', 'freedoms')} at q; {_suggestion(model, N)}"
        )
    E = every_velocity(model, q)[..., chosen, :] * scales.scale
    own = scales.every_scale[chosen]
    EN = E @ N / own[:, None]
    sizes = np.linalg.svd(EN, compute_uv=False)
    if (sizes < RANK).any():
        raise LinkworkError(
            f"independent: {said}: at a dead point{which(sizes.min(axis=-1) < RANK)}, others can move "
            f"while they stand still; {_suggestion(model, N)}"
        )
    B = scales.scale[:, None] * (N @ np.linalg.inv(EN)) / own
    return B, N, chosen


def _map_and_rate(model: "Model", q: Array, v: Array, names: Iterable[str]) -> tuple[Array, Array]:
    B, N, chosen = _map(model, q, names)
    if not model.link_tree.loops:
        return B, np.zeros(v.shape)
    parts, scales = split_equations(model, q), model.loop_scales
    right = model.kernel_of(loop_closure.BIAS)(q, v)[0] * scales.weights
    c = scales.scale * parts.least(model.nv - N.shape[-1], right)
    still = np.zeros(v.shape)
    drift = np.concatenate([still, model.loop_accelerations(q, v, still)], axis=-1)
    gained = every_velocity(model, q)[..., chosen, :] @ c[..., None] + drift[..., chosen, None]
    return B, c - (B @ gained)[..., 0]


def _suggestion(model: "Model", N: Array) -> str:
    numbers = sorted(pivots(N, model.loop_scales.preference))
    chosen = ", ".join(repr(model.coordinate_names[k]) for k in numbers)
    return f"choose {chosen}" if chosen else "nothing can move"


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def which(bad: Any) -> str:
    """Say which state of a batch is meant."""
    return f" (state {int(np.argmax(bad))})" if np.ndim(bad) else ""
