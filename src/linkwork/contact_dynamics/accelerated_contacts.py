"""b <- contacts on bodies that joints and drivers move: how relative velocities change until the step's end.

The velocities that a step finds in its middle hold until the middle of the next one, so they are to obey the
laws of contact as the end of the step has them. Links of trees and what is driven accelerate on the way, and
bodies that turn together turn the direction of their velocities: a box that stands on a turntable would go on
along the tangent. With shapes i and j, c their centres, w their spins, a and w' their accelerations without
forces, the velocity of i at a point p that moves by dp/dt changes by

    a_i + w'_i x (p - c_i) + w_i x (dp/dt - dc_i/dt),

and the gap, beside that, by dn/dt times the slip. A ball has the point below its centre (as in
`compliant_forces`). Bodies that turn together are taken for one: then the last terms of both together are
-w x (w x (c_i - c_j)). Where neither is so, as under a wheel that is a cylinder, the point is taken to move
as the centre of each.
"""

from math import sqrt

import numpy as np

from linkwork.contact.shape_kinds import CAPSULE, POLYGON, SPHERE
from linkwork.contact.shape_table import POINTS as CORNERS
from linkwork.contact_dynamics.contact_problem import CONTACTS, Contacts
from linkwork.contact_dynamics.contact_rows import POINTS, Points
from linkwork.contact_dynamics.contact_system import ContactSystem
from linkwork.contact_dynamics.inertial_motion import InertialMotion
from linkwork.contact_dynamics.nodes import tangents
from linkwork.contact_dynamics.reach import fill_reach
from linkwork.contact_dynamics.step_loops import centres_of, copy_two
from linkwork.geometry.vectors import add, along, cross, dot, scale, sub, three
from linkwork.native.numba_functions import entry, memory, native
from linkwork.native.stages import Program, Value

Array = np.ndarray

_TOGETHER = 1e-3  # difference of spins, as a part of them


class AcceleratedContacts:
    """Finds how velocities at contacts change; for one thread."""

    def __init__(self, system: ContactSystem, inertial: InertialMotion) -> None:
        self._system, self._inertial = system, inertial
        n, table = len(system.detection.reach), system.detection.table
        disc = (table.kind == POLYGON) & (table.index[:, CORNERS] == 1)
        round_ = disc | np.isin(table.kind, (SPHERE, CAPSULE))
        self._curvature = np.where(round_, 1.0 / np.maximum(table.size[:, 0], 1e-300), 0.0)
        self._centres, self._now, self._later = np.zeros((n, 3)), np.zeros((n, 6)), np.zeros((n, 6))
        self._q, self._v, self._reach = np.zeros(system.model.nq), np.zeros(system.model.nv), np.zeros(n)

    def add_stages(
        self, program: Program, rows: Contacts, points: Points, q: Array, v: Array, t: Value, ahead: Value
    ) -> None:
        """Add to a program what adds to the rows how relative velocities change in a time `ahead`.

        The system is at q; afterwards it is there again.
        """
        system, d = self._system, self._system.detection
        program.loop(centres_of, d.poses, d.table.reach, self._centres)
        program.loop(copy_two, q, v, self._q, self._v)
        self._inertial.add_stages(program, self._q, self._v, t, ahead)
        given = system.layout, d.shapes, system.poses, system.J
        program.loop(fill_reach, *given, v, 0.0, self._now, self._reach)
        system.add_placing(program, self._q)
        program.loop(fill_reach, *given, self._v, 0.0, self._later, self._reach)
        system.add_placing(program, q)
        program.loop(_add, points, self._now, self._later, self._centres, self._curvature, ahead, rows)


@native
def _velocity(motion, centres, k, p):
    """Return the velocity of a shape at a point."""
    w = three(motion, 6 * k + 3)
    return add(three(motion, 6 * k), cross(w, sub(p, three(centres, 3 * k))))


@native
def _changes(now, later, centres, k, p, moves, ahead):
    """Return how the velocity of a shape at a point that moves changes, per time."""
    a = scale(1.0 / ahead, sub(three(later, 6 * k), three(now, 6 * k)))
    turns = scale(1.0 / ahead, sub(three(later, 6 * k + 3), three(now, 6 * k + 3)))
    a = add(a, cross(turns, sub(p, three(centres, 3 * k))))
    return add(a, cross(three(now, 6 * k + 3), sub(moves, three(now, 6 * k))))


@entry(None, POINTS, *["float64[:, ::1]"] * 3, "float64[::1]", "float64", CONTACTS)
def _add(points, motions, motions_later, centres_of, curvature, ahead, c):
    now, later, centres = memory(motions), memory(motions_later), memory(centres_of)
    for k in range(len(points.gap)):
        i, j = points.pair[k, 0], points.pair[k, 1]
        p = (points.place[k, 0], points.place[k, 1], points.place[k, 2])
        n = (points.place[k, 3], points.place[k, 4], points.place[k, 5])
        w_i, w_j = three(now, 6 * i + 3), three(now, 6 * j + 3)
        u_i, u_j = _velocity(now, centres, i, p), _velocity(now, centres, j, p)
        w, total = sub(w_i, w_j), curvature[i] + curvature[j]
        size = sqrt(dot(w_i, w_i)) + sqrt(dot(w_j, w_j))
        moves_i, moves_j, turns = three(now, 6 * i), three(now, 6 * j), (0.0, 0.0, 0.0)
        together = sqrt(dot(w, w)) <= _TOGETHER * size
        if together:
            turns = cross(w_j, n)
        elif total > 0.0:
            moves_i = add(scale(curvature[i] / total, u_i), scale(curvature[j] / total, u_j))
            moves_i = moves_j = along(moves_i, 1.0 / total, cross(w, n))
            turns = along(cross(w_j, n), curvature[j], sub(moves_j, u_j))
        change = sub(
            _changes(now, later, centres, i, p, moves_i, ahead),
            _changes(now, later, centres, j, p, moves_j, ahead),
        )
        if together:
            between = sub(three(centres, 3 * i), three(centres, 3 * j))
            change = sub(change, cross(w_j, cross(w_j, between)))
        first, second = tangents(n)
        c.bias[k, 0] += ahead * (dot(n, change) + dot(turns, sub(u_i, u_j)))
        c.bias[k, 1] += ahead * dot(first, change)
        c.bias[k, 2] += ahead * dot(second, change)
