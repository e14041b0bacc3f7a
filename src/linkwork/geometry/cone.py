"""A round cone."""

from dataclasses import dataclass
from math import hypot, pi, sqrt

import numpy as np

from linkwork.geometry.compiled import compiled, compiled_apart, compiled_within
from linkwork.geometry.shape_code import (
    MISSED,
    ShapeCode,
    on_rim,
    rim_bend,
    write_rim,
    write_segment,
)
from linkwork.geometry.solid import RESOLUTION, Solid, Surface, unchanging
from linkwork.geometry.tessellation import revolved
from linkwork.geometry.vectors import ZERO, along, norm, unit
from linkwork.mechanism.placement import Array

# `size` is radius, length. Branch 0 is the rim, 1 the apex.


@compiled_within
def _support(size, d):
    across = sqrt(d[0] * d[0] + d[1] * d[1])
    if d[2] * size[1] >= size[0] * across:
        return 0.0, 0.0, size[1]
    if across > 1e-300:
        s = size[0] / across
        return s * d[0], s * d[1], 0.0
    return 0.0, 0.0, 0.0


@compiled
def _inside(size, q):
    r = size[0] * (1.0 - q[2] / size[1])
    return 0.0 <= q[2] <= size[1] and q[0] * q[0] + q[1] * q[1] <= r * r


@compiled_apart
def _ray(size, o, d):
    """x^2 + y^2 <= (r (1 - z / length))^2, and 0 <= z <= length."""
    r, length = size[0], size[1]
    k = r / length
    u, v = r - k * o[2], -k * d[2]  # the radius along the ray is u + v t
    a = d[0] * d[0] + d[1] * d[1] - v * v
    b = o[0] * d[0] + o[1] * d[1] - u * v
    c = o[0] * o[0] + o[1] * o[1] - u * u
    best, n = MISSED, ZERO
    inside = c <= 0.0 and 0.0 <= o[2] <= length
    if inside:
        return -1.0, n
    hh = b * b - a * c
    if hh >= 0.0:
        h = sqrt(hh)
        for side in range(2):
            t = MISSED
            if abs(a) > 1e-14:
                t = (-b - h) / a if side == 0 else (-b + h) / a
            elif b != 0.0 and side == 0:
                t = -c / (2.0 * b)
            z = o[2] + t * d[2]
            if 0.0 <= t < best and 0.0 <= z <= length:
                x = along(o, t, d)
                best, n = t, unit((x[0], x[1], k * norm((x[0], x[1], 0.0))))
    if d[2] > 0.0 and o[2] < 0.0:
        t = -o[2] / d[2]
        x = along(o, t, d)
        if x[0] * x[0] + x[1] * x[1] <= r * r and t < best:
            best, n = t, (0.0, 0.0, -1.0)
    return best, n


@compiled
def _branch(size, x):
    return 1 if x[2] > 0.5 * size[1] else 0


@compiled
def _on_branch(size, branch, d):
    return (0.0, 0.0, size[1]) if branch else on_rim(size[0], 0.0, d)


@compiled
def _bend(size, branch, d, s, t):
    return ZERO if branch else rim_bend(size[0], d, s, t)


@compiled
def _feature(size, d, ring, label, base):
    across = sqrt(d[0] * d[0] + d[1] * d[1])
    slant = sqrt(size[0] * size[0] + size[1] * size[1])
    if -d[2] * slant >= across * size[1] + d[2] * size[0]:
        return write_rim(ring, label, base, size[0], 0.0, d), (0.0, 0.0, -1.0)
    s = size[0] / max(across, 1e-300)
    return write_segment(ring, label, base, (s * d[0], s * d[1], 0.0), (0.0, 0.0, size[1])), ZERO


@compiled
def _profile(size):
    return 2, 0.0, size[0], 0.0, 0.0, size[1], size[1]


@unchanging
@dataclass(frozen=True)
class Cone(Solid):
    """A round cone standing on its origin: the centre of its base is at z = 0, its apex at z = length."""

    radius: float
    length: float

    code = ShapeCode(_support, _inside, _ray, _branch, _on_branch, _bend, _feature, _profile)

    @property
    def sizes(self) -> tuple[float, ...]:
        return self.radius, self.length

    @property
    def volume(self) -> float:
        return pi / 3.0 * self.radius**2 * self.length

    @property
    def centre(self) -> Array:
        return np.array([0.0, 0.0, self.length / 4.0])

    @property
    def gyration(self) -> tuple[float, float, float]:
        across = 3.0 / 80.0 * (4.0 * self.radius**2 + self.length**2)
        return across, across, 0.3 * self.radius**2

    def reach(self, direction: Array) -> float:
        x, y, z = direction
        return max(self.radius * hypot(x, y), self.length * z)

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        return revolved([(0.0, 0.0), (self.radius, 0.0), (0.0, self.length)], resolution)

    def stretched_from(self) -> tuple[Solid, tuple[float, float, float]]:
        return Cone(1.0, 1.0), (self.radius, self.radius, self.length)
