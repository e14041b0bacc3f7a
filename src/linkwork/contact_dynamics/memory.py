"""What contacts remember from one step to the next: the impulses that the next solution begins with.

Contacts of a pair of shapes are matched by place, the nearest within reach: names of features change where
edges coincide, places do not. The only contact of a pair is the same, however far it rolled. Both lists are
sorted by pairs. Impulses are kept along the axes of the world.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.nodes import tangents
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry


class Memory(NamedTuple):
    """Contacts of the last step."""

    pair: Any  # (n, 2) shapes, sorted
    place: Any  # (n, 3) [m]
    impulse: Any  # (n, 3) in the world [N s]
    held: Any  # (groups, 3) impulses of the rows of loops
    joint: Any  # (rows, 3) those of rows of joints
    locked: Any  # (nv, 2) 1 where a velocity is locked, and what the lock has borne since [N m s, N s]


_NONE = np.zeros((0, 3))
NOTHING = Memory(np.zeros((0, 2), np.int64), _NONE, _NONE, _NONE, _NONE, np.zeros((0, 2)))

_TABLE, _PAIRS = "float64[:, ::1]", "int64[:, ::1]"
_MEMORY = Named(Memory, {"pair": _PAIRS} | dict.fromkeys(Memory._fields[1:], _TABLE))


@entry(None, _MEMORY, _PAIRS, _TABLE, "float64", _TABLE)
def recall(memory, pair, points, reach, impulses):
    """Write the impulses, along the axes of contacts, that those nearest to them had; zero for new ones.

    `points` (n, 6) are places and normals.
    """
    first, n = 0, len(memory.pair)
    for k in range(len(pair)):
        while first < n and (
            memory.pair[first, 0] < pair[k, 0]
            or (memory.pair[first, 0] == pair[k, 0] and memory.pair[first, 1] < pair[k, 1])
        ):
            first += 1
        best, chosen = reach * reach, -1
        i = first
        while i < n and memory.pair[i, 0] == pair[k, 0] and memory.pair[i, 1] == pair[k, 1]:
            x, y, z = (
                memory.place[i, 0] - points[k, 0],
                memory.place[i, 1] - points[k, 1],
                memory.place[i, 2] - points[k, 2],
            )
            if x * x + y * y + z * z < best:
                best, chosen = x * x + y * y + z * z, i
            i += 1
        alone = k == 0 or pair[k - 1, 0] != pair[k, 0] or pair[k - 1, 1] != pair[k, 1]
        alone = alone and (k + 1 == len(pair) or pair[k + 1, 0] != pair[k, 0] or pair[k + 1, 1] != pair[k, 1])
        if alone and i == first + 1:
            chosen = first
        impulses[k, 0] = impulses[k, 1] = impulses[k, 2] = 0.0
        if chosen >= 0:
            normal = (points[k, 3], points[k, 4], points[k, 5])
            a, b = tangents(normal)
            p0, p1, p2 = (
                memory.impulse[chosen, 0],
                memory.impulse[chosen, 1],
                memory.impulse[chosen, 2],
            )
            impulses[k, 0] = normal[0] * p0 + normal[1] * p1 + normal[2] * p2
            impulses[k, 1] = a[0] * p0 + a[1] * p1 + a[2] * p2
            impulses[k, 2] = b[0] * p0 + b[1] * p1 + b[2] * p2


@entry(None, _TABLE, _TABLE, _TABLE)
def in_the_world(points, impulses, found):
    """Write impulses along the axes of contacts as vectors of the world."""
    for k in range(len(points)):
        normal = (points[k, 3], points[k, 4], points[k, 5])
        a, b = tangents(normal)
        for i in range(3):
            found[k, i] = normal[i] * impulses[k, 0] + a[i] * impulses[k, 1] + b[i] * impulses[k, 2]
