"""Edits in mid-motion: momentum is kept to the last digits, and nothing pauses or leaks."""

import gc
import threading

import numpy as np
import pytest
from people import crate, doll, hanging, world

import linkwork as lw


def jump(scene, change):
    """Return the relative change of momentum by an edit, and what the edit returns."""
    before = scene.momentum()
    found = change()
    return np.abs(scene.momentum() - before).max() / np.abs(before).max(), found


def tumbling(**options):
    scene = world(**options)
    one = scene.add(doll(), position=(0, 0, 2), velocity=(3, 1, 2))
    scene.step(1 / 60, n=20)
    return scene, one


def test_a_detached_part_floats_on_with_its_momentum():
    scene, one = tumbling()
    hand = one["left hand"]
    velocity = np.array(hand.velocity)
    change, part = jump(scene, lambda: one.detach("left arm"))
    assert change < 1e-12
    assert part.names == ("left arm", "left hand")
    assert hand.actor is part
    assert hand.path == "left arm/left hand"
    np.testing.assert_allclose(hand.velocity, velocity, rtol=1e-12)
    scene.step(1 / 60, n=5)
    assert "left shoulder" not in one


def test_what_is_attached_moves_as_one_and_keeps_momentum():
    scene, one = tumbling()
    part = one.detach("left hand")
    scene.step(1 / 60, n=3)
    change, joint = jump(scene, lambda: scene.attach(one["trunk"], part["left hand"], lw.Spherical))
    assert change < 1e-12
    assert part.parent is None
    assert one["left hand"].actor is one
    before = np.linalg.norm(one["left hand"].position - one["trunk"].position)
    scene.step(1 / 60, n=3)
    assert joint.joint.nv == 3
    assert np.linalg.norm(one["left hand"].position - one["trunk"].position) == pytest.approx(
        before, rel=1e-6
    )


def test_mechanisms_that_are_welded_become_one_and_come_apart_again():
    scene, one = tumbling()
    box = scene.add(crate(), position=(5, 5, 5), velocity=(0, 2, 0))
    change, weld = jump(scene, lambda: scene.weld(one["left hand"], box["crate"]))
    assert change < 1e-12
    assert scene.actors == [one]
    scene.step(1 / 60, n=2)
    change, part = jump(scene, lambda: scene.unweld(weld))
    assert change < 1e-12
    assert part.names == ("crate",)


def test_loops_close_and_open():
    scene, one = tumbling()
    scene.step(1 / 60)
    change, joint = jump(
        scene,
        lambda: scene.attach(one["left hand"], one["right hand"], lw.Spherical, at=one["left hand"].position),
    )
    assert change < 1e-10
    assert one.model.loop_names
    scene.step(1 / 60, n=3)
    change, part = jump(scene, lambda: scene.unweld(joint))
    assert change < 1e-12
    assert part is None
    assert not one.model.loop_names


def test_a_body_breaks_into_parts_that_carry_on_its_momentum():
    scene, one = tumbling()
    halves = [
        lw.Body(f"half {k}", lw.Box(0.2, 0.2, 0.2), density=700 + 100 * k, position=(0, 0, 0.1 - 0.2 * k))
        for k in (0, 1)
    ]
    change, parts = jump(scene, lambda: scene.fracture(one["trunk"], halves))
    assert change < 1e-12
    assert [part.names for part in parts] == [("half 0",), ("half 1",)]
    scene.step(1 / 60, n=3)


def test_two_arms_on_grounds_at_different_places_hold_one_crate():
    scene, turn = world(), lw.rotation_z(0.3).rotation
    left = scene.add(hanging(), position=(-0.5, 0, 2), name="left")
    right = scene.add(hanging(), position=(0.5, 0, 2), rotation=turn, name="right")
    box = scene.add(lw.Body("box", lw.Box(0.8, 0.2, 0.2), density=300), position=(0, 0, 1.05))
    scene.step(1 / 60, n=3)
    bodies = {"lower": right["lower"], "lower 2": left["lower"], "box": box["box"]}
    poses = {name: np.array(body.pose) for name, body in bodies.items()}
    scene.attach(left["lower"], box["box"], lw.Spherical, at=(-0.4, 0, 1.1))
    scene.attach(right["lower"], left["box"], lw.Spherical, at=(0.4, 0, 1.1))
    assert scene.actors == [right]
    for name, pose in poses.items():
        np.testing.assert_allclose(right[name].pose, pose, atol=1e-14)
    scene.step(1 / 60, n=30)
    for hand, x in (("lower", 0.4), ("lower 2", -0.4)):
        ends = []
        for body in (hand, "box"):
            R, p = poses[body][:, :3], poses[body][:, 3]
            ends.append(right[body].rotation @ R.T @ ((x, 0, 1.1) - p) + right[body].position)
        np.testing.assert_allclose(*ends, atol=1e-6)
    np.testing.assert_allclose(right["top"].joint.frames()[0].position, (0, 0, 0), atol=1e-12)
    np.testing.assert_allclose(right["top 2"].joint.frames()[0].position, turn.T @ (-1, 0, 0), atol=1e-12)


def test_what_is_joined_to_ground_is_held_by_it():
    scene = world()
    box = scene.add(crate(), position=(0, 0, 1.5))
    scene.step(1 / 60, n=5)
    pin = scene.attach(scene["floor"], box["crate"], lw.Revolute, at=(-0.5, 0, 1.5), axis=(0, 1, 0))
    reach = np.linalg.norm(box["crate"].position - (-0.5, 0, 1.5))
    scene.step(1 / 60, n=30)
    assert abs(np.linalg.norm(box["crate"].position - (-0.5, 0, 1.5)) - reach) < 1e-9
    assert abs(pin.position) > 1.0
    weld = scene.weld(scene, box["crate"])
    here = np.array(box["crate"].pose)
    scene.step(1 / 60, n=10)
    np.testing.assert_allclose(box["crate"].pose, here, atol=1e-12)
    assert scene.unweld(weld) is None
    assert scene.unweld(pin) is None
    scene.step(1 / 60, n=90)
    np.testing.assert_allclose(box["crate"].position[2], 0.15, atol=1e-6)


def test_a_structure_disintegrates_into_all_its_bodies():
    scene, one = tumbling()
    change, _ = jump(scene, one.disintegrate)
    assert change < 1e-12
    assert one.model.nv == 6 * 5
    scene.step(1 / 60, n=3)


def test_a_doll_merged_to_one_body_and_back_keeps_its_momentum():
    scene, one = tumbling()
    change, _ = jump(scene, one.reduce)
    assert change < 1e-12
    assert one.model.nv == 6
    scene.step(1 / 60, n=5)
    change, _ = jump(scene, one.restore)
    assert change < 1e-12
    assert one.model.nv == 6 + 2 * 4
    scene.step(1 / 60, n=5)


def test_motors_of_locked_joints_wait_and_come_back():
    m = doll()
    m.add(lw.Motor("motor", "left wrist", law=lambda t, q, v: 0.1 - q))
    scene = world()
    one = scene.add(m, position=(0, 0, 1))
    one.reduce("left wrist")
    assert "motor" not in one.mechanism
    one.restore()
    assert "motor" in one.mechanism
    scene.step(1 / 60)


def test_what_was_detached_may_be_paused_alone_and_leave():
    scene, one = tumbling()
    part = one.detach("right arm")
    part.pause()
    place = np.array(part.position)
    scene.step(1 / 60, n=5)
    np.testing.assert_array_equal(part.position, place)
    part.resume()
    scene.step(1 / 60, n=2)
    assert part.position[2] != place[2]
    scene.remove(part)
    assert [actor.name for actor in scene.actors] == ["doll"]
    scene.step(1 / 60)


def test_a_part_of_what_is_held_by_ground_falls_where_it_was():
    scene = world()
    one = scene.add(hanging(), position=(1, 0, 2), rotation=lw.rotation_z(1.0).rotation)
    scene.step(1 / 60, n=5)
    place = np.array(one["lower"].position)
    part = one.detach("lower")
    np.testing.assert_allclose(part["lower"].position, place, atol=1e-14)
    scene.step(1 / 60, n=20)
    np.testing.assert_allclose(part.position, place - (0, 0, 9.81 / 18), atol=1e-9)


def test_an_edit_that_cannot_be_changes_nothing():
    scene, one = tumbling()
    names, before = list(one.mechanism), scene.hash()
    with pytest.raises(lw.LinkworkError):
        scene.attach(one["trunk"], one["left hand"], lw.Revolute, axis=(0, 0, 0))
    assert list(one.mechanism) == names
    assert scene.hash() == before
    scene.step(1 / 60)


def overlapping_boxes():
    """Return two boxes that overlap by a third of their width, and turn about each other."""
    m = lw.Mechanism("pair")
    a = m.add(lw.Body("a", lw.Box(0.3, 0.3, 0.3), density=500))
    b = m.add(lw.Body("b", lw.Box(0.3, 0.3, 0.3), density=500, position=(0.2, 0, 0)))
    m.add(lw.Revolute("hinge", a, b, at=(0.1, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Free("base", m.ground, a))
    return m


def test_bodies_that_overlap_when_their_joint_goes_pass_until_they_are_apart():
    scene = world(gravity=(0, 0, 0))
    pair = scene.add(overlapping_boxes(), position=(0, 0, 2), velocity=(0, 0, 1))
    scene.step(1 / 60)
    assert not scene.contacts
    scene.unweld(pair["hinge"])
    scene.step(1 / 60)
    assert not scene.contacts
    np.testing.assert_allclose(pair["a"].velocity, (0, 0, 1), atol=1e-12)


def test_a_body_that_passes_another_may_break_or_be_removed():
    scene = world(gravity=(0, 0, 0))
    for change in (
        lambda pair: scene.fracture(pair["b"], [lw.Body("rest", lw.Sphere(0.1), density=500)]),
        lambda pair: pair.remove("b"),
    ):
        pair = scene.add(overlapping_boxes(), position=(0, 0, 2))
        scene.unweld(pair["hinge"])
        change(scene.actors[-1] if "b" in scene.actors[-1] else pair)
        scene.step(1 / 60)
        assert pair["a"].exists
        assert all(actor.names for actor in scene.actors)
        assert scene.passing.of(pair.unit) == set()
        scene.remove(pair)


def test_a_body_may_be_removed_from_a_joint_at_which_it_overlaps_another():
    scene = world(gravity=(0, 0, 0))
    pair = scene.add(overlapping_boxes(), position=(0, 0, 2))
    pair.remove("b")
    scene.step(1 / 60)
    assert pair.names == ("a",)


def test_what_overlaps_is_pushed_out_as_slowly_where_others_bounce():
    # A ball bounces right after the start: all bodies are moved up to there first, by 1 % of the step.
    m, hard = lw.Mechanism("boxes and ball"), lw.Material(restitution=1.0)
    for k in range(2):
        m.add(lw.Body(f"box {k}", lw.Box(0.3, 0.3, 0.3), density=500, position=(0.294 * k, 0, 0)))
    m.add(lw.Body("ball", lw.Sphere(0.1), density=500, position=(0, 5, 0.1 + 0.01 * 10 / 60), material=hard))
    for body in list(m.bodies.values()):
        m.add(lw.Free(f"{body.name} free", m.ground, body))
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add(lw.Box(1, 1, 1, position=(0, 5, -0.5)), material=hard)
    all_three = scene.add(m, velocity=(0, 0, -10))
    scene.step(1 / 60)
    assert all_three["ball"].velocity[2] == pytest.approx(10.0)
    apart = all_three["box 1"].velocity[0] - all_three["box 0"].velocity[0]
    assert 0.0 < apart <= 0.2 * 0.006 * 60 * 1.01


def test_what_passes_for_now_is_known_after_loading_and_taking_back(tmp_path):
    scene = world(gravity=(0, 0, 0))
    pair = scene.add(overlapping_boxes(), position=(0, 0, 2))
    scene.unweld(pair["hinge"])
    then = scene.snapshot()
    scene.save(tmp_path / "now.lws")
    assert scene.passing.of(pair.unit) == {("a", "b")}
    other = lw.load(tmp_path / "now.lws")
    assert other.passing.of(other["pair"].unit) == {("a", "b")}
    scene.remove(pair)
    scene.restore(then)
    assert scene.passing.of(pair.unit) == {("a", "b")}


def edits(scene, rng, count):
    """Do random edits, a step after each; return the largest jump of momentum and how many were done."""
    worst, done = 0.0, 0
    source = doll()
    while done < count:
        actors = scene.actors
        one, other = (actors[rng.integers(len(actors))] for _ in range(2))
        a, b = (each[each.names[rng.integers(len(each.names))]] for each in (one, other))
        inner = [name for name, joint in one.joints.items() if "ground" not in joint.joint.ends]
        what = rng.choice(["detach", "attach", "weld", "break", "add", "remove"])
        if what == "detach" and len(one.names) > 1:
            change, _ = jump(scene, lambda a=a: scene.detach(a) if _hangs(a) else None)
        elif what in ("attach", "weld") and one is not other and _few(a, b):
            kind = lw.Spherical if what == "attach" else None
            change, _ = jump(scene, lambda a=a, b=b, kind=kind: scene.attach(a, b, kind))
        elif what == "break" and inner:
            name = inner[rng.integers(len(inner))]
            change, _ = jump(scene, lambda one=one, name=name: scene.unweld(one[name]))
        elif what == "add" and len(actors) < 6:
            scene.add(source, position=(*rng.uniform(-4, 4, 2), 1.0), velocity=rng.normal(size=3))
            change = 0.0
        elif what == "remove" and len(actors) > 4:
            scene.remove(one)
            change = 0.0
        else:
            continue
        worst, done = max(worst, change), done + 1
        scene.step(1 / 60)
        assert all(np.isfinite(actor.position).all() for actor in scene.actors)
    return worst


def _few(a, b):
    return len(a.actor.unit.numbers) + len(b.actor.unit.numbers) < 24


def _hangs(body):
    branch = body.actor.model.graph.branches[body.actor.model.body_rows[body.name]]
    return branch.parent_name != "ground"


def test_random_edits_keep_momentum():
    scene = world(record=50)
    for k in range(3):
        scene.add(doll(), position=(1.5 * k, 0, 1), velocity=(0.1, 0.2, 0.3))
    assert edits(scene, np.random.default_rng(7), 30) < 1e-12


@pytest.mark.soak
def test_a_thousand_random_edits_keep_momentum_and_memory():
    from peak_memory import resident

    scene = world(record=50)
    for k in range(3):
        scene.add(doll(), position=(1.5 * k, 0, 1), velocity=(0.1, 0.2, 0.3))
    rng = np.random.default_rng(1)
    worst = edits(scene, rng, 300)
    gc.collect()
    before = resident()
    worst = max(worst, edits(scene, rng, 700))
    gc.collect()
    assert worst < 1e-12
    assert resident() - before < 30e6


def test_threads_take_turns_to_step_and_to_edit():
    scene, _ = tumbling()
    begun = scene.time

    def steps():
        scene.step(1 / 60, n=10)

    threads = [threading.Thread(target=steps) for _ in range(3)]
    for each in threads:
        each.start()
    for k in range(5):
        scene.remove(scene.add(crate(), position=(k, 9, 9)))
    for each in threads:
        each.join()
    assert scene.time == pytest.approx(begun + 0.5)


def anchored(name, what):
    """Return a box on a pillar, with something else on its ground."""
    m = lw.Mechanism(name)
    top = m.add(lw.Body("top", lw.Box(0.1, 0.1, 0.1), density=500, position=(0, 0, 1)))
    m.add(lw.Revolute("pin", m.ground, top, axis=(0, 0, 1)))
    if what is lw.Spring:
        m.add(lw.Spring("spring", m.ground, top, on_parent=(1, 0, 1), stiffness=10))
    else:
        m.ground.add(what)
    return m


REFUSED = {
    "the base that floats": (lambda s, a: a.detach("trunk"), lw.ModelError, "hangs on nothing"),
    "an unknown body": (lambda s, a: a.detach("left hnd"), KeyError, "did you mean 'left hand'"),
    "a name in place of a body": (lambda s, a: s.attach("trunk", a["trunk"]), TypeError, "give a body"),
    "a body to itself": (lambda s, a: s.attach(a["trunk"], a["trunk"]), lw.ModelError, "give two bodies"),
    "a joint in place of its class": (
        lambda s, a: s.attach(a["trunk"], a["left hand"], a["left wrist"]),
        TypeError,
        "give a class of joints",
    ),
    "a name twice": (
        lambda s, a: s.attach(a["trunk"], a["left hand"], name="left wrist"),
        lw.ModelError,
        "is there already",
    ),
    "parts that are none": (lambda s, a: s.fracture(a["trunk"], [1]), TypeError, "give bodies"),
    "a joint that is not there": (lambda s, a: a.reduce("left knee"), lw.ModelError, "unknown joint"),
    "an element that is not there": (lambda s, a: a.remove("left knee"), KeyError, "unknown name"),
    "a joint twice": (lambda s, a: [s.unweld(j) for j in 2 * [a["left wrist"]]], lw.ModelError, "taken out"),
    "a body in place of a joint": (lambda s, a: s.unweld(a["trunk"]), TypeError, "give a joint"),
    "a joint in place of a body": (lambda s, a: a.detach("left wrist"), KeyError, "unknown body"),
    "a joint that breaks": (lambda s, a: s.fracture(a["left wrist"], [crate()]), TypeError, "give a body"),
    "parts without mass": (lambda s, a: s.fracture(a["trunk"], [lw.Body("p")]), lw.ModelError, "no mass"),
    "a place in the plane": (
        lambda s, a: s.attach(a["trunk"], a["left hand"], at=(1, 2)),
        ValueError,
        "give 3 numbers",
    ),
    "a body of another scene": (
        lambda s, a: s.attach(a["trunk"], world().add(doll())["trunk"]),
        lw.ModelError,
        "in another scene",
    ),
    "a behaviour about another scene": (
        lambda s, a: s.add(lw.BreakWhen(world().add(doll())["left wrist"], force=1)),
        lw.ModelError,
        "not in this scene",
    ),
    "to pause what is gone": (lambda s, a: (s.remove(a), a.pause()), lw.ModelError, "removed"),
    "a step in a step": (
        lambda s, a: (s.observe(lambda s: s.step()), s.step()),
        lw.SimulationError,
        "outside",
    ),
    "an option that is misspelt": (
        lambda s, a: s.add(doll(), postion=1),
        TypeError,
        "did you mean 'position'",
    ),
    "bodies on grounds that both have shapes": (
        lambda s, a: s.weld(
            *(s.add(anchored("pillars", lw.Sphere(0.1)), position=(k, 3, 0))["top"] for k in (0, 1))
        ),
        lw.ModelError,
        "world.add",
    ),
    "a spring on a ground that is elsewhere": (
        lambda s, a: s.weld(
            *(s.add(anchored("springs", lw.Spring), position=(k, 3, 0))["top"] for k in (0, 1))
        ),
        lw.ModelError,
        "'spring' of 'springs 2' is on its ground",
    ),
    "to rewind without a buffer": (lambda s, a: s.rewind(), lw.ModelError, "rewind=600"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_mistakes_are_refused_with_a_remedy(what):
    call, kind, text = REFUSED[what]
    scene = world()
    with pytest.raises(kind, match=text):
        call(scene, scene.add(doll(), position=(0, 0, 1)))
