"""Poses, velocities, accelerations, Jacobians, sums over bodies: against the textbook and differences."""

import naive
import numpy as np
import pytest
from mechanisms import SPACES, floating, random_inertia, random_state, random_tree, rate, rates
from naive import relative_error

import linkwork as lw

SEEDS = range(2000, 2030)


@pytest.fixture(scope="module", params=[(seed, space) for seed in SEEDS for space in SPACES], ids=str)
def tree(request):
    """A mechanism, its model, the oracle, and a state of motion q, v, a."""
    m = random_tree(*request.param)
    model = m.compile()
    return (
        m,
        model,
        naive.Tree(m, model.slices),
        *random_state(model, np.random.default_rng(request.param[0])),
    )


def motion(thing) -> np.ndarray:
    return np.asarray(thing)


def pose(frame) -> np.ndarray:
    return np.column_stack([frame.rotation, frame.position])


def test_poses(tree):
    m, model, oracle, q, _, _ = tree
    found = model.poses(q)
    assert list(found) == ["ground", *model.body_names]
    for name in m.bodies:
        np.testing.assert_allclose(pose(found[name]), oracle.pose(q, name), rtol=0, atol=1e-13)
    size = m.gravity.size
    np.testing.assert_array_equal(pose(found["ground"]), np.eye(size, size + 1))


def test_bodies_are_where_they_are_drawn(tree):
    m, model, *_ = tree
    drawn = all(joint.on_parent is None or joint.on_child is None for joint in m.joints.values())
    if drawn:  # frames given on both bodies need not fit the drawing
        for name, frame in model.poses(model.q_drawn).items():
            np.testing.assert_allclose(frame.position, m[name].position, rtol=0, atol=1e-13)
            np.testing.assert_allclose(frame.rotation, m[name].rotation, rtol=0, atol=1e-13)


def test_velocities(tree):
    m, model, oracle, q, v, _ = tree
    found = model.velocities(q, v)
    for name in m.bodies:
        assert relative_error(motion(found[name]), oracle.velocity(q, v, name)) < 1e-12


def test_velocities_are_the_rates_of_poses(tree):
    m, model, _, q, v, _ = tree
    dq = rates(m, model, q, v)
    found = model.velocities(q, v)
    for name in m.bodies:
        R = model.poses(q)[name].rotation
        dX = rate(lambda t, name=name: pose(model.poses(q + t * dq)[name]))
        spin = dX[:, :-1] @ R.T  # dR/dt R^T = [w]x
        angular = (spin[2, 1], spin[0, 2], spin[1, 0]) if len(R) == 3 else (spin[1, 0],)
        np.testing.assert_allclose(motion(found[name]), [*angular, *dX[:, -1]], rtol=0, atol=1e-9)


def test_accelerations(tree):
    m, model, oracle, q, v, tau = tree
    found = model.accelerations(q, v, tau)
    a = model.forward_dynamics(q, v, tau)
    for name in m.bodies:
        assert relative_error(motion(found[name]), oracle.acceleration(q, v, a, name)) < 1e-11


def test_accelerations_are_the_rates_of_velocities(tree):
    m, model, _, q, v, tau = tree
    found = model.accelerations(q, v, tau)
    a = model.forward_dynamics(q, v, tau)
    dq = rates(m, model, q, v)
    for name in m.bodies:
        change = rate(lambda t, name=name: motion(model.velocities(q + t * dq, v + t * a)[name]))
        np.testing.assert_allclose(motion(found[name]), change, rtol=0, atol=1e-8 * (1 + np.max(np.abs(a))))


def test_jacobians(tree):
    m, model, oracle, q, v, _ = tree
    point = np.arange(1.0, 1.0 + m.gravity.size) / 4
    for name in m.bodies:
        J = model.jacobian(q, name, point)
        np.testing.assert_allclose(J, oracle.jacobian(q, name, point), rtol=0, atol=1e-12)
        at_origin = model.jacobian(q, name)
        np.testing.assert_allclose(at_origin @ v, motion(model.velocities(q, v)[name]), rtol=0, atol=1e-12)
    assert not model.jacobian(q, "ground").any()


def test_jacobian_columns_are_the_rates_of_a_point(tree):
    m, model, _, q, _, _ = tree
    point = np.arange(1.0, 1.0 + m.gravity.size) / 4
    name = model.body_names[-1]
    J = model.jacobian(q, name, point)
    for k, unit in enumerate(np.eye(model.nv)):
        dq = rates(m, model, q, unit)
        moved = rate(lambda t, dq=dq: model.poses(q + t * dq)[name] @ point)
        np.testing.assert_allclose(J[-m.gravity.size :, k], moved, rtol=0, atol=1e-9)


def test_energies_and_momentum(tree):
    _, model, oracle, q, v, _ = tree
    T, U = oracle.kinetic_energy(q, v) + 0.5 * v @ (model.armature * v), oracle.potential_energy(q)
    assert model.kinetic_energy(q, v) == pytest.approx(T, rel=1e-12)
    assert model.potential_energy(q) == pytest.approx(U, rel=1e-12, abs=1e-12)
    assert model.energy(q, v) == pytest.approx(T + U, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(model.center_of_mass(q), oracle.center_of_mass(q), rtol=0, atol=1e-13)
    assert relative_error(model.momentum(q, v), oracle.momentum(q, v)) < 1e-12


def test_linear_momentum_is_mass_times_the_rate_of_the_center(tree):
    m, *_ = tree
    m = floating(m)
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(5))
    dq = rates(m, model, q, v)
    mass = sum(body.inertia.mass for body in m.bodies.values())
    change = rate(lambda t: model.center_of_mass(q + t * dq))
    np.testing.assert_allclose(model.momentum(q, v)[-m.gravity.size :], mass * change, rtol=0, atol=1e-8)


def test_a_quaternion_of_any_length_is_the_same_turn():
    m = random_tree(3, joints=[lw.Spherical, lw.Free], n=4)
    model = m.compile()
    q, v, x = random_state(model, np.random.default_rng(7))
    long = q.copy()
    for own, _ in model.slices.values():
        long[own.stop - 4 : own.stop] *= 3.7
    for f in (model.forward_dynamics, model.inverse_dynamics):
        assert relative_error(f(long, v, x), f(q, v, x)) < 1e-12
    assert relative_error(model.mass_matrix(long), model.mass_matrix(q)) < 1e-13


def test_bodies_welded_to_ground_stay_and_count_in_no_sum():
    m = lw.Mechanism("crane")
    unit = lw.Inertia(2.0, (0.1, 0.2, 0.3), np.eye(3))
    mast = m.add(lw.Body("mast", unit, position=(1, 2, 3)))
    hook = m.add(lw.Body("hook", unit, position=(1, 2, 4)))
    m.add(lw.Fixed("bolts", m.ground, mast))
    m.add(lw.Prismatic("rope", mast, hook))
    model = m.compile()
    q, v = np.array([0.5]), np.array([1.0])
    np.testing.assert_allclose(model.poses(q)["mast"].position, (1, 2, 3))
    np.testing.assert_array_equal(motion(model.velocities(q, v)["mast"]), np.zeros(6))
    np.testing.assert_array_equal(model.jacobian(q, "mast"), np.zeros((6, 1)))
    np.testing.assert_allclose(model.center_of_mass(q), (1.1, 2.2, 4.8))
    np.testing.assert_allclose(model.momentum(q, v), (0, 0, 0, 0, 0, 2))
    assert model.potential_energy(q) == pytest.approx(2.0 * 9.81 * 4.8)


AXES = [*np.eye(3), *-np.eye(3), (1, 2, 3), (1e-9, 0, -1), (0, 3e-7, -2)]


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("drawn", [0.0, 0.7], ids=["straight", "turned"])
def test_joints_turn_about_and_slide_along_their_axis_at_their_place(axis, drawn):
    """`at=` and `axis=` are of the world as drawn; a point of the body on the axis moves only along it."""
    unit, place = np.array(axis) / np.linalg.norm(axis), np.array([0.3, -0.2, 0.5])
    square = np.cross(unit, (0.3, 0.5, 0.7))
    square /= np.linalg.norm(square)
    advance = 0.4 / (2 * np.pi)
    cases = {  # joint -> per velocity, angular velocity and velocity of the place
        lw.Revolute: [(unit, 0 * unit)],
        lw.Prismatic: [(0 * unit, unit)],
        lw.Helical: [(unit, advance * unit)],
        lw.Cylindrical: [(unit, 0 * unit), (0 * unit, unit)],
        lw.Universal: [(unit, 0 * unit), (square, 0 * unit)],
    }
    for kind, motions in cases.items():
        m = lw.Mechanism("one")
        turn = lw.rotation_x(drawn).rotation
        body = m.add(
            lw.Body("body", lw.Inertia(1.0, (1, 1, 1), np.eye(3)), position=(1, 2, 3), rotation=turn)
        )
        options = {lw.Helical: {"pitch": 0.4}, lw.Universal: {"axis2": square}}.get(kind, {})
        m.add(kind("joint", m.ground, body, at=place, axis=axis, **options))
        model = m.compile()
        point = model.poses(model.q_drawn)["body"].local(place)
        J = model.jacobian(model.q_drawn, "body", point)
        np.testing.assert_allclose(J.T, [np.concatenate(pair) for pair in motions], rtol=0, atol=1e-14)


@pytest.mark.parametrize("axis", [(1, 0), (0, 1), (-1, 0), (0, -1), (3, 4)], ids=str)
def test_sliders_of_the_plane_slide_along_their_axis(axis):
    m = lw.Mechanism("slider", space="plane")
    body = m.add(lw.Body("body", lw.Inertia(1.0, (1, 1), 1.0), position=(1, 2), rotation=0.4))
    m.add(lw.Prismatic("joint", m.ground, body, at=(3, 4), axis=axis))
    model = m.compile()
    moves = np.array(axis) / np.linalg.norm(axis)
    np.testing.assert_allclose(model.jacobian(np.array([0.8]), "body").T, [[0, *moves]], rtol=0, atol=1e-15)


@pytest.mark.parametrize("space", SPACES)
def test_the_position_of_a_free_body_is_its_pose_in_its_parent(space):
    size = 3 if space == "space" else 2
    m = lw.Mechanism("ship and boat", space=space)
    inertia = random_inertia(np.random.default_rng(0), space)
    ship = m.add(lw.Body("ship", inertia, position=(1, 2, 0)[:size], rotation=0.5))
    boat = m.add(lw.Body("boat", inertia, position=(3, 4, 0)[:size], rotation=-0.2))
    m.add(lw.Free("sea", m.ground, ship))
    m.add(lw.Free("tow", ship, boat))
    model = m.compile()
    own = model.slices["sea"][0]
    np.testing.assert_allclose(model.q_drawn[own][:size], (1, 2, 0)[:size], rtol=0, atol=1e-15)
    q, _, _ = random_state(model, np.random.default_rng(1))
    poses = model.poses(q)
    np.testing.assert_allclose(poses["ship"].position, q[own][:size], rtol=0, atol=1e-15)
    seen = poses["ship"].local(poses["boat"])
    there = q[model.slices["tow"][0]]
    np.testing.assert_allclose(seen.position, there[:size], rtol=0, atol=1e-14)
    turned = lw.Frame(rotation=there[3:]) if space == "space" else lw.rotation_z(there[2])
    np.testing.assert_allclose(seen.rotation, turned.rotation[:size, :size], rtol=0, atol=1e-14)
