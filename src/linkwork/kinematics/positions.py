"""Positions of a mechanism for given values of its drivers: one by one, or many at once, of many sizes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import numpy as np

from linkwork.errors import AssemblyError, unknown
from linkwork.kinematics.assembly import reached
from linkwork.kinematics.driver_count import check_drivers
from linkwork.kinematics.equation_system import system_of
from linkwork.kinematics.lane_solver import LaneSolver
from linkwork.kinematics.newton_call import MOST_UNKNOWNS, near_position
from linkwork.lazy import lazy
from linkwork.mechanism.mechanism import Mechanism
from linkwork.real_numbers import real_array
from linkwork.spelling import Closed, require, spelled_methods

Array = np.ndarray

_SAMPLES = 6  # of starts, that pivots are chosen by
_FINEST = 2.0**-12  # of the way from some sizes to others
_STRIDE = 0.25  # longest way of coordinates at once, while sizes change [rad, sizes of the mechanism]


@spelled_methods
class Positions(Closed):
    """Solve for positions in a loop of your own: `positions(values)`, or `positions.many(values, q)`.

    Numbers of the mechanism that `vary`, by names you give them, may be different in each of many: `sizes`.
    They are named as for `lw.sensitivity`; several that are always equal go by one name, in a list. It
    remembers where the mechanism was last: each thread makes one for itself.

    >>> import linkwork as lw
    >>> m = lw.examples.four_bar()
    >>> motor = m.add(lw.Driver("motor", "A"))
    >>> positions = Positions(m, vary={"rod": ("C", "on_parent", 0)})
    >>> q = positions([0.3])  # coordinates of all bodies: x, y, angle of the crank, ...
    >>> positions.body("rocker").round(6)
    array([0.2     , 0.      , 1.063959])
    >>> q = positions.many([0.3], sizes={"rod": [0.3, 0.31, 0.32]})
    >>> positions.body("rocker", q)[:, 2].round(6)
    array([1.063959, 0.995534, 0.924495])
    """

    def __init__(self, mechanism: Mechanism, *, vary: Mapping[str, Any] | None = None) -> None:
        require("Positions: mechanism", mechanism, Mechanism, "a Mechanism with drivers")
        require("Positions: vary", vary, Mapping | None, "{name: a number of the mechanism}")
        self.system = system_of(mechanism.copy(), vary)
        q = self.system.assemble()
        check_drivers(self.system, q)
        values = np.array([law.at(0.0)[0, 0] for law in self.system.laws])
        self.q = reached(self.system, q, values)  # (nq,) where the mechanism is [m, rad, quaternions]
        self._values = values
        self._drawn_sizes = self.system.sizes()
        self._lane_solver: LaneSolver | Literal[False] | None = False  # not asked for so far
        self._return(self.system.w.ref.copy())

    @property
    def values(self) -> Array:
        """The values of the drivers where the mechanism is."""
        return self._values.copy()

    def __call__(self, values: Any) -> Array:
        """Return the coordinates of all bodies, continuously from where the mechanism was last."""
        room = np.empty(self.system.nq)
        found = self._near(values, room)
        if found is None:  # values are not the array they should be
            values = self._checked(values)
            found = self._near(values, room)
        if found is None or found is False:
            found = self._in_steps(values)
        self.q = found
        return found

    def _checked(self, values: Any) -> Array:
        """Return values of the drivers as an array; ValueError if they are none."""
        goal = real_array("positions: values", values)
        if goal.shape != self._values.shape:
            raise ValueError(f"{goal.shape} values; there are {len(self._values)} drivers")
        if not np.isfinite(goal).all():
            raise ValueError(f"values {goal.tolist()} are not finite")
        return goal

    def _in_steps(self, goal: Array) -> Array:
        """Go to values of the drivers that may be far."""
        turns = self.system.w.ref.copy()
        if self.system.advance(self._values, goal) < 0:
            raise self._stuck(goal, turns)
        self._values[:] = goal
        return self.system.w.q.copy()

    def body(self, name: str, q: Array | None = None) -> Array:
        """Return the coordinates of a body: x, y, angle, or place and quaternion; q may be of many."""
        k = self._number(name)
        size = self.system.coordinates
        return (self.q if q is None else q)[..., size * k : size * (k + 1)]

    def point(self, name: str, point: Sequence[float], q: Array | None = None) -> Array:
        """Return where a point of a body is; q may be of many."""
        pose = self.body(name, q)
        X = self.system.algebra.pose(list(np.moveaxis(pose, -1, 0)))
        return np.stack([np.broadcast_to(x, pose.shape[:-1]) for x in X @ tuple(map(float, point))], -1)

    def _number(self, name: str) -> int:
        names = [body.name for body in self.system.bodies]
        if name not in names:
            raise KeyError(unknown("body", name, names))
        return names.index(name)

    def many(
        self,
        values: Any,
        q: Array | None = None,
        *,
        sizes: Mapping[str, Any] | None = None,
        check: bool = True,
    ) -> Array:
        """Return coordinates (N, nq) for values (N, drivers), each from a start near it: q (N, nq).

        `sizes` are the numbers that vary, (N,) or one for all, by name; others are as drawn. Without q all
        start where the mechanism is. Lanes of SIMD registers hold one each; what does not converge there is
        reached in small steps. What cannot be reached raises AssemblyError; with check=False it is NaN.
        """
        goals, shapes, starts = self._together(values, q, sizes)
        here = self.system.w.ref.copy()
        turns, found, good = np.tile(here, (len(goals), 1)), starts.copy(), np.zeros(len(goals), np.bool_)
        if lanes := self._lanes(starts):
            known = None if q is None else (self._values, here, self.q)
            good = lanes.solve(goals, shapes, turns, found, known)
        try:
            for k in np.flatnonzero(~good):
                near = turns[k] if q is None or lanes else None
                if np.isfinite(starts[k]).all() and self._reached(
                    starts[k], near, q is None, goals[k], shapes[k]
                ):
                    found[k] = self.system.w.q
                elif check:
                    raise self._stuck(goals[k], here, f" (number {k})")
                else:
                    found[k] = np.nan
        finally:
            self._return(here)
        return found

    def _lanes(self, starts: Array) -> LaneSolver | None:
        """Return what solves for many at once, made for those that are first asked for.

        None if there are too many equations, or they do not determine the coordinates here.
        """
        if self._lane_solver is False:
            self._lane_solver = None
            if not self.system.large:
                some = starts[np.linspace(0, len(starts) - 1, _SAMPLES).astype(int)]
                finite = some[np.isfinite(some).all(axis=1)]
                with suppress(ZeroDivisionError):
                    self._lane_solver = LaneSolver(self.system, np.array([self.q, *finite]))
        return self._lane_solver

    def paths(self, values: Any, *, sizes: Mapping[str, Any], check: bool = True) -> Array:
        """Return coordinates (N, times, nq) of N mechanisms that are driven through values (times, drivers).

        `sizes` and `check` are those of `many`.
        """
        goals = np.asarray(values, float).reshape(-1, len(self._values))
        q: Array | None = None
        found = []
        for goal in goals:
            q = self.many(goal, q, sizes=sizes, check=check)
            found.append(q)
        return np.stack(found, axis=1)

    def _together(self, values: Any, q: Any, sizes: Mapping[str, Any] | None) -> tuple[Array, Array, Array]:
        """Return values, sizes and starts of N mechanisms, checked."""
        goals = np.asarray(values, float).reshape(-1, len(self._values))
        names = list(self.system.places)
        columns = dict(zip(names, self._drawn_sizes, strict=True))
        for name, given in (sizes or {}).items():
            if name not in columns:
                raise ValueError(f"sizes: {unknown('name', name, names)}")
            columns[name] = np.asarray(given, float)
            if columns[name].ndim > 1:
                raise ValueError(f"sizes: {name!r} has shape {columns[name].shape}; give one number for each")
        counts = {len(goals), *(len(x) for x in columns.values() if np.ndim(x))}
        counts |= set() if q is None else {len(np.atleast_2d(q))}
        if len(counts - {1}) > 1:
            raise ValueError(f"values, sizes and q are of {sorted(counts)} mechanisms; give as many of each")
        count = max(counts)
        starts = np.broadcast_to(self.q if q is None else np.asarray(q, float), (count, self.system.nq))
        shapes = np.empty((count, len(names)))
        for k, name in enumerate(names):
            shapes[:, k] = columns[name]
        for word, array in (("values", goals), ("sizes", shapes)):
            if not np.isfinite(array).all():
                raise ValueError(f"{word} are not finite; give finite numbers")
        return np.ascontiguousarray(np.broadcast_to(goals, (count, goals.shape[1]))), shapes, starts

    def _reached(self, start: Array, turns: Array | None, from_here: bool, goal: Array, shape: Array) -> bool:
        """Go in small steps to values of the drivers and sizes, from here or from a start of these sizes."""
        system = self.system
        system.place(start, turns)
        if from_here:
            begin = self._values
            system.w.u[::3] = begin
            if not self._resized(self._drawn_sizes, shape):
                return False
        else:
            system.resize(shape)
            begin = system.turned_near(system.driven_values(start), goal)
            system.w.u[::3] = begin
            if system.polish() < 0.0:
                return False
        return system.advance(begin, goal) >= 0

    def _resized(self, start: Array, goal: Array) -> bool:
        """Change sizes from a start to a goal, so slowly that the mechanism stays assembled as it is."""
        system, done, share = self.system, 0.0, 1.0
        while done < 1.0:
            there = min(1.0, done + share)
            kept = system.w.q.copy()
            system.resize(start + there * (goal - start))
            if 0.0 <= system.polish() <= _STRIDE:
                done, share = there, 2.0 * share
                continue
            system.w.q[:] = kept
            share *= 0.5
            if share < _FINEST:
                return False
        return True

    def _return(self, turns: Array) -> None:
        """Let the system be where the mechanism is, its joints counted as `turns` says."""
        self.system.resize(self._drawn_sizes)
        self.system.place(self.q, turns)
        self.system.w.u[::3] = self._values

    @lazy
    def _near(self) -> Callable[[Any, Array], Any]:
        """What goes to values that are near; see `newton_call`."""
        if self.system.n <= MOST_UNKNOWNS:
            with suppress(ZeroDivisionError):
                return near_position(self.system, self.q, self._values)
        return _nowhere

    def _stuck(self, goal: Array, turns: Array, which: str = "") -> AssemblyError:
        self.system.w.u[::3] = goal
        self.system.close(self.system.w.q.copy(), np.ones(self.system.m))
        where = self.system.driven_text(goal) + which
        error = AssemblyError(self.system.open_text(self.system.w.q.copy(), where=where))
        error.final = self.q
        self._return(turns)
        return error


def _nowhere(values: Any, room: Array) -> None:
    """Go to no values at once: for mechanisms whose step is not unrolled."""
