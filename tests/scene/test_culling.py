"""Culling and levels of detail, the recording of a scene, and real time."""

from math import inf

import numpy as np
import pytest
from people import crate, doll, world

import linkwork as lw
from linkwork.scene.real_time import run


def crowd(levels):
    scene = world()
    dolls = [scene.add(doll(), position=(10.0 * k, 0, 0.5)) for k in range(3)]
    return scene, dolls, scene.add(lw.Culling((0, 0, 1), levels))


def test_what_is_far_is_paused_and_goes_on_where_it_was():
    scene, dolls, culling = crowd([(15, "full"), (inf, "pause")])
    scene.step(1 / 60, n=10)
    assert [one.paused for one in dolls] == [False, False, True]
    assert dolls[2].time == 0.0
    place = np.array(dolls[2].position)
    culling.viewer = np.array([20.0, 0, 1])
    scene.step(1 / 60, n=10)
    assert [one.paused for one in dolls] == [True, False, False]
    assert dolls[2].time == pytest.approx(10 / 60)
    assert dolls[2].position[2] < place[2]
    assert dolls[2].position[2] == pytest.approx(place[2] - 0.5 * 9.81 * (10 / 60) ** 2, abs=1e-9)


def test_a_crowd_far_away_moves_as_single_bodies_with_its_momentum():
    scene, dolls, culling = crowd([(15, "full"), (inf, "reduced")])
    scene.step(1 / 60, n=2)
    assert [one.model.nv for one in dolls] == [14, 14, 6]
    before = scene.momentum()
    culling.viewer = np.array([20.0, 0, 1])
    culling.before(scene, 1 / 60)
    assert [one.model.nv for one in dolls] == [6, 14, 14]
    assert np.abs(scene.momentum() - before).max() / np.abs(before).max() < 1e-12


def test_what_restarts_begins_where_it_was_added():
    scene, dolls, culling = crowd([(15, "full"), (inf, "restart")])
    scene.step(1 / 60, n=20)
    culling.viewer = np.array([20.0, 0, 1])
    scene.step(1 / 60, n=2)
    assert dolls[0].paused
    culling.viewer = np.array([0.0, 0, 1])
    scene.step(1 / 60)
    assert dolls[0].position[2] == pytest.approx(1.5 - 0.5 * 9.81 / 3600, abs=1e-9)


def test_captured_motion_plays_on_a_base_that_falls():
    m = doll()
    recording = lw.simulate(m, 0.5, every=0.05)
    scene = world()
    one = scene.add(m, position=(30, 0, 1))
    scene.add(lw.CapturedMotion(one, recording))
    scene.add(lw.Culling((0, 0, 1), [(15, "full"), (inf, "captured")]))
    scene.step(1 / 60, n=10)
    assert one.paused
    assert one.position[2] == pytest.approx(2.0 - 0.5 * 9.81 * (9 / 60) ** 2, abs=1e-9)  # since it was far
    scene.step(1 / 60, n=60)
    assert one.position[2] == pytest.approx(0.25, abs=1e-9)  # above its hands, which are on the floor
    scene.remove(scene.behaviours[1])
    scene.behaviours[0].stop(scene)
    scene.step(1 / 60)
    assert not one.paused


def test_captured_motion_goes_on_as_high_as_it_stood():
    m = doll()
    recording = lw.simulate(m, 0.5, every=0.05)
    scene = world()
    one = scene.add(m, position=(30, 0, -0.75))  # on its hands
    playing = scene.add(lw.CapturedMotion(one, recording))
    playing.start(scene)
    scene.step(1 / 60, n=30)
    assert one.position[2] == pytest.approx(0.25, abs=1e-9)


def test_what_comes_under_the_path_of_another_has_a_level_of_its_own():
    scene = world()
    culling = scene.add(lw.Culling((0, 0, 1), [(15, "full"), (inf, "pause")]))
    first = scene.add(crate(), position=(30, 0, 1))
    scene.step(1 / 60)
    scene.remove(first)
    second = scene.add(crate(), position=(30, 0, 1))
    assert second.path == first.path
    scene.step(1 / 60)
    assert second.paused
    scene.remove(second)
    scene.step(1 / 60)
    assert not culling.now


@pytest.mark.parametrize("level", ["restart", "captured"])
def test_what_came_off_is_paused_where_others_begin_anew_or_play(level):
    scene = lw.Scene(gravity=(0, 0, 0))
    one = scene.add(doll())
    scene.add(lw.CapturedMotion(one, lw.simulate(doll(), 0.1, every=0.05)))
    culling = scene.add(lw.Culling((0, 0, 1), [(15, "full"), (inf, level)]))
    part = one.detach("left hand")
    scene.step(1 / 60)
    culling.viewer = np.array([99.0, 0.0, 0.0])
    scene.step(1 / 60)
    assert part.paused
    culling.viewer = np.zeros(3)
    scene.step(1 / 60)
    assert not part.paused


def test_regions_decide_as_distances_do():
    scene = world()
    dolls = [scene.add(doll(), position=(10.0 * k, 0, 0.5)) for k in range(3)]
    scene.add(lw.Culling(region=((-5, -5, -5), (15, 5, 5)), levels=[(1, "full"), (inf, "pause")]))
    scene.step(1 / 60, n=2)
    assert [one.paused for one in dolls] == [False, False, True]


REFUSED = {
    "nobody who looks": (lambda: lw.Culling(), "viewer=, or a region="),
    "an unknown level": (lambda: lw.Culling((0, 0, 0), [(1, "fulll")]), "did you mean 'full'"),
    "falling distances": (lambda: lw.Culling((0, 0, 0), [(2, "full"), (1, "pause")]), "rising"),
    "a viewer of two numbers": (lambda: lw.Culling((0, 0), [(1, "full")]), "3 numbers"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_mistakes_are_refused_with_a_remedy(what):
    call, text = REFUSED[what]
    with pytest.raises(ValueError, match=text):
        call()


def test_a_recording_of_a_scene_is_a_recording_also_where_structure_changes(tmp_path):
    scene = world()
    one = scene.add(doll(), position=(0, 0, 1), velocity=(1, 0, 0))
    scene.step(1 / 60, n=5)
    part = one.detach("left hand")
    scene.step(1 / 60, n=5)
    box = scene.add(crate(), position=(3, 0, 1))
    scene.step(1 / 60, n=5)
    found = scene.recording
    assert len(found) == 16
    assert found.time[0] == 0.0
    assert np.isnan(found.energy_error)  # the work of contacts and edits is not known
    assert "energy error unknown" in found.summary()
    np.testing.assert_allclose(found["doll/left hand"].position[-1], part.position, atol=1e-12)
    np.testing.assert_allclose(found["doll/left hand"].velocity[-1], part.velocity, atol=1e-9)
    np.testing.assert_allclose(found["crate/crate"].position[-1], box.position, atol=1e-12)
    assert scene.record.present("crate/crate").sum() == 5
    assert [name for _, name in found.report.events] == ["structure changes"] * 2
    found.save(tmp_path / "run.lwr")
    assert len(lw.load(tmp_path / "run.lwr")) == 16


def test_only_the_last_steps_are_recorded_where_that_is_said():
    scene = world(record=10)
    scene.add(crate(), position=(0, 0, 1))
    scene.step(1 / 60, n=35)
    assert len(scene.recording) == 10
    assert scene.recording.time[-1] == scene.time


def test_real_time_slows_down_and_says_so_and_never_makes_up_for_it():
    """Frames of 40 ms in place of 16.7 ms: as many steps, 2.4 times as long, each waited for."""
    scene, now, slept = world(), [0.0], []
    scene.observe(lambda _: now.__setitem__(0, now[0] + 0.04))

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    with pytest.warns(UserWarning, match=r"2\.40 times slower"):
        found = run(scene, 1.0, clock=lambda: now[0], sleep=sleep)
    assert found.frames == 60
    assert found.late == 60
    assert scene.time == pytest.approx(1.0)
    assert found.slowdown == pytest.approx(2.4, rel=1e-6)
    assert not slept


def test_real_time_waits_where_there_is_time():
    scene, now = world(), [0.0]
    found = run(
        scene,
        0.5,
        clock=lambda: now[0],
        sleep=lambda s: now.__setitem__(0, now[0] + s),
        until=lambda s: s.time > 0.2,
    )
    assert found.slowdown == 1.0
    assert found.frames == 13


def test_a_machine_that_wakes_late_is_not_taken_for_frames_that_are():
    scene, now = world(), [0.0]
    with pytest.warns(UserWarning, match="frames began late"):
        found = run(
            scene,
            0.5,
            clock=lambda: now[0],
            sleep=lambda s: now.__setitem__(0, now[0] + s + 0.1),
        )
    assert found.late == 0
    assert found.slowdown > 2.0
