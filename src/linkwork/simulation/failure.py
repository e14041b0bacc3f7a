"""Why a run failed: the culprit by name, the time, the value, and what may help."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.dynamics.load_code import raised
from linkwork.errors import SimulationError
from linkwork.model import nonfinite
from linkwork.model.model import Model
from linkwork.recording.status import MESSAGES, Status
from linkwork.simulation.integration import Work
from linkwork.simulation.run_programs import RunPrograms
from linkwork.tree.load_formula import PlacedLoad
from linkwork.tree.purity import NotAFunction

GOOD = (Status.DONE, Status.EVENT)
_STUCK = (Status.TOO_MUCH_WORK, Status.STEP_UNDERFLOW, Status.STIFF)
_KEPT = (Status.LOOPS_OPEN, Status.STEP_UNDERFLOW)
_SOON = 1e-4  # [s]: a law that gives no number so soon is what a run is stuck at
_HINTS = {
    Status.STIFF: 'use method="auto" or "rodas", or soften what is stiff',
    Status.NOT_FINITE: "look at what this law divides by, or at the values it was given",
    Status.STEP_UNDERFLOW: "look for a law that jumps or is singular there, or ask for less accuracy",
    Status.STEP_TOO_LARGE: "give a smaller step=, or accuracy= instead",
    Status.TOO_MUCH_WORK: "raise max_steps=, ask for less accuracy, or look for what is so fast or so stiff",
    Status.SINGULAR_JACOBIAN: "look for a law that is not smooth, or use an explicit method",
    Status.LAW_RAISED: "it is called as plain Python; its own error is the cause of this one",
    Status.LOOPS_OPEN: "look for a position in which a loop can no longer move on, or is stretched",
    Status.LAW_CHANGED: "what laws read from outside is read when a run begins; stop it by an event, change "
    "this, and go on from run.final, or make it an lw.Input",
    Status.EVENT_STORM: "let the action take the quantity away from zero, or stop there",
}

CONTACT_HINT = (
    "give step=1/240, or the like: steps go through what changes contacts without end, as edges of meshes do"
)
STEP_HINT = "give a smaller step=, or look at what the laws of loads are given"


@dataclass(frozen=True)
class Failure:
    """What went wrong, where, when; with the words for the user."""

    status: Status
    message: str
    time: float
    where: str  # the joint, load or event
    hint: str
    cause: BaseException | None = None


class SimulationFailed(SimulationError):
    """A run that could not go on: `.run` is what was computed, `.run.final` the last good state."""

    def __init__(self, failure: Failure, run: Any):
        super().__init__(f"{failure.message}; {failure.hint}" if failure.hint else failure.message)
        self.status, self.time, self.where, self.hint = (
            failure.status.name,
            failure.time,
            failure.where,
            failure.hint,
        )
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_text, (str(self), self.status, self.time, self.where, self.hint)


def _from_text(text: str, status: str, time: float, where: str, hint: str) -> SimulationFailed:
    """Return an error that comes from another process; the run stays there."""
    failure = Failure(Status[status], text.removesuffix(f"; {hint}"), time, where, hint)
    return SimulationFailed(failure, None)


def failed(
    status: Status,
    t: float,
    where: str,
    words: str,
    cause: BaseException | None = None,
    hint: str | None = None,
) -> Failure:
    """Return a failure in words that begin with the time; the hint is that of the status if none is given."""
    hint = _HINTS.get(status, "") if hint is None else hint
    return Failure(status, f"at t = {t:.9g} s: {words}", t, where, hint, cause)


def interruption(t: float) -> Failure:
    """Return what became of a run that the user has interrupted."""
    return failed(Status.INTERRUPTED, t, "", MESSAGES[Status.INTERRUPTED])


def diagnosis(system: RunPrograms, work: Work, i: int) -> Failure | None:
    """Return why mechanism i failed; None if it did not."""
    status, t = work.status(i), float(work.memo["t_final"][i])
    if status in GOOD:
        return None
    status, model = Status(status), system.model
    inputs = dict(zip(system.inputs, work.memory.inputs[i].tolist(), strict=True))
    if status == Status.NOT_FINITE:
        return _not_finite(model, work, i, t, inputs, system.event_tree.loads)
    memo, y = work.memory.memo[i], work.memory.y_final[i]
    if status in _STUCK:
        name, words = law_ahead(model, t, y, work.memory.inputs[i], _SOON)
        if words:
            return failed(Status.NOT_FINITE, t, name, words)
    soon = t + float(memo["h"])  # a law may jump in the step that failed
    worst = -1 if status == Status.STEP_TOO_LARGE else int(memo["worst"])
    if worst < 0:
        worst = nonfinite.fastest(model, soon, y, inputs)
    last = ", ".join(f"{h:.3g}" for h in (memo[f"step_{k}"] for k in range(1, 6)) if h > 0.0)
    touches = status in _KEPT and bool(model.contact_names)
    message = (
        "contacts, or closed loops, cannot be kept, however small the step" if touches else MESSAGES[status]
    )
    parts = [message, f"worst is the {nonfinite.component(model, worst)}"]
    parts += [f"the last steps were {last} s"] if last else []
    parts += [driven] if (driven := nonfinite.driven_by(model, nonfinite.joint(model, worst))) else []
    parts += [loose] if (loose := nonfinite.hardly_determined(model, y)) else []
    parts += [crowd] if (crowd := _crowd(model, y)) else []
    parts += [push] if (push := nonfinite.largest_force(model, soon, y, inputs)) else []
    hint = CONTACT_HINT if touches else None
    return failed(status, t, nonfinite.joint(model, worst), "; ".join(parts), hint=hint)


def law_ahead(model: Model, t: float, y: Any, inputs: Any, h: float) -> tuple[str, str]:
    """Return the compliant contact whose law gives no number within a time h from a state, and in words that.

    Both are "" if there is none.
    """
    contacts = model.compliant_contacts
    if contacts is None or not np.isfinite(y).all():
        return "", ""
    q, v = y[: model.nq], y[model.nq : model.nq + model.nv]
    given = {"inputs": inputs[: len(model.inputs)]} if len(model.inputs) else {}
    try:
        a = model.motion(q, v, t, **given)
    except ArithmeticError:  # it is here
        a = np.zeros_like(v)
    for s in h * np.array([0.0, *2.0 ** np.arange(-20.0, -4.0), *np.linspace(0.0625, 1.0, 16)]):
        there = q + s * model.position_rates(q, v + 0.5 * s * a), v + s * a
        poses, velocities = model.poses(there[0]).array, model.velocities(*there).array
        name, words = contacts.fault(model.body_names, poses, velocities)
        if words:
            return name, words
    return "", ""


def failed_step(model: Model, t: float, y: Any, inputs: Mapping[str, float], h: float) -> Failure:
    """Return why a step of contact [s] from a state has led to no numbers: a law by name, if it is one."""
    name, _, error = raised.__dict__.pop("error", ("", t, None))
    if isinstance(error, NotAFunction):
        return failed(Status.LAW_CHANGED, t, name, str(error), hint="")
    if isinstance(error, Exception):
        return failed(Status.LAW_RAISED, t, name, f"{name!r} raised {type(error).__name__}: {error}", error)
    if error is not None:  # Ctrl-C, or an exit
        raise error
    name, words = law_ahead(model, t, y, np.array(list(inputs.values())), 2.0 * h)
    if not words and np.isfinite(y).all():
        q, v = y[: model.nq], y[model.nq : model.nq + model.nv]
        for s in (0.0, 0.5 * h, h):
            ahead = np.concatenate([q + s * model.position_rates(q, v), v])
            if fault := nonfinite.law_fault(model, t + s, ahead, inputs):
                words = f"{fault.words} (at t = {t + s:.9g} s)"
                status = Status.NOT_FINITE if fault.cause is None else Status.LAW_RAISED
                return failed(status, t, fault.name, words, fault.cause)
    return failed(Status.NOT_FINITE, t, name, words or MESSAGES[Status.NOT_FINITE], hint=STEP_HINT)


def _crowd(model: Model, y: Any) -> str:
    """Say if there are more compliant contacts than friction can hold at once."""
    contacts = model.compliant_contacts
    return contacts.crowd(model.body_names, model.poses(y[: model.nq]).array) if contacts is not None else ""


def _not_finite(
    model: Model, work: Work, i: int, t: float, inputs: Mapping[str, float], events: Sequence[PlacedLoad]
) -> Failure:
    """Find the cause by evaluating again; a law that failed twice is in `raised`."""
    at = float(work.memory.bad_t[i])
    fault = nonfinite.find(model, at, work.memory.bad_y[i], inputs, events)
    error = raised.__dict__.pop("error", None)
    if fault.cause is None and error and fault.name not in (*model.load_names, *(e.name for e in events)):
        name, when, cause = error
        at = when if when == when else at
        fault = nonfinite.Fault(name, f"{name!r} raised {type(cause).__name__}: {cause}", cause)
    status = Status.NOT_FINITE if fault.cause is None else Status.LAW_RAISED
    return failed(status, t, fault.name, f"{fault.words} (at t = {at:.9g} s)", fault.cause)
