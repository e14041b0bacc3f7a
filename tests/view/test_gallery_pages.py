"""A picture of the page of every mechanism of the gallery: all of it is there, nothing is dark, names apart.

With LINKWORK_PICTURES=folder the pictures are kept, to be looked at.
"""

import os
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.demo import GALLERY
from linkwork.view import show
from linkwork.view.camera import projected
from linkwork.view.palette import BACKGROUND

pytestmark = pytest.mark.browser

DARK = 60  # brightness below which nothing can be distinguished, of 255
CHANGED = 40  # difference of colours that is seen


def pixels(tab) -> np.ndarray:
    """Return what the page shows, (height, width, 3)."""
    import io

    image = pytest.importorskip("PIL.Image")
    return np.array(image.open(io.BytesIO(tab.page.screenshot())).convert("RGB")).astype(int)


@pytest.mark.parametrize("name", GALLERY)
def test_the_page_shows_all_of_it(name, tab):
    demo = GALLERY[name]
    model = demo.build().compile()
    span = min(demo.duration, 0.5)
    run = demo.play(model, span, span / 20)
    with show(run, open_browser=False, block=False) as viewer:
        viewer.switches["shadows"].value = False
        viewer.stage.show_shadows(False)
        tab.open(viewer.url)
        viewer.seek(0.4 * span)
        tab.page.wait_for_timeout(400)
        bare = pixels(tab)
        viewer.switch("names", True)
        tab.until(lambda: (pixels(tab) != bare).any())
        tab.page.wait_for_timeout(400)  # all of them
        named = pixels(tab)
        if folder := os.environ.get("LINKWORK_PICTURES"):
            tab.page.screenshot(path=Path(folder) / f"{name}.png")
        assert tab.errors == []

        box = tab.page.locator("canvas").first.bounding_box()
        width, height = int(box["width"]), int(box["height"])
        canvas = np.s_[int(box["y"]) :, int(box["x"]) :]  # beside the panels
        bare, named = bare[canvas], named[canvas]
        corners = _corners(viewer)
        at, distance = projected(corners, viewer.camera.view(), (width, height))
        assert (distance > 0.0).all()
        assert (at > 0.0).all()
        assert (at < (width, height)).all()

        left, top = int(at[:, 0].min()), int(at[:, 1].min())
        right, bottom = int(at[:, 0].max()) + 1, int(at[:, 1].max()) + 1
        part = bare[top:bottom, left:right]
        drawn = np.abs(part - BACKGROUND).sum(axis=2) > 3 * CHANGED
        assert drawn.mean() > 0.003
        coloured = np.ptp(part, axis=2) > 15  # bodies have colours; marks and letters are grey
        assert coloured[drawn].mean() > 0.05
        assert (part[drawn].max(axis=1) < DARK).mean() < 0.35
        assert (np.abs(named - bare)[:height, :width].sum(axis=2) > CHANGED).sum() > 40  # the names are there


def _corners(viewer):
    """Return the corners of all bodies in the world, (N, 3)."""
    poses, numbers = viewer.now().poses, viewer.stage.numbers
    found = []
    for piece in viewer.drawing.pieces:
        if not piece.shell.endless:
            on_body = piece.shell.corners @ piece.pose[:, :3].T + piece.pose[:, 3]
            X = poses[numbers[piece.body]] if piece.body in viewer.drawing.bodies else np.eye(3, 4)
            found.append(on_body @ X[:, :3].T + X[:, 3])
    return np.concatenate(found)


def test_the_camera_goes_along_with_a_body(tab):
    model = GALLERY["cart-pole"].build().compile()
    run = lw.simulate(model, 1.0, model.state(velocities={"rail": 1.0}), every=0.05)
    with show(run, open_browser=False, block=False) as viewer:
        tab.open(viewer.url)
        tab.press("tab", "Show")
        box = tab.row("Follow")
        box.click()
        tab.page.get_by_role("option", name="cart", exact=True).click()
        tab.until(lambda: viewer._followed == "cart")
        (client,) = viewer.server.get_clients().values()
        before = np.array(client.camera.position)
        viewer.seek(1.0)
        moved = run["cart"].position[-1] - run["cart"].position[0]
        assert np.linalg.norm(moved) > 0.3
        tab.until(lambda: np.allclose(client.camera.position - before, moved, atol=1e-3))


def test_a_body_inside_others_can_be_seen_through_them(tab):
    m = lw.Mechanism("nested")
    for name, side in (("inner", 0.3), ("outer", 1.0)):
        body = m.add(lw.Body(name, lw.Box(side, side, side), mass=1.0))
        m.add(lw.Free(f"{name} joint", m.ground, body))
    with show(m, open_browser=False, block=False) as viewer:
        tab.open(viewer.url)
        tab.page.wait_for_timeout(1000)
        before = pixels(tab)[100:400, 300:780]

        def changed():
            """Return how much of the picture is another than before."""
            return (np.abs(pixels(tab)[100:400, 300:780] - before).sum(axis=2) > CHANGED).mean()

        tab.press("tab", "Show")
        tab.row("see through").check(force=True)
        tab.until(lambda: changed() > 0.1)
        tab.row("see through").uncheck(force=True)
        tab.until(lambda: changed() < 0.01)
