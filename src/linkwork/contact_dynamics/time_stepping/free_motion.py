"""q, v <- q, v, h: how free bodies move by their inertia alone.

A free body keeps its momentum m v and its angular momentum L about the centre of mass, both in the world.
With R its rotation and I its inertia, the centre moves on straight, and

    R' = R [w],    w = I^-1 R^T L

which is solved for the quaternion of R by steps of Runge and Kutta that turn it by at most 0.02 rad; L is
kept to the bit. Where I is that of a ball, w stands still, and the rotation is exact.
"""

from math import cos, sin, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import Nodes
from linkwork.mechanism.joints import Free
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry, native

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

_TURN = 0.02  # by a step [rad]: the energy is kept to 1e-13 then


class FreeBodies(NamedTuple):
    """Bodies that no joint holds: their inertia in the axes of the joint's frame on the body."""

    q: Any  # (n,) first position
    v: Any  # (n,) first velocity
    centre: Any  # (n, 3) of mass, in that frame [m]
    inertia: Any  # (n, 9) about the centre [kg m^2]
    inverse: Any  # (n, 9)


_FREE = Named(
    FreeBodies,
    dict(zip(FreeBodies._fields, (*["int64[::1]"] * 2, *["float64[:, ::1]"] * 3), strict=True)),
)


def free_bodies(model: "Model", nodes: Nodes) -> tuple[FreeBodies, FreeBodies]:
    """Return the links that hang on ground by a Free joint and carry nothing: in space, and in the plane."""
    tree = model.link_tree
    parents = set(tree.parents.tolist())
    parents |= {end for loop in tree.loops for end in loop.ends}
    starts = tree.starts[:, 1:].tolist()
    found: list[tuple[int, int, Array, Array]] = []
    at = dict(zip(nodes.first.tolist(), zip(nodes.at.tolist(), nodes.size.tolist())))
    for number, (block, parent, (q, v)) in enumerate(zip(tree.blocks, tree.parents.tolist(), starts), 1):
        alone = parent == 0 and number not in parents
        if alone and type(block.seats[0].branch.joint) is Free and not np.any(model.armature[v : v + 3]):
            begin, n = at[v]
            M = nodes.mass[begin : begin + n * n].reshape(n, n)
            found.append((q, v, *_inertia(M, model.space)))
    q, v = (np.array([one[k] for one in found], np.int64) for k in (0, 1))
    centre = np.array([one[2] for one in found]).reshape(-1, 3)
    inertia = np.array([one[3] for one in found]).reshape(-1, 3, 3)
    inverse = np.linalg.inv(inertia).reshape(-1, 9)
    bodies = FreeBodies(q, v, centre, np.ascontiguousarray(inertia.reshape(-1, 9)), inverse)
    empty = FreeBodies(q[:0], v[:0], centre[:0], inverse[:0], inverse[:0])
    return (empty, bodies) if model.space == "plane" else (bodies, empty)


def _inertia(M: Array, space: str) -> tuple[Array, Array]:
    """Return centre and inertia about it; M is [I + m [c][c]^T, m [c]; m [c]^T, m]."""
    if space == "plane":
        m = M[1, 1]
        c = np.array([M[2, 0], -M[1, 0], 0.0]) / m
        return c, np.diag([1.0, 1.0, M[0, 0] - m * (c @ c)])
    m, mc = M[3, 3], M[:3, 3:]  # m [c]
    c = np.array([mc[2, 1], mc[0, 2], mc[1, 0]]) / m
    cross = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    return c, M[:3, :3] - m * cross @ cross.T


@native
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@native
def _times(A, k, x):
    """Return the matrix in row k times a vector."""
    return (
        A[k, 0] * x[0] + A[k, 1] * x[1] + A[k, 2] * x[2],
        A[k, 3] * x[0] + A[k, 4] * x[1] + A[k, 5] * x[2],
        A[k, 6] * x[0] + A[k, 7] * x[1] + A[k, 8] * x[2],
    )


@native
def _turned(e, x):
    """Return a vector turned by a unit quaternion."""
    u = (e[1], e[2], e[3])
    a = _cross(u, x)
    b = (a[0] + e[0] * x[0], a[1] + e[0] * x[1], a[2] + e[0] * x[2])
    c = _cross(u, b)
    return x[0] + 2.0 * c[0], x[1] + 2.0 * c[1], x[2] + 2.0 * c[2]


@native
def _turned_back(e, x):
    return _turned((e[0], -e[1], -e[2], -e[3]), x)


@native
def _unit(e):
    s = 1.0 / sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
    return s * e[0], s * e[1], s * e[2], s * e[3]


@native
def _composed(e, f):
    """Return the product of two quaternions."""
    return (
        e[0] * f[0] - e[1] * f[1] - e[2] * f[2] - e[3] * f[3],
        e[0] * f[1] + e[1] * f[0] + e[2] * f[3] - e[3] * f[2],
        e[0] * f[2] - e[1] * f[3] + e[2] * f[0] + e[3] * f[1],
        e[0] * f[3] + e[1] * f[2] - e[2] * f[1] + e[3] * f[0],
    )


@native
def _rate(e, L, bodies, k):
    """Return the rate of the quaternion at an angular momentum L of the world."""
    w = _times(bodies.inverse, k, _turned_back(_unit(e), L))
    d = _composed(e, (0.0, w[0], w[1], w[2]))
    return 0.5 * d[0], 0.5 * d[1], 0.5 * d[2], 0.5 * d[3]


@native
def _added(e, h, d):
    return e[0] + h * d[0], e[1] + h * d[1], e[2] + h * d[2], e[3] + h * d[3]


@native
def _is_ball(bodies, k):
    I = bodies.inertia
    off = abs(I[k, 1]) + abs(I[k, 2]) + abs(I[k, 5]) + abs(I[k, 0] - I[k, 4]) + abs(I[k, 0] - I[k, 8])
    return off <= 1e-13 * I[k, 0]


@native
def _spun(e, w, L, bodies, k, h):
    """Return the quaternion after a time h."""
    speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    if speed == 0.0:
        return e
    if _is_ball(bodies, k):
        s = sin(0.5 * h * speed) / speed
        return _unit(_composed(e, (cos(0.5 * h * speed), s * w[0], s * w[1], s * w[2])))
    steps = 1 + int(abs(h) * speed / _TURN)
    g = h / steps
    for _ in range(steps):
        a = _rate(e, L, bodies, k)
        b = _rate(_added(e, 0.5 * g, a), L, bodies, k)
        c = _rate(_added(e, 0.5 * g, b), L, bodies, k)
        d = _rate(_added(e, g, c), L, bodies, k)
        e = _added(_added(_added(_added(e, g / 6.0, a), g / 3.0, b), g / 3.0, c), g / 6.0, d)
        e = _unit(e)
    return e


@entry(None, _FREE, *["float64[::1]"] * 2, "float64")
def move_free(bodies, q, v, h):
    """Move free bodies in space by a time h."""
    for k in range(len(bodies.q)):
        i, j = bodies.q[k], bodies.v[k]
        e = (q[i + 3], q[i + 4], q[i + 5], q[i + 6])
        w = (v[j], v[j + 1], v[j + 2])
        c = (bodies.centre[k, 0], bodies.centre[k, 1], bodies.centre[k, 2])
        arm = _cross(w, c)
        go = _turned(e, (v[j + 3] + arm[0], v[j + 4] + arm[1], v[j + 5] + arm[2]))
        L = _turned(e, _times(bodies.inertia, k, w))
        at = _turned(e, c)
        new = _spun(e, w, L, bodies, k, h)
        w = _times(bodies.inverse, k, _turned_back(new, L))
        back, arm = _turned(new, c), _cross(w, c)
        slow = _turned_back(new, go)
        for r in range(3):
            q[i + r] += at[r] + h * go[r] - back[r]
            v[j + r], v[j + 3 + r] = w[r], slow[r] - arm[r]
        for r in range(4):
            q[i + 3 + r] = new[r]


@entry(None, _FREE, *["float64[::1]"] * 2)
def free_rates(bodies, v, rates):
    """Write the accelerations of free bodies in space: I w' = (I w) x w, and the centre goes on straight."""
    for k in range(len(bodies.v)):
        j = bodies.v[k]
        w, u = (v[j], v[j + 1], v[j + 2]), (v[j + 3], v[j + 4], v[j + 5])
        c = (bodies.centre[k, 0], bodies.centre[k, 1], bodies.centre[k, 2])
        a = _times(bodies.inverse, k, _cross(_times(bodies.inertia, k, w), w))
        arm = _cross(w, c)
        go = (u[0] + arm[0], u[1] + arm[1], u[2] + arm[2])
        turn, lag = _cross(go, w), _cross(a, c)
        for r in range(3):
            rates[j + r], rates[j + 3 + r] = a[r], turn[r] - lag[r]


@entry(None, _FREE, *["float64[::1]"] * 2, "float64")
def move_planar(bodies, q, v, h):
    """Move free bodies in the plane by a time h."""
    for k in range(len(bodies.q)):
        i, j = bodies.q[k], bodies.v[k]
        w, x, y = v[j], bodies.centre[k, 0], bodies.centre[k, 1]
        c, s = cos(q[i + 2]), sin(q[i + 2])
        u0, u1 = v[j + 1] - w * y, v[j + 2] + w * x  # of the centre, in the body's axes
        go0, go1 = c * u0 - s * u1, s * u0 + c * u1
        at0, at1 = c * x - s * y, s * x + c * y
        q[i + 2] += h * w
        c, s = cos(q[i + 2]), sin(q[i + 2])
        q[i] += at0 + h * go0 - (c * x - s * y)
        q[i + 1] += at1 + h * go1 - (s * x + c * y)
        v[j + 1], v[j + 2] = c * go0 + s * go1 + w * y, -s * go0 + c * go1 - w * x


@native
def _is_shifted(shift, j, n):
    found = False
    for i in range(n):
        found = found or shift[j + i] != 0.0
    return found


# What is shifted keeps its spin in its own axes and the velocity of its centre in the world's. So neither its
# kinetic energy changes nor what gravity does in the rest of the step.
@entry(None, _FREE, *["float64[::1]"] * 3, "int64")
def hold_centres(bodies, q, v, shift, back):
    """Write velocities of centres in the world, in place of those of origins in the body's axes; or back."""
    for k in range(len(bodies.q)):
        i, j = bodies.q[k], bodies.v[k]
        if not _is_shifted(shift, j, 6):
            continue
        e, u = (q[i + 3], q[i + 4], q[i + 5], q[i + 6]), (v[j + 3], v[j + 4], v[j + 5])
        c = (bodies.centre[k, 0], bodies.centre[k, 1], bodies.centre[k, 2])
        arm = _cross((v[j], v[j + 1], v[j + 2]), c)
        if back == 0:
            new = _turned(e, (u[0] + arm[0], u[1] + arm[1], u[2] + arm[2]))
        else:
            slow = _turned_back(e, u)
            new = slow[0] - arm[0], slow[1] - arm[1], slow[2] - arm[2]
        for r in range(3):
            v[j + 3 + r] = new[r]


@entry(None, _FREE, *["float64[::1]"] * 3, "int64")
def hold_planar_centres(bodies, q, v, shift, back):
    """Do that in the plane."""
    for k in range(len(bodies.q)):
        j, x, y = bodies.v[k], bodies.centre[k, 0], bodies.centre[k, 1]
        if not _is_shifted(shift, j, 3):
            continue
        c, s, w = cos(q[bodies.q[k] + 2]), sin(q[bodies.q[k] + 2]), v[j]
        if back == 0:
            a, b = v[j + 1] - w * y, v[j + 2] + w * x
            v[j + 1], v[j + 2] = c * a - s * b, s * a + c * b
        else:
            a, b = v[j + 1], v[j + 2]
            v[j + 1], v[j + 2] = c * a + s * b + w * y, -s * a + c * b - w * x


@entry(None, _FREE, *["float64[::1]"] * 2)
def planar_rates(bodies, v, rates):
    """Write the accelerations of free bodies in the plane."""
    for k in range(len(bodies.v)):
        j = bodies.v[k]
        w, x, y = v[j], bodies.centre[k, 0], bodies.centre[k, 1]
        u0, u1 = v[j + 1] - w * y, v[j + 2] + w * x
        rates[j], rates[j + 1], rates[j + 2] = 0.0, w * u1, -w * u0
