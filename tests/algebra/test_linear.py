"""The matrices of what the algebra does: cross operator, transforms, inertias; in space and in the plane."""

import numpy as np
import pytest

import linkwork as lw

RNG = np.random.default_rng(4)
SPATIAL = lw.Frame.from_euler("ZXZ", (0.3, 0.8, -1.1), position=(1.0, -2.0, 0.5))
PLANAR = lw.planar.Frame((1.0, -2.0), 0.7)


def algebra_of(frame):
    return lw.spatial if isinstance(frame, lw.Frame) else lw.planar


def test_the_cross_operator_makes_the_cross_product():
    a, b = RNG.normal(size=(2, 3))
    np.testing.assert_allclose(lw.cross_matrix(a) @ b, np.cross(a, b), rtol=1e-14)
    assert np.array_equal(lw.cross_matrix(a).T, -lw.cross_matrix(a))
    with pytest.raises(ValueError, match="give three numbers, or a Motion"):
        lw.cross_matrix((1, 2))


@pytest.mark.parametrize("algebra", [lw.spatial, lw.planar])
def test_the_spatial_cross_operator_is_that_of_motions(algebra):
    n = algebra.freedoms
    a, b = (algebra.Motion.from_scalars(RNG.normal(size=n).tolist()) for _ in range(2))
    f = algebra.Force.from_scalars(RNG.normal(size=n).tolist())
    np.testing.assert_allclose(lw.cross_matrix(a) @ np.array(b), np.array(a.cross(b)), rtol=1e-13, atol=1e-14)
    carried = np.array(a.cross_force(f))
    np.testing.assert_allclose(-lw.cross_matrix(a).T @ np.array(f), carried, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("X", [SPATIAL, PLANAR])
def test_transforms_are_matrices(X):
    algebra = algebra_of(X)
    numbers = RNG.normal(size=algebra.freedoms).tolist()
    m, f = algebra.Motion.from_scalars(numbers), algebra.Force.from_scalars(numbers)
    np.testing.assert_allclose(X.motion_matrix @ np.array(m), np.array(X @ m), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(X.force_matrix @ np.array(f), np.array(X @ f), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(X.force_matrix.T @ X.motion_matrix, np.eye(algebra.freedoms), atol=1e-14)
    np.testing.assert_allclose(
        X.inverse.motion_matrix @ X.motion_matrix, np.eye(algebra.freedoms), atol=1e-14
    )


def test_frames_of_arrays_have_matrices_of_arrays():
    model = lw.examples.cart_pole().compile()
    poses = model.poses(RNG.normal(size=(5, 2)))["pole"]
    assert poses.motion_matrix.shape == (5, 6, 6)
    one = model.poses(np.zeros(2))["pole"]
    assert one.motion_matrix.shape == (6, 6)


@pytest.mark.parametrize(
    ("inertia", "X"),
    [
        (lw.Inertia(2.0, (0.1, 0.2, -0.3), np.diag([1.0, 1.5, 2.0])), SPATIAL),
        (lw.Inertia(2.0, (0.1, 0.2), 0.5), PLANAR),
    ],
)
def test_inertias_are_matrices_and_move_as_these(inertia, X):
    n = algebra_of(X).angular
    matrix = inertia.matrix
    assert np.array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix[n:, n:], 2.0 * np.eye(len(matrix) - n), rtol=1e-15)
    moved = inertia.moved(X.position, X.rotation).matrix
    np.testing.assert_allclose(X.force_matrix @ matrix @ X.force_matrix.T, moved, rtol=1e-13, atol=1e-13)


def test_energy_and_momentum_follow_from_the_matrix():
    model = lw.examples.flipping_box().compile()
    v = RNG.normal(size=6)
    matrix = model.mechanism.bodies["box"].inertia.matrix
    assert 0.5 * v @ matrix @ v == pytest.approx(model.kinetic_energy(model.q_drawn, v))
