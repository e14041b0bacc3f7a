"""The limits of the selected joint in the picture: an arc or a stroke, whose ends can be pulled."""

from typing import Any

import numpy as np

from linkwork.mechanism.joints import Prismatic
from linkwork.view.glyph import axis_vectors
from linkwork.view.live_panel import ray_of
from linkwork.view.palette import SELECTED

Array = np.ndarray

_RADIUS = 0.13  # of an arc, per size of the mechanism
_BALL = 0.011  # of the ends
_PARTS = 48  # of an arc
_TICK = 0.03  # across the ends of a stroke


class LimitMarks:
    """An arc or a stroke on the joint that is selected, if it has limits."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._name: str | None = None
        self.limits = np.zeros(2)  # as they are shown: of the joint, or pulled but not let go
        self._line: Any = None
        self._ends: list[Any] = []

    def follow(self, name: str | None) -> None:
        """Show the limits of a joint, or none."""
        joint = self._page.editor.mechanism.joints.get(name)
        pairs = np.full((1, 2), np.inf)
        if self._page.engine is None and joint is not None and joint.nv == 1:
            pairs = joint.limit_pairs()
        self._name = name if np.isfinite(pairs).all() else None
        if self._name is None:
            for node in self._nodes():
                node.visible = False
            return
        self.limits = pairs[0].copy()
        self._draw()

    def _nodes(self) -> list[Any]:
        return [] if self._line is None else [self._line, *self._ends]

    def _draw(self) -> None:
        size = 2.0 * self._page.camera.radius
        if self._line is None:
            scene = self._page.server.scene
            self._line = scene.add_line_segments(
                "/limits/line",
                np.zeros((1, 2, 3), np.float32),
                SELECTED,
                thickness=3.0,
                thickness_units="screen",
            )
            for side in (0, 1):
                ball = scene.add_icosphere(f"/limits/{side}", radius=1.0, color=SELECTED, cast_shadow=False)
                self._ends.append(ball)
                self._listen(ball, side)
        self._line.points = segments(*self._frame(), self.limits, size).astype(np.float32)
        for value, ball in zip(self.limits, self._ends, strict=True):
            ball.scale = _BALL * size
            ball.position = place_of(*self._frame(), value, size)
        for node in self._nodes():
            node.visible = True

    def _frame(self) -> tuple[Array, Array, bool]:
        """Return the joint's frame in the world, the axis in it, and whether it turns."""
        joint = self._page.editor.joint(self._name)
        (axis, *_) = axis_vectors(joint.shown_axes or ("z",))
        return self._page.editor.joint_pose(self._name), axis, not isinstance(joint, Prismatic)

    def _listen(self, ball: Any, side: int) -> None:
        async def pulled(event: Any) -> None:
            if self._name is not None:
                self.pull(side, *ray_of(event))
                if event.phase == "end":
                    self._page.in_turn(self.keep, self._name, tuple(self.limits.tolist()))

        ball.on_drag("left")(pulled)

    def pull(self, side: int, eye: Array, ray: Array) -> None:
        """Put one end where a ray of sight meets the arc or the stroke, but not past the other."""
        value = value_at(*self._frame(), eye, ray, float(self.limits[side]))
        if value is not None:
            other = self.limits[1 - side]
            self.limits[side] = max(value, other) if side else min(value, other)
            self._draw()

    def keep(self, name: str, limits: tuple[float, float]) -> None:
        """Make what was pulled the limits of the joint."""
        self._page.try_edit(self._page.editor.change_joint, name, "limits", limits)


def _across(axis: Array) -> tuple[Array, Array]:
    """Return the two axes of a frame that an axis turns into each other."""
    k = int(np.argmax(np.abs(axis)))
    return np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 2) % 3]


def place_of(pose: Array, axis: Array, turns: bool, value: float, size: float) -> Array:
    """Return where a value of a joint is marked in the world."""
    if turns:
        u, v = _across(axis)
        way = _RADIUS * size * (np.cos(value) * u + np.sin(value) * v)
    else:
        way = value * axis
    return pose[:, :3] @ way + pose[:, 3]


def segments(pose: Array, axis: Array, turns: bool, limits: Array, size: float) -> Array:
    """Return the lines (N, 2, 3) of an arc with both its radii, or of a stroke with marks across."""
    low, high = (float(value) for value in limits)
    ends = [place_of(pose, axis, turns, value, size) for value in (low, high)]
    if turns:
        path = np.array([place_of(pose, axis, True, x, size) for x in np.linspace(low, high, _PARTS + 1)])
        arc = np.stack([path[:-1], path[1:]], axis=1)
        return np.concatenate([arc, [(pose[:, 3], end) for end in ends]])
    tick = pose[:, :3] @ _across(axis)[0] * (_TICK * size)
    return np.array([ends, *((end - tick, end + tick) for end in ends)])


def value_at(pose: Array, axis: Array, turns: bool, eye: Array, ray: Array, before: float) -> float | None:
    """Return the value of a joint that is seen along a ray, if one is; an angle nearest to the one before."""
    R, p = pose[:, :3], pose[:, 3]
    way = R @ axis
    if turns:
        down = float(ray @ way)
        if abs(down) < 1e-6 * np.linalg.norm(ray):
            return None  # the plane of the arc is seen from its edge
        u, v = (R @ each for each in _across(axis))
        hit = eye + ray * float((p - eye) @ way) / down - p
        angle = float(np.arctan2(hit @ v, hit @ u))
        return angle + 2.0 * np.pi * round((before - angle) / (2.0 * np.pi))
    # the point p + s way nearest to the ray: way x ray is square to the shortest line between them
    across = np.cross(way, ray)
    if np.linalg.norm(across) < 1e-6 * np.linalg.norm(ray):
        return None
    return float(np.cross(eye - p, ray) @ across / (across @ across))
