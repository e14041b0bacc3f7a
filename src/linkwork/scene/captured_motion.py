"""Captured motion plus gravity: joints play a recording, again and again; the base falls until it is met.

The cheapest way to let something far away look alive: no dynamics. The base moves on with the velocity it
had, under gravity, until it stands on static shapes: as high above them as it was, if it stood on them, or as
high as it was above its own lowest point.
"""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.errors import ModelError
from linkwork.model.state import State
from linkwork.recording.recording import Recording
from linkwork.scene.actor import Actor
from linkwork.scene.behaviour import CheckedBehaviour
from linkwork.scene.rigid_frames import free_velocities
from linkwork.scene.scene_mechanism import is_floating_base

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


class CapturedMotion(CheckedBehaviour):
    """What the joints of a mechanism do while its level of detail is "captured".

    The recording is one of the same mechanism: joints are known by their names. Samples are kept as they are,
    and played in a loop, the nearest one before each time.
    """

    set_once: ClassVar[frozenset[str]] = frozenset({"actor", "recording"})

    def __init__(self, actor: Actor, recording: Recording) -> None:
        if not isinstance(actor, Actor):
            raise TypeError(f"CapturedMotion: {actor!r:.80}; give a mechanism of the scene")
        if not isinstance(recording, Recording) or len(recording) < 2:
            raise TypeError(f"CapturedMotion: {recording!r:.80}; give a Recording of a few samples")
        slices, known = recording.final.slices, actor.model.slices
        bases = [
            name for name, joint in actor.mechanism.joints.items() if is_floating_base(actor.mechanism, joint)
        ]
        self.joints = [
            name for name in known if name in slices and name not in bases and _alike(known, slices, name)
        ]
        if not self.joints:
            raise ModelError(
                f"CapturedMotion: the recording has no joint of {actor.path!r}; record one like it"
            )
        self.actor, self.base = actor, bases[0] if bases else ""
        self.times = recording.time - recording.time[0]
        self.q = {name: recording.q[:, slices[name][0]] for name in self.joints}
        self.v = {name: recording.v[:, slices[name][1]] for name in self.joints}
        self.running, self.begun = False, 0.0
        self.height = 0.0  # of the body at the base above static shapes, when it stands [m]

    def start(self, scene: "Scene") -> None:
        """Play from now on."""
        self.actor.pause()
        self.running, self.begun = True, scene.time
        if self.base in self.actor.model.slices:
            x, y, z = self._body().position.tolist()
            below = np.fmax(scene.height(x, y), self.actor.bounds[0, 2])  # boxes go deeper than shapes
            self.height = max(z - float(below), 0.0) if np.isfinite(below) else 0.0

    def _body(self) -> Any:
        """Return the body that the base moves."""
        return self.actor[self.actor.mechanism.joints[self.base].child.name]

    def stop(self, scene: "Scene") -> None:
        """Go on with dynamics from where it is."""
        self.running = False
        self.actor.resume()

    def before(self, scene: "Scene", dt: float) -> None:
        """Move joints as captured, and the base by gravity."""
        if not self.running or self.actor.parent is None:
            return
        unit = self.actor.unit
        state = unit.state
        q, v = state.q.copy(), state.v.copy()
        k = int(np.searchsorted(self.times, (scene.time - self.begun) % self.times[-1], side="right")) - 1
        for name in self.joints:
            if name in unit.model.slices:
                at_q, at_v = unit.model.slices[name]
                q[at_q], v[at_v] = self.q[name][k], self.v[name][k]
        if self.base in unit.model.slices:
            at_q, at_v = unit.model.slices[self.base]
            self._fall(scene, dt, q[at_q], v[at_v])
        unit.settle(State(q, v, state.t + dt, None, state.inputs, state.slices, state.controllers))
        scene.rest(unit)

    def _fall(self, scene: "Scene", dt: float, q: Array, v: Array) -> None:
        """Move the coordinates of a Free joint, in place; it does not turn."""
        body = self._body()
        speed = np.array(body.velocity) + dt * scene.gravity
        place = q[:3] + dt * (speed - 0.5 * dt * scene.gravity)
        ground = scene.height(place[0], place[1]) + self.height
        if place[2] < ground:
            place[2], speed = ground, np.zeros(3)
        q[:3] = place
        v[:] = free_velocities(body.pose, np.concatenate([np.zeros(3), speed]))


def _alike(known: Any, slices: Any, name: str) -> bool:
    return all(
        known[name][k].stop - known[name][k].start == slices[name][k].stop - slices[name][k].start
        for k in (0, 1)
    )
