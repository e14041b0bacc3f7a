"""What compiled code asks of a convex solid, and what several solids answer with.

Every function is over plain numbers and tuples, in the solid's own axes. `size` is three numbers, as the
class says in `sizes`. A solid may be a *core* with a radius round it, as a ball is a point and a capsule a
segment: then support, branches and bends are those of the core.

A *branch* is a part of the surface on which the support function is smooth: a corner of a box, a rim of a
cylinder, the whole of an ellipsoid.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

from linkwork.geometry.compiled import compiled, compiled_apart
from linkwork.geometry.vectors import ZERO, along, dot, put, sub, unit

MISSED = 1e300  # where a ray meets nothing
_FLAT = 1e-6  # [rad]
_RIM = ((1.0, 0.0), (0.5**0.5, 0.5**0.5), (0.0, 1.0), (-(0.5**0.5), 0.5**0.5))  # and the opposite ones


@dataclass(frozen=True)
class ShapeCode:
    """The compiled functions of a convex solid; all are marked with `compiled`."""

    support: Any  # (size, d): the point that is farthest in a direction d of any length
    inside: Any  # (size, q): whether a point is inside, or on the surface
    ray: Any  # (size, o, d): how far along the unit vector d the surface is, MISSED, < 0 inside; its normal
    branch: Any  # (size, x): the branch of a point of the surface, 0 or more
    on_branch: Any  # (size, branch, d): the point of a branch that is farthest in a direction
    bend: Any = None  # (size, branch, d, s, t): s.H s, s.H t, t.H t, with H = d support / d d; None: flat
    feature: Any = None  # (size, d, ring, label, base): see `write_segment`; None: a single point
    profile: Any = None  # (size): of a solid of revolution about z with straight edges; see below


# A profile is what a solid of revolution cuts out of the half-plane x >= 0: the number of its edges, 2 or 3,
# and z0, x1, z1, x2, z2, z3, for the edges from (0, z0) to (x1, z1), on to (x2, z2), and on to (0, z3).


# rays


@compiled
def ray_ball(o, d, c, r):
    """Return where a ray enters a ball; negative if it is inside, MISSED if it passes."""
    m = sub(o, c)
    b = dot(m, d)
    closest = along(m, -b, d)  # of the line, from the centre
    hh = r * r - dot(closest, closest)
    if hh < 0.0:
        return MISSED
    h = sqrt(hh)
    if -b + h < 0.0:
        return MISSED
    return -b - h


@compiled
def ray_slabs(o, d, h):
    """Return where a ray enters a box of half widths h, and through which side: axis and sign."""
    low, high, axis, side = -MISSED, MISSED, 0, 1.0
    for k in range(3):
        if d[k] == 0.0:
            if abs(o[k]) > h[k]:
                return MISSED, 0, 1.0
        else:
            s = 1.0 if d[k] > 0.0 else -1.0
            enter, leave = (-s * h[k] - o[k]) / d[k], (s * h[k] - o[k]) / d[k]
            if enter > low:
                low, axis, side = enter, k, -s
            high = min(high, leave)
    if low > high or high < 0.0:
        return MISSED, 0, 1.0
    return low, axis, side


@compiled
def _ray_tube(o, d, r):
    """Return where a ray enters and leaves an endless cylinder about z; MISSED if it passes."""
    a = d[0] * d[0] + d[1] * d[1]
    b = o[0] * d[0] + o[1] * d[1]
    c = o[0] * o[0] + o[1] * o[1] - r * r
    if a < 1e-30:
        return (-MISSED, MISSED) if c <= 0.0 else (MISSED, -MISSED)
    hh = b * b - a * c
    if hh < 0.0:
        return MISSED, -MISSED
    h = sqrt(hh)
    return (-b - h) / a, (-b + h) / a


@compiled_apart
def ray_cylinder(o, d, r, half):
    """Return where a ray enters a cylinder about z, and the normal there."""
    enter, leave = _ray_tube(o, d, r)
    n = ZERO
    low, high = enter, leave
    if enter > -MISSED and enter < MISSED:
        x = along(o, enter, d)
        n = unit((x[0], x[1], 0.0))
    if d[2] == 0.0:
        if abs(o[2]) > half:
            return MISSED, n
    else:
        s = 1.0 if d[2] > 0.0 else -1.0
        first, last = (-s * half - o[2]) / d[2], (s * half - o[2]) / d[2]
        if first > low:
            low, n = first, (0.0, 0.0, -s)
        high = min(high, last)
    if low > high or high < 0.0:
        return MISSED, n
    return low, n


# features: the face, edge or corner with which a solid meets a unit direction, from row `base` on of `ring`,
# with a label for each corner. What is written is counted; a feature returns the normal of its face too.


@compiled
def write_segment(ring, label, base, a, b):
    """Write an edge."""
    put(ring, base, a)
    put(ring, base + 1, b)
    label[base] = 0
    label[base + 1] = 1
    return 2


@compiled
def write_rim(ring, label, base, r, z, d):
    """Write eight points of a circle round the z axis, one of them farthest in the direction d.

    They go to the left as seen from where d comes from. What lies as flat as makes no difference keeps its
    points: rounding does not turn them.
    """
    x, y, _ = unit((d[0], d[1], 0.0)) if d[0] * d[0] + d[1] * d[1] > _FLAT * _FLAT else (1.0, 0.0, 0.0)
    turn = r if d[2] > 0.0 else -r
    for k in range(4):
        c, s = r * _RIM[k][0], turn * _RIM[k][1]
        put(ring, base + k, (c * x - s * y, c * y + s * x, z))
        put(ring, base + k + 4, (s * y - c * x, -c * y - s * x, z))
    for k in range(8):
        label[base + k] = k
    return 8


# rims: circles of radius r about z, as branches


@compiled
def on_rim(r, z, d):
    """Return the point of a rim that is farthest in a direction."""
    s = r / max(sqrt(d[0] * d[0] + d[1] * d[1]), 1e-300)
    return s * d[0], s * d[1], z


@compiled
def rim_bend(r, d, s, t):
    """Return how that point moves when the unit direction turns: s.H s, s.H t and t.H t.

    H = r / |d_xy|^3 (e e^T) with e = (-d_y, d_x, 0): the point runs along the rim only.
    """
    across = max(d[0] * d[0] + d[1] * d[1], 1e-24)
    c = r / (across * sqrt(across))
    u, v = d[0] * s[1] - d[1] * s[0], d[0] * t[1] - d[1] * t[0]
    return c * u * u, c * u * v, c * v * v
