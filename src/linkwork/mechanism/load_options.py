"""Options of loads: laws that are numbers or functions, points of bodies, and what may be wrong with them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.algebra.number import Number
from linkwork.algebra.vector import Vector
from linkwork.mechanism.input import Input, as_number
from linkwork.mechanism.joint import ALGEBRA
from linkwork.mechanism.load import Load
from linkwork.mechanism.placement import place_mistake, plain
from linkwork.real_numbers import is_finite, real_array
from linkwork.varied import real

Law = Any  # a number, a vector, or a function


def law_value(law: Law, *arguments: Any) -> Any:
    return law(*arguments) if callable(law) else as_number(law)


def drive_units(coordinates: Sequence[str]) -> tuple[str, ...]:
    return tuple("N m" if unit == "rad" else "N" for unit in coordinates)


def point(numbers: Any, size: int) -> Vector:
    """Return a point of a body, its origin if not given; in the plane a third number, 0, is dropped."""
    return Vector([0.0] * size if numbers is None else [_coordinate(x) for x in numbers][:size])


def _coordinate(x: Any) -> Number:
    """Return a number of a point, which may be an input."""
    now = as_number(x)
    return now if hasattr(now, "graph") else real(now)


def response(law: Law, x: Number) -> Number:
    """Return the force of a spring or damper at an extension or rate."""
    return law(x) if callable(law) else law * x


# what may be wrong


def is_number(x: Any) -> bool:
    return isinstance(x, Input) or is_finite(x)


def frame_mistakes(frame: str) -> list[str]:
    return (
        []
        if isinstance(frame, str) and frame in ("world", "body")
        else [f'frame {frame!r}; give "world" or "body"']
    )


def point_mistakes(word: str, point: Any, space: str) -> list[str]:
    algebra = ALGEBRA[space]
    if point is None:
        return []
    if isinstance(point, algebra.Frame):
        return [f"{word} {point!r} is not a point; give {algebra.dimension} numbers"]
    mistake = place_mistake(point, algebra)
    return [f"{word} {mistake}"] if mistake else []


def law_mistakes(law: Law, count: int | None) -> list[str]:
    if callable(law):
        return []
    try:
        values = real_array("law", law)
    except ValueError:
        return [f"law {law!r}; give a function, or numbers"]
    if not np.isfinite(values).all():
        return [f"law {law!r} is not finite"]
    if values.ndim > 1 or (count is not None and values.size != count):
        return [f"law {plain(values)}; give {count or 'plain'} numbers, or a function that does"]
    return []


def coefficient_mistakes(load: Load, *words: str) -> list[str]:
    found = []
    for word in words:
        value = getattr(load, word)
        if not callable(value) and not (is_number(value) and value >= 0.0):
            found.append(f"{word} {value!r}; give a finite number, 0 or more, or a function")
    return found
