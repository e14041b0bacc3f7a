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
    assert [tie.name for tie in drawn.connections] == [*m.constraints, *m.drivers, *m.loads]
    marked = {piece.name for piece in drawn.glyphs} | {mark.name for mark in drawn.springs}
    assert {"rod", "as drawn", "pulley", "line", "curve", "cam", "flat", "egg", "gear"} <= marked
    assert all(np.isfinite(piece.shell.corners).all() for piece in drawn.glyphs)
    header, arrays = described(drawn)
    again = restored(header, arrays, drawn.bodies)
    assert again.connections == drawn.connections
    assert [mark.name for mark in again.springs] == [mark.name for mark in drawn.springs]


def gears(kind, **ratio):
    m = lw.Mechanism("gears", space="plane")
    first, second = m.add(lw.Body("first")), m.add(lw.Body("second", position=(0.3, 0.4)))
    m.add(lw.Revolute("A", m.ground, first))
    m.add(lw.Revolute("B", m.ground, second, at=(0.3, 0.4)))
    m.add(lw.Gear("gear", "A", "B", kind=kind, **ratio))
    return m


def test_pitch_circles_of_a_belt_do_not_touch():
    m = gears("belt", teeth=(20, 30))
    marks = [piece for piece in drawing_of_driven(m).glyphs if piece.name == "gear"]
    rings = [piece for piece in marks if len(piece.shell.vertices) > 300]
    sizes = {p.body: np.abs(p.shell.corners[:, 0]).max() for p in rings}
    tube = 0.003 * drawing_of_driven(m).size
    r, R = sizes["first"] - tube, sizes["second"] - tube
    assert r / R == pytest.approx(20 / 30, rel=1e-2)
    assert R + r == pytest.approx(0.25, rel=1e-2)


@pytest.mark.parametrize("ratio", [{"teeth": (20, 30)}, {"ratio": 2 / 3}, {"ratio": 1.37}])
@pytest.mark.parametrize(("kind", "sign"), [("external", 1), ("internal", -1)])
def test_gears_have_teeth_that_mesh_while_they_turn(kind, sign, ratio):
    m = gears(kind, **ratio)
    gear = m["gear"]
    outlines = {line.body: line.points[:-1, :2] for line in gear.sketch(1.0) if len(line.points) > 2}
    radii = {name: np.linalg.norm(points, axis=1) for name, points in outlines.items()}
    teeth = [len(outlines[name]) // 4 for name in ("first", "second")]
    assert teeth[0] / teeth[1] == pytest.approx(abs(gear.factor), rel=1e-2)
    if "teeth" in ratio:
        assert teeth == [20, 30]
    # the pitch circles touch: tips are 1 module above, roots 1.25 below
    pitch = [float(1.25 * radii[name][1] + radii[name][0]) / 2.25 for name in ("first", "second")]
    assert max(pitch) + sign * min(pitch) == pytest.approx(0.5)
    module = 2.0 * min(pitch) / min(teeth)
    for turn in np.linspace(0.0, 2.0 * np.pi / teeth[0], 5):
        places = [
            turned(outlines["first"], turn),
            turned(outlines["second"], -sign * turn * teeth[0] / teeth[1]) + (0.3, 0.4),
        ]
        small, large = places if teeth[0] < teeth[1] else places[::-1]
        wrong = inside(small, large) if sign > 0 else ~inside(small, large)
        # flanks are straight, not involutes: they may cross by a little
        assert all(distance(point, large) < 0.15 * module for point in small[wrong])


def turned(points, angle):
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([(c, s), (-s, c)])


def inside(points, polygon):
    """Return which points lie in a polygon: a ray to the right crosses it an odd number of times."""
    a, b = polygon, np.roll(polygon, -1, axis=0)
    x, y = points[:, 0, None], points[:, 1, None]
    over = (a[:, 1] > y) != (b[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = a[:, 0] + (y - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
    return (over & (at > x)).sum(axis=1) % 2 == 1


def distance(point, polygon):
    a, way = polygon, np.roll(polygon, -1, axis=0) - polygon
    part = np.clip(((point - a) * way).sum(axis=1) / (way * way).sum(axis=1), 0.0, 1.0)
    return np.linalg.norm(a + part[:, None] * way - point, axis=1).min()


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


def test_wheels_of_gears_are_plates_with_teeth_in_the_colours_of_their_bodies():
    figure = drawing_of_driven(gears("external", teeth=(20, 30)))
    for body, teeth in (("first", 20), ("second", 30)):
        pieces = [piece for piece in figure.pieces if piece.name == body]
        plate = max(pieces, key=lambda piece: len(piece.shell.corners))
        rim = np.linalg.norm(plate.shell.corners[:, :2], axis=1)
        assert len(np.unique(plate.shell.corners[:, :2].round(9), axis=0)) >= 4 * teeth
        assert rim.max() > 1.05 * np.median(rim)
        assert {piece.colour for piece in pieces} == {plate.colour}
    for kind in ("belt", "internal"):
        figure = drawing_of_driven(gears(kind, teeth=(20, 30)))
        plates = [p for p in figure.pieces if len(p.shell.corners) >= 80 and "Extrusion" in str(p.shell.key)]
        assert not plates
