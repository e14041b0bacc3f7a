"""Forces to draw as arrows: what a recording or its model says of them."""

from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.view.drawing import Drawing, lifted_motions
from linkwork.view.motion import Moment
from linkwork.view.placing import WorldPoses

Array = np.ndarray


class Forces:
    """Reactions in joints, and forces applied to bodies, at one moment."""

    def __init__(self, drawing: Drawing, model: Any, run: Any = None) -> None:
        self._drawing, self._model, self._run = drawing, model, run
        self._child = {mark.name: mark for mark in drawing.joints}

    @property
    def joint_names(self) -> list[str]:
        """The joints of the rows of `reactions`."""
        if self._model is None:
            return list(self._run.layout.joints)
        return [*self._model.joint_names, *self._model.loop_names]

    def reactions(self, moment: Moment) -> Array:
        """Return the forces (J, 3) that joints exert on their children, in world axes [N]."""
        if self._model is None:
            return lifted_motions(self._run.derived("reactions")[moment.sample])[:, 3:]
        model, q, v = self._model, moment.q, moment.v
        tau, external = model.loads(q, v, moment.t)
        forces = {
            name: self._about_body(name, row)
            for name, row in zip(model.body_names, external, strict=True)
            if row.any()
        }
        return lifted_motions(model.reactions(q, v, tau, forces=forces or None).array)[:, 3:]

    def applied(self, moment: Moment, poses: WorldPoses) -> Array:
        """Return the net forces (B, 3) of springs and loads on bodies, without gravity, in world axes [N]."""
        if self._model is None:
            raise LinkworkError("the forces of loads on bodies are not in the file")
        _, external = self._model.loads(moment.q, moment.v, moment.t)
        rows = lifted_motions(external)[:, 3:]
        frames = np.array([self._on_body(name)[:, :3] for name in self._model.body_names]).reshape(-1, 3, 3)
        return np.einsum("bij,bjk,bk->bi", poses.rotations[:-1], frames, rows)

    def _on_body(self, body: str) -> Array:
        """Return the frame, on the body, of the joint that carries it."""
        number = self._model.body_names.index(body)
        mark = self._child[self._model.joint_names[number]]
        return mark.on_child if mark.child == body else mark.on_parent

    def _about_body(self, body: str, row: Array) -> Array:
        """Return a force given in the frame of the body's joint, about the origin of the body."""
        wrench, frame = lifted_motions(row), self._on_body(body)
        force = frame[:, :3] @ wrench[3:]
        torque = frame[:, :3] @ wrench[:3] + np.cross(frame[:, 3], force)
        return np.concatenate([torque, force])[slice(None) if row.size == 6 else slice(2, 5)]
