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


def test_motors_have_sliders_while_it_runs(page):
    page.editor.add_shape(lw.Box(0.3, 0.02, 0.02), "arm", (0.15, 0, 0))
    page.editor.join("Revolute", "ground", "arm", (0, 0, 0), axis=(0, 0, 1), name="pin")
    page.editor.motor("pin", 0.0)
    until(lambda: "1 degree" in page._advised.content)
    assert page.sliders == {}
    page.start_or_stop()
    assert list(page.sliders) == ["pin"]
    page.push("pin", 0.5)
    until(lambda: page.engine.state.v[0] > 0.1)
    page.reset()
    assert page.sliders == {}


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
