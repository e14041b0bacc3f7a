"""Numbers for an orientation: a matrix, a quaternion, an angle in the plane; and how they change in time."""

from typing import Protocol

import numpy as np

from linkwork.algebra import rotation as rotations
from linkwork.algebra.vector import Matrix as Rows
from linkwork.mechanism.placement import Array


class Orientation(Protocol):
    """A way to keep an orientation R in the state of a body."""

    size: int

    def pack(self, R: Array) -> Array:
        """Return the numbers of a rotation matrix."""
        ...

    def matrix(self, numbers: Array) -> Array:
        """Return the rotation matrix of the numbers."""
        ...

    def rates(self, numbers: Array, omega: Array) -> Array:
        """Return how the numbers change with an angular velocity, in axes of the world."""
        ...

    def tidied(self, numbers: Array) -> Array:
        """Return the nearest numbers that are a rotation, after a step has left them a little off."""
        ...


class MatrixOrientation:
    """The nine numbers of R, column after column: dR/dt = omega* R."""

    size = 9

    def pack(self, R: Array) -> Array:
        return R.T.ravel()

    def matrix(self, numbers: Array) -> Array:
        return numbers.reshape(3, 3).T

    def rates(self, numbers: Array, omega: Array) -> Array:
        return self.pack(star(omega) @ self.matrix(numbers))

    def tidied(self, numbers: Array) -> Array:
        return self.pack(orthonormalised(self.matrix(numbers)))


class QuaternionOrientation:
    """A unit quaternion q = (w, x, y, z): dq/dt = (0, omega) q / 2."""

    size = 4

    def pack(self, R: Array) -> Array:
        return np.array(rotations.to_quaternion(Rows.of(R.tolist())))

    def matrix(self, numbers: Array) -> Array:
        return np.array(rotations.from_quaternion(numbers.tolist()))

    def rates(self, numbers: Array, omega: Array) -> Array:
        return 0.5 * np.array(rotations.quaternion_product((0.0, *omega.tolist()), numbers.tolist()))

    def tidied(self, numbers: Array) -> Array:
        return numbers / np.linalg.norm(numbers)


class AngleOrientation:
    """The angle of a body in the plane: its rate is omega."""

    size = 1

    def pack(self, R: Array) -> Array:
        return np.array([np.arctan2(R[1, 0], R[0, 0])])

    def matrix(self, numbers: Array) -> Array:
        c, s = np.cos(numbers[0]), np.sin(numbers[0])
        return np.array([(c, -s), (s, c)])

    def rates(self, numbers: Array, omega: Array) -> Array:
        return np.atleast_1d(omega)

    def tidied(self, numbers: Array) -> Array:
        return numbers


ORIENTATIONS: dict[str, Orientation] = {
    "matrix": MatrixOrientation(),
    "quaternion": QuaternionOrientation(),
    "angle": AngleOrientation(),
}


def star(omega: Array) -> Array:
    """Return the matrix omega* that makes the cross product with omega: star(a) @ b is a x b."""
    x, y, z = omega
    return np.array([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)])


def orthonormalised(R: Array) -> Array:
    """Return a matrix whose rows are square and of unit length, near to those of R.

    The first row keeps its direction; the third is made normal to the first two, and the second to the
    others.
    """
    r1 = R[0] / np.linalg.norm(R[0])
    r3 = np.cross(r1, R[1])
    r3 /= np.linalg.norm(r3)
    return np.array([r1, np.cross(r3, r1), r3])
