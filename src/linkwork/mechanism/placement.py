"""Where things are put: the forms in which people write positions and rotations, made plain arrays."""

from math import isfinite
from types import ModuleType
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algebra import planar, spatial
from linkwork.algebra import rotation as rotations
from linkwork.angles import warn_of_degrees
from linkwork.real_numbers import finite_array, real_array
from linkwork.varied import of_variants

Array: TypeAlias = NDArray[np.float64]
Space: TypeAlias = Literal["space", "plane"]

# A quaternion or matrix typed with a few digits is made exact; one that is further off is a mistake.
CLOSE = 1e-3
EXACT = 1e-12
ORTHONORMAL = 1e-6  # how far the axes of a joint frame may be from square and unit length
FLAT = 1e-9  # a turn out of the plane below this is rounding

IDENTITY = np.eye(3)
IDENTITY.flags.writeable = False


class SupportsAsMatrix(Protocol):
    """What `scipy.spatial.transform.Rotation` offers; SciPy itself is not imported here."""

    def as_matrix(self) -> Any: ...


RotationLike: TypeAlias = ArrayLike | SupportsAsMatrix | None


def position_vector(position: ArrayLike | None, where: str, space: Space = "space") -> Array:
    """Return a position as 3 numbers in space or 2 in the plane, which is z = 0.

    Where 3 are expected 2 are accepted: in a mechanism in space `Body.mistakes` refuses them.
    """
    size = 3 if space == "space" else 2
    if position is None:
        return np.zeros(size)
    vector = numbers(position, f"{where}: position")
    if vector.shape not in ((2,), (3,)):
        raise ValueError(
            f"{where}: position {position!r} has shape {vector.shape}; give {size} numbers in metres"
        )
    if vector.size == 2 and size == 3:
        return np.array([vector[0], vector[1], 0.0])
    if vector.size == 3 and size == 2 and vector[2] != 0.0:
        raise ValueError(
            f"{where}: position {plain(vector)} is off the plane z = 0 of a planar mechanism; "
            'drop z, or use Mechanism(space="space")'
        )
    return vector[:size]


def rotation_matrix(rotation: RotationLike, where: str, space: Space = "space") -> Array:
    """Return a rotation as a matrix, 3x3 in space or 2x2 in the plane.

    Understood are a quaternion (w, x, y, z), a matrix, a SciPy Rotation, a Frame that only turns, such as
    lw.rotation_x(angle), None for none, and a number: an angle in the plane, that is about z.
    """
    matrix = _spatial(rotation, where)
    if space == "space":
        return matrix
    if np.abs(matrix[2] - (0.0, 0.0, 1.0)).max() > FLAT:
        raise ValueError(
            f"{where}: rotation {rotation!r} turns out of the plane of a planar mechanism; "
            'give an angle in radians, or use Mechanism(space="space")'
        )
    return matrix[:2, :2]


def _spatial(rotation: RotationLike, where: str) -> Array:
    if rotation is None:
        return IDENTITY
    if isinstance(rotation, spatial.Frame | planar.Frame):
        rotation = _turned(rotation, where)
    as_matrix = getattr(rotation, "as_matrix", None)
    said: Any = as_matrix() if as_matrix else rotation
    array = numbers(said, f"{where}: rotation")
    if array.shape == ():
        warn_of_degrees(f"{where}: rotation", rotation)
        return np.array(rotations.about_z(array.item()))
    if array.shape == (4,):
        return of_variants(lambda quaternion: _from_quaternion(quaternion, where), array)
    if array.shape == (2, 2):
        matrix = np.eye(3).astype(array.dtype)
        matrix[:2, :2] = array
        array = matrix
    if array.shape == (3, 3):
        return of_variants(lambda matrix: _orthonormal(matrix, where), array)
    raise ValueError(
        f"{where}: rotation of shape {array.shape}; give a quaternion (w, x, y, z), a 3x3 matrix, "
        "an angle in the plane, or scipy.spatial.transform.Rotation.from_euler(...)"
    )


def _turned(frame: Any, where: str) -> Array:
    """Return the rotation of a frame, which is not to move."""
    moved = numbers(frame.position, f"{where}: rotation")
    if moved.any():
        raise ValueError(
            f"{where}: rotation is a Frame that moves by {plain(moved)}, too; "
            "give its place as position=, and frame.rotation as rotation="
        )
    return numbers(frame.rotation, f"{where}: rotation")


def _from_quaternion(quaternion: Array, where: str) -> Array:
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > CLOSE:
        raise ValueError(
            f"{where}: rotation quaternion {plain(quaternion)} has length {length:.6g}; "
            "a rotation (w, x, y, z) has length 1"
        )
    return np.array(rotations.from_quaternion(quaternion.tolist()))


def _orthonormal(matrix: Array, where: str) -> Array:
    error = float(np.abs(matrix @ matrix.T - np.eye(3)).max())
    if error > CLOSE:
        raise ValueError(
            f"{where}: rotation matrix is not orthonormal (R R^T is off the identity by {error:.3g}); "
            "its columns are the turned unit axes"
        )
    if np.linalg.det(matrix) < 0.0:
        raise ValueError(f"{where}: rotation matrix has determinant -1, a mirror image; flip one axis")
    if error <= EXACT:
        return matrix
    u, _, vt = np.linalg.svd(matrix)
    return u @ vt


def place_mistake(place: Any, algebra: ModuleType) -> str:
    """Say what is wrong with a place of a joint, a point or Frame of this algebra; nothing if all is well."""
    size = algebra.dimension
    if isinstance(place, algebra.Frame):
        rows = [float(x) for x in place.scalars()]  # the rows of [R | p]
        if not all(map(isfinite, rows)):
            return f"{place!r} is not finite"
        if not _is_rotation([rows[k : k + size] for k in range(0, len(rows), size + 1)]):
            return f"{place!r} is not turned by a rotation; give square, right-handed unit axes"
        return ""
    try:
        point = real_array("place", place).tolist()
    except ValueError:
        point = []
    if not isinstance(point, list) or any(isinstance(x, list) for x in point):
        point = []
    if len(point) != 3 and len(point) != size:
        return f"{place!r} is not a place in this mechanism; give {size} numbers, or a Frame of its space"
    if not all(map(isfinite, point)):
        return f"{plain(point)} is not finite"
    if any(point[size:]):
        return f'{plain(point)} is off the plane z = 0; drop z, or use Mechanism(space="space")'
    return ""


def _is_rotation(rows: list[list[float]]) -> bool:
    for i, a in enumerate(rows):
        for j, b in enumerate(rows[: i + 1]):
            if abs(sum(x * y for x, y in zip(a, b, strict=True)) - (i == j)) > ORTHONORMAL:
                return False
    return float(np.linalg.det(rows)) > 0.0


def numbers(value: ArrayLike, where: str) -> Array:
    """Return an array of finite floats, freshly allocated."""
    return finite_array(where, value)


def unit(vector: Array) -> Array:
    """Return a vector of length one; squares neither overflow nor vanish."""
    scaled = vector / np.abs(vector).max()
    return scaled / np.linalg.norm(scaled)


def plain(values: ArrayLike) -> str:
    """Print numbers the way a user writes them: (1, 0.5, -2)."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        return f"{float(array):.6g}"
    return "(" + ", ".join(plain(row) for row in array) + ")"


def lifted(poses: Array) -> Array:
    """Return poses (..., 3, 4) of poses in space, or in the plane (..., 2, 3)."""
    if poses.shape[-2] == 3:
        return np.asarray(poses, float)
    made = np.zeros((*poses.shape[:-2], 3, 4))
    made[..., :2, :2], made[..., :2, 3], made[..., 2, 2] = poses[..., :2], poses[..., 2], 1.0
    return made
