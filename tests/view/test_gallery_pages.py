"""A picture of the page of every mechanism of the gallery: all of it is there, nothing is dark, names apart.

With LINKWORK_PICTURES=folder the pictures are kept, to be looked at.
"""

import os
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.demonstration import GALLERY
from linkwork.view import show
from linkwork.view.camera import projected
from linkwork.view.palette import BACKGROUND

pytestmark = pytest.mark.browser

DARK = 60  # brightness below which nothing can be distinguished, of 255
CHANGED = 40  # difference of colours that is seen


def changed(picture, before):
    """Return which pixels of a picture are seen to be others than before."""
    return np.abs(picture - before).sum(axis=2) > CHANGED


@pytest.mark.parametrize("name", GALLERY)
def test_the_page_shows_all_of_it(name, tab):
    demo = GALLERY[name]
    model = demo.build().compile()
    span = min(demo.duration, 0.5)
    run = demo.play(model, span, span / 20)
    with show(run, open_browser=False, block=False) as viewer:
        viewer.switches["shadows"].value = False
        viewer.stage.show_shadows(False)
        viewer.seek(0.4 * span)
        tab.open(viewer.url)
        tab.until(lambda: tab.draws(viewer, viewer.now().poses))
        corners = _corners(viewer)
        tab.seen(_outermost(corners))  # all of them, where they stay
        bare = tab.pixels()
        viewer.switch("names", True)
        tab.until(lambda: changed(tab.pixels(), bare).sum() > 40)  # the names are there
        if folder := os.environ.get("LINKWORK_PICTURES"):
            tab.page.screenshot(path=Path(folder) / f"{name}.png")
        assert tab.errors == []

        height, width = bare.shape[:2]
        at, distance = projected(corners, viewer.camera.view(), (width, height))
        assert (distance > 0.0).all()
        assert (at > 0.0).all()
        assert (at < (width, height)).all()

        left, top = at.min(axis=0).astype(int)
        right, bottom = at.max(axis=0).astype(int) + 1
        part = bare[top:bottom, left:right]
        drawn = np.abs(part - BACKGROUND).sum(axis=2) > 3 * CHANGED
        assert drawn.mean() > 0.003
        coloured = np.ptp(part, axis=2) > 15  # bodies have colours; marks and letters are grey
        assert coloured[drawn].mean() > 0.05
        assert (part[drawn].max(axis=1) < DARK).mean() < 0.35


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


def _outermost(points):
    """Return the points that are farthest in some directions: where these are, all others are nearly."""
    ways = np.stack(np.meshgrid(*[(-1.0, -0.4, 0.0, 0.4, 1.0)] * 3), axis=-1).reshape(-1, 3)
    return points[np.unique((points @ ways.T).argmax(axis=0))]


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
        tab.until(lambda: tab.draws(viewer, viewer.now().poses))
        tab.seen(_outermost(_corners(viewer)))
        before = tab.pixels()

        def share():
            """Return how much of the picture is another than before."""
            return changed(tab.pixels(), before).mean()

        tab.press("tab", "Show")
        tab.row("see through").check(force=True)
        tab.until(lambda: share() > 0.1)
        tab.row("see through").uncheck(force=True)
        tab.until(lambda: share() < 0.01)
