"""Places on parts: faces, circles, edges; a grid, and angles."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanic.snapping import (
    body_features,
    features,
    frame_along,
    nearest,
    on_angles,
    on_grid,
    turned,
)


def test_a_box_has_six_faces_and_twelve_edges():
    found = features(*lw.Box(1, 2, 3).surface())
    assert sorted({tuple(f.point) for f in found if f.kind == "face"}) == sorted(
        [(-0.5, 0, 0), (0.5, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1.5), (0, 0, 1.5)]
    )
    assert len({tuple(f.point) for f in found if f.kind == "edge"}) == 12
    assert len({tuple(f.point) for f in found if f.kind == "corner"}) == 8
    for face in (f for f in found if f.kind == "face"):
        assert face.axis @ face.point > 0.0  # outwards


def test_the_ends_of_a_cylinder_are_circles_about_its_axis():
    circles = [f for f in features(*lw.Cylinder(0.1, 0.5).surface()) if f.kind == "circle"]
    assert sorted(float(c.point[2]) for c in circles) == pytest.approx([-0.25, 0.25])
    assert all(abs(c.axis[2]) > 0.999 and c.radius == pytest.approx(0.1, rel=0.01) for c in circles)


def test_the_hole_of_a_ring_is_found_beside_its_rim():
    ring = lw.Polygon([(0.1, -0.02), (0.2, -0.02), (0.2, 0.02), (0.1, 0.02)]).revolved()
    radii = sorted({round(f.radius, 2) for f in features(*ring.surface()) if f.kind == "circle"})
    assert radii == [0.1, 0.2]


def test_places_are_where_the_shapes_are_on_the_body():
    turn = turned(0.0, np.pi / 2, 0.0)
    body = lw.Body("pin", lw.Cylinder(0.1, 0.5, position=(1, 2, 3), rotation=turn), density=1.0)
    circles = [f for f in body_features(body) if f.kind == "circle"]
    assert sorted(round(float(c.point[0]), 9) for c in circles) == [0.75, 1.25]


def test_the_nearest_place_attracts_and_circles_a_little_more():
    found = features(*lw.Cylinder(0.1, 0.5).surface())
    assert nearest(found, np.array([0.01, 0, 0.26]), 0.05).kind == "circle"
    assert nearest(found, np.array([3.0, 0, 0]), 0.05) is None


def test_grid_and_angles():
    assert np.allclose(on_grid(np.array([0.123, -0.049, 0.0]), 0.05), (0.1, -0.05, 0.0))
    assert np.allclose(
        on_angles(turned(*np.radians([14.0, 31.0, -44.0]))), turned(*np.radians([15.0, 30.0, -45.0]))
    )
    for axis in ((1, 0, 0), (0, -1, 0), (0.3, 0.4, 0.5)):
        R = frame_along(np.array(axis, float))
        assert np.allclose(R @ R.T, np.eye(3))
        assert np.linalg.det(R) == pytest.approx(1.0)
        assert np.allclose(R[:, 2], np.array(axis) / np.linalg.norm(axis))


def test_a_mantle_has_its_axis_and_a_ball_its_centre_but_no_faces_of_theirs():
    found = features(*lw.Cylinder(0.01, 0.2).surface())
    assert sorted(place.kind for place in found) == ["axis", "circle", "circle"]
    (axis,) = [place for place in found if place.kind == "axis"]
    assert np.allclose(axis.point, 0.0, atol=1e-9)
    assert abs(axis.axis[2]) == pytest.approx(1.0)
    assert axis.radius == pytest.approx(0.01, rel=0.02)
    (centre,) = features(*lw.Sphere(0.05).surface())
    assert centre.kind == "centre"
    assert np.allclose(centre.point, 0.0, atol=1e-9)
    assert {place.kind for place in features(*lw.Box(1.0, 2.0, 3.0).surface())} == {"face", "edge", "corner"}
    assert not [place for place in features(*lw.Cone(0.1, 0.2).surface()) if place.kind == "axis"]
