"""Calls of `simulate` that are foreseen: in a sweep, what one case asked for is made for all others at once.

The first case of a sweep is watched. If it simulates the mechanism that was built for it, the same is done
for the mechanisms of other cases, side by side, before they are measured; and where their measure then asks
for just that, it is there. Whatever else is asked for is done as always. So nothing depends on the guess but
the time it takes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from linkwork.mechanism.deferred_mechanism import Deferred
from linkwork.mechanism.input import Input
from linkwork.mechanism.journaled import Revision
from linkwork.mechanism.mechanism import Element, Mechanism
from linkwork.mechanism.snapshot import is_ours, lasts
from linkwork.mechanism.varied_mechanism import Unlike, one_of
from linkwork.model.compile import compile_mechanism
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording.lazy_sequence import Each
from linkwork.simulation.event import Event
from linkwork.simulation.options import seconds
from linkwork.simulation.rehearsed_calls import Answer, Call, Ended, asked
from linkwork.simulation.run_request import RunRequest
from linkwork.simulation.variant_runs import RunsSideBySide
from linkwork.simulation.variants import Described, variants_of

Array = np.ndarray

_DRAWN = ("_parts", "_visuals", "_collisions", "_given")  # of a body: what its motion does not depend on


@contextmanager
def _answering(answer: Answer) -> Iterator[None]:
    token = asked.set(answer)
    try:
        yield
    finally:
        asked.reset(token)


@dataclass(frozen=True, eq=False)
class Built:
    """A mechanism as it was built, and how to see that it was not changed since."""

    mechanism: Mechanism
    revisions: dict[str, Revision]
    gravity: Array
    drawn: dict[str, dict[str, Any]]
    name: str

    @classmethod
    def of(cls, mechanism: Mechanism) -> "Built":
        bodies = {
            name: {word: vars(body)[word] for word in _DRAWN} for name, body in mechanism.bodies.items()
        }
        return cls(mechanism, _revisions(mechanism), mechanism.gravity, bodies, mechanism.name)

    def is_model_of(self, thing: Any) -> bool:
        """Whether `simulate` was given the mechanism, unchanged, or a model compiled from it."""
        if isinstance(thing, Model):
            origin = thing.origin
            found = {name: copied.revision for name, copied in origin.copies.items() if not copied.made_here}
            plain = thing.form == "rolled" and not thing.link_tree.loops and len(found) == len(origin.copies)
            return plain and found == self.revisions and np.array_equal(thing.gravity, self.gravity)
        if thing is not self.mechanism:
            return False
        return self.mechanism.gravity is self.gravity and _revisions(self.mechanism) == self.revisions

    def as_built(self, whole: Mechanism, k: int) -> Mechanism:
        """Return the mechanism, k of a whole, as it was built, whatever became of it since."""
        mechanism = one_of(whole, itemgetter(k))
        for name, drawn in self.drawn.items():
            vars(mechanism.bodies[name]).update(drawn)
        object.__setattr__(mechanism, "name", self.name)
        return mechanism


class Unbuilt:
    """A mechanism that is built when somebody looks at it; it is known by the whole that it is part of."""

    def __init__(self, make: Callable[[], Mechanism], name: str):
        self.name, self._make = name, make
        self._built: Built | None = None
        self.mechanism: Mechanism = Deferred.of(make, self._know)

    def _know(self, mechanism: Mechanism) -> None:
        self._built = Built.of(mechanism)

    def is_model_of(self, thing: Any) -> bool:
        if isinstance(self.mechanism, Deferred):
            return thing is self.mechanism
        return self._built is not None and self._built.is_model_of(thing)

    def as_built(self, whole: Mechanism, k: int) -> Mechanism:
        return self._make()


def _revisions(mechanism: Mechanism) -> dict[str, Revision]:
    return {thing.name: thing._revision for thing in (mechanism.ground, *mechanism.elements)}


@dataclass
class Watch:
    """What a case asks of `simulate` for the mechanism that was built for it."""

    calls: list[Call] = field(default_factory=list)

    def same(self, other: "Watch") -> bool:
        """Whether another case has asked for the same."""
        return len(self.calls) == len(other.calls) and all(map(Call.same, self.calls, other.calls))

    @contextmanager
    def watching(self, built: Any) -> Iterator[None]:
        if not isinstance(built, Mechanism):
            yield
            return
        known = Built.of(built)

        def answer(thing: Any, call: Call) -> None:
            if (
                not any(x is not None for x in call.others)
                and known.is_model_of(thing)
                and _is_harmless(call)
            ):
                self.calls.append(call)

        with _answering(answer):
            yield


def _is_harmless(call: Call) -> bool:
    """Whether a call can be made before it is asked for: no function is called that may notice."""
    events = call.words.events
    known = isinstance(events, list | tuple) and all(isinstance(event, Event) for event in events)
    return (
        known
        and not any(callable(event.action) for event in events)
        and (call.state is None or (isinstance(call.state, State) and call.state.memory is None))
    )


def _is_settled(element: Element) -> bool:
    """Whether an element is what it is until its revision is another: laws read nothing that may change."""
    values = [value for word, value in vars(element).items() if word != "_joints" and not lasts(value)]
    return is_ours(type(element)) and all(map(_reads_nothing, values))


def _reads_nothing(law: Any) -> bool:
    """Whether a function reads only its arguments, numbers that it holds, and functions and classes."""
    if not isinstance(law, FunctionType):
        return False
    held = [cell.cell_contents for cell in law.__closure__ or ()]
    held += [*(law.__defaults__ or ()), *(law.__kwdefaults__ or {}).values()]
    found = [law.__globals__[name] for name in law.__code__.co_names if name in law.__globals__]
    known = FunctionType | BuiltinFunctionType | ModuleType | type | Input
    return all(lasts(x) or _reads_nothing(x) for x in held) and all(isinstance(x, known) for x in found)


class Rehearsal:
    """Runs of many mechanisms that were made before they are asked for; as one they are the `whole`."""

    def __init__(self, built: Sequence[Built | Unbuilt], whole: Mechanism, calls: Sequence[Call]):
        if not all(map(_is_settled, whole.elements)):
            raise Unlike("something may change unseen between now and then")
        if whole.contacts:
            raise Unlike("shapes that touch are looked at one by one")
        self._built, self._whole = built, whole
        self._models = Each(len(built), lambda k: compile_mechanism(self._built[k].as_built(self._whole, k)))
        self._runs = [(call, self._made(call)) for call in calls]

    @contextmanager
    def answering(self, k: int) -> Iterator[None]:
        """Let `simulate` find the runs of mechanism k in this thread, each once."""

        def answer(thing: Any, call: Call) -> Ended | None:
            if self._built[k].is_model_of(thing):
                for known, runs in self._runs:
                    if known.same(call) and (run := runs.take(k)):
                        return run
            return None

        with _answering(answer):
            yield

    def _made(self, call: Call) -> RunsSideBySide:
        names = [built.name for built in self._built]
        described = Described(len(names), lambda: self._whole, self._models, names)
        variants = variants_of(described, call.words)
        shared = variants.shared(0)
        model, system = shared.system.model, shared.system
        called = system.python_laws or shared.controlled
        if system.tree.loops or called or np.isfinite(model.limits).any():
            raise Unlike("loops, laws that are called, and limits at the start are looked at one by one")
        span = seconds(call.duration)
        request = RunRequest(model, shared, span, call.times, call.every, call.inputs, model)
        start, wanted = request.start(call.state)
        if call.state is None:
            same = start.v, start.t, start.memory, start.inputs, start.slices, start.controllers
            starts = [State(q, *same) for q in variants.q_drawn]
        else:
            starts = [start] * len(names)
        return RunsSideBySide(variants, starts, request.span, wanted)
