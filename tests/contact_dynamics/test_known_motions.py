"""Motions with contact whose answers are known, by steps of 1/60 s and to an accuracy."""

from math import atan, cos, hypot, pi, radians, sin, sqrt, tan

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

G = 9.81
STEPS, ACCURACY = {"step": 1 / 60}, {}
BOTH = pytest.mark.parametrize("way", [STEPS, ACCURACY], ids=["steps", "accuracy"])


def mechanism(gravity=(0.0, 0.0, -G), space="space"):
    m = lw.Mechanism("scene", space=space)
    m.gravity = gravity
    return m


def of(mu, e=0.0, **others):
    return lw.Material(friction=mu, restitution=e, **others)


def meet(m, material, impact="newton"):
    m.add(lw.Contact("contact", material=material, impact=impact))
    return m


def on_floor(m, *bodies):
    m.ground.add(lw.Plane())
    for body in bodies:
        m.add(body)
    return m


def run(m, span, way, velocities=None, **options):
    model = m.compile()
    start = model.state(velocities=velocities or {})
    return lw.simulate(model, span, start, **way, **options)


def free(m, name):
    m.add(lw.Free(f"{name} free", m.ground, m[name]))


@pytest.mark.parametrize("degrees", [0.0, 45.0])
def test_balls_roll_on_a_plate_that_is_pushed(degrees):
    """SimBenchmark's rolling scene: 25 balls of 1 kg on a plate of 10 kg, which slides on the ground.

    The plate is held back by 0.4 times all weight; a ball that rolls on it has 2/7 of its acceleration.
    """
    m = on_floor(mechanism(), lw.Body("plate", lw.Box(20, 20, 1), mass=10, position=(0, 0, 0.5)))
    for i in range(5):
        for j in range(5):
            place = 2.0 * i - 4.0, 2.0 * j - 4.0, 1.5
            m.add(lw.Body(f"ball {i}{j}", lw.Sphere(0.5), mass=1.0, position=place))
    meet(m, of(0.8)).add(lw.Contact("below", between=(m.ground, "plate"), material=of(0.4)))
    a = radians(degrees)
    m.add(lw.Force("push", m["plate"], (150 * cos(a), 150 * sin(a), 0)))
    found = lw.simulate(m, 4.0, step=1 / 60, times=[4.0])
    speed = (150.0 - 0.4 * 35.0 * G) / (10.0 + 25.0 * 2.0 / 7.0) * 4.0
    assert speed == pytest.approx(2.954, abs=1e-3)
    along = np.array([cos(a), sin(a), 0.0])
    assert found["plate"].velocity[-1] == pytest.approx(speed * along, abs=1e-6)
    assert found["ball 00"].velocity[-1] == pytest.approx(2.0 / 7.0 * speed * along, abs=1e-6)


@BOTH
def test_a_ladder_leaves_the_wall_at_two_thirds_of_its_height(way):
    length, angle, r = 2.0, radians(60), 0.05
    I = length**2 / 12.0
    balls = [lw.Sphere(r, position=(0, 0, z)) for z in (-length / 2, length / 2)]
    place = r + 0.5 * length * cos(angle), 0.0, r + 0.5 * length * sin(angle)
    turn = Rotation.from_rotvec([0, angle - pi / 2, 0])
    inertia = lw.Inertia(1.0, (0, 0, 0), np.diag([I, I, 1e-3]))
    m = on_floor(mechanism(), lw.Body("ladder", inertia, collisions=balls, position=place, rotation=turn))
    m.ground.add(lw.Plane(normal=(1, 0, 0)))
    found = run(meet(m, of(0.0)), 0.95, way)
    speed = sqrt(G * length) * sin(angle) ** 1.5 / 3.0
    assert found["ladder"].velocity[-1, 0] == pytest.approx(speed, rel=1e-7 if way is ACCURACY else 2e-3)


@BOTH
@pytest.mark.parametrize("more", [1.001, 0.999])
def test_a_cylinder_on_a_slope_rolls_or_slides(way, more):
    angle, r = radians(30), 0.1
    mu = tan(angle) / 3.0 * more
    shape = lw.Cylinder(r, 0.3, rotation=Rotation.from_euler("x", 90, degrees=True))
    m = mechanism((G * sin(angle), 0.0, -G * cos(angle)))
    on_floor(m, lw.Body("roller", shape, density=1000, position=(0, 0, r)))
    found = run(meet(m, of(mu)), 1.0, way)
    a = G * sin(angle) / 1.5 if more > 1.0 else G * (sin(angle) - mu * cos(angle))
    assert found["roller"].position[-1, 0] == pytest.approx(0.5 * a, rel=1e-6)


@pytest.mark.parametrize("spin", [0.0, -100.0, 200.0])
def test_a_billiard_ball_with_spin_ends_in_rolling(spin):
    r = 0.03
    m = on_floor(mechanism(), lw.Body("cue", lw.Sphere(r), mass=0.2, position=(0, 0, r)))
    free(m, "cue")
    found = run(meet(m, of(0.3)), 4.0, STEPS, {"cue free": [0, spin, 0, 2.0, 0, 0]}, times=[4.0])
    assert found["cue"].velocity[-1, 0] == pytest.approx((10.0 + 2.0 * r * spin) / 7.0, abs=1e-7)


@BOTH
def test_a_block_slides_down_a_wedge_that_slides_away(way):
    angle, heavy, light, length = radians(30), 3.0, 1.0, 6.0
    height = length * tan(angle)
    middle = np.array([length / 3, 0, height / 3])
    corners = [np.array(p) - middle for y in (-0.5, 0.5) for p in ((0, y, 0), (length, y, 0), (0, y, height))]
    normal = np.array([sin(angle), 0, cos(angle)])
    place = np.array([1.0, 0.0, height - tan(angle)]) + 0.1 * normal
    turn = Rotation.from_rotvec([0, angle, 0])
    m = on_floor(
        mechanism(),
        lw.Body("wedge", lw.ConvexHull(corners), mass=heavy, position=tuple(middle)),
        lw.Body("block", lw.Box(0.4, 0.4, 0.2), mass=light, position=tuple(place), rotation=turn),
    )
    found = run(meet(m, of(0.0)), 0.6, way)
    a = light * G * sin(angle) * cos(angle) / (heavy + light * sin(angle) ** 2)
    assert found["wedge"].velocity[-1, 0] == pytest.approx(-0.6 * a, rel=1e-7)
    assert found["block"].velocity[-1, 0] == pytest.approx(0.6 * a * heavy / light, rel=1e-7)


@pytest.mark.parametrize("more", [0.999, 1.001, 2.0])
def test_a_brick_on_a_belt_goes_along_as_far_as_friction_takes_it(more):
    mu = 0.3
    a = mu * G * more
    m = mechanism()
    belt = m.add(lw.Body("belt", lw.Box(30, 1, 0.1), mass=10, position=(0, 0, -0.05)))
    m.add(lw.Prismatic("rail", m.ground, belt, axis=(1, 0, 0)))
    m.add(lw.Driver("drive", "rail", lambda t: 0.5 * a * t * t))
    m.add(lw.Body("brick", lw.Box(0.2, 0.2, 0.1), mass=1, position=(0, 0, 0.05)))
    found = run(meet(m, of(mu)), 2.0, STEPS, times=[2.0])
    assert found["brick"].position[-1, 0] == pytest.approx(2.0 * min(a, mu * G), rel=1e-4)


@pytest.mark.parametrize("more", [0.99, 1.01])
def test_a_box_on_a_turntable_stays_until_friction_is_too_little(more):
    mu, r = 0.4, 1.0
    spin = sqrt(mu * G / r * more)
    m = mechanism()
    table = m.add(lw.Body("table", lw.Cylinder(5, 0.1), mass=100, position=(0, 0, -0.05)))
    m.add(lw.Revolute("axle", m.ground, table, axis=(0, 0, 1)))
    m.add(lw.Driver("drive", "axle", lambda t: spin * t))
    m.add(lw.Body("box", lw.Box(0.02, 0.02, 0.01), mass=1, position=(r, 0, 0.005)))
    free(m, "box")
    found = run(meet(m, of(mu)), 3.0, STEPS, {"axle": spin, "box free": [0, 0, spin, 0, spin * r, 0]})
    x, y, _ = found["box"].position[-1]
    if more < 1.0:
        assert hypot(x, y) == pytest.approx(r, abs=1e-6)
        angle = 3.0 * spin
        assert (x, y) == pytest.approx((cos(angle), sin(angle)), abs=2e-3)
    else:
        assert hypot(x, y) > 1.05


def rolling_disc(way, mu=1.0, slip=0.0):
    """Return how a thin disc rolls for a second whose centre stands still, w^2 = 4 g / (r sin a)."""
    r, a, width = 1.0, radians(30.0), 1e-4
    turn, place = Rotation.from_rotvec((0, a, 0)).as_matrix(), (0, 0, r * sin(a) + 0.5 * width * cos(a))
    m = on_floor(mechanism(), lw.Body("disc", lw.Cylinder(r, width), mass=1, position=place, rotation=turn))
    free(m, "disc")
    w = np.array((-sin(a) * sqrt(4.0 * G / (r * sin(a))), 0.0, 0.0))  # in its own axes
    v = -np.cross(w, (r, 0.0, -0.5 * width)) + (0.0, slip, 0.0)
    found = run(meet(m, of(mu)), 1.0, way, {"disc free": (*w, *v)})
    return found["disc"].position - place


def test_a_disc_that_rolls_in_a_circle_keeps_its_tilt_by_steps_of_second_order():
    errors = [np.abs(rolling_disc({"step": step})[-1]).max() for step in (1 / 60, 1 / 120, 1 / 240)]
    assert errors[0] < 3e-3  # its rim has gone round 4.4 m
    assert errors[0] > 2.5 * errors[1] > 6.25 * errors[2]


@pytest.mark.parametrize("mu", [3.0, 10.0])
def test_a_slip_that_friction_ends_at_once_does_not_jam(mu, recwarn):
    assert np.abs(rolling_disc(ACCURACY, mu, slip=1e-3)[-1, 2]) < 1e-3
    assert not [str(one.message) for one in recwarn]


def test_a_ball_on_a_turntable_goes_round_with_two_sevenths_of_its_spin():
    spin, r = 2.0, 0.1
    m = mechanism()
    table = m.add(lw.Body("table", lw.Cylinder(8, 0.1), mass=100, position=(0, 0, -0.05)))
    m.add(lw.Revolute("axle", m.ground, table, axis=(0, 0, 1)))
    m.add(lw.Driver("drive", "axle", lambda t: spin * t))
    m.add(lw.Body("ball", lw.Sphere(r), mass=1, position=(1, 0, r)))
    free(m, "ball")
    pace = 2.0 / 7.0 * spin
    start = {"axle": spin, "ball free": [(spin - pace) / r, 0, 0, 0, pace, 0]}
    found = run(meet(m, of(2.0)), 0.5 * pi / pace, STEPS, start)
    assert found["ball"].position[-1, :2] == pytest.approx((0.0, 1.0), abs=1e-3)


@BOTH
@pytest.mark.parametrize(("law", "gap"), [("sequential", 0.0), ("newton", 1e-3)])
def test_a_ball_at_one_end_of_a_row_drives_the_last_one_off(way, law, gap):
    r = 0.05
    m = mechanism((0, 0, 0))
    for k in range(5):
        place = (2 * r + gap) * k - (0.2 if k == 0 else 0.0), 0.0, 0.0
        m.add(lw.Body(f"ball {k}", lw.Sphere(r), mass=1, position=place))
        free(m, f"ball {k}")
    found = run(meet(m, of(0.0, 1.0), law), 0.5, way, {"ball 0 free": [0, 0, 0, 1.0, 0, 0]})
    speeds = [found[f"ball {k}"].velocity[-1, 0] for k in range(5)]
    assert speeds == pytest.approx([0, 0, 0, 0, 1], abs=1e-9)


@BOTH
def test_a_ball_between_two_others_bounces_back_with_a_fifth(way):
    r = 0.1
    m = mechanism((0, 0, 0))
    for name, place in (("a", (-1, 0, 0)), ("b", (0, r, 0)), ("c", (0, -r, 0))):
        m.add(lw.Body(name, lw.Sphere(r), mass=1, position=place))
        free(m, name)
    found = run(meet(m, of(0.0, 1.0)), 1.5, way, {"a free": [0, 0, 0, 1.0, 0, 0]})
    assert found["a"].velocity[-1, 0] == pytest.approx(-0.2, abs=1e-7)
    assert np.linalg.norm(found["b"].velocity[-1]) == pytest.approx(1.2 / sqrt(3.0), abs=1e-7)


@BOTH
@pytest.mark.parametrize(("mu", "speed", "spin"), [(0.1, 2.0, 0.0), (1.0, 2.0, 0.0), (1.0, 0.0, 30.0)])
def test_a_ball_that_bounces_with_friction_gets_its_spin(way, mu, speed, spin):
    r, e = 0.1, 0.8
    m = on_floor(mechanism(), lw.Body("ball", lw.Sphere(r), mass=1, position=(0, 0, 1 + r)))
    free(m, "ball")
    fall, start = sqrt(2.0 / G), {"ball free": [0, spin, 0, speed, 0, 0]}
    found = run(meet(m, of(mu, e)), fall + 0.05, way, start)
    slip = speed - spin * r
    change = np.sign(slip) * min(mu * (1 + e) * sqrt(2 * G), abs(slip) * 2.0 / 7.0)
    assert found["ball"].velocity[-1, 0] == pytest.approx(speed - change, abs=1e-7)
    assert found["ball"].angular_velocity[-1, 1] == pytest.approx(spin + change / (0.4 * r), abs=1e-6)


@pytest.mark.parametrize("more", [0.999, 1.001])
def test_a_block_on_a_slope_stands_until_its_middle_is_beyond_its_edge(more):
    wide, high = 0.2, 0.5
    angle = atan(wide / high) * more
    m = mechanism((G * sin(angle), 0.0, -G * cos(angle)))
    on_floor(m, lw.Body("block", lw.Box(wide, 0.3, high), density=500, position=(0, 0, high / 2)))
    found = run(meet(m, of(0.9)), 3.0, STEPS)
    height = found["block"].position[:, 2]
    if more < 1.0:
        assert np.abs(height - high / 2).max() < 1e-6
    else:
        assert height.max() > high / 2 + 1e-4


@BOTH
def test_a_wheeled_cart_accelerates_as_its_motors_drive_it(way):
    r, wheel, body, torque = 0.1, 0.5, 4.0, 0.6
    I = 0.5 * wheel * r**2
    m = mechanism()
    m.ground.add(lw.Plane())
    frame = m.add(lw.Body("frame", lw.Inertia(body, (0, 0, 0), 0.1 * np.eye(3)), position=(0, 0, r)))
    tyre = lw.Cylinder(r, 0.2, rotation=Rotation.from_euler("x", 90, degrees=True))
    for name, x in (("front", 0.3), ("back", -0.3)):
        turning = lw.Inertia(wheel, (0, 0, 0), I * np.eye(3))
        one = m.add(lw.Body(name, turning, collisions=[tyre], position=(x, 0, r)))
        m.add(lw.Revolute(f"{name} axle", frame, one, at=(x, 0, r), axis=(0, 1, 0)))
        m.add(lw.Motor(f"{name} motor", f"{name} axle", torque))
    found = run(meet(m, of(0.9)), 1.0, way)
    a = 2 * torque / r / (body + 2 * wheel + 2 * I / r**2)
    assert found["frame"].velocity[-1, 0] == pytest.approx(a, rel=1e-6)
