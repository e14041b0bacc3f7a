"""Positions and rotations in the forms people write them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.mechanism.placement import plain, position_vector, rotation_matrix

TURN = Rotation.from_euler("xyz", [0.3, -0.7, 1.1])


def test_every_form_of_a_rotation_gives_the_same_matrix():
    matrix = TURN.as_matrix()
    quaternion = TURN.as_quat(scalar_first=True)
    for form in (TURN, matrix, matrix.tolist(), quaternion, tuple(quaternion), -quaternion):
        np.testing.assert_allclose(rotation_matrix(form, "body 'arm'"), matrix, atol=1e-15)
    np.testing.assert_array_equal(rotation_matrix(None, "body 'arm'"), np.eye(3))


def test_an_angle_turns_about_z():
    expected = Rotation.from_euler("z", 0.4).as_matrix()
    np.testing.assert_allclose(rotation_matrix(0.4, ""), expected, atol=1e-15)
    np.testing.assert_allclose(rotation_matrix(0.4, "", "plane"), expected[:2, :2], atol=1e-15)
    np.testing.assert_allclose(rotation_matrix(expected[:2, :2], "", "plane"), expected[:2, :2], atol=1e-15)


def test_a_rotation_typed_with_few_digits_is_made_exact():
    for rough in (np.round(TURN.as_matrix(), 4), np.round(TURN.as_quat(scalar_first=True), 4)):
        matrix = rotation_matrix(rough, "")
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-15)
        np.testing.assert_allclose(matrix, TURN.as_matrix(), atol=2e-4)


@pytest.mark.parametrize(
    ("rotation", "words"),
    [
        ((0, 0, 0, 0), "has length 0"),
        ((2, 0, 0, 0), "has length 2"),
        ((np.nan, 0, 0, 1), "not finite"),
        (np.diag([1.0, 1.0, 1.1]), "not orthonormal"),
        (np.diag([1.0, 1.0, -1.0]), "mirror image"),
        ((0.1, 0.2, 0.3), "from_euler"),
        ("x", "not made of numbers"),
        (np.inf, "not finite"),
    ],
)
def test_what_is_no_rotation_is_refused_by_name(rotation, words):
    with pytest.raises(ValueError, match=f"body 'arm': rotation.*{words}"):
        rotation_matrix(rotation, "body 'arm'")


def test_a_turn_out_of_the_plane_is_refused_there():
    with pytest.raises(ValueError, match=r"out of the plane.*give an angle"):
        rotation_matrix((0, 1, 0, 0), "body 'arm'", "plane")


def test_positions_have_the_length_of_their_space():
    np.testing.assert_array_equal(position_vector(None, ""), (0, 0, 0))
    np.testing.assert_array_equal(position_vector((1, 2), ""), (1, 2, 0))
    np.testing.assert_array_equal(position_vector((1, 2, 0), "", "plane"), (1, 2))
    with pytest.raises(ValueError, match="body 'arm': position \\(1, 2, 3\\) is off the plane"):
        position_vector((1, 2, 3), "body 'arm'", "plane")
    with pytest.raises(ValueError, match="shape \\(4,\\)"):
        position_vector((1, 2, 3, 4), "body 'arm'")
    with pytest.raises(ValueError, match="not finite"):
        position_vector((1, np.nan, 3), "body 'arm'")


def test_the_caller_keeps_his_array():
    mine = np.array([1.0, 2.0, 3.0])
    position_vector(mine, "")[0] = 9.0
    assert mine[0] == 1.0


def test_numbers_are_printed_as_a_user_writes_them():
    assert plain((1.0, 0.5, -2.0)) == "(1, 0.5, -2)"
    assert plain(np.eye(2)) == "((1, 0), (0, 1))"


def test_a_frame_that_only_turns_is_a_rotation():
    turned = lw.rotation_x(0.3)
    box = lw.Box(1, 1, 1, rotation=turned)
    np.testing.assert_array_equal(box.rotation, turned.rotation)
    body = lw.Body("body", box, density=1.0, rotation=turned)
    np.testing.assert_array_equal(body.rotation, turned.rotation)
    with pytest.raises(ValueError, match=r"moves by \(1, 0, 0\), too; give its place as position="):
        lw.Body("body", box, density=1.0, rotation=lw.translation(1, 0, 0) @ turned)
