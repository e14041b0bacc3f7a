"""Views that show everything."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.view import show
from linkwork.view.camera import Camera, projected
from linkwork.view.drawing import drawing
from linkwork.view.trajectory import recorded


@pytest.mark.parametrize("aspect", [0.7, 1.1, 2.0])
@pytest.mark.parametrize("name", ["four_bar", "steam_engine", "stewart_platform"])
def test_every_view_shows_all_that_the_mechanism_passes_through(name, aspect):
    run = lw.simulate(getattr(examples, name)(), 1.0)
    passed = recorded(run).passed(50)
    drawn = drawing(run.model)
    camera = Camera(drawn, passed)
    for view in camera.names:
        for poses in passed[::10]:
            for piece in drawn.pieces:
                pose = np.eye(3, 4) if piece.body == "ground" else poses[drawn.bodies.index(piece.body)]
                corners = piece.shell.corners @ piece.pose[:, :3].T + piece.pose[:, 3]
                corners = corners @ pose[:, :3].T + pose[:, 3]
                pixels, distance = projected(corners, camera.view(view, aspect), (round(1000 * aspect), 1000))
                assert (distance > 0.0).all()
                assert (pixels >= 0.0).all()
                assert (pixels <= (1000 * aspect, 1000)).all()


def test_the_plane_is_seen_face_on():
    run = lw.simulate(examples.four_bar(), 0.5)
    camera = Camera(drawing(run.model), recorded(run).passed(5))
    view = camera.view()
    way = view.position - view.look_at
    np.testing.assert_allclose(way / np.linalg.norm(way), (0, 0, 1))
    np.testing.assert_allclose(view.up, (0, 1, 0))


def test_a_page_that_is_fitted_sees_as_far_as_the_view_needs():
    """Else a mechanism that has grown is cut off by the far plane of the one that was opened."""
    m = lw.Mechanism("block")
    m.add(lw.Free("joint", m.ground, m.add(lw.Body("block", lw.Box(100.0, 1.0, 1.0), mass=1.0))))
    with show(m, open_browser=False, block=False) as viewer:
        page = SimpleNamespace(client_id=1, camera=SimpleNamespace(aspect=1.5), atomic=nullcontext)
        viewer._look(page, "")
        assert (page.camera.near, page.camera.far) == viewer.camera.view("", 1.5).depths
        assert page.camera.far > 100.0


def test_a_ball_that_flies_away_does_not_make_the_wall_a_dot():
    wall = drawing(examples.brick_wall().compile())
    passed = np.tile(wall.drawn, (50, 1, 1, 1))
    passed[:, wall.bodies.index("ball"), 1, 3] += np.linspace(0.0, 40.0, 50)
    camera = Camera(wall, passed)
    assert camera.radius < 2.0 * Camera(wall, passed[:1]).radius
    assert not camera.wanders


def test_a_long_row_is_seen_from_its_end():
    row = drawing(examples.four_bars(40).compile())
    view = Camera(row, row.drawn[None]).view("isometric", 1.1)
    way = view.position - view.look_at
    long = int(np.ptp(row.drawn[:, :, 3], axis=0).argmax())
    assert abs(way[long]) / np.linalg.norm(way) > 0.7
