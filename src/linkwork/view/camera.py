"""Where to look from."""

from dataclasses import dataclass

import numpy as np

from linkwork.view.body_pieces import box_corners
from linkwork.view.drawing import Drawing

Array = np.ndarray

_FLAT = np.radians(2.0)  # a long lens: a planar mechanism looks flat
_DRAWN = np.radians(0.002)  # so long a lens that depth does not show
_DEEP = np.radians(35.0)
_FAR = 12.0  # times its size: what goes farther is not shown as a whole, but followed
_SURROUNDINGS = 3.0  # how much more is shown of what is followed
_BENCH = 0.15  # what is seen of an empty picture, to all sides [m]
_THIN = 0.35  # depth per width: what is thinner is seen more from the front
_LONG = 12.0  # width per depth and height: what is longer is seen from its end
_STRAY, _MOST = 2.5, 0.05  # times its size: what goes farther is shown but for the farthest part of its ways


@dataclass(frozen=True, eq=False)
class View:
    """A camera."""

    position: Array  # (3,)
    look_at: Array  # (3,)
    up: Array  # (3,)
    fov: float  # vertical [rad]

    @property
    def depths(self) -> tuple[float, float]:
        """The distances between which things are drawn."""
        away = float(np.linalg.norm(self.position - self.look_at))
        return 0.01 * away, 50.0 * away


class Camera:
    """Views of all that a mechanism passes through; of one that goes far away, of where it starts."""

    def __init__(self, drawing: Drawing, passed: Array, room: float = 1.0) -> None:
        """Take where the bodies are, (S, B, 3, 4), at some moments; `room` is how much more is shown."""
        self._room = room
        self._up, self._plane = drawing.up, drawing.space == "plane"
        numbers = {name: k for k, name in enumerate(drawing.bodies)}
        constrained = {each.name for each in drawing.connections}
        marks = [piece for piece in drawing.glyphs if piece.name in constrained or piece.body == "ground"]
        shown = [piece for piece in (*drawing.pieces, *marks) if not piece.shell.endless]
        ends = [end for mark in drawing.springs for end in ((mark.a, mark.on_a), (mark.b, mark.on_b))]
        points = [] if shown or ends else [np.array([[(-_BENCH, -_BENCH, 0.0), (_BENCH, _BENCH, _BENCH)]])]
        boxes = {piece.shell.key: piece.shell.vertices for piece in shown}
        boxes = {key: box_corners(vertices) for key, vertices in boxes.items()}
        placed = [
            (
                piece.body,
                (boxes[piece.shell.key] * piece.shell.scale) @ piece.pose[:, :3].T + piece.pose[:, 3],
            )
            for piece in shown
        ]
        for body, on_body in (*placed, *((body, on[None]) for body, on in ends)):
            if body not in numbers:
                points.append(on_body[None])
                continue
            X = passed[:, numbers[body]]
            points.append(np.einsum("sij,nj->sni", X[:, :, :3], on_body) + X[:, None, :, 3])
        first = np.concatenate([each[0] for each in points])
        everything = np.concatenate([each.reshape(-1, 3) for each in points])
        if _reach(everything) > _STRAY * _reach(first):
            low, high = np.quantile(everything, (_MOST, 1.0 - _MOST), axis=0)
            everything = np.clip(
                everything, np.minimum(low, first.min(axis=0)), np.maximum(high, first.max(axis=0))
            )
        self.wanders = _reach(everything) > _FAR * _reach(first)
        if self.wanders:
            self._room = max(room, _SURROUNDINGS)
        self._points = first if self.wanders else everything
        self.box = np.array([self._points.min(axis=0), self._points.max(axis=0)])
        self.center = self.box.mean(axis=0)
        self.radius = _reach(self._points) or 1.0

    def lowest(self, normal: Array) -> float:
        """Return how low the mechanism reaches along a direction."""
        return float((self._points @ normal).min())

    @property
    def names(self) -> tuple[str, ...]:
        return ("front", "isometric", "side", "top") if self._plane else ("isometric", "front", "side", "top")

    def drawn(self, name: str, aspect: float) -> View:
        """Return a view for a picture: of a planar mechanism as on a drawing board."""
        return self.view(name, aspect, flat=_DRAWN)

    def view(
        self, name: str = "", aspect: float = 1.1, about: Array | None = None, flat: float = _FLAT
    ) -> View:
        """Return a view by name, by default the first of `names`, that shows everything."""
        back, right = self._axes()
        up = self._up
        directions = {
            "front": (back, up),
            "side": (right, up),
            "top": (up, -back),
            "isometric": (self._oblique(back, right), up),
        }
        way, vertical = directions[name or self.names[0]]
        way = way / np.linalg.norm(way)
        fov = flat if self._plane and name in ("", "front") else _DEEP
        target = self._middle(way, vertical) if about is None else about
        return View(target + self._distance(way, vertical, fov, aspect, target) * way, target, vertical, fov)

    def _oblique(self, back: Array, right: Array) -> Array:
        """Return the direction to a viewer who sees three sides, of something thin mostly its face.

        What is long would be a hairline from there: it is seen from its end.
        """
        deep, wide, tall = (float(np.ptp(self._points @ axis)) for axis in (back, right, self._up))
        if wide > _LONG * max(deep, tall):
            return 0.5 * back + 0.8 * right + 0.35 * self._up
        if deep < _THIN * max(wide, tall):
            return back + 0.3 * right + 0.2 * self._up
        return 0.75 * back + 0.5 * right + 0.45 * self._up

    def _middle(self, way: Array, vertical: Array) -> Array:
        """Return the middle of what is seen from a direction."""
        right, top = _across(way, vertical)
        middle = self.center
        for axis in (right, top):
            along = self._points @ axis
            middle = middle + (0.5 * float(along.min() + along.max()) - middle @ axis) * axis
        return middle

    def _axes(self) -> tuple[Array, Array]:
        """Return the directions to the viewer and to the right when seen from the front."""
        if self._plane:
            back = np.array([0.0, 0.0, 1.0])
        else:
            flat = np.eye(3)[np.abs(self._up) < 0.5]  # the two axes of the floor
            extents = [float(np.ptp(self._points @ axis)) for axis in flat]
            back = -flat[1] if self._up[2] else flat[1]
            if extents[1] > 1.5 * extents[0]:
                back = flat[0]
        right = np.cross(self._up, back)
        return back, right

    def _distance(self, way: Array, vertical: Array, fov: float, aspect: float, target: Array) -> float:
        """Return how far to go back from a target until all points are inside the picture."""
        right, top = _across(way, vertical)
        points = self._points - target
        tall = np.tan(fov / 2.0) * 0.86 / self._room
        needed = np.maximum(np.abs(points @ top) / tall, np.abs(points @ right) / (tall * min(aspect, 4.0)))
        return float(max((needed + points @ way).max(), 1e-6 * self.radius, 0.2 * self.radius))


def _across(way: Array, vertical: Array) -> tuple[Array, Array]:
    """Return the directions to the right and up in a picture seen from a direction."""
    right = np.cross(vertical, way)
    right /= np.linalg.norm(right)
    return right, np.cross(way, right)


def _reach(points: Array) -> float:
    """Return half the diagonal of the box round points."""
    return float(np.linalg.norm(np.ptp(points, axis=0))) / 2.0


def projected(points: Array, view: View, size: tuple[int, int]) -> tuple[Array, Array]:
    """Return places in the picture, in pixels, and distances along the line of sight."""
    back = view.position - view.look_at
    back = back / np.linalg.norm(back)
    right = np.cross(view.up, back)
    right /= np.linalg.norm(right)
    there = (points - view.position) @ np.column_stack([right, np.cross(back, right), back])
    distance = -there[:, 2]
    focal = 0.5 * size[1] / np.tan(view.fov / 2.0)
    scale = focal / np.where(distance > 0.0, distance, np.inf)
    return np.column_stack(
        [0.5 * size[0] + there[:, 0] * scale, 0.5 * size[1] - there[:, 1] * scale]
    ), distance
