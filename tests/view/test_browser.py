"""The real page in a real browser: what is seen is what the recording says."""

import time

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.view import save_html, show
from linkwork.view.camera import View, projected
from linkwork.view.palette import SELECTED
from linkwork.view.trajectory import recorded

pytestmark = pytest.mark.browser


def shown(thing, *args, **options):
    viewer = show(thing, *args, open_browser=False, block=False, **options)
    viewer.switches["shadows"].value = False  # software draws them slowly
    return viewer


@pytest.fixture(scope="module")
def run():
    return lw.simulate(examples.steam_engine(), 1.0)


@pytest.fixture(scope="module")
def viewer(run):
    with shown(run) as made:
        yield made


def expected(drawing, batch, poses):
    """Return the matrices (N, 4, 4) of a batch's pieces when the bodies are at poses."""
    made = []
    for piece in batch.pieces:
        X = (
            np.vstack([poses[drawing.bodies.index(piece.body)], (0, 0, 0, 1)])
            if piece.body != "ground"
            else np.eye(4)
        )
        made.append(X @ np.vstack([piece.pose, (0, 0, 0, 1)]) @ np.diag([*piece.shell.scale, 1.0]))
    return np.array(made)


def drawn_as(tab, viewer, poses, tolerance=2e-5):
    """Return whether the page draws all bodies at these poses."""
    for batch in viewer.stage.bodies:
        found = tab.matrices(batch.handle.name)
        if found is None or np.abs(found - expected(viewer.drawing, batch, poses)).max() > tolerance:
            return False
    return True


def on_screen(tab, viewer, point):
    """Return where the page shows a point of the world, in pixels, when the picture has been fitted to it."""
    (client,) = list(viewer.server.get_clients().values())[-1:]
    fitted = []

    def still():
        box = tab.page.locator("canvas").first.bounding_box()
        fitted.append((*client.camera.position, box["width"], box["height"]))
        return len(fitted) > 5 and fitted[-1] == fitted[-5]

    tab.until(still)
    box, camera = tab.page.locator("canvas").first.bounding_box(), client.camera
    view = View(
        np.array(camera.position), np.array(camera.look_at), np.array(camera.up_direction), camera.fov
    )
    pixels, _ = projected(np.array([point]), view, (box["width"], box["height"]))
    return box["x"] + pixels[0, 0], box["y"] + pixels[0, 1]


def test_the_page_opens_as_recorded_and_asks_nobody_else(viewer, run, tab):
    tab.open(viewer.url)
    assert tab.page.title() == "steam engine · Linkwork"
    tab.until(lambda: drawn_as(tab, viewer, run.derived("poses")[0]))
    own = f"http://127.0.0.1:{viewer.server.port}/"
    assert all(address.startswith((own, f"blob:{own}", "data:")) for address in tab.asked)
    assert "token" not in tab.page.url
    assert tab.errors == []
    assert tab.page.locator("[aria-label*='hare']").count() == 0  # no button to share


def test_scrubbing_shows_the_pose_of_that_time(viewer, run, tab):
    tab.open(viewer.url)
    k = int(np.searchsorted(run.time, 0.6))
    box = tab.row("Time [s]")
    box.fill("0.4321")
    box.press("Enter")
    truth = lw.simulate(run.model, 1.0, times=[0.4321])  # asked of the model, not of the viewer
    tab.until(lambda: drawn_as(tab, viewer, truth.derived("poses")[0], 1e-4))
    viewer.seek(run.time[k])
    tab.until(lambda: drawn_as(tab, viewer, run.derived("poses")[k]))
    assert not drawn_as(tab, viewer, run.derived("poses")[k - 3])


def test_dragging_the_slider_scrubs(viewer, run, tab):
    tab.open(viewer.url)
    viewer.seek(0.0)
    track = tab.page.locator("[data-lw-place=bottom] .mantine-Slider-trackContainer").bounding_box()
    y = track["y"] + track["height"] / 2
    tab.page.mouse.move(track["x"] + 0.2 * track["width"], y)
    tab.page.mouse.down()
    for k in range(6):
        tab.page.mouse.move(track["x"] + (0.2 + 0.05 * k) * track["width"], y)
        tab.page.wait_for_timeout(60)
    tab.page.mouse.up()
    tab.until(lambda: 0.3 < viewer.player.t < 0.6)
    tab.page.wait_for_timeout(500)
    poses = recorded(run).at(viewer.player.t).poses
    tab.until(lambda: drawn_as(tab, viewer, poses))


def test_play_and_pause(viewer, tab):
    tab.open(viewer.url)
    viewer.seek(0.0)
    tab.press("button", "Play")
    tab.until(lambda: viewer.player.t > 0.05 and viewer.player.playing)
    before = tab.matrices(viewer.stage.bodies[1].handle.name)
    tab.until(lambda: np.abs(tab.matrices(viewer.stage.bodies[1].handle.name) - before).max() > 1e-3)
    tab.press("button", "Pause")
    tab.until(lambda: not viewer.player.playing)
    tab.until(lambda: drawn_as(tab, viewer, viewer.now().poses))


def test_single_steps(viewer, run, tab):
    tab.open(viewer.url)
    viewer.seek(run.time[5])
    tab.press("button", ">")
    tab.until(lambda: viewer.player.t == run.time[6])
    tab.until(lambda: drawn_as(tab, viewer, run.derived("poses")[6]))
    tab.press("button", "<")
    tab.until(lambda: viewer.player.t == run.time[5])


def test_a_click_on_a_body_selects_it_and_a_click_in_the_tree_too(viewer, run, tab):
    viewer.select(None)
    viewer.seek(0.0)
    tab.open(viewer.url)
    (batch,) = [batch for batch in viewer.stage.bodies if any(p.name == "flywheel" for p in batch.pieces)]
    own = np.array([piece.name == "flywheel" for piece in batch.pieces])
    plain = tab.colours(batch.handle.name)
    # a point of the rim, on the side of the viewer
    x, y = on_screen(tab, viewer, (-0.08, -0.012, 0.05))
    tab.page.mouse.move(x, y)
    tab.page.wait_for_timeout(300)
    tab.page.mouse.click(x, y)
    tab.until(lambda: viewer.selected == "flywheel")
    tab.until(lambda: np.abs(tab.colours(batch.handle.name) - plain)[own].max() > 0.1)
    assert np.array_equal(tab.colours(batch.handle.name)[~own], plain[~own])
    amber = tab.colours(batch.handle.name)[own][0]
    assert amber[0] > amber[1] > amber[2], SELECTED
    tab.press("button", "rocker arm")
    tab.until(lambda: viewer.selected == "rocker arm")
    tab.until(lambda: np.array_equal(tab.colours(batch.handle.name)[own], plain[own]))
    tab.press("button", "crank pin · revolute")
    tab.until(lambda: viewer.selected == "crank pin")


def test_every_overlay_can_be_switched(viewer, run, tab):
    nodes = {
        "names": "/overlays/names",
        "frames": "/overlays/frames",
        "centres of mass, inertia": "/overlays/centers",
        "joint axes": "/overlays/axes",
        "reactions": "/overlays/reactions",
        "reaction torques": "/overlays/reaction-torques",
        "applied forces": "/overlays/applied-forces",
        "applied torques": "/overlays/applied-torques",
        "velocities": "/overlays/velocities",
        "traces": "/overlays/traces",
        "loop gaps": "/overlays/gaps",
    }
    assert set(nodes) == set(viewer.overlays.switches)
    viewer.seek(0.5)
    tab.open(viewer.url)
    tab.press("tab", "Show")
    for label, node in nodes.items():
        tab.row(label).check(force=True)
        tab.until(lambda node=node: tab.visible(node))
        if label == "loop gaps":
            told = f"loop gaps [m, rad]: {run.model.loop_names[0]}: "
            tab.until(lambda told=told: told in tab.page.locator("body").inner_text())
        tab.row(label).uncheck(force=True)
        tab.until(lambda node=node: not tab.visible(node))
    tab.row("joints").uncheck(force=True)
    tab.until(lambda: not tab.visible(viewer.stage.joints[0].handle.name))
    tab.row("joints").check(force=True)


def test_the_inspector_tells_what_is_selected_and_plots_it(viewer, run, tab):
    tab.open(viewer.url)
    viewer.seek(0.5)
    tab.press("button", "crank pin · revolute")
    sheet = tab.page.locator(".lw-sheet").first
    tab.until(lambda: "revolute joint" in sheet.inner_text() and "reaction force" in sheet.inner_text())
    speed = run.at(run.time[viewer.now().sample])["crank pin"].velocity
    tab.until(lambda: f"{float(np.ravel(speed)[0]):.4g}" in sheet.inner_text())
    sheet.locator(".lw-plot").nth(1).click()
    tab.until(lambda: viewer.charts.names == ("crank pin.velocity",))
    viewer.charts.clear()


def test_bodies_are_hidden_and_isolated_by_keys_and_in_the_tree(viewer, tab):
    tab.open(viewer.url)
    viewer.select("flywheel")
    (batch,) = [batch for batch in viewer.stage.bodies if any(p.name == "flywheel" for p in batch.pieces)]
    own = np.array([piece.body == "flywheel" for piece in batch.pieces])

    def size(which):
        return np.abs(tab.matrices(batch.handle.name)[which][:, :3, :3]).max()

    tab.page.mouse.move(500, 300)
    tab.page.keyboard.press("x")
    tab.until(lambda: size(own) < 1e-6)
    tab.page.locator("[aria-label='flywheel'] .lw-act").first.click()
    tab.until(lambda: size(own) > 1e-3)
    tab.page.keyboard.press("i")
    tab.until(lambda: viewer.looks.hidden == {*viewer.drawing.bodies, "ground"} - {"flywheel"})
    tab.page.keyboard.press("a")
    tab.until(lambda: not viewer.looks.hidden)
    viewer.select(None)


def test_what_a_page_says_is_checked(viewer, tab):
    tab.open(viewer.url)
    viewer.select(None)
    for words in (
        ["select", "nobody"],
        ["select", 7],
        ["exec", "1"],
        "select",
        [],
        ["plot", "../x"],
        ["hide", "x" * 9999],
    ):
        tab.page.evaluate(
            "w => window.__viserMutable.sendMessage("
            "{type: 'GuiUpdateMessage', uuid: 'linkwork', updates: {do: w}})",
            words,
        )
    tab.page.wait_for_timeout(500)
    assert viewer.selected is None
    assert not viewer.looks.hidden
    assert viewer.charts.names == ()
    tab.press("button", "flywheel")
    tab.until(lambda: viewer.selected == "flywheel")


def test_chosen_channels_are_plotted(viewer, tab):
    tab.open(viewer.url)
    viewer.charts.add("bearing.velocity")
    tab.until(lambda: tab.page.locator(".u-title").count() == 1)
    assert tab.page.locator(".u-title").first.inner_text() == "velocity [rad/s]"
    viewer.charts.clear()
    tab.until(lambda: tab.page.locator(".u-title").count() == 0)


def test_tabs_show_the_same(viewer, run, browser, tab):
    tab.open(viewer.url)
    page = browser.new_page()
    try:
        other = type(tab)(page).open(viewer.url)
        box = tab.row("Time [s]")
        box.fill("0.25")
        box.press("Enter")
        poses = recorded(run).at(0.25).poses
        for each in (tab, other):
            each.until(lambda each=each: drawn_as(each, viewer, poses))
    finally:
        page.close()


def test_a_view_of_another_name(viewer, tab):
    tab.open(viewer.url)
    tab.press("tab", "Show")
    tab.press("button", "top")
    (client,) = list(viewer.server.get_clients().values())[-1:]
    above = viewer.camera.view("top", client.camera.aspect).position
    tab.until(lambda: np.allclose(client.camera.position, above, atol=1e-2))


def test_without_the_token_there_is_no_page(viewer, chromium):
    context = chromium()
    try:
        page = context.new_page()
        answer = page.goto(f"http://127.0.0.1:{viewer.server.port}/")
        assert answer.status == 403
        assert page.locator("canvas").count() == 0
    finally:
        context.close()


def test_names_from_a_file_run_no_code(tab, chromium, tmp_path):
    evil = '<img src=x onerror="window.hacked=1">'
    m = lw.Mechanism(f"{evil}</script><script>window.hacked=1</script>")
    body = m.add(lw.Body(evil, lw.Box(1, 1, 1), mass=1.0))
    m.add(lw.Revolute(f"{evil} pin", m.ground, body, axis=(0, 1, 0), at=(0, 0, 1)))
    run = lw.simulate(m, 0.2)
    with shown(run) as viewer:
        tab.open(viewer.url)
        viewer.switch("names", True)
        viewer.select(evil)
        viewer.show_message(evil)
        tab.page.wait_for_timeout(500)
        viewer.charts.add(f"{evil} pin.velocity")
        tab.until(lambda: tab.page.locator(".u-title").count() == 1)
        assert tab.page.evaluate("window.hacked") is None
    save_html(run, tmp_path / "run.html", show=["names"])
    context = chromium(offline=True)
    try:
        offline = type(tab)(context.new_page()).open((tmp_path / "run.html").as_uri())
        assert offline.page.evaluate("window.hacked") is None
        assert offline.page.title() == m.name
    finally:
        context.close()


def test_a_planar_mechanism_opens_face_on(tab):
    with shown(lw.simulate(examples.four_bar(), 0.2)) as viewer:
        tab.open(viewer.url)
        tab.until(lambda: len(viewer.server.get_clients()) == 1)
        (client,) = viewer.server.get_clients().values()
        way = client.camera.position - client.camera.look_at
        np.testing.assert_allclose(way / np.linalg.norm(way), (0, 0, 1), atol=1e-6)


def test_a_body_can_be_dragged_while_it_moves(tab):
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Cylinder(0.1, 1.0, position=(0, 0, -0.5)), mass=1.0))
    m.add(lw.Revolute("pin", m.ground, bob, axis=(0, 1, 0), damping=0.2))
    with shown(m, live=True) as viewer:
        tab.open(viewer.url)
        tab.press("button", "Start")
        tab.until(lambda: viewer.engine.state.t > 0.2)
        x, y = on_screen(tab, viewer, (0.0, -0.1, -0.8))
        tab.page.mouse.move(x, y)
        tab.page.wait_for_timeout(300)
        tab.page.mouse.down()
        for k in range(12):
            tab.page.mouse.move(x + 8 * k, y - 3 * k)
            tab.page.wait_for_timeout(60)
        tab.until(lambda: viewer.engine.hand.body == "bob")
        tab.until(lambda: abs(viewer.engine.state.q[0]) > 0.2)
        assert viewer.engine.running
        (batch,) = viewer.stage.bodies
        tab.until(lambda: abs(tab.matrices(batch.handle.name)[0][0, 3]) > 0.05)
        tab.page.mouse.up()
        tab.until(lambda: viewer.engine.hand.body is None)
        tab.press("button", "reset")
        tab.until(lambda: viewer.engine.state.t == 0.0)
        time.sleep(0.3)
        tab.until(lambda: drawn_as(tab, viewer, viewer.engine.now.poses))


def test_the_saved_page_plays_without_a_network(run, chromium, tab, tmp_path):
    path = tmp_path / "run.html"
    save_html(run, path)
    context = chromium(offline=True)
    try:
        offline = type(tab)(context.new_page())
        offline.open(path.as_uri(), "/bodies")
        name = "/bodies/cylinder1"
        first = offline.matrices(name)
        offline.until(lambda: np.abs(offline.matrices(name) - first).max() > 1e-3)
        assert all(address.startswith(("file:", "blob:", "data:")) for address in offline.asked)
        assert offline.errors == []
        assert offline.page.title() == "steam engine"
    finally:
        context.close()
