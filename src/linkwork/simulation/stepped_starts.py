"""Where simulations that are stepped begin: one mechanism, a batch, or some mechanisms of a batch."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.model.state import State
from linkwork.simulation.run_request import (
    closed_states,
    each_of,
    start_inputs,
    start_state,
    start_states,
    variant_states,
)
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.variant_groups import Variants

Array = np.ndarray


def starting(
    setting: RunSettings, batch: bool, variants: Variants | None, state: Any, q: Any, v: Any, inputs: Any
) -> State:
    """Return a state to begin with, all inputs in it; the arrays of a batch have a leading axis."""
    if q is not None or v is not None:
        if state is not None or not batch:
            raise ValueError("q= and v= are for batches; give no state with them")
        return _several(setting, variants, q, v, 0.0, {}, inputs)
    if not batch:
        start = start_state(setting.system.model, state, inputs=inputs)
        values = np.atleast_2d(start_inputs(setting.inputs, start.inputs, inputs, 1))[0]
        return replace(start, inputs=dict(zip(setting.inputs, values.tolist(), strict=True)))
    if variants and state is None:
        return _several(setting, variants, None, None, 0.0, {}, inputs)
    if not isinstance(state, State) or (np.ndim(state.q) != 2 and not variants):
        raise ValueError("this is a batch; give q= and v=, or the state of a batch")
    start = _several(setting, variants, state.q, state.v, float(state.t), state.inputs, inputs)
    return replace(start, controllers=state.controllers)


def starting_some(
    setting: RunSettings,
    variants: Variants | None,
    start: State,
    chosen: Array,
    t: float,
    q: Any,
    v: Any,
    inputs: Any,
) -> State:
    """Return the states in which some mechanisms of a batch begin anew; what is not given is as at first."""
    before = {name: np.asarray(value)[chosen] for name, value in start.inputs.items()}
    q, v = (old[chosen] if new is None else new for old, new in ((start.q, q), (start.v, v)))
    some = _several(setting, variants, q, v, t, before, inputs, chosen)
    if len(some.q) != chosen.size:
        raise ValueError(f"q and v are of {len(some.q)} mechanisms; `where` chooses {chosen.size}")
    return some


def _several(
    setting: RunSettings,
    variants: Variants | None,
    q: Any,
    v: Any,
    t: float,
    before: Mapping[str, Any],
    inputs: Any,
    which: Array | None = None,
) -> State:
    model = setting.system.model
    if not variants:
        q, v = start_states(model, q, v)
    count = len(q) if not variants else variants.count if which is None else len(which)
    values = start_inputs(setting.inputs, before, inputs, count)
    values = np.broadcast_to(values, (count, len(setting.inputs)))
    named = dict(zip(setting.inputs, values.T, strict=True))
    if not variants:
        return closed_states(model, State(q, v, t, None, named))
    q, v = variant_states(model, variants, q, v, t, each_of(named, count), which)
    return State(q, v, t, None, named)


def rows_of(start: State) -> tuple[Array, Array]:
    """Return states (N, n), work of applied forces included, and inputs (N, nu)."""
    q, v = np.atleast_2d(start.q), np.atleast_2d(start.v)
    columns = [np.broadcast_to(value, len(q)) for value in start.inputs.values()]
    values = np.stack(columns, axis=-1) if columns else np.empty((len(q), 0))
    return np.hstack([q, v, np.zeros((len(q), 1))]), values
