"""What rolls, in the plane and in space, by steps and to an accuracy: closed forms, or own equations."""

from math import atan, atan2, cos, pi, radians, sin, sqrt

import numpy as np
import pytest
from flat_scenes import ACCURACY, EXACT, STEPS, G, Scene, near
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import linkwork as lw

BOTH = pytest.mark.parametrize("way", [STEPS, ACCURACY], ids=["steps", "accuracy"])
SPACES = pytest.mark.parametrize("space", ["plane", "space"])


@BOTH
@SPACES
def test_a_plank_on_two_rollers_is_as_heavy_as_three_eighths_of_them_more(space, way):
    M, m, r, F = 4.0, 1.0, 0.1, 5.0
    s = Scene(space).floor()
    for name, x in (("left", -0.4), ("right", 0.4)):
        s.body(name, s.disc(r), (x, r), m)
    s.body("plank", s.box(3, 0.1), (0, 2 * r + 0.05), M)
    s.contact(friction=0.6)
    s.push("plank", (F, 0.0))
    a = F / (M + 2 * m * 1.5 / 4.0)
    s.run(0.6, way)
    assert s.velocity("plank")[0] == pytest.approx(0.6 * a, abs=1e-9)
    assert s.velocity("left")[0] == pytest.approx(0.3 * a, abs=1e-9)


@BOTH
@SPACES
def test_a_wheel_with_its_mass_off_the_centre_rolls_as_lagrange_says(space, way):
    R, e, k, m, w0 = 0.3, 0.1, 0.01, 2.0, 3.0
    s = Scene(space).floor()
    s.body("wheel", s.disc(R), (0, R), m, k=k, com=(0, e), moves=(w0 * R, 0, -w0))
    s.contact(friction=3.0)

    def roll(t, y):
        inertia = k + m * (R * R + e * e + 2 * R * e * cos(y[0]))
        return [y[1], m * e * sin(y[0]) * (G + R * y[1] ** 2) / inertia]

    angle, spin = solve_ivp(roll, (0, 1.0), [0, w0], **EXACT).y[:, -1]
    s.run(1.0, way)
    assert s.place("wheel")[0] == pytest.approx(R * angle, **near(way, 3e-3))
    assert s.spin("wheel") == pytest.approx(-spin, **near(way, 1.5e-2))


@BOTH
@SPACES
def test_a_tumbler_rocks_on_its_round_bottom(space, way):
    R, e, k, m, lean = 0.3, 0.12, 0.01, 1.0, 1.0
    s = Scene(space).floor()
    s.body("tumbler", s.disc(R), (0, R), m, k=k, com=(0, -e), angle=-lean)
    s.contact(friction=3.0)

    def rock(t, y):
        inertia = k + m * (R * R + e * e - 2 * R * e * cos(y[0]))
        return [y[1], -m * e * sin(y[0]) * (G + R * y[1] ** 2) / inertia]

    angle, spin = solve_ivp(rock, (0, 2.0), [lean, 0], **EXACT).y[:, -1]
    s.run(2.0, way)
    assert s.angle("tumbler") == pytest.approx(-angle, **near(way, 5e-3))
    assert s.spin("tumbler") == pytest.approx(-spin, **near(way, 3e-2))


@BOTH
@SPACES
def test_a_plank_rocks_on_a_round_log(space, way):
    R, half, length, lean = 0.5, 0.05, 2.0, 0.2
    k = (length**2 + 4 * half**2) / 12.0

    def middle(a):
        return (R + half) * sin(a) - R * a * cos(a), (R + half) * cos(a) + R * a * sin(a)

    def rock(t, y):
        force = R * R * y[0] * y[1] ** 2 + G * (R * y[0] * cos(y[0]) - half * sin(y[0]))
        return [y[1], -force / (k + half**2 + (R * y[0]) ** 2)]

    s = Scene(space)
    s.m.ground.add(s.disc(R))
    s.body("plank", s.box(length, 2 * half), middle(lean), angle=-lean)
    s.contact(friction=2.0)
    angle, spin = solve_ivp(rock, (0, 2.0), [lean, 0], **EXACT).y[:, -1]
    s.run(2.0, way)
    assert s.angle("plank") == pytest.approx(-angle, **near(way, 3e-4))
    assert s.spin("plank") == pytest.approx(-spin, **near(way, 1e-3))


@BOTH
@SPACES
@pytest.mark.parametrize("more", [0.99, 1.01])
def test_a_roller_climbs_a_step_if_it_is_pushed_hard_enough(space, way, more):
    R, h, m, span = 0.5, 0.1, 2.0, 0.2
    x = -sqrt(2 * R * h - h * h)
    F = m * G * -x / (R - h) * more
    s = Scene(space).floor()
    s.m.ground.add(s.box(1, h, 0.5, h / 2))
    s.body("roller", s.disc(R), (x, R), m)
    s.contact(friction=1.0)
    s.push("roller", (F, 0.0))
    s.run(span, way)

    def climb(t, y):  # about the edge, by the angle from above it
        return [y[1], (m * G * sin(y[0]) - F * cos(y[0])) / (1.5 * m * R)]

    angle, rate = solve_ivp(climb, (0, span), [atan2(-x, R - h), 0], **EXACT).y[:, -1] if more > 1 else (0, 0)
    moves = -R * rate * cos(angle), -R * rate * sin(angle)
    assert s.velocity("roller") == pytest.approx(moves, **near(way, 1e-5, 1e-9))


@BOTH
@SPACES
def test_a_wheel_that_hits_a_step_keeps_its_spin_about_the_edge(space, way):
    R, h, v = 0.5, 0.1, 2.0
    x = sqrt(2 * R * h - h * h)
    s = Scene(space).floor()
    s.m.ground.add(s.box(1, h, 0.5, h / 2))
    s.body("wheel", s.disc(R), (-x - 0.5, R), 2.0, moves=(v, 0, -v / R))
    s.contact(friction=2.0)
    s.run(0.5 / v + 0.1, way)
    start = [atan2(x, R - h), -v / R * (1 - 2 * h / (3 * R))]
    angle, rate = solve_ivp(lambda t, y: [y[1], G / R * sin(y[0]) / 1.5], (0, 0.1), start, **EXACT).y[:, -1]
    assert s.place("wheel") == pytest.approx([-R * sin(angle), h + R * cos(angle)], **near(way, 3e-4))
    assert s.velocity("wheel") == pytest.approx(
        [-R * rate * cos(angle), -R * rate * sin(angle)], **near(way, 5e-3)
    )


@BOTH
@SPACES
def test_a_pencil_keeps_eleven_seventeenths_of_its_spin_at_every_edge(space, way):
    R, m, slope, span, start = 0.1, 1.0, radians(10), 1.0, 4.3
    high, about = R * sqrt(3) / 2, 17 / 12 * m * R * R
    corners = [(R * cos(k * pi / 3), R * sin(k * pi / 3)) for k in range(6)]
    s = Scene(space, (G * sin(slope), -G * cos(slope))).floor()
    moves = start * high, start * R / 2, -start
    s.body("pencil", s.hull(corners), (0, high), m, k=5 / 12 * m * R * R, moves=moves)
    s.contact(friction=50.0)

    def lands(t, y):
        return y[0] - pi / 6

    lands.terminal, lands.direction = True, 1.0
    t, spin, edges = 0.0, start, 0
    while True:
        rolls = (lambda t, y: [y[1], m * G * R * sin(y[0] + slope) / about], (t, span), [-pi / 6, spin])
        part = solve_ivp(*rolls, events=lands, **EXACT)
        t, spin = part.t[-1], part.y[1, -1]
        if part.status == 0:
            break
        spin, edges = spin * 11 / 17, edges + 1
    assert edges >= 3
    assert s.run(span, way).spin("pencil") == pytest.approx(-spin, **near(way, 0.1, 1e-6))


@BOTH
@pytest.mark.parametrize("mu", [0.9, 0.05])
def test_a_ball_rolls_or_slides_down_a_groove(way, mu):
    slope, side, r = radians(20), radians(45), 0.1
    m = lw.Mechanism("groove", gravity=(G * sin(slope), 0, -G * cos(slope)))
    for y in (1.0, -1.0):
        m.ground.add(lw.Plane(normal=(0, y * sin(side), cos(side))))
    m.add(lw.Body("ball", lw.Sphere(r), mass=1.0, position=(0, 0, r / cos(side))))
    m.add(lw.Contact("contact", material=lw.Material(friction=mu)))
    a, N = G * sin(slope) / (1 + 0.4 / cos(side) ** 2), 0.5 * G * cos(slope) / cos(side)
    a = max(a, G * sin(slope) - 2 * mu * N)
    assert lw.simulate(m, 1.0, times=[1.0], **way)["ball"].velocity[-1, 0] == pytest.approx(a, rel=1e-9)


def spinning(tilt, spin, more, friction, way):
    """Return a ball of axial symmetry with its mass off the centre, and over time what may stay the same.

    Jellett's integral -L . r, r from the centre of mass to the point of contact, stays whatever friction does
    there; energy and Routh's integral stay where it rolls (Routh, *Advanced Rigid Dynamics*, 1905, 243).
    """
    r, e, mass = 0.03, 0.006, 0.02
    A, C, com = 0.392 * mass * r * r, 0.4 * mass * r * r, np.array([0, 0, -e])
    R, tensor = Rotation.from_euler("x", tilt), np.diag([A, A, C])
    m = lw.Mechanism("top")
    m.ground.add(lw.Plane())
    body = lw.Inertia(mass, tuple(com), tensor)
    m.add(lw.Body("top", body, collisions=[lw.Sphere(r)], position=(0, 0, r), rotation=R))
    m.add(lw.Contact("contact", material=lw.Material(friction=friction)))
    w = R.apply((0, 0, spin)) + more
    v = np.cross(w, (0, 0, r)) if friction > 1.0 else np.zeros(3)
    model = m.compile()
    state = model.state(velocities={"top free": (*R.inv().apply(w), *R.inv().apply(v))})
    found = lw.simulate(model, 1.0, state, times=np.linspace(0, 1, 6), **way)
    integrals = []
    for k, t in enumerate(found.time):
        R, w = np.asarray(found.at(t)["top"].pose.rotation), found["top"].angular_velocity[k]
        L, arm, c = R @ tensor @ R.T @ w, -r * np.array([0, 0, 1]) - R @ com, R[2, 2]
        v = found["top"].velocity[k] + np.cross(w, R @ com)
        z = found["top"].position[k, 2] + (R @ com)[2]
        routh = (R.T @ w)[2] ** 2 * (A * C + mass * (A * (r * r * (1 - c * c)) + C * (r * c - e) ** 2))
        integrals.append((-L @ arm, routh, 0.5 * mass * v @ v + 0.5 * w @ L + mass * G * z))
    return np.array(integrals)


@BOTH
def test_a_tippe_top_that_slides_keeps_jelletts_integral(way):
    jellett, _, energy = spinning(0.3, 100.0 if not way else 20.0, 0.0, 0.1, way).T
    assert jellett == pytest.approx(jellett[0], rel=1e-3 if way else 1e-9)
    assert (np.diff(energy) <= (1e-5 if way else 1e-12) * energy[0]).all()
    assert energy[-1] < energy[0]


@BOTH
def test_a_top_that_rolls_keeps_jelletts_and_rouths_integrals_and_its_energy(way):
    integrals = spinning(1.0, 20.0 if not way else 5.0, np.array([0, 3.0, 0]), 5.0, way)
    assert integrals / integrals[0] == pytest.approx(np.ones((6, 3)), rel=1e-2 if way else 1e-8)


@BOTH
def test_a_cone_rolls_about_its_tip(way):
    high, r, pace = 0.2, 0.1, 2.0
    half = atan(r / high)
    cone = lw.Cone(r, high)
    tip = max(np.asarray(cone.surface()[0]).tolist(), key=lambda x: x[2])[2]
    up = -np.array([cos(half), 0, sin(half)])  # from its base to its tip
    turn = np.column_stack([np.cross((0, 1, 0), up), (0, 1, 0), up])
    place = -turn @ (0, 0, tip)
    m = lw.Mechanism("cone")
    m.ground.add(lw.Plane())
    m.add(lw.Body("cone", cone, mass=1.0, position=tuple(place), rotation=turn))
    m.add(lw.Contact("contact", material=lw.Material(friction=2.0)))
    w = np.array([-pace / r * high, 0, 0])
    model, v = m.compile(), np.cross(w, place)
    start = model.state(velocities={"cone free": (*turn.T @ w, *turn.T @ v)})
    found = lw.simulate(model, 1.0, start, times=[1.0], **way)
    round_ = Rotation.from_rotvec((0, 0, pace))
    assert found["cone"].position[-1] == pytest.approx(round_.apply(place), **near(way, 1e-3))
    assert found["cone"].angular_velocity[-1] == pytest.approx(round_.apply(w), **near(way, 2e-2))
