"""Equations and laws that cannot be traced: they have an `if`, look into a table, use NumPy. They are called.

They become nodes of formulas all the same (`trace.called`), with derivatives by differences, or by `phi_q`
where a constraint says it.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.input import Input, as_number, enter, reading
from linkwork.trace.called_functions import Called, CalledFunction, Numbers
from linkwork.trace.expression import Expr, Operand, called
from linkwork.trace.graph_walks import has_nan
from linkwork.varied import real

_SECONDS = 0.1  # what is normal for a time [s]: laws of drivers may be fast

_functions: "WeakKeyDictionary[Any, dict[Any, CalledFunction]]" = WeakKeyDictionary()


REMEDY = (
    "what draws random numbers, looks at a clock or has a memory is to be sampled, by an lw.Sampled that is "
    "called at its own rate and holds its value; a number that you change is an lw.Input"
)


class NotOneNumber(ValueError):
    """What a law gave is not a number."""


def traced_or_called(
    constraint: Any,
    what: str,
    trace: Callable[[], Any],
    symbols: Sequence[Expr],
    run: Callable[[Numbers], Any],
    at: Sequence[float],
    sizes: Sequence[float],
    slope: Callable[[Numbers, Numbers], Any] | None = None,
) -> list[Operand]:
    """Return what `trace` gives; if that fails, nodes that call `run` with the numbers of the symbols.

    `what` distinguishes functions of one constraint; `at` are numbers with which it is called once, by which
    it is known how many numbers it gives. ModelError if it raises on numbers too.
    """
    try:
        return list(trace())
    except Exception:  # whatever a function does on symbols that it would not do on numbers
        known = _functions.setdefault(constraint, {})
        name = f"{constraint.word} {constraint.name!r}"
        function = known.setdefault((what, len(symbols)), CalledFunction(name, run, sizes, slope))
        function.forget()
    word = "phi" if what.startswith("phi") else what
    try:
        rows, again = (np.asarray(run(at), float) for _ in range(2))
    except NotOneNumber as error:
        raise ModelError(f"{name}: {word} {error}") from None
    except Exception as error:
        raise ModelError(f"{name}: {word} raised {type(error).__name__}: {error}") from error
    if rows.ndim != 1:
        raise ModelError(f"{name}: {word} gives numbers of shape {rows.shape}; give a list of them")
    if not np.array_equal(rows, again, equal_nan=True):
        raise ModelError(
            f"{name}: {word} is not a function of its arguments: called twice, it gave two answers; {REMEDY}"
        )
    return [called(Called(function, k), *symbols) for k in range(len(rows))]


def answers_otherwise(constraint: Any) -> bool:
    """Return whether a constraint, or a driver, that is called gives other answers than at first."""
    return any(function.answers_otherwise for function in _functions.get(constraint, {}).values())


def law_at(driver: Any, time: Expr, read: Callable[[Input], Operand]) -> Operand:
    """Return what a driver drives to, at a symbol of time; one that is a number is one.

    `read` gives the symbols of inputs.
    """
    law = driver.law
    if not callable(law):
        return read(law) if isinstance(law, Input) else real(law)

    def trace() -> list[Operand]:
        with reading(read):
            return [_one_number(law(time))]

    def run(x: Numbers) -> list[float]:
        values = dict(zip((given.name for given in given_inputs), x[1:], strict=True))
        with reading(partial(_value, values)):
            return [number(law(x[0]))]

    given_inputs = [] if _works(trace) else _inputs_read(law)
    symbols, defaults = [read(given) for given in given_inputs], [given.value for given in given_inputs]
    sizes = [_SECONDS, *(abs(x) or 1.0 for x in defaults)]
    (value,) = traced_or_called(
        driver, "its law", trace, [time, *symbols], run, [0.0, *defaults], sizes, law_slope(law)
    )
    if has_nan([value]):
        raise ModelError(f"driver {driver.name!r}: its law gives nan; look at the numbers it is made of")
    return value


def _works(trace: Callable[[], Any]) -> bool:
    try:
        trace()
    except Exception:  # whatever a function does on symbols
        return False
    return True


def _inputs_read(law: Callable[[Any], Any]) -> list[Input]:
    """Return the inputs that a law reads when it is called."""
    found: dict[str, Input] = {}

    def collect(given: Input) -> float:
        enter(found, given)
        return given.value

    with reading(collect), suppress(Exception):  # whoever calls it says what is wrong
        law(0.0)
    return list(found.values())


def _value(values: Mapping[str, float], given: Input) -> float:
    if given.name not in values:
        raise ValueError(f"reads the input {given.name!r}, which it did not read when it was compiled")
    return values[given.name]


def _one_number(value: Any) -> Any:
    value = value.item() if isinstance(value, np.ndarray) and value.size == 1 else as_number(value)
    if not isinstance(value, Expr | int | float | np.number):
        raise NotOneNumber(f"gave {value!r:.80}; return one number")
    return value


def law_slope(law: Any) -> Callable[[Numbers, Numbers], Any] | None:
    """Return the derivative of a law, as a spline knows it; None if it does not."""
    if not hasattr(law, "derivative"):
        return None
    rate = law.derivative()
    return lambda x, u: [number(rate(x[0])) * u[0]]


def number(value: Any) -> float:
    """Return the one number that a law gave."""
    found = np.asarray(value)
    if found.size != 1 or found.dtype.kind not in "biuf":
        raise NotOneNumber(f"gave {value!r:.80}; return one number")
    return float(found.item())


def length_of(constraint: Any) -> float:
    """Return what is normal for a place of its bodies: how far they are from the origin [m]."""
    return max((float(np.linalg.norm(body.position)) for body in constraint.bodies), default=0.0) or 1.0


def frame_sizes(constraint: Any, frames: int) -> list[float]:
    """Return what is normal for the numbers of frames, rows of [R | p]."""
    n, length = constraint.algebra.dimension, length_of(constraint)
    return ([1.0] * n + [length]) * n * frames


def given_slope(constraint: Any, base: type, moving: Sequence[Any]) -> Callable[..., Any] | None:
    """Return the derivative that a constraint says in `phi_q`, along the rates of frames of `moving` bodies.

    None if it says none, or is on joints.
    """
    from linkwork.mechanism.body import Body

    if type(constraint).phi_q is base.phi_q or not all(isinstance(s, Body) for s in constraint.sides()):
        return None
    algebra = constraint.algebra
    size, places = algebra.Frame.size, {id(body): k for k, body in enumerate(moving)}

    def numbers(x: Numbers, body: Any) -> np.ndarray:
        k = places.get(id(body))
        X = algebra.Frame() if k is None else algebra.Frame.from_scalars(list(x[k * size : (k + 1) * size]))
        return np.array([float(y) for y in algebra.pose_coordinates(X)])

    def slope(x: Numbers, u: Numbers) -> Any:
        h = 1e-4 / max(1e-300, *map(abs, u))
        ends = [[p + s * h * r for p, r in zip(x, u, strict=True)] for s in (1.0, -1.0, 2.0, -2.0)]
        poses, rates = [], []
        for body in constraint.bodies:
            a, b, c, d = (numbers(end, body) for end in ends)
            poses.append(numbers(x, body))
            rates.append((8.0 * (a - b) - (c - d)) / (12.0 * h))
        return np.asarray(constraint.phi_q(*poses), float) @ np.concatenate(rates)

    return slope
