"""The runs of a forest: members that move by themselves, in lanes and threads; those that meet, as one."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from linkwork.model.model import Model
from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.recording.recording import Recording
from linkwork.simulation.batch_run import ManyRuns
from linkwork.simulation.initial_state import checked_state, closed
from linkwork.simulation.options import GivenOptions
from linkwork.simulation.polling import results
from linkwork.simulation.run_settings import setting
from linkwork.simulation.simulate import simulate

Array = np.ndarray
Job = tuple[Model, tuple[str, ...]]  # identical members, by name


def runs_of(
    jobs: Sequence[Job], parts: Mapping[str, State], words: GivenOptions, span: float, wanted: Array
) -> Callable[[int], dict[str, Any]]:
    """Return what runs jobs from states in a number of threads, and gives recordings by name.

    ValueError if a state or an option is wrong.
    """
    runs = [
        ManyRuns(setting(model, words), _batch(model, [parts[name] for name in names]), span, wanted)
        for model, names in jobs
    ]

    def interrupt() -> None:
        for run in runs:
            run.interrupt()

    def run_all(workers: int) -> dict[str, Any]:
        with ThreadPoolExecutor(workers) as pool:
            done = results([pool.submit(run.run, 1) for run in runs], interrupt)
        return {name: batch[k] for (_, names), batch in zip(jobs, done) for k, name in enumerate(names)}

    return run_all


def run_together(model: Model, start: State, words: GivenOptions, span: float, wanted: Array) -> Recording:
    """Return the recording of the model of all members that meet."""
    options = {word: getattr(words, word) for word in GivenOptions.__dataclass_fields__}
    return simulate(model, span, start, **options, times=wanted, check=False)


def _batch(model: Model, states: Sequence[State]) -> State:
    """Return states of identical members as those of a batch, with closed loops."""
    starts = [checked_state(model, state) for state in states]
    pairs = [closed(model, s.q, s.v, s.t, s.inputs) if model.loop_names else (s.q, s.v) for s in starts]
    q, v = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
    u = np.array([input_values(model.inputs, state.inputs) for state in starts])
    return State(q, v, starts[0].t, None, dict(zip(model.inputs, u.T, strict=True)))
