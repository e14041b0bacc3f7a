"""What a mechanism can do at one position: freedoms, redundant equations, free motions, dead points."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import loop_closure
from linkwork.dynamics.mobility import Branch, Surroundings, branches, trend
from linkwork.dynamics.null_space import RANK, Split, pivots
from linkwork.model import idle_forces
from linkwork.model.dimensionless import equations, every_velocity, split_equations
from linkwork.model.findings import DeadJoint, Diagnosis, Drives, FreeMotion
from linkwork.model.independent_coordinates import position
from linkwork.model.loop_closing import moved_by
from linkwork.model.loop_equations import row_velocities
from linkwork.real_numbers import real_array

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

_OPEN = 1e-9  # a gap, without units: what is wider is closed first
_NEAR = 0.2  # a way, without units: what is farther is not reported


def diagnose(
    model: "Model", q: Array | None = None, v: Array | None = None, *, driven: Iterable[str] | None = None
) -> Diagnosis:
    """Report degrees of freedom, rank, redundant joints, what can move, and which dead points are near.

    At position q, closed first if it is open; as drawn, if not given. With a velocity v the way to a
    singular position is given as a time, too; with `driven` joints, whether they move everything. Print it,
    or read its fields. A singular value below 1e-6, beside the largest, or 1, is zero.
    """
    given = model.q_drawn if q is None else position(model, "diagnose", q)
    if given.ndim != 1:
        raise ValueError(f"diagnose: q has shape {given.shape}; give {model.nq} numbers, of one position")
    speed = np.zeros(model.nv) if v is None else real_array("diagnose: v", v)
    if speed.shape != (model.nv,):
        raise ValueError(f"diagnose: v has shape {speed.shape}; give {model.nv} numbers")
    open_by = _open_by(model, given)
    where = np.array(given) if open_by <= _OPEN else model.assemble(given)
    scales, near, parts = model.loop_scales, _surroundings(model), split_equations(model, where)
    rank = int(parts.rank)
    N = parts.motions(rank)
    found = branches(near, where, parts)
    freedoms = max((branch.tangents.shape[1] for branch in found), default=0)
    count = len(scales.weights)
    most = min(model.nv - freedoms, count)  # those of a shaky structure count when it is pushed
    rank_near = max([rank, most, *(branch.rank for branch in found)])
    idle = idle_forces.idle_forces(model, where, parts.idle(rank))
    rates = _rates(model, where, N)
    return Diagnosis(
        name=model.name,
        q=where,
        open_by=open_by,
        bodies=len(model.body_names),
        joints=(*model.joint_names, *model.loop_names),
        constraints=tuple(model.constraint_units),
        loops=model.loop_names,
        coordinates=scales.every_name,
        units=scales.every_unit,
        freedoms=freedoms,
        freedoms_now=N.shape[1],
        velocities=model.nv,
        equations=count,
        rank=rank,
        rank_near=rank_near,
        singular_values=parts.sizes,
        motion=_motion(model, where, N),
        branches=tuple(_motion(model, where, branch.tangents) for branch in found),
        infinitesimal=_motion(model, where, _outside(N, found)),
        locked=_locked(model, rates, found),
        redundant=idle_forces.ranks(model, idle),
        not_unique=idle_forces.components(model, idle),
        idle_forces=idle / idle_forces.scale(model),
        **_singularity(model, near, where, parts, rank_near, speed),
        dead_points=_dead_points(model, where, N, rates, found),
        drives=None if driven is None else _what_drives(model, where, N, rates, driven),
        notes=model.notes,
    )


def _singularity(
    model: "Model", near: Surroundings, q: Array, parts: Split, rank_near: int, speed: Array
) -> dict[str, Any]:
    """Return how far a singular position is, by the smallest singular value that counts: fields by name."""
    rank, scales = int(parts.rank), model.loop_scales
    N = parts.motions(rank)
    margin = float(parts.sizes[rank_near - 1]) if rank == rank_near > 0 else 0.0 if rank_near else np.inf
    slopes = np.zeros(N.shape[1])
    if 0.0 < margin < np.inf:
        slopes = trend(near, q, N, rank_near - 1, margin)
    slope = float(np.linalg.norm(slopes))
    falls = -float(slopes @ (N.T @ (speed / scales.scale)))
    opening = np.abs(row_velocities(model, q, speed) * scales.weights)
    return {
        "margin": margin,
        "weakest": _loop_of(model, parts.left[:, rank_near - 1]) if rank_near else "",
        "slope": slope,
        "singular_ahead": margin / slope if slope > 1e-9 else np.inf,
        "time_ahead": margin / falls if falls > 1e-12 else np.inf,
        "opening": float(opening.max(initial=0.0)),
    }


def _loop_of(model: "Model", row_force: Array) -> str:
    """Return the loop that a force on the equations belongs to most."""
    parts = {name: float(np.linalg.norm(row_force[rows])) for name, rows in model.row_slices.items()}
    return max(parts, key=lambda name: parts[name])


def _surroundings(model: "Model") -> Surroundings:
    weights, scale = model.loop_scales.weights, model.loop_scales.scale

    def right(q: Array, motions: Array) -> Array:
        many = np.broadcast_to(q, (len(motions), model.nq)).copy()
        return model.kernel_of(loop_closure.BIAS)(many, motions * scale)[0] * weights

    return Surroundings(
        lambda q: equations(model, q),
        lambda q: model.constraint_residual(q) * weights,
        right,
        lambda q, change: moved_by(model, q, change * scale),
    )


def _open_by(model: "Model", q: Array) -> float:
    return float(np.abs(model.constraint_residual(q) * model.loop_scales.weights).max(initial=0.0))


# motions


def _rates(model: "Model", q: Array, motions: Array) -> Array:
    """Return the velocities of all joints without units under motions without units."""
    scales = model.loop_scales
    return (every_velocity(model, q) @ (scales.scale[:, None] * motions)) / scales.every_scale[:, None]


def _motion(model: "Model", q: Array, motions: Array) -> FreeMotion:
    """Return motions as they are reported: in turn, one independent velocity is 1."""
    scales = model.loop_scales
    chosen = sorted(pivots(motions, scales.preference))
    scaled = motions @ np.linalg.inv(motions[chosen]) if chosen else motions
    rates = _rates(model, q, scaled) * scales.every_scale[:, None] / scales.scale[chosen]
    rates[np.abs(rates) < 1e-9 * np.abs(rates).max(initial=0.0)] = 0.0
    names = tuple(model.coordinate_names[k] for k in chosen)
    return FreeMotion(names, scales.every_name, np.ascontiguousarray(rates.T))


def _near(model: "Model", found: list[Branch]) -> Array:
    """Return how much all coordinates move somewhere near."""
    most = np.zeros(len(model.loop_scales.every_name))
    for branch in found:
        motions = split_equations(model, branch.there).motions(branch.rank)
        most = np.maximum(most, np.linalg.norm(_rates(model, branch.there, motions), axis=1))
    return most


def _locked(model: "Model", rates: Array, found: list[Branch]) -> tuple[str, ...]:
    still = (np.linalg.norm(rates, axis=1) < RANK) & (_near(model, found) < RANK)
    return tuple(name for name, locked in zip(model.loop_scales.every_name, still, strict=True) if locked)


def _dead_points(
    model: "Model", q: Array, N: Array, rates: Array, found: list[Branch]
) -> tuple[DeadJoint, ...]:
    """Return the coordinates that stand still at q, or very near, while others move."""
    if len(found) != 1 or found[0].tangents.shape[1] != N.shape[1]:
        return ()
    best = pivots(N, model.loop_scales.preference)[0]
    lengths, near = np.linalg.norm(rates, axis=1), _near(model, found)
    here = (lengths < RANK) & (near >= RANK)
    ahead = np.zeros(len(lengths))
    if N.shape[1] == 1:
        ahead = _way_to_rest(model, q, N, rates) * rates[best, 0] * model.loop_scales.scale[best]
    reported = here | (
        (lengths >= RANK) & (np.abs(ahead) < _NEAR * model.loop_scales.scale[best]) & (ahead != 0.0)
    )
    name = model.coordinate_names[best]
    return tuple(
        DeadJoint(model.loop_scales.every_name[k], bool(here[k]), name, 0.0 if here[k] else float(ahead[k]))
        for k in np.flatnonzero(reported)
        if k != best
    )


def _way_to_rest(model: "Model", q: Array, N: Array, rates: Array) -> Array:
    """Return how far the one free motion goes until each coordinate stands still, extrapolated."""
    h, near = 1e-4, _surroundings(model)
    sides = []
    for way in (h, -h):
        there = near.moved(q, way * N[:, 0])
        motion = split_equations(model, there).right[:, -1:]
        motion = motion * np.sign(motion[:, 0] @ N[:, 0])
        sides.append(_rates(model, there, motion)[:, 0])
    change = (sides[0] - sides[1]) / (2.0 * h)
    changing = np.abs(change) > 1e-6
    return np.where(changing, -rates[:, 0] / np.where(changing, change, 1.0), np.inf)


def _what_drives(model: "Model", q: Array, N: Array, rates: Array, driven: Iterable[str]) -> Drives:
    names = (driven,) if isinstance(driven, str) else tuple(driven)
    chosen = rates[model.loop_scales.chosen("driven", names)]
    _, sizes, right = np.linalg.svd(chosen) if chosen.size else (0, np.zeros(0), np.eye(N.shape[1]))
    moves = int((sizes > RANK).sum())
    quality = float(sizes[-1]) if len(sizes) == N.shape[1] > 0 else 0.0 if N.shape[1] else 1.0
    return Drives(names, N.shape[1] - moves, quality, _motion(model, q, N @ right[moves:].T))


def _outside(N: Array, found: list[Branch]) -> Array:
    """Return the free motions that are square to all branches."""
    if not found:
        return N
    T = N.T @ np.hstack([branch.tangents for branch in found])
    left, sizes, _ = np.linalg.svd(T)
    return N @ left[:, int((sizes > 1e-3).sum()) :]
