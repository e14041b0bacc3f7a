"""Scenes saved, loaded, rewound and compared: to the bit, and with nothing run that a file names."""

import numpy as np
import pytest
from people import crate, doll, hanging, world

import linkwork as lw
from linkwork.errors import ModelError
from linkwork.recording import array_file


class Shaker(lw.Behaviour):
    """Draw random numbers, and remember all kinds of things."""

    def __init__(self, actor):
        self.actor, self.random = actor, np.random.default_rng(3)
        self.seen, self.table = [], np.eye(2)
        self.words = {"a": (1, 2.5, None), "b": float("inf")}

    def after(self, scene, dt):
        self.seen = [*self.seen, float(self.random.normal())][-5:]


@lw.action
def broken(scene, part):
    scene.random.normal()


def busy(**options):
    scene = world(**options)
    group = scene.group("people", position=(0, 0, 0.2))
    one, two = group.add(doll()), group.add(doll(), position=(0.35, 0, 0))
    scene.add(crate(), position=(3, 0, 0.2))
    held = scene.add(hanging(), position=(0, 3, 3), rotation=lw.rotation_z(0.3).rotation)
    scene.add(lw.BreakWhen(held["middle"], force=29.0, then=broken))
    scene.add(lw.ContactSensor(one["trunk"]))
    scene.add(Shaker(two))
    return scene, one, two


def test_a_saved_scene_goes_on_bit_for_bit_also_after_edits(tmp_path):
    scene, one, two = busy()
    rng = np.random.default_rng(5)
    times = set(rng.choice(np.arange(1, 60), 6, replace=False).tolist())
    for k in range(1, 60):
        scene.step(1 / 60)
        if k == 20:
            one.detach("left hand")
        if k == 30:
            two.reduce("left wrist", "right wrist")
        if k == 40:
            two.restore()
        if k in times:
            scene.save(tmp_path / "now.lws")
            other = lw.load(tmp_path / "now.lws")
            assert other.hash() == scene.hash()
            reference = scene.snapshot()
            for _ in range(6):
                scene.step(1 / 60)
                other.step(1 / 60)
                assert other.hash() == scene.hash(), k
            assert other.behaviours[2].seen == scene.behaviours[2].seen
            assert other.random.normal() == scene.random.normal()
            scene.restore(reference)


def heap_of_four():
    """Return dolls and a crate that touch each other: one encounter."""
    scene = world()
    dolls = [scene.add(doll(), position=(0.3 * k, 0.1 * k, -0.65)) for k in range(3)]
    box = scene.add(crate(), position=(0.3, 0.3, 0.5))
    scene.step(1 / 60, n=3)
    assert len(scene.encounters.all) == 1
    return scene, dolls, box


@pytest.mark.parametrize("edit", ["detach", "weld", "remove", "two"])
def test_a_scene_saved_between_an_edit_and_the_next_step_goes_on_bit_for_bit(tmp_path, edit):
    scene, (one, two, three), box = heap_of_four()
    if edit in ("detach", "two"):
        one.detach("left hand")
    if edit in ("weld", "two"):
        scene.weld(two["trunk"], box["crate"])
    if edit == "remove":
        scene.remove(three)
    before = scene.snapshot()
    scene.save(tmp_path / "now.lws")
    other = lw.load(tmp_path / "now.lws")
    hashes = []
    for _ in range(3):
        scene.step(1 / 60)
        other.step(1 / 60)
        assert other.hash() == scene.hash()
        hashes.append(scene.hash())
    scene.restore(before)
    for known in hashes:
        scene.step(1 / 60)
        assert scene.hash() == known


def test_asking_for_a_hash_between_edits_changes_nothing():
    found = []
    for asks in (False, True):
        scene, (one, two, three), box = heap_of_four()
        for change in (
            lambda one=one: one.detach("left hand"),
            lambda scene=scene, two=two, box=box: scene.weld(two["trunk"], box["crate"]),
            lambda one=one: one.detach("right hand"),
            lambda scene=scene, three=three: scene.remove(three),
        ):
            change()
            if asks:
                scene.hash()
        scene.step(1 / 60, n=3)
        found.append(scene.hash())
    assert found[0] == found[1]


def test_a_file_keeps_names_places_and_values(tmp_path):
    scene, _, two = busy()
    scene.step(1 / 60, n=3)
    scene.save(tmp_path / "now.lws")
    other = lw.load(tmp_path / "now.lws")
    assert [node.path for node in other.walk()] == [node.path for node in scene.walk()]
    shaker = other.behaviours[2]
    assert shaker.actor is other["people/doll 2"]
    assert shaker.words == {"a": (1, 2.5, None), "b": float("inf")}
    np.testing.assert_array_equal(shaker.table, np.eye(2))
    assert other.behaviours[0].then is broken
    assert other["floor"].material == lw.Material(friction=0.6)
    np.testing.assert_array_equal(other["people/doll 2/trunk"].pose, two["trunk"].pose)


def test_a_scene_that_was_loaded_can_be_edited_paused_and_restarted(tmp_path):
    scene, _, _ = busy()
    scene.step(1 / 60, n=3)
    scene["crate"].pause()
    scene.save(tmp_path / "now.lws")
    other = lw.load(tmp_path / "now.lws")
    assert other["crate"].paused
    other["people/doll"].detach("left arm")
    other["people/doll 2"].restart()
    other["crate"].resume()
    other.step(1 / 60, n=3)


def test_steps_and_edits_are_taken_back():
    scene, one, _ = busy(rewind=30)
    scene.step(1 / 60, n=5)
    before, hashes = scene.hash(), []
    for _ in range(8):
        scene.step(1 / 60)
        hashes.append(scene.hash())
    scene.rewind(8)
    assert scene.hash() == before
    one.disintegrate()
    scene.step(1 / 60, n=3)
    scene.undo()
    assert scene.hash() == before
    for known in hashes:
        scene.step(1 / 60)
        assert scene.hash() == known


def test_whatever_was_changed_is_one_edit_that_is_taken_back():
    scene = world(rewind=40)
    one, two = scene.add(doll(), position=(0, 0, 1)), scene.add(doll(), position=(0, 1, 1))
    box, hand = scene.add(crate(), position=(3, 0, 0.15)), two["left hand"]
    scene.step(1 / 60, n=3)
    before, nodes = scene.hash(), [node.path for node in scene.walk()]
    halves = [lw.Body(f"half {k}", lw.Box(0.3, 0.3, 0.15), density=500) for k in range(2)]
    edits = [
        lambda: scene.weld(one["trunk"], two["trunk"]),
        lambda: scene.weld(box["crate"], two["trunk"]),
        lambda: scene.add(crate(), position=(5, 5, 5)),
        lambda: scene.remove(two),
        lambda: scene.remove("floor"),
        lambda: scene.add(lw.Box(1, 1, 1, position=(9, 9, 9)), name="wall"),
        lambda: scene.fracture(box["crate"], halves),
        lambda: scene.detach(hand),
        lambda: one.remove("left wrist"),
        lambda: one.disintegrate(),
        lambda: two.reduce(),
    ]
    for edit in edits:
        edit()
        scene.step(1 / 60, n=2)
        scene.undo()
        assert scene.hash() == before
        assert [node.path for node in scene.walk()] == nodes
        assert {*one.mechanism.bodies, *box.mechanism.bodies} >= {"trunk", "crate", "/floor"}
        assert "/wall" not in two.mechanism.bodies
        assert hand.path == "doll 2/left hand"
        scene.step(1 / 60)
        scene.rewind(1)
    assert list(scene.recording.time * 60) == pytest.approx([0, 1, 2, 3])


def test_an_edit_that_is_refused_is_none_that_is_taken_back():
    scene = world(rewind=5)
    one = scene.add(doll())
    with pytest.raises(ModelError, match="hangs on nothing"):
        scene.detach(one["trunk"])
    scene.undo()  # the doll
    assert not one.exists


def test_the_recording_of_what_was_done_otherwise_knows_only_that():
    scene = world(rewind=5)
    scene.add(doll())
    scene.step(1 / 60)
    first = scene.add(crate(), name="first", position=(3, 0, 1))
    scene.step(1 / 60)
    scene.undo()
    second = scene.add(lw.Body("crate", lw.Sphere(0.1), mass=2.0), name="second", position=(3, 0, 1))
    scene.step(1 / 60)
    assert (first.exists, second.exists) == (False, True)
    names = scene.recording.model.body_names
    assert "second/crate" in names
    assert "first/crate" not in names
    kept = scene.snapshot()
    scene.step(1 / 60, n=3)
    scene.restore(kept)
    scene.step(1 / 60)
    assert (np.diff(scene.recording.time) > 0.0).all()


def rewritten(path, change):
    header, arrays = array_file.read(path)
    change(header, arrays)
    array_file.write(path, header, arrays)


REFUSED = {
    "another class": (
        lambda h, a: h["behaviours"][0].__setitem__(0, "os.system"),
        "unknown behaviour 'os.system'",
    ),
    "another action": (
        lambda h, a: h["behaviours"][0][1].__setitem__("then", {"action": "os.system"}),
        "unknown action",
    ),
    "an attribute of Python": (
        lambda h, a: h["behaviours"][0][1].__setitem__("__class__", 1),
        "has an attribute '__class__'",
    ),
    "a value that is none": (
        lambda h, a: h["behaviours"][0][1].__setitem__("force", {"pickle": "x"}),
        "unknown kind of value 'pickle'",
    ),
    "a node that is not there": (
        lambda h, a: h["behaviours"][2][1].__setitem__("actor", {"node": "nobody"}),
        "no node 'nobody'",
    ),
    "bodies of others": (lambda h, a: h["units"][0]["actors"][0]["bodies"].append("leg"), "has bodies that"),
    "no mechanisms": (lambda h, a: h.__delitem__("mechanisms"), "no complete scene"),
    "half a state": (lambda h, a: a.__setitem__("encounter/0/q", np.zeros(3)), "has shapes"),
    "a state that is no number": (
        lambda h, a: a.__setitem__("encounter/0/v", np.full_like(a["encounter/0/v"], np.nan)),
        "has shapes",
    ),
    "a unit twice": (lambda h, a: h["encounters"][0].__setitem__("units", [0, 0]), "in two encounters"),
    "a pose that is none": (lambda h, a: h["groups"][0].__setitem__("pose", [[1, 2]]), "a pose has shape"),
    "a random generator that is none": (lambda h, a: h.__setitem__("random", 3), "random is no generator"),
    "another version": (lambda h, a: h.__setitem__("scene_version", 99), "version 99"),
    "another kind": (lambda h, a: h.__setitem__("kind", "recipe"), "not a scene"),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    scene, _, _ = busy()
    scene.step(1 / 60)
    path = tmp_path_factory.mktemp("scenes") / "now.lws"
    scene.save(path)
    return path


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_is_wrong_is_refused(what, saved, tmp_path):
    change, text = REFUSED[what]
    path = tmp_path / "wrong.lws"
    path.write_bytes(saved.read_bytes())
    rewritten(path, change)
    with pytest.raises(lw.FormatError, match=text) as raised:
        lw.load(path)
    assert str(path) in str(raised.value)


def test_what_cannot_be_saved_is_refused_by_name(tmp_path):
    scene = world()
    scene.add(lw.OnTime(1.0, lambda s: None))
    with pytest.raises(lw.FormatError, match=r"OnTime.action.*@lw.action"):
        scene.save(tmp_path / "now.lws")
    with pytest.raises(lw.FormatError, match=r"'\.lws'"):
        scene.save(tmp_path / "now.json")
    assert not list(tmp_path.iterdir())
