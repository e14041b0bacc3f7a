"""A stage follows the edits of a mechanism: what is the same by name stays on the page."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.view.camera import Camera
from linkwork.view.drawing import drawing
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.server import Server
from linkwork.view.stage import Stage


def arm(links: int) -> lw.Mechanism:
    m = lw.Mechanism("arm")
    last = m.ground
    for k in range(links):
        shape = lw.Box(0.1, 0.1, 0.3) if k % 2 == 0 else lw.Cylinder(0.05, 0.3)
        body = m.add(lw.Body(f"link {k}", shape, density=1000.0, position=(0, 0, -0.3 * k)))
        m.add(lw.Revolute(f"hinge {k}", last, body, at=(0, 0, 0.15 - 0.3 * k), axis=(0, 1, 0)))
        last = body
    return m


@pytest.fixture
def server():
    server = Server("test", "127.0.0.1", None, expose=False)
    yield server
    server.close()


def staged(server, mechanism):
    picture = drawing(mechanism.compile())
    return Stage(server, picture, Camera(picture, picture.drawn[None], 1.0))


def colours(stage):
    return {piece.name: piece.colour for batch in stage.bodies for piece in batch.pieces}


def test_a_body_that_is_added_leaves_other_batches_on_the_page(server):
    stage = staged(server, arm(3))
    before = {batch.handle.name: batch for batch in stage.bodies}
    painted = colours(stage)
    stage.follow(drawing(arm(4).compile(), stage.drawing))
    after = {batch.handle.name: batch for batch in stage.bodies}
    kept = before.keys() & after.keys()
    assert len(kept) == 1  # the boxes; the cylinders are one more
    assert all(before[name] is after[name] for name in kept)
    assert {name: colours(stage)[name] for name in painted} == painted


def test_a_body_that_is_removed_leaves_the_colours_of_others(server):
    stage = staged(server, arm(3))
    painted = colours(stage)
    shorter = lw.Mechanism("arm")
    for element in arm(3).elements:
        if element.name not in ("link 0", "hinge 0", "hinge 1"):
            shorter.add(element)
    shorter.add(lw.Free("loose", shorter.ground, shorter["link 1"]))
    stage.follow(drawing(shorter.compile(), stage.drawing))
    assert "link 0" not in colours(stage)
    assert colours(stage) == {name: painted[name] for name in ("link 1", "link 2")}


def test_after_an_edit_bodies_are_placed_by_name(server):
    stage = staged(server, arm(2))
    model = arm(5).compile()
    stage.follow(drawing(model, stage.drawing))
    poses = model.poses(model.state({"hinge 3": 0.7}).q)
    stage.place(WorldPoses.of(poses.array))
    for batch in stage.bodies:
        for piece, place in zip(batch.pieces, batch.handle.batched_positions, strict=True):
            frame = poses[piece.body]
            expected = frame.position + frame.rotation @ piece.pose[:, 3]
            np.testing.assert_allclose(place, expected, atol=1e-6)


def test_clicks_on_what_came_later_are_reported_too(server):
    stage = staged(server, arm(1))
    heard = []
    stage.on_click(lambda name, place: heard.append(name), lambda name, a, b: np.zeros(3))
    stage.follow(drawing(arm(2).compile(), stage.drawing))
    newest = next(batch for batch in stage.bodies if batch.pieces[0].name == "link 1")
    event = type("Click", (), {"instance_index": 0, "ray_origin": (0, 0, 0), "ray_direction": (0, 0, 1)})
    for callback in newest.handle._impl.click_cb or ():
        getattr(callback, "callback", callback)(event)
    assert heard == ["link 1"]


def test_the_floor_lies_on_a_plane_of_ground_also_on_a_slope(server):
    from linkwork import examples
    from linkwork.view.quaternion import matrices

    slope = staged(server, examples.rolling_race())
    assert not any(piece.shell.endless for batch in slope.bodies for piece in batch.pieces)
    floor = server.scene.get_handle_by_name("/floor")
    (turn,) = matrices(np.array(floor.wxyz)[None])
    normal = np.array([np.sin(np.radians(20.0)), 0.0, np.cos(np.radians(20.0))])
    np.testing.assert_allclose(turn[:, 2], normal, atol=1e-9)
    assert abs(normal @ floor.position) < 1e-9
    assert floor.plane_opacity == 1.0


def test_amounts_of_light_are_those_of_srgb():
    from linkwork.view.moving_batch import amounts_of_light

    assert amounts_of_light([[0, 10, 128], [188, 255, 64]]).tolist() == [[0, 1, 55], [128, 255, 13]]
