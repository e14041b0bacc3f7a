"""A still picture: pixels, or vector graphics for papers."""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.real_numbers import is_finite, shown
from linkwork.recording.array_file import write_atomically
from linkwork.view.camera import Camera, View
from linkwork.view.drawing import Drawing
from linkwork.view.ground_plane import level_ground
from linkwork.view.overlays import Overlays
from linkwork.view.picture_scene import PictureScene
from linkwork.view.subject_of import subject_of
from linkwork.view.vector_graphics import svg

Array = np.ndarray


class Picture:
    """A mechanism at one moment: `.save("x.svg")`, `.save("x.png")`, `.svg`, `.pixels`."""

    def __init__(
        self,
        drawing: Drawing,
        poses: Array,
        view: View,
        size: tuple[int, int],
        floor: float | None,
        scene: PictureScene,
    ) -> None:
        self._drawing, self._poses, self._view, self.size, self._floor = drawing, poses, view, size, floor
        self._scene = scene

    @property
    def svg(self) -> str:
        """The picture as vector graphics."""
        return svg(self._drawing, self._poses, self._view, self.size)

    @property
    def pixels(self) -> Array:
        """The picture (height, width, 3), bytes of red, green and blue."""
        from linkwork.view.raster import Renderer

        return Renderer(self._drawing, self._view, self.size, self._floor, self._scene)(self._poses)

    def save(self, path: str | Path) -> None:
        """Write `.svg` or `.png`, all or nothing."""
        match Path(path).suffix.lower():
            case ".svg":
                write_atomically(path, [self.svg.encode()])
            case ".png":
                write_atomically(path, [png(self.pixels)])
            case suffix:
                raise LinkworkError(
                    f"{path}: cannot write {suffix or 'a file without suffix'}; give .svg or .png"
                )

    def _repr_svg_(self) -> str | None:
        return self.svg if self._drawing.space == "plane" else None

    def _repr_png_(self) -> bytes | None:
        return None if self._drawing.space == "plane" else png(self.pixels)


def snapshot(thing: Any, t: float | None, *, size: tuple[int, int], view: str) -> Picture:
    """Return a picture of a recording at a time, or of a model or mechanism as drawn."""
    subject = subject_of(thing)
    figure, trajectory = subject.drawing, subject.trajectory
    end = float(trajectory.times[-1])
    if t is not None and not is_finite(t):
        raise ValueError(f"snapshot: t {shown(t)}; give a time in seconds")
    t = end if t is None else float(t)
    if not trajectory.times[0] <= t <= end:
        span = f"{trajectory.times[0]:g} to {end:g} s"
        raise ValueError(f"snapshot: t {t:g} s is outside the recording, {span}")
    camera = Camera(figure, trajectory.passed(200))
    moment, seen = trajectory.at(t), chosen(camera, view, size)
    scene = PictureScene(seen, checked_size(size))
    Overlays(scene, subject, lambda text: None).place(moment, moment.world)  # springs
    return Picture(figure, moment.poses, seen, checked_size(size), floor_of(figure, camera), scene)


def chosen(camera: Camera, view: str, size: tuple[int, int]) -> View:
    """Return a view by name, for a picture of this size."""
    if view and view not in camera.names:
        raise ValueError(f"view {view!r}; give one of {', '.join(camera.names)}")
    width, height = checked_size(size)
    return camera.drawn(view, width / height)


def checked_size(size: tuple[int, int]) -> tuple[int, int]:
    try:
        width, height = (int(side) for side in size)
    except (TypeError, ValueError):
        width = height = 0
    if not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise ValueError(f"size {size!r}; give width and height in pixels, 16 to 8192")
    return width, height


def floor_of(figure: Drawing, camera: Camera) -> float | None:
    """Return how high the floor is; a planar mechanism has none."""
    if figure.space == "plane":
        return None
    laid = level_ground(figure)
    return camera.lowest(figure.up) - 0.004 * figure.size if laid is None else laid.height


def png(pixels: Array) -> bytes:
    """Return a PNG file of an image (height, width, 3) of bytes."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
