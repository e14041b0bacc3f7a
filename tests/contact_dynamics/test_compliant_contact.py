"""Compliant contact in runs with an accuracy, against closed forms."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

import linkwork as lw

G = 9.81


def on_floor(*bodies, material, gravity=(0.0, 0.0, -G), law=None):
    m = lw.Mechanism("scene", gravity=gravity)
    for body in bodies:
        m.add(body)
        m.add(lw.Free(f"free {body.name}", m.ground, body))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact", material=material, law=law))
    return m.compile()


def ball(radius=0.1, height=None, density=1000.0):
    height = radius if height is None else height
    return lw.Body("ball", lw.Sphere(radius), density=density, position=(0, 0, height))


def crate(size=0.1):
    return lw.Body("crate", lw.Box(size, size, size), density=1000.0, position=(0, 0, size / 2))


def mass_of(model):
    return float(model.masses.sum())


@pytest.mark.parametrize("body", [ball, crate])
@pytest.mark.parametrize("stiffness", [1e4, 1e7])
def test_what_rests_sinks_in_by_its_weight_over_the_stiffness(body, stiffness):
    model = on_floor(body(), material=lw.Material(stiffness=stiffness, damping=0.7 * math.sqrt(stiffness)))
    run = lw.simulate(model, 5.0)
    sunk = model.q_drawn[2] - run.q[-1, 2]
    assert sunk == pytest.approx(mass_of(model) * G / stiffness, rel=1e-6)


def test_a_polygon_in_the_plane_sinks_in_as_a_box_does():
    m = lw.Mechanism("plane", space="plane")
    box = m.add(lw.Body("box", lw.Box(0.2, 0.1, 0.1), density=1000, position=(0, 0.05)))
    m.add(lw.Free("free", m.ground, box))
    m.ground.add(lw.Plane((0, 1, 0)))
    m.add(lw.Contact("contact", material=lw.Material(stiffness=1e5, damping=500)))
    run = lw.simulate(m, 3.0)
    assert 0.05 - run.q[-1, 1] == pytest.approx(2.0 * G / 1e5, rel=1e-6)


@pytest.mark.parametrize("speed", [0.1, 3.0])
def test_the_impact_of_an_elastic_ball_is_that_of_hertz(speed):
    """m v^2 / 2 = 2/5 k d^(5/2), and the time is the integral of dx / v."""
    radius, young, poisson = 0.1, 1e7, 0.3
    model = on_floor(ball(radius), material=lw.Material(young=young, poisson=poisson), gravity=(0, 0, 0))
    m = mass_of(model)
    k = 4 / 3 * young / (1 - poisson**2) * math.sqrt(radius)
    deepest = (5 * m * speed**2 / (4 * k)) ** 0.4
    # x = 1 - s^2 takes the singularity at the turning point away
    share, _ = quad(lambda s: 2 * s / math.sqrt(1 - (1 - s * s) ** 2.5), 0, 1, epsabs=1e-13)
    lasts = 2 * deepest / speed * share
    above = 0.1 * speed * lasts
    start = model.state(velocities={"free ball": (0, 0, 0, 0, 0, -speed)})
    start.q[2] += above
    noted = [
        lw.Event("turns", lambda t, q, v: v[5], direction=1, action="note"),
        lw.Event("leaves", lambda t, q, v: q[2] - radius, direction=1, action="note"),
    ]
    run = lw.simulate(model, 2.0 * lasts, start, events=noted)
    when = {name: t for t, name in run.report.events}
    assert when["turns"] - above / speed == pytest.approx(0.5 * lasts, rel=1e-6)
    assert when["leaves"] - above / speed == pytest.approx(lasts, rel=1e-6)
    assert run.v[-1, 5] == pytest.approx(speed, rel=1e-7)
    half = lw.simulate(model, above / speed + 0.5 * lasts, start)
    assert radius - half.q[-1, 2] == pytest.approx(deepest, rel=1e-6)


@pytest.mark.parametrize("dissipation", [0.02, 0.1])
def test_the_restitution_of_hunt_and_crossley(dissipation):
    """For slow impacts e = 1 - 2/3 a v; the next term of the series is of the order of (a v)^2."""
    speed = 1.0
    model = on_floor(ball(), material=lw.Material(stiffness=1e5, dissipation=dissipation), gravity=(0, 0, 0))
    start = model.state(velocities={"free ball": (0, 0, 0, 0, 0, -speed)})
    run = lw.simulate(model, 0.1, start)
    assert run.v[-1, 5] / speed == pytest.approx(
        1 - 2 / 3 * dissipation * speed, abs=(dissipation * speed) ** 2
    )
    assert run.v[-1, 5] / speed > 1 - 2 / 3 * dissipation * speed


def test_a_spring_and_a_damper_never_pull():
    """A damper alone would hold on to what departs: here the restitution is above that of the oscillator."""
    law = lw.contact_laws.linear
    assert law(1e-3, -10.0, 1e4, 100.0) == 0.0
    assert law(1e-3, 1.0, 1e4, 100.0) == 110.0


def test_a_stiff_material_takes_no_more_steps_than_a_soft_one():
    counts = []
    for stiffness in (1e5, 1e9):
        model = on_floor(ball(height=0.2), material=lw.Material(stiffness=stiffness))
        run = lw.simulate(model, 1.0)
        counts.append(run.report.accepted)
        assert run.energy_error < 1e-8
    assert counts[1] < 1.5 * counts[0]


def test_energy_never_grows():
    rng = np.random.default_rng(3)
    for _ in range(5):
        model = on_floor(
            crate(), material=lw.Material(stiffness=1e5, dissipation=0.2, friction=rng.uniform(0.1, 1))
        )
        start = model.state(velocities={"free crate": rng.normal(size=6) * (3, 3, 3, 1, 1, 1)})
        start.q[2] += 0.2
        run = lw.simulate(model, 1.0, start, accuracy=1e-9)
        # the energy of the bodies, and of the springs: k d^2 / 2 for each corner's share
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.05
        energy = []
        for q, v in zip(run.q, run.v, strict=True):
            pose = model.poses(q)["crate"]
            depth = np.maximum(-(pose.rotation @ corners.T)[2] - pose.position[2], 0.0)
            energy.append(model.energy(q, v) + 0.5 * 1e5 / 4 * (depth**2).sum())
        assert np.diff(energy).max() < 1e-7 * energy[0]


def slope(angle, direction):
    x, y = math.sin(angle) * math.cos(direction), math.sin(angle) * math.sin(direction)
    return G * x, G * y, -G * math.cos(angle)


@pytest.mark.parametrize("direction", [0.0, 0.7])
def test_a_compliant_box_on_a_slope_sticks_or_slides_as_coulomb_says(direction):
    angle = math.radians(30)
    gravity, mu = slope(angle, direction), math.tan(angle)
    pad = lw.Material(friction=1.001 * mu, stiffness=1e5, damping=600)
    model = on_floor(crate(), material=pad, gravity=gravity)
    settled = lw.simulate(model, 3.0)
    run = lw.simulate(model, 10.0, settled)
    assert np.abs(run.q[-1, :3] - settled.q[-1, :3]).max() < 1e-9
    model = on_floor(
        crate(), material=lw.Material(friction=0.999 * mu, stiffness=1e5, damping=600), gravity=gravity
    )
    settled = lw.simulate(model, 1.0)
    run = lw.simulate(model, 10.0, settled)
    a = G * (math.sin(angle) - 0.999 * mu * math.cos(angle))
    way = np.linalg.norm(settled.v[-1, 3:]) * 10 + 0.5 * a * 100
    assert np.linalg.norm(run.q[-1, :2] - settled.q[-1, :2]) == pytest.approx(way, rel=1e-6)


def test_a_sliding_ball_comes_to_roll_and_does_not_slip_any_more():
    k, speed = 1e7, 2.0
    model = on_floor(ball(), material=lw.Material(friction=0.3, stiffness=k, damping=5e3))
    start = model.state(velocities={"free ball": (0, 0, 0, speed, 0, 0)})
    depth = mass_of(model) * G / k
    start.q[2] -= depth
    run = lw.simulate(model, 1.0, start, method="dop853")
    lever = 0.1 - 0.5 * depth  # friction acts halfway between the surfaces
    turning, moving = np.linalg.norm(run.v[-1, :3]), np.linalg.norm(run.v[-1, 3:])
    assert moving == pytest.approx(turning * lever, rel=1e-9)
    # about the contact the angular momentum stays: m r v - I w = m r v0
    inertia = 0.4 * 0.1**2
    assert moving == pytest.approx(speed * lever**2 / (lever**2 + inertia), rel=1e-7)


def test_resistance_to_rolling_stops_a_ball():
    """On level ground it is slowed by the torque rho N alone: 7/5 m a = m g rho / r."""
    rolling, speed = 1e-3, 0.2
    model = on_floor(ball(), material=lw.Material(friction=0.5, stiffness=1e7, damping=5e3, rolling=rolling))
    start = model.state(velocities={"free ball": (0, speed / 0.1, 0, speed, 0, 0)})
    start.q[2] -= mass_of(model) * G / 1e7
    slowing = 5 / 7 * G * rolling / 0.1
    run = lw.simulate(
        model, 1.2 * speed / slowing, start, times=[0.5 * speed / slowing, 1.2 * speed / slowing]
    )
    assert np.linalg.norm(run.v[0, 3:]) == pytest.approx(0.5 * speed, rel=1e-4)
    assert np.linalg.norm(run.v[-1]) < 1e-9
    assert run.q[-1, 0] == pytest.approx(0.5 * speed**2 / slowing, rel=1e-4)


def test_static_friction_holds_more_than_sliding_friction():
    angle = math.radians(20)
    held = lw.Material(friction=0.3, static_friction=0.5, stiffness=1e5, damping=600)
    slides = lw.Material(friction=0.3, stiffness=1e5, damping=600)
    ends = []
    for material in (held, slides):
        model = on_floor(crate(), material=material, gravity=slope(angle, 0.0))
        ends.append(lw.simulate(model, 1.0).q[-1, 0])
    assert abs(ends[0]) < 1e-3
    assert ends[1] == pytest.approx(0.5 * G * (math.sin(angle) - 0.3 * math.cos(angle)), rel=1e-2)


def test_the_sticky_law_holds_what_would_bounce():
    stiff = lw.Material(stiffness=1e5, damping=2e4)
    top = []
    for law in (lw.contact_laws.linear, lw.contact_laws.sticky):
        model = on_floor(ball(height=0.3), material=lw.Material(stiffness=1e5, damping=100), law=law)
        run = lw.simulate(model, 0.6, every=0.01)
        top.append(run.q[run.time > 0.3, 2].max())
    assert top[1] < top[0]
    model = on_floor(ball(height=0.3), material=stiff, law=lw.contact_laws.sticky)
    run = lw.simulate(model, 1.0)
    assert run.q[-1, 2] == pytest.approx(0.1 - mass_of(model) * G / 1e5, abs=1e-6)


@pytest.mark.parametrize("density", [10.0, 1e5])
def test_the_variable_spring_takes_the_felt_mass(density):
    """It sinks in by g time^2 / 2, whatever its mass."""
    model = on_floor(ball(density=density), material=lw.Material(), law=lw.contact_laws.recovering)
    run = lw.simulate(model, 1.0)
    assert 0.1 - run.q[-1, 2] == pytest.approx(0.5 * G * 0.01**2, rel=1e-6)


def test_the_felt_mass_is_that_of_all_that_is_joined():
    """A rod on a hinge is felt as I / r^2 at its tip."""

    def law(depth, rate, mass):
        return 1e3 * mass * depth

    m = lw.Mechanism("rod")
    rod = m.add(
        lw.Body(
            "rod",
            lw.Inertia(2.0, (0.5, 0, 0), np.diag((0.01, 0.2, 0.2))),
            collisions=[lw.Sphere(0.1, position=(1, 0, 0))],
        )
    )
    m.add(lw.Revolute("hinge", m.ground, rod, axis=(0, 1, 0)))
    m.ground.add(lw.Plane(position=(0, 0, -0.09)))
    m.add(lw.Contact("contact", (rod, m.ground), material=lw.Material(friction=0.0), law=law))
    model = m.compile()
    a = model.motion(np.zeros(1), np.zeros(1))
    inertia = 0.2 + 2.0 * 0.25
    # depth 0.01 at r = 1: a torque 1e3 m_felt 0.01 r, with m_felt = I / r^2
    assert -a[0] == pytest.approx(1e3 * 0.01 - 2.0 * G * 0.5 / inertia, rel=1e-9)


def test_a_law_of_ones_own_in_a_line():
    model = on_floor(
        ball(),
        material=lw.Material(stiffness=1e5),
        law=lambda depth, rate, stiffness, a=0.5: stiffness * depth * (1 + a * rate),
    )
    run = lw.simulate(model, 3.0, accuracy=1e-6)
    assert 0.1 - run.q[-1, 2] == pytest.approx(mass_of(model) * G / 1e5, rel=1e-3)
    q, v = model.q_drawn.copy(), np.zeros(6)
    q[2], v[5] = 0.099, -2.0
    force = 1e5 * 0.001 * (1 + 0.5 * 2.0)
    assert model.motion(q, v)[5] == pytest.approx(force / mass_of(model) - G, rel=1e-9)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda depth, slip: depth, "'slip'"),
        (lambda rate: rate, "depth"),
        (lambda depth, stiffness: depth, "stiffness"),
        (lambda depth: (depth, depth), "number"),
        (lambda depth: math.sqrt(depth), "traced"),
        (lambda *args: 0.0, "names"),
    ],
)
def test_laws_that_cannot_be_are_refused(law, words):
    with pytest.raises(lw.ModelError, match=words):
        lw.simulate(on_floor(ball(), material=lw.Material(), law=law), 0.1)


def test_contact_forces_of_bodies_hold_their_weight():
    angle = 0.3
    model = on_floor(
        crate(), material=lw.Material(stiffness=1e5, damping=600, friction=0.6), gravity=slope(angle, 0.0)
    )
    run = lw.simulate(model, 3.0)
    force = model.contact_forces(run.q[-1], run.v[-1])[0, 3:]
    turned = model.poses(run.q[-1])["crate"].rotation
    assert turned @ force == pytest.approx(-mass_of(model) * np.array(slope(angle, 0.0)), abs=1e-6)
    many = model.contact_forces(run.q[-5:], run.v[-5:])
    assert many.shape == (5, 1, 6)
    assert many[-1, 0, 3:] == pytest.approx(force)


POINT = (0.05, 0.02)  # of the rocker, where its ball is


def four_bar_on_ground(law=None, material=None):
    """A four-bar whose rocker has a ball that touches ground, 1 mm deep."""
    m = lw.examples.four_bar()
    model = m.compile()
    name = model.body_names[-1]
    m.bodies[name].collisions = [lw.Sphere(0.02, position=(*POINT, 0.0))]
    place = np.array((model.poses(model.q_drawn)[name] @ lw.planar.Frame(POINT)).position)
    m.ground.add(lw.Plane((0, 1, 0), offset=float(place[1]) - 0.019))
    m.add(lw.Contact("contact", (name, m.ground), law=law, material=material))
    return m.compile(), name


def test_contact_in_a_closed_loop():
    """It comes from above, turns round on the ground, and goes back."""
    model, name = four_bar_on_ground(material=lw.Material(stiffness=1e5, damping=10, friction=0.2))
    joint = model.joint_names[0]
    down = model.jacobian(model.q_drawn, name, POINT)[2] @ model.state(velocities={joint: 1.0}).v
    start = model.state(velocities={joint: -math.copysign(3.0, down)})
    run = lw.simulate(model, 0.5, start)
    assert run.report.loop_gap < 1e-9
    assert run.energy_error < 1e-8
    assert model.kinetic_energy(run.q[-1], run.v[-1]) > 0.0


def test_the_felt_mass_in_a_closed_loop_is_that_of_the_model():
    """A push of 7 times the felt mass accelerates the point by 7 m/s^2."""
    moved = []
    for law in (lambda depth: 0.0 * depth, lambda depth, mass: 7.0 * mass, lambda depth: 50.0):
        model, name = four_bar_on_ground(law, lw.Material(friction=0.0))
        moved.append(model.motion(model.q_drawn, np.zeros(model.nv)))
    up = model.jacobian(model.q_drawn, name, POINT)[2]  # turning, x, y
    assert up @ (moved[1] - moved[0]) == pytest.approx(7.0, rel=1e-9)
    felt = model.felt_inertia(model.q_drawn, name, POINT, direction=(0, 1))
    assert 50.0 / (up @ (moved[2] - moved[0])) == pytest.approx(float(felt), rel=1e-9)


def test_batches_have_the_bits_of_single_runs():
    model = on_floor(ball(height=0.2), material=lw.Material(stiffness=1e5, damping=100, friction=0.4))
    q, v = np.tile(model.q_drawn, (11, 1)), np.zeros((11, 6))
    q[:, 2] += np.linspace(0, 0.2, 11)
    v[:, 3] = np.linspace(0, 1, 11)
    runs = lw.simulate(model, 0.5, q=q, v=v)
    for k in (0, 4, 10):
        alone = lw.simulate(model, 0.5, lw.State(q[k], v[k]), times=runs[k].time)
        assert (runs[k].q == alone.q).all()


def test_variants_have_their_own_contacts():
    model = on_floor(ball(), material=lw.Material(stiffness=1e5, damping=500))
    masses = np.array([1.0, 2.0, 5.0])
    runs = lw.simulate(model, 3.0, vary={"ball.mass": masses})
    sunk = [0.1 - run.q[-1, 2] for run in runs]
    assert sunk == pytest.approx(masses * G / 1e5, rel=1e-6)


def test_models_with_other_laws_have_other_digests():
    digests = {
        on_floor(ball(), material=lw.Material(stiffness=k, damping=c)).digest
        for k, c in ((1e5, 10), (1e6, 10), (1e5, 20))
    }
    assert len(digests) == 3


def test_more_contacts_than_may_stick_are_counted():
    rows = [
        lw.Body(f"b{k}", lw.Box(0.1, 0.1, 0.1), density=1000, position=(0.2 * k, 0, 0.05)) for k in range(41)
    ]
    model = on_floor(*rows, material=lw.Material(stiffness=1e5))
    said = model.compliant_contacts.crowd(model.body_names, model.poses(model.q_drawn).array)
    assert "164 contacts touch" in said
    few = on_floor(crate(), material=lw.Material(stiffness=1e5))
    assert few.compliant_contacts.crowd(few.body_names, few.poses(few.q_drawn).array) == ""


def under_root(depth, stiffness):
    return stiffness * depth * lw.sqrt(1e-3 - depth)


def into_nothing(depth, stiffness):
    return stiffness * depth / (depth - depth)


@pytest.mark.parametrize("step", [None, 1 / 60])
def test_a_law_that_gives_no_number_is_named_with_its_contact(step):
    m = lw.Mechanism("drop")
    soft = lw.Material(stiffness=1e4)
    m.add(lw.Body("ball", lw.Sphere(0.1), density=1000, position=(0, 0, 0.5), material=soft))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("pad", law=under_root))
    with pytest.raises(lw.SimulationError, match="contact 'pad': its law 'under_root' gives nan at depth"):
        lw.simulate(m, 1.0, step=step)
    m.contacts["pad"].law = into_nothing
    with pytest.raises(lw.ModelError, match="contact 'pad': its law 'into_nothing' raises ZeroDivisionError"):
        lw.simulate(m, 1.0, step=step)
