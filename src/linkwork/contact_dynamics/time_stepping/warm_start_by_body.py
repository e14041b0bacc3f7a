"""What contacts remember, by bodies and their pieces: as a state keeps it, and edits carry it over."""

from collections.abc import Mapping

import numpy as np

from linkwork.contact_dynamics.time_stepping.contact_system import ContactSystem
from linkwork.contact_dynamics.time_stepping.warm_start import Memory
from linkwork.model.carried_contacts import (
    BODIES,
    HELD,
    IMPULSE,
    JOINT_IMPULSE,
    JOINTS,
    LOCKED,
    NAMES,
    PLACE,
    names_key,
)
from linkwork.model.model import Model

Array = np.ndarray


class MemoryByBody:
    """Which piece of which body of a model each shape is, which joint each stop is of; and back."""

    def __init__(self, model: Model, system: ContactSystem) -> None:
        self._key, detection = names_key(model), system.detection
        pieces: dict[str, int] = {}
        rows: list[tuple[int, int]] = []
        for name in detection.owners:
            pieces[name] = pieces.get(name, -1) + 1
            rows.append((model.body_rows.get(name, -1), pieces[name]))
        self._rows = np.array(rows, np.int64).reshape(-1, 2)  # of each shape
        self._shapes = {row: shape for shape, row in enumerate(rows)}
        numbers, of_joints = {name: k for k, name in enumerate(model.joints)}, system.joints.coordinates
        stops = [(numbers[stop.joint], stop.k, int(stop.sign)) for stop in of_joints.stops]
        friction = [(numbers[one.joint], one.k, 0) for one in of_joints.friction]
        self._joints = np.array([*stops, *friction], np.int64).reshape(-1, 3)

    def knows(self, contents: Mapping[str, Array]) -> bool:
        """Whether a memory is that of the same bodies."""
        return np.array_equal(contents.get(NAMES, ()), self._key)

    def contents(self, memory: Memory) -> dict[str, Array]:
        """Return a memory as a state keeps it."""
        bodies = self._rows[memory.pair].reshape(-1, 4)
        kept = {PLACE: memory.place, IMPULSE: memory.impulse, HELD: memory.held}
        joints = self._joints[: len(memory.joint)]  # all, or none
        kept |= {JOINTS: joints, JOINT_IMPULSE: memory.joint, LOCKED: memory.locked}
        return {NAMES: self._key, BODIES: bodies, **kept}

    def memory(self, contents: Mapping[str, Array]) -> Memory:
        """Return the memory of what a state has kept; pieces that are gone are forgotten."""
        ends = contents[BODIES].reshape(-1, 2, 2).tolist()
        pair = np.array([[self._shapes.get(tuple(end), -1) for end in both] for both in ends], np.int64)
        pair = pair.reshape(-1, 2)
        turned = pair[:, 0] > pair[:, 1]  # shapes are numbered otherwise: the impulse is on the other
        impulse = np.where(turned[:, None], -contents[IMPULSE], contents[IMPULSE])
        pair.sort(axis=1)
        order = np.lexsort((pair[:, 1], pair[:, 0]))
        order = order[pair[order, 0] >= 0]
        joint = np.zeros((len(self._joints) if len(contents[JOINTS]) else 0, 3))
        if len(joint):
            known = dict(zip(map(tuple, contents[JOINTS].tolist()), contents[JOINT_IMPULSE], strict=True))
            for k, row in enumerate(map(tuple, self._joints.tolist())):
                joint[k] = known.get(row, 0.0)
        found = pair[order], contents[PLACE][order], impulse[order], contents[HELD]
        return Memory(*found, joint, contents[LOCKED])
