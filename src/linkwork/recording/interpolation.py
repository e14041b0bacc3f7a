"""Pictures of few samples: more of them, on cubics that have the values and the rates of two neighbours."""

import numpy as np

from linkwork.recording.samples import Samples

Array = np.ndarray

_ENOUGH, _MOST = 500, 16  # samples of a picture; parts of a step


def refined(run: Samples) -> tuple[Array, Array, Array, Array] | None:
    """Return times, positions, velocities and work of a live run as pictures want them; None: as they are."""
    parts = min(-(-_ENOUGH // max(len(run.time), 1)), _MOST)
    if parts == 1 or len(run.time) < 3:
        return None
    model, t, s = run.model, run.time, np.arange(parts) / parts
    rates = model.position_rates(run.q, run.v), run.a, np.gradient(run.work, t)
    q, v, work = (_between(t, x, rate, s) for x, rate in zip((run.q, run.v, run.work), rates, strict=True))
    for first in model.quaternions.tolist():
        q[:, first : first + 4] /= np.linalg.norm(q[:, first : first + 4], axis=1, keepdims=True)
    return np.append((t[:-1, None] + np.diff(t)[:, None] * s).ravel(), t[-1]), q, v, work


def _between(t: Array, x: Array, rate: Array, s: Array) -> Array:
    """Return x (S, ...), known with its rates at times t, at the parts s of the steps between, and last."""
    shape = (-1, *[1] * x.ndim)
    h, s = np.diff(t).reshape(shape), s.reshape(1, *shape[:-1])
    a, b, m, n = (y[:, None] for y in (x[:-1], x[1:], rate[:-1], rate[1:]))
    return np.concatenate([cubic(a, h * m, b, h * n, s).reshape(-1, *x.shape[1:]), x[-1:]])


def cubic(x: Array, dx: Array, y: Array, dy: Array, s: Array | float) -> Array:
    """Return Hermite's cubic, from x to y as s goes from 0 to 1."""
    return (
        (1.0 + 2.0 * s) * (1.0 - s) ** 2 * x
        + s * (1.0 - s) ** 2 * dx
        + s**2 * (3.0 - 2.0 * s) * y
        - s**2 * (1.0 - s) * dy
    )
