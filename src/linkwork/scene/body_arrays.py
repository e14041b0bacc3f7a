"""Poses, velocities and boxes of all bodies of a scene, in rows; a mechanism has rows one after the other.

Handles read these arrays, steps write to them: reading where a body is costs an index.
"""

from typing import Any

import numpy as np

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
        X, V = self.poses[rows], self.velocities[rows]
        R = X[:, :, :3]
        centre = (R @ self.boxes[rows, 0][:, :, None])[:, :, 0] + X[:, :, 3]
        half = (np.abs(R) @ self.boxes[rows, 1][:, :, None])[:, :, 0]
        speed = np.sqrt((V[:, 3:] ** 2).sum(axis=1)) + np.sqrt((V[:, :3] ** 2).sum(axis=1)) * self.reach[rows]
        half = half + (_MARGIN + fall + 1.5 * h * speed)[:, None]
        return centre - half, centre + half
