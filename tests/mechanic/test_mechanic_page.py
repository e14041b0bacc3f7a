"""The page of the mechanic: what is pressed and pulled there becomes of the mechanism."""

import time

import numpy as np

import linkwork as lw
from linkwork.mechanic.snapping import frame_along


def until(true, seconds=20.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not become so in time"
        time.sleep(0.02)


def test_the_page_follows_edits_undo_and_redo(page):
    page.editor.add_shape(lw.Box(0.1, 0.02, 0.02), "crank")
    until(lambda: page.drawing.bodies == ("crank",))
    until(lambda: "6 degrees of freedom" in page._advised.content)
    page.editor.undo()
    until(lambda: page.drawing.bodies == ())
    page.editor.redo()
    until(lambda: page.drawing.bodies == ("crank",))


def test_a_mistake_is_said_and_nothing_changes(page):
    page.editor.add_shape(lw.Box(0.1, 0.02, 0.02), "crank")
    before = page.editor.text()
    page.try_edit(page.editor.join, "Revolute", "crank", "crank", (0, 0, 0))
    assert "itself" in page._note.content
    assert page.editor.text() == before


def test_it_runs_and_comes_back_to_the_drawing(page):
    page.editor.add_shape(lw.Box(0.3, 0.02, 0.02), "arm", (0.15, 0, 0))
    page.editor.join("Revolute", "ground", "arm", (0, 0, 0), axis=(0, 1, 0), name="pin")
    until(lambda: "1 degree" in page._advised.content)
    page.start_or_stop()
    until(lambda: page.engine is not None and page.engine.state.t > 0.1)
    page.reset()
    assert page.engine is None
    assert np.allclose(page.now().poses[0][:, 3], (0.15, 0, 0))


def test_a_run_that_begins_while_an_edit_is_looked_at_goes_on(page):
    page.editor.add_shape(lw.Box(0.3, 0.02, 0.02), "arm", (0.15, 0, 0))
    page.editor.join("Revolute", "ground", "arm", (0, 0, 0), axis=(0, 1, 0), name="pin")
    page.show_now()
    made = page.remade(page.editor.mechanism)
    page.start_or_stop()
    before = page.engine
    with page._lock:
        page.show_edited(made)
    assert page.engine is not before
    assert page.engine.running
    assert page._run.label == "Stop"


def test_hostile_uploads_change_nothing(page):
    names = (
        "../../x.stl",
        "a.exe",
        "x.json",
        "x.urdf",
        "a.glb",
        "x.stl\0.txt",
        "",
        "/etc/passwd",
        "x" * 999 + ".stl",
    )
    contents = (
        b"",
        b"\0" * 99,
        b"solid\n" * 9,
        b"{",
        b'{"linkwork": "mechanism"}',
        b"<robot>",
        b"glTF" + b"\xff" * 64,
    )
    for name in names:
        for content in contents:
            page.try_edit(lambda name=name, content=content: page.editor.add_sent(name, content))
    assert not page.editor.mechanism.elements


def test_motors_inputs_and_drivers_have_sliders_while_it_runs(page):
    editor = page.editor
    for name, y in (("arm", 0.0), ("wing", 0.5)):
        editor.add_shape(lw.Box(0.3, 0.02, 0.02), name, (0.15, y, 0))
        editor.join("Revolute", "ground", name, (0, y, 0), axis=(0, 0, 1), name=f"{name} pin")
    editor.motor("arm pin", 0.0)
    editor.drive("wing pin", "0.2 * t")
    until(lambda: "1 degree" in page._advised.content)
    assert page.sliders is None
    page.start_or_stop()
    motor, driver = page.sliders.by_label
    assert motor.endswith("[N m]")
    assert driver.endswith("[rad]")
    by_name = {one.kind: one for one in page.engine.adjustables}
    page.engine.hand.adjust(by_name["force"], 0.5)
    page.engine.hand.adjust(by_name["driver"], 0.7)
    k = page.engine.model.slices["wing pin"][0].start
    until(lambda: np.abs(page.engine.state.v).max() > 0.1 and page.engine.state.q[k] > 0.65)
    editor.change_joint("arm pin", "damping", 0.3)  # sliders stay through an edit
    before = page.sliders
    until(lambda: page.engine and page.engine.model.mechanism.joints["arm pin"].damping == 0.3)
    assert page.sliders is before
    assert page.engine.hand.adjusted[by_name["driver"].key] == 0.7
    page.reset()
    assert page.sliders is None


def test_the_gizmo_moves_a_joint_as_far_as_it_is_pulled_however_late_it_is_shown(page):
    page.editor.add_shape(lw.Box(0.3, 0.02, 0.02), "arm", (0.15, 0, 0))
    page.editor.join("Revolute", "ground", "arm", (0.1, 0, 0), name="pin")
    page.show_and_select("pin")
    page.gizmo.snap = False
    page.editor.place_joint("pin", (0.1, 0, 0), frame_along(np.array([0.0, 1.0, 0.0])))
    page.gizmo._released("pin", np.array([0.05, 0.0, 0.0]), np.eye(3))  # handles that still show z
    pose = page.editor.joint_pose("pin")
    assert np.allclose(pose[:, 3], (0.15, 0, 0))
    assert np.allclose(pose[:, 2], (0, 1, 0))


def test_the_guide_notices_each_step_that_was_done(page):
    editor, guide = page.editor, page.guide
    assert guide.open
    assert guide.done == 0
    for name, sides, place in (
        ("crank", (0.10, 0.02, 0.02), (0.05, 0, 0)),
        ("rod", (0.30, 0.02, 0.02), (0.25, 0.03, 0)),
        ("slider", (0.06, 0.05, 0.05), (0.40, 0.07, 0)),
    ):
        assert guide.done == 0
        editor.add_shape(lw.Box(*sides), name, place)
    until(lambda: guide.done == 1)
    assert '<li class="done"><span>✓</span><div>Three parts' in guide._sheet.content
    assert "Body crank, As Revolute" in guide._sheet.content  # parts by their names
    editor.join("Revolute", "ground", "crank", (0, 0, 0), axis=(0, 1, 0))
    until(lambda: guide.done == 2)
    editor.join("Revolute", "crank", "rod", (0.1, 0, 0), axis=(0, 1, 0))
    editor.join("Revolute", "rod", "slider", (0.4, 0, 0), axis=(0, 1, 0))
    until(lambda: guide.done == 3)
    editor.join("Prismatic", "ground", "slider", (0.4, 0, 0), axis=(1, 0, 0))
    until(lambda: guide.done == 5)  # it closes, and one freedom is left
    page.pulled_once = True
    page.start_or_stop()
    until(lambda: guide.finished)
    page.heard()["guide"](None, "close")
    assert guide._sheet.content == ""
    page.files._pressed("guide")
    assert guide.done == 7


def test_limits_are_shown_as_an_arc_and_pulled_by_their_ends(page):
    editor, marks = page.editor, page.limit_marks
    editor.add_shape(lw.Box(0.3, 0.02, 0.02), "arm", (0.15, 0, 0))
    editor.join("Revolute", "ground", "arm", (0, 0, 0), axis=(0, 0, 1), name="pin")
    editor.join(
        "Prismatic", "ground", editor.add_shape(lw.Box(0.1, 0.1, 0.1), "block"), (0, 1, 0), name="rail"
    )
    editor.change_joint("pin", "limits", (-0.5, 1.0))
    page.show_and_select("pin")
    line = marks._line.points
    assert line.shape == (50, 2, 3)
    angles = np.arctan2(line[:48, 0, 1], line[:48, 0, 0])
    assert np.allclose(angles, np.linspace(-0.5, 1.0, 49)[:-1], atol=1e-6)
    radius = np.linalg.norm(line[0, 0])
    eye = np.array([0.0, 0.0, 5.0])  # from above, at 1.4 rad
    marks.pull(1, eye, radius * np.array([np.cos(1.4), np.sin(1.4), 0.0]) - eye)
    assert np.isclose(marks.limits[1], 1.4)
    assert np.allclose(marks._ends[1].position, radius * np.array([np.cos(1.4), np.sin(1.4), 0.0]))
    marks.pull(0, eye, radius * np.array([np.cos(2.0), np.sin(2.0), 0.0]) - eye)  # not past the other end
    assert np.allclose(marks.limits, 1.4)
    marks.keep("pin", (-0.5, 1.4))
    assert np.allclose(editor.joint("pin").limit_pairs(), [(-0.5, 1.4)])

    editor.change_joint("rail", "limits", (0.0, 0.2))
    page.show_and_select("rail")
    pose = editor.joint_pose("rail")
    eye = pose[:, 3] + (2.0, 1.0, 0.0)
    marks.pull(1, eye, pose[:, 3] + 0.35 * pose[:, 2] - eye)
    assert np.allclose(marks.limits, (0.0, 0.35))
    page.select("arm")
    assert not marks._line.visible


def test_a_part_that_is_not_closed_is_shown_and_repaired_at_a_press(page):
    vertices, faces = lw.Cylinder(0.02, 0.1).surface()
    lines = [*(f"v {x} {y} {z}" for x, y, z in vertices), *(f"f {a} {b} {c}" for a, b, c in faces[:-9] + 1)]
    (name,) = page.editor.add_sent("tube.obj", "\n".join(lines).encode())
    page.show_and_select(name)
    assert name in page.drawing.bodies
    assert not page._note.visible
    assert "press repair" in page.bodies_tab._note.content
    assert "tube is not closed" in page._advised.content
    page.heard()["fix"](None, "0")
    page.show_now()
    assert "not closed" not in page._advised.content
    page._show_tabs()
    assert not page.bodies_tab._note.visible
    assert page.bodies_tab._place.value == (0.0, 0.0, 0.0)
