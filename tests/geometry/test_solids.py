"""Solids: mass properties against numerical integration that knows nothing of the formulas."""

from itertools import pairwise
from math import pi

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwork.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Solid, Sphere

SOLIDS = [
    Sphere(0.3),
    Box(0.4, 0.7, 1.1),
    Cylinder(radius=0.2, length=0.9),
    Capsule(radius=0.2, length=0.5),
    Cone(radius=0.3, length=0.8),
    Ellipsoid(0.2, 0.5, 0.7),
]
NAMES = [type(solid).__name__ for solid in SOLIDS]
COMMON = ("position", "rotation", "density", "mass")


def half_widths(solid: Solid, z: float) -> tuple[float, float]:
    """Return the half widths along x and y of the cross-section at height z: the definition of each shape."""
    match solid:
        case Sphere(radius=r):
            w = np.sqrt(r * r - z * z)
            return w, w
        case Box(x=x, y=y):
            return x / 2, y / 2
        case Cylinder(radius=r):
            return r, r
        case Capsule(radius=r, length=h):
            w = np.sqrt(r * r - max(0.0, abs(z) - h / 2) ** 2)
            return w, w
        case Cone(radius=r, length=h):
            w = r * (1 - z / h)
            return w, w
        case Ellipsoid(x=a, y=b, z=c):
            w = np.sqrt(1 - (z / c) ** 2)
            return a * w, b * w
    raise TypeError(f"say what the cross-section of a {type(solid).__name__} is")


def heights(solid: Solid) -> list[float]:
    """Return the heights between which the cross-section is smooth."""
    match solid:
        case Sphere(radius=r):
            return [-r, r]
        case Box(z=z):
            return [-z / 2, z / 2]
        case Cylinder(length=h):
            return [-h / 2, h / 2]
        case Capsule(radius=r, length=h):
            return [-h / 2 - r, -h / 2, h / 2, h / 2 + r]
        case Cone(length=h):
            return [0.0, h]
        case Ellipsoid(z=c):
            return [-c, c]
    raise TypeError(f"say how high a {type(solid).__name__} is")


def integrated(solid: Solid) -> tuple[float, np.ndarray, np.ndarray]:
    """Return volume, centre, and tensor about the centre for unit density, by Gauss quadrature over slices.

    Areas and second moments of a slice are themselves quadratures in polar coordinates (round) or x, y (box).
    """
    nodes, weights = np.polynomial.legendre.leggauss(12)
    unit, half = (nodes + 1) / 2, weights / 2
    if isinstance(solid, Box):
        X, Y = np.meshgrid(nodes, nodes)
        W = np.outer(weights, weights)
    else:
        angles = np.arange(24) * 2 * pi / 24
        X, Y = np.outer(unit, np.cos(angles)), np.outer(unit, np.sin(angles))
        W = np.outer(half * unit, np.full(24, 2 * pi / 24))
    moments = np.zeros((4, 4))  # of (1, x, y, z) with itself
    cuts = heights(solid)
    for low, high in pairwise(cuts):
        for node, weight in zip(low + (high - low) * unit, (high - low) * half):
            a, b = half_widths(solid, node)
            x, y, w = a * X.ravel(), b * Y.ravel(), a * b * weight * W.ravel()
            points = np.stack([np.ones_like(x), x, y, np.full_like(x, node)])
            moments += (w * points) @ points.T
    volume, centre = moments[0, 0], moments[0, 1:] / moments[0, 0]
    second = moments[1:, 1:] - volume * np.outer(centre, centre)
    return volume, centre, np.trace(second) * np.eye(3) - second


@pytest.mark.parametrize("solid", SOLIDS, ids=NAMES)
def test_mass_properties_are_exact(solid):
    volume, centre, tensor = integrated(solid)
    inertia = solid.inertia(7800.0)
    assert solid.volume == pytest.approx(volume, rel=1e-13)
    assert inertia.mass == pytest.approx(7800.0 * volume, rel=1e-13)
    np.testing.assert_allclose(inertia.com, centre, atol=1e-13)
    np.testing.assert_allclose(inertia.tensor, 7800.0 * tensor, rtol=1e-12, atol=1e-10)
    assert inertia.problems() == []


@pytest.mark.parametrize("solid", SOLIDS, ids=NAMES)
def test_a_placed_solid_is_the_solid_moved(solid):
    sizes = [getattr(solid, size) for size in solid.__dataclass_fields__ if size not in COMMON]
    turn, shift = Rotation.from_euler("xyz", [0.4, 1.2, -2.0]), np.array([0.5, -1.0, 2.0])
    placed = type(solid)(*sizes, position=shift, rotation=turn).inertia(1000.0)
    R, own = turn.as_matrix(), solid.inertia(1000.0)
    np.testing.assert_allclose(placed.com, shift + R @ own.com, rtol=1e-14)
    np.testing.assert_allclose(placed.tensor, R @ own.tensor @ R.T, atol=1e-10)


def test_eight_small_boxes_are_one_large_one():
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-1, 1) for z in (-1.5, 1.5)]
    parts = [Box(1, 2, 3, position=corner).inertia(5.0) for corner in corners]
    total = sum(parts[1:], start=parts[0])
    whole = Box(2, 4, 6).inertia(5.0)
    assert total.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(total.com, whole.com, atol=1e-15)
    np.testing.assert_allclose(total.tensor, whole.tensor, rtol=1e-14, atol=1e-12)


def test_a_cone_stands_on_its_origin():
    np.testing.assert_allclose(Cone(radius=1, length=4).inertia(1.0).com, (0, 0, 1))


def test_solids_are_values():
    assert Sphere(0.1, position=(1, 2)) == Sphere(0.1, position=np.array([1.0, 2.0, 0.0]))
    assert hash(Sphere(1)) == hash(Sphere(1.0))
    assert Sphere(0.1) != Sphere(0.2)


@pytest.mark.parametrize("size", [0, -1.0, np.nan, np.inf, "wide", None])
@pytest.mark.parametrize(
    ("shape", "field"), [(Sphere, "radius"), (Cone, "length"), (Capsule, "length"), (Ellipsoid, "z")]
)
def test_a_bad_size_is_refused_by_name(shape, field, size):
    sizes = {name: 1.0 for name in shape.__dataclass_fields__ if name not in COMMON} | {field: size}
    with pytest.raises(ValueError, match=f"{shape.__name__}: {field} .*finite length > 0"):
        shape(**sizes)


def test_a_bad_place_or_density_is_refused_by_name():
    with pytest.raises(ValueError, match="Box: rotation quaternion"):
        Box(1, 1, 1, rotation=(0, 0, 0, 0))
    with pytest.raises(ValueError, match="Box: density -1"):
        Box(1, 1, 1).inertia(-1)
