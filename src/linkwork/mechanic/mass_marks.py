"""The mass of the selected body in the picture: its centre, and the even box that has the same inertia."""

from itertools import product
from typing import Any

import numpy as np

from linkwork.view.overlays import equal_box
from linkwork.view.palette import AXIS
from linkwork.view.quaternion import quaternions

Array = np.ndarray

_CROSS = 0.02  # of the mechanism's size: half of what marks the centre


class MassMarks:
    """Lines on the selected body while it stands."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._lines: Any = None

    def follow(self, name: str | None) -> None:
        """Show the mass of a body; that of nothing else."""
        page = self._page
        drawing = page.drawing
        k = drawing.bodies.index(name) if name in drawing.bodies else -1
        shown = page.engine is None and k >= 0 and drawing.masses[k] > 0.0
        if self._lines is not None:
            self._lines.visible = bool(shown)
        if not shown:
            return
        axes, sides = equal_box(drawing.inertias[k], drawing.masses[k])
        if drawing.space == "plane":
            sides[:] = 0.0  # of a plate nobody knows them
        pose = page.now().poses[k]
        points = edges(sides, _CROSS * 2.0 * page.camera.radius).astype(np.float32)
        if self._lines is None:
            self._lines = page.server.scene.add_line_segments(
                "/mass", points, AXIS, thickness=2.0, thickness_units="screen"
            )
        elif not np.array_equal(self._lines.points, points):
            self._lines.points = points
        self._lines.position = pose[:, :3] @ drawing.centers[k] + pose[:, 3]
        self._lines.wxyz = quaternions((pose[:, :3] @ axes)[None])[0]


def edges(sides: Array, cross: float) -> Array:
    """Return the edges of a box about the origin, and a cross in its middle, as lines (15, 2, 3)."""
    lines = [(-cross * axis, cross * axis) for axis in np.eye(3)]
    for k, axis in enumerate(np.eye(3)):
        one, other = (0.5 * sides[j] * np.eye(3)[j] for j in range(3) if j != k)
        for a, b in product((-1.0, 1.0), repeat=2):
            foot = a * one + b * other
            lines.append((foot - 0.5 * sides[k] * axis, foot + 0.5 * sides[k] * axis))
    return np.array(lines)
