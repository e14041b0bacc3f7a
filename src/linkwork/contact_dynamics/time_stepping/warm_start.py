"""What contacts remember from one step to the next: the impulses that the next solution begins with.

Contacts of a pair of shapes are matched by place, the nearest within reach: names of features change where
edges coincide, places do not. One may have been carried by either shape, or gone along with its centre, as
below a wheel. The only contact of a pair is the same, however far it rolled. Both lists are sorted by pairs.
Impulses are kept along the axes of the world, and turn with the shape that turns less.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.detection.contact_axes import tangents
from linkwork.geometry.vectors import add, cross, dot, scale, sub, three
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry, memory, native, native_within


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


@native
def _carried(motion, centres, k, p, h):
    """Return how far a shape takes a point in a time h, and how far its centre goes."""
    x = memory(motion)
    centre, goes = three(memory(centres), 3 * k), scale(h, three(x, 6 * k))
    turns = scale(h, three(x, 6 * k + 3))
    return add(goes, cross(turns, sub(p, centre))), goes


@native
def _turned(motion, i, j, h, p):
    """Return a vector that the one of two shapes that turns less has turned in a time h."""
    w = (h * motion[i, 3], h * motion[i, 4], h * motion[i, 5])
    other = (h * motion[j, 3], h * motion[j, 4], h * motion[j, 5])
    if dot(other, other) < dot(w, w):
        w = other
    first = cross(w, p)
    return add(add(p, first), scale(0.5, cross(w, first)))


@native
def _distance(x, y):
    """Return the distance of two points, squared."""
    between = sub(x, y)
    return dot(between, between)


@entry(None, _MEMORY, _PAIRS, *[_TABLE] * 3, "float64", "float64", _TABLE)
def recall(before, pair, points, motion, centres, h, reach, impulses):
    """Write the impulses, along the axes of contacts, that those nearest to them had; zero for new ones.

    `points` (n, 6) are places and normals. In the time h since, shapes had a `motion` (shapes, 6): velocities
    of their centres, and spins.
    """
    first, n, k, count = 0, len(before.pair), 0, len(pair)
    best, chosen = np.full(count, reach * reach), np.full(count, -1, np.int64)
    while k < count:
        i, j, begin = pair[k, 0], pair[k, 1], k
        while k < count and pair[k, 0] == i and pair[k, 1] == j:
            k += 1
        while first < n and (
            before.pair[first, 0] < i or (before.pair[first, 0] == i and before.pair[first, 1] < j)
        ):
            first += 1
        last = first
        while last < n and before.pair[last, 0] == i and before.pair[last, 1] == j:
            last += 1
        if k == begin + 1 and last == first + 1:
            chosen[begin] = first
        else:
            _match(before, first, last, motion, centres, i, j, h, points, begin, k, best, chosen)
        first = last
        for c in range(begin, k):
            _write(before, chosen[c], motion, i, j, h, points, c, impulses)


@native
def _match(before, first, last, motion, centres, i, j, h, points, begin, end, best, chosen):
    """Choose for contacts of shapes i and j, from `begin` to `end`, the nearest of some of before."""
    x, places = memory(points), memory(before.place)
    for e in range(first, last):
        was = three(places, 3 * e)
        by_a, with_a = _carried(motion, centres, i, was, h)
        by_b, with_b = _carried(motion, centres, j, was, h)
        by_a, with_a, by_b, with_b = add(was, by_a), add(was, with_a), add(was, by_b), add(was, with_b)
        for c in range(begin, end):
            at = three(x, 6 * c)
            near = min(_distance(at, by_a), _distance(at, by_b))
            near = min(near, min(_distance(at, with_a), _distance(at, with_b)))
            if near < best[c]:
                best[c], chosen[c] = near, e


@native_within
def _write(before, chosen, motion, i, j, h, points, c, impulses):
    """Write the impulse that contact c of shapes i and j begins with."""
    impulses[c, 0] = impulses[c, 1] = impulses[c, 2] = 0.0
    if chosen < 0:
        return
    normal = (points[c, 3], points[c, 4], points[c, 5])
    a, b = tangents(normal)
    p = (before.impulse[chosen, 0], before.impulse[chosen, 1], before.impulse[chosen, 2])
    p = _turned(motion, i, j, h, p)
    impulses[c, 0], impulses[c, 1], impulses[c, 2] = dot(normal, p), dot(a, p), dot(b, p)


@entry(None, _TABLE, _TABLE, _TABLE)
def in_the_world(points, impulses, found):
    """Write impulses along the axes of contacts as vectors of the world."""
    for k in range(len(points)):
        normal = (points[k, 3], points[k, 4], points[k, 5])
        a, b = tangents(normal)
        for i in range(3):
            found[k, i] = normal[i] * impulses[k, 0] + a[i] * impulses[k, 1] + b[i] * impulses[k, 2]
