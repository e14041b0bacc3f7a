"""Which bodies of a mechanism meet by its contacts, and which of them overlap at the start."""

from itertools import combinations
from weakref import WeakKeyDictionary

from linkwork.contact.colliders import Colliders
from linkwork.errors import warn
from linkwork.mechanism.contact import contact_of_all, contacts_of_pairs
from linkwork.mechanism.journaled import LOCKED
from linkwork.mechanism.mechanism import Mechanism

DEEP = 0.01  # of the smaller body's size: an overlap that is not meant
_FEW = 5  # pairs that a warning names


_known: WeakKeyDictionary[Mechanism, Colliders] = WeakKeyDictionary()  # of models, which do not change


def meeting(mechanism: Mechanism) -> Colliders:
    """Return the bodies that may meet by the contacts of a mechanism, as drawn; only those pairs meet.

    That of a model is made once, and shared by all: who moves bodies of it takes a copy.
    """
    if mechanism._journal is not LOCKED:
        return _made(mechanism)
    world = _known.get(mechanism)
    if world is None:
        world = _made(mechanism)
        _ = world.arrays  # are made now, and shared
        _known[mechanism] = world
    return world


def _made(mechanism: Mechanism) -> Colliders:
    world, pairs = Colliders.standing(mechanism), contacts_of_pairs(mechanism)
    if contact_of_all(mechanism) is None:
        about = {name for pair in pairs for name in pair}
        for name in world.names:
            if name not in about:
                world.remove(name)
        for a, b in combinations(sorted(world.names), 2):
            if (a, b) not in pairs:
                world.exclude(a, b)
    return world


def deep_overlaps(world: Colliders) -> dict[tuple[str, str], float]:
    """Return the pairs of bodies that overlap by more than is meant, and how deep they do [m]."""
    found: dict[tuple[str, str], float] = {}
    contacts = world.contacts()
    radius = world.table.reach[:, 6]
    for pair, depth, shapes in zip(contacts.bodies, contacts.depth, contacts.shapes, strict=True):
        if depth > DEEP * 2.0 * radius[shapes].min():
            found[pair] = max(float(depth), found.get(pair, 0.0))
    return found


def warn_of_overlaps(mechanism: Mechanism, world: Colliders) -> None:
    """Warn of bodies that overlap deep where they are."""
    found = sorted(deep_overlaps(world).items(), key=lambda item: -item[1])
    if found:
        named = [f"{a!r} and {b!r} by {depth:.3g} m" for (a, b), depth in found[:_FEW]]
        more = f", and {len(found) - _FEW} more" if len(found) > _FEW else ""
        warn(
            f"mechanism {mechanism.name!r}: bodies overlap at the start: {', '.join(named)}{more}; they are "
            "pushed apart slowly: move them, or let them pass by lw.Contact(..., without=[(a, b)])"
        )
