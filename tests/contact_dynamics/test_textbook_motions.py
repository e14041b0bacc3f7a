"""Scenes of textbooks with contact and their closed forms, to an accuracy and by steps."""

from math import asin, atan, ceil, cos, hypot, pi, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw

G = 9.81
STEPS, ACCURACY = {"step": 1 / 60}, {}
BOTH = pytest.mark.parametrize("way", [STEPS, ACCURACY], ids=["steps", "accuracy"])


def on_floor(*bodies, gravity=(0.0, 0.0, -G), **material):
    m = lw.Mechanism("scene", gravity=gravity)
    for body in bodies:
        m.add(body)
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact", material=lw.Material(**material)))
    return m


def brick(mass=1.0, x=0.0):
    return lw.Body("brick", lw.Box(0.2, 0.2, 0.1), mass=mass, position=(x, 0, 0.05))


def ball(z=0.1):
    return lw.Body("ball", lw.Sphere(0.1), mass=1.0, position=(0, 0, z))


def run(m, span, way, velocities=None, **options):
    model = m.compile()
    return lw.simulate(model, span, model.state(velocities=velocities or {}), **way, **options)


def times_of(found, word):
    return [t for t, what in found.report.events if word in what]


def test_a_brick_that_is_pushed_ever_harder_begins_to_slide_when_static_friction_ends():
    m = on_floor(brick(2.0), friction=0.4, static_friction=0.5)
    m.add(lw.Force("push", m["brick"], lambda body, t: (10.0 * t, 0, 0)))
    found, slips, end = run(m, 1.2, ACCURACY), 0.5 * 2.0 * G / 10.0, 1.2
    assert times_of(found, "slide") == pytest.approx([slips], abs=1e-5)
    (slips,) = times_of(found, "slide")
    speed = (5.0 * (end**2 - slips**2) - 0.4 * 2.0 * G * (end - slips)) / 2.0
    assert found["brick"].velocity[-1, 0] == pytest.approx(speed, rel=1e-7)


@BOTH
def test_a_spring_and_dry_friction_swing_a_brick_until_it_sticks(way):
    m = on_floor(brick(x=1.0), friction=0.3)
    m.add(lw.Force("spring", m["brick"], lambda body, t: (-50.0 * body.position[0], 0, 0)))
    found, shift = run(m, 4.0, way), 0.3 * G / 50.0
    swings = ceil((1.0 - shift) / (2.0 * shift))  # each takes two shifts, until it is within one
    place = (1.0 - 2.0 * shift * swings) * (-1.0) ** swings
    assert found["brick"].position[-1, 0] == pytest.approx(place, abs=1e-3 if way else 1e-9)
    if not way:
        assert times_of(found, "stick")[-1] == pytest.approx(swings * pi / sqrt(50.0), abs=1e-6)


def test_a_brick_on_a_belt_sticks_and_slips_in_turn():
    u, w, static, sliding = 0.5, sqrt(50.0), 0.6 * G / 50.0, 0.3 * G / 50.0
    m = lw.Mechanism("belt")
    belt = m.add(lw.Body("belt", lw.Box(20, 1, 0.1), mass=50, position=(0, 0, -0.05)))
    m.add(lw.Prismatic("rail", m.ground, belt, axis=(1, 0, 0)))
    m.add(lw.Driver("drive", "rail", lambda t: u * t))
    m.add(brick())
    m.add(lw.Force("spring", m["brick"], lambda body, t: (-50.0 * body.position[0], 0, 0)))
    m.add(lw.Contact("contact", material=lw.Material(friction=0.3, static_friction=0.6)))
    found = run(m, 1.17, ACCURACY, {"rail": u, "brick free": (0, 0, 0, u, 0, 0)})
    A = static - sliding
    slip = 2.0 * (pi - atan(A * w / u)) / w  # until its speed is that of the belt again
    x = sliding + A * cos(w * slip) + u / w * sin(w * slip)
    first, sticks = static / u, static / u + slip
    assert times_of(found, "stick") == pytest.approx([sticks], abs=1e-5)
    assert times_of(found, "slide") == pytest.approx([first, sticks + (static - x) / u], abs=1e-5)


@BOTH
def test_the_lower_of_two_bricks_is_pulled_out_from_under_the_other(way):
    plank = lw.Body("plank", lw.Box(4, 0.4, 0.1), mass=3.0, position=(0, 0, 0.05))
    upper = lw.Body("upper", lw.Box(0.2, 0.2, 0.1), mass=1.0, position=(0, 0, 0.15))
    m = on_floor(plank, upper, friction=0.2)
    m.add(lw.Force("pull", m["plank"], (30.0, 0, 0)))
    found = run(m, 0.5, way, times=[0.5])
    assert found["upper"].position[-1, 0] == pytest.approx(0.125 * 0.2 * G, rel=1e-6)
    assert found["plank"].position[-1, 0] == pytest.approx(0.125 * (30.0 - G) / 3.0, rel=1e-6)


@BOTH
def test_resistance_to_rolling_and_to_spinning_brakes_a_ball(way):
    rolls = run(
        on_floor(ball(), friction=0.5, rolling=0.002), 1.0, way, {"ball free": (0, 10.0, 0, 1.0, 0, 0)}
    )
    assert rolls["ball"].velocity[-1, 0] == pytest.approx(1.0 - 0.002 / 0.1 * G / 1.4, rel=1e-8)
    spins = on_floor(ball(), friction=0.3, torsional=0.02)
    found = run(spins, 0.5, way, {"ball free": (0, 0, 20.0, 0, 0, 0)}, times=[0.0, 0.3, 0.5])
    assert found["ball"].angular_velocity[:, 2] == pytest.approx([20.0, 20.0 - 0.3 * 5.0 * G, 0.0], abs=1e-7)


@BOTH
def test_a_ball_with_back_spin_comes_back(way):
    found = run(on_floor(ball(), friction=0.2), 3.0, way, {"ball free": (0, -40.0, 0, 1.0, 0, 0)})
    speed, time = (5.0 - 8.0) / 7.0, 2.0 * 5.0 / (7.0 * 0.2 * G)
    assert found["ball"].velocity[-1, 0] == pytest.approx(speed, rel=1e-9)
    slip = found["ball"].velocity[:, 0] - 0.1 * found["ball"].angular_velocity[:, 1]
    last = int(np.flatnonzero(slip > 1e-3)[-1])
    grips = times_of(found, "stick")[0] if not way else found.time[last] + slip[last] / (3.5 * 0.2 * G)
    assert grips == pytest.approx(time, abs=1e-3 if way else 1e-8)


@BOTH
def test_a_ball_that_grips_leaves_with_five_sevenths_of_its_speed(way):
    m = on_floor(ball(0.5), gravity=(0, 0, 0), friction=5.0, restitution=1.0)
    found = run(m, 1.0, way, {"ball free": (0, 0, 0, 1.0, 0, -2.0)}, times=[1.0])
    assert found["ball"].velocity[-1] == pytest.approx([5 / 7, 0, 2.0], abs=1e-8)
    assert found["ball"].angular_velocity[-1] == pytest.approx([0, 50 / 7, 0], abs=1e-8)


@BOTH
def test_what_slides_down_a_dome_leaves_it_at_two_thirds_of_its_height(way):
    reach, start = 1.1, 0.3
    m = lw.Mechanism("dome")
    m.ground.add(lw.Sphere(1.0))
    m.add(lw.Body("ball", lw.Sphere(0.1), mass=1, position=(reach * sin(start), 0, reach * cos(start))))
    m.add(lw.Contact("contact", material=lw.Material(friction=0.0)))
    leaves = solve_ivp(
        lambda t, y: [y[1], G / reach * sin(y[0])],
        (0.0, 2.0),
        [start, 0.0],
        events=lambda t, y: cos(y[0]) - 2.0 / 3.0 * cos(start),
        rtol=1e-12,
        atol=1e-12,
    )
    time, (angle, spin) = leaves.t_events[0][0], leaves.y_events[0][0]
    found = run(m, time + 0.1, way, times=[time + 0.1])
    x = reach * (sin(angle) + 0.1 * spin * cos(angle))
    z = reach * (cos(angle) - 0.1 * spin * sin(angle)) - 0.005 * G
    assert found["ball"].position[-1, [0, 2]] == pytest.approx([x, z], abs=2e-3 if way else 1e-9)
    if not way:
        assert times_of(found, "part")[0] == pytest.approx(time, abs=1e-7)


def test_a_rod_falls_on_a_smooth_floor_as_its_energy_says():
    length, radius, lean = 1.0, 0.01, 0.3
    turned = [[cos(lean), 0, sin(lean)], [0, 1, 0], [-sin(lean), 0, cos(lean)]]
    place = (0, 0, 0.5 * length * cos(lean) + radius)
    m = on_floor(
        lw.Body("rod", lw.Capsule(radius, length), mass=1, position=place, rotation=turned), friction=0.0
    )
    found, h = run(m, 0.6, ACCURACY), 0.5 * length
    inertia = float(found.model.inertias[0][1, 1])

    def rates(t, y):
        return y[1], h * sin(y[0]) * (G - h * cos(y[0]) * y[1] ** 2) / (inertia + (h * sin(y[0])) ** 2)

    lies = solve_ivp(
        rates, (0.0, 1.0), [lean, 0.0], events=lambda t, y: y[0] - pi / 2, rtol=1e-12, atol=1e-12
    )
    assert times_of(found, "hits")[0] == pytest.approx(lies.t_events[0][0], abs=1e-8)


def rocking():
    """A block that is let go on one edge; it keeps (1 - 3/2 sin^2 a)^2 of its energy (Housner 1963)."""
    b, h = 0.1, 0.3
    reach, a = hypot(b, h), atan(b / h)
    lean = 0.5 * a
    turned = [[cos(lean), 0, sin(lean)], [0, 1, 0], [-sin(lean), 0, cos(lean)]]
    place = (b - reach * sin(a - lean), 0, reach * cos(a - lean))
    block = lw.Body("block", lw.Box(2 * b, 0.2, 2 * h), mass=1, position=place, rotation=turned)
    return on_floor(block, friction=2.0), h, (1.0 - 1.5 * sin(a) ** 2) ** 2


def kept_by_rocking(**way):
    m, h, _ = rocking()
    found = lw.simulate(m, 0.4, times=[0.0, 0.35], **way)
    first, last = found.kinetic_energy + G * (found["block"].position[:, 2] - h)
    return last / first


def test_a_block_that_rocks_loses_what_housner_says():
    *_, kept = rocking()
    assert kept_by_rocking() == pytest.approx(kept, rel=1e-7)
    # By steps an impact without restitution divides its step.
    assert kept_by_rocking(step=1 / 60) == pytest.approx(kept, abs=4e-3)
    assert kept_by_rocking(step=1 / 240) == pytest.approx(kept, abs=4e-4)


@pytest.mark.parametrize("way", [{"step": 1 / 240}, ACCURACY], ids=["steps", "accuracy"])
@pytest.mark.parametrize("more", [0.999, 1.001])
def test_a_box_on_a_turntable_sticks_within_a_thousandth_of_what_holds_it(more, way):
    mu, r, span = 0.4, 1.0, 0.1
    spin = sqrt(mu * G / r * more)
    m = lw.Mechanism("turntable")
    table = m.add(lw.Body("table", lw.Cylinder(5, 0.1), mass=100, position=(0, 0, -0.05)))
    m.add(lw.Revolute("axle", m.ground, table, axis=(0, 0, 1)))
    m.add(lw.Driver("drive", "axle", lambda t: spin * t))
    m.add(lw.Body("box", lw.Box(0.02, 0.02, 0.01), mass=1, position=(r, 0, 0.005)))
    m.add(lw.Contact("contact", material=lw.Material(friction=mu)))
    found = run(m, span, way, {"axle": spin, "box free": (0, 0, spin, 0, spin * r, 0)}, times=[span])
    creep = hypot(*found["box"].position[-1, :2]) - r
    assert (abs(creep) < 2e-6) if more < 1.0 else (creep > 1e-5)


def test_a_brick_leaves_a_plate_that_falls_faster_than_it_can():
    A, w = 0.05, 20.0
    m = lw.Mechanism("shaker")
    plate = m.add(lw.Body("plate", lw.Box(2, 1, 0.1), mass=10, position=(0, 0, -0.05)))
    m.add(lw.Prismatic("rail", m.ground, plate, axis=(0, 0, 1)))
    m.add(lw.Driver("drive", "rail", lambda t: A * lw.sin(w * t)))
    m.add(brick())
    m.add(lw.Contact("contact"))
    leaves = asin(G / (A * w * w)) / w
    z = 0.05 + A * sin(w * leaves) + A * w * cos(w * leaves) * 0.15 - 0.5 * G * 0.15**2
    found = run(m, leaves + 0.15, ACCURACY, {"rail": A * w, "brick free": (0, 0, 0, 0, 0, A * w)})
    assert found["brick"].position[-1, 2] == pytest.approx(z, abs=1e-9)
