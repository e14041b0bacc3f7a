"""Contact points that can hold a body level, and what is degenerate."""

import numpy as np
import pytest
from coal_shapes import CONVEX, icosphere
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.geometry import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Plane,
    Sphere,
)

DEPTH = 1e-3
TALL = {
    "box": (Box(1, 1, 1), 0.5, 4),
    "hull": (ConvexHull(Box(1, 1, 1).surface()[0]), 0.5, 4),
    "mesh": (Box(1, 1, 1).mesh(), 0.5, 4),
    "cylinder": (Cylinder(0.5, 1.0), 0.5, 4),
    "cone": (Cone(0.5, 1.0), 0.0, 4),
    "capsule lying": (Capsule(0.2, 1.0, rotation=Rotation.from_euler("y", 90, degrees=True)), 0.2, 2),
    "cylinder lying": (Cylinder(0.2, 1.0, rotation=Rotation.from_euler("y", 90, degrees=True)), 0.2, 2),
    "sphere": (Sphere(0.5), 0.5, 1),
    "ellipsoid": (Ellipsoid(0.3, 0.4, 0.5), 0.5, 1),
}
FLOORS = {
    "plane": Plane(),
    "box": Box(4, 4, 1, position=(0, 0, -0.5)),
    "hull": ConvexHull(Box(4, 4, 1).surface()[0], position=(0, 0, -0.5)),
    "mesh": Box(4, 4, 1, position=(0, 0, -0.5)).mesh(),
    "terrain": HeightField(np.zeros((9, 9)), (4.0, 4.0)),
}


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("name", TALL)
def test_what_stands_on_a_floor_is_held_level(name: str, floor: str) -> None:
    shape, height, least = TALL[name]
    found = lw.collide(shape, FLOORS[floor], pose_a=(0.03, 0.05, height - DEPTH))
    upright = found.normal[:, 2] < -0.999
    assert upright.all(), found.normal
    assert found.depth.max() == pytest.approx(DEPTH, abs=1e-9)
    assert least <= len(found) <= 8
    if least == 4:  # the middle is well inside the points
        p = found.point[:, :2] - (0.03, 0.05)
        angle = np.sort(np.arctan2(p[:, 1], p[:, 0]))
        assert np.diff(np.append(angle, angle[0] + 2 * np.pi)).max() < np.radians(135)
        assert np.linalg.norm(p, axis=1).min() > 0.3


def test_a_box_across_the_seams_of_a_mesh_feels_none_of_them() -> None:
    n = 12
    x = np.linspace(-2, 2, n)
    flat = HeightField(np.zeros((n, n)), (4, 4))
    for floor in (flat, Mesh(*flat.surface())):
        for shift in x[:-1] + 0.013:
            found = lw.collide(Box(0.5, 0.5, 0.5), floor, pose_a=(shift * 0.7, 0.21, 0.24))
            assert found.normal[:, 2] == pytest.approx(-1.0, abs=1e-9)
            assert found.depth == pytest.approx(0.01, abs=1e-9)


def test_a_shape_under_the_terrain_is_pushed_up() -> None:
    terrain = HeightField(np.zeros((5, 5)), (4, 4))
    found = lw.collide(Sphere(0.1), terrain, pose_a=(0.2, 0.3, -0.5))
    assert found.depth[0] == pytest.approx(0.6)
    assert found.normal[0] == pytest.approx((0, 0, -1))


def test_the_order_of_the_two_only_turns_the_normal() -> None:
    shapes = {
        **CONVEX,
        "mesh": icosphere(1),
        "plane": Plane(),
        "terrain": HeightField(np.zeros((4, 4)), (4, 4)),
    }
    for one, a in shapes.items():
        for other, b in shapes.items():
            there = (0.1, 0.2, 0.35)
            found, back = lw.collide(a, b, pose_a=there), lw.collide(b, a, pose_b=there)
            assert len(found) == len(back), (one, other)
            if len(found):
                k, m = np.argmax(found.depth), np.argmax(back.depth)
                assert found.depth[k] == pytest.approx(back.depth[m], abs=1e-7), (one, other)


@pytest.mark.parametrize("one", CONVEX)
@pytest.mark.parametrize("other", CONVEX)
def test_coincident_containing_and_touching_shapes_give_numbers(one: str, other: str) -> None:
    a, b = CONVEX[one], CONVEX[other]
    for place in (
        (0, 0, 0),
        (1e-300, 0, 0),
        (1e-12, 0, 0),
        (0, 0, 1e-9),
        (0.5, 0, 0),
        (1, 0, 0),
        (0, 0, 1e6),
    ):
        found = lw.collide(a, b, pose_b=place)
        for array in (found.depth, found.normal, found.point_a, found.point_b):
            assert np.isfinite(array).all()
        assert np.linalg.norm(found.normal, axis=1) == pytest.approx(1.0, abs=1e-9)
        assert np.isfinite(lw.distance(a, b, pose_b=place))


def test_triangles_without_area_give_numbers() -> None:
    points = np.array(
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.5, 0, 0), (0, 0, 0), (0.3, 0.3, -1), (0.3, 0.3, 1.0)]
    )
    faces = np.array([(0, 1, 2), (0, 1, 3), (0, 0, 0), (0, 4, 4), (5, 6, 5), (0, 1, 6)])
    bad = Mesh(points, faces)
    shapes = [bad, icosphere(1), *CONVEX.values(), Plane(), HeightField(np.zeros((4, 4)), (4, 4))]
    for shape in shapes:
        for place in ((0, 0, 0), (0.3, 0.3, 0), (0.5, 0, 0), (0.1, 0.1, -0.5)):
            found = lw.collide(bad, shape, pose_b=place)
            assert np.isfinite(found.depth).all()
            assert np.isfinite(found.normal).all()
            assert np.isfinite(found.point).all()
            assert np.isfinite(lw.distance(bad, shape, pose_b=place))


def test_the_features_of_a_contact_stay_when_the_box_moves_a_little() -> None:
    kept = None
    for k in range(5):
        found = lw.collide(Box(1, 1, 1), Box(3, 3, 1), pose_a=(1e-3 * k, 0, 0.99))
        features = sorted(map(tuple, found.features.tolist()))
        assert len(set(features)) == 4
        assert kept is None or features == kept
        kept = features


@pytest.mark.parametrize("overlap", [1.0, 0.75, 0.5])
def test_points_between_boxes_with_coinciding_edges_move_no_more_than_the_boxes(overlap):
    """Bricks of a wall: motions of a nanometre bring corners where edges cross, and take them away."""
    generator = np.random.default_rng(1)
    world = lw.Colliders()
    for name in ("lower", "upper"):
        world.add(name, lw.Box(0.2, 0.1, 0.1))
    world.move("upper", ((1.0 - overlap) * 0.2, 0.0, 0.1))
    before = world.contacts(margin=0.002).point_a
    assert len(before) == 4
    for size in np.repeat([1e-9, 1e-8, 1e-7, 1e-6, 1e-5], 400):
        turn = lw.Frame(rotation=Rotation.from_rotvec(size * generator.normal(size=3)))
        place = np.array([(1.0 - overlap) * 0.2, 0.0, 0.1]) + 0.1 * size * generator.normal(size=3)
        world.move("upper", place, turn.rotation)
        after = world.contacts(margin=0.002).point_a
        moved = np.linalg.norm(before[:, None] - after[None], axis=2).min(axis=1)
        assert len(after) == 4
        assert moved.max() < 100.0 * size
