"""Runs with contact: a `Simulation` that goes through the times of its samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording.recording import Recording
from linkwork.simulation.checkpoint import Checkpoint, CheckpointFile, run_identity
from linkwork.simulation.failure import SimulationFailed
from linkwork.simulation.options import GivenOptions, sample_times
from linkwork.simulation.run_settings import setting
from linkwork.simulation.stepping import Simulation

Array = np.ndarray

_BATCH_SAMPLES = 101  # of each run of a batch, unless times are given


def run_with_contact(
    model: Model,
    words: GivenOptions,
    span: float,
    start: Mapping[str, Any],
    samples: tuple[Any, Any],
    threads: int,
    check: bool,
    checkpoint: Checkpoint | None = None,
) -> Any:
    """Return the recording of a run, or of a batch; `start` has state, q, v, vary and inputs, as given.

    `samples` are `times` and `every`.
    """
    state, batch = start.get("state"), any(start.get(word) is not None for word in ("q", "v", "vary"))
    t0 = 0.0 if state is None else (state.final if isinstance(state, Recording) else state).t
    times = _times(t0, span, *samples, words.step, batch)
    options = {word: getattr(words, word) for word in GivenOptions.__dataclass_fields__}
    try:
        sim = Simulation(model, **start, **options, threads=threads, record=max(len(times), 1))
    except ValueError as error:
        raise ValueError(str(error).removeprefix("Simulation: ")) from None
    kept = None
    if checkpoint is not None:
        identity = run_identity(setting(sim.model, words), sim.state, span, times)
        kept = CheckpointFile(checkpoint, identity)
    try:
        sim.go_through(times.tolist(), kept)
    except SimulationFailed:
        if check:
            raise
    return sim.recording


def _times(t0: float, span: float, times: Any, every: Any, step: float, batch: bool) -> Array:
    """Return the times of the samples: those asked for, or the ends of the steps."""
    if times is None and every is None:
        if batch:
            return np.linspace(t0, t0 + span, _BATCH_SAMPLES)
        count = int(span / step * (1.0 + 1e-12))
        grid = t0 + step * np.arange(count + 1)
        return grid if grid[-1] >= t0 + span - 1e-9 * step else np.append(grid, t0 + span)
    return sample_times(t0, span, times, every)


def rows_between(run: Recording, k: int, times: Array, words: GivenOptions) -> Array:
    """Return q, v and the work (T, nq + nv + 1) at rising times between samples k and k + 1 of a run."""
    start = State(run.q[k], run.v[k], float(run.time[k]), None, run._channels.part(k).inputs)
    span = float(times[-1]) - start.t
    again = run_with_contact(run.model, words, span, {"state": start}, (times, None), 1, True)
    return np.column_stack([again.q, again.v, run.work[k] + again.work])
