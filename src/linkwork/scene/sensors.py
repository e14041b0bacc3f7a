"""Sensors: behaviours that measure after each step what a real one on the body would."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.real_numbers import is_real
from linkwork.scene.behaviour import CheckedBehaviour
from linkwork.scene.behaviour_targets import point
from linkwork.scene.handles import BodyHandle
from linkwork.scene.rigid_frames import frame_of

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


class Sensor(CheckedBehaviour):
    """Something on a body that measures after each step."""

    def __init__(self, body: BodyHandle) -> None:
        self.body = body

    def checked(self, word: str, value: Any) -> Any:
        """Return the value of an option, if it can be."""
        kind = type(self).__name__
        if word == "body" and not isinstance(value, BodyHandle):
            raise TypeError(f"{kind}: {value!r:.80}; give a body of a mechanism, robot['foot']")
        if word in ("direction", "origin", "position"):
            value = point(f"{kind}: {word}", found := value)
            if word == "direction" and not value.any():
                raise ValueError(f"{kind}: direction {found!r}; give 3 numbers, not all 0")
        if word == "longest" and not (is_real(value) and value > 0.0):
            raise ValueError(f"{kind}: longest {value!r}; give metres, above 0")
        return value

    def begin(self, scene: "Scene") -> None:
        """Measure once, at the start."""
        self.after(scene, 0.0)

    def after(self, scene: "Scene", dt: float) -> None:
        """Measure, as long as the body is there."""
        if self.body.exists:
            self.measure(scene, dt)

    def measure(self, scene: "Scene", dt: float) -> None:
        """Measure after a step of dt seconds."""


class ContactSensor(Sensor):
    """Whether a body touches something, and how hard: `touching`, `force` (3,) on it [N], world axes."""

    def __init__(self, body: BodyHandle) -> None:
        super().__init__(body)
        self.touching, self.force = False, np.zeros(3)

    def measure(self, scene: "Scene", dt: float) -> None:
        """Add up the forces on the body."""
        if self.body.actor.resting:
            return
        found = self.body.contacts
        self.touching = bool(found)
        signs = [1.0 if contact.bodies[0] is self.body else -1.0 for contact in found]
        self.force = sum((sign * contact.force for sign, contact in zip(signs, found)), np.zeros(3))


class RaySensor(Sensor):
    """How far something is along a ray from a body: `distance` [m], inf if there is nothing; `node`."""

    def __init__(
        self,
        body: BodyHandle,
        direction: ArrayLike = (1.0, 0.0, 0.0),
        *,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        longest: float = np.inf,
    ) -> None:
        super().__init__(body)
        self.direction, self.origin, self.longest = direction, origin, longest
        self.distance, self.node = np.inf, None

    def measure(self, scene: "Scene", dt: float) -> None:
        """Cast the ray; it passes through the mechanism that it is on."""
        pose = self.body.pose
        start, along = pose[:, :3] @ self.origin + pose[:, 3], pose[:, :3] @ self.direction
        found = scene.ray(start, along, longest=self.longest, without=self.body.actor)
        self.distance, self.node = (np.inf, None) if found is None else (found.distance, found.node)


class HeightSensor(Sensor):
    """How high a body is above static shapes: `height` [m]."""

    def __init__(self, body: BodyHandle) -> None:
        super().__init__(body)
        self.height = 0.0

    def measure(self, scene: "Scene", dt: float) -> None:
        """Look down."""
        x, y, z = self.body.position
        self.height = float(z) - scene.height(x, y)


class InertialSensor(Sensor):
    """What an inertial measurement unit at a point of a body reads, in the axes of the body.

    `acceleration` (3,) [m/s^2] is that of the point, without gravity's share, on the average of the last
    step: at rest it is g, upwards, in free fall 0, on a centrifuge w^2 r. `angular_velocity` (3,) [rad/s].
    """

    def __init__(self, body: BodyHandle, position: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        super().__init__(body)
        self.position = position
        self.acceleration = self.angular_velocity = np.zeros(3)
        self.velocity: Any = None
        self.rotation: Any = None

    def measure(self, scene: "Scene", dt: float) -> None:
        """Compare the velocity of the point with that of the last step.

        With a reading f that is constant in axes of the body, which turn by phi in the step,

            v1 - v0 - g dt = R0 J(phi) f dt,    J the mean of rotations from 0 to phi.
        """
        R, w = self.body.rotation, self.body.angular_velocity
        now = self.body.velocity + np.cross(w, R @ self.position)
        before, turned_from = (now, R) if self.velocity is None else (self.velocity, self.rotation)
        change = (now - before) / dt if dt else np.zeros(3)
        phi = frame_of(np.column_stack([turned_from.T @ R, np.zeros(3)])).rotation_vector
        self.acceleration = _of_mean(phi, turned_from.T @ (change - scene.gravity))
        self.velocity, self.rotation = np.array(now), np.array(R)
        self.angular_velocity = R.T @ w


def _of_mean(phi: Array, x: Array) -> Array:
    """Return y of which x is the mean over rotations from 0 to phi (the inverse of SO(3)'s left Jacobian)."""
    half = 0.5 * float(np.linalg.norm(phi))
    k = (1.0 - half / np.tan(half)) / (4.0 * half * half) if half > 1e-4 else 1.0 / 12.0
    once = np.cross(phi, x)
    return x - 0.5 * once + k * np.cross(phi, once)
