"""Rigid bodies as they are taught: the brick of the lecture, the state and its rates."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.free_bodies import orthonormalised
from linkwork.free_bodies.orientation import star

# The brick of eight unit masses of F. Z. Qureshi's lecture "Rigid bodies" (CSCI 3010U): 4 x 1 x 2 m.
BRICK = np.array(
    [(1, 1, 1), (5, 1, 1), (5, 2, 1), (1, 2, 1), (1, 1, -1), (5, 1, -1), (5, 2, -1), (1, 2, -1)], dtype=float
)


def test_the_brick_of_the_lecture():
    inertia = lw.Inertia.from_points(np.ones(8), BRICK)
    assert inertia.mass == 8.0
    np.testing.assert_array_equal(inertia.com, (3, 1.5, 0))
    np.testing.assert_array_equal(inertia.tensor, np.diag([10, 40, 34]))


def test_the_brick_turned_by_45_degrees():
    """The lecture prints -12 for its Ixz, which is the integral of xz; in the tensor it stands negative."""
    turn = Rotation.from_euler("y", 45, degrees=True).as_matrix()
    middle = np.array([3, 1.5, 0])
    turned = lw.Inertia.from_points(np.ones(8), (BRICK - middle) @ turn.T + middle)
    products = -12.0
    np.testing.assert_allclose(
        turned.tensor, [[22, 0, -products], [0, 40, 0], [-products, 0, 22]], atol=1e-13
    )
    np.testing.assert_allclose(turn.T @ turned.tensor @ turn, np.diag([10, 40, 34]), atol=1e-13)
    moments, axes = turned.principal()
    np.testing.assert_allclose(moments, [10, 34, 40], rtol=1e-14)
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, turned.tensor, atol=1e-13)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_a_body_of_points_has_principal_axes():
    turn = Rotation.from_euler("xyz", [0.3, 1.0, -2.0]).as_matrix()
    points = BRICK @ turn.T
    brick = lw.RigidBody.from_points("brick", np.ones(8), points, angular_velocity=(1, 2, 3))
    np.testing.assert_allclose(brick.I_body, np.diag([10, 34, 40]), atol=1e-12)
    np.testing.assert_allclose(brick.I, lw.Inertia.from_points(np.ones(8), points).tensor, atol=1e-12)
    np.testing.assert_allclose(brick.I @ brick.I_inverse, np.eye(3), atol=1e-13)
    np.testing.assert_allclose(brick.omega, (1, 2, 3), rtol=1e-13)
    np.testing.assert_allclose(brick.to_world(brick.to_body(points)), points, atol=1e-13)


def test_the_flat_state_is_that_of_the_lecture():
    body = lw.RigidBody("b", lw.Box(1, 2, 3), mass=2.0, position=(1, 2, 3), rotation=(0.8, 0.6, 0, 0))
    body.P, body.L = np.array([4.0, 5, 6]), np.array([7.0, 8, 9])
    R = body.R
    expected = [1, 2, 3, *R[:, 0], *R[:, 1], *R[:, 2], 4, 5, 6, 7, 8, 9]
    np.testing.assert_array_equal(body.state, expected)
    other = lw.RigidBody("c", lw.Box(1, 2, 3), mass=2.0)
    other.state = body.state
    np.testing.assert_array_equal(other.R, R)
    np.testing.assert_array_equal(other.omega, body.omega)


@pytest.mark.parametrize("orientation", ["matrix", "quaternion"])
def test_rates_are_the_derivative_of_the_state(orientation):
    """Against a body that is turned and moved by hand, as far as it goes in a short time."""
    body = lw.RigidBody(
        "b",
        lw.Inertia(2.0, (0.1, 0.2, 0.3), np.diag([1.0, 2.0, 2.5])),
        position=(1, 2, 3),
        rotation=(0.8, 0.0, 0.6, 0),
        velocity=(1, -1, 2),
        angular_velocity=(0.3, 0.7, -1.1),
        force=(1, 2, 3),
        torque=lambda t, b: (t, 0, 1),
        orientation=orientation,
    )
    np.testing.assert_allclose(body.x, (1, 2, 3) + body.R @ (0.1, 0.2, 0.3))
    h, t = 1e-5, 0.5
    rates = body.derivative(t, gravity=(0, 0, -10))
    places = []
    for s in (-h, h):
        turned = Rotation.from_rotvec(s * body.omega).as_matrix() @ body.R
        moved = lw.RigidBody(
            "m", lw.Inertia(2.0, (0, 0, 0), body.I_body), rotation=turned, orientation=orientation
        )
        places.append(np.r_[body.x + s * body.v, moved.positions[3:]])
    n = body.positions.size
    np.testing.assert_allclose(rates[:n], (places[1] - places[0]) / (2 * h), atol=1e-9)
    np.testing.assert_allclose(rates[n:], (1, 2, 3 - 20, 0.5, 0, 1))
    assert body.momentum_rates(t)[1] == pytest.approx((1, 2, 3) @ body.v + (0.5, 0, 1) @ body.omega)


def test_velocity_of_a_point_and_torque_of_a_force():
    body = lw.RigidBody("b", lw.Box(1, 2, 3), mass=6.0, velocity=(1, 0, 0), angular_velocity=(0, 0, 2))
    np.testing.assert_allclose(body.velocity_at((0, 1, 0)), (1 - 2, 0, 0))
    np.testing.assert_allclose(body.torque_of((0, 3, 0), (2, 0, 0)), (0, 0, 6))
    np.testing.assert_array_equal(body.torque_of((1, 2, 3), body.x), (0, 0, 0))
    flat = lw.RigidBody("f", lw.Box(1, 2, 3), mass=6.0, velocity=(1, 0), angular_velocity=2.0, space="plane")
    np.testing.assert_allclose(flat.velocity_at((0, 1)), (-1, 0))
    assert flat.torque_of((0, 3), (2, 0)) == 6.0
    assert flat.kinetic_energy == pytest.approx(body.kinetic_energy)
    assert flat.state.shape == (6,)


def test_star_makes_the_cross_product():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3))
    np.testing.assert_allclose(star(a) @ b, np.cross(a, b))


def test_orthonormalisation_is_near_and_exact():
    rng = np.random.default_rng(1)
    R = Rotation.random(rng=rng).as_matrix()
    off = R + 1e-6 * rng.normal(size=(3, 3))
    made = orthonormalised(off)
    np.testing.assert_allclose(made @ made.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(made) == pytest.approx(1.0)
    assert np.abs(made - R).max() < 1e-5
    np.testing.assert_allclose(orthonormalised(made), made, atol=1e-15)
    np.testing.assert_allclose(made[0], off[0] / np.linalg.norm(off[0]))  # the first row keeps its direction


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: lw.RigidBody("b"), "rigid body 'b': mass 0 kg"),
        (lambda: lw.RigidBody.from_points("b", [1, 1], [(0, 0, 0), (1, 0, 0)]), "mass about every axis"),
        (
            lambda: lw.RigidBody("b", lw.Sphere(1), mass=1, velocity=(1, 2)),
            r"velocity at t = 0 s is \(1, 2\); give 3",
        ),
        (
            lambda: lw.RigidBody("b", lw.Sphere(1), mass=1, orientation="euler"),
            'give "matrix" or "quaternion"',
        ),
        (lambda: lw.RigidBody("b", lw.Sphere(1), mass=1).angle, "is in space"),
        (lambda: lw.Particle("p", 0), "particle 'p': mass 0"),
        (lambda: lw.Particle("p", 1, 3), "particle 'p': position 3"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, words):
    with pytest.raises((ValueError, AttributeError), match=words):
        make()
