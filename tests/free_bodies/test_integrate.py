"""Free bodies through time: against closed forms, mechanisms with a Free joint, and published figures."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw

TURNS = pytest.mark.parametrize("orientation", ["matrix", "quaternion"])


def thrown(orientation: Any = "matrix", **options):
    return lw.RigidBody(
        "brick",
        lw.Box(4, 1, 2),
        mass=8.0,
        rotation=(0.8, 0.0, 0.6, 0),
        velocity=(1, -2, 5),
        angular_velocity=(0.5, 0.4, 1.0),
        orientation=orientation,
        **options,
    )


@TURNS
def test_a_rigid_body_moves_as_one_on_a_free_joint(orientation):
    body = thrown(orientation)
    m = lw.Mechanism("flight", gravity=(0, 0, -9.81))
    drawn = m.add(lw.Body("brick", lw.Box(4, 1, 2), mass=8.0))
    m.add(lw.Free("base", m.ground, drawn))
    model = m.compile()
    R = body.R
    q = np.r_[body.x, body.quaternion]
    v = np.r_[R.T @ body.omega, R.T @ body.v]
    run = lw.simulate(model, 5.0, lw.State(q, v), accuracy=1e-12, method="dop853", every=0.5)
    flight = lw.integrate(body, 5.0, gravity=(0, 0, -9.81), accuracy=1e-12, method="dop853", every=0.5)
    np.testing.assert_allclose(flight.time, run.time)
    np.testing.assert_allclose(flight["brick"].position, run["brick"].pose.position, atol=1e-9)
    np.testing.assert_allclose(flight["brick"].rotation, run["brick"].pose.rotation, atol=1e-9)
    np.testing.assert_allclose(flight["brick"].angular_velocity, run["brick"].angular_velocity, atol=1e-9)


def test_a_planar_body_moves_as_one_on_a_planar_joint_under_forces():
    m = lw.Mechanism("flight", space="plane")
    drawn = m.add(lw.Body("plate", lw.Polygon([(0, 0), (2, 0), (2, 1)]), density=3.0))
    m.add(lw.Planar("base", m.ground, drawn))
    m.add(lw.Force("push", drawn, lambda body, t: (1 + t, -2.0), at=(0, 0)))
    model = m.compile()
    run = lw.simulate(model, 2.0, accuracy=1e-11, every=0.25)
    body = lw.RigidBody("plate", lw.Polygon([(0, 0), (2, 0), (2, 1)]), density=3.0, space="plane")
    corner = body.to_body((0, 0))
    body.force = lambda t, b: (1 + t, -2.0)
    body.torque = lambda t, b: b.torque_of((1 + t, -2.0), b.to_world(corner))
    flight = lw.integrate(body, 2.0, gravity=(0, -9.81), accuracy=1e-11, every=0.25)
    origin = flight["plate"].position + np.einsum("tij,j->ti", flight["plate"].rotation, corner)
    np.testing.assert_allclose(origin, run["plate"].position, atol=1e-9)
    np.testing.assert_allclose(flight["plate"].angle, np.unwrap(run["plate"].angle), atol=1e-9)
    assert flight.energy_error < 1e-9


@TURNS
def test_the_tumbling_brick_of_nasa(orientation):
    """NASA/TM-2015-218675, case 2: a torque-free brick; rates after 30 s by Jacobi's elliptic functions."""
    tensor = 1.3558179483314004 * np.diag([0.001894220, 0.006211019, 0.007194665])  # from slug ft^2
    start = np.deg2rad([10, 20, 30])
    brick = lw.RigidBody(
        "brick", lw.Inertia(1.0, (0, 0, 0), tensor), angular_velocity=start, orientation=orientation
    )
    lw.integrate(brick, 30.0, accuracy=1e-12, method="dop853")
    rates = np.rad2deg(brick.R.T @ brick.omega)
    np.testing.assert_allclose(rates, (12.61839077566776, -17.3974747618308, 31.11958888682995), atol=1e-8)


@TURNS
@pytest.mark.parametrize("method", ["euler", "semi-implicit", "rk4", "rkf45", "dop853", "rodas"])
def test_every_method_has_its_order_here_too(orientation, method):
    orders = {"euler": 1, "semi-implicit": 1, "rk4": 4, "rkf45": 5, "dop853": 8, "rodas": 4}
    exact = thrown(orientation)
    lw.integrate(exact, 1.0, gravity=(0, 0, -9.81), accuracy=1e-13, method="dop853")
    errors = []
    for steps in {"dop853": (3, 6), "rkf45": (8, 16), "rodas": (8, 16)}.get(method, (40, 80)):
        body = thrown(orientation)
        lw.integrate(body, 1.0, gravity=(0, 0, -9.81), step=1.0 / steps, method=method)
        errors.append(np.abs(body.R - exact.R).max())
    assert np.log2(errors[0] / errors[1]) > orders[method] - 0.45


@TURNS
def test_rotations_stay_rotations(orientation):
    body = thrown(orientation)
    flight = lw.integrate(body, 20.0, step=0.05, method="rk4")
    for R in (body.R, *flight["brick"].rotation):
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(
        flight["brick"].angular_momentum,
        np.broadcast_to(flight["brick"].angular_momentum[0], (401, 3)),
        rtol=1e-13,
    )
    raw = thrown(orientation).state
    for _ in range(400):  # the same steps, of Euler's kind, without care: the matrix leaves the rotations
        body.state = raw
        raw = raw + 0.05 * body.derivative()
    assert np.abs(raw[3:6] @ raw[3:6] - 1) > 0.1


def test_a_particle_and_a_body_pull_at_each_other():
    """A spring between them: momentum is kept, and the centre of mass goes straight on."""
    brick, ball = thrown(), lw.Particle("ball", 2.0, (3, 0, 0), velocity=(0, 1, 0))
    brick.force = lambda t, b: 10.0 * (ball.x - b.x)
    ball.force = lambda t, p: 10.0 * (brick.x - p.x)
    flight = lw.integrate([brick, ball], 3.0, accuracy=1e-10, every=0.5)
    total = flight["brick"].momentum + flight["ball"].momentum
    np.testing.assert_allclose(total, np.broadcast_to(total[0], total.shape), rtol=1e-12)
    stretch = ((flight["brick"].position - flight["ball"].position) ** 2).sum(axis=1)
    energy = flight.kinetic_energy + 5.0 * stretch
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    assert flight.energy_error < 1e-7


def test_a_stone_falls_as_galilei_says():
    for gravity in ((0.0, -9.81), (0.0, 0.0, -9.81)):
        n = len(gravity)
        stone = lw.Particle("stone", 0.5, np.zeros(n), velocity=np.arange(n) + 1.0)
        flight = lw.integrate(stone, 2.0, gravity=gravity, times=[0.5, 1.0, 2.0])
        t = flight.time[:, None]
        expected = t * (np.arange(n) + 1.0) + t**2 / 2 * np.array(gravity)
        np.testing.assert_allclose(flight["stone"].position, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(stone.x, expected[-1], rtol=1e-12)


def test_other_integrators_take_the_state_and_its_rates():
    body, scratch = thrown(), thrown()
    start = body.state

    def rates(t, y):
        scratch.state = y
        return scratch.derivative(t, gravity=(0, 0, -9.81))

    found = solve_ivp(rates, (0, 2), start, rtol=1e-11, atol=1e-11, method="DOP853").y[:, -1]
    lw.integrate(body, 2.0, gravity=(0, 0, -9.81), accuracy=1e-11)
    np.testing.assert_allclose(body.state, found, atol=1e-7)


def test_a_run_goes_on_from_where_the_bodies_are():
    one, two = thrown("quaternion"), thrown("quaternion")
    lw.integrate(one, 2.0, accuracy=1e-11)
    lw.integrate(two, 1.0, accuracy=1e-11)
    lw.integrate(two, 1.0, accuracy=1e-11)
    np.testing.assert_allclose(one.state, two.state, atol=1e-8)


def test_an_error_in_a_law_is_told_and_bodies_are_where_it_came_to():
    def law(t, body):
        if t > 0.5:
            raise ZeroDivisionError("no such force")
        return (1.0, 0, 0)

    body = thrown(force=law)
    with pytest.raises(lw.SimulationError, match="ZeroDivisionError: no such force") as error:
        lw.integrate(body, 2.0)
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    assert np.isfinite(body.state).all()
    with pytest.raises(
        lw.SimulationError, match=r"rigid body 'brick': force at t = .* give 3 finite numbers"
    ):
        lw.integrate(thrown(force=lambda t, b: (1, np.nan, 0)), 1.0)


@pytest.mark.parametrize(
    ("things", "options", "words"),
    [
        ([], {}, "no bodies"),
        (["brick"], {}, "neither a RigidBody nor a Particle"),
        ([lw.Particle("a", 1), lw.Particle("a", 1)], {}, "two bodies are named 'a'"),
        ([lw.Particle("a", 1), lw.Particle("b", 1, (0, 0))], {}, "in space and in the plane"),
        ([lw.Particle("a", 1)], {"gravity": (0, -9.81)}, "give 3 numbers"),
        ([lw.Particle("a", 1)], {"method": "magic"}, "unknown method 'magic'"),
        ([lw.Particle("a", 1)], {"method": "rk4"}, "give it a step="),
        ([lw.Particle("a", 1)], {"every": -1}, "every -1"),
    ],
)
def test_what_cannot_be_integrated_is_refused(things, options, words):
    with pytest.raises(ValueError, match=f"integrate: .*{words}"):
        lw.integrate(things, 1.0, **options)


def test_an_unknown_body_is_told_with_the_known_ones():
    flight = lw.integrate(lw.Particle("stone", 1), 1.0)
    with pytest.raises(KeyError, match="did you mean 'stone'"):
        flight["stome"]


def test_what_it_returns_is_a_recording_like_any_other(tmp_path):
    brick = thrown(torque=lambda t, b: (0.0, 1.0 + t, 0.0))
    ball = lw.Particle("ball", 2.0, (3, 0, 0), velocity=(0, 1, 0), force=lambda t, p: -3.0 * p.v)
    run = lw.integrate([brick, ball], 2.0, gravity=(0, 0, -9.81), every=0.1)
    assert isinstance(run, lw.Recording)
    assert run.energy_error < 1e-8  # gravity is potential energy, the rest is work
    assert run.report.python_laws == ("brick", "ball")
    np.testing.assert_allclose(run["ball"].acceleration[3], -1.5 * run["ball"].velocity[3] - (0, 0, 9.81))
    np.testing.assert_allclose(run["brick"].acceleration, np.tile((0, 0, -9.81), (21, 1)), atol=1e-9)
    rates = np.gradient(run["brick"].angular_momentum, 0.1, axis=0)
    np.testing.assert_allclose(rates[5], (0.0, 1.5, 0.0), atol=1e-6)
    now = lw.integrate(thrown(torque=lambda t, b: (0.0, 1.0 + t, 0.0)), 1.2345, gravity=(0, 0, -9.81)).final
    there = run.at(1.2345)
    before = brick.state.copy()
    np.testing.assert_allclose(there["brick"].position, now.q[:3], atol=1e-8)
    np.testing.assert_allclose(np.abs(there.q[3:7] @ now.q[3:7]), 1.0, atol=1e-9)
    np.testing.assert_allclose(there["ball"].acceleration, -1.5 * there["ball"].velocity - (0, 0, 9.81))
    assert np.array_equal(brick.state, before)
    run.save(tmp_path / "flight.lwr")
    again = lw.load(tmp_path / "flight.lwr")
    assert again["brick"].angular_momentum.tobytes() == run["brick"].angular_momentum.tobytes()
    assert again["ball"].acceleration.tobytes() == run["ball"].acceleration.tobytes()
    run.save_html(tmp_path / "flight.html")
    assert (tmp_path / "flight.html").stat().st_size > 10_000


def test_the_shapes_of_a_body_are_drawn_about_its_centre_of_mass():
    body = lw.RigidBody("bat", lw.Box(1, 0.1, 0.1, position=(2.0, 0, 0)), mass=1.0, position=(0, 0, 1))
    run = lw.integrate(body, 0.0)
    (drawn,) = run.mechanism.bodies["bat"].visuals
    np.testing.assert_allclose(drawn.shape.position, (0, 0, 0), atol=1e-15)
    np.testing.assert_allclose(run["bat"].position[0], (2.0, 0, 1.0))


def test_in_the_plane_angles_count_turns():
    body = lw.RigidBody("disc", lw.Inertia(1.0, (0, 0), 0.2), angular_velocity=20.0)
    run = lw.integrate(body, 3.0, every=1.0)
    np.testing.assert_allclose(run["disc"].angle, [0, 20, 40, 60], rtol=1e-9)
    assert run.at(0.5)["disc"].angle == pytest.approx(10.0)


def test_what_was_computed_before_a_failure_comes_with_the_error():
    body = thrown(force=lambda t, b: (1.0 if t < 0.5 else np.nan, 0, 0))
    with pytest.raises(lw.SimulationError) as error:
        lw.integrate(body, 2.0)
    run = getattr(error.value, "run")  # noqa: B009
    assert 0.4 < run.time[-1] <= 0.5
    assert run.report.failed
    assert "failed" in run.summary()
