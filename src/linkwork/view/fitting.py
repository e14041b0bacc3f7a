"""Where pages look from: views fitted to what is shown until somebody turns them; a body to follow."""

import threading
from typing import Any

import numpy as np

from linkwork.view.camera import Camera, View
from linkwork.view.overlays import Overlays
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.stage import Stage
from linkwork.view.trajectory import Moment

Array = np.ndarray

_KEPT = 8  # views that a page was sent, and may still say that it shows


class Fitting:
    """The part of a page that moves its cameras; the page has what is declared here."""

    server: Any
    camera: Camera
    stage: Stage
    overlays: Overlays
    _lock: threading.RLock
    _followed: str | None
    _anchor: Array
    # By client: the views that it was sent, its aspect, whether it has shown one of them.
    _fitted: dict[int, tuple[list[View], float, bool]]
    _stale: bool

    def now(self) -> Moment:
        """Return what is shown."""
        raise NotImplementedError

    def _first_view(self, view: View) -> None:
        camera = self.server.initial_camera
        camera.position, camera.look_at, camera.up = view.position, view.look_at, view.up
        camera.fov = view.fov
        camera.near, camera.far = view.depths

    def _look(self, client: Any, name: str) -> None:
        """Show a page the view of this name; the first, if there is none."""
        if client is None:
            return
        with self._lock:  # the last view that is sent is the newest
            about = None
            if self._followed:
                about = self.now().poses[self.stage.numbers[self._followed], :, 3]
            aspect = client.camera.aspect
            view = self.camera.view(name, aspect, about)
            sent, _, arrived = self._fitted.get(client.client_id, ([], aspect, True))
            self._fitted[client.client_id] = [*sent, view][-_KEPT:], aspect, arrived
            with client.atomic():
                client.camera.up_direction = view.up
                client.camera.fov = view.fov
                client.camera.near, client.camera.far = view.depths
                client.camera.position, client.camera.look_at = view.position, view.look_at

    def _welcome(self, client: Any) -> None:
        self._fitted[client.client_id] = [self.camera.view()], float("nan"), False
        client.camera.on_update(lambda camera: self._looked(client))

    def _looked(self, client: Any) -> None:
        """Fit the picture to the page until its view is turned; look again which names can be read."""
        with self._lock:
            if client.client_id in self._fitted:
                sent, aspect, arrived = self._fitted[client.client_id]
                place = client.camera.position  # maybe one of before: pages answer late
                there = any(_is_at(view, place) for view in sent)
                self._fitted[client.client_id] = sent, aspect, arrived or there
                if arrived and not there and self._followed is None:
                    del self._fitted[client.client_id]
                elif not abs(client.camera.aspect - aspect) < 0.01:
                    self._look(client, "")
        if self.overlays.switches["names"].visible:
            self._stale = True

    def follow(self, body: str | None) -> None:
        """Let all cameras go along with a body."""
        with self._lock:
            self._followed = body
            if body is not None:
                self._anchor = self.now().poses[self.stage.numbers[body], :, 3]

    def _go_along(self, poses: WorldPoses) -> None:
        if self._followed is None:
            return
        place = poses.positions[self.stage.numbers[self._followed]]
        shift, self._anchor = place - self._anchor, place
        if not shift.any():
            return
        for client in self.server.get_clients().values():
            with client.atomic():
                position, look_at = client.camera.position + shift, client.camera.look_at + shift
                client.camera.position, client.camera.look_at = position, look_at


def _is_at(view: View, place: Array) -> bool:
    """Whether a view is from a place."""
    away = float(np.linalg.norm(view.position - view.look_at))
    return bool(np.abs(place - view.position).max() <= 1e-3 * away)
