"""Names of bodies in the picture: those that can be read, none over another."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.view.arrows import centers
from linkwork.view.camera import View, projected
from linkwork.view.overlay import Overlay
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.trajectory import Moment

Array = np.ndarray

_MOST = 400  # labels on a page
LETTER, MARGIN, _LINE = 6.6, 8.0, 19.0  # pixels: width of a letter, of both ends, height of a label
_OFFLINE = (1200, 800)  # size of a page before it is opened


class Names(Overlay):
    """The names of bodies, at their centres of mass; of those that would lie over each other the first."""

    word = "names"

    def nodes(self) -> list[Any]:
        scene = self._server.scene
        whole = scene.add_frame("/overlays/names", show_axes=False)
        names = self._drawing.bodies[:_MOST]
        self._widths = np.array([LETTER * len(name) + MARGIN for name in names])
        self._shown = np.ones(len(names), bool)
        self._labels = [
            scene.add_label(f"/overlays/names/{k}", name, anchor="center-center", font_screen_scale=0.9)
            for k, name in enumerate(names)
        ]
        return [whole]

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        points = centers(self._drawing, poses)[: len(self._labels)]
        view, size = looking(self._server)
        pixels, _ = projected(points, view, size)
        shown = readable(pixels, self._widths, first=self._shown)
        for label, point, before, now in zip(self._labels, points, self._shown, shown, strict=True):
            if now:
                label.position = point
            if now != before:
                label.visible = bool(now)
        self._shown = shown


def looking(server: Any) -> tuple[View, tuple[int, int]]:
    """Return from where the last page that was opened looks, or the first will, and its size in pixels."""
    clients = list(server.get_clients().values())
    if not clients:
        camera = server.initial_camera
        up, size = camera.up, _OFFLINE
    else:
        camera = clients[-1].camera
        up, size = camera.up_direction, (camera.image_width, camera.image_height)
    return View(np.array(camera.position), np.array(camera.look_at), np.array(up), camera.fov), size


def readable(pixels: Array, widths: Sequence[float] | Array, first: Array) -> Array:
    """Return which of labels centred at pixels (N, 2) are shown so that none lies over another.

    Those of `first` come first, so that what is seen stays.
    """
    shown = np.zeros(len(pixels), bool)
    half = np.asarray(widths) / 2.0
    for k in [*np.flatnonzero(first), *np.flatnonzero(~first)]:
        across, up = np.abs(pixels[shown] - pixels[k]).T
        shown[k] = not ((across < half[shown] + half[k]) & (up < _LINE)).any()
    return shown
