"""Impacts whose outcome is known, in the plane and in space, by steps and to an accuracy."""

from math import asin, atan, cos, hypot, radians, sin, sqrt

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
def test_a_light_ball_on_a_heavy_one_flies_up(space, way):
    M, m, gap = 3.0, 1.0, 1e-4
    s = Scene(space).floor()
    s.body("low", s.ball(0.1), (0, 1.1), M)
    s.body("high", s.ball(0.05), (0, 1.25 + gap), m)
    s.contact(friction=0.0, restitution=1.0)
    u = sqrt(2 * G)
    later = gap / (2 * u)
    low, high = u - G * later, -u - G * later
    high = ((m - M) * high + 2 * M * low) / (M + m)
    s.run(sqrt(2 / G) + later + 0.2, way)
    assert s.velocity("high")[1] == pytest.approx(high - 0.2 * G, abs=1e-9)


@BOTH
@SPACES
def test_three_balls_of_other_masses_hit_each_other_in_turn(space, way):
    masses, e, x, v = [4.0, 2.0, 1.0], 0.7, [-0.5, 0.25, 0.5], [1.0, 0.0, 0.0]
    s = Scene(space, (0, 0))
    for k in range(3):
        s.body(f"ball {k}", s.ball(0.1), (x[k], 0), masses[k], moves=(v[k], 0, 0))
    s.contact(friction=0.0, restitution=e)
    s.run(1.6, way)
    t = 0.0
    while True:
        coming = [((x[k + 1] - x[k] - 0.2) / (v[k] - v[k + 1]), k) for k in (0, 1) if v[k] > v[k + 1] + 1e-9]
        wait, k = min(coming, default=(9.0, 0))
        x = [a + b * min(wait, 1.6 - t) for a, b in zip(x, v)]
        if t + wait > 1.6:
            break
        t += wait
        a, b = masses[k : k + 2]
        P = (1 + e) * (v[k] - v[k + 1]) * a * b / (a + b)
        v[k], v[k + 1] = v[k] - P / a, v[k + 1] + P / b
    assert [s.velocity(f"ball {k}")[0] for k in range(3)] == pytest.approx(v, abs=1e-9)
    assert [s.place(f"ball {k}")[0] for k in range(3)] == pytest.approx(x, abs=1e-9)


@BOTH
@SPACES
def test_a_ball_in_a_room_is_where_mirrors_have_it(space, way):
    wide, high, r, span = 1.0, 0.7, 0.05, 10.0
    place, v = np.array([0.3, 0.2]), np.array([1.7, 1.1])
    s = Scene(space, (0, 0))
    for n, offset in (((1, 0), 0.0), ((-1, 0), -wide), ((0, 1), 0.0), ((0, -1), -high)):
        s.m.ground.add(lw.Plane(normal=s.at(*n), offset=offset))
    s.body("ball", s.ball(r), place, moves=(*v, 0))
    s.contact(friction=0.0, restitution=1.0)
    room = np.array([wide, high]) - 2 * r
    far = (place + v * span - r) % (2 * room)
    assert s.run(span, way).place("ball") == pytest.approx(r + np.minimum(far, 2 * room - far), abs=1e-9)


@BOTH
@SPACES
def test_a_ball_bounces_down_a_slope(space, way):
    slope, e, r = radians(25), 0.8, 0.05
    g = G * cos(slope)
    s = Scene(space, (G * sin(slope), -g)).floor()
    s.body("ball", s.ball(r), (0, r + 0.5))
    s.contact(friction=0.0, restitution=e)
    first = sqrt(1 / g)
    hits = first + np.array([0, 2 * e, 2 * e + 2 * e * e]) * first
    span = hits[2] + 0.05
    s.run(span, way)
    high = r + e**3 * g * first * 0.05 - 0.5 * g * 0.05**2
    assert s.place("ball") == pytest.approx([0.5 * G * sin(slope) * span**2, high], abs=1e-9)
    assert s.times("hits") == pytest.approx(hits, abs=1e-9)


@BOTH
@SPACES
def test_a_piston_that_comes_nearer_makes_a_ball_faster_by_twice_its_speed(space, way):
    u, r, span = 0.1, 0.05, 5.0
    s = Scene(space, (0, 0))
    s.m.ground.add(lw.Plane(normal=s.at(1, 0)))
    s.body("piston", s.box(0.2, 0.5), (1.1, 0), 5.0)
    s.slide("rail", "ground", "piston", (1, 0))
    s.drive("rail", lambda t: -u * t, -u)
    s.body("ball", s.ball(r), (0.5, 0), moves=(1.0, 0, 0))
    s.contact(friction=0.0, restitution=1.0)
    s.run(span, way)
    t, x, v = 0.0, 0.5, 1.0
    while (wait := (1 - u * t - r - x) / (v + u) if v > 0 else (r - x) / v) < span - t:
        t, x, v = t + wait, x + v * wait, -v - 2 * u if v > 0 else -v
    assert s.velocity("ball")[0] == pytest.approx(v, abs=1e-9)
    assert s.place("ball")[0] == pytest.approx(x + v * (span - t), abs=1e-9)


@BOTH
@SPACES
def test_a_bat_on_a_hinge_hits_a_ball(space, way):
    length, M, m, e, w, r, far = 1.0, 2.0, 1.5, 0.6, 3.0, 0.05, 0.36
    s = Scene(space, (0, 0))
    s.body("bat", s.box(0.02, length), (0, -length / 2), M, k=M * length**2 / 12)
    s.hinge("pin", "ground", "bat", (0, 0))
    s.velocities["pin"] = w
    s.body("ball", s.ball(r), (far, -0.9), m)
    s.contact(friction=0.0, restitution=e)
    angle = brentq(lambda a: cos(a) * far - sin(a) * 0.9 - 0.01 - r, 0, 1)
    lever, I = sin(angle) * far + cos(angle) * 0.9, M * length**2 / 3
    P = (1 + e) * w * lever / (lever**2 / I + 1 / m)
    s.run(angle / w + 0.1, way)
    assert s.velocity("ball") == pytest.approx([P / m * cos(angle), P / m * sin(angle)], **near(way, 1e-4))
    assert s.spin("bat") == pytest.approx(w - P * lever / I, **near(way, 1e-4))


@BOTH
@SPACES
def test_a_rod_that_drops_on_its_end_grips_the_floor_and_bounces(space, way):
    length, lean, high, e, r = 1.0, 0.6, 0.5, 0.7, 1e-3
    I = length**2 / 12
    x, z = -length / 2 * sin(lean), -length / 2 * cos(lean) - r
    s = Scene(space).floor()
    s.body("rod", s.ball(r, 0, -length / 2), (0, high - z), k=I, angle=-lean)
    s.contact(friction=5.0, restitution=e)
    u = sqrt(2 * G * high)
    P = np.linalg.solve([[1 + z * z / I, -x * z / I], [-x * z / I, 1 + x * x / I]], (0, (1 + e) * u))
    s.run(sqrt(2 * high / G) + 0.03, way)
    assert s.velocity("rod") == pytest.approx([P[0], P[1] - u - 0.03 * G], abs=1e-8)
    assert s.spin("rod") == pytest.approx((x * P[1] - z * P[0]) / I, abs=1e-8)


@BOTH
@SPACES
def test_a_pendulum_knocks_a_block_that_slides_until_friction_has_its_energy(space, way):
    length, m, M, mu, e, r, start = 1.0, 1.0, 2.0, 0.3, 0.5, 0.05, 1.0
    pin = -r, 0.1 + length
    s = Scene(space)
    s.m.ground.add(s.box(10, 0.2, 5.0, -0.1))
    bob = pin[0] - length * sin(start), pin[1] - length * cos(start)
    s.body("bob", s.ball(r), bob, m, k=1e-9)
    s.hinge("pin", "ground", "bob", pin)
    s.body("block", s.box(0.2, 0.2), (0.1, 0.1), M)
    s.contact(friction=mu)
    s.pair("bob", "block", friction=0.0, restitution=e)
    V = (1 + e) * m * sqrt(2 * G * length * (1 - cos(start))) / (m + M)
    s.run(1.5, way)
    assert s.place("block")[0] - 0.1 == pytest.approx(V * V / (2 * mu * G), **near(way, 1e-3))


@BOTH
@SPACES
def test_a_domino_hands_its_fall_on(space, way):
    b, h, m, gap, start, after = 0.02, 0.1, 0.1, 0.05, 0.25, 0.02
    I, lean, reach = m * (b * b + h * h) / 3, atan(b / h), hypot(b, h) / 2

    def middle(p):
        return reach * sin(p - lean), reach * cos(p - lean)

    def falls(t, y):
        return [y[1], m * G * reach * sin(y[0] - lean) / I]

    def hits(t, y):
        return h * sin(y[0]) - gap

    hits.terminal = True
    s = Scene(space).floor()
    s.body("first", s.box(b, h), middle(start), m, angle=-start)
    s.body("second", s.box(b, h), (gap + b / 2, h / 2), m)
    s.contact(friction=5.0)
    s.pair("first", "second", friction=0.0)
    alone = solve_ivp(falls, (0, 2), [start, 0], events=hits, **EXACT)
    lever, w = h * cos(asin(gap / h)), alone.y[1, -1]
    before = s.run(alone.t[-1] - 1e-3, way).spin("first")
    assert before == pytest.approx(-alone.y[1, -1], **near(way, 0.2, 0.2))
    s.run(alone.t[-1] + 1e-9, ACCURACY)
    assert s.spin("second") == pytest.approx(-0.5 * w, abs=1e-5)
    assert s.spin("first") == pytest.approx(-0.5 * w, abs=1e-5)
    assert lever > 0.0
    exact = s.run(alone.t[-1] + after, ACCURACY).spin("second")
    assert s.run(alone.t[-1] + after, way).spin("second") == pytest.approx(exact, **near(way, 0.1))


@BOTH
@SPACES
def test_a_bar_bounces_from_its_stop(space, way):
    length, e, span = 1.0, 0.6, 0.9
    s = Scene(space)
    s.body("bar", s.box(0.02, length), (length / 2, 0), k=length**2 / 12)
    s.hinge("pin", "ground", "bar", (0, 0), limits=(-1.0, 1.0), stop=lw.RigidStop(restitution=e))

    def falls(t, y):
        return [y[1], -1.5 * G / length * cos(y[0])]

    hits = solve_ivp(falls, (0, 3), [0, 0], events=lambda t, y: y[0] + 1.0, **EXACT).t_events[0][0]
    back = solve_ivp(falls, (hits, span), [-1.0, e * sqrt(3 * G / length * sin(1.0))], **EXACT).y
    assert s.run(span, way).spin("bar") == pytest.approx(back[1, -1], **near(way, 3e-3))
