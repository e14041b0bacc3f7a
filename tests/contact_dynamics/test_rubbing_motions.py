"""Motions that friction decides: the answers are closed forms, or solutions of their own equations."""

from math import acos, asin, atan, cos, pi, radians, sin, sqrt, tan

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import linkwork as lw

G = 9.81
STEPS, ACCURACY = {"step": 1 / 60}, {}
BOTH = pytest.mark.parametrize("way", [STEPS, ACCURACY], ids=["steps", "accuracy"])
EXACT = {"rtol": 1e-11, "atol": 1e-13, "method": "DOP853"}
LYING = Rotation.from_euler("x", 90, degrees=True)


def scene(*bodies, gravity=(0.0, 0.0, -G), floor=True, **material):
    m = lw.Mechanism("scene", gravity=gravity, space="space" if len(gravity) == 3 else "plane")
    for body in bodies:
        m.add(body)
    if floor:
        m.ground.add(lw.Plane() if len(gravity) == 3 else lw.Plane(normal=(0, 1, 0)))
    if material:
        m.add(lw.Contact("contact", material=lw.Material(**material)))
    return m


def slope(angle):
    return G * sin(angle), 0.0, -G * cos(angle)


def ball(name="ball", r=0.1, x=0.0, mass=1.0):
    return lw.Body(name, lw.Sphere(r), mass=mass, position=(x, 0, r))


def run(m, span, way, velocities=None):
    model = m.compile()
    for name in velocities or {}:
        assert name in model.joint_names
    return lw.simulate(model, span, model.state(velocities=velocities or {}), times=[span], **way)


@BOTH
@pytest.mark.parametrize("shape", [lw.Sphere(0.1), lw.Cylinder(0.1, 0.3, rotation=LYING)])
def test_resistance_to_rolling_brakes_what_rolls_down_a_slope(way, shape):
    angle, lever = radians(10), 0.004
    body = lw.Body("roller", shape, mass=2.0, position=(0, 0, 0.1))
    found = run(scene(body, gravity=slope(angle), friction=0.6, rolling=lever), 1.0, way)
    k = body.inertia.tensor[1, 1] / (2.0 * 0.01)
    a = G * (sin(angle) - lever / 0.1 * cos(angle)) / (1.0 + k)
    assert found["roller"].velocity[-1, 0] == pytest.approx(a, rel=1e-9)


@BOTH
@pytest.mark.parametrize("more", [1.001, 0.999])
def test_a_ball_stays_on_a_slope_as_far_as_resistance_to_rolling_holds_it(way, more):
    angle = radians(3)
    found = run(scene(ball(), gravity=slope(angle), friction=0.6, rolling=0.1 * tan(angle) * more), 1.0, way)
    x = 0.5 * G * (1.0 - more) * sin(angle) / 1.4
    assert found["ball"].position[-1, 0] == pytest.approx(max(x, 0.0), abs=1e-10)


@BOTH
def test_a_ball_with_side_spin_runs_along_a_parabola_until_it_rolls(way):
    r, mu, span = 0.03, 0.2, 2.0
    w, v = np.array([60.0, -80.0, 30.0]), np.array([2.0, 0.3, 0.0])
    found = run(scene(ball(r=r), friction=mu), span, way, {"ball free": (*w, *v)})
    slip = v + np.cross(w, (0, 0, -r))
    rolls, last = 2.0 * np.linalg.norm(slip) / (7.0 * mu * G), v - 2.0 / 7.0 * slip
    place = v * rolls - 0.5 * mu * G * rolls**2 * slip / np.linalg.norm(slip) + last * (span - rolls)
    assert found["ball"].velocity[-1] == pytest.approx(last, abs=1e-8)
    assert found["ball"].position[-1, :2] == pytest.approx(place[:2], abs=1e-3 if way else 1e-7)


@BOTH
def test_a_rolling_ball_that_hits_another_follows_it(way):
    r, mu, speed, span = 0.03, 0.2, 1.5, 2.0
    m = scene(ball("cue", r), ball("object", r, x=0.3), friction=mu)
    m.add(lw.Contact("balls", ("cue", "object"), material=lw.Material(friction=0.0, restitution=1.0)))
    found = run(m, span, way, {"cue free": (0, speed / r, 0, speed, 0, 0)})
    hits, grips = (0.3 - 2 * r) / speed, 2.0 * speed / (7.0 * mu * G)
    way_of_cue = 0.3 - 2 * r + 0.5 * mu * G * grips**2 + 2.0 / 7.0 * speed * (span - hits - grips)
    assert found["cue"].velocity[-1, 0] == pytest.approx(2.0 / 7.0 * speed, abs=3e-3 if way else 1e-7)
    assert found["object"].velocity[-1, 0] == pytest.approx(5.0 / 7.0 * speed, abs=3e-3 if way else 1e-7)
    assert found["cue"].position[-1, 0] == pytest.approx(way_of_cue, abs=6e-3 if way else 1e-8)


@BOTH
def test_a_tripod_slides_and_spins(way):
    mu, h, I, span = 0.25, 0.15, 0.05, 0.4
    feet = np.array([(0.317, -0.017), (-0.183, 0.233), (-0.183, -0.167)])

    def motion(t, y):  # feet at rest in height: three equations for the loads
        turn = Rotation.from_rotvec((0, 0, y[2])).as_matrix()[:2, :2]
        x = feet @ turn.T
        u = np.column_stack([y[3] - y[5] * x[:, 1], y[4] + y[5] * x[:, 0]])
        d = -u / np.linalg.norm(u, axis=1)[:, None]
        A = np.array([np.ones(3), x[:, 1] + h * mu * d[:, 1], -h * mu * d[:, 0] - x[:, 0]])
        F = mu * np.linalg.solve(A, (G, 0, 0))[:, None] * d
        return [*y[3:], *F.sum(axis=0), float((x[:, 0] * F[:, 1] - x[:, 1] * F[:, 0]).sum() / I)]

    balls = [lw.Sphere(0.02, position=(*foot, 0.02 - h)) for foot in feet]
    inertia = lw.Inertia(1.0, (0, 0, 0), np.diag([0.04, 0.04, I]))
    body = lw.Body("tripod", inertia, collisions=balls, position=(0, 0, h))
    found = run(scene(body, friction=mu), span, way, {"tripod free": (0, 0, 6.0, 1.5, 0.5, 0)})
    y = solve_ivp(motion, (0, span), [0, 0, 0, 1.5, 0.5, 6.0], **EXACT).y[:, -1]
    near = {"abs": 0.03} if way else {"abs": 1e-8}
    assert found["tripod"].position[-1, :2] == pytest.approx(y[:2], **near)
    assert found["tripod"].velocity[-1, :2] == pytest.approx(y[3:5], **near)
    assert found["tripod"].angular_velocity[-1, 2] == pytest.approx(y[5], **near)


@BOTH
def test_a_ball_that_rolls_off_a_ball_slips_before_it_leaves_it(way):
    R, r, mu, start = 1.0, 0.1, 1.0, 0.2
    D = R + r
    m = scene(floor=False, friction=mu)
    m.ground.add(lw.Sphere(R))
    m.add(lw.Body("ball", lw.Sphere(r), mass=1.0, position=(D * sin(start), 0, D * cos(start))))

    def load(y):
        return G * cos(y[0]) - D * y[1] ** 2

    def slips(t, y):
        return 2.0 / 7.0 * G * sin(y[0]) - mu * load(y)

    def leaves(t, y):
        return load(y)

    slips.terminal = leaves.terminal = True
    rolls = solve_ivp(
        lambda t, y: [y[1], 5 / 7 * G / D * sin(y[0])], (0, 9), [start, 0], events=slips, **EXACT
    )
    angle, w = rolls.y[:, -1]

    def rub(t, y):
        return [y[1], (G * sin(y[0]) - mu * load(y)) / D, mu * load(y) / (0.4 * r)]

    slides = solve_ivp(rub, (rolls.t[-1], 9), [angle, w, D * w / r], events=leaves, **EXACT)
    angle, w, spin = slides.y[:, -1]
    found = run(m, slides.t[-1] + 0.1, way)
    x, z = D * sin(angle) + 0.1 * D * w * cos(angle), D * cos(angle) - 0.1 * D * w * sin(angle) - 0.005 * G
    assert found["ball"].position[-1, [0, 2]] == pytest.approx([x, z], abs=1e-3 if way else 1e-8)
    assert found["ball"].angular_velocity[-1, 1] == pytest.approx(spin, rel=1e-3 if way else 1e-7)


@BOTH
def test_a_brick_slides_off_a_plate_that_is_tilted(way):
    mu, w, x, h = 0.4, 0.2, 0.5, 0.05
    m = scene(floor=False, friction=mu)
    plate = m.add(lw.Body("plate", lw.Box(4, 1, 0.1), mass=10, position=(0, 0, -0.05)))
    m.add(lw.Revolute("hinge", m.ground, plate, at=(0, 0, 0), axis=(0, -1, 0)))
    m.add(lw.Driver("drive", "hinge", lambda t: w * t))
    m.add(lw.Body("brick", lw.Box(0.1, 0.1, 0.1), mass=1, position=(x, 0, h)))

    def load(t, speed):
        return G * cos(w * t) - w**2 * h + 2.0 * w * speed

    begins = brentq(lambda t: G * sin(w * t) - w**2 * x - mu * load(t, 0.0), 0.0, 5.0)
    span = begins + 0.5

    def slide(t, y):
        return [y[1], w**2 * y[0] - G * sin(w * t) + mu * load(t, y[1])]

    place = solve_ivp(slide, (begins, span), [x, 0.0], **EXACT).y[0, -1]
    found = run(m, span, way, {"hinge": w, "brick free": (0, -w, 0, -w * h, 0, w * x)})
    s, c = sin(w * span), cos(w * span)
    there = place * c - h * s, place * s + h * c
    assert found["brick"].position[-1, [0, 2]] == pytest.approx(there, abs=2e-5 if way else 1e-7)


@BOTH
@pytest.mark.parametrize("degrees", [20, 80])
def test_a_spool_comes_or_goes_as_its_thread_is_pulled(way, degrees):
    R, r, mass, k, F, angle = 0.2, 0.08, 3.0, 0.02, 6.0, radians(degrees)
    shape = lw.Cylinder(R, 0.3, rotation=LYING)
    spool = lw.Body(
        "spool", lw.Inertia(mass, (0, 0, 0), k * mass * np.eye(3)), collisions=[shape], position=(0, 0, R)
    )
    m = scene(spool, friction=0.5)
    m.add(lw.Force("thread", spool, (F * cos(angle), 0, F * sin(angle))))
    m.add(lw.Torque("lever", spool, (0, -F * r, 0)))
    a = F * (cos(angle) - r / R) / (mass * (1.0 + k / R**2))
    assert run(m, 1.0, way)["spool"].velocity[-1, 0] == pytest.approx(a, rel=1e-9)


@BOTH
@pytest.mark.parametrize("more", [0.998, 1.005])
def test_a_wedge_locks_itself_up_to_the_angle_of_friction(way, more):
    mu, M, mass, r, length = 0.3, 2.0, 3.0, 0.05, 2.0
    angle = atan(mu) * more
    s, c, height = sin(angle), cos(angle), length * tan(angle)
    middle = np.array([length / 3, 0, height / 3])
    corners = [np.array(p) - middle for y in (-0.5, 0.5) for p in ((0, y, 0), (length, y, 0), (0, y, height))]
    m = scene(floor=False, friction=mu)
    wedge = m.add(lw.Body("wedge", lw.ConvexHull(corners), mass=M, position=tuple(middle)))
    place = np.array([1.0, 0, height - tan(angle)]) + r * np.array([s, 0, c])
    load = m.add(lw.Body("load", lw.Sphere(r), mass=mass, position=tuple(place)))
    m.add(lw.Prismatic("rail", m.ground, wedge, axis=(1, 0, 0)))
    m.add(lw.Prismatic("guide", m.ground, load, axis=(0, 0, 1)))
    drive = s - mu * c  # of the load on the wedge, per normal force
    a = mass * G / (M * (c + mu * s) / drive + mass * tan(angle)) if drive > 0.0 else 0.0
    assert run(m, 1.0, way)["wedge"].velocity[-1, 0] == pytest.approx(-a, abs=1e-9)


@BOTH
@pytest.mark.parametrize(("above", "below", "stands"), [(1.002, 1.002, 1), (0.998, 1.5, 0), (1.5, 0.998, 0)])
@pytest.mark.parametrize("space", ["space", "plane"])
def test_three_logs_stand_if_friction_suffices_between_them_and_below(way, above, below, stands, space):
    r, least = 0.1, 2.0 - sqrt(3.0)  # between logs: tan 15 degrees; on the ground a third of it
    high = r + sqrt(3.0) * r
    places = {"left": (-r, r), "right": (r, r), "top": (0.0, high)}
    m = scene(gravity=(0, 0, -G) if space == "space" else (0, -G), friction=least * above)
    for name, (x, z) in places.items():
        shape = lw.Cylinder(r, 0.5, rotation=LYING) if space == "space" else lw.Cylinder(r, 0.5)
        m.add(lw.Body(name, shape, mass=1.0, position=(x, 0, z) if space == "space" else (x, z)))
    for name in ("left", "right"):
        ground = lw.Material(friction=least / 3.0 * below)
        m.add(lw.Contact(f"under {name}", (m.ground, name), material=ground))
    found = run(m, 0.3, way)
    assert found.report.accepted < 1000
    sinks = high - found["top"].position[-1, -1]
    assert sinks < 1e-9 if stands else sinks > 1e-5


@BOTH
@pytest.mark.parametrize("more", [0.998, 1.004])
def test_bricks_reach_out_as_far_as_the_harmonic_series(way, more):
    count, wide = 5, 1.0
    edges = np.cumsum([0.0, *(-more * wide / (2 * k) for k in range(1, count + 1))])
    m = scene(gravity=(0, -G), floor=False, friction=0.6)
    for k in range(count):
        m.add(
            lw.Body(
                f"brick {k}",
                lw.Box(wide, 0.1, 0.2),
                mass=1.0,
                position=(edges[k], 0.05 + 0.1 * (count - 1 - k)),
            )
        )
    m.ground.add(lw.Box(4.0, 0.2, 1.0, position=(edges[count] + 0.5 * wide - 2.0, -0.1)))
    found = run(m, 0.5, way)
    moved = max(abs(found[f"brick {k}"].velocity[-1]).max() for k in range(count))
    assert moved < 1e-9 if more < 1.0 else moved > 1e-2


@pytest.mark.parametrize("way", [{"step": 1 / 1000}, ACCURACY], ids=["steps", "accuracy"])
def test_a_flat_follower_leaves_its_cam_when_that_falls_away_faster(way):
    R, e, w = 0.1, 0.03, 25.0
    disc = lw.Cylinder(R, 0.1, position=(e, 0, 0), rotation=LYING)
    m = scene(floor=False, friction=0.0)
    cam = m.add(lw.Body("cam", lw.Inertia(1, (0, 0, 0), 0.01 * np.eye(3)), collisions=[disc]))
    follower = m.add(lw.Body("follower", lw.Box(0.4, 0.1, 0.02), mass=0.5, position=(0, 0, R + 0.01)))
    m.add(lw.Revolute("shaft", m.ground, cam, axis=(0, -1, 0)))
    m.add(lw.Prismatic("guide", m.ground, follower, axis=(0, 0, 1)))
    m.add(lw.Driver("drive", "shaft", lambda t: w * t))
    leaves = asin(G / (e * w**2)) / w
    found = run(m, leaves + 0.03, way, {"shaft": w, "guide": e * w})
    z = e * sin(w * leaves) + 0.03 * e * w * cos(w * leaves) - 0.00045 * G
    assert found["guide"].position[-1] == pytest.approx(z, abs=2e-6 if way else 1e-9)
    assert not found.report.warnings
    if not way:
        assert [t for t, what in found.report.events if "part" in what] == pytest.approx([leaves], abs=1e-8)


@pytest.mark.parametrize("way", [{"step": 1 / 240}, ACCURACY], ids=["steps", "accuracy"])
def test_a_ball_bounces_once_in_every_swing_of_a_table(way):
    e, w, A, r = 0.8, 30.0, 0.02, 0.05
    period = 2.0 * pi / w
    speed = 0.5 * G * period  # of the ball, where the table has the speed (1 - e) / (1 + e) of it
    phase = acos(speed * (1 - e) / (1 + e) / (A * w))
    m = scene(floor=False, friction=0.0, restitution=e)
    plate = m.add(lw.Body("plate", lw.Box(1, 1, 0.1), mass=10, position=(0, 0, -0.05)))
    m.add(lw.Prismatic("rail", m.ground, plate, axis=(0, 0, 1)))
    m.add(lw.Driver("drive", "rail", lambda t: A * lw.sin(w * t + phase)))
    m.add(lw.Body("ball", lw.Sphere(r), mass=1.0, position=(0, 0, r + A * sin(phase) + 1e-9)))
    found = run(m, 4.5 * period, way, {"rail": A * w * cos(phase), "ball free": (0, 0, 0, 0, 0, speed)})
    hits = [t for t, what in found.report.events if "hits" in what]
    assert hits == pytest.approx(period * np.arange(1, 5), abs=2e-3 if way else 1e-6)


@BOTH
@pytest.mark.parametrize("mu", [0.1, 2.0])
def test_rough_balls_turn_each_other_in_an_oblique_impact(way, mu):
    r, e, aside = 0.1, 0.5, 0.08
    first = lw.Body("first", lw.Sphere(r), mass=1.0, position=(-1, aside, 0))
    m = scene(
        first,
        lw.Body("second", lw.Sphere(r), mass=1.0),
        gravity=(0.0, 0.0, 0.0),
        floor=False,
        friction=mu,
        restitution=e,
    )
    v, w, W = np.array([2.0, 0, 0]), np.array([0, 0, 10.0]), np.array([0, 5.0, 0])
    found = run(m, 0.7, way, {"first free": (*w, *v), "second free": (*W, 0, 0, 0)})
    n = np.array([sqrt(1 - (aside / (2 * r)) ** 2), -aside / (2 * r), 0])
    u = v + r * np.cross(w, n) + r * np.cross(W, n)
    slip, normal = u - (u @ n) * n, 0.5 * (1 + e) * (u @ n)
    size = np.linalg.norm(slip)
    P = normal * n + min(mu * normal, size / 7.0) * slip / size
    assert found["first"].velocity[-1] == pytest.approx(v - P, abs=1e-7)
    assert found["second"].velocity[-1] == pytest.approx(P, abs=1e-7)
    assert found["second"].angular_velocity[-1] == pytest.approx(
        W - r * np.cross(n, P) / (0.4 * r**2), abs=1e-6
    )
