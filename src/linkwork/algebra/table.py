"""Tables of numbers as functions: piecewise linear, or cubic, over any number.

Between knots x_k <= x < x_k+1, h_k apart, with m_k = (y_k+1 - y_k) / h_k, a cubic of slopes s_k and s_k+1 is

    y_k + d (s_k + d ((3 m_k - 2 s_k - s_k+1) / h_k + d (s_k + s_k+1 - 2 m_k) / h_k^2)),   d = x - x_k.

The kinds differ in their slopes. "cubic" is the spline whose second derivative is continuous,

    h_k s_k-1 + 2 (h_k-1 + h_k) s_k + h_k-1 s_k+1 = 3 (h_k m_k-1 + h_k-1 m_k),

with one cubic over the first two intervals and one over the last two ("not a knot": de Boor, A Practical
Guide to Splines, 1978, chapter IV). Its condition h_1^2 (s_0 + s_1 - 2 m_0) = h_0^2 (s_1 + s_2 - 2 m_1), s_2
taken from the equation above, is

    h_1 s_0 + (h_0 + h_1) s_1 = (m_0 h_1 (3 h_0 + 2 h_1) + m_1 h_0^2) / (h_0 + h_1).

"pchip" takes weighted harmonic means of m_k-1 and m_k, and zero where these differ in sign: it rises and
falls where the table does and never overshoots; its second derivative jumps (Fritsch and Butland, SIAM J.
Sci. Stat. Comput. 5, 1984).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwork.algebra.lookup import Column, entry, segment
from linkwork.algebra.number import Number, where
from linkwork.real_numbers import real_array, shown
from linkwork.spelling import checked_keywords
from linkwork.varied import Varied, each

Kind = Literal["linear", "cubic", "pchip"]
Outside = Literal["hold", "extend"]
KINDS, OUTSIDE = ("linear", "cubic", "pchip"), ("hold", "extend")


@checked_keywords
def interp(
    x: Number, xs: ArrayLike, ys: ArrayLike, kind: Kind = "linear", outside: Outside = "hold"
) -> Number:
    """Return the value at x of a table of values ys at rising places xs.

    `kind` is "linear"; "cubic", the smooth spline (two continuous derivatives); or "pchip", which is less
    smooth and does not overshoot. Outside of the table the first and last value hold; with outside="extend"
    its first and last piece go on. x may be a number, an array, or traced: then it is native code, with
    derivatives, at the cost of a binary search.

    >>> interp(2.5, [1, 2, 3], [10, 20, 40]), interp(9.0, [1, 2, 3], [10, 20, 40])
    (30.0, 40.0)
    """
    x = x.as_number() if hasattr(x, "as_number") else x  # an input
    if not _may_be_traced(x):
        x = real_array("interp: x", x)
    return table(xs, ys, kind, outside).at(x)


def _may_be_traced(x: Any) -> bool:
    """Whether x may be computed with: a number of any library, or an array of numbers."""
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.kind in "fiuO"
    return isinstance(x, Varied) or (hasattr(x, "__sub__") and not isinstance(x, bool | complex | set))


@dataclass(frozen=True)
class Table:
    """A table of numbers, as a function."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    kind: Kind
    outside: Outside

    def at(self, x: Number) -> Number:
        """Return the value at x, as the library that x belongs to computes it."""
        if isinstance(x, Varied):
            return each(self, x)
        traced = getattr(type(x), "apply_function", None)
        return self(x) if traced is None else traced("interp", x, self)

    def __call__(self, x: Number) -> Number:
        knots, columns = _pieces(self)
        k = segment(x, knots)
        d = x - entry(k, knots)
        value: Number = 0.0
        with np.errstate(invalid="ignore"):  # of infinite x, which the ends are held for
            for column in reversed(columns):
                value = entry(k, column) + d * value
        if self.outside == "extend":
            return value
        return where(x < self.xs[0], self.ys[0], where(x >= self.xs[-1], self.ys[-1], value))


def table(xs: Any, ys: Any, kind: Any = "linear", outside: Any = "hold") -> Table:
    """Return a table, or say what is wrong with it."""
    x, y = real_array("interp: xs", xs), real_array("interp: ys", ys)
    kind, outside = (word if isinstance(word, str) else shown(word) for word in (kind, outside))
    return _checked(x.tobytes(), y.tobytes(), x.shape, y.shape, kind, outside)


@lru_cache(maxsize=512)
def _checked(xs: bytes, ys: bytes, x_shape: Any, y_shape: Any, kind: Any, outside: Any) -> Table:
    x, y = np.frombuffer(xs), np.frombuffer(ys)
    if len(x_shape) != 1 or x_shape != y_shape or len(x) < 2:
        raise ValueError(
            f"interp: xs of shape {x_shape} and ys of {y_shape}; give as many of both, 2 or more"
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("interp: the table has numbers that are not finite; leave these out")
    if (np.diff(x) <= 0.0).any():
        k = int(np.argmax(np.diff(x) <= 0.0))
        raise ValueError(
            f"interp: xs do not rise: {x[k]:g} is followed by {x[k + 1]:g}; sort them, each once"
        )
    if kind not in KINDS:
        raise ValueError(f"interp: kind {kind!r}; give {', '.join(map(repr, KINDS))}")
    if outside not in OUTSIDE:
        raise ValueError(f"interp: outside {outside!r}; give {', '.join(map(repr, OUTSIDE))}")
    return Table(tuple(x.tolist()), tuple(y.tolist()), kind, outside)


@lru_cache(maxsize=512)
def _pieces(table: Table) -> tuple[Column, list[Column]]:
    """Return where the pieces begin, and the coefficients of each, the constant first."""
    x, y = np.array(table.xs), np.array(table.ys)
    h, m = np.diff(x), np.diff(y) / np.diff(x)
    if table.kind == "linear":
        coefficients = [y[:-1], m]
    else:
        s = _spline_slopes(h, m) if table.kind == "cubic" else _monotone_slopes(h, m)
        coefficients = [y[:-1], s[:-1], (3 * m - 2 * s[:-1] - s[1:]) / h, (s[:-1] + s[1:] - 2 * m) / h**2]
    return Column(x[:-1].tolist()), [Column(column.tolist()) for column in coefficients]


def _spline_slopes(h: np.ndarray, m: np.ndarray) -> np.ndarray:
    if len(h) == 1:
        return np.array([m[0], m[0]])
    if len(h) == 2:  # one parabola
        middle = (h[1] * m[0] + h[0] * m[1]) / (h[0] + h[1])
        return np.array([2 * m[0] - middle, middle, 2 * m[1] - middle])
    ends = [_end_equation(h[0], h[1], m[0], m[1]), _end_equation(h[-1], h[-2], m[-1], m[-2])]
    below = [*h[1:].tolist(), ends[1][1]]  # coefficients of s_k-1, s_k, s_k+1, and the right side
    middle = [ends[0][0], *(2 * (h[:-1] + h[1:])).tolist(), ends[1][0]]
    above = [ends[0][1], *h[:-1].tolist()]
    right = [ends[0][2], *(3 * (h[1:] * m[:-1] + h[:-1] * m[1:])).tolist(), ends[1][2]]
    for k in range(1, len(middle)):  # Gaussian elimination of a matrix of three diagonals
        factor = below[k - 1] / middle[k - 1]
        middle[k] -= factor * above[k - 1]
        right[k] -= factor * right[k - 1]
    slopes = [right[-1] / middle[-1]]
    for k in range(len(middle) - 2, -1, -1):
        slopes.append((right[k] - above[k] * slopes[-1]) / middle[k])
    return np.array(slopes[::-1])


def _end_equation(h0: float, h1: float, m0: float, m1: float) -> tuple[float, float, float]:
    """Return the coefficients of the first slope and of the next one, and the right side."""
    return h1, h0 + h1, (m0 * h1 * (3 * h0 + 2 * h1) + m1 * h0**2) / (h0 + h1)


def _monotone_slopes(h: np.ndarray, m: np.ndarray) -> np.ndarray:
    if len(h) == 1:
        return np.array([m[0], m[0]])
    a, b = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    same = m[:-1] * m[1:] > 0.0
    one, two = np.where(same, m[:-1], 1.0), np.where(same, m[1:], 1.0)
    inner = np.where(same, (a + b) / (a / one + b / two), 0.0)
    return np.array(
        [_monotone_end(h[0], h[1], m[0], m[1]), *inner, _monotone_end(h[-1], h[-2], m[-1], m[-2])]
    )


def _monotone_end(h0: float, h1: float, m0: float, m1: float) -> float:
    """Return the slope of the parabola through three points at its end, unless it would overshoot."""
    slope = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    if np.sign(slope) != np.sign(m0):
        return 0.0
    return 3 * m0 if np.sign(m0) != np.sign(m1) and abs(slope) > 3 * abs(m0) else slope
