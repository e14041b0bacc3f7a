"""The page of the mechanic: what is pressed and pulled there becomes of the mechanism."""

import time

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanic import Editor, mechanic
from linkwork.view.camera import View, projected


@pytest.fixture
def page():
    made = mechanic(Editor())
    yield made
    made.close()


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


class Hand:
    """A mouse on a page."""

    def __init__(self, tab, page):
        self.tab, self.page, self.mouse = tab, page, tab.page.mouse

    def place(self, point):
        """Return where a point of the world is seen, when the picture stands still."""
        (client,) = self.page.server.get_clients().values()
        seen = []

        def still():
            box = self.tab.page.locator("canvas").first.bounding_box()
            seen.append((*client.camera.position, box["width"], box["height"]))
            return len(seen) > 4 and seen[-1] == seen[-4]

        self.tab.until(still)
        box, camera = self.tab.page.locator("canvas").first.bounding_box(), client.camera
        look = np.array(camera.position), np.array(camera.look_at), np.array(camera.up_direction)
        pixels, _ = projected(np.array([point]), View(*look, camera.fov), (box["width"], box["height"]))
        return np.array([box["x"], box["y"]]) + pixels[0]

    def choose(self, folder, label, option):
        """Choose from a list in a folder of the panel."""
        block = self.tab.page.locator(f"label:text-is('{label}')").locator(
            "xpath=ancestor::div[contains(@class, 'mantine-Flex-root')][1]"
        )
        block.nth(folder).locator("input:visible").click()
        self.tab.page.get_by_role("option", name=option, exact=True).locator("visible=true").click()

    def pull_gizmo(self, to):
        """Take the gizmo by its arrow along x, and pull it until it is at a place."""
        handle = self.page.gizmo._handle
        at, size = np.array(handle.position), 0.75 * handle.scale
        along = np.array([1.0, 0.0, 0.0])
        start, end = self.place(at + size * along), self.place(np.asarray(to) + size * along)
        self.mouse.move(*start)
        self.tab.page.wait_for_timeout(400)
        self.mouse.down()
        for part in np.linspace(0.0, 1.0, 9):
            self.mouse.move(*(start + part * (end - start)))
            self.tab.page.wait_for_timeout(60)
        self.mouse.up()


@pytest.mark.browser
def test_a_slider_crank_is_built_from_three_meshes_with_the_mouse_only(page, parts, tab, tmp_path):
    page.switches["shadows"].value = False
    page.stage.show_shadows(False)
    tab.open(page.url, "/floor")
    hand, m = Hand(tab, page), page.editor.mechanism
    for path in parts:
        with tab.page.expect_file_chooser() as chooser:
            tab.press("button", "Upload part")
        chooser.value.set_files(path)
        tab.until(lambda path=path: path.stem in m.bodies)
    tab.page.get_by_text("Parts", exact=True).first.click()  # fold it: the panel is long
    for parent, child, kind, axis, to in (
        ("ground", "crank", "Revolute", "y", (0.0, 0.0, 0.0)),
        ("crank", "rod", "Revolute", "y", (0.1, 0.03, 0.0)),
        ("rod", "slider", "Revolute", "y", (0.4, 0.07, 0.0)),
        ("ground", "slider", "Prismatic", "x", None),
    ):
        count = len(m.joints)
        hand.choose(0, "On", parent)
        hand.choose(0, "Body", child)
        hand.choose(0, "Kind", kind)
        tab.press("button", "Add joint")
        tab.until(lambda count=count: len(m.joints) == count + 1 and page.selected == list(m.joints)[-1])
        name = page.selected
        tab.press("button", axis)
        tab.until(lambda name=name, axis=axis: page.editor.joint_pose(name)["xyz".index(axis), 2] > 0.99)
        if to is not None and np.abs(page.editor.joint_pose(name)[:, 3] - to).max() > 1e-3:
            for _ in range(5):  # a picture that is drawn slowly may miss the hand
                hand.pull_gizmo(to)
                tab.page.wait_for_timeout(1500)
                if np.abs(page.editor.joint_pose(name)[:, 3] - to)[0] < 0.01:
                    break
            assert np.abs(page.editor.joint_pose(name)[:, 3] - to)[0] < 0.01
    tab.until(lambda: "1 degree of freedom" in tab.page.locator("body").inner_text())
    tab.press("button", "Run")
    tab.until(lambda: page.engine is not None and page.engine.state.t > 0.2)
    tab.press("button", "reset")
    tab.until(lambda: page.engine is None)
    tab.page.get_by_text("File", exact=True).first.click()
    with tab.page.expect_download() as download:
        tab.press("button", "json")
    download.value.save_as(tmp_path / "made.json")
    model = lw.load(tmp_path / "made.json").compile()
    run = lw.simulate(model, 1.0)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6
    assert run.derived("gaps").max() < 1e-9
    assert tab.errors == []
