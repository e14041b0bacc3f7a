"""Rotations: matrix, axis and angle, Euler sequences, quaternion, against matrix exponentials and SciPy."""

from itertools import pairwise, product

import mpmath as mp
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.algebra import rotation
from linkwork.algebra.number import is_zero
from linkwork.algebra.vector import Matrix
from linkwork.trace.expression import Graph

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
SEQUENCES = [
    "".join(letters)
    for n in (1, 2, 3)
    for letters in product("xyz", repeat=n)
    if all(a != b for a, b in pairwise(letters))
]
EVERY_SEQUENCE = SEQUENCES + [s.upper() for s in SEQUENCES]


def skew(w) -> np.ndarray:
    x, y, z = w
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=object)


def turned(axis, angle) -> np.ndarray:
    """Return the turn by its definition: the exponential of the skew matrix of axis times angle."""
    R = mp.expm(mp.matrix((skew(axis) * angle).tolist()), method="taylor")
    return np.array(R.tolist(), dtype=object).reshape(3, 3)


def unit(*x) -> list:
    length = mp.sqrt(sum(mp.mpf(a) ** 2 for a in x))
    return [mp.mpf(a) / length for a in x]


def matrix(R) -> np.ndarray:
    return np.array(R, float)


def same_turn(q) -> np.ndarray:
    """Return the matrix of a quaternion, by SciPy."""
    return Rotation.from_quat(np.array(q, float), scalar_first=True).as_matrix()


def quaternion(*entries):
    """Return the quaternion of the turn with these entries."""
    return rotation.to_quaternion(Matrix.of((entries[:3], entries[3:6], entries[6:])))


def axis_and_angle(*entries):
    axis, angle = rotation.to_axis_angle(Matrix.of((entries[:3], entries[3:6], entries[6:])))
    return [*axis, angle]


# turns from angles


@pytest.mark.parametrize("letter", AXES)
def test_a_turn_about_a_coordinate_axis_is_the_exponential_of_its_rate(numbers, letter):
    angle = mp.mpf("0.7")
    numbers.check(getattr(rotation, f"about_{letter}"), [angle], turned(AXES[letter], angle))


def test_a_turn_about_any_axis_is_the_exponential_of_its_rate(numbers):
    axis, angle = unit(0.3, -0.5, 0.8), mp.mpf("-2.1")
    numbers.check(lambda *x: rotation.about_axis(x[:3], x[3]), [*axis, angle], turned(axis, angle))


@pytest.mark.parametrize("letter", AXES)
def test_a_turn_about_a_coordinate_axis_given_as_any_axis_keeps_its_zeros(letter):
    angle = Graph().symbol("angle")
    general = rotation.about_axis([float(x) for x in AXES[letter]], angle)
    special = getattr(rotation, f"about_{letter}")(angle)
    assert [is_zero(x) for x in general.scalars()] == [is_zero(x) for x in special.scalars()]


@pytest.mark.parametrize("sequence", ["zyx", "ZYX", "xyz", "XYZ", "zxz", "ZXZ"])
def test_moving_axes_multiply_on_the_right_and_fixed_ones_on_the_left(numbers, sequence):
    angles = [mp.mpf("0.4"), mp.mpf("-1.2"), mp.mpf("2.2")]
    R = np.eye(3, dtype=object)
    for letter, angle in zip(sequence, angles, strict=True):
        turn = turned(AXES[letter.lower()], angle)
        R = R @ turn if sequence.isupper() else turn @ R
    numbers.check(lambda *x: rotation.from_euler(sequence, x), angles, R)


@pytest.mark.parametrize("sequence", EVERY_SEQUENCE)
def test_euler_sequences_are_those_of_scipy(sequence):
    angles = [0.4, -1.2, 2.2][: len(sequence)]
    expected = Rotation.from_euler(sequence, angles if len(angles) > 1 else angles[0]).as_matrix()
    np.testing.assert_allclose(matrix(rotation.from_euler(sequence, angles)), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("sequence", "angles", "words"),
    [
        ("xyz", [1.0, 2.0], "'xyz' with 2 angles"),
        ("abc", [1.0, 2.0, 3.0], "letters x, y, z"),
        ("xYz", [1.0, 2.0, 3.0], "mixes moving .* and fixed"),
    ],
)
def test_what_is_no_euler_sequence_is_refused(sequence, angles, words):
    with pytest.raises(ValueError, match=words):
        rotation.from_euler(sequence, angles)


@pytest.mark.parametrize("angles", [(0.4, -1.2, 2.2), (-3.0, 1.5, -0.1), (3.1, 0.0, 3.1)])
def test_yaw_pitch_and_roll_come_back(numbers, angles):
    exact = [mp.mpf(a) for a in angles]
    numbers.check(lambda *x: rotation.to_euler("ZYX", rotation.from_euler("ZYX", x)), exact, exact)


# quaternions


def test_a_quaternion_of_any_length_is_a_turn(numbers):
    q = [mp.mpf(x) for x in ("0.6", "-1.1", "0.3", "0.9")]
    w, *v = unit(*q)
    angle = 2 * mp.atan2(mp.sqrt(sum(x * x for x in v)), w)
    numbers.check(lambda *q: rotation.from_quaternion(q), q, turned(unit(*v), angle))


def test_the_product_of_quaternions_is_the_product_of_turns(numbers):
    p, q = unit(0.6, -1.1, 0.3, 0.9), unit(-0.2, 0.4, 1.0, 0.5)
    P, Q = (np.array(rotation.from_quaternion(x), dtype=object) for x in (p, q))
    numbers.check(
        lambda *x: rotation.from_quaternion(rotation.quaternion_product(x[:4], x[4:])), [*p, *q], P @ Q
    )
    numbers.check(lambda *x: rotation.quaternion_product(x, (x[0], -x[1], -x[2], -x[3])), p, [1, 0, 0, 0])


def test_the_rate_of_a_quaternion_turns_with_the_angular_velocity_in_the_turned_frame(numbers):
    q, w = unit(0.6, -1.1, 0.3, 0.9), [mp.mpf(x) for x in ("0.3", "-0.8", "1.2")]
    half_turns = [-sum(a * b for a, b in zip(q[1:], w, strict=True)) / 2]  # q (0, w) / 2, written out
    half_turns += list((np.array(w, dtype=object) * q[0] + np.cross(q[1:], w)) / 2)
    numbers.check(lambda *x: rotation.quaternion_rates(x[:4], x[4:]), [*q, *w], half_turns)

    def entry(i, j):
        return lambda t: rotation.from_quaternion([a + t * b for a, b in zip(q, half_turns, strict=True)])[i][
            j
        ]

    R = np.array(rotation.from_quaternion(q), dtype=object)
    rate = [[mp.diff(entry(i, j), 0) for j in range(3)] for i in range(3)]
    assert np.abs(np.array(rate) - R @ skew(w)).max() < 1e-20


HALF_TURNS = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1), (1, -2, 3), (-3, 1, 1)]
QUATERNIONS = {
    "no turn": (1, 0, 0, 0),
    "large w": (3, 1, -1, 0.5),
    "large x": (1, 3, -1, 0.5),
    "large y": (1, -1, 3, 0.5),
    "large z": (1, 0.5, -1, 3),
    "all equal": (1, 1, 1, 1),
    "tiny": (1, 1e-9, -2e-9, 1e-10),
    **{f"half turn {axis}": (0, *axis) for axis in HALF_TURNS},
    "almost a half turn": (1e-9, 1, 2, 2),
}


@pytest.mark.parametrize("name", QUATERNIONS)
def test_the_quaternion_of_a_turn_comes_back_with_w_not_negative(numbers, name):
    q = unit(*QUATERNIONS[name])
    R = rotation.from_quaternion(q)
    if q[0] > 0:
        numbers.check(quaternion, R.scalars(), q)
    else:  # both signs are right
        back = [mp.mpf(x) for x in numbers.run(quaternion, R.scalars())]
        error = np.array(rotation.from_quaternion(back)) - np.array(R)
        assert np.abs(error).max() < numbers.tolerance
        assert back[0] >= 0


@given(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 1e-3))
def test_every_turn_has_a_unit_quaternion(q):
    R = rotation.from_quaternion(q)
    np.testing.assert_allclose(matrix(R), same_turn(q), atol=1e-15)
    back = np.array(rotation.to_quaternion(R))
    assert abs(np.linalg.norm(back) - 1.0) < 4e-16
    assert back[0] >= 0.0
    np.testing.assert_allclose(same_turn(back), matrix(R), atol=2e-15)


# not for SymPy: conditions upon conditions, which it multiplies out for many seconds
NOT_SYMPY = pytest.mark.parametrize("numbers", ["float", "traced", "native", "mpmath"], indirect=True)


@NOT_SYMPY
@pytest.mark.parametrize("name", [n for n in QUATERNIONS if n != "no turn"])
def test_axis_and_angle_of_a_turn(numbers, name):
    q = unit(*QUATERNIONS[name])
    R = np.array(rotation.from_quaternion(q), dtype=object)
    if q[0] > 0:
        sine = mp.sqrt(sum(x * x for x in q[1:]))
        numbers.check(axis_and_angle, R.ravel(), [*(x / sine for x in q[1:]), 2 * mp.atan2(sine, q[0])])
    else:
        *axis, angle = (mp.mpf(x) for x in numbers.run(axis_and_angle, R.ravel()))
        assert abs(angle - mp.pi) < numbers.tolerance * 10
        assert abs(sum(x * x for x in axis) - 1) < numbers.tolerance * 10
        assert np.abs(turned(axis, angle) - R).max() < numbers.tolerance * 10


@NOT_SYMPY
def test_no_turn_is_about_z_by_nothing(numbers):
    numbers.check(axis_and_angle, [mp.mpf(x) for x in (1, 0, 0, 0, 1, 0, 0, 0, 1)], [0, 0, 1, 0])


# as mathematics


@pytest.mark.parametrize("turn", [rotation.about_x, rotation.about_y, rotation.about_z])
def test_two_turns_about_one_axis_add_up(turn):
    a, b = sympy.symbols("a b", real=True)
    two, one = turn(a).product(turn(b)).scalars(), turn(a + b).scalars()
    assert all(sympy.simplify(x - y).equals(0) for x, y in zip(two, one, strict=True))
    assert [is_zero(x) for x in two] == [is_zero(x) for x in one]
    assert sorted(x for x in two if not isinstance(x, sympy.Basic)) == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_a_symbolic_quaternion_gives_a_rotation():
    q = sympy.symbols("w x y z", real=True)
    R = sympy.Matrix(rotation.from_quaternion(q))
    assert sympy.simplify(sympy.nsimplify(R * R.T)) == sympy.eye(3)
    assert sympy.simplify(sympy.nsimplify(R.det())) == 1


# conversions of Frame, both ways

TWELVE = [a + b + c for a in "XYZ" for b in "XYZ" for c in "XYZ" if b not in (a, c)]


@pytest.mark.parametrize("sequence", [*TWELVE, *map(str.lower, TWELVE)])
def test_all_twelve_euler_sequences_go_both_ways(sequence):
    assert len(TWELVE) == 12
    turns = Rotation.random(30, rng=np.random.default_rng(5))
    for turn in turns:
        frame = lw.Frame(rotation=turn.as_matrix())
        np.testing.assert_allclose(frame.euler(sequence), turn.as_euler(sequence), atol=1e-12)
        again = lw.Frame.from_euler(sequence, frame.euler(sequence), position=(1, 2, 3))
        np.testing.assert_allclose(again.rotation, turn.as_matrix(), atol=1e-14)
        assert again.position.tolist() == [1, 2, 3]


@pytest.mark.parametrize("sequence", [*TWELVE, *map(str.lower, TWELVE)])
@pytest.mark.parametrize("off", [0.0, 1e-15, 1e-12, 1e-8])
def test_where_two_axes_coincide_the_angles_still_make_the_rotation(sequence, off):
    for second in (0.0, np.pi / 2, -np.pi / 2, np.pi):
        frame = lw.Frame.from_euler(sequence, (0.3, second + off, -0.7))
        again = lw.Frame.from_euler(sequence, frame.euler(sequence))
        np.testing.assert_allclose(again.rotation, frame.rotation, atol=2e-14)


def test_axis_and_angle_and_rotation_vectors_go_both_ways():
    for turn in Rotation.random(30, rng=np.random.default_rng(6)):
        vector = turn.as_rotvec()
        frame = lw.Frame.from_rotation_vector(vector, position=(1, 2, 3))
        np.testing.assert_allclose(frame.rotation, turn.as_matrix(), atol=1e-14)
        np.testing.assert_allclose(frame.rotation_vector, vector, atol=1e-12)
        axis, angle = frame.axis_angle
        np.testing.assert_allclose(axis * angle, vector, atol=1e-12)
        again = lw.Frame.from_axis_angle(5.0 * axis, angle, position=(1, 2, 3))
        np.testing.assert_allclose(again.rotation, turn.as_matrix(), atol=1e-14)
        assert again.position.tolist() == frame.position.tolist() == [1, 2, 3]
    for size in (0.0, 1e-300, 1e-9, 1e-5, 9e-5, 1.1e-4, 1e-3):
        vector = size * np.array([0.6, 0.0, -0.8])
        frame = lw.Frame.from_rotation_vector(vector)
        np.testing.assert_allclose(frame.rotation, Rotation.from_rotvec(vector).as_matrix(), atol=1e-16)
        np.testing.assert_allclose(frame.rotation_vector, vector, rtol=1e-12, atol=0)


def test_frames_of_arrays_are_converted_at_once():
    turns = Rotation.random(7, rng=np.random.default_rng(7))
    matrices = turns.as_matrix()
    frames = lw.Frame.of(Matrix.of(np.moveaxis(matrices, 0, -1)), np.zeros((3, 7)))
    np.testing.assert_allclose(frames.euler("ZYX"), turns.as_euler("ZYX"), atol=1e-13)
    np.testing.assert_allclose(frames.rotation_vector, turns.as_rotvec(), atol=1e-13)
    assert frames.axis_angle[0].shape == (7, 3)


@pytest.mark.parametrize("sequence", ["ZY", "ZZX", "XYy", "abc", "ZyX", ""])
def test_angles_of_no_euler_sequence_are_refused(sequence):
    with pytest.raises(ValueError, match="Euler sequence"):
        lw.Frame().euler(sequence)


def test_an_axis_without_direction_is_refused():
    with pytest.raises(ValueError, match="has no direction"):
        lw.Frame.from_axis_angle((0.0, 0.0, 0.0), 1.0)


@pytest.mark.parametrize(
    "angle", [0.0, 1e-300, 1e-160, 1e-17, 1e-9, 1e-4, 1.0, 3.0, np.pi - 1e-4, np.pi - 1e-9, np.pi]
)
def test_axis_and_angle_of_hardly_any_turn_and_of_half_a_turn(angle):
    rng = np.random.default_rng(7)
    for axis in (*np.eye(3), *-np.eye(3), *rng.normal(size=(30, 3))):
        axis = axis / np.linalg.norm(axis)
        R = Rotation.from_rotvec(axis * angle).as_matrix()
        for frame in (
            lw.Frame.from_axis_angle(3.0 * axis, angle),
            lw.Frame.from_rotation_vector(axis * angle),
        ):
            assert abs(frame.rotation - R).max() < 2e-15
            found, turn = frame.axis_angle
            assert abs(np.linalg.norm(found) - 1.0) < 1e-15
            assert 0.0 <= turn <= np.pi
            vector = frame.rotation_vector
            assert abs(vector - found * turn).max() <= 2e-15 * angle
            if angle < np.pi - 1e-6:
                assert abs(vector - axis * angle).max() <= 2e-15 * max(angle, 1e-290)
            assert abs(Rotation.from_rotvec(vector).as_matrix() - R).max() < 2e-15
