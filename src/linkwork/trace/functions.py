"""Functions of traced numbers that are made of others, and NumPy's names for all of them."""

import operator
from collections.abc import Callable
from typing import Any

from linkwork.algebra import number
from linkwork.algebra.number import Number


def _hyperbolic_sine(x: Number) -> Number:
    """Near zero the difference of exponentials would cancel: the series is used there."""
    z = x * x
    series = x * (1.0 + z / 6.0 * (1.0 + z / 20.0 * (1.0 + z / 42.0 * (1.0 + z / 72.0 * (1.0 + z / 110.0)))))
    return number.where(abs(x) < 0.35, series, 0.5 * (number.exp(x) - number.exp(-x)))


def _hyperbolic_tangent(x: Number) -> Number:
    """Of the decaying exponential, which does not overflow; near zero sinh / cosh."""
    t = number.exp(-2.0 * abs(x))
    far = (1.0 - t) / (1.0 + t)
    near = number.where(abs(x) < 0.35, x, 0.0)
    return number.where(abs(x) < 0.35, number.sinh(near) / number.cosh(near), number.where(x < 0, -far, far))


COMPOSED: dict[str, Callable[..., Number]] = {
    "tan": lambda x: number.sin(x) / number.cos(x),
    "asin": lambda x: number.atan2(x, number.sqrt((1.0 - x) * (1.0 + x))),
    "acos": lambda x: number.atan2(number.sqrt((1.0 - x) * (1.0 + x)), x),
    "atan": lambda x: number.atan2(x, 1.0),
    "sinh": _hyperbolic_sine,
    "cosh": lambda x: 0.5 * (number.exp(x) + number.exp(-x)),
    "tanh": _hyperbolic_tangent,
    "pow": lambda x, y: x**y,
    "interp": lambda x, table: table(x),
}

# NumPy's functions of numbers, by the names of its ufuncs
UFUNCS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "float_power": operator.pow,
    "negative": operator.neg,
    "positive": operator.pos,
    "square": lambda x: x * x,
    "absolute": abs,
    "fabs": abs,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "logical_and": operator.and_,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "invert": operator.invert,
    "logical_or": operator.or_,
    "logical_not": operator.invert,
    "maximum": number.max,
    "minimum": number.min,
    "arcsin": number.asin,
    "arccos": number.acos,
    "arctan": number.atan,
    "arctan2": number.atan2,
    **{name: getattr(number, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(number, name) for name in ("sqrt", "exp", "log", "floor", "sign", "hypot")},
}

# what NumPy asks the elements of an array of objects for
METHODS = (
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "arctan2",
    "sinh",
    "cosh",
    "tanh",
    "sqrt",
    "exp",
    "log",
)
