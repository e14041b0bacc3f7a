"""Joints that break under load."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.real_numbers import is_finite
from linkwork.scene.behaviour import CheckedBehaviour
from linkwork.scene.handles import JointHandle

if TYPE_CHECKING:
    from linkwork.scene.actor import Actor
    from linkwork.scene.scene import Scene


class BreakWhen(CheckedBehaviour):
    """Take a joint out when it bears more than it can: `world.add(lw.BreakWhen(robot["elbow"], force=800))`.

    `force` [N] and `torque` [N m] are those of its reaction, averaged over a step, impacts among it; `energy`
    [J] is the work that its own springs, damping, friction, stops and motors have done and taken up so far,
    without regard to sign. `then` is called with the scene and the mechanism that has come off, or None.
    """

    def __init__(
        self,
        joint: JointHandle,
        *,
        force: float | None = None,
        torque: float | None = None,
        energy: float | None = None,
        then: Any = None,
    ) -> None:
        if force is None and torque is None and energy is None:
            raise ValueError("BreakWhen: nothing breaks it; give force=, torque= or energy=")
        self.joint, self.force, self.torque, self.energy, self.then = joint, force, torque, energy, then
        self.work = 0.0  # so far [J]
        self.broken: float | None = None  # when it broke [s]
        self.part: Actor | None = None  # what came off

    def checked(self, word: str, value: Any) -> Any:
        """Return the value of an option, if it can be."""
        if word == "joint" and not isinstance(value, JointHandle):
            raise TypeError(f"BreakWhen: joint {value!r}; give a joint of a mechanism, robot['elbow']")
        if word == "then" and value is not None and not callable(value):
            raise TypeError(f"BreakWhen: then {value!r}; give a function of the scene and what came off")
        if word in ("force", "torque", "energy") and value is not None:
            if not (is_finite(value) and value > 0.0):
                raise ValueError(f"BreakWhen: {word} {value!r}; give a number above 0")
            if word == "energy" and not self.joint.joint.nv:
                raise ModelError(
                    f"BreakWhen: {self.joint.path!r} has no freedom to do work in; give force= or torque="
                )
        return value

    def after(self, scene: "Scene", dt: float) -> None:
        """Break the joint, if it bore too much."""
        if self.broken is not None or not self.joint.exists or self.joint.actor.resting:
            return
        load = self.joint.reaction if self.force or self.torque else np.zeros(6)
        much = self.torque is not None and np.linalg.norm(load[:3]) > self.torque
        much = much or (self.force is not None and np.linalg.norm(load[3:]) > self.force)
        if self.energy is not None:
            self.work += self._power() * dt
            much = much or self.work > self.energy
        if much:
            self.broken = scene.time
            self.part = scene.unweld(self.joint)
            if self.then is not None:
                self.then(scene, self.part)

    def _power(self) -> float:
        """Return the power of the joint's own forces, without sign [W]."""
        unit = self.joint.actor.unit
        model, state = unit.model, unit.state
        if self.joint.name not in model.slices:
            return 0.0
        inputs = {name: state.inputs.get(name, value) for name, value in model.inputs.items()}
        forces, _ = model.loads(state.q, state.v, state.t, inputs=inputs)
        own = model.slices[self.joint.name][1]
        return float(np.abs(forces[own] * state.v[own]).sum())

    def __repr__(self) -> str:
        how = "holds" if self.broken is None else f"broke at {self.broken:g} s"
        return f"<BreakWhen {self.joint.name!r}: {how}>"
