"""What is known of contacts, stops and friction of joints where something happens: for `mode_transitions`."""

from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.detection.pair_numbers import (
    FRICTION,
    RESTITUTION,
    ROLLING,
    STATIC_FRICTION,
    TORSIONAL,
    PairTable,
)
from linkwork.contact_dynamics.event_driven.contact_response import Response
from linkwork.contact_dynamics.event_driven.touching import Touching
from linkwork.contact_dynamics.problem.friction_cone import STOPPED
from linkwork.contact_dynamics.problem.rigid_joints import JointLook, JointProblem

Array = np.ndarray

_BOUNDS = [FRICTION, TORSIONAL, ROLLING]
_OF_CONTACTS = ("u", "bias", "bound", "static_friction", "restitution")


class MaterialLaw:
    """What materials say of contacts."""

    def __init__(self, table: PairTable) -> None:
        self._table = table

    def __call__(self, touching: Touching) -> tuple[Array, Array, Array]:
        """Return bounds (n, 3) of contacts, static friction (n,) and restitution (n,).

        Bounds are friction, torsional and rolling resistance.
        """
        i, j = self._table.kind[touching.label[:, 0]], self._table.kind[touching.label[:, 1]]
        numbers = self._table.numbers[i, j]
        return numbers[:, _BOUNDS], numbers[:, STATIC_FRICTION], numbers[:, RESTITUTION]


class Look(NamedTuple):
    """Contacts that touch, and what is known of them."""

    touching: Touching
    given: Response
    u: Array  # (n, 3 or 6) relative velocities [m/s, rad/s]
    bias: Array  # (n, 3 or 6) relative accelerations without contact [m/s^2, rad/s^2]
    cancels: float  # how large their parts are, of forces and of motion [m/s^2]
    bound: Array  # (n, 3) friction, torsional and rolling resistance
    static_friction: Array  # (n,)
    restitution: Array  # (n,)
    joints: JointLook  # stops that are closed, friction of joints
    free: Array  # (nv,) accelerations without contact, and without what of joints is at rest

    def some(self, which: Array, of_joints: Array) -> "Look":
        """Return that of some of the contacts, and of some rows of joints."""
        return self._replace(
            touching=self.touching.some(which),
            given=self.given._replace(rows=self.given.rows[which]),
            joints=self.joints.some(of_joints),
            **{name: getattr(self, name)[which] for name in _OF_CONTACTS},
        )

    @property
    def stops(self) -> Array:
        """Which rows of joints are stops (m,)."""
        return self.joints.kind == STOPPED

    def problem(self) -> JointProblem:
        """Return the problem of joints' rows, in accelerations."""
        return self.joints.problem(self.given.reduced, self.free)
