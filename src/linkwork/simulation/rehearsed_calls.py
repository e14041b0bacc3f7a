"""Calls of `simulate` whose runs were made before: see `rehearsal`."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from operator import is_
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.model.state import State
from linkwork.simulation.event import Event
from linkwork.simulation.options import GivenOptions

if TYPE_CHECKING:
    from linkwork.recording.recording import Recording
    from linkwork.simulation.failure import Failure


@dataclass(frozen=True, eq=False)
class Call:
    """What `simulate` is asked for, beside the mechanism."""

    duration: Any
    state: Any
    words: GivenOptions
    times: Any
    every: Any
    inputs: Any
    others: tuple[Any, ...]  # q, v, vary, checkpoint: nothing, if it is one plain run

    def same(self, other: "Call") -> bool:
        return _same_words(vars(self), vars(other))


class Ended(NamedTuple):
    """What has become of a run."""

    recording: "Recording"
    failure: "Failure | None" = None
    notes: Sequence[str] = ()  # what the user should know


Answer = Callable[[Any, Call], Ended | None]
asked: ContextVar[Answer | None] = ContextVar("linkwork rehearsal", default=None)


def foreseen(model: Any, make: Callable[[], Call]) -> Ended | None:
    """Return the run that a call of `simulate` asks for, if it was made before."""
    answer = asked.get()
    return None if answer is None else answer(model, make())


def _same(one: Any, other: Any) -> bool:
    """Whether two options mean the same; False if that is not clear."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, bool | int | float | str | CodeType):
        return bool(one == other)
    if isinstance(one, GivenOptions):
        return _same_words(vars(one), vars(other))
    if isinstance(one, State):
        parts = [(x.q, x.v, x.t, dict(x.inputs)) for x in (one, other)]
        return one.memory is None and other.memory is None and _same(*parts)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, FunctionType):
        insides = [(f.__code__, f.__defaults__, f.__kwdefaults__, _held(f)) for f in (one, other)]
        return one.__globals__ is other.__globals__ and _same(*insides)
    return isinstance(one, Event) and _same(vars(one), vars(other))


def _same_words(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether options of the same names mean the same; most are the very same objects."""
    mine, others = one.values(), other.values()
    return all(map(is_, mine, others)) or all(map(_same, mine, others))


def _held(function: FunctionType) -> tuple[Any, ...]:
    return tuple(cell.cell_contents for cell in function.__closure__ or ())
