"""An ellipsoid."""

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np

from linkwork.geometry.compiled import compiled, compiled_within
from linkwork.geometry.shape_code import MISSED, ShapeCode, ray_ball
from linkwork.geometry.solid import RESOLUTION, Solid, Surface, unchanging
from linkwork.geometry.sphere import Sphere
from linkwork.geometry.vectors import ZERO, along, dot, norm, scale, unit
from linkwork.mechanism.placement import Array

# `size` is the semi-axes. It is one branch.


@compiled_within
def _support(size, d):
    x, y, z = size[0] * d[0], size[1] * d[1], size[2] * d[2]
    s = norm((x, y, z))
    if s > 1e-300:
        return size[0] * x / s, size[1] * y / s, size[2] * z / s
    return 0.0, 0.0, size[2]


@compiled
def _inside(size, q):
    return (q[0] / size[0]) ** 2 + (q[1] / size[1]) ** 2 + (q[2] / size[2]) ** 2 <= 1.0


@compiled
def _ray(size, o, d):
    x, y, z = size
    e = (d[0] / x, d[1] / y, d[2] / z)
    length = norm(e)
    t = ray_ball((o[0] / x, o[1] / y, o[2] / z), scale(1.0 / length, e), ZERO, 1.0)
    if not t < MISSED:
        return t, ZERO
    t /= length
    h = along(o, t, d)
    return t, unit((h[0] / (x * x), h[1] / (y * y), h[2] / (z * z)))


@compiled
def _branch(size, x):
    return 0


@compiled
def _on_branch(size, branch, d):
    x, y, z = size[0] * d[0], size[1] * d[1], size[2] * d[2]
    s = 1.0 / norm((x, y, z))
    return size[0] * x * s, size[1] * y * s, size[2] * z * s


@compiled
def _bend(size, branch, d, s, t):
    """With E the squares of the semi-axes, c = 1 / sqrt(d.E d), w = c E d:  H = c (E - w w^T)."""
    xx, yy, zz = size[0] * size[0], size[1] * size[1], size[2] * size[2]
    c = 1.0 / sqrt(xx * d[0] * d[0] + yy * d[1] * d[1] + zz * d[2] * d[2])
    w = (xx * d[0] * c, yy * d[1] * c, zz * d[2] * c)
    u, v = dot(w, s), dot(w, t)
    Es, Et = (xx * s[0], yy * s[1], zz * s[2]), (xx * t[0], yy * t[1], zz * t[2])
    return c * (dot(Es, s) - u * u), c * (dot(Es, t) - u * v), c * (dot(Et, t) - v * v)


@unchanging
@dataclass(frozen=True)
class Ellipsoid(Solid):
    """An ellipsoid about its origin; the semi-axes along x, y and z."""

    x: float
    y: float
    z: float

    code = ShapeCode(_support, _inside, _ray, _branch, _on_branch, _bend)

    @property
    def sizes(self) -> tuple[float, ...]:
        return self.x, self.y, self.z

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * pi * self.x * self.y * self.z

    @property
    def gyration(self) -> tuple[float, float, float]:
        xx, yy, zz = self.x**2 / 5.0, self.y**2 / 5.0, self.z**2 / 5.0
        return yy + zz, zz + xx, xx + yy

    def reach(self, direction: Array) -> float:
        return float(np.linalg.norm(direction * np.array([self.x, self.y, self.z])))

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        ball, faces = Sphere(1.0).surface(resolution)
        return ball * (self.x, self.y, self.z), faces

    def stretched_from(self) -> tuple[Solid, tuple[float, float, float]]:
        return Sphere(1.0), (self.x, self.y, self.z)
