"""Twins: a planar mechanism and a spatial one in the plane; a joint said one way round and the other."""

import copy

import numpy as np
import pytest
from mechanisms import pour, random_state, random_tree
from naive import relative_error

import linkwork as lw
from linkwork.algebra import spatial


@pytest.mark.parametrize("seed", range(5000, 5020))
def test_a_planar_mechanism_is_a_spatial_one_that_stays_in_the_plane(seed):
    m = random_tree(seed, "plane")
    flat, deep = m.compile(), in_space(m).compile()
    q, v, x = random_state(flat, np.random.default_rng(seed))
    q_deep, v_deep, x_deep = deep_state(flat, deep, q, v, x)
    kept = kept_velocities(flat, deep)
    a = flat.forward_dynamics(q, v, x)
    a_deep = deep.forward_dynamics(q_deep, v_deep, x_deep)
    assert relative_error(a_deep[kept], a) < 1e-11
    assert np.max(np.abs(np.delete(a_deep, kept)), initial=0) < 1e-11 * np.max(np.abs(a))
    assert relative_error(deep.mass_matrix(q_deep)[np.ix_(kept, kept)], flat.mass_matrix(q)) < 1e-12
    assert relative_error(deep.bias_forces(q_deep, v_deep)[kept], flat.bias_forces(q, v)) < 1e-11
    np.testing.assert_allclose(deep.energy(q_deep, v_deep), flat.energy(q, v), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        deep.momentum(q_deep, v_deep)[[2, 3, 4]], flat.momentum(q, v), rtol=0, atol=1e-12
    )
    for name, force in flat.reactions(q, v, x).items():
        found = np.asarray(deep.reactions(q_deep, v_deep, x_deep)[name])
        np.testing.assert_allclose(
            found[[2, 3, 4]], np.asarray(force), rtol=0, atol=1e-10 * np.max(np.abs(a))
        )


def in_space(m: lw.Mechanism) -> lw.Mechanism:
    """Return the twin in space: flat bodies, hinges about z."""
    twin = lw.Mechanism(gravity=(*m.gravity, 0))
    bodies = {"ground": twin.ground}
    for body in m.bodies.values():
        I = body.inertia
        tensor = np.diag([0.3 * I.tensor, 0.7 * I.tensor, I.tensor])
        inertia = lw.Inertia(I.mass, (*I.com, 0), tensor)
        bodies[body.name] = twin.add(
            lw.Body(body.name, inertia, position=(*body.position, 0.0), rotation=body.rotation)
        )
    for joint in m.joints.values():
        other = copy.copy(joint)
        other.parent, other.child = bodies[joint.parent.name], bodies[joint.child.name]
        for side in ("at", "on_parent", "on_child"):
            place = getattr(joint, side)
            if hasattr(place, "angle"):
                place = lw.translation(*place.position, 0) @ lw.rotation_z(place.angle)
            elif place is not None:
                place = (*place, 0)
            setattr(other, side, place)
        if joint.axis is not None:
            other.axis = (*joint.axis, 0)
        if isinstance(joint, lw.Free):
            other.armature = np.array([0.0, 0.0, *np.broadcast_to(joint.armature, 3), 0.0])
        twin.add(other)
    return twin


def deep_state(flat, deep, q, v, x):
    q_deep = np.zeros(deep.nq)
    for name, (own, _) in flat.slices.items():
        there = deep.slices[name][0]
        if there.stop - there.start == 7:
            px, py, angle = q[own]
            q_deep[there] = (px, py, 0, np.cos(angle / 2), 0, 0, np.sin(angle / 2))
        else:
            q_deep[there] = q[own]
    kept = kept_velocities(flat, deep)
    v_deep, x_deep = np.zeros(deep.nv), np.zeros(deep.nv)
    v_deep[kept], x_deep[kept] = v, x
    return q_deep, v_deep, x_deep


def kept_velocities(flat, deep) -> list[int]:
    """Return where planar velocities are among those of space; of a free body the turn about z, then x, y."""
    kept = []
    for name, (_, own) in flat.slices.items():
        first = deep.slices[name][1].start
        size = deep.slices[name][1].stop - first
        kept += [first + k for k in ((2, 3, 4) if size == 6 else range(own.stop - own.start))]
    return kept


REVERSIBLE = {  # what the coordinates and velocities of a joint are when parent and child change places
    lw.Revolute: lambda q, v: (-q, -v),
    lw.Prismatic: lambda q, v: (-q, -v),
    lw.Helical: lambda q, v: (-q, -v),
    lw.Cylindrical: lambda q, v: (-q, -v),
    lw.Universal: lambda q, v: (-q[::-1], -v[::-1]),
    lw.Spherical: lambda q, v: (q * (1, -1, -1, -1), -lw.Frame(rotation=q).rotation @ v),
    lw.Free: lambda q, v: _free_reversed(q, v),
}


def _free_reversed(q, v):
    X = lw.Frame(position=q[:3], rotation=q[3:])
    return np.array([*X.inverse.position, *(q[3:] * (1, -1, -1, -1))]), -np.asarray(
        X @ spatial.Motion(v[:3], v[3:])
    )


@pytest.mark.parametrize("kind", REVERSIBLE)
def test_a_joint_said_the_other_way_round_changes_only_its_sign(kind):
    for seed in range(5):
        m = random_tree(seed, joints=[kind, lw.Revolute], n=4)
        twin = pour(m, lw.Mechanism(gravity=m.gravity))
        for joint in twin.joints.values():
            on_parent, on_child = joint.frames()
            joint.parent, joint.child = joint.child, joint.parent
            joint.at, joint.axis, joint.on_parent, joint.on_child = None, None, on_child, on_parent
            if isinstance(joint, lw.Universal):
                joint.axis, joint.axis2 = (0, 1, 0), (1, 0, 0)
                joint.armature = np.broadcast_to(joint.armature, 2)[::-1]
            if isinstance(joint, lw.Spherical | lw.Free):
                joint.armature = 0.0  # an armature acts along the axes of the child
                m.joints[joint.name].armature = 0.0
        one, other = m.compile(), twin.compile()
        q, v, _ = random_state(one, np.random.default_rng(seed))
        q_other, v_other = np.zeros(other.nq), np.zeros(other.nv)
        for name, (own_q, own_v) in one.slices.items():
            there_q, there_v = other.slices[name]
            turned = REVERSIBLE[type(m.joints[name])](q[own_q], v[own_v])
            q_other[there_q], v_other[there_v] = turned
        idle = np.zeros(one.nv)
        np.testing.assert_allclose(other.poses(q_other).array, one.poses(q).array, rtol=0, atol=1e-12)
        velocities = other.velocities(q_other, v_other).array
        np.testing.assert_allclose(velocities, one.velocities(q, v).array, rtol=0, atol=1e-12)
        found, expected = other.accelerations(q_other, v_other, idle), one.accelerations(q, v, idle)
        assert relative_error(found.array, expected.array) < 1e-11
        for name, force in one.reactions(q, v, idle).items():
            there = other.reactions(q_other, v_other, idle)[name]
            size = 1 + np.max(np.abs(expected.array))
            np.testing.assert_allclose(
                there.force, -force.force, rtol=0, atol=1e-11 * size
            )  # on what was the parent
