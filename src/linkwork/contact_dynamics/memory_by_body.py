"""What contacts remember, by bodies and their pieces: as a state keeps it, and edits carry it over."""

from collections.abc import Mapping

import numpy as np

from linkwork.contact_dynamics.detection import Detection
from linkwork.contact_dynamics.memory import NOTHING, Memory
from linkwork.model.carried_contacts import BODIES, HELD, IMPULSE, NAMES, PLACE, names_key
from linkwork.model.model import Model

Array = np.ndarray


class MemoryByBody:
    """Which piece of which body of a model each shape is, and back."""

    def __init__(self, model: Model, detection: Detection) -> None:
        self._key = names_key(model)
        pieces: dict[str, int] = {}
        rows: list[tuple[int, int]] = []
        for name in detection.owners:
            pieces[name] = pieces.get(name, -1) + 1
            rows.append((model.body_rows.get(name, -1), pieces[name]))
        self._rows = np.array(rows, np.int64).reshape(-1, 2)  # of each shape
        self._shapes = {row: shape for shape, row in enumerate(rows)}

    def knows(self, contents: Mapping[str, Array]) -> bool:
        """Whether a memory is that of the same bodies."""
        return np.array_equal(contents.get(NAMES, ()), self._key)

    def contents(self, memory: Memory) -> dict[str, Array]:
        """Return a memory as a state keeps it."""
        bodies = self._rows[memory.pair].reshape(-1, 4)
        kept = {PLACE: memory.place, IMPULSE: memory.impulse, HELD: memory.held}
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
        found = pair[order], contents[PLACE][order], impulse[order], contents[HELD]
        return NOTHING._replace(**dict(zip(Memory._fields, found)))
