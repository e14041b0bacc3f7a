"""Counted impacts, thresholds of friction, arches: answers of books and papers, both ways through time."""

from math import acosh, atan, atan2, cos, exp, pi, radians, sin, sqrt, tan

import numpy as np
import pytest
from flat_scenes import ACCURACY, EXACT, STEPS, G, Scene, near
from scipy.integrate import solve_ivp

import linkwork as lw

BOTH = pytest.mark.parametrize("way", [STEPS, ACCURACY], ids=["steps", "accuracy"])
SPACES = pytest.mark.parametrize("space", ["plane", "space"])
AROUND = pytest.mark.parametrize("more", [0.99, 1.01])


@BOTH
@pytest.mark.parametrize(("ratio", "count"), [(1.0, 3), (100.0, 31)])
def test_two_balls_and_a_wall_count_the_digits_of_pi(way, ratio, count):
    """G. Galperin, Playing pool with pi (2003): masses 1 : 100^n hit 3, 31, 314 ... times."""
    s = Scene("space", (0, 0))
    s.m.ground.add(lw.Plane(normal=(1, 0, 0)))
    s.body("light", s.ball(0.1), (1.0, 0.0), 1.0)
    s.body("heavy", s.ball(0.1), (2.0, 0.0), ratio, moves=(-1.0, 0, 0))
    s.contact(friction=0.0, restitution=1.0)
    s.run(12.0, way)
    assert len(s.times("hits")) == count
    v, w = s.velocity("light")[0], s.velocity("heavy")[0]
    assert 0.5 * v * v + 0.5 * ratio * w * w == pytest.approx(0.5 * ratio, rel=1e-9)
    assert 0.0 <= v <= w


@BOTH
@SPACES
def test_a_roller_that_spins_in_a_corner_is_braked_by_floor_and_wall(space, way):
    """N1 + mu N2 = m g, N2 = mu N1: it stays in the corner, and 1/2 m R^2 w' = -mu (N1 + N2) R."""
    mu, R, w0 = 0.3, 0.2, 40.0
    s = Scene(space).floor()
    s.m.ground.add(lw.Plane(normal=s.at(1, 0)))
    s.body("roller", s.disc(R), (R, R), 2.0, moves=(0, 0, w0))
    s.contact(friction=mu)
    s.run(0.5, way)
    a = 2.0 * mu * (1 + mu) / (1 + mu * mu) * G / R
    assert s.spin("roller") == pytest.approx(w0 - 0.5 * a, **near(way, 1e-6, 1e-7))
    assert s.place("roller") == pytest.approx([R, R], abs=1e-6)


@BOTH
@SPACES
def test_a_log_on_a_lorry_that_starts_falls_behind_by_two_thirds(space, way):
    """What rolls on a plate with acceleration a goes with a I / (I + m R^2), a third of it."""
    R, a = 0.2, 1.5
    s = Scene(space)
    s.body("lorry", s.box(8, 0.2), (0, -0.1), 10.0)
    s.slide("bed", "ground", "lorry", (1, 0))
    s.drive("bed", lambda t: 0.5 * a * t * t, 0.0)
    s.body("log", s.disc(R), (0, R), 1.0)
    s.contact(friction=0.3)
    s.run(1.0, way)
    assert s.velocity("log")[0] == pytest.approx(a / 3, **near(way, 1e-6, 1e-7))
    assert s.place("log")[0] == pytest.approx(a / 6, **near(way, 1e-4, 1e-7))


@BOTH
@SPACES
@AROUND
def test_a_brick_stays_on_a_wedge_that_is_pushed_up_to_an_acceleration(space, way, more):
    """It slides up beyond a = g tan(alpha + phi)."""
    slope, mu = radians(20), 0.4
    a = more * G * tan(slope + atan(mu))
    s = Scene(space)
    n = np.array([-sin(slope), cos(slope)])
    s.m.add(lw.Body("wedge", s.box(6, 0.2), mass=5.0, position=s.at(*(-0.1 * n)), rotation=s.turned(slope)))
    s.slide("rail", "ground", "wedge", (1, 0))
    s.drive("rail", lambda t: -0.5 * a * t * t, 0.0)
    s.body("brick", s.box(0.2, 0.1), 0.05 * n, angle=slope)
    s.contact(friction=mu)
    s.run(0.5, way)
    along = np.array([cos(slope), sin(slope)])
    slid = float((s.place("brick") - s.place("wedge") - 0.15 * n) @ along)
    up = a * cos(slope) - G * sin(slope) - mu * (G * cos(slope) + a * sin(slope))
    assert slid == pytest.approx(0.125 * max(up, 0.0), **near(way, 1e-4, 1e-7))


@BOTH
@pytest.mark.parametrize("space", ["plane"])  # in space the load may be shared unevenly: it is left open
@AROUND
def test_a_box_between_jaws_slips_where_twice_the_friction_is_less_than_its_weight(space, way, more):
    mu, m, force = 0.5, 2.0, 0.5 * 2.0 * G / 0.5 * more
    s = Scene(space)
    s.body("box", s.box(0.2, 0.2), (0, 0), m)
    for name, side in (("left", -1), ("right", 1)):
        s.body(name, s.box(0.1, 0.4), (0.15 * side, 0), 1.0)
        s.slide(f"{name} slide", "ground", name, (1, 0))
        s.push(name, (-side * force, 0.0))
    s.contact(friction=mu)
    s.run(0.5, way)
    a = max(G - 2 * mu * force / m, 0.0)
    assert s.place("box")[1] == pytest.approx(-0.125 * a, **near(way, 1e-6, 1e-8))
    assert s.place("box")[0] == pytest.approx(0.0, abs=1e-6)


@BOTH
@SPACES
@AROUND
def test_a_block_that_is_pressed_at_a_wall_holds_if_the_push_is_steep_enough(space, way, more):
    """A push F up at an angle b holds with F (sin b + mu cos b) >= m g; it slips down with less."""
    mu, b, m = 0.4, radians(30), 3.0
    force = more * m * G / (sin(b) + mu * cos(b))
    s = Scene(space)
    s.m.ground.add(lw.Plane(normal=s.at(-1, 0)))
    s.body("block", s.box(0.2, 0.2), (-0.1, 0.0), m)
    s.push("block", (force * cos(b), force * sin(b)))
    s.contact(friction=mu)
    s.run(0.5, way)
    a = max(G - force * (sin(b) + mu * cos(b)) / m, 0.0)
    assert s.place("block")[1] == pytest.approx(-0.125 * a, **near(way, 1e-3, 1e-6))


@BOTH
@SPACES
def test_a_block_rocks_to_its_first_impact_in_the_time_of_its_own_equation(space, way):
    """Housner (1963): theta'' = -p^2 sin(alpha - theta), p^2 = 3 g / 4 R; for slender ones p t is acosh."""
    wide, high, lean = 0.2, 1.0, 0.08
    R, alpha = 0.5 * sqrt(wide**2 + high**2), atan(wide / high)
    p = sqrt(0.75 * G / R)

    def upright(t, y):
        return y[0]

    upright.terminal = True
    fall = solve_ivp(
        lambda t, y: [y[1], -p * p * sin(alpha - y[0])], (0, 3), [lean, 0], events=upright, **EXACT
    )
    time, spin = fall.t_events[0][0], fall.y_events[0][0][1]
    assert p * time == pytest.approx(acosh(1 / (1 - lean / alpha)), rel=2e-2)
    s = Scene(space).floor()
    corner = np.array(
        [0.5 * wide * cos(lean) - 0.5 * high * sin(lean), 0.5 * (wide * sin(lean) + high * cos(lean))]
    )
    s.body("block", s.box(wide, high), corner, angle=lean)
    s.contact(friction=1.0)
    s.run(time + 0.2, way)
    hits = s.times("hits") or s.times("sticks") or s.times("stick")
    assert hits[0] == pytest.approx(time, **near(way, 1e-3, 1e-7))
    kept = 1 - 1.5 * sin(alpha) ** 2
    after = solve_ivp(lambda t, y: [y[1], -p * p * sin(alpha - y[0])], (0, 0.2), [0, -kept * spin], **EXACT)
    assert -s.angle("block") == pytest.approx(after.y[0, -1], **near(way, 2e-3, 1e-6))


@pytest.mark.parametrize("damping", [0.05, 0.3, 0.7])
def test_a_spring_and_a_damper_that_never_pull_bounce_as_published(damping):
    """T. Schwager and T. Poeschel, Granular Matter 9 (2007): contact ends where the force does."""
    k, m, speed = 1e5, 2.0, 1.5
    s = Scene("space", (0, 0)).floor()
    s.body("ball", s.ball(0.1), (0, 0.1 + 1e-3), m, moves=(0, -speed, 0))
    s.contact(friction=0.0, stiffness=k, damping=2.0 * damping * sqrt(k * m))
    s.run(0.2, ACCURACY)
    root = sqrt(1 - damping**2)
    angle = 2.0 * atan2(root, damping)  # w t where -(k d + c d') = m d'' is zero
    assert s.velocity("ball")[1] == pytest.approx(exp(-damping / root * angle) * speed, rel=1e-6)


@BOTH
@SPACES
def test_a_ball_that_drops_on_a_see_saw_throws_the_other_one_up(space, way):
    """Angular momentum about the pivot, e = 0: w (I + 2 m l^2) = m l v; then the other end's ball flies."""
    m, M, length, drop = 1.0, 2.0, 1.0, 0.5
    s = Scene(space)
    s.body("plank", s.box(2 * length + 0.2, 0.1), (0, 0), M)
    s.hinge("pivot", "ground", "plank", (0, 0))
    stop = s.box(0.1, 0.1, -length, -0.1)
    s.m.ground.add(stop)
    s.body("rider", s.ball(0.1), (-length, 0.15), m)
    s.body("stone", s.ball(0.1), (length, 0.15 + drop), m)
    s.contact(friction=0.0)
    s.pair("ground", "plank", friction=0.0)
    time = sqrt(2 * drop / G)
    s.run(time + 0.02, way)
    inertia = M * ((2 * length + 0.2) ** 2 + 0.1**2) / 12
    w = m * length * sqrt(2 * G * drop) / (inertia + 2 * m * length**2)
    assert s.velocity("rider")[1] == pytest.approx(w * length, abs=0.01)


@pytest.mark.parametrize(("thickness", "stands"), [(0.12, True), (0.09, False)])
def test_a_semicircular_arch_stands_if_it_is_thick_enough(thickness, stands):
    """J. Heyman (1969): t / R >= 0.1075 of the centre line, for stones that do not slide."""
    stones, R = 15, 1.0
    s = Scene("plane")
    s.floor()
    inner, outer = R * (1 - thickness / 2), R * (1 + thickness / 2)
    for i in range(stones):
        a, b = pi * i / stones, pi * (i + 1) / stones
        corners = [(r * cos(x), r * sin(x)) for r, x in ((inner, a), (outer, a), (outer, b), (inner, b))]
        middle = np.mean(corners, axis=0)
        shape = lw.Polygon([tuple(np.array(corner) - middle) for corner in corners])
        s.m.add(lw.Body(f"stone {i}", shape, density=2000.0, position=tuple(middle)))
    s.contact(friction=2.0)
    s.run(2.0, STEPS)
    key = s.place(f"stone {stones // 2}")[1]
    assert (key > 0.9 * R) == stands
