"""Forces and torques as arrows: what acts, where it acts; and names that can be read."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.view.arrow_shapes import turning_arrow
from linkwork.view.name_labels import readable
from linkwork.view.subject_of import subject_of

TURN = np.array(lw.rotation_z(0.4).rotation)


def applied(mechanism, state=None, t=0.0):
    """Return the points and wrenches that act on a mechanism."""
    from linkwork.view.drawing import drawing
    from linkwork.view.subject import Subject
    from linkwork.view.trajectory import Still, moment

    model = mechanism.compile()
    state = state or model.state()
    subject = Subject(drawing(model), Still(moment(model, state.q, state.v, t)), model)
    now = subject.trajectory.at(t)
    return subject.applied(now, now.world)


def free_box(*loads):
    m = lw.Mechanism("box", gravity=(0, 0, 0))
    shape = lw.Box(1, 1, 1, position=(0.5, 0, 0))
    box = m.add(lw.Body("box", shape, mass=2.0, position=(0, 0, 3), rotation=TURN))
    m.add(lw.Free("fly", m.ground, box))
    for load in loads:
        m.add(load(box))
    return m


def test_a_force_is_drawn_at_the_centre_of_mass_with_its_torque():
    m = free_box(lambda box: lw.Force("push", box, (0, 0, 5.0), at=(0, 0, 0)))
    points, wrenches = applied(m)
    centre = np.array([0, 0, 3]) + TURN @ (0.5, 0, 0)
    np.testing.assert_allclose(points, [centre], atol=1e-12)
    torque = np.cross(np.array([0, 0, 3]) - centre, (0, 0, 5.0))
    np.testing.assert_allclose(wrenches, [(*torque, 0, 0, 5.0)], atol=1e-12)


def test_a_torque_is_drawn_about_its_axis():
    m = free_box(lambda box: lw.Torque("twist", box, (1.0, -2.0, 3.0)))
    _, wrenches = applied(m)
    np.testing.assert_allclose(wrenches, [(1.0, -2.0, 3.0, 0, 0, 0)], atol=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_motor_is_drawn_at_its_joint(reverse):
    m = lw.Mechanism("arm", gravity=(0, 0, 0))
    arm = m.add(lw.Body("arm", lw.Box(1, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0.2)))
    ends = (arm, m.ground) if reverse else (m.ground, arm)
    m.add(lw.Revolute("pin", *ends, at=(0, 0, 0.2), axis=(0, 1, 0)))
    m.add(lw.Motor("motor", "pin", 4.0))
    points, wrenches = applied(m)
    np.testing.assert_allclose(points, [(0, 0, 0.2)], atol=1e-12)
    sense = -1.0 if reverse else 1.0  # what turns the ground forwards turns the arm back
    np.testing.assert_allclose(wrenches, [(0, 4.0 * sense, 0, 0, 0, 0)], atol=1e-12)


def test_the_motor_of_a_slide_pushes_along_it():
    m = lw.Mechanism("slide", space="plane", gravity=(0, 0))
    block = m.add(lw.Body("block", lw.Box(1, 0.1, 0.1), mass=1.0))
    m.add(lw.Prismatic("rail", m.ground, block, axis=(3, 4)))
    m.add(lw.Motor("motor", "rail", 10.0))
    _, wrenches = applied(m)
    np.testing.assert_allclose(wrenches, [(0, 0, 0, 6.0, 8.0, 0)], atol=1e-12)


def test_all_that_acts_gives_the_acceleration():
    """Newton and Euler, of a single body: what is drawn is what accelerates it."""
    m = free_box(
        lambda box: lw.Force("push", box, (1.0, 2.0, 5.0), at=(0.3, -0.2, 0.4)),
        lambda box: lw.Torque("twist", box, (0.3, 0.1, -0.2)),
    )
    model = m.compile()
    (point,), (wrench,) = applied(m)
    run = lw.simulate(model, 1e-4, accuracy=1e-10)
    w = run["box"].angular_velocity[-1] / 1e-4
    centre = (run["box"].velocity[-1] + np.cross(run["box"].angular_velocity[-1], point - (0, 0, 3))) / 1e-4
    np.testing.assert_allclose(centre, wrench[3:] / 2.0, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(w, wrench[:3] / (2.0 / 6.0), rtol=1e-3, atol=1e-3)


def test_a_file_without_a_model_says_what_it_knows_and_what_not(tmp_path):
    run = lw.simulate(examples.four_bar(), 0.1)
    run.save(tmp_path / "run.lwr")
    subject = subject_of(lw.load(tmp_path / "run.lwr"))
    moment = subject.trajectory.at(0.05)
    known = subject_of(run)
    for name, force in known.reactions(known.trajectory.at(0.05)).items():
        np.testing.assert_allclose(subject.reactions(moment)[name], force, atol=1e-6)
    with pytest.raises(lw.LinkworkError, match="is not in the file"):
        subject.applied(moment, moment.world)
    for name, gap in known.gaps(known.trajectory.at(0.05)).items():
        np.testing.assert_array_equal(subject.gaps(moment)[name], gap)


def test_an_arrow_that_turns_turns_as_a_right_hand_does():
    vertices, faces = turning_arrow()
    angles = np.degrees(np.arctan2(vertices[:, 1], vertices[:, 0])) % 360.0
    thick = np.abs(np.hypot(vertices[:, 0], vertices[:, 1]) - 1.0) > 0.1  # the head
    assert angles[thick].min() > 265.0
    assert np.abs(vertices - (1.0, 0.0, 0.0)).max(axis=1).min() < 0.1  # it begins on the x axis
    tip = vertices[thick][vertices[thick][:, 0].argmax()]
    assert tip[0] == pytest.approx(0.5)  # three quarters round, and on towards x
    assert faces.max() < len(vertices)


def test_names_that_are_shown_do_not_lie_over_each_other():
    rng = np.random.default_rng(5)
    for count in (1, 5, 60):
        pixels, widths = rng.uniform(0, 500, (count, 2)), rng.uniform(20, 120, count)
        shown = readable(pixels, widths, np.ones(count, bool))
        assert shown[0]
        for i in range(count):
            covered = [
                abs(pixels[i, 0] - pixels[j, 0]) < (widths[i] + widths[j]) / 2
                and abs(pixels[i, 1] - pixels[j, 1]) < 19.0
                for j in np.flatnonzero(shown)
                if j != i
            ]
            assert any(covered) != shown[i]
        again = readable(pixels, widths, shown)
        assert np.array_equal(again, shown)  # what is seen stays
