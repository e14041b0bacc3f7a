"""Dead points of a motion: where its equations are singular, so that the drivers do not determine it.

How regular the equations are at a position is the least singular value of the scaled phi_q, with the sign of
its determinant where it is square. Along a motion it changes its sign where a dead point is passed, and comes
down to zero where one is only touched. Both are looked for between the samples of a motion, the mechanism
being driven there from the nearest of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from linkwork.kinematics.driver_count import in_words
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.sparse_newton import Factors

Array = np.ndarray

_TOUCHED = 1e-6  # a singular value that is none: positions near a dead point are known to half the digits
_PART = 1e-6  # share of a force, or of a motion, that is worth a name
_AROUND = 1e-3  # of an interval: how far from a dead point its time is estimated best


@dataclass(frozen=True)
class DeadPoint:
    """Where the drivers do not determine the motion: velocities and forces there are the least that do."""

    name: str
    time: float  # [s]
    drivers: tuple[str, ...] = ()  # that cannot move it alone
    free: str = ""  # what can move while they stand still

    def __str__(self) -> str:
        names = ", ".join(map(repr, self.drivers))
        return f"{self.name} at t = {self.time:.6g} s, for {names}" + (
            f": {self.free} can move" if self.free else ""
        )


def dead_points(system: System, times: Array, q: Array) -> tuple[DeadPoint, ...]:
    """Return the dead points that a motion meets, passes or touches."""
    if not system.drivers or not len(times):
        return ()
    path = _Path(system, times, q)
    found: list[tuple[float, Array]] = []
    for time, where in path.places():
        if not found or abs(time - found[-1][0]) > 1e-9 * max(1.0, abs(time)):
            found.append((time, where))
    return tuple(_described(system, n, *place) for n, place in enumerate(found, 1))


class _Path:
    """A motion between its samples."""

    def __init__(self, system: System, times: Array, q: Array) -> None:
        self._system, self._times, self._q = system, times, q
        self._values = np.stack([law.at(times)[:, 0] for law in system.laws], axis=-1)
        self._at_samples = np.array([regularity(system, each) for each in q])

    def position(self, t: float, k: int) -> Array | None:
        """Return the position at a time, driven there from sample k; None if it cannot be."""
        system = self._system
        goal = np.array([law.at(t)[0, 0] for law in system.laws])
        system.place(self._q[k])
        return system.w.q.copy() if system.advance(self._values[k], goal) >= 0 else None

    def regular(self, t: float, k: int) -> float:
        where = self.position(t, k)
        return 0.0 if where is None else regularity(self._system, where)

    def places(self) -> Iterator[tuple[float, Array]]:
        """Yield times and positions of dead points."""
        s, t = self._at_samples, self._times
        size, last = np.abs(s), len(self._times) - 1
        for k in range(len(s)):
            before, after = max(k - 1, 0), min(k + 1, last)
            firm = size[before] > _TOUCHED and size[after] > _TOUCHED  # beside k
            firm = firm and (t[k] - t[before]) * (t[after] - t[k]) >= 0.0  # and times go on
            if size[k] < _TOUCHED and not (before < k < after and firm):
                rests = k > 0 and size[k - 1] < _TOUCHED and (self._values[k] == self._values[k - 1]).all()
                if not rests:
                    yield float(t[k]), self._q[k]
            elif not firm:
                continue
            elif size[k] >= _TOUCHED and s[before] * s[k] < 0.0:
                yield self._there(self._passed(float(t[before]), float(t[k]), before), before)
            elif size[k] < _TOUCHED and s[before] * s[after] < 0.0:
                yield self._there(self._passed(float(t[before]), float(t[after]), before), before)
            elif s[before] * s[after] > 0.0 and size[k] <= min(size[before], size[after]) and before < after:
                start = before if before < k else after
                at, least = self._lowest(float(t[before]), float(t[after]), start)
                if least < _TOUCHED:
                    yield self._there(at, start)

    def _there(self, t: float, k: int) -> tuple[float, Array]:
        where = self.position(t, k)
        return t, self._system.w.q.copy() if where is None else where

    def _passed(self, begin: float, end: float, k: int) -> float:
        """Return when the regularity is zero, between times at which its signs differ."""
        at = root(lambda t: self.regular(t, k), begin, end, 1e-9 * abs(end - begin))
        return self._refined(at, begin, end, k, lambda s: Polynomial(s).roots())

    def _lowest(self, begin: float, end: float, k: int) -> tuple[float, float]:
        """Return when the regularity is nearest to zero, and how near."""
        from scipy.optimize import minimize_scalar  # at first use: importing it takes long

        found: Any = minimize_scalar(
            lambda t: self.regular(t, k) ** 2,
            bounds=sorted((begin, end)),
            method="bounded",
            options={"xatol": 1e-9 * abs(end - begin)},
        )
        inside = float(found.x)
        at = min((inside, begin, end), key=lambda t: abs(self.regular(t, k)))
        least = abs(self.regular(at, k))
        if at == inside:
            at = self._refined(at, begin, end, k, lambda s: Polynomial(s).deriv().roots(), power=2)
        return at, least

    def _refined(self, at: float, begin: float, end: float, k: int, roots: Any, power: int = 1) -> float:
        """Return a time nearer to a dead point, from the regularity, or its square, not so near to it.

        Near by, positions are known to half the digits only; a polynomial through places around knows more.
        """
        h = _AROUND * abs(end - begin)
        places = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
        if not min(begin, end) + 3.0 * h < at < max(begin, end) - 3.0 * h:
            return at
        values = [self.regular(at + h * x, k) ** power for x in places.tolist()]
        found = roots(Polynomial.fit(places, values, 5, domain=[-1, 1]).coef)
        near = [float(x.real) for x in found if abs(x.imag) < 1e-9 and abs(x.real) < 1.0]
        return at + h * min(near, key=abs, default=0.0)


def root(function: Callable[[float], float], begin: float, end: float, tolerance: float) -> float:
    """Return where a function that has different signs at both ends is zero (Brent)."""
    from scipy.optimize import brentq  # at first use: importing it takes long

    found: Any = brentq(function, begin, end, xtol=tolerance)
    return float(found)


def regularity(system: System, q: Array) -> float:
    """Return the least singular value of the scaled equations, with the sign of their determinant."""
    system.evaluate(q)
    if system.large:
        return Factors(system).regularity()
    left, sizes, right = np.linalg.svd(system.scaled_matrix())
    least = float(sizes[-1]) if system.m >= system.n else 0.0
    if system.m != system.n:
        return least
    return float(np.sign(np.linalg.det(left) * np.linalg.det(right))) * least


def _described(system: System, number: int, time: float, q: Array) -> DeadPoint:
    """Name the drivers that have no hold, and what can move without them."""
    names = tuple(driver.name for driver in system.drivers)
    name = f"dead point {number}"
    if system.large:
        return DeadPoint(name, time, names)
    system.evaluate(q)
    left, _, right = np.linalg.svd(system.scaled_matrix())
    weights = np.abs(left[system.driver_rows, system.n - 1]) if system.m >= system.n else np.ones(len(names))
    held = tuple(d for d, weight in zip(names, weights, strict=True) if weight > _PART)
    return DeadPoint(name, time, held or names, in_words(system, q, right[-1]))
