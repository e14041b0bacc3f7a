"""Quantities of a motion with contact: the contacts themselves, and what their forces do.

Contacts of all samples are one array (N, C, CONTACT_WORDS), padded with NaN: C is the largest number of them.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import inverse_dynamics
from linkwork.dynamics.external_forces import external_forces
from linkwork.model.own_forces import free_loads, free_loop_drives, free_motion
from linkwork.model.own_forces import motion as own_motion
from linkwork.model.reaction_forces import free_row_forces, reactions_under, row_forces_in_motion

if TYPE_CHECKING:
    from linkwork.contact_dynamics.contacts_in_motion import RigidMoment, TouchingBodies

Array = np.ndarray

# Columns of "contacts": numbers of the bodies (-1 is ground), where, normal from a to b, depth, the force on
# b, and the velocity of b's point, seen from a, along the tangents.
BODY_A, BODY_B, POINT, NORMAL, DEPTH, FORCE, SLIP = 0, 1, 2, 5, 8, 9, 12
CONTACT_WORDS = 15


def contacts(at: Any) -> Array:
    """Return the contacts of all samples."""
    from linkwork.contact_dynamics.contacts_in_motion import together

    rigid = [moment.contacts for moment in _rigid(at)]
    each = [found for found in (rigid, _compliant(at)) if found]
    return _rows(at, [together(list(of_sample)) for of_sample in zip(*each, strict=True)])


def _rigid(at: Any) -> "list[RigidMoment]":
    """Return what is rigid at each sample; nothing if all is compliant."""
    from linkwork.contact_dynamics.contacts_in_motion import (
        ContactsInMotion,  # only who needs it waits for it
    )

    def found() -> "list[RigidMoment]":
        moving = ContactsInMotion(at.model)
        return [moving.at(t, q, v, u) for t, q, v, u in zip(at.t, at.q, at.v, at["inputs"], strict=True)]

    return at.once("rigid contacts", found) if at.model.is_rigid else []


def _compliant(at: Any) -> "list[TouchingBodies]":
    """Return the compliant contacts of each sample; nothing if none is."""
    if at.model.compliant_contacts is None:
        return []
    from linkwork.contact_dynamics.compliant_in_motion import CompliantInMotion

    moving, wrenches, found = CompliantInMotion(at.model), _compliant_wrenches(at), []
    for k, (q, poses, velocities) in enumerate(zip(at.q, at["poses"], at["velocities"], strict=True)):
        state = _lifted_places(poses), _lifted_motions(velocities), wrenches[k]
        found.append(moving.at(at.model.poses(q), *state))
    return found


def _rows(at: Any, found: "list[TouchingBodies]") -> Array:
    """Return contacts as one array, with their slips."""
    most = max((len(each.depth) for each in found), default=0)
    rows = np.full((len(found), most, CONTACT_WORDS), np.nan)
    for row, each, poses, velocities in zip(rows, found, at["poses"], at["velocities"], strict=True):
        slip = _slip(each, _lifted_places(poses), _lifted_motions(velocities))
        row[: len(each.depth)] = np.column_stack(
            [each.bodies, each.point, each.normal, each.depth, each.force, slip]
        )
    return rows


def _lifted_places(poses: Array) -> Array:
    """Return the origins of bodies in space (B + 1, 3); the last is that of ground."""
    places = np.zeros((len(poses) + 1, 3))
    places[:-1, : poses.shape[1]] = poses[:, :, -1]
    return places


def _lifted_motions(velocities: Array) -> Array:
    """Return angular and linear velocities in space (B + 1, 6); the last are those of ground."""
    motions = np.zeros((len(velocities) + 1, 6))
    motions[:-1, slice(None) if velocities.shape[1] == 6 else slice(2, 5)] = velocities
    return motions


def _slip(each: "TouchingBodies", places: Array, motions: Array) -> Array:
    """Return the velocity of b's point, seen from a, along the tangents."""
    speed = [motions[k, 3:] + np.cross(motions[k, :3], each.point - places[k]) for k in each.bodies.T]
    u = speed[1] - speed[0]
    return u - np.einsum("ni,ni->n", u, each.normal)[:, None] * each.normal


def contact_forces(at: Any) -> Array:
    """Return the sum of the forces of contacts on each body (N, bodies, d) [N]."""
    wrenches = _rigid_wrenches(at)
    if at.model.compliant_contacts is not None:
        wrenches = wrenches + _compliant_wrenches(at)
    return wrenches[:, :, 3 : 3 + at["poses"].shape[2]]


def _compliant_wrenches(at: Any) -> Array:
    """Return torques of compliant contacts about the bodies' origins, and forces, (N, bodies, 6)."""
    model, algebra = at.model, at.model.link_tree.algebra
    external = model.contact_forces(at.q, at.v, at.t, inputs=at["inputs"])
    frames, wrenches = at.frames(model.body_names), np.zeros((len(at.t), len(model.body_names), 6))
    for k, (name, joint_name) in enumerate(zip(model.body_names, model.joint_names, strict=True)):
        joint = model.joints[joint_name]
        place = frames[name] @ joint.frames()[1 if joint.child.name == name else 0]
        wrench = place.axes @ algebra.Force.from_scalars(list(external[:, k].T))
        about = wrench.about(frames[name].p - place.p)
        columns = slice(None) if algebra.freedoms == 6 else slice(2, 5)
        wrenches[:, k, columns] = np.stack([np.broadcast_to(x, at.t.shape) for x in about.scalars()], axis=-1)
    return wrenches


def _rigid_wrenches(at: Any) -> Array:
    """Return torques of rigid contacts about the bodies' origins, and forces, (N, bodies, 6)."""
    poses = at["poses"]
    wrenches = np.zeros((len(poses), poses.shape[1] + 1, 6))
    for n, (each, *_) in enumerate(_rigid(at)):
        places = _lifted_places(poses[n])
        for body, sign in zip(each.bodies.T, (-1.0, 1.0), strict=True):
            torque = np.cross(each.point - places[body], sign * each.force)
            np.add.at(wrenches[n], body, np.column_stack([torque, sign * each.force]))
    return wrenches[:, :-1]


def _external(at: Any) -> Array:
    """Return the forces of rigid contacts on bodies as `loads` gives those of all others."""
    R, wrenches, forces = at["poses"][..., :-1], _rigid_wrenches(at), {}
    for k, name in enumerate(at.model.body_names):
        torque, force = wrenches[:, k, :3], wrenches[:, k, 3:]
        if R.shape[-1] == 2:
            local = np.einsum("nji,nj->ni", R[:, k], force[:, :2])
            forces[name] = np.column_stack([torque[:, 2], local])
        else:
            forces[name] = np.concatenate(
                [np.einsum("nji,nj->ni", R[:, k], part) for part in (torque, force)], axis=1
            )
    return external_forces(at.model.body_tree, forces)


def _response(at: Any) -> tuple[Array, Array]:
    """Return how what is rigid changes accelerations (N, nv), and forces of loops' equations (N, rows).

    M a = J^T f + G^T p and G a = 0, so (G M^-1 G^T) p = -G M^-1 J^T f; of all p that do it the least.
    """
    if not at.model.is_rigid:
        return np.zeros_like(at.v), np.zeros((len(at.t), 1))
    model, still = at.model, np.zeros_like(at.v)
    kernel, external = model.kernel_of(inverse_dynamics.WITH_FORCES, model.body_tree), _external(at)
    held, pushed = (kernel(at.q, still, still, each)[0] for each in (0.0 * external, external))
    M = model.mass_matrix(at.q)
    push = np.array([moment.push for moment in _rigid(at)])
    a = np.linalg.solve(M, (held - pushed + push)[..., None])[..., 0]
    if not model.link_tree.loops:
        return a, np.zeros((len(a), 0))
    G = model.constraint_jacobian(at.q)
    X = np.linalg.solve(M, G.swapaxes(1, 2))
    p = -(np.linalg.pinv(G @ X, rcond=1e-12, hermitian=True) @ (G @ a[..., None]))
    return a + (X @ p)[..., 0], p[..., 0]


def accelerations(at: Any) -> Array:
    """Return the accelerations under all forces, those of contacts among them."""
    move = free_motion if at.model.is_rigid else own_motion
    free = move(at.model, at.q, at.v, at.t, inputs=at["inputs"])
    return free + at.once("response to contacts", lambda: _response(at))[0]


def row_forces(at: Any) -> Array:
    """Return the forces of the loops' equations under all forces."""
    find = free_row_forces if at.model.is_rigid else row_forces_in_motion
    free = find(at.model, at.q, at.v, at.t, inputs=at["inputs"])
    return free + at.once("response to contacts", lambda: _response(at))[1]


def applied(at: Any) -> dict[str, Array]:
    """Return forces of joints and loads, those of stops and friction that sticks among them."""
    forces, external = free_loads(at.model, at.q, at.v, at.t, at["inputs"])
    return {"forces": forces + [moment.joint_forces for moment in _rigid(at)], "external": external}


def loop_forces(at: Any) -> Array:
    """Return the forces of joints that close loops, those of stops and friction that sticks among them."""
    free = free_loop_drives(at.model, at.q, at.v, at.t, at["inputs"])
    return free + [moment.loop_forces for moment in _rigid(at)]


def reactions(at: Any) -> Array:
    """Return the reactions of joints under all forces."""
    model, external = at.model, at["external"] + _external(at)
    rows = at["row_forces"] if model.link_tree.loops else None
    return reactions_under(model, at.q, at.v, at["accelerations"], external, rows).array


OF_MOTION = {"accelerations": accelerations, "row_forces": row_forces, "reactions": reactions}
OF_CONTACT = OF_MOTION | {"contacts": contacts, "contact_forces": contact_forces}
OF_RIGID = OF_MOTION | {"forces": applied, "external": applied, "loop_forces": loop_forces}
