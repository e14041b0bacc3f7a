"""A body that breaks into parts in mid-motion: they carry on its momentum."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.body import Body
from linkwork.mechanism.joints import Free
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.state import State
from linkwork.scene.actor import Actor
from linkwork.scene.handles import BodyHandle
from linkwork.scene.rigid_frames import composed, free_positions, free_velocities, inverted, turned
from linkwork.scene.scene_mechanism import let_float, users_of
from linkwork.scene.structural_change import edit, leave_contacts, new_actor, replace_model

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


def fracture(scene: "Scene", handle: BodyHandle, parts: Sequence[Body]) -> list[Actor]:
    """Break a body into parts; see `Scene.fracture`."""
    if not isinstance(parts, list | tuple) or not parts or not all(isinstance(part, Body) for part in parts):
        raise TypeError(
            f"fracture: parts {parts!r:.80}; give bodies, drawn where they are in the frame of the body"
        )
    if not sum(part.inertia.mass for part in parts) > 0.0:
        raise ModelError(f"fracture: parts of {handle.path!r} have no mass; give them a density or a mass")
    actor, unit, name = handle.actor, handle.actor.unit, handle.name
    pose, velocity = np.array(handle.pose), _velocity(handle)
    before = _momentum(handle.body, pose, velocity)
    names: dict[str, Body] = {}

    def put(mechanism: Mechanism) -> None:
        old = mechanism.bodies[name]
        for user in users_of(mechanism, old):
            mechanism.remove(user)
        leave_contacts(mechanism, {name})
        mechanism.remove(old)
        for part in parts:
            called = part.name
            while called in mechanism or called in names:
                called += "'"
            made = _part(part, called, old)
            names[called] = made
            mechanism.add(made)
            mechanism.add(Free(f"{called} free", mechanism.ground, made))
        let_float(mechanism)

    edit(scene, unit, put)
    poses = [composed(pose, np.column_stack([part.rotation, part.position])) for part in parts]
    speeds = _shared_out(before, names.values(), poses, pose, velocity)
    state = unit.state
    q, v = state.q.copy(), state.v.copy()
    back = inverted(unit.place)
    for called, place, speed in zip(names, poses, speeds, strict=True):
        at_q, at_v = unit.model.slices[f"{called} free"]
        if unit.placed:
            place, speed = composed(back, place), turned(back, speed)
        q[at_q], v[at_v] = free_positions(place), free_velocities(place, speed)
    moved = State(q, v, state.t, state.memory, state.inputs, unit.model.slices, state.controllers)
    replace_model(scene, unit, unit.model, moved)
    actor.lose([name])
    found = []
    for called in names:
        made = new_actor(scene, actor, called)
        made._names.append(called)
        found.append(made)
    if not actor.names:
        scene.forget(actor)
    return found


def _part(part: Body, name: str, old: Body) -> Body:
    import copy

    made = copy.deepcopy(part)
    made._name = name
    made.position, made.rotation = old.position, old.rotation
    return made


def _velocity(handle: BodyHandle) -> Array:
    return np.concatenate([handle.angular_velocity, handle.velocity])


def _momentum(body: Body, pose: Array, velocity: Array) -> Array:
    """Return angular momentum about the world's origin, and linear, of a body (6,)."""
    inertia, R = body.inertia, pose[:, :3]
    c, w = R @ np.asarray(inertia.com, float), velocity[:3]
    P = inertia.mass * (velocity[3:] + np.cross(w, c))
    L = R @ np.asarray(inertia.tensor, float) @ R.T @ w
    return np.concatenate([L + np.cross(pose[:, 3] + c, P), P])


def _shared_out(
    before: Array, bodies: Iterable[Body], poses: list[Array], pose: Array, velocity: Array
) -> list[Array]:
    """Return velocities (6,) of parts that move on as the whole did, with its momentum to the last digit.

    Where parts do not weigh what the whole did, a common change of velocity and spin makes up for it.
    """
    bodies, w = list(bodies), velocity[:3]
    speeds = [np.concatenate([w, velocity[3:] + np.cross(w, each[:, 3] - pose[:, 3])]) for each in poses]
    for _ in range(2):
        missing = before - sum(_momentum(*each) for each in zip(bodies, poses, speeds, strict=True))
        masses = np.array([body.inertia.mass for body in bodies])
        places = np.array(
            [X[:, 3] + X[:, :3] @ body.inertia.com for body, X in zip(bodies, poses, strict=True)]
        )
        centre = masses @ places / masses.sum()
        tensor = np.zeros((3, 3))
        for body, X, mass, place in zip(bodies, poses, masses, places, strict=True):
            r = place - centre
            tensor += X[:, :3] @ np.asarray(body.inertia.tensor, float) @ X[:, :3].T
            tensor += mass * (r @ r * np.eye(3) - np.outer(r, r))
        dv = missing[3:] / masses.sum()
        spin = np.linalg.lstsq(tensor, missing[:3] - np.cross(centre, missing[3:]), rcond=1e-12)[0]
        speeds = [
            speed + np.concatenate([spin, dv + np.cross(spin, X[:, 3] - centre)])
            for speed, X in zip(speeds, poses, strict=True)
        ]
    return speeds
