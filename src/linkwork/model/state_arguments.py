"""Methods of a model that take a State in place of arrays: `model.poses(state)`, `model.energy(state)`.

A State stands for all that a function asks of it, q, v, the time t and inputs; what else it takes follows:
`model.forward_dynamics(state, tau)` is `model.forward_dynamics(q, v, tau)`. The functions themselves know
arrays only.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np

from linkwork.model.state import State
from linkwork.spelling import check_arguments, check_keywords

Array = np.ndarray
P = ParamSpec("P")
Result = TypeVar("Result", covariant=True)
Function = TypeVar("Function", bound=Callable[..., Any])

_WORDS = ("q", "v", "t")  # what a State has, in the order in which functions take it


class BoundToPositions(Protocol[P, Result]):
    """A method of an array q, or of a State."""

    def __call__(self, q: Array | State, *args: P.args, **options: P.kwargs) -> Result: ...


class BoundToMotion(Protocol[P, Result]):
    """A method of arrays q and v, or of a State."""

    @overload
    def __call__(self, q: Array, v: Array, *args: P.args, **options: P.kwargs) -> Result: ...
    @overload
    def __call__(self, q: State, *args: P.args, **options: P.kwargs) -> Result: ...


class OfPositions(Protocol[P, Result]):
    """How `of_positions` is seen in a class."""

    def __get__(self, instance: object, owner: type) -> BoundToPositions[P, Result]: ...


class OfMotion(Protocol[P, Result]):
    """How `of_motion` is seen in a class."""

    def __get__(self, instance: object, owner: type) -> BoundToMotion[P, Result]: ...


def of_positions(function: Callable[Concatenate[Any, Array, P], Result]) -> OfPositions[P, Result]:
    """Return a function of a model and q as a method that takes a State, too."""
    return cast(Any, of_state(function))


def of_motion(function: Callable[Concatenate[Any, Array, Array, P], Result]) -> OfMotion[P, Result]:
    """Return a function of a model, q and v as a method that takes a State, too."""
    return cast(Any, of_state(function))


def of_state(function: Function) -> Function:
    """Return a function of a model, and q among its arguments, as a method that takes a State there, too."""
    code: Any = function.__code__
    positional = code.co_varnames[1 : code.co_argcount]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    at = positional.index("q")
    in_state = [word for word in _WORDS if word in positional]
    taken = [word for word, here in zip(in_state, positional[at:]) if word == here]
    beside = [word for word in ("t", "inputs") if word in named]

    @wraps(function)
    def method(model: Any, *args: Any, **given: Any) -> Any:
        state = args[at] if len(args) > at else given.get("q")
        if type(state) is not State:
            try:
                return function(model, *args, **given)
            except TypeError:
                check_keywords(function, given)
                check_arguments(function, (model, *args), given)
                raise
        before, after = args[:at], args[at + 1 :]
        if len(after) > len(positional) - at - len(taken):
            wanted = ", ".join(positional[at + len(taken) :]) or "no more"
            raise TypeError(
                f"{function.__name__}: a State has {', '.join(taken)} already; give after it: {wanted}"
            )
        values = {word: getattr(state, word) for word in (*taken, *beside) if word not in given}
        if not state.inputs:
            values.pop("inputs", None)
        given = {**given, **values, "q": state.q}
        parts = [given.pop(word) for word in taken] if after else []
        return function(model, *before, *parts, *after, **given)

    return cast(Function, method)
