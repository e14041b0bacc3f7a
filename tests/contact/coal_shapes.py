"""The shapes that are compared with coal, in both libraries, and random places for them."""

# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
# coal has no stubs; those of SciPy do not know all it takes

import numpy as np
from scipy.spatial.transform import Rotation

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

CONVEX = {
    "sphere": Sphere(0.5),
    "capsule": Capsule(0.3, 0.6),
    "box": Box(0.6, 0.8, 1.0),
    "cylinder": Cylinder(0.4, 0.8),
    "cone": Cone(0.5, 0.9),
    "ellipsoid": Ellipsoid(0.3, 0.5, 0.6),
    "hull": ConvexHull(
        0.5
        * (lambda x: x / np.linalg.norm(x, axis=1)[:, None])(np.random.default_rng(5).normal(size=(20, 3)))
    ),
}


def poses(count: int, seed: int, wide: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations (n, 2, 3, 3) and positions (n, 2, 3) of pairs."""
    rng = np.random.default_rng(seed)
    turns = Rotation.random(2 * count, random_state=seed).as_matrix().reshape(count, 2, 3, 3)
    return turns, rng.uniform(-wide, wide, (count, 2, 3))


def in_coal(shape):
    """Return coal's shape, and where its own origin is in ours."""
    import coal

    match shape:
        case Sphere():
            return coal.Sphere(shape.radius), np.zeros(3)
        case Capsule():
            return coal.Capsule(shape.radius, shape.length), np.zeros(3)
        case Box():
            return coal.Box(shape.x, shape.y, shape.z), np.zeros(3)
        case Cylinder():
            return coal.Cylinder(shape.radius, shape.length), np.zeros(3)
        case Cone():
            return coal.Cone(shape.radius, shape.length), np.array([0.0, 0.0, shape.length / 2])
        case Ellipsoid():
            return coal.Ellipsoid(shape.x, shape.y, shape.z), np.zeros(3)
        case Plane():
            return coal.Halfspace(np.array(shape.normal), shape.offset), np.zeros(3)
        case ConvexHull():
            points = coal.StdVec_Vec3s()
            for point in shape.surface()[0]:
                points.append(point)
            return coal.Convex.convexHull(points, False, ""), np.zeros(3)
        case HeightField():
            # Rows of coal's matrix run along y, from high to low, and columns along x.
            heights = np.ascontiguousarray(shape.heights.T[::-1])
            return coal.HeightFieldOBBRSS(*shape.size, heights, float(heights.min()) - 1.0), np.zeros(3)
        case Mesh():
            model = coal.BVHModelOBBRSS()
            model.beginModel(len(shape.faces), len(shape.vertices))
            model.addVertices(np.asarray(shape.vertices))
            model.addTriangles(np.asarray(shape.faces))
            model.endModel()
            return model, np.zeros(3)
    raise TypeError(type(shape).__name__)


def support(shape, direction: np.ndarray) -> np.ndarray:
    """Return the point of a shape farthest in a unit direction, in its own axes: the definition of each."""
    d = direction
    across = np.hypot(d[0], d[1])
    round_ = np.array([d[0], d[1], 0.0]) / across if across > 0 else np.zeros(3)
    match shape:
        case Sphere():
            return shape.radius * d
        case Capsule():
            return shape.radius * d + [0, 0, np.copysign(shape.length / 2, d[2])]
        case Box():
            return np.copysign(np.array([shape.x, shape.y, shape.z]) / 2, d)
        case Cylinder():
            return shape.radius * round_ + [0, 0, np.copysign(shape.length / 2, d[2])]
        case Cone():
            rim, apex = shape.radius * round_, np.array([0, 0, shape.length])
            return apex if apex @ d > rim @ d else rim
        case Ellipsoid():
            axes = np.array([shape.x, shape.y, shape.z])
            return axes**2 * d / np.linalg.norm(axes * d)
        case ConvexHull():
            return shape.points[np.argmax(shape.points @ d)]
    raise TypeError(type(shape).__name__)


def overlap_along(a, b, turns: np.ndarray, places: np.ndarray, n: np.ndarray) -> float:
    """Return how far two shapes overlap along a direction: b moved so far along it just touches a."""
    reach_a = (turns[0] @ support(a, turns[0].T @ n) + places[0]) @ n
    reach_b = (turns[1] @ support(b, -turns[1].T @ n) + places[1]) @ n
    return float(reach_a - reach_b)


def icosphere(times: int) -> Mesh:
    """Return a ball of 20 * 4^times triangles."""
    t = (1 + 5**0.5) / 2
    points = [(-1, t, 0), (1, t, 0), (-1, -t, 0), (1, -t, 0), (0, -1, t), (0, 1, t), (0, -1, -t), (0, 1, -t)]
    points += [(t, 0, -1), (t, 0, 1), (-t, 0, -1), (-t, 0, 1)]
    points = [np.array(p) / np.linalg.norm(p) for p in points]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2)]
    faces += [
        (10, 7, 6),
        (7, 1, 8),
        (3, 9, 4),
        (3, 4, 2),
        (3, 2, 6),
        (3, 6, 8),
        (3, 8, 9),
        (4, 9, 5),
        (2, 4, 11),
    ]
    faces += [(6, 2, 10), (8, 6, 7), (9, 8, 1)]
    for _ in range(times):
        between: dict[tuple[int, int], int] = {}

        def middle(i: int, j: int, between: dict = between) -> int:
            key = min(i, j), max(i, j)
            if key not in between:
                between[key] = len(points)
                points.append((points[i] + points[j]) / np.linalg.norm(points[i] + points[j]))
            return between[key]

        finer = []
        for a, b, c in faces:
            x, y, z = middle(a, b), middle(b, c), middle(c, a)
            finer += [(a, x, z), (b, y, x), (c, z, y), (x, y, z)]
        faces = finer
    return Mesh(np.array(points), np.array(faces))
