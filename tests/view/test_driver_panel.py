"""Motions of kinematics, and mechanisms with drivers, as what is looked at."""

import re
import time
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.view import save_html, show, snapshot
from linkwork.view.driven_drawing import drawing_of_driven
from linkwork.view.driven_pose import Driving
from linkwork.view.subject_of import subject_of
from linkwork.view.trajectory import recorded

QUIET: Any = {"open_browser": False, "block": False}


def four_bar(law=lambda t: 2 * np.pi * t) -> lw.Mechanism:
    m = lw.Mechanism("four-bar", space="plane")
    lengths = {"crank": 0.1, "rod": 0.3, "rocker": 0.22}
    crank, rod, rocker = (
        m.add(lw.Body(name, lw.Box(x, 0.01, 0.01, position=(x / 2, 0, 0)), density=2700))
        for name, x in lengths.items()
    )
    m.add(lw.Revolute("A", m.ground, crank, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", crank, rod, on_parent=(0.1, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", rod, rocker, on_parent=(0.3, 0), on_child=(0.22, 0)))
    m.add(lw.Revolute("D", m.ground, rocker, on_parent=(0.2, 0), on_child=(0, 0)))
    m.add(lw.Driver("motor", "A", law))
    return m


def slider(limit: float = 0.25) -> lw.Mechanism:
    """Return a rod from a driven slider to a pin: it cannot go farther than the rod is long."""
    m = lw.Mechanism("slider", space="plane")
    block = m.add(lw.Body("block", lw.Box(0.05, 0.05, 0.05), density=1000, position=(0.1, 0)))
    arm = m.add(lw.Body("arm", lw.Box(0.1, 0.01, 0.01, position=(0.05, 0, 0)), density=1000))
    m.add(lw.Prismatic("rail", m.ground, block, axis=(1, 0), on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("pin", m.ground, arm))
    m.add(lw.Distance("rod", arm, block, limit - 0.1, on_parent=(0.1, 0)))
    m.add(lw.Driver("push", "rail", lambda t: 0.2 + t))
    return m


@pytest.fixture(scope="module")
def motion():
    return lw.kinematics(four_bar(), np.linspace(0, 1, 61))


def test_at_its_times_the_poses_are_those_of_the_motion(motion):
    seen = recorded(motion)
    for k in (0, 13, 60):
        moment = seen.at(motion.time[k])
        for number in range(len(motion.mechanism.bodies)):
            x, y, angle = motion.q[k, 3 * number : 3 * number + 3]
            np.testing.assert_allclose(moment.poses[number, :2, 3], (x, y), atol=1e-14)
            np.testing.assert_allclose(moment.poses[number, 0, 0], np.cos(angle), atol=1e-14)


def test_between_its_times_the_poses_are_near_the_true_ones(motion):
    seen = recorded(motion)
    middles = (motion.time[:-1] + motion.time[1:]) / 2.0
    true = recorded(lw.kinematics(four_bar(), middles))
    for t in middles:
        assert np.abs(seen.at(t).poses - true.at(t).poses).max() < 1e-4


def test_times_in_any_order_are_played_in_order():
    times = np.array([0.0, 0.2, 0.1, 0.1, 0.3])
    found = lw.kinematics(four_bar(), times)
    seen = recorded(found)
    assert seen.times.tolist() == [0.0, 0.1, 0.2, 0.3]
    assert found.time[seen.at(0.2).sample] == 0.2


def test_arrows_are_the_forces_of_the_motion(motion):
    subject = subject_of(motion)
    k = 17
    moment = subject.trajectory.at(motion.time[k])
    reactions = subject.reactions(moment)
    for name in "ABCD":
        expected = [float(np.broadcast_to(x, (61,))[k]) for x in motion[name].reaction.scalars()]
        np.testing.assert_allclose(reactions[name], [0, 0, expected[0], *expected[1:], 0], atol=1e-12)
    points, wrenches = subject.applied(moment, moment.world)
    np.testing.assert_allclose(points, [(0, 0, 0)], atol=1e-12)
    np.testing.assert_allclose(wrenches, [(0, 0, motion["motor"].force[k], 0, 0, 0)], atol=1e-12)
    assert max(subject.gaps(moment).values()) < 1e-12
    assert list(subject.gaps(moment)) == list("ABCD")


def test_a_driver_of_a_body_pushes_it_at_its_origin():
    m = lw.Mechanism("block", space="plane")
    block = m.add(lw.Body("block", lw.Box(0.1, 0.1, 0.1), mass=2.0))
    m.add(lw.Prismatic("rail", m.ground, block, axis=(1, 0)))
    m.add(lw.Driver("push", (block, "x"), lambda t: 1.5 * t * t))
    subject = subject_of(lw.kinematics(m, [0.0, 0.5]))
    moment = subject.trajectory.at(0.5)
    points, wrenches = subject.applied(moment, moment.world)
    np.testing.assert_allclose(points, [(0.375, 0, 0)])
    np.testing.assert_allclose(wrenches, [(0, 0, 0, 2.0 * 3.0, 0, 0)])


def test_every_channel_has_a_curve_with_a_unit(motion):
    subject = subject_of(motion)
    for name in subject.channels:
        times, traces = subject.curves([name])
        assert all(len(trace.values) == len(times) for trace in traces)
        assert all(trace.unit for trace in traces), name


def test_units_are_those_of_the_coordinates():
    found = lw.kinematics(slider(), [0.0, 0.01])
    units = {name: found.traces(name)[0].unit for name in ("push", "push.power", "rail", "pin", "rod")}
    assert units == {"push": "N", "push.power": "W", "rail": "m", "pin": "rad", "rod": "N"}


@pytest.mark.parametrize("way", ["show", "html", "svg", "png", "film"])
def test_a_motion_can_be_looked_at_as_a_recording_can(motion, way, tmp_path):
    match way:
        case "show":
            with motion.show(**QUIET) as viewer:
                for word in viewer.overlays.switches:
                    viewer.switch(word, True)
                viewer.seek(0.4)
                time.sleep(0.2)
                assert all(overlay.visible for overlay in viewer.overlays.switches.values())
                viewer.charts.add("C.reaction.force")
                assert [chart.title for chart, *_ in viewer.charts._charts] == ["reaction force [N]"]
        case "html":
            motion.save_html(tmp_path / "m.html", show=["names", "reactions", "applied torques"])
            assert "<title>four-bar · Linkwork</title>" in (tmp_path / "m.html").read_text()
        case "svg":
            assert motion.snapshot(0.3).svg.startswith("<svg")
        case "png":
            motion.snapshot().save(tmp_path / "m.png")
        case _:
            av = pytest.importorskip("av")
            motion.save_video(tmp_path / "m.mp4", rate=10, size=(160, 100))
            with av.open(str(tmp_path / "m.mp4")) as film:
                assert sum(1 for _ in film.decode(video=0)) == 11


# mechanisms with drivers


def test_a_slider_drives_and_the_rest_follows():
    with four_bar().show(**QUIET) as viewer:
        for value in (0.5, 3.0, -3.0, -0.2):
            viewer.drive("motor", value)
            angle = viewer.driving.found["crank"].angle[0]
            assert np.cos(angle - value) == pytest.approx(1.0)
            assert max(viewer.driving.found.derived("gaps")[0]) < 1e-10
            assert viewer.sliders["motor"].value == pytest.approx(value)
        assert viewer._note.visible is False
        assert viewer.driving.values[0] == pytest.approx(2 * np.pi - 0.2)  # through pi, and on


def test_time_lets_drivers_follow_their_laws_from_where_they_were_put():
    with four_bar().show(**QUIET) as viewer:
        viewer.drive("motor", 1.0)
        viewer.step()
        assert viewer.driving.values[0] == pytest.approx(1.0 + 2 * np.pi / 60)
        viewer.start()
        end = time.monotonic() + 20.0
        while viewer.driving.t < 0.2 and time.monotonic() < end:
            time.sleep(0.01)
        viewer.stop()
        t = viewer.driving.t
        turned = viewer.driving.found["crank"].angle[0] - (1.0 + 2 * np.pi * t)  # maybe by whole turns
        assert np.cos(turned) == pytest.approx(1.0)
        assert viewer.driving.found["crank"].angular_velocity[0] == pytest.approx(2 * np.pi)
        times, (curve,) = viewer.subject.curves(["crank.angle"])
        np.testing.assert_allclose(np.cos(curve.values[1:] - 1.0 - 2 * np.pi * times[1:]), 1.0)
        viewer.reset()
        assert (viewer.driving.t, viewer.driving.values[0]) == (0.0, 0.0)


def test_a_dead_end_is_told_and_all_stays_where_it_was():
    with slider().show(**QUIET) as viewer:
        viewer.drive("push", 0.24)
        before = viewer.driving.found.q.copy()
        viewer.drive("push", 0.4)
        assert re.search(r"cannot assemble .*push = 0\\.4.*'rod'", viewer._note.content)
        assert np.array_equal(viewer.driving.found.q, before)
        assert viewer.sliders["push"].value == pytest.approx(0.24)
        viewer.start()
        end = time.monotonic() + 20.0
        while viewer.running and time.monotonic() < end:
            time.sleep(0.02)
        assert "cannot assemble" in viewer._note.content
        viewer.drive("push", 0.2)
        assert viewer._note.visible is False


def test_what_drivers_do_not_determine_is_drawn_and_told():
    m = four_bar()
    m.remove("motor")
    m.add(lw.Driver("one", (m["rocker"], "angle"), 0.5))
    m.add(lw.Driver("two", "A", 0.5))
    with m.show(**QUIET) as viewer:
        assert "too many drivers" in viewer._note.content
        assert viewer.sliders == {}
        viewer.switch("reactions", True)
        time.sleep(0.2)
        assert "reactions: not available here" in viewer._note.content


def test_sliders_go_as_far_as_laws_and_limits():
    from linkwork.view.driver_panel import _range

    m = slider()
    m["rail"].limits = (0.05, None)
    driving = Driving(m)
    low, high = _range(driving, 0)
    assert low == 0.05
    assert high == pytest.approx(0.2 + 10 + 1.0)
    assert _range(Driving(four_bar()), 0) == (-np.pi, np.pi)


def test_a_picture_of_a_mechanism_with_drivers_is_where_they_are():
    angle = 0.7
    picture = snapshot(four_bar(angle))
    assert picture.svg.count("<polygon") >= 3
    assert subject_of(four_bar(angle)).trajectory.at(0.0).poses[0, 0, 0] == pytest.approx(np.cos(angle))


def test_what_does_not_move_makes_no_film(tmp_path):
    with pytest.raises(lw.LinkworkError, match="a Mechanism does not move by itself; give a Recording"):
        save_html(four_bar(), tmp_path / "x.html")
    with pytest.raises(lw.LinkworkError, match="has drivers, which say where it is; give no state"):
        show(four_bar(), [0.0], **QUIET)


def test_joints_that_close_loops_are_told_apart():
    drawn = drawing_of_driven(four_bar())
    assert sum(mark.loop for mark in drawn.joints) == 1
    assert [(tie.name, tie.kind, tie.on) for tie in drawn.connections] == [("motor", "Driver", ("A",))]


@pytest.mark.browser
def test_the_page_follows_the_slider(tab):
    viewer: Any
    with show(four_bar(), **QUIET) as viewer:
        tab.open(viewer.url)
        (client,) = viewer.server.get_clients().values()
        way = client.camera.position - client.camera.look_at  # what is planar opens face on
        np.testing.assert_allclose(way / np.linalg.norm(way), (0, 0, 1), atol=1e-6)
        box = tab.row("motor [rad]")
        box.fill("1.2")
        box.press("Enter")
        batch, crank = next(
            (batch, k)
            for batch in viewer.stage.bodies
            for k, piece in enumerate(batch.pieces)
            if piece.body == "crank"
        )

        def angle():
            matrix = tab.matrices(batch.handle.name)[crank]
            return np.arctan2(matrix[1, 0], matrix[0, 0])

        tab.until(lambda: abs(angle() - 1.2) < 1e-2)
        tab.press("button", "Start")
        tab.until(lambda: viewer.driving.t > 0.2)
        tab.press("button", "Stop")
        tab.until(lambda: not viewer.running)
        here = viewer.driving.found["crank"].angle[0]
        tab.until(lambda: abs(np.sin(angle() - here)) < 1e-4)
        assert tab.errors == []


def test_a_rod_can_be_selected():
    from linkwork.view.moving_batch import amounts_of_light
    from linkwork.view.palette import SELECTED, SPRING

    with show(slider(), **QUIET) as viewer:
        (node, *_), *_ = viewer.overlays.springs._groups
        viewer.heard()["select"](None, "rod")
        assert viewer.selected == "rod"
        assert node.batched_colors.tolist() == [amounts_of_light(SELECTED).tolist()]
        viewer.select(None)
        assert node.batched_colors.tolist() == [amounts_of_light(SPRING).tolist()]


def test_the_page_of_a_motion_shows_the_pose_of_its_time(motion):
    with motion.show(**QUIET) as viewer:
        viewer.seek(0.4)
        k = int(np.searchsorted(motion.time, 0.4 - 1e-9))
        R = viewer.now().poses[viewer.drawing.bodies.index("rocker")]
        assert abs(np.sin(np.arctan2(R[1, 0], R[0, 0]) - motion["rocker"].angle[k])) < 1e-4
