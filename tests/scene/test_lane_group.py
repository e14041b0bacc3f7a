"""Mechanisms of one model in a scene go on together, to the bits that each has alone."""

import numpy as np
import pytest
from scene.people import doll, world

import linkwork as lw
from linkwork.scene import encounters
from linkwork.scene.encounter import Encounter

STEP = 1 / 60


def crowd(**options):
    """Return a scene of dolls that fall from other heights, apart from each other."""
    scene, one = world(record=False, **options), doll()
    for k in range(5):
        scene.add(one, name=f"doll{k}", position=(2.0 * k, 0.3 * k, 0.2 + 0.1 * k))
    return scene


def test_a_lane_group_gives_the_bits_that_each_has_alone(monkeypatch):
    together, threaded = crowd(threads=1), crowd(threads=2)
    together.step(STEP, n=20)
    assert sum(one.lane is not None for one in together.encounters.all) >= 3
    together.step(STEP, n=70)
    threaded.step(STEP, n=90)
    monkeypatch.setattr(encounters, "_ALIKE", 1000)
    alone = crowd(threads=1)
    alone.step(STEP, n=90)
    assert all(one.lane is None for one in alone.encounters.all)
    np.testing.assert_array_equal(together.arrays.poses, alone.arrays.poses)
    np.testing.assert_array_equal(together.arrays.velocities, alone.arrays.velocities)
    assert together.hash() == alone.hash() == threaded.hash()


def test_those_that_leave_their_lanes_go_on_in_any_thread_to_the_same_bits(monkeypatch):
    left, stay_out = list[object](), Encounter.stay_out_of_lanes

    def noted(one, went):
        left.append(one)
        stay_out(one, went)

    monkeypatch.setattr(Encounter, "stay_out_of_lanes", noted)
    found = []
    for threads in (1, 2):
        scene, one = lw.Scene(record=False, threads=threads), doll()
        scene.add(lw.Box(30.0, 30.0, 0.01))
        for k in range(6):  # they hit the sheet at some 6 m/s
            scene.add(one, position=(2.0 * k, 0.0, 1.5 + 0.1 * k))
        left.clear()
        scene.step(STEP, n=70)
        assert len(left) >= 4
        found.append(scene.hash())
    assert found[0] == found[1]


def test_asking_on_the_way_changes_nothing():
    asked, left, seen = crowd(), crowd(), 0
    for k in range(60):
        asked.step(STEP)
        left.step(STEP)
        actor = asked[f"doll{k % 5}"]
        assert np.isfinite(actor.momentum).all()
        seen += len(asked.contacts)
    assert seen > 100
    assert asked.hash() == left.hash()


def test_who_is_edited_leaves_the_lane_group_and_the_others_stay(monkeypatch):
    scene = crowd()
    scene.step(STEP, n=30)
    scene["doll1"].detach("left hand")
    scene.step(STEP, n=30)
    monkeypatch.setattr(encounters, "_ALIKE", 1000)
    alone = crowd()
    alone.step(STEP, n=30)
    alone["doll1"].detach("left hand")
    alone.step(STEP, n=30)
    assert scene.hash() == alone.hash()


def test_what_comes_to_rest_in_a_lane_group_falls_asleep_and_wakes():
    scene = world(record=False)
    made = doll()
    for joint in made.joints.values():
        if hasattr(joint, "damping"):
            joint.damping = 3.0
    for k in range(3):
        scene.add(made, name=f"doll{k}", position=(2.0 * k, 0, -0.7))
    for _ in range(1200):
        scene.step(STEP)
        if all(actor.resting for actor in scene.actors):
            break
    assert all(actor.resting for actor in scene.actors)
    before = scene.arrays.poses.copy()
    scene["doll1"].wake()
    scene.step(STEP)
    assert not scene["doll1"].resting
    scene.step(STEP, n=10)
    assert scene["doll1"].resting
    np.testing.assert_array_equal(scene.arrays.poses, before)


@pytest.mark.parametrize("dt", [STEP, 2 * STEP, 0.4 * STEP])
def test_steps_of_any_length_lead_to_the_same_places(dt, monkeypatch):
    together = crowd()
    together.step(dt, n=40)
    monkeypatch.setattr(encounters, "_ALIKE", 1000)
    alone = crowd()
    alone.step(dt, n=40)
    assert together.hash() == alone.hash()
