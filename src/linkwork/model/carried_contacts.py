"""What contacts remember, carried over an edit: by the names of bodies, joints, and of what closes loops.

The memory of steps with contact (`State.memory`) says which bodies of its model touch by their rows in
`body_names`, -1 for ground, and by which piece of each; stops and friction of joints are known by the joint's
number in `joints`. So it means the same in every model that has these bodies and joints; what is gone is
forgotten.
"""

import hashlib
from collections.abc import Mapping
from weakref import WeakKeyDictionary

import numpy as np

from linkwork.model.model import Model

Array = np.ndarray

NAMES = "contact/names"  # in a memory: whose rows are meant, see `names_key`
BODIES = "contact/bodies"  # (n, 4) row and piece of the one, row and piece of the other
PLACE = "contact/place"  # (n, 3) in the world [m]
IMPULSE = "contact/impulse"  # (n, 3) on the first, in the world [N s]
HELD = "contact/held"  # (groups, 3) impulses of the rows of loops, one after the other
JOINTS = "contact/joints"  # (rows, 3) stops and friction: joint, coordinate, side of the stop or 0
JOINT_IMPULSE = "contact/joint_impulse"  # (rows, 3)
LOCKED = "contact/locked"  # (nv, 2) velocities that are locked, and what that has borne; or (0, 2)
SAVED = "contact/saved"  # (2 nodes,) of the model from which it comes: see `ContactState`


_keys: WeakKeyDictionary[Model, Array] = WeakKeyDictionary()


def names_key(model: Model) -> Array:
    """Return a digest, as integers, of the names that rows of a memory stand for."""
    found = _keys.get(model)
    if found is None:
        found = _keys[model] = _names_key(model)
    return found


def _names_key(model: Model) -> Array:
    rows = [(loop.name, loop.rows) for loop in model.link_tree.loops]
    names = model.body_names, tuple(model.joints), tuple(model.slices.items()), rows
    digest = hashlib.sha256(repr(names).encode()).digest()
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
        **_of_joints(old, new, memory),
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


def _of_joints(old: Model, new: Model, memory: Mapping[str, Array]) -> dict[str, Array]:
    """Return what stops and friction remember, of joints that are in both models."""
    numbers = {name: k for k, name in enumerate(new.joints)}
    rows = np.array([numbers.get(name, -1) for name in old.joints], np.int64)
    joints = memory[JOINTS].copy()
    if len(joints):
        joints[:, 0] = rows[joints[:, 0]]
    stay = joints[:, 0] >= 0
    locked = np.zeros((new.nv if len(memory[LOCKED]) else 0, 2))
    for name, (_, at) in new.slices.items() if len(locked) else ():
        was = old.slices.get(name)
        if was is not None and was[1].stop - was[1].start == at.stop - at.start:
            locked[at] = memory[LOCKED][was[1]]
    return {JOINTS: joints[stay], JOINT_IMPULSE: memory[JOINT_IMPULSE][stay], LOCKED: locked}
