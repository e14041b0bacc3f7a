"""Questions to a scene: momentum, and what a ray meets."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.contact.colliders import Colliders
from linkwork.errors import ModelError
from linkwork.mechanism.placement import numbers
from linkwork.scene.actor import Actor
from linkwork.spelling import fixed

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


@fixed("it says what a ray meets")
@dataclass(frozen=True, eq=False)
class RayHit:
    """Where a ray first meets something."""

    node: Any  # BodyHandle or Static
    point: Array  # (3,) in the world [m]
    normal: Array  # (3,) of the surface
    distance: float  # along the ray [m]


def ray(
    scene: "Scene",
    origin: ArrayLike,
    direction: ArrayLike,
    longest: float,
    without: Any,
    static: bool = False,
) -> RayHit | None:
    """Return what a ray meets first; `without` is a mechanism that it passes through."""
    start, along = numbers(origin, "ray: origin"), numbers(direction, "ray: direction")
    if start.shape != (3,) or along.shape != (3,) or not along.any():
        raise ValueError(f"ray: origin {origin!r}, direction {direction!r}; give 3 numbers each")
    along = along / np.linalg.norm(along)
    best: RayHit | None = None
    for node in scene.statics:
        best = _nearer(best, node, node.pose, _shapes(node.solids), start, along, longest)
    if static:
        return best
    for unit in scene.units:
        if not unit.touches or any(actor is without for actor in unit.actors):
            continue
        entered = _entered(scene, unit, start, along)
        for k in np.flatnonzero(entered < (longest if best is None else best.distance)):
            row = int(unit.touching[k])
            name = list(unit.numbers)[row - unit.first]
            pose = scene.arrays.poses[row]
            body = unit.mechanism.bodies[name]
            handle = scene.handle_in(unit, name)
            best = _nearer(best, handle, pose, _shapes(body.touched_by), start, along, longest)
    return best


def _entered(scene: "Scene", unit: Any, start: Array, along: Array) -> Array:
    """Return how far along a ray it enters the boxes of the bodies of a unit; inf if it does not."""
    low, high = scene.arrays.reached(unit.touching, 0.0, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (low - start) / along, (high - start) / along
    first = np.nanmax(np.minimum(a, b), axis=1)
    last = np.nanmin(np.maximum(a, b), axis=1)
    return np.where(last >= np.maximum(first, 0.0), np.maximum(first, 0.0), np.inf)


@lru_cache(maxsize=4096)
def _shapes(shapes: tuple[Any, ...]) -> Colliders:
    world = Colliders()
    world.add("body", *shapes)
    return world


def _nearer(
    best: RayHit | None, node: Any, pose: Array, shapes: Colliders, start: Array, along: Array, longest: float
) -> RayHit | None:
    """Return the nearer of what was met so far and the shapes of a node."""
    R, p = pose[:, :3], pose[:, 3]
    most = longest if best is None else best.distance
    found = shapes.ray_cast(R.T @ (start - p), R.T @ along, longest=most)
    if not found or found.distance >= most:
        return best
    return RayHit(node, R @ found.point + p, R @ found.normal, float(found.distance))


def _own(scene: "Scene", actors: Sequence[Actor]) -> Sequence[Actor]:
    """Return mechanisms, if they are those of a scene."""
    for actor in actors:
        if not isinstance(actor, Actor):
            raise TypeError(f"scene: {actor!r:.80}; give mechanisms of it, what world.add(...) returned")
        if actor.scene is not scene:
            raise ModelError(f"scene: {actor.path!r} is in another scene")
    return actors


def energy_of(scene: "Scene", actors: Sequence[Actor]) -> float:
    """Return the kinetic energy of mechanisms, and the potential one of gravity [J]."""
    total = 0.0
    for actor in _own(scene, actors):
        for name in actor.names:
            row, inertia = actor.row_of(name), actor.mechanism.bodies[name].inertia
            X, V = scene.arrays.poses[row], scene.arrays.velocities[row]
            c, w = X[:, :3] @ np.asarray(inertia.com, float), V[:3]
            v, local = V[3:] + np.cross(w, c), X[:, :3].T @ w
            kinetic = 0.5 * inertia.mass * (v @ v) + 0.5 * local @ np.asarray(inertia.tensor, float) @ local
            total += kinetic - inertia.mass * (scene.gravity @ (X[:, 3] + c))
    return float(total)


def momentum_of(scene: "Scene", actors: Sequence[Actor]) -> Array:
    """Return angular momentum about the world's origin, then linear, of mechanisms (6,)."""
    total = np.zeros(6)
    for actor in _own(scene, actors):
        rows = actor.rows
        X, V = scene.arrays.poses[rows], scene.arrays.velocities[rows]
        R, w = X[:, :, :3], V[:, :3]
        bodies = [actor.mechanism.bodies[name].inertia for name in actor.names]
        mass = np.array([each.mass for each in bodies])
        com = np.array([each.com for each in bodies]).reshape(-1, 3)
        tensor = np.array([each.tensor for each in bodies]).reshape(-1, 3, 3)
        c = np.einsum("nij,nj->ni", R, com)
        P = mass[:, None] * (V[:, 3:] + np.cross(w, c))
        L = np.einsum("nij,njk,nlk,nl->ni", R, tensor, R, w) + np.cross(X[:, :, 3] + c, P)
        total += np.concatenate([L.sum(axis=0), P.sum(axis=0)])
    return total
