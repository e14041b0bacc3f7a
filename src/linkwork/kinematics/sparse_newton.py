"""Newton-Raphson for large mechanisms: the same steps as `newton`, with sparse factors (SuperLU).

A square system is factored as it is. Any other, and every damped one, is solved in its augmented form

    [ 1    A  ] [ r ]   [ b ]
    [ A^T  -d ] [ x ] = [ 0 ]

whose x is the least-squares solution, damped by d.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.kinematics import newton
from linkwork.kinematics.tolerances import BEND, NOISE, OPEN, ROUNDING, ROUNDS, SLACK, SLOW, SMALL, STRIDE

if TYPE_CHECKING:
    from linkwork.kinematics.equation_system import System

Array = np.ndarray

_FINEST = 2.0**-20  # of the way between two values of the drivers
_ITERATIONS = 12  # of the inverse, for the least singular value
_LITTLE = 1e-14  # damping that only makes redundant equations solvable


class Factors:
    """phi_q at one position, scaled, and its factors."""

    def __init__(self, system: "System", weights: Array | None = None, damping: float | None = None) -> None:
        from scipy.sparse import csc_array  # at first use: importing it takes longer than all of our own
        from scipy.sparse.linalg import splu

        w = system.w
        scaled = w.phi_q * system.columns[system.entry_columns]
        if weights is None:
            square = np.bincount(system.entry_rows, scaled * scaled, system.m)
            weights = np.where(square > 0.0, 1.0 / np.sqrt(np.where(square > 0.0, square, 1.0)), 1.0)
        self.weights, self.columns = weights, system.columns
        self.n, self.m = system.n, system.m
        places = system.entry_rows, system.entry_columns
        A = csc_array((scaled * weights[system.entry_rows], places), shape=(self.m, self.n))
        self.square = self.m == self.n and damping is None
        self.singular = False
        if self.square:
            try:
                self._lu = splu(A)
            except RuntimeError:  # exactly singular
                self.square, self.singular = False, True
        if not self.square:
            self._lu = splu(_augmented(A, damping or _LITTLE))

    def solve(self, right: Array) -> Array:
        """Return x, scaled, for right-hand sides of the equations."""
        b = right * self.weights
        if self.square:
            return self._lu.solve(b)
        return self._lu.solve(np.concatenate([b, np.zeros(self.n)]))[self.m :]

    def forces(self, Q: Array) -> Array:
        """Return the least lambda with phi_q^T lambda = Q."""
        scaled = Q * self.columns
        if self.square:
            return self._lu.solve(scaled, "T") * self.weights
        return self._lu.solve(np.concatenate([np.zeros(self.m), scaled]))[: self.m] * self.weights

    def regularity(self) -> float:
        """Return the least singular value, with the sign of the determinant if the equations are square.

        By inverse iteration: it is exact where it is small beside all others, and else no more than a bound.
        """
        if self.singular or self.m < self.n:
            return 0.0
        x, least = np.cos(np.arange(self.n)), np.inf
        for _ in range(_ITERATIONS):
            x /= np.linalg.norm(x)
            if self.square:
                x = self._lu.solve(self._lu.solve(x, "T"))
            else:
                x = self._lu.solve(np.concatenate([np.zeros(self.m), -x]))[self.m :]
            least = min(least, 1.0 / float(np.sqrt(np.linalg.norm(x))))
        return least * (self._sign() if self.square else 1.0)

    def _sign(self) -> float:
        """Return the sign of the determinant: of the diagonal of U, and of both permutations."""
        signs = np.sign(self._lu.U.diagonal())
        swaps = _swaps(self._lu.perm_r) + _swaps(self._lu.perm_c)
        return float(np.prod(signs)) * (-1.0 if swaps % 2 else 1.0)


def _swaps(order: Array) -> int:
    """Return how many swaps make a permutation."""
    left, swaps = order.tolist(), 0
    for k in range(len(left)):
        while left[k] != k:
            to = left[k]
            left[k], left[to] = left[to], to
            swaps += 1
    return swaps


def _augmented(A: Any, damping: float) -> Any:
    from scipy.sparse import block_array, csc_array, eye_array

    m, n = A.shape
    return csc_array(block_array([[eye_array(m), A], [A.T, -damping * eye_array(n)]]))


def _look(system: "System") -> Factors:
    newton.look_at(system.w)
    return Factors(system)


def polish(system: "System") -> float:
    """q <- where all equations are satisfied, near q; how far it moved, -1 if it does not get there."""
    before, way, open_by, w = np.inf, 0.0, np.inf, system.w
    for _ in range(ROUNDS):
        factors = _look(system)
        x = factors.solve(-w.phi)
        step, open_by = float(np.abs(x).max()), float(np.abs(w.phi * factors.weights).max())
        if not np.isfinite(step):
            return -1.0
        if step > SLOW * before and step > NOISE:
            break
        newton.shift(w, x)
        way += step
        if step < SMALL:
            return way if open_by < OPEN else -1.0
        before = step
    return way if open_by < ROUNDING else -1.0


def close(system: "System", weights: Array, most: int) -> float:
    """q <- where the weighted equations are least (Levenberg, Marquardt); the largest left, weighted."""
    w, damping, cost = system.w, 1e-3, np.inf
    kept = w.q.copy()
    for _ in range(most):
        newton.look_at(w)
        now = float(np.sum((weights * w.phi) ** 2))
        if not now < cost:
            w.q[:] = kept
            damping *= 8.0
            if damping > 1e12:
                break
            newton.look_at(w)
        else:
            damping, cost, kept = max(0.2 * damping, _LITTLE), now, w.q.copy()
            if cost < 1e-24:
                break
        x = Factors(system, weights, damping).solve(-w.phi)
        longest = float(np.abs(x).max())
        newton.shift(w, x * min(1.0, STRIDE / longest) if longest > 0.0 else x)
    w.q[:] = kept
    newton.look_at(w)
    return float(np.abs(weights * w.phi).max())


def advance(system: "System", start: Array, goal: Array) -> int:
    """q <- where drivers have the values `goal`, continuously from `start`; see `continuation.drive_to`."""
    w, done, share, steps = system.w, 0.0, 1.0, 0
    tangent: Array | None = None
    while done < 1.0:
        if tangent is None:
            w.u[::3], w.u[1::3] = start + done * (goal - start), goal - start
            factors = _look(system)
            newton.look_at_rates(w)
            tangent = factors.solve(w.velocity)
        pace = float(np.abs(tangent).max(initial=0.0))
        share = min(share, 1.0 - done, STRIDE / pace if pace > 0.0 else 1.0)
        kept, there = w.q.copy(), 1.0 if share >= 1.0 - done else done + share
        w.u[::3] = goal if there == 1.0 else start + there * (goal - start)
        newton.shift(w, tangent * share)
        way = polish(system)
        if 0.0 <= way <= BEND * pace * share + SLACK:
            newton.look_at_rates(w)
            w.ref[:] = w.located
            done, share, steps, tangent = there, 2.0 * share, steps + 1, None
            continue
        w.q[:] = kept
        share *= 0.5
        if share < _FINEST:
            w.u[::3] = start + done * (goal - start)
            return -steps - 1
    return steps


def march(system: "System", drives: Array, q: Array, v: Array, a: Array, start: Array) -> int:
    """q, v, a <- the motion at all times; how many were reached; see `continuation.march`."""
    w = system.w
    for t, drive in enumerate(drives):
        goal = drive[:, 0].copy()
        if advance(system, start, goal) < 0:
            return t
        start[:] = goal
        w.u[:] = drive.ravel()
        factors = _look(system)
        newton.look_at_rates(w)
        w.v[:] = factors.solve(w.velocity) * system.columns
        newton.look_at_rates(w)
        w.a[:] = factors.solve(w.acceleration) * system.columns
        q[t], v[t], a[t] = w.q, w.v, w.a
    return len(drives)
