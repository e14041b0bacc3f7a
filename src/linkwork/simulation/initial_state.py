"""States that a run can start from, or go on from: of the right shape, finite, quaternions of length one."""

from math import isfinite
from typing import Any

import numpy as np

from linkwork.dynamics.kernel import real_array
from linkwork.model import nonfinite
from linkwork.model.model import Model
from linkwork.model.state import State

Array = np.ndarray

_LENGTH_ONE = 1e-12  # a quaternion this close is left as it is, to the last bit


def checked_state(model: Model, state: Any) -> State:
    """Return a state of its own for a run; ValueError names what is wrong with it."""
    if not isinstance(state, State):
        raise ValueError(f"state is a {type(state).__name__}; give model.state(...) or run.final")
    q, v = checked(model, "q", state.q, 1), checked(model, "v", state.v, 1)
    if not isinstance(state.t, int | float | np.number) or not isfinite(state.t):
        raise ValueError(f"state.t is {state.t!r}; give a finite time")
    return State(q, v, float(state.t), state.memory, state.inputs, model.slices)


def checked(model: Model, word: str, value: Any, axes: int) -> Array:
    """Return positions "q" or velocities "v" as an array of their own, of one axis or of up to two."""
    size = model.nq if word == "q" else model.nv
    array = real_array(word, value)
    if not 1 <= array.ndim <= axes or array.shape[-1] != size:
        wanted = f"({size},)" if axes == 1 else f"(runs, {size})"
        raise ValueError(f"{word} has shape {array.shape}; give {wanted}")
    if not isfinite(np.vdot(array, array)) and not np.isfinite(array).all():  # squares are the quicker test
        odd = np.argwhere(~np.isfinite(array))[0]
        _complain(model, word, odd, f"is {array[tuple(odd)]}; give a finite one")
    return _normalised(model, array) if word == "q" else array


def closed(model: Model, q: Array, v: Array, t: float = 0.0) -> tuple[Array, Array]:
    """Return positions and velocities near those given, with closed loops at time t; or AssemblyError."""
    q = model.assemble(q, t=t)
    return q, model.closed_velocity(q, v, t=t)


def _normalised(model: Model, q: Array) -> Array:
    """Bring the quaternions of positions (..., nq) to length one."""
    for first in model.quaternions.tolist():
        part = q[..., first : first + 4]
        largest = np.abs(part).max(axis=-1, keepdims=True)
        zero = np.argwhere(largest == 0.0)
        if len(zero):
            where = (*zero[0][:-1], first)
            _complain(model, "q", where, "begins a quaternion of zeros; give one of length 1")
        length = largest * np.linalg.norm(part / largest, axis=-1, keepdims=True)
        np.divide(part, length, out=part, where=np.abs(length - 1.0) > _LENGTH_ONE)
    return q


def _complain(model: Model, word: str, at: Any, complaint: str) -> None:
    *run, k = at
    what = nonfinite.component(model, int(k) + (model.nq if word == "v" else 0))
    of = f" of run {run[0]}" if run else ""
    raise ValueError(f"the {what}{of} {complaint}")
