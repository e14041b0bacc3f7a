"""Drawings of mechanisms in the plane, by matplotlib: links, joints, and traces of points.

A body is drawn by its `visuals` that are arrays of points (k, 2) or (k, 3) in its frame, closed or not; one
without is drawn between its joints. A mechanism in space is seen along an axis.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.joints import Prismatic
from linkwork.mechanism.mechanism import Mechanism

Array = np.ndarray

_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito
_VIEWS = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


class Drawing:
    """The lines and points of a mechanism in the axes of matplotlib, that can be moved."""

    def __init__(self, mechanism: Mechanism, axes: Any, view: str = "xy") -> None:
        if view not in _VIEWS:
            raise ValueError(f"view {view!r}; give one of {', '.join(map(repr, _VIEWS))}")
        self.mechanism, self.axes = mechanism, axes
        self._view = list(_VIEWS[view])
        self._size = 3 if mechanism.space == "space" else 2
        self._outlines = {name: self._outline(name) for name in ("ground", *mechanism.bodies)}
        self._lines: list[tuple[str, Array, Any]] = []
        for name, color in zip(self._outlines, cycle(_COLORS), strict=False):
            width, tone = (1.0, "#808080") if name == "ground" else (3.0, color)
            style = "--" if name == "ground" else "-"
            for points in self._outlines[name]:
                (line,) = axes.plot(
                    [], [], style, color=tone, linewidth=width, solid_capstyle="round", zorder=1
                )
                self._lines.append((name, points, line))
        self._joints = []
        for joint in mechanism.joints.values():
            marker = "s" if isinstance(joint, Prismatic) else "o"
            (dot,) = axes.plot(
                [], [], marker, color="#202020", markerfacecolor="white", markersize=6, zorder=3
            )
            self._joints.append((joint, dot))
        axes.set_aspect("equal", adjustable="box")

    def _outline(self, name: str) -> list[Array]:
        """Return the lines of a body, in its frame."""
        body = self.mechanism.bodies.get(name, self.mechanism.ground)
        drawn = [v for v in body.visuals if isinstance(v, np.ndarray | list | tuple) and np.ndim(v) == 2]
        if drawn:
            return [np.pad(np.array(v, float), ((0, 0), (0, self._size - np.shape(v)[1]))) for v in drawn]
        points = []
        for joint in self.mechanism.joints.values():
            for end, frame in zip(joint.bodies, joint.frames(), strict=True):
                if end is body:
                    points.append(np.array(frame.position, float))
        if not points:
            return []
        if name != "ground" and np.abs(points).max() > 0.0 and len(points) == 1:
            points.append(np.zeros(self._size))  # a link with one joint reaches to its origin
        return [np.array([*points, points[0]] if len(points) > 2 and name != "ground" else points)]

    def place(self, frames: Mapping[str, Any]) -> list[Any]:
        """Move everything to where the bodies are; return what was moved."""
        moved = []
        for name, points, line in self._lines:
            places = np.array([np.array(frames[name] @ tuple(p), float) for p in points.tolist()])
            line.set_data(*places[:, self._view].T)
            moved.append(line)
        for joint, dot in self._joints:
            place = np.array((frames[joint.child.name] @ joint.frames()[1]).p, float)[self._view]
            dot.set_data([place[0]], [place[1]])
            moved.append(dot)
        return moved

    def seen(self, points: Array) -> Array:
        """Return points (k, 2) as they are seen."""
        return points[..., self._view]


def drawn_frames(mechanism: Mechanism) -> dict[str, Any]:
    """Return where the bodies are drawn."""
    Frame = ALGEBRA[mechanism.space].Frame
    found = {"ground": Frame()}
    for name, body in mechanism.bodies.items():
        found[name] = Frame(body.position.tolist(), body.rotation.tolist())
    return found


def plot(mechanism: Mechanism, axes: Any = None, *, view: str = "xy", names: bool = True) -> Any:
    """Draw a mechanism as it is drawn, and return the axes."""
    from matplotlib import pyplot

    if axes is None:
        axes = pyplot.subplots(layout="constrained")[1]
    picture = Drawing(mechanism, axes, view)
    frames = drawn_frames(mechanism)
    picture.place(frames)
    if names:
        for joint in mechanism.joints.values():
            _annotate(axes, picture, joint, frames)
    axes.relim()
    axes.autoscale_view()
    axes.set_title(mechanism.name, loc="left")
    return axes


def _annotate(axes: Any, picture: Drawing, joint: Joint, frames: Mapping[str, Any]) -> None:
    place = picture.seen(np.array((frames[joint.child.name] @ joint.frames()[1]).p, float))
    axes.annotate(joint.name, place, xytext=(5, 5), textcoords="offset points", fontsize=9)


def animate(
    mechanism: Mechanism,
    frames: Sequence[Mapping[str, Any]],
    traces: Mapping[str, Array],
    time: Array,
    axes: Any = None,
    *,
    view: str = "xy",
    interval: float = 40.0,
) -> Any:
    """Return an animation of matplotlib; `traces` are curves by name, (times, 2 or 3)."""
    from matplotlib import pyplot
    from matplotlib.animation import FuncAnimation

    if axes is None:
        axes = pyplot.subplots(layout="constrained")[1]
    picture = Drawing(mechanism, axes, view)
    curves = []
    for (name, points), color in zip(traces.items(), cycle(_COLORS), strict=False):
        seen = picture.seen(points)
        axes.plot(*seen.T, color=color, linewidth=0.5, alpha=0.4)
        curves.append((seen, axes.plot([], [], color=color, linewidth=1.5, label=name)[0]))
    for each in frames:  # so that the axes have room for all
        picture.place(each)
        axes.relim()
        axes.autoscale_view()
    axes.set_autoscale_on(False)
    words = axes.set_title("", loc="left")

    def step(k: int) -> list[Any]:
        for seen, line in curves:
            line.set_data(*seen[: k + 1].T)
        words.set_text(f"{mechanism.name}, t = {time[k]:.3g} s")
        return [*picture.place(frames[k]), *(line for _, line in curves), words]

    return FuncAnimation(axes.figure, step, frames=len(frames), interval=interval, blit=False)
