"""Simulations in the coordinates of all bodies, with any constraint, load and event."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.kinematics import newton
from linkwork.kinematics.driver_forces import BodyStates, required
from linkwork.kinematics.equation_system import system_of
from linkwork.kinematics.maximal_dynamics import MaximalDynamics


def sprung_four_bar():
    m = lw.examples.four_bar()
    m.add(lw.Spring("spring", m["coupler"], m.ground, on_child=(0, 0.5), stiffness=40.0, damping=0.5))
    m.joints["D"].damping = 0.01
    return m


def pendulum():
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body.from_points("bob", [1.0, 0.5], [(0, 0, -1), (0, 0.1, -0.9)]))
    m.add(lw.Revolute("pin", m.ground, bob, axis=(0, 1, 0)))
    return m


def test_a_simulation_agrees_with_the_recursive_one():
    model = sprung_four_bar().compile()
    state = model.state(velocities={"A": 3.0})
    times = [0.0, 0.1, 0.4]
    run = lw.simulate(model, 0.4, state, times=times, accuracy=1e-10)
    motion = lw.simulate_maximal(model, 0.4, state, times=times, accuracy=1e-10)
    assert motion["A"].position == pytest.approx(run["A"].position, abs=1e-7)
    assert motion["A"].velocity == pytest.approx(run["A"].velocity, abs=1e-6)
    assert motion["B"].reaction.force == pytest.approx(np.asarray(run["B"].reaction.force), abs=1e-5)


def test_a_law_of_all_coordinates_is_a_load():
    m = pendulum()
    m.add(lw.Feedback("hold", "pin", lambda t, q, v: -3.0 * q["pin"] - 0.5 * v[0]))
    state = m.compile().state(pin=0.4)
    run = lw.simulate(m, 1.0, state, every=0.25, accuracy=1e-10)
    motion = lw.simulate_maximal(m, 1.0, state, every=0.25, accuracy=1e-10)
    assert motion.time == pytest.approx(run.time)
    assert motion["pin"].position == pytest.approx(run["pin"].position, abs=1e-7)


def test_samples_are_those_asked_for():
    m = pendulum()
    assert lw.simulate_maximal(m, 0.3, every=0.1).time == pytest.approx([0, 0.1, 0.2, 0.3])
    steps = lw.simulate_maximal(m, 0.3).time
    assert steps[0] == 0.0
    assert steps[-1] == 0.3
    with pytest.raises(ValueError, match="simulate_maximal: times from 0 to 1 s reach out of the run"):
        lw.simulate_maximal(m, 0.3, times=[0.0, 1.0])


def test_an_event_stops_where_it_is():
    m = pendulum()
    state = m.compile().state(pin=0.5)
    options = {"events": [lw.Event("down", lambda t, q, v: q["pin"], direction=-1)], "accuracy": 1e-10}
    run = lw.simulate(m, 5.0, state, **options)
    motion = lw.simulate_maximal(m, 5.0, state, **options)
    assert [event.name for event in motion.events] == ["down"]
    assert motion.events[0].time == pytest.approx(run.final.t, abs=1e-8)
    assert motion.time[-1] == motion.events[0].time
    assert abs(motion["pin"].position[-1]) < 1e-9


@pytest.mark.parametrize("of", ["joint", "body", None])
def test_events_are_noted_each_time(of):
    m = pendulum()
    quantity = {
        "joint": lambda t, q, v: q,
        "body": lambda body, t: body.to_world((0.0, 0.0, -1.0))[0],
        None: lambda t, q, v: q[0],
    }[of]
    event = lw.Event("down", quantity, of={"joint": "pin", "body": m["bob"], None: None}[of], action="note")
    state = m.compile().state(pin=0.5)
    run = lw.simulate(m, 4.0, state, events=[event], accuracy=1e-10)
    motion = lw.simulate_maximal(m, 4.0, state, events=[event], accuracy=1e-10, times=[0.0, 4.0])
    wanted = [time for time, _ in run.report.events]
    assert [each.time for each in motion.events] == pytest.approx(wanted, abs=1e-8)
    assert len(wanted) > 2
    assert list(motion.time) == [0.0, 4.0]


def test_an_action_gives_the_state_to_go_on_from():
    """A ball that bounces: impacts in closed form."""
    m = lw.Mechanism("ball")
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), density=1000, position=(0, 0, 1)))
    m.add(lw.Prismatic("height", m.ground, ball, at=(0, 0, 0), axis=(0, 0, 1)))
    m.remove("height")
    m.add(lw.Prismatic("height", m.ground, ball, axis=(0, 0, 1)))

    def bounce(t, q, v):
        return q, [-0.8 * v["height"]]

    event = lw.Event("impact", lambda t, q, v: q["height"] + 1.0, direction=-1, action=bounce)
    motion = lw.simulate_maximal(m, 1.5, events=[event])
    fall = np.sqrt(2 / 9.81)
    assert [each.time for each in motion.events] == pytest.approx([fall, fall * (1 + 1.6)], abs=1e-9)
    assert motion["ball"].position[:, 2].min() > -1e-9


def test_a_mechanism_that_cannot_be_compiled_has_events_too():
    m = lw.Mechanism("pendulum", space="plane")
    bob = m.add(lw.Body.from_points("bob", [1.0, 1.0], [(0.1, 0), (-0.1, 0)], position=(1, 0)))
    m.add(lw.Absolute("level", bob, angle=0.0))
    m.add(lw.PointOnCurve("wire", m.ground, bob, lambda s: [lw.cos(s), lw.sin(s)], interval=(-3, 3)))
    lowest = lw.Event("lowest", lambda body, t: body.position[0], of=bob)
    motion = lw.simulate_maximal(m, 3.0, events=[lowest], accuracy=1e-9)
    assert motion["bob"].position[-1] == pytest.approx([0, -1], abs=1e-8)
    speed = np.linalg.norm(motion["bob"].velocity[-1])
    assert speed == pytest.approx(np.sqrt(2 * 9.81), abs=1e-6)
    acting = lw.Event("lowest", lambda body, t: body.position[0], of=bob, action=lambda t, q, v: (q, v))
    with pytest.raises(lw.ModelError, match=r'event .lowest.: its action gives a state by joints.*"note"'):
        lw.simulate_maximal(m, 3.0, events=[acting])


def test_a_run_goes_on_from_the_end_of_another():
    m = sprung_four_bar()
    state = m.compile().state(velocities={"A": 3.0})
    whole = lw.simulate_maximal(m, 0.4, state, times=[0.4], accuracy=1e-11)
    half = lw.simulate_maximal(m, 0.2, state, accuracy=1e-11)
    rest = lw.simulate_maximal(m, 0.2, half, times=[0.4], accuracy=1e-11)
    assert rest.q == pytest.approx(whole.q, abs=1e-8)
    assert rest.v == pytest.approx(whole.v, abs=1e-7)


def test_what_it_cannot_do_is_told():
    m = pendulum()
    with pytest.raises(ValueError, match="simulate_maximal: model is a str"):
        lw.simulate_maximal("pendulum", 1.0)
    with pytest.raises(ValueError, match="simulate_maximal: accuracy 0;"):
        lw.simulate_maximal(m, 1.0, accuracy=0)
    with pytest.raises(ValueError, match="simulate_maximal: duration nan"):
        lw.simulate_maximal(m, np.nan)
    with pytest.raises(ValueError, match="simulate_maximal: state is a list"):
        lw.simulate_maximal(m, 1.0, [1.0])


def test_a_mechanism_with_constraints_swings():
    """A mass on a Distance to ground is a pendulum."""
    m = lw.Mechanism("pendulum", space="plane")
    bob = m.add(lw.Body.from_points("bob", [1.0, 1.0], [(0.1, 0), (-0.1, 0)], position=(1, 0)))
    m.add(lw.Distance("rod", m.ground, bob, 1.0))
    m.add(lw.Absolute("level", bob, angle=0.0))
    motion = lw.simulate_maximal(m, 1.0, accuracy=1e-9, every=0.1)
    energy = 0.5 * (motion["bob"].velocity ** 2).sum(axis=1) + 9.81 * motion["bob"].position[:, 1]
    assert np.abs(energy).max() < 1e-6
    assert np.abs(np.linalg.norm(motion["bob"].position, axis=1) - 1.0).max() < 1e-12


def test_many_bodies_are_solved_sparse():
    """A chain of 60 hinges: energy stays."""
    m = lw.examples.chain(60)
    motion = lw.simulate_maximal(m, 0.02, times=[0.0, 0.02], accuracy=1e-8)
    run = lw.simulate(m, 0.02, times=[0.0, 0.02], accuracy=1e-10)
    for name in ("pin0", "pin30", "pin59"):
        assert motion[name].position == pytest.approx(run[name].position, abs=1e-8)


def redundant():
    """Return a four-bar of spatial hinges, with a motor's rotor, damping and a spring."""
    m = lw.examples.four_bar(space="space")
    m.joints["A"].armature, m.joints["D"].damping = 0.02, 0.3
    m.add(lw.Spring("spring", m["coupler"], m.ground, on_child=(0, 0.5, 0.1), stiffness=40.0))
    return m


@pytest.mark.parametrize("build", [sprung_four_bar, pendulum, redundant, lw.examples.bennett])
@pytest.mark.parametrize("many", [False, True])
def test_accelerations_and_forces_are_the_least_of_newton_and_euler(build, many):
    """Against the same equations from inverse dynamics, which is affine in accelerations, solved by SVD."""
    system = system_of(build())
    q = system.assemble()
    system.place(q)
    n, A = system.n, system.matrix(q)
    v = np.random.default_rng(0).normal(size=n)
    v -= np.linalg.pinv(A, 1e-9) @ A @ v

    def forces(a):
        states = BodyStates(system, q[None], v[None], a[None])
        return required(system, states, np.array([0.3]))[0]

    h = forces(np.zeros(n))
    M = np.array([forces(unit) - h for unit in np.eye(n)]).T
    dynamics = MaximalDynamics(system)
    if many:  # as a large mechanism is solved
        dynamics._augmented = None
    a, found = dynamics(0.3, q, v)
    gamma = system.w.acceleration
    assert A @ a == pytest.approx(gamma, abs=1e-8 * np.abs(gamma).max() + 1e-9)
    assert M @ a + h == pytest.approx(A.T @ found, abs=1e-7 * np.abs(h).max())
    scaled = A * system.columns
    lengths = np.linalg.norm(scaled, axis=1)
    least = np.linalg.pinv((scaled / lengths[:, None]).T, 1e-9) @ ((M @ a + h) * system.columns) / lengths
    if not many:  # sparse factors do not say which of them are the least
        assert found == pytest.approx(least, abs=1e-6 * np.abs(least).max())
    rates = dynamics.rates(0.3, np.concatenate([q, v]))
    later = system.w
    later.q[:] = q
    newton.shift(later, 1e-6 * v / system.columns)
    assert rates[: system.nq] == pytest.approx((later.q - q) / 1e-6, abs=1e-5)
    assert (rates[system.nq :] == a).all()
