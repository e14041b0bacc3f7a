"""Pulling on a page of the mechanic: what stands moves as its joints allow, what runs by a spring."""

from typing import Any

import numpy as np

from linkwork.mechanic.dynamics import Dynamics
from linkwork.view.live_panel import on_plane, ray_of

Array = np.ndarray


class Pulling(Dynamics):
    """A page on which bodies are taken with the mouse."""

    def __init__(self, *arguments: Any, **where: Any) -> None:
        self._grip: tuple[str, Array, Array] | None = None  # body, point on it, place in the world
        self._pulled: Array | None = None
        self.pulled_once = False  # whether a part was ever moved by hand
        super().__init__(*arguments, **where)
        self.stage.on_drag(self._dragged)

    def _dragged(self, body: str, event: Any) -> None:
        if body not in self.drawing.bodies:
            return
        if event.phase == "start":
            number = self.stage.numbers[body]
            pose = self.now().poses[number]
            eye, ray = ray_of(event)
            point = self._hit(body, eye, ray)
            if point is None:
                place = on_plane(event, pose[:, :3] @ self.drawing.centers[number] + pose[:, 3])
                point = pose[:, :3].T @ (place - pose[:, 3])
            place = pose[:, :3] @ point + pose[:, 3]
            self._grip, self._pulled = (body, point, place), None
            if self.engine is not None:
                self.engine.grab(body, place)
            return
        if self._grip is None:
            return
        name, point, place = self._grip
        if event.phase == "update":
            target = on_plane(event, place)
            if self.engine is not None:
                self.engine.drag(target)
            elif self.subject.model is not None:
                start = self._pulled if self._pulled is not None else self.subject.trajectory.at(0.0).q
                if start is not None and start.shape == (self.subject.model.nq,):
                    self._pulled = self.editor.pull(start, name, point, target)
                    self.stand(self._pulled)
        elif event.phase == "end":
            if self.engine is not None:
                self.engine.release()
            elif self._pulled is not None:
                self.try_edit(self.editor.keep_pose, self._pulled)
                self.pulled_once = True
            self._grip = self._pulled = None
        self._stale = True
