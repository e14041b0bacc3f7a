"""Polygons: exact moments, cuts into convex parts, and what is refused with which reason."""

from fractions import Fraction

import numpy as np
import pytest
from geometry_catalogue import ELL, STAR
from hypothesis import given
from hypothesis import strategies as st

from linkwork.geometry import Extrusion, Polygon, Revolution
from linkwork.geometry.plane_figures import fault

SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]


def exact_moments(points) -> list[Fraction]:
    """Return area and integrals of x, y, x^2, xy, y^2, in rational numbers, triangle by triangle."""
    p = [tuple(map(Fraction, point)) for point in np.asarray(points, dtype=float).tolist()]
    total = [Fraction(0)] * 6
    for (x, y), (X, Y) in zip(p, p[1:] + p[:1]):
        double = x * Y - y * X
        # The rule of edge midpoints integrates polynomials of degree 2 over a triangle exactly.
        for u, v in ((x / 2, y / 2), (X / 2, Y / 2), ((x + X) / 2, (y + Y) / 2)):
            for k, value in enumerate((1, u, v, u * u, u * v, v * v)):
                total[k] += double / 6 * value
    return total


def check_against_exact(polygon: Polygon) -> None:
    A, x, y, xx, xy, yy = exact_moments(polygon.points)
    cx, cy = x / A, y / A
    tensor = [[yy / A - cy * cy, -(xy / A - cx * cy)], [-(xy / A - cx * cy), xx / A - cx * cx]]
    exact = np.array([[float(value) for value in row] for row in tensor])
    assert polygon.area == pytest.approx(float(A), rel=1e-12)
    np.testing.assert_allclose(polygon.centre[:2], (float(cx), float(cy)), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(polygon.gyration[:2, :2], exact, atol=1e-12 * np.trace(exact))
    assert polygon.gyration[2, 2] == pytest.approx(np.trace(exact), rel=1e-12)


def random_polygon(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return a polygon that is seen from the origin, with corners in and out."""
    angles = np.sort(rng.uniform(0, 2 * np.pi, count))
    angles += np.arange(count) * 1e-3
    radii = rng.uniform(0.2, 1.0, count)
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)


@pytest.mark.parametrize("seed", range(20))
def test_moments_are_exact(seed):
    rng = np.random.default_rng(seed)
    check_against_exact(Polygon(random_polygon(rng, int(rng.integers(8, 40))) * rng.uniform(0.01, 100, 2)))


def test_nothing_is_lost_far_away():
    near = Polygon(np.round(np.array(STAR) * 2**20) / 2**20)  # so that the shift rounds nothing
    far = Polygon(near.points + 2.0**14)
    assert far.area == pytest.approx(near.area, rel=1e-13)
    np.testing.assert_allclose(far.gyration, near.gyration, atol=1e-12)
    np.testing.assert_allclose(far.centre[:2] - 2.0**14, near.centre[:2], atol=1e-11)


@pytest.mark.parametrize("seed", range(20))
def test_concave_polygons_are_cut_into_convex_ones(seed):
    rng = np.random.default_rng(100 + seed)
    whole = Polygon(random_polygon(rng, 30), density=2.0)
    parts = whole.convex_parts()
    assert all(part.is_convex for part in parts)
    assert sum(part.area for part in parts) == pytest.approx(whole.area, rel=1e-12)
    total = parts[0].inertia()
    for part in parts[1:]:
        total = total + part.inertia()
    np.testing.assert_allclose(total.tensor, whole.inertia().tensor, atol=1e-12)
    reflex = sum(1 for k in range(30) if _turn(whole.points, k) < 0)
    assert len(parts) <= 2 * reflex + 1  # Hertel and Mehlhorn


def _turn(points, k):
    a, b, c = points[k - 1], points[k], points[(k + 1) % len(points)]
    return (b - a)[0] * (c - b)[1] - (b - a)[1] * (c - b)[0]


def test_an_ell_is_two_rectangles():
    assert len(Polygon(ELL).convex_parts()) == 2
    assert Polygon(SQUARE).convex_parts() == (Polygon(SQUARE),)


def test_points_in_line_are_allowed():
    many = [(x / 10, 0) for x in range(10)] + [(1, y / 10) for y in range(10)] + [(1, 1), (0, 1)]
    polygon = Polygon(many)
    assert polygon.is_convex
    assert polygon.area == pytest.approx(1.0, rel=1e-14)
    vertices, faces = polygon.surface()
    a, b, c = (vertices[faces[:, k], :2] for k in range(3))
    areas = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    assert (areas > 1e-6).all()


def test_either_way_round_is_the_same_polygon():
    forward, backward = Polygon(ELL), Polygon(ELL[::-1])
    assert forward.area == backward.area > 0
    assert Polygon([*ELL, ELL[0]]) == forward


@given(st.integers(0, 10**6), st.integers(4, 25))
def test_a_figure_is_refused_if_and_only_if_its_edges_meet(seed, count):
    points = np.random.default_rng(seed).integers(0, 50, (count, 2)).astype(float)
    assert bool(fault(points)) == _edges_meet([tuple(map(Fraction, p)) for p in points.tolist()])


def _edges_meet(p) -> bool:
    """Return whether edges of a figure meet but where they must: the textbook, in rational numbers."""
    n = len(p)
    edges = [(p[k], p[(k + 1) % n]) for k in range(n)]
    if any(a == b for a, b in edges):
        return True
    for i in range(n):
        for j in range(i + 1, n):
            (a, b), (c, d) = edges[i], edges[j]
            if j == i + 1 or (i == 0 and j == n - 1):
                before, at, after = (a, b, d) if j == i + 1 else (c, d, b)
                if _side(before, at, after) == 0 and _dot(before, at, after) < 0:
                    return True
            elif _side(a, b, c) * _side(a, b, d) <= 0 and _side(c, d, a) * _side(c, d, b) <= 0:
                boxes = all(
                    max(min(a[k], b[k]), min(c[k], d[k])) <= min(max(a[k], b[k]), max(c[k], d[k]))
                    for k in (0, 1)
                )
                if boxes:
                    return True
    return False


def _side(a, b, c) -> int:
    cross = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (cross > 0) - (cross < 0)


def _dot(a, b, c):
    return (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1])


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (
            [(0, 0), (1, 1), (1, 0), (0, 1)],
            r"crosses or touches itself: edge 0 to 1 meets edge 2 to 3 near \(0.5, 0.5\)",
        ),
        ([(0, 0), (2, 0), (2, 1), (1, 0), (0, 1)], "crosses or touches itself"),
        ([(0, 0), (1, 0)], "2 points; a polygon has 3 or more"),
        ([(0, 0), (1, 0), (2, 0)], "turns back on itself|no area"),
        ([(0, 0), (1, 0), (1, 0), (0, 1)], r"point 1 is point 2 again, \(1, 0\); drop one"),
        ([(0, 0), (2, 0), (1, 0), (1, 1)], "turns back on itself at point 1"),
        ([(0, 0, 0), (1, 0, 0), (1, 1, 0.3), (0, 1, 0)], r"do not lie in a plane: point \d, .* m off it"),
        ([(0, 0, 1), (1, 0, 1), (2, 0, 1)], "no area"),
        ([(0, 0), (1, 0), (np.nan, 1)], r"number 2, \(nan, 1\), is not finite"),
        ([(0, 0), (1, 0, 3), (0, 1)], "rows have different lengths"),
        ([1, 2, 3], r"shape \(3,\)"),
    ],
)
def test_what_is_no_polygon_is_refused_with_the_reason(points, words):
    with pytest.raises(ValueError, match=f"Polygon: .*({words})"):
        Polygon(points)


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -1), (1, 2, 2), (-1, 0.3, -0.01), (1, 0, 0)])
def test_a_polygon_in_space_lies_where_its_points_are(normal):
    normal = np.array(normal) / np.linalg.norm(normal)
    x = np.cross(normal, (0.3, 0.8, 0.1))
    x /= np.linalg.norm(x)
    corners = np.array(ELL) @ [x, np.cross(normal, x)] + (3.0, 2.0, 1.0)
    polygon = Polygon(corners)
    vertices, _ = polygon.triangles()
    assert {tuple(p) for p in np.round(vertices, 12).tolist()} == {
        tuple(p) for p in np.round(corners, 12).tolist()
    }
    np.testing.assert_allclose(np.abs(np.array(polygon.rotation)[:, 2] @ normal), 1.0, atol=1e-12)
    assert polygon.area == pytest.approx(Polygon(ELL).area, rel=1e-12)


def test_a_full_turn_is_the_limit_of_parts():
    whole = Revolution(ELL).inertia(1.0)
    part = Revolution(ELL, angle=2 * np.pi / 5).inertia(1.0)
    turn = np.array(
        [
            [np.cos(2 * np.pi / 5), -np.sin(2 * np.pi / 5), 0],
            [np.sin(2 * np.pi / 5), np.cos(2 * np.pi / 5), 0],
            [0, 0, 1],
        ]
    )
    total = part
    for k in range(1, 5):
        total = total + part.moved((0, 0, 0), np.linalg.matrix_power(turn, k))
    np.testing.assert_allclose(total.tensor, whole.tensor, atol=1e-14)
    np.testing.assert_allclose(total.com, whole.com, atol=1e-14)


def test_pappus():
    ring = Revolution([(10, -1), (11, 0), (10, 1), (9, 0)])
    assert ring.volume == pytest.approx(2 * np.pi * 10 * 2, rel=1e-14)
    # Of a thin ring: m (R^2 + 3/12 w^2) about the axis, for a square on edge of diagonal 2.
    assert ring.inertia(1.0).tensor[2, 2] / ring.volume == pytest.approx(100 + 3 * (2**2 / 24), rel=1e-13)


def test_sweeps_are_made_of_polygons():
    assert Polygon(ELL).extruded(0.5) == Extrusion(ELL, 0.5)
    assert Polygon(ELL).revolved(1.0) == Revolution(Polygon(ELL), 1.0)
    with pytest.raises(ValueError, match="give it to the result"):
        Polygon(ELL, density=1.0).extruded(1.0)
    with pytest.raises(ValueError, match="place and weigh the Extrusion"):
        Extrusion(Polygon(ELL, position=(1, 0, 0)), 1.0)
    with pytest.raises(ValueError, match=r"Revolution: point 0, .* negative radius"):
        Revolution([(-1, 0), (1, 0), (1, 1)])
    with pytest.raises(ValueError, match="Revolution: angle 7"):
        Revolution(ELL, 7.0)
    with pytest.raises(ValueError, match="Extrusion: length -1"):
        Extrusion(ELL, -1.0)
