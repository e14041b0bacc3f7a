"""Against coal: contact or not, depth and normal of every pair of convex shapes, triangles of meshes that
touch.

All configurations: LINKWORK_CONFIGURATIONS=20000 pytest tests/contact/test_coal.py
"""

# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
# coal has no stubs; those of SciPy do not know all it takes

import os
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from coal_shapes import CONVEX, icosphere, in_coal, overlap_along, poses

from linkwork.contact.flatten import pieces_of, table_of
from linkwork.contact.narrow_phase import contacts_of_pairs, triangles_that_touch
from linkwork.contact.shape_table import buffer, work
from linkwork.geometry import ConvexHull, HeightField, Plane

COUNT = int(os.environ.get("LINKWORK_CONFIGURATIONS", "300"))
BAND = 1e-9  # closer to touching than this either answer is right
pytestmark = pytest.mark.peers


class Ours:
    """Two shapes, asked again and again."""

    def __init__(self, a, b) -> None:
        self.table = table_of([*pieces_of(a), *pieces_of(b)], [0, 1], [1, 1], [-1, -1])
        self.work, self.found, self.pair = work(20_000), buffer(256), np.array([[0, 1]])

    def poses(self, turns: np.ndarray, places: np.ndarray) -> np.ndarray:
        return np.concatenate([turns, places[:, :, None]], axis=2)

    def contacts(self, turns: np.ndarray, places: np.ndarray, margin: float = 0.0) -> np.ndarray:
        count = contacts_of_pairs(
            self.table, self.poses(turns, places), self.pair, self.work, self.found, margin
        )
        return self.found.number[:count]

    def triangles(self, turns: np.ndarray, places: np.ndarray) -> set[tuple[int, int]]:
        count, _ = triangles_that_touch(self.table, self.poses(turns, places), 0, 1, self.work)
        return set(map(tuple, self.work.raw_label[:count, :2].tolist()))


class Theirs:
    """The same in coal."""

    def __init__(self, a, b, most: int = 1) -> None:
        import coal

        self.coal = coal
        self.shapes = [in_coal(a), in_coal(b)]
        self.request = coal.CollisionRequest()
        self.request.enable_contact, self.request.num_max_contacts = True, most
        self.request.epa_max_iterations, self.request.gjk_max_iterations = 250, 1000

    def contacts(self, turns: np.ndarray, places: np.ndarray) -> list:
        (a, at_a), (b, at_b) = self.shapes
        place = self.coal.Transform3s
        result = self.coal.CollisionResult()
        pose_a = place(turns[0], places[0] + turns[0] @ at_a)
        self.coal.collide(a, pose_a, b, place(turns[1], places[1] + turns[1] @ at_b), self.request, result)
        return [result.getContact(k) for k in range(result.numContacts())]


def cross_exactly(p: np.ndarray, q: np.ndarray) -> bool:
    """Tell in rational numbers whether an edge of one triangle passes through the other."""
    exact = [[np.array([Fraction(float(x)) for x in corner]) for corner in triangle] for triangle in (p, q)]

    def passes(a: np.ndarray, b: np.ndarray, t: list) -> bool:
        n = np.cross(t[1] - t[0], t[2] - t[0])
        before, after = n @ (a - t[0]), n @ (b - t[0])
        if before * after > 0 or before == after:
            return False
        x = a + before / (before - after) * (b - a)
        return all(n @ np.cross(t[(k + 1) % 3] - t[k], x - t[k]) >= 0 for k in range(3))

    one, other = exact
    return any(passes(one[k], one[k - 1], other) or passes(other[k], other[k - 1], one) for k in range(3))


def distance_in_coal(theirs: Theirs, turns: np.ndarray, places: np.ndarray) -> float:
    request, result = theirs.coal.DistanceRequest(), theirs.coal.DistanceResult()
    (a, at_a), (b, at_b) = theirs.shapes
    place = theirs.coal.Transform3s
    pose_a = place(turns[0], places[0] + turns[0] @ at_a)
    return theirs.coal.distance(a, pose_a, b, place(turns[1], places[1] + turns[1] @ at_b), request, result)


@pytest.mark.parametrize(("one", "other"), list(combinations_with_replacement(CONVEX, 2)))
def test_convex_pairs_agree(one: str, other: str) -> None:
    a, b = CONVEX[one], CONVEX[other]
    ours, theirs = Ours(a, b), Theirs(a, b)
    turns, places = poses(COUNT, seed=7)
    touching = missed = 0
    for turn, place in zip(turns, places, strict=False):
        found, expected = ours.contacts(turn, place), theirs.contacts(turn, place)
        assert np.isfinite(found).all()
        if bool(len(found)) != bool(expected):
            # coal is accurate to 1e-6: who says apart must show a direction that separates them.
            near = ours.contacts(turn, place, margin=1.0)
            depth, normal = near[np.argmax(near[:, 9]), 9], near[np.argmax(near[:, 9]), 6:9]
            assert abs(depth) < 1e-6
            assert overlap_along(a, b, turn, place, normal) == pytest.approx(depth, abs=BAND)
            continue
        if not expected:
            continue
        touching += 1
        deepest = found[np.argmax(found[:, 9])]
        depth, normal = deepest[9], deepest[6:9]
        # The depth is the overlap along the normal, and coal found no direction with less.
        assert overlap_along(a, b, turn, place, normal) == pytest.approx(depth, abs=1e-9)
        coals = expected[0].normal
        least = overlap_along(a, b, turn, place, coals)
        if depth > least + 1e-6:  # a minimum that is not the least: rare, and close to it
            missed += 1
            assert depth <= 1.002 * least
            continue
        if abs(least + expected[0].penetration_depth) < 1e-9 and abs(depth - least) < 1e-13:
            assert normal == pytest.approx(coals, abs=1e-6)
        # The points lie on both surfaces, that far apart.
        assert (deepest[:3] - deepest[3:6]) @ normal == pytest.approx(depth, abs=1e-9)
    assert touching > COUNT // 4
    assert missed <= COUNT // 10_000


@pytest.mark.parametrize("name", CONVEX)
def test_planes_agree(name: str) -> None:
    a, plane = CONVEX[name], Plane((0.2, -0.3, 0.9), 0.1)
    ours, theirs = Ours(a, plane), Theirs(a, plane)
    for turn, place in zip(*poses(COUNT, seed=8), strict=False):
        found, expected = ours.contacts(turn, place), theirs.contacts(turn, place)
        assert bool(len(found)) == bool(expected)
        if expected:
            deepest = found[np.argmax(found[:, 9])]
            assert deepest[9] == pytest.approx(-expected[0].penetration_depth, abs=1e-9)
            assert deepest[6:9] == pytest.approx(expected[0].normal, abs=1e-9)


@pytest.mark.parametrize("name", CONVEX)
def test_terrain_agrees_on_contact(name: str) -> None:
    rng = np.random.default_rng(3)
    field = HeightField(rng.uniform(0.0, 0.4, (9, 7)), (3.0, 2.0))
    a = CONVEX[name]
    ours, theirs = Ours(a, field), Theirs(a, field)
    turns, places = poses(max(COUNT // 3, 100), seed=9)
    touching = 0
    for turn, place in zip(turns, places, strict=False):
        turn, place = turn.copy(), place.copy()
        turn[1], place[1] = np.eye(3), 0.0
        place[0, 2] += 0.6
        found, expected = ours.contacts(turn, place), theirs.contacts(turn, place)
        if bool(len(found)) != bool(expected):
            near = ours.contacts(turn, place, margin=1e-6)
            assert len(near), "coal has a contact"
            assert abs(near[:, 9].max()) < 1e-6
        touching += bool(expected)
    assert touching > 10


@pytest.mark.parametrize("name", CONVEX)
def test_a_mesh_and_a_convex_shape_agree_on_contact(name: str) -> None:
    """A mesh that bounds a convex solid is that solid; for coal it is a surface: it is given the hull."""
    mesh = icosphere(2)
    a = CONVEX[name]
    ours, theirs = Ours(a, mesh), Theirs(a, ConvexHull(mesh.vertices))
    turns, places = poses(max(COUNT // 3, 100), seed=10)
    for turn, place in zip(turns, 1.6 * places, strict=False):
        found, expected = ours.contacts(turn, place), theirs.contacts(turn, place)
        assert np.isfinite(found).all()
        if bool(len(found)) != bool(expected):
            assert abs(distance_in_coal(theirs, turn, place)) < 1e-6


def test_the_same_triangles_of_meshes_touch() -> None:
    mesh = icosphere(2)
    ours, theirs = Ours(mesh, mesh), Theirs(mesh, mesh, most=100_000)
    turns, places = poses(max(COUNT // 10, 30), seed=11)
    pairs = 0
    for turn, place in zip(turns, 1.6 * places, strict=False):
        found = ours.triangles(turn, place)
        expected = {(contact.b1, contact.b2) for contact in theirs.contacts(turn, place)}
        pairs += len(expected)
        for i, j in found ^ expected:  # coal is accurate to 1e-6; exact arithmetic decides
            p, q = (
                mesh.vertices[mesh.faces[f]] @ R.T + x
                for f, R, x in zip((i, j), turn, 1.0 * place, strict=False)
            )
            assert cross_exactly(p, q) == ((i, j) in found)
    assert pairs > 1000
