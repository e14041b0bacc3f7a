"""What contacts remember, carried over an edit: by the names of bodies, and of what closes loops.

The memory of steps with contact (`State.memory`) says which bodies of its model touch by their rows in
`body_names`, -1 for ground, and by which piece of each. So it means the same in every model that has these
bodies; contacts of bodies that are gone are forgotten with them.
"""

import hashlib
from collections.abc import Mapping

import numpy as np

from linkwork.model.model import Model

Array = np.ndarray

NAMES = "contact/names"  # in a memory: whose rows are meant, see `names_key`
BODIES = "contact/bodies"  # (n, 4) row and piece of the one, row and piece of the other
PLACE = "contact/place"  # (n, 3) in the world [m]
IMPULSE = "contact/impulse"  # (n, 3) on the first, in the world [N s]
HELD = "contact/held"  # (groups, 3) impulses of the rows of loops, one after the other
SAVED = "contact/saved"  # (1,) work that a step may take


def names_key(model: Model) -> Array:
    """Return a digest, as integers, of the names that rows of a memory stand for."""
    rows = [(loop.name, loop.rows) for loop in model.link_tree.loops]
    digest = hashlib.sha256(repr((model.body_names, rows)).encode()).digest()
    return np.frombuffer(digest, np.dtype("<i8"))


def carried_contacts(old: Model, new: Model, memory: Mapping[str, Array] | None) -> dict[str, Array] | None:
    """Return what contacts of the new model remember of those of the old; None if there was nothing."""
    if memory is None or not np.array_equal(memory.get(NAMES, ()), names_key(old)):
        return None
    rows = np.array([new.body_rows.get(name, -2) for name in old.body_names] + [-1], np.int64)
    bodies = memory[BODIES].copy()
    bodies[:, [0, 2]] = rows[bodies[:, [0, 2]]]
    stay = (bodies[:, [0, 2]] > -2).all(axis=1)
    return {
        NAMES: names_key(new),
        BODIES: bodies[stay],
        PLACE: memory[PLACE][stay],
        IMPULSE: memory[IMPULSE][stay],
        HELD: _held(old, new, memory[HELD]),
        SAVED: memory[SAVED],
    }


def _held(old: Model, new: Model, held: Array) -> Array:
    """Return the impulses of rows of loops, of those that are in both models; zero for others."""
    known, first = {}, 0
    for loop in old.link_tree.loops:
        known[loop.name] = held.ravel()[first : first + loop.rows]
        first += loop.rows
    loops = new.link_tree.loops
    found = np.zeros(3 * -(-sum(loop.rows for loop in loops) // 3))
    first = 0
    for loop in loops:
        before = known.get(loop.name, ())
        if len(before) == loop.rows:
            found[first : first + loop.rows] = before
        first += loop.rows
    return found.reshape(-1, 3)
