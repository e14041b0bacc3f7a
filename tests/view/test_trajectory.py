"""Poses at any time: exact at samples, near the truth between them."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.mechanism.placement import lifted
from linkwork.view.quaternion import from_vector, product, quaternion_rates
from linkwork.view.trajectory import Still, moment, recorded, small_turn_between, turn_between


def acrobat_start(model):
    return model.state(velocities={"bar": (1.0, 0.5, 0.2), "left elbow": 1.0})


@pytest.fixture(scope="module")
def run():
    model = examples.acrobat().compile()
    return lw.simulate(model, 1.0, acrobat_start(model), every=0.02)


def test_at_a_sample_the_pose_is_that_of_the_recording(run):
    motion = recorded(run)
    for k in (0, 7, len(run) - 1):
        moment = motion.at(run.time[k])
        np.testing.assert_array_equal(moment.poses, run.derived("poses")[k])
        assert moment.t == run.time[k]


def test_between_samples_the_pose_is_near_the_true_one(run):
    motion = recorded(run)
    middles = (run.time[:-1] + run.time[1:]) / 2.0
    true = lw.simulate(run.model, 1.0, acrobat_start(run.model), times=middles)
    found = np.array([motion.at(t).poses for t in middles])
    coarse = run.derived("poses")[:-1]
    assert np.abs(found - true.derived("poses")).max() < 0.02 * np.abs(coarse - true.derived("poses")).max()


def test_quick_turns_are_those_of_the_careful_way():
    rng = np.random.default_rng(3)
    a = rng.normal(size=(50, 4))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    w = rng.normal(size=(50, 3))
    for h in (0.2, 0.1):
        b = product(from_vector(h * w), a) * rng.choice([-1.0, 1.0], size=(50, 1))  # either of the two signs
        careful = turn_between(a, h * w, b, h * w, 0.4)
        quick = small_turn_between(a, h * quaternion_rates(a, w), b, h * quaternion_rates(b, w), 0.4)
        quick *= np.sign((quick * careful).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(careful, product(from_vector(0.4 * h * w), a), atol=1e-12)
        np.testing.assert_allclose(quick, careful, atol=0.02 * h**4 * np.abs(w).max() ** 4)


def test_rotations_between_samples_are_rotations(run):
    R = recorded(run).at(0.3333).poses[:, :, :3]
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.tile(np.eye(3), (len(R), 1, 1)), atol=1e-12)


def test_whole_turns_between_samples_are_made():
    m = lw.Mechanism("wheel", gravity=(0, 0, 0))
    wheel = m.add(lw.Body("wheel", lw.Cylinder(1.0, 0.1), mass=1.0))
    m.add(lw.Revolute("axle", m.ground, wheel, axis=(0, 0, 1)))
    model = m.compile()
    run = lw.simulate(model, 2.0, model.state(velocities={"axle": 10.0}), every=1.0)  # 1.6 turns a sample
    R = recorded(run).at(0.25).poses[0, :, :3]
    np.testing.assert_allclose(R[:2, 0], (np.cos(2.5), np.sin(2.5)), atol=1e-6)


def test_times_outside_are_those_of_the_ends(run):
    motion = recorded(run)
    np.testing.assert_array_equal(motion.at(-1.0).poses, run.derived("poses")[0])
    np.testing.assert_array_equal(motion.at(99.0).poses, run.derived("poses")[-1])


def test_a_still_is_what_the_model_says():
    model = examples.four_bar().compile()
    q = model.state(A=0.4).q
    still = Still(moment(model, q))
    np.testing.assert_array_equal(still.at(3.0).poses, lifted(model.poses(q).array))
