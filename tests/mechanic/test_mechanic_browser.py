"""Mechanisms that are built in a real browser, with nothing but a mouse and a keyboard."""

import numpy as np
import pytest

import linkwork as lw

pytestmark = pytest.mark.browser

_ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper arm"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.05 0.05"/></geometry></visual></link>
  <link name="forearm"><inertial><origin xyz="0.15 0 0"/><mass value="1"/>
    <inertia ixx="0.005" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0.15 0 0"/><geometry><box size="0.3 0.04 0.04"/></geometry></visual></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper arm"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper arm"/><child link="forearm"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
</robot>"""


class Hand:
    """A mouse on a page of the mechanic."""

    def __init__(self, tab, page):
        self.tab, self.page, self.editor = tab, page, page.editor
        page.switches["shadows"].value = False  # software draws them slowly
        page.stage.show_shadows(False)
        tab.open(page.url, "/floor")

    def fold(self, folder):
        """Open or close a folder of the panel."""
        self.tab.page.get_by_text(folder, exact=True).first.click()

    def choose(self, label, option):
        """Choose from the first list with a label."""
        block = self.tab.page.locator(f"label:text-is('{label}')").locator(
            "xpath=ancestor::div[contains(@class, 'mantine-Flex-root')][1]"
        )
        field = block.first.locator("input:visible")
        if field.input_value() == option:
            return
        field.click()
        self.tab.page.get_by_role("option", name=option, exact=True).locator("visible=true").click()

    def join(self, kind, parent, child):
        """Add a joint, and return its name when it is selected."""
        there = set(self.editor.mechanism.joints)
        self.choose("On", parent)
        self.choose("Body", child)
        self.choose("As", kind)
        self.tab.press("button", "Add joint")
        self.tab.until(lambda: self.page.selected in set(self.editor.mechanism.joints) - there)
        return self.page.selected

    def turn(self, joint, axis):
        """Let the selected joint turn about an axis of the world, or slide along it."""
        self.tab.press("button", axis)
        self.tab.until(lambda: self.editor.joint_pose(joint)["xyz".index(axis), 2] > 0.99)

    def type(self, label, numbers):
        """Type numbers into the fields beside a label."""
        self.tab.row(label).first.wait_for()
        for field, number in zip(self.tab.row(label).all(), numbers, strict=True):
            field.fill(repr(number))
            field.press("Enter")

    def click(self, body, point):
        """Click on a body at a place of the world."""
        self.tab.page.evaluate("document.activeElement.blur()")  # keys are for the page, not for a field
        self.tab.page.keyboard.press("Escape")
        self.tab.until(lambda: self.page.selected is None)
        seen = self.tab.seen([point, *self.page.camera.box])[0]
        self.tab.pull(seen, seen, 0)
        self.tab.until(lambda: self.page.selected == body)

    def drop(self, paths):
        """Let files fall on the page."""
        files = self.tab.page.evaluate_handle(
            "files => files.reduce((all, [name, text]) => (all.items.add(new File([text], name)), all),"
            " new DataTransfer())",
            [(path.name, path.read_text()) for path in paths],
        )
        self.tab.page.dispatch_event("canvas", "drop", {"dataTransfer": files})

    def pull_gizmo(self, joint, to):
        """Take the gizmo by its arrow along x, and pull it once, until it is at a place."""
        handle, tip = self.page.gizmo.handle, np.array([0.7, 0.0, 0.0])
        there = self.editor.joint_pose(joint)
        self.tab.until(lambda: self.tab.near("/gizmo", there[:, 3]))
        along = np.sign(there[0, 0]) if abs(there[0, 0]) > 0.9 else 1.0
        reach = along * handle.scale * tip
        start, end, *_ = self.tab.seen([there[:, 3] + reach, np.asarray(to) + reach, *self.page.camera.box])
        self.tab.pull(start, end)
        self.tab.until(lambda: np.abs(self.editor.joint_pose(joint)[:, 3] - there[:, 3]).max() > 1e-3, 20.0)


def test_a_slider_crank_is_built_from_three_meshes_with_the_mouse_only(page, parts, tab, tmp_path):
    hand, m = Hand(tab, page), page.editor.mechanism
    with tab.page.expect_file_chooser() as chooser:
        tab.press("button", "Upload part")
    chooser.value.set_files(parts[0])
    tab.until(lambda: "crank" in m.bodies)
    hand.drop(parts[1:])
    tab.until(lambda: set(m.bodies) == {"crank", "rod", "slider"})
    hand.fold("Parts")  # the panel is long
    for parent, child, kind, axis, to in (
        ("ground", "crank", "Revolute", "y", (0.0, 0.0, 0.0)),
        ("crank", "rod", "Revolute", "y", (0.1, 0.03, 0.0)),
        ("rod", "slider", "Revolute", "y", (0.4, 0.07, 0.0)),
        ("ground", "slider", "Prismatic", "x", (0.48, 0.07, 0.0)),
    ):
        joint = hand.join(kind, parent, child)
        hand.turn(joint, axis)
        hand.pull_gizmo(joint, to)
        assert np.abs(page.editor.joint_pose(joint)[:, 3] - to)[0] < 0.01
    tab.until(lambda: "1 degree of freedom" in tab.page.locator("body").inner_text())
    tab.press("button", "Run")
    tab.until(lambda: page.engine is not None and page.engine.state.t > 0.2)
    tab.press("button", "reset")
    tab.until(lambda: page.engine is None)
    hand.fold("File")
    with tab.page.expect_download() as download:
        tab.press("button", "json")
    download.value.save_as(tmp_path / "made.json")
    model = lw.load(tmp_path / "made.json").compile()
    run = lw.simulate(model, 1.0)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6
    assert run.derived("gaps").max() < 1e-9
    assert tab.errors == []


def test_the_steam_engine_is_built_from_the_parts_of_an_example(page, tab):
    hand, editor = Hand(tab, page), page.editor
    hand.fold("File")
    tab.tick("Parts only")
    tab.until(lambda: page.files._taken_apart.value)
    hand.choose("Example", "steam_engine")
    tab.until(lambda: len(editor.mechanism.bodies) == 8 and not editor.mechanism.joints)
    tab.until(lambda: tab.page.get_by_role("button", name="rocker arm").count() > 0)
    for folder in ("File", "Parts"):
        hand.fold(folder)
    for kind, parent, child in (
        ("Fixed", "ground", "base"),
        ("Revolute", "base", "flywheel"),
        ("Revolute", "flywheel", "connecting rod"),
        ("Revolute", "connecting rod", "piston rod"),
        ("Revolute", "flywheel", "eccentric rod"),
        ("Revolute", "eccentric rod", "rocker arm"),
        ("Revolute", "rocker arm", "valve rod"),
        ("Revolute", "base", "valve cylinder"),
    ):
        joint = hand.join(kind, parent, child)  # at the origin of the body
        if kind == "Revolute":
            hand.turn(joint, "y")
    hand.turn(hand.join("Prismatic", "base", "piston rod"), "x")
    # the rocker turns about a post of the base: the joint comes at its end, and is pulled to its middle
    pivot = hand.join("Revolute", "base", "rocker arm")
    hand.turn(pivot, "y")
    hand.type("Place [m]", (0.2, -0.03, 0.05))
    tab.until(lambda: np.allclose(editor.joint_pose(pivot)[:, 3], (0.2, -0.03, 0.05)))
    # the valve slides along its rod: a click on the rod's end finds the middle of its circle, and its axis
    ends = [place for place in editor.features("valve rod") if place.kind == "circle"]
    end = max(ends, key=lambda place: place.point[0])
    row = tab.page.locator("[aria-label='valve cylinder']")
    row.hover()
    row.locator(".lw-act").first.click()  # hides what it is in
    tab.until(lambda: page.looks.hidden == {"valve cylinder"})
    hand.click("valve rod", end.point - 0.002 * end.axis)
    slide = hand.join("Prismatic", "valve cylinder", "valve rod")
    assert np.allclose(np.abs(editor.joint_pose(slide)[:, 2] @ end.axis), 1.0)
    tab.until(lambda: "1 degree of freedom" in tab.page.locator("body").inner_text())

    built, example = editor.mechanism.compile(), lw.examples.steam_engine()
    example.remove(example["steam"])
    example.joints["bearing"].damping = 0.0
    runs = [lw.simulate(made, 0.5) for made in (built, example.compile())]
    turned = [run.derived("poses")[:, run.model.body_names.index("flywheel")] for run in runs]
    assert np.abs(turned[0][-1] - turned[1][-1]).max() < 1e-6
    assert np.abs(turned[0][-1] - turned[0][0]).max() > 0.01
    assert tab.errors == []


def test_a_robot_of_a_urdf_file_is_edited(page, tab, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(_ARM)
    hand, editor = Hand(tab, page), page.editor
    with tab.page.expect_file_chooser() as chooser:
        tab.press("button", "Upload part")
    chooser.value.set_files(path)
    tab.until(lambda: {"shoulder", "elbow"} <= set(editor.mechanism.joints))
    tab.press("button", "Add shape")
    tab.until(lambda: "box" in editor.mechanism.bodies)
    hand.fold("Parts")
    hand.join("Fixed", "forearm", "box")
    tab.press("button", "elbow · revolute")
    tab.until(lambda: page.selected == "elbow")
    hand.type("Damping [N m s]", (0.25,))
    tab.until(lambda: editor.joint("elbow").damping == 0.25)
    hand.fold("File")
    with tab.page.expect_download() as download:
        tab.press("button", "urdf")
    download.value.save_as(tmp_path / "edited.urdf")
    edited = lw.load(tmp_path / "edited.urdf")
    assert edited.joints["elbow"].damping == 0.25
    assert "box" in edited.bodies
    assert edited.compile().nv == 2
    assert tab.errors == []


def test_ground_and_contact_are_switched_and_a_block_falls_on_it(page, tab):
    hand, editor = Hand(tab, page), page.editor
    tab.press("button", "Add shape")
    tab.until(lambda: "box" in editor.mechanism.bodies)
    hand.type("Size [m]", (0.05, 0.05, 0.05))
    tab.press("button", "Add shape")
    tab.until(lambda: "box 2" in editor.mechanism.bodies)
    tab.press("button", "box 2")
    tab.until(lambda: page.selected == "box 2")
    hand.type("Place [m]", (0.0, 0.0, 0.1))
    tab.until(lambda: editor.body("box 2").position[2] == 0.1)
    assert "principal moments" in tab.page.locator("body").inner_text()
    assert tab.visible("/mass")
    for word in ("Ground", "Contact"):
        tab.tick(word)
    tab.until(lambda: editor.has_ground and editor.touching)
    tab.press("button", "Run")
    number = page.stage.numbers["box 2"]
    tab.until(lambda: page.engine is not None and page.engine.state.t > 0.5, 120.0)
    assert page.now().poses[number, 2, 3] > -0.01  # on the ground, or on the other
    tab.press("button", "reset")
    tab.until(lambda: page.engine is None)
    tab.page.keyboard.press("Control+z")
    tab.until(lambda: not editor.touching and not tab.row("Contact").is_checked())
    assert tab.errors == []


def test_two_tabs_stay_in_step(page, tab, browser):
    other = type(tab)(browser.new_page())
    hand = Hand(tab, page)
    other.open(page.url, "/floor")
    tab.press("button", "Add shape")
    for each in (tab, other):
        each.until(lambda each=each: each.page.get_by_role("button", name="box").count() > 0)
    other.page.keyboard.press("Control+z")
    for each in (tab, other):
        each.until(lambda each=each: each.page.get_by_role("button", name="box").count() == 0)
    tab.page.keyboard.press("Control+y")
    for each in (tab, other):
        each.until(lambda each=each: "6 degrees of freedom" in each.page.locator("body").inner_text())
    hand.join("Revolute", "ground", "box")
    for each in (tab, other):
        each.until(lambda each=each: "1 degree of freedom" in each.page.locator("body").inner_text())
        each.until(lambda each=each: each.row("Name").first.input_value() == "revolute")
        assert each.errors == []
    other.page.close()
