"""Convex shapes within nanometres of touching: the normal is that of the surfaces, whatever rounding does.

Two shapes are put together at places whose normals are known, and parted by a gap along them. Chords of a
curved surface are deeper than such a gap is wide, so that what is known of the distance says nothing of its
direction.
"""

from math import atan2, cos, sin, tau

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

GAPS = 0.0, 1e-16, -1e-16, 1e-14, -1e-14, 1e-12, -1e-12, 1e-10, -1e-10, 1e-9, 1e-7, -1e-8, 1e-6, -1e-6
SLOPE = atan2(0.1, 0.5)  # of the cone's side
TOWARDS = np.array([0.3, 0.5, 0.6]) / np.linalg.norm([0.3, 0.5, 0.6])
AXES = np.array([0.1, 0.15, 0.2])
UP = np.array([0.0, 0.0, 1.0])
PLACES = {  # shape, outward normal, a place on the surface there, direction of the straight line through it
    "cylinder": (lw.Cylinder(0.1, 0.5), np.array([1.0, 0, 0]), np.array([0.1, 0, 0.05]), UP),
    "cone": (
        lw.Cone(0.1, 0.5),
        np.array([cos(SLOPE), 0, sin(SLOPE)]),
        np.array([0.05, 0, 0.25]),
        np.array([-sin(SLOPE), 0, cos(SLOPE)]),
    ),
    "capsule": (lw.Capsule(0.1, 0.5), np.array([1.0, 0, 0]), np.array([0.1, 0, 0.05]), UP),
    "box": (lw.Box(0.3, 0.2, 0.1), UP, np.array([0.02, 0.03, 0.05]), np.array([1.0, 0, 0])),
    "ellipsoid": (
        lw.Ellipsoid(*AXES),
        TOWARDS,
        AXES**2 * TOWARDS / np.linalg.norm(AXES * TOWARDS),
        np.cross(TOWARDS, UP) / np.linalg.norm(np.cross(TOWARDS, UP)),
    ),
}


def axes(normal, line):
    """Return a rotation whose third column is the normal, its first the line."""
    return np.column_stack([line, np.cross(normal, line), normal])


def worst(names, turned, count, seed=1):
    """Return the worst errors of normal and depth of two places on each other, turned about the normal."""
    (one, n, x, line), (other, m, y, other_line) = (PLACES[name] for name in names)
    random, errors = np.random.default_rng(seed), np.zeros(2)
    for gap in GAPS:
        for _ in range(count):
            A = Rotation.from_quat(random.normal(size=4)).as_matrix()
            turn = Rotation.from_rotvec(
                A @ n * (random.uniform(0.1, tau / 2 - 0.1) if turned else 0.0)
            ).as_matrix()
            B = turn @ axes(-A @ n, A @ line) @ axes(m, other_line).T
            a = random.normal(size=3)
            b = a + A @ x + gap * (A @ n) - B @ y
            found = lw.collide(one, other, pose_a=lw.Frame(a, A), pose_b=lw.Frame(b, B), margin=1e-3)
            assert len(found.depth)
            off = np.abs(found.normal - A @ n).max(), abs(found.depth.max() + gap)
            errors = np.maximum(errors, off)
    return errors


@pytest.mark.parametrize("other", ["cylinder", "cone", "box", "capsule"])
def test_a_cylinder_lies_beside_another_shape(other):
    normal, depth = worst(("cylinder", other), turned=False, count=12)
    assert normal < 1e-8
    assert depth < 1e-13


@pytest.mark.parametrize(
    "names",
    [("cylinder", "ellipsoid"), ("cone", "ellipsoid"), ("ellipsoid", "ellipsoid"), ("cylinder", "cone")],
)
def test_curved_shapes_touch_at_a_point(names):
    normal, depth = worst(names, turned=True, count=12)
    assert normal < 1e-7
    assert depth < 1e-13


@pytest.mark.parametrize("open_too", [False, True])
def test_meshes_that_are_apart_are_seen_from_far_by_what_is_nearest(open_too):
    """Of dense meshes only what is not much farther than the nearest is a contact, however far is looked."""
    small, large = (
        lw.Revolution([(r, -0.1), (R, -0.1), (R, 0.1), (r, 0.1)]) for r, R in ((0.1, 0.2), (0.7, 0.9))
    )
    disc = small.mesh(40)
    at = np.array([0.3, 0.1, 0.02])  # nearest to the wall of the hole at its right
    mesh = large.mesh(60)
    if open_too:
        far = mesh.vertices[mesh.faces].mean(axis=1)[:, 0] < -0.5
        mesh = lw.Mesh(mesh.vertices, mesh.faces[~far | (np.arange(len(mesh.faces)) % 3 > 0)])
        assert not mesh.is_closed
    gap = lw.distance(disc, mesh, pose_a=at)
    assert gap == pytest.approx(0.7 - 0.2 - np.hypot(*at[:2]), abs=5e-3)
    for margin in (1.01 * gap, 0.5, 3.0):
        found = lw.collide(disc, mesh, pose_a=at, margin=margin)
        assert -found.depth.max() == pytest.approx(gap, rel=1e-9)
        assert (found.depth < 0.0).all()
        nearest = found.normal[int(found.depth.argmax())]
        assert nearest @ [*at[:2], 0.0] / np.hypot(*at[:2]) > 0.99
    assert len(lw.collide(disc, mesh, pose_a=at, margin=0.99 * gap)) == 0
