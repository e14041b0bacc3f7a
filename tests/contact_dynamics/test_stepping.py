"""Steps of 1/60 s with contact against what is known."""

import math

import numpy as np
import pytest

import linkwork as lw

STEP = 1 / 60
G = 9.81


def on_floor(*bodies, gravity=(0.0, 0.0, -G), friction=0.5, **material):
    m = lw.Mechanism("scene", gravity=gravity)
    made = lw.Material(friction=friction, **material)
    for body in bodies:
        body.material = made
        m.add(body)
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    return m


def crate(name="crate", size=(0.4, 0.4, 0.2), position=(0, 0, 0.1), density=1000.0):
    return lw.Body(name, lw.Box(*size), density=density, position=position)


def slope(angle, direction):
    x, y = math.sin(angle) * math.cos(direction), math.sin(angle) * math.sin(direction)
    return G * x, G * y, -G * math.cos(angle)


@pytest.mark.parametrize("direction", np.linspace(0.0, 1.75 * math.pi, 8))
def test_a_box_on_a_slope_sticks_or_slides_as_coulomb_says(direction):
    angle = math.radians(30)
    gravity, mu = slope(angle, direction), math.tan(angle)
    run = lw.simulate(on_floor(crate(), gravity=gravity, friction=1.001 * mu), 10.0, step=STEP)
    moved = run["crate"].position[-1] - (0, 0, 0.1)
    assert np.abs(moved[:2]).max() < 1e-9
    assert abs(moved[2]) < 1e-6
    run = lw.simulate(on_floor(crate(), gravity=gravity, friction=0.999 * mu), 10.0, step=STEP)
    way = 0.5 * G * (math.sin(angle) - 0.999 * mu * math.cos(angle)) * 100.0
    assert np.linalg.norm(run["crate"].position[-1, :2]) == pytest.approx(way, rel=1e-7)


def test_a_ball_goes_over_from_sliding_to_rolling():
    ball = lw.Body("ball", lw.Sphere(0.1), density=1000, position=(0, 0, 0.1))
    m = on_floor(ball, friction=0.3)
    model = m.compile()
    v = np.zeros(6)
    v[3] = 3.0
    run = lw.simulate(model, 2.0, lw.State(model.q_drawn, v), step=STEP)
    speed = run["ball"].velocity[:, 0]
    assert speed[-1] == pytest.approx(3.0 * 5 / 7, abs=1e-7)
    k = int(np.flatnonzero(np.abs(speed - speed[-1]) < 1e-6)[0])
    assert run.time[k] == pytest.approx(2.0 / 7.0 * 3.0 / (0.3 * G), abs=STEP)
    # while it slides, it slows down by mu g
    assert speed[5] - speed[4] == pytest.approx(-0.3 * G * STEP, rel=1e-7)


@pytest.mark.parametrize("density", [1.0, 1e3, 1e6])
def test_a_box_at_rest_stays_where_it_is(density):
    run = lw.simulate(on_floor(crate(density=density)), 2.0, step=STEP)
    assert np.abs(run["crate"].position - (0, 0, 0.1)).max() < 1e-6


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
def test_a_stack_stands_whatever_is_on_top(ratio):
    boxes = [crate(f"b{k}", (0.2, 0.2, 0.2), (0, 0, 0.1 + 0.2 * k)) for k in range(10)]
    boxes.append(crate("top", (0.2, 0.2, 0.2), (0, 0, 2.1), 1000.0 * ratio))
    run = lw.simulate(on_floor(*boxes), 1.0, step=STEP)
    for k, body in enumerate(boxes):
        assert np.abs(run[body.name].position[-1] - (0, 0, 0.1 + 0.2 * k)).max() < 1e-5
    assert not run.report.warnings


def test_a_planar_box_slides_as_far_as_friction_lets_it():
    m = lw.Mechanism("plane", space="plane")
    m.add(lw.Body("box", lw.Box(0.4, 0.2, 0.1), density=1000, position=(0, 0.1)))
    m.ground.add(lw.Plane(normal=(0, 1, 0)))
    m.add(lw.Contact("contact"))
    model = m.compile()
    run = lw.simulate(model, 1.0, lw.State(model.q_drawn, np.array([0.0, 1.0, 0.0])), step=1e-3)
    assert run["box"].position[-1, 0] == pytest.approx(0.5 / (0.5 * G), rel=1e-5)
    assert run["box"].position[-1, 1] == pytest.approx(0.1, abs=1e-6)


def test_a_closed_loop_falls_on_the_floor_and_stays_closed():
    m = lw.Mechanism("frame")
    bars = {
        "top": ((1, 0.1, 0.1), (0, 0, 1.2)),
        "right": ((0.1, 0.1, 1), (0.5, 0, 0.7)),
        "bottom": ((1, 0.1, 0.1), (0, 0, 0.2)),
        "left": ((0.1, 0.1, 1), (-0.5, 0, 0.7)),
    }
    made = {name: m.add(lw.Body(name, lw.Box(*s), density=500, position=p)) for name, (s, p) in bars.items()}
    names = list(made)
    for k, at in enumerate([(0.5, 0, 1.2), (0.5, 0, 0.2), (-0.5, 0, 0.2), (-0.5, 0, 1.2)]):
        a, b = made[names[k]], made[names[(k + 1) % 4]]
        m.add(lw.Revolute(f"pin{k}", a, b, at=at, axis=(0, 1, 0)))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 1.0, step=STEP)
    assert run.report.loop_gap < 1e-6
    assert run["bottom"].position[-1, 2] == pytest.approx(0.05, abs=1e-4)
    assert all(run[name].position[-1, 2] > 0.04 for name in names)


def test_steps_do_not_depend_on_samples_and_go_on_bit_for_bit():
    boxes = [crate(f"b{k}", (0.2, 0.2, 0.2), (0.02 * k, 0, 0.15 + 0.25 * k)) for k in range(4)]
    model = on_floor(*boxes).compile()
    whole = lw.simulate(model, 1.0, step=STEP)
    sampled = lw.simulate(model, 1.0, step=STEP, times=[0.111, 0.5, 1.0])
    np.testing.assert_array_equal(sampled.q[-1], whole.q[-1])
    first = lw.simulate(model, 0.5, step=STEP)
    second = lw.simulate(model, 0.5, first, step=STEP)
    np.testing.assert_array_equal(second.q[-1], whole.q[-1])
    sim = lw.Simulation(model, step=STEP)
    for _ in range(60):
        sim.step()
    np.testing.assert_array_equal(sim.q, whole.q[-1])


def test_a_simulation_in_mid_contact_is_saved_and_restored(tmp_path):
    boxes = [crate(f"b{k}", (0.2, 0.2, 0.2), (0.03 * k, 0, 0.15 + 0.25 * k)) for k in range(3)]
    model = on_floor(*boxes).compile()
    sim = lw.Simulation(model, step=STEP)
    sim.step(n=20)
    sim.save(tmp_path / "now.lws")
    other = lw.Simulation(model, step=STEP)
    other.restore(tmp_path / "now.lws")
    third = sim.copy()
    for one in (sim, other, third):
        one.step(n=20)
    np.testing.assert_array_equal(sim.q, other.q)
    np.testing.assert_array_equal(sim.v, third.v)


def test_a_batch_gives_what_each_gives_alone():
    model = on_floor(crate(position=(0, 0, 0.3))).compile()
    q = np.tile(model.q_drawn, (6, 1))
    q[:, 2] = np.linspace(0.2, 0.7, 6)
    runs = lw.simulate(model, 0.5, q=q, v=np.zeros((6, 6)), step=STEP, times=[0.25, 0.5], threads=2)
    for k in range(6):
        alone = lw.simulate(model, 0.5, lw.State(q[k], np.zeros(6)), step=STEP, times=[0.25, 0.5])
        np.testing.assert_array_equal(runs[k].q, alone.q)


def test_variants_give_what_each_gives_alone():
    masses, times = [1.0, 20.0, 3.0], [0.25, 0.5]

    def dropped(mass):
        m = on_floor(lw.Body("crate", lw.Box(0.2, 0.2, 0.1), mass=mass, position=(0, 0, 0.05)))
        m.add(lw.Body("ball", lw.Sphere(0.05), mass=1.0, position=(0.02, 0, 0.3)))
        return m.compile()

    runs = lw.simulate(dropped(5.0), 0.5, vary={"crate.mass": masses}, step=STEP, times=times)
    for k, mass in enumerate(masses):
        alone = lw.simulate(dropped(mass), 0.5, step=STEP, times=times)
        np.testing.assert_array_equal(runs[k].q, alone.q)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "rk4"}, "method 'rk4' with contact"),
        ({"loops": "restored"}, "loops 'restored' with contact"),
    ],
)
def test_what_steps_with_contact_do_not_follow_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        lw.simulate(on_floor(crate()), 1.0, step=STEP, **options)


def ball_above(height, restitution, radius=0.1):
    ball = lw.Body("ball", lw.Sphere(radius), density=1000, position=(0, 0, radius + height))
    return on_floor(ball, friction=0.0, restitution=restitution)


@pytest.mark.parametrize("e", [0.5, 0.9])
def test_a_ball_bounces_as_high_as_its_restitution_says(e):
    run = lw.simulate(ball_above(1.0, e), 3.5, step=STEP)
    height = run["ball"].position[:, 2] - 0.1
    energy = G * height + 0.5 * run["ball"].velocity[:, 2] ** 2
    times = [time for time, _ in run.report.events]
    assert times[0] == pytest.approx(math.sqrt(2.0 / G), abs=1e-8)
    for n in range(4):
        k = int(np.searchsorted(run.time, times[n] + 1e-9))
        assert energy[k] / G == pytest.approx(e ** (2 * n + 2), rel=1e-8)


def test_a_ball_without_loss_bounces_for_ever():
    run = lw.simulate(ball_above(1.0, 1.0), 95.0, step=STEP)
    energy = G * (run["ball"].position[:, 2] - 0.1) + 0.5 * run["ball"].velocity[:, 2] ** 2
    assert len(run.report.events) > 100
    assert np.abs(energy / G - 1.0).max() < 1e-7
    assert (np.diff(energy) <= 1e-12).all()


def test_bounces_end_in_rest():
    run = lw.simulate(ball_above(0.5, 0.5), 3.0, step=STEP)
    assert run["ball"].position[-1, 2] == pytest.approx(0.1, abs=1e-6)
    assert np.abs(run["ball"].velocity[-1]).max() < 1e-8


SHOTS = [lw.Sphere(0.005), lw.Box(0.02, 0.01, 0.005), lw.Capsule(0.003, 0.03)]


def passed(shape, count):
    """Return how many of the shots at a thin wall come out behind it."""
    m = lw.Mechanism("shot", gravity=(0, 0, 0))
    m.add(lw.Body("shot", shape, density=7800, position=(-1, 0, 0.001)))
    m.ground.add(lw.Box(0.001, 100, 100))
    m.add(lw.Contact("contact"))
    model, through = m.compile(), 0
    generator = np.random.default_rng(4)
    for _ in range(count):
        speed, spin = 10.0 ** generator.uniform(1, 3), generator.choice([0.0, 10.0, 100.0, 1000.0])
        state = model.state()
        q, v = state.q.copy(), np.zeros(6)
        q[3:] = generator.normal(size=4)
        q[3:] /= np.linalg.norm(q[3:])
        direction = model.poses(q)["shot"].rotation.T @ (1.0, *generator.normal(scale=0.2, size=2))
        v[:3], v[3:] = spin * generator.normal(size=3), speed * direction
        run = lw.simulate(model, 2.0 / speed + 0.02, lw.State(q, v), step=STEP)
        through += bool(run["shot"].position[:, 0].max() >= 0.0)
    return through


@pytest.mark.parametrize("count", [60, pytest.param(3_400, marks=pytest.mark.soak)])
@pytest.mark.parametrize("shape", SHOTS, ids=lambda shape: type(shape).__name__)
def test_no_shot_passes_a_thin_wall(shape, count):
    assert passed(shape, count) == 0


def test_a_fast_body_that_misses_is_not_held_up():
    m = lw.Mechanism("miss", gravity=(0, 0, 0))
    m.add(lw.Body("shot", lw.Sphere(0.005), density=7800, position=(-1, 0.2, 0)))
    m.ground.add(lw.Box(0.3, 0.3, 0.3))
    m.add(lw.Contact("contact"))
    model = m.compile()
    run = lw.simulate(model, 0.1, lw.State(model.q_drawn, np.array([0, 0, 0, 100.0, 0, 0])), step=STEP)
    np.testing.assert_allclose(run["shot"].position[-1], (9.0, 0.2, 0.0), atol=1e-9)


def test_joints_with_strong_damping_and_stiff_springs_come_to_rest():
    m = on_floor(crate(position=(2, 0, 0.1)))
    slider = m.add(lw.Body("slider", lw.Box(0.1, 0.1, 0.1), mass=0.1, position=(0, 0, 1)))
    m.add(lw.Prismatic("rail", m.ground, slider, axis=(1, 0, 0), damping=100.0, stiffness=1e4, rest=0.1))
    model = m.compile()
    run = lw.simulate(model, 2.0, model.state(velocities={"rail": 5.0}), step=STEP)
    assert run["rail"].position[-1] == pytest.approx(0.1, abs=1e-6)
    assert np.abs(run["rail"].velocity).max() < 6.0
