"""Constraints are drawn: rods, ropes, outlines, pitch circles."""

import numpy as np
import pytest
from everything import held

import linkwork as lw
from linkwork.view.driven_drawing import drawing_of_driven
from linkwork.view.stored_drawing import described, restored


@pytest.mark.parametrize("space", ["plane", "space"])
def test_all_constraints_are_in_the_drawing(space):
    m = held(space)
    drawn = drawing_of_driven(m)
    assert [tie.name for tie in drawn.ties] == [*m.constraints, *m.drivers]
    marked = {piece.name for piece in drawn.glyphs} | {mark.name for mark in drawn.springs}
    assert {"rod", "as drawn", "pulley", "line", "curve", "cam", "flat", "egg", "gear"} <= marked
    assert all(np.isfinite(piece.shell.corners).all() for piece in drawn.glyphs)
    header, arrays = described(drawn)
    again = restored(header, arrays, drawn.bodies)
    assert again.ties == drawn.ties
    assert [mark.name for mark in again.springs] == [mark.name for mark in drawn.springs]


@pytest.mark.parametrize(("kind", "sign"), [("external", 1), ("internal", -1)])
def test_pitch_circles_touch(kind, sign):
    m = lw.Mechanism("gears", space="plane")
    first, second = m.add(lw.Body("first")), m.add(lw.Body("second", position=(0.3, 0.4)))
    m.add(lw.Revolute("A", m.ground, first))
    m.add(lw.Revolute("B", m.ground, second, at=(0.3, 0.4)))
    m.add(lw.Gear("gear", "A", "B", teeth=(20, 30), kind=kind))
    marks = [piece for piece in drawing_of_driven(m).glyphs if piece.name == "gear"]
    rings = [piece for piece in marks if len(piece.shell.vertices) > 300]
    sizes = {p.body: np.abs(p.shell.corners[:, 0]).max() for p in rings}
    tube = 0.003 * drawing_of_driven(m).size
    r, R = sizes["first"] - tube, sizes["second"] - tube
    assert r / R == pytest.approx(20 / 30, rel=1e-2)
    assert R + sign * r == pytest.approx(0.5, rel=1e-2)


def test_the_outline_of_a_cam_is_its_profile():
    m = lw.Mechanism("cam", space="plane")
    cam, follower = m.add(lw.Body("cam")), m.add(lw.Body("follower", position=(0, 0.4)))
    m.add(lw.Revolute("A", m.ground, cam))
    m.add(lw.Prismatic("B", m.ground, follower, axis=(0, 1)))
    m.add(lw.Cam("touch", cam, follower, lambda s: (0.2 * lw.cos(s), 0.3 * lw.sin(s)), on_parent=(0.01, 0)))
    (piece,) = [piece for piece in drawing_of_driven(m).glyphs if piece.name == "touch"]
    rings = piece.shell.corners.reshape(-1, 8, 3).mean(axis=1)
    on_ellipse = ((rings[:, 0] - 0.01) / 0.2) ** 2 + (rings[:, 1] / 0.3) ** 2
    np.testing.assert_allclose(on_ellipse, 1.0, atol=1e-9)


def test_a_rod_goes_from_point_to_point():
    m = lw.Mechanism("rod")
    a, b = m.add(lw.Body("a")), m.add(lw.Body("b", position=(1, 0, 0)))
    for body in (a, b):
        m.add(lw.Free(f"{body.name} flies", m.ground, body))
    m.add(lw.Distance("rod", a, b, on_parent=(0, 0, 0.1), on_child=(0, 0.2, 0)))
    (mark,) = drawing_of_driven(m).springs
    assert (mark.name, mark.a, mark.b) == ("rod", "a", "b")
    assert (mark.on_a.tolist(), mark.on_b.tolist()) == ([0, 0, 0.1], [0, 0.2, 0])
