"""Quaternions of many rotations at once."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwork.view.quaternion import matrices, quaternions


@pytest.mark.parametrize("seed", range(3))
def test_quaternions_are_those_of_scipy(seed):
    turns = Rotation.random(500, np.random.default_rng(seed))
    expected = turns.as_quat(scalar_first=True)
    found = quaternions(turns.as_matrix())
    same = np.sign((found * expected).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found, same * expected, atol=2e-15)
    np.testing.assert_allclose(matrices(found), turns.as_matrix(), atol=4e-15)


def test_half_turns_and_none():
    special = np.array([np.diag(d) for d in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))], float)
    np.testing.assert_array_equal(np.abs(quaternions(special)), np.eye(4))
    assert quaternions(np.zeros((0, 3, 3))).shape == (0, 4)
    assert quaternions(np.broadcast_to(np.eye(3), (2, 5, 3, 3))).shape == (2, 5, 4)
