"""Islands at rest fall asleep, cost no contacts, and wake by what happens to them."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact_dynamics.time_stepping.contact_state import ContactState
from linkwork.contact_dynamics.time_stepping.stepper import Stepper

STEP = 1 / 60


def scene(*bodies):
    m = lw.Mechanism("scene")
    made = lw.Material(friction=0.5)
    for body in bodies:
        body.material = made
        m.add(body)
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    return m


def stack(count=4, at=0.0):
    shapes = [lw.Box(0.4, 0.4, 0.2)] * count
    places = [(at, 0, 0.1 + 0.2 * k) for k in range(count)]
    return [
        lw.Body(f"box {at} {k}", shape, density=500, position=place)
        for k, (shape, place) in enumerate(zip(shapes, places, strict=True))
    ]


def ball(x=-3.0):
    return lw.Body("ball", lw.Sphere(0.2), density=3000, position=(x, 0, 0.2))


def rolling(model, speed):
    """Return a state in which the last body, a ball, rolls along x."""
    v = np.zeros(model.nv)
    v[-6:] = 0, speed / 0.2, 0, speed, 0, 0
    return ContactState(model.q_drawn.copy(), v, 0.0)


def steps(model, state, count, sleeps=True, inputs=()):
    stepper = Stepper(model)
    stepper.sleeps = sleeps
    contacts, sleepers = [], []
    for _ in range(count):
        stepper.step(state, STEP, np.array(inputs, float))
        contacts.append(len(stepper.found.points.gap))
        sleepers.append(np.count_nonzero(state.asleep.label >= 0))
    return np.array(contacts), np.array(sleepers)


def test_half_of_a_scene_sleeps_while_the_other_half_moves():
    model = scene(*stack(), ball()).compile()
    sleeping, awake = rolling(model, 0.1), rolling(model, 0.1)
    contacts, sleepers = steps(model, sleeping, 120)
    assert sleepers[-1] == 4
    assert contacts[-1] == 1  # that of the ball
    contacts, sleepers = steps(model, awake, 120, sleeps=False)
    assert (sleepers[-1], contacts[-1]) == (0, 17)
    np.testing.assert_array_equal(sleeping.q, awake.q)
    np.testing.assert_array_equal(sleeping.v, awake.v)


def test_a_sleeping_stack_that_is_hit_wakes():
    model = scene(*stack(), ball(x=-1.5)).compile()
    sleeping, awake = rolling(model, 3.0), rolling(model, 3.0)
    sleepers = steps(model, sleeping, 60)[1]
    steps(model, awake, 60, sleeps=False)
    assert sleepers.max() == 4
    assert sleepers[-1] == 0
    assert np.linalg.norm(sleeping.q[:3] - model.q_drawn[:3]) > 0.01
    np.testing.assert_allclose(sleeping.q, awake.q, atol=1e-6)


def test_only_the_island_that_is_hit_wakes():
    model = scene(*stack(2), *stack(2, at=5.0), ball(x=-1.5)).compile()
    state = rolling(model, 3.0)
    sleepers = steps(model, state, 45)[1]
    assert sleepers.max() == 4
    assert (state.asleep.label >= 0).tolist() == [False, False, True, True, False]


def test_a_load_that_begins_wakes_what_it_acts_on():
    m = scene(*stack(1), *stack(1, at=3.0), ball(x=-8.0))
    m.add(lw.Force("push", m["box 0.0 0"], lambda body, t: (lw.where(t < 1.0, 0.0, 300.0), 0.0, 0.0)))
    model = m.compile()
    state = rolling(model, 0.1)
    steps(model, state, 55)
    assert (state.asleep.label >= 0).tolist() == [True, True, False]
    steps(model, state, 30)
    assert (state.asleep.label >= 0).tolist() == [False, True, False]
    assert state.q[0] > 0.01


def test_what_sleeps_is_saved_and_restored(tmp_path):
    model = scene(*stack(), ball(x=-1.0)).compile()
    start = rolling(model, 1.0)
    sim = lw.Simulation(model, lw.State(start.q, start.v), step=STEP, record=False)
    sim.step(n=20)
    sim.save(tmp_path / "mid.lws")
    other = lw.Simulation(model, lw.State(start.q, start.v), step=STEP, record=False)
    other.restore(tmp_path / "mid.lws")
    for each in (sim, other):
        each.step(n=40)
    np.testing.assert_array_equal(sim.q, other.q)
    assert abs(sim.q[0]) > 1e-4


@pytest.mark.parametrize("sleeps", [True, False])
def test_a_stack_whose_support_is_taken_falls(sleeps):
    """The lowest box is pushed out by a fast ball; those above it wake as one island with it."""
    model = scene(*stack(3), ball(x=-1.5)).compile()
    state = rolling(model, 8.0)
    steps(model, state, 120, sleeps=sleeps)
    heights = state.q.reshape(-1, 7)[:3, 2]
    assert heights[2] < 0.45
