"""Which law of a compliant contact gives no number, where bodies are and move: for messages."""

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork.contact.result import Contacts
from linkwork.contact.shape_table import work
from linkwork.contact_dynamics.detection.contact_plan import CURVATURE, SIZE
from linkwork.contact_dynamics.law_kernel import CONTACT_WORDS, FORCE
from linkwork.mechanism.placement import lifted

if TYPE_CHECKING:
    from linkwork.contact_dynamics.compliant.compliant_contacts import CompliantContacts

Array = np.ndarray

_LAW = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


_HUGE = 1e100  # a force that cannot be computed with


def law_fault(
    contacts: "CompliantContacts", bodies: Sequence[str], poses: Array, velocities: Array
) -> tuple[str, str]:
    """Return the contact whose law gives no number, and in words that; both are "" if there is none.

    Bodies have these poses (B, d, d + 1), and velocities (B, f) of their origins.
    """
    places, origins, motions = lifted(poses), np.zeros((len(bodies) + 1, 3)), np.zeros((len(bodies) + 1, 6))
    motions[:-1, slice(None) if velocities.shape[1] == 6 else slice(2, 5)] = velocities
    origins[:-1] = places[:, :, 3]
    number = {name: k for k, name in enumerate(bodies)}
    found = _touching(contacts, bodies, places)
    for shapes, pair, point, normal, depth in zip(
        found.shapes.tolist(), found.bodies, found.point, found.normal, found.depth, strict=True
    ):
        row = int(contacts.row[contacts.pairs.kind[shapes[0]], contacts.pairs.kind[shapes[1]]])
        if row < 0:
            continue
        sides = [number.get(name, len(bodies)) for name in pair]
        u = [motions[k, 3:] + np.cross(motions[k, :3], point - origins[k]) for k in sides]
        rate = float((u[0] - u[1]) @ normal)
        force = _force(contacts, row, (float(depth), rate), contacts.of_shape[shapes])
        if not abs(force) < _HUGE:
            where, law = contacts.said[row]
            at = f"at depth {depth:.6g} m and rate {rate:.6g} m/s, of {pair[0]!r} and {pair[1]!r}"
            return where, f"{where}: its law {law!r} gives {force:.6g} {at}"
    return "", ""


def _touching(contacts: "CompliantContacts", bodies: Sequence[str], places: Array) -> Contacts:
    """Return the contacts of bodies with these poses."""
    world, margin = contacts.world.copy(), float(contacts.margin[0])
    for name, pose in zip(bodies, places, strict=True):
        if name in world.number:
            world.move(name, pose)
    placed = world.shape_poses()
    found = world.contacts(placed, world.pairs_within(placed, margin), margin, work(corners=4))
    return Contacts.of(*found, world.owners)


def _force(contacts: "CompliantContacts", row: int, motion: tuple[float, float], shapes: Array) -> float:
    """Return what a law gives at depth and rate, where 1 kg is felt; or a derivative that is no number."""
    curvature = float(shapes[:, CURVATURE].sum())
    x = np.zeros(CONTACT_WORDS)
    x[:FORCE] = *motion, 1.0 / curvature if curvature > 0.0 else 1e300, shapes[:, SIZE].min(), 1.0
    address, numbers = contacts.laws[row].tolist()
    _LAW(address)(x.ctypes.data, numbers)
    return float(x[FORCE + int(np.argmax(~np.isfinite(x[FORCE:])))])
