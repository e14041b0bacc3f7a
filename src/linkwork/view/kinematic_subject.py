"""Motions of kinematics as what is looked at."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.kinematics.motion import Motion as DrivenMotion
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.recording.plot import Trace
from linkwork.view.drawing import Drawing, drawing_of_mechanism, lifted, lifted_motions
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment, Sampled, Trajectory

Array = np.ndarray


def drawing_of_driven(mechanism: Mechanism) -> Drawing:
    """Return what is drawn of a mechanism that is not compiled: all its bodies, in their order."""
    return drawing_of_mechanism(mechanism, tuple(mechanism.bodies), _closing(mechanism))


def _closing(mechanism: Mechanism) -> set[str]:
    """Return the joints that close loops: those met between bodies that hang on the ground already."""
    waiting, reached, closing = list(mechanism.joints.values()), {"ground"}, set()
    while True:
        near = [joint for joint in waiting if reached & set(joint.ends)]
        if not near:
            return closing
        for joint in near:
            waiting.remove(joint)
            if set(joint.ends) <= reached:
                closing.add(joint.name)
            reached |= set(joint.ends)


def samples_of(motion: DrivenMotion) -> Sampled:
    """Return the poses and velocities of a motion, in the order of time."""
    times, order = np.unique(motion.time, return_index=True)
    shape = (2, 3) if motion.mechanism.space == "plane" else (3, 4)
    poses, velocities = [], []
    for name in motion.mechanism.bodies:
        body = motion[name]
        scalars = [np.broadcast_to(x, (len(motion),)) for x in body.pose.scalars()]
        poses.append(np.stack(scalars, axis=-1).reshape(-1, *shape)[order])
        turning = np.asarray(body.angular_velocity).reshape(len(motion), -1)
        velocities.append(np.concatenate([turning, body.velocity], axis=1)[order])
    return Sampled(
        times, lifted(np.stack(poses, axis=1)), lifted_motions(np.stack(velocities, axis=1)), samples=order
    )


class Driven(Subject):
    """A motion that drivers determine; `found` is the motion, or the part of it that is known."""

    def __init__(self, drawing: Drawing, motion: Trajectory, found: DrivenMotion) -> None:
        super().__init__(drawing, motion)
        self.found = found

    @property
    def channels(self) -> list[str]:
        m = self.found.mechanism
        names = [f"{driver}.{word}" for driver in m.drivers for word in ("position", "force", "power")]
        for joint in m.joints.values():
            words = ("position", "velocity", "acceleration") if joint.nv else ()
            names += [f"{joint.name}.{word}" for word in (*words, "reaction.force", "reaction.torque")]
        names += [f"{name}.force" for name in m.constraints]
        words = ("angle", "position", "velocity", "acceleration")
        return [*names, *(f"{body}.{word}" for body in m.bodies for word in words[m.space == "space" :])]

    def curves(self, names: Sequence[str]) -> tuple[Array, list[Trace]]:
        times, order = np.unique(self.found.time, return_index=True)
        traces = self.found.traces(*names)
        return times, [Trace(t.label, t.quantity, t.unit, t.values[order], t.logarithmic) for t in traces]

    def reactions(self, moment: Moment) -> Mapping[str, Array]:
        return {name: self._at(self.found[name].reaction, moment) for name in self.found.mechanism.joints}

    def applied(self, moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        """Return what drivers exert: on the child of a joint, or on a body; loads are not distinguished."""
        points, wrenches = [], []
        for driver in self.found.mechanism.drivers.values():
            side = driver.sides()[0]
            body = side.child if isinstance(side, Joint) else side
            sign = 1.0
            if body.name == "ground" and isinstance(side, Joint):
                body, sign = side.parent, -1.0
            if body.name == "ground":
                continue
            number = self.drawing.bodies.index(body.name)
            wrench = sign * self._at(self.found.wrench(driver.name, body), moment)
            at = poses.positions[number]
            here = at
            if isinstance(side, Joint):
                mark = self._marks[side.name]
                on = mark.on_child if side.child is body else mark.on_parent
                here = at + poses.rotations[number] @ on[:, 3]
            points.append(here)
            torque = wrench[:3] + np.cross(at - here, wrench[3:])
            wrenches.append(np.concatenate([torque, wrench[3:]]))
        return np.array(points).reshape(-1, 3), np.array(wrenches).reshape(-1, 6)

    def _at(self, force: Any, moment: Moment) -> Array:
        """Return the torque and force (6,) of one sample."""
        numbers = [np.broadcast_to(x, (len(self.found),))[moment.sample] for x in force.scalars()]
        return lifted_motions(np.array(numbers, float))

    def gaps(self, moment: Moment) -> Mapping[str, float]:
        return self.found.gaps(moment.sample or 0)
