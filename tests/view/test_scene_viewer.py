"""The page of a scene that goes on: it follows steps and edits, and can hold the scene."""

import threading
import time

import numpy as np
import pytest

import linkwork as lw


def falling():
    scene = lw.Scene(record=False)
    scene.add(lw.ground_plane(), name="floor")
    crate = scene.add(lw.Body("crate", lw.Box(0.3, 0.3, 0.3), density=500), position=(0, 0, 1))
    return scene, crate


def until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def test_a_live_page_follows_steps_and_edits():
    scene, crate = falling()
    with scene.show(live=True, open_browser=False) as viewer:
        assert viewer.drawing.bodies == ("crate/crate",)
        scene.step(1 / 60, n=3)
        until(lambda: viewer.now().t == scene.time)
        np.testing.assert_allclose(viewer.now().positions[0], crate.position)
        scene.add(lw.Body("ball", lw.Sphere(0.1), density=500), position=(1, 0, 1))
        until(lambda: viewer.drawing.bodies == ("crate/crate", "ball/ball"))
        paint = viewer.drawing.paints["ball/ball"]
        scene.remove(crate)
        until(lambda: viewer.drawing.bodies == ("ball/ball",))
        assert viewer.drawing.paints == {"ball/ball": paint}
    before = scene.time
    scene.step(1 / 60)  # the scene goes on without a page
    assert scene.time > before


def test_the_tree_of_a_live_page_has_the_joints_of_mechanisms():
    scene = lw.Scene(record=False)
    robot = scene.add(lw.examples.cart_pole(), name="robot", position=(1, 0, 2))
    with scene.show(live=True, open_browser=False) as viewer:
        rail, pin = viewer.drawing.joints
        assert (pin.name, pin.kind, pin.parent, pin.child) == (
            "robot/pin",
            "Revolute",
            "robot/cart",
            "robot/pole",
        )
        assert (rail.name, rail.parent) == ("robot/rail", "ground")
        np.testing.assert_allclose(rail.on_parent[:, 3], robot["cart"].position, atol=1e-12)
        assert 'aria-label="robot/pin · revolute"' in viewer.tree._rows_shown.content
        robot.detach("pole")
        until(lambda: [mark.name for mark in viewer.drawing.joints] == ["robot/rail"])


def test_a_live_page_holds_the_scene_and_lets_it_go():
    scene, _ = falling()
    with scene.show(live=True, open_browser=False) as viewer:
        viewer.hold(True)
        thread = threading.Thread(target=lambda: scene.step(1 / 60, n=5))
        thread.start()
        until(lambda: scene.time > 0.0)
        assert scene.time == pytest.approx(1 / 60)
        viewer.hold(False)
        thread.join(timeout=30.0)
    assert scene.time == pytest.approx(5 / 60)


@pytest.mark.browser
def test_a_browser_shows_a_scene_while_it_goes_on(tab):
    scene, crate = falling()
    with scene.show(live=True, open_browser=False) as viewer:
        viewer.switches["shadows"].value = False
        tab.open(viewer.server.doorway)
        assert viewer.server.guard.token not in tab.page.url
        assert tab.page.url.startswith(f"http://127.0.0.1:{viewer.server.port}/")
        (batch,) = (one for one in viewer.stage.bodies if one.pieces[0].body != "ground")

        def at_height(z):
            found = tab.matrices(batch.handle.name)
            return found is not None and abs(found[0][2, 3] - z) < 1e-4

        assert at_height(1.0)
        scene.step(1 / 60, n=60)
        assert crate.position[2] == pytest.approx(0.15, abs=1e-3)
        tab.until(lambda: at_height(0.15))
        assert not tab.errors
