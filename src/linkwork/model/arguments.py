"""Arguments of a model's functions as arrays of one batch, and results as users want them."""

from typing import Any

import numpy as np

from linkwork.dynamics.kernel import check_out
from linkwork.real_numbers import real_array

Array = np.ndarray


def together(*arguments: tuple[str, Any, tuple[int, ...]]) -> tuple[list[Array], tuple[int, ...]]:
    """Return arrays of one batch, what is not batched repeated, and the batch's shape."""
    arrays = [real_array(name, x) for name, x, _ in arguments]
    extra = [a.shape[: a.ndim - len(shape)] for a, (_, _, shape) in zip(arrays, arguments, strict=True)]
    batch = max(extra, key=len)
    if any(own not in ((), batch) for own in extra):
        named = zip((name for name, _, _ in arguments), arrays, strict=True)
        sizes = ", ".join(f"{name} has shape {array.shape}" for name, array in named)
        raise ValueError(f"batches of different sizes: {sizes}")
    return [
        a if own == batch else np.broadcast_to(a, (*batch, *a.shape)).copy()
        for a, own in zip(arrays, extra, strict=True)
    ], batch


def delivered(name: str, value: Array, out: Array | None) -> Any:
    """Return a value in `out`, or as a fresh array, or as a float if it is one number."""
    if out is None:
        return float(value) if np.ndim(value) == 0 else np.ascontiguousarray(value)
    check_out(name, out, np.shape(value))
    out[...] = value
    return out
