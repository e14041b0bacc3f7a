"""Models and recordings as what is looked at: what the model says of their forces, or the file."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.recording.plot import Trace
from linkwork.view.drawing import Drawing, lifted_motions
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment, Motion

Array = np.ndarray


class Simulated(Subject):
    """A model, a recording of one, or a recording from a file, which has no model."""

    def __init__(self, drawing: Drawing, motion: Motion, model: Any = None, run: Any = None) -> None:
        super().__init__(drawing, motion)
        self.model, self.run = model, run
        self._numbers = {name: k for k, name in enumerate(drawing.bodies)} | {"ground": -1}

    # curves

    @property
    def channels(self) -> list[str]:
        if self.run is None:
            return []
        layout = self.run.layout
        moving = [joint for joint, (_, part) in layout.joints.items() if part.stop > part.start]
        names = [f"{joint}.{word}" for joint in moving for word in ("position", "velocity", "force")]
        names += [f"{load}.force" for load in layout.loads]
        names += [f"{body}.{word}" for body in layout.bodies for word in ("position", "velocity")]
        return [*names, "energy", "kinetic_energy", "potential_energy"]

    def curves(self, names: Sequence[str]) -> tuple[Array, list[Trace]]:
        return self.run.time, self.run.traces(*names) if names else []

    # forces

    def reactions(self, moment: Moment) -> Mapping[str, Array]:
        if self.model is None:
            rows = lifted_motions(self.run.derived("reactions")[moment.sample])
            return dict(zip(self.run.layout.joints, rows, strict=True))
        model, q, v = self.model, moment.q, moment.v
        tau, external = model.loads(q, v, moment.t)
        forces = {
            name: self._about_body(name, row)
            for name, row in zip(model.body_names, external, strict=True)
            if row.any()
        }
        rows = lifted_motions(model.reactions(q, v, tau, forces=forces or None).array)
        return dict(zip((*model.joint_names, *model.loop_names), rows, strict=True))

    def applied(self, moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        if self.model is None:
            raise LinkworkError("the forces of loads on bodies are not in the file")
        model = self.model
        tau, external = model.loads(moment.q, moment.v, moment.t)
        points, wrenches = [], []
        for number, (body, joint) in enumerate(
            zip(model.body_names, model.joint_names[: len(model.body_names)], strict=True)
        ):
            frame = self._on_body(body)
            R, at = poses.rotations[number], poses.positions[number]
            here = at + R @ frame[:, 3]
            if external[number].any():
                wrench = _turned(R @ frame[:, :3], lifted_motions(external[number]))
                center = at + R @ self.drawing.centers[number]
                points.append(center)
                wrenches.append(_moved(wrench, here - center))
            drive = tau[model.slices[joint][1]]
            if drive.any():
                mark = self._marks[joint]
                axes = poses.rotations[self._numbers[mark.child]] @ mark.on_child[:, :3]
                sense = 1.0 if mark.child == body else -1.0
                points.append(here)
                wrenches.append(sense * _turned(axes, self._drive(joint, moment.q, drive)))
        return np.array(points).reshape(-1, 3), np.array(wrenches).reshape(-1, 6)

    def _drive(self, joint: str, q: Array | None, tau: Array) -> Array:
        """Return the torque and force of a drive on the joint's child, in its frame there."""
        S = self.model.motion_subspace(joint, q)
        return lifted_motions(S @ np.linalg.lstsq(S.T @ S, tau, rcond=None)[0])

    def gaps(self, moment: Moment) -> Mapping[str, float]:
        if self.model is None:
            raise LinkworkError("gaps at single moments are not in the file; its summary has the worst")
        rows = np.abs(self.model.constraint_residual(moment.q))
        return {name: float(rows[part].max(initial=0.0)) for name, part in self.model.row_slices.items()}

    def _on_body(self, body: str) -> Array:
        """Return the frame, on the body, of the joint that carries it."""
        number = self.model.body_names.index(body)
        mark = self._marks[self.model.joint_names[number]]
        return mark.on_child if mark.child == body else mark.on_parent

    def _about_body(self, body: str, row: Array) -> Array:
        """Return a force given in the frame of the body's joint, about the origin of the body."""
        frame = self._on_body(body)
        wrench = _moved(_turned(frame[:, :3], lifted_motions(row)), frame[:, 3])
        return wrench[slice(None) if row.size == 6 else slice(2, 5)]


def _turned(R: Array, wrench: Array) -> Array:
    """Return a torque and force in other axes."""
    return np.concatenate([R @ wrench[:3], R @ wrench[3:]])


def _moved(wrench: Array, arm: Array) -> Array:
    """Return a torque and force about another point, from which `arm` leads to the first."""
    return np.concatenate([wrench[:3] + np.cross(arm, wrench[3:]), wrench[3:]])
