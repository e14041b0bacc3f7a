"""Pixels without a browser or a display: triangles through a depth buffer, with shading and shadows."""

from typing import Any

import numpy as np

from linkwork.view.body_pieces import turned_to
from linkwork.view.camera import View
from linkwork.view.drawing import Drawing, Piece
from linkwork.view.palette import BACKGROUND, SPRING
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.raster_loops import blend, fill
from linkwork.view.tessellate import cylinder

Array = np.ndarray

_FINER = 2  # pixels are this much finer while drawing, along each side
_NEAR = 1e-3  # of the distance to what is looked at: nothing nearer is drawn
_GRID, _GRID_STRONG = 0.94, 0.86  # brightness of lines on the floor


class Renderer:
    """Draws a mechanism from one place, at any poses; where nothing is, the empty picture is taken."""

    def __init__(self, drawing: Drawing, view: View, size: tuple[int, int], floor: float | None) -> None:
        """Take a view, a size in pixels, and how high the floor is along `up`, if there is one."""
        self._width, self._height = size[0] * _FINER, size[1] * _FINER
        self._drawing, self._view, self._floor = drawing, view, floor
        numbers = {name: k for k, name in enumerate(drawing.bodies)} | {"ground": -1}
        pieces = [*drawing.pieces, *drawing.glyphs]
        self._vertices, self._normals, self._faces = _together(pieces)
        counts = [len(piece.shell.vertices) for piece in pieces]
        self._bodies = np.repeat([numbers[piece.body] for piece in pieces], counts)
        self._colours = np.repeat(np.array([piece.colour for piece in pieces], float), counts, axis=0)
        self._axes = _axes(view)
        self._light = self._axes @ np.array([-0.45, 0.75, 0.6]) + 0.3 * drawing.up
        self._light /= np.linalg.norm(self._light)
        self._numbers = numbers
        self._empty = self._floor_picture()
        self._image = np.full((self._height, self._width, 3), -1.0, np.float32)
        self._shadow, self._depth = (np.zeros((self._height, self._width)) for _ in range(2))
        self._plain = np.empty((*size[::-1], 3), np.uint8)  # a picture of nothing
        everything = np.array([0, size[1], 0, size[0]])
        blend(self._image, self._shadow, self._empty, _FINER, everything, self._plain)

    def __call__(self, poses: Array) -> Array:
        """Return the picture (height, width, 3) of bytes at poses (B, 3, 4)."""
        world = WorldPoses.of(poses)
        R, p = world.rotations[self._bodies], world.positions[self._bodies]
        vertices = np.einsum("vij,vj->vi", R, self._vertices) + p
        normals = np.einsum("vij,vj->vi", R, self._normals)
        faces, colours = self._faces, self._shaded(normals, self._colours)
        for rod, rod_normals, rod_faces in self._rods(world):
            faces = np.concatenate([faces, rod_faces + len(vertices)])
            vertices = np.concatenate([vertices, rod])
            colours = np.concatenate(
                [colours, self._shaded(rod_normals, np.tile(np.array(SPRING, float), (len(rod), 1)))]
            )
        seen, flat = self._projected(vertices), np.zeros((0, 3))
        if self._floor is not None:
            flat = self._projected(self._cast(vertices))
        window = self._window(np.concatenate([seen, flat]))
        top, bottom, left, right = (_FINER * window).tolist()
        self._image[top:bottom, left:right] = -1.0
        for plane in (self._shadow, self._depth):
            plane[top:bottom, left:right] = 0.0
        if len(flat):
            fill(flat, faces, colours, np.empty((self._height, self._width, 0), np.float32), self._shadow)
        fill(seen, faces, colours, self._image, self._depth)
        out = self._plain.copy()
        blend(self._image, self._shadow, self._empty, _FINER, window, out)
        return out

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

    def _rods(self, world: WorldPoses) -> Any:
        """Return the springs, as thin rods."""
        for mark in self._drawing.springs:
            a, b = (
                world.rotations[self._numbers[name]] @ on + world.positions[self._numbers[name]]
                for name, on in ((mark.a, mark.on_a), (mark.b, mark.on_b))
            )
            rod = cylinder(0.005 * self._drawing.size, float(np.linalg.norm(b - a)) or 1e-9)
            pose = np.column_stack([turned_to(b - a), (a + b) / 2.0])
            yield _together([Piece(mark.name, "ground", rod, pose, SPRING)])


def _axes(view: View) -> Array:
    """Return the camera's axes as columns: right, up, and towards the viewer."""
    back = view.position - view.look_at
    back = back / np.linalg.norm(back)
    right = np.cross(view.up, back)
    right /= np.linalg.norm(right)
    return np.column_stack([right, np.cross(back, right), back])


def _together(pieces: list[Piece]) -> tuple[Array, Array, Array]:
    """Return vertices and normals on their bodies, and faces, of pieces."""
    vertices, normals, faces = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros((0, 3), int)]
    first = 0
    for piece in pieces:
        corners = piece.shell.corners
        R, p = piece.pose[:, :3], piece.pose[:, 3]
        vertices.append(corners @ R.T + p)
        normals.append(_normals(corners, piece.shell.faces) @ R.T)
        faces.append(piece.shell.faces + first)
        first += len(corners)
    return np.concatenate(vertices), np.concatenate(normals), np.concatenate(faces)


def _normals(vertices: Array, faces: Array) -> Array:
    """Return the mean normal of the faces at each vertex."""
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    across = np.cross(b - a, c - a)
    total = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(total, faces[:, k], across)
    lengths = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, lengths, out=np.zeros_like(total), where=lengths > 0.0)
