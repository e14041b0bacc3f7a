"""A world of colliders: who meets whom, in which order, on how many threads; and what is refused."""

# pyright: reportCallIssue=false
# the stubs of SciPy do not know all it takes

import numpy as np
import pytest
from coal_shapes import CONVEX, icosphere
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.geometry import Box, Mesh, Plane, Sphere


def heap(count: int, seed: int = 0) -> lw.Colliders:
    """Bodies of all shapes on a floor, close together."""
    rng = np.random.default_rng(seed)
    world = lw.Colliders()
    world.add("floor", Plane())
    shapes = [*CONVEX.values(), icosphere(1)]
    for k in range(count):
        turn = Rotation.random(random_state=k)
        world.add(f"body {k}", shapes[k % len(shapes)], position=rng.uniform(-2, 2, 3), rotation=turn)
    return world


def test_the_broad_phase_finds_what_trying_all_pairs_finds() -> None:
    world = heap(80)
    pairs = set(map(tuple, world.pairs().tolist()))
    touching = set(map(tuple, world.contacts().shapes.tolist()))
    n = len(world.shape_bodies)
    everything = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    built, where = world._ready()
    _, labels = built.contacts(where, everything, 0.0, world._work)
    assert set(map(tuple, labels[:, :2].tolist())) == touching
    assert touching <= pairs
    assert len(pairs) < len(everything) / 2


def test_pairs_and_contacts_are_sorted_and_the_same_on_any_number_of_threads() -> None:
    world = heap(80)
    pairs = world.pairs()
    assert (np.lexsort((pairs[:, 1], pairs[:, 0])) == np.arange(len(pairs))).all()
    one = world.contacts()
    for threads in (2, 3):
        other = world.contacts(threads=threads)
        for word in ("point_a", "point_b", "normal", "depth", "shapes", "features"):
            assert (getattr(one, word) == getattr(other, word)).all()
    again = heap(80).contacts()
    assert (again.depth == one.depth).all()


@pytest.mark.parametrize("far", [0.0, 0.003, 0.05, 1.0])
def test_pairs_do_not_depend_on_what_was_before(far: float) -> None:
    rng = np.random.default_rng(1)
    world = heap(60)
    for step in range(12):
        margin = 0.02 if step % 5 == 4 else 0.0
        fresh = lw.Colliders()
        fresh.add("floor", Plane())
        for k, name in enumerate(world.names[1:]):
            pose = world._members[name].pose
            turn = Rotation.from_rotvec(rng.normal(0.0, far, 3)).as_matrix() @ pose[:, :3]
            world.move(name, pose[:, 3] + rng.normal(0.0, far, 3), turn)
            fresh.add(name, [*CONVEX.values(), icosphere(1)][k % 8], position=world._members[name].pose[:, 3])
            fresh.move(name, rotation=world._members[name].pose[:, :3])
        assert (world.pairs(margin) == fresh.pairs(margin)).all()
        low, high = boxes_round(fresh, 0.5 * margin)
        n = len(low)
        expected = [
            (i, j)
            for i in range(n)
            for j in range(i + 1, n)
            if (low[i] <= high[j]).all() and (low[j] <= high[i]).all()
        ]
        assert world.pairs(margin).tolist() == [list(pair) for pair in expected]


def boxes_round(world: lw.Colliders, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the boxes round shapes: no wider than their corners say, nor than the ball round them."""
    turns, places = world.poses[..., :3], world.poses[..., 3]
    reach = world.table.reach
    middle = np.einsum("nij,nj->ni", turns, reach[:, :3]) + places
    half = np.minimum(np.einsum("nij,nj->ni", abs(turns), reach[:, 3:6]), reach[:, 6:7]) + margin
    return middle - half, middle + half


def test_groups_and_masks_say_who_meets_whom() -> None:
    world = lw.Colliders()
    world.add("a", Sphere(1.0), group=1, mask=0b110)
    world.add("b", Sphere(1.0), group=0b10)
    world.add("c", Sphere(1.0), group=0b100, mask=0b10)
    found = {tuple(sorted(pair)) for pair in world.contacts().bodies}
    assert found == {("a", "b"), ("b", "c")}


def test_bodies_of_a_joint_do_not_meet() -> None:
    m = lw.Mechanism("arm")
    upper = m.add(lw.Body("upper", Box(0.1, 0.1, 1.0), density=1000, position=(0, 0, 1)))
    fore = m.add(lw.Body("fore", Box(0.1, 0.1, 1.0), density=1000, position=(0, 0, 1.9)))
    hand = m.add(lw.Body("hand", Sphere(0.2), density=1000, position=(0, 0, 1.0)))
    m.add(lw.Revolute("shoulder", m.ground, upper, at=(0, 0, 0.5), axis=(0, 1, 0)))
    m.add(lw.Revolute("elbow", upper, fore, at=(0, 0, 1.45), axis=(0, 1, 0)))
    m.add(lw.Revolute("wrist", fore, hand, at=(0, 0, 2.4), axis=(0, 1, 0)))
    world = lw.Colliders.of(m)
    assert set(world.contacts().bodies) == {("upper", "hand")}
    model = m.compile()
    world.place(model.poses(model.state(shoulder=0.3).q))
    assert world.contains("upper", model.poses(model.state(shoulder=0.3).q)["upper"].position)


def test_an_excluded_pair_passes_and_a_moved_body_is_elsewhere() -> None:
    world = lw.Colliders()
    world.add("a", Sphere(1.0))
    world.add("b", Sphere(1.0), position=(1.5, 0, 0))
    assert len(world.contacts()) == 1
    world.exclude("b", "a")
    assert len(world.contacts()) == 0
    assert world.distance("a", "b") == pytest.approx(-0.5)
    world.move("b", (4.0, 0, 0))
    assert world.distance("a", "b") == pytest.approx(2.0)
    world.remove("b")
    assert "b" not in world


def test_fixed_bodies_do_not_meet() -> None:
    world = lw.Colliders()
    world.add("floor", Plane())
    world.add("wall", Box(1, 1, 1), fixed=True)
    world.add("ball", Sphere(0.6))
    assert {frozenset(pair) for pair in world.contacts().bodies} == {
        frozenset({"floor", "ball"}),
        frozenset({"wall", "ball"}),
    }


def test_the_triangles_that_touch_are_those_of_the_slow_way() -> None:
    """Two triangles cross if an edge of one passes through the other: tried for all of them."""
    a, b = icosphere(1), icosphere(1)
    turn = Rotation.random(random_state=2).as_matrix()
    world = lw.Colliders()
    world.add("a", a)
    world.add("b", b, position=(0.9, 0.3, 0.2), rotation=turn)
    moved = b.vertices @ turn.T + (0.9, 0.3, 0.2)

    def passes(p, q, t) -> bool:
        matrix = np.column_stack([q - p, t[0] - t[1], t[0] - t[2]])
        if abs(np.linalg.det(matrix)) < 1e-14:
            return False
        s, u, v = np.linalg.solve(matrix, t[0] - p)
        return 0 <= s <= 1 and u >= 0 and v >= 0 and u + v <= 1

    expected = set()
    for i, f in enumerate(a.faces):
        for j, g in enumerate(b.faces):
            s, t = a.vertices[f], moved[g]
            if any(passes(s[k], s[k - 1], t) or passes(t[k], t[k - 1], s) for k in range(3)):
                expected.add((i, j))
    assert set(map(tuple, world.touching_triangles("a", "b").tolist())) == expected
    assert len(expected) > 10


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda w: w.add("ball", Sphere(1.0)), "'ball' exists already"),
        (lambda w: w.add("none"), "'none' has no shapes"),
        (lambda w: w.add("what", object()), "cannot be touched"),
        (lambda w: w.distance("ball", "bal"), "did you mean 'ball'"),
        (lambda w: w.ray_cast((0, 0, 0), (0, 0, 0)), "direction is zero"),
        (lambda w: w.ray_cast((0, 0), (0, 0, 1)), "shape"),
        (lambda w: w.contains("ball", [(0, np.nan, 0)]), "not finite"),
    ],
)
def test_mistakes_are_named(act, words: str) -> None:
    world = lw.Colliders()
    world.add("ball", Sphere(1.0))
    with pytest.raises(ValueError, match=words):
        act(world)


def test_a_mesh_with_more_contacts_than_room_is_thinned_out_not_cut_off() -> None:
    n = 60
    x, y = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n), indexing="ij")
    heights = 0.02 * np.sin(40 * x) * np.sin(40 * y)
    sheet = lw.HeightField(heights, (2, 2))
    found = lw.collide(Mesh(*sheet.surface()), Mesh(*sheet.surface()), pose_b=(0.013, 0.017, 0.0))
    assert 0 < len(found) <= 32
    assert np.ptp(found.point[:, :2], axis=0).min() > 1.0


def crosses(p: np.ndarray, q: np.ndarray) -> bool:
    """Return whether a side of one triangle passes through the other."""

    def passes(a: np.ndarray, b: np.ndarray, t: np.ndarray) -> bool:
        # a + s (b - a) = t0 + u (t1 - t0) + v (t2 - t0)
        s, u, v = np.linalg.solve(np.column_stack([b - a, t[0] - t[1], t[0] - t[2]]), t[0] - a)
        return bool(0 <= s <= 1 and u >= 0 and v >= 0 and u + v <= 1)

    return any(passes(p[k - 1], p[k], q) or passes(q[k - 1], q[k], p) for k in range(3))


@pytest.mark.parametrize("one", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("other", [1, 2, 4, 7, 40])
def test_of_meshes_of_any_size_all_triangles_are_found_that_cross(one: int, other: int) -> None:
    rng = np.random.default_rng(100 * one + other)
    soups = [rng.uniform(0.0, 1.0, (n, 3, 3)) for n in (one, other)]
    world = lw.Colliders()
    for name, soup in zip("ab", soups, strict=True):
        faces = np.arange(3 * len(soup)).reshape(-1, 3)
        world.add(name, Mesh(soup.reshape(-1, 3), faces), position=(0.1, 0.2, 0.3))
    expected = [[i, j] for i in range(one) for j in range(other) if crosses(soups[0][i], soups[1][j])]
    assert world.touching_triangles("a", "b").tolist() == expected
