"""One of each shape, for contracts that all of them keep."""

import numpy as np

from linkwork.geometry import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Extrusion,
    HeightField,
    Mesh,
    Plane,
    Polygon,
    Revolution,
    Solid,
    Sphere,
)

ELL = [(0.1, 0.0), (0.9, 0.0), (0.9, 0.4), (0.5, 0.4), (0.5, 1.2), (0.1, 1.2)]  # concave
STAR = [
    (1.2 * r * np.cos(a), 0.8 * r * np.sin(a))
    for a, r in zip(np.arange(14) * np.pi / 7, np.tile([1.0, 0.45], 7))
]


def star_shaped(seed: int, count: int = 60) -> Mesh:
    """Return a rough potato: a polyhedron whose every point is seen from the origin."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    vertices, faces = ConvexHull(directions).surface()
    return Mesh(vertices * rng.uniform(0.4, 1.3, (len(vertices), 1)) * rng.uniform(0.5, 2.0, 3), faces)


SOLIDS: list[Solid] = [
    Sphere(0.3),
    Box(0.4, 0.7, 1.1),
    Cylinder(radius=0.2, length=0.9),
    Capsule(radius=0.2, length=0.5),
    Cone(radius=0.3, length=0.8),
    Ellipsoid(0.2, 0.5, 0.7),
    Extrusion(ELL, 0.7),
    Revolution(ELL),
    Revolution(ELL, angle=1.3),
    Revolution([(0.0, 0.0), (0.5, 0.2), (0.0, 1.0)], angle=4.9),
    ConvexHull(np.random.default_rng(7).normal(size=(40, 3))),
    star_shaped(3),
    Box(1.0, 1.0, 1.0) - Cylinder(0.2, 0.5, position=(0.1, 0, 0.1), rotation=(0.8, 0.6, 0, 0)),
]
PLATES: list[Solid] = [Polygon(ELL), Polygon(STAR)]
GROUND: list[Solid] = [Plane(), Plane((1, 2, 2), 0.5), HeightField([[0, 1, 0], [2, 0, 1]], (4, 6))]
ALL = SOLIDS + PLATES + GROUND


def name(shape: Solid) -> str:
    """Return what a test of a shape is called."""
    return type(shape).__name__
