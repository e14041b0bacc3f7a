"""Half-spaces and terrain."""

import numpy as np
import pytest

from linkwork.geometry import HeightField, Plane


def test_a_plane_is_drawn_where_it_is():
    plane = Plane((1, 2, 2), 0.5)
    np.testing.assert_allclose(plane.normal, np.array([1, 2, 2]) / 3)
    vertices, faces = plane.triangles()
    np.testing.assert_allclose(vertices @ plane.normal, 0.5)
    a, b, c = vertices[faces[0]]
    np.testing.assert_allclose(np.cross(b - a, c - a) / np.linalg.norm(np.cross(b - a, c - a)), plane.normal)


def test_a_level_plane_has_a_top_and_nothing_else():
    np.testing.assert_array_equal(Plane(offset=0.2).bounds, [[-np.inf] * 3, [np.inf, np.inf, 0.2]])


def test_in_the_plane_two_numbers_are_a_normal():
    assert Plane((0, 1)) == Plane((0, 1, 0))


def test_terrain_is_centred_on_its_origin():
    field = HeightField([[0, 1, 0], [2, 0, 1]], (4, 6))
    np.testing.assert_array_equal(field.bounds, [[-2, -3, -np.inf], [2, 3, 2]])
    vertices, faces = field.surface()
    np.testing.assert_array_equal(vertices[0], (-2, -3, 0))
    np.testing.assert_array_equal(vertices[-1], (2, 3, 1))
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    assert 0.5 * np.cross(b - a, c - a)[:, 2].sum() == pytest.approx(24)


def test_the_height_of_terrain_is_that_of_its_triangles():
    rng = np.random.default_rng(1)
    field = HeightField(rng.normal(size=(5, 4)), (3, 2))
    vertices, faces = field.surface()
    for a, b, c in vertices[faces]:
        weights = rng.dirichlet((1, 1, 1))
        x, y, z = weights @ (a, b, c)
        assert field.height(x, y) == pytest.approx(z, abs=1e-12)
    with pytest.raises(ValueError, match=r"\(2, 0\) is beside the terrain"):
        field.height(2, 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Plane((0, 0, 0)), "Plane: normal"),
        (lambda: Plane((0, 0, 1), np.nan), "Plane: offset nan"),
        (lambda: HeightField([1, 2], (1, 1)), r"HeightField: heights of shape \(2,\)"),
        (lambda: HeightField([[1, 2]], (1, 1)), r"HeightField: heights of shape \(1, 2\)"),
        (lambda: HeightField([[1, 2], [3, np.nan]], (1, 1)), "not finite"),
        (lambda: HeightField([[1, 2], [3, 4]], (1, 0)), "HeightField: size 0"),
        (lambda: HeightField([[1, 2], [3, 4]], 3), "HeightField: size 3; give 2 lengths"),
    ],
)
def test_what_is_no_ground_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
