"""Rows of joints in the problem of contacts: rigid stops, and dry friction that sticks.

A stop is a contact without friction: its gap may close until the next look, in a time h, and no farther,

    u + b >= 0,    b = gap / h,  or 0 within `SLACK` of it.

Dry friction gives an impulse of at most f h against the velocity, and ends it if it can (`friction_cone`).

*What is held stays.* Between two looks bodies move by their inertia, and centrifugal forces would drive a
coordinate that friction or a stop holds. So it is locked meanwhile: a drive with an inertia A as large as that
of a mountain turns with it (`inertial_motion`). From its start at rest it takes up a speed dv; A dv is the
impulse that the lock has borne, and which the next look gives back to the mechanism, for friction and stops
to bear, or not.
"""

from math import inf

import numpy as np

from linkwork.contact_dynamics.contact_problem import CONTACTS, NODES, WHERE, Contacts, Nodes
from linkwork.contact_dynamics.friction_cone import DRY, STOPPED
from linkwork.contact_dynamics.joint_coordinates import JointCoordinates
from linkwork.model.model import Model
from linkwork.native.numba_functions import entry

Array = np.ndarray

SLACK = 1e-10  # of a stop [rad, m]
CLOSED = 1e-9  # a gap that has closed at the time of an impact [rad, m]
APART = 1e9  # added to a velocity: a row that does nothing
_REACH = 5.0  # speed with which a coordinate may come from nowhere [rad/s, m/s]
_HELD = 1e-7  # a coordinate that is held and slower than this stands still [rad/s, m/s]


class JointRows:
    """Stops and friction of joints at the place of a model; for one thread at a time."""

    def __init__(self, model: Model) -> None:
        self.coordinates = JointCoordinates(model)
        self.stops, self.count = len(self.coordinates.stops), len(self.coordinates)
        self.chosen = np.zeros(0, np.int64)  # rows of the last problem
        self.bounces = bool((self.coordinates.restitution > 0.0).any())
        self._kind = np.where(np.arange(self.count) < self.stops, STOPPED, DRY)

    def near(self, v: Array, h: float) -> Array:
        """Return the rows that count in a time h, from velocities v: friction, and stops that may be met."""
        x = self.coordinates
        rate = x.rows[: self.stops] @ v
        met = x.gap <= h * (_REACH + 2.0 * np.abs(rate))
        return np.concatenate([np.flatnonzero(met), np.arange(self.stops, self.count)])

    def missed(self, v: Array, h: float) -> Array:
        """Return the stops that velocities v pass within h, and that were not chosen."""
        x = self.coordinates
        passed = x.gap + h * (x.rows[: self.stops] @ v) < -SLACK
        passed[self.chosen[self.chosen < self.stops]] = False
        return np.flatnonzero(passed)

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
        c.bias[first:last, 0][stops] = np.where(np.abs(gap) <= SLACK, 0.0, gap / h)
        return last

    def bounce_times(self, v: Array, a: Array, ahead: float, h: float) -> Array:
        """Return when stops will bounce (stops,), as `time_of_impact.bounce_times` does for contacts."""
        x = self.coordinates
        u, f = x.rows[: self.stops] @ v, x.rows[: self.stops] @ a
        g = x.gap + ahead * u
        square = u * u - 2.0 * f * g
        D = np.sqrt(np.maximum(square, 0.0))
        lasts = (x.restitution > 0.0) & (square > 0.0) & (2.0 * x.restitution * D > np.abs(f) * h)
        with np.errstate(divide="ignore", invalid="ignore"):
            soon = np.where(u < 0.0, np.maximum(2.0 * g / (D - u), 0.0), np.where(f < 0.0, -(u + D) / f, inf))
        return np.where(lasts, soon, inf)

    def wait(self, times: Array, c: Contacts, first: int) -> None:
        """Let stops do nothing that are still apart, and will bounce later."""
        for row, r in enumerate(self.chosen[self.chosen < self.stops].tolist(), first):
            if times[r] < inf and self.coordinates.gap[r] > SLACK:
                c.bias[row, 0] = APART

    def part(self, c: Contacts, first: int, count: int) -> Array:
        """Let stops that are apart do nothing; return the restitution of rows (count,)."""
        x, e = self.coordinates, np.zeros(count)
        for row, r in enumerate(self.chosen[self.chosen < self.stops].tolist(), first):
            c.bias[row, 0] = 0.0 if x.gap[r] <= CLOSED else APART
            e[row] = x.restitution[r]
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
