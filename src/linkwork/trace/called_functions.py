"""Functions that are called, as nodes of formulas: what cannot be traced, with derivatives by differences.

A node is one row of a function of several numbers, or its derivative along a direction u, or along u and w:

    f(x),    f'(x) u,    f''(x) u w

so that derivatives of formulas that such nodes are in are formulas again. Differences have five points: an
error of h^4, and of rounding over h, or over h^2. With h a thousandth of what is normal for the arguments
both are below 1e-9.
"""

import math
from collections.abc import Callable, Sequence
from itertools import count

Numbers = Sequence[float]
Rows = tuple[float, ...]

_STEP = 1e-3  # of what is normal for the arguments
_KEPT = 64  # values that are remembered
_FIRST = 4  # and those by which it is seen later whether it is still the same function
_serials = count()


class CalledFunction:
    """A function of several numbers that gives several, with its derivatives.

    `sizes` are what is normal for the arguments; `slope(x, u)` is the derivative along u, if it is known.
    """

    def __init__(
        self,
        name: str,
        run: Callable[[Numbers], Numbers],
        sizes: Numbers,
        slope: Callable[[Numbers, Numbers], Numbers] | None = None,
    ) -> None:
        self.name, self._run, self._sizes, self._given = name, run, tuple(sizes), slope
        self.element = name.partition("'")[2].rpartition("'")[0] or name  # its name alone
        self._known: dict[Rows, Rows] = {}
        self._first: dict[Rows, Rows] = {}
        self.serial = next(_serials)

    @property
    def arguments(self) -> int:
        return len(self._sizes)

    def __call__(self, x: Numbers) -> Rows:
        """Return f(x)."""
        key = tuple(x)
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            found = self._known[key] = self._answer(key)
            if len(self._first) < _FIRST:
                self._first[key] = found
        return self._known[key]

    def _answer(self, x: Rows) -> Rows:
        return tuple(float(y) for y in self._run(x))

    def forget(self) -> None:
        """Forget values: what the function reads beside its arguments may have changed."""
        self._known.clear()
        self._first.clear()

    @property
    def answers_otherwise(self) -> bool:
        """Whether it does not give what it gave at first, since it was made to forget."""
        return any(self._answer(x) != found for x, found in self._first.items())

    def slope(self, x: Numbers, u: Numbers) -> Rows:
        """Return f'(x) u."""
        size = self._size(u)
        if not size:
            return tuple(0.0 for _ in self(x))
        if self._given:
            return tuple(float(y) for y in self._given(x, u))
        return _first(lambda s: self(_moved(x, s, u)), _STEP / size)

    def curvature(self, x: Numbers, u: Numbers, w: Numbers) -> Rows:
        """Return f''(x) u w."""
        a, b = self._size(u), self._size(w)
        if not a or not b:
            return tuple(0.0 for _ in self(x))
        if self._given:
            return _first(lambda s: self.slope(_moved(x, s, w), u), _STEP / b)
        if tuple(u) == tuple(w):
            return _second(lambda s: self(_moved(x, s, u)), _STEP / a)
        # f'' (u + w)^2 - f'' (u - w)^2 = 4 f'' u w, both being made of one size
        both = [[p / a + sign * r / b for p, r in zip(u, w, strict=True)] for sign in (1.0, -1.0)]
        plus, minus = (self.curvature(x, way, way) for way in both)
        return tuple(0.25 * a * b * (p - m) for p, m in zip(plus, minus, strict=True))

    def _size(self, u: Numbers) -> float:
        found = max((abs(x) / size for x, size in zip(u, self._sizes, strict=True)), default=0.0)
        if not math.isfinite(found):
            raise ArithmeticError("what it is given is not finite")
        return found


class Called:
    """A row of a function that is called, or of a derivative: 0, 1 or 2 directions follow the numbers."""

    def __init__(self, function: CalledFunction, row: int, directions: int = 0) -> None:
        self.function, self.row, self.directions = function, row, directions

    def __call__(self, *args: float) -> float:
        n = self.function.arguments
        parts = [args[k : k + n] for k in range(0, len(args), n)] or [()]
        f = self.function
        return (f, f.slope, f.curvature)[self.directions](*parts)[self.row]

    def further(self) -> "Called":
        """Return the derivative along one direction more."""
        return Called(self.function, self.row, self.directions + 1)

    @property
    def _key(self) -> tuple[int, int, int]:
        return self.function.serial, self.row, self.directions

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Called) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"called {self.function.name!r} {self._key}"


def _moved(x: Numbers, s: float, u: Numbers) -> list[float]:
    return [p + s * r for p, r in zip(x, u, strict=True)]


def _first(f: Callable[[float], Numbers], h: float) -> Rows:
    """Return f'(0), by five points."""
    points = zip(f(h), f(-h), f(2 * h), f(-2 * h), strict=True)
    return tuple((8.0 * (a - b) - (c - d)) / (12.0 * h) for a, b, c, d in points)


def _second(f: Callable[[float], Numbers], h: float) -> Rows:
    """Return f''(0), by five points."""
    points = zip(f(0.0), f(h), f(-h), f(2 * h), f(-2 * h), strict=True)
    return tuple((16.0 * (a + b) - (c + d) - 30.0 * o) / (12.0 * h * h) for o, a, b, c, d in points)
