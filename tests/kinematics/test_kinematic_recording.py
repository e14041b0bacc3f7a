"""What kinematics returns has the words of a Recording."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.kinematics.body_quantities import position_rates
from linkwork.recording.derive import QUANTITIES, derive, formulas


def driven(space="plane"):
    m = lw.examples.four_bar() if space == "plane" else lw.examples.slider_crank()
    name = next(iter(m.joints))
    m.joints[name].damping = 0.2
    m.add(lw.Driver("motor", name, lambda t: 3 * t + 0.2 * lw.sin(5 * t)))
    body = next(iter(m.bodies.values()))
    m.add(lw.Spring("spring", body, m.ground, stiffness=40.0, rest=0.1))
    return m


@pytest.fixture(scope="module", params=["plane", "space"])
def motion(request):
    return lw.kinematics(driven(request.param), np.linspace(0, 4, 81))


def test_it_is_a_recording(motion):
    assert isinstance(motion, lw.Recording)
    assert motion.status == "DONE"
    assert "worst gap" in motion.summary()
    assert motion.to_dataframe("motor", "motor.power").shape == (81, 2)
    assert len(motion.plot("motor.position", "motor.power").axes) == 2


def test_the_words_of_a_simulation_give_the_same_numbers():
    """The same driven mechanism, compiled and simulated."""
    m = driven()
    run = lw.simulate(m.compile(), 0.6, every=0.1, accuracy=1e-11)
    found = lw.kinematics(m, run.time)
    turn = 2 * np.pi
    for name in m.bodies:
        gap = found[name].angle - run[name].angle
        np.testing.assert_allclose(gap - turn * np.round(gap / turn), 0.0, atol=1e-8)
        for word in ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"):
            a, b = getattr(found[name], word)[1:], getattr(run[name], word)[1:]
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * (1 + np.abs(b).max()), err_msg=word)
    np.testing.assert_allclose(found["motor"].force[1:], run["motor"].force[1:], rtol=1e-3)
    np.testing.assert_allclose(found["spring"].force, run["spring"].force, atol=1e-7)
    joint = next(iter(m.joints))
    np.testing.assert_allclose(found[joint].force[1:], run[joint].force[1:], rtol=1e-4)
    for word in ("kinetic_energy", "potential_energy", "momentum", "center_of_mass"):
        a, b = getattr(found, word)[1:], getattr(run, word)[1:]
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=word)
    assert found.traces("spring")[0].unit == run.traces("spring")[0].unit


def test_between_its_times_it_is_solved(motion):
    times = motion.time[:-1] + 0.013
    exact, now = lw.kinematics(motion.mechanism, times), motion.at(times)
    np.testing.assert_allclose(now.q, exact.q, atol=1e-11)
    np.testing.assert_allclose(now.a, exact.a, atol=1e-8)
    name = next(iter(motion.mechanism.joints))
    np.testing.assert_allclose(now[name].position, exact[name].position, atol=1e-11)  # turns are counted
    np.testing.assert_allclose(now["motor"].force, exact["motor"].force, atol=1e-7)
    assert motion.at(motion.time[7]).q.tobytes() == motion.q[7].tobytes()
    with pytest.raises(ValueError, match="outside the recording"):
        motion.at(4.1)


def test_one_sample_has_what_the_whole_motion_has(motion):
    one = motion.sample(50)
    names = {*QUANTITIES, "load/spring"} & {*formulas(motion.model), "load/spring"}
    for name in sorted(names - ({"angles"} if motion.layout.space == "space" else set())):
        whole = motion.derived(name)
        np.testing.assert_allclose(one.derived(name), whole[50], rtol=1e-9, atol=1e-9, err_msg=name)
    assert motion.derived("gaps").max() < 1e-11


def test_it_can_be_saved(motion, tmp_path):
    motion.save(tmp_path / "motion.lwr")
    loaded = lw.load(tmp_path / "motion.lwr")
    body, joint = next(iter(motion.mechanism.bodies)), next(iter(motion.mechanism.joints))
    if motion.layout.space == "plane":
        assert loaded[body].angle.tobytes() == motion[body].angle.tobytes()
    for word in ("position", "velocity", "acceleration", "force"):
        np.testing.assert_array_equal(getattr(loaded[joint], word), getattr(motion[joint], word))
    np.testing.assert_array_equal(loaded["motor"].power, motion["motor"].power)
    assert loaded.snapshot(1.0).svg.count("<polygon") == motion.snapshot(1.0).svg.count("<polygon")


def test_gears_keep_their_turns_at_every_sample():
    m = lw.Mechanism("gears", space="plane")
    for name in ("a", "b"):
        m.add(lw.Body(name, position=(0, 0)))
        m.add(lw.Revolute(f"pin {name}", m.ground, m[name], at=(0, 0)))
    m.add(lw.Gear("gear", "pin a", "pin b", 2.5))
    m.add(lw.Driver("motor", "pin a", lambda t: 2 * np.pi * t))
    motion = lw.kinematics(m, np.linspace(0, 3, 61))
    assert motion.loop_gaps["gear"].max() < 1e-11
    ratio = motion["pin b"].position[-1] / motion["pin a"].position[-1]
    assert motion.at(2.713)["pin b"].position == pytest.approx(ratio * 2 * np.pi * 2.713, abs=1e-10)


def test_systems_derive_what_models_do():
    system = lw.kinematics(driven(), [0.0]).model
    assert set(formulas(system)) >= {*QUANTITIES, "load"} - {"external", "inputs"}
    still = system.drawn(), np.zeros(system.n)
    assert position_rates(system, *still).tolist() == derive("position_rates", system, 0.0, *still).tolist()
