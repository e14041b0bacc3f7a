"""The bodies of a recording as sound needs them: where they are, how they move, weigh and ring.

All is in space; what moves in the plane does so at z = 0. Number -1, the last row, is ground.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.acoustics.acoustic_materials import Acoustics, acoustics_of, named
from linkwork.acoustics.body_voice import Voice, voice
from linkwork.errors import LinkworkError, unknown
from linkwork.lazy import kept
from linkwork.mechanism.joints import Free

Array = np.ndarray

_GROUND = "concrete"


class MovingBodies:
    """Bodies over the samples of a run."""

    def __init__(self, run: Any, model: Any, said: Mapping[str, str]) -> None:
        mechanism = model.mechanism
        self.run, self.model, self.names = run, model, tuple(model.body_names)
        for name in said:
            if name not in (*self.names, "ground"):
                raise LinkworkError(f"sound: materials: {unknown('body', name, (*self.names, 'ground'))}")
        self.time = np.asarray(run.time, float)
        self.poses, self.motions = _lifted(run.derived("poses"), run.derived("velocities"))
        bodies = [mechanism.bodies[name] for name in self.names]
        self.masses = np.array([body.inertia.mass for body in bodies])
        free = {joint.child.name for joint in mechanism.joints.values() if isinstance(joint, Free)}
        jointed = {
            end.name
            for joint in mechanism.joints.values()
            if not isinstance(joint, Free)
            for end in (joint.parent, joint.child)
        }
        self.voices = [_voice(body, body.name in jointed, said) for body in bodies]
        self.ground = _ground(mechanism, said)
        self.gravity = np.zeros(3)
        self.gravity[: len(mechanism.gravity)] = mechanism.gravity
        self._free = free

    @kept
    def centres(self) -> Array:
        """Where the centres of mass are (S, B, 3) [m]."""
        local = np.array([each.centre for each in self.voices]).reshape(-1, 3)
        return np.einsum("sbij,bj->sbi", self.poses[:, :-1, :, :3], local) + self.poses[:, :-1, :, 3]

    @kept
    def velocities(self) -> Array:
        """How fast these are (S, B, 3) [m/s]."""
        arm = self.centres - self.poses[:, :-1, :, 3]
        return self.motions[:, :-1, 3:] + np.cross(self.motions[:, :-1, :3], arm)

    def velocity_of(self, k: int, body: int) -> Array:
        """Return how fast the centre of mass of a body is at sample k (3,) [m/s]."""
        return np.zeros(3) if body < 0 else self.velocities[k, body]

    def speed_at(self, k: int, body: int, point: Array) -> Array:
        """Return the velocity of a body's point in the world, at sample k (3,) [m/s]."""
        motion = self.motions[k, body]
        return motion[3:] + _cross(motion[:3], point - self.poses[k, body, :, 3])

    def local(self, k: int, body: int, point: Array) -> Array:
        """Return a point of the world as one of a body's frame, at sample k."""
        pose = self.poses[k, body]
        return pose[:, :3].T @ (point - pose[:, 3])

    def felt_mass(self, k: int, body: int, point: Array, normal: Array) -> float:
        """Return the mass that a blow at a point of a body feels along a normal, inf of ground [kg].

        1 / m + (r x n) . I^-1 (r x n), of this body alone: what joints carry comes after the blow.
        """
        if body < 0:
            return np.inf
        own, turn = self.voices[body], self.poses[k, body, :, :3]
        arm = turn.T @ _cross(self._arm(k, body, point), normal)
        return float(1.0 / (1.0 / own.mass + arm @ own.inverse_inertia @ arm))

    def _arm(self, k: int, body: int, point: Array) -> Array:
        pose = self.poses[k, body]
        return point - pose[:, :3] @ self.voices[body].centre - pose[:, 3]

    def acoustics(self, body: int) -> Acoustics:
        return self.ground if body < 0 else self.voices[body].acoustics

    def number(self, name: str) -> int:
        return self.names.index(name) if name in self.names else -1

    def pressing(self) -> tuple[Array, Array]:
        """Return the forces (S, T, 3) that contacts press with on what moves freely, T trees, and whose.

        The momentum of a tree of bodies changes by its weight and by contacts: F = p' - m g. Of what joints
        hold to the ground that is not known: there a body presses with its weight. The second array (B,)
        has the tree of each body.
        """
        tree, count = self._trees()
        total = np.zeros((len(self.time), count, 3))
        momentum = self.masses[:, None] * self.velocities
        for k, own in enumerate(tree):
            total[:, own] += momentum[:, k]
        weight = np.zeros(count)
        np.add.at(weight, tree, self.masses)
        if len(self.time) > 1:
            total = np.gradient(total, self.time, axis=0) - weight[:, None] * self.gravity
        held = np.ones(count, bool)
        held[[tree[self.names.index(name)] for name in self._free]] = False
        for own in np.flatnonzero(held):
            total[:, own] = -weight[own] * self.gravity
        return total, tree

    def _trees(self) -> tuple[Array, int]:
        """Return the number of the tree of each body (B,), and how many there are."""
        label = list(range(len(self.names)))
        for joint in self.model.mechanism.joints.values():
            a, b = (self.number(end.name) for end in (joint.parent, joint.child))
            if a >= 0 and b >= 0:
                old, new = label[a], label[b]
                label = [new if x == old else x for x in label]
        _, tree = np.unique(label, return_inverse=True)
        return tree, int(tree.max(initial=-1)) + 1


def _cross(a: Array, b: Array) -> Array:
    """Return the product of two vectors (3,): np.cross takes ten times as long for one."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))


def _voice(body: Any, joined: bool, said: Mapping[str, str]) -> Voice:
    inertia = body.inertia
    centre, tensor = np.zeros(3), np.asarray(inertia.tensor, float)
    centre[: len(inertia.com)] = inertia.com
    if tensor.ndim == 0:  # in the plane: as of a flat piece
        tensor = float(tensor) * np.diag([0.5, 0.5, 1.0])
    mass = max(inertia.mass, 1e-9)
    box = np.sqrt(np.maximum(6.0 * (np.trace(tensor) - 2.0 * np.linalg.eigvalsh(tensor)) / mass, 1e-8))
    density = body.density or mass / float(box.prod())
    return voice(mass, centre, tensor, acoustics_of(body.name, body.material, density, said), joined)


def _ground(mechanism: Any, said: Mapping[str, str]) -> Acoustics:
    density = named(_GROUND).density
    return acoustics_of("ground", mechanism.ground.material, density, said)


def _lifted(poses: Array, velocities: Array) -> tuple[Array, Array]:
    """Return poses (S, B + 1, 3, 4) and motions (S, B + 1, 6) in space; the last body is ground."""
    count, bodies = poses.shape[:2]
    X, V = np.tile(np.eye(3, 4), (count, bodies + 1, 1, 1)), np.zeros((count, bodies + 1, 6))
    if poses.shape[2] == 3:
        X[:, :-1], V[:, :-1] = poses, velocities
    else:
        X[:, :-1, :2, :2], X[:, :-1, :2, 3] = poses[..., :2], poses[..., 2]
        V[:, :-1, 2:5] = velocities
    return X, V
