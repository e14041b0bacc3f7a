"""Drawings of mechanisms in the plane, by matplotlib: links, joints, constraints, and traces of points.

A body is drawn by its `visuals`: arrays of points (k, 2) or (k, 3) in its frame, closed or not, and shapes;
else by the shapes it is made of, or touched by; else between its joints. A mechanism in space is seen along
an axis.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, warn
from linkwork.formats.mesh_path import load_mesh_file
from linkwork.geometry.skin import Collision, MeshFile, Visual
from linkwork.geometry.solid import Solid
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import ALGEBRA
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.sketch import attachments, sketches
from linkwork.real_numbers import is_finite, shown
from linkwork.spelling import checked_keywords

Array = np.ndarray

_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito
_VIEWS = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
_ROOM = 0.06  # around all that is drawn, of its size
_SHARP = np.cos(np.deg2rad(25))  # edges of faces that meet at more are drawn


class PlanarDrawing:
    """The lines, shapes and points of a mechanism in the axes of matplotlib, that can be moved."""

    def __init__(self, mechanism: Mechanism, axes: Any, view: str = "xy") -> None:
        known = _VIEWS if mechanism.space == "space" else ("xy",)
        if view not in known:
            raise ValueError(f"view {view!r}; give {' or '.join(map(repr, known))}")
        self.mechanism, self.axes = mechanism, axes
        self._view = list(_VIEWS[view])
        self._size = 3 if mechanism.space == "space" else 2
        self._lines: list[tuple[Sequence[tuple[str, Array]], Any]] = []
        self._attached = attachments(mechanism)
        self._shells: list[tuple[str, _Shell]] = []
        colors = cycle(_COLORS)
        for body in (mechanism.ground, *mechanism.bodies.values()):
            self._draw_body(body, "#808080" if body is mechanism.ground else next(colors))
        elements = (*mechanism.constraints.values(), *mechanism.drivers.values(), *mechanism.loads.values())
        for _, line in sketches(elements, self._reach()):
            self._add_line(line.pieces, "-.", "#404040", 1.0)
        self._joints = []
        for joint in mechanism.joints.values():
            marker = "s" if any(mark.shape == "box" for mark in joint.marks) else "o"
            style = {"color": "#202020", "markerfacecolor": "white", "markersize": 6, "zorder": 3}
            self._joints.append((joint, axes.plot([], [], marker, **style)[0]))
        self.low, self.high = np.full(2, np.inf), np.full(2, -np.inf)  # corners of all that was seen
        axes.set_aspect("equal", adjustable="box")

    def _draw_body(self, body: Body, color: str) -> None:
        drawn = list(body.visuals) or [part for part in body.parts if isinstance(part, Solid)]
        drawn = drawn or list(body.collisions)
        grounded = body is self.mechanism.ground
        for thing in drawn:
            if isinstance(thing, np.ndarray | list | tuple):
                points = np.array(thing, float)
                points = np.pad(points, ((0, 0), (0, self._size - points.shape[1])))
                self._add_line([(body.name, points)], "-", color, 1.0 if grounded else 3.0)
            elif (shape := _opened(thing)) is not None:
                self._shells.append((body.name, _Shell(shape, self.axes, color)))
        if not drawn and (points := self._fastened(body)):
            closed = len(points) > 2 and not grounded
            line = np.array([*points, points[0]] if closed else points)
            self._add_line([(body.name, line)], "--" if grounded else "-", color, 1.0 if grounded else 3.0)

    def _add_line(self, line: Sequence[tuple[str, Array]], style: str, color: str, width: float) -> None:
        options = {"color": color, "linewidth": width, "solid_capstyle": "round", "zorder": 1}
        self._lines.append((line, self.axes.plot([], [], style, **options)[0]))

    def _fastened(self, body: Body) -> list[Array]:
        """Return the points of a body at which something holds it."""
        points = [point[: self._size] for point in self._attached.get(body.name, ())]
        if body is not self.mechanism.ground and len(points) == 1 and points[0].any():
            points.append(np.zeros(self._size))  # a link with one joint reaches to its origin
        return points

    def _reach(self) -> float:
        """Return the size of the mechanism as drawn."""
        places = [body.position for body in self.mechanism.bodies.values()]
        places += [point for body in self.mechanism.bodies.values() for point in self._fastened(body)]
        return float(np.ptp(places, axis=0).max()) if places else 1.0

    def place(self, frames: Mapping[str, Any]) -> list[Any]:
        """Move everything to where the bodies are; return what was moved."""
        moved = []
        for pieces, line in self._lines:
            places = np.concatenate([_placed(frames[name], points) for name, points in pieces])
            line.set_data(*self._seen(places).T)
            moved.append(line)
        for name, shell in self._shells:
            moved += shell.place(_in_space(frames[name], self._size), self._view, self._see)
        for joint, dot in self._joints:
            ((x, y),) = self._seen(np.array([(frames[joint.child.name] @ joint.frames()[1]).p], float))
            dot.set_data([x], [y])
            moved.append(dot)
        return moved

    def _seen(self, points: Array) -> Array:
        """Return points (k, 2) as they are seen, and make room for them."""
        seen = points[..., self._view]
        self._see(seen)
        return seen

    def _see(self, points: Array) -> None:
        self.low = np.minimum(self.low, points.reshape(-1, 2).min(axis=0, initial=np.inf))
        self.high = np.maximum(self.high, points.reshape(-1, 2).max(axis=0, initial=-np.inf))

    def trace(self, points: Array) -> Array:
        """Return a path (k, 2) as it is seen."""
        return self._seen(points)

    def fit(self) -> None:
        """Let the axes have room for all that was seen."""
        if np.isfinite(self.low).all():
            room = _ROOM * (float((self.high - self.low).max()) or 1.0)
            self.axes.set_xlim(self.low[0] - room, self.high[0] + room)
            self.axes.set_ylim(self.low[1] - room, self.high[1] + room)

    def write_names(self, frames: Mapping[str, Any]) -> None:
        """Write the names of joints beside them, those at one place together."""
        at: dict[tuple[float, ...], list[str]] = {}
        for joint, _ in self._joints:
            place = np.array((frames[joint.child.name] @ joint.frames()[1]).p, float)[self._view]
            at.setdefault(tuple(place.round(9).tolist()), []).append(joint.name)
        for place, names in at.items():
            self.axes.annotate(", ".join(names), place, xytext=(5, 5), textcoords="offset points", fontsize=9)


class _Shell:
    """A shape: its faces that look at us, the edges of what is seen, and its sharp edges."""

    def __init__(self, shape: Solid, axes: Any, color: str) -> None:
        from matplotlib.collections import LineCollection
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        self._has_end = bool(
            np.isfinite(shape.volume)
        )  # what has none is drawn in part, and not made room for
        self._vertices, self._faces = shape.triangles(24)
        self._edges, self._beside = _edges(np.asarray(self._faces))
        empty = Path(np.zeros((0, 2)))
        self._fill = axes.add_patch(PathPatch(empty, facecolor=color, alpha=0.3, linewidth=0, zorder=0))
        self._outline = axes.add_collection(LineCollection([], colors=color, linewidths=1.5, zorder=1))

    def place(self, pose: tuple[Array, Array], view: list[int], see: Any) -> list[Any]:
        R, p = pose
        world = self._vertices @ R.T + p
        flat = world[:, view]
        if self._has_end:
            see(flat)
        a, b, c = (world[self._faces[:, k]] for k in range(3))
        normals = np.cross(b - a, c - a)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        towards = normals[:, ({0, 1, 2} - set(view)).pop()] * (-1.0 if view == [0, 2] else 1.0)
        one, other = self._beside.T
        edge = other < 0
        meets = np.einsum("ij,ij->i", normals[one], normals[other])
        shown = edge | ((towards[one] > 1e-9) != (towards[other] > 1e-9)) | (meets < _SHARP)
        self._fill.set_path(_union(flat[self._faces[towards > 1e-9]]))
        self._outline.set_segments(flat[self._edges[shown]])
        return [self._fill, self._outline]


def _union(triangles: Array) -> Any:
    """Return triangles (n, 3, 2) of one sense as one path, which is filled without seams."""
    from matplotlib.path import Path

    corners = np.concatenate([triangles, triangles[:, :1]], axis=1).reshape(-1, 2)
    return Path(corners, np.tile([Path.MOVETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], len(triangles)))


def _edges(faces: Array) -> tuple[Array, Array]:
    """Return the edges of triangles (e, 2), and the faces beside them (e, 2), -1 where there is none."""
    pairs = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    owner = np.tile(np.arange(len(faces)), 3)
    edges, first, inverse, counts = np.unique(
        pairs, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    beside = np.stack([owner[first], np.full(len(edges), -1)], axis=-1)
    inverse = inverse.ravel()
    second = np.setdiff1d(np.arange(len(pairs)), first)
    beside[inverse[second], 1] = owner[second]
    beside[counts != 2, 1] = -1
    return edges, beside


def _opened(thing: Any) -> Solid | None:
    """Return the shape of what a body is drawn with, read from its file if it is in one."""
    shape = thing.shape if isinstance(thing, Visual | Collision) else thing
    if isinstance(shape, MeshFile):
        try:
            shape = load_mesh_file(shape, {})
        except (LinkworkError, OSError) as error:
            warn(f"not drawn: {error}")
            return None
    return shape if isinstance(shape, Solid) else None


def _placed(frame: Any, points: Array) -> Array:
    rotation, place = np.asarray(frame.rotation, float), np.asarray(frame.position, float)
    return points[:, : len(place)] @ rotation.T + place


def _in_space(frame: Any, size: int) -> tuple[Array, Array]:
    """Return rotation and place of a frame in space."""
    R, p = np.eye(3), np.zeros(3)
    R[:size, :size], p[:size] = np.asarray(frame.rotation, float), np.asarray(frame.position, float)
    return R, p


@checked_keywords
def image_outline(image: Any, width: float = 1.0, *, level: float = 0.5) -> list[Array]:
    """Return the outlines of what is in an image, for the `visuals` of a body.

    `image` (rows, columns), or with colours (rows, columns, 3 or 4), has numbers from 0 to 1, or whole ones
    to 255; what is above the `level`, by its brightness or by its opacity, is inside. The image is `width`
    wide [m], its middle is the origin.

    >>> import numpy as np
    >>> disc = np.hypot(*np.mgrid[-1:1:41j, -1:1:41j]) < 0.8
    >>> (outline,) = image_outline(disc, 0.1)
    >>> bool(abs(np.hypot(*outline.T).max() - 0.04) < 0.002)
    True
    """
    from contourpy import contour_generator

    if not (is_finite(width) and width > 0.0):
        raise ValueError(f"image_outline: width {width!r}; give metres, above 0")
    if not (is_finite(level) and 0.0 < level < 1.0):
        raise ValueError(f"image_outline: level {level!r}; give a brightness between 0 and 1")
    bright = np.asarray(image)
    if bright.dtype.kind not in "biuf":
        raise ValueError(f"image_outline: image {shown(image)}; give (rows, columns) of numbers")
    bright = (
        bright / 255.0 if bright.dtype.kind in "iu" and bright.max(initial=0) > 1 else bright.astype(float)
    )
    if bright.ndim == 3:
        bright = bright[..., 3] if bright.shape[2] == 4 else bright.mean(axis=2)
    if bright.ndim != 2 or min(bright.shape) < 2 or not np.isfinite(bright).all():
        raise ValueError(
            f"image_outline: an image of shape {np.shape(image)}; give (rows, columns) of numbers"
        )
    bright = np.pad(bright, 1)  # so that outlines are closed
    pixel = width / (bright.shape[1] - 2)
    lines = contour_generator(z=bright).lines(level)
    middle = 0.5 * (np.array(bright.shape[::-1]) - 1.0)
    return [(np.asarray(line) - middle) * (pixel, -pixel) for line in lines if len(line) > 3]


def drawn_frames(mechanism: Mechanism) -> dict[str, Any]:
    """Return where the bodies are drawn."""
    Frame = ALGEBRA[mechanism.space].Frame
    found = {"ground": Frame()}
    for name, body in mechanism.bodies.items():
        found[name] = Frame(body.position.tolist(), body.rotation.tolist())
    return found


@checked_keywords
def plot(mechanism: Mechanism, axes: Any = None, *, view: str = "xy", names: bool = True) -> Any:
    """Draw a mechanism as it is drawn, and return the axes."""
    from matplotlib import pyplot

    if axes is None:
        axes = pyplot.subplots(layout="constrained")[1]
    picture = PlanarDrawing(mechanism, axes, view)
    frames = drawn_frames(mechanism)
    picture.place(frames)
    picture.fit()
    if names:
        picture.write_names(frames)
    axes.set_title(mechanism.name, loc="left")
    return axes


def animate(
    mechanism: Mechanism,
    frames: Sequence[Mapping[str, Any]],
    traces: Iterable[tuple[str, Array]],
    time: Array,
    axes: Any = None,
    *,
    view: str = "xy",
    interval: float = 40.0,
) -> Any:
    """Return an animation of matplotlib; `traces` are curves with names, (times, 2 or 3)."""
    from matplotlib import pyplot
    from matplotlib.animation import FuncAnimation

    if axes is None:
        axes = pyplot.subplots(layout="constrained")[1]
    picture = PlanarDrawing(mechanism, axes, view)
    curves = []
    for (name, points), color in zip(traces, cycle(_COLORS), strict=False):
        seen = picture.trace(points)
        axes.plot(*seen.T, color=color, linewidth=0.5, alpha=0.4)
        curves.append((seen, axes.plot([], [], color=color, linewidth=1.5, label=name)[0]))
    for each in frames:
        picture.place(each)
    picture.fit()
    words = axes.set_title("", loc="left")

    def step(k: int) -> list[Any]:
        for seen, line in curves:
            line.set_data(*seen[: k + 1].T)
        words.set_text(f"{mechanism.name}, t = {time[k]:.3g} s")
        return [*picture.place(frames[k]), *(line for _, line in curves), words]

    step(0)
    return FuncAnimation(axes.figure, step, frames=len(frames), interval=interval, blit=False)
