"""How the joints of the catalogue move, written out by hand; and any other joint, from its `motion` alone.

The part of the oracle that knows joints. It reads the description only: the class of a joint, its pitch, and
of joints of users `motion(q)` and `rates(q, v)`, called with numbers of fifty digits.
"""

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

import linkwork as lw

Array = np.ndarray
X_AXIS, Y_AXIS, Z_AXIS = np.eye(3)
DIGITS = 50


@dataclass
class JointMotion:
    """How a joint's frame on the child stands and moves in that on the parent, along the latter's axes."""

    R: Array  # (3, 3) axes of the child's frame
    p: Array  # (3,) its origin
    W: Array  # (3, nv) its angular velocity per unit of each velocity
    V: Array  # (3, nv) velocity of its origin per unit of each velocity
    dW: Array  # (3,) rate of W v while v is constant
    dV: Array  # (3,) rate of V v while v is constant


def joint_motion(joint: lw.Joint, q: Array, v: Array) -> JointMotion:
    """Return the motion of a joint: the catalogue written out by hand, other joints by differences."""
    along = Z_AXIS if joint.algebra.dimension == 3 else X_AXIS  # which way a slider slides
    one, none, still = np.eye(3), np.zeros(3), np.zeros((3, 3))
    match type(joint).__name__:
        case "Fixed":
            return JointMotion(one, none, np.zeros((3, 0)), np.zeros((3, 0)), none, none)
        case "Revolute":
            return JointMotion(about_z(q[0]), none, columns(Z_AXIS), columns(none), none, none)
        case "Prismatic":
            return JointMotion(one, q[0] * along, columns(none), columns(along), none, none)
        case "Helical":
            lead = joint.pitch / (2 * np.pi) * Z_AXIS
            return JointMotion(about_z(q[0]), q[0] * lead, columns(Z_AXIS), columns(lead), none, none)
        case "Cylindrical":
            W, V = columns(Z_AXIS, none), columns(none, Z_AXIS)
            return JointMotion(about_z(q[0]), q[1] * Z_AXIS, W, V, none, none)
        case "Universal":
            second = about_x(q[0]) @ Y_AXIS  # carried along by the first turn
            W = columns(X_AXIS, second)
            return JointMotion(
                about_x(q[0]) @ about_y(q[1]),
                none,
                W,
                still[:, :2],
                cross(v[0] * X_AXIS) @ second * v[1],
                none,
            )
        case "Spherical":  # v along the child's axes: d/dt (R v) = R (v x v) = 0
            R = by_quaternion(q)
            return JointMotion(R, none, R, still, none, none)
        case "Planar":
            W, V = columns(none, none, Z_AXIS), columns(X_AXIS, Y_AXIS, none)
            return JointMotion(about_z(q[2]), q[0] * X_AXIS + q[1] * Y_AXIS, W, V, none, none)
        case "Free" if joint.algebra.dimension == 3:
            R = by_quaternion(q[3:])
            W, V = np.hstack([R, still]), np.hstack([still, R])
            return JointMotion(R, q[:3], W, V, none, R @ cross(v[:3]) @ v[3:])
        case "Free":
            R = about_z(q[2])
            W, V = columns(Z_AXIS, none, none), np.column_stack([none, R[:, 0], R[:, 1]])
            return JointMotion(
                R, q[0] * X_AXIS + q[1] * Y_AXIS, W, V, none, v[0] * cross(Z_AXIS) @ V[:, 1:] @ v[1:]
            )
    return joint_motion_by_differences(joint, q, v)


def joint_motion_by_differences(joint: lw.Joint, q: Array, v: Array) -> JointMotion:
    """Return the motion of any joint from `motion(q)` and `rates(q, v)`, differentiated with many digits."""
    with mpmath.workdps(DIGITS):
        h = mpmath.mpf(10) ** (-DIGITS // 4)

        def place(q: Any) -> tuple[Any, Any]:
            X = joint.motion(list(q))
            size = joint.algebra.dimension
            R, p = mpmath.eye(3), mpmath.zeros(3, 1)
            for i in range(size):
                row = X.scalars()[i * (size + 1) : (i + 1) * (size + 1)]
                p[i] = row[size]
                for j in range(size):
                    R[i, j] = row[j]
            return R, p

        def moved(q: Any, v: Any, step: Any) -> list[Any]:
            return [x + step * dx for x, dx in zip(q, joint.rates(q, v), strict=True)]

        def velocity(q: Any, v: Any) -> Any:
            """Angular velocity, from dR/dt R^T, and velocity of the origin."""
            (Ra, pa), (Rb, pb) = place(moved(q, v, -h)), place(moved(q, v, h))
            S, dp = (Rb - Ra) * place(q)[0].T / (2 * h), (pb - pa) / (2 * h)
            return mpmath.matrix([S[2, 1], S[0, 2], S[1, 0], *dp])

        q, v = [mpmath.mpf(float(x)) for x in q], [mpmath.mpf(float(x)) for x in v]
        R, p = place(q)
        units = [[mpmath.mpf(i == k) for i in range(joint.nv)] for k in range(joint.nv)]
        each = np.array([list(velocity(q, unit)) for unit in units], float).reshape(joint.nv, 6).T
        rate = (velocity(moved(q, v, h), v) - velocity(moved(q, v, -h), v)) / (2 * h)
    R, p, rate = (np.array(x.tolist(), float) for x in (R, p, rate))
    return JointMotion(R, p[:, 0], each[:3], each[3:], rate[:3, 0], rate[3:, 0])


def columns(*vectors: Array) -> Array:
    return np.column_stack(vectors)


def about_x(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def about_y(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def by_quaternion(q: Array) -> Array:
    """Return the turn of a quaternion (w, x, y, z): 1 + 2 w [u]x + 2 [u]x [u]x for a unit one."""
    w, *u = q / np.linalg.norm(q)
    return np.eye(3) + 2 * w * cross(u) + 2 * cross(u) @ cross(u)


def cross(a: Array) -> Array:
    """Return the matrix that takes b to a x b."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
