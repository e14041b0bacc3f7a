"""The real page in a real browser: what is seen is what the recording says."""

import numpy as np
import pytest
from browser_tab import Tab

import linkwork as lw
from linkwork import examples
from linkwork.view import show
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


@pytest.fixture(scope="module")
def opened(viewer, browser):
    """The page of the viewer, for all tests that leave it as it was."""
    page = browser.new_page()
    yield Tab(page).open(viewer.url)
    page.close()


def test_the_page_opens_as_recorded_and_asks_nobody_else(viewer, run, opened):
    tab = opened
    assert tab.page.title() == "steam engine · Linkwork"
    tab.until(lambda: tab.draws(viewer, run.derived("poses")[0]))
    own = f"http://127.0.0.1:{viewer.server.port}/"
    assert all(address.startswith((own, f"blob:{own}", "data:")) for address in tab.asked)
    assert "token" not in tab.page.url
    assert tab.errors == []
    assert tab.page.locator("[aria-label*='hare']").count() == 0  # no button to share


def test_scrubbing_shows_the_pose_of_that_time(viewer, run, opened):
    k = int(np.searchsorted(run.time, 0.6))
    box = opened.row("Time [s]")
    box.fill("0.4321")
    box.press("Enter")
    truth = lw.simulate(run.model, 1.0, times=[0.4321])  # asked of the model, not of the viewer
    opened.until(lambda: opened.draws(viewer, truth.derived("poses")[0], 1e-4))
    viewer.seek(run.time[k])
    opened.until(lambda: opened.draws(viewer, run.derived("poses")[k]))
    assert not opened.draws(viewer, run.derived("poses")[k - 3])


def test_dragging_the_slider_scrubs(viewer, run, opened):
    viewer.seek(0.0)
    track = opened.page.locator("[data-lw-place=bottom] .mantine-Slider-trackContainer").bounding_box()
    y = track["y"] + track["height"] / 2
    opened.pull(*((track["x"] + part * track["width"], y) for part in (0.2, 0.45)))
    opened.until(lambda: 0.3 < viewer.player.t < 0.6)
    opened.until(lambda: opened.draws(viewer, recorded(run).at(viewer.player.t).poses))


def test_play_and_pause(viewer, opened):
    viewer.seek(0.0)
    opened.press("button", "Play")
    opened.until(lambda: viewer.player.t > 0.05 and viewer.player.playing)
    before = opened.matrices(viewer.stage.bodies[1].handle.name)
    opened.until(lambda: np.abs(opened.matrices(viewer.stage.bodies[1].handle.name) - before).max() > 1e-3)
    opened.press("button", "Pause")
    opened.until(lambda: not viewer.player.playing)
    opened.until(lambda: opened.draws(viewer, viewer.now().poses))


def test_single_steps(viewer, run, opened):
    viewer.seek(run.time[5])
    opened.press("button", ">")
    opened.until(lambda: viewer.player.t == run.time[6])
    opened.until(lambda: opened.draws(viewer, run.derived("poses")[6]))
    opened.press("button", "<")
    opened.until(lambda: viewer.player.t == run.time[5])


def test_a_click_on_a_body_selects_it_and_a_click_in_the_tree_too(viewer, run, opened):
    viewer.select(None)
    viewer.seek(0.0)
    (batch,) = [batch for batch in viewer.stage.bodies if any(p.name == "flywheel" for p in batch.pieces)]
    own = np.array([piece.name == "flywheel" for piece in batch.pieces])
    plain = opened.colours(batch.handle.name)
    # a point of the rim, on the side of the viewer
    rim = opened.seen([(-0.08, -0.012, 0.05)])[0]
    opened.pull(rim, rim, 0)
    opened.until(lambda: viewer.selected == "flywheel")
    opened.until(lambda: np.abs(opened.colours(batch.handle.name) - plain)[own].max() > 0.1)
    assert np.array_equal(opened.colours(batch.handle.name)[~own], plain[~own])
    amber = opened.colours(batch.handle.name)[own][0]
    assert amber[0] > amber[1] > amber[2], SELECTED
    opened.press("button", "rocker arm")
    opened.until(lambda: viewer.selected == "rocker arm")
    opened.until(lambda: np.array_equal(opened.colours(batch.handle.name)[own], plain[own]))
    opened.press("button", "crank pin · revolute")
    opened.until(lambda: viewer.selected == "crank pin")


def test_every_overlay_can_be_switched(viewer, run, opened):
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
    opened.press("tab", "Show")
    for label, node in nodes.items():
        opened.tick(label)
        opened.until(lambda node=node: opened.visible(node))
        if label == "loop gaps":
            told = f"loop gaps [m, rad]: {run.model.loop_names[0]}: "
            opened.until(lambda told=told: told in opened.page.locator("body").inner_text())
        opened.tick(label, on=False)
        opened.until(lambda node=node: not opened.visible(node))
    opened.tick("joints", on=False)
    opened.until(lambda: not opened.visible(viewer.stage.joints[0].handle.name))
    opened.tick("joints")


def test_the_inspector_tells_what_is_selected_and_plots_it(viewer, run, opened):
    viewer.seek(0.5)
    opened.press("tab", "Inspector")
    opened.press("button", "crank pin · revolute")
    sheet = opened.page.locator(".lw-sheet").first
    opened.until(lambda: "revolute joint" in sheet.inner_text() and "reaction force" in sheet.inner_text())
    speed = run.at(0.5)["crank pin"].velocity  # not that of the sample near it
    opened.until(lambda: f"{float(np.ravel(speed)[0]):.4g}" in sheet.inner_text())
    sheet.locator(".lw-plot").nth(1).click()
    opened.until(lambda: viewer.charts.names == ("crank pin.velocity",))
    viewer.charts.clear()


def test_bodies_are_hidden_and_isolated_by_keys_and_in_the_tree(viewer, opened):
    viewer.select("flywheel")
    (batch,) = [batch for batch in viewer.stage.bodies if any(p.name == "flywheel" for p in batch.pieces)]
    own = np.array([piece.body == "flywheel" for piece in batch.pieces])

    def size(which):
        return np.abs(opened.matrices(batch.handle.name)[which][:, :3, :3]).max()

    opened.page.mouse.move(500, 300)
    opened.page.evaluate("document.activeElement.blur()")  # keys are for the page, not for a field
    opened.page.keyboard.press("x")
    opened.until(lambda: size(own) < 1e-6)
    opened.page.locator("[aria-label='flywheel'] .lw-act").first.click()
    opened.until(lambda: size(own) > 1e-3)
    opened.page.keyboard.press("i")
    opened.until(lambda: viewer.looks.hidden == {*viewer.drawing.bodies, "ground"} - {"flywheel"})
    opened.page.keyboard.press("a")
    opened.until(lambda: not viewer.looks.hidden)
    viewer.select(None)


def test_what_a_page_says_is_checked(viewer, opened):
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
        opened.page.evaluate(
            "w => window.__viserMutable.sendMessage("
            "{type: 'GuiUpdateMessage', uuid: 'linkwork', updates: {do: w}})",
            words,
        )
    opened.press("button", "flywheel")  # heard after them
    opened.until(lambda: viewer.selected == "flywheel")
    assert not viewer.looks.hidden
    assert viewer.charts.names == ()
    viewer.select(None)


def test_chosen_channels_are_plotted(viewer, opened):
    viewer.charts.add("bearing.velocity")
    opened.until(lambda: opened.page.locator(".u-title").count() == 1)
    assert opened.page.locator(".u-title").first.inner_text() == "velocity [rad/s]"
    cursor = opened.page.locator(".lw-cursor")
    place = "line => new DOMMatrix(getComputedStyle(line).transform).m41 / line.parentElement.clientWidth"
    for part in (0.25, 0.75):  # the cursor stands where the picture is
        viewer.seek(part)
        opened.until(lambda: cursor.count() == 1)
        opened.until(lambda part=part: abs(cursor.evaluate(place) - part) < 0.02)
    viewer.charts.clear()
    opened.until(lambda: opened.page.locator(".u-title").count() == 0)


def test_channels_are_dragged_to_the_curves_and_their_values_are_the_samples(viewer, run, opened):
    page, panel = opened.page, "[data-lw-place=bottom]"
    times, names = run.time, ("crank pin.velocity", "crank pin.position", "flywheel.position")
    viewer.seek(times[len(times) // 3 + 1])
    opened.press("tab", "Inspector")
    opened.press("button", "crank pin · revolute")
    opened.until(lambda: page.locator(".lw-plot").count() > 2)
    page.drag_and_drop(".lw-sheet tr:has(th:text-is('velocity'))", panel)
    opened.until(lambda: viewer.charts.names == names[:1])
    page.drag_and_drop("[aria-label='crank pin · revolute']", panel)
    opened.until(lambda: viewer.charts.names == names[:2])
    page.drag_and_drop("[aria-label='flywheel']", panel)  # a body: where it is
    opened.until(lambda: viewer.charts.names == names)
    page.drag_and_drop("[aria-label='base']", "[aria-label='flywheel']")  # that is not a place for curves
    page.mouse.move(500, 200)  # else the values are those under the mouse
    cells = page.locator(".u-legend .u-series:not(:first-child) .u-value")
    for k in (len(times) // 3 + 1, len(times) // 2):
        viewer.seek(times[k])
        truth = [f"{trace.values[k]:.5g}" for trace in run.traces(*names)]
        opened.until(lambda truth=truth: sorted(cells.all_inner_texts()) == sorted(truth))
    page.locator(".u-over").first.hover()
    opened.until(lambda: sorted(cells.all_inner_texts()) != sorted(truth))  # under the mouse
    page.mouse.move(500, 200)
    opened.until(lambda: sorted(cells.all_inner_texts()) == sorted(truth))
    assert viewer.charts.names == names
    tall = "() => document.querySelector('[data-lw-place=bottom]').offsetHeight"
    before, grip = page.evaluate(tall), page.locator(f"{panel} [data-dock-griphandle]").bounding_box()
    edge = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    opened.pull(edge, (edge[0], edge[1] - 60))  # more room for curves
    opened.until(lambda: before + 40 < page.evaluate(tall) < before + 80)
    viewer.charts.clear()
    viewer.select(None)
    opened.until(lambda: page.locator(".u-title").count() == 0)


def test_tabs_show_the_same(viewer, run, opened, tab):
    tab.open(viewer.url)
    box = tab.row("Time [s]")
    box.fill("0.25")
    box.press("Enter")
    poses = recorded(run).at(0.25).poses
    for each in (tab, opened):
        each.until(lambda each=each: each.draws(viewer, poses))


def test_a_view_of_another_name(viewer, opened):
    opened.press("tab", "Show")
    opened.press("button", "top")
    client = next(iter(viewer.server.get_clients().values()))
    above = viewer.camera.view("top", client.camera.aspect).position
    opened.until(lambda: np.allclose(client.camera.position, above, atol=1e-2))
    opened.press("button", "isometric")
    opened.until(lambda: not np.allclose(client.camera.position, above, atol=1e-2))


def test_colours_of_a_planar_mechanism_are_seen_as_they_are(tab):
    with shown(examples.slider_crank()) as viewer:
        tab.open(viewer.url)
        colours = {piece.colour for piece in viewer.drawing.pieces if piece.body != "ground"}

        def seen():
            pixels = {tuple(pixel) for pixel in tab.pixels().reshape(-1, 3)[::5].tolist()}
            return all(min(max(map(abs, np.subtract(p, c))) for p in pixels) <= 3 for c in colours)

        tab.until(seen, 20.0)


def test_without_the_token_there_is_no_page(viewer, tab):
    answer = tab.page.goto(f"http://localhost:{viewer.server.port}/")  # a host that has no cookie here
    assert answer.status == 403
    assert tab.page.locator("canvas").count() == 0
