"""What stops and friction of joints do at a moment: their part of the problem of contacts.

With accelerations u' along the rows of stops that are closed, and of friction at rest,

    stops       0 <= N  complementary to  u' >= 0
    friction    |T| <= f;  where u' is not zero, T = -f u' / |u'|

Friction whose joint moves has a given force, f against the velocity.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.friction_cone import DRY, STOPPED
from linkwork.contact_dynamics.problem.rigid_coordinates import RigidCoordinates

Array = np.ndarray

_NOTHING = 1e-9  # of accelerations, and of forces: less is none


class JointProblem(NamedTuple):
    """Rows beside those of contacts, along the free velocities of a `Response`."""

    rows: Array  # (m, r)
    kind: Array  # (m,) STOPPED or DRY
    bias: Array  # (m,) accelerations, or velocities, along them when nothing acts
    bound: Array  # (m,) of friction; 0 of stops


_OF_ROWS = ("number", "rows", "kind", "u", "drift", "bound", "restitution")
NO_JOINTS = JointProblem(np.zeros((0, 0)), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


class JointLook(NamedTuple):
    """Stops that are closed, and friction, at some positions and velocities."""

    number: Array  # (m,) of the rows, among all of the model: those that are at rest
    rows: Array  # (m, nv)
    kind: Array  # (m,)
    u: Array  # (m,) velocities along them
    drift: Array  # (m,) accelerations along them where velocity coordinates are held
    bound: Array  # (m,)
    restitution: Array  # (m,)
    slide: Array  # (all rows,) of friction that is not at rest: 1 forwards, -1 backwards; else 0
    push: Array  # (nv,) what it exerts

    def problem(self, reduced: Callable[[Array], Array], free: Array) -> JointProblem:
        """Return the problem of what is at rest, where the model accelerates by `free` (nv,)."""
        return JointProblem(reduced(self.rows), self.kind, self.rows @ free + self.drift, self.bound)

    def some(self, which: Array) -> "JointLook":
        """Return that of some of the rows."""
        return self._replace(**{name: getattr(self, name)[which] for name in _OF_ROWS})


def look_at_joints(x: RigidCoordinates, q: Array, v: Array, touching: float, at_rest: float) -> JointLook:
    """Return stops whose gap is at most `touching`, and friction; slower than `at_rest` a joint rests."""
    x.place(q)
    drift = x.drift(q, v)
    stops, u = len(x.stops), x.rows @ v
    slide = np.where(np.abs(u) > at_rest, np.sign(u), 0.0)
    slide[:stops] = 0.0
    bound = np.concatenate([np.zeros(stops), x.bound])
    number = np.flatnonzero(np.concatenate([x.gap <= touching, slide[stops:] == 0.0]))
    kind = np.where(number < stops, STOPPED, DRY)
    e = np.concatenate([x.restitution, np.zeros(len(x.bound))])
    push = x.rows.T @ (-slide * bound)
    return JointLook(
        number, x.rows[number], kind, u[number], drift[number], bound[number], e[number], slide, push
    )


class JointModes(NamedTuple):
    """What rows of a `JointProblem` do."""

    held: Array  # (m,) bool: stops that stay closed, friction that sticks
    slide: Array  # (m,) where friction begins to slide to: 1, -1, else 0
    force: Array  # (m,) along the rows

    def holding(self, force: Array) -> "JointModes":
        """Return the same with other forces of what is held."""
        forces = self.force.copy()
        forces[self.held] = force
        return self._replace(force=forces)

    @property
    def given(self) -> Array:
        """The forces of what slides (m,)."""
        return np.where(self.slide != 0.0, self.force, 0.0)


def joint_modes(problem: JointProblem, p: Array, after: Array, none: float) -> JointModes:
    """Return the modes that a solution has: forces p (m,), accelerations after (m,)."""
    stop = problem.kind == STOPPED
    sticks = np.abs(p) < problem.bound * (1.0 - _NOTHING)
    held = np.where(stop, after <= none, sticks)
    slide = np.where(stop | held, 0.0, -np.sign(p))
    return JointModes(held, slide, np.where(slide != 0.0, -slide * problem.bound, p))
