"""A recording between its samples."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import SimulationError


def spinning():
    """Return a box that flies, and an arm that swings on it: a quaternion, and an angle."""
    m = lw.Mechanism("spinning")
    box = m.add(lw.Body("box", lw.Box(0.3, 0.2, 0.1), mass=2.0))
    arm = m.add(lw.Body("arm", lw.Box(0.4, 0.05, 0.05), mass=0.5, position=(0.3, 0, 0)))
    m.add(lw.Free("fly", m.ground, box))
    m.add(lw.Revolute("pin", box, arm, at=(0.1, 0, 0), axis=(0, 0, 1)))
    model = m.compile()
    return model, model.state(velocities={"fly": (1.0, 2.0, 0.5, 0.1, 0.0, 3.0), "pin": 4.0})


@pytest.fixture(scope="module")
def run():
    return lw.simulate(*(spinning()[0], 1.0, spinning()[1]), accuracy=1e-12, every=0.02)


def test_at_a_sample_it_is_the_sample(run):
    for k in (0, 7, -1):
        now = run.at(run.time[k])
        assert now.q.tobytes() == run.q[k].tobytes()
        assert now.v.tobytes() == run.v[k].tobytes()
        assert now["arm"].position.tobytes() == run["arm"].position[k].tobytes()
        assert now["pin"].reaction.force.tolist() == run["pin"].reaction.force[k].tolist()


RUNS = {
    "steps of order 8": {},
    "order 5": {"method": "rkf45"},
    "implicit": {"method": "rodas", "accuracy": 1e-6},
    "coarse": {"accuracy": 1e-5},
    "fine": {"accuracy": 1e-12},
    "far apart": {"every": 0.5},
    "close": {"every": 0.01},
    "fixed steps": {"method": "rk4", "step": 2e-3, "every": 0.1},
    "two samples": {"times": [0.0, 1.0]},
}


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize(
    "make", [spinning, lambda: (lw.examples.steam_engine().compile(), None)], ids=["tree", "loops"]
)
def test_between_samples_it_is_as_accurate_as_the_run(make, options):
    model, state = make()
    run = lw.simulate(model, 1.0, state, **options)
    times = np.linspace(0.003, 0.997, 71)
    again = {word: value for word, value in options.items() if word not in ("every", "times")}
    asked = lw.simulate(model, 1.0, state, times=times, **again)
    found = run.at(times)
    accuracy = options.get("accuracy", 1e-8)
    np.testing.assert_allclose(found.q, asked.q, rtol=5 * accuracy, atol=5 * accuracy)
    np.testing.assert_allclose(found.v, asked.v, rtol=5 * accuracy, atol=50 * accuracy)
    np.testing.assert_allclose(found.energy, asked.energy, rtol=50 * accuracy)
    gaps = [gap.max() for gap in found.loop_gaps.values()]
    assert max(gaps, default=0.0) < 1e-13
    assert len(gaps) == len(model.loop_names)


def test_an_event_between_two_samples_is_not_lost():
    m = lw.Mechanism("ball", gravity=(0, 0, -9.81))
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0))
    m.add(lw.Prismatic("fall", m.ground, ball, axis=(0, 0, 1)))
    model = m.compile()
    bounce = lw.Event("bounce", lambda t, q, v: q[0], direction=-1, action=lambda t, q, v: (q, -0.8 * v))
    run = lw.simulate(model, 1.2, model.state(fall=1.0), events=[bounce], times=[0.0, 0.4, 1.2])
    fine = lw.simulate(model, 1.2, model.state(fall=1.0), events=[bounce], times=[0.1, 0.46, 0.7, 1.1])
    np.testing.assert_allclose(run.at(fine.time).q, fine.q, atol=1e-8)
    np.testing.assert_allclose(run.at(fine.time).v, fine.v, atol=1e-8)


def test_inputs_are_those_of_the_run():
    m = lw.examples.cart_pole()
    push = lw.Input("push", 0.0)
    m.add(lw.Motor("motor", "rail", lambda t, q, v: push * lw.cos(t)))
    model = m.compile()
    run = lw.simulate(model, 1.0, inputs={"push": 30.0}, every=0.5)
    exact = lw.simulate(model, 0.7, inputs={"push": 30.0}).final
    np.testing.assert_allclose(run.at(0.7).q, exact.q, atol=1e-8)
    runs = lw.simulate(model, 1.0, q=np.zeros((3, 2)), inputs={"push": [0.0, 30.0, 60.0]}, every=0.5)
    np.testing.assert_allclose(runs.at(0.7).q[1], exact.q, atol=1e-8)
    np.testing.assert_allclose(runs.at(0.7)["motor"].force, np.cos(0.7) * np.array([0, 30, 60]), atol=1e-12)


def test_quaternions_between_samples_have_length_one(run):
    q = run.at(np.linspace(0.0, 1.0, 97)).q
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1.0, rtol=1e-15)


def test_several_times_give_arrays(run):
    now = run.at([[0.1, 0.25], [0.31, 0.5]])
    assert now["pin"].position.shape == (2, 2)
    assert now["box"].pose.position.shape[-1] == 3 or len(now["box"].pose.position) == 3
    assert now["pin"].position[0, 1] == run.at(0.25)["pin"].position
    assert now.energy == pytest.approx(run.energy[0], rel=1e-5)


def test_the_usual_words_work_at_a_time(run):
    now = run.at(0.2345)
    assert np.shape(now["arm"].pose.rotation) == (3, 3)
    assert np.ndim(now["pin"].velocity) == 0
    assert now.traces("pin")[0].values == now["pin"].position


@pytest.mark.parametrize("t", [-1e-9, 1.0 + 1e-9, np.nan, [0.5, 2.0]])
def test_times_outside_are_refused(run, t):
    with pytest.raises(ValueError, match="is outside the recording, 0 to 1 s"):
        run.at(t)


def test_a_file_is_known_at_its_samples_only(run, tmp_path):
    run.save(tmp_path / "run.lwr")
    loaded = lw.load(tmp_path / "run.lwr")
    now = loaded.at(run.time[3])
    assert now["arm"].position.tobytes() == run["arm"].position[3].tobytes()
    with pytest.raises(SimulationError, match="between the samples of a file"):
        loaded.at(0.5 * (run.time[3] + run.time[4]))


def test_after_an_event_it_goes_on_from_the_new_state():
    m = lw.Mechanism("ball", gravity=(0, 0, -9.81))
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0))
    m.add(lw.Prismatic("fall", m.ground, ball, axis=(0, 0, 1)))
    model = m.compile()
    bounce = lw.Event("bounce", lambda t, q, v: q[0], direction=-1, action=lambda t, q, v: (q, -0.8 * v))
    run = lw.simulate(model, 0.8, model.state(fall=1.0), events=[bounce])
    hit = run.report.events[0][0]
    assert run.at(hit - 1e-6)["fall"].velocity < -4.0
    assert run.at(hit + 1e-6)["fall"].velocity > 3.0


@pytest.mark.parametrize("t", ["0.5", None, ["a"], [True]])
def test_times_that_are_no_numbers_are_refused(run, t):
    with pytest.raises(ValueError, match=r"at: t .* is not made of numbers"):
        run.at(t)
