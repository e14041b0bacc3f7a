"""Meshes of bodies whose depth, normal and points are known: within the error of their facets."""

import numpy as np
import pytest

import linkwork as lw

BALL = lw.Sphere(1.0).mesh(48)
NORMALS = np.cross(*(BALL.vertices[BALL.faces[:, k]] - BALL.vertices[BALL.faces[:, 0]] for k in (1, 2)))
NORMALS /= np.linalg.norm(NORMALS, axis=1)[:, None]
FACETS = 1.0 - float((NORMALS * BALL.vertices[BALL.faces[:, 0]]).sum(axis=1).min())  # below the ball, at most


def deepest(found: lw.Contacts) -> lw.Contact:
    return found[int(np.argmax(found.depth))]


def test_a_ball_against_a_mesh_of_a_ball() -> None:
    found = deepest(lw.collide(BALL, lw.Sphere(1.0, position=(1.9, 0, 0))))
    assert found.depth == pytest.approx(0.1, abs=FACETS)
    assert np.linalg.norm(found.point_a) == pytest.approx(1.0, abs=FACETS)
    assert found.normal == pytest.approx((1, 0, 0), abs=0.1)


@pytest.mark.parametrize("overlap", [0.1, 0.5, 1.0, 1.8])
def test_two_meshes_of_balls(overlap: float) -> None:
    there = np.array((2.0 - overlap, 0.0, 0.0))
    found = deepest(lw.collide(BALL, BALL, pose_b=there))
    assert found.depth == pytest.approx(overlap, abs=2 * FACETS)
    assert lw.distance(BALL, BALL, pose_b=there) == pytest.approx(-found.depth, abs=1e-12)
    assert np.linalg.norm(found.point_a) == pytest.approx(1.0, abs=FACETS)
    assert np.linalg.norm(found.point_b - there) == pytest.approx(1.0, abs=FACETS)
    moved = lw.distance(BALL, BALL, pose_b=there + (found.depth + 1e-6) * found.normal)
    assert moved == pytest.approx(1e-6, abs=1e-9)


def test_a_mesh_of_a_box_stands_on_another() -> None:
    box = lw.Box(1, 1, 1).mesh()
    found = lw.collide(box, box, pose_b=(0.3, 0.2, 0.95))
    assert found.depth == pytest.approx(np.full(4, 0.05))
    assert found.normal == pytest.approx(np.tile((0, 0, 1), (4, 1)))
    corners = {tuple(point) for point in found.point_a.round(9)[:, :2]}
    assert corners == {(-0.2, -0.3), (0.5, -0.3), (-0.2, 0.5), (0.5, 0.5)}


def test_a_face_with_many_corners_is_stood_on_all_round() -> None:
    """The end of a cylinder's mesh has more corners than a face is cut with."""
    found = lw.collide(lw.Cylinder(1.0, 1.0).mesh(60), lw.Box(4, 4, 1).mesh(), pose_a=(0, 0, 0.99))
    assert len(found) == 4
    angle = np.sort(np.arctan2(found.point[:, 1], found.point[:, 0]))
    assert np.diff(np.append(angle, angle[0] + 2 * np.pi)).max() < np.radians(135)


def test_a_small_body_inside_a_mesh_of_a_box_is_pushed_out_the_shortest_way() -> None:
    found = deepest(lw.collide(lw.Sphere(0.1), lw.Box(2, 2, 2).mesh(), pose_a=(0.2, 0.7, 0.1)))
    assert found.depth == pytest.approx(0.4)
    assert found.normal == pytest.approx((0, -1, 0))


def test_a_nearly_convex_mesh_is_not_taken_for_convex() -> None:
    """A fine bowl in a block: every edge of it is nearly flat, and it is hollow nevertheless."""
    n = 60
    x, y = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n), indexing="ij")
    top = 1.0 - 0.02 * (1 - x**2) * (1 - y**2)
    surface, faces = lw.HeightField(top, (2, 2)).surface()
    block = lw.ConvexHull(np.vstack([surface, surface * (1, 1, 0)]))
    assert lw.overlap(block, lw.Sphere(0.01), pose_b=(0, 0, 1.0))
    below = surface * (1, 1, 0)
    m = len(surface)
    edge = np.concatenate(
        [np.arange(n) * n, n * (n - 1) + np.arange(n), (np.arange(n) * n + n - 1)[::-1], np.arange(n)[::-1]]
    )
    walls = []
    for i, j in zip(edge, np.roll(edge, -1), strict=True):
        if i != j:
            walls += [(i, i + m, j), (j, i + m, j + m)]
    hollow = lw.Mesh(np.vstack([surface, below]), np.vstack([faces, faces[:, ::-1] + m, walls])).repaired()
    assert hollow.is_closed
    assert not lw.overlap(hollow, lw.Sphere(0.01), pose_b=(0, 0, 1.0))
