"""What joints transmit: every body obeys Newton and Euler, and constraints do no work."""

import naive
import numpy as np
import pytest
from mechanisms import SPACES, kinds, random_forces, random_state, random_tree
from naive import in_space, relative_error, tensor_in_space

import linkwork as lw

SEEDS = range(3000, 3030)


@pytest.fixture(scope="module", params=[(seed, space) for seed in SEEDS for space in SPACES], ids=str)
def tree(request):
    """A mechanism, its model, the oracle, a state q, v, joint forces, and forces on bodies."""
    m = random_tree(*request.param)
    model = m.compile()
    rng = np.random.default_rng(request.param[0])
    return m, model, naive.Tree(m, model.slices), *random_state(model, rng), random_forces(m, rng)


def test_reactions(tree):
    m, model, oracle, q, v, tau, forces = tree
    for pushed in (None, forces):
        a = model.forward_dynamics(q, v, tau, forces=pushed)
        found = model.reactions(q, v, tau, forces=pushed)
        assert list(found) == list(model.joint_names)
        largest = max(np.max(np.abs(oracle.reaction(q, v, a, name, pushed))) for name in m.joints)
        for name in m.joints:
            expected = oracle.reaction(q, v, a, name, pushed)
            np.testing.assert_allclose(
                np.asarray(found[name]), expected, rtol=0, atol=1e-11 * max(1.0, largest)
            )


def test_every_body_obeys_newton_and_euler(tree):
    """Reactions, drives, weight and forces on a body make its rate of momentum; from the model's results."""
    m, model, oracle, q, v, tau, forces = tree
    a = model.forward_dynamics(q, v, tau, forces=forces)
    poses, velocities = model.poses(q), model.velocities(q, v)
    accelerations = model.accelerations(q, v, tau, forces=forces)
    whole = {name: whole_force(oracle, model, q, v, tau, a, name, forces) for name in m.joints}
    largest = max(np.max(np.abs(force)) for force, _ in whole.values())
    for body in m.bodies.values():
        frame = poses[body.name]
        R, origin = naive.turn_in_space(frame.rotation), in_space(frame.position)
        w, _ = parts(velocities[body.name], m.space)
        alpha, a0 = parts(accelerations[body.name], m.space)
        r = R @ in_space(body.inertia.com)
        a_c = a0 + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
        I = R @ tensor_in_space(body.inertia.tensor) @ R.T
        force = body.inertia.mass * (a_c - in_space(m.gravity))
        torque = I @ alpha + np.cross(w, I @ w) + np.cross(r, force)  # about the origin of the body
        if body.name in forces:
            n, f = parts(forces[body.name], m.space)
            torque, force = torque - R @ n, force - R @ f
        for name, joint in m.joints.items():
            sign = (joint.child is body) - (joint.parent is body)
            (n, f), place = np.split(whole[name][0], 2), whole[name][1]
            force = force - sign * f
            torque = torque - sign * (n + np.cross(place - origin, f))
        np.testing.assert_allclose([*torque, *force], 0, rtol=0, atol=1e-10 * max(1.0, largest))


def whole_force(oracle, model, q, v, tau, a, name, forces) -> tuple[np.ndarray, np.ndarray]:
    """Return what a joint exerts on its child, reaction and drive, and the point about which it is taken."""
    n, f = parts(model.reactions(q, v, tau, forces=forces)[name], model.space)
    P, X = oracle.motions(q, v)[1][name]
    own = model.slices[name][1]
    drive = tau[own] - model.armature[own] * a[own]  # the armature takes its part
    n = n + P.R @ X.W @ drive
    f = f + P.R @ X.V @ np.where(X.W.any(axis=0), 0.0, drive)
    return np.concatenate([n, f]), P.p + P.R @ X.p


def parts(thing, space: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the angular and the linear part as vectors of space."""
    x = np.asarray(thing)
    return (x[:3], x[3:]) if space == "space" else (np.array([0, 0, x[0]]), np.array([x[1], x[2], 0]))


def test_reactions_do_no_work(tree):
    m, model, oracle, q, v, tau, _ = tree
    found = model.reactions(q, v, tau)
    for name in m.joints:
        n, f = parts(found[name], m.space)
        P, X = oracle.motions(q, v)[1][name]
        powers = (P.R @ X.W).T @ n + (P.R @ X.V).T @ f
        np.testing.assert_allclose(powers, 0, rtol=0, atol=1e-11 * (1 + np.max(np.abs([n, f]))))


@pytest.mark.parametrize(
    ("kind", "space"), [(kind, space) for space in SPACES for kind in kinds(space)], ids=lambda x: str(x)
)
def test_every_joint_both_ways_round(kind, space):
    for seed in range(4):
        m = random_tree(seed, space, joints=[kind, lw.Revolute], n=3)
        model = m.compile()
        oracle = naive.Tree(m, model.slices)
        q, v, tau = random_state(model, np.random.default_rng(seed))
        a = model.forward_dynamics(q, v, tau)
        assert relative_error(a, oracle.forward_dynamics(q, v, tau)) < 1e-11
        for name, force in model.reactions(q, v, tau).items():
            expected = oracle.reaction(q, v, a, name)
            np.testing.assert_allclose(
                np.asarray(force), expected, rtol=0, atol=1e-11 * (1 + np.max(np.abs(a)))
            )


def test_a_bracket_carries_the_weight_of_what_is_bolted_to_it():
    m = lw.Mechanism("bracket", gravity=(0, 0, -10))
    plate = m.add(lw.Body("plate", lw.Inertia(1.0, (0, 0, 0), np.eye(3)), position=(1, 0, 0)))
    motor = m.add(lw.Body("motor", lw.Inertia(2.0, (0, 0, 0), np.eye(3)), position=(2, 0, 0)))
    wheel = m.add(lw.Body("wheel", lw.Inertia(3.0, (0, 0, 0), np.eye(3)), position=(2, 0, 0)))
    m.add(lw.Fixed("wall", m.ground, plate, at=(0, 0, 0)))
    m.add(lw.Fixed("bolts", plate, motor, at=(1, 0, 0)))
    m.add(lw.Revolute("shaft", motor, wheel, axis=(0, 1, 0)))
    found = m.compile().reactions(np.zeros(1), np.zeros(1), np.array([7.0]))
    np.testing.assert_allclose(found["shaft"].force, (0, 0, 30), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        found["shaft"].torque, (0, 0, 0), rtol=0, atol=1e-12
    )  # the drive is not part of it
    np.testing.assert_allclose(found["bolts"].force, (0, 0, 50), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        found["bolts"].torque, (0, -50 + 7, 0), rtol=0, atol=1e-12
    )  # but it acts back on the motor
    np.testing.assert_allclose(found["wall"].force, (0, 0, 60), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["wall"].torque, (0, -2 * 50 - 10 + 7, 0), rtol=0, atol=1e-12)
