"""What happens in a run: its events so far, what they do, and when they are too many."""

import math
import threading
from collections.abc import Callable

import numpy as np

from linkwork.mechanism.load_view import coordinates
from linkwork.model.model import Model
from linkwork.recording.status import Status
from linkwork.simulation.event import Event
from linkwork.simulation.failure import Failure, failed
from linkwork.simulation.initial_state import checked
from linkwork.simulation.integration import Work
from linkwork.simulation.law_watch import LawWatch, other_answer
from linkwork.simulation.options import Options

Array = np.ndarray

_STORM, _STORM_TIME = 50, 1e-9  # that number of events within this time [s] is a storm,
_AGAIN_TIME, _AGAIN_PART = 1e-12, 1e-5  # and one that acts, and is back within this time, or part of a step
_MANY, _LEAST_PROGRESS = 10_000, 0.01  # so are many that bring the run on by less than this part of the rest
_ACTING = threading.Lock()  # runs side by side act in turns: one may write what a law of another reads
_SHORTEST = 2.0**-46  # of the time: the step after an event is not shorter


class Occurrences:
    """The events of one run; its model is asked for when an event acts."""

    def __init__(self, model: Callable[[], Model], chosen: Options, t_end: float, watch: LawWatch):
        self.model, self._chosen, self._watch = model, chosen, watch
        self.t_end = t_end  # of the run, or of the part of it that is under way
        self.happened: list[tuple[float, str]] = []
        self.failure: Failure | None = None  # of an action, or for a storm
        self.over = False  # the run has come to its end by an event

    def handle(self, work: Work, i: int) -> Array | None:
        """Do what the event that mechanism i has met says; return the state after it, None at the end."""
        event = self._chosen.events[int(work.memo["event"][i])]
        t = float(work.memo["t_final"][i])
        y = self.met(event, t, work.memory.y_final[i].copy(), again=bool(work.memo["again"][i]))
        if self.failure:
            work.memo["status"][i] = self.failure.status
        if self.over:
            return None
        since = t - float(work.memo["t0"][i])  # the last one, or the start
        work.restart(i, t, y, acted=callable(event.action))
        if callable(event.action) and since > 0.0:
            # The next may follow as soon as this one did: not to be stepped over.
            work.memo["h"][i] = min(work.memo["h"][i], max(since, _SHORTEST * max(1.0, abs(t))))
        return y

    def met(self, event: Event, t: float, y: Array, *, again: bool) -> Array:
        """Do what an event says that was met in state y; return the state after it.

        Then there may be a `failure`, and the run may be `over`. `again`: it is where its own action had left
        it.
        """
        self.happened.append((t, event.name))
        self.failure = self._storm(t, event, again)
        if callable(event.action) and not self.failure:
            with _ACTING:
                y = self._after(event, t, y)
        self.over = event.action == "stop" or self.failure is not None
        return y

    def _storm(self, t: float, event: Event, again: bool) -> Failure | None:
        """Return whether that was one event too many."""
        size = max(1.0, abs(t))
        limits = [(_STORM, _STORM_TIME * size), (_MANY, _LEAST_PROGRESS * (self.t_end - t))]
        if again:
            limits.append((2, math.inf))
        elif callable(event.action) and event.direction:
            before = (k for k, (_, name) in enumerate(reversed(self.happened)) if k and name == event.name)
            within = max(_AGAIN_TIME * size, _AGAIN_PART * self._chosen.step)
            limits.append((next(before, len(self.happened)) + 1, within))
        for count, limit in limits:
            if len(self.happened) >= count and (taken := t - self.happened[-count][0]) < limit:
                words = f"event {event.name!r} is the last of {count} within {taken:.3g} s"
                return failed(Status.EVENT_STORM, t, event.name, words)
        return None

    def _after(self, event: Event, t: float, y: Array) -> Array:
        """Return the state that an action gives; what it adds to the energy counts as work."""
        model = self.model()
        q, v = y[: model.nq], y[model.nq : -1]
        try:
            new_q, new_v = _answer(model, event, t, q, v)
            work = _energy(model, new_q, new_v) - model.energy(q, v)
        except Exception as error:
            words = f"the action of event {event.name!r} {error}"
            self.failure = failed(Status.LAW_RAISED, t, event.name, words, error.__cause__ or error)
            return y
        name, words = self._watch.change()
        if not name:
            name, words = other_answer(self._watch)
        if name:
            words = f"after the action of event {event.name!r}: {words}"
            self.failure = failed(Status.LAW_CHANGED, t, name, words)
        return np.array([*new_q, *new_v, y[-1] + work])


def _energy(model: Model, q: Array, v: Array) -> float:
    try:
        return float(model.energy(q, v))
    except ArithmeticError:
        words = f"gave q = {q.tolist()!r:.80}, v = {v.tolist()!r:.80}, of which the energy cannot be computed"
        raise ValueError(words) from None


def _answer(model: Model, event: Event, t: float, q: Array, v: Array) -> list[Array]:
    """Return what the action of an event gives, checked; it may change what it is given, or return anew."""
    assert callable(event.action)
    named = ({joint: pair[n] for joint, pair in model.slices.items()} for n in (0, 1))
    joints = model.joint_starts[-1, 0]  # behind them, constraints' own unknowns follow
    given = [coordinates(x.tolist(), by) for x, by in zip((q[:joints], v), named, strict=True)]
    try:
        answer = event.action(t, *given)
    except Exception as error:
        raise ValueError(f"raised {type(error).__name__}: {error}") from error
    new = given if answer is None else answer
    try:
        whole = {"q": lambda x: [*x, *q[joints:]] if model.link_tree.unknowns else x, "v": lambda x: x}
        return [checked(model, word, whole[word](x), 1) for word, x in zip("qv", new, strict=True)]
    except (TypeError, ValueError) as error:
        raise ValueError(f"gave {new!r:.100}; give (q, v): {error}") from error
