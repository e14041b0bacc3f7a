"""Rigid contact to an accuracy, against what is known exactly."""

import numpy as np
import pytest

import linkwork as lw

G = 9.81


def on_a_plane(shape, height, material, gravity=(0, 0, -G), mass=1.0):
    mechanism = lw.Mechanism("on a plane")
    body = mechanism.add(lw.Body("body", shape, mass=mass, position=(0, 0, height), material=material))
    mechanism.add(lw.Free("free", mechanism.ground, body))
    mechanism.ground.add(lw.Plane(), material=material)
    mechanism.add(lw.Contact("contact"))
    mechanism.gravity = gravity
    return mechanism.compile()


def of(mu, e=0.0, **others):
    return lw.Material(friction=mu, restitution=e, **others)


def state(model, v, q=None):
    start = model.state()
    return lw.State(start.q if q is None else np.array(q, float), np.array(v, float))


def times_of(run, word="hits"):
    return np.array([t for t, what in run.report.events if word in what.split()])


@pytest.mark.parametrize("e", [0.5, 0.9])
def test_a_ball_bounces_to_the_height_that_it_should(e):
    model = on_a_plane(lw.Sphere(0.1), 1.1, of(0.5, e))
    fall = np.sqrt(2.0 / G)
    hits = fall + 2.0 * fall * np.cumsum([0.0, *(e**k for k in range(1, 5))])
    tops = hits[:-1] + np.diff(hits) / 2.0
    run = lw.simulate(model, float(tops[-1]), times=tops)
    assert run.q[:, 2] - 0.1 == pytest.approx([e ** (2 * k) for k in range(1, 5)], abs=1e-9)
    assert times_of(run)[:4] == pytest.approx(hits[:4], abs=1e-9)


def test_a_ball_that_loses_nothing_bounces_a_hundred_times():
    model = on_a_plane(lw.Sphere(0.1), 1.1, of(0.5, 1.0))
    period = 2.0 * np.sqrt(2.0 / G)
    run = lw.simulate(model, 100.0 * period, times=[100.0 * period])
    assert len(times_of(run)) == 100
    assert run.q[0, 2] == pytest.approx(1.1, abs=1e-8)


def test_bounces_that_shrink_end_in_rest():
    """The ball lies still after the sum of all bounces, and not before."""
    model = on_a_plane(lw.Sphere(0.1), 1.1, of(0.5, 0.5))
    end = np.sqrt(2.0 / G) * 3.0
    run = lw.simulate(model, 10.0)
    hits = times_of(run)
    assert end - 1e-3 < hits[-1] < end
    assert run.q[-1, :3] == pytest.approx([0, 0, 0.1], abs=1e-12)
    assert not run.v[-1].any()


def test_a_ball_slides_until_it_rolls():
    model, mu, v0 = on_a_plane(lw.Sphere(0.1), 0.1, of(0.3)), 0.3, 2.0
    rolls = 2.0 * v0 / (7.0 * mu * G)
    times = [rolls - 1e-3, rolls + 1e-3, 2.0]
    run = lw.simulate(model, 2.0, state(model, [0, 0, 0, v0, 0, 0]), times=times)
    speed = np.linalg.norm(run.v[:, 3:], axis=1)
    assert speed == pytest.approx([v0 - mu * G * times[0], 5 / 7 * v0, 5 / 7 * v0], abs=1e-8)
    (when,) = times_of(run, "stick")
    assert when == pytest.approx(rolls, abs=1e-8)


def on_a_slope(part, heading):
    slope = np.pi / 6
    down = np.array([np.cos(heading), np.sin(heading), 0.0])
    gravity = G * np.sin(slope) * down - (0, 0, G * np.cos(slope))
    return on_a_plane(lw.Box(0.1, 0.1, 0.1), 0.05, of(part * np.tan(slope)), tuple(gravity)), down


@pytest.mark.parametrize("heading", np.arange(8) * np.pi / 4)
def test_a_box_on_a_slope_stays_if_friction_is_a_thousandth_more_than_enough(heading):
    model, _ = on_a_slope(1.001, heading)
    run = lw.simulate(model, 10.0)
    assert np.abs(run.q[-1] - run.q[0]).max() < 1e-11


@pytest.mark.parametrize("heading", np.arange(8) * np.pi / 4)
def test_a_box_on_a_slope_slides_if_friction_is_a_thousandth_too_little(heading):
    model, down = on_a_slope(0.999, heading)
    run = lw.simulate(model, 10.0, times=[10.0])
    expected = 0.5 * 0.001 * G * np.sin(np.pi / 6) * 10.0**2
    assert run.q[0, :3] - (0, 0, 0.05) == pytest.approx(expected * down, abs=1e-6 * expected)


def test_static_friction_holds_what_would_slide_on():
    """Pushed off, the box slides with the smaller friction and stops; then the larger one holds it."""
    slope = 0.4
    gravity = (G * np.sin(slope), 0, -G * np.cos(slope))
    model = on_a_plane(lw.Box(0.1, 0.1, 0.1), 0.05, of(0.44, static_friction=0.5), gravity)
    held = lw.simulate(model, 1.0)
    assert np.abs(held.q[-1] - held.q[0]).max() < 1e-12
    braked = 0.44 * G * np.cos(slope) - G * np.sin(slope)
    run = lw.simulate(model, 3.0, state(model, [0, 0, 0, 0.2, 0, 0]))
    assert run.q[-1, 0] == pytest.approx(0.2**2 / (2.0 * braked), abs=1e-8)
    assert np.abs(run.v[-1]).max() < 1e-15


@pytest.mark.parametrize("mass", [1.0, 1000.0])
def test_a_box_at_rest_does_not_sink(mass):
    run = lw.simulate(on_a_plane(lw.Box(0.1, 0.1, 0.1), 0.05, of(0.5), mass=mass), 10.0)
    assert np.abs(run.q[-1] - run.q[0]).max() < 1e-12


@pytest.mark.parametrize("ratio", [1e3, 1e6])
def test_a_heavy_box_on_a_light_one_stands(ratio):
    m = lw.Mechanism("heavy on light")
    for name, mass, z in (("light", 1.0, 0.1), ("heavy", ratio, 0.3)):
        m.add(lw.Body(name, lw.Box(0.2, 0.2, 0.2), mass=mass, position=(0, 0, z)))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 1.0, times=[0.0, 1.0])
    assert np.abs(run.q[1] - run.q[0]).max() < 1e-9
    assert run["light"].contact_force[1] == pytest.approx([0.0, 0.0, G], abs=1e-3)


def test_a_box_that_tumbles_comes_to_lie_on_a_face():
    model = on_a_plane(lw.Box(0.1, 0.2, 0.3), 0.5, of(0.5, 0.3))
    run = lw.simulate(model, 2.0, state(model, [1.0, 2.0, 3.0, 0.5, 0.2, 0]))
    assert min(abs(run.q[-1, 2] - half) for half in (0.05, 0.1, 0.15)) < 1e-12
    assert np.abs(run.v[-1]).max() < 1e-15
    energies = run.kinetic_energy + run.potential_energy
    assert (np.diff(energies) < 1e-9).all()


def a_disc(angle):
    """A disc that rolls on its rim without slipping, at an angle to the floor."""
    r, h = 0.05, 0.01
    model = on_a_plane(lw.Cylinder(r, h), 0.0, of(1.5))
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    pace = np.sqrt(4.0 * G / (r * s))
    w = pace * np.array([0, 0, 1.0]) - pace * c * R[:, 2]
    v = -np.cross(w, R @ (0, -r, -h / 2))
    q = [0, 0, r * s + h / 2 * c, np.cos(angle / 2), np.sin(angle / 2), 0, 0]
    return model, state(model, [*(R.T @ w), *(R.T @ v)], q)


@pytest.mark.parametrize("angle", [0.3, 0.05])
def test_eulers_disc_keeps_its_energy(angle):
    model, start = a_disc(angle)
    run = lw.simulate(model, 1.0, start, every=0.1)
    energies = run.kinetic_energy + run.potential_energy
    assert energies == pytest.approx(np.full(11, energies[0]), rel=1e-8)


def test_painleves_rod_is_reported_and_goes_on():
    """Pushed along, the tip digs in: no finite force holds it, an impact stops it."""
    length, angle = 1.0, np.pi / 3
    model = on_a_plane(lw.Capsule(0.005, length), 0.0, of(1.5))
    turn = (np.pi / 2 - angle) / 2
    q = [0, 0, length / 2 * np.sin(angle) + 0.005, np.cos(turn), 0, np.sin(turn), 0]
    R = np.array([[np.sin(angle), 0, np.cos(angle)], [0, 1, 0], [-np.cos(angle), 0, np.sin(angle)]])
    start = state(model, [0, 0, 0, *(R.T @ (-3.0, 0, 0))], q)
    with pytest.warns(UserWarning, match="Painleve"):
        run = lw.simulate(model, 0.3, start)
    assert run.time[-1] == 0.3
    energies = run.kinetic_energy + run.potential_energy
    assert (np.diff(energies) < 1e-9).all()
    assert run.report.events[0] == (0.0, "ground hits body")


@pytest.mark.parametrize("speed", [10.0, 100.0, 1000.0])
def test_nothing_passes_a_thin_wall(speed):
    mechanism = lw.Mechanism("shot")
    ball = mechanism.add(
        lw.Body("ball", lw.Sphere(0.01), mass=1.0, position=(-1, 0, 0), material=of(0.3, 0.5))
    )
    mechanism.add(lw.Free("free", mechanism.ground, ball))
    mechanism.ground.add(lw.Box(0.001, 1, 1))
    mechanism.add(lw.Contact("contact"))
    mechanism.gravity = (0, 0, 0)
    model = mechanism.compile()
    run = lw.simulate(model, 2.0 / speed, state(model, [0, 300.0, 200.0, speed, 0, 0]))
    assert times_of(run) == pytest.approx([(1.0 - 0.0105) / speed], rel=1e-9)
    assert run.q[-1, 0] < -0.0105


def test_a_crank_with_a_loop_rests_on_a_stop():
    """A four-bar swings down onto ground, which its rod hits without bouncing; loops stay closed."""
    mechanism = lw.Mechanism("four-bar")
    crank = mechanism.add(lw.Body("crank", lw.Box(0.02, 0.02, 0.2), mass=1.0, position=(0, 0, 0.1)))
    rod = mechanism.add(lw.Body("rod", lw.Sphere(0.05), mass=1.0, position=(0.2, 0, 0.2)))
    rocker = mechanism.add(lw.Body("rocker", lw.Box(0.02, 0.02, 0.2), mass=1.0, position=(0.4, 0, 0.1)))
    for name, a, b, p in (
        ("A", mechanism.ground, crank, (0, 0, 0)),
        ("B", crank, rod, (0, 0, 0.2)),
        ("C", rod, rocker, (0.4, 0, 0.2)),
        ("D", rocker, mechanism.ground, (0.4, 0, 0)),
    ):
        mechanism.add(lw.Revolute(name, a, b, at=p, axis=(0, 1, 0)))
    mechanism.ground.add(lw.Plane((0, 0, 1), position=(0, 0, -0.1)))
    mechanism.add(lw.Contact("contact", between=(rod, mechanism.ground), material=of(0.2, 0.0)))
    model = mechanism.compile()
    v = np.zeros(model.nv)
    v[model.slices["A"][1]] = 0.5
    run = lw.simulate(model, 3.0, lw.State(model.q_drawn, model.closed_velocity(model.q_drawn, v)))
    assert run["rod"].position[-1, 2] == pytest.approx(-0.05, abs=1e-11)
    assert np.abs(run.v[-1]).max() < 1e-9
    assert run.report.loop_gap < 1e-12


def test_events_of_the_user_are_found_between_bounces():
    model = on_a_plane(lw.Sphere(0.1), 1.1, of(0.5, 0.9))
    half = lw.Event("half", lambda t, q, v: q[2] - 0.6, action="note")
    run = lw.simulate(model, 1.2, events=[half])
    fall, hit = np.sqrt(1.0 / G), np.sqrt(2.0 / G)
    speed = 0.9 * G * hit
    rise = (speed - np.sqrt(speed**2 - G)) / G
    assert times_of(run, "half") == pytest.approx([fall, hit + rise, hit + speed / G * 2 - rise], abs=1e-9)


def test_rigid_and_compliant_contacts_are_in_one_run():
    mechanism = lw.Mechanism("both")
    for name, x, material in (
        ("hard", 0.0, of(0.5)),
        ("soft", 1.0, lw.Material(stiffness=1e4, damping=50.0)),
    ):
        ball = mechanism.add(lw.Body(name, lw.Sphere(0.1), mass=1.0, position=(x, 0, 0.1), material=material))
        mechanism.add(lw.Free(f"free {name}", mechanism.ground, ball))
    mechanism.ground.add(lw.Plane())
    mechanism.add(lw.Contact("contact"))
    run = lw.simulate(mechanism, 3.0, times=[3.0])
    assert run["hard"].position[0, 2] == pytest.approx(0.1, abs=1e-12)
    assert run["soft"].position[0, 2] == pytest.approx(0.1 - G / 1e4, abs=1e-8)


def a_cradle(impact):
    mechanism = lw.Mechanism("cradle")
    for k in range(5):
        ball = mechanism.add(lw.Body(f"ball {k}", lw.Sphere(0.05), mass=1.0, position=(0.1 * k, 0, 0)))
        mechanism.add(lw.Revolute(f"string {k}", mechanism.ground, ball, at=(0.1 * k, 0, 1), axis=(0, 1, 0)))
    mechanism.add(lw.Contact("contact", material=of(0.0, 1.0), impact=impact))
    return mechanism.compile()


@pytest.mark.parametrize("options", [{}, {"step": 1 / 240}])
def test_a_cradle_hands_momentum_on_if_impacts_go_one_after_the_other(options):
    model = a_cradle("sequential")
    run = lw.simulate(model, 0.7, state(model, np.zeros(5), [0.3, 0, 0, 0, 0]), times=[0.7], **options)
    assert np.abs(run.q[0, :4]).max() < 1e-3
    assert run.q[0, 4] < -0.1


def test_a_ball_that_rolls_is_braked_by_its_resistance():
    """Rolling without slip, a moment of `rolling` times N takes 5/7 g rolling / r from the speed."""
    model, v0, r = on_a_plane(lw.Sphere(0.1), 0.1, of(0.5, rolling=0.002)), 0.5, 0.1
    brake = 5 / 7 * G * 0.002 / r
    stops = v0 / brake
    run = lw.simulate(model, 2.0 * stops, state(model, [0, v0 / r, 0, v0, 0, 0]), times=[1.0, 2.0 * stops])
    assert np.linalg.norm(run.v[0, 3:]) == pytest.approx(v0 - brake, abs=1e-8)
    assert run.q[1, 0] == pytest.approx(0.5 * v0**2 / brake, abs=1e-8)
    assert np.abs(run.v[1]).max() < 1e-12


def test_a_ball_that_spins_is_braked_by_its_resistance():
    model, w0, r = on_a_plane(lw.Sphere(0.1), 0.1, of(0.5, torsional=0.001)), 20.0, 0.1
    brake = 0.001 * G / (0.4 * r**2)
    stops = w0 / brake
    run = lw.simulate(model, 2.0 * stops, state(model, [0, 0, w0, 0, 0, 0]), times=[1.0, 2.0 * stops])
    assert run.v[:, 2] == pytest.approx([w0 - brake, 0.0], abs=1e-8)


def test_a_ball_on_a_slope_stays_if_resistance_to_rolling_holds_it():
    """It begins to roll where the slope is steeper than rolling / r."""
    for part in (0.999, 1.001):
        slope = np.arctan(part * 0.02)
        gravity = (G * np.sin(slope), 0, -G * np.cos(slope))
        model = on_a_plane(lw.Sphere(0.1), 0.1, of(0.5, rolling=0.002), gravity)
        run = lw.simulate(model, 10.0, times=[10.0])
        expected = 5 / 7 * 0.5 * max(np.sin(slope) - 0.02 * np.cos(slope), 0.0) * G * 100.0
        assert run.q[0, 0] == pytest.approx(expected, abs=1e-9 + 1e-6 * expected)
