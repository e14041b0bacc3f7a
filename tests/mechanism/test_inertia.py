"""Inertia: a value that adds, moves and knows what no real body has."""

import copy
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.mechanism.inertia import GROSS, Inertia, rotational

RNG = np.random.default_rng(2)


def cloud(n: int, width: int = 3) -> tuple[np.ndarray, np.ndarray]:
    return RNG.uniform(0.1, 2.0, n), RNG.normal(size=(n, width))


def about(inertia: Inertia, point: np.ndarray) -> np.ndarray:
    """Return the tensor about another point: parallel axes, Steiner."""
    d = np.asarray(point) - inertia.com
    return inertia.tensor + inertia.mass * ((d @ d) * np.eye(3) - np.outer(d, d))


def test_point_masses_have_the_textbook_tensor():
    masses, points = cloud(7)
    inertia = Inertia.from_points(masses, points)
    com = (masses[:, None] * points).sum(axis=0) / masses.sum()
    textbook = np.zeros((3, 3))
    for m, (x, y, z) in zip(masses, points - com):
        textbook += m * np.array(
            [
                [y * y + z * z, -x * y, -x * z],
                [-x * y, x * x + z * z, -y * z],
                [-x * z, -y * z, x * x + y * y],
            ]
        )
    assert inertia.mass == pytest.approx(masses.sum())
    np.testing.assert_allclose(inertia.com, com, rtol=1e-14)
    np.testing.assert_allclose(inertia.tensor, textbook, rtol=1e-13)


@pytest.mark.parametrize("width", [2, 3])
def test_adding_bodies_is_the_same_as_taking_their_points_together(width):
    masses, points = cloud(9, width)
    halves = Inertia.from_points(masses[:4], points[:4]) + Inertia.from_points(masses[4:], points[4:])
    whole = Inertia.from_points(masses, points)
    assert halves.mass == pytest.approx(whole.mass, rel=1e-14)
    np.testing.assert_allclose(halves.com, whole.com, rtol=1e-13)
    np.testing.assert_allclose(halves.tensor, whole.tensor, rtol=1e-13, atol=1e-14)


def test_addition_keeps_its_digits_far_from_the_origin():
    masses, points = cloud(6)
    far = np.array([1e7, -2e7, 3e7])
    near = Inertia.from_points(masses[:3], points[:3]) + Inertia.from_points(masses[3:], points[3:])
    moved = [Inertia.from_points(masses[k], points[k]).moved(far, np.eye(3)) for k in (slice(3), slice(3, 6))]
    np.testing.assert_allclose((moved[0] + moved[1]).tensor, near.tensor, rtol=1e-6)


def test_zero_adds_nothing():
    inertia = Inertia.from_points(*cloud(4))
    assert inertia + Inertia.zero("space") == inertia
    assert (Inertia.zero("space") + inertia).tensor == pytest.approx(inertia.tensor)
    assert Inertia.zero("plane").com.shape == (2,)
    massless = Inertia(0.0, (0, 0, 0), np.eye(3))
    np.testing.assert_array_equal((massless + massless).tensor, 2 * np.eye(3))


def test_moving_a_body_moves_its_points():
    masses, points = cloud(5)
    turn, shift = Rotation.from_quat(RNG.normal(size=4)).as_matrix(), RNG.normal(size=3)
    moved = Inertia.from_points(masses, points).moved(shift, turn)
    expected = Inertia.from_points(masses, points @ turn.T + shift)
    np.testing.assert_allclose(moved.com, expected.com, rtol=1e-13)
    np.testing.assert_allclose(moved.tensor, expected.tensor, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(moved.tensor, moved.tensor.T)


def test_parallel_axes_there_and_back():
    inertia = Inertia.from_points(*cloud(5))
    point = np.array([0.3, -2.0, 1.0])
    there = about(inertia, point)
    d = inertia.com - point
    back = there - inertia.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    np.testing.assert_allclose(back, inertia.tensor, rtol=1e-12)


def test_the_planar_part_is_that_of_the_projected_points():
    masses, points = cloud(6)
    planar = Inertia.from_points(masses, points).planar()
    expected = Inertia.from_points(masses, points[:, :2])
    np.testing.assert_allclose(planar.com, expected.com, rtol=1e-13)
    assert float(planar.tensor) == pytest.approx(float(expected.tensor), rel=1e-13)
    assert planar.planar() is planar


def test_a_planar_inertia_moves_in_its_plane():
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    moved = Inertia(2.0, (1, 0), 0.5).moved((10, 20), turn)
    np.testing.assert_array_equal(moved.com, (10, 21))
    assert moved.tensor == 0.5


def test_planar_and_spatial_do_not_add():
    with pytest.raises(ValueError, match=r"\.planar\(\)"):
        Inertia.zero("plane") + Inertia.zero("space")


def test_fields_cannot_be_written():
    inertia = Inertia.from_points(*cloud(3))
    with pytest.raises(ValueError, match="read-only"):
        inertia.com[0] = 1.0
    with pytest.raises(AttributeError):
        inertia.mass = 1.0  # type: ignore[misc]


def test_equal_inertias_are_equal_and_hash_alike():
    one, two = (Inertia(1.0, (0, 0, 1), np.eye(3)) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one != Inertia(1.0, (0, 0, 2), np.eye(3))


@pytest.mark.parametrize(
    ("com", "tensor"), [((0, 0, 0), 1.0), ((0, 0), np.eye(3)), ((0, 0, 0), np.eye(2)), (0.0, 0.0)]
)
def test_shapes_that_do_not_fit_are_refused(com, tensor):
    with pytest.raises(ValueError, match="3 numbers and a 3x3 matrix, or 3 moments, in space"):
        Inertia(1.0, com, tensor)


def test_principal_axes_rebuild_the_tensor_and_are_right_handed():
    for _ in range(20):
        turn = Rotation.from_quat(RNG.normal(size=4)).as_matrix()
        tensor = turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T
        moments, axes = Inertia(1.0, (0, 0, 0), tensor).principal()
        np.testing.assert_allclose(moments, [1.0, 2.0, 2.5], rtol=1e-13)
        np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, tensor, atol=1e-13)
        np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-14)
        assert np.linalg.det(axes) == pytest.approx(1.0)


def test_principal_axes_of_a_diagonal_tensor_are_the_frame():
    moments, axes = Inertia(1.0, (0, 0, 0), np.diag([1.0, 2.0, 3.0])).principal()
    np.testing.assert_array_equal(moments, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(axes, np.eye(3))


@pytest.mark.parametrize(
    ("inertia", "words"),
    [
        (Inertia(-1.0, (0, 0, 0), np.eye(3)), "mass -1 kg is negative"),
        (Inertia(np.nan, (0, 0, 0), np.eye(3)), "mass nan is not finite"),
        (Inertia(1.0, (0, np.inf, 0), np.eye(3)), "centre of mass (0, inf, 0) is not finite"),
        (Inertia(1.0, (0, 0, 0), np.full((3, 3), np.nan)), "tensor"),
        (Inertia(1.0, (0, 0, 0), [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric"),
        (Inertia(1.0, (0, 0, 0), np.diag([1, 1, -0.1])), "(-0.1, 1, 1) kg m^2: one is negative"),
        (Inertia(1.0, (0, 0, 0), np.diag([1, 1, 2.1])), "triangle inequality"),
        (Inertia(1.0, (0, 0), -1.0), "moment of inertia -1 kg m^2 is negative"),
    ],
)
def test_what_no_real_body_has_is_said_in_words(inertia, words):
    (problem,) = inertia.problems()
    assert words in problem


def test_real_bodies_have_no_problems():
    assert Inertia.zero("space").problems() == []
    assert Inertia.zero("plane").problems() == []
    flat_plate = Inertia(1.0, (0, 0, 0), np.diag([1.0, 1.0, 2.0]))  # on the edge of the triangle inequality
    assert flat_plate.problems() == []
    for _ in range(20):
        assert Inertia.from_points(*cloud(2)).problems() == []


def test_a_flaw_may_be_allowed_when_it_is_small_for_the_mechanism():
    sensor = Inertia(0.1, (0, 0, 0), np.diag([0.001, 0.001, 0.01]))
    rest = [Inertia(10.0, (0, 0, 0), np.eye(3))] * 10
    assert sensor.problems()
    assert not sensor.problems(allowed=GROSS * rotational([sensor, *rest]))
    assert Inertia(-1.0, (0, 0, 0), np.eye(3)).problems(allowed=1e9)


@pytest.mark.parametrize(
    "moments", [(1.0, 1.0, 10.0), (-0.02, 0.05, 0.1), (0.0, 0.0, 3.0), (-1.0, -2.0, -3.0)]
)
def test_a_repaired_tensor_is_real_and_a_real_one_stays(moments):
    turn = Rotation.from_quat(RNG.normal(size=4)).as_matrix()
    broken = Inertia(1.0, (0, 0, 0), turn @ np.diag(moments) @ turn.T)
    repaired = broken.repaired()
    assert repaired.problems() == []
    np.testing.assert_allclose(repaired.repaired().tensor, repaired.tensor, atol=1e-13)


def test_what_is_said_to_be_unphysical_may_break_the_triangle_inequality_and_nothing_else():
    odd = np.diag([0.0, 0.35, 0.0])
    assert Inertia(1.0, (0, 0, 0), odd).problems()
    assert not Inertia(1.0, (0, 0, 0), odd, unphysical=True).problems()
    assert Inertia(1.0, (0, 0, 0), -odd, unphysical=True).problems()
    assert Inertia(1.0, (0, 0, 0), odd + [[0, 1, 0], [0, 0, 0], [0, 0, 0]], unphysical=True).problems()
    with pytest.raises(ValueError, match="unphysical 1; give True or False"):
        Inertia(1.0, (0, 0, 0), odd, unphysical=1)  # type: ignore[arg-type]


def test_sums_and_moved_ones_stay_unphysical():
    odd = Inertia(1.0, (0, 0, 0), np.diag([0.0, 0.35, 0.0]), unphysical=True)
    real = Inertia(1.0, (0, 0, 0), np.eye(3))
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert (odd + real).unphysical
    assert (real + odd).unphysical
    assert not (real + real).unphysical
    assert odd.moved((1, 0, 0), turn).unphysical
    assert odd.seen_from((1, 0, 0), turn).unphysical
    assert copy.deepcopy(odd) == pickle.loads(pickle.dumps(odd)) == odd
    assert odd != Inertia(1.0, (0, 0, 0), odd.tensor)
    assert (odd + real).oddity == ""


def test_three_moments_are_a_diagonal_tensor():
    np.testing.assert_array_equal(
        lw.Inertia(1.0, (0, 0, 0), (0.1, 0.2, 0.25)).tensor, np.diag([0.1, 0.2, 0.25])
    )
    with pytest.raises(ValueError, match="3 moments, in space"):
        lw.Inertia(1.0, (0, 0, 0), (0.1, 0.2))
