"""Meshes of bodies whose depth, normal and points are known: within the error of their facets."""

import os

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from smooth_bodies import BODIES, PAIRS, gap, judged, least_move, posed

import linkwork as lw

COUNT = int(os.environ.get("LINKWORK_CONFIGURATIONS", "8"))

BALL = lw.Sphere(1.0).mesh(48)
NORMALS = np.cross(*(BALL.vertices[BALL.faces[:, k]] - BALL.vertices[BALL.faces[:, 0]] for k in (1, 2)))
NORMALS /= np.linalg.norm(NORMALS, axis=1)[:, None]
FACETS = 1.0 - float((NORMALS * BALL.vertices[BALL.faces[:, 0]]).sum(axis=1).min())  # below the ball, at most


def deepest(found: lw.Contacts) -> lw.ContactPoint:
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
    assert len(found) == 8
    angle = np.sort(np.arctan2(found.point[:, 1], found.point[:, 0]))
    assert np.diff(np.append(angle, angle[0] + 2 * np.pi)).max() < np.radians(90)


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


def hill(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 0.5 * np.exp(-(x**2) - y**2)


def test_a_ball_on_a_hill_of_terrain() -> None:
    """Cells of 10 cm; the ball touches where the way from its centre to the hill is the shortest."""
    x, y = np.meshgrid(np.linspace(-2, 2, 41), np.linspace(-2, 2, 41), indexing="ij")
    terrain = lw.HeightField(hill(x, y), (4, 4))
    rng = np.random.default_rng(0)
    for _ in range(100):
        at, overlap = rng.uniform(-1, 1, 2), rng.uniform(0.01, 0.2)
        top = np.array([*at, hill(*at)])
        normal = np.array([*(2 * at * top[2]), 1.0])
        normal /= np.linalg.norm(normal)
        found = lw.collide(lw.Sphere(0.4), terrain, pose_a=top + (0.4 - overlap) * normal)
        touched = deepest(found)
        assert touched.depth == pytest.approx(overlap, abs=0.004)
        assert touched.normal @ normal < -0.98
        assert touched.point_b[2] == pytest.approx(hill(*touched.point_b[:2]), abs=0.004)
        assert touched.point_b == pytest.approx(top, abs=0.08)


def test_a_box_in_a_corner_of_a_mesh_is_held_by_the_floor_and_by_the_wall() -> None:
    corner = lw.Extrusion(lw.Polygon([(0, 0), (3, 0), (3, 0.5), (0.5, 0.5), (0.5, 3), (0, 3)]), 4.0).mesh()
    found = lw.collide(lw.Box(1, 1, 1), corner, pose_a=(0.99, 0.98, 0.0))
    directions = {tuple(n): d for n, d in zip(found.normal.round(6) + 0.0, found.depth.round(6), strict=True)}
    assert directions == {(-1.0, 0.0, 0.0): 0.01, (0.0, -1.0, 0.0): 0.02}
    assert lw.distance(lw.Box(1, 1, 1), corner, pose_a=(0.99, 0.98, 0.0)) == pytest.approx(-0.02)


def test_a_ball_in_a_groove_touches_both_sides() -> None:
    groove = lw.Extrusion(lw.Polygon([(-2, -1), (2, -1), (2, 1), (0, 0), (-2, 1)]), 4.0).mesh()
    found = lw.collide(lw.Sphere(0.5), groove, pose_a=(0.0, 0.5 * 5**0.5 / 2 - 0.01, 0.0))
    assert sorted(np.sign(found.normal[:, 0]).tolist()) == [-1.0, 1.0]
    assert found.depth == pytest.approx(np.full(2, 0.01 * 2 / 5**0.5), abs=1e-9)


def test_what_is_inside_a_mesh_that_is_not_convex_is_pushed_out() -> None:
    block = lw.Extrusion(lw.Polygon([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]), 4.0).mesh()
    ball = lw.Sphere(0.1)
    found = deepest(lw.collide(ball, block, pose_a=(2.0, 0.4, 0.3)))
    assert found.depth == pytest.approx(0.5)
    assert found.normal == pytest.approx((0, 1, 0))
    assert lw.distance(ball, block, pose_a=(2.0, 0.4, 0.3)) == pytest.approx(-0.5)
    assert lw.distance(ball, block, pose_a=(2.0, 2.0, 0.3)) == pytest.approx(
        2**0.5 - 0.1 - (2**0.5 - 1), abs=1e-9
    )


@pytest.mark.parametrize("other", ["ring", "dumb-bell", "terrain"])
@pytest.mark.parametrize("one", ["ball", "box", "cylinder", "hull", "ring"])
def test_what_is_near_and_does_not_touch_has_no_contact(one: str, other: str) -> None:
    a, b = BODIES[one], BODIES[other]
    for k in range(COUNT):
        pose = posed(a, b, k, (-0.03, -0.02))
        apart = lw.distance(a.shape, b.shape, pose_a=pose[0], pose_b=pose[1])
        assert 0.0 < apart < 0.04
        assert not len(lw.collide(a.shape, b.shape, pose_a=pose[0], pose_b=pose[1])), k


def test_a_rod_beside_a_thin_plate_does_not_touch_it() -> None:
    plate = lw.Polygon([(0, 0), (2, 0), (2, 0.01), (1, 0.01), (1, 0.5), (0.9, 0.5), (0.9, 0.01), (0, 0.01)])
    bracket = lw.Extrusion(plate, 2.0).mesh()
    rod = lw.Capsule(0.02, 1.0)
    assert not len(lw.collide(rod, bracket, pose_a=(0.4, 0.05, 0.0)))
    assert lw.distance(rod, bracket, pose_a=(0.4, 0.05, 0.0)) == pytest.approx(0.02)
    assert len(lw.collide(rod, bracket, pose_a=(0.4, 0.029, 0.0)))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_random_poses(one: str, other: str) -> None:
    """The small version of benchmarks/contact_accuracy.py: LINKWORK_CONFIGURATIONS=10000 is the large one."""
    a, b = BODIES[one], BODIES[other]
    world = lw.Colliders()
    world.add("a", a.shape, fixed=False)
    world.add("b", b.shape, fixed=False)
    wrong = []
    for k in range(COUNT):
        pose = posed(a, b, k)
        for name, place in zip("ab", pose, strict=True):
            world.move(name, place.position, place.rotation)
        found = world.contacts()
        swapped = len(found) > 0 and found.bodies[0][0] == "b"
        points = (found.point_b, found.point_a) if swapped else (found.point_a, found.point_b)
        judgement = judged(a, b, pose, (found.depth, -found.normal if swapped else found.normal, *points))
        if judgement is None or max(judgement.depth, judgement.points, judgement.parted) > 1.0:
            wrong.append((k, judgement))
    assert not wrong


def parted(a: lw.Solid, b: lw.Solid, at: np.ndarray) -> tuple[float, float]:
    """Return how long the move is that contacts ask for, and the distance after it."""
    found = lw.collide(a, b, pose_b=at)
    move = least_move(found.normal, found.depth)
    return float(np.linalg.norm(move)), lw.distance(a, b, pose_b=at + (1.0 + 1e-6) * move)


def test_a_box_deep_in_a_hollow_corner_of_three_faces() -> None:
    """It has no least depth with any of the faces: each of its deepest points is beyond the face."""
    block, hole = np.full(3, 2.0), np.full(3, 1.0)
    cut = lw.Box(*block).mesh()
    corner = _block_with_a_corner_cut_out(block, hole)
    assert corner.is_closed
    assert cut.volume - corner.volume == pytest.approx(hole.prod())
    turn = lw.Frame(rotation=Rotation.from_euler("xyz", (0.5, 0.6, 0.3)).as_matrix()).rotation
    box = lw.Box(0.5, 0.5, 0.5, rotation=turn)
    for deep in (0.05, 0.2, 0.3):
        length, after = parted(box, corner, -np.full(3, 0.45 - deep))
        assert 0.0 < length < 2.0
        assert after == pytest.approx(0.0, abs=1e-5)


def _block_with_a_corner_cut_out(block: np.ndarray, hole: np.ndarray) -> lw.Mesh:
    """Return a box with its corner at the origin of space cut out."""
    grid = [np.array([-b + h, 0.0, h]) for b, h in zip(block, hole, strict=True)]
    squares = []
    filled = np.ones((2, 2, 2), bool)
    filled[1, 1, 1] = False
    for cell in np.argwhere(filled):
        for axis in range(3):
            for side in (0, 1):
                beyond = cell.copy()
                beyond[axis] += 2 * side - 1
                if (beyond >= 0).all() and (beyond < 2).all() and filled[tuple(beyond)]:
                    continue
                corners = []
                for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    at = cell.copy()
                    at[axis] += side
                    at[(axis + 1) % 3] += u
                    at[(axis + 2) % 3] += v
                    corners.append([grid[k][at[k]] for k in range(3)])
                squares.append(corners if side else corners[::-1])
    points = np.array(squares).reshape(-1, 3)
    first = 4 * np.arange(len(squares))[:, None]
    return lw.Mesh(points, np.vstack([first + (0, 1, 2), first + (0, 2, 3)])).repaired()


def test_a_ball_that_plugs_a_ring_leaves_it_along_the_axis() -> None:
    """Contacts all round hold it from all sides: there is no move that all of them ask for."""
    ring, ball = BODIES["ring"].shape, lw.Sphere(0.5)
    length, after = parted(ring, ball, np.array((0.0, 0.0, 0.1)))
    exact = np.sqrt((0.5 + 0.25) ** 2 - 0.7**2) - 0.1  # the centre is as far from the circle as both radii
    assert length == pytest.approx(exact, abs=0.01)
    assert after == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("share", [0.7, 0.9, 1.0])
def test_meshes_in_the_middle_of_each_other_come_apart(share: float) -> None:
    """Overlaps of most of the size, where contacts are no way out by themselves."""
    a, b = BODIES["ring"], BODIES["dumb-bell"]
    for k in range(COUNT):
        pose = posed(a, b, k, (share, share))
        found = lw.collide(a.shape, b.shape, pose_a=pose[0], pose_b=pose[1])
        move = least_move(found.normal, found.depth)
        assert abs(gap(a, b, pose, -move)) <= a.facets + b.facets + 5e-4, k


def test_meshes_that_nearly_touch_have_contacts_within_a_margin() -> None:
    step = lw.Extrusion(lw.Polygon([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]), 4.0).mesh()
    there = (0.5, 3.005, 0.0)
    assert not len(lw.collide(step, step, pose_b=there))
    world = lw.Colliders()
    world.add("a", step)
    world.add("b", step, position=there)
    found = world.contacts(margin=0.01)
    assert len(found) == 4
    assert found.depth == pytest.approx(np.full(4, -0.005))
    assert np.abs(found.normal[:, 1]) == pytest.approx(np.ones(4))
    assert not len(world.contacts(margin=0.004))


HARD = [  # of 250,000 random poses: a hollow without a contact of its own, or with one that asks for too much
    ("ball", "ring", (4893,)),
    ("ball", "dumb-bell", (1508,)),
    ("box", "ring", (6133, 8821, 9620)),
    ("box", "dumb-bell", (1410, 2333)),
    ("cylinder", "ring", (2271, 7114)),
    ("cylinder", "dumb-bell", (364,)),
    ("hull", "ring", (953, 3901, 5970)),
    ("hull", "dumb-bell", (1220, 3192, 4422, 4739, 7892)),
]


@pytest.mark.parametrize(("one", "other", "number"), [(a, b, k) for a, b, many in HARD for k in many])
def test_hard_poses(one: str, other: str, number: int) -> None:
    a, b = BODIES[one], BODIES[other]
    pose = posed(a, b, number)
    found = lw.collide(a.shape, b.shape, pose_a=pose[0], pose_b=pose[1])
    errors = judged(a, b, pose, (found.depth, found.normal, found.point_a, found.point_b))
    assert errors is not None
    assert max(errors.depth, errors.points, errors.parted) < 1.0


@pytest.mark.parametrize("apart", [0.001, 0.02, 0.1])
def test_fine_meshes_of_balls_nearly_in_one_place_are_moved_by_the_least_depth(apart: float) -> None:
    """No direction is less deep: not the normals of the faces, where the least depth nearly is."""
    ball, way = lw.Sphere(1.0).mesh(64), apart * np.array((0.36, 0.48, 0.8))
    points, faces = ball.vertices, ball.faces
    normals = np.cross(*(points[faces[:, k]] - points[faces[:, 0]] for k in (1, 2)))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    normals = np.vstack([normals, -normals])
    reach = np.concatenate([(points @ some.T).max(axis=0) for some in np.array_split(normals, 20)])
    back = np.concatenate([(points @ -some.T).max(axis=0) for some in np.array_split(normals, 20)])
    assert -lw.distance(ball, ball, pose_b=way) <= (reach + back - normals @ way).min() * (1.0 + 1e-4)


@pytest.mark.parametrize("number", [3, 19, 28, 31])
def test_a_corner_next_to_an_edge_is_a_contact_within_a_margin(number: int) -> None:
    """No corner is over a face, and no edges pass each other."""
    step = lw.Extrusion(lw.Polygon([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]), 4.0).mesh()
    turn = Rotation.random(random_state=number).as_matrix()
    world = lw.Colliders()
    world.add("a", step, fixed=False)
    world.add("b", step, position=np.random.default_rng(number).uniform(-5, 5, 3), rotation=turn, fixed=False)
    gap = world.distance("a", "b")
    assert gap > 0.0
    assert world.contacts(margin=1.01 * gap).depth.max() == pytest.approx(-gap, rel=1e-6)
    assert not len(world.contacts(margin=0.99 * gap))
