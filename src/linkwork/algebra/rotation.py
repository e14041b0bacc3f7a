"""Rotations in space over any number: matrix, axis and angle, Euler sequences, quaternion (w, x, y, z).

A rotation matrix R takes components in the turned frame to components in the base frame.
"""

from collections.abc import Iterable, Sequence
from math import inf

import numpy as np

from linkwork.algebra.number import Number, atan2, cos, sin, sqrt, where
from linkwork.algebra.vector import Matrix, Vector, components, dot, minus, norm, plus, product
from linkwork.real_numbers import shown


def about_x(angle: Number) -> Matrix:
    c, s = cos(angle), sin(angle)
    return Matrix.of(((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))


def about_y(angle: Number) -> Matrix:
    c, s = cos(angle), sin(angle)
    return Matrix.of(((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)))


def about_z(angle: Number) -> Matrix:
    c, s = cos(angle), sin(angle)
    return Matrix.of(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))


def about_axis(axis: Sequence[Number], angle: Number) -> Matrix:
    """Turn about a unit axis (Rodrigues): c 1 + s [a]x + (1 - c) a a^T."""
    x, y, z = axis
    c, s = cos(angle), sin(angle)
    k = 1.0 - c
    kx, ky, kz = product(k, x), product(k, y), product(k, z)
    return Matrix.of(
        (
            (
                plus(c, product(kx, x)),
                minus(product(kx, y), product(s, z)),
                plus(product(kx, z), product(s, y)),
            ),
            (
                plus(product(ky, x), product(s, z)),
                plus(c, product(ky, y)),
                minus(product(ky, z), product(s, x)),
            ),
            (
                minus(product(kz, x), product(s, y)),
                plus(product(kz, y), product(s, x)),
                plus(c, product(kz, z)),
            ),
        )
    )


_ROUNDING = 1e-12  # an axis of this length is one, to the last bit


def about_given_axis(axis: Sequence[Number] | np.ndarray, angle: Number, name: str) -> Matrix:
    """Turn about an axis that somebody gave, of any length but zero."""
    x, y, z = components(f"{name}: axis", axis, 3)
    (angle,) = components(f"{name}: angle", (angle,), 1, " [rad]")
    length = norm((x, y, z))
    if isinstance(length, float) and not 0.0 < length < inf:
        raise ValueError(f"{name}: axis {shown(axis)} has no direction; give one that is not zero")
    if not (isinstance(length, float) and abs(length - 1.0) <= _ROUNDING):
        x, y, z = x / length, y / length, z / length
    return about_axis((x, y, z), angle)


_CLOSE = 1e-3  # a matrix typed with a few digits is made exact; one that is further off is a mistake
_EXACT = 1e-12


def checked(rows: Iterable[Iterable[Number]], name: str = "rotation") -> Matrix:
    """Return a rotation matrix; ValueError if its numbers are plain ones and are no rotation."""
    R = Matrix.of(rows)
    if len(R) != 3 or any(len(row) != 3 for row in R):
        raise ValueError(f"{name} {shown(rows)}; give a quaternion (w, x, y, z) or a 3x3 matrix")
    if not all(isinstance(x, int | float | np.number) for row in R for x in row):
        return R  # traced, or many at once
    error = max(abs(dot(a, b) - (i == j)) for i, a in enumerate(R) for j, b in enumerate(R[: i + 1]))
    if not error <= _CLOSE:
        raise ValueError(
            f"{name} {shown(rows)} is not orthonormal (R R^T is off the identity by {error:.3g}); "
            "its columns are the turned unit axes"
        )
    if dot(R[0], R[1].cross(R[2])) < 0.0:
        raise ValueError(f"{name} {shown(rows)} has determinant -1, a mirror image; flip one axis")
    if error <= _EXACT:
        return R
    u, _, vt = np.linalg.svd(np.array(R, float))
    return Matrix.of((u @ vt).tolist())


def from_euler(sequence: str, angles: Sequence[Number] | np.ndarray) -> Matrix:
    """Turn by an Euler sequence: about moving axes in upper case ("ZYX"), fixed ones in lower ("xyz")."""
    turns = {"x": about_x, "y": about_y, "z": about_z}
    if not isinstance(sequence, str) or not hasattr(angles, "__len__"):
        raise ValueError(f"Euler sequence {sequence!r}, angles {angles!r}; give letters and a list of angles")
    if len(sequence) != len(angles) or set(sequence.lower()) - set(turns):
        raise ValueError(
            f"Euler sequence {sequence!r} with {len(angles)} angles; letters x, y, z, one per angle"
        )
    if sequence != sequence.lower() and sequence != sequence.upper():
        raise ValueError(f"Euler sequence {sequence!r} mixes moving (upper case) and fixed (lower case) axes")
    R = Matrix.identity(3)
    angles = components(f"angles of the Euler sequence {sequence!r}", angles, len(sequence), " [rad]")
    for letter, angle in zip(sequence.lower(), angles, strict=True):
        turn = turns[letter](angle)
        R = R.product(turn) if sequence.isupper() else turn.product(R)
    return R


def to_euler(sequence: str, R: Matrix) -> tuple[Number, Number, Number]:
    """Return the angles of a rotation in an Euler sequence of three axes: the inverse of `from_euler`.

    The second is from -pi/2 to pi/2 where the axes differ ("ZYX"), from 0 to pi where the first is the third
    ("ZXZ"). Where it is at an end of these, only the sum or difference of the others counts: the one that
    turns first in the body is 0 then.

    With axes i, j, k and e = 1 if these are in cyclic order, else -1, row i of R = R_i(a) R_j(b) R_k(c) is
    (cos b cos c, -e cos b sin c, e sin b) in columns i, j, k; with the third axis i again it is (cos b, sin b
    sin c, e sin b cos c), k being the axis that is left. So b and c follow from row i. Then column j of
    R R_k(-c) = R_i(a) R_j(b) is cos a in row j and e sin a in row k, for any b.
    """
    letters = sequence.upper() if isinstance(sequence, str) else ""
    if len(letters) != 3 or set(letters) - set("XYZ") or letters[1] in (letters[0], letters[2]):
        raise ValueError(
            f"Euler sequence {sequence!r}; give three of x, y, z, no two alike in a row, as 'ZYX'"
        )
    if sequence not in (letters, letters.lower()):
        raise ValueError(f"Euler sequence {sequence!r} mixes moving (upper case) and fixed (lower case) axes")
    fixed = sequence != letters
    i, j, last = ("XYZ".index(letter) for letter in (letters[::-1] if fixed else letters))
    k = 3 - i - j
    e = 1.0 if (j - i) % 3 == 1 else -1.0
    row = R[i]
    if last == i:
        sine, cosine = row[j], e * row[k]
        size = sqrt(sine * sine + cosine * cosine)
        b = atan2(size, row[i])
    else:
        sine, cosine = -e * row[j], row[i]
        size = sqrt(sine * sine + cosine * cosine)
        b = atan2(e * row[k], size)
    locked = size < _LOCKED
    c = where(locked, 0.0, atan2(sine, where(locked, 1.0, cosine)))
    other, way = (k, -e) if last == i else (i, e)  # R_k(-c) takes e_j to cos c e_j + way sin c e_other
    column = [cos(c) * R[n][j] + way * sin(c) * R[n][other] for n in range(3)]
    a = atan2(e * column[k], column[j])
    return (c, b, a) if fixed else (a, b, c)


_LOCKED = 1e-14  # of the sine or cosine of the second Euler angle: what is less is round-off


def from_quaternion(q: Sequence[Number]) -> Matrix:
    """Turn by a quaternion (w, x, y, z) of any length but zero."""
    w, x, y, z = q
    k = 2.0 / (w * w + x * x + y * y + z * z)
    kx, ky, kz = k * x, k * y, k * z
    xx, yy, zz = kx * x, ky * y, kz * z
    xy, xz, yz = kx * y, kx * z, ky * z
    wx, wy, wz = kx * w, ky * w, kz * w
    return Matrix.of(
        (
            (1.0 - (yy + zz), xy - wz, xz + wy),
            (xy + wz, 1.0 - (xx + zz), yz - wx),
            (xz - wy, yz + wx, 1.0 - (xx + yy)),
        )
    )


def from_given_quaternion(q: Sequence[Number], name: str) -> Matrix:
    """Turn by a quaternion that somebody gave, under a name."""
    numbers: Sequence[Number] = components(name, q, 4)
    try:
        if all(isinstance(x, int | float | np.number) for x in numbers):
            largest = max(abs(float(x)) for x in numbers)  # squares neither overflow nor vanish
            numbers = [float(x) / largest if not 1e-9 < largest < 1e9 else float(x) for x in numbers]
        return from_quaternion(numbers)
    except ZeroDivisionError:
        raise ValueError(f"{name} {shown(q)} has no direction; a rotation has length 1") from None


def to_quaternion(R: Matrix) -> Vector:
    """Return the unit quaternion of R with w >= 0, dividing by the largest component (Shepperd 1978)."""
    (a, b, c), (d, e, f), (g, h, i) = R
    rows = (
        (1 + a + e + i, h - f, c - g, d - b),
        (h - f, 1 + a - e - i, b + d, c + g),
        (c - g, b + d, 1 - a + e - i, f + h),
        (d - b, c + g, f + h, 1 - a - e + i),
    )  # row k is 4 q_k q, a multiple of the quaternion (1, not 1.0, on which SymPy's comparisons recurse)
    best, size = rows[0], rows[0][0]
    for k in (1, 2, 3):
        larger = rows[k][k] > size
        if larger.__class__ is bool:  # the same, ten times faster
            best, size = (rows[k], rows[k][k]) if larger else (best, size)
            continue
        best = tuple(where(larger, x, y) for x, y in zip(rows[k], best, strict=True))
        size = where(larger, rows[k][k], size)
    scale = where(best[0] < 0, -1.0, 1.0) / sqrt(dot(best, best))
    return Vector(x * scale for x in best)


def quaternion_product(p: Sequence[Number], q: Sequence[Number]) -> Vector:
    """Return p q: the turn q, followed in the base frame by the turn p."""
    w, *u = p
    s, *v = q
    u, v = Vector(u), Vector(v)
    return Vector((minus(product(w, s), u.dot(v)), *(v * w + u * s + u.cross(v))))


def quaternion_rates(q: Sequence[Number], angular: Sequence[Number]) -> Vector:
    """Return dq/dt for an angular velocity in the turned frame: q (0, w) / 2."""
    return quaternion_product(q, (0.0, *angular)) * 0.5


def to_axis_angle(R: Matrix) -> tuple[Vector, Number]:
    """Return a unit axis and the angle in [0, pi] about it (the z axis where there is no turn)."""
    w, *u = to_quaternion(R)
    scale = where(dot(u, u) < 1e-200, 1e250, 1.0)  # squares of what is tiny do not vanish
    u = Vector(u) * scale
    length = sqrt(dot(u, u))
    none = length < 1e-100
    divisor = where(none, 1.0, length)
    axis = Vector(where(none, rest, x / divisor) for x, rest in zip(u, (0.0, 0.0, 1.0), strict=True))
    return axis, 2.0 * atan2(length / scale, w)


def to_rotation_vector(q: Sequence[Number]) -> Vector:
    """Return axis times angle, at most half a turn, of a quaternion of any length but zero."""
    w, *u = q
    square = dot(u, u)
    small = square < 1e-16 * (w * w)  # then the angle is its own tangent, to rounding
    sine = sqrt(where(small, 1.0, square))
    front = where(w < 0, -1.0, 1.0)
    factor = where(small, 2.0 / where(small, w, 1.0), 2.0 * atan2(sine, front * w) * front / sine)
    return Vector(x * factor for x in u)


def from_rotation_vector(vector: Sequence[Number]) -> Vector:
    """Return the unit quaternion of a turn by |vector| about the direction of a vector; any length."""
    square = dot(vector, vector)
    small = square < 1e-8  # then series are exact to rounding: sin(x/2)/x and cos(x/2)
    angle = sqrt(where(small, 1.0, square))
    factor = where(small, 0.5 - square / 48.0, sin(0.5 * angle) / angle)
    return Vector((where(small, 1.0 - square / 8.0, cos(0.5 * angle)), *(x * factor for x in vector)))
