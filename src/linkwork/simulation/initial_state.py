"""States that a run can start from, or go on from: of the right shape, finite, quaternions of length one."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from linkwork.model import nonfinite
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.real_numbers import real_array, shown
from linkwork.recording.batch import Recordings

Array = np.ndarray

_BEYOND = 1e-2  # of the range of a limit; [rad, m] of one that has no other side
_LENGTH_ONE = 1e-12  # a quaternion this close is left as it is, to the last bit


def checked_state(model: Model, state: Any) -> State:
    """Return a state of its own for a run; ValueError names what is wrong with it."""
    if not isinstance(state, State):
        many = isinstance(state, Recordings)
        give = "one of runs.finals, or q= and v= of all of them" if many else "model.state(...) or run.final"
        raise ValueError(f"state is {shown(state)}; give {give}")
    if np.ndim(state.q) == 2:
        raise ValueError(f"state is of {len(state.q)} mechanisms; give q=state.q, v=state.v in its place")
    q, v = checked(model, "q", state.q, 1), checked(model, "v", state.v, 1)
    if not isinstance(state.t, int | float | np.number) or not isfinite(state.t):
        raise ValueError(f"state.t is {state.t!r}; give a finite time")
    return State(q, v, float(state.t), state.memory, state.inputs, model.slices, state.controllers)


def checked(model: Model, word: str, value: Any, axes: int) -> Array:
    """Return positions "q" or velocities "v" as an array of their own, of one axis or of up to two."""
    size = model.nq if word == "q" else model.nv
    array = real_array(word, value)
    if not 1 <= array.ndim <= axes or array.shape[-1] != size:
        wanted = f"({size},)" if axes == 1 else f"(runs, {size})"
        own = model.link_tree.unknowns if word == "q" else 0
        behind = f", {own} of them unknowns of constraints, as model.state(...).q has" if own else ""
        raise ValueError(f"{word} has shape {array.shape}; give {wanted}{behind}")
    if not isfinite(np.vdot(array, array)) and not np.isfinite(array).all():  # squares are the quicker test
        odd = np.argwhere(~np.isfinite(array))[0]
        _complain(model, word, odd, f"is {array[tuple(odd)]}; give a finite one")
    return _normalised(model, array) if word == "q" else array


def closed(
    model: Model, q: Array, v: Array, t: float = 0.0, inputs: Mapping[str, Any] | None = None
) -> tuple[Array, Array]:
    """Return positions and velocities near those given, with closed loops; or AssemblyError.

    Drivers are where they are at time t, with the inputs that they read.
    """
    driving = {name: inputs[name] for name in model.link_tree.inputs if name in inputs} if inputs else None
    q = model.assemble(q, t=t, inputs=driving)
    return q, model.closed_velocity(q, v, t=t, inputs=driving)


def outside_limits(model: Model, q: Array) -> str:
    """Say which joints start beyond their limits, positions (..., nq); nothing if none does.

    A little beyond, by a hundredth of the range, is where a stop yields, and no mistake.
    """
    found = []
    for name in model.limited_joints:
        positions, velocities = model.slices[name]
        at = model.joints[name].displacement([q[..., k] for k in range(positions.start, positions.stop)])
        low, high = model.limits[velocities].T
        room = _BEYOND * np.where(np.isfinite(high - low), high - low, 1.0)
        away = np.stack([np.asarray(x, float) for x in at or ()], axis=-1)
        wide = np.argwhere((away < low - room) | (away > high + room))
        if len(wide):
            *run, k = wide[0].tolist()
            of = f" of run {run[0]}" if run else ""
            found.append(f"joint {name!r}{of} at {away[(*run, k)]:.6g}, limits ({low[k]:.6g}, {high[k]:.6g})")
    if not found:
        return ""
    also = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return (
        f"the start is outside of limits: {'; '.join(found[:3])}{also}; stops push back at once: start "
        "within, by model.state(...)"
    )


def _normalised(model: Model, q: Array) -> Array:
    """Bring the quaternions of positions (..., nq) to length one."""
    if not len(model.quaternions):
        return q
    with np.errstate(over="ignore"):
        squares = (q[..., model.quaternions[:, None] + np.arange(4)] ** 2).sum(axis=-1)
    odd = (np.abs(squares - 1.0) > _LENGTH_ONE).reshape(-1, len(model.quaternions)).any(axis=0)
    for first in model.quaternions[odd].tolist():
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
