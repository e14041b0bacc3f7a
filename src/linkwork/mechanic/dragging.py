"""Pulling a mechanism that stands: a point of a body follows, joints stay together, and no branch is changed.

With J the motion of the point by the velocities and N the free motions of the loops, the step is the
least-squares y of J N y = way, damped (Levenberg's method), so that nothing runs away near dead points; it is
taken in small pieces, the loops closed after each.
"""

from typing import Any

import numpy as np

from linkwork.errors import AssemblyError

Array = np.ndarray

_PIECE = 0.02  # of the mechanism's size, in one step
_STEPS = 24
_DAMPING = 1e-3
_TURN = 0.15  # of a coordinate in one step [rad, sizes]


def pulled(model: Any, q: Array, body: str, point: Array, target: Array) -> Array:
    """Return a position near q in which a point of a body is as near to a target as it can easily be."""
    number = model.body_names.index(body)
    size = model.size or 1.0
    for _ in range(_STEPS):
        way = np.asarray(target, float)[: _dimension(model)] - _place(model, q, number, point)
        length = float(np.linalg.norm(way))
        if length < 1e-9 * size:
            break
        way *= min(1.0, _PIECE * size / length)
        step = _step(model, q, body, point, way)
        if np.abs(step).max(initial=0.0) < 1e-12:
            break
        tried = _moved(model, q, step)
        try:
            tried = model.assemble(tried)
        except AssemblyError:
            break
        if (
            float(
                np.linalg.norm(
                    np.asarray(target, float)[: _dimension(model)] - _place(model, tried, number, point)
                )
            )
            >= length
        ):
            break
        q = tried
    return q


def _dimension(model: Any) -> int:
    return 3 if model.space == "space" else 2


def _place(model: Any, q: Array, number: int, point: Array) -> Array:
    pose = model.poses(q).array[number]
    size = _dimension(model)
    return pose[:, :size] @ np.asarray(point, float)[:size] + pose[:, size]


def _step(model: Any, q: Array, body: str, point: Array, way: Array) -> Array:
    size = _dimension(model)
    J = np.asarray(model.jacobian(q, body, np.asarray(point, float)[:size]))[-size:]
    if model.loop_names:
        C = model.constraint_jacobian(q)
        _, values, rows = np.linalg.svd(C, full_matrices=True)
        rank = int((values > 1e-8 * max(1.0, values.max(initial=0.0))).sum())
        N = rows[rank:].T
    else:
        N = np.eye(model.nv)
    A = J @ N
    scale = float(np.linalg.norm(A)) or 1.0
    y = np.linalg.solve(A.T @ A + _DAMPING * scale**2 * 1e-3 * np.eye(A.shape[1]), A.T @ way)
    step = N @ y
    largest = float(np.abs(step).max(initial=0.0))
    return step * min(1.0, _TURN / largest) if largest > 0.0 else step


def _moved(model: Any, q: Array, step: Array) -> Array:
    """Return the position after a small motion; quaternions are brought back to length one."""
    moved = q + np.asarray(model.position_rates(q, step))
    for first in model.quaternions.tolist():
        moved[first : first + 4] /= np.linalg.norm(moved[first : first + 4])
    return moved
