"""depth, normal, points <- balls and capsules, in closed form: their cores are points and segments."""

from math import sqrt

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.shape_kinds import CAPSULE, TURNED, switch
from linkwork.contact.triangles import closest_of_segments
from linkwork.geometry.vectors import (
    ZERO,
    add,
    along,
    cross,
    dot,
    neg,
    norm,
    normal_to,
    row,
    scale,
    sub,
    turned,
    turned_back,
)


@native_apart
def round_round(A, B, R, p):
    """Return depth, normal from a to b and a point on each of two balls or capsules, in axes of A."""
    u = (0.0, 0.0, A.y if A.kind == CAPSULE else 0.0)
    v = turned(R, (0.0, 0.0, B.y if B.kind == CAPSULE else 0.0))
    x, y = closest_of_segments(neg(u), u, sub(p, v), add(p, v))
    gap = sub(y, x)
    distance = norm(gap)
    if distance > 1e-14 * (A.radius + B.radius):
        normal = scale(1.0 / distance, gap)
    else:  # the cores meet: out at right angles to both
        normal = cross(u, v)
        size = norm(normal)
        if size > 1e-12 * (dot(u, u) + dot(v, v)):
            normal = scale(1.0 / size, normal)
        else:
            normal = normal_to(u if dot(u, u) >= dot(v, v) else v)
        distance = 0.0
    return A.radius + B.radius - distance, normal, along(x, A.radius, normal), along(y, -B.radius, normal)


@native
def _half(A):
    """Return the end of the core of a ball or capsule; its other one is opposite."""
    return 0.0, 0.0, A.y if A.kind == CAPSULE else 0.0


@native
def core_in(A, R):
    """Return half the core of a ball or capsule, in axes that R turns into its own."""
    return turned_back(R, _half(A))


@native
def is_nearer(centre, half, v, distance):
    """Return whether a point is nearer than that to the core from centre - half to centre + half."""
    gap, square = sub(v, centre), dot(half, half)
    t = min(max(dot(gap, half) / square, -1.0), 1.0) if square > 0.0 else 0.0
    gap = along(gap, -t, half)
    return dot(gap, gap) <= distance * distance


@native
def part_below(A, n, offset, low, high):
    """Return which part of the core, from low to high, is below a plane n.x = offset: none if low > high.

    A place on the core is t times its end, t from -1 to 1.
    """
    slope = n[2] * _half(A)[2]
    if slope > 0.0:
        high = min(high, offset / slope)
    elif slope < 0.0:
        low = max(low, offset / slope)
    elif offset < 0.0:
        high = low - 1.0
    return low, high


@native
def _outside(A, gap, x, b):
    """Return that a core is outside of a solid, its gap from where that is nearest, and what follows."""
    distance = norm(gap)
    normal = scale(-1.0 / distance, gap)
    return True, A.radius - distance, normal, along(x, A.radius, normal), b


@native_apart
def round_edge(A, q0, q1, n, m):
    """Return whether the core of a ball or capsule is outside of a wedge, whose faces have no end and the
    normals n and m; and if so, depth, normal from a to b and a point on each, where it is nearest to the edge
    from q0 to q1 and on. The depth is -inf if it is nearest to a face.

    Across the edge, e, the core is a segment in the plane, and the edge a point: the segment is nearest at t.
    The edge is nearest where the gap lies between n and m.
    """
    u, e = _half(A), scale(1.0 / norm(sub(q1, q0)), sub(q1, q0))
    flat = along(u, -dot(u, e), e)
    square = dot(flat, flat)
    if square > 1e-20 * dot(u, u):
        t = min(max(dot(flat, q0) / square, -1.0), 1.0)
    elif u[2] > 0.0:  # side by side: over the middle of the edge, if it can be
        t = min(max(0.5 * dot(u, add(q0, q1)) / dot(u, u), -1.0), 1.0)
    else:
        t = 0.0
    x = scale(t, u)
    b = along(q0, dot(e, sub(x, q0)), e)
    gap = sub(x, b)
    if dot(cross(e, n), gap) >= 0.0 and dot(cross(m, e), gap) >= 0.0 and dot(gap, gap) > 1e-24 * A.radius**2:
        return _outside(A, gap, x, b)
    low, high = part_below(A, n, dot(n, q0), -1.0, 1.0)
    low, high = part_below(A, m, dot(m, q0), low, high)
    return low > high, -1e300, ZERO, ZERO, ZERO


@native_apart
def round_corner(A, v, star, edges, normals, many):
    """Return the same of a corner v that stands out, of `many` faces without end: rows of `star` have their
    `normals`, and the `edges` between them."""
    u = _half(A)
    t = min(max(dot(u, v) / dot(u, u), -1.0), 1.0) if u[2] > 0.0 else 0.0
    x = scale(t, u)
    gap = sub(x, v)
    nearest = dot(gap, gap) > 1e-24 * A.radius**2
    low, high = -1.0, 1.0
    for k in range(many):
        nearest = nearest and dot(gap, row(star, edges + k)) <= 0.0
        n = row(star, normals + k)
        low, high = part_below(A, n, dot(n, v), low, high)
    if nearest:
        return _outside(A, gap, x, v)
    return low > high, -1e300, ZERO, ZERO, ZERO


@native
def ball_box(A, B, R, p):
    """Return the same of a ball and a box."""
    c = turned_back(R, neg(p))  # the ball's centre in the axes of the box
    q = (min(max(c[0], -B.x), B.x), min(max(c[1], -B.y), B.y), min(max(c[2], -B.z), B.z))
    gap = sub(q, c)
    distance = norm(gap)
    if distance > 1e-14 * A.radius:
        n = scale(1.0 / distance, gap)
    else:  # the centre is inside: in through the nearest side
        dx, dy, dz = B.x - abs(c[0]), B.y - abs(c[1]), B.z - abs(c[2])
        if dx <= dy and dx <= dz:
            distance, n = -dx, (-1.0 if c[0] > 0.0 else 1.0, 0.0, 0.0)
        elif dy <= dz:
            distance, n = -dy, (0.0, -1.0 if c[1] > 0.0 else 1.0, 0.0)
        else:
            distance, n = -dz, (0.0, 0.0, -1.0 if c[2] > 0.0 else 1.0)
    normal = turned(R, n)
    return A.radius - distance, normal, scale(A.radius, normal), scale(distance, normal)


@native
def has_profile(form):
    """Whether a shape is a solid of revolution with straight edges."""
    return (TURNED >> form.kind) & 1 != 0


@native
def _no_profile(form):
    return 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


_profile = native(switch("profile", (), _no_profile))


@native_apart
def ball_turned(A, B, R, p):
    """Return the same of a ball and a solid of revolution: in the half-plane through the axis, of (radius,
    height), it is a point against the edges of the solid's profile."""
    c = turned_back(R, neg(p))
    radius = sqrt(c[0] * c[0] + c[1] * c[1])
    out = (c[0] / radius, c[1] / radius) if radius > 1e-300 else (1.0, 0.0)
    x, z = radius, c[2]
    side, near, mx, mz, nx, nz = -1e300, 1e300, 0.0, 0.0, 0.0, 0.0
    edges, z0, x1, z1, x2, z2, z3 = _profile(B)
    for e in range(edges):
        ax, az, bx, bz = 0.0, z0, x1, z1
        if e == 1:
            ax, az, bx, bz = x1, z1, x2, z2
        elif e == 2:
            ax, az, bx, bz = x2, z2, 0.0, z3
        ex, ez = bx - ax, bz - az
        length = sqrt(ex * ex + ez * ez)
        gap = ((x - ax) * ez - (z - az) * ex) / length  # outside is to the right of the edge
        if gap > side:
            side, mx, mz = gap, ez / length, -ex / length
        t = min(max(((x - ax) * ex + (z - az) * ez) / (length * length), 0.0), 1.0)
        dx, dz = x - ax - t * ex, z - az - t * ez
        if dx * dx + dz * dz < near:
            near, nx, nz = dx * dx + dz * dz, dx, dz
    distance = side
    if side > 0.0:
        distance = sqrt(near)
        mx, mz = nx / distance, nz / distance
    normal = turned(R, (-mx * out[0], -mx * out[1], -mz))
    return A.radius - distance, normal, scale(A.radius, normal), scale(distance, normal)
