"""Pixels without a browser or a display: triangles through a depth buffer, with shading and shadows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.view.camera import View
from linkwork.view.drawing import Drawing
from linkwork.view.drawn_pieces import Piece
from linkwork.view.ground_plane import level_ground
from linkwork.view.palette import BACKGROUND
from linkwork.view.picture_scene import Label, Lines, PictureScene, Surface
from linkwork.view.picture_scene import normals as normals_of
from linkwork.view.picture_text import SIZE, write
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.raster_loops import SHADOW, blend, fill

Array = np.ndarray

_FINER = 2  # pixels are this much finer while drawing, along each side
_NEAR = 1e-3  # of the distance to what is looked at: nothing nearer is drawn
_GRID, _GRID_STRONG = 0.94, 0.86  # brightness of lines on the floor


@dataclass(frozen=True, eq=False)
class _Seen:
    """Triangles in the picture."""

    points: Array  # (V, 3) in fine pixels, with one over the distance
    faces: Array  # (F, 3)
    colours: Array  # (V, 4) with the opacity


class _Group:
    """Pieces on bodies, of one opacity."""

    def __init__(self, pieces: Sequence[Piece], numbers: Mapping[str, int]) -> None:
        self._opacity = pieces[0].opacity
        self._vertices, self._normals, self._faces = _together(pieces)
        counts = [len(piece.shell.vertices) for piece in pieces]
        self._bodies = np.repeat([numbers[piece.body] for piece in pieces], counts)
        self._colours = np.repeat(np.array([piece.colour for piece in pieces], float), counts, axis=0)

    def placed(self, world: WorldPoses) -> Surface:
        """Return the pieces where the bodies are."""
        R, p = world.rotations[self._bodies], world.positions[self._bodies]
        vertices = np.einsum("vij,vj->vi", R, self._vertices) + p
        normals = np.einsum("vij,vj->vi", R, self._normals)
        return Surface(vertices, normals, self._faces, self._colours, self._opacity, shadow=True)


class Renderer:
    """Draws a mechanism from one place, at any poses; where nothing is, the empty picture is taken.

    What is seen through is drawn last, over all else: of several such things only the nearest.
    """

    def __init__(
        self,
        drawing: Drawing,
        view: View,
        size: tuple[int, int],
        floor: float | None,
        scene: PictureScene | None = None,
    ) -> None:
        """Take a view, a size in pixels, how high the floor is along `up`, if there is one, and overlays."""
        self._width, self._height = size[0] * _FINER, size[1] * _FINER
        self._drawing, self._view, self._floor = drawing, view, floor
        self._scene = PictureScene(view, size) if scene is None else scene
        numbers = {name: k for k, name in enumerate(drawing.bodies)} | {"ground": -1}
        laid = level_ground(drawing)
        pieces = [each for each in drawing.pieces if laid is None or each is not laid.piece]
        pieces += drawing.glyphs
        self._groups = [
            _Group([piece for piece in pieces if piece.opacity == opacity], numbers)
            for opacity in sorted({piece.opacity for piece in pieces})
        ]
        self._axes = _axes(view)
        self._light = self._axes @ np.array([-0.45, 0.75, 0.6]) + 0.3 * drawing.up
        self._light /= np.linalg.norm(self._light)
        self._empty = self._floor_picture()
        self._image = np.full((self._height, self._width, 3), -1.0, np.float32)
        self._shadow, self._depth = (np.zeros((self._height, self._width)) for _ in range(2))
        self._plain = np.empty((*size[::-1], 3), np.uint8)  # a picture of nothing
        everything = np.array([0, size[1], 0, size[0]])
        blend(self._image, self._shadow, self._empty, _FINER, everything, self._plain)

    def __call__(self, poses: Array) -> Array:
        """Return the picture (height, width, 3) of bytes at poses (B, 3, 4)."""
        world = WorldPoses.of(poses)
        shown = [*(group.placed(world) for group in self._groups), *self._scene.drawn()]
        surfaces = [each for each in shown if isinstance(each, Surface)]
        solid = self._together([each for each in surfaces if each.opacity == 1.0])
        solid = _joined([solid, *(self._ribbons(each) for each in shown if isinstance(each, Lines))])
        clear = self._together([each for each in surfaces if each.opacity < 1.0])
        flat, flat_faces = np.zeros((0, 3)), np.zeros((0, 3), int)
        if self._floor is not None:
            casting = self._together([each for each in surfaces if each.shadow], self._cast)
            flat, flat_faces = casting.points, casting.faces
        window = self._window(np.concatenate([solid.points, clear.points, flat]))
        top, bottom, left, right = (_FINER * window).tolist()
        self._image[top:bottom, left:right] = -1.0
        for plane in (self._shadow, self._depth):
            plane[top:bottom, left:right] = 0.0
        if len(flat):
            none = np.empty((self._height, self._width, 0), np.float32)
            fill(flat, flat_faces, np.empty((len(flat), 0)), none, self._shadow)
        fill(solid.points, solid.faces, solid.colours[:, :3].copy(), self._image, self._depth)
        if len(clear.points):
            self._cover(clear)
        out = self._plain.copy()
        blend(self._image, self._shadow, self._empty, _FINER, window, out)
        for label in (each for each in shown if isinstance(each, Label)):
            ((x, y, near),) = self._projected(label.place[None])
            if near > 0.0:
                place = (x + 0.5) / _FINER, (y + 0.5) / _FINER + 0.35 * SIZE
                write(out, label.text, *place, centred=label.centred, boxed=True)
        return out

    def _together(self, surfaces: Sequence[Surface], to: Callable[[Array], Array] | None = None) -> _Seen:
        """Return surfaces as they are seen, or as they would be somewhere else."""
        seen = []
        for each in surfaces:
            vertices = each.vertices if to is None else to(each.vertices)
            opacities = np.full(len(vertices), each.opacity)
            colours = np.column_stack([self._shaded(each.normals, each.colours), opacities])
            seen.append(_Seen(self._projected(vertices), each.faces, colours))
        return _joined(seen)

    def _ribbons(self, lines: Lines) -> _Seen:
        """Return lines as strips of their width in pixels; what begins or ends behind the eye is left out."""
        ends = self._projected(lines.ends.reshape(-1, 3)).reshape(-1, 2, 3)
        ends = ends[(ends[:, :, 2] > 0.0).all(axis=1)]
        way = ends[:, 1, :2] - ends[:, 0, :2]
        way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)
        aside = np.zeros((len(ends), 1, 3))
        aside[:, 0, :2] = 0.5 * _FINER * lines.width * np.column_stack([-way[:, 1], way[:, 0]])
        corners = np.concatenate([ends - aside, ends + aside], axis=1).reshape(-1, 3)
        first = 4 * np.arange(len(ends))[:, None, None]
        faces = (np.array([(0, 1, 3), (0, 3, 2)])[None] + first).reshape(-1, 3)
        return _Seen(corners, faces, np.tile([*lines.colour, 1.0], (len(corners), 1)))

    def _cover(self, clear: _Seen) -> None:
        """Lay what is seen through over what was drawn: of several such things the nearest."""
        glass, depth = np.full((*self._depth.shape, 4), -1.0, np.float32), self._depth.copy()
        fill(clear.points, clear.faces, clear.colours, glass, depth)
        seen = glass[:, :, 3] >= 0.0
        behind, strength = self._image[seen], glass[seen][:, 3:]
        ground = self._empty[seen] * np.where(self._shadow[seen] > 0.0, SHADOW, 1.0)[:, None]
        behind = np.where(behind < 0.0, ground, behind)
        self._image[seen] = strength * glass[seen][:, :3] + (1.0 - strength) * behind

    def _window(self, points: Array) -> Array:
        """Return the part of the picture (top, bottom, left, right) that points lie in, in coarse pixels."""
        points = points[points[:, 2] > 0.0]
        if not len(points):
            return np.zeros(4, int)
        width, height = self._width // _FINER, self._height // _FINER
        low, high = points[:, :2].min(axis=0) / _FINER, points[:, :2].max(axis=0) / _FINER
        left, right = (int(np.clip(x, 0, width)) for x in (low[0] - 1.0, high[0] + 2.0))
        top, bottom = (int(np.clip(y, 0, height)) for y in (low[1] - 1.0, high[1] + 2.0))
        return np.array([top, bottom, left, right])

    def _shaded(self, normals: Array, colours: Array) -> Array:
        towards = self._axes[:, 2]
        facing = np.sign(normals @ towards)
        bright = (
            0.55 + 0.45 * np.maximum(facing * (normals @ self._light), 0.0) + 0.12 * np.abs(normals @ towards)
        )
        return np.minimum(colours * bright[:, None], 255.0)

    def _projected(self, points: Array) -> Array:
        """Return places in the picture, in pixels, with one over the distance."""
        there = (points - self._view.position) @ self._axes
        distance = -there[:, 2]
        near = _NEAR * float(np.linalg.norm(self._view.position - self._view.look_at))
        inverse = np.where(distance > near, 1.0 / np.maximum(distance, near), -1.0)
        focal = 0.5 * self._height / np.tan(self._view.fov / 2.0)
        x = 0.5 * self._width + focal * there[:, 0] * np.abs(inverse) - 0.5
        y = 0.5 * self._height - focal * there[:, 1] * np.abs(inverse) - 0.5
        return np.column_stack([x, y, inverse])

    def _cast(self, vertices: Array) -> Array:
        """Return where the shadows of points fall on the floor."""
        up = self._drawing.up
        light = up + 0.35 * self._axes[:, 0]
        height = vertices @ up - (self._floor or 0.0)
        return vertices - np.outer(np.maximum(height, 0.0) / (light @ up), light)

    def _floor_picture(self) -> Array:
        """Return the background: a grid where the floor is."""
        image = np.tile(np.array(BACKGROUND, np.float32), (self._height, self._width, 1))
        if self._floor is None:
            return image
        up = self._drawing.up
        focal = 0.5 * self._height / np.tan(self._view.fov / 2.0)
        x = (np.arange(self._width) - 0.5 * self._width + 0.5) / focal
        y = (0.5 * self._height - np.arange(self._height) - 0.5) / focal
        rays = self._axes[:, 0] * x[None, :, None] + self._axes[:, 1] * y[:, None, None] - self._axes[:, 2]
        falling = rays @ up
        with np.errstate(divide="ignore", invalid="ignore"):
            far = (self._floor - self._view.position @ up) / falling
        seen = (far > 0.0) & np.isfinite(far)
        places = self._view.position + rays * np.where(seen, far, 0.0)[..., None]
        cell = 10.0 ** np.floor(np.log10(0.3 * self._drawing.size))
        away = 8.0 * np.linalg.norm(self._view.position - self._view.look_at)
        faded = np.clip(1.0 - np.where(seen, far, np.inf) / away, 0.0, 1.0)
        bright = np.ones(image.shape[:2], np.float32)
        for step, strength in ((cell / 2.0, _GRID), (cell * 2.0, _GRID_STRONG)):
            for axis in np.eye(3)[np.abs(up) < 0.5]:
                along = places @ axis
                width = 0.6 * np.where(seen, far, 1.0) / focal * _FINER
                on_line = seen & (np.abs(along - step * np.round(along / step)) < width)
                bright = np.where(on_line, np.minimum(bright, 1.0 - (1.0 - strength) * faded), bright)
        return image * bright[..., None].astype(np.float32)


def _axes(view: View) -> Array:
    """Return the camera's axes as columns: right, up, and towards the viewer."""
    back = view.position - view.look_at
    back = back / np.linalg.norm(back)
    right = np.cross(view.up, back)
    right /= np.linalg.norm(right)
    return np.column_stack([right, np.cross(back, right), back])


def _together(pieces: Sequence[Piece]) -> tuple[Array, Array, Array]:
    """Return vertices and normals on their bodies, and faces, of pieces."""
    vertices, normals, faces = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros((0, 3), int)]
    first = 0
    for piece in pieces:
        corners = piece.shell.corners
        R, p = piece.pose[:, :3], piece.pose[:, 3]
        vertices.append(corners @ R.T + p)
        normals.append(normals_of(corners, piece.shell.faces) @ R.T)
        faces.append(piece.shell.faces + first)
        first += len(corners)
    return np.concatenate(vertices), np.concatenate(normals), np.concatenate(faces)


def _joined(parts: Sequence[_Seen]) -> _Seen:
    firsts = np.cumsum([0, *(len(part.points) for part in parts)])
    return _Seen(
        np.concatenate([np.zeros((0, 3)), *(part.points for part in parts)]),
        np.concatenate([np.zeros((0, 3), int), *(part.faces + first for part, first in zip(parts, firsts))]),
        np.concatenate([np.zeros((0, 4)), *(part.colours for part in parts)]),
    )
