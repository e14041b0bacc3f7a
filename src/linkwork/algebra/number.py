"""Elementary functions of any number: float, traced expression, NumPy array, mpmath, SymPy or CasADi scalar.

A formula that uses these instead of `math` or `numpy` can be run, traced to native code, differentiated,
printed as mathematics or evaluated to fifty digits.

>>> sqrt(16.0) + cos(0.0)
5.0
"""

import builtins
import math
import sys
from typing import Any

import numpy as np

from linkwork.real_numbers import real_array, shown
from linkwork.varied import Varied

Number = Any  # a float or anything that behaves like one


def apply(name: str, *args: Number) -> Number:
    """Call the elementary function `name` of the library the arguments belong to."""
    for x in args:
        traced = getattr(type(x), "apply_function", None)
        if traced is not None:
            return traced(name, *args)
    for x in args:
        if isinstance(x, np.ndarray | np.generic):
            if x.dtype.kind not in "fiucO":
                raise TypeError(f"{name}({shown(x)}): these are not numbers; give real numbers")
            return getattr(np, _NUMPY_NAMES.get(name, name))(*args)
    for x in args:
        library = type(x).__module__.partition(".")[0]
        function = _LIBRARY_NAMES.get((library, name), name)
        if library in ("builtins", "linkwork") or not hasattr(sys.modules.get(library), function):
            continue
        return getattr(sys.modules[library], function)(*args)
    try:
        return getattr(math, name)(*args)
    except TypeError:
        given = ", ".join(map(repr, args))
        raise TypeError(f"{name}({given}): these are not numbers; give real numbers") from None


_NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
_LIBRARY_NAMES = {("sympy", "pow"): "Pow", ("mpmath", "pow"): "power"}


def sin(x: Number) -> Number:
    """Return the sine of an angle [rad]."""
    return apply("sin", x)


def cos(x: Number) -> Number:
    """Return the cosine of an angle [rad]."""
    return apply("cos", x)


def tan(x: Number) -> Number:
    """Return the tangent of an angle [rad]."""
    return apply("tan", x)


def asin(x: Number) -> Number:
    """Return the angle whose sine is x [rad], -pi/2 to pi/2."""
    return apply("asin", x)


def acos(x: Number) -> Number:
    """Return the angle whose cosine is x [rad], 0 to pi."""
    return apply("acos", x)


def atan(x: Number) -> Number:
    """Return the angle whose tangent is x [rad], -pi/2 to pi/2."""
    return apply("atan", x)


def atan2(y: Number, x: Number) -> Number:
    """Return the angle of the point (x, y) seen from the origin [rad], -pi to pi."""
    return apply("atan2", y, x)


def sinh(x: Number) -> Number:
    """Return the hyperbolic sine."""
    return apply("sinh", x)


def cosh(x: Number) -> Number:
    """Return the hyperbolic cosine."""
    return apply("cosh", x)


def tanh(x: Number) -> Number:
    """Return the hyperbolic tangent."""
    return apply("tanh", x)


def sqrt(x: Number) -> Number:
    """Return the square root."""
    return apply("sqrt", x)


def exp(x: Number) -> Number:
    """Return e to the power of x."""
    return apply("exp", x)


def log(x: Number) -> Number:
    """Return the natural logarithm."""
    return apply("log", x)


def floor(x: Number) -> Number:
    """Return the largest whole number that is not above x."""
    return apply("floor", x)


def pow(x: Number, exponent: Number) -> Number:
    return x**exponent


def abs(x: Number) -> Number:
    return builtins.abs(x)


def where(condition: Number, a: Number, b: Number) -> Number:
    """Return a where the condition holds, else b: the `if` that can be traced (both sides are evaluated)."""
    if isinstance(condition, bool | np.bool_):
        return a if condition else b
    traced = getattr(type(condition), "select", None)
    if traced is not None:
        return traced(condition, a, b)
    if isinstance(condition, np.ndarray):
        return np.where(condition, a, b)
    sympy = sys.modules.get("sympy")
    if sympy is not None and isinstance(condition, sympy.logic.boolalg.Boolean):
        return sympy.Piecewise((a, condition), (b, True))
    return a if condition else b


def regular(value: Number, *of: Number) -> Number:
    """Return the value, to be taken for a smooth function of some numbers where a motion is integrated.

    For what bends or jumps only where a motion hardly ever is, as the direction between two points does
    where they coincide: the control of the error sees that, and long steps are safe elsewhere.
    """
    traced = getattr(type(value), "regular_in", None)
    return value if traced is None else traced(value, of)


def min(a: Number, b: Number) -> Number:
    """Return the smaller of two numbers; NaN if either is."""
    return where((a < b) | (a != a), a, b)


def max(a: Number, b: Number) -> Number:
    """Return the larger of two numbers; NaN if either is."""
    return where((a > b) | (a != a), a, b)


def sign(x: Number) -> Number:
    """Return -1, 0 or 1; NaN of NaN."""
    return where(x > 0, 1.0, where(x < 0, -1.0, x))


def hypot(x: Number, y: Number) -> Number:
    """Return the length of the vector (x, y)."""
    return sqrt(x * x + y * y)


def is_zero(x: Number) -> bool:
    """Return whether x is structurally zero: known to be 0 now, whatever the inputs are."""
    return isinstance(x, int | float | Varied) and bool(x == 0)


def is_one(x: Number) -> bool:
    """Return whether x is structurally one."""
    return isinstance(x, int | float) and x == 1


deg = math.pi / 180.0  # one degree [rad]: 90 * lw.deg


def degrees(angle: Number) -> Number:
    """Return an angle given in degrees, in radians, as all angles are: a number, an array, or traced.

    >>> degrees(90)
    1.5707963267948966
    """
    if isinstance(angle, list | tuple | str | bool | complex | None):
        angle = real_array("degrees: angle", angle)
        return angle * deg if angle.ndim else float(angle) * deg
    try:
        return angle * deg
    except TypeError:
        raise TypeError(f"degrees: angle {shown(angle)}; give a number, or an array of them") from None
