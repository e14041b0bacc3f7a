"""Scenes as users write them: adding, stepping, reading, removing."""

import copy
import pickle
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest
from people import crate, doll, hanging, world

import linkwork as lw


def test_a_crate_falls_and_stands_on_the_floor():
    scene = world()
    box = scene.add(crate(), position=(1, 2, 0.5))
    scene.step(1 / 60, n=60)
    assert scene.time == 1.0
    np.testing.assert_allclose(box["crate"].position, (1, 2, 0.15), atol=1e-9)
    assert sum(contact.force[2] for contact in box["crate"].contacts) == pytest.approx(-13.5 * 9.81, rel=1e-6)


def test_what_falls_freely_falls_as_galileo_says():
    scene = lw.Scene()
    ball = scene.add(lw.Body("ball", lw.Sphere(0.1), density=1000), velocity=(1, 0, 0))
    scene.step(1 / 60, n=30)
    np.testing.assert_allclose(ball.position, (0.5, 0, -9.81 / 8), rtol=1e-12, atol=1e-12)


def test_identical_mechanisms_share_one_model():
    scene, m = world(), doll()
    a, b, c = (scene.add(one, position=(k, 0, 0)) for k, one in enumerate((m, m, doll())))
    assert a.model is b.model is c.model
    assert (a.name, b.name, c.name) == ("doll", "doll 2", "doll 3")
    scene.step(1 / 60, n=10)
    np.testing.assert_allclose(c.position - a.position, (2, 0, 0), atol=1e-12)


def test_a_mechanism_is_placed_and_turned_with_its_ground():
    scene = world()
    turn = lw.rotation_z(np.pi / 2).rotation
    one = scene.add(hanging(), position=(1, 2, 3), rotation=turn)
    np.testing.assert_allclose(one["lower"].position, (1, 2, 2.2), atol=1e-15)
    np.testing.assert_allclose(one["lower"].rotation, turn, atol=1e-15)
    scene.step(1 / 60)
    np.testing.assert_allclose(one["top"].reaction[3:], (0, 0, 5 * 9.81), atol=1e-9)


def test_groups_place_what_is_in_them_and_paths_find_it():
    scene = world()
    robots = scene.group("robots", position=(5, 0, 0))
    left = robots.add(doll(), name="left")
    assert left.path == "robots/left"
    assert scene["robots/left"] is left
    assert scene["robots/left/trunk"] is left["trunk"]
    assert left["trunk"].position[0] == 5.0
    assert [node.path for node in robots.walk()][:3] == ["robots", "robots/left", "robots/left/trunk"]
    assert all(scene[node.path] is node for node in scene.walk())
    seen = []
    scene.visit(lambda node: seen.append(node) or node is not left)
    assert left in seen
    assert left["trunk"] not in seen
    low, high = robots.bounds
    assert low[0] < 5 < high[0]


def test_handles_read_the_arrays_of_the_scene_without_a_copy():
    scene = world()
    box = scene.add(crate(), position=(0, 0, 1))
    assert np.shares_memory(box["crate"].position, scene.arrays.poses)
    with pytest.raises(ValueError, match="read-only"):
        box["crate"].position[0] = 1.0


def test_two_that_come_near_are_solved_together_and_parted_again():
    scene = world()
    low, high = scene.add(crate(), position=(0, 0, 0.15)), scene.add(crate(), position=(0, 0, 1.0))
    assert len(scene.encounters.all) == 2
    scene.step(1 / 60, n=60)
    assert len(scene.encounters.all) == 1
    np.testing.assert_allclose(high.position, (0, 0, 0.45), atol=1e-6)
    scene.remove(high)
    assert len(scene.encounters.all) == 1
    np.testing.assert_allclose(low.position, (0, 0, 0.15), atol=1e-6)


def test_what_stands_still_sleeps_and_is_woken_by_who_comes_near():
    scene = world()
    box = scene.add(crate(), position=(0, 0, 0.15))
    scene.step(1 / 60, n=20)
    assert box.resting
    scene.add(lw.Body("ball", lw.Sphere(0.1), density=1000), position=(0.7, 0, 0.15), velocity=(-6, 0, 0))
    scene.step(1 / 60, n=30)
    assert box.position[0] < -0.01


def test_a_static_shape_that_is_removed_lets_fall_what_stood_on_it():
    scene = world()
    box = scene.add(crate(), position=(0, 0, 0.15))
    scene.step(1 / 60, n=20)
    scene.remove("floor")
    scene.step(1 / 60, n=20)
    assert box.position[2] < 0.0


def test_a_mechanism_of_its_own_accuracy_keeps_its_energy():
    scene = lw.Scene()
    one = scene.add(hanging(), accuracy=1e-10)
    two = scene.add(hanging(), position=(3, 0, 0), accuracy=1e-3, max_step=0.01)
    scene.step(1 / 60, n=2)
    assert one["top"].position == pytest.approx(0.0, abs=1e-12)
    assert two["top"].position == pytest.approx(0.0, abs=1e-12)


def test_inputs_of_a_mechanism_hold_from_the_next_step_on():
    m = hanging()
    m.add(lw.Motor("motor", "top"))
    scene = lw.Scene()
    one = scene.add(m)
    one.inputs["motor"] = 1.0
    assert dict(one.inputs) == {"motor": 1.0}
    scene.step(1 / 60)
    assert one["top"].velocity > 0.0
    with pytest.raises(KeyError, match="did you mean 'motor'"):
        one.inputs["moter"] = 2.0


@pytest.mark.parametrize("paused", [False, True])
def test_what_is_no_number_is_no_input_also_of_what_is_paused(paused):
    m = hanging()
    m.add(lw.Motor("motor", "top", lw.Input("push")))
    one = world().add(m)
    if paused:
        one.pause()
    for value, why in ((np.nan, "finite"), ("1", "texts"), (True, "truth values"), (None, "missing")):
        with pytest.raises(ValueError, match=f"input 'push'.*{why}"):
            one.inputs["push"] = value
    one.inputs["push"] = 2
    assert dict(one.inputs) == {"push": 2.0}


def test_nothing_of_a_scene_is_copied_or_pickled():
    scene = world()
    one = scene.add(hanging())
    for thing in (scene, one, one["upper"], one["top"], scene["floor"]):
        for way in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=r"world\.save"):
                way(thing)


def test_a_sleeper_whose_law_becomes_another_says_so():
    torque, m = [0.0], lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Sphere(0.1), mass=1.0, position=(0, 0, -1)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Motor("motor", "pin", lambda t, q, v: torque[0]))
    scene = lw.Scene()
    actor = scene.add(m)
    scene.step(1 / 60, n=5)
    assert actor.resting
    torque[0] = 5.0
    with pytest.raises(lw.SimulationError, match=r"'motor' reads from outside has changed.*lw.Input"):
        scene.step(1 / 60)


def test_a_ray_meets_the_nearest_body_and_passes_what_it_is_told_to():
    scene = world()
    box = scene.add(crate(), position=(0, 0, 1))
    hit = scene.ray((0, 0, 5), (0, 0, -1))
    assert hit.node is box["crate"]
    assert hit.distance == pytest.approx(3.85)
    assert scene.ray((0, 0, 5), (0, 0, -1), without=box).node is scene["floor"]
    assert scene.ray((0, 0, 5), (0, 0, 1)) is None
    assert scene.height(3.0, 4.0) == pytest.approx(0.0)
    assert lw.Scene().height(0, 0) == -inf


def test_observers_are_called_after_every_step_until_they_end():
    scene, times = lw.Scene(), []
    end = scene.observe(lambda each: times.append(each.time))
    scene.step(0.25, n=2)
    end()
    scene.step(0.25)
    assert times == [0.25, 0.5]


def test_the_number_of_threads_changes_nothing():
    def run(threads):
        scene = world(threads=threads)
        for k in range(4):
            scene.add(doll(), position=(0.9 * k, 0, 0.1 * k))
        scene.step(1 / 60, n=25)
        return scene.hash()

    assert run(1) == run(2) == run(3)


def test_energy_is_that_of_motion_and_of_height():
    scene = lw.Scene()
    ball = scene.add(lw.Body("ball", lw.Sphere(0.1), mass=2.0), position=(0, 0, 3), velocity=(1, 2, 2))
    assert scene.energy() == pytest.approx(0.5 * 2 * 9 + 2 * 9.81 * 3)
    scene.step(1 / 60, n=30)
    assert scene.energy(ball) == pytest.approx(0.5 * 2 * 9 + 2 * 9.81 * 3, rel=1e-12)


@pytest.mark.soak
def test_an_hour_of_a_busy_scene_keeps_memory_and_makes_no_energy():
    """Crates and dolls are thrown into each other every four seconds, for an hour of their time."""
    from peak_memory import resident

    scene, rng, memory = world(record=100), np.random.default_rng(1), []
    thrown = [scene.add(crate(), position=(0.8 * k, 0, 0.2)) for k in range(4)]
    thrown += [scene.add(doll(), position=(0.8 * k, 1.0, 0.2)) for k in range(2)]
    for k in range(900):
        for actor in thrown:
            actor.restart()
        last = scene.add(crate(0.2), position=(-1, 0.5 * rng.normal(), 0.6), velocity=(5, 0, 1))
        energy = scene.energy()
        for _ in range(8):
            scene.step(1 / 60, n=30)
            assert scene.energy() <= energy * (1 + 1e-6)
            energy = scene.energy()
        scene.remove(last)
        if k in (100, 899):
            memory.append(resident())
    assert scene.time == pytest.approx(3600.0)
    assert memory[1] - memory[0] < 30e6


def test_a_body_may_be_added_alone_and_its_name_counts_on():
    scene = lw.Scene()
    assert [scene.add(crate()).path for _ in range(3)] == ["crate", "crate 2", "crate 3"]
    assert len(scene) == 3
    assert "crate 2" in scene


def test_a_mechanism_begins_at_a_state_and_begins_there_again():
    m, scene = hanging(), lw.Scene()
    state = m.compile().state(top=0.3, velocities={"middle": 2.0})
    run = lw.simulate(m.compile(), 0.5, state, accuracy=1e-9)
    one = scene.add(m, position=(0, 0, 3), state=state, accuracy=1e-9)
    assert (one["top"].position, one["middle"].velocity) == (0.3, 2.0)
    scene.step(1 / 60, n=30)
    assert one["middle"].position == pytest.approx(run["middle"].position[-1], abs=1e-6)
    one.restart()
    assert (one["top"].position, one["middle"].velocity) == (0.3, 2.0)
    other = scene.add(m, position=(5, 0, 3), state=run)  # where a recording ends
    assert other["top"].position == run["top"].position[-1]


def test_what_floats_carries_the_motion_of_its_state_to_its_place():
    scene, m = lw.Scene(), doll()
    start = m.compile().state(velocities={"base": (0, 0, 2.0, 1.0, 0, 0), "left wrist": 3.0})
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    one = scene.add(m, position=(1, 2, 3), rotation=turn, velocity=(0, 0, 4), state=start)
    np.testing.assert_allclose(one["trunk"].position, (1, 2, 4))
    np.testing.assert_allclose(one["trunk"].velocity, (0, 1, 4), atol=1e-15)
    np.testing.assert_allclose(one["trunk"].angular_velocity, (0, 0, 2))
    assert one["left wrist"].velocity == 3.0


def test_mechanisms_are_given_by_path_too():
    scene = world()
    scene.add(doll(), name="doll", position=(0, 0, 1))
    for change in (scene.pause, scene.resume, scene.sleep, scene.reduce, scene.restart, scene.disintegrate):
        change("doll")
    assert not scene["doll"].joints.keys() & {"left wrist", "left shoulder"}


REFUSED = {
    "a state of another mechanism": (
        lambda s: s.add(hanging(), state=doll().compile().state()),
        lw.ModelError,
        "its state has unknown joint",
    ),
    "numbers as a state": (lambda s: s.add(hanging(), state=[0.3, 0.0]), TypeError, "give model.state"),
    "a state of a wall": (
        lambda s: s.add(lw.Box(1, 1, 1), state=hanging().compile().state()),
        lw.ModelError,
        "state .* has no meaning",
    ),
    "to pause what is no mechanism": (lambda s: s.pause("floor"), TypeError, "give a mechanism of the scene"),
    "to put to sleep what is elsewhere": (
        lambda s: s.sleep(lw.Scene().add(crate())),
        lw.ModelError,
        "is in another scene",
    ),
    "gravity of two numbers": (lambda s: lw.Scene((0, -9.81)), ValueError, "give 3 numbers in m/s"),
    "step of zero": (lambda s: lw.Scene(step=0), ValueError, "give seconds, above 0"),
    "a number": (lambda s: s.add(3), TypeError, "give a Mechanism, a Body, shapes"),
    "a function": (lambda s: s.add(print), TypeError, "world.observe"),
    "a plane": (lambda s: s.add(lw.Mechanism("flat", space="plane")), lw.ModelError, "scenes are in space"),
    "a name twice": (lambda s: s.add(crate(), name="floor"), lw.ModelError, "is there already"),
    "a name with a slash": (lambda s: s.add(crate(), name="a/b"), lw.ModelError, "without '/'"),
    "a material of a body": (lambda s: s.add(crate(), material=1), lw.ModelError, "has no meaning"),
    "the velocity of a wall": (
        lambda s: s.add(lw.Box(1, 1, 1), velocity=(1, 0, 0)),
        lw.ModelError,
        "velocity .* has no meaning",
    ),
    "the velocity of what is held": (
        lambda s: s.add(hanging(), velocity=(1, 0, 0)),
        ValueError,
        "held by ground",
    ),
    "an unknown node": (lambda s: s["flor"], KeyError, "did you mean 'floor'"),
    "an unknown body": (lambda s: s.add(crate(), name="c")["crat"], KeyError, "did you mean 'crate'"),
    "an unknown option": (lambda s: lw.Scene(gravty=1), TypeError, "gravity"),
    "to remove what is not there": (lambda s: s.remove(lw.Box(1, 1, 1)), lw.ModelError, "no node in it"),
    "to record -1 steps": (lambda s: lw.Scene(record=-1), ValueError, "how many steps"),
    "a step of no length": (lambda s: s.step(-1.0), ValueError, "give seconds"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_mistakes_are_refused_with_a_remedy(what):
    call, kind, text = REFUSED[what]
    with pytest.raises(kind, match=text):
        call(world())


@pytest.mark.parametrize("frozen", [0, 5])
def test_a_run_in_real_time_looks_for_garbage_only_among_what_is_new(monkeypatch, frozen):
    called = []
    words = {word: lambda word=word: called.append(word) for word in ("collect", "freeze", "unfreeze")}
    fake = SimpleNamespace(get_freeze_count=lambda: frozen, **words)
    monkeypatch.setattr("linkwork.scene.real_time.gc", fake)
    scene = world()
    scene.observe(lambda _: called.append("step"))
    scene.run(0.02, fps=50.0)
    assert called == (["step"] if frozen else ["collect", "freeze", "step", "unfreeze"])  # or others decided


def test_a_node_says_whether_it_is_still_there():
    scene = world()
    group = scene.group("boxes")
    box = group.add(crate())
    assert scene.exists
    assert group.exists
    assert box.exists
    scene.remove(group)
    assert not group.exists
    assert not box.exists
    assert scene["floor"].exists


@pytest.mark.parametrize("turn", ["y", "x"])
def test_gravity_stays_down_for_what_is_mounted_on_a_wall_or_a_ceiling(turn):
    def swung(m, **where):
        scene = world()
        one = scene.add(m, **where)
        scene.add(crate(), position=(0, 0, 5))
        scene.step(1 / 60, n=30)
        return one["swing"].position

    def pendulum(rotation=None):
        m, turned = lw.Mechanism("pendulum"), np.eye(3) if rotation is None else rotation
        bob = m.add(lw.Body("swing", lw.Sphere(0.1), density=1000, position=turned @ (0.1, 0.2, -0.4)))
        m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=tuple(turned @ (0.6, 0.8, 0))))
        return m

    R = {"x": lw.rotation_x(np.pi), "y": lw.rotation_y(np.pi / 2)}[turn].rotation
    drawn = swung(pendulum(R), position=(0, 0, 3))
    assert np.linalg.norm(drawn - (0, 0, 3) - R @ (0.1, 0.2, -0.4)) > 0.1
    np.testing.assert_allclose(swung(pendulum(), position=(0, 0, 3), rotation=R), drawn, atol=1e-9)


def test_what_cannot_be_simulated_is_not_left_in_the_scene():
    scene = world()
    massless = lw.Mechanism("massless")
    massless.add(lw.Body("ghost"))
    with pytest.raises(lw.ModelError, match="no inertia"):
        scene.add(massless)
    with pytest.raises(lw.ModelError, match="'empty' has no bodies"):
        scene.add(lw.Mechanism("empty"))
    assert not scene.actors
    scene.step(1 / 60)


def test_a_mechanism_that_cannot_move_is_stood_on():
    scene, table = world(), lw.Mechanism("table")
    top = table.add(lw.Body("top", lw.Box(1, 1, 0.2), density=500, position=(0, 0, 0.5)))
    table.add(lw.Fixed("glue", table.ground, top))
    scene.add(table, position=(2, 0, 0))
    box = scene.add(crate(), position=(2, 0, 1))
    scene.step(1 / 60, n=60)
    np.testing.assert_allclose(box["crate"].position, (2, 0, 0.75), atol=1e-8)


def test_a_behaviour_about_what_is_gone_is_refused():
    scene = world()
    one = scene.add(hanging(), position=(0, 0, 3))
    joint = one["middle"]
    scene.unweld(joint)
    with pytest.raises(lw.ModelError, match="not in this scene"):
        scene.add(lw.BreakWhen(joint, force=1))
