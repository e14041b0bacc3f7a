"""Triangles of shapes: closed, turned outwards, and of the right size."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.view.tessellate import mesh, shell

SOLIDS = [
    lw.Box(0.1, 0.2, 0.3),
    lw.Sphere(0.4),
    lw.Cylinder(0.2, 0.7),
    lw.Capsule(0.2, 0.7),
    lw.Cone(0.3, 0.5),
    lw.Ellipsoid(0.1, 0.2, 0.3),
]


def enclosed(vertices, faces):
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    return np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda solid: type(solid).__name__)
def test_the_triangles_enclose_nearly_the_volume_of_the_solid_and_face_outwards(solid):
    made = shell(solid)
    assert enclosed(made.corners, made.faces) == pytest.approx(solid.volume, rel=0.02)


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda solid: type(solid).__name__)
def test_the_triangles_are_a_closed_surface(solid):
    made = shell(solid)
    places, merged = np.unique(made.corners.round(12), axis=0, return_inverse=True)
    faces = merged.reshape(-1)[made.faces]
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    edges = [(face[k], face[(k + 1) % 3]) for face in faces.tolist() for k in range(3)]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)
    assert len(places) - len(edges) // 2 + len(faces) == 2  # Euler


def test_sizes_share_their_triangles():
    assert shell(lw.Box(1, 2, 3)).key == shell(lw.Box(3, 2, 1)).key
    assert shell(lw.Sphere(2)).key == shell(lw.Ellipsoid(1, 2, 3)).key
    assert shell(lw.Capsule(1, 2)).key == shell(lw.Capsule(2, 4)).key
    assert shell(lw.Capsule(1, 2)).key != shell(lw.Capsule(1, 3)).key


def test_equal_meshes_share_their_triangles():
    vertices, faces = np.eye(3), np.array([[0, 1, 2]])
    assert mesh(vertices, faces).key == mesh(vertices.copy(), faces.copy()).key
    assert mesh(vertices, faces).key != mesh(2 * vertices, faces).key


def test_a_mesh_has_sharp_edges_and_smooth_faces():
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    box = shell(lw.Box(1, 1, 1))
    places, merged = np.unique(box.corners, axis=0, return_inverse=True)
    shared = mesh(places, merged.reshape(-1)[box.faces])
    assert len(places) == len(corners) == 8
    assert len(shared.vertices) == 24  # each corner once per side
    assert enclosed(shared.vertices, shared.faces) == pytest.approx(1.0)
    ball = shell(lw.Sphere(1.0))
    places, merged = np.unique(ball.corners.round(9), axis=0, return_inverse=True)
    smooth = mesh(places, merged.reshape(-1)[ball.faces])
    assert len(smooth.vertices) == len(places)


def test_what_cannot_be_drawn_is_none():
    assert shell(object()) is None
