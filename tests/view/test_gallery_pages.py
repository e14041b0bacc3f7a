"""Pictures of every mechanism of the gallery: all of it is there, nothing is dark; on pages names are apart.

Pages of a few are opened here, of all by `make soak`. With LINKWORK_PICTURES=folder pictures of pages are
kept, to be looked at.
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

PAGES = ("four-bar", "stewart-platform", "steam-engine", "tower", "bridge", "pack")  # of each sort, and heard
DARK = 60  # brightness below which nothing can be distinguished, of 255
CHANGED = 40  # difference of colours that is seen


def changed(picture, before):
    """Return which pixels of a picture are seen to be others than before."""
    return np.abs(picture - before).sum(axis=2) > CHANGED


def played(name, span, samples):
    """Return the first part of a demonstration [s]."""
    demo = GALLERY[name]
    span = min(demo.duration, span)
    return demo.play(demo.build().compile(), span, span / samples)


def assert_clear(part, seen=3 * CHANGED):
    """Check what is drawn in a part of a picture: there is something, in colours, and it is not dark."""
    drawn = np.abs(part - BACKGROUND).sum(axis=2) > seen
    assert drawn.mean() > 0.003
    coloured = np.ptp(part, axis=2) > 15  # bodies have colours; marks and letters are grey
    assert coloured[drawn].mean() > 0.05
    assert (part[drawn].max(axis=1) < DARK).mean() < 0.35


def framed(pixels, corners, view):
    """Return the part of a picture in which bodies are; all their corners must be in it."""
    height, width = pixels.shape[:2]
    at, distance = projected(corners, view, (width, height))
    assert (distance > 0.0).all()
    assert (at > 0.0).all()
    assert (at < (width, height)).all()
    left, top = at.min(axis=0).astype(int)
    right, bottom = at.max(axis=0).astype(int) + 1
    return pixels[top:bottom, left:right]


@pytest.mark.parametrize("name", GALLERY)
def test_a_picture_shows_all_of_it(name):
    picture = played(name, 0.05, 2).snapshot(size=(480, 300))
    corners = corners_of(picture._drawing, picture._poses)
    assert_clear(framed(picture.pixels.astype(int), corners, picture._view), 4 * CHANGED)  # not shadows


@pytest.mark.browser
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in PAGES else pytest.mark.soak) for name in GALLERY]
)
def test_the_page_shows_all_of_it(name, tab):
    run = played(name, 0.5, 20)
    with show(run, open_browser=False, block=False) as viewer:
        viewer.switches["shadows"].value = False
        viewer.stage.show_shadows(False)
        viewer.seek(0.4 * run.time[-1])
        tab.open(viewer.url)
        tab.until(lambda: tab.draws(viewer, viewer.now().poses))
        corners = corners_of(viewer.drawing, viewer.now().poses)
        tab.seen(_outermost(corners))  # all of them, where they stay
        bare = tab.pixels()
        viewer.switch("names", True)
        tab.until(lambda: changed(tab.pixels(), bare).sum() > 40)  # the names are there
        if folder := os.environ.get("LINKWORK_PICTURES"):
            tab.page.screenshot(path=Path(folder) / f"{name}.png")
        assert tab.errors == []

        assert_clear(framed(bare, corners, viewer.camera.view()))


def corners_of(drawing, poses):
    """Return the corners of all bodies in the world, (N, 3)."""
    found = []
    for piece in drawing.pieces:
        if not piece.shell.endless:
            on_body = piece.shell.corners @ piece.pose[:, :3].T + piece.pose[:, 3]
            X = poses[drawing.bodies.index(piece.body)] if piece.body in drawing.bodies else np.eye(3, 4)
            found.append(on_body @ X[:, :3].T + X[:, 3])
    return np.concatenate(found)


def _outermost(points):
    """Return the points that are farthest in some directions: where these are, all others are nearly."""
    ways = np.stack(np.meshgrid(*[(-1.0, -0.4, 0.0, 0.4, 1.0)] * 3), axis=-1).reshape(-1, 3)
    return points[np.unique((points @ ways.T).argmax(axis=0))]


@pytest.mark.browser
def test_the_camera_goes_along_and_a_body_inside_others_can_be_seen_through_them(tab):
    m = lw.Mechanism("nested", gravity=(0, 0, 0))
    outer = m.add(lw.Body("outer", lw.Box(1.0, 1.0, 1.0), mass=1.0))
    inner = m.add(lw.Body("inner", lw.Box(0.3, 0.3, 0.3), mass=1.0))
    m.add(lw.Prismatic("rail", m.ground, outer, axis=(1, 0, 0)))
    m.add(lw.Fixed("weld", outer, inner))
    model = m.compile()
    run = lw.simulate(model, 1.0, model.state(velocities={"rail": 0.5}), every=0.05)
    with show(run, open_browser=False, block=False) as viewer:
        tab.open(viewer.url)
        tab.until(lambda: tab.draws(viewer, viewer.now().poses))
        tab.seen(_outermost(corners_of(viewer.drawing, viewer.now().poses)))
        before = tab.pixels()

        def share():
            """Return how much of the picture is another than before."""
            return changed(tab.pixels(), before).mean()

        tab.press("tab", "Show")
        tab.tick("see through")
        tab.until(lambda: share() > 0.05)
        tab.tick("see through", on=False)
        tab.until(lambda: share() < 0.01)

        tab.row("Follow").click()
        tab.page.get_by_role("option", name="outer", exact=True).click()
        tab.until(lambda: viewer._followed == "outer")
        (client,) = viewer.server.get_clients().values()
        place = np.array(client.camera.position)
        viewer.seek(1.0)
        tab.until(lambda: np.allclose(client.camera.position - place, (0.5, 0, 0), atol=1e-3))
        assert tab.errors == []


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if d.step is None else pytest.mark.soak) for n, d in GALLERY.items()]
)
def test_the_first_curve_of_a_demonstration_tells_something(name):
    """It moves by an amount that can be seen, as long as the demonstration lasts: crank 0 stood still."""
    run = played(name, GALLERY[name].duration, 50)
    (curve,) = run.traces(GALLERY[name].watch[0])
    assert np.ptp(curve.values) > 0.02
    assert len(np.unique(np.round(curve.values, 3))) > 10
