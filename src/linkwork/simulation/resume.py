"""Going on bit for bit: what a run remembers beside its state, and when that is of use.

The mesh of a run does not depend on its end, inside a step: a run that goes on does so from the last
point of the mesh, before its start.
"""

from collections.abc import Mapping
from math import inf

import numpy as np

from linkwork.model.state import State
from linkwork.recording.status import Status
from linkwork.simulation import integration
from linkwork.simulation.integration import Work
from linkwork.simulation.loop.records import MEMO
from linkwork.simulation.problem import Problem

Array = np.ndarray

_COUNTS = ("accepted", "rejected", "evaluations", "jacobians", "stiff", "switches", "largest", "sum")


def memory(work: Work, key: Array) -> dict[str, Array]:
    """Return what the only mechanism of a run remembers; `key` says which runs can use it."""
    kept = work.memory
    return {
        "y": kept.y[0].copy(),
        "memo": work.remembered(0),
        "side": kept.side[0].copy(),
        "band": kept.band[0].copy(),
        "span": kept.span[0].copy(),
        "weakest": kept.weakest[0].copy(),
        "key": key,
    }


def disorder(memory: Mapping[str, Array], rows: Array, start: float, n: int) -> str:
    """Say what of a memory, of the right shapes, no run of n numbers from this start can have left behind."""
    memo = dict(zip(MEMO.names or (), np.asarray(memory["memo"], float).ravel().tolist(), strict=True))
    if rows.shape[1] != 1 + n:
        return f"samples of {rows.shape[1]} numbers, not {1 + n}"
    if not np.isfinite(memory["y"]).all():
        return "its state is not finite"
    if not memo["t"] >= min(start, memo["t0"]) or not memo["h"] >= 0.0 or not memo["t"] < inf:
        return f"its time is {memo['t']:g} s with a step of {memo['h']:g} s, after a start at {start:g} s"
    if len(rows) and (memo["begun"] != 1.0 or rows[0, 0] < start):
        return "samples before its start"
    if any(not memo[name] >= 0.0 for name in _COUNTS):
        return "a count of steps is negative"
    if len(rows) and memo["accepted"] == 0.0 and rows[-1, 0] > max(start, memo["t"]):
        return "samples that no step led to"
    return ""


def recall(work: Work, memory: Mapping[str, Array]) -> None:
    """Go on as the run that this is the memory of."""
    kept = work.memory
    for name in ("y", "side", "band", "span", "weakest"):
        getattr(kept, name)[0] = memory[name]
    kept.memo.view(float)[:] = memory["memo"]
    kept.memo["status"] = Status.RUNNING


def count_anew(work: Work) -> None:
    """Forget the counts of the run before."""
    for name in (*_COUNTS, "earlier", "check_attempts"):
        work.memo[name] = 0.0
    work.memo["check_t"] = work.memo["t"]
    work.memo["margin"] = inf


def follow(problem: Problem, work: Work, key: Array, start: State, inputs: Array) -> bool:
    """Let the only mechanism of `work`, which is at a start, go on as the run that led there, if it can."""
    before = work_until(problem, key, start, inputs)
    if before is None or start.memory is None:
        return False
    recall(work, start.memory)
    count_anew(work)
    work.memory.y_final[0, -1], work.memo["t_final"] = before, start.t
    return True


def work_until(problem: Problem, key: Array, start: State, inputs: Array) -> float | None:
    """Return the work that was done until a start that its memory leads to, bit for bit; None if not so.

    It does not if the model, an option or a value was changed since; or a law, which no key may show.
    """
    kept = start.memory
    if kept is None or not np.array_equal(kept.get("key", ()), key):
        return None
    state = np.concatenate([start.q, start.v])
    trial = Work(problem, [*state, 0.0], start.t, [inf], 1, inputs)
    try:
        recall(trial, kept)
    except (KeyError, TypeError, ValueError):
        return None
    integration.march(problem, trial, start.t)
    end = trial.memory.y_final[0]
    arrived = trial.memo["status"][0] == Status.DONE and trial.memo["t_final"][0] == start.t
    return float(end[-1]) if arrived and end[:-1].tobytes() == state.tobytes() else None
