"""contacts <- t, q, v: what rigid bodies that touch do to each other at moments of a motion."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.detection.colliding_bodies import meeting
from linkwork.contact_dynamics.detection.pair_numbers import (
    FRICTION,
    ROLLING,
    STATIC_FRICTION,
    TORSIONAL,
)
from linkwork.contact_dynamics.detection.pair_table import pair_table
from linkwork.contact_dynamics.event_driven.active_contacts import ActiveContacts
from linkwork.contact_dynamics.event_driven.active_record import SLIDING
from linkwork.contact_dynamics.event_driven.contact_forces import AT_REST, contact_forces
from linkwork.contact_dynamics.event_driven.touching import Surfaces, Touching
from linkwork.model.model import Model

Array = np.ndarray


class TouchingBodies(NamedTuple):
    """Contacts of a moment; bodies by number, ground is -1."""

    bodies: Array  # (n, 2) a and b
    point: Array  # (n, 3) where, in the world [m]
    normal: Array  # (n, 3) from a to b
    depth: Array  # (n,) how far they overlap; negative: the gap [m]
    force: Array  # (n, 3) on b, in world axes [N]


class RigidMoment(NamedTuple):
    """What is rigid in a mechanism, and does at a moment: contacts, stops and friction of joints."""

    contacts: TouchingBodies
    push: Array  # (nv,) what stops and friction do to velocities [N m, N]
    joint_forces: Array  # (nv,) of that in joints of the tree
    loop_forces: Array  # in joints that close loops


def together(each: list[TouchingBodies]) -> TouchingBodies:
    """Return several contacts as one list of them."""
    return TouchingBodies(*map(np.concatenate, zip(*each, strict=True)))


class ContactsInMotion:
    """The rigid contacts of a model at moments of its motion; for one thread at a time."""

    def __init__(self, model: Model) -> None:
        world = meeting(model.mechanism)
        self._table = pair_table(model.mechanism, world)
        surfaces = Surfaces(model, world)
        self._looks = ActiveContacts(surfaces, surfaces.rows(self._table))
        numbers: Mapping[str, int] = {name: k for k, name in enumerate(model.body_names)}
        self._number = np.array([numbers.get(name, -1) for name in world.shape_bodies], np.int64)

    def at(self, t: float, q: Array, v: Array, inputs: Any) -> RigidMoment:
        """Return what there is at a moment: contacts that touch, and do not part."""
        state = q, v, float(t), inputs
        found = contact_forces(self._looks, self._bounds, *state)
        begins = (found.modes.mode == SLIDING) & (np.linalg.norm(found.slip, axis=1) <= AT_REST)
        if begins.any():  # what static friction does not hold slides
            found = contact_forces(self._looks, lambda x, slips: self._bounds(x, slips | begins), *state)
        touching = found.touching
        contacts = TouchingBodies(
            self._number[touching.label[:, :2]],
            touching.place,
            -touching.axes[:, 0],
            -touching.gap,
            -found.world_forces,
        )
        x = self._looks.joints.coordinates
        return RigidMoment(contacts, x.rows.T @ found.joint_forces, *x.forces(found.joint_forces))

    def _bounds(self, touching: Touching, slides: Array) -> Array:
        kind = self._table.kind
        numbers = self._table.numbers[kind[touching.label[:, 0]], kind[touching.label[:, 1]]]
        mu = np.where(slides, numbers[:, FRICTION], numbers[:, STATIC_FRICTION])
        return np.column_stack([mu, numbers[:, TORSIONAL], numbers[:, ROLLING]])
