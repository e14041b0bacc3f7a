"""Inputs that laws of drivers read: where one jumps, the mechanism goes to where its drivers are then.

Between changes an input is a constant, so that velocity and acceleration of a law follow from the time alone.
At a change the driven coordinates jump. All others follow to the nearest position in which the loops are
closed, and velocities by the impulse which that takes: to the nearest, in the sense of kinetic energy, that
the equations allow. What the energy changes by is work of the drivers.
"""

from collections.abc import Callable, Sequence

import numpy as np

from linkwork.errors import AssemblyError
from linkwork.model.model import Model
from linkwork.recording.status import Status
from linkwork.simulation.failure import Failure, failed
from linkwork.simulation.initial_state import closed
from linkwork.simulation.integration import Work

Array = np.ndarray

_HINT = "give a value that the mechanism can reach from where it is, or go there in several steps"


def follow_jumps(
    model_of: Callable[[int], Model], work: Work, held: Array, going: Array
) -> dict[int, Failure]:
    """Let mechanisms whose drivers' inputs are not the `held` ones (N, nu) go where their drivers are.

    Only those that are `going` (N,) do; they are at the ends of a piece, and so are their last samples.
    `model_of` gives the model of each. Returns those that cannot, by number: they stay where they are.
    """
    names = model_of(0).link_tree.inputs if len(held) else ()
    if not names:
        return {}
    jumped = (work.memory.inputs[:, : len(names)] != held[:, : len(names)]).any(axis=1) & going
    failures = {}
    for i in np.flatnonzero(jumped).tolist():
        t, values = float(work.memo["t_final"][i]), work.memory.inputs[i]
        there = after_jump(model_of(i), work.memory.y_final[i], t, values, held[i])
        if isinstance(there, Failure):
            failures[i] = there
            continue
        work.memory.y_final[i] = there
        samples = work.samples(i)
        if len(samples) and samples[-1, 0] == t:
            samples[-1, 1:] = there
    return failures


def after_jump(model: Model, y: Array, t: float, inputs: Array, before: Array) -> Array | Failure:
    """Return a state of q, v and work after a jump of inputs (nu,), or why drivers cannot follow."""
    names = model.link_tree.inputs
    q, v = y[: model.nq].copy(), y[model.nq : -1].copy()
    energy = model.energy(q, v)
    try:
        q, v = closed(model, q, v, t, dict(zip(names, inputs.tolist(), strict=False)))
    except AssemblyError as error:
        words = f"drivers cannot follow {_changed(names, inputs, before)}: {error}"
        driver = next(loop.name for loop in model.link_tree.loops if loop.inputs)
        return failed(Status.LOOPS_OPEN, t, driver, words, error, _HINT)
    return np.concatenate([q, v, [y[-1] + model.energy(q, v) - energy]])


def _changed(names: Sequence[str], now: Array, before: Array) -> str:
    """Say which inputs have become others."""
    return ", ".join(
        f"input {name!r} from {before[k]:.6g} to {now[k]:.6g}"
        for k, name in enumerate(names)
        if now[k] != before[k]
    )
