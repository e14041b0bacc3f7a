"""Rows of joints in the problem of contacts: rigid stops, and dry friction that sticks.

A stop is a contact without friction: its gap may close until the end of the step, and no farther,

    u + b >= 0,    b = gap / h,  or 0 within `SLACK` of it,  h the time that is left.

When a stop is met is found to `SLACK`, whatever the restitution, and the step is divided there: so no speed
is lost before, and no limit is passed.

Dry friction gives an impulse of at most f h against the velocity, and ends it if it can (`friction_cone`).

*What is held stays.* Between two looks bodies move by their inertia, and centrifugal forces would drive a
coordinate that friction or a stop holds. So it is locked meanwhile: it has a drive whose inertia A is huge
(`inertial_motion`). From its start at rest that takes up a speed dv; A dv is the impulse that the lock has
borne, and which the next look gives back to the mechanism, for friction and stops to bear, or not.
"""

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import CONTACTS, NODES, WHERE, Contacts, Nodes
from linkwork.contact_dynamics.problem.friction_cone import DRY, STOPPED
from linkwork.contact_dynamics.problem.rigid_coordinates import RigidCoordinates
from linkwork.native.numba_functions import entry

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

SLACK = 1e-10  # of a stop [rad, m]
CLOSED = 1e-9  # a gap that has closed at the time of an impact [rad, m]
APART = 1e9  # added to a velocity: a row that does nothing
_REACH = 50.0  # speed with which a coordinate may come from nowhere [rad/s, m/s]
_SUDDEN = 50.0  # half the acceleration with which it may [rad/s^2, m/s^2]
_OUT = 0.2  # of a depth that is taken back in a step, and
_FASTEST = 1.0  # the speed of that at most [rad/s, m/s]
_SLIGHT = 1e-6  # a coordinate that is beyond its limit by less is put back to it [rad, m]
_HELD = 1e-7  # a coordinate that is held and slower than this stands still [rad/s, m/s]


class JointRows:
    """Stops and friction of joints at the place of a model; for one thread at a time."""

    def __init__(self, model: "Model") -> None:
        self.coordinates = RigidCoordinates(model)
        self.stops, self.count = len(self.coordinates.stops), len(self.coordinates)
        rows = (*self.coordinates.stops, *self.coordinates.friction)
        self.lockable = {row.joint for row in rows if row.joint in model.slices}  # names of joints
        self.chosen = np.zeros(0, np.int64)  # rows of the last problem
        self._due = np.zeros(self.stops, bool)  # stops that are met at the end of this part of a step
        self._lasts = np.zeros(self.stops, bool)  # and those of a bounce that is one
        self._deep = np.zeros(self.stops, bool)  # those that were passed from the start
        self._kind = np.where(np.arange(self.count) < self.stops, STOPPED, DRY)

    def near(self, v: Array, h: float) -> Array:
        """Return the rows that count in a time h, from velocities v: friction, and stops that may be met."""
        x = self.coordinates
        rate = x.rows[: self.stops] @ v
        met = x.gap <= h * (_REACH + 2.0 * np.abs(rate))
        return np.concatenate([np.flatnonzero(met), np.arange(self.stops, self.count)])

    @property
    def meets(self) -> bool:
        """Whether a stop is met now."""
        return bool(self._due.any())

    def at_rest(self, q: Array, v: Array, lockable: Array) -> Array:
        """Return (nv, 2) which velocities are none where friction or a stop may hold them, and zeros.

        These become zero.
        """
        x = self.coordinates
        x.place(q)
        near = np.concatenate([np.abs(x.gap) <= CLOSED, np.ones(self.count - self.stops, bool)])
        columns = x.column[near & (x.column >= 0)]
        locked = np.zeros((len(v), 2))
        locked[columns, 0] = lockable[columns] & (np.abs(v[columns]) <= _HELD)
        v[locked[:, 0] > 0.0] = 0.0
        return locked

    def first_row(self, c: Contacts, behind: int) -> int:
        """Return the number of the first of them in c, where `behind` others come after them."""
        return len(c.a) - behind - len(self.chosen)

    def kept(self, impulses: Array) -> Array:
        """Return the impulses of all rows, from those of the chosen ones."""
        found = np.zeros((self.count, 3))
        found[self.chosen] = impulses
        return found

    def fill(self, nodes: Nodes, chosen: Array, h: float, push: float, c: Contacts, first: int) -> int:
        """Write rows into c, from number `first` on; return the number behind them.

        Gaps may close in a time h; friction is `push` times its bound.
        """
        x, self.chosen = self.coordinates, chosen
        _fill(nodes, chosen, x.rows, c, first)
        last = first + len(chosen)
        c.kind[first:last] = self._kind[chosen]
        stops = chosen < self.stops
        c.friction[first:last], c.bias[first:last] = 0.0, 0.0
        c.friction[first:last][~stops] = push * x.bound[chosen[~stops] - self.stops]
        gap = x.gap[chosen[stops]]
        out = np.maximum(_OUT * gap / h, -_FASTEST)
        c.bias[first:last, 0][stops] = np.where(gap > SLACK, gap / h, np.where(gap < -SLACK, out, 0.0))
        return last

    def may_meet(self, q: Array, v: Array, s: float) -> bool:
        """Return whether a stop may be met within s, from q and v."""
        self._due[:] = False
        if not self.stops:
            return False
        x = self.coordinates
        x.place(q)
        u = x.rows[: self.stops] @ v
        self._deep[:] = x.gap < -SLACK
        return bool(((x.gap <= s * (2.0 * np.abs(u) + _SUDDEN * s)) & ((x.gap > SLACK) | (u < -_HELD))).any())

    def first(self, v: Array, a: Array, s: float, h: float) -> float:
        """Return when the first stops are met within s, moving at v with accelerations a; else infinity.

        A rebound that would last less than a step h is none. From the gap g, its rate u and acceleration f,

            g + u t + f t^2 / 2 = 0    is met with  D = sqrt(u^2 - 2 f g),  and  2 e D > |f| h  bounces.
        """
        x = self.coordinates
        u, f, g = x.rows[: self.stops] @ v, x.rows[: self.stops] @ a, x.gap
        square = u * u - 2.0 * f * g
        D = np.sqrt(np.maximum(square, 0.0))
        self._lasts[:] = 2.0 * x.restitution * D > np.abs(f) * h
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(
                u < 0.0, np.maximum(2.0 * g / (D - u), 0.0), np.where(f < 0.0, -(u + D) / f, inf)
            )
        apart = (g > SLACK) | (u < -_HELD)
        times = np.where(apart & (square > 0.0) & (times <= s), times, inf)
        first = float(times.min(initial=inf))
        self._due[:] = (times < inf) & (times <= first + 1e-9 * s)
        return first

    def late(self, q: Array, v: Array) -> float:
        """Return by how long stops that are due have been passed [s]; negative: they are still to be met.

        Those that were passed, and not foreseen, are due, too.
        """
        x = self.coordinates
        x.place(q)
        u = x.rows[: self.stops] @ v
        self._due |= (x.gap < -SLACK) & ~self._deep
        coming = self._due & (u < 0.0)
        if not coming.any():
            return 0.0
        gap, u = x.gap[coming], u[coming]
        k = int(np.argmax(gap / u))
        return 0.0 if abs(gap[k]) <= SLACK else float(gap[k] / u[k])

    def put_back(self, q: Array) -> None:
        """Put coordinates back to their limits that rounding, or an arc, has left beyond these."""
        slight = (self.coordinates.gap < 0.0) & (self.coordinates.gap > -_SLIGHT)
        if slight.any():
            self.coordinates.limit_to(q, slight)

    def wait(self, c: Contacts, first: int) -> None:
        """Let stops do nothing that are met at the end."""
        for row, r in enumerate(self.chosen[self.chosen < self.stops].tolist(), first):
            if self._due[r]:
                c.bias[row, 0] = APART

    def part(self, c: Contacts, first: int, count: int) -> Array:
        """Let stops that are apart do nothing; return the restitution of rows (count,)."""
        x, e = self.coordinates, np.zeros(count)
        for row, r in enumerate(self.chosen[self.chosen < self.stops].tolist(), first):
            c.bias[row, 0] = 0.0 if x.gap[r] <= CLOSED else APART
            e[row] = x.restitution[r] if self._lasts[r] else 0.0
        return e

    def hold(self, c: Contacts, first: int, impulses: Array, v: Array, lockable: Array) -> Array:
        """Return which velocities (nv,) are held, in the tree; these become zero."""
        held = np.zeros(len(v), bool)
        for row, r in enumerate(self.chosen.tolist(), first):
            column, p = int(self.coordinates.column[r]), abs(float(impulses[row, 0]))
            if column < 0 or not lockable[column] or abs(v[column]) > _HELD:
                continue
            if r < self.stops:
                held[column] |= p > 0.0 and c.bias[row, 0] == 0.0
            else:
                held[column] |= p < c.friction[row]
        v[held] = 0.0
        return held

    def hits(self, impulses: Array, first: int) -> list[tuple[tuple[str, str], float]]:
        """Return who hits what, and with which impulses."""
        found = []
        for row, r in enumerate(self.chosen[self.chosen < self.stops].tolist(), first):
            if impulses[row, 0] > 0.0:
                stop = self.coordinates.stops[r]
                found.append(((stop.joint, stop.said), float(impulses[row, 0])))
        return found


@entry(None, NODES, WHERE, "float64[:, ::1]", CONTACTS, "int64")
def _fill(nodes, chosen, rows, c, first):
    """Write the rows of J, one in three, of the node that they are in, and their weights."""
    for i in range(len(chosen)):
        r, k = chosen[i], first + i
        c.a[k] = c.b[k] = c.of[k] = -1
        c.spin[k], total = 0.0, 0.0
        for node in range(len(nodes.size)):
            n, begin, at = nodes.size[node], nodes.first[node], nodes.at[node]
            there = False
            for j in range(n):
                there = there or rows[r, begin + j] != 0.0
            if not there:
                continue
            c.a[k] = node
            for j in range(3 * n):
                c.rows[c.of_a[k] + j] = rows[r, begin + j] if j < n else 0.0
            for j in range(n):
                for l in range(n):
                    total += rows[r, begin + j] * nodes.inverse[at + j * n + l] * rows[r, begin + l]
            break
        c.weight[k] = 1.0 / total if total > 0.0 else 1.0
