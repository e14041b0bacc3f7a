"""Whatever is done to a mechanism by hand: what becomes of it, and that it can be taken back."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import LinkworkError
from linkwork.formats.mechanism_json import mechanism_of_text
from linkwork.mechanic import Editor
from linkwork.mechanic.file_tab import corners_of
from linkwork.mechanic.joint_edits import KINDS
from linkwork.view.drawing import drawing


def slider_crank(editor, parts):
    for path in parts:
        editor.add_file(path)
    editor.join("Revolute", "ground", "crank", (0, 0, 0), axis=(0, 1, 0), name="bearing")
    editor.join("Revolute", "crank", "rod", (0.1, 0, 0), axis=(0, 1, 0), name="crank pin")
    editor.join("Revolute", "rod", "slider", (0.4, 0, 0), axis=(0, 1, 0), name="wrist pin")
    editor.join("Prismatic", "ground", "slider", (0.4, 0, 0), axis=(1, 0, 0), name="guide")
    return editor


def test_parts_become_a_mechanism_that_moves(parts, tmp_path):
    editor = slider_crank(Editor(), parts)
    assert editor.body("crank").inertia.mass == pytest.approx(0.1 * 0.02 * 0.02 * 7850)
    assert np.allclose(editor.body("crank").position, (0.05, 0, 0))
    assert editor.advice().summary == "1 degree of freedom"
    assert editor.unsaved
    editor.save(tmp_path / "made.json")
    assert not editor.unsaved
    model = lw.load(tmp_path / "made.json").compile()
    run = lw.simulate(model, 1.0, model.state(bearing=0.5))
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6
    assert run.derived("gaps").max() < 1e-9


def test_what_is_redundant_is_said_by_name_and_mended_at_a_press(parts):
    editor = slider_crank(Editor(), parts)
    found = editor.advice()
    assert "redundant" in found.notes[0]
    assert "wrist pin" in found.notes[0]
    found.fixes[0].do(editor)
    assert "1 equation is redundant" in editor.advice().notes[0]  # of three


def test_joints_that_do_not_meet_are_named(parts):
    editor = slider_crank(Editor(), parts)
    X = editor.joint_pose("wrist pin")
    editor.mechanism.joints["wrist pin"].on_child = lw.Frame((0.0, 5.0, 0.0))
    found = editor.advice()
    assert found.freedoms is None
    assert found.wrong & set(editor.mechanism.joints)
    editor.undo()
    assert editor.advice().freedoms == 1
    assert np.array_equal(X, editor.joint_pose("wrist pin"))


def test_a_part_that_is_not_closed_is_weighed_by_its_hull_and_can_be_repaired(tmp_path):
    box = lw.Box(1, 1, 1).surface()
    path = tmp_path / "open.obj"
    path.write_text(
        "\n".join(
            [f"v {x} {y} {z}" for x, y, z in box[0].tolist()]
            + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in box[1][:-1].tolist()]
        )
    )
    editor = Editor()
    (name,) = editor.add_file(path)
    assert editor.body(name).inertia.mass == pytest.approx(7850.0)
    assert not editor.body(name).parts[0:1] or not isinstance(editor.body(name).parts[0], lw.Mesh)
    editor.repair(name)
    assert isinstance(editor.body(name).parts[0], lw.Mesh)
    assert editor.body(name).inertia.mass == pytest.approx(7850.0)


def test_a_part_in_millimetres_is_scaled(tmp_path):
    path = tmp_path / "big.obj"
    vertices, faces = lw.Box(100, 20, 20).surface()
    path.write_text(
        "\n".join(
            [f"v {x} {y} {z}" for x, y, z in vertices.tolist()]
            + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
        )
    )
    editor = Editor()
    (name,) = editor.add_file(path)
    assert np.ptp(editor.body(name).parts[0].vertices[:, 0]) == pytest.approx(0.1)


def test_merged_bodies_weigh_what_they_weighed_and_keep_their_joints(parts):
    editor = slider_crank(Editor(), parts)
    mass = sum(body.inertia.mass for body in editor.mechanism.bodies.values())
    place = editor.joint_pose("wrist pin")
    editor.merge(["crank", "rod"])
    assert "crank pin" not in editor.mechanism
    assert "rod" not in editor.mechanism
    assert sum(body.inertia.mass for body in editor.mechanism.bodies.values()) == pytest.approx(mass)
    assert np.allclose(editor.joint_pose("wrist pin"), place)
    assert sorted(editor.split("crank")) == ["crank", "crank 2"]


def test_a_mirror_image_has_the_mirrored_inertia():
    editor = Editor()
    editor.add_shape(lw.Cone(0.1, 0.3), "horn", (0.2, 0.1, 0.0))
    editor.mirror("horn", "x")
    one, other = (editor.body(name) for name in ("horn", "horn mirrored"))
    centre = one.rotation @ one.inertia.com + one.position
    assert np.allclose(other.rotation @ other.inertia.com + other.position, centre * (-1, 1, 1))
    assert other.inertia.mass == pytest.approx(one.inertia.mass, rel=2e-2)  # a cone of triangles


def test_pulling_keeps_the_joints_and_the_branch(parts):
    editor = slider_crank(Editor(), parts)
    editor.advice()
    q = editor.start().q
    for angle in np.linspace(0.0, 1.2, 7):
        target = 0.1 * np.array([np.cos(angle), 0.0, np.sin(angle)])
        q = editor.pull(q, "crank", np.array([0.05, 0.0, 0.0]), target)
        assert np.abs(editor.model.constraint_residual(q)).max() < 1e-9
        assert editor.model.poses(q)["slider"].position[0] > 0.2  # the rod has not turned over
    editor.keep_pose(q)
    assert np.allclose(
        editor.body("crank").rotation @ (0.05, 0, 0) + editor.body("crank").position, target, atol=1e-6
    )
    assert editor.advice().freedoms == 1


def four_bar(*, limits=None, on="crank pin"):
    """Return a four-bar that folds flat twice in a turn, crank and rocker alike."""
    editor = Editor(lw.Mechanism("fold", space="plane"))
    places = {"crank": (0.0, 0.0), "coupler": (0.0, 0.1), "rocker": (0.3, 0.0)}
    for name, place in places.items():
        inertia = lw.Inertia(1.0, (0.05, 0.0), 0.01)
        turn = 0.0 if name == "coupler" else np.pi / 2
        R = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        editor.mechanism.add(lw.Body(name, inertia, position=place, rotation=R))
    for joint, a, b, at in (
        ("bearing", "ground", "crank", (0.0, 0.0)),
        ("crank pin", "crank", "coupler", (0.0, 0.1)),
        ("pivot", "ground", "rocker", (0.3, 0.0)),
        ("wrist pin", "coupler", "rocker", (0.3, 0.1)),
    ):
        editor.join("Revolute", a, b, at, name=joint)
    if limits is not None:
        editor.change_joint(on, "limits", limits)
    return editor


def angle(editor, q, body):
    X = editor.model.poses(q)[body].rotation
    return np.arctan2(X[1, 0], X[0, 0])


@pytest.mark.parametrize("pieces", [7, 20, 60])
def test_a_parallelogram_is_pulled_through_its_dead_points_and_stays_one(pieces):
    editor = four_bar()
    q = editor.start().q
    for way in np.pi / 2 + np.linspace(0.0, 4.0 * np.pi, 2 * pieces):
        q = editor.pull(q, "crank", (0.1, 0, 0), (0.1 * np.cos(way), 0.1 * np.sin(way), 0))
        assert abs(np.sin(angle(editor, q, "crank") - angle(editor, q, "rocker"))) < 1e-6
        assert abs(np.sin(angle(editor, q, "crank") - way)) < 1e-6  # it follows all the way round


@pytest.mark.parametrize(
    "joint", ["bearing", "crank pin", "pivot", "wrist pin"]
)  # in the tree, or of the loop
def test_pulling_respects_limits_and_comes_free_again(joint):
    editor = four_bar(limits=(-0.3, 0.5), on=joint)
    q, turned = editor.start().q, []
    sign = {"crank pin": -1.0}.get(joint, 1.0)  # what the joint's coordinate is of the crank's turn
    for target in ((-9.0, 0.0), (9.0, 0.0), (0.0, 9.0), (-0.5, -0.5), (0.0, 0.2)):
        for _ in range(12):
            q = editor.pull(q, "crank", (0.1, 0, 0), (*target, 0.0))
        turned.append(sign * (angle(editor, q, "crank") - np.pi / 2))
        assert np.abs(editor.model.constraint_residual(q)).max() < 1e-9
    assert min(turned) == pytest.approx(-0.3, abs=1e-6)  # both limits were reached
    assert max(turned) == pytest.approx(0.5, abs=1e-6)
    assert turned[-1] == pytest.approx(0.0, abs=1e-6)  # straight up again


def test_pulls_far_out_of_reach_end_as_near_as_it_can_come():
    editor = four_bar()
    q = editor.start().q
    for target in ((50.0, 0.0, 0.0), (1e6, -1e6, 0.0)):
        for _ in range(10):
            q = editor.pull(q, "crank", (0.1, 0, 0), target)
        way = np.arctan2(target[1], target[0])
        assert abs(np.sin(angle(editor, q, "crank") - way)) < 1e-3
        assert np.abs(editor.model.constraint_residual(q)).max() < 1e-9


def test_a_loop_in_space_is_pulled_within_its_limits():
    mechanism = lw.examples.bennett()
    for joint in mechanism.joints.values():
        joint.limits = (-0.3, 0.3)
    editor = Editor(mechanism)
    q = editor.start().q
    body = editor.model.body_names[0]
    for target in np.random.default_rng(3).normal(size=(20, 3)):
        q = editor.pull(q, body, (0.1, 0, 0), target)
        loops = editor.model.loop_motion(q, np.zeros(editor.model.nv))[0]
        assert np.abs([*q, *loops]).max() < 0.3 + 1e-6
        assert np.abs(editor.model.constraint_residual(q)).max() < 1e-9
    assert np.abs(q).max() > 0.05


def test_names_of_everything_can_be_changed_and_what_refers_to_them_follows(parts):
    editor = slider_crank(Editor(), parts)
    editor.motor("bearing", "0.2 * sin(3 * t) - 0.01 * v")
    editor.mechanism.add(lw.Coupling("tie", "bearing", "crank pin", ratio=-1.0))
    before = editor.text()
    editor.rename("bearing", "main bearing")
    assert "main bearing" in editor.text()
    assert editor.mechanism["tie"].joint == "main bearing"
    mechanism_of_text(editor.text().encode())
    editor.undo()
    assert editor.text() == before
    with pytest.raises(ValueError, match="is the name of something else"):
        editor.rename("rod", "crank")


@pytest.mark.parametrize("space", ["space", "plane"])
def test_ground_and_contact_are_switched_and_taken_back(space):
    editor = Editor(lw.Mechanism("bench", space=space))
    if space == "plane":
        m = editor.mechanism
        m.add(lw.Body("block", lw.Polygon([(0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1)]), density=1e3))
        low = 0.0
    else:
        editor.add_shape(lw.Box(0.1, 0.1, 0.1), "block", (0, 0, 0.3))
        low = 0.25
    editor.refresh()
    before = editor.text()
    for turn, is_on in (
        (editor.set_ground, lambda: editor.has_ground),
        (editor.set_contact, lambda: editor.touching),
    ):
        for on in (False, True, True):
            turn(on)
            assert is_on() is on
            editor.refresh()
    run = lw.simulate(editor.model, 0.5, step=1 / 240)  # it lies where it is
    fallen = run.derived("poses")[-1] - run.derived("poses")[0]
    assert np.abs(fallen).max() < 1e-3
    assert editor.mechanism.ground.touched_by[0].offset == pytest.approx(low)
    assert "Plane(" in editor.script()
    editor.set_contact(False)
    editor.set_ground(False)
    assert editor.text() == before
    editor.set_falling(False)
    assert not editor.mechanism.gravity.any()
    editor.set_falling(True)
    assert editor.text() == before


def test_a_weld_too_many_is_named_and_removed_at_a_press():
    editor = Editor()
    editor.add_shape(lw.Box(0.1, 0.02, 0.02), "crank", (0.05, 0, 0))
    editor.join("Revolute", "ground", "crank", (0, 0, 0), axis=(0, 1, 0), name="bearing")
    editor.join("Fixed", "ground", "crank", (0, 0, 0), name="weld")
    said = editor.advice()
    assert said.freedoms == 0
    assert said.wrong
    assert "it moves" not in " ".join(said.notes)
    (fix,) = said.fixes
    assert fix.text == "remove weld, the last joint"
    fix.do(editor)
    assert editor.advice().summary == "1 degree of freedom"


def test_what_cannot_be_is_refused_and_changes_nothing(parts):
    editor = slider_crank(Editor(), parts)
    before, count = editor.text(), len(editor.mechanism.journal.undoable)
    for wrong in (
        lambda: editor.join("Revolut", "ground", "rod", (0, 0, 0)),
        lambda: editor.join("Revolute", "rod", "rod", (0, 0, 0)),
        lambda: editor.change_joint("bearing", "limits", (2.0, 1.0)),
        lambda: editor.change_joint("bearing", "colour", 1.0),
        lambda: editor.drive("bearing", "2 * import(os)"),
        lambda: editor.merge(["rod"]),
        lambda: editor.split("rod"),
        lambda: editor.set_density("rod", -1.0),
        lambda: editor.set_density("nobody", 1.0),
    ):
        with pytest.raises((LinkworkError, ValueError, KeyError)):
            wrong()
    assert editor.text() == before
    assert len(editor.mechanism.journal.undoable) == count


class Hands:
    """Somebody who edits by chance."""

    def __init__(self, seed):
        self.rng, self.editor = np.random.default_rng(seed), Editor()

    def one(self, names):
        names = list(names)
        return names[self.rng.integers(len(names))] if names else None

    def act(self):
        e, rng = self.editor, self.rng
        body, joint = self.one(e.mechanism.bodies), self.one(e.mechanism.joints)
        place = rng.uniform(-0.3, 0.3, 3)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turn = turn * np.linalg.det(turn)
        size = rng.uniform(0.02, 0.2, 3)
        shape = lw.Box(*size) if rng.random() < 0.6 else lw.Cylinder(size[0], size[1])
        other = self.one(["ground", *e.mechanism.bodies])
        deeds = [
            lambda: e.add_shape(shape, "", place) if len(e.mechanism.bodies) < 12 else e.delete(body),
            lambda: e.join(
                self.one(["Revolute", "Prismatic", "Spherical", "Fixed"]), other, body, place, rotation=turn
            ),
            lambda: e.place(body, place, turn),
            lambda: e.place_joint(joint, place, turn),
            lambda: e.flip(joint),
            lambda: e.change_kind(joint, self.one(set(KINDS) - {"Universal", "Free"})),
            lambda: e.change_joint(joint, "damping", float(rng.random())),
            lambda: e.set_density(body, float(rng.uniform(100, 9000))),
            lambda: e.set_mass(body, float(rng.uniform(0.1, 9))),
            lambda: e.set_color(body, rng.random(3)),
            lambda: e.rename(self.one(e.mechanism), f"name {rng.integers(1000)}"),
            lambda: e.duplicate(body),
            lambda: e.mirror(body, self.one("xyz")),
            lambda: e.merge([body, self.one(e.mechanism.bodies)]),
            lambda: e.split(body),
            lambda: e.delete(self.one(e.mechanism)),
            lambda: e.drive(joint, "0.1 * t"),
            lambda: e.motor(joint, "1 - 0.2 * v"),
            lambda: e.spring(body, other, place, place, 100.0),
            *[lambda: e.undo()] * 3,
            lambda: e.redo(),
        ]
        deeds[rng.integers(len(deeds))]()


def test_a_thousand_edits_and_undos_leave_file_page_and_model_equal_and_valid():
    hands = Hands(1)
    editor, drawn, refused = hands.editor, None, 0
    for k in range(1000):
        before, count = editor.text() if k % 25 == 0 else None, len(editor.mechanism.journal.undoable)
        try:
            hands.act()
        except (LinkworkError, ValueError, KeyError, IndexError, TypeError):
            refused += 1
            if before is not None:
                assert editor.text() == before
                assert len(editor.mechanism.journal.undoable) == count
        if k % 25 == 0:
            text = editor.text()
            assert mechanism_of_text(text.encode()).copy() is not None
            again = Editor(mechanism_of_text(text.encode()))
            assert again.text() == text
            if editor.refresh() is not None:
                fresh = editor.mechanism.compile(floating=True)
                assert fresh.body_names == editor.model.body_names
                assert np.array_equal(fresh.q_drawn, editor.model.q_drawn)
                drawn = drawing(editor.model, drawn)
                assert set(drawn.bodies) == set(editor.mechanism.bodies)
    assert refused < 600
    end = editor.text()
    undone = 0
    while editor.mechanism.journal.undoable:
        editor.undo()
        undone += 1
    for _ in range(undone):
        editor.redo()
    assert editor.text() == end
    assert undone > 50


NAN = float("nan")


@pytest.mark.parametrize(
    ("words", "edit"),
    [
        ("shape is 'box'.*give a shape", lambda e: e.add_shape("box")),
        ("name is 3", lambda e: e.add_shape(lw.Box(1, 1, 1), 3)),
        (r"position \(0, 0\); give 3 numbers", lambda e: e.add_shape(lw.Box(1, 1, 1), "c", (0, 0))),
        ("is not finite", lambda e: e.add_shape(lw.Box(1, 1, 1), "c", (NAN, 0, 0))),
        ("is not finite", lambda e: e.join("Revolute", "a", "b", (0, NAN, 0), axis=(0, 1, 0))),
        ("position None", lambda e: e.join("Revolute", "a", "b", None)),
        ("no direction", lambda e: e.join("Revolute", "a", "b", (0, 0, 0), axis=(0, 0, 0))),
        ("has no axis", lambda e: e.join("Spherical", "a", "b", (0, 0, 0), axis=(0, 0, 1))),
        ("the world", lambda e: e.place("ground", (1, 0, 0))),
        ("give 3 numbers", lambda e: e.place("a", (1, 0))),
        ("the world", lambda e: e.duplicate("ground")),
        ("the world", lambda e: e.mirror("ground")),
        ("unknown axis 'w'", lambda e: e.mirror("a", "w")),
        ("a name that can be read", lambda e: e.rename("a", " ")),
        ("two bodies or more", lambda e: e.merge("ab")),
        ("unknown body 'c'", lambda e: e.pull(np.zeros(1), "c", np.zeros(3), np.zeros(3))),
        ("mechanism is None", lambda e: e.open(None)),
        ("text is '{}'", lambda e: e.open_text("{}")),
        ("content is 'junk'", lambda e: e.add_sent("x.stl", "junk")),
        ("has no gravty", lambda e: setattr(e, "gravty", 1)),
        ("mechanism is 3", lambda e: Editor(3)),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_changed(words, edit):
    editor = Editor()
    editor.add_shape(lw.Box(1, 1, 1), "a")
    editor.join("Revolute", "ground", "a", (0, 0, 0), axis=(0, 1, 0), name="pin")
    editor.add_shape(lw.Box(1, 1, 1), "b")
    before = editor.text()
    with pytest.raises((LinkworkError, ValueError, TypeError, KeyError, AttributeError), match=words):
        edit(editor)
    assert editor.text() == before


def test_undo_comes_back_to_what_was_edited_before_another_was_opened():
    editor = Editor()
    editor.add_shape(lw.Box(0.1, 0.1, 0.1), "box")
    mine, example = editor.mechanism, lw.examples.four_bar()
    editor.open(example)
    editor.delete("rocker")
    assert editor.undo() == "delete rocker"
    whole = editor.text()
    assert editor.undo() == "open four-bar"  # not the last line that made it
    assert editor.mechanism is mine
    editor.undo()
    with pytest.raises(IndexError, match="nothing to undo"):
        editor.undo()
    assert editor.redo()
    assert editor.redo() == "open four-bar"
    assert editor.text() == whole
    assert editor.redo() == "delete rocker"
    editor.undo()
    editor.undo()
    editor.add_shape(lw.Box(0.1, 0.1, 0.1), "other")  # what was undone is gone then
    with pytest.raises(IndexError, match="nothing to redo"):
        editor.redo()
    assert list(editor.mechanism.bodies) == ["box", "other"]


def test_what_is_opened_first_is_not_taken_apart_by_undo():
    editor = Editor()
    editor.open(lw.examples.four_bar())
    with pytest.raises(IndexError, match="nothing to undo"):
        editor.undo()
    assert len(editor.mechanism.joints) == 4


def test_a_polygon_is_a_plate_in_space_and_in_the_plane():
    corners = corners_of("0 0, 0.3 0; 0 0.4")
    for space in ("space", "plane"):
        editor = Editor(lw.Mechanism("plates", space=space))
        assert editor.add_polygon(corners, 0.01, "plate", (1.0, 0.0, 0.0)) == "plate"
        body = editor.body("plate")
        assert body.inertia.mass == pytest.approx(7850.0 * 0.06 * 0.01)
        assert body.position[0] == 1.0
    for wrong in ("", "0 0, 1 0", "0 0, 1 x, 1 1", "0 0 0, 1 0 0, 1 1 0", "0, 1, 2"):
        with pytest.raises(ValueError, match="at least three corners"):
            corners_of(wrong)
