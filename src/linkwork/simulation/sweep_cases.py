"""The cases of a sweep: all combinations of parameters, as plain values."""

import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

Case = dict[str, Any]

RESERVED = ("status", "message")  # columns of a table


def all_cases(parameters: Any) -> list[Case]:
    """Return all cases with plain values, or raise ValueError if there is anything that cannot be swept."""
    if isinstance(parameters, Mapping):
        values = {name: _values(name, given) for name, given in parameters.items()}
        cases = [dict(zip(values, combination)) for combination in itertools.product(*values.values())]
    else:
        if not isinstance(parameters, list | tuple) or not all(isinstance(x, Mapping) for x in parameters):
            raise ValueError(
                f"sweep: parameters {parameters!r}; give {{name: values}}, or a list of {{name: value}}"
            )
        cases = [{name: plain_value(name, x) for name, x in case.items()} for case in parameters]
    if not cases or not cases[0]:
        raise ValueError("sweep: there is no parameter; give at least one with its values")
    for name in cases[0]:
        if not isinstance(name, str) or name in RESERVED:
            raise ValueError(f"sweep: a parameter is named {name!r}, as a column of the table; rename it")
    for case in cases:
        if case.keys() != cases[0].keys():
            raise ValueError(f"sweep: the cases {cases[0]} and {case} have different parameters; give all")
    return cases


def _values(name: str, given: Any) -> list[Any]:
    if isinstance(given, str | bytes | Mapping | set | frozenset) or not isinstance(given, Iterable):
        raise ValueError(f"sweep: parameter {name!r} is {given!r}; give a list of its values")
    values = [plain_value(name, x) for x in given]
    if not values:
        raise ValueError(f"sweep: parameter {name!r} has no values; give at least one")
    return values


def plain_value(name: str, x: Any) -> Any:
    """Return a value as plain Python: a number, a text, a truth value, None, or a tuple of such."""
    if x.__class__ is float and math.isfinite(x):
        return x
    if isinstance(x, np.ndarray | np.generic):
        x = x.tolist()
    if isinstance(x, list | tuple):
        return tuple(plain_value(name, item) for item in x)
    if isinstance(x, float) and not math.isfinite(x):
        raise ValueError(f"sweep: parameter {name!r} has the value {x}; give finite numbers")
    if x is not None and not isinstance(x, bool | int | float | str):
        raise ValueError(
            f"sweep: parameter {name!r} has the value {x!r}; give numbers or texts, build the rest"
        )
    return x


def check_call(build: Callable[..., Any], case: Case) -> None:
    """Raise ValueError at once if `build` does not take these parameters, instead of failing every case."""
    try:
        signature = inspect.signature(build)
    except (TypeError, ValueError):  # made in C: it will say so itself
        return
    try:
        signature.bind(**case)
    except TypeError as error:
        raise ValueError(f"sweep: build{signature} does not take {', '.join(case)}: {error}") from None
