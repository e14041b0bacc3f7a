"""Forces of a chosen set of drives in a closed mechanism.

With N the free motions (J N = 0) and E the velocities of the driven joints, drives f give the acceleration a,
whatever the loops bear, if  N^T E^T f = N^T (M a + h).
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import loop_closure
from linkwork.dynamics.null_space import RANK
from linkwork.errors import AssemblyError, LinkworkError
from linkwork.model.arguments import delivered, together
from linkwork.model.dimensionless import every_velocity
from linkwork.model.independent_coordinates import free_motions, position, which

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

_OPEN = 1e-6  # of what is given, beside what it is made of: more is no rounding
_NEGLIGIBLE = 1e-9  # of the largest: what drives can do to a motion they do not move


def drive_forces(
    model: "Model", q: Any, v: Any, a: Any, driven: Iterable[str], forces: Any, out: Array | None
) -> Array:
    """Return the forces in driven joints that accelerations a take, the least in the sum of squares."""
    arguments = ("q", q, (model.nq,)), ("v", v, (model.nv,)), ("a", a, (model.nv,))
    (where, speed, gain), _ = together(*arguments)
    needed = model.inverse_dynamics(where, speed, gain, forces=forces)
    found = _drives(model, where, speed, gain, needed, driven)
    return delivered("inverse_dynamics", found, out)


def generalized_forces(
    model: "Model", q: Array, drives: Array, driven: Iterable[str], *, out: Array | None = None
) -> Array:
    """Return the joint forces (nv,) that do the work of drives in these joints, for `forward_dynamics`.

    The joints may be such that close loops. It takes what `inverse_dynamics` with `driven` gives.
    """
    chosen = model.loop_scales.chosen("driven", driven)
    (where, f), _ = together(("q", q, (model.nq,)), ("drives", drives, (len(chosen),)))
    if f.shape[-1:] != (len(chosen),):
        raise ValueError(f"drives has shape {f.shape}; give {len(chosen)} numbers")
    E = every_velocity(model, position(model, "generalized_forces", where))[..., chosen, :]
    tau = (np.swapaxes(E, -1, -2) @ f[..., None])[..., 0]
    return delivered("generalized_forces", tau, out)


def _drives(model: "Model", q: Array, v: Array, a: Array, needed: Array, driven: Iterable[str]) -> Array:
    names, scale = [driven] if isinstance(driven, str) else list(driven), model.loop_scales.scale
    chosen = model.loop_scales.chosen("driven", names)
    _check_closed(model, q, v, a)
    N = free_motions(model, q) * scale[:, None]
    NT = np.swapaxes(N, -1, -2)
    A = NT @ np.swapaxes(every_velocity(model, q)[..., chosen, :], -1, -2)
    work = NT @ needed[..., None]
    f = np.linalg.pinv(A, rcond=_NEGLIGIBLE) @ work if A.size else np.zeros((*A.shape[:-2], len(chosen), 1))
    lacking = (work - A @ f)[..., 0]
    beside = np.abs(needed * scale).max(axis=-1, initial=0.0)
    bad = np.abs(lacking).max(axis=-1, initial=0.0) > _OPEN * beside
    if bad.any():
        k = int(np.argmax(bad)) if bad.ndim else None
        way, short = (N, lacking) if k is None else (N[k], lacking[k])
        motion = _in_words(model, (way @ short) / np.linalg.norm(short))
        said = ", ".join(map(repr, names)) or "no joint"
        raise LinkworkError(
            f"drives of {said} cannot produce this acceleration{which(bad)}: they do not move {motion}; "
            "drive more joints, or others (at a dead point a joint drives nothing)"
        )
    return f[..., 0]


def _check_closed(model: "Model", q: Array, v: Array, a: Array) -> None:
    """Refuse positions, velocities and accelerations that open the loops."""
    if not model.link_tree.loops:
        return
    J, weights, scale = model.constraint_jacobian(q), model.loop_scales.weights, model.loop_scales.scale
    bound = np.abs(J * scale) * weights[:, None]
    right = model.kernel_of(loop_closure.BIAS)(q, v)[0]
    gaps = model.constraint_residual(q)
    for what, unit, opening, size, remedy in (
        ("position", "", gaps, np.ones(gaps.shape), "close it by model.assemble(q)"),
        (
            "velocity",
            "/s",
            (J @ v[..., None])[..., 0],
            (bound @ np.abs(v / scale)[..., None])[..., 0],
            "take model.closed_velocity(q, v)",
        ),
        (
            "acceleration",
            "/s^2",
            (J @ a[..., None])[..., 0] - right,
            (bound @ np.abs(a / scale)[..., None])[..., 0] + np.abs(right * weights),
            "take model.velocity_map(q) @ dy + model.velocity_map_rate(q, v)",
        ),
    ):
        bad = np.abs(opening * weights) > _OPEN * size + 1e-12
        if bad.any():
            row = int(np.argmax(bad.reshape(-1, bad.shape[-1]).any(axis=0)))
            name = next(name for name, part in model.row_slices.items() if part.start <= row < part.stop)
            worst = float(np.abs(opening[..., model.row_slices[name]]).max())
            raise AssemblyError(
                f"the {what} given opens joint {name!r}{which(bad.any(axis=-1))} by {worst:.3g} "
                f"(m or rad){unit}; {remedy}"
            )


def _in_words(model: "Model", motion: Array) -> str:
    """Say a motion by its largest velocities."""
    scaled = np.abs(motion / model.loop_scales.scale)
    order = [int(k) for k in np.argsort(-np.round(scaled, 9), kind="stable")[:4] if scaled[k] > RANK]
    return ", ".join(f"{model.coordinate_names[k]!r} ({motion[k]:.3g})" for k in order)
