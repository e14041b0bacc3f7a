"""What the contact of each pair of shapes is like, as arrays for compiled loops.

Shapes that behave alike in every contact are one class: those of one material, whose bodies no contact is
about by itself. So a scene of a thousand crates and a floor has two classes.
"""

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from linkwork.contact.colliders import Colliders
from linkwork.contact_dynamics.detection.pair_numbers import DISSIPATION, FRICTION, PairTable
from linkwork.mechanism.contact import Contact, contact_of_all, contacts_of_pairs, materials_of, sorted_pair
from linkwork.mechanism.journaled import LOCKED
from linkwork.mechanism.material import Material, alone, combined
from linkwork.mechanism.mechanism import Mechanism

_known: WeakKeyDictionary[Mechanism, PairTable] = WeakKeyDictionary()  # of models, which do not change


def pair_table(mechanism: Mechanism, world: Colliders) -> PairTable:
    """Return what the contacts of a world are like, which holds bodies of a mechanism: see `meeting`.

    That of a model is made once.
    """
    if mechanism._journal is not LOCKED:
        return _made(mechanism, world)
    table = _known.get(mechanism)
    if table is None:
        table = _known[mechanism] = _made(mechanism, world)
    return table


def _made(mechanism: Mechanism, world: Colliders) -> PairTable:
    whole, pairs = contact_of_all(mechanism), contacts_of_pairs(mechanism)
    apart = {name for pair in pairs for name in pair}  # whose contacts are not all alike
    bodies = {mechanism.ground.name: mechanism.ground, **mechanism.bodies}
    materials = {name: materials_of(bodies[name]) for name in world.names}
    classes: dict[tuple[Material, str], int] = {}
    kind = []
    for name, number in zip(world.shape_bodies, world.shape_numbers, strict=True):
        key = materials[name][number], name if name in apart else ""
        kind.append(classes.setdefault(key, len(classes)))
    n, order = len(classes), list(mechanism.contacts.values())
    numbers, law = np.zeros((n, n, len(range(FRICTION, DISSIPATION + 1)))), np.full((n, n), -1, np.int64)
    for (one, a), i in classes.items():
        for (other, b), j in classes.items():
            contact = pairs.get(sorted_pair((a, b))) or whole
            if contact is not None:
                numbers[i, j] = _numbers(contact, one, other)
                law[i, j] = -1 if contact.law is None else _place(order, contact)
    return PairTable(np.array(kind, np.int64), numbers, law)


def _numbers(contact: Contact, a: Material, b: Material) -> tuple[float, ...]:
    return alone(contact.material) if contact.material else combined(a, b)


def _place(things: Iterable[Any], thing: Any) -> int:
    return next(k for k, other in enumerate(things) if other is thing)
