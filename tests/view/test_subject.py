"""What the page shows is what the recording says."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.view.subject_of import subject_of


def geared(space="space"):
    """Return two arms of which a driver turns the first, and a coupling the second."""
    flat = space == "plane"
    m = lw.Mechanism("geared", gravity=(0, -9.81) if flat else (0, -9.81, 0), space=space)
    axis = {} if flat else {"axis": (0, 0, 1)}

    def at(x, y):
        return (x, y) if flat else (x, y, 0)

    first = m.add(lw.Body("first", lw.Box(0.4, 0.05, 0.05), mass=2.0, position=at(0.2, 0)))
    second = m.add(lw.Body("second", lw.Box(0.3, 0.05, 0.05), mass=1.0, position=at(0.55, 0)))
    m.add(lw.Revolute("A", m.ground, first, at=at(0, 0), damping=0.3, **axis))
    m.add(lw.Revolute("B", first, second, at=at(0.4, 0), **axis))
    m.add(lw.Coupling("gear", "B", "A", -2.0))
    m.add(lw.Driver("motor", "A", lambda t: 1.5 * lw.sin(2 * t)))
    m.add(lw.Spring("spring", second, m.ground, on_child=at(0, -0.5), stiffness=30.0))
    return m


@pytest.fixture(scope="module", params=["space", "plane"])
def run(request):
    return lw.simulate(geared(request.param).compile(), 0.6, every=0.1)


def wide(array):
    """Return a torque and force of the plane as one of space."""
    return array if len(array) == 6 else np.array([0, 0, array[0], array[1], array[2], 0])


def test_reactions_on_the_page_are_those_of_the_recording(run):
    subject = subject_of(run)
    for k in (1, 4):
        shown = subject.reactions(subject.trajectory.at(run.time[k]))
        for name in ("A", "B"):
            told = [x[k] for x in run[name].reaction.scalars()]
            np.testing.assert_allclose(shown[name], wide(np.array(told)), rtol=1e-12, atol=1e-12)
        assert np.abs(shown["A"]).max() > 1.0


def test_the_driver_pushes_on_the_page_as_in_the_recording(run):
    subject = subject_of(run)
    k = 4
    moment = subject.trajectory.at(run.time[k])
    points, wrenches = subject.applied(moment, moment.world)
    turning = wrenches[np.abs(points).max(axis=1) < 1e-12, 2]  # at A: damping, and the driver
    assert sorted(turning) == pytest.approx(sorted([run["A"].force[k], run["motor"].force[k]]), rel=1e-12)
    center = run["second"].position[k]
    ((pull,),) = [wrenches[np.abs(points[:, : len(center)] - center).max(axis=1) < 1e-12, 3:]]
    assert np.linalg.norm(pull) == pytest.approx(abs(run["spring"].force[k]), rel=1e-12)


def test_gaps_on_the_page_are_those_of_their_time(run):
    subject = subject_of(run)
    k = 4
    gaps = subject.gaps(subject.trajectory.at(run.time[k]))
    assert set(gaps) == {"gear", "motor"}
    assert max(gaps.values()) < 1e-9
    assert gaps == {name: values[k] for name, values in run.loop_gaps.items()}


def test_a_driver_has_the_same_words_in_a_recording_as_in_kinematics(run):
    motor = run["motor"]
    np.testing.assert_allclose(motor.position, 1.5 * np.sin(2 * run.time))
    np.testing.assert_allclose(motor.velocity, 3.0 * np.cos(2 * run.time))
    np.testing.assert_allclose(motor.acceleration, -6.0 * np.sin(2 * run.time))
    np.testing.assert_allclose(motor.power, motor.force * motor.velocity)
    units = {name: run.traces(name)[0].unit for name in ("motor", "motor.position", "motor.power")}
    assert units == {"motor": "N m", "motor.position": "rad", "motor.power": "W"}


def test_every_channel_of_a_recording_has_a_curve(run):
    subject = subject_of(run)
    for name in subject.channels:
        times, traces = subject.curves([name])
        assert traces
        assert all(len(trace.values) == len(times) for trace in traces), name
