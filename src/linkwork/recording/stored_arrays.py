"""The arrays of a recording's file: their shapes, and states among them."""

from collections.abc import Mapping

import numpy as np

from linkwork.model.state import State
from linkwork.recording.contact_quantities import CONTACT_WORDS
from linkwork.recording.layout import Layout

Array = np.ndarray


def check_shapes(arrays: Mapping[str, Array], layout: Layout, lead: tuple[int, ...]) -> None:
    """Raise ValueError if an array has not one entry per sample, or not the size of the mechanism."""
    if arrays["time"].shape != lead[-1:]:
        raise ValueError(f"array 'time' has shape {arrays['time'].shape}, not {lead[-1:]}")
    if not np.isfinite(arrays["time"]).all() or (np.diff(arrays["time"]) < 0.0).any():
        raise ValueError("its times do not rise")
    sizes = {"q": (layout.nq,), "v": (layout.nv,), "work": ()}
    for name, inner in (sizes | layout.shapes()).items():
        if name in arrays and arrays[name].shape != (*lead, *inner):
            raise ValueError(f"array {name!r} has shape {arrays[name].shape}, not {(*lead, *inner)}")
    found = arrays.get("contacts")
    if found is not None and (found.shape[:-2] != lead or found.shape[-1] != CONTACT_WORDS):
        raise ValueError(f"the contacts have shape {found.shape} for samples {lead}")
    for name in layout.loads:
        array = arrays.get(f"load/{name}")
        if array is not None and (array.ndim != len(lead) + 1 or array.shape[: len(lead)] != lead):
            raise ValueError(f"the force of {name!r} has shape {array.shape} for samples {lead}")


def store_final(arrays: dict[str, Array], prefix: str, state: State) -> list[str] | None:
    """Add a state to arrays, with its memory as it is; return the names of what is in that memory."""
    arrays |= {f"{prefix}/q": state.q, f"{prefix}/v": state.v, f"{prefix}/t": np.array(state.t, dtype=float)}
    arrays |= {f"{prefix}/inputs/{name}": np.array(value, float) for name, value in state.inputs.items()}
    arrays |= {f"{prefix}/controllers/{name}": np.array(x, float) for name, x in state.controllers.items()}
    if state.memory is None:
        return None
    arrays |= {f"{prefix}/memory/{name}": np.asarray(array) for name, array in state.memory.items()}
    return list(state.memory)


def restored_final(
    arrays: Mapping[str, Array], prefix: str, names: list[str] | None, layout: Layout
) -> State:
    """Return the state that `store_final` put there."""
    memory = None if names is None else {name: arrays[f"{prefix}/memory/{name}"] for name in names}
    q, v, t = (arrays[f"{prefix}/{part}"] for part in "qvt")
    if q.shape != (layout.nq,) or v.shape != (layout.nv,) or t.shape != ():
        raise ValueError(f"the state {prefix!r} has shapes {q.shape}, {v.shape}, {t.shape}")
    first = f"{prefix}/inputs/"
    inputs = {name.removeprefix(first): float(x) for name, x in arrays.items() if name.startswith(first)}
    first = f"{prefix}/controllers/"
    controllers = {name.removeprefix(first): x for name, x in arrays.items() if name.startswith(first)}
    return State(q, v, float(t), memory, inputs, layout.slices, controllers)
