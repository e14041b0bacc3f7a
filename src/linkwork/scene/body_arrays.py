"""Poses, velocities and boxes of all bodies of a scene, in rows; a mechanism has rows one after the other.

Handles read these arrays, steps write to them: reading where a body is costs an index.
"""

from math import sqrt
from typing import Any

import numpy as np

from linkwork.native.numba_functions import entry

Array = np.ndarray

_MARGIN = 0.02  # bodies whose boxes come closer than this may meet [m]


class BodyArrays:
    """Rows of bodies, with room that is given back and taken again."""

    def __init__(self) -> None:
        self.poses = np.zeros((0, 3, 4))  # (n, 3, 4) rows of [R | p], in the world
        self.velocities = np.zeros((0, 6))  # (n, 6) angular, of the origin; in world axes [rad/s, m/s]
        self.boxes = np.zeros((0, 2, 3))  # (n, 2, 3) centre and half widths, in the body's frame [m]
        self.reach = np.zeros(0)  # (n,) how far from the body's origin its shapes go [m]
        self._free: dict[int, list[int]] = {}  # first rows of blocks that were given back, by their size
        self._end = 0
        self.version = 0  # changes when rows are taken or given back

    def take(self, boxes: Array) -> int:
        """Return the first of as many rows as there are boxes (n, 2, 3), lowest and highest corner."""
        count = len(boxes)
        self.version += 1
        if self._free.get(count):
            first = self._free[count].pop()
        else:
            first, self._end = self._end, self._end + count
            while self._end > len(self.poses):
                self._grow()
        rows = slice(first, first + count)
        self.boxes[rows, 0], self.boxes[rows, 1] = boxes.mean(axis=1), 0.5 * (boxes[:, 1] - boxes[:, 0])
        self.reach[rows] = np.linalg.norm(np.abs(self.boxes[rows, 0]) + self.boxes[rows, 1], axis=1)
        return first

    def give_back(self, first: int, count: int) -> None:
        """Let others use rows."""
        self.version += 1
        self._free.setdefault(count, []).append(first)

    def _grow(self) -> None:
        room = max(64, 2 * len(self.poses))
        for word in ("poses", "velocities", "boxes", "reach"):
            before = getattr(self, word)
            made = np.zeros((room, *before.shape[1:]))
            made[: len(before)] = before
            setattr(self, word, made)

    def reached(self, rows: Any, h: float, fall: float) -> tuple[Array, Array]:
        """Return the boxes (n, 3), (n, 3) that bodies can be in during a time h, from lowest to highest.

        `fall` is how far they may fall in it [m].
        """
        which = np.arange(len(self.poses))[rows]
        low, high = np.zeros((len(which), 3)), np.zeros((len(which), 3))
        arrays = self.poses, self.velocities, self.boxes, self.reach
        _write_boxes(*arrays, which, 1.5 * h, _MARGIN + fall, low, high)
        return low, high


@entry(
    None,
    *("float64[:, :, ::1]", "float64[:, ::1]", "float64[:, :, ::1]", "float64[::1]", "int64[::1]"),
    *("float64", "float64", "float64[:, ::1]", "float64[:, ::1]"),
)
def _write_boxes(poses, velocities, boxes, reach, rows, h, more, low, high):
    """Write the boxes that bodies can be in during a time h, and so much wider."""
    for k in range(len(rows)):
        i = rows[k]
        turns = speed = 0.0
        for r in range(3):
            turns += velocities[i, r] * velocities[i, r]
            speed += velocities[i, 3 + r] * velocities[i, 3 + r]
        wide = more + h * (sqrt(speed) + sqrt(turns) * reach[i])
        for r in range(3):
            at, half = poses[i, r, 3], wide
            for c in range(3):
                at += poses[i, r, c] * boxes[i, 0, c]
                half += abs(poses[i, r, c]) * boxes[i, 1, c]
            low[k, r], high[k, r] = at - half, at + half
