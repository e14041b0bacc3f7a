"""Pulling on a page of the mechanic: what stands moves as its joints allow, what runs by a spring."""

from typing import Any

import numpy as np

from linkwork.mechanic.run_controls import Dynamics
from linkwork.view.live_panel import on_plane, ray_of

Array = np.ndarray

_TO_THE_END = 20  # times that a pull goes on when it is let go: through the whole mechanism and back


class Pulling(Dynamics):
    """A page on which bodies are taken with the mouse."""

    def __init__(self, *arguments: Any, **where: Any) -> None:
        self._grip: tuple[str, Array, Array] | None = None  # body, point on it, place in the world
        self._target: Array | None = None  # where that point is pulled to
        self._pulled: Array | None = None  # how far it has come
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
        place = self._grip[2]
        if event.phase == "update":
            self._target = on_plane(event, place)
            if self.engine is not None:
                self.engine.drag(self._target)
        elif event.phase == "end":
            if self.engine is not None:
                self.engine.release()
            else:
                self._pull_on(_TO_THE_END)
                if self._pulled is not None:
                    self.try_edit(self.editor.keep_pose, self._pulled)
                    self.pulled_once = True
            with self._lock:
                self._grip = self._target = self._pulled = None
        self._stale = True

    def advance(self, seconds: float) -> None:
        """Let real time pass: what is held comes nearer to the pointer, also while that stands."""
        super().advance(seconds)
        if self.engine is None:
            self._pull_on(1)

    def _pull_on(self, rounds: int) -> None:
        """Go on to where the pointer is now; places that it has left meanwhile are passed over."""
        with self._lock:
            if self._grip is None or self._target is None or self.subject.model is None:
                return
            name, point, _ = self._grip
            q = self._pulled if self._pulled is not None else self.subject.trajectory.at(0.0).q
            model = self.editor.refresh()
            if q is None or model is None or name not in model.body_names or q.shape != (model.nq,):
                return  # it was edited meanwhile
            for _ in range(rounds):
                before, q = q, self.editor.pull(q, name, point, self._target)
                if before is q:
                    break
                self._pulled = q
                self.stand(q)
