"""Contact points of bodies that touch are continuous in where the bodies are, and keep their names.

From a place where two shapes touch, one moves by 1 nm to 1 mm and turns as much. Contact points move no more
than a hundred times as far, or others take their place that span the same patch. The rim of a cylinder is
spanned by eight points, so that its patch is known to the height of the arc between two of them.
"""

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

import linkwork as lw

MARGIN = 0.004  # more than a motion opens [m]
LYING = Rotation.from_euler("y", 90, degrees=True)


def about_z(degrees):
    return Rotation.from_euler("z", degrees, degrees=True)


def hexagon():
    turns = np.arange(6) * np.pi / 3
    corners = [(0.1 * np.cos(a), 0.1 * np.sin(a), z) for z in (-0.05, 0.05) for a in turns]
    return lw.ConvexHull(corners)


BRICK = lw.Box(0.2, 0.1, 0.1)
HULL = lw.ConvexHull(BRICK.surface()[0])
DISC, ROLLER = lw.Cylinder(0.05, 0.1), lw.Cylinder(0.05, 0.1, rotation=LYING)
CAPSULE = lw.Capsule(0.05, 0.1, rotation=LYING)
SLAB = lw.Box(0.4, 0.4, 0.1)
RIM = 0.05 * (1.0 - np.cos(np.pi / 8))
WALL = [(0.0, 0.0), (0.05, 0.0), (0.1, 0.0), (0.15, 0.0), (0.1, 0.05)]  # how bricks lie on each other [m]

# name: lower, upper, where the upper one is, how it is turned
BONDS = {f"{name} {x:g} {y:g}": (one, one, (x, y, 0.1), about_z(0))
         for name, one in (("brick", BRICK), ("hull", HULL)) for x, y in WALL}  # fmt: skip
CASES = BONDS | {
    "bricks crossed": (BRICK, BRICK, (0, 0, 0.1), about_z(90)),
    "bricks at 45 degrees": (BRICK, BRICK, (0, 0, 0.1), about_z(45)),
    "hulls crossed": (HULL, HULL, (0, 0, 0.1), about_z(90)),
    "hulls at 30 degrees": (HULL, HULL, (0.01, 0.02, 0.1), about_z(30)),
    "brick and hull": (BRICK, HULL, (0.05, 0, 0.1), about_z(0)),
    "hexagons": (hexagon(), hexagon(), (0, 0, 0.1), about_z(0)),
    "hexagons apart": (hexagon(), hexagon(), (0.03, 0.02, 0.1), about_z(0)),
    "hexagon on a plane": (lw.Plane(), hexagon(), (0, 0, 0.05), about_z(0)),
    "hexagon on a slab": (SLAB, hexagon(), (0.03, 0.02, 0.1), about_z(0)),
    "brick on a plane": (lw.Plane(), BRICK, (0, 0, 0.05), about_z(0)),
    "cylinder on a small box": (lw.Box(0.06, 0.06, 0.1), DISC, (0, 0, 0.1), about_z(0)),
    "cylinder on a plane": (lw.Plane(), DISC, (0, 0, 0.05), about_z(0)),
    "cylinder on a slab": (SLAB, DISC, (0.01, 0.02, 0.1), about_z(0)),
    "roller on a plane": (lw.Plane(), ROLLER, (0, 0, 0.05), about_z(0)),
    "roller on a slab": (SLAB, ROLLER, (0, 0, 0.1), about_z(0)),
    "roller with its ends on edges": (lw.Box(0.1, 0.4, 0.1), ROLLER, (0, 0, 0.1), about_z(0)),
    "rollers": (ROLLER, ROLLER, (0, 0, 0.1), about_z(0)),
    "capsule on a slab": (SLAB, CAPSULE, (0, 0, 0.1), about_z(0)),
    "capsule on a hull": (HULL, CAPSULE, (0, 0, 0.1), about_z(0)),
    "capsule with its ends on edges": (lw.Box(0.1, 0.4, 0.1), CAPSULE, (0, 0, 0.1), about_z(0)),
    "capsules": (CAPSULE, CAPSULE, (0, 0, 0.1), about_z(0)),
    "capsules beside": (CAPSULE, CAPSULE, (0.03, 0, 0.1), about_z(0)),
    "capsules crossed": (CAPSULE, CAPSULE, (0, 0, 0.1), about_z(90)),
    "capsule and roller": (ROLLER, CAPSULE, (0, 0, 0.1), about_z(0)),
}
ROUND = {"cylinder on a plane": RIM, "cylinder on a slab": RIM}  # how well a patch is known [m]


def off(points, others):
    """Return how far points are from the convex hull of others, at most."""
    A = np.vstack([others.T, 1e3 * np.ones(len(others))])
    return max(np.linalg.norm(others.T @ nnls(A, np.append(x, 1e3))[0] - x) for x in points)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("count", [25, pytest.param(3000, marks=pytest.mark.soak)])
def test_contact_points_move_no_farther_than_bodies_and_keep_their_names(name, count):
    lower, upper, place, turn = CASES[name]
    generator = np.random.default_rng(2)
    world = lw.Colliders()
    world.add("lower", lower)
    world.add("upper", upper)
    world.move("upper", place, turn.as_matrix())
    before = world.contacts(margin=MARGIN)
    for size in 10.0 ** generator.uniform(-9, -3, count):
        shift, tilt = generator.normal(size=(2, 3))
        shift *= size / np.linalg.norm(shift)
        tilt *= size / 0.1 / np.linalg.norm(tilt) * generator.uniform()
        world.move("upper", place + shift, (Rotation.from_rotvec(tilt) * turn).as_matrix())
        after = world.contacts(margin=MARGIN)
        assert len(after)
        ways = np.linalg.norm(before.point[:, None] - after.point[None], axis=2)
        allowed = 100.0 * size + ROUND.get(name, 0.0)
        if max(ways.min(axis=0).max(), ways.min(axis=1).max()) > allowed:
            assert off(before.point, after.point) < allowed
            assert off(after.point, before.point) < allowed
        elif len(before) == len(after):
            names = (sorted(map(tuple, found.features.tolist())) for found in (before, after))
            assert next(names) == next(names)
