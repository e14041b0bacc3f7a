"""A round cylinder."""

from dataclasses import dataclass
from math import hypot, pi, sqrt

from linkwork.geometry.compiled import compiled, compiled_within
from linkwork.geometry.section import Section, axis_section, leftwards
from linkwork.geometry.shape_code import ShapeCode, on_rim, ray_cylinder, rim_bend, write_rim, write_segment
from linkwork.geometry.solid import RESOLUTION, Solid, Surface, unchanging
from linkwork.geometry.tessellation import revolved
from linkwork.geometry.vectors import ZERO
from linkwork.mechanism.placement import Array

# `size` is radius, half length. The branches are its two rims.


@compiled_within
def _support(size, d):
    across = sqrt(d[0] * d[0] + d[1] * d[1])
    z = size[1] if d[2] >= 0.0 else -size[1]
    if across > 1e-300:
        s = size[0] / across
        return s * d[0], s * d[1], z
    return 0.0, 0.0, z


@compiled
def _inside(size, q):
    return abs(q[2]) <= size[1] and q[0] * q[0] + q[1] * q[1] <= size[0] * size[0]


@compiled
def _ray(size, o, d):
    return ray_cylinder(o, d, size[0], size[1])


@compiled
def _branch(size, x):
    return 1 if x[2] > 0.0 else 0


@compiled
def _on_branch(size, branch, d):
    return on_rim(size[0], size[1] if branch else -size[1], d)


@compiled
def _bend(size, branch, d, s, t):
    return rim_bend(size[0], d, s, t)


@compiled
def _feature(size, d, ring, label, base):
    across = sqrt(d[0] * d[0] + d[1] * d[1])
    if abs(d[2]) >= across:
        z = size[1] if d[2] > 0.0 else -size[1]
        return write_rim(ring, label, base, size[0], z, d), (0.0, 0.0, 1.0 if d[2] > 0.0 else -1.0)
    x, y = size[0] * d[0] / across, size[0] * d[1] / across
    return write_segment(ring, label, base, (x, y, -size[1]), (x, y, size[1])), ZERO


@compiled
def _profile(size):
    return 3, -size[1], size[0], -size[1], size[0], size[1], size[1]


@unchanging
@dataclass(frozen=True)
class Cylinder(Solid):
    """A round cylinder about its origin, its axis along z; full length."""

    radius: float
    length: float

    code = ShapeCode(_support, _inside, _ray, _branch, _on_branch, _bend, _feature, _profile)

    @property
    def sizes(self) -> tuple[float, ...]:
        return self.radius, self.length / 2

    @property
    def volume(self) -> float:
        return pi * self.radius**2 * self.length

    @property
    def gyration(self) -> tuple[float, float, float]:
        across = self.radius**2 / 4.0 + self.length**2 / 12.0
        return across, across, self.radius**2 / 2.0

    def reach(self, direction: Array) -> float:
        x, y, z = direction
        return self.radius * hypot(x, y) + self.length / 2.0 * abs(z)

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        r, h = self.radius, self.length / 2.0
        return revolved([(0.0, -h), (r, -h), (r, h), (0.0, h)], resolution)

    def stretched_from(self) -> tuple[Solid, tuple[float, float, float]]:
        return Cylinder(1.0, 1.0), (self.radius, self.radius, self.length)

    def sections(self) -> tuple[Section, ...]:
        h, r = self.length / 2, self.radius

        def lying(along: Array, across: Array) -> Section:
            u, v = h * along, r * across
            return Section(leftwards([-u - v, u - v, u + v, v - u]), turned=True)

        return axis_section(self.rotation, r, lying)
