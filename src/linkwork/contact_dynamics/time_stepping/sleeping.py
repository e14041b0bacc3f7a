"""Islands that sleep: what contacts hold in place is left out of steps until something happens to it.

An island of nodes that neither moved in a step nor move after it is in balance: with the same accelerations
by forces, the same impulses hold it in the next one, whatever the length of that. So it is left where it is,
and its contacts are not looked for, as long as

    the accelerations that forces give its nodes are the same, to the bit,
    and nothing that is awake comes into contact with it.

Loads, inputs and time change the former. A contact that is still open counts, if bodies may meet within the
step: what is hit is awake when it is. Nodes with other rows than those of contacts, as of loops and of rigid
stops of joints, stay awake.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.detection.detection import Shapes
from linkwork.contact_dynamics.problem.contact_rows import Points
from linkwork.contact_dynamics.problem.nodes import Layout
from linkwork.contact_dynamics.time_stepping.warm_start import NOTHING, Memory
from linkwork.native.numba_functions import entry

if TYPE_CHECKING:
    from linkwork.tree.tree import Tree

Array = np.ndarray


class Asleep(NamedTuple):
    """What sleeps, and what it remembers. Arrays are never written to."""

    label: Any  # (nodes,) the first node of the island that it sleeps in; -1: it is awake
    acceleration: Any  # (nv,) by forces, when it fell asleep
    memory: Memory  # of the contacts in and under these islands


_NO_LABELS = np.zeros(0, np.int64)
ALL_AWAKE = Asleep(np.zeros(0, np.int64), np.zeros(0), NOTHING)


class Sleepers:
    """Which islands of a model fall asleep and wake."""

    def __init__(self, tree: "Tree", layout: Layout, shapes: Shapes) -> None:
        count = len(layout.size)
        self._node_of_v = np.repeat(np.arange(count), layout.size)
        link = np.repeat(np.arange(len(layout.node)), np.diff(tree.starts[:, 1]))
        self._node_of_q = layout.node[link]
        self._node_of_shape = np.full(len(shapes.link), -1)
        inside = np.flatnonzero(shapes.link >= 0)
        link = shapes.link[inside]
        self._node_of_shape[inside] = np.where(layout.last[link] >= 0, layout.node[link], -1)
        self._count = count
        self._known: tuple[Asleep | None, Array] = None, np.zeros(0, bool)

    def still(self, asleep: Asleep) -> Array:
        """Return which shapes cannot move (n,): those of ground, and of what sleeps."""
        if not len(asleep.label):
            return (self._node_of_shape < 0).astype(np.int64)
        return np.append(asleep.label >= 0, True)[self._node_of_shape].astype(np.int64)

    def nodes_of(self, velocities: Sequence[slice]) -> Array:
        """Return the nodes that have these velocities."""
        return np.unique(
            np.concatenate([np.zeros(0, np.int64), *(self._node_of_v[own] for own in velocities)])
        )

    def velocities(self, asleep: Asleep) -> Array:
        """Return which velocities are those of what sleeps (nv,)."""
        if asleep is not self._known[0]:
            self._known = asleep, asleep.label[self._node_of_v] >= 0
        return self._known[1]

    def pushed(self, asleep: Asleep, a: Array) -> Array:
        """Return the labels of islands on which other forces act than when they fell asleep."""
        changed = (a != asleep.acceleration) & self.velocities(asleep)
        return np.unique(asleep.label[self._node_of_v[changed]]) if changed.any() else _NO_LABELS

    def touched(self, asleep: Asleep, points: Points) -> Array:
        """Return the labels of islands that are in contact with what is awake."""
        nodes = self._node_of_shape[points.pair].ravel()
        labels = asleep.label[nodes[nodes >= 0]]
        return np.unique(labels[labels >= 0]) if (labels >= 0).any() else _NO_LABELS

    def awakened(self, asleep: Asleep, labels: Array, memory: Memory) -> tuple[Asleep, Memory]:
        """Return what sleeps after these islands woke, and the memory with that of their contacts."""
        label = np.where(np.isin(asleep.label, labels), -1, asleep.label)
        changed = asleep._replace(label=label)
        kept, awake = self._parted(asleep.memory, changed)
        return (changed._replace(memory=kept) if (label >= 0).any() else ALL_AWAKE), joined(memory, awake)

    def fallen(
        self, asleep: Asleep, of: Array, calm: Array, moved: Array, a: Array, memory: Memory
    ) -> tuple[Asleep, Memory]:
        """Return what sleeps after a step, and the memory of the other contacts.

        `of` (nodes,) are islands, `calm` which of these may sleep, `moved` (nodes,) which nodes move.
        """
        calm = np.append(calm, False)
        calm[of[moved > 0]] = False
        calm[-1] = False  # of -1, where nothing touches
        nodes = np.flatnonzero(calm[of])
        if not len(nodes):
            return asleep, memory
        first = np.zeros(len(calm), np.int64)
        first[of[nodes[::-1]]] = nodes[::-1]
        label = asleep.label.copy() if len(asleep.label) else np.full(self._count, -1)
        label[nodes] = first[of[nodes]]
        now = np.where(np.isin(self._node_of_v, nodes), a, asleep.acceleration if len(asleep.label) else 0.0)
        changed = Asleep(label, now, asleep.memory)
        sleeping, awake = self._parted(memory, changed)
        return changed._replace(memory=joined(asleep.memory, sleeping)), awake

    def moved(self, q: Array, v: Array, new_q: Array, new_v: Array) -> Array:
        """Return which nodes move, before a step or after it: 1, or 0 (nodes,)."""
        found = np.zeros(self._count, np.int64)
        _find_moved(self._node_of_q, self._node_of_v, q, v, new_q, new_v, found)
        return found

    def restored(self, label: Array, a: Array, memory: Memory) -> tuple[Asleep, Memory]:
        """Return what sleeps, and the memory of the other contacts, of those of all."""
        asleep = Asleep(label, a, NOTHING)
        if not (label >= 0).any():
            return ALL_AWAKE, memory
        sleeping, awake = self._parted(memory, asleep)
        return asleep._replace(memory=sleeping), awake

    def _parted(self, memory: Memory, asleep: Asleep) -> tuple[Memory, Memory]:
        """Return the contacts of a memory with something that sleeps, and the others."""
        nodes = self._node_of_shape[memory.pair]
        sleeps = np.append(asleep.label >= 0, False)[nodes]
        sleeps = sleeps[:, 0] | sleeps[:, 1]
        sleeping, awake = (part_of(memory, which) for which in (sleeps, ~sleeps))
        return NOTHING._replace(pair=sleeping.pair, place=sleeping.place, impulse=sleeping.impulse), awake


def part_of(memory: Memory, which: Array) -> Memory:
    """Return some contacts of a memory."""
    pair, place, impulse = (x[which] for x in (memory.pair, memory.place, memory.impulse))
    return memory._replace(pair=pair, place=place, impulse=impulse)


def joined(memory: Memory, other: Memory) -> Memory:
    """Return the contacts of two memories, sorted; all else is that of the first."""
    if not len(other.pair):
        return memory
    pair, place, impulse = (np.concatenate(both) for both in zip(memory[:3], other[:3]))
    order = np.lexsort((pair[:, 1], pair[:, 0]))
    return memory._replace(pair=pair[order], place=place[order], impulse=impulse[order])


@entry(None, *["int64[::1]"] * 2, *["float64[::1]"] * 4, "int64[::1]")
def _find_moved(node_of_q, node_of_v, q, v, new_q, new_v, moved):
    """Write 1 for nodes that are elsewhere, or had or have a velocity."""
    for i in range(len(node_of_q)):
        if q[i] != new_q[i]:
            moved[node_of_q[i]] = 1
    for i in range(len(node_of_v)):
        if v[i] != 0.0 or new_v[i] != 0.0:
            moved[node_of_v[i]] = 1
