"""Machines and games that friction decides, in the plane and in space, by steps and to an accuracy."""

from math import atan, cos, radians, sin, sqrt

import numpy as np
import pytest
from flat_scenes import ACCURACY, EXACT, STEPS, G, Scene, near
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import linkwork as lw

BOTH = pytest.mark.parametrize("way", [STEPS, ACCURACY], ids=["steps", "accuracy"])
SPACES = pytest.mark.parametrize("space", ["plane", "space"])


@BOTH
@SPACES
def test_a_bar_on_two_wheels_that_turn_towards_each_other_swings(space, way):
    """Timoshenko's oscillator: friction on either side goes with the load there."""
    d, mu, r, thick, spin, span = 1.0, 0.3, 0.1, 0.1, 40.0, 2.0
    s = Scene(space)
    for name, x, w in (("left", -d / 2, -spin), ("right", d / 2, spin)):
        s.body(name, s.disc(r), (x, -r), 5.0)
        s.hinge(f"axle of {name}", "ground", name, (x, -r))
        s.drive(f"axle of {name}", lambda t, w=w: w * t, w)
    s.body("bar", s.box(4, thick), (0.2, thick / 2), 2.0)
    s.contact(friction=mu)
    pace = sqrt(2 * mu * G / d / (1 - mu * thick / d))
    assert s.run(span, way).place("bar")[0] == pytest.approx(0.2 * cos(pace * span), **near(way, 6e-4))
    if not way and space == "space":  # loads at the ends of its lines are even: it goes straight on
        assert abs(s.found["bar"].position[-1, 1]) < 1e-9


@BOTH
@SPACES
@pytest.mark.parametrize("way_round", [1.0, -1.0])
def test_a_shoe_on_an_arm_brakes_a_drum_more_one_way_than_the_other(space, way, way_round):
    R, mu, I, F, r, b, c = 0.3, 0.4, 0.2, 20.0, 0.02, 0.5, 0.1
    s = Scene(space, (0, 0))
    s.body("drum", s.disc(R), mass=5.0, k=I)
    s.hinge("axle", "ground", "drum", (0, 0))
    s.velocities["axle"] = 10.0 * way_round
    s.body("arm", s.ball(r, 0, R + r), mass=0.5, k=0.01)
    s.hinge("pivot", "ground", "arm", (-b, R + c))
    s.push("arm", (0, -F), (0, R))
    s.contact(friction=mu)
    N = F * b / (b - way_round * mu * c)
    s.run(0.2, way)
    assert s.spin("drum") == pytest.approx(way_round * (10 - 0.2 * mu * N * R / I), abs=1e-8)


@BOTH
@SPACES
def test_a_shoe_that_locks_itself_stops_its_drum_at_once(space, way, recwarn):
    R, r, b, c = 0.3, 0.02, 0.2, 0.2
    s = Scene(space, (0, 0))
    s.body("drum", s.disc(R), mass=5.0, k=0.2)
    s.hinge("axle", "ground", "drum", (0, 0))
    s.velocities["axle"] = 10.0
    s.body("arm", s.ball(r, 0, R + r), mass=0.5, k=0.01)
    s.hinge("pivot", "ground", "arm", (-b, R + c))
    s.push("arm", (0, -5.0), (0, R))
    s.contact(friction=1.2)
    assert s.run(0.2, way).spin("drum") == pytest.approx(0.0, abs=1e-9)
    if not way:
        assert any("arm and drum" in str(w.message) and "Painleve" in str(w.message) for w in recwarn)


@BOTH
@SPACES
def test_a_wheel_that_is_pressed_against_another_takes_its_spin(space, way):
    r, R, i, I, mu, F = 0.1, 0.2, 0.01, 0.05, 0.3, 10.0
    s = Scene(space, (0, 0))
    s.body("driver", s.disc(R), mass=3.0, k=I)
    s.hinge("shaft", "ground", "driver", (0, 0))
    s.velocities["shaft"] = 20.0
    s.body("driven", s.disc(r), (r + R, 0), k=i)
    s.body("yoke", None, (r + R, 0), 0.5, k=0.1)
    s.slide("rail", "ground", "yoke", (1, 0))
    s.hinge("axle", "yoke", "driven", (r + R, 0))
    s.push("yoke", (-F, 0))
    s.contact(friction=mu)
    grips = 20.0 * R / (mu * F * (R * R / I + r * r / i))
    s.run(grips + 0.3, way)
    assert s.spin("driver") == pytest.approx(20.0 - mu * F * R / I * grips, abs=1e-8)
    assert s.spin("driven") == pytest.approx(-mu * F * r / i * grips, abs=1e-8)
    if not way:
        assert s.times("stick") == pytest.approx([grips], abs=1e-8)


@BOTH
@SPACES
@pytest.mark.parametrize("more", [0.9, 1.1])
def test_a_roller_in_a_wedge_locks_below_twice_the_angle_of_friction(space, way, more):
    mu, r, thick = 0.2, 0.1, 0.1
    angle = 2 * atan(mu) * more
    middle = r + thick / 2
    s = Scene(space, (0, 0)).floor()
    s.body("plate", s.box(1.0, thick), (-middle * sin(angle), r + middle * cos(angle)), angle=angle)
    s.slide("rail", "ground", "plate", (1, 0))
    s.body("roller", s.disc(r), (0, r), 0.01)
    s.contact(friction=mu)
    s.push("plate", (1.0, 0.0))
    moves = s.run(0.1, way).velocity("plate")[0]
    assert abs(moves) < 1e-9 if more < 1.0 else moves > 1e-2


@BOTH
@SPACES
def test_a_car_with_locked_wheels_loads_those_in_front(space, way):
    mu, h, half, m = 0.7, 0.4, 0.6, 10.0
    s = Scene(space).floor()
    s.body("car", None, (0, h), m, k=3.0, moves=(5.0, 0, 0))
    s.m["car"].collisions = [s.ball(0.05, x, 0.05 - h) for x in (-half, half)]
    s.contact(friction=mu)
    s.run(0.5, way)
    assert s.velocity("car")[0] == pytest.approx(5 - 0.5 * mu * G, abs=1e-9)
    rear, front = s.found.contacts.at(0.5).force[:, 1 if space == "plane" else 2]
    assert front - rear == pytest.approx(mu * m * G * h / half, rel=1e-6)


@BOTH
@SPACES
@pytest.mark.parametrize("mu", [0.2, 0.7])
def test_a_brick_that_is_thrown_up_a_slope_comes_back_or_stays(space, way, mu):
    slope, v, span = radians(30), 3.0, 1.5
    s = Scene(space, (-G * sin(slope), -G * cos(slope))).floor()
    s.body("brick", s.box(0.2, 0.1), (0, 0.05), moves=(v, 0, 0))
    s.contact(friction=mu)
    up, down = G * (sin(slope) + mu * cos(slope)), max(G * (sin(slope) - mu * cos(slope)), 0.0)
    x = 0.5 * v * v / up - 0.5 * down * (span - v / up) ** 2
    assert s.run(span, way).place("brick")[0] == pytest.approx(x, **near(way, 1e-3))


@BOTH
@SPACES
def test_a_brick_on_a_table_that_shakes_sticks_and_slips(space, way):
    A, w, mu, span = 0.05, 12.0, 0.4, 1.5
    s = Scene(space)
    s.body("table", s.box(4, 0.1), (0, -0.05), 10.0)
    s.slide("rail", "ground", "table", (1, 0))
    s.drive("rail", lambda t: A * lw.sin(w * t), A * w)
    s.body("brick", s.box(0.2, 0.1), (0, 0.05), moves=(A * w, 0, 0))
    s.contact(friction=mu)

    def first(f, t):
        """Return the first zero of a function behind a time, or the end."""
        ts = np.linspace(t + 1e-6, span, 5001)
        signs = np.sign([f(x) for x in ts])
        later = np.flatnonzero(signs[1:] != signs[0])
        return brentq(f, ts[later[0]], ts[later[0] + 1]) if len(later) else span

    t, x, v = 0.0, 0.0, A * w
    while t < span:
        force = -A * w * w * sin(w * t)
        if abs(force) < mu * G:  # it sticks
            end = first(lambda s: abs(A * w * w * sin(w * s)) - mu * G, t)
            x, v = x + A * (sin(w * end) - sin(w * t)), A * w * cos(w * end)
            t, side = end, -np.sign(sin(w * end))
        else:
            side = np.sign(force)
        if t >= span:
            break
        end = first(lambda s: v + side * mu * G * (s - t) - A * w * cos(w * s), t)  # noqa: B023
        x, v, t = x + v * (end - t) + 0.5 * side * mu * G * (end - t) ** 2, v + side * mu * G * (end - t), end
    s.run(span, way)
    assert s.velocity("brick")[0] == pytest.approx(v, **near(way, 5e-3))
    assert s.place("brick")[0] == pytest.approx(x, **near(way, 2e-3))


@BOTH
@SPACES
def test_a_tall_box_that_is_pushed_high_up_tips(space, way):
    b, h, m, F, high, span = 0.4, 1.0, 2.0, 6.0, 0.9, 0.3
    s = Scene(space).floor()
    s.body("box", s.box(b, h), (0, h / 2), m)
    s.contact(friction=0.9)
    s.push("box", (F, 0.0), (0, high - h / 2))
    I = m * (b * b + h * h) / 3

    def tips(t, y):
        p = y[0]
        x, z = -b / 2 * cos(p) + h / 2 * sin(p), b / 2 * sin(p) + high * cos(p)
        return [y[1], (F * z + m * G * x) / I]

    spin = solve_ivp(tips, (0, span), [0, 0], **EXACT).y[1, -1]
    assert s.run(span, way).spin("box") == pytest.approx(-spin, **near(way, 1e-3))


@BOTH
@SPACES
def test_a_rod_that_stands_on_a_rough_floor_falls_and_slips_at_last(space, way):
    length, r, mu, start, span = 1.0, 1e-3, 1.2, 0.1, 0.9
    I, l = length**2 / 12, length / 2
    s = Scene(space).floor()
    s.body("rod", s.ball(r, 0, -l), (l * sin(start), r + l * cos(start)), k=I, angle=-start)
    s.contact(friction=mu)

    def sticks(y):
        """Return angular acceleration, normal force and friction."""
        p, w = y
        A = [[I, -l * sin(p), l * cos(p) + r], [r + l * cos(p), 0, -1], [-l * sin(p), -1, 0]]
        return np.linalg.solve(A, (0, l * sin(p) * w * w, -G + l * cos(p) * w * w))

    def slips(t, y):
        _, N, F = sticks(y[:2])
        return abs(F) - mu * N

    slips.terminal, slips.direction = True, 1.0
    first = solve_ivp(
        lambda t, y: [y[1], sticks(y[:2])[0], r * y[1]], (0, span), [start, 0, 0], events=slips, **EXACT
    )
    side = np.sign(sticks(first.y[:2, -1])[2])

    def slides(t, y):
        p, w, _, u = y
        A = [
            [I, -l * sin(p) + side * mu * (l * cos(p) + r), 0],
            [l * cos(p), -side * mu, 1],
            [-l * sin(p), -1, 0],
        ]
        q = np.linalg.solve(A, (0, l * sin(p) * w * w, -G + l * cos(p) * w * w))
        return [w, q[0], u, q[2]]

    p, w, x = first.y[:, -1]
    p, w, x, u = solve_ivp(slides, (first.t[-1], span), [p, w, x, r * w], **EXACT).y[:, -1]
    s.run(span, way)
    assert s.velocity("rod") == pytest.approx([u + l * cos(p) * w, -l * sin(p) * w], **near(way, 1e-2))
    assert s.spin("rod") == pytest.approx(-w, **near(way, 1e-2))


@BOTH
@SPACES
@pytest.mark.parametrize("draw", [False, True])
def test_a_cue_ball_follows_or_comes_back(space, way, draw):
    r, mu, v, m, far, span = 0.03, 0.2, 1.5, 0.2, 0.2, 2.0
    spin, k = -60.0 if draw else v / r, 0.4 * m * r * r
    shape = Scene.disc if space == "plane" else Scene.ball
    s = Scene(space).floor()
    s.body("cue", shape(s, r), (0, r), m, k=k, moves=(v, 0, -spin))
    s.body("object", shape(s, r), (far, r), m, k=k)
    s.contact(friction=mu)
    s.pair("cue", "object", friction=0.0, restitution=1.0)
    rubs = mu * G if draw else 0.0
    hits = 2 * (far - 2 * r) / (v + sqrt(v * v - 2 * rubs * (far - 2 * r)))
    v, spin = v - rubs * hits, spin + 2.5 * rubs * hits / r
    s.run(span, way)
    assert s.velocity("cue")[0] == pytest.approx(2 / 7 * spin * r, abs=1e-6)
    assert s.velocity("object")[0] == pytest.approx(5 / 7 * v, abs=1e-6)


@BOTH
@SPACES
def test_a_crank_rubs_a_block_over_the_floor(space, way):
    short, long, m, mu, pace, high, span = 0.1, 0.3, 2.0, 0.3, 5.0, 0.1, 0.3
    s = Scene(space).floor()
    s.body("crank", None, (0, high), 1e-6, k=1e-9)
    s.body("rod", None, (short, high), 1e-6, k=1e-9)
    s.body("block", s.box(0.4, 0.2), (short + long, high), m)
    for name, a, b, x in (
        ("A", "ground", "crank", 0),
        ("B", "crank", "rod", short),
        ("C", "rod", "block", short + long),
    ):
        s.hinge(name, a, b, (x, high))
    s.drive("A", lambda t: pace * t, pace)
    s.velocities |= {"B": -pace * (1 + short / long), "C": pace * short / long}
    s.contact(friction=mu)
    s.run(span, way)
    a = pace * span
    root = sqrt(long**2 - (short * sin(a)) ** 2)
    assert s.place("block")[0] == pytest.approx(short * cos(a) + root, **near(way, 1e-5))


@BOTH
@SPACES
def test_a_trapdoor_falls_away_from_under_a_ball(space, way):
    s = Scene(space)
    s.body("board", s.box(1.0, 0.02), (0.5, 0), k=1 / 12)
    s.hinge("pin", "ground", "board", (0, 0))
    s.body("ball", s.ball(0.05), (0.9, 0.06), 0.1)
    s.contact(friction=0.5)
    s.run(0.2, way)
    spin = solve_ivp(lambda t, y: [y[1], -1.5 * G * cos(y[0])], (0, 0.2), [0, 0], **EXACT).y[1, -1]
    assert s.place("ball")[1] == pytest.approx(0.06 - 0.02 * G, abs=1e-12)
    assert s.spin("board") == pytest.approx(spin, **near(way, 1e-3))


@BOTH
@SPACES
@pytest.mark.parametrize("more", [0.98, 1.03])
def test_a_motorcycle_rears_up_when_it_is_driven_hard(space, way, more):
    r, h, b, m, span = 0.2, 0.5, 0.4, 10.0, 0.2
    wheel, k = 1e-3, 1e-6
    s = Scene(space).floor()
    s.body("frame", s.ball(r, 0.6, r - h), (0, h), m, k=2.0)
    s.body("rear", s.disc(r), (-b, r), wheel, k=k)
    s.hinge("axle", "frame", "rear", (-b, r))
    s.contact(friction=2.0)
    s.pair("ground", "frame", friction=0.0)
    F = m * G * b / h * more
    s.motor("axle", -F * r)
    s.run(span, way)
    if more < 1.0:
        assert s.velocity("frame")[0] == pytest.approx(F / (m + wheel + k / r**2) * span, rel=1e-6)
    else:
        assert s.angle("frame") > 1e-4
